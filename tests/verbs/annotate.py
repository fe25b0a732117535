#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest annotate, against objdump, perf script, addr2line and the report.

    annotate.py --build DIR

Of every function, label and gap of the two guests, the instructions are those of objdump -d:
addresses, lengths, text, targets; of other programs, and of what kernels do, text. The samples of each
are what perf script tells for its address; what begins no instruction of objdump's has a line
of its own. Lines sum to the row of the report, in text as in JSON. Source lines are
addr2line's. Samples are also made by hand: inside of instructions, in padding, in data,
outside.
"""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import compiled
import recording
from programs import features_of, hlguest_of, mkelf_of, need_zydis

from tap import DATA, Skip, Tap, but_banner, environment, must, need, parser, run

GUESTS = {"demo.elf": ["demo-user.data", "demo-kernel.data", "demo-threads.data"],
          "rusty.elf": ["rusty-user.data"]}
BASE = 0x4000
MISFIT = 3
INSN = re.compile(r"^ +([0-9a-f]+):\t([0-9a-f ]+?) *(?:\t(.*))?$")


def plain(text):
    """An instruction without the names of its targets, one space behind the mnemonic; and
    without what binutils 2.40 to 2.47 differ in: the 1 of a shift that has no byte for it, and
    segments that string instructions always have."""
    text = re.sub(r" +", " ", re.sub(r"\s+(?:#|<).*$", "", text)).strip()
    text = re.sub(r"%es:(?=\(%rdi\))|%ds:(?=\(%rsi\))", "", text)
    return re.sub(r"^((?:ro|rc|sh|sa)[lr][bwlq]? )\$1,", r"\1", text)


class Guest:
    """What objdump says of an ELF: {addr: (length, text)}, {addr: bytes in hex}."""

    def __init__(self, path):
        self.insns, self.bytes = {}, {}
        for line in must("objdump", "-d", "-w", "--insn-width=16", path, cwd=DATA).splitlines():
            match = INSN.match(line)
            if match and match.group(3):
                addr = int(match.group(1), 16)
                length = len(match.group(2).split())
                self.insns[addr] = (length, match.group(3))
                self.bytes[addr] = match.group(2)


class Bench:
    def __init__(self, build, work):
        self.hlguest, self.mkelf, self.work = hlguest_of(build), mkelf_of(build), work

    def run(self, *words, cwd=DATA):
        return run(self.hlguest, "annotate", *words, cwd=cwd)

    def text(self, *words, cwd=DATA, status=0):
        out, err, got = self.run(*words, cwd=cwd)
        if "not in this build" in err:
            raise Skip(err.strip())
        if got != status or but_banner(err):
            raise RuntimeError(f"{words}: status {got}: {err}")
        return out

    def json(self, *words, **how):
        return json.loads(self.text(*words, "--format=json", **how))

    def functions(self, *words, **how):
        return self.json(*words, **how)["functions"]

    def rows(self, *words, cwd=DATA):
        out = must(self.hlguest, "report", *words, "--region=0", "--border=keep", "--format=csv",
                   cwd=cwd)
        return {(row["name"], row["addr"]): (int(row["samples"]), int(row["period"]))
                for row in csv.DictReader(io.StringIO(out)) if row["record"] == "function"}


def perf_counts(path):
    """{own address: (samples, period)} of the guest, from perf's own dump."""
    need("perf")
    found = collections.defaultdict(lambda: [0, 0])
    for ip, period in re.findall(r"PERF_RECORD_SAMPLE\(IP, 0x[45]\): \d+/\d+: "
                                 r"(0x[0-9a-f]+) period: (\d+)",
                                 must("perf", "script", "-D", "-i", path)):
        found[int(ip, 16) - BASE][0] += 1
        found[int(ip, 16) - BASE][1] += int(period)
    return {addr: tuple(counts) for addr, counts in found.items()}


