# SPDX-License-Identifier: GPL-2.0-only
"""Cutting adds up: what a selection has and what is left of it are the whole, in every verb
that selects; and parts of a recording, read together or saved and merged, are the recording.
"""
import collections
import csv
import io
import os

import inputs
import splice
from bed import Broken, counts_of, same, stacks_of
from known_exits import BASE, ELF, REASONS, Known
from tap import DATA

REPORT = ("--border=keep", "--force", "--top=0", "-q")
FAR = 2 ** 31 - 1
MOST = 2 ** 63 - 1  # that JSON has a number for


def pick(rng, *choices):
    return rng.choice(choices)


def ways(rng, rec):
    """Lists of selections that have every sample once: (name, [words])."""
    times = sorted({s.time for s in rec.samples}) or [1]
    t = max(1, rng.choice(times) + rng.choice((-1, 0, 1)))  # nothing is before 0
    at = f"{t // 10 ** 9}.{t % 10 ** 9:09}"
    tids = sorted({s.tid for s in rec.samples})
    tid = rng.choice(tids or [1])
    cpu = rng.randrange(inputs.CPUS)
    yield "time", [f"--time=,{at}", f"--time={at},"]
    yield "tid", [f"--tid={tid}", f"--tid=0-{tid - 1},{tid + 1}-{FAR}"]
    yield "pid", [f"--pid={pid}" for pid in inputs.PROCESSES]
    yield "cpu", [f"--cpu={cpu}", f"--cpu=0-{cpu - 1},{cpu + 1}-4096" if cpu else "--cpu=1-4096"]
    yield "event", [f"--event={name}*" for name, _, _ in rec.events]


def sum_of(bed, what, make, selections):
    """The sum over selections; one that selects nothing has nothing."""
    total = collections.Counter()
    for words in selections:
        got = make(words)
        if got is not None:
            total.update(got)
    return collections.Counter({key: min(n, MOST) for key, n in total.items() if n})


def report_counts(bed, guest, data, *words):
    """Of nothing there is a document, too, with status 1; else it was refused."""
    document = bed.json("report", *REPORT, *words, guest, *data, good=(0, 1, 3))
    return counts_of(document)


def check_report(bed, rng, guest, rec, data):
    mode = pick(rng, "--mode=all", "--mode=guest", "--mode=host")
    more = [mode, pick(rng, "--gaps=retag", "--gaps=stretch", "--gaps=drop")]
    by = pick(rng, "--by=event", "--by=event,tid", "--by=event,cpu", "--by=event,pid")
    more.append(by)  # where one event is left, the others' names are not said
    whole = report_counts(bed, guest, data, *more)
    for name, selections in ways(rng, rec):
        parts = sum_of(bed, name, lambda word: report_counts(bed, guest, data, *more, word),
                       selections)
        same(f"report {' '.join(more)} by {name} {selections}", whole, parts)


def check_folded(bed, rng, guest, rec, data):
    """Stacks, as a report and as flame draws them; whole numbers of one unit."""
    style = pick(rng, ("report", "--stacks=callgraph", "--top=0"),
                 ("flame", "--min=0"), ("report", "--top=0"))
    more = ("--border=keep", "--force", "-q", "--format=folded", "--weight=samples", "--by=event",
            pick(rng, "--mode=all", "--mode=guest"))

    def stacks(*words):
        return stacks_of(bed.run(*style, *more, *words, guest, *data).out)

    whole = stacks()
    for name, selections in ways(rng, rec):
        same(f"{' '.join(style + more)} by {name} {selections}", whole,
             sum_of(bed, name, stacks, selections))


def check_sandboxes(bed, rng, guest, rec, data):
    """What is selected of one is what the split has of it."""
    document = bed.json("report", *REPORT, "--by=event,sandbox", guest, *data)
    if document is None:
        return  # no sample tells whose it is
    split = collections.Counter()
    for f in document["functions"]:
        for name, count in f["series"].items():
            split[f["name"], f["addr"], name] += count["samples"]
    for n in (1, 2, 3):
        one = bed.json("report", *REPORT, "--by=event,sandbox", f"--sandbox={n}", guest, *data,
                       good=(0, 1, 3))
        for f in one["functions"]:
            for name, count in f["series"].items():
                split[f["name"], f["addr"], name] -= count["samples"]
    left = {key: n for key, n in split.items() if n and "sandbox=-1" not in key[2]}
    if left:
        raise Broken(f"sandboxes: the split differs from what is selected: {left}")


def tables_of(document):
    """Of no document, as nothing was selected, too."""
    found = collections.Counter()
    for table in document["tables"] if document else ():
        for row in table["rows"]:
            for unit in ("count", "total_ns"):
                found[table["kind"], table["by"], row["name"], row.get("tid"),
                      row.get("sandbox"), unit] += row[unit]
    return +found


