#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""AArch64 guests, against objdump and readelf.

    aarch64.py --build DIR

Programs are compiled and linked with all of their library: C, and Rust where rustc has the
target. A sample is put on every 5th word of their text. Rows of the report are then what
readelf says of these addresses, and of every function the instructions that annotate shows
are objdump's: addresses, text and targets. Words that Capstone does not know are `.inst`;
these, and those it calls something else, are counted, and may be few. Needs the cross
compiler (aarch64-linux-gnu-gcc); without Capstone only the rows are compared.
"""
import collections
import csv
import io
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import recording
from binutils import Program, compare
from programs import hlguest_of
from tap import Skip, Tap, must, need, parser, run

C = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(char *)a - *(char *)b; }
int main(int argc, char **argv)
{
	qsort(argv[0], 3, 1, compare);
	return printf("%f %f\\n", sin(argc), pow(argc, 2.5)) < 0;
}
"""
RUST = """
use std::collections::HashMap;
fn main() {
    let mut lengths = HashMap::new();
    for word in std::env::args() { *lengths.entry(word.len()).or_insert(0u64) += 1; }
    println!("{:?}", lengths);
}
"""
TARGET = "aarch64-unknown-linux-gnu"
STEP = 5  # words from sample to sample
# Of Capstone 4.0.2: what there is for MTE, SVE and far atomics of glibc it does not know, and
# calls `dc gzva` sys. 292 and 2 of 89,913 words in C, 299 and 2 of 168,668 in Rust.
UNKNOWN, OTHER = 0.004, 0.0001


def compile_c(work):
    need("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "aarch64-linux-gnu-readelf")
    with open(os.path.join(work, "arm.c"), "w", encoding="ascii") as f:
        f.write(C)
    _, err, status = run("aarch64-linux-gnu-gcc", "-O2", "-static", "arm.c", "-o", "arm", "-lm",
                         cwd=work)
    if status:
        raise Skip(f"no C program can be linked: {err.strip().splitlines()[-1]}")
    return "arm"


def compile_rust(work):
    need("rustc", "aarch64-linux-gnu-gcc")
    with open(os.path.join(work, "rust.rs"), "w", encoding="ascii") as f:
        f.write(RUST)
    _, err, status = run("rustc", "-O", "--target", TARGET, "-C", "linker=aarch64-linux-gnu-gcc",
                         "-C", "target-feature=+crt-static", "rust.rs", "-o", "rust", cwd=work)
    if status:
        raise Skip(f"no Rust program can be linked: {err.strip().splitlines()[0]}")
    return "rust"


def record(program):
    samples = [addr for addr in sorted(program.insns)
               if addr // 4 % STEP == 0 and program.start_of(addr)]
    # The first word of each function, too: then each has a row.
    samples += program.starts
    recording.write(os.path.join(program.work, "arm.data"),
                    [(addr, 7, 1000, 0) for addr in samples])
    return samples


def hlguest(build, verb, program, *words):
    out, err, status = run(hlguest_of(build), verb, "-q", program.name, "arm.data",
                           "--top=0", *words, cwd=program.work)
    if status or err:
        raise RuntimeError(f"{verb}: status {status}: {err}")
    return out


def check_rows(build, program):
    """Every sample is in the function that readelf has at its address."""
    wanted = collections.Counter()
    for addr in record(program):
        wanted[program.start_of(addr)] += 1
    rows = csv.DictReader(io.StringIO(hlguest(build, "report", program, "--format=csv")))
    found = collections.Counter()
    for row in rows:
        if row["record"] == "function" and row["kind"] == "function":
            found[int(row["addr"], 16)] += int(row["samples"])
    different = {addr: (found[addr], n) for addr, n in wanted.items() if found[addr] != n}
    if len(wanted) < 500:
        yield f"only {len(wanted)} functions"
    print(f"# {program.name}: {sum(wanted.values())} samples in {len(wanted)} functions")
    yield from (f"{addr:#x} {sorted(program.symbols[addr][1])}: {got} samples, not {n}"
                for addr, (got, n) in different.items())


def check_instructions(build, program):
    if "Capstone" not in must(hlguest_of(build), "--version").split("without")[0]:
        raise Skip("not built with Capstone")
    record(program)
    seen, unknown, other = 0, 0, []
    for function in json.loads(hlguest(build, "annotate", program,
                                       "--format=json"))["functions"]:
        if function["kind"] != "function":
            continue
        for line in function["lines"]:
            if line["kind"] != "instruction":
                continue
            seen += 1
            different = compare(line, program.insns)
            # Data in the text is told apart by objdump only.
            if different and line["text"].startswith(".inst"):
                unknown += 1
            elif different:
                other.append(different)
    print(f"# {program.name}: {seen} instructions, {unknown} not known, {len(other)} other")
    if seen < 50000:
        yield f"only {seen} instructions were compared"
    if unknown > UNKNOWN * seen or len(other) > OTHER * seen:
        yield f"{unknown} are not known, {len(other)} are other"
        yield from other


def main():
    build = os.path.abspath(parser(__doc__).parse_args().build)
    tap = Tap()
    for compiler in compile_c, compile_rust:
        language = compiler.__name__.split("_")[1]
        with tempfile.TemporaryDirectory(prefix="aarch64-") as work:
            try:
                program = Program(work, compiler(work))
            except Skip as e:
                tap.skip(language, e)
                continue
            for name, check in (("rows", check_rows), ("instructions", check_instructions)):
                tap.run(f"{language}: {name}", lambda c=check: list(c(build, program)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
