#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest record on this machine, with perf and the micro-VM.

    record.py --build DIR

What the stand-in of the goldens cannot show: that a machine without hardware counters is
told so before perf runs, that perf's own fall back from cycles is told, that calls of KVM
are counted apart from samples of the host, as perf script counts them, and that the command
that comes next works; and that `hlguest -- VMM guest.elf` records and reports. Parts are
skipped, with the reason, where counters are there, where no guest runs or where tracepoints
cannot be recorded.
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from microvm import guest, monitor
from programs import hlguest_of
from recording import write as write_recording
from tap import DATA, environment, mount_tracefs, Skip, Tap, must, need, parser, run

SUMS = re.compile(r"hlguest: (\S+): (\d+) guest samples?, (\d+) of the host, "
                  r"(?:(\d+) (events? of KVM|calls? of KVM), )?(\d+) lost\n")
# perf has no counter and does not put a clock in its place
NO_COUNTER = "no such counter here: this machine has no hardware counters"


def has_counters(folder):
    """perf opens instructions, or fails for another reason than that there are none."""
    need("perf")
    _, err, status = run("perf", "record", "-q", "--no-bpf-event", "-e", "instructions:u", "-o",
                         os.path.join(folder, "probe.data"), "true")
    return not (status and "not supported" in err)


def check_counters(build, folder):
    """Without counters: one line, status 1, no file. With them, perf runs."""
    counters = has_counters(folder)
    path = os.path.join(folder, "counters.data")
    for words, first in ((["-W", "instructions"], "instructions"),
                         (["-W", "cpu-clock,branch-misses:u"], "branch-misses"),
                         (["-W", "{cycles}:S"], "cycles"),
                         (["-e", "cache-misses:G"], "cache-misses"),
                         (["-e", "ref-cycles:G"], "ref-cycles"),
                         (["-e", "cycles:G,instructions:G"], "instructions")):
        _, err, status = run(hlguest_of(build), "record", *words, "-o", path, "--", "true")
        told = err == f"hlguest: {first}: {NO_COUNTER} (try cpu-clock)\n"
        if counters and NO_COUNTER in err:
            yield f"{words}: {err}"
        elif not counters and (not told or status != 1 or os.path.exists(path)):
            yield f"{words}: status {status}, {os.path.exists(path)}: {err}"
    for words, meant in ((["-e", "nosuchevent"], "list shows those that it knows"),
                         (["-e", "kvm:nosuch"], "list shows those that it knows"),
                         (["-W", "cpu-clok"], "list shows all")):
        _, err, status = run(hlguest_of(build), "record", *words, "-o", path, "--", "true")
        if status != 1 or os.path.exists(path) or err.count("\n") != 1 or \
                f"{' '.join(words)}: perf knows no such event" not in err or meant not in err:
            yield f"{words}: status {status}, {os.path.exists(path)}: {err}"
    # What only perf knows it is asked for: its error, and no empty file.
    _, err, status = run(hlguest_of(build), "record", "-e", "nosuch_pmu/event=1/", "-o", path,
                         "--", "true")
    if NO_COUNTER in err or not status or os.path.exists(path):
        yield f"an event of no PMU: status {status}, {os.path.exists(path)}: {err}"


def check_fall_back(build, folder):
    if has_counters(folder):
        raise Skip("there are counters here")
    path = os.path.join(folder, "cycles.data")
    _, err, status = run(hlguest_of(build), "record", "-e", "cycles", "-o", path, "--", "true")
    if status or not re.search(r"^hlguest: cycles: no such counter here: perf sampled by "
                               r"(cpu|task)-clock\S* instead$", err, re.M):
        yield f"status {status}: {err}"
    _, err, status = run(hlguest_of(build), "record", "-e", "cpu-clock", "-o", path, "--",
                         "true")
    if status or "instead" in err:
        yield f"cpu-clock: status {status}: {err}"


def check_full(build, folder):
    """A full disk: the recording is cut off, which is said, and not what to do with it."""
    need("unshare", "perf")
    place = os.path.join(folder, "full")
    os.mkdir(place)
    script = 'mount -t tmpfs -o size=200k none "$0" || exit 77; exec "$@"'
    _, err, status = run(
        "unshare", "-m", "sh", "-c", script, place, hlguest_of(build), "record", "-e", "cpu-clock",
        "-F", "20000", "-o", os.path.join(place, "a.data"), "--", "sh", "-c",
        "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done")
    if status == 77 or "unshare" in err:
        raise Skip("no file system can be mounted")
    if status != 1 or "a.data: is cut off, as the disk is full" not in err or "now:" in err or \
            "on another: hlguest record -o FILE)" not in err or "did a guest run" in err or " 0 lost" in err or \
            not re.search(r" of the host, cut off after [\d.]+ m?s; what came later is lost", err):
        yield f"status {status}: {err}"


def check_full_before(build, folder):
    """One that is full already: perf says nothing then."""
    need("unshare", "perf")
    place = os.path.join(folder, "no-room")
    os.mkdir(place)
    script = ('mount -t tmpfs -o size=64k none "$0" || exit 77; cat /dev/zero >"$0/zeros"; '
              'cd "$0" && exec "$@"')
    for words in [["record", "-e", "cpu-clock", "-o", "a.data"], [os.path.join(DATA, "demo.elf")]]:
        _, err, status = run("unshare", "-m", "sh", "-c", script, place,
                             os.path.abspath(hlguest_of(build)), *words, "--", "true")
        if status == 77 or "unshare" in err:
            raise Skip("no file system can be mounted")
        if not status or "nothing was recorded: the disk is full (make room, or record on " \
                         "another: hlguest record -o FILE)" not in err:
            yield f"{words}: status {status}: {err}"


def check_no_disk(build, folder):
    """/proc has no blocks, and so none that are free: that is no full disk."""
    need("perf")
    path = os.path.join(folder, "no-disk.data")
    os.symlink("/proc/self/mem", path)
    _, err, status = run(hlguest_of(build), "record", "-e", "cpu-clock", "-o", path, "--", "true")
    if not status or "nothing was recorded: perf ended with status" not in err:
        yield f"status {status}: {err}"


def check_limited(build, folder):
    """What ended perf is told, and what may be done of a limit."""
    need("perf")
    _, err, status = run("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", hlguest_of(build), "record",
                         "-e", "cpu-clock", "-o", os.path.join(folder, "limited.data"), "--", "true")
    if status != 128 + signal.SIGXFSZ or \
            "perf was ended: File size limit exceeded (raise ulimit -f)" not in err:
        yield f"status {status}: {err}"


