#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The ELF was built again since: what a report says of it, and how it can be read still.

    stale.py --build DIR

The ELFs are of a real guest, with one function longer (kit/grow.py); the live trials of many
are live/stale.py. Here: by how much samples have moved, in text and JSON, and --assume-shift, whose
rows are the right ELF's but for the function that grew. And several recordings, of which one
is noted to be of another build, which no sample shows.
"""
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in ("../kit", "../live")]
import verdicts
from code_crc import code_crc, code_segments
from grow import Growable
from programs import hlguest_of, page_data
from tap import ALL, DATA, Skip, Tap, must, need, parser, run

GUEST = os.path.join(DATA, "hyperlight", "guest.elf")
OTHER = os.path.join(DATA, "hyperlight", "small.elf")
RECORDING = os.path.join(DATA, "hyperlight", "mix.data")


class Stale:
    """A recording, the ELF that ran, and another build of it."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        self.hlguest = hlguest_of(build)
        self.data, self.elf = os.path.join(work, "a.data"), os.path.join(work, "guest.elf")
        shutil.copy(RECORDING, self.data)
        self.right = verdicts.report(build, self.data, GUEST)
        if self.right.trust["addresses"]["on"] == 0:
            raise Skip("this build cannot decode x86-64")

    def grow(self, seed, elf=GUEST):
        """Writes it; by how much the code behind has moved."""
        rng, guest = random.Random(seed), Growable(elf)
        data, old = guest.grow(rng.choice(guest.functions), rng.randint(30, 300), rng)
        with open(self.elf, "wb") as f:
            f.write(data)
        return (1 << 40) - old(1 << 40)

    def report(self, *words):
        return run(self.hlguest, "report", self.elf, self.data, *words)


def count(told):
    return {f["name"]: f["samples"] for f in told.document["functions"] if f["kind"] == "function"}


def shifted(stale):
    """As one that moved by chance has no samples behind, of some seeds three are told."""
    told = 0
    for seed in range(12):
        if told == 3 and not ALL:
            break
        by = stale.grow(seed)
        report = verdicts.report(stale.build, stale.data, stale.elf)
        moved = report.trust["base"].get("moved")
        if not moved:
            continue
        told += 1
        if moved["by"] != by or report.verdict != "mismatch":
            yield f"{seed}: {moved}, not {by}; {report}"
        out, _, status = stale.report()
        if status != 3 or f"{by:+}" not in out.replace(",", "") and str(by) not in out:
            yield f"{seed}: {status}, {out[:400]}"
        fitted = verdicts.report(stale.build, stale.data, stale.elf, "--assume-shift")
        ours, theirs = count(fitted), count(stale.right)
        differ = sum(abs(ours.get(n, 0) - theirs.get(n, 0)) for n in {*ours, *theirs})
        if fitted.verdict != "verified" or differ > sum(theirs.values()) * .05:
            yield f"{seed}: {differ} samples differ; {fitted}"
        # And where another guest has the same addresses.
        ours = f"{stale.elf}@0x4000:tid=107"
        for words in ((OTHER, ours), (ours, OTHER)) if told == 1 else ():
            apart = verdicts.report(stale.build, stale.data, *words)
            if apart.verdict != "mismatch" or f"{by:+}" not in run(
                    stale.hlguest, "report", stale.data, *words)[0].split("\n")[0]:
                yield f"{seed}: {words}: {apart}"
        out, _, status = stale.report("--assume-shift")
        if status or f"(moved by {by:+})" not in out or "as if another build" not in out:
            yield f"{seed}: --assume-shift: {status}, {out[:400]}"
    if told < 3:
        yield f"{told} are told"


def counts(document, key, number):
    return {row["name"]: row[number] for row in document[key]}


