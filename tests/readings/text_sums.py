# SPDX-License-Identifier: GPL-2.0-only
"""The last lines of a report's text, for report_text.py: hosts, sums, recordings, and
how all of it was made."""
import os

from lines import INDENT, Any, Column, cut, head, joined, line, percent, plural, row
from modelled import TRACEPOINTS
from modelled_view import Count
from text_head import SAID


def are_one(a, b, left):
    """Would these look the same, cut in the middle to so many characters?"""
    head, tail = max(0, left - left // 3), max(0, left // 3)
    return min(len(a), len(b)) > head + tail and \
        (a[:head], a[len(a) - tail:]) == (b[:head], b[len(b) - tail:])


class Sums:
    """A part of the Judge there: all that it has at hand is."""

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
        hits = sum(s.event in TRACEPOINTS for s in self.host)
        untested = " (untested)" if tested else ""
        gaps = {"retag": untested, "drop": " (left out: gaps=drop)",
                "stretch": " (credited to the symbol before: gaps=stretch)"}
        width = len(str(of["seen"]))
        yield from self.sum(f"{'accounted':10}{of['seen']} "
                            f"{'sample' if of['seen'] == 1 else 'samples':7} =", (
                                (of["guest"], "guest"), (of["host"] - hits, "host"),
                                (hits, f"tracepoint hit{'s' * (hits != 1)}"),
                                (of["deselected"], "filtered out")))
        if of["guest"]:
            yield from self.sum(f"{INDENT}{of['guest']:{width}} {'guest':7} =", (
                (of["function"], "in functions"), (of["label"], f"label{'s' * (of['label'] != 1)}"),
                (of["gap"], f"gap{'s' * (of['gap'] != 1)}{gaps[self.options['gaps']]}"), (of["data"], "data"),
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
        hits = Count(s for s in self.host if s.event in TRACEPOINTS)
        unlabelled = {key: of["gap"][key] - of["padding"][key] for key in ("samples", "period")}
        columns = [Column("", 0, -19), Column("samples", 1, 9), Column("period", 1, 20),
                   Column("share", 1, 10)]
        yield head(columns)
        traced = {"samples": hits.samples, "period": hits.period}
        host = {key: of["host"][key] - traced[key] for key in traced}
        both = host["samples"] + of["guest"]["samples"]
        sampled = {"samples": both}
        sums = [("all", of["seen"], sampled if both == of["seen"]["samples"] else None),
                ("  filtered out", of["deselected"], None),
                *([("  tracepoint hits", traced, None)] if hits.samples else []),
                ("  host", host, sampled),
                *([("  host and hits", of["host"], None)] if hits.samples and states else []),
                *((f"    {name}", count, "host") for name, count in states.items()
                  if not name.startswith("guest")),
                ("  guest", of["guest"], sampled),
                *((f"    {name}", count, "guest") for name, count in states.items()
                  if name.startswith("guest")),
                *((f"    {name}", of[name], "guest") for name in ("function", "label", "gap")),
                ("      padding", of["padding"], "guest"),
                ("      unlabelled", unlabelled, "guest"), ("    VM exits", of["border"], "guest"),
                ("    data", of["data"], "guest"), ("    outside", of["outside"], "guest"),
                *([("  dropped gaps", of["dropped"], "guest")] if of["dropped"]["samples"] else [])]
        for name, count, whole in sums:
            whole = of[whole] if isinstance(whole, str) else whole
            yield row(columns, [name, str(count["samples"]), str(count["period"]),
                                self.sampled_share(count["samples"], whole)])

    @staticmethod
    def sampled_share(part, whole):
        """None that is told as 100.00 % of host and guest, if the other has any."""
        if whole is None:
            return "-"
        share = part / whole["samples"] if whole["samples"] else 0
        if part < whole["samples"]:
            share = min(share, .9999)
        return joined("", percent(share), " %")

    def file_lines(self):
        if len(self.files) == 1:
            return
        yield ""
        columns = [Column("samples", 0, 9), Column("guest", 1, 9), Column("share", 1, 8),
                   Column("lost", 1, 6), Column("base", 2, -14), Column("check", 1, -11),
                   Column("file", 1, 0)]
        paths = [f["path"] for f in self.json["files"]]
        folder, alike, left, tails = "", 0, [], False

        def room():
            return self.columns - sum(c.gap + abs(c.width) for c in columns
                                      if c.heading not in left)
        if self.columns and max(map(len, paths)) > room():
            alike = len(os.path.commonprefix(paths))
            folder = paths[0][:paths[0].rfind("/", 1, alike) + 1]
            need = min(24, max(map(len, paths)) - len(folder))
            for heading in ("share", "lost", "samples"):
                if room() < need:
                    left.append(heading)
            names = [path[len(folder):] for path in paths]
            tails = any(are_one(*two, room() - 2) for two in zip(names, names[1:]))
        if folder and room() - len("file (in )") >= 6:
            columns[-1].heading = \
                f"file (in {cut(folder, room() - len('file (in )'), self.ascii)})"
        shown = [c for c in columns if c.heading not in left]
        yield head(shown)
        for f in self.json["files"]:
            both = {"samples": f["guest"] + f["host"] - f["tracepoint"]}
            name = f["path"][len(folder):]
            if self.columns and len(name) > room():
                from_ = max(0, min(len(name) if tails else alike - len(folder),
                                   len(name) + 2 - room()))
                name = (".." if self.ascii else "…") * (from_ > 0) + name[from_:]
            cells = [str(f["samples"]), str(f["guest"]), self.sampled_share(f["guest"], both),
                     str(f["lost"]), self.base_of(f), SAID[f["verdict"]].partition(" ELF")[0],
                     name]
            yield row(shown, [cell for c, cell in zip(columns, cells) if c.heading not in left],
                      "", (self.columns, self.ascii))

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
            yield line(f"event     {e['name']}, precise_ip {e['precise_ip']}, "
                       f"{plural(e['samples'], 'sample')}, period {e['period']}")
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
        yield from self.sums()

    def tested(self, other=None):
        """other: what is said where another build ran."""
        trust = self.json["trust"]
        said = self.verdict()
        said = other or (said[0] if isinstance(said, Any) else said).partition(":")[0]
        if not trust["addresses"]["on"] + trust["addresses"]["off"]:
            yield line("check     ", said)
        else:
            yield line("check     ", said, ";" if other else ":",
                       " on instruction starts, with 99 % intervals")
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
        for key, words, one in (
                ("stacks", "samples have callers:", "sample has callers:"),
                ("whole", "up to the outermost function", None),
                ("truncated", "not so far: [truncated: ...] says why", None),
                ("caller_unknown", "with a [caller unknown]", None),
                ("calls", "calls in these stacks:", "call in these stacks:"),
                ("proved", "lead to the function that is there",
                 "leads to the function that is there"),
                ("by_pointer", "go by pointer: where to cannot be checked",
                 "goes by pointer: where to cannot be checked"),
                ("wrong", "lead elsewhere", "leads elsewhere"),
                ("inserted", "callers were inserted: their call proves them, but the stack did "
                 "not have them yet", "caller was inserted: its call proves it, but the stack "
                 "did not have it yet"),
                ("not_recorded", "samples have none recorded", "sample has none recorded")):
            if c[key] == 1 and one:
                words = one
            if c[key] and c["stacks"]:
                yield line(f"{label}{c[key]:10} {words}")
                label = INDENT
