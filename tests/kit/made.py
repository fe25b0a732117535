# SPDX-License-Identifier: GPL-2.0-only
"""Recordings that nobody made but perf reads: make(seed) gives the bytes of one.

Any mix of what a sample can hold, one to four events with ids of their own, processes
with threads, names and mappings that come and go, records of no interest here and there,
several CPUs, whose buffers are written round by round, some compressed; in file or in pipe
mode. The layout is that of perf_event_open(2) and perf.data-file-format.txt.
"""
import random
import struct

import extras

# PERF_SAMPLE_: a name, its bit
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, REGS_USER, \
    STACK, WEIGHT, SRC, IDENTIFIER, TXN, REGS_INTR, PHYS = (1 << i for i in range(20))
CGROUP, DATA_PAGE, CODE_PAGE = 1 << 21, 1 << 22, 1 << 23
OFTEN = (ADDR, CALLCHAIN, CPU, PERIOD, WEIGHT, RAW)
SELDOM = (ID, STREAM, READ, BRANCH, REGS_USER, STACK, SRC, TXN, REGS_INTR, PHYS, CGROUP,
          DATA_PAGE, CODE_PAGE)
GROUP, COUNT_LOST = 8, 16  # PERF_FORMAT_
SAMPLE_ID_ALL = 1 << 18
CPUS = 4
ATTR = 128      # bytes: PERF_ATTR_SIZE_VER7, of Linux 5.13; see as_by
NAMES = (("cpu-clock", 1, 0), ("task-clock", 1, 1), ("page-faults", 1, 2),
         ("cycles:G", 0, 0), ("my event", 1, 3))
COMM, EXIT, THROTTLE, FORK, SAMPLE, MMAP, MMAP2, LOST, LOST_SAMPLES, SWITCH = \
    3, 4, 5, 7, 9, 1, 10, 2, 13, 14
USER, GUEST_KERNEL, GUEST_USER = 2, 4, 5
BUILD_ID = 1 << 14
FINISHED_ROUND = struct.pack("<IHH", 68, 0, 8)


def as_by(version):
    """Attributes of the size of that perf ("perf version 7.2.13"): what it calls an event
    that has no name goes by that."""
    global ATTR
    ATTR = 144 if int(version.split()[-1].split(".")[0]) >= 7 else 128


def text(what):
    return what.encode() + bytes(8 - len(what) % 8)


class Event:
    def __init__(self, number, kind, rng):
        self.name, self.type, self.config = NAMES[number]
        self.kind, self.ids = kind, [100 * (number + 1) + i for i in range(rng.randint(1, CPUS))]
        self.period = rng.choice((1, 4000, 250000))
        self.freq = rng.random() < .3
        self.read_format = 0
        self.hw_index = rng.random() < .5
        self.value = dict.fromkeys(self.ids, 0)
        self.id_all = True

    def attr(self):
        return struct.pack("<IIQQQQQIIQQQQIiQIHHIIQ", self.type, ATTR, self.config,
                           self.period, self.kind, self.read_format,
                           (SAMPLE_ID_ALL if self.id_all else 0) | self.freq << 10, 0, 0,
                           0, 0, 1 << 17 if self.hw_index else 0,
                           0xff if self.kind & REGS_USER else 0,
                           256 if self.kind & STACK else 0, 0,
                           7 if self.kind & REGS_INTR else 0, 0, 0, 0, 0, 0,
                           0).ljust(ATTR, b"\0")


def sample_id(event, chosen, pid, tid, time, cpu):
    """What other records end with."""
    if not event.id_all:
        return b""
    out = b""
    if event.kind & TID:
        out += struct.pack("<II", pid, tid)
    if event.kind & TIME:
        out += struct.pack("<Q", time)
    for bit in (ID, STREAM):
        if event.kind & bit:
            out += struct.pack("<Q", chosen)
    if event.kind & CPU:
        out += struct.pack("<II", cpu, 0)
    return out + (struct.pack("<Q", chosen) if event.kind & IDENTIFIER else b"")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


