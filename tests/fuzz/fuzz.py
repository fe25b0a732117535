#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fuzz.py --build BUILD MINUTES [DOOR...]: runs the fuzzers, as many at once as there are
CPUs, a slice of time each, until MINUTES are over: next is the one with the fewest executions.

What they learn stays in BUILD/fuzz/DOOR, of which no more is kept than it takes to get as far;
what breaks goes to BUILD/findings. Prints executions, coverage, how much of that is new, and
findings, of this run and of all runs in BUILD; the exit status is 1 if there are findings. ^C or SIGTERM ends it early.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLICE = 120         # seconds
MEMORY = 2048       # MB, of one fuzzer
LONGEST = 5         # seconds, of one input
PREFIXES = ("crash-", "leak-", "timeout-", "oom-", "slow-unit-")

# Three slices of four are quick: inputs of at most so many bytes, leaks not looked for (at
# the next slice's start they are, in all inputs that led somewhere new), less remembered of
# what was freed.
SHORT = {"words": 200, "map": 400, "calibration": 600, "formats": 1200, "report": 120,
         "elf": 2400, "profile": 2000, "recording": 4096, "exits": 400, "pairs": 300,
         "sysprof": 600, "walk": 600, "unwind": 800,
         "lines": 4000}
MANY = 400          # inputs of a door; of more than that only those are kept that it takes
QUICK = "max_malloc_fill_size=16:malloc_context_size=1:quarantine_size_mb=8"


class Door:
    def __init__(self, program, work, findings):
        self.program = program
        self.name = program.name.removeprefix("fuzz-")
        self.work = work / self.name
        self.findings = findings
        self.slices = self.executions = self.coverage = self.seconds = self.broken = 0
        self.work.mkdir(parents=True, exist_ok=True)

    def keep_few(self):
        """Leaves out inputs that lead nowhere where others do not lead, too."""
        before = len(list(self.work.iterdir()))
        few = self.work.with_suffix(".few")
        shutil.rmtree(few, ignore_errors=True)
        if before <= MANY:
            return
        few.mkdir()
        words = [str(self.program), "-merge=1", f"-timeout={LONGEST}", f"-rss_limit_mb={MEMORY}",
                 f"-artifact_prefix={self.findings}/{self.name}-", str(few), str(self.work)]
        if subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0 and any(few.iterdir()):
            shutil.rmtree(self.work)
            few.rename(self.work)
            print(f"{self.name}: {len(list(self.work.iterdir()))} of {before} inputs are kept")

    def start(self, seconds):
        self.started = time.monotonic()
        self.log = open(self.work.with_suffix(".log"), "w+", encoding="utf-8",
                        errors="replace")
        words = [str(self.program), f"-max_total_time={max(1, int(seconds))}",
                 f"-timeout={LONGEST}", f"-rss_limit_mb={MEMORY}", "-print_final_stats=1",
                 "-report_slow_units=3", "-entropic=0", "-reload=0",
                 f"-artifact_prefix={self.findings}/{self.name}-"]
        env = dict(os.environ)
        if self.slices % 4 < 3:
            words += ["-detect_leaks=0", f"-max_len={SHORT[self.name]}"]
            env["ASAN_OPTIONS"] = QUICK
        self.slices += 1
        return subprocess.Popen(words + [str(self.work)], env=env, stdout=self.log,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def end(self, status):
        self.broken += status != 0
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        done = re.findall(r"number_of_executed_units: (\d+)", text)
        cover = re.findall(r" cov: (\d+) ", text)
        # The fuzzer's own clock: this program may have been stopped meanwhile.
        took = re.findall(r"^Done \d+ runs in (\d+) second", text, re.M)
        self.seconds += int(took[-1]) if took else time.monotonic() - self.started
        self.executions += int(done[-1]) if done else 0
        self.coverage = max([self.coverage, *map(int, cover)])


class Totals:
    """What all runs in a build did: {door: [executions, seconds, coverage]}."""

    def __init__(self, path):
        self.path = path
        self.before = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def of(self, door):
        executions, seconds, coverage = self.before.get(door.name, (0, 0, 0))
        return (executions + door.executions, round(seconds + door.seconds, 1),
                max(coverage, door.coverage))

    def gained(self, door):
        return max(0, door.coverage - self.before.get(door.name, (0, 0, 0))[2])

    def save(self, doors):
        part = self.path.with_suffix(".part")
        now = self.before | {door.name: self.of(door) for door in doors}
        part.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
        part.replace(self.path)


class Stop(Exception):
    pass


def stop(*_):
    raise Stop


def run(doors, end, totals):
    running = {}
    try:
        while time.monotonic() < end or running:
            while len(running) < (os.cpu_count() or 1) and time.monotonic() < end:
                idle = [door for door in doors if door not in running.values()]
                if not idle:
                    break
                # One that broke would break again, and the others wait.
                door = min(idle, key=lambda d: (d.broken, d.executions, d.name))
                running[door.start(min(SLICE, end - time.monotonic()))] = door
            for process in list(running):
                if process.poll() is not None:
                    running.pop(process).end(process.returncode)
                    totals.save(doors)
            time.sleep(0.2)
    except (Stop, KeyboardInterrupt):
        for process in running:
            process.send_signal(signal.SIGINT)  # libFuzzer tells what it did
        for process, door in running.items():
            door.end(process.wait())
        totals.save(doors)


def tell(title, rows):
    """rows: (door, executions, seconds, coverage, what of that no run had before)"""
    print(f"{title:<12}{'executions':>14}{'a second':>10}{'coverage':>10}{'new':>8}")
    for name, executions, seconds, coverage, new in rows:
        rate = executions / seconds if seconds else 0
        print(f"{name:<12}{executions:>14}{rate:>10.0f}{coverage:>10}{new:>8}")
    print(f"{'all':<12}{sum(row[1] for row in rows):>14}")


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
    unknown = [d.name for d in doors if d.name not in SHORT]
    if unknown:
        sys.exit(f"fuzz.py: no length of short inputs of {', '.join(unknown)} (add it to SHORT)")
    if not doors:
        sys.exit(f"fuzz.py: {args.build}/tests/fuzz: no fuzzer of that name (build `fuzzers`)")
    totals = Totals(work / "totals.json")
    for door in doors:
        door.slices = round(totals.of(door)[1] / SLICE)
        door.keep_few()
    signal.signal(signal.SIGTERM, stop)
    run(doors, time.monotonic() + 60 * args.minutes, totals)
    tell("this run", [(d.name, d.executions, d.seconds, d.coverage, totals.gained(d))
                      for d in doors])
    tell("all runs", [(d.name, *totals.of(d), totals.of(d)[2]) for d in doors])
    findings = sorted(f for f in found.iterdir() if any(p in f.name for p in PREFIXES))
    for path in findings:
        print(f"finding: {path}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
