#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest flame's picture against the stacks that it is of.

    flame_model.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of report_model.py. Folded stacks, which other tests compute, are
taken as given, by samples and by period; and what hlguest-flame(1) says of the picture is computed
from them: each frame's place, width, height, colour, label and words, its order, what is too
narrow, the legend, the head and the notes; and with --before= what changed, and how surely.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../verbs"))
from forged import HOST
from graph import SVG, Graph
from modelled import CLOCKS, MAPPED, TRACEPOINT, Recording, is_guest, near
from modelled_view import Selection
from programs import hlguest_of
from report_model import PHASES, Made
from shares import adjusted, effective, newcombe, tested, wilson
from tap import run, seeds

MILLION = 10**6
PIXELS, CHARACTER, MARGIN = .98, 7.3, 6  # the part that frames have; a letter's width; beside it
WORDS = {"guest": "guest", "gap": "in no function", "border": "VM exits", "kernel": "host kernel",
         "user": "host user"}
LEVEL = .05
STEPS = (1, 5)  # points
NAMED = 5


class Stacks:
    """What folded stacks say of each frame: its samples and its weight, in their order."""

    def __init__(self, ask, weight, order):
        self.samples, self.weight = (self.read(ask(by)) for by in ("samples", weight))
        self.order = self.read(ask(order)) if order != weight else self.weight
        self.total = self.weight["all",]

    @staticmethod
    def read(folded):
        sums = collections.Counter()
        for line in folded.splitlines():
            stack, _, n = line.rpartition(" ")
            path = ("all", *stack.split(";"))
            for i in range(len(path)):
                sums[path[:i + 1]] += int(n)
        return sums

    def children(self):
        below = collections.defaultdict(list)
        for path in self.order:
            below[path[:-1]].append(path)
        return below

    def walk(self):
        """(path, where it begins), each behind its parent, beside its elder."""
        below, todo = self.children(), [(("all",), 0)]
        while todo:
            path, at = todo.pop()
            yield path, at
            ends = []
            for child in below[path]:
                ends.append((child, at))
                at += self.weight[child]
            todo += reversed(ends)


