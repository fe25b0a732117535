#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Guests that lie across each other are found one by one.

    bases.py --build DIR

Recordings of one guest, each at a base of its own, closer than the ELF is long; and
sandboxes' threads so in one recording. The report is that of all samples at one base:
each function's count, nothing outside, every base told, whoever reads the files.
"""
import collections
import csv
import itertools
import json
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
import recording
from programs import hlguest_of
from tap import DATA, Skip, Tap, must, parser, run, some

HYPERLIGHT = os.path.join(DATA, "hyperlight")
RECORDINGS, SAMPLES, PAGE, PERIOD = 12, 300, 4096, 1000000


class Bench:
    """The samples of a real guest, and its ELF without the note that states its base."""

    def __init__(self, build, work):
        self.hlguest = hlguest_of(build)
        self.elf = os.path.join(work, "guest.elf")
        self.work = work
        must("objcopy", "-R", ".note.hyperlight-version",
             os.path.join(HYPERLIGHT, "guest.elf"), self.elf)
        self.addrs, self.starts = self.sampled("guest.elf", "mix.data")
        self.inside = next(addr + 1 for addr in self.addrs if addr + 1 not in self.starts)
        self.small, self.small_addrs = os.path.join(work, "other.elf"), \
            self.sampled("small.elf", "small.data")[0]
        must("objcopy", "-R", ".note.hyperlight-version", os.path.join(HYPERLIGHT, "small.elf"),
             self.small)

    def sampled(self, *names):
        """Own addresses of all samples; and where instructions begin in these functions."""
        found = self.json("annotate", "--top=0", *(os.path.join(HYPERLIGHT, n) for n in names))
        lines = [line for f in found["functions"] for line in f["lines"]]
        return [int(line["addr"], 16) for line in lines for _ in range(line["samples"])], \
            {int(line["addr"], 16) for line in lines}

    def json(self, *argv):
        out, err, status = run(self.hlguest, *argv, "--format=json")
        if "not in this build" in err or "not decode" in err:
            raise Skip(err.strip())
        if status or err:
            raise RuntimeError(f"{argv}: status {status}: {err}")
        return json.loads(out)

    def write(self, name, guests):
        """guests: (base, thread, own addresses) each."""
        path = os.path.join(self.work, name)
        recording.write(path, [(addr + base, tid, PERIOD, 0)
                               for base, tid, addrs in guests for addr in addrs])
        return path

    def write_begun(self, name, guests, begins=None):
        """The same, of which KVM's records have the entry at the ELF's entry point, at these
        bases or others."""
        path = os.path.join(self.work, name)
        with open(self.elf, "rb") as f:
            entry, = struct.unpack_from("<Q", f.read(32), 24)
        with open(path, "wb") as f:
            f.write(forged.begun([(entry + begin, tid, [addr + base for addr in addrs])
                                  for begin, (base, tid, addrs) in
                                  zip(begins or [base for base, *_ in guests], guests)]))
        return path

    def write_left(self, name, guests):
        """The same, with an exit and an entry at each address, in turns."""
        return self.write_traced(name, guests, lambda time, tid, ip: (
            forged.crossing(False, time, tid, rip=ip), forged.crossing(True, time + 40, tid, rip=ip),
            forged.record(forged.SAMPLE, forged.GUEST, struct.pack(
                "<2Q2IQ2IQ", 3, ip, tid, tid, time + 60, 0, 0, 1))),
            [(forged.TRACED, 2, 1), (forged.TRACED, 2, 2), (forged.TRACED & ~forged.RAW,)],
            {1: forged.formats()})

    def write_counted(self, name, guests):
        """The same, where a group of two counters ends a window at each address."""
        kind = forged.TRACED & ~forged.RAW | forged.READ
        return self.write_traced(name, guests, lambda time, tid, ip: (
            forged.record(forged.SAMPLE, forged.GUEST, struct.pack(
                "<2Q2IQ2IQ5Q", 1, ip, tid, tid, time, 0, 0, 1, 2, 10 * time, 1, 2 * time, 2)),),
            [(kind, 0, 0, 12), (kind, 0, 1, 12)])

    def write_traced(self, name, guests, records, attrs, features=None):
        path = os.path.join(self.work, name)
        turns = itertools.zip_longest(*([(tid, addr + base) for addr in addrs]
                                        for base, tid, addrs in guests))
        data = b"".join(part for time, of in enumerate(filter(None, itertools.chain(*turns)), 10)
                        for part in records(100 * time, *of))
        with open(path, "wb") as f:
            f.write(forged.recording(data, [forged.attr(*of) for of in attrs],
                                     [struct.pack("<Q", i + 1) for i in range(len(attrs))],
                                     features))
        return path

    def functions(self, *argv):
        report = self.json("report", "--top=0", *argv)
        return report, {f["name"]: f["samples"] for f in report["functions"]}


def check(bench, guests, recordings):
    """The report of the recordings against that of all samples at one base."""
    whole = bench.write("whole.data", [(0x1000, 1, [a for _, _, addrs in guests for a in addrs])])
    _, wanted = bench.functions(bench.elf + "@0x1000", whole)
    for threads in "-j1", "-j2":
        report, found = bench.functions(threads, bench.elf, *recordings)
        bases = {int(b["base"], 16) for b in report["images"][0]["bases"]}
        if found != wanted:
            yield f"{threads}: {sorted(set(found.items()) ^ set(wanted.items()))[:6]}"
        if report["totals"]["outside"]["samples"]:
            yield f"{threads}: outside {report['totals']['outside']}"
        if bases != {base for base, _, _ in guests}:
            yield f"{threads}: bases {[*map(hex, bases)]}"
        if report["trust"]["verdict"] != "verified":
            yield f"{threads}: {report['trust']['verdict']}"
        first = int(report["images"][0]["base"], 16)
        if len(guests) < 3 and {len(addrs) for base, _, addrs in guests if base == first} != \
                {max(len(addrs) for *_, addrs in guests)}:
            yield f"{threads}: first {first:#x} of {report['images'][0]['bases']}"
        yield from check_base(bench, guests, threads, *recordings)
    name = max(wanted, key=wanted.get)
    out = must(bench.hlguest, "annotate", bench.elf, name, *recordings)
    if f"guest.elf ({len(bases)} bases)" not in out:
        yield f"annotate {name}, at {len(bases)} bases: {out[:600]}"


def check_base(bench, guests, *argv):
    """The verb has each base, with the samples of its guests, unless KVM's records alone tell."""
    wanted = collections.Counter()
    for base, _, addrs in guests:
        wanted[base] += len(addrs)
    out, err, status = run(bench.hlguest, "base", *argv[:1], bench.elf, *argv[1:])
    rows = [line.split() for line in out.splitlines() if line.startswith("0x")]
    if status or err or sorted(int(row[0], 16) for row in rows) != sorted(wanted) or \
            "KVM's" not in out and sorted(rows, key=lambda r: (-int(r[1]), int(r[0], 16))) != rows:
        yield f"base {argv}: status {status}: {out}{err}, not {wanted}"
    for base, samples, on, _, addrs, all_on, *_ in rows if "KVM's" not in out else ():
        if int(samples) != wanted[int(base, 16)] or on + all_on != "100.00100.00" or \
                not 12 <= int(addrs) <= int(samples):
            yield f"base {argv}: {out}"


