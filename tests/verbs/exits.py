#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest exits against pairs that are known.

    exits.py --build DIR

known_exits.py makes recordings of two vCPUs that move between CPUs, in the order perf writes
them: VMX and SVM, kernels that lay their events out in three ways, halves missing, records
lost. Every count, every latency must be what was put in, whichever way it is told; with
--exact every percentile, else within 1 %. Then formats that are missing, damaged or lack a
field: one line, that says what is missing. Last the micro-VM, live: 500 `out`s are 500
pairs, each of its function and port. That part is skipped, with the reason, where
/dev/kvm does not open or tracepoints cannot be recorded.
"""
import csv
import io
import json
import math
import os
import random
import re
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
import parsed
import splice
from known_exits import (BASE, ELF, PAIRS, PID, TIDS, Arm, Known, ask, compare_rows, places,
                         tables)
from markup import check_still, check_units, check_widths, near, ns_of, rectangles, rows_of
from programs import hlguest_of, mkelf_of, on_terminal
from tap import Skip, Tap, must, need, parser, run


def group(pairs, key):
    found = {}
    for pair in pairs:
        found.setdefault(key(pair), []).append(pair[4])
    return found


def check(build, path, known, exact, per_vcpu):
    document = ask(build, path, *(["--exact"] if exact else []), elf=known.elf)
    rows, names = tables(document), known.reasons
    wrong = compare_rows("reason", rows["exit", "reason"],
                         group(known.pairs, lambda p: names[p[0]]), exact)
    wrong += [f"{r['name']} is of {r['isa']}" for r in rows["exit", "reason"]
              if r["isa"] != known.isa]
    wrong += compare_rows("function", rows["exit", "function"],
                          group(known.pairs, lambda p: p[1]), exact)
    wrong += compare_rows("port", rows["exit", "port"], group(
        known.pairs, lambda p: known.port_names[p[2]] if p[2] else "no port"), exact)
    wrong += compare_rows("vcpu", rows["exit", "vcpu"],
                          group(known.pairs, lambda p: f"{PID}/{p[3]}"), exact)
    calls = [r for r in rows["exit", "call"] if r["name"] != "guest call"]
    wrong += compare_rows("call", calls, {
        "host call": [p[4] for p in known.pairs if p[2] == 101],
        "between guest calls": [p[4] for p in known.between]}, exact)
    wrong += compare_rows("vmm", rows["vmm", "reason"],
                          {known.user_reason: [ns for _, ns in known.vmm]}, exact)
    numbers = sorted(r.get("vcpu", -1) for r in rows["exit", "vcpu"])
    if numbers != ([0, 1] if per_vcpu else [-1, -1]):
        wrong.append(f"vCPUs are {numbers}")
    excluded = document["excluded"]
    for name, key in (("kvm_exit without kvm_entry", "exits"),
                      ("kvm_entry without kvm_exit", "entries"),
                      ("pairs across lost records", "lost")):
        if excluded[name] != known.lone[key]:
            wrong.append(f"{excluded[name]} {name}, not {known.lone[key]}")
    outside, vmm = sum(p[4] for p in known.pairs), sum(ns for _, ns in known.vmm)
    time = {"guest_ns": known.guest, "kernel_ns": outside - vmm, "vmm_ns": vmm}
    if document["time"] != time:
        wrong.append(f"time {document['time']}, not {time}")
    if sum(h["count"] for h in document["histogram"]) != len(known.pairs):
        wrong.append("the histogram does not have all pairs")
    return wrong


def check_arm(build, path, known):
    """--reason, by name and by number; --port of a word of the I/O page."""
    wrong = []
    for choice, keep in (("--reason=dabt*", lambda p: p[0] == (2, 0x24)),
                         ("--reason=0x24", lambda p: p[0] == (2, 0x24)),
                         ("--port=101", lambda p: p[2] == 101)):
        rows = tables(ask(build, path, "--exact", choice, elf=known.elf))
        groups = group([p for p in known.pairs if keep(p)], lambda p: known.reasons[p[0]])
        wrong += compare_rows(choice, rows.get(("exit", "reason"), []), groups, True)
    out = must(hlguest_of(build), "exits", "-q", "-v", f"{known.elf}@{BASE:#x}", path)
    return wrong + [f"not told: {text}" for text in ("ARM reason", "known by thread alone")
                    if text not in out]


def check_other_arm(build, path, known):
    """Of a guest that is not Hyperlight's a write to that page is no call of a port."""
    with open(known.elf, "rb") as f:
        data = f.read()
    with open(known.elf + ".plain", "wb") as f:
        f.write(data.replace(b"Hyperlight\0", b"Hypothetic\0"))
    rows = tables(ask(build, path, "--exact", elf=known.elf + ".plain"))
    ports = {row["name"] for row in rows["exit", "port"]}
    calls = [row["name"] for row in rows.get(("exit", "call"), [])]
    if ports & set(known.port_names.values()) or calls or not ports:
        return [f"ports {ports}, calls {calls}"]
    return []


