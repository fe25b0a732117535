#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest report against another reading of the same numbers.

    report_model.py --build DIR [--seed N] [--seeds N]

Guests and recordings are made up here: one or several of each, of several events, processes,
threads and CPUs, with and without times, CPUs and periods; of guests and hosts, in functions,
labels, gaps, data and outside. What hlguest-report(1) and hlguest(7) say of their sums, rows,
shares, intervals, regions and files, whatever is selected, split and sorted, is computed from
the lists they were made from, and must be what the command writes, figure by figure.
"""
import collections
import csv
import io
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from forged import CPU, HOST, PERIOD, TIME
from modelled import (CLOCKS, EVENTS, MAPPED, TRACEPOINT, TRACEPOINTS, VMM, Guest, Recording,
                      Space, is_guest, names_of, near, write_all)
from modelled_view import Count, Inclusive, Selection, View
from programs import hlguest_of
from seeds import seeds
from shares import effective
from tap import run

KINDS = ("function", "label", "gap", "data", "outside")
BITS = ("event", "pid", "tid", "cpu", "sandbox")
PHASES = 160  # from so many samples on a guest may be found to work in phases
DENSE, NO_CLOCK = 20000, 10**6  # samples a second of a clock that are too many; that none takes


class Made:
    """Guests where they lie, and recordings of them."""

    def __init__(self, seed, names=names_of, kind=Guest):
        self.rng = rng = random.Random(seed)
        calls = rng.random() < .3
        n = 1 if calls else rng.choice((1, 1, 1, 2))
        self.guests = [kind(rng, names(rng, rng.randint(1, 12)), f"guest{i}.elf", calls)
                       for i in range(n)]
        self.space = Space([(guest, base) for i, guest in enumerate(self.guests) for base in
                            rng.sample([at + i * 0x8000 for at in (0x10000, 0x200000, 0x40008000)],
                                       1 if calls else rng.choice((1, 1, 2)))])
        events = rng.sample(sorted(EVENTS), rng.choice((1, 1, 2, 3)))
        if events == [TRACEPOINT]:
            events = ["cpu-clock"]
        self.lacks = lacks = rng.choice((0, 0, 0, TIME, CPU, PERIOD))
        hot = [self.space.some(rng) for _ in range(rng.randint(1, 6))]
        n = rng.choice((0, 3, 20, 60, 120, 500))
        self.recordings = [
            Recording(rng, i, events, lambda: rng.choice(hot) if rng.random() < .5 else
                      self.space.some(rng), n if i == 0 else rng.randint(0, 60),
                      rng.choice((lacks, lacks, 0)),
                      self.space.returns())
            for i in range(rng.choice((1, 1, 2, 3)))]
        self.samples = [s for one in self.recordings for s in one.samples]


class Judge:
    def __init__(self, hlguest, folder, made):
        self.made, self.hlguest, self.folder = made, hlguest, folder
        rng = self.rng = self.made.rng
        self.files = write_all(folder, self.made)
        self.select = Selection(rng, self.made.recordings)
        self.options = {
            "gaps": rng.choice(("retag", "retag", "drop", "stretch")),
            "region": rng.choice((0, 64, 1024, 4096)),
            "weight": rng.choice(("period", "period", "samples")),
            "mode": rng.choice(("guest", "all", "all", "host")),
            "by": rng.choice(("", "", "event", "tid", "pid,cpu", "event,tid", "cpu")),
            "top": rng.choice((0, 0, 0, 1, 3)), "regions": rng.choice((None, None, 0, 2)),
            "min": rng.choice((0, 0, 5)), "sort": rng.choice(("overhead", "size", "name",
                                                              "address", "self")),
        }
        self.tree = None
        self.aliases, self.counters = rng.random() < .5, rng.random() < .3
        self.counted()
        if any(s.callers for s in self.guest) and not self.counters:
            self.tree = rng.choice(("none", "caller", "callee"))

    def counted(self):
        self.left = self.select.of(self.made.samples)
        self.guest = [s for s in self.left if is_guest(s)]
        self.host = [s for s in self.left if not is_guest(s)]
        # Of those that have rows.
        self.several = len({s.event for s in self.guest if self.options["mode"] != "host"} | {
            s.event for s in self.host if self.options["mode"] != "guest" and
            s.event not in TRACEPOINTS}) > 1
        self.period = self.options["weight"] == "period" and not self.several
        by = set(filter(None, self.options["by"].split(",")))
        self.by = [bit for bit in BITS if bit in by or bit == "event" and self.several]

    def weight(self, s, of_all):
        """Periods of several events do not add up."""
        periods = self.period if of_all else self.options["weight"] == "period"
        return s.period if periods else 1

    def series(self, s):
        """What by= splits a sample to; and what that is called."""
        return ",".join(f"{bit}={value}" for bit, value in zip(self.by, self.rank(s)))

    def rank(self, s):
        values = [getattr(s, bit) for bit in self.by]
        return [-1 if value is None else value for value in values]

    def words(self):
        words = [f"--{key}={value}" for key, value in self.options.items()
                 if value not in (None, "")]
        if self.aliases:
            words.append("--aliases=yes")
        if self.counters:
            words.append("--stacks=counters")
        if self.tree:
            words += ["--children", f"--call-graph={self.tree}"]
        return [*words, *self.select.words]

    def run(self, form, *more):
        return run(self.hlguest, "report", "-q", "--force", "--border=keep", f"--format={form}",
                   *self.words(), *more, *self.made.space.words(), *self.files, cwd=self.folder)

    def views(self):
        """{series: its view}; None: of all."""
        if not self.by:
            return {None: self.view(self.guest, True)}
        groups = collections.defaultdict(list)
        for s in sorted(self.guest, key=self.rank):
            groups[self.series(s)].append(s)
        return {name: self.view(of, False) for name, of in groups.items()}

    def view(self, samples, of_all):
        return View(self.made.space, self.options, samples, lambda s: self.weight(s, of_all))

    def check(self):
        out, err, status = self.run("json")
        what = " ".join(self.words())
        if not self.shown():
            yield from self.nothing(what, err, status)
            return
        if "not in this build" in err:
            return
        if status not in (0, 3):
            yield f"{what}: status {status}: {err}"
            return
        for line in self.differences(json.loads(out)):
            yield f"{what}: {line}"

    def nothing(self, what, err, status):
        """Who says that nothing is left says what there would be: five of it, the lowest."""
        if status != 1:
            yield f"{what}: status {status} though nothing is left"
        if self.left or not self.made.samples:
            return
        if f"selects none of {len(self.made.samples)} samples" not in err:
            yield f"{what}: {err}, of {len(self.made.samples)} samples"
        by = re.fullmatch("--(pid|tid|cpu)=.*", self.select.words[0])
        ids = sorted({getattr(s, by[1]) for s in self.made.samples if is_guest(s)} -
                     {None}) if by else None
        said = ", ".join([*map(str, ids[:5]), *["..."] * (len(ids) > 5)]) if ids else ""
        if ids and len(self.select.words) == 1 and f"are of {by[1]} {said})" not in err:
            yield f"{what}: {err}, not {said}"

    def shown(self):
        """Is there anything?"""
        mode = "all" if self.counters else self.options["mode"]
        return bool(self.guest if mode == "guest" else self.host if mode == "host" else self.left)

    def differences(self, told):
        yield from self.rates(told)
        yield from self.images(told)
        yield from self.totals(told)
        yield from self.files_told(told)
        if self.options["mode"] != "host":
            yield from self.rows_told(told)
            yield from self.children(told)
        elif "functions" in told or "regions" in told:
            yield "functions, though only the host is asked for"
        if ("host" in told) != (self.options["mode"] != "guest"):
            yield f"host: {told.get('host')}"
        yield from self.same_hosts("JSON", [
            (f["name"], f["dso"], f["series"] or "", f["samples"], f["period"], f["percent"])
            for f in told.get("host", ())])
        yield from self.csv()
        if self.options["mode"] == "guest" and not self.tree:
            yield from self.text()

    def rates(self, told):
        """A clock that took very many samples is warned of, by what it took them of guests."""
        for event in EVENTS:
            count = Count(s for s in self.guest if s.event == event)
            rate = int(1e9 * count.samples / count.period + .5) if count.period else 0
            said = [note for note in told["notes"]
                    if note.startswith(f"{event}: sampled {rate} times a second")]
            if bool(said) != (event in CLOCKS and DENSE <= rate < NO_CLOCK):
                yield f"{rate} samples a second of {event}: {told['notes']}"

    def sums(self):
        """{name: samples}, as hlguest(7) has it: Accounting."""
        left = set(map(id, self.left))
        sums = {"seen": self.made.samples, "host": self.host, "guest": self.guest, "border": [],
                "tracepoint": [s for s in self.host if s.event in TRACEPOINTS],
                "deselected": [s for s in self.made.samples if id(s) not in left]}
        sums.update({kind: [] for kind in (*KINDS, "padding", "dropped")})
        for s in self.guest:
            image, addr, place = self.made.space.place(s.ip)
            sums[place.kind].append(s)
            if place.kind == "gap":
                if self.made.space.bases[image][0].is_filler(addr):
                    sums["padding"].append(s)
                if self.options["gaps"] == "drop":
                    sums["dropped"].append(s)
        return sums

    def states(self):
        names = {4: "guest kernel", 5: "guest user", 1: "host kernel", 2: "host user",
                 3: "hypervisor"}
        groups = collections.defaultdict(list)
        for s in self.left:
            groups[names.get(s.mode, "other")].append(s)
        return {name: Count(groups[name]) for name in (*names.values(), "other")}

    def images(self, told):
        """Rows name an image as the list of images does."""
        space = self.made.space
        names = {space.path(i): guest.path for i, (guest, _) in enumerate(space.bases)}
        got = {o["name"]: o["path"] for o in told["images"]}
        if got != names or any("@" in o["name"] and o["name"] != f"{o['path']}@{o['base']}"
                               for o in told["images"]):
            yield f"images: {got}, not {names}"

    def totals(self, told):
        totals = told["totals"]
        for name, samples in self.sums().items():
            if Count(samples) != totals[name]:
                yield f"{name}: {totals[name]}, not {Count(samples)}"
        if self.counters != ("states" in totals) or self.counters and \
                self.states() != totals["states"]:
            yield f"states: {totals.get('states')}, not {self.states()}"
        times = [s.time for s in self.made.samples if s.time is not None]
        span = {"first": min(times), "last": max(times)} if times else None
        if told.get("span") != span:
            yield f"span: {told.get('span')}, not {span}"
        events = [(name, Count(s for s in self.guest if s.event == name))
                  for name in sorted({s.event for s in self.made.samples})]
        if [e["name"] for e in told["events"]] != [name for name, _ in events] or any(
                count != e for (_, count), e in zip(events, told["events"])):
            yield f"events: {told['events']}, not {events}"
        if told["weight"] != ("period" if self.period else "samples"):
            yield f"weight: {told['weight']}"

    def files_told(self, told):
        if len(self.files) == 1:
            if "files" in told:
                yield f"files: {told['files']} of one recording"
            return
        for name, one, f in zip(self.files, self.made.recordings, told["files"]):
            mine = [s for s in self.left if s.file == one.number]
            expected = {"path": name, "problem": None, "samples": len(one.samples),
                        "guest": sum(map(is_guest, mine)), "lost": sum(one.losses)}
            if any(f[key] != value for key, value in expected.items()):
                yield f"files: {f}, not {expected}"

    def rows_told(self, told):
        view, series = self.view(self.guest, True), self.views() if self.by else {}
        independent = told["effective_samples"]
        if not near(independent["observations"], self.all_observations(), 0):
            yield f"observations: {independent}, not {self.all_observations()}"
        exact = independent["observations"] == independent["independent"]
        if not exact and len(self.guest) < PHASES:
            yield f"observations: {independent}, of too few samples for phases"
        for what, others in (("functions", False), ("other", True)):
            yield from self.same_rows(what, [
                (f["name"], f["symbol"], f["kind"], f["image"], f["addr"], f["size"],
                 f["samples"], f["period"], f["aliases"], f["unsure"], f["percent"], f["low"],
                 f["high"]) for f in told[what]], view.table(self.options, True, others), exact)
            yield from self.same_series(what, told[what], view.told(self.options, others), {
                name: (of, of.rows) for name, of in series.items()})
        yield from self.same_rows("regions", [
            (tuple(f["symbols"]), f["image"], f["addr"], f["size"], f["samples"], f["period"],
             f["percent"], f["low"], f["high"]) for f in told["regions"]],
            view.region_table(self.options), exact)
        yield from self.same_series("regions", told["regions"], view.regions_told(self.options), {
            name: (of, {key: row for key, (row, _) in of.regions.items()})
            for name, of in series.items()})

    @staticmethod
    def same_series(what, got, expected, series):
        """What each row has of each series, of whose views these are the rows."""
        for f, row in zip(got, expected):
            mine = {name: (rows[row.key].count(), of.share(rows[row.key]))
                    for name, (of, rows) in series.items() if row.key in rows}
            if set(mine) != set(f["series"]) or any(
                    count != f["series"][name] or not near(f["series"][name]["percent"],
                                                           100 * share, 2)
                    for name, (count, share) in mine.items()):
                yield f"series of {what}: {f['series']}, not {mine}"

    def children(self, told):
        if ("children" in told) != bool(self.tree):
            yield f"children: {told.get('children')}"
        if not self.tree:
            return
        view = self.inclusive(self.guest, True)
        exact = told["effective_samples"]["observations"] == \
            told["effective_samples"]["independent"]
        yield from self.same_rows("children", [
            (f["name"], f["symbol"], f["kind"], f["image"], f["addr"], f["size"], f["samples"],
             f["period"], f["percent"], f["low"], f["high"]) for f in told["children"]],
            view.inclusive_table(self.options), exact)
        series = {name: self.inclusive(of.samples, False) for name, of in
                  (self.views() if self.by else {}).items()}
        yield from self.same_series("children", told["children"], view.told(self.options), {
            name: (of, of.rows) for name, of in series.items()})
        for f, row in zip(told["children"], view.told(self.options)):
            itself = Count(view.itself[row.key])
            if itself != f["self"] or not near(f["self"]["percent"], 100 * view.self_share(row), 2):
                yield f"self of {f['name']}: {f['self']}, not {itself}, {view.self_share(row)}"
            if self.tree != "none":
                yield from self.tree_told(f, row, view)

    def inclusive(self, samples, of_all):
        return Inclusive(self.made.space, self.options, samples, lambda s: self.weight(s, of_all))

    def tree_told(self, f, row, view):
        callers = self.tree == "callee"
        paths, got = [], {}
        for node in f["caller_tree" if callers else "callee_tree"]:
            above = () if node["parent"] is None else paths[node["parent"]]
            paths.append((*above, node["name"]))
            got[paths[-1]] = node["samples"], node["period"], node["percent"]
        expected = {path: (len(of), Count(of).period) for path, of in
                    view.tree(row, callers).items()}
        if {path: node[:2] for path, node in got.items()} != expected or len(paths) != len(got):
            yield f"tree of {f['name']}: {got}, not {expected}"

    def all_observations(self):
        return effective([self.weight(s, True) for s in self.guest])

    def same_rows(self, what, got, expected, exact):
        """The last three are a share and its limits; not exact: these may be wider, and whether
        it is sure which row is the first may go by that."""
        def known(row):
            return [cell for cell in row[:-3] if exact or not isinstance(cell, bool)]
        if list(map(known, got)) != list(map(known, expected)):
            different = [pair for pair in zip(got, expected) if known(pair[0]) != known(pair[1])]
            yield f"{what}: {len(got)} rows, not {len(expected)}; {different[:1]}"
            return
        for row, mine in zip(got, expected):
            share, low, high = mine[-3:]
            if not near(row[-3], 100 * share, 2):
                yield f"{what}: {row}, not {mine}"
            elif exact and not (near(row[-2], 100 * low, 2) and near(row[-1], 100 * high, 2)):
                yield f"{what}: {row}, not {mine}"
            elif not exact and not (float(row[-2]) <= 100 * low + .01 and
                                    float(row[-1]) >= 100 * high - .01):
                yield f"{what}: {row}, not around {mine}"

    def hosts(self):
        """Rows of the host: a process, what is mapped at the address, the series."""
        rows = collections.defaultdict(list)
        for s in self.host if self.options["mode"] != "guest" else ():
            if s.event not in TRACEPOINTS:
                mapped = s.mode == HOST and MAPPED <= s.ip < MAPPED + 0x1000
                one = self.made.recordings[s.file]
                rows[one.comm(s.tid), VMM if mapped else "[unknown]",
                     self.series(s) if self.by else None].append(s)
        whole = sum(self.weight(s, True) for of in rows.values() for s in of)
        expected = [(*key, Count(of), sum(self.weight(s, True) for s in of) / whole)
                    for key, of in rows.items()]
        expected.sort(key=lambda row: (-row[-1], *row[:2], self.rank(rows[row[:3]][0])))
        return expected[:self.options["top"] or None]

    def same_hosts(self, what, got):
        expected = self.hosts()
        if len(got) != len(expected):
            yield f"{what}: {len(got)} rows of hosts, not {len(expected)}"
        if sorted(row[:5] for row in got) != sorted(
                (*row[:2], row[2] or "", row[3].samples, row[3].period) for row in expected):
            yield f"{what}: hosts {got}, not {expected}"
        for row, mine in zip(got, expected):
            if not near(row[5], 100 * mine[-1], 2):
                yield f"{what}: hosts {row}, not {mine}"

    def csv(self):
        out, err, status = self.run("csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        yield from self.csv_sums(rows)
        shown = self.views() if self.options["mode"] != "host" else {}
        several = {row["series"] for row in rows if row["record"] in ("function", "other")}
        if several - {name or "" for name in shown}:
            yield f"CSV: series {several}, not {list(shown)}"
        for name, view in shown.items():
            yield from self.csv_view(f"CSV {name}", view, name is None,
                                     [row for row in rows if row["series"] == (name or "")])
        yield from self.same_hosts("CSV", [
            (f["name"], f["image"], f["series"], int(f["samples"]), int(f["period"]),
             f["percent"]) for f in rows if f["record"] == "host"])

    def csv_view(self, what, view, of_all, rows):
        """Rows, regions, and functions with what they call, of one series."""
        exact = len(view.kept) < PHASES
        yield from self.same_rows(what, [
            (*names_in_csv(f), f["aliases"].split(),
             f["unsure"] == "1", f["percent"], f["low"], f["high"])
            for f in rows if f["record"] in ("function", "other")],
            view.table(self.options, self.aliases), exact)
        yield from self.same_rows(what, [
            (f["name"], f["image"] or None, f["addr"], int(f["size"]), int(f["samples"]),
             int(f["period"]), f["percent"], f["low"], f["high"])
            for f in rows if f["record"] == "region"],
            [(row[0][0], *row[1:]) for row in view.region_table(self.options)], exact)
        children = [(*names_in_csv(f), f["percent"], f["low"], f["high"])
                    for f in rows if f["record"] == "children"]
        expected = self.inclusive(view.samples, of_all).inclusive_table(self.options) \
            if self.tree else []
        yield from self.same_rows(f"{what} children", children, expected, exact)
        yield from self.csv_self(what, view, of_all, rows)

    def csv_self(self, what, view, of_all, rows):
        """What functions have themselves; only those with what they call have it."""
        for f in rows:
            if (f["record"] == "children") != bool(f.get("self_samples")):
                yield f"{what}: self of {f}"
        if self.tree:
            view = self.inclusive(view.samples, of_all)
            got = [f for f in rows if f["record"] == "children"]
            for f, row in zip(got, view.told(self.options)):
                own = Count(view.itself[row.key])
                if (int(f["self_samples"]), int(f["self_period"])) != \
                        (own.samples, own.period) or \
                        not near(float(f["self_percent"]), 100 * view.self_share(row), 2):
                    yield f"{what}: self of {f}, not {own}, {view.self_share(row)}"

    def csv_sums(self, rows):
        got = [(f["name"], int(f["samples"]), int(f["period"])) for f in rows
               if f["record"] == "total"]
        expected = {name: Count(of) for name, of in self.sums().items()}
        expected.update(self.states() if self.counters else {})
        if sorted(got) != sorted((name, of.samples, of.period) for name, of in expected.items()):
            yield f"CSV: sums {got}, not {expected}"

    def text(self):
        """Shares, periods and samples of the rows, in their order."""
        out, err, status = self.run("text", "--raw=yes", "--wide=yes", "--color=never")
        got = re.findall(r"^ *([\d.]+) % .*?(\d+) +(\d+) +(?:\d+|-)"
                         r"  (\S+(?: after \S+| before \S+| in \.text| \.rodata)?).*$", out, re.M)
        expected = [row for view in self.views().values()
                    for row in view.table(self.options, False)]
        if [(name, int(period), int(samples)) for _, period, samples, name in got] != [
                (row[0], row[7], row[6]) for row in expected] or not all(
                near(share[0], 100 * row[-3], 2) for share, row in zip(got, expected)):
            yield f"text: {got}, not {expected}"


def names_in_csv(f):
    return (f["name"], f["symbol"] or None, f["kind"], f["image"] or None, f["addr"] or None,
            int(f["size"]) if f["size"] else None, int(f["samples"]), int(f["period"]))


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, Made(seed)).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 120, differences))
