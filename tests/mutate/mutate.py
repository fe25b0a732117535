#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""mutate.py [COUNT [SEED]]: would the tests notice if symtab/ or filter/ were wrong? With
--rooms tools: if tools/ were?

Changes one place by one token (mutations.py), builds it and runs tests until one fails:
the quick unit tests that are named like the file; the goldens; the other quick ones; then
of those named like the file the slow ones, and the quick ones under valgrind; at last some
that run the programs: of tools/ those of the verb or folder that the file is of, and those
that read whatever there is (READERS); and the readings and drawn commands.
COUNT changes are drawn with SEED: the same of both, and of the sources, draws the same. Drawn
again and not counted is what does not compile without warnings, and what compiles to the same
code. A crash counts as noticed, and so does a test that does not end. What fails on the
sources as they are is not asked; that is tried when it first fails. Of a file of a verb only
the goldens that run the verb are asked.

Prints each change as it was tried: not noticed, or by which test. --again FILE tries once
more what FILE, such a list, says was not noticed. --errors tries what errors.py has instead:
errors made by hand, each with the test that notices, which alone is asked. The exit status
is 1 if less than --least percent were noticed. Works on copies in a temporary folder, one per CPU.
mutants.md has the last figures, and a judgement on each change not noticed.
"""
import argparse
import atexit
import collections
import concurrent.futures
import contextlib
import copy
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
import errors
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
# Of tools/ these are asked of every file; and "hlguest VERB" of a verb's, but for some that
# measure, and take long.
READERS = {"invariants"}
# And these of files in folders that are no verb's.
OF_FOLDERS = {
    "export": {"format speedscope", "hlguest callgrind"},
    "feed": {"hlguest deferred", "parity"},
    "inputs": {"hlguest bases", "hlguest merge", "hlguest snapshot"},
    "listing": {"hlguest annotate"},
    "machine": {"hlguest doctor"},
    "page": {"format html", "page views", "page table"},
    "pprof": {"hlguest pprof", "hlguest pprof format", "hlguest pprof stacks", "hlguest merge"},
    "report": {"format html", "hlguest inlined"},
    "source": {"hlguest callgrind", "hlguest inlined"},
}
SLOW = {"hlguest calibrate", "hlguest record"}
PRODUCTS = ("filter/hlguest.so", "tools/hlguest")
MEMORY = 8 << 30        # bytes of address space, of one process
WRITES = 5 << 30        # bytes of one file: a test has one that is sparse
CPU = 100               # seconds of one process: what tests start can outlive them
SECONDS = 900           # of a test
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
    """One of meson's, or some cases of the goldens."""

    def __init__(self, about, rooms, valgrind=False):
        self.name, self.words, self.env = about["name"], about["cmd"], about["env"]
        self.valgrind = valgrind
        if valgrind:
            self.name += ", valgrind"
            self.words = VALGRIND + self.words
            self.env = dict(self.env, CK_FORK="no")
        self.suites = {suite.split(":")[-1] for suite in about["suite"]}
        self.program = Path(about["cmd"][0])
        self.rooms = set(rooms)

    def is_golden(self):
        return any(word.endswith("/golden.py") for word in self.words)

    def of_cases(self, names):
        """The goldens, but of these cases alone."""
        some = copy.copy(self)
        some.name, some.words = "golden " + " ".join(names), self.words + names
        return some

    def is_unit(self):
        if "tools" in self.rooms:
            return (self.program.parent.parent.name == "unit"
                    and self.suites.isdisjoint(ROOMS))
        return not self.suites.isdisjoint(self.rooms)

    def is_reading(self):
        """One of those that keep what the commands say, too: they ask of everything."""
        return any("/tests/readings/" in word or word.endswith("/drawn.py")
                   for word in self.words)

    def is_of_programs(self):
        if "tools" in self.rooms:
            return (self.name in READERS.union(*OF_FOLDERS.values()) or
                    self.name not in SLOW and re.fullmatch(r"hlguest \w+", self.name))
        return self.name in PROGRAMS

    def is_asked_of(self, path):
        """Of those that run the programs."""
        return "tools" not in self.rooms or self.name in READERS or (
            self.name == "hlguest " + path.parts[1]) or (
                self.name in OF_FOLDERS.get(path.parts[1], ()))

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


