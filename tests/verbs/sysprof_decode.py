# SPDX-License-Identifier: GPL-2.0-only
"""A second, slow reader of sysprof's streams, from the format's description alone.

Gives every sample in order, with the names that hold where it stands. Knows nothing of the
command's reader.
"""
import bisect

STATES = "INTERP LFUNC FFUNC CFUNC GC EXIT RECORD OPT ASM TRACE".split()
BOTH = "LFUNC", "FFUNC", "CFUNC"  # states with a stack of Lua before that of the host
MAX_STRING, MAX_FRAMES = 16 << 20, 1 << 17


class End(Exception):
    """The bytes end within a value."""


class Bad(Exception):
    """The bytes make no sense."""


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.lua, self.c, self.traces = {}, {}, {}
        self.long = {}  # chunks of several lines: their number, in order, from 1 on
        self.sorted = None  # addresses of C functions, unless there is a new one
        self.aliases = {}  # address: all names a C function had at the head
        self.records = {"lua": 0, "c": 0, "traces": 0}
        self.changes = dict(self.records)
        self.samples = []  # (state, Lua's frames, the host's), leaf first
        self.complete = False
        self.lost = 0
        self.read()

    def byte(self):
        if self.at >= len(self.data):
            raise End
        self.at += 1
        return self.data[self.at - 1]

    def uleb(self):
        value = 0
        for i in range(10):
            byte = self.byte()
            value |= (byte & 0x7F) << (7 * i)
            if value >> 64 or i == 9 and byte > 1:
                raise Bad("number")
            if byte < 0x80:
                return value
        raise Bad("number")

    def string(self):
        n = self.uleb()
        if n > MAX_STRING:
            raise Bad("string")
        text = self.data[self.at:self.at + n]
        self.at += len(text)
        if len(text) < n:
            raise End
        return text

    def symbol(self, kind, count):
        if kind == 0:
            addr, chunk, _ = self.uleb(), self.string(), self.uleb()
            self.lua[addr] = chunk
            if b"\n" in chunk:
                self.long.setdefault(chunk, len(self.long) + 1)
            count["lua"] += 1
        elif kind == 1:
            addr, name = self.uleb(), self.string()
            self.c[addr] = name
            self.sorted = None
            self.aliases.setdefault(addr, []).append(name)
            count["c"] += 1
        else:
            number, addr, line = self.uleb(), self.uleb(), self.uleb()
            self.traces[number] = addr, line
            count["traces"] += 1

    def header(self, magic, version):
        found = self.data[self.at:self.at + 7]
        if found[:3] != magic[:len(found[:3])] or len(found) > 3 and found[3] != version:
            raise Bad("header")
        self.at += len(found)
        if len(found) < 7:
            raise End

    def read(self):
        try:
            self.header(b"ljs", 3)
            while not (kind := self.byte()) & 0x80:
                if kind > 2:
                    raise Bad("symbol")
                self.symbol(kind, self.records)
            self.header(b"ljp", 2)
        except End:
            raise Bad("no events")
        try:
            while True:
                start = self.at
                event = self.byte()
                if event & 0x80:
                    self.complete = True
                    return
                if event > 12:
                    raise Bad("event")
                if event >= 10:
                    self.symbol(event - 10, self.changes)
                else:
                    self.samples.append(self.sample(STATES[event]))
        except End:
            self.lost = len(self.data) - start

    def c_name(self, addr):
        self.sorted = self.sorted or sorted(self.c)
        at = bisect.bisect_right(self.sorted, addr) - 1
        return (self.c[self.sorted[at]], self.sorted[at]) if at >= 0 else None

    def lua_frame(self):
        kind = self.byte()
        if kind & 0x80:
            return None
        if kind == 1:
            addr, line = self.uleb(), self.uleb()
            return "lua", addr, line, self.lua.get(addr)
        if kind not in (2, 3):
            raise Bad("frame")
        addr = self.uleb()
        return ("c", addr, self.c_name(addr)) if kind == 2 else ("fast", addr)

    def sample(self, state):
        lua, host = [], []
        if state == "TRACE":
            number, addr, line = self.uleb(), self.uleb(), self.uleb()
            begun = self.traces.get(number)
            begins = begun[1] if begun and begun[0] == addr else None
            return state, (("trace", number, addr, line, self.lua.get(addr), begins),), ()
        if state in BOTH:
            while frame := self.lua_frame():
                lua.append(frame)
                if len(lua) > MAX_FRAMES:
                    raise Bad("stack")
        while addr := self.uleb():
            host.append(("host", addr, self.c_name(addr)))
            if len(host) > MAX_FRAMES:
                raise Bad("stack")
        return state, tuple(lua), tuple(host)