def files(bench, rng):
    """Twelve recordings at random bases within 16 MiB."""
    for _ in some(range(4), 2):
        guests = [(0x40000000 + rng.randrange(4096) * PAGE, 7 + i, rng.sample(bench.addrs, SAMPLES))
                  for i in range(RECORDINGS)]
        yield from check(bench, guests, [bench.write(f"{i}.data", [guest])
                                         for i, guest in enumerate(guests)])


def threads(bench, rng):
    """Two threads of one recording, from a page to most of the image apart, one with few."""
    for apart in 1, 64, 256:
        for share in some((.5, .2, .8), 2, apart):
            n = int(1200 * share)
            guests = [(0x200000, 7, rng.sample(bench.addrs, n)),
                      (0x200000 + apart * PAGE, 8, rng.sample(bench.addrs, 1200 - n))]
            yield from check(bench, guests, [bench.write("threads.data", guests)])


def far(bench, rng):
    """Guests far enough from each other need nothing of this, and have it as before."""
    guests = [(0x200000 + i * 0x1000000, 7 + i, rng.sample(bench.addrs, SAMPLES)) for i in range(3)]
    path = bench.write("far.data", guests)
    yield from check(bench, guests, [path])
    for base, wanted in *((base, 0) for base, _, _ in guests), (0x201800, 3):
        argv = "base", f"{bench.elf}@{base:#x}", path
        _, err, status = run(bench.hlguest, *argv)
        if status != wanted:
            yield f"{argv}: status {status}: {err}"