def check_removed(build, folder):
    """In a folder that somebody has removed meanwhile."""
    place = os.path.join(folder, "removed")
    for words in ["record"], ["record", "-o", "a.data"], [os.path.join(DATA, "demo.elf")]:
        os.mkdir(place)
        _, err, status = run("sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', place,
                             os.path.abspath(hlguest_of(build)), *words, "--", "true")
        if status != 1 or "its folder cannot be written" not in err:
            yield f"{words}: status {status}: {err}"


def check_closed(build, folder):
    """Nobody who writes "hlguest -- COMMAND" has named the recording: -o is the report's there."""
    need("unshare", "perf")
    place = os.path.join(folder, "closed")
    os.mkdir(place)
    script = 'mount -t tmpfs -o ro none "$0" || exit 77; cd "$0"; exec "$@"'
    for words, advice in ([os.path.join(DATA, "demo.elf")], "(work in another folder, or hlguest record -o FILE)"), \
            (["record"], "(work in another folder, or hlguest record -o FILE)"), \
            (["record", "-o", "a.data"], "(name another)"):
        _, err, status = run("unshare", "-m", "sh", "-c", script, place,
                             os.path.abspath(hlguest_of(build)), *words, "--", "true")
        if status == 77 or "unshare" in err:
            raise Skip("no file system can be mounted")
        if status != 1 or "its folder cannot be written" not in err or advice not in err:
            yield f"{words}: status {status}: {err}"


def check_compressed(build, folder):
    """-z, and with callers, for which it is written anew: the samples are there."""
    if "libzstd" not in re.sub(r"without [^)]*", "", must(hlguest_of(build), "--version")):
        _, err, status = run(hlguest_of(build), "record", "-z", "--", "true")
        if status != 2 or "reads no compressed recordings" not in err:
            yield f"status {status}: {err}"
        return
    vm, elf = monitor(build, folder), guest("demo", build, folder)
    path = os.path.join(folder, "packed.data")
    for words in ["-z"], ["--compress", "--guest-stacks"]:
        _, err, status = run(hlguest_of(build), "record", "-e", "cpu-clock", *words, "-o", path,
                             "--", vm, "--seconds=0.3", elf)
        found = re.search(r"(\d+) guest samples", err)
        if status or not found or int(found[1]) < 3:
            yield f"{words}: status {status}: {err}"
        elif f" {found[1]} guest samples" not in must(hlguest_of(build), "report", elf, path):
            yield f"{words}: not {found[1]}"
        if words == ["-z"]:
            with open(path, "rb") as f:
                if not f.read(80)[75] & 8:  # feature 27, HEADER_COMPRESSED
                    yield "it is not compressed"


def of_perf(path):
    """(host samples, samples of tracepoints) as perf tells them apart; it shows no guest's."""
    lines = must("perf", "script", "-i", path, "-F", "event").splitlines()
    traced = sum(":" in line.strip().rstrip(":") for line in lines)
    return len(lines) - traced, traced


def check_marks(build, folder, options, word):
    """Host and traced samples are as many as perf has."""
    vm, elf = monitor(build, folder), guest("demo", build, folder)
    path = os.path.join(folder, f"{options.replace('-', '').replace(' ', '-')}.data")
    _, err, status = run(hlguest_of(build), "record", *options.split(), "-o", path, "--", vm,
                         "--seconds=0.5", elf)
    if status and ("tracefs" in err or "tracepoints" in err):
        raise Skip(err.strip().split("\n")[-1])
    found = SUMS.search(err)
    if status or not found or found[5] != word:
        return [f"status {status}: {err}"]
    plain, traced = of_perf(path)
    if int(found[4]) != traced or int(found[3]) != plain or not traced:
        return [f"{found[0]}perf has {plain} and {traced}"]
    return follow(build, folder, err, elf, path)


def check_no_exits(build, folder):
    """Where no guest ran there are no exits to look at next."""
    monitor(build, folder)  # events of KVM may be recorded
    _, err, _ = run(hlguest_of(build), "record", "--exits", "-o", "none.data", "--", "true",
                    cwd=folder)
    if "no guest sample was recorded" not in err or "now: " in err:
        yield err


def follow(build, folder, err, elf, path):
    """The command that comes next names the guest, and works."""
    said = re.search(r"^hlguest: now: hlguest (.*)$", err, re.M)
    words = shlex.split(said[1]) if said else []
    if words[-2:] != [elf, path]:
        return [f"next is {words}, not of {elf} {path}"]
    _, told, status = run(hlguest_of(build), *words, cwd=folder)
    return [f"{words}: status {status}: {told}"] if status else []


def check_stacks(build, folder):
    """The next command shows the VMM's functions with the guest's."""
    wrong = check_marks(build, folder, "-g", "calls of KVM")
    if wrong:
        return wrong
    with open(os.path.join(folder, "flame.svg"), encoding="utf-8") as f:
        picture = f.read()
    return [f"{name} is not in the picture" for name in ("ioctl", "[guest]", "checksum")
            if name not in picture]


def check_together(build, folder):
    """Each reader finds what it needs: callchains at KVM_RUN, exits, whose they are."""
    wrong = check_marks(build, folder, "--exits --stacks --sandboxes", "events of KVM")
    elf = guest("demo", build, folder)
    path = os.path.join(folder, "exits-stacks-sandboxes.data")
    report = must(hlguest_of(build), "report", "--stacks=callgraph", "--by=sandbox", elf, path)
    if " = " not in report or "without (" in report or "== sandbox=1 " not in report:
        wrong.append(report)
    frames = must(hlguest_of(build), "report", "--stacks=callgraph", "--format=folded", elf, path)
    if "ioctl;[guest];hash_block " not in frames:
        wrong.append(frames)
    events = must("perf", "evlist", "-v", "-i", path).splitlines()
    return wrong + [e for e in events if e.startswith("kvm:") and "CALLCHAIN" in e]


