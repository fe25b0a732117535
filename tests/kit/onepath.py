# SPDX-License-Identifier: GPL-2.0-only
"""Guests whose every stack is known: each function is called by one other, from one path.

A program of random functions that call each other as a tree: the function that a sample
hits tells all its callers, with nothing done to the guest. What compilers make is put in
on purpose: leaves, early returns before the frame is made, large and variable frames,
arguments on the stack, calls by pointers, recursion by one function (of which the depth
is not known) and by three in turn, tail calls, and calls that do not return.

With decoys, code that never runs calls functions, too, so that a function's only caller is not
the only one that its code names.

A function that ends with a jump to another is no caller of it: which tail calls are jumps
the code tells (objdump).
"""
import collections
import os
import random
import re

import called
from microvm import FREESTANDING
from tap import Skip, must, need, run

FUNCTIONS = 90
DEEPEST = 16
SECOND = 0.25    # of the functions are in the second file
DEPTH = 5        # of recursion by one function
TURNS = 7        # of that by three
HALT = 108       # Hyperlight's port
CANARY = (0x5EADCA9A1E58).to_bytes(8, "little")  # HLG_VM_LAYOUT_CANARY, rig/layout.h
FRAMES = "-fno-omit-frame-pointer"
TABLES = "-fasynchronous-unwind-tables"

# Compiler and options; options of the second of two files, if they are others; features.
Kind = collections.namedtuple("Kind", "compiler options second features",
                              defaults=((), None, ("pointers", "tails", "turns")))
DIRECT = ("turns",)
KINDS = {
    "gcc": Kind("gcc", ("-O2", FRAMES)),
    "clang": Kind("clang", ("-O2", FRAMES, "-mno-omit-leaf-frame-pointer")),
    "rust": Kind("rustc", ("-Copt-level=2", "-Cforce-frame-pointers=yes")),
    "gcc, direct calls": Kind("gcc", ("-O2", FRAMES), None, DIRECT),
    "clang, direct calls": Kind("clang", ("-O2", FRAMES), None, DIRECT),
    "rust, direct calls": Kind("rustc", ("-Copt-level=2", "-Cforce-frame-pointers=yes"), None,
                               DIRECT),
    "gcc, direct and tail calls": Kind("gcc", ("-O2", FRAMES), None, DIRECT + ("tails",)),
    "gcc, decoys": Kind("gcc", ("-O2", FRAMES), None, ("pointers", "tails", "turns", "decoys")),
    "clang, decoys": Kind("clang", ("-O2", FRAMES), None,
                          ("pointers", "tails", "turns", "decoys")),
    "gcc, direct calls, decoys": Kind("gcc", ("-O2", FRAMES), None, DIRECT + ("decoys",)),
    "gcc, mostly pointers": Kind("gcc", ("-O2", FRAMES), None,
                                 ("pointers", "tails", "turns", "mostly")),
    "gcc -O0": Kind("gcc", ("-O0", FRAMES)),
    "gcc -O3": Kind("gcc", ("-O3", FRAMES)),
    "gcc -Os": Kind("gcc", ("-Os", FRAMES)),
    "clang -O0": Kind("clang", ("-O0", FRAMES)),
    "clang -Os": Kind("clang", ("-Os", FRAMES)),
    "gcc and clang": Kind("gcc", ("-O2", FRAMES), ("clang", "-O2", FRAMES)),
    "gcc, some without frame pointers": Kind("gcc", ("-O2", FRAMES),
                                             ("gcc", "-O2", "-fomit-frame-pointer")),
    "clang, some without frame pointers": Kind("clang", ("-O2", FRAMES),
                                               ("clang", "-O2", "-fomit-frame-pointer")),
    "gcc without frame pointers": Kind("gcc", ("-O2", "-fomit-frame-pointer")),
    "gcc, unwind tables": Kind("gcc", ("-O2", "-fomit-frame-pointer", TABLES)),
    "clang, unwind tables": Kind("clang", ("-O2", "-fomit-frame-pointer", TABLES)),
    "rust, unwind tables": Kind("rustc", ("-Copt-level=2", "-Cforce-unwind-tables=yes")),
    "gcc, decoys, unwind tables": Kind("gcc", ("-O2", TABLES), None,
                                       ("pointers", "tails", "turns", "decoys")),
}

