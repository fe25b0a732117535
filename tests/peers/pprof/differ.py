#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random profiles through hlguest and Go's pprof.

    differ.py --build DIR [--seed N] [--seeds N]

A recording made up (made.py) is saved. Go's pprof must find, for each value type, the
sums that hlguest reports of the recording, place by place. Then the profile is written
again as another program might: fields in another order, said twice, not packed, packed in
pieces, with unknown ones between them, numbers longer than they must be, compressed
otherwise. hlguest must report the same bytes, Go's pprof print the same. Merged by either,
both must have the same sums. A profile that hlguest did not write, which Go's pprof reads,
is refused. Without Go, hlguest is asked alone.
"""
import csv
import gzip
import io
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from hostile import EXTRA, blob, fields, number, read_varint, varint
from kit import MISFIT, Bench, content

import made
from tap import Skip, Tap, but_banner, parser, run

# Fields of pprof.proto: which are messages of what, and which are lists of numbers.
PROFILE = {1: {}, 3: {}, 5: {}, 4: {4: {}}, 2: {1: None, 2: None, 3: {}}, 13: None,
           EXTRA: {3: {}, 4: {}, 5: {}, 6: {}}}
# Numbers of no field, in any message. pprof.proto numbers its fields one by one, and 15 of
# Profile is the last in Go 1.26: these are far from it, and none is hlguest's own EXTRA. Should
# pprof.proto take one, Go's pprof refuses what is random there: name another one here.
FREE = (99, 999, 1001, 2 ** 29 - 1)
DOC_URL = 15  # the place of a string, of which 0 is ""; hlguest does not know the field
LOCATION = re.compile(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*?) :\d+(?::\d+)? s=\d+ *(?:\(.*\))?")


def long_varint(rng, n, most):
    raw = varint(n)
    more = rng.randint(0, most - len(raw)) if len(raw) < most and rng.random() < .2 else 0
    if not more:
        return raw
    return raw[:-1] + bytes([raw[-1] | 128]) + b"\x80" * (more - 1) + b"\0"


def unknown(rng, kinds):
    if kinds is PROFILE and rng.random() < .2:
        return number(DOC_URL, 0)
    field = rng.choice(FREE)
    return rng.choice((
        lambda: number(field, rng.getrandbits(64)),
        lambda: blob(field, rng.randbytes(rng.randint(0, 9))),
        lambda: varint(field << 3 | 1) + rng.randbytes(8),
        lambda: varint(field << 3 | 5) + rng.randbytes(4),
    ))()


def numbers_of(data):
    at, found = 0, []
    while at < len(data):
        n, at = read_varint(data, at)
        found.append(n)
    return found


def long_blob(rng, field, data):
    return varint(field << 3 | 2) + long_varint(rng, len(data), 5) + data


def as_list(rng, field, data):
    """A list of numbers: packed, in pieces, or one by one."""
    found, out = numbers_of(data), b""
    while found:
        n = rng.choice((1, len(found), rng.randint(1, len(found))))
        piece, found = found[:n], found[n:]
        if n == 1 and rng.random() < .5:
            out += varint(field << 3) + long_varint(rng, piece[0], 10)
        else:
            out += long_blob(rng, field, b"".join(long_varint(rng, x, 10) for x in piece))
    return out


def again(rng, data, kinds, more=True):
    """The same message in other words; with more, also with fields that nobody knows."""
    by_field = {}
    for field, value in fields(data):
        if field in kinds and kinds[field] is None and isinstance(value, bytes):
            part = as_list(rng, field, value)
        elif field in kinds and isinstance(value, bytes):
            part = long_blob(rng, field, again(rng, value, kinds[field], more and field != EXTRA))
        elif isinstance(value, bytes):
            part = long_blob(rng, field, value)
        else:
            part = varint(field << 3) + long_varint(rng, value, 10)
            if kinds.get(field, 0) == 0 and rng.random() < .1:  # the last one counts
                part = number(field, rng.getrandbits(20)) + part
        by_field.setdefault(field, []).append(part)
    out, lists = b"", list(by_field.values())
    while lists:  # what is of one field keeps its order
        one = rng.choice(lists)
        n = len(one) if rng.random() < .5 else 1
        out += b"".join(one[:n])
        del one[:n]
        lists = [parts for parts in lists if parts]
        if more and rng.random() < .1:  # those in Extra are kept: pprof.py
            out += unknown(rng, kinds)
    return out


def packed(rng, data):
    """gzip: RFC 1952, with or without a name, a comment and a checksum of the header."""
    squeeze = zlib.compressobj(rng.choice((0, 1, 9)), zlib.DEFLATED, -15)
    body = squeeze.compress(data) + squeeze.flush()
    flags = rng.choice((0, 0, 4, 8, 16, 2, 30))
    head = struct.pack("<BBBBIBB", 0x1f, 0x8b, 8, flags, rng.getrandbits(32), 0,
                       rng.choice((3, 255)))
    head += struct.pack("<H3s", 3, b"abc") if flags & 4 else b""
    head += (b"name\0" if flags & 8 else b"") + (b"said\0" if flags & 16 else b"")
    head += struct.pack("<H", zlib.crc32(head) & 0xffff) if flags & 2 else b""
    return head + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xffffffff)


def raw(*paths):
    """What Go's pprof prints of a profile, or of the sum of several."""
    out, err, status = run("go", "tool", "pprof", "-symbolize=none", "-raw", *paths)
    if status and "profile has no samples" in err:  # a valid one, which it does not print
        return "Samples:"
    if status:
        raise RuntimeError(f"go tool pprof: {err}")
    return out


