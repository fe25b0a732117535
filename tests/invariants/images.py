# SPDX-License-Identifier: GPL-2.0-only
"""A guest's ELF is the same whether its symbols were split off, or it lies inside a host."""
import json

import inputs
from bed import Broken, same

KEEP = ("--force", "-q", "--top=0")
VERBS = (("report", "--mode=all", *KEEP), ("report", "--border=keep", *KEEP),
         ("report", "--stacks=callgraph", *KEEP), ("annotate", *KEEP))


def plain(document, name):
    """By the ELF's name, and without what is said of the file."""
    text = json.dumps(document).replace(f'"{name}"', '"guest.elf"').replace(
        f"{name}: ", "guest.elf: ")
    document = json.loads(text)
    document.pop("images", None)
    document["notes"] = [note for note in document["notes"] if "is stripped; names" not in note]
    return document


def check_same(bed, rng, one, name, verb):
    first, other = (bed.json(*verb, f"{elf}@{one.base:#x}", "a.data", good=(0, 1, 3))
                    for elf in ("guest.elf", name))
    if (first is None) != (other is None):
        raise Broken(f"{' '.join(verb)} of {name}: {other and 'a document'}")
    if first:
        same(f"{' '.join(verb)} of {name}", first and plain(first, name), plain(other, name))


def draw(bed, rng):
    one = inputs.Guest(rng, noted=True)  # only such a guest is looked for inside a host
    rec = inputs.Recording(rng, one, stacks=rng.random() < .5)
    bed.write(one.data, "guest.elf")
    bed.write(rec.file(), "a.data")
    return one


def check_split(bed, rng):
    one = draw(bed, rng)
    bed.write(one.data, "debug", "split.debug")
    bed.write(one.stripped(b"split.debug"), "split.elf")
    bed.env = {**bed.env, "HLGUEST_DEBUG_DIR": bed.place("debug")}
    check_same(bed, rng, one, "split.elf", rng.choice(VERBS))
    words = [f"{ip:#x}" for ip in rng.sample(one.around(), 9)]
    first, other = (bed.run("lookup", f"{elf}@{one.base:#x}", *words)
                    for elf in ("guest.elf", "split.elf"))
    same("lookup of split.elf", first.out.replace(b"guest.elf", b"split.elf"), other.out)


def check_inside(bed, rng):
    one = draw(bed, rng)
    with open("/bin/true", "rb") as f:  # a program of this machine
        bed.write(f.read() + rng.randbytes(rng.choice((0, 1, 4096, 5000))) + one.data +
                  rng.randbytes(rng.choice((0, 3, 4096))), "host")
    if rng.random() < .5:
        got = bed.run("extract", "-q", "-o", "found.elf", "host")
        if got.status:
            raise Broken(f"extract: status {got.status}: {got.err}")
        with open(bed.place("found.elf"), "rb") as f:
            same("what is extracted", one.data, f.read())
    else:
        check_same(bed, rng, one, "host", rng.choice(VERBS))
