#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fleets: recordings by tasks, into the bytes of one report.

    fleet.py --build DIR

Here, by processes, and by engines that are programs of this test's: what they are handed, and
what is made of it. Real engines run in tests/live/cluster.py.
"""
import gzip
import hashlib
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from recording import shifted
from tap import DATA, Skip, Tap, environment, must, parser, run

# Runs what it is handed, by a shell as Slurm does, and keeps its words.
SBATCH = """#!/bin/sh
printf '%s\\0' "$@" >>"$WORDS"
printf '\\0' >>"$WORDS"
n=$(cat "$WORDS.n" 2>/dev/null || echo 100)
echo $((n + 1)) >"$WORDS.n"
for word; do
	case $word in
	--wrap=*) script=${word#--wrap=} ;;
	--array=*) array=${word#--array=} ;;
	--chdir=*) cd / && cd "${word#--chdir=}" ;;
	esac
done
for task in $(echo "${array-none}" | sed 's/%.*//; s/,/ /g'); do
	for one in $(seq ${task%-*} ${task#*-} 2>/dev/null || echo none); do
		SLURM_ARRAY_TASK_ID=$one sh -c "$script" 2>>"$WORDS.err" || :
	done
done
echo "$n;cluster"
"""


SUMMED = "sum.pb.gz has 7 of 8 recordings; 1 left out (a report of it says why)\n"


class Bench:
    def __init__(self, build, folder):
        self.hlguest = os.path.abspath(hlguest_of(build))
        self.folder = os.path.join(folder, "it's here; $(touch ran)")
        os.makedirs(self.path("rec"))
        names = []
        for i in range(7):
            names.append(f"rec/{i} '$(touch ran)'.data")
            source = ("demo-user", "demo-host", "demo-calls")[i % 3] + ".data"
            shutil.copy(os.path.join(DATA, source), self.path(names[-1]))
        shutil.copy(os.path.join(DATA, "demo.elf"), self.path("guest.elf"))
        self.names = names + ["rec/none.data"]
        self.write("list", "".join(n + "\n" for n in reversed(self.names)))
        _, err, status = self.run("report", "-q", "guest.elf", "--input-list=list",
                                  "--format=pprof", "-o", "one.pb.gz")
        if "not in this build" in err:
            raise Skip(err.strip())
        if status != 1:
            raise RuntimeError(f"status {status}: {err}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.path(name), mode)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def run(self, *argv, **env):
        return run(self.hlguest, *argv, cwd=self.folder, env=environment(**env))

    def submit(self, *argv, **env):
        tasks = [] if "--transfer" in argv else ["--tasks=3"]
        return self.run("fleet", "submit", "--list=list", "-o", "sum.pb.gz", *tasks, "guest.elf",
                        *argv, **env)

    def same(self, what):
        if not os.path.exists(self.path("sum.pb.gz")):
            return [f"{what}: there is no sum"]
        return [f"{what}: another sum"] * (self.read("sum.pb.gz") != self.read("one.pb.gz"))

    def shared_out(self, n):
        """Recordings and bytes of n tasks: the largest first, each to who has least so far."""
        tasks = [[0, 0] for _ in range(n)]
        size = {name: os.path.getsize(self.path(name)) if os.path.exists(self.path(name)) else 0
                for name in self.names}
        for i, name in enumerate(sorted(sorted(size), key=lambda name: -size[name])):
            task = tasks[i] if i < n else min(tasks, key=lambda task: task[::-1])
            task[0] += 1
            task[1] += size[name]
        return [tuple(task) for task in tasks]

    def again(self):
        shutil.rmtree(self.path("sum.pb.gz.d"), ignore_errors=True)
        if os.path.exists(self.path("sum.pb.gz")):
            os.unlink(self.path("sum.pb.gz"))


def here(bench):
    """Tasks as processes; each recording once; what is there already stays."""
    before = {*os.listdir(bench.folder)}
    out, err, status = bench.submit("--print")
    tasks = re.findall(r"^# task (\d), (\d+) recordings?, (\d+) bytes:\n# (hlguest .*)$", out, re.M)
    if status or err or [t[0] for t in tasks] != ["0", "1", "2"] or \
            sum(int(t[1]) for t in tasks) != 8 or {*os.listdir(bench.folder)} != before:
        yield f"print: {status}, {out}{err}"
    if shlex.split(out.splitlines()[-1]) != ["#", "hlguest", "fleet", "reduce", bench.path("sum.pb.gz.d")]:
        yield f"print: the sum: {out}"
    if [(int(n), int(size)) for _, n, size, _ in tasks] != bench.shared_out(3):
        yield f"bytes of tasks: {tasks}, not {bench.shared_out(3)}"
    if not all("--input-list=" in t[3] and "--list-digest=" in t[3] for t in tasks):
        yield f"{tasks}"
    bench.write("gone", "".join(f"gone/{i}\n" for i in range(6)))
    out, err, status = bench.run("fleet", "submit", "--list=gone", "-o", "gone.pb.gz", "--tasks=3",
                                 "guest.elf", "--print")
    if status or out.count(", 2 recordings, 0 bytes:") != 3:
        yield f"recordings without bytes are not spread: {status}, {out}{err}"
    os.makedirs(bench.path("threads/more"))
    bench.write("threads/data.0", "12345")
    bench.write("threads/data.1", "1234567")
    bench.write("folder", "threads\n")
    out, err, status = bench.run("fleet", "submit", "--list=folder", "-o", "folder.pb.gz",
                                 "guest.elf", "--print")
    if status or "# task 0, 1 recording, 12 bytes:" not in out:
        yield f"a folder has what its files have: {status}, {out}{err}"
    out, err, status = bench.submit()
    if status or out != SUMMED or err:
        yield f"{status}, {out}{err}"
    yield from bench.same("here")
    names = [n for k in range(3) for n in bench.read(f"sum.pb.gz.d/list/{k}").split(b"\0") if n]
    if sorted(names) != sorted(n.encode() for n in bench.names):
        yield f"lists: {names}"
    out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
    if status or "3 of 3 are whole" not in out or "7 of 8 recordings are in them, 1 left out" not in out:
        yield f"status: {status}, {out}{err}"
    shutil.copy2(bench.path("sum.pb.gz"), bench.path("kept"))
    bench.run("report", "-q", "guest.elf", bench.names[0], "--format=pprof", "-o", "less.pb.gz")
    bench.run("report", "-q", "guest.elf", *bench.names[:-1], "--format=pprof", "-o", "read.pb.gz")
    for name, ns, said in (("kept", 10**9, "is older than the plan"),
                           ("kept", 1, "is older than the plan"), ("list", 0, "cannot be read"),
                           ("less.pb.gz", 0, "is of other recordings"),
                           ("read.pb.gz", 0, "is of other recordings")):
        shutil.copy(bench.path(name), bench.path("sum.pb.gz"))
        if ns:
            then = os.stat(bench.path("sum.pb.gz.d/plan")).st_mtime_ns - ns
            os.utime(bench.path("sum.pb.gz"), ns=(then, then))
        out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
        if status != 1 or f"sum       sum.pb.gz: {said}" not in out:
            yield f"status: {name} as the sum: {status}, {out}{err}"
    shutil.copy2(bench.path("kept"), bench.path("sum.pb.gz"))
    out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
    if status:
        yield f"status: the sum again: {status}, {out}{err}"
    if sorted(os.listdir(bench.path("sum.pb.gz.d"))) != ["list", "log", "part", "plan"] or \
            os.path.exists(bench.path("ran")):
        yield "something is left"
    _, err, status = bench.submit()
    if status != 1 or "is there already" not in err:
        yield f"twice: {status}, {err}"
    for words in ("--by=pid", "--event=cpu-clock"), ("--time=,+0.5",):
        bench.again()
        _, err, status = bench.submit("--", *words)
        bench.run("report", "-q", "guest.elf", "--input-list=list", "--format=pprof", "-o",
                  "by.pb.gz", *words)
        if status or bench.read("sum.pb.gz") != bench.read("by.pb.gz"):
            yield f"options of report: {words}: {status}, {err}"
    bench.again()
    out, err, status = bench.run("fleet", "submit", "--list=list", "-o", "sum.pb.gz", "--tasks=3",
                                 "guest.elf@0x123000")
    if status != 3 or out != SUMMED:
        yield f"samples do not fit: {status}, {out}{err}"


def again(bench):
    """What has no whole part is run again, and nothing else; a changed list is refused."""
    bench.submit()
    folder, rng = bench.path("sum.pb.gz.d"), [os.path.join("part", f"{k}.pb.gz") for k in range(3)]
    kept = [os.stat(os.path.join(folder, p)).st_ino for p in rng]
    whole = bench.read("sum.pb.gz.d/part/1.pb.gz")
    for name, harm in (("cut", lambda p: os.truncate(p, 100)), ("gone", os.unlink),
                       ("another's", lambda p: shutil.copy(os.path.join(folder, rng[2]), p)),
                       ("of no list", lambda p: shutil.copy(bench.path("one.pb.gz"), p))):
        path = os.path.join(folder, rng[1])
        harm(path)
        os.unlink(bench.path("sum.pb.gz"))
        out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
        why = [line for line in out.splitlines() if f"/{rng[1]}: " in line]
        if status != 1 or "2 of 3 are whole; not 1 (" not in out or len(why) != (name != "gone"):
            yield f"{name}: status {status}, {out}{err}"
        _, err, status = bench.run("fleet", "reduce", "sum.pb.gz.d")
        if status != 1 or os.path.exists(bench.path("sum.pb.gz")):
            yield f"{name}: summed all the same: {status}, {err}"
        out, _, _ = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", "--print")
        if re.findall(r"^# task (\d)", out, re.M) != ["1"]:
            yield f"{name}: {out}"
        bench.write("sum.pb.gz.d/log/1.txt", "of the time before\n")
        out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
        if bench.read("sum.pb.gz.d/log/1.txt"):
            yield f"{name}: the log: {bench.read('sum.pb.gz.d/log/1.txt')}"
        if status or out != SUMMED or err:
            yield f"{name}: resumed: {status}, {out}{err}"
        yield from bench.same(name)
        now = [os.stat(os.path.join(folder, p)).st_ino for p in rng]
        if now[::2] != kept[::2] or bench.read("sum.pb.gz.d/part/1.pb.gz") != whole:
            yield f"{name}: other tasks ran"
    # The plan keeps how the list was written, too.
    bench.again()
    bench.write("list0", "\0".join(bench.names) + "\0")
    bench.run("fleet", "submit", "--list=list0", "-0", "-o", "sum.pb.gz", "--tasks=3", "guest.elf")
    os.unlink(os.path.join(folder, rng[1]))
    out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
    if status or out != SUMMED:
        yield f"a list with NULs: {status}, {out}{err}"
    bench.again()
    bench.submit()
    for k in 0, 1:
        os.unlink(os.path.join(folder, rng[k]))
        with open(os.path.join(folder, f"list/{k}"), "ab") as f:
            f.write(b"rec/more.data\0")
    os.unlink(bench.path("sum.pb.gz"))
    _, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
    if status != 1 or "2 of 2 tasks failed" not in err or os.path.exists(bench.path("sum.pb.gz")) or \
            b"is another list than" not in bench.read("sum.pb.gz.d/log/1.txt"):
        yield f"two tasks' lists have changed: {status}, {err}"
    os.rename(bench.path("list"), bench.path("list.kept"))
    os.mkdir(bench.path("list"))
    _, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
    if status != 1 or "list: cannot be read: Is a directory" not in err:
        yield f"the list is a folder: {status}, {err}"
    os.rmdir(bench.path("list"))
    os.rename(bench.path("list.kept"), bench.path("list"))
    with open(bench.path("list"), "a", encoding="ascii") as f:
        f.write("x.data\n")
    _, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
    if status != 1 or "has changed since" not in err:
        yield f"the list has changed: {status}, {err}"


def slurm(bench):
    """What sbatch is handed: an array, and a job that waits for it."""
    os.mkdir(bench.path("bin"))
    bench.write("bin/sbatch", SBATCH, 0o755)
    env = {"PATH": bench.path("bin") + ":" + os.environ["PATH"], "WORDS": bench.path("words")}
    out, err, status = bench.submit("--engine=slurm", "--print", "--limit=2", "-j3", **env)
    printed = [shlex.split(line, comments=True) for line in out.splitlines() if line[:1] != "#"]
    if status or err or len(printed) != 2 or os.path.exists(bench.path("words")):
        yield f"print: {status}, {out}{err}"
    out, err, status = bench.submit("--engine=slurm", "--limit=2", "-j3", **env)
    if status or err or "job 100 runs 3 tasks, job 101 sums them" not in out:
        yield f"{status}, {out}{err}"
    yield from bench.same("sbatch")
    words = [w.split("\0") for w in bench.read("words").decode().split("\0\0")[:-1]]
    for wanted in ("--array=0-2%2", "--cpus-per-task=3", "--parsable", "--chdir=" + bench.folder):
        if wanted not in words[0]:
            yield f"no {wanted}: {words[0]}"
    for wanted in "--dependency=afterok:100", "--kill-on-invalid-dep=yes":
        if wanted not in words[1]:
            yield f"no {wanted}: {words[1]}"
    shown = [[w.replace("afterok:JOB", "afterok:100") for w in line[1:]] for line in printed]
    if shown != words:
        yield f"printed {shown}, run {words}"
    if os.path.exists(bench.path("ran")) or os.path.exists("/ran"):
        yield "a name was run"
    out, err, status = bench.submit("--engine=slurm", "--print", "--dir=50%j", **env)
    if out.count("/50%%j/log/") != 2:
        yield f"a name with %: {status}, {out}{err}"
    os.unlink(bench.path("sum.pb.gz.d/part/1.pb.gz"))
    os.unlink(bench.path("words"))
    bench.run("fleet", "submit", "--resume=sum.pb.gz.d", **env)
    if b"--array=1%2\0" not in bench.read("words"):
        yield f"resumed: {bench.read('words')}"
    for part in 0, 1:
        os.unlink(bench.path(f"sum.pb.gz.d/part/{part}.pb.gz"))
    os.unlink(bench.path("words"))
    bench.run("fleet", "submit", "--resume=sum.pb.gz.d", **env)
    if b"--array=0-1%2\0" not in bench.read("words"):
        yield f"two resumed: {bench.read('words')}"
    yield from bench.same("resumed")
    # Only the sum is left to do.
    os.unlink(bench.path("sum.pb.gz"))
    os.unlink(bench.path("words"))
    out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", "--print", **env)
    printed = shlex.split(out)
    if status or err or printed[0] != "sbatch" or "JOB" in out or "--array" in out:
        yield f"the sum is left, print: {status}, {out}{err}"
    out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", **env)
    said, again = out.removesuffix(")\n").split(" (") if out.count(" (") == 1 else (out, "")
    if status or err or said != "job 106 sums the parts" or \
            shlex.split(again) != ["hlguest", "fleet", "status", bench.path("sum.pb.gz.d")] or \
            bench.read("words").decode().split("\0")[:-2] != printed[1:]:
        yield f"the sum is left: {status}, {out}{err}"
    yield from bench.same("the sum is left")
    out, err, status = bench.run("fleet", "status", "sum.pb.gz.d", PATH="/nowhere")
    if status or err or not out.endswith(",105,106 (squeue is not there to ask)\n"):
        yield f"no squeue: {status}, {out}{err}"
    for script, said in (
            ("echo '100_0 RUNNING n1'", "\n          100_0 RUNNING n1\n"), ("", "none is queued"),
            ("echo 'slurm_load_jobs error: Invalid job id specified'; exit 1", "none is queued"),
            ("echo 'Unable to contact slurm controller'; exit 1", "refuses: Unable to contact"),
            ("for i in $(seq 100); do echo \"100_$i RUNNING n1\"; done", "_28 RUNNING n1\n          (more")):
        bench.write("bin/squeue", f"#!/bin/sh\n{script}\n", 0o755)
        out, err, status = bench.run("fleet", "status", "sum.pb.gz.d", **env)
        if status or err or said not in out or ("none is" in out) != ("none is" in said) or \
                "\njobs      100,101,102,103,104,105,106" not in out:
            yield f"squeue: {script}: {status}, {out}{err}"
    # A folder's name as a terminal may see it: two jobs, one, none.
    for script in "echo 7", "! test -e again || exit 1; touch again; echo 7", "exit 1":
        bench.write("bin/sbatch", f"#!/bin/sh\n{script}\n", 0o755)
        out, err, _ = bench.submit("--engine=slurm", "--dir=a\033b", **env)
        shutil.rmtree(bench.path("a\033b"))
        if "\033" in out + err or not re.search(r"a\\x1bb\b", out + err):
            yield f"a folder's name: {script}: {out}{err}"
    # None of many has run.
    bench.write("bin/sbatch", "#!/bin/sh\necho 7\n", 0o755)
    bench.write("many", "".join(f"rec/{i}.none\n" for i in range(12)))
    for n in 8, 9, 12:
        shutil.rmtree(bench.path("many.pb.gz.d"), ignore_errors=True)
        bench.run("fleet", "submit", "--engine=slurm", "--list=many", "-o", "many.pb.gz",
                  f"--tasks={n}", "guest.elf", **env)
        out, err, status = bench.run("fleet", "status", "many.pb.gz.d", **env)
        more = f" and {n - 8} more" if n > 8 else ""
        if status != 1 or f"0 of {n} are whole; not 0, 1, 2, 3, 4, 5, 6, 7{more} (" not in out or \
                "0 of 12 recordings are in them, 0 left out\n" not in out:
            yield f"{n} tasks: {status}, {out}{err}"
    for script, job in (("seq -f '%g advice' 400 >&2; echo '100;cluster'", "100"),
                        ("seq 400 >&2; echo 1234567", "1234567"),
                        ("echo 100; seq -f '%g is not it' 20 >&2", "100")):
        bench.again()
        bench.write("bin/sbatch", f"#!/bin/sh\n{script}\n", 0o755)
        out, err, status = bench.submit("--engine=slurm", **env)
        if status or err or f"job {job} runs 3 tasks" not in out or \
                bench.read("sum.pb.gz.d/jobs").decode() != f"map {job}\nreduce {job}\n":
            yield f"job {job}: {status}, {out}{err}"
    # The second: of the last 511 bytes 20 are the end of a longer number.
    for script in "printf %0600d 100", "printf '%040d\\n%-488sx\\n' 100 y":
        bench.again()
        bench.write("bin/sbatch", f"#!/bin/sh\n{script}\n", 0o755)
        _, err, status = bench.submit("--engine=slurm", **env)
        if status != 1 or "may have submitted (ask squeue)" not in err:
            yield f"no number: {script}: {status}, {err}"
    bench.again()
    bench.write("bin/sbatch", "#!/bin/sh\necho 'sbatch: error: no such partition' >&2\nexit 1\n", 0o755)
    _, err, status = bench.submit("--engine=slurm", **env)
    if status != 1 or "no such partition" not in err:
        yield f"refused: {status}, {err}"
    bench.again()
    _, err, status = bench.submit("--engine=slurm", PATH="/nowhere")
    if status != 1 or "sbatch: not found in PATH" not in err:
        yield f"no sbatch: {status}, {err}"


def filled_in(bench, words):
    """What parallel fills in, for each task: its number, recording and digest; by recording."""
    columns = [bench.read(os.path.join(bench.folder, words[i + 1])).decode().split("\0")[:-1]
               for name in ("::::", "::::+") for i, word in enumerate(words) if word == name]
    return sorted(zip(*columns), key=lambda of: of[1])


def transfer(bench, sends, printed, env):
    """Lists of tasks, recordings and digests, which lines of parallel's are filled in from."""
    bench.write("bin/parallel", '#!/bin/sh\nprintf "%s\\0" "$@" >"$WORDS"\n', 0o755)
    bench.again()
    _, err, status = bench.submit(*sends, "--limit=2", **env)
    words = bench.read("words").decode().split("\0")[:-1]
    limit = words.index("--jobs")
    if words[limit:limit + 2] != ["--jobs", "2"] or words[:limit] + words[limit + 2:] != \
            [w for w in printed[1:]]:
        yield f"transfer: {words}, printed {printed}"
    tasks = filled_in(bench, words)
    expected = [[str(i) for i in range(len(bench.names))], sorted(bench.names),
                [hashlib.sha256(f"{n}\0".encode()).hexdigest() for n in sorted(bench.names)]]
    columns = [list(of) for of in zip(*tasks)]
    columns[:1] = [sorted(columns[0], key=int)]
    if columns != expected:
        yield f"transfer: {columns}, not {expected}"
    if status != 1 or os.path.exists(bench.path("sum.pb.gz")):
        yield f"transfer, but nothing came back: {status}, {err}"
    first = next(of for of in tasks if of[0] == "0")
    bench.run("report", "-q", "guest.elf", "--input-list=sum.pb.gz.d/list/0", "-0",
              f"--list-digest={first[2]}", "--format=pprof", "-o", "sum.pb.gz.d/part/0.pb.gz")
    bench.run("fleet", "submit", "--resume=sum.pb.gz.d", **env)
    left = filled_in(bench, bench.read("words").decode().split("\0")[:-1])
    if left != [of for of in tasks if of != first]:
        yield f"transfer, one came back: {left}, of {tasks}"
    bench.write("bin/parallel", "#!/bin/sh\nexit 3\n", 0o755)
    out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", **env)
    if status != 1 or "parallel: not all tasks have run (" not in err or out:
        yield f"parallel has failed: {status}, {out}{err}"
    os.unlink(bench.path("bin/parallel"))
    _, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", PATH=bench.path("bin"))
    if status != 1 or "parallel: not found in PATH" not in err:
        yield f"no parallel: {status}, {err}"
    bench.again()


def parallel(bench):
    """What parallel is handed: a line with {} for each task, and their numbers."""
    os.mkdir(bench.path("bin"))
    bench.write("bin/parallel", '#!/bin/sh\nprintf "%s\\0" "$@" >"$WORDS"\n'
                'while [ "$2" != ::: ]; do shift; done\nline=$1 failed=0\nshift 2\nfor k; do\n'
                'sh -c "$(printf %s "$line" | sed "s/{}/$k/")" || failed=1\ndone\nexit $failed\n',
                0o755)
    bench.write("hosts", "2/n1\n")
    env = {"PATH": bench.path("bin") + ":" + os.environ["PATH"], "WORDS": bench.path("words")}
    out, err, status = bench.submit("--engine=parallel", "--slf=hosts", **env)
    words = bench.read("words").decode().split("\0")[:-1]
    if status or words[-4:] != [":::", "0", "1", "2"] or "--sshloginfile" not in words:
        yield f"{status}, {words}, {out}{err}"
    yield from bench.same("parallel")
    os.rename(bench.path("sum.pb.gz.d/part/1.pb.gz"), bench.path("part"))
    out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", "--print",
                                 "--engine=parallel")
    if status or err or shlex.split(out.splitlines()[0])[-2:] != [":::", "1"]:
        yield f"the second is left: {status}, {out}{err}"
    os.rename(bench.path("part"), bench.path("sum.pb.gz.d/part/1.pb.gz"))
    plan = bench.read("sum.pb.gz.d/plan")
    for engine in "parallel", "local":
        out, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d", "--print",
                                     f"--engine={engine}")
        words = [shlex.split(line) for line in out.splitlines()]
        if status or err or words != [
                ["#", "the", "sum:"], ["#", "hlguest", "fleet", "reduce", bench.path("sum.pb.gz.d")]]:
            yield f"nothing left to do for {engine}: {status}, {out}{err}"
    if bench.read("sum.pb.gz.d/plan") != plan:
        yield "print: the plan has changed"
    out, err, status = bench.submit("--engine=parallel", "--slf=hosts", "--transfer", "--print")
    words = shlex.split(out.splitlines()[0]) if out else []
    if status or [words[words.index("--transferfile") + 1:][:1], "--cleanup" in words,
                  words[words.index("--workdir") + 1], "# task 0, 1 recording," in out] != \
            [["guest.elf"], True, "...", True]:
        yield f"transfer: {status}, {out}{err}"
    sends = ["--engine=parallel", "--slf=hosts", "--transfer"]
    yield from transfer(bench, sends, words, env)
    shutil.copy(bench.path("guest.elf"), bench.path("guest{}.elf"))
    for more, said in ((["--transfer"], "is parallel's"),
                       ([*sends, bench.path("guest.elf")], "lies outside of this folder"),
                       ([*sends, "map:/tmp/x.map"], "/tmp/x.map: cannot be sent"),
                       ([*sends, "map:rec/../x.map"], "rec/../x.map: cannot be sent"),
                       ([*sends, "guest{}.elf"], "parallel replaces {"),
                       (["--engine=parallel", "--dir={1}"], "parallel replaces {")):
        _, err, status = bench.submit(*more)
        if status not in (1, 2) or said not in err or os.path.exists(bench.path("{1}")):
            yield f"{more}: {status}, {err}"
    # Words of a task that reads the plan are in no line of parallel's.
    out, err, status = bench.submit("--engine=parallel", "--print", "--dir=new", "guest{}.elf")
    if status:
        yield f"guest{{}}.elf: {status}, {err}"
    shutil.copy(bench.path("guest.elf"), bench.path("a..elf"))
    out, err, status = bench.submit(*sends, "--print", "a..elf")
    if status or "--transferfile a..elf" not in out:
        yield f"a..elf: {status}, {err}"
    bench.again()
    bench.submit("--dir={1}")
    _, err, status = bench.run("fleet", "submit", "--resume={1}", "--engine=parallel")
    if status != 1 or "parallel replaces {" not in err:
        yield f"resumed: {status}, {err}"
    if os.path.exists(bench.path("ran")):
        yield "a name was run"