def callers(stale):
    """Callers and times are moved with the samples."""
    frames = os.path.join(DATA, "hyperlight", "frames.elf")
    data = os.path.join(DATA, "hyperlight", "callers", "callers.data")
    words = [data, "--stacks=callgraph", "--children"]
    right = verdicts.report(stale.build, data, frames, *words[1:])
    total = right.samples("guest")
    told = 0
    for seed in range(30):
        if told == 2:
            break
        if not stale.grow(seed, frames):
            continue
        by = verdicts.report(stale.build, data, stale.elf).trust["base"].get("moved")
        if not by or by["samples"] < total / 10:
            continue
        told += 1
        fitted = verdicts.report(stale.build, data, stale.elf, "--assume-shift", *words[1:])
        ours, theirs = (counts(d.document, "children", "samples") for d in (fitted, right))
        differ = {n: (ours.get(n, 0), theirs.get(n, 0)) for n in {*ours, *theirs}
                  if abs(ours.get(n, 0) - theirs.get(n, 0)) > total * .05}
        if fitted.verdict != "verified" or differ:
            yield f"{seed}: {fitted}: {differ}"
        sums, wanted = (d.document["stacks"]["callers"] for d in (fitted, right))
        if sums["proved"] + sums["by_pointer"] < .95 * (wanted["proved"] + wanted["by_pointer"]):
            yield f"{seed}: calls {sums}, not {wanted}"
        out, _, status = run(stale.hlguest, "report", "-q", "--format=html", "--assume-shift",
                             stale.elf, data)
        page = page_data(out)
        if status or sum(page["where"]["count"]) != page["total"]:
            yield f"{seed}: by time {sum(page['where']['count'])} of {page['total']}"
        saved = os.path.join(stale.work, "shifted.pb.gz")
        run(stale.hlguest, "report", "--format=pprof", "-o", saved, "--assume-shift", *words,
            stale.elf)
        again = counts(verdicts.report(stale.build, saved, stale.elf, *words[1:]).document,
                       "children", "samples")
        if again != ours:
            yield f"{seed}: saved, it is another: {sorted(set(again.items()) ^ set(ours.items()))[:6]}"
    if told < 2:
        yield f"{told} are told"


# A recording, when its first sample was, and its guest's ELF.
MIX = RECORDING, 6615637234, GUEST
EXITS = os.path.join(DATA, "hyperlight", "exits.data"), 16341923234, GUEST
WINDOWS = (os.path.join(DATA, "demo-windows.data"), 17266990451755,
           os.path.join(DATA, "demo.elf"))


class Noted:
    """Recordings of the same samples, each noted with a build, which no sample tells."""

    def __init__(self, build, work, of=MIX):
        self.build, self.work = build, work
        self.recording, self.first_sample, guest = of
        with open(guest, "rb") as f:
            self.guest = f.read()
        self.elf = os.path.join(work, os.path.basename(guest))
        # Where Hyperlight notes its version is room for a build id of 16 bytes.
        self.at = self.guest.index(b"Hyperlight\0") - 12

    def content(self, build):
        """build: its id, if it has one, and the last byte of its code; or one of these, which is
        then the other as well."""
        build_id, code = build if isinstance(build, tuple) else (build, build)
        at = max(offset + stored for offset, _, stored, _ in code_segments(self.guest))
        data = self.guest[:at - 1] + bytes([code if isinstance(code, int) else code[0]]) + \
            self.guest[at:]
        if isinstance(build_id, int):
            return data
        note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id
        return data[:self.at] + note + data[self.at + len(note):]

    def write_elf(self, build_id):
        with open(self.elf, "wb") as f:
            f.write(self.content(build_id))

    def note(self, build):
        content = self.content(build)
        build_id = build[0] if isinstance(build, tuple) else build
        return {"file": self.elf, "inside": "0x0", "size": len(content),
                "build_id": None if isinstance(build_id, int) else build_id.hex(),
                "crc32": hex(zlib.crc32(content)), "code_crc32": hex(code_crc(content))}

    def record(self, name, build_id, also=()):
        """also: further guests of the same name."""
        data = os.path.join(self.work, name)
        shutil.copy(self.recording, data)
        document = {"hlguest": "0", "format": 1,
                    "recording": {"size": os.path.getsize(data),
                                  "first_sample": self.first_sample},
                    "guests": [self.note(i) for i in (build_id, *also)]}
        with open(data + ".hlguest", "w", encoding="ascii") as f:
            json.dump(document, f)
        return data

    def report(self, *words):
        out, err, status = run(hlguest_of(self.build), "report", *words)
        return " ".join(out.split()), err, status

    def save(self, name, *words):
        path = os.path.join(self.work, name)
        _, err, status = self.report("--format=pprof", "-o", path, self.elf, *words)
        if not os.path.exists(path):
            raise RuntimeError(f"{path}: {status}: {err}")
        return path


