#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The text of hlguest windows, and its strip of functions, against its own JSON.

    windows_text.py --build DIR [--seed N] [--seeds N]

The recordings are those of windows_model.py, which reads every figure of JSON. What text has to
say of these, for a terminal, a pipe or a file of any width, is written here once more, by
hlguest-windows(1) and hlguest(7), and must be what the command writes, line by line; and so are
the strip of a picture and its legend.
"""
import fractions
import itertools
import json
import os
import random
import re
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import windows_model
from forged import HOST, TEXT
from lines import plural
from programs import hlguest_of
from seeds import seeds
from seen import ESCAPE, INDENT, LEAST_NAME, Screen, difference, percent, time
from tap import Skip, run
from windows_model import OUTSIDE, RATES, Made, Sample, Selection, function_of, guest, seconds

SHOWN = 20  # functions, or outliers
CLOCKS = ("task-clock", "cpu-clock", "ns")
PERIODS = (5000, 10**7, 1500, 1500000, 2 * 10**9, 7)
COLOURS = 8  # the last is all others'
WIDE = 80    # what lines take where they cannot be shorter
LONG = ("::<impl core::ops::function::FnOnce<Args>>::call_once_with_a_guest_of_its_own", "::größe",
        "", "_of_sums")


def functions(seed):
    """Many, with long names."""
    names = [f"fn{(7 * i + seed) % 50:02}{LONG[(i + seed) % len(LONG)]}" for i in range(32)]
    names[1:3] = ["beta", "gamma"]
    return tuple((name, TEXT + 0x80 * i, 0x80) for i, name in enumerate(names))


def number(value):
    """Two places, where it has any and is not large."""
    return f"{value:.2f}" if value < 10**5 and value != int(value) else f"{value:.0f}"


def sampled(period, leader):
    if period == 1:
        return f"sampled at every {leader}"
    if leader not in CLOCKS:
        return f"sampled every {period} of {leader}"
    units = ["ns", "us", "ms", "s"]
    while period % 1000 == 0 and len(units) > 1:
        period //= 1000
        del units[0]
    return f"sampled every {period} {units[0]} of {leader}"


def what_of(told):
    """Where the samples do not fit no function is named."""
    return "function" if told["check"]["named"] else "guest address"


class Sums:
    """The table of functions: (heading, cells, values) of each column but the last."""

    def __init__(self, told, screen):
        self.screen, self.rows = screen, told["functions"]
        self.what = what_of(told)
        self.all = sum(row["counts"][0] for row in self.rows)
        self.columns = [("share %", 7, [f"{100 * self.share([row]):.2f}" for row in self.rows]),
                        ("windows", 11, [str(row["windows"]) for row in self.rows])]
        for i, event in enumerate(told["events"]):
            counts = [row["counts"][i] for row in self.rows]
            texts = [time(n) if event in CLOCKS else str(n) for n in counts]
            cells = max(11 if event in CLOCKS else max(map(len, texts), default=1), len(event))
            self.columns.append((event, 2 + cells, texts))
        for name, of, per, times, places in RATES:
            if {of, per} <= set(told["events"]):
                texts = [self.rate(told, row, of, per, times, places) for row in self.rows]
                self.columns.append((name, 2 + max(8, *map(len, [name, *texts])), texts))

    @staticmethod
    def rate(told, row, of, per, times, places):
        of, per = (row["counts"][told["events"].index(event)] for event in (of, per))
        return f"{of / per * times:.{places}f}" if per else "-"

    def share(self, rows):
        return sum(row["counts"][0] for row in rows) / self.all if self.all else 0

    def lines(self):
        """As many columns as fit beside a name, the first event's in any case."""
        most, cells = self.screen.columns, list(itertools.accumulate(c[1] for c in self.columns))
        n = sum(not most or i < 3 or at + 2 + LEAST_NAME <= most for i, at in enumerate(cells))
        columns, used = self.columns[:n], cells[n - 1] + 2
        yield "".join(f"{head:>{cells}}" for head, cells, _ in columns) + f"  {self.what}"
        for i, row in enumerate(self.rows[:SHOWN]):
            yield "".join(f"{texts[i]:>{cells}}" for _, cells, texts in columns) + \
                "  " + self.screen.name(row["function"], used)
        if rest := self.rows[SHOWN:]:
            yield f"  ({len(rest)} more, {percent(self.share(rest))} %: --summary has all, as CSV)"
        if dropped := len(self.columns) - n:
            yield f"  ({dropped} more column{'s' * (dropped > 1)}: --wide)"


