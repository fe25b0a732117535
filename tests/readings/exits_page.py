#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of hlguest exits against its JSON and its text.

    exits_page.py --build DIR [--seed N] [--seeds N]

Recordings are those of exits_model.py, which computes what JSON says of them. Here that is taken
as given, and the page's tables, their order, heads, rows, bars, axes, percentiles and powers of
two must be those; and its words those of text.
"""
import html
import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../verbs"))
import exits_model
from exits import TITLES, compare_latencies, compare_page
from markup import UNITS, check_still, ns_of, rectangles, rows_of
from programs import hlguest_of
from seeds import seeds

WIDE, HIGH, DEEP = 1000, 16, 24
QUARTERS = "M0 0v16M250 0v16M500 0v16M750 0v16M1000 0v16"
FIRSTS = {"reason": "reason", "function": "function", "port": "port", "vcpu": "vCPU",
          "call": "call"}
ORDER = (("reason", "exit"), ("reason", "vmm"), ("call", None), ("port", None),
         ("function", None), ("vcpu", None))
WHOLES = {"call": "Bars are parts of all the time recorded.",
          "exit": "Bars are parts of the time outside the guest, from kvm_exit to kvm_entry.",
          "vmm": "Bars are parts of the time in the VMM, from kvm_userspace_exit to KVM_RUN."}


class Judge(exits_model.Judge):
    def compare(self, choice, expected):
        page = self.ask(choice, "--format=html")
        if page is None:
            return
        told = json.loads(self.ask(choice, "--format=json"))
        yield from check_still(page)
        all_rows = [] if choice.top else ["--top=0"]
        yield from self.words(page, self.ask(choice, "-v", "--wide", *all_rows))
        tables = {(t["by"], t["kind"]): t["rows"] for t in told["tables"] if t["rows"]}
        kinds = {by: kind for by, kind in tables if by != "reason"}
        order = [(by, kind or kinds.get(by)) for by, kind in ORDER]
        order = [key for key in order if key in tables]
        # Rows whose kinds differ are told apart by what they are; the first table is its kind's.
        if len(order) != len(tables):
            yield f"tables {list(tables)}"
        sections = re.findall("<section.*?</section>", page.replace("::<wbr>", "::"), re.S)
        if len(sections) != len(order):
            yield f"{len(sections)} sections, not {order}"
            return
        octaves = {}
        for section, key in zip(sections, order):
            for line in self.section(section, key, tables[key], expected):
                yield f"{key}: {line}"
            if key[0] == "reason":
                octaves[key[1]] = yield from self.latencies(section, tables[key], key)
                yield from self.reaches(section, choice, told)
        if not choice.top and octaves.get(expected.kind) is not None and octaves[
                expected.kind] != {h["from_ns"].bit_length() - 1 if h["from_ns"] else 0: h["count"]
                                   for h in told["histogram"]}:
            yield f"powers of two {octaves}, not {told['histogram']}"

    def section(self, text, key, rows, expected):
        by, kind = key
        title = TITLES["vmm" if by == "reason" and kind == "vmm" else "exit", by]
        heads = re.findall("<h2>(.*?)</h2>", text)
        if heads != [title] or f'aria-label="{title}"' not in text:
            yield f"headed {heads}, not {title}"
            return
        summary = re.search('<p class="summary">(.*?)</p>', text)[1]
        if not summary.startswith(WHOLES["call" if by == "call" else kind]):
            yield f"{summary}"
        if summary.endswith(" All of it counts, whatever is selected by port and reason.") != \
                expected.choice.picks():
            yield f"{summary}, of {expected.choice.words}"
        columns = re.findall('<th scope="col".*?>(?:<span.*?</span></span>)?(.*?)</th>', text)[:6]
        if columns != [FIRSTS[by], "", "share", "time", "count", "mean"]:
            yield f"columns {columns}"
        _, axis = rows_of(text, title)
        if axis != ["0 %", "25 %", "50 %", "75 %"]:
            yield f"axis {axis}"
        yield from compare_page(text, rows, title)
        found, longest = rows_of(text, title)[0], [max(row[key_of] for row in rows) for key_of in
                                                   ("total_ns", "max_ns")]
        yield from self.units([(cells[1], row["total_ns"]) for (*_, cells), row in zip(
            found, rows)], next(u for u in UNITS if u == "s" or longest[0] // UNITS[u] < 10**4))
        yield from self.units([(cells[3], row["mean_ns"]) for (*_, cells), row in zip(
            found, rows)], "us" if longest[1] >= 1000 else "ns")
        for name, _, drawing, _ in rows_of(text, title)[0]:
            if drawing and (f'd="{QUARTERS}"' not in drawing or
                            f'viewBox="0 0 {WIDE} {HIGH}"' not in drawing or
                            not re.search(r'class="most" y="2" width="\d+" height="12"', drawing)):
                yield f"{name}: {drawing}"
        yield from self.remarks(text, title, rows)
        more = len(expected.whole[kind if by == "reason" else expected.kind, by]) - len(rows)
        said = re.findall(r'<td class="missing" colspan="6">(.*?)</td>', text)
        if said != [f"{more} more (--top=0 shows all)"] * (more > 0):
            yield f"{said}, not {more} more"

    @staticmethod
    def reaches(section, choice, told):
        """Its axis ends with the power of ten that the longest power of two ends in."""
        _, axis = rows_of(section, "How long each took", "h3")
        longest = max(row["max_ns"] for table in told["tables"] if table["by"] == "reason"
                      for row in table["rows"])
        end = max(math.ceil(math.log10(1 << max(longest.bit_length(), 1))), 1)
        if not choice.top and ns_of(axis[-1]) * 10 != 10**end:
            yield f"axis {axis}, of {longest} ns"

    @staticmethod
    def units(pairs, unit):
        """As text has them: totals with four digits at most, of one pair us, each with tenths."""
        for cell, value in pairs:
            figure, unit_of = cell.lstrip("<").split()
            if unit_of != unit or ("." in figure) != (unit != "ns") or value and not float(figure):
                yield f"{cell}, not in {unit}, is {value}"

    @staticmethod
    def remarks(text, title, rows):
        """What tells rows of a name apart."""
        for (name, remark, _, _), row in zip(rows_of(text, title)[0], rows):
            remark = html.unescape(remark or "")
            for key, words in (("tid", "{}"), ("pid", "{}"), ("port", "{}")):
                number = row.get(key)
                if number is not None and words.format(number) not in f"{name} {remark}":
                    yield f"{name} {remark} has no {key} {number}"
            others = {one.get("isa") for one in rows}
            if row.get("isa") and (row["isa"] in remark) != (len(others - {"KVM"}) > 1 or
                                                             row["isa"] in remark):
                yield f"{name} {remark}, {row['isa']}"

    def latencies(self, text, rows, key):
        found, axis = rows_of(text, "How long each took", "h3")
        octaves = yield from compare_latencies(text, rows, TITLES[
            "vmm" if key[1] == "vmm" else "exit", "reason"])
        told = [[row[name] for name in ("p50_ns", "p90_ns", "p99_ns", "max_ns")] for row in rows]
        yield from self.units([pair for (*_, cells), row in zip(found, told)
                               for pair in zip(cells, row)],
                              "us" if max(row[-1] for row in told) >= 1000 else "ns")
        low, decades = math.log10(ns_of(axis[0])), len(axis)
        if [ns_of(word) for word in axis] != [10**(low + i) for i in range(decades)]:
            yield f"axis {axis}"
        heads = re.findall('<th scope="col" class="number">(.*?)</th>', text.split("<h3>")[1])
        if heads != ["p50", "p90", "p99", "max"]:
            yield f"columns {heads}"
        grid = "".join(f"M{round(WIDE * i / decades)} 0v{DEEP}" for i in range(decades + 1))
        for name, _, drawing, _ in found:
            if f'class="grid" d="{grid}"' not in drawing or \
                    f'viewBox="0 0 {WIDE} {DEEP}"' not in drawing:
                yield f"{name}: grid, not {grid}: {drawing[:300]}"
            told = re.findall(r"<title>\d+ from (.*?) on</title>", drawing)
            for (x, y, width, high), start in zip(rectangles(drawing, "most"), told):
                begin = ns_of(start)
                end = 2 * begin or 2
                if begin == 1:
                    yield f"{name}: a bar from 1 ns on: 0 and 1 are in one"
                left, right = (WIDE * min(max((math.log10(n) - low) / decades, 0), 1) if n else 0
                               for n in (begin, end))
                if abs(x - left) > 1 + .01 * WIDE / decades or \
                        abs(width - (right - left)) > 1 + .01 * WIDE / decades or \
                        abs(y + high - DEEP) > .11:
                    yield f"{name}: bar of {start} at {x}, {y}, {width} wide, not {left}, {right}"
        return octaves

    @staticmethod
    def words(page, text):
        """The head and what is folded are text's."""
        known = {" ".join(line.split()) for line in text.splitlines()}
        first = {" ".join(line.split()) for line in text.split("\n\n")[0].splitlines()
                 if not line.startswith(" ")}
        head = page.split("</header>")[0]
        said = [" ".join(html.unescape(f"{label} {fact}").split()) for label, fact in
                re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", head)]
        warned = [" ".join(html.unescape(line).split()) for line in
                  re.findall('<p class="warning">(.*?)</p>', head)]
        for line in (*said, *warned):
            if line not in known and "!! " + line not in known:
                yield f"{line} is not in text"
        for line in first:
            if re.match("(guest|recorded|check|time|warning:|!!) ", line) and \
                    line.removeprefix("!! ") not in (*said, *warned):
                yield f"{line} is not in the head"
        folded = html.unescape(re.search("<pre.*?>(.*?)</pre>", page, re.S)[1])
        if folded.strip() != text.strip():
            yield f"folded {folded[:200]}, not {text[:200]}"
        if re.search("<h1>(.*?)</h1>", page)[1] != "Exits of guest.elf":
            yield "title"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).judge()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 20, differences))
