# SPDX-License-Identifier: GPL-2.0-only
"""A recording that goes on, and what hlguest top has to show of it at any moment: for
top_model.py and top_text.py, by hlguest-top(1) and the headers of tools/top.

Guests and samples are those of modelled.py, in pipe mode. tests/kit/toplive.c reads as much of
them as it is told, at times that it is told; Live says what is in the last slices of time then,
what is since the start, and of how much the report was that is shown.
"""
import collections
import json
import os
import random
import struct

import forged
from forged import CALLCHAIN, CPU, FINISHED_ROUND, LOST, PERIOD, TEXT, TIME
from modelled import EVENTS, KERNEL, Guest, Place, Recording, Sample, Space, is_guest
from modelled_view import View
from programs import hlguest_of, program
from shares import effective, wilson
from tap import Skip, environment, run

SECOND = 10**9
HITS = {"kvm:kvm_exit": (2, 78), "kvm:kvm_userspace_exit": (2, 79), "irq:irq_handler_exit": (2, 77)}
SAMPLED = ("cpu-clock", "cpu-clock:HG", "task-clock:G", "cycles:G", "page-faults", "cycles")
PHASES = 160  # from so many samples on a guest may be found to work in phases
LATE, GROWTH, PART = 10 * SECOND, 8, 100  # judge.h: when it is time for another report
HALT = b"\xf4"
OPTIONS = {"gaps": "retag", "region": 0, "top": 0, "min": 0, "sort": "overhead"}


def events_of(parts):
    """What guests are sampled by, each once, in the order of their first samples."""
    return list(dict.fromkeys(p.event for p in parts
                              if isinstance(p, Sample) and p.event not in HITS))


class Stream(Recording):
    """A recording in pipe mode. parts: (what, bytes) each, in their order: a sample, how many
    were lost, "round", or None."""

    def __init__(self, rng, space, exits, room, calls):
        self.hits = [name for name in HITS if rng.random() < (.8 if exits else .1)]
        self.guests = rng.sample(SAMPLED, rng.choice((1, 1, 1, 2)))
        self.hot = [space.some(rng) for _ in range(rng.randint(1, 4))]
        self.halts = [base + at - TEXT for guest, base in space.bases for at in guest.halts]
        self.space, self.busy = space, rng.choice((0, .1, .3))
        super().__init__(rng, 0, [*self.guests, *self.hits], None, 0,
                         rng.choice((0, TIME, TIME, CPU, PERIOD)), space.returns() if calls else ())
        if room:
            self.kind |= CALLCHAIN
        self.time, self.losses = self.begins, []
        self.parts = [(None, self.begin())]
        for _ in range(rng.choice((0, 30, 120, 150, 400, 900))):
            self.add()
        self.ends, at = [], 0
        for _, data in self.parts:
            at += len(data)
            self.ends.append(at)

    def known(self, event):
        return HITS.get(event) or EVENTS[event.partition(":")[0]]

    def begin(self):
        """What a file has in front of its records, as records; and who runs."""
        attrs, ids, features = self.described()
        out = struct.pack("<8sQ", b"PERFILE2", 16)
        for attr, number in zip(attrs, ids):
            out += forged.record(64, 0, attr + number)
        out += forged.record(80, 0, struct.pack("<Q", 12) + features[12])
        return out + self.records()

    def add(self):
        rng, what = self.rng, self.rng.random()
        if what < .02:
            n = rng.randint(1, 1000)
            self.parts.append((n, forged.record(LOST, 0, struct.pack("<2Q", 1, n) + self.tail(
                *self.threads[0], self.time))))
        elif what < .06:
            self.parts.append(("round", forged.record(FINISHED_ROUND, 0, b"")))
        else:
            self.time += rng.choice((1000, 10**6, rng.randrange(1, 10**7)))
            if rng.random() < .02:  # another place is hot
                self.hot[rng.randrange(len(self.hot))] = self.space.some(rng)
            sample = self.sample(self.time, self.address)
            self.parts.append((sample, self.pack(sample)))

    def address(self):
        rng = self.rng
        if self.halts and rng.random() < self.busy:
            return rng.choice(self.halts) + len(HALT)
        return rng.choice(self.hot) if rng.random() < .6 else self.space.some(rng)

    def sample(self, time, draw):
        s = super().sample(time, draw)
        return s._replace(mode=KERNEL, callers=None) if s.event in self.hits else s

    def data(self):
        return b"".join(data for _, data in self.parts)

    def until(self, at):
        """What has come with so many bytes of it: (parts, bytes up to the last record's end)"""
        n = sum(end <= at for end in self.ends)
        return self.parts[:n], self.ends[n - 1] if n else 0


class Halting(Guest):
    """A guest some of whose functions leave it: halts are addresses of that instruction."""

    def __init__(self, rng, names, path, calls):
        self.halts = []
        super().__init__(rng, names, path, calls)
        for s in self.tops[:2]:
            at = s.at + s.size // 2
            if s.size >= 64 and not calls and self.place(at) == self.place(at + 1):
                self.halts.append(at)
                self.code = self.code[:at - TEXT] + HALT + self.code[at + 1 - TEXT:]


