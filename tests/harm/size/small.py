#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The cases of size.py, small: each is read, all its samples are counted, and memory does not
grow faster than the input.

    small.py --build DIR

Each runs at a size and at four times that. What a program of no input takes is MARGIN; the
rest may at most be PER_PART times as much. What a hostile file would keep busy for hours
ends by TIMEOUT of tap.py's tests or the suite's.
"""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import cases
import size
from tap import Skip, Tap, parser

MARGIN = 24  # MiB: of the program, its libraries, and Python's that starts it
PER_PART = 4.5
# Enough to pass the first, fixed sizes of tables.
SMALL = {
    "symbols": 8000, "addresses": 8000, "threads": 800, "files": 40, "long names": 24,
    "mangled names": 24, "images": 24, "stacks": 4000, "deep stacks": 1000, "windows": 8000,
    "sysprof": 1 << 21, "profiles": 4000, "vCPUs": 100, "one function": 16384, "map": 8000,
    "sections": 70000, "segments": 70000, "events": 3000, "sparse": 1 << 32,
}
# Of a case with many formats these.
RUNS = ("report", "report text", "report of them", "report json", "report by=tid json",
        "report callgraph text", "report callgraph json", "flame", "diff", "merge", "lookup",
        "kallsyms", "inject", "windows csv", "sysprof text", "exits --by=tid", "annotate text",
        "annotate json", "merge of events")
# Written as it is made: what it may need more than text, in MiB.
AS_TEXT, MORE = {"annotate json": "annotate text"}, 8
# Guest samples in a case's input of size n.
MADE = {
    "symbols": lambda n: 10000, "addresses": lambda n: n, "threads": lambda n: 2 * n,
    "files": lambda n: 20 * n, "long names": lambda n: 2 * n, "mangled names": lambda n: 2 * n,
    "images": lambda n: 10 * n, "stacks": lambda n: n, "deep stacks": lambda n: 64,
    "profiles": lambda n: 2 * n, "one function": lambda n: -(-n // 256), "map": lambda n: 10000,
    "sections": lambda n: 1000, "segments": lambda n: 1000, "events": lambda n: n,
}
# Statuses of a build without an optional library, and what it says.
WITHOUT = ("not in this build", "built without", "without ")


def counted(path):
    """Guest samples that a report, text or JSON, says it has; None if it is neither."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if not text.startswith(("{", "guest ", "!! ")):
        return None
    if not text.startswith("{"):
        found = re.findall(r"^(?:recorded)? +.*, ([0-9]+) guest samples?(?:,| \(|$)", text, re.M)
        return sum(map(int, found)) if found else None
    totals = {name: count["samples"] for name, count in json.loads(text)["totals"].items()}
    parts = sum(totals[name] for name in ("function", "label", "gap", "border", "data", "outside"))
    if parts != totals["guest"]:
        raise RuntimeError(f"{totals['guest']} guest samples, {parts} in the parts")
    return totals["guest"]


def check_counted(case, label, n, *paths):
    """Is what the report says what was made?"""
    path = next(path for path in paths if os.path.exists(path))
    got = counted(path) if label.startswith("report") else None
    made = MADE[case.name](n) if case.name in MADE else got
    made = n if label.startswith("report callgraph by thread") else made
    if got is not None and got != made:
        raise RuntimeError(f"{label}: {got} guest samples, {made} were made")
    return got is not None


def peaks(case, tools, n, folder):
    """{label: MiB}"""
    found, any_counted = {}, False
    os.mkdir(folder)
    for label, argv, wanted in case.make(tools, folder, n):
        needed = label == "report pprof of one" or label.startswith("report pprof ")
        if label not in RUNS and not needed:
            continue
        _, _, peak, status, said = size.run_once(argv, os.path.join(folder, "out"))
        if status not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            if any(words in said for words in WITHOUT):
                continue
            raise RuntimeError(f"{label}: status {status}: {said[-300:]}")
        found[label] = peak
        if status in (0, 3) and not needed:
            any_counted |= check_counted(case, label, n, os.path.join(
                folder, "out." + label.split()[-1]), os.path.join(folder, "out"))
    if found and case.name in MADE and not any_counted:
        raise RuntimeError("no report says how many samples it has")
    return found


def check(case, tools, folder):
    n = SMALL[case.name]
    few, many = (peaks(case, tools, k, os.path.join(folder, str(k))) for k in (n // 4, n))
    if not many:
        raise Skip("this build lacks what is needed")
    return [f"{label}: {few[label]:.0f} MiB for {n // 4}, {peak:.0f} MiB for {n}"
            for label, peak in many.items()
            if peak > MARGIN + PER_PART * max(0, few.get(label, 0) - 4)] + [
                f"{label}: {many[label]:.0f} MiB, as text {many[text]:.0f}"
                for label, text in AS_TEXT.items()
                if label in many and many[label] > many[text] + MORE]


def main():
    args = parser(__doc__).parse_args()
    if os.environ.get("HLG_WITHOUT"):  # a sanitizer's memory is not the program's
        print("1..0 # SKIP memory is not measured with sanitizers")
        return 0
    tap, tools = Tap(), cases.Tools(args.build)
    for case in cases.CASES:
        if case.name in SMALL:
            with tempfile.TemporaryDirectory(prefix="hlguest-small-") as folder:
                tap.run(case.name, check, case, tools, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
