#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Guests that mean harm to who reads their stacks, live: record --guest-stacks.

    hostile.py --build DIR [--all]

Frame pointers that cycle, descend, lie at the ends of pages and of all addresses; tables of
pages that are their own, lead to holes and devices, and change meanwhile (guests/hostile.c,
rig/layout.h). The recording is whole, no word of the VMM's that lies beside the guest's
memory is in it, and the kernel has said nothing. --all takes more layouts, for longer.
Skipped where nothing can be recorded so.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import called
import onepath
from microvm import guest, monitor
from programs import hlguest_of
from tap import Skip, Tap, must, parser, run

LEAST = 500
DEEPEST = 127
SAID = re.compile(r"^hlguest: (\d+) of (\d+) guest samples? ha(?:s|ve) callers.*"
                  r"^hlguest: \S+: \d+ guest samples?, \d+ of the host, (\d+) lost$", re.M | re.S)
# What programs do, and how long perf's interrupts take.
OF_OTHERS = re.compile(r"segfault at|traps: |perf: interrupt took too long|process '.*' started")


def kernel_says():
    """Its last words, with their times; of what is no concern of ours nothing."""
    out, _, status = run("dmesg")
    return [line for line in out.splitlines() if not OF_OTHERS.search(line)] if status == 0 else []


def check(build, vm, elf, folder, seconds, *words):
    out = os.path.join(folder, "hostile.data")
    before = kernel_says()
    _, err, status = run(hlguest_of(build), "record", "--guest-stacks", "-e", "cpu-clock", "-F",
                         "10000", "-o", out, "--", vm, f"--seconds={seconds}", "--hostile",
                         *words, elf)
    flat = re.search(r"^hlguest: no guest stacks: (.*)", err, re.M)
    if flat:
        raise Skip(flat[1])
    said = SAID.search(err)
    if status or not said:
        raise RuntimeError(f"status {status}: {err}")
    got, every, lost = (int(n) for n in said.groups())
    print(f"# {got} of {every} samples have callers, {lost} lost")
    if not 0 < got <= every or lost or every < LEAST:
        yield said[0]
    yield from (line for line in kernel_says() if line not in before)
    with open(out, "rb") as f:
        if onepath.CANARY in f.read():
            yield "words beside the guest's memory are in the recording"
    # Its few addresses may not suffice to find the base.
    base = dict(word.split("=") for word in words if "=" in word).get("--base", "0x4000")
    stacks = called.parse(must(hlguest_of(build), "report", "--format=folded",
                               "--stacks=callgraph", "--weight=samples", f"{elf}@{base}", out))
    if stacks.total() != every:
        yield f"{stacks.total()} of {every} samples are told"
    lies = sum(n for stack, n in stacks.items() if stack[-1] == "lie")
    if lies < 0.9 * every:
        yield f"{lies} of {every} samples lie"
    deepest = max(map(len, stacks))
    # One for why it ends, one for a caller that is not known.
    if not DEEPEST <= deepest <= 2 * DEEPEST:
        yield f"the deepest stack has {deepest} frames"


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    args = p.parse_args()
    seconds = 20 if args.all else 1
    layouts = [("--slots=7",)]
    if args.all:
        layouts += [("--slots=1",), ("--slots=256", "--sandboxes=3"),
                    ("--slots=64", "--two-tables", "--large-pages", "--base=0x40000000")]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        try:
            vm, elf = monitor(args.build, folder), guest("hostile", args.build, folder)
        except Skip as e:
            tap.skip("hostile", e)
            return tap.finish()
        for words in layouts:
            tap.run(" ".join(("hostile", *words)), lambda: list(
                check(args.build, vm, elf, folder, seconds, *words)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
