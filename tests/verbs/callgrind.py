#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest report --format=callgrind, against hlguest's CSV, addr2line and Valgrind.

    callgrind.py --build DIR

The files are read here by Valgrind's description of the format: every function must have
the counts of its row in CSV, each address those that perf script tells, and all sum to the
totals. callgrind_annotate, where it is installed, shows the same totals and rows in the
order of the report. Of a program built with -g, the line of every address is the one that
addr2line names for the function itself, whatever was inlined there.
"""
import collections
import csv
import io
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import compiled
import deferred
import recording
import stacked
from programs import hlguest_of, mkelf_of, need_zydis

from tap import DATA, Skip, Tap, but_banner, must, need, parser, run

RECORDINGS = {"demo-user.data": "demo.elf", "demo-events.data": "demo.elf",
              "demo-host.data": "demo.elf", "demo-kernel.data": "demo.elf",
              "demo-threads.data": "demo.elf", "rusty-user.data": "rusty.elf"}
MISFIT = 3
DATA_BASE = 0x4000  # of these recordings
BASE = 0x7F0000004000


class Profile:
    """A file as the format's description has it: {(ob, fl, fn): {addr: costs}}, lines."""

    def __init__(self, text):
        lines = text.split("\n")
        assert lines[0] == "# callgrind format", lines[0]
        self.head, self.functions, self.names = {}, {}, {}
        self.lines, self.totals, place, call = {}, None, {}, None
        self.calls = collections.Counter()  # {(caller, callee, address): samples}
        self.inclusive = {}  # the same: costs
        for line in lines[1:]:
            if re.match(r"c?(fl|fn|ob)=", line):
                kind, name = line.split("=", 1)
                place[kind] = self.name(kind[-2:], name)
                if kind == "fn":
                    key = (place["ob"], place["fl"], place["fn"])
                    current = self.functions.setdefault(key, {})
            elif line.startswith("0x"):
                addr, number, *costs = line.split(" ")
                costs = [int(c) for c in costs]
                assert len(costs) == len(self.head["events"]), line
                if call:
                    samples = sum(cost for event, cost in zip(self.head["events"], costs)
                                  if event.startswith("Samples"))
                    assert (place["cob"], place["cfl"]) and int(call) == samples, line
                    edge = place["fn"], place["cfn"], int(addr, 16)
                    self.calls[edge] += samples
                    old = self.inclusive.get(edge, [0] * len(costs))
                    self.inclusive[edge] = [a + b for a, b in zip(old, costs)]
                    call = None
                    continue
                old = current.get(int(addr, 16), [0] * len(costs))
                current[int(addr, 16)] = [a + b for a, b in zip(old, costs)]
                self.lines[int(addr, 16)] = (place["fl"], int(number))
            elif line.startswith("calls="):
                call = line[6:].split(" ")[0]
            elif line.startswith("totals: "):
                self.totals = [int(c) for c in line.split(" ")[1:]]
            elif line and "events" not in self.head:
                key, value = line.split(": ", 1)
                self.head[key] = value.split() if key == "events" else value
            elif line:
                raise ValueError(line)

    def name(self, kind, text):
        number, name = re.fullmatch(r"(?:\((\d+)\) ?)?(.*)", text).groups()
        if number is None:
            return name
        return self.names.setdefault((kind, number), name)

    def sums(self):
        """{function: {event: cost}}"""
        found = {}
        for (_, _, fn), addrs in self.functions.items():
            assert fn not in found, f"{fn} is there twice"
            found[fn] = dict(zip(self.head["events"],
                                 (sum(column) for column in zip(*addrs.values()))))
        return found


class Bench:
    def __init__(self, build, work):
        self.hlguest, self.mkelf, self.work = hlguest_of(build), mkelf_of(build), work

    def report(self, *words, cwd=DATA, status=0):
        out, err, got = run(self.hlguest, "report", *words, cwd=cwd)
        if got != status or but_banner(err):
            raise RuntimeError(f"{words}: status {got}: {err}")
        return out

    def rows(self, *words, **how):
        """Rows of the CSV: a function's, or its part in an event; and the host's."""
        text = self.report(*words, "--region=0", "--format=csv", **how)
        return [row for row in csv.DictReader(io.StringIO(text))
                if row["record"] in ("function", "border", "host")]


