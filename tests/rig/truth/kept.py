#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kept recordings of real Hyperlight guests, with what was executed: is the report right?

    kept.py --build DIR

What exact.py asks of new recordings, of those in tests/data/hyperlight: for machines without
QEMU, a kernel for it or Rust. See the README there.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import checks
from executed import Coverage, Executed, Tree
from programs import hlguest_of, need_zydis
from tap import DATA, Skip, Tap, names_in, need, parser

FOLDER = os.path.join(DATA, "hyperlight")


def recordings():
    """{name: (recording, {elf: Executed})}"""
    counts = names_in(FOLDER, ".xz")
    found = {}
    for data in names_in(FOLDER, ".data"):
        name = data.removesuffix(".data")
        parts = [count.split(".") for count in counts if count.startswith(name + ".")]
        if not parts:  # one that goldens read
            continue
        found[name] = os.path.join(FOLDER, data), {
            os.path.join(FOLDER, f"{elf}.elf"): Executed(
                os.path.join(FOLDER, f"{name}.{elf}.xz")) for _, elf, _ in parts}
    return found


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    hlguest = hlguest_of(args.build)
    try:
        need("readelf", "objdump", "perf")
        need_zydis(hlguest)
    except Skip as e:
        tap.skip("kept", e)
        return tap.finish()
    coverage = {"functions": Coverage(), "instructions": Coverage()}
    with tempfile.TemporaryDirectory(prefix="kept-") as folder:
        for name, (data, executed) in recordings().items():
            checks.recording(tap, hlguest, name, data, executed, coverage, folder)
    called = (hlguest, os.path.join(FOLDER, "frames.elf"),
              os.path.join(FOLDER, "callers", "callers.data"),
              Tree(os.path.join(FOLDER, "callers", "calls.xz")))
    tap.run("callers: those of calls that were made", checks.callers, *called)
    tap.run("callers: functions with what they call", checks.inclusive, *called)
    for kind, one in coverage.items():
        checks.covered(tap, kind, one)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
