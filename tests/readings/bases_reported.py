#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where hlguest report places ELFs, against another reading of what states and tells it.

    bases_reported.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of base_model.py. What hlguest(7), "Concepts", has of bases, and
filter/trust/base-search.h, base-seek.h and base-kvm.h of who has the last word, is computed from
what command lines and files state, from KVM's records and from where samples fit: the bases of each
ELF, where they are from, the samples at each, and what is warned of; in whatever order the ELFs are
named.
"""
import collections
import itertools
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import base_model
from base_search import SHARED, Guests, Seeker, addresses, whose
from forged import TEXT
from lines import line
from made_bases import Made
from modelled import is_guest
from programs import hlguest_of
from seeds import seeds
from tap import run
from trust_rule import NEARLY_ALL, Tested

DEFAULT = 0x1000
TEXTS = {"kvm": "from KVM's records", "found": "found from the samples", "stated": "stated",
         "exec": "its own addresses: not a PIE", "none": "no sample fits it",
         "default": "assumed: nothing states it"}
LISTED = 256  # of whom no base was found, in JSON
PAIR = re.compile("fit neither|who runs|of other code than|in turn, at the same addresses")
WARNED = re.compile("guest[0-9].elf: (base 0x(?!.*assumed)|KVM's records have|some "
                    "samples fit base)")


class Image:
    """at: its bases, the first in front, and lanes of those that were found guest by guest.
    refused: (base, what stated it). kvm: what KVM's records have instead. also: further bases."""

    def __init__(self, path, claim):
        self.path, self.lanes, self.refused, self.kvm, self.also = path, {}, None, None, []
        self.overlap, self.at = None, [claim[0]] if claim else []
        self.source = source_of(claim) if claim else None


def answer(out, status):
    """What a report says, but for the order of ELFs, and notes that name some in theirs."""
    if not out:
        return status
    told = json.loads(out)
    images = {of["path"]: (of["base"], of["base_from"], sorted(
        (at["base"], at["samples"]) for at in of["bases"])) for of in told["images"]}
    return status, images, told.get("banner"), sorted(
        text for text in told["notes"] if not PAIR.search(text))


def source_of(claim):
    return {"stated": "stated", TEXTS["exec"]: "exec"}.get(claim[1], "note")


