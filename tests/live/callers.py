#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Callers inside guests, live: record --guest-stacks and a guest whose calls are known.

    callers.py --build DIR

Each stack must be a path of the guest's calls (kit/called.py), or say what is missing: followed
by frame pointers, or by unwind tables. Several sandboxes, on threads made later; a process that
runs already; with the host's half; a guest that lies about its frames, after which the kernel
has said nothing and its memory has no program of ours. Skipped where
nothing can be recorded so.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import called
from microvm import TABLES, guest, monitor
from programs import hlguest_of
from tap import Skip, Tap, environment, mount_tracefs, must, parser, run

SECONDS = 1.5
LEAST = 300
SAID = re.compile(r"^hlguest: (\d+) of (\d+) guest samples have callers, (\d+) up to the "
                  r"outermost$", re.M)
NOTHING = ("-O1", "-fomit-frame-pointer")
PROGRAM = "hlg_callers_sam"  # as the kernel cuts its name


def record(build, out, *words, way="--guest-stacks"):
    """(with callers, all guest samples, whole ones), as hlguest says, and all it says."""
    _, err, status = run(hlguest_of(build), "record", way, "-F", "2000", "-e", "cpu-clock",
                         "-o", out, *words)
    flat = re.search(r"^hlguest: no guest stacks: (.*)", err, re.M)
    if flat:
        raise Skip(flat[1])
    said = SAID.search(err)
    if status or not said:
        raise RuntimeError(f"status {status}: {err}")
    return [int(n) for n in said.groups()], err


def folded(build, elf, out):
    return must(hlguest_of(build), "report", "--format=folded", "--stacks=callgraph",
                "--weight=samples", "--border=keep", elf, out)


def check_counts(counts, whole):
    """All have callers, and those but of deep ones are whole."""
    got, every, outermost = counts
    if got != every:
        yield f"{got} of {every} samples have callers"
    if whole and not outermost > 0.8 * got:
        yield f"{outermost} of {got} are whole"


def check_command(build, vm, elf, folder, *words):
    out = os.path.join(folder, "command.data")
    counts, _ = record(build, out, "--", vm, f"--seconds={SECONDS}", *words, elf)
    yield from check_counts(counts, True)
    if os.stat(out).st_mode & 0o777 != 0o600:
        yield f"mode {os.stat(out).st_mode:o}"
    yield from called.check(folded(build, elf, out), LEAST)


def check_process(build, vm, elf, folder):
    """Those of the first moment, before the program was attached, have none."""
    out = os.path.join(folder, "process.data")
    with subprocess.Popen([vm, "--seconds=30", "--deadline=60", "--sandboxes=2", elf],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment()) as process:
        try:
            process.stderr.readline()
            counts, _ = record(build, out, "-p", str(process.pid), "--", "sleep", str(SECONDS))
        finally:
            process.kill()
    if not 0.8 * counts[1] < counts[0]:
        yield f"{counts[0]} of {counts[1]} samples have callers"
    stacks = called.parse(folded(build, elf, out))
    wrong = {s: n for s, n in stacks.items() if len(s) > 1 and not called.judge(s)}
    yield from (f"{n} samples of {';'.join(s)}" for s, n in wrong.items())


def check_host(build, vm, elf, folder):
    """Both halves."""
    mount_tracefs()
    out = os.path.join(folder, "host.data")
    counts, _ = record(build, out, "-g", "--", vm, f"--seconds={SECONDS}", elf)
    yield from check_counts(counts, True)
    text = folded(build, elf, out)
    yield from called.check(text, LEAST)
    lines = [line for line in text.splitlines() if ";[guest];" in line]
    orphans = [line for line in lines if "hlg_vm_sandbox_run" not in line]
    if len(orphans) > len(lines) / 5:
        yield f"without the host's half: {orphans[:3]}"


