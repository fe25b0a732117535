#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest inject: what perf shows of the new recording is what hlguest shows of the old.

    inject.py --build DIR

Row by row and sample by sample, for each recording of tests/data and each gap policy;
address by address with perf annotate. The new file is compared with the old record by
record: nothing but what is documented has changed. Then recordings in other shapes, ELFs
with build ids and source lines, and files that are cut off or hostile. $PERF names another
perf.
"""
import collections
import csv
import io
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
import parsed as rec
import stacked
from programs import hlguest_of
from parsed import Recording
from tap import DATA, Skip, Tap, environment, must, need, parser, run

PERF = os.environ.get("PERF", "perf")
DEMO = os.path.join(DATA, "demo.elf")
RECORDINGS = {
    "demo-user": DEMO, "demo-kernel": DEMO, "demo-host": DEMO, "demo-threads": DEMO,
    "demo-events": DEMO, "demo-windows": DEMO,
    "rusty-user": os.path.join(DATA, "rusty.elf"),
}
if "zydis" in os.environ.get("HLG_FEATURES", "zydis"):  # else no base can be found
    RECORDINGS["demo-far"] = DEMO + "@auto"
POLICIES = ("retag", "drop", "stretch")
ALL_POLICIES = ("demo-user", "demo-windows")  # for the others, one is enough
OFFSET = 10000000
SUM = re.compile(r"^ *(records|guest samples|rewritten|dropped|kept as guest's|host samples"
                 r"|other|left out|added) +(\d+)", re.M)


def data_of(name):
    return os.path.join(DATA, name + ".data")


class Place:
    """A folder, and the command run there."""

    def __init__(self, build, folder):
        self.hlguest = hlguest_of(build)
        self.build, self.folder = build, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def inject(self, elf, recording, name, *words):
        """Returns the sums that are printed."""
        text = must(self.hlguest, "inject", elf, recording, "-o", self.path(name), *words)
        return {what: int(n) for what, n in SUM.findall(text)}

    def refused(self, said, status, *words):
        before = self.listing()
        out, err, got = run(self.hlguest, "inject", *words, cwd=self.folder)
        if got != status or out or not re.search(said, err) or err.count("\n") > 2:
            yield f"{words}: status {got}, {err!r}, {out!r}"
        if self.listing() != before:
            yield f"{words}: left behind {sorted(self.listing() - before)}"

    def listing(self):
        return {os.path.join(d, n) for d, dirs, files in os.walk(self.folder)
                for n in dirs + files}

    def rows(self, elf, recording, *words):
        """{(event, name): (samples, period)} of hlguest report, and its totals."""
        text = must(self.hlguest, "report", elf, recording, "--format=csv", "--top=0",
                    "--min=0", "--demangle=no", "--border=keep", "--by=event", *words)
        rows, totals = collections.defaultdict(lambda: (0, 0)), {}
        for r in csv.DictReader(io.StringIO(text)):
            if r["record"] == "total":
                totals[r["name"]] = int(r["samples"])
            if r["record"] in ("function", "other") and (r["series"] or "=" not in text):
                key = (r["series"].partition("=")[2], r["name"])
                rows[key] = (rows[key][0] + int(r["samples"]),
                             rows[key][1] + int(r["period"]))
        if not rows:
            rows = self.rows_of_one(text)
        return dict(rows), totals

    def functions(self, elf, recording, *words):
        """Functions, labels and gaps of hlguest report, not split."""
        text = must(self.hlguest, "report", elf, recording, "--format=csv", "--top=0",
                    "--min=0", "--demangle=no", "--border=keep", *words)
        return [{"name": r["name"], "addr": int(r["addr"], 16), "size": int(r["size"]),
                 "samples": int(r["samples"])} for r in csv.DictReader(io.StringIO(text))
                if r["record"] == "function"]

    @staticmethod
    def rows_of_one(text):
        """The same where there is but one event: nothing is split."""
        table = list(csv.DictReader(io.StringIO(text)))
        events = [r["name"] for r in table if r["record"] == "event" and int(r["samples"])]
        rows = {}
        for r in table:
            if r["record"] in ("function", "other") and not r["series"]:
                samples, period = rows.get((events[0], r["name"]), (0, 0))
                rows[events[0], r["name"]] = (samples + int(r["samples"]),
                                              period + int(r["period"]))
        return rows


# arm64's perf, run by qemu-user, meets the PMUs of this machine.
EMULATED = re.compile(r"^failed to get cpuid string for PMU .*\n", re.M)


def perf(*words):
    """perf's standard output; it must say nothing on standard error."""
    need(PERF)
    out, err, status = run(PERF, *words)
    if status or EMULATED.sub("", err):
        raise RuntimeError(f"perf {' '.join(words)}: status {status}: {err}")
    return out


def perf_rows(path):
    """{(event, name): (samples, period)} of the guests' processes in perf report."""
    text = perf("report", "--stdio", "--no-children", "--no-demangle", "--no-group", "-n",
                "-F", "sample,period,comm,sym", "-t", "|", "-g", "none", "-i", path)
    event, rows = None, collections.defaultdict(lambda: (0, 0))
    for line in text.splitlines():
        match = re.match(r"# Samples: .* of events? '(.*)'", line)
        if match:
            event = re.sub(r":[a-zA-Z]+$", "", match.group(1))
        if line.startswith("#") or "|guest:" not in line:
            continue
        samples, period, _, name = line.split("|", 3)
        name = re.sub(r"^\[.\] ", "", name).strip()
        if re.fullmatch(r"0x[0-9a-f]+", name):
            name = "[outside]"
        rows[event, name] = (rows[event, name][0] + int(samples),
                             rows[event, name][1] + int(period))
    return dict(rows)


