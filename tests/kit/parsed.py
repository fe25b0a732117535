# SPDX-License-Identifier: GPL-2.0-only
"""A perf.data file taken apart, and put together in other shapes.

Written from linux/perf_event.h and perf.data-file-format.txt, and by nothing of the
project: what it finds is compared with what the command does.
"""
import ctypes
import ctypes.util
import os
import struct

SAMPLE, COMM, MMAP2, ATTR, FEATURE, ROUND, COMPRESSED = 9, 3, 10, 64, 80, 68, 81
TRACING_DATA = 66
TRACING, BUILD_ID, DIR_FORMAT, ZSTD = 1, 2, 24, 27
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD = (1 << i for i in range(9))
STREAM_ID, REGS_USER, STACK_USER, IDENTIFIER = 1 << 9, 1 << 12, 1 << 13, 1 << 16
LEADING = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD)
MODES = {4: "guest", 5: "guest"}


class Record:
    def __init__(self, data):
        self.data = data
        self.type, self.misc, self.size = struct.unpack_from("<IHH", data)

    @property
    def mode(self):
        return self.misc & 7

    def is_guest(self):
        return self.type == SAMPLE and self.mode in MODES


def records_of(data):
    """Whole records, and how many bytes are left behind them."""
    at, found = 0, []
    while at + 8 <= len(data):
        size, = struct.unpack_from("<H", data, at + 6)
        if size < 8 or at + size > len(data):
            break
        found.append(Record(data[at:at + size]))
        at += size
    return found, len(data) - at


class Recording:
    """attrs: [(bytes, ids)], records, features: {number: bytes}"""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        assert data[:8] == b"PERFILE2", path
        head = struct.unpack_from("<13Q", data)
        self.attr_size = head[2] - 16
        self.attrs = []
        for at in range(head[3], head[3] + head[4], head[2]):
            offset, size = struct.unpack_from("<2Q", data, at + self.attr_size)
            self.attrs.append((data[at:at + self.attr_size], data[offset:offset + size]))
        begin, size = head[5:7]
        self.records, self.left = records_of(data[begin:begin + size])
        self.features, at = {}, begin + size
        for i in range(256):
            if head[9 + i // 64] >> i % 64 & 1:
                offset, length = struct.unpack_from("<2Q", data, at)
                at += 16
                self.features[i] = data[offset:offset + length]

    def sample_type(self, attr=0):
        return struct.unpack_from("<Q", self.attrs[attr][0], 24)[0]

    def at(self, field):
        """Where a leading field stands; the same for all events here."""
        place = 8
        for other in LEADING:
            if other == field:
                return place if self.sample_type() & field else None
            place += 8 * bool(self.sample_type() & other)
        raise ValueError(field)

    def end(self):
        return 8 + 8 * sum(bool(self.sample_type() & f) for f in LEADING)

    def add_type(self, bits):
        for i, (attr, ids) in enumerate(self.attrs):
            value = struct.unpack_from("<Q", attr, 24)[0] | bits
            self.attrs[i] = (attr[:24] + struct.pack("<Q", value) + attr[32:], ids)

    def change(self, function):
        """Replaces each guest sample's bytes by function(index, bytes); None drops it."""
        n, kept = 0, []
        for record in self.records:
            if record.is_guest():
                data = function(n, record.data)
                n += 1
                if data is None:
                    continue
                record = Record(data[:6] + struct.pack("<H", len(data)) + data[8:])
            kept.append(record)
        self.records = kept

    def write(self, path, size=None, data=None):
        """size: what the header says of the records; data: the records' bytes."""
        if data is None:
            data = b"".join(r.data for r in self.records)
        ids_at, ids, attrs = 104, b"", b""
        for attr, own in self.attrs:
            attrs += attr + struct.pack("<2Q", ids_at + len(ids), len(own))
            ids += own
        begin = ids_at + len(ids) + len(attrs)
        bits, table, contents = [0] * 4, b"", b""
        at = begin + len(data) + 16 * len(self.features)
        for i in sorted(self.features):
            bits[i // 64] |= 1 << i % 64
            table += struct.pack("<2Q", at + len(contents), len(self.features[i]))
            contents += self.features[i]
        head = struct.pack("<13Q", 0x32454C4946524550, 104, self.attr_size + 16,
                           ids_at + len(ids), len(attrs), begin,
                           len(data) if size is None else size, 0, 0, *bits)
        with open(path, "wb") as f:
            f.write(head + ids + attrs + data + table + contents)

    def write_pipe(self, path):
        """The same in pipe mode: what the header has comes as records."""
        with open(path, "wb") as f:
            f.write(struct.pack("<2Q", 0x32454C4946524550, 16))
            for attr, ids in self.attrs:
                own, = struct.unpack_from("<I", attr, 4)
                f.write(struct.pack("<IHH", ATTR, 0, 8 + own + len(ids)))
                f.write(attr[:own] + ids)
            for number, data in sorted(self.features.items()):
                if number == TRACING:
                    data += b"\0" * (-len(data) % 8)
                    f.write(struct.pack("<IHHI", TRACING_DATA, 0, 12, len(data)) + data)
                elif number != BUILD_ID:
                    data += b"\0" * (-len(data) % 8)
                    f.write(struct.pack("<IHHQ", FEATURE, 0, 16 + len(data), number))
                    f.write(data)
            f.write(b"".join(r.data for r in self.records))

    def write_directory(self, path):
        """As perf record --threads: samples in two files, with rounds between them."""
        os.mkdir(path)
        samples = [r for r in self.records if r.type == SAMPLE]
        mark = struct.pack("<IHH", ROUND, 0, 8)
        for i in range(2):
            with open(os.path.join(path, f"data.{i}"), "wb") as f:
                part = [r.data for r in samples[i::2]]
                half = len(part) // 2
                f.write(b"".join(part[:half] + [mark] + part[half:] + [mark]))
        self.records = [r for r in self.records if r.type != SAMPLE]
        self.features[DIR_FORMAT] = struct.pack("<Q", 1)
        self.write(os.path.join(path, "data"))

    def write_compressed(self, path):
        """As perf record -z; False without libzstd."""
        name = ctypes.util.find_library("zstd")
        if not name:
            return False
        zstd = ctypes.CDLL(name)
        zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
        zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
        zstd.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                       ctypes.c_size_t, ctypes.c_int]
        data, packed = b"".join(r.data for r in self.records), b""
        for at in range(0, len(data), 30000):
            some = data[at:at + 30000]
            room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(len(some)))
            n = zstd.ZSTD_compress(room, len(room), some, len(some), 1)
            packed += struct.pack("<IHH", COMPRESSED, 0, 8 + n) + room.raw[:n]
        self.features[ZSTD] = struct.pack("<5I", 1, 1, 1, 1, 528384)
        self.write(path, data=packed)
        return True
