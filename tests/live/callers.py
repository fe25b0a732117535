#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Callers inside guests, live: record --guest-stacks and a guest whose calls are known.

    callers.py --build DIR

Each stack must be a path of the guest's calls (kit/called.py), or say what is missing: followed
by frame pointers, or by unwind tables. Several sandboxes, on threads made later, in turn on one
thread, or one after another; a process that runs already, or all; a VMM that dies, and ^C; with
the host's half; a guest that lies about its frames, after which the kernel has said nothing.
Kills are those of harm/faults/kills.py. Skipped where nothing can be recorded so.
"""
import bisect
import collections
import contextlib
import csv
import glob
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import called
from microvm import TABLES, guest, monitor
from programs import hlguest_of
from tap import ALL, Skip, Tap, environment, mount_tracefs, must, parser, run, some

SECONDS = 0.6
LEAST = 200
SAID = re.compile(r"^hlguest: (\d+) of (\d+) guest samples? ha(?:s|ve) callers, (\d+) up to the "
                  r"outermost$", re.M)
NOTHING = ("-O1", "-fomit-frame-pointer")


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


def check_counts(counts, whole, all_of_them=True):
    """All have callers, or some; and those but of deep ones are whole."""
    got, every, outermost = counts
    if not 0 < got <= every or (all_of_them and got != every):
        yield f"{got} of {every} samples have callers"
    if whole and not outermost > 0.7 * got:
        yield f"{outermost} of {got} are whole"


def check_command(build, vm, elf, folder, *words):
    out = os.path.join(folder, "command.data")
    counts, err = record(build, out, "--", vm, f"--seconds={SECONDS}", *words, elf)
    yield from check_counts(counts, True)
    for verb, more in ("flame -o flame.svg", ""), ("report --children", ""), \
            ("annotate", " FUNCTION (its callers, too)"):
        if not re.search(rf"^hlguest: (now| or): hlguest {verb} {re.escape(f'{elf} {out}{more}')}$",
                         err, re.M):
            yield f"{verb}: {err}"
    if os.stat(out).st_mode & 0o777 != 0o600:
        yield f"mode {os.stat(out).st_mode:o}"
    yield from called.check(folded(build, elf, out), LEAST)


def entered(data):
    """{thread: [(time, descriptor)]} of each KVM_RUN."""
    found = collections.defaultdict(list)
    for tid, seconds, ns, fd in re.findall(
            r"^ *(\d+) +(\d+)\.(\d{9}): +syscalls:sys_enter_ioctl: fd: (\w+), cmd: 0x0000ae80,",
            must("perf", "script", "--ns", "-F", "tid,time,event,trace", "-i", data), re.M):
        found[int(tid)].append((int(seconds + ns), int(fd, 16)))
    return found


def check_sandboxes(build, vm, elf, folder):
    """In turn on one thread: each stack's sandbox is the one whose vCPU the thread ran last."""
    mount_tracefs()
    out = os.path.join(folder, "turn.data")
    words = ("--", vm, f"--seconds={SECONDS}", "--sandboxes=3", "--in-turn", elf)
    record(build, out, "--sandboxes", *words)
    runs, found = entered(out), collections.Counter()
    for tid, time, sandbox in called.named(out):
        n = bisect.bisect(runs[tid], (time,))
        found[runs[tid][n - 1][1] if n else -1, sandbox] += 1
    if len(found) != 3 or len({fd for fd, _ in found}) != 3 or len({s for _, s in found}) != 3:
        yield f"(descriptor, sandbox): {found.most_common(9)} of {len(found)}"
    counts, _ = record(build, out, *words)
    text = must(hlguest_of(build), "report", "--format=csv", "--by=sandbox", elf, out)
    samples = [int(r["samples"]) for r in csv.DictReader(io.StringIO(text))
               if r["record"] == "sandbox"]
    if len(samples) != 3 or sum(samples) != counts[0] or min(samples) < counts[0] / 5:
        yield f"{samples[:9]} of {counts[0]} samples with callers"


def check_after(build, vm, elf, folder):
    """One machine after another, each a process of its own."""
    out = os.path.join(folder, "after.data")
    loop = 'for i in 1 2 3 4 5 6; do "$0" --seconds=0.1 "$1"; done'
    record(build, out, "--", "sh", "-c", loop, vm, elf)
    found = {(tid, sandbox) for tid, _, sandbox in called.named(out)}
    if {sandbox for _, sandbox in found} != set(range(1, 7)) or len(found) != 6:
        yield f"(thread, sandbox): {sorted(found)}"


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


