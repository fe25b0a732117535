#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest exits against another reading of the same events.

    exits_model.py --build DIR [--seed N] [--seeds N]

made_exits.py makes recordings of KVM's tracepoints up: threads that run one sandbox after the
other, guests of several versions of Hyperlight or of none, kernels that lack fields or events;
records that are missing, lost, cut short, too late or out of place. What the manual page and the
headers of tools/exits/ say of their pairs, calls, times, shares and percentiles is computed from
the list they were made from, and must be what the command writes, figure by figure.
"""
import collections
import copy
import csv
import io
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import known_exits as exits
from exits_reading import BAD, LATE, LONE, LOST, Reading
from made_exits import ABORT, EINTR, ISAS, MMIO, START, Choice, Guest, Made, reason_name, write_all
from programs import hlguest_of
from seeds import seeds
from tap import Skip, run

# What shares are of.
WHOLES = {"call": "all time", "exit": "exit time", "vmm": "VMM time"}
CALLS = ("guest call", "host call", "abort (panic or fault)", "interrupted (EINTR)",
         "between guest calls")


def counted(ns):
    """The middle of its bucket, of 64 of each power of two."""
    width = 1 << max(ns.bit_length() - 7, 0)
    return ns // width * width + width // 2


def near(got, value):
    """Is it the number, rounded? None, and "", are no numbers."""
    return bool(got) and isinstance(value, float) and abs(float(got) - value) < .0050001


class Expected:
    """What the report has of readings."""

    def __init__(self, guest, choice, readings):
        self.guest, self.choice = guest, choice
        self.kind = "exit" if any(r.crossed for r in readings) else "vmm"
        self.pairs = [pair for r in readings for pair in r.pairs]
        self.chosen = [pair for pair in self.pairs if choice.has(pair)]
        self.counts = {kind: sum(pair.kind == kind for pair in self.pairs)
                       for kind in ("exit", "vmm", "between")}
        self.ns = {kind: sum(pair.ns for pair in self.pairs if pair.kind == kind)
                   for kind in self.counts}
        self.lone = sum((r.lone for r in readings), collections.Counter())
        self.stories = [story for r in readings for story in r.stories]
        self.time = self.parts(sum((s.time for s in self.stories), collections.Counter()))
        self.whole = {}  # tables with all rows
        self.tables = {(kind, "reason"): self.table(kind, "reason", self.of(kind))
                       for kind in ("exit", "vmm")}
        self.tables |= {(self.kind, by): self.table(self.kind, by, self.of(self.kind))
                        for by in ("function", "port", "vcpu")}
        self.tables[self.kind, "call"] = self.table(
            self.kind, "call", [p for p in self.chosen if self.call(p)])

    def of(self, kind):
        return [pair for pair in self.chosen if pair.kind == kind]

    def parts(self, time):
        if self.kind == "vmm":
            return {"guest_or_kernel_ns": time["guest or kernel"], "vmm_ns": time["visit"]}
        return {"guest_ns": time["guest"], "kernel_ns": time["outside"] - time["inner"],
                "vmm_ns": time["inner"]}

    def call(self, pair):
        """Its row's number in the table of calls, from 1 on."""
        if not self.guest.host_call:
            return 0
        if pair.kind == "call":
            return int(pair.rip is None or pair.rip != self.guest.at(START))
        if pair.kind == "between":
            return 5
        if pair.reason == EINTR:
            return 4
        return {self.guest.host_call: 2, ABORT: 3}.get(pair.port, 0) * (pair.kind == self.kind)

    def key(self, by, pair):
        return {"reason": pair.reason, "function": self.guest.function(pair.rip),
                "port": pair.port, "call": self.call(pair),
                "vcpu": (pair.story.pid, pair.story.number, pair.story.tid)}[by], \
            pair.story.tid if self.choice.by_tid else None

    def table(self, kind, by, pairs):
        groups = collections.defaultdict(list)
        for pair in pairs:
            groups[self.key(by, pair)].append(pair)
        rows = [self.row(kind, by, *key, of) for key, of in groups.items()]
        rows.sort(key=lambda row: (by == "call" and CALLS.index(row["name"]), -row["total_ns"],
                                   -row["count"], row["name"].encode(), row.get("reason", 0),
                                   row.get("isa", ""), row.get("tid", -1),
                                   row.get("vcpu", -1)))
        self.whole[kind, by] = rows
        return rows[:self.choice.top or None] if by != "call" or self.choice.by_tid else rows

    def row(self, kind, by, key, tid, pairs):
        values, first = sorted(pair.ns for pair in pairs), pairs[0]
        total, row = sum(values), {"tid": tid}
        if by == "vcpu":
            row = {"name": f"{key[0]}/{key[2]}", "pid": key[0], "tid": key[2], "vcpu": key[1]}
            row |= self.parts(sum((s.time for s in {
                p.story for p in pairs}), collections.Counter()))
        elif by == "reason":
            row |= {"name": reason_name(key), "isa": ISAS[key[0]], "reason": key[1]}
        elif by == "port":
            what = "mmio" if key and key & MMIO else "port"
            row |= {"name": self.guest.port_name(key),
                    what: hex(key & ~MMIO) if what == "mmio" else key}
        else:
            row["name"] = key if by == "function" else CALLS[key - 1]
        row["percent"] = self.percent(total, sum(self.time.values()) if by == "call"
                                      else self.ns[kind])
        if first.kind == "between":
            row["percent"] = None
        row |= {"count": len(values), "total_ns": total, "min_ns": values[0],
                "mean_ns": total // len(values), "max_ns": values[-1]}
        for percent in (50, 90, 99):
            value = exits.rank(values, percent)
            value = value if self.choice.exact else counted(value)
            row[f"p{percent}_ns"] = min(max(value, values[0]), values[-1])
        row["kind"] = first.kind if by == "call" else kind
        return {name: value for name, value in row.items() if value is not None}

    @staticmethod
    def percent(total, whole):
        return 100 * total / whole if whole else 0.0

    def picked(self, kind):
        """What --port and --reason leave of a kind of pairs, beside all of them."""
        of = self.of(kind)
        total = sum(pair.ns for pair in of)
        return {"count": len(of), "percent": self.percent(total, self.ns[kind]),
                "total_ns": total}

    def rips(self):
        return {pair.rip for pair in self.pairs if pair.rip is not None and pair.kind != "call"}

    def on_starts(self):
        """Each byte of a function is an instruction."""
        return sum(self.guest.function(rip)[0] not in "[_" for rip in self.rips())

    def is_outside(self):
        """Are most addresses in no ELF?"""
        rips = self.rips()
        return 2 * sum(self.guest.function(rip) == "[outside]" for rip in rips) > len(rips)

    def histogram(self):
        octaves = collections.Counter(max(pair.ns.bit_length() - 1, 0)
                                      for pair in self.of(self.kind))
        return [{"from_ns": 1 << i if i else 0, "count": octaves[i]} for i in sorted(octaves)]


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.rng = rng = random.Random(seed)
        self.hlguest, self.guest = hlguest, Guest(rng)
        self.files = [Made(rng, self.guest) for _ in range(rng.choice((1, 2)))]
        self.elf, self.paths = write_all(folder, self.guest, self.files)

    def ask(self, choice, *words):
        """None if nothing is selected."""
        out, err, status = run(self.hlguest, "exits", "-q", "--force", *words, *choice.words,
                               f"{self.elf}@{self.guest.base:#x}", *self.paths)
        if status not in (0, 1, 3) or status == 1 and "selects no exit" not in err:
            if "not in this build" in err:
                raise Skip(err.strip())
            raise RuntimeError(f"{choice.words}: status {status}: {err}")
        return None if status == 1 else out

    def judge(self):
        for _ in range(2):
            choice = Choice(self.rng, self.files)
            readings = [Reading(made, choice.keeps, choice.time(made.first))
                        for made in self.files]
            for line in (*self.compare(choice, Expected(self.guest, choice, readings)),
                         *self.add_up(choice, readings), *self.split_up(choice)):
                yield f"{' '.join(choice.words)}: {line}"

    def add_up(self, choice, readings):
        """What some sandboxes have, and the others (0: what is of none that is known), is all. Of
        none is what begins before its thread's first KVM_RUN."""
        if choice.port or choice.reason or not self.knows_sandboxes():
            return
        last = self.rng.choice((0, 1, 1, 2))
        whole, *parts = (self.ask(choice, "--format=json", *words) for words in (
            [], [f"--sandbox=0-{last}"], [f"--sandbox={last + 1}-9999"]))
        whole, *parts = (json.loads(told) if told else None for told in (whole, *parts))
        # Who has time, and no pair, is not told of.
        for what in ("pairs", "time") if all(parts) else ("pairs",) if whole else ():
            sums = {name: sum(part[what][name] for part in parts if part) for name in whole[what]}
            if whole[what] != sums:
                yield f"{what} of sandboxes up to {last} and behind: {sums}, not {whole[what]}"
        if last == 0 and not any(r.lone[LATE] or r.lone[BAD] for r in readings):
            early = sum(r.is_early(pair) for r in readings for pair in r.pairs
                        if pair.kind in ("exit", "vmm"))
            told = sum(parts[0]["pairs"][kind] for kind in ("exit", "vmm")) if parts[0] else 0
            if told != early:
                yield f"{told} pairs of no sandbox, not {early}"

    def split_up(self, choice):
        """Rows by sandbox are those that each has where it alone is selected, but for the whole
        that their shares are of; 0 is what is of none that is known."""
        if not self.knows_sandboxes():
            return
        choice = copy.copy(choice)
        choice.words = [word for word in choice.words if word[:5] not in ("--by=", "--top")]
        tid = ["--by=tid"] if choice.by_tid else []
        told = self.ask(choice, "--format=json", "--by=sandbox" + ",tid" * choice.by_tid)
        whole = self.by_sandbox(told)
        for n in range(max((key[2] for key in whole), default=0) + 2):
            part = self.by_sandbox(self.ask(choice, "--format=json", f"--sandbox={n}", *tid), n)
            if part != {key: rows for key, rows in whole.items() if key[2] == n}:
                yield f"sandbox {n}: {whole}, not {part}"

    def knows_sandboxes(self):
        return all(any(r.is_run() for r in made.records) for made in self.files)

    @staticmethod
    def by_sandbox(told, n=None):
        found = collections.defaultdict(list)
        for table in json.loads(told)["tables"] if told else ():
            for row in table["rows"]:
                sandbox = row.pop("sandbox", 0) if n is None else n
                del row["percent"]
                found[table["kind"], table["by"], sandbox].append(row)
        return dict(found)

    def compare(self, choice, expected):
        out = self.ask(choice, "--format=json")
        some = any(expected.tables.values()) or not (choice.port or choice.reason)
        if (out is None) != (not some if expected.pairs else choice.selects):
            yield f"{len(expected.pairs)} pairs, of tables {expected.tables}: {out}"
        if out is None:
            return
        told = json.loads(out)
        yield from self.compare_head(told, expected)
        yield from self.compare_tables(told, expected)
        for text, is_told in (*self.notes(expected), (
                "most addresses lie outside", told["check"]["verdict"] not in (
                    "mixed", "mismatch") and expected.is_outside())):
            if any(note.startswith(text) for note in told["notes"]) != bool(is_told):
                yield f"{'not told' if is_told else 'told'}: {text}: {told['notes']}"
        yield from self.compare_csv(self.ask(choice, "--format=csv"), expected, told)
        yield from self.compare_text(self.ask(choice, "-v", "--wide"), expected)

    def compare_head(self, told, expected):
        for name, value in (("pairs", expected.counts), ("pairs_ns", expected.ns),
                            ("exact", expected.choice.exact),
                            ("excluded", {name: expected.lone[name] for name in LONE}),
                            ("time", expected.time), ("histogram", expected.histogram())):
            if told[name] != value:
                yield f"{name}: {told[name]}, not {value}"
        yield from self.compare_picked(told, expected)
        if told.get("selected") != expected.choice.selected():
            yield f"selected: {told.get('selected')}, not {expected.choice.selected()}"
        if told["check"]["verdict"] != "not tested" and not self.guest.is_arm and \
                told["check"]["addresses"] != {"on": expected.on_starts(), "off": 0}:
            yield f"check: {told['check']}, not {expected.on_starts()} addresses"

    @staticmethod
    def compare_picked(told, expected):
        """Where rows are of some of the pairs, how many and how much these are; else nothing."""
        picked = told.get("selected_pairs")
        if (picked is not None) != expected.choice.picks():
            yield f"selected_pairs: {picked}"
        for kind in picked or ():
            one, of = dict(picked[kind]), expected.picked(kind)
            if near(str(one["percent"]), of["percent"]):
                one["percent"] = of["percent"]
            if one != of:
                yield f"selected {kind}: {one}, not {of}"

    def compare_tables(self, told, expected):
        tables = {(t["kind"], t["by"]): t["rows"] for t in told["tables"]}
        for t in told["tables"]:
            if t["percent_of"] != WHOLES["call" if t["by"] == "call" else t["kind"]]:
                yield f"{t['by']} of {t['kind']}: percent of {t['percent_of']}"
        for key, rows in expected.tables.items():
            got = tables.pop(key, [])
            for one, row in zip(got, rows):
                one = {k: v for k, v in one.items() if v is not None} | {"kind": row["kind"]}
                if near(str(one.get("percent", "")), row.get("percent")):
                    one["percent"] = row["percent"]
                if one != row:
                    yield f"{key}: {one}, not {row}"
            if len(got) != len(rows):
                yield f"{key}: {len(got)} rows, not {len(rows)}"
        if tables:
            yield f"tables that should not be: {tables}"

    @staticmethod
    def by_number(expected):
        """What the number of --reason is told to be: the start of a note, and is there one?"""
        reason, names = expected.choice.reason, []
        for row in (*expected.whole["exit", "reason"], *expected.whole["vmm", "reason"]):
            name = f"{row['name']} ({row['isa']})"
            if reason and not {"*", "?"} & set(reason) and row["reason"] == int(reason, 0) and \
                    name not in names:
                names.append(name)
        return "reason=" + (f"{reason}: is the number of {', '.join(names)}" if names else ""), names

    def notes(self, expected):
        """How notes begin; and is each told?"""
        def lacks(field, *events):
            return any(field not in made.fields and any(map(made.has, events))
                       for made in self.files)

        lost = sum(r.n for made in self.files for r in made.losses)
        return (("there is no pair of kvm_exit", expected.kind == "vmm" and expected.counts["vmm"]),
                ("kvm_exit has no guest_rip", lacks("guest_rip", "kvm_exit")),
                ("kvm_exit has no isa", lacks("isa", "kvm_exit")),
                ("vCPUs are known by thread", lacks("vcpu_id", "kvm_exit", "kvm_entry")),
                ("KVM_RUN was not recorded", any(
                    made.has("kvm_userspace_exit") and not made.has("sys_enter_ioctl")
                    for made in self.files)),
                (f"{lost} event{' was' if lost == 1 else 's were'} lost", lost),
                ("calls have over 100 %", any(row.get("percent", 0) > 100 for rows in
                                              expected.whole.values() for row in rows)),
                self.by_number(expected),
                ("VMM time is ", not (expected.choice.port or expected.choice.reason) and
                 self.has_least([pair.ns for pair in expected.of("vmm")])),
                ("times are by the clock", True),
                ("percentiles are off by", not expected.choice.exact))

    def has_least(self, times):
        """Is what no exit to the VMM goes without a quarter of what they take?"""
        return len(times) >= 100 and min(times) > 0 and min(times) >= sum(times) // len(times) // 4

    def compare_check(self, got, told):
        """As JSON has it; what is tested is as it ought to be there."""
        check, tests = told["check"], [row for row in got if row[0] == "trust"]
        names = ["on boundaries", "off boundaries", "not tested", "by chance"]
        counts = [str(check["addresses"][name]) for name in ("on", "off")]
        if [row[2] for row in tests] != names or tests[0][1] != check["verdict"] or \
                [row[8] for row in tests[:2]] != counts:
            yield f"CSV: {tests}, not {check}"
        if [row[2] for row in got if row[0] == "note"] != told["notes"]:
            yield f"CSV: {got}, not {told['notes']}"

    def compare_csv(self, out, expected, told):
        names = "name isa number pid tid vcpu count percent percent_of total min mean p50 p90 " \
            "p99 max sandbox".split()
        rows = [["record", "kind", *names]]

        def put(record, kind, **values):
            rows.append([record, kind] + [values.get(name, "") for name in names])

        if "selected" in told:
            put("selected", "", name=told["selected"])
        names_of = {"exit": "kvm_exit to kvm_entry", "vmm": "kvm_userspace_exit to KVM_RUN"}
        for kind in names_of if expected.choice.picks() else ():
            put("selected", kind, name=names_of[kind], **{
                key.removesuffix("_ns"): value for key, value in expected.picked(kind).items()},
                percent_of=WHOLES[kind])
        names_of["between"] = "between guest calls"
        for kind, name in names_of.items():
            put("pairs", kind, name=name, count=expected.counts[kind], total=expected.ns[kind])
        for name in LONE:
            put("excluded", "", name=name, count=expected.lone[name])
        for name, ns in expected.time.items():
            put("time", "", name=name[:-3].replace("_", " ").replace("vmm", "VMM"), total=ns)
        for (kind, by), table in expected.tables.items():
            for row in table:
                of = WHOLES["call" if by == "call" else kind]
                number = row.get("reason", row.get("port", row.get("mmio", "")))
                put(by, row["kind"], **{
                    key.removesuffix("_ns"): value for key, value in row.items() if key != "kind"} |
                    {"number": int(number, 16) if "mmio" in row else number,
                     "percent_of": of if "percent" in row else ""})
        for row in expected.histogram():
            put("histogram", expected.kind, number=row["from_ns"], count=row["count"])
        got = list(csv.reader(io.StringIO(out)))
        yield from self.compare_check([row for row in got if row[0] in ("trust", "note")], told)
        got = [row for row in got if row[0] not in ("trust", "note")]
        if len(got) != len(rows):
            yield f"CSV has {len(got)} rows, not {len(rows)}"
        for one, row in zip(got, rows):
            if near(one[9], row[9]):
                row[9] = one[9]  # of more digits than five before the point the last five are left
            if one != list(map(str, row)):
                yield f"CSV: {one}, not {row}"

    def compare_text(self, out, expected):
        """What only text says, or says in its own words."""
        exits = f"{expected.counts[expected.kind]} exit{'s' * (expected.counts[expected.kind] != 1)}"
        head = f"{exits} (kvm_exit to kvm_entry), {expected.counts['vmm']} to the VMM" \
            if expected.kind == "exit" else f"{exits} to the VMM (kvm_userspace_exit to KVM_RUN)"
        between = expected.counts["between"]
        if between:
            head = head.replace(" (kvm_exit to kvm_entry)", "") + f", {between} more between guest calls"
        several = f", {len(self.files)} recordings" * (len(self.files) > 1)
        head = f"\nrecorded  {head}{several}\n"
        if head not in out:
            yield f"text: not {head}: {out[:300]}"
        # A half at the start of each vCPU and one at its end are a detail.
        detail = not any(expected.lone[name] for name in (LOST, LATE, BAD)) and all(
            expected.lone[name] <= 2 * len(expected.stories) for name in LONE)
        lone = ", ".join(f"{expected.lone[name]} {name}" for name in LONE if expected.lone[name])
        line = f"\n{'      ' if detail else 'note: '}    not counted: {lone}\n"
        if (line in out) != bool(lone):
            yield f"text: not {line}: {out[-900:]}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).judge()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 30, differences))
