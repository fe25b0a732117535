# SPDX-License-Identifier: GPL-2.0-only
"""Neither threads nor the form of a recording change what is said of it, notes included: as
a file, from a pipe, as a folder, compressed; whole or damaged.
"""
import gzip
import os
import re
import subprocess

import inputs
import made
import recording
from bed import Broken, Result, same

NAME = "r.data"
KEEP = ("--border=keep", "--force", "-q")
# What is read of one; -j is what the verbs have.
VERBS = (
    ("report", "--mode=all", "--format=json", "--top=0", *KEEP),
    ("report", "--mode=guest", "--by=event,tid", "--format=csv", *KEEP),
    ("report", "--mode=all", "--verbose", *KEEP),
    ("report", "--mode=host", "--format=json", *KEEP),
    ("report", "--mode=all", "--stacks=callgraph", "--format=folded", *KEEP),
    ("report", "--mode=all", "--stacks=callgraph", "--format=json", *KEEP),
    ("report", "--stacks=counters", "--format=json", *KEEP),
    ("report", "--time=1.001,1.02", "--format=json", *KEEP),
    ("annotate", "--format=json", "--force", "-q"),
    ("flame", "--format=folded", "--min=0", *KEEP),
    ("base", "-q"),
)

SAVED = tuple(verb for verb in VERBS if "counters" not in "".join(verb))


def plain(result):
    """By the name of a file, wherever the recording came from."""
    return Result(result.status, result.out.replace(b"standard input", NAME.encode()),
                  result.err.replace("standard input", NAME))


def without_rest(result):
    """A pipe is not read on behind what is no record: how much is left there is not known."""
    return result._replace(out=re.sub(rb"\d+ bytes at its end", b"bytes at its end", result.out),
                           err=re.sub(r"\d+ bytes at its end", "bytes at its end", result.err))


def ask_fifo(bed, verb, guest, data):
    """Through a FIFO of that name."""
    source = bed.write(data, "fifo", "source")
    fifo = bed.place("fifo", NAME)
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    # A program of its own: opening it waits for who reads.
    writer = subprocess.Popen(["sh", "-c", 'exec cat "$0" >"$1"', source, fifo],
                              stderr=subprocess.DEVNULL)
    try:
        return ask(bed, verb, guest, "fifo")
    finally:
        writer.kill()
        writer.wait()


def ask(bed, verb, guest, place, *more, stdin=None):
    name = "-" if stdin is not None else NAME
    return plain(bed.run(*verb, *more, os.path.abspath(bed.place(guest[0])) + guest[1], name,
                         cwd=bed.place(place), stdin=stdin))


def check_threads(bed, rng, verb, guest, place, first):
    if verb[0] == "base":
        return
    for threads in rng.sample((2, 3, 8), 2):
        same(f"{' '.join(verb)} -j{threads} of {place}", first,
             ask(bed, verb, guest, place, f"-j{threads}"))


def check_forms(bed, rng):
    one = inputs.Guest(rng)
    bed.write(one.data, "guest.elf")
    guest = ("guest.elf", f"@{one.base:#x}")
    rec = inputs.Recording(rng, one, stacks=rng.random() < .4)
    body = rec.body()
    zipped = rec.zipped(body)
    marked = rng.random() < .5
    bed.write(rec.file(body), "file", NAME)
    bed.write(rec.pipe(body), "stream", NAME)
    bed.write(rec.file(zipped, marked), "zipped", NAME)
    bed.write(rec.pipe(zipped, marked), "zipped-stream", NAME)
    os.mkdir(bed.place("folder"))
    rec.folder(bed.place("folder", NAME))
    for verb in rng.sample(VERBS, 2):  # another round has others
        first = ask(bed, verb, guest, "file")
        check_threads(bed, rng, verb, guest, "file", first)
        check_threads(bed, rng, verb, guest, "zipped", first)
        for place in ("stream", "zipped", "zipped-stream", "folder"):
            same(f"{' '.join(verb)} of {place}", first, ask(bed, verb, guest, place))
        for data in (rec.pipe(body), rec.pipe(zipped, marked)):
            if not rec.stacks:  # whose sandboxes are found by reading twice
                same(f"{' '.join(verb)} through a pipe", first,
                     ask(bed, verb, guest, "stream", stdin=data))
                same(f"{' '.join(verb)} through a FIFO", first,
                     ask_fifo(bed, verb, guest, data))


