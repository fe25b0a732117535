# SPDX-License-Identifier: GPL-2.0-only
"""Guests that lie at bases that their files state or do not, across each other or apart, and
recordings of who ran them where, with KVM's records of where they began, for base_model.py."""
import random
import struct

import forged
from forged import RAW, TEXT
from made_sandboxes import Vmm
from made_trust import Coded
from modelled import KERNEL, RODATA, Recording, is_guest, names_of

ENTRY, PIO = "kvm:kvm_entry", "kvm:kvm_pio"
FIELDS = {"kvm_entry": (("unsigned int", "vcpu_id", 8, 4), ("unsigned long", "rip", 16, 8)),
          "kvm_pio": (("unsigned int", "rw", 8, 4), ("unsigned int", "port", 12, 4),
                      ("unsigned int", "val", 16, 4))}
HALT, DISPATCH = 0x6c, "dispatch_function"
EXEC, DYN = 2, 3
# Of Hyperlight: the base that each has for an ET_EXEC, and for others; None: none.
VERSIONS = {"": (TEXT, None), "0.12.9": (TEXT, None), "0.13.0": (0x1000, 0x1000),
            "0.16.4": (0x1000, 0x1000), "0.17.0": (0x4000, 0x4000), "0.18.0": (TEXT, 0x4000),
            "1.2.0": (TEXT, 0x4000)}
BASES = (0x1000, 0x4000, 0x5000, 0x6000, 0x40000, 0x41000, 0x7f3a51c26000)


class Lying(Coded):
    """An ELF that may have a version, and an address that it is entered at."""

    def __init__(self, rng, names, path):
        self.kind, self.version = rng.choice((EXEC, DYN)), rng.choice(list(VERSIONS))
        super().__init__(rng, names, path)
        self.entry = rng.choice(self.symbols).at
        at = [s.at for s in self.symbols if s.name == DISPATCH]
        self.dispatch = at[0] if at else None

    def note(self, elf):
        super().note(elf)
        if self.version:
            text = self.version.encode() + b"\0"
            note = struct.pack("<3I12s", 11, len(text), 1, b"Hyperlight") + text
            elf.section(elf.name(b".note.hyperlight"), 7,
                        at=elf.put(note + bytes(-len(note) % 4)), size=len(note))

    def data(self):
        data = super().data()
        return data[:16] + struct.pack("<H", self.kind) + data[18:24] + struct.pack(
            "<Q", self.entry) + data[32:]

    def claim(self):
        """(the base that the file states, what says so), or None."""
        base = VERSIONS[self.version][self.kind == DYN]
        noted = VERSIONS[self.version][1] is not None and not (
            self.kind == EXEC and self.version in ("0.18.0", "1.2.0"))
        if base is None:
            return None
        return base, f"from the Hyperlight note, version {self.version}" if noted else \
            "its own addresses: not a PIE"

    def table_of(self):
        """Of each byte what Finder asks; between the edges of symbols all is one place."""
        if not hasattr(self, "table_made"):
            edges = sorted({TEXT, self.second, self.end} | {
                min(max(at, TEXT), self.end) for s in self.symbols for at in (s.at, s.at + s.size)})
            kinds = []
            for begin, end in zip(edges, edges[1:]):
                place = self.place(begin)
                for at in range(begin, end):
                    self.known[at] = place
                    kinds.append(self.boundary(at))
            self.table_made = kinds + ["data"] * RODATA
        return self.table_made


class Some:
    """Addresses at one base, or of several: so many of each kind, of which some are hot."""

    def __init__(self, rng, guest, base, counts):
        self.rng, self.guest, self.base, self.begins = rng, guest, base, [base]
        kinds = {"on": [], "off": [], "gap": [], "data": []}
        names = {True: "on", False: "off", None: "gap", "data": "data"}
        for i, kind in enumerate(guest.table_of()):
            kinds[names[kind]].append(base + i)
        counts = dict(counts)
        self.at = [0x123400000 + rng.getrandbits(rng.choice((10, 30)))
                   for _ in range(counts.pop("outside", 0))]
        for kind, n in counts.items():
            self.at += rng.sample(kinds[kind], min(n, len(kinds[kind])))
        self.at = self.at or [0x10]
        self.weights = [rng.choice((1, 1, 1, 5, 40)) for _ in self.at]
        if rng.random() < .6:
            self.weights = [1] * len(self.at)

    def join(self, other):
        self.at, self.weights = self.at + other.at, self.weights + other.weights

    def draw(self):
        return self.rng.choices(self.at, self.weights)[0]

    def begin(self):
        """(address, whether it was halted with) of KVM's records: nearly always this guest's."""
        rng, guest = self.rng, self.guest
        own = guest.dispatch if guest.dispatch and rng.random() < .5 else guest.entry
        ip = own - TEXT + rng.choice(self.begins)
        if rng.random() < .1:
            ip += rng.choice((8, -TEXT if ip >= TEXT else TEXT))
        halts = .5 if own == guest.dispatch else .1
        return ip, rng.random() < halts and ip < 1 << 31