def check_tables(build, vm, elf, folder, way, *words):
    """Unwound, as there are no frame pointers: each stack is whole and exact."""
    out = os.path.join(folder, "tables.data")
    counts, err = record(build, out, "--", vm, f"--seconds={SECONDS}", *words, elf, way=way)
    yield from check_counts(counts, True)
    if ("by unwind tables, as" in err) != (way == "--guest-stacks"):
        yield err
    text = folded(build, elf, out)
    yield from called.check(text, LEAST)
    yield from (f"{n} samples of {';'.join(s)}" for s, n in called.parse(text).items()
                if called.judge(s) == "marked")
    copies = [name for name in os.listdir(folder) if name.startswith(".")]
    if copies:
        yield f"left: {copies}"


def check_tables_process(build, vm, elf, folder):
    """Its guest is found among the words of its command."""
    out = os.path.join(folder, "process.data")
    with subprocess.Popen([vm, "--seconds=30", "--deadline=60", elf],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment()) as process:
        try:
            process.stderr.readline()
            counts, err = record(build, out, "-p", str(process.pid), "--", "sleep", str(SECONDS))
        finally:
            process.kill()
    if "by unwind tables, as" not in err or not counts[2] > 0.6 * counts[1]:
        yield err


def copies_of(pid, folder):
    """(mode, bytes) of files without a name in the folder that a process has open."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            if os.readlink(path).startswith(folder) and "(deleted)" in os.readlink(path):
                found = os.stat(path)
                yield found.st_mode & 0o7777, found.st_size
        except OSError:
            pass  # closed meanwhile


def check_copies(build, vm, elf, folder):
    """They lie in a file without a name that only their user can read, and go with us."""
    folder = os.path.join(folder, "copies")
    os.mkdir(folder)
    with subprocess.Popen([hlguest_of(build), "record", "--guest-stacks=cfi", "-q", "-o",
                           os.path.join(folder, "a.data"), "--", vm, "--seconds=5", elf],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment()) as process:
        found, deadline = [], time.monotonic() + 4
        while not any(size for _, size in found) and time.monotonic() < deadline:
            time.sleep(0.1)
            found = list(copies_of(process.pid, os.path.realpath(folder)))
        process.kill()
    if [mode for mode, _ in found] != [0o600] or not found[0][1]:
        yield f"open: {found}"
    if set(os.listdir(folder)) - {"a.data"}:
        yield f"left: {os.listdir(folder)}"


def check_full(build, vm, elf, folder):
    """Without room for them the recording is flat, and whole."""
    place = os.path.join(folder, "full")
    os.mkdir(place)
    script = ('mount -t tmpfs -o size=2m none "$0" || exit 77; "$@"; status=$?; ls -A "$0"; '
              'exit $status')
    out, err, status = run(
        "unshare", "-m", "sh", "-c", script, place, hlguest_of(build), "record",
        "--guest-stacks=cfi", "-F", "2000", "-e", "cpu-clock", "-o",
        os.path.join(place, "a.data"), "--", vm, f"--seconds={SECONDS}", elf)
    if status == 77 or "unshare" in err:
        raise Skip("no file system can be mounted")
    if "no guest stacks: no room for copied stacks" not in " ".join(err.split()) or status or \
            not re.search(r"\d{3,} guest samples", err):
        yield f"status {status}: {err}"
    if set(out.split()) & {"a.data", "a.data.hlguest"} != {"a.data", "a.data.hlguest"}:
        yield f"left: {out}"


def check_cut(build, vm, elf, folder):
    """What is copied may be less than what the guest has: that is told."""
    out = os.path.join(folder, "cut.data")
    whole = []
    for size in "4K", "64K":
        counts, err = record(build, out, f"--stack-size={size}", "--", vm,
                             f"--seconds={SECONDS}", elf, way="--guest-stacks=cfi")
        whole.append(counts[2] / counts[1])
        if ("copied of the stack ends" in " ".join(err.split())) != (size == "4K"):
            yield f"{size}: {err}"
    if not whole[0] < whole[1] - 0.05 or whole[1] < 0.99:
        yield f"whole: {whole}"


def check_without(build, vm, elf, folder):
    """Of a guest that has neither there are no stacks; and where frame pointers are asked for
    all the same, it is told."""
    out = os.path.join(folder, "without.data")
    try:
        _, err = record(build, out, "--", vm, elf)
        yield err
    except Skip as skip:
        if "keep a frame pointer, and most functions have no unwind" not in str(skip):
            raise
    told = "callers are missing or wrong"
    for path, expected in (elf, True), (guest("tree", build, folder), False):
        _, err = record(build, out, "--", vm, path, way="--guest-stacks=fp")
        if (told in " ".join(err.split())) != expected:
            yield f"{path}: {err}"


def kernel_says():
    out, _, status = run("dmesg")
    return out.splitlines() if status == 0 else []


def check_lies(build, vm, elf, folder):
    """What tells the truth is right, the rest ends; nothing happens."""
    out = os.path.join(folder, "lies.data")
    before = kernel_says()
    counts, err = record(build, out, "--", vm, f"--seconds={SECONDS}", elf)
    yield from check_counts(counts, False)
    if "end early" not in err:
        yield err
    new = kernel_says()[len(before):]
    yield from (line for line in new if re.search(r"BUG|WARN|Oops|fault|bpf", line))
    for stack, samples in called.parse(folded(build, elf, out)).items():
        if stack[-1] != "lie" and len(stack) > 1 and "lies" not in stack and \
                not called.judge(stack):
            yield f"{samples} samples of {';'.join(stack)}"


def check_gone(build, vm, elf, folder):
    """Killed at some moments: no program is left, and what is left is a recording or none."""
    if run("bpftool", "version")[2]:
        raise Skip("bpftool is not installed")
    out = os.path.join(folder, "killed.data")
    for wait in (0.05, 0.15, 0.3, 0.6, 1.2):
        with subprocess.Popen([hlguest_of(build), "record", "--guest-stacks", "-q", "-o", out,
                               "--", vm, "--seconds=1", elf], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment()) as process:
            time.sleep(wait)
            process.kill()
    deadline = time.monotonic() + 10
    while PROGRAM in must("bpftool", "prog", "list"):
        if time.monotonic() > deadline:
            yield "a program is left"
            return
        time.sleep(0.1)
    left = set(os.listdir(folder)) - {"killed.data", "killed.data.old", "killed.data.hlguest",
                                      "killed.data.old.hlguest", "killed.data.failed"}
    if any(name.startswith(".killed") for name in left):
        yield f"left: {left}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        def check(what, function, *args, name="tree", more=()):
            def judge():
                vm, elf = monitor(build, folder), guest(name, build, folder, *more)
                return list(function(build, vm, elf, folder, *args))

            tap.run(what, judge)

        check("a command", check_command)
        check("three sandboxes", check_command, "--sandboxes=3")
        check("at a high address", check_command, "--base=0x7f3a51c26000")
        check("a process that runs", check_process)
        check("with the host's half", check_host)
        check("by unwind tables", check_tables, "--guest-stacks", more=TABLES)
        check("by unwind tables, three sandboxes", check_tables, "--guest-stacks=cfi",
              "--sandboxes=3", more=TABLES)
        check("by unwind tables, at a high address", check_tables, "--guest-stacks=cfi",
              "--base=0x7f3a51c26000", more=TABLES)
        check("by unwind tables, a process", check_tables_process, more=TABLES)
        check("copies, until they are unwound", check_copies, more=TABLES)
        check("copies on a disk that is full", check_full, more=TABLES)
        check("a stack that is cut", check_cut, more=(*TABLES, "-DLARGE=64"))
        check("a guest without frame pointers", check_without, more=NOTHING)
        check("a guest that lies", check_lies, more=("-DLIES",))
        check("killed", check_gone)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
