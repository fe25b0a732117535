#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Inlined functions in stacks of guests, against llvm-symbolizer.

    inlined.py --build DIR

A guest is compiled by gcc and clang, with DWARF 4 and 5, in which functions were inlined
into others, around instructions and around calls. Of stacks made up of its calls, each
frame of report --format=folded, flame and speedscope must have above it what
llvm-symbolizer says was inlined there; rows of --children count each inlined function
once a sample, and have no self; with --inline=no all is as from a guest without debug
information; and so is what shows no inlined functions: exports by address, annotate, diff.
A saved profile has them for Go's pprof, which counts a sample for the innermost; read again
it says what the recording does, however it was merged.
"""
import collections
import json
import os
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import chromium
import microvm
import recording
import stacked
from programs import feed, hlguest_of
from tap import Skip, Tap, must, need, parser, report, run

SOURCE = """
#define NOINLINE __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
typedef unsigned long word;
volatile word sink;

INLINED word mix(word x)
{
	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
}
INLINED word mix_twice(word x) { return mix(mix(x) + 1); }
NOINLINE word leaf_pointed(word x)
{
	return mix_twice(x) + x;
}
NOINLINE word leaf(word x)
{
	return x * 3 + mix(x);
}
INLINED word call_leaf(word x)
{
	return leaf(mix(x)) + 1;
}
INLINED word call_both(word x)
{
	return call_leaf(x) + leaf_pointed(x);
}
NOINLINE word middle(word x)
{
	return call_both(x) + leaf(x) + mix_twice(x);
}
NOINLINE word plain(word x)
{
	return x ? middle(x - 1) : 0;
}
INLINED void loop(void)
{
	for (word i = 0; i < 20; i++)
		sink = plain(i) + middle(sink);
}
void run(void)
{
	loop();
	for (;;)
		;
}
__asm__(".globl _start\\n"
	".type _start, @function\\n"
	"_start: xorl %ebp, %ebp\\n"
	"call run\\n"
	"ud2\\n"
	".size _start, . - _start");
