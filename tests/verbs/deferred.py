#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Callchains whose user's part comes later (perf record --call-graph fp,defer).

    deferred.py --build DIR

Recordings of a VMM with two threads, made as linux/perf_event.h of Linux 6.18 has them
(PERF_RECORD_CALLCHAIN_DEFERRED): the stacks must be those of the same recording with whole
callchains, whatever stands between a sample and its user's part; what never came is told.
$PERF names a perf of 7.0 or later, whose joined stacks the filter shows: they are compared.
"""
import os
import re
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import made
from programs import hlguest_of
from tap import DATA, Skip, Tap, environment, filter_of, must, need, parser, run

DEMO = os.path.join(DATA, "demo.elf")
PERF = os.environ.get("PERF", "perf")
PID, TIDS = 70, (70, 71)
KERNEL, USER, DEFERRED = 2 ** 64 - 128, 2 ** 64 - 512, 2 ** 64 - 640
SAMPLE, LATER, MMAP2, COMM, ROUND = 9, 22, 10, 3, 68
HOST_KERNEL, HOST_USER, GUEST_USER = 1, 2, 5
KIND = made.IP | made.TID | made.TIME | made.PERIOD | made.CALLCHAIN | made.RAW | \
    made.IDENTIFIER
FLAGS = 1 << 18 | 1 << 38 | 1 << 39  # sample_id_all, defer_callchain, defer_output
# The second as if it were software's: as a tracepoint perf would ask for its format.
EVENTS = (("cpu-clock", 1, 0), ("syscalls:sys_enter_ioctl", 1, 9))
FILES = {"main": 0x10000, "run": 0x20000, "poll": 0x30000, "log": 0x40000}
FOLDED = ("--mode=all", "--format=folded")
GUEST = 0x5000 + 0x10
FEW = 10  # addresses outside of an ELF do not tell that it is a wrong one


def attr(kind, config, flags):
    return struct.pack("<IIQQQQQ", kind, 128, config, 1, KIND, 0, flags).ljust(128, b"\0")


def trailer(tid, time):
    return struct.pack("<IIQQ", PID, tid, time, 1)


class Vmm:
    """Its records, and the same with whole callchains."""

    def __init__(self):
        self.deferred, self.whole, self.now = [], [], 1000
        self.cookies = dict.fromkeys(TIDS, 1)
        self.put(made.record(COMM, 0, struct.pack("<II", PID, PID) + made.text("vmm") +
                             trailer(PID, 0)))
        for name, at in FILES.items():
            self.put(made.record(MMAP2, HOST_USER, struct.pack(
                "<IIQQQIIQQII", PID, PID, at, 0x1000, 0, 0, 0, 0, 0, 5, 2) +
                made.text("/" + name) + trailer(PID, 0)))

    def put(self, data):
        self.deferred.append(data)
        self.whole.append(data)

    def cookie(self, tid):
        return (2 * self.cookies[tid] + 1) << 32 | 1  # of the first CPU

    def sample(self, tid, mode, kernel, user, ip=None, event=0, raw=b""):
        """user: what the thread does in user mode, the innermost first."""
        self.now += 10
        user = [FILES[name] + 0x123 for name in user]
        for records, chain in (
                (self.deferred, [KERNEL, *kernel, DEFERRED, self.cookie(tid)]),
                (self.whole, [KERNEL, *kernel, USER, *user])):
            if mode == HOST_USER:
                chain = [USER, *user]
            chain = struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)
            head = struct.pack("<QQIIQQ", event + 1, kernel[0] if ip is None else ip, PID, tid,
                               self.now, 7)
            body = raw.ljust(44, b"\0")
            records.append(made.record(SAMPLE, mode, head + chain + struct.pack("<I", 44) +
                                       body))

    def enter(self, tid, user):
        """KVM_RUN, as struct syscall_trace_enter has it."""
        self.sample(tid, HOST_KERNEL, [2 ** 64 - 0x5000], user, event=1,
                    raw=struct.pack("<HBBiQQQQ", 700, 0, 0, PID, 16, 9, 0xae80, 0))

    def back(self, tid, user, wrong=False, tid_of=None):
        """The thread goes back to user mode: its user's part is recorded."""
        self.now += 10
        ips = [FILES[name] + 0x123 for name in user]
        self.deferred.append(made.record(LATER, HOST_USER, struct.pack(
            f"<QQ{len(ips)}Q", self.cookie(tid) + wrong * (2000 << 32), len(ips), *ips) +
            trailer(tid_of or tid, self.now)))
        self.cookies[tid] += 1

    def write(self, path, whole=False, pipe=False):
        records = b"".join(self.whole if whole else self.deferred)
        flags = FLAGS & (1 << 18) if whole else FLAGS
        attrs = [attr(kind, config, flags) for _, kind, config in EVENTS]
        desc = struct.pack("<II", len(EVENTS), 128)
        for i, (name, _, _) in enumerate(EVENTS):
            name = name.encode().ljust(64, b"\0")
            desc += attrs[i] + struct.pack("<II", 1, len(name)) + name + \
                struct.pack("<Q", i + 1)
        with open(path, "wb") as f:
            if pipe:
                f.write(struct.pack("<8sQ", b"PERFILE2", 16))
                for i, a in enumerate(attrs):
                    f.write(made.record(64, 0, a + struct.pack("<Q", i + 1)))
                f.write(made.record(80, 0, struct.pack("<Q", 12) + desc) + records)
                return
            at = 104 + 8 * len(attrs)
            data = at + 144 * len(attrs)
            f.write(struct.pack("<8s12Q", b"PERFILE2", 104, 144, at, 144 * len(attrs), data,
                                len(records), 0, 0, 1 << 12, 0, 0, 0))
            f.write(struct.pack("<2Q", 1, 2))
            for i, a in enumerate(attrs):
                f.write(a + struct.pack("<QQ", 104 + 8 * i, 8))
            f.write(records + struct.pack("<QQ", data + len(records) + 16, len(desc)) + desc)


