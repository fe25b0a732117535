# SPDX-License-Identifier: GPL-2.0-only
"""One sample has one name, wherever it is shown; and what is lost is told, no more, no less."""
import collections
import json
import re
import shutil

import inputs
from bed import Broken, same
from tap import must

AS_IS = ("--border=keep", "--force", "--demangle=no", "-q")


def look(bed, guest, ips):
    """{ip: (kind, name)}"""
    words = [f"{ip:#x}" for ip in ips]
    out = b"".join(bed.run("lookup", "--demangle=no", "--format=json", *guest,
                           *words[i:i + 2000]).out for i in range(0, len(words), 2000))
    answers = [json.loads(line) for line in out.splitlines()]
    if len(answers) != len(ips):
        raise Broken(f"lookup: {len(answers)} answers for {len(ips)} addresses")
    return {ip: (a["kind"], a["name"]) for ip, a in zip(ips, answers)}


def by_name(rec, found, kinds=("function", "label", "gap")):
    """{(kind, name): (samples, period)} as lookup has them."""
    total = collections.Counter()
    for s in rec.samples:
        if found[s.ip][0] in kinds:
            total[(*found[s.ip], "samples")] += 1
            total[(*found[s.ip], "period")] += s.period
    return total


def check_report(bed, rec, guest, found):
    document = bed.json("report", *AS_IS, "--top=0", *guest, "a.data")
    rows = collections.Counter()
    for f in document["functions"]:
        for unit in ("samples", "period"):
            rows[f["kind"], f["name"], unit] += f[unit]
    same("lookup and report", by_name(rec, found), rows)
    kinds = collections.Counter(found[s.ip][0] for s in rec.samples)
    totals = {k: document["totals"][k]["samples"]
              for k in ("function", "label", "gap", "data", "outside")}
    same("kinds of lookup and report", {k: kinds[k] for k in totals}, totals)


def check_folded(bed, rec, guest, found):
    got = bed.run("report", *AS_IS, "--top=0", "--format=folded", "--weight=samples", *guest,
                  "a.data")
    lines = collections.Counter()
    for line in got.out.decode().splitlines():
        stack, _, n = line.rpartition(" ")
        lines[stack.rpartition(";")[2]] += int(n)
    want = collections.Counter()
    for s in rec.samples:
        kind, name = found[s.ip]
        if kind in ("function", "label", "gap"):
            want[name.replace(";", ":")] += 1
    lines = collections.Counter({name: n for name, n in lines.items() if name in want})
    same("lookup and folded", want, lines)


def check_annotate(bed, rec, guest, found):
    """Sums of the functions that are listed."""
    got = bed.json("annotate", "--force", "--demangle=no", "-q", "--top=0", *guest, "a.data")
    rows = collections.Counter()
    for f in got["functions"]:
        if f["kind"] not in ("function", "label", "gap"):
            continue
        for count in f["sums"].values():
            for unit in ("samples", "period"):
                rows[f["kind"], f["name"], unit] += count[unit]
    same("lookup and annotate", by_name(rec, found), rows)


def check_perf(bed, rec, guest, found):
    """perf's own names of the copy that inject writes."""
    if not shutil.which("perf"):
        return
    out = bed.place("injected.data")
    got = bed.run("inject", "--force", "--demangle=no", "-q", *guest, "a.data", "-o", out)
    if got.status:
        raise Broken(f"inject: status {got.status}: {got.err}")
    theirs = {}
    for line in must("perf", "script", "-i", out, "-F", "ip,sym", cwd=bed.folder).splitlines():
        if match := re.match(r" *([0-9a-f]+) (.*)$", line):
            theirs[int(match[1], 16)] = match[2].strip()
    wrong = {hex(ip): (name, theirs.get(ip)) for ip, (kind, name) in found.items()
             if kind in ("function", "label", "gap") and theirs.get(ip) != name}
    if wrong:
        raise Broken(f"lookup and perf script: {list(wrong.items())[:3]}")


