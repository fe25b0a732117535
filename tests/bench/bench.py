#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What hlguest costs, as ratios taken from one run (see README.md)."""

import argparse
import contextlib
import datetime
import os
import random
import re
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import copies
import guest
import pages
import recorders
import sums
import walks
from cost import Cost, Problem, collected, interleave, nanoseconds, peak

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, os.pardir, "data")

# The most a ratio may be, and what it should be.
COMMAND_LEAST = {1: 6, 2: 8}  # times as fast, by number of threads
SORTED_LEAST = 40
MANY_LEAST = 1.7
LIMIT = {"filter": (1.08, 1.05), "load": (1.5, None), "walk": (2, None),
         "trust": (1.10, 1.05), "exits": (8, None), "record": (1.03, None),
         "callers": (1.05, None), "rewrite": (2, None), "merge": (1.3, None),
         "merge memory": (1.1, None)}
FIND_MOST = 1.0  # seconds

# The guests of `trust` and `find`: bytes of code; functions and addresses with samples.
TRUST_GUEST = (4 << 20, 500, 10000)
FIND_GUEST = (12 << 20, 5000, 100000)
BASE = 0x7f1234567000

# Of one guest, which `many` makes its recordings of, and how many of each.
SOURCES = ("demo-user", "demo-far", "demo-kernel", "demo-threads", "demo-events")
COPIES = 200


