#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The text of hlguest diff against another reading of the same numbers.

    diff_text.py --build DIR [--seed N] [--seeds N]

The recordings of diff_model.py, which reads JSON and CSV and computes every figure of them. Here
text and Markdown are made anew, line by line, from JSON, whose counts tell shares exactly, and
from the lists that the samples were made from; for any screen, with all options that text has.
"""
import json
import math
import os
import random
import statistics
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import diff_model
from lines import (INDENT, Any, Column, cut, different, head, joined, lasted, line, percent,
                   plural, points, rounded, row, scaled, texts, unit_for)
from programs import hlguest_of
from seeds import seeds
from tap import environment, run

SIDES = ("before", "after")
ROWS, SCREEN, LEAST_CHILDREN = 40, 100, 120
LEAST_TIME, LEAST_PATH = 68, 16  # columns; cells of a recording's name
VERDICTS = {"verified": "check OK", "mixed": "check MIXED", "mismatch": "WRONG ELF OR BASE",
            "too few samples to tell": "cannot tell", "not tested": "not checked"}
NS = ((1, "ns"), (10**3, "us"), (10**6, "ms"), (10**9, "s"))
LISTED = 10  # recordings, in details


def places(number, n):
    """With so many digits behind the point."""
    return Any(f"{k / 10**n:.{n}f}" for k in rounded(number * 10**n))


def unit_of(ns):
    return next(unit for unit in reversed(NS) if ns >= unit[0] or unit[0] == 1)


def far_apart(both):
    return 0 < min(both) < max(both) / 100


def three(number):
    """For three digits."""
    return 2 if number < 10 else 1 if number < 100 else 0


class Judge(diff_model.Judge):
    BORDERS = "keep",  # what is said of others is tested elsewhere

    def __init__(self, hlguest, folder, seed):
        super().__init__(hlguest, folder, seed)
        rng = random.Random(seed + 1)
        self.given = rng.choice((None, rng.randint(48, 80), rng.randint(60, 130),
                                 rng.randint(118, 130), 200))
        self.text_options = {name: rng.random() < chance for name, chance in (
            ("all", .6), ("wide", .25), ("verbose", .35))}
        self.colour, self.fail_if = rng.random() < .2, None
        self.markdown = rng.random() < .25
        if rng.random() < .3:
            self.options["top"] = rng.choice((None, 1, 3))
        if rng.random() < .2:
            self.options["min"] = rng.choice((5, 12))
        if self.same and rng.random() < .4:
            self.text_options.update(all=True, verbose=True)
            self.options["region"] = 64
            self.look()
        is_wide = self.text_options["wide"] or self.markdown
        self.columns = 0 if is_wide else self.given or SCREEN
        self.every = self.text_options["all"]

    @staticmethod
    def drawn(rng):
        """Some long ones, of which a screen shows a part, or that need care in tables."""
        return diff_model.Judge.drawn(rng) + rng.choice(
            ("", "", "|`\\|", "_of_some_length" * 3))

    def told(self, form, words=(), **options):
        before, after = self.sides
        given = {**self.options, **options}
        files = [*before.space.words(), *before.files, "--after"]
        files += [*([] if self.same else after.space.words()), *after.files]
        return run(self.hlguest, "diff", "-q", "--force", "--demangle=no",
                   f"--format={form}", *(f"--{key}={value}" for key, value in given.items()
                                         if value is not None),
                   *(["--children"] if self.children else []), *self.select.words, *words, *files,
                   cwd=self.folder, env=environment(
                       **({"COLUMNS": str(self.given)} if self.given else {})))

    def check(self):
        if not self.comparable():
            return
        words = [f"--{name}" for name, is_on in self.text_options.items() if is_on]
        words = [word if word == "--all" else f"{word}=yes" for word in words]
        words.append(f"--color={'always' if self.colour and not self.markdown else 'never'}")
        self.colour = self.colour and not self.markdown
        form = "markdown" if self.markdown else "text"
        out, err, status = self.told(form, words)
        if status not in (0, 3):
            yield f"{words}: status {status}: {err}"
            return
        self.json = json.loads(self.told("json", top=0, min=0)[0])
        self.several = [s.event for side in self.sides for s in side.guest]
        yield from self.words_told()
        got = out.split("\n")
        lines = self.marked(got) if self.markdown else self.lines(got)
        if wrong := different(got, [*lines, ""]):
            yield f"{form} {' '.join([*self.words(), *words])} {self.options} " + \
                f"COLUMNS={self.given}: {wrong}"

    # What was compared, and how; of notes those that are not the report's of a side

    def words_told(self):
        if self.json["test"] != self.test():
            yield f"test: {self.json['test']}, not {self.test()}"
        unit = "samples" if self.json["weight"] == "samples" else "period"
        before, after = (len(side.view.kept) if unit == "samples" else
                         sum(s.period for s in side.view.kept) for side in self.sides)
        shares = f"of each side's {'own ' if before and after else ''}guest {unit}" + \
            ", each function with all that it calls" * self.children
        if before and after:
            times = f"{after / before:.3g} times "
            shares += f" (in all, after has {times * (times != '1 times ')}as much as before)"
        if self.json["shares"] != shares:
            yield f"shares: {self.json['shares']}, not {shares}"
        told = [note for note in self.json["notes"] if
                not note.startswith(("before: ", "after: ", "both sides: "))]
        expected = list(map(texts, self.own_notes()))
        if len(told) != len(expected) or any(a not in b for a, b in zip(told, expected)):
            yield f"notes: {told}, not {expected}"
        lost = [sum(sum(one.losses) for one in side.recordings) for side in self.sides]
        for who, n in (("both sides", lost[0]),) if lost[0] == lost[1] else zip(SIDES, lost):
            said = [note for note in self.json["notes"] if
                    note.startswith(f"{who}: {n} event{'s were' if n != 1 else ' was'} lost")]
            if len(said) != bool(n):
                yield f"{n} lost of {who}: {self.json['notes']}"

        if {s.event for side in self.sides for s in side.guest} == {"cpu-clock"} and not any(
                note.startswith("both sides: cpu-clock is a timer") for note in
                self.json["notes"]):
            yield f"not told of both sides, what cpu-clock is: {self.json['notes']}"

    def test(self):
        if not self.by_runs:
            return "chi-square test of samples (Fisher's mid-P where fewer than 5 are " + \
                "expected), Newcombe's interval"
        few = "; the side with fewer than three is assumed to vary as much as the other"
        return "sampling error and how much recordings differ, estimated from each row and " + \
            "all rows together" + few * (min(self.n_runs()) < diff_model.RUNS)

    def n_runs(self):
        """Recordings with samples."""
        return [sum(bool(view.kept) for view in side.each) for side in self.sides]

    def span(self, side):
        times = [s.time for s in side.samples()]
        return self.select.span(min(times), max(times)) if len(side.files) == 1 else 0

    def own_notes(self):
        found = self.json["functions"]
        spans = [self.span(side) for side in self.sides]
        if all(spans) and max(spans) > 1.5 * min(spans):
            a, b = (texts(lasted(span)) for span in spans)
            yield Any(f"before was recorded for {x}, after for {y}: the guest's time tells "
                      "something only if both did the same work" for x in a for y in b)
        if not self.by_runs:
            two = sum(len(side.files) for side in self.sides) == 2
            if any(f["significant"] for f in found):
                yield f"any {'two ' * two}runs of one guest may differ as much (record 3 or more " + \
                    "a side)"
            yield "the test knows sampling error and the phases inside a recording, not what " + \
                "else makes one run differ from the next (record three or more of each side to " + \
                "include that)"
        elif min(self.n_runs()) < 5:
            a, b = self.n_runs()
            yield f"with few recordings ({a} before, {b} after), only large changes stand out " + \
                "from the differences between runs (five of each side find more)"
        if not self.same:
            yield "regions are not compared: the builds differ"
        if any(f[name]["names"] > 1 for f in found for name in SIDES):
            yield "functions with the same name (static ones) cannot be told apart across " + \
                "builds: they share a row"

    # The text, in its order

    def lines(self, got):
        warnings = list(self.warnings(got))
        yield from warnings
        if warnings:
            yield ""
        yield self.answer()
        yield line(f"total     {self.json['total']['meaning']}")
        yield ""
        yield from self.none_changed()
        yield from self.rows("functions")
        if self.text_options["verbose"]:
            yield from self.rows("regions")
        yield from self.tail(got)

    def marked(self, got):
        warnings = list(self.warnings(got))
        if warnings:
            yield from ("```", *warnings, "```", "")
        yield r"\*\*" + self.answer() + r"\*\*"
        yield ""
        yield line(f"The total: {self.json['total']['meaning']}.")
        yield ""
        yield from self.none_changed()
        yield from self.marked_rows()
        yield "```"
        yield from self.tail(got)
        yield "```"

    def warnings(self, got):
        """What JSON has as a note, and text in front. A banner is that of the side's report."""
        yield from (line(text) for text in got if text.startswith("!! "))
        yield from self.notes("warning:  ", got)

    def notes(self, label, got):
        for note in self.json["notes"]:
            if label + note in got:
                yield line(label, note)

    def answer(self):
        total, found = self.json["total"], self.json["functions"]
        unit = (lambda s: s.period) if total["clock"] else self.weight
        means = [statistics.fmean(sum(map(unit, view.kept)) for view in side.each)
                 for side in self.sides]
        amounts = [places(mean, 0) for mean in means]
        if total["clock"]:
            units = [unit_of(mean if far_apart(means) else max(means)) for mean in means]
            amounts = [joined("", places(mean / size, 2), f" {name}")
                       for mean, (size, name) in zip(means, units)]
        what = "guest time" if total["clock"] else "guest samples" \
            if self.json["weight"] == "samples" else "guest events"
        growth = means[1] / means[0] - 1 if means[0] else math.inf if means[1] else 0
        change = ""
        if -1 < growth < -.99:  # all of it is gone only if nothing is left
            change = joined(" (", places(max(100 * growth, -99.9), 1), " %)")
        elif math.isfinite(growth):
            change = joined(" (", Any(f"{n:+d}" for n in rounded(100 * growth) if growth >= 0) or
                            Any(f"{-n:+d}" if n else "+0" for n in rounded(-100 * growth)), " %)")
        n = sum(f["significant"] for f in found)
        return line(what, " per run" * self.many(), " ", amounts[0], " -> ", amounts[1], change,
                    f"; {n} of {len(found)} functions ",
                    "changed" if self.by_runs else "differ")

    def many(self):
        return any(len(side.files) > 1 for side in self.sides)

    def none_changed(self):
        found = self.json["functions"]
        if any(f["significant"] for f in found) or self.every and found:
            return
        yield line("no function ", "changed significantly" if self.by_runs else
                   "differs between these runs beyond chance", " (--all shows ",
                   "all " * (len(found) > 1), str(len(found)), ")")
        yield ""

    # Tables

    def shown(self, rows):
        """(those that are shown, what is said of the rest)"""
        top = ROWS if self.options["top"] is None and not self.markdown else self.options["top"]
        wanted = [f for f in rows if f["significant"] or self.every]
        least = self.options["min"]
        left = [f for f in wanted if 100 * max(f["shares"]) >= least][:top or None]
        n = len(wanted) - len(left)
        if n:
            option = "top" if top and len(left) == top else "min"
            what = "" if self.every else " changed" if self.by_runs else " that differ"
            return left, f"{n} more{what}: --{option}=0"
        n = len(rows) - len(left)
        what = "change" if self.by_runs else "difference"
        return left, f"{n} without a significant {what}: --all" if n else ""

    def with_shares(self, what):
        for f in self.json[what]:
            f["shares"] = [self.part(f[name], side) for name, side in zip(SIDES, self.sides)]
        return self.json[what]

    def part(self, count, side):
        """Of what is kept of a side."""
        if self.json["weight"] == "samples":
            return count["samples"] / max(1, len(side.view.kept))
        return count["period"] / max(1, sum(s.period for s in side.view.kept))

    def has_time(self):
        return self.json["total"]["clock"] and (
            not self.columns or self.columns >= (LEAST_CHILDREN if self.children else LEAST_TIME))

    def columns_of(self, what):
        wide = self.text_options["wide"]
        columns = [("star", Column("", 0, 1, True))] * self.every + [
            ("change", Column("change", 1, 9, True)), ("before", Column("before", 1, 8, True)),
            ("after", Column("after", 1, 8, True))]
        if wide:
            columns += [("points", Column("points", 1, 7, True)),
                        ("interval", Column("95 % interval", 2, 18)), ("q", Column("q", 1, 8))]
        elif self.children and what == "functions":
            columns += [("own0", Column("self before", 2, 11)), ("own1", Column("after", 1, 8))]
        if self.has_time():
            columns.append(("time", Column("time per run" if self.many() else "time", 2, 18)))
        name = "region, and most of what is in it" if what == "regions" else \
            "function, with what it calls" if self.children else "function"
        return [*columns, ("name", Column(name, 2, 0))]

    def rows(self, what):
        rows = self.with_shares(what)
        if not any(f["significant"] or self.every for f in rows):
            return
        columns = self.columns_of(what)
        if what == "functions":
            yield line(self.share_of_what(), ": change, before and after",
                       "; and what that is in time" * self.has_time())
        yield head([c for _, c in columns])
        left, rest = self.shown(rows)
        for f in left:
            cells, tail = self.cells(f), self.remark(f)
            if what == "regions":
                cells["name"], tail = "", self.region(f)
            code = None
            if self.colour and f["significant"]:
                code = "\033[31m" if f["shares"][1] > f["shares"][0] else "\033[32m"
            yield row([c for _, c in columns], [cells[key] for key, _ in columns], tail,
                      (self.columns, False), code)
        if rest:
            yield line(" " * (32 if self.every else 31), f"({rest})")
        yield ""

    def share_of_what(self):
        return "share of the guest's " + (
            "samples" if self.json["weight"] == "samples" else
            "time" if self.json["total"]["clock"] else "events")

    def cells(self, f):
        before, after = f["shares"]
        growth = after / before - 1 if before else None
        change = "from 0" if growth is None else \
            joined("", points(growth), " %") if growth < 99.995 else \
            joined("", places(growth + 1, 0), " x")
        own = {}
        for i, (name, side) in enumerate(zip(SIDES, self.sides)):
            if self.children:
                own[f"own{i}"] = joined("", percent(self.part(f[name]["self"], side)), " %")
        q = f["q"]
        return {
            "star": "*" * f["significant"], "change": change, **own,
            "before": joined("", percent(before), " %"), "after": joined("", percent(after), " %"),
            "points": points(after - before),
            "interval": f"{f['low']:+7.2f} to {f['high']:+7.2f}",
            "q": "<0.0001" if q < .0001 else Any(f"{k / 10**4:.4f}" for k in rounded(
                q * 10**4, 10**4 * q * 5e-4)), "time": self.times(f), "name": f.get("name")}

    def times(self, f):
        """In the mean of the recordings."""
        ns = [f[name]["period"] / len(side.files) for name, side in zip(SIDES, self.sides)]
        if far_apart(ns):
            of = [(one / unit_of(one)[0], unit_of(one)[1]) for one in ns]
            a, b = (joined("", places(n, three(n)), f" {name}") for n, name in of)
            return Any(f"{x} -> {y}" for x in a for y in b)
        size, name = unit_of(max(ns))
        n = three(max(ns) / size)
        a, b = (places(one / size, n) for one in ns)
        return Any(f"{x} -> {y} {name}" for x in a for y in b)

    def remark(self, f, put=str):
        text = "  (label, no function)" * (f.get("kind") == "label")
        if max(f[name]["names"] for name in SIDES) > 1:
            text += f"  (of this name: {f['before']['names']} before, {f['after']['names']} after)"
        if f["status"] in ("new", "gone"):
            text += f"  ({f['status']})"
        if len(self.sides[0].space.bases) > 1 and f["image"]:
            text += f"  [{put(f['image'])}]"
        return text

    def region(self, f):
        """By the side after, if it has samples there."""
        side = self.sides[1 if f["after"]["samples"] else 0]
        at = int(f["addr"], 0)
        mine = next(row for row, _ in side.view.regions.values()
                    if row.key[1] == at and side.space.path(row.key[0]) == f["image"])
        parts = list(side.view.parts(mine))
        text = f"{at:#x}-{at + f['size'] - 1:#x}  "
        if len(side.space.bases) > 1 and f["image"]:
            text += f"[{f['image']}] "
        return text + parts[0][1].name + (f", {len(parts) - 1} more" if len(parts) > 1 else "")

    def marked_rows(self):
        rows = self.with_shares("functions")
        if not any(f["significant"] or self.every for f in rows):
            return
        clock = self.json["total"]["clock"]
        word = "time per run" if self.many() else "time"
        name = "function, with what it calls" if self.children else "function"
        yield line("| change | before | after |", f" {word} |" * clock, f" {name} |")
        yield line("| ---: | ---: | ---: |", " ---: |" * clock, " :--- |")
        left, rest = self.shown(rows)
        for f in left:
            cells = self.cells(f)
            yield line("| ", cells["change"], " | ", cells["before"], " | ", cells["after"],
                       *((" | ", cells["time"]) if clock else ()),
                       f" | `{marked(f['name'])}`", self.remark(f, lambda text: f"`{text}`"),
                       " |" if f["significant"] else "  (not significant) |")
        if rest:
            yield ""
            yield line(f"({rest})")
        yield ""

    # The sides

    def tail(self, got):
        for i in (0, 1):
            yield from self.side(i)
        if self.select.words:
            yield line("selected  ", " ".join(word[2:] for word in self.select.words))
        yield from self.notes("note:     ", got)
        if self.text_options["verbose"]:
            yield from self.details(got)

    def side(self, i):
        side, other = self.sides[i], self.sides[1 - i]
        mine, others = (sum(s.period for s in of.view.kept) for of in (side, other))
        clock = all(s.event.partition(":")[0] in diff_model.CLOCKS for s in side.guest) and \
            len({s.event for s in side.guest}) == 1
        # One unit for both, unless it would leave nothing.
        unit = unit_for(others if mine < others < 100 * mine else mine, clock)
        ns = self.span(side)
        said = VERDICTS[self.json[SIDES[i]]["verdict"]]
        if said == "cannot tell":
            said += side.lacks()
        outside = sum(side.space.place(s.ip)[0] is None for s in side.guest)
        if outside > len(side.guest) // 20:
            elf = f"the ELF{'s' if len(side.space.bases) > 1 else ''}"
            said += f" in {elf}" * (said == "check OK")
            if side.fit()[1]:
                said += f"; outside {elf}: {outside} of {len(side.guest)}"
        rest = [joined(f", {plural(len(side.view.kept), 'guest sample')}, ", scaled(mine, unit)),
                joined(" in ", lasted(ns)) if ns else "", f", {said}"]
        room = self.columns - len(INDENT) - sum(len(texts(part)[0]) for part in rest)
        if len(side.files) > 1:
            yield line(f"{SIDES[i]:10}", f"{len(side.files)} recordings", *rest)
            return

        def path(room):
            name = side.files[0]
            if not self.columns or len(name) <= room:
                return name
            return name[os.path.commonprefix([name, other.files[0]]).rfind("/") + 1:]
        if not self.columns or room >= LEAST_PATH or len(path(room)) <= room:
            yield line(f"{SIDES[i]:10}", cut(path(room), room, False) if self.columns else path(0),
                       *rest)
            return
        room = self.columns - len(INDENT) - 1
        yield line(f"{SIDES[i]:10}", cut(path(room), room, False), ",")
        yield line(INDENT, Any(text[2:] for text in texts(rest[0])), *rest[1:])

    def details(self, got):
        yield ""
        yield line(f"hlguest   {self.json['hlguest']}")
        for name, side in zip(SIDES, self.sides):
            yield from self.details_of(name, side, self.json[name])
        for key in ("matched", "shares", "test"):
            yield line(f"{key:10}{self.json[key]}")
        for text in ("* significant: q <= 5 %, the false discovery rate over all",
                     "rows of a table (Benjamini-Hochberg)",
                     "intervals are of 95 %, each row's own"):
            yield line(INDENT, text)
        for note in self.json["notes"]:
            if not {"warning:  " + note, "note:     " + note} & set(got):
                yield line(INDENT, note)

    def details_of(self, name, side, of):
        dropped = of["dropped"]["samples"]
        kept = len(side.guest) - dropped
        effective = joined(" (", places(side.view.observations, 0), " effective)") \
            if side.view.observations + .5 < kept else ""
        yield line(f"{name:10}{plural(len(side.files), 'recording')}, "
                   f"{plural(len(side.guest), 'guest sample')}, period {of['guest']['period']}",
                   f", {dropped} dropped" if dropped else "", effective)
        for file in side.files[:LISTED]:
            yield line(INDENT, file)
        if len(side.files) > LISTED:
            yield line(f"{INDENT}... and {len(side.files) - LISTED} more")
        for image in of["images"]:
            yield line(f"{INDENT}image {image['path']}, base {image['base']} (stated)")
            if image["build_id"]:
                yield line(f"{INDENT}      build id {image['build_id']}")
        yield self.check_of(side, of)

    def check_of(self, side, of):
        said = VERDICTS[of["verdict"]].removeprefix("check ")
        outside = sum(side.space.place(s.ip)[0] is None for s in side.guest)
        if said == "OK" and outside > len(side.guest) // 20:
            said += f" in the ELF{'s' if len(side.space.bases) > 1 else ''}"
        on, n = side.fit()
        return line(f"{INDENT}check {said}", joined(" (", percent(on / n),
                    " % of samples on instruction starts)") if n else "")


def marked(name):
    """In a cell of a table, between backquotes."""
    return "".join("\\x60" if c == "`" else c if c != "|" else
                   "\\x7c" if before == "\\" else "\\|" for before, c in zip(" " + name, name))


def fit(self):
    """(samples on instruction starts, those that are tested): in functions and labels, and in
    data, where no instruction is."""
    on = n = 0
    for s in self.guest:
        image, addr, place = self.space.place(s.ip)
        if place.kind in ("function", "label", "data"):
            n += 1
            on += place.kind != "data" and not self.space.bases[image][0].is_inside(addr)
    return on, n


def lacks(self):
    """What there is too little of."""
    addresses = {(image, addr) for s in self.guest for image, addr, place in [
        self.space.place(s.ip)] if place.kind in ("function", "label", "data")}
    if not addresses:
        return ": no sample lies in a function (is it the guest's ELF?)"
    if len(addresses) >= 12:
        return ": the samples may fit by chance"
    return f": {len(addresses)} distinct address{'es' * (len(addresses) != 1)}, 12 are needed"


diff_model.Side.fit, diff_model.Side.lacks = fit, lacks


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 80, differences))
