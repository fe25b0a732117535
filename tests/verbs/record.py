#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest record on this machine, with perf.

    record.py --build DIR

What the stand-in of the goldens cannot show: that a machine without hardware counters is
told so before perf runs, and that perf leaves no empty file.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from tap import Tap, need, parser, run

# perf has no counter and does not put a clock in its place
NO_COUNTER = "no such counter here: this machine has no hardware counters"


def has_counters(folder):
    """perf opens instructions, or fails for another reason than that there are none."""
    need("perf")
    _, err, status = run("perf", "record", "-q", "-e", "instructions:u", "-o",
                         os.path.join(folder, "probe.data"), "true")
    return not (status and "not supported" in err)


def check_counters(build, folder):
    """Without counters: one line, status 1, no file. With them, perf runs."""
    counters = has_counters(folder)
    path = os.path.join(folder, "counters.data")
    for words, first in ((["-W", "instructions"], "instructions"),
                         (["-W", "cpu-clock,branch-misses:u"], "branch-misses"),
                         (["-W", "{cycles}:S"], "cycles"), (["-e", "cache-misses:G"],
                                                            "cache-misses")):
        _, err, status = run(hlguest_of(build), "record", *words, "-o", path, "--", "true")
        told = err == f"hlguest: {first}: {NO_COUNTER} (try cpu-clock)\n"
        if counters and NO_COUNTER in err:
            yield f"{words}: {err}"
        elif not counters and (not told or status != 1 or os.path.exists(path)):
            yield f"{words}: status {status}, {os.path.exists(path)}: {err}"
    # What only perf knows it is asked for: its error, and no empty file.
    _, err, status = run(hlguest_of(build), "record", "-e", "nosuch_pmu/event=1/", "-o", path,
                         "--", "true")
    if NO_COUNTER in err or not status or os.path.exists(path):
        yield f"an event of no PMU: status {status}, {os.path.exists(path)}: {err}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        tap.run("counters that are not there", lambda: list(check_counters(build, folder)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