def differences(expected, found, what):
    return [f"{what}: {key}: perf has {found.get(key)}, hlguest {expected.get(key)}"
            for key in sorted({*expected, *found}) if expected.get(key) != found.get(key)]


def check_rows(place, name, policy):
    """perf report on the new file against hlguest report on the old."""
    elf, out = RECORDINGS[name], f"{name}-{policy}.data"
    place.inject(elf, data_of(name), out, "--gaps=" + policy, "--demangle=no")
    expected, _ = place.rows(elf, data_of(name), "--gaps=" + policy)
    return differences(expected, perf_rows(place.path(out)), f"{name} {policy}")


def rewritten(old, new, where):
    """Is new the user sample that old has to become?"""
    pid, tid = struct.unpack_from("<2i", old.data, where)
    data = bytearray(old.data)
    data[4] = data[4] & ~7 | 2
    struct.pack_into("<2i", data, where, pid + OFFSET, tid + OFFSET)
    return bytes(data) == new.data


def is_made_up(old, record):
    return record.type in (rec.COMM, rec.MMAP2) and \
        struct.unpack_from("<i", record.data, 8)[0] > OFFSET


def check_bytes(place, name, policy, sums, gaps):
    """Record by record; gaps: how many guest samples hlguest says are in gaps."""
    old, new = Recording(data_of(name)), Recording(place.path(f"{name}-{policy}.data"))
    where, wrong = old.at(rec.TID), []
    made = [r for r in new.records if is_made_up(old, r)]
    rest = iter(new.records[len(made):])
    found = collections.Counter()
    if new.attrs != old.attrs:
        wrong.append("attributes or ids have changed")
    if {k: v for k, v in new.features.items() if k != rec.BUILD_ID} != old.features:
        wrong.append("features have changed")
    now = next(rest, None)
    for r in old.records:
        found["records"] += 1
        kind = "guest samples" if r.is_guest() else \
            "host samples" if r.type == rec.SAMPLE else "other"
        found[kind] += 1
        if now and (now.data == r.data if kind != "guest samples"
                    else rewritten(r, now, where)):
            found["rewritten"] += kind == "guest samples"
            now = next(rest, None)
        elif kind == "guest samples" and now and now.data == r.data:
            found["kept as guest's"] += 1
            now = next(rest, None)
        elif kind == "guest samples":
            found["dropped"] += 1
        else:
            return [f"a record of type {r.type} was not copied"]
    if now or new.left:
        wrong.append("there is more behind the last record")
    found["added"] = len(made)
    wrong += [f"{what}: {found[what]} records, {n} are told" for what, n in sums.items()
              if found[what] != n]
    held_back = found["dropped"] + found["kept as guest's"]
    if policy == "drop" and "windows" not in name and held_back != gaps:
        wrong.append(f"{held_back} are dropped, {gaps} are in gaps")
    if policy != "drop" and held_back:
        wrong.append("something is dropped")
    return wrong


def check_records(place, name, policy):
    elf, out = RECORDINGS[name], f"{name}-{policy}.data"
    sums = place.inject(elf, data_of(name), out, "--gaps=" + policy)
    _, before = place.rows(elf, data_of(name))
    wrong = check_bytes(place, name, policy, sums, before["gap"])
    # Read again: what was a guest's is the host's now, and nothing is lost.
    _, after = place.rows(elf, place.path(out), "--mode=host")
    if policy != "drop" and (after["guest"] or after["host"] != before["seen"]):
        wrong.append(f"read again: {after}, but was {before}")
    if policy == "drop" and after["seen"] != before["seen"] - (
            before["gap"] if sums["dropped"] else 0):
        wrong.append(f"read again: {after}, but was {before}")
    return wrong


def check_script(place, name):
    """perf script has every sample, and no warning."""
    place.inject(RECORDINGS[name], data_of(name), "script.data")
    text = perf("script", "-F", "comm,pid,tid,ip,sym", "-i", place.path("script.data"))
    _, totals = place.rows(RECORDINGS[name], data_of(name))
    guests = [line for line in text.splitlines() if line.startswith("guest:") or
              " guest:" in line]
    if len(guests) != totals["guest"]:
        yield f"{len(guests)} lines of guests, not {totals['guest']}"
    if any("[unknown]" in line for line in guests):
        yield "a line has no symbol"


LINE = re.compile(r"^ *(\d+) : +([0-9a-f]+): +(\S.*)$", re.M)