def check_everything(build, vm, elf, folder):
    """-a: two VMMs, and one that begins later; those of other tests, too."""
    out = os.path.join(folder, "everything.data")
    words = [vm, "--seconds=30", "--deadline=60", elf]
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment()}
    with contextlib.ExitStack() as stack:
        started = [subprocess.Popen(words, **how) for _ in range(2)]
        for process in started:
            stack.callback(process.kill)
            process.stderr.readline()
        later = f'sleep 0.3; exec "$0" --seconds={SECONDS} "$1"'
        counts, _ = record(build, out, "-a", "--", "sh", "-c", later, vm, elf)
    if not 0.8 * counts[1] < counts[0]:
        yield f"{counts[0]} of {counts[1]} samples have callers"
    found = collections.Counter(tid for tid, _, _ in called.named(out))
    few = [p.pid for p in started if found[p.pid] < LEAST / 3]
    if few or sum(n > LEAST / 3 for n in found.values()) < 3:
        yield f"samples of threads: {found.most_common(9)}, not of {few}"


def check_deaths(build, vm, elf, folder):
    """A VMM that dies by itself, as if it crashed; what it was is recorded."""
    out = os.path.join(folder, "dies.data")
    for name in "SEGV", "KILL":
        _, err, status = run(hlguest_of(build), "record", "--guest-stacks", "-F", "2000", "-e",
                             "cpu-clock", "-o", out, "--", "timeout", "-s", name, "0.7", vm,
                             "--seconds=30", "--sandboxes=2", elf)
        said = SAID.search(err)
        if not status or not said or int(said[1]) < LEAST or said[1] != said[2]:
            yield f"{name}: status {status}: {err}"


def check_interrupt(build, vm, elf, folder):
    """^C ends what has no end; the stacks are there."""
    out = os.path.join(folder, "interrupt.data")
    with subprocess.Popen([vm, "--seconds=30", "--deadline=60", elf], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, env=environment()) as process:
        process.stderr.readline()
        for words in ("-p", str(process.pid)), ("-a",), ("--", vm, "--seconds=30", elf):
            with subprocess.Popen([hlguest_of(build), "record", "--guest-stacks", "-o", out, "-F",
                                   "2000", "-e", "cpu-clock", *words], stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, env=environment(),
                                  start_new_session=True) as recorder:
                time.sleep(2)
                os.killpg(recorder.pid, signal.SIGINT)
                err = recorder.communicate(timeout=30)[1].decode()
            said = SAID.search(err)
            if not said or int(said[1]) < LEAST or int(said[1]) < 0.8 * int(said[2]):
                yield f"{words}: status {recorder.returncode}: {err}"
        process.kill()


def check_host(build, vm, elf, folder):
    """Both halves."""
    mount_tracefs()
    out = os.path.join(folder, "host.data")
    counts, _ = record(build, out, "--stacks", "--", vm, f"--seconds={SECONDS}", elf)
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


def check_tables_everything(build, vm, elf, folder):
    """-a: so is the one that runs, if it is the only one on this machine."""
    out = os.path.join(folder, "everything.data")
    with subprocess.Popen([vm, "--seconds=30", "--deadline=60", elf],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=environment()) as process:
        try:
            process.stderr.readline()
            _, err = record(build, out, "-a", "--", "sleep", str(SECONDS))
            vmms = {path.split("/")[2] for path in glob.glob("/proc/[0-9]*/fd/*")
                    if is_machine(path)}
        finally:
            process.kill()
    if vmms != {str(process.pid)}:
        raise Skip("other guests run here")
    if "by unwind tables, as" not in " ".join(err.split()):
        yield err


def is_machine(path):
    with contextlib.suppress(OSError):
        return os.readlink(path) == "anon_inode:kvm-vm"
    return False


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
    script = ('mount -t tmpfs -o size=1m none "$0" || exit 77; "$@"; status=$?; ls -A "$0"; '
              'exit $status')
    out, err, status = run(
        "unshare", "-m", "sh", "-c", script, place, hlguest_of(build), "record",
        "--guest-stacks=cfi", "-F", "4999", "-e", "cpu-clock", "-o",
        os.path.join(place, "a.data"), "--", vm, f"--seconds={SECONDS}", elf)
    if status == 77 or "unshare" in err:
        raise Skip("no file system can be mounted")
    if "no guest stacks: no room for copied stacks" not in " ".join(err.split()) or status or \
            not re.search(r"\d{3,} guest samples", err):
        yield f"status {status}: {err}"
    if set(out.split()) & {"a.data", "a.data.hlguest"} != {"a.data", "a.data.hlguest"}:
        yield f"left: {out}"


def wide(row):
    """The 99.9 % interval of a row, of its 95 %: two runs have dozens of rows to compare."""
    share, by = row["percent"], 3.29 / 1.96
    return share - by * (share - row["low"]), share + by * (row["high"] - share)


