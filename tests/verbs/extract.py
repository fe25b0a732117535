#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest extract: guests inside hosts that are put together here.

    extract.py --build DIR

A host is any bytes with ELF files at offsets, odd ones and those where a piece of reading
ends among them. Each guest is found where it lies and comes out byte for byte; what only
begins like an ELF, ends past the file or has no symbols is none.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of

from tap import DATA, Tap, environment, need, parser, run

MAGIC = b"\x7fELF\x02\x01\x01"
CHUNK = 1 << 20  # of tools/extract's reading: symtab/elf/embedded.c


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Place:
    def __init__(self, build, folder):
        self.hlguest, self.folder = os.path.abspath(hlguest_of(build)), folder
        self.demo = read(os.path.join(DATA, "demo.elf"))
        self.rusty = read(os.path.join(DATA, "rusty.elf"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def extract(self, *words):
        return run(self.hlguest, "extract", *words, cwd=self.folder)

    def listed(self, host):
        """[(offset, size)] of the list."""
        self.write("host", host)
        out, err, status = self.extract("host")
        if status:
            return err
        return [(int(m[1], 16), int(m[2]))
                for m in re.finditer(r"^ +\d+ +(0x\w+) +(\d+) ", out, re.M)]


def check_anywhere(place):
    """At each of many offsets, the ends of what is read at once among them."""
    wrong = []
    offsets = [1, 7, 0x20b69, CHUNK + 1 - len(MAGIC)]
    offsets += [CHUNK + i for i in range(-8, 9)] + [2 * CHUNK + i for i in range(-8, 9)]
    for offset in offsets:
        host = bytes(offset) + place.demo + b"tail"
        found = place.listed(host)
        if found != [(offset, len(place.demo))]:
            wrong.append(f"at {offset}: {found}")
    return wrong


def check_several(place):
    """Each as it is; the second begins where the first ends."""
    rng = random.Random(1)
    head = rng.randbytes(12345)
    host = head + place.demo + place.rusty + MAGIC * 3 + b"x" * 99
    wrong = []
    ends = len(head), len(head) + len(place.demo)
    if place.listed(host) != [(ends[0], len(place.demo)), (ends[1], len(place.rusty))]:
        wrong.append(f"{place.listed(host)}")
    for words, elf in ((["-n1"], place.demo), (["--number=2"], place.rusty)):
        out, err, status = place.extract("host", *words, "-o", "guest.elf")
        if status or out or "guest.elf: " not in err or read(place.path("guest.elf")) != elf:
            wrong.append(f"{words}: {status} {err}{out}")
        if place.extract("host", "-q", *words, "-o", "guest.elf") != ("", "", 0):
            wrong.append(f"{words}: -q speaks")
        piped = subprocess.run([place.hlguest, "extract", "host", *words, "-o-"],
                               cwd=place.folder, stdout=subprocess.PIPE, check=False)
        if piped.returncode or piped.stdout != elf:
            wrong.append(f"{words}: -o - has {len(piped.stdout)} bytes")
    os.unlink(place.path("guest.elf"))
    for words in (["-n3"], []):
        err, status = place.extract("host", *words, "-o", "guest.elf")[1:]
        if status != 1 or "2 guests inside" not in err:
            wrong.append(f"{words}: {status} {err}")
        if os.path.exists(place.path("guest.elf")):
            wrong.append(f"{words}: something was written")
    return wrong


def check_list(place):
    """What the list has of each: machine, symbols, note, build id; and senseless words."""
    arm = bytearray(place.demo)
    arm[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    bare = place.demo.replace(b"Hyperlight\0", b"Paperlight\0")
    need("gcc")
    place.write("known.s", b".globl _start\n.type _start, @function\n_start:\n\tjmp _start\n"
                b".size _start, . - _start\n")
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=0x1234abcd", "-o", "known",
                    "known.s"], cwd=place.folder, check=True)
    place.write("host", b"x" + place.demo + bytes(arm) + bare + read(place.path("known")))
    out, err, status = place.extract("host")
    found = [line.split()[3:] for line in out.splitlines()[1:]]
    expected = [["x86-64", "40", "0.17.0", "-"], ["AArch64", "40", "0.17.0", "-"],
                ["x86-64", "40", "-", "-"]]
    wrong = []
    if err or status or found[:3] != expected or [line[2:] for line in found[3:]] != \
            [["-", "1234abcd"]]:
        wrong.append(f"{status}: {found}: {out}{err}")
    for words, said in (([], "no host program is given"), (["host", "b"], "b: one host at a time"),
                        (["host", "-n1"], "--number chooses what is written")):
        out, err, status = place.extract(*words)
        if status != 2 or said not in err or out:
            wrong.append(f"{words}: {status}, {out}{err}")
    return wrong


def check_hyperlight(place):
    """Of several, the only one with Hyperlight's note is meant."""
    other = place.demo.replace(b"Hyperlight\0", b"Paperlight\0")
    if other == place.demo:
        return ["the note has another name"]
    place.write("host", b"x" + other + b"x" + place.demo + other)
    err, status = place.extract("host", "-o", "guest.elf")[1:]
    if status or read(place.path("guest.elf")) != place.demo:
        return [f"{status} {err}"]
    return []


def check_hostile(place):
    """A version and file names that would command a terminal are escaped."""
    version = place.demo.index(b"Hyperlight\0") + len(b"Hyperlight\0\0")
    evil = b"\x1b[1m"
    place.write("h\x1b[2m", b"x" + place.demo[:version] + evil +
                place.demo[version + len(evil):])
    out, err, status = place.extract("h\x1b[2m", "-o", "o\x1b[3m")
    os.unlink(place.path("o\x1b[3m"))
    if status or "\x1b" in out + err or any(f"\\x1b[{i}m" not in err for i in (1, 2, 3)):
        return [f"{status} {err!r}"]
    return []


def check_debug_file(place):
    """A stripped host with two guests is refused, also beside its debug file."""
    need("cc", "objcopy", "strip")
    place.write("a.c", b"int main(void) { return 0; }")
    place.write("two", place.demo + place.rusty)
    for words in ("cc -g -o split a.c", "objcopy --add-section .guest=two split",
                  "objcopy --only-keep-debug split split.debug", "strip split",
                  "objcopy --add-gnu-debuglink=split.debug split"):
        subprocess.run(words.split(), cwd=place.folder, check=True,
                       stderr=subprocess.DEVNULL)
    os.chmod(place.folder, 0o755)  # root is not led to files beside an ELF
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    _, err, status = run(*user * (os.getuid() == 0), place.hlguest, "lookup", "split",
                         "0x1139", cwd=place.folder)
    return [] if status == 1 and "several guests inside" in err else [f"{status} {err}"]


def check_none(place):
    """What is no guest, and what is said of it."""
    need("strip")
    place.write("guest.elf", place.demo)
    subprocess.run(["strip", "-o", "stripped", "guest.elf"], cwd=place.folder, check=True)
    cut = b"x" + place.demo[:-1]
    wrong = []
    for host, said in (
        (b"", "is empty|no guest ELF inside"),
        (place.demo, "no guest ELF inside"),  # which is one itself
        (MAGIC * 9999, "no guest ELF inside"),
        (b"x" + place.demo[:2000], "no guest ELF inside"),
        (cut, "no guest ELF inside"),
        (b"x" + read(place.path("stripped")), "host, the ELF inside it: has no symbols"),
    ):
        place.write("host", host)
        for words in ([], ["-o", "out.elf"]):
            out, err, status = place.extract("host", *words)
            if status != 1 or out or not re.search(said, err) or err.count("\n") != 1:
                wrong.append(f"{host[:9]} {words}: {status} {err}{out}")
    return wrong


def check_program(place):
    """A real program with a guest in a section, also when the program was stripped."""
    need("objcopy", "strip")
    place.write("guest.elf", place.demo)
    shutil.copy(shutil.which("sh"), place.path("plain"))
    subprocess.run(["objcopy", "--add-section=.guest=guest.elf",
                    "--set-section-flags=.guest=alloc,readonly", "plain", "host"],
                   cwd=place.folder, check=True, stderr=subprocess.DEVNULL)
    wrong = []
    for _ in range(2):
        err, status = place.extract("host", "-o", "out.elf")[1:]
        if status or read(place.path("out.elf")) != place.demo:
            wrong.append(f"{status} {err}")
        subprocess.run(["strip", "host"], cwd=place.folder, check=True)
    if not re.search("no guest ELF inside", place.extract("plain")[1]):
        wrong.append(f"without a guest: {place.extract('plain')}")
    return wrong


def host_with(place, name, *elfs):
    """A program of this machine with these ELFs inside; a skip without objcopy."""
    need("objcopy", "strip")
    shutil.copy(shutil.which("true"), place.path(name))
    for i, elf in enumerate(elfs):
        place.write("section", elf)
        subprocess.run(["objcopy", f"--add-section=.guest{i}=section", name],
                       cwd=place.folder, check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["strip", name], cwd=place.folder, check=True)


def check_report(place):
    """A host in place of its guest: the same report, and what is said where that cannot be."""
    recording = os.path.join(DATA, "demo-user.data")
    place.write("guest.elf", place.demo)
    host_with(place, "my-host", place.demo)
    host_with(place, "my-two", place.demo, place.rusty)
    wrong = []
    for words in (["report", "{}", recording], ["report", "--format=csv", "{}", recording],
                  ["annotate", "{}", "hash_block", recording], ["lookup", "{}", "0x52b0"],
                  ["base", "{}", recording], ["kallsyms", "{}"]):
        guest, host = (run(place.hlguest, *(w.format(elf) for w in words), cwd=place.folder)
                       for elf in ("guest.elf", "my-host"))
        told = host[0].replace("my-host, the guest inside it", "guest.elf")
        if (told.replace("my-host", "guest.elf"), *host[1:]) != guest or guest[2]:
            wrong.append(f"{words[0]}: {host} instead of {guest}")
    for words, said, ends in (
            (["base", "my-two", recording], "is a host with several guests inside", 1),
            (["report", "my-two@guest=3", recording], "has no guest 3 inside", 1),
            (["report", "my-host@guest=0", recording], "is a number", 2),
            (["inject", "my-host", recording, "-o", "x.data"], "extract my-host", 1)):
        out, err, status = run(place.hlguest, *words, cwd=place.folder)
        if status != ends or said not in err or out:
            wrong.append(f"{words}: {status} {out}{err}")
    return wrong


def check_guests(place):
    """Several guests of a host: each is reported as its ELF, and each by itself."""
    folder = os.path.join(DATA, "hyperlight")
    names = "guest.elf", "small.elf"
    elfs = [read(os.path.join(folder, name)) for name in names]
    host_with(place, "my-both", *elfs, elfs[0])  # the third is the first once more
    for name, elf in zip(names, elfs):
        place.write(name, elf)
    wrong = []
    for words in (["report", "--format=csv", "{}", "turns.data"],
                  ["report", "--by=sandbox", "--format=json", "{}", "turns.data"],
                  ["report", "--format=csv", "{0}@0x4000", "two.data"],
                  ["annotate", "--format=json", "{}", "hash", "two.data"]):
        words = [os.path.join(folder, w) if w.endswith(".data") else w for w in words]
        place_of = ["my-both@guest=1", "my-both@guest=2"]
        host = run(place.hlguest, *(w.format("my-both") for w in words), cwd=place.folder)
        told = host[0]
        for guest, name in zip(place_of, names):
            told = told.replace(guest, name)
        apart = [w for word in words
                 for w in ([word.format(n) for n in names] if "{" in word else [word])]
        guest = run(place.hlguest, *apart, cwd=place.folder)
        told = re.sub(r'"inside": "0x[0-9a-f]+",?', '', told)
        if (told.split(), *host[1:]) != (guest[0].split(), *guest[1:]) or guest[2]:
            wrong.append(f"{words}: {host} instead of {guest}")
    one = [run(place.hlguest, "lookup", guest, "0x28a80", cwd=place.folder)[0]
           for guest in ("./my-both@guest=1", "./my-both@guest=1@0x4000", "./guest.elf")]
    if len({text.replace("my-both@guest=1", "guest.elf") for text in one}) != 1 or not one[0]:
        wrong.append(f"one of them: {one}")
    return wrong


def check_noted(place):
    """record notes each guest of a host, and report and exits without an ELF use them all."""
    folder = os.path.join(DATA, "hyperlight")
    host_with(place, "my-both", *(read(os.path.join(folder, name))
                                  for name in ("small.elf", "guest.elf")))
    place.write("perf", f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat {folder}/turns.data >"$2"
""".encode())
    os.chmod(place.path("perf"), 0o755)
    path = os.pathsep.join((place.folder, os.environ["PATH"]))
    out, err, status = run(place.hlguest, "record", "-o", "g.data", "--", "./my-both",
                           cwd=place.folder, env=environment(PATH=path))
    if status or not re.search("now: hlguest report ./my-both g.data", err):
        return [f"{status}: {out}{err}"]
    if not os.path.exists(place.path("g.data.hlguest")):
        return [] if "jansson" not in run(place.hlguest, "--version")[0] else ["nothing is noted"]
    out, err, status = run(place.hlguest, "report", "g.data", cwd=place.folder)
    if status or any(f"my-both@guest={i}, noted by record" not in out for i in (1, 2)):
        return [f"{status}: {out}{err}"]
    # Of several recordings that note the same ones each is meant once.
    for name in "g.data", "g.data.hlguest":
        shutil.copy(place.path(name), place.path(name.replace("g", "h", 1)))
    place.write("list", b"g.data\nh.data\n")
    images = re.findall(r"^(?:guest  )?   +my-both@guest=\d, .*$", out, re.M)
    for words in ["g.data", "h.data"], ["--input-list=list"]:
        out, err, status = run(place.hlguest, "report", *words, cwd=place.folder)
        if status or re.findall(r"^(?:guest  )?   +my-both@guest=\d, .*$", out, re.M) != images or \
                len(images) != 2 or ", 2 recordings\n" not in out:
            return [f"{words}: {status}: {images}, {out}{err}"]
    for words in ([], ["my-both"]):
        out = run(place.hlguest, "report", "--format=json", *words, "g.data", cwd=place.folder)[0]
        if [image.get("noted", False) for image in json.loads(out)["images"]] != [not words] * 2:
            return [f"noted in JSON: {words} {out[:400]}"]
    out, err, status = run(place.hlguest, "exits", "g.data", cwd=place.folder)
    if status or any(f"[my-both@guest={i}]" not in out for i in (1, 2)):
        return [f"exits: {status}: {out}{err}"]
    err, status = run(place.hlguest, "inject", "-o", "x.data", "g.data", cwd=place.folder)[1:]
    if status != 1 or not re.search(
            r"my-both: its guests lie at the same addresses \(name one of them:"
            r" \S*my-both@guest=1 \S*my-both@guest=2\)\n", err):
        return [f"inject: {status}: {err}"]
    host_with(place, "my-both", place.demo, place.rusty)
    err, status = run(place.hlguest, "report", "g.data", cwd=place.folder)[1:]
    if status != 1 or "has inside not the ELF any more" not in err:
        return [f"another host: {status}: {err}"]
    return []


def check_measure(place):
    """hlguest -- ./my-host finds the guest inside the host that it runs."""
    host_with(place, "my-host", place.demo)
    place.write("perf", f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
cat {DATA}/demo-user.data >"$2"
""".encode())
    os.chmod(place.path("perf"), 0o755)
    path = os.pathsep.join((place.folder, os.environ["PATH"]))
    out, err, status = run(place.hlguest, "--", "./my-host", "-x", cwd=place.folder,
                           env=environment(PATH=path))
    if status or "the guest inside it" not in out or "hash_block" not in out:
        return [f"{status}: {out}{err}"]
    return []


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="extract-") as folder:
        place = Place(args.build, folder)
        for check in (check_anywhere, check_several, check_list, check_hyperlight, check_hostile,
                      check_debug_file, check_none, check_program, check_report, check_guests,
                      check_noted, check_measure):
            tap.run(check.__doc__, check, place)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
