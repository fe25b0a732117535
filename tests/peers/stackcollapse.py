#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""emit=lines is what flame graph scripts read.

    stackcollapse.py --build DIR

A reader of `perf script` output, written from its documented shape (perf-script(1):
comm, tid, cpu, time, period and event in the head line; then for each frame address,
symbol+offset and object; an empty line), folds the lines of every recording. The folded
counts must be those of the JSON report, function by function, in samples and period,
and every line must fit the shape. perf's own flamegraph script reads recordings, not
text, and is no use here.
"""
import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from attribution import RECORDINGS
from tap import DATA, Skip, Tap, environment, filter_argv, must, need, parser, report

# comm may hold blanks; "[cpu]" and "time:" are there if they were recorded.
HEAD = re.compile(
    r"(?P<comm>\S.*?) +(?P<tid>\d+) +(?:\[(?P<cpu>\d{3,})\] +)?"
    r"(?:(?P<time>\d+\.\d{6}): +)?"
    r"(?P<period>\d+) +(?P<event>\S+): *"
)
FRAME = re.compile(r"\s+(?P<ip>[0-9a-f]+) (?P<symbol>.+?)(?:\+0x(?P<offset>[0-9a-f]+))? "
                   r"\((?P<object>\S*)\)")


def fold(text):
    """Returns ({frame: [samples, period]}, lines that fit nothing)."""
    counts = collections.defaultdict(lambda: [0, 0])
    strange = []
    period = None
    for number, line in enumerate(text.split("\n")[:-1], 1):
        head = HEAD.fullmatch(line)
        frame = FRAME.fullmatch(line)
        if period is None and head and not line[0].isspace():
            period = int(head["period"])
            frames = 0
        elif period is not None and frame and frames == 0:
            counts[frame["symbol"]][0] += 1
            counts[frame["symbol"]][1] += period
            frames += 1
        elif period is not None and line == "" and frames == 1:
            period = None
        else:
            strange.append(f"line {number}: {line!r}")
    if period is not None:
        strange.append("the last record has no end")
    return counts, strange


def check(build, name, elf, base, gaps):
    recording = os.path.join(DATA, name + ".data")
    image = f"{os.path.join(DATA, elf)}@{base:#x}"
    options = (image, f"gaps={gaps}", "region=0")
    out = must(*filter_argv(build, recording, *options, "emit=lines"), env=environment())
    counts, strange = fold(out)
    document = report(build, recording, *options, "format=json", "border=keep")
    expected = {
        f["name"]: [f["samples"], f["period"]]
        for f in json.loads(document)["functions"]
    }
    wrong = strange[:5]
    for symbol in sorted(set(counts) | set(expected)):
        if counts.get(symbol) != expected.get(symbol):
            wrong.append(f"{symbol}: {counts.get(symbol)}, not {expected.get(symbol)}")
    return wrong


def check_reader(tap):
    """The reader itself: what it takes, and what it must refuse."""
    good = "a b 7 [001] 1.000002: 5 e:u: \n\t            10 f(int)+0x4 (x.elf)\n\n"
    counts, strange = fold(good + "a 7 6 e: \n\t 11 f(int) (x.elf)\n\n")
    tap.same((dict(counts), strange), ({"f(int)": [2, 11]}, []), "reader: good records")
    for what, text in (
        ("a frame without a head", "\t 10 f (x)\n\n"),
        ("a head without a period", "a 7 e: \n\t 10 f (x)\n\n"),
        ("a symbol that breaks the line", "a 7 1 e: \n\t 10 f\ng (x)\n\n"),
        ("no empty line between", good.rstrip("\n") + "\n" + good),
        ("a record cut short", good[:20] + "\n"),
    ):
        tap.result(fold(text)[1], f"reader: refuses {what}")


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    check_reader(tap)
    try:
        need("perf")
    except Skip as e:
        tap.skip("recordings", e)
        return tap.finish()
    for name, elf, base in RECORDINGS:
        for gaps in ("retag", "drop", "stretch"):
            tap.run(f"{name}: lines fold to the report, gaps={gaps}", check, args.build,
                    name, elf, base, gaps)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
