#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest diff, against hlguest report and against the textbook.

    diff.py --build DIR

The counts of every row are those that report has for each side, none more and none less,
with gaps dropped and stretched, by samples and by period. Shares, differences, chi-square,
Fisher's test in whole numbers and the false discovery rates are computed anew from the
counts. CSV, JSON and text say the same; neither the order of recordings nor the number of
threads shows; saved profiles give what the recordings gave.
"""
import collections
import contextlib
import csv
import gzip
import json
import math
import os
import re
import struct
import shutil
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(2, os.path.join(sys.path[0], "../peers/pprof"))
import stacked
from hostile import EXTRA, MOMENTS, fields, message
from programs import hlguest_of, page_data
from tap import DATA, Skip, Tap, must, parser, run

ELF = os.path.join(DATA, "demo.elf")
RUSTY = os.path.join(DATA, "rusty.elf")
USER, HOST, THREADS, KERNEL, FAR = (
    os.path.join(DATA, f"demo-{name}.data")
    for name in ("user", "host", "threads", "kernel", "far"))
RUSTY_USER = os.path.join(DATA, "rusty-user.data")
PAIRS = [(USER, THREADS), (USER, KERNEL), (KERNEL, HOST)]


def table(text, *records):
    rows = list(csv.DictReader(text.splitlines()))
    return [row for row in rows if row["record"] in records]


def compared(build, *words):
    return must(hlguest_of(build), "diff", ELF, *words, "--format=csv")


def reported(build, *words):
    """{(kind, name, address) or (region address): (samples, period)}"""
    text = must(hlguest_of(build), "report", *words, "--format=csv")
    found = {}
    for row in table(text, "function", "border", "other", "region"):
        key = (row["addr"],) if row["record"] == "region" else \
            (row["kind"], row["name"], row["addr"])
        found[key] = int(row["samples"]), int(row["period"])
    return found


def side_of(text, side):
    found = {}
    for row in table(text, "function", "region"):
        if int(row["samples_" + side]):
            addr = row["addr_" + side]
            key = (addr,) if row["record"] == "region" else (row["kind"], row["name"], addr)
            found[key] = int(row["samples_" + side]), int(row["period_" + side])
    return found


def check_counts(build, before, after, *words):
    text = compared(build, before, after, *words)
    totals = {row["name"]: row for row in table(text, "total")}
    for side, path in (("before", before), ("after", after)):
        for what in "samples_" + side, "period_" + side:
            kept = sum(int(row[what]) for row in table(text, "function"))
            if kept + int(totals["dropped"][what]) != int(totals["guest"][what]):
                yield f"{what}: {kept} in rows, of {totals}"
        expected, found = reported(build, ELF, path, *words), side_of(text, side)
        for key in sorted({*expected, *found}):
            if expected.get(key) != found.get(key):
                yield f"{side} {key}: report {expected.get(key)}, diff {found.get(key)}"


def check_builds(build):
    """Of two builds, names are what is matched: here each has its own."""
    text = must(hlguest_of(build), "diff", ELF, USER, "--after", RUSTY, RUSTY_USER,
                "--format=csv")
    for side, elf, path in (("before", ELF, USER), ("after", RUSTY, RUSTY_USER)):
        expected = {key: n for key, n in reported(build, elf, path).items() if len(key) > 1}
        if expected != side_of(text, side):
            yield f"{side}: {expected} and {side_of(text, side)}"
    if table(text, "region"):
        yield "regions of two builds"
    statuses = {row["status"] for row in table(text, "function")}
    if not {"new", "gone"} <= statuses:
        yield f"statuses {statuses}"


def fisher(x1, n1, x2, n2):
    """Two-sided mid-P: the smaller tail, doubled, with half of what was seen."""
    k = x1 + x2
    ways = {x: math.comb(n1, x) * math.comb(n2, k - x)
            for x in range(max(0, k - n2), min(k, n1) + 1)}
    below = sum(n for x, n in ways.items() if x < x1) * 2 + ways[x1]
    above = sum(n for x, n in ways.items() if x > x1) * 2 + ways[x1]
    return float(min(Fraction(1), Fraction(min(below, above), sum(ways.values()))))


def chi_square(x1, n1, x2, n2):
    pooled = (x1 + x2) / (n1 + n2)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return math.erfc(abs(x2 / n2 - x1 / n1) / error / math.sqrt(2))


def close(text, value, least=1e-250):
    return abs(float(text) - value) <= 0.0011 * value or value < least


def check_tests(build, before, after):
    """All periods of a recording are one here: an observation is a sample. Without the times of
    samples no phases are known, which make it less than one."""
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        saved = [save(build, folder, ELF, path) for path in (before, after)]
        for path in saved:
            drop_times(path)
        text = compared(build, *saved, "--weight=samples")
    # Of regions, too, shares are of all that is compared, VM exits among it.
    n1, n2 = (sum(int(row["samples_" + s]) for row in table(text, "function"))
              for s in ("before", "after"))
    for record in "function", "region":
        rows = table(text, record)
        for row in rows:
            x1, x2 = int(row["samples_before"]), int(row["samples_after"])
            least = min(x1 + x2, n1 + n2 - x1 - x2) * min(n1, n2) / (n1 + n2)
            p = fisher(x1, n1, x2, n2) if least < 5 else chi_square(x1, n1, x2, n2)
            if not close(row["p"], p) or int(row["exact"]) != (least < 5):
                yield f"{row['name']}: p {row['p']}, not {p}; exact {row['exact']}"
            if abs(float(row["points"]) - 100 * (x2 / n2 - x1 / n1)) > 0.00501:
                yield f"{row['name']}: {row['points']} points"
            if not float(row["low"]) <= float(row["points"]) <= float(row["high"]):
                yield f"{row['name']}: not inside its interval"
        ranked = sorted(float(row["p"]) for row in rows)
        for row in rows:
            q = min(p * len(rows) / (i + 1) for i, p in enumerate(ranked)
                    if p >= float(row["p"]))
            if not close(row["q"], min(1, q)) or int(row["significant"]) != (q <= 0.05):
                yield f"{row['name']}: q {row['q']}, not {q}"


def check_formats(build):
    words = "diff", ELF, USER, KERNEL
    rows = table(must(hlguest_of(build), *words, "--format=csv"), "function", "region")
    out, err, status = run(hlguest_of(build), *words, "--format=json")
    if "not in this build" in err:
        raise Skip(err.strip())
    document = json.loads(out)
    lists = document["functions"] + document["regions"]
    if len(lists) != len(rows) or status:
        return [f"{len(lists)} and {len(rows)} rows, status {status}"]
    weights = [json.loads(must(hlguest_of(build), *words, "--format=json", *more))["weight"]
               for more in ([], ["--weight=samples"])]
    wrong = [] if weights == ["period", "samples"] else [f"weights {weights}"]
    for row, o in zip(rows, lists):
        same = (int(row["samples_before"]), int(row["period_after"]), float(row["points"]),
                float(row["q"]), row["significant"] == "1", row["status"]) == \
            (o["before"]["samples"], o["after"]["period"], o["points"], o["q"],
             o["significant"], o["status"])
        wrong += [] if same else [f"{row} and {o}"]
    text = must(hlguest_of(build), *words, "--top=0", "--all", "-v")
    stars = len(re.findall(r"^\* ", text, re.M))
    if stars != sum(row["significant"] == "1" for row in rows):
        wrong.append(f"{stars} rows with * in text")
    return wrong


def check_page(build):
    """Where a row of a page lies in the picture of its own image, not of another's."""
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        jitted = os.path.join(folder, "jit.map")
        with open(jitted, "w", encoding="ascii") as f:
            f.write("7f3a51c27000 800 first\n7f3a51c27800 800 second\n")
        words = ("diff", "-q", "--force", ELF, "map:" + jitted, USER, FAR, "--after", USER, FAR)
        out, err, _ = run(hlguest_of(build), *words, "--format=json")
        if "not in this build" in err:
            raise Skip(err.strip())
        page = must(hlguest_of(build), *words, "--format=html")
        rows = page_data(page)["rows"]
        parted, _, _ = run(hlguest_of(build), "diff", "-q", "--force", ELF, USER, "--after", KERNEL,
                           "--format=json")
        table = must(hlguest_of(build), "diff", "-q", "--force", ELF, USER, "--after", KERNEL,
                     "--format=html")
    with copied(USER, 3) as befores:
        runs = must(hlguest_of(build), "diff", "-q", ELF, *befores, "--after", HOST, "--format=html")
    wrong = [f"{said}: not said" for said, where in (
        ("differ between these runs; the others", page),
        ("changed significantly; the others", runs)) if said not in where]
    none = sum(row[side]["samples"] == 0 for row in json.loads(parted)["functions"]
               for side in ("before", "after"))
    if not none or table.count("<td></td><td></td>") != none:
        wrong.append(f"{none} shares are of no sample, {table.count('<td></td><td></td>')} in a page")
    for i, row in enumerate(json.loads(out)["functions"]):
        addr = int(row["before"].get("addr", "-1"), 0)
        at = addr - (0x7f3a51c27000 if row["image"] == jitted else 0)
        wrong += [f"{row['name']}: at {rows['at0'][i]}"] * (rows["at0"][i] != at)
    return wrong + ["one image only"] * (len({*rows["image0"], -1}) < 3)


