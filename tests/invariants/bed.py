# SPDX-License-Identifier: GPL-2.0-only
"""Runs hlguest within bounds, and compares what it says.

Whatever a file says of itself, CPU seconds and memory are bounded by the bytes that are on
disk: CPU <= CPU_LEAST + CPU_MORE n log n, memory <= MEMORY_LEAST + MEMORY_MORE n. A run that
needs more breaks an invariant, as one does that dies of a signal or ends with a status that
no page knows. Processor time and memory are the kernel's sums of the process (wait4): what
else the machine does counts for little in the one, and for nothing in the other.
"""
import collections
import json
import math
import os
import re
import resource
import subprocess
import threading

from tap import environment

CPU_SECONDS = 10  # here it is ended
MEMORY = 1 << 30
# Some ten times what the slowest verb takes of what is in proportion.
CPU_LEAST, CPU_MORE = 0.8, 3e-8
MEMORY_LEAST, MEMORY_MORE = 192 << 20, 100  # of it Python's own, which the process begins as
STATUSES = (0, 1, 2, 3)

Result = collections.namedtuple("Result", "status out err")


class Broken(Exception):
    """An invariant does not hold."""


# A sanitizer takes all the addresses there are, and its costs are not the program's.
SANITIZED = bool(os.environ.get("HLG_WITHOUT"))


def limit(pid):
    """Once it runs: a function for Popen to call before would have all of Python copied."""
    try:
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        if not SANITIZED:
            resource.prlimit(pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
    except ProcessLookupError:
        pass  # it has ended


def feed(pipe, data):
    """All of it, or what is read: nobody need read to the end."""
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass


def on_disk(folder, words):
    """Bytes that are there, not what a sparse file claims, of all that a run could read."""
    files = {os.path.join(here, name) for here, _, names in os.walk(folder) for name in names}
    files |= {word.partition("@")[0] for word in words if word.startswith("/")}
    sizes = (os.stat(file) for file in files if os.path.isfile(file))
    return sum(min(st.st_size, 512 * st.st_blocks) for st in sizes)


class Bed:
    def __init__(self, hlguest, folder):
        self.hlguest, self.folder = hlguest, folder
        self.env = environment()
        self.runs = 0

    def place(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, data, *names):
        path = self.place(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def run(self, *words, cwd=None, stdin=None):
        """stdin: bytes that come through a pipe."""
        self.runs += 1
        with open(os.memfd_create("err"), "w+b", buffering=0) as err:
            child = subprocess.Popen(
                [self.hlguest, *words], cwd=cwd or self.folder, env=self.env,
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=err, close_fds=False)
            limit(child.pid)
            if stdin is not None:
                threading.Thread(target=feed, args=(child.stdin, stdin)).start()
            with child.stdout:
                out = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            found = Result(child.returncode, out, err.read().decode("utf-8", "replace"))
        if found.status not in STATUSES:
            raise Broken(f"{' '.join(words)}: status {found.status}: {found.err[-400:]}")
        self.check_cost(words, usage, len(stdin or b""))
        return found

    def check_cost(self, words, usage, n):
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
        if SANITIZED or (cpu <= CPU_LEAST and memory <= MEMORY_LEAST):
            return
        n += on_disk(self.folder, words)
        if cpu > CPU_LEAST + CPU_MORE * n * math.log2(n + 2):
            raise Broken(f"{' '.join(words)}: {cpu:.2f} CPU seconds for {n} bytes")
        if memory > MEMORY_LEAST + MEMORY_MORE * n:
            raise Broken(f"{' '.join(words)}: {memory >> 20} MiB for {n} bytes")

    def json(self, verb, *words, good=(0, 3), **how):
        """The document, or None: it was refused, or there is none of nothing."""
        got = self.run(verb, *words, "--format=json", **how)
        if got.status not in good or (got.status == 1 and not got.out):
            return None
        try:
            return json.loads(got.out)
        except ValueError as e:
            raise Broken(f"{verb} {' '.join(words)}: no JSON: {e}") from None


def same(what, first, other):
    """Two results, documents or lists that are to be equal."""
    if first == other:
        return
    if isinstance(first, Result):
        lines = [(a, b) for a, b in zip(lines_of(first), lines_of(other)) if a != b]
        shown = lines[:3] or [(len(lines_of(first)), len(lines_of(other)))]
    elif not isinstance(first, dict):
        shown = [first, other]
    else:
        keys = [k for k in {**first, **other} if first.get(k) != other.get(k)]
        shown = [(k, first.get(k), other.get(k)) for k in keys[:3]]
    raise Broken(f"{what}: {shown}")


def lines_of(result):
    return [str(result.status), *result.err.splitlines(), *re.findall(rb"[^\n,]+", result.out)]


def counts_of(document):
    """{what: (samples, period)} of a report: all that adds up."""
    found = collections.Counter()

    def add(key, count):
        for unit in ("samples", "period"):
            found[(*key, unit)] += count[unit]

    for name, count in document["totals"].items():
        if name not in ("seen", "deselected", "states"):
            add(("total", name), count)
    for part in ("functions", "border"):
        for f in document.get(part, ()):
            add((part, f["name"], f["kind"], f["image"], f["addr"]), f)
            for name, count in f["series"].items():
                add((part, f["name"], f["addr"], name), count)
    for f in document.get("regions", ()):
        add(("region", f["image"], f["addr"]), f)
    for f in document.get("host", ()):
        add(("host", f["name"], f["dso"], f["series"]), f)
    for f in document["events"]:
        add(("event", f["name"]), f)
    return +found  # without zeros


def stacks_of(out):
    """{stack: weight} of folded lines."""
    found = collections.Counter()
    for line in out.decode("utf-8", "replace").splitlines():
        stack, _, n = line.rpartition(" ")
        found[stack] += int(n)
    return found
