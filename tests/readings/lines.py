# SPDX-License-Identifier: GPL-2.0-only
"""Lines of text as they must be, for the readings that make a report's text anew.

A line is a regular expression: of a figure that is known but for its last digit, as of one that
was rounded before, each possible one fits.
"""
import math
import re

INDENT = " " * 10
CODE = re.compile("\033\\[[0-9]*m")
COLOURS = ((.05, "\033[31m"), (.005, "\033[32m"))


def seconds(ns):
    """As perf writes times."""
    return f"{ns // 10**9}.{ns % 10**9:09}"


class Any(tuple):
    """Texts of which each may stand there, all of one meaning."""


def texts(cell):
    return cell if isinstance(cell, Any) else Any((cell,))


def joined(before, cell, behind=""):
    return Any(f"{before}{text}{behind}" for text in texts(cell))


def rounded(number, slack=0):
    """Whole numbers that it may be rounded to, if it is known to that."""
    unsure = slack + max(1e-7, 1e-15 * abs(number))
    low, high = (math.floor(number + .5 + d * unsure) for d in (-1, 1))
    return range(low, high + 1)


def percent(share, slack=0):
    """With two digits; slack is in hundredths of a percent."""
    return Any(f"{max(n, 0) // 100}.{max(n, 0) % 100:02}" for n in rounded(share * 10**4, slack))


def margin(share, low, high, few, is_ascii):
    """How sure a share is; its upper end, where as much below it would be less than nothing."""
    side = max(high - share, share - low)
    sign, texts = "+-" if is_ascii else "±", ()
    if few or side > share - 2e-4:
        texts += tuple(f"<{p:>5}" for p in percent(high, .51))
    if not few and side < share + 2e-4:
        texts += tuple(f"{sign}{p:>5}" for p in percent(side, .51))
    return Any(texts)


def part(n, rest):
    """What n is of it and the rest; where there is any, it is not all."""
    return percent(min(n / (n + rest), .9999 if rest else 1) if n + rest else 0)


def points(share, slack=0):
    return Any(f"{'-' if n < 0 else '+'}{abs(n) // 100}.{abs(n) % 100:02}"
               for n in rounded(share * 10**4, slack))


def whole(number, slack=0):
    return Any(map(str, rounded(number, slack)))


def plural(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def cut(text, cells, ascii_only):
    """In the middle; two thirds of what is left stand in front."""
    left = cells - (2 if ascii_only else 1)
    if len(text) <= cells or left < 2:
        return text
    behind = left // 3
    return text[:left - behind] + (".." if ascii_only else "…") + (
        text[len(text) - behind:] if behind else "")


def line(*parts):
    return "".join(re.escape(part[0]) if len(part) == 1 else
                   "(?:" + "|".join(map(re.escape, part)) + ")" for part in map(texts, parts))


def fitted_pieces(label, pieces, columns):
    """(rank, text, what is in front) each: those of the highest rank are left out first."""
    pieces = list(pieces)
    worst = max(rank for rank, *_ in pieces)
    while True:
        kept = [(text, between) for rank, text, between in pieces if rank <= worst]
        told = "".join((between if i else "") + texts(text)[0]
                       for i, (text, between) in enumerate(kept))
        if worst == 0 or not columns or len(INDENT + told) <= columns:
            parts = [f"{label:10}"]
            for i, (text, between) in enumerate(kept):
                parts.append(joined(between if i else "", text))
            return line(*parts)
        worst -= 1


class Column:
    """gap: blanks in front. width: below 0, to the left."""

    def __init__(self, heading, gap, width, painted=False):
        self.heading, self.gap, self.width, self.painted = heading, gap, width, painted

    def put(self, cell):
        side = "<" if self.width < 0 else ">"
        return Any(f"{text:{side}{abs(self.width)}}" for text in texts(cell))


def head(columns):
    return line(*(part for c in columns for part in (" " * c.gap, c.put(c.heading))))


def row(columns, cells, tail="", screen=(0, False), colour=None):
    """The last cell with its tail is cut to the screen: (columns or 0, whether it is ASCII)."""
    parts, used, painted = [], 0, False
    for c, cell in zip(columns[:-1], cells):
        put = joined(" " * c.gap, c.put(cell))
        used += len(CODE.sub("", put[0]))
        if colour and c.painted != painted:
            parts.append(colour if c.painted else "\033[m")
            painted = c.painted
        parts.append(put)
    if colour and columns[-1].painted != painted:
        parts.append("\033[m" if painted else colour)
    end = "\033[m" if colour and columns[-1].painted else ""
    last, name = columns[-1].gap, columns[-1].put(cells[-1])
    name, room = name if len(name) > 1 else name[0], screen[0] - used - last
    if screen[0]:
        name = cut(name, max(room - len(tail), 16), screen[1])
        left, more = room - len(name), ".." if screen[1] else "…"
        if len(tail) > left:
            tail = tail[:left - len(more)] + more if left >= len(more) else ""
    return line(*parts, " " * last, name, end, tail)


def colour_of(share):
    return next((code for least, code in COLOURS if share >= least), None)


def bar(share, most, cells, blocks):
    """Rounded up. With blocks, by eighths."""
    of = cells * (8 if blocks else 1)
    n = min(math.ceil(of * share / most), of) if most else 0
    if not blocks:
        return "#" * n
    return "█" * (n // 8) + (chr(0x2590 - n % 8) if n % 8 else "")


def different(got, expected):
    """The first line that is not as expected, or None."""
    for i in range(max(len(got), len(expected))):
        mine = expected[i] if i < len(expected) else None
        if i >= len(got) or mine is None or not re.fullmatch(mine, got[i]):
            return f"line {i + 1}: {got[i] if i < len(got) else 'missing'!r}, not " + \
                f"{re.sub(chr(92) * 2 + '(.)', chr(92) + '1', mine) if mine else 'there'!r}"
    return None


UNITS = {True: ((10**9, " s"), (10**6, " ms"), (10**3, " us"), (0, " ns")),
         False: ((10**9, " G"), (10**6, " M"), (10**3, " k"), (0, ""))}


def unit_for(largest, clock):
    """Of which it is at least a tenth."""
    return next(unit for unit in UNITS[clock] if largest >= unit[0] / 10)


def scaled(n, unit):
    """Three digits behind the point."""
    size, name = unit
    return joined("", Any(f"{k // 1000}.{k % 1000:03}" for k in rounded(n / size * 1000)), name) \
        if size else f"{n}{name}"


def lasted(ns):
    """How long a recording took: one digit, of less than a unit three."""
    size, name = next(unit for unit in UNITS[True][:3] if ns >= unit[0] / 10 or unit[0] == 1000)
    if ns < size:
        return f"0.{ns // (size // 1000):03}{name}"
    return Any(f"{k // 10}.{k % 10}{name}" for k in rounded(ns / size * 10))
