# SPDX-License-Identifier: GPL-2.0-only
"""Guests and recordings drawn from a seed, and what is known of each address and sample.

For the readings beside it, which compute from these lists what hlguest has to say of the
files. What an address is called goes by hlguest(7), "Concepts", alone.
"""
import collections
import os
import random
import struct

import forged
from forged import (CALLCHAIN, CPU, HOST, IDENTIFIER, IP, LOST, PERIOD, RAW, READ, SAMPLE, TEXT,
                    TID, TIME)

COMM, KERNEL, GUEST_USER, HYPERVISOR = 3, 1, 5, 3
FUNC, NOTYPE, IFUNC = 2, 0, 10
LOCAL, GLOBAL, WEAK = 0, 1, 2
NOP, PUSH = b"\x90", b"\x55"  # padding, and code: each byte an instruction
CALL = b"\xff\xd0"  # by a pointer: to anywhere
CONTEXT_GUEST_USER, CONTEXT_GUEST = 2**64 - 2560, 2**64 - 2048
CONTEXTS = 2**64 - 4095  # no address from here on can stand in a chain
BY_TABLES, WHOLE, COPY_ENDS = 2, 1, 7  # enum hlg_chain_way, enum hlg_chain_end
RODATA, SECOND = 0x40, ".text.cold"
OF_GROUP = 4 | 8  # how counters are read: with their ids, all of a group
# Type and config: timers, what the kernel counts, hardware, a tracepoint.
EVENTS = {"cpu-clock": (1, 0), "task-clock": (1, 1), "page-faults": (1, 2), "cycles": (0, 0),
          "instructions": (0, 1), "irq:irq_handler_exit": (2, 77)}
TRACEPOINT, IOCTL = "irq:irq_handler_exit", "syscalls:sys_enter_ioctl"
TRACEPOINTS = {TRACEPOINT: (2, 77), IOCTL: (2, 78)}
CLOCKS = ("cpu-clock", "task-clock")
VMM, MAPPED = "/nowhere/vmm", 0x400000  # what the host's processes have mapped, and where

Symbol = collections.namedtuple("Symbol", "name at size kind bind")
Place = collections.namedtuple("Place", "kind name symbol start end aliases")
# callers: return addresses, the innermost first, and whether there are no more; None: not recorded.
# raw: a tracepoint's fields. sandbox: its number; -1: not known.
Sample = collections.namedtuple("Sample", "file time cpu pid tid event ip mode period callers raw "
                                "sandbox", defaults=(bytes(4), -1))
OUTSIDE = Place("outside", "[outside]", None, None, None, ())


