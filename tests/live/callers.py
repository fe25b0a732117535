#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Callers inside guests, live: record --guest-stacks and a guest whose calls are known.

    callers.py --build DIR

Each stack must be a path of the guest's calls (kit/called.py), or say what is missing. Several sandboxes, on threads made
later; a process that runs already; with the host's half; a guest that lies about its frames,
after which the kernel has said nothing and its memory has no program of ours. Skipped where
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
from microvm import guest, monitor
from programs import hlguest_of
from tap import Skip, Tap, environment, mount_tracefs, must, parser, run

SECONDS = 1.5
LEAST = 300
SAID = re.compile(r"^hlguest: (\d+) of (\d+) guest samples have callers, (\d+) up to the "
                  r"outermost$", re.M)
PROGRAM = "hlg_callers_sam"  # as the kernel cuts its name


def record(build, out, *words):
    """(with callers, all guest samples, whole ones), as hlguest says, and all it says."""
    _, err, status = run(hlguest_of(build), "record", "--guest-stacks", "-F", "2000", "-e",
                         "cpu-clock", "-o", out, *words)
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
    saved = os.path.join(folder, "host.pb.gz")
    _, err, status = run(hlguest_of(build), "report", "--format=pprof", "-o", saved,
                         "--border=keep", elf, out)
    if "not in this build" not in err and (status or folded(build, elf, saved) != text):
        yield f"a saved profile has other stacks (status {status}) {err}"


def check_without(build, vm, elf, folder):
    """Of a guest that keeps none it is told, where its ELF is known; of others nothing."""
    out = os.path.join(folder, "without.data")
    told = "callers are missing or wrong"
    for name, expected in ("demo", True), ("tree", False):
        _, err = record(build, out, "--", vm, guest(name, build, folder))
        if (told in " ".join(err.split())) != expected:
            yield f"{name}: {err}"


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
        check("a guest without frame pointers", check_without)
        check("a guest that lies", check_lies, more=("-DLIES",))
        check("killed", check_gone)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
