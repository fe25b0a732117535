# SPDX-License-Identifier: GPL-2.0-only
"""Recordings made by hand: guest samples at stated addresses, as perf would write them.

The layout is that of linux/perf_event.h and of perf's own file format
(tools/perf/Documentation/perf.data-file-format.txt): a header, an attribute for each event,
samples.
"""
import struct

HEADER, ATTR, IDS = 104, 128, 16
IP, TID, PERIOD, IDENTIFIER = 1, 2, 0x100, 0x10000
CALLCHAIN = 0x20
GUEST_USER = 5  # PERF_RECORD_MISC_GUEST_USER
SAMPLE = 9      # PERF_RECORD_SAMPLE


def attribute(config, more=0):
    """Of a software event: 0 is cpu-clock, 1 task-clock. more: bits of its samples."""
    head = struct.pack("<IIQQQQ", 1, ATTR, config, 1000000,
                       IP | TID | PERIOD | IDENTIFIER | more, 0)
    return head + bytes(ATTR - len(head))


def chain(words):
    return struct.pack(f"<{1 + len(words)}Q", len(words), *words)


def write(path, samples, configs=(0,), chains=None):
    """samples: (ip, tid, period, index of the event) each. chains: their callchains."""
    tails = [chain(words) for words in chains] if chains else [b""] * len(samples)
    ids = b"".join(struct.pack("<Q", i + 1) for i in range(len(configs)))
    body = b"".join(struct.pack("<IHHQQIIQ", SAMPLE, GUEST_USER, 40 + len(tail), event + 1, ip,
                                tid, tid, period) + tail
                    for (ip, tid, period, event), tail in zip(samples, tails, strict=True))
    attrs = HEADER + len(ids)
    data = attrs + len(configs) * (ATTR + IDS)
    with open(path, "wb") as f:
        f.write(struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", HEADER, ATTR + IDS, attrs,
                            len(configs) * (ATTR + IDS), data, len(body), 0, 0, 0, 0, 0, 0))
        f.write(ids)
        for i, config in enumerate(configs):
            f.write(attribute(config, CALLCHAIN if chains else 0) + struct.pack("<QQ", HEADER + 8 * i, 8))
        f.write(body)


def shifted(data, times, ips):
    """A recording whose samples were taken later, of a guest that lay elsewhere."""
    # perf.data-file-format.txt: magic, size, attr_size, attrs, data (offset, size)
    _, _, _, attrs, _, at, size = struct.unpack_from("<8sQQQQQQ", data)
    # perf_event_attr: sample_type; of a sample the identifier, ip, tid and time come first
    sampled, = struct.unpack_from("<Q", data, attrs + 24)
    if sampled & 7 != 7:
        raise RuntimeError("a recording without ip, tid or time")
    first = 16 if sampled >> 16 & 1 else 8
    data, end = bytearray(data), at + size
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:  # PERF_RECORD_SAMPLE
            ip, _, when = struct.unpack_from("<QQQ", data, at + first)
            struct.pack_into("<Q", data, at + first + 16, when + times)
            if misc & 7 in (4, 5):  # of the guest
                struct.pack_into("<Q", data, at + first, ip + ips)
        at += length
    return bytes(data)
