#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""seeds.py BUILD FOLDER: inputs for the fuzzers to begin with, a folder for each door.

Taken from the real recordings and ELFs of tests/data, and from what perf and the command
in BUILD make here; what cannot be had is left out.
"""
import gzip
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
TRACING_DATA = 1  # HEADER_TRACING_DATA, perf.data-file-format.txt
MOST = 64 << 10   # bytes: fuzzers are slow on long inputs

RECORDINGS = (
    ["-e", "cpu-clock"],
    ["-e", "cpu-clock", "-z"],
    ["-e", "cpu-clock", "-g", "--call-graph=fp", "-d", "--sample-cpu"],
    ["-e", "cpu-clock", "--user-regs=ip,sp", "--weight"],
    ["-e", "{task-clock,page-faults}:S", "-c", "100000"],
    ["-e", "cpu-clock", "--switch-events", "--namespaces"],
)


def put(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    if 0 < len(data) <= MOST:
        (folder / name).write_bytes(data)


def run(*words):
    try:
        return subprocess.run(words, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def recordings(folder):
    for path in sorted(DATA.glob("*.data")):
        put(folder, path.name, path.read_bytes())
        put(folder, "cut-" + path.name, path.read_bytes()[:8192])
    if not shutil.which("perf"):
        return
    scratch = folder / "scratch"
    for i, words in enumerate(RECORDINGS):
        if run("perf", "record", "-q", "-o", str(scratch), *words, "--", "true") \
                and scratch.exists():
            put(folder, f"perf-{i}", scratch.read_bytes())
            scratch.unlink()
        piped = run("perf", "record", "-q", "-o", "-", *words, "--", "true")
        if piped:
            put(folder, f"piped-{i}", piped.stdout)


def tracing(data):
    """The tracing data of a recording in file mode, or nothing."""
    size, _, _, _, at, length = struct.unpack_from("<6Q", data, 8)
    flags = struct.unpack_from("<Q", data, 72)[0]
    if size < 104 or not flags & 1 << TRACING_DATA:
        return b""
    before = bin(flags & (1 << TRACING_DATA) - 1).count("1")
    offset, n = struct.unpack_from("<2Q", data, at + length + 16 * before)
    return data[offset:offset + n]


def formats(folder):
    for path in sorted(DATA.glob("*.data")):
        found = tracing(path.read_bytes())
        if found:
            put(folder, path.stem, b"\0" + found)
            at = found.find(b"name: ")
            put(folder, path.stem + "-text", b"\1" + found[at:at + 2000])


def profiles(folder, build):
    scratch = folder.parent / "scratch.pb.gz"
    for elf, recording in (("demo.elf", "demo-user.data"), ("rusty.elf", "rusty-user.data")):
        run(str(build / "tools/hlguest"), "report", str(DATA / elf), str(DATA / recording),
            "--format=pprof", f"--out={scratch}")
        if scratch.exists():
            put(folder, elf, scratch.read_bytes())
            put(folder, elf + "-inside", gzip.decompress(scratch.read_bytes()))
            scratch.unlink()
    stacks = (DATA.parent / "peers/pprof/saved-format-4.pb.gz").read_bytes()
    put(folder, "stacks", stacks)
    put(folder, "stacks-inside", gzip.decompress(stacks))


def elf(named, note):
    """A guest of a few hundred bytes: short inputs are quick ones."""
    text = b"\x55\x48\x89\xe5\x0f\x05\x5d\xc3" * 4
    strings, symbols = b"\0", bytes(24)
    for i, (name, info, size) in enumerate(named):
        symbols += struct.pack("<IBBHQQ", len(strings), info, 0, 1, 0x1000 + 8 * i, size)
        strings += name + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.note\0"
    at, sections, body = 64 + 2 * 56, [bytes(64)], b""
    for name, kind, flags, addr, data, link, entry in (
            (1, 1, 6, 0x1000, text, 0, 0), (7, 2, 0, 0, symbols, 3, 24),
            (15, 3, 0, 0, strings, 0, 0), (23, 3, 0, 0, names, 0, 0),
            (33, 7, 0, 0, note, 0, 0)):
        sections.append(struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, at + len(body),
                                    len(data), link, 1, 8, entry))
        body += data + bytes(-len(data) % 8)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0x1000, 64, at + len(body), 0, 64, 56, 2, 64, 6, 4)
    note_at = at + len(body) - len(note) - -len(note) % 8
    loads = struct.pack("<IIQQQQQQ", 1, 5, at, 0x1000, 0x1000, len(text), 0x100, 0x1000)
    loads += struct.pack("<IIQQQQQQ", 4, 4, note_at, 0, 0, len(note), len(note), 4)
    return head + loads + body + b"".join(sections)


def elfs(folder):
    note = struct.pack("<III", 11, 6, 1) + b"Hyperlight\0\0" + b"0.5.1\0\0\0"
    put(folder, "tiny", elf([(b"main", 0x12, 8), (b"_ZN1a1bEv", 0x22, 8), (b"l", 2, 0),
                             (b"alias", 0x12, 8), (b"data", 0x11, 4)], note))
    put(folder, "tiny-plain", elf([(b"f", 0x12, 8)], b""))
    put(folder, "wasm", (DATA / "wasm" / "module.cwasm").read_bytes())
    for path in DATA.glob("*.elf"):
        put(folder, path.name, path.read_bytes())


def streams(folder):
    for path in sorted((DATA / "sysprof").glob("*.bin")):
        for size in (500, 4000, 30000):
            put(folder, f"{size}-{path.name}", path.read_bytes()[:size])


def exits(folder):
    """Runs, exits and entries, a port, an instruction; on two vCPUs and threads."""
    one = bytes((6, 9, 0, 0, 0, 1, 9, 0, 0, 0, 0, 5, 7, 30, 0, 2, 1, 0x40, 0, 4, 1, 1, 5, 0,
                 5, 2, 9, 0, 0, 3, 2, 0x40, 2, 1, 1, 3, 0, 0, 0))
    two = b"".join(bytes((0x20 | b if i % 4 == 0 and i < 8 else b,))
                   for i, b in enumerate(one))
    put(folder, "one", b"\0" + one * 4)
    put(folder.parent / "pairs", "one", bytes((
        4, 6, 9, 0, 0, 0, 1, 9, 64, 30, 4, 2, 9, 0, 0, 4, 3, 9, 0, 96, 1, 5, 7, 0, 2, 0,
        6, 5, 0, 0, 0, 2, 4, 0, 0, 4)) * 2)
    put(folder, "two", b"\3" + one + two + bytes((7, 1, 5, 7, 1, 130)) + two + one)


def main():
    build, folder = Path(sys.argv[1]), Path(sys.argv[2])
    if not any(DATA.glob("*.data")):
        sys.exit(f"seeds.py: {DATA}: no recordings (have they moved?)")
    corpus = Path(__file__).resolve().parent / "corpus"
    for door in corpus.iterdir():
        shutil.copytree(door, folder / door.name, dirs_exist_ok=True)
    elfs(folder / "elf")
    streams(folder / "sysprof")
    exits(folder / "exits")
    recordings(folder / "recording")
    formats(folder / "formats")
    profiles(folder / "profile", build)
    for door in sorted(p for p in folder.iterdir() if p.is_dir()):
        print(f"{door.name}: {len(os.listdir(door))} inputs")


if __name__ == "__main__":
    main()
