#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest sysprof on recorded streams, and on damaged ones.

    sysprof.py --build DIR

What is read is held against decode.py beside this (every sample's state, stack and names),
against the figures of an independent decode that lie beside the recordings, and against
what Tarantool's own parser printed for them. Truncations and flipped bits are read as
decode.py reads them, or refused as it refuses them.
"""
import collections
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from sysprof_decode import Bad, Stream
from names import shown as escaped
from programs import hlguest_of
from tap import DATA, Skip, Tap, names_in, must, parser, run

STREAMS = [os.path.join(DATA, "sysprof", name)
           for name in names_in(os.path.join(DATA, "sysprof"), ".bin")]
ALL = os.path.join(DATA, "sysprof", "all-records.bin")


def content(path, mode="r"):
    with open(path, mode, encoding=None if "b" in mode else "utf-8") as f:
        return f.read()


def hexadecimal(frame, key):
    return int(frame[key], 16)


def shown(frame):
    """A frame of decode.py as the command's JSON tells it, without its name."""
    def symbol(found):
        return found[1] if found else None
    if frame[0] == "lua":
        chunk = frame[3]
        return "lua", frame[1], frame[2], chunk if chunk is None else escaped(chunk)
    if frame[0] == "trace":
        chunk = frame[4]
        return ("trace", frame[1], frame[2], frame[3],
                chunk if chunk is None else escaped(chunk), frame[5])
    if frame[0] == "fast":
        return frame
    name = escaped(frame[2][0]).replace(";", ":") if frame[2] else None
    return frame[0], frame[1], symbol(frame[2]), name


def told(frame):
    """The same of the command's."""
    kind = frame["kind"]
    if kind == "lua":
        return kind, hexadecimal(frame, "address"), frame["line"], frame["chunk"]
    if kind == "trace":
        return (kind, frame["number"], hexadecimal(frame, "address"), frame["line"],
                frame["chunk"], frame["begins"])
    if kind == "fast":
        return kind, frame["number"]
    known = "symbol_address" in frame
    return (kind, hexadecimal(frame, "address"),
            hexadecimal(frame, "symbol_address") if known else None,
            frame["name"] if known else None)


def stacks_of(report, leaves=False):
    frames = [told(frame) for frame in report["frames"]]
    found = collections.Counter()
    for stack in report["stacks"]:
        lua, host = (tuple(frames[i] for i in stack[who]) for who in ("lua", "host"))
        found[stack["state"], lua, host] += stack["samples"]
    return found


def differences(report, stream):
    """Between the command's JSON and decode.py, as lines."""
    frames = {}  # the slow reader makes many that are the same
    def known(stack):
        return tuple(frames.setdefault(f, shown(f)) for f in stack)
    expected = collections.Counter(
        (state, known(lua), known(host)) for state, lua, host in stream.samples)
    states = collections.Counter(state for state, _, _ in stream.samples)
    for name, got, want in (
        ("samples", report["samples"], len(stream.samples)),
        ("states", {k: n for k, n in report["states"].items() if n}, dict(states)),
        ("number of states", len(report["states"]), 10),
        ("symbols", report["symbols"], stream.records),
        ("changes", report["changes"], stream.changes),
        ("complete", report["complete"], stream.complete),
        ("lost", report["bytes_lost"], stream.lost),
        ("stacks", stacks_of(report), expected),
    ):
        if got != want:
            yield f"{name}: {str(got)[:300]}, not {str(want)[:300]}"


class Bench:
    def __init__(self, build, folder):
        self.hlguest = hlguest_of(build)
        self.folder = folder
        self.json = "not in this build" not in self.run(ALL, "--format=json")[1]

    def run(self, *argv):
        return run(self.hlguest, "sysprof", *argv, cwd=self.folder)

    def report(self, path, *words):
        if not self.json:
            raise Skip("format=json is not in this build")
        return json.loads(must(self.hlguest, "sysprof", path, "--format=json", *words))

    def written(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path


def check_stream(bench, path):
    return list(differences(bench.report(path), Stream(content(path, "rb"))))


def histogram(stacks, which):
    found = collections.Counter()
    for (_, lua, host), n in stacks.items():
        found[len((lua, host)[which])] += n
    return sorted(found.items())


def leaf_names(stacks, aliases):
    """{(state, Lua, host): samples} as the independent decode names them; a C function by
    all names it has."""
    def lua_name(frame):
        if frame[0] == "trace":
            known = frame[5] is not None
            return f"TRACE[{frame[1]}] {frame[4]}:{frame[3]} known={known}"
        return f"ff#{frame[1]}" if frame[0] == "fast" else f"{frame[3]}:{frame[2]}"
    found = collections.Counter()
    for (state, lua, host), n in stacks.items():
        names = [name.decode() for name in aliases.get(host[0][2], [])] if host else ["-"]
        found[state, lua_name(lua[0]) if lua else "-", tuple(names)] += n
    return found


def check_decoded(bench, path):
    """The figures in NAME.decoded.txt."""
    text = content(path.replace(".bin", ".decoded.txt"))
    report, leaves = bench.report(path), bench.report(path, "--mode=L")
    stacks = stacks_of(report)
    aliases = Stream(content(path, "rb")).aliases
    types = collections.Counter()
    for (state, lua, _), n in stacks.items():
        for frame in lua:
            types[{"lua": 1, "c": 2, "fast": 3, "trace": 0}[frame[0]]] += n
    del types[0]
    changes = {10: "lua", 11: "c", 12: "traces"}
    for pattern, got in (
        (r"symtab bytes \d+ records (.*)", {"lfunc": report["symbols"]["lua"],
                                            "cfunc": report["symbols"]["c"]}),
        (r"dynamic symtab events (.*)", {k: report["changes"][name] for k, name in
                                         changes.items() if report["changes"][name]}),
        (r"lua frame types (\{.*?\})", dict(types)),
        (r"host depth histogram (.*)", histogram(stacks, 1)),
        (r"lua depth histogram (.*)", histogram(stacks, 0)),
        (r"samples (\d+) ", report["samples"]),
        (r"samples \d+ (.*)", {k: n for k, n in report["states"].items() if n}),
    ):
        want = eval(re.search(f"^{pattern}", text, re.M).group(1), {})
        if got != want:
            yield f"{pattern}: {got}, not {want}"
    names = leaf_names(stacks, aliases)
    if names != leaf_names(stacks_of(leaves), aliases):
        yield "--mode=L has other leaves"
    for n, leaf in re.findall(r"^ +(\d+) (\('.*\))$", text, re.M):
        state, lua, host = eval(leaf, {})
        got = sum(m for (s, l, hosts), m in names.items()
                  if (s, l) == (state, lua) and host in hosts)
        if got != int(n):
            yield f"{leaf}: {got}, not {n}"


def stock_frame(frame, numbers):
    """A frame of the command's JSON as the stock parser prints it (demangle() of its
    utils/symtab.lua); numbers are of chunks of several lines."""
    if frame["kind"] == "fast":
        return frame["name"] + ";"
    if hexadecimal(frame, "address") == 0:
        return "INTERNAL;"
    chunk = frame.get("chunk")
    if chunk is not None:
        return f"{numbers.get(chunk, chunk)}:{frame['line']};"
    if "symbol_address" in frame:
        return f"{frame['name']}:{frame['symbol_address']};"
    return f"CFUNC {frame['address']};"


def stock_stack(stack, frames, numbers):
    """A stack as the stock parser makes one of two (its merge() and insert_lua_callchain()),
    with what it leaves out: Lua where the host's stack does not tell who called it, and
    traces."""
    lua = [frames[i] for i in reversed(stack["lua"])] if stack["state"] != "TRACE" else []
    out = ""
    for frame in (frames[i] for i in reversed(stack["host"])):
        out += stock_frame(frame, numbers)
        if frame["name"].startswith("lua_cpcall"):
            lua = lua[:-1]
        if frame["name"].startswith(("lua_call", "lua_pcall")):
            n = next((i for i, f in enumerate(lua) if f["kind"] == "c"), len(lua))
            out += "".join(stock_frame(f, numbers) for f in lua[:n])
            # The C function is taken, too; if there is none, the last frame is.
            n = min(n, len(lua) - 1)
            lua = lua[:n] + lua[n + 1:] if lua else []
    return out or ";"


def check_stock(bench, path):
    """What luajit-parse-sysprof prints, sorted, is what it would print of what we read."""
    report = bench.report(path)
    numbers = {escaped(chunk): f"function_alias_{n}"
               for chunk, n in Stream(content(path, "rb")).long.items()}
    found = collections.Counter()
    for stack in report["stacks"]:
        found[stock_stack(stack, report["frames"], numbers)] += stack["samples"]
    want = content(path.replace(".bin", ".stock.txt")).splitlines()
    for line in sorted({*want} ^ {f"{text}\t{n}" for text, n in found.items()}):
        yield f"{'-' if line in want else '+'} {line}"


def total(out):
    return sum(int(line.rpartition(" ")[2]) for line in out.splitlines())


def check_sums(bench, path):
    """All formats and modes hold all samples."""
    n = len(Stream(content(path, "rb")).samples)
    for words in (["--mode=D"], ["--mode=L"], ["--mode=C"], ["--roots=state"], []):
        out, err, status = bench.run(path, "--format=folded", *words)
        if (total(out), err, status) != (n, "", 0):
            yield f"folded {words}: {total(out)}, {err}, {status}, not {n}"
    for mode in "LC":
        out = must(bench.hlguest, "sysprof", path, f"--mode={mode}", "--top=0")
        rows = re.findall(r"^ +(\d+) +[0-9.]+  [A-Z]+ ", out, re.M)
        states = re.findall(r"^[A-Z]+ +(\d+) ", out, re.M)
        if (sum(map(int, rows)), sum(map(int, states)), len(states)) != (n, n, 10):
            yield f"text {mode}: {rows} {states}"


def damage(bench, name, data):
    """The command's answer to damaged data is that of decode.py."""
    path = bench.written("damaged", data)
    out, err, status = bench.run(path, "--format=json")
    try:
        stream = Stream(data)
    except Bad as bad:
        if status != 1 or out or not re.fullmatch(r"hlguest: .+: .+ \(.+\)\n", err):
            yield f"{name}: {bad} is not refused: {status} {out[:80]} {err}"
        return
    if status or err:
        yield f"{name}: status {status}: {err}"
    else:
        for line in differences(json.loads(out), stream):
            yield f"{name}: {line}"


def check_truncations(bench):
    if not bench.json:
        raise Skip("format=json is not in this build")
    data = content(ALL, "rb")
    for n in range(len(data)):
        yield from damage(bench, f"{n} bytes", data[:n])


def check_flips(bench):
    """One bit in each byte, another each time; the unit test has them all."""
    if not bench.json:
        raise Skip("format=json is not in this build")
    data = content(ALL, "rb")
    for i in range(len(data)):
        flipped = bytearray(data)
        flipped[i] ^= 1 << 3 * i % 8
        yield from damage(bench, f"byte {i} bit {3 * i % 8}", bytes(flipped))


def check_loss_told(bench):
    data = content(ALL, "rb")
    path = bench.written("cut", data[:-2])
    for words, where in (([], 0), (["--format=folded"], 1)):
        found = bench.run(path, *words)
        if "its last 19 bytes hold no whole record" not in found[where] or found[2]:
            yield f"{words}: {found}"
    if total(bench.run(path, "--format=folded")[0]) != 12:
        yield "other samples than the whole ones"
    for name, more, said in (("unmarked", data[:-1], "its end is not marked"),
                             ("behind", data + b"xyz", "3 bytes after the end")):
        out = must(bench.hlguest, "sysprof", bench.written(name, more))
        if said not in out:
            yield f"{name}: {out[:200]}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="hlguest-sysprof-") as folder:
        bench = Bench(args.build, folder)
        for path in STREAMS:
            name = os.path.basename(path)
            tap.run(f"{name}: every sample", lambda p=path: check_stream(bench, p))
            if path != ALL:
                tap.run(f"{name}: the figures of its decode",
                        lambda p=path: list(check_decoded(bench, p)))
            tap.run(f"{name}: the stock parser's lines",
                    lambda p=path: list(check_stock(bench, p)))
            tap.run(f"{name}: sums", lambda p=path: list(check_sums(bench, p)))
        tap.run("every truncation", lambda: list(check_truncations(bench)))
        tap.run("flipped bits", lambda: list(check_flips(bench)))
        tap.run("what is lost is told", lambda: list(check_loss_told(bench)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
