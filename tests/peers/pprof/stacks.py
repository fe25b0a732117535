#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles keep stacks.

    stacks.py --build DIR

A recording whose stacks are known (kit/stacked.py) is saved. Reports of the profile, of
profiles merged in any order, and at another base are those of the recordings, byte for
byte. Go's pprof shows the inclusive sums and the callers that were put in. A profile
without stacks stays one that older versions read. Also of recordings made up (made.py).
"""
import collections
import csv
import gzip
import itertools
import os
import random
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from hostile import EXTRA, fields
from kit import Bench, content

import forged
import made
import stacked
from tap import DATA, Skip, Tap, but_banner, must, need, parser

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved-format-4.pb.gz")
WHOLE = "--stacks=callgraph"
FORMATS = ("folded", "csv", "json", "text")
SPAN = re.compile(r"(?<=^recorded  )[0-9.]+ (?:s|ms|us), ", re.M)  # is not saved
TID = re.compile(r'"tid": \d+')
THREADS = re.compile(r'^remark,,,"(thread -?\d+ does|\d+ more threads do) not fit.*\n', re.M)
TIME_NANOS = 9  # of Profile; one that is kept from before does not know when it was
RECORDINGS = 39  # of Extra; nor of which host it was


def report(bench, *argv):
    out, err, status = bench.run("report", *argv)
    if "not in this build" in err:
        return None
    said = re.sub(r"^hlguest: warning: .*\n", "", but_banner(err), flags=re.M)
    if said or status not in (0, 3):
        raise RuntimeError(f"{' '.join(argv)}: status {status}: {err}")
    return THREADS.sub("", TID.sub("", SPAN.sub("", out)))


def same(bench, elf, recordings, profiles, *more, formats=FORMATS):
    for form, mode in itertools.product(formats, ("guest", "all")):
        argv = (f"--format={form}", f"--mode={mode}", *more)
        first = report(bench, elf, *recordings, WHOLE, *argv)
        second = report(bench, elf, *profiles, WHOLE, *argv)
        if first != second:
            yield f"{' '.join(argv)}:"
            for a, b in zip((first or "").split("\n"), (second or "").split("\n")):
                yield from (f"- {a}", f"+ {b}") if a != b else ()


def saved(bench, tree):
    """One recording; and by thread, with the selection that this allows."""
    profile = bench.save(tree.elf, "one.data", "--by=tid")
    yield from same(bench, tree.elf, ["one.data"], [profile])
    yield from same(bench, tree.elf, ["one.data"], [profile], "--by=tid")
    yield from same(bench, tree.elf, ["one.data"], [profile], "--tid=8")
    for option in "--roots=section", "--roots=image,comm", "--gaps=stretch", "--force":
        yield from same(bench, tree.elf, ["one.data"], [profile], option)
    if content(bench.save(tree.elf, profile, "--by=tid")) != content(profile):
        yield "saved again it has other bytes"
    if content(bench.merge([profile])) != content(profile):
        yield "merged alone it has other bytes"


def merged(bench, tree):
    names = [f"{n}.data" for n in ("one", "two", "three")]
    profiles = [bench.save(tree.elf, name) for name in names]
    sums = {content(bench.merge(order)) for order in itertools.permutations(profiles)}
    sums.add(content(bench.merge([bench.merge(profiles[:2]), profiles[2]])))
    sums.add(content(bench.save(tree.elf, *names)))
    if len(sums) != 1:
        yield "order, grouping or who saves it matters"
    for some in [bench.merge(profiles)], [profiles[0], names[1], profiles[2]]:
        yield from same(bench, tree.elf, names, some, formats=("folded",))


def moved(bench, tree):
    """Callers move with the image that they lie in."""
    profile = bench.save(tree.elf, "one.data")
    here = report(bench, tree.elf, profile, WHOLE, "--format=folded")
    there = report(bench, f"{tree.elf}@0x7000000", profile, WHOLE, "--format=folded")
    if here != there:
        yield f"{here[:200]}, at another base {there[:200]}"


def called_last(bench):
    """A call that is the image's last instruction returns behind the image, and moves with it."""
    guest, base, size = os.path.join(bench.folder("given"), "last.elf"), 0x400000, 0x1000
    elf = forged.Elf(size).symbols([(1, forged.TEXT, size)], b"\0main\0")
    elf.data[elf.text + size - 5:elf.text + size] = struct.pack("<Bi", 0xe8, -size)
    with open(guest, "wb") as f:
        f.write(elf.build())
    chain = stacked.USER, base + 1, base + size, stacked.TAIL, stacked.WHOLE | 1 << 8
    stacked.recording.write(os.path.join(bench.folder("given"), "last.data"),
                            [(base + 1, 7, stacked.PERIOD, 0)], chains=[chain])
    profile = bench.save(f"{guest}@{base:#x}", "last.data", "--force")
    for at in base, 0x7000000:
        folded = report(bench, f"{guest}@{at:#x}", profile, WHOLE, "--format=folded", "--force")
        if not folded.endswith(f";[guest];main;main {stacked.PERIOD}\n"):
            yield f"at {at:#x}: {folded}"


