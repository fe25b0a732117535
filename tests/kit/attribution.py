# SPDX-License-Identifier: GPL-2.0-only
"""Where did the guest spend its time? A second opinion, to compare the filter with.

The samples come from perf's own dump (`perf script -D`), the symbols from the tables
that `readelf -sW`, `-SW` and `-lW` print; nothing of the project's code is used. Every
byte of code is given its owner by reading the rules for it literally:

  - A symbol counts if it has a name (not .L...), a type other than SECTION, FILE and
    TLS, and lies in an executable section. Its size is cut at the section's end.
  - FUNC and IFUNC symbols with a size own their bytes; where they overlap, the one that
    begins last does, then the shortest; then GLOBAL before WEAK before LOCAL, then the
    order of the table. Where there are none, other symbols with a size, alike.
  - A symbol without a size owns the bytes up to the next symbol or the section's end,
    unless a symbol with a size covers its address.
  - What is left of the code is a gap, named after the symbol that owns the byte before
    it. Loaded bytes that are not code are data. All else is outside.

Then the filter's JSON, CSV and text must agree with that: row by row, in samples and
period, and in their sums, which have to add up in each of the formats.
"""
import collections
import re

from outputs import KINDS, PARSERS, WORDS, Count, Profile, Row, check_sums
from tap import Skip, must, need, report

# file, guest, base: what tests/data/README.md says.
RECORDINGS = [
    ("demo-user", "demo.elf", 0x4000),
    ("demo-far", "demo.elf", 0x7F3A51C26000),
    ("demo-host", "demo.elf", 0x4000),
    ("demo-events", "demo.elf", 0x4000),
    ("demo-threads", "demo.elf", 0x4000),
    ("demo-kernel", "demo.elf", 0x4000),
    ("rusty-user", "rusty.elf", 0x4000),
]
NEVER = ("never_called", "excp_debug", "excp_nmi", "guest_abort", "guest_main.cold")

Sample = collections.namedtuple("Sample", "guest ip period")
Symbol = collections.namedtuple("Symbol", "addr end type bind name order")


# --- samples -----------------------------------------------------------------------


def read_samples(recording):
    line = re.compile(
        r"PERF_RECORD_SAMPLE\(IP, 0x([0-9a-f]+)\): -?\d+/-?\d+: (?:0x)?([0-9a-f]+) "
        r"period: (\d+)"
    )
    samples = []
    for misc, ip, period in line.findall(must("perf", "script", "-D", "-i", recording)):
        guest = int(misc, 16) & 7 in (4, 5)
        samples.append(Sample(guest, int(ip, 16), int(period)))
    return samples


# --- symbols -----------------------------------------------------------------------


