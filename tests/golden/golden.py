#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands and compares all they say, byte for byte.

    golden.py [--update] --build DIR [CASE...]

A case is one file, NAME.test beside this, in the format of golden_case.py (CASE is a NAME
or a path with a slash; default: all). They run on all CPUs at once, each in a fresh
directory, with these in it:

    data        tests/data
    hlguest.so  the filter

so that commands, and what they print, need no absolute path. $MKELF, $MKCALIBRATION and
$FAKEPERF are the test programs, $PERF_FILTER the filter, $HLGUEST the command, $DATA is `data`.
Each comes from the environment, else from its place in DIR. LC_ALL is C, or
HLG_TEST_LOCALE, TZ is UTC or HLG_TEST_ZONE; HOME is empty, stdin /dev/null, no pager, no perf configuration.

Needs: perf, perf-record (a cpu-clock recording works), kvm and x86-64 (of the command) are tried out; the
others are the words of HLG_FEATURES, by default what DIR/config.h has; those of HLG_WITHOUT are not met. A case whose needs are not met is skipped with
the reason.

Output is TAP, a failure with a unified diff from expected to actual. --update rewrites
the expected lines in place, but for a death by signal or a path of this run. The exit
status is 1 when a case failed.
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # this folder is the source's
from golden_case import BASH_SIGNALS, BadCase, Case, to_lines, to_status

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")
FEATURES = {"jansson", "zydis", "libiberty", "capstone"}
PROGRAMS = {
    "PERF_FILTER": "filter/hlguest.so",
    "HLGUEST": "tools/hlguest",
    "MKELF": "tests/kit/mkelf",
    "FAKEPERF": "tests/kit/fakeperf",
    "MKCALIBRATION": "tests/kit/mkcalibration",
}
TIMEOUT = 120
EM_X86_64 = b"\x3e\0"


class Features:
    """What needs can be met, each tried once, and only when a case asks."""

    def __init__(self, env):
        self.env = env
        self.lock = threading.Lock()
        self.known = {name: False for name in FEATURES}
        self.known.update({name: True for name in env.get("HLG_FEATURES", "").split()})
        self.known.update({name: False for name in env.get("HLG_WITHOUT", "").split()})
        self.probes = {
            "perf": lambda: self.run("perf", "version"),
            "perf-record": lambda: self.run(
                "perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-o", "/dev/null",
                "true"
            ),
            "kvm": lambda: self.can_open("/dev/kvm"),
            "x86-64": self.is_x86,
        }

    @staticmethod
    def can_open(path):
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except OSError:
            return False
        return True

    def is_x86(self):
        with open(self.env["HLGUEST"], "rb") as f:
            return f.read(20)[18:] == EM_X86_64

    def run(self, *argv):
        if not shutil.which(argv[0], path=self.env.get("PATH")):
            return False
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        try:
            return not subprocess.call(argv, timeout=TIMEOUT, **quiet)
        except (OSError, subprocess.TimeoutExpired):
            return False

    def unmet(self, needs):
        """The reason to skip, or None."""
        with self.lock:
            return self.first_unmet(needs)

    def first_unmet(self, needs):
        for need in needs:
            name = need.lstrip("!")
            if name not in self.known:
                if name not in self.probes:
                    raise BadCase(f"no such need: {name}")
                self.known[name] = bool(self.probes[name]())
            if self.known[name] == need.startswith("!"):
                return f"without {name} only" if need.startswith("!") else f"needs {name}"
        return None


def environment(build):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "PERF_"))}
    for name in ("LANG", "LANGUAGE", "COLUMNS", "BASH_ENV", "ENV", "DEBUGINFOD_URLS"):
        env.pop(name, None)
    for name, place in PROGRAMS.items():
        env[name] = os.path.abspath(os.environ.get(name) or os.path.join(build, place))
    env.update(
        DATA="data",
        LC_ALL=os.environ.get("HLG_TEST_LOCALE") or "C",
        PAGER="cat",
        PERF_CONFIG="/dev/null",
        PERF_PAGER="cat",
        TERM="dumb",
        TZ=os.environ.get("HLG_TEST_ZONE") or "UTC",
    )
    return env


def run_step(step, work, env):
    """Returns (stdout, stderr, status), the status as bash would give it."""
    script = b"\n".join(step.commands)
    argv = ["bash", "--noprofile", "--norc", "-c", script]
    # Files, not pipes: what a command leaves running cannot hold the runner up.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            argv, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )
        try:
            status = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise BadCase(f"still running after {TIMEOUT} seconds")
        out.seek(0)
        err.seek(0)
        return out.read(), err.read(), 128 - status if status < 0 else status


