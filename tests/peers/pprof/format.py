#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The format of saved profiles, between versions of hlguest.

    format.py --build DIR

A profile that was kept when format 3 began (README.md) is read as the recordings are that
it was made of, and can be merged. One of version 2, one of a newer format and one that
another program has written anew are refused, and each message says which it is. Fields
that a later hlguest may add are carried through merges byte for byte.
"""
import csv
import gzip
import io
import itertools
import json
import os
import random
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from hostile import EXTRA, ROWS, blob, fields, message, number, varint
from kit import content, run_checks

from tap import DATA, Skip, must, need

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "saved-format-3.pb.gz")
OLD = os.path.join(HERE, "saved-version-2.pb.gz")
MADE_OF = ("demo-events.data", "demo-host.data", "demo-threads.data")
EVENT, KIND = 3, 3  # fields, as pprof.proto numbers them
# What a later hlguest may have put in: every type that protobuf has, and a number that is
# longer than it must be.
LATER = (number(900, 1 << 40), blob(901, b"later\0\xff"), varint(902 << 3 | 1) + b"\1" * 8,
         varint(903 << 3 | 5) + b"\2" * 4, varint(904 << 3) + b"\x81\x80\0",
         blob(100000, number(1, 2)))


def kept_is_read(bench):
    """By every split and in every mode, the report is that of the recordings."""
    for by in ("", "--by=tid", "--by=event,pid,cpu", "--by=pid,tid,cpu"):
        for mode, form in itertools.product(("guest", "host", "all"), ("csv", "folded")):
            argv = ["report", "demo.elf", f"--mode={mode}", f"--format={form}"]
            argv += [by] if by else []
            fresh, found = bench.run(*argv, *MADE_OF), bench.run(*argv, KEPT)
            if fresh == found and fresh[1:] == ("", 0):
                continue
            yield f"{by} {mode} {form}: {fresh[1:]}, {found[1:]}"
            for a, b in zip(fresh[0].split("\n"), found[0].split("\n")):
                yield from (f"- {a}", f"+ {b}") if a != b else ()


def but_phases(said):
    """What is said of anything else: the kept one has no times."""
    rows = [row for row in csv.DictReader(io.StringIO(said[0]))
            if not row["name"].startswith("phases: ")]
    for row in rows:
        del row["low"], row["high"], row["unsure"]
    return rows, *said[1:]


def kept_is_merged(bench):
    """With itself, and with one of today: sums of what is in them. Where some samples have no
    time, nothing is known of phases: intervals are as if none had one, to the byte."""
    words = ("report", "demo.elf", "--by=pid,tid,cpu", "--mode=all", "--format=csv")
    today = bench.save("demo.elf", *MADE_OF, "--by=pid,tid,cpu")
    for one, other in ((KEPT, KEPT), (KEPT, today), (today, KEPT)):
        found = bench.run(*words, bench.merge([one, other]))
        again = (bench.copy(os.path.join(DATA, name)) for name in MADE_OF)
        expected = bench.run(*words, *MADE_OF, *again)
        if but_phases(found) != but_phases(expected) or found[1:] != ("", 0):
            yield f"{one}, {other}: {found[1:]}"
    none = bench.run(*words, bench.merge([KEPT, KEPT]))
    for some in ([KEPT, today], [today, KEPT]):
        if bench.run(*words, bench.merge(some)) != none:
            yield f"{some}: not as if no sample had a time"
    for later in ([KEPT, today, today], [today, bench.merge([today, KEPT])]):
        three = bench.run(*words, bench.merge(later))
        if three != bench.run(*words, bench.merge([KEPT] * 3)):
            yield f"{later}: not as if no sample had a time"
    if bench.run(*words, bench.merge([today, today])) == none:
        yield "phases of what has times are not known"


def unknown_kinds_are_calibrated(bench):
    """Events of which a profile does not say what kind they are can be late all the same."""
    extra = [(f, message([(g, y) for g, y in fields(x) if g != KIND]) if f == EVENT else x)
             for f, x in fields(extra_of(KEPT))]
    kept = put(bench, [(f, message(extra) if f == EXTRA else x) for f, x in parts_of(KEPT)])
    path = bench.new()
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"hlguest_calibration": 1, "holds": True,
                   "machine": {"cpu": "a", "date": "2026-11-22T01:00:00Z", "kernel": "6.18"},
                   "landing": {"events": [{"event": "cpu-clock", "window": 2}]}}, f)
    out, err, status = bench.run("report", "-v", "demo.elf", kept, f"--calibration={path}")
    if "not in this build" in err:
        raise Skip(err.strip())
    said = ("calibration: how late samples of cpu-clock land: 95 % within 2 instructions",
            "calibration: it has no figures for task-clock")
    if (err, status) != ("", 0) or any(words not in out for words in said):
        yield f"{status}, {err}, {[line for line in out.splitlines() if 'calibration' in line]}"


def numbers_have_their_fields(bench):
    """Those that no recording here has: told as pprof.proto numbers them, and summed."""
    more = {16: 12, 17: 14, 18: 5, 19: 6, 20: 7, 21: 8, 24: 7, 25: 8, 26: 3, 27: 4, 28: 1,
            33: 101, 34: 102, 35: 103, 36: 104, 40: 98, 41: 105, 42: 1}
    extra = list(fields(extra_of(KEPT)))
    total = {f: x for f, x in extra if f >= 16}
    extra = [(f, x) for f, x in extra if f not in more]
    extra += [(f, total.get(f, 0) + n) for f, n in more.items()]
    path = put(bench, [(f, message(extra) if f == EXTRA else x) for f, x in parts_of(KEPT)])
    for times, one in ((1, path), (2, bench.merge([path, path])), (1, bench.merge([path]))):
        out, err, status = bench.run("report", "demo.elf", one, "--mode=all", "--format=csv")
        said = [f'total,,,"{name}",,,,,,{times * (total.get(at, 0) + more.get(at, 0))},'
                f'{times * (total.get(at + 1, 0) + more.get(at + 1, 0))},'
                for name, at in (("seen", 16), ("deselected", 18), ("host", 20), ("guest", 22))]
        said += ['"the sum of the periods passed 2^64 and is wrong', *(
            words.format(times * more[at]) for words, at in (
                ('"{} host samples have no row', 24), ('"{} samples filtered out be', 26),
                ('"{} samples could not be counted', 27), ('"{} events were lost', 33),
                ("throttled sampling {} times", 34), ('"{} compressed records', 40),
                ('"{} callchains of the host end in', 41),
                ("cut off: {} bytes at its end are missing or" if times == 1 else
                 "cut off: {} bytes at their ends are missing or", 36),
                ("recording has no end" if times == 1 else "{} of 2 recordings have no end",
                 42)))]
        said.append(f'"{times * (103 - 98)} records, or parts of records, make')
        yield from (f"{times}: {words!r} is not said" for words in said if words not in out)
        if (err, status) != ("", 0):
            yield f"{times}: {status}: {err}"


def refused(bench, path, said):
    for argv in (["report", "demo.elf", path], ["merge", path], ["diff", path, path],
                 ["merge", KEPT, path]):
        out, err, status = bench.run(*argv)
        if (out, status) != ("", 1) or err != f"hlguest: {path}: {said}\n":
            yield f"{' '.join(argv)}: {status}, {err!r}, not {said!r}"


def put(bench, parts):
    path = bench.new()
    with open(path, "wb") as f:
        f.write(gzip.compress(message(parts), mtime=0))
    return path


def parts_of(path):
    return list(fields(gzip.decompress(content(path))))


def extra_of(path):
    return next(x for f, x in parts_of(path) if f == EXTRA)


def old_is_refused(bench):
    yield from refused(bench, OLD, "is a profile of version 2, which is not read any more "
                                   "(record again, or use hlguest 0.1)")


def newer_is_refused(bench):
    for n in (6, 7, 1000, 2 ** 32 - 1):
        parts = [(f, number(1, n) + x[2:] if f == EXTRA else x) for f, x in parts_of(KEPT)]
        assert extra_of(KEPT)[:2] == number(1, 3)
        yield from refused(bench, put(bench, parts),
                           "made by a newer hlguest (use that one, or save again)")
        # Whatever else is in it is not looked at, nor asked for.
        yield from refused(bench, put(bench, [(EXTRA, number(1, n) + number(3000, 1))]),
                           "made by a newer hlguest (use that one, or save again)")


OTHERS = "is damaged: another program wrote it, without what only hlguest knows (save it again)"


def anew_is_refused(bench):
    yield from refused(bench, put(bench, [(f, x) for f, x in parts_of(KEPT) if f != EXTRA]),
                       OTHERS)


def anew_by_go(bench):
    need("go")
    for paths in ([KEPT], [KEPT, KEPT]):
        out = bench.new()
        must("go", "tool", "pprof", "-proto", f"-output={out}", *paths)
        yield from refused(bench, out, OTHERS)


def with_later(bench, path, kind, later):
    """path with fields added to the last message of a kind in Extra, None: to Extra."""
    out = list(fields(extra_of(path)))
    if kind is not None:
        at = max(i for i, (f, _) in enumerate(out) if f == kind)
        out[at] = kind, out[at][1] + later
    data = message(out) + (later if kind is None else b"")
    return put(bench, [(f, data if f == EXTRA else x) for f, x in parts_of(path)])


def later_stays_where_it_is(bench):
    """The event, base or thread that it was said of is that which it is said of in a sum."""
    threads = bench.save("demo.elf", "demo-threads.data", "--by=tid")
    events = bench.save("demo.elf@0x200000", "demo-events.data", "--by=tid")
    for (one, other), (kind, key) in itertools.product(
            ((threads, events), (events, threads)), ((3, 1), (4, 2), (5, 3), (6, 3))):
        later = with_later(bench, other, kind, LATER[1])
        last = [x for f, x in fields(extra_of(other)) if f == kind][-1]
        expected = dict(fields(last)).get(key)
        for paths in ([one, later], [later, one], [one, other, later], [later, later]):
            found = [dict(fields(x)).get(key) for f, x in fields(extra_of(bench.merge(paths)))
                     if f == kind and x.endswith(LATER[1])]
            if found != [expected]:
                yield f"{kind}: of {found}, not of {expected}"


def later_is_carried(bench):
    rng = random.Random(3)
    plain = bench.save("demo.elf", "demo-host.data", "--by=tid")
    report = bench.run("report", "demo.elf", plain, "--mode=all", "--format=csv")
    for kind in (None, *ROWS):
        one = with_later(bench, plain, kind, b"".join(rng.sample(LATER, len(LATER))))
        if bench.run("report", "demo.elf", one, "--mode=all", "--format=csv") != report:
            yield f"{kind}: another report"
        merged = bench.merge([one])
        yield from carried(merged, kind, LATER)
        if content(bench.merge([merged])) != content(merged):
            yield f"{kind}: merged again it has other bytes"
        several = [with_later(bench, plain, kind, x) for x in (LATER[0], LATER[1] + LATER[0])]
        several += [plain, with_later(bench, plain, kind, number(900, 7))]
        results = {content(bench.merge(order)) for order in itertools.permutations(several)}
        results.add(content(bench.merge([bench.merge(several[:2]), bench.merge(several[2:])])))
        if len(results) != 1:
            yield f"{kind}: order or grouping matters"
        yield from carried(bench.merge(several), kind, (number(900, 7), *LATER[:2]))


def carried(path, kind, expected):
    """The fields stand at the end of the message, as they came, by number."""
    extra = extra_of(path)
    at = b"".join(expected)
    if kind is None:
        found = extra.endswith(at)
    else:
        found = any(f == kind and x.endswith(at) for f, x in fields(extra))
    if not found or extra.count(expected[-1]) != 1:
        yield f"{kind}: not carried: {extra[-200:]}"


def main():
    return run_checks(__doc__, "the format", (
        ("a kept profile is read", kept_is_read),
        ("a kept profile is merged", kept_is_merged),
        ("unknown kinds of events are calibrated", unknown_kinds_are_calibrated),
        ("each number has its field", numbers_have_their_fields),
        ("version 2 is refused", old_is_refused),
        ("a newer format is refused", newer_is_refused),
        ("what another program wrote is refused", anew_is_refused),
        ("what Go's pprof wrote is refused", anew_by_go),
        ("later fields are carried", later_is_carried),
        ("later fields stay where they are", later_stays_where_it_is),
    ))


if __name__ == "__main__":
    sys.exit(main())