def check_annotate(place, name, policy):
    """perf annotate has the samples of each address, and disassembly."""
    need("objdump")
    elf, out = RECORDINGS[name], f"annotate-{policy}.data"
    place.inject(elf, data_of(name), out, "--gaps=" + policy, "--demangle=no")
    old, base = Recording(data_of(name)), 0x4000  # as Hyperlight 0.17 has it
    counts = collections.Counter(
        struct.unpack_from("<Q", r.data, old.at(rec.IP))[0] - base
        for r in old.records if r.is_guest())
    for f in place.functions(elf, data_of(name), "--gaps=" + policy):
        if f["samples"] < 100 or f["name"].startswith("_Z"):  # -s wants it demangled
            continue
        begin = f["addr"]
        text = perf("annotate", "--stdio", "--show-nr-samples", "-i", place.path(out), "-s",
                    f["name"])
        found = {int(at, 16): int(n) for n, at, _ in LINE.findall(text) if int(n)}
        end = max([begin + f["size"], *(at + 1 for at in found)])
        expected = {at: n for at, n in counts.items() if begin <= at < end}
        if found != expected or sum(found.values()) != f["samples"]:
            yield f"{f['name']}: perf has {found}, the recording {expected}"


# Recordings in other shapes


def original(name="demo-user"):
    return Recording(data_of(name))


def compare_shape(place, name, path, elf=DEMO, rows="demo-user"):
    """Rows of an injected shape are those of the recording it was made from."""
    place.inject(elf, path, name + ".out", "--demangle=no")
    expected, _ = place.rows(elf, data_of(rows))
    return differences(expected, perf_rows(place.path(name + ".out")), name)


def check_pipe_mode(place):
    path = place.path("pipe")
    recording = original("demo-events")
    recording.features[30] = b""  # perf 5.10 wrote one, and perf 6.1 refuses the file
    recording.write_pipe(path)
    wrong = compare_shape(place, "pipe", path, rows="demo-events")
    with open(path + ".out", "rb") as f:
        if f.read(16)[8] != 16:
            wrong.append("is not in pipe mode")
        if struct.pack("<IHHQ", rec.FEATURE, 0, 16, 30) in f.read():
            wrong.append("an empty feature is there")
    # It is the same through a pipe, standard input or one that has a name.
    place.inject(DEMO, path, "streamed2")
    for name in "-", "/dev/stdin":
        with open(path, "rb") as f:
            subprocess.run(["sh", "-c", 'cat | "$0" inject "$1" "$3" -o "$2"', place.hlguest, DEMO,
                            place.path("streamed"), name], stdin=f, check=True,
                           env=environment(), stdout=subprocess.DEVNULL)
        with open(place.path("streamed"), "rb") as f, open(place.path("streamed2"), "rb") as g:
            one, two = ([r.data for r in rec.records_of(h.read()[16:])[0]
                         if r.type != rec.MMAP2]  # has the path of a companion
                        for h in (f, g))
        if one != two or len(one) < 3000:
            wrong.append(f"from a pipe, {name}, it is another")
    # A named pipe is called as the user named it.
    fifo = place.path("named pipe")
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", 'echo nothing >"$0"', fifo]):
        wrong += place.refused(f"hlguest: {fifo}: is too short for a recording", 1, DEMO, fifo, "-o",
                               place.path("none"))
    return wrong


def check_directory(place):
    path = place.path("directory")
    original().write_directory(path)
    wrong = compare_shape(place, "directory", path)
    new = Recording(path + ".out")
    if rec.DIR_FORMAT in new.features or any(r.type == rec.ROUND for r in new.records):
        wrong.append("it still says that it is a directory")
    wrong += place.refused("is in a folder that is an input", 2, DEMO, path, "-o",
                           os.path.join(path, "out"))
    return wrong


def check_compressed(place):
    path = place.path("packed")
    if not original().write_compressed(path):
        raise Skip("libzstd is not installed")
    out, err, _ = run(place.hlguest, "report", DEMO, path)
    if "without libzstd" in err + out or "skipped" in out:
        return list(place.refused("packed: is compressed, and this hlguest was built without libzstd", 1, DEMO, path, "-o", "x"))
    wrong = compare_shape(place, "packed", path)
    new, old = Recording(path + ".out"), original()
    if rec.ZSTD in new.features or \
            [r.type for r in new.records if not is_made_up(old, r)] != \
            [r.type for r in old.records]:
        wrong.append("it is not what was compressed")
    return wrong


USER, KERNEL, GUEST, GUEST_USER = (1 << 64) - 512, (1 << 64) - 128, (1 << 64) - 2048, \
    (1 << 64) - 2560


def chain(*frames):
    return struct.pack(f"<{len(frames) + 1}Q", len(frames), *frames)


def check_callchains(place):
    """Marks of contexts become the address; frames of a guest are those of its report, which
    believes none of a guest without frame pointers."""
    wrong = []
    for name, make, expected in (
        ("none", lambda ip: (), lambda ip: (USER, ip)),
        ("one", lambda ip: (KERNEL,), lambda ip: (USER, ip)),
        ("two", lambda ip: (KERNEL, USER), lambda ip: (USER, ip)),
        ("deferred", lambda ip: (KERNEL, USER - 128, 3 << 32 | 1), lambda ip: (USER, ip)),
        ("three", lambda ip: (KERNEL, USER, GUEST), lambda ip: (USER, ip, USER)),
        ("frames", lambda ip: (USER, GUEST_USER, ip, 0x52b0, GUEST, 0x101),
         lambda ip: (USER, USER, ip)),
    ):
        recording = original()
        where = recording.at(rec.IP)
        recording.add_type(rec.CALLCHAIN)
        recording.records = [
            rec.Record(r.data[:6] + struct.pack("<H", r.size + 8) + r.data[8:] + chain())
            if r.type == rec.SAMPLE and not r.is_guest() else r for r in recording.records]
        recording.change(lambda _, data: data + chain(
            *make(struct.unpack_from("<Q", data, where)[0])))
        path = place.path("chain-" + name)
        recording.write(path)
        wrong += compare_shape(place, "chain-" + name, path)
        new = Recording(path + ".out")
        for r in new.records:
            if r.type == rec.SAMPLE and r.mode == 2 and \
                    struct.unpack_from("<i", r.data, new.at(rec.TID))[0] > OFFSET:
                ip, = struct.unpack_from("<Q", r.data, where)
                if r.data[new.end():] != chain(*expected(ip)):
                    wrong.append(f"{name}: {r.data[new.end():].hex()}")
                    break
    return wrong


