#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Killed at any moment: what was to be written is whole or absent, and nothing else is left.

    kills.py --build DIR [--times N] [--seed N] [--case TEXT]

Programs that are really under way, as their inputs are long, get SIGKILL, SIGTERM or ^C at
random times between their start and a little behind their end. Then:

- they ended by that signal and without a word, or as ever;
- the file is the one that an undisturbed run writes, or what was there before, or is not
  there as before;
- inputs are as they were; nothing else is in the folder, or, behind kill -9, nothing that
  the next run does not remove;
- no process that they started is left, which is a matter of `record`: perf ends, and the
  guest; and no program of the kernel's.

A report of the filter that ^C cuts short says `interrupted`. What record writes is perf's:
absent or readable. `record` runs a script that behaves as perf does, and, where KVM opens
and perf may record, perf itself with the micro-VM.

--times: so many kills of each command; else there are a few, by a seed that is told.
"""
import contextlib
import glob
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from bed import Bed, Case
from microvm import TABLES, guest, monitor
from programs import hlguest_of, program, session
from tap import DATA, Skip, Tap, filter_of, need, must, parser, run

OLD = b"what was there before\n"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SAMPLES = {"long.data": ("demo-user.data", 600000), "stacks.data": ("demo-host.data", 600000),
           "exits.data": ("demo-exits.data", 200000)}
TEMPORARY = re.compile(r"\.out\.hlguest-[0-9a-f]{16}")
# Verbs that write a file, and why they have no case.
WITHOUT = {"top": "its recording is perf's, as record's is, and appended to as it comes"}
PATIENCE = 20  # seconds for what must end soon

# As perf record does: a signal ends the command and the recording, which is written then.
PERF = """#!/bin/sh
trap 'end TERM' TERM; trap 'end INT' INT
end() {
	trap '' TERM INT
	[ -z "$!" ] || kill -KILL $!
	cat demo-user.data >out
	[ "$1" ] || exit 0
	trap - $1
	kill -$1 $$
}
sleep $SECONDS_OF_GUEST &
wait $!
end
"""


class Kill(Case):
    """A command that is to be killed."""

    few = 0         # kills in the suite; of those with none, some are chosen
    span = None     # seconds in which they come; None: as long as it runs
    silent = True   # says nothing when a signal ends it
    env = {}
    why = None      # it cannot be run

    def differences_of_file(self, content):
        """From what may be in its file."""
        if content != self.right["made"]["out"]:
            yield f"out is not whole: {len(content)} bytes for {len(self.right['made']['out'])}"

    def may_be_left(self, sig, made):
        """Names of what may be there beside `out`: kill -9 lets nobody clear up."""
        return [n for n in made if sig == signal.SIGKILL and TEMPORARY.fullmatch(n)]

    def statuses(self, sig):
        return (-sig, self.right["status"])

    def left_in_kernel(self):
        """Differences from nothing."""
        return ()


class Calibrate(Kill):
    """It measures: no two files are the same."""

    def differences_of_file(self, content):
        right = self.right["made"]["out"]
        if content[-1:] != b"\n" or content.count(b"\n") != right.count(b"\n"):
            yield f"out is not whole: {content[-99:]!r}"


class Doctor(Kill):
    """It tells of the machine as it is at the moment."""

    def differences_of_file(self, content):
        if content[-1:] != b"\n":
            yield f"out is not whole: {content[-99:]!r}"


class Fleet(Kill):
    """Its folder stays, for --resume; who runs the tasks is told by them, too."""
    silent = False

    def may_be_left(self, sig, made):
        return super().may_be_left(sig, made) + [n for n in made if n.startswith("out.d/")]

    def statuses(self, sig):
        return (*super().statuses(sig), 1, 128 + sig)


class Inject(Kill):
    """It notes signals, and removes what it has begun."""
    few = 2

    def may_be_left(self, sig, made):
        """The folder of companions is used again by the next run."""
        beside = [n for n in made if n.startswith("out.elf/")]
        whole = "out" in made and made["out"] != OLD
        return super().may_be_left(sig, made) + \
            (beside if whole or sig == signal.SIGKILL else [])


class Filter(Kill):
    """perf script takes ^C for the end of what it reads."""
    few = 2
    silent = False

    def differences_of_file(self, content):
        if b"interrupted" not in content:
            yield from super().differences_of_file(content)

    def statuses(self, sig):
        return (-sig, 0)


class Record(Kill):
    """perf is told to end, and what it has is counted."""
    few = 3
    silent = False
    whole = None  # what the double writes

    def differences_of_file(self, content):
        if self.whole:
            if content != self.whole:
                yield f"out is not whole: {len(content)} bytes for {len(self.whole)}"
            return
        with tempfile.NamedTemporaryFile(suffix=".data") as f:
            f.write(content)
            f.flush()
            out, err, status = run(self.argv[0], "report", "--stacks=counters", f.name)
        if status and "no samples" not in err or "cut off" in out:
            yield f"out cannot be read: {status}, {err!r}, {out!r}"

    def may_be_left(self, sig, made):
        """What was there steps aside; what is noted of a recording stands beside it."""
        noted = made.get("out", OLD) != OLD and made.get("out.hlguest", b"").endswith(b"}\n")
        return [n for n in made if n == "out.old" and made[n] == OLD
                or n == "out.hlguest" and noted]

    def statuses(self, sig):
        # perf ends its command by SIGTERM when it gets ^C; either may be first.
        return (-sig, 128 + sig, 128 + signal.SIGTERM, 0)


class Callers(Record):
    """No process, and so nothing, has the kernel's program any more."""
    PROGRAM = "hlg_callers_sam"  # as the kernel cuts its name

    def loaded(self):
        return {p["id"] for p in json.loads(must("bpftool", "-j", "prog", "list"))
                if p.get("name", "").startswith(self.PROGRAM)}

    def left_in_kernel(self):
        """Others may run hlguest meanwhile: of theirs a process is known."""
        if not shutil.which("bpftool") or run("bpftool", "version")[2]:
            return
        until = time.monotonic() + PATIENCE
        left = self.loaded()
        while left and time.monotonic() < until:
            time.sleep(0.05)
            left &= self.loaded()
            left -= held() if left else set()
        if left:
            yield f"BPF programs are left: {sorted(left)}"


