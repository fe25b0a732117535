# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs a VMM whose guest does nothing but exit (see README.md)."""
import os
import re
import statistics

from cost import Cost, interleave
from microvm import TABLES, guest
from tap import Skip

RUNS = 1200  # of tests/live/guests/tree.c, a second or two
CHUNKS = 60  # of entries.c, a second or less
RATE = "997"
WAYS = {"default": (), "sandboxes": ("--sandboxes",)}  # of hlguest record


class Recorders:
    """A benchmark of bench.py's Bench, which has the programs and the verdicts."""

    def an_exit(self, *recorder):
        """CPU time of an exit, in ns: of the cheaper quarter of chunks."""
        done = Cost([*recorder, self.built("entries"), str(CHUNKS)])
        return int(re.search(r"of the cheaper quarter (\d+)", done.out)[1])

    def record(self):
        """hlguest record, and with --sandboxes, against perf record alone."""
        if not os.access("/dev/kvm", os.R_OK | os.W_OK):
            print("record: skipped: there is no /dev/kvm")
            return
        out = os.path.join(self.cache, "record.data")
        ways = {"perf": (self.args.perf, "record", "-q", "-e", "cpu-clock:HG", "-F", RATE, "-o",
                         out, "--")}
        for way, words in WAYS.items():
            ways[way] = (self.built("hlguest"), "record", "-q", *words, "-e", "cpu-clock:HG", "-F",
                         RATE, "-o", out, "--")
        took = {way: [] for way in ways}
        for n in range(3 * self.args.rounds):
            for way in list(ways)[::1 if n % 2 else -1]:
                took[way].append(self.an_exit(*ways[way]))
        alone = statistics.median(took["perf"])
        for way in WAYS:
            ratios = sorted(a / b for a, b in zip(took[way], took["perf"]))
            ratio = statistics.median(ratios)
            middle = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
            verdict = self.verdict("record", ratio, "record") if way == "default" else ""
            print(f"record, {way}: {statistics.median(took[way]) - alone:+.0f} ns an exit of "
                  f"{alone:.0f}, ratio {ratio:.3f}  [{middle[0]:.3f} .. {middle[1]:.3f}]  {verdict}")

    def callers(self):
        """hlguest record --guest-stacks against hlguest record, all that both do: of a guest with
        frame pointers, and of one with unwind tables."""
        vm = os.path.join(self.args.build, "tests", "rig", "microvm")
        for name, more in ("callers", ()), ("callers by tables", TABLES):
            try:
                elf = guest("tree", self.args.build, self.cache, *more)
            except Skip as e:
                print(f"{name}: skipped: {e}")
                return
            for rate in RATE, "4001":
                self.callers_at(name, rate, ["--", vm, f"--runs={RUNS}", elf])

    def rewrite(self):
        """What hlguest record --guest-stacks does to the recording when perf has ended, against
        hlguest inject of the same. The file that replaces perf's is born when that begins, and
        changes last when it gets its name."""
        vm = os.path.join(self.args.build, "tests", "rig", "microvm")
        data, out = (os.path.join(self.cache, name) for name in ("rewritten.data", "injected.data"))
        ratios, took = [], []
        for _ in range(2 * self.args.rounds):
            try:
                elf = guest("tree", self.args.build, self.cache)
            except Skip as e:
                print(f"rewrite: skipped: {e}")
                return
            ran = Cost([self.built("hlguest"), "record", "--guest-stacks", "-e", "cpu-clock", "-F",
                        "4001", "-o", data, "--", vm, f"--runs={RUNS}", elf])
            if "no guest stacks" in ran.err:
                print(f"rewrite: skipped: {ran.err.strip()}")
                return
            born, named = Cost(["stat", "-c", "%.W %.Z", data]).out.split()
            if born == "0":
                print("rewrite: skipped: this file system does not know when files were made")
                return
            took.append(float(named) - float(born))
            ratios.append(took[-1] / Cost([self.built("hlguest"), "inject", elf, data, "-o",
                                           out]).wall)
        ratio = statistics.median(ratios)
        print(f"rewrite: {statistics.median(took):.3f} s, ratio {ratio:.3f}  "
              f"[{min(ratios):.3f} .. {max(ratios):.3f}], {os.stat(data).st_size} bytes  "
              f"{self.verdict('rewrite', ratio, 'rewrite')}")

    def callers_at(self, name, rate, words):
        plain = [self.built("hlguest"), "record", "-e", "cpu-clock", "-F", rate, "-o",
                 os.path.join(self.cache, "callers.data"), *words]
        ours, flat = interleave([*plain[:2], "--guest-stacks", *plain[2:]], plain,
                                2 * self.args.rounds)
        lost = [run.err for run in ours if "no guest stacks" in run.err]
        if lost:
            print(f"{name}: skipped: {lost[0].strip()}")
            return
        ratios = sorted(a.cpu / b.cpu for a, b in zip(ours, flat))
        ratio = statistics.median(ratios)
        got = sorted(re.search(r"(\d+ of \d+) guest samples have callers", run.err)[1]
                     for run in ours)[0]
        verdict = self.verdict(name, ratio, "callers") if rate == RATE else ""
        print(f"{name}, {rate} Hz: {statistics.median(r.cpu for r in ours):.3f} s CPU, "
              f"ratio {ratio:.3f}  [{ratios[0]:.3f} .. {ratios[-1]:.3f}], "
              f"{got} samples with callers  {verdict}")
