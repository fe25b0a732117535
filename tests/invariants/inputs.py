# SPDX-License-Identifier: GPL-2.0-only
"""What the invariants are tried on: a guest, and recordings of it, drawn from a seed.

All that is in a recording is known, and one recording can be written as a file, as perf
record -o - writes it, as a folder, and compressed. damage() changes any file.
"""
import bisect
import collections
import os
import random
import struct
import zlib

import extras
import forged

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, IDENTIFIER = 1, 2, 4, 0x20, 0x80, 0x100, 0x10000
COMM, LOST, THROTTLE, SAMPLE, MMAP2, LOST_SAMPLES, ROUND = 3, 2, 5, 9, 10, 13, 68
ATTR_RECORD, FEATURE_RECORD, COMPRESSED = 64, 80, 27
KERNEL, USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5
CONTEXT_GUEST_USER, CONTEXT_GUEST = 2 ** 64 - 2560, 2 ** 64 - 2048
WHOLE, FRAMES = 1, 1  # enum hlg_chain_end, enum hlg_chain_way
# Name, type, config: perf names them by these.
EVENTS = (("cpu-clock", 1, 0), ("task-clock", 1, 1), ("page-faults", 1, 2))
PROCESSES = {101: (101, 102, 103), 202: (202,)}
SANDBOXES = {101: (1, 3), 202: (2,)}  # a process has its own
CPUS = 3
FUNC, NOTYPE, OBJECT, IFUNC = 2, 0, 1, 10
EXITS = b"\xe6\x64", b"\xf4"  # out, hlt
NOTE = struct.pack("<III", 11, 8, 1) + b"Hyperlight\0\0" + b"0.18.0\0\0"
HIGH = 0xffff800000000000  # where kernels lie
MAPPING = {0x100: b"$x", 0x200: b"$d", 0x300: b"$x.%d"}  # of AArch64: local, of no type
# nop, ret, hvc #0, svc #0, add x0, x0, #1, a word that is no instruction
ARM = tuple(struct.pack("<I", word) for word in (0xd503201f, 0xd65f03c0, 0xd4000002, 0xd4000001,
                                                 0x91000400, 0))
CALL = b"\xe8\0\0\0\0"

Sample = collections.namedtuple("Sample", "time cpu pid tid event ip mode period sandbox")


