# SPDX-License-Identifier: GPL-2.0-only
"""Guests whose instructions have many lengths, and recordings that fit them more or less, for
trust_model.py: as many addresses on instructions, between, in padding, in data and outside as
a seed says, of this build of the guest or of another."""
import collections
import itertools
import json
import os
import random
import struct
import zlib

import forged
from code_crc import code_crc
from forged import TEXT
from modelled import OUTSIDE, RODATA, Guest, Place, Recording, Space, names_of

# A whole instruction each, but for what stands behind its first bytes.
INSNS = {1: b"\x50", 2: b"\x89\xc8", 3: b"\x48\x89\xc8", 4: b"\x48\x83\xc0", 5: b"\xb8",
         6: b"\x81\xc1", 7: b"\x48\xc7\xc0", 8: b"\x48\x8b\x84\x24", 10: b"\x48\xb8"}
BRANCH, CALL, NONE = b"\x74", b"\xe8", b"\x06"  # jz, call; what is none in 64 bits
MAPPED_AT = 0x7000000  # where the perf map's code lies
BASES = (0x10000, 0x200000, 0x40008000)
INTERP = 3
MMAP_BUILD_ID = 1 << 14  # PERF_RECORD_MISC_
BUILD_IDS = [bytes([65 + i]) * 20 for i in range(4)]

# Of a guest that record noted: its file, and what it is known by.
Note = collections.namedtuple("Note", "file build_id size crc code", defaults=(None,) * 3)

Flow = collections.namedtuple("Flow", "target next is_call")


class Coded(Guest):
    """own addresses: starts, of instructions; bad, of bytes that are none."""

    def __init__(self, rng, names, path, build_id=None):
        self.starts, self.bad, self.flows, self.build_id = set(), set(), {}, build_id
        super().__init__(rng, names, path)
        self.densities = {}

    def gap(self, rng):
        before = len(self.code)
        super().gap(rng)
        self.starts |= {TEXT + at for at in range(before, len(self.code))}

    def put(self, rng, name):
        """Symbols inside of this one begin and end between instructions; what is none stands
        behind them."""
        at, n = len(self.code), len(self.symbols)
        super().put(rng, name)
        size = len(self.code) - at
        edges = {0, size}
        for s in self.symbols[n:]:
            edges |= {s.at - TEXT - at, min(size, s.at + s.size - TEXT - at)}
        code = b""
        for begin, end in itertools.pairwise(sorted(edges)):
            code += self.filled(rng, TEXT + at + begin, end - begin)
        if size - max(edges - {size}) > 8 and rng.random() < .15:
            bad = rng.choice([i for i in range(max(edges - {size}), size)
                              if TEXT + at + i in self.starts])
            self.bad.add(TEXT + at + bad)
            self.flows = {i: flow for i, flow in self.flows.items() if i < TEXT + at + bad}
            code = code[:bad] + NONE * (size - bad)
        self.code = self.code[:at] + code

    def filled(self, rng, at, size):
        code = b""
        while len(code) < size:
            here, left = at + len(code), size - len(code)
            self.starts.add(here)
            if left >= 5 and rng.random() < .15:
                by = rng.choice((rng.randint(-60, 60), rng.randint(-60, 60), 0))
                is_call = rng.random() < .5
                one = CALL + struct.pack("<i", by) if is_call else BRANCH + struct.pack("<b", by)
                self.flows[here] = Flow(here + len(one) + by, here + len(one), is_call)
            else:
                length = rng.choice([n for n in INSNS if n <= left])
                one = INSNS[length] + rng.randbytes(length - len(INSNS[length]))
            code += one
        return code

    def boundary(self, addr):
        """Does an instruction begin there? None: nothing is known."""
        place = self.place(addr)
        if place.kind == "data":
            return False
        if place.kind not in ("function", "label") or \
                any(place.start <= bad <= addr for bad in self.bad):
            return None
        return addr in self.starts

    def owned(self, place):
        return [at for at in range(place.start, place.end) if self.place(at) == place]

    def density(self, place):
        """Instructions for each byte of what is known of it."""
        if place not in self.densities:
            known = [is_on for is_on in map(self.boundary, self.owned(place)) if is_on is not None]
            self.densities[place] = sum(known) / len(known)
        return self.densities[place]

    def late(self, place, reach):
        """Instructions of it within reach behind where control comes in; those of functions
        inside of it are on the way."""
        insns = [at for at in range(place.start, place.end) if self.boundary(at)]
        doors = {place.start}
        for at in insns:
            flow = self.flows.get(at)
            if flow and flow.is_call:
                doors.add(flow.next)
            elif flow and place.start <= flow.target < place.end:
                doors.add(flow.target)
        return {at for i, at in enumerate(insns)
                if any(near in doors for near in insns[max(0, i - reach + 1):i + 1])}

    def note(self, elf):
        if self.build_id:
            note = struct.pack("<3I4s", 4, len(self.build_id), 3, b"GNU\0") + self.build_id
            elf.section(elf.name(b".note.gnu.build-id"), 7, at=elf.put(note), size=len(note))


    def inner(self):
        """The bytes of the guest's own ELF."""
        return self.data()


