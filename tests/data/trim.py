#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a recording fit to be kept: no names of the machine, no needless host samples.

usage: trim.py IN OUT [N]

The host name becomes "guest-lab", the kernel release loses what follows the first dash.
With N, only every Nth host sample is kept, and every guest sample: an emulated guest
otherwise drowns in samples of its emulator. All other bytes stay as perf wrote them.

perf.data, as tools/perf/Documentation/perf.data-file-format.txt has it: a header of 104
bytes, the attributes, the records, then a table with one {offset, size} for each feature
whose bit is set in the header, and the features themselves.
"""
import struct
import sys

HEADER_SIZE = 104
DATA_OFFSET = 40  # in the header; the size follows
FEATURE_BITS = 72
HOSTNAME, OSRELEASE = 3, 4
RECORD_SAMPLE = 9
CPUMODE_MASK = 7
HOST_MODES = (1, 2)


def thin(records, every):
    """The records without most host samples."""
    kept = []
    at = host = 0
    while at < len(records):
        kind, misc, size = struct.unpack_from("<IHH", records, at)
        is_host = kind == RECORD_SAMPLE and misc & CPUMODE_MASK in HOST_MODES
        if not is_host or host % every == 0:
            kept.append(records[at : at + size])
        host += is_host
        at += size
    return b"".join(kept)


def set_string(file, offset, change):
    """Changes a header string in place: a length with padding, then the bytes."""
    (length,) = struct.unpack_from("<I", file, offset)
    old = file[offset + 4 : offset + 4 + length].split(b"\0")[0]
    new = change(old)[: length - 1]
    file[offset + 4 : offset + 4 + length] = new.ljust(length, b"\0")


def features(file, table):
    """{bit: offset in the table} of the features that the header announces."""
    bits = int.from_bytes(file[FEATURE_BITS:HEADER_SIZE], "little")
    present = [bit for bit in range(256) if bits >> bit & 1]
    return {bit: table + 16 * index for index, bit in enumerate(present)}


def main():
    source, target = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(source, "rb") as stream:
        file = bytearray(stream.read())
    offset, size = struct.unpack_from("<QQ", file, DATA_OFFSET)
    end = offset + size
    records = thin(bytes(file[offset:end]), every)
    entries = features(file, end)
    for bit, change in (
        (HOSTNAME, lambda _: b"guest-lab"),
        (OSRELEASE, lambda release: release.split(b"-")[0]),
    ):
        if bit in entries:
            set_string(file, struct.unpack_from("<Q", file, entries[bit])[0], change)
    for entry in entries.values():
        (at,) = struct.unpack_from("<Q", file, entry)
        struct.pack_into("<Q", file, entry, at - (size - len(records)))
    struct.pack_into("<Q", file, DATA_OFFSET + 8, len(records))
    with open(target, "wb") as stream:
        stream.write(file[:offset] + records + file[end:])


if __name__ == "__main__":
    main()
