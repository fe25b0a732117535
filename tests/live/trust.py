#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trust, live: does hlguest find where a guest lay, and tell a wrong ELF from a right one?

    trust.py --build DIR [--corpus FOLDER]...

Each second guest of kit/microvm.py, or each with HLG_ALL in the environment, is recorded at
random bases, then several sandboxes of one side by side and in turn. Bases must be found; the
right ELF at the right base is verified, and nothing else ever is: other bases, other guests,
another build of the same guest, and addresses that no instruction begins at. AArch64 is asked
with synthetic addresses.

Takes about a minute. Skipped, with the reason, where /dev/kvm does not open or perf may
not record. With --corpus, nothing is recorded: corpus.py judges these folders instead.
"""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import corpus
import verdicts
from attribution import Elf
from microvm import END, NAMES, SOURCES, WINDOW, apart, guest, monitor, random_base, record
from rewrite import Recording
from tap import Skip, Tap, must, need, parser, some

SECONDS = 0.4
BASES = 1  # of each guest
WRONG = (0x1000, 0x3000, 8)
CHANGED = ("holes", "sorts")
BY_SIZE = ("demo", "holes")
MUCH = 0.02  # of all samples: a hot function
A64 = ("aarch64-linux-gnu-gcc", "-std=gnu11", "-O2", "-static-pie", "-ffreestanding",
       "-nostdlib", "-fno-asynchronous-unwind-tables", "-Wl,-e,run")


class Live:
    """The files of a run, and the questions."""

    def __init__(self, tap, build, folder, vm):
        self.tap, self.build, self.folder, self.vm = tap, build, folder, vm

    def path(self, name):
        return os.path.join(self.folder, name)

    def elf(self, name, *more):
        return guest(name, self.build, self.folder, *more)

    def report(self, recording, *args):
        return verdicts.report(self.build, recording, *args)

    def conserved(self, told):
        """What is wrong with the sums of a report."""
        n = told.samples
        wrong = []
        if n("seen") != n("deselected") + n("host") + n("guest"):
            wrong.append("seen is not deselected + host + guest")
        if n("guest") != sum(map(n, ("function", "label", "gap", "border", "data", "outside"))):
            wrong.append("guest is not the sum of its kinds")
        lain = sum(b["samples"] for i in told.document["images"] for b in i["bases"])
        if n("guest") != lain + n("outside"):
            wrong.append(f"{lain} samples at bases and {n('outside')} outside of them are "
                         f"not the guest's {n('guest')}")
        return wrong

    def verified(self, recording, arg, base):
        told = self.report(recording, arg)
        wrong = self.conserved(told)
        if told.verdict != "verified" or told.base != base:
            wrong.append(f"{arg}: {told}")
        return wrong

    def refused(self, recording, arg, *verdict):
        """Must be a mismatch or mixed, or this verdict."""
        told = self.report(recording, arg)
        wrong = self.conserved(told)
        if told.verdict not in (verdict or ("mismatch", "mixed")):
            wrong.append(f"{arg}: {told}")
        if told.verdict == "mismatch" and told.document["functions"]:
            wrong.append(f"{arg}: functions are named all the same")
        return wrong

    def not_refused(self, recording, arg, base):
        """Addresses made up say little of AArch64's code (verbs/a64.py has real ones)."""
        told = self.report(recording, arg)
        wrong = self.conserved(told)
        if told.verdict in ("mismatch", "mixed") or told.base != base:
            wrong.append(f"{arg}: {told}")
        return wrong

    def found(self, recording, elf, base):
        found = verdicts.bases(self.build, recording, elf)
        return [] if found and found[0].base == base else [f"{base:#x}, not {found}"]


