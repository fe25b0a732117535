#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""No function of hlguest calls itself, directly or through others.

    recursion.py --build DIR [--list]

What is read from a file decides how deep code like that goes, and a stack ends at some
8 MiB. So the built programs are taken apart with objdump: who calls whom, and who takes the
address of whom, which may be a call back. Each cycle in that must be one of those below,
with the reason why it is bounded. --list prints the cycles found.

What the compiler made a loop of (a call at the very end) is none here; compilers of other
builds may not. That is why all builds run this.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from programs import hlguest_of, program
from tap import Skip, Tap, parser

# Of whom a cycle may be, all its functions, and why it ends.
ALLOWED = (
    (r"d_\w+|cplus_demangle_(mangled_name|type)", "libiberty, C++: DEMANGLE_RECURSION_LIMIT "
     "deep; what it does in that many levels is bounded by symtab/name/demangle.c"),
    (r"demangle_(const|generic_arg|path|path_maybe_open_generics|type)",
     "libiberty, Rust: RUST_MAX_RECURSION_COUNT deep"),
    (r"json_\w+|do_\w+|hashtable_\w+", "jansson: as deep as the documents that hlguest makes, "
     "which is a constant"),
    (r"parse_value", "jansson: JSON_PARSER_MAX_DEPTH deep"),
)

HEAD = re.compile(r"^([0-9a-f]+) <(.+)>:$")
# "  1234:\tcall   5678 <name>", "\tlea 0x12(%rip),%rdi        # 5678 <name>"
INSN = re.compile(r"^\s+[0-9a-f]+:\s+(?:\S+ )*?(call|jmp|j[a-z]+|lea|bnd jmp)\s+(.*)$")
CALLED = re.compile(r"^([0-9a-f]+) <([^>+]+)>")
TAKEN = re.compile(r"# ([0-9a-f]+) <([^>+]+)>")
PART = re.compile(r"\.(cold|part|constprop|isra|lto_priv)(\.\d+)*")


def stem(name):
    """What the compiler split off a function is still that function."""
    return PART.sub("", name)


def graph_of(path):
    """({address: name}, [(from, to, instruction)]) of functions. They are told apart by
    address, since static ones of different files may have one name."""
    done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-M", "att", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Skip(f"{path}: {done.stderr.decode().strip()}")
    starts, edges, here = {}, [], None
    for line in done.stdout.decode(errors="replace").splitlines():
        head = HEAD.match(line)
        if head:
            here = int(head[1], 16)
            starts[here] = head[2]
            continue
        insn = INSN.match(line)
        if not insn:
            continue
        to = (CALLED if insn[1] != "lea" else TAKEN).search(insn[2])
        if to:
            edges.append((here, int(to[1], 16), insn[1]))
    return starts, edges


def wholes(starts):
    """{part of a function: the function}: the only one of its name."""
    named = {}
    for at, name in starts.items():
        named.setdefault(name, []).append(at)
    found = {}
    for at, name in starts.items():
        whole = named.get(stem(name), ())
        found[at] = whole[0] if len(whole) == 1 else at
    return found


def joined(starts, edges):
    """{function: {function it reaches: in which ways}}, with parts counted as the whole."""
    whole, out = wholes(starts), {at: {} for at in starts}
    for a, b, how in edges:
        # That a function calls its own part is no recursion; the other way round is.
        if a in whole and b in whole and (whole[a] != whole[b] or
                                          how == "call" and b == whole[b]):
            out[whole[a]].setdefault(whole[b], set()).add(how)
    return out


def groups(out):
    """Sets of functions that reach each other: Tarjan's algorithm, without recursion."""
    number, low, stack, on = {}, {}, [], set()
    for root in sorted(out):
        work = [] if root in number else [(root, None)]
        while work:
            at, rest = work.pop()
            if rest is None:
                number[at] = low[at] = len(number)
                stack.append(at)
                on.add(at)
                rest = iter(sorted(out[at]))
            for to in rest:
                if to not in number:
                    work += [(at, rest), (to, None)]
                    break
                if to in on:
                    low[at] = min(low[at], low[to])
            else:
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == number[at]:
                    first = stack.index(at)
                    yield set(stack[first:])
                    on.difference_update(stack[first:])
                    del stack[first:]


def cycles(path):
    """Names of the functions of each group in which one is called or handed on; where all
    only jump to the next, the compiler has made a loop of them."""
    starts, edges = graph_of(path)
    out = joined(starts, edges)
    for group in groups(out):
        ways = set().union(*(out[a][b] for a in group for b in out[a] if b in group), set())
        if ways & {"call", "lea"}:
            yield sorted({stem(starts[at]) for at in group})


def reason(names):
    for pattern, why in ALLOWED:
        if all(re.fullmatch(pattern, name) for name in names):
            return why
    return None


def check(path):
    return [f"{' '.join(names)}: one calls the other, to a depth that input decides"
            for names in cycles(path) if not reason(names)]


PROBE = """
int last(int n);
__attribute__((noinline)) static int walk(int n) { return n ? last(n - 1) + 1 : 0; }
int last(int n) { return n < 3 ? walk(n) * 2 : n; }
__attribute__((noinline)) int down(int n) { return n ? down(n - 1) + down(n / 2) : 1; }
__attribute__((noinline)) int flat(int n) { return n * 3; }
int main(int n, char **v) { return v ? last(n) + down(n) + flat(n) : 0; }
"""


def probe(compiler):
    """Is this test able to find what it looks for?"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "probe")
        done = subprocess.run([*compiler.split(), "-O0", "-x", "c", "-", "-o", path],
                              input=PROBE.encode(), check=False, stderr=subprocess.PIPE)
        if done.returncode:
            raise Skip(f"{compiler} does not work here")
        found = sorted(cycles(path))
        if found != [["down"], ["last", "walk"]]:
            return [f"of down, and of last and walk, it found {found}"]
    return []


def main():
    p = parser(__doc__)
    p.add_argument("--list", action="store_true")
    args = p.parse_args()
    paths = hlguest_of(args.build), program(args.build, "HLG_FILTER", "filter/hlguest.so")
    if args.list:
        for path in paths:
            for names in cycles(path):
                print(f"{os.path.basename(path)}: {' '.join(names)}\n"
                      f"    {reason(names) or 'NO REASON'}")
        return 0
    if not shutil.which("objdump"):
        print("1..0 # SKIP objdump is not installed")
        return 0
    tap = Tap()
    tap.run("recursion is found", probe, os.environ.get("CC", "cc"))
    for path in paths:
        tap.run(f"none in {os.path.basename(path)}", check, path)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
