#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""mutate.py [COUNT [SEED]]: would the tests notice if symtab/ or filter/ were wrong? With
--rooms tools: if tools/ were?

Changes one place by one token (mutations.py), builds it and runs tests until one fails:
the quick unit tests that are named like the file; the goldens; the other quick ones; then
of those named like the file the slow ones, and the quick ones under valgrind; at last some
that run the programs: of tools/ those of the verb that the file is of, and those that read
whatever there is (READERS).
COUNT changes are drawn with SEED: the same of both, and of the sources, draws the same. Drawn
again and not counted is what does not compile, or only with pointers and numbers mixed
up, and what compiles to the same code. A crash counts as noticed, and so does a test
that takes ten times as long as it should.

Prints each change as it was tried: not noticed, or by which test. --again FILE tries once
more what FILE, such a list, says was not noticed. The exit status is 1 if less than
--least percent were noticed. Works on copies in a temporary folder, one per CPU.
mutants.md has the last figures, and a judgement on each change not noticed.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is the source's
import mutations

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("symtab", "filter")
VALGRIND = ["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
            "--errors-for-leak-kinds=definite"]
# Of the tests that run the programs, those that ask most of symtab/ and filter/ for their
# time.
PROGRAMS = {"faults", "parity", "terminal", "privilege", "hostile names",
            "images against readelf", "hlguest annotate", "hlguest diff", "hlguest flame",
            "hlguest kallsyms", "hlguest lookup", "hlguest pprof"}
# A wrong type is the compiler's to notice, not the tests'.
C_ARGS = ("-Werror=int-conversion -Werror=incompatible-pointer-types "
          "-Werror=implicit-function-declaration")
# Of tools/ these are asked of every file; and "hlguest VERB" of a verb's, but for some that
# measure, and take long.
READERS = {"invariants"}
SLOW = {"hlguest calibrate", "hlguest record"}
GOLDEN_PROGRAMS = ("filter/hlguest.so", "tools/hlguest", "tests/kit/mkelf", "tests/kit/fakeperf")
MEMORY = 8 << 30        # bytes of address space, of one process
WRITES = 5 << 30        # bytes of one file: a test has one that is sparse
CPU = 300               # seconds of one process: what tests start can outlive them
LINE = re.compile(r"not noticed: (\S+):(\d+):(\d+): (.*) -> (.*)")


def limit(memory):
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITES, WRITES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    os.nice(10)


def run(words, seconds, folder, env, memory=MEMORY):
    """Whether it succeeded within its time; what fails in part is not waited for."""
    process = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               start_new_session=True,
                               preexec_fn=lambda: limit(memory))
    timer = threading.Timer(seconds, end, [process])
    timer.start()
    failed = any(line.startswith(b"not ok") for line in process.stdout)
    if failed:
        end(process)
    status = process.wait()
    timer.cancel()
    process.stdout.close()
    return not failed and status == 0


