#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles against another reading of what was recorded.

    pprof_model.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of report_model.py. What tools/pprof/pprof.proto, hlguest-report(1)
and hlguest-merge(1) say of a profile's types, mappings, locations, functions, samples, labels,
stacks, sums, times and comments is computed from the lists these were made from, whatever is
selected, split and credited where, and must be what is found in the file. What is saved recording
by recording and merged has to be what is saved of all, and a report of it that of the recordings,
also at another base.
"""
import collections
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../peers/pprof"))
from forged import CALLCHAIN, HOST, READ, TEXT
from modelled import (BY_TABLES, CLOCKS, COPY_ENDS, EVENTS, MAPPED, TRACEPOINT, VMM, WHOLE,
                      Space, is_guest, write_all)
from modelled_view import Count, Selection
from odd_names import escaped, odd_names, readable
from profile_read import Saved
from programs import hlguest_of
from report_model import Made
from seeds import seeds
from tap import Skip, run
from text_head import SAID

KEYS = ("pid", "tid", "cpu", "sandbox")
GROUP, USER, KERNEL, NOTE = 0, 1, 2, 6  # enum hlg_frame
TIMER, COUNTER, SOFTWARE, TRACE = 1, 2, 3, 4
# enum hlg_checked_word
WORDS = ("", "verified", "too few samples to tell", "not tested", "mixed", "mismatch")
CUT = "[truncated: copied stack ends]"
NO_HOST = "[no KVM_RUN stack]"
WRITTEN = 1_700_000_000 * 10**9  # when the recordings' files were, in ns


def kind_of(event):
    return {0: COUNTER, 1: TIMER if event in CLOCKS else SOFTWARE, 2: TRACE}[EVENTS[event][0]]


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.hlguest, self.folder, self.made = hlguest, folder, Made(
            seed, lambda rng, n: list(odd_names(rng, n)))
        self.rng = rng = random.Random(~seed)
        for one in self.made.recordings:
            one.kind |= READ * (rng.random() < .2)
        self.files = write_all(folder, self.made)
        for i, name in enumerate(self.files):
            os.utime(self.path(name), ns=(WRITTEN + i * 10**12,) * 2)
        self.select = Selection(rng, self.made.recordings if rng.random() < .4 else [])
        self.by = [key for key in KEYS[:3] if rng.random() < .3]
        self.gaps = rng.choice(("retag", "retag", "stretch"))  # a saved profile keeps all
        self.flat = rng.random() < .3 or not self.made.recordings[0].has(CALLCHAIN)
        self.left = self.select.of(self.made.samples)
        self.events = sorted({s.event for s in self.made.samples})
        self.guest = [s for s in self.left if is_guest(s)]
        self.host = [s for s in self.left if not is_guest(s)]

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self):
        return [f"--gaps={self.gaps}", *[f"--by={','.join(self.by)}"] * bool(self.by),
                *["--stacks=leaf"] * self.flat, *self.select.words]

    def report(self, *words, space=None):
        return run(self.hlguest, "report", "-q", "--force", "--border=keep", *words,
                   *(space or self.made.space).words(), cwd=self.folder)

    def save(self, name, *files):
        out, err, status = self.report("--format=pprof", "-o", name, *self.words(), *files)
        if "not in this build" in err:
            raise Skip(err.strip())
        return err, status

    def check(self):
        err, status = self.save("x.pb.gz", *self.files)
        if not self.guest and status in (0, 1):
            return
        if status not in (0, 3):
            yield f"status {status}: {err}"
            return
        self.saved = Saved(self.path("x.pb.gz"))
        yield from self.saved.orderly()
        yield from self.same("types", self.saved.types, list(self.types()))
        yield from self.images()
        yield from self.samples()
        yield from self.hosts()
        yield from self.sums()
        yield from self.times()
        yield from self.told()
        if not self.select.words:
            yield from self.merged()
            yield from self.again()

    @staticmethod
    def same(what, got, expected):
        if got != expected:
            if isinstance(expected, dict) and isinstance(got, dict):
                got, expected = (sorted(set(a.items()) - set(b.items()), key=str)[:3]
                                 for a, b in ((got, expected), (expected, got)))
            yield f"{what}: {got}, not {expected}"

    def types(self):
        for event in self.events:
            yield f"samples:{event}" if len(self.events) > 1 else "samples", "count"
            yield event, "nanoseconds" if event in CLOCKS else "count"

    def images(self):
        expected = {(guest.path, base): (guest.path, base, base + guest.end - TEXT + 0x40, "", 0, 1)
                    for guest, base in self.made.space.bases}
        yield from self.same("mappings", self.saved.mappings,
                             [expected[key] for key in sorted(expected)])
        # No recording tells of any build, which is told.
        yield from self.same("bases", [(i.load_base, i.bias, i.map, [vars(ran) for ran in i.ran]) for i in
                                       self.saved.extra.image],
                             [(base, base - TEXT, 0, [{"identity": 0, "file": "", "build_id": ""}])
                              for _, base in sorted(expected)])

    # Samples

    def location(self, ip):
        """(mapping, address, functions)"""
        image, addr, place = self.made.space.place(ip)
        if place.kind == "gap" and self.gaps == "stretch":
            place = self.made.space.bases[image][0].before(addr)
        mapping = None
        if image is not None:
            guest, base = self.made.space.bases[image]
            mapping = guest.path, base, base + guest.end - TEXT + 0x40, "", 0, 1
        name = escaped(readable(place.name))
        return mapping, ip, ((name, escaped(place.symbol) if place.symbol else name),)

    def labels(self, s):
        return tuple((key, -1 if getattr(s, key) is None else getattr(s, key)) for key in self.by)

    def comm(self, s):
        return self.made.recordings[s.file].comm(s.tid)

    def key(self, s):
        """(locations, labels, stack) of a sample."""
        locations, callers = [self.location(s.ip)], s.callers or ((), None)
        for at in callers[0]:
            locations.append(self.location(at - 1))
        if self.flat:
            return (locations[0],), self.labels(s), None
        if callers[1] is False:
            locations.append((None, 0, ((CUT, CUT),)))
        how = (0, 0) if callers[1] is None else (WHOLE if callers[1] else COPY_ENDS, BY_TABLES)
        host = (self.comm(s), GROUP), (NO_HOST, NOTE)
        return tuple(locations), self.labels(s), (tuple(callers[0]), *how, host)

    def samples(self):
        expected = collections.defaultdict(lambda: [0] * 2 * len(self.events))
        for s in self.guest:
            at, values = 2 * self.events.index(s.event), expected[self.key(s)]
            values[at] += 1
            values[at + 1] += s.period
        yield from self.same("samples", dict(self.saved.samples),
                             {key: tuple(values) for key, values in expected.items()})
        squares = collections.Counter()
        for s in self.guest:
            squares[s.event, self.labels(s)] += s.period**2
        got = {(self.events[row.event], self.labels_of(row)): row.squares_low |
               row.squares_high << 64 for row in self.saved.extra.series}
        yield from self.same("squares", got, dict(squares))

    def labels_of(self, row):
        rest = [key for key in KEYS if key not in self.by and getattr(row, key)]
        return tuple((key, getattr(row, key)) for key in self.by) if not rest else rest

    def hosts(self):
        rows, stacks = collections.defaultdict(list), collections.defaultdict(list)
        for s in self.host:
            mapped = s.mode == HOST and MAPPED <= s.ip < MAPPED + 0x1000
            dso = VMM if mapped else "[unknown]"
            rows[s.event, self.labels(s), dso, self.comm(s)].append(s)
            frame = f"[{os.path.basename(VMM)}]" if mapped else "[unknown]"
            kind = USER if s.mode == HOST else KERNEL
            if s.event != TRACEPOINT:  # whose hits are no time
                stacks[s.event, self.labels(s), ((self.comm(s), GROUP), (frame, kind))].append(s)
        extra = self.saved.extra
        got = {(self.events[r.event], self.labels_of(r), r.dso, r.process): (r.samples, r.period)
               for r in extra.host_row}
        yield from self.same("host", got, self.counts(rows))
        got = {(self.events[r.event], self.labels_of(r), self.saved.host(r.stack)):
               (r.samples, r.period) for r in extra.host_stack}
        yield from self.same("stacks of the host", got, {} if self.flat else self.counts(stacks))

    @staticmethod
    def counts(groups):
        return {key: (len(of), Count(of).period) for key, of in groups.items()}

    # What is told of all

    def totals(self):
        left = set(map(id, self.left))
        return {"seen": Count(self.made.samples), "host": Count(self.host),
                "deselected": Count(s for s in self.made.samples if id(s) not in left),
                "guest": Count(self.guest), "unnamed": Count()}

    def lost(self):
        return sum(sum(one.losses) for one in self.made.recordings)

    def untold(self):
        """How many are selected by all else, but were taken nobody knows when."""
        timed = [keep for word, keep in zip(self.select.words, self.select.keeps)
                 if word.startswith("--time=")]
        others = [keep for keep in self.select.keeps if keep not in timed]
        return sum(s.time is None and all(keep(s) for keep in others)
                   for s in self.made.samples) if timed else 0

    def members(self):
        """Events of groups, be it in one of several recordings."""
        return {s.event for s in self.made.samples if self.made.recordings[s.file].has(READ)}

    def sums(self):
        extra = self.saved.extra
        for name, count in self.totals().items():
            yield from self.same(name, (getattr(extra, f"{name}_samples"),
                                        getattr(extra, f"{name}_period")),
                                 (count.samples, count.period))
        expected = {"recorded": len(self.made.samples), "lost": self.lost(),
                    "untold": self.untold(), "unrecorded": 0, "overflow": 0, "throttled": 0,
                    "skipped": 0, "left": 0,
                    "marks": 0, "packed": 0, "unjoined": 0, "no_end": 0, "unknown": 0, "late": 0,
                    "damaged": 0, "undecoded": 0, "by": sum(1 << KEYS.index(key) for key in self.by),
                    "format": 4 if any(stack for (_, _, stack), _ in self.saved.samples) or
                    extra.host_stack else 3}
        yield from self.same("sums", {name: getattr(extra, name) for name in expected}, expected)
        yield from self.same("events", [(e.name, e.precise_ip, e.kind, e.member)
                                        for e in extra.event],
                             [(event, 0, kind_of(event), event in self.members())
                              for event in self.events])
        first = Count(s for s in self.left if s.event == self.events[0])
        yield from self.same("period", self.saved.raw.period,
                             first.period // first.samples if first.samples else 0)
        yield from self.same("default", (self.saved.default, self.saved.period_type),
                             (self.events[0], self.saved.types[1]))
        bases = self.made.space.bases
        sampled = {(s.file, self.made.space.place(s.ip)[0]) for s in self.guest}
        origins = collections.Counter(path for _, path in {
            (one, bases[image][0].path) for one, image in sampled if image is not None})
        n, told = len(self.files), extra.recordings
        yield from self.same("recordings", [told.seen, told.n, told.unread, told.unread_profiles, [
            (o.kind, o.key, o.n) for o in told.origin]], [len(self.made.samples), n, 0, 0, [
                (0, "", n), *((1, path, of) for path, of in sorted(origins.items()))]])

    def times(self):
        """When each sample was taken, and when and how long was recorded."""
        extra, whole, began = self.saved.extra, 0, []
        for i, one in enumerate(self.made.recordings):
            times = [s.time for s in one.samples if s.time is not None]
            took = max(times) - min(times) if times else 0
            whole += took
            began.append(WRITTEN + i * 10**12 - took)
        yield from self.same("recorded", (self.saved.raw.time_nanos, self.saved.raw.duration_nanos),
                             (min(began), whole))
        expected = sorted((s.time, s.ip, self.labels(s), s.event) for s in self.guest
                          if s.time is not None)
        if (extra.moments is None) == bool(expected):
            yield f"moments: {extra.moments}, of {len(expected)}"
        if not expected or extra.moments is None:
            return
        got, time = [], 0
        for step, at in zip(extra.moments.time, extra.moments.sample):
            time += step
            (locations, labels, _), _ = self.saved.samples[at // len(self.events)]
            got.append((time, locations[0][1], labels, self.events[at % len(self.events)]))
        yield from self.same("moments", sorted(got), expected)
        yield from self.same("moments", (extra.moments.seen, extra.moments.halved,
                                         len(extra.moments.time)),
                             (len(self.made.samples), 0, len(extra.moments.sample)))

    def comment(self):
        text = f"hlguest: format={self.saved.extra.format}"
        totals = self.totals()
        for name in ("seen", "deselected", "host", "guest"):
            if totals[name].samples:
                text += f" {name}={totals[name].samples},{totals[name].period}"
        return text + (f" lost={self.lost()}" if self.lost() else "")

    def told(self):
        """Comments, and what the check says: as a report of the same does."""
        out, _, _ = self.report("--format=json", *self.words(), *self.files)
        trust = json.loads(out)["trust"] if self.guest else None
        expected = [self.comment()]
        if trust:
            check, = self.saved.extra.check
            yield from self.same("check", (WORDS[check.word], check.suppressed),
                                 (trust["verdict"], 0))
            expected.append(f"check: {SAID[trust['verdict']]}" +
                            (f": {check.said}" if check.said else ""))
            if bool(check.said) != bool(trust["banner"]):
                yield f"check: {check.said!r}, {trust['banner']!r}"
        yield from self.same("comments", self.saved.comments, expected)

    # What is made of it

    def merged(self):
        """Saved one by one and summed it is what is saved of all, but for what the check said."""
        each = []
        for i, name in enumerate(self.files):
            if not any(map(is_guest, self.made.recordings[i].samples)):
                return
            each.append(f"{i}.pb.gz")
            _, status = self.save(each[-1], name)
            if status not in (0, 3):
                yield f"{name}: status {status}"
                return
        self.rng.shuffle(each)
        _, err, status = run(self.hlguest, "merge", "-o", "sum.pb.gz", *each, cwd=self.folder)
        if status or err:
            yield f"merge: {status}: {err}"
            return
        both = [vars(Saved(self.path(name))) for name in ("sum.pb.gz", "x.pb.gz")]
        for of in both:
            of["comments"] = of["comments"][:1]
            of["extra"].check = None
            of["samples"] = sorted(of["samples"], key=repr)
            del of["raw"]
        for name, value in both[1].items():
            yield from self.same(f"merged {name}", both[0][name], value)

    def again(self):
        """A report of it is that of the recordings; also where its guests lie elsewhere now."""
        words = ["--format=csv", "--mode=guest", "--top=0", f"--gaps={self.gaps}",
                 *[f"--by={','.join(self.by)}"] * bool(self.by), *["--children"] * (not self.flat)]
        first = self.report(*words, *self.files)[0]
        yield from self.same("reported", self.rows(self.report(*words, "x.pb.gz")[0]),
                             self.rows(first))
        paths = [guest.path for guest, _ in self.made.space.bases]
        # Of what did not fit nobody knows where it lies now.
        fits = WORDS[self.saved.extra.check[0].word] not in ("mixed", "mismatch")
        if len(set(paths)) == len(paths) and fits:
            moved = Space([(guest, base + 0x7000000 * i) for i, (guest, base) in
                           enumerate(self.made.space.bases, 1)])
            yield from self.same("moved", self.rows(self.report(*words, "x.pb.gz", space=moved)[0]),
                                 self.rows(first))

    @staticmethod
    def rows(text):
        return [line for line in text.split("\n")
                if line.startswith(("function", "other", "region", "total", "event",
                                    "children"))]


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    for told in judge.check():
        yield f"{' '.join(judge.words())}: {told[:700]}"


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
