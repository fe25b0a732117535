#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Real Hyperlight guests, with every instruction that they execute counted: is the report right?

    exact.py --build DIR [--all] [--keep FOLDER]

In the rig's QEMU time is instructions, so that samples have an exact expectation. --all does
more kinds of runs, and 60 whose input, start and rate a seed decides, and asks how many of
the intervals hold the truth; and compares stacks with the calls that were made, as kept.py
does of a recording that was kept. --keep does them too, but for the 60, and puts recordings,
counts and ELFs there, as tests/data/hyperlight has them.

Skipped, with the reason, where QEMU, a kernel or Rust is missing.
"""
import lzma
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import checks
from executed import Coverage, Tree
from programs import hlguest_of, need_zydis
from runs import CALLERS, QUICK, RUNS, TABLES, TREE, programs, record, varied
from tap import Skip, Tap, must, need, parser

VARIED = {"mix": 30, "calls": 10, "hash": 10, "json": 10}  # of runs.WORK
KEPT = ("mix", "calls", "frames", "small", "exits", "two", "turns", "life")
KEPT_ELFS = ("guest.elf", "frames.elf", "small.elf")


def keep(folder, done, made):
    os.makedirs(folder, exist_ok=True)
    for name in KEPT:
        shutil.copyfile(done[name].data, os.path.join(folder, f"{name}.data"))
        for elf, executed in done[name].executed.items():
            path = os.path.join(folder, f"{name}.{elf.removesuffix('.elf')}.xz")
            with lzma.open(path, "wt", encoding="ascii", preset=9) as f:
                f.writelines(f"{addr:x} {executed.at[addr]}\n" for addr in executed.addrs)
    for name in KEPT_ELFS:
        path = os.path.join(folder, name)
        must("objcopy", "--compress-debug-sections", made[name], path)
        os.chmod(path, 0o644)


def one_of_each(tap, hlguest, runs, made, done, folder):
    coverage = {"functions": Coverage(), "instructions": Coverage(), "changes": Coverage()}
    for name, run in runs.items():
        data, executed = done[name]
        checks.recording(tap, hlguest, name, data,
                         {made[elf]: counts for elf, counts in executed.items()}, coverage,
                         folder)
        if run.calls:
            tap.run(f"{name}: rounds were called as often as asked", checks.calls,
                    made[run.elfs[0]], executed[run.elfs[0]], run.calls)
    sides = [(made[elf], done[name].data, done[name].executed[elf])
             for name, elf in (("before", "guest.elf"), ("after", "changed.elf"))]
    tap.run("diff: what changed is told", checks.change, hlguest, *sides, coverage["changes"])
    for kind, one in coverage.items():
        checks.covered(tap, kind, one)


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--keep", metavar="FOLDER")
    args = p.parse_args()
    tap = Tap()
    hlguest = hlguest_of(args.build)
    build = os.path.abspath(args.build)
    runs = RUNS if args.all or args.keep else {name: RUNS[name] for name in QUICK}
    with tempfile.TemporaryDirectory(prefix="exact-") as folder:
        try:
            need("readelf", "objdump", "objcopy", "perf")
            need_zydis(hlguest)
            made = programs(runs)
            done = record(build, folder, runs, made)
        except Skip as e:
            tap.skip("exact", e)
            return tap.finish()
        if args.keep:
            keep(args.keep, done, made)
        one_of_each(tap, hlguest, runs, made, done, folder)
        tap.run("tree: each instruction by its calls", calls, build, made,
                os.path.join(folder, "tree"))
        if args.all or args.keep:
            tap.run("callers: those of calls that were made", callers, build,
                    os.path.join(folder, "callers"), args.keep)
            tap.run("callers by unwind tables: those of calls that were made", tables, build,
                    os.path.join(folder, "tables"))
        if args.all:
            for work, count in VARIED.items():
                many(tap, hlguest, build, made, os.path.join(folder, work), work, count)
    return tap.finish()


def calls(build, made, folder):
    """The calling-context tree is no part of a report yet: this is on the plugin."""
    done = record(build, folder, {"tree": TREE}, made, "guest.elf")
    return checks.tree(made["guest.elf"], done["tree"].executed["guest.elf"],
                       Tree(os.path.join(folder, "calls.1.tree")))


def callers(build, folder, to):
    made = programs({"callers": CALLERS})
    data = record(build, folder, {"callers": CALLERS}, made, "frames.elf")["callers"].data
    calls_made = os.path.join(folder, "calls.1.tree")
    if to:
        os.makedirs(os.path.join(to, "callers"), exist_ok=True)
        shutil.copyfile(data, os.path.join(to, "callers", "callers.data"))
        with open(calls_made, "rb") as f, \
                lzma.open(os.path.join(to, "callers", "calls.xz"), "wb", preset=9) as out:
            shutil.copyfileobj(f, out)
    return checks.callers(hlguest_of(build), made["frames.elf"], data, Tree(calls_made))


def tables(build, folder):
    made = programs({"tables": TABLES})
    data = record(build, folder, {"tables": TABLES}, made, "guest.elf")["tables"].data
    return checks.callers(hlguest_of(build), made["guest.elf"], data,
                          Tree(os.path.join(folder, "calls.1.tree")))


def many(tap, hlguest, build, made, folder, work, count):
    runs = {f"{work}-{seed}": varied(seed, work) for seed in range(1, count + 1)}
    done = record(build, folder, runs, made)
    for kind, check in (("functions", checks.shares), ("instructions", checks.instructions)):
        coverage = Coverage()
        for name, (data, executed) in done.items():
            tap.run(f"{name}: {kind}", check, hlguest, made["guest.elf"], data,
                    executed["guest.elf"], coverage)
        checks.covered(tap, f"{count} runs of {work}, {kind}", coverage)


if __name__ == "__main__":
    sys.exit(main())
