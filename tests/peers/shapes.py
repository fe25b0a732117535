# SPDX-License-Identifier: GPL-2.0-only
"""Images in shapes that few linkers write: make(seed) gives (bytes, refusal).

What oracle-random.c leaves to others: section indices in a table of their own, counts
that stand in section 0 (now and then because there are that many), versions, thread-local
storage, compressed debug information, empty .symtab, several tables, ends of memory,
files of debug information only, headers in any order.

refusal is None, or part of what is said of the one thing that is wrong in the image
(wrongs.py); "" if it is only known that there is something. References: System V
gABI chapters 4 and 5; a symbol version, LSB 5.0 10.7.
"""
import random
import struct
import zlib

from wrongs import COMPRESSED, LOAD, SPREAD, SYMTAB_SHNDX, TOP, WRONG

PROGBITS, SYMTAB, STRTAB, NOTE, NOBITS, DYNSYM = 1, 2, 3, 7, 8, 11
VERDEF, VERSYM = 0x6ffffffd, 0x6fffffff
WRITE, ALLOC, EXEC, TLS = 1, 2, 4, 0x400
CODE = ALLOC | EXEC
PT_TLS, GNU_STACK = 7, 0x6474e551
XINDEX = 0xffff
MANY = 0xff00  # as many sections need numbers that st_shndx has no room for


class Section:
    def __init__(self, name, kind, flags=0, addr=0, size=0, data=None, link=0, info=0,
                 align=1, entsize=0):
        self.name, self.kind, self.flags, self.addr = name, kind, flags, addr
        self.data, self.size = data, size if data is None else len(data)
        self.link, self.info, self.align, self.entsize = link, info, align, entsize
        self.offset = 0