def one_guest(live, name, recorded):
    """At its bases, and beside them."""
    tap, elf = live.tap, live.elf(name)
    for i in range(BASES):
        base = random_base(random)
        recording = live.path(f"{name}-{i}.data")
        record(live.vm, elf, base, SECONDS, recording)
        recorded.append((name, base, recording))
        title = f"{name} at {base:#x}"
        tap.run(f"{title}: found", live.found, recording, elf, base)
        tap.run(f"{title}: @auto is verified", live.verified, recording, f"{elf}@auto", base)
        tap.run(f"{title}: stated, it is verified", live.verified, recording,
                f"{elf}@{base:#x}", base)
        for by in WRONG:
            tap.run(f"{title}: wrong by {by:#x}, it is not", live.refused, recording,
                    f"{elf}@{base + by:#x}")
        tap.run(f"{title}: wrong by far, it is a mismatch", live.refused, recording,
                f"{elf}@{(base + WINDOW) % END // 4096 * 4096:#x}", "mismatch")


def others(live, recorded):
    """The recording of each with the ELFs of the others."""
    names = sorted({name for name, _, _ in recorded})
    for name, base, recording in recorded[::BASES]:
        near = corpus.TWINS if name in corpus.TWINS else {name}
        for other in names:
            # A hole without symbols says nothing of what lies in it.
            if other not in near and other != "wide":
                live.tap.run(f"{name} is not {other}", live.refused, recording,
                             f"{live.elf(other)}@{base:#x}")


def exact(live, recording, elf, sandboxes, in_turn):
    """Found, all of them; and what they add up to."""
    told = live.report(recording, f"{elf}@auto", "--border=keep")
    wrong = live.conserved(told)
    places = sorted(s.base for s in sandboxes)
    found = sorted(f.base for f in verdicts.bases(live.build, recording, elf))
    reported = sorted(int(b["base"], 16) for b in told.document["images"][0]["bases"])
    if found != places or reported != places or told.verdict != "verified":
        wrong.append(f"{told}: found {found}, reported {reported}, were {places}")
    sums = {}
    for s in sandboxes:
        tid = [] if in_turn else [f"--tid={s.tid}"]
        for function, n in live.report(recording, *tid, f"{elf}@{s.base:#x}",
                                       "--border=keep").functions().items():
            if function[1] != "[outside]":
                sums[function] = sums.get(function, 0) + n
    if sums != told.functions():
        wrong.append(f"functions are {told.functions()}, their parts {sums}")
    threads = {int(b["base"], 16): b["tid"] for b in told.document["images"][0]["bases"]}
    if any(threads.get(s.base) != s.tid for s in sandboxes):
        wrong.append(f"threads are {threads}, not {sandboxes}")
    return wrong


def several(live):
    for count, name in ((2, "demo"), (8, "sorts")):
        for in_turn in (False, True):
            elf, recording = live.elf(name), live.path(f"{count}-{in_turn}.data")
            sandboxes = record(live.vm, elf, apart(count, random), count * SECONDS,
                               recording, *(["--in-turn"] if in_turn else []))
            title = f"{count} sandboxes of {name} {'in turn' if in_turn else 'at once'}"
            live.tap.run(f"{title}: found, and sums are exact", exact, live, recording, elf,
                         sandboxes, in_turn)


def changed(live, recorded):
    """Another build of a guest: most of its code lies somewhere else."""
    for name in CHANGED:
        for was, base, recording in recorded:
            if was == name:
                live.tap.run(f"{name} at {base:#x}, and a function changed since",
                             live.refused, recording,
                             f"{live.elf(name, '-DCHANGED=40')}@{base:#x}")


def hot(told):
    """(first, size) of the functions with much of a report, as guest addresses."""
    most = MUCH * told.samples("guest")
    return [(int(f["addr"], 16) + told.base, f["size"])
            for f in told.document["functions"]
            if f["kind"] == "function" and f["samples"] >= most]


