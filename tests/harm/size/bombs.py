#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Small files that say much: time and memory are in proportion to what is there, not to
what is said of it.

    bombs.py --build DIR [CASE ...]

Each file has a few MB, and would take hours or many GB if it were believed. It is read, or
refused in one line, with at most MEMORY and CPU_LIMIT seconds of a processor. Without CASE each
third one; all of them with HLG_ALL in the environment.
"""
import gzip
import os
import re
import resource
import string
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import forged as f
import large
import splice
from tap import DATA, Skip, Tap, parser, some

MEMORY = 400  # MiB
CPU_LIMIT = 8  # seconds; nothing here should take two
LONG = 1 << 20  # bytes of a name
# Root is not led to files beside an ELF.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WITHOUT = ("not in this build", "built without", "without ")


def shared_section_names(put, verb):
    """Sections called by one long name."""
    elf = f.Elf()
    name = elf.name(b"A" * LONG)
    for i in range(20000):
        elf.section(name + i % 1000, 1)
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, 16)], b"\0main\0").build())
    yield verb("report", guest, put("a.data", f.recording(f.sample()))), 0, ""
    yield verb("lookup", guest, "0x1000"), 0, ""
    # Of data, each of which has a sample.
    n, elf = 5000, f.Elf()
    name = elf.name(b"A" * 300000)
    for i in range(n):
        elf.section(name, 1, 2, 0x100000 + 16 * i, elf.text, 16)
    elf.segments.append((1, 4, elf.text, 0x100000, 0x100000, 0x1000, 16 * n, 1))
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, 16)], b"\0main\0").build())
    samples = [f.TEXT] * n + [0x100000 + 16 * i for i in range(n)]
    data = put("a.data", f.recording(b"".join(map(f.sample, samples))))
    yield verb("report", "-q", guest, data), 3, ""  # half of them fit nothing


def shared_names(put, verb):
    """Functions called by one long name, each by a little less of it."""
    n = 20000
    elf = f.Elf(2 * n).symbols([(1 + i, f.TEXT + 2 * i, 2) for i in range(n)],
                               b"\0" + b"A" * LONG + b"\0")
    guest = put("guest.elf", elf.build())
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + 2 * i) for i in range(n))))
    yield verb("report", "--format=json", guest, data), 1, "share too long names"
    yield verb("kallsyms", guest), 1, "share too long names"


def shared_notes(put, verb):
    """Sections of notes, all in one place."""
    elf = f.Elf()
    notes = struct.pack("<III4s8s", 4, 8, 77, b"GNU", b"12345678") * 40000
    at = elf.put(notes)
    for i in range(20000):
        elf.section(0, 7, 2, 0, at, len(notes))
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, 16)], b"\0main\0").build())
    yield verb("lookup", guest, "0x1000"), 1, "sections of notes that overlap"


def shared_ids(put, verb):
    """Ids of 30,000 events, all in one place."""
    n, ids = 30000, bytes(8 * 400000)
    attrs = [f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.IDENTIFIER)] * n
    data = put("a.data", f.recording(f.sample(), attrs, [ids] + [(104, len(ids))] * (n - 1)))
    guest = put("guest.elf", f.guest())
    yield verb("report", guest, data), 1, "ids of its events overlap"
    yield verb("inject", guest, data, "-o", "o.data"), 1, "ids of its events overlap"


def shared_functions(put, verb):
    """Functions of a saved profile called by one long name."""
    saved = put("a.pb.gz", f.profile([b"A" * LONG], [5] * 30000))
    guest = put("x.elf", f.guest())
    for words in (("report", guest, saved), ("merge", "-o", "o.pb.gz", saved, saved),
                  ("diff", saved, saved)):
        yield verb(*words), 1, "its names are too long in all"


def repeated_messages(put, verb):
    """A saved profile of 1 MB, 60 MB of which are one message over and over."""
    saved = gzip.decompress(f.profile([b"f"], [5]))
    random = f.message(99, os.urandom(800000))
    for i, told in (6, "would take more than"), (4, "would take more than"), (13, ""):
        one = f.message(i, b"")
        data = gzip.compress(saved + one * (60000000 // len(one)) + random, 6, mtime=0)
        yield verb("merge", "-o", "o.pb.gz", put(f"{i}.pb.gz", data)), 1, told


def many_events(put, verb):
    """Events of a saved profile, one of which has a sample."""
    saved = put("a.pb.gz", f.profile([b"f"], [5], [b"e%d" % i for i in range(60000)]))
    yield verb("merge", "-o", "o.pb.gz", saved, saved), 0, ""


def many_images(put, verb):
    """Images of a saved profile, one of which has all samples."""
    saved = put("a.pb.gz", f.mappings(60000))
    yield verb("diff", "-q", saved, saved), 0, ""
    builds = put("builds.pb.gz", f.bases(55000, f.TEXT, builds=True))
    yield verb("diff", "-q", builds, builds), 0, ""


def many_bases(put, verb):
    """Bases of an image in a saved profile; and samples outside of it, as many as bases."""
    n = 60000
    guest = put("guest.elf", f.guest(3)) + "@auto"
    apart = put("apart.pb.gz", f.bases(n, f.TEXT))
    yield verb("report", "-q", guest, apart), 3, ""  # they fit nothing
    yield verb("diff", "-q", apart, apart), 0, ""
    called = put("called.pb.gz", f.bases(n, f.TEXT, callers=20))
    yield verb("report", "-q", "--force", "--children", guest[:-5] + "@0x1000", called), 0, ""
    # None is free: behind many addresses below all bases there is one in each.
    outside = [*range(n), *range((1 << 20) + 1, (1 << 20) + n * f.TEXT // 2 + f.TEXT, f.TEXT // 2)]
    folded = put("folded.pb.gz", f.bases(n, f.TEXT // 2, outside))
    yield verb("report", "-q", guest, folded), 1, "lies at bases that overlap"


def many_states(put, verb):
    """Sums of states, of 200,000 threads each."""
    data = put("a.data", f.recording(b"".join(f.sample(tid=i + 1) for i in range(200000))))
    yield verb("report", "--stacks=counters", "--by=tid", data), 0, ""


def wide_windows(put, verb):
    """Windows of one counter each, but for the first, of 4,000."""
    def group(time, n):
        fixed = struct.pack("<QIIQQQ", f.TEXT, 1, 1, time, 1, n)
        return f.record(f.SAMPLE, f.GUEST, fixed + b"".join(
            struct.pack("<2Q", time + 1, i + 1) for i in range(n)))

    ids = struct.pack("<4000Q", *range(1, 4001))
    attr = f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.READ, read_format=12)  # group, ids
    records = group(1, 4000) + b"".join(group(2 + i, 1) for i in range(60000))
    data = put("a.data", f.recording(records, [attr], [ids]))
    yield verb("windows", data, put("guest.elf", f.guest())), 1, "a group of 4000 counters"


def many_functions(put, verb):
    """Windows of one counter, each of which ends in a function of its own."""
    n = 100000
    attr = f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.READ, read_format=12)  # group, ids
    records = b"".join(f.record(f.SAMPLE, f.GUEST, struct.pack(
        "<QIIQQQQQ", f.TEXT + 16 * i, 1, 1, i + 1, 1, 1, i + 1, 1)) for i in range(n))
    data = put("a.data", f.recording(records, [attr], [struct.pack("<Q", 1)]))
    put("perf-1.map", b"".join(b"%x 10 f%d\n" % (f.TEXT + 16 * i, i) for i in range(n)))
    for words in "--format=csv", "--format=text", "--summary":
        yield verb("windows", "-q", words, "map:perf-1.map", data), 0, ""


def many_attributes(put, verb):
    """Events of a pipe's recording, one record each."""
    attr = f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.IDENTIFIER)
    data = put("a.data", struct.pack("<2Q", 0x32454C4946524550, 16) + b"".join(
        f.record(64, 0, attr + struct.pack("<Q", i + 1)) for i in range(65536)))
    yield verb("report", put("guest.elf", f.guest()), data), 1, "no samples"