class LiveView(View):
    """Rows of some guest samples; those at VM exits have theirs behind them."""

    def __init__(self, space, samples, weigh, exits):
        """exits: addresses; None: where nothing is said of what is where."""
        self.exits, self.borders = exits, {}
        super().__init__(space, OPTIONS, samples, weigh)
        self.whole = sum(map(weigh, samples))
        self.guest_observations = effective(list(map(weigh, samples)))

    def add(self, s):
        if self.exits is None:
            self.kept.append(s)
            at = f"{s.ip:#x}"
            self.credit(s, (None, Place("outside", at, None, s.ip, s.ip, ())))
            return
        if s.ip not in self.exits:
            super().add(s)
            return
        image, _, place = self.space.place(s.ip)
        row = self.borders.setdefault((image, place), [])
        row.append(s)

    def lines(self):
        """{key: (samples, share, low, high, few)} in their order; a key is (is it of VM exits,
        the image, the place)."""
        out = {}
        for row in self.ordered():
            share = self.share(row)
            out[False, *row.key] = row.samples, share, *self.limits(row), \
                len(row.samples) <= 2 and share < .1
        borders = sorted(self.borders.items(), key=lambda b: (
            -sum(map(self.weigh, b[1])), b[0][1].start, b[0][0]))
        for key, samples in borders:
            share = sum(map(self.weigh, samples)) / self.whole if self.whole else 0
            low, high = wilson(share, self.guest_observations)
            few = len(samples) <= 2 and share < .1
            out[True, *key] = samples, share, 0 if few else low, high, few
        return out


def name_of(key):
    is_border, _, place = key
    return f"__vm_exit__ in {place.name}" if is_border else place.name


class Sums:
    """Of some parts of a stream."""

    def __init__(self, parts):
        samples = [p for p in parts if isinstance(p, Sample)]
        self.seen, self.guest = samples, [s for s in samples if is_guest(s)]
        self.host = [s for s in samples if not is_guest(s)]
        self.traced = sum(s.event in HITS for s in samples)
        self.exits, self.vmm_exits = (sum(s.event == name for s in samples) for name in (
            "kvm:kvm_exit", "kvm:kvm_userspace_exit"))
        self.lost = sum(p for p in parts if isinstance(p, int))


Shown = collections.namedtuple("Shown", "rows since recent took ns judged")


