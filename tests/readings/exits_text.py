#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The text of hlguest exits against its own JSON.

    exits_text.py --build DIR [--seed N] [--seeds N]

The recordings are those of exits_model.py, which reads every figure of JSON. What text has to say
of these, for a terminal, a pipe or a file of any width, is written here once more, by
hlguest-exits(1) and hlguest(7), and must be what the command writes, line by line.
"""
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import made_exits
from exits_reading import BAD, LATE, LONE, LOST, Reading
from made_exits import Choice, Guest, Made, write_all
from lines import plural
from programs import hlguest_of
from seeds import seeds
from seen import ESCAPE, INDENT, Screen, difference, percent, time
from tap import Skip, run

NAMES = ("alpha", "hyperlight_guest_bin::exception::handler::handle_exception::<impl>::call",
         "größe_der_Tabelle_in_Füllwörtern::übergeben", "a_name_of_28_cells_in_a_line")
UNITS = (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9))
TIMES = (("total", 8), ("mean", 7), ("p50", 7), ("p99", 7), ("max", 8))  # and their columns' cells
FUNCTIONS = made_exits.FUNCTIONS
BAR, BAR_AROUND, ROWS, LEAST_NAME = 40, 23, 20, 16
WIDE = 80  # what lines take where they cannot be shorter
HEADING = {"VMM": "in the VMM, from kvm_userspace_exit to KVM_RUN:",
           "histogram": "How long they took: each row twice the one above"}


def unit_of_total(ns):
    """That in which it has five digits at most."""
    return next(unit for unit in UNITS if ns < 10**4 * unit[1] or unit == UNITS[-1])


def unit_of_each(ns, cells):
    """us, unless all are shorter, which calls are not, or one has no room."""
    if ns < 10**4 and cells == 7:
        return UNITS[0]
    return next(unit for unit in UNITS[1:] if len(in_unit(ns, unit)) <= cells or unit == UNITS[-1])


def in_unit(ns, unit):
    """With one digit behind the point, half of it rounded up; ns have none."""
    if unit[1] == 1:
        return str(ns)
    tenths = (ns * 10 + unit[1] // 2) // unit[1]
    return f"{tenths // 10}.{tenths % 10}"


def parts(times):
    """The parts of time: one unit, and what each is of the sum."""
    unit, whole = unit_of_total(max(times.values())), sum(times.values())
    return ", ".join(
        f"{name[:-3].replace('_', ' ').replace('vmm', 'VMM')} {in_unit(ns, unit)} {unit[0]} "
        f"({100 * ns / whole if whole else 0:.0f} %)" for name, ns in times.items())


class Table:
    """One of JSON's tables, and how many of its rows are shown."""

    def __init__(self, text, table, top):
        self.text, self.screen, self.by, self.kind = text, text.screen, table["by"], table["kind"]
        self.all = table["rows"]
        self.rows = self.all[:top or None]
        if self.by == "call" and not text.splits:
            self.rows = self.all
        # A line that says that there is one more is no shorter than that one.
        if text.top is None and len(self.all) == len(self.rows) + 1:
            self.rows = self.all
        isas = {row["isa"] for row in self.all if "isa" in row}
        self.isa = isas.pop() if len(isas) == 1 else None
        self.whole = sum(text.told["time"].values()) if self.by == "call" else \
            text.whole[self.kind]

    def heading(self):
        if self.by == "function" and not self.text.told["check"]["named"]:
            return "guest address"
        return (self.isa + " " if self.isa else "") + self.by

    def around(self, row):
        """What stands before a name, and behind it."""
        before, behind = "", ""
        if self.by == "reason" and not self.isa:
            before = row["isa"] + " "
        elif "port" in row:
            before = f"{row['port']} "
        if self.by == "vcpu":
            behind = f" vCPU {row['vcpu']}" if row.get("vcpu") is not None else ""
        elif self.text.by_tid:
            behind = f" (tid {row['tid']})"
        if self.text.by_sandbox:
            sandbox = f"sandbox {row['sandbox']}" if "sandbox" in row else "no sandbox known"
            behind = f"{behind.rstrip(')')}, {sandbox}" if behind else f" ({sandbox}"
            behind = behind.replace("(", "") if self.by == "vcpu" else behind + ")"
        return before, behind

    def columns(self):
        """(name, cells, unit) of each time; without the last where names have no room."""
        total = unit_of_total(max(row["total_ns"] for row in self.rows))
        each = unit_of_each(max(row["max_ns"] for row in self.rows), 9 if self.by == "call" else 7)
        found = [(name, 9 if self.by == "call" and name != "total" else cells,
                  total if name == "total" else each) for name, cells in TIMES]
        least = 90 if self.by == "function" else self.names() + 1 + 17 + sum(
            1 + cells for _, cells, _ in found)
        narrow = 0 < self.screen.columns < least
        if narrow or self.by == "call":
            found.pop()
        shortest = max(LEAST_NAME, self.names(10**6))
        for name in ("total", "p50"):
            used = 17 + sum(1 + cells for _, cells, _ in found) + 1 + (self.by == "function")
            if self.screen.columns and used + shortest > self.screen.columns:
                found = [column for column in found if column[0] != name]
        return found

    def name(self, row, used):
        """What is shown of it, behind so many cells, or in front of them."""
        before, behind = self.around(row)
        return before + self.screen.name(row["name"], used, len(before + behind)) + behind

    def names(self, used=None):
        """The cells of the widest; used: of the figures."""
        return max(len(self.heading()), *(
            len(self.name(row, used) if used else "".join((row["name"], *self.around(row))))
            for row in self.rows))

    def share(self, rows):
        return sum(row["total_ns"] for row in rows) / self.whole if self.whole else 0

    def figures(self, row, columns):
        share = f"{percent(self.share([row])):>7} %"
        if row["percent"] is None:  # of the host's own time
            share = f"{'':7} -"
        text = self.screen.paint(f"{row['count']:7} {share}",
                                 self.share([row]) if row["percent"] is not None else 0)
        return text + "".join(f" {in_unit(row[name + '_ns'], unit):>{cells}}"
                              for name, cells, unit in columns)

    def lines(self):
        yield ""
        if self.kind != self.text.kind:
            yield HEADING["VMM"]
        columns = self.columns()
        of = "of time" if self.by == "call" else {"exit": "exit", "vmm": "VMM"}[self.kind] + " time"
        head = f"{'count':>7} {of:>9}" + "".join(
            f" {name + ' ' + unit[0]:>{cells}}" for name, cells, unit in columns)
        is_last = self.by == "function"
        width, used = self.names(len(head) + 1), len(head) + 1 + is_last
        yield f"{head}  {self.heading()}" if is_last else f"{self.heading():{width}} {head}"
        for row in self.rows:
            figures, name = self.figures(row, columns), self.name(row, used)
            yield f"{figures}  {name}" if is_last else f"{name:{width}} {figures}"
            if self.by == "vcpu":
                yield from self.screen.wrap("  ", self.text.in_all + parts({
                    key: row[key] for key in self.text.told["time"]}))
        if rest := self.all[len(self.rows):]:
            share = percent(self.share([row for row in rest if row["percent"] is not None]))
            yield f"  ({len(rest)} more row{'s' * (len(rest) > 1)}, {share} %: --top=0)"