def end(process):
    """With all that it started: check ends its children on SIGTERM, given the time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


class Test:
    def __init__(self, about, rooms, valgrind=False):
        self.name, self.words, self.env = about["name"], about["cmd"], about["env"]
        self.valgrind = valgrind
        if valgrind:
            self.name += ", valgrind"
            self.words = VALGRIND + self.words
            self.env = dict(self.env, CK_FORK="no")
        self.suites = {suite.split(":")[-1] for suite in about["suite"]}
        self.seconds = 600.0    # how long it may take
        self.program = Path(about["cmd"][0])
        self.rooms = set(rooms)

    def is_golden(self):
        return self.name == "golden"

    def is_unit(self):
        if "tools" in self.rooms:
            return (self.program.parent.parent.name == "unit"
                    and self.suites.isdisjoint(ROOMS))
        return not self.suites.isdisjoint(self.rooms)

    def is_of_programs(self):
        if "tools" in self.rooms:
            return self.name in READERS or self.name not in SLOW and (
                re.fullmatch(r"hlguest \w+", self.name))
        return self.name in PROGRAMS

    def is_asked_of(self, path):
        """Of those that run the programs."""
        return "tools" not in self.rooms or self.name in READERS or (
            self.name == "hlguest " + path.parts[1])

    def is_fast(self):
        return (self.is_unit() and not self.valgrind
                and not self.suites & {"slow", "fuzz"})

    def is_of(self, path):
        """Is it named like that source?"""
        words = re.split(r"[-_]", self.program.name)
        if path.parts[0] == "tools":
            return self.is_unit() and not set(words[1:]).isdisjoint(
                {path.parts[1], *re.split(r"[-_]", path.stem)})
        return path.parts[0] in self.suites and bool(
            set(re.split(r"[-_]", path.stem)) & set(words[2:]))


def product(rooms):
    """The files to change, in an order that only their names decide."""
    found = sorted(file for room in rooms for file in (ROOT / room).rglob("*.[ch]"))
    if not found:
        sys.exit(f"mutate: no sources under {', '.join(rooms)} (have they moved?)")
    return found


class DoesNotCompile(Exception):
    pass


class Copy:
    """The sources in a folder of their own, built once, with tests that pass."""

    def __init__(self, work, rooms):
        self.source, self.build, self.temp = work / "source", work / "build", work / "temp"
        self.temp.mkdir(parents=True, exist_ok=True)
        self.env = dict(os.environ, TMPDIR=str(self.temp), MALLOC_PERTURB_="165",
                        CK_TIMEOUT_MULTIPLIER="20", PYTHONDONTWRITEBYTECODE="1")
        files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, files):
            self.copy(name)
        if not (self.build / "build.ninja").exists():
            self.call("meson", "setup", str(self.build), str(self.source),
                      "-Ddebug=false", "-Doptimization=2", "-Dwarning_level=0",
                      f"-Dc_args={C_ARGS}")
        about = subprocess.run(["meson", "introspect", "--tests", str(self.build)],
                               check=True, capture_output=True, text=True).stdout
        self.tests = [test for test in (Test(each, rooms) for each in json.loads(about))
                      if test.is_unit() or test.is_golden() or test.is_of_programs()]
        if "tools" not in rooms:
            self.tests += [Test(each, rooms, valgrind=True) for each in json.loads(about)
                           if Test(each, rooms).is_fast()]
        sources = [path.relative_to(ROOT) for path in product(rooms)]
        self.tests = [test for test in self.tests if test.is_fast() or test.is_golden()
                      or test.is_of_programs() or any(map(test.is_of, sources))]
        if not self.make(self.targets(self.tests)):
            sys.exit("mutate: the sources as they are do not compile")

    def copy(self, name):
        new, old = ROOT / name, self.source / name
        if old.exists() and old.read_bytes() == new.read_bytes():
            return      # as new as what was built of it
        old.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(new, old)
        shutil.copymode(new, old)

    def call(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"mutate: {words[0]} failed:\n{done.stdout}{done.stderr}")

    def targets(self, tests):
        """What they need built: nothing named is all."""
        if any(test.is_of_programs() for test in tests):
            return []
        found = {str(test.program.relative_to(self.build)) for test in tests
                 if not test.is_golden()}
        return sorted(found) + list(GOLDEN_PROGRAMS) * any(t.is_golden() for t in tests)

    def make(self, targets):
        return run(["ninja", "-j2", "-C", str(self.build), *targets], 600, self.build,
                   self.env)

    def measure(self, tests, known):
        """How long they take, by name; a mutant gets ten times that."""
        seconds = {}
        for test in tests:
            if test.name in known and not test.is_golden():
                continue
            start = time.monotonic()
            if self.passes(test):
                seconds[test.name] = 10 + 10 * (time.monotonic() - start)
            elif test.valgrind or test.is_of_programs() or "tools" in test.rooms:
                print(f"{test.name}: fails on the sources as they are, not asked",
                      flush=True)
            else:
                sys.exit(f"mutate: {test.name}: fails on the sources as they are")
        return seconds

    def expect(self, seconds):
        self.tests = [test for test in self.tests if test.name in seconds]
        for test in self.tests:
            test.seconds = seconds[test.name]
        self.tests.sort(key=lambda test: test.seconds)

    def passes(self, test):
        good = run(test.words, test.seconds, self.build, dict(self.env, **test.env),
                   resource.RLIM_INFINITY if test.valgrind else MEMORY)
        for left in self.temp.iterdir():
            shutil.rmtree(left, ignore_errors=True)
        return good

    def failing(self, path):
        """The first test that fails, built only when those before have passed."""
        rest = self.tests
        for chosen in (lambda test: test.is_fast() and test.is_of(path),
                       Test.is_golden,
                       Test.is_fast,
                       lambda test: test.is_of(path),
                       lambda test: test.is_of_programs() and test.is_asked_of(path)):
            stage = [test for test in rest if chosen(test)]
            rest = [test for test in rest if not chosen(test)]
            if stage and not self.make(self.targets(stage)):
                raise DoesNotCompile
            for test in stage:
                if not self.passes(test):
                    return test.name
        return None

    def object_of(self, path):
        """What it is compiled to; nothing for headers."""
        for k in range(1, len(path.parts)):
            name = "_".join(path.parts[k:])
            found = sorted(self.build.joinpath(*path.parts[:k]).glob(f"*.p/{name}.o"))
            if found:
                return found[0]
        return None


class Mutant:
    def __init__(self, path, text, start, end, new):
        self.path, self.text, self.new = path, text, new
        self.start, self.end = start, end

    def shown(self):
        before = self.text[:self.start]
        line, column = before.count("\n") + 1, self.start - before.rfind("\n")
        old = json.dumps(self.text[self.start:self.end])
        return f"{self.path}:{line}:{column}: {old} -> {json.dumps(self.new)}"

    def outcome(self, copy):
        """None if it is no mutant, else ("", shown) or (name of a test, shown)."""
        target = copy.source / self.path
        product = copy.object_of(self.path)
        name = product and str(product.relative_to(copy.build))
        try:
            old = product and copy.make([name]) and product.read_bytes()
            target.write_text(self.text[:self.start] + self.new + self.text[self.end:],
                              encoding="utf-8")
            targets = [name] if name else ["filter/hlguest.so", "tools/hlguest"]
            if not copy.make(targets) or old and product.read_bytes() == old:
                return None
            return (copy.failing(self.path) or "", self.shown())
        except DoesNotCompile:      # in a test, that has it from a header
            return None
        finally:
            target.write_text(self.text, encoding="utf-8")


def drawn(seed, rooms):
    """Mutants in the order of that seed, each place of the sources once."""
    places = []
    for file in product(rooms):
        text, path = file.read_text(encoding="utf-8"), file.relative_to(ROOT)
        places += [(path, text, *place) for place in
                   mutations.places(text, in_bodies=file.suffix == ".h")]
    chance = random.Random(seed)
    chance.shuffle(places)
    for path, text, start, end, others in places:
        yield Mutant(path, text, start, end, chance.choice(others))


def listed(file):
    """The mutants that were printed into file, if their places are still what they were."""
    for line in file.read_text(encoding="utf-8").splitlines():
        match = LINE.match(line)
        if not match:
            continue
        path, row, column = Path(match.group(1)), int(match.group(2)), int(match.group(3))
        old, new = json.loads(match.group(4)), json.loads(match.group(5))
        text = (ROOT / path).read_text(encoding="utf-8")
        start = sum(map(len, text.splitlines(keepends=True)[:row - 1])) + column - 1
        if text[start:start + len(old)] == old:
            yield Mutant(path, text, start, start + len(old), new)
        else:
            print(f"not there: {line}", flush=True)


class Count:
    """Takes mutants until as many as asked for are tried."""

    def __init__(self, mutants, most):
        self.mutants, self.most = mutants, most
        self.lock = threading.Lock()
        self.busy = self.missed = self.redrawn = 0
        self.by = collections.Counter()

    def tried(self):
        return self.missed + sum(self.by.values())

    def take(self):
        while True:
            with self.lock:
                if self.tried() >= self.most:
                    return None
                if self.tried() + self.busy < self.most:
                    self.busy += 1
                    return next(self.mutants, None)
            time.sleep(0.5)     # another's may have to be drawn again

    def give(self, outcome):
        with self.lock:
            self.busy -= 1
            if not outcome:
                self.redrawn += 1
            elif outcome[0]:
                self.by[outcome[0]] += 1
                print(f"{outcome[0]}: {outcome[1]}", flush=True)
            else:
                self.missed += 1
                print(f"not noticed: {outcome[1]}", flush=True)

    def work(self, copy):
        while mutant := self.take():
            self.give(mutant.outcome(copy))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--rooms", nargs="+", default=ROOMS, choices=("symtab", "filter", "tools"))
    parser.add_argument("--again", type=Path, metavar="FILE")
    parser.add_argument("--work", type=Path, metavar="FOLDER",
                        help="keep the copies here, and use them again")
    parser.add_argument("--least", type=float, default=85, metavar="PERCENT")
    args = parser.parse_args()
    # All is read before the first is tried: the sources may change meanwhile.
    mutants = list(listed(args.again) if args.again else
                   drawn(args.seed, args.rooms))
    count = Count(iter(mutants), args.count)
    workers = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="hlguest-mutate-") as temp, \
            concurrent.futures.ThreadPoolExecutor(workers) as pool:
        work = (args.work or Path(temp)).resolve()
        copies = list(pool.map(lambda n: Copy(work / str(n), args.rooms),
                               range(workers)))
        times = work / "seconds.json"   # of tests that have passed in copies that are kept
        seconds = json.loads(times.read_text()) if times.exists() else {}
        for part in pool.map(lambda n: copies[n].measure(copies[n].tests[n::workers],
                                                               seconds),
                             range(workers)):
            seconds.update(part)
        times.write_text(json.dumps(seconds))
        for each in copies:
            each.expect(seconds)
        list(pool.map(count.work, copies))
    tried = count.tried()
    for name, n in count.by.most_common():
        print(f"noticed by {name}: {n}")
    share = 100 * (tried - count.missed) / max(1, tried)
    print(f"noticed {tried - count.missed} of {tried} ({share:.1f} %); "
          f"seed {args.seed}, {count.redrawn} drawn again")
    return 0 if share >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
