#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stale ELFs: is a report of a guest refused, or are its wrong rows marked, if the ELF that is
given is another build, with one function longer?

    stale.py --build DIR [--trials N] [--seed N]

Each trial takes a guest that was recorded once, and a random function and size (kit/grow.py).
One fails if the report ends with 0 and over 5 % of the guest's samples stand under a wrong
name, or if it tells another distance that code has moved by than it has. Where it tells one,
--assume-shift gives the rows that the right ELF has, but of the function that grew. Skipped, with the reason, where /dev/kvm does not open or perf may not record.
"""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import verdicts
from grow import Growable
from microvm import guest, monitor, record
from tap import Tap, must, parser, some

GUESTS = ("sorts", "prints", "finds")
BASE = 0x200000
SECONDS = 1.5
SIZES = (1, 400)
MUCH = 0.05
MOST_FAILED = 0.01
NEAR = 0.05  # next to where code was put in, rows may differ


def read_ips(data):
    """Samples of guests by their address."""
    ips = {}
    for line in must("perf", "script", "-F", "ip", "-i", data, "-D").splitlines():
        words = line.split()
        if "PERF_RECORD_SAMPLE(IP," in line:
            at = words.index("PERF_RECORD_SAMPLE(IP,")
            if int(words[at + 1].rstrip("):"), 16) & 7 in (4, 5):
                ip = int(words[at + 3], 16)
                ips[ip] = ips.get(ip, 0) + 1
    return ips


class Trial:
    """A recording of an ELF at BASE, its samples by their address, and ELFs that it is not of."""

    def __init__(self, build, elf, data, ips):
        self.build, self.elf, self.data = build, elf, data
        self.right = Growable(elf)
        self.stale = elf + ".stale"
        first = min(s[3] for s in self.right.segments if s[0] == 1)
        self.ips = {ip - BASE + first: n for ip, n in ips.items()}

    def wrong(self, told, old):
        """Shares of the samples whose name is wrong: in the ELF, and in the report."""
        named = {int(f["addr"], 16): f["name"] for f in told.document["functions"]
                 if not f["name"].startswith("[does not fit]")}
        wrong = shown = 0
        for ip, n in self.ips.items():
            at = old(ip)
            owner = self.right.function_at(ip)
            given = self.grown if at is None else self.right.function_at(at)
            if given and owner != given:
                wrong += n
                if told.verdict != "mismatch" and self.start(given) in named:
                    shown += n
        every = sum(self.ips.values())
        return wrong / every, shown / every

    def start(self, function):
        return function.addr + (self.shift if function.addr > self.grown.addr else 0)

    def run(self, rng):
        """(verdict, wrong share) of an ELF in which a random function is longer."""
        self.grown = rng.choice(self.right.functions)
        size = rng.randint(*SIZES)
        size += -size % self.right.unit
        data, old = self.right.grow(self.grown, size, rng)
        probe = 1 << 40
        self.shift = probe - old(probe)
        with open(self.stale, "wb") as f:
            f.write(data)
        told = verdicts.report(self.build, self.data, f"{self.stale}@{BASE:#x}")
        return told, self.wrong(told, old)


def rows(told, *without):
    found = {}
    for f in told.document["functions"]:
        if f["kind"] == "function" and f["name"] not in without and \
                not f["name"].startswith("[does not fit]"):
            found[f["name"]] = found.get(f["name"], 0) + f["samples"]
    return found


def judge_shift(trial, told, right):
    """Of a report that says that code has moved."""
    moved = told.trust["base"]["moved"]
    name = trial.grown.name
    if moved["by"] != trial.shift:
        return [f"{name}: moved by {moved['by']}, not {trial.shift}"]
    shifted = verdicts.report(trial.build, trial.data, f"{trial.stale}@{BASE:#x}",
                              "--assume-shift")
    if "(--assume-shift)" not in " ".join(shifted.document["notes"]):
        return [f"{name}: --assume-shift does not say so"]
    ours, theirs = rows(shifted, name), rows(right, name)
    differ = sum(abs(ours.get(n, 0) - theirs.get(n, 0)) for n in set(ours) | set(theirs))
    if differ > NEAR * sum(theirs.values()):
        return [f"{name}: {differ} samples are in other rows with --assume-shift"]
    return []


def live(build, folder, name):
    """A guest that is recorded now."""
    elf, data = guest(name, build, folder), os.path.join(folder, name + ".data")
    record(monitor(build, folder), elf, BASE, SECONDS, data)
    return Trial(build, elf, data, read_ips(data))


def judge(name, trial, trials, rng, believed=("verified",)):
    """believed: what may be said of the right ELF."""
    right = verdicts.report(trial.build, trial.data, f"{trial.elf}@{BASE:#x}")
    if right.verdict not in believed:
        yield f"the right ELF: {right}"
    verdict, failed, stale, moved = {}, [], 0, 0
    for _ in range(trials):
        told, (wrong, shown) = trial.run(rng)
        verdict[told.verdict] = verdict.get(told.verdict, 0) + 1
        stale += wrong > MUCH
        if told.trust["base"]["moved"]:
            moved += 1
            yield from judge_shift(trial, told, right)
        if shown > MUCH:
            failed.append(f"{trial.grown.name} + {trial.shift}: {told}, {shown:.1%} wrong")
    print(f"# {name}: {sum(trial.ips.values())} samples, {len(trial.ips)} addresses: "
          f"{verdict}; {stale} of {trials} have over 5 % wrong names, {len(failed)} show them; {moved} are told to have moved")
    if moved < stale / 2:
        yield f"of {stale} that have wrong names {moved} are told to have moved"
    for line in failed:
        print(f"# {line}")
    if len(failed) > max(1, MOST_FAILED * trials):
        yield f"{len(failed)} of {trials} fail"


def main():
    p = parser(__doc__)
    p.add_argument("--trials", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name in some(GUESTS, len(GUESTS)):
            def judged():
                return list(judge(name, live(args.build, folder, name), args.trials,
                                  random.Random(args.seed)))
            tap.run(name, judged)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
