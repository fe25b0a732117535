#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest kallsyms, against perf itself.

    kallsyms.py --build DIR [--perf PERF]

demo-kernel.data gets the record that perf kvm --guestkallsyms record would have written (the
place of the guest's kernel), perf counts its guest samples by symbol, and each symbol has as
many as the filter gives it; __gap__ has those of all gaps.
"""
import collections
import csv
import io
import os
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of

from tap import DATA, Tap, must, need, parser, report


def with_guest_kernel(recording, start):
    """The recording with a PERF_RECORD_MMAP of the guest's kernel in front."""
    with open(recording, "rb") as f:
        data = bytearray(f.read())
    data_offset, data_size = struct.unpack_from("<QQ", data, 40)
    features = sum(bin(b).count("1") for b in data[72:104])
    name = b"[guest.kernel.kallsyms]_text"
    name += b"\0" * (8 - len(name) % 8)
    trailer = b"\0" * 16  # sample_id_all with TID and TIME
    body = struct.pack("<iiQQQ", 0, 0, start, 2**64 - 1 - start, start) + name + trailer
    record = struct.pack("<IHH", 1, 4, 8 + len(body)) + body
    for i in range(features):
        at = data_offset + data_size + 16 * i
        offset, = struct.unpack_from("<Q", data, at)
        struct.pack_into("<Q", data, at, offset + len(record))
    struct.pack_into("<Q", data, 48, data_size + len(record))
    data[data_offset:data_offset] = record
    return bytes(data)


def perf_counts(perf, recording, table):
    out = must(perf, "kvm", "--guest", f"--guestkallsyms={table}", "report", "--stdio",
               "-i", recording, "-F", "sample,sym")
    counts = collections.Counter()
    for line in out.splitlines():
        match = re.match(r" *(\d+) +\[g\] (\S+)$", line)
        if match:
            counts[match[2]] += int(match[1])
        elif line.strip() and not line.startswith("#"):
            raise RuntimeError(f"not understood: {line}")
    return counts


def filter_counts(build, recording):
    out = report(build, recording, os.path.join(DATA, "demo.elf"), "format=csv",
                 "demangle=no", "region=0", "weight=samples")
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(out)):
        if row["record"] == "function":
            gap = row["kind"] == "gap"
            counts["__gap__" if gap else row["symbol"]] += int(row["samples"])
    return counts


def agrees_with_perf(build, perf):
    need(perf)
    recording = os.path.join(DATA, "demo-kernel.data")
    with tempfile.TemporaryDirectory() as work:
        table = os.path.join(work, "table")
        text = must(hlguest_of(build), "kallsyms", os.path.join(DATA, "demo.elf"))
        with open(table, "w", encoding="utf-8") as f:
            f.write(text)
        placed = os.path.join(work, "perf.data.guest")
        with open(placed, "wb") as f:
            f.write(with_guest_kernel(recording, int(text[:16], 16)))
        theirs = perf_counts(perf, placed, table)
    ours = filter_counts(build, recording)
    if sum(ours.values()) != 449:
        yield f"the filter counts {sum(ours.values())} samples"
    for name in sorted(set(ours) | set(theirs)):
        if ours[name] != theirs[name]:
            yield f"{name}: perf {theirs[name]}, hlguest {ours[name]}"


def main():
    p = parser(__doc__)
    p.add_argument("--perf", default="perf")
    args = p.parse_args()
    tap = Tap()
    tap.run("perf kvm report counts as the filter does",
            lambda: list(agrees_with_perf(args.build, args.perf)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
