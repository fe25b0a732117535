#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The JSON of hlguest annotate against another reading of the same numbers.

    annotate_model.py --build DIR [--seed N] [--seeds N]

The recordings of report_model.py, of guests whose every instruction is known (listed.py). Which
functions are shown, and of each its lines, what is sampled where, targets, edges, sources and
sums, is computed from what was made, as hlguest-annotate(1) and tools/listing/listing.h have it.
What is of VM exits is a guess of the program; that it is where a guest was left is checked.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import report_model
from forged import TEXT
from listed import Listed
from modelled import names_of, near
from modelled_view import Count, Row
from programs import features_of, hlguest_of, need_zydis
from seeds import seeds
from shares import wilson
from sourced import ELFS
from tap import run

TOP, PHASES = 5, report_model.PHASES
REMARKS = {"outside": "outside of every image: there are no bytes to decode",
           "data": "data: nothing is decoded",
           "gap": "where instructions of a gap begin is a guess: at its first byte that is no "
           "padding"}

# A line as JSON has it; source: (file, line, inlined) or None.
Line = collections.namedtuple("Line", "addr kind size text samples target is_target edge source")


def mangled(name):
    """As of a C++ function, guest::name()."""
    return f"_ZN5guest{len(name)}{name}Ev" if name.isascii() else name


class Listing:
    """The lines of a row of a view; or of a place of which there is none there."""

    def __init__(self, space, row, judge):
        self.row, (self.image, self.place), self.readable = row, row.key, judge.readable
        self.has_lines, skid = "libdw" in judge.features, judge.skid
        self.guest = None if self.image is None else space.bases[self.image][0]
        self.syntax, known = judge.syntax, self.place.kind in ("function", "label")
        self.edges = self.guest.edges(self.place, skid) if skid and known else set()
        self.knows_edges = bool(skid and known)
        at = collections.defaultdict(list)
        for s in row.samples:
            at[space.place(s.ip)[1]].append(s)
        self.parts = self.guest.parts(self.place) if self.guest else []
        self.lines = sorted((*self.of_parts(at), *self.of_spots(at)),
                            key=lambda line: (line.addr, not line.size))

    def source(self, addr):
        known = self.has_lines and self.guest and self.guest.lines
        return self.guest.lines.at(addr) if known else None

    def of_parts(self, at):
        """What is in a place; a sample counts at the instruction that begins at its address."""
        leads = {p.insn.target for p in self.parts if p.insn and p.insn.flow != "on"}
        for p in self.parts:
            is_insn = p.kind == "instruction"
            yield Line(p.start, p.kind, p.end - p.start, getattr(p.insn, self.syntax, None),
                       at.pop(p.start, []) if is_insn else [], p.insn and p.insn.target,
                       is_insn and p.start in leads, p.start in self.edges,
                       self.source(p.start) if is_insn else None)

    def of_spots(self, at):
        """The others have lines of their own."""
        for addr, samples in at.items():
            inside = any(p.start < addr < p.end for p in self.parts if p.insn)
            yield Line(addr, "inside" if inside else "plain", 0, None, samples, None, False,
                       addr in self.edges, self.source(addr))

    def name_of(self, addr):
        place = self.guest.place(addr)
        if place.kind == "outside":
            return None
        behind = f"+{addr - place.start:#x}" if addr > place.start else ""
        return self.readable(place.name) + behind

    def hottest(self, weigh):
        """The lines with most weight, five at most; of two alike the lower address first."""
        return sorted((line for line in self.lines if line.samples), key=lambda line: (
            -sum(map(weigh, line.samples)), line.addr))[:5]


