# SPDX-License-Identifier: GPL-2.0-only
"""Recordings made of recordings: fewer guest samples, or other addresses. What comes of
it is synthetic and never leaves a test."""

import struct

SAMPLE = 9  # PERF_RECORD_SAMPLE
CPUMODE = 7  # of misc
HOST_KERNEL, GUEST_KERNEL, GUEST_USER = 1, 4, 5
HEADER = 8  # struct perf_event_header: u32 type, u16 misc, u16 size
IDENTIFIER, IP = 1 << 16, 1 << 0  # of sample_type; the first fields of a sample


class Recording:
    """A perf.data file of one event, in memory."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = bytearray(f.read())
        attrs, at, size = struct.unpack_from("<24xQ8xQQ", self.data)
        # struct perf_event_attr: u32 type, u32 size, u64 config, u64 period, u64 sample_type
        sample_type, = struct.unpack_from("<24xQ", self.data, attrs)
        if not sample_type & IP:
            raise RuntimeError(f"{path}: no addresses were recorded")
        self.ip_at = HEADER + (8 if sample_type & IDENTIFIER else 0)
        self.samples = []  # where the guest's are
        end = at + size
        while at < end:
            kind, misc, length = struct.unpack_from("<IHH", self.data, at)
            if kind == SAMPLE and misc & CPUMODE in (GUEST_KERNEL, GUEST_USER):
                self.samples.append(at)
            at += length

    def ip(self, at):
        return struct.unpack_from("<Q", self.data, at + self.ip_at)[0]

    def ips(self):
        """Of each guest sample, in the file's order."""
        return [self.ip(at) for at in self.samples]

    def keep(self, wanted):
        """Guest samples at other addresses become the host's: seen, but not counted."""
        kept = []
        for at in self.samples:
            if self.ip(at) in wanted:
                kept.append(at)
                continue
            misc, = struct.unpack_from("<H", self.data, at + 4)
            struct.pack_into("<H", self.data, at + 4, misc & ~CPUMODE | HOST_KERNEL)
        self.samples = kept

    def move(self, chosen):
        """Gives each guest sample an address: chosen(old)."""
        for at in self.samples:
            struct.pack_into("<Q", self.data, at + self.ip_at, chosen(self.ip(at)))

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.data)
        return path