class Guest:
    """Code whose every byte begins an instruction but for calls, then read-only data. Addresses
    are own ones, from TEXT on."""
    table = b""  # what the section of its symbols is called

    def __init__(self, rng, names, path, calls=False):
        self.path, self.code, self.symbols = path, b"", []
        if rng.random() < .3:
            self.gap(rng)  # in front of all symbols
        edges = []
        for name in names:
            self.put(rng, name)
            edges.append(TEXT + len(self.code))
            if rng.random() < .4:
                self.gap(rng)
                edges.append(TEXT + len(self.code))
        rng.shuffle(self.symbols)
        self.end = TEXT + len(self.code)
        self.cut(edges[:-1])
        self.tops = [s for s in self.symbols if s.size and s.kind != NOTYPE]
        self.labels = [s for s in self.symbols if s not in self.tops and not (
            s.size == 0 and any(t.at <= s.at < t.at + t.size for t in self.symbols))]
        self.known = {}
        self.returns = list(self.calls(rng)) if calls else []

    def cut(self, edges):
        """Code is of two sections, or one; by what there is, and not by what comes next."""
        rng = random.Random(len(self.code))
        self.second = rng.choice(edges) if edges and rng.random() < .4 else self.end

    def section(self, addr):
        """(begin, end) of the section of code that an address is in."""
        return (TEXT, self.second) if addr < self.second else (self.second, self.end)

    def calls(self, rng):
        """Puts some in functions; gives where they return to, the last one's end perhaps."""
        for s in self.tops:
            at = s.at + s.size - 2 if rng.random() < .3 else s.at + rng.randrange(s.size)
            if s.at <= at < s.at + s.size - 1 and self.place(at) == self.place(at + 1) and \
                    CALL[1:] not in self.code[at - TEXT - 1:at - TEXT + 3] and \
                    CALL[:1] not in self.code[at - TEXT - 1:at - TEXT + 3]:
                self.code = self.code[:at - TEXT] + CALL + self.code[at - TEXT + 2:]
                yield at + len(CALL)

    def gap(self, rng):
        """Padding, then perhaps code, then perhaps padding."""
        self.code += NOP * rng.choice((0, 3, 16)) + PUSH * rng.choice((0, 0, 7, 30)) + \
            rng.choice((NOP, b"\xcc")) * rng.choice((1, 9))

    def put(self, rng, name):
        at, size = TEXT + len(self.code), rng.choice((1, 16, 64, 200, rng.randint(2, 900)))
        what = rng.random()
        if what < .12:
            self.add(name, at, rng.choice((0, size)), NOTYPE, LOCAL)
        elif what < .17:
            self.add(name, at, 0, FUNC, GLOBAL)  # a function without a size is a label
        else:
            bind = rng.choice((GLOBAL, GLOBAL, LOCAL))
            self.add(name, at, size, rng.choice((FUNC, FUNC, IFUNC)), bind)
            plain = "." not in name and not name.startswith("_ZN")
            if plain and rng.random() < .2:
                for more in ("_alias", "_too")[:rng.choice((1, 2))]:
                    self.add(name + more, at, size, FUNC, rng.choice((GLOBAL, WEAK, LOCAL)))
            if plain and size > 8 and rng.random() < .2:
                self.add(name + "_inner", at + 4, rng.randint(1, size - 4), FUNC, LOCAL)
            if plain and size > 2 and rng.random() < .2:
                self.add(name + "_inside", at + 2, 0, NOTYPE, LOCAL)
        self.code += PUSH * size

    def add(self, *symbol):
        self.symbols.append(Symbol(*symbol))

    def data(self):
        return self.elf().build()

    def elf(self):
        elf = forged.Elf(len(self.code))
        elf.data[elf.text:elf.text + len(self.code)] = self.code
        second = 1
        if self.second < self.end:
            size = self.second - TEXT
            elf.sections[1] = (*elf.sections[1][:5], size, *elf.sections[1][6:])
            second = elf.section(elf.name(SECOND.encode()), 1, 6, self.second, elf.text + size,
                                 self.end - self.second)
        at = elf.put(b"r" * RODATA)
        elf.segments.append((1, 4, at, self.end, self.end, RODATA, RODATA, 1))
        elf.section(elf.name(b".rodata"), 1, 2, self.end, at, RODATA)
        self.note(elf)
        names, table = b"\0", bytes(24)
        ordered = sorted(self.symbols, key=lambda s: s.bind != LOCAL)  # as ELF has them
        for s in ordered:
            table += struct.pack("<IBBHQQ", len(names), s.bind << 4 | s.kind, 0,
                                 1 if s.at < self.second else second, s.at, s.size)
            names += s.name.encode() + b"\0"
        strings = elf.section(0, 3, at=elf.put(names), size=len(names))
        elf.section(elf.name(self.table) if self.table else 0, 2, at=elf.put(table),
                    size=len(table), link=strings, entry=24)
        return elf

    def note(self, elf):
        """What else is in the file; here nothing."""

    def names_at(self, symbols):
        """Of symbols of one address, the one that is shown first."""
        order = (GLOBAL, WEAK, LOCAL)
        return sorted(symbols, key=lambda s: (order.index(s.bind), self.symbols.index(s)))

    def place(self, addr):
        if addr not in self.known:
            self.known[addr] = self.look(addr)
        return self.known[addr]

    def covering(self, addr):
        """(kind, the symbols that it is in, all of one address; the end), or None."""
        inside = [s for s in self.tops if s.at <= addr < s.at + s.size]
        if inside:
            best = min(inside, key=lambda s: (-s.at, s.size))
            return "function", [s for s in inside if (s.at, s.size) == (best.at, best.size)], \
                best.at + best.size
        for s in self.labels:
            end = s.at + s.size if s.size else min(
                [t.at for t in self.symbols if t.at > s.at] + [self.section(s.at)[1]])
            if s.at <= addr < end:
                return "label", [s], end
        return None

    def look(self, addr):
        if not TEXT <= addr < self.end + RODATA:
            return OUTSIDE
        if addr >= self.end:
            return Place("data", "[data] .rodata", None, self.end, self.end + RODATA, ())
        found = self.covering(addr)
        if found:
            kind, symbols, end = found
            name, *others = [s.name for s in self.names_at(symbols)]
            return Place(kind, name, name, symbols[0].at, end, tuple(others))
        start = end = addr
        first, last = self.section(addr)
        while start > first and not self.covering(start - 1):
            start -= 1
        while end < last and not self.covering(end):
            end += 1
        return Place("gap", self.gap_name(start, end), None, start, end, ())

    def gap_name(self, start, end):
        first, last = self.section(start)
        if start > first:
            return "__gap__ after " + self.place(start - 1).name
        if end < last:
            return "__gap__ before " + self.place(end).name
        return "__gap__ in " + (".text" if first == TEXT else SECOND)

    def is_filler(self, addr):
        """Is it in the padding at either end of its gap?"""
        place = self.place(addr)
        code = self.code[place.start - TEXT:place.end - TEXT]
        first, last = code.find(PUSH), code.rfind(PUSH)
        return first < 0 or not first <= addr - place.start <= last

    def is_inside(self, addr):
        """Is it in the middle of an instruction? Of calls alone there is any."""
        return self.code[addr - TEXT - 1:addr - TEXT + 1] == CALL

    def before(self, addr):
        """What gaps=stretch credits an address in a gap to."""
        place = self.place(addr)
        return self.place(place.start - 1) if place.start > self.section(addr)[0] else place

    def some(self, rng):
        """An own address, often of an edge."""
        if rng.random() < .3:
            s = rng.choice(self.symbols)
            return min(max(TEXT, s.at + rng.choice((0, -1, s.size - 1, s.size))), self.end - 1)
        return TEXT + rng.randrange(len(self.code) + (RODATA if rng.random() < .2 else 0))