class Text:
    """told: JSON; whole: {kind: ns of all of its pairs}; top: rows that are asked for, or None."""

    def __init__(self, judge, screen, choice, told, whole):
        self.judge, self.screen, self.told, self.whole = judge, screen, told, whole
        self.by_tid, self.by_sandbox = choice.by_tid, choice.by_sandbox
        self.splits, self.top = choice.by_tid or choice.by_sandbox, choice.top_asked
        self.selected = choice.selected()
        self.kind = "exit" if told["pairs"]["exit"] or "kernel_ns" in told["time"] else "vmm"
        self.readings = choice.readings
        # Times are not selected by what rows are.
        self.in_all = "in all: " if choice.picks() else ""

    def picked(self):
        """What is left of the pairs where rows are selected, behind what selects them."""
        if not self.in_all:
            return ""
        of = self.told["selected_pairs"]
        share = {kind: f" ({percent(of[kind]['total_ns'] / self.whole[kind])} % of "
                       f"{name} time)" if self.whole.get(kind) else ""
                 for kind, name in (("exit", "exit"), ("vmm", "VMM"))}
        vmm = f"{of['vmm']['count']} to the VMM{share['vmm']}"
        if self.kind == "vmm":
            return f": {plural(of['vmm']['count'], 'exit')} to the VMM{share['vmm']}"
        return f": {plural(of['exit']['count'], 'exit')}{share['exit']}, {vmm}"

    def check(self):
        """How well the addresses fit: a line, unless all is well."""
        guest, check = self.judge.guest, self.told["check"]
        rips = {pair.rip for r in self.readings for pair in r.pairs
                if pair.rip is not None and pair.kind != "call"}
        outside = sum(guest.function(rip) == "[outside]" for rip in rips)
        off = ""
        tested = check["addresses"]["on"] + check["addresses"]["off"]
        if tested and outside > len(rips) // 20 and not self.judge.is_wrong:
            off = f"; outside the ELF: {outside} of {len(rips)}"
        said = {"not tested": "not checked", "too few samples to tell": "cannot tell",
                "verified": "OK", "mixed": "MIXED",
                "mismatch": "WRONG ELF OR BASE"}[check["verdict"]]
        if said == "OK" and off:
            said = "OK in the ELF"
        if said == "OK" and not self.screen.verbose:
            return ", check OK", []
        some = "tested " * (tested < len(rips))
        how = {"OK": rf"all {tested} {some}addresses lie on instruction starts \(\d+ % by chance\)",
               "WRONG ELF OR BASE": r"[\d.]+ % lie on .*",
               "cannot tell": rf"{tested} distinct address(es)?, 12 are "
                              r"needed|the addresses may fit by chance|no address lies in .*"}
        of = how.get(said[:2] if said.startswith("OK") else said, ".*")
        return "", [re.compile(f"check     {said}: ({of}){re.escape(off)}" +
                               (".*" if self.judge.is_wrong else ""))]

    def head(self):
        pairs = self.told["pairs"]
        guest, wrap = self.judge.words()[-1 - len(self.judge.paths)], self.screen.wrap
        if self.told["check"]["verdict"] in ("mixed", "mismatch"):
            yield re.compile(r"!! .*")
        yield from wrap("guest     ", f"{guest.split('/')[-1].replace('@', ', base ')} (stated)")
        brief, lines = self.check()
        told = f"{plural(pairs['vmm'], 'exit')} to the VMM (kvm_userspace_exit to KVM_RUN)"
        if self.kind == "exit":
            told = f"{plural(pairs['exit'], 'exit')} (kvm_exit to kvm_entry), {pairs['vmm']} to the VMM"
        if pairs["between"]:
            told = told.replace(" (kvm_exit to kvm_entry)", "") + \
                f", {pairs['between']} more between guest calls"
        if len(self.judge.files) > 1:
            told += f", {len(self.judge.files)} recordings"
        yield from wrap("recorded  ", told + brief)
        if self.selected:
            yield from wrap("selected  ", self.selected + self.picked())
        yield from lines
        yield from wrap("time      ", self.in_all + parts(self.told["time"]))
        for table in self.told["tables"]:
            if self.is_line(table) and self.screen.verbose:
                row = table["rows"][0]
                yield from wrap("in VMM    ", f"{row['count']} {row['name']}: " + ", ".join(
                    f"{name} {time(row[name + '_ns'])}" for name, _ in TIMES[:-1]))
        yield from self.screen.notes(self.told["notes"], True)

    def is_line(self, table):
        """Of the VMM one reason."""
        return table["kind"] != self.kind and len(table["rows"]) == 1

    def is_shown(self, table):
        is_detail = not self.splits if table["by"] == "vcpu" else table["kind"] != self.kind
        return bool(table["rows"]) and not self.is_line(table) and (
            self.screen.verbose or not is_detail)

    def tables(self, top):
        """Calls first, what is in the VMM last."""
        order = ("call", "reason", "function", "port", "vcpu")
        for table in sorted(self.told["tables"], key=lambda t: (
                t["kind"] != self.kind and t["by"] != "call", order.index(t["by"]))):
            if self.is_shown(table):
                yield from Table(self, table, top).lines()

    def bar(self):
        """The longest bar's cells."""
        return max(min(BAR, self.screen.columns - BAR_AROUND), BAR_AROUND) \
            if self.screen.columns else BAR

    def histogram(self):
        counts = {row["from_ns"]: row["count"] for row in self.told["histogram"]}
        if not counts or not self.screen.verbose:
            return
        yield from ("", HEADING["histogram"])
        octave, last = min(counts), max(counts)
        while octave <= last:
            n = counts.get(octave, 0)
            bar = self.screen.bar(n, max(counts.values()), self.bar(),
                                  n / sum(counts.values()))
            yield f"{time(octave):>10}  {bar} {n:10}"
            octave = octave * 2 or 2

    def notes(self):
        """What is in no pair is a detail if it is but a half at each end of a vCPU."""
        lone = self.told["excluded"]
        few = 2 * sum(len(r.stories) for r in self.readings)
        detail = not any(lone[name] for name in (LOST, LATE, BAD)) and all(
            lone[name] <= few for name in LONE)
        text = "not counted: " + ", ".join(f"{lone[name]} {name}" for name in LONE if lone[name])
        own = [("detail" if detail else "note", text)] if any(lone.values()) else []
        return self.screen.notes(self.told["notes"], False, own)

    def expected(self, top):
        return [*self.head(), *self.tables(top), *self.histogram(), *self.notes()]


