#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Text fits the terminal, whatever the verb.

    widths.py --build DIR

Each verb that prints text does so on terminals of 60, 80 and 100 columns: no line is wider, unless
a single word of it, as a path or a symbol, has no room. Elsewhere nothing depends on a width.
"""
import concurrent.futures
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of, need_zydis, written_to
from tap import DATA, TIMEOUT, Tap, environment, parser

COLUMNS = 60, 80, 100
LABEL = 12  # cells at most in front of a word that has a line for itself
SGR = re.compile(r"\x1b\[[0-9;]*m")
HYPERLIGHT = "hyperlight/guest.elf", "hyperlight/mix.data"
CALLERS = "hyperlight/frames.elf", "hyperlight/callers/callers.data"
EXITS = "demo.elf", "demo-exits.data"
WINDOWS = "demo.elf", "demo-windows.data"
TEXTS = [
    ["report", *HYPERLIGHT], ["report", "-v", *HYPERLIGHT], ["report", "--regions=0", *HYPERLIGHT],
    ["report", "hyperlight/guest.elf@0x1000", "hyperlight/mix.data"],
    ["report", "-v", "demo.elf@auto", "rusty.elf@0x20000", "demo-far.data"],
    ["report", "-v", "demo.elf@0x5001", "demo-user.data", "demo-host.data"],
    ["report", "--by=event,tid", "--mode=all", "demo.elf", "demo-host.data"],
    ["report", "-v", "hyperlight/guest.elf", "hyperlight/small.elf", "hyperlight/turns.data"],
    ["report", "--by=sandbox", "--top=3", "hyperlight/guest.elf", "hyperlight/small.elf",
     "hyperlight/turns.data"],
    ["report", "-v", "-g", "caller", "--top=3", *CALLERS],
    ["report", "-v", "-g", "callee", "--top=0", "--min=5", *CALLERS],
    ["report", "--skid=2", "demo.elf", "demo-user.data"],
    ["report", "-v", "hyperlight/guest.elf", "hyperlight/mix.data", "hyperlight/calls.data",
     "hyperlight/life.data"],
    ["report", "--stacks=counters", *HYPERLIGHT],
    ["annotate", "--top=2", *HYPERLIGHT], ["annotate", "--top=1", *CALLERS],
    ["annotate", "demo.elf", "demo-user.data", "hash_block"],
    ["annotate", "wasm/runs.elf", "wasm/module.cwasm", "wasm/runs.data", "--top=1"],
    ["diff", "demo.elf", "demo-user.data", "demo-far.data"],
    ["diff", "demo.elf@0x5001", "demo-user.data", "demo-host.data"],
    ["diff", "-v", "hyperlight/guest.elf", "hyperlight/mix.data", "hyperlight/calls.data"],
    ["diff", "--children", *CALLERS, CALLERS[1]],
    ["exits", *EXITS], ["exits", "-v", *EXITS], ["exits", "--by=tid", *EXITS],
    ["exits", "-v", "hyperlight/guest.elf", "hyperlight/exits.data"],
    ["windows", "--format=text", *WINDOWS], ["windows", "-v", "--format=text", *WINDOWS],
    ["base", "demo.elf@auto", "demo-far.data"], ["base", *HYPERLIGHT],
    ["lookup", "--inlines", "hyperlight/guest.elf", "hyperlight/mix.data", "0x20000", "0x2a100",
     "0x8", "main"],
    ["lookup", "demo.elf", "rusty.elf", "0x5650", "0x5280", "0x100"],
    ["inject", "demo.elf", "demo-user.data", "-o", "{work}/out.data"],
    ["inject", "demo.elf", "demo-far.data", "-o", "{work}/out.data"],
    ["doctor", "demo.elf"], ["sysprof", "sysprof/stock-release-C.bin"],
]


def lines_of(argv, columns):
    """What a terminal is shown; messages go elsewhere."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(argv, cwd=DATA, stdin=subprocess.DEVNULL, stdout=its,
                             stderr=subprocess.DEVNULL,
                             env=environment(TERM="xterm", LC_ALL="C.UTF-8"))
    os.close(its)
    return SGR.sub("", written_to(ours).decode()).replace("\r\n", "\n").split("\n"), child.wait(TIMEOUT)


def check(hlguest, work, words):
    need_zydis(hlguest)  # without it some say nothing
    argv = [word.format(work=work) for word in words]
    for columns in COLUMNS:
        lines, status = lines_of([hlguest, *argv], columns)
        if status not in (0, 1, 3) or len(lines) < 2:
            yield f"{columns} columns: status {status}, {lines}"
        for line in lines:
            if len(line) > columns and max(map(len, line.split())) <= columns - LABEL:
                yield f"{columns} columns: {len(line)} cells: {line}"


def main():
    args = parser(__doc__).parse_args()
    tap, hlguest = Tap(), hlguest_of(args.build)
    with tempfile.TemporaryDirectory() as work:
        for words in TEXTS:
            tap.run(" ".join(words), lambda words=words: [*check(hlguest, work, words)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
