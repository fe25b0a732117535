# SPDX-License-Identifier: GPL-2.0-only
"""Files in which every number can be said to be anything: ELFs, recordings, saved profiles.

Written from elf.h, linux/perf_event.h, perf.data-file-format.txt and profile.proto. What
harm/size/large.py writes is large and true; what is written here is small and need not be."""
import functools
import gzip
import struct

IP, TID, TIME, READ, CALLCHAIN, CPU, PERIOD, RAW, IDENTIFIER = (
    1 << i for i in (0, 1, 2, 4, 5, 7, 8, 10, 16))
GUEST, HOST = 4, 2  # cpumodes: guest kernel, host user
SAMPLE, LOST, FINISHED_ROUND, MMAP2 = 9, 2, 68, 10
TEXT = 0x1000


class Elf:
    """ET_EXEC for x86-64 with size bytes of code at TEXT; more is added, then build()."""

    def __init__(self, size=0x1000):
        self.data = bytearray(TEXT)
        self.names = bytearray(b"\0")
        self.segments, self.sections = [], [(0,) * 10]
        self.text = self.put(b"\x90" * size)
        self.size = size
        self.segment(TEXT, size)
        self.section(self.name(b".text"), 1, 6, TEXT, self.text, size)

    def put(self, data):
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return len(self.data) - len(data)

    def name(self, text):
        self.names += text + b"\0"
        return len(self.names) - len(text) - 1

    def segment(self, addr, size):
        self.segments.append((1, 5, self.text, addr, addr, min(size, self.size), size, 1))

    def section(self, name, kind, flags=0, addr=0, at=0, size=0, link=0, entry=0):
        self.sections.append((name, kind, flags, addr, at, size, link, 1, 4, entry))
        return len(self.sections) - 1

    def symbols(self, symbols, strings):
        """(place of the name in strings, address, size, section unless it is .text) of each; all
        global functions."""
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, *(section or [1]), addr,
                                                 size) for name, addr, size, *section in symbols)
        strtab = self.section(0, 3, at=self.put(strings), size=len(strings))
        self.section(0, 2, at=self.put(table), size=len(table), link=strtab, entry=24)
        return self

    def build(self):
        names = self.section(0, 3, at=self.put(self.names), size=len(self.names))
        segments = self.put(b"".join(struct.pack("<IIQQQQQQ", *s) for s in self.segments))
        sections = self.put(b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in self.sections))
        self.data[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 2, 62, 1, TEXT, segments, sections, 0, 64, 56,
            len(self.segments), 64, len(self.sections), names)
        return bytes(self.data)


def guest(kind=2):
    """One function of all the code there is. kind: ET_EXEC, or 3, ET_DYN: at any base."""
    elf = Elf().symbols([(1, TEXT, 0x1000)], b"\0main\0").build()
    return elf[:16] + struct.pack("<H", kind) + elf[18:]


def attr(sample_type=IP | TID | TIME | PERIOD, kind=0, config=0, read_format=0):
    # type, size, config, period, sample_type, read_format, flags (sample_id_all)
    return struct.pack("<IIQQQQQ", kind, 128, config, 1, sample_type, read_format,
                       1 << 18).ljust(128, b"\0")


def record(kind, misc, fixed):
    return struct.pack("<IHH", kind, misc, 8 + len(fixed)) + fixed


def sample(ip=TEXT, pid=1, tid=1, time=1000, period=1, mode=GUEST):
    return record(SAMPLE, mode, struct.pack("<QIIQQ", ip, pid, tid, time, period))


def mmap2(pid, addr, size, name=b"a", time=0):
    fixed = struct.pack("<2I3Q2I2Q2I", pid, pid, addr, size, 0, 8, 1, 1, 0, 5, 2)
    fixed += name + bytes(8 - len(name) % 8)
    return record(MMAP2, HOST, fixed + struct.pack("<IIQ", pid, pid, time))


def recording(records, attrs=None, ids=None, features=None):
    """ids: of each attribute its bytes, or (offset, size) of whatever is there."""
    attrs = attrs or [attr()]
    data, at = bytearray(104), []
    for some in ids or [b""] * len(attrs):
        if isinstance(some, bytes):
            data += some
            some = (len(data) - len(some), len(some))
        at.append(some)
    begin = len(data)
    data += b"".join(one + struct.pack("<2Q", *where) for one, where in zip(attrs, at))
    start = len(data)
    data += records
    end, bits = len(data), 0
    data += bytes(16 * len(features or {}))
    for i, (number, content) in enumerate(sorted((features or {}).items())):
        bits |= 1 << number
        struct.pack_into("<2Q", data, end + 16 * i, len(data), len(content))
        data += content
    data[:104] = struct.pack("<13Q", 0x32454C4946524550, 104, 144, begin, start - begin,
                             start, end - start, 0, 0, bits, 0, 0, 0)
    return bytes(data)


