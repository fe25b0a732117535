#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Saved profiles lose nothing.

    pprof.py --build DIR

A report of a saved profile is, byte for byte, that of the recording: in every format, for
every selection that the labels allow. Merging gives the same bytes in every order and
grouping, and the counts of one report over all recordings. Go's pprof, where there is
one, opens the files and adds up to the same totals.
"""
import csv
import gzip
import io
import itertools
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from kit import MISFIT, RECORDINGS, content, elf_of, run_checks

import forged
import made
import recording
from tap import TIMEOUT, but_banner, but_sandboxes, need, run, some

FORMATS = ("text", "csv", "json", "folded")
TID = re.compile(r'"tid": \d+')
# When the recording was, in JSON.
SPAN = re.compile(r'^ "span": \{[^}]*\},\n', re.M)
SPLITS = ("", "--by=tid", "--by=pid,tid,cpu", "--by=event,cpu")


def words(*options):
    return [o for o in options if o]


def compare(bench, folder, argv):
    """The same words where the recordings are, and where the profiles have their names."""
    first = bench.run("report", *argv)
    if "not in this build" in first[1]:
        return
    second = bench.run("report", *argv, folder=folder)
    # Times are not saved, nor is the list of sandboxes.
    first, second = ((SPAN.sub("", but_sandboxes(out)), *rest)
                     for out, *rest in (first, second))
    # Whose samples lie at a base is not saved, unless the threads are labels.
    if not re.search(r"--by=\S*tid", " ".join(argv)):
        first, second = ((TID.sub('"tid": null', out), *rest)
                         for out, *rest in (first, second))
    if first != second or but_banner(first[1]) or first[2] not in (0, MISFIT):
        yield f"{' '.join(argv)}: {first[1]}{second[1]}"
        for a, b in zip(first[0].split("\n"), second[0].split("\n")):
            if a != b:
                yield from (f"- {a}", f"+ {b}")


def round_trip(bench, recording):
    """In the gate every second way, the other half of the next recording."""
    ways = itertools.product(SPLITS, FORMATS, ("guest", "host", "all"))
    for split, form, mode in some(ways, 2, RECORDINGS.index(recording)):
        argv = words(elf_of(recording), recording, split, f"--format={form}", f"--mode={mode}")
        yield from compare(bench, bench.saved_alike(*words(split)), argv)


def views_stay_open(bench):
    """What is no selection is decided when the profile is read."""
    folder = bench.saved_alike()
    for more in ("--gaps=drop", "--gaps=stretch", "--weight=samples", "--region=64",
                 "--top=3", "--min=2.5", "--demangle=no", "--aliases=yes"):
        for recording in RECORDINGS:
            argv = (elf_of(recording), recording, more, "--format=csv")
            yield from compare(bench, folder, argv)


def selections_are_exact(bench):
    """Also of events, and also of host samples, from the labels."""
    folder = bench.saved_alike("--by=pid,tid,cpu")
    for recording in RECORDINGS:
        rows = bench.run("report", elf_of(recording), recording, "--by=pid,tid,cpu",
                         "--format=csv")[0]
        pids = sorted(set(re.findall(r"pid=(\d+)", rows)))
        tids = sorted(set(re.findall(r"tid=(\d+)", rows)))
        cpus = sorted(set(re.findall(r"cpu=(\d+)", rows)))
        picks = [f"--pid={p}" for p in pids] + [f"--tid={t}" for t in tids]
        picks += [f"--cpu={c}" for c in cpus]
        picks += ["--cpu=0-3", "--pid=1", "--event=cpu-*", "--event=task*", "--event=x"]
        for pick in picks:
            for by in ("", "--by=tid"):
                argv = words(elf_of(recording), recording, pick, by, "--mode=all",
                             "--format=csv")
                yield from compare(bench, folder, argv)


def saving_again(bench):
    for recording in RECORDINGS:
        elf = elf_of(recording)
        once = bench.save(elf, recording, "--by=tid")
        if content(bench.save(elf, once, "--by=tid")) != content(once):
            yield f"{recording}: saved from its profile it has other bytes"
        if content(bench.merge([once])) != content(once):
            yield f"{recording}: merged alone it has other bytes"
        if content(bench.save(elf, recording)) != content(bench.save(elf, once)):
            yield f"{recording}: without its labels it is not as saved without them"
        if content(once)[4:8] != b"\0\0\0\0":
            yield f"{recording}: the file has a time in it"


def part_of_the_moments(bench):
    """Of so many samples that only some keep their times, saved once or twice."""
    name = "long.data"
    with open(os.path.join(bench.folder("given"), name), "wb") as f:
        # They take turns so seldom that intervals are wide.
        f.write(forged.recording(b"".join(
            forged.sample(0x52b0 if i // 5000 % 2 else 0x5000, time=10 ** 9 + 10 ** 6 * i)
            for i in range(40000))))
    saved = bench.folder("saved-long")
    shutil.copy(os.path.join(bench.folder("given"), "demo.elf"), saved)
    once = bench.save("demo.elf", name, "--force", out=os.path.join(saved, name))
    yield from compare(bench, saved, ("demo.elf", name, "--force", "--format=csv"))
    if content(bench.save("demo.elf", once, "--force")) != content(once):
        yield "saved from its profile it has other bytes"


def mixing(bench):
    """Recordings and profiles in one command, as if all were recordings."""
    demos = [r for r in RECORDINGS if elf_of(r) == "demo.elf"]
    saved = bench.saved_alike()
    mixed = "mixed"
    for i, name in enumerate(demos + ["demo.elf"]):
        source = saved if i % 2 else "given"
        shutil.copy(os.path.join(bench.work, source, name), bench.folder(mixed))
    for form in FORMATS:
        for jobs in ("-j1", "-j2"):
            argv = ["demo.elf", *demos, f"--format={form}", "--mode=all", jobs]
            yield from compare(bench, mixed, argv)


def grouped(bench, paths, rng):
    """One sum of all, by way of sums of some."""
    paths = list(paths)
    while len(paths) > 1:
        rng.shuffle(paths)
        n = rng.randint(2, len(paths))
        paths = paths[n:] + [bench.merge(paths[:n])]
    return content(paths[0])


def merging(bench):
    rng = random.Random(20)
    paths = []
    for recording in RECORDINGS:
        elf = elf_of(recording)
        # The same build at other bases, other names of it, other demangling.
        paths += [bench.save(f"{elf}@{base}", recording, f"--demangle={demangle}", split)
                  for base, demangle, split in (("auto", "yes", "--by=tid"),
                                                ("0x4000", "no", "--by=tid"),
                                                ("0x200000", "no", "--by=tid"))]
    expected = content(bench.merge(paths))
    for i in range(20):
        rng.shuffle(paths)
        if content(bench.merge(paths)) != expected:
            yield f"order {i}: other bytes"
        if grouped(bench, paths, rng) != expected:
            yield f"grouping {i}: other bytes"


UNLIKE = "demo-far.data", "demo-windows.data"


def merged_is_sum(bench):
    # What the check says of these is not what it says of all.
    demos = [r for r in RECORDINGS if elf_of(r) == "demo.elf" and r not in UNLIKE]
    merged = bench.merge([bench.save("demo.elf", r, "--border=keep") for r in demos])
    if content(merged) != content(bench.save("demo.elf", *demos, "--border=keep")):
        yield "the merged profile is not that of one report over all"
    # What is of the border is named by each; who has the ELF decides anew, on the sum.
    merged = bench.merge([bench.save("demo.elf", r) for r in demos])
    if bench.run("report", "demo.elf", merged, "--format=folded")[0] != \
            bench.run("report", "demo.elf", *demos, "--format=folded")[0]:
        yield "the border is not decided on the sum"
    # Phases are those of all, of which each knows a part.
    two = "demo-user.data", "demo-kernel.data"
    whole = bench.run("report", "demo.elf", *two, "--format=csv")[0]
    merged = bench.merge([bench.save("demo.elf", r) for r in two])
    if "are worth" not in whole:
        yield "the recordings have no phases"
    if bench.run("report", "demo.elf", merged, "--format=csv")[0] != whole:
        yield "phases of the merged profile are not those of all"


def folded(bench, *argv):
    text = bench.run("report", *argv, "--format=folded")[0]
    for line in text.splitlines():
        name, _, count = line.rpartition(" ")
        yield name.rpartition(";")[2], int(count)


def bases_add_up(bench):
    """One build at two bases: samples keep their place in it."""
    low = bench.save("demo.elf", "demo-user.data")
    once = bench.run("report", "demo.elf", low, "--format=folded")[0]
    moved = bench.run("report", "demo.elf@0x7000000", low, "--format=folded")[0]
    if once != moved:
        yield "at another base the rows are others"
    # demo-far.data's guest was loaded there.
    far = bench.save("demo.elf@0x7f3a51c26000", "demo-far.data")
    merged = bench.merge([low, far])
    sums = {}
    for path in (low, far):
        for name, count in folded(bench, "demo.elf", path):
            sums[name] = sums.get(name, 0) + count
    for elf in ("demo.elf", "demo.elf@0x7f3a51c26000", "demo.elf@0x200000"):
        if dict(folded(bench, elf, merged)) != sums:
            yield f"{elf}: a merge of two bases is not the sum"


def where_it_was(bench):
    """A base that does not fit is seen as of the recording; only a stated one moves samples, and
    then a note says so. What was saved at a wrong base is not moved by the error."""
    def said(elf, path):
        out, err, _ = run(bench.hlguest, "report", "--top=1", elf, path,
                          cwd=bench.folder("given"))
        return out + err

    base, note = "0x7f3a51c26000", "its guest was at base"
    far = bench.save(f"demo.elf@{base}", "demo-far.data")
    near = bench.save("demo.elf", "demo-user.data")
    wrong = bench.save("demo.elf@0x1000", "demo-user.data")
    both = bench.merge([near, far])
    for elf, path, told in (
            ("demo.elf", far, (f"base {base} (found", "0x4000 (from", "does not fit", "OK: all 16")),
            ("demo.elf@0x999000", far, (f"{note} {base} when", "shown as 0x999000", "OK: all 16")),
            ("demo.elf", wrong, ("base 0x4000 (Hyperlight", "OK: all 3267")),
            ("demo.elf@0x4000", wrong, ("base 0x4000 (stated)", "OK: all 3267")),
            ("demo.elf", both, (f"{note} {base} when", "shown as 0x4000", "OK: all 4902"))):
        text = said(elf, path)
        if not all(word in text for word in told) or (note in text) != (note in "".join(told)):
            yield f"{elf} {told}: {text[:600]}"
    out, _, _ = bench.run("lookup", "demo.elf", far, "0x7f3a51c272c4", "0x52c4")
    if "hash_block+0x14 " not in out or "0x52c4 [outside]" not in out:
        yield f"lookup: {out}"


def builds_stay_apart(bench):
    """Of two programs at the same addresses each keeps its own."""
    demo = bench.save("demo.elf", "demo-user.data")
    rusty = bench.save("rusty.elf", "rusty-user.data")
    merged = bench.merge([rusty, demo])
    rows = dict(folded(bench, "demo.elf", demo)) | dict(folded(bench, "rusty.elf", rusty))
    del rows["_start"]  # both have one
    both = dict(folded(bench, "demo.elf", "rusty.elf@0x7000000", merged))
    for name, count in rows.items():
        if both.get(name) != count:
            yield f"{name}: {count}, merged {both.get(name)}"
    out, err, status = bench.run("report", "demo.elf", merged)
    if status != 1 or "has samples in rusty.elf" not in err:
        yield f"without rusty.elf: status {status}: {err}"


def given(bench, argv, how, data):
    """(standard output, standard error, status) of hlguest with data as its input."""
    if how == "file":
        with tempfile.TemporaryFile() as f:
            f.write(data)
            f.seek(0)
            return finish(bench, argv, f, None)
    if how == "socket":
        ours, its = socket.socketpair()
        with ours, its:
            return finish(bench, argv, its, lambda: ours.sendall(data), ours.close)
    ours, its = os.pipe()  # "pipe", or one byte first and the rest later

    def write():
        with os.fdopen(its, "wb", buffering=0) as f:
            if how == "slow pipe":
                f.write(data[:1])
                time.sleep(0.1)
            f.write(data[how == "slow pipe":])
    with os.fdopen(ours, "rb") as f:
        return finish(bench, argv, f, write)


def finish(bench, argv, its, *writes):
    child = subprocess.Popen([bench.hlguest, *argv], cwd=bench.folder("given"), stdin=its,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for write in filter(None, writes):
        write()
    out, err = child.communicate(timeout=TIMEOUT)
    return out, err.decode(), child.returncode


def standard_input(bench):
    """A profile, and a recording of perf record -o -, are told apart where they are read."""
    saved = bench.save("demo.elf", "demo-user.data")
    other = bench.save("demo.elf", "demo-far.data")
    report = bench.run("report", "demo.elf", saved)[0].encode()
    merged = content(bench.merge([saved, other]))
    recording = content(os.path.join(bench.folder("given"), "demo-user.data"))[:5000]
    for how in ("file", "pipe", "slow pipe", "socket"):
        for argv, expected in ((["report", "demo.elf", "-"], report),
                               (["report", "demo.elf", "-i", "-"], report),
                               (["merge", "-", other], merged),
                               (["merge", other, "-"], merged)):
            found = given(bench, argv, how, content(saved))
            if found != (expected, "", 0):
                yield f"{how}: {' '.join(argv)}: {found[2]}, {found[1]!r}"
        for argv, data, said in (
            (["merge", "-", other], b"", "standard input: is empty (save it again)"),
            (["merge", other, "-"], content(saved)[:99], "standard input: is cut off, "),
            (["merge", "-"], recording, "standard input: is a recording, not a saved "),
            (["report", "demo.elf", "-"], content(saved)[:99], "standard input: is cut off"),
            (["report", "rusty.elf", "-"], content(saved), "standard input: has samples in"),
            (["report", "demo.elf", "-"], b"no", "standard input: is too short for"),
            (["report", "demo.elf", "-"], b"no recording, no profile",
             "standard input: is no recording"),
        ):
            out, err, status = given(bench, argv, how, data)
            if (out, status, err.count("\n")) != (b"", 1, 1) or said not in err:
                yield f"{how}: {' '.join(argv)}: {status}, {err!r}"


def refusals(bench):
    plain = bench.save("demo.elf", "demo-user.data")
    split = bench.save("demo.elf", "demo-user.data", "--by=tid")
    foreign = os.path.join(bench.work, "foreign.pb.gz")
    with open(foreign, "wb") as f:
        f.write(gzip.compress(b"\x32\x00"))
    for argv, expected in (
        (["report", "demo.elf", plain, "--pid=1"], "--pid needs the pid of each sample"),
        (["report", "demo.elf", plain, "--by=cpu"], "--by=cpu needs the cpu"),
        (["report", "demo.elf", split, "--by=pid"], "save it again with --by=pid"),
        (["report", "demo.elf", plain, "--time=1,2"], "has no times"),
        (["report", "rusty.elf", plain], "not among the images"),
        (["report", "demo.elf", foreign], "not a profile that hlguest saved"),
        (["merge", plain, split], "save both with the same --by="),
        (["merge", plain, "demo-user.data"],
         "demo-user.data: is a recording, not a saved profile (hlguest report "),
        (["merge", "demo.elf"], "demo.elf: is not a saved profile, "),
        (["merge", plain, "missing.pb.gz"], "missing.pb.gz: "),
        (["merge", plain, "-o", "no/such/folder"], "no/such/folder: its folder"),
    ):
        out, err, status = bench.run(*argv)
        if status != 1 or expected not in err or out or err.count("\n") != 1:
            yield f"{' '.join(argv)}: status {status}, {out!r}, {err!r}"
    status = bench.run("merge")[2]
    if status != 2:
        yield f"merge of nothing: status {status}"


def changed_meanwhile(bench):
    """Nothing is saved of an ELF that has changed when its bytes are asked for."""
    saved, folder = content(bench.save("demo.elf", "demo-user.data")), bench.folder("changed")
    elf, fifo = (os.path.join(folder, name) for name in ("demo.elf", "fifo"))
    shutil.copy(os.path.join(bench.folder("given"), "demo.elf"), elf)
    os.mkfifo(fifo)
    with subprocess.Popen([bench.hlguest, "report", elf, fifo, "--format=pprof", "-o", "out"],
                          cwd=folder, stderr=subprocess.PIPE, text=True) as child:
        with open(fifo, "wb") as f:  # is read when the ELF has been opened
            os.utime(elf, (1, 1))
            f.write(saved)
        err = child.communicate(timeout=TIMEOUT)[1]
    if child.returncode != 1 or "cannot be read again" not in err or \
            os.path.exists(os.path.join(folder, "out")):
        yield f"status {child.returncode}, {os.listdir(folder)}: {err}"


def rows_of(table, event):
    """What each name has of an event's (samples, period), in a CSV report by event."""
    sums = ({}, {})
    for row in table:
        if row["record"] in ("function", "border", "other") and row["series"] == f"event={event}":
            for sum_of, column in zip(sums, ("samples", "period")):
                name = row["name"]
                sum_of[name] = sum_of.get(name, 0) + int(row[column])
    return sums


