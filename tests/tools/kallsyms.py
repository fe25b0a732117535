#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest kallsyms, against perf itself and against the program it replaces.

    kallsyms.py --build DIR [--perf PERF]

- perf: demo-kernel.data gets the record that perf kvm --guestkallsyms record would have
  written (the place of the guest's kernel), perf counts its guest samples by symbol, and
  each symbol has as many as the filter gives it; __gap__ has those of all gaps.
- --compat: the table is built here a second time, from the bytes of the ELF, as `cargo
  hyperlight perf` builds it, and must be the same for every ELF and base, and refused
  for the same files.
"""
import collections
import csv
import io
import os
import random
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # this folder is the source's
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "hostile"))
from names import shown
from programs import hlguest_of, mkelf_of

from tap import DATA, Tap, must, need, parser, report, run

KINDS = ("good", "nonote", "exec", "old", "aarch64", "dynsym", "stripped", "hostile",
         "many")
BASES = (None, 0, 0x1000, 0x4000, 0x7F3A51C26000)
MARKERS = ("_text", "_stext", "__gap__")


# --- perf ---------------------------------------------------------------------------


def with_guest_kernel(recording, start):
    """The recording with a PERF_RECORD_MMAP of the guest's kernel in front."""
    with open(recording, "rb") as f:
        data = bytearray(f.read())
    data_offset, data_size = struct.unpack_from("<QQ", data, 40)
    features = sum(bin(b).count("1") for b in data[72:104])
    name = b"[guest.kernel.kallsyms]_text"
    name += b"\0" * (8 - len(name) % 8)
    trailer = b"\0" * 16  # sample_id_all with TID and TIME
    body = struct.pack("<iiQQQ", 0, 0, start, 2**64 - 1 - start, start) + name + trailer
    record = struct.pack("<IHH", 1, 4, 8 + len(body)) + body
    for i in range(features):
        at = data_offset + data_size + 16 * i
        offset, = struct.unpack_from("<Q", data, at)
        struct.pack_into("<Q", data, at, offset + len(record))
    struct.pack_into("<Q", data, 48, data_size + len(record))
    data[data_offset:data_offset] = record
    return bytes(data)


def perf_counts(perf, recording, table):
    out = must(perf, "kvm", "--guest", f"--guestkallsyms={table}", "report", "--stdio",
               "-i", recording, "-F", "sample,sym")
    counts = collections.Counter()
    for line in out.splitlines():
        match = re.match(r" *(\d+) +\[g\] (\S+)$", line)
        if match:
            counts[match[2]] += int(match[1])
        elif line.strip() and not line.startswith("#"):
            raise RuntimeError(f"not understood: {line}")
    return counts


def filter_counts(build, recording):
    out = report(build, recording, os.path.join(DATA, "demo.elf"), "format=csv",
                 "demangle=no", "region=0", "weight=samples")
    counts = collections.Counter()
    for row in csv.DictReader(io.StringIO(out)):
        if row["record"] == "function":
            gap = row["kind"] == "gap"
            counts["__gap__" if gap else row["symbol"]] += int(row["samples"])
    return counts


def agrees_with_perf(build, perf):
    need(perf)
    recording = os.path.join(DATA, "demo-kernel.data")
    with tempfile.TemporaryDirectory() as work:
        table = os.path.join(work, "table")
        text = must(hlguest_of(build), "kallsyms", os.path.join(DATA, "demo.elf"))
        with open(table, "w", encoding="utf-8") as f:
            f.write(text)
        placed = os.path.join(work, "perf.data.guest")
        with open(placed, "wb") as f:
            f.write(with_guest_kernel(recording, int(text[:16], 16)))
        theirs = perf_counts(perf, placed, table)
    ours = filter_counts(build, recording)
    if sum(ours.values()) != 449:
        yield f"the filter counts {sum(ours.values())} samples"
    for name in sorted(set(ours) | set(theirs)):
        if ours[name] != theirs[name]:
            yield f"{name}: perf {theirs[name]}, hlguest {ours[name]}"


# --- --compat -----------------------------------------------------------------------


def sections(data):
    """[(name, type, addr, offset, size, link)]"""
    offset, = struct.unpack_from("<Q", data, 40)
    n, names = struct.unpack_from("<HH", data, 60)
    raw = [struct.unpack_from("<IIQQQQI", data, offset + 64 * i) for i in range(n)]
    strings = raw[names][4]
    return [(data[strings + r[0]:strings + r[0] + 64].split(b"\0", 1)[0], r[1]) + r[3:]
            for r in raw]


def functions(data, table, strings, base):
    """(address, size, name) of each that counts."""
    for at in range(table[3], table[3] + table[4], 24):
        name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", data, at)
        if info & 15 not in (2, 10) or value == 0 or name >= strings[4]:
            continue
        begin = strings[3] + name
        raw = data[begin:data.index(b"\0", begin)]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text:
            yield (value + base) % 2**64, size, text


def expected(path, base):
    with open(path, "rb") as f:
        data = f.read()
    table = sections(data)
    symtab = [s for s in table if s[1] == 2]
    if not symtab:
        return None
    found = sorted(functions(data, symtab[0], table[symtab[0][5]], base),
                   key=lambda s: (s[0], -s[1], s[2].encode()))
    kept = [s for i, s in enumerate(found) if i == 0 or found[i - 1][0] != s[0]]
    if not kept:
        return None
    lines = []
    for i, (addr, size, name) in enumerate(kept):
        lines.append((addr, name))
        if size and i + 1 < len(kept) and (addr + size) % 2**64 < kept[i + 1][0]:
            lines.append(((addr + size) % 2**64, "__gap__"))
    text = [s[2] + base for s in table if s[0] == b".text"]
    if text:
        lines += [(text[0], "_text"), (text[0], "_stext")]
        lines.sort(key=lambda l: (l[0], l[1] not in MARKERS, l[1].encode()))
    return "".join(f"{addr:016x} T {shown(name.encode())}\n" for addr, name in lines)


def compat(build, path, base):
    word = path if base is None else f"{path}@{base:#x}"
    out, err, status = run(hlguest_of(build), "kallsyms", "--compat", word)
    want = expected(path, 0x1000 if base is None else base)
    if want is None:
        if status != 1 or out:
            yield f"base {base}: not refused (status {status})"
        return
    if status:
        yield f"base {base}: status {status}: {err}"
    elif out != want:
        lines = zip(out.splitlines(), want.splitlines())
        first = next(((o, w) for o, w in lines if o != w), ("", "(lengths differ)"))
        yield f"base {base}: got {first[0]!r}, expected {first[1]!r}"


def shuffled(path, out, seed):
    """A copy of an ELF whose symbols have other values, sizes and types."""
    rng = random.Random(seed)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    table = next(s for s in sections(data) if s[1] == 2)
    for at in range(table[3] + 24, table[3] + table[4], 24):
        data[at + 4] = 16 + rng.choice((0, 2, 2, 2, 10))
        value = 0x1280 + rng.randrange(0, 64)
        size = rng.choice((0, 1, 8, 40, 2**63, 2**64 - 1))
        struct.pack_into("<QQ", data, at + 8, rng.choice((value, 0)), size)
    with open(out, "wb") as f:
        f.write(data)


def compat_shuffled(build, work):
    path = os.path.join(work, "shuffled")
    for seed in range(50):
        shuffled(os.path.join(DATA, "demo.elf"), path, seed)
        for difference in compat(build, path, 0x4000):
            yield f"seed {seed}: {difference}"


def compat_all(build, path):
    for base in BASES:
        yield from compat(build, path, base)


def main():
    p = parser(__doc__)
    p.add_argument("--perf", default="perf")
    args = p.parse_args()
    tap = Tap()
    tap.run("perf kvm report counts as the filter does",
            lambda: list(agrees_with_perf(args.build, args.perf)))
    for name in ("demo.elf", "rusty.elf"):
        path = os.path.join(DATA, name)
        tap.run(f"--compat: {name}", lambda p=path: list(compat_all(args.build, p)))
    with tempfile.TemporaryDirectory() as work:
        for kind in KINDS:
            path = os.path.join(work, kind)
            must(mkelf_of(args.build), kind, path)
            tap.run(f"--compat: {kind}", lambda p=path: list(compat_all(args.build, p)))
        tap.run("--compat: symbols shuffled",
                lambda: list(compat_shuffled(args.build, work)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
