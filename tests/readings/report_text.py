#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The text of hlguest report against another reading of the same numbers.

    report_text.py --build DIR [--seed N] [--seeds N]

The recordings of report_model.py, which reads JSON and CSV and computes every figure of them.
Here the text is made anew, line by line: sums, verdicts and notes from JSON, rows with their
intervals from CSV, shares, what is left out and parts of regions from the lists that the samples
were made from; for any screen and locale, with all options that text has.
"""
import csv
import io
import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import report_model
from forged import TEXT
from lines import (Any, Column, bar, colour_of, cut, different, head, joined, line, margin, percent,
                   plural, row, scaled, unit_for, whole)
from modelled import CALL, CLOCKS, PUSH
from modelled_view import TREE_LEAST
from programs import hlguest_of
from seeds import seeds
from shares import wilson
from tap import environment, run
from text_head import Head
from text_sums import Sums

ROWS, REGIONS, SCREEN = 40, 5, 100  # of text that goes to no terminal
NAME, FILE, PARTS, SHORT, LEAST, TREE = 36, 20, 3, 24, 8, 24
WIDE_FILE, REGION_PARTS, FEWEST_PARTS = 80, 24, 10



def names_of(rng, n):
    """Some long ones, of which a screen shows a part."""
    return [f"{rng.choice('abcdefgh')}_{i}" + rng.choice(("", "", "_of_some_length" * rng.randint(
        1, 4), "é" * 9)) for i in range(n)]


def call_directly(rng, guest):
    """Some calls lead to one function, which may be another one than a stack has there. Are any
    there?"""
    before = guest.code
    for at in guest.returns:
        first = at - 5 - TEXT
        code = guest.code[first:at - TEXT]
        if rng.random() < .5 and code == PUSH * 3 + CALL and guest.tops and first >= 0 and \
                len({guest.place(at - i) for i in range(1, 6)}) == 1:
            to = rng.choice(guest.tops).at - at
            guest.code = guest.code[:first] + b"\xe8" + struct.pack("<i", to) + \
                guest.code[at - TEXT:]
    return guest.code != before


class Judge(Head, Sums, report_model.Judge):
    def __init__(self, hlguest, folder, seed):
        made, rng = report_model.Made(seed, names_of), random.Random(seed + 1)
        self.direct = rng.random() < .4 and any([call_directly(rng, of) for of in made.guests])
        super().__init__(hlguest, folder, made)
        if self.direct and self.tree:
            self.tree = "none"  # stacks that cannot be are known where they are made
        self.utf8 = rng.random() < .5
        self.given = rng.choice((None, rng.randint(48, 80), rng.randint(60, 130), 200))
        self.text = {name: rng.random() < chance for name, chance in (
            ("wide", .25), ("raw", .2), ("verbose", .3))}
        self.colour = rng.random() < .25
        self.ascii = False
        self.columns = 0 if self.text["wide"] else self.given or SCREEN
        if rng.random() < .5:
            self.options["top"] = rng.choice((None, 2, 5))
        if self.tree and rng.random() < .7:
            self.options["top"] = None
        self.tight = rng.choice((None, None, (rng.randint(0, 3), rng.choice((0, 0, 1)))))

    def environment(self):
        more = {"COLUMNS": str(self.given)} if self.given else {}
        return environment(LC_ALL="C.UTF-8" if self.utf8 else "C", **more)

    def told(self, form, words=(), **options):
        kept = self.options
        self.options = {**kept, **options}
        out, err, status = run(
            self.hlguest, "report", "-q", "--force", "--border=keep", f"--format={form}",
            *self.words(), *words, *self.made.space.words(), *self.files, cwd=self.folder,
            env=self.environment())
        self.options = kept
        return out, err, status

    def fit(self, left_out, too_few):
        """A screen that has just room for the first table without its first columns, or that
        has a cell too few."""
        names = [f["name"] for f in csv.DictReader(io.StringIO(self.told("csv")[0]))
                 if f["record"] in ("function", "other")]
        cells = [12] * self.colour + [9, 10, 11, 8]  # heat, size, samples, time, 95 %
        self.given = 8 + sum(cells[left_out:]) + 2 + \
            max(len("function"), min(NAME, max(map(len, names), default=0))) - too_few
        self.columns = self.given

    def check(self):
        if self.tight and not self.text["wide"]:
            self.fit(*self.tight)
        words = [f"--{name}=yes" for name, is_on in self.text.items() if is_on]
        words.append(f"--color={'always' if self.colour else 'never'}")
        out, _, status = self.told("text", words)
        if status not in (0, 3) or not self.shown():
            return
        top = ROWS if self.options["top"] is None else self.options["top"]
        regions = self.options["regions"]
        if regions is None:
            regions = min(REGIONS, top) if top else REGIONS
        self.json = json.loads(self.told("json", top=top)[0])
        self.rows = list(csv.DictReader(io.StringIO(self.told("csv", top=top)[0])))
        self.all = list(csv.DictReader(io.StringIO(
            self.told("csv", top=0, min=0, sort="overhead")[0])))
        self.options = {**self.options, "top": top, "regions": regions}
        self.of = self.json["totals"]
        got = out.split("\n")
        if wrong := different(got, [*self.lines(got), ""]):
            yield f"{' '.join([*self.words(), *words])} COLUMNS={self.given} " + \
                f"{'UTF-8' if self.utf8 else 'C'}: {wrong}"

    def lines(self, got):
        yield from self.head_lines(got)
        views = self.views() if self.options["mode"] != "host" else {}
        for name, view in views.items():
            yield from self.view_lines(name, view)
        yield from self.host_lines()
        yield from self.sums() if self.counters else self.accounted()
        yield from self.notes("note:     ", got)
        yield from self.file_lines()
        if self.text["verbose"]:
            yield from self.details(got)

    # Rows

    def of_series(self, rows, name, records):
        return [f for f in rows if f["record"] in records and f["series"] == (name or "")]

    def view_lines(self, name, view):
        if name:
            yield line(f"== {name} ({plural(len(view.samples), 'guest sample')})")
            yield ""
        if not view.kept:
            return
        if self.tree and self.json["stacks"]["callers"]["stacks"]:
            yield from self.children_lines(name, view)
            return
        yield from self.row_lines(name, view)
        if self.options["region"]:
            yield from self.region_lines(view)

    def unit(self, view, name):
        event = {s.event for s in view.samples}
        clock = len(event) == 1 and event <= set(CLOCKS)
        return clock, unit_for(sum(s.period for s in view.kept), clock)

    def columns_of(self, view, name, rows):
        """Those that the screen has room for, and what it has not."""
        clock, _ = self.unit(view, name)
        columns = {"overhead": Column("overhead", 0, 8, True)}
        if self.text["wide"]:
            columns["mark"] = Column("", 1, 1)
            columns["interval"] = Column("95 % interval", 0, 15)
        else:
            columns["margin"] = Column("95 %", 1, 7)
        columns["time"] = Column("time" if clock and not self.text["raw"] else "period", 1, 10)
        columns.update(samples=Column("samples", 2, 8), size=Column("size", 2, 7))
        if self.colour:
            columns["bar"] = Column("heat", 2, -10)
        columns["name"] = Column("function", 2, 0)
        names = max(len("function"), min(NAME, max([len(f["name"]) for f in rows] or [0])))
        no_room = []
        for key in ("bar", "size", "samples", "time", "margin"):
            used = sum(c.gap + abs(c.width) for c in columns.values())
            if self.columns and used + names > self.columns and columns.pop(key, None) and \
                    key != "bar":
                no_room.append({"time": "time" if clock and not self.text["raw"] else "period",
                                "margin": "95 %"}.get(key, key))
        return columns, no_room

    def row_lines(self, name, view):
        rows = self.of_series(self.rows, name, ("function", "other"))
        columns, no_room = self.columns_of(view, name, rows)
        yield head(list(columns.values()))
        told = view.told(self.options)
        every = view.ordered()
        hottest = view.share(every[0])
        for f, mine in zip(rows, told):
            share = view.share(mine)
            cells = self.cells(f, mine, share, view, name)
            parts = [cells[key] for key in columns]
            if "bar" in columns:
                drawn = bar(share, hottest, 10, self.utf8)
                code = colour_of(share)
                parts[list(columns).index("bar")] = (f"{code}{drawn}\033[m" if code else drawn) + \
                    " " * (10 - len(drawn))
            yield row(list(columns.values()), parts, self.remark(f, mine),
                      (self.columns, self.ascii), colour_of(share) if self.colour else None)
        yield from self.rest(columns, no_room, view, every, told)
        if self.text["wide"] and any(f["unsure"] == "1" for f in rows):
            yield line(" " * 9 + "~ this row and the next may be in either order")
        yield ""

    def cells(self, f, mine, share, view, name):
        low, high = (float(f[key]) / 100 for key in ("low", "high"))
        few = len(mine.samples) <= 2 and share < .1
        return {
            "overhead": joined("", percent(share), " %"), "mark": "~" * (f["unsure"] == "1"),
            "interval": f"{f['low']:>6} - {f['high']:>6}",
            "margin": margin(share, low, high, few, self.ascii),
            "time": f["period"] if self.text["raw"] else scaled(
                int(f["period"]), self.unit(view, name)[1]),
            "samples": f["samples"], "size": f["size"] or "-", "bar": "", "name": f["name"]}

    def remark(self, f, mine):
        image, place = mine.key
        text = ""
        if place.aliases and self.aliases:
            text += "".join(f" = {alias}" for alias in place.aliases)
        elif place.aliases:
            n = len(place.aliases)
            text += f"  (+{n} alias{'es' if n > 1 else ''})"
        if place.kind == "label":
            text += "  (label, no function)"
        if place.kind == "gap":
            guest = self.made.space.bases[image][0]
            n = sum(guest.is_filler(self.made.space.place(s.ip)[1]) for s in mine.samples)
            text += "  (no symbol)" if not n else "  (padding)" if n == len(mine.samples) else \
                f"  ({plural(n, 'sample')} in padding)"
        if len(self.json["images"]) > 1 and image is not None:
            text += "  [" + cut(self.made.space.called(image), FILE if self.columns else 10**6, self.ascii) + "]"
        return text

    def rest(self, columns, no_room, view, every, told):
        n = len(every) - len(told)
        if not n and not no_room:
            return
        shown = {row.key for row in told}
        rest = [row for row in every if row.key not in shown]
        under = sum(c.gap + abs(c.width) for c in columns.values())
        words = Any(("",))
        if n:
            option = "min" if 100 * view.share(rest[0]) < self.options["min"] else "top"
            words = joined(f"({n} more row{'s' * (n > 1)}, ", percent(sum(map(view.share, rest))),
                           f" %: --{option}=0" + ("; " if no_room else ")"))
        if no_room:
            more = ("" if n else "(") + f"--wide has {', '.join(no_room)})"
            if self.columns and len(words[0] + more) > self.columns:
                more = ("" if n else "(") + "--wide has more columns)"
            words = joined("", words, more)
        if self.columns and under + len(words[0]) > self.columns:
            under = max(0, self.columns - len(words[0]))
        yield line(" " * under, words)

    # Regions

    def region_lines(self, view):
        every = view.ordered_regions()
        told = view.regions_told(self.options)
        if not told:
            return
        heading, rest = "% of the region", ""
        if len(told) < len(every):
            following = view.share(every[len(told)])
            option = "min" if 100 * following < self.options["min"] else "regions"
            rest = f"({len(told)} of {len(every)}: --{option}=0)"
        ranges = list(map(self.range, told))
        width = max(map(len, ["region (ELF)", *ranges]))
        front = [Column("region (ELF)", 0, -width), Column("overhead", 2, 8, True),
                 *([Column("samples", 2, 8)] if self.text["wide"] else [])]
        used, drawn = sum(c.gap + abs(c.width) for c in front) + 2, [Column("", 2, -12)]
        if self.columns and used + 14 + REGION_PARTS > self.columns:
            drawn = []
        used += 14 * len(drawn)
        names = not self.columns or used + FEWEST_PARTS <= self.columns
        below = self.columns and used + len(f"{heading} {rest}".strip()) > self.columns
        heading = f"{heading} {rest}".strip() if not below else \
            "% of it" if used + len(heading) > self.columns else heading
        columns = [*front, *drawn, *([Column(heading, 2, 0)] if names else [])]
        yield head(columns)
        most = view.share(every[0])
        for text, mine in zip(ranges, told):
            share = view.share(mine)
            code = colour_of(share) if self.colour else None
            line_of = bar(share, most, 12, self.utf8 and self.colour)
            line_of = (f"{code}{line_of}\033[m" if code else line_of) + " " * (12 - len(line_of))
            parts = self.parts(view, mine, max(0, self.columns - used))
            count = [str(len(mine.samples))] if self.text["wide"] else []
            cells = [text, joined("", percent(share), " %"), *count, *[line_of] * len(drawn)]
            yield self.region_row(columns, cells, parts if names else (), code)
        if below and rest:
            yield line(" " * (0 if width + 2 + len(rest) > self.columns else width + 2), rest)
        yield ""

    def region_row(self, columns, cells, parts, code):
        if not parts:
            return row(columns, cells, "", (0, False), code)
        return "(?:" + "|".join(row(columns, [*cells, text], "", (self.columns, self.ascii), code)
                                for text in parts) + ")"

    def range(self, region):
        image, at = region.key
        file = ""
        if len(self.json["images"]) > 1 and image is not None:
            cells = FILE if self.columns else WIDE_FILE
            file = cut(self.made.space.called(image), cells, self.ascii) + " "
        if image is None and not self.json.get("addresses"):
            file = "guest "
        return f"{file}{at:#x}-{at + self.options['region'] - 1:#x}"

    def parts(self, view, region, room):
        """As many as fit, with whole names, else with shorter ones."""
        parts = view.parts(region)
        whole_weight = sum(parts.values())

        def told(n, cells):
            out = Any(("",))
            for i, ((_, place), weight) in enumerate(list(parts.items())[:n]):
                name = cut(place.name, cells, self.ascii) if cells else place.name
                out = Any(a + b for a in out for b in joined(
                    f"{', ' if i else ''}{name} ", whole(100 * weight / whole_weight), " %"))
            return joined("", out, f", {len(parts) - n} more" if len(parts) > n else "")
        for n in range(min(PARTS, len(parts)), 0, -1):
            for cells in (0, SHORT):
                text = told(n, cells)
                if not room or len(text[0]) <= room:
                    return text
        if room >= LEAST + 16:
            return told(1, room - 16)
        parts = dict([next(iter(parts.items()))])
        return told(1, max(4, room - 6))

    # Functions with what they call

    def children_lines(self, name, view):
        inclusive = self.inclusive(view.samples, name is None)
        rows = self.of_series(self.rows, name, ("children",))
        told = inclusive.told(self.options)
        columns = [Column("children", 0, 8, True), Column("95 %", 1, 7), Column("self", 1, 8),
                   Column("samples", 2, 8), Column("function", 2, 0)]
        yield head(columns)
        for f, mine in zip(rows, told):
            share = inclusive.share(mine)
            yield row(columns, [
                joined("", percent(share), " %"), self.child_margin(f, mine, inclusive),
                joined("", percent(inclusive.self_share(mine)), " %"), f["samples"], f["name"]],
                "", (self.columns, self.ascii), colour_of(share) if self.colour else None)
            if self.tree != "none":
                yield from self.tree_lines(mine, inclusive)
        n = len(inclusive.rows) - len(told)
        if n:
            yield line(" " * 37, f"({n} more row{'s' * (n > 1)}: --top=0)")
        yield ""

    def child_margin(self, f, mine, view):
        """The upper end, where cut stacks may add more than chance explains."""
        low, high = (float(f[key]) / 100 for key in ("low", "high"))
        share = view.share(mine)
        least, most = wilson(share, view.observations)
        plain = margin(share, low, high, False, self.ascii)
        ends = Any(f"to {n:3}%" for n in range(math.ceil(100 * high - .0051),
                                                math.ceil(100 * high + .0051) + 1))
        if abs(low - least) > 2e-4 or self.direct:  # phases: wider
            return Any((*plain, *ends))
        return ends if view.limits(mine)[1] - most > (most - least) / 2 else plain

    def tree_lines(self, mine, view):
        """A call that has all of the samples of the one above stands beneath it, without a share;
        if it is the same function's, on its line."""
        callers = self.tree == "callee"
        nodes = list(self.walked(view, mine, callers))
        whole_tree = self.options["top"] == 0
        least, weights = 0, sorted((weight for *_, weight, folded, _ in nodes if not folded),
                                   reverse=True)
        if not whole_tree:
            least = int(view.all * TREE_LEAST)
            if len(weights) > TREE:
                least = max(least, weights[TREE - 1])
            if len(weights) > 2 * TREE and weights[2 * TREE] >= least:
                least += 1
        out, left = 0, []
        for level, name, weight, folded, alone in nodes:
            if weight < least:
                out += 1
            elif folded and left:
                left[-1][-1] += 1
            else:
                left.append([level, name, None if alone else weight / view.all, 1])
        for level, name, share, times in left:
            yield self.node(level, name, share, times)
        if out:
            yield line(f"  ({out} more, each below ", percent(least / view.all), " %: --top=0)")
        if nodes:
            yield ""

    def walked(self, view, mine, callers):
        """(how far to the right, name, weight, is it folded, is it alone)"""
        paths = {}
        for path, of in view.whole_tree(mine, callers).items():
            paths[path] = sum(map(view.weigh, of)), len(of)

        def below(path, level):
            under = sorted((p for p in paths if len(p) == len(path) + 1 and p[:-1] == path),
                           key=lambda p: (-paths[p][0], p[-1]))
            for p in under:
                alone = bool(path) and paths[p][1] == paths[path][1]
                at = level + (1 if path and not alone else 0)
                folded = alone and p[-1] == path[-1]
                yield at, p[-1], paths[p][0], folded, alone
                yield from below(p, at)
        yield from below((), 0)

    def node(self, level, name, share, times):
        told = joined("", Any(f"{text:>6}" for text in percent(share)), " %") \
            if share is not None else ""
        again = f" ({times} times)" if times > 1 else ""
        indent, used = 2 + 2 * level, 13 + len(again)
        if self.columns and indent + used + 20 > self.columns:
            indent = max(0, self.columns - used - 20)
        room = max(self.columns - indent - used, 20) if self.columns else 10**6
        way = "<-" if self.tree == "callee" else "->"
        return line(" " * indent, Any(f"{text:>8}" for text in (
            told if isinstance(told, Any) else (told,))), f"  {way} ",
            cut(name, room, self.ascii), again)


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 50, differences))