def check_sandboxes(build, folder):
    """Two guests in turn on one thread, at one base: each sample is its own sandbox's."""
    wrong = check_marks(build, folder, "--sandboxes", "calls of KVM")
    if wrong:
        return wrong
    vm, path = monitor(build, folder), os.path.join(folder, "turns.data")
    elfs = [guest("demo", build, folder), guest("rusty", build, folder)]
    must(hlguest_of(build), "record", "-q", "--sandboxes", "-o", path, "--", vm, "--seconds=1.5",
         "--sandboxes=2", "--in-turn", "--base=0x4000", *elfs)
    total = 0
    for number, elf in enumerate(elfs, 1):
        said = json.loads(must(hlguest_of(build), "report", "--format=json",
                               f"--sandbox={number}", elf, path))
        guest_samples = said["totals"]["guest"]["samples"]
        total += guest_samples
        if (said["trust"]["verdict"] != "verified" or said["trust"]["boundary"]["off"] or
                said["totals"]["data"]["samples"] or said["totals"]["outside"]["samples"]):
            wrong.append(f"sandbox {number}: {said['trust']}, {said['totals']}")
        if guest_samples < 100 or len(said["sandboxes"]) != 2:
            wrong.append(f"sandbox {number}: {guest_samples} of {said['sandboxes']}")
    both = json.loads(must(hlguest_of(build), "report", "--format=json", *elfs, path))
    if (both["trust"]["verdict"] != "verified" or both["trust"]["boundary"]["off"] or
            both["totals"]["guest"]["samples"] != total or
            [one["image"] for one in both["sandboxes"]] != elfs):
        wrong.append(f"{total} samples of both: {both['totals']}, {both['sandboxes']}")
    return wrong


def check_turns(build, folder):
    """Two ELFs in turn on one thread, recorded without telling when which of them ran: what is
    advised, copied word by word, leads to a report that tells them apart."""
    vm, hlguest = monitor(build, folder), os.path.abspath(hlguest_of(build))
    if "without zydis" in must(hlguest, "--version"):
        raise Skip("nothing tells that they ran in turn")
    place = os.path.join(folder, "in turn")
    os.mkdir(place)
    for name in "demo", "rusty":
        shutil.copy(guest(name, build, folder), os.path.join(place, name + ".elf"))
    shutil.copy(vm, os.path.join(place, "a vmm"))
    words = ["./a vmm", "--seconds=3", "--sandboxes=2", "--in-turn", "--base=0x4000", "demo.elf",
             "rusty.elf"]
    events = ["-e", "cpu-clock,page-faults"]
    for record in (["perf", "record", "-q", "-e", "cpu-clock:HG", "-F", "997", "-o", "perf.data.guest",
                    "--", *words], [hlguest, "record", "-q", *events, "--", *words]):
        must(*record, cwd=place)
        for named in ["demo.elf", "rusty.elf"], ["demo.elf@auto", "rusty.elf@auto"], []:
            if named or record[0] != "perf":
                _, err, status = run(hlguest, "report", *named, cwd=place)
                again = re.search(r"thread \d+ ran demo.elf and rusty.elf in turn.*"
                                  r"\(record anew: hlguest (.*)\)\n", err)
                if status != 1 or not again:
                    return [f"{record} {named}: status {status}: {err}"]
        if again[1] != "record --sandboxes -- " + shlex.join(words):
            return [again[1]]
        _, err, status = run("sh", "-c", f"{shlex.quote(hlguest)} {again[1]}", cwd=place)
        _, out, wrong = follow_on(hlguest, err, place)
        if status or wrong or not re.search(r"^check +OK.*\nsandboxes sandbox 1 \(fd \d+\), demo.elf, "
                                            r"\d+ samples.*\n +sandbox 2 .*, rusty.elf,", out, re.M):
            return [f"{again[1]}: status {status}: {err}{out}{wrong}"]
    # So it is said of exits, wherever tracepoints may be recorded.
    _, _, status = run("perf", "record", "-q", "-e", "cpu-clock:HG,kvm:kvm_exit,kvm:kvm_entry", "-o",
                       "exits.data", "--", *words, cwd=place)
    for at in ("@auto", "@0x4000") if status == 0 else ():
        out, err, status = run(hlguest, "exits", "demo.elf" + at, "rusty.elf" + at, "exits.data", cwd=place)
        if status != 1 or out or "ran demo.elf and rusty.elf in turn" not in err:
            return [f"exits: status {status}: {out}{err}"]
    # Who records them so in the first place needs none of this.
    _, err, status = run(hlguest, "record", "--", *words, cwd=place)
    _, out, wrong = follow_on(hlguest, err, place)
    if status or wrong or not re.search(r"^check +OK", out, re.M) or "rusty.elf, " not in out:
        return [f"by itself: status {status}: {err}{out}{wrong}"]
    return []


def follow_on(hlguest, err, place):
    """The command that comes next, what it prints, and its errors."""
    said = re.search(r"^hlguest: now: hlguest (.*)$", err, re.M)
    out, wrong, _ = run(hlguest, *shlex.split(said[1]), cwd=place) if said else ("", err, 1)
    return said, out, wrong


def check_measure(build, folder):
    """Record and report in one: the same report again from the recording that is kept."""
    vm, elf = monitor(build, folder), guest("demo", build, folder)
    words = ["--format=csv", "--top=3"]
    out, err, status = run(hlguest_of(build), *words, "--", vm, "--seconds=0.5", elf, cwd=folder)
    again = must(hlguest_of(build), "report", *words, elf, cwd=folder)
    if status or out != again or ",hash_block," not in out.replace('"', "") or \
            err.splitlines()[-1] != ("hlguest: perf.data.guest: the recording, kept for hlguest "
                                     "report, annotate, flame"):
        yield f"status {status}: {err}{out}"
    # A short run is said to be one, and what to do, quoted; not with -q.
    os.symlink(vm, os.path.join(folder, "a vm"))
    for quiet in ([], ["-q"]):
        _, err, _ = run(hlguest_of(build), *quiet, "--", "./a vm", "--seconds=0.03", elf, cwd=folder)
        short = re.search(r"only (\d+) guest samples? at 997 a second: the guest ran for about "
                          r"(\d+) ms \(.*hlguest record -F 4999 -- './a vm' ", err)
        if bool(short) == bool(quiet) or short and not 0 <= int(short[2]) - int(short[1]) <= 1:
            yield f"{quiet}: {err}"
    # What is wide is folded at words.
    _, err, _ = run(hlguest_of(build), elf, "--", "true", cwd=folder,
                    env=environment(LINES="24", COLUMNS="80"))
    if any(len(line) > 80 for line in err.splitlines()) or \
            "no guest sample was recorded" not in " ".join(err.split()):
        yield f"not folded: {err}"
    # The command's own status comes first; the report is there all the same.
    script = f"{shlex.quote(vm)} --seconds=0.3 {shlex.quote(elf)}; exit 7"
    out, err, status = run(hlguest_of(build), "-q", "--format=csv", elf, "--", "sh", "-c", script,
                           cwd=folder)
    if status != 7 or "hash_block" not in out or "hlguest:" in err:
        yield f"exit 7: status {status}: {err}{out}"
    # What has no guest sample is no report, and not that of the recording before.
    out, err, status = run(hlguest_of(build), elf, "--", "true", cwd=folder)
    if status != 1 or out or "no guest sample" not in err:
        yield f"no guest: status {status}: {err}{out}"