"""
FLAGS = ("-O0", "-fno-omit-frame-pointer", "-g")
SAMPLES = 300
Made = collections.namedtuple("Made", "elf data plain stacks chains")


def make(folder, compiler, dwarf):
    """A guest, a recording of it, the guest without debug information, [(function, address)
    of each frame, the innermost first] of each sample, and {address: what is inlined there,
    innermost first}."""
    need(compiler, "llvm-symbolizer", "objdump", "objcopy")
    rng = random.Random(1)
    source, elf, data, plain = (os.path.join(folder, name) for name in
                                ("guest.c", "guest.elf", "a.data", "plain.elf"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(SOURCE)
    must(compiler, *microvm.FREESTANDING, *FLAGS, f"-gdwarf-{dwarf}", source, "-o", elf)
    must("objcopy", "--strip-debug", elf, plain)
    guest = stacked.read(elf)
    stacks = []
    for _ in range(SAMPLES):
        steps, last = stacked.path(guest, rng)
        # While it has its frame: clang puts padding behind the end.
        stacks.append([(last, rng.choice(guest.code[last][3:-4])),
                       *((f, back - 1) for f, back in reversed(steps))])
    record(data, stacks, [1] * len(stacks))
    return Made(elf, data, plain, stacks, symbolize(elf, stacks))


def record(path, stacks, periods):
    recording.write(
        path, [(stacked.BASE + stack[0][1], 7, n, 0) for stack, n in zip(stacks, periods)],
        chains=[(stacked.USER, stacked.BASE + stack[0][1],
                 *(stacked.BASE + addr + 1 for _, addr in stack[1:]), stacked.TAIL,
                 stacked.WHOLE | stacked.FRAMES << 8) for stack in stacks])


def symbolize(elf, stacks):
    addrs = sorted({addr for stack in stacks for _, addr in stack})
    out, err, status = feed(["llvm-symbolizer", f"--obj={elf}", "--inlines", "--no-demangle",
                             "--output-style=JSON"], "".join(f"{a:#x}\n" for a in addrs))
    if status:
        raise Skip(f"llvm-symbolizer: {err}")
    answers = map(json.loads, out.splitlines())
    return {int(a["Address"], 16): [s["FunctionName"] for s in a["Symbol"][:-1]]
            for a in answers}


def frames(made, stack, inlines=True):
    """From the outermost one on."""
    names = []
    for function, addr in reversed(stack):
        names.append(function)
        if inlines:
            names += [f"{name} (inlined)" for name in reversed(made.chains[addr])]
    return names


def expect(made, inlines=True):
    return collections.Counter(";".join(frames(made, stack, inlines)) for stack in made.stacks)


def folded(text):
    found = collections.Counter()
    for line in text.splitlines():
        stack, n = line.rsplit(" ", 1)
        found[stack.split("[guest];", 1)[1]] += int(n)
    return found


def speedscope(text):
    document = json.loads(text)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    found = collections.Counter()
    for profile in document["profiles"]:
        for stack, n in zip(profile["samples"], profile["weights"]):
            of = [names[i] for i in stack]
            found[";".join(of[of.index("[guest]") + 1:])] += n
    return found


def differ(what, got, expected):
    for key in sorted(set(got) | set(expected)):
        if got[key] != expected[key]:
            yield f"{what}: {key}: {got[key]}, not {expected[key]}"


def check_stacks(hlguest, made):
    at = f"{made.elf}@{stacked.BASE:#x}"
    deep = max(map(len, made.chains.values()))
    called = any(made.chains[addr] for stack in made.stacks for _, addr in stack[1:])
    if deep < 2 or not called:
        yield f"at most {deep} inlined, around calls: {called}"
    words = ("--stacks=callgraph", "--border=keep")
    for what, read, argv in (
            ("report", folded, ("report", "--format=folded", *words)),
            ("flame", folded, ("flame", "--format=folded", "--border=keep")),
            ("report", speedscope, ("report", "--format=speedscope", *words))):
        out, err, status = run(hlguest, *argv, at, made.data)
        if "not in this build" in err:
            continue
        if status or err:
            yield f"{argv}: status {status}: {err}"
        yield from differ(f"{what}", read(out), expect(made))
        out = must(hlguest, *argv, "--inline=no", at, made.data)
        yield from differ(f"{what} --inline=no", read(out), expect(made, False))


def check_listing(hlguest, made):
    """Each instruction is of the innermost function that was inlined there, also where several
    are of one line."""
    found = json.loads(must(hlguest, "annotate", "--top=0", "--format=json",
                            f"{made.elf}@{stacked.BASE:#x}", made.data))
    listed = {int(line["addr"], 16): line.get("inlined") for f in found["functions"]
              for line in f["lines"] if line["samples"]}
    if not listed:
        yield "no lines"
    for addr, name in listed.items():
        chain = made.chains.get(addr) or [None]
        if name != chain[0]:
            yield f"{addr:#x}: {name}, not {chain}"


def children(hlguest, *words):
    """{name: (kind, samples, samples of its own, is its address told)}"""
    out, err, status = run(hlguest, "report", "--children", "--format=json", "--top=0",
                           "--border=keep", *words)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return {row["name"]: (row["kind"], row["samples"], row["self"]["samples"],
                          row.get("address", row.get("addr")) is not None)
            for row in json.loads(out)["children"]}


def check_children(hlguest, made):
    expected, own = collections.Counter(), collections.Counter()
    for stack in made.stacks:
        expected.update(set(frames(made, stack)))
        own[stack[0][0]] += 1
    got = children(hlguest, f"{made.elf}@{stacked.BASE:#x}", made.data)
    yield from differ("samples", collections.Counter({k: v[1] for k, v in got.items()}), expected)
    yield from differ("self", collections.Counter({k: v[2] for k, v in got.items()}), own)
    for name, (kind, _, _, told) in got.items():
        inlined = name.endswith(" (inlined)")
        if (kind == "inlined") != inlined or told == inlined:
            yield f"{name}: kind {kind}, address told: {told}"
    said = [must(hlguest, "report", "--children", *words, f"{made.elf}@{stacked.BASE:#x}",
                 made.data).count("\nself counts inlined code as its function's")
            for words in ((), ("--inline=no",))]
    if said != [1, 0]:
        yield f"what self is is said {said} times"
    kinds = [set(line.split(",")[2] for line in must(
        hlguest, "report", "--children", "--format=csv", "--top=0", *words,
        f"{made.elf}@{stacked.BASE:#x}", made.data).splitlines()
        if line.startswith("children,")) for words in ((), ("--inline=no",))]
    if kinds != [{'"function"', '"inlined"'}, {'"function"'}] and \
            kinds != [{"function", "inlined"}, {"function"}]:
        yield f"kinds in CSV {kinds}"


def check_same(build, hlguest, made):
    """Where no inlined functions are shown, debug information changes no byte."""
    plain, elf = f"{made.plain}@{stacked.BASE:#x}", f"{made.elf}@{stacked.BASE:#x}"
    words = ("--children", "--call-graph=callee", "--top=0")
    for argv in (("report", *words), ("report", "--format=json", *words),
                 ("flame", "--border=keep"), ("flame", f"--before={made.data}"),
                 ("diff", "--children", made.data)):
        inline = ("--inline=no",) if argv[0] == "report" or len(argv) == 2 and \
            "before" not in argv[1] else ()
        first, second = (run(hlguest, *argv, *more, of, made.data)[0].replace(
            "plain.elf", "guest.elf") for of, more in ((elf, inline), (plain, ())))
        if first != second:
            yield f"{argv}: {len(first)} bytes, {len(second)} without debug information"
    filtered = report(build, made.data, elf, "stacks=callgraph", "format=folded",
                      "border=keep", "mode=guest")
    if "(inlined)" in filtered:
        yield f"the filter: {filtered}"


def check_flat(hlguest, made, folder):
    """Without callers in the guest there are none."""
    flat = os.path.join(folder, "flat.data")
    recording.write(flat, [(stacked.BASE + stack[0][1], 7, 1, 0) for stack in made.stacks],
                    chains=[()] * len(made.stacks))
    out = must(hlguest, "report", "--format=folded", "--stacks=callgraph",
               f"{made.elf}@{stacked.BASE:#x}", flat)
    if not out or "(inlined)" in out:
        yield out


def check_called_by(hlguest, made, folder):
    """Who called is told of what weighs something."""
    path = os.path.join(folder, "weights.data")
    by_callers = {}
    for stack in made.stacks:
        if len(stack) > 1:
            by_callers.setdefault(stack[0][0], {})[stack[1][0]] = stack
    leaf, callers = max(by_callers.items(), key=lambda item: len(item[1]))
    if len(callers) < 2:
        yield f"one caller of {leaf}: the test says nothing"
    for weighs in callers:
        record(path, callers.values(), [int(name == weighs) for name in callers])
        out = must(hlguest, "annotate", f"{made.elf}@{stacked.BASE:#x}", path, leaf)
        told = re.findall(r"^  (?:called by:|          ) +[\d.]+ %  \S+ *[\d.]+  (\S+)$",
                          out, re.M)
        if told != [weighs]:
            yield f"{leaf} is called by {told}, not {weighs}"


LINES = """
	.file 1 "one.c"
	.file 2 "two.c"
	.globl _start
	.type _start, @function