def check_children(place):
    """Inclusive and own shares by perf, of stacks that are known, and by report --children
    row by row; of a caller that the code tells, too."""
    tree, found = stacked.make(place.build, place.folder, "calls")
    elf = f"{tree.elf}@{stacked.BASE:#x}"
    place.inject(elf, place.path("calls"), "calls.out")
    need(PERF)
    text = must(PERF, "report", "--stdio", "--children", "-g", "none", "--no-demangle", "-F",
                "overhead_children,overhead,sym", "-i", place.path("calls.out"))
    shown = {m[3]: (float(m[1]), float(m[2])) for m in
             re.finditer(r"^ +([\d.]+)% +([\d.]+)%  \[\.\] (\w+) *$", text, re.M)}
    every, leaves = stacked.inclusive(found), collections.Counter()
    for (_, stack), samples in found.items():
        leaves[stack[-1]] += samples
    if set(shown) != set(every):
        yield f"{shown}, not of {every}"
    yield from (f"{name}: {row}" for name, row in shown.items() for share, samples in
                zip(row, (every[name], leaves[name]))
                if abs(share - 100 * samples / found.total()) > 0.006)
    table = csv.DictReader(io.StringIO(must(
        place.hlguest, "report", elf, place.path("calls"), "--children", "--border=keep",
        "--demangle=no", "--format=csv")))
    rows = {r["name"]: float(r["percent"]) for r in table if r["record"] == "children"}
    if rows != {name: row[0] for name, row in shown.items()}:
        yield f"{rows}, perf has {shown}"
    # Before it has a frame: its caller's return address is not on the stack of frames.
    ips = [stacked.BASE + a for a in (tree.code["leaf_shared"][0], *(
        next(back for back, to in tree.calls[caller].items() if to == callee)
        for caller, callee in (("run", "right"), ("_start", "run"))))]
    stacked.recording.write(place.path("entry"), [(ips[0], 7, stacked.PERIOD, 0)], chains=[
        (stacked.USER, *ips, stacked.TAIL, stacked.WHOLE | stacked.FRAMES << 8)])
    place.inject(elf, place.path("entry"), "entry.out", "--force")
    text = must(PERF, "script", "-F", "ip,sym", "-i", place.path("entry.out"))
    expected = ["leaf_shared", "right", "run", "_start"]
    if [line.split()[-1] for line in text.splitlines() if line.strip()] != expected:
        if "without Zydis" not in run(place.hlguest, "--version")[0]:
            yield text


def check_unwinding(place):
    """Registers and stack are the VMM's: they go."""
    recording = original()
    recording.add_type(rec.REGS_USER | rec.STACK_USER)
    for i, (attr, ids) in enumerate(recording.attrs):
        attr = attr[:80] + struct.pack("<QI", 0x3, 64) + attr[92:]
        recording.attrs[i] = (attr, ids)
    more = struct.pack("<3Q", 2, 1, 2) + struct.pack("<Q", 64) + b"\x11" * 64 + \
        struct.pack("<Q", 64)
    recording.records = [
        rec.Record(r.data[:6] + struct.pack("<H", r.size + len(more)) + r.data[8:] + more)
        if r.type == rec.SAMPLE else r for r in recording.records]
    path = place.path("unwind")
    recording.write(path)
    wrong = compare_shape(place, "unwind", path)
    new = Recording(path + ".out")
    ends = {r.data[new.end():] for r in new.records if r.type == rec.SAMPLE and
            struct.unpack_from("<i", r.data, new.at(rec.TID))[0] > OFFSET}
    if ends != {struct.pack("<2Q", 0, 0)}:
        wrong.append(f"samples end with {[e.hex() for e in ends][:3]}")
    return wrong


def check_late_names(place):
    """Names of several CPUs stand in any order: the latest one is the process's."""
    recording = original()
    first, second = (i for i, r in enumerate(recording.records) if r.type == rec.COMM)
    recording.records[first], recording.records[second] = \
        recording.records[second], recording.records[first]
    path = place.path("names")
    recording.write(path)
    place.inject(DEMO, path, "names.out")
    names = set(perf("script", "-F", "comm", "-i", path + ".out").split())
    if "guest:microvm" not in names or "guest:perf-exec" in names:
        yield f"names: {names}"


