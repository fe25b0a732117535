# SPDX-License-Identifier: GPL-2.0-only
"""Runs of real guests in the rig, each recorded and with what it executed."""
import collections
import os
import random
import sys

from executed import Executed
from tap import TESTS, Skip

sys.path[1:1] = [os.path.join(TESTS, "rig", name) for name in ("boot", "hyperlight")]
import build as hyperlight
import rig

# The rest, and the guests that only they need, are for --all.
QUICK = ("mix", "exits", "calls", "before", "after", "life")

# An instruction takes 2 ns of the emulated machine's time, and no time is slept through.
ICOUNT = "shift=1,sleep=off"
TIMEOUT = 1200

PLAIN = "perf kvm --guest record -q -B -N -e cpu-clock -F {freq} -o out/{name}.data --"
EXITS = "./hlguest record -q --exits -F {freq} -o out/{name}.data --"

# elfs: the guests; host: what rig-host is told; how: it is recorded;
# calls: {kind: how often its round is called}.
Run = collections.namedtuple("Run", "elfs host how freq calls", defaults=(PLAIN, 997, {}))
Done = collections.namedtuple("Done", "data executed")  # {elf: Executed}

MIX = ("hash", "sort", "tree", "json", "deflate", "alloc")

RUNS = {
    "mix": Run(["guest.elf"], "--seed=1 guest.elf mix=2500", calls=dict.fromkeys(MIX, 2500)),
    "frames": Run(["frames.elf"], "--seed=2 frames.elf mix=1500",
                  calls=dict.fromkeys(MIX, 1500)),
    "small": Run(["small.elf"], "--seed=3 small.elf sort=60000/2000", calls={"sort": 60000}),
    "exits": Run(["guest.elf"], "--seed=4 guest.elf hash+sort=200/1 print=50", EXITS,
                 calls={"hash": 200, "sort": 200, "print": 50}),
    "before": Run(["guest.elf"], "--seed=5 guest.elf sort+tree=40000",
                  calls={"sort": 40000, "tree": 40000}),
    "after": Run(["changed.elf"], "--seed=5 changed.elf sort+tree=40000",
                 calls={"sort": 40000, "tree": 40000}),
    # 11,000 exits a second: part of the samples is no guest's code.
    "calls": Run(["guest.elf"], "--seed=9 guest.elf sort+alloc=20000/1", freq=1999,
                 calls={"sort": 20000, "alloc": 20000}),
    # Two guests at once, at the same base.
    "two": Run(["guest.elf", "small.elf"],
               "--seed=6 guest.elf hash+json=1000 , small.elf sort=40000"),
    # The same in one thread, a call of each in turn.
    "turns": Run(["guest.elf", "small.elf"], "--seed=10 --turns guest.elf hash=300 json=300 , "
                 "small.elf sort=8000 sort=9000", EXITS),
    # All that happens in a sandbox's life.
    "life": Run(["guest.elf"], "--seed=7 guest.elf snapshot mix=150*2 pages+fault=2000 restore "
                "pages+fault=2000 cancel=100 restore mix=150",
                calls={"fault": 4000, "pages": 4000, "spin": 1, **dict.fromkeys(MIX, 450)}),
}


# For the calling-context tree, which takes its time.
CALLERS = Run(["frames.elf"], "--seed=8 frames.elf mix=400", freq=3989,
              how="./hlguest record --guest-stacks -F {freq} -o out/{name}.data --")
# The same calls in a guest without frame pointers; deflate has 64 KiB on its stack.
TABLES = Run(["guest.elf"], "--seed=8 guest.elf mix=400", freq=3989,
             how="./hlguest record --guest-stacks=cfi --stack-size=128K -F {freq} "
                 "-o out/{name}.data --")
TREE = Run(["guest.elf"], "--seed=8 guest.elf snapshot mix=100/10 pages+fault=300 restore "
           "cancel=50 restore mix=20", how="")


# From no host call in a second to 11,000.
WORK = {"mix": ("mix", 1200, 0), "calls": ("sort+alloc", 10000, 1), "hash": ("hash", 5000, 1),
        "json": ("json+tree", 4000, 1)}


def varied(seed, work="mix"):
    """A run whose input, start and rate the seed decides."""
    choice = random.Random(seed)
    kinds, rounds, every = WORK[work]
    freq = choice.choice([n for n in range(900, 1100) if all(n % i for i in range(2, 34))])
    called = MIX if kinds == "mix" else kinds.split("+")
    return Run(["guest.elf"], f"--seed={seed} --delay-us={choice.randrange(5000)} guest.elf "
               f"{kinds}={rounds}/{every}", freq=freq, calls=dict.fromkeys(called, rounds))


def programs(runs):
    """{name: path} of the host and the guests of runs. Raises Skip where they cannot be had."""
    try:
        names = {"rig-host", *(elf for run in runs.values() for elf in run.elfs)}
        return {name: hyperlight.made(name) for name in names}
    except hyperlight.Unavailable as e:
        raise Skip(e) from e


def script(runs):
    """What the rig's shell does. A run that fails ends it."""
    lines = ["set -e"]
    for name, run in runs.items():
        record = run.how.format(name=name, freq=run.freq)
        lines += ["./mark start", f"{record} ./rig-host {run.host} 2>out/{name}.err",
                  "./mark stop"]
    return "\n".join(lines)


def record(build, folder, runs, made, tree=None):
    """{name: Done} of all runs, in one boot; tree.so follows the calls of the ELF `tree`."""
    os.makedirs(folder, exist_ok=True)
    truth = os.path.join(build, "tests", "rig", "truth")
    files = [*made.values(), os.path.join(truth, "mark"), os.path.join(build, "tools/hlguest")]
    elfs = sorted(name for name in made if name.endswith(".elf"))
    plugin = [",".join([os.path.join(truth, "count.so"), f"out={folder}/counts",
                        *(f"elf={made[elf]}" for elf in elfs)])]
    if tree:
        plugin.append(f"{truth}/tree.so,out={folder}/calls,elf={made[tree]}")
    done = rig.run(script(runs), files, into=folder, icount=ICOUNT, plugin=plugin,
                   timeout=TIMEOUT)
    if done.status:
        raise RuntimeError(f"status {done.status}: {done.output}")
    found = {}
    for number, (name, run) in enumerate(runs.items(), 1):
        counts = {elf: os.path.join(folder, f"counts.{number}.{elfs.index(elf) + 1}")
                  for elf in run.elfs}
        found[name] = Done(os.path.join(folder, f"{name}.data"),
                           {elf: Executed(path) for elf, path in counts.items()})
    return found
