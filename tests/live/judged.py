#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Are the stacks of guests right, as a user gets them? Guests whose every stack is known.

    judged.py --build DIR [--all] [--seed N] [--guest NAME]...

Guests of kit/onepath.py by gcc, clang and Rust are recorded with --guest-stacks, by frame
pointers or by unwind tables, and each sample of what hlguest tells is judged: its stack is
exact; or marked, where callers are not known; or wrong. --all takes all kinds, 20,000 samples
of each. Skipped where nothing can be recorded so.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import onepath
from microvm import monitor
from onepath import ALL_FRAMES, DIRECT_CALLS, MIXED, POINTERS, REFUSED
from programs import hlguest_of, need_zydis
from tap import Skip, Tap, must, parser, run

ENOUGH = 20000
RATE = 10000
QUICK_SECONDS = 0.8
QUICK_LEAST = 500
LONG = 20  # seconds at most until there are ENOUGH
QUICK = ("gcc, decoys", "clang, direct calls", "rust", "gcc, some without frame pointers",
         "gcc, unwind tables")
# How the memory of one lies (rig/layout.h).
LAID = "clang, direct calls"
BASE = "--base=0x7f3a40000000"
LAYOUTS = (("--slots=256", "--large-pages", "--two-tables", BASE),)
MORE_LAYOUTS = (("--slots=256",), ("--slots=255", "--two-tables", BASE), ("--large-pages", BASE),
                ("--two-tables", BASE), ("--sandboxes=3",), ("--sandboxes=3", "--in-turn"))


def limits(name):
    if "without" in name:
        return MIXED if "some" in name else REFUSED
    if "mostly" in name:
        return POINTERS
    return DIRECT_CALLS if "direct" in name else ALL_FRAMES


def record(build, vm, guest, folder, seconds, *words):
    """What hlguest tells of a run, as text of the format folded."""
    out = os.path.join(folder, "judged.data")
    how = "cfi" if "tables" in guest.name else "fp"
    _, err, status = run(hlguest_of(build), "record", f"--guest-stacks={how}", "-e", "cpu-clock",
                         "-F", str(RATE), "-o", out, "--", vm, f"--seconds={seconds}", *words,
                         guest.path)
    flat = re.search(r"^hlguest: no guest stacks: (.*)", err, re.M)
    if flat:
        raise Skip(flat[1])
    if status:
        raise RuntimeError(f"status {status}: {err}")
    return must(hlguest_of(build), "report", "--format=folded", "--stacks=callgraph",
                "--weight=samples", "--border=keep", guest.path, out)


def samples(folded):
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines() if "[guest]" in line)


def judge(build, vm, folder, name, args, *words):
    guest = onepath.Guest(name, folder, args.seed)
    folded = record(build, vm, guest, folder, QUICK_SECONDS, *words)
    if args.all:
        rate = max(samples(folded), 1) / QUICK_SECONDS
        seconds = min(LONG, 1.2 * ENOUGH / rate)
        folded = record(build, vm, guest, folder, f"{seconds:.1f}", *words)
    return list(onepath.check(guest, folded, limits(name), QUICK_LEAST))


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--guest", action="append")
    args = p.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="judged-") as folder:
        try:
            vm = monitor(args.build, folder)
            need_zydis(hlguest_of(args.build))
        except Skip as e:
            tap.skip("stacks", e)
            return tap.finish()
        for name in args.guest or (onepath.KINDS if args.all else QUICK):
            tap.run(name, judge, args.build, vm, folder, name, args)
        for words in LAYOUTS + (MORE_LAYOUTS if args.all else ()):
            tap.run(" ".join((LAID, *words)), judge, args.build, vm, folder, LAID, args, *words)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
