#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of hlguest calibrate against its JSON and its text.

    calibrate_page.py --build DIR [--seed N] [--seeds N]

tests/kit/mkcalibration makes calibrations up and writes them as the verb does. JSON is taken as
given; of the page each table's rows, their order, figures, bars, dots and axes are computed from
it, and its words must be those of text.
"""
import html
import math
import json
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from markup import UNITS, check_still, check_units, near, rectangles
from programs import program
from seeds import seeds
from tap import Skip, must

WIDE, HIGH, DEEP, CELL, FAR = 1000, 16, 24, 10, 16
SEEN = 3  # a bar is as wide at least
HOT = ("rep movsb", "div", "load chain")  # guests that spend their time at one instruction
GROUPS = {"pair_user": "Between the rings of a guest",
          "cpuid": "From a guest to its host and back",
          "kvm_run": "On the host"}


class Axis:
    """Powers of ten, from the page's own words."""

    def __init__(self, words):
        powers = []
        for word in words:
            figure, _, unit = word.partition(" ")
            powers.append(math.log10(float(figure) * UNITS[unit or "ns"]))
        self.low, self.n, self.even = powers[0], len(words), all(
            abs(b - a - 1) < 1e-9 for a, b in zip(powers, powers[1:]))

    def at(self, value):
        place = (math.log10(value) - self.low) / self.n if value > 0 else 0
        return WIDE * min(max(place, 0), 1)

    def spans(self, values):
        """Does it reach from the least to the most, and no power of ten further?"""
        first = math.floor(math.log10(min(values))) if min(values) > 1 else 0
        last = math.ceil(math.log10(max(values))) if max(values) > 1 else 1
        return (round(self.low), round(self.low) + self.n) == (first, max(last, first + 1))

    def grid(self, height):
        return "".join(f"M{WIDE * i / self.n:.0f} 0v{height}" for i in range(self.n + 1))

    def is_bar(self, drawn, low, high, y, height):
        x, top, width, high_ = drawn
        left, right = self.at(low), self.at(high)
        return abs(x - left) <= 1 and abs(width - max(right - left, SEEN)) <= 1 and \
            (top, high_) == (y, height)


def rows_in(part):
    """[(name, remark, drawing, cells)]; a title of rows has no cells."""
    body = part.split("<tbody>")[1].split("</tbody>")[0]
    for name, remark, rest in re.findall(
            r'<th scope="row(?:group)?".*?>(.*?)(?: <small>(.*?)</small>)?</th>(.*?)</tr>', body,
            re.S):
        drawing = re.search("<svg.*?</svg>", rest, re.S)
        cells = re.findall("<td(?: class=\"(?:number|missing).*?\")?(?: colspan.*?)?>(.*?)</td>",
                           re.sub('<td class="drawing">.*?</td>', "", rest, flags=re.S))
        yield (html.unescape(name), html.unescape(remark), drawing[0] if drawing else "",
               [html.unescape(cell) for cell in cells])