def check_order(build):
    first = compared(build, USER, THREADS, HOST, "--after", FAR, KERNEL, "--force")
    again = compared(build, "-j", "3", HOST, USER, THREADS, "--after", KERNEL, FAR, "--force")
    wrong = [] if first == again else ["the order of recordings shows"]
    plain = compared(build, USER, KERNEL)
    for words in ([USER, "-i", KERNEL], ["-i", USER, KERNEL], ["-i", USER, "-i", KERNEL],
                  ["-i", USER, "--after", KERNEL], [USER, "--after", ELF, "-i", KERNEL]):
        if compared(build, *words) != plain:
            wrong.append(f"{words}: not the same sides")
    return wrong


def save(build, folder, elf, path, border="--border=keep"):
    saved = os.path.join(folder, os.path.basename(path) + border + ".pb.gz")
    _, err, _ = run(hlguest_of(build), "report", elf, path, "--format=pprof", "--out=" + saved,
                    border)
    if "not in this build" in err:
        raise Skip(err.strip())
    return saved


def drop_times(path):
    with gzip.open(path) as f:
        parts = [(at, message((k, x) for k, x in fields(x) if k != MOMENTS) if at == EXTRA else x)
                 for at, x in fields(f.read())]
    with gzip.open(path, "wb") as f:
        f.write(message(parts))


