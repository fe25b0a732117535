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


def main():
    build, folder = Path(sys.argv[1]), Path(sys.argv[2])
    corpus = Path(__file__).resolve().parent / "corpus"
    for door in corpus.iterdir():
        shutil.copytree(door, folder / door.name, dirs_exist_ok=True)
    for path in DATA.glob("*.elf"):
        put(folder / "elf", path.name, path.read_bytes())
    recordings(folder / "recording")
    formats(folder / "formats")
    profiles(folder / "profile", build)
    for door in sorted(p for p in folder.iterdir() if p.is_dir()):
        print(f"{door.name}: {len(os.listdir(door))} inputs")


if __name__ == "__main__":
    main()