def event_of(row, events):
    """Which column of samples and which of period a row goes to."""
    word = re.match(r"event=([^,]*)", row["series"] or "")
    word = "_" + re.sub(r"[^A-Za-z0-9]", "_", word.group(1)) + "_" if word else ""
    return tuple(next(e for e in events if e.startswith(what + word))
                 for what in ("Samples", "Period"))


def check_rows(bench, recorded, elf, *words):
    profile = Profile(bench.report(elf, recorded, "--format=callgrind", *words))
    events, expected = profile.head["events"], {}
    for row in bench.rows(elf, recorded, *words):
        name = row["name"]
        if row["record"] == "host":
            name = f"{name} ({row['image']})"
        sums = expected.setdefault(name, dict.fromkeys(events, 0))
        for event, value in zip(event_of(row, events), (row["samples"], row["period"])):
            sums[event] += int(value)
    # Those of the host come once for each event.
    found = collections.defaultdict(lambda: dict.fromkeys(events, 0))
    for (_, _, fn), addrs in profile.functions.items():
        for costs in addrs.values():
            for event, cost in zip(events, costs):
                found[fn][event] += cost
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            yield f"{name}: {found.get(name)}, but the CSV has {expected.get(name)}"
    totals = [sum(sums[event] for sums in expected.values()) for event in events]
    if profile.totals != totals:
        yield f"totals {profile.totals}, but the rows sum to {totals}"


def check_addresses(bench, recorded, elf):
    """Each address has as many samples as perf script tells."""
    need("perf")
    profile = Profile(bench.report(elf, recorded, "--format=callgrind"))
    samples = [i for i, e in enumerate(profile.head["events"]) if e.startswith("Samples")]
    expected = collections.Counter()
    lines = must("perf", "script", "-D", "-i", os.path.join(DATA, recorded))
    for ip in re.findall(r"PERF_RECORD_SAMPLE\(IP, 0x[45]\): \d+/\d+: (0x[0-9a-f]+)", lines):
        expected[int(ip, 16) - DATA_BASE] += 1
    found = collections.Counter()
    for addrs in profile.functions.values():
        for addr, costs in addrs.items():
            found[addr] += sum(costs[i] for i in samples)
    for addr in sorted({*expected, *found}):
        if expected[addr] != found[addr]:
            yield f"{addr:#x}: {found[addr]} samples, but perf has {expected[addr]}"


ROW = re.compile(r"^ *([\d,]+) \([ \d.]+%\) +([\d,]+) \([ \d.]+%\)  \?\?\?:(.*) \[(.*?)\]$",
                 re.M)


def check_valgrind(bench, recorded, elf):
    """callgrind_annotate's totals, and its rows one by one, against the report's."""
    need("callgrind_annotate")
    path = os.path.join(bench.work, "profile.out")
    bench.report(elf, recorded, "--format=callgrind", "--out=" + path)
    out, err, status = run("callgrind_annotate", "--auto=no", "--threshold=100", path)
    if status or err:
        return [f"status {status}: {err}"]
    rows = bench.rows(elf, recorded)
    total = re.search(r"^([\d,]+) \(100\.0%\) +([\d,]+) \(100\.0%\) +PROGRAM TOTALS", out, re.M)
    expected = [sum(int(row[key]) for row in rows) for key in ("period", "samples")]
    found = [int(n.replace(",", "")) for n in total.groups()]
    wrong = [] if found == expected else [f"totals {found}, not {expected}"]
    found = [(int(p.replace(",", "")), int(s.replace(",", "")), name, obj)
             for p, s, name, obj in ROW.findall(out)]
    expected = [(int(row["period"]), int(row["samples"]), row["name"], row["image"])
                for row in rows]
    if sorted(found) != sorted(expected):
        wrong.append(f"rows {found}, not {expected}")
    if [row[0] for row in found] != sorted((row[0] for row in expected), reverse=True):
        wrong.append("rows in another order")
    return wrong