Edge = collections.namedtuple("Edge", "callee way")  # direct, pointer, tail, tail pointer, many


class Function:
    def __init__(self, number, caller, depth):
        self.number = number
        self.name = f"f{number:03}"
        self.caller = caller
        self.depth = depth
        self.calls = []       # Edges
        self.recursion = None  # "self", or "turn" of three in a row


def tree(rng, features):
    """[Function], the first being the root."""
    functions = [Function(0, None, 0)]
    while len(functions) < FUNCTIONS:
        caller = rng.choice(functions[-12:] if rng.random() < 0.5 else functions)
        if len(caller.calls) >= 4 or caller.depth >= DEEPEST or \
                caller.calls and caller.recursion:
            continue
        callee = Function(len(functions), caller, caller.depth + 1)
        functions.append(callee)
        edge = Edge(callee, way(rng, caller, features))
        caller.calls.append(edge)
        if "turns" in features and edge.way != "many" and rng.random() < 0.15:
            callee.recursion = rng.choice(("self", "turn"))
            if callee.recursion == "turn":
                add_turns(functions, callee)
    return functions


def way(rng, caller, features):
    """At most one call by a pointer in each function, and nothing behind a tail call."""
    taken = {edge.way for edge in caller.calls}
    often = 3 if "mostly" in features else 1
    ways = ["direct"] * 10 + ["many"] * 2
    if caller.recursion:
        return "direct"
    if "pointers" in features and not taken & {"pointer", "tail pointer"}:
        ways += ["pointer"] * 2 * often
        if "tails" in features and "tail" not in taken:
            ways += ["tail pointer"] * often
    if "tails" in features and not taken & {"tail", "tail pointer"}:
        ways += ["tail"] * 2 * often
    return rng.choice(ways)


def add_turns(functions, first):
    """Two more, which call each other and the first in turn."""
    first.turn = [first]
    for _ in range(2):
        more = Function(len(functions), first, first.depth)
        more.recursion, more.turn = "turn", first.turn
        more.calls = first.calls  # from the one whose turn is the last
        first.turn.append(more)
        functions.append(more)


def next_turn(function):
    return function.turn[(function.turn.index(function) + 1) % 3]


# --- Its source --------------------------------------------------------------------


def pointed_to(functions):
    """Those that are called by pointer; no other's address is taken, as in real programs."""
    return [f for f in functions if f.caller and any(
        "pointer" in e.way and e.callee is f for e in f.caller.calls)]