def check_saved(build):
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        wrong = []
        for after in THREADS, KERNEL:
            saved = [save(build, folder, ELF, path) for path in (USER, after)]
            texts = [compared(build, *paths) for paths in ((USER, after), saved)]
            rows = [table(text, "function", "region", "total", "trust") for text in texts]
            if rows[0] != rows[1]:
                wrong.append(f"{after}: saved profiles differ")
            for text in texts:
                if ("are worth" in text) != (after == KERNEL):
                    wrong.append(f"{after}: phases, or none")
        return wrong


def check_disagree(build, folder):
    """Of profiles of one file whose names differ the first in order counts, in whatever order
    they are read."""
    with open(ELF, "rb") as f:
        elf = f.read()
    saved = []
    for name, names in (("a", {}), ("b", {b"hash_block": b"zash_block", b"sort_keys": b"aort_keys"})):
        beside = os.path.join(folder, name)
        os.mkdir(beside)
        for old, new in names.items():
            elf = elf.replace(b"\0" + old + b"\0", b"\0" + new + b"\0")
        with open(os.path.join(beside, "guest.elf"), "wb") as f:
            f.write(elf)
        saved.append(os.path.join(beside, "saved.pb.gz"))
        must(hlguest_of(build), "report", "-q", "--format=pprof", "--border=keep", "-o", saved[-1],
             "guest.elf", USER, cwd=beside)
    for before in saved, saved[::-1]:
        rows = {row["name"]: (int(row["samples_before"]), int(row["samples_after"]))
                for row in table(must(hlguest_of(build), "diff", *before, "--after", saved[0],
                                      "--border=keep", "--format=csv"), "function")}
        blocks, old, new = (rows.get(name, (0, 0)) for name in ("hash_block", "sort_keys", "aort_keys"))
        if blocks[0] != 2 * blocks[1] or not blocks[1] or old[0] or new != (2 * old[1], 0) or \
                "zash_block" in rows:
            yield f"{blocks}, {old}, {new} of names that disagree: {sorted(rows)}"


