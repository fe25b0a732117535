#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Colours and bars are for a terminal, and nothing else of a report changes there.

    terminal.py --build DIR

The command and the filter write their reports to a pseudo-terminal. Without what paint
adds - colours, the rows' bars - these are byte for byte those in a pipe; with NO_COLOR, a
terminal that is dumb, or out=FILE, they are the same to begin with. The progress line of
slow reading is wiped.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of, on_terminal
from tap import DATA, Skip, Tap, environment, filter_argv, need, parser, run

SGR = re.compile("\033\\[[0-9]*m")
# overhead, margin, time, samples, size, then the bar of ten cells
ROW = re.compile(r"^( *[0-9.]+ % *(?:±|\+-|<) *[0-9.]+ +[0-9.]+ s +\d+ +(?:\d+|-)  )"
                 "([#█▉▊▋▌▍▎▏]* *)(?=\\S)", re.M)
REST = re.compile(r"^ +(?=\(\d+ more row)", re.M)
LARGE = {"COLUMNS": "300", "LINES": "200"}  # nothing is cut, nor left out
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
    text = REST.sub("", text)

    def take(match):
        assert len(match[2]) == 12, match[0]
        return match[1]
    return ROW.sub(take, text)


def in_pipe(argv):
    out, err, status = run(*argv, cwd=DATA, env=environment(**LARGE))
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return out


def check_painted(build, locale):
    for name, argv in feeds(build):
        painted, status = on_terminal(argv, TERM="xterm", **LARGE, LC_ALL=locale)
        expected = REST.sub("", in_pipe(argv))
        if "UTF-8" not in locale:
            expected = expected.replace(" ±", "+-")
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
        for colour, row in (("31", "45.80 %"), ("32", " 3.47 %"), ("32", " 0.72 %")):
            if not re.search(f"\033\\[{colour}m *{row}\033\\[m", painted):
                yield f"{name}: {row} is not in colour {colour}"
        if not re.search("^  0.41 % ", painted, re.M):
            yield f"{name}: 0.41 % is in colour"


def check_plain(build, **env):
    for name, argv in feeds(build):
        found, status = on_terminal(argv, LC_ALL="C.UTF-8", **LARGE, **env)
        if status or found != in_pipe(argv):
            yield f"{name}: status {status}, another report than in a pipe"


def check_never(build):
    for name, argv in feeds(build, "color=never"):
        found, status = on_terminal(argv, TERM="xterm", LC_ALL="C.UTF-8", **LARGE)
        if status or found != in_pipe(list(dict(feeds(build))[name])):
            yield f"{name}: status {status}, another report than in a pipe"


def check_file(build):
    """Neither a file nor any other thing that out= names, nor another format."""
    with tempfile.TemporaryDirectory(prefix="terminal-") as folder:
        place = os.path.join(folder, "out")
        for name, argv in feeds(build, "out=" + place):
            said, status = on_terminal(argv, TERM="xterm", **LARGE)
            with open(place, encoding="utf-8") as f:
                if status or said or f.read() != in_pipe(list(dict(feeds(build))[name])):
                    yield f"{name}: status {status}, {said!r}"
    for name, argv in feeds(build, "out=/proc/self/fd/1"):
        if on_terminal(argv, TERM="xterm", **LARGE) != (in_pipe(argv), 0):
            yield f"{name}: out= that is a terminal is painted"
    for name, argv in feeds(build, "out=-"):
        if on_terminal(argv, TERM="xterm", **LARGE) != on_terminal(dict(feeds(build))[name],
                                                          TERM="xterm", **LARGE):
            yield f"{name}: out=- is another report than none"
    for name, argv in feeds(build, "format=csv"):
        if on_terminal(argv, TERM="xterm", **LARGE) != (in_pipe(argv), 0):
            yield f"{name}: csv is another on a terminal"


LISTED = 20  # columns of share and samples, then a bar of ten cells


def unlist(text):
    """Listings without colours and without the column of bars."""
    lines, listing = [], False
    for line in SGR.sub("", text).split("\n"):
        listing = listing and not line.endswith("  in all")
        if line.endswith("ELF addr   instruction"):
            listing = True
        lines.append(line[:LISTED] + line[LISTED + 11:] if listing else line)
    return "\n".join(lines)


def check_listing(build):
    """hlguest annotate: the hottest instruction is in colour and has the longest bar."""
    argv = [hlguest_of(build), "annotate", "demo.elf", "demo-user.data", "hash_block"]
    painted, status = on_terminal(argv, TERM="xterm", **LARGE, LC_ALL="C")
    if status or unlist(painted) != in_pipe(argv):
        yield f"status {status}, without its paint it is another listing: {painted}"
    if not re.search("\033\\[31m +43.49 %\033\\[m .* \033\\[31m##########\033\\[m \\* ", painted):
        yield "0x12db is in no colour"
    if on_terminal(argv, TERM="dumb", **LARGE) != (in_pipe(argv), 0):
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


def check_fitted(build):
    """80 x 24: ten functions and where the rest is, nothing wrapped, nothing scrolled; where
    there is a note in two lines, no regions, which is said."""
    yield from fitted(build, "--border=keep", "12 more rows, 10.14 %", 2, True)
    yield from fitted(build, "--border=split", "9 more rows, 4.18 %", 6, False)