def blur(live, recording, elf, base):
    """Each sample somewhere in its function: synthetic."""
    ranges = hot(live.report(recording, f"{elf}@{base:#x}"))
    moved = Recording(recording)

    def anywhere(ip):
        for start, size in ranges:
            if start <= ip < start + size:
                return random.randrange(start, start + size)
        return ip

    moved.keep({ip for ip in moved.ips() if any(s <= ip < s + n for s, n in ranges)})
    moved.move(anywhere)
    return live.refused(moved.write(live.path("blurred.data")), f"{elf}@{base:#x}",
                        "mismatch")


def follows_sizes(told):
    return any("which of its" in note and "functions is hot" in note for note in told.trust["notes"])


def by_size(live, recording, elf, base):
    """All samples anywhere in what the hottest region's symbols own: synthetic."""
    told = live.report(recording, f"{elf}@{base:#x}")
    region = told.document["regions"][0]
    start = int(region["addr"], 16) + base
    end = start + region["size"]
    code = Elf(elf)
    owned = [addr + base - code.loads[0][0] for addr, (kind, _) in code.owners.items()
             if kind in ("function", "label")]
    owned = [ip for ip in owned if start <= ip < end]
    # The rule calls one draw in a hundred something else (1 %): three in a row it does not.
    for _ in range(3):
        moved = Recording(recording)
        moved.move(lambda ip: random.choice(owned))
        path = moved.write(live.path("by-size.data"))
        blurred = live.report(path, f"{elf}@{base:#x}", "--force=yes")
        if follows_sizes(blurred):
            break
    wrong = []
    if follows_sizes(told):
        wrong.append(f"a real one follows sizes, too: {told.trust['notes']}")
    if not blurred.document["functions"] or blurred.verdict != "mismatch":
        wrong.append(f"force=yes: {blurred}")
    if not follows_sizes(blurred):
        wrong.append(f"it does not: {blurred.trust['notes']}")
    return wrong


def a64(live, recorded):
    """AArch64: the recording of another guest, and all its addresses made up."""
    elf, path = live.path("a64.elf"), live.path("a64.data")
    need(A64[0])
    must(*A64, "-o", elf, os.path.join(SOURCES, "a64.c"))
    base, code = random_base(random), Elf(elf)
    instructions = [addr - code.loads[0][0] + base for addr, (kind, _) in
                    code.owners.items() if kind == "function" and addr % 4 == 0]
    made = Recording(recorded[0][2])
    made.move(lambda ip: random.choice(instructions))
    made.write(path)
    tap = live.tap
    tap.run("AArch64: found", live.found, path, elf, base)
    tap.run("AArch64: @auto is not refused", live.not_refused, path, f"{elf}@auto", base)
    tap.run("AArch64: stated, it is not refused", live.not_refused, path,
            f"{elf}@{base:#x}", base)
    for by in (0x1000, 2):
        tap.run(f"AArch64: wrong by {by:#x}, it is not", live.refused, path,
                f"{elf}@{base + by:#x}")


def main():
    p = parser(__doc__)
    p.add_argument("--corpus", metavar="FOLDER", action="append")
    args = p.parse_args()
    if args.corpus:
        return corpus.judge_folders(args.build, args.corpus)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        try:
            vm = monitor(args.build, folder)
        except Skip as e:
            tap.skip("trust", e)
            return tap.finish()
        live, recorded = Live(tap, args.build, folder, vm), []
        for name in some(NAMES, 2):
            tap.run(f"{name}: recorded", one_guest, live, name, recorded)
        others(live, recorded)
        tap.run("several sandboxes", several, live)
        tap.run("changed", changed, live, recorded)
        for name, base, recording in recorded[::BASES]:
            tap.run(f"{name}: addresses anywhere in its functions are a mismatch", blur,
                    live, recording, live.elf(name), base)
            if name in BY_SIZE:
                tap.run(f"{name}: made to follow sizes, it is said so", by_size, live,
                        recording, live.elf(name), base)
        tap.run("AArch64", a64, live, recorded)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