def own_lines(program, addrs):
    """{addr: (file, line)} of the outermost frame that addr2line tells."""
    out = must("addr2line", "-a", "-i", "-e", program, *map(hex, addrs))
    found, addr = {}, None
    for line in out.splitlines():
        if line.startswith("0x"):
            addr = int(line, 16)
        else:
            path, number = re.sub(r" \(discriminator \d+\)$", "", line).rsplit(":", 1)
            found[addr] = (path, int(number) if number.isdigit() else 0)
    return found


def check_lines(bench, header):
    need("addr2line")
    need_zydis(bench.hlguest)
    work = bench.work
    program = os.path.join(work, compiled.inlined(work, header))
    (start, size), = compiled.starts_and_sizes(work, program, "outer")
    addrs = range(start, start + size)
    recording.write(os.path.join(work, "made.data"),
                    [(BASE + a, 7, 1000, 0) for a in addrs])
    text = bench.report(f"{program}@{BASE:#x}", "made.data", "--format=callgrind", "--force",
                        cwd=work, status=MISFIT)
    profile, expected = Profile(text), own_lines(program, addrs)
    if not any(line for _, line in profile.lines.values()):
        raise Skip("not built with libdw")
    if {fn for _, _, fn in profile.functions} != {"outer"}:
        yield f"functions {profile.functions.keys()}"
    for addr in addrs:
        if profile.lines[addr] != expected[addr]:
            yield f"{addr:#x}: {profile.lines[addr]}, but addr2line has {expected[addr]}"


def check_same_names(bench):
    """Functions of one name stay apart, which callgrind_annotate would add up."""
    work = bench.work
    starts = compiled.twins(work)
    recording.write(os.path.join(work, "twins.data"),
                    [(BASE + starts[0], 7, 1000, 0)] * 2 + [(BASE + starts[1], 7, 1000, 0)])
    profile = Profile(bench.report(f"twins@{BASE:#x}", "twins.data", "--format=callgrind",
                                   "--force", cwd=work))
    expected = {f"same [{starts[0]:#x}]": 2, f"same [{starts[1]:#x}]": 1}
    found = {fn: sums["Samples"] for fn, sums in profile.sums().items()}
    return [] if found == expected else [f"{found}, not {expected}"]


def check_hostile(bench):
    """Names that attack formats break neither the file nor its sums."""
    work = bench.work
    must(bench.mkelf, "hostile", "hostile.elf", cwd=work)
    recording.write(os.path.join(work, "hostile.data"),
                    [(BASE + a, 7, 1000, 0) for a in range(0x1000, 0x1800, 8)])
    text = bench.report(f"hostile.elf@{BASE:#x}", "hostile.data", "--format=callgrind",
                        "--force", cwd=work)
    profile = Profile(text)
    wrong = [f"{line!r}" for line in text.split("\n") if not line.isprintable()]
    if profile.totals != [256000, 256] or len(profile.sums()) < 20 or \
            sum(sums["Samples"] for sums in profile.sums().values()) != 256:
        wrong.append(f"totals {profile.totals}, {len(profile.sums())} functions")
    need("callgrind_annotate")
    with open(os.path.join(work, "hostile.out"), "w", encoding="utf-8") as f:
        f.write(text)
    out, err, status = run("callgrind_annotate", "--auto=no", "hostile.out", cwd=work)
    if status or err or "256 (100.0%)  PROGRAM TOTALS" not in out:
        wrong.append(f"callgrind_annotate: status {status}: {err}")
    return wrong


SHOWN = re.compile(r"^ *[\d,]+ \([ \d.]+%\) +([\d,]+) \([ \d.]+%\)  ([<>*]) +\?\?\?:(.*?)"
                   r"(?: \([\d,]+x\))? \[.*?\]$", re.M)


def outermost(found):
    """{(caller, callee): samples}: of each stack who calls a function where it is outermost;
    "7" calls the outermost one."""
    calls = collections.Counter()
    for (_, stack), samples in found.items():
        met = {}
        for below, name in zip(("7", *stack), stack):
            met.setdefault(name, below)
        for name, below in met.items():
            calls[below, name] += samples
    return calls


