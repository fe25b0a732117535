# SPDX-License-Identifier: GPL-2.0-only
"""Large inputs, made up: recordings, ELFs and streams with as many of each thing as is
wanted. Written from linux/perf_event.h, perf.data-file-format.txt and elf.h; the same
bytes each time."""
import os
import struct

SAMPLE, COMM, MMAP2 = 9, 3, 10
GUEST_USER, HOST_USER = 5, 2
IP, TID, TIME, CHAIN, CPU, PERIOD, RAW, IDENTIFIER = (
    1 << i for i in (0, 1, 2, 5, 7, 8, 10, 16))
EVENT_DESC, GROUP_DESC = 12, 17
BASE = 0x40000000
CODE = 16  # bytes of a function
PAGE = 0x1000
CONTEXT_USER = 2 ** 64 - 512

# The events of a recording: name, type, config. Their ids are 1, 2 ...
CLOCK = ("cpu-clock", 1, 0)
ENTRY = ("kvm:kvm_entry", 2, 110)


class Recording:
    """Written as it is filled; close it."""

    def __init__(self, path, events=(CLOCK,), chains=False):
        self.sample_type = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
        self.sample_type |= CHAIN | RAW if chains else 0
        self.events, self.chains = events, chains
        self.file = open(path, "wb")
        self.time = 10 ** 9
        self.groups = 0  # that all claim all events
        ids, attrs = b"", b""
        for i, (_, kind, config) in enumerate(events):
            attrs += self.attr(kind, config) + struct.pack("<2Q", 104 + len(ids), 8)
            ids += struct.pack("<Q", i + 1)
        self.begin = 104 + len(ids) + len(attrs)
        self.attrs = (104 + len(ids), len(attrs))
        self.file.write(bytes(104) + ids + attrs)

    def attr(self, kind, config):
        # struct perf_event_attr: type, size, config, period, sample_type, read_format, flags
        # (inherit).
        return struct.pack("<IIQQQQQ", kind, 128, config, 1000000, self.sample_type, 0,
                           1 << 1).ljust(128, b"\0")

    def sample(self, ip, tid=72, event=0, mode=GUEST_USER, chain=(), pid=71, cpu=0):
        self.time += 1000
        fixed = struct.pack("<2QIIQIIQ", event + 1, ip, pid, tid, self.time, cpu, 0, 1000000)
        if self.chains:
            fixed += struct.pack(f"<{len(chain) + 1}QII", len(chain), *chain, 4, 0)  # and 4 bytes of raw data
        self.file.write(struct.pack("<IHH", SAMPLE, mode, 8 + len(fixed)) + fixed)

    def map(self, path, addr, length, pid=71):
        """The process has the file's beginning at addr."""
        fixed = struct.pack("<2I3Q2I2Q2I", pid, pid, addr, length, 0, 8, 1, 1, 0, 5, 2)
        fixed += os.fsencode(path).ljust(-len(path) // 8 * -8 + 8, b"\0")
        self.file.write(struct.pack("<IHH", MMAP2, HOST_USER, 8 + len(fixed)) + fixed)

    def close(self):
        end = self.file.tell()
        # u32 events, u32 size of an attribute; of each: it, u32 ids, u32 length, name, ids
        desc = struct.pack("<II", len(self.events), 128)
        for i, (name, kind, config) in enumerate(self.events):
            desc += (self.attr(kind, config) + struct.pack("<II", 1, 64) +
                     name.encode().ljust(64, b"\0") + struct.pack("<Q", i + 1))
        # u32 groups; of each: u32 length, name, u32 leader, u32 members
        group = struct.pack("<I", self.groups) + struct.pack(
            "<3I", 0, 0, len(self.events)) * self.groups
        at = end + 16 * (1 + bool(self.groups))
        self.file.write(struct.pack("<2Q", at, len(desc)))
        if self.groups:
            self.file.write(struct.pack("<2Q", at + len(desc), len(group)))
        self.file.write(desc + (group if self.groups else b""))
        self.file.seek(0)
        bits = 1 << EVENT_DESC | bool(self.groups) << GROUP_DESC
        self.file.write(struct.pack("<13Q", 0x32454C4946524550, 104, 144, *self.attrs,
                                    self.begin, end - self.begin, 0, 0, bits, 0, 0, 0))
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def samples(path, ips, **how):
    with Recording(path) as r:
        for ip in ips:
            r.sample(ip, **how)
    return path


def name_of(i):
    return b"function_%07d" % i


def functions(n, name=name_of):
    """n functions of CODE bytes each, from PAGE on."""
    return [(name(i), PAGE + i * CODE, CODE) for i in range(n)]


def elf(path, symbols, size=None, sections=0, segments=1, at=0):
    """ET_DYN for x86-64 with these (name, address, size); size bytes of code at PAGE; more
    sections and program headers, empty ones. at is the address of the first."""
    if size is None:
        size = max(addr + length for _, addr, length in symbols) - PAGE
    table, names, place = bytearray(24), [b""], 1
    for name, addr, length in symbols:
        table += struct.pack("<IBBHQQ", place, 0x12, 0, 1, at + addr, length)
        names.append(name)
        place += len(name) + 1
    words = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    total = 5 + sections
    segments_at = PAGE + size + len(table) + place + len(words)
    segments_at += -segments_at % 8
    sections_at = segments_at + 56 * segments
    wide = segments >= 0xffff  # PN_XNUM: the number is in section 0's sh_info
    with open(path, "wb") as f:
        # 0: the number of sections is in section 0's sh_size.
        f.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, at + PAGE, segments_at, sections_at, 0, 64, 56,
            0xffff if wide else segments, 64, total if total < 0xff00 else 0, 4))
        f.seek(PAGE)
        code = (b"\x90" * (CODE - 1) + b"\xc3") * min(size // CODE + 1, 65536)
        left = size
        while left:
            left -= f.write(code[:left])
        f.write(table)
        f.write(b"\0".join(names) + b"\0" + words)
        f.seek(segments_at)
        f.write(struct.pack("<IIQQQQQQ", 1, 5, 0, at, at, PAGE + size, PAGE + size, PAGE))
        f.write(bytes(56) * (segments - 1))  # PT_NULL
        f.write(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, total if total >= 0xff00 else 0, 0,
                            segments if wide else 0, 0, 0))
        where = PAGE
        for name, kind, flags, addr, length, link, info, entry in (
                (1, 1, 6, at + PAGE, size, 0, 0, 0), (7, 2, 0, 0, len(table), 3, 1, 24),
                (15, 3, 0, 0, place, 0, 0, 0), (23, 3, 0, 0, len(words), 0, 0, 0)):
            f.write(struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, where, length, link,
                                info, 1, entry))
            where += length
        # Executable, of no bytes, all over the code.
        for i in range(sections):
            f.write(struct.pack("<IIQQQQIIQQ", 1, 1, 6, at + PAGE + i % (size + 1),
                                PAGE + i % (size + 1), 0, 0, 0, 1, 0))
    return path


def perf_map(path, n):
    with open(path, "w", encoding="ascii") as f:
        for i in range(n):
            f.write(f"{BASE + i * CODE:x} {CODE:x} jit_{i}\n")
    return path


def uleb(value):
    out = b""
    while value >= 0x80:
        out += bytes((0x80 | value & 0x7f,))
        value >>= 7
    return out + bytes((value,))


def sysprof(path, size, functions_of_host=5000):
    """A stream of about size bytes: samples of Lua's state INTERP with 20 host frames."""
    frames = [uleb(0x100000 + i * 64) for i in range(functions_of_host)]
    with open(path, "wb") as f:
        f.write(b"ljs\3\0\0\0")
        for i in range(functions_of_host):
            name = b"host_%d" % i
            f.write(b"\1" + uleb(0x100000 + i * 64) + uleb(len(name)) + name)
        f.write(b"\x80ljp\2\0\0\0")
        blocks, left = [], size
        for i in range(functions_of_host - 20):
            blocks.append(b"\0" + b"".join(frames[i:i + 20]) + b"\0")
        block = b"".join(blocks)
        while left > 0:
            left -= f.write(block)
        f.write(b"\x80")
    return path
