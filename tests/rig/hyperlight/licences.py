#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the licences of all that is linked into a guest, for an ELF that is given away.

    licences.py >FILE

Of a crate that may be had under several, the ones that hold for it are all named; of texts,
Apache's, which is the same everywhere, is written once, and of the others one for each crate
or wording. Rust's own core, alloc and compiler_builtins are in each guest as well.
"""
import collections
import glob
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = "x86_64-unknown-linux-gnu"
NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "COPYRIGHT*", "UNLICENSE*",
         "third_party/picolibc/COPYING.picolibc")


def metadata():
    argv = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={TARGET}"]
    return json.loads(subprocess.run(argv, cwd=os.path.join(HERE, "guest"), check=True,
                                     capture_output=True).stdout)


def linked():
    """The packages that the guest is linked from, by name: what only runs when it is built,
    as a procedural macro does, is none of them."""
    said = metadata()
    packages = {package["id"]: package for package in said["packages"]}
    nodes = {node["id"]: node for node in said["resolve"]["nodes"]}
    todo, seen = [said["resolve"]["root"]], set()
    while todo:
        package = todo.pop()
        kinds = {kind for target in packages[package]["targets"] for kind in target["kind"]}
        if package in seen or "proc-macro" in kinds:
            continue
        seen.add(package)
        todo += [dep["pkg"] for dep in nodes[package]["deps"]
                 if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return sorted((packages[package] for package in seen), key=lambda p: (p["name"], p["version"]))


def texts(package):
    folder = os.path.dirname(package["manifest_path"])
    for name in NAMES:
        for path in sorted(glob.glob(os.path.join(folder, name))):
            with open(path, encoding="utf-8") as f:
                yield "\n".join(line.rstrip() for line in f.read().strip().split("\n"))


def sort_of(text):
    """Apache's text is one, whatever its spaces are; others differ by who holds the rights."""
    return "Apache" if "Apache License" in text[:200] else " ".join(text.split())


def main():
    print("# What the guests here are linked from, and its licences\n\n"
          "The guests themselves: MIT OR Apache-2.0. core, alloc and compiler_builtins of Rust:\n"
          "MIT OR Apache-2.0 (compiler_builtins also holds parts of LLVM's compiler-rt, NCSA).\n")
    users, wording = collections.defaultdict(list), {}
    for package in linked():
        print(f"{package['name']} {package['version']}: {package['license']}")
        for text in texts(package):
            sort = sort_of(text)
            wording.setdefault(sort, text)
            users[sort].append(f"{package['name']} {package['version']}")
    for sort, names in users.items():
        print(f"\n{'=' * 80}\nOf {', '.join(dict.fromkeys(names))}:\n\n{wording[sort]}")


if __name__ == "__main__":
    main()