def check_counts(bench, elf, recorded):
    """Every sample is at its address, once; functions sum to the report's rows."""
    expected = perf_counts(os.path.join(DATA, recorded))
    found, rows = {}, {}
    for function in bench.functions(elf, recorded, "--top=0"):
        sums = [0, 0]
        for line in function["lines"]:
            counts = (line["samples"], line["period"])
            sums = [a + b for a, b in zip(sums, counts)]
            if counts[0]:
                found[int(line["addr"], 16)] = counts
        if sums != [function["samples"], function["period"]]:
            yield f"{function['name']}: its lines sum to {sums}"
        rows[function["name"], function["addr"]] = tuple(sums)
    for addr in sorted({*expected, *found}):
        if expected.get(addr) != found.get(addr):
            yield f"{addr:#x}: {found.get(addr)}, but perf has {expected.get(addr)}"
    if rows != bench.rows(elf, recorded, "--top=0"):
        yield f"rows {rows}, but the report has others"


def all_places(elf):
    """A word for every function, label and gap of a guest."""
    words = [line.split() for line in must("readelf", "-sW", elf, cwd=DATA).splitlines()]
    names = {w[7] for w in words if len(w) == 8 and w[3] in ("FUNC", "NOTYPE")
             and w[6].isdigit() and w[7] != "_DYNAMIC"}
    # The gap of demo.elf; rusty.elf has none.
    return [f"--function={name}" for name in sorted(names)] + \
        ["--function=0x53a0"] * (elf == "demo.elf")


def check_insn(line, insns):
    addr = int(line["addr"], 16)
    length, text = insns.get(addr, (0, "none"))
    if line["size"] != length:
        yield f"{addr:#x}: {line['size']} bytes, but objdump has {length}: {text}"
        return
    if plain(line["text"]) != plain(text):
        yield f"{addr:#x}: {line['text']!r}, but objdump has {text!r}"
    target = re.search(r"^(?:\w+ )?(?:j\w+|callq?|loop\w*) +([0-9a-f]+)(?: |$)", text) or \
        re.search(r"# ([0-9a-f]+) ", text)
    wanted = int(target.group(1), 16) if target else None
    found = int(line["target"]["addr"], 16) if "target" in line else None
    if wanted != found:
        yield f"{addr:#x}: target {found}, but objdump has {text!r}"


def check_instructions(bench, elf, recorded):
    need("objdump", "readelf")
    need_zydis(bench.hlguest)
    guest, seen = Guest(elf), set()
    for function in bench.functions(elf, recorded, *all_places(elf)):
        start, size = int(function["addr"], 16), function["size"]
        here = set()
        for line in function["lines"]:
            addr = int(line["addr"], 16)
            if line["kind"] == "instruction":
                here.add(addr)
                yield from check_insn(line, guest.insns)
            elif line["kind"] == "inside" and addr in guest.insns:
                yield f"{addr:#x}: inside, but objdump has an instruction there"
        elsewhere = {a for line in function["lines"] if line["kind"] in ("other", "padding",
                                                                         "bytes")
                     for a in range(int(line["addr"], 16),
                                    int(line["addr"], 16) + line["size"])}
        there = {a for a in guest.insns if start <= a < start + size} - elsewhere
        if here != there:
            yield f"{function['name']}: {sorted(here ^ there)[:9]} on one side only"
        seen |= here
    if len(seen) < 300:
        yield f"only {len(seen)} instructions were compared"


