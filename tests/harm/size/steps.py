#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Work grows with the input, and no faster: instructions, which valgrind counts, of the cases
of size.py, small.

    steps.py --build DIR

Each runs at a quarter, half and all of a size. What the second half of the input costs is
at most MOST times what the second quarter does: 2 is linear, 4 quadratic. What the program
needs for no input at all is in neither.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import cases
import size
from tap import Skip, Tap, parser

MOST = 2.6
# Size, and what is done with it; the parts outweigh what is around them.
STEPS = {
    "images": (96, ("report", "diff")),
    "events": (1000, ("report",)),
    "addresses": (4000, ("report text",)),
    "threads": (400, ("report callgraph by thread json",)),
    "stacks": (1000, ("report callgraph folded",)),
}
WITHOUT = "not in this build"


def instructions(argv, wanted):
    """How many argv takes; None if this build cannot do it."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *argv], env=size.environment(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode(errors="replace")
    if done.returncode not in (wanted if isinstance(wanted, tuple) else (wanted,)):
        if WITHOUT in said:
            return None
        raise RuntimeError(f"{argv[:2]}: status {done.returncode}: {said[-300:]}")
    return int(re.search(r"Collected : ([0-9]+)", said).group(1))


def count(case, tools, n, folder, labels):
    """{label: instructions}"""
    os.mkdir(folder)
    found = {label: instructions(argv, wanted)
             for label, argv, wanted in case.make(tools, folder, n) if label in labels}
    shutil.rmtree(folder)
    return {label: n for label, n in found.items() if n is not None}


def check(case, tools, folder):
    n, labels = STEPS[case.name]
    quarter, half, whole = (
        count(case, tools, n // part, os.path.join(folder, str(part)), labels)
        for part in (4, 2, 1))
    if not whole:
        raise Skip("this build lacks what is needed")
    steps = {label: (half[label] - quarter[label], whole[label] - half[label])
             for label in whole}
    for label, (first, second) in steps.items():
        print(f"# {case.name}, {label}: {first:,} then {second:,}: {second / first:.2f}")
    return [f"{label}: {second:,} instructions for the second half of {n}, {first:,} for the "
            "second quarter" for label, (first, second) in steps.items()
            if second > MOST * first]


def main():
    args = parser(__doc__).parse_args()
    if os.environ.get("HLG_WITHOUT") or not shutil.which("valgrind"):
        print("1..0 # SKIP needs valgrind, and programs without a sanitizer")
        return 0
    tap, tools = Tap(), cases.Tools(args.build)
    for case in cases.CASES:
        if case.name in STEPS:
            with tempfile.TemporaryDirectory(prefix="hlguest-steps-") as folder:
                tap.run(case.name, check, case, tools, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
