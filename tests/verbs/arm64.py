#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of KVM on arm64: where do guests lie, how often were they called, and by whom?

    arm64.py --build DIR

No such recording can be made here: the formats are the kernel's (kit/splice.py), the records
are made as Hyperlight 0.17 uses KVM there (its src/hyperlight_host, virtual_machine/kvm/
aarch64.rs): ports are words of a page, kvm_entry has the address of the store that it goes
on behind, and a guest whose memory was restored is entered one instruction behind
dispatch_function. One sandbox is started, the other one is made of a snapshot; both run in
one thread, in turn.
"""
import json
import os
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import splice
from programs import hlguest_of, mkelf_of
from tap import Skip, Tap, must, parser, run

ARCH = 6  # HEADER_ARCH
ENTRY, DISPATCH, STORE, HALT_AT = 0x1000, 0x1020, 0x1080, 0x1184  # own addresses
BASE = 0x7000  # of the first address, 0; not that of the ELF's note
PID, TID = 4711, 4712
RUN, CREATE, INIT = 0xae80, 0xae41, 0x4020aeae
IO_PAGE, CALL, HALT, OTHER = 0xffffff000, 101, 108, 99
CALLS = {6: 4, 8: 3}  # by descriptor of the vCPU: guest calls
HOST_CALLS = 5        # in each
NS = {"guest": 7000, "host call": 3000, "halt": 90000, "other": 500}


def name_dispatch(elf):
    """mkelf's guest, with a name for `dispatch` that Hyperlight's has."""
    with open(elf, "rb") as f:
        data = bytearray(f.read())
    headers, = struct.unpack_from("<Q", data, 40)
    at = [headers + 64 * i for i in range(9)]
    symtab, strtab = at[6], at[7]
    start, size = struct.unpack_from("<2Q", data, strtab + 24)
    strings = bytes(data[start:start + size])
    symbols, n = struct.unpack_from("<2Q", data, symtab + 24)
    for symbol in range(symbols, symbols + n, 24):
        name, = struct.unpack_from("<I", data, symbol)
        if strings[name:].startswith(b"dispatch\0"):
            struct.pack_into("<I", data, symbol, size)
    struct.pack_into("<2Q", data, strtab + 24, len(data), size + 18)
    data += strings + b"dispatch_function\0"
    with open(elf, "wb") as f:
        f.write(data)


class Host:
    """Its thread: what KVM's tracepoints tell of it."""

    def __init__(self, arch):
        self.file = splice.File()
        self.file.tracing.change(splice.of_arm64)
        if arch:
            self.file.features[ARCH] = struct.pack("<I", 64) + arch.encode().ljust(64, b"\0")
        self.make = splice.Maker(self.file)
        self.records, self.time = [], 10 ** 9

    def add(self, event, ns=0, **values):
        self.time += ns
        self.records.append(self.make.sample(event, self.time, 0, PID, TID, **values))

    def ioctl(self, fd, cmd, arg=0):
        self.add("sys_enter_ioctl", 10, fd=fd, cmd=cmd, arg=arg)

    def run(self, pc, ns=100):
        """Into the guest, where it is sampled."""
        self.add("kvm_entry", ns, vcpu_pc=BASE + pc)
        self.records.append(self.make.guest(BASE + pc + 4, self.time + 5, PID, TID))

    def store(self, pc, port, value):
        """The guest writes to a port, and its host is told."""
        self.add("kvm_exit", NS["guest"], ret=2, esr_ec=0x24, vcpu_pc=BASE + pc)
        self.add("kvm_mmio", 0, type=2, len=8, gpa=IO_PAGE + 8 * port, val=value)
        self.add("kvm_userspace_exit", 0, reason=6, errno=0)

    def halt(self, fd, value):
        self.store(HALT_AT, HALT, value)
        self.ioctl(fd, RUN)  # at once, to be behind the store
        self.add("kvm_userspace_exit", 10, reason=6, errno=-4 & 0xffffffff)

    def begin(self, vm, fd):
        self.ioctl(vm, CREATE)
        self.ioctl(fd, INIT)

    def call(self, fd, at):
        self.ioctl(fd, RUN)
        self.run(at, NS["halt"])
        for port, ns in [(CALL, NS["host call"])] * HOST_CALLS + [(OTHER, NS["other"])]:
            self.store(STORE, port, 1)
            self.ioctl(fd, RUN)
            self.run(STORE, ns - 10)
        self.halt(fd, 0)

    def write(self, path):
        self.begin(5, 6)
        self.begin(7, 8)
        self.ioctl(6, RUN)
        self.run(ENTRY)
        self.halt(6, BASE + DISPATCH)
        for i in range(max(CALLS.values())):
            for fd, calls in CALLS.items():
                if i < calls:
                    self.call(fd, DISPATCH + (4 if fd == 8 and i == 0 else 0))
        self.file.write(path, b"".join(self.records) +
                        struct.pack("<IHH", splice.ROUND, 0, 8))


