# SPDX-License-Identifier: GPL-2.0-only
"""Recordings and an ELF in which everything that has a name has a hostile one.

The layout is that of linux/perf_event.h and perf.data-file-format.txt; nothing of the
project writes them, but for the ELF (mkelf).
"""
import struct
import subprocess

import splice
from parsed import Record, Recording
from programs import mkelf_of

BASE, TEXT, SIZE = 0x4000, 0x1000, 0x20  # where the guest lies; its functions
VMM = 0x500000                           # where the same ELF lies in the host's processes
FIRST = 1000                             # thread of the first name
MMAP, MMAP2, COMM, SAMPLE = 1, 10, 3, 9
IP, TID, TIME, READ, CALLCHAIN, CPU, PERIOD, RAW, IDENTIFIER = (
    1, 2, 4, 16, 32, 128, 256, 1 << 10, 1 << 16)
GUEST_KERNEL, GUEST_USER, USER, KERNEL = 4, 5, 2, 1
CONTEXT_USER, CONTEXT_GUEST_USER = 2 ** 64 - 512, 2 ** 64 - 2560
HOSTNAME, OSRELEASE, VERSION, CPUDESC, CMDLINE, EVENT_DESC = 3, 4, 5, 8, 11, 12
ENTRY = b"kvm:kvm_entry"
BASIC = IDENTIFIER | IP | TID | TIME | CPU | PERIOD


def ip_of(i):
    return BASE + TEXT + SIZE * i


def write_elf(build, path, names):
    subprocess.run([mkelf_of(build), "named", path], check=True,
                   input=b"".join(n + b"\0" for n in names))


def text_offset(path):
    """Where TEXT is in the file."""
    with open(path, "rb") as f:
        data = f.read()
    at, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, _, offset, addr, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == 1 and addr <= TEXT < addr + length:
            return offset + TEXT - addr
    raise ValueError(path)


