# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of KVM's tracepoints whose pairs are known.

A real recording lends its header, attributes and formats (header.data); samples are made
here. `splice.py --trim FILE` made it: what `perf record -B -N -e cpu-clock -e kvm:kvm_exit
...` wrote, without samples and without all facts but the events' and the tracepoints'.
"""
import collections
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "header.data")
TRACING, EVENT_DESC = 1, 12
SAMPLE, LOST, ROUND = 9, 2, 68
GUEST_USER = 5  # of PERF_RECORD_MISC_CPUMODE_MASK
EVENTS = ("kvm_exit", "kvm_entry", "kvm_pio", "kvm_mmio", "kvm_userspace_exit",
          "kvm_emulate_insn", "sys_enter_ioctl")

# What kernels of other times say of the same events; the numbers are offset and size.
NEW = {}
OLD = {"kvm_exit": {"exit_reason": (8, 4), "guest_rip": (16, 8), "isa": (24, 4),
                    "info1": (32, 8), "info2": (40, 8)},
       "kvm_entry": {"vcpu_id": (8, 4)}}
MOVED = {"kvm_exit": {"vcpu_id": (8, 4), "isa": (12, 4), "guest_rip": (24, 8),
                      "exit_reason": (40, 4)},
         "kvm_entry": {"rip": (8, 8), "vcpu_id": (20, 4)},
         "kvm_pio": {"port": (8, 4), "size": (12, 4), "rw": (20, 4)}}


# arm64's, as TRACE_EVENT of arch/arm64/kvm/trace_arm.h makes them.
ARM64 = {"kvm_exit": (("int", "ret", 8, 4, 1), ("unsigned int", "esr_ec", 12, 4, 0),
                      ("unsigned long", "vcpu_pc", 16, 8, 0)),
         "kvm_entry": (("unsigned long", "vcpu_pc", 8, 8, 0),)}


class Tracing:
    """Takes tracing data apart into formats, and puts them together again."""

    def __init__(self, data):
        at = 10
        at = data.index(b"\0", at) + 1 + 1 + 1 + 4
        for name in (b"header_page\0", b"header_event\0"):
            assert data[at:at + len(name)] == name
            at += len(name)
            at += 8 + struct.unpack_from("<Q", data, at)[0]
        count, = struct.unpack_from("<I", data, at)
        self.head = data[:at]
        at += 4
        for _ in range(count):
            at += 8 + struct.unpack_from("<Q", data, at)[0]
        self.systems = []
        count, = struct.unpack_from("<I", data, at)
        at += 4
        for _ in range(count):
            end = data.index(b"\0", at)
            name, at = data[at:end], end + 1
            n, = struct.unpack_from("<I", data, at)
            at += 4
            formats = []
            for _ in range(n):
                size, = struct.unpack_from("<Q", data, at)
                formats.append(data[at + 8:at + 8 + size])
                at += 8 + size
            self.systems.append((name, formats))

    def pack(self):
        out = self.head + struct.pack("<II", 0, len(self.systems))
        for name, formats in self.systems:
            out += name + b"\0" + struct.pack("<I", len(formats))
            for text in formats:
                out += struct.pack("<Q", len(text)) + text
        return out + struct.pack("<IIQ", 0, 0, 0)  # kallsyms, printk, command lines

    def change(self, change):
        self.systems = [(name, [change(text) for text in formats])
                        for name, formats in self.systems]

    def fields(self):
        """{event: {field: (offset, size)}}"""
        found = {}
        for _, formats in self.systems:
            for text in formats:
                name = re.search(rb"name: (\w+)", text)[1].decode()
                found[name] = {
                    field.decode(): (int(offset), int(size)) for field, offset, size in
                    re.findall(rb"(\w+)(?:\[\d+\])?;\toffset:(\d+);\tsize:(\d+);", text)}
        return found


def of_arm64(text):
    """A format as a kernel of arm64 has it; that has no kvm_pio and no kvm_emulate_insn."""
    name = re.search(rb"name: (\w+)", text)[1].decode()
    if name in ("kvm_pio", "kvm_emulate_insn"):
        return text.replace(b"name: ", b"name: no_")
    if name not in ARM64:
        return text
    lines = "".join(f"\tfield:{kind} {field};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
                    for kind, field, at, size, signed in ARM64[name])
    print_fmt = '"PC: 0x%016lx", REC->vcpu_pc\n'
    begin = text.index(b"\n\n\tfield:") + 2
    return text[:begin] + lines.encode() + b"\nprint fmt: " + print_fmt.encode()


def relayout(layout):
    """Changes a format's fields to those of a layout."""
    def change(text):
        name = re.search(rb"name: (\w+)", text)[1].decode()
        if name not in layout:
            return text
        begin, end = text.index(b"\n\n\tfield:") + 2, text.index(b"\nprint fmt")
        lines = "".join(
            f"\tfield:{'u64' if size == 8 else 'unsigned int'} {field};\toffset:{offset};"
            f"\tsize:{size};\tsigned:0;\n" for field, (offset, size) in layout[name].items())
        return text[:begin] + lines.encode() + text[end:]
    return change