def cases_of(verb):
    """The goldens that run it, by name; none for what is no verb."""
    ran = re.compile(rf'HLGUEST\}}?"? +{verb}\b')
    return sorted(file.stem for file in (ROOT / "tests/golden").glob("*.test")
                  if ran.search(file.read_text(encoding="utf-8", errors="replace")))


class DoesNotCompile(Exception):
    pass


class Copy:
    """The sources in a folder of their own, built once, with tests that pass."""

    def __init__(self, work, rooms):
        # Where a build lies in the tree that is worked on: a cache has its objects.
        self.source = work / "source"
        self.build = self.source / "build" / "gcc"
        self.temp = Path(tempfile.mkdtemp(prefix="m"))  # short: text is cut where it is wide
        self.temp.chmod(0o711)  # tests become other users
        atexit.register(shutil.rmtree, self.temp, ignore_errors=True)
        self.env = dict(os.environ, TMPDIR=str(self.temp), MALLOC_PERTURB_="165",
                        CK_TIMEOUT_MULTIPLIER="20", PYTHONDONTWRITEBYTECODE="1")
        files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        for name in filter(None, files):
            self.copy(name)
        if not (self.build / "build.ninja").exists():
            # What the gate's compiler warns of it notices, not the tests.
            self.call("meson", "setup", str(self.build), str(self.source), "-Dwerror=true")
        about = subprocess.run(["meson", "introspect", "--tests", str(self.build)],
                               check=True, capture_output=True, text=True).stdout
        self.tests = [test for test in (Test(each, rooms) for each in json.loads(about))
                      if test.is_unit() or test.is_golden() or test.is_reading()
                      or test.is_of_programs()]
        if "tools" not in rooms:
            self.tests += [Test(each, rooms, valgrind=True) for each in json.loads(about)
                           if Test(each, rooms).is_fast()]
        sources = [path.relative_to(ROOT) for path in product(rooms)]
        self.tests = [test for test in self.tests if test.is_fast() or test.is_golden()
                      or test.is_reading() or test.is_of_programs() or any(map(test.is_of, sources))]
        self.all_tests = [Test(each, rooms) for each in json.loads(about)]
        self.right = {}     # does a test pass on the sources as they are? By name
        self.took = {}      # seconds, by name, when it passed last
        if not self.make([]):
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
        """What is built anew for them: all else was built of the sources as they are."""
        found = {str(test.program.relative_to(self.build)) for test in tests
                 if test.program.is_relative_to(self.build)}
        return sorted(found) + list(PRODUCTS) * (len(found) < len(tests))

    def make(self, targets):
        return run(["ninja", "-j2", "-C", str(self.build), *targets], 600, self.build,
                   self.env)

    def passes(self, test):
        start = time.monotonic()
        good = run(test.words, SECONDS, self.build, dict(self.env, **test.env),
                   resource.RLIM_INFINITY if test.valgrind else MEMORY)
        for left in self.temp.iterdir():
            shutil.rmtree(left, ignore_errors=True)
        if good:
            self.took[test.name] = time.monotonic() - start
        return good

    def is_right(self, test, mutant):
        """Whether its failure counts: tried on the sources as they are when it first fails."""
        if test.name not in self.right:
            mutant.undo(self)
            self.right[test.name] = self.make(self.targets([test])) and self.passes(test)
            mutant.do(self)
            self.make(self.targets([test]))
            if not self.right[test.name]:
                print(f"{test.name}: fails on the sources as they are, not asked", flush=True)
        return self.right[test.name]

    def stages(self, path):
        """Tests of a source, the quick ones first: each stage is built when it is asked."""
        verb = path.parts[1] if path.parts[0] == "tools" else None
        cases = cases_of(verb) if verb else []
        rest = self.tests
        for chosen in (lambda test: test.is_fast() and test.is_of(path),
                       Test.is_golden,
                       lambda test: test.is_fast() and not cases,
                       lambda test: test.is_of(path),
                       lambda test: test.is_of_programs() and test.is_asked_of(path),
                       Test.is_reading):
            stage = [test for test in rest if chosen(test)]
            rest = [test for test in rest if not chosen(test)]
            yield [test.of_cases(cases) if cases and test.is_golden() else test
                   for test in stage]

    def failing(self, stages, mutant):
        """The first test that fails."""
        for stage in stages:
            stage = [test for test in stage if self.right.get(test.name, True)]
            if stage and not self.make(self.targets(stage)):
                raise DoesNotCompile
            for test in sorted(stage, key=lambda test: self.took.get(test.name, 0)):
                if not self.passes(test) and self.is_right(test, mutant):
                    return test.name
        return None

    def named(self, name):
        """The test of that name: of meson's, or `golden CASE`."""
        for test in self.all_tests:
            if test.name == name:
                return test
            if test.is_golden() and name.startswith("golden "):
                return test.of_cases(name.split()[1:])
        sys.exit(f"mutate: no test is called {name}")

    def object_of(self, path):
        """What it is compiled to; nothing for headers."""
        for k in range(1, len(path.parts)):
            name = "_".join(path.parts[k:])
            found = sorted(self.build.joinpath(*path.parts[:k]).glob(f"*.p/{name}.o"))
            if found:
                return found[0]
        return None