class Maker:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.low = rng.choice((0, 0x1000, 0x400000, 0x7ffff0000000, 0xffffffff80000000,
                               TOP - 1 - SPREAD - rng.randint(0, 3)))
        self.machine = rng.choice((62, 183))
        self.file_type = rng.choice((2, 3, 3))
        self.refusal = None
        self.debug_only = rng.random() < .08
        self.strange = not self.debug_only and rng.random() < .2  # nm reads none of these
        self.sections = [Section("", 0)]
        self.loads, self.headers, self.symbols = [], [], []
        self.wrong = rng.choice(WRONG) if rng.random() < .3 else None

    def chance(self, p):
        return self.rng.random() < p

    # What is in memory.

    def segments(self):
        rng, at = self.rng, self.low + self.rng.randint(0, 0x10)
        count = rng.randint(1, 4)
        for _ in range(count):
            size = rng.randint(1, SPREAD // count - 8)
            filesz = 0 if self.debug_only else rng.choice(
                (size, size, rng.randint(0, size)))
            self.loads.append([rng.choice((5, 5, 5, 1, 4, 6, 7, 0x10000005)), at, filesz,
                               size])
            at += size + rng.choice((0, 0, rng.randint(0, 8)))
        if self.chance(.2):
            rng.shuffle(self.loads)
        if self.chance(.1):  # takes no room, so it may lie anywhere
            self.loads.append([5, rng.choice((0, self.low + 7, TOP - 1)), 0, 0])

    def memory_sections(self):
        rng, at = self.rng, self.low + self.rng.randint(0, 0x20)
        for i in range(rng.randint(1, 7)):
            flags = rng.choice((CODE, CODE, CODE, CODE | WRITE, ALLOC, ALLOC | WRITE, EXEC,
                                ALLOC | WRITE | TLS))
            if i == 0:
                flags = CODE
            size = rng.choice((0, rng.randint(1, 0x90), rng.randint(1, 0x90)))
            size = min(size, self.low + SPREAD + 4 - at, TOP - at)
            if size < 0 or at >= TOP:
                break
            extra = rng.choice((0, 0, 0, 0x10, 0x20, 0x30, 0x40, 0x80, 0x100, 1 << 20,
                                1 << 28, 1 << 31))
            self.sections.append(Section(
                rng.choice((".text", ".init", ".plt", ".s", "", ".text.hot", "a b", ".tbss")),
                NOBITS if self.debug_only or self.chance(.15) and i else
                0x7000beef if self.strange else rng.choice((PROGBITS, PROGBITS, 14)),
                flags | extra, at, size, align=rng.choice(
                    (0, 3, 1 << 63) if self.strange else (1, 16, 4096))))
            if not (flags & TLS and self.sections[-1].kind == NOBITS):
                at += size + rng.choice((0, 0, rng.randint(0, 0x10)))
        if at < TOP and self.chance(.1):  # to the end of memory, where only a cut can end it
            self.sections.append(Section(".end", NOBITS, rng.choice((ALLOC, CODE)), at,
                                         TOP - at - rng.choice((0, 1))))

    def others(self):
        """Sections in no memory."""
        rng = self.rng
        for name in rng.sample((".debug_info", ".debug_line", ".debug_str"),
                               rng.randint(0, 3)):
            text = rng.randbytes(rng.randint(0, 30)) * 4
            if self.chance(.6):
                text = struct.pack("<IIQQ", 1, 0, len(text), 1) + zlib.compress(text)
                self.sections.append(Section(name, PROGBITS, COMPRESSED, data=text))
            else:
                self.sections.append(Section(name, PROGBITS, 0, data=text))
        if self.chance(.2):
            self.sections.append(Section(".gnu_debuglink", PROGBITS, data=struct.pack(
                "<12sI", b"x.debug", rng.getrandbits(32)), align=4))
        if self.chance(.3):
            note = struct.pack("<III4s", 4, 20, 3, b"GNU") + rng.randbytes(20)
            self.sections.append(Section(".note.gnu.build-id", NOTE, data=note, align=4))
        for _ in range(rng.choice((0, 0, 0, rng.randint(1, 5)))):
            self.sections.append(Section(".comment", PROGBITS, 0x30, data=b"made\0"))

    # Symbols.

    def symbol(self, i):
        rng = self.rng
        choices = [n for n, s in enumerate(self.sections) if n and s.size]
        code = [n for n in choices if self.sections[n].flags & CODE == CODE]
        index = rng.choice(code) if code and self.chance(.85) else \
            rng.choice(choices) if choices else 0
        section = self.sections[index]
        size = min(section.size, SPREAD)
        value = section.addr + rng.randint(0, max(0, size - 1))
        if self.symbols and self.chance(.35):
            other = rng.choice(self.symbols)
            value, index = other[1] + rng.choice((0, 0, 1, other[2])), other[5]
        elif self.chance(.15):
            value = rng.choice((section.addr - 1, section.addr + size, section.addr,
                                section.addr + size - 1, TOP - 1, TOP - 2, 0))
        length = rng.choice((0, rng.randint(1, 0x20), rng.randint(1, 0x80),
                             rng.choice((0x300, 1 << 20, 1 << 63, TOP - 1))
                             if self.chance(.3) else 8))
        if self.chance(.05):
            index = rng.choice((0, 0xfff1, 0xfff2, 0xff02, 0xff20, 0xfeff))
        name = rng.choice((f"f{i}", f"f{i}", f"f{i}", f"f{rng.randint(0, i)}", f"x.{i}",
                           f"_ZN1a1bEv{i}", f".L{i}", "", "$x", "$d.1", f"long{i}" * 99,
                           f"f{i}@1", "a b"))
        kind = rng.choice((2, 2, 2, 2, 0, 0, 1, 10, 6, 3, 4, rng.randint(0, 15)))
        return [name, value % TOP, length % TOP, kind, rng.choice((0, 1, 1, 2, 10)),
                index, rng.choice((0, 0, 0, 2, 3, 1, 0x80))]

    def table(self, kind, symbols):
        """A symbol table, its names, and, where a section needs it, its indices."""
        rng, strings, rows, wide = self.rng, b"\0", b"\0" * 24, [0]
        name = ".symtab" if kind == SYMTAB else ".dynsym"
        extended = self.chance(.3) or len(self.sections) >= MANY
        known = {}
        for text, value, size, typ, bind, index, other in symbols:
            text = text.encode()
            if text not in known:
                known[text] = len(strings)
                strings += text + b"\0"
            # Names may share their ends.
            at = known[text] + (1 if len(text) > 2 and self.chance(.05) else 0)
            real = index < MANY and index < len(self.sections)
            put = XINDEX if real and extended and (index >= MANY or self.chance(.5)) else \
                index & 0xffff
            wide.append(index if put == XINDEX else 0)
            rows += struct.pack("<IBBHQQ", at, bind << 4 | typ, other, put, value, size)
        if self.strange and self.chance(.3):
            strings = strings[:-1] or b"\0"  # the last has no end
        first = len(self.sections)
        local = sum(bind == 0 for *_, bind, _, _ in symbols)
        self.sections.append(Section(name, kind, 0, data=rows, link=first + 1,
                                     info=1 + local, align=8, entsize=24))
        parts = [Section(".strtab" if kind == SYMTAB else ".dynstr", STRTAB, data=strings)]
        if extended:
            parts.append(Section(name + "_shndx", SYMTAB_SHNDX, data=struct.pack(
                f"<{len(wide)}I", *wide), link=first, align=4, entsize=4))
        self.sections += parts
        return first

    def versions(self, dynsym, count):
        """Each symbol of .dynsym has a version, which is no part of its name."""
        strings = self.sections[dynsym + 1]
        at = len(strings.data)
        strings.data += b"lib.so\0V1\0"
        strings.size = len(strings.data)
        define = b""
        for number, (name, flags) in enumerate(((at, 1), (at + 7, 0)), 1):
            define += struct.pack("<HHHHIII", 1, flags, number, 1, 0, 20,
                                  28 if number == 1 else 0) + struct.pack("<II", name, 0)
        rng = self.rng
        numbers = [0] + [rng.choice((1, 2, 2, 0x8002)) for _ in range(count)]
        self.sections.append(Section(".gnu.version", VERSYM, data=struct.pack(
            f"<{len(numbers)}H", *numbers), link=dynsym, align=2, entsize=2))
        self.sections.append(Section(".gnu.version_d", VERDEF, data=define,
                                     link=dynsym + 1, info=2, align=8))

    def tables(self):
        rng = self.rng
        for i in range(rng.randint(1, 30)):
            self.symbols.append(self.symbol(i))
        self.symbols.sort(key=lambda s: s[4] != 0)
        which = rng.choice(("symtab", "symtab", "dynsym", "both", "empty"))
        self.symtab = self.dynsym = 0
        first = rng.random() < .5
        if which in ("dynsym", "both", "empty") and first:
            self.dynsym = self.table(DYNSYM, self.symbols[:rng.randint(1, 30)])
        if which in ("symtab", "both"):
            self.symtab = self.table(SYMTAB, self.symbols)
        if which == "empty":
            self.symtab = self.table(SYMTAB, [])
            if self.chance(.5):
                self.sections[self.symtab].data = b""
                self.sections[self.symtab].size = 0
        if which in ("dynsym", "both", "empty") and not first:
            self.dynsym = self.table(DYNSYM, self.symbols)
        if self.dynsym and self.chance(.5):
            self.versions(self.dynsym, len(self.sections[self.dynsym].data) // 24 - 1)
        if which == "symtab" and self.chance(.1):  # the first one counts
            self.table(SYMTAB, [self.symbol(i) for i in range(3)])

    # The file.

    def names(self):
        text, at = b"\0", {"": 0}
        for section in self.sections:
            if section.name not in at:
                at[section.name] = len(text)
                text += section.name.encode() + b"\0"
        at[".shstrtab"] = len(text)
        self.sections.append(Section(".shstrtab", STRTAB, data=text + b".shstrtab\0"))
        return at

    def program_headers(self, where):
        """where: of the bytes of segments in the file"""
        rng, out = self.rng, []
        for flags, addr, filesz, memsz in self.loads:
            out.append(struct.pack("<IIQQQQQQ", LOAD, flags, where, addr, rng.choice(
                (addr, 0, TOP - 1)), filesz, memsz, rng.choice((0, 1, 3, 0x1000, 77, TOP - 1))))
        if self.chance(.5):
            out.insert(0, struct.pack("<IIQQQQQQ", GNU_STACK, 6, 0, 0, 0, 0, 0, 16))
        for section in self.sections:
            if section.flags & TLS and self.chance(.8):
                out.append(struct.pack("<IIQQQQQQ", PT_TLS, 4, where, section.addr, 0, 0,
                                       section.size, 1))
                break
        return out

    def build(self):
        rng = self.rng
        self.segments()
        self.memory_sections()
        self.others()
        many = self.chance(.004) and self.low < TOP - 2 * SPREAD
        if many and self.wrong is None:
            self.sections += [Section(".many", PROGBITS, data=b"")
                              for _ in range(MANY + rng.randint(-3, 40))]
            if self.chance(.7):
                self.sections.append(Section(".text", PROGBITS, CODE, self.low + SPREAD + 8,
                                             8))
                self.loads.append([5, self.low + SPREAD + 8, 0, 8])
        self.tables()
        names = self.names()
        if self.wrong:
            self.refusal = self.wrong(self) or self.refusal
        body = bytearray(64)
        headers = self.program_headers(64)
        if self.chance(.003) and self.wrong is None:
            headers += [struct.pack("<IIQQQQQQ", 0, 0, 0, 0, 0, 0, 0, 0)] * 0xffff
        phoff, table = 0, b"".join(headers)
        last = self.chance(.2)
        if not last:
            phoff, body = 64, body + table
        body += bytes(max(0, max((x[2] for x in self.loads), default=0) + 64 - len(body)))
        order = [s for s in self.sections if s.data is not None]
        if self.chance(.3):
            rng.shuffle(order)
        for section in order:
            body += bytes(-len(body) % (section.align if 0 < section.align < 64 else 1))
            section.offset = len(body)
            body += section.data
        body += bytes(-len(body) % 8)
        if last:
            phoff, body = len(body), body + table
        shoff = len(body)
        count, strings = len(self.sections), len(self.sections) - 1
        zero = self.sections[0]
        few = [len(headers), count, strings]
        if len(headers) >= XINDEX or self.chance(.15):
            few[0], zero.info = XINDEX, len(headers)
        if count >= MANY or self.chance(.15):
            few[1], zero.size = 0, count
        if strings >= MANY or self.chance(.15):
            few[2], zero.link = XINDEX, strings
        for section in self.sections:
            body += struct.pack("<IIQQQQIIQQ", names[section.name], section.kind,
                                section.flags, section.addr, section.offset, section.size,
                                section.link, section.info, section.align, section.entsize)
        struct.pack_into("<4sBBBBxxxxxxxxHHIQQQIHHHHHH", body, 0, b"\x7fELF", 2, 1, 1,
                         rng.choice((0, 3, 9, 255)), self.file_type, self.machine, 1,
                         rng.choice((self.low, 0)), phoff, shoff, 0, 64, 56, few[0], 64,
                         few[1], few[2])
        self.body, self.phoff, self.shoff = body, phoff, shoff
        if callable(self.refusal):
            self.refusal = self.refusal(self)
        return bytes(self.body), self.refusal


def make(seed):
    return Maker(seed).build()