def go_agrees(bench):
    """Totals and rows of every value type, as Go's pprof adds them up; also of recordings
    made up."""
    need("go")
    for seed in range(6):
        with open(os.path.join(bench.folder("given"), f"made-{seed}"), "wb") as f:
            f.write(made.make(seed))
    for at, recording in enumerate(RECORDINGS + [f"made-{seed}" for seed in range(6)]):
        elf = "demo.elf@0x400000" if recording.startswith("made") else elf_of(recording)
        path = bench.save(elf, recording, "--by=tid", "--force")
        text = bench.run("report", elf, recording, "--by=event", "--format=csv", "--force")[0]
        table = list(csv.DictReader(io.StringIO(text)))
        events = [row["name"] for row in table if row["record"] == "event"]
        expected = [rows for event in events for rows in rows_of(table, event)]
        for i, rows in some(enumerate(expected), 2, at):
            argv = ["go", "tool", "pprof", "-top", "-nodefraction=0", "-unit=ns",
                    f"-sample_index={i}", path]
            out, err, status = run(*argv)
            total = re.search(r" of (\d+)(?:ns)? total", out)
            said = {m[2]: int(m[1]) for m in
                    re.finditer(r"^ *(\d+)(?:ns)? +\S+% +\S+% +\S+ +\S+%  (.*)$", out, re.M)}
            if status or not total or int(total[1]) != sum(rows.values()):
                yield f"{recording}: type {i}: {sum(rows.values())} in all, not {out} {err}"
            if said != rows:
                yield f"{recording}: type {i}: {rows}, not {said}"