_start:
	.loc 1 7
	nop
	.loc 2 7
	nop
	.loc 2 8
	.rept 40
	nop
	.endr
	ret
	.size _start, . - _start
"""


def check_lines(hlguest, folder):
    """The page tells a source line where it is another, and again behind what is left out."""
    source, elf, data = (os.path.join(folder, name) for name in ("l.s", "l.elf", "l.data"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(LINES)
    must("gcc", *microvm.FREESTANDING, source, "-o", elf)
    code = stacked.read(elf).code["_start"]
    recording.write(data, [(stacked.BASE + addr, 7, 1, 0) for addr in (*code[:3], code[-1])])
    html = must(hlguest, "report", "-q", "--force", "--format=html", f"{elf}@{stacked.BASE:#x}", data)
    told = [re.sub("^[0-9]+ ", "", line)
            for line in re.findall('<span class="source">(.*?)</span>', html)]
    if told != ["one.c:7", "two.c:7", "two.c:8", "lines without samples", "two.c:8"]:
        yield f"{told}"


def check_told_apart(hlguest, made, folder):
    """In flame graphs they look other than functions that were called: no more, no less."""
    elf, path = f"{made.elf}@{stacked.BASE:#x}", os.path.join(folder, "page.html")
    svg = must(hlguest, "flame", elf, made.data)
    frames_drawn = re.findall(r'<g class="f guest s\d( inlined)?[^>]*><title>(.*)', svg)
    if any(bool(mark) != name.endswith(" (inlined)") for mark, name in frames_drawn) or \
            len({mark for mark, _ in frames_drawn}) != 2 or ">inlined<" not in svg:
        yield f"flame: {frames_drawn}"
    must(hlguest, "report", "--format=html", "--stacks=callgraph", "-o", path, elf, made.data)
    try:
        browser = chromium.Browser()
    except chromium.NoBrowser as e:
        raise Skip(str(e)) from e
    with browser:
        page = chromium.Page(browser, path)
        drawn = page.run("new Promise(done => { const look = () => { const all = [...document."
                         "querySelectorAll('#flame g.guest')]; if (!all.length) return setTimeout(look, 10);"
                         "done(all.map(g => [g.classList.contains('inlined'), getComputedStyle("
                         "g.querySelector('rect')).fillOpacity, g.querySelector('text')?.textContent])); };"
                         "look(); })")
        if {(inlined, opacity) for inlined, opacity, _ in drawn} != {(True, "0.4"), (False, "1")}:
            yield f"the page: {drawn}"
        if any(text and "(inlined)" in text and not inlined for inlined, _, text in drawn):
            yield f"the page: {drawn}"


def save(hlguest, made, name, *words, data=None):
    path = os.path.join(os.path.dirname(made.elf), name)
    must(hlguest, "report", "--format=pprof", "--border=keep", f"--out={path}", *words,
         f"{made.elf}@{stacked.BASE:#x}", *(data or [made.data]))
    return path


def content(path):
    with open(path, "rb") as f:
        return f.read()


def top(path):
    """{name: (flat, cum)} of samples, as Go's pprof has it."""
    out = must("go", "tool", "pprof", "-top", "-nodefraction=0", "-sample_index=0", path)
    rows = re.findall(r"^ *(\d+) +\S+% +\S+% +(\d+) +\S+%  (\S+)", out, re.M)
    return {name: (int(flat), int(cum)) for flat, cum, name in rows}


