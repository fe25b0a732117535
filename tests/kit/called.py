# SPDX-License-Identifier: GPL-2.0-only
"""The calls of tests/live/guests/tree.c, and whether stacks can be of it; and the sandboxes that
stacks name."""
import collections
import re

from tap import must

CALLS = {
    "_start": {"run"},
    "run": {"left", "right", "again", "by_pointer", "deep", "out"},
    "left": {"leaf_shared"},
    "right": {"leaf_shared", "leaf_right"},
    "again": {"again", "leaf_bottom"},
    "by_pointer": {"leaf_pointed"},
    "deep": {"deep"},
}
AGAIN = 6        # frames of again at most
MARKED = 0.01    # of all samples, at most


def calls(caller, callee):
    return callee in CALLS.get(caller, ())


def judge(stack):
    """Of one stack, the outermost function first: "exact", "deep" (more frames than are
    recorded), "marked" (the stack says that something is missing), or None: it cannot be."""
    if stack[0] == "[truncated: too deep]":
        return "deep" if set(stack[2:]) == {"deep"} and stack[1] in ("run", "deep") else None
    if any(frame.startswith("[") for frame in stack):
        return "marked"
    if stack[0] != "_start" or stack.count("again") > AGAIN:
        return None
    return "exact" if all(map(calls, stack[:-1], stack[1:])) else None


def parse(folded):
    """{(function, ...): samples} of the guest's halves, the outermost function first."""
    found = collections.Counter()
    for line in folded.splitlines():
        stack, samples = line.rsplit(" ", 1)
        frames = stack.split(";")
        if "[guest]" in frames:
            found[tuple(frames[frames.index("[guest]") + 1:])] += int(samples)
    return found


def check(folded, least):
    """What is wrong with the stacks of the guest as it is; least: samples."""
    kinds, wrong = collections.Counter(), []
    leaves = collections.Counter()
    for stack, samples in parse(folded).items():
        kind = judge(stack)
        kinds[kind] += samples
        leaves[stack[-1]] += samples
        if not kind:
            wrong.append(f"{samples} samples of {';'.join(stack)}")
    total = kinds.total()
    print("#", ", ".join(f"{n} {kind or 'wrong'}" for kind, n in kinds.most_common()))
    if total < least:
        wrong.append(f"{total} samples")
    if kinds["marked"] > MARKED * total:
        wrong.append(f"{kinds['marked']} of {total} are marked")
    wrong += [f"no sample in {name}" for name in ("leaf_shared", "leaf_right", "leaf_pointed",
                                                  "leaf_bottom", "again", "deep")
              if not leaves[name]]
    return wrong


def named(data):
    """(thread, time, sandbox) of guest samples whose chain tells it."""
    for time, tid, chain in re.findall(
            r"^\d+ (\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\(IP, 0x[45]\): \d+/(\d+): .*\n"
            r"((?:\.{3}.*\n)*)", must("perf", "script", "-D", "-i", data), re.M):
        tail = re.search(r": fffffffffffff800(?: \(\w+\))?\n"  # perf 7 has the marker's name
                         r".*: ([0-9a-f]{8})[0-9a-f]{8}$", chain, re.M)
        if tail:
            yield int(tid), int(time), int(tail[1], 16)
