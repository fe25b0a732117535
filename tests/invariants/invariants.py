#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What holds of every recording, ELF and profile, damaged ones too.

    invariants.py --build DIR [--seed S] [--rounds N | --minutes M] [--only NAME] [--keep FOLDER]

a. threads and forms: -j1 is -jN; a file is a pipe is a folder is a compressed one (forms.py)
b. cutting adds up: by time, tid, pid, cpu, event, sandbox, file; saved and merged (cuts.py)
c. one figure: every format has the same, and rows add up to what is told of all (sums.py);
   recordings in another order or grouping are the same, a comparison has the figures of
   both sides, and a base that is found is where they were (pairs.py); an ELF whose symbols
   were split off, or that lies in a host, is the ELF (images.py)
d. one sample, one name: lookup, report, folded, annotate, perf script of inject's copy, at
   every edge, before and behind it (names.py)
e. told is done: a loss is what the note and JSON say, and what is seen is the rest (names.py)
f. cost follows bytes on disk: each run has so many CPU seconds and so much memory at most
   (bed.py); of files with very many of one thing, or a hole (costs.py). harm/size/interrupt.py
   has ^C

A round tries each once, with inputs drawn from S and its number. What breaks is told with
the seed that makes it again; --keep leaves its inputs there. Without --rounds or --minutes
few rounds of a fixed seed are tried, as in the test suite.
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import costs
import cuts
import forms
import images
import inputs
import names
import pairs
import sums
from bed import Bed, Broken
from programs import hlguest_of
from tap import Tap, parser

ROUNDS = 2  # in the test suite


def cut(check, damaged=0, **how):
    """A check that is handed a recording, so often a damaged one."""
    def made(bed, rng):
        one = inputs.Guest(rng)
        bed.write(one.data, "guest.elf")
        rec = inputs.Recording(rng, one, **how)
        bed.write(inputs.damaged(rng, rec) if rng.random() < damaged else rec.file(),
                  "whole.data")
        check(bed, rng, f"guest.elf@{one.base:#x}", rec, ["whole.data"])
    return made


CHECKS = {
    "forms": forms.check_forms,
    "damaged recordings": forms.check_damaged,
    "copies": forms.check_injected,
    "damaged ELFs": forms.check_elf,
    "damaged profiles": forms.check_profile,
    "cuts of reports": cut(cuts.check_report),
    "cuts of stacks": cut(cuts.check_folded, stacks=True),
    "cuts by sandbox": cut(cuts.check_sandboxes, stacks=True),
    "cuts by file": cut(cuts.check_files),
    "cuts of stacks by file": cut(cuts.check_stack_files, stacks=True, rounds=4),
    "cuts of damaged recordings": cut(cuts.check_damaged),
    "cuts of exits": cuts.check_exits,
    "cuts of windows": cuts.check_windows,
    "formats": cut(sums.check_formats, lacking=True),
    "formats of stacks": cut(sums.check_formats, stacks=True, lacking=True),
    "formats of damaged recordings": cut(sums.check_formats, damaged=1, stacks=True),
    "instructions": cut(sums.check_annotate, damaged=.3, lacking=True),
    "frames": cut(sums.check_flame, damaged=.3, stacks=True, lacking=True),
    "callers": cut(sums.check_children, damaged=.3, stacks=True, lacking=True),
    "sums of exits": sums.check_exits,
    "sums of windows": sums.check_windows,
    "orders": cut(pairs.check_orders, lacking=True),
    "numbers": cut(pairs.check_numbers, stacks=True, lacking=True),
    "merges": cut(pairs.check_merges, stacks=True, lacking=True),
    "fleets": cut(pairs.check_fleet, stacks=True, lacking=True),
    "differences": cut(pairs.check_diff, lacking=True),
    "no difference": cut(pairs.check_same, lacking=True),
    "bases": pairs.check_base,
    "split ELFs": images.check_split,
    "ELFs in hosts": images.check_inside,
    "names": names.check_names,
    "names of maps": names.check_map,
    "losses": names.check_losses,
    "ends": names.check_cut,
    "costs": costs.check_costs,
}


def one(hlguest, name, seed, keep):
    """None, or what is wrong; and how many programs ran."""
    with tempfile.TemporaryDirectory(prefix="hlguest-invariants-") as folder:
        bed = Bed(hlguest, folder)
        try:
            CHECKS[name](bed, random.Random(f"{name} {seed}"))
            return None, bed.runs
        except Broken as e:
            problem = str(e)
        except Exception as e:  # of the check itself: told as well
            problem = f"{type(e).__name__}: {e}"
        if keep:
            # cp leaves holes, of which there may be a TB, as they are.
            subprocess.run(["cp", "-rT", folder, os.path.join(
                keep, f"{name}-{seed}".replace(" ", "-"))], check=False)
        return problem, bed.runs


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.rounds = self.runs = 0
        self.wrong = {}

    def add(self, name, seed, problem, runs):
        with self.lock:
            self.runs += runs
            if problem:
                self.wrong.setdefault(name, []).append((seed, problem))
                print(f"# {name}, --seed={seed}: {problem[:600]}", flush=True)


def seeds(args, end):
    n = 0
    while (args.rounds is None or n < args.rounds) and time.monotonic() < end:
        yield args.seed + n
        n += 1


def try_all(args, hlguest, names_):
    tally = Tally()
    end = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")

    def work(source):
        while True:
            with tally.lock:
                seed = next(source, None)
                tally.rounds += seed is not None
            if seed is None:
                return
            for name in names_:
                tally.add(name, seed, *one(hlguest, name, seed, args.keep))

    source = seeds(args, end)
    with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
        for done in [pool.submit(work, source) for _ in range(args.threads)]:
            done.result()
    return tally


def main():
    p = parser(__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rounds", type=int, metavar="N")
    p.add_argument("--minutes", type=float, metavar="M")
    p.add_argument("--only", default="", metavar="NAME", help="checks with this in their name")
    p.add_argument("--keep", metavar="FOLDER", help="for the inputs of what breaks")
    p.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N")
    args = p.parse_args()
    if args.rounds is None and args.minutes is None:
        args.rounds = ROUNDS
    chosen = [name for name in CHECKS if args.only in name]
    tally = try_all(args, hlguest_of(args.build), chosen)
    tap = Tap()
    for name in chosen:
        tap.result(name not in tally.wrong, name, [
            f"--seed={seed} --rounds=1 --only='{name}': {problem}"
            for seed, problem in tally.wrong.get(name, ())])
    print(f"# {tally.rounds} rounds from --seed={args.seed} on, {tally.runs} runs")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
