#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Time and memory of large inputs, and how both grow (see README.md).

    size.py --build DIR [--scale S] [--rounds R] [CASE...]

Each case makes its input three times: a quarter, half, and all of what it is called by.
Linear means that the whole takes four times the quarter.
"""
import argparse
import datetime
import fnmatch
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import cases

MOST = 4.5  # times a quarter's time, from where on it is not called linear
NOISE = 0.2  # seconds: a quarter that takes less tells nothing about growth


class Problem(Exception):
    """One line for the user."""


def run_once(argv, out):
    """(CPU seconds, seconds, MiB, status, what it said)"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(HERE, "measure.py"), out, *argv],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode:
        raise Problem(f"{argv[0]}: cannot be measured: {said[-300:]}")
    cpu, wall, kib, status = done.stdout.split()
    return float(cpu), float(wall), int(kib) / 1024, int(status), said


def environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "PERF_"))}
    kept.update(LC_ALL="C", PERF_PAGER="cat", PERF_CONFIG="/dev/null",
                XDG_STATE_HOME="/dev/null/none")
    return kept


def measure(argv, wanted, rounds, out):
    """(median of CPU seconds, of seconds, most MiB)"""
    runs = [run_once(argv, out) for _ in range(rounds)]
    for *_, status, said in runs:
        if status not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            raise Problem(f"{' '.join(argv)[:300]}: status {status}: {said[-300:]}")
    return (*(statistics.median(run[i] for run in runs) for i in (0, 1)),
            max(run[2] for run in runs))


def show(case, label, got):
    """A row; got: (n, CPU seconds, seconds, MiB) of each part."""
    n, cpu, wall, peak = got[-1]
    parts = [" ".join(f"{part[i]:.{digits}f}" for part in got) for i, digits in ((1, 2), (3, 0))]
    ratio = "-"
    if got[0][0] * 3 < n and got[0][1] >= NOISE:
        ratio = f"{cpu / got[0][1]:.1f}"
        ratio += " NOT LINEAR" if cpu > MOST * got[0][1] else ""
    print(f"| {case.name} | {n:,} | {label} | {wall:.2f} | {peak:.0f} | {parts[0]} | {ratio} | "
          f"{parts[1]} |", flush=True)


def table(case, args, folder):
    rows = {}
    for part in case.parts:
        n = max(1, int(case.n * args.scale) // part)
        here = os.path.join(folder, str(part))
        os.mkdir(here)
        for label, argv, wanted in case.make(args.tools, here, n):
            if args.only and not fnmatch.fnmatch(label, args.only):
                continue
            got = measure(argv, wanted, args.rounds, os.path.join(folder, "out"))
            rows.setdefault(label, []).append((n, *got))
        shutil.rmtree(here)
    for label, got in rows.items():
        show(case, label, got)


def parse():
    known = {case.name: case for case in cases.CASES}
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, metavar="DIR")
    p.add_argument("--scale", type=float, default=1, metavar="S",
                   help="times the size each case has (default %(default)s)")
    p.add_argument("--rounds", type=int, default=3, metavar="R",
                   help="runs of each (default %(default)s)")
    p.add_argument("--only", metavar="GLOB", help="only runs of this name")
    p.add_argument("--folder", metavar="DIR", help="where inputs are made (a temporary one)")
    p.add_argument("case", nargs="*", metavar="CASE", help=", ".join(known))
    args = p.parse_args()
    for name in args.case:
        if name not in known:
            p.error(f"{name}: no such case (one of {', '.join(known)})")
    args.case = [known[name] for name in args.case or known]
    args.tools = cases.Tools(args.build)
    return args


def main():
    args = parse()
    cpu = subprocess.run("sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1", shell=True,
                         stdout=subprocess.PIPE, check=False).stdout.decode().strip()
    print(f"{datetime.date.today()}, {cpu}, {len(os.sched_getaffinity(0))} CPUs\n\n"
          "| case | n | verb | seconds | peak MiB | CPU seconds at n/4 n/2 n | "
          "n to n/4 | MiB at n/4 n/2 n |\n|---|---|---|---|---|---|---|---|", flush=True)
    failed = False
    for case in args.case:
        with tempfile.TemporaryDirectory(prefix="hlguest-size-", dir=args.folder) as folder:
            try:
                table(case, args, folder)
            except Problem as problem:
                print(f"size.py: {case.name}: {problem}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
