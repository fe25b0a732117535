#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One mistake has one exit status, whatever the verb.

    statuses.py --build DIR

A command line that makes no sense is 2: an unknown option, one of other verbs, a word that is
none of an option's, a file without a name, nothing to work on. Whatever else is wrong is 1: a
file that is not there, is a directory, or is of another kind; a place that nothing can be written
to. The verbs and their options are those that hlguest lists.
"""
import collections
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from tap import DATA, Tap, must, parser, run

ELF, RECORDING = (os.path.join(DATA, name) for name in ("demo.elf", "demo-user.data"))
STREAM = os.path.join(DATA, "sysprof/stock-release-C.bin")

# Words of each verb; {elf} and {file}, a recording or what it has in its place, may be bad.
VERBS = {
    "doctor": "{elf}", "extract": "{elf} -o x", "record": "-- true", "report": "{elf} {file}",
    "annotate": "{elf} {file}", "top": "{elf} --once -p 1", "flame": "{elf} {file} -o x",
    "diff": "{elf} {file} {file}", "windows": "{elf} {file}", "exits": "{elf} {file}",
    "base": "{elf} {file}", "lookup": "{elf} -i {file} 0x52db", "merge": "{file} -o x",
    "fleet": "submit --list={file} -o x {elf}", "inject": "{elf} {file} -o x", "kallsyms": "{elf}",
    "sysprof": "{file}", "calibrate": "--only=counters"}
NEED_NOTHING = {"doctor", "calibrate"}
MISSING, OTHER, FOLDER = "nosuch.data", "README", "folder"


class Bench:
    def __init__(self, build, work):
        self.hlguest, self.work = hlguest_of(build), work
        self.options = collections.defaultdict(dict)
        self.verbs = []
        os.mkdir(os.path.join(work, FOLDER))
        with open(os.path.join(work, OTHER), "w", encoding="utf-8") as f:
            f.write("This is neither an ELF nor a recording.\n")
        for line in must(self.hlguest, "help", "--options").split("\n"):
            kind, verb, *more = line.split("\t") if line else ("", "")
            if kind == "verb":
                self.verbs.append(verb)
            elif kind == "option":
                name, _, words, what, *_ = more
                self.options[verb][name] = words, what

    def words(self, verb, elf=ELF, file=None):
        file = file or (STREAM if verb == "sysprof" else RECORDING)
        return [word.format(elf=elf, file=file) for word in VERBS[verb].split(" ")]

    def expect(self, wanted, *argv):
        _, err, status = run(self.hlguest, *argv, cwd=self.work)
        if status != wanted:
            yield f"{' '.join(argv)}: status {status}, not {wanted}: {err}"

    def lines(self, verb):
        """(status, command line) of each mistake."""
        own, words = self.options[verb], self.words(verb)
        foreign = next(name for other in self.verbs for name in self.options[other]
                       if not any(mine.startswith(name) for mine in own))
        for option in "--nosuch", "-Q", foreign, f"{foreign}=1":
            yield 2, [option, *words]
        for name, (_, what) in own.items():
            if what in ("one", "some"):
                yield 2, [f"{name}=nosuch", *words]
        if verb not in NEED_NOTHING:
            yield 2, []
        if "--output" in own:
            yield 2, ["--output=", *words]
            if verb not in ("record", "fleet"):  # perf makes a folder, and a list is divided first
                words = [word for word in words if word not in ("-o", "x")]
                for place in FOLDER, os.path.join(MISSING, "x"):
                    yield 1, ["-o", place, *words]
        for bad in MISSING, OTHER, FOLDER:
            if "{elf}" in VERBS[verb]:
                yield 1, self.words(verb, elf=bad)
            if "{file}" in VERBS[verb] and (verb, bad) != ("fleet", OTHER):  # that is a list
                yield 1, self.words(verb, file=bad)


def check(bench, verb):
    for status, argv in bench.lines(verb):
        yield from bench.expect(status, verb, *argv)


def measure(bench):
    """hlguest -- COMMAND takes words of report."""
    for status, *argv in ((1, "nosuch.elf", "--", "true"), (1, "--", "true", "nosuch.elf"),
                          (2, "--"), (2, "--nosuch", ELF, "--", "true"),
                          (2, "--by=nosuch", ELF, "--", "true"), (2, RECORDING, ELF, "--", "true"),
                          (2, "nosuch"), (2, "help", "nosuch"), (2,), (2, "--nosuch")):
        yield from bench.expect(status, *argv)


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(args.build, work)
        tap.same(sorted(bench.verbs), sorted(VERBS), "all verbs are known here")
        for verb in VERBS:
            tap.run(verb, lambda verb=verb: [*check(bench, verb)])
        tap.run("a command in front of no verb", lambda: [*measure(bench)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
