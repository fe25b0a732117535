# SPDX-License-Identifier: GPL-2.0-only
"""Is what hlguest says of a recording what the guest executed? Each check returns differences."""
import collections
import csv
import io
import json
import os
import re
import struct

import splice
from attribution import read_samples
from executed import BASE, calls_of, functions, port_writes, wilson, without_note
from tap import must, run

# Functions that no call reaches: by the last part of a name.
NEVER = re.compile(r"guest::never::|miniz_oxide::inflate::")
# With samples enough.
SHARES = ("mix", "frames", "small", "before", "after", "calls")
IOCTL, KVM_RUN, SET_MEMORY = 16, 0xae80, 0x4020ae46  # the call's number, and what is asked
LARGE = 0.01  # rows from this share on are looked at
Z999 = 3.29   # of intervals of 99.9 %
FEW = 3       # expected samples that an instruction needs for its interval to be looked at


def covered(tap, name, coverage):
    """Whether enough intervals hold the truth; how many is told in any case."""
    tap.run(f"{name}: intervals hold the truth", coverage.differences)
    print("\n".join([f"# {name}: {coverage}", *("#   " + line for line in coverage.outside[:9])]))


def recording(tap, hlguest, name, data, executed, coverage, folder):
    """
    All that can be asked of one recording, with {elf: Executed}. Adds its intervals to
    {"functions": a Coverage, "instructions": another}: of one run they are few.
    """
    tap.run(f"{name}: nothing at addresses that never ran", ran, list(executed.values()), data)
    if name == "turns":
        tap.run(f"{name}: each sample is its sandbox's", own, hlguest, executed, data)
        tap.run(f"{name}: guests restored into one sandbox", restored, hlguest, executed, data,
                folder)
    if len(executed) > 1:
        tap.run(f"{name}: each ELF has its own samples", parted, hlguest, executed, data)
        return
    ((elf, counts),) = executed.items()
    tap.run(f"{name}: verified at the note's base", verified, hlguest, elf, data)
    tap.run(f"{name}: the base is found without the note", base_found, hlguest, elf, data,
            folder)
    if name in SHARES:
        tap.run(f"{name}: functions", shares, hlguest, elf, data, counts, coverage["functions"])
        tap.run(f"{name}: instructions", instructions, hlguest, elf, data, counts,
                coverage["instructions"])
    if name == "exits":
        tap.run(f"{name}: by port and function, as executed", exits, hlguest, elf, data, counts)


def table(hlguest, verb, *args):
    """The records of a verb's CSV."""
    text = must(hlguest, verb, "--format=csv", *args)
    return list(csv.DictReader(io.StringIO(text)))


def report(hlguest, elfs, data, *args):
    return table(hlguest, "report", "--top=0", *args, *elfs, data)


def rows(records):
    """(addr, size, record) of what has an address."""
    return [(int(r["addr"], 16), int(r["size"]), r) for r in records
            if r["record"] in ("function", "label", "gap")]


def verified(hlguest, elf, data, *args):
    """The report is believed, for each sample, at the note's base."""
    wrong = []
    records = report(hlguest, [elf], data, *args)
    if not any(r["record"] == "trust" and r["kind"] == "verified" for r in records):
        wrong.append("not verified")
    total = {r["name"]: int(r["samples"]) for r in records if r["record"] == "total"}
    for kind in ("gap", "data", "outside"):
        if total[kind]:
            wrong.append(f"{total[kind]} samples in {kind}")
    said = must(hlguest, "base", elf, data, *args)
    if not said.split("\n")[1].startswith(f"{BASE:#x} "):
        wrong.append(said)
    for _, _, r in rows(records):
        if NEVER.search(r["name"]):
            wrong.append(f"{r['name']}, which is never called, has {r['samples']} samples")
    return wrong


def base_found(hlguest, elf, data, folder):
    """The base is found from the samples, where nothing states it."""
    bare = os.path.join(folder, "bare.elf")
    without_note(elf, bare)
    out, err, status = run(hlguest, "base", bare, data)
    if status or not out.split("\n")[1].startswith(f"{BASE:#x} "):
        return [f"status {status}", out, err]
    return []


