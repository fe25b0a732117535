#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The locale changes nothing: all golden cases once more, in French.

    french.py --build DIR [CASE...]

Under LC_ALL=fr_FR.UTF-8 a number has a decimal comma and names sort otherwise. perf and
the fake perf do not call setlocale() by themselves, so a small library does, preloaded
into every program; that it works is tested first. Where the locale is not installed it
is built into a temporary folder (LOCPATH), for which Debian's package `locales` is
needed.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # this folder is the source's
from tap import TESTS, parser

NAME = "fr_FR.UTF-8"
CONTROL = """
import ctypes
buf = ctypes.create_string_buffer(16)
ctypes.CDLL(None).snprintf(buf, 16, b"%.1f", ctypes.c_double(1.5))
print(buf.value.decode())
"""


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def find_locale(folder):
    """LOCPATH for the locale, or None when the system has it."""
    if not shutil.which("locale"):
        skip("the program `locale` is not installed")
    known = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, check=False).stdout
    if NAME.lower().replace("-", "") in known.decode().lower().replace("-", "").split():
        return None
    if not shutil.which("localedef"):
        skip(f"{NAME} is not there, nor localedef to build it")
    built = subprocess.run(
        ["localedef", "-i", "fr_FR", "-f", "UTF-8", os.path.join(folder, NAME)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
    )
    if not os.path.exists(os.path.join(folder, NAME, "LC_NUMERIC")):
        skip(f"{NAME} cannot be built (Debian: apt install locales): "
             + built.stderr.decode("utf-8", "replace").strip().split("\n")[0])
    return folder


def find_library(build, folder):
    """The library, where any user can read it: built with the rest, else built here."""
    built = os.path.join(build, "tests", "setlocale.so")
    if os.path.exists(built):
        return shutil.copy(built, folder)
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if not compiler:
        skip("tests/setlocale.so is not built, and there is no compiler")
    library = os.path.join(folder, "setlocale.so")
    source = os.path.join(TESTS, "perf", "setlocale.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def main():
    p = parser(__doc__)
    p.add_argument("case", nargs="*")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="french-") as folder:
        os.chmod(folder, 0o755)
        env = dict(os.environ, HLG_TEST_LOCALE=NAME)
        locpath = find_locale(folder)
        if locpath:
            env["LOCPATH"] = locpath
        env["LD_PRELOAD"] = find_library(args.build, folder)
        control = subprocess.run(
            [sys.executable, "-S", "-c", CONTROL], env=dict(env, LC_ALL=NAME),
            stdout=subprocess.PIPE, check=True,
        ).stdout
        if control != b"1,5\n":
            print(f"1..1\nnot ok 1 - programs run in French\n# 1.5 is {control.decode()}")
            return 1
        golden = [os.path.join(TESTS, "golden.py"), "--build", args.build] + args.case
        return subprocess.run([sys.executable] + golden, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