class Recording:
    """One file: its samples, as they stand in it."""

    def __init__(self, rng, number, events, draw, n, lacks=0, returns=()):
        """draw: gives an address of guests. lacks: what its samples do not have. returns: where
        callers may be."""
        self.number, self.events, self.rng, self.returns = number, events, rng, returns
        self.kind = (IDENTIFIER | IP | TID | TIME | CPU | PERIOD) & ~lacks
        if returns:
            self.kind |= CALLCHAIN
        self.every = {event: rng.choice((1, 1000, 50000, 50001, 50002, 250000)) for event in events}
        self.threads = [(rng.choice((70, 71)), 80 + i) for i in range(rng.choice((1, 2, 4, 9)))]
        self.begins, self.samples, self.losses = rng.randrange(10**9, 3 * 10**9), [], []
        self.equal = rng.random() < .5  # periods
        self.shares = [rng.random() for _ in events]
        time = self.begins
        for _ in range(n):
            time += rng.choice((1000, 10**6, rng.randrange(1, 10**7)))
            self.samples.append(self.sample(time, draw))
        if rng.random() < .4:
            self.losses = [rng.randint(1, 1000) for _ in range(rng.randint(1, 3))]
        # When each was: also in front of all samples, between them, long behind them.
        self.lost_at = [rng.choice((self.begins, time, rng.randint(self.begins, time),
                                    time + rng.randrange(10**9), self.begins - 10**8))
                        for _ in self.losses]

    def has(self, bit):
        return bool(self.kind & bit)

    def sample(self, time, draw):
        rng = self.rng
        event = rng.choices(self.events, self.shares)[0]
        mode = rng.choice((GUEST_USER,) * 7 + (forged.GUEST, HOST, KERNEL))
        if event == TRACEPOINT:
            mode = KERNEL
        elif rng.random() < .03:
            mode = rng.choice((0, HYPERVISOR))
        ip = draw() if mode in (forged.GUEST, GUEST_USER) else \
            rng.choice((MAPPED + rng.randrange(0x1000), rng.getrandbits(40) | 1 << 40))
        pid, tid = rng.choice(self.threads)
        period = self.every[event]
        if self.has(PERIOD) and not self.equal:
            period = rng.choice((1, 1000, 250000, rng.randrange(1, 1 << 30)))
        return Sample(self.number, time if self.has(TIME) else None,
                      rng.randrange(3) if self.has(CPU) else None, pid, tid, event, ip, mode,
                      period, self.callers(mode, ip))

    def callers(self, mode, ip):
        rng = self.rng
        if not self.returns or mode not in (forged.GUEST, GUEST_USER) or rng.random() < .1 or \
                ip >= CONTEXTS:
            return None
        return tuple(rng.choices(self.returns, k=rng.randint(0, 5))), rng.random() < .8

    def tail(self, pid, tid, time):
        """What other records end with."""
        parts = [struct.pack("<2I", pid, tid)]
        if self.has(TIME):
            parts.append(struct.pack("<Q", time))
        if self.has(CPU):
            parts.append(bytes(8))
        return b"".join(parts) + struct.pack("<Q", 1)

    def pack(self, s):
        fixed = struct.pack("<2Q2I", 1 + self.events.index(s.event), s.ip, s.pid, s.tid)
        if self.has(TIME):
            fixed += struct.pack("<Q", s.time)
        if self.has(CPU):
            fixed += struct.pack("<2I", s.cpu, 0)
        if self.has(PERIOD):
            fixed += struct.pack("<Q", s.period)
        if self.has(READ):  # a group of one, which is read less what it was before
            self.counted[s.event] = self.counted.get(s.event, 0) + s.period
            fixed += struct.pack("<3Q", 1, self.counted[s.event], 1 + self.events.index(s.event))
        if self.has(CALLCHAIN):
            words = []
            if s.callers:
                words = [CONTEXT_GUEST_USER, s.ip, *s.callers[0], CONTEXT_GUEST,
                         1 << 32 | BY_TABLES << 8 | (WHOLE if s.callers[1] else COPY_ENDS)]
            fixed += struct.pack(f"<{1 + len(words)}Q", len(words), *words)
        if self.has(RAW):
            fixed += struct.pack("<I", len(s.raw)) + s.raw
        return forged.record(SAMPLE, s.mode, fixed)

    def comm(self, tid):
        return f"vcpu{tid}"

    def records(self):
        out, self.counted = b"", {}
        for pid, tid in self.threads:
            out += forged.record(COMM, 0, struct.pack("<2I8s", pid, tid, self.comm(tid).encode()) +
                                 self.tail(pid, tid, self.begins - 1))
        for pid in sorted({pid for pid, _ in self.threads}):
            name = VMM.encode() + bytes(8 - len(VMM) % 8)
            out += forged.record(forged.MMAP2, HOST, struct.pack(
                "<2I3Q2I2Q2I", pid, pid, MAPPED, 0x1000, 0, 8, 1, 1, 0, 5, 2) + name +
                self.tail(pid, pid, self.begins - 1))
        out += b"".join(map(self.pack, self.samples))
        for n, time in zip(self.losses, self.lost_at):
            out += forged.record(LOST, 0, struct.pack("<2Q", 1, n) +
                                 self.tail(*self.threads[0], time))
        return out

    def known(self, event):
        """Its type and config."""
        return {**EVENTS, **TRACEPOINTS}.get(event) or EVENTS[event.partition(":")[0]]

    def features(self):
        """What else the file has."""
        return {}

    def ids(self, i):
        """Of an event: some have one for each of very many CPUs and threads."""
        others = range(1000 * (1 + i), 1000 * (1 + i) + 600 if len(self.samples) % 3 == 1 else 0)
        return struct.pack(f"<{len(others) + 1}Q", *others, 1 + i)

    def described(self):
        """(attributes, the ids of each, features) of its events."""
        attrs, ids, described = [], [], b""
        for i, event in enumerate(self.events):
            attr = bytearray(forged.attr(self.kind, *self.known(event), OF_GROUP * self.has(READ)))
            attr[16:24] = struct.pack("<Q", self.every[event])
            attrs.append(bytes(attr))
            ids.append(self.ids(i))
            described += attrs[-1] + struct.pack("<2I32s", len(ids[-1]) // 8, 32,
                                                 event.encode()) + ids[-1]
        described = struct.pack("<2I", len(attrs), 128) + described
        return attrs, ids, {12: described, **self.features()}

    def data(self):
        return forged.recording(self.records(), *self.described())


