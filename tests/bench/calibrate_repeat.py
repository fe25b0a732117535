#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How far the native rows of hlguest calibrate differ from run to run; by hand.

    calibrate_repeat.py [--hlguest PROGRAM] [--times N]

Runs `hlguest calibrate --only=exits` N times (10) and prints, for each native row, the
median of each run and how far the largest is from the smallest. On an idle machine they
lie within 10 % of each other: the exit status is 1 if they do not. Each run's own word on
how noisy the machine was stands beside; how far the others are apart is told as well where
some say "measure again" themselves.
"""
import argparse
import json
import subprocess
import sys

NATIVE = ["pair_host", "getppid", "host_fault"]
LIMIT = 0.10


def measure(hlguest):
    run = subprocess.run([hlguest, "calibrate", "-q", "--only=exits", "--format=json"],
                         check=True, stdout=subprocess.PIPE)
    crossings = json.loads(run.stdout)["crossings"]
    rows = {row["row"]: row for row in crossings["rows"]}
    return {name: rows[name]["p50"] for name in NATIVE}, crossings


def noise_of(crossings):
    text = f"all batches within {crossings['noise']:.1%}"
    if "quiet_noise" in crossings:
        text += (f", quiet ones within {crossings['quiet_noise']:.1%}, "
                 f"{crossings['quiet_share']:.0%} of them quiet  {crossings['idle']}")
    return text


def spread_of(values):
    return (max(values) - min(values)) / min(values) if min(values) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hlguest", default="hlguest")
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    medians = {name: [] for name in NATIVE}
    believed = {name: [] for name in NATIVE}
    for i in range(args.times):
        found, crossings = measure(args.hlguest)
        for name, value in found.items():
            medians[name].append(value)
            if "again" not in crossings.get("idle", ""):
                believed[name].append(value)
        print(f"{i + 1:3}  " + "  ".join(f"{k} {v:5}" for k, v in found.items())
              + "  " + noise_of(crossings), flush=True)
    apart = False
    for name, values in medians.items():
        spread = spread_of(values)
        apart |= spread > LIMIT
        print(f"{name:12} {min(values):6} to {max(values):6} ticks: "
              f"{spread:6.1%} apart{'' if spread <= LIMIT else '  (more than 10 %)'}")
        if believed[name] and len(believed[name]) < len(values):
            print(f"{'':12} without the {len(values) - len(believed[name])} to be measured "
                  f"again: {spread_of(believed[name]):6.1%} apart")
    return int(apart)


if __name__ == "__main__":
    sys.exit(main())
