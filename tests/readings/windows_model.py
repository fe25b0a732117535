#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest windows against another reading of the same numbers.

    windows_model.py --build DIR [--seed N] [--seeds N]

Recordings of counter groups are made up here: several CPUs, whose samples stand in turns in the
file, some late; threads that move; another group and plain samples between them; guests and
hosts; with and without what a read may have besides. What the manual page says of their windows,
intervals, sums by function and pairs between markers is computed from the list they were made
from, and must be what the command writes, figure by figure.
"""
import collections
import csv
import io
import json
import math
import os
import random
import statistics
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from forged import CPU, HOST, IDENTIFIER, IP, RAW, READ, SAMPLE, TEXT, TID, TIME
from lines import plural, seconds
from modelled import near
from programs import hlguest_of
from seeds import seeds
from tap import run

# Names as perf writes them, and type and config: hardware, software, a tracepoint.
EVENTS = {
    "instructions": (0, 1), "cycles": (0, 0), "ref-cycles": (0, 9), "branches": (0, 4),
    "branch-misses": (0, 5), "cache-references": (0, 2), "cache-misses": (0, 3),
    "task-clock": (1, 1), "page-faults": (1, 2), "context-switches": (1, 3),
    "kvm:kvm_pio": (2, 1),
}
PIO = {"kvm_pio": (("unsigned int", "rw", 8, 4), ("unsigned int", "port", 12, 4))}
FUNCTIONS = (("alpha", TEXT, 0x400), ("beta", TEXT + 0x400, 0x400), ("gamma", TEXT + 0xc00, 0x200),
             *((name, TEXT + 0xe00 + 0x40 * i, 0x40) for i, name in enumerate(
                 ("delta", "epsilon", "operator<", "f<a&b>()", "eta", "theta", "iota"))))
ALIAS = "second_name_of_beta"
OUTSIDE = 0x900000
RATES = (("ipc", "instructions", "cycles", 1, 4),
         ("branch_miss_percent", "branch-misses", "branches", 100, 3),
         ("llc_miss_percent", "cache-misses", "cache-references", 100, 3))
NEVER = 1 << 64
NO_PORT = 7
MOST_VALUES = 8  # of a marker's field that are told


class Sample:
    """One of the leader's: what is in it, and of which counters."""

    def __init__(self, time, cpu, thread, place, mode, values, port):
        self.time, self.cpu, self.place, self.mode = time, cpu, place, mode
        self.pid, self.tid = thread
        self.values, self.port = values, port  # what the counters stand at
        self.counts, self.marks = [], set()    # what they counted in this window


