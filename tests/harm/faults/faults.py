#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whatever the system refuses, and whenever: no crash, and nothing half done.

    faults.py --build DIR [--all | --times N] [--seed N] [--case TEXT] [--kind TEXT]

Each allocation of a run is let fail in turn, by a library that is preloaded (memory.c),
and each system call that reads or writes, starts a thread or a program, or asks a device, by
a tracer (calls.c): alone and with all behind it, with every error that fits, or done by half. Inputs are cut short while they are read and
while they are mapped. Signals come as each system call begins.

Whatever it was: the command ends by itself, or by the signal that was sent; with one line
of error and status 1, or else with the very same output as ever, or an output that says what
is missing from it. Files are whole or absent, inputs are as they were, and no other file is
left, or, behind kill -9, none that the next run does not remove.

Where there are many calls, some are chosen, by a seed that is told; --all takes all. Every verb
of `hlguest help` has a case, but for those of WITHOUT.
"""
import concurrent.futures
import errno
import gzip
import math
import os
import random
import re
import signal
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import stacked
from bed import LINE, Bed, Case, died
from programs import hlguest_of, program
from tap import DATA, TESTS, Skip, Tap, but_banner, must, parser, run

STACKED = os.path.join(TESTS, "peers", "pprof", "saved-format-4.pb.gz")
OLD = b"what was there before\n"
# Verbs that read with a thread for each CPU.
THREADED = ("report", "annotate", "flame", "diff", "base", "merge")
# Verbs, and why they have no case.
WITHOUT = {"top": "its figures are of the moment, and nothing it shows is kept; what it reads and "
                  "starts is record's and report's"}
# libelf has a variable for each thread. Where it is loaded late, as by fakeperf, libc ends the
# program if there is no memory for that; perf itself is linked with libelf.
NO_THREAD_DATA = "cannot allocate memory for thread-local data: ABORT\n"

with open(os.path.join(DATA, "demo.elf"), "rb") as elf:
    HOST = bytes(4097) + elf.read() + b"behind it"

SAMPLES = """\
event cpu-clock type=1 config=0
8x 5 0x5010 1000000 71 72 0 1000000 cpu-clock
4x 5 0x5064 1000000 71 73 1 2000000 task-clock
3x 2 0x7f0000001000 1000000 71 71 1 3000000 cpu-clock
2x 1 0xffffffff81000000 1000000 71 72 0 4000000 cpu-clock
5 0x9000 1000000 71 74 0 5000000 cpu-clock
"""


def cases(hlguest):
    """What is run. Commands whose libraries are not in this build are left out later."""
    def verb(name, word, *words, **how):
        # By one thread, or the nth call is another each time.
        alone = ["-j1"] if word in THREADED else []
        return Case(name, [hlguest, word, *alone, *words], **how)

    user = ["demo.elf", "demo-user.data"]
    host = ["demo.elf", "demo-host.data"]
    found = [verb(f"report {form}", "report", *user, f"--format={form}", "--out=out", out=True)
             for form in ("text", "csv", "json", "folded", "pprof", "callgrind", "speedscope")]
    found += [
        verb("report to standard output", "report", *user),
        verb("report json to standard output", "report", *user, "--format=json"),
        verb("report of two, found", "report", "demo.elf@auto", "demo-far.data",
             "rusty-user.data", "--by=tid", "--mode=all", "--aliases=yes", "--force=yes",
             "--out=out", inputs=("demo.elf", "demo-far.data", "rusty-user.data"), out=True,
             recordings=2),
        verb("report of two at one base", "report", "guest.elf", "small.elf", "turns.data",
             "--by=sandbox", "--mode=all", "--out=out", out=True,
             inputs=("guest.elf", "small.elf", "turns.data"), recordings=2),
        verb("report stacks", "report", *host, "--stacks=callgraph", "--format=folded",
             "--roots=comm,tid,image,section", "--out=out", out=True,
             inputs=("demo.elf", "demo-host.data")),
        verb("report counters", "report", *host, "--stacks=counters", "--by=tid",
             "--out=out", out=True, inputs=("demo.elf", "demo-host.data")),
        verb("report from a pipe", "report", "rusty.elf", "-", "--out=out", out=True,
             inputs=("rusty.elf", "rusty-user.data"), stdin="rusty-user.data"),
        verb("report of a profile", "report", "demo.elf", "saved.pb.gz", "--out=out", out=True,
             inputs=("demo.elf", "saved.pb.gz")),
        verb("page of a profile", "report", "demo.elf", "saved.pb.gz", "--format=html",
             "--out=out", out=True, inputs=("demo.elf", "saved.pb.gz")),
        verb("merge", "merge", "saved.pb.gz", "saved.pb.gz", "-o", "out", out=True, tells=True,
             inputs=("saved.pb.gz",)),
        verb("report of a profile with stacks", "report", "demo.elf@0x4000", "stacks.pb.gz",
             "--format=pprof", "--out=out", out=True, good=(3,), tells=True,
             inputs=("demo.elf", "stacks.pb.gz")),
        verb("merge with stacks", "merge", "stacks.pb.gz", "stacks.pb.gz", "-o", "out", out=True,
             tells=True, inputs=("stacks.pb.gz",)),
        verb("report callgrind with calls", "report", "demo.elf@0x4000", "calls.data",
             "--format=callgrind", "--out=out", out=True, inputs=("demo.elf", "calls.data")),
        verb("inject callers", "inject", "demo.elf@0x4000", "calls.data", "-o", "out", out=True,
             inputs=("demo.elf", "calls.data")),
        verb("inject", "inject", *user, "-o", "out", out=True),
        verb("inject direct", "inject", "rusty.elf", "rusty-user.data", "--direct", "-o", "out",
             inputs=("rusty.elf", "rusty-user.data"), out=True),
        verb("annotate", "annotate", *user, "--out=out", out=True),
        verb("annotate json", "annotate", *user, "--format=json", "--out=out", out=True),
        verb("flame", "flame", *user, "-o", "out", out=True, tells=True),
        verb("diff", "diff", *user, "demo-host.data", "--out=out", out=True, good=(0, 3, 4), recordings=2,
             inputs=("demo.elf", "demo-user.data", "demo-host.data")),
        verb("exits", "exits", "demo.elf", "demo-exits.data", "--out=out", out=True,
             inputs=("demo.elf", "demo-exits.data")),
        verb("windows", "windows", "-q", "demo.elf", "demo-windows.data", "--out=out", out=True,
             inputs=("demo.elf", "demo-windows.data")),
        verb("page of exits", "exits", "demo.elf", "demo-exits.data", "--format=html", "--out=out",
             out=True, inputs=("demo.elf", "demo-exits.data")),
        verb("page of windows", "windows", "demo.elf", "demo-windows.data", "--format=html",
             "--out=out", out=True, inputs=("demo.elf", "demo-windows.data")),
        verb("page of two", "report", *user, "demo-host.data", "--format=html", "--out=out", out=True,
             inputs=("demo.elf", "demo-user.data", "demo-host.data"), recordings=2),
        verb("sysprof", "sysprof", "stream", "--out=out", out=True, inputs=("stream",)),
        verb("base", "base", "demo.elf", "demo-user.data"),
        # Two: without memory the second is not given either.
        verb("lookup", "lookup", "demo.elf", "5000", "52dc", inputs=("demo.elf",)),
        verb("lookup json", "lookup", "demo.elf", "0x5100", "--format=json",
             inputs=("demo.elf",)),
        verb("lookup by a recording", "lookup", *user, "5000"),
        verb("kallsyms", "kallsyms", "demo.elf", inputs=("demo.elf",)),
        verb("extract", "extract", "-q", "host", "-o", "out", inputs=("host",), out=True),
        verb("extract listed", "extract", "host", inputs=("host",)),
        verb("fleet planned", "fleet", "submit", "--print", "--list=list", "-o", "sum", "demo.elf",
             inputs=("demo.elf", "demo-user.data", "list"), slow=True),
        verb("doctor", "doctor", "demo.elf", "-o", "out", inputs=("demo.elf",), out=True,
             good=(0, 1), varies=True),
        verb("record", "record", "-q", "-e", "cpu-clock", "-o", "out", "--", "true",
             inputs=("demo-user.data",), out=True, tells=True, varies=True, slow=True),
        verb("calibrate", "calibrate", "-q", "--only=exits", "--operations=10", "-o", "out",
             inputs=(), out=True, varies=True, slow=True),
    ]
    return found


def without_case(hlguest, found):
    """Verbs that nothing is refused."""
    words = {case.argv[1] for case in found}
    verbs = [line.split("\t")[1] for line in must(hlguest, "help", "--options").splitlines()
             if line.startswith("verb\t")]
    return [f"{verb} has no case" for verb in verbs if (verb in words) == (verb in WITHOUT)] + \
        ["hlguest help lists no verbs"] * (not verbs)


def filter_cases(build):
    fakeperf = program(build, "FAKEPERF", "tests/kit/fakeperf")
    so = program(build, "PERF_FILTER", "filter/hlguest.so")
    for form in ("text", "json", "folded"):
        for extra in ([], ["--arg=stacks=callgraph"], ["--arg=stacks=counters"]):
            if form == "json" and extra:
                continue
            yield Case(f"filter {form} {' '.join(extra)[6:]}".strip(),
                       [fakeperf, "--verbose", "--arg=demo.elf@0x4000", f"--arg=format={form}",
                        "--arg=by=tid", "--arg=mode=all", "--arg=out=out", *extra, so,
                        "samples.txt"],
                       inputs=("demo.elf", "samples.txt"), out=True)
    yield Case("filter lines", [fakeperf, "--verbose", "--arg=demo.elf@0x4000",
                                "--arg=emit=lines", "--arg=out=out", so, "samples.txt"],
               inputs=("demo.elf", "samples.txt"), out=True)


class Trial:
    """One kind of fault, at one call."""

    def __init__(self, name, before=(), env=None, at=0, sent=None):
        self.name = name
        self.before = list(before)
        self.env = env or {}
        self.at = at
        self.sent = sent  # the signal it may end by

    def __str__(self):
        return f"{self.name} at call {self.at}"


def says_missing(out):
    """Does a report say itself that something is not in it?"""
    if out.startswith(b"\x1f\x8b"):  # a saved profile: its sums are told when it is read
        return any(w in gzip.decompress(out) for w in (b"unrecorded=", b"unnamed="))
    return any(word in out for word in (
        b"out of memory", b"could not be read", b"cannot be read", b"cannot be opened",
        b"[stack not kept]", b" not kept", b"no stack",
        # Of an ELF that could be read in part only: what is not in that part has no check.
        b" tested addresses lie", b" tested samples lie"))


def judge(case, trial, found):
    """Differences from how it is to end."""
    what = f"{trial} ({found.at or 'nowhere'})"
    end = died(found.status)
    if trial.sent and -found.status == trial.sent:
        end = None
    elif end:
        yield f"{what}: {end}: {found.err[-300:]}"
        return
    if case.varies:
        yield from (f"{what}: {w}" for w in judge_varying(case, trial, found))
        return
    yield from (f"{what}: {w}" for w in judge_files(case, trial, found))
    if re.search(rb"^(early|late) .* -\d+$", found.out, re.M):
        yield f"{what}: the sample path fails"
    if found.status == case.right["status"]:
        missing = [n for n in case.right["made"] if found.made.get(n, OLD) == OLD]
        if missing:
            yield f"{what}: status {found.status}, but no {missing}"
        if found.out != case.right["out"] and not is_cut(trial) and \
                not any(says_missing(text) for text in (found.out, *found.made.values())):
            yield f"{what}: status {found.status}, but says otherwise: " \
                  f"{first_difference(case.right['out'], found.out)}"
    elif found.status >= 0 and not said(case, trial, found):
        yield f"{what}: status {found.status}, {found.err!r}"


def judge_varying(case, trial, found):
    """What it finds out is another thing each time, or without what was refused. What a child
    is refused is the child's to tell."""
    # perf ends by the signal that the command hands on, and is told with its status.
    # 127: a program that is looked for where nothing can be read is not found.
    statuses = (0, 1, 2, 3, *([127] if trial.name.startswith("read") else []),
                *([128 + trial.sent] if trial.sent else []))
    if found.status not in statuses and not (trial.sent and found.status < 0):
        yield f"status {found.status}, {found.err!r}"
    if found.status and not found.err and not found.made.get("out") and not trial.sent:
        yield f"status {found.status} without a word"
    out = found.made.get("out", OLD)
    if found.status == 0 and case.out and out == OLD:
        yield "success, but no file"
    # What the perf of this test copies may be cut.
    if out != OLD and not is_cut(trial) and out[-1:] != case.right["made"]["out"][-1:]:
        yield f"out is not whole: {out[-99:]!r}"
    for name in set(found.made) - set(case.right["made"]) - {"out"}:
        if not (trial.sent and is_leftover(name)):
            yield f"leaves {name}"


