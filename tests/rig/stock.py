#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A stock kernel's KVM: does hlguest do there what it does under this machine's?

    stock.py --build DIR [--kernel 6.1|6.12] [--vmx ARCHIVE --sha256 SUM]

One boot of the rig runs the micro-VM under hlguest in every way that records; what comes
back is judged here. Nothing is taken from hlguest's word alone: samples are held against the
oracle of kit/attribution.py, exits against the micro-VM's own counts and perf stat's of
kvm's tracepoints, stacks against the thread that a sandbox runs on. Skipped, with the
reason, where QEMU or the kernel cannot be had. With --vmx all of it under Intel's VMX, by Bochs
(README.md): by hand, some minutes.
"""
import collections
import csv
import io
import json
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in ("boot", "../kit")]
import called
import known_exits
import onepath
import rig
from attribution import Elf, attribute, check, read_samples
from microvm import TABLES, guest
from programs import hlguest_of
from tap import Skip, Tap, must, need, parser, report

BOOT = 15  # seconds until the first line of a shell
RUNS = 300
BASES = (0x4000, 0x7F3A51C26000)
LARGE = 0x7F3A40000000  # of pages of 2 MiB
LEAST = 80  # samples, on a machine that does much else
PORTS = {"99 Log": "log_line", "101 CallFunction": "call_host", "103 DebugPrint": "debug_print",
         "108 Halt": "_start"}
NEVER = "never_called"
PROGRAM = "hlg_callers_output"  # where perf's events may not be taken
# A line of perf script: tid, seconds, nanoseconds, event, text.
PRINTED = re.compile(r"^ *(\d+) +(\d+)\.(\d{9}): +kvm:kvm_(\w+): +(.*)$", re.M)
RESET = 0xFFF0  # where a processor begins

# What differs by vendor: how doctor says it; exits' names for it, for out and for a page that
# is not there; what is said of where a triple fault was.
Vendor = collections.namedtuple("Vendor", "kvm isa io page where")
SVM = Vendor("kvm_amd: the processor's SVM", "SVM", "io", "npf",
             r"some time after rip 0x([0-9a-f]+) \(KVM on AMD .*\)")
VMX = Vendor("kvm_intel: the processor's VMX", "VMX", "IO_INSTRUCTION", "EPT_VIOLATION",
             r"at about rip 0x([0-9a-f]+) \(look there .*\)")

# Each step leaves what it printed in out/STEP.out and out/STEP.err, its status in out/STEP.
SCRIPT = f"""
step() {{
	name=$1
	shift
	"$@" >out/$name.out 2>out/$name.err
	echo $? >out/$name
}}
export XDG_STATE_HOME=/tmp
step doctor hlguest doctor
step ring0 microvm --ring=0 --runs=2 --base=random:1 demo.elf
step ring3 microvm --runs=2 --base=random:1 demo.elf
step fault microvm calls.elf
step hung microvm --deadline=1 hung.elf
step record hlguest record -F 2000 -o out/record.data -- microvm --seconds=1.5 demo.elf
step report hlguest report --format=csv demo.elf out/record.data
step exits perf stat -x, -o out/stat.csv -e kvm:kvm_exit,kvm:kvm_entry,kvm:kvm_pio \\
	-e kvm:kvm_page_fault,kvm:kvm_userspace_exit -- \\
	hlguest record --exits -o out/exits.data -- microvm --runs={RUNS} demo.elf
