# SPDX-License-Identifier: GPL-2.0-only
"""Recordings for inject, made up: of each record the bytes that it has, and those that it must have
in the copy; and guests with what a companion has to hide or to change.

What a record becomes is said by hlguest-inject(1) and tools/inject/copy.h. The new bytes are put
together from the same parts as the old ones, not made from them.
"""
import collections
import struct

import forged
from forged import CALLCHAIN, CPU, IDENTIFIER, IP, LOST, PERIOD, RAW, READ, SAMPLE, TID, TIME
from modelled import (BY_TABLES, COMM, CONTEXT_GUEST, CONTEXT_GUEST_USER, COPY_ENDS, EVENTS,
                      GUEST_USER, LOCAL, RODATA, WHOLE, Guest, Recording, is_guest)

REGS, STACK, USER = 1 << 12, 1 << 13, 2
THROTTLE, FORK, ROUND, AUXTRACE, CPU_MAP = 5, 7, forged.FINISHED_ROUND, 71, 74
CONTEXT_KERNEL, CONTEXT_USER, DEFERRED = (2**64 - n for n in (128, 512, 640))
NUMBERS = ((70, 71), (70, 71), (70, 71), (9999997, 71), (9999998, 71), (9999999, 71),
           (70, 12345678), (70, 99999999), (999999998, 70), (-1, 70))
TOO_MANY = (70, 999999999)  # no number is left for the guest's
# What perf could take symbols from, and what it could not: name, type, flags, bytes of an entry.
FALSE = (b".symtab", 1, 0, 24)
SECTIONS = (FALSE, (b".dynsym", 11, 2, 24), (b".exported", 11, 2, 24), (b".dynsym", 1, 0, 24),
            (b".rela.plt", 4, 2, 24), (b".rela.text", 4, 0, 24), (b".rel.text", 9, 0, 16),
            (b".rela.dyn", 4, 2, 24), (b".rel.plt", 9, 2, 16), (b".gnu_debuglink", 1, 0, 24),
            (b".plt", 1, 2, 24), (b".comment", 1, 0, 24))

# kind: guest, host, other or round; old: the record; new: of the copy; sample: as modelled has it
Entry = collections.namedtuple("Entry", "kind old new sample payload", defaults=(None, b""))


class Named(Guest):
    """Whose symbols perf may find, with sections that a companion must not have."""

    def __init__(self, rng, names, path, calls):
        self.table = rng.choice((b".symtab", b".symtab", b".symtab", b""))
        self.id = rng.randbytes(rng.choice((20, 20, 8, 16))) if rng.random() < .6 else b""
        self.notes = rng.choice((b".note.gnu.build-id", b".notes", b".note"))
        self.other_note = rng.random() < .5
        self.more = [section for section in SECTIONS if rng.random() < .25]
        self.halves = rng.random() < .4  # of its data: a piece each, side by side
        super().__init__(rng, names, path, calls)
        for s in self.tops[:]:
            if rng.random() < .1:  # of no bytes, where a function begins
                self.add(s.name + "_begins", s.at, 0, 0, LOCAL)

    def is_found(self):
        """Is its table what perf reads? It is the first section of that name."""
        return self.table == b".symtab" and FALSE not in self.more

    def some(self, rng):
        if rng.random() < .05:
            return self.end + RODATA // 2
        return super().some(rng)

    def pieces(self):
        """(address, size) of each piece of data."""
        size = RODATA // 2 if self.halves else RODATA
        return [(at, size) for at in range(self.end, self.end + RODATA, size)]

    def elf(self):
        elf = super().elf()
        at = elf.segments.pop()[2]
        elf.segments += [(1, 4, at + addr - self.end, addr, addr, size, size, 1)
                         for addr, size in self.pieces()]
        return elf

    def note(self, elf):
        if self.id:
            note = struct.pack("<3I", 4, len(self.id), 3) + b"GNU\0" + self.id
            if self.other_note:
                owner = b"GNU\0" if len(self.id) < 20 else b"CORE\0"
                note = struct.pack("<3I", len(owner), 6, 1) + owner + bytes(-len(owner) % 4) + \
                    b"abi..." + bytes(2) + note
            elf.section(elf.name(self.notes), 7, 2, at=elf.put(note), size=len(note))
        for name, kind, flags, entry in self.more:
            elf.section(elf.name(name), kind, flags, at=elf.put(bytes(24)), size=entry, entry=entry)