def many(bench, rng):
    """So many bases that text does not list them all."""
    guests = [(0x200000 + i * 0x1000000, 7 + i, rng.sample(bench.addrs, 60)) for i in range(43)]
    path = bench.write("many.data", guests)
    out = must(bench.hlguest, "report", "-v", bench.elf, path)
    lines = re.findall(r"^ {12}0x(\w+) +(\d+) samples, thread (\d+)$", out, re.M)
    wanted = {(f"{base:x}", str(len(addrs)), str(tid)) for base, tid, addrs in guests}
    if len({*lines} & wanted) != 40 or len(lines) != 40 or " " * 12 + "... and 3 more\n" not in out:
        yield f"{len(lines)} bases are listed: {out[:3000]}"


def nobody(bench, rng):
    """A guest that is not found is outside, with a warning, where others lie across each other:
    its samples meet nobody's image. Where these have one base, it is counted with them."""
    few = sorted(set(bench.addrs))[:9] * 30
    rest = [(0x200000, 7, rng.sample(bench.addrs, 600)), (0x210000, 8, rng.sample(bench.addrs, 600))]
    lost = (0x220000, 9, few)
    for recordings in ([bench.write("three.data", [*rest, lost])],
                       [bench.write("lost.data", [rest[0], lost]),
                        bench.write("rest.data", [rest[1]])]):
        report = bench.json("report", "--top=0", bench.elf, *recordings)
        outside = report["totals"]["outside"]["samples"]
        told = [n for n in report["notes"]
                if f"thread 9 has {len(few)} samples, of which no base was found" in n]
        if outside != len(few) or report["trust"]["verdict"] != "verified" or len(told) != 1:
            yield f"{outside} of {len(few)} outside: {report['trust']['verdict']}, {report['notes']}"
    # Five are warned of, and all are told, whether bases are to be found or which of two ELFs each runs.
    guest, small = (os.path.join(HYPERLIGHT, name) for name in ("guest.elf", "small.elf"))
    crowd = [bench.write("crowd.data", [*rest, *((0x220000, 9 + i, few) for i in range(7))]),
             bench.write("few.data", [(0x4000, 7, bench.addrs[:600]),
                                      *((0x4000, 8 + i, bench.addrs[:3]) for i in range(7))])]
    for words in (bench.elf, crowd[0]), (guest, small, crowd[1]):
        notes = json.loads(run(bench.hlguest, "report", "--format=json", *words)[0])["notes"]
        text, more = (" ".join(run(bench.hlguest, "report", *verbose, *words)[0].split()).count(
            ": outside here") for verbose in ((), ("-v",)))
        if sum(": outside here" in n for n in notes) != 7 or (text, more) != (5, 7) or \
                "2 more have samples that are outside here (hlguest report -v lists them)" not in notes:
            yield f"a crowd: {words}: {notes}, {text} and {more} in text"
    _, err, status = run(bench.hlguest, "report", guest, small,
                         bench.write("few.data", [(0x4000, 8, bench.addrs[:3])]))
    if status != 1 or "has too few samples to tell who runs guest.elf and who small.elf" not in err:
        yield f"three samples: status {status}: {err}"
    # What it says to do is done: its words are taken, with a thread for each.
    words = re.findall(r"[^ (]+@0x4000:tid=(?=N)", err)
    named = [word + tid for word, tid in zip(words, "89")]
    out, err, status = run(bench.hlguest, "report", *named, os.path.join(bench.work, "few.data"))
    if len(words) != 2 or status or "3 guest samples" not in out:
        yield f"three samples, {named}: status {status}: {out[:600]} {err}"
    alone = bench.write("alone.data", [rest[0], (0x200000, 8, few), (0x7000000, 9, few[:60])])
    report = bench.json("report", "--top=0", bench.elf, alone)
    outside = report["totals"]["outside"]["samples"]
    if outside != 60 or report["totals"]["function"]["samples"] != 600 + len(few) or \
            any("no base was found" in n for n in report["notes"]):
        yield f"of one base: {outside} outside, {report['notes']}"


def least(bench, rng):
    """Twelve distinct addresses are enough to find where a guest is, eleven are not."""
    rest = [(0x200000, 7, rng.sample(bench.addrs, 600)), (0x210000, 8, rng.sample(bench.addrs, 600))]
    for n, outside in (12, 0), (11, 11 * 25):
        addrs = rng.sample(sorted(set(bench.addrs)), n) * 25
        path = bench.write("least.data", [*rest, (0x220000, 9, addrs)])
        found = bench.json("report", "--top=0", bench.elf, path)["totals"]["outside"]["samples"]
        if found != outside:
            yield f"of {n} addresses {found} samples are outside, not {outside}"


