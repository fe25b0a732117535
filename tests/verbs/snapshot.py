#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""guest.elf@snapshot:DIR: the base of a snapshot, and whether it is of that ELF.

    snapshot.py --build DIR

Of a snapshot that Hyperlight 0.18 saved, of copies of it that are damaged in one place each, and
of ELFs that it was not made from.
"""
import json
import lzma
import os
import shutil
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from tap import DATA, Tap, must, parser, run

HYPERLIGHT = os.path.join(DATA, "hyperlight")
GUEST, SMALL = (os.path.join(HYPERLIGHT, name) for name in ("guest.elf", "small.elf"))
MIX = os.path.join(HYPERLIGHT, "mix.data")
BASE = 0x4000
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] * (os.getuid() == 0)


class Place:
    def __init__(self, build, folder):
        self.hlguest, self.folder, self.n = hlguest_of(build), folder, 0
        with tarfile.open(os.path.join(HYPERLIGHT, "many", "snapshot.tar.xz")) as tar:
            tar.extractall(folder)
        self.whole = os.path.join(folder, "snapshot")
        changed = os.path.join(HYPERLIGHT, "many", "changed.elf.xz")
        self.changed = os.path.join(folder, "changed.elf")
        with lzma.open(changed) as f, open(self.changed, "wb") as g:
            shutil.copyfileobj(f, g)

    def copy(self):
        self.n += 1
        return shutil.copytree(self.whole, os.path.join(self.folder, str(self.n)), symlinks=True)

    def lookup(self, elf, folder):
        return run(self.hlguest, "lookup", f"{elf}@snapshot:{folder}", "memset")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def store(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def blob(folder, descriptor):
    return os.path.join(folder, "blobs", "sha256", descriptor["digest"].partition(":")[2])


def manifest_of(folder):
    return blob(folder, load(os.path.join(folder, "index.json"))["manifests"][0])


def memory_of(folder):
    return blob(folder, next(layer for layer in load(manifest_of(folder))["layers"]
                             if ".memory." in layer["mediaType"]))


def check_whole(place):
    own = must(place.hlguest, "lookup", "--own", GUEST, "memset").split()
    out, err, status = place.lookup(GUEST, place.whole)
    if (err, status) != ("", 0) or int(out.split()[0], 16) != int(own[0], 16) + BASE:
        yield f"{status}: {err}{out}"
    for verb in ("report", "base", "annotate"):
        out = must(place.hlguest, verb, f"{GUEST}@snapshot:{place.whole}", MIX)
        if "0x4000" not in out or "tated" not in out:
            yield f"{verb}: {out[:300]}"


def check_other(place):
    for elf in SMALL, place.changed:
        out, err, status = place.lookup(elf, place.whole)
        if out or status != 1 or "is of another build: its code differs at 0x" not in err:
            yield f"{elf}: {status}: {err}{out}"


def damage(place):
    """(what, a copy that has it)"""
    def index(value):
        folder = place.copy()
        store(os.path.join(folder, "index.json"), value)
        return folder

    def manifest(change):
        folder = place.copy()
        value = load(manifest_of(folder))
        change(folder, value)
        store(manifest_of(folder), value)
        return folder

    one = load(os.path.join(place.whole, "index.json"))["manifests"][0]
    yield "no manifest", index({"manifests": []})
    yield "two", index({"manifests": [one, one]})
    yield "a list", index([])
    yield "a digest that leads elsewhere", index(
        {"manifests": [{**one, "digest": "sha256:" + "../" * 21 + "x"}]})
    yield "another algorithm", index({"manifests": [{**one, "digest": "sha512:" + "0" * 64}]})
    yield "no blob of that digest", index({"manifests": [{**one, "digest": "sha256:" + "0" * 64}]})
    yield "another configuration", manifest(
        lambda _, value: value["config"].update(mediaType="application/json"))
    yield "no memory", manifest(lambda _, value: value.update(layers=[]))

    for base in -1, 2 ** 60, "16384", None:
        folder = place.copy()
        path = blob(folder, load(manifest_of(folder))["config"])
        store(path, {"layout": {"code_virt_base": base}})
        yield f"base {base}", folder
    folder = place.copy()
    with open(os.path.join(folder, "index.json"), "wb") as f:
        f.write(b"[" * 100000)
    yield "brackets", folder
    folder = place.copy()
    with open(os.path.join(folder, "index.json"), "ab") as f:
        f.truncate(2 << 20)
    yield "a large index", folder
    for name in "index.json", os.path.relpath(memory_of(place.whole), place.whole):
        folder = place.copy()
        path = os.path.join(folder, name)
        os.rename(path, path + ".moved")
        os.symlink(path + ".moved", path)
        yield f"{name} is a link", folder
    for name in "blobs", "blobs/sha256":
        folder = place.copy()
        path = os.path.join(folder, name)
        away = tempfile.mkdtemp(dir=place.folder)
        os.rename(path, os.path.join(away, "there"))
        os.symlink(os.path.join(away, "there"), path)
        yield f"{name} leads out of the folder", folder
    yield "an empty folder", tempfile.mkdtemp(dir=place.folder)


def check_denied(place):
    """What may not be read is told as that."""
    folder = place.copy()
    path = os.path.join(folder, "index.json")
    os.chmod(path, 0)
    os.chmod(folder, 0o755)
    os.chmod(place.folder, 0o755)
    out, err, status = run(*NOBODY, place.hlguest, "lookup", f"{GUEST}@snapshot:{folder}",
                           "memset")
    if out or status != 1 or "its index.json cannot be read: Permission denied" not in err:
        yield f"{status}: {err}{out}"


def check_damaged(place):
    for what, folder in damage(place):
        out, err, status = place.lookup(GUEST, folder)
        if out or status != 1 or "is no snapshot that Hyperlight saved" not in err:
            yield f"{what}: {status}: {err}{out}"
    folder = place.copy()
    os.truncate(memory_of(folder), 0x20000)
    _, err, status = place.lookup(GUEST, folder)
    if status != 1 or "its code differs at 0x1fcc0" not in err:
        yield f"cut off: {status}: {err}"
    folder = place.copy()
    with open(memory_of(folder), "r+b") as f:
        f.seek(0x1d007)
        byte, = f.read(1)
        f.seek(0x1d007)
        f.write(bytes([byte ^ 1]))
    _, err, status = place.lookup(GUEST, folder)
    if status != 1 or "its code differs at 0x1d007 (" not in err:
        yield f"one bit: {status}: {err}"


def check_named(place):
    """What is a snapshot, or of one, and no guest's ELF."""
    _, err, status = run(place.hlguest, "report", place.whole, MIX)
    if status != 2 or f"use guest.elf@snapshot:{place.whole}" not in err:
        yield f"{status}: {err}"
    for base in "", "@0x4000":
        _, err, status = run(place.hlguest, "report", memory_of(place.whole) + base, MIX)
        if status != 1 or "is the memory of a snapshot" not in err or \
                f"guest.elf@snapshot:{place.whole}" not in err:
            yield f"{base} {status}: {err}"
    _, err, status = place.lookup(GUEST, "/nosuch")
    if status != 1 or "/nosuch: no such file" not in err:
        yield f"{status}: {err}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="snapshot-") as folder:
        place = Place(args.build, folder)
        if "jansson" not in must(place.hlguest, "--version"):
            tap.skip("snapshots", "built without jansson")
            return tap.finish()
        for name, check in (("base and code", check_whole), ("another build's", check_other),
                            ("damaged in one place", check_damaged),
                            ("what may not be read", check_denied),
                            ("given as an ELF", check_named)):
            tap.run(name, lambda c=check: list(c(place)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
