#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the Hyperlight host and guests, if that can be done here.

    build.py FOLDER             puts all of them there
    build.py FOLDER VERSION     puts a host of that version of Hyperlight there, which has its
                                guest inside, and the guest

They are kept in a folder of the user's cache until a source or the compiler changes. Tests
take them from there: only where HLG_RIG_BUILD is set, as by tools/dev rig, do these build
what is not there, which takes minutes.
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
TIMEOUT = 3600
FRAMES = 'build.rustflags=["-Cforce-frame-pointers=yes"]'

# So that an ELF does not tell where it was built.
CARGO_HOME = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
REMAP = f'build.rustflags=["--remap-path-prefix={CARGO_HOME}/registry/src=/cargo",' \
        f'"--remap-path-prefix={HERE}=/rig"]'

# name: (folder of the source, what cargo makes, its options)
PROGRAMS = {
    "rig-host": ("host", "release/rig-host", ["--release", "--bin=rig-host"]),
    "guest.elf": ("guest", f"{TARGET}/release/guest", ["--release", "--bin=guest"]),
    # Every sort does its work twice.
    "changed.elf": ("guest", f"{TARGET}/release/guest",
                    ["--release", "--bin=guest", "--features=changed"]),
    "frames.elf": ("guest", f"{TARGET}/release/guest",
                   ["--release", "--bin=guest", "--config", FRAMES]),
    # With DWARF.
    "small.elf": ("guest", f"{TARGET}/lines/small", ["--profile=lines", "--bin=small"]),
}


# With all three guests inside, which are built first.
MANY = ("guest.elf", "changed.elf", "small.elf")
PROGRAMS["many"] = ("host", "release/many", ["--release", "--bin=many"])

# Hosts and guests of several versions: one source (versions/), nothing pinned but Hyperlight.
# Since 0.16 nothing of a guest is missing that has no function of its own for unknown calls;
# since 0.17 a host has a SandboxBuilder.
VERSIONS = ("0.13.1", "0.16.0", "0.17.0", "0.18.0")
GUEST_NEEDS = ("common", "guest", "guest-bin", "guest-macro", "guest-tracing")
MANIFEST = """[package]
name = "{name}"
version = "0.0.0"
edition = "2024"
rust-version = "1.89"

[[bin]]
name = "{name}"
path = "{name}.rs"

[features]
old = []

[profile.release]
panic = "abort"
codegen-units = 1
strip = "debuginfo"

[dependencies]
{needs}
"""


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
    if not os.environ.get("HLG_RIG_BUILD"):
        raise Unavailable(f"{name} is not built yet (tools/dev rig does that, in some minutes)")
    source, output, options = PROGRAMS[name]
    guests = MANY if name == "many" else ()
    env = {f"RIG_GUEST_{n}": made(guest) for n, guest in enumerate(guests, 1)}
    # Flags are part of what a folder has been built with: one for each set.
    target = os.path.join(cache(), "target-frames" if FRAMES in options else "target")
    cargo(name, os.path.join(HERE, source), ["--locked", "--target-dir", target, *options], env)
    keep(os.path.join(target, output), path)
    return path


def cargo(name, folder, options, env=()):
    argv = ["cargo", "build", "--quiet", "--config", REMAP, *options]
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT,
                              check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, **dict(env)})
    except subprocess.TimeoutExpired as e:
        raise Unavailable(f"{name} is not built after {TIMEOUT} s") from e
    if done.returncode:
        said = [line for line in done.stderr.split("\n") if line.startswith("error")]
        raise Unavailable(f"{name} cannot be built: {(said or [done.stderr.strip()])[0]}")


def keep(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path + ".new")
    os.chmod(path + ".new", 0o755)
    os.rename(path + ".new", path)


def crate(folder, name, needs):
    """Writes the crate of one of versions/."""
    os.makedirs(os.path.join(folder, ".cargo"), exist_ok=True)
    shutil.copy(os.path.join(HERE, "versions", name + ".rs"), folder)
    with open(os.path.join(folder, "Cargo.toml"), "w", encoding="utf-8") as f:
        f.write(MANIFEST.format(name=name, needs="\n".join(needs)))


def version(number):
    """Paths of (host, guest) of a version of Hyperlight, built if they were not."""
    kept = os.path.join(cache(), key(), number)
    paths = os.path.join(kept, f"host-{number}"), os.path.join(kept, f"guest-{number}.elf")
    if all(map(os.path.exists, paths)):
        return paths
    if not os.environ.get("HLG_RIG_BUILD"):
        raise Unavailable(f"Hyperlight {number} is not built yet (tools/dev rig does that)")
    guest, host = (os.path.join(cache(), "versions", number, name) for name in ("guest", "host"))
    crate(guest, "guest", [f'hyperlight-{name} = {{ version = "={number}"'
                           + (" }" if name in ("guest-bin", "guest-macro")
                              else ", default-features = false }")
                           for name in GUEST_NEEDS] + ['linkme = "0.3"'])
    shutil.copy(os.path.join(HERE, "guest", ".cargo", "config.toml"), os.path.join(guest, ".cargo"))
    old = ["--features=old"]
    cargo(f"guest {number}", guest, ["--release", *(old if number < "0.16" else ())])
    keep(os.path.join(guest, "target", TARGET, "release", "guest"), paths[1])
    crate(host, "host", [f'hyperlight-{name} = {{ version = "={number}", default-features = false'
                         + (', features = ["kvm"]' if name == "host" else "") + " }"
                         for name in ("host", "common")])
    shutil.copy(paths[1], os.path.join(host, "guest.elf"))
    cargo(f"host {number}", host, ["--release", *(old if number < "0.17" else ())])
    keep(os.path.join(host, "target", "release", "host"), paths[0])
    return paths


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    os.environ["HLG_RIG_BUILD"] = "yes"
    os.makedirs(sys.argv[1], exist_ok=True)
    for path in version(sys.argv[2]) if len(sys.argv) == 3 else map(made, PROGRAMS):
        shutil.copy(path, sys.argv[1])


if __name__ == "__main__":
    try:
        main()
    except Unavailable as e:
        sys.exit(f"build.py: {e}")