def check_noted(build, folder):
    """The guest, or the host with it inside, is noted beside the recording, and taken by who
    names none; what was recorded before keeps its own."""
    vm, elf = monitor(build, folder), guest("demo", build, folder)
    place = os.path.join(folder, "noted")
    os.mkdir(place)
    own, host = os.path.join(place, "guest.elf"), os.path.join(place, "my-host")
    for path, parts in ((own, [elf]), (host, [vm, elf])):
        with open(path, "wb") as f:
            for part in parts:
                with open(part, "rb") as of:
                    f.write(of.read())
        os.chmod(path, 0o755)
    hlguest, first = os.path.abspath(hlguest_of(build)), ["--top=1", "--format=text"]
    must(hlguest, "record", "-q", "--", vm, "--seconds=0.3", own, cwd=place)
    # What has no symbols is nothing to report with: the one inside the host counts.
    need("strip")
    must("strip", "-o", own + ".bare", own)
    must(hlguest, "record", "-q", "--", host, "--seconds=0.3", own + ".bare", cwd=place)
    want = sorted(f"perf.data.guest{end}" for end in ("", ".old", ".hlguest", ".old.hlguest"))
    found = sorted(name for name in os.listdir(place) if name.startswith("perf"))
    if found == want[::2] and re.search("without .*jansson", must(hlguest, "--version")):
        raise Skip("this build notes nothing")
    if found != want:
        return [f"there are {found}"]
    wrong = []
    for name, begin in (("perf.data.guest.old", "guest     guest.elf, noted by record, "),
                        ("perf.data.guest", "guest     my-host, the guest inside it, noted by "
                                            "record, ")):
        out, err, status = run(hlguest, "report", *first, name, cwd=place)
        if status or not out.startswith(begin):
            wrong.append(f"{name}: status {status}: {err}{out[:200]}")
    # A verb that takes words of its own; both sides of a comparison.
    for words in (["annotate", "hash_block"], ["diff", "perf.data.guest.old", "perf.data.guest"],
                  ["base"], ["flame", "-o", "f.svg"]):
        _, err, status = run(hlguest, *words, cwd=place)
        if status:
            wrong.append(f"{words}: status {status}: {err}")
    # The ELF that is named counts, whatever is noted; without it what is missing is said.
    os.rename(host, host + ".gone")
    for words, ok, text in ((["report", own], True, ""), (["report"], False, "is not here")):
        _, err, status = run(hlguest, *words, *first, cwd=place)
        if (status == 0) != ok or text not in err:
            wrong.append(f"{words}: status {status}: {err}")
    return wrong


def check_stripped(build, folder):
    """A guest without symbols is noted, too, so that the file it was stripped from is known from
    another build; what to name is told, and before anything runs where that can be known."""
    need("strip")
    vm, hlguest = monitor(build, folder), os.path.abspath(hlguest_of(build))
    place = os.path.join(folder, "stripped")
    os.mkdir(place)
    full, other = guest("sorts", build, folder), guest("sorts", build, folder, "-fno-inline")
    must("strip", "-o", os.path.join(place, "guest.elf"), full)
    vmm = [vm, "--seconds=0.6", "guest.elf"]
    runs = ["sh", "-c", 'touch ran; exec "$@"', "sh", *vmm]
    before = "hlguest: guest.elf: has no symbols"
    name = "(name the file that it was stripped from"
    for words, said in ((["--", *runs], f"{name}: hlguest UNSTRIPPED.elf -- sh ...)"),
                        (["guest.elf", "--", *runs], ", it was stripped (name it as it was built"),
                        (["top", "--stdio", "--", *runs],
                         f"{name}: hlguest top UNSTRIPPED.elf -- sh ...)"),
                        (["top", "--stdio", "guest.elf", "--", *runs], ", it was stripped")):
        _, err, status = run(hlguest, *words, cwd=place)
        if status != 1 or before not in err or said not in err or \
                os.path.exists(os.path.join(place, "ran")):
            yield f"{words}: status {status}: {err}"
    _, err, status = run(hlguest, "record", "-e", "cpu-clock", "--", *vmm, cwd=place)
    if status or f"{before} {name}, to report)\nhlguest: now: hlguest report UNSTRIPPED.elf " \
            "perf.data.guest\n" not in err:
        yield f"record: status {status}: {err}"
    noted = "without jansson" not in must(hlguest, "--version")
    for elf, expected, said in ((full, 0, "check     OK"),
                                (other, 3, "another build ran: guest.elf with build id ")):
        out, err, status = run(hlguest, "report", elf, cwd=place)
        if noted and (status != expected or said not in " ".join(out.split("\n"))):
            yield f"{elf}: status {status}: {err}{out}"
    _, err, status = run(hlguest, "report", cwd=place)
    if noted and (status != 1 or f"{place}/guest.elf: has no symbols, it was stripped" not in err):
        yield f"no ELF: status {status}: {err}"
    # Root does not open what others may write, and does not say to name it either.
    os.chmod(os.path.join(place, "guest.elf"), 0o666)
    none = "had no symbols" if os.geteuid() == 0 else "has no symbols"
    for words, expected, said in ((["report"], 1, none), (["report", other], 3, "")):
        out, err, status = run(hlguest, *words, cwd=place)
        if noted and (status != expected or said not in err or "is not named" in out + err):
            yield f"written by others: {words}: status {status}: {err}{out}"
    # One that has symbols is what counts, as before.
    shutil.copy(full, os.path.join(place, "full.elf"))
    run(hlguest, "record", "-q", "-e", "cpu-clock", "--", *vmm, "full.elf", cwd=place)
    _, err, status = run(hlguest, "report", cwd=place)
    if noted and "has no symbols" in err:
        yield f"with another: status {status}: {err}"


