#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Golden cases under valgrind: one for each verb and format; a third of them without HLG_ALL.

    golden_valgrind.py --build DIR [CASE...]

The command and the fake perf, with the filter in it, run under valgrind: what it finds
(leaks that are certain among it) is printed where nothing is expected, and ends a command
with status 99. (An executable of its own for each, so that $HLGUEST is one word.)
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from tap import some

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"HLGUEST": "tools/hlguest", "FAKEPERF": "tests/kit/fakeperf"}
CASES = """
annotate annotate-json base-auto-json by-csv-folded by-json cmd-base diff emit-lines-gaps
exits exits-html gaps-stretch hostile-names-text image-aarch64 inject kallsyms lookup lookup-json
map-beside-elf mode-all-json report-calibration report-callgrind stacks-counters
stacks-folded sysprof trust-withheld windows-html windows-svg
""".split()
VALGRIND = ("valgrind --quiet --error-exitcode=99 --leak-check=full "
            "--show-leak-kinds=definite --errors-for-leak-kinds=definite")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", required=True)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("golden_valgrind.py: valgrind is not installed (apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ)
        for name, place in PROGRAMS.items():
            env[name] = os.path.join(folder, os.path.basename(place))
            with open(env[name], "w", encoding="utf-8") as f:
                f.write(f'#!/bin/sh\nexec {VALGRIND} "{os.path.abspath(args.build)}/{place}" "$@"\n')
            os.chmod(env[name], 0o755)
        argv = [sys.executable, os.path.join(HERE, "golden.py"), "--build", args.build]
        return subprocess.run(argv + (args.case or some(CASES, 3)), env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