def ran(executed, data):
    """Each guest sample lies at an address that was executed, by one of the guests."""
    ips = [sample.ip for sample in read_samples(data) if sample.guest]
    wrong = collections.Counter(ip for ip in ips
                                if not any(ip - BASE in one.at for one in executed))
    if not ips:
        return ["no sample is a guest's"]
    return [f"{ip:#x} was never executed and has {count} samples" for ip, count in wrong.items()]


def own(hlguest, executed, data):
    """
    The nth ELF is the nth sandbox's, and its samples lie where that executed something: all of
    them. By the thread alone, half of them do not.
    """
    wrong, total = [], 0
    for n, (elf, counts) in enumerate(executed.items(), 1):
        wrong += [f"sandbox {n}: {line}" for line in verified(hlguest, elf, data, f"--sandbox={n}")]
        for addr, size, r in rows(report(hlguest, [elf], data, f"--sandbox={n}")):
            total += int(r["samples"])
            if not counts.of(addr, size):
                wrong.append(f"sandbox {n}: {r['name']} never ran")
    if total != sum(sample.guest for sample in read_samples(data)):
        wrong.append(f"{total} samples in both")
    return wrong


def parted(hlguest, executed, data):
    """All ELFs at once, at one base: each has the samples of what it executed, and no other."""
    records = report(hlguest, executed, data)
    wrong = [] if any(r["record"] == "trust" and r["kind"] == "verified" for r in records) else [
        "not verified"]
    for addr, size, r in rows(records):
        if not executed[r["image"]].of(addr, size):
            wrong.append(f"{r['name']} of {r['image']} never ran and has {r['samples']} samples")
    total = {r["name"]: int(r["samples"]) for r in records if r["record"] == "total"}
    for kind in ("data", "outside"):
        if total[kind]:
            wrong.append(f"{total[kind]} samples in {kind}")
    if total["guest"] != sum(sample.guest for sample in read_samples(data)):
        wrong.append(f"{total['guest']} samples")
    return wrong


def restored(hlguest, executed, data, folder):
    """
    The same as if both guests ran in one sandbox, restored into it in turn: of one descriptor,
    with KVM_SET_USER_MEMORY_REGION in front of each KVM_RUN, of which a turn has one.
    """
    path, file, records, fd = os.path.join(folder, "restored.data"), splice.File(data), b"", None
    with open(data, "rb") as f:
        f.seek(file.data_at)
        rest = f.read(file.data_size)
    while rest:
        size = int.from_bytes(rest[6:8], "little")
        record, rest = rest[:size], rest[size:]
        call = re.search(struct.pack("<Q", IOCTL) + b"(.{8})" + struct.pack("<Q", KVM_RUN), record,
                         re.DOTALL)
        if call:
            fd = fd or call[1]
            run = record[:call.start(1)] + fd + record[call.end(1):]
            at = call.end(1)
            records += run[:at] + struct.pack("<Q", SET_MEMORY) + run[at + 8:] + run
        else:
            records += record
    file.write(path, records)
    alone = report(hlguest, executed, path, "--sandbox=1")
    if not any(r["record"] == "trust" and r["kind"] == "verified" for r in alone):
        return ["sandbox 1 is not all"]
    return parted(hlguest, executed, path)


def shares(hlguest, elf, data, executed, coverage):
    """Adds the functions that executed much. None that never ran has samples."""
    n, found, wrong = 0, {}, []
    for addr, size, r in rows(report(hlguest, [elf], data, "--weight=samples")):
        n += int(r["samples"])
        found[addr] = (float(r["low"]), float(r["high"]))
        if not executed.of(addr, size):
            wrong.append(f"{r['name']} never ran and has {r['samples']} samples")
    for symbol in functions(elf):
        true = executed.share(symbol.addr, symbol.size)
        if true < LARGE:
            continue
        low, high = found.get(symbol.addr, (0.0, 100 * 3.8 / n))
        coverage.add(low, high, 100 * true, symbol.name)
    return wrong


