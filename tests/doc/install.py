#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""It builds and installs with nothing but what README demands, below one's own prefix.

    install.py --build DIR

pkg-config is shown libelf alone, so that neither check nor the optional libraries that it
knows are found, as on the machine of someone who tries hlguest for the first time.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from tap import ROOT, Skip, Tap, parser, run


def libelf_alone(folder):
    """A folder for pkg-config that has libelf in it, and nothing else."""
    where = run("pkg-config", "--variable=pcfiledir", "libelf")[0].strip()
    if not where:
        raise Skip("pkg-config does not know libelf")
    with open(os.path.join(where, "libelf.pc"), encoding="utf-8") as f:
        lines = [line for line in f if not line.startswith("Requires")]
    os.mkdir(folder)
    with open(os.path.join(folder, "libelf.pc"), "w", encoding="utf-8") as f:
        f.writelines(lines)
    return folder


def check(work):
    if not shutil.which("pkg-config"):
        raise Skip("pkg-config is not installed")
    build, prefix = os.path.join(work, "build"), os.path.join(work, "mine")
    env = dict(os.environ, PKG_CONFIG_LIBDIR=libelf_alone(os.path.join(work, "pc")),
               PKG_CONFIG_PATH="")
    env.pop("DESTDIR", None)
    said = ""
    for argv in (["meson", "setup", build, "--prefix", prefix, "-Doptimization=0"],
                 ["ninja", "-C", build], ["meson", "install", "-C", build]):
        done = subprocess.run(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        said += done.stdout
        if done.returncode:
            yield f"{' '.join(argv)}: status {done.returncode}:\n{done.stdout[-2000:]}"
            return
    filter_at = os.path.join(prefix, "lib/perf-core/dlfilters/hlguest.so")
    if "--dlfilter " + filter_at not in said:
        yield f"what to say to perf is not printed: --dlfilter {filter_at}"
    if os.path.exists(os.path.join(build, "tests")):
        yield "tests are built without check"
    with open(os.path.join(build, "meson-logs", "install-log.txt"), encoding="utf-8") as f:
        placed = [line.strip() for line in f if line[0] == "/"]
    for path in [p for p in placed if not (p + "/").startswith(prefix + "/")]:
        yield f"{path}: is installed outside of {prefix}"
    if filter_at not in placed:
        yield f"{filter_at}: is not installed"
    out, err, status = run(os.path.join(prefix, "bin/hlguest"), "--version")
    if status or err or "without" not in out:
        yield f"--version: status {status}: {out}{err}"


def main():
    parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="install-") as work:
        tap.run("with libelf alone, below a prefix of one's own", lambda: list(check(work)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
