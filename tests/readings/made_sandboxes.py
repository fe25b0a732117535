# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of VMMs that make machines of KVM and run them in their threads, for
sandboxes_model.py, which knows of each sample whose it is.

A recording has KVM_CREATE_VCPU and KVM_SET_CPUID2, or the first alone of machines of one vCPU,
or neither: then each descriptor of a vCPU is a sandbox (tools/feed/turns.h)."""
import collections
import struct

from forged import CALLCHAIN, CPU, PERIOD, RAW
from modelled import IOCTL, KERNEL, Recording, Sample, is_guest

RUN, CREATE_VCPU, SET_CPUID2, SET_MEMORY, ANY = 0xae80, 0xae41, 0x4008ae90, 0x4020ae46, 0x5413
NAMED, CREATED, PLAIN = "named", "created", "plain"


class Machine:
    """number: of the sandbox; None: it has not run yet. ran: vCPUs that did. runs: which of
    the guests."""

    def __init__(self, pid, runs):
        self.pid, self.number, self.ran, self.first, self.runs = pid, None, set(), None, runs


class Vmm(Recording):
    """A recording with what its processes asked of KVM between its samples. draws: one gives
    addresses of all machines, or each of those of some. returns: of each, where calls return
    to; none: no callers are recorded."""

    def __init__(self, rng, number, events, draws, n, lacks=0, returns=()):
        self.draws, self.returns_of = draws, returns
        super().__init__(rng, number, events, lambda: 0, n, lacks & (CPU | PERIOD))
        self.kind |= RAW | CALLCHAIN * bool(returns)
        self.vms = collections.defaultdict(list)  # descriptors of machines
        self.is_first_apart = rng.random() < .4
        self.how = rng.choice((NAMED, NAMED, CREATED, PLAIN))
        self.machines, self.vcpus, self.current, self.seen, self.fd = [], {}, {}, {}, 10
        self.events, self.every[IOCTL] = [*events, IOCTL], 1
        samples, self.samples = self.samples, []
        often = rng.choice((.03, .1, .4))
        for s in samples:
            self.time = s.time - 900
            for _ in range(rng.choice((1, 2, 5)) if rng.random() < often else 0):
                self.act(*rng.choice(self.threads))
            self.put(s)
        self.time = self.samples[-1].time
        while not any(m.number for m in self.machines):
            self.act(*self.threads[0])
        self.sandboxes = sorted((m for m in self.machines if m.number), key=lambda m: m.number)

    def put(self, s):
        """A hit of a tracepoint, which takes no time, goes with the samples before it: turns are
        kept where a sample finds another sandbox (turns.h)."""
        if s.event != IOCTL:
            self.seen[s.tid] = self.current.get(s.tid)
        machine = self.seen.get(s.tid)
        if is_guest(s):
            runs = machine.runs if machine else 0
            self.returns = self.returns_of[runs] if self.has(CALLCHAIN) else ()
            ip = self.draws[runs]()
            s = s._replace(ip=ip, callers=self.callers(s.mode, ip))
        self.samples.append(s._replace(sandbox=machine.number if machine else -1))

    def call(self, pid, tid, fd, command, value=0):
        self.time += 1
        raw = struct.pack("<5QI", 1, 16, fd, command, value, 0)
        cpu = 0 if self.has(CPU) else None
        if command == RUN:
            self.current[tid] = self.run_by(pid, fd)
        self.put(Sample(self.number, self.time, cpu, pid, tid, IOCTL, 0x123 << 40, KERNEL,
                        self.every[IOCTL] if not self.has(PERIOD) else 1, None, raw))

    def act(self, pid, tid):
        """Makes a machine, runs one, or does what is neither."""
        rng, what = self.rng, self.rng.random()
        mine = [fd for owner, fd in self.vcpus if owner == pid]
        if what < .1:
            self.call(pid, tid, rng.randrange(3, 9), rng.choice((ANY, SET_MEMORY)))
        elif self.how == PLAIN:
            fd = rng.choice((4, 5, 6))
            if (pid, fd) not in self.vcpus:
                self.add(pid, [fd])
            self.call(pid, tid, fd, RUN)
        elif not mine or what < .3:
            self.make(pid, tid)
        else:
            self.call(pid, tid, rng.choice(mine), RUN)

    def add(self, pid, fds):
        runs = self.rng.randrange(len(self.draws))
        if self.is_first_apart:
            runs = 0 if self.machines else len(self.draws) - 1
        machine = Machine(pid, runs)
        self.machines.append(machine)
        for fd in fds:
            self.vcpus[pid, fd] = machine

    def make(self, pid, tid):
        """One that may have descriptors that others had, it and its vCPUs."""
        rng, n = self.rng, self.rng.choice((1, 1, 2, 3)) if self.how == NAMED else 1
        first, self.fd = self.fd, self.fd + 1 + n
        fds = list(range(first + 1, self.fd))
        old = [fd for owner, fd in self.vcpus if owner == pid]
        if old and rng.random() < .4:
            fds[0] = rng.choice(old)
        if self.vms[pid] and rng.random() < .3:
            first = rng.choice(self.vms[pid])
        self.vms[pid].append(first)
        for i, fd in enumerate(fds):
            self.call(pid, tid, first, CREATE_VCPU, i)
            if self.how == NAMED:
                self.call(pid, tid, fd, SET_CPUID2)
        self.add(pid, fds)
        if self.how == CREATED or rng.random() < .3:
            self.call(pid, tid, fds[0], RUN)

    def run_by(self, pid, fd):
        """The machine, which has its number from its first run on."""
        machine = self.vcpus[pid, fd]
        if not machine.number:
            machine.number = 1 + max([m.number for m in self.machines if m.number], default=0)
            machine.first = fd
        machine.ran.add(fd)
        return machine
