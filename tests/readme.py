#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The transcript in README.md is what the demo prints.

usage: readme.py --build DIR [--update]

Runs the demo's last step, the filter on the bundled recording, and compares it with the
block in README.md that begins with "$ tools/dev demo". --update writes the block anew.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"(```console\n\$ tools/dev demo\n)(.*?)(```)", re.S)


def demo(build):
    env = dict(os.environ, PERF_PAGER="cat", PERF_CONFIG="/dev/null", LC_ALL="C")
    done = subprocess.run(
        ["perf", "script", "-i", "tests/data/demo-user.data",
         "--dlfilter", os.path.join(os.path.abspath(build), "filter", "hlguest.so"),
         "--dlarg", "tests/data/demo.elf"],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"readme.py: perf: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    said = demo(args.build)
    found = BLOCK.search(text)
    print("1..1")
    if not found:
        print("not ok 1 - README.md has a transcript of tools/dev demo")
        return 1
    if args.update:
        text = text[:found.start(2)] + said + text[found.end(2):]
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    elif found.group(2) != said:
        print("not ok 1 - README.md's transcript is what the demo prints")
        for line in difflib.unified_diff(found.group(2).splitlines(), said.splitlines(),
                                         "README.md", "demo", lineterm=""):
            print("#", line)
        return 1
    print("ok 1 - README.md's transcript is what the demo prints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