class Maker:
    def __init__(self, seed, lossy=True):
        self.rng, self.lossy = random.Random(seed), lossy
        self.make_events()
        self.leader = self.events[0]
        self.now = 10 ** 9
        self.zip = extras.Zip(self.rng)
        self.piped = self.rng.random() < .25
        self.tasks = {pid: [pid] for pid in (101, 202, 303)}
        self.next_tid = 1000

    def make_events(self):
        rng = self.rng
        count = rng.choice((1, 1, 2, 3, 4))
        common = IP | TID | (TIME if rng.random() < .9 else 0)
        if count > 1 or rng.random() < .5:
            common |= rng.choice((IDENTIFIER, ID, IDENTIFIER | ID))
        same = self.draw()
        if not common & IDENTIFIER or rng.random() < .5:
            kinds = [common | same] * count
        else:  # where an id stands then is no question
            kinds = [common | self.draw() & ~READ for _ in range(count)]
        numbers = rng.sample(range(len(NAMES)), count)
        self.events = [Event(n, kind, rng) for n, kind in zip(numbers, kinds)]
        reads = 4 | rng.choice((0, 1, 2, 3)) | (GROUP if rng.random() < .5 else 0) | \
            (COUNT_LOST if rng.random() < .2 else 0)
        for event in self.events:
            if event.kind & READ:
                event.read_format = reads
                event.ids = [event.ids[0] + i for i in range(CPUS)]
                event.value = dict.fromkeys(event.ids, 0)
            event.id_all = bool(self.events[0].kind & TIME) or rng.random() < .7
        for event in self.events:
            event.id_all = self.events[0].id_all

    def draw(self):
        rng = self.rng
        return sum(bit for bit in OFTEN if rng.random() < .5) | \
            sum(bit for bit in SELDOM if rng.random() < .15)

    def someone(self):
        pid = self.rng.choice(list(self.tasks))
        return pid, self.rng.choice(self.tasks[pid])

    def read(self, event, cpu):
        """The counter, or those of the whole group."""
        times = b"".join(struct.pack("<Q", self.now) for bit in (1, 2)
                         if event.read_format & bit)
        members = self.events if event.read_format & GROUP else [event]
        counts = []
        for member in members:
            chosen = member.ids[cpu]
            member.value[chosen] += self.rng.randint(1, 10 ** 6)
            counts.append(struct.pack("<QQ", member.value[chosen], chosen) +
                          (bytes(8) if event.read_format & COUNT_LOST else b""))
        if event.read_format & GROUP:
            return struct.pack("<Q", len(counts)) + times + b"".join(counts)
        return counts[0][:8] + times + counts[0][8:]

    def chain(self):
        rng = self.rng
        ips = [rng.choice((2 ** 64 - 128, 2 ** 64 - 512, 2 ** 64 - 2048 - 512)),
               *(rng.getrandbits(40) for _ in range(rng.randint(0, 5)))]
        return struct.pack(f"<Q{len(ips)}Q", len(ips), *ips)

    def sample(self, cpu):
        rng = self.rng
        event = rng.choice(self.events)
        if event.read_format & GROUP:
            event = self.leader
        # A counter that is read has one buffer.
        chosen = event.ids[cpu % len(event.ids)] if event.kind & READ else \
            rng.choice(event.ids)
        pid, tid = self.someone()
        mode = rng.choice((USER, USER, GUEST_KERNEL, GUEST_USER) if rng.random() < .9 else
                          (0, 1, 3, 6, 7))
        ip = rng.choice((0x400000 + rng.getrandbits(14), rng.getrandbits(44)))
        kind, parts = event.kind, []

        def put(bit, layout, *values):
            if kind & bit:
                parts.append(struct.pack(layout, *values))

        put(IDENTIFIER, "<Q", chosen)
        put(IP, "<Q", ip)
        put(TID, "<II", pid, tid)
        put(TIME, "<Q", self.now)
        put(ADDR, "<Q", rng.getrandbits(48))
        put(ID, "<Q", chosen)
        put(STREAM, "<Q", chosen)
        put(CPU, "<II", cpu, 0)
        put(PERIOD, "<Q", rng.choice((1, 250000, rng.getrandbits(40) + 1)))
        if kind & READ:
            parts.append(self.read(event, cpu))
        if kind & CALLCHAIN:
            parts.append(self.chain())
        if kind & RAW:
            size = 4 + 8 * rng.randint(0, 4)
            parts.append(struct.pack("<I", size) + rng.randbytes(size))
        if kind & BRANCH:
            entries = rng.randint(0, 3)
            parts.append(struct.pack("<Q", entries) +
                         (struct.pack("<Q", 2 ** 64 - 1) if event.hw_index else b"") +
                         rng.randbytes(24 * entries))
        if kind & REGS_USER:
            parts.append(struct.pack("<Q", 2) + rng.randbytes(64) if rng.random() < .8
                         else bytes(8))
        if kind & STACK:
            parts.append(rng.choice((bytes(8), struct.pack("<Q", 256) + rng.randbytes(256) +
                                     struct.pack("<Q", 128))))
        put(WEIGHT, "<Q", rng.getrandbits(32))
        put(SRC, "<Q", 0x68100142)
        put(TXN, "<Q", 1)
        if kind & REGS_INTR:
            parts.append(struct.pack("<Q", 2) + rng.randbytes(24))
        put(PHYS, "<Q", rng.getrandbits(40))
        put(CGROUP, "<Q", 1)
        put(DATA_PAGE, "<Q", 4096)
        put(CODE_PAGE, "<Q", 4096)
        return record(SAMPLE, mode, b"".join(parts))

    def other(self, kind, misc, body, pid, tid, cpu):
        return record(kind, misc, body + sample_id(self.leader, self.leader.ids[0], pid,
                                                   tid, self.now, cpu))

    def mapping(self, pid, tid, cpu):
        rng = self.rng
        start = rng.choice((0x400000, 0x401000, 0x400000 + (rng.getrandbits(3) << 12)))
        size, name = rng.choice((0x1000, 0x4000)), f"/nowhere/lib{rng.randint(0, 5)}.so"
        if rng.random() < .5:
            return self.other(MMAP, USER, struct.pack("<IIQQQ", pid, tid, start, size, 0) +
                              text(name), pid, tid, cpu)
        known = rng.random() < .4
        what = struct.pack("<Bxxx20s", 20, rng.randbytes(20)) if known else \
            struct.pack("<IIQQ", 8, 1, rng.randint(1, 9), 0)
        return self.other(MMAP2, USER | BUILD_ID * known, struct.pack(
            "<IIQQQ", pid, tid, start, size, 0) + what + struct.pack("<II", 5, 2) +
            text(name), pid, tid, cpu)

    def born(self, cpu):
        pid, tid = self.someone()
        self.next_tid += 1
        child = self.next_tid
        to = pid if self.rng.random() < .6 else child
        self.tasks.setdefault(to, []).append(child)
        return self.other(FORK, 0, struct.pack("<IIIIQ", to, pid, child, tid, self.now),
                          to, child, cpu)

    def dead(self, cpu):
        pid, tid = self.someone()
        if tid == pid:
            return b""
        self.tasks[pid].remove(tid)
        return self.other(EXIT, 0, struct.pack("<IIIIQ", pid, pid, tid, tid, self.now),
                          pid, tid, cpu)

    def any(self, cpu):
        rng, (pid, tid) = self.rng, self.someone()
        what = rng.random()
        if what < .75 or (.90 <= what < .97 and not self.lossy):
            return self.sample(cpu)
        if what < .80:
            return self.mapping(pid, pid, cpu)
        if what < .84:
            return self.other(COMM, 0x2000 * rng.randint(0, 1), struct.pack(
                "<II", pid, tid) + text(f"name{rng.randint(0, 20)}"), pid, tid, cpu)
        if what < .88:
            return self.born(cpu)
        if what < .90:
            return self.dead(cpu)
        if what < .93:
            return self.other(LOST, 0, struct.pack("<QQ", self.leader.ids[0],
                                                   rng.randint(1, 9)), pid, tid, cpu)
        if what < .95:
            return self.other(LOST_SAMPLES, 0, struct.pack("<Q", rng.randint(1, 9)), pid,
                              tid, cpu)
        if what < .97:
            return self.other(THROTTLE, 0, struct.pack("<QQQ", self.now, self.leader.ids[0],
                                                       1), pid, tid, cpu)
        if rng.random() < .5:
            kind, misc, body = extras.draw(rng, pid, tid, self.now, self.leader.ids[0])
            return self.other(kind, misc, body, pid, tid, cpu)
        return self.other(SWITCH, 0x2000 * rng.randint(0, 1), b"", pid, tid, cpu)

    def records(self):
        rng, out = self.rng, []
        for pid in self.tasks:
            out.append(self.other(COMM, 0, struct.pack("<II", pid, pid) +
                                  text(f"task{pid}"), pid, pid, 0))
            out.append(self.mapping(pid, pid, 0))
        ordered = self.leader.kind & TIME
        # As clocks of CPUs that differ; but what counters tell goes up with time.
        back = rng.random() < .1 and self.lossy and not any(e.kind & READ for e in self.events)
        cpus = rng.randint(1, CPUS) if ordered else 1
        for _ in range(rng.randint(1, 6)):
            buffers = [[] for _ in range(cpus)]
            for _ in range(rng.randint(0, 60)):
                cpu = rng.randrange(cpus)
                self.now += rng.choice((1, 1000, 10 ** 6) if not back else
                                       (1000, 10 ** 6, -rng.randint(0, 10 ** 6)))
                buffers[cpu].append(self.any(cpu))
            for buffer in buffers:
                out.append(self.zip.records(b"".join(buffer)))
                if self.zip.newer:
                    out.append(extras.unknown(rng.getstate()))
            if rng.random() < .1 and self.lossy:
                out.append(extras.aside(rng, self.piped))
            if ordered:
                out.append(FINISHED_ROUND)
        return b"".join(out)

    def desc(self):
        out = struct.pack("<II", len(self.events), ATTR)
        for event in self.events:
            out += event.attr() + struct.pack("<II", len(event.ids), 64)
            out += event.name.encode().ljust(64, b"\0")
            out += struct.pack(f"<{len(event.ids)}Q", *event.ids)
        return out

    def file(self):
        records, ids, attrs = self.records(), b"", b""
        for event in self.events:
            attrs += event.attr() + struct.pack("<QQ", 104 + len(ids), 8 * len(event.ids))
            ids += struct.pack(f"<{len(event.ids)}Q", *event.ids)
        at = 104 + len(ids)
        data = at + len(attrs)
        features = {12: self.desc(), **self.zip.feature()}
        end, table, contents = data + len(records) + 16 * len(features), b"", b""
        for bit in sorted(features):
            table += struct.pack("<QQ", end + len(contents), len(features[bit]))
            contents += features[bit]
        return struct.pack("<8s12Q", b"PERFILE2", 104, ATTR + 16, at, len(attrs), data,
                           len(records), 0, 0, sum(1 << bit for bit in features), 0, 0,
                           0) + ids + attrs + records + table + contents

    def pipe(self):
        """Without names: perf 6.1 overlooks those in a pipe where it had asked before."""
        out = struct.pack("<8sQ", b"PERFILE2", 16)
        for event in self.events:
            out += record(64, 0, event.attr() + struct.pack(f"<{len(event.ids)}Q",
                                                            *event.ids))
        for bit, contents in self.zip.feature().items():
            out += record(80, 0, struct.pack("<Q", bit) + contents)
        return out + self.records()