class Judge:
    def __init__(self, build, seed):
        make = program(build, "MKCALIBRATION", "tests/kit/mkcalibration")
        if not os.path.exists(make):
            raise Skip("hlguest calibrate is of x86-64")
        self.page, text, told = (must(make, form, str(seed))
                                 for form in ("html", "tables", "json"))
        self.told, self.text = json.loads(told), text
        self.hz = self.told["crossings"]["tsc_hz"]

    def time(self, ticks):
        """ns; ticks where their rate is not known."""
        return ticks * 1e9 / self.hz if self.hz else ticks

    def is_time(self, cell, ticks):
        if not self.hz:
            return cell == f"{ticks} ticks"
        ns = math.floor(self.time(ticks) + .5)
        return near(cell, ns) or abs(self.time(ticks) - ns) > .49

    def check(self):
        yield from check_still(self.page)
        sections = re.findall("<section>.*?</section>", self.page, re.S)
        heads = re.findall("<h2>(.*?)</h2>", self.page)
        if heads != ["Sample precision", "Exit cost", "Counter accuracy"]:
            yield f"sections {heads}"
            return
        yield from self.head()
        for one, section, head in zip((self.landing, self.crossings, self.counts), sections,
                                      heads):
            yield from one(section)
            folded = html.unescape(re.search("<pre.*?>(.*?)</pre>", section, re.S)[1])
            if folded.strip() not in self.text or not folded.strip().startswith(head):
                yield f"folded, and not in text: {folded[:200]}"

    def head(self):
        head, machine = self.page.split("</header>")[0], self.told["machine"]
        facts = [tuple(map(html.unescape, fact)) for fact in
                 re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", head)]
        if facts[:5] != [("processor", machine["cpu"]),
                         ("machine", f"{machine['cpus']} CPUs; load {machine['load']:.2f}"),
                         ("kernel", machine["kernel"]), ("KVM", machine["kvm"]),
                         ("measured", machine["date"])]:
            yield f"head {facts}"
        said = [html.unescape(words) for words in re.findall(
            '<dd class="figure">.*?</dd><dd>(.*?)</dd>', head)]
        if said != self.told["conclusion"]:
            yield f"{said}, not {self.told['conclusion']}"

    def crossings(self, section):
        rows = {row["row"]: row for row in self.told["crossings"]["rows"]}
        words = re.findall("<span>(.*?)</span>", section)
        axis = Axis(words)
        if any((" " in word) != bool(self.hz) for word in words):
            yield f"exit cost: axis {words}, of {self.hz} Hz"
        noise = [100 * self.told["crossings"][key] for key in
                 ("noise", "quiet_noise", "quiet_share")]
        said = re.search(r"differ by up to (\d+) %, by (\d+) % of the quiet batches \((\d+) %",
                         section)
        if not said or any(abs(int(n) - value) > .51 for n, value in zip(said.groups(), noise)):
            yield f"exit cost: {said and said.groups()}, not {noise}"
        for words, is_said in (("Ring 0 is emulated", self.told["crossings"]["ring0_emulated"]),
                               ("at this one's rate", self.hz)):
            if (words in section) != bool(is_said):
                yield f"exit cost: {words}: {is_said}"
        measured = [row for row in rows.values() if "skipped" not in row]
        dots = {}
        for ref in self.told["crossings"]["references"]:
            row = rows.get(ref.get("row"))
            if row and ref["unit"] == "cycles" and "skipped" not in row:
                dots.setdefault(row["row"], []).append(self.time(ref["low"]))
        values = [self.time(row[key]) for row in measured for key in ("min", "max")]
        if not axis.even or not axis.spans(values + sum(dots.values(), [])):
            yield f"exit cost: axis from {axis.low}, {axis.n} long, of {values}"
        expected = []
        for word, row in rows.items():
            expected += [(GROUPS[word], None)] if word in GROUPS else []
            expected.append((row["text"], row))
        got = list(rows_in(section))
        if [name for name, *_ in got] != [name for name, _ in expected]:
            yield f"exit cost: rows {[name for name, *_ in got]}, not {[n for n, _ in expected]}"
            return
        yield from self.units(measured, got)
        for (name, remark, drawing, cells), (_, row) in zip(got, expected):
            if row:
                for line in self.crossing(row, remark, drawing, cells, axis, dots):
                    yield f"exit cost: {name}: {line}"

    def units(self, measured, got):
        """Of the longest median, three digits to five; of the axis, times or numbers."""
        yield from check_units("Exit cost", got)
        if not measured or not self.hz:
            return
        most = math.floor(self.time(max(row["p50"] for row in measured)) + .5)
        unit = next(unit for unit in UNITS if unit == "s" or most / UNITS[unit] < 10**5)
        for name, _, drawing, cells in got:
            if drawing and {cell.split()[1] for cell in cells} != {unit}:
                yield f"exit cost: {name}: {cells}, not in {unit}, as {most} ns"

    def crossing(self, row, remark, drawing, cells, axis, dots):
        emulated = "skipped" not in row and not row["comparable"]
        if (remark == "emulated") != emulated:
            yield f"remark {remark}, {row['comparable']}"
        if "skipped" in row:
            if drawing or cells != [row["skipped"]]:
                yield f"{cells}, not {row['skipped']}"
            return
        if len(cells) != 2 or not all(map(self.is_time, cells, (row["p50"], row["p99"]))):
            yield f"{cells}, not {row['p50'], row['p99']}"
        for kind, low, high, y in ("range", "min", "max", 2), ("most", "p50", "p99", 5):
            bars = rectangles(drawing, kind)
            if len(bars) != 1 or not axis.is_bar(bars[0], self.time(row[low]),
                                                 self.time(row[high]), y, HIGH - 2 * y):
                yield f"{kind} {bars}, not {axis.at(self.time(row[low]))} to " \
                    f"{axis.at(self.time(row[high]))}"
        got = [float(x) for x in re.findall(rf'class="dot" d="M(\d+) {HIGH // 2}h0"', drawing)]
        right = [axis.at(value) for value in dots.get(row["row"], ())]
        if len(got) != len(right) or any(abs(a - b) > 1 for a, b in zip(got, right)):
            yield f"dots {got}, not {right}"
        if f'class="grid" d="{axis.grid(HIGH)}"' not in drawing:
            yield f"grid, not {axis.grid(HIGH)}"

    def landing(self, section):
        words = re.findall("<span>(.*?)</span>", section)
        if words != [*map(str, range(FAR)), f"{FAR}+"]:
            yield f"precision: axis {words}"
        expected, last = [], None
        for event in self.told["landing"]["events"]:
            if "skipped" in event:
                if event["skipped"] == last:
                    expected[-1] = (f"{expected[-1][0]}, {event['event']}", last, None)
                else:
                    expected.append((event["event"], event["skipped"], None))
            else:
                n = event["window"]
                window = f"window not known: {event['window_why']}" if n is None else \
                    f"window of {n} instruction{'s' * (n != 1)}"
                expected.append((event["event"], window, None))
                expected += [(guest["guest_code"], "", guest) for guest in event["guests"]]
            last = event.get("skipped")
        got = list(rows_in(section))
        if [row[:2] for row in got] != [row[:2] for row in expected]:
            yield f"precision: {[row[:2] for row in got]}, not {[row[:2] for row in expected]}"
            return
        for (name, _, drawing, cells), (_, _, guest) in zip(got, expected):
            for line in self.landed(drawing, cells, guest) if guest else ():
                yield f"precision: {name}: {line}"

    @staticmethod
    def landed(drawing, cells, guest):
        n, distance = guest["guest"], guest.get("distance")
        astray = f"{100 * (guest['wrong'] + guest['gap']) / n + 1e-9:.2f}" if n else "-"
        if (distance is not None) != (guest["guest_code"] in HOT):
            yield f"distances {distance}"
        if not distance or not n:
            if drawing or cells != (["no samples"] if distance else ["", "", "", astray]):
                yield f"{cells}, not {astray}"
            return

        def within(part):
            sums = [sum(distance[:k + 1]) for k in range(len(distance))]
            return next((k for k, s in enumerate(sums) if s >= part * n), FAR)

        right = [f"{k}{'+' * (k == FAR)}" for k in map(within, (.5, .95))]
        if cells[:2] != right or abs(float(cells[2]) - float(astray)) > .011:
            yield f"{cells}, not {right, astray}"
        bars = {int(x) // CELL: (x, y, w, h) for x, y, w, h in rectangles(drawing, "most")}
        if set(bars) != {k for k, of in enumerate(distance) if of}:
            yield f"bars {sorted(bars)} of {distance}"
        for k, (x, y, width, high) in bars.items():
            tall = max(1, DEEP * distance[k] / n)
            if abs(high - tall) > .051 or abs(y + high - DEEP) > .11 or \
                    (x, width) != (k * CELL + 1, CELL - 2):
                yield f"bar {k}: {x}, {y}, {width}, {high}, not {tall}"
        limit = f'class="limit" d="M{(within(.95) + 1) * CELL} 0v{DEEP}"'
        if limit not in drawing or f'viewBox="0 0 {(FAR + 1) * CELL} {DEEP}"' not in drawing:
            yield f"not {limit}"

    def counts(self, section):
        programs = self.told["counts"]["programs"]
        sides = [program[side] for program in programs for side in ("guest", "native")]
        ticks = [self.time(n) for side in sides for n in side.get("ticks", ())]
        counted = any("median" in side.get("instructions", ()) for side in sides)
        axis = Axis(re.findall("<span>(.*?)</span>", section))
        if not axis.even or not axis.spans(ticks or [1]):
            yield f"counters: axis from {axis.low}, {axis.n} long, of {ticks}"
        if ("timed and counted" in section) != counted:
            yield f"counters: counted {counted}"
        heads = re.findall('<th scope="col" class="number">(.*?)</th>', section)
        names = ["steps, guest", "steps, native", "counter, guest", "counter, native"]
        if heads != names[:4 if counted else 2]:
            yield f"counters: columns {heads}"
        got = list(rows_in(section))
        if [row[0] for row in got] != [program["program"] for program in programs]:
            yield f"counters: rows {[row[0] for row in got]}"
        for (name, _, drawing, cells), program in zip(got, programs):
            for line in self.counted(drawing, cells, program, axis, counted):
                yield f"counters: {name}: {line}"

    def counted(self, drawing, cells, program, axis, counted):
        right, ranges = [], rectangles(drawing, "range")
        for side in "guest", "native":
            one = program[side]
            right.append("skipped" if "skipped" in one else "exact" if one["exact"] else "WRONG")
        for side in ("guest", "native") if counted else ():
            median = program[side].get("instructions", {}).get("median")
            law = program["retired"]
            right.append("-" if median is None else "exact" if median == law else
                         f"{median - law:+}")
        if cells != right:
            yield f"{cells}, not {right}"
        for side, kind, y in ("guest", "most", 0), ("native", "native", HIGH // 2):
            ticks = program[side].get("ticks")
            if not ticks:
                if rectangles(drawing, kind):
                    yield f"{kind} without runs"
                continue
            ticks = [self.time(n) for n in ticks]
            middle = statistics.median_low(ticks), statistics.median(ticks)
            if not ranges or not axis.is_bar(ranges.pop(0), min(ticks), max(ticks), y,
                                             HIGH // 2 - 1):
                yield f"{side}: {drawing}, not {ticks}"
            marks = rectangles(drawing, kind)
            if len(marks) != 1 or not any(axis.is_bar(marks[0], value, value, y, HIGH // 2 - 1)
                                          for value in middle):
                yield f"{side}: {marks}, not at {axis.at(middle[0])}"
        if ranges:
            yield f"{ranges} without runs"


def differences(build, folder, seed):
    return Judge(build, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 40, differences))