def build_that_notes(build):
    version = must(hlguest_of(build), "--version")
    for lacks in "without jansson", "without pprof":
        if lacks in version:
            raise Skip(f"this build is {lacks}")
    return build


A, B, C = b"A" * 16, b"B" * 16, b"C" * 16
IDS = A, B, C
BYTES = 1, 2, 3  # builds without an id, which their code tells apart


def told_of(builds):
    return "with build id 41414141" if builds == IDS else "as record noted it"


def noted(build, work, builds):
    """Each recording is judged by its own build, in whatever order."""
    bench = Noted(build, work)
    A, B, _ = builds
    a, b, c = (bench.record(f"{n}.data", i) for n, i in zip("abc", builds))
    bench.write_elf(B)
    ran = f"another build ran: guest.elf {told_of(builds)}, not"
    mixed = f"another build ran in {a}: guest.elf {told_of(builds)}, not"
    wrong_elf = "WRONG ELF: " + ("build id 41414141 ran, this is 42424242" if builds == IDS else
                                 "another build ran")
    for words, verdict, said, wrong in (
            ([b], "check OK", "", 0),
            ([a], f"check {wrong_elf}", ran, 0), ([a, c], f"check {wrong_elf}", ran, 2),
            ([a, b], "check MIXED", mixed, 1), ([b, a], "check MIXED", mixed, 1),
            ([c, b, a], "check MIXED", mixed if builds == IDS else
             mixed.replace(a, f"{a} and others"), 2)):
        out, err, status = bench.report("-v", bench.elf, *words)
        if verdict not in out or said not in out or \
                len(re.findall(r" WRONG \S+\.data", out)) != wrong or \
                (status == 3) != ("OK" not in verdict):
            yield f"{words}: status {status}: {out[:900]} {err}"
    both, same = bench.record("both.data", B, also=(A,)), bench.record("same.data", B, also=(B,))
    for words, verdict, told in (([both], "check MIXED", 1), ([same], "check OK", 0),
                                 ([both, b], "check MIXED", 1)):
        out, err, status = bench.report(bench.elf, *words)
        if verdict not in out or (told_of(builds) in out) != told or \
                (status == 3) != told or " WRONG " in out:
            yield f"two guests of one name, {words}: status {status}: {out[:900]} {err}"
    if bench.report("--force", bench.elf, a, b)[2] != 0:
        yield "a mixed report is an error though it is forced"
    picture = os.path.join(work, "picture.svg")
    for before, after, side in ((a, b, "before"), (b, a, "after")):
        out, err, status = run(hlguest_of(build), "diff", bench.elf, before, after)
        if f"!! {side}: {ran}" not in out or wrong_elf not in out or status != 3:
            yield f"diff, {side}: status {status}: {out[:600]} {err}"
        err = run(hlguest_of(build), "flame", bench.elf, after, f"--before={before}", "-o",
                  picture)[1]
        with open(picture, encoding="utf-8") as f:
            shown = " ".join(re.sub("<[^>]*>", " ", f.read()).split())
        if f"!! {side}: {ran}" not in err or f"{side}: {ran}" not in shown or \
                f"check {wrong_elf}" not in err or f"check {wrong_elf}" not in shown:
            yield f"flame, {side}: {err} {shown[:600]}"