class File:
    """A perf.data in file mode: what is before the records, and the features behind."""

    def __init__(self, path=HEADER):
        with open(path, "rb") as f:
            data = f.read()
        self.head = struct.unpack_from("<8sQQQQQQQQ", data)
        self.data_at, self.data_size = self.head[5], self.head[6]
        bits = int.from_bytes(data[72:104], "little")
        self.before = data[:self.data_at]
        table = self.data_at + self.data_size
        self.features = {}
        for bit in range(256):
            if bits >> bit & 1:
                at, size = struct.unpack_from("<QQ", data, table)
                self.features[bit] = data[at:at + size]
                table += 16
        self.tracing = Tracing(self.features[TRACING])

    def write(self, path, records, tracing=None):
        self.features[TRACING] = self.tracing.pack() if tracing is None else tracing
        if not self.features[TRACING]:
            del self.features[TRACING]
        before = bytearray(self.before)
        struct.pack_into("<Q", before, 48, len(records))
        bits = sum(1 << bit for bit in self.features)
        before[72:104] = bits.to_bytes(32, "little")
        at = len(before) + len(records) + 16 * len(self.features)
        table, contents = b"", b""
        for bit in sorted(self.features):
            table += struct.pack("<QQ", at + len(contents), len(self.features[bit]))
            contents += self.features[bit]
        with open(path, "wb") as f:
            f.write(before + records + table + contents)

    def ids(self, wanted=2):
        """{number of an event of this type, a tracepoint: an id of its counters}"""
        size, at, length = self.head[2], self.head[3], self.head[4]
        found = {}
        for attr in range(at, at + length, size):
            config, = struct.unpack_from("<Q", self.before, attr + 8)
            where, _ = struct.unpack_from("<QQ", self.before, attr + size - 16)
            kind, = struct.unpack_from("<I", self.before, attr)
            if kind == wanted:
                found[config], = struct.unpack_from("<Q", self.before, where)
        return found


class Maker:
    """Makes samples: event, time, cpu, tid and the values of fields."""

    def __init__(self, file):
        self.layout = file.tracing.fields()
        self.types, ids = {}, file.ids()
        self.clock = next(iter(file.ids(1).values()))
        for _, formats in file.tracing.systems:
            for text in formats:
                number = int(re.search(rb"\nID: (\d+)", text)[1])
                if number in ids:
                    name = re.search(rb"name: (\w+)", text)[1].decode()
                    self.types[name] = (number, ids[number])

    def sample(self, event, time, cpu, pid, tid, **values):
        number, ident = self.types[event]
        fields = self.layout[event]
        raw = bytearray(max(at + size for at, size in fields.values()))
        struct.pack_into("<Hxxi", raw, 0, number & 0xffff, pid)
        for name, value in values.items():
            if name in fields:
                at, size = fields[name]
                raw[at:at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        raw += bytes(-(len(raw) + 4) % 8)
        body = struct.pack("<QQiiQIIQI", ident, 0, pid, tid, time, cpu, 0, 1, len(raw))
        return struct.pack("<IHH", SAMPLE, 1, 8 + len(body) + len(raw)) + body + raw

    def guest(self, ip, time, pid, tid):
        """A sample of the guest by cpu-clock, which has no CPU."""
        body = struct.pack("<QQiiQQ", self.clock, ip, pid, tid, time, 1000000)
        return struct.pack("<IHH", SAMPLE, GUEST_USER, 8 + len(body)) + body

    def lost(self, time, cpu, n):
        """sample_id of the same attributes: tid, time, cpu, identifier."""
        ident = next(iter(self.types.values()))[1]
        body = struct.pack("<QQiiQIIQ", ident, n, -1, -1, time, cpu, 0, ident)
        return struct.pack("<IHH", LOST, 0, 8 + len(body)) + body


def rounds(records, every, lag):
    """
    Records as perf writes them: (time, cpu, bytes) by rounds, in each one CPU after the
    other. A CPU's buffer may be read late, by lag of it, as long as it is less than a
    round.
    """
    out = bytearray()
    waiting = {}
    for record in records:
        waiting.setdefault(record[1], collections.deque()).append(record)
    end = max(time for time, _, _ in records)
    at = min(time for time, _, _ in records)
    while any(waiting.values()):
        at += every
        for cpu in sorted(waiting):
            until = at - lag(cpu) if at < end else at + every
            while waiting[cpu] and waiting[cpu][0][0] <= until:
                out += waiting[cpu].popleft()[2]
        out += struct.pack("<IHH", ROUND, 0, 8)
    return bytes(out)


def trim(path):
    file = File(path)
    keep = {bit: file.features[bit] for bit in (TRACING, EVENT_DESC) if bit in file.features}
    file.features = keep
    file.write(HEADER, b"")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--trim":
        sys.exit("usage: splice.py --trim FILE")
    trim(sys.argv[2])