def check_calls(bench, build):
    """Stacks that are known: calls, at the addresses of calls, sum to inclusive costs,
    however often a function is in a stack; and so callgrind_annotate shows them."""
    work = bench.work
    tree, found = stacked.make(build, work, "stacks.data")
    words = (f"{tree.elf}@{stacked.BASE:#x}", "stacks.data", "--border=keep", "--weight=samples")
    profile = Profile(bench.report(*words, "--format=callgrind", cwd=work))
    calls = collections.Counter()
    for (caller, callee, addr), samples in profile.calls.items():
        calls[caller, callee] += samples
        backs = [back for back, to in tree.calls[caller].items() if to == callee]
        if tree.calls[caller] and not any(back - 8 < addr < back for back in backs):
            yield f"{caller} does not call {callee} at {addr:#x}"
    root = next(caller for caller, callee in calls if callee == "_start")
    expected = collections.Counter({(root if a == "7" else a, b): n
                                    for (a, b), n in outermost(found).items()})
    if calls != expected:
        yield f"{calls}, not {expected}"
    if profile.totals != [found.total(), found.total() * stacked.PERIOD]:
        yield f"totals {profile.totals}"
    flat = Profile(bench.report(*words, "--format=callgrind", "--stacks=leaf", cwd=work))
    if flat.calls or flat.sums() != {k: v for k, v in profile.sums().items() if v}:
        yield "without stacks other costs"


def check_exits(bench):
    """A VM exit stands on the function that the guest was left in; what border=drop leaves out
    has no callers either."""
    need_zydis(bench.hlguest)
    unknown = "[caller unknown]"  # a function that does not return to where it is said to
    stacked.at_exits(os.path.join(bench.work, "exits.data"))
    exits = {("call_host", "__vm_exit__ in call_host"): 40, ("guest_main", "call_host"): 40}
    for border, most, more in ("split", 44, exits), ("drop", 4, {}):
        profile = Profile(bench.report(os.path.join(DATA, "demo.elf"), "exits.data", "--force",
                                       f"--border={border}", "--weight=samples",
                                       "--format=callgrind", cwd=bench.work))
        calls = collections.Counter()
        for (caller, callee, _), samples in profile.calls.items():
            calls[caller, callee] += samples
        root = next(caller for caller, callee in calls if callee == "_start")
        expected = {(root, "_start"): most, ("_start", "guest_main"): most,
                    ("guest_main", unknown): 4, (unknown, "hash_block"): 4, **more}
        if calls != expected or profile.totals[0] != most:
            yield f"{border}: {dict(calls)}, {profile.totals}, not {expected}"


def check_annotated(bench, build):
    need("callgrind_annotate")
    work = bench.work
    tree, found = stacked.make(build, work, "stacks.data", seed=2)
    bench.report(f"{tree.elf}@{stacked.BASE:#x}", "stacks.data", "--border=keep",
                 "--format=callgrind", "--out=stacks.out", cwd=work)
    out, err, status = run("callgrind_annotate", "--auto=no", "--threshold=100", "--tree=both",
                           "--inclusive=yes", "stacks.out", cwd=work)
    if status or err:
        yield f"status {status}: {err}"
    shown, callers = {}, []
    got = collections.Counter()
    for samples, mark, name in SHOWN.findall(out):
        samples = int(samples.replace(",", ""))
        if mark == "<":
            callers.append((name, samples))
        elif mark == "*":
            shown[name] = samples
            got.update({(caller, name): n for caller, n in callers})
            callers = []
    root = next((name for name in shown if name not in tree.code), None)
    expected = stacked.inclusive(found) + collections.Counter({root: found.total()})
    if shown != expected:
        yield f"{shown}, not {expected}: {out}"
    if got != collections.Counter({(root if a == "7" else a, b): n
                                   for (a, b), n in outermost(found).items()}):
        yield f"callers {got}"


