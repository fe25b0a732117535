# SPDX-License-Identifier: GPL-2.0-only
"""Sums of many saved profiles, to what reading them takes at least."""
import os
import shutil
import statistics
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kit"))
import guest
import recording
from cost import Cost, interleave, peak

# Bytes of code, functions and addresses with samples of each profile; how many different
# ones, and how many in all.
MERGE_GUEST = (4 << 20, 2000, 10000)
DIFFERENT, PROFILES = 20, 1000
BASE = 0x7f1234567000


class Sums:
    """Part of Bench."""

    def profiles(self):
        """A list of profiles, the first of which is one by itself."""
        folder = os.path.join(self.cache, "merge")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        elf, paths = os.path.join(folder, "guest.elf"), []
        size, functions, addresses = MERGE_GUEST
        code = guest.Guest(elf, size)
        for i in range(DIFFERENT):
            data = os.path.join(folder, f"{i}.data")
            ips = [BASE + at for at in code.spread(functions, addresses, seed=i)]
            recording.write(data, [(ip, 7, 1000, 0) for ip in ips for _ in range(2)])
            saved = os.path.join(folder, f"{i}.pb.gz")
            Cost([self.built("hlguest"), "report", "-q", "--force", "--format=pprof", "-o",
                  saved, f"{elf}@{BASE:#x}", data])
            paths.append(saved)
        for i in range(DIFFERENT, PROFILES):
            paths.append(os.path.join(folder, f"copy{i}.pb.gz"))
            shutil.copy(paths[i % DIFFERENT], paths[-1])
        lists = {}
        for name, some in (("all", paths), ("different", paths[:DIFFERENT]), ("one", paths[:1])):
            lists[name] = os.path.join(folder, name)
            with open(lists[name], "w", encoding="utf-8") as f:
                f.write("".join(path + "\n" for path in some))
        return folder, lists

    def merge(self):
        """CPU time against zlib and protobuf-c; memory against the sum and one profile."""
        folder, lists = self.profiles()

        def argv(name):
            return [self.built("hlguest"), "merge", "-q", "-j1", "-f", lists[name], "-o",
                    os.path.join(folder, "sum.pb.gz")]

        ours, least = interleave(argv("all"), [self.built("bench-unpack"), lists["all"]],
                                 self.args.rounds)
        ratios = [a.cpu / b.cpu for a, b in zip(ours, least)]
        ratio = statistics.median(ratios)
        cpu = [statistics.median(run.cpu for run in runs) for runs in (ours, least)]
        print(f"merge: {PROFILES} profiles of {MERGE_GUEST[2]} addresses, {DIFFERENT} of them "
              f"different, {self.args.rounds} rounds\n"
              f"  CPU time         {cpu[0]:.2f} s, to inflate and parse {cpu[1]:.2f} s, ratio "
              f"{ratio:.3f} [{min(ratios):.3f} .. {max(ratios):.3f}]  "
              f"{self.verdict('merge', ratio, 'merge')}")
        most, one, few = (peak(argv(name)) for name in ("all", "one", "different"))
        print(f"  memory           {most / 1024:.0f} MiB, of the {DIFFERENT} different ones "
              f"{few / 1024:.0f}, of one {one / 1024:.0f}  "
              f"{self.verdict('merge memory', most / few, 'merge memory')}")
