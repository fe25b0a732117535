#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest diff against another reading of the same numbers.

    diff_model.py --build DIR [--seed N] [--seeds N]

Two builds of guests, or one, and recordings of both are made up here. What hlguest-diff(1) says
of the rows that are matched, of their shares and differences, of the tests and intervals of
sides with fewer than three recordings, of the false discovery rate, of the totals and of
--fail-if is computed from the lists they were made from, and must be what the command writes,
figure by figure; with three recordings or more of a side, how much these differ, too. Which
addresses are VM exits is asked of hlguest report.
"""
import collections
import copy
import csv
import io
import json
import math
import os
import random
import re
import statistics
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import spread
from modelled import CLOCKS, PUSH, TEXT, Guest, Recording, Space, is_guest, near
from modelled_view import BORDER, Apart, Called, Count, Parted, Selection
from programs import hlguest_of
from seeds import seeds
from shares import adjusted, newcombe, tested, welch, wilson
from tap import Skip, run

SIDES = ("before", "after")
# Of both sides, or of each: a recording is of some of these.
EVENTS = ((("cpu-clock",),), (("cycles",),), (("page-faults",),), (("task-clock",),),
          (("cpu-clock", "cpu-clock:G"),), (("cycles:G", "cycles"), ("cycles",)),
          (("cycles",), ("cycles:u",)), (("page-faults",), ("page-faults", "cycles")))
LEVEL = .05
RUNS = 3    # from so many recordings of a side on, their spread counts
LEAST = 20  # samples of a row that is tested then
PHASES = 160  # from so many samples on a guest may be found to work in phases
HALT = b"\xf4"  # leaves each guest


def key_of(symbol):
    """What of a symbol's name is the same in each build."""
    symbol = re.sub(r"17h[0-9a-f]{16}E$", "E", symbol)
    return re.sub(r"\.(llvm|lto_priv)\.\d+", "", symbol)


class Built(Guest):
    """A guest that may have a build id, and that halts in some functions."""
    build_id = None

    def __init__(self, rng, names, path, calls):
        super().__init__(rng, names, path, calls)
        self.halts = []
        for s in self.tops[:3]:
            at = s.at + s.size // 2
            if s.size >= 64 and self.place(at - 4) == self.place(at) == self.place(at + 4) and \
                    self.code[at - TEXT - 4:at - TEXT + 4] == 8 * PUSH:
                self.halts.append(at)
                self.code = self.code[:at - TEXT] + HALT + self.code[at + 1 - TEXT:]

    def note(self, elf):
        if self.build_id:
            note = struct.pack("<3I4s20s", 4, 20, 3, b"GNU", self.build_id)
            elf.section(elf.name(b".note.gnu.build-id"), 7, at=elf.put(note), size=len(note))


