# SPDX-License-Identifier: GPL-2.0-only
"""The plot of hlguest windows against the rows that it is of, as JSON has them: where each dot,
band, line, bar and mark must be, on the axes that the picture itself has, which must be even,
whole and no wider than their steps need."""
import collections
import math
import re

from markup import UNITS
from lines import seconds

SVG = "{http://www.w3.org/2000/svg}"
TIMES = ("ns", "task-clock")
PREFIXES = {prefix: 1000**i for i, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
TITLES = {"ipc": ("instructions per cycle", None), "branch_miss_percent": (
    "branches mispredicted", "%"), "llc_miss_percent": ("last-level cache misses", "%")}
Y_TICKS, X_TICKS = 4, 8  # at most
COLOURS = 8
LOW = .0500001  # of what has one decimal
PUT = re.compile(r"([A-Za-z])([^A-Za-z]*)")


def steps(path):
    """[(letter, numbers)] of a path."""
    return [(letter, [float(n) for n in numbers.split()])
            for letter, numbers in PUT.findall(path or "")]


def words_of(element):
    return "".join(element.itertext())


def number_of(text, is_time):
    """The number of "1.25 M" or "3.5 ms"; and how far off it may be."""
    figure, _, unit = text.partition(" ")
    if not re.fullmatch(r"\d{1,3}|\d\.\d{1,2}|\d\d\.\d", figure) and not (
            unit == "s" and re.fullmatch(r"\d+", figure)) and not re.fullmatch(
                r"0\.0*\d{1,3}|\d(\.\d+)?e-\d+", figure):
        raise ValueError(f"{text} is no number of three digits")
    scale = UNITS[unit] if is_time and unit else PREFIXES[unit]
    value = float(figure)
    last = 10**(math.floor(math.log10(value)) - 2) if value else 0
    return value * scale, max(last, 1 if unit == "s" and value >= 1000 else 0) * scale * .5000001


def step_ok(step, most, ticks):
    """1, 2 or 5 times a power of ten, and the next finer one would be too fine."""
    power = 10**math.floor(math.log10(step) + 1e-9)
    finer = {1: .5, 2: 1, 5: 2}.get(round(step / power, 6))
    return finer and step * ticks >= most * (1 - 1e-9) and \
        finer * power * ticks < most * (1 + 1e-9)


class Rows:
    """What is drawn where it ends: (time, function or None, windows, counts), in that order."""

    def __init__(self, told):
        self.every, self.pairs = told.get("every", 0), "pairs" in told
        self.events = told["events"]
        if self.pairs:
            self.of = [(p["end_ns"], None, 1, p["counts"]) for p in told["pairs"]]
        else:
            self.of = [(w["time_ns"], w["function"], w.get("windows", 1), w["counts"])
                       for w in told["windows"]]
        times = [time for time, *_ in self.of]
        self.start, self.stop = (min(times), max(times)) if times else (0, 0)
        ending = "" if len(self.of) == 1 else "s"
        self.what = f"pair{ending} between markers" if self.pairs else \
            f"interval{ending}" if self.every else f"window{ending}"

    def pixel(self, time, width):
        return (time - self.start) * width // (self.stop - self.start + 1)

    def panels(self, rates):
        """(title, unit, whether it is time, a value or None for each row)"""
        unit = "a pair" if self.pairs else "an interval" if self.every else "a window"
        for i, event in enumerate(self.events):
            yield event, unit, event in TIMES, [counts[i] for *_, counts in self.of]
        for name, a, b, times, _ in rates:
            if {a, b} <= set(self.events):
                a, b = self.events.index(a), self.events.index(b)
                yield *TITLES[name], False, [
                    counts[a] / counts[b] * times if counts[b] else None for *_, counts in self.of]


class Picture:
    """An SVG against rows."""

    def __init__(self, root, rows, rates):
        self.root, self.rows, self.rates = root, rows, rates
        groups = root.findall(SVG + "g")
        self.strip = groups.pop(0) if self.located() else None
        self.panels = groups
        axis = steps(groups[0].find(f"{SVG}path[@class='axis']").get("d")) if groups else None
        (_, (self.left, _)), (_, (self.width,)) = axis

    def located(self):
        return [(time, function, n) for time, function, n, _ in self.rows.of if function]

    def check(self, names, sampled):
        yield from self.head(names, sampled)
        yield from self.strip_drawn()
        expected = list(self.rows.panels(self.rates))
        if len(self.panels) != len(expected):
            yield f"{len(self.panels)} panels, not {[name for name, *_ in expected]}"
        for panel, (title, *more) in zip(self.panels, expected):
            for line in Panel(self, panel).check(title, *more):
                yield f"panel {title}: {line}"
        yield from self.apart()
        yield from self.time_axis()

    def head(self, names, sampled):
        what = f"{names[0]}: {len(self.rows.of)} {self.rows.what} of {names[1]}"
        said = "dot: mean; band: least to most; counts as read" if self.rows.pairs else \
            f"{sampled}; dot: mean; band: least to most; " \
            "line: from the end of the window before; counts as read"
        texts = [words_of(text) for text in self.root.findall(SVG + "text")][:2]
        title = self.root.find(SVG + "title").text
        if [title, *texts] != [what, what, said]:
            yield f"head {[title, *texts]}, not {[what, said]}"
        for text in self.root.findall(SVG + "text")[:2]:
            if float(text.get("x")) != self.left:
                yield "a head that is not above the panels"

    def strip_drawn(self):
        """Each pixel has the colour of the first window that ends in it or behind it."""
        located = self.located()
        if not located:
            return
        bars, at = [], 0
        for time, function, _ in located:
            end = self.rows.pixel(time, self.width) + 1
            if end > at:
                bars.append((self.left + at, end - at, function))
                at = end
        legend = self.strip.findall(SVG + "svg")
        colours = self.legend(legend, located)
        got = [(float(r.get("x")), float(r.get("width")), words_of(r.find(SVG + "title")))
               for r in self.strip.findall(SVG + "rect")]
        if got != bars:
            yield f"strip {got}, not {bars}"
        if isinstance(colours, str):
            yield colours
            return
        for r in self.strip.findall(SVG + "rect"):
            name = words_of(r.find(SVG + "title"))
            if r.get("fill") != colours.get(name, colours.get(None)):
                yield f"strip: {name} has {r.get('fill')}, not as {colours}"
        yield from self.strip_high(legend)

    def legend(self, entries, located):
        """{function: colour}, None for all others; or what is wrong."""
        counts = collections.Counter()
        for _, function, n in located:
            counts[function] += n
        order = counts.most_common()
        expected = order if len(order) <= COLOURS else order[:COLOURS - 1] + [
            (f"{len(order) - COLOURS + 1} others", sum(n for _, n in order[COLOURS - 1:]))]
        colours, told = {}, []
        for entry in entries:
            share, _, name = entry.find(SVG + "text").text.partition(" % of windows: ")
            told.append((share, name))
            name = name if name in counts else None
            colours[name] = entry.find(SVG + "rect").get("fill")
        if [share for share, _ in told] != [
                f"{100 * n / counts.total() + 1e-9:.2f}" for _, n in expected] or any(
                    name in counts and share != f"{100 * counts[name] / counts.total() + 1e-9:.2f}"
                    for share, name in told):
            return f"legend {told}, not {expected}"
        if len(order) > COLOURS and told[-1][1] != expected[-1][0]:
            return f"legend {told[-1]}, not {expected[-1]}"
        if len(set(colours.values())) != len(expected) or len(colours) != len(expected):
            return f"legend: colours {colours} of {expected}"
        return colours

    def strip_high(self, legend):
        """The legend stands below the bars, in columns that are as wide as the strip."""
        bars = self.strip.findall(SVG + "rect")
        below = {float(r.get("y")) + float(r.get("height")) for r in bars}
        boxes = [[float(e.get(key)) for key in ("x", "y", "width", "height")] for e in legend]
        if len(below) != 1 or boxes[0][1] <= min(below) or boxes[0][0] != self.left:
            yield f"strip: bars end at {below}, the legend is {boxes}"
        columns = sorted({x for x, *_ in boxes})
        rows = sorted({y for _, y, *_ in boxes})
        for i, (x, y, width, height) in enumerate(boxes):
            if (x, y) != (columns[i % 2 if len(boxes) > 1 else 0], rows[i // 2]) or \
                    x + width > self.left + self.width:
                yield f"legend: box {boxes[i]} is the {i}th"
        if any(b - a != boxes[0][3] for a, b in zip(rows, rows[1:])) or \
                len(boxes) > 1 and columns[1] - columns[0] != self.width / 2:
            yield f"legend: {rows} {columns}"
        first = Panel(self, self.panels[0])
        if boxes[-1][1] + boxes[-1][3] > first.heading() - 12:
            yield "legend: into the panel"

    def apart(self):
        """Panels are as high, and as far from each other, and all are in the picture."""
        panels = [Panel(self, panel) for panel in self.panels]
        places = [(p.bottom - p.top, p.top - p.heading()) for p in panels]
        tops = [p.top for p in panels]
        if len(set(places)) > 1 or len({b - a for a, b in zip(tops, tops[1:])}) > 1:
            yield f"panels are not alike: {places}, {tops}"
        if any(b.heading() - 10 < a.bottom for a, b in zip(panels, panels[1:])):
            yield "panels overlap"
        box = [float(n) for n in self.root.get("viewBox").split()]
        last = max(float(text.get("y")) for text in self.root.findall(SVG + "text"))
        if not last + 4 <= box[1] + box[3] <= last + 40 or box[2] != float(
                self.root.get("width")) or box[0] or box[2] < self.left + self.width + 60:
            yield f"picture of {box}, whose last text is at {last}"

    def time_axis(self):
        marks = [steps(path.get("d")) for path in self.root.findall(SVG + "path")]
        texts = self.root.findall(SVG + "text")[2:]
        span = (self.rows.stop - self.rows.start) / 1e9
        bottom = Panel(self, self.panels[-1]).bottom
        labels = [(float(t.get("x")), float(t.text)) for t in texts[:-1]]
        if [mark[0][1] for mark in marks] != [[x, bottom] for x, _ in labels] or labels[:1] != [
                (self.left, 0)]:
            yield f"time axis: marks {marks}, labels {labels}"
        if span and (len(labels) < 2 or not step_ok(labels[1][1], span, X_TICKS) or
                     len(labels) != math.floor(span / labels[1][1] + 1e-9) + 1):
            yield f"time axis: {labels} of {span} s"
        for i, (x, value) in enumerate(labels):
            if abs(x - self.left - (self.width * value / span if span else 0)) > .6 or \
                    abs(value - i * labels[-1][1] / max(len(labels) - 1, 1)) > 1e-5 * value:
                yield f"time axis: {value} at {x}, of {span} s"
        words, since = texts[-1], f"seconds since {seconds(self.rows.start)}"
        if words.text != since or float(words.get("x")) != self.left + self.width / 2 or \
                len({t.get("y") for t in texts[:-1]}) != 1 or \
                not float(texts[0].get("y")) + 10 < float(words.get("y")):
            yield f"time axis: {words.text}, not {since}"


class Panel:
    def __init__(self, picture, element):
        self.picture, self.element, self.rows = picture, element, picture.rows
        self.axis = [(steps(path.get("d")), text) for path, text in self.pairs("axis")]
        self.bottom, self.top = self.axis[0][0][0][1][1], self.axis[-1][0][0][1][1]

    def pairs(self, kind):
        """(path, the text behind it) of a class."""
        children = list(self.element)
        return [(child, children[i + 1]) for i, child in enumerate(children)
                if child.get("class") == kind]

    def heading(self):
        return float(self.element.find(SVG + "text").get("y"))

    def check(self, title, unit, is_time, values):
        there = [v for v in values if v is not None]
        if self.element.find(SVG + "title").text != title or words_of(
                self.element.find(SVG + "text")) != title + (f" ({unit})" if unit else "") or \
                float(self.element.find(SVG + "text").get("x")) != self.picture.left:
            yield f"headed {words_of(self.element.find(SVG + 'text'))}, not {title} ({unit})"
        yield from self.scale(max(there, default=0), is_time)
        yield from self.percentiles(sorted(there), is_time)
        yield from self.dots(values)

    def scale(self, most, is_time):
        numbers = [number_of(text.text, is_time)[0] for _, text in self.axis]
        self.most, step = numbers[-1], numbers[1]
        for i, ((mark, text), value) in enumerate(zip(self.axis, numbers)):
            (_, (x, y)), (_, (width,)) = mark
            right = self.bottom - (self.bottom - self.top) * i / (len(numbers) - 1)
            if (x, width) != (self.picture.left, self.picture.width) or abs(y - right) > .1 or \
                    abs(float(text.get("y")) - y - 4) > .1 or abs(value - i * step) > 1e-6 * value:
                yield f"line {i} at {y}, not {right}, of {value}"
            if float(text.get("x")) >= x or "end" not in text.get("class").split():
                yield f"label {value} is not left of the lines"
        if most and not (step_ok(step, most, Y_TICKS) and
                         most <= self.most * (1 + 1e-9) and self.most - step < most) or \
                not most and numbers != [0, 1]:
            yield f"axis {numbers} of {most}"

    def height(self, value):
        return self.bottom - (self.bottom - self.top) * value / self.most

    def percentiles(self, values, is_time):
        marks, last = self.pairs("mark"), math.inf
        if len(marks) != 2 * bool(values):
            yield f"{len(marks)} percentiles of {len(values)} values"
        for (path, text), percent in zip(marks, (50, 99)):
            value = values[-(-len(values) * percent // 100) - 1]
            (_, (x, y)), (_, (width,)) = steps(path.get("d"))
            word, _, figure = text.text.partition(" ")
            told, off = number_of(figure, is_time)
            if word != f"p{percent}" or abs(told - value) > off or \
                    abs(y - self.height(value)) > LOW or \
                    (x, width) != (self.picture.left, self.picture.width):
                yield f"p{percent}: {text.text} at {y}, not {value} at {self.height(value)}"
            right = min(y + 4, last - 13)  # what would lie on another is moved up
            if abs(float(text.get("y")) - right) > .11 or \
                    float(text.get("x")) <= self.picture.left + self.picture.width:
                yield f"p{percent}: text at {text.get('x')}, {text.get('y')}, not {right}"
            last = right

    def dots(self, values):
        """The windows of each pixel."""
        points = collections.defaultdict(list)
        for (time, *_), value in zip(self.rows.of, values):
            if value is not None:
                points[self.picture.left + self.rows.pixel(time, self.picture.width)].append(value)
        means = [(x, self.height(math.fsum(of) / len(of))) for x, of in sorted(points.items())]
        bands = [(x, self.height(max(of)), self.height(min(of)))
                 for x, of in sorted(points.items()) if max(of) > min(of)]
        paths = {path.get("class"): path.get("d") for path in self.element.findall(SVG + "path")}
        yield from self.same("dots", paths["mean"], [
            piece for x, y in means for piece in (("M", [x, y]), ("h", [0]))])
        yield from self.same("bands", paths["range"], [
            piece for x, high, low in bands for piece in (
                ("M", [x, high]), ("h", [1]), ("V", [low]), ("h", [-1]), ("z", []))])
        if ("step" in paths) == self.rows.pairs:
            yield "a line between pairs, or none between windows"
        line = [("M", list(means[0]))] if means else []
        for x, y in means[1:]:
            line += [("V", [y]), ("H", [x])]
        if not self.rows.pairs:
            yield from self.same("line", paths["step"], line)

    @staticmethod
    def same(what, path, expected):
        got = steps(path)
        if len(got) != len(expected) or any(
                a[0] != b[0] or len(a[1]) != len(b[1]) or
                any(abs(x - y) > LOW for x, y in zip(a[1], b[1]))
                for a, b in zip(got, expected)):
            yield f"{what}: {got}, not {expected}"