def sums_of(text):
    """{(value type, name of the place): sum} of what raw() has printed."""
    lines, names, samples, part = text.split("\n"), {}, [], ""
    for line in lines:
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Locations":
            found = LOCATION.fullmatch(line)
            if not found:
                raise RuntimeError(f"go tool pprof: {line}")
            names[found[1]] = found[2]
        elif part == "Samples:" and (found := re.fullmatch(r"((?: *-?\d+)+): ([\d ]+)", line)):
            samples.append((found[1].split(), found[2].split()[0]))
    sums = {}
    for values, leaf in samples:
        for i, value in enumerate(values):
            key = i, names[leaf]
            sums[key] = sums.get(key, 0) + int(value)
    return {key: n for key, n in sums.items() if n}


def reported(bench, elf, path, by):
    """The same sums as hlguest tells them; and its whole report."""
    out, err, status = bench.run("report", elf, path, "--by=event", "--format=csv", "--force")
    if but_banner(err) or status not in (0, MISFIT):
        raise RuntimeError(f"report: {status}: {err}")
    table = list(csv.DictReader(io.StringIO(out)))
    events = [row["name"] for row in table if row["record"] == "event"]
    sums = {}
    for row in table:
        if row["record"] not in ("function", "other"):
            continue
        at = 2 * events.index(row["series"].removeprefix("event="))
        for i, column in enumerate(("samples", "period")):
            key = at + i, row["name"]
            sums[key] = sums.get(key, 0) + int(row[column])
    if "tid" not in by:  # then whose samples do not fit is not saved
        out = re.sub(r'remark,,,"thread .*\n', "", out)
    return {key: n for key, n in sums.items() if n}, out


def differing(what, a, b):
    for key in sorted({*a, *b}, key=str):
        if a.get(key) != b.get(key):
            yield f"{what}: {key}: hlguest {a.get(key)}, pprof {b.get(key)}"


def one(bench, seed, go):
    rng = random.Random(seed)
    recording = os.path.join(bench.folder("given"), f"made-{seed}")
    with open(recording, "wb") as f:
        f.write(made.make(seed))
    elf = "demo.elf@0x400000"
    by = rng.choice(("--by=tid", "--by=event", "--by=pid,tid,cpu"))
    path = bench.save(elf, recording, by, "--force")
    sums, text = reported(bench, elf, recording, by)
    other = path + ".again"
    with open(other, "wb") as f:
        f.write(packed(rng, again(rng, gzip.decompress(content(path)), PROFILE)))
    for saved in path, other:
        if reported(bench, elf, saved, by) != (sums, text):
            yield f"{saved}: another report than the recording's"
    if content(bench.merge([path])) != content(bench.merge([other])):
        yield "merged alone, written again it is another profile"
    if go:
        first = raw(path)
        yield from differing("saved", sums, sums_of(first))
        if first.split("Samples:")[1] != raw(other).split("Samples:")[1]:
            yield "pprof does not read the same from what was written again"
        twice = sums_of(raw(path, other))
        yield from differing("merged", sums_of(raw(bench.merge([path, other]))), twice)
        if twice != {key: 2 * n for key, n in sums.items()}:
            yield "pprof's sum of both is not twice the one"
    os.unlink(recording)


def foreign(bench, seed, go):
    """A valid profile of another program."""
    rng = random.Random(seed)
    words = ["", "samples", "count", "f", "/bin/x", "cpu", "nanoseconds", "hlguest", "g"]
    kinds = rng.randint(1, 3)
    # Go's pprof keeps no value type that is there twice.
    out = b"".join(blob(1, number(1, name) + number(2, 2))
                   for name in rng.sample(range(1, 9), kinds))
    for _ in range(rng.randint(0, 20)):
        sample = blob(1, varint(1) + varint(2)) + blob(
            2, b"".join(varint(rng.getrandbits(30)) for _ in range(kinds)))
        out += blob(2, sample + blob(3, number(1, 7) + number(3, 5)))
    out += blob(3, number(1, 1) + number(2, 0x1000) + number(3, 0x9000) + number(5, 4))
    for i in (1, 2):
        line = blob(4, number(1, i) + number(2, 3))
        out += blob(4, number(1, i) + number(2, 1) + number(3, 0x1000 * i) + line)
        out += blob(5, number(1, i) + number(2, 3 if i == 1 else 8) + number(4, 4))
    out += b"".join(blob(6, word.encode()) for word in words)
    out += number(12, 4000) + blob(11, number(1, 5) + number(2, 6))
    out += number(13, 7) if rng.random() < .5 else b""
    path = bench.new()
    with open(path, "wb") as f:
        f.write(packed(rng, again(rng, out, PROFILE)))
    if go:
        raw(path)
    for argv in (["report", "demo.elf", path], ["merge", path]):
        said, err, status = bench.run(*argv)
        if status != 1 or said or "it is not a profile that hlguest saved" not in err:
            yield f"foreign: {argv[0]}: status {status}: {err}"


def check(function, bench, seeds, go):
    return [f"seed {seed}: {line}" for seed in seeds for line in function(bench, seed, go)]


def main():
    p = parser(__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seeds", type=int, default=6)
    args = p.parse_args()
    seeds, tap = range(args.seed, args.seed + args.seeds), Tap()
    go = shutil.which("go") is not None
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = Bench(args.build, work)
        except Skip as e:
            tap.skip("random profiles", e)
            return tap.finish()
        tap.run("written in other words", check, one, bench, seeds, go)
        tap.run("of another program", check, foreign, bench, seeds, go)
        if not go:
            tap.skip("the same by Go's pprof", "no go here")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
