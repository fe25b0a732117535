# SPDX-License-Identifier: GPL-2.0-only
"""What the Python tests share: TAP, a build's files, and runs of perf script."""
import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys

import said

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
DATA = os.path.join(TESTS, "data")
# Seconds; longer where programs are emulated, as check has it.
TIMEOUT = 120 * int(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1"))
TRACEFS = "/sys/kernel/tracing"
CLONE_NEWNS = 0x20000  # <linux/sched.h>
# perf 7.2 on says so of recordings that do not tell how many CPUs there were.
NO_CPUS = re.compile(r"WARNING: \S+ is missing HEADER_NRCPUS, using MAX_NR_CPUS \(\d+\) as "
                     r"CPU bound\n")

# Set by tools/dev test --all.
ALL = "HLG_ALL" in os.environ


class Skip(Exception):
    """A reason why a test cannot be run here."""


class Tap:
    """Prints results as they come and the plan behind them. What failed goes to standard error:
    of a test that failed, meson shows that alone."""

    def __init__(self):
        self.number = 0
        self.failed = 0
        for stream in sys.stdout, sys.stderr:
            stream.reconfigure(encoding="utf-8", line_buffering=True)

    def result(self, ok, name, notes=()):
        self.number += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.number} - {name}")
        for note in notes if not ok else ():
            for line in str(note).split("\n"):
                print("# " + line, file=sys.stderr)

    def same(self, actual, expected, name):
        self.result(actual == expected, name,
                    [f"expected {expected!r}", f"got      {actual!r}"])

    def skip(self, name, reason):
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {reason}")

    def run(self, name, function, *args):
        """Calls a function that gives its differences, as lines."""
        try:
            differences = function(*args) or []
            self.result(not differences, name, differences[:20])
        except Skip as e:
            self.skip(name, e)
        except Exception as e:  # a crash of one test must not hide the others
            self.result(False, name, [f"{type(e).__name__}: {e}"])

    def finish(self):
        if not self.number:
            self.result(False, "something is tested")
        print(f"1..{self.number}")
        return 1 if self.failed else 0


def some(items, nth, first=0):
    """Each nth of the items from the first on, for the gate; all of them with HLG_ALL."""
    return list(items) if ALL else list(items)[first % nth::nth]


def names_in(folder, end):
    """Names of the files there that end so. None at all would test nothing."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(end))
    if not names:
        raise RuntimeError(f"{folder}: no file *{end} is there (have they moved?)")
    return names


def parser(description):
    p = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--build", metavar="DIR", required=True)
    return p


def environment(**more):
    """Nothing of the user's that changes what perf or the filter print."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "PERF_"))}
    for name in ("LANG", "LANGUAGE", "LD_PRELOAD", "DEBUGINFOD_URLS", "COLUMNS", "LINES"):
        env.pop(name, None)
    env.update(LC_ALL="C", PAGER="cat", PERF_PAGER="cat", PERF_CONFIG="/dev/null")
    env.update(TZ="UTC")
    env.update({"XDG_STATE_HOME": "/dev/null/none", **more})
    return env


def run(*argv, cwd=None, env=None):
    """Returns (stdout, stderr, status), as text; without what new perfs say of old files."""
    done = subprocess.run(
        argv, cwd=cwd, env=env or environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
    )
    out = done.stdout.decode("utf-8", "surrogateescape")
    err = NO_CPUS.sub("", done.stderr.decode("utf-8", "surrogateescape"))
    said.tell(argv, cwd, out + err, done.returncode)
    return out, err, done.returncode


def but_banner(err):
    """Standard error without the line that says that samples do not fit."""
    return re.sub(r"^hlguest: !! .*\n", "", err, flags=re.M)


def but_sandboxes(out):
    """CSV or JSON of a report without its list of sandboxes."""
    return re.sub(r'(?m)^sandbox,.*\n|^ "sandboxes": \[(?s:.*?)^ \],\n', "", out)


def must(*argv, **options):
    """stdout of a command that has to succeed."""
    out, err, status = run(*argv, **options)
    if status:
        raise RuntimeError(f"{' '.join(argv)}: status {status}: {err.strip()}")
    return out


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def mount_tracefs():
    """
    Mounts tracefs where this program and those that it runs alone see it. perf mounts it
    by itself, for the first tracepoint, and leaves it: for that, too, this is to be called
    before perf records any, while there is but one thread. Who may not mount keeps what is
    there.
    """
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNS) or run("mount", "--make-rprivate", "/")[2]:
        return
    if os.path.isdir(TRACEFS) and not os.listdir(TRACEFS):
        run("mount", "-t", "tracefs", "nodev", TRACEFS)


def filter_of(build):
    return os.path.abspath(os.path.join(build, "filter", "hlguest.so"))


def filter_argv(build, recording, *args):
    argv = ["perf", "script", "-i", recording, "--dlfilter", filter_of(build)]
    for arg in args:
        argv += ["--dlarg", arg]
    return argv


def report(build, recording, *args):
    """What the filter prints for a recording; args are its own."""
    out, err, status = run(*filter_argv(build, recording, *args))
    if status and "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        words = " ".join(args)
        raise RuntimeError(f"perf script {words}: status {status}: {err.strip()}")
    return out