def check_saved_alone(build):
    """Without the ELF: the same functions, counts and tests, whatever the bases."""
    columns = ["name", "samples_before", "period_before", "samples_after", "period_after",
               "points", "low", "high", "p", "q", "significant"]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        user, threads, host = (save(build, folder, ELF, path) for path in (USER, THREADS, HOST))
        far = save(build, folder, ELF + "@0x7f3a51c26000", FAR)
        rusty = save(build, folder, RUSTY, RUSTY_USER)
        for alone, words in (
                ([user, threads], [ELF, USER, THREADS]),
                ([user, far], [ELF, USER, "--after", ELF + "@0x7f3a51c26000", FAR]),
                ([user, host, threads, "--after", rusty],
                 [ELF, USER, HOST, THREADS, "--after", RUSTY, RUSTY_USER]),
                ([rusty, user], [RUSTY, RUSTY_USER, "--after", ELF, USER])):
            rows = [sorted([row[c] for c in columns] for row in table(
                must(hlguest_of(build), "diff", *w, "--border=keep", "--format=csv"), "function"))
                    for w in (alone, words)]
            if rows[0] != rows[1]:
                wrong += [f"{a} and {b}" for a, b in zip(*rows) if a != b] or ["rows"]
        # What is at VM exits is no function's time, with the ELF and without.
        exits = [save(build, folder, ELF, path, "--border=split") for path in (USER, THREADS)]
        rows = [sorted([row[c] for c in columns] for row in table(
            must(hlguest_of(build), "diff", *w, "--format=csv"), "function"))
                for w in (exits, [ELF, *exits])]
        if rows[0] != rows[1] or not any("__vm_exit__" in row[0] for row in rows[0]):
            wrong += [f"{a} and {b}" for a, b in zip(*rows) if a != b][:3] or ["no VM exits"]
        wrong += check_disagree(build, folder)
        # A side of two bases is one of one image.
        both = must(hlguest_of(build), "diff", user, far, "--after", threads, "-v")
        if "2 bases" not in both:
            wrong.append(both)
        for words in ([user, KERNEL], [user, "nosuch.pb.gz"], [user, ELF]):
            out, err, status = run(hlguest_of(build), "diff", *words)
            if out or status == 0 or len(err.splitlines()) > 2:
                wrong.append(f"{words}: {status} {err}")
    return wrong


def check_missing(build):
    """What cannot be read is no smaller comparison."""
    out, err, status = run(hlguest_of(build), "diff", ELF, USER, HOST, "--after", KERNEL,
                           "nosuch.data")
    return [] if not out and status == 1 and "nosuch.data: " in err else [(out, err, status)]


def check_fail(build):
    """4 if, and only if, the share of a row that is significant grew by more than was allowed, and
    its time did, too: not where all else got faster."""
    for before, after in PAIRS + [(KERNEL, USER)]:
        rows = table(compared(build, before, after), "function")
        grown = [min(float(row["change"] or "inf"), 100 * (int(row["period_after"]) / max(
            int(row["period_before"]), 1e-9) - 1)) for row in rows
                 if row["significant"] == "1" and float(row["points"]) > 0]
        for limit in 0, 5, 50, 170, 400, 1000:
            expected = 4 if any(change > limit for change in grown) else 0
            words = "diff", ELF, before, after, f"--fail-if={limit}%"
            out, err, status = run(hlguest_of(build), *words, "--format=json")
            if status != expected:
                yield f"{before} {after} {limit}: status {status}, not {expected}: {grown}"
            told = json.loads(out)["fail_if"]
            if (told["percent"], told["failed"]) != (limit, expected == 4) or \
                    told["failed"] != bool(told["name"]) or told["total"] or \
                    f"hlguest: {told['said']}\n" not in err and told["said"]:
                yield f"{before} {after} {limit}: {told}, {err}"
            page = run(hlguest_of(build), *words, "--format=markdown")[0]
            if ("**FAILED**: " in page) != told["failed"] or \
                    (f"`--fail-if={limit}%`: nothing" in page) == told["failed"]:
                yield f"{before} {after} {limit}: {page}"
    # Of fewer than three of a side it warns, or refuses.
    for runs, warns in (1, True), (3, False):
        with copied(USER, runs) as befores, copied(USER, 3) as afters:
            words = "diff", ELF, *befores, "--after", *afters, "--fail-if=5"
            _, told, status = run(hlguest_of(build), *words)
            _, refused, strict = run(hlguest_of(build), *words, "--strict")
            method = table(must(hlguest_of(build), *words, "-q", "--format=csv"), "method")
        if any("is assumed to vary" in row["name"] for row in method) != warns:
            yield f"{runs} runs: {method}"
        if ("fewer than three" in told) != warns or status or \
                ("fewer than three" in refused) != warns or strict != warns:
            yield f"{runs} runs: {status}, {told}; {strict}, {refused}"


