#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The whole way, live: a guest under KVM, recorded by perf, reported by the filter.

    live.py --build DIR

The micro-VM runs the demo guest in ring 3 at two random bases, then in ring 0, where
some machines emulate every instruction and few samples are the guest's. Each recording
is held against the oracle of kit/attribution.py, in every format. In ring 3 the
report must also be one of this guest: enough samples, all of them in its code, most of
them in hash_block. Takes about 10 seconds. Skipped, with the reason, where /dev/kvm
does not open or perf may not record.
"""
import json
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from attribution import Elf, attribute, check, read_samples
from microvm import guest as path_of, monitor
from tap import Skip, Tap, must, need, parser, report, run

SECONDS = 2
PAGE = 0x1000
ENOUGH = 200


def record(folder, name, sampling, vm, *args):
    path = os.path.join(folder, name + ".data")
    must("perf", "kvm", "--guest", "record", "-q", "--no-bpf-event", "-B", "-N", "-e", "cpu-clock",
         *sampling, "-o", path, "--", vm, f"--seconds={SECONDS}", *args)
    return path


def compare(tap, build, name, recording, guest, base):
    """Against the oracle; returns what it found, for more questions."""
    elf = Elf(guest)
    samples = read_samples(recording)
    found = attribute(samples, elf, base)
    for form in ("json", "csv", "text"):
        tap.run(f"{name}: {form} agrees with readelf", check, build, recording, guest,
                base, form, found)
    return found


def check_guest(tap, build, name, recording, guest, base, found):
    """Is it a profile of this guest? Asked of the filter, not of the oracle."""
    guest_samples = found.totals["guest"].samples
    tap.result(guest_samples > ENOUGH, f"{name}: more than {ENOUGH} guest samples",
               [f"there are {guest_samples}"])

    def ask():
        out = report(build, recording, f"{guest}@{base:#x}", "format=json")
        document = json.loads(out)
        totals = document["totals"]
        code = sum(totals[k]["samples"] for k in ("function", "label", "gap", "border"))
        names = [f["name"] for f in document["functions"]]
        wrong = []
        if code != totals["guest"]["samples"] or code != guest_samples:
            wrong.append(f"{code} of {guest_samples} samples are in code: {totals}")
        if names[:1] != ["hash_block"]:
            wrong.append(f"the hottest is {names[:1]}, not hash_block")
        if any("never_called" in n for n in names):
            wrong.append("never_called has samples")
        return wrong

    tap.run(f"{name}: all in code, hash_block the hottest, never_called absent", ask)


def ring3(tap, build, folder, vm, guest, number):
    base = random.randrange(PAGE, 1 << 46, PAGE)
    name = f"ring 3, base {number}"
    print(f"# {name}: {base:#x}")
    recording = record(folder, f"user{number}", ["-F", "1000"], vm, f"--base={base:#x}",
                       guest)
    found = compare(tap, build, name, recording, guest, base)
    check_guest(tap, build, name, recording, guest, base, found)


def ring0(tap, build, folder, vm, guest):
    try:
        recording = record(folder, "kernel", ["-c", "100000"], vm, "--ring=0",
                           "--deadline=30", guest)
    except RuntimeError:
        _, err, status = run(vm, "--ring=0", "--deadline=30", guest)
        if status:
            raise Skip(f"no guest runs in ring 0 here: {err.strip()}")
        raise
    # Where KVM emulates what ring 0 executes, a clock may find none of it.
    if not attribute(read_samples(recording), Elf(guest), 0x4000).totals["guest"].samples:
        raise Skip("no sample of the clock is of the guest in ring 0 here")
    found = compare(tap, build, "ring 0", recording, guest, 0x4000)
    print(f"# ring 0: {found.totals['guest'].samples} guest samples")


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        try:
            need("readelf")
            vm, guest = monitor(args.build, folder), path_of("demo", args.build, folder)
        except Skip as e:
            tap.skip("live", e)
            return tap.finish()
        files = (tap, args.build, folder, vm, guest)
        tap.run("ring 3, once", ring3, *files, 1)
        tap.run("ring 3, at another base", ring3, *files, 2)
        tap.run("ring 0", ring0, *files)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
