# SPDX-License-Identifier: GPL-2.0-only
"""The first lines of a report's text, for report_text.py: what was read, and whether it
fits."""
import math

from lines import Any, fitted_pieces, joined, lasted, line, part, plural, scaled, unit_for, whole
from modelled import CLOCKS, TRACEPOINTS

SAID = {"verified": "OK", "mixed": "MIXED", "mismatch": "WRONG ELF OR BASE",
        "too few samples to tell": "cannot tell", "not tested": "not checked"}


class Head:
    """A part of the Judge there: all that it has at hand is."""

    def head_lines(self, got):
        if self.json["trust"]["banner"]:
            yield line("!! ", self.json["trust"]["banner"])
        for i, image in enumerate(self.json["images"]):
            yield fitted_pieces("" if i else "guest", [
                (0, self.made.space.called(i), ""), (2, "x86-64", ", "),
                (3, plural(image["symbols"], "symbol"), ", "),
                (0, f"base {image['base']} ({image['base_from']})", ", ")], self.columns)
        yield from self.recorded()
        if self.select.words:
            yield line("selected  ", " ".join(word[2:] for word in self.select.words))
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
            pieces.append((0, f"{len(self.files)} recordings", ", "))
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
        return self.select.span(span["first"], span["last"]) if span else 0

    def event(self, event):
        clock = event["name"].partition(":")[0] in CLOCKS
        counted, ns = event["period"], self.span() if len(self.files) == 1 else 0
        # In the unit of the time that it took, unless that would leave nothing.
        unit = unit_for(ns if clock and counted < ns < 100 * counted else counted, clock)
        host = sum(s.event == event["name"] for s in self.host)
        if event["name"] in TRACEPOINTS:
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
        trust, tested = self.json["trust"], self.json["trust"]["boundary"]
        n, guest = tested["on"] + tested["off"], self.of["guest"]["samples"]
        few = trust["verdict"] == "too few samples to tell"
        said = SAID[trust["verdict"]]
        if self.much_outside() and said == "OK":
            said += f" in the {self.elf()}"
        distinct = trust["addresses"]["on"] + trust["addresses"]["off"]
        if few and not n and guest:
            text = f"{said}: no sample lies in a function (is it the guest's ELF?)"
        elif few:
            text = f"{said}: {distinct} distinct address{'es' * (distinct != 1)}, 12 are needed" \
                if distinct < 12 else f"{said}: the samples may fit by chance"
        elif trust["verdict"] == "not tested":
            text = f"{said}: there is no code to check the samples with"
        elif not n:
            text = f"{said}: no sample lies in a function"
        elif not tested["off"]:
            text = f"{said}: all {n} {'tested ' if n < guest else ''}samples lie on " + \
                "instruction starts"
        else:
            of_what = "" if trust["verdict"] == "mismatch" else "of samples "
            text = joined(f"{said}: ", part(tested["on"], tested["off"]),
                          f" % {of_what}lie on instruction starts")
        if n and not few and trust["verdict"] != "not tested" and tested["chance"] is not None:
            text = joined("", Any(a + b for a in (text if isinstance(text, Any) else (text,))
                                  for b in joined(" (", whole(tested["chance"], .005),
                                                  " % by chance)")))
        return joined("", text, self.outside_told())

    def elf(self):
        return f"ELF{'s' if len(self.json['images']) > 1 else ''}"

    def much_outside(self):
        """Of what nothing can be told there is more than one in twenty."""
        return self.of["outside"]["samples"] > self.of["guest"]["samples"] // 20

    def outside_told(self):
        """What follows a check of anything."""
        tested = self.json["trust"]["boundary"]
        if not self.much_outside() or not tested["on"] + tested["off"]:
            return ""
        return f"; outside the {self.elf()}: {self.of['outside']['samples']} of " + \
            str(self.of["guest"]["samples"])

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
        text = f"{part(c['whole'], ended)} of {plural(ended, 'stack')} whole"
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