def many_mappings(put, verb):
    """Segments of one ELF, in each of 20,000 processes."""
    elf = f.Elf().symbols([(1, f.TEXT, 16)], b"\0main\0")
    for i in range(1, 30000):
        elf.segment(f.TEXT + 0x1000 * i, 0x1000)
    data = put("a.data", f.recording(b"".join(f.sample(pid=i + 1, tid=i + 1)
                                              for i in range(20000))))
    yield (verb("inject", "-q", put("guest.elf", elf.build()), data, "-o", "o.data"), 1,
           "would map more than 1048576 pieces")


def many_rounds(put, verb):
    """Rounds of few records each, of 60,000 threads that run guests."""
    n, end = 60000, f.record(f.FINISHED_ROUND, 0, b"")
    records = b"".join(f.crossing(False, 1 + i, i + 1) for i in range(n)) + 2 * end
    records += b"".join(f.crossing(True, 2 * n + i, i + 1) + end for i in range(n))
    data = put("a.data", f.crossings(records))
    yield verb("exits", "-q", put("guest.elf", f.guest()), data), 0, ""


def one_place(put, verb):
    """Addresses and ids that a known hash would put in one place."""
    n, word = 200000, 1 << 64
    inverse = pow(0x9E3779B97F4A7C15, -1, word)
    keys = [i * inverse % word for i in range(1, n + 1)]
    guest = put("guest.elf", f.guest())
    data = put("a.data", f.recording(b"".join(map(f.sample, keys))))
    yield verb("report", guest, data), 3, ""  # they fit nothing
    attr = f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.IDENTIFIER)
    data = put("b.data", f.recording(b"", [attr], [struct.pack(f"<{n}Q", *keys)]))
    yield verb("report", guest, data), 1, "no samples"


def units(n, ranges, elf):
    """A guest with n units of debug information that share their ranges, (offset, size) each."""
    # One kind of entry: DW_TAG_compile_unit, no children, DW_AT_ranges as DW_FORM_sec_offset.
    unit = struct.pack("<IHIBBI", 12, 4, 0, 8, 1, 0)
    ranges = b"".join(struct.pack("<2Q", f.TEXT + at, f.TEXT + at + size) for at, size in ranges)
    for name, data in ((b".debug_abbrev", b"\1\x11\0\x55\x17\0\0\0"),
                       (b".debug_info", unit * n), (b".debug_ranges", ranges + bytes(16))):
        elf.section(elf.name(name), 1, at=elf.put(data), size=len(data))
    return elf


def shared_ranges(put, verb):
    """Units of debug information that share their ranges."""
    elf = units(30000, [(i % 4000, 1) for i in range(30000)], f.Elf())
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, 16)], b"\0main\0").build())
    data = put("a.data", f.recording(f.sample()))
    yield verb("annotate", "-q", guest, data), 0, "left out: its units have over 1048576 ranges"


def ranges_below(put, verb):
    """Code that one unit's range covers, and behind the start of which many others begin."""
    size = 1 << 16
    elf = units(60, [(0, size), *((1 + i % 100, 1) for i in range(16000))], f.Elf(size))
    elf.data[elf.text:elf.text + size] = b"\x90" * size
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, size)], b"\0main\0").build())
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + i) for i in range(0, size, 8))))
    yield verb("annotate", "-q", guest, data), 0, ""


def empty_ranges(put, verb):
    """Units of debug information that share a list of ranges without an address."""
    n = 60000
    guest = put("guest.elf", units(n, [(0, 0)] * n, f.Elf()).symbols(
        [(1, f.TEXT, 16)], b"\0main\0").build())
    yield verb("lookup", guest, "0x1000"), 0, "left out: its units have over 1048576 ranges"