def check_all_arm(tap, build, folder):
    """No recording of KVM on arm64 can be made here: formats are the kernel's, records ours."""
    path = os.path.join(folder, "arm.data")
    must(mkelf_of(build), "aarch64", "guest.elf", cwd=folder)
    for lose in (False, True):
        known = Arm(3 + lose, lose, os.path.join(folder, "guest.elf"))
        known.write(path)
        for exact in (True, False):
            tap.run(f"ARM{', halves missing' if lose else ''}: "
                    f"{'exact' if exact else 'within 1 %'}", check, build, path, known, exact,
                    False)
    tap.run("ARM: selection, text", check_arm, build, path, known)
    tap.run("ARM: not Hyperlight's", check_other_arm, build, path, known)


def check_choice(build, path, known):
    """reason=, port=, by=tid, time= and csv."""
    names, wrong = known.reasons, []
    for choice, keep in (
            ("--reason=*i*", lambda p: "i" in names[p[0]].lower()),
            ("--reason=0x7b", lambda p: p[0] == 0x7b),
            ("--port=99,101", lambda p: p[2] in (99, 101)),
            (f"--tid={TIDS[1]}", lambda p: p[3] == TIDS[1])):
        document = ask(build, path, "--exact", choice)
        rows, kept = tables(document), [p for p in known.pairs if keep(p)]
        groups = group(kept, lambda p: names[p[0]])
        wrong += compare_rows(choice, rows.get(("exit", "reason"), []), groups, True)
        if sum(h["count"] for h in document["histogram"]) != len(kept):
            wrong.append(f"{choice}: the histogram has other pairs")
    rows = tables(ask(build, path, "--exact", "--by=tid"))["exit", "reason"]
    for tid in TIDS:
        mine = [r for r in rows if r["tid"] == tid]
        wrong += compare_rows(f"tid {tid}", mine, group(
            [p for p in known.pairs if p[3] == tid], lambda p: names[p[0]]), True)
    first, rest = (ask(build, path, f"--time={t}")["pairs"]["exit"] for t in (",1.02", "1.02,"))
    if not first or not rest or first + rest != len(known.pairs):
        wrong.append(f"time= gives {first} and {rest} of {len(known.pairs)}")
    out = must(hlguest_of(build), "exits", "--format=csv", f"{ELF}@{BASE:#x}", path)
    table = list(csv.reader(io.StringIO(out)))
    wrong += [f"csv: {row}" for row in table if len(row) != len(table[0])]
    counts = sum(int(r[8]) for r in table if r[0] == "reason" and r[1] == "exit")
    if counts != len(known.pairs):
        wrong.append(f"csv has {counts} pairs")
    return wrong


class Outside(Known):
    """All exits left from an address that is no ELF's."""

    def build(self, change, functions, pairs, halts):
        super().build(change, {name: [0xfffffd0000001000] for name in functions}, pairs, halts)


class Stubs(Known):
    """The same, of several, as a VMM's own code has them."""

    def build(self, change, functions, pairs, halts):
        super().build(change, {name: [0xfffffd0000001000 + 64 * i for i in range(20)]
                               for name in functions}, pairs, halts)


def write_sampled(path, samples, kind=Known, code=None):
    """A recording with samples of the guest, too, in all of its code, or in what is given."""
    known, rng = kind(5, 1, splice.NEW, False), random.Random(5)
    code = code or [int(at, 16) + BASE for at in re.findall(
        r"^ +([0-9a-f]+):", must("objdump", "-d", ELF), re.M)]
    for at in rng.sample(code, samples):
        time = rng.randrange(10 ** 9, 2 * 10 ** 9)
        known.records.append((time, 0, known.make.guest(at, time, PID, TIDS[0])))
    known.records.sort(key=lambda r: r[0])
    known.write(path)
    return known


def check_outside(build, folder):
    """Where no exit left from the ELF, its samples do not vouch for what is shown; but they tell,
    as they do report, where it lies instead."""
    path = os.path.join(folder, "outside.data")
    warning = "lie outside of every image: is this the guest's ELF, and the base right"
    for samples in 400, 0:
        write_sampled(path, samples, Outside)
        for base in "auto", f"{BASE:#x}", f"{BASE + 0x900000:#x}":
            wrong = samples and base not in ("auto", f"{BASE:#x}")
            for form in "text", "csv":
                words = [f"--format={form}", f"{ELF}@{base}", path]
                out, err, status = run(hlguest_of(build), "exits", *words)
                if "cannot decode" in out + err:
                    raise Skip("this build cannot decode x86-64")
                said = f"base {BASE:#x} fits" if wrong else f"most addresses {warning}"
                if status != (3 if wrong else 0) or "OK" in out + err or said not in (
                        out if form == "text" else err) or ("[outside]" in out) == bool(wrong):
                    yield f"{samples} samples, {words}: status {status}: {out[:900]} {err}"
            out, err, _ = run(hlguest_of(build), "report", f"{ELF}@{base}", path)
            if samples and ("WRONG ELF OR BASE" in out) != bool(wrong):
                yield f"report at {base}: {out[:900]} {err}"
    window = run(hlguest_of(build), "windows", "--format=csv", "--time=+0,+0.00001",
                 f"{ELF}@0x9000000", os.path.join(os.path.dirname(ELF), "demo-windows.data"))
    if f"most guest samples {warning}" not in window[1] or window[2]:
        yield f"windows: {window}"