class Injected(Recording):
    """With chains, counters, registers and stacks of some events, and names of processes."""

    def __init__(self, rng, events, draw, n, lacks, returns):
        super().__init__(rng, 0, events, draw, n, lacks, returns)
        if not returns and rng.random() < .4:
            self.kind |= CALLCHAIN
        numbers = TOO_MANY if rng.random() < .03 else rng.choice(NUMBERS)
        threads = {70: numbers[0], 71: numbers[1]}
        first = rng.choice((80, 80, 80, 9999999, None))  # the first thread's; None: the process's
        self.samples = [s._replace(pid=threads[s.pid], tid=s.tid if s.tid != 80 else
                                   first or threads[s.pid]) for s in self.samples]
        self.threads = [(threads[pid], tid) for pid, tid in self.threads]
        bits = (0, 0, READ, RAW, REGS, REGS | STACK, READ | REGS | STACK)
        self.more = {event: rng.choice(bits) for event in events}
        self.regs, self.room = rng.choice((1, 3)), 8 * rng.randint(1, 20)
        self.attr_size, self.rest = rng.choice((112, 128, 128, 136, 144)), rng.random() < .3
        self.grouped = {event: rng.random() < .3 for event in events}
        self.throttled = rng.choice((0, 0, 0, 1, 3))
        self.comms, self.cpus = {}, 0
        self.heard = {0, 1}  # numbers that records of tasks have
        self.forks = rng.choice((0,) * 8 + (9999998, 9999999, 12345678))
        self.entries = list(self.make_entries())
        self.pids = [pid for pid, _ in self.threads]

    def highest(self):
        return max(*self.heard, *(number for s in self.samples for number in (s.pid, s.tid)))

    def offset(self):
        """A power of ten above all numbers, and that of -1 too."""
        return next((10**k for k in (7, 8, 9) if self.highest() < 10**k - 1), None)

    def new_id(self, number):
        return self.offset() + number if number >= 0 else 2 * self.offset() - 1

    # Callchains

    def chain(self, s):
        """(old, new) words of a sample's."""
        rng = self.rng
        host = rng.choice(((), (), (CONTEXT_KERNEL, 2**63 + 5), (CONTEXT_USER, 0x400010)))
        if not is_guest(s):
            return host, host
        if s.callers:
            told = 1 << 32 | BY_TABLES << 8 | (WHOLE if s.callers[1] else COPY_ENDS)
            mode = rng.choice((CONTEXT_GUEST_USER, CONTEXT_GUEST_USER, 2**64 - 2176))
            return (*host, mode, s.ip, *s.callers[0], CONTEXT_GUEST, told), \
                (*host, CONTEXT_USER, s.ip, *(at - 1 for at in s.callers[0]))
        if host:
            return host, host  # an address stands there, and none of a guest
        marks = (CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_GUEST)[:rng.randint(0, 3)]
        later = (DEFERRED, 3 << 32 | 1) if rng.random() < .2 else ()
        return (*marks, *later), (CONTEXT_USER, s.ip, *[CONTEXT_USER] * (len(marks) - 2))

    # Records

    def read_format(self, event):
        return (4 | 8 * self.grouped[event]) if self.more[event] & READ else 0

    def parts(self, s):
        """(old, new) of what stands behind the fixed fields."""
        rng, more, old, new = self.rng, self.more[s.event], b"", b""

        def put(was, becomes=None):
            nonlocal old, new
            old, new = old + was, new + (was if becomes is None else becomes)
        number = 1 + self.events.index(s.event)
        if more & READ:
            value = struct.pack("<2Q", rng.getrandbits(40), number)
            put(struct.pack("<Q", 1) + value if self.grouped[s.event] else value)
        if self.has(CALLCHAIN):
            put(*(struct.pack(f"<{1 + len(words)}Q", len(words), *words)
                  for words in self.chain(s)))
        if more & RAW:
            put(struct.pack("<I", 12) + rng.randbytes(12))
        # Without a stack perf does not unwind: what else there is stays.
        gone = bytes(8) if more & STACK and is_guest(s) else None
        if more & REGS:
            put(struct.pack("<Q", 2) + rng.randbytes(8 * self.regs) if rng.random() < .8 else
                bytes(8), gone)
        if more & STACK:
            put(struct.pack("<Q", self.room) + rng.randbytes(self.room) +
                struct.pack("<Q", rng.randint(0, self.room)) if rng.random() < .8 else bytes(8),
                gone)
        return old, new

    def fixed(self, s, pid, tid):
        out = struct.pack("<2Q2i", 1 + self.events.index(s.event), s.ip, pid, tid)
        if self.has(TIME):
            out += struct.pack("<Q", s.time)
        if self.has(CPU):
            out += struct.pack("<2I", s.cpu, 0)
        return out + (struct.pack("<Q", s.period) if self.has(PERIOD) else b"")

    def sampled(self, s):
        misc = s.mode | self.rng.choice((0, 0, 1 << 14))  # PERF_RECORD_MISC_EXACT_IP
        old, new = self.parts(s)
        record = forged.record(SAMPLE, misc, self.fixed(s, s.pid, s.tid) + old)
        if not is_guest(s):
            return Entry("host", record, record, s)
        if not self.offset():
            return Entry("guest", record, None, s)
        return Entry("guest", record, forged.record(SAMPLE, misc & ~7 | USER, self.fixed(
            s, self.new_id(s.pid), self.new_id(s.tid)) + new), s)

    def tail(self, pid, tid, time):
        return super().tail(pid & 2**32 - 1, tid & 2**32 - 1, time)

    def other(self, kind, body, time, pid=70, tid=70, kind_of="other"):
        record = forged.record(kind, 0, body + self.tail(pid, tid, time))
        return Entry(kind_of, record, record)

    def named(self, pid, tid, name, time):
        """A COMM; what a process is called is the last one of its first thread."""
        self.heard |= {pid, tid}
        if pid == tid and (not self.has(TIME) or time >= self.comms.get(pid, ("", 0))[1]):
            self.comms[pid] = name, time
        text = name.encode()
        return self.other(COMM, struct.pack("<2i", pid, tid) + text + bytes(8 - len(text) % 8),
                          time, pid, tid)

    def forked(self, pid, parent, time, by):
        """A process is called as its parent is, also where nothing tells how that is called. by: a
        thread of the parent."""
        self.heard |= {pid, parent, by}
        self.comms[pid] = self.comms.get(parent, ("", 0))[0], time
        return self.other(FORK, struct.pack("<4iQ", pid, parent, pid, by, time), time, pid, pid)

    def tasks(self):
        rng, at = self.rng, self.begins - 1000
        pids = sorted({pid for pid, _ in self.threads})
        for pid, tid in self.threads:
            if rng.random() < .7:
                yield self.named(pid, tid, self.comm(tid), at)
        for pid in pids:
            if pid < 0 or rng.random() < .3:
                continue
            for time in rng.sample(range(at, at + 400), rng.choice((1, 1, 2, 3))):
                yield self.named(pid, pid, rng.choice(("vmm", "a b", "vm\x1bm", "vm\x7f", "é",
                                                       "fifteen_letters")) + str(time % 7), time)
        if rng.random() < .5 and len(pids) > 1 and pids[0] > 0:
            parent, by = rng.choice(((pids[0], pids[0]), (10**7 + 5, 1), (1, 10**8 + 5)))
            yield self.forked(pids[1], parent, at + 500, by)

    def make_entries(self):
        rng, body = self.rng, struct.pack
        self.rng.shuffle(self.threads)
        if self.forks:  # a thread, which is all that is heard of it
            at = self.begins - 1000
            self.heard |= {70, 72, self.forks}
            yield self.other(FORK, body("<4iQ", 70, 70, 72, self.forks, at), at)
        yield from self.tasks()
        if rng.random() < .4:
            yield self.cpu_map()
        middle = [self.other(LOST, body("<2Q", 1, n), self.begins) for n in self.losses]
        middle += [self.other(THROTTLE, body("<3Q", self.begins, 1, 1), self.begins)
                   for _ in range(self.throttled)]
        mark = forged.record(ROUND, 0, b"")
        middle += [Entry("round", mark, mark)] * rng.choice((0, 0, 2))
        for _ in range(rng.choice((0,) * 8 + (1, 2, 2))):
            data = rng.randbytes(8 * rng.randint(1, 30))
            aux = forged.record(AUXTRACE, 0, body("<3Q4I", len(data), 0, 0, 0, 0, 0, 0))
            middle.append(Entry("other", aux, aux, None, data))
        samples = [self.sampled(s) for s in self.samples]
        for one in middle:
            samples.insert(rng.randint(0, len(samples)), one)
        yield from samples

    def cpu_map(self):
        """tools/lib/perf/include/perf/event.h: a list, a mask, a range."""
        rng = self.rng
        cpus = sorted(rng.sample(range(70), rng.randint(1, 5)))
        self.cpus, pack = cpus[-1] + 1, struct.pack
        mask = sum(1 << cpu for cpu in cpus)
        bodies = (pack(f"<2H{len(cpus)}H", 0, len(cpus), *cpus),
                  pack("<3H4x", 1, 2, 8) + mask.to_bytes(16, "little"),
                  pack("<3H", 1, 3, 4) + mask.to_bytes(12, "little"),
                  pack("<4H", 2, 0, cpus[0], cpus[-1]), pack("<2HH", 0, 1, 0xffff))
        kind = rng.randrange(5)
        if kind == 4:
            self.cpus = 0
        record = forged.record(CPU_MAP, 0, bodies[kind] + bytes(-len(bodies[kind]) % 8))
        return Entry("other", record, record)

    # Files

    def attrs(self):
        """(bytes, ids) of each event."""
        for i, event in enumerate(self.events):
            more = self.more[event]
            attr = bytearray(forged.attr(self.kind | more, *EVENTS[event], self.read_format(event)))
            attr[16:24] = struct.pack("<Q", self.every[event])
            attr[80:92] = struct.pack("<QI", (1 << self.regs) - 1 if more & REGS else 0,
                                      self.room if more & STACK else 0)
            attr = attr.ljust(self.attr_size, b"\0")[:self.attr_size]
            attr[4:8] = struct.pack("<I", self.attr_size)
            if self.attr_size > 128 and self.rest and i == 0:
                attr[-3] = 1
            yield bytes(attr), struct.pack("<Q", 1 + i)

    def new_attrs(self, one_by_one=False):
        """As short as old perfs read them, where nothing is in the rest of any."""
        attrs = list(self.attrs())
        long = [any(attr[128:]) for attr, _ in attrs]
        for (attr, ids), own in zip(attrs, long):
            if self.attr_size > 128 and not (own if one_by_one else any(long)):
                attr = attr[:4] + struct.pack("<I", 128) + attr[8:128]
            yield attr, ids

    def features(self):
        rng = self.rng
        described = struct.pack("<2I", len(self.events), self.attr_size)
        for event, (attr, ids) in zip(self.events, self.attrs()):
            described += attr + struct.pack("<2I32s", 1, 32, event.encode()) + ids
        found = {12: described}
        if rng.random() < .3:
            found[7] = struct.pack("<2I", 4, 4)
        if rng.random() < .3:
            found[3] = struct.pack("<I", 64) + b"host".ljust(64, b"\0")
        for number in (30, 31, 32, 33):
            if rng.random() < .2:
                found[number] = rng.randbytes(8 * rng.choice((0, 0, 1, 2)))
        if rng.random() < .2:
            found[2] = struct.pack("<IHHi20sB3x", 0, 2, 36 + 64, -1, bytes(20), 20) + \
                b"/nowhere/vmm".ljust(64, b"\0")
        return found