class Spreads:
    """The figures of the repetitions, and the outliers."""

    HEADS = "median", "95 % from", "to", "min", "mean", "max", "outliers"

    def __init__(self, told, screen):
        self.told, self.screen, self.pairs = told, screen, told["pairs"]

    def cells(self, i, of):
        values = [of[key] for key in ("median", "median_low", "median_high", "min", "mean", "max")]
        if self.pairs:
            counts = [pair["counts"][i] for pair in self.pairs]
            values[4] = float(fractions.Fraction(sum(counts), len(counts)))
        else:
            values = [None] * 6
        return [*("-" if x is None else time(int(x + .5)) if of["event"] in CLOCKS else number(x)
                  for x in values), str(of["outliers"])]

    def lines(self):
        rows = [self.cells(i, of) for i, of in enumerate(self.told["spread"])]
        widths = [max(len(row[k]) for row in [self.HEADS, *rows]) for k in range(7)]
        widths = [max(width, 9) for width in widths[:6]] + widths[6:]
        for row, name in zip([self.HEADS, *rows], ["event", *(
                of["event"] for of in self.told["spread"])]):
            text = " ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) + "  "
            yield text + (name if row is self.HEADS else self.screen.name(name, len(text)))
        out = [pair for pair in self.pairs if pair["outlier"]]
        if out:
            yield from ("", "outliers")
        for pair in out[:SHOWN]:
            counts = dict(zip(self.told["events"], pair["counts"]))
            yield f"  {seconds(pair['end_ns'])}  tid {pair['tid']}  " + ", ".join(
                f"{name} {time(counts[name]) if name in CLOCKS else counts[name]}"
                for name in pair["outlier"])
        if len(out) > SHOWN:
            yield f"  and {len(out) - SHOWN} more (--format=csv marks all)"


class Spaced(Sample):
    """Where instructions have four bytes."""

    def __init__(self, time, cpu, thread, place, *of):
        super().__init__(time, cpu, thread, place & ~3, *of)


class Inside(Spaced):
    """All of a guest's lie in its ELF."""

    def __init__(self, time, cpu, thread, place, *of):
        super().__init__(time, cpu, thread, TEXT if place == OUTSIDE else place, *of)


class Busy(random.Random):
    """As many as there may be."""

    def randint(self, a, b):
        return b


class Recording(Made):
    """Some are led by a clock, some have many pairs of one thread."""

    def make(self):
        rng = self.rng
        if "task-clock" in self.group and not self.traced and rng.random() < .6:
            self.group.remove("task-clock")
            self.group.insert(0, "task-clock")
        if rng.random() < .25:
            self.cpus, self.threads = 1, self.threads[:1]
            self.ports[1] = self.ports[0]
            self.rng = Busy(rng.random())
        super().make()