def code_of(product):
    """An object file without what tells where in the source it is from."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["objcopy", "--strip-debug", str(product), file.name], check=True)
        return file.read()


class Mutant:
    """noticed_by: the name of the only test to ask; None: all that could notice."""

    def __init__(self, path, text, start, end, new, noticed_by=None):
        self.path, self.text, self.new = path, text, new
        self.start, self.end = start, end
        self.noticed_by = noticed_by

    def shown(self):
        before = self.text[:self.start]
        line, column = before.count("\n") + 1, self.start - before.rfind("\n")
        old = json.dumps(self.text[self.start:self.end])
        return f"{self.path}:{line}:{column}: {old} -> {json.dumps(self.new)}"

    def do(self, copy):
        (copy.source / self.path).write_text(
            self.text[:self.start] + self.new + self.text[self.end:], encoding="utf-8")

    def undo(self, copy):
        (copy.source / self.path).write_text(self.text, encoding="utf-8")

    def outcome(self, copy):
        """None if it is no mutant, else ("", shown) or (name of a test, shown)."""
        product = copy.object_of(self.path)
        name = product and str(product.relative_to(copy.build))
        try:
            old = product and copy.make([name]) and code_of(product)
            self.do(copy)
            targets = [name] if name else ["filter/hlguest.so", "tools/hlguest"]
            if not copy.make(targets) or old and code_of(product) == old:
                return None
            stages = ([[copy.named(self.noticed_by)]] if self.noticed_by else
                      copy.stages(self.path))
            return (copy.failing(stages, self) or "", self.shown())
        except DoesNotCompile:      # in a test, that has it from a header
            return None
        finally:
            self.undo(copy)


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


def made_by_hand():
    """What errors.py has, as far as its places are still what they were."""
    for path, old, new, test in errors.ERRORS:
        text = (ROOT / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            print(f"not there once: {path}: {old!r}", flush=True)
            continue
        start = text.index(old)
        yield Mutant(Path(path), text, start, start + len(old), new, test)


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
    parser.add_argument("--errors", nargs="?", const="", metavar="TEXT",
                        help="those of errors.py, in files or of tests that begin so")
    parser.add_argument("--work", type=Path, metavar="FOLDER",
                        help="keep the copies here, and use them again")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--least", type=float, default=85, metavar="PERCENT")
    args = parser.parse_args()
    # All is read before the first is tried: the sources may change meanwhile.
    mutants = list(listed(args.again) if args.again else
                   drawn(args.seed, args.rooms) if args.errors is None else
                   (m for m in made_by_hand() if m.noticed_by.startswith(args.errors) or
                    str(m.path).startswith(args.errors)))
    if args.errors is not None:
        args.rooms, args.count, args.least = ["tools"], len(mutants), 100
    count = Count(iter(mutants), args.count)
    workers = args.workers
    with tempfile.TemporaryDirectory(prefix="hlguest-mutate-") as temp, \
            concurrent.futures.ThreadPoolExecutor(workers) as pool:
        work = (args.work or Path(temp)).resolve()
        copies = list(pool.map(lambda n: Copy(work / str(n), args.rooms),
                               range(workers)))
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