def check_sums(build):
    """A sum is one run, however many it sums: that is said, and what to do."""
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        parts = {}
        for name, path in ("before", KERNEL), ("after", USER):
            parts[name] = []
            for i in range(3):
                one = shutil.copy(path, os.path.join(folder, f"{name}{i}"))
                parts[name].append(save(build, folder, ELF, one))
            must(hlguest_of(build), "merge", "-o", os.path.join(folder, name + ".sum"), *parts[name])
        sums = [os.path.join(folder, name + ".sum") for name in ("before", "after")]
        said = "sums 3 recordings, and counts as one: with fewer than three"
        note = "a profile that sums several counts as one run"
        for words, first in (([ELF, *sums], sums[0]), ([ELF, *parts["before"], "--after", sums[1]], sums[1]),
                             ([ELF, *parts["before"], "--after", *parts["after"]], None)):
            out, err, status = run(hlguest_of(build), "diff", *words, "--fail-if=5", "--wide")
            if (f"--fail-if: {first} {said}" in err) != (first is not None) or status != 4:
                yield f"{words}: {status}, {err}"
            if (note in out) != (words[1:] == sums):
                yield f"{words}: {out}"
            if run(hlguest_of(build), "diff", *words, "--fail-if=5", "--strict")[2] != (1 if first else 4):
                yield f"{words}: --strict"