def check_exits(bed, rng):
    isa = rng.choice((1, 2))
    known = Known(rng.getrandbits(30), isa, pick(rng, splice.NEW, splice.OLD, splice.MOVED),
                  rng.random() < .5, pairs=100)
    path = bed.place("exits.data")
    known.write(path)
    at = rng.choice(known.records)[0] + rng.choice((-1, 0, 1))
    at = f"{at // 10 ** 9}.{at % 10 ** 9:09}"
    argv = ("exits", "-q", "--top=0", *pick(rng, (), ("--by=tid",), ("--by=sandbox",)),
            f"{ELF}@{BASE:#x}", path)
    whole = tables_of(bed.json(*argv, good=(0, 1, 3)))
    for selections in ((f"--time=,{at}", f"--time={at},"), ("--tid=4712", "--tid=4713"),
                       [f"--reason={n}" for n in REASONS[isa]]):
        parts = sum_of(bed, "exits", lambda word: tables_of(
            bed.json(*argv, word, good=(0, 1, 3))), selections)
        if "reason" in selections[0]:  # the others have no such reasons, or are sums of pairs
            whole, parts = ({key: n for key, n in found.items() if key[0] == "exit" and
                             key[1] != "call"} for found in (whole, parts))
        same(f"exits {selections}", whole, parts)


def windows_of(out):
    """Rows, but for the marks of the first and the last, which there are of any selection."""
    rows = csv.DictReader(io.StringIO(out.decode()))
    return collections.Counter(tuple(v for k, v in row.items() if k != "mark") for row in rows
                               if row["record"] == "window")


def check_windows(bed, rng):
    argv = ("windows", "-q", "--format=csv", f"{ELF}@{BASE:#x}",
            os.path.join(DATA, "demo-windows.data"))
    whole = windows_of(bed.run(*argv).out)
    time = rng.choice(sorted(whole))[2]  # behind record and name
    ways_ = ((f"--time=,{time}", f"--time={time},"), ("--mode=guest", "--mode=host"),
             ("--cpu=0", "--cpu=1-4096"))
    for selections in ways_:
        same(f"windows {selections}", whole, sum_of(
            bed, "windows", lambda word: windows_of(bed.run(*argv, word).out), selections))


def check_files(bed, rng, guest, rec, data):
    """Two recordings of a part of the rounds each; saved, and merged."""
    cut = rng.randint(0, len(rec.rounds))
    names = ["a.data", "b.data"]
    for name, rounds in zip(names, (rec.rounds[:cut], rec.rounds[cut:])):
        bed.write(rec.file(rec.body(rounds)), name)
    more = (pick(rng, "--mode=all", "--mode=guest"), f"-j{rng.randint(1, 3)}")
    whole = report_counts(bed, guest, data, *more)
    together = report_counts(bed, guest, names, *more)
    same(f"report {more} of parts at {cut}", whole, together)
    saved = []
    for name in names:
        path = name.replace("data", "pb.gz")
        got = bed.run("report", *REPORT, "--by=pid,tid,cpu", "--format=pprof", "--out=" + path,
                      guest, name)
        if got.status in (0, 3) and os.path.exists(bed.place(path)):
            saved.append(path)
    if not saved:
        return
    if bed.run("merge", "-q", "-o", "sum.pb.gz", *saved).status:
        raise Broken("merge of parts fails")
    kept = report_counts(bed, guest, ["sum.pb.gz"], *more)
    apart = report_counts(bed, guest, saved, *more)
    same(f"report {more} of profiles and of their sum", apart, kept)
    if len(saved) == 2:
        same(f"report {more} of saved parts at {cut}", whole, kept)


def check_stack_files(bed, rng, guest, rec, data):
    """Stacks of parts, of the guest and of the host: read together, saved, and merged."""
    cut = rng.randint(1, len(rec.rounds) - 1)
    names, saved = ["a.data", "b.data"], []
    for name, rounds in zip(names, (rec.rounds[:cut], rec.rounds[cut:])):
        bed.write(rec.file(rec.body(rounds)), name)
        path = name.replace("data", "pb.gz")
        got = bed.run("report", *REPORT, "--mode=all", "--format=pprof", "--out=" + path, guest,
                      name)
        if got.status in (0, 3) and os.path.exists(bed.place(path)):
            saved.append(path)
    if len(saved) < 2 or bed.run("merge", "-q", "-o", "sum.pb.gz", *saved).status:
        return
    more = ("--stacks=callgraph", "--format=folded", "--weight=samples",
            pick(rng, "--mode=all", "--mode=guest", "--mode=host"))
    found = [stacks_of(bed.run("report", *REPORT, *more, guest, *files).out)
             for files in (names, saved, ["sum.pb.gz"])]
    same(f"report {more} of parts at {cut}, saved", found[0], found[1])
    same(f"report {more} of parts at {cut}, merged", found[0], found[2])


def check_damaged(bed, rng, guest, rec, data):
    """Whatever can be read of a damaged recording is cut as any is."""
    bed.write(inputs.damaged(rng, rec), "broken.data")
    more = ["--mode=all", "--by=event,tid"]
    if bed.run("report", *REPORT, guest, "broken.data").status == 1:
        return

    def cut(selections):
        """Names of threads that come behind their round are those of what still waits then."""
        found = sum_of(bed, "time", lambda word: report_counts(
            bed, guest, ["broken.data"], *more, word), selections)
        unnamed = collections.Counter()
        for key, n in found.items():
            unnamed[("host", *key[3:]) if key[0] == "host" else key] += n
        return unnamed

    # The end of time is no time, which no selection of times has.
    whole = cut(["--time=,1.001", "--time=1.001,"])
    for name, selections in ways(rng, rec):
        if name == "time":  # a damaged thread can have a number that none has
            parts = cut(selections)
            if MOST in parts.values() or MOST in whole.values():  # a sum can pass 2^64, and says so
                whole, parts = ({key: n for key, n in found.items() if key[-1] == "samples"}
                                for found in (whole, parts))
            same(f"damaged report by {name} {selections}", whole, parts)