def bases_alone(put, verb):
    """Units of debug information that share a list of bases, without any range."""
    n, size, told = 22000, 700000, "left out: its lists of ranges set too many bases"
    old, narrow = (struct.pack("<IHIBBI", 12, 4, 0, width, 1, 0) * n for width in (8, 4))
    # DWARF 5, with DW_AT_addr_base, too. Lists begin behind the head of their section.
    new = struct.pack("<IHBBIBII", 17, 5, 1, 8, 0, 1, 8, 12) * n
    kinds = b"\1\x11\0\x55\x17\0\0\0", b"\1\x11\0\x73\x17\x55\x17\0\0\0"
    addr = struct.pack("<IHBBQ", 12, 5, 8, 0, f.TEXT)
    for kind, info, name, lists in (
            (kinds[0], old, b".debug_ranges", b"\xff" * 8 + bytes(8)),
            (kinds[0], narrow, b".debug_ranges", b"\xff" * 4 + bytes(4)),
            (kinds[1], new, b".debug_rnglists", b"\5" + bytes(8)),  # DW_RLE_base_address
            (kinds[1], new, b".debug_rnglists", b"\1\0")):  # DW_RLE_base_addressx
        lists = lists * (size // len(lists)) + bytes(16)
        if info is new:
            lists = struct.pack("<IHBBI", 8 + len(lists), 5, 8, 0, 0) + lists
        guest = put("guest.elf", debug(f.Elf(), [
            (b".debug_abbrev", kind, 0), (b".debug_info", info, 0), (name, lists, 0),
            (b".debug_addr", addr, 0)]))
        yield verb("lookup", guest, "0x1000"), 0, told


def decoys(put, verb):
    """Sections that are called almost as those that are read, which are bombs."""
    n, size, bases = 22000, 700000, "left out: its lists of ranges set too many bases"
    head = struct.pack("<IHBBI", 8 + size, 5, 8, 0, 0)
    addr = struct.pack("<IHBBQ", 12, 5, 8, 0, f.TEXT)
    sections = [(b".debug_abbrev", b"\1\x11\0\x73\x17\x55\x17\0\0\0", 0),
                (b".debug_info", struct.pack("<IHBBIBII", 17, 5, 1, 8, 0, 1, 8, 12) * n, 0),
                (b".debug_rnglists", head + b"\1\0" * (size // 2), 0), (b".debug_addr", addr, 0)]
    for name, kind, told in (
            (b".debug_rnglists.dwo", 1, bases), (b".xdebug_rnglists", 1, bases),
            (b".gnu.debuglto_.debug_rnglists", 1, bases), (b".debug_rnglists", 8, bases),
            (b".debug_rnglists", 1, "left out: two of its sections have one name"),
            (b".zdebug_rnglists", 1, "left out: two of its sections have one name")):
        elf = f.Elf()
        elf.section(elf.name(name), kind, at=elf.put(bytes(20)), size=20)
        yield verb("lookup", put("guest.elf", debug(elf, sections)), "0x1000"), 0, told


def deep_entries(put, verb):
    """Entries of one byte, of which each is nested 250 deep."""
    # DW_TAG_compile_unit: DW_AT_low_pc, DW_AT_high_pc. DW_TAG_lexical_block, with others and
    # without.
    kinds, deep = b"\1\x11\1\x11\1\x12\7\0\0\2\x0b\1\0\0\3\x0b\0\0\0\0", 250
    entries = b"\1" + struct.pack("<QQ", f.TEXT, 0x1000) + b"\2" * deep + b"\3" * 5000000 + \
        bytes(deep + 1)
    info = struct.pack("<IHIB", 7 + len(entries), 4, 0, 8) + entries
    guest = put("guest.elf", debug(f.Elf(), [(b".debug_abbrev", kinds, 0),
                                             (b".debug_info", info, 0)]))
    data = put("a.data", stacks([(f.TEXT + 8, [f.TEXT + 16])]))
    yield verb("report", "-q", "--force", "--children", guest, data), 0, "or are nested too deep"


def shared_texts(put, verb):
    """Inlined functions called by one long name, each by a little less of it."""
    n = 500
    # DW_TAG_inlined_subroutine: DW_AT_low_pc, DW_AT_high_pc, DW_AT_name as DW_FORM_strp.
    kinds = b"\1\x11\1\x11\1\x12\7\0\0\2\x1d\0\x11\1\x12\x0b\x03\x0e\0\0\0"
    entries = b"\1" + struct.pack("<QQ", f.TEXT, 16 * n) + b"".join(
        b"\2" + struct.pack("<QBI", f.TEXT + 16 * i, 16, i + 1) for i in range(n)) + b"\0"
    info = struct.pack("<IHIB", 7 + len(entries), 4, 0, 8) + entries
    elf = f.Elf(16 * n)
    elf.data[elf.text:elf.text + 16 * n] = (b"\x90" * 11 + b"\xe8\0\0\0\0") * n
    guest = put("guest.elf", debug(elf, [
        (b".debug_abbrev", kinds, 0), (b".debug_info", info, 0),
        (b".debug_str", b"\0" + b"A" * 700000 + b"\0", 0)]))
    data = put("a.data", stacks((f.TEXT + 16 * i, [f.TEXT + 16 * (i * k % n) for k in (3, 7)])
                                for i in range(n)))
    for words in ("--children", "--format=json"), ("--format=html", "-o", "out"):
        yield verb("report", "-q", "--force", *words, guest, data), 0, "some names and paths"


def long_paths(put, verb):
    """Files in a folder with a long name; units that were compiled in one."""
    abbrev = b"\1\x11\0\x10\x17\x11\1\x12\7\x1b\x0e\0\0\0"  # DW_AT_comp_dir at the end

    def table(folders, files, more=b""):
        head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + \
            b"".join(folder + b"\0" for folder in folders) + b"\0" + files + b"\0"
        line = struct.pack("<HI", 4, len(head)) + head + b"\0\x09\2" + \
            struct.pack("<Q", f.TEXT) + more + b"\x12\2\x10\0\1\1"
        return struct.pack("<I", len(line)) + line

    def guest(lines, n=1, made=b"/"):
        info = b"".join(struct.pack("<IHIBBIQQI", 32, 4, 0, 8, 1, i * len(lines), f.TEXT + i, 1, 0)
                        for i in range(n))
        return put("guest.elf", debug(f.Elf(), [
            (b".debug_abbrev", abbrev, 0), (b".debug_info", info, 0),
            (b".debug_line", lines * n, 0), (b".debug_str", made + b"\0", 0)]))

    far, told = b"/" + b"A" * 300000, "left out: its lines have too long paths"
    folder, repeats = b"/" + b"A" * 4000, "left out: its lines repeat too long paths"
    one = b"a\0\1\0\0"
    yield verb("lookup", guest(table([far], one * 100000)), "0x1000"), 0, told
    yield verb("lookup", guest(table([folder], one * 100000)), "0x1000"), 0, repeats
    own = (b"\0\6\3" + one) * 100000
    yield verb("lookup", guest(table([folder], one, own)), "0x1000"), 0, repeats
    yield verb("lookup", guest(table([], b"a\0\0\0\0"), 3000, far), "0x1000"), 0, told
    # DWARF 5: folders and files as DW_FORM_line_strp.
    lists = b"\1\1\x1f\1" + bytes(4) + b"\1\1\x1f" + f.varint(100000) + \
        struct.pack("<I", 4000) * 100000
    head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + lists
    line = struct.pack("<HBBI", 5, 8, 0, len(head)) + head
    unit = struct.pack("<HBBIBIQQI", 5, 1, 8, 0, 1, 0, f.TEXT, 1, 0)
    sections = [(b".debug_abbrev", abbrev, 0),
                (b".debug_info", struct.pack("<I", len(unit)) + unit, 0),
                (b".debug_line", struct.pack("<I", len(line)) + line, 0), (b".debug_str", b"/\0", 0),
                (b".debug_line_str", folder + b"\0", 0)]
    yield verb("lookup", put("guest.elf", debug(f.Elf(), sections)), "0x1000"), 0, repeats
    # As others have it.
    yield verb("lookup", guest(table([b"/home/a/b"], one * 1000)), "0x1000"), 0, ""


def scopes(entries, n=30000):
    """A guest whose debug information has these entries in one unit: \2 begins an inlined
    function with others inside, \0 ends it, \3 is one without. Each has n ranges, the same."""
    elf = f.Elf(1 << 16)
    elf.data[elf.text:elf.text + (1 << 16)] = (b"\xe8" + bytes(4)) * 13107 + b"\x90"
    # Three kinds of entries with DW_AT_ranges as DW_FORM_sec_offset: DW_TAG_compile_unit,
    # DW_TAG_inlined_subroutine twice.
    kinds = b"\1\x11\1\x55\x17\0\0\2\x1d\1\x55\x17\0\0\3\x1d\0\x55\x17\0\0\0"
    entries = b"\1" + bytes(4) + b"".join(
        bytes([kind]) + bytes(4 if kind else 0) for kind in entries + b"\0")
    unit = struct.pack("<IHIB", 7 + len(entries), 4, 0, 8) + entries
    # From the last one on: each is put in front of those before.
    ranges = b"".join(struct.pack("<2Q", f.TEXT + 2 * i, f.TEXT + 2 * i + 1)
                      for i in range(n, 0, -1))
    for name, data in ((b".debug_abbrev", kinds), (b".debug_info", unit),
                       (b".debug_ranges", ranges + bytes(16))):
        elf.section(elf.name(name), 1, at=elf.put(data), size=len(data))
    return elf.symbols([(1, f.TEXT, 1 << 16)], b"\0main\0").build()


def attributes_without_bytes(put, verb):
    """Attributes that take no bytes, 250,000 of each entry; and one long table of all units."""
    # DW_TAG_compile_unit, with children, and DW_TAG_subprogram: DW_AT_external as
    # DW_FORM_flag_present, DW_AT_low_pc, DW_AT_high_pc.
    def kinds(n):
        return b"\1\x11\1\0\0\2\x2e\0" + b"\x3f\x19" * n + b"\x11\1\x12\7\0\0\0"

    unit = struct.pack("<HIB", 4, 0, 8) + b"\1" + b"".join(
        b"\2" + struct.pack("<QQ", f.TEXT + i, 1) for i in range(20000)) + b"\0"
    unit = struct.pack("<I", len(unit)) + unit
    data = put("a.data", stacks((f.TEXT + 10 * i, [f.TEXT + i]) for i in range(190)))
    for n, told in (60, ""), (250000, "left out: an entry has too many attributes"):
        guest = put("guest.elf", debug(f.Elf(), [(b".debug_abbrev", kinds(n), 0),
                                                 (b".debug_info", unit, 0)]))
        yield verb("report", "-q", "--force", "--children", guest, data), 0, told
    table = b"".join(f.varint(i + 1) + b"\x11\0\x11\1\x12\7\0\0" for i in range(40000)) + b"\0"
    info = b"".join(struct.pack("<IHIB", 26, 4, 0, 8) + f.varint(39000) +
                    struct.pack("<QQ", f.TEXT + i, 1) for i in range(15000))
    guest = put("guest.elf", debug(f.Elf(), [(b".debug_abbrev", table, 0),
                                             (b".debug_info", info, 0)]))
    yield verb("lookup", guest, "0x1000"), 0, "left out: its units share too long tables"


def stacks(samples):
    """A recording of (ip, return addresses) each, or also of the thread."""
    records = b"".join(f.record(f.SAMPLE, f.GUEST, struct.pack(
        f"<QIIQ{len(backs) + 4}Q", ip, 1, *(tid or [1]), 1000, 1, len(backs) + 2, 2 ** 64 - 2560, ip,
        *backs)) for ip, backs, *tid in samples)
    return f.recording(records, [f.attr(f.IP | f.TID | f.TIME | f.PERIOD | f.CALLCHAIN)])


def inlined_everywhere(put, verb):
    """Inlined functions that share their ranges, side by side or nested; and too many frames."""
    backs = [f.TEXT + 10 * i + 5 for i in range(190)]  # behind calls, at even addresses
    data = put("a.data", stacks((f.TEXT + 10 * i, backs[i:]) for i in range(190)))
    words = ("report", "-q", "--force", "--children")
    told = "inlined functions left out: its functions have over 2097152 ranges"
    yield verb(*words, put("guest.elf", scopes(b"\3" * 100000)), data), 0, told
    deep = put("deep.elf", scopes(b"\2" * 100000 + b"\0" * 100000, 1000))
    yield verb(*words, deep, data), 0, ""
    data = put("b.data", stacks((f.TEXT + 10 * i, (backs * 42)[i:]) for i in range(80)))
    yield verb(*words, deep, data), 0, ""


def nested_functions(put, verb):
    """Functions that all end where the last does, or begin where the first does."""
    size = 1 << 18
    data = put("a.data", stacks([(f.TEXT + 4, [f.TEXT + 16 * i + 8 for i in range(4000)])]))
    for n, status, told in (5, 0, ""), (4000, 1, "lie within each other too often"):
        for symbols in ([(1, f.TEXT + 16 * i, size - 16 * i) for i in range(n)],
                        [(1, f.TEXT, size - 16 * i) for i in range(n)]):
            elf = f.Elf(size).symbols(symbols, b"\0f\0")
            calls = b"\x90\x90\x90\xe8\0\0\0\0".ljust(16, b"\x90")
            elf.data[elf.text:elf.text + size] = calls * (size // 16)
            guest = put("guest.elf", elf.build())
            for words in (("report", "--children"), ("report", "--skid=3"),
                          ("report", "--format=json"), ("annotate", "--top=0")):
                yield verb(*words, "-q", "--force", guest, data), status, told


def long_name(put, verb):
    """A function called by 400 KB, or by 20,000 names, in which 12,000 threads have a sample."""
    data = put("a.data", f.recording(b"".join(f.sample(tid=i + 1) for i in range(12000))))
    elf = f.Elf().symbols([(1, f.TEXT, 0x1000)], b"\0" + b"A" * 400000 + b"\0")
    guest = put("guest.elf", elf.build())
    for words in "--format=csv", "--format=json":
        yield verb("report", "-q", "--by=tid", words, guest, data), 1, "repeat too long names"
    yield verb("report", "-q", guest, data), 0, ""
    elf = f.Elf().symbols([(1, f.TEXT, 0x1000)] * 20000, b"\0f\0")
    guest = put("guest.elf", elf.build())
    few = put("few.data", f.recording(b"".join(map(f.sample, range(f.TEXT, f.TEXT + 20)))))
    for form in "csv", "json", "text":
        words = ("report", "-q", "--aliases", "--wide", f"--format={form}", "-o", "out", guest)
        yield verb(*words, "--by=tid", data), 0, ""
        yield verb(*words, few), 0, ""
        with open(os.path.join(os.path.dirname(data), "out"), encoding="utf-8") as out:
            text = out.read()
        if len(re.findall(r"\bf\b", text)) > 1010 or "..." not in text:
            yield verb("report", "-o", "out"), 0, "a thousand names, and that there are more"


def long_frames(put, verb):
    """Stacks of 100 frames of one function, which is called by 300 KB, or of two."""
    n, told = 150, "repeat too long names"
    for functions in 1, 2:
        elf = f.Elf(16 * n)
        elf.data[elf.text:elf.text + 16 * n] = (b"\x90" * 11 + b"\xe8\0\0\0\0") * n
        symbols = [(1 + i, f.TEXT + i * 8 * n, 16 * n // functions) for i in range(functions)]
        guest = put("guest.elf", elf.symbols(symbols, b"\0" + b"A" * 300000 + b"\0").build())
        data = put("a.data", stacks((f.TEXT + 16 * i, [f.TEXT + 16 * (i * k % n)
                                                       for k in range(1, 100)])
                                    for i in range(n)))
        for words in (("report", "--format=folded"), ("report", "--format=json"),
                      ("flame", "-o", "f.svg"), ("flame", "--format=folded", "-o", "f.txt")):
            yield verb(*words, "-q", "--force", *["--stacks=callgraph"] * (words[0] == "report"),
                       guest, data), 1, told
        yield verb("report", "-q", "--force", "--stacks=callgraph", "--format=speedscope", guest,
                   data), 0, ""


def long_readings(put, verb):
    """Rust's names of 170 bytes, each of which stands for megabytes."""
    base62 = string.digits + string.ascii_lowercase + string.ascii_uppercase

    def digits(n):
        return f"{base62[(n - 1) // 62] if n > 62 else ''}{base62[(n - 1) % 62]}_".encode()

    def name(i):
        # f<((u8, ...), B_, B_), ...>: each type is twice the one before.
        text, at = b"_RINvC1c7f%06dThhhhhhhhE" % i, 15
        for _ in range(11):
            here = len(text)
            text += b"TB" + digits(at) + b"B" + digits(at) + b"E"
            at = here - 2
        return text + b"E\0"

    n = 6000
    names, places = bytearray(b"\0"), []
    for i in range(n):
        places.append(len(names))
        names += name(i)
    guest = put("guest.elf", f.Elf(16 * n).symbols(
        [(at, f.TEXT + 16 * i, 16) for i, at in enumerate(places)], names).build())
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + 16 * i) for i in range(n))))
    yield verb("diff", "-q", "--force", guest, data, data), 0, ""


def large_function(put, verb):
    """A function of 600 KB, in which 12,000 threads have a sample each."""
    size = 600000
    elf = f.Elf(size).symbols([(1, f.TEXT, size)], b"\0f\0")
    elf.data[elf.text:elf.text + size] = b"\x90" * size
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + 40 * i, tid=i + 1)
                                              for i in range(12000))))
    yield verb("report", "-q", "--skid=2", "--by=tid", put("guest.elf", elf.build()), data), 0, ""