# What only kernels do, and what is rare.
KERNEL = """
start:	rdmsr; wrmsr; lgdt 8(%rax); lidt (%rbx); ltr (%rcx); mov %cr3,%rax; mov %rax,%cr3
	mov %db7,%rax; invlpg (%rdi); iretq; iretl; swapgs; sysretq; sysretl; syscall; hlt; cli
	in $0x60,%al; out %al,$0x80; inb %dx,%al; outw %ax,%dx; insb; outsl; rep stosq
	rep movsb; repz cmpsb; repnz scasb; lodsl; xsave (%rdi); xrstor64 (%rdi); fxsave (%rdi)
	clflush (%rax); movbe (%rax),%ecx; prefetcht0 (%rax); ljmp *(%rax); lcall *(%rax)
	lretq; jmp *8(%rax); call *%rdx; lock cmpxchg %rax,(%rdi); lock incl (%rdi)
	lock cmpxchg16b (%rdi); bsf (%rax),%rcx; btsq $5,(%rax); shld $3,%rax,(%rbx)
	shll %cl,(%rax); shrq (%rax); pushq $-1; pushq (%rax); popq (%rax); pushf; popfq; leave
	cmpsd $1,%xmm1,%xmm2; cmpps $7,(%rax),%xmm2; cvtsi2sdq (%rax),%xmm1
	cvtsi2sd %rax,%xmm1; fildll (%rax); fistpl (%rax); filds (%rax); fldt (%rax)
	fsubr %st,%st(2); fdivp; fnstsw %ax; fldcw (%rax); rdtscp; cpuid; xgetbv
	mov %fs:-8,%rax; mov %gs:0x10(,%rax,4),%rbx; movabs 0x1122334455667788,%al
	movb $-1,(%rax); negl (%rax); imul $-5,(%rax),%ecx; mulq (%rax); sete (%rax)
	str (%rax); lmsw %ax; smsw (%rax); lar %ax,%cx; mov %ds,%eax; movw %fs,(%rax); wbinvd
	vmcall; endbr64; pause; ud2; int3; int $0x80; 1: jrcxz 1b; loop 1b; .byte 0xf2; jmp *%rax
	notrack jmp *%rax; bswap %rax; rdrand %rax; wrgsbase %rax; movslq %eax,%rcx
	movzwl (%rax),%ecx; movsbq %al,%rcx; cltq; cqto; cmovg %eax,%ecx; setae %al; je 1b
	nopw 0x0(%rax,%rax,1); xchg %ax,%ax; vpcmpltub %ymm30,%ymm27,%k5
	vmovdqu8 (%rdi),%zmm1{%k1}{z}
	pushw $-1
	pushw $0x1234
	pushw (%rdi)
	popw 8(%rdi)
	push %ax
	push $-1
"""
# Of code without data in it, as compilers write it. objdump joins fwait and the next.
ALIKE = 0.9995


def check_att(bench, build):
    """AT&T text is objdump's, in all code of some programs."""
    need("objdump", "gcc")
    need_zydis(bench.hlguest)
    with open(os.path.join(bench.work, "kernel.s"), "w", encoding="ascii") as f:
        f.write(KERNEL)
    must("gcc", "-c", "kernel.s", cwd=bench.work)
    driver = os.path.join(build, "tests/verbs/disasm-lines")
    for path, alike in (("demo.elf", 1), ("rusty.elf", 1), (bench.hlguest, ALIKE),
                        (os.path.join(bench.work, "kernel.o"), 1)):
        if "x86-64" not in must("objdump", "-f", path, cwd=DATA):
            continue  # hlguest was built for another machine
        guest = Guest(path)
        done = subprocess.run(
            [driver, "att"], check=True, stdout=subprocess.PIPE, input="".join(
                f"{addr:x} {code}\n" for addr, code in guest.bytes.items()).encode())
        got = done.stdout.decode().splitlines()
        other = [f"{addr:#x}: {text!r}, but objdump has {plain(wanted)!r}"
                 for text, (addr, (_, wanted)) in zip(got, guest.insns.items())
                 if plain(text) != plain(wanted)]
        if len(guest.insns) < 100 or len(got) != len(guest.insns):
            yield f"{path}: {len(got)} of {len(guest.insns)} instructions"
        if len(other) > (1 - alike) * len(got):
            yield f"{path}: {len(other)} of {len(got)} differ"
            yield from other[:9]


def check_text(bench):
    """The text has the counts of the JSON, line by line; and its sums."""
    need_zydis(bench.hlguest)
    words = ("demo.elf", "demo-user.data", "--top=0")
    expected = [(line["samples"], int(line["addr"], 16))
                for function in bench.functions(*words) for line in function["lines"]
                if line["samples"]]
    text = bench.text(*words)
    found = [(int(s), int(a, 16)) for s, a in re.findall(
        r"^ *[\d.]+ % +(\d+) [* ].  *([0-9a-f]+) [ >] ", text, re.M)]
    if found != expected:
        yield f"{[row for row in zip(found, expected) if row[0] != row[1]][:5]}"
    rows = re.findall(r"^== .*: (\d+) samples?, ", text, re.M)
    sums = re.findall(r"^ +100.00 % +(\d+)  in all$", text, re.M)
    if sum(map(int, sums)) != 3432 or rows != sums:
        yield f"rows {rows}, sums {sums}"
    yield from too_wide(text)


