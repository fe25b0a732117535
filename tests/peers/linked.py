#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Images as linkers and strip leave them, against readelf and nm: linked.py --build BUILD

One small program with thread-local data, an indirect function, aliases and hand-written
assembly, linked in every way that the compiler here knows, stripped, with debug
information only, compressed or elsewhere. elf_diff.py asks. TAP.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is the source's
import elf_diff

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
__thread int counter = 3;
static __thread int zero;
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*choose(void))(int) { return one; }
int indirect(int) __attribute__((ifunc("choose")));
int weakly(int) __attribute__((weak));
int weakly(int x) { return two(x); }
int also(int) __attribute__((alias("weakly")));
__asm__(".globl bare\n.type bare,@function\nbare: nop\nnop\nret\nlocal: nop\n");
int main(void) { return zero + counter + indirect(also(2)) + printf("\n"); }
"""
LINKED = {
    "pie": [], "no-pie": ["-no-pie"], "static-pie": ["-static-pie"], "static": ["-static"],
    "shared": ["-shared", "-fPIC"], "apart": ["-ffunction-sections", "-Wl,-z,separate-code"],
    "together": ["-Wl,-z,noseparate-code"], "large-pages": ["-Wl,-z,max-page-size=0x200000"],
    "compressed": ["-gz=zlib"], "gold": ["-fuse-ld=gold"], "lld": ["-fuse-ld=lld"],
}
COPIED = {
    "debug": ["objcopy", "--only-keep-debug"], "link": ["objcopy", "--add-gnu-debuglink=/bin/sh"],
    "no-debug": ["strip", "--strip-debug", "-o"], "stripped": ["strip", "-s", "-o"],
}


def make(folder):
    """(path, refusal) of each."""
    source, made = Path(folder, "a.c"), []
    source.write_text(SOURCE)
    for name, words in LINKED.items():
        path = Path(folder, name)
        if subprocess.run(["gcc", "-g", *words, "-o", path, source], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            continue  # there is no such linker here
        made.append((path, None))
        for kind, copy in COPIED.items() if name in ("pie", "static-pie", "shared") else ():
            to = Path(folder, f"{name}-{kind}")
            ends = [to, path] if copy[-1] == "-o" else [path, to]
            subprocess.run([*copy, *ends], check=True)
            # What a shared object says of its symbols to others stays.
            made.append((to, "has no symbol" if kind == "stripped" and name != "shared" else
                         None))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    hlguest = parser.parse_args().build.resolve() / "tools/hlguest"
    missing = [tool for tool in ("gcc", "objcopy", "strip", "readelf", "nm")
               if not shutil.which(tool)]
    if missing or os.uname().machine != "x86_64":
        print(f"1..0 # SKIP no {missing[0] if missing else 'x86-64'} here")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="hlguest-") as folder:
        made = make(folder)
        print(f"1..{len(made)}")
        for i, (path, refusal) in enumerate(made, 1):
            try:
                said = elf_diff.check(hlguest, path, refusal)
                print(f"ok {i} - {path.name} {said}")
            except AssertionError as why:
                failed += 1
                print(f"# {str(why)[:2000]}\nnot ok {i} - {path.name}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
