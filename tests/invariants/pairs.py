# SPDX-License-Identifier: GPL-2.0-only
"""Several recordings: in any order and grouping they are the same; a comparison has the figures
of both sides, and those of the other direction; and a base that is found is where they were.
"""
import collections
import gzip
import os

import inputs
from bed import Broken, counts_of, same

KEEP = ("--border=keep", "--force", "-q")
UNITS = ("samples", "period")


def pick(rng, *choices):
    return rng.choice(choices)


def parts(bed, rng, rec, n, *more):
    """Recordings of some of the rounds each, some of them twice."""
    names = []
    for i in range(n):
        rounds = rng.sample(rec.rounds, rng.randint(1, len(rec.rounds)))
        rounds.sort(key=rec.rounds.index)
        names.append(f"part{i}.data")
        bed.write(rec.file(rec.body(rounds)), names[-1])
    if rng.random() < .15:
        bed.write(inputs.damaged(rng, rec), rng.choice(names))
    return names


def check_orders(bed, rng, guest, rec, data):
    """Of recordings that are named in another order all figures are the same, to the last."""
    names = parts(bed, rng, rec, rng.randint(2, 4))
    other = names[:]
    rng.shuffle(other)
    verb = pick(rng, ("report", "--mode=all", "--top=0", "--by=" + pick(rng, "event", "tid")),
                ("annotate",), ("report", "--stacks=callgraph", "--mode=all"))
    how = KEEP if verb[0] == "report" else KEEP[1:]
    first, second = (bed.json(*verb, *how, guest, *some) for some in (names, other))
    for document in (first, second):
        for key in ("files", "images"):  # in the order they are named; at bases as they come
            (document or {}).pop(key, None)
    same(f"{' '.join(verb)} of {other}", first, second)


def check_numbers(bed, rng, guest, rec, data):
    """Where what is met gets a number, that is not of the order in which it was read."""
    names = parts(bed, rng, rec, rng.randint(3, 9))
    verb = pick(rng, ("report", "--format=callgrind", "--stacks=callgraph", "--mode=all"),
                ("report", "--format=speedscope", "--stacks=callgraph", "--mode=all"),
                ("flame", "--min=0", "--mode=all"))
    first, second = (bed.run(*verb, *KEEP, f"-j{n}", guest, *names) for n in (1, 3))
    same(f"{' '.join(verb)} -j3 of {names}", first, second)


def check_merges(bed, rng, guest, rec, data):
    """Any order and any grouping gives the same bytes."""
    saved, by = [], pick(rng, "--by=event", "--by=pid,tid")
    for name in parts(bed, rng, rec, 3):
        saved.append(name.replace("data", "pb.gz"))
        got = bed.run("report", *KEEP, "--mode=all", "--format=pprof", f"--out={saved[-1]}",
                      by, guest, name)
        if got.status not in (0, 3):
            return

    def merge(out, *names):
        got = bed.run("merge", "-q", f"-j{rng.randint(1, 3)}", "-o", out, *names)
        if got.status:
            raise Broken(f"merge {' '.join(names)}: {got.err}")
        with open(bed.place(out), "rb") as f:
            return f.read()

    a, b, c = saved
    whole = merge("whole.pb.gz", a, b, c)
    order = rng.sample(saved, 3)
    merge("two.pb.gz", *order[:2])
    for names in (rng.sample(saved, 3), ["two.pb.gz", order[2]], [order[2], "two.pb.gz"]):
        if merge("other.pb.gz", *names) != whole:
            raise Broken(f"merge of {names}, two being of {order[:2]}: other bytes")