class Judge(base_model.Judge):
    def __init__(self, hlguest, folder, made):
        super().__init__(hlguest, folder, made)
        self.images = [Image(guest.path, claim) for guest, (_, claim) in
                       zip(made.guests, made.claims)]
        self.keeps = made.rng.random() < .25  # --strict-base

    def text_of(self, i, source):
        if source == "note":
            return f"from the Hyperlight note, version {self.made.guests[i].version}"
        return TEXTS[source]

    # Who lies where

    def sync(self):
        self.at = [collections.defaultdict(set) for _ in self.images]
        for image, at in zip(self.images, self.at):
            for base in image.at:
                at[base] |= image.lanes.get(base, {0})

    def by_guests(self):
        """Those that nothing states, guest by guest, whichever samples are selected; gives whom it
        found none of, and keeps bases that have some."""
        placed = [(i, of.at[0]) for i, of in enumerate(self.images) if of.at]
        if len(placed) == len(self.images):
            return []
        self.found = found = Guests(self.finders, placed)
        for one in self.made.recordings:
            found.add(one.number, [s for s in self.made.samples
                                   if s.file == one.number and is_guest(s)])
        self.leave_out(found)
        several = any(lane for *_, lane in found.at) or found.turns
        left = [*self.selected(found)]
        if not found.turns and (not found.at or not several and not left and
                                not self.select.words):
            return []
        self.lanes, self.alone = found.lanes, bool(several)
        for i, base, lane in self.kept(found.at):
            image = self.images[i]
            image.source = "found"
            image.at = sorted({*image.at, base})
            image.lanes.setdefault(base, set()).add(lane)
        return left if several else []

    def selected(self, found):
        """Of those that were not found, who has selected samples."""
        for number, who, *_ in found.left:
            of = [s for s in self.guest if s.file == number and whose(s) == who]
            if of:
                addrs = addresses(of)
                shared = found.lanes[id(of[0])] == SHARED
                n = sum(n for _, n in (found.outside(addrs) if shared else addrs))
                if n:
                    yield number, who, n, len(of)

    def kept(self, found):
        has = {at for at in found if any(self.lane(s) == at[2] and
                                         0 <= s.ip - at[1] < self.finders[at[0]].size
                                         for s in self.guest)}
        return [at for at in found if at in has or at[0] not in [of for of, *_ in has]] \
            if self.select.words else found

    def by_kvm(self, i):
        image, bases = self.images[i], self.recorded(i)
        if not (self.alone and image.source == "found"):
            bases = self.apart(i, bases)
        if not bases or bases == [base for base in image.at if base in bases]:
            return
        own = set(bases) & set(image.at)
        if image.source == "found":
            free = [] if self.alone else [base for base in bases if not any(
                abs(base - other) < self.finders[i].size for other in image.at)]
            image.at += free
            image.kvm = None if own or free else bases[0]
        elif image.source == "stated" or self.keeps and image.at:
            image.kvm = None if own else bases[0]
        else:
            if image.at and not own:
                image.refused = image.at[0], image.source
            image.at, image.source = bases, "kvm"

    def apart(self, i, bases):
        """Of those that overlap the one that it has already, else the lower one."""
        image, size, kept = self.images[i], self.finders[i].size, []
        own = next((base for base in bases if base in image.at), None)
        for base in bases:
            way = own if own not in (None, base) and abs(base - own) < size else kept[-1] if \
                kept and base - kept[-1] < size else None
            if way is None:
                kept.append(base)
            elif not image.overlap:
                image.overlap = way, base
        return kept

    # What samples say

    def around(self, i):
        """Addresses that are in no other ELF."""
        return addresses(s for s in self.guest if self.lane(s) == 0 and not any(
            self.in_image(s, k) for k in range(len(self.images)) if k != i))

    def here(self, i):
        """How it fits where it is."""
        tested, guest, base = Tested(), self.made.guests[i], self.images[i].at[0]
        for ip, samples in self.around(i):
            addr = ip - base + TEXT
            if 0 <= ip - base < self.finders[i].size:
                for _ in range(samples):
                    tested.add(ip, guest.place(addr), guest, addr)
        tested.padding = 0  # that samples lie in it does not tell against a base
        return tested

    @staticmethod
    def fits(fit):
        return all(of[True] >= NEARLY_ALL * (of[True] + of[False]) for of in (fit.n, fit.of))

    def move(self, i):
        """Samples may refuse what the file says, or KVM's records of one place."""
        image = self.images[i]
        moves = (image.source in ("note", "exec") or image.source == "kvm" and
                 len(image.at) == 1) and not self.keeps
        if not moves and image.source != "found" or self.alone and not moves:
            return
        here = self.here(i)
        is_verified = here.judge() == "verified"
        found = [] if is_verified or not moves else self.finders[i].find(self.around(i)).fits
        if found and image.at[0] not in [fit.base for fit in found] and self.fits(found[0]) and \
                found[0].of[True] > sum(here.addresses[True].values()):
            image.refused = image.at[0], image.source
            image.at, image.source = [fit.base for fit in found], "found"
        elif is_verified and not self.alone:
            self.spread(i)

    def spread(self, i):
        """Where it verifies, it may lie elsewhere, too."""
        image, size = self.images[i], self.finders[i].size
        for fit in self.finders[i].find(self.outside()).fits:
            if self.fits(fit) and not any(
                    base < fit.base + size and fit.base < base + self.finders[k].size
                    for k, at in enumerate(self.at) for base in at):
                image.at.append(fit.base)
                image.also += [fit.base] if image.source != "found" else []

    def place(self):
        """False where they lie across each other, which is refused. Gives who is left."""
        self.alone, self.lanes = False, {}
        self.sync()
        if self.overlap():
            return None
        left = self.by_guests()
        self.sync()
        for i in range(len(self.images)):
            self.by_kvm(i)
        self.sync()
        self.move_all()
        if self.overlap():
            return None
        self.seek()
        if self.overlap():
            return None
        self.share()
        return left

    def move_all(self):
        """One that moves makes room for others."""
        before, order = None, sorted(range(len(self.images)), key=lambda i: self.images[i].path)
        while before is None or len(self.images) > 1 and before != [of.at for of in self.images]:
            before = [[*of.at] for of in self.images]
            for i in order:
                if self.images[i].source and not self.overlap():
                    self.move(i)
                    self.sync()

    def seek(self):
        """All that nothing places, among the same addresses."""
        seeker = Seeker(self.finders, [i for i, of in enumerate(self.images) if not of.source],
                        self.outside())
        for i, fits in seeker.fits.items():
            image = self.images[i]
            image.at = [fit.base for fit in fits]
            image.source = "found" if image.at else None
            if not image.at and len(self.images) > 1:
                self.claimed(i, seeker.addrs)
        self.sync()

    def claimed(self, i, addrs):
        """One that was sought in vain, beside others, is where its file has it, or where it would
        be assumed to be, only if samples fit."""
        fit = self.finders[i].fit(addrs, self.assumed(i)[0])
        if not fit.n[True] or not self.fits(fit):
            self.images[i].source = "none"

    def assumed(self, i):
        claim = self.made.guests[i].claim()
        return claim[0] if claim else DEFAULT, source_of(claim) if claim else "default"

    def share(self):
        """What nothing found by its samples, others run as well, where there is room."""
        for i, image in enumerate(self.images):
            if self.alone and image.source not in (None, "found"):
                image.lanes = {base: self.found.shared(i, base) for base in image.at}
        self.sync()

    def assume(self):
        """Where its file says after all, or where Hyperlight's were for long, unless another lies
        there, or is assumed to."""
        rest = [i for i, image in enumerate(self.images) if not image.source]
        places = [(0 in lanes, base, i) for i, at in enumerate(self.at)
                  for base, lanes in at.items()]
        places += [(True, self.assumed(i)[0], i) for i in rest]
        for i in rest:
            base, source = self.assumed(i)
            is_free = not any(
                is_here and k != i and base < other + self.finders[k].size and
                other < base + self.finders[i].size for is_here, other, k in places)
            self.images[i].at = [base] if is_free else []
            self.images[i].source = source if is_free else "none"
        self.sync()

    # What is written

    def warnings_of(self, i):
        image = self.images[i]
        path, at, base = image.path, image.at and image.at[0], image.refused
        if image.overlap and not base:
            low, other = image.overlap
            used = low if image.source == "kvm" else at
            yield f"{path}: KVM's records have a guest at {low:#x} and one at {other:#x}, " + \
                f"which overlap; {used:#x} is used (name both, {path}@{low:#x} " + \
                f"{path}@{other:#x}, to tell them apart)"
        elif base and image.source == "kvm":
            yield f"{path}: KVM's records have the guest at {at:#x}, which is used, not at " + \
                f"{base[0]:#x} ({self.text_of(i, base[1])}; {path}@{base[0]:#x} keeps to the " + \
                "file's)"
        elif base:
            yield f"{path}: base {base[0]:#x} ({self.text_of(i, base[1])}) does not fit the " + \
                f"samples; {at:#x} is used, which does ({path}@{base[0]:#x} keeps to the file's)"
        elif image.kvm is not None:
            text = self.text_of(i, image.source) + "; others from the samples" * bool(image.also)
            yield f"{path}: base {at:#x} ({text}) is used, but KVM's records have the guest at " + \
                f"{image.kvm:#x}"
        elif image.also:
            n = len(image.also)
            more = f" and {n - 1} more base{'s' * (n > 2)}" if n > 1 else ""
            yield f"{path}: some samples fit base {at:#x} ({self.text_of(i, image.source)}), " + \
                f"others {image.also[0]:#x}{more}; {'all' if n > 1 else 'both'} are used " + \
                f"({path}@{at:#x} keeps to the first)"

    def samples_at(self, i, base):
        return sum(self.lane(s) in self.at[i][base] and 0 <= s.ip - base < self.finders[i].size
                   for s in self.guest)

    def check(self):
        words = [word for word, _ in self.made.claims]
        more = ["--strict-base=yes"] * self.keeps + self.select.words
        argv = [*more, *words, *self.files]
        what = " ".join(argv)
        out, err, status = self.report(argv)
        yield from self.orders(more, words, (out, status))
        stated = [(of.at[0], of.at[0] + self.finders[i].size) for i, of in enumerate(self.images)
                  if of.at]
        if not self.guest or any(a < d and c < b for i, (a, b) in enumerate(stated)
                                 for c, d in stated[:i]):
            return  # of ELFs that are stated across each other sandboxes_model.py tells
        left = self.place()
        if self.gone and (status != 1 or any(text not in [line(told) for told in err.splitlines()]
                                             for text in self.err)):
            yield f"{what}: status {status}, {err}, not {self.err}"
        if len(self.gone) == len(self.files):
            return
        if left is None:
            if status != 1 or "overlaps" not in err:
                yield f"{what}: status {status}, not told that images overlap: {err}"
            return
        self.assume()
        if not out:
            yield f"{what}: nothing, status {status}: {err}"
            return
        for text in (*self.differences(json.loads(out), left), *self.heads(argv)):
            yield f"{what}: {text}"

    def report(self, argv):
        return run(self.hlguest, "report", "-q", "--force", "--format=json", *argv, cwd=self.folder)

    def orders(self, more, words, first):
        """In whatever order ELFs are named, the answer is the same."""
        for order in itertools.permutations(words):
            out, _, status = self.report([*more, *order, *self.files])
            if answer(out, status) != answer(*first):
                yield f"{' '.join(more)}: {' '.join(order)}: {answer(out, status)}, " + \
                    f"and {' '.join(words)}: {answer(*first)}"

    def heads(self, argv):
        """What text says of each image: where it lies, and who says so."""
        out, _, _ = run(self.hlguest, "report", "-q", "--force", "--wide", "--color=never", *argv,
                        cwd=self.folder)
        for i, image in enumerate(self.images):
            told = re.findall(rf"^(?:guest  |       )   {re.escape(image.path)}, x86-64, .*$", out, re.M)
            where = f"{len(image.at)} bases" if len(image.at) > 1 else \
                f"base {image.at[0]:#x}" if image.at else "no base"
            text = self.text_of(i, image.source).replace(
                "from the Hyperlight note, version", "Hyperlight note")
            text += "; others from the samples" * bool(image.also)
            if len(told) != 1 or not told[0].endswith(f", {where} ({text})"):
                yield f"{told}, not {where} ({text})"

    def differences(self, told, left):
        for i, (image, of) in enumerate(zip(self.images, told["images"])):
            yield from self.same_image(i, image, of)
        warned = [text for text in told["notes"] if WARNED.match(text)]
        expected = [text for i in range(len(self.images)) for text in self.warnings_of(i)]
        if sorted(warned) != sorted(expected):
            yield f"warned of {warned}, not of {expected}"
        warned = [text for text in told["notes"] if
                  base_model.TOLD.match(f"hlguest: warning: {text}")]
        expected = [text.removeprefix("hlguest: warning: ")
                    for text in self.warnings(left, LISTED)]
        if warned != expected:
            yield f"told of {warned}, not {expected}"

    def same_image(self, i, image, of):
        """Of bases that were found guest by guest any may be the first."""
        at = {base: self.samples_at(i, base) for base in image.at}
        first = [int(of["base"], 16)] if of["base"] else []
        if self.lanes and image.source == "found" and first and first[0] in at:
            image.at.insert(0, image.at.pop(image.at.index(first[0])))
        got = collections.Counter()
        for entry in of["bases"]:
            got[int(entry["base"], 16)] += entry["samples"]
        if of["base_from"] != image.source or dict(got) != at or image.at[:1] != first:
            yield f"{of}, not {image.source} {at}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, Made(seed)).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 160, differences))
