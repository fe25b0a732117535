# SPDX-License-Identifier: GPL-2.0-only
"""A flame graph against the stacks of one side, or of two (flame_model.py)."""
import re

from forged import HOST
from graph import SVG, Graph
from modelled import CLOCKS, near
from report_model import PHASES
from shares import adjusted, newcombe, tested, wilson

MILLION = 10**6
PIXELS, CHARACTER, MARGIN = .98, 7.3, 6  # the part that frames have; a letter's width; beside it
WORDS = {"guest": "guest", "gap": "in no function", "border": "VM exits", "kernel": "host kernel",
         "user": "host user"}
LEVEL = .05
STEPS = (1, 5)  # points
NAMED = 5


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
            ", ".join(map(self.judge.made.space.called, range(len(self.judge.made.space.bases))))
        below = self.graph.root.find(SVG + "g[@class='notes']")
        if {text.get("class") for text in below} - {"soft"}:
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
                    f"{'is' if away == 1 else 'are'} filtered out; selected: " + \
                    " ".join(word[2:] for word in self.judge.select.words)
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
