#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The host's rows of hlguest report against another reading of who ran, and where, when.

    tasks_model.py --build DIR [--seed N] [--seeds N]

Processes are made up that begin, run others, take names, map files, code without a file and
modules, and end, all on several CPUs, whose buffers stand one after the other in the recording,
as perf writes them; some that come later than their round lets them. Each sample is of whom and
of what the records in front of it in time make it, as tools/feed/tasks.h and queue.h have it:
that must be the row it is in, also of a selection.
"""
import collections
import json
import os
import random
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from forged import CPU, FINISHED_ROUND, HOST, MMAP2, PERIOD, TEXT, TIME
from lines import seconds
from modelled import COMM, GUEST_USER, KERNEL, Guest, Recording, Sample, names_of
from programs import hlguest_of
from seeds import seeds
from splice import rounds
from tap import Skip, run

EXIT, FORK, MMAP, EXECUTABLE = 4, 7, 1, 5
KERNEL_AT, MODULES_AT = 0xffffffff81000000, 0xffffffffc0000000
FILES = {"/usr/bin/vmm": None, "/lib/libc.so": None, "//anon": "/tmp/perf-{}.map",
         "[heap]": "/tmp/perf-{}.map", "[vdso]": None, "/dev/zero (deleted)": "/tmp/perf-{}.map"}
MODULES = {"/lib/modules/6.1/kernel/arch/x86/kvm/kvm.ko": "[kvm]", "[nf_tables]": "[nf_tables]",
           "/lib/modules/6.1/kernel/arch/x86/kvm/kvm-intel.ko.xz": "[kvm_intel]",
           "/lib/modules/6.1/odd.kobold": "odd.kobold"}
LATE = "the recording is not in the order of time"
Item = collections.namedtuple("Item", "what time cpu values")


class Process:
    def __init__(self, maps=()):
        self.maps, self.live = list(maps), 0


class Thread:
    def __init__(self, pid, process, comm=None):
        self.pid, self.process, self.comm, self.exited = pid, process, comm, False


class World:
    """What the records say, one after the other."""

    def __init__(self):
        self.threads, self.kernel, self.modules = {}, None, []
        self.begin(0, 0).comm = "swapper"

    def begin(self, pid, tid):
        """A thread is of its process's, which another one of it may have begun."""
        old = self.threads.pop(tid, None)
        if old and not old.exited:
            old.process.live -= 1
        if pid == tid:
            process = Process()
        else:
            leader = self.threads.get(pid) or self.begin(pid, pid)
            process = leader.process
        process.live += 1
        self.threads[tid] = Thread(pid, process)
        return self.threads[tid]

    def find(self, pid, tid):
        return self.threads.get(tid) or self.begin(pid, tid)

    def apply(self, item):
        getattr(self, item.what)(*item.values)

    @staticmethod
    def revive(thread):
        thread.process.live += thread.exited
        thread.exited = False

    def comm(self, pid, tid, name):
        thread = self.find(pid, tid)
        self.revive(thread)
        thread.comm = name

    def fork(self, pid, tid, ppid, ptid):
        """A process has what its parent had: name and mappings."""
        parent = self.find(ppid, ptid)
        if parent.pid != ppid:  # that one has ended, and its number is another's
            parent = self.begin(ppid, ptid)
        thread = self.begin(pid, tid)
        thread.comm = parent.comm
        if pid != parent.pid and thread.process is not parent.process:
            thread.process.maps = list(parent.process.maps)

    def exit(self, _, tid):
        """With its last thread a process has nothing any more."""
        thread = self.threads.get(tid)
        if thread and not thread.exited:
            thread.exited = True
            thread.process.live -= 1
            if not thread.process.live:
                thread.process.maps = []

    def map(self, pid, tid, start, size, name):
        thread = self.find(pid, tid)
        self.revive(thread)
        told = FILES[name]
        thread.process.maps.append((start, start + size, told.format(thread.pid) if told else name))

    def module(self, start, size, name):
        if name.startswith("[kernel"):
            self.kernel = start, start + size
        else:
            self.modules.append((start, start + size, MODULES[name]))

    @staticmethod
    def mapped(maps, ip):
        """The newest counts."""
        return next((name for start, end, name in reversed(maps) if start <= ip < end), None)

    def row(self, s):
        """(what the thread is called, what is mapped there) of a sample."""
        thread = self.threads.get(s.tid)
        if not thread:  # nobody told of it: the sample alone says whose it is
            leader = self.threads.get(s.pid)
            thread = Thread(s.pid, leader.process if leader else Process())
        name = None
        if s.mode == HOST:
            name = self.mapped(thread.process.maps, s.ip)
        elif s.mode == KERNEL:
            name = self.mapped(self.modules, s.ip)
            if not name and self.kernel and self.kernel[0] <= s.ip < self.kernel[1]:
                name = "[kernel.kallsyms]"
        return thread.comm or f":{s.tid}", name or "[unknown]"