def held():
    """BPF programs that processes have open."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as f:
            found.update(map(int, re.findall(r"^prog_id:\s+(\d+)$", f.read(), re.M)))
    return found


def cases(build, folder):
    """What is run; of what cannot be, why."""
    hlguest = hlguest_of(build)
    user = ["demo.elf", "long.data"]

    def verb(*words, inputs=("demo.elf", "long.data"), kind=Kill, name=None, **how):
        return kind(name or " ".join(words[:1] + words[3:]), [hlguest, *words],
                    inputs=inputs, out=True, **how)

    found = [verb("report", *user, "--format=" + form, "--out=out")
             for form in ("text", "csv", "json", "pprof", "folded", "callgrind", "speedscope")]
    found += [
        verb("report", *user, "stacks.data", "-j2", "--out=out", name="report of two, -j2",
             inputs=("demo.elf", "long.data", "stacks.data")),
        verb("merge", *["saved.pb.gz"] * 300, "-o", "out", inputs=("saved.pb.gz",),
             name="merge"),
        verb("inject", *user, "-o", "out", kind=Inject),
        verb("inject", *user, "--direct", "-o", "out", kind=Inject),
        verb("annotate", *user, "--out=out"),
        verb("flame", "demo.elf", "stacks.data", "-o", "out", name="flame",
             inputs=("demo.elf", "stacks.data")),
        verb("diff", *user, "stacks.data", "--out=out", name="diff", good=(0, 3, 4),
             inputs=("demo.elf", "long.data", "stacks.data")),
        verb("exits", "demo.elf", "exits.data", "--out=out", name="exits",
             inputs=("demo.elf", "exits.data")),
        verb("calibrate", "-q", "--only=precision", "--time=10", "--out=out", name="calibrate",
             inputs=(), kind=Calibrate),
        verb("extract", "-q", "host", "-o", "out", name="extract", inputs=("host",)),
        verb("windows", "-q", "demo.elf", "demo-windows.data", "--out=out", name="windows",
             inputs=("demo.elf", "demo-windows.data")),
        verb("base", *user, "--out=out"),
        verb("lookup", *user, "5000", "--out=out", name="lookup"),
        verb("kallsyms", "demo.elf", "--out=out", name="kallsyms", inputs=("demo.elf",)),
        verb("sysprof", "stream", "--out=out", name="sysprof", inputs=("stream",)),
        verb("doctor", "demo.elf", "--out=out", name="doctor", inputs=("demo.elf",), kind=Doctor,
             good=(0, 1)),
        verb("fleet", "submit", "--list=list", "-o", "out", "demo.elf", name="fleet",
             inputs=("demo.elf", "long.data", "stacks.data", "list"), kind=Fleet),
        Filter("perf script with the filter", [
            "perf", "script", "-i", "long.data", "--dlfilter", filter_of(build), "--dlarg",
            "demo.elf", "--dlarg", "out=out"], inputs=("demo.elf", "long.data"), out=True),
    ]
    for case in found:
        if case.name in ("report --format=text --out=out", "report of two, -j2", "merge"):
            case.few = 2
        if case.name == "merge":
            case.silent = False  # it begins with saying that a file is named twice
    return found + list(records(build, folder, hlguest))


def without_case(hlguest, found):
    """Verbs that write a file, and that nobody kills."""
    verbs = re.findall(r"^option\t(\w+)\t--output\t", must(hlguest, "help", "--options"), re.M)
    words = {case.argv[1] for case in found}
    return [f"{verb} has no case" for verb in verbs if (verb in words) == (verb in WITHOUT)] + \
        ["hlguest help lists no verbs that write"] * (not verbs)


def records(build, folder, hlguest):
    """With perf's double, and with perf."""
    made = os.path.join(folder, "bin")
    os.mkdir(made)
    with open(os.path.join(made, "perf"), "w", encoding="ascii") as f:
        f.write(PERF)
    os.chmod(os.path.join(made, "perf"), 0o755)
    with open(os.path.join(DATA, "demo-user.data"), "rb") as f:
        whole = f.read()
    words = [hlguest, "record", "-e", "cpu-clock", "-o", "out", "--"]
    for seconds, span in (("0.2", None), ("60", 0.4)):
        case = Record(f"record by a double of perf, {seconds} s", [*words, "true"],
                      inputs=(), out=True)
        case.env = {"PATH": made + ":" + os.environ["PATH"], "SECONDS_OF_GUEST": seconds}
        case.whole, case.span = whole, span
        yield case
    why, vm, elf, tree, tables = None, "", "", "", ""
    try:
        vm, elf, tree = monitor(build, folder), *(guest(name, build, folder)
                                                  for name in ("demo", "tree"))
        tables = guest("tree", build, folder, *TABLES)
    except Skip as e:
        why = e
    for seconds, span, few in (("0.5", None, 0), ("60", 1, 2)):
        case = Record(f"record, {seconds} s", [*words, vm, f"--seconds={seconds}", elf],
                      inputs=(), out=True)
        case.span, case.few, case.why = span, few, why
        yield case
    # Behind the end of the guest the recording is written anew.
    for way, seconds, span, few in (("fp", "0.3", None, 2), ("fp", "60", 1, 1),
                                    ("cfi", "0.3", None, 1), ("cfi", "60", 1, 0)):
        case = Callers(f"record --guest-stacks={way}, {seconds} s",
                       [hlguest, "record", "--guest-stacks=" + way, "-F", "4000", *words[2:], vm,
                        f"--seconds={seconds}", "--sandboxes=2", tables if way == "cfi" else tree],
                       inputs=(), out=True)
        case.span, case.few, case.why = span, few, why
        yield case