def check_flat(build, folder):
    """Without the right to load BPF programs, or without BPF, it is recorded all the same."""
    need("perf", "setpriv")
    path = os.path.join(folder, "flat.data")
    _, err, status = run("setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin",
                         hlguest_of(build), "record", "--guest-stacks", "-e", "cpu-clock",
                         "-o", path, "--", "sh", "-c", "exit 7")
    lines = re.findall(r"^hlguest: no guest stacks: .* \(.*", err, re.M)
    if "bounding set" in err:
        raise Skip(err.strip())
    if status != 7 or len(lines) != 1 or not os.path.exists(path):
        yield f"status {status}: {err}"
    for words, said in ((["--guest-stacks=lbr"], "no such way"),
                        (["--guest-stacks=cfi", "--stack-size=3K"], "from 4K to 128K"),
                        (["--guest-stacks", "--stack-size=131073"], "from 4K to 128K"),
                        (["--guest-stacks=fp", "--stack-size=8K"], "cfi or auto"),
                        (["--stack-size=8K"], "cfi or auto"),
                        (["--guest-stacks", "-W", "cpu-clock"], "give one"),
                        (["--guest-stacks", "-o", "-"], "give a file")):
        _, err, status = run(hlguest_of(build), "record", *words, "--", "true")
        if status != 2 or said not in err:
            yield f"{words}: status {status}: {err}"
    for words, said in ((["--guest-stacks", "fp", "--", "true"], "use --guest-stacks=fp"),
                        ([os.path.join(DATA, "demo.elf"), "--", "true"],
                         "stands in front of --")):
        _, err, status = run(hlguest_of(build), "record", *words, cwd=folder)
        if status != 2 or said not in err:
            yield f"{words}: status {status}: {err}"


def check_not_allowed(build, folder):
    """Who may read tracefs, but not record tracepoints, is told that before perf runs."""
    need("perf", "setpriv")
    mount_tracefs()
    hlguest, path = hlguest_of(build), os.path.join(folder, "not-allowed.data")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        if int(f.read()) < 0:
            raise Skip("everybody may record tracepoints here")
    for words in (["record", "--exits", "-o", path], ["record", "--stacks", "-o", path],
                  ["record", "--sandboxes", "-o", path], ["top", "--exits", os.path.join(DATA, "demo.elf")]):
        _, err, status = run("setpriv", "--bounding-set=-perfmon,-sys_admin", hlguest, *words, "--",
                             "true")
        if "bounding set" in err:
            raise Skip(err.strip())
        option = next(word for word in words if word.startswith("--"))
        if status != 1 or os.path.exists(path) or err != f"hlguest: {option}: tracepoints may not " \
                "be recorded by this user (as root, or with CAP_PERFMON)\n":
            yield f"{words}: status {status}: {err}"


def check_both(build, folder):
    """-g: stacks of the host and callers in the guest, and a line for what cannot be had."""
    need("unshare")
    mount_tracefs()
    vm, hlguest = monitor(build, folder), hlguest_of(build)
    tree, demo = guest("tree", build, folder), guest("demo", build, folder)
    out = os.path.join(folder, "both.data")
    hidden = ["unshare", "-m", "sh", "-c", "for f in /sys/kernel/tracing /sys/kernel/debug; do "
              '[ ! -d $f ] || mount -t tmpfs nodev $f || exit 99; done; exec "$@"', "sh"]
    no_host, no_callers = "hlguest: no stacks of the host: ", "hlguest: no guest stacks: "
    if run(*hidden, "true")[2]:
        raise Skip("nothing may be mounted")
    _, err, _ = run(hlguest, "record", "--guest-stacks", "-e", "cpu-clock", "-o", out, "--", vm,
                    tree)
    if no_callers in err:
        raise Skip(err.strip())
    for before, to, elf, expected, said, entries, callers in (
            ([], out, tree, 0, [], True, True), ([], out, demo, 0, [no_callers], True, False),
            (hidden, out, tree, 0, [no_host], False, True),
            (hidden, out, demo, 1, [no_callers], False, False),
            ([], "-", tree, 0, [no_callers], False, False)):
        _, err, status = run(*before, hlguest, "record", "-g", "-e", "cpu-clock", "-o", to, "--",
                             vm, "--seconds=0.3", elf)
        if status != expected or \
                [line for line in (no_host, no_callers) if line in err] != said or \
                ("calls of KVM" in err) != entries or (" callers, " in err) != callers:
            yield f"{before} {to} {elf}: status {status}: {err}"


def check_own_callers(build, folder):
    """hlguest --guest-stacks -- VMM guest.elf."""
    vm, tree = monitor(build, folder), guest("tree", build, folder)
    words = ["--stacks=callgraph", "--format=folded", "--", vm, "--seconds=0.5", tree]
    out, err, status = run(hlguest_of(build), "--guest-stacks", *words, cwd=folder)
    if "hlguest: no guest stacks: " in err:
        raise Skip(err.strip())
    if status or "_start;run;again;again " not in out:
        yield f"status {status}: {err}{out}"
    for before in (["--guest-stacks"], ["--children"], ["-g"], ["-g", "callee"]):
        out, err, status = run(hlguest_of(build), *before, *words[2:], cwd=folder)
        if status or not re.search(r"^children .* function$", out, re.M) or \
                ("<- run" in out) != (before[-1] == "callee"):
            yield f"{before}: status {status}: {err}{out}"
    _, err, status = run(hlguest_of(build), "--guest-stacks=none", *words, cwd=folder)
    if status != 2 or "no such way" not in err:
        yield f"status {status}: {err}"


MAPS = ("import mmap, os, sys; f = open(sys.argv[1], 'rb'); "
        "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); os.execv(sys.argv[2], sys.argv[2:])")