def merged(build, work, builds):
    """Saved profiles keep it, in whatever order and groups they are merged."""
    bench = Noted(build, work)
    a, b, c = (bench.record(f"{n}.data", i) for n, i in zip("abc", builds))
    bench.write_elf(builds[1])
    one = [bench.save(f"{n}.pb.gz", f) for n, f in (("a", a), ("b", b), ("c", c))]
    results = []
    for i, order in enumerate((((0, 1), 2), ((2, 1), 0), ((0, 2), 1))):
        pair, all3 = (os.path.join(work, f"{n}{i}.pb.gz") for n in ("pair", "all"))
        must(hlguest_of(build), "merge", "-o", pair, *(one[k] for k in order[0]))
        must(hlguest_of(build), "merge", "-o", all3, pair, one[order[1]])
        with open(all3, "rb") as f:
            results.append(f.read())
    if len(set(results)) != 1:
        yield "order and groups matter"
    # Saved by report, it has the check of them all: from then on it stays as it is.
    saved = [os.path.join(work, "all0.pb.gz")]
    for name in "again", "once-more":
        saved.append(bench.save(f"{name}.pb.gz", saved[-1]))
    again, once_more = (open(path, "rb").read() for path in saved[1:])
    if once_more != again:
        yield "it is not the same when it is read and saved again"
    for words, verdict in (([one[1]], "check OK"), ([one[0]], "check WRONG ELF"),
                           (saved[1:2], "check MIXED"),
                           (one[:2], "check MIXED"), ([os.path.join(work, "all0.pb.gz")],
                                                      "check MIXED")):
        out, err, status = bench.report(bench.elf, *words)
        if verdict not in out or "OK" not in verdict and told_of(builds) not in out:
            yield f"{words}: status {status}: {out[:900]} {err}"


# Verbs besides report, a word that is what the verb shows where the ELF is right, and how
# often it is without one.
VERBS = (
    (MIX, ("lookup", "{elf}", "{data}", "0x3ef0b"), "memset"),
    (MIX, ("lookup", "{elf}", "{data}", "{other}", "0x3ef0b"), None),
    (MIX, ("base", "{elf}", "{data}"), None),
    (WINDOWS, ("windows", "--format=text", "{elf}", "{data}"), "hash_block"),
    (WINDOWS, ("windows", "--format=text", "{elf}@0x4000", "{data}"), "hash_block"),
    (EXITS, ("exits", "{elf}", "{data}"), "try_send"),
    (EXITS, ("exits", "--format=csv", "{elf}@0x4000", "{data}"), "try_send"),
    (EXITS, ("exits", "--time=+0,+1", "{elf}", "{data}"), "try_send"),
    (EXITS, ("exits", "{elf}", "{data}", "{other}"), "try_send"),
)


def verbs(build, work, builds):
    """Whoever reads a recording has the verdict of a report."""
    hlguest = hlguest_of(build)
    for n, (of, words, name) in enumerate(VERBS):
        bench = Noted(build, os.path.join(work, str(n)), of)
        os.mkdir(bench.work)
        bench.write_elf(builds[1])
        a, b = (bench.record(f"{n}.data", i) for n, i in zip("ab", builds))
        mixed = "{other}" in words
        for data in a, b:
            named = {"elf": bench.elf, "data": data, "other": b if data == a else a}
            out, err, status = run(hlguest, *(word.format(**named) for word in words))
            both = " ".join((out + err).split())
            other = (f"another build ran in {a}: " if mixed else "another build ran: ") + os.path.basename(bench.elf) + " " + told_of(builds)
            if (other in both) != (mixed or data == a) or \
                    (status == 3) != (data == a or mixed) or \
                    name and (name in out) != (status == 0 or mixed):
                yield f"{words}, {os.path.basename(data)}: {status}: {out[:700]} {err}"