def overlap(bench):
    """Guests closer than their image is long, whose bases are found: whichever tasks read
    them, each has the same functions and samples as in one report, at the least base."""
    with open(os.path.join(DATA, "demo-host.data"), "rb") as f:
        data = f.read()
    os.mkdir(bench.path("near"))
    for i in range(6):
        with open(bench.path(f"near/{i}.data"), "wb") as f:
            f.write(shifted(data, i * 10_000_001_237, i % 3 << 12))
    bench.write("nearby", "".join(f"near/{i}.data\n" for i in range(6)))
    rows = r"^ *[\d.]+ %.*$|^accounted.*\n.*$"
    words = ("report", "--top=0", "--regions=1", "guest.elf@auto")
    one, _, status = bench.run(*words, "--input-list=nearby")
    expected = re.findall(rows, one.split("\nregion")[0], re.M)
    if status or "3 bases (found" not in one or len(expected) < 10:
        yield f"one report: {status}, {one}"
    for n, base in (1, "3 bases (found"), *((n, "base 0x4000 (found") for n in (2, 3, 6)):
        bench.again()
        _, err, status = bench.run("fleet", "submit", "--list=nearby", "-o", "sum.pb.gz",
                                   f"--tasks={n}", "guest.elf@auto")
        out, _, _ = bench.run(*words, "sum.pb.gz")
        if status or re.findall(rows, out.split("\nregion")[0], re.M) != expected or \
                "check     OK" not in out or base not in out:
            yield f"{n} tasks: {status}, {err}{out}\nnot {one}"