def too_wide(text):
    """Lines that nothing has cut."""
    yield from (f"wide: {line!r}" for line in text[text.index("== "):].split("\n")
                if len(line) > 100 and not line.startswith(("note: ", "== ")))


def check_split(bench):
    """Threads' listings add up to that of all."""
    words = ("demo.elf", "demo-threads.data", "hash_block")
    whole, = bench.functions(*words)
    parts = bench.functions(*words, "--by=tid")
    sums = [sum(column) for column in zip(*([line["samples"] for line in part["lines"]]
                                            for part in parts))]
    if len(parts) != 2 or sums != [line["samples"] for line in whole["lines"]]:
        yield f"{[part['series'] for part in parts]}: {sums}"


def check_names(bench):
    need("readelf")
    words = ("demo.elf", "demo-user.data")
    parse = "guest::json::parse"
    if not any(name.startswith(parse) for name, _ in bench.rows(*words)):
        raise Skip("not built with libiberty")
    for word, expected in (
            ("hash_block", ["hash_block"]), ("never_called", ["never_called"]),
            ("_ZN5guest4json5parseEPKcm", [parse]), (parse, [parse]),
            (parse + "(char const*, unsigned long)", [parse]),
            ("weak_copy", ["guest_copy"]), ("guest_move", ["guest_copy"]),
            ("excp_page_fault", ["excp_page_fault"]),
            ("__gap__ after checksum_words", ["__gap__ after checksum_words"]),
            ("0x52db", ["hash_block"]), ("0x53b4", ["__gap__ after checksum_words"]),
            ("0x1", ["[outside]"])):
        for argv in ((*words, "--function=" + word), (*words, word), (word, *words)):
            found = [f["name"] for f in bench.functions(*argv)]
            if not all(name.startswith(e) for name, e in zip(found, expected)) or \
                    len(found) != len(expected):
                yield f"{argv}: {found}"
    found = [f["name"] for f in bench.functions(*words, "tick", "hash_block", "tick")]
    if found != ["tick", "hash_block"]:
        yield f"two functions: {found}"
    if len(bench.functions(*words)) != 5:
        yield "not five by default"
    for word, said in (("nobody", "no such function in demo.elf, and no such file"),
                       ("copy", "several functions have that in their names \\(give one of them: guest_copy"),
                       ("__gap__ after nobody", "no such function")):
        out, err, status = bench.run(*words, word)
        if out or status != 1 or not re.search(said, err):
            yield f"{word}: status {status}: {err}"


def check_twins(bench):
    """Functions of one name are all shown, and told."""
    work = bench.work
    starts = compiled.twins(work)
    recording.write(os.path.join(work, "twins.data"), [(BASE + starts[1], 7, 1000, 0)])
    got = bench.json("twins@0x4000", "twins.data", "same", "--force", cwd=work)
    found = [(f["addr"], f["samples"]) for f in got["functions"]]
    if found != [(hex(starts[0]), 0), (hex(starts[1]), 1)]:
        yield f"{found}"
    if not any("2 places are called same: at " + ", ".join(map(hex, starts)) in note
               for note in got["notes"]):
        yield f"notes {got['notes']}"


def check_told_apart(bench):
    """A report shows what functions of one name are: by DWARF, or by their addresses."""
    work = bench.work
    starts = compiled.told_apart(work)
    recording.write(os.path.join(work, "told.data"),
                    [(BASE + start, 7, 1000, 0) for start in starts])
    built = must(bench.hlguest, "--version")
    for demangle, strip in ("yes", False), ("no", False), ("yes", True):
        greet = "guest::greet(int)" if demangle == "yes" and "libiberty" in built else \
            "_ZN5guest5greetEi"
        wanted = sorted(f"ELF {start:#x}" for start in starts) if strip or "libdw" not in built else \
            sorted(["counts.c:1", greet, "main.c:1"])
        if strip:
            must("strip", "-g", "told", cwd=work)
        out = must(bench.hlguest, "report", "told@0x4000", "told.data", "--force",
                   "--demangle=" + demangle, cwd=work)
        found = sorted(re.findall(r" same  \((.*)\)$", out, re.M))
        if found != wanted:
            yield f"{found}, not {wanted}: {out}"