class Bench(walks.Walks, recorders.Recorders, pages.Pages, sums.Sums):
    """The programs, the recordings and the verdicts of one run."""

    limit = LIMIT

    def __init__(self, args, cache):
        self.args = args
        self.cache = cache
        self.over = []

    def built(self, name):
        """A file of the build; meson places a target in the folder that defines it."""
        for folder in ("", "filter", "tools", "tests/bench"):
            path = os.path.join(self.args.build, folder, name)
            if os.path.exists(path):
                return os.path.abspath(path)
        raise Problem(f"{self.args.build}: no {name} (build it, or give --build)")

    def hlguest(self):
        return os.path.abspath(self.args.filter or self.built("hlguest.so"))

    def guest(self):
        """The filter's arguments: the guest of the recording."""
        if not os.path.exists(self.args.elf):
            raise Problem(f"{self.args.elf}: not found (give --elf)")
        return self.args.elf

    def recording(self, samples, cpus, block, source=None):
        """A long recording, made once per cache and newer than what it is made of."""
        source, repeat = source or self.args.data, self.built("repeat")
        if not os.path.exists(source):
            raise Problem(f"{source}: not found (give --data)")
        stem = os.path.splitext(os.path.basename(source))[0]
        path = os.path.join(self.cache, f"{stem}-{samples}-{cpus}-{block}.data")
        if os.path.exists(path):
            made_of = max(os.path.getmtime(source), os.path.getmtime(repeat))
            if os.path.getmtime(path) >= made_of:
                return path
            os.unlink(path)
        # Made under another name: a broken one must not be found by the next run.
        part = f"{path}.{os.getpid()}"
        Cost([repeat, f"--samples={samples}", f"--cpus={cpus}", f"--block={block}",
              source, part])
        os.rename(part, path)
        return path

    def verdict(self, name, ratio, kind):
        """' (limit ..): within' or OVER, which --check turns into exit status 1."""
        most, aim = self.limit[kind]
        wanted = f"at most {most:.2f}" + (f", aim {aim:.2f}" if aim else "")
        if ratio > most:
            self.over.append(name)
        return f"{'OVER' if ratio > most else 'within'} ({wanted})"

    def script(self, recording, filter_so, dlargs=()):
        argv = [self.args.perf, "script", "-i", recording, "--dlfilter", filter_so]
        for value in dlargs:
            argv += ["--dlarg", value]
        return argv

    def against_null(self, name, cpus, block):
        """perf script with hlguest.so against perf script with null_filter.so."""
        samples = self.args.samples
        recording = self.recording(samples, cpus, block)
        with open(recording, "rb") as warm:
            while warm.read(1 << 20):
                pass
        ours, null = interleave(
            self.script(recording, self.hlguest(), [self.guest()]),
            self.script(recording, self.built("null_filter.so")),
            self.args.rounds)
        ratios = [a.cpu / b.cpu for a, b in zip(ours, null)]
        ratio = statistics.median(ratios)
        print(f"{name}: {samples} samples of {cpus} CPU{'s' if cpus > 1 else ''} in "
              f"blocks of {block} KiB, {self.args.rounds} rounds")
        for title, runs in (("hlguest.so", ours), ("null_filter.so", null)):
            cpu = statistics.median(run.cpu for run in runs)
            wall = statistics.median(run.wall for run in runs)
            print(f"  {title:<16} {cpu:8.3f} s CPU  {wall:8.3f} s wall  "
                  f"{cpu * 1e9 / samples:8.1f} ns per sample")
        print(f"  CPU ratio        {ratio:8.3f}  [{min(ratios):.3f} .. "
              f"{max(ratios):.3f}]  {self.verdict(name, ratio, 'filter')}")

    def filter(self):
        self.against_null("filter", 1, 256)

    def interleaved(self):
        self.against_null("interleaved", 64, self.args.block)

    def load(self):
        """Lines `name ns` of bench-load; what is called `bare` is the measure."""
        print("load:")
        times = {}
        guest = os.path.join(self.cache, "many.elf")
        Cost([self.built("mkelf"), "many", guest])
        for line in Cost([self.built("bench-load"), guest]).out.splitlines():
            print(f"  {line}")
            words = line.split()
            if len(words) == 2 and re.fullmatch(r"[0-9]+(\.[0-9]+)?", words[1]):
                times.setdefault(words[0], []).append(float(words[1]))
        bare = times.pop("bare", [])
        for name, ours in sorted(times.items()):
            ratios = [a / b for a, b in zip(ours, bare) if b]
            if not ratios:
                continue
            ratio = statistics.median(ratios)
            verdict = self.verdict("load", ratio, "load") if name == "load" else ""
            print(f"  {name}/bare ratio {ratio:.3f}  [{min(ratios):.3f} .. "
                  f"{max(ratios):.3f}]  {verdict}")

    def fresh(self, recording):
        """
        The same as perf record leaves it: just written. What was read from disk by page
        faults lies in small pieces in the page cache, and is copied half as fast.
        """
        shutil.copyfile(recording, recording + ".fresh")
        os.rename(recording + ".fresh", recording)
        return recording

    def report(self, jobs, *recordings):
        return [self.built("hlguest"), "report", "-q", f"-j{jobs}", self.guest(),
                *recordings]

    def times_as_fast(self, name, slow, fast, least, what):
        """Runs both; tells how many times as fast as slow the fast one is, by the clock."""
        fast_runs, slow_runs = interleave(fast, slow, self.args.rounds)
        ratios = [b.wall / a.wall for a, b in zip(fast_runs, slow_runs)]
        ratio = statistics.median(ratios)
        if ratio < least:
            self.over.append(name)
        wall = statistics.median(run.wall for run in fast_runs)
        print(f"{name}: {what} {wall:8.3f} s, {ratio:.1f} x as fast  [{min(ratios):.1f} .. "
              f"{max(ratios):.1f}]  {'within' if ratio >= least else 'UNDER'} "
              f"(at least {least})")

    def command(self):
        """hlguest report against perf script with null_filter.so."""
        recording = self.fresh(self.recording(self.args.samples, 1, 256))
        null = self.script(recording, self.built("null_filter.so"))
        for jobs, least in COMMAND_LEAST.items():
            self.times_as_fast("command", null, self.report(jobs, recording), least,
                               f"hlguest report -j{jobs} against null_filter.so:")

    def sorted(self):
        """The same where perf has to sort: 64 CPUs, and hlguest.so as filter."""
        recording = self.fresh(self.recording(self.args.samples, 64, self.args.block))
        self.times_as_fast(
            "sorted", self.script(recording, self.hlguest(), [self.guest()]),
            self.report(1, recording), SORTED_LEAST,
            "hlguest report -j1 against hlguest.so, 64 CPUs:")

    def many(self):
        """1,000 short recordings: two threads against one, and memory against one file."""
        folder = os.path.join(self.cache, "many")
        os.makedirs(folder, exist_ok=True)
        sources = [os.path.join(DATA, name + ".data") for name in SOURCES]
        paths = copies.make(sources, COPIES, folder)
        self.times_as_fast("many", self.report(1, *paths), self.report(2, *paths),
                           MANY_LEAST, f"{len(paths)} recordings, -j2 against -j1:")
        # As many addresses as all of them have: it is those that cost memory.
        few = [path for path in paths if int(re.findall(r"\d+", path)[-1]) < copies.BASES]
        sizes = [peak(self.report(2, *some)) for some in (few, paths)]
        print(f"  memory {sizes[0]} KiB for {len(few)} recordings, {sizes[1]} KiB for "
              f"{len(paths)}")

    def made_up(self, name, size, functions, addresses):
        """A guest of so much code, and a recording of it, one sample per address and nine
        more at some of them."""
        elf, data = (os.path.join(self.cache, name + end) for end in (".elf", ".data"))
        ips = guest.Guest(elf, size).spread(functions, addresses)
        rng = random.Random(3)
        hot = rng.choices(ips, [rng.paretovariate(1.1) for _ in ips], k=9 * len(ips))
        guest.record(self.args.data, [BASE + ip for ip in ips + hot], data)
        return elf, data

    def trust(self):
        """A report against that of a build without Zydis, which cannot test boundaries."""
        if not self.args.plain:
            raise Problem("trust: needs a build without Zydis (meson setup -Dzydis=disabled; "
                          "give it as --plain)")
        elf, short = self.made_up("trust", *TRUST_GUEST)
        data = os.path.join(self.cache, f"trust-{self.args.samples}.data")
        if os.path.exists(data):
            os.unlink(data)
        Cost([self.built("repeat"), f"--samples={self.args.samples}", short, data])
        for jobs in (1, 2):
            argv = [f"-j{jobs}", "-q", f"{elf}@{BASE:#x}", data]
            ours, plain = interleave(
                [self.built("hlguest"), "report", *argv],
                [os.path.join(self.args.plain, "tools", "hlguest"), "report", *argv],
                self.args.rounds)
            if "verified" not in ours[0].out or "not tested" not in plain[0].out:
                raise Problem("trust: only one of the builds may have Zydis (see --plain)")
            ratios = [a.wall / b.wall for a, b in zip(ours, plain)]
            ratio = statistics.median(ratios)
            more = statistics.median(a.wall - b.wall for a, b in zip(ours, plain))
            print(f"trust: -j{jobs}, {self.args.samples} samples of {TRUST_GUEST[2]} "
                  f"addresses in {TRUST_GUEST[1]} functions: {more * 1e3:.1f} ms more, "
                  f"ratio {ratio:.3f}  [{min(ratios):.3f} .. {max(ratios):.3f}]  "
                  f"{self.verdict('trust', ratio, 'trust')}")

    def find(self):
        """The base of a large guest, from many addresses."""
        elf, data = self.made_up("find", *FIND_GUEST)
        runs = [Cost([self.built("hlguest"), "base", "-q", elf, data])
                for _ in range(self.args.rounds)]
        if f"\n{BASE:#x} " not in runs[0].out:
            raise Problem(f"find: it is not {BASE:#x} that was found (run it by hand)")
        walls = [run.wall for run in runs]
        wall = statistics.median(walls)
        if wall > FIND_MOST:
            self.over.append("find")
        print(f"find: {FIND_GUEST[2]} addresses in {FIND_GUEST[0] >> 20} MiB: {wall:.3f} s  "
              f"[{min(walls):.3f} .. {max(walls):.3f}]  "
              f"{'OVER' if wall > FIND_MOST else 'within'} (at most {FIND_MOST:.1f} s)")

    def drive(self, samples, filter_so, dlargs, tool=()):
        return [*tool, self.built("drive"), f"--samples={samples}", filter_so,
                self.args.data, *dlargs]

    def instructions(self):
        """Steady state: what 200,000 samples add to a run, without start and stop."""
        few, many = 200000, 400000
        filters = (("hlguest.so", self.hlguest(), [self.guest()]),
                   ("null_filter.so", self.built("null_filter.so"), []))
        print("instructions: per sample in a bare host, by callgrind; ns without it")
        each = []
        for title, filter_so, dlargs in filters:
            tool = [self.args.valgrind, "--tool=callgrind",
                    "--callgrind-out-file=/dev/null"]
            low = collected(Cost(self.drive(few, filter_so, dlargs, tool)))
            high = collected(Cost(self.drive(many, filter_so, dlargs, tool)))
            times = [nanoseconds(Cost(self.drive(self.args.samples, filter_so, dlargs)))
                     for _ in range(self.args.rounds)]
            each.append(((high - low) / (many - few), statistics.median(times)))
            print(f"  {title:<16} {each[-1][0]:8.1f} instructions  "
                  f"{each[-1][1]:8.1f} ns")
        print(f"  hlguest's own    {each[0][0] - each[1][0]:8.1f} instructions  "
              f"{each[0][1] - each[1][1]:8.1f} ns")


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def parse():
    names = ("filter", "interleaved", "load", "instructions", "command", "sorted", "many",
             "walk", "find", "exits", "windows", "trust", "record", "callers", "rewrite", "merge",
             "page")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, metavar="DIR", help="meson's folder")
    parser.add_argument("--samples", type=positive, default=10000000, metavar="N",
                        help="of the long recording (default %(default)s)")
    parser.add_argument("--rounds", type=positive, default=7, metavar="R",
                        help="runs of each side (default %(default)s)")
    parser.add_argument("--block", type=positive, default=64, metavar="KIB",
                        help="of each CPU in `interleaved` (default %(default)s)")
    parser.add_argument("--cache", metavar="DIR",
                        help="keep the long recordings here (default: nowhere)")
    parser.add_argument("--data", default=os.path.join(DATA, "demo-user.data"),
                        metavar="FILE", help="the recording to repeat")
    parser.add_argument("--elf", default=os.path.join(DATA, "demo.elf"),
                        metavar="FILE", help="its guest")
    parser.add_argument("--filter", metavar="FILE", help="another hlguest.so")
    parser.add_argument("--plain", metavar="DIR",
                        help="a build without Zydis (for `trust`, left out otherwise)")
    parser.add_argument("--perf", default="perf", metavar="FILE", help="another perf")
    parser.add_argument("--valgrind", default="valgrind", metavar="FILE",
                        help="another valgrind")
    parser.add_argument("--check", action="store_true",
                        help="exit status 1 if a ratio is over its limit")
    parser.add_argument("name", nargs="*", metavar="BENCH",
                        help=f"{', '.join(names)} (default: all)")
    args = parser.parse_args()
    for name in args.name:
        if name not in names:
            parser.error(f"{name}: no such benchmark (one of {', '.join(names)})")
    args.name = args.name or [n for n in names if n != "trust" or args.plain]
    return args


@contextlib.contextmanager
def cache_folder(path):
    if path:
        os.makedirs(path, exist_ok=True)
        yield path
    else:
        with tempfile.TemporaryDirectory(prefix="hlguest-bench-") as folder:
            yield folder


def run(args):
    version = Cost([args.perf, "--version"]).out.strip()
    print(f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} CPUs, {version}")
    with cache_folder(args.cache) as cache:
        bench = Bench(args, cache)
        for name in args.name:
            getattr(bench, name)()
            sys.stdout.flush()
    if bench.over:
        print(f"over the limit: {', '.join(bench.over)}")
    return 1 if bench.over and args.check else 0


def main():
    try:
        return run(parse())
    except (Problem, OSError) as problem:
        print(f"bench.py: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