def ask(hlguest, *words):
    out, err, status = run(hlguest, "report", "-q", "--format=json", *words)
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        raise RuntimeError(f"status {status}: {err}")
    return json.loads(out)


def base(hlguest):
    """By the first entries: also without what was halted with, and of the snapshot alone."""
    for words in ((), ("--sandbox=2",)):
        bases = [image["base"] for image in ask(hlguest, "guest.elf", "a.data", *words)["images"]]
        if bases != [f"{BASE:#x}"]:
            yield f"{words}: {bases}"
    if ask(hlguest, "guest.elf", "no-arch.data")["images"][0]["base"] != f"{BASE:#x}":
        yield "where no machine is told"


def calls(hlguest):
    told = ask(hlguest, "guest.elf", "a.data").get("calls")
    n = sum(CALLS.values())
    host_ns = n * HOST_CALLS * NS["host call"]
    # And into the guest, once from each entry, and out of it for what is no call.
    time_ns = n * ((HOST_CALLS + 2) * NS["guest"] + NS["other"]) + NS["guest"] + host_ns
    expected = {"guest": n, "host": n * HOST_CALLS, "host_ns": host_ns, "time_ns": time_ns}
    if told != expected:
        yield f"{told}, not {expected}"
    # Memory is no port where the machine is not told to be arm64's, and is none of x86's.
    for name in ("no-arch.data", "x86.data"):
        told = ask(hlguest, "guest.elf", name, "--force").get("calls")
        if told:
            yield f"{name}: {told}"


def sandboxes(hlguest):
    report = ask(hlguest, "guest.elf", "a.data", "--by=sandbox")
    told = [(one["samples"], one.get("calls", {}).get("guest"), one.get("calls", {}).get("host"))
            for one in report["sandboxes"]]
    expected = [(1 + 7 * CALLS[6], CALLS[6], HOST_CALLS * CALLS[6]),
                (7 * CALLS[8], CALLS[8], HOST_CALLS * CALLS[8])]
    if told != expected:
        yield f"{told}, not {expected}: {json.dumps(report['sandboxes'])}"


def main():
    args = parser(__doc__).parse_args()
    hlguest, tap = os.path.abspath(hlguest_of(args.build)), Tap()
    mkelf = os.path.abspath(mkelf_of(args.build))
    with tempfile.TemporaryDirectory(prefix="arm64-") as folder:
        os.chdir(folder)
        must(mkelf, "aarch64", "guest.elf")
        name_dispatch("guest.elf")
        for name, arch in (("a", "aarch64"), ("no-arch", None), ("x86", "x86_64")):
            Host(arch).write(f"{name}.data")
        for question in (base, calls, sandboxes):
            tap.run(question.__name__, lambda q=question: [*q(hlguest)])
        os.chdir("/")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
