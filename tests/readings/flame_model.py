#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest flame's picture against the stacks that it is of.

    flame_model.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of report_model.py. Folded stacks, which other tests compute, are
taken as given, by samples and by period; and what hlguest-flame(1) says of the picture is computed
from them: each frame's place, width, height, colour, label and words, its order, what is too
narrow, the legend, the head and the notes; and with --before= what changed, and how surely.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../verbs"))
from flame_drawn import Drawing
from forged import HOST
from modelled import KERNEL, MAPPED, TRACEPOINT, Recording, is_guest, write_all
from modelled_view import Selection
from programs import hlguest_of
from report_model import PHASES, Made
from seeds import seeds
from shares import effective
from tap import run


class Stacks:
    """What folded stacks say of each frame: its samples and its weight, in their order."""

    def __init__(self, ask, weight, order):
        self.samples, self.weight = (self.read(ask(by)) for by in ("samples", weight))
        self.order = self.read(ask(order)) if order != weight else self.weight
        self.total = self.weight["all",]

    @staticmethod
    def read(folded):
        sums = collections.Counter()
        for line in folded.splitlines():
            stack, _, n = line.rpartition(" ")
            path = ("all", *stack.split(";"))
            for i in range(len(path)):
                sums[path[:i + 1]] += int(n)
        return sums

    def children(self):
        below = collections.defaultdict(list)
        for path in self.order:
            below[path[:-1]].append(path)
        return below

    def walk(self):
        """(path, where it begins), each behind its parent, beside its elder."""
        below, todo = self.children(), [(("all",), 0)]
        while todo:
            path, at = todo.pop()
            yield path, at
            ends = []
            for child in below[path]:
                ends.append((child, at))
                at += self.weight[child]
            todo += reversed(ends)