def short(bench, rng):
    """Of a guest with short threads, beside what fits nothing, all is counted; of a saved profile
    what is at another base; ELFs that were not found take nothing from those that were."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 300)),
              *((0x200000, 8 + i, rng.sample(bench.addrs, 10)) for i in range(20))]
    path = bench.write("short.data", [*guests, (0x5001, 99, range(0, 40 * 5003, 5003))])
    profile = os.path.join(bench.work, "elsewhere.pb.gz")
    elsewhere = [(0x9000000, 7, rng.sample(bench.addrs, 400)),
                 (0x19000000, 7, rng.sample(bench.addrs, 300))]
    must(bench.hlguest, "report", bench.elf, bench.write("elsewhere.data", elsewhere),
         "--format=pprof", "--out=" + profile)
    small = os.path.join(HYPERLIGHT, "small.elf")
    for words, wanted in (([bench.elf, path], [(0x200000, 500)]),
                          ([small, bench.elf, path], [(0x200000, 500)]),
                          ([bench.elf, small, path], [(0x200000, 500)]),
                          ([bench.elf, path, profile],
                           [(0x200000, 500), (0x9000000, 400), (0x19000000, 300)])):
        out, err, status = run(bench.hlguest, "base", *words)
        rows = [line.split() for line in out.splitlines() if line.startswith("0x")]
        if [(int(row[0], 16), int(row[1])) for row in rows] != wanted or \
                {row[2] for row in rows} != {"100.00"} or \
                "thread 99 has 40 samples, of which no base was found" not in err or \
                status != (small in words) or err.count("\n") != 1 + (small in words):
            yield f"base {words}: status {status}: {out}{err}"
    # All of these are found from the samples, and none beside what something else says.
    report = bench.json("report", bench.elf, path, profile)
    bases = {int(b["base"], 16): b["samples"] for b in report["images"][0]["bases"]}
    if bases != {0x200000: 500, 0x9000000: 400, 0x19000000: 300} or \
            any("some samples fit" in note for note in report["notes"]):
        yield f"report: {bases}, {report['notes']}"


def alike(bench, rng):
    """Two ELFs of the same code, two bases, and one guest that fits nothing: the first has all."""
    other = os.path.join(bench.work, "alike.elf")
    shutil.copy(bench.elf, other)
    path = bench.write("alike.data", [(0x200000, 7, rng.sample(bench.addrs, 600)),
                                      (0x8000000, 8, sorted(set(bench.addrs))[:9] * 60),
                                      (0x5001, 99, range(0, 40 * 5003, 5003))])
    out, err, status = run(bench.hlguest, "report", "--force", "--top=0", "--format=json",
                           bench.elf, other, path)
    if status or json.loads(out)["totals"]["function"]["samples"] < 600:
        yield f"status {status}: {err}"


def lanes(bench, rng):
    """KVM's records have guests that lie across each other: each keeps its own place."""
    guests = [(base, 7 + i, rng.sample(bench.addrs, 500))
              for i, base in enumerate((0x200000, 0x210000, 0x8000000))]
    path = bench.write_begun("lanes.data", guests)
    yield from check(bench, guests, [path])
    out = must(bench.hlguest, "base", bench.elf, path)
    if out.count("(KVM's records have it there)") != len(guests):
        yield out


def saved(bench, rng):
    """A saved profile of guests across each other is reported as its recording is."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 600)),
              (0x240000, 8, rng.sample(bench.addrs, 600))]
    path, profile = bench.write("both.data", guests), os.path.join(bench.work, "both.pb.gz")
    must(bench.hlguest, "report", bench.elf, path, "--format=pprof", "--out=" + profile)
    first, second = (bench.functions(bench.elf, p)[1] for p in (path, profile))
    if first != second:
        yield f"{sorted(set(first.items()) ^ set(second.items()))[:6]}"


def twice(bench, rng):
    """An ELF that is named twice: rows of programs' formats tell which of the two they are of."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 600)),
              (0x40000000, 8, rng.sample(bench.addrs, 600))]
    path = bench.write("twice.data", guests)
    words = [f"{bench.elf}@{base:#x}" for base, _, _ in guests]
    found = collections.Counter()
    for row in bench.json("report", *words, path)["functions"]:
        found[row["image"]] += row["samples"]
    if found != dict.fromkeys(words, 600):
        yield f"json: {found}"
    rows = csv.DictReader(must(bench.hlguest, "report", "--format=csv", *words, path).splitlines())
    found = collections.Counter((row["record"], row["image"], row["addr"]) for row in rows
                                if row["record"] in ("function", "region"))
    if {image for _, image, _ in found} != set(words) or max(found.values()) > 1:
        yield f"csv: {found.most_common(3)}"
    for (base, _, addrs), word in zip(guests, words):
        out = must(bench.hlguest, "lookup", *words, hex(base + addrs[0]))
        if f"(function, {word})" not in out:
            yield f"lookup: {out}"