def count(made, chains, flat):
    """What top should say, of whole stacks, or of the samples alone."""
    own, of_all = collections.Counter(), collections.Counter()
    for stack in made.stacks:
        names = [[*(chains[addr] if chains else ()), function] for function, addr in stack]
        own[names[0][0]] += 1
        of_all.update({name for some in (names[:1] if flat else names) for name in some})
    return {name: (own[name], of_all[name]) for name in of_all}


def check_pprof(hlguest, made):
    if "protobuf-c" not in must(hlguest, "--version").split("without")[0]:
        raise Skip("built without protobuf-c")
    whole, without = save(hlguest, made, "a.pb.gz"), save(hlguest, made, "b.pb.gz", "--inline=no")
    flat = [save(hlguest, made, f"flat-{word}.pb.gz", "--stacks=leaf", f"--inline={word}")
            for word in ("yes", "no")]
    default = save(hlguest, made, "flat.pb.gz", "--stacks=leaf")
    if content(default) != content(flat[1]):
        yield "inlined functions are saved of samples without callers"
    words = ("--stacks=callgraph", "--format=folded", "--border=keep")
    for path in (whole, without):
        got = folded(must(hlguest, "report", *words, f"{made.elf}@{stacked.BASE:#x}", path))
        yield from differ("read again", got, expect(made))
    merged = []
    for paths in ((whole, without), (without, whole), (whole, whole)):
        merged.append(os.path.join(os.path.dirname(made.elf), f"{len(merged)}.pb.gz"))
        # One named twice counts once.
        copies = [shutil.copy(path, f"{path}.{i}") for i, path in enumerate(paths)]
        must(hlguest, "merge", "-o", merged[-1], *copies)
    if len({content(path) for path in merged}) != 1:
        yield "merged with one that lacks them, or in another order, it has other bytes"
    if content(whole) == content(without):
        yield "there are no inlined functions"
    need("go")
    for path, chains, is_flat, times in (
            (whole, made.chains, False, 1), (without, None, False, 1),
            (flat[0], made.chains, True, 1), (flat[1], None, True, 1),
            (merged[0], made.chains, False, 2)):
        expected = {name: tuple(times * n for n in both)
                    for name, both in count(made, chains, is_flat).items()}
        got = top(path)
        if got != expected:
            yield f"{os.path.basename(path)}: pprof has {got}, not {expected}"


def main():
    args = parser(__doc__).parse_args()
    hlguest = hlguest_of(args.build)
    tap = Tap()

    for compiler in "gcc", "clang":
        for dwarf in 4, 5:
            with tempfile.TemporaryDirectory() as folder:
                name = f"{compiler}, DWARF {dwarf}: "
                try:
                    if "libdw" not in must(hlguest, "--version").split("without")[0]:
                        raise Skip("built without libdw")
                    made = make(folder, compiler, dwarf)
                except Skip as e:
                    tap.skip(name + "stacks", e)
                    continue
                tap.run(name + "stacks", lambda: list(check_stacks(hlguest, made)))
                tap.run(name + "listing", lambda: list(check_listing(hlguest, made)))
                tap.run(name + "rows", lambda: list(check_children(hlguest, made)))
                tap.run(name + "elsewhere none",
                        lambda: list(check_same(args.build, hlguest, made)))
                tap.run(name + "saved", lambda: list(check_pprof(hlguest, made)))
                tap.run(name + "called by",
                        lambda: list(check_called_by(hlguest, made, folder)))
                tap.run(name + "none without callers",
                        lambda: list(check_flat(hlguest, made, folder)))
                if (compiler, dwarf) == ("gcc", 5):
                    tap.run(name + "told apart",
                            lambda: list(check_told_apart(hlguest, made, folder)))
                    tap.run("source lines in a page", lambda: list(check_lines(hlguest, folder)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