class Side:
    """Some of the recordings, with what is selected of them."""

    def __init__(self, judge, files):
        self.judge, self.files = judge, files
        numbers = [int(name.split(".")[0]) for name in files]
        self.seen = [s for s in judge.made.samples if s.file in numbers]
        self.left = judge.select.of(self.seen)
        self.guest = [s for s in self.left if is_guest(s)]
        self.kept = [s for s in self.guest if judge.options["gaps"] != "drop" or
                     judge.made.space.place(s.ip)[2].kind != "gap"]
        mode = judge.options["mode"]
        hosts = [s for s in self.left
                 if not is_guest(s) and (judge.whole or s.event != TRACEPOINT)]
        self.drawn = [*(self.kept if mode != "host" else ()), *(hosts if mode != "guest" else ())]
        self.events = {s.event for s in (*(self.guest if mode != "host" else ()),
                                         *(hosts if mode != "guest" else ()))}
        self.shown = len(self.guest) if mode == "guest" else \
            len(self.left) - len(self.guest) if mode == "host" else len(self.left)

    def stacks(self, weight):
        return Stacks(lambda by: self.judge.flame(
            self.files, f"--weight={by}", "--format=folded")[0], weight, self.judge.weight)

    def modes(self, comm):
        """Of the host's samples of a thread whose place is not known."""
        return {s.mode for s in self.drawn if f"vcpu{s.tid}" == comm and not is_guest(s) and not (
            s.mode == HOST and MAPPED <= s.ip < MAPPED + 0x1000)}

    def observations(self, stacks, weight):
        """Of the host's periods only the sum is known: they vary as the guest's do."""
        samples = stacks.samples["all",]
        if weight == "samples" or not self.kept:
            return samples
        return samples * effective([s.period for s in self.guest]) / len(self.guest)


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.made, self.hlguest, self.folder = Made(seed), hlguest, folder
        rng = self.rng = self.made.rng
        if len(self.made.recordings) == 1 and rng.random() < .7:
            self.made.recordings.append(None)
        if len(self.made.recordings) > 1:
            self.another()
        self.whole = bool(self.made.recordings[0].returns)  # stacks, as is each recording's
        if self.whole:
            self.part()
        self.files = write_all(folder, self.made)
        self.select = Selection(rng, self.made.recordings)
        if rng.random() < .5:
            self.select.words, self.select.keeps = [], []
        self.options = {"gaps": rng.choice(("retag", "retag", "drop", "stretch")),
                        "mode": rng.choice(("guest", "all", "all", "host")),
                        "by": rng.choice(("", "", "event", "tid", "pid,cpu"))}
        self.weight = rng.choice(("period", "samples", "period"))
        self.least = rng.choice((None, 0, 1, 5, 20))
        self.inverted = rng.random() < .4
        self.title = rng.choice((None, "a <b> & c", "x" * 90))

    def another(self):
        """One that differs from the first so much that it is no chance."""
        made, rng = self.made, self.rng
        first = made.recordings[0]
        hot = [s.ip for s in rng.sample(first.samples, min(len(first.samples), 8)) if is_guest(s)]
        weights, many = [rng.random()**3 for _ in hot], rng.choice((0, 0, 1, 8, 30))
        for number in (0, len(made.recordings) - 1) if many else (len(made.recordings) - 1,):
            one = made.recordings[number] = Recording(
                rng, number, rng.choice((first.events, first.events[:1])),
                lambda: rng.choices(hot, weights)[0] if hot else
                made.space.some(rng), 600 if many else rng.choice((40, 90, 180)), made.lacks,
                made.space.returns())
            if many:  # of the host; guests may be found to work in phases
                guests = [s for s in one.samples if is_guest(s)][:PHASES // 3]
                odd, kept = one.threads[0][1], rng.choice((.2, .7, .9, 1))
                one.samples = guests + [s for s in one.samples for _ in range(many)
                                        if not is_guest(s) and (
                                            s.tid != odd or rng.random() < kept)]
        alone = rng.choice((None, made.recordings[:1], made.recordings[1:]))
        for one in alone or ():  # what the host did is not there
            one.samples = [s for s in one.samples if is_guest(s)]
        made.samples = [s for one in made.recordings for s in one.samples]

    def part(self):
        """Frames of one name and another kind are one in folded stacks: what the host does of a
        thread is of one kind. And whether a tracepoint's hits are time is another question."""
        for one in self.made.recordings:
            one.samples = [s for s in one.samples if is_guest(s) or s.event != TRACEPOINT and
                           s.mode == (KERNEL if s.tid % 2 else HOST)]
        self.made.samples = [s for one in self.made.recordings for s in one.samples]

    def flame(self, files, *words, verb="flame"):
        """(standard output, standard error, status)"""
        options = [f"--{key}={value}" for key, value in self.options.items() if value]
        return run(self.hlguest, verb, "--force", "--border=keep", *options,
                   *self.select.words, *words, *self.made.space.words(), *files, cwd=self.folder)

    def told(self, files):
        """What a report says of these: its banner, warnings and notes, as text has them."""
        words = ["--wide=yes", "--color=never", f"--weight={self.weight}"]
        text, _, _ = self.flame(files, *words, *["--stacks=callgraph"] * self.whole, verb="report")
        told = re.findall("^(!!|warning:|note:) +(.*)$", text, re.M)
        return [(level, line) for level, line in told if not line.startswith(
            "recordings that may have samples of an image")]  # of its list of recordings

    def picture(self, files, weight, *more):
        words = [f"--weight={weight}", *more]
        if self.least is not None:
            words.append(f"--min={self.least}")
        if self.inverted:
            words.append("--inverted")
        if self.title:
            words.append(f"--title={self.title}")
        return self.flame(files, *words)

    def check(self):
        several = len(self.files) > 1
        yield from self.judged(Side(self, self.files), None)
        sides = Side(self, self.files[:1]), Side(self, self.files[1:])
        if several and all(len(side.guest) < PHASES for side in sides):
            yield from self.judged(*sides)

    def judged(self, after, before):
        sides = [side for side in (after, before) if side]
        if not all(side.shown for side in sides):
            return
        weight = self.weight
        more = [f"--before={name}" for name in (before.files if before else ())]
        out, err, status = self.picture(after.files, weight, *more)
        what = " ".join([*map(str, self.options.values()), *self.select.words, weight, *more])
        if status not in (0, 3):
            yield f"{what}: status {status}: {err}"
            return
        if any(len(side.events) > 1 for side in sides):
            weight = "samples"
        drawing = Drawing(self, out, after, before, weight)
        for line in drawing.check():
            yield f"{what}: {line}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 45, differences))
