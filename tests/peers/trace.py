#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where fields of tracepoints stand, against a second reading of their formats.

    trace.py --build DIR

Every field of every format: in the recordings that have some, in formats made here of the
kernel's words, and of the kernel that runs, where tracefs is mounted and may be read.
"""
import glob
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import splice
from tap import DATA, Skip, Tap, environment, names_in, parser

EVENTS = "/sys/kernel/tracing/events"
MAGIC = b"\x17\x08\x44tracing"
FIELD = re.compile(r"^\s*field:(.*);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?\s*$")


def fields(text):
    """[(name, what trace-fields prints of it)]; what is no number is `-`."""
    for line in text.split("print fmt:")[0].splitlines():
        if not (found := FIELD.match(line)):
            continue
        declaration, offset, size, sign = found.groups()
        name = re.search(r"(\w+)(\[.*\])?$", declaration)
        number = not name[2] and "[" not in declaration and int(size) in (1, 2, 4, 8)
        yield name[1], f"{offset} {size} {int(sign or 0)}" if number else "-"


def compare(build, path):
    with open(path, "rb") as f:
        data = f.read()
    tracing = splice.Tracing(data[data.index(MAGIC):])
    asked, want = [], []
    for system, formats in tracing.systems:
        for text in formats:
            text = text.decode()
            name = re.search(r"^name: (.*)$", text, re.M)[1]
            for field, where in fields(text):
                asked.append(f"{system.decode()}:{name} {field}")
                want.append(where)
    done = subprocess.run([os.path.join(build, "tests", "peers", "trace-fields"), path],
                          input="\n".join(asked), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          env=environment())
    got = done.stdout.split("\n")[:-1]
    if done.returncode or len(got) != len(want) or not any(w != "-" for w in want):
        return [f"{len(got)} of {len(want)} fields, status {done.returncode}: {done.stderr}"]
    return [f"{a}: {g}, not {w}" for a, g, w in zip(asked, got, want) if g != w]


def compare_formats(build, folder, systems):
    file = splice.File()
    file.tracing.systems = systems
    path = os.path.join(folder, "formats.data")
    file.write(path, struct.pack("<IHH", splice.ROUND, 0, 8))
    return compare(build, path)


def made(rng, number):
    """A format of the kernel's words; offsets and sizes are any that a record can have."""
    types = ("int", "unsigned long", "u8", "s64", "const char *", "void *", "enum reason",
             "const char *const *", "struct page *", "const void*", "pid_t", "__data_loc char[]",
             "__rel_loc u8[]", "unsigned long long")
    lines = [f"name: event_{number}", f"ID: {number + 1000}", "format:"]
    for i in range(rng.randrange(40)):
        kind = rng.choice(types)
        blank = "" if kind.endswith("*") and rng.randrange(2) else " "
        array = rng.choice(("", "", "", "[16]", "[NAME_MAX + 1]", "[(8 * 2)]"))
        size = rng.choice((1, 2, 4, 8, 8, 4, 0, 3, 16))
        line = (f"\tfield:{kind}{blank}f{i}_x{array};\toffset:{rng.randrange(65000)};"
                f"\tsize:{size};")
        lines.append(line + rng.choice(("", "\tsigned:0;", "\tsigned:1;")))
        lines += [""] * (rng.randrange(5) == 0)
    return "\n".join([*lines, "", 'print fmt: "%d", REC->f0_x', ""]).encode()


def check_made(build, folder):
    rng = random.Random(1)
    return compare_formats(build, folder, [
        (f"system{s}".encode(), [made(rng, 100 * s + i) for i in range(100)])
        for s in range(5)])


def check_kernel(build, folder):
    systems = {}
    for path in glob.glob(EVENTS + "/*/*/format"):
        try:
            with open(path, "rb") as f:
                text = f.read()
        except OSError as e:
            raise Skip(f"{path}: {e.strerror}") from e
        systems.setdefault(path.split("/")[-3].encode(), []).append(text)
    if not systems:
        raise Skip(f"{EVENTS}: nothing there (tracefs is not mounted, or hidden)")
    return compare_formats(build, folder, sorted(systems.items()))


def main():
    build = os.path.abspath(parser(__doc__).parse_args().build)
    tap = Tap()
    for path in (os.path.join(DATA, name) for name in names_in(DATA, ".data")):
        with open(path, "rb") as f:
            if MAGIC in f.read():
                tap.run(os.path.basename(path), compare, build, path)
    with tempfile.TemporaryDirectory() as folder:
        tap.run("formats made of the kernel's words", check_made, build, folder)
        tap.run("this kernel's formats", check_kernel, build, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