class Hosted(Coded):
    """A Hyperlight guest inside of its host, which has the name that is given."""

    def note(self, elf):
        super().note(elf)
        note = struct.pack("<3I12s8s", 11, 7, 1, b"Hyperlight", b"0.13.0")
        elf.section(elf.name(b".note.hyperlight"), 7, at=elf.put(note), size=len(note))

    def inner(self):
        return super().data()

    def data(self):
        host = forged.Elf()
        host.segments.append((INTERP, 4, host.put(b"/ld.so\0"), 0, 0, 7, 7, 1))
        return host.build() + self.inner()


class Moved(Coded):
    """ET_DYN: no address is its own."""

    def data(self):
        data = super().data()
        return data[:16] + struct.pack("<H", 3) + data[18:]


class Map:
    """A perf map, which no instruction is known of."""
    path, build_id = "perf.map", None

    def __init__(self, rng):
        self.sizes = [rng.randint(1, 90) for _ in range(rng.randint(1, 4))]

    def place(self, addr):
        at = MAPPED_AT
        for i, size in enumerate(self.sizes):
            if at <= addr < at + size:
                return Place("function", f"jit_{i}", f"jit_{i}", at, at + size, ())
            at += size
        return OUTSIDE

    def boundary(self, addr):
        return None

    def data(self):
        at, out = MAPPED_AT, ""
        for i, size in enumerate(self.sizes):
            out += f"{at:x} {size:x} jit_{i}\n"
            at += size
        return out.encode()


class Placed(Space):
    """Images, some of them at several bases; stated: their words have the base."""

    def __init__(self, bases, stated=True):
        super().__init__(bases)
        self.stated = stated

    def words(self):
        return ["map:" + of.path if isinstance(of, Map) else
                f"{of.path}@{base:#x}" if self.stated else of.path for of, base in self.bases]


class Pool:
    """Addresses of one guest at a base, so many of each kind; hot ones are drawn often."""

    def __init__(self, rng, guest, base, counts):
        kinds = collections.defaultdict(list)
        for addr in range(TEXT, guest.end + RODATA):
            kinds[self.kind(guest, addr)].append(addr - TEXT + base)
        self.at = []
        for kind, n in counts.items():
            if kind == "outside":
                self.at += [0x123400000 + rng.getrandbits(20) for _ in range(n)]
            else:
                self.at += rng.sample(kinds[kind], min(n, len(kinds[kind])))
        self.at = self.at or [0x10]
        self.weights = [rng.choice((1, 1, 1, 5, 40, 200)) for _ in self.at]
        if rng.random() < .4:
            self.weights = [1] * len(self.at)

    def add(self, rng, guest, base):
        """The same guest at another base."""
        other = Pool(rng, guest, base, {"on": rng.choice((3, 30, 90))})
        self.at, self.weights = self.at + other.at, self.weights + other.weights

    def add_map(self, bases, rng):
        """Some of the addresses are of code that nothing is known of."""
        bases.append((Map(rng), TEXT))
        more = [MAPPED_AT + i for i in range(rng.choice((1, 20)))]
        self.at, self.weights = self.at + more, self.weights + [1] * len(more)

    @staticmethod
    def kind(guest, addr):
        place = guest.place(addr)
        if place.kind == "gap":
            return "padding" if guest.is_filler(addr) else "unlabelled"
        if place.kind == "data":
            return "data"
        return {True: "on", False: "off", None: "unknown"}[guest.boundary(addr)]

    def draw(self, rng):
        return rng.choices(self.at, self.weights)[0]