def without_elf(bench, tree):
    """Two sides have the rows that they have with the ELF, also those of callers only; but where
    in its function each was sampled first is told, not where that begins."""
    def rows(*images):
        out, err, status = bench.run("diff", "-q", "--all", "--children", "--format=csv", *images,
                                     *profiles)
        if err or status:
            raise RuntimeError(f"status {status}: {err}")
        found = [line for line in csv.DictReader(out.splitlines())
                 if line["record"] == "function"]
        starts.append({row["name"]: [row.pop(f"addr_{side}") for side in ("before", "after")]
                       for row in found})
        return found

    profiles, starts = [bench.save(tree.elf, name) for name in ("one.data", "two.data")], []
    expected, found = rows(tree.elf), rows()
    if not any(row["self_percent_before"] == "0.00" for row in expected):
        yield "no function has callers only"
    if found != expected:
        yield f"{found[:2]}, with the ELF {expected[:2]}"
    for name, first in starts[1].items():
        for here, begins in zip(first, starts[0][name]):
            if not 0 <= int(here, 16) - int(begins, 16) < 0x100:
                yield f"{name} at {here}, it begins at {begins}"


def of_samples(path):
    """The fields of a profile but when it was made, and of which recordings."""
    for field in fields(gzip.decompress(content(path))):
        if field[0] == EXTRA:
            yield from (f for f in fields(field[-1]) if f[0] != RECORDINGS)
        elif field[0] != TIME_NANOS:
            yield field


def kept(bench, _tree):
    """One that was saved when format 4 began says what its recording does."""
    rng = random.Random(4)
    chains = [(stacked.USER, *(0x4000 + rng.randrange(0x1000, 0x2000) for _ in
                               range(rng.randint(1, 6))), stacked.TAIL,
               rng.randint(0, 4) | rng.randint(0, 2) << 8) for _ in range(200)]
    stacked.recording.write(os.path.join(bench.folder("given"), "kept.data"),
                            [(words[1], rng.randint(1, 2), 1000, 0) for words in chains],
                            chains=chains)
    for more in (), ("--by=tid",):
        yield from same(bench, "demo.elf@0x4000", ["kept.data"], [KEPT], "--force", *more)
    again, anew = (of_samples(bench.save("demo.elf@0x4000", path, "--by=tid"))
                   for path in (KEPT, "kept.data"))
    if [*again] != [*anew]:
        yield "saved again it has other fields"


def drawn(bench, tree):
    """flame looks by itself whether there are stacks."""
    argv = ("flame", "--format=folded", tree.elf)
    first = bench.run(*argv, "one.data")
    found = bench.run(*argv, bench.save(tree.elf, "one.data"))
    if found != first or ";_start;run;" not in first[0]:
        yield f"{first}, {found}"


def flat(bench, tree):
    """Without stacks the format is the one before."""
    for words, expected in (("--stacks=leaf",), 3), ((), 4):
        data = gzip.decompress(content(bench.save(tree.elf, "one.data", *words)))
        extra = dict(fields(next(x for f, x in fields(data) if f == EXTRA)))
        if extra[1] != expected:
            yield f"{words}: format {extra[1]}"
    profile = bench.save(tree.elf, "one.data", "--stacks=leaf")
    both = bench.merge([profile, bench.save(tree.elf, "two.data")])
    lost = sum(int(line.rsplit(" ", 1)[1]) for line in
               report(bench, tree.elf, both, WHOLE, "--format=folded").splitlines()
               if line.startswith("[stack not kept];"))
    if lost != stacked.PERIOD * 400:
        yield f"{lost} without a stack"


def top_of(text):
    """{function: (flat, cum)} of go tool pprof -top."""
    return {m[3]: (int(m[1]), int(m[2])) for m in
            re.finditer(r"^ *(\d+)(?:ns)? +\S+% +\S+% +(\d+)(?:ns)? +\S+%  (.*)$", text, re.M)}


