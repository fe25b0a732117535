# SPDX-License-Identifier: GPL-2.0-only
"""What can be wrong in an image of shapes.py, one thing at a time.

Each of WRONG is called before the file is written. It returns what hlguest says of it, or
what is to be done to the bytes, which then returns that; or None if the image has nothing
to be made wrong.
"""
import struct
import zlib

TOP = 2 ** 64
SPREAD = 0x200  # addresses that most of an image lies in
SYMTAB_SHNDX, COMPRESSED, LOAD = 18, 0x800, 1


def put(layout, at, said, *values):
    def wrong(_):
        def after(maker):
            struct.pack_into(layout, maker.body, at, *values)
            return said
        return after
    return wrong


def overlap(maker):
    flags, addr, _, size = maker.rng.choice([x for x in maker.loads if x[3]])
    maker.loads.append([flags, addr + maker.rng.randint(0, size - 1), 0, 2])
    return "segments that overlap"


def larger(maker):
    maker.loads[0][2] = maker.loads[0][3] + 1
    return "larger in the file than in memory"


def past_memory(maker):
    maker.loads.append([5, TOP - 0x100, 0, 0x100 + maker.rng.randint(0, 9)])
    return "passes the end of memory"


def past_file(maker):
    def after(maker):
        at = maker.phoff
        while struct.unpack_from("<I", maker.body, at)[0] != LOAD:
            at += 56
        struct.pack_into("<QQQQQ", maker.body, at + 8, len(maker.body) - 1, maker.low, 0, 2,
                         SPREAD)
        return ""  # this one may also overlap now
    return after


def none_loaded(maker):
    maker.loads.clear()
    return "has nothing to load"


def headers_past_file(maker):
    def after(maker):
        which = maker.rng.choice(((32, "program headers"), (40, "section headers")))
        struct.pack_into("<Q", maker.body, which[0], len(maker.body) - 20)
        return which[1] if which[0] == 32 else "headers"
    return after


def no_headers(maker):
    def after(maker):
        struct.pack_into("<Q", maker.body, 40, 0)
        struct.pack_into("<HH", maker.body, 60, 0, 0)
        return ""  # where their number stands in section 0 there is none to look in
    return after


def table_of(maker):
    return maker.sections[maker.symtab if maker.symtab and
                          maker.sections[maker.symtab].size > 24 else
                          maker.dynsym or maker.symtab]


def entries(maker):
    table = table_of(maker)
    if table.size <= 24:
        return None
    table.entsize = maker.rng.choice((0, 1, 16, 25, 48))
    return "malformed symbol table"


def strings(maker):
    table = table_of(maker)
    if table.size <= 24:
        return None
    table.link = maker.rng.choice((0, len(maker.sections) + 5, TOP // 2 ** 32 - 1,
                                   maker.sections.index(table)))
    return "malformed symbol table"


def pressed(maker):
    table = table_of(maker)
    if table.size <= 24:
        return None
    if maker.chance(.5):
        table = maker.sections[table.link]
    table.data = struct.pack("<IIQQ", 1, 0, len(table.data), 1) + zlib.compress(table.data)
    table.size, table.flags = len(table.data), table.flags | COMPRESSED
    return "compressed"


def short_indices(maker):
    at = maker.sections.index(table_of(maker))
    wide = [s for s in maker.sections if s.kind == SYMTAB_SHNDX and s.link == at]
    if not wide or wide[0].size <= 4:
        return None
    wide[0].size -= maker.rng.randint(1, wide[0].size)
    return "short section index table"


def symbols_past_file(maker):
    table = table_of(maker)
    if table.size <= 24:
        return None
    if maker.chance(.5):
        table = maker.sections[table.link]
    table.size = maker.rng.choice((1 << 40, TOP - 24, TOP // 24 * 24))
    return "ends past the file"


WRONG = (
    put("B", 4, "is for ", 1), put("B", 4, "unknown ELF class", 3),
    put("B", 5, "is for ", 2), put("B", 5, "unknown byte order", 0),
    put("B", 6, "", 2), put("<H", 18, "is for machine 3,", 3),
    put("<H", 18, "is for riscv64", 243), put("<H", 16, "object file", 1),
    put("<H", 16, "core dump", 4), put("<H", 16, "neither an executable", 0xfe00),
    put("<H", 54, "headers of an unknown size", 32), put("<H", 54, "headers of an unknown size", 64),
    put("<H", 58, "headers of an unknown size", 40), put("<H", 58, "headers of an unknown size", 128),
    put("<4s", 0, "not an ELF", b"\x7fELG"),
    overlap, larger, past_memory, past_file, none_loaded, headers_past_file, no_headers,
    entries, strings, pressed, short_indices, symbols_past_file,
)
