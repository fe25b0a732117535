#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reports for other programs against another reading of the same numbers.

    exports_model.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of report_model.py. What tools/export/export.h says of a callgrind
profile, its columns, functions, addresses, calls and totals, is computed from the lists these were
made from; and a profile for speedscope has to have the stacks that format=folded has, which
flame_model.py reads, with their unit and sum.
"""
import collections
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../verbs"))
from callgrind import Profile
from forged import CALLCHAIN, HOST
from listed import Listed
from modelled import CLOCKS, MAPPED, TRACEPOINT, VMM, Guest, is_guest, write_all
from modelled_view import Count, Selection
from odd_names import escaped, odd_names, readable
from programs import hlguest_of
from report_model import Made
from seeds import seeds
from speedscope import check_shape, folded_of
from tap import run

NAMES = ("vcpu80", "vcpu81", "last")  # of threads, too
CUT, UNKNOWN = "[truncated: copied stack ends]", "???"


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.rng = rng = random.Random(~seed)
        self.hlguest, self.folder, self.made = hlguest, folder, Made(
            seed, lambda rng, n: [*list(odd_names(rng, n))[:-1], rng.choice(NAMES)],
            rng.choice((Guest, Listed)))
        for guest in self.made.guests:
            guest.lines = None  # of source
        self.files = write_all(folder, self.made)
        self.select = Selection(rng, self.made.recordings if rng.random() < .3 else [])
        self.gaps = rng.choice(("retag", "drop", "stretch"))
        self.mode = rng.choice(("guest", "all"))
        self.weight = rng.choice((None, "samples", "period"))
        self.left = self.select.of(self.made.samples)
        self.guest = [s for s in self.left if is_guest(s)]
        self.kept = [s for s in self.guest if self.gaps != "drop" or
                     self.made.space.place(s.ip)[2].kind != "gap"]
        self.host = [s for s in self.left if not is_guest(s) and s.event != TRACEPOINT] \
            if self.mode == "all" else []
        self.stacked = self.made.recordings[0].has(CALLCHAIN)
        # What has anything to show.
        self.events = sorted({s.event for s in self.guest + self.host})
        self.by_samples = self.weight == "samples" or len(self.events) > 1

    def words(self):
        return [f"--gaps={self.gaps}", f"--mode={self.mode}", *self.select.words]

    def report(self, form, weight, *more, border="keep"):
        words = [f"--format={form}", f"--border={border}", *self.words(),
                 *[f"--weight={weight}"] * bool(weight), *more]
        return run(self.hlguest, "report", "-q", "--force", *words,
                   *self.made.space.words(), *self.files, cwd=self.folder)

    def check(self):
        out, err, status = self.report("callgrind", self.weight)
        if not self.guest:
            return
        if status not in (0, 3):
            yield f"status {status}: {err}"
            return
        self.profile = Profile(out)
        yield from self.same("columns", self.profile.head["events"], list(self.columns()))
        yield from self.functions()
        yield from self.calls()
        if self.stacked and self.mode == "guest":
            yield from self.without_exits()
        yield from self.speedscope()

    @staticmethod
    def same(what, got, expected):
        if got != expected:
            if isinstance(expected, dict):
                got, expected = ({k: a[k] for k in a if b.get(k) != a[k]}
                                 for a, b in ((got, expected), (expected, got)))
            yield f"{what}: {got}, not {expected}"[:600]

    def columns(self):
        for i, event in enumerate(self.events):
            behind = "" if len(self.events) < 2 else \
                "_" + re.sub("[^A-Za-z0-9]", "_", event) + f"_{i + 1}"
            yield from sorted(("Samples" + behind, "Period" + behind), reverse=self.by_samples)

    def costs(self, samples):
        found = []
        for event in self.events:
            count = Count(s for s in samples if s.event == event)
            found += [count.samples, count.period] if self.by_samples else \
                [count.period, count.samples]
        return found

    # Who there is: (image or None, name, where it begins)

    def place(self, ip):
        """The function, and the image's own address."""
        image, addr, place = self.made.space.place(ip)
        if place.kind == "gap" and self.gaps == "stretch":
            place = self.made.space.bases[image][0].before(addr)
        return (image, place.name, place.start or 0), addr

    def stack(self, s):
        """(function, address of its call) each, the outermost first."""
        frames = [self.place(s.ip)]
        frames += [self.place(at - 1) for at in (s.callers[0] if s.callers else ())]
        if s.callers and not s.callers[1]:
            frames.append(((None, CUT, 0), 0))
        frames.append(((None, self.made.recordings[s.file].comm(s.tid), 0), 0))
        return frames[::-1]

    def called(self, function):
        """What it is called in the file: with its address where another has its name."""
        if not hasattr(self, "names"):
            found = {f for s in self.kept for f, _ in (
                self.stack(s) if self.stacked else [self.place(s.ip)])}
            self.names = collections.Counter(readable(name) for _, name, _ in found)
        image, name, start = function
        name = readable(name)
        if self.names[name] < 2:
            return escaped(name)
        several = image is not None and len(self.made.space.bases) > 1
        path = self.object(function) + " " if several else ""
        return escaped(name) + f" [{path}{start:#x}]"

    def object(self, function):
        """The file; of one that is named twice with its base."""
        return UNKNOWN if function[0] is None else self.made.space.path(function[0])

    def functions(self):
        found = collections.defaultdict(list)
        for s in self.kept:
            function, addr = self.place(s.ip)
            found[(self.object(function), UNKNOWN, self.called(function)), addr].append(s)
        for s in self.host:
            dso = VMM if s.mode == HOST and MAPPED <= s.ip < MAPPED + 0x1000 else "[unknown]"
            comm = self.made.recordings[s.file].comm(s.tid)
            found[(dso, UNKNOWN, f"{comm} ({dso})"), 0].append(s)
        got = {(key, addr): costs for key, of in self.profile.functions.items()
               for addr, costs in of.items()}
        yield from self.same("functions", got, {k: self.costs(of) for k, of in found.items()})
        yield from self.same("totals", self.profile.totals, self.costs(self.kept + self.host))

    def calls(self):
        """A function is called once in each stack, where it is outermost."""
        found = collections.defaultdict(list)
        for s in self.kept if self.stacked else ():
            stack = self.stack(s)
            for i, ((caller, addr), (callee, _)) in enumerate(zip(stack, stack[1:])):
                if callee not in [f for f, _ in stack[:i + 1]]:
                    found[self.called(caller), self.called(callee), addr].append(s)
        yield from self.same("calls", self.profile.inclusive,
                             {key: self.costs(of) for key, of in found.items()})

    def without_exits(self):
        """What VM exits have is nowhere, nor in calls: each sample left is below a thread."""
        profile = Profile(self.report("callgrind", self.weight, border="drop")[0])
        threads = {one.comm(tid) for one in self.made.recordings for _, tid in one.threads}
        threads |= {f"{name} [0x0]" for name in threads}
        below = [costs for (caller, _, addr), costs in profile.inclusive.items()
                 if caller in threads and not addr]
        yield from self.same("below threads", [sum(column) for column in zip(*below)] if below else
                             [0] * len(profile.totals), profile.totals)

    def speedscope(self):
        out, err, status = self.report("speedscope", self.weight)
        if "not in this build" in err:
            return
        document = json.loads(out)
        yield from check_shape(document)
        profile = document["profiles"][0]
        folded = sorted(self.report(
            "folded", "samples" if self.by_samples else "period",
            *["--stacks=callgraph"] * self.stacked)[0].splitlines())
        yield from self.same("stacks", folded_of(document), folded)
        for stack in profile["samples"] if self.stacked else ():
            frames = [document["shared"]["frames"][i] for i in stack]
            groups = 2 if frames[0]["name"].startswith("event=") else 1  # and threads
            if any((f["file"] == "group") != (i < groups) for i, f in enumerate(frames)):
                yield f"stack {frames}"
                break
        is_time = not self.by_samples and all(event in CLOCKS for event in self.events)
        whole = sum(1 if self.by_samples else s.period for s in self.kept + self.host)
        yield from self.same("profile", (document["name"], profile["name"], profile["unit"],
                                         profile["endValue"]),
                             (", ".join(guest.path for guest, _ in self.made.space.bases),
                              "samples" if self.by_samples else "period",
                              "nanoseconds" if is_time else "none", whole))


def differences(build, folder, seed):
    judge = Judge(hlguest_of(build), folder, seed)
    for told in judge.check():
        yield f"{' '.join(judge.words())} {judge.weight}: {told}"


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