def many_threads(put, verb):
    """40,000 threads of a stack each, apart."""
    elf = f.Elf(16 * 64).symbols([(1, f.TEXT + 16 * i, 16) for i in range(64)], b"\0main\0").build()
    data = put("a.data", stacks((f.TEXT + 16 * (i % 64), [f.TEXT + 16 * (i * 7 % 64) + 8], i + 1)
                                for i in range(40000)))
    for words in ["--format=folded"], ["--children", "--format=csv"], ["--children", "--format=json"]:
        yield verb("report", "-q", "--force", "--by=tid", "--stacks=callgraph", "--top=0", *words,
                   put("guest.elf", elf), data), 0, ""


def many_callers(put, verb):
    """Functions that are all called, each by another."""
    n = 30000
    names = b"".join(b"\0f%08d" % i for i in range(n)) + b"\0"
    elf = f.Elf(16 * n).symbols([(1 + 10 * i, f.TEXT + 16 * i, 16) for i in range(n)], names)
    data = put("a.data", stacks((f.TEXT + 16 * i, [f.TEXT + 16 * (i * 7 % n) + 8])
                                for i in range(n)))
    yield verb("annotate", "-q", "--force", "--top=0", put("guest.elf", elf.build()), data), 0, ""


def popular_function(put, verb):
    """A function that 30,000 others call, sampled before it has a frame."""
    n = 30000
    names = b"".join(b"\0f%08d" % i for i in range(n)) + b"\0"
    elf = f.Elf(16 * n).symbols([(1 + 10 * i, f.TEXT + 16 * i, 16) for i in range(n)], names)
    # push %rbp; mov %rsp,%rbp; call the first; pop %rbp; ret
    elf.data[elf.text:elf.text + 16 * n] = b"".join(
        (b"\x55\x48\x89\xe5\xe8" + struct.pack("<i", -16 * i - 9) + b"\x5d\xc3").ljust(16, b"\x90")
        for i in range(n))
    data = put("a.data", stacks((f.TEXT, [f.TEXT + 16 * i + 9]) for i in range(n)))
    yield verb("report", "-q", "--force", "--children", put("guest.elf", elf.build()), data), 0, ""