class C:
    """Two files, the first with most of the functions and the entry point."""
    WORDS = "u64 s, u64 n"
    MORE = ", u64 a, u64 b, u64 c, u64 d, u64 e, u64 g, u64 h"
    HEAD = """typedef unsigned long u64;
#define API __attribute__((noinline, visibility("hidden")%s))
#define NEVER __attribute__((noreturn)) API
#define WORK(s, times, odd) do { for (u64 i_ = 0; i_ < (times) + ((s) & 3); i_++) \\
	(s) = ((s) ^ (s) >> 29) * (odd); } while (0)
typedef u64 function(u64 s, u64 n);
extern function *volatile table[] __attribute__((visibility("hidden")));
"""
    END = """function *volatile table[] = {%s};
NEVER void never_2(u64 s);
NEVER void never_2(u64 s)
{
	WORK(s, 8000, 0xbf58476d1ce4e5b9);
	__asm__ volatile("outl %%0, %%1" : : "a"((unsigned)s), "d"((unsigned short)%d));
	__builtin_unreachable();
}
NEVER void never_1(u64 s);
NEVER void never_1(u64 s)
{
	WORK(s, 8000, 0xbf58476d1ce4e5bb);
	never_2(s);
}
NEVER void run(void);
NEVER void run(void)
{
	u64 s = 1;
	for (int i = 0; i < 200; i++)
		s += f000(s, 0);
	never_1(s);
}
__asm__(".globl _start\\n.type _start, @function\\n_start: xorl %%ebp, %%ebp\\ncall run\\n"
	"ud2\\n.size _start, . - _start");
"""

    def __init__(self, rng, functions, decoys):
        self.rng = rng
        self.functions = functions
        self.decoys = decoys

    def odd(self):
        return hex(self.rng.getrandbits(63) | 1)

    def work(self):
        if self.rng.random() < 0.2:
            return f"\ts ^= s >> 7 ^ {self.odd()};\n"
        return f"\tWORK(s, {self.rng.randrange(2, 40)}, {self.odd()});\n"

    @staticmethod
    def has_more(function):
        return function.caller and any(e.way == "many" and e.callee is function
                                       for e in function.caller.calls)

    def declaration(self, function):
        more = self.MORE if self.has_more(function) else ""
        return f"API u64 {function.name}({self.WORDS}{more})"

    def call(self, edge, n):
        words = f"s ^ {self.odd()}, {n}"
        if "pointer" in edge.way:
            return f"table[{edge.callee.number}]({words})"
        if edge.way == "many":
            words += "".join(f", s + {i}" for i in range(7))
        return f"{edge.callee.name}({words})"

    @staticmethod
    def turns(function):
        return {"self": DEPTH, "turn": TURNS, None: 0}[function.recursion]

    def decoy(self, function):
        """No n is that."""
        other = self.rng.choice(self.functions)
        if not self.decoys or self.rng.random() < 0.3 or self.has_more(other) or \
                other.caller is function:
            return ""
        return f"\tif (n == 12345)\n\t\ts += {other.name}(s, 0);\n"

    def statement(self, edge):
        call = self.call(edge, self.turns(edge.callee))
        if "tail" in edge.way:
            return f"\treturn {call};\n"
        if self.rng.random() < 0.15:
            return f"\tfor (int i = 0; i < 2; i++)\n\t\ts += {call};\n"
        return f"\ts {self.rng.choice('+^')}= {call};\n"

    def body(self, function):
        text = ""
        if function.recursion:
            to = function if function.recursion == "self" else next_turn(function)
            inner = function.calls and self.call(function.calls[0],
                                                 self.turns(function.calls[0].callee))
            text += self.work()
            text += f"\tif (n)\n\t\ts ^= {to.name}(s + 1, n - 1);\n"
            if inner:
                text += f"\telse\n\t\ts += {inner};\n"
            return text + self.work() + "\treturn s;\n"
        chance = self.rng.random()
        if chance < 0.15:
            text += f"\tvolatile u64 large[{self.rng.choice((4, 30, 600))}];\n" \
                    "\tlarge[s & 3] = s;\n\ts += large[1 + (s & 1)];\n"
        elif chance < 0.2:
            text += "\tvolatile u64 *any = __builtin_alloca(8 * (9 + (s & 31)));\n" \
                    "\tany[s & 7] = s;\n\ts += any[8];\n"
        if self.rng.random() < 0.25:
            text += f"\tif ((s & 3) == 1)\n\t\treturn s * {self.odd()};\n"
        last = [e for e in function.calls if "tail" in e.way]
        if self.rng.random() < 0.8:
            text += self.work()
        for edge in [e for e in function.calls if "tail" not in e.way] + last:
            if edge not in last:
                text += self.decoy(function)
            text += self.statement(edge)
            if "tail" not in edge.way and self.rng.random() < 0.8:
                text += self.work()
        return text + ("" if last else f"\treturn s ^ {self.odd()};\n")

    def files(self, compiler):
        """The two files' texts."""
        plain = [f for f in self.functions if not self.has_more(f)]
        head = self.HEAD % (", noipa" if compiler == "gcc" else "")
        head += "".join(self.declaration(f) + ";\n" for f in self.functions)
        texts = [head, head]
        for function in self.functions:
            texts[self.rng.random() < SECOND] += f"{self.declaration(function)}\n{{\n" \
                                              f"{self.body(function)}}}\n"
        pointers = ", ".join(f"[{f.number}] = {f.name}" for f in pointed_to(plain))
        texts[0] += self.END % (pointers, HALT)
        return texts