class Guest:
    """An ELF and where it lies; edges are the addresses where something begins or ends."""

    def __init__(self, rng, base=None, mangled=True, real=False, noted=False):
        """real: symbols begin and end where instructions do. noted: as a Hyperlight guest."""
        self.arm = not real and rng.random() < .15
        self.size = rng.choice((0x200, 0x1000, 0x3000))
        self.base = base or rng.choice((0x1000, 0x4000, 0x200000, 0x7f0000000000, HIGH + 0x80000))
        self.bias = self.base - forged.TEXT
        self.starts = []  # where instructions begin
        self.hot = []  # exits that many samples are at
        elf = forged.Elf(self.size)
        code = bytearray(self.code(rng))
        places = [self.snap(symbol) if real else symbol for symbol in self.symbols(rng)]
        self.calls = list(self.link(rng, code, places))
        elf.data[elf.text:elf.text + self.size] = code
        names, table, edges = bytearray(b"\0"), bytearray(24), {0, self.size}
        forms = (b"f%d", b"f%d", b"of::some<%d>", b"with %d blanks", b"a;%d", b"same",
                 *[b"_ZN3abc4f%03dEv"] * mangled)
        for at, size, info in places:
            table += struct.pack("<IBBHQQ", len(names), info % 256, 0, 1, forged.TEXT + at, size)
            number = len(table) // 24
            names += MAPPING.get(info, rng.choice(forms)).replace(
                b"%d", b"%d" % number).replace(b"%03d", b"%03d" % (number % 1000)) + b"\0"
            edges |= {at, at + size}
        self.code_bytes = bytes(code)
        strings = elf.section(0, 3, at=elf.put(bytes(names)), size=len(names))
        elf.section(0, 2, at=elf.put(bytes(table)), size=len(table), link=strings, entry=24)
        if noted:
            elf.section(0, 7, at=elf.put(NOTE), size=len(NOTE))
        self.data = self.built(elf)
        self.edges = sorted(self.base + edge for edge in edges)

    def stripped(self, debug_file):
        """The same without symbols, which are in a file of that name."""
        elf = forged.Elf(self.size)
        elf.data[elf.text:elf.text + self.size] = self.code_bytes
        link = debug_file + bytes(4 - len(debug_file) % 4) + struct.pack(
            "<I", zlib.crc32(self.data))
        elf.section(elf.name(b".gnu_debuglink"), 1, at=elf.put(link), size=len(link))
        return self.built(elf)

    def built(self, elf):
        """ET_DYN, which lies anywhere."""
        data = elf.build()
        return data[:16] + struct.pack("<HH", 3, 183 if self.arm else 62) + data[20:]

    def code(self, rng):
        """Instructions of one to seven bytes, exits among them, and padding."""
        some = (b"\x90", b"\x55", b"\x89\xc8", b"\x48\x89\xe5", b"\x0f\x1f\x40\x00",
                b"\xb8\x01\x00\x00\x00", b"\xc3", b"\xcc", b"\x48\x81\xc1\x00\x01\x00\x00",
                *EXITS, CALL)
        if self.arm:
            some = ARM
        out = b""
        while len(out) < self.size:
            self.starts.append(self.base + len(out))
            out += rng.choice(some)
        exits = [at for at in self.starts if out[at - self.base:].startswith(EXITS)]
        self.hot = rng.sample(exits, min(len(exits), rng.randint(0, 3)))
        return out[:self.size]

    def symbols(self, rng):
        at, found = rng.choice((0, 5)), []
        while at < self.size:
            size = min(rng.choice((0, 1, 7, 16, 40, 200)), self.size - at)
            info = rng.choice((0, 1, 2)) << 4 | rng.choice((FUNC, FUNC, FUNC, NOTYPE, IFUNC,
                                                            OBJECT))
            found.append((at, size, info))
            if size > 1 and rng.random() < .2:  # another within, or an alias
                inner = rng.randrange(size)
                found.append((at + inner, rng.randint(0, size - inner), info))
            if rng.random() < .1:
                found.append((at, size, 0x10 | FUNC))
            if self.arm and rng.random() < .3:  # where code begins, or data
                found.append((at, 0, rng.choice(sorted(MAPPING))))
            at += max(size, 1) + rng.choice((0, 0, 0, 3, 30))
        rng.shuffle(found)
        return found

    def link(self, rng, code, places):
        """Has each call go to a symbol: (where it returns to, first, end of what it calls)."""
        for start in self.starts:
            at = start - self.base
            if code[at:at + len(CALL)] == CALL:
                target, size, _ = rng.choice(places)
                struct.pack_into("<i", code, at + 1, target - at - len(CALL))
                yield start + len(CALL), self.base + target, self.base + target + size

    def caller(self, rng, ip):
        """Where what is at ip returns to, mostly."""
        fitting = [back for back, first, end in self.calls if first <= ip < end]
        return rng.choice(fitting) if fitting and rng.random() < .9 else self.some(rng)

    def snap(self, symbol):
        at, size, info = symbol
        begin, end = (bisect.bisect_right(self.starts, self.base + n) for n in (at, at + size))
        begin, end = (self.starts[i - 1] - self.base for i in (begin, end))
        return begin, end - begin, info

    def around(self):
        """Every edge, and the bytes beside it."""
        return sorted({ip for edge in self.edges for ip in (edge - 1, edge, edge + 1)})

    def some(self, rng):
        """An address, mostly of the code."""
        if self.hot and rng.random() < .1:
            return rng.choice(self.hot)
        if rng.random() < .05:
            return rng.choice((self.base - 64, self.base + self.size + 4096, rng.getrandbits(44),
                               1 << 63 | rng.getrandbits(63), HIGH + rng.getrandbits(20)))
        return self.base + rng.randrange(self.size)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(what):
    return what + bytes(8 - len(what) % 8)


