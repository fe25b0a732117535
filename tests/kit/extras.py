# SPDX-License-Identifier: GPL-2.0-only
"""What else a recording of made.py can hold: records that say nothing of samples, and
compressed ones.

Numbers and layouts are those of linux/perf_event.h, tools/lib/perf/include/perf/event.h
and perf.data-file-format.txt of the kernel. Compressed by libzstd, where there is one.
"""
import ctypes
import random
import struct

UNTHROTTLE, READ, AUX, ITRACE_START, SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, \
    CGROUP, TEXT_POKE, AUX_OUTPUT_HW_ID = 6, 8, 11, 12, 15, 16, 17, 18, 19, 20, 21
AUXTRACE, COMPRESSED, FINISHED_INIT, COMPRESSED2 = 71, 81, 82, 83
MAPPED = 1 << 20  # bytes: perf makes room for as many, uncompressed


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def draw(rng, pid, tid, now, chosen):
    """(type, misc, body) of a record that ends with a sample_id."""
    return rng.choice((
        lambda: (UNTHROTTLE, 0, struct.pack("<QQQ", now, chosen, 1)),
        lambda: (AUX, 0, struct.pack("<QQQ", rng.getrandbits(20), rng.getrandbits(12),
                                     rng.randint(0, 3))),
        lambda: (ITRACE_START, 0, struct.pack("<II", pid, tid)),
        lambda: (SWITCH_CPU_WIDE, 0x2000 * rng.randint(0, 1), struct.pack("<II", pid, tid)),
        lambda: (NAMESPACES, 0, struct.pack("<IIQ", pid, tid, 1) + struct.pack("<QQ", 4, 5)),
        lambda: (KSYMBOL, 1, struct.pack("<QIHH8s", 0xffffffffc0000000 + rng.getrandbits(12),
                                         64, 1, rng.randint(0, 1), b"bpf_a")),
        lambda: (BPF_EVENT, 1, struct.pack("<HHI8s", rng.randint(1, 2), 0, 7, bytes(8))),
        lambda: (CGROUP, 0, struct.pack("<Q8s", rng.randint(1, 9), b"/a/b")),
        lambda: (AUX_OUTPUT_HW_ID, 0, struct.pack("<Q", 1)),
    ))()


def unknown(state):
    """Of a kernel or a perf that is newer than any."""
    rng = random.Random(str(state))
    return record(rng.choice((22, 23, 40, 63, 84, 90, 127, 128, 1 << 20, 2 ** 32 - 1)),
                  rng.getrandbits(16), rng.randbytes(8 * rng.randint(0, 20)))


def aside(rng, piped):
    """A record of perf's own. perf reads on inside of AUXTRACE's contents in a pipe."""
    if piped or rng.random() < .5:
        return record(FINISHED_INIT, 0, b"")
    size = 8 * rng.randint(0, 600)  # which is not in the record's
    return record(AUXTRACE, 0, struct.pack("<QQQIIII", size, 0, 0, 0, 101, 0, 0)) + \
        rng.randbytes(size)


class Buffer(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t))


def load():
    try:
        zstd = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
    zstd.ZSTD_compressStream2.argtypes = (ctypes.c_void_p, ctypes.POINTER(Buffer),
                                          ctypes.POINTER(Buffer), ctypes.c_int)
    zstd.ZSTD_compressStream2.restype = ctypes.c_size_t
    zstd.ZSTD_freeCCtx.argtypes = (ctypes.c_void_p,)
    return zstd


ZSTD = load()


class Zip:
    """Compresses some of a recording, as one stream over all its records."""

    def __init__(self, rng):
        self.rng, self.newer = rng, False
        self.used = rng.random() < .25 and ZSTD is not None
        self.context = None
        self.ratio = rng.random()

    def feature(self):
        """HEADER_COMPRESSED: version, type, level, ratio, bytes of a buffer."""
        return {27: struct.pack("<IIIII", 1, 1, 1, 1, MAPPED)} if self.used else {}

    def squeeze(self, data):
        if self.context is None:
            self.context = ZSTD.ZSTD_createCCtx()
        room = ctypes.create_string_buffer(len(data) + 1024)
        source = ctypes.create_string_buffer(data, len(data))
        out = Buffer(ctypes.addressof(room), len(room), 0)
        given = Buffer(ctypes.addressof(source), len(data), 0)
        left = ZSTD.ZSTD_compressStream2(self.context, out, given, 1)  # ZSTD_e_flush
        assert left == 0 and given.pos == len(data)
        return room.raw[:out.pos]

    def records(self, data):
        """The same records, or some that are these when decompressed: cut anywhere."""
        rng = self.rng
        if not self.used or not data or rng.random() < self.ratio / 2:
            return data
        cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.choice((0, 0, 1, 4))))
        out = b""
        for start, end in zip([0] + cuts, cuts + [len(data)]):
            if start == end:
                continue
            packed = self.squeeze(data[start:end])
            if self.newer:
                out += record(COMPRESSED2, 0, struct.pack("<Q", len(packed)) + packed +
                              bytes(-len(packed) % 8))
            else:
                out += record(COMPRESSED, 0, packed)
        return out

    def __del__(self):
        if self.context:
            ZSTD.ZSTD_freeCCtx(self.context)