def nearly(bench, rng):
    """Of very many one is off: that is not all."""
    addrs = rng.choices(bench.addrs, k=30000)
    out, err, status = run(bench.hlguest, "base", bench.elf, bench.write(
        "nearly.data", [(0x200000, 7, [*addrs, bench.inside])]))
    row = [line.split() for line in out.splitlines() if line.startswith("0x")]
    if status or err or [of[:3] for of in row] != [["0x200000", "30001", "99.99"]]:
        yield f"status {status}: {out}{err}"


def elsewhere(bench, rng):
    """KVM's records have the smaller of two; or one elsewhere, which is nobody's then: what
    lies there is another ELF's."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 600)),
              (0x8000000, 8, rng.sample(bench.addrs, 300))]
    path = bench.write_begun("second.data", guests, [0x9001, 0x8000000])
    out, err, status = run(bench.hlguest, "base", bench.elf, path)
    told = ["KVM's records have it there" in line for line in out.splitlines() if line[:2] == "0x"]
    if status or err or told != [False, True]:
        yield f"the second: status {status}: {out}{err}"
    path = bench.write_begun("other.data", [guests[0], (0x8000000, 8, bench.small_addrs)],
                             [0x8000000, 0x9001])
    out, err, status = run(bench.hlguest, "base", bench.elf, bench.small, path)
    rows = [line.split()[:2] for line in out.splitlines() if line[:2] == "0x"]
    if status != 3 or rows != [["0x200000", "600"], ["0x8000000", str(len(bench.small_addrs))]] or \
            err.count("\n") != 1:
        yield f"another's: status {status}: {out}{err}"


def few(bench, rng):
    """A guest of few addresses is of the one ELF and base that they fit, if ELFs have one base,
    too; of two it is nobody's. What lies right behind an ELF is not inside."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 600)), (0x200000, 8, bench.small_addrs),
              (0x200000, 9, sorted(set(bench.small_addrs))[:9])]
    for some in guests, guests[::2]:  # where nobody else runs that ELF, too
        report = json.loads(run(bench.hlguest, "report", "--format=json", bench.elf, bench.small,
                                bench.write("one-base.data", some))[0])
        if report["totals"]["outside"]["samples"]:
            yield f"one base: {report['totals']['outside']}, {report['notes']}"
    both = sorted(a for a in bench.starts if a + 0x10000 in bench.starts)[:9]
    guests = [guests[0], (0x210000, 8, rng.sample(bench.addrs, 400)), (0x210000, 9, both)]
    report = bench.json("report", bench.elf, bench.write("both-fit.data", guests))
    if len(both) < 3 or report["totals"]["outside"]["samples"] != len(both) or \
            report["images"][0]["base"] != "0x200000":
        yield f"{len(both)} fit both: {report['totals']['outside']}, {report['images'][0]}"
    with open(bench.elf, "rb") as f:
        elf = f.read()
    at, n = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    end = max(vaddr + size for kind, vaddr, size in (
        struct.unpack_from("<I12xQ16xQ", elf, at + 56 * i) for i in range(n)) if kind == 1)
    path = bench.write("behind.data", [(0x200000, 7, [*guests[0][2], end])])
    _, err, _ = run(bench.hlguest, "base", bench.elf, bench.small, path)
    if "1 distinct address left by the images before it" not in err:
        yield f"behind: {end:#x}: {err}"