def add_inputs(bed, build):
    """What takes long to read."""
    repeat = program(build, "REPEAT", "tests/bench/repeat")
    for name, (source, samples) in SAMPLES.items():
        path = bed.inputs[name] = os.path.join(bed.folder, name)
        # In one block, as of a fast disk: perf reads all before the filter has the first.
        must(repeat, f"--samples={samples}", "--block=1000000", f"{DATA}/{source}", path)
    host = bed.inputs["host"] = os.path.join(bed.folder, "host")
    with open(host, "wb") as f, open(os.path.join(DATA, "demo.elf"), "rb") as elf:
        f.write(bytes(1 << 24))  # a host that is large
        f.write(elf.read())
    listed = bed.inputs["list"] = os.path.join(bed.folder, "list")
    with open(listed, "w", encoding="ascii") as f:
        f.write("long.data\nstacks.data\n")
    saved = os.path.join(bed.folder, "saved.pb.gz")
    run(hlguest_of(build), "report", "demo.elf", "demo-user.data", "--by=tid,cpu",
        "--format=pprof", "--out=" + saved, cwd=DATA)
    if os.path.exists(saved):  # not in every build
        bed.inputs["saved.pb.gz"] = saved


def learn(place, case):
    """How it ends undisturbed, and how long it takes."""
    if case.why:
        raise Skip(case.why)
    if "perf" in case.argv[:1]:
        need("perf")
        if "perf" in os.environ.get("HLG_WITHOUT", "").split():
            raise Skip("perf cannot load this build's filter")
    case.right = {"status": 0, "out": b"", "err": b"", "made": {}}
    if case.span:
        return
    took = []
    for _ in range(2):
        begin = time.monotonic()
        found = place.run(case, env=case.env)
        took.append(time.monotonic() - begin)
        if found.status == 1 and ("not in this build" in found.err or "without" in found.err):
            raise Skip(found.err.strip())
        if found.status not in case.good:
            raise RuntimeError(f"status {found.status}: {found.err}")
    case.span = min(took)
    case.right = {"status": found.status, "out": found.out, "err": found.err, "made": found.made}