def instructions(hlguest, elf, data, executed, coverage):
    """Adds the instructions of the hottest functions: each one's share of its function's."""
    said = json.loads(must(hlguest, "annotate", "--format=json", elf, data))
    wrong = []
    for function in said["functions"]:
        addr, size, n = int(function["addr"], 16), function["size"], function["samples"]
        ours = executed.of(addr, size)
        for line in function["lines"]:
            at = int(line["addr"], 16)
            true = executed.at.get(at, 0)
            if line["samples"] and not true:
                wrong.append(f"{at:#x} never ran and has {line['samples']} samples")
            if ours and n * true / ours >= FEW:
                low, high = wilson(line["samples"], n)
                coverage.add(100 * low, 100 * high, 100 * true / ours,
                             f"{function['name']} {at:#x}")
    return wrong


def exits(hlguest, elf, data, executed):
    """Exits by port and by function are the executed `out`s, but for those cut off."""
    wrong = []
    outs = {addr: executed.at[addr] for addr in port_writes(elf) if addr in executed.at}
    records = table(hlguest, "exits", "--reason=io", "--demangle=no", elf, data)
    ports = {r["number"]: int(r["count"]) for r in records
             if r["record"] == "port" and r["number"]}
    between = sum(int(r["count"]) for r in table(hlguest, "exits", elf, data)
                  if (r["record"], r["kind"]) == ("call", "between"))  # which is of no reason
    # Ends of calls are no exits; the last one is not followed by an entry, and so is no pair.
    if sum(outs.values()) - sum(ports.values()) != between + 1:
        wrong.append(f"executed {outs}, told {ports}")
    # One end is that of the guest's start.
    line = re.search(r"^calls +(\d+) guest calls?, (\d+) host calls?",
                     must(hlguest, "report", elf, data), re.M)
    if not line or int(line[1]) != between or int(line[2]) != ports.get("109", 0):
        wrong.append(f"{line and line[0]}: not {between} and {ports.get('109', 0)}")
    told = {r["name"]: int(r["count"]) for r in records
            if r["record"] == "function" and r["kind"] == "exit"}
    for symbol in functions(elf):
        true = sum(count for addr, count in outs.items()
                   if symbol.addr <= addr < symbol.addr + symbol.size)
        if not 0 <= true - told.get(symbol.name, 0) <= between + 1:
            wrong.append(f"{symbol.name}: executed {true}, told {told.get(symbol.name, 0)}")
    if sum(told.values()) != sum(ports.values()):
        wrong.append(f"functions {told}, ports {ports}")
    return wrong


def calls(elf, executed, known):
    """
    A function's first instruction was executed as often as the host asked for its round.
    This is on the plugin, and on the guest: of hlguest it says nothing.
    """
    wrong = []
    for kind, count in known.items():
        part = f"5kinds{len(kind)}{kind}5round"
        (symbol,) = [symbol for symbol in functions(elf) if part in symbol.name]
        if executed.at.get(symbol.addr, 0) != count:
            wrong.append(f"{kind}: {executed.at.get(symbol.addr, 0)} calls, not {count}")
    return wrong


def change(hlguest, before, after, coverage):
    """
    diff of two builds, each (elf, data, executed): adds the interval of each change of
    what is large on one side. What does its work twice is told to have grown.
    """
    wrong, grown = [], 0
    records = table(hlguest, "diff", "--weight=samples", before[0], before[1], "--after",
                    after[0], after[1])
    sizes = [{symbol.addr: symbol.size for symbol in functions(side[0])}
             for side in (before, after)]
    for r in records:
        if r["record"] != "function" or not r["addr_before"] or not r["addr_after"]:
            continue
        addrs = [int(r[name], 16) for name in ("addr_before", "addr_after")]
        true = [100 * side[2].share(addr, size[addr])
                for side, addr, size in zip((before, after), addrs, sizes)]
        if max(true) >= 100 * LARGE:
            coverage.add(float(r["low"]), float(r["high"]), true[1] - true[0], r["name"])
        if r["name"].endswith("::kinds::sort::insertion"):
            grown += float(r["points"]) > 0 and r["significant"] == "1"
            if not grown:
                wrong.append(f"{r['name']}: {r['points']} points, true {true}, not significant")
    return wrong or ([] if grown == 1 else ["the function that changed is not told"])


