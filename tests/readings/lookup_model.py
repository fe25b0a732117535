#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest lookup against another reading of the guests it is asked of.

    lookup_model.py --build DIR [--seed N] [--seeds N]

Guests are made up, one or several, at one or several bases. What hlguest-lookup(1) says of an
address, the guest's or the ELF's own, and of a name, is computed from the lists they were made
from, and must be each answer, as text and as JSON.
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from modelled import LOCAL, OUTSIDE, TEXT, Guest, Space
from odd_names import escaped, odd_names, readable
from programs import hlguest_of
from seeds import seeds
from tap import run

ALIASES = 1000  # so many names of a place are told, its own among them


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.hlguest, self.folder, self.rng = hlguest, folder, random.Random(seed)
        rng = self.rng
        self.guests = [Guest(rng, list(odd_names(rng, rng.randint(1, 9))), f"guest{i}.elf", True)
                       for i in range(rng.choice((1, 1, 2)))]
        self.crowd = None  # the guest and symbol of a place that has very many names
        for guest in self.guests:
            if guest.tops and rng.random() < .04:
                self.many(guest, rng.choice(guest.tops))
        bases = [(guest, base) for i, guest in enumerate(self.guests) for base in rng.sample(
            [at + i * 0x8000 for at in (0x1000, 0x1100, 0x2000, 0x10000, 0x40008000)],
            rng.choice((1, 1, 2)))]
        self.space = Space([one for i, one in enumerate(bases) if not any(
            one[1] < base + 0x3000 and base < one[1] + 0x3000 for _, base in bases[:i])])
        self.own = len(self.space.bases) == 1 and rng.random() < .4
        self.demangle = rng.random() < .7
        for guest in self.guests:
            with open(os.path.join(folder, guest.path), "wb") as f:
                f.write(guest.data())

    def many(self, guest, s):
        """Names for one function, as many as are told, or one more or less."""
        for i in range(ALIASES + self.rng.choice((-1, 0, 1)) - len(guest.place(s.at).aliases)):
            guest.add(f"also_{i}", s.at, s.size, s.kind, LOCAL)
            guest.tops.append(guest.symbols[-1])
        guest.known = {}
        self.crowd = guest, s

    def ask(self, form, *asked):
        out, err, status = run(
            self.hlguest, "lookup", f"--format={form}", *["--own"] * self.own,
            *["--demangle=no"] * (not self.demangle), *self.space.words(), *asked,
            cwd=self.folder)
        return out.split("\n")[:-1], err, status

    def name(self, place):
        return escaped(readable(place.name) if self.demangle else place.name)

    def found(self, asked):
        """(image, own address, place)"""
        if not self.own:
            return self.space.place(asked)
        place = self.space.bases[0][0].place(asked)
        return (None if place == OUTSIDE else 0), asked, place

    def text(self, asked):
        image, addr, place = self.found(asked)
        if image is None:
            yield f"{asked:#x} [outside] (outside)"
        else:
            guest, path = self.space.bases[image][0], self.space.path(image)
            inside = ", inside an instruction: is it this ELF" + (
                "" if self.own else ", at this base") + "?"
            yield f"{asked:#x} {self.name(place)}+{addr - place.start:#x} ({place.kind}, " + \
                f"{path}{inside if guest.is_inside(addr) else ''})"
        yield from self.as_own(asked, place)

    def as_own(self, asked, place):
        """Reports have the ELF's own addresses: one of these may be what is meant."""
        own = self.space.bases[0][0].place(asked)
        if not self.own and len(self.space.bases) == 1 and own.symbol and own != place:
            yield f"  as the ELF's own address: {self.name(own)}+{asked - own.start:#x} " + \
                "(lookup --own)"

    def object(self, asked):
        image, addr, place = self.found(asked)
        told = {"asked": f"{asked:#x}", "kind": place.kind, "name": self.name(place)}
        if image is not None:
            guest = self.space.bases[image][0]
            told |= {"image": self.space.path(image), "address": f"{addr:#x}",
                     "offset": addr - place.start, "size": place.end - place.start}
            if guest.is_inside(addr):
                told["inside_instruction"] = True
        return told

    def addresses(self):
        rng = self.rng
        for _ in range(rng.randint(1, 30)):
            guest, base = rng.choice(self.space.bases)
            own = guest.some(rng)
            if guest.returns and rng.random() < .2:
                own = rng.choice(guest.returns) - rng.choice((0, 1, 2))
            at = own if self.own or rng.random() < .2 else base + own - TEXT
            far = at + (rng.randrange(1, 128) << 57)  # no processor has such an address
            yield rng.choice((at, at, at, at, 0x10, (1 << 64) - 1, base - 1, far,
                              base + guest.end - TEXT + 0x40))

    def check(self):
        asked = list(self.addresses())
        words = [self.rng.choice((f"{at:#x}", f"0{at:x}", f"0x{at:X}")) for at in asked]
        yield from self.same(self.ask("text", *words), [line for at in asked
                                                        for line in self.text(at)])
        got, err, status = self.ask("json", *words)
        if "not in this build" not in err:
            yield from self.same(([json.loads(line) for line in got], err, status),
                                 list(map(self.object, asked)))
        yield from self.named()

    @staticmethod
    def same(got, expected):
        lines, err, status = got
        if lines != expected or err or status:
            different = [pair for pair in zip(lines, expected) if pair[0] != pair[1]]
            yield f"{status}, {err!r}, {len(lines)}, not {len(expected)}; " + \
                f"{different[:2] or (lines[-1:], expected[-1:])}"

    def named(self):
        """A name stands for where its function begins, in each image; others are told."""
        guest = self.rng.choice(self.guests)
        symbol = self.rng.choice(guest.tops or [None])
        guest, symbol = self.crowd or (guest, symbol)
        if symbol is None or symbol.name != escaped(symbol.name):
            return
        expected = []
        for other, base in self.space.bases:
            for s in other.tops + other.labels:
                if s.name == symbol.name:
                    at = s.at if self.own else base + s.at - TEXT
                    place = other.place(s.at)
                    names = [place.name, *place.aliases]
                    others = [escaped(n) for n in names[:ALIASES] if n != symbol.name]
                    others += ["..."] * (len(names) > ALIASES)
                    line = next(self.text(at)).replace(
                        f" {self.name(place)}+", f" {self.name(place._replace(name=symbol.name))}+")
                    expected.append(line)
                    expected += [f"  also called {', '.join(others)}"] * bool(others)
        word = self.rng.choice((symbol.name, readable(symbol.name)))
        yield from self.same(self.ask("text", word), expected)


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    for told in judge.check():
        yield f"{' '.join(judge.space.words())}: {told[:600]}"


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