def pprof_stays_quiet(bench):
    """Before its table Go's pprof prints two lines of ours, however many threads there are."""
    need("go")
    path = bench.save("demo.elf", "demo-threads.data", "--by=pid,tid,cpu")
    out, err, status = run("go", "tool", "pprof", "-top", path)
    head = out.partition("Showing nodes")[0].splitlines()
    ours = [line for line in head if not re.match("(File|Build ID|Type|Time|Duration): ", line)]
    totals = {name: dict(zip(("samples", "period"), map(int, counts.split(","))))
              for name, counts in re.findall(r"(\w+)=(\d+,\d+)", "".join(ours))}
    text = bench.run("report", "demo.elf", "demo-threads.data", "--format=csv")[0]
    expected = {row["name"]: {k: int(row[k]) for k in ("samples", "period")}
                for row in csv.DictReader(io.StringIO(text))
                if row["record"] == "total" and row["name"] in ("seen", "host", "guest")}
    if len(ours) != 2 or len(ours[0]) > 150 or ours[1] != "check: OK" or status:
        yield f"status {status}, {err}, {ours}"
    if totals != expected:
        yield f"{totals}, not {expected}"


def clocks_count_time(bench):
    for config, event in enumerate(("cpu-clock", "task-clock", "page-faults")):
        path = os.path.join(bench.folder("given"), "made.data")
        recording.write(path, [(0x52b0, 7, 1000, 0)], configs=(config,))
        saved = gzip.decompress(content(bench.save("demo.elf", "made.data", "--force")))
        os.unlink(path)
        if (b"nanoseconds" in saved) != event.endswith("clock"):
            yield f"{event} has the wrong unit"


def main():
    trips = [(f"round trip of {recording}", lambda bench, r=recording: round_trip(bench, r))
             for recording in RECORDINGS]
    return run_checks(__doc__, "saved profiles", (
        *trips,
        ("views are not decided by saving", views_stay_open),
        ("selections from a profile", selections_are_exact),
        ("saving a saved profile", saving_again),
        ("times of a part", part_of_the_moments),
        ("recordings and profiles mixed", mixing),
        ("any order and grouping of a merge", merging),
        ("a merge is the sum", merged_is_sum),
        ("a build at two bases", bases_add_up),
        ("where a guest was", where_it_was),
        ("two builds at one address", builds_stay_apart),
        ("clocks count time", clocks_count_time),
        ("standard input", standard_input),
        ("what cannot be had is refused", refusals),
        ("an ELF that changes meanwhile", changed_meanwhile),
        ("go tool pprof agrees", go_agrees),
        ("go tool pprof stays quiet", pprof_stays_quiet),
    ))


if __name__ == "__main__":
    sys.exit(main())
