# SPDX-License-Identifier: GPL-2.0-only
"""What a report says of how its samples fit, for trust_model.py: its banner, which threads do
not fit, which builds ran, and whether a region tells more than the sizes of its functions."""
import collections
import os
import re

from lines import Any, joined, line, part, percent
from made_trust import Map
from shares import chi_square
from text_head import SAID
from trust_rule import LEAST, ORDER, is_off

SHOWN = 8  # threads
SHARE, TURNS = .1, 5  # of a guest, of all samples; addresses of another one
EXPECTED, LEVEL = 5, .01  # of Pearson's test


class Said:
    """A part of the Judge there: all that it has at hand is."""

    def banner(self, err):
        told = self.trust["banner"]
        expected = self.banner_line()
        if (told is None) != (expected is None) or told and not re.fullmatch(expected, told):
            yield f"banner {told}, not {expected}"
        if ("!! " in err) != (told is not None) or told and f"hlguest: !! {told}\n" not in err:
            yield f"standard error {err!r} of {told}"

    def banner_line(self):
        others = [i for i in range(len(self.images)) if self.other_build(i)]
        if self.is_raw and self.word != "mismatch":
            return line(f"base {self.json['images'][0]['base']} of guest0.elf is only assumed, and " + (
                "no sample lies there (is it the guest's ELF? use guest0.elf@BASE)"
                if self.is_nowhere else
                "the samples do not confirm it: functions are not named (--force=yes names them)"))
        if self.word not in ("mixed", "mismatch"):
            return None
        if self.word == "mismatch" and others:
            return line(self.builds_line(others))
        if self.word == "mixed":
            return self.mixed_line(others)
        on, off = (sum(self.all.addresses[key].values()) for key in (True, False))
        fits = "no sample lies in a function" if self.all.chance() is None else joined("", Any(
            f"{a} % of {on + off} samples lie on instruction starts ({b} % by chance)"
            for a in part(on, off) for b in percent(self.all.chance())))
        return line(fits) + self.mismatch_line()

    def builds_line(self, others):
        """Which build ran, of each that another ran of."""
        text = []
        for i in others:
            n = sum(self.may_have(i, one) for one in self.made.recordings)
            some, hint = (self.where(i), "give the ELF that ran") if self.ran(i) != "mixed" else (
                ", too", "name both") if n == 1 else (
                self.where(i), "report them apart, each with the ELF that ran")
            (of, _), (file, build_id) = self.space.bases[i], self.other_build(i)
            if build_id and of.build_id and build_id != of.build_id.hex():
                told = f"another build ran{some}: {file} with build id {build_id[:8]}, not " \
                    f"{of.path} with {of.build_id.hex()[:8]}"
            elif file == os.path.basename(of.path):
                told = f"another build ran{some}: {file} as record noted it, not {of.path} as it " \
                    "is now"
            else:
                told = f"{file} ran{some}, as record noted, not {of.path}"
            text.append(f"{told} ({hint})")
        return "; ".join(text)

    def where(self, i):
        """In which recordings another build ran, where others do not tell just that."""
        if self.is_absent(i):
            return ""
        told = [(name, {"absent": absent} if absent else self.told_of(i, one))
                for name, one in zip(self.files, self.made.recordings)
                for absent in [self.absent_of(i, one)]
                if absent or self.may_have(i, one) or not (one.builds or one.noted)]
        names = sorted(name for name, of in told for ran in [of.get("other", of.get("absent"))]
                       if ran and (ran.file, (ran.build_id or b"").hex()) == self.other_build(i))
        return "" if all([*of] == ["other"] for _, of in told) else \
            f" in {names[0]}" + " and others" * (len(names) > 1)

    def mixed_line(self, others):
        misfits = [row for row in self.view().ordered() if self.is_misfit(row)]
        told = line(self.builds_line(others)) if others else self.threads_line()
        text = told or line("some samples are of other code")
        on, off = (sum(self.all.addresses[key].values()) for key in (True, False))
        tested, padding = on + off, self.all.padding
        if off:
            text += line(f"; {off} of {tested} samples do{'es' * (off == 1)} not lie on "
                         "instruction starts")
        if is_off(tested, padding):
            text += line("; ", part(padding, tested),
                         " % lie in padding between functions, where nothing runs")
        if not misfits:
            return text
        n, whole = len({row.key for row in misfits}), self.view()
        share = sum(self.weigh(s) for row in misfits for s in row.samples) / whole.all
        return text + line(
            f"; {n} function{'s' * (n > 1)} with ", percent(share),
            f" % of the overhead {'has' if n == 1 else 'have'} samples off "
            f"{'its' if n == 1 else 'their'} instructions, and "
            f"{'is' if n == 1 else 'are'} not named (another build of this ELF"
            f"{'' if told else ', or another guest in turn with it'}? --force=yes names them)")

    def mismatch_line(self):
        if told := self.threads_line():
            return ": " + told
        moved = [entry for entry in self.entries() if entry["moved"]]
        if moved:
            return ": (another build of .* ran: |wrong ELF or wrong base, or).*(moved by|if moved).*"
        text = ": wrong ELF or wrong base"
        some = [(entry, self.elsewhere(i)) for i, entry in enumerate(self.entries())
                if self.elsewhere(i)]
        for entry, fit in some:
            image = f"{entry['image']} at base" if len(self.images) > 1 else "base"
            _, on, off = self.at(self.entries().index(entry), int(fit["base"], 16))
            more = len(entry["fits"]) - 1
            text += line(f"; {image} {fit['base']} fits ", part(on, off), " %" + (
                f", and {more} more bases fit others (use {entry['image']}@auto)" if more else
                f" (use {entry['image']}@{fit['base']})"))
        return text + ("" if some else "; no base fits")

    def threads(self):
        """({thread: what of it does not fit}, which others surely do): of addresses that one
        alone was sampled at, in its series."""
        by = self.options["by"] == "tid"
        tids, cells = collections.defaultdict(set), collections.defaultdict(list)
        for s in self.guest:
            key = s.event, s.ip, s.tid if by else None
            tids[key].add(s.tid)
            image, addr, place = self.space.place(s.ip)
            if image is not None and (place.kind != "gap"):
                is_on = self.space.bases[image][0].boundary(addr)
                if is_on is not None and not isinstance(self.space.bases[image][0], Map):
                    cells[key].append((addr, is_on))
        of, addrs = collections.defaultdict(collections.Counter), collections.defaultdict(set)
        for key, found in cells.items():
            tid = next(iter(tids[key])) if len(tids[key]) == 1 else None
            of[tid].update(is_on for _, is_on in found)
            addrs[tid] |= {addr for addr, _ in found}
        bad = {tid: n for tid, n in of.items() if is_off(n[True], n[False])}
        fitting = [tid for tid in of if tid not in bad and tid is not None and
                   len(addrs[tid]) >= LEAST]
        if len(bad) == len(of) or ORDER.index(self.early) < ORDER.index("mixed"):
            return {}, [] if ORDER.index(self.early) < ORDER.index("mixed") else sorted(fitting)
        bad.pop(None, None)
        return bad, sorted(fitting)

    def threads_line(self):
        bad, fitting = self.threads()
        if not bad or not fitting or self.is_explained():
            return None
        one, n = len(bad) == 1, len(fitting)
        alone = f" (alone: --tid={','.join(map(str, fitting))})" if n <= SHOWN else ""
        return line(f"{n} thread{'s' * (n > 1)} fit{'s' * (n == 1)}{alone}, and {len(bad)} do"
                    f"{'es' * one} not (if {'it runs' if one else 'they run'} another ELF, report "
                    "tells them apart, with both named)")

    def is_explained(self):
        """By another base, or a move."""
        return any(self.elsewhere(i) or self.has_moved(i) for i in range(len(self.images)))

    def turns(self):
        """Guests that ran in turn may be why samples do not fit: nothing else tells."""
        if self.word not in ("mixed", "mismatch") or self.threads()[0] or self.is_explained() or \
                any(self.other_build(i) for i in range(len(self.images))):
            return []
        on, off = (sum(self.all.addresses[key].values()) for key in (True, False))
        chance = self.all.chance() or 0
        if len(self.all.addresses[False]) < TURNS:
            return []
        if self.word == "mismatch" and len(self.images) == 1 and not (
                on + off and on / (on + off) - chance >= SHARE * (1 - chance)):
            return []
        return [line("samples may be of guests that ran in turn on one thread, which the recording "
                     "does not tell apart (name the ELF of each, and record anew: hlguest record "
                     "--sandboxes -- ") + ".*\\)"]

    def has_moved(self, i):
        """At least half of what does not fit has."""
        moved = self.entries()[i]["moved"]
        return moved and moved["samples"] >= sum(self.images[i].addresses[False].values()) // 2

    def remarks(self):
        bad, fitting = self.threads()
        expected = []
        own = "" if self.options["by"] else " at addresses of its own"
        ordered = sorted(bad, key=lambda tid: (-bad[tid][False], tid))
        for i, tid in enumerate(ordered[:SHOWN]):
            on, off = bad[tid][True], bad[tid][False]
            hint = i == 0 and (self.trust["banner"] is None or not fitting)
            expected.append(line(f"thread {tid} does not fit: ", part(on, off),
                                 f" % of {on + off} tested samples{own}" + (
                                     " (if it runs another ELF, name that, too)" if hint else "")))
        if len(bad) > SHOWN:
            more = len(bad) - SHOWN
            expected.append(line(f"{more} more thread{'s do' if more > 1 else ' does'} not fit"))
        yield from self.said("does not fit|do not fit$", expected)
        yield from self.said("in turn", self.turns())
        yield from self.said("would fit", [
            line(f"{self.at(i, int(fit['base'], 16))[1]} samples would fit {of.path} at base "
                 f"{fit['base']} ") + ".*|" + line(
                f"1 sample would fit {of.path} at base {fit['base']} ") + ".*"
            for i, (of, _) in enumerate(self.space.bases) for fit in [self.elsewhere(i)]
            if fit and self.word != "mismatch"])
        yield from self.said(": so few addresses", [
            line(f"{of.path}: so few addresses may fit another build of it as well: nothing "
                 "checks its names (hlguest record notes which build runs)")
            for i, (of, _) in enumerate(self.space.bases)
            if self.word == "too few samples to tell" and not self.is_raw and
            sum(len(self.all.addresses[key]) for key in (True, False)) < LEAST and
            self.images[i].addresses[True] and
            not self.surely_ran(i)])
        yield from self.said(r"^(guest\d\.elf|perf\.map): (?!so few|is |a build)", self.image_lines())
        yield from self.said("its code is the same", [
            line(f"{of.path}: a build with another build id ran, but its code is the same: so are "
                 "the names") for i, (of, _) in enumerate(self.space.bases) if self.has_same_code(i)])
        yield from self.said("hot region", self.size_lines())

    def surely_ran(self, i):
        """No recording tells of anything else than this build."""
        told = {key for one in self.made.recordings for key in self.told_of(i, one)}
        return told - {"code"} == {"same"}

    def said(self, pattern, expected):
        got, expected = [n for n in self.trust["notes"] if re.search(pattern, n)], list(expected)
        if len(got) != len(expected) or not all(map(re.fullmatch, expected, got)):
            yield f"notes {got}, not {expected}"

    def image_lines(self):
        for (guest, _), of in zip(self.space.bases, self.images):
            if len(self.images) == 1:
                return
            on, off = (sum(of.addresses[key].values()) for key in (True, False))
            word = f"{guest.path}: {SAID[of.judge()]}"
            yield line(word, ", ", part(on, off),
                       f" % of {on + off} sample{'s' * (on + off != 1)}") if on + off else \
                line(word)

    def size_lines(self):
        """Pearson's test of the hottest region that can be tested."""
        size = self.options["region"]
        if not size or self.is_raw:
            return
        view = self.view()
        for region in view.ordered_regions():
            image, at = region.key
            if image is None:
                continue
            guest = self.space.bases[image][0]
            owned = collections.Counter(
                place for place in map(guest.place, range(at, at + size))
                if place.kind in ("function", "label"))
            seen = collections.Counter(
                place for s in region.samples for place in [self.credited(s)] if place.symbol)
            tested = pearson({place: (owned[place], seen[place]) for place in {*owned, *seen}})
            if tested:
                yield from self.size_lines_of(at, sum(seen.values()), len({*owned, *seen}), *tested)
                return

    def credited(self, s):
        image, addr, place = self.space.place(s.ip)
        if place.kind == "gap" and self.options["gaps"] == "stretch":
            return self.space.bases[image][0].before(addr)
        return place

    @staticmethod
    def size_lines_of(at, n, functions, x, df):
        p = chi_square(x, df)
        follows = p > LEVEL
        if follows:
            yield line(f"hot region {at:#x}: {n} samples do not tell which of its {functions} "
                       "functions is hot: believe the region, not the functions in it")
        told = "p < 0\\.0001" if p < .0001 else "p = (?:" + "|".join(
            re.escape(f"{q // 10000}.{q % 10000:04}") for q in {
                int(p * 10000 - 1e-6), int(p * 10000 + 1e-6)}) + ")"
        yield line(f"in the hot region {at:#x} the {n} samples of {functions} functions "
                   f"{'may just follow' if follows else 'do not just follow'} their sizes "
                   f"(chi-square ") + f"(?:{int(x - 1e-9)}|{int(x + 1e-9)})" + line(
            f", {df} degree{'s' * (df != 1)} of freedom, ") + told + line(")")


def pearson(of):
    """(chi-square, degrees of freedom) of {what: (bytes, samples)}, or None."""
    whole, n = (sum(pair[i] for pair in of.values()) for i in (0, 1))
    classes, rest = [], [0, 0]
    for size, samples in of.values() if whole else ():
        expected = n * size / whole
        if expected >= EXPECTED:
            classes.append((samples, expected))
        else:
            rest = [rest[0] + samples, rest[1] + expected]
    if rest[1] >= EXPECTED:
        classes.append(rest)
    if len(classes) < 2:
        return None
    return sum((k - e)**2 / e for k, e in classes), len(classes) - 1
