#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""When, and for how long, was a saved profile recorded?

    times.py --build DIR

By the clock that perf record -k notes, else until the file was last written; of several the
first and the sum, in whatever way they came together.
"""
import gzip
import os
import shutil
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from hostile import fields, read_varint
from kit import RECORDINGS, content, elf_of, run_checks

from tap import must

INT64 = 1 << 63
WRITTEN = 1700000000123456789  # ns since 1970


def packed(data):
    at = 0
    while at < len(data):
        n, at = read_varint(data, at)
        yield n - 2 * INT64 if n >= INT64 else n


class Profile:
    """The fields that servers read, as they are."""

    def __init__(self, path):
        data = gzip.decompress(content(path))
        self.size = len(data)
        self.parts = {}
        for field, value in fields(data):
            self.parts.setdefault(field, []).append(value)
        self.others = set()  # fields of samples that pprof does not have
        self.strings = self.parts.get(6, [])
        self.types = [self.type(x) for x in self.parts.get(1, [])]
        self.samples = [self.sample(x) for x in self.parts.get(2, [])]
        self.time, self.took, self.period = (self.parts.get(f, [0])[0] for f in (9, 10, 12))

    def text(self, i):
        return self.strings[i].decode()

    def type(self, data):
        found = dict(fields(data))
        return self.text(found.get(1, 0)), self.text(found.get(2, 0))

    def sample(self, data):
        labels, locations, values = [], [], []
        for field, value in fields(data):
            if field == 1:
                locations += packed(value)
            elif field == 2:
                values += packed(value)
            elif field == 3:
                labels.append(dict(fields(value)))
            else:
                self.others.add(field)
        return locations, values, labels

    def labels(self, sample):
        return {self.text(x.get(1, 0)): self.text(x.get(2, 0)) for x in sample[2]}

    def sums(self):
        return [sum(s[1][i] for s in self.samples) for i in range(len(self.types))]


def with_clock(source, to, wall, clock):
    """A recording as perf record -k writes it: one more feature, 29."""
    data = bytearray(content(source))
    start, size = struct.unpack_from("<QQ", data, 40)
    table = start + size
    bits = struct.unpack_from("<Q", data, 72)[0]
    before = 16 * bin(bits & ((1 << 29) - 1)).count("1")
    n = bin(bits).count("1")
    for i in range(n):
        at = table + 16 * i
        struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + 16)
    struct.pack_into("<Q", data, 72, bits | 1 << 29)
    data[table + before:table + before] = struct.pack("<QQ", len(data) + 16, 24)
    with open(to, "wb") as f:
        f.write(data + struct.pack("<IIQQ", 1, 1, wall, clock))


def of_each(bench):
    for name in RECORDINGS:
        os.utime(os.path.join(bench.folder("given"), name), ns=(1, WRITTEN))
        p = Profile(bench.save(elf_of(name), name))
        if p.types and (p.time + p.took != WRITTEN or p.took <= 0 or p.period <= 0
                        or len(p.parts[11]) != 1 or p.type(p.parts[11][0]) != p.types[1]):
            yield f"{name}: {p.time} {p.took} {p.period}"


def of_folder(bench):
    """Of perf record --threads: what else is put into the folder changes nothing."""
    given = bench.folder("given")
    os.mkdir(os.path.join(given, "folder"))
    data = os.path.join(given, "folder/data")
    shutil.copy(os.path.join(given, "demo-user.data"), data)
    os.utime(data, ns=(1, WRITTEN))
    p = Profile(bench.save("demo.elf", "folder"))
    if p.time + p.took != WRITTEN:
        yield f"{p.time} {p.took}"


def of_several(bench):
    given = bench.folder("given")
    first, last = 2_000_000_000, 1_800_000_000_000_000_000
    os.utime(os.path.join(given, "demo-user.data"), ns=(1, WRITTEN))
    with_clock(os.path.join(given, "demo-user.data"), os.path.join(given, "clock"), last, first)
    path = bench.save("demo.elf", "clock")
    p = Profile(path)
    lines = must("perf", "script", "-F", "time", "--ns", "-i", os.path.join(given, "clock"))
    stamps = [int(t.replace(".", "").rstrip(":")) for t in lines.split()]
    if (p.time, p.took) != (last + min(stamps) - first, max(stamps) - min(stamps)):
        yield f"by its clock: {p.time} {p.took}, not of {min(stamps)} to {max(stamps)}"
    for both in (bench.merge([path, bench.save("demo.elf", "demo-user.data")]),
                 bench.merge([bench.save("demo.elf", "demo-user.data"), path]),
                 bench.save("demo.elf", "clock", "demo-user.data"),
                 bench.save("demo.elf", "demo-user.data", "clock")):
        both = Profile(both)
        if (both.time, both.took, both.period) != (WRITTEN - p.took, 2 * p.took, p.period):
            yield f"of both: {both.time} {both.took} {both.period}"
    again = Profile(bench.save("demo.elf", path))
    if (again.time, again.took, again.period) != (p.time, p.took, p.period):
        yield "not kept when it is saved again"


def main():
    return run_checks(__doc__, "times of profiles", (
        ("of each recording", of_each),
        ("of a folder", of_folder),
        ("of several, and by a clock", of_several),
    ))


if __name__ == "__main__":
    sys.exit(main())