def check_builds(build, folder):
    """Another build of the guest is told, though all its samples fit: by its code, if record noted
    that, else by the build id of what a VMM maps."""
    vm, elf = monitor(build, folder), guest("sorts", build, folder)
    noted, mapped = os.path.join(folder, "noted.data"), os.path.join(folder, "mapped.data")
    must(hlguest_of(build), "record", "-q", "-e", "cpu-clock", "-o", noted, "--", vm,
         "--seconds=0.6", elf)
    must("perf", "kvm", "--guest", "record", "-q", "--no-bpf-event", "-d", "--buildid-mmap", "-e",
         "cpu-clock", "-F", "997", "-o", mapped, "--", sys.executable, "-c", MAPS, elf, vm,
         "--seconds=0.6", elf)
    build_id = re.search(r"Build ID: (\w+)", must("readelf", "-n", elf))[1]
    with open(elf, "rb") as f:
        data = f.read()
    unknown = data.replace(b"GNU\0" + bytes.fromhex(build_id), bytes(24))
    code = re.search(r"LOAD +(\S+) \S+ \S+ (\S+) \S+ R E", must("readelf", "-lW", elf))
    last = sum(int(n, 16) for n in code.groups()) - 1
    renamed = data.replace(bytes.fromhex(build_id), bytes(20))

    def changed(content):
        return content[:last] + b"\xf4" + content[last + 1:]

    os.mkdir(os.path.join(folder, "another"))
    another = os.path.join(folder, "another", os.path.basename(elf))
    for recording in noted, mapped:
        for file, content, expected, said in (
                (elf, data, 0, "check     OK"),
                (another, data, 0, "check     OK"),
                (another, data + b"x", 0, "check     OK"),
                # The code that record noted goes before the id.
                (another, renamed, 0, "a build with another build id ran, but its code is the same")
                if recording == noted else
                (another, renamed, 3, "another build ran: sorts.elf with build id " + build_id[:8]),
                (another, changed(renamed), 3,
                 "another build ran: sorts.elf with build id " + build_id[:8]),
                (another, changed(data), 3, "check     WRONG ELF: another build ran")
                if recording == noted else (another, changed(data), 0, "check"),
                (another, unknown, 0, "check     OK"),
                (another, changed(unknown),
                 3 if recording == noted else 0,
                 "check     WRONG ELF: another build ran" if recording == noted else "check")):
            with open(file, "wb") as f:
                f.write(content)
            out, err, status = run(hlguest_of(build), "report", file, recording)
            if status != expected or said not in " ".join(out.split("\n")):
                yield f"{recording}: {said}: status {status}: {err}{out}"
            # Where VM exits are slow, much of so short a run is in the monitor's own stub.
            if said.startswith("another build") and (
                    not re.search(f"^check     WRONG ELF: build id {build_id[:8]} ran, this is "
                                  r"0{8}(; outside the ELF: \d+ of \d+)?$", out, re.M)
                    or "instruction starts" in out):
                yield f"{recording}: another build is not what is said: {out}"


def check_gate(build):
    """It tells, waits for a byte, and becomes the command."""
    for byte, words, expected in ((b"x", ["sh", "-c", "exit 7"], 7), (b"", ["true"], 1),
                                  (b"x", ["nosuchcommand"], 127), (b"x", ["/etc"], 126)):
        done = subprocess.run([hlguest_of(build), "--behind-gate=1,0", *words], input=byte,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=environment())
        if done.returncode != expected or done.stdout != b"\0":
            yield f"{words}: status {done.returncode}: {done.stdout} {done.stderr}"


def must_err(*words):
    """What a command that works says on standard error."""
    _, err, status = run(*words)
    assert status == 0, err
    return err


def check_attached(build, folder):
    """The guest of a VMM that runs already is noted, of one process and of all, if the file is
    to be trusted; and so is the ELF that is named in front of the command."""
    place = os.path.join(folder, "attached")
    os.mkdir(place)
    elf, other, vm = (os.path.join(place, name) for name in ("guest.elf", "other.elf", "vmm"))
    for path, of in ((elf, guest("demo", build, folder)), (other, guest("demo", build, folder)),
                     (vm, monitor(build, folder))):
        shutil.copy(of, path)
    os.chmod(vm, 0o755)
    hlguest = os.path.abspath(hlguest_of(build))
    if "without jansson" in must(hlguest, "--version"):
        raise Skip("this build notes nothing")
    wrong = []
    # The path is the process's, not ours.
    with subprocess.Popen([vm, "--seconds=60", "guest.elf"], cwd=place,
                          stderr=subprocess.DEVNULL) as vmm:
        try:
            for words in ["-p", str(vmm.pid)], ["-a"]:
                out = must_err(hlguest, "record", *words, "-o", f"{folder}/x.data", "--", "sleep",
                               "0.5")
                if f"hlguest: now: hlguest report {elf} {folder}/x.data" not in out:
                    wrong.append(f"{words}: {out}")
                out = must(hlguest, "report", f"{folder}/x.data")
                if not out.startswith("guest     guest.elf, noted by record, "):
                    wrong.append(f"{words}: {out}")
            os.chmod(elf, 0o666)
            os.chmod(vm, 0o777)
            out = must_err(hlguest, "record", "-p", str(vmm.pid), "-o", f"{folder}/x.data", "--",
                           "sleep", "0.5")
            refused = f"hlguest: {vm}: may be written by others than root" in out
            noted = os.path.exists(f"{folder}/x.data.hlguest")
            if (refused, noted) != ((True, False) if os.geteuid() == 0 else (False, True)):
                wrong.append(f"what others may write: {noted} {out}")
        finally:
            vmm.kill()
    os.chmod(elf, 0o644)
    os.chmod(vm, 0o755)
    must(hlguest, "-q", f"{other}@0x4000", "--", vm, "--seconds=0.3", elf, cwd=place)
    out = must(hlguest, "report", cwd=place)
    if not out.startswith("guest     other.elf, noted by record, "):
        wrong.append(f"an ELF in front: {out}")
    return wrong


def check_many(build, folder):
    """More guests than can be noted: that is said."""
    need("perf")
    guests = []
    try:
        for n in range(65):
            elf = shutil.copy(os.path.join(DATA, "demo.elf"),
                              os.path.join(folder, f"many{n}.elf"))
            guests.append(subprocess.Popen(["sh", "-c", "read x", "sh", elf],
                                           stdin=subprocess.PIPE))
        for n, told in (64, 0), (65, 1):
            pids = ",".join(str(child.pid) for child in guests[:n])
            _, err, _ = run(hlguest_of(build), "record", "-p", pids, "-o", f"{folder}/many.data",
                            "--", "sleep", "0.2")
            if err.count("many.data: has more than 64 guests: ") != told or \
                    not SUMS.search(err):
                yield f"{n}: {err}"
    finally:
        for child in guests:
            child.kill()
            child.communicate()


