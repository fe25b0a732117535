#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest top's figures against another reading of the same samples.

    top_model.py --build DIR [--seed N] [--seeds N]

live.py makes up a recording that goes on, whose bytes come little by little, with slices of time
of any length, pauses and zeroes in between. What hlguest-top(1) says of sums, rows, shares and
their order, in the last slices and since the start, is computed from what came, and must be in
each line of JSON; so must what the samples are, of which a report was made by then. And of the
whole of it the command itself, with a perf that writes it, prints one table and the report.
"""
import json
import os
import sys
import types

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from live import Live, events_of, name_of
from modelled import Sample, is_guest, names_of, near
from modelled_view import Count
from seeds import seeds
from tap import environment, run

PLAIN = ("ns", "lost", "traced", "exits", "vmm_exits")


class Figures(Live):
    def go(self):
        rng = self.rng
        self.ask_json()
        for _ in self.steps(rng.randint(1, 12)):
            if rng.random() < .7:
                self.ask_json()
            for key in " ", "z":
                if rng.random() < .1:
                    self.press(key)
                    self.ask_json()

    def press(self, key):
        self.want(f"key {ord(key)}", lambda text: text)
        if key == "z":
            self.zero()
        else:
            self.paused = not self.paused

    def ask_json(self):
        shown, exact = self.shown, self.is_exact()
        report, events = self.report() if shown.judged else None, self.events()
        self.want("json", lambda text: next(self.wrong(json.loads(text), shown, exact, report,
                                                       events), None))

    def events(self):
        """What is sampled by, as soon as that is known: what samples are of, the first first."""
        return events_of(self.parts)

    def wrong(self, told, shown, exact, report, events):
        if told["format"] != 1 or "seen" not in told["start"]:
            yield f"{told}"
        if told["events"] != events or told["event"] != (events[0] if events else None):
            yield f"event {told['event']}, {told['events']}, not {events}"
        yield from self.sums("start", told["start"], shown.since, shown.took)
        if ("recent" in told) != (shown.rows is not None):
            yield f"recent: {told.get('recent')}"
        if shown.rows is None:
            yield from map(str, told["rows"])
            return
        yield from self.sums("recent", told["recent"], shown.recent, shown.ns)
        if told["verdict"] != report["verdict"] or told["suppressed"] == report["named"]:
            yield f"{told['verdict']}, suppressed {told['suppressed']}, not {report}"
        yield from self.rows_told(told["rows"], shown.rows, exact)

    def sums(self, what, told, sums, ns):
        expected = {"seen": sums.seen, "guest": sums.guest, "host": sums.host, "deselected": []}
        for name, of in expected.items():
            if Count(of) != told[name]:
                yield f"{what}: {name} {told[name]}, not {Count(of)}"
        for name in PLAIN:
            mine = ns if name == "ns" else getattr(sums, name)
            if told[name] != mine:
                yield f"{what}: {name} {told[name]}, not {mine}"

    def rows_told(self, told, rows, exact):
        if len(told) != len(rows):
            yield f"{len(told)} rows, not {len(rows)}"
        for got, (key, since, recent) in zip(told, rows):
            is_border, image, place = key
            mine = (name_of(key), "vm exit" if is_border else place.kind, self.space.path(image))
            if (got["name"], got["kind"], got["file"]) != mine or \
                    place.start is not None and got["address"] != f"{place.start:#x}":
                yield f"{got}, not {mine}, {place}"
            for which, of in ("since", since), ("recent", recent):
                if wrong := self.figures(got[which], of, exact):
                    yield f"{which} of {mine}: {got[which]}, not {wrong}"

    # All of it, as the command has it of a perf that writes and ends.

    def check_end(self):
        with open(os.path.join(self.folder, "perf"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\ncase \"$*\" in *--dry-run*) exit 1;; esac\nexec cat stream\n")
        os.chmod(os.path.join(self.folder, "perf"), 0o755)
        out, err, status = self.top("--once", "--format=json")
        if not any(map(is_guest, (p for p in self.parts if isinstance(p, Sample)))):
            if status != 1 or out.count("\n") != ("not in this build" not in err):
                yield f"no sample: status {status}: {err}{out}"
            return
        self.since, self.zeroed, self.zeroed_at, self.closed = [], self.now, 0, self.now
        self.slices.clear()
        self.paused = False
        self.judged = None
        self.refresh(1)
        told = json.loads(out)
        for which in "start", "recent":
            told[which]["ns"] = self.shown.ns
        yield from self.wrong(told, self.shown, self.is_exact(), self.report(), self.events())
        bad = ("mismatch",) if "--force=yes" in self.words else ("mismatch", "mixed")
        if status != (3 if told["verdict"] in bad else 0):
            yield f"status {status} of {told['verdict']}"
        yield from self.check_report()

    def check_report(self):
        """What follows the last table is what report says of it in a file."""
        out, err, status = self.top("--stdio")
        argv = [word for word in self.argv("report") if word != "--stacks=callgraph"]
        expected, _, mine = self.ask(self.whole, *argv)
        expected = expected.replace("--sandboxes -- COMMAND", "--sandboxes -p 1")  # as it was asked
        if status != mine or not out.endswith(expected.partition("\ncheck")[2]):
            yield f"status {status}, not {mine}: {err}{out}, not {expected}"

    def top(self, *words):
        return run(self.hlguest, "top", "--every=0.1s", "--window=60s", *self.words,
                   *words, *self.space.words(), "-p", "1", cwd=self.folder, env=environment(
                       LC_ALL="C.UTF-8", PATH=f"{self.folder}:/usr/bin:/bin"))

    @staticmethod
    def figures(got, of, exact):
        if Count(of[0] if of else ()) != got:
            return Count(of[0] if of else ())
        if of is None:
            return f"{of}" if "percent" in got else None
        share, low, high, _ = (100 * n for n in of[1:])
        fits = near(got["low"], low, 2) and near(got["high"], high, 2) if exact else \
            got["low"] <= low + .01 and got["high"] >= high - .01
        return None if near(got["percent"], share, 2) and fits else f"{share}, {low} to {high}"


def differences(build, folder, seed):
    live = Figures(build, folder, seed, names_of)
    live.go()
    yield from live.play()
    yield from live.check_end()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 30, differences, but=r'"ns":\d+'))
