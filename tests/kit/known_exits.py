# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of exits whose pairs are known, and how what hlguest exits says is compared.

splice.py makes them: two vCPUs that move between CPUs, in the order perf writes them.
"""
import bisect
import json
import os
import random
import re

import splice
from programs import hlguest_of
from tap import DATA, Skip, must, run

ELF = os.path.join(DATA, "demo.elf")
BASE = 0x4000
FUNCTIONS = ("hash_block", "checksum_words", "unrolled_rounds", "debug_print")
PAIRS = 5000
REASONS = {1: {12: "HLT", 30: "IO_INSTRUCTION", 48: "EPT_VIOLATION", 10: "CPUID",
               1: "EXTERNAL_INTERRUPT", 32: "MSR_WRITE"},
           2: {0x78: "hlt", 0x7b: "io", 0x400: "npf", 0x72: "cpuid", 0x60: "interrupt",
               0x7c: "msr"}}
IO = {30, 0x7b}
ISAS = {1: "VMX", 2: "SVM"}
PORTS = {99: "Log", 101: "host call", 108: "Halt", 0x3f8: "0x3f8"}
HALT = 108  # ends a call of a Hyperlight guest: what follows is the host's own time
PID, TIDS = 4711, (4712, 4713)
KVM_RUN = 0xae80


def places(elf=ELF, functions=FUNCTIONS, every=None):
    """{function: the addresses of its instructions in the guest}. every: how long each is."""
    code = must("objdump", "-d", "--no-show-raw-insn", elf) if not every else ""
    starts = sorted(int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):\t", code, re.M))
    found = {}
    for line in must("nm", "-S", elf).splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in functions:
            first, size = int(words[0], 16), int(words[1], 16)
            own = range(first, first + size, every) if every else \
                starts[bisect.bisect_left(starts, first):bisect.bisect_left(starts, first + size)]
            found[words[3]] = [BASE + at for at in own]
    return found


class Known:
    """What goes into a recording, and what must come out."""

    elf, user_reason, port_names = ELF, "KVM_EXIT_IO", PORTS

    def __init__(self, seed, isa, layout, lose, pairs=PAIRS, halts=True):
        self.random = random.Random(seed)
        self.isa, self.lose = ISAS[isa], lose
        self.reasons, self.io = REASONS[isa], IO
        self.exit_values = lambda reason, ip, vcpu: {
            "exit_reason": reason, "guest_rip": ip, "isa": isa, "vcpu_id": vcpu}
        self.build(splice.relayout(layout), places(), pairs, halts)

    def build(self, change, functions, pairs, halts):
        self.ports = [port for port in self.port_names if halts or port != HALT]
        self.file = splice.File()
        self.file.tracing.change(change)
        self.make = splice.Maker(self.file)
        self.places = functions
        self.records = []  # (time, cpu, bytes)
        self.pairs = []    # (reason, function, port, tid, ns)
        self.vmm = []      # (port, ns)
        self.lone = {"exits": 0, "entries": 0, "lost": 0}
        self.guest = 0
        for vcpu, tid in enumerate(TIDS):
            self.run(vcpu, tid, pairs // len(TIDS))
        self.records.sort(key=lambda r: r[0])
        self.between = [p for p in self.pairs if p[2] == HALT]
        self.pairs = [p for p in self.pairs if p[2] != HALT]
        self.vmm = [p for p in self.vmm if p[0] != HALT]

    def add(self, event, time, cpu, tid, **values):
        self.records.append((time, cpu, self.make.sample(event, time, cpu, PID, tid,
                                                         **values)))

    def leave(self, pair, start, end, cpu, tid):
        """What is between an exit and its entry."""
        reason, _, port, _, ns = pair
        if reason not in self.io:
            return
        user, back = start + ns // 4, end - ns // 4
        self.write_port(port, start + ns // 8, cpu, tid)
        self.add("kvm_userspace_exit", user, cpu, tid, reason=self.user_number, errno=0)
        self.flush(port, user, back, cpu, tid)
        self.add("sys_enter_ioctl", back, cpu, tid, cmd=KVM_RUN, fd=6)
        self.vmm.append((port, back - user))

    user_number = 2  # KVM_EXIT_IO

    def write_port(self, port, time, cpu, tid):
        self.add("kvm_pio", time, cpu, tid, rw=1, port=port, size=4, count=1)

    def flush(self, port, user, back, cpu, tid):
        """What the VMM does behind a write before it goes on."""

    def run(self, vcpu, tid, n):
        rng, time, cpu = self.random, 10 ** 9 + vcpu * 137, vcpu
        entered = None
        for i in range(n):
            time += rng.randrange(200, 40000)  # in the guest
            name = rng.choice(list(self.places))
            first = self.places[name][0]
            reason = rng.choice(list(self.reasons))
            ns = int(rng.lognormvariate(8, 1.5)) + 16
            port = rng.choice(self.ports) if reason in self.io else None
            pair = (reason, name, port, tid, ns)
            gone = rng.randrange(40) if self.lose and 10 < i < n - 10 else None
            exit_time, exit_cpu = time, cpu
            if gone == 1 and i > self.after:  # the exit is missing
                self.lone["entries"] += 1
                entered = None
                time += ns
                self.after = i + 2
            else:
                if entered is not None:
                    self.guest += time - entered
                self.add("kvm_exit", time, cpu, tid, **self.exit_values(
                    reason, rng.choice(self.places[name]), vcpu))
                time += ns
                if gone == 2 and i > self.after:  # the entry is
                    self.lone["exits"] += 1
                    entered, self.after = None, i + 2
                    continue
                self.pairs.append(pair)
                self.leave(pair, exit_time, time, exit_cpu, tid)
                if rng.randrange(10) == 0:
                    cpu ^= 1
            self.add("kvm_entry", time, cpu, tid, vcpu_id=vcpu, rip=first, vcpu_pc=first)
            entered = time

    after = 0

    def write(self, path, every=300000):
        rng = self.random
        records = splice.rounds(self.records, every, lambda _: rng.randrange(every // 2))
        self.file.write(path, records)


class Arm(Known):
    """Of KVM on arm64, as its kernel's formats are: no vCPU's number, ports that are words of
    Hyperlight's I/O page, and its host's second KVM_RUN behind a Halt, which fails at once."""

    # (ret, esr_ec)
    REASONS = {(2, 0x24): "DABT_LOW", (2, 0x16): "HVC64", (2, 0x18): "SYS64", (2, 1): "WFx",
               (2, 0): "UNKNOWN", (2, 0x3e): "0x3e", (0, 0): "IRQ", (1, 0): "SERROR",
               (0xbadca11, 0): "HYP_GONE"}
    IO_PAGE, EINTR = 0xffffff000, 4
    user_reason, user_number = "KVM_EXIT_MMIO", 6
    port_names = {99: "Log", 101: "host call", HALT: "Halt", 0x1f8: "0x1f8"}

    def __init__(self, seed, lose, elf, pairs=PAIRS):
        self.random = random.Random(seed)
        self.isa, self.lose, self.elf = "ARM", lose, elf
        self.reasons, self.io = self.REASONS, {(2, 0x24)}
        self.exit_values = lambda reason, ip, vcpu: {
            "ret": reason[0], "esr_ec": reason[1], "vcpu_pc": ip}
        self.build(splice.of_arm64, places(elf, ("dispatch", "cold", "last"), 4), pairs, True)

    def write_port(self, port, time, cpu, tid):
        self.add("kvm_mmio", time, cpu, tid, type=2, len=8, gpa=self.IO_PAGE + 8 * port, val=0)

    def flush(self, port, user, back, cpu, tid):
        if port == HALT:
            self.add("sys_enter_ioctl", user + 1, cpu, tid, cmd=KVM_RUN, fd=6)
            self.add("kvm_userspace_exit", user + 2, cpu, tid, reason=self.user_number,
                     errno=-self.EINTR)


def isa_here():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        text = f.read()
    for vendor, isa in (("GenuineIntel", 1), ("AuthenticAMD", 2)):
        if vendor in text:
            return isa
    raise Skip("the processor is neither Intel's nor AMD's")


def for_perf(path, seed):
    """Of this processor's reasons, and from an entry on: what perf kvm stat can pair."""
    known = Known(seed, isa_here(), splice.NEW, False, halts=False)
    for vcpu, tid in enumerate(TIDS):
        known.add("kvm_entry", 10 ** 9 - 1000 + vcpu, vcpu, tid, vcpu_id=vcpu)
    known.records.sort(key=lambda r: r[0])
    known.write(path)