class Rust(C):
    """The same; without large frames of a size that is not known, which it has not."""
    HEAD = """#![no_std]
#![no_main]
use core::mem::MaybeUninit;
use core::ptr::{addr_of, read_volatile, write_volatile};
type Function = extern "C" fn(u64, u64) -> u64;
#[inline(always)]
fn work(mut s: u64, times: u64, odd: u64) -> u64 {
	let mut i = 0;
	let n = times + (s & 3);
	while i < n { s = (s ^ s >> 29).wrapping_mul(odd); i += 1; }
	s
}
#[inline(always)]
fn at(i: usize) -> Function {
	unsafe { read_volatile((addr_of!(TABLE) as *const Function).add(i)) }
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
"""
    END = """static mut TABLE: [Function; %d] = [%s];
#[no_mangle] #[inline(never)]
extern "C" fn never_2(s: u64) -> ! {
	let s = work(s, 8000, 0xbf58476d1ce4e5b9);
	unsafe { core::arch::asm!("out dx, eax", "ud2", in("eax") s as u32, in("dx") %du16,
		options(noreturn)) }
}
#[no_mangle] #[inline(never)]
extern "C" fn never_1(s: u64) -> ! { never_2(work(s, 8000, 0xbf58476d1ce4e5bb)) }
#[no_mangle] #[inline(never)]
extern "C" fn run() -> ! {
	let mut s = 1u64;
	let mut i = 0;
	while i < 200 { s = s.wrapping_add(f000(s, 0)); i += 1; }
	never_1(s)
}
core::arch::global_asm!(".globl _start", ".type _start, @function", "_start: xor ebp, ebp",
	"call run", "ud2", ".size _start, . - _start");
"""
    MANY = ", a: u64, b: u64, c: u64, d: u64, e: u64, g: u64, h: u64"

    def work(self):
        if self.rng.random() < 0.2:
            return f"\ts ^= s >> 7 ^ {self.odd()};\n"
        return f"\ts = work(s, {self.rng.randrange(2, 40)}, {self.odd()});\n"

    def call(self, edge, n):
        text = super().call(edge, n)
        for i in range(7):
            text = text.replace(f", s + {i}", f", s.wrapping_add({i})")
        return re.sub(r"^table\[(\d+)\]", r"at(\1)", text)

    def statement(self, edge):
        call = self.call(edge, self.turns(edge.callee))
        if "tail" in edge.way:
            return f"\treturn {call};\n"
        if self.rng.random() < 0.15:
            return f"\tlet mut i = 0;\n\twhile i < 2 {{ s ^= {call}; i += 1; }}\n"
        return f"\ts ^= {call};\n"

    def body(self, function):
        text = ""
        if function.recursion:
            to = function if function.recursion == "self" else next_turn(function)
            text += self.work()
            text += f"\tif n != 0 {{ s ^= {to.name}(s ^ 1, n - 1); }}\n"
            if function.calls:
                edge = function.calls[0]
                text += f"\telse {{ s ^= {self.call(edge, self.turns(edge.callee))}; }}\n"
            return text + self.work() + "\ts\n"
        if self.rng.random() < 0.2:
            text += "\tlet mut large = " \
                    f"MaybeUninit::<[u64; {self.rng.choice((4, 30, 600))}]>::uninit();\n" \
                    "\tunsafe { let p = large.as_mut_ptr() as *mut u64;\n" \
                    "\twrite_volatile(p.add(1), 1);\n" \
                    "\twrite_volatile(p.add((s & 3) as usize), s);\n" \
                    "\ts ^= read_volatile(p.add(1)); }\n"
        if self.rng.random() < 0.25:
            text += f"\tif s & 3 == 1 {{ return s.wrapping_mul({self.odd()}); }}\n"
        last = [e for e in function.calls if "tail" in e.way]
        if self.rng.random() < 0.8:
            text += self.work()
        for edge in [e for e in function.calls if "tail" not in e.way] + last:
            text += self.statement(edge)
            if "tail" not in edge.way and self.rng.random() < 0.8:
                text += self.work()
        return text + ("" if last else f"\ts ^ {self.odd()}\n")

    def files(self, compiler):
        text, plain = self.HEAD, []
        for function in self.functions:
            more = self.has_more(function)
            if not more:
                plain.append(function)
            words = "mut s: u64, n: u64" + (self.MANY if more else "")
            uses = " let _ = (n" + (", a, b, c, d, e, g, h" if more else "") + ");"
            text += f"#[no_mangle] #[inline(never)]\nextern \"C\" fn {function.name}({words}) " \
                    f"-> u64 {{{uses}\n{self.body(function)}}}\n"
        known = {f.number: f.name for f in pointed_to(plain)}
        names = ", ".join(known.get(i, "f000") for i in range(len(self.functions)))
        return [text + self.END % (len(self.functions), names, HALT)]


