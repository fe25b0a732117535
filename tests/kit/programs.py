# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the command share, besides tap.py."""
import base64
import glob
import gzip
import json
import os
import pty
import re
import subprocess

import said
from tap import DATA, TIMEOUT, Skip, environment, must, run


def program(build, variable, place):
    path = os.environ.get(variable) or os.path.join(build, place)
    return os.path.abspath(path)


def hlguest_of(build):
    return program(build, "HLGUEST", "tools/hlguest")


def mkelf_of(build):
    return program(build, "MKELF", "tests/kit/mkelf")


def page_data(html, id="data"):
    """What the scripts of a page draw from."""
    kind, text = re.search(rf'<script type="application/(\w+)" id="{id}">(.*?)</script>', html,
                           re.S).groups()
    return json.loads(gzip.decompress(base64.b64decode(text)) if kind == "gzip" else text)


def need_zydis(hlguest):
    """Whether this build can tell where instructions of x86-64 begin."""
    if "without Zydis" in run(hlguest, "base", "demo.elf", "demo-user.data", cwd=DATA)[1]:
        raise Skip("not built with Zydis")


def features_of(hlguest):
    """What the build was made with."""
    return must(hlguest, "--version").split(" without ")[0]


def feed(argv, text, **options):
    """(stdout, stderr, status) of a program that reads text."""
    done = subprocess.run(
        argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=TIMEOUT, env=environment(), **options,
    )
    return (done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"), done.returncode)


def written_to(terminal):
    """All that is written to a terminal, of which only the writers have the other end; closes it.

    EIO says that the last writer is gone, but the kernel (n_tty_read) looks for bytes before it
    looks for writers: what was written and closed in between takes a second read."""
    text, ends = b"", 0
    while ends < 2:
        try:
            text += os.read(terminal, 1 << 16)
        except OSError:
            ends += 1
    os.close(terminal)
    return text


def on_terminal(argv, stdin=subprocess.DEVNULL, stdout=None, cwd=DATA, **env):
    """(what a program writes to a terminal, its status)"""
    env = {k: v for k, v in environment(**{"NO_COLOR": "", **env}).items() if v}
    try:
        ours, its = pty.openpty()
    except OSError as e:
        raise Skip(f"no terminal can be had: {e}") from e
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout or its,
                             stderr=its)
    os.close(its)
    text = written_to(ours).decode("utf-8").replace("\r\n", "\n")
    status = child.wait(TIMEOUT)
    said.tell(argv, cwd, text, status)
    return text, status


def session(leader):
    """The processes of it that run, {number: name}."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                number, name, rest = re.fullmatch(r"(\d+) \((.*)\) (.*)\n", f.read(),
                                                  re.S).groups()
        except OSError:  # it ended meanwhile
            continue
        state, _, _, its = rest.split()[:4]
        if int(its) == leader and state not in "ZX":
            found[int(number)] = name
    return found
