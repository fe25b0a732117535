# SPDX-License-Identifier: GPL-2.0-only
"""What reading records costs, against a bare walk over them (see README.md)."""
import os
import re
import statistics

import known_exits
import long_windows
from cost import Cost, Problem, interleave, peak
from tap import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, os.pardir, "data")

EXITS_LEAST = 1.5  # times as fast as perf
EXITS_GROWTH = 1.1  # of memory, from a tenth of the records to all


class Walks:
    """Benchmarks of bench.py's Bench, which has the programs and the verdicts."""

    def walk(self):
        """The feed against a walk over the headers of the same windows."""
        recording = self.fresh(self.recording(self.args.samples, 1, 256))
        ratios = []
        print("walk:")
        for _ in range(self.args.rounds // 2 + 1):
            out = Cost([self.built("perfdata-bench"), recording, self.guest()]).out
            took = dict(re.findall(r"^\((.)\).* ([0-9.]+) ns/sample", out, re.MULTILINE))
            ratios.append(float(took["c"]) / float(took["a"]))
        print("  " + out.strip().replace("\n", "\n  "))
        ratio = statistics.median(ratios)
        print(f"  profile/windows ratio {ratio:.2f}  [{min(ratios):.2f} .. {max(ratios):.2f}]"
              f"  {self.verdict('walk', ratio, 'walk')}")

    def against_walk(self, name, argv, recording, what, time="cpu"):
        """Time of a program against that of a bare walk over the record headers."""
        walk = [self.built("perfdata-bench"), "--walk", recording]
        samples = int(Cost(walk).out.split()[0])
        runs = interleave([*argv, recording], walk, self.args.rounds)
        ours, bare = ([getattr(run, time) for run in side] for side in runs)
        ratios = [a / b for a, b in zip(ours, bare)]
        ratio = statistics.median(ratios)
        each = [statistics.median(side) * 1e9 / samples for side in (ours, bare)]
        verdict = self.verdict(name, ratio, name) if name in self.limit else ""
        print(f"{name}: {samples} {what}: {each[0]:.1f} ns each, a walk {each[1]:.1f} ns, "
              f"ratio {ratio:.2f}  [{min(ratios):.2f} .. {max(ratios):.2f}]  {verdict}")

    def exits(self):
        """hlguest exits against a bare walk and perf, and its memory against that for a tenth."""
        short = os.path.join(self.cache, "exits.data")
        try:
            known_exits.for_perf(short, 1)
        except Skip as e:
            raise Problem(f"exits: {e} (run it where perf knows the reasons)") from e
        once = int(Cost([self.built("perfdata-bench"), "--walk", short]).out.split()[0])
        paths = []
        for part in (10, 1):
            paths.append(os.path.join(self.cache, f"exits-{part}.data"))
            times = max(1, self.args.samples // part // once)
            Cost([self.built("exits-repeat"), short, str(times), paths[-1]])
        argv = [self.built("hlguest"), "exits", "-q", f"{self.guest()}@0x4000"]
        self.against_walk("exits", argv, paths[1], "records, wall time", "wall")
        self.against_walk("exits, CPU time", argv, paths[1], "records")
        self.times_as_fast("exits", [self.args.perf, "kvm", "-i", paths[1], "stat", "report"],
                           [*argv, paths[1]], EXITS_LEAST,
                           "hlguest exits against perf kvm stat report:")
        few, many = [peak([*argv, path]) for path in paths]
        if many > few * EXITS_GROWTH:
            self.over.append("exits memory")
        print(f"  memory {few} KiB for a tenth of them, {many} KiB for all  "
              f"{'within' if many <= few * EXITS_GROWTH else 'OVER'} "
              f"(at most {EXITS_GROWTH:.1f} x)")

    def windows(self):
        """hlguest windows, a tenth as many: a row each, against a bare walk."""
        path = os.path.join(self.cache, "windows.data")
        source = os.path.join(DATA, "demo-windows.data")
        n = max(1, self.args.samples // 10)
        long_windows.repeat(source, n, path)
        argv = [self.built("hlguest"), "windows", "-q", self.guest()]
        self.against_walk("windows", argv, path, "windows as CSV")
        self.against_walk("windows", [*argv, "--summary"], path, "windows summed up")
        print(f"  memory {peak([*argv, path]) * 1024 / n:.0f} bytes for a window")