def counts_of(rng, is_rich):
    """Of a pool."""
    counts = {"on": rng.choice((6, 20, 40, 90, 150) if is_rich else
                               (0, 2, 3, 6, 8, 11, 12, 13, 20, 40, 90)),
              "data": rng.choice((0, 0, 0, 0, 1, 3))}
    if rng.random() < (.2 if is_rich else .5):
        counts |= {"off": rng.choice((0, 0, 1, 3, 20)), "gap": rng.choice((0, 1, 4)),
                   "outside": rng.choice((0, 0, 0, 1, 20, 40))}
    return counts


class Begun:
    """What a recording of KVM's tracepoints has, too."""
    begun = False

    def known(self, event):
        return {ENTRY: (2, 1), PIO: (2, 2)}.get(event) or super().known(event)

    def features(self):
        return {**super().features(), **({1: forged.formats(tracepoints=FIELDS)}
                                         if self.begun else {})}

    def start(self, ip, is_halt, like, time):
        """A sample of one, of the same task."""
        event = PIO if is_halt else ENTRY
        for name in (ENTRY, PIO):
            if name not in self.events:
                self.events.append(name)
                self.every[name] = 1
        raw = struct.pack("<HHi3I4x", 2, 0, like.tid, 1, HALT, ip) if is_halt else \
            struct.pack("<HHiIIQ4x", 1, 0, like.tid, 0, 0, ip)
        return like._replace(event=event, time=time, ip=0x123 << 40, mode=KERNEL, callers=None,
                             period=1, raw=raw)


class Ran(Begun, Recording):
    """pools: threads draw from one each."""

    def __init__(self, rng, number, events, pools, n, begun):
        super().__init__(rng, number, list(events), lambda: 0, n)
        of = {tid: rng.choice(pools) for _, tid in self.threads}
        self.samples = [s._replace(ip=of[s.tid].draw()) if is_guest(s) else s
                        for s in self.samples]
        self.begun = begun
        if begun:
            self.kind |= RAW
            self.begin(of)

    def begin(self, of):
        """Threads enter guests once or more; of what comes later nothing is known."""
        rng, some = self.rng, []
        for pid, tid in self.threads:
            mine = [s for s in self.samples if s.tid == tid]
            for i in range(rng.choice((0, 1, 1, 3)) if mine else 0):
                ip, is_halt = of[tid].begin()
                time = mine[0].time - 100 if i == 0 else rng.choice(mine).time + 1
                some.append(self.start(ip, is_halt, mine[0], time))
        self.samples = sorted(self.samples + some, key=lambda s: s.time)


class Machines(Begun, Vmm):
    """pools: sandboxes draw from one each."""

    def __init__(self, rng, number, events, pools, n, begun):
        self.begun, self.pools = begun, pools
        super().__init__(rng, number, list(events), [pool.draw for pool in pools], n)

    def put(self, s):
        super().put(s)
        machine = self.current.get(s.tid)
        if self.begun and machine and s.event not in (ENTRY, PIO) and is_guest(s) and \
                self.rng.random() < .2:
            start = self.start(*self.pools[machine.runs].begin(), s, s.time + 1)
            super().put(start)