def begun(bench, rng):
    """KVM's records have a hundred sandboxes, each at a base of its own; and more than are
    kept, which is said; and of two that lie across each other the lower one in any order."""
    def draw(n, apart=0x1000000):
        return [(0x200000 + i * apart, 7 + i, rng.sample(bench.addrs, 3)) for i in range(n)]

    guests = draw(100)
    yield from check(bench, guests, [bench.write_begun("begun.data", guests)])
    for n, told, samples in (1030, "have it at 1030 bases, of which the lowest 1024 are used", 18), \
            (4100, "more than 4096 sandboxes or threads began", 3 * (4100 - 1024)):
        report = bench.json("report", "--top=0", bench.elf, bench.write_begun("all.data", draw(n)))
        outside = report["totals"]["outside"]["samples"]
        if outside != samples or not any(told in note for note in report["notes"]):
            yield f"{n}: {outside} outside, {report['notes']}"
    across = draw(2, PAGE)
    paths = [bench.write_begun(f"{i}.data", [guest]) for i, guest in enumerate(across)]
    for argv in ("-j1", *paths), ("-j1", *paths[::-1]), ("-j2", *paths[::-1]):
        report = json.loads(run(bench.hlguest, "report", "--format=json", bench.elf, *argv)[0])
        bases = [b["base"] for b in report["images"][0]["bases"]]
        if bases != ["0x200000"]:
            yield f"{argv}: {bases}, {report['notes']}"


def across(bench, rng):
    """Exits and windows of guests that lie across each other, in one recording or several, are
    those of all at one base; and so if nobody lies across another."""
    for bases in (0x200000, 0x210000, 0x230000), (0x200000, 0x200000, 0x210000), \
            (0x200000, 0x1200000, 0x2200000):
        guests = [(base, 7 + i, rng.sample(bench.addrs, 300)) for i, base in enumerate(bases)]
        whole = [(0x1000, tid, addrs) for _, tid, addrs in guests]
        wanted = left(bench, bench.elf + "@0x1000", bench.write_left("whole.data", whole))
        for paths in ([bench.write_left("left.data", guests)],
                      [bench.write_left(f"{i}.data", [one]) for i, one in enumerate(guests)]):
            found = left(bench, bench.elf, *paths)
            if found != wanted:
                yield f"exits of {len(paths)}: {sorted(set(found.items()) ^ set(wanted.items()))[:6]}"
        wanted = counted(bench, bench.elf + "@0x1000", bench.write_counted("whole.data", whole))
        found = counted(bench, bench.elf, bench.write_counted("counted.data", guests))
        if found != wanted:
            yield f"windows: {sorted(set(found.items()) ^ set(wanted.items()))[:6]}"


def left(bench, *argv):
    """{function: (exits, ns)}"""
    rows = csv.DictReader(must(bench.hlguest, "exits", "--format=csv", *argv).splitlines())
    return {row["name"]: (row["count"], row["total"]) for row in rows
            if (row["record"], row["kind"]) == ("function", "exit")}


def counted(bench, *argv):
    """{function and thread: windows}"""
    rows = csv.DictReader(must(bench.hlguest, "windows", "--format=csv", *argv).splitlines())
    return collections.Counter((row["name"], row["tid"]) for row in rows
                               if row["record"] == "window")


def two_across(bench, rng):
    """Two ELFs whose samples do not overlap, but whose images do, where nothing states a base."""
    guests = [(0x200000, 7, rng.sample(bench.addrs, 300)), (0x2e0000, 8, bench.small_addrs)]
    out, err, status = run(bench.hlguest, "base", bench.elf, bench.small,
                           bench.write("two-across.data", guests))
    rows = [line.split()[:2] for line in out.splitlines() if line[:2] == "0x"]
    if status or err or rows != [[hex(base), str(len(addrs))] for base, _, addrs in guests]:
        yield f"status {status}: {out}{err}"