def many_misfits(put, verb):
    """60,000 functions, of which each fifth has a sample in the middle of an instruction."""
    n = 60000
    names = b"".join(b"\0f%08d" % i for i in range(n)) + b"\0"
    elf = f.Elf(16 * n).symbols([(1 + 10 * i, f.TEXT + 16 * i, 16) for i in range(n)], names)
    elf.data[elf.text:elf.text + 16 * n] = (b"\x0f\x1f\x40\x00" * 2 + b"\x90" * 8) * n
    data = put("a.data", f.recording(b"".join(
        f.sample(f.TEXT + 16 * i + k) * 2 for i in range(n) for k in range(1 + (i % 5 == 0)))))
    yield verb("report", "--format=pprof", "-o", "out", put("guest.elf", elf.build()), data), 0, ""


def one_name(put, verb):
    """160,000 functions of one name, which is looked for."""
    elf = f.Elf(16 * 160000).symbols([(1, f.TEXT + 16 * i, 16) for i in range(160000)], b"\0main\0")
    yield verb("lookup", put("guest.elf", elf.build()), "main"), 0, ""


def shared_depth(put, verb):
    """Samples that stand on one deep stack of the host."""
    n, folder = 5000, os.path.dirname(put("guest.elf", b""))
    guest = large.elf(os.path.join(folder, "guest.elf"), large.functions(n))
    data = os.path.join(folder, "a.data")
    deep = large.Recording(data, (large.CLOCK, large.ENTRY), chains=True)
    deep.sample(0x400000, event=1, mode=large.HOST_USER,
                chain=(large.CONTEXT_USER, *range(0x400000, 0x400000 + 8000)))
    for i in range(n):
        deep.sample(large.BASE + large.PAGE + large.CODE * i)
    deep.close()
    yield verb("report", "-q", "--force", "--stacks=callgraph", "--format=speedscope",
               f"{guest}@{large.BASE:#x}", data), 1, "frames in all, which is too much"


def compressed(data):
    """As a section's contents: Elf64_Chdr, zlib."""
    return struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, 1)


def debug(elf, sections):
    """Adds [(name, contents, flags)] that no address has."""
    for name, data, flags in sections:
        elf.section(elf.name(name), 1, flags, at=elf.put(data), size=len(data))
    return elf.symbols([(1, f.TEXT, 16)], b"\0main\0").build()


def lines(size):
    """(.debug_abbrev, .debug_info, .debug_line) of a unit with a line for each of size bytes.
    Its other half is half.dwo."""
    # DW_TAG_compile_unit, no children: DW_AT_stmt_list, DW_AT_low_pc, DW_AT_high_pc,
    # DW_AT_GNU_dwo_id, DW_AT_GNU_dwo_name.
    abbrev = b"\1\x11\0\x10\x17\x11\1\x12\7\xb1\x42\7\xb0\x42\x08\0\0\0"
    unit = struct.pack("<HIBBIQQQ", 4, 0, 8, 1, 0, f.TEXT, 0x1000, 1) + b"half.dwo\0"
    head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + \
        b"\0\1\1\1\1\0\0\0\1\0\0\1" + b"\0a.c\0\0\0\0\0"
    # The opcode that adds nothing to the address and 0 to the line: a line all the same.
    program = b"\0\x09\2" + struct.pack("<Q", f.TEXT) + b"\x12" * size + b"\2\x10\0\1\1"
    line = struct.pack("<HI", 4, len(head)) + head + program
    return (abbrev, struct.pack("<I", len(unit)) + unit, struct.pack("<I", len(line)) + line)