def fitted(build, border, rest, tail, regions):
    argv = [hlguest_of(build), "report", "demo.elf", "demo-user.data", border]
    text, status = on_terminal(argv, TERM="xterm", LC_ALL="C.UTF-8", COLUMNS="80", LINES="24")
    lines = SGR.sub("", text).rstrip("\n").split("\n")
    if status or len(lines) > 23:  # the prompt has one
        yield f"status {status}, {len(lines)} lines"
    yield from (f"{len(line)} cells: {line}" for line in lines if len(line) > 80)
    functions = [line for line in lines if re.match(r" *[0-9.]+ % ", line)]
    if regions != any(line.startswith("region ") for line in lines):
        yield f"regions {regions}: {lines}"
    if len(functions) != 10:
        yield f"{len(functions)} functions"
    wide = "size" if regions else "size, regions"
    if not any(f"{rest}: --top=0; --wide has {wide})" in line for line in lines):
        yield "the rest, or what has no room, is not told"
    if not lines[-tail].startswith("accounted 3997 samples = "):
        yield f"ends with {lines[-tail:]}"


def check_fitted_diff(build):
    """The rows fit between the total and the two sides; what is asked for is not cut."""
    argv = [hlguest_of(build), "diff", "hyperlight/guest.elf", "hyperlight/mix.data",
            "hyperlight/calls.data"]
    env = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "COLUMNS": "80", "LINES": "24"}
    for more, least, most in ((), 20, 23), (["--top=30"], 31, 99), (["--wide"], 40, 99):
        text, status = on_terminal([*argv, *more], **env)
        lines = SGR.sub("", text).rstrip("\n").split("\n")
        if status or not least <= len(lines) <= most:
            yield f"{more}: status {status}, {len(lines)} lines"
        if not more and not any("more that differ: --top=0" in line for line in lines):
            yield "the rest is not counted"


def check_binary(build):
    """A recording is not for a terminal."""
    text, status = on_terminal([hlguest_of(build), "record", "-e", "cpu-clock", "-o", "-", "--",
                                "true"], TERM="xterm")
    if status != 2 or "-o -: a recording is binary, and not for a terminal" not in text:
        yield f"status {status}: {text[:200]!r}"


PAGER = """#!/bin/sh
echo "$# $1 $COLUMNS x $LINES $LESS" >"${0%/*}/said"
cat >"${0%/*}/paged"
"""


@contextlib.contextmanager
def paging(build, script):
    """A pager with this script, a report of a user who may have one, and its environment."""
    with tempfile.TemporaryDirectory(prefix="terminal-", dir="/tmp") as folder:
        pager = os.path.join(folder, "pager")
        with open(pager, "w", encoding="utf-8") as f:
            f.write(script)
        os.chmod(pager, 0o755)
        os.chmod(folder, 0o777)
        argv = [os.path.join(folder, "hlguest"), "report",
                os.path.join(folder, "demo.elf"), os.path.join(folder, "demo-user.data")]
        shutil.copy(hlguest_of(build), argv[0])
        for name in argv[2:]:
            shutil.copy(os.path.join(DATA, os.path.basename(name)), name)
        yield folder, argv, {"TERM": "xterm", "LC_ALL": "C.UTF-8",
                             "PAGER": pager + " two;$(x)", "COLUMNS": "80", "LINES": "24"}


def as_user():
    """The words in front of a command that an ordinary user is to run."""
    if os.geteuid() != 0:
        return []
    need("setpriv")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def check_no_pager(build):
    """A pager that cannot be started leaves the text on the terminal, fitted to it."""
    for script in ("echo no interpreter\n", "#!/nowhere/sh\n"):
        with paging(build, script) as (_, argv, env):
            expected = on_terminal([*argv, "--no-pager"], **env)
            said = on_terminal([*as_user(), *argv], **env)
            if said != expected:
                yield f"{script!r}: {said}"


def check_pager(build):
    """Text on a terminal goes to PAGER's program and words, by no shell; not as root, not to
    a file, not with --no-pager, not in another format. What less is to do is the user's word,
    where he has said any."""
    with paging(build, PAGER) as (folder, argv, env):
        paged = os.path.join(folder, "paged")
        expected = on_terminal([*argv, "--no-pager"], **env)
        if os.path.exists(paged):
            yield "--no-pager: paged"
        for words, path in (((), paged), (("--format=csv",), None), (("--output=-",), paged),
                            (("--output=/dev/null",), None)):
            for name in (paged, os.path.join(folder, "said")):
                if os.path.exists(name):
                    os.unlink(name)
            env["LESS"] = "-i" if words else ""  # none
            said = on_terminal([*as_user(), *argv, *words], **env)
            if path and not os.path.exists(path):
                yield f"{words}: is not paged, {said}"
            elif path:
                with open(path, encoding="utf-8") as f:
                    if said != ("", 0) or (f.read(), 0) != expected:
                        yield f"{words}: {said}, another report is paged"
                with open(os.path.join(folder, "said"), encoding="utf-8") as f:
                    if f.read() != f"1 two;$(x) 80 x 24 {env['LESS'] or 'FRX'}\n":
                        yield "the pager has other words"
            elif os.path.exists(paged):
                yield f"{words}: paged"
        if os.path.exists(paged):
            os.unlink(paged)
        if os.geteuid() == 0 and (on_terminal(argv, **env) != expected or
                                  os.path.exists(paged)):
            yield "as root a pager runs"


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
                                   TERM="xterm", **LARGE)
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
    tap.run("fitted to 80 x 24", lambda: list(check_fitted(build)))
    tap.run("diff fitted to 80 x 24", lambda: list(check_fitted_diff(build)))
    tap.run("a recording is not for a terminal", lambda: list(check_binary(build)))
    tap.run("a pager", lambda: list(check_pager(build)))
    tap.run("a pager that does not start", lambda: list(check_no_pager(build)))
    tap.run("progress of saved profiles", lambda: list(check_progress(build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