def check_alike(build, folder):
    """Of many processes that run one guest, as of any, it is noted."""
    perf = shutil.which("perf") or need("perf")
    elf = shutil.copy(os.path.join(DATA, "demo.elf"), os.path.join(folder, "alike.elf"))
    os.chmod(elf, 0o644)
    guests = [subprocess.Popen(["sh", "-c", "read x", "sh", elf], stdin=subprocess.PIPE)
              for _ in range(70)]
    write_recording(os.path.join(folder, "alike.data"),
                    [(0x5000, child.pid, 1000, 0) for child in guests])
    tools = os.path.join(folder, "alike")
    os.mkdir(tools)
    with open(os.path.join(tools, "perf"), "w", encoding="ascii") as f:
        f.write(f"""#!/bin/sh
case " $* " in
*" -o of-all.data "*) cp alike.data of-all.data ;;
*) exec {perf} "$@" ;;
esac
""")
    os.chmod(os.path.join(tools, "perf"), 0o755)
    try:
        _, err, status = run(hlguest_of(build), "record", "-a", "-e", "cpu-clock", "-o",
                             "of-all.data", "--", "true", cwd=folder,
                             env=environment(PATH=tools + ":" + os.environ["PATH"]))
    finally:
        for child in guests:
            child.kill()
            child.communicate()
    out, _, _ = run(hlguest_of(build), "report", "of-all.data", cwd=folder)
    if status or "more than" in err or not out.startswith("guest     alike.elf, noted by record"):
        yield f"{status}: {err}{out}"


def check_several(build, folder):
    """Of a host with two guests inside, which may run in turn, each sandbox is recorded where
    that is allowed; of one with a single guest nobody has to pay for that."""
    need("perf")
    data = os.path.join(DATA, "hyperlight")
    parts = [shutil.which("true"), *(os.path.join(data, name)
                                     for name in ("guest.elf", "small.elf"))]
    tools = os.path.join(folder, "stand-in")
    os.mkdir(tools)
    with open(os.path.join(tools, "perf"), "w", encoding="ascii") as f:
        f.write("#!/bin/sh\necho \"$@\"\n")
    os.chmod(os.path.join(tools, "perf"), 0o755)
    probe = run("perf", "record", "-q", "--no-bpf-event", "-e", "syscalls:sys_enter_ioctl", "-o",
                os.path.join(folder, "probe.data"), "true")
    for n in 2, 1:
        host = os.path.join(folder, f"host{n}")
        with open(host, "wb") as f:
            for part in parts[:1 + n]:
                with open(part, "rb") as g:
                    f.write(g.read())
        os.chmod(host, 0o755)
        out, _, _ = run(hlguest_of(build), "--", host, cwd=folder,
                        env=environment(PATH=tools + ":" + os.environ["PATH"]))
        if ("cmd == 0xae41" in out) != (n == 2 and probe[2] == 0) or not out.startswith("record "):
            yield f"{n} guests, {probe[2]}: {out}"
    yield from check_named(build, folder, tools, probe[2] == 0)


def check_named(build, folder, tools, allowed):
    """The same of record by itself, of guests that the command names or has inside, or that are
    named in front of it; a line says so, and where it cannot be, why."""
    hlguest = os.path.abspath(hlguest_of(build))
    one, two = (shutil.copy(os.path.join(DATA, "hyperlight", name), folder)
                for name in ("guest.elf", "small.elf"))
    os.chmod(one, 0o644)  # as root believes of a process that names them
    os.chmod(two, 0o644)
    wasm = [os.path.join(DATA, "wasm", name) for name in ("runs.elf", "module.cwasm")]
    bare = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel && exec "$@"', "sh"]
    if run(*bare, "true")[2]:
        bare = None
    vmms = [subprocess.Popen(["sh", "-c", "read x", "sh", *elfs], stdin=subprocess.PIPE)
            for elfs in ((one, two), (one,))]
    try:
        yield from check_each(hlguest, folder, tools, allowed, bare, (
            (True, ["record", "-p", str(vmms[0].pid)]),
            (False, ["record", "-p", str(vmms[1].pid)]),
            (True, ["record", "--", "true", one, "--kernel=" + two]),
            (True, ["record", "--", os.path.join(folder, "host2")]),
            (True, ["record", "-q", "--", "true", one, two]),
            (False, ["record", "--", "true", one, one]),
            (False, ["record", "--", os.path.join(folder, "host1")]),
            (False, ["record", "--", "true", *wasm]),
            (True, [one, two, "--", "true"]), (False, [one, "--", "true"])))
    finally:
        for vmm in vmms:
            vmm.kill()
            vmm.communicate()


def check_each(hlguest, folder, tools, allowed, bare, cases):
    """Of a command line, whether sandboxes are recorded where they can be; and what is said of
    that here, and where bare leaves the command no tracefs."""
    recorded = "several guests may run in turn: --sandboxes is on, to know which one each sample is of"
    refused = "several guests may run in turn, and which one each sample is of cannot be recorded: "
    for several, words in cases:
        for before in ([], bare) if bare else ([],):
            out, err, _ = run(*before, hlguest, *words, cwd=folder,
                              env=environment(PATH=tools + ":" + os.environ["PATH"]))
            can, says = allowed and not before, words[0] == "record" and "-q" not in words
            if ("cmd == 0xae41" in out) != (several and can) or not out.startswith("record ") or \
                    (recorded in err) != (several and can and says) or \
                    (refused in err) != (several and not can and says):
                yield f"{before} {words}: {out}{err}"
            elif before and several and says and refused + "--sandboxes: tracefs is not " \
                    "mounted (as root: mount -t tracefs nodev /sys/kernel/tracing)\n" not in err:
                yield f"{before} {words}: {err}"


