# SPDX-License-Identifier: GPL-2.0-only
"""Another build of an ELF: one function is longer, and all that lies behind it has moved.

The bytes that are put in are instructions, of x86-64 or AArch64; what follows the function
stays aligned, as a linker has it. Nothing would run: calls and data keep their distances.
"""
import bisect
import collections
import re
import struct

from tap import must

PAGE = 4096
ALIGN = 16
# Instructions by length: push, mov, mov, mov, mov, mov, mov.
INSTRUCTIONS = {1: b"\x50", 2: b"\x89\xc8", 3: b"\x48\x89\xc8", 4: b"\x48\x8b\x45\xf8",
                5: b"\xb8\x01\x02\x03\x04", 6: b"\x8b\x80\x10\x20\x00\x00",
                7: b"\x48\x8b\x80\x10\x20\x00\x00"}
AARCH64 = 183  # EM_AARCH64
# mov x0, x1; ldr x0, [x1, #8]; add x2, x2, #1; eor w3, w3, w4, lsr #7; and what pads there: nop.
WORDS = [struct.pack("<I", word) for word in (0xaa0103e0, 0xf9400420, 0x91000442, 0x4a441c63)]
NOP = struct.pack("<I", 0xd503201f)
SYMBOL = "<IBBHQQ"
FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC

Function = collections.namedtuple("Function", "addr end name")


class Growable:
    """An ELF whose functions can grow."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.header = struct.unpack_from("<16sHHIQQQIHHHHHH", self.data)
        at, count = self.header[5], self.header[10]
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, at + i * 56)
                         for i in range(count)]
        at, count = self.header[6], self.header[12]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * 64)
                         for i in range(count)]
        self.code = next(s for s in self.segments if s[0] == 1 and s[1] & 1)
        self.functions = self.read_functions()
        self.starts = [f.addr for f in self.functions]
        a64 = self.header[2] == AARCH64
        self.unit = 4 if a64 else 1  # of which a function's size is a multiple
        objdump = "aarch64-linux-gnu-objdump" if a64 else "objdump"
        self.boundaries = sorted(
            int(a, 16) for a in re.findall(r"^ *([0-9a-f]+):\t", must(objdump, "-dw", path),
                                           re.M))

    def filling(self, size, seed):
        """Instructions of so many bytes."""
        if self.unit > 1:
            return b"".join(WORDS[(n * 7 + seed) % len(WORDS)] for n in range(size // 4))
        new = b""
        while len(new) < size:
            new += INSTRUCTIONS[min(size - len(new), 1 + (len(new) * 7 + seed) % 7)]
        return new

    def padding(self, size):
        return NOP * (size // 4) if self.unit > 1 else b"\xcc" * size

    def symbols(self, data):
        """(offset in the file, its fields) of each."""
        table = next(s for s in self.sections if s[1] == 2)
        for at in range(table[4], table[4] + table[5], 24):
            yield at, struct.unpack_from(SYMBOL, data, at)

    def read_functions(self):
        """Those with a size that no other has bytes of, sorted."""
        table = next(s for s in self.sections if s[1] == 2)
        names = self.sections[table[6]][4]
        found = {}
        for _, (name, info, _, section, value, size) in self.symbols(self.data):
            if info & 15 in FUNCTIONS and size and section:
                text = self.data[names + name:self.data.index(b"\0", names + name)]
                found.setdefault((value, value + size), text.decode())
        flat = sorted(found)
        return [Function(*f, found[f]) for f in flat
                if not any(g != f and g[0] < f[1] and f[0] < g[1]
                           for g in flat[max(0, bisect.bisect(flat, f) - 4):
                                         bisect.bisect(flat, f) + 4])]

    def function_at(self, addr):
        i = bisect.bisect(self.starts, addr) - 1
        return self.functions[i] if i >= 0 and addr < self.functions[i].end else None

    def grow(self, function, size, rng):
        """An ELF in which a function is longer by size bytes, units of them, from one of its
        instructions on. Returns its bytes, and what turns an address of it into one of this, or None:
        there is nothing of this there."""
        inside = self.boundaries[bisect.bisect(self.boundaries, function.addr - 1):
                                 bisect.bisect(self.boundaries, function.end - 1)]
        at = rng.choice(inside)
        behind = bisect.bisect(self.starts, function.addr)
        following = self.starts[behind] if behind < len(self.starts) else None
        room = (following or function.end) - function.end if following else 0
        shift = max(0, size - room)
        shift = (shift + ALIGN - 1) // ALIGN * ALIGN if size > room else 0
        # Padding behind the function shrinks or grows.
        data = self.rebuild(at, size, function.end, following or function.end, shift)

        def old(addr):
            if addr < at:
                return addr
            if addr < at + size:
                return None
            if addr < function.end + size:
                return addr - size
            return addr - shift

        return data, old

    def rebuild(self, at, size, end, following, shift):
        vaddr, offset = self.code[3], self.code[2]
        pages = (shift + PAGE - 1) // PAGE * PAGE
        stop = vaddr + self.code[5]

        def moved(addr):
            """Where an address lies now."""
            if addr <= at:
                return addr
            if addr < end:
                return addr + size
            return addr + (shift if addr <= stop else pages) if addr >= following else addr

        def file(off):
            place = off - offset + vaddr
            if off <= at - vaddr + offset:
                return off
            if place <= stop:
                return off + shift if place >= following else off + size
            return off + pages

        lo, hi = at - vaddr + offset, end - vaddr + offset
        nxt, last = following - vaddr + offset, stop - vaddr + offset
        gap = following - end - size + shift
        out = bytearray(self.data[:lo] + self.filling(size, at) + self.data[lo:hi] +
                        self.padding(gap) + self.data[nxt:last] + bytes(pages - shift) + self.data[last:])
        header = list(self.header)
        header[4], header[6] = moved(header[4]), file(header[6])
        struct.pack_into("<16sHHIQQQIHHHHHH", out, 0, *header)
        for i, s in enumerate(self.segments):
            s = list(s)
            grown = shift if s[3] <= at < s[3] + s[5] else 0
            s[2], s[3], s[4] = file(s[2]), moved(s[3]), moved(s[4])
            s[5], s[6] = s[5] + grown, s[6] + grown
            struct.pack_into("<IIQQQQQQ", out, header[5] + i * 56, *s)
        for i, s in enumerate(self.sections):
            s = list(s)
            grown = shift if s[3] and s[3] <= at < s[3] + s[5] else 0
            s[4], s[3], s[5] = file(s[4]), moved(s[3]) if s[3] else 0, s[5] + grown
            struct.pack_into("<IIQQQQIIQQ", out, header[6] + i * 64, *s)
        for place, (name, info, other, section, value, length) in self.symbols(self.data):
            if not section or section >= 0xff00:
                continue
            length += size if value <= at < value + length else 0
            struct.pack_into(SYMBOL, out, file(place), name, info, other, section,
                             moved(value), length)
        return bytes(out)