def counts_of(rng):
    """Often just what the rule counts to, or none of a kind."""
    on = rng.choice((0, 1, 3, 8, 11, 12, 13, 20, 60, 150, 400))
    if rng.random() < .4:  # nearly all is well
        return {"on": on or 90, "off": rng.choice((0, 0, 0, 1)), "outside": rng.choice((0, 0, 40)),
                "padding": rng.choice((0, 0, 0, 0, 1, 6)), "unlabelled": 1}
    off = rng.choice((0, 0, 0, 0, 1, 2, 5, 12, 40)) if rng.random() < .8 else on // 2
    return {"on": on, "off": off, "padding": rng.choice((0, 0, 0, 1, 3)),
            "unlabelled": rng.choice((0, 0, 2)), "data": rng.choice((0, 0, 0, 1, 5)),
            "unknown": rng.choice((0, 0, 3)), "outside": rng.choice((0, 0, 5, 29, 30, 31, 60))}


class Fitted(Recording):
    """pools: one for each thread. builds: (file, build id) that it maps. noted: guests; others:
    what may have run, too."""

    def __init__(self, rng, number, events, pools, n, builds, noted):
        self.builds, self.noted, self.others = builds, noted, []
        super().__init__(rng, number, events, lambda: 0, n)
        of = {tid: rng.choice(pools) for _, tid in self.threads}
        self.samples = [s if s.ip else s._replace(ip=of[s.tid].draw(rng)) for s in self.samples]

    def records(self):
        out = b""
        for file, build_id in self.builds:
            name = b"/elsewhere/" + file.encode()
            fixed = struct.pack("<2I3QB3x20s2I", 70, 70, 0x7f0000000000, 0x1000, 0, 20, build_id,
                                1, 2)
            out += forged.record(forged.MMAP2, forged.HOST | MMAP_BUILD_ID, fixed + name + bytes(
                8 - len(name) % 8) + self.tail(70, 70, self.begins - 1))
        return out + super().records()


class Grown:
    """Of another build of a guest: from a guest address on all has moved by so much."""

    def __init__(self, rng, guest, base):
        self.guest = guest
        s = rng.choice(guest.tops or guest.symbols)
        self.at, self.by, self.sure = s.at - TEXT + base, rng.choice((3, 16, 37, 144)), 100

    def __repr__(self):
        return f"{self.guest.path} by {self.by} from {self.at:#x} on"

    def move(self, pool):
        pool.at = [at + self.by if at >= self.at else at for at in pool.at]


