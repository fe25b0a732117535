#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stacks, live: the host's half under each guest sample, and host frames as perf names them.

    stacks.py --build DIR

First a busy program of this machine, some 10,000 callchains where it gets its share of the
processors: each stack of `hlguest report
--stacks=callgraph` must be one that perf script shows, a frame that one of the two cannot
resolve agreeing with any. Then the micro-VM: two threads go into KVM_RUN by two paths, and
each guest sample must stand on its own thread's, for the filter as for the command. Without
the tracepoint there is no half, and all samples are orphans and told. Each part is skipped,
with the reason, where it cannot be recorded.
"""
import collections
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from microvm import SOURCES, guest as path_of, monitor
from tap import DATA, Skip, Tap, filter_argv, mount_tracefs, must, need, parser, run

SECONDS = 1.5
PERIOD = 50000  # ns of CPU time
IMAGE = os.path.join(DATA, "demo.elf")  # of the first part: there are no guest samples


def build_busy(folder):
    need("gcc")
    path = os.path.join(folder, "busy")
    _, err, status = run("gcc", "-O1", "-D_GNU_SOURCE", "-fno-omit-frame-pointer",
                         "-fno-optimize-sibling-calls", "-pthread", "-o", path, "busy.c",
                         cwd=SOURCES)
    if status:
        raise Skip(f"gcc cannot build busy.c: {err.strip()}")
    return path


def record_busy(folder):
    path = os.path.join(folder, "busy.data")
    _, err, status = run("perf", "record", "-q", "--no-bpf-event", "-g", "-e", "cpu-clock", "-c",
                         str(PERIOD), "-o", path, "--", build_busy(folder), str(SECONDS))
    if status:
        raise Skip(f"perf may not record: {err.strip()}")
    return path


def perfs_stacks(recording):
    """{(comm, frame, ...): samples}, the caller of all others first."""
    found = collections.Counter()
    out = must("perf", "script", "-i", recording, "-F", "comm,tid,ip,sym", "--no-inline")
    for block in out.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if not lines[0]:
            continue
        frames = [line.split(None, 1)[1] for line in lines[1:]]
        found[(lines[0].rsplit(None, 1)[0].strip(), *reversed(frames))] += 1
    return found


def folded(out):
    found = collections.Counter()
    for line in out.splitlines():
        stack, samples = line.rsplit(" ", 1)
        found[tuple(stack.split(";"))] += int(samples)
    return found


def our_stacks(build, image, recording, *words):
    return folded(must(hlguest_of(build), "report", "--stacks=callgraph", "--format=folded",
                       "--weight=samples", *words, image, recording))


def filters_stacks(build, image, recording, *words):
    return folded(must(*filter_argv(build, recording, image, "stacks=callgraph",
                                    "format=folded", "weight=samples", *words)))


def unresolved(frame):
    return frame.startswith("[")


def agree(a, b):
    return len(a) == len(b) and all(
        x == y or unresolved(x) or unresolved(y) for x, y in zip(a, b))


def pair(left, rest):
    """Gives each sample of left one of rest that it agrees with; what of both stays over.

    Of stacks with unknown frames several may agree with one, so who was first may have to
    take another: augmenting paths (H. W. Kuhn, 1955).
    """
    edges = {stack: [other for other in rest if agree(stack, other)] for stack in left}
    taken = collections.defaultdict(collections.Counter)

    def place(stack, seen):
        for other in edges[stack]:
            if other in seen:
                continue
            seen.add(other)
            if taken[other].total() < rest[other]:
                taken[other][stack] += 1
                return True
            for first in [s for s, n in taken[other].items() if n]:
                if place(first, seen):
                    taken[other][first] -= 1
                    taken[other][stack] += 1
                    return True
        return False

    over = collections.Counter(stack for stack, samples in left.items()
                               for _ in range(samples) if not place(stack, set()))
    return over, rest - collections.Counter({o: t.total() for o, t in taken.items()})


def known(stacks):
    """Frames without a name are alike, whatever each calls them: perf [unknown] where the
    command says [libc.so.6], without the debug symbols of that."""
    found = collections.Counter()
    for stack, samples in stacks.items():
        found[tuple("[unknown]" if unresolved(f) else f for f in stack)] += samples
    return found


def compare(ours, theirs, most):
    """Differences. most: the share of samples whose stacks one may resolve less of."""
    ours, theirs = known(ours), known(theirs)
    if sum(ours.values()) != sum(theirs.values()):
        return [f"{sum(ours.values())} samples, perf has {sum(theirs.values())}"]
    left, rest = ours - theirs, theirs - ours
    over, others = pair(left, rest)
    wrong = [f"{n} on {';'.join(stack)}" for stack, n in over.items()]
    wrong += [f"perf: {n} on {';'.join(stack)}" for stack, n in others.items()]
    vague = left.total() - over.total()
    if vague > most * sum(ours.values()):
        wrong.append(f"{vague} of {sum(ours.values())} only agree in part")
    print(f"# {sum(ours.values())} samples, {len(ours)} stacks; {vague} agree in part")
    return wrong


def as_perf(build, recording):
    return compare(our_stacks(build, IMAGE, recording, "--mode=all"),
                   perfs_stacks(recording), 0.02)


def feeds_agree(build, image, recording):
    """The filter resolves less: perf tells it nothing of user space under the kernel."""
    return compare(our_stacks(build, image, recording, "--mode=all"),
                   filters_stacks(build, image, recording, "mode=all"), 0.5)


def threads(build, folder, vm, image, *words):
    """(recording, {tid: its path into KVM_RUN}) of two sandboxes."""
    path = os.path.join(folder, f"vm{len(words)}.data")
    _, err, status = run(hlguest_of(build), "record", *words, "-F", "2000", "-o", path, "--",
                         vm, f"--seconds={SECONDS}", "--sandboxes=2", image)
    if status and "tracefs" in err or "tracepoints" in err:
        raise Skip(err.strip().split("\n")[-1])
    ways = {1: "enter_odd", 0: "enter_even"}
    found = {tid: ways[int(number) % 2] for number, tid in
             re.findall(r"^microvm: sandbox (\d+): tid (\d+),", err, re.M)}
    if status or len(found) != 2:
        raise RuntimeError(err)
    return path, found


def guest_samples(stacks):
    """[(tid, host frames, samples)] of stacks with roots=tid."""
    return [(stack[0].removeprefix("tid "), stack[1:stack.index("[guest]")], samples)
            for stack, samples in stacks.items() if "[guest]" in stack]


def sandwich(image, found, stacks):
    wrong = []
    seen = collections.Counter()
    for tid, frames, samples in guest_samples(stacks):
        here = [f for f in frames if f.startswith("enter_")]
        seen[tid] += samples
        if here != [found[tid]] or "work" not in frames:
            wrong.append(f"{samples} samples of {tid} on {';'.join(frames)}")
    if sorted(seen) != sorted(found) or min(seen.values()) < 100:
        wrong.append(f"samples of threads: {dict(seen)}")
    print(f"# {image}: {dict(seen)}")
    return wrong


def kernel_named(build, image, recording):
    """perf tells the kernel's build id only if asked, where no host sample is shown."""
    frames = collections.Counter()
    for stack in our_stacks(build, image, recording, "--mode=all"):
        frames.update(f for f in stack if f == "[kernel]" or f.startswith("do_syscall"))
    if readable_kernel() and (frames["[kernel]"] or not frames):
        return [str(dict(frames))]
    return []


