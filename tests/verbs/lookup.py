#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest lookup, against addr2line and readelf.

    lookup.py --build DIR

A program with inlined functions is built here with -g. For every byte of its own code the
line must be addr2line's, and so must be the chain of inlined functions; the function must
be the one whose range, as readelf prints it, has the byte, and the offset the distance
from its start. The same answers come for the guest addresses at some base, as JSON, from
arguments, and one at a time from a pipe that stays open.
"""
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from programs import feed, hlguest_of

from tap import Skip, Tap, environment, must, need, parser, run

SOURCE = """
static inline __attribute__((always_inline)) int mix(int a)
{
	for (int i = 0; i < 3; i++)
		a = a * 31 + (a >> 3);
	return a;
}
static inline __attribute__((always_inline)) int twice(int a)
{
	return mix(a) +
	       mix(a + 1);
}
int total;
__attribute__((noinline)) int first(int x)
{
	if (x > 3)
		total = twice(x);
	return total + x;
}
__attribute__((noinline)) void second(int *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = first(p[i]) + twice(i);
}
int main(int argc, char **argv)
{
	int a[4] = {argc, 2, 3, 4};

	(void)argv;
	second(a, 4);
	return a[2];
}
"""
OURS = ("first", "second", "main")
ANSWER = re.compile(r"(0x[0-9a-f]+) (.*?)\+(0x[0-9a-f]+) \((\w+), (.*)\)(?: (\S+))?$")
BASE = 0x7F0000004000


class Program:
    def __init__(self, build, work):
        need("gcc", "addr2line", "readelf", "objcopy")
        self.hlguest = hlguest_of(build)
        self.path = os.path.join(work, "program")
        source = os.path.join(work, "program.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        must("gcc", "-g", "-O2", "-pie", "-fPIE", source, "-o", self.path)
        self.functions = {}
        for line in must("readelf", "-sW", self.path).splitlines():
            fields = line.split()
            if len(fields) == 8 and fields[3] == "FUNC" and fields[7] in OURS:
                self.functions[fields[7]] = (int(fields[1], 16), int(fields[2]))
        assert set(self.functions) == set(OURS), self.functions
        self.addrs = [a for start, size in self.functions.values()
                      for a in range(start, start + size)]

    def ask(self, *options, addrs=None, image=None):
        text = "".join(f"{a:x}\n" for a in addrs or self.addrs)
        return feed([self.hlguest, "lookup", *options, image or self.path], text)

    def lines_known(self):
        out, _, _ = self.ask("--own", addrs=self.addrs[:1])
        if not ANSWER.match(out.rstrip("\n"))[6]:
            raise Skip("built without libdw")


def addr2line(program):
    """{address: [line, caller's line ...]}"""
    text = "".join(f"{a:x}\n" for a in program.addrs)
    done = subprocess.run(["addr2line", "-a", "-i", "-e", program.path], input=text,
                          capture_output=True, text=True, check=True)
    chains = {}
    for line in done.stdout.splitlines():
        if re.fullmatch("0x[0-9a-f]{16}", line):
            chain = chains.setdefault(int(line, 16), [])
        else:
            chain.append(re.sub(r" \(discriminator \d+\)", "", line))
    return chains


def answers(out):
    """{address: (name, offset, kind, [line, caller's line ...])}"""
    found = {}
    for line in out.splitlines():
        if line.startswith("  inlined "):
            chain.append(line.rsplit(", called at ", 1)[1])
            continue
        match = ANSWER.match(line)
        chain = [match[6]]
        found[int(match[1], 16)] = (match[2], int(match[3], 16), match[4], chain)
    return found


def functions_agree(program):
    out, err, status = program.ask("--own")
    if status or err:
        yield f"status {status}: {err}"
    found = answers(out)
    for name, (start, size) in program.functions.items():
        for addr in range(start, start + size):
            if found[addr][:3] != (name, addr - start, "function"):
                yield f"{addr:#x}: {found[addr]}, expected {name}+{addr - start:#x}"


def lines_agree(program):
    program.lines_known()
    theirs = addr2line(program)
    ours = answers(program.ask("--own", "--inlines")[0])
    plain = answers(program.ask("--own")[0])
    if max(len(chain) for chain in theirs.values()) < 3:
        yield "nothing was inlined: the test says nothing"
    for addr in program.addrs:
        if ours[addr][3] != theirs[addr]:
            yield f"{addr:#x}: {ours[addr][3]}, addr2line {theirs[addr]}"
        if plain[addr][3] != theirs[addr][:1]:
            yield f"{addr:#x}: {plain[addr][3]}, addr2line {theirs[addr][:1]}"


def compressed_agree(program):
    """Debug information that is compressed says the same."""
    program.lines_known()
    plain = program.ask("--own", "--inlines")[0]
    for how in "zlib", "zlib-gnu":
        path = f"{program.path}.{how}"
        must("objcopy", "--compress-debug-sections=" + how, program.path, path)
        out, err, status = program.ask("--own", "--inlines", image=path)
        if err or status or out.replace(path, program.path) != plain:
            yield f"{how}: status {status}: {err}{out[:200]}"


def guest_addresses_agree(program):
    own = program.ask("--own")[0].splitlines()
    moved, err, status = program.ask(
        addrs=[a + BASE for a in program.addrs], image=f"{program.path}@{BASE:#x}")
    if status or err:
        yield f"status {status}: {err}"
    for a, b in zip(own, moved.splitlines()):
        x, y = a.split(" ", 1), b.split(" ", 1)
        if x[1] != y[1].replace(", at this base?", "?") or int(x[0], 16) + BASE != int(y[0], 16):
            yield f"{a!r} and {b!r}"


def json_agrees(program):
    text = answers(program.ask("--own", "--inlines")[0])
    out, err, status = program.ask("--own", "--inlines", "--format=json")
    if status and "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        yield f"status {status}: {err}"
    for line in out.splitlines():
        one = json.loads(line)
        chain = [f"{x['file']}:{x.get('line', '?')}" if "file" in x else None
                 for x in [one] + one.get("inlined", [])]
        got = (one["name"], one["offset"], one["kind"], chain)
        if got != text[int(one["asked"], 16)]:
            yield f"{line}: text has {text[int(one['asked'], 16)]}"
        if [x["depth"] for x in one.get("inlined", [])] != list(range(len(chain) - 1)):
            yield f"{line}: depths"


def arguments_agree(program):
    some = program.addrs[::7]
    want = program.ask("--own", addrs=some)[0]
    words = [f"{a:#x}" if i % 2 else f"{a:X}" for i, a in enumerate(some)]
    words = [w if w[0].isdigit() else "0" + w for w in words]
    out, err, status = run(program.hlguest, "lookup", "--own", program.path, *words)
    if (out, err, status) != (want, "", 0):
        yield f"status {status}: {err}{out[:200]}"


def pipe_is_answered_at_once(program):
    process = subprocess.Popen(
        [program.hlguest, "lookup", "--own", program.path], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env=environment(), text=True, bufsize=1)
    try:
        for addr in program.addrs[:3]:
            process.stdin.write(f"{addr:#x}\n")
            if not select.select([process.stdout], [], [], 30)[0]:
                process.kill()
                yield f"{addr:#x}: no answer"
                break
            line = process.stdout.readline()
            if not line.startswith(f"{addr:#x} "):
                yield f"{addr:#x}: {line!r}"
    finally:
        process.stdin.close()
        if process.wait(timeout=60):
            yield f"status {process.returncode}"
        process.stdout.close()


def terminal_is_told(program):
    """Who gave no address waits for nothing unless it is said that one is waited for."""
    ours, its = pty.openpty()
    os.write(ours, f"{program.addrs[0]:x}\n\4".encode())
    done = subprocess.run([program.hlguest, "lookup", "--own", program.path], stdin=its, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    os.close(its)
    os.close(ours)
    if done.returncode or b"read from the terminal, one a line (^D ends; or name them)\n" not in done.stderr:
        yield f"status {done.returncode}: {done.stderr}"
    if done.stdout.decode() != program.ask("--own", addrs=program.addrs[:1])[0]:
        yield f"{done.stdout}"
    err = program.ask("--own", addrs=program.addrs[:1])[1]
    if err:
        yield f"no terminal: {err}"


def deep_chains(program):
    """Of 70 functions inlined into one another the outermost 64 are told: what called is known."""
    program.lines_known()
    inlined = "static inline __attribute__((always_inline)) void n"
    path = program.path + ".deep"
    with open(path + ".c", "w", encoding="utf-8") as f:
        f.write(inlined + "0(void) { __asm__ volatile(\"nop\"); }\n"
                + "".join(f"{inlined}{i}(void) {{ n{i - 1}(); }}\n" for i in range(1, 70))
                + "void outer(void) { n69(); }\n")
    must("gcc", "-g", "-O1", "-c", path + ".c", "-o", path + ".o")
    must("gcc", "-nostdlib", "-static", "-Wl,-e,outer", path + ".o", "-o", path)
    start, size = next((int(x[1], 16), int(x[2])) for x in map(str.split, must(
        "readelf", "-sW", path).splitlines()) if len(x) == 8 and x[7] == "outer")
    chains = set()
    for addr in range(start, start + size):
        out, _, _ = program.ask("--own", "--inlines", addrs=[addr], image=path)
        chains.add(tuple(re.findall(r"^  inlined (\w+), ", out, re.M)))
    if tuple(f"n{i}" for i in range(6, 70)) not in chains:
        yield f"{chains}"


def aliases_end(program):
    """Of very many names of one address a thousand are told."""
    names = [b"n%04d" % i for i in range(1200)]
    path = program.path + ".aliases"
    with open(path, "wb") as f:
        f.write(forged.Elf().symbols([(1 + 6 * i, forged.TEXT, 16) for i in range(len(names))],
                                     b"\0" + b"\0".join(names) + b"\0").build())
    out = must(program.hlguest, "lookup", "--own", path, "n0000")
    if not out.endswith(", ...\n") or len(set(re.findall(r"n\d{4}", out))) != 1000:
        yield out[-100:]


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            program = Program(args.build, work)
        except Skip as e:
            tap.skip("lookup", e)
            return tap.finish()
        for name, function in (
            ("functions are readelf's", functions_agree),
            ("lines and inlined functions are addr2line's", lines_agree),
            ("compressed debug information", compressed_agree),
            ("guest addresses", guest_addresses_agree),
            ("json", json_agrees),
            ("arguments", arguments_agree),
            ("a terminal", terminal_is_told),
            ("chains of many inlined functions", deep_chains),
            ("many names", aliases_end),
            ("a pipe is answered line by line", pipe_is_answered_at_once),
        ):
            tap.run(name, lambda f=function: list(f(program)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