class Strike:
    """One signal at one moment; then waits until all is quiet."""

    def __init__(self, sig, at, group):
        self.sig, self.at, self.group = sig, at, group
        self.late = False  # it had ended
        self.left = {}     # processes that did not end

    def __str__(self):
        return f"{self.sig.name}{' to all' * self.group} after {1000 * self.at:.0f} ms"

    def __call__(self, child):
        time.sleep(self.at)
        self.late = child.poll() is not None
        if not self.late:
            (os.killpg if self.group else os.kill)(child.pid, self.sig)
        until = time.monotonic() + PATIENCE
        self.left = session(child.pid)
        while self.left and time.monotonic() < until:
            time.sleep(0.01)
            self.left = session(child.pid)
        for number in self.left:  # ours, and nobody else will end them
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def judge(case, strike, found, before):
    """Differences from how it is to end."""
    if strike.left:
        yield f"still runs: {sorted(strike.left.values())}"
    if strike.late and found.status != case.right["status"]:
        yield f"undisturbed, it ended with {found.status}, {found.err!r}"
    if found.status not in case.statuses(strike.sig):
        yield f"status {found.status}, {found.err!r}"
    # What it says when its file is there, an undisturbed run says as well.
    whole = found.made.get("out", before) != before
    if case.silent and found.err and not (whole and found.err == case.right["err"]):
        yield f"says {found.err!r}"
    if case.silent and not case.right["out"].startswith(found.out):
        yield f"prints {found.out[-99:]!r}"
    content = found.made.get("out")
    if content is not None and content != before:
        yield from case.differences_of_file(content)
    elif "no samples" in str(found.err):  # what was read until then is nothing to report
        pass
    elif found.status == case.right["status"] and content != case.right["made"].get("out"):
        yield "no file, but success"
    names = [n for n in found.made if n != "out"]
    if content is not None and content != before:
        names = [n for n in names if n not in case.right["made"]]
    yield from case.left_in_kernel()
    unknown = set(names) - set(case.may_be_left(strike.sig, found.made))
    if unknown:
        yield f"leaves {sorted(unknown)}"


def kill(place, case, strike, old):
    """One kill; (differences, its outcome)."""
    if old and case.out:
        with open(place.path("out"), "wb") as f:
            f.write(OLD)
    found = place.run(case, env=case.env, wait=strike, keep=True, start_new_session=True)
    differences = list(judge(case, strike, found, OLD if old else None))
    if any(TEMPORARY.fullmatch(name) for name in found.made):
        again = place.run(case, env=case.env)
        if sorted(again.made) != sorted(case.right["made"]):
            differences.append(f"the next run leaves {sorted(again.made)}")
    place.collect(keep=False)
    differences += [f"{name} is not as it was" for name in place.changed()]
    return [f"{strike}: {what}" for what in differences], found


def kills(place, case, times, chance):
    """(differences, what there was to see)."""
    learn(place, case)
    wrong, i, struck, whole = [], 0, 0, 0
    first, span = chance.randrange(3), 1.05 * case.span
    while struck < times and i < 4 * times:
        sig = SIGNALS[(first + i) % 3]
        strike = Strike(sig, chance.uniform(0, span),
                        sig == signal.SIGINT and chance.random() < 0.5)
        differences, found = kill(place, case, strike, old=chance.random() < 0.5)
        wrong += differences
        struck += not strike.late
        # What else the machine does is not the same all the time.
        span = 0.97 * span if strike.late else min(1.01 * span, 1.05 * case.span)
        i += 1
        whole += found.made.get("out", OLD) != OLD
    return wrong, f"{i} kills, {struck} while it ran ({1000 * case.span:.0f} " \
                  f"ms), {whole} with a new file"


def choose(found, args, chance):
    """{case: how many kills}."""
    found = [case for case in found if args.case in case.name]
    few = [case for case in found if case.few == 0 and not isinstance(case, Record)]
    chance.shuffle(few)
    return {case: args.times or case.few or 1 for case in found
            if args.times or case.few or case in few[:3]}


def main():
    p = parser(__doc__)
    p.add_argument("--times", type=int, default=0, help="kills of each command while it runs")
    p.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    p.add_argument("--case", default="", help="only commands whose names have this in them")
    args = p.parse_args()
    tap = Tap()
    print(f"# seed {args.seed}")
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        bed = Bed(args.build, folder, 1)
        add_inputs(bed, args.build)
        bed.open()
        found = cases(args.build, folder)
        wrong = without_case(hlguest_of(args.build), found)
        tap.result(not wrong, "every verb that writes has a case", wrong)
        for case, times in choose(found, args, chance).items():
            bed.tell(tap, case, lambda c, n=times: bed.run(lambda place: kills(place, c, n, chance)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
