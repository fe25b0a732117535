#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The reader against perf itself:
perf_diff.py DUMP HOSTS TELL_FILTER.so [--seeds=N|--seeds=FROM-TO] [DATA...]

Recordings of every shape that perf can make here, and those given, are read by
perfdata-dump and by perf script with a filter that tells each sample (of files, each third
shape, but all of them with HLG_ALL in the environment). The samples must be
the same, each with its event, process, time, CPU, address, period and mode: their order
may differ, for perf sorts by time. Each host sample must have the process and the mapping
that perf gives it. TAP on standard output; what cannot be recorded is skipped, with perf's
reason.

Also recordings made up (made.py), of seeds from 0 on; with --seeds of those, and no others.
Each is read again as a newer perf of a newer kernel would have written it, and cut off.

PERF names the perf to read with, PERF_RECORD the one to record with, if not that.
"""
import collections
import concurrent.futures
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import made
from tap import mount_tracefs, some

HERE = os.path.dirname(os.path.abspath(__file__))

DUMP, HOSTS, FILTER = map(os.path.abspath, sys.argv[1:4])
SEEDS = [int(n) for n in sys.argv[4].removeprefix("--seeds=").split("-")] if \
    sys.argv[4:5] and sys.argv[4].startswith("--seeds=") else []
GIVEN = sys.argv[5 if SEEDS else 4:]
PERF = os.environ.get("PERF") or "perf"
RECORDER = os.environ.get("PERF_RECORD") or PERF

WORKLOAD = ["--", sys.executable, os.path.join(HERE, "work.py")]
NO_TIME = str(2 ** 64 - 1)
GROUP = "{cpu-clock,task-clock,page-faults}:S"

SHAPES = {
    "plain": "-e cpu-clock -F 2000",
    "fixed period": "-e cpu-clock -c 300000",
    "task-clock, user only": "-e task-clock:u -F 2000",
    "two events": "-e cpu-clock,task-clock -F 2000",
    "two kinds of event": "-e cpu-clock/period=100000/,page-faults/period=10/",
    "many events": "-e cpu-clock,task-clock,page-faults,context-switches,minor-faults",
    "group of counters": f"-e {GROUP} -c 500000",
    "group of counters by frequency": f"-e {GROUP} -F 1999",
    "group without sampled members": "-e {cpu-clock,page-faults} -c 500000",
    "one counter": "-i -e cpu-clock:S -c 500000",
    "one counter, inherited": "-e cpu-clock:S -c 500000",
    "one counter on all CPUs": "-a -e cpu-clock:S -c 500000",
    "groups of counters on all CPUs": f"-a -e {GROUP} -c 500000",
    "no inherit": "-i -e cpu-clock,task-clock -F 2000",
    "callchains": "-g -e cpu-clock -F 2000",
    "callchains by DWARF": "--call-graph dwarf,4096 -e cpu-clock -F 500",
    "data addresses": "-d -e cpu-clock,page-faults -F 2000",
    "weights": "-W -e cpu-clock -F 2000",
    "physical addresses": "--phys-data -d -e cpu-clock -F 2000",
    "page sizes": "--data-page-size --code-page-size -e cpu-clock -F 2000",
    "registers": "--intr-regs --user-regs -e cpu-clock -F 2000",
    "transactions": "--transaction -e cpu-clock -F 2000",
    "branches": "-j any -e cycles -F 2000",
    "cgroups": "--all-cgroups -e cpu-clock -F 2000",
    "namespaces": "--namespaces -e cpu-clock -F 2000",
    "context switches": "--switch-events -e cpu-clock -F 2000",
    "counts of threads": "-s -e cpu-clock,task-clock -F 2000",
    "no time": "--no-timestamp -e cpu-clock -F 2000",
    "with CPUs": "--sample-cpu -e cpu-clock -F 2000",
    "identifier": "--sample-identifier -e cpu-clock -F 2000",
    "all CPUs": "-a -e cpu-clock -F 2000",
    "host and guest": "-a -e cpu-clock:HG -F 2000",
    "precise": "-e cpu-clock:p -F 2000",
    "times of the samples": "--timestamp-boundary -e cpu-clock -F 2000",
    "another clock": "-k CLOCK_MONOTONIC -e cpu-clock -F 2000",
    "tail": "--tail-synthesize -e cpu-clock -F 2000",
    "no build ids, no housekeeping": "-B -N -e cpu-clock -F 2000",
    "build ids in mappings": "--buildid-mmap -e cpu-clock -F 2000",
    "tracepoint": "-e syscalls:sys_enter_write -c 1 -R",
    "tracepoints": "-a -e sched:sched_switch,sched:sched_process_exit -c 1",
    "tracepoint and clock": "-g -e cpu-clock,syscalls:sys_enter_write",
    "counters at a tracepoint":
        "-a -e {syscalls:sys_enter_write,context-switches,page-faults}:S -c 10",
    "zstd": "-z -e cpu-clock -F 5000",
    "zstd, callchains": "-z -g -a -e cpu-clock,page-faults -F 15000",
    "zstd, stacks": "-z --call-graph dwarf,16384 -e cpu-clock -F 2000",
    "zstd, group": f"-z22 -e {GROUP} -c 200000",
    "threads": "--threads -a -e cpu-clock -F 2000",
    "threads, zstd": "--threads -z -a -g -e cpu-clock,page-faults -F 9000",
    "threads, group": f"--threads -a -e {GROUP} -c 500000",
}
PIPES = ["plain", "two events", "callchains", "group of counters", "tracepoint",
         "tracepoints", "zstd", "zstd, callchains", "all CPUs"]


class Skip(Exception):
    pass


def run(argv, **kwargs):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, **kwargs)


def record(shape, out):
    # The thread that listens for BPF programs lets perf end a second late: some have it.
    listen = [] if shape in ("plain", "all CPUs", "zstd", "threads") else ["--no-bpf-event"]
    done = run([RECORDER, "record", "-q", *listen, "-o", out, *SHAPES[shape].split(), *WORKLOAD],
               stdin=subprocess.DEVNULL)
    if done.returncode or (out != "-" and not os.path.exists(out)):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Skip(max(said, key=len, default="perf record failed"))
    return done.stdout


def perfs_samples(path, tmp, *args, stdin=None):
    """Counter of (event name, rest of the line): fields parted by tabs."""
    told = os.path.join(tmp, "told")
    done = run([PERF, "script", "--no-itrace", "-i", path, "--dlfilter", FILTER, "--dlarg", told,
                *(word for arg in args for word in ("--dlarg", arg))], stdin=stdin or subprocess.DEVNULL)
    if done.returncode:
        raise Skip("perf script: " + done.stderr.decode(errors="replace")[-200:].strip())
    with open(told) as f:
        return collections.Counter(tuple(line.rstrip("\n").split("\t")) for line in f)


def ours(argv, stdin=None, expect=0):
    done = run([DUMP, *argv], stdin=stdin or subprocess.DEVNULL)
    if done.returncode != expect:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    samples, names, facts = collections.Counter(), {}, {}
    lines = done.stdout.decode().splitlines()
    for line in lines:
        words = line.split(" ", 2)
        if words[0] == "E":
            names[words[1]] = words[2]
        elif words[0] in "CHRX":
            facts[" ".join(words[:2])] = line.split(" ", 2)[-1]
    for line in lines:
        if line.startswith("undecoded"):
            raise AssertionError("not decoded: " + line)
        if line.startswith("S "):
            _, event, rest = line.split(" ", 2)
            samples[names[event], rest] += 1
    return samples, facts, names


def sums(samples):
    total = collections.Counter()
    for (event, rest), n in samples.items():
        total[event, "samples"] += n
        total[event, "period"] += n * int(rest.split()[5])
    return dict(total)


def without_periods(samples):
    total = collections.Counter()
    for (event, rest), n in samples.items():
        words = rest.split()
        total[event, " ".join(words[:5] + words[6:])] += n
    return total


def only_late(mine, perfs):
    """Counters' samples that stand behind later ones have period 0 (walk.h). perf, which
    sorts first, has them with their part of the period, or not at all if that is 0."""
    late = without_periods(collections.Counter(
        {key: n for key, n in mine.items() if key[1].split()[5] == "0"}))
    extra = without_periods(mine) - without_periods(perfs)
    periods = [{key: n for key, n in sums(samples).items() if key[1] == "period"}
               for samples in (mine, perfs)]
    return (late and periods[0] == periods[1] and not extra - late and
            not without_periods(perfs) - without_periods(mine))


def same(mine, perfs):
    if mine == perfs or only_late(mine, perfs):
        return
    extra, missing = mine - perfs, perfs - mine
    raise AssertionError(
        f"ours {sums(mine)}\nperf {sums(perfs)}\n"
        f"only ours: {list(extra.items())[:3]}\nonly perf's: {list(missing.items())[:3]}")


def forgets():
    """A perf later than 6.1, such as 6.12, forgets the name of a thread that has exited."""
    words = run([PERF, "--version"]).stdout.decode().split()
    return [int(word) for word in words[-1].split(".")[:2]] > [6, 1]


def nameless(samples):
    """Those of threads without a name, ":TID"; where no times tell what came before the
    end of a thread, it has no mappings either."""
    total = collections.Counter()
    for (where, comm, dso), n in samples.items():
        if comm == ":" + where.split()[1]:
            total[where, dso if NO_TIME not in where else ""] += n
    return total


def forget(samples):
    """As if all threads were without a name."""
    total = collections.Counter()
    for (where, _, dso), n in samples.items():
        total[where, ":" + where.split()[1], dso] += n
    return total


def compare_hosts(path, tmp):
    """Process and mapping of each host sample; returns how many perf has forgotten."""
    perfs = perfs_samples(path, tmp, "hosts")
    done = run([HOSTS, path])
    if done.returncode:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    lines = [tuple(line.split("\t")) for line in done.stdout.decode().splitlines()]
    mine = collections.Counter(line[:3] for line in lines)
    extra, missing = mine - perfs, perfs - mine
    # Counters' samples that stand behind later ones: only_late says which perf drops.
    late = collections.Counter(line[:3] for line in lines if line[3] == "0")
    if not missing and not extra - late:
        return 0
    if nameless(missing) and forgets():
        forgotten, named = nameless(missing), nameless(forget(extra))
        if forgotten.total() == missing.total() and not forgotten - named and \
                not named - forgotten - nameless(forget(late)):
            return forgotten.total()
    if extra or missing:
        raise AssertionError(
            f"of {sum(mine.values())} host samples {sum(extra.values())} differ:\n"
            f"ours: {list(extra.items())[:4]}\nperf: {list(missing.items())[:4]}")
    return 0


def clean(facts):
    for what in ("left", "missing", "bad_sample", "bad_record", "unknown_types",
                 "corrupt", "unfinished", "facts_cut", "no_zstd"):
        if facts["C " + what] != "0":
            raise AssertionError(f"{what} is {facts['C ' + what]}")


def compare(path, tmp, guess=True):
    """guess: where to split a recording that was recorded must be guessed well."""
    perfs = perfs_samples(path, tmp)
    if not perfs:
        raise Skip("perf finds no samples")
    mine, facts, _ = ours([path])
    same(mine, perfs)
    clean(facts)
    in_two, more, _ = ours(["--split", path])
    same(in_two, perfs)
    if guess and "X wrong" in more:
        raise AssertionError("a wrong guess where to split")
    forgotten = compare_hosts(path, tmp)
    return (f"{sum(mine.values())} samples" + (", split" if "X split" in more else "") +
            (f", {forgotten} of exited threads" if forgotten else ""))


def check_shape(shape, tmp):
    path = os.path.join(tmp, "perf.data")
    record(shape, path)
    return compare(path, tmp)


def check_pipe(shape, tmp):
    """What perf wrote to a pipe: from a file, and through a pipe in small pieces."""
    path = os.path.join(tmp, "pipe.data")
    with open(path, "wb") as f:
        f.write(record(shape, "-"))
    told = compare(path, tmp)
    from_file = ours([path])[0]
    feeder = subprocess.Popen(["dd", f"if={path}", "bs=4093", "status=none"],
                              stdout=subprocess.PIPE)
    same(ours(["-"], stdin=feeder.stdout)[0], from_file)
    feeder.wait()
    with open(path) as f:
        same(ours(["-"], stdin=f)[0], from_file)
    return told


def check_newer(seed, path, tmp):
    """With records nobody knows, and those that only a newer perf decompresses."""
    newer = os.path.join(tmp, "newer.data")
    with open(newer, "wb") as f:
        f.write(made.make(seed, newer=True))
    same(ours([newer])[0], ours([path])[0])


def check_cut(seed, tmp):
    """Samples of all that is whole."""
    path, mended = os.path.join(tmp, "cut.data"), os.path.join(tmp, "mended.data")
    for name, content in zip((path, mended), made.cut(seed) or ()):
        with open(name, "wb") as f:
            f.write(content)
    if not os.path.exists(path):
        return
    try:
        perfs = perfs_samples(mended, tmp)
    except Skip as why:
        raise AssertionError(f"cut: {why}") from why
    same(ours([path])[0], perfs)
    os.unlink(path)


def check_one(seed, tmp):
    """How many samples; 0 if perf finds none."""
    path = os.path.join(tmp, "made.data")
    with open(path, "wb") as f:
        f.write(made.make(seed))
    try:
        try:
            told = compare(path, tmp, guess=False)
        except Skip as why:
            if "finds no samples" not in str(why):
                raise AssertionError(why) from why
            return 0
        check_newer(seed, path, tmp)
        check_cut(seed, tmp)
    except AssertionError as why:
        raise AssertionError(f"seed {seed}: {why}") from why
    return int(told.split()[0])


def check_made(seeds, tmp):
    """Recordings made up: see made.py."""
    counts = [check_one(seed, tmp) for seed in seeds]
    return (f"{len(seeds)} recordings, {sum(counts)} samples, "
            f"{counts.count(0)} without samples")


def check_killed(_, tmp):
    """perf killed while it records: the header says 0 bytes of records.

    perf 6.1 reads nothing from such a file, so it gets one with the size put in and the
    features, which were never written, taken out.
    """
    path, mended = os.path.join(tmp, "killed.data"), os.path.join(tmp, "mended.data")
    perf = subprocess.Popen([RECORDER, "record", "-q", "-a", "-e", "cpu-clock", "-F", "4000",
                             "-m", "4", "-o", path], stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    perf.send_signal(signal.SIGKILL)
    perf.wait()
    mine, facts, _ = ours([path])
    if facts["C unfinished"] != "1":
        raise AssertionError("not told as unfinished")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    offset, = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, 48, len(data) - offset - int(facts["C left"]))
    data[72:104] = bytes(32)
    with open(mended, "wb") as f:
        f.write(data)
    same(mine, perfs_samples(mended, tmp))
    return f"{sum(mine.values())} samples, {facts['C left']} bytes left"


def check_inherited(_, tmp):
    """One counter read with each sample, inherited: perf up to 6.12 takes the values of
    all threads for those of one, so its periods are wrong; only the samples are compared.
    """
    path = os.path.join(tmp, "perf.data")
    record("one counter, inherited", path)
    mine, perfs = ours([path])[0], perfs_samples(path, tmp)
    same(without_periods(mine), without_periods(perfs))
    periods = [int(rest.split()[5]) for _, rest in mine]
    if max(periods) > 100 * min(periods):
        raise AssertionError(f"periods from {min(periods)} to {max(periods)}")
    return f"{sum(mine.values())} samples"


def check_header(_, tmp):
    """The CPU, as perf script --header-only tells it."""
    path = os.path.join(tmp, "perf.data")
    record("times of the samples", path)
    told = dict(line[2:].split(" : ", 1) for line in
                run([PERF, "script", "-i", path, "--header-only"])
                .stdout.decode().splitlines() if " : " in line)
    told = {key.strip(): value.strip() for key, value in told.items()}
    _, facts, _ = ours([path])
    if facts["H cpu"] != told["cpudesc"]:
        raise AssertionError(f"{facts['H cpu']} but perf: {told['cpudesc']}")
    return "as perf has them"


def check_names(_, tmp):
    """Names of events the file does not name, for attributes patched into it."""
    path, patched = os.path.join(tmp, "perf.data"), os.path.join(tmp, "patched.data")
    record("plain", path)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    attrs, = struct.unpack_from("<Q", data, 24)
    flags, = struct.unpack_from("<Q", data, attrs + 40)
    data[72:104] = bytes(32)
    size, = struct.unpack_from("<Q", data, 16)
    one, told = bytes(data[attrs:attrs + size]), []
    # Of the flags: exclude_user, _kernel, _hv 4-6, precise_ip 15-16, _host 19, _guest 20.
    table = bytearray()
    for what in range(600):
        kind, config = what % 6, what * 7919 % (12 if what % 6 < 2 else 0x20307)
        bits = what * 40503 & (0x7 << 4 | 0x3 << 15 | 0x3 << 19)
        if kind == 2:  # perf refuses tracepoints without their formats
            continue
        attr = bytearray(one)
        struct.pack_into("<I", attr, 0, kind)
        struct.pack_into("<Q", attr, 8, config)
        attr[26] |= 1  # PERF_SAMPLE_IDENTIFIER: several need one
        struct.pack_into("<Q", attr, 40, flags & ~(0x7 << 4 | 0x3 << 15 | 0x3 << 19) | bits)
        struct.pack_into("<IQ", attr, 52, what % 8, what)
        table += attr
        told.append(f"type {kind} config {config:#x} flags {bits:#x}")
    struct.pack_into("<QQ", data, 24, len(data), len(table))
    with open(patched, "wb") as f:
        f.write(data + table)
    perfs = run([PERF, "evlist", "-i", patched]).stdout.decode().splitlines()
    perfs = [line for line in perfs if not line.startswith("#")]
    mine = list(ours([patched])[2].values())
    if len(mine) != len(told) or len(perfs) != len(told):
        raise AssertionError(f"{len(mine)} names, perf has {len(perfs)} of {len(told)}")
    for what, my_name, perfs_name in zip(told, mine, perfs):
        if my_name != perfs_name:
            raise AssertionError(f"{what}: {my_name} but perf: {perfs_name}")
    return f"{len(told)} attributes"


def judge(check, what, name):
    """How it went, its name and what there is to say, line by line."""
    with tempfile.TemporaryDirectory(prefix="hlguest-") as tmp:
        try:
            return "ok", f"{name} ({check(what, tmp)})"
        except Skip as why:
            return "ok", f"{name} # SKIP {str(why)[:100]}"
        except (AssertionError, subprocess.TimeoutExpired) as why:
            return ("not ok", name, *("# " + line[:2000] for line in str(why).splitlines()))


def main():
    checks = [(check_inherited if "inherited" in shape else check_shape, shape, shape)
              for shape in some(SHAPES, 3)]
    checks += [(check_pipe, shape, "pipe: " + shape) for shape in PIPES]
    checks += [(check_killed, None, "killed"),
               (check_header, None, "facts of the host"),
               (check_names, None, "names made up")]
    if shutil.which(PERF):
        made.as_by(run([PERF, "--version"]).stdout.decode())
    if SEEDS:
        checks = []
    seeds = range(*SEEDS or [20])
    checks += [(check_made, seeds[first:first + 20], f"made up from seed {seeds[first]} on")
               for first in range(0, len(seeds), 20)]
    checks += [(lambda path, tmp: compare(path, tmp), path, os.path.basename(path))
               for path in GIVEN]
    if not (shutil.which(PERF) and shutil.which(RECORDER)):
        print("1..0 # SKIP no perf here")
        return 0
    mount_tracefs()
    print(f"1..{len(checks)}")
    failed = 0
    # Most of the time is perf's, of which several can run.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, said in enumerate(pool.map(lambda c: judge(*c), checks), 1):
            failed += said[0].startswith("not")
            print(f"{said[0]} {i} - {said[1]}", *said[2:], sep="\n", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
