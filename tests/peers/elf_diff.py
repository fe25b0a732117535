#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random images against readelf and nm:
elf_diff.py --build BUILD [--seed N] [--seeds N] [ELF...]

What is at each address is concluded from what readelf prints of segments, sections and
symbols, by the rules of symtab/image/area.h, symbol.h and span.h; hlguest lookup and hlguest
kallsyms must say the same, and refuse what the rules refuse. nm, which has a reader of
its own, must know each symbol that counts; it reads nothing of a table with an SHN_XINDEX
that lacks the section behind it, where hlguest passes over that one symbol, no file with
a section of an unknown type, and no name where the last one has no end.

The images are the oracle's (oracle-random.c), which compares inside of the program and
reads no file but with hlguest's reader; and those of shapes.py, which knows what is wrong
with some of them: that is what must be said. Of images that are given, also large ones,
some addresses are asked for. TAP; a failure names the seed.
"""
import argparse
import bisect
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is the source's
import shapes

TOP = 2 ** 64 - 1
BASE = 0x1000
SYMBOL = re.compile(r" *\d+: ([0-9a-f]{16}) +(\S+) (<[^>]+>: \S+|\S+) +(<[^>]+>: \S+|\S+) +"
                    r"\S+ +(?:\[[^\]]*\] +)?"
                    r"(bad section index\[\S+\]|(?:OS|PRC|RSV) ?\[\S+\]|\S+) ?(.*)")
SECTION = re.compile(r"  \[ *(\d+)\] .*? +(\S+) +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) "
                     r"[0-9a-f]+ ( *[A-Za-z]* *) \d+ +\d+ +\d+")
VERSION = re.compile(r"@@?(V1|[A-Z][\w.]*)( \(\d+\))?$")
KSYM_NAME = 255
LARGE = 300  # addresses of a large image
LOAD = re.compile(r"  LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) \S+ 0x([0-9a-f]+) 0x([0-9a-f]+) (...) ")
HEADERS = re.compile(r"  (Start|Number) of program headers: +(\d+)")
EHDR, PHDR = 64, 56  # bytes


def end_of(start, size):
    return min(start + size, TOP)


class Image:
    """What readelf says."""

    def __init__(self, path):
        done = subprocess.run(["readelf", "-hlSsW", str(path)], capture_output=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
        tables, self.sections, self.loads, self.ends, table = {}, {}, [], [], None
        text = done.stdout.decode(errors="surrogateescape")
        self.arm = "AArch64" in text
        told = dict(HEADERS.findall(text))
        # Bytes of the file; where the first segment has them, they are no code.
        headers = EHDR + PHDR * int(told["Number"]) * (int(told["Start"]) == EHDR)
        self.headers = []
        for line in text.split("\n"):
            if found := re.match(r"Symbol table '(\S+)'", line):
                # The first of a kind, as nm has it, if there are several.
                table = []
                tables.setdefault(found[1], table)
            elif table is not None and (found := SYMBOL.fullmatch(line)):
                table.append(found.groups())
            elif found := SECTION.match(line):
                number, kind, addr, offset, size, flags = found.groups()
                if kind == "STRTAB" and int(size, 16):
                    self.ends.append(int(offset, 16) + int(size, 16) - 1)
                tbss = "T" in flags and kind == "NOBITS"
                if "A" in flags and not tbss:
                    addr = int(addr, 16)
                    self.sections[int(number)] = (addr, end_of(addr, int(size, 16)),
                                                  "X" in flags)
            elif found := LOAD.match(line):
                offset, addr, filled, size = (int(x, 16) for x in found.groups()[:4])
                if size:
                    self.loads.append((addr, addr + size, "E" in found[5]))
                    self.headers.append((addr, addr + min(filled, max(headers - offset, 0))))
        # One that holds no more than the symbol 0 is none.
        self.dynamic = len(tables.get(".symtab", [])) < 2
        rows = tables.get(".dynsym" if self.dynamic else ".symtab", [])
        if self.dynamic and " VERSYM " in text:  # what readelf adds to a name
            rows = [(*row[:-1], VERSION.sub("", row[-1])) for row in rows]
        self.symbols = [s for s in map(self.take, rows) if s]

    def counts(self, name):
        if not name or name.startswith(".L") or name == "<corrupt>":
            return False
        return not (self.arm and (name in ("$x", "$d") or name[:3] in ("$x.", "$d.")))

    def take(self, row):
        """(start, end, class, bind, name), or None."""
        value, size, kind, bind, index, name = row
        value, size = int(value, 16), int(size, 0)
        section = self.sections.get(int(index)) if index.isdigit() else None
        if not section or not section[2] or not section[0] <= value < section[1] or \
                kind in ("SECTION", "FILE", "TLS") or not self.counts(name):
            return None
        function = kind in ("FUNC", "IFUNC", "<OS specific>: 10")
        return (value, min(end_of(value, size), section[1]),
                2 if size == 0 else 0 if function else 1,
                {"WEAK": 1, "LOCAL": 2}.get(bind, 0), name)

    def refused(self):
        """Part of what is said of an image that is refused; or None."""
        if any(end > TOP for _, end, _ in self.loads):
            return b"passes the end of memory"
        code = [s for s in self.sections.values() if s[2]]
        if any(max(a[0], b[0]) < min(a[1], b[1])
               for i, a in enumerate(code) for b in code[:i]):
            return b"overlap"
        return None if self.symbols else b"has no symbol"

    def byte(self, addr):
        """(loaded, code, section)"""
        inside = [load for load in self.loads if load[0] <= addr < load[1]]
        if not inside:
            return False, False, 0
        over = [(number, s[2]) for number, s in self.sections.items()
                if s[0] <= addr < s[1]]
        code = [number for number, executable in over if executable]
        if code:
            return True, True, code[0]
        own = any(start <= addr < end for start, end in self.headers)
        return (True, False, over[0][0]) if over else (True, inside[0][2] and not own, 0)

    def owner(self, addr, start, end):
        """The symbol that owns a byte of the code area [start, end), or None."""
        here = [s for s in self.symbols if start <= s[0] < end]

        def sized(at):
            over = [s for s in here if s[2] < 2 and s[0] <= at < s[1]]
            return min(over, key=lambda s: (s[2], -s[0], s[1], s[3]), default=None)

        best = sized(addr)
        if best:
            return best
        bare = [s for s in here if s[2] == 2 and s[0] <= addr]
        best = min(bare, key=lambda s: (-s[0], s[3]), default=None)
        if not best or sized(best[0]) or any(best[0] < s[0] <= addr for s in self.symbols):
            return None
        return best

    def areas(self):
        """[start, end, what byte() says], as large as may be."""
        edges = sorted({edge for x in (*self.loads, *self.headers, *self.sections.values())
                        for edge in x[:2]})
        areas = []
        for start, end in zip(edges, edges[1:]):
            what = self.byte(start)
            if areas and areas[-1][2] == what:
                areas[-1][1] = end
            else:
                areas.append([start, end, what])
        return areas

    def asked(self):
        """All bytes, and some around them; of a large image those near its symbols."""
        low, high = min(x[0] for x in self.loads), max(x[1] for x in self.loads)
        if high - low > 0x10000:
            rng = random.Random(low ^ high)
            edges = rng.choices([e for s in self.symbols for e in s[:2]] +
                                [e for x in self.areas() for e in x[:2]], k=LARGE)
            return sorted({e + rng.choice((-1, 0, 0, 1, rng.randint(0, 64))) for e in edges
                           if low + 1 < e < high})
        return [a for a in range(low - 1, high + 1) if 0 <= a < TOP]

    def places(self):
        """{addr: (kind, symbol or None)} of all that is asked."""
        areas, places = self.areas(), {}
        starts = [area[0] for area in areas]
        for addr in self.asked():
            at = bisect.bisect(starts, addr) - 1
            start, end, (loaded, code, _) = areas[at] if at >= 0 and addr < areas[at][1] \
                else (0, 0, (False, False, 0))
            symbol = None
            if loaded and code:
                symbol = self.owner(addr, start, end)
                kind = "gap" if not symbol else "label" if symbol[2] else "function"
            else:
                kind = "data" if loaded else "outside"
            places[addr] = kind, symbol
        return places


def run(words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, check=False, **more)


def check_lookup(hlguest, path, places):
    done = run([hlguest, "lookup", "--own", "--demangle=no", "--format=json",
                f"{path}@{BASE:#x}"], input="".join(f"{a:x}\n" for a in places).encode())
    if done.returncode:
        raise AssertionError("lookup: " + done.stderr.decode(errors="replace"))
    lines = done.stdout.decode(errors="surrogateescape").splitlines()
    if len(lines) != len(places):
        raise AssertionError(f"lookup: {len(lines)} answers of {len(places)}")
    for line, (addr, (kind, symbol)) in zip(lines, places.items()):
        said = json.loads(line)
        name = said.get("name") if said["kind"] in ("function", "label") else None
        offset = said.get("offset")
        if (said["kind"], name) != (kind, symbol and symbol[4]) or \
                symbol and offset != addr - symbol[0]:
            raise AssertionError(f"lookup {addr:#x}: {line}, but readelf: {kind} {symbol}")


def check_kallsyms(hlguest, path, places, low):
    done = run([hlguest, "kallsyms", f"{path}@{BASE:#x}"])
    if all(kind in ("data", "outside") for kind, _ in places.values()):
        if b"has no code in memory" not in done.stderr:
            raise AssertionError("kallsyms: not refused")
        return
    if done.returncode:
        raise AssertionError("kallsyms: " + done.stderr.decode(errors="replace"))
    lines = {}
    for line in done.stdout.split(b"\n"):
        if line and not line.endswith((b" _text", b" _stext")):
            addr, _, name = line.split(b" ")
            name = re.sub(rb"\\x(..)", lambda m: bytes((int(m[1], 16),)), name)
            lines[int(addr, 16) - BASE + low] = name.decode(errors="surrogateescape")
    starts = sorted(lines)
    for addr, (_, symbol) in places.items():
        at = bisect.bisect(starts, addr) - 1
        name = lines[starts[at]] if at >= 0 else "__gap__"
        # Names are cut to what every perf reads.
        if name != (symbol[4][:KSYM_NAME] if symbol else "__gap__"):
            raise AssertionError(f"kallsyms {addr:#x}: {name}, but readelf: {symbol}")


# binutils 2.47 knows no symbol of a file where the type of one is new to it.
NM_GIVES_UP = (b"SHT_SYMTAB_SHNDX", b"format not recognized", b"uses unsupported type")


def check_nm(path, image):
    done = run(["nm", *(["-D"] if image.dynamic else []), path])
    if any(said in done.stderr for said in NM_GIVES_UP) or \
            any(path.read_bytes()[end] for end in image.ends):
        return
    known = {(words[0], VERSION.sub("", words[2]) if image.dynamic else words[2]) for words
             in (line.split(" ", 2) for line in
                 done.stdout.decode(errors="surrogateescape").split("\n")
                 if line[:1] not in ("", " "))}
    for start, _, _, _, name in image.symbols:
        if (f"{start:016x}", name) not in known:
            raise AssertionError(f"nm does not know {name} at {start:#x}")


def check(hlguest, path, refusal=None):
    """'' or 'refused'; raises AssertionError."""
    image = Image(path) if refusal is None else None
    why = refusal.encode() if refusal is not None else image.refused()
    if why is not None:
        done = run([hlguest, "lookup", "--own", f"{path}@{BASE:#x}", "0"])
        if done.returncode != 1 or why not in done.stderr or done.stderr.count(b"\n") != 1:
            raise AssertionError(f"not refused for {why}: {done.stderr}")
        return "refused"
    places = image.places()
    check_lookup(hlguest, path, places)
    check_kallsyms(hlguest, path, places, min(x[0] for x in image.loads))
    check_nm(path, image)
    return ""


def oracle(build, folder, seeds):
    """(path, refusal) of each"""
    subprocess.run([build / "tests/unit/symtab/oracle-images", folder, str(seeds[0]),
                    str(len(seeds))], check=True)
    return [(Path(folder, f"{seed}.elf"), None) for seed in seeds]


def shaped(_, folder, seeds):
    made = []
    for seed in seeds:
        data, refusal = shapes.make(seed)
        made.append((Path(folder, f"{seed}.elf"), refusal))
        made[-1][0].write_bytes(data)
    return made


def check_seeds(args, pool, maker):
    """(how many were refused, how many failed)"""
    hlguest, refused, failed = args.build / "tools/hlguest", 0, 0
    for first in range(args.seed, args.seed + args.seeds, 500):
        with tempfile.TemporaryDirectory(prefix="hlguest-") as folder:
            made = maker(args.build, folder, range(first, min(first + 500,
                                                              args.seed + args.seeds)))
            tasks = [(path, pool.submit(check, hlguest, path, why)) for path, why in made]
            for path, task in tasks:
                try:
                    refused += task.result() == "refused"
                except AssertionError as why:
                    failed += 1
                    print(f"# seed {path.stem}: {why}")
    return refused, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("elf", nargs="*", type=Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    if not shutil.which("readelf") or not shutil.which("nm"):
        print("1..0 # SKIP no readelf or nm here")
        return 0
    makers = {} if args.elf else {"the oracle's": oracle, "odd": shaped}
    print(f"1..{len(makers) + len(args.elf)}")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, (name, maker) in enumerate(makers.items(), 1):
            refused, failed = check_seeds(args, pool, maker)
            bad += failed
            print(f"{'not ok' if failed else 'ok'} {i} - {args.seeds} images, {name}, "
                  f"{refused} of them refused")
        tasks = [pool.submit(check, args.build / "tools/hlguest", path) for path in args.elf]
        for i, (path, task) in enumerate(zip(args.elf, tasks), 1):
            try:
                print(f"ok {i} - {path} {task.result()}")
            except AssertionError as why:
                bad += 1
                print(f"# {why}\nnot ok {i} - {path}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
