#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest exits against `perf kvm stat report`, where that is right.

    exits_stat.py --build DIR

perf knows the reasons of the processor it runs on, so the recording is of that kind; it
pairs from a thread's first kvm_entry on, so the recording begins with one. Then both must
name the same reasons, with as many exits, and least, greatest and mean times equal to what
perf prints of them. Skipped where perf cannot: no perf, no `perf kvm stat`, a processor
that is neither Intel's nor AMD's.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import known_exits as exits
from tap import Skip, Tap, need, parser, run

ROW = re.compile(r"^ *(\S+) +(\d+) +[\d.]+% +[\d.]+% +([\d.]+)us +([\d.]+)us +([\d.]+)us ", re.M)
TOTAL = re.compile(r"^Total Samples:(\d+), Total events handled time:([\d.]+)us", re.M)


def of_perf(path):
    """{reason: (count, min, max, mean)}, count and time of all; µs as perf prints them."""
    need("perf")
    out, err, status = run("perf", "kvm", "-i", path, "stat", "report")
    total = TOTAL.search(out + err)
    if status or not total:
        raise Skip(f"perf kvm stat report cannot: {err.strip()[-200:] or 'it prints no total'}")
    rows = {name: (int(n), *times) for name, n, *times in ROW.findall(out + err)}
    if not rows or any("UNKNOWN" in name for name in rows):
        raise Skip("perf kvm stat does not know the reasons of this processor")
    return rows, (int(total[1]), total[2])


def micro(ns):
    return f"{ns / 1000:.2f}"


def compare(build, path, seed):
    exits.for_perf(path, seed)
    rows, total = of_perf(path)
    document = exits.ask(build, path)
    ours = exits.tables(document)["exit", "reason"]
    wrong = []
    # perf's names are the processor manual's, as KVM's headers spell them.
    found = {r["name"]: (r["count"], micro(r["min_ns"]), micro(r["max_ns"]),
                         micro(r["total_ns"] / r["count"])) for r in ours}
    for name in sorted({*rows, *found}):
        theirs, mine = rows.get(name), found.get(name)
        # Of a mean perf keeps a running one.
        if not theirs or not mine or theirs[:3] != mine[:3] or \
                abs(float(theirs[3]) - float(mine[3])) > 0.015:
            wrong.append(f"{name}: {mine}, perf {theirs}")
    mine = document["pairs"]["exit"], micro(sum(r["total_ns"] for r in ours))
    if mine != total:
        wrong.append(f"all: {mine}, perf {total}")
    return wrong


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        tap.run("reasons, counts and times", compare, build,
                os.path.join(folder, "known.data"), 1)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
