# SPDX-License-Identifier: GPL-2.0-only
"""AArch64 programs: what objdump and readelf say of one."""
import bisect
import re

from tap import must


class Program:
    """What binutils say of an ELF."""

    def __init__(self, work, name):
        self.work, self.name = work, name
        self.insns = {}  # address: (text, address of the target)
        for line in self.ask("objdump", "-d").splitlines():
            match = re.match(r" *([0-9a-f]+):\t[0-9a-f]{8} \t(.*)$", line)
            if match:
                target = re.search(r"\s([0-9a-f]+) <", match[2])
                text = re.sub(r"\s*(?:<|//).*$", "", match[2]).replace("\t", " ").strip()
                self.insns[int(match[1], 16)] = (text, target and int(target[1], 16))
        symbols = {}  # start: (end, {names}); what is inside of another is left out
        for line in self.ask("readelf", "-sW").splitlines():
            w = line.split()
            if len(w) == 8 and w[3] in ("FUNC", "IFUNC") and w[6].isdigit() and int(w[2], 0):
                start, size = int(w[1], 16), int(w[2], 0)
                end, names = symbols.get(start, (0, set()))
                symbols[start] = max(end, start + size), names | {w[7]}
        self.symbols, last = {}, 0
        for start in sorted(symbols):
            if start >= last:
                self.symbols[start] = symbols[start]
            last = max(last, symbols[start][0])
        self.starts = sorted(self.symbols)

    def ask(self, tool, *args):
        return must(f"aarch64-linux-gnu-{tool}", *args, self.name, cwd=self.work)

    def start_of(self, addr):
        """Where the function begins that an address is in; None: in none."""
        at = bisect.bisect_right(self.starts, addr)
        start = self.starts[at - 1] if at else None
        return start if at and addr < self.symbols[start][0] else None


def compare(line, insns):
    """None if a line is as objdump has it, else what is different."""
    addr = int(line["addr"], 16)
    text, target = insns.get(addr, ("nothing", None))
    if line["size"] != 4 or line["text"] != text:
        return f"{addr:#x}: {line['size']} bytes {line['text']!r}, but objdump has {text!r}"
    found = int(line["target"]["addr"], 16) if "target" in line else None
    # The page that adrp makes is no place that is meant.
    if found != target and not text.startswith("adrp "):
        return f"{addr:#x}: target {found}, but objdump has {target}: {text}"
    return None
