#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest top's tables and screens against another reading of the same samples.

    top_text.py --build DIR [--seed N] [--seeds N]

The recordings that go on are those of top_model.py, where names are long, or of several
functions. Each line of tables and screens is made anew here from what came: of any width and
height, with keys in between as hlguest-top(1) has them; also texts that lie on the screen, of
who calls a function. The guest and its check are the lines that hlguest report has of what the
report was made of, and instructions are those of hlguest annotate.
"""
import os
import re
import sys
import textwrap
import types

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from lines import Any, cut, different, joined, line, margin, percent, plural, whole
from live import SECOND, Live, events_of, name_of
from modelled import Sample, is_guest
from seeds import seeds
from seen import Screen
from top_keys import MOVES, Keys
from top_pane import Callers

LIVE, EXITS, SINCE, WIDE, WIDER = 78, 22, 8, 64, 72  # columns of the first line; from which there is more
APART, NAME = 24, 12
HEAD_MOST, HEAD_PART = 6, 4  # lines of the guest and its check, but that part of the screen
PLAIN, TITLE, SHARE, CURSOR, WARNING, KEYS = range(6)  # frame.h
WORDS = ("q end  space pause  z zero  / filter  s sort  Enter annotate  c callers  w save  h help",
         "q end  space pause  z zero  / filter  s sort  Enter annotate  h help",
         "q end  space pause  Enter annotate  h help", "q end  h help")
ALL = "Escape all functions  "
UNSURE = "margin"  # one that is not known
NO_SAMPLE = "no guest sample so far: does a guest run?"


def names_of(rng, n):
    """Some long ones, and some of several functions."""
    return [rng.choice(("twin", f"{rng.choice('aBcDeFgH')}_{i}" + rng.choice(("", "", "_long" * rng.randint(
        1, 16), "é" * 9)))) if rng.random() < .3 else f"{rng.choice('aBcDeFgH')}_{i}"
        for i in range(n)]


def hours(ns):
    s = ns // SECOND
    return f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" if s >= 3600 else f"{s // 60}:{s % 60:02}"


def rate(n, ns):
    return whole(n * SECOND / ns if ns else 0)


class Text(Callers, Live):
    def go(self):
        rng = self.rng
        self.keys, self.message, self.told_until, self.screen = Keys(), None, 0, (80, 24, False)
        for _ in self.steps(rng.randint(1, 10)):
            self.fit()
            for _ in range(rng.choice((0, 1, 2, 4))):
                rng.choice((self.ask_table, self.ask_frame, self.ask_frame, self.press_some,
                            self.press_some))()

    # What is shown.

    def chosen(self):
        """Rows in the order that is asked for."""
        rows = self.shown.rows or []
        rows = [row for row in rows if self.keys.filter.lower() in name_of(row[0]).lower()]
        orders = (lambda row: (row[0][0], -row[2][1] if row[2] else 1, self.order[row[0]]),
                  lambda row: (row[0][0], self.order[row[0]]),
                  lambda row: (row[0][0], name_of(row[0]).lower(), self.order[row[0]]))
        return sorted(rows, key=orders[self.keys.sort])

    def is_narrow(self, columns):
        return columns < LIVE + EXITS * self.exits + SINCE * (self.zeroed > 0)

    def live_line(self, columns):
        s, recent, ns = self.shown.since, self.shown.recent, self.shown.ns
        narrow = columns and self.is_narrow(columns)
        events = events_of(self.parts)
        text = Any((hours(self.shown.took) + " since z" * (self.zeroed > 0),))
        if len(events) > 1 and not narrow:
            text = joined("", text, f"  {len(events)} events")
        elif events and not narrow:
            event = events[0]
            clock = event.startswith(("cpu-clock", "task-clock"))
            text = joined("", text, f"  {event.partition(':')[0] if clock else event}")
        n = len(s.guest)
        text = joined("", text, f"  {n}{'' if narrow else ' guest'} sample{'s' * (n != 1)}")

        def put(before, part, behind=""):
            return Any(a + b for a in text for b in joined(before, part, behind))
        if self.shown.rows is not None:
            text = put(" (", rate(len(recent.guest), ns), "/s)")
        host = len(s.host) - s.traced
        if host:
            text = put("  host ", whole(100 * host / (host + n)), " %")
        text = joined("", text, f"  lost {s.lost}")
        if self.exits and self.shown.rows is not None:
            text = put("  exits ", rate(recent.exits, ns), "/s") if s.exits else \
                put("  exits to VMM ", rate(recent.vmm_exits, ns), "/s")
        return text

    def head(self, columns, lines):
        """Of report's, what concerns the guest and the check, and warnings."""
        if not self.shown.judged:
            return Screen.wrap(types.SimpleNamespace(columns=columns, lines=lines),
                               "check     ", NO_SAMPLE)
        env = {"COLUMNS": str(columns)}
        if lines:
            env["LINES"] = str(max(lines, 10))
        out, _, _ = self.ask(self.shown.judged[1], *self.argv("report"), **env)
        told = re.findall(r"^(?:guest |check |!! |warning: ).*(?:\n +.*)*", out.partition("\n\n")[0],
                          re.M)
        return [text for note in told if "of the samples lack callers" not in re.sub(
            r"\s+", " ", note) for text in note.split("\n")]

    def headings(self, columns):
        tenths = (self.shown.ns * 10 + SECOND // 2) // SECOND
        if self.shown.rows is None:
            tenths = 0
        lasted = f"{tenths // 10}.{tenths % 10} s" if self.window < 2 * SECOND else \
            f"{(tenths + 5) // 10} s"
        named = not self.shown.judged or self.report_of(self.shown.judged)["named"]
        return f"{lasted:>8} " + "    95 %" * self.has(columns, WIDE) + \
            ("  since z" if self.zeroed > 0 else "    start") + \
            "   samples" * self.has(columns, WIDER) + ("  function" if named else "  guest address")

    @staticmethod
    def has(columns, least):
        return not columns or columns >= least

    def row_line(self, row, columns, is_ascii):
        key, since, recent = row
        parts, used = [], 20
        parts += [Any(f"{p:>6} % " for p in percent(recent[1]))] if recent else [f"{'-':>6}   "]
        if self.has(columns, WIDE):
            parts.append(self.margin(recent, is_ascii))
            used += 8
        parts.append(Any(f"{p:>6} %" for p in percent(since[1])))
        if self.has(columns, WIDER):
            parts.append(f"{len(since[0]):10}")
            used += 10
        begin = line(*parts, "  ").replace(UNSURE, r"(?:\+-| ±| <) *[0-9.]+ ")
        return begin + self.named(key, columns - used if columns > used + 8 else 0,
                                               is_ascii)

    def margin(self, of, is_ascii):
        if not of:
            return " " * 8
        _, share, low, high, few = of
        if not self.exact:
            return UNSURE
        return Any(f"{text} " if text[0] == "+" else f" {text} "
                   for text in margin(share, low, high, few, is_ascii))

    def named(self, key, room, is_ascii):
        """A name, and what tells it from others: that stands there if it leaves some room."""
        remark = self.remark(key, is_ascii)
        if room and room < len(remark) + NAME:
            remark = ""
        return line(cut(name_of(key), room - len(remark) if room else 1000, is_ascii), remark)

    def remark(self, key, is_ascii):
        apart = self.apart(key)
        remark = f"  ({cut(apart, APART, is_ascii)})" if apart else ""
        if len(self.space.bases) > 1 and key[1] is not None:
            remark += "  [" + cut(os.path.basename(self.space.path(key[1])), APART, is_ascii) + "]"
        return remark

    def judged_places(self):
        """Of what has rows of its own."""
        exits = self.report_of(self.shown.judged)["exits"] or ()
        return {self.space.place(s.ip)[::2] for s in self.shown.judged[2]
                if isinstance(s, Sample) and is_guest(s) and s.ip not in exits}

    def apart(self, key):
        """Of functions of one name, which had samples when the report was made."""
        is_border, image, place = key
        if is_border or place.symbol is None or place.kind == "gap":
            return ""
        twins = {(i, p.start) for i, p in self.judged_places() if i == image and
                 p.name == place.name and p.symbol is not None and p.kind != "gap"}
        return f"ELF {place.start:#x}" if len(twins) > 1 and (image, place.start) in twins else ""

    # Tables.

    def ask_table(self):
        rng = self.rng
        columns, n = rng.choice((20, 40, 63, 64, 71, 72, 78, 100, rng.randint(30, 200))), \
            rng.choice((0, 1, 3, 20))
        if self.shown.rows and rng.random() < .3:  # what stands behind a name has just no room, or just some
            remark = self.remark(rng.choice(self.shown.rows)[0], False)
            columns = 20 + len(remark) + NAME - rng.randrange(2)
        self.exact = self.is_exact()
        expected = list(self.table(columns, n))
        self.want(f"table {columns} {n}", lambda text: different(text.split("\n"), expected))

    def table(self, columns, n):
        yield line("live      ", self.live_line(columns))
        yield from map(re.escape, self.head(columns, 0))
        if self.shown.rows is not None:
            yield ""
            yield line(self.headings(columns))
            rows = self.chosen()
            for row in rows[:n or None]:
                yield self.row_line(row, columns, False)
            if n and len(rows) > n:
                under = 38 if self.has(columns, WIDER) else 28 if self.has(columns, WIDE) else 20
                yield line(" " * under + f"({plural(len(rows) - n, 'more row')}: --top=0)")
            yield line(self.sums())
        yield from ["", ""]

    def sums(self):
        s = self.shown.since
        n = sum(len(of[0]) for key, of, _ in self.shown.rows if key[0])
        return f"accounted {plural(len(s.seen), 'sample')} = {len(s.guest)} guest + " + \
            f"{len(s.host) - s.traced} host" + \
            (f" + {plural(s.traced, 'tracepoint hit')}" if s.traced else "") + \
            f"; guest = {len(s.guest) - n} in rows" + (f" + {n} at VM exits" if n else "")

    # Screens.

    def ask_frame(self):
        rng = self.rng
        columns = rng.choice((20, 40, 64, 72, 80, 100, 120, rng.randint(1, 200)))
        lines, is_ascii = rng.choice((1, 2, 3, 4, 5, 10, 24, 40, rng.randint(1, 60))), rng.random() < .2
        if columns < 10:  # report takes no less
            lines = min(lines, 4)
        self.screen = columns, lines, is_ascii
        self.exact = self.is_exact()
        expected = [*self.frame(columns, lines, is_ascii), ""]
        self.want(f"frame {columns} {lines} {int(is_ascii)}",
                  lambda text: self.unlike(text.split("\n"), expected, columns))

    def unlike(self, got, expected, columns):
        """Each is as wide as the screen at most, and cut to it."""
        if len(got) != len(expected):
            return f"{len(got)} lines, not {len(expected)}: {got}"
        for i, (told, mine) in enumerate(zip(got, expected)):
            if mine in (None, ""):
                continue
            look, share, pattern = mine
            cells = told.split(" ", 2)
            texts = pattern if isinstance(pattern, Any) else (pattern,)
            if int(cells[0]) != look or abs(float(cells[1]) - share) > 1e-8 or \
                    not any(self.is_cut(cells[2], text, columns) for text in texts):
                return f"line {i + 1}: {told!r}, not {look} {share:.9f} {texts}"
        return None

    @staticmethod
    def is_cut(got, text, columns):
        if isinstance(text, re.Pattern):
            return len(got) <= columns and (text.fullmatch(got) is not None or
                                            len(got) == columns)
        return got == text[:columns]

    def frame(self, columns, lines, is_ascii):
        keys = self.keys
        if keys.mode == "text" and self.pane is None:  # of a length that is not known
            return [None] * lines
        above = lines - len(self.message_lines(columns, lines, is_ascii) or [""]) + 1
        if keys.mode == "text":
            told = list(self.pane_lines(columns, above))
        else:
            told = list(self.table_lines(columns, above, is_ascii))
        last = self.last(columns, lines, is_ascii)
        told += [(PLAIN, 0, "")] * (lines - len(last) - len(told))
        return [*told[:max(0, lines - len(last))], *((KEYS, 0, text) for text in last)]

    def table_lines(self, columns, lines, is_ascii):
        narrow = self.is_narrow(columns)
        begin = "PAUSED  " if self.paused else "top  " if narrow else "hlguest top  "
        yield TITLE, 0, joined(begin, self.live_line(columns))
        n = 1
        if lines > 4:
            head = self.head(columns, lines)
            most = min(lines // HEAD_PART, HEAD_MOST)
            for text in self.shortened(head, most, columns, is_ascii):
                yield self.look_of(text), 0, text
                n += 1
        if lines > 3:
            text = self.headings(columns) + self.selected()
            yield TITLE, 0, f"{text:{columns}}"
            n += 1
        rows, room = self.chosen(), max(0, lines - n - 1)
        self.keys.fit(len(rows), room)
        first = self.keys.first
        for i, row in enumerate(rows[first:first + room], first):
            yield CURSOR if i == self.keys.cursor else SHARE, row[2][1] if row[2] else 0, \
                re.compile(self.row_line(row, columns, is_ascii))

    @staticmethod
    def look_of(text):
        bad = text.startswith(("!! ", "warning:", "check     WRONG", "check     MIXED"))
        return WARNING if bad else PLAIN

    def selected(self):
        """Which rows stand there, and in what order, if not all by what is recent."""
        word = ("", "by all since the start", "by name")[self.keys.sort]
        if not self.keys.filter:
            return f" {word}" if word else ""
        return f" with \"{self.keys.filter}\" ({self.keys.n})" + (f", {word}" if word else "")

    @staticmethod
    def shortened(texts, most, columns, is_ascii):
        """The first; where others follow, the last says so."""
        more = "..." if is_ascii else "…"
        return texts if len(texts) <= most else [
            *texts[:most - 1], texts[most - 1][:max(columns - len(more), 0)] + more][:most]

    def message_lines(self, columns, lines, is_ascii):
        """What is told just now."""
        if self.keys.mode == "filter" or not self.message or self.now >= self.told_until:
            return None
        texts = textwrap.wrap(self.message, columns, break_long_words=False, break_on_hyphens=False)
        texts = self.shortened(texts, max(1, min(lines // HEAD_PART, HEAD_MOST)), columns, is_ascii)
        room = columns - len(texts[-1]) - len("  h help")
        if self.keys.mode == "table" and room >= 0 and not texts[-1].endswith(("…", "...")):
            texts[-1] += " " * room + "  h help"
        return texts

    def last(self, columns, lines, is_ascii):
        keys = self.keys
        if keys.mode == "filter":
            return ["/" + keys.filter]
        told = self.message_lines(columns, lines, is_ascii)
        if told:
            return told
        if keys.mode == "text":
            return [f"q back  arrows, Page Up, Page Down  ({keys.line + 1 if self.pane else 0} of "
                    f"{len(self.pane)})"]
        escape = ALL if keys.filter and columns > 2 * len(ALL) + 2 else ""
        return [escape + next((w for w in WORDS if len(escape + w) <= columns), WORDS[-1])]

    def pane_lines(self, columns, lines):
        room = max(0, lines - 2)
        self.keys.fit_text(len(self.pane), room)
        yield TITLE, 0, f"{self.title:{columns}}"
        for text in self.pane[self.keys.line:self.keys.line + room]:
            yield None if text is None else (self.look_of(text), 0, text)

    # Keys.

    def press_some(self):
        rng, letters = self.rng, "".join(name_of(key)[:1] for key, *_ in self.shown.rows or [])
        if self.keys.mode == "table" and rng.random() < .1:  # a choice, and another that is not taken
            for key in "/", rng.choice(letters or "x"), "enter", "/", "x", "escape":
                self.press(key)
        if self.keys.mode == "table" and rng.random() < .4:  # in all orders
            for _ in range(rng.choice((1, 2, 2))):
                self.press("s")
        for _ in range(rng.choice((1, 1, 2, 5))):
            if self.keys.mode == "filter":
                key = rng.choice((*letters, "x", "enter", "enter", "escape", "backspace", "up"))
            elif self.keys.mode == "text":
                key = rng.choice((*MOVES, "q", "q", "escape", "enter", "backspace", " ", "x", "z"))
            else:
                key = rng.choice((*MOVES, "down", "down", " ", "z", "/", "/", "s", "s", "enter", *"ccc" * (1 + self.calls),
                                  "w", "h", "?", "q", "escape", "x"))
            self.press(key)

    def fit(self):
        self.keys.fit(len(self.chosen()), self.keys.room)

    def press(self, key):
        self.message = None
        action = self.keys.press(key)
        expected = {"save": "save\n", "quit": "quit\n"}.get(action, "")
        self.want(f"key {Keys.number(key)}",
                  lambda text: None if text == expected else f"{text!r}, not {expected!r}")
        if action == "pause":
            self.paused = not self.paused
        elif action == "zero":
            self.zero()
        elif action in ("annotate", "callers", "help"):
            getattr(self, action)()
        self.fit()

    def tell(self, text):
        self.message, self.told_until = text, self.now + 5 * SECOND

    def show(self, title, lines):
        self.title, self.pane, self.keys.mode, self.keys.line = title, lines, "text", 0


def differences(build, folder, seed):
    live = Text(build, folder, seed, names_of)
    live.go()
    yield from live.play()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 30, differences))
