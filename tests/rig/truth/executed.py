# SPDX-License-Identifier: GPL-2.0-only
"""What a guest executed, as the plugin count.so wrote it, and what shares that makes."""
import bisect
import collections
import itertools
import lzma
import math
import re
import struct

from tap import must

BASE = 0x4000  # where Hyperlight 0.17 and later lay every guest
Z95 = 1.959963984540054

Symbol = collections.namedtuple("Symbol", "addr size name names")


def read(path):
    return (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="ascii")


class Executed:
    """How often the instruction at each address, as the ELF has it, was executed."""

    def __init__(self, path):
        with read(path) as f:
            pairs = [line.split() for line in f]
        self.at = {int(addr, 16): int(count) for addr, count in pairs}
        self.addrs = sorted(self.at)
        self.sums = [0, *itertools.accumulate(self.at[addr] for addr in self.addrs)]
        self.total = self.sums[-1]

    def of(self, addr, size):
        """In [addr, addr + size)."""
        begin = bisect.bisect_left(self.addrs, addr)
        end = bisect.bisect_left(self.addrs, addr + size)
        return self.sums[end] - self.sums[begin]

    def share(self, addr, size):
        return self.of(addr, size) / self.total


class Tree:
    """What tree.so wrote: instructions executed by the calls that led there."""

    def __init__(self, path):
        self.paths = []  # ([return address, ...] from the outermost on, function, count)
        with read(path) as f:
            for line in f:
                path, count = line.split()
                *returns, function = [int(addr, 16) for addr in path.split(";")]
                self.paths.append((returns, function, int(count)))
        self.total = sum(count for _, _, count in self.paths)

    def stacks(self, symbols):
        """{(name of a function, or None, ...)} that there were, the outermost first. What has
        no function, as code that changes the stack has none, may be the outermost, too."""
        starts = [symbol.addr for symbol in symbols]

        def function(addr):
            symbol = symbols[bisect.bisect_right(starts, addr) - 1]
            return symbol.names[0] if addr < symbol.addr + symbol.size else None
        found = set()
        for returns, inner, _ in self.paths:
            path = (*(function(at - 1) for at in returns), function(inner))
            found |= {path[i:] for i in range(len(path)) if i == 0 or path[i] is None}
        return found

    def own(self):
        """{address of a function: instructions executed in it}"""
        sums = collections.Counter()
        for _, function, count in self.paths:
            sums[function] += count
        return sums

    def under(self, addr, size):
        """Instructions executed in [addr, addr + size) and in what was called from there."""
        return sum(count for returns, function, count in self.paths
                   if any(addr <= at < addr + size for at in (function, *returns)))


def functions(elf):
    """Symbols of functions with a size, one for each address, of readelf's table."""
    line = re.compile(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +\d+ (\S+)", re.M)
    found = {}
    for addr, size, name in line.findall(must("readelf", "-sW", elf)):
        if int(size) > 0:
            found.setdefault(int(addr, 16), Symbol(int(addr, 16), int(size), name, []))
            found[int(addr, 16)].names.append(name)
    return sorted(found.values())


def port_writes(elf):
    """Addresses of `out` in a guest's code."""
    text = must("objdump", "-d", "--no-show-raw-insn", elf)
    return [int(addr, 16) for addr in re.findall(r"^ *([0-9a-f]+):\t(?:out|outs)\b", text, re.M)]


def calls_of(elf):
    """Addresses behind the calls in a guest's code: where they return to."""
    text = must("objdump", "-d", "--no-show-raw-insn", elf)
    lines = re.findall(r"^ *([0-9a-f]+):\t(\S+)", text, re.M)
    return {int(behind, 16) for (_, word), (behind, _) in zip(lines, lines[1:]) if word == "call"}


def wilson(inside, n, z=Z95):
    """Wilson's score interval of a share."""
    if n == 0:
        return 0.0, 1.0
    share, square = inside / n, z * z / n
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


class Coverage:
    """How many 95 % intervals hold what is true: 90 to 98 % must be possible."""

    def __init__(self):
        self.inside = self.n = 0
        self.outside = []

    def add(self, low, high, true, what):
        self.n += 1
        # Shares are printed with two digits.
        if low - 0.005 <= true <= high + 0.005:
            self.inside += 1
        else:
            self.outside.append(f"{what}: {true:.2f} is not in {low:.2f} to {high:.2f}")

    def differences(self):
        if not self.n:
            return ["no interval was looked at"]
        low, high = wilson(self.inside, self.n)
        if low <= 0.98 and high >= 0.90:
            return []
        return [f"{self} hold the truth, not 90 to 98 %", *self.outside]

    def __str__(self):
        low, high = wilson(self.inside, self.n)
        return f"{self.inside} of {self.n} intervals (95 %: {100 * low:.1f} to {100 * high:.1f} %)"


def without_note(elf, out):
    """A copy of a guest whose note is not Hyperlight's, so that no base is stated."""
    with open(elf, "rb") as f:
        data = f.read()
    name = struct.pack("<I", len(b"Hyperlight\0"))
    if data.count(b"Hyperlight\0\0") != 1 or name not in data:
        raise RuntimeError(f"{elf}: where is its note?")
    with open(out, "wb") as f:
        f.write(data.replace(b"Hyperlight\0\0", b"Elsewhere!\0\0"))
