#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads all sources for bugs, with programs that need no test to find them.

    lint.py --build DIR [--only PROGRAM] [--changed] [FILE...]

    cppcheck     sources and tests at once
    clang-tidy   each file, as .clang-tidy and tests/.clang-tidy say
    gcc          the same files with -fanalyzer

DIR (built by gcc) says how files are compiled. What is found is printed, and the exit
status 1, but for what KNOWN has: judged, and no bug. A line of KNOWN that is not found any
more fails as well, where all files are read. --changed: these files and no others, also if
there are none.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
FOLDERS = ("symtab", "filter", "tools", "tests")
KNOWN = os.path.join(ROOT, "tests", "lint", "lint-known.txt")
# The analyzer gives up on a function after so many states: what it finds comes early.
NODES = "20000"
TIDY = ["clang-tidy", "--quiet"] + [
    "--extra-arg=" + word for word in
    ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=" + NODES)]
# gcc 12 loses sight of what a structure in an array owns, and takes it for leaked.
# LeakSanitizer and valgrind look at leaks instead.
ANALYZER = ["-fanalyzer", "-Wno-analyzer-malloc-leak", "-fdiagnostics-color=never",
            "-O0", "-g0", "-S", "-o", "/dev/null"]
# A test without memory may end as it likes.
OF_TESTS = ["-Wno-analyzer-possible-null-dereference", "-Wno-analyzer-possible-null-argument"]
# What gcc calls values that have no name in the source: another number in another build.
UNNAMED = re.compile(r"\b(\w*_)\d+\b(\(D\))?")
FOUND = re.compile(r"^(\S+?):\d+:\d+: (?:error|warning|style|portability|performance): (.*)$")


def relative(path, folder=ROOT):
    return os.path.relpath(os.path.realpath(os.path.join(folder, path)), os.path.realpath(ROOT))


def sources(build, names):
    """{file: command}, each once."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        found = {relative(one["file"], one["directory"]): one for one in json.load(f)}
    return {name: one for name, one in sorted(found.items())
            if name.split("/")[0] in FOLDERS and (not names or name in names)}


def said(argv, folder=ROOT):
    """Findings as (file, text without line numbers, as printed)."""
    done = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, LC_ALL="C", CCACHE_DISABLE="1"), text=True,
                          errors="replace", check=False)
    found = []
    for line in done.stdout.splitlines():
        match = FOUND.match(line)
        if match:
            name = relative(match.group(1), folder)
            text = UNNAMED.sub(r"\1N", match.group(2))
            found.append((name, f"{name}: {text}", line))
    if done.returncode and not found:
        found.append((argv[0], f"{argv[0]}: status {done.returncode}", done.stdout[-2000:]))
    return found


def cppcheck(build, names):
    argv = ["cppcheck", "-q", "--enable=warning,performance,portability", "--std=c11",
            "-D_GNU_SOURCE", "-D_Noreturn=__attribute__((noreturn))", "-DSEC(name)=", "-I.", "-I" + os.path.abspath(build), "--template=gcc",
            "-j", "2"]
    return said(argv + (list(names) if names else list(FOLDERS)))


def tidy(build, name):
    # It names files as the compiler does: from the build folder.
    return said([*TIDY, "-p", ".", os.path.join(ROOT, name)], os.path.abspath(build))


def analyzer(one):
    argv = shlex.split(one["command"])
    argv = [word for word in argv if not word.startswith(("-O", "-g", "-Werror", "-M"))]
    while argv and os.path.basename(argv[0]) == "ccache":
        argv.pop(0)
    for word in ("-o", "-MF", "-MQ"):
        if word in argv:
            del argv[argv.index(word):argv.index(word) + 2]
    argv = [word for word in argv if not word.endswith((".o", ".d"))]
    if relative(one["file"], one["directory"]).startswith("tests/"):
        argv += OF_TESTS
    return said(argv + ANALYZER, one["directory"])


def known():
    with open(KNOWN, encoding="utf-8") as f:
        return [line for line in f.read().splitlines() if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", required=True)
    parser.add_argument("--only", choices=("cppcheck", "clang-tidy", "gcc"))
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("file", nargs="*")
    args = parser.parse_args()
    files = sources(args.build, args.file)
    if args.changed and not files.keys() & set(args.file):
        print("lint.py: no source has changed")
        return 0
    if not files:
        sys.exit(f"lint.py: {args.build}: no sources to read (have they moved?)")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = []
        for program in ("clang-tidy", "gcc", "cppcheck"):
            if args.only not in (None, program):
                continue
            if not shutil.which(program):
                sys.exit(f"lint.py: {program} is not installed (apt-get install {program})")
            if program == "cppcheck":
                runs.append(pool.submit(cppcheck, args.build, args.file))
            elif program == "gcc":
                runs += [pool.submit(analyzer, one) for one in files.values()]
            else:
                runs += [pool.submit(tidy, args.build, name) for name in files]
        found = {finding for run in runs for finding in run.result()}
    judged = collections.Counter(known())
    new = sorted(f for f in found if f[1] not in judged)
    for _, _, line in new:
        print(line)
    gone = set() if args.file or args.only else set(judged) - {f[1] for f in found}
    for line in sorted(gone):
        print(f"tests/lint/lint-known.txt: not found any more: {line}")
    print(f"{len(files)} files read, {len(found)} findings, {len(new)} of them not known")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