def tree(elf, executed, calls):
    """
    The calling-context tree sums up to what was executed, in each function; returns lead
    behind calls; all that a round does is called by one_round, and no round is by another.
    """
    wrong = []
    own, symbols = calls.own(), functions(elf)
    for symbol in symbols:
        sums = sum(own.get(at, 0) for at in range(symbol.addr, symbol.addr + symbol.size))
        if sums != executed.of(symbol.addr, symbol.size):
            wrong.append(f"{symbol.name}: {sums} in the tree, not "
                         f"{executed.of(symbol.addr, symbol.size)}")
    behind = calls_of(elf) | {0}  # 0: an exception's handler
    wrong += [f"{at:#x} is not behind a call" for at in
              sorted({at for returns, _, _ in calls.paths for at in returns} - behind)]
    (caller,) = [symbol for symbol in symbols if "9one_round" in symbol.name]
    rounds = [symbol for symbol in symbols if "5kinds" in symbol.name and "5round" in symbol.name]
    for returns, function, _ in calls.paths:
        by = [symbol.name for at in (*returns, function) for symbol in rounds
              if symbol.addr <= at < symbol.addr + symbol.size]
        called = any(caller.addr <= at < caller.addr + caller.size for at in returns)
        if len(set(by)) > 1 or (by and not called):
            wrong.append(f"{list(map(hex, returns))} {function:#x}: {by}")
    return wrong


def callers(hlguest, elf, recording, calls):
    """Stacks are those of calls that were made. At most 0.1 % of the samples are not, and are
    not marked either; at most 2 % are marked."""
    symbols = functions(elf)
    first = {name: symbol.names[0] for symbol in symbols for name in symbol.names}
    made = calls.stacks(symbols)
    kinds, wrong = collections.Counter(), []
    for line in must(hlguest, "report", "--format=folded", "--stacks=callgraph", "--top=0",
                     "--demangle=no", "--border=keep", "--weight=samples", elf,
                     recording).splitlines():
        stack, samples = line.rsplit(" ", 1)
        frames = stack.split(";")
        frames = frames[frames.index("[guest]") + 1:]
        marked = any(frame.startswith(("[caller unknown]", "[truncated")) for frame in frames)
        kind = "marked" if marked else \
            "exact" if tuple(map(first.get, frames)) in made else "wrong"
        kinds[kind] += int(samples)
        if kind == "wrong":
            wrong.append(f"{samples} of {';'.join(frames)}")
    print("#", ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()))
    total = kinds.total()
    if total < 500 or kinds["marked"] > 0.02 * total:
        return [f"{kinds}"]
    return wrong if kinds["wrong"] > 0.001 * total else []


def inclusive(hlguest, elf, recording, calls):
    """What functions executed with all that they call is what --children says. Shares of a
    function and of what it calls go together, so each is asked for by itself: of a thousand
    one may be outside. What a marked stack has no caller for may be anybody's."""
    said = json.loads(must(hlguest, "report", "--children", "--format=json", "--weight=samples",
                           elf, recording))
    total = said["totals"]["guest"]["samples"]
    told = said["stacks"]["callers"]
    lost = (told["truncated"] + told["caller_unknown"]) / total
    found = {int(row["addr"], 16): row for row in said["children"]}
    asked, wrong = 0, []
    for symbol in functions(elf):
        true = calls.under(symbol.addr, symbol.size) / calls.total
        if true < LARGE:
            continue
        row = found.get(symbol.addr, {"samples": 0})
        low, high = wilson(row["samples"], total, Z999)
        asked += 1
        if not low <= true <= high + lost:
            wrong.append(f"{symbol.name}: {100 * true:.2f} % executed, not {100 * low:.2f} to "
                         f"{100 * (high + lost):.2f}")
    for row in said["children"]:
        own = [r for r in said["functions"] if r["addr"] == row["addr"]]
        if row["self"]["samples"] != sum(r["samples"] for r in own):
            wrong.append(f"{row['name']}: {row['self']} in itself, not {own}")
    return wrong if asked > 20 else [f"{asked} functions"]