class Space:
    """Guests where they lie: (guest, base) each. One that is named at two bases is two images."""

    def __init__(self, bases):
        self.bases = bases

    def words(self):
        return [f"{guest.path}@{base:#x}" for guest, base in self.bases]

    def path(self, image):
        """Of one that is named twice with its base, as it can be named."""
        if image is None:
            return None
        guest, base = self.bases[image]
        twice = [of.path for of, _ in self.bases].count(guest.path) > 1
        return f"{guest.path}@{base:#x}" if twice else guest.path

    def called(self, image):
        """Without folders; of one that is named twice with its base, which text has, too."""
        guest, base = self.bases[image]
        name = os.path.basename(guest.path)
        return f"{name}@{base:#x}" if [os.path.basename(of.path) for of, _ in
                                       self.bases].count(name) > 1 else name

    def place(self, ip):
        """(the image, by its place in bases, the own address, what is there)"""
        for i, (guest, base) in enumerate(self.bases):
            place = guest.place(ip - base + TEXT)
            if place != OUTSIDE:
                return i, ip - base + TEXT, place
        return None, ip, OUTSIDE

    def returns(self):
        """Where calls return to."""
        return [at - TEXT + base for guest, base in self.bases for at in guest.returns]

    def some(self, rng):
        """An address of guests: mostly in an image."""
        if rng.random() < .07:
            return rng.choice((0x10, 0x7fffff0000 + rng.randrange(0x2000), (1 << 64) - 1))
        guest, base = rng.choice(self.bases)
        return base + guest.some(rng) - TEXT


def is_guest(sample):
    return sample.mode in (forged.GUEST, GUEST_USER)


def near(text, number, places):
    """Is it the number, rounded so? None: there is none, as there is no text."""
    if text in ("", None) or number is None:
        return text in ("", None) and number is None
    return abs(float(text) - number) <= .5000001 * 10**-places + 1e-9 * abs(number)


def names_of(rng, n):
    """Of symbols; they are not in the order of their addresses."""
    return [f"{rng.choice('abcdefgh')}_{i}" for i in range(n)]


def write_all(folder, made):
    """The names of the recordings, which are there with their guests' ELFs."""
    files = [f"{i}.data" for i in range(len(made.recordings))]
    guests = [guest.path for guest in made.guests]
    for name, one in zip(guests + files, made.guests + made.recordings):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(one.data())
    return files
