#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The manual page describes the options that the filter has, and no others.

usage: doc.py --build DIR

Compares name, values and default of every option in `--dlarg help` with the OPTIONS
section of man/hlguest.7. Help has them under headings, the page in an order of its own. The
times of its examples select something.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def helped(build):
    """[(name, value, default)] as the option table prints them."""
    done = subprocess.run(
        [os.path.join(build, "tests", "kit", "fakeperf"), "--arg=help",
         os.path.join(build, "filter", "hlguest.so"), "/dev/null"],
        capture_output=True, text=True, check=True)
    found = re.findall(r"^([a-z-]+)=(\S+)(?:  \(default: (.*)\))?$", done.stdout, re.M)
    return [(name, value, default) for name, value, default in found]


def documented():
    """[(name, value, text)] of the manual page."""
    with open(os.path.join(ROOT, "man", "hlguest.7"), encoding="utf-8") as f:
        page = f.read()
    options = page[page.index(".Sh OPTIONS"):page.index(".Sh FORMATS")]
    found = []
    for head, text in re.findall(r"^\.It Cm (.*? Ns = Ns .*)\n((?:(?!\.It ).*\n)*)", options,
                                 re.M):
        name, value = head.split(" Ns = Ns ")
        value = value.replace(" Ns ", "").replace("Cm ", "").replace("Ar ", "")
        found.append((name, value.replace(" ", ""), " ".join(text.split())))
    return found


def empty_times(build):
    """Of the page's examples with time=: what is said of those that select nothing."""
    with open(os.path.join(ROOT, "man", "hlguest.7"), encoding="utf-8") as f:
        page = f.read()
    words = re.findall(r"time=\S+", page[page.index(".Sh EXAMPLES"):])
    data = os.path.join(ROOT, "tests", "data")
    said = [] if words else ["there is none"]
    for word in words:
        done = subprocess.run(
            [os.path.join(build, "tools", "hlguest"), "report", "--format=folded",
             "--force", "--" + word, "demo.elf", "demo-user.data"],
            capture_output=True, text=True, check=False, cwd=data)
        if done.returncode:
            said.append(done.stderr.strip())
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = os.path.abspath(parser.parse_args().build)
    table, page = sorted(helped(build)), sorted(documented())
    said = empty_times(build)
    failed = bool(said)
    print(f"1..{len(table) + 2}")
    same = [row[0] for row in table] == [row[0] for row in page]
    print("ok" if same else "not ok", "1 - the same options")
    if not same:
        print("# help:", *[row[0] for row in table])
        print("# man: ", *[row[0] for row in page])
        return 1
    for i, ((name, value, default), (_, shown, text)) in enumerate(zip(table, page)):
        word = default.split()[0] if default else ""
        ok = value == shown and word in text
        failed += not ok
        print("ok" if ok else "not ok", i + 2, "-", name)
        if not ok:
            print(f"# help: {value} ({default}); man: {shown}: {text}")
    print("not ok" if said else "ok", f"{len(table) + 2} - times of the examples")
    for line in said:
        print("#", line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