class Judge(report_model.Judge):
    def __init__(self, hlguest, folder, seed, names=names_of):
        made = report_model.Made(seed, lambda rng, n: [
            mangled(name) if rng.random() < .15 else name for name in names(rng, n)], Listed)
        for i, guest in enumerate(made.guests):
            if guest.lines:
                guest.lines.folder = os.path.join(folder, f"sources{i}")
                guest.lines.write()
        super().__init__(hlguest, folder, made)
        for guest in made.guests:
            os.utime(os.path.join(folder, guest.path), ns=(ELFS, ELFS))
        rng = self.rng
        self.features = features_of(hlguest)
        # What annotate has no choice of, and what it has of its own.
        self.options.update(gaps="retag", region=0, mode="guest", sort="overhead", regions=None,
                            top=rng.choice((None, None, 0, 2)))
        self.skid, self.syntax = rng.choice((0, 0, 1, 3)), rng.choice(("att", "att", "intel"))
        self.demangle, self.force = rng.random() < .7, rng.random() < .9
        self.tree, self.counters = None, False
        self.asked = list(self.ask(rng)) if rng.random() < .5 else []
        self.counted()

    def words(self):
        words = [f"--{key}={value}" for key in ("weight", "by", "top", "min")
                 if (value := self.options[key]) not in (None, "")]
        words += [f"--skid={self.skid}", f"--syntax={self.syntax}"]
        words += ["--demangle=no"] * (not self.demangle) + ["--force"] * self.force
        return [*words, *(f"--function={word}" for word, _ in self.asked), *self.select.words]

    def run(self, form, *more):
        return run(self.hlguest, "annotate", "-q", f"--format={form}", *self.words(), *more,
                   *self.made.space.words(), *self.files, cwd=self.folder)

    # What is shown

    def ask(self, rng):
        """(word, what it names): names of places, in any image; an address in one."""
        space, named = self.made.space, []
        for _ in range(rng.choice((1, 2, 3))):
            image = rng.randrange(len(space.bases))
            guest, base = space.bases[image]
            if rng.random() < .3:
                addr = guest.some(rng)
                named.append((f"{addr - TEXT + base:#x}", [(image, guest.place(addr))]))
                continue
            symbol = rng.choice(guest.symbols)
            word = rng.choice([symbol.name] * 3 + [guest.place(guest.some(rng)).name])
            part = symbol.name[rng.randrange(len(symbol.name)):][:rng.randint(2, 9)]
            if rng.random() < .2 and not symbol.name.startswith("_ZN") and \
                    self.names_with(part) == {symbol.name}:
                named.append((part, list(self.named(symbol.name))))
            elif not word.startswith("["):
                named.append((word, list(self.named(word))))
        # Addresses wait until it is known where images lie.
        yield from sorted(named, key=lambda one: one[0].startswith("0x"))

    def names_with(self, part):
        """A part of one function's name is enough."""
        return {s.name for guest in self.made.guests for s in guest.symbols if part in s.name}

    def named(self, word):
        """Places by any of their names, as they lie in their image."""
        space = self.made.space
        for image in sorted(range(len(space.bases)), key=lambda i: i):
            guest = space.bases[image][0]
            found = {guest.place(s.at) for s in guest.symbols if s.name == word}
            found |= {place for place in guest.places() if place.name == word}
            yield from ((image, place) for place in sorted(found, key=lambda place: place.start))

    def rows_shown(self, view):
        """Those that are asked for, each once, also without samples; else the heaviest."""
        if self.asked:
            keys = dict.fromkeys(key for _, found in self.asked for key in found)
            return [view.rows.get(key, Row(key)) for key in keys]
        top = TOP if self.options["top"] is None else self.options["top"]
        return view.shown(view.ordered(), top, self.options["min"])

    def expected(self):
        """(series, view, listing) of all that is shown."""
        for name, view in self.views().items():
            for row in self.rows_shown(view):
                yield name, view, self.listing(row)

    def listing(self, row):
        return Listing(self.made.space, row, self)

    def readable(self, name):
        is_readable = self.demangle and "libiberty" in self.features
        return re.sub(r"_ZN5guest\d+(\w+?)Ev", r"guest::\1()", name) if is_readable else name

    # Comparison

    def differences(self, told):
        if told["format"] != 1 or Count(self.guest) != told["guest"] or \
                told["weight"] != ("period" if self.period else "samples"):
            yield f"format {told['format']}, {told['guest']}, {told['weight']}"
        misfits = told["trust"]["verdict"] == "mismatch"
        if told["withheld"] != (misfits and not self.force):
            yield f"withheld {told['withheld']}, though {told['trust']['verdict']}"
        asked = set()
        for word, found in self.asked:
            found = [key for key in found if key not in asked]
            asked.update(found)
            at = ", ".join(f"{place.start:#x}" for _, place in found)
            note = f"{len(found)} places are called {word}: at {at}; all are shown"
            if (note in told["notes"]) != (len(found) > 1):
                yield f"notes {told['notes']}, not {note}"
        expected = [] if told["withheld"] else list(self.expected())
        got = [(f["name"], f["series"], f["addr"]) for f in told["functions"]]
        mine = [(self.name_of(of), name, hex(of.place.start) if of.place.start else None)
                for name, _, of in expected]
        if got != mine:
            yield f"functions {got}, not {mine}"
            return
        for f, (name, view, listing) in zip(told["functions"], expected):
            for line in (*self.of_function(f, view, listing), *self.of_lines(f, view, listing),
                         *self.exits(f, listing)):
                yield f"{f['name']} {name}: {line}"

    def name_of(self, listing):
        """hlguest(7), "mixed": of whose tested samples over one in a hundred are off."""
        on, off = (sum(len(line.samples) for line in listing.lines if line.kind == kind)
                   for kind in ("instruction", "inside"))
        misfits = not self.force and listing.place.symbol and 100 * off > on + off
        return f"[does not fit] {listing.place.start:#x}" if misfits else \
            self.readable(listing.place.name)

    def of_function(self, f, view, listing):
        place, samples = listing.place, listing.row.samples
        kinds = collections.defaultdict(list)
        for line in listing.lines:
            kinds[line.kind] += line.samples
        expected = {
            "symbol": place.symbol, "kind": place.kind, "aliases": list(place.aliases),
            "image": self.made.space.path(listing.image),
            "size": place.end - place.start if place.start else None,
            "samples": len(samples), "period": Count(samples).period,
            "note": REMARKS.get(place.kind)}
        for key, value in expected.items():
            if f[key] != value:
                yield f"{key} {f[key]}, not {value}"
        for key in ("instruction", "inside", "plain"):
            if Count(kinds[key]) != f["sums"][key]:
                yield f"sums {f['sums']}, not {kinds[key]}"
        limits = view.limits(listing.row) if samples else wilson(0, view.observations)
        share = view.share(listing.row)
        wide = len(self.guest) >= PHASES
        if not near(f["percent"], 100 * share, 2) or not wide and not (
                near(f["low"], 100 * limits[0], 2) and near(f["high"], 100 * limits[1], 2)):
            yield f"{f['percent']}, {f['low']} to {f['high']}, not {share}, {limits}"

    def of_lines(self, f, view, listing):
        hottest = listing.hottest(view.weigh)[:1]
        whole = sum(map(view.weigh, listing.row.samples))
        if len(f["lines"]) != len(listing.lines):
            yield f"{len(f['lines'])} lines, not {len(listing.lines)}"
        for got, line in zip(f["lines"], listing.lines):
            expected = {
                "addr": hex(line.addr), "kind": line.kind, "size": line.size, "text": line.text,
                "samples": len(line.samples), "period": Count(line.samples).period,
                "hottest": line in hottest, "is_target": line.is_target, **self.told(line, listing)}
            share = sum(map(view.weigh, line.samples)) / whole if whole else 0
            mine = {key: got.get(key) for key in expected}
            extra = got.keys() - expected.keys() - {"percent", "vm_exit"}
            if mine != expected or extra or not near(got["percent"], 100 * share, 2):
                yield f"{got}, not {expected}, {share}"
                return

    def told(self, line, listing):
        """Keys that not every line has."""
        told = {}
        if line.target is not None:
            told["target"] = {"addr": hex(line.target), "name": listing.name_of(line.target)}
        if listing.knows_edges:
            told["edge"] = line.edge
        if line.source:
            file, number, inlined = line.source
            told.update({"file": file}, **({"line": number} if number else {}),
                        **({"inlined": inlined} if inlined else {}))
        return told

    @staticmethod
    def exits(f, listing):
        """Where the guest is left, and the next instruction; where it is entered."""
        exit_at = listing.guest and listing.guest.exit
        may = {TEXT, exit_at, exit_at + 2} if exit_at else {TEXT}
        for line in f["lines"]:
            if line["vm_exit"] and (int(line["addr"], 16) not in may or not line["samples"]):
                yield f"of a VM exit: {line}"


def differences(build, folder, seed):
    need_zydis(hlguest_of(build))
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 40, differences))
