#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles that somebody else made.

    hostile.py --build DIR [--rounds N] [--seed N]

Whatever is in a file, hlguest report and hlguest merge read it or refuse it with one line
on standard error and status 1; they never crash, and never take much memory.
"""
import gzip
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # this folder is the source's
from kit import Bench, content

from tap import Skip, Tap, environment, parser

GIB = 1 << 30


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


class Victim:
    """A good profile, and what hlguest says to others made from it."""

    def __init__(self, bench):
        self.bench = bench
        self.good = bench.save("demo.elf", "demo-events.data", "--by=tid")
        self.data = gzip.decompress(content(self.good))
        self.parts = list(fields(self.data))
        self.path = os.path.join(bench.work, "hostile.pb.gz")

    def feed(self, raw, what, refused=None):
        """Differences from a clean answer; refused: what has to be said, if anything."""
        with open(self.path, "wb") as f:
            f.write(raw)
        for argv in (["report", "demo.elf", self.path, "--format=csv"],
                     ["merge", self.good, self.path]):
            done = subprocess.run(
                [self.bench.hlguest, *argv], cwd=self.bench.folder("given"), timeout=60,
                env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            err = done.stderr.decode("utf-8", "surrogateescape")
            fine = done.returncode == 0 and not err and refused is None
            clean = (done.returncode == 1 and err.startswith("hlguest: ") and
                     err.endswith("\n") and
                     err[:-1].isprintable() and (refused or "") in err)
            if not fine and not clean:
                yield f"{what}: {argv[0]}: status {done.returncode}: {err[:2000]}"
            out = [done.stdout]
            if fine and argv[0] == "merge":
                out = [x for f, x in fields(gzip.decompress(done.stdout)) if f == 6]
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
    yield from v.feed(gzip.compress(b"\0" * (300 << 20), 9), "zeros", "inflates from")
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
        for field in (13, 1000):
            yield from v.deflated(replaced(v.parts, field, lambda _, n=n: varint(n)),
                                  f"field {field}: string {n}", "")


def keeps(field, place, n, v):
    """Is this number a good one there, or the one that was?"""
    strings = sum(f == 6 for f, _ in v.parts)
    if (field, place) in ((3, 5), (3, 6), (5, 2), (5, 3)):
        return n < strings
    if place == 1:
        return field > 3 and n == 2
    return (field, place) == (4, 2) and n < 2


def comments(v):
    """The comment and each row of ours gone, twice, and with other numbers."""
    strings = [x for f, x in v.parts if f == 6]
    for i, line in enumerate(strings):
        if not re.match(b"hlguest: |(event|image|series|hostrow)=", line):
            continue
        for word in line.split(b" ")[1:]:
            for other in (b"", word + b" " + word, word[:-1], word + b"0", word + b",",
                          word.replace(b"=", b"=-"), b"x" * 500, word + b" ",
                          word.partition(b"=")[0] + b"=18446744073709551616"):
                yield from v.deflated(
                    replaced(v.parts, 6, lambda l, w=word, o=other: l.replace(w, o, 1),
                             only=i), f"{word} as {other}",
                    None if word.startswith(b"samples=") else "(")
        key, _, value = line.partition(b"=")
        for other in (b"", b"x", key, key + b"=", key + b"=-1", line + b",", line + b"0",
                      line + b",1,2,3", key + b"=" + b"9" * 30, line[:-1],
                      key + b"=%00," + value, key + b"=18446744073709551615,1",
                      line.replace(b",", b",,"), line.replace(b"=0,", b"=9,"),
                      strings[i - 1]):
            yield from v.deflated(replaced(v.parts, 6, lambda _, o=other: o, only=i),
                                  f"{line} as {other}")


def strings(v):
    first = next(i for i, (f, _) in enumerate(v.parts) if f == 6)
    more = v.parts[:first] + [(6, b"x")] + v.parts[first:]
    yield from v.deflated(more, "first string not empty", "damaged")
    yield from v.deflated([(f, x) for f, x in v.parts if f != 6], "no strings", "damaged")
    twice = v.parts + [(6, x) for f, x in v.parts if f == 6]
    yield from v.deflated(twice, "every string twice")
    yield from v.deflated(v.parts + v.parts, "everything twice", "damaged")
    yield from v.deflated([(f, x) for f, x in v.parts if f != 1000], "no rows",
                          "its rows are gone, another program wrote it")
    nasty = b"\x1b[2J\xc2\x9b\xe2\x80\xae\x9b\xff"
    for i, (field, _) in enumerate(v.parts):
        if field != 6:
            continue
        for more in (nasty, b"%1b%5b2J%c2%9b%ff"):
            yield from v.deflated([(f, x + more if k == i else x)
                                   for k, (f, x) in enumerate(v.parts)], f"escapes in {i}")


def main():
    p = parser(__doc__)
    p.add_argument("--rounds", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            victim = Victim(Bench(args.build, work))
        except Skip as e:
            tap.skip("hostile profiles", e)
            return tap.finish()
        victim.rounds, victim.seed = args.rounds, args.seed
        for name, function in (
            ("cut off", cut_off),
            ("bombs", bombs),
            ("wrong numbers", wrong_numbers),
            ("wrong comments", comments),
            ("strings", strings),
            ("random damage", damaged),
        ):
            tap.run(name, lambda f=function: list(f(victim)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