@functools.lru_cache(1 << 16)
def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes((n & 0x7f | 0x80,))
        n >>= 7
    return out + bytes((n,))


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, numbers):
    return message(field, b"".join(map(varint, numbers)))


def profile(strings, functions, events=(b"cycles",)):
    """One sample of the first event in x.elf, at TEXT in the first of functions, which are
    places in strings, from 5 on."""
    table = [b"", b"hlguest: format=3", b"", b"", b"x.elf", *strings]
    extra = number(1, 3) + b"".join(message(3, message(1, name) + number(3, 2))
                                    for name in events)
    extra += message(4, number(2, 0x1000)) + number(32, 1)
    extra += b"".join(number(field, 1) for field in (16, 17, 22, 23))
    values = [1, 1] + [0] * 2 * (len(events) - 1)
    body = message(1, number(1, 0)) * len(values)
    body += message(2, packed(1, [1]) + packed(2, values))
    body += message(3, number(1, 1) + number(2, TEXT) + number(3, 2 * TEXT) + number(5, 4))
    body += message(4, number(1, 1) + number(2, 1) + number(3, TEXT) +
                    message(4, number(1, 1)))
    body += b"".join(message(5, number(1, i + 1) + number(2, at) + number(3, at))
                     for i, at in enumerate(functions))
    body += b"".join(message(6, text) for text in table)
    return gzip.compress(body + packed(13, [1]) + message(2000, extra), 1, mtime=0)


def mappings(n):
    """As many samples, each at an address of its own, in the first of n images in which the
    others have none."""
    table = [b"", b"hlguest: format=3", b"cycles", b"x.elf", b"f"]
    extra = number(1, 3) + message(3, message(1, b"cycles") + number(3, 2))
    extra += message(4, number(2, 0x1000)) * n
    extra += b"".join(number(field, n) for field in (16, 17, 22, 23))
    body = message(1, number(1, 0)) * 2 + b"".join(
        message(2, packed(1, [i]) + packed(2, [1, 1])) +
        message(3, number(1, i) + number(2, TEXT) + number(3, 2 * TEXT + n + i) + number(5, 3)) +
        message(4, number(1, i) + number(2, 1) + number(3, TEXT + i) + message(4, number(1, 1)))
        for i in range(1, n + 1))
    body += message(5, number(1, 1) + number(2, 4) + number(3, 4))
    body += b"".join(message(6, text) for text in table)
    return gzip.compress(body + packed(13, [1]) + message(2000, extra), 1, mtime=0)


def bases(n, step, outside=(), callers=0, builds=False):
    """A sample at the start of guest(3) at each of n bases, which are step apart, and one at
    each of the addresses outside. callers: of each, in the last image. builds: each is
    another."""
    table = [b"", b"hlguest: format=4", b"cycles", b"x.elf", b"main"]
    ids = range(len(table), len(table) + n) if builds else [0] * n
    table += [b"%08x" % (i * 0x9e3779b1 % (1 << 32)) for i in ids if builds]
    starts = range(1 << 20, (1 << 20) + n * step, step)
    extra = number(1, 4) + message(3, message(1, b"cycles") + number(3, 2))
    extra += b"".join(message(4, number(2, at) + number(3, at - TEXT)) for at in starts)
    extra += b"".join(number(field, n + len(outside)) for field in (16, 17, 22, 23))
    body = message(1, number(1, 0)) * 2 + b"".join(
        message(3, number(1, i) + number(2, at) + number(3, at + TEXT) + number(5, 3) +
                number(6, ids[i - 1])) +
        message(4, number(1, i) + number(2, i) + number(3, at) + message(4, number(1, 1)))
        for i, at in enumerate(starts, 1))
    body += b"".join(message(4, number(1, i) + number(3, at) + message(4, number(1, 1)))
                     for i, at in enumerate(outside, n + 1))
    stack = message(2000, packed(1, [starts[-1] + 8] * callers)) if callers else b""
    body += b"".join(message(2, packed(1, [i]) + packed(2, [1, 1]) + stack)
                     for i in range(1, n + len(outside) + 1))
    body += message(5, number(1, 1) + number(2, 4) + number(3, 4))
    body += b"".join(message(6, text) for text in table)
    return gzip.compress(body + packed(13, [1]) + message(2000, extra), 1, mtime=0)


TRACED = IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER
FIELDS = {  # name: of each field its type, name, place and size
    "kvm_exit": (("unsigned int", "exit_reason", 8, 4), ("unsigned long", "guest_rip", 16, 8)),
    "kvm_entry": (("unsigned int", "vcpu_id", 8, 4),),
}


