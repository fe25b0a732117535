#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest base against another reading of the same addresses.

    base_model.py --build DIR [--seed N] [--seeds N]

made_bases.py makes up one guest or several, at one base or several, across each other or apart,
and recordings of threads or sandboxes that run them, with and without KVM's records of where they
began. base_search.py says where the samples of each recording, guest or image fit. Lines,
warnings, errors and the status must be what hlguest-base(1) makes of that.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from base_search import NOBODY, PAGE, Finder, Guests, addresses
from forged import TEXT
from lines import different, line, part, plural
from made_bases import DISPATCH, ENTRY, PIO, Made
from modelled import is_guest, write_all
from modelled_view import Selection
from programs import hlguest_of
from seeds import seeds
from tap import run
from trust_rule import is_off

HALTS = 0x1000, 0x7fffffff  # which of what guests write can be an address
IN_TURN = "or, if guests ran in turn at one base, record with hlguest record --sandboxes"
MOST_NAMED, MANY = 5, 20  # guests that are told of; distinct addresses
HEAD = "base                    samples   on starts    addresses   on starts  guest"
TOLD = re.compile("hlguest: warning: .*(of which no base was found|fit the ELFs only together|"
                  "are outside here)")
AGAIN = "record anew: hlguest record --sandboxes -- COMMAND"