# --- The program, and what its stacks can be ---------------------------------------

C_ONLY = [flag for flag in FREESTANDING if not flag.startswith("-Wl,")]
LINK = ("-static-pie", "-nostdlib",
        "-Wl,--build-id=none,--no-dynamic-linker,-z,noexecstack,-z,text")
RUST = ("--edition=2021", "--cap-lints=allow", "-Cpanic=abort", "-Crelocation-model=pie",
        "-Coverflow-checks=off", "-Ctarget-feature=+crt-static", "-Ccodegen-units=1",
        "-Cforce-unwind-tables=no",
        "-Clink-args=-nostartfiles -nostdlib -nodefaultlibs -static-pie "
        "-Wl,--build-id=none,--no-dynamic-linker,-z,noexecstack,-z,text")


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def compiled(*command):
    need(command[0])
    _, err, status = run(*command)
    if status:
        raise RuntimeError(f"{' '.join(command)}: {err[-2000:]}")


class Guest:
    """An ELF, and for each of its functions the stacks that it can be in."""

    def __init__(self, name, folder, seed=1):
        kind = KINDS[name]
        rng = random.Random(f"{name} {seed}")
        self.name = name
        self.functions = tree(rng, kind.features)
        stem = re.sub(r"\W+", "-", f"{name}-{seed}")
        self.path = os.path.join(folder, stem + ".elf")
        if kind.compiler == "rustc":
            source = written(folder, stem + ".rs", Rust(rng, self.functions, False).files("rustc")[0])
            compiled("rustc", *RUST, *kind.options, "-o", self.path, source)
        else:
            self.build_c(rng, kind, os.path.join(folder, stem))
        self.stacks = self.find_stacks()

    def build_c(self, rng, kind, stem):
        first = (kind.compiler, *kind.options)
        objects = []
        texts = C(rng, self.functions, "decoys" in kind.features).files(kind.compiler)
        for i, text in enumerate(texts):
            source = written("", f"{stem}.{i}.c", text)
            objects.append(f"{stem}.{i}.o")
            command = kind.second if i and kind.second else first
            compiled(command[0], *C_ONLY, *command[1:], "-w", "-c", "-o", objects[-1], source)
        compiled("gcc", *LINK, "-o", self.path, *objects)

    def transfers(self):
        """{function: {(jmp or call, callee or None: by a pointer)}}, as objdump has it."""
        found, here = collections.defaultdict(set), None
        for line in must("objdump", "-d", "--no-show-raw-insn", self.path).splitlines():
            if label := re.match(r"[0-9a-f]+ <(\w+)(?:\.cold)?>:", line):
                here = label[1]
            elif go := re.search(r"\t(?:notrack )?(j|call)\w* +(\*|[0-9a-f]+ <(\w+)>)", line):
                found[here].add(("jmp" if go[1] == "j" else "call", go[3]))
        return found

    def find_stacks(self):
        """{function: {stack}}, stacks as called.parse has them, outermost first."""
        transfers = self.transfers()
        root = ("_start", "run")
        stacks = {"_start": {root[:1]}, "run": {root}, "never_1": {root + ("never_1",)},
                  "never_2": {root + ("never_1", "never_2")}}
        for name, jumps in (("never_1", "run"), ("never_2", "never_1")):
            if ("jmp", name) in transfers[jumps]:
                raise Skip(f"{jumps} jumps to {name}")
        for f in self.functions:
            if f.name not in stacks:  # the others of three in turn are
                self.add(f, self.before(f, stacks, transfers) if f.caller else {root}, stacks)
        return stacks

    @staticmethod
    def before(f, stacks, transfers):
        """The stacks that a function finds, but for itself."""
        caller = f.caller
        edge = next(e for e in caller.calls if e.callee is f)
        to = None if "pointer" in edge.way else f.name
        found = set()
        if caller.recursion == "turn":
            names = {t.name for t in caller.turn}
            return {s for s in stacks[caller.turn[TURNS % 3].name]
                    if sum(name in names for name in s) == TURNS + 1}
        if caller.recursion == "self":
            return {s for s in stacks[caller.name] if s.count(caller.name) == DEPTH + 1}
        if ("jmp", to) in transfers[caller.name]:
            found |= {s[:-1] for s in stacks[caller.name]}
        if ("call", to) in transfers[caller.name]:
            found |= stacks[caller.name]
        if not found:
            raise RuntimeError(f"{caller.name} does not go to {f.name}")
        return found

    @staticmethod
    def add(f, before, stacks):
        if f.recursion == "self":
            stacks[f.name] = {s + (f.name,) * k for s in before for k in range(1, DEPTH + 2)}
        elif f.recursion == "turn":
            for i in range(TURNS + 1):
                row = tuple(f.turn[k % 3].name for k in range(i + 1))
                stacks.setdefault(row[-1], set()).update(s + row for s in before)
        else:
            stacks[f.name] = {s + (f.name,) for s in before}