def nested_lines(put, verb):
    """Tables of lines that begin in each other's list of files, one of each unit."""
    n = 3000
    # One folder, "d"; of each file its name, its folder, and a block, which for the one that
    # there is reaches to the program: DW_LNCT_path, _directory_index, _size as DW_FORM_string,
    # _data1, _block.
    files = b"\1\1\x08\1d\0" + b"\3\1\x08\2\x0b\4\x09\1a\0\0"
    head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + files
    size = 12 + len(head) + 4
    program = b"\0\x09\2" + struct.pack("<Q", f.TEXT) + b"\x12" * 400000 + b"\2\x10\0\1\1"
    tables = b"".join(
        struct.pack("<IHBBI", i * size + len(program) - 4, 5, 8, 0, i * size - 12) + head +
        bytes((i - 1) * size >> 7 * k & 127 | 128 * (k < 3) for k in range(4))
        for i in range(n, 0, -1))
    abbrev = b"\1\x11\0\x10\x17\x11\1\x12\7\0\0\0"
    info = b"".join(struct.pack("<IHIBBIQQ", 28, 4, 0, 8, 1, i * size, f.TEXT + 16 * i, 16)
                    for i in range(n))
    elf = f.Elf(16 * n)
    for name, data in ((b".debug_abbrev", abbrev), (b".debug_info", info),
                       (b".debug_line", tables + program)):
        elf.section(elf.name(name), 1, 0, at=elf.put(data), size=len(data))
    guest = put("guest.elf", elf.symbols([(1, f.TEXT, 16 * n)], b"\0main\0").build())
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + 16 * i) for i in range(n))))
    yield verb("annotate", "-q", guest, data), 0, "left out: its units share too many lines"


def inflated_records(put, verb):
    """Compressed records of a recording, which become 30,000 times as many."""
    # RFC 8878: a frame of a window of 128 KiB, and blocks of that many bytes 1, which are
    # records of an unknown type.
    block = struct.pack("<I", 1 << 24 | 131072 << 3 | 1 << 1)
    frame = b"\x28\xb5\x2f\xfd\0\x38" + block * 100000
    records = b"".join(f.record(81, 0, frame[at:at + 65520]) for at in range(0, len(frame), 65520))
    guest, data = put("guest.elf", f.guest()), put("a.data", f.recording(f.sample() + records))
    told = "grow to more than 1024 times their size"
    for words in ("report", "-q"), ("inject", "-o", "o.data"), ("windows", "-q"):
        yield verb(*words, guest, data), 1, told
    # As few as these are nobody's trouble.
    records = f.record(81, 0, frame[:6 + 4 * 400])
    yield verb("report", "-q", guest, put("b.data", f.recording(f.sample() + records))), 0, ""


def inflated_lines(put, verb):
    """A line table of 100 KB that inflates to 100 MB, and to 10 GB of lines."""
    abbrev, info, line = lines(100 << 20)
    told = "source lines left out: .debug_line would take 100 MiB"
    plain = [(b".debug_abbrev", abbrev, 0), (b".debug_info", info, 0)]
    bomb = debug(f.Elf(), plain + [(b".debug_line", compressed(line), 0x800)])
    guest = put("guest.elf", bomb)
    data = put("a.data", f.recording(b"".join(map(f.sample, range(f.TEXT, f.TEXT + 16)))))
    yield verb("lookup", guest, "0x1000"), 0, told
    yield verb("annotate", "-q", guest, data), 0, told
    yield verb("report", "-q", "--format=callgrind", "--out=" + data + ".out", guest, data), \
        0, told
    gnu = b"ZLIB" + struct.pack(">Q", len(line)) + zlib.compress(line, 9)
    gnu = put("gnu.elf", debug(f.Elf(), plain + [(b".zdebug_line", gnu, 0)]))
    yield verb("lookup", gnu, "0x1000"), 0, told.replace(".debug", ".zdebug")
    user = NOBODY * (os.getuid() == 0)
    for name, file in ("bomb.debug", bomb), ("bomb.gz", gzip.compress(bomb)):
        file = put(name, file)
        link = os.path.basename(file).encode()
        link += bytes(4 - len(link) % 4) + struct.pack("<I", zlib.crc32(open(file, "rb").read()))
        led = put("led.elf", debug(f.Elf(), [(b".gnu_debuglink", link, 0)]))
        yield user + verb("lookup", led, "0x1000"), 0, told if name == "bomb.debug" else ""


def inflated_sections(put, verb):
    """Other debug sections that say, or do, inflate far."""
    abbrev, info, line = lines(16)
    parts = [(b".debug_abbrev", abbrev), (b".debug_info", info), (b".debug_line", line)]
    for i in range(3):
        name, data = parts[i]
        sections = [(name, data, 0) for name, data in parts]
        sections[i] = (name, compressed(data + bytes(200 << 20)), 0x800)
        guest = put(f"{i}.elf", debug(f.Elf(), sections))
        yield verb("lookup", guest, "0x1000"), 0, f"left out: {name.decode()} would take 200 M"
    for name in (b".debug_str", b".debug_line_str", b".debug_ranges", b".debug_rnglists",
                 b".debug_addr", b".debug_loc", b".debug_str_offsets"):
        said = struct.pack("<IIQQ", 2, 0, 1 << 40, 1) + bytes(100)  # zstd
        guest = put(name.decode() + ".elf", debug(f.Elf(), [
            *[(name, data, 0) for name, data in parts], (name, said, 0x800)]))
        yield verb("lookup", guest, "0x1000"), 0, f"left out: {name.decode()} would take 1048576 M"
    put("half.dwo", debug(f.Elf(), [(b".debug_info.dwo", compressed(bytes(200 << 20)), 0x800)]))
    # Of two units, each of which has it; that is told once.
    info = b"".join(info.replace(struct.pack("<QQ", f.TEXT, 0x1000), struct.pack("<QQ", addr, 8))
                    for addr in (f.TEXT, f.TEXT + 8))
    parts[1] = (b".debug_info", info)
    guest = put("split.elf", debug(f.Elf(), [(name, data, 0) for name, data in parts]))
    yield NOBODY * (os.getuid() == 0) + verb("lookup", "--inlines", guest, "0x1000", "0x1008"), \
        0, "half.dwo: source lines left out: .debug_info.dwo would take 200 M"
    # What is large in truth, or small in any case, is read.
    random = [os.urandom(1 << 20), bytes(1 << 20)]
    guest = put("true.elf", debug(f.Elf(), [
        *[(name, data, 0) for name, data in parts],
        (b".debug_str", compressed(random[0] * 4), 0x800),
        (b".debug_line_str", compressed(random[1]), 0x800)]))
    yield verb("lookup", guest, "0x1000"), 0, ""