class Judge:
    def __init__(self, hlguest, folder, made):
        self.hlguest, self.folder, self.made = hlguest, folder, made
        rng = made.rng
        self.files = write_all(folder, made)
        self.select = Selection(rng, made.recordings) if rng.random() < .3 else \
            Selection(rng, ())
        self.guest = [s for s in self.select.of(made.samples) if is_guest(s)]
        self.finders = [Finder(guest) for guest in made.guests]
        self.out, self.err, self.status, self.seen = [], [], 0, 0
        self.gone, self.turns = [], []  # recordings, and guests, of several ELFs in turn
        # Of each image where it lies: lanes of its bases; what no image has is anybody's.
        self.at = [collections.defaultdict(set) for _ in made.guests]

    # Where KVM's records have a guest

    def starts(self):
        """(address, is a halt) of each: of entries the first of a sandbox, else of a thread."""
        keeps = [keep for word, keep in zip(self.select.words, self.select.keeps)
                 if not word.startswith(("--time=", "--event="))]
        halts, entries = set(), {}
        for s in self.made.samples:
            ip = int.from_bytes(s.raw[16:24], "little")
            if s.event not in (ENTRY, PIO) or s.file in self.gone or \
                    not all(keep(s) for keep in keeps):
                continue
            if s.event == PIO:
                halts |= {(ip, True)} if HALTS[0] <= ip < HALTS[1] else set()
                continue
            key = s.file, s.sandbox if s.sandbox > 0 else None, s.sandbox > 0 or s.tid
            if key not in entries or s.time < entries[key][0]:
                entries[key] = s.time, ip
        return halts | {(ip, False) for _, ip in entries.values()}

    def recorded(self, image):
        """Whole pages away from where the entry point is, or dispatch_function."""
        guest, bases = self.made.guests[image], set()
        for ip, is_halt in self.starts():
            for own in (guest.dispatch, None if is_halt else guest.entry):
                if own is not None and own < guest.end + 0x40 and ip >= own - TEXT and \
                        (ip - own) % PAGE == 0:
                    bases.add(ip - own + TEXT)
        return sorted(bases)

    # Where guests lie

    def guests(self):
        """Where those are that were searched one by one; and what is told of others."""
        found = Guests(self.finders)
        for one in self.made.recordings:
            mine = [s for s in self.guest if s.file == one.number]
            found.add(one.number, mine)
        self.leave_out(found)
        self.lanes, self.alone = {}, False
        if found.at and (found.left or len({lane for *_, lane in found.at}) > 1):
            self.alone, self.lanes = True, found.lanes
            for image, base, lane in found.at:
                self.at[image][base].add(lane)
        return found.left if found.at else []

    def leave_out(self, found):
        """Recordings of nobody but who ran several in turn."""
        self.gone, self.turns = [number for number, _ in found.failed], found.turns
        self.guest = [s for s in self.guest if s.file not in self.gone]
        ran = "several of the ELFs" if len(self.finders) != 2 else " and ".join(
            guest.path for guest in self.made.guests)
        for number, (_, tid) in found.failed:
            self.err.append(line(
                f"hlguest: {self.files[number]}: thread {tid} ran {ran} in turn, at the same "
                f"addresses, and the recording does not tell when which of them ({AGAIN})"))
            self.status = 1

    def warnings(self, left, most=MOST_NAMED):
        for number, (sandbox, tid), n, whole in left[:most]:
            if (number, (sandbox, tid)) in self.turns:
                yield f"hlguest: warning: {self.files[number]}: thread {tid} has {whole} samples, " \
                    f"which fit the ELFs only together: outside here (it ran several in turn; {AGAIN})"
                continue
            who = f"sandbox {sandbox}" if sandbox >= 0 else f"thread {tid}"
            of = "of" if n == whole else f"for {n} of"
            yield f"hlguest: warning: {self.files[number]}: {who} has " + \
                f"{plural(whole, 'sample')}, {of} which no base was found: outside here"
        if len(left) > MOST_NAMED:
            more, one = len(left) - MOST_NAMED, len(left) == MOST_NAMED + 1
            yield f"hlguest: warning: {more} more ha{'s' if one else 've'} samples that are " + \
                f"outside here (hlguest report -v lists {'it' if one else 'them'})"

    def lane(self, s):
        return self.lanes.get(id(s), 0) if self.alone else 0

    def in_image(self, s, image):
        return any(self.lane(s) in lanes and 0 <= s.ip - base < self.finders[image].size
                   for base, lanes in self.at[image].items())

    def outside(self):
        """Addresses that lie in no image where that was found of guests: of those of the first
        lane."""
        return addresses(s for s in self.guest if self.lane(s) == 0 and not any(
            self.in_image(s, i) for i in range(len(self.at))))

    def overlap(self):
        """Do images lie across each other, in one lane?"""
        places = sorted((lane, base, base + self.finders[i].size) for i, of in enumerate(self.at)
                        for base, lanes in of.items() for lane in lanes)
        return any(a[0] == b[0] and b[1] < a[2] for a, b in zip(places, places[1:]))

    # What is printed

    def image(self, i):
        """One of them; the status."""
        left, claim, bases = self.rest, self.made.claims[i][1], self.recorded(i)
        found = self.finders[i].find(left)
        fits, alone = found.fits, bool(self.at[i])
        if alone:
            fits = [self.finders[i].fit(addresses(
                s for s in self.guest if self.lane(s) in lanes), base)
                for base, lanes in self.at[i].items()] + fits
            fits.sort(key=lambda fit: (-fit.samples, fit.base))
        if not fits and not bases:
            self.not_found(i, left, found)
            return 1
        if fits and HEAD not in self.out:
            self.out.append(HEAD)
        self.seen += 1
        self.lines(i, fits, found.told() if not alone else [], claim, bases)
        status = self.compare(i, fits, claim, bases) if fits else 0
        at = [fit.base for fit in fits] or bases
        self.rest = self.finders[i].without(self.rest, at)
        return status

    def lines(self, i, fits, rivals, claim, bases):
        path = self.made.guests[i].path
        for fit in fits:
            tail = path
            if claim and claim[0] == fit.base:
                tail += f"  (as expected: {claim[1]})"
            if fit.base in bases:
                tail += "  (KVM's records have it there)"
            self.out.append(self.row(f"{fit.base:#x}", fit, tail))
        if rivals:
            self.out.append("|".join(self.row(f"  not {fit.base:#x}", fit, "runner-up")
                                     for fit in rivals))
        for base in bases if not fits else ():
            self.out.append(line(f"{base:<#18x} {path}  (from KVM's records; the samples find no "
                                 "base)"))

    @staticmethod
    def row(base, fit, tail):
        def share(of):
            return [f"{text:>9} %" for text in part(of[True], of[False])]
        both = "|".join(re.escape(text) for text in share(fit.of))
        addrs = "|".join(re.escape(text) for text in share(fit.n))
        return re.escape(f"{base:18} {fit.samples:12} ") + f"(?:{both})" + re.escape(
            f" {fit.n[True] + fit.n[False]:12} ") + f"(?:{addrs})" + re.escape(f"  {tail}")

    def not_found(self, i, left, found):
        start = f"hlguest: {self.made.guests[i].path}: "
        n = len(left) or len({s.ip for s in self.guest if self.lane(s) == NOBODY})
        if not n:
            self.err.append(line(f"{start}the other ELFs have all samples (did it run?" + (
                "" if self.told else f" name it alone, {IN_TURN}") + ")"))
            return
        before = " left by the images before it" if self.seen and left else ""
        few = line(
            f"{start}{n} distinct address{'es' * (n != 1)}{before}, about 20 are "
            "needed to find a base (" + (
                f"name it alone, {IN_TURN})" if before and not self.told and
                len({s.ip for s in self.guest}) >= MANY else
                "record longer, or at a higher rate)"))
        self.err.append("|".join(
            few if n < MANY and not is_off(fit.n[True], fit.n[False]) else line(
                f"{start}no base stands out; the best, {fit.base:#x}, has ",
                part(fit.n[True], fit.n[False]),
                " % of addresses on instruction starts (is it this guest's ELF?" + (
                    f" {IN_TURN}" if fit.n[True] >= fit.n[False] > 0 and not self.told else "") +
                ")")
            for fit in found.best) or (few if n < MANY else line(
                f"{start}no base stands out (is it this guest's ELF?)")))

    def compare(self, i, fits, claim, bases):
        """3: what the samples fit is not what is stated, or recorded."""
        path, at, status = self.made.guests[i].path, [fit.base for fit in fits], 0
        if bases and not set(bases) & set(at):
            status = 3
            self.err.append(line(
                f"hlguest: {path}: KVM's records have the guest at {bases[0]:#x}, the samples fit "
                f"{at[0]:#x} (hlguest report believes KVM's, unless the samples refuse it)"))
        if claim and claim[0] not in at:
            status = 3
            self.err.append(line(
                f"hlguest: {path}: base {claim[0]:#x} ({claim[1]}) does not fit the samples (use "
                f"{path}@{at[0]:#x})"))
        return status

    def ask(self, more, words):
        """What is written: a file is, if anything is found, and else stays."""
        argv = [self.hlguest, "base", *more, *words, *self.files]
        if self.made.rng.random() < .8:
            return run(*argv, cwd=self.folder)
        path = os.path.join(self.folder, "base.txt")
        with open(path, "w", encoding="ascii") as f:
            f.write("before\n")
        out, err, status = run(*argv, "-o", "base.txt", cwd=self.folder)
        with open(path, encoding="ascii") as f:
            text = f.read()
        return out + text if text != "before\n" else out, err, status

    def check(self):
        rng = self.made.rng
        words = [word for word, _ in self.made.claims]
        more = rng.choice(([], ["-q"], ["-j2"])) + self.select.words
        out, err, status = self.ask(more, words)
        what = " ".join([*more, *words, *self.files])
        if not self.guest:
            if status != 1 or out:
                yield f"{what}: status {status}, {out!r}, though nothing is left"
            return
        left = self.guests()
        got = err.splitlines()
        if self.overlap():
            if status != 1 or "overlaps" not in err:
                yield f"{what}: status {status}, not told that images overlap: {err}"
            return
        self.rest = self.outside()
        self.told = any(getattr(one, "sandboxes", None) for one in self.made.recordings)
        for i in range(len(self.finders) if self.guest else 0):
            one = self.image(i)
            self.status = one if one == 1 or self.status == 0 else self.status
        expected = [line(text) for text in self.warnings(left)]
        told = [text for text in got if TOLD.match(text)]
        errors = [text for text in got if not text.startswith(("hlguest: warning: ",
                                                               "hlguest: note: "))]
        for name, mine, its in (("output", out.splitlines(), self.out),
                                ("warnings", told, expected), ("errors", errors, self.err)):
            if wrong := different(mine, its):
                yield f"{what}: {name}: {wrong}"
        if status != self.status:
            yield f"{what}: status {status}, not {self.status}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, Made(seed)).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 160, differences))