class Made(Recording):
    """items: in the order of time. stream: as they stand in the file, None for a round."""

    def __init__(self, rng, guest, base):
        super().__init__(rng, 0, ["cpu-clock"], None, 0, rng.choice((0, 0, CPU, PERIOD)))
        self.honest, self.losses, self.now = rng.random() < .75, [], self.begins
        self.guest, self.base, self.next = guest, base, 300
        self.alive, self.ended, self.items = [], [], []
        self.where = [0x400000 + 0x1000 * i for i in range(8)]
        for pid in rng.sample(range(100, 200), rng.randint(1, 3)):
            self.tell("comm", pid, pid, f"task{pid}")
            self.alive.append((pid, pid))
        for _ in range(rng.choice((20, 100, 300))):
            self.add()
        for _ in range(rng.choice((0, 0, 0, 90))):  # each runs the next
            self.fork(*self.alive[-1], True)
            self.tell("map", *self.alive[-1], rng.choice(self.where), 0x1000, rng.choice(list(FILES)))
            self.take(*self.alive[-1])

    def tell(self, what, *values):
        self.now += self.rng.choice((0, 1, 1000, self.rng.randrange(10**5)))
        self.items.append(Item(what, self.now, self.rng.randrange(3), values))

    def add(self):
        rng, at = self.rng, self.rng.random()
        pid, tid = rng.choice(self.alive)
        if at < .6:
            self.take(pid, tid)
        elif at < .66:
            self.tell("comm", pid, tid, f"name{rng.randrange(9)}")
        elif at < .84:
            self.tell("map", pid, tid, rng.choice(self.where), rng.choice((0x1000, 0x800, 0x3000)),
                      rng.choice(list(FILES)))
        elif at < .88:
            name = rng.choice([*MODULES, "[kernel.kallsyms]_text"])
            self.tell("module", KERNEL_AT if name[1] == "k" else
                      MODULES_AT + 0x1000 * rng.randrange(3), rng.choice((0x1000, 0x2000)), name)
        elif at < .95 or len(self.alive) == 1 or not self.honest:
            self.fork(pid, tid)
        else:
            self.alive.remove((pid, tid))
            self.ended.append((pid, tid))
            self.tell("exit", pid, tid)

    def fork(self, pid, tid, alone=False):
        """Numbers of those that have ended come again."""
        free = [t for p, t in self.ended if not any(of == t for of, _ in self.alive)]
        if free and not alone and self.rng.random() < .5:
            child = self.rng.choice(free)
            self.ended = [(p, t) for p, t in self.ended if t != child]
        else:
            child, self.next = self.next, self.next + 1
        to = pid if not alone and self.rng.random() < .5 else child
        self.tell("fork", to, child, pid, tid)
        self.alive.append((to, child))

    def take(self, pid, tid):
        rng = self.rng
        mode = rng.choice((HOST,) * 4 + (KERNEL, KERNEL, GUEST_USER))
        if rng.random() < .1:  # of a thread that nobody told of
            tid = 900 + rng.randrange(3)
        elif rng.random() < .05:  # it is the thread's number that counts
            pid = rng.choice(self.alive)[0]
        beyond = rng.choice((0, 0, 0x7ff, 0x800, 0xfff, 0x1000, 0x1fff, 0x2000, rng.randrange(0x3000)))
        ip = {HOST: rng.choice(self.where) + beyond, KERNEL: rng.choice((
            KERNEL_AT, MODULES_AT, MODULES_AT)) + beyond}.get(
                mode, self.base + self.guest.some(rng) - TEXT)
        self.tell("sample", mode, ip, pid, tid, self.every["cpu-clock"])

    def sample_of(self, item):
        mode, ip, pid, tid, period = item.values
        return Sample(0, item.time, item.cpu, pid, tid, "cpu-clock", ip, mode, period, None)

    def bytes_of(self, item):
        what, values = item.what, item.values
        if what == "sample":
            return self.pack(self.sample_of(item))
        if what == "comm":
            pid, tid, name = values
            return self.record(COMM, 0, struct.pack("<2I", pid, tid), name, (pid, tid), item)
        if what in ("fork", "exit"):
            pid, tid, ppid, ptid = (*values, *values)[:4]
            return self.record(FORK if what == "fork" else EXIT, 0, struct.pack(
                "<4IQ", pid, ppid, tid, ptid, item.time), None, (pid, tid), item)
        if what == "map":
            pid, tid, start, size, name = values
            return self.record(MMAP2, HOST, struct.pack(
                "<2I3Q2I2Q2I", pid, tid, start, size, 0, 8, 1, 1, 0, EXECUTABLE, 2), name,
                (pid, tid), item)
        start, size, name = values
        return self.record(MMAP, KERNEL, struct.pack("<iI3Q", -1, 0, start, size, start), name,
                           (0, 0), item)

    def record(self, kind, misc, fixed, name, who, item):
        if name is not None:
            fixed += name.encode() + bytes(8 - len(name) % 8)
        return forged.record(kind, misc, fixed + self.tail(*who, item.time))

    def records(self):
        """As perf writes them: perhaps later than it should."""
        by_bytes = collections.defaultdict(collections.deque)
        rows = []
        for item in self.items:
            data = self.bytes_of(item)
            by_bytes[data].append(item)
            rows.append((item.time, item.cpu, data))
        every = max(1, (self.now - self.begins) // self.rng.randint(1, 12))
        lag = every // 2 if self.honest else 4 * every
        data = rounds(rows, every, lambda _: self.rng.randrange(lag + 1))
        self.stream, at = [], 0
        while at < len(data):
            kind, _, size = struct.unpack_from("<IHH", data, at)
            self.stream.append(None if kind == FINISHED_ROUND else
                               by_bytes[data[at:at + size]].popleft())
            at += size
        return data

    def in_order(self, keeps):
        """Items that name host samples, and those of these that are selected, as they come out of
        the queue, and whether one is behind a newer one. Of guests nothing waits."""
        waiting, newest, complete, out = [], 0, 0, []

        def go(until):
            nonlocal waiting
            out.extend(sorted((i for i in waiting if i.time <= until), key=lambda i: i.time))
            waiting = [i for i in waiting if i.time > until]
        for item in self.stream:
            if item is None:
                go(complete)
                complete = newest
            elif item.what != "sample" or item.values[0] != GUEST_USER and keeps(item):
                waiting.append(item)
                newest = max(newest, item.time)
        go(2**64)
        return out, any(b.time < a.time for a, b in zip(out, out[1:]))


class Judge:
    def __init__(self, build, folder, seed):
        self.hlguest, self.folder = hlguest_of(build), folder
        self.rng = rng = random.Random(seed)
        guest, self.base = Guest(rng, names_of(rng, 4), "guest0.elf"), 0x10000
        self.made = Made(rng, guest, self.base)
        for name, one in ("guest0.elf", guest), ("0.data", self.made):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(one.data())
        self.words, self.keeps = ["--mode=all"], lambda item: True
        if rng.random() < .4:
            low, high = sorted(rng.choice(self.made.items).time for _ in range(2))
            self.words.append(f"--time={seconds(low)},{seconds(high + 1)}")
            self.keeps = lambda item: low <= item.time <= high

    def check(self):
        out, err, status = run(
            self.hlguest, "report", "-q", "--force", "--border=keep", "--top=0", "--format=json",
            *self.words, f"guest0.elf@{self.base:#x}", "0.data", cwd=self.folder)
        if "not in this build" in err:
            raise Skip(err.strip())
        expected, late = self.rows()
        if status == 1 and not expected:
            return
        told = json.loads(out)
        rows = {(f["name"], f["dso"]): f["samples"] for f in told["host"]}
        if len(rows) != len(told["host"]) or rows != expected:
            different = {key: (rows.get(key), expected.get(key)) for key in {*rows, *expected}
                         if rows.get(key) != expected.get(key)}
            yield f"{' '.join(self.words)}: got and expected {different}"
        if any(note.startswith(LATE) for note in told["notes"]) != late:
            yield f"late: {late}, {told['notes']}"

    def rows(self):
        order, late = self.made.in_order(self.keeps)
        world, rows = World(), collections.Counter()
        for item in order:
            if item.what != "sample":
                world.apply(item)
            else:
                rows[world.row(self.made.sample_of(item))] += 1
        return rows, late


def differences(build, folder, seed):
    return Judge(build, folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 80, differences))