def check_vouched(build, folder):
    """Where the samples fit the ELF, it is not asked whether that is the right one."""
    path = os.path.join(folder, "vouched.data")
    code = sorted(at for own in places().values() for at in own)
    for kind in Outside, Stubs:
        write_sampled(path, 200, kind, code)
        out, _, status = run(hlguest_of(build), "exits", f"{ELF}@{BASE:#x}", path)
        if "cannot decode" in out:
            raise Skip("this build cannot decode x86-64")
        said = ("check     cannot tell: no exit is of the ELF, which the samples fit\n",
                "warning:  no exit left from the ELF: all are of other code (the VMM's own, or ")
        if status or not all(text in out for text in said) or "is it" in out:
            yield f"{kind.__name__}: status {status}: {out[:900]}"
        out, _, status = run(hlguest_of(build), "exits", "--format=json", ELF, path)
        document = json.loads(out)
        verdict, notes = document["check"]["verdict"], " ".join(document["notes"])
        if status or verdict != "too few samples to tell" or "no exit left" not in notes:
            yield f"{kind.__name__}: status {status}, {verdict}, {notes}"


def check_base(build, folder, samples):
    """Samples of the guest show where an ELF lies whose base nothing states, also of what
    cannot be read twice."""
    path = os.path.join(folder, "base.data")
    known = write_sampled(path, samples)
    words = ["exits", "-v", "--format=csv", f"{ELF}@auto"]
    out, err, _ = run(hlguest_of(build), *words, path)
    table = list(csv.reader(io.StringIO(out)))
    found = {r[2]: int(r[8]) for r in table if r[0] == "function"}
    expected = {name: len(rest) for name, rest in group(known.pairs, lambda p: p[1]).items()}
    wrong = [] if found == expected else [f"{found}, not {expected}"]
    text = f"base {BASE:#x} (found from the samples)"
    parsed.Recording(path).write_pipe(path)
    piped = run("sh", "-c", 'cat "$1" | "$0" "$2" "$3" "$4" "$5" -', hlguest_of(build), path,
                *words)
    if piped[0] != out or text not in piped[1]:
        wrong.append(f"through a pipe: {piped}, not {out}")
    return wrong + ([] if text in err else [f"not told: {text}"])


def check_directory(build, folder):
    """perf record --threads: what is later stands in front."""
    path = os.path.join(folder, "plain.data")
    for lose in (False, True):
        Known(6, 1, splice.NEW, lose).write(path)
        directory = os.path.join(folder, f"threads-{lose}")
        parsed.Recording(path).write_directory(directory)
        out = [run(hlguest_of(build), "exits", "-q", "--format=csv", f"{ELF}@{BASE:#x}", word)
               for word in (path, directory)]
        if out[0] != out[1] or out[0][2]:
            yield f"{out[1]}, not {out[0]}"[:2000]


def check_alone(build, folder):
    """Verbs without -j have one thread."""
    need("strace")
    machines = set()  # e_machine
    for program in hlguest_of(build), os.path.realpath(shutil.which("strace")):
        with open(program, "rb") as f:
            machines.add(f.read(20)[18:])
    if len(machines) > 1:
        raise Skip("it is emulated, and who does that has threads")
    data = os.path.dirname(ELF)
    for words in (["exits", ELF + "@auto", f"{data}/demo-exits.data"],
                  ["windows", ELF + "@auto", f"{data}/demo-windows.data"],
                  ["inject", "-o", os.path.join(folder, "alone.data"), ELF + "@auto", f"{data}/demo-kernel.data"]):
        _, err, status = run("strace", "-f", "-e", "trace=clone,clone3", hlguest_of(build),
                             words[0], "-q", *words[1:])
        if "ptrace" in err:
            raise Skip(err.strip())
        if status or "clone" in err:
            yield f"{words[0]}: {status}, {err[:400]}"


def check_note_read(build, folder):
    """What record noted beside a recording is read once for its builds, whatever else is read of
    it; and once more for guests that were not named, where bases are not stated."""
    need("strace")
    path = os.path.join(folder, "noted.data")
    write_sampled(path, 400)
    with open(path + ".hlguest", "w", encoding="utf-8") as f:
        json.dump({"hlguest": "0.1.0", "format": 1, "guests": []}, f)
    for base, most in ("auto", 2), (f"{BASE:#x}", 1):
        _, err, status = run("strace", "-f", "-e", "trace=open,openat", hlguest_of(build),
                             "exits", "-q", f"{ELF}@{base}", path)
        if "ptrace" in err or "cannot decode" in err:
            raise Skip(err.strip()[:200])
        times = err.count(".hlguest")
        if status not in (0, 3) or times > most:  # some samples are of no instruction
            yield f"{base}: read {times} times, status {status}"