def work(lost=False):
    """Two threads run guests, poll, and are seen in the kernel; records of one stand between
    those of the other. lost: one user's part is not there, and others are of no sample."""
    vmm = Vmm()
    # perf has names for users' addresses in samples of users: the filter keeps them.
    for tid in TIDS:
        vmm.sample(tid, HOST_USER, [0], ["log", "poll", "run", "main"], ip=FILES["log"])
    for i in range(20):
        for tid in TIDS:
            vmm.enter(tid, ["run", "main"] if i % 2 else ["run", "poll", "main"])
            vmm.sample(tid, GUEST_USER, [], [], ip=GUEST + i % FEW)
        for tid in TIDS:
            vmm.sample(tid, HOST_KERNEL, [2 ** 64 - 0x6000], ["run", "main"] if i % 2 else
                       ["run", "poll", "main"])
        for tid in TIDS:
            part = ["run", "main"] if i % 2 else ["run", "poll", "main"]
            if lost and tid == TIDS[1] and i == 7:
                vmm.back(tid, part, wrong=True)
            elif lost and tid == TIDS[1] and i == 8:
                vmm.back(tid, part, tid_of=99)
            else:
                vmm.back(tid, part)
                vmm.sample(tid, HOST_USER, [0], ["log", "main"], ip=FILES["log"])
        if i % 3 == 0:
            vmm.put(made.record(ROUND, 0, b""))
    return vmm


class Place:
    def __init__(self, build, folder):
        self.hlguest, self.filter, self.folder = hlguest_of(build), filter_of(build), folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def report(self, name, *words):
        out, err, status = run(self.hlguest, "report", "--stacks=callgraph", "--force",
                               *(words or ["--mode=all"]), DEMO + "@0x4000", self.path(name))
        if status:
            raise RuntimeError(f"{words}: status {status}: {err}")
        return out, err


def check_joined(place):
    work().write(place.path("deferred"))
    work().write(place.path("whole"), whole=True)
    for words in ([*FOLDED], ["--mode=all", "--format=json"], [*FOLDED, "--roots=tid"],
                  ["--mode=host", "--format=folded"]):
        one, two = (place.report(name, *words) for name in ("deferred", "whole"))
        if [t.replace("deferred", "whole") for t in one] != list(two):
            yield f"{words}: {one}\nnot {two}"
    text, err = place.report("deferred", *FOLDED)
    for said in "[main];[run];[unknown] 70", "[main];[poll];[run];[unknown];[guest];", \
            "[main];[log] 140":
        if said not in text:
            yield f"not {said}: {text}"
    if err:
        yield err
    drawn = [must(place.hlguest, "flame", "--force", DEMO + "@0x4000", place.path(name))
             for name in ("deferred", "whole")]
    if drawn[0].replace("deferred", "whole") != drawn[1]:
        yield "another flame graph"


