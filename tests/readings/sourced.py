# SPDX-License-Identifier: GPL-2.0-only
"""Source lines and inlined functions of listed.py's guests, as DWARF 4 has them, and the source
files that they name."""
import collections
import os
import struct

from forged import TEXT, varint

INLINES = ("mix", "step_once", "_ZN5guest5greetEi",
           "a_function_that_has_a_name_much_too_long_for_most_lines")
READABLE = {"_ZN5guest5greetEi": "guest::greet(int)"}
OLD, ELFS, NEW = 10**18 + 5, 10**18 + 6, 10**18 + 7  # when files were written, in ns
LINES, NAMES = 40, ("main", "util", "\u00e9t\u00e9", "x", "a_file_of_some_length")
# What is told of a file whose lines are not shown.
PROBLEMS = {"shown": None, "missing": None, "newer": "is newer than the ELF, so its lines are not "
            "shown", "binary": "is no text"}
# DW_TAG_compile_unit with DW_AT_stmt_list, _low_pc, _high_pc and _comp_dir; DW_TAG_subprogram with
# DW_AT_name or _linkage_name and _inline, and with its range; DW_TAG_inlined_subroutine with
# DW_AT_abstract_origin and its range. The last two have others in them, as the first has.
ABBREV = b"\1\x11\1\x10\x17\x11\1\x12\7\x1b\x08\0\0" \
    b"\2\x2e\0\3\x08\x20\x0b\0\0" b"\3\x2e\0\x6e\x08\x20\x0b\0\0" \
    b"\4\x2e\1\x11\1\x12\7\0\0" b"\5\x1d\1\x31\x13\x11\1\x12\7\0\0" b"\0"

Source = collections.namedtuple("Source", "file line")  # file: its place in Lines.files
Inline = collections.namedtuple("Inline", "start end name")


class Lines:
    """Of some code there are none. folder: where the files are, which who writes the ELF says."""

    def __init__(self, rng, guest):
        self.folder, self.guest = None, guest
        self.subfolder = rng.choice(("", "", "/a-folder-with-a-name" + "-that-goes-on" * 3))
        self.files = {f"{name}.c": rng.choice(("shown", "shown", "shown", *PROBLEMS))
                      for name in rng.sample(NAMES, 3)}
        self.rows, now = [], Source(0, 1)
        for at in guest.starts:
            what = rng.random()
            if what < .1:
                now = None if rng.random() < .2 else Source(rng.randrange(3), rng.randint(1, 60))
            elif what < .4 and now:
                now = Source(now.file, rng.choice((0, now.line + 1, 7, 8, LINES, LINES + 1)))
            self.rows.append((at, now))
        self.inlines = {}
        for place in guest.places():
            parts = guest.parts(place)
            if place.kind == "function" and all(part.insn for part in parts):
                self.inlines[place] = list(self.inline(rng, [part.start for part in parts]))

    @staticmethod
    def inline(rng, starts):
        """None, one, or one in another; the outermost first."""
        for _ in range(rng.choice((0, 1, 2))):
            if len(starts) > 2:
                first, last = sorted(rng.sample(range(len(starts)), 2))
                yield Inline(starts[first], starts[last], rng.choice(INLINES))
                starts = starts[first:last + 1]

    def path(self, source):
        return f"{self.folder}{self.subfolder}/{list(self.files)[source.file]}"

    def at(self, addr):
        """(file, line, what was inlined) of an address, or None."""
        before = [now for at, now in self.rows if at <= addr]
        if not before or not before[-1] or addr >= self.guest.end:
            return None
        names = [one.name for of in self.inlines.values() for one in of
                 if one.start <= addr < one.end]
        return self.path(before[-1]), before[-1].line, names[-1] if names else None

    @staticmethod
    def text(line):
        """As the files have it."""
        return ("", "\tint x = 1;", "    a  =\tb;\r", "plain \x01 \u00fc",
                "\t\treturn " + "x + " * 30 + "1;", "\f}")[line % 6]

    def how(self, path):
        """Is it one of these, and shown? If not, why."""
        names = {self.path(Source(i, 0)): how for i, how in enumerate(self.files.values())}
        return names.get(path, "missing")

    def shown(self, path, number):
        """A line as it stands there; None: none is shown."""
        is_there = self.how(path) == "shown" and 0 < number <= LINES
        return self.text(number) if is_there else None

    def problem(self, path):
        return PROBLEMS[self.how(path)]

    def write(self):
        os.makedirs(self.folder + self.subfolder, exist_ok=True)
        text = "\n".join(map(self.text, range(1, LINES + 1)))  # the last has no end
        for i, (name, how) in enumerate(self.files.items()):
            path = self.path(Source(i, 0))
            if os.path.exists(path):
                os.unlink(path)
            if how == "missing":
                continue
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write("\0" * (how == "binary") + text)
            os.chmod(path, 0o644)
            os.utime(path, ns=(OLD, NEW if how == "newer" else OLD))

    def sections(self):
        return ((b".debug_abbrev", ABBREV), (b".debug_info", self.info()),
                (b".debug_line", self.program()))

    def info(self):
        size = self.guest.end - TEXT
        out = struct.pack("<HIB", 4, 0, 8) + b"\1" + struct.pack("<IQQ", 0, TEXT, size) + b"/\0"
        where = {}
        for name in INLINES:
            where[name] = 4 + len(out)
            out += (b"\3" if name in READABLE else b"\2") + name.encode() + b"\0\1"
        for place, inlines in self.inlines.items():
            out += b"\4" + struct.pack("<QQ", place.start, place.end - place.start)
            for one in inlines:
                out += b"\5" + struct.pack("<IQQ", where[one.name], one.start,
                                           one.end - one.start)
            out += bytes(len(inlines) + 1)
        out += b"\0"
        return struct.pack("<I", len(out)) + out

    def program(self):
        head = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + \
            f"{self.folder}{self.subfolder}\0\0".encode() + b"".join(
                name.encode() + b"\0\1\0\0" for name in self.files) + b"\0"
        out, line, before = b"", 1, None
        for at, now in [*self.rows, (self.guest.end, None)]:
            if now == before:
                continue
            out += b"\0\x09\2" + struct.pack("<Q", at)
            if now:  # DW_LNS_set_file, _advance_line by what one byte holds, _copy
                out += b"\4" + varint(1 + now.file) + b"\3" + signed(now.line - line) + b"\1"
                line = now.line
            else:
                out += b"\0\1\1"
                line = 1
            before = now
        out = struct.pack("<HI", 4, len(head)) + head + out
        return struct.pack("<I", len(out)) + out


def signed(n):
    """As LEB128, of two bytes."""
    return bytes((n & 0x7f | 0x80, n >> 7 & 0x7f))
