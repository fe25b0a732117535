#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The text of hlguest annotate against another reading of the same numbers.

    annotate_text.py --build DIR [--seed N] [--seeds N]

The recordings of annotate_model.py, which computes what is shown. Here it is laid out, line by
line: heads, the hottest lines, callers, instructions with their counts, source lines and sums,
for any screen. What is at VM exits, and what the first and last lines say, is JSON's.
"""
import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import annotate_model
import lines
from annotate_model import PHASES
from forged import TEXT
from lines import Any, bar, colour_of, different, joined, line, percent, plural, texts
from modelled_view import Row
from programs import hlguest_of, need_zydis
from report_text import names_of
from seeds import seeds
from seen import LEAST_NAME, Screen
from shares import wilson
from sourced import READABLE
from tap import Skip, run
from text_head import Head
from text_sums import Sums

BAR, COUNTS, ADDRESS, SOURCE, HOT, CALLERS, CALLED = 10, 20, 15, 3, 36, 4, 33
BARS = 76  # columns that a terminal with bars has
EXIT = "  (VM exit)"
MARKS = "  * the hottest line; > a branch of the function leads here"


def cut(text, cells):
    """At its end, a byte a cell; 0: any number."""
    data = text.encode()
    return text if not cells or len(data) <= cells else \
        data[:cells - 3].decode(errors="ignore") + "..."


def merged(some, others):
    """What is in both stands in one order."""
    out, others = [], list(others)
    for note in some:
        while note in others:
            out.append(others.pop(0))
        out += [note] * (note not in out)
    return out + others


def width(text):
    return len(text.encode())


def escaped(text):
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 else c for c in text)


def tidy(text):
    """A line of a source file."""
    return text.lstrip(" \t\f").partition("\r")[0].replace("\t", " ")


class Judge(Head, Sums, annotate_model.Judge):
    def __init__(self, hlguest, folder, seed):
        super().__init__(hlguest, folder, seed, names_of)
        self.screen = Screen(self.rng, True)
        self.columns, self.ascii = self.screen.columns, self.screen.ellipsis == ".."
        self.text = {"wide": self.screen.wide, "raw": False, "verbose": self.screen.verbose}
        self.bars = self.screen.paints and (not self.columns or self.columns >= BARS)
        self.left = COUNTS + (BAR + 1) * self.bars

    def check(self):
        out, status = self.screen.ask(
            self.folder, self.hlguest, "annotate", "-q", *self.words(),
            *self.made.space.words(), *self.files, cwd=self.folder)
        if status not in (0, 3) or not self.shown():
            return
        got = out.split("\n")
        if wrong := different(got, [*self.lines(got), ""]):
            yield f"{' '.join([*self.words(), *self.screen.words])} {self.screen.env} " \
                f"{self.screen.kind}: {wrong}"

    def ask_json(self, verb, *words):
        out, err, _ = run(self.hlguest, verb, "-q", "--format=json", *words, *self.select.words,
                          *self.made.space.words(), *self.files, cwd=self.folder)
        if "not in this build" in err:
            raise Skip(err.strip())
        return json.loads(out)

    def lines(self, got):
        """On a terminal notes are broken: there, what is said of functions alone."""
        words = [f"--weight={self.options['weight']}"]
        words += [f"--by={self.options['by']}"] * bool(self.options["by"])
        self.json = self.ask_json("report", *words, *["--force"] * self.force, "--border=keep",
                                  "--region=0", *["--children", "--call-graph=none"] * any(
                                      s.callers for s in self.guest))
        self.told = json.loads(self.run("json")[0])
        self.of = self.json["totals"]
        self.json["notes"] = merged(self.json["notes"], self.told["notes"])
        self.find_exits(self.ask_json("annotate", *words, "--top=0", "--force"))
        listings = list(self.listings())
        if self.screen.lines:
            yield from self.around(got, listings)
            return
        yield from self.head_lines(got)
        yield from listings
        yield from self.accounted()
        if self.made.recordings[0].returns and not any(s.callers for s in self.guest):
            n = len(self.guest)
            yield line(f"stacks    {n} guest   = {n} without (no vCPU entry was seen)")
        yield from self.notes("note:     ", got)
        if self.text["verbose"]:
            yield from self.details(got)

    def around(self, got, listings):
        first = [i for i, text in enumerate(got) if text.startswith(("== ", "instructions are "))]
        last = [i for i, text in enumerate(got) if text.startswith("accounted ")]
        if len(last) != 1:
            return
        yield from map(line, got[:first[0] if first else last[0]])
        yield from listings
        yield from map(line, got[last[0]:-1])

    def find_exits(self, told):
        """Where these were found, in all that was sampled."""
        self.found = set()
        asked, self.asked = self.asked, []
        options, self.options = self.options, {**self.options, "top": 0, "min": 0}
        for f, (_, _, listing) in zip(told["functions"], self.expected()):
            self.found.update((listing.image, int(one["addr"], 16)) for one in f["lines"]
                              if one["vm_exit"])
        self.asked, self.options = asked, options

    def is_exit(self, s):
        return self.made.space.place(s.ip)[:2] in self.found

    # Functions

    def listings(self):
        if self.told["withheld"]:
            yield from self.wrapped("", "instructions are withheld, because the samples do not fit "
                                    "(--force=yes shows them)")
            return
        met, self.said_of, listed = [], [], 0
        for name, view, listing in self.expected():
            listed += len(listing.row.samples)
            yield from self.head(name, view, listing)
            heat = f" {'heat':10}" if self.bars else ""
            yield line(f"{'share':>10} {'samples':>9}{heat}    {'ELF addr':>8}   instruction")
            yield from self.rows(view, listing, met)
            yield from self.sum_line(listing)
            yield from self.problems(listing, met)
        if self.guest:
            yield from map(line, self.screen.wrap("listed    ", self.listed(listed)))

    def listed(self, listed):
        n = len(self.guest)
        all_of = f"{n} guest sample{'s' * (n != 1)}"
        if listed == n:
            return f"all {all_of}"
        left = n - listed
        return f"{listed} of {all_of}; {left} {'is' if left == 1 else 'are'} elsewhere" + \
            " (--top=0 lists all)" * (not self.asked and not self.options["min"])

    def head(self, name, view, listing):
        row, place = listing.row, listing.place
        told = joined(f"{self.name_of(listing)}: {len(row.samples)} sample"
                      f"{'s' * (len(row.samples) != 1)}, ", percent(view.share(row)),
                      " % of the guest's")
        told = self.in_report(told, view, row)
        yield from self.wrapped("== ", joined("", told, f"  [{name}]" if name else ""))
        yield from self.wrapped("  ", self.where(listing, place))
        if place.aliases:
            yield line("  also called ", ", ".join(place.aliases))
        yield from self.hottest(view, listing)
        yield from self.called_by(view, row)
        if remark := annotate_model.REMARKS.get(place.kind):
            yield from self.wrapped("  note: ", remark)
        if "libdw" in self.features and any(of.text for of in listing.lines) and \
                not any(of.source for of in listing.lines):
            yield from self.wrapped("  note: ", "no source lines: the ELF does not tell them "
                                    "(compile with -g)")
        if self.skid and not listing.knows_edges:
            yield from self.wrapped("  note: ", "skid: edges are known in decoded functions "
                                    "and labels only")
        yield ""

    def where(self, listing, place):
        if listing.image is None:
            return "outside, guest addresses"
        guest, base = self.made.space.bases[listing.image]
        size = place.end - place.start
        return f"{place.kind}, {size} byte{'s' * (size != 1)} at {place.start:#x} of " \
            f"{guest.path} (guest {place.start - TEXT + base:#x})"

    def wrapped(self, label, told):
        """In lines that only a terminal's columns break."""
        for parts in zip(*(self.screen.wrap(label, text) for text in texts(told))):
            yield line(Any(parts))

    def in_report(self, told, view, row):
        """It leaves what is at VM exits out, where there is any."""
        exits = [s for s in view.kept if self.is_exit(s)]
        if not exits:
            return told
        own = sum(map(self.is_exit, row.samples))
        if own:
            told = joined("", told, f", {own} of them at VM exits")
        left = sum(view.weigh(s) for s in row.samples if not self.is_exit(s))
        kept = sum(view.weigh(s) for s in view.kept if not self.is_exit(s))
        return Any(f"{text} ({share} % in report)" for text in texts(told)
                   for share in percent(left / max(1, kept)))

    @staticmethod
    def share(view, samples, listing):
        whole = sum(map(view.weigh, listing.row.samples))
        return sum(map(view.weigh, samples)) / whole if whole else 0

    def hottest(self, view, listing):
        for i, of in enumerate(listing.hottest(view.weigh)):
            text = cut(of.text or "", HOT if self.columns else 0)
            file, number, _ = of.source or (None, 0, None)
            behind = f"  {text:{HOT}}  {os.path.basename(file)}:{number}" if number else \
                "  " * bool(text) + text
            yield line(f"  {' ' * 7 if i else 'hottest'} ",
                       Any(f"{p:>6}" for p in percent(self.share(view, of.samples, listing))),
                       f" %  {of.addr:8x}", behind)

    def called_by(self, view, row):
        """The direct callers: of what has any, that of most weight first."""
        if not self.json.get("stacks", {}).get("callers", {}).get("stacks"):
            return
        calls, names = collections.Counter(), {}
        for s in row.samples:
            key, name = self.caller(s, view)
            if name and view.weigh(s):
                calls[key] += view.weigh(s)
                names[key] = name
        room = max(self.columns - CALLED, LEAST_NAME) if self.columns else 10**6
        order = sorted(calls, key=lambda key: (-calls[key], names[key]))
        for i, key in enumerate(order[:CALLERS]):
            share = calls[key] / calls.total()
            low, high = wilson(share, len(row.samples))
            margin = "|".join(map(re.escape, lines.margin(share, low, high, False, self.ascii)))
            if len(self.guest) >= PHASES:
                margin = "(?:\\+-|\u00b1|<) *[0-9.]+"
            yield line(f"  {'' if i else 'called by:':10}",
                       Any(f"{p:>7}" for p in percent(share)), " %  ") + f"(?:{margin})" + line(
                           "  ", lines.cut(names[key], room, self.ascii))
        if len(order) > CALLERS:
            yield line(f"{'':12}  ({len(order) - CALLERS} more: hlguest report -g callee)")

    def caller(self, s, view):
        """(what tells it from others, its name) of who called, or of why that is not known."""
        if not s.callers:
            return None, None
        addresses, whole = s.callers
        if addresses:
            image, _, place = self.made.space.place(addresses[0] - 1)
            if self.force:
                return (image, place), self.readable(place.name)
            row = view.rows.get((image, place), Row((image, place)))
            return row.key, self.name_of(self.listing(row))
        cut_off = "[truncated: copied stack ends]"
        return (None, None) if whole else (cut_off, cut_off)

    # Lines

    def rows(self, view, listing, met):
        most = self.share(view, listing.hottest(view.weigh)[0].samples, listing) \
            if listing.row.samples else 0
        hottest, last, shown = listing.hottest(view.weigh)[:1], None, None
        for of in listing.lines:
            if of.source and of.kind == "instruction":
                if of.source != shown:
                    yield self.source(of.source, shown, listing, met)
                shown = of.source
            share = self.share(view, of.samples, listing)
            marks = f" {'*' if of in hottest else ' '}{'e' if of.edge else ' '} {of.addr:8x}"
            marks += f" {'>' if of.is_target else ' '} " if of.kind != "plain" or last else ""
            said, *below = self.said(of, last, listing)
            yield self.counts(of, share, most) + line(marks, said)
            yield from (line(" " * (self.left + ADDRESS), text) for text in below)
            last = of if of.size else last

    def counts(self, of, share, most):
        if not of.samples:
            return line(" " * self.left)
        code = colour_of(share) if self.screen.paints else None
        told = Any(f"{p:>8} %" for p in percent(share))
        drawn = bar(share, most, BAR, self.screen.blocks) if self.bars else ""
        if code:
            told = Any(f"{code}{text}\033[m" for text in told)
        behind = " " + (f"{code}{drawn}\033[m" if code else drawn) + " " * (BAR - len(drawn)) \
            if self.bars else ""
        return line(told, f" {len(of.samples):9}", behind)

    def said(self, of, last, listing):
        exits = EXIT if of.samples and (listing.image, of.addr) in self.found else ""
        text = of.text or {
            "inside": f"(inside of the instruction at {last.addr:#x})" if last else "",
            "padding": f"(padding, {plural(of.size, 'byte')})",
            "other": f"({plural(of.size, 'byte')} of another symbol)",
            "bytes": f"({of.size} bytes that are no instruction)" if of.size > 1 else
            "(1 byte that is no instruction)",
            "plain": "" if not last else "(in padding)" if last.kind == "padding" else
            "(no instruction)"}[of.kind]
        above, blank, operands = text.rpartition(" ")
        has_room = self.left + ADDRESS + width(text) <= self.columns
        if not self.screen.lines or not self.columns or not blank or has_room or not of.text:
            above, operands = "", text
        if of.target is not None:
            name = listing.name_of(of.target) or f"{of.target:#x}"
            room = self.columns - self.left - ADDRESS - width(operands) - len(exits) - len(" <>")
            operands += f" <{cut(name, max(room, 8) if self.columns else 0)}>"
        return [above] * bool(above) + [operands + exits]

    def source(self, source, shown, listing, met):
        """A path loses its front, and is the name alone where the file is that of the line
        before; then the text its end."""
        (file, number, inlined), of = source, listing.guest.lines
        if file not in met:
            met.append(file)
        text = escaped(tidy(of.shown(file, number) or ""))
        if inlined:
            is_readable = self.demangle and "libiberty" in self.features
            name = READABLE.get(inlined, inlined) if is_readable else inlined
            text = f"{name} (inlined)" + ("  " + text if text else "")
        path = os.path.basename(file) if shown and shown[0] == file else file
        number = f":{number or '?'}"
        room = self.columns - self.left - SOURCE if self.columns else 10**6
        rest = len(number) + (2 + width(text) if text else 0)
        if width(path) + rest > room:
            path = begun_later(path, max(room - rest, 30 if room > 60 else room // 2))
        text = cut(text, max(room - width(path) - len(number) - 2, 8))
        return line(" " * (self.left + SOURCE), path, number, "  " * bool(text), text)

    def sum_line(self, listing):
        n = len(listing.row.samples)
        on, inside, plain = (sum(len(of.samples) for of in listing.lines if of.kind == kind)
                             for kind in ("instruction", "inside", "plain"))
        parts = f" ({on} on instructions, {inside} inside, {plain} elsewhere)" \
            if inside or plain else ""
        yield from map(line, self.screen.wrap(
            "", f"{'100.00' if n else '0.00':>8} % {n:9}  in all{parts}"))
        yield line(MARKS)
        yield ""

    def problems(self, listing, met):
        """Of files that were met, each told once."""
        new = [file for file in met if file not in self.said_of]
        self.said_of += new
        told = [(file, of.problem(file)) for file in new
                for of in [guest.lines for guest in self.made.guests]
                if of and of.problem(file)]
        for file, problem in told:
            yield line(f"note: {file}: {problem}")
        if told:
            yield ""


def begun_later(path, cells):
    data = path.encode()
    if len(data) <= cells:
        return path
    return "..." + data[len(data) - cells + 3:].decode(errors="ignore")


def differences(build, folder, seed):
    need_zydis(hlguest_of(build))
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 30, differences))
