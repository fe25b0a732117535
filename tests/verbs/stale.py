#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The ELF was built again since: what a report says of it, and how it can be read still.

    stale.py --build DIR

The ELFs are of a real guest, with one function longer (kit/grow.py); the live trials of many
are live/stale.py. Here: by how much samples have moved, in text and JSON, and --assume-shift, whose
rows are the right ELF's but for the function that grew.
"""
import os
import random
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in ("../kit", "../live")]
import verdicts
from grow import Growable
from programs import hlguest_of
from tap import DATA, Skip, Tap, parser, run

GUEST = os.path.join(DATA, "hyperlight", "guest.elf")
RECORDING = os.path.join(DATA, "hyperlight", "mix.data")


class Stale:
    """A recording, the ELF that ran, and another build of it."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        self.hlguest = hlguest_of(build)
        self.data, self.elf = os.path.join(work, "a.data"), os.path.join(work, "guest.elf")
        shutil.copy(RECORDING, self.data)
        self.right = verdicts.report(build, self.data, GUEST)
        if self.right.trust["addresses"]["on"] == 0:
            raise Skip("this build cannot decode x86-64")

    def grow(self, seed):
        """Writes it; by how much the code behind has moved."""
        rng, guest = random.Random(seed), Growable(GUEST)
        data, old = guest.grow(rng.choice(guest.functions), rng.randint(30, 300), rng)
        with open(self.elf, "wb") as f:
            f.write(data)
        return (1 << 40) - old(1 << 40)

    def report(self, *words):
        return run(self.hlguest, "report", self.elf, self.data, *words)


def count(told):
    return {f["name"]: f["samples"] for f in told.document["functions"] if f["kind"] == "function"}


def shifted(stale):
    """As one that moved by chance has no samples behind, of some seeds three are told."""
    told = 0
    for seed in range(12):
        by = stale.grow(seed)
        report = verdicts.report(stale.build, stale.data, stale.elf)
        moved = report.trust["base"].get("moved")
        if not moved:
            continue
        told += 1
        if moved["by"] != by or report.verdict != "mismatch":
            yield f"{seed}: {moved}, not {by}; {report}"
        out, _, status = stale.report()
        if status != 3 or f"{by:+}" not in out.replace(",", "") and str(by) not in out:
            yield f"{seed}: {status}, {out[:400]}"
        fitted = verdicts.report(stale.build, stale.data, stale.elf, "--assume-shift")
        ours, theirs = count(fitted), count(stale.right)
        differ = sum(abs(ours.get(n, 0) - theirs.get(n, 0)) for n in {*ours, *theirs})
        if fitted.verdict != "verified" or differ > sum(theirs.values()) * .05:
            yield f"{seed}: {differ} samples differ; {fitted}"
        out, _, status = stale.report("--assume-shift")
        if status or f"(moved by {by:+})" not in out or "as if another build" not in out:
            yield f"{seed}: --assume-shift: {status}, {out[:400]}"
    if told < 3:
        yield f"{told} are told"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            stale = Stale(args.build, work)
        except Skip as e:
            tap.skip("stale", e)
            return tap.finish()
        tap.run("shifted", lambda: [*shifted(stale)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
