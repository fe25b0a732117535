# SPDX-License-Identifier: GPL-2.0-only
"""Guests whose functions are instructions of several bytes, with lines of source, for the readings
of hlguest annotate.

Which bytes are what is known because they are laid here, one instruction after the other; how
these are written is objdump's way, and for --syntax=intel Intel's. What is shown of a place
goes by hlguest-annotate(1), "OUTPUT", and tools/listing/listing.h alone.
"""
import collections
import struct

from forged import TEXT
from modelled import NOP, PUSH, Guest
from sourced import Lines

REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
INVALID, LEAVES = b"\x06", b"\x0f\xa2"  # in 64-bit mode; cpuid, which leaves every guest
ON, CALLS, BRANCHES = "on", "calls", "branches"

# form: how it goes on: length, how wide what follows the opcode is, flow, texts of both syntaxes.
# In texts, {t} is a target, {d} a distance and {i} a number.
Form = collections.namedtuple("Form", "code more flow att intel")
Insn = collections.namedtuple("Insn", "length flow att intel target")
# kind: as JSON has it. insn: of an instruction.
Part = collections.namedtuple("Part", "kind start end insn")

PLAIN = [Form(b"\x48\x89\xc8", 0, ON, "mov %rcx,%rax", "mov rax, rcx"),
         Form(b"\x48\x83\xc0\x57", 0, ON, "add $0x57,%rax", "add rax, 0x57"),
         Form(b"\xc3", 0, BRANCHES, "ret", "ret"),
         Form(NOP, 0, ON, "nop", "nop"),
         Form(b"\xff\xd0", 0, CALLS, "call *%rax", "call rax"),
         Form(b"\xff\xe0", 0, BRANCHES, "jmp *%rax", "jmp rax"),
         Form(b"\x48\x8b\x45\x50", 0, ON, "mov 0x50(%rbp),%rax", "mov rax, [rbp+0x50]")]
LED = [Form(b"\xeb", 1, BRANCHES, "jmp {t:x}", "jmp 0x{t:x}"),
       Form(b"\x74", 1, BRANCHES, "je {t:x}", "jz 0x{t:x}"),
       Form(b"\xe8", 4, CALLS, "call {t:x}", "call 0x{t:x}"),
       Form(b"\xe9", 4, BRANCHES, "jmp {t:x}", "jmp 0x{t:x}"),
       Form(b"\x0f\x85", 4, BRANCHES, "jne {t:x}", "jnz 0x{t:x}"),
       Form(b"\x48\x8b\x05", 4, ON, "mov {d}(%rip),%rax", "mov rax, [rip{s}]"),
       Form(b"\x48\x8d\x0d", 4, ON, "lea {d}(%rip),%rcx", "lea rcx, [rip{s}]")]
WIDE = Form(b"\x48\xb8", 8, ON, "movabs ${i:#x},%rax", "mov rax, {i:#x}")
EXIT = Form(LEAVES, 0, ON, "cpuid", "cpuid")
PUSHES = [Form(bytes([0x50 + i]), 0, ON, f"push %{name}", f"push {name}")
          for i, name in enumerate(REGISTERS)]
INT3 = Form(b"\xcc", 0, ON, "int3", "int3")