def check_lost(build, folder):
    """An entry and the next exit are lost: what is left looks like a pair. What another CPU lost
    is of none."""
    path = os.path.join(folder, "lost.data")
    wrong = []
    for cpus, lost_of, expected in (((0, 0), 0, (2, 1)), ((0, 1), 1, (2, 1)),
                                    ((0, 0), 1, (3, 0))):
        file = splice.File()
        make = splice.Maker(file)
        records = []

        def add(event, time, cpu):
            records.append((time, cpu, make.sample(event, time, cpu, PID, TIDS[0],
                                                   exit_reason=12, isa=1, vcpu_id=0)))

        add("kvm_exit", 1000, 0)
        add("kvm_entry", 1100, 0)
        add("kvm_exit", 2000, 0)
        records.append((2500, lost_of, make.lost(2500, lost_of, 2)))
        add("kvm_entry", 3000, cpus[1])
        add("kvm_exit", 4000, cpus[1])
        add("kvm_entry", 4100, cpus[1])
        file.write(path, splice.rounds(records, 10000, lambda _: 0))
        document = ask(build, path)
        got = document["pairs"]["exit"], document["excluded"]["pairs across lost records"]
        if got != expected or document["time"]["guest_ns"] != 900 + 1000:
            wrong.append(f"CPUs {cpus}, {lost_of}: {got}, {document['time']}")
    return wrong


def check_halves(build, folder):
    """A half at the start and one at the end, of each vCPU, are a detail; more are told."""
    path = os.path.join(folder, "halves.data")
    for n in 2, 3:
        file = splice.File()
        make = splice.Maker(file)
        events = ["kvm_exit"] * (n + 1) + ["kvm_entry"]
        records = [(1000 + i, 0, make.sample(event, 1000 + i, 0, PID, TIDS[0], exit_reason=12,
                                             isa=1, vcpu_id=0)) for i, event in enumerate(events)]
        file.write(path, splice.rounds(records, 10000, lambda _: 0))
        text = must(hlguest_of(build), "exits", "-q", f"{ELF}@{BASE:#x}", path)
        if (f"not counted: {n} kvm_exit without kvm_entry" in text) != (n == 3):
            yield f"{n} halves: {text}"


def check_told(build, folder):
    """What two recordings lost, and what is cut off of them: perf tells the larger of two sums;
    and what the kernel of one of them lacks."""
    paths, wrong = [os.path.join(folder, f"{i}.data") for i in range(2)], []
    for i, path in enumerate(paths):
        file = splice.File()
        make = splice.Maker(file)
        records = [(time, 0, make.sample(event, time, 0, PID, TIDS[0], exit_reason=12, isa=1,
                                         vcpu_id=0))
                   for time, event in ((1000, "kvm_exit"), (1100, "kvm_entry"))]
        records.append((1200, 0, make.lost(1200, 0, 3 + i)))
        if i == 0:
            file.tracing.change(lambda t: t.replace(b" isa;", b" isb;"))
        file.write(path, splice.rounds(records, 10000, lambda _: 0) + b"12345"[:4 + i])
    document = json.loads(must(hlguest_of(build), "exits", "-q", "--format=json", ELF, *paths))
    for text in ("^7 events were lost", "cut off: 9 bytes at their ends", "kvm_exit has no isa on"):
        if not any(re.search(text, note) for note in document["notes"]):
            wrong.append(f"not told: {text}: {document['notes']}")
    if document["pairs"]["exit"] != 2:
        wrong.append(f"pairs are {document['pairs']}")
    out, err, status = run(hlguest_of(build), "exits", "-q", ELF, paths[1], "nowhere.data")
    if status != 1 or "nowhere.data" not in err or "HLT" not in out:
        wrong.append(f"one of two cannot be read: status {status}: {err}")
    return wrong


def check_runs_told(build, folder):
    """That KVM_RUN is missing is told where times in the VMM would end with it, else not."""
    path = os.path.join(folder, "runs.data")
    for gone, told in ((b"sys_enter_ioctl", True), (b"sys_enter_ioctl|kvm_userspace_exit", False)):
        known = Known(1, 1, splice.NEW, False, 100)
        known.file.tracing.change(lambda t, names=gone: re.sub(
            b"name: (" + names + b")\n", rb"name: no_\1\n", t))
        known.write(path)
        notes = ask(build, path)["notes"]
        if any("KVM_RUN was not recorded" in note for note in notes) != told:
            yield f"without {gone.decode()}: {notes}"


def check_parts(build, folder):
    """Times that have a call's end, or the VMM's part of an exit, and nothing else."""
    path = os.path.join(folder, "parts.data")
    file = splice.File()
    make = splice.Maker(file)
    records = []

    def add(event, time, **values):
        records.append((time, 0, make.sample(event, time, 0, PID, TIDS[0], vcpu_id=0,
                                             exit_reason=30, isa=1, **values)))

    for start, port in ((1000, 108), (2000, 101)):
        add("kvm_entry", start - 900)
        add("kvm_exit", start)
        add("kvm_pio", start + 10, rw=1, port=port, size=4, count=1)
        add("kvm_userspace_exit", start + 20, reason=2, errno=0)
        add("sys_enter_ioctl", start + 50, cmd=0xae80, fd=6)
    add("kvm_entry", 2100)
    file.write(path, splice.rounds(records, 10000, lambda _: 0))
    wrong = []
    for start, end, of, calls in ((990, 1500, (0, 0, 1), ["between guest calls"]),
                                  (1500, 2500, (1, 1, 0), ["host call"]),
                                  (2010, 2500, (0, 1, 0), [])):
        pairs = dict(zip(("exit", "vmm", "between"), of))
        out, err, status = run(hlguest_of(build), "exits", "--format=json", f"{ELF}@{BASE:#x}",
                               f"--time=0.{start:09},0.{end:09}", path)
        document = json.loads(out) if status == 0 else {"pairs": None, "tables": [], "notes": []}
        got = [r["name"] for t in document["tables"] if (t["kind"], t["by"]) == ("exit", "call")
               for r in t["rows"]]
        if (status, document["pairs"], got) != (0, pairs, calls):
            wrong.append(f"{start} to {end}: status {status}, {document['pairs']}, {got}: {err}")
        wrong += [f"{start} to {end}: {note}" for note in document["notes"] if "software" in note]
    return wrong