def check_processes(place):
    """Two VMs at one base, one of a name unknown: a process each, and no other's number."""
    recording = original()
    where = recording.at(rec.TID)

    def move(i, data):
        ids = (77, 78 + i % 3) if i % 2 else (12345678, 12345678)
        return data[:where] + struct.pack("<2i", *ids) + data[where + 8:]
    recording.change(move)
    path = place.path("two")
    recording.write(path)
    place.inject(DEMO, path, "two.out")
    text = perf("script", "-F", "comm,pid,tid", "-i", path + ".out")
    found = collections.Counter(tuple(line.rsplit(None, 1)) for line in text.splitlines()
                                if "guest:" in line)
    names = {name.strip(): where for name, where in found}
    pids = {where.split("/")[0] for _, where in found}
    if pids != {"100000077", "112345678"} or len(found) != 4 or \
            set(names) != {"guest:77", "guest:12345678"}:
        yield f"processes: {found}"
    yield from differences(place.rows(DEMO, data_of("demo-user"))[0],
                           perf_rows_of_all(path + ".out"), "two")


def check_bases(place):
    """Two guests of one process, at bases that their samples tell: it has both."""
    for far in 0x7f0000000000, 0x800000:
        recording = original()
        ip, tid = recording.at(rec.IP), recording.at(rec.TID)

        def move(i, data, ip=ip, tid=tid, far=far):
            data = bytearray(data)
            if i % 3 == 0:
                struct.pack_into("<Q", data, ip, struct.unpack_from("<Q", data, ip)[0] + far)
            struct.pack_into("<2i", data, tid, 77, 78 + (i % 3 == 0))
            return bytes(data)
        recording.change(move)
        path = place.path("bases")
        recording.write(path)
        _, err, status = run(place.hlguest, "inject", DEMO + "@0x4000", path, "-o", path + ".one")
        if status or "would fit" not in err or "FILE@auto counts them there" not in err:
            yield f"the samples of one are lost without a word: {status}: {err}"
        place.inject(DEMO + "@auto", path, "bases.out")
        yield from differences(place.rows(DEMO + "@auto", path)[0], perf_rows_of_all(path + ".out"),
                               f"bases {far:#x} apart")


def check_overlap(place):
    """Two guests of one process that lie across each other: not both, and one after the other."""
    recording = original()
    ip, tid = recording.at(rec.IP), recording.at(rec.TID)

    def move(i, data):
        data = bytearray(data)
        if i % 2:
            struct.pack_into("<Q", data, ip, struct.unpack_from("<Q", data, ip)[0] + 0x1000)
        struct.pack_into("<2i", data, tid, 77, 78 + i % 2)
        return bytes(data)
    recording.change(move)
    path = place.path("across")
    recording.write(path)
    for elf in DEMO, DEMO + "@auto":
        _, err, status = run(place.hlguest, "inject", elf, path, "-o", "x", cwd=place.folder)
        if status != 1 or "which overlaps where it lies" not in err or os.path.exists(place.path("x")):
            yield f"{elf}: {status}: {err}"
        must(place.hlguest, "inject", elf, path, "-o", "forced", "--force", cwd=place.folder)
    err = run(place.hlguest, "inject", "--demangle=no", "--direct", "--tid=78,79", DEMO + "@auto",
              path, "-o", "both", cwd=place.folder)[1]
    told = re.findall(r"^hlguest: then: hlguest inject (.*)", err, re.M)
    if not told or "and so on, for each guest" not in told[-1] or "--tid=78" in err or not all(
            "--demangle=no" in step and "--direct" in step for step in told):
        yield f"options, or further guests, are left out: {err}"
    err = run(place.hlguest, "inject", DEMO + "@auto", path, "-o", "both", cwd=place.folder)[1]
    steps = re.findall(r"^hlguest: then: hlguest (inject .*? -o \S+)", err, re.M)
    for tid, step in zip((78, 79), steps, strict=True):
        must(place.hlguest, *shlex.split(step.replace("--tid=N", f"--tid={tid}")),
             cwd=place.folder)
    yield from differences(place.rows(DEMO + "@auto", path)[0], perf_rows_of_all(place.path("both")),
                           "across each other")


def perf_rows_of_all(path):
    return perf_rows(path)


# ELFs


def with_build_id(place, name, byte):
    """demo.elf with a build id, and nothing moved."""
    need("objcopy")
    note = place.path("note")
    with open(note, "wb") as f:
        f.write(struct.pack("<3I", 4, 20, 3) + b"GNU\0" + bytes([byte]) * 20)
    must("objcopy", "--add-section", f".note.gnu.build-id={note}", DEMO, place.path(name),
         env=environment())
    elf = bytearray(open(place.path(name), "rb").read())
    shoff, = struct.unpack_from("<Q", elf, 40)
    _, n = struct.unpack_from("<2H", elf, 58)
    for i in range(n):  # objcopy has no word for SHT_NOTE
        at = shoff + 64 * i
        offset, size = struct.unpack_from("<2Q", elf, at + 24)
        if elf[offset:offset + size].startswith(struct.pack("<3I", 4, 20, 3) + b"GNU"):
            struct.pack_into("<I", elf, at + 4, 7)
    with open(place.path(name), "wb") as f:
        f.write(elf)
    return place.path(name)


