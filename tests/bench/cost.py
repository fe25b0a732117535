# SPDX-License-Identifier: GPL-2.0-only
"""One run of a program, and what it takes."""

import os
import re
import shutil
import subprocess
import tempfile
import time


class Problem(Exception):
    """One line for the user: subject: problem (what to do)."""


class Cost:
    """CPU time, wall time and output of one run of a program."""

    def __init__(self, argv):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            self.wall = time.monotonic() - begin
            # Popen is not to wait for it again.
            child.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
            out.seek(0)
            err.seek(0)
            self.out = out.read().decode(errors="replace")
            self.err = err.read().decode(errors="replace")
        self.cpu = usage.ru_utime + usage.ru_stime
        if status:
            said = (self.err.strip() or self.out.strip() or "nothing").splitlines()[-1]
            raise Problem(f"{' '.join(argv)}: exit status {child.returncode}, it said: "
                          f"{said} (run it by hand)")


def interleave(a, b, rounds):
    """A B, B A, A B ...: a machine that slows down in the run slows down both."""
    runs = ([], [])
    for i in range(rounds):
        for side in ((0, 1), (1, 0))[i % 2]:
            runs[side].append(Cost((a, b)[side]))
    return runs


def peak(argv):
    """KiB of memory at most. Of a child of Python's wait4 would tell Python's own."""
    if not shutil.which("time"):
        raise Problem("time: not found (install it)")
    return int(Cost(["time", "-f", "%M", *argv]).err.split()[-1])


def collected(cost):
    found = re.search(r"Collected\s*:\s*(\d+)", cost.err)
    if not found:
        raise Problem("valgrind: no count in what it printed (is it callgrind?)")
    return int(found.group(1))


def nanoseconds(cost):
    found = re.search(r"^drive: \d+ samples, ([0-9.]+) ns", cost.err, re.MULTILINE)
    if not found:
        raise Problem("drive: no figure in what it printed (run it by hand)")
    return float(found.group(1))
