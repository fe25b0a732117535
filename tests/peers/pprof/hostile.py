#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles that somebody else made.

    hostile.py --build DIR [--rounds N] [--seed N]

Whatever is in a file, hlguest report and hlguest merge read it or refuse it with one line
on standard error and status 1; they never crash, and never take much memory. They take turns;
both read each with HLG_ALL in the environment.
"""
import gzip
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from kit import MISFIT, Bench, content

from tap import ALL, Skip, Tap, but_banner, environment, parser, some

GIB = 1 << 30
EXTRA = 2000  # the field of Profile with what is hlguest's own: pprof.proto
STACK = 2000  # and of Sample
HOST_STACK = 7
MOMENTS = 8
STACKED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved-format-4.pb.gz")


# What Extra has many of: how many fields each has, which are text.
ROWS = {3: (4, (1,)), 4: (3, ()), 5: (6, ()), 6: (8, (7, 8)), 38: (3, (3,))}
TWICE = re.compile(r"^hlguest: .* \(it counts twice\)\n", re.M)
NASTY = b"\x1b[2J\xc2\x9b\xe2\x80\xae\x9b\xff"


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def blob(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def read_varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at


def fields(data):
    """The fields of a message whose fields are numbers and blobs."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def message(parts):
    return b"".join(blob(f, v) if isinstance(v, bytes) else number(f, v) for f, v in parts)


def shown_as_it_is(line):
    try:
        return line.decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False


def texts(data):
    """All text in a saved profile."""
    for f, x in fields(data):
        if f == 6:
            yield x
        elif f == EXTRA:
            yield from (text for kind, row in fields(x) if kind in ROWS
                        for k, text in fields(row) if k in ROWS[kind][1])


