# SPDX-License-Identifier: GPL-2.0-only
"""Runs hlguest within bounds, and compares what it says.

Inputs have some ten kilobytes: whatever they say, CPU seconds and memory are bounded by
what is read, not by what it claims. A run that needs more than LIMITS breaks an invariant,
as one does that dies of a signal or ends with a status that no page knows.
"""
import collections
import json
import os
import re
import resource
import subprocess

from tap import environment

CPU_SECONDS = 10
MEMORY = 1 << 30
STATUSES = (0, 1, 2, 3)

Result = collections.namedtuple("Result", "status out err")


class Broken(Exception):
    """An invariant does not hold."""


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if not os.environ.get("HLG_WITHOUT"):  # a sanitizer takes all the addresses there are
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


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
        done = subprocess.run(
            [self.hlguest, *words], cwd=cwd or self.folder, env=self.env,
            input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limits, check=False)
        found = Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
        if found.status not in STATUSES:
            raise Broken(f"{' '.join(words)}: status {found.status}: {found.err[-400:]}")
        return found

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
    """Two results, or documents, that are to be equal."""
    if first == other:
        return
    if isinstance(first, Result):
        lines = [(a, b) for a, b in zip(lines_of(first), lines_of(other)) if a != b]
        shown = lines[:3] or [(len(lines_of(first)), len(lines_of(other)))]
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
