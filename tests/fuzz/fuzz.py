#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fuzz.py --build BUILD MINUTES [DOOR...]: runs the fuzzers, as many at once as there are
CPUs, each of them a slice of time after the other until MINUTES are over.

What they learn stays in BUILD/fuzz/DOOR; what breaks goes to BUILD/findings. Prints
executions, coverage and findings; the exit status is 1 if there are any.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLICE = 60          # seconds
MEMORY = 2048       # MB, of one fuzzer
LONGEST = 5         # seconds, of one input
PREFIXES = ("crash-", "leak-", "timeout-", "oom-", "slow-unit-")


class Door:
    def __init__(self, program, work, findings):
        self.program = program
        self.name = program.name.removeprefix("fuzz-")
        self.work = work / self.name
        self.findings = findings
        self.executions = self.coverage = self.seconds = 0
        self.work.mkdir(parents=True, exist_ok=True)

    def start(self, seconds):
        self.started = time.monotonic()
        self.log = open(self.work.with_suffix(".log"), "w+", encoding="utf-8",
                        errors="replace")
        return subprocess.Popen(
            [str(self.program), f"-max_total_time={max(1, int(seconds))}",
             f"-timeout={LONGEST}", f"-rss_limit_mb={MEMORY}", "-print_final_stats=1",
             "-report_slow_units=3", f"-artifact_prefix={self.findings}/{self.name}-",
             str(self.work)],
            stdout=self.log, stderr=subprocess.STDOUT)

    def end(self):
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        done = re.findall(r"number_of_executed_units: (\d+)", text)
        cover = re.findall(r" cov: (\d+) ", text)
        self.seconds += time.monotonic() - self.started
        self.executions += int(done[-1]) if done else 0
        self.coverage = max(self.coverage, int(cover[-1]) if cover else 0)


def run(doors, end):
    running = {}
    while time.monotonic() < end or running:
        while len(running) < (os.cpu_count() or 1) and time.monotonic() < end:
            idle = [door for door in doors if door not in running.values()]
            if not idle:
                break
            door = min(idle, key=lambda d: (d.seconds, d.name))
            running[door.start(min(SLICE, end - time.monotonic()))] = door
        for process in list(running):
            if process.poll() is not None:
                running.pop(process).end()
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("minutes", type=float)
    parser.add_argument("doors", nargs="*")
    args = parser.parse_args()
    work, found = args.build / "fuzz", args.build / "findings"
    work.mkdir(exist_ok=True)
    found.mkdir(exist_ok=True)
    subprocess.run([sys.executable, str(HERE / "seeds.py"), str(args.build), str(work)],
                   check=True)
    programs = sorted(p for p in (args.build / "tests/fuzz").glob("fuzz-*") if p.is_file())
    doors = [Door(p, work, found) for p in programs]
    doors = [d for d in doors if not args.doors or d.name in args.doors]
    run(doors, time.monotonic() + 60 * args.minutes)
    print(f"{'door':<12}{'executions':>14}{'a second':>10}{'coverage':>10}")
    for door in doors:
        rate = door.executions / door.seconds if door.seconds else 0
        print(f"{door.name:<12}{door.executions:>14}{rate:>10.0f}{door.coverage:>10}")
    print(f"{'all':<12}{sum(d.executions for d in doors):>14}")
    findings = sorted(f for f in found.iterdir() if any(p in f.name for p in PREFIXES))
    for path in findings:
        print(f"finding: {path}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
