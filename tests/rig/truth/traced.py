#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""AArch64 programs that QEMU runs: is what hlguest says of them what they executed?

    traced.py --build DIR [--draws N] [--trials N] [--program NAME]

By hand, in some ten minutes. Those in traced/ are linked with all that they use, for which
Debian's packages are unpacked as by rig/arm64.py; each has 600 KB of code or more. Under
qemu-aarch64 a plugin (trace.c) says each so many instructions where the program is: a
recording of it has these addresses.

- rows: each function has the samples that lie in it by readelf;
- instructions: each has its samples, and its text is objdump's, but for words that Capstone
  does not know: they are counted, and may be few;
- base: of recordings with 500 of the samples (N of each program), nine in ten are found where
  they lie, in a program half at least, and none is found or verified elsewhere;
- wrong: a base that is wrong by a page or more is never verified;
- rebuilt: of N ELFs, in each of which one function is longer, wrong names are refused or marked
  (live/stale.py).
"""
import collections
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in ("../../kit", "../../live", "..")]
import arm64
import recording
import stale
import verdicts
from binutils import Program, compare
from programs import hlguest_of
from tap import Skip, Tap, must, need, parser

HERE = os.path.join(sys.path[0], "traced")
PACKAGES = arm64.PACKAGES + ["liblua5.4-dev", "libsqlite3-dev"]
# Each, and what it is linked with.
PROGRAMS = {
    "disasm": ["-lcapstone"],
    "lua": ["-llua5.4", "-lm", "-ldl"],
    "pack": ["-lzstd", "-lz", "-llzma"],
    "sql": ["-lsqlite3", "-lm"],
    "text": ["-ljansson", "-lm"],
}
EACH = 2003     # instructions from sample to sample
TIMEOUT = 1200  # seconds, of a program: on an idle machine it takes some two
FEW = 500
FOUND, LEAST = .9, .5
MOST = 40000    # samples that ELFs are held against
PERIOD = 1000000
# Of the instructions that ran: those that Capstone 4.0.2 does not know, and calls otherwise.
UNKNOWN, OTHER = .004, .0001


class Traced:
    """A program, and where it was: addresses in the order of time."""

    def __init__(self, build, folder, name):
        self.build, self.folder, self.name = build, folder, name
        self.elf, self.data = os.path.join(folder, name), os.path.join(folder, name + ".data")
        need("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "qemu-aarch64", "apt-get")
        arm64.unpack(PACKAGES, "traced")
        root = arm64.SYSROOT
        must("aarch64-linux-gnu-gcc", f"--sysroot={root}", "-std=gnu11", "-O2", "-static",
             f"-I{root}/usr/include/lua5.4", os.path.join(HERE, name + ".c"), "-o", self.elf,
             *PROGRAMS[name])
        plugin = os.path.join(os.path.abspath(build), "tests/rig/truth/trace.so")
        subprocess.run(["qemu-aarch64", "-plugin", f"{plugin},out={self.elf}.trace,each={EACH}",
                        self.elf], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        with open(self.elf + ".trace", encoding="ascii") as f:
            self.ips = [int(line, 16) for line in f]
        self.program = Program(folder, name)
        self.first = min(s[3] for s in stale.Growable(self.elf).segments if s[0] == 1)
        self.text = sum(end - start for start, (end, _) in self.program.symbols.items())

    def record(self, ips, base=None):
        """Writes a recording of these samples, taken where the first address lies at base."""
        by = 0 if base is None else base - self.first
        recording.write(self.data, [(ip + by, 7, PERIOD, 0) for ip in ips])

    def some(self, n, rng):
        """So many of the samples, at the same distance: as if fewer had been taken."""
        step = len(self.ips) / n
        start = rng.random() * step
        return [self.ips[int(start + i * step)] for i in range(n)]

    def hlguest(self, verb, *words):
        return must(hlguest_of(self.build), verb, "-q", self.elf, self.data, "--top=0", *words)


def random_base(rng):
    return rng.randrange(0x1000, 1 << 47, 0x1000)


def rows(one):
    one.record(one.ips)
    wanted = collections.Counter(map(one.program.start_of, one.ips))
    nowhere, found = wanted.pop(None, 0), collections.Counter()
    for row in csv.DictReader(io.StringIO(one.hlguest("report", "--format=csv"))):
        if row["record"] == "function":
            function = row["kind"] == "function"
            found[int(row["addr"], 16) if function else None] += int(row["samples"])
    print(f"# {one.name}: {one.text} bytes of code; {len(one.ips)} samples, in "
          f"{len(wanted)} functions, {nowhere} in none")
    if found.pop(None, 0) != nowhere:
        yield f"not {nowhere} samples are in no function"
    yield from (f"{addr:#x}: {found[addr]} samples, not {wanted[addr]}"
                for addr in wanted.keys() | found.keys() if found[addr] != wanted[addr])


def instructions(one):
    if "Capstone" not in must(hlguest_of(one.build), "--version").split("without")[0]:
        raise Skip("not built with Capstone")
    one.record(one.ips)
    left, seen, unknown, other = collections.Counter(one.ips), 0, 0, []
    for function in json.loads(one.hlguest("annotate", "--format=json"))["functions"]:
        for line in function["lines"]:
            addr = int(line["addr"], 16)
            if left.pop(addr, 0) != line["samples"]:
                yield f"{addr:#x}: {line['samples']} samples"
            if line["kind"] != "instruction" or function["kind"] != "function":
                continue
            seen += 1
            different = compare(line, one.program.insns)
            if different and line["text"].startswith(".inst"):
                unknown += 1
            elif different:
                other.append(different)
    print(f"# {one.name}: {seen} instructions, {unknown} not known, {len(other)} other")
    nowhere = [addr for addr in left if one.program.start_of(addr)]
    if nowhere:
        yield f"{len(nowhere)} addresses with samples are in no listing"
    if not seen or unknown > UNKNOWN * seen or len(other) > OTHER * seen:
        yield from [f"{seen}: {unknown} are not known, {len(other)} are other", *other]


def base(one, draws, tally):
    right = verified = 0
    for seed in range(draws):
        rng = random.Random(f"base {one.name} {seed}")
        at = random_base(rng)
        one.record(one.some(FEW, rng), at)
        bases = [b.base for b in verdicts.bases(one.build, one.data, one.elf)]
        right += bases == [at]
        if bases and bases != [at]:
            yield f"{seed}: found at {bases}, not {at:#x}"
        told = verdicts.report(one.build, one.data, f"{one.elf}@auto")
        verified += told.verdict == "verified"
        if told.verdict == "verified" and told.base != at:
            yield f"{seed}: {told}"
    print(f"# {one.name}: {FEW} samples: {right} of {draws} found, {verified} verified")
    tally.update(right=right, draws=draws)
    if right < LEAST * draws:
        yield f"{right} of {draws} are found"


def found(tally):
    """Of all programs."""
    print(f"# {FEW} samples: {tally['right']} of {tally['draws']} found")
    if tally["right"] < FOUND * tally["draws"]:
        yield "that is few"


def wrong(one, draws):
    said = collections.Counter()
    for seed in range(draws):
        rng = random.Random(f"wrong {one.name} {seed}")
        at = random_base(rng) + 0x10000
        one.record(one.some(FEW, rng), at)
        by = 0x1000 * rng.choice((-16, -2, -1, 1, 2, 16))
        told = verdicts.report(one.build, one.data, f"{one.elf}@{at + by:#x}")
        said[told.verdict] += 1
        if told.verdict == "verified":
            yield f"{seed}: wrong by {by:#x}: {told}"
    print(f"# {one.name}: {FEW} samples, at a wrong base: {dict(said)}")


def rebuilt(one, trials):
    ips = one.ips[::len(one.ips) // MOST + 1]
    one.record(ips, stale.BASE)
    counts = collections.Counter(ip - one.first + stale.BASE for ip in ips)
    trial = stale.Trial(one.build, one.elf, one.data, counts)
    yield from stale.judge(one.name, trial, trials, random.Random(1),
                           ("verified", "too few samples to tell"))


def main():
    p = parser(__doc__)
    p.add_argument("--draws", type=int, default=100)
    p.add_argument("--trials", type=int, default=40)
    p.add_argument("--program", choices=PROGRAMS)
    args = p.parse_args()
    tap, tally = Tap(), collections.Counter()
    names = [args.program] if args.program else [*PROGRAMS]
    with tempfile.TemporaryDirectory(prefix="traced-") as folder:
        for name in names:
            try:
                one = Traced(args.build, folder, name)
            except Skip as e:
                tap.skip(name, e)
                continue
            for question, *words in ((rows,), (instructions,), (base, args.draws, tally),
                                     (wrong, args.draws), (rebuilt, args.trials)):
                tap.run(f"{name}: {question.__name__}",
                        lambda q=question, w=words: [*q(one, *w)])
    if tally:
        tap.run("bases found", lambda: [*found(tally)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
