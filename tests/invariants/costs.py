# SPDX-License-Identifier: GPL-2.0-only
"""What a file costs follows from its bytes on disk, whatever they say: files with very many of
one small thing, with claims of what is not there, with holes; whole or damaged. bed.py judges
each run.
"""
import os
import struct

import forged as f
import inputs

MOST = 60000  # things in a file: with steps by their square it would take seconds
HUGE = (2 ** 64 - 1, 2 ** 64 - 4096, 2 ** 63, 2 ** 46, 1 << 40, 1 << 32)
BASE = 0x1000


def few_or_many(rng):
    return int(10 ** rng.uniform(1, 4.8)) % MOST + 1


def symbols(rng, elf, n):
    """Anywhere in the code, over each other."""
    name = rng.choice((1, 3)), rng.choice((b"\0main\0", b"\0" + b"A" * 4000 + b"\0"))
    return elf.symbols([(name[0], f.TEXT + rng.randrange(elf.size), rng.choice(
        (0, 1, 16, elf.size, *HUGE))) for _ in range(n)], name[1])


def sections(rng, elf, n):
    kind, flags = rng.choice(((1, 6), (3, 0), (2, 0), (11, 2), (8, 2)))
    for i in range(n):
        elf.section(1, kind, flags, f.TEXT + i, rng.choice((elf.text, 0, rng.choice(HUGE))),
                    rng.choice((0, 1, 24, elf.size, rng.choice(HUGE))), entry=24)
    return elf


def segments(rng, elf, n):
    for i in range(min(n, 60000)):
        addr = rng.choice((f.TEXT + i, i << 12, i << 24, rng.choice(HUGE)))
        stored = rng.choice((0, 16, elf.size))
        size = min(max(stored, rng.choice((16, elf.size, rng.choice(HUGE)))), 2 ** 64 - 1 - addr)
        elf.segments.append((1, rng.choice((4, 5)), elf.text, addr, addr, min(stored, size), size, 1))
    return elf


def plain(rng, elf, n):
    return elf


def samples(rng, n):
    far = rng.choice((0x1000, 1 << 20, 1 << 40))
    return b"".join(f.sample(BASE + rng.randrange(far), 1 + i % 3, 1 + i % 7, 1000 + i,
                             rng.choice((1, 1000, rng.choice(HUGE)))) for i in range(n))


def mappings(rng, n):
    """Each within the one before, or all in one place."""
    step = rng.choice((0, 4096))
    return b"".join(f.mmap2(1, 0x10000 + step * i, rng.choice((1, (n - i) << 13)), b"a%d" % (i % 9),
                            1000 + i) for i in range(n)) + f.sample(mode=f.HOST)


def processes(rng, n):
    return b"".join(f.sample(BASE + i % 0x1000, i, i + 1, 1000 + i, mode=rng.choice(
        (f.GUEST, f.HOST))) for i in range(n))


def losses(rng, n):
    return b"".join(f.record(f.LOST, 0, struct.pack("<2QIIQ", 0, rng.choice((1, HUGE[0])), 1, 1,
                                                    1000 + i)) for i in range(n)) + f.sample()


def rounds(rng, n):
    return b"".join(f.sample(time=rng.randrange(1 << 30)) +
                    f.record(f.FINISHED_ROUND, 0, b"") for i in range(n))


def perf_map(rng, n):
    return b"".join(b"%x %x f%d\n" % (BASE + rng.randrange(1 << 16), rng.choice((1, 64, 1 << 20)), i)
                    for i in range(n))


def recording(rng, n):
    made = rng.choice((samples, samples, mappings, processes, losses, rounds))(rng, n)
    return f.recording(made + f.sample())


def with_hole(rng, path):
    """Its records have so many bytes, most of which are a hole."""
    size = rng.choice((1 << 32, 1 << 40))
    with open(path, "r+b") as file:
        file.seek(48)
        file.write(struct.pack("<Q", size))
        file.truncate(size + 4096)


def check_costs(bed, rng):
    elf = f.Elf().symbols([(1, f.TEXT, 0x800)], b"\0main\0")  # one without any is refused
    elf = rng.choice((plain, symbols, sections, segments))(rng, elf, few_or_many(rng)).build()
    data = recording(rng, few_or_many(rng))
    if rng.random() < .2:
        elf = inputs.damage(rng, elf)
    if rng.random() < .3:
        data = inputs.damage(rng, data)
    bed.write(elf, "guest.elf")
    path = bed.write(data, "a.data")
    if rng.random() < .2 and len(data) > 104:
        with_hole(rng, path)
    guest = rng.choice(("guest.elf", f"guest.elf@{BASE:#x}", "guest.elf@auto"))
    if rng.random() < .2:
        bed.write(perf_map(rng, few_or_many(rng)), "perf-1.map")
        guest = "map:perf-1.map"
    for words in (("report", "--mode=all", "--format=json", f"-j{rng.randint(1, 2)}"),
                  ("report", "--top=0", "--by=tid", "--format=" + rng.choice(
                      ("csv", "folded", "pprof", "callgrind", "speedscope", "html"))),
                  ("annotate",), ("flame",), ("base",), ("diff",), ("inject", "-o", "out.data")):
        more = ["a.data"] if words[0] == "diff" else []
        bed.run(words[0], "-q", *(["--force"] if words[0] != "base" else []), *words[1:], guest,
                "a.data", *more)
    bed.run("lookup", guest, hex(BASE))
    bed.run("kallsyms", guest)
    if os.path.exists(bed.place("out.data")):
        os.unlink(bed.place("out.data"))
