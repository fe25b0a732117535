# SPDX-License-Identifier: GPL-2.0-only
"""A large guest and recordings of it, both made up: for code that looks like a compiler's
where none of that size is at hand, and for as many distinct addresses as are wanted."""

import itertools
import random
import struct

PAGE = 0x1000
ALIGN = 16
SAMPLE = 9  # PERF_RECORD_SAMPLE
HEADER = 8  # struct perf_event_header: u32 type, u16 misc, u16 size
FEATURES_AT, FEATURES_SIZE = 72, 32  # of struct perf_file_header

# Instructions of a function's body, and how many of 100 are like that.
CODE = [(bytes.fromhex(code), weight) for code, weight in (
    ("4889c3", 12), ("8b4508", 8), ("488b442418", 10), ("48894424f8", 6), ("31c0", 5),
    ("4885c0", 6), ("7405", 8), ("0f84aa000000", 5), ("e8fe100000", 6), ("eb0e", 3),
    ("488d3d10200000", 4), ("4883c408", 4), ("0fb600", 3), ("55", 4), ("5d", 4),
    ("c744240400000000", 3), ("f20f5905a8000000", 2), ("660f6f00", 2), ("41ffd4", 2),
    ("48b80102030405060708", 1), ("83f82a", 2))]
RET = b"\xc3"


class Guest:
    """An ELF of functions one behind the other; starts[i]: the instructions of one."""

    def __init__(self, path, size, seed=1, name=b"function_%06d"):
        rng = random.Random(seed)
        codes, weights = zip(*CODE)
        text, self.starts, symbols = bytearray(), [], []
        while len(text) < size:
            length = int(rng.lognormvariate(3.6, 1)) + 2
            body = rng.choices(codes, weights, k=length) + [RET]
            at = PAGE + len(text)
            self.starts.append(list(itertools.accumulate(map(len, body[:-1]), initial=at)))
            code = b"".join(body)
            symbols.append((at, len(code)))
            text += code + b"\x90" * (-len(code) % ALIGN)
        with open(path, "wb") as f:
            f.write(elf(text, symbols, name))

    def spread(self, functions, addresses, seed=2):
        """So many addresses in so many functions, those of a few most often: a list of
        addresses to draw from, each at least once."""
        rng = random.Random(seed)
        large = [s for s in self.starts if len(s) >= addresses // functions]
        chosen = rng.sample(large or self.starts, functions)
        pool = sorted(itertools.chain.from_iterable(chosen))
        return rng.sample(pool, min(addresses, len(pool)))


def elf(text, symbols, name):
    """ET_DYN for x86-64: one segment, .text at PAGE, .symtab, .strtab, .shstrtab."""
    names = b"\0" + b"".join(name % i + b"\0" for i in range(len(symbols)))
    table = bytearray(24)
    for i, (addr, size) in enumerate(symbols):
        table += struct.pack("<IBBHQQ", 1 + i * len(name % 0 + b"\0"), 0x12, 0, 1, addr, size)
    sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at_text, at_table = PAGE, PAGE + len(text)
    at_names = at_table + len(table)
    at_sections = at_names + len(names)
    at_headers = at_sections + len(sections) + -(at_sections + len(sections)) % 8
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, PAGE, 64, at_headers, 0, 64, 56, 1, 64, 5, 4)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, PAGE + len(text), PAGE + len(text), PAGE)
    headers = bytes(64)
    for name, kind, flags, addr, at, size, link, info, entry in (
            (1, 1, 6, PAGE, at_text, len(text), 0, 0, 0),
            (7, 2, 0, 0, at_table, len(table), 3, 1, 24),
            (15, 3, 0, 0, at_names, len(names), 0, 0, 0),
            (23, 3, 0, 0, at_sections, len(sections), 0, 0, 0)):
        headers += struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, at, size, link, info,
                               16, entry)
    whole = head.ljust(PAGE, b"\0") + text + table + names + sections
    return whole.ljust(at_headers, b"\0") + headers


def record(source, ips, path, step=1000):
    """A recording like source, with one guest sample at each of these addresses, step ns apart."""
    with open(source, "rb") as f:
        data = f.read()
    attrs, at, size = struct.unpack_from("<24xQ8xQQ", data)
    sample_type, = struct.unpack_from("<24xQ", data, attrs)
    ip_at = HEADER + (8 if sample_type & 1 << 16 else 0)  # behind IDENTIFIER
    time_at = ip_at + 8 + (8 if sample_type & 1 << 1 else 0)  # behind TID
    others, sample, end, begin = [], None, at + size, at
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if kind != SAMPLE:
            others.append(data[at:at + length])
        elif misc & 7 in (4, 5) and not sample:  # guest kernel, guest user
            sample = bytearray(data[at:at + length])
        at += length
    time, = struct.unpack_from("<Q", sample, time_at)
    body = bytearray(b"".join(others))
    for i, ip in enumerate(ips):
        struct.pack_into("<Q", sample, ip_at, ip)
        struct.pack_into("<Q", sample, time_at, time + i * step)
        body += sample
    tail = bytearray(data[end:])
    bits = int.from_bytes(data[FEATURES_AT:FEATURES_AT + FEATURES_SIZE], "little")
    for i in range(bin(bits).count("1")):
        offset, = struct.unpack_from("<Q", tail, 16 * i)
        struct.pack_into("<Q", tail, 16 * i, offset + len(body) - size)
    head = bytearray(data[:begin])
    struct.pack_into("<Q", head, 48, len(body))
    with open(path, "wb") as f:
        f.write(head + body + tail)