class Elf:
    """The tables of readelf, and the owner of every byte of code."""

    def __init__(self, path):
        self.sections = {}  # number: (addr, end, flags, name)
        self.loads = []  # (addr, end, executable)
        self.read_sections(must("readelf", "-SW", path))
        self.read_loads(must("readelf", "-lW", path))
        self.symbols = self.read_symbols(must("readelf", "-sW", path))
        self.owners = {}  # address: (kind, symbol), for code
        for number, (addr, end, flags, _) in self.sections.items():
            if "X" in flags:
                self.find_owners(number, addr, end)

    def read_sections(self, text):
        line = re.compile(
            r"^ *\[ *(\d+)\] (\S*) +(\S+) +([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) "
            r"[0-9a-f]+ +([A-Zop]*) +\d+", re.M
        )
        for number, name, _, addr, size, flags in line.findall(text):
            if "A" in flags:
                start = int(addr, 16)
                self.sections[int(number)] = (start, start + int(size, 16), flags, name)

    def read_loads(self, text):
        line = re.compile(
            r"^ *LOAD +0x[0-9a-f]+ 0x([0-9a-f]+) 0x[0-9a-f]+ 0x[0-9a-f]+ 0x([0-9a-f]+) "
            r"([RWE ]{3})", re.M
        )
        for addr, size, flags in line.findall(text):
            start = int(addr, 16)
            self.loads.append((start, start + int(size, 16), "E" in flags))

    def read_symbols(self, text):
        """Those that can own code, by section number."""
        if "'.symtab'" in text:
            text = text[text.index("'.symtab'") :]
        line = re.compile(
            r"^ *(\d+): ([0-9a-f]+) +(0x[0-9a-f]+|\d+) (\S+) +(\S+) +\S+ +(\S+) (\S.*)$",
            re.M,
        )
        found = collections.defaultdict(list)
        for order, addr, size, kind, bind, index, name in line.findall(text):
            if kind in ("SECTION", "FILE", "TLS") or not index.isdigit():
                continue
            section = self.sections.get(int(index))
            if not section or "X" not in section[2] or name.startswith(".L"):
                continue
            start = int(addr, 16)
            if section[0] <= start < section[1]:
                end = min(start + int(size, 0), section[1])
                found[int(index)].append(Symbol(start, end, kind, bind, name, int(order)))
        return found

    def find_owners(self, number, start, end):
        symbols = self.symbols[number]
        for addr in range(start, end):
            self.owners[addr] = self.owner(symbols, addr)

    @staticmethod
    def owner(symbols, addr):
        def is_function(s):
            return s.type in ("FUNC", "IFUNC")

        def best(candidates):
            rank = {"WEAK": 1, "LOCAL": 2}
            return min(
                candidates, key=lambda s: (-s.addr, s.end, rank.get(s.bind, 0), s.order)
            )

        covering = [s for s in symbols if s.addr <= addr < s.end]
        functions = [s for s in covering if is_function(s)]
        if functions:
            return "function", best(functions)
        if covering:
            return "label", best(covering)
        before = [s for s in symbols if s.addr <= addr]
        if not before:
            return "gap", None
        last = max(s.addr for s in before)
        if any(s.addr <= last < s.end for s in symbols):
            return "gap", None
        return "label", best([s for s in before if s.addr == last])

    def row(self, addr, gaps):
        """The row of an own address under a gap policy."""
        load = [x for start, end, x in self.loads if start <= addr < end]
        if not load:
            return Row("outside", "[outside]", None, None)
        if addr not in self.owners:
            section = [s for s in self.sections.values() if s[0] <= addr < s[1]]
            if section:
                start, end, _, name = section[0]
                return Row("data", "[data] " + name, start, end - start)
            raise Skip("a sample in loaded bytes of no section: not in these recordings")
        kind, symbol = self.owners[addr]
        start, end = self.extent(addr)
        if kind != "gap":
            return Row(kind, symbol.name, start, end - start)
        before = self.owners.get(start - 1, ("gap", None))
        if not before[1]:
            raise Skip("a gap with nothing before it: not in these recordings")
        if gaps == "stretch":
            return self.row(start - 1, gaps)
        return Row("gap", "__gap__ after " + before[1].name, start, end - start)

    def extent(self, addr):
        """Of a symbol with a size, its own; else the bytes around with one owner."""
        owner = self.owners[addr]
        if owner[1] and owner[1].end > owner[1].addr:
            return owner[1].addr, owner[1].end
        start = end = addr
        while self.owners.get(start - 1) == owner:
            start -= 1
        while self.owners.get(end) == owner:
            end += 1
        return start, end

    def bias(self, base):
        return base - min(start for start, _, _ in self.loads)


# --- what there should be ----------------------------------------------------------


def attribute(samples, elf, base, gaps="retag"):
    profile = Profile()
    bias = elf.bias(base)
    for sample in samples:
        count = (1, sample.period)
        profile.totals["seen"].add(*count)
        if not sample.guest:
            profile.totals["host"].add(*count)
            continue
        own = sample.ip - bias
        kind = elf.row(own, "retag").kind
        row = elf.row(own, gaps)
        profile.totals["guest"].add(*count)
        profile.totals[kind].add(*count)
        if kind == "gap" and gaps == "drop":
            profile.totals["dropped"].add(*count)
            continue
        profile.rows[row].add(*count)
        profile.regions.add(*count)
    profile.totals["deselected"].add(0, 0)
    return profile


# --- comparison --------------------------------------------------------------------


def compare(actual, expected, form, gaps="retag"):
    """The differences between an output and the oracle, as lines."""
    wrong = check_sums(actual, gaps)
    for name in ("seen", "deselected", "host", "guest") + KINDS:
        if actual.totals[name] != expected.totals[name]:
            wrong.append(f"{name}: {actual.totals[name]}, not {expected.totals[name]}")
    wanted = collections.defaultdict(Count)
    for row, count in expected.rows.items():
        if form == "json" and row.kind in ("data", "outside"):
            continue
        if form == "text":
            row = row._replace(addr=None)
        wanted[row].add(count.samples, count.period)
    for row in sorted(set(actual.rows) | set(wanted), key=str):
        if actual.rows.get(row, Count()) != wanted.get(row, Count()):
            wrong.append(
                f"{row}: {actual.rows.get(row, Count())}, not {wanted.get(row, Count())}"
            )
    for row in actual.rows:
        if row.name in NEVER:
            wrong.append(f"{row.name}, which never runs, has {actual.rows[row]}")
    return wrong


def check(build, recording, elf_path, base, form, expected, gaps="retag"):
    """Runs the filter and compares; the differences, as lines."""
    need("perf", "readelf")
    out = report(build, recording, f"{elf_path}@{base:#x}", f"format={form}",
                 "demangle=no", "top=0", *WORDS.get(form, []), f"gaps={gaps}", "border=keep")
    return compare(PARSERS[form](out), expected, form, gaps)