def make(seed, lossy=True, newer=False):
    """Without records of loss and throttling, and in the order of time, if not lossy: a filter in
    perf sees none of these, and all in order.
    newer: the same by perf 6.15 of a kernel yet to come, which perf 6.1 does not read."""
    maker = Maker(seed, lossy)
    maker.zip.newer = newer
    return maker.pipe() if maker.piped else maker.file()


def cut(seed):
    """(cut, mended): a recording that ends anywhere, and what perf reads of its whole
    records; or None where that is no file, or perf would need what was cut off."""
    maker = Maker(seed)
    if maker.piped or maker.zip.used:
        return None
    data = maker.file()
    start, size = struct.unpack_from("<QQ", data, 40)
    end = maker.rng.randint(start, start + size)
    whole = at = start
    while at + 8 <= end:
        whole = at
        kind, _, length = struct.unpack_from("<IHH", data, at)
        at += length + (struct.unpack_from("<Q", data, at + 8)[0]
                        if kind == extras.AUXTRACE else 0)
    whole = at if at <= end else whole
    if whole == start:  # which perf reads to the end of the file
        return None
    mended = bytearray(data[:whole])
    struct.pack_into("<Q", mended, 48, whole - start)
    mended[72:104] = bytes(32)
    return data[:end], bytes(mended)
