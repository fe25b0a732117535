# SPDX-License-Identifier: GPL-2.0-only
"""A long recording of counter windows: those of a short one again and again, later each
time, and their counters go on."""

import struct

SAMPLE = 9  # PERF_RECORD_SAMPLE
# IP, TID, TIME, STREAM_ID, CPU, and a group of ID and LOST: what demo-windows.data has.
TIME, NUMBER, VALUES, STRIDE = 24, 48, 56, 24


def take(data, at, end):
    """The samples, and the records that are none."""
    samples, others = [], []
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        (samples if kind == SAMPLE else others).append(data[at:at + size])
        at += size
    return samples, others


def repeat(source, n, path):
    """n windows at least."""
    with open(source, "rb") as f:
        data = bytearray(f.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    samples, others = take(data, at, at + size)
    places = [TIME] + [VALUES + STRIDE * i
                       for i in range(struct.unpack_from("<Q", samples[0], NUMBER)[0])]
    first, last = ([struct.unpack_from("<Q", s, p)[0] for p in places]
                   for s in (samples[0], samples[-1]))
    steps = [last[0] - first[0] + 1000, *last[1:]]
    block = bytearray(b"".join(samples))
    words = [(k * len(samples[0]) + place, step) for k in range(len(samples))
             for place, step in zip(places, steps)]
    times = -(-n // len(samples))
    grown = sum(map(len, others)) + times * len(block) - size
    # The table of features is behind the data, and tells places in the file.
    bits = int.from_bytes(data[72:104], "little")
    for i in range(bin(bits).count("1")):
        entry = at + size + 16 * i
        struct.pack_into("<Q", data, entry, struct.unpack_from("<Q", data, entry)[0] + grown)
    struct.pack_into("<Q", data, 48, size + grown)
    with open(path, "wb") as f:
        f.write(data[:at] + b"".join(others))
        for _ in range(times):
            f.write(block)
            for place, step in words:
                struct.pack_into("<Q", block, place,
                                 struct.unpack_from("<Q", block, place)[0] + step)
        f.write(data[at + size:])