def formats(before=0, system=b"kvm", tracepoints=FIELDS):
    """Of tracepoints, as /sys/kernel/tracing has them; their numbers are 1, 2. Some of no
    interest stand before them, numbered from 3 on."""
    data = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    for word in (b"header_page\0", b"header_event\0"):
        data += word + struct.pack("<Q", 1) + b"-"
    data += struct.pack("<II", 0, 1) + system + b"\0" + struct.pack("<I", before + len(tracepoints))
    others = [b"name: k\nID: %d\n" % (i + 3) for i in range(before)]
    data += b"".join(struct.pack("<Q", len(text)) + text for text in others)
    for i, (name, fields) in enumerate(tracepoints.items()):
        lines = (("unsigned short", "common_type", 0, 2),) + fields
        text = f"name: {name}\nID: {i + 1}\nformat:\n" + "".join(
            f"\tfield:{kind} {word};\toffset:{at};\tsize:{size};\tsigned:0;\n"
            for kind, word, at, size in lines) + '\nprint fmt: ""\n'
        data += struct.pack("<Q", len(text)) + text.encode()
    return data + struct.pack("<IQ", 0, 0)


def crossing(entry, time, tid=1, cpu=0, short=False, rip=TEXT):
    """A sample of kvm_exit or kvm_entry; short: without its fields."""
    raw = struct.pack("<HHiIIQI", 1 + entry, 0, tid, 0, 0, rip, 0)
    raw = raw[:4] if short else raw
    return record(SAMPLE, 1, struct.pack("<2Q2IQ2IQI", 1 + entry, TEXT, tid, tid, time, cpu, 0,
                                         1, len(raw)) + raw)


def lost(time, cpu=0, n=1):
    """n records were lost, by what crossings() records."""
    return record(LOST, 0, struct.pack("<2Q2IQ2IQ", 1, n, 1, 1, time, cpu, 0, 1))


def crossings(records):
    attrs = [attr(TRACED, 2, i + 1) for i in range(len(FIELDS))]
    ids = [struct.pack("<Q", i + 1) for i in range(len(FIELDS))]
    return recording(records, attrs, ids, {1: formats()})


def hit(raw, pid, tid, time):
    """A sample of a tracepoint, of those of traced()."""
    return record(SAMPLE, 1, struct.pack("<2Q2IQ2IQI", 1, TEXT, pid, tid, time, 0, 0, 1,
                                         len(raw)) + raw)


def sampled(addr, pid, tid, time, period):
    """A guest's sample, of those of traced()."""
    return record(SAMPLE, GUEST, struct.pack("<2Q2IQ2IQ", 2, addr, pid, tid, time, 0, 0, period))


def begun(guests, period=1000):
    """A recording of guests: (address of the first kvm_entry, thread, addresses of samples)
    each. Threads begin one after the other; then all are sampled."""
    fields = {"kvm_entry": (("unsigned int", "vcpu_id", 8, 4), ("unsigned long", "rip", 16, 8))}
    records = []
    for time, (rip, tid, _) in enumerate(guests, 1):
        raw = struct.pack("<HHiIIQI", 1, 0, tid, 0, 0, rip, 0)
        records.append(hit(raw, tid, tid, time))
    for _, tid, addrs in guests:
        records += [sampled(addr, tid, tid, len(records) + i, period)
                    for i, addr in enumerate(addrs, 1)]
    return traced(b"".join(records), b"kvm:kvm_entry", {1: formats(tracepoints=fields)})


def called(calls):
    """A recording of ioctl: (thread, descriptor, command, argument) each, or (thread, address)
    of a sample."""
    records = []
    for time, (tid, *words) in enumerate(calls, 1):
        if len(words) == 1:
            records.append(sampled(words[0], 1, tid, time, 1))
        else:  # 16: the call's number
            records.append(hit(struct.pack("<5QI", 1, 16, *words, 0), 1, tid, time))
    return traced(b"".join(records), b"syscalls:sys_enter_ioctl", {})


def traced(records, tracepoint, features):
    """A recording of a tracepoint, whose id is 1, and of cycles, whose id is 2."""
    attrs, ids = [attr(TRACED, 2, 1), attr(TRACED & ~RAW)], [struct.pack("<Q", i) for i in (1, 2)]
    names = struct.pack("<2I", len(attrs), len(attrs[0])) + b"".join(
        one + struct.pack("<2I32s", 1, 32, name) + number
        for one, name, number in zip(attrs, (tracepoint, b"cycles"), ids))
    return recording(records, attrs, ids, {**features, 12: names})