class Victim:
    """A good profile, and what hlguest says to others made from it."""

    def __init__(self, bench, good, *words):
        self.bench, self.good, self.words = bench, good, words
        self.fine = (0, MISFIT) if good == STACKED else (0,)  # at random addresses
        self.data = gzip.decompress(content(self.good))
        self.parts = list(fields(self.data))
        self.path = os.path.join(bench.work, "hostile.pb.gz")
        self.fed = 0

    def feed(self, raw, what, refused=None):
        """Differences from a clean answer; refused: what has to be said, if anything."""
        with open(self.path, "wb") as f:
            f.write(raw)
        self.fed += 1
        for argv in some((["report", "demo.elf", self.path, "--format=csv", *self.words],
                          ["merge", self.good, self.path]), 2, self.fed):
            done = subprocess.run(
                [self.bench.hlguest, *argv], cwd=self.bench.folder("given"), timeout=60,
                env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            err = TWICE.sub("", but_banner(done.stderr.decode("utf-8", "surrogateescape")))
            fine = done.returncode in self.fine and not err and refused is None
            clean = (done.returncode == 1 and err.startswith("hlguest: ") and
                     err.endswith("\n") and
                     err[:-1].isprintable() and (refused or "") in err)
            if not fine and not clean:
                yield f"{what}: {argv[0]}: status {done.returncode}: {err[:2000]}"
            out = [done.stdout]
            if fine and argv[0] == "merge":
                out = texts(gzip.decompress(done.stdout))
            yield from (f"{what}: {argv[0]}: writes {line!r}" for data in out
                        for line in data.split(b"\n") if not shown_as_it_is(line))

    def deflated(self, parts, what, refused=None):
        yield from self.feed(gzip.compress(message(parts), 1), what, refused)


def cut_off(v):
    whole = content(v.good)
    for n in list(range(0, 40)) + list(range(40, len(whole), 397)) + [len(whole) - 1]:
        yield from v.feed(whole[:n], f"first {n} bytes",
                          "is cut off" if n >= 2 else "")
    yield from v.feed(whole + b"x", "a byte behind the end", "behind the end")
    yield from v.feed(whole + whole, "two in one file", "behind the end")


def bombs(v):
    yield from v.feed(gzip.compress(b"\0" * (300 << 20), 9), "zeros", "is larger than any profile")
    # Messages of two bytes each, and not too well compressed.
    noise = random.Random(1).randbytes(1 << 20)
    swarm = blob(6, noise) + b"\x12\x00" * (40 << 20)
    yield from v.feed(gzip.compress(swarm, 1), "a swarm of samples", "")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if peak > 5 * GIB:
        yield f"took {peak} bytes of memory"


def damaged(v):
    rng = random.Random(v.seed)
    whole = content(v.good)
    for i in range(v.rounds):
        raw = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        yield from v.feed(bytes(raw), f"gzip, round {i}")
        raw = bytearray(v.data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(raw))
            what = rng.randrange(3)
            if what == 0:
                raw[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            elif what == 1:
                del raw[at:at + rng.randint(1, 8)]
            else:
                raw[at:at] = rng.randbytes(rng.randint(1, 8))
        yield from v.feed(gzip.compress(bytes(raw), 1), f"message, round {i}")


def replaced(parts, field, change, only=0):
    """parts with the only-th of a field changed; None takes it away."""
    seen = -1
    for f, value in parts:
        seen += f == field
        if f == field and seen == only:
            value = change(value)
        if value is not None:
            yield f, value


def inner(field, n):
    """Sets a number of a message inside."""
    def change(value):
        parts = [(f, x) for f, x in fields(value) if f != field]
        return message(parts + [(field, n)])
    return change


def values(change):
    """Changes the packed values of a sample."""
    def edit(value):
        return message((f, change(x) if f == 2 else x) for f, x in fields(value))
    return edit


WRONG = (0, 2, 1 << 20, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


def wrong_numbers(v):
    for n in WRONG:
        for field, places in ((2, ()), (3, (1, 5, 6)), (4, (1, 2)), (5, (1, 2, 3))):
            for place in places:
                change = inner(place, n)
                parts = replaced(v.parts, field, change, only=1 if field > 3 else 0)
                yield from v.deflated(parts, f"field {field}.{place} = {n}",
                                      None if keeps(field, place, n, v) else "damaged")
        yield from v.deflated(replaced(v.parts, 2, values(lambda _, n=n: varint(n) * 4)),
                              f"counts of {n}", "damaged")
        yield from v.deflated(replaced(v.parts, 2, values(lambda _, n=n: varint(n))),
                              f"one value of {n}", "damaged")
        labels = lambda value, n=n: message(
            (f, message([(1, n), (3, n), (4, n)]) if f == 3 else x)
            for f, x in fields(value))
        yield from v.deflated(replaced(v.parts, 2, labels), f"labels of {n}", "damaged")
        # Only looked at to tell whose profile it is.
        yield from v.deflated(replaced(v.parts, 13, lambda _, n=n: varint(n)),
                              f"comment {n}")
        yield from v.deflated(
            [(f, varint(n) if f == 13 else x) for f, x in v.parts if f != EXTRA],
            f"comment {n} alone", "(")


def keeps(field, place, n, v):
    """Is this number a good one there, or the one that was?"""
    strings = sum(f == 6 for f, _ in v.parts)
    if (field, place) in ((3, 5), (3, 6), (5, 2), (5, 3)):
        return n < strings
    if place == 1:
        return field > 3 and n == 2
    return (field, place) == (4, 2) and n < 2


def extra(v):
    """Numbers, text and rows of Extra changed, gone and twice."""
    whole = next(list(fields(x)) for f, x in v.parts if f == EXTRA)

    def feed(parts, what, refused=None):
        data = message(parts)
        yield from v.deflated(replaced(v.parts, EXTRA, lambda _: data), what, refused)

    for field in (1, 2, *range(16, 29), *range(32, 38)):
        others = [(f, x) for f, x in whole if f != field]
        for n in WRONG:
            # 2^32 has no bits that 32 bits could have.
            low = n & 0xffffffff
            refused = "a newer hlguest" if field == 1 and low > 4 else None
            if field == 2 and low != 2 or 16 <= field < 26 and (field, n) not in whole and (
                    n or len(others) < len(whole)):
                refused = "damaged"
            yield from feed(others + [(field, n)], f"{field} = {n}", refused)
        yield from feed(others, f"no {field}", "damaged" if field == 1 else None)
    for kind, (n_fields, text) in ROWS.items():
        row = next(x for f, x in whole if f == kind)
        for field in range(1, n_fields + 1):
            others = [(f, x) for f, x in fields(row) if f != field]
            wrong = (b"", NASTY, b"x" * 500) if field in text else WRONG
            for x in wrong:
                data = message(others + [(field, x)])
                yield from feed(replaced(whole, kind, lambda _, d=data: d),
                                f"{kind}.{field} = {x}")
            yield from feed(replaced(whole, kind, lambda _: message(others)),
                            f"no {kind}.{field}")
        for change in lambda _: None, lambda _: b"":
            yield from feed(replaced(whole, kind, change), f"{kind} {change(0)}",
                            "damaged" if kind == 4 and change(0) is None else None)
        yield from feed(whole + [(kind, row)], f"{kind} twice",
                        None if kind in (5, 38) else "damaged")


def recordings(v):
    """How many recordings there are: one at least, and not more than samples can be."""
    whole = next(list(fields(x)) for f, x in v.parts if f == EXTRA)
    seen = dict(fields(dict(whole)[39]))[1]
    others = [(f, x) for f, x in whole if f != 39]
    for what, said, refused in (("none", (seen, 0), "damaged"), ("many", (seen, -1), "damaged"),
                                ("three", (seen, 3), None), ("of others", (seen - 1, 3), None)):
        data = message(others + [(39, message([(1, said[0]), (2, said[1])]))])
        yield from v.deflated(replaced(v.parts, EXTRA, lambda _, d=data: d), what, refused)


def times(v):
    """Moments that are of no sample, too many, too late, or none that are kept."""
    whole = next(list(fields(x)) for f, x in v.parts if f == EXTRA)
    good = dict(fields(dict(whole)[MOMENTS]))
    # -1 is no time; the first of these times may be kept among all only.
    one = {1: good[1], 3: varint(1), 4: varint(0)}
    first = read_varint(good[4], 0)[0]
    for what, change, refused in (
        ("as it was", good, None),
        ("of others", {**good, 1: good[1] - 1, 3: b"\1"}, None),
        ("no time", {**one, 3: varint(-1), 4: varint(first)}, "damaged"),
        ("past the end", {**one, 3: varint(-2) + varint(2), 4: varint(first) * 2}, "damaged"),
        ("not kept", {**one, 2: 2, 4: varint(first)}, "damaged"),
        ("halved too often", {**good, 2: 41}, "damaged"),
        ("lacks a sample", {**good, 4: good[4][:-1]}, "damaged"),
        ("lacks all", {1: good[1], 3: good[3]}, "damaged"),
        ("no such sample", {**one, 4: varint(1 << 40)}, "damaged"),
        ("more than there are", {**one, 3: varint(0) * 32768, 4: varint(first) * 32768},
         "damaged"),
        ("more than are kept", {**one, 3: varint(0) * 32769, 4: varint(first) * 32769},
         "damaged"),
    ):
        data = message([(f, x) for f, x in whole if f != MOMENTS] +
                       [(MOMENTS, message(sorted(change.items())))])
        yield from v.deflated(replaced(v.parts, EXTRA, lambda _, d=data: d), what, refused)


def stacks(v):
    """Of a profile that has some: numbers of Sample.stack, and what its sample then lacks."""
    sample = next(x for f, x in v.parts if f == 2)
    assert STACK in dict(fields(sample))
    for field in (1, 2, 3, 4):
        for n in WRONG:
            # 2^32 has no bits that 32 bits could have.
            fine = field in (2, 3) and n & 0xffffffff in (0, 2)
            data = varint(n) if field in (1, 4) else n
            change = inner(STACK, message(
                [(f, x) for f, x in fields(dict(fields(sample))[STACK]) if f != field] +
                [(field, data)]))
            yield from v.deflated(replaced(v.parts, 2, change), f"stack.{field} = {n}",
                                  None if fine or field == 1 else "a wrong stack")
    alone = lambda value: message((f, x) for f, x in fields(value) if f != STACK)
    yield from v.deflated(replaced(v.parts, 2, alone), "no stack", "a wrong location")
    for n in WRONG:
        ids = lambda value, n=n: message((f, varint(1) + varint(n) if f == 1 else x)
                                         for f, x in fields(value))
        yield from v.deflated(replaced(v.parts, 2, ids), f"location {n}",
                              None if n in (2,) else "a wrong stack")
    swarm = lambda value: message((f, varint(1) * (1 << 20) if f == 1 else x)
                                  for f, x in fields(value))
    yield from v.deflated(replaced(v.parts, 2, swarm), "a million frames")
    callers = inner(STACK, message([(1, b"\1" * 8192)]))
    yield from v.deflated(replaced(v.parts, 2, callers), "8192 callers", "a wrong stack")
    # The host's stacks are some of its rows' samples.
    whole = next(list(fields(x)) for f, x in v.parts if f == EXTRA)
    host = [(1, 0), (3, 1), (5, 1), (6, 1000), (7, message([(4, varint(8 | 1))]))]
    for field, n in ((None, 0), (1, 7), (2, 1), (3, -2 & 1), (5, 0), (5, 1 << 60),
                     (7, message([(4, varint(1))])), (7, message([(2, 99)]))):
        row = message([(f, x) for f, x in host if f != field] + [(field, n)] * (field is not None))
        data = message(whole + [(HOST_STACK, row)])
        yield from v.deflated(replaced(v.parts, EXTRA, lambda _, d=data: d),
                              f"host stack, {field} = {n}", "damaged")
    yield from damaged(v)


def long_names(v):
    """Many functions that share one long name: text many times as long as the file."""
    share = [(6, b"x" * (1 << 20))]
    n = sum(f == 6 for f, _ in v.parts)
    change = lambda value: message((f, n if f in (2, 3) else x) for f, x in fields(value))
    yield from v.deflated([(f, change(x) if f == 5 else x) for f, x in v.parts] + share,
                          "a long name", "its names are too long in all")


def strings(v):
    first = next(i for i, (f, _) in enumerate(v.parts) if f == 6)
    more = v.parts[:first] + [(6, b"x")] + v.parts[first:]
    yield from v.deflated(more, "first string not empty", "damaged")
    yield from v.deflated([(f, x) for f, x in v.parts if f != 6], "no strings", "damaged")
    twice = v.parts + [(6, x) for f, x in v.parts if f == 6]
    yield from v.deflated(twice, "every string twice")
    yield from v.deflated(v.parts + v.parts, "everything twice", "damaged")
    yield from v.deflated([(f, x) for f, x in v.parts if f != EXTRA], "no Extra",
                          "another program wrote it")
    for i, (field, _) in enumerate(v.parts):
        if field != 6:
            continue
        for more in (NASTY, b"%1b%5b2J%c2%9b%ff"):
            yield from v.deflated([(f, x + more if k == i else x)
                                   for k, (f, x) in enumerate(v.parts)], f"escapes in {i}")


def main():
    p = parser(__doc__)
    p.add_argument("--rounds", type=int, default=90 if ALL else 30)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = Bench(args.build, work)
            victim = Victim(bench, bench.save("demo.elf", "demo-events.data", "--by=tid"))
            stacked = Victim(bench, STACKED, "--stacks=callgraph")
        except Skip as e:
            tap.skip("hostile profiles", e)
            return tap.finish()
        for v in victim, stacked:
            v.rounds, v.seed = args.rounds, args.seed
        for name, function in (
            ("cut off", cut_off),
            ("bombs", bombs),
            ("wrong numbers", wrong_numbers),
            ("wrong numbers and rows of ours", extra),
            ("times", times),
            ("numbers of recordings", recordings),
            ("long names", long_names),
            ("strings", strings),
            ("random damage", damaged),
            ("stacks", lambda _: stacks(stacked)),
        ):
            tap.run(name, lambda f=function: list(f(victim)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