def same_code(build, work):
    """What is told of the code goes before the build id: one that is another names what ran, and
    of one that is the same the code may have changed."""
    bench = Noted(build, work)
    a, b, c = (bench.record(f"{n}.data", of) for n, of in zip("abc", ((A, 1), (B, 1), (A, 2))))
    bench.write_elf((A, 1))
    note, ran = "a build with another build id ran, but its code is the same", \
        "another build ran: guest.elf as record noted it, not"
    saved = ran.replace("ran:", "ran in some recordings:")
    mixed = ran.replace("ran:", f"ran in {c}:")
    for words, verdict, said in (
            ([a], "check OK", ""), ([b], "check OK", note), ([a, b], "check OK", note),
            ([bench.save("b.pb.gz", b)], "check OK", note),
            ([c], "check WRONG ELF: another build ran warning", ran), ([c, b], "check MIXED", mixed),
            ([bench.save("c.pb.gz", c, b)], "check MIXED", saved)):
        out, err, status = bench.report(bench.elf, *words)
        if verdict not in out or said not in out or (note in out) != (said in (note, mixed, saved)) or \
                (status == 3) != ("OK" not in verdict):
            yield f"{words}: status {status}: {out[:900]} {err}"
    out, err, status = run(hlguest_of(build), "diff", bench.elf, a, b)
    if f"after: {bench.elf}: {note}" not in out or status:
        yield f"diff: {status}: {out} {err}"
    for words in ("lookup", bench.elf, c, "0x3ef0b"), ("base", bench.elf, c):
        out, err, status = run(hlguest_of(build), *words)
        if ran not in err or status != 3:
            yield f"{words}: {status}: {out} {err}"


def proposed(build, work):
    """What is refused says how to name the ELF that ran, where that is noted and still there."""
    for of, verb, *rest in ((MIX, "report"), (MIX, "annotate", "memset"), (MIX, "lookup", "0x3ef0b"),
                            (MIX, "base"), (EXITS, "exits"), (WINDOWS, "windows")):
        folder = os.path.join(work, verb)
        os.mkdir(folder)
        bench = Noted(build, folder, of)
        data = bench.record("a.data", 1)
        bench.write_elf(1)
        right, wrong = bench.elf, os.path.join(folder, "wrong.elf")
        with open(wrong, "wb") as f:
            f.write(bench.content(2))
        out, err, status = run(hlguest_of(build), verb, wrong, data, *rest)
        told = f"{right}, which record noted, is not named (use " \
               f"{' '.join(['hlguest', verb, right, data, *rest])})"
        if told not in " ".join((out + err).split()) or status != 3:
            yield f"{verb}: status {status}: {out[:700]} {err}"
        out, err, status = run(hlguest_of(build), verb, right, data, *rest)
        if "which record noted" in out + err or status:
            yield f"{verb}, of the right one: status {status}: {out[:700]} {err}"


def by_filter(build, work):
    """A filter does not know which recording it is given, so not what is noted: as the manual
    and README say, where they say that it tells the same."""
    bench = Noted(build, work)
    a = bench.record("a.data", A)
    bench.write_elf(B)
    need("perf")
    if "perf" in os.environ.get("HLG_WITHOUT", ""):
        raise Skip("perf cannot load this build's filter")
    out, err, _ = run("perf", "script", "-i", a, "--dlfilter",
                      os.path.join(build, "filter", "hlguest.so"), "--dlarg", bench.elf)
    if "check OK" not in " ".join(out.split()) or "another build" in out + err:
        yield f"it knows: {out[:400]} {err}"
    for path, heading in (("man/hlguest.7", ".Sh CAVEATS"), ("man/hlguest-report.1", ".Sh CAVEATS"),
                          ("README.md", "byte for byte")):
        with open(os.path.join(DATA, "..", "..", path), encoding="utf-8") as f:
            text = f.read()
        if "another build" not in " ".join(text[text.index(heading):].split())[:2000]:
            yield f"{path} does not say so"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            stale = Stale(args.build, work)
        except Skip as e:
            tap.skip("stale", e)
            return tap.finish()
        tap.run("shifted", lambda: [*shifted(stale)])
        tap.run("callers and times are shifted, too", lambda: [*callers(stale)])
    for name, check, *words in (
            *((f"{name}{'' if builds == IDS else ', without build ids'}", check, builds)
              for name, check in (("each recording has its build", noted),
                                  ("verbs besides report have its verdict", verbs),
                                  ("merged profiles keep builds that differ", merged))
              for builds in (IDS, BYTES)),
            ("the code goes before the build id", same_code),
            ("verbs propose the ELF that ran", proposed),
            ("a filter knows no builds", by_filter)):
        with tempfile.TemporaryDirectory() as work:
            tap.run(name, lambda check=check, work=work, words=words: [
                *check(build_that_notes(args.build), work, *words)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
