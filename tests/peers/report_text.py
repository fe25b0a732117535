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
from lines import (INDENT, Any, Column, bar, colour_of, cut, different, fitted_pieces, head, joined,
                   lasted, line, percent, plural, row, scaled, unit_for, whole)
from modelled import CALL, CLOCKS, PUSH, TRACEPOINT
from modelled_view import Count, TREE_LEAST, size_of
from programs import hlguest_of
from shares import wilson
from tap import environment, run, seeds

ROWS, REGIONS, SCREEN = 40, 5, 100  # of text that goes to no terminal
NAME, FILE, PARTS, SHORT, LEAST, TREE = 36, 20, 3, 24, 8, 24
SAID = {"verified": "OK", "mixed": "MIXED", "mismatch": "WRONG ELF OR BASE",
        "too few samples to tell": "cannot tell", "not tested": "not checked"}


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


class Judge(report_model.Judge):
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

    def check(self):
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
        yield from self.head(got)
        views = self.views() if self.options["mode"] != "host" else {}
        for name, view in views.items():
            yield from self.view_lines(name, view)
        yield from self.host_lines()
        yield from self.sums() if self.counters else self.accounted()
        yield from self.notes("note:     ", got)
        yield from self.file_lines()
        if self.text["verbose"]:
            yield from self.details(got)

    # What was read

    def head(self, got):
        if self.json["trust"]["banner"]:
            yield line("!! ", self.json["trust"]["banner"])
        for i, image in enumerate(self.json["images"]):
            yield fitted_pieces("" if i else "guest", [
                (0, image["path"], ""), (2, "x86-64", ", "),
                (3, plural(image["symbols"], "symbol"), ", "),
                (0, f"base {image['base']} ({image['base_from']})", ", ")], self.columns)
        yield from self.recorded()
        yield line("check     ", self.verdict())
        if told := self.callers():
            yield line("callers   ", told)
        yield from self.notes("warning:  ", got)
        yield ""

    def only(self):
        """The event, if one alone has samples of the guest."""
        found = [e for e in self.json["events"] if e["samples"]]
        return found[0] if len(found) == 1 else None

    def recorded(self):
        found = [e for e in self.json["events"] if e["samples"]]
        chosen = {s.event for s in self.left} or None
        pieces = []
        if (ns := self.span()) and len(self.files) == 1:
            pieces.append((2, f"{ns} ns" if self.text["raw"] else lasted(ns), ", "))
        if len(found) > 1:
            pieces.append((0, f"{len(found)} events", ", "))
        elif found:
            pieces += self.event(found[0])
        elif len(self.json["events"]) == 1:
            pieces += self.event(self.json["events"][0])
        else:
            n = self.selected_events()
            pieces += self.event(n[0]) if len(n) == 1 else [
                (0, f"no guest sample of {len(n)} events", ", ")]
        if len(self.files) > 1:
            pieces.append((1, f"{len(self.files)} recordings", ", "))
        yield fitted_pieces("recorded", pieces, self.columns)
        if len(found) > 1:
            for event in found:
                yield fitted_pieces("", self.event(event), self.columns)

    def selected_events(self):
        patterns = [word[8:] for word in self.select.words if word.startswith("--event=")]
        return [e for e in self.json["events"] if not patterns or (
            e["name"].startswith(patterns[0][:-1]) if patterns[0].endswith("*") else
            e["name"] == patterns[0])]

    def span(self):
        span = self.json.get("span")
        return span["last"] - span["first"] if span else 0

    def event(self, event):
        clock = event["name"].partition(":")[0] in CLOCKS
        counted, ns = event["period"], self.span() if len(self.files) == 1 else 0
        # In the unit of the time that it took, unless that would leave nothing.
        unit = unit_for(ns if clock and counted < ns < 100 * counted else counted, clock)
        host = sum(s.event == event["name"] for s in self.host)
        if event["name"] == TRACEPOINT:
            host = 0  # marks and measures nothing
        yield 0, event["name"], ", "
        yield 0, plural(event["samples"], "guest sample"), ", "
        if event["samples"]:
            told = str(counted) if self.text["raw"] else scaled(counted, unit)
            timed = clock and not self.text["raw"]
            yield 1, joined("(", told, ")" if timed else " counted)"), " "
        if host:
            whole_n = host + event["samples"]
            yield 0 if 2 * host > whole_n else 4, joined(
                "host ", whole(100 * host / whole_n), " % of samples"), ", "

    def verdict(self):
        trust, of = self.json["trust"], self.of
        tested, outside = trust["boundary"], of["outside"]["samples"]
        n, guest = tested["on"] + tested["off"], of["guest"]["samples"]
        elf = f"ELF{'s' if len(self.json['images']) > 1 else ''}"
        much, few = outside > guest // 20, trust["verdict"] == "too few samples to tell"
        said = SAID[trust["verdict"]]
        if much and said == "OK":
            said += f" in the {elf}"
        distinct = trust["addresses"]["on"] + trust["addresses"]["off"]
        if few and not n and guest:
            text = f"{said}: no sample lies in a function (is it the guest's ELF?)"
        elif few:
            text = f"{said}: too few distinct addresses ({distinct} of 12)" if distinct < 12 else \
                f"{said}: the samples may fit by chance"
        elif not n:
            text = f"{said}: no sample lies in a function"
        elif not tested["off"]:
            text = f"{said}: all {n} {'tested ' if n < guest else ''}samples lie on " + \
                "instruction starts"
        else:
            of_what = "" if trust["verdict"] == "mismatch" else "of samples "
            text = joined(f"{said}: ", percent(min(tested["on"] / n, .9999)),
                          f" % {of_what}lie on instruction starts")
        if n and not few and trust["verdict"] != "not tested":
            text = joined("", Any(a + b for a in (text if isinstance(text, Any) else (text,))
                                  for b in joined(" (", whole(tested["chance"], .005),
                                                  " % by chance)")))
        return joined("", text, f"; outside the {elf}: {outside} of {guest}") if n and much \
            else text

    def callers(self):
        c = self.json.get("stacks", {}).get("callers")
        if not c or not c["stacks"]:
            return None

        def part(n, of):
            """Never 100 where some are not, nor 0 where some are."""
            tenths = math.floor(1000 * n / of + .5)
            tenths = tenths if n in (0, of) else min(max(tenths, 1), 999)
            return "100 %" if n == of else f"{tenths // 10}.{tenths % 10} %"
        ended = c["whole"] + c["truncated"]
        text = f"{part(c['whole'], ended)} of {ended} stacks whole"
        if c["not_recorded"]:
            text += f", {plural(c['not_recorded'], 'sample')} without callers"
        if c["caller_unknown"]:
            text += f", {c['caller_unknown']} lack{'s' * (c['caller_unknown'] == 1)} a caller"
        known = c["proved"] + c["by_pointer"] + c["wrong"]
        if not known:
            return text
        text += f"; of calls the code proves {part(c['proved'], c['calls'])}"
        for key, words in (("by_pointer", "go by pointer"), ("wrong", "are wrong")):
            if c[key]:
                text += f", {part(c[key], c['calls'])} {words}"
        if c["calls"] > known:
            text += f", {part(c['calls'] - known, c['calls'])} cannot be told"
        return text

    def notes(self, label, got):
        """In JSON's order. How much one matters is no figure of JSON's: that is the text's own.
        One that is neither a warning nor a note is told as a detail."""
        told = self.json["notes"] + self.json["trust"]["notes"]
        for note in told:
            if label + note in got:
                yield line(label, note)
            elif label == "note:     " and "warning:  " + note not in got and \
                    note in self.json["notes"]:
                yield line(label, note)

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
        names, no_room = min(NAME, max([len(f["name"]) for f in rows] or [0])), []
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
        margin = percent(high if few else max(high - share, share - low), .51)
        sign = "<" if few else "+-" if self.ascii else "±"
        return {
            "overhead": joined("", percent(share), " %"), "mark": "~" * (f["unsure"] == "1"),
            "interval": f"{f['low']:>6} - {f['high']:>6}",
            "margin": Any(f"{sign}{text:>5}" for text in margin),
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
                f"  ({n} samples in padding)"
        if len(self.json["images"]) > 1 and image is not None:
            text += "  [" + cut(f["image"], FILE if self.columns else 10**6, self.ascii) + "]"
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
                more = ("" if n else "(") + "--wide has more)"
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
        heading = "% of the region"
        if len(told) < len(every):
            following = view.share(every[len(told)])
            option = "min" if 100 * following < self.options["min"] else "regions"
            heading += f" ({len(told)} of {len(every)}: --{option}=0)"
        ranges = list(map(self.range, told))
        width = max(map(len, ["region (ELF)", *ranges]))
        columns = [Column("region (ELF)", 0, -width), Column("overhead", 2, 8, True),
                   *([Column("samples", 2, 8)] if self.text["wide"] else []),
                   Column("", 2, -12), Column(heading, 2, 0)]
        used = sum(c.gap + abs(c.width) for c in columns)
        yield head(columns)
        most = view.share(every[0])
        for text, mine in zip(ranges, told):
            share = view.share(mine)
            code = colour_of(share) if self.colour else None
            drawn = bar(share, most, 12, self.utf8 and self.colour)
            drawn = (f"{code}{drawn}\033[m" if code else drawn) + " " * (12 - len(drawn))
            parts = self.parts(view, mine, max(0, self.columns - used))
            count = [str(len(mine.samples))] if self.text["wide"] else []
            yield self.region_row(columns, [text, joined("", percent(share), " %"), *count, drawn],
                                  parts, code)
        yield ""

    def region_row(self, columns, cells, parts, code):
        return "(?:" + "|".join(row(columns, [*cells, text], "", (self.columns, self.ascii), code)
                                for text in parts) + ")"

    def range(self, region):
        image, at = region.key
        file = f"{self.made.space.path(image)} " if len(self.json["images"]) > 1 and \
            image is not None else ""
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
        return told(1, max(LEAST, room - 16))

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
        sign = "+-" if self.ascii else "±"
        plain = Any(f"{sign}{text:>5}" for text in percent(max(high - share, share - low), .51))
        ends = Any(f"to {n:3} %" for n in range(math.ceil(100 * high - .0051),
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

    # Where all samples are

    def host_lines(self):
        every = [f for f in self.all if f["record"] == "host"]
        if not every:
            return
        key = "period" if self.period else "samples"
        total = sum(int(f[key]) for f in every)
        columns = [Column("of host", 0, 8), Column("samples", 2, 8),
                   Column("process (mapping)", 2, 0)]
        yield head(columns)
        told = [f for f in self.rows if f["record"] == "host"]
        for f in told:
            yield row(columns, [joined("", percent(int(f[key]) / total), " %"), f["samples"],
                                f["name"]],
                      f" ({f['image']})" + (f"  {f['series']}" if f["series"] else ""),
                      (self.columns, self.ascii))
        if len(told) < len(every):
            yield line(" " * 20, f"({len(every) - len(told)} more: --top=0)")
        yield ""

    def accounted(self):
        of = {name: count["samples"] for name, count in self.of.items()}
        tested = sum(self.json["trust"]["boundary"][key] for key in ("on", "off"))
        hits = sum(s.event == TRACEPOINT for s in self.host)
        untested = " (untested)" if tested else ""
        gaps = {"retag": f"gaps{untested}", "drop": "gaps (left out: gaps=drop)",
                "stretch": "gaps (credited to the symbol before: gaps=stretch)"}
        width = len(str(of["seen"]))
        yield from self.sum(f"{'accounted':10}{of['seen']} "
                            f"{'sample' if of['seen'] == 1 else 'samples':7} =", (
                                (of["guest"], "guest"), (of["host"] - hits, "host"),
                                (hits, f"tracepoint hit{'s' * (hits != 1)}"),
                                (of["deselected"], "filtered out")))
        if of["guest"]:
            yield from self.sum(f"{INDENT}{of['guest']:{width}} {'guest':7} =", (
                (of["function"], "in functions"), (of["label"], "labels"),
                (of["gap"], gaps[self.options["gaps"]]), (of["data"], "data"),
                (of["outside"], f"outside the ELF{untested}")))

    def sum(self, begin, terms):
        """What has no room on its line stands under the equals sign's."""
        text, any_yet = begin, False
        for n, what in terms:
            if not n:
                continue
            term = f"{'+ ' if any_yet else ''}{n} {what}"
            if self.columns and len(text) + 1 + len(term) > self.columns:
                yield line(text)
                text = " " * (len(begin) - 1)
            text, any_yet = f"{text} {term}", True
        yield line(text if any_yet else f"{text} 0")

    def sums(self):
        of, states = self.of, self.json["totals"].get("states", {})
        hits = Count(s for s in self.host if s.event == TRACEPOINT)
        unlabelled = {key: of["gap"][key] - of["padding"][key] for key in ("samples", "period")}
        columns = [Column("", 0, -19), Column("samples", 1, 9), Column("period", 1, 20),
                   Column("share", 1, 10)]
        yield head(columns)
        traced = {"samples": hits.samples, "period": hits.period}
        sums = [("all", of["seen"], "seen"), ("  filtered out", of["deselected"], "seen"),
                ("  host", of["host"], "seen"),
                *([("    tracepoint hits", traced, "host")] if hits.samples else []),
                *((f"    {name}", count, "host") for name, count in states.items()
                  if not name.startswith("guest")),
                ("  guest", of["guest"], "seen"),
                *((f"    {name}", count, "guest") for name, count in states.items()
                  if name.startswith("guest")),
                *((f"    {name}", of[name], "guest") for name in ("function", "label", "gap")),
                ("      padding", of["padding"], "guest"),
                ("      unlabelled", unlabelled, "guest"), ("    VM exits", of["border"], "guest"),
                ("    data", of["data"], "guest"), ("    outside", of["outside"], "guest"),
                *([("  dropped gaps", of["dropped"], "guest")] if of["dropped"]["samples"] else [])]
        for name, count, whole_of in sums:
            share = count["samples"] / of[whole_of]["samples"] if of[whole_of]["samples"] else 0
            yield row(columns, [name, str(count["samples"]), str(count["period"]),
                                joined("", percent(share), " %")])

    def file_lines(self):
        if len(self.files) == 1:
            return
        yield ""
        columns = [Column("samples", 0, 9), Column("guest", 1, 9), Column("share", 1, 8),
                   Column("lost", 1, 6), Column("base", 2, -14), Column("check", 1, -11),
                   Column("file", 1, 0)]
        yield head(columns)
        for f in self.json["files"]:
            share = f["guest"] / f["samples"] if f["samples"] else 0
            yield row(columns, [
                str(f["samples"]), str(f["guest"]), joined("", percent(share), " %"),
                str(f["lost"]), self.base_of(f), SAID[f["verdict"]].partition(" ELF")[0],
                f["path"]], "", (self.columns, self.ascii))

    @staticmethod
    def base_of(f):
        return f["base"] or "-" if f.get("bases", 1) < 2 else f"{f['bases']} bases"

    # How it was made

    def details(self, got):
        yield ""
        yield line("hlguest   " + self.json["hlguest"])
        for image in self.json["images"]:
            yield line("image     ", image["path"], ", symbols of ", image["symbol_table"])
        for e in self.json["events"]:
            yield line(f"event     {e['name']}, precise_ip {e['precise_ip']}, {e['samples']} "
                       f"samples, period {e['period']}")
        yield line("percent   of " + (
            "samples" if self.options["weight"] == "samples" else "period" if self.period else
            "period within an event, samples over all events"))
        yield line("VM exits  in the functions")
        yield line("gaps      " + {"retag": "separate rows", "drop": "left out", "stretch":
                                   "credited to the symbol before"}[self.options["gaps"]])
        yield from self.tested()
        for note in self.json["trust"]["notes"] + self.json["notes"]:
            if not {"warning:  " + note, "note:     " + note} & set(got):
                yield line(INDENT, note)
        yield from self.caller_sums()
        yield ""
        kept, self.counters = self.counters, self.counters
        yield from self.sums()
        self.counters = kept

    def tested(self):
        trust = self.json["trust"]
        said = self.verdict()
        said = (said[0] if isinstance(said, Any) else said).partition(":")[0]
        if not trust["addresses"]["on"] + trust["addresses"]["off"]:
            yield line("check     ", said)
        else:
            yield line("check     ", said, ": on instruction starts, with 99 % intervals")
            for name, key in (("samples", "boundary"), ("addresses", "addresses")):
                of = trust[key]
                n = of["on"] + of["off"]
                yield line(f"{INDENT}{name:10} {of['on']:10} of {n:10} ",
                           Any(f"{text:>8}" for text in percent(of["on"] / n)),
                           f" %  {of['low']:6.2f} - {of['high']:6.2f}")
            yield line(INDENT, "(the check is stricter than the rows, whose intervals are of 95 %)")
        n = trust["boundary"]["undecodable"]
        if n:
            yield line(INDENT, plural(n, "sample"), " in functions and labels could not be tested")

    def caller_sums(self):
        c = self.json.get("stacks", {}).get("callers")
        if not c:
            return
        label = "callers   "
        for key, words in (
                ("stacks", "samples have callers:"), ("whole", "up to the outermost function"),
                ("truncated", "not so far: [truncated: ...] says why"),
                ("caller_unknown", "with a [caller unknown]"),
                ("calls", "calls in these stacks:"),
                ("proved", "lead to the function that is there"),
                ("by_pointer", "go by pointer: where to cannot be checked"),
                ("wrong", "lead elsewhere"),
                ("inserted", "callers were inserted: their call proves them, but the stack did "
                 "not have them yet"),
                ("not_recorded", "samples have none recorded")):
            if c[key] and c["stacks"]:
                yield line(f"{label}{c[key]:10} {words}")
                label = INDENT


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
