#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What leaves a file of the product is called hlg_*.

    prefix.py --build DIR

nm is asked for all that the objects of symtab/, filter/ and tools/ define for others. Not
ours to name: perf's five names for a filter, main, and pprof__*, which protoc-c makes of
tools/pprof/pprof.proto: its package is pprof as in pprof's own profile.proto, and only that
one object may have them. That others are noticed is seen with mkelf_*, which the tests have.
"""
import argparse
import os
import subprocess
import sys

GOOD, GENERATED = "hlg_", ("pprof.pb-c.c.o", "pprof__")
# tests/lint/install.py: these and no others are exported.
ENTRIES = {
    "filter/hlguest.so.p/dlfilter_hlguest.c.o": {
        "start", "stop", "filter_event_early", "filter_description", "perf_dlfilter_fns"},
    "tools/hlguest.p/main.c.o": {"main"},
}


def objects(build, folder):
    for path, _, names in os.walk(os.path.join(build, folder)):
        # Guests are programs of their own.
        if "guest" not in os.path.basename(path).replace("hlguest", ""):
            yield from (os.path.join(path, name) for name in names if name.endswith(".o"))


def wrong_names(build, folder):
    """(objects read, names that should not be)."""
    paths = sorted(objects(build, folder))
    wrong = []
    # "PATH:VALUE TYPE NAME"
    out = subprocess.run(["nm", "-A", "-g", "--defined-only", *paths], check=True, text=True,
                         stdout=subprocess.PIPE).stdout if paths else ""
    for line in out.splitlines():
        name = os.path.relpath(line[:line.rindex(":")], build)
        symbol = line.split()[-1]
        good = symbol.startswith(GOOD) or symbol in ENTRIES.get(name, ()) or \
            (name.endswith(GENERATED[0]) and symbol.startswith(GENERATED[1]))
        if not good:
            wrong.append(f"{name}: {symbol}")
    return len(paths), wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", required=True)
    args = parser.parse_args()
    folders = ["symtab", "filter", "tools"]
    print(f"1..{len(folders) + 1}")
    failed = 0
    for number, folder in enumerate(folders, 1):
        read, wrong = wrong_names(args.build, folder)
        good = read and not wrong
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {folder}: {read} objects")
        for line in wrong:
            print("# " + line, file=sys.stderr)
    _, wrong = wrong_names(args.build, "tests")
    seen = any(": mkelf_" in line for line in wrong)
    failed += not seen
    print(f"{'ok' if seen else 'not ok'} {len(folders) + 1} - others are noticed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