def check_odd_places(bench):
    """Samples off the boundaries, in padding, in data and outside keep their addresses."""
    need_zydis(bench.hlguest)
    made = {0x12db: 5, 0x12dc: 3, 0x12de: 2, 0x1399: 7, 0x13a4: 1, 0x13f0: 4, 0x3200: 6}
    recording.write(os.path.join(bench.work, "odd.data"),
                    [(BASE + addr, 7, 1000, 0) for addr, n in made.items() for _ in range(n)]
                    + [(0x10, 7, 1000, 0)] * 2)
    path = os.path.join(bench.work, "odd.data")
    got = bench.functions("demo.elf", path, "--top=0", "--force", status=MISFIT)
    found = {int(line["addr"], 16): (line["samples"], line["kind"])
             for f in got for line in f["lines"] if line["samples"]}
    expected = {0x12db: (5, "instruction"), 0x12dc: (3, "inside"), 0x12de: (2, "inside"),
                0x1399: (7, "plain"), 0x13a4: (1, "inside"), 0x13f0: (4, "plain"),
                0x3200: (6, "plain"), 0x10: (2, "plain")}
    if found != expected:
        yield f"{found}"
    hash_block = next(f for f in got if f["name"] == "hash_block")
    sums = {key: value["samples"] for key, value in hash_block["sums"].items()}
    if sums != {"instruction": 5, "inside": 5, "plain": 0}:
        yield f"sums {sums}"
    text = bench.text("demo.elf", path, "--top=0", "--force", status=MISFIT)
    for said in ("(inside of the instruction at 0x12db)", "(in padding)"):
        if said not in text:
            yield f"the text does not say {said}"


def check_lines(bench):
    need("addr2line")
    need_zydis(bench.hlguest)
    work = bench.work
    compiled.inlined(work)
    recording.write(os.path.join(work, "made.data"), [(1, 7, 1000, 0)])
    outer, = bench.functions("program@0x4000", "made.data", "outer", "--force", cwd=work)
    lines = [line for line in outer["lines"] if line["kind"] == "instruction"]
    if not any("file" in line for line in lines):
        raise Skip("not built with libdw")
    told = must("addr2line", "-e", "program", *(line["addr"] for line in lines), cwd=work)
    for line, expected in zip(lines, told.splitlines()):
        expected = re.sub(r" \(discriminator \d+\)$", "", expected)
        found = f"{line['file']}:{line.get('line', '?')}"
        if found != expected:
            yield f"{line['addr']}: {found}, but addr2line has {expected}"
    if len({line["file"] for line in lines}) != 2:
        yield "not the lines of two files"
    # A sample inside of an instruction is of the instruction's line.
    wide = next(line for line in lines if line["size"] > 1)
    recording.write(os.path.join(work, "inside.data"),
                    [(BASE + int(wide["addr"], 16) + 1, 7, 1000, 0)])
    outer, = bench.functions("program@0x4000", "inside.data", "outer", "--force", cwd=work)
    inside = [(line.get("file"), line.get("line")) for line in outer["lines"]
              if line["kind"] == "inside"]
    if inside != [(wide["file"], wide.get("line"))]:
        yield f"inside of {wide}: {inside}"
    told = must("addr2line", "-aif", "-e", "program", *(line["addr"] for line in lines), cwd=work)
    frames = [frame.split("\n")[1:-1:2] for frame in re.split(r"^0x", told, flags=re.M)[1:]]
    before = None
    for line, functions in zip(lines, frames, strict=True):
        expected = functions[0] if len(functions) > 1 else None
        here = line["file"], line.get("line")
        if line.get("inlined") != expected and here != before:  # the first of a line has it
            yield f"{line['addr']}: inlined {line.get('inlined')}, but addr2line has {functions}"
        before = here
    if not any("inlined" in line for line in lines) or all("inlined" in line for line in lines):
        yield "not both: lines of a function that was inlined, and others"


