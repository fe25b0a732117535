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
Tests use kit/microvm.py instead.
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from microvm import END, NAMES, WINDOW, apart, guest, monitor, random_base, record
from tap import Skip, must, parser

SEVERAL = 5


def bases(count, rng):
    """So many different ones: the lowest, the highest and usual ones come first."""
    chosen = [0, 0x4000, 0x200000, 0x400000, 0x555555554000, END - WINDOW][:count]
    while len(chosen) < count:
        base = random_base(rng)
        if base not in chosen:
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