def check_damaged(bed, rng):
    """Of what kit/made.py and inputs.py make, damaged anywhere."""
    one = inputs.Guest(rng, base=0x400000)
    bed.write(one.data, "guest.elf")
    guest = ("guest.elf", "@0x400000")
    stacks = False
    if rng.random() < .5:
        data = made.make(rng.getrandbits(32), newer=rng.random() < .2)
    else:
        stacks = rng.random() < .4
        rec = inputs.Recording(rng, one, stacks=stacks)
        body = rec.body() if rng.random() < .5 else inputs.damage_records(rng, rec.body())
        body = rec.zipped(body) if rng.random() < .3 else body
        data = rec.file(body) if rng.random() < .8 else rec.pipe(body)
    if rng.random() < .5:
        data = inputs.damage(rng, data, rng.choice((0, 104, 104, 104)))
    bed.write(data, "file", NAME)
    # Sandboxes are found by reading twice.
    piped = data[8:16] == (16).to_bytes(8, "little") and not stacks
    for verb in rng.sample(VERBS, 3):
        first = ask(bed, verb, guest, "file")
        check_threads(bed, rng, verb, guest, "file", first)
        if piped and "callgraph" not in "".join(verb) and verb[0] not in ("flame", "annotate"):
            same(f"{' '.join(verb)} through a pipe", *map(without_rest, (first, ask(
                bed, verb, guest, "file", stdin=data))))


def check_injected(bed, rng):
    """A copy has as many samples, whatever was wrong with the first."""
    one = inputs.Guest(rng)
    bed.write(one.data, "guest.elf")
    guest = f"guest.elf@{one.base:#x}"
    rec = inputs.Recording(rng, one, stacks=rng.random() < .3)
    data = rec.file() if rng.random() < .5 else inputs.damage(rng, rec.file(), 104)
    bed.write(data, "a.data")
    got = bed.run("inject", "--force", guest, "a.data", "-o", "out.data")
    if got.status and os.path.exists(bed.place("out.data")):
        raise Broken(f"inject: status {got.status}, and there is a file")


# Files that are not what they say.


def check_elf(bed, rng):
    """A damaged ELF is refused, or answers as any; and every verb agrees on which."""
    one = inputs.Guest(rng)
    bed.write(inputs.damage(rng, one.data), "guest.elf")
    guest = f"guest.elf@{one.base:#x}"
    recording.write(bed.place("a.data"), [(ip, 7, 1000, 0) for ip in one.around()])
    words = [f"{ip:#x}" for ip in rng.sample(one.around(), 5)]
    looked = bed.run("lookup", guest, *words)
    refused = {}
    for verb in (("report", "--format=csv", *KEEP), ("annotate", "--force", "-q"),
                 ("flame", "--format=folded", "--force", "-q"),
                 ("inject", "--force", "-q", "-o", "out.data")):
        refused[verb[0]] = bed.run(*verb, guest, "a.data")
    bed.run("kallsyms", "guest.elf")
    bed.run("base", "-q", "guest.elf", "a.data")
    says = {name: got.status == 1 and "guest.elf: " in got.err for name, got in refused.items()}
    if (looked.status == 1 and "guest.elf: " in looked.err) != says["report"]:
        raise Broken(f"lookup: {looked.status} {looked.err}; report: {refused['report'].status} "
                     f"{refused['report'].err}")


def check_profile(bed, rng):
    """A damaged profile is refused, or its sum and its report are its own."""
    one = inputs.Guest(rng)
    bed.write(one.data, "guest.elf")
    guest = f"guest.elf@{one.base:#x}"
    rec = inputs.Recording(rng, one, stacks=rng.random() < .5)
    bed.write(rec.file(), "a.data")
    bed.run("report", "--format=pprof", "--by=event,tid", "--out=a.pb.gz", *KEEP, guest, "a.data")
    if not os.path.exists(bed.place("a.pb.gz")):
        return
    with open(bed.place("a.pb.gz"), "rb") as f:
        data = f.read()
    bed.write(data, "file", NAME)
    for verb in rng.sample(SAVED, 2):
        asked = ("guest.elf", f"@{one.base:#x}")
        whole = ask(bed, verb, asked, "file")
        if verb[0] == "flame" and rec.stacks:
            continue  # which looks for callers in what can be read twice
        same(f"{' '.join(verb)} of a profile through a pipe", whole,
             ask(bed, verb, asked, "file", stdin=data))
        same(f"{' '.join(verb)} of a profile through a FIFO", whole,
             ask_fifo(bed, verb, asked, data))
    broken = gzip.compress(inputs.damage(rng, gzip.decompress(data)), mtime=0) \
        if rng.random() < .9 else inputs.damage(rng, data)
    bed.write(broken, "a.pb.gz")
    merged = bed.run("merge", "-q", "-o", "sum.pb.gz", "a.pb.gz")
    if (merged.status == 0) != os.path.exists(bed.place("sum.pb.gz")):
        raise Broken(f"merge: status {merged.status}, and the sum is the other way")
    verb = ("report", "--format=csv", "--top=0", *KEEP)
    first = bed.run(*verb, guest, "a.pb.gz")
    same("report -j3 of a profile", first, bed.run(*verb, "-j3", guest, "a.pb.gz"))
    with open(bed.place("a.pb.gz"), "rb") as f:
        same("report of a profile through a pipe", first.status,
             bed.run(*verb, guest, "-", stdin=f.read()).status)
    bed.run("diff", "-q", "--force", guest, "a.pb.gz", "a.data")