class Live:
    """What is counted, and what is shown of it."""

    def __init__(self, build, folder, seed, names):
        self.build, self.hlguest, self.folder = build, hlguest_of(build), folder
        rng = self.rng = random.Random(seed)
        self.calls = rng.random() < .35
        n = 1 if self.calls else rng.choice((1, 1, 2))
        self.guests = [Halting(rng, names(rng, rng.randint(1, 12)), f"guest{i}.elf", self.calls)
                       for i in range(n)]
        self.space = Space([(guest, 0x10000 + 0x40000 * i) for i, guest in enumerate(self.guests)])
        self.exits = rng.random() < .4
        self.stream = Stream(rng, self.space, self.exits, self.calls, self.calls)
        self.words = ["--force=yes"] if self.calls or rng.random() < .3 else []
        self.every = rng.choice((SECOND, SECOND // 10, SECOND // 2, 2 * SECOND))
        self.window = self.every * rng.choice((1, 2, 3, 10)) + rng.choice((0, self.every // 3))
        self.cost = rng.choice((0, 0, 10**6, self.every // 70, self.every // 30))
        self.slices = collections.deque(maxlen=self.window // self.every)
        self.parts, self.since, self.closed, self.zeroed = [], [], 0, 0
        self.now, self.paused, self.whole, self.zeroed_at = 0, False, 0, 0
        self.judged, self.judged_at, self.reports = None, 0, {}
        self.shown = Shown(None, Sums(()), Sums(()), 0, 0, None)
        self.script, self.expected = [], []
        self.write()

    def write(self):
        for guest in self.guests:
            with open(os.path.join(self.folder, guest.path), "wb") as f:
                f.write(guest.data())
        with open(os.path.join(self.folder, "stream"), "wb") as f:
            f.write(self.stream.data())

    # What happens.

    def steps(self, n):
        """Reads all of it in so many slices, or some more, of any length."""
        rng, size, at = self.rng, len(self.stream.data()), 0
        for to in sorted(rng.randrange(size + 1) for _ in range(n)) + [size]:
            if self.judged and to < size and rng.random() < .5:
                # About as many as make another report due.
                to = self.grown(self.judged[0] // GROWTH + rng.randrange(2))
            late = self.judged_at + LATE - self.now - rng.randrange(2)
            if self.judged and to < size and late > 0 and rng.random() < .3:
                to = self.grown(1)  # that many alone would not
            else:
                late = rng.choice((self.every, self.every, self.every + rng.randrange(self.every),
                                   rng.randrange(1, 5000 * SECOND)))
            at = max(at, to)
            self.read(at)
            self.refresh(late)
            yield

    def grown(self, more):
        """Where in the stream there are so many more samples of the guest than were judged."""
        wanted = self.judged[0] + more
        for (what, _), end in zip(self.stream.parts, self.stream.ends):
            wanted -= isinstance(what, Sample) and is_guest(what)
            if not wanted:
                return end
        return self.stream.ends[-1]

    def read(self, to):
        """So many bytes have come."""
        self.script.append(f"bytes {to}")
        parts, self.whole = self.stream.until(to)
        self.parts = [what for what, _ in parts if what is not None]

    def refresh(self, ns):
        """A slice of time ends."""
        self.now += ns
        self.script.append(f"refresh {self.now}")
        had = sum(len(parts) for parts, _ in self.since)
        self.since.append((self.parts[self.zeroed_at + had:], self.now - self.closed))
        self.slices.append(self.since[-1])
        self.closed = self.now
        if not self.paused:
            self.judge()
            self.lay_out(self.closed - self.zeroed)

    def zero(self):
        """Shares begin anew."""
        self.zeroed_at += sum(len(parts) for parts, _ in self.since)
        self.since, self.zeroed = [], self.closed
        self.slices.clear()
        self.lay_out(0)

    def judge(self):
        guest = sum(is_guest(p) for p in self.parts if isinstance(p, Sample))
        if not guest:
            return
        passed = self.now - self.judged_at
        if self.judged is not None:
            had = self.judged[0]
            if guest <= had or passed < PART * self.cost or not (
                    GROWTH * (guest - had) > had or passed >= LATE):
                return
        self.judged, self.judged_at = (guest, self.whole, self.parts), self.now

    def lay_out(self, took):
        since = Sums([p for parts, _ in self.since for p in parts])
        recent = Sums([p for parts, _ in self.slices for p in parts])
        rows = self.rows(since, recent) if self.judged else None
        self.shown = Shown(rows, since, recent, took, sum(ns for _, ns in self.slices),
                           self.judged)

    def rows(self, since, recent):
        """(key, of since, of recent or None, whether their limits are known) each, by what is
        recent, then by what is since the start."""
        report = self.report()
        views = [LiveView(self.space, of.guest, self.weigh(), report["exits"]).lines()
                 for of in (since, recent)]
        rows = [(key, of, views[1].get(key)) for key, of in views[0].items()]
        self.order = {key: i for i, key in enumerate(views[0])}
        rows.sort(key=lambda row: (row[0][0], -row[2][1] if row[2] else 1, -row[1][1]))
        return rows

    def is_exact(self):
        return self.judged and (not self.stream.has(TIME) or self.judged[0] < PHASES)

    def weigh(self):
        """Periods of several events do not add up."""
        events = {p.event for p in self.judged[2] if isinstance(p, Sample) and is_guest(p)}
        return (lambda s: s.period) if len(events) == 1 else lambda s: 1

    # The report that was made.

    def argv(self, verb, *more):
        words = ["--stacks=callgraph"] if self.calls and verb == "report" else []
        return [self.hlguest, verb, "-q", *words, *self.words, *self.space.words(), *more, "-i",
                "so-far.data"]

    def ask(self, whole, *argv, **env):
        """What another verb says of so many bytes."""
        with open(os.path.join(self.folder, "so-far.data"), "wb") as f:
            f.write(self.stream.data()[:whole])
        return run(*argv, cwd=self.folder, env=environment(LC_ALL="C.UTF-8", **env))

    def report(self):
        """What is a VM exit, and whether samples fit: that is other readings' to test."""
        return self.report_of(self.judged)

    def report_of(self, judged):
        whole = judged[1]
        if whole not in self.reports:
            out, err, _ = self.ask(whole, *self.argv("report", "--format=json"))
            if "not in this build" in err:
                raise Skip(err.strip())
            told = json.loads(out)
            exits = {(row["image"], int(at, 16)) for row in told.get("border", ())
                     for at in row["addresses"]}
            named = "addresses" not in told
            self.reports[whole] = {
                "exits": {base + at - TEXT for guest, base in self.space.bases for path, at in exits
                          if path == guest.path} if named else None,
                "verdict": told["trust"]["verdict"], "named": named}
        return self.reports[whole]

    # What is asked.

    def want(self, line, check):
        """check(text): what is wrong with it."""
        self.script.append(line)
        self.expected.append((line, check))

    def play(self):
        """Differences of all that was asked."""
        with open(os.path.join(self.folder, "script"), "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in self.script))
        words = [*(["-g"] if self.calls else []), *(["--exits"] if self.exits else []), *self.words]
        out, err, status = run(program(self.build, "TOPLIVE", "tests/kit/toplive"), "script", "stream",
                               str(self.window), str(self.every), str(self.cost), *words,
                               *self.space.words(), cwd=self.folder, env=environment(LC_ALL="C.UTF-8"))
        told = out.split("\f\n")
        if status or len(told) != len(self.expected) + 1:
            yield f"status {status}, {len(told) - 1} of {len(self.expected)} answers: {err}"
            return
        for text, (line, check) in zip(told, self.expected):
            if wrong := check(text):
                yield f"{line}: {wrong}"
