#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The plot and the page of hlguest windows against the numbers that they are of.

    windows_drawn.py --build DIR [--seed N] [--seeds N]

Recordings are those of windows_model.py, which computes what JSON and CSV say of them. Here that
is taken as given, and what the manual page says of format=svg and format=html is computed from
it: where each dot, band, line, bar and mark must be, on the axes that the picture itself has, and
what each text says. Those axes must be even, whole and no wider than their steps need.
"""
import csv
import html
import io
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import windows_model
from markup import check_still, near as near_ns
from plotted import TIMES, Picture, Rows
from programs import hlguest_of
from seeds import seeds
from tap import run
from windows_model import RATES, Selection, near


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
        picture = Picture(ElementTree.fromstring(svg), rows, RATES if self.rates else ())
        yield from picture.check(("guest.elf", "made.data"), self.sampled())
        yield from self.page(self.draw("html", *words), svg, told, rows, words)

    def page(self, page, svg, told, rows, words):
        yield from check_still(page)
        heading = f"guest.elf: {len(rows.of)} {rows.what} of made.data"
        head = page.split("</header>")[0].split("<h1>")[1]
        if html.unescape(head.split("</h1>")[0]) != heading:
            yield f"page headed {head[:80]}, not {heading}"
        counted = f"{len(rows.of)} {rows.what.split()[0]}" if rows.pairs else \
            f"{len(rows.of)} {rows.what}, {self.sampled()}"
        facts = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", html.unescape(head))
        checks = [fact for label, fact in facts if label == "check"]
        if [fact for fact in facts if fact[0] != "check"] != [
                ("recorded", counted), *[(key, told[key]) for key in ("selected",)
                                         if key in told]] or len(checks) != (not rows.pairs):
            yield f"page: {head}, not {counted}"
        elif not words and (checks[0].startswith("OK") != (", check OK" in self.draw("text")) or
                            checks[0].startswith("OK") != ('<div class="good"><dt>check' in page)):
            yield f"page: {checks}"
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
    places = len(cell.partition(".")[2])
    slack = 1.01 * 10**-places if places == 2 else 0  # JSON's is rounded to as many
    return near(cell, float(value), places) or abs(float(cell) - float(value)) < slack


def cells_of(rows):
    return [[html.unescape(re.sub("<.*?>", "", cell)) for cell in
             re.findall("<t[hd].*?>(.*?)</t[hd]>", row)] for row in
            re.findall("<tr>(.*?)</tr>", rows, re.S)]


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    return judge.check() if judge.made.samples else ()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 12, differences))
