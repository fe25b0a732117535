# SPDX-License-Identifier: GPL-2.0-only
"""measure.py OUT PROGRAM [ARGUMENT...]: runs it with its output in OUT, nothing to read and
its errors where ours go. Prints CPU seconds, seconds, the most KiB it had in memory, and
its status.

What is run is told the most memory of the one that starts it, if that had more. So this is
a process of its own, as small as Python can be (-I -S).
"""
import os
import sys
import time


def main():
    out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    begin = time.monotonic()
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, out, 1)])
    _, status, usage = os.wait4(pid, 0)
    print(usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss,
          os.waitstatus_to_exitcode(status))


main()