def ask(build, path, *args, elf=ELF):
    out, err, status = run(hlguest_of(build), "exits", "-q", "--format=json", *args,
                           f"{elf}@{BASE:#x}", path)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return json.loads(out)


def rank(sorted_values, percent):
    """Nearest rank."""
    return sorted_values[-(-len(sorted_values) * percent // 100) - 1]


def tables(document):
    return {(t["kind"], t["by"]): t["rows"] for t in document["tables"]}


def compare_rows(what, rows, groups, exact):
    """rows of the report against {name: [ns]}."""
    wrong = []
    names = [row["name"] for row in rows]
    if sorted(names) != sorted(groups):
        return [f"{what}: rows {sorted(names)}, not {sorted(groups)}"]
    for row in rows:
        values = sorted(groups[row["name"]])
        true = {"count": len(values), "total_ns": sum(values), "min_ns": values[0],
                "max_ns": values[-1], "mean_ns": sum(values) // len(values)}
        wrong += [f"{what} {row['name']}: {key} {row[key]}, not {value}"
                  for key, value in true.items() if row[key] != value]
        for percent in (50, 90, 99):
            value, got = rank(values, percent), row[f"p{percent}_ns"]
            if got != value if exact else abs(got - value) > value / 100:
                wrong.append(f"{what} {row['name']}: p{percent} {got}, not {value}")
    return wrong