def check_misfit(bench):
    """Functions are not named where the samples do not fit; addresses are."""
    need_zydis(bench.hlguest)
    for words, named in (((), False), (("--force",), True)):
        profile = Profile(bench.report("demo.elf@0x4001", "demo-user.data",
                                       "--format=callgrind", *words, status=MISFIT))
        if any(fn.startswith("0x") for _, _, fn in profile.functions) == named:
            yield f"{words}: {list(profile.functions)[:5]}"
        if profile.totals != [3432000000, 3432]:
            yield f"{words}: totals {profile.totals}"


def check_misfit_calls(bench, build):
    """Nor are callers: what a call returns to is who called, and the call lies before it."""
    need_zydis(bench.hlguest)
    tree, found = stacked.make(build, bench.work, "stacks.data")
    profile = Profile(bench.report(f"{tree.elf}@{stacked.BASE + 1:#x}", "stacks.data",
                                   "--weight=samples", "--format=callgrind", cwd=bench.work,
                                   status=MISFIT))
    backs = {stacked.BASE + back for calls in tree.calls.values() for back in calls}
    below = collections.Counter()
    for (caller, callee, addr), samples in profile.calls.items():
        at = int(caller, 16) if caller.startswith("0x") else None
        below[at] += samples
        if at not in {*backs, None} or addr != (at - 1 if at else 0):
            yield f"{caller} calls {callee} at {addr:#x}, not at one of {sorted(backs)}"
    if below[None] != found.total() or len(below) < 5:
        yield f"below the thread {below}, not {found.total()}"


def check_host_half(bench):
    """What led into the guest calls on, down to the guest's function: as stacks have it, without
    the words in between."""
    deferred.work().write(os.path.join(bench.work, "vmm.data"), whole=True)
    words = (deferred.DEMO, "vmm.data", "-q", "--force", "--mode=guest", "--weight=samples")
    expected = collections.Counter()
    for line in bench.report(*words, "--format=folded", "--stacks=callgraph",
                             cwd=bench.work).splitlines():
        stack, samples = line.rsplit(" ", 1)
        frames = [name for name in stack.split(";") if name != "[guest]"]
        for edge in zip(frames, frames[1:]):
            expected[edge] += int(samples)
    found = collections.Counter()
    for (caller, callee, _), samples in Profile(bench.report(
            *words, "--format=callgrind", cwd=bench.work)).calls.items():
        found[caller, callee] += samples
    if found != expected or len(expected) < 6:
        yield f"{found}, not {expected}"


def check_weight(bench):
    """What the report weighs is the first column, which callgrind_annotate sorts by."""
    for weight, events in (("period", ["Period", "Samples"]),
                           ("samples", ["Samples", "Period"])):
        profile = Profile(bench.report("demo.elf", "demo-user.data", "--format=callgrind",
                                       "--weight=" + weight))
        if profile.head["events"] != events:
            yield f"{weight}: {profile.head['events']}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="callgrind-") as work:
        bench = Bench(build, work)
        for recorded, elf in RECORDINGS.items():
            for words in ((), ("--mode=all",), ("--mode=host",), ("--gaps=drop",),
                          ("--by=tid",)):
                tap.run(f"{recorded} {' '.join(words)}: rows", lambda r=recorded, e=elf,
                        w=words: list(check_rows(bench, r, e, *w)))
            tap.run(f"{recorded}: addresses", lambda r=recorded, e=elf:
                    list(check_addresses(bench, r, e)))
            if recorded != "demo-events.data":
                tap.run(f"{recorded}: callgrind_annotate", check_valgrind, bench, recorded, elf)
        for name, header in ("lines", compiled.INLINED), ("lines, nested", compiled.NESTED):
            tap.run(name, lambda h=header: list(check_lines(bench, h)))
        tap.run("functions of one name", check_same_names, bench)
        tap.run("hostile names", check_hostile, bench)
        for name, check in ("calls", check_calls), ("calls annotated", check_annotated):
            tap.run(name, lambda c=check: list(c(bench, build)))
        tap.run("callers that do not fit", lambda: list(check_misfit_calls(bench, build)))
        tap.run("samples that do not fit", lambda: list(check_misfit(bench)))
        tap.run("VM exits with callers", lambda: list(check_exits(bench)))
        tap.run("stacks with a host half", lambda: list(check_host_half(bench)))
        tap.run("weight=", lambda: list(check_weight(bench)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
