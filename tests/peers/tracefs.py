#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests that record tracepoints leave no tracefs behind.

    tracefs.py --build DIR

In a mount namespace without tracefs, whose mounts go on to others as a machine's do, the
kit's mount_tracefs() is called and perf records a tracepoint. tracefs is there for both, and
not outside; perf alone would have left it.
"""
import os
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from tap import TESTS, TRACEFS, Skip, Tap, need, parser, run

APART = """
umount -a -t tracefs 2> /dev/null
mount --make-rshared / && ! grep tracefs /proc/self/mounts || exit 77
exec "$@"
"""
INSIDE = """
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from tap import TRACEFS, mount_tracefs, run
if sys.argv[2] == "kit":
    mount_tracefs()
    print("mounted" if os.path.exists(TRACEFS + "/events") else "not there")
print(run("perf", "record", "-q", "-o", "/dev/null", "-e", "sched:sched_switch", "true")[2])
"""
AFTER = 'python=$1; shift; "$python" "$@"; grep -c tracefs /proc/self/mounts'


def record(who):
    """What a program prints that records a tracepoint; and how many tracefs there are then."""
    need("perf", "unshare", "mount", "umount")
    out, err, status = run("unshare", "-m", "sh", "-c", APART, "sh", "sh", "-c", AFTER, "sh",
                           sys.executable, "-c", INSIDE, TESTS + "/kit", who)
    said = out.split()
    if status == 77 or "unshare" in err or not said:
        raise Skip(f"no mount namespace without tracefs: {err.strip() or status}")
    return said[:-1], said[-1]


def nothing_is_left():
    said, left = record("kit")
    if said[0] != "mounted":
        raise Skip("tracefs cannot be mounted")
    if left != "0":
        yield f"{TRACEFS} is mounted afterwards"


def perf_leaves_it():
    """Else this proves nothing."""
    said, left = record("perf")
    if said != ["0"]:
        raise Skip("perf cannot record tracepoints here")
    if left == "0":
        raise Skip("this perf mounts nothing")


def main():
    parser(__doc__).parse_args()
    tap = Tap()
    tap.run("the kit's is gone with the test", lambda: list(nothing_is_left()))
    tap.run("perf's own stays", perf_leaves_it)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
