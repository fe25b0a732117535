#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do samples fit a guest? What hlguest report says of it, against another reading of the rule.

    trust_model.py --build DIR [--seed N] [--seeds N]

filter/trust/verdict.h states the rule. Guests and recordings are made up (made_trust.py) around
the numbers that it counts to, and verdicts, figures, banners, remarks, names that are withheld
and the exit status are computed from what they were made of. Which bases the samples fit is the
program's to find: it is taken from it and checked, and where far more samples than it takes
lie at one base, that one must be found.
"""
import collections
import csv
import io
import json
import os
import random
import re
import sys
import zlib

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from code_crc import code_crc
from forged import TEXT
from lines import line
from made_trust import Hosted, Made, Map, Note, Placed, write_notes
from modelled import OUTSIDE, is_guest, near, write_all
from modelled_view import View, address_of
from programs import hlguest_of
from seeds import seeds
from tap import run
from text_head import Head
from text_sums import Sums
from trust_rule import LEAST, LEAST_STRAY, NEARLY_ALL, Tested, worst
from trust_said import Said

OUTSIDE_MUCH = 20  # one in so many
SURE = 60  # distinct addresses on boundaries, at one base, that must be found


class Found(Placed):
    """The images where a report has them; of each its number, its bases and their samples."""

    def __init__(self, guests, told):
        super().__init__([(guest, int(image["base"], 16)) for guest, image in zip(guests, told)])
        self.at = [[int(b["base"], 16) for b in image["bases"]] for image in told]
        for i, (guest, _) in enumerate(self.bases):
            if isinstance(guest, Map):
                self.at[i] = [TEXT]  # its addresses are the guest's

    def where(self, ip):
        """(image, base), or None."""
        for i, (guest, _) in enumerate(self.bases):
            for base in self.at[i]:
                if guest.place(ip - base + TEXT) != OUTSIDE:
                    return i, base
        return None

    def place(self, ip):
        found = self.where(ip)
        if not found:
            return None, ip, OUTSIDE
        addr = ip - found[1] + TEXT
        return found[0], addr, self.bases[found[0]][0].place(addr)

    def called(self, image):
        return self.bases[image][0].path

    path = called


class Raw:
    """Nothing is said of what is at an address."""

    @staticmethod
    def place(ip):
        return None, ip, OUTSIDE._replace(start=ip, name=f"{ip:#x}")


class Judge(Said, Head, Sums):
    def __init__(self, hlguest, folder, seed):
        self.rng = rng = random.Random(seed)
        self.hlguest, self.folder = hlguest, folder
        self.made = Made(rng)
        self.files = write_all(folder, self.made)
        write_notes(folder, self.files, self.made.recordings)
        self.options = {"gaps": rng.choice(("retag", "retag", "drop", "stretch")),
                        "weight": rng.choice(("period", "samples")),
                        "region": rng.choice((0, 64, 1024)), "skid": rng.choice((0, 1, 3)),
                        "by": rng.choice(("", "", "tid"))}
        self.is_forced, self.keeps_base = (rng.random() < .3 for _ in range(2))
        self.tid = rng.choice([s.tid for s in self.made.samples]) if rng.random() < .15 else None
        self.guest = [s for s in self.made.samples if is_guest(s) and self.tid in (None, s.tid)]
        self.several = len({s.event for s in self.guest}) > 1

    def words(self):
        words = [f"--{key}={value}" for key, value in self.options.items() if value != ""]
        words += ["--force"] * self.is_forced
        words += ["--strict-base=yes"] * self.keeps_base
        return words + ([f"--tid={self.tid}"] if self.tid else [])

    def run(self, form, *more):
        return run(self.hlguest, "report", "-q", "--border=keep", f"--format={form}", *more,
                   *self.words(), *self.made.space.words(), *self.files, cwd=self.folder)

    def check(self):
        if not self.guest:
            return
        out, err, self.status = self.run("json")
        if "not in this build" in err:
            return
        what = " ".join([*self.words(), *self.made.space.words()])
        if self.status not in (0, 3):
            yield f"{what}: status {self.status}: {err}"
            return
        self.json = json.loads(out)
        self.trust, self.of = self.json["trust"], self.json["totals"]
        self.space = Found(self.made.guests, self.json["images"])
        self.test()
        for wrong in self.differences(err):
            yield f"{what}: {wrong}"

    # What lies where

    def test(self):
        self.all = Tested()
        self.images = [Tested() for _ in self.space.bases]
        self.places = collections.defaultdict(list)  # (image, base): samples
        for s in self.guest:
            image, addr, place = self.space.place(s.ip)
            if image is not None and (place.kind != "gap" or self.options["gaps"] != "drop"):
                self.places[self.space.where(s.ip)].append(s)
            self.put(self.all, s, image, addr, place)
            if image is not None:
                self.put(self.images[image], s, image, addr, place)
        self.stray = len(self.all.stray)
        self.word = self.judge()
        self.is_nowhere = self.stray and not any(of.any for of in self.images)
        self.guessed = any(
            image["base_from"] == "default" and (of.any or self.is_nowhere)
            for image, of in zip(self.json["images"], self.images)) and self.word != "verified"
        self.is_raw = not self.is_forced and (self.word == "mismatch" or self.guessed)

    def put(self, tested, s, image, addr, place):
        if place.kind == "gap" and self.options["gaps"] == "drop":
            return
        guest = self.space.bases[image][0] if image is not None else None
        tested.add((image, addr), place, guest, addr)

    def entries(self):
        return [self.trust["base"], *self.trust["more_images"]]

    def elsewhere(self, i):
        """Where an image's samples fit best, if that is none of its own bases."""
        fits = self.entries()[i]["fits"]
        return fits[0] if fits and int(fits[0]["base"], 16) not in self.space.at[i] else None

    def judge(self):
        """verdict.h: FIRST, and THEN."""
        anywhere = any(of.any for of in self.images)
        told = worst([self.ran(i) if of.any or not anywhere or self.ran(i) != "mismatch" else "mixed"
                      for i, of in enumerate(self.images)] +
                     ["mixed" for i in range(len(self.images)) if self.is_absent(i)])
        word = worst([self.all.judge(self.stray), told])
        if word == "verified" and any(of.judge() == "mismatch" for of in self.images):
            word = "mixed"
        self.early = word
        one = len(self.images) == 1 and self.json["images"][0]["base_from"] == "default"
        few = len(self.all.addresses[True]) + len(
            self.all.stray | set(self.all.addresses[False])) < LEAST
        looked = word not in ("verified", "not tested") or self.stray >= LEAST_STRAY
        if one and few and looked and not self.entries()[0]["fits"] and \
                not self.entries()[0]["moved"] and not self.other_build(0):
            word = "too few samples to tell"
        for i, of in enumerate(self.images):
            fit = self.elsewhere(i)
            if fit and of.judge() != "verified" and \
                    self.at(i, int(fit["base"], 16))[1] > sum(of.addresses[True].values()) or \
                    self.entries()[i]["moved"]:
                word = "mismatch"
        return word

    def at(self, i, base):
        """(samples, on, off) at a base of an image: of what is in no image, in this one unless it
        is verified, and in others that are not, where it is off their boundaries."""
        guest, counts = self.space.bases[i][0], collections.Counter()
        for s in self.guest:
            addr, own = s.ip - base + TEXT, None
            if self.is_tried(i, *self.space.place(s.ip)):
                own = guest.place(addr)
            if own and own != OUTSIDE:
                counts["all"] += 1
                if own.kind in ("function", "label"):
                    counts[guest.boundary(addr)] += 1
        return counts["all"], counts[True], counts[False]

    def is_tried(self, i, image, addr, place):
        """Is a sample tried at other bases of the i-th image?"""
        if image is None or self.images[image].judge() == "verified":
            return image is None
        of = self.space.bases[image][0]
        return image == i or not isinstance(of, Map) and (
            place.kind not in ("function", "label") or of.boundary(addr) is False)

    # What recordings tell of builds

    def may_have(self, i, one):
        """Has a recording samples of an image, or may it, as its base is not stated, or some are
        of no image and another build of its name ran?"""
        at = {self.space.place(s.ip)[0] for s in self.guest if s.file == one.number}
        return i in at or bool(at) and self.made.kind != "stated" or None in at and any(
            n.file == self.space.bases[i][0].path for n in self.missing(one))

    def missing(self, one):
        """What record noted that is none of the images."""
        elfs = [of for of, _ in self.space.bases]
        return [n for n in one.noted
                if all(isinstance(of, Map) or is_build(of, n) is False for of in elfs)]

    def mapped(self, one):
        """Files of the images' names that a recording maps."""
        return [Note(*build) for build in one.builds
                if build[0] in [of.path for of, _ in self.space.bases]]

    def told_of(self, i, one):
        """{"same", "code", "other": the build} that a recording tells of an image, if it may have
        samples of it (identity.h)."""
        guest = self.space.bases[i][0]
        if isinstance(guest, Map) or not self.may_have(i, one):
            return {}
        mapped, missing = self.mapped(one), self.missing(one)
        same = [n for n in mapped + one.noted + one.others if is_build(guest, n)]
        if same:
            others = [n for n in missing if n.file == guest.path]
            return {"same": guest.build_id} | {"other": n for n in others[:1]} | (
                {"code": True} if all(has_other_id(guest, n) for n in same) else {})
        # What is mapped of that name is a host, not the guest inside it.
        others = [n for n in mapped + one.noted if is_build(guest, n) is False]
        named = [n for n in others if n.file == guest.path and (
            n in one.noted or not isinstance(guest, Hosted))]
        return {"other": n for n in (named + [n for n in others if n in missing])[:1]}

    def absent_of(self, i, one):
        """What record noted that is none of the images, where others of these ran, and this one has
        no sample though many lie outside."""
        mine = [s for s in self.guest if s.file == one.number]
        outside = sum(self.space.place(s.ip)[0] is None for s in mine)
        guest, elfs = self.space.bases[i][0], [of for of, _ in self.space.bases]
        if isinstance(guest, Map) or self.may_have(i, one) or outside <= len(mine) // OUTSIDE_MUCH \
                or not any(not isinstance(of, Map) and is_build(of, n)
                           for n in one.noted for of in elfs) \
                or any(is_build(guest, n) for n in self.mapped(one) + one.noted + one.others):
            return None
        return next((n for n in self.missing(one) if is_build(guest, n) is False), None)

    def is_absent(self, i):
        """Is that all that any recording tells of an image, which has no sample?"""
        outside = sum(self.space.place(s.ip)[0] is None for s in self.guest)
        told = [(self.absent_of(i, one), self.may_have(i, one) or not (self.mapped(one) or one.noted))
                for one in self.made.recordings]
        return not self.images[i].any and any(of.any for of in self.images) and \
            outside > len(self.guest) // OUTSIDE_MUCH and \
            any(absent for absent, _ in told) and not any(more for _, more in told)

    def ran(self, i):
        told = {key for one in self.made.recordings for key in self.told_of(i, one)}
        return "not tested" if "other" not in told else "mixed" if "same" in told else "mismatch"

    def has_same_code(self, i):
        """Did one of another build id run, whose code is the same?"""
        return any("code" in self.told_of(i, one) for one in self.made.recordings)

    def other_build(self, i):
        """The least of those that ran, by its file and its id; or None."""
        told = [self.told_of(i, one).get("other") for one in self.made.recordings]
        builds = told + [self.absent_of(i, one) for one in self.made.recordings]
        if not any(told) and (not self.is_absent(i) or self.elsewhere(i)):
            return None
        return min([(n.file, (n.build_id or b"").hex()) for n in builds if n], default=None)

    # What is told

    def differences(self, err):
        if self.trust["verdict"] != self.word:
            yield f"verdict {self.trust['verdict']}, not {self.word}: {self.all}, {self.images}"
        doubted = self.is_raw or self.word == "mixed"
        status = 3 if self.word == "mismatch" or doubted and not self.is_forced else 0
        if self.status != status:
            yield f"status {self.status}, not {status}, of {self.word}"
        yield from self.same_boundaries("boundary", {
            key: sum(of.values()) for key, of in self.all.addresses.items()})
        yield from self.same_boundaries("addresses", {
            key: len(of) for key, of in self.all.addresses.items()})
        for i, entry in enumerate(self.entries()):
            yield from self.same_image(i, entry)
        gaps = sum(self.space.place(s.ip)[2].kind == "gap" for s in self.guest)
        if not near(self.trust["gap_share"], 100 * gaps / len(self.guest), 2):
            yield f"gap_share {self.trust['gap_share']}, of {gaps} samples"
        yield from self.bases_found()
        yield from self.same_rows()
        yield from self.banner(err)
        yield from self.remarks()
        yield from self.files_told()
        yield from self.csv()
        yield from self.check_lines()

    def same_boundaries(self, name, counts):
        got, n = self.trust[name], counts[True] + counts[False]
        low, high = Tested.interval(counts[True], n)
        if (got["on"], got["off"], got["undecodable"]) != (counts[True], counts[False],
                                                           counts[None]):
            yield f"{name}: {got}, not {counts}"
        chance = self.all.chance()
        for key, value in (("share", 100 * counts[True] / n if n else None), ("low", 100 * low),
                           ("high", 100 * high),
                           ("chance", None if chance is None else 100 * chance)):
            if not near(got[key], value, 2):
                yield f"{name}: {key} {got[key]}, not {value}"

    def same_image(self, i, entry):
        guest, image = self.space.bases[i][0], self.json["images"][i]
        expected = {"image": guest.path, "verdict": self.images[i].judge(), "base": image["base"],
                    "from": image["base_from"], "bases": len(image["bases"])}
        if {key: entry[key] for key in expected} != expected:
            yield f"{entry}, not {expected}: {self.images[i]}"
        if image["build_id"] != (guest.build_id and guest.build_id.hex()):
            yield f"build id {image['build_id']} of {guest.path}"
        for base, told in zip(self.space.at[i], image["bases"]):
            of = self.places[i, base]
            tids = {s.tid for s in of}
            tid = tids.pop() if len(tids) == 1 else None
            if (told["samples"], told["period"]) != (len(of), sum(s.period for s in of)) or \
                    tid is None and told["tid"] is not None or \
                    tid is not None and told["tid"] not in (tid, None):
                yield f"base {base:#x}: {told}, not {len(of)} samples of thread {tid}"
        for fit in entry["fits"]:
            n, on, off = self.at(i, int(fit["base"], 16))
            if fit["samples"] != n or not near(fit["share"], 100 * on / (on + off), 2):
                yield f"fit {fit}, not {n} samples, {on} on and {off} off"
        yield from self.moved_told(i, entry)

    def moved_told(self, i, entry):
        """Behind where another build of the guest differs, all has moved."""
        grown, moved = self.made.grown, entry["moved"]
        of = self.places[i, self.space.at[i][0]]
        if moved and not (grown and grown.guest is self.space.bases[i][0]):
            yield f"{moved}, though nothing has moved"
        elif moved:
            begin = self.space.at[i][0] + int(moved["from"], 16) - TEXT
            n = sum(s.ip >= begin for s in self.guest if self.space.place(s.ip)[0] in (i, None))
            if moved["by"] != -grown.by or moved["samples"] != n:
                yield f"{moved}, not {grown} with {n} samples"
        elif grown and grown.sure <= len({s.ip for s in of if s.ip >= grown.at}) and \
                self.made.guests[i] is grown.guest and self.images[i].judge() != "verified" and \
                not self.elsewhere(i):
            yield f"it is not told that {grown} has moved"

    def bases_found(self):
        """Who lies at one base for sure is found there."""
        image, where = self.json["images"][0], self.made.lies_at
        on = {s.ip for s in self.guest if self.made.guests[0].boundary(s.ip - where + TEXT)}
        off = [s for s in self.guest if not self.made.guests[0].boundary(s.ip - where + TEXT)]
        if self.made.kind == "stated" or len(on) < SURE or off:
            return
        keeps = self.made.kind == "exec" and (self.keeps_base or where == TEXT)
        expected = (hex(TEXT), "exec") if keeps else (hex(where), "found")
        if (image["base"], image["base_from"]) != expected:
            yield f"{image['base']} ({image['base_from']}), not {expected}"
        if keeps and where != TEXT and [f["base"] for f in self.entries()[0]["fits"]] != [
                hex(where)]:
            yield f"{self.entries()[0]['fits']}, not {where:#x}"

    # Rows

    def weigh(self, s):
        return s.period if self.options["weight"] == "period" and not self.several else 1

    def view(self, space=None):
        kept = [s for s in self.guest if self.options["gaps"] != "drop" or
                self.space.place(s.ip)[2].kind != "gap"]
        return View(space or self.space, self.options, kept, self.weigh)

    def is_misfit(self, row):
        """More than one in a hundred of what is tested is off boundaries."""
        image, place = row.key
        if self.is_forced or image is None or not place.symbol:
            return False
        of = self.tested_of(row)
        return sum(of.values()) and of[True] < NEARLY_ALL * sum(of.values())

    def tested_of(self, row):
        image, place = row.key
        guest = self.space.bases[image][0]
        owns = [self.space.place(s.ip)[1] for s in row.samples
                if self.space.place(s.ip)[2] == place]
        return collections.Counter(
            is_on for is_on in map(guest.boundary, owns) if is_on is not None)

    def same_rows(self):
        if self.is_raw:
            yield from self.same_addresses()
            return
        got = [(f["name"], f["kind"], f["addr"], f["samples"], f["period"],
                [] if f["name"].startswith("[does") else f["aliases"])
               for f in self.json["functions"]]
        view = self.view()
        rows = [row for row in view.ordered() if row.key[1].kind not in ("data", "outside")]
        names = [f"[does not fit] {address_of(row.key[1])}" if self.is_misfit(row) else
                 row.key[1].name for row in rows]
        expected = [(name, row.key[1].kind, address_of(row.key[1]), row.count().samples,
                     row.count().period, [] if self.is_misfit(row) else list(row.key[1].aliases))
                    for name, row in zip(names, rows)]
        if got != expected:
            yield f"functions: {[x for x in zip(got, expected) if x[0] != x[1]][:2]}, " + \
                f"{len(got)} for {len(expected)}"
            return
        for f, row in zip(self.json["functions"], rows):
            edge = self.edge(row)
            if not near(f.get("edge"), edge, 2):
                yield f"edge of {f['name']}: {f.get('edge')}, not {edge}"

    def edge(self, row):
        image, place = row.key
        guest, reach = self.space.bases[image][0], self.options["skid"]
        if not reach or isinstance(guest, Map) or not place.symbol:
            return None
        late = guest.late(place, reach)
        n = sum(self.space.place(s.ip)[1] in late for s in row.samples)
        return 100 * n / len(row.samples)

    def same_addresses(self):
        expected = [(hex(row.key[1].start), row.count().samples, row.count().period)
                    for row in self.view(Raw).ordered()]
        got = [(f["ip"], f["samples"], f["period"]) for f in self.json.get("addresses", ())]
        if self.json["functions"] or self.json["other"] or got != expected:
            yield f"addresses: {got[:3]}, not {expected[:3]}; {self.json['functions'][:1]}"

    # Recordings, CSV and text

    def files_told(self):
        for name, one, f in zip(self.files, self.made.recordings, self.json.get("files", ())):
            mine = [s for s in self.guest if s.file == one.number]
            tested, at = Tested(), collections.Counter()
            for s in mine:
                image, addr, place = self.space.place(s.ip)
                self.put(tested, s, image, addr, place)
                if image is not None:
                    at[self.space.where(s.ip)] += 1
            told = [self.told_of(i, one) for i in range(len(self.images))]
            word = worst([tested.judge(len(tested.stray)), *(
                "mixed" if "same" in of else "mismatch" for of in told if "other" in of)])
            if self.made.kind == "stated" and (f["path"], f["verdict"]) != (name, word):
                yield f"{f}, not {word}: {tested}"
            if self.made.kind == "stated" and at:
                first = min(i for i, _ in at)
                base = 0 if isinstance(self.space.bases[first][0], Map) else \
                    self.space.at[first][0]
                if (f["base"], f["bases"]) != (hex(base), 1):
                    yield f"{f}, not at {base:#x}"

    def csv(self):
        rows = [f for f in csv.DictReader(io.StringIO(self.run("csv")[0]))
                if f["record"] == "trust"]
        b, none = self.trust["boundary"], ""
        chance = self.all.chance() or none
        expected = [("on boundaries", self.word, str(b["on"]),
                     *(none if b["share"] is None else b[key] / 100
                       for key in ("share", "low", "high"))),
                    ("off boundaries", none, str(b["off"]), none, none, none),
                    ("not tested", none, str(b["undecodable"]), none, none, none),
                    ("by chance", none, none, chance, chance, chance)]
        if [(f["name"], f["kind"], f["samples"]) for f in rows] != [r[:3] for r in expected] or \
                not all(f[key] == value if value == none else near(f[key], 100 * value, 2)
                        for f, r in zip(rows, expected)
                        for key, value in zip(("percent", "low", "high"), r[3:])):
            yield f"CSV: {rows}, not {expected}"

    def check_lines(self):
        out = self.run("text", "--verbose=yes", "--color=never", "--wide")[0].split("\n")
        others = [i for i in range(len(self.images)) if self.other_build(i)]
        said, other = self.verdict(), None
        if self.word == "mismatch" and others:
            ran, own = self.other_build(others[0])[1], self.space.bases[others[0]][0].build_id
            other = "WRONG ELF: " + (f"build id {ran[:8]} ran, this is {own.hex()[:8]}"
                                     if ran and own and ran != own.hex() else "another build ran")
            said = other + self.outside_told()
        expected = [line("check     ", said), *self.tested(other)]
        at = [i for i, text in enumerate(out) if text.startswith("check ")]
        got = [out[at[0]], *out[at[-1]:at[-1] + len(expected) - 1]] if at else []
        if len(at) != 2 or not all(map(re.fullmatch, expected, got)):
            yield f"text: {got}, not {expected}"


def is_build(guest, noted):
    """By its code or its bytes, which record alone notes, or by its id, which recordings cut; None:
    nothing tells."""
    data = guest.inner()
    if noted.code and code_crc(data):
        return noted.code == code_crc(data)
    if guest.build_id and noted.build_id:
        return noted.build_id == (guest.build_id[:20] if noted.size is None else guest.build_id)
    return noted.size is not None and (noted.size, noted.crc) == (len(data), zlib.crc32(data)) or None


def has_other_id(guest, noted):
    cut = noted.size is None and len(noted.build_id or b"") == 20
    return bool(guest.build_id and noted.build_id) and \
        noted.build_id != (guest.build_id[:20] if cut else guest.build_id)


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 40, differences))