class Made:
    """Guests, who of them lie where, and recordings; words: what names them."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.kind = rng.choice(("any", "any", "across", "begun", "file", "lost", *["shared"] * 3))
        n = rng.choice({"any": (1, 1, 2, 2, 3), "across": (1, 2, 2, 3), "shared": (2, 2, 3)}.get(
            self.kind, (1, 1, 2)))
        large = self.kind in ("across", "file", "shared")
        self.guests = [self.guest(i, large) for i in range(n)]
        self.ran = self.guests[:n - (n > 1 and self.kind != "shared" and rng.random() < .4)]
        self.sizes, self.begun = (400, 700), rng.random() < .3
        self.pools = list({"any": self.anywhere, "across": self.across, "begun": self.recorded,
                           "file": self.by_file, "lost": self.nowhere,
                           "shared": self.shared}[self.kind]())
        self.first = self.guests[0]
        rng.shuffle(self.guests)
        events = rng.choice((["cpu-clock"], ["cpu-clock", "cycles"]))
        self.recordings = [
            rng.choice((Ran, Ran, Machines))(
                rng, i, events, rng.sample(self.pools, len(self.pools) if large else
                                           rng.randint(1, len(self.pools))),
                rng.choice(self.sizes), self.begun)
            for i in range(rng.choice((1, 1, 2, 3)))]
        self.samples = [s for one in self.recordings for s in one.samples]
        self.claims = [self.claim(guest) for guest in self.guests]

    def guest(self, i, large):
        rng = self.rng
        names = names_of(rng, rng.choice((20, 40) if large else (3, 8, 20, 40)))
        if rng.random() < .6:
            names.insert(rng.randrange(len(names)), DISPATCH)
        return Lying(rng, names, f"guest{i}.elf")

    def some(self, bases, *counts):
        """A pool of one of the guests at one of the bases; counts: one of these."""
        return Some(self.rng, self.rng.choice(self.ran), self.rng.choice(bases),
                    self.rng.choice(counts))

    def anywhere(self):
        rng = self.rng
        near = rng.choice((BASES, BASES, BASES[-3:], BASES[:3], (0x40000, 0x60000, 0x80000)))
        is_rich = rng.random() < .6
        if not is_rich:
            self.sizes = (30, 120, 500)
        for _ in range(rng.choice((1, 1, 2, 3, 5))):
            pool = Some(rng, *self.lies(near), counts_of(rng, is_rich))
            if rng.random() < .15:
                pool.join(Some(rng, *self.lies(near), counts_of(rng, is_rich)))
            yield pool

    def lies(self, bases):
        guest = self.rng.choice(self.ran)
        claim = guest.claim()
        return guest, claim[0] if claim and self.rng.random() < .4 else self.rng.choice(bases)

    def across(self):
        """Many addresses of several, some of two in turn, some elsewhere of all together; and few
        of others."""
        rng, rich = self.rng, {"on": 60}
        for base in rng.sample((0x40000, 0x41000, 0x42000, 0x44000), rng.choice((2, 3))):
            pool = self.some((base,), rich)
            if len(self.ran) > 1 and rng.random() < .7:
                pool.join(self.some((base, base, base + 0x1000), rich, {"on": 30}, {"on": 12},
                                    {"on": 4}, {"on": 30, "off": 3}, {"on": 30, "gap": 4}))
            elif rng.random() < .5:
                pool.join(self.some((0x90000,), {"on": 6}))
            yield pool
        for _ in range(rng.choice((0, 1, 2))):
            yield self.some((0x40000, 0x41000), {"on": 2}, {"on": 3}, {"on": 4}, {"on": 11},
                            {"on": 12}, {"on": 3, "data": 1}, {"on": 5, "gap": 2})

    def recorded(self):
        """Few addresses, or some; and KVM's records of one place or several."""
        rng, self.begun, self.sizes = self.rng, True, (40, 200)
        for _ in range(rng.choice((1, 1, 2, 3))):
            pool = self.some(BASES, {"on": 4}, {"on": 4}, {"on": 40})
            pool.begins = rng.sample(BASES, rng.choice((1, 1, 2, 3)))
            if rng.random() < .5:
                pool.begins.append(pool.base)
            yield pool

    def by_file(self):
        """Where the file has it, or elsewhere, or both; and nearly so."""
        rng, guest = self.rng, self.rng.choice(self.ran)
        claim = guest.claim()
        counts = ({"on": 60}, {"on": 60}, {"on": 25}, {"on": 60, "off": 1}, {"on": 6},
                  {"on": 60, "off": 20}, {"on": 20, "off": 40}, {"on": 40, "gap": 5})
        for base in rng.sample((claim[0] if claim else 0x4000, 0x60000, 0x61000, 0x70000, 0x5000),
                               rng.choice((1, 2, 2, 3))):
            yield Some(rng, guest, base, rng.choice(counts))

    def nowhere(self):
        """Just so many addresses that no base is expected, or is."""
        self.sizes = (500,)
        yield self.some(BASES, *({"outside": n} for n in (19, 20, 20, 21)), {"on": 12, "off": 8},
                        {"off": 20}, {"off": 21, "outside": 30})

    def shared(self):
        """The first is stated, and run beside others that lie across each other, or it; by some
        with what nobody knows."""
        rng, self.base = self.rng, self.rng.choice((0x4000, 0x3f000, *[0x40000] * 4))
        for _ in range(rng.choice((2, 3, 4))):
            base = rng.choice((self.base, 0x40000, 0x41000, 0x42000, 0x90000))
            own = Some(rng, rng.choice(self.ran[1:]), base, {"on": rng.choice((2, 5, 60, 60, 60)),
                                                             "data": rng.choice((0, 0, 0, 2))})
            if abs(base - self.base) > 0x2000 or rng.random() < .1:
                own.join(Some(rng, self.ran[0], self.base, {
                    "on": rng.choice((0, 2, 4, 30, 60)), "off": rng.choice((0, 0, 0, 1, 20)),
                    "outside": rng.choice((0, 0, 0, 1, 20))}))
            yield own

    def claim(self, guest):
        """(how it is named, the base that is stated and what states it, or None)"""
        kind = self.rng.choice(("file", "file", "auto", "stated"))
        if self.kind in ("across", "file") and guest in self.ran:
            kind = "auto" if self.kind == "across" else "file"
        if self.kind == "shared" and guest is self.first:
            return f"{guest.path}@{self.base:#x}", (self.base, "stated")
        if kind == "auto" or self.kind == "shared":
            return guest.path + "@auto", None
        if kind == "stated":
            base = self.rng.choice([pool.base for pool in self.pools] + [0x9000])
            return f"{guest.path}@{base:#x}", (base, "stated")
        return guest.path, guest.claim()
