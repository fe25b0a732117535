#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says how much of symtab/ and filter/ the tests have run, and fails below a floor.

    coverage.py --build DIR [--lines PERCENT] [--branches PERCENT] [--missing [FILE...]]

DIR was built by clang with

    -fprofile-instr-generate=DIR/coverage/%4m.profraw -fcoverage-mapping

(`tools/dev test` does so in build/clang) and tests have run since: each process adds its
counts to the files in DIR/coverage. Remove those to count anew. A branch is one outcome of
one condition, `a` and `b` of `a && b` each by itself; what the preprocessor or a constant
decides is none.

--missing lists instead, for each FILE (filter/run.c; default: all), the lines that nothing
ran and, as `LINE?`, those with a condition that never was true or never false.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
FOLDERS = ("symtab", "filter")
# All objects of both folders; what no program of the tests links counts as not run.
OBJECTS = ("symtab/libsymtab.a", "filter/libfilter.a", "filter/hlguest.so")


def tool(name):
    """LLVM's programs have its version in their names where that is not the default."""
    for program in (name, name + "-14"):
        if shutil.which(program):
            return program
    sys.exit(f"coverage.py: {name} is not installed (apt-get install llvm)")


def merged(build):
    counts = glob.glob(os.path.join(build, "coverage", "*.profraw"))
    if not counts:
        sys.exit(f"coverage.py: {build}/coverage is empty (run tests first)")
    out = os.path.join(build, "coverage.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", out] + counts, check=True)
    return out


class File:
    """Lines: number to count. Branches: (line, which) to count."""

    def __init__(self, name):
        self.name = name
        self.lines = {}
        self.branches = {}

    def missing(self):
        lines = {n for n, count in self.lines.items() if not count}
        halves = {n for (n, *_), count in self.branches.items() if not count} - lines
        return sorted([(n, "") for n in lines] + [(n, "?") for n in halves])


def files(build):
    """Of each file of FOLDERS what llvm-cov says in lcov's format."""
    argv = [tool("llvm-cov"), "export", "-format=lcov", "-instr-profile", merged(build)]
    argv.append(os.path.join(build, OBJECTS[0]))
    for name in OBJECTS[1:]:
        argv += ["-object", os.path.join(build, name)]
    found = {}
    one = None
    for line in subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout.split():
        key, _, rest = line.partition(":")
        if key == "SF":
            name = os.path.relpath(os.path.realpath(rest), ROOT)
            one = File(name)
            if name.split(os.sep)[0] in FOLDERS:
                found[name] = one
        elif key == "DA":
            number, count = map(int, rest.split(","))
            one.lines[number] = count
        elif key == "BRDA":
            number, *which, count = rest.split(",")
            one.branches[(int(number), *which)] = 0 if count == "-" else int(count)
    return [found[name] for name in sorted(found) if found[name].lines]


def share(counts):
    counts = list(counts)
    ran = sum(1 for count in counts if count)
    return 100 * ran / len(counts) if counts else 100, ran, len(counts)


def row(name, lines, branches):
    line = f"{name:<26}"
    for counts in (lines, branches):
        percent, ran, all_of_them = share(counts)
        line += f"  {percent:6.2f} %  {ran:>5} of {all_of_them:<5}" if counts else ""
    print(line.rstrip())


def table(found, floors):
    print(f"{'':<26}  {'lines':<24}{'branches'}")
    for one in found:
        row(one.name, one.lines.values(), one.branches.values())
    failed = 0
    for folders in [(name,) for name in FOLDERS] + [FOLDERS]:
        these = [one for one in found if one.name.split(os.sep)[0] in folders]
        lines = [count for one in these for count in one.lines.values()]
        branches = [count for one in these for count in one.branches.values()]
        row(" + ".join(name + "/" for name in folders), lines, branches)
        for what, counts in (("lines", lines), ("branches", branches)):
            percent = share(counts)[0]
            if percent < floors[what]:
                failed = 1
                print(
                    f"coverage.py: {percent:.2f} % of the {what} of {'/ and '.join(folders)}/ "
                    f"ran, less than {floors[what]:g} % (test what --missing lists)",
                    file=sys.stderr,
                )
    return failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", metavar="DIR", required=True)
    parser.add_argument("--lines", metavar="PERCENT", type=float, default=0)
    parser.add_argument("--branches", metavar="PERCENT", type=float, default=0)
    parser.add_argument("--missing", metavar="FILE", nargs="*")
    args = parser.parse_args()
    found = files(args.build)
    if args.missing is None:
        return table(found, {"lines": args.lines, "branches": args.branches})
    for one in found:
        if not args.missing or one.name in args.missing:
            print(f"{one.name}: " + " ".join(f"{n}{half}" for n, half in one.missing()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