def judge_files(case, trial, found):
    """A file is whole, or says what it lacks, or is not there, and there is no other."""
    whole = case.right["made"]
    for name, content in found.made.items():
        if name not in whole:
            if not (trial.sent and is_leftover(name)):
                yield f"leaves {name}, {len(content)} bytes"
        elif trial.sent and found.status != case.right["status"] and content == OLD:
            continue
        elif content != whole[name] and not (says_missing(content) or is_cut(trial) or
                                             is_of_others(case, found)):
            yield f"status {found.status}: {name} is not whole: " \
                  f"{first_difference(whole[name], content)}"


def is_of_others(case, found):
    """Of several recordings those that can be read are reported, with status 1."""
    return case.recordings > 1 and found.status == 1 and found.err


def is_leftover(name):
    """Named so that the next run knows it; the folder of inject's companions is used again."""
    return ".out.hlguest-" in name or name.startswith("out.elf/")


def is_cut(trial):
    return " cut to " in trial.name


def said(case, trial, found):
    """Is what went wrong told, in a line for each recording?"""
    if case.name.startswith("filter"):
        statuses = (1, 255)  # of stop() and of start()
    else:
        statuses = (1, 2, 3) if is_cut(trial) or trial.name.startswith("read") else (1,)
    lines = [x for x in but_banner(found.err).splitlines(True) if not x.startswith("Try `")]
    # lookup says what an ELF lacks, and then of which question that was too much.
    lines = [x for x in lines if "warning: " not in x or "could not be read again" not in x]
    if found.status == 3:  # what was read, or what there was memory for, does not fit
        return 3 in statuses or any(says_missing(text) for text in found.made.values())
    if found.status not in statuses:
        return case.name.startswith("filter") and found.err == NO_THREAD_DATA
    if not lines or len(lines) > case.recordings or not all(LINE.fullmatch(x) for x in lines):
        return False
    if trial.name.startswith("memory"):
        return all("out of memory" in x or "too much memory" in x for x in lines)
    return "Success" not in found.err