def check_cut(build):
    """What a recording lacks is no gain: --fail-if --strict refuses it, and so its saved profile."""
    with copied(USER, 3) as whole, copied(USER, 3) as cut:
        size = os.path.getsize(cut[1])
        os.truncate(cut[1], size * 6 // 10)
        saved = save(build, os.path.dirname(cut[1]), ELF, cut[1])
        for befores, afters, said in ((whole, cut, cut[1] + ": is cut off"),
                                      (cut, whole, cut[1] + ": is cut off"),
                                      (whole, [cut[0], saved, cut[2]], saved + ": is cut off"),
                                      ([cut[1], *whole[1:]], cut, "this and 1 other file are"),
                                      (whole, whole, None)):
            words = "diff", ELF, *befores, "--after", *afters, "--fail-if=99"
            out, err, status = run(hlguest_of(build), *words, "--strict")
            if (status, bool(out)) != ((1, False) if said else (0, True)) or (said or "") not in err:
                yield f"{said}: {status}, {err}"
            if run(hlguest_of(build), *words)[2]:
                yield f"{said}: refused without --strict"


@contextlib.contextmanager
def copied(path, n):
    """A recording as if of n runs: one that is named twice counts once."""
    with tempfile.TemporaryDirectory(prefix="diff-") as folder:
        yield [shutil.copy(path, os.path.join(folder, str(i))) for i in range(n)]


def check_total(build):
    """A guest that takes longer fails, though no share changed; of one run a side nothing."""
    for before, after, runs, expected in ((HOST, USER, 3, 4), (USER, HOST, 3, 0),
                                          (HOST, USER, 1, 0), (HOST, USER, 2, 0),
                                          (USER, USER, 3, 0)):
        with copied(before, runs) as befores, copied(after, runs) as afters:
            out, err, status = run(hlguest_of(build), "diff", ELF, *befores, "--after",
                                   *afters, "--fail-if=5%")
        if status != expected or not out.startswith("guest time ") or \
                (expected == 4) != ("times what it was" in err):
            yield f"{before} {after} {runs}: status {status}, not {expected}: {err} {out}"


def check_times(build):
    """Times are those of a run, of however many."""
    times = []
    for runs in 1, 2:
        with copied(HOST, runs) as befores, copied(USER, runs) as afters:
            out = must(hlguest_of(build), "diff", ELF, *befores, "--after", *afters, "--all",
                       "--border=keep")
        times.append(sorted(re.findall(r"[\d.]+ -> [\d.]+ [mun]?s ", out)))
    if len(times[0]) < 10 or times[0] != times[1]:
        yield f"{times}"


def check_attached(build):
    """The length of a recording of all CPUs tells nothing; that of a command does."""
    with open(HOST, "rb") as f:
        data = f.read()
    at = data.rindex(b"--host\0")  # of perf's own words
    attrs, = struct.unpack_from("<Q", data, 24)
    flags, = struct.unpack_from("<Q", data, attrs + 40)  # of perf_event_attr
    for word, on_exec, attached in ((b"-a", False, True), (b"-ga", False, True), (b"-ea", False, False),
                                    (b"-t", False, True), (b"-t", True, False)):
        changed = bytearray(data[:at] + word.ljust(7, b"\0") + data[at + 7:])
        struct.pack_into("<Q", changed, attrs + 40, flags & ~(1 << 12) | on_exec << 12)
        with tempfile.TemporaryDirectory(prefix="diff-") as folder:
            path = os.path.join(folder, "all.data")
            with open(path, "wb") as f:
                f.write(changed)
            with copied(path, 3) as befores, copied(USER, 3) as afters:
                out, err, status = run(hlguest_of(build), "diff", ELF, *befores, "--after",
                                       *afters, "--fail-if=5%")
        if ("not tested: -a, -p and -t" in out) != attached or (attached and status):
            yield f"{word} {on_exec}: {status} {err} {out}"


def check_brief(build):
    """On 80 columns nothing wraps, and how it was made is for -v; wide is wide."""
    env = {**os.environ, "COLUMNS": "80"}
    pair = [ELF, USER, "--after", RUSTY, RUSTY_USER, "--border=keep"]
    brief, wide, verbose = (
        run(hlguest_of(build), "diff", *pair, *words, env=env)[0]
        for words in ([], ["--wide"], ["-v"]))
    if "\u2026" not in brief or max(map(len, brief.splitlines())) > 80:
        yield brief
    if "\u2026" in wide or " interval " not in wide or "for_each_word::<rusty::one_round" not in wide:
        yield wide
    for words in "hlguest ", "matched ", "shares ", "test ", "chi-square", "timer of the host":
        if words in brief or words not in verbose:
            yield f"{words}: {brief} {verbose}"


def check_sampling_error(build):
    """A total that differs by chance is no reason to record more."""
    for before, after, expected in ((USER, THREADS, "does not differ beyond sampling error"),
                                    (HOST, USER, "3 runs of each side"), (USER, USER, "the same")):
        out = must(hlguest_of(build), "diff", ELF, before, after)
        if expected not in out.splitlines()[1]:
            yield out


def check_children(build, folder):
    """Functions with all that they call: the counts are the calls' that made the stacks."""
    made = [stacked.make(build, folder, f"children{seed}.data", seed=seed) for seed in range(6)]
    guest, found = made[0][0], [stacked.inclusive(f) for _, f in made]
    paths = [os.path.join(folder, f"children{seed}.data") for seed in range(6)]
    elf = f"{guest.elf}@{stacked.BASE:#x}"
    for before, after in (((0,), (1,)), ((0, 1, 2), (3, 4, 5))):
        words = ("diff", "--children", "-q", elf, *(paths[i] for i in before), "--after",
                 *(paths[i] for i in after), "--top=0")
        text = must(hlguest_of(build), *words, "--format=csv")
        for number, side in enumerate((before, after)):
            name = ("before", "after")[number]
            ours = {row["name"]: int(row["samples_" + name]) for row in table(text, "function")
                    if int(row["samples_" + name])}
            right = sum((found[i] for i in side), collections.Counter())
            if ours != dict(right):
                yield f"{name}, {len(side)} recordings: {ours}, not {dict(right)}"
            own = sum(float(row["self_percent_" + name]) for row in table(text, "function"))
            if abs(own - 100) > .5:
                yield f"{name}: own shares sum to {own}"
        # What calls nothing has the shares, and the test of them, that it has by itself; of
        # several recordings the test weighs all rows, which are not the same here.
        same = ("points", "change", *(("low", "high", "p") if len(before) == 1 else ()))
        plain = {row["name"]: row for row in
                 table(must(hlguest_of(build), *(w for w in words if w != "--children"),
                            "--border=keep", "--format=csv"), "function")}
        kept = table(must(hlguest_of(build), *words, "--border=keep", "--format=csv"), "function")
        leaves = [row for row in kept if row["name"] in plain and
                  all(row["samples_" + n] == plain[row["name"]]["samples_" + n]
                      for n in ("before", "after"))]
        for row in leaves:
            for key in same:
                if row[key] != plain[row["name"]][key]:
                    yield f"{row['name']}, {key}: {row[key]}, not {plain[row['name']][key]}"
        if len(leaves) < 3:
            yield f"{len(leaves)} functions call nothing"
        rows = {row["name"]: row for row in table(text, "function")}
        total = 400 * len(before)
        for name, row in rows.items():
            share = [100 * int(row["samples_" + side]) / total for side in ("before", "after")]
            if abs(share[1] - share[0] - float(row["points"])) > .011:
                yield f"{name}: {row['points']} points, not {share[1] - share[0]}"
        saved = []
        for path in paths:
            saved.append(path + ".pb.gz")
            must(hlguest_of(build), "report", "-q", "--format=pprof", "-o", saved[-1], elf, path)
        again = must(hlguest_of(build), "diff", "--children", "-q", elf,
                     *(saved[i] for i in before), "--after", *(saved[i] for i in after),
                     "--top=0", "--format=csv")
        if table(again, "function") != table(text, "function"):
            yield "saved profiles give something else"
    # _start is in every stack: no run differs from another in it.
    if float(rows["_start"]["p"]) != 1 or float(rows["_start"]["points"]):
        yield f"_start: {rows['_start']}"
    for side, words in ("before", (ELF, USER, USER)), \
            ("after", (elf, paths[0], "--after", ELF, USER)):
        _, err, status = run(hlguest_of(build), "diff", "--children", *words)
        if status != 1 or f"{side}: no sample has callers in the guest" not in err:
            yield f"{side} without callers: {status}, {err}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    for before, after in PAIRS:
        name = f"{os.path.basename(before)}, {os.path.basename(after)}"
        for words in [], ["--gaps=drop"], ["--gaps=stretch"], ["--region=256"], \
                ["--weight=samples"]:
            tap.run(f"counts: {name} {' '.join(words)}",
                    lambda b=before, a=after, w=words: list(check_counts(build, b, a, *w)))
        tap.run(f"tests: {name}",
                lambda b=before, a=after: list(check_tests(build, b, a)))
    tap.run("two builds", lambda: list(check_builds(build)))
    tap.run("formats", check_formats, build)
    tap.run("page", check_page, build)
    tap.run("order and threads", check_order, build)
    tap.run("saved profiles", check_saved, build)
    tap.run("saved profiles, no ELF", check_saved_alone, build)
    tap.run("a recording is missing", check_missing, build)
    tap.run("--fail-if", lambda: list(check_fail(build)))
    tap.run("--fail-if of sums", lambda: list(check_sums(build)))
    tap.run("--fail-if of what is cut off", lambda: list(check_cut(build)))
    tap.run("the total", lambda: list(check_total(build)))
    tap.run("times", lambda: list(check_times(build)))
    tap.run("brief", lambda: list(check_brief(build)))
    tap.run("sampling error", lambda: list(check_sampling_error(build)))
    with tempfile.TemporaryDirectory() as folder:
        tap.run("inclusive shares", lambda: list(check_children(build, folder)))
    tap.run("no total of -a", lambda: list(check_attached(build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