def copy_data(to):
    """A checkout leaves all files as old; ELFs are older than recordings, always."""
    shutil.copytree(DATA, to, symlinks=True)
    for folder, _, names in os.walk(to):
        for name in names:
            when = 2_000_000_000 if name.endswith(".data") else 1_000_000_000
            os.utime(os.path.join(folder, name), (when, when), follow_symlinks=False)


def run_steps(case, env):
    """Returns for each step its actual lines, and whether all are as expected."""
    actual = []
    same = True
    with tempfile.TemporaryDirectory(prefix="golden-") as top:
        work = os.path.join(top, "work")
        os.mkdir(work)
        os.mkdir(os.path.join(top, "home"))
        os.symlink(env["HLG_TEST_DATA"], os.path.join(work, "data"))
        os.symlink(env["PERF_FILTER"], os.path.join(work, "hlguest.so"))
        env = dict(env, HOME=os.path.join(top, "home"), TMPDIR=top)
        for step in case.steps:
            out, err, status = run_step(step, work, env)
            lines = to_lines(b">", out) + to_lines(b"!", err) + to_status(status)
            if (out, err, status) != (step.out, step.err, step.status or 0):
                same = False
                check_updatable(step, status, out + err, top)
            actual.append(lines)
    return actual, same


def check_updatable(step, status, output, top):
    """Marks what --update must not write down as if it were right."""
    if status in BASH_SIGNALS:
        step.refused = f"died by signal {status - 128}"
    elif os.fsencode(top) in output:
        step.refused = "the output has the path of the temporary directory in it"


def diff(case, actual):
    def whole(parts):
        lines = []
        for step, part in zip(case.steps, parts):
            lines += [b"$ " + c for c in step.commands] + part
        return [line.decode("utf-8", "backslashreplace") for line in lines]

    old = whole([step.expected() for step in case.steps])
    new = whole(actual)
    return list(difflib.unified_diff(old, new, "expected", "actual", lineterm=""))


def run_case(path, env, features, update):
    """Returns (result line without number, diagnostics)."""
    name = os.path.basename(path)[: -len(".test")]
    try:
        case = Case(path)
        reason = features.unmet(case.needs)
        if reason:
            return f"ok - {name} # SKIP {reason}", []
        actual, same = run_steps(case, env)
        if same:
            return f"ok - {name}", []
        refused = [s.refused for s in case.steps if s.refused]
        if update and not refused:
            case.rewrite(actual)
            return f"ok - {name}", ["updated"]
        return f"not ok - {name}", refused + diff(case, actual)
    except (BadCase, OSError) as e:
        return f"not ok - {name}", [str(e)]


def case_paths(names):
    if not names:
        found = sorted(n for n in os.listdir(HERE) if n.endswith(".test"))
        if not found:
            sys.exit(f"golden.py: {HERE}: no cases (have they moved?)")
        return [os.path.join(HERE, n) for n in found]
    files = (n if n.endswith(".test") else n + ".test" for n in names)
    return [f if os.sep in f else os.path.join(HERE, f) for f in files]


def features_of(build):
    """The libraries that a build has; of a folder that is none, none."""
    try:
        with open(os.path.join(build, "config.h"), encoding="utf-8") as f:
            return [name.lower() for name in re.findall(r"#define HLG_HAVE_(\w+) 1$", f.read(), re.M)]
    except FileNotFoundError:
        return []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", metavar="DIR", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)
    env = environment(args.build)
    env.setdefault("HLG_FEATURES", " ".join(features_of(args.build)))
    features = Features(env)
    paths = case_paths(args.case)
    failed = 0
    print(f"1..{len(paths)}")
    with tempfile.TemporaryDirectory(prefix="golden-") as top, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        env["HLG_TEST_DATA"] = os.path.join(top, "data")
        copy_data(env["HLG_TEST_DATA"])
        runs = pool.map(lambda p: run_case(p, env, features, args.update), paths)
        for number, (result, notes) in enumerate(runs, 1):
            failed += result.startswith("not ok")
            print(result.replace("ok -", f"ok {number} -", 1))
            for note in "\n".join(notes).split("\n") if notes else []:
                print("# " + note, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