# --- Judging -----------------------------------------------------------------------

UNKNOWN = "[caller unknown]"
TRUNCATED = "[truncated"
STRAYS = 4  # samples; so few are no share of some thousands

# Of the samples at most, in percent: with marks; wrong, and nothing says so.
Limits = collections.namedtuple("Limits", "marked wrong")
ALL_FRAMES = Limits(2, 0.1)
DIRECT_CALLS = Limits(0.1, 0.1)
POINTERS = MIXED = Limits(100, 0.1)
REFUSED = Limits(0, 0)  # no callers at all are told


def fits(stack, truth):
    """Whether a stack with marks is truth, a mark standing for any callers or none."""
    pattern = "".join(
        r"(?:[^;]+;)*" if frame == UNKNOWN or frame.startswith(TRUNCATED)
        else re.escape(frame) + ";" for frame in stack)
    return re.fullmatch(pattern, "".join(frame + ";" for frame in truth)) is not None


def judge(guest, stack):
    """"exact", "marked", or what is wrong."""
    truths = guest.stacks.get(stack[-1])
    if truths is None:
        return "of no function"
    if stack in truths:
        return "exact"
    if any(frame.startswith("[") for frame in stack):
        return "marked" if any(fits(stack, t) for t in truths) else "marked, and wrong"
    for kind, change in (("the caller is missing", lambda t: t[:-2] + t[-1:]),
                         ("two callers are missing", lambda t: t[:-3] + t[-1:])):
        if any(change(t) == stack for t in truths):
            return kind
    if any(set(stack) <= set(t) for t in truths):
        return "callers are missing"
    return "a caller is none"


def check(guest, folded, limits, least):
    """What is wrong with stacks of the guest, at least so many samples."""
    kinds, wrong = collections.Counter(), collections.Counter()
    for stack, samples in called.parse(folded).items():
        stack = tuple(frame.removesuffix(".cold") for frame in stack)
        kind = judge(guest, stack)
        kinds[kind] += samples
        if kind not in ("exact", "marked"):
            wrong[f"{kind}: {';'.join(stack)}"] += samples
    total = kinds.total()
    print(f"# {guest.name}: {total} samples:",
          ", ".join(f"{100 * n / max(total, 1):.2f} % {kind}" for kind, n in kinds.most_common()))
    if total < least:
        yield f"{total} samples"
    told = total - sum(n for what, n in wrong.items() if ";" not in what)
    if limits is REFUSED or (limits is MIXED and told < 0.1 * total):
        if told > 0.1 * total:  # those of the outermost functions
            yield f"{told} of {total} samples have callers"
        return
    for kind, found, limit in (("marked", kinds["marked"], limits.marked),
                               ("wrong", wrong.total(), limits.wrong)):
        if found > STRAYS and found > limit / 100 * total:
            yield f"{found} of {total} samples are {kind}, more than {limit} %"
            yield from (f"{n}: {what}" for what, n in wrong.most_common(8))