def moved(bench, rng):
    """Two ELFs that their files state at one base: where one lies elsewhere, or both do, in one
    recording or two, far from each other or not, they are found there, by all verbs; unless the
    user keeps to what files state, or states one himself."""
    elves = [os.path.join(HYPERLIGHT, name) for name in ("guest.elf", "small.elf")]
    addrs = [rng.sample(bench.addrs, 300), bench.small_addrs]

    def recordings(bases, write, several):
        guests = [(base, 7 + i, of) for i, (base, of) in enumerate(zip(bases, addrs))]
        return [write(f"{i}.data", [one]) for i, one in enumerate(guests)] if several else \
            [write("moved.data", guests)]

    _, wanted = bench.functions(*elves, *recordings((0x4000, 0x4000), bench.write, False))
    for bases, several in itertools.product(((0x4000, 0x704000), (0x704000, 0x4000),
                                             (0x200000, 0x200000), (0x200000, 0x2e0000),
                                             (0x200000, 0x8000000)), (False, True)):
        paths = recordings(bases, bench.write, several)
        what = f"{[*map(hex, bases)]} in {len(paths)}"
        report, found = bench.functions(*elves, *paths)
        refused = [note for note in report["notes"]
                   if re.search("base 0x4000 .*does not fit the samples", note)]
        if found != wanted or report["trust"]["verdict"] != "verified" or \
                [int(image["base"], 16) for image in report["images"]] != [*bases] or \
                len(refused) != 2 - bases.count(0x4000):
            yield f"{what}: {report['images']}, {report['trust']}, {report['notes']}"
        for argv in ("flame", "-o", os.path.join(bench.work, "x.svg"), *elves, *paths), \
                ("annotate", *elves, *paths), ("diff", *elves, *paths, "--after", *paths), \
                ("lookup", *elves, *(f"--input={path}" for path in paths), "0x1000"):
            _, err, status = run(bench.hlguest, *argv)
            if status:
                yield f"{what}: {argv}: status {status}: {err}"
        for argv in ("--strict-base", *elves), (f"{elves[0]}@0x4000", elves[1]):
            out, err, status = run(bench.hlguest, "report", "--format=json", *argv, *paths)
            lie = {image["base"] for image in json.loads(out)["images"]} if out else {"0x4000"}
            if lie != {"0x4000"}:
                yield f"{what}: {argv}: status {status}: {lie}{err}"
        paths = recordings(bases, bench.write_left, several)
        at = [f"{elf}@{base:#x}" for elf, base in zip(elves, bases)]
        found, told = left(bench, *elves, *paths), left(bench, *at, *paths)
        if found != told:
            yield f"{what}: exits: {sorted(set(found.items()) ^ set(told.items()))[:6]}"
    # What another ELF runs fits neither, and what each is stated at is kept.
    paths = [bench.write("other.data", [(0x4000, 7, addrs[0]), (0x4000, 8, addrs[1]),
                                        (0x900001, 9, range(0, 40 * 5003, 5003))])]
    report, _ = bench.functions(*elves, *paths)
    if [image["base_from"] for image in report["images"]] != ["note", "note"] or \
            not any("thread 9 has 40 samples, which fit none" in note for note in report["notes"]):
        yield f"another: {report['images']}, {report['notes']}"