def far_memory(put, verb):
    """A segment of code of 4 KiB in the file, and in memory up to the last address."""
    elf = f.Elf().symbols([(1, f.TEXT, 0x1000)], b"\0main\0")
    elf.segments[0] = elf.segments[0][:6] + ((1 << 64) - 1 - f.TEXT, 1)
    guest = put("guest.elf", elf.build())
    data = put("a.data", f.recording(b"".join(f.sample((1 << 63) + 64 * i)
                                              for i in range(1000))))
    yield verb("report", "-q", guest + "@auto", data), 0, ""
    yield verb("base", "-q", guest, data), 1, "no base stands out"


def descending_maps(put, verb):
    """Mappings of one process, each below the one before."""
    n = 300000
    maps = b"".join(f.mmap2(1, f.TEXT + 0x2000 * (n - i), 0x1000) for i in range(n))
    data = put("a.data", f.recording(maps + f.sample()))
    yield verb("report", "--mode=all", put("guest.elf", f.guest()), data), 0, ""


def long_event_name(put, verb):
    """An event called by 400 KB, in which 9,000 threads have a sample each."""
    attr, name = f.attr(), b"e" * 400000 + bytes(8)
    described = struct.pack("<II", 1, len(attr)) + attr + struct.pack("<II", 0, len(name)) + name
    data = put("a.data", f.recording(b"".join(f.sample(tid=i + 1) for i in range(9000)), [attr],
                                     None, {12: described}))
    for words in "--format=csv", "--format=json":
        yield verb("report", "-q", "--by=event,tid", words, put("guest.elf", f.guest()), data), \
            0, ""


def long_mapping(put, verb):
    """A mapping called by 60 KB, in which 8,000 threads have a sample each."""
    records = f.mmap2(1, 0x100000, 0x1000, b"A" * 60000) + b"".join(
        f.sample(0x100000, tid=i + 1, mode=f.HOST) for i in range(8000))
    guest, data = put("guest.elf", f.guest()), put("a.data", f.recording(records + f.sample()))
    for form in "csv", "text":
        yield verb("report", "--mode=all", "--by=tid", f"--format={form}", guest, data), 0, ""


def forked_mappings(put, verb):
    """Mappings of one process, and many that it forks, each with one of its own."""
    def born(kind, i):
        return f.record(kind, 0, struct.pack("<4IQ2IQ", i, 1, i, 1, i, i, i, i))

    maps = b"".join(f.mmap2(1, f.TEXT + 0x2000 * i, 0x1000) for i in range(5000))
    guest, n = put("guest.elf", f.guest()), 3000
    alive = b"".join(born(7, i) + f.mmap2(i, 0, 16) for i in range(2, n))
    data = put("a.data", f.recording(maps + alive + f.sample()))
    yield verb("report", "--mode=all", guest, data), 0, ""
    dead = b"".join(born(7, i) + f.mmap2(i, 0, 16) + born(4, i) for i in range(2, n))
    data = put("b.data", f.recording(maps + dead + f.sample()))
    yield verb("report", "--stacks=callgraph", guest, data), 0, ""


