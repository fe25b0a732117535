#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Guests, and recordings of them with bases that are known.

    recordings.py --build DIR --out FOLDER [--bases N] [--seed N] [--seconds S]
                  [--guests NAME,...]

Makes a corpus: FOLDER/guests/*.elf; each guest recorded at N bases (default 50), and
SEVERAL recordings each with two and with eight sandboxes, every other one of them with
all sandboxes on one thread. FOLDER/manifest.jsonl has one line of JSON per recording:

    {"file": "demo-7f3a51c26000.data",      recording, relative to the manifest
     "guest": "guests/demo.elf",            what ran, relative to the manifest
     "seconds": 0.3,                        wall clock
     "in_turn": false,                      all sandboxes on one thread?
     "sandboxes": [{"tid": 4711, "base": "0x7f3a51c26000"}]}

The tid is the one of the samples. With in_turn, all sandboxes have the same.
Tests use guests() and record() instead. Both raise Skip where something is missing.
"""
import collections
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # this folder is the source's
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "perf"))
from tap import DATA, Skip, must, need, parser, run

PAGE = 0x1000
END = 1 << 47
WINDOW = 64 << 20  # microvm's default --memory
FREQUENCY = 10000
SEVERAL = 5

Sandbox = collections.namedtuple("Sandbox", "tid base")

# Freestanding guests are not the build machine's programs: no part of them is libc's.
FREESTANDING = (
    "-std=gnu11", "-O2", "-static-pie", "-fpie", "-ffreestanding", "-fno-builtin", "-nostdlib",
    "-mgeneral-regs-only", "-mno-red-zone", "-fcf-protection=none", "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,--no-dynamic-linker",
    "-Wl,-z,noexecstack,-z,text",
)
HOSTED = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-static-pie")
RUST = ("--edition", "2021", "-C", "opt-level=2", "-C", "strip=debuginfo",
        "-C", "target-feature=+crt-static", "-C", "relocation-model=pie")

# Name: the command that makes it, and its source here. The others are files already.
BUILT = {
    "holes": ("gcc", *FREESTANDING, "-fno-toplevel-reorder", "holes.c"),
    "wide": ("gcc", *FREESTANDING, "-fno-toplevel-reorder", "-DHOLE=1572864", "holes.c"),
    "sorts": ("gcc", *HOSTED, "sorts.c"),
    "prints": ("gcc", *HOSTED, "prints.c", "-lm"),
    "finds": ("gcc", *HOSTED, "finds.c", "-lm"),
    "words": ("rustc", *RUST, "words.rs"),
}
NAMES = ("demo", "rusty", *BUILT)

# Made by the same commands, not for recording.
TESTING = {"calls": ("gcc", *HOSTED, "calls.c")}
HOSTED_NAMES = ("sorts", "prints", "finds", "words", *TESTING)


def monitor(build, folder):
    """The path of microvm, if it runs here and perf may record it."""
    need("perf")
    tools = os.path.join(os.path.abspath(build), "tests", "rig")
    vm, guest = os.path.join(tools, "microvm"), os.path.join(tools, "demo.elf")
    for path in (vm, guest):
        if not os.path.exists(path):
            raise Skip(f"{path} is not built (x86-64 only)")
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError as e:
        raise Skip(f"/dev/kvm: {e.strerror}")
    _, err, status = run("perf", "record", "-q", "-e", "cpu-clock", "-o",
                         os.path.join(folder, "probe.data"), "true")
    if status:
        lines = err.strip().split("\n")
        raise Skip(f"perf may not record: {lines[0] or 'no reason given'}")
    _, err, status = run(vm, guest)
    if status:
        raise Skip(f"no guest runs here: {err.strip()}")
    return vm


def guest(name, build, folder, *more):
    """The path of a guest's ELF; one that is built lies in folder then. more are more
    arguments of its compiler."""
    if name == "demo":
        return os.path.join(os.path.abspath(build), "tests", "rig", "demo.elf")
    if name == "rusty":
        return os.path.join(DATA, "rusty.elf")
    path = os.path.join(folder, "".join((name, *more, ".elf")))
    if not os.path.exists(path):
        command = (BUILT | TESTING)[name]
        need(command[0])
        _, err, status = run(*command, *more, "-o", path, cwd=os.path.join(HERE, "guests"))
        if status:
            lines = err.strip().split("\n")
            raise Skip(f"{command[0]} cannot build {name}: {lines[-1]}")
    return path


def record(vm, elf, base, seconds, out, *args):
    """Records a guest at a base, or one sandbox at each of a list of bases, into the
    file out. args are more of microvm's. Returns the sandboxes, in the bases' order."""
    bases = base if isinstance(base, (list, tuple)) else [base]
    places = [f"--base={b:#x}" for b in bases]
    _, err, status = run("perf", "kvm", "--guest", "record", "-q", "-B", "-N",
                         "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", out, "--",
                         vm, f"--seconds={seconds}", f"--sandboxes={len(bases)}",
                         *places, *args, elf)
    lines = re.findall(r"^microvm: sandbox (\d+): tid (\d+), base (0x[0-9a-f]+)$", err, re.M)
    found = [Sandbox(int(tid), int(at, 16)) for _, tid, at in
             sorted(lines, key=lambda line: int(line[0]))]
    if status or [s.base for s in found] != list(bases):
        raise RuntimeError(f"{elf} at {' '.join(places)}: status {status}: {err.strip()}")
    return found


def random_base(rng):
    """Half of them anywhere, half of them with any number of bits."""
    top = END - WINDOW
    if rng.random() < 0.5:
        return rng.randrange(0, top + 1, PAGE)
    bits = rng.randrange(12, 47)
    return min(rng.randrange(1 << bits, 2 << bits), top) // PAGE * PAGE


def bases(count, rng):
    """So many different ones: the lowest, the highest and usual ones come first."""
    chosen = [0, 0x4000, 0x200000, 0x400000, 0x555555554000, END - WINDOW][:count]
    while len(chosen) < count:
        base = random_base(rng)
        if base not in chosen:
            chosen.append(base)
    return chosen


def apart(count, rng):
    """For the sandboxes of one recording: an address lies in one of them at most."""
    chosen = []
    while len(chosen) < count:
        base = random_base(rng)
        if all(abs(base - other) >= WINDOW for other in chosen):
            chosen.append(base)
    return chosen


class Corpus:
    """A folder of recordings and the manifest of them."""

    def __init__(self, build, out, seconds):
        self.build, self.out, self.seconds = build, out, seconds
        self.folder = os.path.join(out, "guests")
        os.makedirs(self.folder, exist_ok=True)
        self.vm = monitor(build, out)
        os.remove(os.path.join(out, "probe.data"))
        self.manifest = open(os.path.join(out, "manifest.jsonl"), "a", encoding="utf-8")

    def guest(self, name):
        """A copy of the guest in the corpus; one that is there already stays as it is."""
        path = os.path.join(self.folder, name + ".elf")
        if not os.path.exists(path):
            made = guest(name, self.build, self.folder)
            if made != path:
                must("cp", made, path)
        return path

    def add(self, file, elf, places, in_turn=False):
        seconds = self.seconds * len(places)
        found = record(self.vm, elf, places, seconds, os.path.join(self.out, file),
                       *(["--in-turn"] if in_turn else []))
        entry = {
            "file": file,
            "guest": os.path.relpath(elf, self.out),
            "seconds": seconds,
            "in_turn": in_turn,
            "sandboxes": [{"tid": s.tid, "base": f"{s.base:#x}"} for s in found],
        }
        self.manifest.write(json.dumps(entry) + "\n")
        self.manifest.flush()


def main():
    p = parser(__doc__)
    p.add_argument("--out", metavar="FOLDER", required=True)
    p.add_argument("--bases", metavar="N", type=int, default=50)
    p.add_argument("--seed", metavar="N", type=int, default=1)
    p.add_argument("--seconds", metavar="S", type=float, default=0.3)
    p.add_argument("--guests", metavar="NAME,...", default=",".join(NAMES))
    args = p.parse_args()
    rng = random.Random(args.seed)
    names = []
    try:
        corpus = Corpus(args.build, args.out, args.seconds)
    except Skip as e:
        sys.exit(f"recordings.py: {e}")
    for name in args.guests.split(","):
        try:
            elf = corpus.guest(name)
        except Skip as e:
            print(f"recordings.py: {name} left out: {e}", file=sys.stderr)
            continue
        names.append(name)
        for base in bases(args.bases, rng):
            corpus.add(f"{name}-{base:x}.data", elf, [base])
    for count in (2, 8):
        for i in range(SEVERAL):
            name = names[i % len(names)]
            places = apart(count, rng)
            corpus.add(f"{name}-{count}x-{places[0]:x}.data", corpus.guest(name), places,
                       in_turn=i % 2 == 1)


if __name__ == "__main__":
    main()