class Made:
    """Guests where they are said to lie, and recordings of where they do."""

    def __init__(self, rng):
        self.rng, self.grown = rng, None
        self.kind = rng.choice(("stated", "stated", "stated", "exec", "dyn"))
        one = self.kind != "stated"
        ids = rng.sample(BUILD_IDS, 2) if rng.random() < .5 else [None, None]
        if ids[0] and rng.random() < .3:  # which recordings cut
            ids = [build_id + bytes(range(12)) for build_id in ids]
        self.guests = [(Moved if self.kind == "dyn" else Coded if one or rng.random() < .5 else
                        Hosted)(
            rng, names_of(rng, rng.randint(1, 7)), f"guest{i}.elf", ids[i])
            for i in range(1 if one else rng.choice((1, 1, 2)))]
        bases = [(guest, rng.choice(BASES) + i * 0x8000) for i, guest in enumerate(self.guests)]
        if one and rng.random() < .3:
            bases[0] = self.guests[0], TEXT
        self.lies_at = bases[0][1]
        pools = [Pool(rng, *rng.choice(bases), counts_of(rng))
                 for _ in range(rng.choice((1, 1, 2, 3)))]
        what = rng.random() if not one else 1
        if what < .15:
            pools[0].add_map(bases, rng)
        elif what < .3:  # elsewhere than is stated
            bases[0] = bases[0][0], bases[0][1] + 0x100000
        elif what < .5 and len(bases) == 1:
            pools[0].add(rng, bases[0][0], bases[0][1] + 0x300000)
        elif what < .7 and len(bases) == 1:
            self.grown = Grown(rng, *bases[0])
            for pool in pools:
                self.grown.move(pool)
        self.guests, self.space = [of for of, _ in bases], Placed(bases, not one)
        events = rng.choice((["cpu-clock"], ["cycles"], ["cpu-clock", "cycles"]))
        n = rng.choice((5, 40, 150, 500, 1000))
        self.recordings = [Fitted(rng, i, events, pools, n if i == 0 else rng.randint(1, 300),
                                  self.builds_of(rng), self.noted(rng))
                           for i in range(rng.choice((1, 1, 2, 3)))]
        own = random.Random()
        own.setstate(rng.getstate())
        elfs = [(of, base) for of, base in bases if not isinstance(of, Map)]
        if len(elfs) == 2 and own.random() < .5:
            self.leave(own, *own.sample(elfs, 2))
        for one in self.recordings:
            if one.noted and own.random() < .4:
                other = self.note_of(own.choice(elfs)[0])
                one.others = [own.choice((other, other._replace(crc=1, code=1)))]
        self.samples = [s for one in self.recordings for s in one.samples]

    def leave(self, rng, here, gone):
        """Of two guests one runs, and another that is not named in the place of the second: of
        that is no sample, unless it is another recording's."""
        other = rng.choice((here, gone))[0]
        for one in self.recordings:
            if rng.random() < .2:
                continue
            one.builds = [build for build in one.builds if build[0] != gone[0].path]
            one.noted = [self.note_of(here[0])] + rng.choice((
                [], *[[self.note_of(other)._replace(file="third.elf", crc=1, code=1)]] * 4))
            one.samples = [s._replace(ip=s.ip + rng.choice((0x12340000, 0x12348000)))
                           if 0 <= s.ip - gone[1] < 0x8000 else s for s in one.samples]

    @staticmethod
    def note_of(guest):
        data = guest.inner()
        return Note(guest.path, guest.build_id, len(data), zlib.crc32(data), code_crc(data))

    def builds_of(self, rng):
        """What a recording maps; of most nothing that tells."""
        out = []
        for guest in self.guests:
            hosted = isinstance(guest, Hosted)
            if guest.build_id and (hosted or rng.random() < .5):
                mine = (guest.build_id[:20],) * (1 if hosted else 8)
                out.append((guest.path, rng.choice(mine + tuple(BUILD_IDS))))
            elif rng.random() < .15:
                out.append((guest.path, rng.choice(BUILD_IDS)))
        if rng.random() < .1:
            out.append(("vmm", rng.choice(BUILD_IDS)))
        return out

    def noted(self, rng):
        """What record noted beside; of most nothing."""
        out = []
        for guest in self.guests:
            if rng.random() > (.8 if isinstance(guest, Hosted) else .2):
                continue
            if isinstance(guest, Map):
                continue
            same = self.note_of(guest)
            other = same._replace(crc=1, code=rng.choice((1, None)))
            named = same
            if guest.build_id:
                other = other._replace(build_id=rng.choice((guest.build_id, *BUILD_IDS)))
                named = same._replace(build_id=rng.choice(BUILD_IDS))
            out += rng.choice(([same], [same], [same._replace(crc=1)], [named], [other],
                               [same, other], [other._replace(file="third.elf")]))
        return out


def write_notes(folder, files, recordings):
    """Beside the recordings, as record does."""
    for name, one in zip(files, recordings):
        path = os.path.join(folder, name)
        if os.path.exists(path + ".hlguest"):
            os.remove(path + ".hlguest")
        if not one.noted:
            continue
        guests, others = ([{"file": "/elsewhere/" + n.file, "inside": "0x0", "size": n.size,
                            "build_id": n.build_id and n.build_id.hex(), "crc32": hex(n.crc)} | (
                                {} if n.code is None else {"code_crc32": hex(n.code)})
                           for n in notes] for notes in (one.noted, one.others))
        document = {"hlguest": "0", "format": 1, "recording": {
            "size": os.path.getsize(path), "first_sample": one.samples[0].time}, "guests": guests}
        if others:
            document["others"] = others
        with open(path + ".hlguest", "w", encoding="ascii") as f:
            json.dump(document, f)