def draw_images(bed, rng):
    """One ELF or two, apart, and where each lies; and the first, for a recording."""
    made = inputs.Guest(rng, mangled=False)  # perf script shows these readable
    bed.write(made.data, "guest.elf")
    guest, ips = [f"guest.elf@{made.base:#x}"], set(made.around())
    if rng.random() < .3:
        other = inputs.Guest(rng, base=made.base + rng.choice((0x10000, 1 << 30)), mangled=False)
        bed.write(other.data, "other.elf")
        guest.append(f"other.elf@{other.base:#x}")
        ips |= set(other.around())
    return made, guest, sorted(ip for ip in ips if ip > 0)


def check_names(bed, rng):
    made, guest, ips = draw_images(bed, rng)
    rec = inputs.Recording(rng, made, 1).of_each(ips)
    bed.write(rec.file(), "a.data")
    found = look(bed, guest, ips)
    for check in (check_report, check_folded, check_annotate, check_perf):
        check(bed, rec, guest, found)


def check_map(bed, rng):
    """Of code that has no ELF: lines in any order, over each other, and again."""
    made = inputs.Guest(rng)
    base, lines = made.base, [(made.base, 16, b"first()")]  # of none with a size it is no map
    for n in range(rng.randint(1, 200)):
        lines.append((base + rng.randrange(0x1000), rng.choice((0, 1, 16, 100)), b"jit %d()" % n))
        if rng.random() < .1:
            lines.append((*lines[-1][:2], b"again %d()" % n))
    bed.write(b"".join(b"%x %x %s\n" % line for line in lines), "perf-1.map")
    ips = sorted({at + add for at, size, _ in lines for add in (-1, 0, size - 1, size)
                  if at + add > 0})
    rec = inputs.Recording(rng, made, 1).of_each(ips)
    bed.write(rec.file(), "a.data")
    guest = ["map:perf-1.map"]
    found = look(bed, guest, ips)
    for check in (check_report, check_folded):
        check(bed, rec, guest, found)


# What is told is what was done.


def told(document, words):
    """The first number of a note with these words, or 0."""
    for note in document["notes"]:
        if match := re.search(words, note):
            return int(match[1])
    return 0


def check_losses(bed, rng):
    made = inputs.Guest(rng)
    bed.write(made.data, "guest.elf")
    guest = f"guest.elf@{made.base:#x}"
    recs = [inputs.Recording(rng, made) for _ in range(2)]
    harm = [[rng.randint(0, 9), rng.randint(0, 9)] for _ in recs]
    for rec, name, how in zip(recs, ("a.data", "b.data"), harm):
        rec.harm(*how)
        bed.write(rec.file(), name)
    document = bed.json("report", *AS_IS, "--mode=all", guest, "a.data", "b.data", good=(0, 1, 3))
    lost = [max(rec.lost, rec.lost_samples) for rec in recs]
    same("lost, by file", lost, [f["lost"] for f in document["files"]])
    same("lost, in all", [sum(lost)], [told(document, r"(\d+) events? (?:were|was) lost")])
    same("skipped, and throttled", [sum(n) for n in zip(*harm)],
         [told(document, r"(\d+) records?(?:, or parts of records,)? makes? no sense"),
          told(document, r"throttled sampling (\d+) times?")])
    seen = sum(len(rec.samples) for rec in recs)
    same("samples", [seen], [document["totals"]["seen"]["samples"]])


def check_cut(bed, rng):
    """A recording that ends anywhere: whole records are read, the rest is told in bytes."""
    made = inputs.Guest(rng)
    bed.write(made.data, "guest.elf")
    guest = f"guest.elf@{made.base:#x}"
    rec = inputs.Recording(rng, made)
    body, whole = rec.body(), rec.file()
    begin = whole.index(body)
    end = rng.randint(begin, len(whole) - 1)
    bed.write(whole[:end], "a.data")
    at, samples = 0, 0
    while at + 8 <= end - begin:
        kind, size = body[at], int.from_bytes(body[at + 6:at + 8], "little")
        if at + size > end - begin:
            break
        samples += kind == inputs.SAMPLE
        at += size
    document = bed.json("report", *AS_IS, "--mode=all", guest, "a.data", good=(0, 1, 3))
    if document is None:
        raise Broken("a recording that was cut is refused")
    same(f"samples of one cut at {end}", [samples], [document["totals"]["seen"]["samples"]])
    same(f"bytes that are left of one cut at {end}", [len(body) - at],
         [told(document, r"(\d+) bytes at its end")])