class Side:
    """Some of the recordings, with what is selected of them."""

    def __init__(self, judge, files):
        self.judge, self.files = judge, files
        numbers = [int(name.split(".")[0]) for name in files]
        self.seen = [s for s in judge.made.samples if s.file in numbers]
        self.left = judge.select.of(self.seen)
        self.guest = [s for s in self.left if is_guest(s)]
        self.kept = [s for s in self.guest if judge.options["gaps"] != "drop" or
                     judge.made.space.place(s.ip)[2].kind != "gap"]
        mode = judge.options["mode"]
        hosts = [s for s in self.left if not is_guest(s) and (judge.whole or s.event != TRACEPOINT)]
        self.drawn = [*(self.kept if mode != "host" else ()), *(hosts if mode != "guest" else ())]
        self.events = {s.event for s in (*(self.guest if mode != "host" else ()),
                                         *(hosts if mode != "guest" else ()))}
        self.shown = len(self.guest) if mode == "guest" else \
            len(self.left) - len(self.guest) if mode == "host" else len(self.left)

    def stacks(self, weight):
        return Stacks(lambda by: self.judge.flame(
            self.files, f"--weight={by}", "--format=folded")[0], weight, self.judge.weight)

    def modes(self, comm):
        """Of the host's samples of a thread whose place is not known."""
        return {s.mode for s in self.drawn if f"vcpu{s.tid}" == comm and not is_guest(s) and not (
            s.mode == HOST and MAPPED <= s.ip < MAPPED + 0x1000)}

    def observations(self, stacks, weight):
        """Of the host's periods only the sum is known: they vary as the guest's do."""
        samples = stacks.samples["all",]
        if weight == "samples" or not self.kept:
            return samples
        return samples * effective([s.period for s in self.guest]) / len(self.guest)


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.made, self.hlguest, self.folder = Made(seed), hlguest, folder
        rng = self.rng = self.made.rng
        if len(self.made.recordings) == 1 and rng.random() < .7:
            self.made.recordings.append(None)
        if len(self.made.recordings) > 1:
            self.another()
        for guest in self.made.guests:
            self.write(guest.path, guest.data())
        self.files = [f"{i}.data" for i in range(len(self.made.recordings))]
        for name, one in zip(self.files, self.made.recordings):
            self.write(name, one.data())
        self.select = Selection(rng, self.made.recordings)
        if rng.random() < .5:
            self.select.words, self.select.keeps = [], []
        self.options = {"gaps": rng.choice(("retag", "retag", "drop", "stretch")),
                        "mode": rng.choice(("guest", "all", "all", "host")),
                        "by": rng.choice(("", "", "event", "tid", "pid,cpu"))}
        self.weight = rng.choice(("period", "samples", "period"))
        self.whole = bool(self.made.recordings[0].returns)  # stacks, as is each recording's
        self.least = rng.choice((None, 0, 1, 5, 20))
        self.inverted = rng.random() < .4
        self.title = rng.choice((None, "a <b> & c", "x" * 90))

    def another(self):
        """One that differs from the first so much that it is no chance."""
        made, rng = self.made, self.rng
        first = made.recordings[0]
        hot = [s.ip for s in rng.sample(first.samples, min(len(first.samples), 8)) if is_guest(s)]
        weights, many = [rng.random()**3 for _ in hot], rng.choice((0, 0, 1500, 1500, 10000))
        for number in (0, len(made.recordings) - 1) if many else (len(made.recordings) - 1,):
            one = made.recordings[number] = Recording(
                rng, number, first.events, lambda: rng.choices(hot, weights)[0] if hot else
                made.space.some(rng), many or rng.choice((40, 90, 180)), made.lacks,
                made.space.returns())
            if many:  # of the host; guests may be found to work in phases
                guests = [s for s in one.samples if is_guest(s)][:PHASES // 3]
                odd, kept = one.threads[0][1], rng.choice((.2, .7, .9, 1))
                one.samples = guests + [s for s in one.samples if not is_guest(s) and (
                    s.tid != odd or rng.random() < kept)]
        alone = rng.choice((None, made.recordings[:1], made.recordings[1:]))
        for one in alone or ():  # what the host did is not there
            one.samples = [s for s in one.samples if is_guest(s)]
        made.samples = [s for one in made.recordings for s in one.samples]

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(content)

    def flame(self, files, *words, verb="flame"):
        """(standard output, standard error, status)"""
        options = [f"--{key}={value}" for key, value in self.options.items() if value]
        return run(self.hlguest, verb, "--force", "--border=keep", *options,
                   *self.select.words, *words, *self.made.space.words(), *files, cwd=self.folder)

    def told(self, files):
        """What a report says of these: its banner, warnings and notes, as text has them."""
        words = ["--wide=yes", "--color=never", f"--weight={self.weight}"]
        text, _, _ = self.flame(files, *words, *["--stacks=callgraph"] * self.whole, verb="report")
        told = re.findall("^(!!|warning:|note:) +(.*)$", text, re.M)
        return [(level, line) for level, line in told if not line.startswith(
            "recordings that may have samples of an image")]  # of its list of recordings

    def picture(self, files, weight, *more):
        words = [f"--weight={weight}", *more]
        if self.least is not None:
            words.append(f"--min={self.least}")
        if self.inverted:
            words.append("--inverted")
        if self.title:
            words.append(f"--title={self.title}")
        return self.flame(files, *words)

    def check(self):
        several = len(self.files) > 1
        yield from self.judged(Side(self, self.files), None)
        sides = Side(self, self.files[:1]), Side(self, self.files[1:])
        if several and all(len(side.guest) < PHASES for side in sides):
            yield from self.judged(*sides)

    def judged(self, after, before):
        sides = [side for side in (after, before) if side]
        if not all(side.shown for side in sides):
            return
        weight = self.weight
        # Frames of one name and another kind are one in folded stacks. And whether a tracepoint's
        # hits are time is another question.
        if self.whole and any(s.event == TRACEPOINT or len(side.modes(f"vcpu{s.tid}")) > 1
                              for side in sides for s in side.drawn):
            return
        more = [f"--before={name}" for name in (before.files if before else ())]
        out, err, status = self.picture(after.files, weight, *more)
        what = " ".join([*map(str, self.options.values()), *self.select.words, weight, *more])
        if status not in (0, 3):
            yield f"{what}: status {status}: {err}"
            return
        if any(len(side.events) > 1 for side in sides):
            weight = "samples"
        drawing = Drawing(self, out, after, before, weight)
        for line in drawing.check():
            yield f"{what}: {line}"


class Drawing:
    """A picture against the stacks of a side, or of two."""

    def __init__(self, judge, out, after, before, weight):
        self.judge, self.weight, self.before, self.after = judge, weight, before, after
        self.graph, self.stacks = Graph(out), after.stacks(weight)
        self.least = .01 if judge.least is None else judge.least
        self.width = int(self.graph.root.get("width"))
        guests = judge.made.guests
        self.functions = {s.name for guest in guests for s in guest.symbols}
        # Those that may be found to work in phases have wider intervals.
        self.exact = len(after.guest) < PHASES
        self.changes = Changes(after, before, weight, self.stacks) if before else None

    def kind(self, path):
        """The colour's class, and the word."""
        name = path[-1]
        if name.startswith(("__gap__", "[data]", "[outside]")):
            return "gap", "gap"
        if self.judge.whole and name in ("[unknown]", "[vmm]"):
            kernel = name == "[unknown]" and self.after.modes(path[-2]) - {HOST}
            return ("kernel", "host kernel") if kernel else ("user", "host user")
        if name == "[host]" or name.startswith("[") and "[host]" not in path:
            return "note", "note"
        if "[host]" not in path and name in self.functions:
            return "guest", "guest"
        return "group", "group"

    def check(self):
        expected, hidden = self.laid_out()
        got = [(f.path, f.at, f.n) for f in self.graph.frames]
        mine = [(path, at, self.stacks.weight[path]) for path, at in expected]
        if sorted(got) != sorted(mine):
            yield f"frames {sorted(set(got) ^ set(mine))[:4]}; {len(got)}, not {len(mine)}"
            return
        if got != mine:
            yield "frames are in another order than the stacks"
        yield from self.geometry()
        for f in self.graph.frames:
            for line in (*self.classes(f), *self.words(f), *self.label(f)):
                yield f"{f.path}: {line}"
        yield from self.shades()
        yield from self.legend()
        yield from self.said(hidden)

    def laid_out(self):
        """What is drawn; and of the rest (samples, frames)."""
        drawn, hidden, gone = [], [0, 0], set()
        for path, at in self.stacks.walk():
            weight = self.stacks.weight[path]
            if path[:-1] in gone:
                hidden[1] += 1
                gone.add(path)
            elif len(path) > 1 and (not weight or 100 * weight < self.least * self.stacks.total):
                hidden[0] += self.stacks.samples[path]
                hidden[1] += 1
                gone.add(path)
            else:
                drawn.append((path, at))
        return drawn, hidden

    def geometry(self):
        """Frames lie on their callers, side by side, in a box that is theirs."""
        root, box = self.graph.frames[0], self.graph.root.find(SVG + "svg[@class='graph']")
        rows = max(f.depth for f in self.graph.frames) + 1
        height = int(box.get("height")) // rows
        if box.get("data-up") != ("no" if self.judge.inverted else "yes"):
            yield f"data-up {box.get('data-up')}"
        if not 12 < height < 30 or height * rows != int(box.get("height")):
            yield f"{box.get('height')} high, of {rows} rows"
        for f in self.graph.frames:
            row = f.depth if self.judge.inverted else rows - 1 - f.depth
            left, right = (n * MILLION // self.stacks.total if self.stacks.total else MILLION *
                           bool(n) for n in (f.at, f.at + f.n))
            if f.top != row * height or f.height != height - 1:
                yield f"{f.path}: {f.top}, {f.height} high, not {row * height}"
            if abs(f.left - left / 10**4) > 1e-9 or abs(f.width - (right - left) / 10**4) > 1e-9:
                yield f"{f.path}: from {f.left} % on {f.width}, not {left}, {right}"
        if not root.depth == 0 or root.name != "all":
            yield f"root {root.name}"

    def classes(self, f):
        kind, _ = self.kind(f.path)
        first, *others = f.classes
        if f.depth and first != kind:
            yield f"{first}, not {kind}"
        # An edge would be all there is.
        if ("thin" in others) != (f.width * self.width < 300):
            yield f"{f.width} % wide: {f.classes}"
        shaded = kind in ("guest", "user", "kernel") and not self.changes
        others = [c for c in others if c != "thin"]
        if len(others) != (shaded or bool(self.changes)) or shaded and not re.fullmatch(
                "s[0-7]", others[0]):
            yield f"{f.classes}"
        elif self.changes and others[0] != self.changes.colour(f.path):
            yield f"{f.classes}, not {self.changes.colour(f.path)}: {f.said}"

    def words(self, f):
        samples, weight = self.stacks.samples[f.path], self.stacks.weight[f.path]
        word = self.kind(f.path)[1] if f.depth else "group"
        words = f"{word}, {samples} sample{'s' * (samples != 1)}"
        if self.weight == "period" and self.clock():
            words += f", {weight // 10**6}.{weight // 10**5 % 10} ms"
        elif self.weight == "period":
            words += f", period {weight}"
        if f.said[0] != words or len(f.said) != 1 + bool(f.depth) * (1 + bool(self.changes)):
            yield f"{f.said}, not {words}"
            return
        if not f.depth:
            return
        share = weight / self.stacks.total if self.stacks.total else 0
        low, high = wilson(share, self.after.observations(self.stacks, self.weight))
        low = 0 if samples <= 2 and share < .1 else low
        told = re.fullmatch(r"(\S+) % of all \(95 %: (\S+) to (\S+)\)(?:, (\S+) % of its parent)?",
                            f.said[1])
        parent = self.stacks.weight[f.path[:-1]]
        if not told or (told[4] is None) != (f.depth == 1) or not near(
                told[1], 100 * share, 2) or told[4] and not near(
                    told[4], 100 * weight / parent if parent else 0, 2):
            yield f"{f.said[1]}, not {100 * share}, of {parent}"
        elif self.exact and not (near(told[2], 100 * low, 2) and near(told[3], 100 * high, 2)) or \
                float(told[2]) > 100 * low + .01 or float(told[3]) < 100 * high - .01:
            yield f"{f.said[1]}, not {100 * low} to {100 * high}"
        if self.changes:
            yield from self.changes.told(f.path, f.said[2])

    def clock(self):
        return bool(self.after.events) and self.after.events <= set(CLOCKS)

    def label(self, f):
        """A name is cut by an ellipsis; behind a whole one stands its share if there is room."""
        pixels = f.width / 100 * self.width * PIXELS
        room = int((pixels - MARGIN) / CHARACTER) if pixels > MARGIN else 0
        tenths = (f.n * 1000 + self.stacks.total // 2) // self.stacks.total \
            if self.stacks.total else 0
        share = f" {tenths // 10}.{tenths % 10} %" if f.depth else ""
        right = f.name if len(f.name) <= room else f.name[:room - 1] + "…"
        if len(f.name + share) <= room:
            right += share
        if f.label != (right if room >= 3 else None):
            yield f"labelled {f.label}, not {right}, in room for {room}"
        if f.label and f.text_at != (f.left, f.top + 13):
            yield f"a label at {f.text_at}, of a frame at {f.left}, {f.top}"

    def shades(self):
        """A name has one; where it stands first, not that of the frames beside and below."""
        shades, last = {}, {}
        for f in self.graph.frames[1:] if not self.changes else ():
            shade = next((c for c in f.classes if re.fullmatch("s[0-7]", c)), None)
            if shades.get(f.name, shade) != shade:
                yield f"{f.path}: {shade}, before {shades[f.name]}"
            if shade and f.name not in shades and shade in (
                    last.get(f.depth), last.get(f.depth - 1)):
                yield f"{f.path}: {shade} as one beside or below it"
            if shade:
                shades[f.name] = shade
            last[f.depth] = shade

    def legend(self):
        legend = self.graph.root.find(SVG + "svg[@class='legend']")
        keys = [(g.get("class"), text.text) for g, text in zip(
            legend.findall(SVG + "g"), legend.findall(SVG + "text"))]
        kinds = {f.classes[0] for f in self.graph.frames[1:]}
        right = [(kind, word) for kind, word in WORDS.items() if kind in kinds]
        if self.changes:
            right = [("grew2", "grew"), ("shrank2", "shrank"), ("same", "no significant change")]
            right += [("alone", "no other side")] * self.changes.alone[1]
        if keys != right:
            yield f"legend {keys}, not {right}"
        at = [(float(g.find(SVG + "rect").get("x")), float(text.get("x"))) for g, text in zip(
            legend.findall(SVG + "g"), legend.findall(SVG + "text"))]
        ends = [text + 5 * len(word) for (_, text), (_, word) in zip(at, keys)]
        if any(text <= box for box, text in at) or any(
                end > box for end, (box, _) in zip(ends, at[1:])):
            yield f"legend at {at}"

    def said(self, hidden):
        """The lines of text, put together again, in their order."""
        title = self.judge.title or ("What changed in " if self.before else "Flame graph of ") + \
            ", ".join(os.path.basename(guest.path) for guest, _ in self.judge.made.space.bases)
        if {text.get("class") for text in self.graph.root.find(SVG + "g[@class='notes']")} - {"soft"}:
            yield "notes that are not soft"
        if self.graph.title != title:
            yield f"titled {self.graph.title}, not {title}"
        said = " ".join(self.graph.texts[1:])
        for line in self.lines(hidden):
            if line not in said:
                yield f"{said}: not {line}"
        if ("not drawn" in said) != bool(hidden[1]):
            yield f"{said}: {hidden} are not drawn"
        notes = " ".join(self.graph.notes)
        for line in self.notes():
            if line not in notes:
                yield f"{notes}: not {line}"
        if ("filtered out" in notes) != any(len(side.seen) > len(side.left) for _, side in
                                            self.sides()):
            yield f"{notes}: filtered out"
        warned = " ".join(text.text for text in self.graph.root.findall(SVG + "text")
                          if text.get("class") == "warn")
        for which, side in self.sides():
            for level, line in self.judge.told(side.files):
                if which + line not in (notes if level == "note:" else warned):
                    yield f"{level} {line} of {which} is not told"
        yield from self.below()

    def sides(self):
        return [("before: ", self.before), ("after: ", self.after)] if self.before else [
            ("", self.after)]

    def lines(self, hidden):
        for which, side in self.sides():
            samples = (self.changes.old if side is self.before else self.stacks).samples["all",]
            guest = len(side.kept) if self.judge.options["mode"] != "host" else 0
            files = f" in {len(side.files)} recordings" if len(side.files) != 1 else ""
            events = self.events_said(which)
            if sorted(events) != sorted(side.events):
                yield f"{which}samples of {side.events}, not {events}"
            of = f" of {', '.join(events)}" if events else ""
            yield f"{which}{samples} sample{'s' * (samples != 1)}{of}{files}: guest {guest}, " \
                f"host {samples - guest}"
        yield "; widths are samples" if self.weight == "samples" else \
            "; widths are time" if self.clock() else "; widths are period"
        if hidden[1]:
            whole = self.stacks.samples["all",]
            yield f"{hidden[0]} sample{'s' * (hidden[0] != 1)} " \
                f"({100 * hidden[0] / whole + 1e-9:.2f} %) in {hidden[1]} frame" \
                f"{'s' * (hidden[1] != 1)} narrower than {self.least:.2f} % " \
                f"{'is' if hidden[1] == 1 else 'are'} not drawn"
        if self.changes:
            yield from self.changes.lines()
            yield from self.differ()
        else:
            yield "a frame lies on its caller; a function has one hue"

    def differ(self):
        """Sides are of the same events? Clocks count the same, maybe."""
        before, after = ({"clock" if e in CLOCKS else e for e in side.events}
                         for _, side in self.sides())
        line = "the sides were sampled by different events"
        if before != after:
            yield line
        elif line in " ".join(self.graph.texts) and before == after and self.before.events == \
                self.after.events:
            yield f"no {line}"

    def events_said(self, which):
        told = re.search(rf"{which}\d+ samples? of (.*?)(?: in \d+ recordings)?: guest ",
                         " ".join(self.graph.texts[1:]))
        return told[1].split(", ") if told else []

    def notes(self):
        for which, side in self.sides():
            away, seen = len(side.seen) - len(side.left), len(side.seen)
            if away:
                yield f"{which}{away} of {seen} sample{'s' * (seen != 1)} " \
                    f"{'is' if away == 1 else 'are'} filtered out"
            dropped = len(side.guest) - len(side.kept)
            if dropped:
                yield f"{which}gaps=drop: {dropped} gap sample" \
                    f"{' is' if dropped == 1 else 's are'} left out"
        if self.changes:
            yield from self.changes.notes()

    def below(self):
        """Texts are in the picture, each below the one before, notes below the frames."""
        box = self.graph.root.find(SVG + "svg[@class='graph']")
        top, end = int(box.get("y")), int(box.get("y")) + int(box.get("height"))
        heads = [int(t.get("y")) for t in self.graph.root.findall(SVG + "text")]
        notes = [int(t.get("y")) for t in self.graph.root.find(SVG + "g[@class='notes']")]
        legend = {int(t.get("y")) for t in self.graph.root.findall(
            f"{SVG}svg[@class='legend']/{SVG}text")}
        rows = [*heads, *sorted(legend), top]
        if len(legend) > 1 or any(b - a < 15 for a, b in zip(rows, rows[1:])):
            yield f"texts at {rows}"
        rows = [end - 3, *notes, int(self.graph.root.get("height"))]
        if any(b - a < (15 if b < rows[-1] else 5) for a, b in zip(rows, rows[1:])) or \
                rows[-1] - rows[-2] > 40:
            yield f"notes at {rows}"


class Changes:
    """What two sides' frames differ by."""

    def __init__(self, after, before, weight, new):
        self.old, self.new = before.stacks(weight), new
        stacks = (self.old, self.new)
        host = [("all", "[host]") in of.weight for of in stacks]
        self.alone = [a and not b for a, b in zip(host, reversed(host))]
        self.totals = [of.total - alone * of.weight["all", "[host]"]
                       for of, alone in zip(stacks, self.alone)]
        self.n = [side.observations(of, weight) * total / of.total if of.total else 0
                  for side, of, total in zip((before, after), stacks, self.totals)]
        self.gone = [path for path in self.old.weight if path not in new.weight and
                     path[:-1] in new.weight and not (self.alone[0] and "[host]" in path)]
        self.paths = [path for path in new.weight if len(path) > 1 and not (
            self.alone[1] and "[host]" in path)]
        all_of = [*self.paths, *self.gone]
        qs = adjusted([tested(self.shares(path), self.n)[0] for path in all_of])
        self.q = dict(zip(all_of, qs))

    def shares(self, path):
        return [of.weight[path] / total if total else 0
                for of, total in zip((self.old, self.new), self.totals)]

    def unsure(self, path):
        """So near to the level that rounding tells."""
        return abs(self.q[path] - LEVEL) < 1e-9

    def colour(self, path):
        if len(path) == 1:
            return "same"
        if path not in self.q:
            return "alone"
        if self.q[path] > LEVEL:
            return "same"
        before, after = self.shares(path)
        step = 1 + sum(100 * abs(after - before) >= limit for limit in STEPS)
        return f"{'grew' if after > before else 'shrank'}{step}"

    def told(self, path, words):
        if path not in self.q:
            if words != "no other side: only this one has host samples":
                yield words
            return
        told = re.fullmatch(r"before (\S+) %, difference (\S+) points \(95 %: (\S+) to (\S+)\), "
                            r"(not )?significant", words)
        before, after = self.shares(path)
        low, high = newcombe((before, after), self.n)
        if not all(self.n):  # nothing is known
            before = after = 0
        if not told or not near(told[1], 100 * before, 2) or not near(
                told[2], 100 * (after - before), 2):
            yield f"{words}, not {100 * before} and {100 * after}"
        elif not (near(told[3], 100 * low, 2) and near(told[4], 100 * high, 2)):
            yield f"{words}, not {100 * low} to {100 * high}"
        elif not self.unsure(path) and (not told[5]) != (
                self.q[path] <= LEVEL):
            yield f"{words}, q {self.q[path]}"

    def lines(self):
        n = sum(q <= LEVEL for q in self.q.values())
        yield f"widths are after; coloured: {n} frame{'s' * (n != 1)} whose share changed " \
            "significantly (at most 5 % of such are chance), stronger from 1 and from 5 points on"
        for alone, side in zip(self.alone, ("before", "after")):
            if alone:
                yield f"only the side {side} has host samples: guest frames are compared by " \
                    "their share of the guest's"

    def notes(self):
        n = len(self.gone)
        yield "samples are tested against samples"
        if n:
            yield f"{n} frame{'s' * (n != 1)} of before {'is' if n == 1 else 'are'} gone"
        order = sorted(self.gone, key=lambda path: (-self.shares(path)[0], path[-1].encode()))
        yield " ".join(f"gone: {path[-1]}, {100 * self.shares(path)[0] + 1e-9:.2f} %, "
                       f"{'not ' * (self.q[path] > LEVEL)}significant" for path in order[:NAMED])
        if n > NAMED:
            yield f"gone: {n - NAMED} more"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