def refused(build, path, *texts):
    """One line that has all texts, and status 1."""
    out, err, status = run(hlguest_of(build), "exits", "-q", ELF, path)
    wrong = [f"not told: {text}: {err}" for text in texts if text not in err]
    if status != 1 or out or err.count("\n") != 1:
        wrong.append(f"status {status}, {err.count(chr(10))} lines, output {out[:80]!r}")
    return wrong


def check_hostile(build, folder):
    """Formats that are missing, damaged, or lack a field."""
    path = os.path.join(folder, "hostile.data")
    wrong = []

    def refuse(change, *texts, tracing=None):
        known = Known(1, 1, splice.NEW, False, 4)
        if change:
            known.file.tracing.change(change)
        known.file.write(path, splice.rounds(known.records, 10 ** 6, lambda _: 0), tracing)
        return refused(build, path, "record it with hlguest record --exits", *texts)

    wrong += refuse(None, "holds no formats of tracepoints", tracing=b"")
    good = splice.File().tracing.pack()
    for cut in (1, 9, 30, 300, 2000, len(good) // 2):
        wrong += refuse(None, "formats of tracepoints are damaged", tracing=good[:cut])
    wrong += refuse(lambda t: t.replace(b"exit_reason;", b"exit_raisin;"),
                    "kvm:kvm_exit has no number exit_reason")
    wrong += refuse(lambda t: b"" if b"kvm_exit\n" in t else t,
                    "holds no format of kvm:kvm_exit")
    for gone, lacks in ((b"kvm_exit|kvm_userspace_exit", "kvm:kvm_exit"),
                        (b"kvm_entry|kvm_userspace_exit", "kvm:kvm_entry"),
                        (b"kvm_exit|kvm_entry|sys_enter_ioctl", "syscalls:sys_enter_ioctl")):
        wrong += refuse(lambda t, names=gone: re.sub(b"name: (" + names + b")\n", rb"name: no_\1\n", t),
                        f"has no {lacks} (record")
    field = b"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;"
    for bad in (b"\tfield:unsigned int exit_reason;\toffset:99999999;\tsize:4;",
                b"\tfield:unsigned int exit_reason;\toffset:-8;\tsize:4;",
                b"\tfield:unsigned int exit_reason;\toffset:8;\tsize:400;",
                b"\tfield:char exit_reason[4];\toffset:8;\tsize:4;",
                b"\tfield:((((((((", b"\tfield:" + b"a[" * 5000, b"\xff\0\x1b[31m"):
        wrong += refuse(lambda t: t.replace(field, bad), "kvm:kvm_exit")
    for bit, lacks in ((forged.RAW, "fields (raw data)"), (forged.TIME, "times"),
                       (forged.TID, "threads")):
        Known(1, 1, splice.NEW, False, 4).write(path)
        bare = parsed.Recording(path)
        bare.attrs = [(attr[:24] + struct.pack("<Q", bare.sample_type(i) & ~bit) + attr[32:], ids)
                      for i, (attr, ids) in enumerate(bare.attrs)]
        bare.write(path)
        wrong += refused(build, path, f"was recorded without {lacks} (record it with hlguest")
    return wrong


def check_none(build):
    return refused(build, os.path.join(os.path.dirname(ELF), "demo-user.data"),
                   "has no kvm:kvm_exit", "hlguest record --exits")


def check_far(build, folder):
    """A field that passes the end of its samples: none counts, nothing breaks. Few are told, too."""
    path = os.path.join(folder, "far.data")
    for n in PAIRS, 4:
        known = Known(1, 1, splice.NEW, False, n)
        known.file.tracing.change(
            lambda t: t.replace(b"offset:8;\tsize:4;", b"offset:8000;\tsize:4;")
            if b"kvm_exit\n" in t else t)
        known.file.write(path, splice.rounds(known.records, 10 ** 6, lambda _: 0))
        document = ask(build, path)
        if document["excluded"]["records that lack fields"] != n or document["pairs"]["exit"]:
            yield f"{document}"
        text = must(hlguest_of(build), "exits", "-q", f"{ELF}@{BASE:#x}", path)
        if not re.search(rf"^note: +not counted: .*\b{n} records that lack fields", text, re.M):
            yield f"not told: {n} records that lack fields: {text}"


def check_wrong(build):
    """Of a wrong ELF, or a wrong base, no function is named, and what fits is told."""
    folder = os.path.join(os.path.dirname(ELF), "hyperlight")
    data, guest = os.path.join(folder, "exits.data"), os.path.join(folder, "guest.elf")
    right = set()
    for elf, verdict, told in ((guest, "verified", ""), (guest + "@0x4000", "verified", ""),
                               (guest + "@0x1000", "mismatch", f"(use {guest}@0x4000)"),
                               (os.path.join(folder, "frames.elf"), "mismatch", "no base fits"),
                               (os.path.join(folder, "small.elf"), "mismatch", "no base fits")):
        for force in ("no", "yes"):
            out, err, status = run(hlguest_of(build), "exits", "-q", "--format=json",
                                   f"--force={force}", elf, data)
            if "not in this build" in err:
                raise Skip(err.strip())
            document = json.loads(out)
            if document["check"]["verdict"] == "not tested":
                raise Skip("this build cannot decode x86-64")
            names = {row["name"] for t in document["tables"] if t["by"] == "function"
                     for row in t["rows"]}
            named = force == "yes" or verdict == "verified"
            right = right or names
            if (document["check"]["verdict"], status) != (verdict, 3 if told else 0) or told not in err:
                yield f"{elf}: status {status}, {document['check']}: {err}"
            if any(name.startswith("0x") for name in names) == named or \
                    document["check"]["named"] != named or (named and told and names == right):
                yield f"{elf} --force={force}: {sorted(names)[:5]}"
            page, _, _ = run(hlguest_of(build), "exits", "-q", "--format=html",
                             f"--force={force}", elf, data)
            if re.findall("<h2>By guest (function|address)</h2>", page) != [
                    "function" if named else "address"]:
                yield f"{elf} --force={force}: the page says something else"


def check_shared(build):
    """Two ELFs at the same addresses, in one thread in turn: each exit is of the one whose vCPU
    that ran; perf shows which. So is each of a sandbox that is selected, and all that it took."""
    folder, elves = os.path.join(os.path.dirname(ELF), "hyperlight"), {}
    data = os.path.join(folder, "turns.data")
    for fd, elf in ((6, "guest.elf"), (8, "small.elf")):
        symbols = re.findall("^([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)$",
                             must("nm", "-S", os.path.join(folder, elf)), re.M)
        elves[fd] = elf, [(int(a, 16), int(n, 16), name) for a, n, name in symbols]
    fd, left, expected = 0, None, {}
    for event, rest in re.findall(
            r"(kvm_entry|kvm_exit|sys_enter_ioctl): (.*)",
            must("perf", "script", "-i", data, "-F", "event,trace")):
        if event == "sys_enter_ioctl" and "cmd: 0x0000ae80" in rest:
            fd = int(re.search("fd: 0x([0-9a-f]+)", rest)[1], 16)
        elif event == "kvm_exit":
            left = fd, int(re.search("rip 0x([0-9a-f]+)", rest)[1], 16) - 0x4000
        elif event == "kvm_entry" and left and left[0] == fd:
            elf, symbols = elves[fd]
            start = max((a for a, n, _ in symbols if a <= left[1] < a + n), default=None)
            expected[elf, start] = expected.get((elf, start), 0) + 1
            left = None
    words, times = [os.path.join(folder, elf) for elf, _ in elves.values()], []
    for chosen, selection in (list(elves.values()), []), (
            [elves[6]], ["--sandbox=1"]), ([elves[8]], ["--sandbox=2"]):
        out, err, status = run(hlguest_of(build), "exits", "-q", "--format=csv", "--demangle=no",
                               *selection, *words, data)
        if "without decoding" in err:
            raise Skip("this build cannot decode x86-64")
        if status:
            yield f"{selection}: status {status}: {err}"
        rows = list(csv.reader(io.StringIO(out)))
        times.append([int(r[11]) for r in rows if r[0] == "time"])
        found = {r[2]: int(r[8]) for r in rows if r[0] == "function"}
        for elf, symbols in chosen:
            for start, n in ((start, n) for (of, start), n in expected.items() if of == elf):
                if start is None:
                    continue  # labels have no size, of which nm tells
                names = [f"{name} [{elf}]" for a, _, name in symbols if a == start]
                if not any(found.get(name) == n for name in names):
                    yield f"{selection}: {names}: {[found.get(name) for name in names]}, not {n}"
        of = sum(n for (elf, _), n in expected.items() if elf in [elf for elf, _ in chosen])
        if len(expected) < 50 or of != sum(found.values()):
            yield f"{selection}: {sum(found.values())} exits of functions, not {of}"
    if times and times[0] != [sum(parts) for parts in zip(*times[1:])]:
        yield f"times of both and of each: {times}"


def check_screen(build):
    """All is on a screen of 80 x 24, the prompt too; no unit is in a column."""
    wrong = []
    for words in (["demo.elf@0x4000", "demo-exits.data"],
                  ["hyperlight/guest.elf", "hyperlight/exits.data"]):
        out, status = on_terminal([hlguest_of(build), "exits", "-q", "--no-pager",
                                   "--color=never", *words], TERM="xterm", COLUMNS="80",
                                  LINES="24", LC_ALL="C.UTF-8")
        lines = out.splitlines()
        if status or len(lines) > 23 or max(map(len, lines)) > 80:
            wrong += [f"{words}: status {status}, {len(lines)} lines", *lines]
        wrong += [line for line in lines[4:] if re.search(r"\d\.\d [num]?s\b", line)]
        shares = [re.search(r" count +(\w+ time)", line)[1] for line in lines if " count " in line]
        if shares != ["of time"] + 3 * ["exit time"]:
            wrong.append(f"shares are {shares}")
    return wrong


TITLES = {("exit", "reason"): "Exits by reason", ("vmm", "reason"): "Time in the VMM by reason",
          ("exit", "call"): "Hyperlight's calls", ("exit", "port"): "By I/O port",
          ("exit", "function"): "By guest function", ("exit", "vcpu"): "By vCPU"}


def compare_page(page, rows, title):
    """A table of shares says what JSON does, and its bars are as long."""
    found, _ = rows_of(page, title)
    yield from check_units(title, found)
    if [r[0] for r in found] != [row["name"] for row in rows]:
        yield f"{title}: {found}, not {rows}"
    for (name, _, drawing, cells), row in zip(found, rows):
        percent = row.get("percent")
        share = "-" if percent is None else f"{percent:.2f} %"
        if cells[0] != share or cells[2] != str(row["count"]) or \
                not near(cells[1], row["total_ns"]) or not near(cells[3], row["mean_ns"]):
            yield f"{title}, {name}: {cells}, not {row}"
        wide = re.findall(r'<rect class="most" y="2" width="(\d+)"', drawing)
        if [abs(int(w) - 10 * percent) < 1 for w in wide] != [True] * (percent is not None):
            yield f"{title}, {name}: bars {wide} of {percent} %"


def compare_latencies(page, rows, title):
    """Percentiles, and bars where powers of two lie on the axis; {power of two: pairs}."""
    part = page[page.index(f"<h2>{title}</h2>"):]
    found, axis = rows_of(part, "How long each took", "h3")
    low, decades, octaves = math.log10(ns_of(axis[0])), len(axis), {}
    yield from check_units(title, found)
    for (name, _, drawing, cells), row in zip(found, rows, strict=True):
        for cell, key in zip(cells, ("p50_ns", "p90_ns", "p99_ns", "max_ns"), strict=True):
            if not near(cell, row[key]):
                yield f"{name}: {cells}, not {row}"
        marks = [int(x) for x in re.search(r'class="limit" d="(.*?)"', drawing)[1].replace(
            " 0v24", "").split("M")[1:]]
        right = [1000 * (math.log10(max(row[key], 1)) - low) / decades
                 for key in ("p50_ns", "p90_ns", "p99_ns")]
        if any(abs(a - b) > 1 for a, b in zip(marks, right, strict=True)):
            yield f"{name}: marks {marks}, not {right}"
        numbers = [int(n) for n in re.findall(r"<title>(\d+) from", drawing)]
        if sum(numbers) != row["count"]:
            yield f"{name}: bars have {sum(numbers)} pairs, not {row['count']}"
        for (x, _, _, high), n in zip(rectangles(drawing, "most"), numbers, strict=True):
            i = round((low + x * decades / 1000) / math.log10(2))
            octaves[i] = octaves.get(i, 0) + n
            if abs(high - max(1, 24 * n / max(numbers))) > 0.06:
                yield f"{name}: {n} pairs are {high} high"
    return octaves


def check_html(build, folder, words):
    """The page's numbers are JSON's; it is whole, and fits all widths."""
    argv = [hlguest_of(build), "exits", "-q", *words]
    path = os.path.join(folder, "exits.html")
    must(*argv, "--format=html", "-o", path)
    with open(path, encoding="utf-8") as f:
        page = f.read()
    yield from check_still(page)
    page = page.replace("::<wbr>", "::")  # where a long name may be broken
    json_text, err, _ = run(*argv, "--format=json")
    if "libjansson-dev" in err:
        raise Skip("not built with jansson")
    document = json.loads(json_text)
    found = tables(document)
    for key, rows in found.items():
        yield from compare_page(page, rows, TITLES[key])
    if sorted(re.findall("<h2>(.*?)</h2>", page)) != sorted(TITLES[key] for key in found):
        yield f"tables {re.findall('<h2>(.*?)</h2>', page)}, not {list(found)}"
    octaves = yield from compare_latencies(page, found["exit", "reason"], "Exits by reason")
    if ("vmm", "reason") in found:
        yield from compare_latencies(page, found["vmm", "reason"], "Time in the VMM by reason")
    histogram = {h["from_ns"].bit_length() - 1: h["count"] for h in document["histogram"]}
    if octaves != histogram:
        yield f"powers of two {octaves}, not {histogram}"
    yield from check_widths(path, 10)


def check_live(build, folder):
    vm = os.path.join(os.path.abspath(build), "tests", "rig", "microvm")
    guest = os.path.join(os.path.abspath(build), "tests", "rig", "demo.elf")
    path = os.path.join(folder, "live.data")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise Skip("/dev/kvm does not open")
    need("perf")
    _, err, status = run(hlguest_of(build), "record", "--exits", "-o", path, "--", vm,
                         "--runs=500", guest)
    if status:
        raise Skip(f"tracepoints cannot be recorded: {err.strip()[-200:]}")
    out, err, status = run(hlguest_of(build), "exits", "-q", "--format=json", guest, path)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        return [f"status {status}: {err}"]
    wrong = []
    rows = tables(json.loads(out))
    for by in ("port", "function"):
        found = {r["name"]: r["count"] for t, part in rows.items() if t[1] == by
                 for r in part}
        names = ("Log", "host call", "DebugPrint") if by == "port" else (
            "log_line", "call_host", "debug_print")
        wrong += [f"{by} {name}: {found.get(name)}, not 500" for name in names
                  if found.get(name) != 500]
    return wrong


def check_live_base(build, folder):
    """The same of a guest that ran, at a base that its ELF does not state."""
    vm = os.path.join(os.path.abspath(build), "tests", "rig", "microvm")
    guest = os.path.join(os.path.abspath(build), "tests", "rig", "demo.elf")
    path = os.path.join(folder, "live-base.data")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise Skip("/dev/kvm does not open")
    need("perf")
    _, err, status = run(hlguest_of(build), "record", "--exits", "-o", path, "--", vm,
                         "--base=0x7000", "--seconds=1", guest)
    if status:
        raise Skip(f"tracepoints cannot be recorded: {err.strip()[-200:]}")
    tables = [run(hlguest_of(build), "exits", "-v", "--format=csv", f"{guest}@{base}", path)
              for base in ("auto", "0x7000")]
    found, stated = ([r for r in csv.reader(io.StringIO(out)) if r[0] == "function"]
                     for out, _, _ in tables)
    wrong = [] if found == stated and found else [f"functions are {found}, not {stated}"]
    text = "base 0x7000 (found from the samples)"
    return wrong + ([] if text in tables[0][1] else [f"not told: {text}: {tables[0][1][:400]}"])


def live(build):
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        tap.run("live: 500 outs, by port and by function", check_live, build, folder)
        tap.run("live: the base found from samples", check_live_base, build, folder)
    return tap.finish()


def main():
    args = parser(__doc__)
    args.add_argument("--write", metavar="FILE", help="only write a recording, to measure")
    args.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help="in that one")
    args.add_argument("--live", action="store_true", help="only what runs the micro-VM")
    args = args.parse_args()
    build = args.build
    if args.live:
        return live(build)
    if args.write:
        Known(1, 1, splice.NEW, False, args.pairs).write(args.write)
        return 0
    tap = Tap()
    layouts = {"new": (splice.NEW, True), "old": (splice.OLD, False),
               "moved": (splice.MOVED, True)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "known.data")
        for isa in (1, 2):
            for name, (layout, per_vcpu) in layouts.items():
                for lose in (False, True):
                    what = f"{'VMX' if isa == 1 else 'SVM'}, {name} kernel" + (
                        ", halves missing" if lose else "")
                    known = Known(isa * 7 + lose, isa, layout, lose)
                    known.write(path)
                    for exact in (True, False):
                        tap.run(f"{what}: {'exact' if exact else 'within 1 %'}", check,
                                build, path, known, exact, per_vcpu)
        check_all_arm(tap, build, folder)
        tap.run("selection, csv", check_choice, build, path, known)
        tap.run("the base found from samples", check_base, build, folder, 300)
        tap.run("the note is read once", lambda: list(check_note_read(build, folder)))
        tap.run("no exit is of the ELF", lambda: list(check_outside(build, folder)))
        tap.run("no exit is of an ELF that fits", lambda: list(check_vouched(build, folder)))
        tap.run("a directory", lambda: list(check_directory(build, folder)))
        tap.run("one thread", lambda: list(check_alone(build, folder)))
        tap.run("lost records", check_lost, build, folder)
        tap.run("halves", lambda: list(check_halves(build, folder)))
        tap.run("losses of two recordings", check_told, build, folder)
        tap.run("KVM_RUN is missing", lambda: list(check_runs_told(build, folder)))
        tap.run("a call's end alone, a VMM's part alone", check_parts, build, folder)
        tap.run("formats missing, damaged, hostile", check_hostile, build, folder)
        tap.run("no tracepoints", check_none, build)
        tap.run("a field past the samples' end", lambda: list(check_far(build, folder)))
        tap.run("wrong ELFs", lambda: list(check_wrong(build)))
        tap.run("ELFs at the same addresses", lambda: list(check_shared(build)))
        tap.run("it fits a screen", check_screen, build)
        for words in (["demo.elf@0x4000", "demo-exits.data"],
                      ["hyperlight/guest.elf", "hyperlight/exits.data"],
                      ["hyperlight/guest.elf", "hyperlight/exits.data", "--by=tid"]):
            words = [os.path.join(os.path.dirname(ELF), w) if "." in w else w for w in words]
            tap.run(f"a page of {' '.join(map(os.path.basename, words))}",
                    lambda w=words: list(check_html(build, folder, w)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
