#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The plot and the page of hlguest windows against the numbers that they are of.

    windows_drawn.py --build DIR [--seed N] [--seeds N]

Recordings are those of windows_model.py, which computes what JSON and CSV say of them. Here that
is taken as given, and what the manual page says of format=svg and format=html is computed from
it: where each dot, band, line, bar and mark must be, on the axes that the picture itself has, and
what each text says. Those axes must be even, whole and no wider than their steps need.
"""
import collections
import html
import io
import csv
import math
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import windows_model
from markup import UNITS, check_still, near as near_ns
from programs import hlguest_of
from tap import run, seeds
from windows_model import RATES, Selection, near, seconds

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
        self.what = "pairs between markers" if self.pairs else \
            "intervals" if self.every else "windows"

    def pixel(self, time, width):
        return (time - self.start) * width // (self.stop - self.start + 1)

    def panels(self, rates):
        """(title, unit, whether it is time, a value or None for each row)"""
        unit = "a pair" if self.pairs else "an interval" if self.every else "a window"
        for i, event in enumerate(self.events):
            yield event, unit, event in TIMES, [counts[i] for *_, counts in self.of]
        for name, a, b, times, _ in RATES if rates else ():
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
            share, _, name = entry.find(SVG + "text").text.partition(" % ")
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
        span, bottom = (self.rows.stop - self.rows.start) / 1e9, Panel(self, self.panels[-1]).bottom
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
        bands = [(x, self.height(max(of)), self.height(min(of))) for x, of in sorted(points.items())
                 if max(of) > min(of)]
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


class Judge(windows_model.Judge):
    def draw(self, form, *words):
        glob = [f"--event={self.made.group[0]}"] if self.made.other else []
        out, err, status = run(self.hlguest, "windows", self.elf, self.data, "--force",
                               f"--format={form}", *["--rates"] * self.rates, *glob, *words)
        if status:
            raise RuntimeError(f"{words}: status {status}: {err}")
        return out

    def sampled(self):
        leader = self.made.group[0]
        if self.made.traced:
            return f"sampled at every {leader}"
        return f"sampled every {'5 us' if leader in TIMES else 5000} of {leader}"

    def check(self):
        every = self.rng.choice((10**4, 10**6, 3 * 10**7, 10**9))
        ways = [[], [f"--every={every}ns"]]
        if self.made.traced:
            ways.append([f"--between=port:{self.made.ports[0]}..port:{self.made.ports[1]}"])
        for way in ways:
            select = Selection(self.rng, self.made, not way)
            left = select.of(self.made.samples)
            if way and way[0].startswith("--between"):
                select.words = []
                left = self.made.samples
                if set(self.made.ports[:2]) - {s.port for s in left}:
                    continue
            if not left:
                continue
            words = [*way, *select.words]
            for line in self.drawn(words):
                yield f"{' '.join(words)}: {line}"

    def drawn(self, words):
        told = self.json(*words)
        if not told:
            return
        rows = Rows(told)
        svg = self.draw("svg", *words)
        picture = Picture(ElementTree.fromstring(svg), rows, self.rates)
        yield from picture.check(("guest.elf", "made.data"), self.sampled())
        yield from self.page(self.draw("html", *words), svg, told, rows, words)

    def page(self, page, svg, told, rows, words):
        yield from check_still(page)
        heading = f"guest.elf: {len(rows.of)} {rows.what} of made.data"
        head = page.split("</header>")[0].split("<h1>")[1]
        if html.unescape(head.split("</h1>")[0]) != heading:
            yield f"page headed {head[:80]}, not {heading}"
        counted = f"{len(rows.of)} pairs" if rows.pairs else \
            f"{len(rows.of)} {rows.what}, {self.sampled()}"
        if re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", html.unescape(head)) != [
                ("recorded", counted)]:
            yield f"page: {head}, not {counted}"
        lost = f"{self.made.lost} events were lost"
        warned = [html.unescape(line) for line in re.findall('<p class="warning">(.*?)</p>', head)]
        if any(lost in line for line in warned) != bool(self.made.lost) or not all(
                re.fullmatch("warning: +(.*)", line)[1] in told["notes"] for line in warned):
            yield f"page: {warned}, though {lost}"
        same = [re.sub(r"<style>.*?</style>\n|viewBox=\"[^\"]*\"", "", text, flags=re.S)
                for text in (svg, re.search("<svg.*</svg>", page, re.S)[0])]
        boxes = [[int(n) for n in re.search('viewBox="(.*?)"', text)[1].split()]
                 for text in (svg, re.search("<svg.*</svg>", page, re.S)[0])]
        if same[0].strip() != same[1].strip() or boxes[0][1] or boxes[1][1] <= 22 or \
                boxes[1][1] > 30 or boxes[1][1] + boxes[1][3] != boxes[0][3]:
            yield f"page: another picture than --format=svg: {boxes}"
        folded = "\n".join(re.findall("<pre.*?>(.*?)</pre>", page, re.S))
        for note in told["notes"]:
            if note not in html.unescape(head + folded):
                yield f"page: lacks {note}"
        yield from self.pairs_page(page, told) if rows.pairs else self.sums_page(page, rows, words)

    def sums_page(self, page, rows, words):
        tables = re.findall("<tbody>(.*?)</tbody>", page, re.S)
        if rows.every:
            if tables:
                yield "page: intervals have sums by function"
            return
        glob = [f"--event={self.made.group[0]}"] if self.made.other else []
        out, _, _ = run(self.hlguest, "windows", self.elf, self.data, "--force", "--summary",
                        *glob, *words)
        head, *expected = list(csv.reader(io.StringIO(out)))
        names = ["share %", *head[2:3], *head[4:], "function"]
        if cells_of(page.split("<thead>")[1].split("</thead>")[0])[0] != names:
            yield f"page: columns, not {names}"
        got = cells_of(tables[0])
        if len(got) != len(expected):
            yield f"page: {len(got)} sums, not {len(expected)}"
        for row, right in zip(got, expected):
            if [row[-1], row[1]] != right[1:3] or not near(row[0], float(right[3]), 2):
                yield f"page: {row}, not {right}"
            for name, cell, value in zip(head[4:], row[2:], right[4:]):
                if not same_cell(cell, value, name in TIMES):
                    yield f"page: {row[-1]} has {cell} {name}, not {value}"

    def pairs_page(self, page, told):
        got = cells_of(re.search("<tbody>(.*?)</tbody>", page, re.S)[1])
        if [row[-1] for row in got] != [s["event"] for s in told["spread"]]:
            yield f"page: spreads of {[row[-1] for row in got]}, not {told['events']}"
        for row, s in zip(got, told["spread"]):
            figures = [s[key] for key in ("median", "median_low", "median_high", "min", "mean",
                                          "max")]
            for cell, value in zip(row, figures):
                if not same_cell(cell, "" if value is None else value, s["event"] in TIMES):
                    yield f"page: {row}, not {figures}"
            if row[6] != str(s["outliers"]):
                yield f"page: {row}, not {s['outliers']} outliers"


def same_cell(cell, value, is_time):
    if value == "" or cell == "-":
        return (cell, value) == ("-", "")
    if is_time:
        return near_ns(cell, float(value))
    return near(cell, float(value), len(cell.partition(".")[2]))


def cells_of(rows):
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in
             re.findall("<t[hd].*?>(.*?)</t[hd]>", row)] for row in
            re.findall("<tr>(.*?)</tr>", rows, re.S)]


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    return judge.check() if judge.made.samples else ()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 12, differences))