def check_accesses(build, folder):
    """A recording of what guests leave for is worth keeping, and is no host's; accesses of devices
    alone may be of a guest that nothing else was seen of, and are not."""
    with open(os.path.join(folder, "perf"), "w", encoding="ascii") as f:
        f.write('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp new.data "$2"\n')
    os.chmod(os.path.join(folder, "perf"), 0o755)
    for event, kept in (("kvm:kvm_exit", True), ("kvm:kvm_pio", False), ("kvm:kvm_mmio", False),
                        ("kvm:kvm_userspace_exit", True), ("sched:sched_switch", False)):
        hits = b"".join(forged.hit(bytes(16), 7, 7, 1 + i) for i in range(3))
        with open(os.path.join(folder, "new.data"), "wb") as f:
            f.write(forged.traced(hits, event.encode(), {}))
        for name in "r", "r.old":
            shutil.copy(os.path.join(folder, "new.data"), os.path.join(folder, name))
        _, err, status = run(hlguest_of(build), "record", "-e", "x", "-o", "r", "-a", cwd=folder,
                             env=environment(PATH=folder + ":" + os.environ["PATH"]))
        aside = [name for name in os.listdir(folder) if name.endswith(".failed")]
        if status or "r: 0 guest samples, 0 of the host, 0 lost" not in err or bool(aside) == kept:
            yield f"{event}: status {status}, {aside}: {err}"
        for name in aside:
            os.unlink(os.path.join(folder, name))


def check_at_once(build, folder):
    """Of two that record into one file the second is refused, and the first reports its own run;
    so it is with callers, for which the recording is written anew. Where a perf of somebody's
    takes the name, that is said, and nothing is reported."""
    vm, hlguest = monitor(build, folder), os.path.abspath(hlguest_of(build))
    demo, tree = guest("demo", build, folder), guest("tree", build, folder)
    place = os.path.join(folder, "at-once")
    os.mkdir(place)
    refused = ("perf.data.guest: another hlguest records into it, or reports it (let that end, or "
               "work in another folder, or hlguest record -o FILE)")
    for first in ["--", vm, "--seconds=2", demo], ["--guest-stacks", "--", vm, "--seconds=2", tree], \
            ["record", "-e", "cpu-clock", "--", vm, "--seconds=2", demo]:
        with subprocess.Popen([hlguest, *first], cwd=place, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, env=environment()) as one:
            while one.poll() is None and not os.path.exists(
                    os.path.join(place, "perf.data.guest")):
                time.sleep(0.01)
            for second in ["--", vm, demo], ["record", "-e", "cpu-clock", "--", "true"]:
                out, err, status = run(hlguest, *second, cwd=place)
                if status != 1 or refused not in " ".join(err.split()) or out:
                    yield f"{first} {second}: status {status}: {out}{err}"
            _, err, status = run(hlguest, "record", "-e", "cpu-clock", "-o", "other", "--", "true",
                                 cwd=place)
            out, said = one.communicate()
        if status or "other: 0 guest samples" not in err:
            yield f"another file: status {status}: {err}"
        if one.returncode or not re.search(r"^recorded  (1\.[89]|2\.[0-9]) s|[0-9]{3,} guest "
                                           r"samples, ", out + said, re.M):
            yield f"{first}: status {one.returncode}: {said}{out}"
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))
    yield from check_taken(hlguest, place, vm, demo)


def check_taken(hlguest, place, vm, demo):
    """A perf that knows of no lock takes the name."""
    for words in ["--", vm, "--seconds=1", demo], \
            ["record", "-e", "cpu-clock", "--", vm, "--seconds=1", demo]:
        with subprocess.Popen([hlguest, *words], cwd=place, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, env=environment()) as one:
            taken = os.path.join(place, "perf.data.guest")
            while one.poll() is None and not (os.path.exists(taken) and os.path.getsize(taken)):
                time.sleep(0.01)
            must("perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data.guest", "true",
                 cwd=place)
            out, err = one.communicate()
        if one.returncode != 1 or out or "perf.data.guest: another recording took this name " \
                "meanwhile; this one is perf.data.guest.old, " not in " ".join(err.split()):
            yield f"{words}: status {one.returncode}: {err}{out}"
        out, _, status = run(hlguest, "report", demo, "perf.data.guest.old", cwd=place)
        if status or not re.search(r"^recorded  (0\.9|1\.[0-9]) s", out, re.M):
            yield f"{words}: what is kept: status {status}: {out}"
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        tap.run("counters that are not there", lambda: list(check_counters(build, folder)))
        tap.run("perf's clock in place of cycles",
                lambda: list(check_fall_back(build, folder)))
        tap.run("calls of KVM are no host samples, and flame is next",
                lambda: check_stacks(build, folder))
        tap.run("events of KVM are no host samples, and exits is next",
                lambda: check_marks(build, folder, "--exits", "events of KVM"))
        tap.run("exits of no guest", lambda: list(check_no_exits(build, folder)))
        os.mkdir(os.path.join(folder, "accesses"))
        tap.run("a recording of accesses alone",
                lambda: list(check_accesses(build, os.path.join(folder, "accesses"))))
        tap.run("a full disk", lambda: list(check_full(build, folder)))
        tap.run("a disk that is full before", lambda: list(check_full_before(build, folder)))
        tap.run("no disk at all", lambda: list(check_no_disk(build, folder)))
        tap.run("a limit ends perf", lambda: list(check_limited(build, folder)))
        tap.run("a folder that is removed", lambda: list(check_removed(build, folder)))
        tap.run("a folder that is closed", lambda: list(check_closed(build, folder)))
        tap.run("compressed", lambda: list(check_compressed(build, folder)))
        tap.run("without guest stacks", lambda: list(check_flat(build, folder)))
        tap.run("without the right to tracepoints",
                lambda: list(check_not_allowed(build, folder)))
        tap.run("stacks of both", lambda: list(check_both(build, folder)))
        tap.run("the gate", lambda: list(check_gate(build)))
        tap.run("exits, stacks and sandboxes go together",
                lambda: check_together(build, folder))
        tap.run("sandboxes in turn are told apart", lambda: check_sandboxes(build, folder))
        tap.run("two ELFs that ran in turn are recorded anew", lambda: check_turns(build, folder))
        tap.run("two at once", lambda: list(check_at_once(build, folder)))
        tap.run("record and report in one", lambda: list(check_measure(build, folder)))
        tap.run("with callers", lambda: list(check_own_callers(build, folder)))
        tap.run("builds that ran", lambda: list(check_builds(build, folder)))
        tap.run("of several guests each sandbox is recorded",
                lambda: list(check_several(build, folder)))
        tap.run("the guest is noted beside the recording", lambda: check_noted(build, folder))
        tap.run("a guest without symbols", lambda: list(check_stripped(build, folder)))
        tap.run("more guests than can be noted", lambda: list(check_many(build, folder)))
        tap.run("many processes with one guest", lambda: list(check_alike(build, folder)))
        tap.run("the guest of a VMM that runs already", lambda: check_attached(build, folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