class Recording:
    """Rounds of buffers, one of each CPU, as perf record reads them."""

    def __init__(self, rng, guest, rounds=None, stacks=False, losses=True, lacking=False):
        """lacking: some have no times, CPUs or periods."""
        self.rng, self.guest, self.stacks = rng, guest, stacks
        self.events = rng.sample(EVENTS, rng.randint(1, len(EVENTS)))
        # The kernel numbers each event on each CPU, and of each thread, if it is inherited.
        self.n_ids = rng.choice((1, 1, 5, 600))
        self.kind = IP | TID | TIME | CPU | PERIOD | IDENTIFIER | (CALLCHAIN if stacks else 0)
        if lacking and rng.random() < .4:
            self.kind &= ~rng.choice((TIME, CPU, PERIOD, TIME | CPU, CPU | PERIOD))
        self.samples, self.lost, self.lost_samples = [], 0, 0
        self.now = 10 ** 9
        self.rounds = [self.round(losses) for _ in range(rounds or rng.randint(1, 5))]

    def tail(self, pid, tid, cpu, time=None):
        """What other records end with."""
        return (struct.pack("<II", pid, tid) + self.only(TIME, "<Q", time or self.now) +
                self.only(CPU, "<II", cpu, 0) + struct.pack("<Q", 1))

    def only(self, bit, form, *values):
        return struct.pack(form, *values) if self.kind & bit else b""

    def begin(self):
        """Who the processes are, and what they have mapped."""
        out = b""
        for pid in PROCESSES:
            trail = self.tail(pid, pid, 0, 10 ** 9 - 1)
            out += record(COMM, 0, struct.pack("<II", pid, pid) + text(b"vmm%d" % pid) + trail)
            out += record(MMAP2, USER, struct.pack(
                "<2I3Q2I2Q2I", pid, pid, 0x400000, 0x4000, 0, 8, 1, pid, 0, 5, 2) +
                text(b"/nowhere/vmm%d" % (pid % 3)) + trail)
        return out

    def sample(self, cpu, ip=None):
        rng = self.rng
        pid = rng.choice(sorted(PROCESSES))
        tid = rng.choice(PROCESSES[pid])
        mode = GUEST_USER if ip else rng.choice((GUEST_USER,) * 6 + (GUEST_KERNEL, USER, KERNEL))
        if ip is None:
            ip = self.guest.some(rng) if mode >= GUEST_KERNEL else 0x400000 + rng.getrandbits(15)
        known = self.stacks and mode == GUEST_USER and rng.random() < .9
        s = Sample(self.now, cpu, pid, tid, rng.randrange(len(self.events)), ip, mode,
                   rng.choice((1, 1000, 250000, rng.getrandbits(30) + 1)),
                   rng.choice(SANDBOXES[pid]) if known else 0)
        self.samples.append(s)
        return self.pack(s)

    def pack(self, s):
        chosen = 1 + s.event + 8 * self.rng.randrange(self.n_ids)
        body = (struct.pack("<QQII", chosen, s.ip, s.pid, s.tid) + self.only(TIME, "<Q", s.time) +
                self.only(CPU, "<II", s.cpu, 0) + self.only(PERIOD, "<Q", s.period))
        if self.stacks:
            words = []
            if s.sandbox:
                words = [CONTEXT_GUEST_USER, s.ip]
                for _ in range(self.rng.randint(0, 4)):
                    words.append(self.guest.caller(self.rng, words[-1]))
                words += [CONTEXT_GUEST, s.sandbox << 32 | FRAMES << 8 | WHOLE]
            body += struct.pack(f"<{1 + len(words)}Q", len(words), *words)
        return record(SAMPLE, s.mode, body)

    def loss(self, cpu):
        n = self.rng.randint(1, 1000)
        if self.rng.random() < .5:
            self.lost += n
            return record(LOST, 0, struct.pack("<QQ", 1, n) + self.tail(101, 101, cpu))
        self.lost_samples += n
        return record(LOST_SAMPLES, 0, struct.pack("<Q", n) + self.tail(101, 101, cpu))

    def round(self, losses):
        rng, buffers = self.rng, [[] for _ in range(CPUS)]
        for _ in range(rng.randint(1, 60)):
            cpu = rng.randrange(CPUS)
            self.now += rng.choice((1, 1000, 10 ** 6))
            buffers[cpu].append(self.loss(cpu) if losses and rng.random() < .05
                                else self.sample(cpu))
        return [b"".join(buffer) for buffer in buffers]

    def harm(self, skipped, throttled):
        """So many samples that are too short, and so often less was sampled."""
        short = record(SAMPLE, GUEST_USER, struct.pack("<Q", 1))
        throttle = record(THROTTLE, 0, struct.pack("<QQQ", self.now, 1, 1) + self.tail(101, 101, 0))
        self.rounds.append([short * skipped + throttle * throttled])

    def of_each(self, ips):
        """Instead of what was drawn: one sample at each of these addresses."""
        self.samples, self.lost, self.lost_samples = [], 0, 0
        buffer = []
        for ip in ips:
            self.now += 1000
            buffer.append(self.sample(0, ip))
        self.rounds = [[b"".join(buffer)]]
        return self

    def body(self, rounds=None):
        return self.begin() + b"".join(
            b"".join(buffers) + record(ROUND, 0, b"")
            for buffers in (self.rounds if rounds is None else rounds))

    def attrs(self):
        return [struct.pack("<IIQQQQQ", kind, 128, config, 4000, self.kind, 0,
                            1 << 18).ljust(128, b"\0") for _, kind, config in self.events]

    def ids(self):
        return [struct.pack(f"<{self.n_ids}Q", *range(1 + i, 1 + i + 8 * self.n_ids, 8))
                for i in range(len(self.events))]

    def file(self, body=None, marked=False):
        """marked: the header says that it is compressed."""
        return forged.recording(self.body() if body is None else body, self.attrs(), self.ids(),
                                {COMPRESSED: zstd_feature()} if marked else None)

    def pipe(self, body=None, marked=False):
        out = struct.pack("<8sQ", b"PERFILE2", 16)
        for attr, ids in zip(self.attrs(), self.ids()):
            out += record(ATTR_RECORD, 0, attr + ids)
        if marked:
            out += record(FEATURE_RECORD, 0, struct.pack("<Q", COMPRESSED) + zstd_feature())
        return out + (self.body() if body is None else body)

    def folder(self, path):
        """As perf record --threads: a file for each CPU beside what perf itself wrote."""
        os.mkdir(path)
        parts = {"data": self.file(self.begin())}
        for cpu in range(CPUS):
            parts[f"data.{cpu}"] = b"".join(buffers[cpu] for buffers in self.rounds
                                            if cpu < len(buffers))
        for name, data in parts.items():
            with open(os.path.join(path, name), "wb") as f:
                f.write(data)

    def zipped(self, body=None):
        """The same records, as perf record -z writes them: flushed, never ended."""
        squeeze = extras.Zip(random.Random(1)).squeeze
        body, out = self.body() if body is None else body, b""
        while body:
            n = self.rng.choice((1, 100, 3000, len(body)))
            packed = squeeze(body[:n])
            body = body[n:]
            if self.rng.random() < .5:
                out += record(extras.COMPRESSED, 0, packed)
            else:
                out += record(extras.COMPRESSED2, 0, struct.pack("<Q", len(packed)) + packed +
                              bytes(-len(packed) % 8))
        return out