def text_of(data):
    """A string as features have it: the size, then padded to 64 bytes."""
    data += b"\0" * (64 - len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Hostile(Recording):
    """events: their names."""

    # pylint: disable-next=super-init-not-called
    def __init__(self, events, more=0, read=0, said=b"\x1b[31msaid\n"):
        self.events, self.more, self.time = events, more, 10 ** 9
        self.attr_size, self.attrs, self.records, self.left = 128, [], [], 0
        desc = struct.pack("<II", len(events), 128)
        for i, name in enumerate(events):
            # A software event or a tracepoint; sample_id_all, mmap2, comm
            attr = struct.pack("<IIQQQQQ", 2 if name == ENTRY else 1, 128, 0, 1000000,
                               BASIC | more, read, 1 << 18 | 1 << 23 | 1 << 9)
            attr += bytes(128 - len(attr))
            ids = struct.pack("<Q", 500 + i)
            self.attrs.append((attr, ids))
            desc += attr + struct.pack("<I", 1) + text_of(name) + ids
        self.features = {EVENT_DESC: desc}
        for feature in HOSTNAME, OSRELEASE, VERSION, CPUDESC:
            self.features[feature] = text_of(said)
        self.features[CMDLINE] = struct.pack("<I", 2) + text_of(said) * 2

    def add(self, kind, mode, body, tid):
        """A record that is no sample, with its sample_id."""
        self.time += 1000
        body += bytes(-len(body) % 8)
        body += struct.pack("<IIQIIQ", tid, tid, self.time, 0, 0, 500)
        self.records.append(Record(struct.pack("<IHH", kind, mode, 8 + len(body)) + body))

    def comm(self, tid, name):
        self.add(COMM, 0, struct.pack("<II", tid, tid) + name + b"\0", tid)

    def mmap(self, tid, addr, size, offset, path):
        self.add(MMAP2, USER, struct.pack("<IIQQQ", tid, tid, addr, size, offset) +
                 bytes(24) + struct.pack("<II", 5, 2) + path + b"\0", tid)

    def sample(self, mode, ip, tid, event=0, period=1000, values=None, chain=None):
        self.time += 1000
        body = struct.pack("<QQIIQIIQ", 500 + event, ip, tid, tid, self.time, 0, 0, period)
        if self.more & READ:
            body += struct.pack("<Q", len(self.events))
            for i, value in enumerate(values or [0] * len(self.events)):
                body += struct.pack("<QQ", value, 500 + i)
        if self.more & CALLCHAIN:
            body += struct.pack(f"<{1 + len(chain or ())}Q", len(chain or ()), *(chain or ()))
        if self.more & RAW:
            body += struct.pack("<I12x", 12)
        self.records.append(Record(struct.pack("<IHH", SAMPLE, mode, 8 + len(body)) + body))


def short(name):
    """As much of a name as a record or a path has room for."""
    return name[:200]


def samples(path, names, events):
    """A process, a mapping, samples of guest and host and an event by each name."""
    r = Hostile([short(n) for n in events])
    for i, name in enumerate(names):
        tid, event = FIRST + i, i % len(events)
        r.comm(tid, short(name))
        r.mmap(tid, VMM, 0x1000, 0, b"/invalid/" + short(name))
        for _ in range(1 + i % 3):
            r.sample(GUEST_USER, ip_of(i), tid, event)
        r.sample(USER, VMM + 16, tid, event)
        r.sample(KERNEL, 0xffffffff81000000, tid, event)
    r.write(path)


def kernel(path, names):
    """A sample in each function, in ring 0; perf is told where the guest's kernel begins."""
    r = Hostile([b"cpu-clock"])
    start = ip_of(0)
    r.add(MMAP, GUEST_KERNEL, struct.pack("<iiQQQ", 0, 0, start, 2**64 - 1 - start, start) +
          b"[guest.kernel.kallsyms]_text\0", 0)
    for i in range(len(names)):
        r.sample(GUEST_KERNEL, ip_of(i), FIRST)
    r.write(path)


def chains(path, names, elf, entries=True):
    """Each name on a stack: the process, the VMM's function, the guest's, its caller. Without
    entries into the guest, stacks of guests have no host half."""
    r = Hostile([b"cpu-clock", ENTRY], CALLCHAIN | RAW)
    offset = text_offset(elf)
    size = SIZE * len(names) + 0x1000
    for i, name in enumerate(names):
        tid, at = FIRST + i, VMM + SIZE * i
        r.comm(tid, short(name))
        r.mmap(tid, VMM, size, offset, elf)
        other = VMM + SIZE * ((i + 1) % len(names))
        if entries:
            r.sample(KERNEL, 0xffffffff81000000, tid, 1, 1,
                     chain=[CONTEXT_USER, at + 8, other + 8])
        r.sample(GUEST_USER, ip_of(i), tid, 0,
                 chain=[CONTEXT_GUEST_USER, ip_of(i), ip_of((i + 1) % len(names)) + 4])
        r.sample(USER, at, tid, 0, chain=[CONTEXT_USER, at, other + 8])
    r.write(path)


def windows(path, names, events):
    """Windows of counters by hostile names, each ending in another function."""
    r = Hostile([short(n) for n in events], READ, read=8 | 4)
    r.comm(FIRST, short(names[0]))
    for i in range(len(names)):
        r.sample(GUEST_USER, ip_of(i), FIRST, values=[
            (i + 1) * 1000 + k * i + (i > 7) * 10 ** 6 for k in range(len(events))])
    r.write(path)


def renamed(path, source, events):
    """A recording whose events, but for the first, are called otherwise."""
    r = Recording(source)
    desc, at = r.features[EVENT_DESC], 8
    n, size = struct.unpack_from("<II", desc)
    out = desc[:at]
    for i in range(n):
        ids, length = struct.unpack_from("<II", desc, at + size)
        end = at + size + 8 + length
        name = desc[at + size + 4:end] if i == 0 else text_of(short(events[i - 1]))
        out += desc[at:at + size + 4] + name + desc[end:end + 8 * ids]
        at = end + 8 * ids
    r.features[EVENT_DESC] = out
    r.write(path)


def exits(path, names):
    """An exit in each function."""
    file = splice.File()
    make = splice.Maker(file)
    records, time = [], 10 ** 9
    for i in range(len(names)):
        for event, values in (("kvm_exit", {"exit_reason": 12, "guest_rip": ip_of(i),
                                            "isa": 1, "vcpu_id": 0}),
                              ("kvm_entry", {"vcpu_id": 0, "rip": ip_of(i)})):
            time += 1000 + i
            records.append((time, 0, make.sample(event, time, 0, FIRST, FIRST, **values)))
    file.write(path, splice.rounds(records, 300000, lambda _: 0))


def perf_map(path, names):
    """What a JIT would write: a name ends with its line."""
    with open(path, "wb") as f:
        for i, name in enumerate(names):
            f.write(b"%x %x %s\n" % (TEXT + SIZE * i, SIZE, name.replace(b"\n", b" ")))