class Side:
    """Guests where they lie, recordings of them, and what of these is left."""

    def __init__(self, rng, space, events, first, n, halts):
        """halts: addresses that may have many samples, of either side's guests."""
        self.space = space
        hot = [space.some(rng) for _ in range(rng.randint(1, 5))]
        hot += [at for at in halts if rng.random() < .7]
        size = rng.choice((0, 5, 20, 40, 100, 140)) // n + 1
        self.recordings = [
            Recording(rng, first + i, [rng.choice(events)], lambda: rng.choice(hot) if
                      rng.random() < .6 else space.some(rng), size + rng.randint(0, size // 4), 0,
                      space.returns()) for i in range(n)]
        self.files = [f"{one.number}.data" for one in self.recordings]

    def select(self, select):
        left = {id(s) for s in select.of(self.samples())}
        self.runs = [[s for s in one.samples if id(s) in left and is_guest(s)]
                     for one in self.recordings]
        self.guest = [s for run in self.runs for s in run]

    def look(self, options, weigh, kind, exits):
        """exits: addresses."""
        self.view = kind(self.space, options, self.guest, weigh, exits)
        self.each = [kind(self.space, options, run, weigh, exits) for run in self.runs]

    def samples(self):
        return [s for one in self.recordings for s in one.samples]


class Row:
    """Of both sides, what is the same."""

    def __init__(self, diff, rows):
        self.rows, self.sides = rows, diff.sides
        # Of --children, a stack may have several of one name: it is one of theirs.
        self.all = [{id(s): s for row in of for s in row.samples}.values() for of in rows]
        self.counts = [Count(samples) for samples in self.all]
        self.shares = [self.share_of(side.view, samples)
                       for side, samples in zip(diff.sides, self.all)]
        self.difference = self.shares[1] - self.shares[0]
        self.largest = [next((row for row in side.view.ordered() if row in of), of and of[0])
                        for side, of in zip(diff.sides, rows)]

    @staticmethod
    def share_of(view, samples):
        """Of all that has a row, VM exits among it."""
        return sum(map(view.weigh, samples)) / view.whole if view.whole else 0

    def named(self):
        """(the side, the row of it) that it is called after."""
        side = 1 if self.largest[1] else 0
        return self.sides[side], self.largest[side]

    def key(self):
        side, row = self.named()
        image, place = row.key
        name, at = (None, place) if isinstance(place, int) else (place.name, place.start)
        return side.space.path(image), name, None if at is None else f"{at:#x}"

    def tie(self):
        """What rows of one difference are sorted by."""
        path, name, at = self.key()
        names = [os.path.basename(guest.path) for guest, _ in self.sides[0].space.bases]
        return name or "", len(names) if path is None else names.index(
            os.path.basename(path)), int(at or "0", 0)

    def is_small(self):
        return sum(count.samples for count in self.counts) < LEAST

    def spreads(self):
        """What it has in each recording of a side."""
        for side, samples in zip(self.sides, self.all):
            mine = {id(s) for s in samples}
            yield spread.Side([
                (self.share_of(view, [s for s in view.summed if id(s) in mine]),
                 view.whole, view.summed_observations) for view in side.each])

    def judge(self, common):
        """Tests it. common: how much all rows differ from run to run, where that counts."""
        ns = [side.view.summed_observations for side in self.sides]
        if common:
            self.interval, self.p, self.exact = spread.compared(list(self.spreads()), common)
        else:
            self.interval = newcombe(self.shares, ns)
            self.p, self.exact = tested(self.shares, ns)

    def status(self, diff):
        absent = [side for side, of in zip((0, 1), self.rows) if not of]
        if not absent:
            return ""
        image, place = self.named()[1].key
        if not isinstance(place, int) and place.symbol and not diff.is_same(self.named()[0], image):
            if key_of(place.symbol) not in diff.symbols(self.sides[absent[0]], self.named()[0],
                                                        image):
                return ("new", "gone")[absent[0]]
        return "not sampled " + SIDES[absent[0]]

    def differences(self, f, diff):
        side, row = self.named()
        image, place = row.key
        expected = {"image": side.space.path(image), "status": self.status(diff)}
        if isinstance(place, int):
            expected.update(addr=f"{place:#x}", size=diff.options["region"])
        else:
            expected.update(name=place.name, symbol=place.symbol, kind=place.kind)
        for key, value in expected.items():
            if f[key] != value:
                yield f"{key}: {f[key]}, not {value}"
        for i, name in enumerate(SIDES):
            yield from self.side_differences(i, f[name], diff)
        change = 100 * self.difference / self.shares[0] if self.shares[0] else None
        if not near(f["points"], 100 * self.difference, 2) or not near(f["change"], change, 2):
            yield f"not {self.difference}, {change} %"
        if (diff.exact or diff.by_runs) and not (
                near(f["low"], 100 * self.interval[0], 2) and
                near(f["high"], 100 * self.interval[1], 2) and alike(f["p"], self.p) and
                alike(f["q"], self.q) and f["exact"] == self.exact):
            yield f"not {self.interval}, p {self.p}, q {self.q}, exact {self.exact}"
        if f["significant"] != (f["q"] <= LEVEL):
            yield "significant"

    def side_differences(self, i, f, diff):
        share, count, rows = self.shares[i], self.counts[i], self.rows[i]
        low, high = wilson(share, self.sides[i].view.summed_observations)
        if count != f or f["names"] != len(rows) or not near(f["percent"], 100 * share, 2) or \
                diff.exact and not (near(f["low"], 100 * low, 2) and
                                    near(f["high"], 100 * high, 2)):
            yield f"not {count}, {len(rows)} names, {share, low, high}"
        if ("self" in f) != diff.children:
            yield f"self: {f.get('self')}"
        elif diff.children:
            view = self.sides[i].view
            itself = Count(s for row in rows for s in view.itself[row.key])
            own = sum(map(view.self_share, rows))
            if itself != f["self"] or not near(f["self"]["percent"], 100 * own, 2):
                yield f"self: not {itself}, {own}"
        if rows and not isinstance(rows[0].key[1], int):
            at = self.largest[i].key[1].start
            if f.get("addr") != (None if at is None else f"{at:#x}"):
                yield f"addr {f.get('addr')}, not {at}"


class Judge:
    BORDERS = "keep", "split", "split", "drop"

    def __init__(self, hlguest, folder, seed):
        self.hlguest, self.folder = hlguest, folder
        rng = self.rng = random.Random(seed)
        events = rng.choice(EVENTS)
        self.same, self.children = rng.random() < .4, rng.random() < .45
        self.names = [[self.drawn(rng) for _ in range(rng.choice((1, 1, 3, 10)))]
                      for _ in range(rng.choice((1, 1, 2)))]
        if self.children:  # whose rows of one name are one
            self.names = [[*of, *["i.llvm.%"] * rng.choice((0, 4, 8))] for of in self.names]
        self.alike = set()  # images that are the same build
        spaces = [self.space(rng, self.names, "")]
        spaces.append(spaces[0] if self.same else self.other(rng, spaces[0]))
        n = rng.choice(((1, 1), (1, 1), (1, 2), (2, 2), (3, 3), (4, 3), (1, 3), (12, 3)))
        halts = [base + at - TEXT + rng.choice((0, 0, 1)) for space in spaces
                 for guest, base in space.bases for at in guest.halts]
        self.sides = [Side(rng, space, events[i % len(events)], 100 * (i + 1), n[i], halts)
                      for i, space in enumerate(spaces)]
        recordings = [one for side in self.sides for one in side.recordings]
        for guest in {guest.path: guest for space in spaces for guest, _ in space.bases}.values():
            self.write(guest.path, guest.data())
        for one in recordings:
            self.write(f"{one.number}.data", one.data())
        self.select = Selection(rng, recordings)
        self.options = {
            "gaps": rng.choice(("retag", "retag", "drop", "stretch")),
            "region": rng.choice((0, 256, 1024)), "weight": rng.choice(("period", "samples")),
            "top": rng.choice((0, 0, 2)), "min": rng.choice((0, 0, 5)),
            "border": rng.choice(self.BORDERS),
        }
        for side in self.sides:
            side.select(self.select)
        self.look()
        self.fail_if = rng.choice((0, 5, 100, 1000)) if rng.random() < .5 else None
        # Those without a sample tell nothing.
        self.by_runs = max(sum(bool(view.kept) for view in side.each)
                           for side in self.sides) >= RUNS

    def look(self):
        """As the options have it."""
        exits = self.alone = [self.exits(side) for side in self.sides]
        for side, mine, other in zip(self.sides, exits, exits[::-1]):
            at = mine | {(name, at) for name, at in other if self.same or name in self.alike}
            side.look(self.options, self.weight, Called if self.children else Apart, {
                base + own - TEXT for guest, base in side.space.bases for name, own in at
                if name == os.path.basename(guest.path)})

    def exits(self, side):
        """{(an image's file name, an own address)} of a side's VM exits: where these are is tested
        elsewhere."""
        if self.options["border"] == "keep":
            return set()
        out, err, _ = run(self.hlguest, "report", "-q", "--force", "--border=split",
                          "--format=json", *self.select.words, *side.space.words(), *side.files,
                          cwd=self.folder)
        if "not in this build" in err:
            raise Skip(err.strip())
        told = json.loads(out).get("border", ()) if out else ()
        return {(os.path.basename(row["image"]), int(at, 16)) for row in told
                for at in row["addresses"]}

    @staticmethod
    def drawn(rng):
        """A name, in which % is what each build makes anew. Some are static functions'."""
        return rng.choice("abcdefgh") + rng.choice(
            (f"_{rng.randrange(100)}", f"_{rng.randrange(100)}", ".llvm.%", f"{rng.randrange(100)}"
             ".lto_priv.%", "", "~", "|`", "\\|"))

    def space(self, rng, names, folder):
        """A build. ~ is Rust's mangling, with a hash."""
        def built(name):
            if "~" in name:
                return f"_ZN3one3f_{name[0]}17h{rng.getrandbits(64):016x}E"
            return name.replace("%", str(rng.randrange(1000)))
        bases = [(Built(rng, list(map(built, of)), f"{folder}guest{i}.elf", self.children),
                  0x10000 * (i + 1)) for i, of in enumerate(names)]
        for guest, _ in bases:
            guest.build_id = rng.randbytes(20) if rng.random() < .4 else None
        return Space(rng.sample(bases, len(bases)))

    def other(self, rng, space):
        """Another build: some functions gone, some new, all elsewhere. Of two images one may be
        the same, byte by byte."""
        other = self.space(rng, [[*rng.sample(of, rng.randint(1, len(of))), *(
            self.drawn(rng) for _ in range(rng.randint(0, 2)))] for of in self.names], "new/")
        if len(other.bases) > 1 and rng.random() < .5:
            i = rng.randrange(2)
            guest = copy.copy(space.bases[i][0])
            guest.path = "new/" + guest.path
            self.alike.add(os.path.basename(guest.path))
            other.bases = [(guest if one.path == guest.path else one, base)
                           for one, base in other.bases]
        return other

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)

    def weight(self, s):
        return s.period if self.options["weight"] == "period" else 1

    def words(self):
        words = [f"--{key}={value}" for key, value in self.options.items()]
        if self.children:
            words.append("--children")
        if self.fail_if is not None:
            words.append(f"--fail-if={self.fail_if}%")
        return [*words, *self.select.words]

    def run(self, form, *more):
        before, after = self.sides
        files = [*before.space.words(), *before.files, "--after"]
        files += [*([] if self.same else after.space.words()), *after.files]
        return run(self.hlguest, "diff", "-q", "--force", "--demangle=no",
                   f"--format={form}", *self.words(), *more, *files, cwd=self.folder)

    def joined(self, rows):
        """rows: of each side. Those of both that are one."""
        found = collections.OrderedDict()
        for i, side in enumerate(self.sides):
            for row in rows(side.view):
                found.setdefault(self.key(side, row), ([], []))[i].append(row)
        return [Row(self, of) for of in found.values()]

    def key(self, side, row):
        """Images are paired by file name."""
        image, place = row.key
        name = image is not None and os.path.basename(side.space.path(image))
        if self.is_same(side, image) or image is None or isinstance(place, int):
            return name, place
        return name, key_of(place.symbol) if place.symbol else (key_of(place.name),), \
            place.kind == BORDER

    def is_same(self, side, image):
        return self.same or image is not None and \
            os.path.basename(side.space.path(image)) in self.alike

    def symbols(self, side, of, image):
        """Keys of those of a side's build of an image of the other's."""
        name = os.path.basename(of.space.path(image))
        return {key_of(s.name) for guest, _ in side.space.bases for s in guest.symbols
                if os.path.basename(guest.path) == name}

    def check(self):
        out, err, status = self.run("json")
        what = " ".join([*self.words(), ",".join(f"{len(side.files)}" for side in self.sides),
                         "same" if self.same else "other"])
        if not self.comparable():
            if status != 1:
                yield f"{what}: status {status} though there is nothing to compare"
            return
        if "not in this build" in err:
            return
        if status not in (0, 3, 4):
            yield f"{what}: status {status}: {err}"
            return
        told = json.loads(out)
        for line in (*self.differences(told), *self.failed(told, err, status)):
            yield f"{what}: {line}"

    def comparable(self):
        """Has each side a sample, with callers if these are asked for; are all of one event?"""
        events = {re.sub(":G$", "", s.event) for side in self.sides for s in side.guest}
        return len(events) == 1 and all(
            any(s.callers or not self.children for s in side.guest) for side in self.sides)

    def failed(self, told, err, status):
        """--fail-if goes by the total and by all rows, of which the one that grew most is named."""
        if self.fail_if is None:
            return
        least = self.fail_if / 100
        total = told["total"]
        if total["significant"] and total["change"] is None or \
                total["significant"] and total["change"] > self.fail_if:
            if status == 0 or status == 4 and "guest's total is" not in err:
                yield f"--fail-if: status {status}: {err}, though the total grew: {total}"
            return
        amounts = adjusted([self.amount(row) for row in self.ordered])
        grown = [row for row, q in zip(self.ordered, amounts) if row.q <= LEVEL and q <= LEVEL and
                 row.shares[1] > row.shares[0] * (1 + least) and self.took_more(row, least)]
        said = f"{grown[0].key()[1]}: its share grew from" if grown else ""
        if (status == 4) != bool(grown) and status != 3 or status == 4 and said not in err:
            yield f"--fail-if: status {status}: {err}, not {said}"

    def took_more(self, row, least):
        """In the mean of the recordings, too: not where all others took less."""
        clock = self.sides[0].guest[0].event.partition(":")[0] in CLOCKS
        before, after = (sum(s.period if clock else self.weight(s) for s in of) / len(side.files)
                         for of, side in zip(row.all, self.sides))
        return after > before * (1 + least)

    def amount(self, row):
        """p that it took another amount in the mean of the recordings, by chance alone."""
        runs = []
        for side, samples in zip(self.sides, row.all):
            mine, runs = {id(s) for s in samples}, [*runs, []]
            for view in side.each:
                share = row.share_of(view, [s for s in view.summed if id(s) in mine])
                runs[-1].append((share * view.whole, share * view.summed_observations))
        if min(map(len, runs)) >= RUNS:
            return welch(runs)
        means = [statistics.fmean(weight for weight, _ in of) for of in runs]
        variance = sum((weight / len(of))**2 / n for of in runs for weight, n in of if n)
        return math.erfc(abs(means[1] - means[0]) / math.sqrt(2 * variance)) if variance else 1

    def differences(self, told):
        matched = "by address:" if self.same else "by address in" if self.alike else "by symbol"
        if not told["matched"].startswith(matched):
            yield f"{told['matched']}, not {matched}"
        yield from self.sides_told(told)
        yield from self.total(told["total"])
        self.exact = all(near(told[side]["observations"], of.view.summed_observations, 0)
                         for side, of in zip(SIDES, self.sides))
        if not self.exact and max(len(side.guest) for side in self.sides) < PHASES:
            yield f"observations: {[told[side]['observations'] for side in SIDES]}, not " + \
                f"{[of.view.summed_observations for of in self.sides]}"
        yield from self.rows("functions", told["functions"],
                             self.joined(Parted.rows_of_all))
        regions = self.joined(lambda view: [row for row, _ in view.regions.values()])
        yield from self.rows("regions", told["regions"],
                             regions if self.same and not self.children else [])
        yield from self.csv(told)
        yield from self.few()
        yield from self.text(told["total"])

    def sides_told(self, told):
        for name, side in zip(SIDES, self.sides):
            of = told[name]
            dropped = [s for s in side.guest if self.options["gaps"] == "drop" and
                       side.space.place(s.ip)[2].kind == "gap" and
                       s.ip not in side.view.exits]
            if of["recordings"] != side.files or Count(side.guest) != of["guest"] or \
                    Count(dropped) != of["dropped"]:
                yield f"{name}: {of}, not {side.files}, {Count(side.guest)}, {Count(dropped)}"
            images = [(guest.path, guest.build_id and guest.build_id.hex(), f"{base:#x}", 1)
                      for guest, base in side.space.bases]
            if [(i["path"], i["build_id"], i["base"], i["bases"]) for i in of["images"]] != images:
                yield f"{name}: {of['images']}, not {images}"
        selected = " ".join(word[2:] for word in self.select.words) or None
        if told.get("selected") != selected:
            yield f"selected: {told.get('selected')}, not {selected}"
        yield from self.exits_told(told["notes"])

    def exits_told(self, notes):
        """Where the other side tells of more VM exits than a report of one alone counts."""
        right = []
        for name, side, exits in zip(SIDES, self.sides, self.alone):
            at = {base + own - TEXT for guest, base in side.space.bases for image, own in exits
                  if image == os.path.basename(guest.path)}
            alone, both = (sum(s.ip in of for s in side.guest) for of in (at, side.view.exits))
            if both > alone and not self.children:  # whose head has no such number
                right.append(
                    f"{name}: {both} sample{' is' if both == 1 else 's are'} at VM exits, {alone} in "
                    "hlguest report of this side alone: the other side tells of more")
        if [note for note in notes if "the other side tells of more" in note] != right:
            yield f"notes {notes}, not {right}"

    def total(self, told):
        """In the mean of the recordings: time of a clock, whatever shares are of."""
        clock = self.sides[0].guest[0].event.partition(":")[0] in CLOCKS
        unit = (lambda s: s.period) if clock else self.weight
        runs = [[[unit(s) for s in view.summed] for view in side.each] for side in self.sides]
        means = [statistics.fmean(map(sum, of)) for of in runs]
        change = 100 * (means[1] / means[0] - 1) if means[0] else None
        p = None
        if min(len(side.files) for side in self.sides) >= RUNS:
            p = welch([[(sum(run), view.summed_observations) for run, view in zip(of, side.each)]
                       for of, side in zip(runs, self.sides)])
        if told["clock"] != clock or not near(told["change"], change, 2) or any(
                not near(told[side], mean, 0) for side, mean in zip(SIDES, means)):
            yield f"total: {told}, not {means}, {change}"
        words = self.meaning(p, means, runs)
        if not told["meaning"].startswith(words):
            yield f"total: {told}, not {words}"
        if not alike(told["p"], p) or told["significant"] != (p is not None and p <= LEVEL):
            yield f"total: {told}, not p {p}"

    def meaning(self, p, means, runs):
        """Begins so. Where runs are too few to be tested, what samples alone make likely counts."""
        if p is not None:
            return "changed" if p <= LEVEL else "no change"
        if means[0] == means[1]:
            return "the same"
        variance = sum((sum(run) / len(of))**2 / view.summed_observations
                       for of, side in zip(runs, self.sides)
                       for run, view in zip(of, side.each) if run)
        z = abs(means[1] - means[0]) / math.sqrt(variance) if variance else math.inf
        return "differs" if math.erfc(z / math.sqrt(2)) <= LEVEL else "does not differ"

    def rows(self, what, got, rows):
        """What is told of all rows, of which top= and min= leave some."""
        common = None
        if self.by_runs:
            common = spread.common_of([spread.likelihood(list(row.spreads())) for row in rows
                                       if not row.is_small()])
        for row in rows:
            row.judge(common)
            row.q = 1
        tried = [row for row in rows if not (self.by_runs and row.is_small())]
        for row, q in zip(tried, adjusted([row.p for row in tried])):
            row.q = q
        rows.sort(key=lambda row: (row.q > LEVEL, -abs(row.difference), *row.tie()))
        shown = [row for row in rows if max(row.shares) * 100 >= self.options["min"]]
        shown = shown[:self.options["top"] or None]
        if len(got) != len(shown):
            yield f"{what}: {len(got)} rows, not {len(shown)}"
        for f, row in zip(got, shown):
            lines = list(row.differences(f, self))
            if lines:
                yield f"{what}: {'; '.join(lines)}: {f}"
                break
        if what == "functions":
            self.ordered, self.shown = rows, shown

    def text(self, total):
        """Its first line, and its rows: which are significant, shares, difference, name."""
        out, _, _ = self.run("text", "--all", "--wide=yes", "--color=never")
        said = re.search(r"; (\d+) of (\d+) functions? (?:differ|changed)", out)
        found = sum(row.q <= LEVEL for row in self.ordered)
        if not said or said.groups() != (str(found), str(len(self.ordered))):
            yield f"text: {said}, not {found} of {len(self.ordered)}"
        got = re.findall(r"^(\*?) +(?:[+-][\d.]+ %|from 0|\d+ x) +([\d.]+) % +([\d.]+) % .*?"
                         r"([+-][\d.]+) +[+-][\d.]+ to .*?"
                         r"  ((?:__vm_exit__ in )?\S+(?: after \S+| before \S+| in \.text\S*| \.rodata)?)"
                         r"(?:  \[\S+\.elf\])?(?:  \(.*)?$", out, re.M)
        if len(got) != len(self.shown):
            yield f"text: {len(got)} rows, not {len(self.shown)}: {out}"
        for (star, before, after, points, name), row in zip(got, self.shown):
            if bool(star) != (row.q <= LEVEL) or name != row.key()[1] or not (
                    near(before, 100 * row.shares[0], 2) and near(after, 100 * row.shares[1], 2) and
                    near(points, 100 * row.difference, 2)):
                yield f"text: {star, before, after, points, name}, not {row.key(), row.shares}"
        out, _, _ = self.run("markdown")
        lines = re.findall(r"^\| (?:[+-].*?%|from 0|\d+ x) \| .*\|$", out, re.M)
        if len(lines) != sum(row.q <= LEVEL for row in self.shown):
            yield f"Markdown: {lines}"

    @staticmethod
    def key_told(f):
        return f["image"], f.get("name"), f.get("addr", f["after"].get("addr") or
                                                f["before"].get("addr"))

    def csv(self, told):
        """The same figures."""
        out, _, _ = self.run("csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        selected = [f["name"] for f in rows if f["record"] == "selected"]
        if selected != [value for key, value in told.items() if key == "selected"]:
            yield f"CSV: selected {selected}"
        for what in ("function", "region"):
            got = [f for f in rows if f["record"] == what]
            expected = [flat(f) for f in told[what + "s"]]
            for f, mine in zip(got, expected):
                different = {key: (f[key], value) for key, value in mine.items()
                             if not same_text(f[key], value)}
                if different:
                    yield f"CSV {what}: {different}"
            if len(got) != len(expected):
                yield f"CSV: {len(got)} {what}s, not {len(expected)}"

    def few(self):
        """top= counts the rows that min= leaves: up to one behind a smaller one that it does not."""
        shares = [100 * max(row.shares) for row in self.ordered]
        for i, (small, large) in enumerate(zip(shares, shares[1:])):
            least = math.floor(large - .01)
            if small < least:
                top = 1 + sum(share >= least for share in shares[:i + 1])
                options = self.options
                self.options = {**options, "min": least, "top": top}
                out, _, _ = self.run("csv")
                self.options = options
                got = sum(f["record"] == "function" for f in csv.DictReader(io.StringIO(out)))
                if got != top:
                    yield f"CSV: {got} functions of at least {least} %, not {top}"
                return


def flat(f):
    """A row of JSON as CSV has it."""
    row = {key: value for key, value in f.items() if key not in SIDES and key != "size"}
    for side in SIDES:
        for key in ("names", "samples", "period", "percent", "addr"):
            row[f"{key}_{side}"] = f[side].get(key)
    if "addr" in row:  # of a region: on each side that has it
        addr = row.pop("addr")
        row.update({f"addr_{side}": addr if f[side]["samples"] else None for side in SIDES})
    return row


def same_text(text, value):
    if value is None or isinstance(value, (str, bool)):
        return text == (value or "" if not isinstance(value, bool) else str(int(value)))
    return float(text) == value


def alike(told, p):
    """Four digits."""
    if told is None or p is None:
        return told is p
    return abs(told - p) <= 6e-4 * p + 1e-300


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 100, differences))
