# SPDX-License-Identifier: GPL-2.0-only
"""The calls of tests/live/guests/tree.c, and whether stacks can be of it."""
import collections

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
FRAMES = 127     # of a stack at most
COST = 0.05      # samples in prologues and epilogues, whose caller is missing, at most


def calls(caller, callee):
    return callee in CALLS.get(caller, ())


def judge(stack):
    """Of one stack, the outermost function first: "exact", "short" (the innermost caller is
    missing), "deep" (more frames than are recorded), or None: it cannot be."""
    if len(stack) >= FRAMES and set(stack[1:]) == {"deep"} and stack[0] in ("run", "deep"):
        return "deep"
    if stack in (("run",), ("_start",)):
        return "short" if stack[0] == "run" else "exact"
    if stack[0] != "_start" or stack.count("again") > AGAIN:
        return None
    if not all(map(calls, stack[:-1], stack[1:-1])):
        return None
    if calls(*stack[-2:]):
        return "exact"
    between = CALLS.get(stack[-2], ())
    return "short" if any(calls(c, stack[-1]) for c in between) else None


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
    if kinds["short"] > COST * total:
        wrong.append(f"{kinds['short']} of {total} lack a caller")
    wrong += [f"no sample in {name}" for name in ("leaf_shared", "leaf_right", "leaf_pointed",
                                                  "leaf_bottom", "again", "deep")
              if not leaves[name]]
    return wrong
