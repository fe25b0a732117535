# SPDX-License-Identifier: GPL-2.0-only
"""Text as hlguest(7) has people see it: how wide, in which colours, where a line is broken or a
name is cut, and how numbers are rounded. For tests that know what the text has to say."""
import math
import os
import re

from programs import on_terminal
from tap import DATA, environment, run

INDENT = " " * 10  # as wide as the words in front of lines
LEAST_NAME, LEAST = 16, 8  # cells that a name has at least, with what is around it and alone
ESCAPE = re.compile("\x1b\\[[0-9;]*m")
# What is wrong with a recording, and what is true of any: filter/output/note-list.h.
WARNINGS = re.compile(r"\d+ events? (was|were) lost|functions are (not )?named|the recording |"
                      r"guest calls of guests that do not fit|COUNTS ADD UP|\d+ records? |"
                      r"\d+ counts? (?:is|are) shown as 0|the kernel throttled|"
                      r"most (guest samples|addresses) lie outside")
DETAILS = re.compile(r"image: |percentiles are off by|times are by the clock|"
                     r"\d+ windows? (?:was|were) recorded|counts are as read|"
                     r"first: counted since|interval: of the median|"
                     r"\d+ pairs?; 0 markers without their other half; 0 pairs left")


def pieces(text):
    """Words with the blanks before them; of a command in brackets, which is to be copied, all."""
    is_open = False
    while text:
        bracket = re.match(r" *(\(*)", text)[1]
        is_open = is_open or bool(bracket)
        command = is_open and re.match(r" *\(*hlguest [^);]*[^ ]*", text)
        piece = (command or re.match(r" *[^ ]*", text))[0]
        for c in re.findall("[()]", piece):
            is_open = c == "("
        yield piece
        text = text[len(piece):]


class Screen:
    """What a reader has before him: a terminal, a pipe or a file, as the environment has it."""

    def __init__(self, rng, paints, is_low=False):
        """paints: the verb has --color; is_low: lines are wide, and perhaps too many."""
        self.kind = rng.choice(("pipe", "pipe", "file", "terminal", "terminal"))
        is_terminal = self.kind == "terminal"
        self.env = {"TERM": rng.choice(("xterm", "xterm", "dumb")), "NO_COLOR": ""}
        utf8 = rng.random() < .5
        self.env["LC_ALL"] = "C.UTF-8" if utf8 else "C"
        self.columns, self.lines = (80, 24) if is_terminal else (100, 0)
        if rng.random() < .7:
            self.columns = rng.choice((40, 60, 66, 80, rng.randint(60, 200), 200, 200))
            self.env["COLUMNS"] = str(self.columns)
        if rng.random() < .5:
            self.lines = rng.choice((10, 30, 45, rng.randint(25, 80)))
            self.env["LINES"] = str(self.lines)
        if is_low:
            self.columns, self.lines = 200, rng.randint(20, 60)
            self.env |= {"COLUMNS": "200", "LINES": str(self.lines)}
        if rng.random() < .1:
            self.env["NO_COLOR"] = "1"
        self.wide, self.verbose = rng.random() < .2, not is_low and rng.random() < .4
        self.words = ["--no-pager"] * (rng.random() < .5) + ["--wide"] * self.wide
        self.words += ["-v"] * self.verbose
        color = rng.choice(("auto", "auto", "always", "never")) if paints else None
        self.words += [f"--color={color}"] * (color is not None)
        self.paints = color == "always" or color == "auto" and is_terminal and \
            self.env["TERM"] == "xterm" and not self.env["NO_COLOR"]
        self.blocks = self.paints and utf8
        self.ellipsis = ".." if is_terminal and not utf8 else "…"
        if self.wide:
            self.columns = 0  # any number

    def ask(self, folder, *argv, cwd=DATA):
        """(text, status) of a program that is shown so."""
        argv = [*argv, *self.words]
        if self.kind == "terminal":
            return on_terminal(argv, cwd=cwd, **self.env)
        path = os.path.join(folder, "seen.txt")
        if self.kind == "file":
            argv += ["-o", path]
        out, _, status = run(*argv, cwd=cwd, env=environment(**self.env))
        if self.kind == "file" and status in (0, 3):
            with open(path, encoding="utf-8") as f:
                out = f.read()
        return out, status

    def wrap(self, label, text):
        """On a terminal a line is broken between words, and goes on below the first."""
        if not self.lines or not self.columns:
            return [label + text]
        lines, line = [], label
        for word in pieces(text):
            if len(line) > len(INDENT) and len(line) + len(word) > self.columns:
                lines.append(line)
                line, word = INDENT, word.lstrip(" ")
            line += word
        return [*lines, line]

    def cut(self, name, cells):
        """In its middle: of what is left, two thirds are of its begin."""
        if len(name) <= cells:
            return name
        left = cells - len(self.ellipsis)
        return name[:left - left // 3] + self.ellipsis + name[len(name) - left // 3:]

    def name(self, name, used, around=0):
        """What is left of it behind so many cells, and with so many around it; some is."""
        if not self.columns:
            return name
        left = max(self.columns - used, LEAST_NAME)
        return self.cut(name, max(left - around, LEAST))

    def paint(self, text, share):
        """Red from 5 % on, green from 0.5 %."""
        if not self.paints or share < .005:
            return text
        return f"\x1b[{31 if share >= .05 else 32}m{text}\x1b[m"

    def bar(self, n, most, cells, share):
        """As long as n is of most, rounded up."""
        per = 8 if self.blocks else 1
        length = -(-n * cells * per // most)
        text = "#" * length
        if self.blocks:
            text = "█" * (length // 8) + (chr(0x2590 - length % 8) if length % 8 else "")
        return self.paint(f"{text:{cells}}", share)

    def notes(self, notes, warnings, own=()):
        """In front of the tables warnings, behind them the others, details last. own: (level,
        note), which come first."""
        levels = [*own, *((level_of(note), note) for note in notes)]

        def of(label, level):
            return [line for at, note in levels if at == level for line in self.wrap(label, note)]
        if warnings:
            return of("warning:  ", "warning")
        told = of("note:     ", "note") + (of(INDENT, "detail") if self.verbose else [])
        return [""] * bool(told) + told


def level_of(note):
    return "warning" if WARNINGS.match(note) else "detail" if DETAILS.match(note) else "note"


def percent(share):
    hundredths = math.floor(share * 10000 + .5)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def time(ns):
    """In the largest unit that leaves three digits; ns are whole."""
    value, units = float(ns), ["ns", "us", "ms", "s"]
    while value >= 10000 and len(units) > 1:
        value /= 1000
        del units[0]
    return f"{value:.{0 if units[0] == 'ns' else 1}f} {units[0]}"


def difference(screen, text, expected):
    """The first line that is another. expected: lines, or patterns of one that may be broken."""
    lines = text.split("\n")
    if lines.pop():
        return "the last line has no end"
    at = 0
    for want in expected:
        if at == len(lines):
            return f"ends in front of {want!r}"
        taken = lines[at:at + 1]
        if not isinstance(want, str):
            while lines[at + len(taken):][:1] and re.match(INDENT + "[^ ]", lines[at + len(taken)]):
                taken.append(lines[at + len(taken)])
            line = " ".join([taken[0], *(part.strip(" ") for part in taken[1:])])
            if not want.fullmatch(line) or screen.wrap("", line) != taken:
                return f"{taken}, not {want.pattern!r}"
        elif taken[0] != want:
            return f"{taken[0]!r}, not {want!r}"
        at += len(taken)
    return f"{lines[at]!r} behind all" if at < len(lines) else None
