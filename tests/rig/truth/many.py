#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Three guests, twenty sandboxes, four threads: is each sample its own sandbox's?

    many.py --build DIR [--rig [--keep FOLDER]]

The host (hyperlight/host/src/many.rs) prints what each thread ran, and when; perf's times are of
the same clock. Of the recordings in tests/data/hyperlight/many; --rig makes them anew, in the rig,
with a host that is built if need be, and --keep puts them there.
"""
import bisect
import collections
import csv
import io
import lzma
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in
                 ("../../kit", "../boot", "../hyperlight")]
import build as hyperlight
import called
import checks
import rig
from programs import hlguest_of, need_zydis
from runs import ICOUNT, TIMEOUT
from tap import DATA, Skip, Tap, must, names_in, need, parser, run

FOLDER = os.path.join(DATA, "hyperlight", "many")
# moved: everything happens to sandboxes. alone: the same, by evidence only. apart: a guest a
# thread.
# disk: one sandbox of a snapshot that was saved and loaded.
RUNS = {"moved": ("--sandboxes", ""), "alone": ("", ""), "apart": ("", "apart"),
        "disk": ("", "disk")}
FEW = 10  # samples that it takes to tell whose they are
KVM_RUN = 0xae80
# perf's times are to be those of the host's log.
PERF = """#!/bin/sh
case "$*" in *"-k mono"*) exec /usr/bin/perf "$@" ;; esac
[ "$1" = record ] && shift && exec /usr/bin/perf record -k mono "$@"
exec /usr/bin/perf "$@"
"""

Stretch = collections.namedtuple("Stretch", "begin end sandbox guest")


class Log:
    """What the host says that its threads ran."""

    def __init__(self, path):
        self.threads = collections.defaultdict(list)
        with open(path, encoding="ascii") as f:
            for line in f:
                thread, begin, end, sandbox, guest, _ = line.split()
                self.threads[int(thread)].append(
                    Stretch(int(begin), int(end), int(sandbox), int(guest)))
        for stretches in self.threads.values():
            stretches.sort()

    def at(self, thread, time):
        stretches = self.threads[thread]
        n = bisect.bisect(stretches, time, key=lambda stretch: stretch.begin)
        if n == 0 or stretches[n - 1].end < time:
            raise RuntimeError(f"thread {thread} did nothing at {time}")
        return stretches[n - 1]


def samples(data):
    """(thread, time) of each sample of a guest."""
    line = re.compile(r"^(?:\d+ )?(\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\(IP, (0x\w+)\): "
                      r"-?\d+/(-?\d+): ", re.M)
    return [(int(thread), int(time))
            for time, misc, thread in line.findall(must("perf", "script", "-D", "-i", data))
            if int(misc, 16) & 7 in (4, 5)]


def numbers(data, log):
    """{the host's number of a sandbox: hlguest's}, which counts by the first KVM_RUN."""
    text = must("perf", "script", "--ns", "-F", "tid,time,event,trace", "-i", data)
    found = {}
    for thread, seconds, ns, cmd in re.findall(
            r"^ *(\d+) +(\d+)\.(\d{9}): +syscalls:sys_enter_ioctl: fd: \w+, cmd: (\w+)", text,
            re.M):
        if int(cmd, 16) == KVM_RUN:
            sandbox = log.at(int(thread), int(seconds + ns)).sandbox
            found.setdefault(sandbox, len(found) + 1)
    return found


def named(data, log):
    """{the host's number of a sandbox: that of its stacks}."""
    found = {}
    for thread, time, number in called.named(data):
        sandbox = log.at(thread, time).sandbox
        if found.setdefault(sandbox, number) != number:
            raise RuntimeError(f"sandbox {sandbox} is {found[sandbox]}, and {number}")
    if len(set(found.values())) != len(found):
        raise RuntimeError(f"two sandboxes have one number: {found}")
    return found


def told(hlguest, elfs, data, *words):
    """{ELF: samples} of a report, and what it could not say of whom."""
    out, err, status = run(hlguest, "report", "--format=csv", "--top=0", *words, *elfs, data)
    if status:
        return {}, err
    found = collections.Counter()
    for r in csv.DictReader(io.StringIO(out)):
        if r["record"] in ("function", "label", "gap"):
            found[r["image"]] += int(r["samples"])
    return found, out


def by_sandbox(hlguest, elfs, data, log):
    """Each sandbox has the samples of each guest that it had, all but those of FEW at most."""
    wrong, unsure, number = [], 0, numbers(data, log)
    true = collections.defaultdict(collections.Counter)
    for thread, time in samples(data):
        stretch = log.at(thread, time)
        true[number[stretch.sandbox]][elfs[stretch.guest - 1]] += 1
    total = sum(map(sum, (one.values() for one in true.values())))
    for sandbox, guests in sorted(true.items()):
        found, said = told(hlguest, elfs, data, f"--sandbox={sandbox}")
        for elf in elfs:
            if found.get(elf, 0) == guests[elf]:
                continue
            unsure += guests[elf]
            if found.get(elf, 0) or guests[elf] >= FEW or "too few" not in said:
                wrong.append(f"sandbox {sandbox}: {found.get(elf, 0)} samples of {elf}, "
                             f"not {guests[elf]}")
    print(f"# {total - unsure} of {total} samples of {len(true)} sandboxes are told with their "
          f"guest, {unsure} are too few")
    return wrong if total > 1000 and unsure < total / 20 else [*wrong, f"{unsure} of {total}"]


def by_stack(hlguest, elfs, data, log):
    """Without a word of KVM_RUN: each sandbox has the samples that it had."""
    number, true = named(data, log), collections.Counter()
    for thread, time, _ in called.named(data):
        true[str(number[log.at(thread, time).sandbox])] += 1
    text, _, _ = run(hlguest, "report", "--format=csv", "--by=sandbox", elfs[0], data)
    found = {r["name"]: int(r["samples"]) for r in csv.DictReader(io.StringIO(text))
             if r["record"] == "sandbox"}
    print(f"# {sum(true.values())} of {len(samples(data))} samples of {len(true)} sandboxes")
    every = {sandbox for stretches in log.threads.values() for _, _, sandbox, _ in stretches}
    if len(true) < len(every) - 2 or sum(true.values()) < 0.99 * len(samples(data)):
        return [f"{true} of {len(every)} sandboxes"]
    return [f"{found}, not {true}"] if found != true else []


def together(hlguest, elfs, data, log):
    """All at once: each guest's samples, believed."""
    true = collections.Counter(elfs[log.at(*one).guest - 1] for one in samples(data))
    found, said = told(hlguest, elfs, data)
    wrong = [f"{found[elf]} samples of {elf}, not {true[elf]}" for elf in elfs
             if not true[elf] * 0.95 <= found[elf] <= true[elf]]
    return wrong if "trust,,verified" in said else [*wrong, said]


def not_told(hlguest, elfs, data, log):
    """Every thread ran guests of all three: by evidence alone none of them is given one."""
    found, said = told(hlguest, elfs, data)
    several = {thread for thread, stretches in log.threads.items()
               if len({stretch.guest for stretch in stretches}) == len(elfs)}
    wrong = [] if several == set(log.threads) else ["a thread ran guests of one ELF only"]
    return wrong if not found and "record anew: hlguest record --sandboxes" in said else [*wrong, said]


def by_thread(hlguest, elfs, data, log):
    """A thread has guests of one ELF: all of one are its. One has too few samples, and is named."""
    true = collections.defaultdict(collections.Counter)
    for thread, time in samples(data):
        true[elfs[log.at(thread, time).guest - 1]][thread] += 1
    few = {thread for guests in true.values() for thread, n in guests.items() if n < FEW}
    found, said = told(hlguest, elfs, data)
    wrong = [] if len(few) == 1 and f"thread {min(few)} has " in said else [f"few: {few}"]
    for elf in elfs:
        enough = sum(n for thread, n in true[elf].items() if thread not in few)
        # A function of another's border, or nothing, is a sample's place, too.
        if not enough * 0.98 <= found[elf] <= enough:
            wrong.append(f"{found[elf]} samples of {elf}, not {enough}")
    return [*wrong, said] if wrong else []


def one_row(hlguest, elfs, data):
    """Sandboxes of one build on one thread are one row, and nothing says that they were six."""
    text = must(hlguest, "report", *elfs, data)
    rows = re.findall(r"^ *[\d.]+ %.* (\S+::insertion)  \[(\S+)\]$", text, re.M)
    return [] if len(rows) == len(set(rows)) == len(elfs) else [text]


def host_alone(folder):
    """`hlguest -- ./many`: each of the three guests inside it is found, and the report believed."""
    with open(os.path.join(folder, "own.said"), encoding="utf-8") as f:
        text = f.read()
    wanted = [rf"^(?:guest)? +many@guest={n}, .*base 0x4000 \(Hyperlight note 0\.18\.0\)$"
              for n in (1, 2, 3)] + [r"^check +OK: ", r"  \[many@guest=1\]$"]
    wrong = [line for line in wanted if not re.search(line, text, re.M)]
    return [*wrong, text] if wrong else []


def kept(folder):
    """Those in FOLDER, unpacked."""
    for name in names_in(FOLDER, ".xz"):
        path = os.path.join(folder, name.removesuffix(".xz"))
        with lzma.open(os.path.join(FOLDER, name)) as packed, open(path, "wb") as f:
            shutil.copyfileobj(packed, f)
    parent = os.path.dirname(FOLDER)
    return [os.path.join(parent, "guest.elf"), os.path.join(folder, "changed.elf"),
            os.path.join(parent, "small.elf")]


def recorded(build, folder):
    """The same, made now."""
    try:
        host, elfs = hyperlight.made("many"), [hyperlight.made(elf) for elf in hyperlight.MANY]
    except hyperlight.Unavailable as e:
        raise Skip(e) from e
    perf = os.path.join(folder, "perf")
    with open(perf, "w", encoding="ascii") as f:
        f.write(PERF)
    os.chmod(perf, 0o755)
    script = "".join(f"./hlguest record -q {how} -o out/{name}.data -- ./many {words} "
                     f">out/{name}.log || exit 1\n" for name, (how, words) in RUNS.items())
    script += "./hlguest -- ./many apart >out/own.said 2>&1\n"
    script += "./hlguest record -q --guest-stacks -o out/stacks.data -- ./many >out/stacks.log\n"
    done = rig.run(script, [host, perf, hlguest_of(build)], into=folder, icount=ICOUNT, memory=3000,
                   timeout=TIMEOUT)
    if done.status:
        raise RuntimeError(f"status {done.status}: {done.output}")
    return elfs


def keep(folder, changed, into):
    os.makedirs(into, exist_ok=True)
    must("strip", "-g", changed, "-o", os.path.join(folder, "changed.elf"))
    for name in ["changed.elf", *(f"{name}.{end}" for name in RUNS for end in ("data", "log"))]:
        with open(os.path.join(folder, name), "rb") as f, \
                lzma.open(os.path.join(into, name + ".xz"), "wb", preset=9) as packed:
            shutil.copyfileobj(f, packed)


def main():
    p = parser(__doc__)
    p.add_argument("--rig", action="store_true")
    p.add_argument("--keep", metavar="FOLDER")
    args = p.parse_args()
    tap, hlguest = Tap(), hlguest_of(args.build)
    with tempfile.TemporaryDirectory(prefix="many-") as folder:
        try:
            need("perf")
            need_zydis(hlguest)
            elfs = recorded(args.build, folder) if args.rig else kept(folder)
        except Skip as e:
            tap.skip("many", e)
            return tap.finish()
        data = {name: os.path.join(folder, f"{name}.data") for name in RUNS}
        log = {name: Log(os.path.join(folder, f"{name}.log")) for name in RUNS}
        tap.run("each sample is its sandbox's", by_sandbox, hlguest, elfs, data["moved"],
                log["moved"])
        tap.run("and its guest's", together, hlguest, elfs, data["moved"], log["moved"])
        tap.run("by evidence alone, no thread of several guests is given one", not_told, hlguest,
                elfs, data["alone"], log["alone"])
        tap.run("by evidence alone, threads of one guest each", by_thread, hlguest, elfs,
                data["apart"], log["apart"])
        tap.run("sandboxes of one build on one thread are one row", one_row, hlguest, elfs,
                data["apart"])
        tap.run("a snapshot from disk", checks.verified, hlguest, elfs[0], data["disk"])
        if args.rig:
            tap.run("hlguest -- ./many", host_alone, folder)
            stacks = os.path.join(folder, "stacks")
            tap.run("each sample with callers is its sandbox's", by_stack, hlguest, elfs,
                    stacks + ".data", Log(stacks + ".log"))
        if args.keep:
            keep(folder, elfs[1], args.keep)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
