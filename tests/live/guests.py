#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every guest of kit/microvm.py, live: are its samples where its code is?

    guests.py --build DIR

Each guest is recorded at a random base and reported with that base: enough different
addresses, and nearly all guest samples in its code. Then sandboxes at bases of their own,
on threads of their own and on one. Takes about 20 seconds. Skipped, with the reason, where
/dev/kvm does not open or perf may not record; a guest also if it cannot be built.
"""
import json
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from microvm import END, NAMES, WINDOW, apart, guest, monitor, random_base, record
from tap import Skip, Tap, must, parser, run

SECONDS = 0.3
ENOUGH = 200
MANY = 100  # an idle machine finds twice as many
FEW = 30
SMALL = ("demo", "rusty")  # their hot code is a few hundred instructions
SHARE = 0.9  # where exits take long, the system calls of prints and finds have 7 % of the rest


def ask(build, recording, *args):
    """The document of hlguest report."""
    program = os.path.join(os.path.abspath(build), "tools", "hlguest")
    out, err, status = run(program, "report", "-q", "--format=json", "--top=0", "-i",
                           recording, *args)
    if "not in this build" in err:
        raise Skip(err.strip())
    if (status or err) and not (status == 3 and "wrong ELF or wrong base" in err):
        raise RuntimeError(f"hlguest report {' '.join(args)}: status {status}: {err}")
    return json.loads(out)


def share_in_code(document):
    """Of the guest samples, those in functions, and in code without a sized symbol."""
    totals = {name: count["samples"] for name, count in document["totals"].items()}
    code = (totals["function"] + totals["label"] + totals["gap"] + totals["border"]
            - totals["padding"])
    return code / max(totals["guest"], 1), totals["guest"]


def addresses(recording):
    """How many different ones the guest samples have."""
    out = must("perf", "script", "-i", recording, "-F", "ip", "-D")
    found = set()
    for line in out.split("\n"):
        if "PERF_RECORD_SAMPLE(IP, 0x4)" in line or "PERF_RECORD_SAMPLE(IP, 0x5)" in line:
            found.add(line.split("): ")[1].split()[1])
    return len(found)


def check(build, recording, *args):
    """Lines about what is wrong with a recording, reported with these arguments."""
    share, samples = share_in_code(ask(build, recording, *args))
    wrong = []
    if samples < ENOUGH:
        wrong.append(f"{samples} guest samples")
    if share < SHARE:
        wrong.append(f"{share:.2%} of {samples} samples are in code")
    return wrong


def one(tap, build, folder, vm, name):
    elf = guest(name, build, folder)
    base = random_base(random)
    recording = os.path.join(folder, f"{name}.data")
    record(vm, elf, base, SECONDS, recording)
    found = addresses(recording)
    print(f"# {name}: base {base:#x}, {found} addresses")
    tap.run(f"{name}: samples are in its code", check, build, recording,
            f"{elf}@{base:#x}")
    wanted = FEW if name in SMALL else MANY
    tap.result(found >= wanted, f"{name}: many addresses", [f"{found}, not {wanted}"])
    moved = f"{elf}@{(base + WINDOW) % END:#x}"
    tap.result(check(build, recording, moved) != [], f"{name}: but not at another base")


def several(build, folder, vm, *args):
    """Four sandboxes of the demo at bases of their own: guest, recording, sandboxes."""
    elf = guest("demo", build, folder)
    places = apart(4, random)
    recording = os.path.join(folder, "several.data")
    return elf, recording, record(vm, elf, places, 4 * SECONDS, recording, *args)


def side_by_side(tap, build, folder, vm):
    elf, recording, found = several(build, folder, vm)
    tap.same(len({s.tid for s in found}), len(found), "side by side: threads")
    for sandbox in found:
        tap.run(f"side by side: base {sandbox.base:#x}", check, build, recording,
                f"--tid={sandbox.tid}", f"{elf}@{sandbox.base:#x}")


def in_turn(tap, build, folder, vm):
    elf, recording, found = several(build, folder, vm, "--in-turn")
    tap.same(len({s.tid for s in found}), 1, "in turn: threads")
    shares = [share_in_code(ask(build, recording, f"{elf}@{s.base:#x}"))[0] for s in found]
    tap.result(sum(shares) >= SHARE and min(shares) > 0.1,
               "in turn: every sandbox has its share", [shares])


def seeds(tap, vm, elf):
    """A seed always gives the same bases, and each sandbox its own."""

    def ask_bases(option):
        err = run(vm, "--sandboxes=3", "--in-turn", option, elf)[1]
        return [line.split("base ")[1] for line in err.split("\n") if "base 0x" in line]

    first = ask_bases("--base=random:7")
    tap.same(ask_bases("--base=random:7"), first, "a seed's bases are the same again")
    tap.same(len(set(first) | set(ask_bases("--base=random"))), 6, "all others differ")


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        try:
            vm = monitor(args.build, folder)
        except Skip as e:
            tap.skip("guests", e)
            return tap.finish()
        for name in NAMES:
            tap.run(f"{name}: recorded", one, tap, args.build, folder, vm, name)
        tap.run("side by side", side_by_side, tap, args.build, folder, vm)
        tap.run("in turn", in_turn, tap, args.build, folder, vm)
        tap.run("seeds", seeds, tap, vm, guest("demo", args.build, folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
