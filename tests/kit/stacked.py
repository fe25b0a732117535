# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of guest stacks that are known: paths of the calls in tests/live/guests/tree.c,
as its ELF has them, sampled at any instruction. Written as hlguest record writes them
(filter/stacks/chains.h). All raise Skip where something is missing."""
import collections
import os
import random
import re

import recording
from microvm import guest
from tap import must, need

BASE = 0x4000
USER, TAIL = 2 ** 64 - 2560, 2 ** 64 - 2048  # PERF_CONTEXT_GUEST_USER, PERF_CONTEXT_GUEST
WHOLE, DEEP, FRAMES = 1, 2, 1                # enum hlg_chain_end, enum hlg_chain_way
PERIOD = 1000000
POINTED = ("by_pointer", "leaf_pointed")     # the only call that does not name its function

Guest = collections.namedtuple("Guest", "elf code calls")


def read(elf):
    """The guest's ELF; {function: addresses of its instructions}; {function: {return address:
    function that is called}}"""
    need("objdump")
    code, calls, last, name = {}, collections.defaultdict(dict), None, None
    for line in must("objdump", "-d", "--no-show-raw-insn", elf).splitlines():
        if head := re.match(r"[0-9a-f]+ <(\w+)>:$", line):
            name = head[1]
            code[name] = []
        elif instruction := re.match(r" +([0-9a-f]+):\t(\S+)(?: .*<(\w+)>)?", line):
            addr = int(instruction[1], 16)
            code[name].append(addr)
            if last:
                calls[last[0]][addr] = last[1] or POINTED[1]
            last = (name, instruction[3]) if instruction[2] == "call" else None
    return Guest(elf, code, calls)


def path(tree, rng):
    """[(function, return address in it)], the outermost first, and who is called at last."""
    steps, name = [], "_start"
    while tree.calls[name] and (not steps or rng.random() < .9) and len(steps) < 30:
        back = rng.choice(sorted(tree.calls[name]))
        steps.append((name, back))
        name = tree.calls[name][back]
    return steps, name


def make(build, folder, name, seed=1, n=400, tids=(7,)):
    """Writes folder/NAME. Returns the guest, and {(tid, functions from the outermost one):
    samples}."""
    need("gcc")
    tree, rng = read(guest("tree", build, folder)), random.Random(seed)
    samples, chains, found = [], [], collections.Counter()
    for _ in range(n):
        steps, leaf = path(tree, rng)
        # Behind the two instructions that set up its frame.
        ip = BASE + rng.choice(tree.code[leaf][2:-2])
        tid = rng.choice(tids)
        backs = [BASE + back for _, back in reversed(steps)]
        samples.append((ip, tid, PERIOD, 0))
        chains.append((USER, ip, *backs, TAIL, WHOLE | FRAMES << 8))
        found[tid, (*(f for f, _ in steps), leaf)] += 1
    recording.write(os.path.join(folder, name), samples, chains=chains)
    return tree, found


def at_exits(path):
    """Of tests/data/demo.elf: 40 samples in call_host behind an instruction that exits, 4 of
    hash_block, called from there is no knowing where; all below guest_main and _start."""
    main, out, hashing, tail = 0x5287, 0x6097, 0x52db, (TAIL, WHOLE | FRAMES << 8)
    recording.write(path, [(out, 7, 1, 0)] * 40 + [(hashing, 7, 1, 0)] * 4,
                    chains=[(USER, out, 0x611b, main, *tail)] * 40 +
                    [(USER, hashing, 0x60f8, main, *tail)] * 4)


def inclusive(found):
    """{function: samples that it is in, however often}"""
    sums = collections.Counter()
    for (_, stack), samples in found.items():
        sums.update(dict.fromkeys(stack, samples))
    return sums