def first_difference(right, got):
    for a, b in zip(right.split(b"\n"), got.split(b"\n")):
        if a != b:
            return f"{b[:100]!r} for {a[:100]!r}"
    return f"{len(got)} bytes for {len(right)}"


class Kind:
    """A kind of fault: how to count the calls of a case, and to let the nth fail."""

    def __init__(self, name, many, counted, make):
        self.name = name
        self.many = many  # so many are tried of a case
        self.counted = counted  # what is: kinds that have this alike have as many calls
        self.make = make  # n -> Trial


def kinds(bed, case):
    def calls(name, many, klass, action, sent=None, **env):
        once = not sent and not action.startswith("every")
        return Kind(name, many, (klass, action == "short", *env), lambda n: Trial(
            name, [bed.calls, klass, str(n), action, "{told}"],
            {**env, **bed.traced(n and once and not case.varies)}, n, sent))

    def memory(name, many, **how):
        return Kind(name, many, "memory", lambda n: Trial(
            name, env={"FAULT_AT": str(n), "LD_PRELOAD": bed.memory, **how}, at=n))

    if case.name.startswith("filter"):
        source = {"FAULT_FROM": "hlguest.so"}
        return [memory("memory", 20, **source),
                memory("memory from", 5, FAULT_EVERY="1", **source)]
    found = [memory("memory", 10), memory("memory from", 3, FAULT_EVERY="1")]
    if case.varies:  # children would be refused it as well
        found = []
    if not bed.traces:
        return found
    found += [calls("start EAGAIN", 2, "start", f"fail:{errno.EAGAIN}"),
              calls("start EAGAIN from", 1, "start", f"every:{errno.EAGAIN}"),
              calls("ask EPERM", 2, "ask", f"fail:{errno.EPERM}")]
    found += [calls("read EIO", 3, "read", f"fail:{errno.EIO}"),
             calls("read EINTR", 1, "read", f"fail:{errno.EINTR}"),
             calls("short read", 2, "read", "short")]
    if not bed.checks:  # they read what they are to do
        found.append(calls("read EIO from", 2, "read", f"every:{errno.EIO}"))
    for error in ("ENOSPC", "EIO", *(["EPIPE"] if not case.out else [])):
        number = getattr(errno, error)
        found += [calls(f"write {error}", 3, "write", f"fail:{number}"),
                  calls(f"write {error} from", 1, "write", f"every:{number}"),
                  calls(f"write {error} named", 1, "write", f"fail:{number}", CALLS_NAMED="1")]
    found.append(calls("short write", 1, "write", "short"))
    for name in ("SIGINT", "SIGTERM", "SIGKILL"):
        number = getattr(signal, name)
        found += [calls(name, 2, "any", f"signal:{number}", sent=number),
                  calls(f"{name} named", 2, "any", f"signal:{number}", sent=number,
                        CALLS_NAMED="1")]
    for cut in case.inputs:
        for size in (0, os.path.getsize(bed.inputs[cut]) // 2):
            action = f"truncate:{size}:{{place}}/{cut}"
            found.append(calls(f"{cut} cut to {size}", 2, "read", action))
            found.append(calls(f"{cut} cut to {size} when mapped", 1, "map", action))
    return found


def choose(calls, many, chance):
    """Which calls are to fail: each part of the run has some."""
    if many is None or calls <= many:
        return range(1, calls + 1)
    edges = [1 + calls * i // many for i in range(many + 1)]
    return [chance.randrange(a, b) for a, b in zip(edges, edges[1:])]


def one_run(bed, case, trial):
    def one(place):
        found = place.run(case, trial.before, trial.env)
        differences = [] if is_cut(trial) else [
            f"{trial}: {name} is not as it was" for name in place.changed()]
        return found, differences
    return bed.run(one)


def same(case, found):
    """Is it as without a fault?"""
    if case.varies:
        return found.status in case.good and set(found.made) == set(case.right["made"])
    return (found.status, found.out, found.made) == \
        (case.right["status"], case.right["out"], case.right["made"])


def killed(case, trial, place):
    """A file is there before; what is left is cleaned by the next run, and that succeeds."""
    if case.out:
        with open(place.path("out"), "wb") as f:
            f.write(OLD)
    found = place.run(case, trial.before, trial.env, keep=True)
    differences = list(judge(case, trial, found))
    again = place.run(case, env=trial.env)
    if not same(case, again):
        differences.append(f"{trial} ({found.at}): the next run ends with {again.status}, "
                           f"{again.err!r}, {sorted(again.made)}")
    return differences + [f"{trial}: {name} is not as it was" for name in place.changed()]


def one_trial(bed, case, trial):
    if trial.sent:
        return bed.run(lambda place: killed(case, trial, place))
    found, differences = one_run(bed, case, trial)
    return differences + list(judge(case, trial, found))


def learn(bed, case):
    """How it ends without a fault; skips what this build does not have."""
    found, _ = one_run(bed, case, Trial("none"))
    if found.status == 1 and ("not in this build" in found.err or "without" in found.err):
        raise Skip(found.err.strip())
    if found.status not in case.good or (found.err and not case.tells):
        raise RuntimeError(f"status {found.status}: {found.err}")
    case.right = {"status": found.status, "out": found.out, "made": found.made}


def try_all(bed, pool, case, args, chance):
    """(differences, how many runs there were in words)."""
    learn(bed, case)
    differences, done, calls = [], 0, {}
    for kind in (k for k in kinds(bed, case) if args.kind in k.name):
        if kind.counted not in calls:
            calls[kind.counted] = one_run(bed, case, kind.make(0))[0].calls
        many = None if args.all else math.ceil(kind.many * args.times)
        trials = [kind.make(n) for n in choose(calls[kind.counted], many, chance)]
        done += len(trials)
        for wrong in pool.map(lambda t: one_trial(bed, case, t), trials):
            differences += wrong
    return differences, f"{done} runs"


def add_inputs(bed, hlguest):
    """What is not in tests/data."""
    saved, samples = (os.path.join(bed.folder, name) for name in ("saved.pb.gz", "samples.txt"))
    run(hlguest, "report", "demo.elf", "demo-user.data", "--format=pprof", "--out=" + saved,
        cwd=DATA)
    if os.path.exists(saved):  # not in every build
        bed.inputs["saved.pb.gz"] = saved
    with open(samples, "w", encoding="ascii") as f:
        f.write(SAMPLES)
    bed.inputs["samples.txt"] = samples
    for name, content in (("host", HOST), ("list", b"demo-user.data\n")):
        bed.inputs[name] = os.path.join(bed.folder, name)
        with open(bed.inputs[name], "wb") as f:
            f.write(content)
    if os.path.exists(saved):
        bed.inputs["stacks.pb.gz"] = STACKED
    calls = bed.inputs["calls.data"] = os.path.join(bed.folder, "calls.data")
    ips = (0x5010, 0x5064, 0x50a1)
    chains = [(stacked.USER, a, b, c, stacked.TAIL, stacked.WHOLE)
              for a in ips for b in ips for c in ips]
    stacked.recording.write(calls, [(words[1], 7, 1000, 0) for words in chains], chains=chains)


def add_perf(bed):
    """In perf's place, for record: it writes what was recorded."""
    made = os.path.join(bed.folder, "bin")
    os.mkdir(made)
    with open(os.path.join(made, "perf"), "w", encoding="ascii") as f:
        f.write('#!/bin/sh\ncase "$*" in *record*) cat demo-user.data >out ;; esac\n')
    os.chmod(os.path.join(made, "perf"), 0o755)
    bed.env["PATH"] = made + ":" + bed.env["PATH"]


def can_trace(bed):
    """Where tracing is forbidden, as in some containers, only memory is let fail."""
    told = os.path.join(bed.folder, "told")
    return run(bed.calls, "any", "0", "short", told, "true")[2] == 0


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true", help="each call, not some")
    p.add_argument("--times", type=float, default=1, help="so many times as many as in the suite")
    p.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    p.add_argument("--case", default="", help="only commands whose names have this in them")
    p.add_argument("--kind", default="", help="the same for faults")
    args = p.parse_args()
    tap = Tap()
    print(f"# seed {args.seed}")
    chance = random.Random(args.seed)
    workers = os.cpu_count() or 1
    hlguest = hlguest_of(args.build)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, \
            concurrent.futures.ThreadPoolExecutor(workers) as pool:
        bed = Bed(args.build, folder, workers)
        add_inputs(bed, hlguest)
        add_perf(bed)
        bed.open()
        bed.traces = can_trace(bed)
        if not bed.traces:
            tap.skip("system calls", "programs cannot be traced here (ptrace)")
        found = cases(hlguest)
        wrong = without_case(hlguest, found)
        tap.result(not wrong, "every verb has a case", wrong)
        for case in [*found, *filter_cases(args.build)]:
            if args.case not in case.name or case.slow and args.times < 1 and not args.all:
                continue
            bed.tell(tap, case, lambda c: try_all(bed, pool, c, args, chance))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