def check_build_id(place, direct):
    """perf finds the ELF and its companion by build id, and refuses another build."""
    elf = with_build_id(place, "id.elf", 0xAB)
    words = ["--direct"] if direct else []
    place.inject(elf, data_of("demo-user"), "built", "--demangle=no", *words)
    expected, _ = place.rows(elf, data_of("demo-user"))
    gap = ("cpu-clock", "__gap__ after checksum_words")
    if direct:
        outside = expected.pop(gap)
        expected["cpu-clock", "[outside]"] = outside
    yield from differences(expected, perf_rows(place.path("built")), "built")
    listed = perf("buildid-list", "-i", place.path("built"))
    if ("ab" * 20 + " " + elf) not in listed:
        yield f"buildid-list: {listed}"
    maps = [r.data for r in Recording(place.path("built")).records if r.type == rec.MMAP2
            and struct.unpack_from("<i", r.data, 8)[0] > OFFSET]
    ids = {m[44:44 + m[40]].hex() for m in maps if struct.unpack_from("<H", m, 4)[0] >> 14}
    if len(maps) != 1 or len(ids) != 1 or ("ab" * 20 in ids) != direct:
        yield f"build ids of mappings: {ids}"
    mapped = elf if direct else place.path("built.elf/id.elf")
    with open(mapped, "rb") as f:
        if bytes.fromhex(ids.pop()) not in f.read():
            yield "the file that is mapped has another build id"
    # Linked again: no names rather than wrong ones.
    os.replace(with_build_id(place, "other.elf", 0xCD), mapped)
    named = [name for _, name in perf_rows(place.path("built")) if name != "[outside]"]
    if named:
        yield f"names of another build: {named}"


LINES = """
volatile unsigned long total;
static unsigned long work(unsigned long n)
{
	for (unsigned long i = 1; i < n; i++)
		total += total / i;
	return total;
}
void _start(void)
{
	for (;;)
		work(total);
}
"""


def check_lines(place):
    """Source lines, of an ELF with debug sections, in perf annotate and perf script."""
    need("gcc", "objdump")
    with open(place.path("lines.c"), "w", encoding="utf-8") as f:
        f.write(LINES)
    elf = place.path("lines.guest")
    must("gcc", "-g", "-O1", "-fno-inline", "-nostdlib", "-static-pie", "-o", elf,
         place.path("lines.c"))
    text = must("objdump", "-d", "--no-show-raw-insn", elf)
    addresses = [int(a, 16) for a in re.findall(r"^ +([0-9a-f]+):", text, re.M)]
    recording = original()
    where = recording.at(rec.IP)
    recording.change(lambda i, data: data[:where] + struct.pack(
        "<Q", 0x4000 + addresses[i % len(addresses)]) + data[where + 8:])
    recording.write(place.path("lines"))
    for words in [], ["--gaps=stretch"]:
        place.inject(elf + "@0x4000", place.path("lines"), "lines.out", *words)
        yield from differences(place.rows(elf + "@0x4000", place.path("lines"), *words)[0],
                               perf_rows(place.path("lines.out")), "lines")
        text = perf("annotate", "--stdio", "-l", "-i", place.path("lines.out"), "-s", "work")
        for said in r"total \+= total / i;", r"lines\.c:5", r"\bdiv\b", r"<work>":
            if not re.search(said, text):
                yield f"annotate does not say {said}:\n{text}"
    need("addr2line")
    text = perf("script", "-F", "comm,ip,sym,srcline", "--comms", "guest:microvm", "-i", place.path("lines.out"))
    if not re.search(r"lines\.c:5$", text, re.M):
        yield f"script has no source lines: {text[:300]}"


def check_chain(place):
    """A part at a time, each from the copy before: of what is left no more than three times."""
    words = [DEMO, "-q", "--force"]
    name = data_of("demo-threads")
    for i in range(3):
        place.inject(*words[:1], name, f"chain{i}", *words[1:], f"--time=+0.{i}1,+0.{i}2")
        name = place.path(f"chain{i}")
    yield from place.refused(r"as the third copy in a row .* \(begin with the recording that perf "
                             "wrote, ", 1, *words, name, "-o", "chain3", "--time=+0.31,+0.32")


# What is damaged


def check_cut(place):
    """Cut off anywhere: the whole records are there, and perf reads them."""
    with open(data_of("demo-user"), "rb") as f:
        data = f.read()
    whole = original()
    sizes = []
    for cut in (5003, 44444, 100001, len(data) - 3000, len(data) - 1):
        with open(place.path("cut"), "wb") as f:
            f.write(data[:cut])
        sums = place.inject(DEMO, place.path("cut"), "cut.out")
        new = Recording(place.path("cut.out"))
        n = len([r for r in new.records if not is_made_up(whole, r)])
        if new.left or n != sums["records"] or n > len(whole.records):
            yield f"cut at {cut}: {n} records, {sums}, {new.left} left"
        sizes.append(n)
        perf("script", "-i", place.path("cut.out"))
        told = perf("report", "--header-only", "-i", place.path("cut.out"))
        if not re.search(r"^# nrcpus avail : 2$", told, re.M):
            yield f"cut at {cut}: no number of CPUs in {told}"
    if sizes != sorted(sizes) or sizes[-1] != len(whole.records):
        yield f"records: {sizes}"
    # perf record was killed: it had not come to say how much there is.
    whole.write(place.path("killed"), size=0)
    place.inject(DEMO, place.path("killed"), "killed.out")
    yield from differences(place.rows(DEMO, data_of("demo-user"))[0],
                           perf_rows(place.path("killed.out")), "killed")