def check_fleet(bed, rng, guest, rec, data):
    """However recordings are divided, the sum has the bytes of one report of them all."""
    names = parts(bed, rng, rec, rng.randint(1, 5))
    if rng.random() < .4:
        bed.write(inputs.damaged(rng, rec), names[-1])
    if rng.random() < .2:
        names.append("none.data")
    bed.write("".join(name + "\n" for name in names).encode(), "list")
    more = ("--mode=all", rng.choice(("--by=event", "--by=pid", "--by=tid,cpu")))
    one = bed.run("report", *KEEP, *more, "--format=pprof", "--out=one.pb.gz", "--input-list=list",
                  guest)
    got = bed.run("fleet", "submit", "--list=list", f"--tasks={rng.randint(1, 4)}", "-o",
                  "sum.pb.gz", guest, "--", *KEEP[:2], *more)
    if "none of" in got.err:  # recordings could be read: there is no sum
        return
    there = [os.path.exists(bed.place(name)) for name in ("one.pb.gz", "sum.pb.gz")]
    same(f"fleet {more} of {names}: {one} {got}: files", *there)
    if there[0]:
        saved = []
        for name in ("one.pb.gz", "sum.pb.gz"):
            with open(bed.place(name), "rb") as f:
                saved.append(gzip.decompress(f.read()))
        if saved[0] != saved[1]:
            raise Broken(f"fleet {more} of {names}: other bytes")


def side_of(document, side):
    """{(name, kind, addr): (samples, period)} of a diff."""
    return {(f["name"], f["kind"], f[side].get("addr")): tuple(f[side][u] for u in UNITS)
            for f in document["functions"] if f[side]["samples"]}


def tests_of(document):
    """What is judged of each row, whichever side is the first."""
    return collections.Counter(
        (f.get("name"), f.get("addr"), f["p"], f["significant"], abs(f["points"]),
         *sorted(str(f[side]) for side in ("before", "after")))
        for f in document["functions"] + document["regions"])


def check_diff(bed, rng, guest, rec, data):
    n = rng.choice((1, 1, 2, 3))  # of three their spread is what counts
    names = parts(bed, rng, rec, 2 * n)
    before, after = names[:n], names[n:]
    how = ("--force", "-q", "--top=0", "--gaps=" + pick(rng, "retag", "drop", "stretch"),
           "--border=" + pick(rng, "split", "keep"))
    there = bed.json("diff", *how, guest, *before, "--after", *after, good=(0, 3, 4))
    back = bed.json("diff", *how, guest, *after, "--after", *before, good=(0, 3, 4))
    reports = [bed.json("report", *how, guest, *some) for some in (before, after)]
    if there is None or None in reports:
        return
    what = f"diff {' '.join(how)}"
    for side, report in zip(("before", "after"), reports):
        same(f"{what}: guest {side}", report["totals"]["guest"], there[side]["guest"])
        want = {(f["name"], f["kind"], f["addr"]): tuple(f[u] for u in UNITS)
                for f in report["functions"]}
        if "--border=keep" in how:  # else what is of the border on one side is so on both
            same(f"{what}: functions {side}", want, {
                key: n for key, n in side_of(there, side).items()
                if key[1] in ("function", "label", "gap")})
    same(f"{what}: the other way", tests_of(there), tests_of(back))


def check_same(bed, rng, guest, rec, data):
    """A recording and itself: nothing has changed."""
    document = bed.json("diff", "--force", "-q", "--top=0", guest, *data, *data, good=(0, 3))
    for f in (document["functions"] + document["regions"]) if document else ():
        if f["significant"] or f["points"] or f["status"]:
            raise Broken(f"diff of a recording and itself: {f}")


def check_base(bed, rng):
    """A base that is found is where the samples were, or it is not called verified."""
    one = inputs.Guest(rng, real=True)
    bed.write(one.data, "guest.elf")
    starts = [ip for ip in one.starts if rng.random() < .8] or one.starts
    rec = inputs.Recording(rng, one, 1).of_each([ip for ip in starts if ip])
    bed.write(rec.file(), "a.data")
    stated = bed.json("report", *KEEP, "--top=0", f"guest.elf@{one.base:#x}", "a.data")
    if stated["trust"]["boundary"]["off"]:
        raise Broken(f"all samples on instruction starts: {stated['trust']}")
    found = bed.json("report", "-q", "--top=0", "--border=keep", "guest.elf@auto", "a.data",
                     good=(0, 1, 3))
    if found is None or found["trust"]["verdict"] != "verified":
        return
    if found["images"][0]["base"] != f"{one.base:#x}":
        raise Broken(f"found at {found['images'][0]['base']}, not {one.base:#x}: "
                     f"{found['trust']['base']}")
    same("report of @auto and of the base", counts_of(stated), counts_of(found))
