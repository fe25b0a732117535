#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A module of WebAssembly, live: compiled by wasmtime, run by a guest, recorded by perf.

    modules.py --build DIR

The guest (guests/runs.c) copies tests/data/wasm/module.cwasm behind its own ELF, as
hyperlight-wasm's runtime maps one, and runs it there, at bases at random. Only the
guest's own base is stated: that of the module must be found from the samples, and its
functions counted as perf's dump and readelf have them. Skipped, with the reason, where
/dev/kvm does not open or perf may not record.
"""
import collections
import json
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from attribution import read_samples
from microvm import guest as path_of, monitor, random_base, record
from programs import hlguest_of
from tap import DATA, Tap, must, parser, report

MODULE = os.path.join(DATA, "wasm", "module.cwasm")
HEAP = 16 << 20  # of runs.c
SECONDS = 1
ENOUGH = 200
RUN = 2  # functions that run often


def functions():
    """[(first, end, name)], by offsets in the module's file."""
    text = int(re.search(r"\.text +PROGBITS +\S+ (\w+)", must("readelf", "-SW", MODULE))[1], 16)
    found = []
    for value, size, name in re.findall(r"^ +\d+: (\w+) +(\d+) FUNC +LOCAL +DEFAULT +\d+ (.*)$",
                                        must("readelf", "-sW", MODULE), re.M):
        first = text + int(value, 16)
        found.append((first, first + int(size), name))
    return found


def count(recording, base):
    """{name: samples} of the module's functions."""
    found, known = collections.Counter(), functions()
    for sample in read_samples(recording):
        for first, end, name in known if sample.guest else ():
            if first <= sample.ip - base < end:
                found[name] += 1
    return found


def check_report(how, recording, elf, base):
    text = how(recording, f"{elf}@{base:#x}", MODULE)
    document = json.loads(text)
    module = next(image for image in document["images"] if image["path"] == MODULE)
    rows = {row["symbol"]: row["samples"] for row in document["functions"]
            if row.get("image") == MODULE}
    said = [f"{key}: {got}, not {wanted}" for key, got, wanted in (
        ("base", int(module["base"], 16), base + HEAP),
        ("base from", module["base_from"], "found"),
        ("verdict", document["trust"]["verdict"], "verified"),
        ("functions", rows, dict(count(recording, base + HEAP))),
    ) if got != wanted]
    if sum(rows.values()) < ENOUGH or len(rows) < RUN:
        said.append(f"too few samples: {rows}")
    return said


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    rng = random.Random(23)
    hlguest = hlguest_of(args.build)

    def by_filter(recording, *images):
        return report(args.build, recording, *images, "format=json")

    def by_command(recording, *images):
        return must(hlguest, "report", "--format=json", *images, recording)

    with tempfile.TemporaryDirectory() as folder:
        def check(way, how):
            vm = monitor(args.build, folder)
            elf = path_of("runs", args.build, folder)
            base = random_base(rng)
            recording = os.path.join(folder, f"{way}.data")
            record(vm, elf, base, SECONDS, recording)
            return check_report(how, recording, elf, base)

        for way, how in (("filter", by_filter), ("command", by_command)):
            tap.run(f"{way}: the module is found, and its functions are counted", check, way, how)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