def refused(bench):
    """Words that make no sense; another user's plan; a sum that would replace something."""
    bench.write("none.elf", "")
    must(bench.hlguest, "report", "-q", "--format=pprof", "-o", bench.path("in.pb.gz"),
         bench.path("guest.elf"), bench.path(bench.names[0]))
    bench.write("own", f"{bench.names[0]}\n./in.pb.gz\n")
    for words, status, said in (
            (["submit", "--list=own", "-o", "in.pb.gz", "guest.elf"], 2, "is an input of this run"),
            (["submit", "--list=list", "-o", "guest.elf", "guest.elf"], 2, "guest.elf: is "),
            (["submit"], 2, "no recordings"), (["frob"], 2, "nothing that a fleet does"),
            (["resume", "d"], 2, "use submit --resume"), ([], 2, "nothing to do is given"),
            (["guest.elf", "submit", "--list=list", "-ox"], 2, "stands before submit"),
            (["submit", "--list=list", "-ox", "guest.elf", "--by=pid"], 2, "go behind guest.elf and --"),
            (["submit", "--list=list", "-0", "-ox", "guest.elf"], 1,
             "none of 1 recordings could be read"), (["status"], 2, "takes the folder"),
            (["submit", "--list=list", "guest.elf"], 2, "use -o FILE"),
            (["submit", "--list=list", "-o", "x"], 2, "no guest ELF"),
            (["submit", "--list=list", "-o", "x", "none.elf"], 1, "no guest ELF"),
            *((["submit", "--list=list", "-o", "x", "guest.elf", "--", word], 1, said)
              for word, said in (("rec", "no guest ELF"), ("nosuch.data", "no such file"))),
            *((["submit", "--list=list", "-o", "x", "guest.elf", "--", *more], 2, said)
              for more, said in (
                  ([bench.names[0]], "each task would read it"), (["-"], "each task would"),
                  (["one.pb.gz"], "each task would"),
                  *(([word], "no option that all tasks") for word in (
                      "-i", "--input=x", "--input-list=x", "--inp=x", "--shard=0/2", "--sh=0/2",
                      "-ox", "--output=x", "--out=x", "--format=text", "--list-digest=0", "-0", "--",
                      "--pid", "--ev=x", "-v", "--emit=pass", "-j2", "--calibration", "--nosuch=1")))),
            (["submit", "--list=nosuch", "-o", "x", "guest.elf"], 1, "nosuch"),
            (["submit", "--list=list", "-o", "list", "guest.elf"], 2, "list"),
            (["submit", "--list=list", "-o", bench.names[0], "guest.elf"], 2, "recording"),
            (["submit", "--list=list", "-o", "no/x", "guest.elf"], 1, "no"),
            *((["submit", "--resume=d", word], 2, "the plan in d") for word in (
                "--list=list", "-ox", "guest.elf", "--slf=hosts", "-j2", "--tasks=2", "--transfer",
                "--dir=x", "-0")),
            (["submit", "--list=list", "-o", "x", "guest.elf", "--slf=hosts"], 2, "is parallel's"),
            (["submit", "--list=list", "-o", "x", "guest.elf", "--engine=parallel", "--slf=hosts",
              "--transfer", "--tasks=2"], 2, "leave out --tasks"),
            (["status", "rec"], 1, "is this the folder of a fleet"),
            (["status", "nosuch"], 1, "nosuch")):
        _, err, got = bench.run("fleet", *words)
        if got != status or said not in err:
            yield f"{words}: {got}, {err}"
    bench.submit()
    _, err, status = bench.run("fleet", "map", "sum.pb.gz.d", "3")
    if status != 1 or "is no task" not in err:
        yield f"task 3: {status}, {err}"
    os.unlink(bench.path("sum.pb.gz.d/part/1.pb.gz"))
    os.unlink(bench.path("sum.pb.gz.d/log/1.txt"))
    os.mkdir(bench.path("sum.pb.gz.d/log/1.txt"))
    _, err, status = bench.run("fleet", "submit", "--resume=sum.pb.gz.d")
    if status != 1 or "log/1.txt: cannot be written: Is a directory" not in err:
        yield f"a log that cannot be written: {status}, {err}"
    os.mkdir(bench.path("left"))
    _, err, status = bench.submit("--dir=left")
    if status != 1 or "without a plan (remove it" not in err:
        yield f"a folder without a plan: {status}, {err}"
    plan = bench.read("sum.pb.gz.d/plan")
    for changed in (plan[:40], b"", plan.replace(b"plan 1", b"plan 2"), plan + b"more=1\0",
                    plan.replace(b"task=", b"task=x"), gzip.compress(plan)):
        with open(bench.path("sum.pb.gz.d/plan"), "wb") as f:
            f.write(changed)
        _, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
        if status != 1 or not err.startswith("hlguest: ") or err.count("\n") != 1:
            yield f"{changed[:60]}: {status}, {err}"
    with open(bench.path("sum.pb.gz.d/plan"), "wb") as f:
        f.write(plan)
    if os.geteuid() == 0:
        os.chown(bench.path("sum.pb.gz.d/plan"), 65534, -1)
        _, err, status = bench.run("fleet", "map", "sum.pb.gz.d", "0")
        if status != 1 or "another user's" not in err:
            yield f"another user's plan: {status}, {err}"
        os.chown(bench.path("sum.pb.gz.d/plan"), 0, -1)
    os.chmod(bench.path("sum.pb.gz.d/plan"), 0o646)
    _, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
    if status != 1 or "others may write it" not in err:
        yield f"a plan that others may write: {status}, {err}"
    mode = stat.S_IMODE(os.stat(bench.path("sum.pb.gz.d")).st_mode)
    if mode & 0o022 & ~os.umask(0o022):
        yield f"the folder has mode {mode:o}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    for name, check in (("here", here), ("again", again), ("sbatch", slurm),
                        ("parallel", parallel), ("bases that overlap", overlap),
                        ("refused", refused)):
        with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
            tap.run(name, lambda c=check, f=folder: list(c(Bench(args.build, f))))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
