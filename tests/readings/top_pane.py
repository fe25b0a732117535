# SPDX-License-Identifier: GPL-2.0-only
"""Texts that lie on hlguest top's screen, for top_text.py: who calls a function, its
instructions, what the keys are."""
import collections
import os
import re
import textwrap

from forged import TIME
from lines import cut, percent, plural
from modelled import OUTSIDE, Sample, is_guest
from programs import program
from tap import ROOT, environment, must

WAYS, BEFORE, NAME = 50, 17, 8  # panes.c: as many are shown; columns in front of a name, of one
TRUNCATED = OUTSIDE._replace(name="[truncated: copied stack ends]")
LATER = "callers come up to two refreshes later, and those of the first moments never"


class Callers:
    """A part of the judge there: all that it has at hand is."""

    def at_cursor(self):
        return self.chosen()[self.keys.cursor]

    # Who called it.

    def callers(self):
        if not self.calls:
            self.tell("callers are not recorded (start it with hlguest top -g)")
            return
        _, *place = self.at_cursor()[0]
        ways, bare = self.ways(tuple(place))
        total = sum(ways.values())
        blocks = sorted(((-n, self.block(way, n, total)) for way, n in ways.items()))
        pane = [f"{plural(total, 'sample')}, {plural(len(ways), 'way')} to it", ""] if ways else []
        for _, block in blocks[:WAYS]:
            pane += block
        if len(ways) > WAYS:
            pane += [f"({len(ways) - WAYS} more ways)", ""]
        if bare:
            pane += textwrap.wrap(
                f"{bare}{' more' * bool(ways)} sample{'s' * (bare != 1)}, of which no caller is "
                f"known: {LATER}", self.screen[0], break_long_words=False)
        self.show(place[1].name, pane)
        if len(ways) <= WAYS:
            self.ask_ways(pane, blocks)
        elif blocks[WAYS - 1][0] == blocks[WAYS][0]:  # which of them are left out is not said
            self.show(place[1].name, None)
        if self.pane and len({n for n, _ in blocks}) < len(blocks):  # in any order
            self.show(place[1].name, self.unsure(pane, blocks))

    def ask_ways(self, pane, blocks):
        """All of them, each where one that is as frequent may stand."""
        columns, _, is_ascii = self.screen
        pane = [text[:columns] for text in pane]
        blocks = sorted((n, [text[:columns] for text in block]) for n, block in blocks)

        def check(text):
            got = [line.split(" ", 2)[2] for line in text.split("\n")[1:len(pane) + 1]]
            at, ways = 2 * bool(blocks), []
            for n, block in blocks:
                to = at + 1
                while to < len(got) and got[to]:
                    to += 1
                ways.append((n, got[at:to + 1]))
                at = to + 1
            whole = got[:2] == pane[:2] and got[at:] == pane[at:]
            return None if whole and sorted(ways) == blocks else f"{got}, not {pane}"
        self.keys.fit_text(len(pane), len(pane))
        self.want(f"frame {columns} {len(pane) + 2} {int(is_ascii)}", check)

    def ways(self, place):
        """{(places from it on, whether there are more): samples}; those of no known caller."""
        ways, bare, known = collections.Counter(), 0, self.arrived()
        exits = self.report_of((0, self.whole, self.parts))["exits"] or ()
        for i, s in enumerate(self.parts):
            if not isinstance(s, Sample) or not is_guest(s) or self.space.place(s.ip)[::2] != place:
                continue
            if i >= known or s.callers is None:
                bare += 1
                continue
            image, own = place
            left = ()
            if s.ip in exits:  # which stands on the function
                left = (image, own._replace(name="__vm_exit__ in " + own.name)),
            way = *left, place, *(self.space.place(at - 1)[::2] for at in s.callers[0])
            if not s.callers[1]:
                way += (None, TRUNCATED),
            ways[way, s.callers[1]] += 1
        return ways, bare

    def arrived(self):
        """How many parts have their callers: those in front of the round before the last."""
        if not self.stream.has(TIME):
            return len(self.parts)
        rounds = [i for i, part in enumerate(self.parts) if part == "round"]
        return rounds[-2] if len(rounds) > 1 else 0

    def block(self, way, n, total):
        """Who calls itself is told once."""
        places, is_whole = way
        share, = percent(n / total)[:1]
        lines, at = [f"{share:>8} % {n:9}"], 0
        while at < len(places):
            times = 1
            while at and at + times < len(places) and places[at + times] == places[at]:
                times += 1
            told = f"  ({times} times)" if times > 1 else ""
            room = self.screen[0] - BEFORE - len(told)
            name = cut(places[at][1].name, room if room > NAME else NAME, self.screen[2])
            lines.append(("      called by  " if at else " " * BEFORE) + name + told)
            at += times
        return lines + ([""] if is_whole else ["      (more callers, which are not known)", ""])

    @staticmethod
    def unsure(pane, blocks):
        """What stands at another place, where ways are as frequent."""
        known, at = list(pane), 2
        counts = collections.Counter(n for n, _ in blocks)
        for n, block in blocks:
            for i in range(at, min(at + len(block), len(known))):
                if counts[n] > 1:
                    known[i] = None
            at += len(block)
        return known

    # Instructions.

    def annotate(self):
        if not self.report_of(self.shown.judged)["named"]:
            self.tell("instructions are withheld: the samples do not fit, or too few have come")
            return
        (_, _, place), (samples, *_), _ = self.at_cursor()
        columns, lines, _ = self.screen
        out, err, status = self.ask(self.whole, *self.argv("annotate", f"{samples[0].ip:#x}"),
                                    COLUMNS=str(max(columns, 10)), LINES=str(max(lines, 10)))
        if status not in (0, 3):
            raise RuntimeError(err)
        # Which callers are there by now is in the list of who called it.
        told = None if self.calls and self.stream.has(TIME) else out.split("\n")[:-1]
        self.show(place.name, told)

    # Help.

    def help(self):
        """The keys, and what stands above the rows, whole; report takes no screen under 10 x 10."""
        columns, lines, _ = self.screen
        self.show("hlguest top: keys", None if min(columns, lines) < 10 else [
            *self.help_lines(columns), *self.head(columns, lines)])

    known_help = None

    def help_lines(self, columns):
        """What it says, if it has all keys of the manual page."""
        if not Callers.known_help:
            Callers.known_help = self.ask_help()
            with open(os.path.join(ROOT, "man/hlguest-top.1"), encoding="utf-8") as f:
                keys = re.findall(r"^\.It Ic (.*)", f.read(), re.M)
            said = "\n".join(Callers.known_help)
            for key in re.split(r" , |, ", ", ".join(keys)):
                if key.split(" ")[0].replace("Up", "arrows") not in said:
                    raise RuntimeError(f"help has no {key}: {said}")
        for text in Callers.known_help:
            key = re.fullmatch(r"(\S.{9})(?<=  )(\S.*)", text)
            yield from textwrap.wrap(
                key[2] if key else text, columns, initial_indent=key[1] if key else "",
                subsequent_indent=" " * 10 if key else "", break_long_words=False,
                break_on_hyphens=False) or [""]

    def ask_help(self):
        """On a screen where each is one line."""
        with open(os.path.join(self.folder, "help"), "w", encoding="utf-8") as f:
            f.write(f"bytes {len(self.stream.data())}\nframe 1000 60 0\nkey 104\nframe 1000 60 0\n")
        out = must(program(self.build, "TOPLIVE", "tests/kit/toplive"), "help", "stream", "1", "1",
                   "0", *self.space.words(), cwd=self.folder, env=environment(LC_ALL="C.UTF-8"))
        lines = [line.split(" ", 2)[2] for line in out.split("\f\n")[2].split("\n")[1:-2]]
        return lines[:lines.index("What stands above the rows, whole:") + 2]