class Spaced(Guest):
    """Its instructions have four bytes, so that it is no chance that one begins at an address."""

    def at(self, place):
        return super().at(place & ~3)

    def elf(self):
        return super().elf().replace(b"\x90" * 0x1000, b"\x48\x83\xc0\1" * 0x400)


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.rng = rng = random.Random(seed)
        self.hlguest, self.folder = hlguest, folder
        self.guest = rng.choice((Guest, Spaced, Spaced))(rng)
        self.files = [Made(rng, self.guest) for _ in range(rng.choice((1, 2)))]
        self.stretch(rng.choice((1, 1, 1, 1000)))
        self.is_wrong = rng.random() < .15  # the base
        self.force = ["--force"] * (rng.random() < .3)
        self.elf, self.paths = write_all(folder, self.guest, self.files)

    def stretch(self, times):
        """All takes longer."""
        for made in self.files:
            for record in made.records + made.losses:
                record.time = 10**9 + times * (record.time - 10**9)
            made.first = min((r.time for r in made.records), default=0)

    def words(self):
        base = self.guest.base + (0x101 if self.is_wrong else 0)
        return [*self.force, f"{self.elf}@{base:#x}", *self.paths]

    def json(self, words):
        """None if nothing is selected."""
        out, err, status = run(self.hlguest, "exits", "-q", "--format=json", *words, *self.words())
        if "not in this build" in err:
            raise Skip(err.strip())
        if status not in (0, 3) and "selects no exit" not in err:
            raise RuntimeError(f"{words}: status {status}: {err}")
        return json.loads(out) if status in (0, 3) else None

    def judge(self):
        for _ in range(2):
            choice = Choice(self.rng, self.files)
            words = [word for word in choice.words if word[:5] not in ("--by=", "--top")]
            choice.by_sandbox = self.rng.random() < .4 and all(
                any(r.is_run() for r in made.records) for made in self.files)
            by = ",".join(["tid"] * choice.by_tid + ["sandbox"] * choice.by_sandbox)
            words += [f"--by={by}"] * bool(by)
            told = self.json(words)
            # Shares are of all pairs, whichever of them are shown.
            all_told = self.json([word for word in words if word.split("=")[0] not in (
                "--port", "--reason")])
            if not told:
                continue
            choice.readings = [Reading(made, choice.keeps, choice.time(made.first))
                               for made in self.files]
            whole = {table["kind"]: sum(row["total_ns"] for row in table["rows"])
                     for table in all_told["tables"] if table["by"] == "reason"}
            for is_low in (False, False, True):
                choice.top_asked = None if is_low else self.rng.choice((None, 0, 1, 2, 5))
                asked = [f"--top={choice.top_asked}"] * (choice.top_asked is not None)
                screen = Screen(self.rng, True, is_low)
                text = Text(self, screen, choice, told, whole)
                for line in self.compare(text, [*words, *asked]):
                    yield f"{' '.join([*words, *asked, *screen.words])} {screen.kind} " \
                        f"{screen.env}: {line}"

    def compare(self, text, words):
        screen = text.screen
        out, status = screen.ask(self.folder, self.hlguest, "exits", "-q", *words, *self.words())
        check = text.told["check"]
        doubted = not self.force and (check["verdict"] == "mixed" or not check["named"])
        if status != (3 if check["verdict"] == "mismatch" or doubted else 0):
            yield f"status {status}: {out[:300]}"
            return
        if screen.lines and screen.columns:
            yield from (f"is wide: {line}" for line in ESCAPE.sub("", out).split("\n")
                        if len(line) > max(screen.columns, WIDE) and " " in line[len(INDENT):])
        if text.top is not None or not screen.lines or screen.verbose:
            top = ROWS if text.top is None else text.top
            if wrong := difference(screen, out, text.expected(top)):
                yield wrong
            return
        found = {top: text.expected(top) for top in range(ROWS, 0, -1)}
        wrong = {top: difference(screen, out, found[top]) for top in found}
        if all(wrong.values()):
            yield f"{wrong} of {out}"
        elif not any(self.fits(text, found, top) for top in found if not wrong[top]):
            yield f"of {screen.lines} lines there are {out}"

    @staticmethod
    def fits(text, found, top):
        """As many rows as there is room for, with a prompt, and with a line each for the notes
        and for what is in no pair."""
        columns, notes = text.screen.columns, text.notes()
        text.screen.columns = 0
        is_broken = len(text.expected(top)) != len(found[top])
        text.screen.columns = columns
        room = text.screen.lines - 1 - (not notes) - ("not counted" not in "".join(notes))

        return is_broken or (len(found[top]) <= room or top == 1) and (
            top + 1 not in found or len(found[top + 1]) > room)


def differences(build, folder, seed):
    made_exits.FUNCTIONS = tuple(
        (NAMES[(seed + i) % len(NAMES)] + str(i), at, size) if i > 1 else (name, at, size)
        for i, (name, at, size) in enumerate(FUNCTIONS))
    return Judge(hlguest_of(build), folder, seed).judge()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 25, differences))
