#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The transcripts in README.md are what the programs print.

usage: readme.py --build DIR [--update]

A transcript is a block that begins with ```console and a line "$ COMMAND". COMMAND is run
in the top folder, with the built `hlguest` in the PATH; of "tools/dev demo" it is the last
step, the filter on the bundled recording. PICTURES are what commands draw, where the host's
libraries are those that were recorded. --update writes all of them anew. Needs a build with libiberty and Zydis, going by HLG_FEATURES.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BLOCK = re.compile(r"(```console\n\$ ([^\n]*)\n)(.*?)(```)", re.S)
PICTURES = {"man/flame.svg": "hlguest flame tests/data/hyperlight/frames.elf "
                             "tests/data/hyperlight/callers/callers.data"}
NEEDED = {"libiberty", "zydis"}


def demo(build):
    so = os.path.join(build, "filter", "hlguest.so")
    return ("perf script -i tests/data/hyperlight/mix.data --dlfilter " + shlex.quote(so) +
            " --dlarg tests/data/hyperlight/guest.elf")


def said(build, command):
    """What a command prints, standard error below standard output, as in a terminal."""
    env = dict(os.environ, PERF_PAGER="cat", PERF_CONFIG="/dev/null", LC_ALL="C")
    env["PATH"] = os.path.join(build, "tools") + os.pathsep + env.get("PATH", os.defpath)
    command = command.replace("tools/dev demo", demo(build))
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=env, capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"readme.py: {command}: exit status {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def check_picture(build, name, command, update):
    """Is a picture what its command draws, and in README.md? None where the host's functions
    have no names."""
    drawn, path = said(build, command), os.path.join(ROOT, name)
    if "is not the file that" in drawn:
        return None
    if update:
        with open(path, "w", encoding="utf-8") as f:
            f.write(drawn)
    with open(path, encoding="utf-8") as kept, \
            open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
        return kept.read() == drawn and f"]({name})" in readme.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    path = os.path.join(ROOT, "README.md")
    missing = NEEDED - {*os.environ.get("HLG_FEATURES", " ".join(NEEDED)).split()}
    if missing:
        print("1..0 # SKIP needs", *sorted(missing))
        return 0
    with open(path, encoding="utf-8") as f:
        text = f.read()
    blocks = list(BLOCK.finditer(text))
    if not any(block.group(2).startswith("tools/dev demo") for block in blocks):
        print("1..1\nnot ok 1 - README.md has a transcript of tools/dev demo")
        return 1
    print(f"1..{len(blocks) + len(PICTURES)}")
    failed, pieces, at = 0, [], 0
    for i, block in enumerate(blocks, 1):
        now = said(build, block.group(2))
        same = args.update or now == block.group(3)
        failed += not same
        print(f"{'ok' if same else 'not ok'} {i} - $ {block.group(2)}")
        for line in () if same else difflib.unified_diff(
                block.group(3).splitlines(), now.splitlines(), "README.md", "now",
                lineterm=""):
            print("#", line)
        pieces += [text[at:block.start(3)], now]
        at = block.end(3)
    for i, (name, command) in enumerate(PICTURES.items(), len(blocks) + 1):
        same = check_picture(build, name, command, args.update)
        failed += same is False
        print(f"{'not ok' if same is False else 'ok'} {i} - {name}" +
              (" # SKIP other libraries than were recorded" if same is None else ""))
    if args.update:
        with open(path, "w", encoding="utf-8") as f:
            f.write("".join(pieces) + text[at:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
