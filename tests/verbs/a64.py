#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""AArch64: is the base found, and a wrong base or another build told from the right one?

    a64.py --build DIR

tests/data/a64 has a program, and how often each of its instructions was executed. Samples
are drawn from these counts, at a base of ours. Another build, in which one function is
longer or shorter, is made by moving the samples behind it: the ELF that is given is then
that of before, or after.
"""
import bisect
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in ("../kit", "../live")]
import recording
import verdicts
from tap import DATA, Tap, must, parser

ELF = os.path.join(DATA, "a64", "work.elf")
COUNTS = os.path.join(DATA, "a64", "work.counts")
FIRST, BASE = 0x400000, 0x7F3A51C26000
SIZES = (100, 500, 2000, 20000)
DRAWS = 10
ALIGNED = 16
MUCH = 0.05
HOT = 0.02  # the share of a function that is made hot


class Program:
    """What was executed, and recordings of it."""

    def __init__(self, build, folder):
        self.build, self.data = build, os.path.join(folder, "a64.data")
        with open(COUNTS, encoding="ascii") as f:
            pairs = [line.split() for line in f]
        self.addrs = [int(addr, 16) for addr, _ in pairs]
        self.weights = [int(n) for _, n in pairs]
        self.functions = sorted(
            (int(addr, 16), int(addr, 16) + int(size))
            for addr, size in re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC ",
                                         must("readelf", "-sW", ELF), re.M))

    def draw(self, n, rng, moved=lambda addr: addr, weights=None):
        drawn = rng.choices(self.addrs, weights or self.weights, k=n)
        recording.write(self.data, [(moved(addr) - FIRST + BASE, 7, 1000000, 0)
                                    for addr in drawn])
        return drawn

    def report(self, base):
        return verdicts.report(self.build, self.data, f"{ELF}@{base}")

    def function(self, addr):
        i = bisect.bisect(self.functions, (addr, 1 << 63)) - 1
        return self.functions[i] if i >= 0 and addr < self.functions[i][1] else None


def found(program):
    """Nine of ten at 500 samples, and never another."""
    for n in SIZES[1:]:
        right = 0
        for seed in range(DRAWS):
            program.draw(n, random.Random(f"found {n} {seed}"))
            bases = verdicts.bases(program.build, program.data, ELF)
            right += [b.base for b in bases] == [BASE]
            if bases and bases[0].base != BASE:
                yield f"{n} samples, {seed}: {bases}"
        if right < 9:
            yield f"{n} samples: found in {right} of {DRAWS}"


def hot(program):
    """The same where one function has four fifths of 500 samples, and little else has many."""
    told = functions = 0
    for start, end in program.functions:
        inside = [start <= addr < end for addr in program.addrs]
        own = sum(w for w, i in zip(program.weights, inside) if i)
        rest = sum(program.weights) - own
        if own < HOT * (own + rest):
            continue
        functions += 1
        program.draw(500, random.Random(f"hot {start}"), weights=[
            w * 4 * rest / own if i else w for w, i in zip(program.weights, inside)])
        bases = [b.base for b in verdicts.bases(program.build, program.data, ELF)]
        told += bases == [BASE]
        if bases not in ([], [BASE]):
            yield f"{start:#x}: {bases}"
    if functions < 10 or told < .9 * functions:
        yield f"of {functions} functions {told} are found"


def right(program):
    """The right ELF at its base is never refused."""
    for n in SIZES:
        for seed in range(DRAWS):
            program.draw(n, random.Random(f"right {n} {seed}"))
            told = program.report(f"{BASE:#x}")
            if told.status or told.verdict in ("mismatch", "mixed"):
                yield f"{n} samples, {seed}: {told}"


def wrong(program):
    """A wrong base is never verified, from 500 samples on it is refused."""
    for n in SIZES:
        for seed in range(DRAWS):
            rng = random.Random(f"wrong {n} {seed}")
            program.draw(n, rng)
            told = program.report(f"{BASE + rng.choice((-2, -1, 1, 2)) * 0x1000:#x}")
            if told.verdict == "verified" or (n >= 500 and told.status != 3):
                yield f"{n} samples, {seed}: {told}"


def each(program):
    """Of several recordings each is judged as it is alone."""
    alone, paths = [], []
    for i, n in enumerate(SIZES * 2):
        program.draw(n, random.Random(f"each {i}"))
        alone.append(program.report(f"{BASE:#x}").verdict)
        paths.append(f"{program.data}.{i}")
        os.rename(program.data, paths[-1])
    told = verdicts.report(program.build, paths[0], f"{ELF}@{BASE:#x}", *paths[1:])
    several = [f["verdict"] for f in told.document["files"]]
    if several != alone:
        yield f"{several}, not {alone}"


def moves(program, rng):
    """Where addresses lie after a function has become longer, or shorter."""
    start, end = rng.choice([f for f in program.functions if f[1] - f[0] > 16])
    at, by = rng.randrange(start, end, 4), 4 * rng.randint(1, 100)
    behind = (by + ALIGNED - 1) // ALIGNED * ALIGNED
    sign = rng.choice((-1, 1))
    return lambda addr: addr + sign * (by if addr < end else behind) if addr >= at else addr


def stale(program):
    """Another build is never verified if over 5 % of its names are wrong; most are refused."""
    told_so = much = 0
    for n in SIZES[1:]:
        for seed in range(2 * DRAWS):
            rng = random.Random(f"stale {n} {seed}")
            moved = moves(program, rng)
            drawn = program.draw(n, rng, moved)
            told = program.report(f"{BASE:#x}")
            lost = sum(program.function(a) != program.function(moved(a)) for a in drawn)
            if lost < MUCH * n:
                continue
            much += 1
            told_so += told.status == 3
            if told.verdict == "verified":
                yield f"{n} samples, {seed}: {lost} wrong; {told}"
    if much < 10 or told_so < .8 * much:
        yield f"of {much} {told_so} are refused"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(args.build, folder)
        for question in (found, hot, right, wrong, each, stale):
            tap.run(question.__name__, lambda q=question: [*q(program)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