def many_losses(put, verb):
    """Lost records, each before the last, far from it, or all for as long as the recording."""
    n, end = 300000, f.record(f.FINISHED_ROUND, 0, b"")
    guest = put("guest.elf", f.guest())
    pair = f.crossing(False, 1) + f.crossing(True, 2)
    backward = b"".join(f.lost(2 * n - i, cpu=1) for i in range(n))
    yield verb("exits", "-q", guest, put("a.data", f.crossings(pair + backward))), 0, ""
    # Records without fields, and a round between them, in which there is something to ask.
    rounds = b"".join(f.crossing(False, 2 * i + 1) + f.crossing(True, 2 * i + 2) +
                      f.crossing(False, 6 * n - 2 * i, short=True) + end for i in range(n // 2))
    yield verb("exits", "-q", guest, put("b.data", f.crossings(rounds))), 0, ""
    pairs = b"".join(f.crossing(False, 2 * i + 1) + f.crossing(True, 2 * i + 2)
                     for i in range(n // 3))
    forward = b"".join(f.lost(2 * n + i, cpu=1) for i in range(n))
    yield verb("exits", "-q", guest, put("c.data", f.crossings(pairs + forward))), 0, ""
    # Records without fields again, in turns in two places.
    turns = b"".join(f.crossing(False, 2 * i + (i % 2 << 40), short=True) for i in range(n // 2))
    yield verb("exits", "-q", guest, put("d.data", f.crossings(pair + turns))), 0, ""


def many_formats(put, verb):
    """Tracepoints, each of which has its format behind many others."""
    n = 60000
    attrs = [f.attr(f.TRACED, 2, 1 + i % 2) for i in range(n)]
    ids = [struct.pack("<Q", i + 1) for i in range(n)]
    records = f.crossing(False, 1) + f.crossing(True, 2)
    data = put("a.data", f.recording(records, attrs, ids, {1: f.formats(4 * n)}))
    guest = put("guest.elf", f.guest())
    yield verb("exits", "-q", guest, data), 0, ""
    # Of one system with a long name.
    data = put("b.data", f.recording(records, attrs[:2], ids[:2],
                                     {1: f.formats(n, b"A" * LONG)}))
    yield verb("exits", "-q", guest, data), 1, "has no kvm:kvm_exit"


def made_vcpus(put, verb):
    """vCPUs, all made before any of them runs: which of them is it?"""
    n = 100000
    calls = [(1, 10 + i, 0xae41, 0) for i in range(n)]
    calls += [(1, 10 + n + i, 0xae80, 0) for i in range(n)] + [(1, f.TEXT)]
    yield verb("report", "-q", put("guest.elf", f.guest()), put("a.data", f.called(calls))), 0, ""


def many_stretches(put, verb):
    """A sandbox that gets memory before each of its runs: its guest may lie elsewhere."""
    nm = subprocess.run(["nm", os.path.join(DATA, "demo.elf")], stdout=subprocess.PIPE, text=True)
    starts = [int(line.split()[0], 16) for line in nm.stdout.splitlines() if " T " in line]
    calls = [(1, 5, 0xae41, 0)]
    for i in range(80000):
        calls += (1, 5, 0x4020ae46, 0), (1, 6, 0xae80, 0)
        calls.append((1, 0x4000 + (i & 4096) + starts[i % len(starts)]))
    guest = os.path.join(DATA, "demo.elf") + "@auto"
    yield verb("report", "-q", guest, put("a.data", f.called(calls))), 0, ""


def large_gaps(put, verb):
    """Two gaps of 2 MB of padding each, and samples here and there."""
    size = 4 << 20
    guest = put("guest.elf", f.Elf(size).symbols([(1, f.TEXT + size // 2, 16)],
                                                 b"\0main\0").build())
    at = [i * 2654435761 % size for i in range(4000)]
    data = put("a.data", f.recording(b"".join(f.sample(f.TEXT + off, tid=1 + i // 2)
                                              for i, off in enumerate(at))))
    yield verb("diff", "-q", guest, data, data), 3, ""  # none is in a function
    yield verb("report", "-q", "--by=tid", guest, data), 3, ""


def apart_sections(put, verb):
    """8,000 functions, each in a section of its own, and samples that do not fit them."""
    n = 8000
    body = bytes.fromhex("554889e5534883ec184889fb8b078945ec31c04883c4185b5dc3660f1f440000")
    elf = f.Elf(n * len(body))
    elf.data[elf.text:] = body * n
    elf.sections.pop()
    for i in range(n):
        elf.section(0, 1, 6, f.TEXT + 32 * i, elf.text + 32 * i, 32)
    elf.symbols([(1, f.TEXT + 32 * i, 26, 1 + i) for i in range(n)], b"\0main\0")
    samples = [f.TEXT + i * 2654435761 % (32 * n) for i in range(4000)]
    data = put("a.data", f.recording(b"".join(map(f.sample, samples))))
    yield verb("report", "-q", put("guest.elf", elf.build()), data), 3, ""


def many_aliases(put, verb):
    """Functions that share one address."""
    n = 20000
    names = [b"f%05d" % i for i in range(n)]
    guest = put("guest.elf", f.Elf().symbols([(1 + 7 * i, f.TEXT, 16) for i in range(n)],
                                             b"\0" + b"\0".join(names) + b"\0").build())
    yield (verb("windows", "--function=nosuch", guest, os.path.join(DATA, "demo-windows.data")),
           1, "no image has such a function")


def many_reasons(put, verb):
    """Exits, each for a reason that nobody knows."""
    file, records = splice.File(), []
    out = splice.Maker(file)
    for i in range(20000):
        records += (out.sample("kvm_exit", 10**9 + 2000 * i, 0, 7, 8, exit_reason=1000 + i,
                               guest_rip=0x5280, isa=2, vcpu_id=0),
                    out.sample("kvm_entry", 10**9 + 2000 * i + 1000, 0, 7, 8, vcpu_id=0, rip=0x5280))
    path = put("a.data", b"")
    file.write(path, b"".join(records))
    guest = os.path.join(DATA, "demo.elf") + "@0x4000"
    yield verb("exits", "-q", "--format=html", "-o", "o.html", guest, path), 0, ""
    yield verb("exits", "-q", "--top=0", guest, path), 0, ""


def shared_insides(put, verb):
    """ELF files inside a host, which share all of their tables."""
    n, tables = 1000, 65535 * 56
    ident = b"\x7fELF\2\1\1".ljust(16, b"\0")
    host = b"".join(struct.pack("<16sHHIQQQIHHHHHH", ident, 2, 62, 1, 0, (n - i) * 64, 0, 0,
                                64, 56, 65535, 64, 0, 0) for i in range(n))
    host = put("host", b"x" + host + bytes(tables))
    yield verb("extract", host), 1, "has too many ELF files inside that overlap"
    yield verb("lookup", host, "0x1000"), 1, ""


def endless(put, verb):
    """What never ends: a device as a list of files, a pipe that is no recording."""
    guest = put("guest.elf", f.guest())
    yield verb("report", "--input-list=/dev/zero", guest), 1, "has a NUL in it"
    yield verb("merge", "--input-list=/dev/urandom", "-o", "o.pb.gz"), 1, "has a NUL in it"
    zeros = ["sh", "-c", 'cat /dev/zero | "$@"', "sh"]
    yield zeros + verb("inject", guest, "-", "-o", "o.data"), 1, "standard input: is no recording"
    yield zeros + verb("report", guest, "-"), 1, "standard input: is no recording"
    pipe = os.path.join(os.path.dirname(guest), "pipe")
    os.mkfifo(pipe)
    zeros = ["sh", "-c", 'cat /dev/zero >"$0" & exec "$@"', pipe]
    yield zeros + verb("inject", guest, pipe, "-o", "o.data"), 1, "is no recording"


CASES = [shared_section_names, made_vcpus, many_stretches, large_gaps, apart_sections,
         many_aliases, many_reasons, shared_insides, shared_names, shared_notes, shared_ids,
         shared_functions, repeated_messages, many_events, many_images, many_bases, many_states,
         wide_windows, many_functions, many_attributes, many_mappings, many_rounds, one_place,
         shared_ranges, ranges_below, inlined_everywhere, nested_functions, long_name, large_function,
         many_callers, many_threads, popular_function, many_misfits, one_name,
         attributes_without_bytes, nested_lines,
         shared_depth, inflated_records,
         inflated_lines, inflated_sections, far_memory, descending_maps, forked_mappings,
         long_event_name, many_losses, many_formats, endless, empty_ranges, bases_alone, decoys,
         deep_entries, shared_texts, long_paths, long_mapping, long_frames, long_readings]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # not the machine's
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(argv, folder):
    """(status, MiB, what it said)"""
    with open(os.path.join(folder, "said"), "w+b") as said:
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=said, preexec_fn=limit, cwd=folder,
                             env={**os.environ, "LC_ALL": "C"})
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return p.returncode, usage.ru_maxrss / 1024, said.read().decode(errors="replace")


def check(case, hlguest, folder):
    def put(name, data):
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
        return os.path.join(folder, name)

    differences = []
    for argv, wanted, words in case(put, lambda *args: [hlguest, *args]):
        status, peak, said = run(argv, folder)
        if any(word in said for word in WITHOUT):
            raise Skip("this build lacks what is needed")
        lines = [x for x in said.splitlines() if not x.startswith("hlguest: warning: ")]
        if status != wanted or words not in said or len(lines) > 1:
            differences.append(f"{argv[1]}: status {status}: {said[:300]}")
        if peak > MEMORY:
            differences.append(f"{argv[1]}: takes {peak:.0f} MiB")
    return differences


def main():
    p = parser(__doc__)
    p.add_argument("case", nargs="*", help=", ".join(case.__name__ for case in CASES))
    args = p.parse_args()
    if os.environ.get("HLG_WITHOUT"):  # a sanitizer's memory is not the program's
        print("1..0 # SKIP memory is not measured with sanitizers")
        return 0
    tap, hlguest = Tap(), os.path.abspath(os.path.join(args.build, "tools/hlguest"))
    unknown = {*args.case} - {case.__name__ for case in CASES}
    if unknown:
        p.error(f"no such case: {', '.join(sorted(unknown))}")
    for case in [c for c in CASES if c.__name__ in args.case] or some(CASES, 3):
        with tempfile.TemporaryDirectory(prefix="hlguest-bombs-") as folder:
            os.chmod(folder, 0o755)  # some is read as another user
            tap.run(case.__doc__.rstrip("."), check, case, hlguest, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
