#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trust over a corpus that recordings.py made: how often is it right?

    corpus.py --build DIR [--jobs N] [--seed N] [--few N] FOLDER...

Of each recording, for each guest:

- base: `hlguest base` finds exactly the bases that were, the one of a lone sandbox first;
- report: `@auto` is verified there;
- few: of 20 (--few) distinct addresses only, any of them, three times, and those that were
  met first: the base is right or not told, and nothing is verified elsewhere;
- wrong: stated wrong by 0x1000, 0x3000 and 8 bytes: never verified;
- alien: the ELF of another guest: never verified.

Lines that name what was wrong; then a table. Exit status 1 if anything was wrong. A lone
base that was not told counts as wrong under base and report, not under few.
"""
import collections
import concurrent.futures
import json
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import verdicts
from rewrite import Recording
from tap import parser

FEW_TIMES = 3
KINDS = ("base", "several", "report", "few", "few, first", "wrong", "alien")
# These two have their hot code at the same addresses: either fits the other's samples.
TWINS = {"holes", "wide"}


class Judge:
    """Counts outcomes ("right", "not told", "wrong") of each guest and kind."""

    def __init__(self, build, seed, n_few):
        self.build, self.seed, self.n_few = build, seed, n_few
        self.counts = collections.defaultdict(collections.Counter)

    def few(self, folder, entry, elf, rng, first):
        """Few addresses of a recording: outcome and what was said."""
        recording = Recording(entry["path"])
        ips = recording.ips()
        if first:
            wanted = set(list(dict.fromkeys(ips))[:self.n_few])
        else:
            distinct = sorted(set(ips))
            wanted = set(rng.sample(distinct, min(self.n_few, len(distinct))))
        recording.keep(wanted)
        path = recording.write(os.path.join(folder, "few.data"))
        true = int(entry["sandboxes"][0]["base"], 16)
        found = verdicts.bases(self.build, path, elf)
        if found and found[0].base != true:
            return "wrong", f"base {found[0].base:#x}"
        told = verdicts.report(self.build, path, f"{elf}@auto")
        if told.verdict == "verified" and told.base != true:
            return "wrong", f"verified at {told.base:#x}"
        return ("right" if found else "not told"), ""

    def lone(self, folder, entry, elf, others, rng):
        """(kind, outcome, what was said) of a recording with one sandbox."""
        path, true = entry["path"], int(entry["sandboxes"][0]["base"], 16)
        found = verdicts.bases(self.build, path, elf)
        if not found:
            yield "base", "not told", ""
        else:
            yield "base", "right" if found[0].base == true else "wrong", str(found)
        told = verdicts.report(self.build, path, f"{elf}@auto")
        right = told.verdict == "verified" and told.base == true
        yield "report", "right" if right else "wrong", str(told)
        for first in (False, True):
            for _ in range(1 if first else FEW_TIMES):
                yield ("few, first" if first else "few",
                       *self.few(folder, entry, elf, rng, first))
        for by in (0x1000, 0x3000, 8):
            told = verdicts.report(self.build, path, f"{elf}@{true + by:#x}")
            yield "wrong", verdicts.refused(told), f"+{by:#x}: {told}"
        other = rng.choice(others)
        told = verdicts.report(self.build, path, f"{other}@{true:#x}")
        yield "alien", verdicts.refused(told), f"{other}: {told}"

    def several(self, entry, elf):
        path = entry["path"]
        true = sorted(int(s["base"], 16) for s in entry["sandboxes"])
        found = sorted(f.base for f in verdicts.bases(self.build, path, elf))
        # Of two that overlap, one is placed.
        outcome = ("right" if found == true else
                   "not told" if set(found) < set(true) else "wrong")
        yield "several", outcome, f"found {len(found)}"
        told = verdicts.report(self.build, path, f"{elf}@auto")
        yield "report", "right" if told.verdict == "verified" else "wrong", str(told)

    def judge(self, entry, elves):
        elf = entry["elf"]
        name = os.path.splitext(os.path.basename(elf))[0]
        near = TWINS if name in TWINS else {name}
        others = [e for e in elves
                  if os.path.splitext(os.path.basename(e))[0] not in near]
        rng = random.Random(f"{self.seed} {entry['file']}")
        with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
            if len(entry["sandboxes"]) > 1:
                return name, list(self.several(entry, elf))
            return name, list(self.lone(folder, entry, elf, others, rng))

    def add(self, entry, name, outcomes):
        for kind, outcome, said in outcomes:
            self.counts[name, kind][outcome] += 1
            if outcome == "wrong" or (outcome == "not told" and kind == "base"):
                print(f"{entry['file']}: {kind}: {outcome}: {said}", flush=True)

    def table(self):
        """Prints it; returns how much was wrong."""
        bad = 0
        names = sorted({name for name, _ in self.counts})
        print(f"{'guest':<10}" + "".join(f"{kind:>18}" for kind in KINDS))
        for name in [*names, "all"]:
            cells = []
            for kind in KINDS:
                c = sum((self.counts[n, kind] for n in names if name in (n, "all")),
                        collections.Counter())
                cells.append("/".join(str(c[o]) for o in ("right", "not told", "wrong")))
                if name != "all":
                    bad += c["wrong"] + (c["not told"] if kind == "base" else 0)
            print(f"{name:<10}" + "".join(f"{cell:>18}" for cell in cells))
        print("right/not told/wrong")
        return bad


def entries(folder):
    with open(os.path.join(folder, "manifest.jsonl"), encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line)
            entry["path"] = os.path.join(folder, entry["file"])
            entry["elf"] = os.path.join(folder, entry["guest"])
            yield entry


def judge_folder(build, folder, jobs=2, seed=1, few=20):
    """Returns how much was wrong."""
    judge = Judge(build, seed, few)
    todo = list(entries(folder))
    elves = sorted({e["elf"] for e in todo})
    print(f"{folder}: {len(todo)} recordings of {len(elves)} guests")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for entry, (name, outcomes) in zip(
                todo, pool.map(lambda e: judge.judge(e, elves), todo)):
            judge.add(entry, name, outcomes)
    return judge.table()


def judge_folders(build, folders, **how):
    """An exit status."""
    return 1 if sum([judge_folder(build, folder, **how) for folder in folders]) else 0


def main():
    p = parser(__doc__)
    p.add_argument("--jobs", metavar="N", type=int, default=2)
    p.add_argument("--seed", metavar="N", type=int, default=1)
    p.add_argument("--few", metavar="N", type=int, default=20)
    p.add_argument("folder", metavar="FOLDER", nargs="+")
    args = p.parse_args()
    return judge_folders(args.build, args.folder, jobs=args.jobs, seed=args.seed,
                         few=args.few)


if __name__ == "__main__":
    sys.exit(main())
