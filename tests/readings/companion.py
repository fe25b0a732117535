# SPDX-License-Identifier: GPL-2.0-only
"""What the companion of a guest's ELF has to be, by tools/inject/companion.h: of guests of
modelled.py, from what they were made from."""
import struct

from modelled import FUNC, GLOBAL, TEXT
from odd_names import escaped, readable

SYMTAB, STRTAB, RELA, NOTE, REL, DYNSYM = 2, 3, 4, 7, 9, 11
ALLOC = 2
class Units:
    """Runs of addresses of one owner: perf is to show each as a symbol."""

    def __init__(self, guest, gaps):
        self.guest, self.gaps, self.all = guest, gaps, []
        at = TEXT
        while at < guest.end:
            place, start = guest.place(at), at
            while at < guest.end and guest.place(at) == place:
                at += 1
            if place.kind == "gap" and gaps == "stretch" and guest.before(start) != place:
                start, _, place = self.all.pop()
            self.all.append((start, at, place))
        data = guest.place(guest.end)
        self.all.append((data.start, data.end, data))

    def at(self, addr):
        return next(unit for unit in self.all if unit[0] <= addr < unit[1])

    def is_plain(self, unit):
        """Would perf show it so by itself? A function that has its bytes for itself."""
        start, end, place = unit
        found = [s for s in self.guest.symbols if s.name == place.symbol]
        return place.kind == "function" and self.guest.is_found() and \
            (start, end) == (place.start, place.end) and escaped(place.name) == place.name and \
            not any(s.at < end and (s.at >= start or s.at + s.size > start)
                    for s in self.guest.symbols if s not in found[:1])

    def symbols(self, demangle):
        """(name, st_info, st_other, section, address, size) each. perf demangles functions and
        labels itself."""
        for start, end, place in self.all:
            if place.kind == "gap" and self.gaps == "drop":
                continue
            named = place.kind in ("function", "label")
            name = place.name if named or not demangle else readable(place.name)
            behind = [self.guest.second, self.guest.end]
            if behind[0] == behind[1]:
                behind = behind[1:]
            yield escaped(name), GLOBAL << 4 | FUNC, 0, 1 + sum(start >= at for at in behind), \
                start, end - start


class Elf:
    def __init__(self, data):
        self.data = data
        self.header = struct.unpack_from("<16sHHIQQQIHHHHHH", data)
        at, n = self.header[6], self.header[12]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(n)]
        names = self.sections[self.header[13]][4]
        self.names = [self.text(names + s[0]) for s in self.sections]

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)]

    def symbols(self, table):
        strings = self.sections[table[6]][4]
        for at in range(table[4], table[4] + table[5], 24):
            name, info, other, section, addr, size = struct.unpack_from("<IBBHQQ", self.data, at)
            yield self.text(strings + name).decode(), info, other, section, addr, size


def id_of(guest, data):
    """(place, bytes) of its build id; (0, nothing) without one."""
    if not guest.id:
        return 0, b""
    at = data.index(struct.pack("<3I", 4, len(guest.id), 3) + b"GNU\0") + 16
    return at, data[at:at + len(guest.id)]


def is_hidden(kind, flags, name):
    """perf could take symbols from it."""
    return kind in (SYMTAB, DYNSYM) or name in (b".symtab", b".dynsym", b".gnu_debuglink") or \
        kind in (REL, RELA) and (not flags & ALLOC or b"plt" in name)


def differences(guest, units, demangle, data):
    old, new = Elf(guest.data()), Elf(data)
    n = len(old.sections)
    at, build_id = id_of(guest, old.data)
    same = bytearray(data[:len(old.data)])
    for place, size in ((40, 8), (60, 4), (at, len(build_id))):  # sections, how many; the id
        if place:
            same[place:place + size] = old.data[place:place + size]
    if same != old.data:
        yield "bytes of the ELF have changed"
    if build_id and id_of(guest, data)[1] == build_id:
        yield "it has the build id of the ELF"
    if build_id and not any(id_of(guest, data)[1][-4:]):
        yield "its build id is not filled"
    for i, (was, now) in enumerate(zip(old.sections, new.sections)):
        if is_hidden(was[1], was[2], old.names[i]):
            if now[2:] != was[2:] or is_hidden(now[1], now[2], new.names[i]):
                yield f"section {old.names[i]} is {now}, {new.names[i]}"
        elif now != was or new.names[i] != old.names[i]:
            yield f"section {old.names[i]}: {now}, not {was}"
    more = [(name, s[1], s[6], s[7], s[9], s[8])
            for name, s in zip(new.names[n:], new.sections[n:])]
    if more != [(b".symtab", SYMTAB, n + 1, 1, 24, 8), (b".strtab", STRTAB, 0, 0, 0, 1),
                (b".shstrtab", STRTAB, 0, 0, 0, 1)] or new.header[13] != n + 2:
        yield f"new sections: {more}"
        return
    null, *symbols = new.symbols(new.sections[n])
    expected = list(units.symbols(demangle))
    if null != ("", 0, 0, 0, 0, 0) or symbols != expected:
        yield f"symbols: {symbols}, not {expected}"
