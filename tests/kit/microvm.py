# SPDX-License-Identifier: GPL-2.0-only
"""The micro-VM (tests/rig), guests for it (tests/live/guests), and recordings of them with
bases that are known. All raise Skip where something is missing."""
import collections
import functools
import os
import re

from tap import DATA, TESTS, Skip, need, run

PAGE = 0x1000
END = 1 << 47
WINDOW = 64 << 20  # microvm's default --memory
FREQUENCY = 10000
SOURCES = os.path.join(TESTS, "live", "guests")

Sandbox = collections.namedtuple("Sandbox", "tid base")

# Freestanding guests are not the build machine's programs: no part of them is libc's.
FREESTANDING = (
    "-std=gnu11", "-O2", "-static-pie", "-fpie", "-ffreestanding", "-fno-builtin", "-nostdlib",
    "-mgeneral-regs-only", "-mno-red-zone", "-fcf-protection=none", "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,--no-dynamic-linker",
    "-Wl,-z,noexecstack,-z,text",
)
HOSTED = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-static-pie")
RUST = ("--edition", "2021", "-C", "opt-level=2", "-C", "strip=debuginfo",
        "-C", "target-feature=+crt-static", "-C", "relocation-model=pie")

# Name: the command that makes it, and its source here. The others are files already.
BUILT = {
    "holes": ("gcc", *FREESTANDING, "-fno-toplevel-reorder", "holes.c"),
    "wide": ("gcc", *FREESTANDING, "-fno-toplevel-reorder", "-DHOLE=1572864", "holes.c"),
    "sorts": ("gcc", *HOSTED, "sorts.c"),
    "prints": ("gcc", *HOSTED, "prints.c", "-lm"),
    "finds": ("gcc", *HOSTED, "finds.c", "-lm"),
    "words": ("rustc", *RUST, "words.rs"),
}
NAMES = ("demo", "rusty", *BUILT)

# Made by the same commands, not for recording.
TESTING = {
    "calls": ("gcc", *HOSTED, "calls.c"),
    "hostile": ("gcc", *FREESTANDING, "-fno-omit-frame-pointer", "hostile.c"),
    "runs": ("gcc", *FREESTANDING, "runs.c"),
    "tree": ("gcc", *FREESTANDING, "-O0", "-fno-omit-frame-pointer", "tree.c"),
}
# More arguments for tree: no frame pointers, but unwind tables; and every call is one.
TABLES = ("-O1", "-fomit-frame-pointer", "-fasynchronous-unwind-tables")
HOSTED_NAMES = ("sorts", "prints", "finds", "words", "calls")


@functools.lru_cache
def monitor(build, folder):
    """The path of microvm, if it runs here and perf may record it."""
    need("perf")
    tools = os.path.join(os.path.abspath(build), "tests", "rig")
    vm, guest = os.path.join(tools, "microvm"), os.path.join(tools, "demo.elf")
    for path in (vm, guest):
        if not os.path.exists(path):
            raise Skip(f"{path} is not built (x86-64 only)")
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError as e:
        raise Skip(f"/dev/kvm: {e.strerror}")
    _, err, status = run("perf", "record", "-q", "--no-bpf-event", "-B", "-N", "-e",
                         "cpu-clock", "-o", os.path.join(folder, "probe.data"), "true")
    if status:
        lines = err.strip().split("\n")
        raise Skip(f"perf may not record: {lines[0] or 'no reason given'}")
    _, err, status = run(vm, guest)
    if status:
        raise Skip(f"no guest runs here: {err.strip()}")
    return vm


def guest(name, build, folder, *more):
    """The path of a guest's ELF; one that is built lies in folder then. more are more
    arguments of its compiler."""
    if name == "demo":
        return os.path.join(os.path.abspath(build), "tests", "rig", "demo.elf")
    if name == "rusty":
        return os.path.join(DATA, "rusty.elf")
    path = os.path.join(folder, "".join((name, *more, ".elf")))
    if not os.path.exists(path):
        command = (BUILT | TESTING)[name]
        need(command[0])
        _, err, status = run(*command, *more, "-o", path, cwd=SOURCES)
        if status:
            lines = err.strip().split("\n")
            raise Skip(f"{command[0]} cannot build {name}: {lines[-1]}")
    return path


def record(vm, elf, base, seconds, out, *args):
    """Records a guest at a base, or one sandbox at each of a list of bases, into the
    file out. args are more of microvm's. Returns the sandboxes, in the bases' order."""
    bases = base if isinstance(base, (list, tuple)) else [base]
    places = [f"--base={b:#x}" for b in bases]
    _, err, status = run("perf", "kvm", "--guest", "record", "-q", "--no-bpf-event", "-B", "-N",
                         "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", out, "--",
                         vm, f"--seconds={seconds}", f"--sandboxes={len(bases)}",
                         *places, *args, elf)
    lines = re.findall(r"^microvm: sandbox (\d+): tid (\d+), base (0x[0-9a-f]+)$", err, re.M)
    found = [Sandbox(int(tid), int(at, 16)) for _, tid, at in
             sorted(lines, key=lambda line: int(line[0]))]
    if status or [s.base for s in found] != list(bases):
        raise RuntimeError(f"{elf} at {' '.join(places)}: status {status}: {err.strip()}")
    return found


def random_base(rng):
    """Half of them anywhere, half of them with any number of bits."""
    top = END - WINDOW
    if rng.random() < 0.5:
        return rng.randrange(0, top + 1, PAGE)
    bits = rng.randrange(12, 47)
    return min(rng.randrange(1 << bits, 2 << bits), top) // PAGE * PAGE


def apart(count, rng):
    """For the sandboxes of one recording: an address lies in one of them at most."""
    chosen = []
    while len(chosen) < count:
        base = random_base(rng)
        if all(abs(base - other) >= WINDOW for other in chosen):
            chosen.append(base)
    return chosen