def check_hostile(place):
    """Every word of the header changed: it is refused, or what is written is whole."""
    with open(data_of("demo-events"), "rb") as f:
        data = bytearray(f.read()[:40000])
    begin, = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, 48, len(data) - begin - 2000)
    for at in [*range(8, 104, 8), *range(104, begin, 24)]:
        for value in (0, 1, 7, 1 << 63, (1 << 64) - 1, 0x7fffffff):
            bad = bytearray(data)
            struct.pack_into("<Q", bad, at, value)
            with open(place.path("bad"), "wb") as f:
                f.write(bad)
            out, err, status = run(place.hlguest, "inject", DEMO, place.path("bad"), "-o",
                                   place.path("bad.out"), "-q")
            if status not in (0, 1) or (status == 0) == bool(err) or \
                    (status == 0) != os.path.exists(place.path("bad.out")):
                yield f"word {at} = {value:#x}: status {status}, {err!r}, {out!r}"
            if status == 0:
                if Recording(place.path("bad.out")).left:
                    yield f"word {at} = {value:#x}: records are not whole"
                os.unlink(place.path("bad.out"))


def check_refused(place):
    shutil.copy(data_of("demo-user"), place.path("same"))
    shutil.copy(data_of("demo-user"), place.path("copy"))
    os.symlink("same", place.path("link"))
    shutil.copy(DEMO, place.path("an.elf"))
    os.mkdir(place.path("two.elf"))
    shutil.copy(DEMO, place.path("two.elf/demo.elf"))
    with open(place.path("a.map"), "w", encoding="utf-8") as f:
        f.write("5000 1000 jitted\n")
    with open(place.path("no.tid"), "wb") as f:
        f.write(forged.recording(forged.record(forged.SAMPLE, forged.GUEST, bytes(16)),
                                 [forged.attr(forged.IP | forged.TIME)]))
    # Nobody ran, though KVM_RUN was recorded: neither steps nor --sandboxes would help.
    with open(place.path("none.data"), "wb") as f:
        f.write(forged.traced(forged.mmap2(1, 0x1000, 0x1000), b"syscalls:sys_enter_ioctl", {}))
    _, err, status = run(place.hlguest, "report", "--by=sandbox", DEMO, "none.data", cwd=place.folder)
    if status != 1 or err != "hlguest: none.data: has no KVM_RUN, though these were recorded " \
            "(record while a guest runs)\n":
        yield f"--by=sandbox: status {status}: {err}"
    _, err, status = run(place.hlguest, "inject", DEMO, os.path.join(DATA, "rusty.elf") + "@0x4000",
                         "none.data", "-o", "x", cwd=place.folder)
    if status != 1 or err != "hlguest: no samples: the recording is empty (record again: hlguest " \
            "record -- VMM)\n":
        yield f"two ELFs: status {status}: {err}"
    for said, status, words in (
        ("samples lie|sample lies", 3, [DEMO + "@0x5008", "same", "-o", "x"]),
        ("is an input of this run", 2, [DEMO, "same", "-o", "same"]),
        ("is an input of this run", 2, [DEMO, "same", "-o", "link"]),
        ("is an input of this run", 2, ["an.elf", "same", "-o", "an.elf"]),
        ("is an ELF", 2, [DEMO, "same", "-o", "an.elf"]),
        ("is where the companion of .*demo.elf would be", 1,
         [DEMO, "two.elf/demo.elf@0x800000", "same", "-o", "two"]),
        ("is a directory", 1, [DEMO, "same", "-o", "."]),
        ("no such file|No such file", 1, [DEMO, "same", "-o", "missing/x"]),
        ("is not a regular file", 1, [DEMO, "same", "-o", "/dev/full"]),
        ("is not a regular file", 1, [DEMO, "same", "-o", "/dev/stdout"]),
        ("no.tid: its guest samples have no process id", 1, [DEMO, "no.tid", "-o", "x"]),
        ("is a perf map", 1, ["map:a.map", "same", "-o", "x"]),
        ("one recording at a time", 2, [DEMO, "same", "copy", "-o", "x"]),
        ("no output file", 2, [DEMO, "same"]),
    ):
        yield from place.refused(said, status, *words)
    must(place.hlguest, "inject", DEMO + "@0x5008", "same", "-o", "forced", "--force",
         cwd=place.folder)


