#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The filter's JSON, CSV and text against a second opinion: row by row, and in their sums.

    readelf_oracle.py [--self-test] --build DIR [RECORDING ELF BASE]

The second opinion is that of kit/attribution.py, which has the samples from perf's own dump
and the symbols from readelf.

--self-test: the comparison has to notice every way in which an output is spoilt here.
"""
import copy
import os
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from attribution import RECORDINGS, Elf, attribute, check, compare, read_samples
from outputs import KINDS, PARSERS, WORDS, Row
from tap import DATA, Skip, Tap, need, parser, report


def check_all(tap, build, recording, elf_path, base):
    """All formats and policies for one recording."""
    name = os.path.basename(recording)
    elf = Elf(elf_path)
    samples = read_samples(recording)
    tap.result(sum(s.guest for s in samples) > 200, f"{name}: has samples to compare")
    for gaps in ("retag", "drop", "stretch"):
        expected = attribute(samples, elf, base, gaps)
        for form in PARSERS:
            tap.run(f"{name}: {form}, gaps={gaps}", check, build, recording, elf_path,
                    base, form, expected, gaps)


# --- does it notice? ---------------------------------------------------------------


def spoilt(profile):
    """Copies of an output, each wrong in one way."""
    biggest = max(profile.rows, key=lambda r: profile.rows[r].samples)
    smallest = min(profile.rows, key=lambda r: profile.rows[r].samples)

    def changed(change):
        p = copy.deepcopy(profile)
        change(p)
        return p

    def move(p):  # one sample credited to another function
        p.rows[biggest].add(-1, -1000000)
        p.rows[smallest].add(1, 1000000)

    def credit(p):  # as a tool does that rounds to the wrong symbol
        row = Row("function", "never_called", biggest.addr, 44)
        p.rows[row].add(1, 1000000)
        p.rows[biggest].add(-1, -1000000)

    def rename(p, **fields):
        p.rows[biggest._replace(**fields)] = p.rows.pop(biggest)

    yield "a sample moved", changed(move)
    yield "a sample credited to never_called", changed(credit)
    yield "a row lost", changed(lambda p: p.rows.pop(smallest))
    yield "a period off by one", changed(lambda p: p.rows[biggest].add(0, 1))
    yield "a size off by one", changed(
        lambda p: rename(p, size=biggest.size + 1))
    yield "a kind changed", changed(
        lambda p: rename(p, kind="label"))
    yield "a region short of a sample", changed(lambda p: p.regions.add(-1, 0))
    for name in ("seen", "deselected", "host", "guest") + KINDS:
        yield f"{name} off by one", changed(lambda p, n=name: p.totals[n].add(1, 0))
        yield f"the period of {name} off by one", changed(
            lambda p, n=name: p.totals[n].add(0, 1))


def self_test(tap, build):
    recording = os.path.join(DATA, "demo-user.data")
    elf_path = os.path.join(DATA, "demo.elf")
    elf = Elf(elf_path)
    samples = read_samples(recording)
    expected = attribute(samples, elf, 0x4000)
    for form, parse in PARSERS.items():
        try:
            actual = parse(report(build, recording, elf_path, f"format={form}",
                                  "demangle=no", "top=0", "border=keep", *WORDS.get(form, [])))
        except Skip as e:
            tap.skip(f"{form}: spoilt outputs", e)
            continue
        tap.same(compare(actual, expected, form), [], f"{form}: agrees as it is")
        for what, wrong in spoilt(actual):
            tap.result(compare(wrong, expected, form), f"{form}: notices {what}")
        other = attribute(samples[:-1], elf, 0x4000)
        tap.result(compare(actual, other, form), f"{form}: notices a sample not counted")
        other = attribute(samples, elf, 0x4001)
        tap.result(compare(actual, other, form), f"{form}: notices a base off by one")
        other = attribute(samples, elf, 0x4000, "stretch")
        tap.result(compare(actual, other, form), f"{form}: notices stretched gaps")


def main():
    p = parser(__doc__)
    p.add_argument("--self-test", action="store_true")
    p.add_argument("other", nargs="*", metavar="RECORDING ELF BASE")
    args = p.parse_args()
    if len(args.other) not in (0, 3):
        p.error("RECORDING, ELF and BASE come together")
    tap = Tap()
    try:
        need("perf", "readelf")
    except Skip as e:
        tap.skip("everything", e)
        return tap.finish()
    if args.self_test:
        self_test(tap, args.build)
    elif args.other:
        check_all(tap, args.build, args.other[0], args.other[1], int(args.other[2], 0))
    else:
        for name, elf, base in RECORDINGS:
            check_all(tap, args.build, os.path.join(DATA, name + ".data"),
                      os.path.join(DATA, elf), base)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