def zstd_feature():
    """HEADER_COMPRESSED: version, type, level, ratio, bytes of a buffer."""
    return struct.pack("<IIIII", 1, 1, 1, 1, extras.MAPPED)


HOSTILE = (0, 1, 7, 8, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 40, 2 ** 63 - 1,
           2 ** 63, 2 ** 64 - 1, 2 ** 64 - 4096)


def damage(rng, data, begin=0):
    """The same, changed in one to four places from begin on."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if len(out) <= begin + 8:
            break
        at = rng.randrange(begin, len(out) - 8)
        what = rng.random()
        if what < .35:
            out[at] = rng.randrange(256)
        elif what < .65:
            size = rng.choice((2, 4, 8))
            at -= at % size
            out[at:at + size] = (rng.choice(HOSTILE) & (1 << 8 * size) - 1).to_bytes(size, "little")
        elif what < .75:
            del out[at:at + rng.choice((1, 8, 40))]
        elif what < .85:
            out[at:at] = out[at:at + rng.choice((1, 8, 48, 200))]
        elif what < .92:
            out[at:at] = rng.randbytes(rng.choice((1, 8, 64)))
        else:
            del out[at:]
    return bytes(out)


def records_of(body):
    at = 0
    while at + 8 <= len(body):
        size = int.from_bytes(body[at + 6:at + 8], "little")
        if size < 8 or at + size > len(body):
            break
        yield body[at:at + size]
        at += size


def damage_records(rng, body):
    """The same, with one to three records that are none, too short, too many, or gone."""
    records = list(records_of(body))
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(records))
        one = records[i]
        what = rng.randrange(8)
        if what == 0:  # a size that is none, or another's
            records[i] = one[:6] + struct.pack("<H", rng.choice((0, 4, 7, 8, 16, 24, 0xffff))) + one[8:]
        elif what == 1:
            records[i] = struct.pack("<I", rng.choice((0, 1, 3, 9, 64, 66, 68, 71, 80, 81, 83, 127,
                                                       1 << 20))) + one[4:]
        elif what == 2:  # bytes behind it that are not in its size, as many as it says or fewer
            n = rng.choice((0, 8, 64, 4096, 1 << 20, 2 ** 63))
            records[i] = record(extras.AUXTRACE, 0, struct.pack("<QQQIIII", n, 0, 0, 0, 1, 0, 0)[
                :rng.choice((40, 40, 8, 0))]) + bytes(min(n, rng.choice((n, 64))) if n < 8192 else 0)
        elif what == 3:
            records[i] = one + one
        elif what == 4:
            records[i] = b""
        elif what == 5:
            k = rng.randrange(len(records))
            records[i], records[k] = records[k], one
        elif what == 6:
            records[i] = record(struct.unpack_from("<I", one)[0] if len(one) >= 4 else 9, 0,
                                one[8:8 + rng.randrange(0, 40, 4)])
        else:
            records[i:i] = [record(rng.choice((LOST, LOST_SAMPLES, 5, 12, 20, 78, 90)), rng.choice(
                (0, 1, 1 << 15)), rng.randbytes(8 * rng.randint(0, 5)))]
        records = [r for r in records if r] or [one]
    return b"".join(records)


def damaged(rng, rec):
    """The file of a recording, damaged anywhere, or record by record."""
    if rng.random() < .5:
        return damage(rng, rec.file(), 104)
    return rec.file(damage_records(rng, rec.body()))