class Judge:
    def __init__(self, hlguest, folder, seed):
        windows_model.Sample = (Sample, Spaced, Inside)[seed % 3]
        self.made = Recording(seed)
        self.rng, self.hlguest, self.folder = self.made.rng, hlguest, folder
        self.period = 1 if self.made.traced else self.rng.choice(PERIODS)
        self.is_wrong = self.rng.random() < .15  # the base
        self.force = ["--force"] * (self.rng.random() < .3)
        self.elf, self.data = (os.path.join(folder, name) for name in ("guest.elf", "made.data"))
        data = self.made.data()
        if not self.made.traced:
            data = data.replace(struct.pack("<Q", 5000), struct.pack("<Q", self.period))
        elf = guest()
        if seed % 3:
            elf = elf.replace(b"\x90" * 0x1000, b"\x48\x83\xc0\1" * 0x400)
        for path, content in (self.elf, elf), (self.data, data):
            with open(path, "wb") as f:
                f.write(content)

    def argv(self, words):
        glob = [f"--event={self.made.group[0]}"] if self.made.other else []
        base = "@0x777101" if self.is_wrong else ""
        return [self.hlguest, "windows", self.elf + base, self.data, *self.force, *glob, *words]

    def json(self, words):
        """None if nothing is selected."""
        out, err, status = run(*self.argv(words), "--format=json")
        if "not in this build" in err:
            raise Skip(err.strip())
        return json.loads(out) if status in (0, 3) else None

    def judge(self):
        for whole in (True, False):
            select = Selection(self.rng, self.made, whole)
            words = list(select.words)
            if not whole:
                begin, end = self.made.ports[0], self.rng.choice(self.made.ports)
                words.append(f"--between=port:{begins_of(begin, end)}")
            if whole or self.made.traced:
                yield from self.judge_of(whole, select, words)

    def judge_of(self, whole, select, words):
        told = self.json(words)
        if not told:
            return
        for _ in range(3):
            screen = Screen(self.rng, False)
            expected = self.windows if whole else self.pairs
            out, status = screen.ask(self.folder, *self.argv([*words, "--format=text"]))
            wrong = difference(screen, out, list(expected(told, screen, select, out)))
            check = told.get("check", {"verdict": None, "named": True})
            doubted = not self.force and (check["verdict"] == "mixed" or not check["named"])
            if status != (3 if check["verdict"] == "mismatch" or doubted else 0):
                wrong = f"status {status}"
            wide = max(screen.columns, WIDE)
            if whole and screen.lines and screen.columns and any(
                    len(line) > wide and " " in line[len(INDENT):] for line in out.split("\n")):
                wrong = wrong or f"is wide: {out}"
            if wrong:
                yield f"{' '.join([*words, *screen.words])} {screen.kind} {screen.env}: {wrong}"
        if whole:
            yield from self.strip(words, told)

    def check(self, told, screen, select, out):
        """(what is behind the first line, a line of its own)"""
        check = told["check"]
        if self.made.other or select.words:  # whose samples are checked, too
            outside = re.search(r"; outside the ELF: (\d+) of (\d+)", " ".join(out.split()))
            n, of = map(int, outside.groups()) if outside else (0, 0)
        else:
            left = [s for s in self.made.samples if s.mode != HOST]
            n, of = sum(function_of(s) == "[outside]" for s in left), len(left)
        off = f"; outside the ELF: {n} of {of}" if n > of // 20 and not self.is_wrong else ""
        said = {"not tested": "not checked", "too few samples to tell": "cannot tell",
                "verified": "OK in the ELF" if off else "OK", "mixed": "MIXED",
                "mismatch": "WRONG ELF OR BASE"}[check["verdict"]]
        if said == "OK":
            return ", check OK", []
        how = ".*" if not said.startswith("OK") else \
            rf"all {check['samples']['on']} (tested )?samples lie on .* \(\d+ % by chance\)"
        return "", [re.compile(f"check     {said}: {how}{re.escape(off)}" +
                               (".*" if self.is_wrong else ""))]

    def windows(self, told, screen, select, out):
        check, lines = self.check(told, screen, select, out)
        if told["check"]["verdict"] in ("mixed", "mismatch"):
            yield re.compile("!! .*")
        leader = told["events"][0]
        yield f"{plural(len(told['windows']), 'window')}, {sampled(self.period, leader)}{check}"
        yield from self.selected(screen, select)
        yield from lines
        yield f"by the {what_of(told)} that they end in; share of {leader}"
        yield from screen.notes(told["notes"], True)
        yield ""
        yield from Sums(told, screen).lines()
        yield from screen.notes(told["notes"], False)

    def selected(self, screen, select):
        said = select.said(self.made.group[0] if self.made.other else None)
        return screen.wrap("selected  ", said) if said else []

    def pairs(self, told, screen, select, _):
        yield f"{plural(len(told['pairs']), 'pair')}; the median, and its interval at 95 %"
        yield from self.selected(screen, select)
        yield from screen.notes(told["notes"], True)
        yield ""
        yield from Spreads(told, screen).lines()
        yield from screen.notes(told["notes"], False)

    def strip(self, words, told):
        """The functions that windows end in, over time, and what part of them each is."""
        out, _, _ = run(*self.argv(words), "--format=svg")
        strip = re.search(r"<g><title>the function that each window ends in</title>\n(.*?)</g>\n",
                          out, re.S)
        if not told["windows"]:
            return
        rects = re.findall(r'<rect x="(\d+)" y="\d+" width="(\d+)" height="\d+" fill="(#\w+)">'
                           r"<title>(.*?)</title></rect>\n", strip[1])
        legend = re.findall(r'<svg x="(\d+)" y="(\d+)" .*? fill="(#\w+)"/>.*?>([\d.]+) % of windows: (.*?)'
                            r"</text></svg>\n", strip[1])
        if wrong := wrong_legend(told, legend) or wrong_rects(told, rects, legend):
            yield f"{' '.join(words)} strip: {wrong}"