def readable_kernel():
    with open("/proc/kallsyms", encoding="ascii") as f:
        return f.readline().split()[0].strip("0")


def orphans(build, image, recording):
    stacks = our_stacks(build, image, recording, "--roots=tid")
    wrong = [f"{samples} samples on {';'.join(frames)}"
             for _, frames, samples in guest_samples(stacks) if frames != ()]
    told = must(hlguest_of(build), "report", "--stacks=callgraph", image, recording)
    number = re.search(r" (\d+) without \(no vCPU entry", told)
    if not number or int(number.group(1)) != sum(stacks.values()) or not sum(stacks.values()):
        wrong += [f"{sum(stacks.values())} samples, told:", told]
    return wrong


def vm_part(tap, build, folder):
    vm, image = monitor(build, folder), path_of("demo", build, folder)
    recording, found = threads(build, folder, vm, image, "--stacks", "--host")
    drawn = folded(must(hlguest_of(build), "flame", "--format=folded", "--weight=samples",
                        "--mode=guest", "--roots=tid", "-o", "-", image, recording))
    for name, stacks in (
            ("flame, without being asked for stacks", drawn),
            ("command", our_stacks(build, image, recording, "--roots=tid")),
            ("filter", filters_stacks(build, image, recording, "roots=tid"))):
        tap.run(f"{name}: each guest sample on its thread's path", sandwich, name, found,
                stacks)
    tap.run("both feeds on the same stacks", feeds_agree, build, image, recording)
    alone, _ = threads(build, folder, vm, image, "--stacks")
    tap.run("the kernel's frames without --host", kernel_named, build, image, alone)
    without, _ = threads(build, folder, vm, image)
    tap.run("without the tracepoint all are orphans", orphans, build, image, without)


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    mount_tracefs()
    with tempfile.TemporaryDirectory(prefix="stacks-") as folder:
        try:
            need("perf")
            recording = record_busy(folder)
            tap.run("host frames are perf's", as_perf, args.build, recording)
            tap.run("host frames of both feeds", feeds_agree, args.build, IMAGE, recording)
        except Skip as e:
            tap.skip("host frames", e)
        try:
            vm_part(tap, args.build, folder)
        except Skip as e:
            tap.skip("guest stacks", e)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