def turns(bench, rng):
    """Two ELFs in turn on one thread: of both it is said, whether their base is stated, found of one
    or of both, that the recording lacks who ran when. So does the report of one of them, which
    asks for the other one."""
    path = bench.write("turns.data", [(0x200000, 7, rng.sample(bench.addrs, 100)),
                                      (0x200000, 7, rng.choices(bench.small_addrs, k=600))])
    wanted = f"{bench.elf}@0x200000 {bench.small}@0x200000"
    of_auto = f"{bench.elf}@auto {bench.small}@auto"
    for verb, named in (("report", of_auto), ("report", f"{bench.elf}@0x200000 {bench.small}@auto"),
                        ("report", f"{bench.elf}@auto {bench.small}@0x200000"), ("base", of_auto),
                        ("flame", of_auto),
                        ("windows", of_auto), ("annotate", of_auto), ("inject", of_auto), ("inject", wanted)):
        out, err, status = run(bench.hlguest, verb, *named.split(), path,
                               *["-o", path + ".out"] * (verb == "inject"))
        if status != 1 or out or not re.search(": thread 7 ran guest.elf and other.elf in turn, at the "
                                               "same addresses, .* -- COMMAND", err) or "N" in re.findall("--[a-z]*=(.)", err):
            yield f"{verb} {named}: status {status}: {out}{err}"
    # Beside one that runs one of them its samples are outside.
    beside = bench.write("beside.data", [(0x200000, 7, rng.sample(bench.addrs, 100)),
                                         (0x200000, 7, rng.choices(bench.small_addrs, k=600)),
                                         (0x200000, 8, rng.sample(bench.addrs, 100))])
    out, err, status = run(bench.hlguest, "report", *of_auto.split(), beside)
    if status or "thread 7 has 700 samples, which fit the ELFs only together: outside here (it ran " \
            "several in turn; record anew: hlguest record --sandboxes -- COMMAND)" not in out or \
            not re.search("^guest .*guest.elf, .*, base 0x200000 ", out, re.M) or \
            not re.search("other.elf, .*, no base ", out):
        yield f"status {status}: {out}{err}"
    # Of three two are named.
    three = bench.write("three.data", [(0x200000, 7, rng.sample(bench.addrs, 100)),
                                       (0x200000, 7, rng.choices(bench.small_addrs, k=300)),
                                       (0x200001, 7, rng.sample(bench.addrs, 100))])
    for verb in "report", "flame", "lookup":
        out, err, status = run(bench.hlguest, verb, *wanted.split(), three, *["0x200010"] * (verb == "lookup"))
        if status != 1 or out or ": some samples are of other code than guest.elf and other.elf (another " \
                "build of one, or another guest in turn with them? name the ELF of each, and record anew: " \
                "hlguest record --sandboxes -- COMMAND)\n" not in err:
            yield f"{verb}: status {status}: {out}{err}"
    # The same, and one, where bases are to be found: none stands out, but one comes near.
    for named, recording in (of_auto, three), (f"{bench.small}@auto", path), (f"{HYPERLIGHT}/../rusty.elf@auto", three):
        out, err, status = run(bench.hlguest, "report", *named.split(), recording)
        if status != 3 or ("warning:  samples may be of guests that ran in turn on one thread, which the recording "
                           "does not tell apart (name the ELF of each, and record anew: hlguest record --sandboxes "
                           "-- COMMAND)\n" in out) != ("rusty" not in named):
            yield f"{named}: status {status}: {out}{err}"
    samples = b"".join(forged.sample(ip + 0x200000, 7, 7, 1000 + i) for i, ip in enumerate(
        rng.sample(bench.addrs, 100) + rng.choices(bench.small_addrs, k=600)))
    long, unsafe = ["./vmm", "x" * 500], ["./vmm", "\x1b[2J"]
    for words, again in ((None, "-- COMMAND"), ([], "-- COMMAND"),
                         (["--", "./a vmm", "it's", "", "a.elf"],
                          r"-- './a vmm' 'it'\''s' '' a.elf"),
                         (["--", "/bin/hlguest", "--behind-gate=5,6", "./vmm", "--", "a.elf"],
                          "-- ./vmm -- a.elf"),
                         (["./vmm", "a.elf"], "-- COMMAND"), (["-p", "17"], "-p PID"),
                         (["-a", "--", "sleep", "1"], "-p PID"), (["--"], "-- COMMAND"),
                         (["--", *long], "-- COMMAND"), (["--", *unsafe], "-- COMMAND")):
        line = [b"perf", b"record", *(word.encode() for word in words or [])]
        noted = struct.pack("<I", len(line)) + b"".join(
            struct.pack("<I", len(word) + 1) + word + b"\0" for word in line)
        with open(path, "wb") as f:
            f.write(forged.recording(samples, features=None if words is None else {11: noted}))
        _, err, status = run(bench.hlguest, "report", *wanted.split(), path)
        if status != 1 or "thread 7 ran guest.elf and other.elf in turn, at the same addresses, and " \
                "the recording does not tell when which of them (record anew: hlguest record " \
                f"--sandboxes {again})\n" not in err:
            yield f"{words}: status {status}: {err}"
        out, err, status = run(bench.hlguest, "report", bench.small, path)
        if status != 3 or not re.search(
                r"\(another build of this ELF, or another guest in turn with it\? ", out) or \
                "warning:  samples may be of guests that ran in turn on one thread, which the " \
                "recording does not tell apart (name the ELF of each, and record anew: hlguest " \
                f"record --sandboxes {again})\n" not in out:
            yield f"{words}: one of them: status {status}: {out}{err}"
    # So it is beside a perf map, wherever that is named.
    maps = os.path.join(os.path.dirname(path), "map")
    with open(maps, "w", encoding="ascii") as f:
        f.write("1000 10 jit\n")
    for words in ((f"map:{maps}", *wanted.split()), (*wanted.split(), f"map:{maps}")):
        _, err, _ = run(bench.hlguest, "report", *words, path)
        if "thread 7 ran several of the ELFs in turn" not in err:
            yield f"{words}: {err}"


def main():
    args = parser(__doc__).parse_args()
    tap, rng = Tap(), random.Random(1)
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = Bench(args.build, work)
        except Skip as e:
            tap.skip("bases", e)
            return tap.finish()
        for name, function in ("recordings", files), ("threads", threads), ("far", far), \
                ("many", many), ("nobody", nobody), ("least", least), ("short", short), \
                ("alike", alike), ("lanes", lanes), ("saved", saved), ("twice", twice), ("nearly", nearly), \
                ("elsewhere", elsewhere), ("few", few), ("begun", begun), ("across", across), \
                ("two across", two_across), ("moved", moved), ("turns", turns):
            tap.run(name, lambda f=function: [*f(bench, rng)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