def check_interrupt(place):
    """^C while the files are written: nothing of them is left."""
    recording = original()
    samples = [r for r in recording.records if r.type == rec.SAMPLE]
    recording.records += samples * 300
    folder = place.path("interrupt")
    os.mkdir(folder)
    recording.write(os.path.join(folder, "large"))
    for _ in range(10):
        with subprocess.Popen([place.hlguest, "inject", DEMO, "large", "-o", "x"],
                              cwd=folder, env=environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as child:
            while child.poll() is None and len(os.listdir(folder)) == 1:
                pass
            child.send_signal(signal.SIGINT)
            _, err = child.communicate()
        if child.returncode == -signal.SIGINT:
            break
        for name in {*os.listdir(folder)} - {"large"}:  # it was faster
            (shutil.rmtree if name == "x.elf" else os.unlink)(os.path.join(folder, name))
    else:
        return ["it could not be interrupted"]
    left = sorted(os.listdir(folder))
    return [f"left behind: {left}, {err}"] if left != ["large"] or err else []


def check_sizes(place):
    """The companion's symbols have the sizes that hlguest tells, and no others are in it."""
    need("readelf")
    place.inject(DEMO, data_of("demo-user"), "sizes", "--demangle=no")
    text = must("readelf", "-sW", place.path("sizes.elf/demo.elf"))
    found = {name: (int(at, 16), int(size, 0)) for at, size, name in re.findall(
        r"^ +\d+: ([0-9a-f]{16}) +(\w+) FUNC +GLOBAL DEFAULT +\d+ (.*)$", text, re.M)}
    if len(found) < 25 or "SECTION" in text or text.count("Symbol table") != 1:
        yield text
    for f in place.functions(DEMO, data_of("demo-user")):
        name, place_of = f["name"], (f["addr"], f["size"])
        if found.get(name) != place_of:
            yield f"{name}: {found.get(name)}, not {place_of}"
    ends = [at + size for at, size in sorted(found.values())]
    starts = [at for at, _ in sorted(found.values())]
    if any(end > start for end, start in zip(ends, starts[1:])):
        yield "symbols overlap"


def check_table_name(place):
    """perf looks for a table by its section's name; where that is another, a companion has it."""
    for first, name in ((b"", b".symtab"), (b"", b""), (b".symtab", b".symtab")):
        elf = forged.Elf()
        if first:
            elf.section(elf.name(first), 1, at=elf.text, size=1)
        elf.symbols([(1, forged.TEXT, elf.size)], b"\0main\0")
        elf.sections[-1] = (elf.name(name) if name else 0, *elf.sections[-1][1:])
        with open(place.path("table.elf"), "wb") as f:
            f.write(elf.build())
        with open(place.path("table.data"), "wb") as f:
            f.write(forged.recording(forged.sample(forged.TEXT)))
        must(place.hlguest, "inject", "--force", "-q", place.path("table.elf"),
             place.path("table.data"), "-o", place.path("injected"))
        named = must(PERF, "script", "-i", place.path("injected"), "-F", "ip,sym").split()
        if named != ["1000", "main"]:
            yield f"behind {first}, table {name}: perf names {named}"


def check_same_names(place):
    """Companions have names of their own, whatever their ELFs are called."""
    words, bases = [], [0x400000 * i for i in (1, 2, 3)]
    for name, base in zip(("a/g.elf", "b/g.elf", "c/g.elf.2"), bases):
        function = b"of_" + name[:1].encode()
        elf = forged.Elf().symbols([(1, forged.TEXT, forged.TEXT)], b"\0" + function + b"\0")
        os.mkdir(os.path.dirname(place.path(name)))
        with open(place.path(name), "wb") as f:
            f.write(elf.build())
        words.append(f"{place.path(name)}@{base:#x}")
    with open(place.path("three.data"), "wb") as f:
        f.write(forged.recording(b"".join(forged.sample(base + 16) for base in bases)))
    must(place.hlguest, "inject", "--force", *words, place.path("three.data"), "-o",
         place.path("three"))
    named = perf("script", "-i", place.path("three"), "-F", "ip,sym").split()[1::2]
    if named != ["of_a", "of_b", "of_c"]:
        yield f"perf names {named}, of {os.listdir(place.path('three.elf'))}"


def check_diff(place):
    """perf diff compares two recordings of one guest by function."""
    for name in "demo-user", "demo-host":
        place.inject(DEMO, data_of(name), name)
    text = perf("diff", "--comms", "guest:microvm", "-s", "sym", place.path("demo-user"),
                place.path("demo-host"))
    for name in "hash_block", "__gap__ after checksum_words", "excp_page_fault":
        if not re.search(rf"^ +\d+\.\d+% +[-+]\d+\.\d+% +\[\.\] {name} *$", text, re.M):
            yield f"{name}: {text}"


SHAPES = {
    "companion": check_sizes, "a table's name": check_table_name, "perf diff": check_diff,
    "ELFs of one name": check_same_names, "guests across each other": check_overlap,
    "guests at several bases": check_bases,
    "pipe mode": check_pipe_mode, "a directory": check_directory,
    "compressed": check_compressed, "callchains": check_callchains,
    "callers": check_children,
    "registers and stack": check_unwinding, "several processes": check_processes,
    "names out of order": check_late_names,
    "a copy of a copy": check_chain,
    "build id": lambda place: check_build_id(place, False),
    "build id, without a companion": lambda place: check_build_id(place, True),
    "source lines": check_lines, "cut off": check_cut, "hostile headers": check_hostile,
    "refused": check_refused, "^C": check_interrupt,
}


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="inject-") as folder:
        place = Place(build, folder)
        for name in RECORDINGS:
            for policy in POLICIES if name in ALL_POLICIES else POLICIES[:1]:
                tap.run(f"{name}: rows, gaps={policy}", check_rows, place, name, policy)
                tap.run(f"{name}: records, gaps={policy}", check_records, place, name,
                        policy)
            tap.run(f"{name}: perf script", lambda n=name: list(check_script(place, n)))
        tap.run("perf annotate",
                lambda: list(check_annotate(place, "demo-user", "retag")))
        for name, function in SHAPES.items():
            tap.run(name, lambda f=function: list(f(place) or []))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
