#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of the C library and of Rust, in the micro-VM and natively: the same output?

    hosted.py --build DIR

A native run is the oracle: of every hosted guest of kit/microvm.py and of guests/calls.c,
which asks its kernel for all that microvm serves. Then the ways to end badly. Skipped,
with the reason, where no guest runs; a guest also if it cannot be built.
"""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from microvm import END, HOSTED_NAMES, WINDOW, guest, monitor, random_base
from tap import Skip, Tap, must, parser, run

NOTE = "microvm: system call 499 is not served (ENOSYS)"

# The end of calls.c: what microvm says of it.
BAD_ENDS = {
    "END_STATUS": "microvm: guest: it exited with status 3 (see its messages)",
    "END_ABORT": "microvm: guest: it ended with signal 6 (see its messages)",
    "END_FAULT": "microvm: guest: triple fault, an exception without a handler, at about "
                 "rip 0x",
    "END_NEVER": "microvm: guest: killed at its deadline, at rip 0x",
}


def same(build, folder, vm, name, base, *args):
    elf = guest(name, build, folder)
    expected = must(elf)
    out, err, status = run(vm, f"--base={base:#x}", *args, elf)
    runs = 2 if "--runs=2" in args else 1
    if status or out != expected * runs:
        return [f"status {status}", err, f"expected {expected[:999]!r}", f"got {out[:999]!r}"]
    return [err] if err.count(NOTE) != (name == "calls") else []


def bad_end(build, folder, vm, end, said):
    elf = guest("calls", build, folder, f"-DEND={end}")
    out, err, status = run(vm, "--runs=2", "--in-turn", "--sandboxes=2", "--deadline=1", elf)
    last = err.rstrip("\n").split("\n")[-1]
    if status == 1 and last.startswith(said) and out.count("two parts") == 1:
        return []
    return [f"status {status}", err, out]


def refused(vm, elf, *args):
    """A message about ring 3 and no run."""
    out, err, status = run(vm, *args, elf)
    return [] if status == 1 and not out and "ring 3 only" in err else [out, err]


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        files = (args.build, folder)
        try:
            vm = monitor(*files)
        except Skip as e:
            tap.skip("hosted", e)
            return tap.finish()
        for name in HOSTED_NAMES:
            tap.run(f"{name}: as natively", same, *files, vm, name, random_base(random))
        for base in (0, END - WINDOW):
            tap.run(f"calls: at {base:#x}", same, *files, vm, "calls", base)
        tap.run("calls: a second run knows nothing of the first", same, *files, vm,
                "calls", 0x4000, "--runs=2")
        for end, said in BAD_ENDS.items():
            tap.run(f"calls: {end}", bad_end, *files, vm, end, said)
        tap.run("calls: not in ring 0", lambda: refused(vm, guest("calls", *files),
                                                        "--ring=0"))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