def begins_of(begin, end):
    return f"{begin}..port:{end}"


def escaped(name):
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def wrong_legend(told, legend):
    counts = sorted((row["windows"] for row in told["functions"]), reverse=True)
    own = {escaped(row["function"]): row["windows"] for row in told["functions"]}
    of_rest = len(counts) - COLOURS + 1
    places = [(int(x), int(y)) for x, y, *_ in legend]
    if places != sorted(places, key=lambda at: at[::-1]) or len({x for x, _ in places}) > 2 or \
            len({y for _, y in places}) != (len(places) + 1) // 2:
        return f"{places}: not two beside each other"
    parts = counts[:COLOURS - 1] + [sum(counts[COLOURS - 1:])] * (of_rest > 0)
    expected = [percent(n / sum(counts)) for n in parts]
    if [row[3] for row in legend] != expected:
        return f"{legend}, not {expected}"
    if len({row[2] for row in legend}) != len(legend) or len({row[:2] for row in legend}) != \
            len(legend):
        return f"{legend}: colours or places are alike"
    if of_rest > 1 and legend[-1][4] != f"{of_rest} others":
        return f"{legend}, not {of_rest} others"
    for n, (*_, name) in zip(parts, legend[:-1] if of_rest > 1 else legend):
        if own.get(name) != n:
            return f"{legend}: {name} has not {n} windows"
    return None


def wrong_rects(told, rects, legend):
    """Each from the end of the one before to its own; of several in a pixel the first."""
    times = [row["time_ns"] for row in told["windows"]]
    left, stop = int(rects[0][0]), int(rects[-1][0]) + int(rects[-1][1])
    colours = {name: colour for *_, colour, _, name in legend}
    at, expected = left, []
    for ns, row in zip(times, told["windows"]):
        part = (ns - times[0]) / (float(times[-1] - times[0]) + 1)
        end = left + int(part * (stop - left)) + 1
        if end > at:
            name = escaped(row["function"])
            expected.append((str(at), str(end - at), colours.get(name, legend[-1][2]), name))
            at = end
    if [*rects] != expected:
        return f"{[*rects]}, not {expected}"
    return None


def differences(build, folder, seed):
    windows_model.FUNCTIONS = functions(seed)
    judge = Judge(hlguest_of(build), folder, seed)
    return judge.judge() if judge.made.samples else []


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 50, differences))