def check_cut(build, vm, elf, folder):
    """What is copied may be less than what the guest has: that is told, and an inclusive
    share is between limits that have the true one."""
    out = os.path.join(folder, "cut.data")
    whole, limits = [], []
    for size in "4K", "64K":
        counts, err = record(build, out, f"--stack-size={size}", "--", vm,
                             f"--seconds={SECONDS}", elf, way="--guest-stacks=cfi")
        whole.append(counts[2] / counts[1])
        if ("copied of the stack ends" in " ".join(err.split())) != (size == "4K"):
            yield f"{size}: {err}"
        limits.append({row["name"]: wide(row) for row in json.loads(must(
            hlguest_of(build), "report", "--children", "--format=json", elf, out))["children"]})
    if not whole[0] < whole[1] - 0.05 or whole[1] < 0.99:
        yield f"whole: {whole}"
    if limits[0]["_start"][1] < 99 or limits[0]["_start"][0] > 95:
        yield f"_start: {limits[0]['_start']}"
    for name, (low, high) in limits[1].items():
        least, most = limits[0].get(name, (0, 100))
        if high < least or low > most:
            yield f"{name}: {least} to {most} when cut, else {low} to {high}"


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
    frames, tables = guest("tree", build, folder), guest("tree", build, folder, *TABLES)
    for path, way, missing, other in (
            (elf, "fp", True, None), (frames, "fp", False, None), (tables, "fp", True, "cfi"),
            (elf, "cfi", True, None), (frames, "cfi", True, "fp"), (tables, "cfi", False, None)):
        _, err = record(build, out, "--", vm, f"--seconds={SECONDS}", path,
                        way=f"--guest-stacks={way}")
        said = " ".join(err.split())
        # What is proposed has it.
        if ("callers are missing" in said) != missing or \
                re.findall(r"use --guest-stacks=(\w+)", said) != [other] * bool(other):
            yield f"{path}, {way}: {err}"
        # Callers that a report leaves out are not what comes next.
        left_out = way == "fp" and missing
        report = must(hlguest_of(build), "report", "--children", path, out)
        _, refusal, _ = run(hlguest_of(build), "diff", "--children", path, out, out)
        next_is = "report --children" in said  # of the few that one table gives, at most
        if next_is and left_out or not next_is and not missing or \
                ("are left out" in report) != left_out or \
                ("keeps no frame pointers" in refusal) != left_out or any(
                    ("record --guest-stacks=cfi" in text) != (left_out and other == "cfi")
                    for text in (report, refusal)):
            yield f"{path}, {way}: {err}{report}{refusal}"


def kernel_says():
    out, _, status = run("dmesg")
    return out.splitlines() if status == 0 else []


def check_lies(build, vm, elf, folder):
    """What tells the truth is right, the rest ends; nothing happens."""
    out = os.path.join(folder, "lies.data")
    before = kernel_says()
    counts, err = record(build, out, "--", vm, f"--seconds={SECONDS}", elf)
    yield from check_counts(counts, False, all_of_them=False)
    if not re.search("ends? early", err):
        yield err
    new = kernel_says()[len(before):]
    yield from (line for line in new if re.search(r"BUG|WARN|Oops|fault|bpf", line))
    for stack, samples in called.parse(folded(build, elf, out)).items():
        if stack[-1] != "lie" and len(stack) > 1 and "lies" not in stack and \
                not called.judge(stack):
            yield f"{samples} samples of {';'.join(stack)}"


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
        check("sandboxes in turn on one thread", check_sandboxes)
        check("one sandbox after another", check_after)
        if ALL:
            check("at a high address", check_command, "--base=0x7f3a51c26000")
        check("a process that runs", check_process)
        check("all processes", check_everything)
        check("a VMM that dies", check_deaths)
        check("^C", check_interrupt)
        check("with the host's half", check_host)
        check("by unwind tables", check_tables, "--guest-stacks", more=TABLES)
        for what, option in some((("by unwind tables, three sandboxes", "--sandboxes=3"),
                                  ("by unwind tables, at a high address",
                                   "--base=0x7f3a51c26000")), 2, 1):
            check(what, check_tables, "--guest-stacks=cfi", option, more=TABLES)
        check("by unwind tables, a process", check_tables_process, more=TABLES)
        check("by unwind tables, all processes", check_tables_everything, more=TABLES)
        check("copies, until they are unwound", check_copies, more=TABLES)
        check("copies on a disk that is full", check_full, more=TABLES)
        check("a stack that is cut", check_cut, more=(*TABLES, "-DLARGE=64"))
        check("a guest without frame pointers", check_without, more=NOTHING)
        check("a guest that lies", check_lies, more=("-DLIES",))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
