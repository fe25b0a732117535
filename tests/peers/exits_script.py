#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest exits against what perf script prints of random tracepoints.

    exits_script.py --build DIR [--seed N] [--seeds N]

Exits, entries and what may lie between come in any order: vCPUs change their thread and
CPU, halves are missing, reasons are of VMX or SVM and also some that nobody knows, fields
stand where no kernel has them. The text that perf script makes of the samples, sorted by
time, is paired by the rule of tools/exits/pair.h: each reason must have the same pairs,
and what is left without its other half must be as many.
"""
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import known_exits as exits
import splice
from tap import Skip, Tap, need, parser, run

LINE = re.compile(r" *(-?\d+)/(-?\d+) +(\d+)\.(\d{9}): +(?:kvm:|syscalls:)?(\w+): +(.*)")
KINDS = ("kvm_exit",) * 5 + ("kvm_entry",) * 5 + (
    "kvm_pio", "kvm_mmio", "kvm_userspace_exit", "sys_enter_ioctl", "kvm_emulate_insn")


def shuffled(rng, file):
    """{event: {field: (offset, size)}}: kvm_exit's and kvm_entry's elsewhere."""
    layout = {}
    for event in ("kvm_exit", "kvm_entry"):
        fields = [(name, size) for name, (_, size) in file.tracing.fields()[event].items()
                  if not name.startswith("common_")]
        rng.shuffle(fields)
        at, layout[event] = 8, {}
        for name, size in fields:
            at += -at % size + size * rng.choice((0, 0, 0, 1))
            layout[event][name] = (at, size)
            at += size
    return layout


def make(path, seed):
    rng, file = random.Random(seed), splice.File()
    if rng.random() < .5:
        file.tracing.change(splice.relayout(shuffled(rng, file)))
    maker, records, now = splice.Maker(file), [], 10 ** 9
    isa = rng.choice((1, 2))
    ips = sum(exits.places().values(), [])
    tasks = [(pid, 10 * pid + i) for pid in range(41, 41 + rng.randint(1, 2))
             for i in range(rng.randint(1, 3))]
    for _ in range(rng.randint(1, 400)):
        now += rng.choice((1, 100, 5000, 10 ** 6))
        event, (pid, tid) = rng.choice(KINDS), rng.choice(tasks)
        vcpu = tid % 10 if rng.random() < .8 else rng.randint(0, 2)
        reason = rng.choice((*exits.REASONS[isa], rng.choice((7, 44, 0x81, 700, 0x402))))
        cpu = tid % 3 if rng.random() < .9 else rng.randint(0, 3)
        records.append((now, cpu, maker.sample(
            event, now, cpu, pid, tid, vcpu_id=vcpu, isa=isa,
            exit_reason=reason, reason=2, errno=0, cmd=exits.KVM_RUN, size=4, count=1,
            guest_rip=rng.choice(ips), rip=rng.choice(ips),
            port=rng.choice((99, 103)), rw=rng.randint(0, 1))))
    file.write(path, splice.rounds(records, 300000, lambda _: rng.randrange(150000)))


def printed(path):
    """(time, tid, event, what is printed) of each sample, by time."""
    out, err, status = run("perf", "script", "--ns", "-F", "pid,tid,time,event,trace",
                           "-i", path)
    if status:
        raise Skip(f"perf script cannot: {err.strip()[-200:]}")
    found = []
    for line in filter(None, out.split("\n")):
        words = LINE.fullmatch(line)
        if not words:
            raise RuntimeError(f"perf script: {line}")
        pid, tid, s, ns, event, text = words.groups()
        found.append((int(s + ns), (int(pid), int(tid)), event, text))
    return sorted(found)


def paired(samples):
    """{reason: [ns]}, exits and entries without their other half, by the rule."""
    pairs, opened, lone = {}, {}, {"exits": 0, "entries": 0}
    for time, task, event, text in samples:
        if event not in ("kvm_exit", "kvm_entry"):
            continue
        vcpu = re.search(r"vcpu (\d+)", text)
        if not vcpu:
            raise Skip("this perf prints no vCPU")
        turn = task, vcpu[1]
        if event == "kvm_exit":
            lone["exits"] += turn in opened
            opened[turn] = time, re.search(r"reason (\S+)", text)[1]
        elif turn in opened:
            start, reason = opened.pop(turn)
            pairs.setdefault(reason, []).append(time - start)
        else:
            lone["entries"] += 1
    lone["exits"] += len(opened)
    return pairs, lone


def compare(build, path, seed):
    make(path, seed)
    pairs, lone = paired(printed(path))
    document = exits.ask(build, path, "--exact")
    rows = exits.tables(document).get(("exit", "reason"), [])
    wrong = exits.compare_rows("reason", rows, pairs, True)
    for key, name in (("exits", "kvm_exit without kvm_entry"),
                      ("entries", "kvm_entry without kvm_exit")):
        if document["excluded"][name] != lone[key]:
            wrong.append(f"{name}: {document['excluded'][name]}, perf's {lone[key]}")
    return [f"seed {seed}: {line}" for line in wrong]


def check(build, folder, seeds):
    need("perf")
    path = os.path.join(folder, "random.data")
    return [line for seed in seeds for line in compare(build, path, seed)]


def main():
    p = parser(__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seeds", type=int, default=15)
    args = p.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        tap.run("random exits", check, args.build, folder,
                range(args.seed, args.seed + args.seeds))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
