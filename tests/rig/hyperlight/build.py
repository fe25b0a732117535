#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the Hyperlight host and guests, if that can be done here.

    build.py FOLDER     puts all of them there

They are kept in a folder of the user's cache until a source or the compiler changes.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (1, 89)  # rust-version of the crates
TARGET = "x86_64-unknown-linux-gnu"
TIMEOUT = 900
FRAMES = 'build.rustflags=["-Cforce-frame-pointers=yes"]'

# So that an ELF does not tell where it was built.
CARGO_HOME = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
REMAP = f'build.rustflags=["--remap-path-prefix={CARGO_HOME}/registry/src=/cargo",' \
        f'"--remap-path-prefix={HERE}=/rig"]'

# name: (folder of the source, what cargo makes, its options)
PROGRAMS = {
    "rig-host": ("host", "release/rig-host", ["--release"]),
    "guest.elf": ("guest", f"{TARGET}/release/guest", ["--release", "--bin=guest"]),
    # Every sort does its work twice.
    "changed.elf": ("guest", f"{TARGET}/release/guest",
                    ["--release", "--bin=guest", "--features=changed"]),
    "frames.elf": ("guest", f"{TARGET}/release/guest",
                   ["--release", "--bin=guest", "--config", FRAMES]),
    # With DWARF.
    "small.elf": ("guest", f"{TARGET}/lines/small", ["--profile=lines", "--bin=small"]),
}


class Unavailable(Exception):
    """Why nothing can be built here."""


def compiler():
    """What rustc says of itself."""
    if not shutil.which("cargo") or not shutil.which("rustc"):
        raise Unavailable("no Rust: cargo or rustc is not installed")
    done = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=False)
    found = re.search(r"^release: (\d+)\.(\d+)", done.stdout, re.M)
    if not found or tuple(map(int, found.groups())) < OLDEST:
        raise Unavailable("rustc is older than {}.{}".format(*OLDEST))
    if not shutil.which("clang"):
        raise Unavailable("clang is not installed (Hyperlight's C library needs it)")
    return done.stdout


def key():
    """A name for what would be built."""
    digest = hashlib.sha256(compiler().encode())
    for folder, folders, names in os.walk(HERE):
        folders[:] = sorted(name for name in folders if name != "target")
        for name in sorted(names):
            if name.endswith((".rs", ".toml", ".lock")) or name == "build.py":
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    digest.update(os.path.relpath(path, HERE).encode() + b"\0" + f.read())
    return digest.hexdigest()[:16]


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "hlguest", "rig", "hyperlight")


def made(name):
    """The path of one of PROGRAMS, which is built if it was not. Raises Unavailable."""
    folder = os.path.join(cache(), key())
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    source, output, options = PROGRAMS[name]
    # Flags are part of what a folder has been built with: one for each set.
    target = os.path.join(cache(), "target-frames" if FRAMES in options else "target")
    argv = ["cargo", "build", "--quiet", "--locked", "--config", REMAP, "--target-dir", target,
            *options]
    done = subprocess.run(argv, cwd=os.path.join(HERE, source), capture_output=True,
                          text=True, timeout=TIMEOUT, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        said = [line for line in done.stderr.split("\n") if line.startswith("error")]
        raise Unavailable(f"{name} cannot be built: {(said or [done.stderr.strip()])[0]}")
    os.makedirs(folder, exist_ok=True)
    shutil.copyfile(os.path.join(target, output), path + ".new")
    os.chmod(path + ".new", 0o755)
    os.rename(path + ".new", path)
    return path


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in PROGRAMS:
        shutil.copy(made(name), os.path.join(sys.argv[1], name))


if __name__ == "__main__":
    try:
        main()
    except Unavailable as e:
        sys.exit(f"build.py: {e}")
