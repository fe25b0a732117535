#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Colours and bars are for a terminal, and nothing else of a report changes there.

    terminal.py --build DIR

The command and the filter write their reports to a pseudo-terminal. Without what paint
adds - colours, the rows' bars - these are byte for byte those in a pipe; with NO_COLOR, a
terminal that is dumb, or out=FILE, they are the same to begin with. The progress line of
slow reading is wiped.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of, on_terminal
from tap import DATA, Skip, Tap, filter_argv, need, parser, run

SGR = re.compile("\033\\[[0-9]*m")
# overhead, interval, samples, period, size, then the bar of ten cells
ROW = re.compile(r"^( {0,7}[0-9.]+ % [ ~] *[0-9.]+ - +[0-9.]+ +\d+ +\d+ +(?:\d+|-)  )"
                 "([#█▉▊▋▌▍▎▏]* *)(?=\\S)", re.M)
BLOCKS = re.compile("[█▉▊▋▌▍▎▏]+")


def feeds(build, *words):
    """The two ways to a report of demo-user.data."""
    yield "command", [hlguest_of(build), "report", "demo.elf", "demo-user.data",
                      *("--" + w for w in words)]
    try:
        need("perf")
        if "perf" in os.environ.get("HLG_WITHOUT", "").split():
            raise Skip("perf")
        yield "filter", filter_argv(build, "demo-user.data", "demo.elf", *words)
    except Skip:
        pass


def plain(text):
    """A painted report without its paint; the regions' bars are again of signs."""
    text = SGR.sub("", text)
    text = text.replace("  heat        function\n", "  function\n")

    def take(match):
        assert len(match[2]) == 12, match[0]
        return match[1]
    return ROW.sub(take, text)


def in_pipe(argv):
    out, err, status = run(*argv, cwd=DATA)
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return out


def check_painted(build, locale):
    for name, argv in feeds(build):
        painted, status = on_terminal(argv, TERM="xterm", LC_ALL=locale)
        expected = in_pipe(argv)
        blocks = BLOCKS.search(painted) is not None
        found = plain(painted)
        if blocks:  # a bar of blocks is as long, but for its last eighth
            found = BLOCKS.sub(lambda m: "#" * len(m[0]), found)
        if status or found != expected:
            yield f"{name}: status {status}, without its paint it is another report"
            yield from (f"{a!r}\n{b!r}" for a, b in zip(found.split("\n"),
                                                      expected.split("\n")) if a != b)
        if blocks != ("UTF-8" in locale):
            yield f"{name}: {'blocks' if blocks else 'signs'} in {locale}"
        for colour, row in (("31", "42.74 %"), ("32", " 4.81 %"), ("32", " 0.67 %")):
            if not re.search(f"\033\\[{colour}m *{row}\033\\[m", painted):
                yield f"{name}: {row} is not in colour {colour}"
        if not re.search("^    0.47 % ", painted, re.M):
            yield f"{name}: 0.47 % is in colour"


def check_plain(build, **env):
    for name, argv in feeds(build):
        found, status = on_terminal(argv, **env)
        if status or found != in_pipe(argv):
            yield f"{name}: status {status}, another report than in a pipe"


def check_never(build):
    for name, argv in feeds(build, "color=never"):
        found, status = on_terminal(argv, TERM="xterm")
        if status or found != in_pipe(list(dict(feeds(build))[name])):
            yield f"{name}: status {status}, another report than in a pipe"


