# SPDX-License-Identifier: GPL-2.0-only
"""Many recordings of a few: the same samples at other times and other guest addresses."""

import os
import struct

SAMPLE = 9  # PERF_RECORD_SAMPLE
GUEST = (4, 5)  # PERF_RECORD_MISC_GUEST_KERNEL, _USER
HEADER = 8  # struct perf_event_header: u32 type, u16 misc, u16 size
# The fields a sample begins with, 8 bytes each where recorded, by bit of sample_type.
IP, TIME = 1 << 0, 1 << 2
LEADING = (1 << 16, IP, 1 << 1, TIME)  # IDENTIFIER, IP, TID, TIME
# Every so many copies the addresses begin again: a fleet has many recordings of a few
# bases, and memory may grow with addresses, but not with recordings.
BASES = 8
BASE_STEP, TIME_STEP = 1 << 21, 10 ** 12


def place(sample_type, field):
    """Of a field in a sample; None where it is not recorded."""
    if not sample_type & field:
        return None
    before = LEADING[:LEADING.index(field)]
    return HEADER + 8 * sum(1 for other in before if sample_type & other)


def numbers(data):
    """Places of the guest samples' addresses, and of all samples' times, in a file."""
    attrs, at, size = struct.unpack_from("<24xQ8xQQ", data)
    # struct perf_event_attr: u32 type, u32 size, u64 config, u64 period, u64 sample_type
    sample_type, = struct.unpack_from("<24xQ", data, attrs)
    ip, time = place(sample_type, IP), place(sample_type, TIME)
    ips, times, end = [], [], at + size
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE and misc & 7 in GUEST and ip:
            ips.append(at + ip)
        if kind == SAMPLE and time:
            times.append(at + time)
        at += length
    return ips, times


def shift(data, places, by):
    for at in places:
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + by)


def make(sources, copies, folder):
    """Writes copies of each source to folder; returns all paths."""
    paths = []
    for source in sources:
        with open(source, "rb") as f:
            data = bytearray(f.read())
        ips, times = numbers(data)
        stem = os.path.splitext(os.path.basename(source))[0]
        for i in range(copies):
            paths.append(os.path.join(folder, f"{stem}-{i}.data"))
            with open(paths[-1], "wb") as f:
                f.write(data)
            shift(data, times, TIME_STEP)
            again = (i + 1) % BASES == 0
            shift(data, ips, BASE_STEP - BASES * BASE_STEP if again else BASE_STEP)
    return paths