def check_missing(place):
    """Of thread 71, one KVM_RUN and one sample each of two times; in a pipe, of all."""
    work(lost=True).write(place.path("lost"))
    text, err = place.report("lost")
    if not re.search(r"\b4 callchains of the host end in the kernel", text + err):
        yield text + err
    shutil.copy(place.path("lost"), place.path("again"))
    text = must(place.hlguest, "report", "--mode=all", "--stacks=callgraph", "--force", DEMO + "@0x4000",
                *map(place.path, ("lost", "again")))
    if not re.search(r"\b8 callchains of the host end in the kernel", text):
        yield text
    work().write(place.path("piped"), pipe=True)
    text, err = place.report("piped")
    if "callchains of the host end" in text + err:
        yield text + err
    with open(place.path("piped"), "rb") as f:
        piped = f.read()
    # Standard input is no file, whatever is called so.
    with open(place.path("-"), "wb") as f:
        f.write(piped[:100])
    out, err, _ = run("sh", "-c", f"cd {place.path('')} && cat piped | {place.hlguest} report "
                      f"--mode=all --stacks=callgraph --force {DEMO}@0x4000 -")
    if len(piped) < 1000 or \
            not re.search(r"\b80 callchains of the host end in the kernel", out + err):
        yield out + err


def check_long(place):
    """What is joined has as many words as any chain at most: the outermost are cut off."""
    texts, kernel = [], [2 ** 64 - 0x6000] * 8000
    room = 8191 - 2 - len(kernel)  # HLG_CHAIN_MAX, and two markers
    for n in 4000, room:
        vmm = Vmm()
        vmm.sample(TIDS[0], HOST_USER, [0], ["log", "poll", "run", "main"], ip=FILES["log"])
        vmm.sample(TIDS[0], HOST_KERNEL, kernel, [])
        vmm.back(TIDS[0], (["log"] + ["run", "poll"] * 2000)[:n])
        vmm.write(place.path("long"))
        texts.append(place.report("long", *FOLDED))
    if texts[0] != texts[1] or texts[0][0].count("[run]") <= room // 2 - 2:
        yield f"{texts[0]}\nnot {texts[1]}"


def check_inject(place):
    """A guest's sample has its own address, and waits for nothing."""
    must(place.hlguest, "inject", "--force", DEMO + "@0x4000", place.path("deferred"), "-o",
         place.path("injected"))
    with open(place.path("injected"), "rb") as f:
        data = f.read()
    for i in range(FEW):
        if data.count(struct.pack("<3Q", 2, USER, GUEST + i)) != 20 // FEW * len(TIDS):
            yield f"sample {i}"


def check_perf(place):
    """The filter's are the same, under a perf that joins them."""
    need(PERF)
    version = must(PERF, "--version")
    if int(re.search(r"(\d+)\.", version)[1]) < 7:
        raise Skip(f"{version.strip()} does not know such records")
    words = ["mode=all", "stacks=callgraph", "format=folded", "force=yes"]
    texts = [must(PERF, "script", "-i", place.path(name), "--dlfilter", place.filter,
                  "--dlarg", DEMO + "@0x4000", *(w for word in words for w in ("--dlarg", word)),
                  env=environment()) for name in ("deferred", "whole")]
    if sorted(texts[0].splitlines()) != sorted(texts[1].splitlines()):
        yield f"{texts[0]}\nnot {texts[1]}"
    _, err, _ = run(PERF, "script", "-i", place.path("lost"), "--dlfilter", place.filter,
                    "--dlarg", DEMO + "@0x4000", "--dlarg", "mode=all", "--dlarg",
                    "stacks=callgraph", "--dlarg", "emit=pass", env=environment())
    if "4 callchains of the host end in the kernel" not in err:
        yield err


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="deferred-") as folder:
        place = Place(build, folder)
        tap.run("joined", lambda: list(check_joined(place)))
        tap.run("missing", lambda: list(check_missing(place)))
        tap.run("long", lambda: list(check_long(place)))
        tap.run("inject", lambda: list(check_inject(place)))
        tap.run("by perf", lambda: list(check_perf(place)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