def go_shows(bench, tree, found):
    need("go")
    profile = bench.save(tree.elf, "one.data", "--border=keep")
    words = ("go", "tool", "pprof", "-nodefraction=0", "-edgefraction=0", "-unit=ns",
             "-sample_index=0")
    every = stacked.inclusive(found)
    leaves = collections.Counter()
    edges = collections.Counter()
    for (_, stack), samples in found.items():
        leaves[stack[-1]] += samples
        edges.update(dict.fromkeys(zip(stack, stack[1:]), samples))
    expected = {name: (leaves[name], every[name]) for name in every}
    top = top_of(must(*words, "-top", "-cum", profile))
    if top != expected:
        yield f"{top}, not {expected}"
    peeked = must(*words, "-peek=^leaf_shared$", profile)
    for caller in "left", "right":
        line = re.search(rf"^ +(\d+)(?:ns)? +\S+% +\| +{caller}$", peeked, re.M)
        if not line or int(line[1]) != edges[caller, "leaf_shared"]:
            yield f"{caller}: {edges[caller, 'leaf_shared']}, not {peeked}"


def inserted(bench, tree):
    """A caller that the code tells stands there without an address."""
    need("go")
    entry = tree.code["leaf_shared"][0]
    chains = [[stacked.BASE + a for a in (entry, back_to("run", "right", tree),
                                          back_to("_start", "run", tree))]]
    stacked.recording.write(
        os.path.join(bench.folder("given"), "inserted.data"),
        [(chains[0][0], 7, stacked.PERIOD, 0)],
        chains=[(stacked.USER, *chains[0], stacked.TAIL, stacked.WHOLE | 1 << 8)])
    words = (tree.elf + f"@{stacked.BASE:#x}", "inserted.data", "--force")
    profile = bench.save(*words)
    yield from same(bench, words[0], words[1:2], [profile], "--force")
    folded = report(bench, *words, WHOLE, "--format=folded")
    frames = folded.rsplit(" ", 1)[0].split(";[guest];")[1].split(";")
    text = must("go", "tool", "pprof", "-traces", profile)
    shown = [line.split()[-1] for line in text.splitlines() if re.match(r" +\S* +?[\w_]+$", line)
             and "Type" not in line]
    if "right" not in frames or shown[::-1] != frames:
        yield f"{frames}, {shown}, {text}"


def back_to(caller, callee, tree):
    return next(back for back, to in tree.calls[caller].items() if to == callee)


def whose(bench):
    """Whose the host's stacks are is kept: by sandbox, and of one."""
    elf, recording = (os.path.join(DATA, "hyperlight", name) for name in ("guest.elf", "turns.data"))
    profile = bench.save(elf, recording, "--by=sandbox", "--force", WHOLE)
    for words in ["--by=sandbox"], ["--sandbox=1"]:
        yield from same(bench, elf, [recording], [profile], "--force", *words, formats=("folded",))


def made_up(bench):
    """Any chains of host and guest, several events, at addresses of no function, too."""
    for seed in range(12):
        name = f"made-{seed}.data"
        with open(os.path.join(bench.folder("given"), name), "wb") as f:
            f.write(made.make(seed))
        profile = bench.save("demo.elf@0x400000", name, WHOLE)
        for form, mode in itertools.product(("folded", "csv"), ("guest", "host", "all")):
            argv = ("--force", "--border=keep", f"--format={form}", f"--mode={mode}")
            first = report(bench, "demo.elf@0x400000", name, WHOLE, *argv)
            second = report(bench, "demo.elf@0x400000", profile, WHOLE, *argv)
            if first != second:
                yield f"{seed} {form} {mode}"
        if content(bench.save("demo.elf@0x400000", profile)) != content(profile):
            yield f"{seed}: saved again it has other bytes"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = Bench(args.build, work)
            given = bench.folder("given")
            tree, found = stacked.make(args.build, given, "one.data", 1, tids=(7, 8))
            for seed, name in (2, "two.data"), (3, "three.data"):
                stacked.make(args.build, given, name, seed)
        except Skip as e:
            tap.skip("stacks", e)
            return tap.finish()
        for name, function in (
            ("a saved profile", saved),
            ("no ELF", without_elf),
            ("merged profiles", merged),
            ("another base", moved),
            ("a call at the end", lambda b, _: called_last(b)),
            ("a kept profile", kept),
            ("flame graphs", drawn),
            ("without stacks", flat),
            ("go tool pprof shows callers", lambda b, t: go_shows(b, t, found)),
            ("an inserted caller", inserted),
            ("the host's stacks by sandbox", lambda b, _: whose(b)),
            ("recordings made up", lambda b, _: made_up(b)),
        ):
            tap.run(name, lambda f=function: list(f(bench, tree)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
