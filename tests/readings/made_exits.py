# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of KVM's tracepoints that are made up from a seed, and words that select of them.

Threads run one sandbox after the other: guests of several versions of Hyperlight or of none, with
exits that KVM handles and exits to the VMM, on VMX, SVM and arm64, on kernels that lack fields or
events. Some records are missing, lost, cut short, too late, or where no kernel has them. Of the
recordings of known_exits.py the pairs are known; what is in these is for a reader to find out.
"""
import fnmatch
import os
import re
import struct

import forged
import known_exits as exits
import splice
from forged import TEXT
from lines import seconds

FUNCTIONS = (("start", TEXT, 0x80), ("dispatch_function", TEXT + 0x80, 0x80),
             ("alpha", TEXT + 0x100, 0x300), ("beta", TEXT + 0x400, 0x400),
             ("gamma", TEXT + 0xc00, 0x400))
GAP = "__gap__ after beta"
START, DISPATCH, OUTSIDE = TEXT, TEXT + 0x80, (0x900000, 0xfff000)
VERSIONS = ("", "0.12.9", "0.13.0") + 2 * ("0.13.1", "0.17.3", "0.18.0", "1.2.0")
LOG, CALL, ABORT, PRINT, HALT, NOTIFY, PIC, SERIAL = 99, 101, 102, 103, 108, 109, 0x20, 0x1f8
PORT_NAMES = {LOG: "Log", CALL: "CallFunction", ABORT: "Abort", PRINT: "DebugPrint",
              HALT: "Halt"}
MMIO = 1 << 63  # such a port is a page's address
PAGE = 0x12000  # such a one, which is no port of that number
IO_PAGE = exits.Arm.IO_PAGE
INSN_MAX = 15   # bytes of an instruction
CREATE_VCPU, OTHER_IOCTL = 0xae41, 0x4008ae89
NOTHING = "sys_enter_ioctl", OTHER_IOCTL

# Who words are of: a kernel that does not say, VMX, SVM, arm64 where it trapped and where it did
# not, KVM_EXIT_*, errno.
NONE, VMX, SVM, ARM, TRAP, USER, ERRNO = 0, 1, 2, 64, 65, 254, 255
EINTR = ERRNO, 4
ISAS = {NONE: "?", VMX: "VMX", SVM: "SVM", ARM: "ARM", TRAP: "ARM", USER: "KVM", ERRNO: "KVM"}
# A reason's name; of others the number is.
NAMES = {(isa, n): name for isa, of in exits.REASONS.items() for n, name in of.items()} | {
    (VMX, 0): "EXCEPTION_NMI", (VMX, 2): "TRIPLE_FAULT", (VMX, 7): "INTERRUPT_WINDOW",
    (VMX, 75): "NOTIFY",
    (VMX, 0x80000021): "INVALID_STATE FAILED_VMENTRY", (VMX, 0x8000ffff): "0xffff FAILED_VMENTRY",
    (VMX, 0x8000030): "EPT_VIOLATION", (SVM, 0x81): "hypercall", (SVM, 0xa6): "idle-halt",
    (SVM, 0xffffffff): "invalid_guest_state", (SVM, 0x401): "avic_incomplete_ipi",
    (USER, 2): "KVM_EXIT_IO", (USER, 5): "KVM_EXIT_HLT", (USER, 6): "KVM_EXIT_MMIO",
    (USER, 8): "KVM_EXIT_SHUTDOWN", (USER, 10): "KVM_EXIT_INTR", EINTR: "EINTR",
    (ERRNO, 14): "EFAULT"} | {
    (TRAP, ec) if ret == 2 else (ARM, ret): name for (ret, ec), name in exits.Arm.REASONS.items()}


class Machine:
    """Reasons that its kvm_exit has: any, and those of a port, of a page, of an interrupt."""

    def __init__(self, isa):
        self.isa = isa
        self.port, self.page, self.interrupt = {
            VMX: (30, 48, 1), SVM: (0x7b, 0x400, 0x60), ARM: ((2, 0x24), (2, 0x24), (0, 0))}[isa]
        self.all = [*(exits.REASONS.get(isa) or exits.Arm.REASONS), *{
            VMX: (0, 2, 7, 75, 0x80000021, 0x8000ffff, 0x8000030, 700, 0x46),
            SVM: (0x81, 0xffffffff, 0xa6, 0x401, 0x2bc, 0xa7), ARM: ()}[isa]]


class Record:
    """A sample, of whose fields those that it has not are 0; without an event: n were lost."""

    def __init__(self, event, time, cpu, task, values):
        self.event, self.time, self.cpu, self.values = event, time, cpu, values
        self.pid, self.tid = task
        self.short = 0  # bytes of raw data that stay, too few for its fields

    def __getattr__(self, name):
        return self.values.get(name, 0)

    def is_port(self):
        return self.event in ("kvm_pio", "kvm_mmio")

    def is_answer(self):
        """To a read, which is told when it is done."""
        return self.rw == 0 if self.event == "kvm_pio" else self.type == 1

    def is_run(self):
        return self.event == "sys_enter_ioctl" and self.cmd == exits.KVM_RUN

    def is_of_interest(self):
        return (self.event, self.cmd) != NOTHING


class Guest:
    """An ELF, at a base."""

    def __init__(self, rng):
        self.is_arm = rng.random() < .15
        self.version = rng.choice(VERSIONS)
        self.base = rng.choice((TEXT, 5 * TEXT))  # where its first segment lies
        number = tuple(map(int, self.version.split("."))) if self.version else ()
        self.host_call = (NOTIFY if number >= (0, 18, 0) else CALL) if number else None
        self.halt = HALT if number >= (0, 13, 1) else None

    def at(self, place):
        """Instructions of arm64 have four bytes."""
        return (place & ~3 if self.is_arm else place) + self.base - TEXT

    def function(self, rip):
        if rip is None:
            return "[address not recorded]"
        at = rip - self.base + TEXT
        for name, first, size in FUNCTIONS:
            if first <= at < first + size:
                return name
        return GAP if TEXT <= at < TEXT + 0x1000 else "[outside]"

    def port_of(self, record):
        if record.event == "kvm_pio":
            return record.port
        if self.is_arm and self.version and 0 <= record.gpa - IO_PAGE < 0x1000:
            return (record.gpa - IO_PAGE) // 8
        return MMIO | record.gpa & ~0xfff

    def port_name(self, port):
        if port is None:
            return "no port"
        if port & MMIO:
            return f"mmio {port & ~MMIO:#x}"
        if port == self.host_call:
            return "host call"
        gone = self.host_call == NOTIFY and port in (LOG, CALL)
        return f"{port:#x}" if gone else PORT_NAMES.get(port, f"{port:#x}")

    def elf(self):
        names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in FUNCTIONS)
        elf = forged.Elf().symbols([(names.index(b"\0" + name.encode() + b"\0") + 1, at, size)
                                    for name, at, size in FUNCTIONS], names)
        if self.version:
            text = self.version.encode() + b"\0"
            note = struct.pack("<3I12s", 11, len(text), 1, b"Hyperlight")
            note += text + bytes(-len(text) % 4)
            elf.section(elf.name(b".note.hyperlight"), 7, at=elf.put(note), size=len(note))
        data = elf.build()
        return data[:18] + struct.pack("<H", 183) + data[20:] if self.is_arm else data


class Made:
    """A recording: its records, as they stand in the file."""

    # Events that the kernel lacks, and how often.
    LACKS = ((),) * 10 + (("sys_enter_ioctl",), ("kvm_exit", "kvm_entry"), ("kvm_entry",),
                         ("kvm_userspace_exit",), ("kvm_exit", "kvm_entry", "kvm_pio"))

    def __init__(self, rng, guest):
        self.rng, self.guest = rng, guest
        self.machine = Machine(ARM if guest.is_arm else rng.choice((VMX, SVM)))
        self.step = 4 if guest.is_arm else 1  # bytes of an instruction
        self.lacks = rng.choice(self.LACKS)
        self.fields = {name for name in ("isa", "guest_rip") if guest.is_arm or rng.random() < .9}
        layout = rng.choice((splice.NEW, splice.NEW, splice.NEW, splice.OLD, splice.MOVED))
        self.layout = splice.of_arm64 if guest.is_arm else splice.relayout(layout)
        if layout is not splice.OLD and not guest.is_arm:
            self.fields.add("vcpu_id")
        if layout is not splice.OLD or guest.is_arm:
            self.fields.add("rip")  # of kvm_entry
        self.n_cpus, self.records = rng.randint(1, 3), []
        self.many = rng.random() < .06
        self.slow = rng.choice((300, 10**4, 10**4, 10**6))
        for i in range(1 if self.many else rng.randint(1, 3)):
            self.thread((rng.choice((40, 41)), 50 + i))
        self.records.sort(key=lambda r: r.time)
        self.misplace(rng.choice((0, 0, .01, .05)))
        self.shorten(rng.choice((0, 0, .02)))
        self.losses = []
        self.lose(rng.choice((0, 0, .01, .05)), rng.choice((0, .3, 1)))
        self.records = [r for r in self.records if self.has(r.event)]
        self.first = min((r.time for r in self.records), default=0)

    def has(self, event):
        gone = self.guest.is_arm and event in ("kvm_pio", "kvm_emulate_insn")
        return event not in self.lacks and not gone

    # What threads do.

    def wait(self):
        self.now += self.rng.choice((0, 1, 64, self.rng.randrange(self.slow), self.slow,
                                     self.rng.randrange(self.slow)))

    def add(self, event, **values):
        self.records.append(Record(event, self.now, self.cpu, self.task, values))
        self.wait()

    def thread(self, task):
        rng = self.rng
        self.task, self.cpu, self.now = task, rng.randrange(self.n_cpus), 10**9 + rng.randrange(999)
        for _ in range(rng.randint(1, 3)):
            self.fd, self.vcpu = rng.choice((6, 6, 7)), rng.choice((0, 0, 1))
            if rng.random() < .7:
                self.add("sys_enter_ioctl", cmd=CREATE_VCPU, fd=5)
            self.rip, self.awaited = self.guest.at(START), None
            if self.many:
                self.same(rng.randint(2000, 2400))
            for _ in range(rng.choice((1, 5, 20, 60))):
                self.once()

    def same(self, times):
        """The same exit, so often that it is counted in another way (HLG_EXITS_MANY)."""
        self.many, least = False, self.rng.choice((10**3, 10**5))
        for _ in range(times):
            self.leave(self.machine.port, self.guest.at(TEXT + 0x444))
            self.now += least
            self.enter(self.rip + self.step)

    def leave(self, reason, rip=None):
        rng = self.rng
        if rip is None:
            rip = self.guest.at(rng.choice((TEXT + rng.randrange(0x1000),) * 18 + OUTSIDE))
        self.rip = rip
        if self.guest.is_arm:
            values = {"ret": reason[0], "esr_ec": reason[1], "vcpu_pc": rip}
        else:
            values = {"exit_reason": reason, "guest_rip": rip, "isa": self.machine.isa}
        self.add("kvm_exit", vcpu_id=self.vcpu, **values)
        if rng.random() < .1:
            self.cpu = rng.randrange(self.n_cpus)

    def enter(self, rip):
        self.rip = rip
        self.add("kvm_entry", vcpu_id=self.vcpu, rip=rip, vcpu_pc=rip)

    def run(self):
        self.add("sys_enter_ioctl", cmd=exits.KVM_RUN, fd=self.fd)

    def back(self, reason=10, errno=0):
        self.add("kvm_userspace_exit", reason=reason, errno=errno)

    def tell(self, port):
        if self.guest.is_arm:
            self.add("kvm_mmio", type=2, len=8, gpa=IO_PAGE + 8 * port)
        else:
            self.add("kvm_pio", rw=1, port=port, size=4, count=1)

    def once(self):
        """From a KVM_RUN to its end."""
        rng = self.rng
        if rng.random() < .1:
            self.add("sys_enter_ioctl", cmd=OTHER_IOCTL, fd=6)
        self.run()
        if self.awaited and rng.random() < .9:
            event, values = self.awaited
            self.add(event, **values)
        self.awaited = None
        if rng.random() < .03:
            self.back(errno=-4)
            return
        self.enter(self.rip)
        for _ in range(rng.choice((0, 0, 1, 3))):
            self.leave(rng.choice(self.machine.all))
            if rng.random() < .3:
                self.add("kvm_emulate_insn", rip=self.guest.at(TEXT + rng.randrange(0x1000)))
            if rng.random() < .15:
                self.add("kvm_pio", rw=rng.randrange(2), port=PIC, size=1, count=1)
            self.enter(self.rip + rng.choice((0, self.step)))
        rng.choice((self.write,) * 8 + (self.halt,) * 4 + (self.read, self.abort, self.stop,
                                                           self.map))()

    def out(self, port, rip=None):
        self.leave(self.machine.port, rip)
        self.tell(port)
        self.back(6 if self.guest.is_arm else 2)
        self.rip += self.step

    def write(self):
        self.out(self.rng.choice((LOG, CALL, CALL, PRINT, NOTIFY, NOTIFY, SERIAL)))

    def halt(self):
        """On arm64 Hyperlight's host has KVM finish the store, by a KVM_RUN that fails at once."""
        self.out(HALT)
        for _ in range(self.rng.choice((1, 1, 2)) if self.guest.is_arm else 0):
            self.run()
            self.back(errno=-4)
        self.rip = self.guest.at(self.rng.choice((DISPATCH,) * 4 + (START + 0x10, TEXT + 0x110,
                                                                    START)))

    def abort(self):
        at = self.guest.at(TEXT + 0x500)
        for _ in range(self.rng.randint(1, 3)):
            self.out(ABORT, at)
            self.run()
            self.enter(self.rip)
        self.out(ABORT, at)
        self.rip = self.guest.at(self.rng.choice((DISPATCH, START, TEXT + 0x500 + INSN_MAX,
                                                  TEXT + 0x501 + INSN_MAX)))

    def read(self):
        self.leave(self.machine.port)
        self.awaited = "kvm_pio", {"rw": 0, "port": self.rng.choice((SERIAL, PIC)), "size": 1}
        self.back(self.rng.choice((2, 2, 2, 6)))

    def map(self):
        self.leave(self.machine.page)
        write, address = self.rng.random() < .5, self.rng.choice((0xfee00030, PAGE, PAGE + 0x345))
        self.add("kvm_mmio", type=2 if write else 0, len=4, gpa=address)
        if not write:
            self.awaited = "kvm_mmio", {"type": 1, "len": 4, "gpa": address}
        self.back(6)

    def stop(self):
        """Taken out by the host; or halted, or an error."""
        self.leave(self.machine.interrupt)
        self.back(*self.rng.choice(((10, -4), (10, -4), (5, 0), (8, 0), (999, 0), (17, -14),
                                    (2, -5))))
        if self.rng.random() < .3:
            self.rip = self.guest.at(DISPATCH)

    # What becomes of the records.

    def misplace(self, share):
        """Some are there again, where no kernel has them."""
        rng = self.rng
        for r in rng.sample(self.records, int(share * len(self.records))):
            to = rng.choice(self.records)
            self.records.append(Record(r.event, to.time, to.cpu, (to.pid, to.tid), r.values))
        self.records.sort(key=lambda r: r.time)

    def shorten(self, share):
        """What needs no field, as kvm_entry where neither is known, is good without; and what
        needs one of 4 bytes that may come first, with 12."""
        second = {"kvm_entry": "rip", "kvm_exit": "guest_rip"}
        for r in self.records:
            if self.rng.random() < share and (
                    r.event != "kvm_entry" or bool({"vcpu_id", "rip"} & self.fields)):
                known = second.get(r.event) in {None} | self.fields
                r.short = self.rng.choice((4, 12) if known else (4,))

    def lose(self, share, told):
        rng = self.rng
        for r in list(self.records):
            if rng.random() < share:
                self.records.remove(r)
                if rng.random() < told:
                    self.losses.append(Record(None, r.time + rng.choice((0, 1, 5000)), r.cpu,
                                              (-1, -1), {"n": rng.randint(1, 9)}))

    # How it is written.

    def take_out(self, text):
        """What the kernel lacks, of the format of an event."""
        name = re.search(rb"name: (\w+)", text)[1].decode()
        if name in self.lacks:
            text = text.replace(b"name: ", b"name: no_")
        for field in {"isa", "guest_rip"} - self.fields:
            if name == "kvm_exit":
                text = text.replace(b" %s;" % field.encode(), b" other_%s;" % field.encode())
        return text

    def bytes_of(self, make, r):
        if r.event is None:
            return make.lost(r.time, r.cpu, r.n)
        data = make.sample(r.event, r.time, r.cpu, r.pid, r.tid, **r.values)
        if r.short:  # 60: up to the raw data
            raw = data[60:60 + r.short]
            data = data[:6] + struct.pack("<H", 60 + len(raw)) + data[8:56]
            data += struct.pack("<I", len(raw)) + raw
        return data

    def write_to(self, path):
        """Sets stream: the records as they stand there, and None for a round."""
        rng, file = self.rng, splice.File()
        file.tracing.change(self.layout)
        make = splice.Maker(file)
        file.tracing.change(self.take_out)
        by_bytes = {self.bytes_of(make, r): r for r in self.records + self.losses}
        self.records = [r for r in by_bytes.values() if r.event]
        self.losses = [r for r in by_bytes.values() if not r.event]
        rows = sorted(((r.time, r.cpu, data) for data, r in by_bytes.items()),
                      key=lambda row: row[0])
        every = max(1, (rows[-1][0] - rows[0][0]) // rng.randint(1, 20))
        late = rng.choice((every // 2, every // 2, 1, 3 * every))  # the last is no honest round
        data = splice.rounds(rows, every, lambda _: rng.randrange(late + 1))
        self.stream, at = [], 0
        while at < len(data):
            size, = struct.unpack_from("<H", data, at + 6)
            self.stream.append(by_bytes.get(data[at:at + size]))
            at += size
        file.write(path, data)


class Choice:
    """Words of a command line, and what they leave."""

    def __init__(self, rng, files):
        made = rng.choice(files)
        self.exact, self.by_tid = rng.random() < .5, rng.random() < .3
        self.top = rng.choice((0, 0, 1, 2, 5))
        self.words = [word for word, is_set in (("--exact", self.exact), ("--by=tid", self.by_tid),
                                                (f"--top={self.top}", self.top)) if is_set]
        self.keeps, self.time = lambda r: True, lambda first: (0, 1 << 64)
        self.port, self.reason = None, None
        self.selects = rng.random() < .5
        if self.selects:
            rng.choice((self.set_time, self.set_time, self.set_threads))(rng, made)
        if rng.random() < .3:
            word, self.port = rng.choice((("99,101-103", {LOG, CALL, ABORT, PRINT}),
                                          (f"{PIC},{PAGE}", {PIC}), (str(HALT), {HALT})))
            self.words.append(f"--port={word}")
        if rng.random() < .25:
            self.reason = rng.choice(("*i*", "IO*", "kvm_exit_i?", "0x7b", "30", "2", "0", "0x*",
                                      "*"))
            self.words.append(f"--reason={self.reason}")

    def selected(self):
        """As it is told; None: all."""
        given = {word[2:].split("=")[0]: word[2:] for word in self.words}
        return " ".join(given[name] for name in ("pid", "tid", "time", "reason", "port")
                        if name in given) or None

    def picks(self):
        """Does it leave rows, and no records, out?"""
        return bool(self.port or self.reason)

    def set_threads(self, rng, made):
        some = rng.choice(made.records)
        word, self.keeps = rng.choice(((f"--tid={some.tid},999", lambda r: r.tid == some.tid),
                                       (f"--pid={some.pid}", lambda r: r.pid == some.pid)))
        self.words.append(word)

    def set_time(self, rng, made):
        """From a record on, or up to it: any, or where a guest is entered for a call, or just
        behind that."""
        calls = [r for r in made.records if r.rip == made.guest.at(DISPATCH)]
        time = rng.choice(calls if calls and rng.random() < .7 else made.records).time
        time += rng.choice((0, 1, 1, 1000))
        begin = time - made.first
        length = rng.choice((1, 1000, 10**4, 10**5, 10**6))
        word, self.time = rng.choice((
            (f"{seconds(time)},", lambda first: (time, 1 << 64)),
            (f",{seconds(time)}", lambda first: (0, time)),
            (f"{seconds(time)},{seconds(time + length)}", lambda first: (time, time + length)),
            (f"+{begin}ns,+{begin + length}ns",
             lambda first: (first + begin, first + begin + length)),
            (f"+{begin}ns,", lambda first: (first + begin, 1 << 64))))
        self.words.append(f"--time={word}")

    def has(self, pair):
        """By the reason of an exit, or of its time in the VMM, both follow; what is none of
        these is of no reason and no port."""
        if self.picks() and pair.kind not in ("exit", "vmm"):
            return False
        if self.port and pair.port not in self.port:
            return False
        if self.reason is None:
            return True
        return any(self.is_reason(reason) for reason in (pair.reason, pair.other) if reason)

    def is_reason(self, reason):
        if not {"*", "?"} & set(self.reason):  # a number
            return reason[1] == int(self.reason, 0)
        return fnmatch.fnmatchcase(reason_name(reason).lower(), self.reason.lower())


def reason_name(reason):
    return NAMES.get(reason, f"{reason[1]:#x}")


def write_all(folder, guest, files):
    """The paths of the guest's ELF, and of the recordings."""
    elf = os.path.join(folder, "guest.elf")
    paths = [os.path.join(folder, f"{i}.data") for i in range(len(files))]
    with open(elf, "wb") as f:
        f.write(guest.elf())
    for path, made in zip(paths, files):
        made.write_to(path)
    return elf, paths
