#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random images against readelf and nm: elf_diff.py --build BUILD [--seed N] [--seeds N]

What is at each address is concluded from what readelf prints of segments, sections and
symbols, by the rules of symtab/area.h, symbol.h and span.h; hlguest lookup and hlguest
kallsyms must say the same, and refuse what the rules refuse. nm, which has a reader of
its own, must know each symbol that counts; it reads nothing of a table with an SHN_XINDEX
that lacks the section behind it, where hlguest passes over that one symbol.

The images are the oracle's (oracle-random.c), which compares inside of the program and
reads no file but with hlguest's reader. TAP; a failure names the seed.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = 2 ** 64 - 1
BASE = 0x1000
SYMBOL = re.compile(r" *\d+: ([0-9a-f]{16}) +(\S+) (<[^>]+>: \S+|\S+) +(<[^>]+>: \S+|\S+) +"
                    r"\S+ +(bad section index\[\S+\]|(?:OS|PRC|RSV) ?\[\S+\]|\S+) ?(.*)")
SECTION = re.compile(r"  \[ *(\d+)\] (\S+) +(\S+) +([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) \w\w "
                     r"([ A-Za-z]{3})")
LOAD = re.compile(r"  LOAD +\S+ 0x([0-9a-f]+) \S+ \S+ 0x([0-9a-f]+) (...) ")


def end_of(start, size):
    return min(start + size, TOP)


class Image:
    """What readelf says."""

    def __init__(self, path):
        done = subprocess.run(["readelf", "-hlSsW", str(path)], capture_output=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
        tables, self.sections, self.loads, table = {}, {}, [], None
        text = done.stdout.decode(errors="surrogateescape")
        self.arm = "AArch64" in text
        for line in text.split("\n"):
            if found := re.match(r"Symbol table '(\S+)'", line):
                table = tables.setdefault(found[1], [])
            elif table is not None and (found := SYMBOL.fullmatch(line)):
                table.append(found.groups())
            elif found := SECTION.match(line):
                number, _, kind, addr, size, flags = found.groups()
                tbss = "T" in flags and kind == "NOBITS"
                if "A" in flags and not tbss:
                    addr = int(addr, 16)
                    self.sections[int(number)] = (addr, end_of(addr, int(size, 16)),
                                                  "X" in flags)
            elif found := LOAD.match(line):
                addr = int(found[1], 16)
                self.loads.append((addr, addr + int(found[2], 16), "E" in found[3]))
        self.dynamic = ".symtab" not in tables
        self.symbols = [s for s in map(self.take, tables.get(".symtab") or
                                       tables.get(".dynsym", [])) if s]

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
        code = [s for s in self.sections.values() if s[2]]
        if any(max(a[0], b[0]) < min(a[1], b[1])
               for i, a in enumerate(code) for b in code[:i]):
            return b"overlap"
        return None if self.symbols else b"no symbol that names code"

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
        return (True, False, over[0][0]) if over else (True, inside[0][2], 0)

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

    def places(self):
        """{addr: (kind, symbol or None)} of all bytes, and some around them."""
        low, high = min(x[0] for x in self.loads), max(x[1] for x in self.loads)
        addrs = range(low, high)
        bytes_ = {addr: self.byte(addr) for addr in addrs}
        places, start = {}, low
        for addr in addrs:
            if addr > low and bytes_[addr] != bytes_[addr - 1]:
                start = addr
            loaded, code, _ = bytes_[addr]
            if not loaded or not code:
                places[addr] = ("data" if loaded else "outside", None)
                continue
            end = addr
            while end < high and bytes_[end] == bytes_[addr]:
                end += 1
            symbol = self.owner(addr, start, end)
            places[addr] = ("gap" if not symbol else "label" if symbol[2] else "function",
                            symbol)
        for addr in (low - 1, high):
            if 0 <= addr < TOP:
                places[addr] = ("outside", None)
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
    name = "__gap__"
    for addr in sorted(places):
        name = lines.get(addr, name)
        symbol = places[addr][1]
        if name != (symbol[4] if symbol else "__gap__"):
            raise AssertionError(f"kallsyms {addr:#x}: {name}, but readelf: {symbol}")


def check_nm(path, image):
    done = run(["nm", *(["-D"] if image.dynamic else []), path])
    if b"SHT_SYMTAB_SHNDX" in done.stderr:
        return  # refuses a table for one symbol of SHN_XINDEX, of which is not said where
    known = {tuple(line.split(" ", 2)[::2]) for line in
             done.stdout.decode(errors="surrogateescape").split("\n") if line[:1] != " "}
    for start, _, _, _, name in image.symbols:
        if (f"{start:016x}", name) not in known:
            raise AssertionError(f"nm does not know {name} at {start:#x}")


def check(hlguest, path):
    """'' or 'refused'; raises AssertionError."""
    image = Image(path)
    why = image.refused()
    if why:
        done = run([hlguest, "lookup", "--own", f"{path}@{BASE:#x}", "0"])
        if why not in done.stderr:
            raise AssertionError("not refused: " + done.stderr.decode(errors="replace"))
        return "refused"
    places = image.places()
    check_lookup(hlguest, path, places)
    check_kallsyms(hlguest, path, places, min(x[0] for x in image.loads))
    check_nm(path, image)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=100)
    args = parser.parse_args()
    hlguest = args.build.resolve() / "tools/hlguest"
    if not shutil.which("readelf") or not shutil.which("nm"):
        print("1..0 # SKIP no readelf or nm here")
        return 0
    print("1..1")
    refused, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="hlguest-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed in range(args.seed, args.seed + args.seeds, 500):
            n = min(500, args.seed + args.seeds - seed)
            subprocess.run([args.build / "tests/symtab/oracle-images", folder, str(seed),
                            str(n)], check=True)
            paths = [Path(folder, f"{i}.elf") for i in range(seed, seed + n)]
            tasks = [(path, pool.submit(check, hlguest, path)) for path in paths]
            for path, task in tasks:
                try:
                    refused += task.result() == "refused"
                except AssertionError as why:
                    failed += 1
                    print(f"# seed {path.stem}: {why}")
                path.unlink()
    print(f"{'not ok' if failed else 'ok'} 1 - {args.seeds} images, {refused} of them "
          "refused")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