def check_source(bench):
    """Text shows the lines of files that are here and not newer than the ELF."""
    need_zydis(bench.hlguest)
    work = bench.work
    compiled.inlined(work)
    recording.write(os.path.join(work, "made.data"), [(1, 7, 1000, 0)])
    words = ("program@0x4000", "made.data", "outer", "--force")
    header = os.path.join(work, "inlined.h")
    shown = os.path.join(os.path.basename(work), "inlined.h")  # a long path loses its start
    text = bench.text(*words, cwd=work)
    if "inlined.h:5" not in text:
        raise Skip("not built with libdw")
    for said in (f"{shown}:5  mix (inlined)  a = a * 31 + (a >> 3);\n",
                 "  sum += mix(table[i] + x);\n",
                 "/program.c:8  for (int i = 0; i < 64; i++)\n"):
        if said not in text:
            yield f"{said!r} is not in the text"
    yield from too_wide(text)
    with open(header, "a", encoding="ascii") as f:
        f.write("\x1b[31m" + "long " * 999)
    text = bench.text(*words, cwd=work)
    if f"{shown}:5  mix (inlined)\n" not in text or "a >> 3" in text or \
            f"note: {header}: is newer than the ELF, so its lines are not shown" not in text:
        yield f"inlined.h is newer: {text}"
    text = bench.text(*words, "main", cwd=work)
    if text.count("is newer than the ELF") != 1 or text.count("\n== ") != 2:
        yield f"what is newer is not told once: {text}"
    # What was changed without a newer time, or is no text
    for content, said in (("\n" * 4 + "\t\x1b[31m\u202e" + "long " * 999, ":5  mix (inlined)  \\x1b[31m"),
                          ("short\n", ":5  mix (inlined)\n"), ("\0" * 99, "inlined.h: is no text")):
        with open(header, "w", encoding="utf-8") as f:
            f.write(content)
        os.utime(header, (0, 0))
        text = bench.text(*words, cwd=work)
        if said not in text:
            yield f"{said!r} is not in {text}"
        yield from too_wide(text)
        yield from (f"{line!r}" for line in text.split("\n") if not line.isprintable())
    if os.geteuid() == 0:  # anybody may have made the ELF, and name what only root can read
        for mode, owner in ((0o600, 0), (0o644, 65534)):
            with open(header, "w", encoding="utf-8") as f:
                f.write("secret\n" * 9)
            os.utime(header, (0, 0))
            os.chmod(header, mode)
            os.chown(header, owner, owner)
            text = bench.text(*words, cwd=work)
            if "secret" in text or "is not shown to root" not in text:
                yield f"shown to root: {mode:o}, {owner}: {text}"
    os.unlink(header)
    os.mkfifo(header)
    if f"{shown}:5  mix (inlined)\n" not in bench.text(*words, cwd=work):
        yield "a FIFO is shown"
    os.unlink(header)


def check_debug_file(bench):
    """A stripped program has the names and lines of its debug file."""
    need("objcopy")
    work = bench.work
    compiled.inlined(work)
    recording.write(os.path.join(work, "made.data"), [(1, 7, 1000, 0)])
    must("objcopy", "--only-keep-debug", "program", "program.far", cwd=work)
    must("objcopy", "--strip-all", "--add-gnu-debuglink=program.far", "program", "bare",
         cwd=work)
    words = ("made.data", "outer", "--force", "--format=json")
    whole, bare = (json.loads(must(
        bench.hlguest, "annotate", elf, *words, cwd=work,
        env={**environment(), "HLGUEST_DEBUG_DIR": work}))
        for elf in ("program@0x4000", "bare@0x4000"))
    for key in "name", "addr", "size", "lines":
        if whole["functions"][0][key] != bare["functions"][0][key]:
            yield f"{key}: {bare['functions'][0][key]}"
    if f"bare: is stripped; names are those of {os.path.join(work, 'program.far')}" not in \
            bare["notes"]:
        yield f"{bare['notes']}"
    _, err, status = run(bench.hlguest, "annotate", "bare@0x4000", *words, cwd=work,
                         env={**environment(), "HLGUEST_DEBUG_DIR": ""})
    if status != 1 or "no such function" not in err and "has no symbol" not in err:
        yield f"without: status {status}: {err}"
    # One with names has no lines of a file that is another's, and says so.
    must("objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id",
         "--add-gnu-debuglink=program.far", "program", "named", cwd=work)
    with open(os.path.join(work, "program.far"), "ab") as f:
        f.write(b"\0")
    out, err, status = run(bench.hlguest, "annotate", "named@0x4000", *words, cwd=work,
                           env={**environment(), "HLGUEST_DEBUG_DIR": work})
    if status or err.count("program.far: is not the debug file of named: its CRC is") != 1 or \
            any(line.get("file") for line in json.loads(out)["functions"][0]["lines"]):
        yield f"of another's: status {status}: {err}"


