# SPDX-License-Identifier: GPL-2.0-only
"""What rows a report has of the samples that modelled.py makes, by hlguest(7) alone."""
import collections
import decimal
import math

from lines import seconds
from shares import effective, wilson

BORDER = "border"  # what rows of VM exits are
TREE_LEAST = .005  # what has less of all samples is in no tree of callers


class Count:
    """Samples, as they add up."""

    def __init__(self, samples=()):
        samples = list(samples)
        self.samples, self.period = len(samples), sum(s.period for s in samples)

    def __eq__(self, other):
        return (self.samples, self.period) == (other["samples"], other["period"])

    def __repr__(self):
        return f"{self.samples} samples, period {self.period}"


def size_of(place):
    return place.end - place.start if place.start else 0


def address_of(place):
    return f"{place.start:#x}" if place.start else None


class Selection:
    """Words, and which samples they leave."""

    def __init__(self, rng, recordings):
        self.words, self.keeps = [], []
        samples = [s for one in recordings for s in one.samples]
        choices = list(self.choices(rng, recordings, rng.choice(samples))) if samples else []
        for word, keep in rng.sample(choices, min(len(choices), rng.choice((0, 0, 1, 1, 2)))):
            if word.split("=")[0] not in [w.split("=")[0] for w in self.words]:
                self.words.append(word)
                self.keeps.append(keep)

    @staticmethod
    def choices(rng, recordings, some):
        yield f"--pid={some.pid}", lambda s: s.pid == some.pid
        yield f"--tid={some.tid},999", lambda s: s.tid == some.tid
        yield "--tid=81-82", lambda s: 81 <= s.tid <= 82
        yield f"--{rng.choice(('pid', 'tid', 'cpu'))}=9", lambda s: False
        cpu = rng.randrange(3)
        yield f"--cpu={cpu}", lambda s: s.cpu == cpu
        yield "--cpu=1-7", lambda s: s.cpu is not None and s.cpu >= 1
        yield f"--event={some.event[:3]}*", lambda s: s.event.startswith(some.event[:3])
        yield f"--event={some.event}", lambda s: s.event == some.event
        yield from Selection.times(rng, recordings, some)

    @staticmethod
    def times(rng, recordings, some):
        """What has no time is in none."""
        time = some.time or 10**9
        timed = {one.number: [s.time for s in one.samples if s.time is not None]
                 for one in recordings}
        first = {number: min(times) for number, times in timed.items() if times}
        last = {number: max(times) for number, times in timed.items() if times}
        yield f"--time={seconds(time)},", lambda s: s.time is not None and s.time >= time
        yield f"--time=,{seconds(time)}", lambda s: s.time is not None and s.time < time
        low, high = sorted(rng.randrange(10**8) for _ in range(2))
        if low < high:
            yield f"--time=+{low}ns,+{high}ns", \
                lambda s: s.time is not None and low <= s.time - first[s.file] < high
        part, nth = rng.choice(((10, 3), (50, 2), (25, 1)))

        def within(s):
            """In the nth part of its recording, whose last part has its end, too."""
            if s.time is None:
                return False
            length = (last[s.file] - first[s.file]) * part
            at = 100 * (s.time - first[s.file])
            return (nth - 1) * length <= at < nth * length or \
                nth * part == 100 and at == nth * length
        yield f"--time={part}%/{nth}", within

    def span(self, first, last):
        """How much of the time from first to last --time selects."""
        begin, end = first, last
        for text in (word[7:] for word in self.words if word.startswith("--time=")):
            if "%" in text:
                part, nth = map(int, text.split("%/"))
                limits = [first + ((last - first) * part * i + 50) // 100 for i in (nth - 1, nth)]
            elif text[0] == "+":
                limits = [first + int(at[1:-2]) for at in text.split(",")]
            else:
                limits = [int(decimal.Decimal(at) * 10**9) if at else other
                          for at, other in zip(text.split(","), (first, last))]
            begin, end = max(begin, limits[0]), min(end, limits[1])
        return max(end - begin, 0)

    def of(self, samples):
        return [s for s in samples if all(keep(s) for keep in self.keeps)]


class Row:
    """What was sampled in one place, or one region."""

    def __init__(self, key):
        self.key, self.samples = key, []

    def count(self):
        return Count(self.samples)


class View:
    """What is kept of some guest samples, in rows and regions."""

    def __init__(self, space, options, samples, weigh):
        self.space, self.options, self.weigh = space, options, weigh
        self.rows, self.regions, self.kept, self.samples = {}, {}, [], samples
        for s in samples:
            self.add(s)
        self.all = sum(map(weigh, self.kept))
        # What is dropped had its part of the observations.
        self.observations = self.kept_observations = effective(
            [weigh(s) for s in samples]) * len(self.kept) / max(1, len(samples))

    def add(self, s):
        image, addr, place = self.space.place(s.ip)
        if place.kind == "gap" and self.options["gaps"] == "drop":
            return
        if place.kind == "gap" and self.options["gaps"] == "stretch":
            place = self.space.bases[image][0].before(addr)
        self.kept.append(s)
        self.credit(s, (image, place))
        if size := self.options["region"]:
            key = image, addr - addr % size
            region = self.regions.setdefault(key, (Row(key), collections.Counter()))
            region[0].samples.append(s)
            region[1][image, place] += self.weigh(s)

    def credit(self, s, key):
        self.rows.setdefault(key, Row(key)).samples.append(s)

    def share(self, row):
        return self.share_of(row.samples)

    def share_of(self, samples):
        return sum(map(self.weigh, samples)) / self.all if self.all else 0

    def limits(self, row):
        """Of very few samples that are a small part only the upper one is told."""
        low, high = wilson(self.share(row), self.observations)
        few = len(row.samples) <= 2 and self.share(row) < .1
        return 0 if few else low, high

    def order(self, row):
        """The heaviest first; and the images in turn, behind them outside."""
        image = row.key[0]
        return -sum(map(self.weigh, row.samples)), (1,) if image is None else (
            0, self.space.path(image), self.space.bases[image][1])

    def shown(self, rows, top, least):
        return [row for row in rows[:top or None] if 100 * self.share(row) >= least]

    def ordered(self):
        """By weight, then address, then image."""
        def key(row):
            weight, image = self.order(row)
            return weight, row.key[1].start or 0, image
        return sorted(self.rows.values(), key=key)

    def table(self, options, aliases, others=None):
        """What is told of each row that is shown. others: of data and outside alone, or of
        functions, labels and gaps alone."""
        rows = self.ordered()
        limits = [self.limits(row) for row in rows]
        unsure = {id(row): low <= high for row, (low, _), (_, high) in
                  zip(rows, limits, limits[1:])}
        return [(place.name, place.symbol, place.kind, self.space.path(image),
                 address_of(place), size_of(place) or None, row.count().samples,
                 row.count().period, list(place.aliases) if aliases else [],
                 unsure.get(id(row), False), self.share(row), *self.limits(row))
                for row in self.told(options, others) for image, place in [row.key]]

    def told(self, options, others=None):
        """The rows that are shown, in the order of sort=."""
        key = {"size": lambda row: -size_of(row.key[1]), "name": lambda row: row.key[1].name,
               "address": lambda row: row.key[1].start or 0}.get(options["sort"], lambda row: 0)
        rows = [row for row in self.ordered()
                if others is None or (row.key[1].kind in ("data", "outside")) == others]
        return sorted(self.shown(rows, options["top"], options["min"]), key=key)

    def region_table(self, options):
        return [(tuple(place.name for _, place in self.parts(row)), self.space.path(row.key[0]),
                 f"{row.key[1]:#x}", options["region"], row.count().samples,
                 row.count().period, self.share(row), *View.limits(self, row))
                for row in self.regions_told(options)]

    def regions_told(self, options):
        top = options["regions"] if options["regions"] is not None else options["top"]
        return self.shown(self.ordered_regions(), top, options["min"])

    def ordered_regions(self):
        return sorted((row for row, _ in self.regions.values()),
                      key=lambda row: (*self.order(row), row.key[1]))

    def parts(self, region):
        """{(image, place): its weight} of a region, the heaviest first."""
        rank = {row.key: i for i, row in enumerate(self.ordered())}
        of = self.regions[region.key][1]
        return {key: of[key] for key in sorted(of, key=lambda key: (-of[key], rank[key]))}


class Inclusive(View):
    """Functions with all that they call: a sample counts once in each of its stack."""

    def __init__(self, space, options, samples, weigh):
        self.itself = collections.defaultdict(list)  # what was sampled in a row itself
        self.stacks, self.depth = {}, {}             # of each sample; of each row, at least
        super().__init__(space, options, samples, weigh)
        self.cut = [s for s in self.kept if not (s.callers and s.callers[1])]

    def credit(self, s, key):
        """Return addresses are of calls, which stand in front of them."""
        stack = [key]
        for address in s.callers[0] if s.callers else ():
            image, _, place = self.space.place(address - 1)
            stack.append((image, place))
        stack.reverse()
        self.stacks[id(s)] = stack
        self.itself[key].append(s)
        cut = bool(s.callers and not s.callers[1])  # by at least one more
        for i, one in enumerate(stack):
            if one not in stack[:i]:
                self.rows.setdefault(one, Row(one)).samples.append(s)
                self.depth[one] = min(i + cut, self.depth.get(one, i + cut))

    def limits(self, row):
        """What was cut off a stack may have been any function."""
        has = set(map(id, row.samples))
        more = sum(self.weigh(s) for s in self.cut if id(s) not in has)
        share = self.share(row)
        high = min(1, share + more / self.all) if self.all else share
        return wilson(share, self.observations)[0], wilson(high, self.observations)[1]

    def ordered(self):
        """By weight, then callers first, then by name, address and image."""
        def key(row):
            image, place = row.key
            return (-sum(map(self.weigh, row.samples)), self.depth[row.key], place.name,
                    place.start or 0, math.inf if image is None else image)
        return sorted(self.rows.values(), key=key)

    def told(self, options, others=None):
        """sort=self goes by it, also in what is shown."""
        if options["sort"] != "self":
            return super().told(options, others)
        rows = sorted(self.ordered(), key=self.self_share, reverse=True)
        return [row for row in rows[:options["top"] or None]
                if 100 * self.self_share(row) >= options["min"]]

    def self_share(self, row):
        return sum(map(self.weigh, self.itself[row.key])) / self.all if self.all else 0

    def inclusive_table(self, options):
        return [(place.name, place.symbol, place.kind, self.space.path(image), address_of(place),
                 size_of(place) or None, row.count().samples, row.count().period,
                 self.share(row), *self.limits(row))
                for row in self.told(options) for image, place in [row.key]]

    def tree(self, row, callers):
        """Of whole_tree(), what is not too little to be told."""
        return {names: of for names, of in self.whole_tree(row, callers).items()
                if sum(map(self.weigh, of)) >= TREE_LEAST * self.all}

    def whole_tree(self, row, callers):
        """{names from the row on: samples} of what it calls, or of who calls it: beyond the
        outermost time that it is in a stack."""
        found = collections.defaultdict(list)
        for s in row.samples:
            stack = self.stacks[id(s)]
            at = stack.index(row.key)
            beyond = [place.name for _, place in (stack[:at][::-1] if callers else stack[at + 1:])]
            if callers and s.callers and not s.callers[1]:
                beyond.append("[truncated: copied stack ends]")
            for n in range(1, len(beyond) + 1):
                found[tuple(beyond[:n])].append(s)
        return found


class Parted:
    """What was sampled at VM exits is in rows of its own; whole is what all rows weigh. Of
    functions with what they call it counts in both. border=drop: it is nowhere."""

    def __init__(self, space, options, samples, weigh, exits):
        self.exits, self.borders, self.left = exits, {}, []
        super().__init__(space, options, samples, weigh)
        self.summed = self.kept + self.left
        self.whole = sum(map(weigh, self.summed))
        self.summed_observations = effective([weigh(s) for s in samples]) * \
            len(self.summed) / max(1, len(samples))

    def add(self, s):
        if s.ip not in self.exits:
            super().add(s)
            return
        image, addr, place = self.space.place(s.ip)
        if place.kind == "gap" and self.options["gaps"] == "stretch":
            place = self.space.bases[image][0].before(addr)
        if self.options["border"] == "split":
            self.credit_exit(s, (image, place), self.exit_key(image, place))

    @staticmethod
    def exit_key(image, place):
        return image, place._replace(kind=BORDER, name=f"__vm_exit__ in {place.name}")

    def credit_exit(self, s, _, key):
        self.left.append(s)
        self.borders.setdefault(key, Row(key)).samples.append(s)

    def rows_of_all(self):
        return [*self.rows.values(), *self.borders.values()]

    def ordered(self):
        """Those of exits are behind the others, in the same order."""
        rows, self.rows = self.rows, self.borders
        borders = super().ordered()
        self.rows = rows
        return super().ordered() + borders


class Apart(Parted, View):
    """Rows of what was sampled in them."""


class Called(Parted, Inclusive):
    """And of what is called from there. What exits stands on its function."""

    def credit_exit(self, s, function, key):
        self.kept.append(s)
        self.credit(s, function)
        self.itself[function].pop()
        self.borders.setdefault(key, Row(key)).samples.append(s)
        self.itself[key].append(s)
        depth = len(self.stacks[id(s)]) + bool(s.callers and not s.callers[1])
        self.depth[key] = min(depth, self.depth.get(key, depth))