def check_file(build):
    """Neither a file nor any other thing that out= names, nor another format."""
    with tempfile.TemporaryDirectory(prefix="terminal-") as folder:
        place = os.path.join(folder, "out")
        for name, argv in feeds(build, "out=" + place):
            said, status = on_terminal(argv, TERM="xterm")
            with open(place, encoding="utf-8") as f:
                if status or said or f.read() != in_pipe(list(dict(feeds(build))[name])):
                    yield f"{name}: status {status}, {said!r}"
    for name, argv in feeds(build, "out=/proc/self/fd/1"):
        if on_terminal(argv, TERM="xterm") != (in_pipe(argv), 0):
            yield f"{name}: out= that is a terminal is painted"
    for name, argv in feeds(build, "out=-"):
        if on_terminal(argv, TERM="xterm") != on_terminal(dict(feeds(build))[name],
                                                          TERM="xterm"):
            yield f"{name}: out=- is another report than none"
    for name, argv in feeds(build, "format=csv"):
        if on_terminal(argv, TERM="xterm") != (in_pipe(argv), 0):
            yield f"{name}: csv is another on a terminal"


LISTED = 20  # columns of share and samples, then a bar of ten cells


def unlist(text):
    """Listings without colours and without the column of bars."""
    lines, listing = [], False
    for line in SGR.sub("", text).split("\n"):
        listing = listing and not line.endswith("  in all")
        if line.endswith("address   instruction"):
            listing = True
        lines.append(line[:LISTED] + line[LISTED + 11:] if listing else line)
    return "\n".join(lines)


def check_listing(build):
    """hlguest annotate: the hottest instruction is in colour and has the longest bar."""
    argv = [hlguest_of(build), "annotate", "demo.elf", "demo-user.data", "hash_block"]
    painted, status = on_terminal(argv, TERM="xterm", LC_ALL="C")
    if status or unlist(painted) != in_pipe(argv):
        yield f"status {status}, without its paint it is another listing: {painted}"
    if not re.search("\033\\[31m +43.49 %\033\\[m .* \033\\[31m##########\033\\[m \\* ", painted):
        yield "0x12db is in no colour"
    if on_terminal(argv, TERM="dumb") != (in_pipe(argv), 0):
        yield "painted on a dumb terminal"


def slowly(data):
    """A pipe that has data in it, the last of it after a second and a half."""
    ours, its = os.pipe()

    def write():
        with os.fdopen(its, "wb", buffering=0) as f:
            f.write(data[:-1])
            time.sleep(1.5)
            f.write(data[-1:])
    threading.Thread(target=write).start()
    return ours


def check_progress(build):
    """A line while a profile is read for over a second, wiped at the end."""
    with tempfile.TemporaryDirectory(prefix="terminal-") as folder:
        saved = os.path.join(folder, "x.pb.gz")
        out, err, status = run(hlguest_of(build), "report", "demo.elf", "demo-user.data",
                               "--format=pprof", "--out=" + saved, cwd=DATA)
        if "not in this build" in err:
            raise Skip(err.strip())
        with open(saved, "rb") as f:
            data = f.read()
        for words in (["merge", "-"], ["merge", "-q", "-"],
                      ["report", "demo.elf", "-"], ["report", "-q", "demo.elf", "-"]):
            argv = [hlguest_of(build), *words]
            with os.fdopen(slowly(data), "rb") as stdin:
                said = on_terminal(argv, stdin=stdin, stdout=subprocess.DEVNULL,
                                   TERM="xterm")
            if said != ("" if "-q" in words else "\r0 MiB\033[K\r\033[K", 0):
                yield f"{' '.join(words)}: {said!r}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    tap.run("bars of signs", lambda: list(check_painted(build, "C")))
    tap.run("bars of blocks", lambda: list(check_painted(build, "C.UTF-8")))
    for name, env in (("NO_COLOR", {"NO_COLOR": "0", "TERM": "xterm"}),
                      ("a dumb terminal", {"TERM": "dumb"}),
                      ("no TERM", {"TERM": ""})):
        tap.run(f"plain: {name}", lambda e=env: list(check_plain(build, **e)))
    tap.run("plain: color=never", lambda: list(check_never(build)))
    tap.run("plain: out=FILE, csv", lambda: list(check_file(build)))
    tap.run("listings", lambda: list(check_listing(build)))
    tap.run("progress of saved profiles", lambda: list(check_progress(build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
