# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of the command share, besides tests/perf/tap.py."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "perf"))

from tap import DATA, TIMEOUT, Skip, environment, run  # noqa: E402


def program(build, variable, place):
    path = os.environ.get(variable) or os.path.join(build, place)
    return os.path.abspath(path)


def hlguest_of(build):
    return program(build, "HLGUEST", "tools/hlguest")


def mkelf_of(build):
    return program(build, "MKELF", "tests/mkelf")


def need_zydis(hlguest):
    """Whether this build can tell where instructions of x86-64 begin."""
    if "without Zydis" in run(hlguest, "base", "demo.elf", "demo-user.data", cwd=DATA)[1]:
        raise Skip("not built with Zydis")


def feed(argv, text, **options):
    """(stdout, stderr, status) of a program that reads text."""
    done = subprocess.run(
        argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=TIMEOUT, env=environment(), **options,
    )
    return (done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"), done.returncode)
