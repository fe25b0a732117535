#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where and by whom tests are run changes nothing.

    elsewhere.py --build DIR [MESON-TEST-ARGUMENT...]

The tests once more (symtab, filter and the goldens, the quick ones), in French, half a world
and three quarters of an hour away, from a source tree that cannot be written, as an
ordinary user: root becomes nobody, to whom root's tree is read-only; another user's tree
is made read-only while tests run. Where nobody cannot get at the tree or at what tests are
run with, root runs them, which is said.

Under LC_ALL=fr_FR.UTF-8 a number has a decimal comma and names sort otherwise. perf and
the fake perf do not call setlocale() by themselves, so a small library does, preloaded
into every program; that it works is tested first. Where the locale is not installed it
is built into a temporary folder (LOCPATH), for which Debian's package `locales` is
needed.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from tap import ROOT, TESTS, parser

NAME = "fr_FR.UTF-8"
ZONE = "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45"  # the Chatham Islands
NOBODY = "65534"
DROP = ["setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"]
SUITES = ["--suite", "symtab", "--suite", "filter", "--suite", "golden", "--no-suite", "slow",
          "--no-suite", "tools"]
CONTROL = """
import ctypes
buf = ctypes.create_string_buffer(16)
ctypes.CDLL(None).snprintf(buf, 16, b"%.1f", ctypes.c_double(1.5))
print(buf.value.decode())
"""


def skip(reason):
    print(f"elsewhere.py: {reason}")
    sys.exit(77)


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
    built = os.path.join(build, "tests", "harm", "setlocale.so")
    if os.path.exists(built):
        return shutil.copy(built, folder)
    compiler = shutil.which(os.environ.get("CC") or "cc")
    if not compiler:
        skip("tests/harm/setlocale.so is not built, and there is no compiler")
    library = os.path.join(folder, "setlocale.so")
    source = os.path.join(TESTS, "harm", "setlocale.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def as_other(build):
    """The words that make root nobody; none, with the reason printed, where that fails."""
    if os.getuid() != 0:
        return []
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
        python = next(one["cmd"][0] for one in json.load(f) if one["name"] == "golden")
    tried = f"test -r meson.build && {shlex.quote(python)} -c pass && meson --version"
    why = "setpriv is not installed"
    if shutil.which("setpriv"):
        done = subprocess.run(DROP + ["sh", "-c", tried], cwd=ROOT, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode == 0:
            os.chmod(os.path.join(build, "meson-logs"), 0o1777)
            return DROP
        why = (done.stderr.strip() or ROOT + " cannot be read").split("\n")[0]
    print(f"elsewhere.py: as root, in a tree that can be written: others cannot run it: {why}")
    return []


class ReadOnly:
    """The source tree, where it is the user's own."""

    def __init__(self, build):
        self.root, self.build = ROOT, os.path.realpath(build)

    def folders(self):
        for path, names, _ in os.walk(self.root):
            names[:] = [n for n in names if n != ".git" and
                        not self.build.startswith(os.path.join(path, n) + os.sep)]
            yield path

    def __enter__(self):
        self.changed = [path for path in self.folders() if os.access(path, os.W_OK)
                        and os.getuid() != 0]
        for path in self.changed:
            os.chmod(path, os.stat(path).st_mode & ~0o222)

    def __exit__(self, *_):
        for path in self.changed:
            os.chmod(path, os.stat(path).st_mode | 0o200)


def main():
    p = parser(__doc__)
    p.add_argument("argument", nargs="*")
    args = p.parse_args()
    build = os.path.abspath(args.build)
    with tempfile.TemporaryDirectory(prefix="elsewhere-") as folder:
        os.chmod(folder, 0o755)
        env = dict(os.environ, HLG_TEST_LOCALE=NAME, HLG_TEST_ZONE=ZONE, TZ=ZONE, LC_ALL=NAME,
                   PYTHONUTF8="1", PYTHONDONTWRITEBYTECODE="1", HOME="/nonexistent")
        locpath = find_locale(folder)
        if locpath:
            env["LOCPATH"] = locpath
        env["LD_PRELOAD"] = find_library(build, folder)
        control = subprocess.run(
            [sys.executable, "-S", "-c", CONTROL], env=env, stdout=subprocess.PIPE, check=True,
        ).stdout
        if control != b"1,5\n":
            print(f"elsewhere.py: programs do not run in French: 1.5 is {control.decode()}")
            return 1
        argv = as_other(build) + ["meson", "test", "-C", build, "--no-rebuild", "--logbase",
                                  "elsewhere", "--print-errorlogs"]
        with ReadOnly(build):
            return subprocess.run(argv + (args.argument or SUITES), env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