step stacks hlguest record --stacks -F 2000 -o out/stacks.data -- microvm --seconds=1.5 \\
	--sandboxes=2 --base={BASES[0]:#x} --base={BASES[1]:#x} demo.elf
step folded hlguest flame --format=folded --roots=tid demo.elf@auto out/stacks.data
step callers hlguest record --guest-stacks -F 2000 -o out/callers.data -- microvm \\
	--seconds=1.5 --base={BASES[1]:#x} tree.elf
step tables hlguest record --guest-stacks=cfi -F 2000 -o out/tables.data -- microvm \\
	--seconds=1.5 --base={BASES[1]:#x} tables.elf
limited="./setpriv --reuid=65534 --clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon"
chmod 666 /dev/kvm
chmod 777 . out
for scope in 1 2 3; do
	echo $scope >/proc/sys/kernel/yama/ptrace_scope
	step yama$scope $limited hlguest record --guest-stacks -F 2000 -o out/yama$scope.data -- \\
		microvm --seconds=1 --sandboxes=2 tree.elf
done
"""

# What --brief leaves out: live tests tell most of it, where KVM is.
MORE = f"""
step yama-tables $limited hlguest record --guest-stacks=cfi -F 2000 -o out/yama-tables.data -- \\
	microvm --seconds=1 tables.elf
$limited microvm --seconds=90 --deadline=99 tree.elf 2>/dev/null &
step yama-process $limited hlguest record --guest-stacks -F 2000 -o out/yama-process.data -p $! -- \\
	sleep 1
$limited hlguest record --guest-stacks -F 2000 -o out/killed.data -p $! 2>/dev/null &
for i in $(seq 20); do
	sleep 1
	bpftool prog list | grep -q {PROGRAM} && break
done
step there bpftool prog list
kill -9 $!
sleep 2
step killed bpftool prog list
killall microvm
echo 0 >/proc/sys/kernel/ftrace_enabled
step untraced $limited hlguest record --guest-stacks -F 2000 -o out/untraced.data -- microvm \\
	--seconds=1 tree.elf
echo 1 >/proc/sys/kernel/ftrace_enabled
echo 0 >/proc/sys/kernel/yama/ptrace_scope
step kernel hlguest record -F 2000 -o out/kernel.data -- microvm --seconds=1.5 --ring=0 demo.elf
step plain perf record -q -a -e kvm:kvm_exit,kvm:kvm_entry,kvm:kvm_pio -o out/plain.data -- \\
	microvm --sandboxes=2 --runs=20 demo.elf
step callers0 hlguest record --guest-stacks -F 2000 -o out/callers0.data -- microvm \\
	--seconds=1.5 --ring=0 tree.elf
step judged hlguest record --guest-stacks -F 2000 -o out/judged.data -- microvm --seconds=1 \\
	--slots=256 --large-pages --two-tables --base={LARGE:#x} gcc.elf
step judged0 hlguest record --guest-stacks -F 2000 -o out/judged0.data -- microvm \\
	--seconds=1 --ring=0 gcc.elf
step five hlguest record --guest-stacks -F 2000 -o out/five.data -- microvm --seconds=1 \\
	--five-levels --base={BASES[1]:#x} gcc.elf
step before dmesg
step hostile hlguest record --guest-stacks -F 2000 -o out/hostile.data -- microvm \\
	--seconds=1 --hostile --slots=7 hostile.elf
step after dmesg
step windows hlguest record -W cpu-clock,context-switches,page-faults -o out/windows.data -- \\
	microvm --seconds=1 demo.elf
step table hlguest windows --format=csv demo.elf out/windows.data
step calibrate hlguest calibrate --time=60 --runs=1 --operations=1000 --format=json
"""


class Back:
    """What came back."""

    def __init__(self, done, vendor):
        self.done = done
        self.vendor = vendor

    def path(self, name):
        return os.path.join(self.done.folder, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def must(self, step):
        """stdout of a step that had to succeed."""
        if self.text(step) != "0\n":
            raise RuntimeError(f"{step}: status {self.text(step)}{self.text(step + '.err')}")
        return self.text(step + ".out")


def boots(back, kernel):
    print(f"# {back.done.kernel}: first line after {back.done.boot:.1f} s, "
          f"all of it {back.done.seconds:.0f} s")
    if back.done.status:
        yield f"status {back.done.status}: {back.done.output}"
    if back.vendor is SVM and not back.done.boot < BOOT:
        yield f"the first line came after {back.done.boot:.1f} s"
    if not re.search(rf"linux-image-{re.escape(kernel)}\.\d", back.done.kernel):
        yield back.done.kernel


def doctor(back):
    lines = [line.split(None, 2) for line in back.must("doctor").splitlines()]
    for level, topic, text in (("ok", "/dev/kvm", f"opens ({back.vendor.kvm})"),
                               ("ok", "tracefs", "mounted, with events of kvm")):
        if [level, topic, text] not in lines:
            yield f"{topic}: {back.must('doctor')}"


def rings(back):
    """The same exits from either ring."""
    for ring in ("0", "3"):
        back.must(f"ring{ring}")
        said = back.text(f"ring{ring}.err").splitlines()[-1]
        counts = ", ".join(f"{port} 2" for port in PORTS)
        if said != f"microvm: 1 VM, ring {ring}, 2 runs; exits: {counts}":
            yield said


def ends(back):
    """A triple fault is one, and not at the reset vector; a guest that hangs, hangs."""
    for step, said in (("fault", "triple fault, an exception without a handler, " +
                        back.vendor.where),
                       ("hung", r"killed at its deadline, at rip 0x([0-9a-f]+) \(hung\? .*\)")):
        last = back.text(f"{step}.err").splitlines()[-1]
        found = re.fullmatch(f"microvm: guest: {said}", last)
        if not found or int(found[1], 16) in (0, RESET) or back.text(step) != "1\n":
            yield f"{step}: status {back.text(step)}{last}"


def profile(back, build, step, elf):
    """As readelf has it, verified, and nothing that never ran."""
    back.must(step)
    path = back.path(f"{step}.data")
    found = attribute(read_samples(path), Elf(elf), BASES[0])
    yield from check(build, path, elf, BASES[0], "json", found)
    document = json.loads(report(build, path, elf, "format=json"))
    samples = document["totals"]["guest"]["samples"]
    names = [f["name"] for f in document["functions"]]
    if samples < 300 or "sort_keys" not in names[:3] or NEVER in names:
        yield f"{samples} samples of {names}"
    verdict = must(hlguest_of(build), "report", elf, path)
    if not re.search(r"^check +OK: all \d+ (?:tested )?samples lie on instruction starts", verdict,
                     re.M):
        yield verdict


def same_report(back, build, elf):
    """There and here: the same, but for the paths."""
    there = back.must("report").replace("out/record.data", "DATA").replace("demo.elf", "ELF")
    here = must(hlguest_of(build), "report", "--format=csv", elf, back.path("record.data"))
    here = here.replace(back.path("record.data"), "DATA").replace(elf, "ELF")
    return [] if here == there else [f"there {there[:999]}", f"here {here[:999]}"]


def rows_of(build, back, elf, *words):
    """{(table, kind): {name: count}}"""
    out = must(hlguest_of(build), "exits", "--format=csv", *words, elf, back.path("exits.data"))
    found = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(out)):
        if row["count"]:
            found[row["record"], row["kind"]][row["name"]] = int(row["count"])
            if row["record"] == "reason" and row["kind"] == "exit" and \
                    row["isa"] != back.vendor.isa:
                found["isa", row["isa"]] = row
    return found


def exits(back, build, elf):
    """The micro-VM's own counts, perf stat's, and what is told.

    Each run ends with a Halt, which is the host's own time; the last has no entry."""
    back.must("exits")
    kvm = {row[2].removeprefix("kvm:kvm_"): int(row[0]) for row in
           csv.reader(io.StringIO(back.text("stat.csv"))) if len(row) > 2}
    rows = rows_of(build, back, elf)
    if any(table == "isa" for table, _ in rows):
        yield f"not {back.vendor.isa}: {rows}"
    reasons = rows["reason", "exit"]
    known = {back.vendor.io: kvm["pio"] - RUNS, back.vendor.page: kvm["page_fault"]}
    if {k: reasons.get(k) for k in known} != known or kvm["pio"] != len(PORTS) * RUNS:
        yield f"{reasons}, and perf stat has {kvm}"
    if sum(reasons.values()) != kvm["exit"] - RUNS or kvm["entry"] != kvm["exit"]:
        yield f"{sum(reasons.values())} pairs, and perf stat has {kvm}"
    if rows["pairs", "vmm"] != {"kvm_userspace_exit to KVM_RUN": kvm["userspace_exit"] - RUNS}:
        yield f"{rows['pairs', 'vmm']}, and perf stat has {kvm}"
    rows = rows_of(build, back, elf, f"--reason={back.vendor.io}")
    if rows["call", "between"] != {"between guest calls": RUNS - 1}:
        yield f"between: {rows['call', 'between']}"
    for table, names in (("function", list(PORTS.values())[:3]),
                         ("port", ("Log", "host call", "DebugPrint"))):
        if rows[table, "exit"] != {name: RUNS for name in names}:
            yield f"{table}: {rows[table, 'exit']}"


def of_perf(path):
    """
    {tid: {reason: [ns]}} of the exits that perf script prints and that an entry follows; without
    Halts: what follows them is the host's own time.
    """
    found, opened = {}, {}
    out = must("perf", "script", "--ns", "-F", "tid,time,event,trace", "-i", path)
    for tid, s, ns, event, text in PRINTED.findall(out):
        if event == "exit":
            opened[tid] = int(s + ns), re.search(r"reason (\S+)", text)[1]
        elif event == "pio" and f" at {known_exits.HALT:#x} " in text:
            opened.pop(tid, None)
        elif event == "entry" and tid in opened:
            start, reason = opened.pop(tid)
            found.setdefault(int(tid), {}).setdefault(reason, []).append(int(s + ns) - start)
    return found


def plain(back, build, elf):
    """What perf alone recorded, of two machines at once: each exit, to the nanosecond."""
    back.must("plain")
    path = back.path("plain.data")
    document = json.loads(must(hlguest_of(build), "exits", "--exact", "--by=tid", "--format=json",
                               elf, path))
    rows, perf = known_exits.tables(document)["exit", "reason"], of_perf(path)
    tids = re.findall(r"^microvm: sandbox \d+: tid (\d+),", back.text("plain.err"), re.M)
    if sorted(map(int, tids)) != sorted(perf) or len(tids) != 2:
        yield f"threads {tids}, and perf has {sorted(perf)}"
    if {row["tid"] for row in rows} != set(perf):
        yield f"rows {rows}, and perf has {sorted(perf)}"
    for tid, reasons in perf.items():
        yield from known_exits.compare_rows(
            f"tid {tid}:", [row for row in rows if row["tid"] == tid], reasons, True)


def stacks(back):
    """Each guest sample stands on its own thread's way into KVM_RUN."""
    back.must("stacks")
    ways = {tid: "enter_odd" if int(number) % 2 else "enter_even" for number, tid in
            re.findall(r"^microvm: sandbox (\d+): tid (\d+),", back.text("stacks.err"), re.M)}
    seen = set()
    for line in back.must("folded").splitlines():
        frames = line.rsplit(" ", 1)[0].split(";")
        if "[guest]" not in frames:
            continue
        tid = frames[0].removeprefix("tid ")
        here = [f for f in frames if f.startswith("enter_")]
        seen.add((tid, *here))
        if here != [ways.get(tid)] or "ioctl" not in frames:
            yield line
    if seen != set(ways.items()) or len(ways) != 2:
        yield f"{seen}, not {ways}"


def check_callers(back, build, step, tree, least=300):
    back.must(step)
    got, every = (int(n) for n in re.search(
        r"^hlguest: (\d+) of (\d+) guest samples? ha(?:s|ve) callers", back.text(step + ".err"),
        re.M).groups())
    if got != every:
        yield f"{step}: {got} of {every} samples have callers"
    out = must(hlguest_of(build), "report", "--format=folded", "--stacks=callgraph",
               "--weight=samples", "--border=keep", tree, back.path(step + ".data"))
    yield from (f"{step}: {line}" for line in called.check(out, least))


def callers(back, build, folder):
    """Of a guest whose calls are known; and by unwind tables, where KVM knows the stack pointer."""
    yield from check_callers(back, build, "callers", os.path.join(folder, "tree.elf"))
    if back.vendor is SVM:
        yield from check_callers(back, build, "tables", guest("tree", build, folder, *TABLES))
    elif "KVM does not know the guest's stack pointer" not in \
            " ".join(back.text("tables.err").split()):
        yield back.text("tables.err")


def limited(back, build, folder):
    """A user with CAP_BPF and CAP_PERFMON alone, whatever yama lets him trace."""
    for step in "yama1", "yama2", "yama3":
        yield from check_callers(back, build, step, os.path.join(folder, "tree.elf"), LEAST)


def limited_more(back, build, folder):
    """Also a process that runs already; killed, nothing is left; and where neither way is open
    one line says why."""
    back.must("yama-process")  # without those of the first moment
    said = back.text("yama-process.err")
    if not re.search(r"^hlguest: [1-9]\d+ of \d+ guest samples? ha(?:s|ve) callers", said, re.M):
        yield said
    if back.vendor is SVM:
        yield from check_callers(back, build, "yama-tables", guest("tree", build, folder, *TABLES),
                                 LEAST)
    if PROGRAM not in back.must("there") or PROGRAM in back.must("killed"):
        yield f"killed: {back.must('there')} and then {back.must('killed')}"
    back.must("untraced")
    said = " ".join(back.text("untraced.err").split())
    if "no guest stacks: perf's events may not be taken" not in said or \
            not re.search(r"[1-9]\d+ guest samples", said):
        yield said


def judged(back, build, known):
    """Of a guest whose every stack is known: its memory in many slots; in ring 0; and with
    tables of pages of five levels, where the processor has them."""
    for step in "judged", "judged0", "five":
        if "KVM_SET_SREGS: Invalid argument" in back.text(step + ".err") and step == "five":
            print("# five levels: the processor has none")
            continue
        back.must(step)
        out = must(hlguest_of(build), "report", "--format=folded", "--stacks=callgraph",
                   "--weight=samples", "--border=keep", known.path, back.path(step + ".data"))
        yield from (f"{step}: {line}" for line in
                    onepath.check(known, out, onepath.ALL_FRAMES, LEAST))


def hostile(back):
    """Of a guest that means harm: some samples have callers, and nothing else happens."""
    back.must("hostile")
    got, every = (int(n) for n in re.search(
        r"^hlguest: (\d+) of (\d+) guest samples? ha(?:s|ve) callers", back.text("hostile.err"),
        re.M).groups())
    if not 0 < got <= every or every < LEAST:
        yield f"{got} of {every} samples have callers"
    with open(back.path("hostile.data"), "rb") as f:
        if onepath.CANARY in f.read():
            yield "words beside the guest's memory are in the recording"
    yield from back.must("after").removeprefix(back.must("before")).splitlines()


def shares(back, build, elf):
    """The host's share is of the event that samples: marks of entries and exits are none."""
    for step in ("record", "exits", "stacks"):
        guests, host = (int(n) for n in re.search(
            r"^hlguest: \S+: (\d+) guest samples, (\d+) of the host,", back.text(step + ".err"),
            re.M).groups())
        head = must(hlguest_of(build), "report", elf, back.path(step + ".data"))
        told = re.search(r", (\d+) guest samples \(.*, host (\d+) % of samples$", head, re.M)
        if not told or int(told[1]) != guests or \
                abs(int(told[2]) - 100 * host / (host + guests)) > 0.51:
            yield f"{step}: {guests}, {host}: {head[:400]}"


def windows(back):
    """Windows of the guest, with software events."""
    back.must("windows")
    rows = [r for r in csv.DictReader(io.StringIO(back.must("table"))) if r["record"] == "window"]
    names = collections.Counter(row["name"] for row in rows)
    if len(rows) < 300 or not names["sort_keys"] or names[NEVER]:
        yield f"{names}"
    if not sum(int(row["page-faults"]) for row in rows):
        yield "no page fault"


def calibration(back):
    """Every row, from both rings, and every truth."""
    document = json.loads(back.must("calibrate"))
    crossings = document["crossings"]
    if not document["holds"] or crossings["ring0_emulated"] is not False or \
            crossings["faults_served"] != crossings["faults_asked"]:
        yield f"{document['conclusion']}, {crossings['faults_served']} served"
    for row in crossings["rows"]:
        if "skipped" in row:
            yield f"{row['row']}: {row['skipped']}"
    for event in document["landing"]["events"]:
        clock = event["event"].endswith("-clock")
        if clock != ("skipped" not in event):
            yield f"{event}"
    for program in document["counts"]["programs"]:
        if not (program["guest"]["exact"] and program["native"]["exact"]):
            yield f"{program}"


def judge(tap, back, build, folder, kernel):
    elf = guest("demo", build, folder)
    tap.run("it boots", lambda: list(boots(back, kernel)))
    tap.run("doctor knows the KVM", lambda: list(doctor(back)))
    tap.run("the micro-VM in both rings", lambda: list(rings(back)))
    tap.run("a triple fault, and a guest that hangs", lambda: list(ends(back)))
    tap.run("record, ring 3", lambda: list(profile(back, build, "record", elf)))
    tap.run("report there and here", same_report, back, build, elf)
    tap.run("exits", lambda: list(exits(back, build, elf)))
    tap.run("stacks", lambda: list(stacks(back)))
    tap.run("the host's share", lambda: list(shares(back, build, elf)))
    tap.run("callers inside the guest", lambda: list(callers(back, build, folder)))
    tap.run("callers, for a user with few rights", lambda: list(limited(back, build, folder)))


def judge_more(tap, back, build, folder, known):
    elf = guest("demo", build, folder)
    tap.run("few rights, and a process that runs; killed; untraced",
            lambda: list(limited_more(back, build, folder)))
    tap.run("record, ring 0", lambda: list(profile(back, build, "kernel", elf)))
    tap.run("exits that perf alone recorded", lambda: list(plain(back, build, elf)))
    tap.run("callers, ring 0", lambda: list(
        check_callers(back, build, "callers0", os.path.join(folder, "tree.elf"))))
    tap.run("callers of a guest whose every stack is known",
            lambda: list(judged(back, build, known)))
    tap.run("a guest that means harm", lambda: list(hostile(back)))
    tap.run("windows", lambda: list(windows(back)))
    tap.run("calibrate", lambda: list(calibration(back)))


def main():
    p = parser(__doc__)
    p.add_argument("--kernel", default="6.1")
    p.add_argument("--brief", action="store_true", help="what live tests on real KVM cannot tell")
    p.add_argument("--vmx")
    p.add_argument("--sha256")
    args = p.parse_args()
    build = os.path.abspath(args.build)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="stock-") as folder:
        elf = guest("demo", build, folder)
        try:
            need("setpriv", "bpftool")
            known = onepath.Guest("gcc", folder)
            files = {"hlguest": hlguest_of(build), "demo.elf": elf,
                     "microvm": os.path.join(build, "tests", "rig", "microvm"),
                     "tree.elf": guest("tree", build, folder), "gcc.elf": known.path,
                     "setpriv": shutil.which("setpriv"), "bpftool": shutil.which("bpftool"),
                     "hostile.elf": guest("hostile", build, folder),
                     "tables.elf": guest("tree", build, folder, *TABLES),
                     "calls.elf": guest("calls", build, folder, "-DEND=END_FAULT"),
                     "hung.elf": guest("calls", build, folder, "-DEND=END_NEVER")}
            done = rig.run(SCRIPT if args.brief else SCRIPT + MORE, files, into=os.path.join(folder, "out"), kernel=args.kernel,
                           vmx=(args.vmx, args.sha256) if args.vmx else None,
                           timeout=1800 if args.vmx else 300)
        except Skip as e:
            tap.skip(f"kernel {args.kernel}", e)
            return tap.finish()
        back = Back(done, VMX if args.vmx else SVM)
        judge(tap, back, build, folder, args.kernel)
        if not args.brief:
            judge_more(tap, back, build, folder, known)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
