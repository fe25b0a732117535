#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Figures of SECURITY.md are those of where it says that they are from.

    figures.py

What fuzzers have executed, by door, adds up: each column of tests/fuzz/README.md, all of
them, and what was before. So many hostile names there are.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from names import names
from tap import Tap

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def figure(what):
    """The number in SECURITY's row of that name."""
    return number(re.search(rf"^\| {what}[^|]*\| ([\d,]+) ", read("SECURITY.md"), re.M)[1])


def number(text):
    return int(text.strip().replace(",", "") or 0)


def executions():
    text = read("tests/fuzz/README.md")
    header = re.search(r"^\| door \|(.*)\| edges \|", text, re.M)
    days = header[1].count("|") + 1
    rows = {row[0]: [number(n) for n in row[1].split("|")[:days]]
            for row in re.findall(r"^\| (`\w+`|all) \|((?: *[\d,]* \|)+)", text[header.end():], re.M)}
    every = rows.pop("all")
    sums = [sum(column) for column in zip(*rows.values())]
    if len(rows) < 10 or sums != every:
        yield f"all of {len(rows)} doors: {every}, not {sums}"
    before, total = re.search(r"With ([\d,]+) before the [^.]*?these are\s+([\d,]+)", text).groups()
    if sum(sums) + number(before) != number(total):
        yield f"{total}, not {sum(sums) + number(before):,}"
    if figure("executions of fuzzers") != number(total):
        yield f"SECURITY.md: {figure('executions of fuzzers'):,}, not {total}"


def hostile():
    if figure("hostile names") != len(names()):
        yield f"SECURITY.md: {figure('hostile names')}, not {len(names())}"


def main():
    tap = Tap()
    for name, check in ("executions of fuzzers", executions), ("hostile names", hostile):
        tap.run(name, lambda check=check: list(check()))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
