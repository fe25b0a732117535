#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is what is left of each function, with the border apart, what it executed?

    border.py [--build BUILD] [-v] FOLDER

FOLDER has guest.elf and recordings of it whose every executed instruction was counted:
NAME.data, and NAME.counts with `ADDRESS COUNT` lines, the ELF's own addresses in hex. Of each
recording this prints a line: guest samples; those of the border and how many samples the
executed instructions there are worth (expected); of the functions with 1 % or more of samples
or instructions how many have the executed share within their 95 % interval, with border=keep
and with split; and the same of the functions that leave the guest alone, whatever they have, within 99 %
intervals (of a dozen recordings one is outside of 95 % anyway).

Fails where
- the functions that leave the guest do not lie within their intervals;
- over all recordings of 1,000 and more exits a second fewer than 90 % of the rows do;
- anything is taken away of a recording whose name begins with `few`;
- more of the border than a tenth is what its own instructions are worth.
"""
import argparse
import bisect
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 1.0  # percent
Z95, Z99 = 1.959963984540054, 2.5758293035489


def counts_of(path):
    with open(path, encoding="ascii") as f:
        return {int(a, 16): int(n) for a, n in (line.split() for line in f)}


def report(build, elf, data, border):
    out = subprocess.run([os.path.join(build, "tools", "hlguest"), "report", elf, data,
                          "--format=json", "--top=0", f"--border={border}"],
                         stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def functions_of(elf):
    """[(start, end, name)] of readelf, for instructions where there was no sample."""
    out = subprocess.run(["readelf", "-sW", elf], stdout=subprocess.PIPE, check=True,
                         text=True).stdout
    found = {}
    for line in out.splitlines():
        w = line.split()
        if len(w) >= 8 and w[3] == "FUNC" and w[6] != "UND" and w[2] != "0":
            found.setdefault(int(w[1], 16), (int(w[1], 16), int(w[1], 16) + int(w[2], 0), w[7]))
    return sorted(found.values())


def executed(functions, counts, without):
    """{start: instructions} of each function, and of all; `without` some addresses."""
    starts = [f[0] for f in functions]
    sums, total = {}, 0
    for addr, n in counts.items():
        if addr in without:
            continue
        total += n
        i = bisect.bisect_right(starts, addr) - 1
        if i >= 0 and addr < functions[i][1]:
            sums[starts[i]] = sums.get(starts[i], 0) + n
    return sums, total


def wilson(k, n, z):
    p = k / n
    mid = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 100 * (mid - half), 100 * (mid + half)


def rows_of(document, functions, counts):
    """(name, start, percent, low, high, executed percent, low and high of 99 %) of all
    functions that ran."""
    border = {int(a, 16) for row in document["border"] for a in row["addresses"]}
    sums, total = executed(functions, counts, border)
    seen = {int(f["addr"], 16): f for f in document["functions"]}
    kept = sum(f["samples"] for f in document["functions"])
    for start, _, name in functions:
        true = 100 * sums.get(start, 0) / total
        if start in seen:
            f = seen[start]
            yield (f["name"], start, f["percent"], *wilson(f["samples"], kept, Z95), true,
                   *wilson(f["samples"], kept, Z99))
        elif true:
            yield (name, start, 0.0, *wilson(0, kept, Z95), true, *wilson(0, kept, Z99))


def judge(args, elf, functions, path):
    counts = counts_of(path[:-5] + ".counts")
    documents = {how: report(args.build, elf, path, how) for how in ("keep", "split")}
    leavers = {int(row["addr"], 16) for row in documents["split"]["border"]}
    border = {int(a, 16) for row in documents["split"]["border"] for a in row["addresses"]}
    guest = documents["split"]["totals"]["guest"]["samples"]
    taken = documents["split"]["totals"]["border"]["samples"]
    worth = guest * sum(counts.get(a, 0) for a in border) / sum(counts.values())
    found = {}
    for how, document in documents.items():
        rows = list(rows_of(document, functions, counts))
        large = [r for r in rows if max(r[2], r[5]) >= LEAST]
        inside = [r for r in large if r[3] <= r[5] <= r[4]]
        own = [r for r in rows if r[1] in leavers]
        fits = [r for r in own if r[6] <= r[5] <= r[7]]
        found[how] = (len(inside), len(large), len(fits), len(own))
        for name, start, percent, low, high, true, *_ in rows if args.verbose else ():
            if not low <= true <= high and (max(percent, true) >= LEAST or start in leavers):
                print(f"      {how:5} {percent:6.2f} [{low:5.2f} {high:5.2f}] executed "
                      f"{true:6.2f}  {name[:60]}")
    name = os.path.basename(path)[:-5]
    print(f"{name:14} {guest:6} {taken:6} {worth:8.2f}  " +
          "  ".join("{:3} of {:3}  {} of {}".format(*found[how]) for how in found), flush=True)
    if args.verbose:
        for row in documents["split"]["border"]:
            print(f"      border {row['samples']:5} {' '.join(row['addresses'])} {row['name']}")
    return name, guest, taken, worth, found


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    p.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    p.add_argument("-v", "--verbose", action="store_true")
    p.add_argument("folder")
    args = p.parse_args()
    elf = os.path.join(args.folder, "guest.elf")
    functions, wrong, sums = functions_of(elf), [], [0, 0]
    print("recording       guest border expected  keep: rows, leaving  split: rows, leaving")
    paths = [path for path in sorted(glob.glob(os.path.join(args.folder, "*.data")))
             if os.path.exists(path[:-5] + ".counts")]
    for path in paths:
        name, _, taken, worth, found = judge(args, elf, functions, path)
        rows = found["split"]
        if rows[2] != rows[3]:
            wrong.append(f"{name}: a function that leaves the guest is outside its interval")
        if name.startswith("few") and taken:
            wrong.append(f"{name}: {taken} samples are taken away")
        if worth > taken / 10:
            wrong.append(f"{name}: {worth:.1f} of {taken} samples are worth their instructions")
        if not name.startswith("few"):
            sums = [sums[0] + rows[0], sums[1] + rows[1]]
    if not paths:
        wrong.append(f"{args.folder}: no recording with counts")
    elif sums[0] < 0.9 * sums[1]:
        wrong.append("fewer than 90 % of the rows are within their intervals")
    print(f"{sums[0]} of {sums[1]} rows with 1 % or more are within their intervals")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