def check_misfit(bench):
    """Nothing is shown where the samples do not fit, and all of it with force."""
    need_zydis(bench.hlguest)
    for words, shown in (((), False), (("--force",), True)):
        argv = ("demo.elf@0x4001", "demo-user.data", "hash_block", *words)
        got = bench.json(*argv, status=MISFIT)
        if got["withheld"] == shown or bool(got["functions"]) != shown or \
                got["trust"]["verdict"] != "mismatch":
            yield f"{words}: withheld {got['withheld']}, {len(got['functions'])} functions"
        if ("instructions are withheld" in bench.text(*argv, status=MISFIT)) == shown:
            yield f"{words}: the text says otherwise"


def check_no_text(bench):
    """AArch64 without Capstone has words instead of text, a perf map nothing; samples are there
    all the same."""
    work = bench.work
    must(bench.mkelf, "aarch64", "guest.elf", cwd=work)
    recording.write(os.path.join(work, "arm.data"), [(0x5000 + 4, 7, 1000, 0)] * 3)
    got = bench.functions("guest.elf@0x4000", "arm.data", "--force", cwd=work)
    lines = [line for line in got[0]["lines"] if line["samples"]]
    words = "shown as words in this build" in (got[0]["note"] or "")
    if words == ("Capstone" in features_of(bench.hlguest)) or len(lines) != 1 or lines[0]["samples"] != 3:
        yield f"AArch64: {got[0]['note']!r}, {lines}"
    with open(os.path.join(work, "perf-7.map"), "w", encoding="utf-8") as f:
        f.write("5000 20 jitted\n")
    got = bench.functions("map:perf-7.map", "arm.data", "jitted", cwd=work)
    if [line["samples"] for line in got[0]["lines"]] != [3]:
        yield f"map: {got}"


def check_hostile(bench):
    """Names that attack terminals and formats are escaped."""
    work = bench.work
    must(bench.mkelf, "hostile", "hostile.elf", cwd=work)
    recording.write(os.path.join(work, "hostile.data"),
                    [(BASE + a, 7, 1000, 0) for a in range(0x1000, 0x1800, 8)])
    words = ("hostile.elf@0x4000", "hostile.data", "--force", "--top=0")
    for line in bench.text(*words, cwd=work).split("\n"):
        if not line.isprintable():
            yield f"{line!r}"
    got = bench.functions(*words, cwd=work)
    if len(got) < 20 or sum(f["samples"] for f in got) != 256:
        yield f"{len(got)} functions, {sum(f['samples'] for f in got)} samples"
    # One is found by what it really is called.
    found = bench.functions(*words, "new\nline", cwd=work)
    if [f["name"] for f in found] != ["new\\x0aline"]:
        yield f"{[f['name'] for f in found]}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="annotate-") as work:
        bench = Bench(build, work)
        for elf, recordings in GUESTS.items():
            tap.run(f"{elf}: instructions", lambda e=elf, r=recordings[0]:
                    list(check_instructions(bench, e, r)))
            for recorded in recordings:
                tap.run(f"{recorded}: counts", lambda e=elf, r=recorded:
                        list(check_counts(bench, e, r)))
        for name, function in (("AT&T", lambda bench: check_att(bench, build)),
                               ("text", check_text), ("by=tid", check_split),
                               ("names", check_names), ("functions of one name", check_twins), ("a report tells them apart", check_told_apart),
                               ("odd places", check_odd_places), ("lines", check_lines),
                               ("source text", check_source),
                               ("debug file", check_debug_file),
                               ("samples that do not fit", check_misfit),
                               ("no disassembler", check_no_text),
                               ("hostile names", check_hostile)):
            tap.run(name, lambda f=function: list(f(bench)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