class Listed(Guest):
    """Bytes of a wide number are instructions, too: what begins in its middle, as an inner symbol
    may, is decoded from there."""

    def __init__(self, rng, names, path, calls=False):
        super().__init__(rng, names, path)
        self.laid, self.parted, self.exit = {}, {}, None
        self.misfit = rng.random() < .25  # samples are anywhere
        self.invalid = rng.choice((0, 0, .04))
        code = bytearray(self.code)
        for start, end in self.runs():
            self.lay(rng, code, start, end)
        self.lead(rng, code)
        self.code = bytes(code)
        self.fill()
        self.known = {}
        self.starts = sorted(part.start for place in self.places() for part in self.parts(place)
                             if part.kind == "instruction")
        self.led = sorted({insn.target for at in self.laid if (insn := self.decode(at, self.end))
                           and insn.target and TEXT <= insn.target < self.end})
        self.returns = [part.end for place in self.places() for part in self.parts(place)
                        if calls and part.insn and part.insn.att == "call *%rax" and
                        self.place(part.end - 1) == place and place.kind != "gap"]
        self.lines = Lines(rng, self) if rng.random() < .6 else None

    def elf(self):
        elf = super().elf()
        for name, data in self.lines.sections() if self.lines else ():
            elf.section(elf.name(name), 1, at=elf.put(data), size=len(data))
        return elf

    def places(self):
        """Of all code, each once."""
        found = dict.fromkeys(self.place(at) for at in range(TEXT, self.end))
        return [place for place in found if place.start is not None]

    def runs(self):
        """Code between padding."""
        at = TEXT
        while at < self.end:
            end = at
            while end < self.end and self.code[end - TEXT:end - TEXT + 1] == PUSH:
                end += 1
            if end > at:
                yield at, end
            at = end + 1

    # Laying

    def lay(self, rng, code, start, end):
        """An instruction ends where a symbol begins or ends; or is a wide one, across that."""
        seams = sorted({start, end, *(at for s in self.symbols for at in (s.at, s.at + s.size)
                                      if start < at < end)})
        for first, seam, after in zip(seams, seams[1:], [*seams[2:], end]):
            at = max(first, start)
            while at < seam:
                start = at = self.lay_one(rng, code, at, seam, after)

    def lay_one(self, rng, code, at, seam, after):
        place, room = self.place(at), seam - at
        is_gap = place.kind == "gap"
        if is_gap and at in (place.start, seam - 1) or self.is_edge(at):
            form = PUSHES[5]  # no padding
        elif 2 < room < 10 <= after - at and not is_gap and rng.random() < .5 and \
                self.place(seam).kind != "gap":
            form = WIDE
        elif place.kind == "function" and self.exit is None and rng.random() < .01 and room > 1:
            form, self.exit = EXIT, at
        elif self.exit == at - len(LEAVES) and room > 6:
            form = rng.choice(LED)  # where the host may be, too
        elif rng.random() < self.invalid and not is_gap:
            code[at - TEXT:at - TEXT + 1] = INVALID
            return at + 1
        else:
            form = rng.choice([f for f in (*PLAIN, *LED, *PUSHES, WIDE)
                               if len(f.code) + f.more <= room - is_gap])
        more = bytes(0x50 + rng.randrange(8) for _ in range(form.more))
        code[at - TEXT:at - TEXT + len(form.code) + form.more] = form.code + more
        self.laid[at] = form
        if form is WIDE:
            for i, byte in enumerate(more, at + len(form.code)):
                self.laid[i] = PUSHES[byte - 0x50]
        return at + len(form.code) + form.more

    def is_edge(self, at):
        """Is it the first or last byte between padding?"""
        return self.place(at).kind == "gap" and any(
            self.code[i - TEXT:i - TEXT + 1] != PUSH for i in (at - 1, at + 1))

    def lead(self, rng, code):
        """Targets: mostly where an instruction begins, of the same place or another; also any
        byte."""
        for at, form in list(self.laid.items()):
            if form not in LED:
                continue
            place, end = self.place(at), at + len(form.code) + form.more
            near = [a for a in self.laid if place.start <= a < place.end]
            to = rng.choice((*near, *(s.at for s in self.symbols[:3]), self.end + 8, TEXT - 0x20,
                             end + 1)) - end
            if rng.random() < .1:
                to = rng.randrange(place.start, place.end) - end
            if not form.more == 1:
                code[end - TEXT - 4:end - TEXT] = struct.pack("<i", to)
            elif -128 <= to < 128:
                code[end - TEXT - 1:end - TEXT] = struct.pack("<b", to)

    def fill(self):
        """What labels have of padding is decoded."""
        for at in range(TEXT, self.end):
            if self.code[at - TEXT] in (0x90, 0xcc) and self.covering(at):
                self.laid.setdefault(at, PLAIN[3] if self.code[at - TEXT] == 0x90 else INT3)

    # What is there

    def decode(self, at, end):
        """None: no instruction, or not all of one."""
        form = self.laid.get(at)
        size = len(form.code) + form.more if form else 0
        if not form or at + size > end:
            return None
        more = self.code[at - TEXT + len(form.code):at - TEXT + size]
        target = distance = None
        if form in LED:
            distance = int.from_bytes(more, "little", signed=True)
            target = (at + size + distance) % 2**64
        words = {"t": target, "i": int.from_bytes(more, "little"),
                 "d": f"{distance or 0:#x}", "s": f"{distance:+#x}" if distance else ""}
        return Insn(size, form.flow, form.att.format(**words), form.intel.format(**words), target)

    def parts(self, place):
        """Of a place, every byte in one. What cannot be decoded reaches to the next symbol; what
        is alike and no instruction is one part."""
        if place.kind in ("data", "outside"):
            return []
        if place not in self.parted:
            self.parted[place] = self.part(place)
        return self.parted[place]

    def part(self, place):
        parts, at, end = [], place.start, place.end
        if place.kind == "gap":
            code = [i for i in range(at, end) if not self.is_filler(i)]
            at, end = (code[0], code[-1] + 1) if code else (end, end)
            parts = [Part("padding", place.start, at, None)] * (at > place.start)
        while at < end:
            insn = self.decode(at, end)
            if insn:
                own = self.place(at) == place
                part = Part("instruction" if own else "other", at, at + insn.length,
                            insn if own else None)
            else:
                part = Part("bytes", at, min([s.at for s in self.symbols if s.at > at] + [end]),
                            None)
                part = part._replace(end=min(part.end, end))
            at = part.end
            self.join(parts, part)
        if end < place.end:
            parts.append(Part("padding", end, place.end, None))
        return parts

    @staticmethod
    def join(parts, part):
        if parts and parts[-1].kind == part.kind != "instruction":
            part = part._replace(start=parts.pop().start)
        parts.append(part)

    def edges(self, place, reach):
        """Addresses of the first instructions from where control enters: the begin, behind calls,
        and where branches in it lead."""
        flow, at = {}, place.start
        while at < place.end:
            insn = self.decode(at, place.end)
            if insn:
                flow[at] = insn
            at += insn.length if insn else min(
                [s.at for s in self.symbols if s.at > at] + [place.end]) - at
        ins = {place.start}
        ins |= {at + insn.length for at, insn in flow.items() if insn.flow == CALLS}
        ins |= {insn.target for insn in flow.values() if insn.flow == BRANCHES and insn.target
                and place.start <= insn.target < place.end}
        order = sorted(flow)
        return {at for i, first in enumerate(order) if first in ins
                for at in order[i:i + reach]}

    def some(self, rng):
        if self.exit and rng.random() < .4:
            return self.exit + rng.choice((0, len(LEAVES)))
        if self.misfit or rng.random() < .1 or not self.starts:
            if self.led and rng.random() < .3:
                return rng.choice(self.led)  # which need not begin an instruction
            return super().some(rng)
        return rng.choice(self.starts)