class Made:
    """A recording: its groups, and the samples of the one that is read, as they stand in it."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.traced = rng.random() < .5
        names = [name for name in EVENTS if not name.startswith("kvm")]
        rng.shuffle(names)
        self.group = names[:rng.randint(1 + self.traced, 6)]
        if self.traced:
            self.group[0] = "kvm:kvm_pio"
        elif rng.random() < .3:
            self.group = ["instructions", "cycles", "ref-cycles"] + [
                name for name in self.group if name not in ("instructions", "cycles", "ref-cycles")]
        self.other = [name for name in names if name not in self.group][:rng.randint(0, 2)]
        if self.other and rng.random() < .3:
            self.other[0] = self.group[0]  # as if perf were told the group twice
        self.cpus = rng.randint(1, 3)
        self.read = forged_read(rng)
        self.threads = [(rng.choice((70, 71)), 80 + i) for i in range(rng.randint(1, 4))]
        self.ports = rng.sample((101, 108, 3), 3)
        self.more_ports = rng.sample(range(200, 999), rng.choice((0, 4, 6, 20)))
        self.others = 0
        self.lost = rng.randrange(10**5, 10**6) if rng.random() < .3 else 0
        self.samples, self.records = [], b""
        self.make()
        self.count()

    def ids(self, event, cpu):
        return 1 + 8 * event + cpu

    def put(self, sample, event, counted):
        """A record of the event whose read is that of the counters counted."""
        rows = [(value, self.ids(of, sample.cpu)) for of, value in counted]
        read = b"".join(struct.pack("<Q", 7) for bit in (1, 2) if self.read & bit)
        read = struct.pack("<Q", len(rows)) + read + b"".join(
            struct.pack("<2Q", *row) + (bytes(8) if self.read & 16 else b"") for row in rows)
        fixed = struct.pack("<2Q2IQ2I", self.ids(event, sample.cpu), sample.place, sample.pid,
                            sample.tid, sample.time, sample.cpu, 0) + read
        if self.traced:
            raw = struct.pack("<HHiII", 1, 0, sample.tid, 1, sample.port)
            fixed += struct.pack("<I", len(raw)) + raw
            fixed += bytes(-len(fixed) % 8)
        return forged.record(SAMPLE, sample.mode, fixed)

    def make(self):
        rng, first = self.rng, len(self.group)
        stand = [[0] * (first + len(self.other)) for _ in range(self.cpus)]
        time = 5 * 10**9 + rng.randrange(10**9)
        for _ in range(rng.randint(1, 12)):  # rounds: in each CPUs have their samples in turn
            round_begin = time
            for cpu in range(self.cpus):
                time, chunk = round_begin + rng.choice((0, cpu)), []
                for _ in range(rng.randint(0, 8)):
                    time += rng.choice((1000, 5000, rng.randrange(1, 10**7)))
                    still = not self.records and not chunk and rng.random() < .6
                    for i in range(0 if still else len(stand[cpu])):
                        stand[cpu][i] += rng.choice((0, 1, rng.randrange(10**6), 0, 1 << 33))
                    name, at, size = rng.choice(FUNCTIONS)
                    place, mode = at + rng.randrange(size), 5
                    if rng.random() < .2:
                        place, mode = OUTSIDE, rng.choice((4, 5))
                    if rng.random() < .3:
                        place, mode = rng.randrange(1 << 40), HOST
                    sample = Sample(time, cpu, rng.choice(self.threads), place, mode,
                                    stand[cpu][:first], rng.choice((
                                        *self.ports, *self.ports[:2], *self.more_ports)))
                    chunk.append((sample, self.put(sample, 0, enumerate(sample.values))))
                    if self.other and self.samples and rng.random() < .3:
                        self.others += 1
                        chunk.insert(len(chunk) - rng.choice((0, 1)), (None, self.put(
                            sample, first, enumerate(stand[cpu][first:], first))))
                if len(chunk) > 1 and rng.random() < .1:
                    i = rng.randrange(len(chunk) - 1)
                    chunk[i:i + 2] = reversed(chunk[i:i + 2])
                self.samples += [sample for sample, _ in chunk if sample]
                self.records += b"".join(record for _, record in chunk)
            time = round_begin + 10**8
        for i, sample in enumerate(self.samples):
            sample.sequence = i
        if self.lost:
            ids = (0, 0, time, 0, 0, self.ids(0, 0))  # pid, tid, time, cpu and its room, id
            self.records += forged.record(forged.LOST, 0, struct.pack("<2Q", self.ids(0, 0),
                                                                      self.lost) +
                                          struct.pack("<2IQ2IQ", *ids))

    def count(self):
        """As the samples stand in the file: what stands behind a later one has counted nothing."""
        last, ends = {}, {}
        for sample in self.samples:
            for i, value in enumerate(sample.values):
                key = i, sample.cpu
                when, before = last.get(key, (0, 0))
                if i == 0 and key not in last:
                    sample.marks.add("first")
                late = sample.time < when and value < before
                sample.counts.append(0 if late else value - before)
                if not late:
                    last[key] = sample.time, value
                elif i == 0:
                    sample.marks.add("late")
            ends[sample.cpu] = sample
        for sample in ends.values():
            sample.marks.add("last")

    def timeless(self):
        """The records without their times; samples alone."""
        out, at = b"", 0
        while at < len(self.records):
            kind, misc, size = struct.unpack_from("<IHH", self.records, at)
            if kind == SAMPLE:  # behind the id, the address and the thread
                out += forged.record(kind, misc, self.records[at + 8:at + 32] +
                                     self.records[at + 40:at + size])
            at += size
        return out

    def data(self, times=TIME):
        kinds = IDENTIFIER | IP | TID | times | CPU | READ | (RAW if self.traced else 0)
        attrs, ids, described = [], [], b""
        for i, name in enumerate([*self.group, *self.other]):
            attr = bytearray(forged.attr(kinds, *EVENTS[name], self.read | 12))
            attr[16:24] = struct.pack("<Q", 1 if self.traced else 5000)
            attrs.append(bytes(attr))
            mine = [self.ids(i, cpu) for cpu in range(self.cpus)]
            ids.append(struct.pack(f"<{len(mine)}Q", *mine))
            text = name.encode() + bytes(8 - len(name) % 8)
            described += attrs[-1] + struct.pack("<2I", len(mine), len(text)) + text + ids[-1]
        features = {12: struct.pack("<2I", len(attrs), 128) + described}
        if self.traced:
            features[1] = forged.formats(tracepoints=PIO)
        return forged.recording(self.records if times else self.timeless(), attrs, ids, features)


def forged_read(rng):
    """Some of what a read may have besides: the times it was enabled and ran, and what was lost."""
    return rng.choice((0, 1, 2, 3)) | rng.choice((0, 16))


def guest():
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in FUNCTIONS) + ALIAS.encode()
    table = [(names.index(name.encode()), at, size) for name, at, size in FUNCTIONS]
    table.append((names.index(ALIAS.encode()), *FUNCTIONS[1][1:]))
    return forged.Elf().symbols(table, names + b"\0").build()


def function_of(sample):
    if sample.mode == HOST:
        return "[host]"
    return next((name for name, at, size in FUNCTIONS if at <= sample.place < at + size),
                "[outside]")


class Selection:
    """Words, and what they leave."""

    def __init__(self, rng, made, whole):
        self.words, self.keeps = [], []
        times = sorted(s.time for s in made.samples)
        some = rng.choice(made.samples)
        for word, keep in rng.sample((
                (f"--pid={some.pid}", lambda s: s.pid == some.pid),
                (f"--tid={some.tid},999", lambda s: s.tid == some.tid),
                (f"--cpu={some.cpu}", lambda s: s.cpu == some.cpu),
                (f"--time={seconds(some.time)},", lambda s: s.time >= some.time),
                (f"--time=,{seconds(some.time)}", lambda s: s.time < some.time),
                ("--time=+0,+0.02", lambda s: s.time < times[0] + 2 * 10**7),
                ("--mode=host", lambda s: s.mode == HOST),
                ("--mode=guest", lambda s: s.mode != HOST),
                ("--function=" + rng.choice((ALIAS, "beta")), lambda s: function_of(s) == "beta"),
                ("--function=gamma", lambda s: function_of(s) == "gamma"))[:None if whole else 6],
                rng.choice((0, 1, 1, 2))):
            if word.split("=")[0] not in [w.split("=")[0] for w in self.words]:
                self.words.append(word)
                self.keeps.append(keep)

    def said(self, other):
        """As it is told: what chooses samples as they are given, then mode and function; other:
        the event that is asked for, or None."""
        words = [word[2:] for word in self.words]
        last = [word for name in ("mode=", "function=") for word in words if word.startswith(name)]
        first = [f"event={other}"] * bool(other)
        return " ".join(first + [word for word in words if word not in last] + last) or None

    def of(self, samples):
        return [s for s in samples if all(keep(s) for keep in self.keeps)]


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.made = Made(seed)
        self.rng, self.hlguest = self.made.rng, hlguest
        self.elf, self.data = (os.path.join(folder, name) for name in ("guest.elf", "made.data"))
        for path, content in (self.elf, guest()), (self.data, self.made.data()):
            with open(path, "wb") as f:
                f.write(content)
        self.rates = self.rng.random() < .5

    def rows(self, *words):
        """(the records, standard error, status)"""
        if self.rates:
            words += ("--rates",)
        glob = [f"--event={self.made.group[0]}"] if self.made.other else []
        out, err, status = run(self.hlguest, "windows", self.elf, self.data, "--force", "-v", *glob,
                               *words)
        if status not in (0, 1):
            raise RuntimeError(f"{words}: status {status}: {err}")
        return list(csv.reader(io.StringIO(out))), err, status

    def known_rates(self):
        return [rate for rate in RATES if self.rates and {rate[1], rate[2]} <= set(self.made.group)]

    def rated(self, counts):
        """Of each rate (number or None, places)."""
        of = dict(zip(self.made.group, counts))
        return [(of[a] / of[b] * times if of[b] else None, places)
                for _, a, b, times, places in self.known_rates()]

    def same(self, what, got, head, expected, first=None):
        """Rows of (texts, counts, texts behind) against what is written. first: a count of the
        pairs alone."""
        names = [*head[0], *(first or []), *self.made.group,
                 *(rate[0] for rate in self.known_rates()), *head[1]]
        if got[:1] != [names]:
            yield f"{what}: columns {got[:1]}, not {names}"
            return
        if len(got) - 1 != len(expected):
            yield f"{what}: {len(got) - 1} rows, not {len(expected)}"
        for row, (front, counts, behind) in zip(got[1:], expected):
            rates = self.rated(counts[len(first or []):])
            n = len(front) + len(counts)
            if row[:n] + row[n + len(rates):] != front + list(map(str, counts)) + behind or not all(
                    near(text, *rate) for text, rate in zip(row[n:], rates)):
                yield f"{what}: {row}, not {front, counts, rates, behind}"

    def windows(self):
        select = Selection(self.rng, self.made, True)
        left = sorted(select.of(self.made.samples), key=lambda s: (s.time, s.sequence))
        got, err, status = self.rows("--format=csv", *select.words)
        what = " ".join(["windows", *select.words])
        if not left:
            # A function that is there and in which none ends has no rows; else it is an error.
            if len(got) > 1 or status == 0 and "--function" not in what:
                yield f"{what}: status {status}, {got}, though none is left"
            return
        head = ["record", "name", "time", "pid", "tid", "cpu"], ["mark"]
        expected = [(["window", function_of(s), seconds(s.time), str(s.pid), str(s.tid), str(s.cpu)],
                     s.counts, [";".join(m for m in ("first", "last", "late") if m in s.marks)])
                    for s in left]
        yield from self.same(what, got, head, expected)
        if self.made.others and f"{self.made.others} window" not in err:
            yield f"{what}: the {self.made.others} of the other group are not told: {err}"
        if self.made.lost and str(self.made.lost) not in err:
            yield f"{what}: {self.made.lost} lost records are not told: {err}"
        yield from self.from_first()
        yield from self.hpctool()
        yield from self.none_in_other()
        yield from self.none_begins_with()
        yield from self.json_windows(what, left, select)
        yield from self.intervals(what, left, select)
        yield from self.sums(what, left, select)

    def from_first(self):
        """Times are counted from the first window on, also if it counted nothing."""
        times = sorted(s.time for s in self.made.samples)
        if any(any(s.counts) for s in self.made.samples if s.time == times[0]):
            return
        got, _, _ = self.rows("--format=csv", f"--time=+0,+{times[-1] - times[0]}ns")
        right = sum(time < times[-1] for time in times)
        if len(got) - 1 != right and right:
            yield f"windows before the last: {got[1:]}, not {right}"

    def hpctool(self):
        """Counts alone, by HPCTool's names; beside them only warnings are told."""
        if self.made.group[:3] != ["instructions", "cycles", "ref-cycles"]:
            return
        asked, self.rates = self.rates, False
        got, err, status = self.rows("--format=csv", "--hpctool")
        self.rates = asked
        ordered = sorted(self.made.samples, key=lambda s: (s.time, s.sequence))
        names = ["ins", "l_cycle", "ref_cycle", *(f"event{i + 1}" for i in range(
            len(self.made.group) - 3))]
        right = [names, *(list(map(str, s.counts)) for s in ordered)]
        if status or got != right or "note: " in err:
            yield f"--hpctool: status {status}, {err}, {got[:3]}, not {right[:3]}"

    def none_in_other(self):
        """A function of another image, too, is one, though no window ends in it."""
        if self.rng.random() < .7:
            return
        other = os.path.join(os.path.dirname(self.elf), "other.elf")
        with open(other, "wb") as f:
            f.write(forged.Elf().symbols([(1, TEXT, 0x100)], b"\0omega\0").build())
        got, err, status = self.rows("--format=csv", f"{other}@0x7f0000000000", "--function=omega")
        if status or len(got) != 1:
            yield f"windows in no function of the second image: {status}, {err}, {got}"

    def none_begins_with(self):
        """Of several groups the first in the file is named."""
        if len(self.made.other) and self.made.others:
            _, err, status = run(self.hlguest, "windows", self.elf, self.data, "--event=none")
            right = f"no counter group has none as its first event, but one has {self.made.group[0]} "
            if status != 1 or right not in err:
                yield f"windows of no group: {status}, {err}, not {right}"

    def json(self, *words):
        """None in a build that cannot write it."""
        glob = [f"--event={self.made.group[0]}"] if self.made.other else []
        out, err, _ = run(self.hlguest, "windows", self.elf, self.data, "--force",
                          "--format=json", *glob, *words)
        return None if "not in this build" in err else json.loads(out)

    def json_windows(self, what, left, select):
        told = self.json(*select.words)
        expected = [[s.time, s.pid, s.tid, s.cpu, s.counts, function_of(s)] for s in left]
        if told and [[w[key] for key in ("time_ns", "pid", "tid", "cpu", "counts", "function")]
                     for w in told["windows"]] != expected:
            yield f"{what}: JSON has {told['windows']}, not {expected}"
        said = select.said(self.made.group[0] if self.made.other else None)
        if told and told.get("selected") != said:
            yield f"{what}: selected {told.get('selected')}, not {said}"
        if told and (told["recorded"], told["every"]) != (len(self.made.samples), 0):
            yield f"{what}: JSON has {told['recorded']} windows, every {told['every']}"

    def intervals(self, what, left, select):
        every = self.rng.choice((10**4, 10**6, 3 * 10**7, 10**9))
        groups = collections.OrderedDict()
        for s in sorted(left, key=lambda s: ((s.time - left[0].time) // every, s.pid, s.tid)):
            groups.setdefault(((s.time - left[0].time) // every, s.pid, s.tid), []).append(s)
        expected = []
        for (nth, pid, tid), of in groups.items():
            cpus, names = {s.cpu for s in of}, {function_of(s) for s in of}
            marks = set().union(*(s.marks for s in of))
            expected.append((
                ["window", names.pop() if len(names) == 1 else "",
                 seconds(left[0].time + (nth + 1) * every), str(pid), str(tid),
                 str(cpus.pop()) if len(cpus) == 1 else ""],
                [sum(x) for x in zip(*(s.counts for s in of))],
                [str(len(of)), ";".join(m for m in ("first", "last", "late") if m in marks)]))
        got, _, _ = self.rows("--format=csv", f"--every={every}ns", *select.words)
        head = ["record", "name", "time", "pid", "tid", "cpu"], ["windows", "mark"]
        yield from self.same(f"{what} every {every} ns", got, head, expected)

    def sums(self, what, left, select):
        groups = {}
        for s in left:
            groups.setdefault(function_of(s), []).append(s)
        counts = {name: [sum(x) for x in zip(*(s.counts for s in of))]
                  for name, of in groups.items()}
        all_of = sum(of[0] for of in counts.values())
        got, _, _ = self.rows("--summary", *select.words)
        if [int(row[4]) for row in got[1:]] != sorted((of[0] for of in counts.values()),
                                                      reverse=True):
            yield f"{what} by function: not by the leader's counts"
        for row in got[1:]:
            share = 100 * counts[row[1]][0] / all_of if all_of and row[1] in counts else 0
            if not near(row[3], share, 2):
                yield f"{what} by function: {row}, not {share} %"
            row[3] = "%"
        got[1:] = sorted(got[1:])
        expected = [(["function", name, str(len(of)), "%"], counts[name], [])
                    for name, of in sorted(groups.items())]
        asked, self.rates = self.rates, True  # sums have them unasked
        yield from self.same(f"{what} by function", got,
                             (["record", "name", "windows", "share_percent"], []), expected)
        self.rates = asked

    def pairs(self):
        """What lies between one port, or any, and the next other of a thread, or the next of the
        same."""
        if not self.made.traced:
            return
        begins, ends = self.made.ports[0], self.rng.choice(self.made.ports)
        yield from self.no_marker(begins, NO_PORT)
        from_any = self.rng.random() < .5
        first = "kvm:kvm_pio" if from_any else f"port:{begins}"
        between = f"--between={first}..port:{ends}"
        if {begins, ends} - {s.port for s in self.made.samples}:
            yield from self.no_marker(begins, ends)
            return
        totals = collections.defaultdict(lambda: [0] * len(self.made.group))
        for s in self.made.samples:
            totals[s.cpu] = s.total = [a + b for a, b in zip(totals[s.cpu], s.counts)]
        threads, pairs, alone, moved = {}, [], 0, 0
        for s in sorted(self.made.samples, key=lambda s: (s.time, s.sequence)):
            threads.setdefault((s.pid, s.tid), []).append(s)
        for of in threads.values():
            begin, used = None, set()  # markers that are of a pair, or would be but for moving
            marks = [s for s in of if from_any or s.port in (begins, ends)]
            for s in marks:
                if s.port == ends and begin:
                    used |= {begin.sequence, s.sequence}
                    if begin.cpu != s.cpu or "late" in begin.marks | s.marks or \
                            s.sequence < begin.sequence:
                        moved += 1
                    else:
                        pairs.append((begin, s))
                    begin = None
                if from_any or s.port == begins:
                    begin = s
            alone += len(marks) - len(used)
        pairs.sort(key=lambda p: (p[1].time, p[1].sequence))
        select = Selection(self.rng, self.made, False)
        keep = select.of([end for _, end in pairs])
        yield from self.check_pairs(between, [p for p in pairs if p[1] in keep], alone, moved,
                                    select)

    def no_marker(self, begins, ends):
        """Values that there are, in the order they came, are named instead."""
        between = f"--between=port:{begins}..port:{ends}"
        _, err, status = self.rows("--format=csv", between)
        seen = [str(port) for port in dict.fromkeys(s.port for s in self.made.samples)]
        values = ", ".join(seen[:MOST_VALUES] + ["..."] * (len(seen) > MOST_VALUES))
        none = ends if str(begins) in seen else begins
        if status != 1 or f"no sample of kvm:kvm_pio has port={none} (use one of port: " \
                          f"{values})" not in err:
            yield f"{between}: status {status}, {err}, not one of {values}"

    def without_times(self):
        """Nothing tells which marker is behind which."""
        if not self.made.traced:
            return
        with open(self.data, "wb") as f:
            f.write(self.made.data(0))
        ports = [s.port for s in self.made.samples]
        _, err, status = self.rows("--format=csv", f"--between=port:{ports[0]}..port:{ports[-1]}")
        if status != 1 or "markers have no times (record with perf record -T)" not in err:
            yield f"without times: status {status}, {err}"

    def check_pairs(self, between, pairs, alone, moved, select):
        what = " ".join([between, *select.words])
        got, err, status = self.rows("--format=csv", between, *select.words)
        if not pairs and select.words:
            if len(got) > 1 and any(row[0] == "pair" for row in got):
                yield f"{what}: {got}, though none is left"
            return
        rows = [[e.time - b.time, *(y - x for x, y in zip(b.total, e.total))] for b, e in pairs]
        spreads = [Spread(column) for column in zip(*rows)] if rows else []
        names = ["ns", *self.made.group]
        expected = [(["pair", "", seconds(b.time), seconds(e.time), str(e.pid), str(e.tid),
                      str(e.cpu)], row,
                     [";".join(name for name, x, of in zip(names, row, spreads) if of.is_out(x))])
                    for (b, e), row in zip(pairs, rows)]
        figures = [row for row in got if row[0] == "spread"]
        head = ["record", "name", "start", "end", "pid", "tid", "cpu"], ["outlier"]
        yield from self.same(what, [row for row in got if row[0] != "spread"], head, expected, ["ns"])
        for row in figures if rows else ():
            for text, of in zip(row[7:], spreads):
                if not of.has(row[1], text):
                    yield f"{what}: {row[1]} {text}, not {of.figures()}"
        said = f"{plural(len(pairs), 'pair')}; {plural(alone, 'marker')} without " + (
            "its" if alone == 1 else "their") + f" other half; {plural(moved, 'pair')} left"
        if said not in err:
            yield f"{what}: not {said}: {err}"
        told = self.json(between, *select.words)
        if told and ((told["alone"], told["moved"]) != (alone, moved) or
                     [p["counts"] for p in told["pairs"]] != rows):
            yield f"{what}: JSON has {told['alone'], told['moved'], told['pairs']}, not {rows}"


class Spread:
    """How the counts of one column are spread: filter/stats/spread.h says by what."""

    def __init__(self, values):
        self.values = sorted(values)
        n = len(values)
        low, high = (self.quantile(q) for q in (.25, .75))
        self.fence = low - 1.5 * (high - low), high + 1.5 * (high - low)
        self.deviation = statistics.stdev(values) if n > 1 else None

    def quantile(self, q):
        at = q * (len(self.values) - 1)
        below = math.floor(at)
        above = min(below + 1, len(self.values) - 1)
        return self.values[below] + (at - below) * (self.values[above] - self.values[below])

    def is_out(self, x):
        return not self.fence[0] <= x <= self.fence[1]

    def ranks(self):
        """The widest pair of equal ranks whose interval holds the median at 95 %."""
        n, below, rank = len(self.values), 0, 0
        while True:
            below += math.comb(n, rank)
            if 2 * below / 2**n > .05:
                break
            rank += 1
        return (self.values[rank - 1], self.values[n - rank]) if rank else (None, None)

    def figures(self):
        mean = statistics.fmean(self.values)
        low, high = self.ranks()
        variation = 100 * self.deviation / mean if self.deviation is not None and mean else None
        return {"n": len(self.values), "min": self.values[0], "max": self.values[-1],
                "mean": (mean, 2), "deviation": (self.deviation, 4),
                "cov_percent": (variation, 3), "outliers": sum(map(self.is_out, self.values)),
                "median": (statistics.median(self.values), 2), "median_low": (low, 2),
                "median_high": (high, 2)}

    def has(self, name, text):
        of = self.figures().get(name)
        if of is None:  # the interval of the mean: Student's t is judged by its own test
            return name in ("low", "high")
        return near(text, *of) if isinstance(of, tuple) else text == str(of)


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    return [*judge.windows(), *judge.pairs(), *judge.without_times()] if judge.made.samples else []


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 32, differences))
