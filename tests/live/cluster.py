#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fleets by real engines, and what becomes of them when something dies.

    cluster.py --build DIR [--recordings N]

A Slurm of two nodes (tests/kit/slurm.py), GNU parallel here, and over SSH to two network
namespaces of this machine. Whatever is killed or full, there is no sum or the right one:
that of one report of all recordings, in the same bytes. Needs root, slurmctld, slurmd,
slurm-client, munge, parallel, openssh-server and iproute2; what is not there is skipped.
With --recordings so many (short copies of real ones, at times and bases of their own) go
through Slurm, once as they are and once with a node killed half-way. Part of --all.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of
from recording import shifted
from slurm import Slurm
from tap import CLONE_NEWNS, DATA, Skip, Tap, environment, must, need, parser, run

TRIM = os.path.join(DATA, "trim.py")


class Bench:
    """A folder with recordings, one of which cannot be read, and what one report makes of them."""

    def __init__(self, build, folder, n=24):
        self.hlguest, self.folder = os.path.abspath(hlguest_of(build)), folder
        self.env, self.elf = environment(), "guest.elf"
        os.mkdir(self.path("rec"))
        sources = ["demo-user", "demo-host", "demo-kernel", "demo-threads"]
        names = []
        for i in range(n):
            names.append(f"rec/{i:05}.data")
            shutil.copy(os.path.join(DATA, sources[i % 4] + ".data"), self.path(names[-1]))
        with open(self.path("rec/bad.data"), "wb") as f:
            f.write(b"PERFILE2")
        shutil.copy(os.path.join(DATA, "demo.elf"), self.path("guest.elf"))
        with open(self.path("list"), "w", encoding="ascii") as f:
            f.write("".join(name + "\n" for name in names + ["rec/bad.data"]))
        self.one()

    def many(self, n):
        """The same, of n recordings at times of their own, whose guests lie at four bases."""
        shutil.rmtree(self.path("rec"))
        os.mkdir(self.path("rec"))
        sources = []
        for name in "demo-host", "demo-kernel":
            with open(os.path.join(DATA, name + ".data"), "rb") as f:
                sources.append(f.read())
        with open(self.path("list"), "w", encoding="ascii") as names:
            for i in range(n):
                names.write(f"rec/{i:05}.data\n")
                with open(self.path(f"rec/{i:05}.data"), "wb") as f:
                    f.write(shifted(sources[i % 2], i * 10_000_001_237, i // 2 % 4 << 20))
            names.write("rec/none.data\n")
        self.elf = "guest.elf@auto"
        self.one()

    def one(self):
        _, err, status = self.run("report", "-q", self.elf, "--input-list=list",
                                  "--format=pprof", "-o", "one.pb.gz")
        if "not in this build" in err:
            raise Skip(err.strip())
        if not os.path.exists(self.path("one.pb.gz")):
            raise RuntimeError(f"status {status}: {err}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *argv):
        done = subprocess.run([self.hlguest, *argv], cwd=self.folder, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=1200)
        return done.stdout, done.stderr, done.returncode

    def submit(self, engine, *argv):
        return self.run("fleet", "submit", f"--engine={engine}", "--list=list", "-o", "sum.pb.gz",
                        self.elf, *argv)

    def resume(self):
        return self.run("fleet", "submit", "--resume=sum.pb.gz.d")

    def parts(self):
        return sorted(n for n in os.listdir(self.path("sum.pb.gz.d/part")) if n.endswith(".pb.gz"))

    def same(self, what):
        if not os.path.exists(self.path("sum.pb.gz")):
            return [f"{what}: there is no sum: {self.logs()}"]
        with open(self.path("sum.pb.gz"), "rb") as a, open(self.path("one.pb.gz"), "rb") as b:
            return [f"{what}: another sum"] * (a.read() != b.read())

    def none(self, what):
        left = [n for n in os.listdir(self.path("sum.pb.gz.d/part")) if not n.endswith(".pb.gz")]
        return [f"{what}: there is a sum"] * os.path.exists(self.path("sum.pb.gz")) + \
            [f"{what}: half of a part: {n}" for n in left]

    def logs(self):
        found = []
        for name in sorted(os.listdir(self.path("sum.pb.gz.d/log"))):
            with open(self.path("sum.pb.gz.d/log/" + name), encoding="utf-8") as f:
                found += [f"{name}: {line}" for line in f.read().splitlines()]
        return found[:8]


def by_slurm(build, folder, check, prolog="", **more):
    """A cluster and a fleet's folder, to a check."""
    os.makedirs(os.path.join(folder, "slurm"))
    os.makedirs(os.path.join(folder, "work"))
    with Slurm(os.path.join(folder, "slurm"), prolog) as slurm:
        bench = Bench(build, os.path.join(folder, "work"), **more)
        bench.env = slurm.environment
        yield from check(bench, slurm)


def whole(bench, slurm):
    out, err, status = bench.submit("slurm", "--tasks=5", "--limit=2")
    if status or err:
        yield f"submit: {status}, {out}{err}"
    slurm.wait(slurm.is_quiet, 120)
    yield from bench.same("Slurm")
    nodes = {n for n in ("n1", "n2")
             if "Launching batch job" in open(slurm.path(n + ".log"), encoding="utf-8").read()}
    if nodes != {"n1", "n2"}:
        yield f"only {nodes} had something to do"
    out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
    if status or "5 of 5 are whole" not in out or "24 of 25 recordings" not in out:
        yield f"status: {status}, {out}{err}"


def killed(bench, slurm):
    """A node that is gone while the tasks run."""
    def is_busy():
        """Does n2 run a task that has no part yet?"""
        out, _, _ = slurm.ask("squeue", "--noheader", "--array", "--states=RUNNING",
                              "--nodelist=n2", "--format=%K")
        return len(bench.parts()) > 3 and out.strip().isdigit() and \
            f"{out.strip()}.pb.gz" not in bench.parts()

    bench.submit("slurm", "--tasks=20")
    slurm.wait(is_busy)
    slurm.kill_node("n2")
    slurm.wait(slurm.is_quiet, 240)
    before = bench.parts()
    if len(before) != 19:
        yield f"the node was killed too late, or more than it: {before}"
    yield from bench.none("a node is gone")
    out, err, status = bench.run("fleet", "status", "sum.pb.gz.d")
    if status != 1 or f"{len(before)} of 20 {'is' if len(before) == 1 else 'are'} whole" not in out:
        yield f"status: {status}, {out}{err}"
    kept = {n: os.stat(bench.path("sum.pb.gz.d/part/" + n)).st_ino for n in before}
    slurm.start_node("n2")
    slurm.wait(slurm.is_up)
    out, err, status = bench.resume()
    if status or err or f"runs {20 - len(before)} task" not in out:
        yield f"resume: {status}, {out}{err}"
    slurm.wait(slurm.is_quiet, 240)
    yield from bench.same("resumed")
    if any(os.stat(bench.path("sum.pb.gz.d/part/" + n)).st_ino != i for n, i in kept.items()):
        yield "a whole part was made again"


def dies(bench, slurm):
    """A task that fails: the sum's job is gone, nothing else is lost."""
    path = bench.path("sum.pb.gz.d/list/2")
    slurm.ask("scontrol", "update", "PartitionName=test", "State=DOWN")  # hold them all
    bench.submit("slurm", "--tasks=6")
    with open(path, "rb") as f:
        names = f.read()
    with open(path, "ab") as f:
        f.write(b"more.data\0")
    slurm.ask("scontrol", "update", "PartitionName=test", "State=UP")
    slurm.wait(slurm.is_quiet, 120)
    yield from bench.none("a task failed")
    if len(bench.parts()) != 5:
        yield f"{bench.parts()}"
    with open(path, "wb") as f:
        f.write(names)
    out, err, status = bench.resume()
    if status or "runs 1 task," not in out:
        yield f"resume: {status}, {out}{err}"
    slurm.wait(slurm.is_quiet, 120)
    yield from bench.same("resumed")


def full(bench, slurm):
    """No room for parts; then there is some."""
    os.mkdir(bench.path("small"))
    must("mount", "-t", "tmpfs", "-o", "size=80k", "none", bench.path("small"))
    os.symlink("small/d", bench.path("sum.pb.gz.d"))
    _, err, status = bench.run("fleet", "submit", "--engine=slurm", "--list=list", "-o",
                               "sum.pb.gz", "--dir=small/d", "--tasks=8", "guest.elf")
    if status:
        yield f"submit: {status}, {err}"
    slurm.wait(slurm.is_quiet, 120)
    yield from bench.none("no room")
    if len(bench.parts()) == 8:
        yield "there was room"
    must("mount", "-o", "remount,size=64m", bench.path("small"))
    out, err, status = bench.resume()
    if status:
        yield f"resume: {status}, {out}{err}"
    slurm.wait(slurm.is_quiet, 120)
    yield from bench.same("with room")
    must("umount", bench.path("small"))


# --- GNU parallel ---------------------------------------------------------------------


def but_bad(err):
    """What tasks say, but of the recording that cannot be read."""
    return "".join(line for line in err.splitlines() if "rec/bad.data: is too short" not in line and
                   "no samples: the recording is empty" not in line)


def parallel_here(bench):
    need("parallel")
    bench.env = environment(HOME=bench.folder)
    with open(bench.path("here"), "w", encoding="ascii") as f:
        f.write("2/:\n")
    out, err, status = bench.submit("parallel", "--slf=here", "--tasks=6")
    if status or but_bad(err):
        yield f"submit: {status}, {out}{err}"
    yield from bench.same("parallel")
    os.unlink(bench.path("sum.pb.gz"))
    os.unlink(bench.path("sum.pb.gz.d/part/3.pb.gz"))
    path = bench.path("sum.pb.gz.d/list/3")
    os.rename(path, path + "-")
    _, err, status = bench.resume()
    if status != 1 or "not all tasks have run" not in err:
        yield f"a task fails: {status}, {err}"
    yield from bench.none("a task fails")
    os.rename(path + "-", path)
    out, err, status = bench.resume()
    if status or but_bad(err):
        yield f"resume: {status}, {out}{err}"
    yield from bench.same("resumed")


class Hosts:
    """Two network namespaces with an sshd each, at 10.201.N.2."""

    def __init__(self, folder, hidden=()):
        need("sshd", "ssh", "ssh-keygen", "ip")
        self.folder, self.daemons, self.hidden = folder, [], hidden
        self.names = [f"hlg{os.getpid()}-{i}" for i in (1, 2)]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)

    def start(self, i, name):
        veth, inside, net = f"hv{os.getpid() % 100000}{i}", f"hi{os.getpid() % 100000}{i}", 200 + i
        if run("ip", "netns", "add", name)[2]:
            raise Skip("no network namespace can be made")
        for argv in (("ip", "link", "add", veth, "type", "veth", "peer", "name", inside),
                     ("ip", "link", "set", inside, "netns", name),
                     ("ip", "addr", "add", f"10.201.{net}.1/24", "dev", veth),
                     ("ip", "link", "set", veth, "up"),
                     ("ip", "-n", name, "addr", "add", f"10.201.{net}.2/24", "dev", inside),
                     ("ip", "-n", name, "link", "set", inside, "up"),
                     ("ip", "-n", name, "link", "set", "lo", "up")):
            out, err, status = run(*argv)
            if status:
                raise Skip(f"no network can be made: {err.strip()}")
        self.write(f"sshd{i}", f"ListenAddress 10.201.{net}.2\nPort 22\nHostKey {self.path('host')}\n"
                   f"AuthorizedKeysFile {self.path('user.pub')}\nPermitRootLogin yes\nUsePAM no\n"
                   f"StrictModes no\nPidFile none\nPasswordAuthentication no\n")
        with open(self.path(f"sshd{i}.log"), "wb") as log:
            self.daemons.append(subprocess.Popen(
                ["ip", "netns", "exec", name, "unshare", "-m", "sh", "-c",
                 'conf=$1; shift; for f; do mount -t tmpfs none "$f" || exit; done; '
                 'exec /usr/sbin/sshd -D -e -f "$conf"', "sh", self.path(f"sshd{i}"),
                 *self.hidden], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return f"1/ssh -F {self.path('config')} 10.201.{net}.2\n"

    def __enter__(self):
        os.makedirs("/run/sshd", exist_ok=True)
        for key in "host", "user":
            must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key))
        self.write("config", f"IdentityFile {self.path('user')}\nStrictHostKeyChecking no\n"
                   "ConnectTimeout 5\nServerAliveInterval 2\nServerAliveCountMax 2\nBatchMode yes\n"
                   "UserKnownHostsFile /dev/null\nLogLevel ERROR\nUser root\n")
        try:
            self.write("logins", "".join([self.start(i, n) for i, n in enumerate(self.names)]))
            until = time.monotonic() + 20
            while run("ssh", "-F", self.path("config"), "10.201.200.2", "true")[2] or \
                    run("ssh", "-F", self.path("config"), "10.201.201.2", "true")[2]:
                if time.monotonic() > until:
                    raise RuntimeError("sshd does not answer")
                time.sleep(0.2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.terminate()
            daemon.wait()
        for name in self.names:
            run("ip", "netns", "del", name)


def parallel_there(bench):
    need("parallel")
    if os.geteuid() != 0:
        raise Skip("only root makes network namespaces")
    bench.env = environment(HOME=bench.folder)
    os.mkdir(bench.path("ssh"))
    with Hosts(bench.path("ssh")) as hosts:
        out, err, status = bench.submit("parallel", f"--slf={hosts.path('logins')}", "--tasks=6")
        if status or but_bad(err):
            yield f"submit: {status}, {out}{err}"
        yield from bench.same("by SSH")
        with open(bench.path("sum.pb.gz.d/log/joblog"), encoding="utf-8") as f:
            used = {line.split("\t")[1] for line in f.read().splitlines()[1:]}
        if len(used) != 2:
            yield f"hosts: {used}"
        os.unlink(bench.path("sum.pb.gz"))
        for k in range(6):
            os.unlink(bench.path(f"sum.pb.gz.d/part/{k}.pb.gz"))
        hosts.daemons.pop().kill()  # a host that is gone
        run("ip", "netns", "del", hosts.names[1])
        _, err, status = bench.resume()
        if status != 1:
            yield f"a host is gone: {status}, {err}"
        yield from bench.none("a host is gone")
        with open(hosts.path("logins"), "r+", encoding="ascii") as f:
            line = f.readline()
            f.seek(0)
            f.truncate()
            f.write(line)
        out, err, status = bench.resume()
        if status or but_bad(err):
            yield f"resume: {status}, {out}{err}"
        yield from bench.same("resumed")


def parallel_sent(bench):
    """Machines that share no files: they see empty folders where ours are."""
    need("parallel", "rsync")
    if os.geteuid() != 0:
        raise Skip("only root makes network namespaces")
    bench.env = environment(HOME=bench.folder)
    for name in os.listdir(bench.path("rec")):  # what parallel's rsync keeps: whole seconds
        os.utime(bench.path("rec/" + name), (1700000000, 1700000000))
    bench.one()
    with tempfile.TemporaryDirectory(prefix="cluster-ssh-") as folder, \
            Hosts(folder, (bench.folder, "/root")) as hosts:
        before = {*os.listdir(bench.path("rec"))}
        out, err, status = bench.submit("parallel", f"--slf={hosts.path('logins')}", "--transfer")
        if status or but_bad(err):
            yield f"submit: {status}, {out}{err}"
        yield from bench.same("sent")
        if {*os.listdir(bench.path("rec"))} != before:
            yield "recordings are gone"
        with open(bench.path("sum.pb.gz.d/log/joblog"), encoding="utf-8") as f:
            jobs = [line.split("\t") for line in f.read().splitlines()[1:]]
        if len({job[1] for job in jobs}) != 2 or any(int(job[4]) == 0 for job in jobs):
            yield f"joblog: {jobs[:2]}"
        os.unlink(bench.path("sum.pb.gz"))
        os.unlink(bench.path("sum.pb.gz.d/part/5.pb.gz"))
        out, err, status = bench.resume()
        if status or but_bad(err):
            yield f"resume: {status}, {out}{err}"
        yield from bench.same("resumed")


# --- many -----------------------------------------------------------------------------


def timed(f):
    """Wall and CPU seconds; of the CPU those of children that have ended."""
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    wall, before = time.monotonic(), cpu()
    f()
    return time.monotonic() - wall, cpu() - before


def tell_engine(bench, wall, tasks):
    """What the engine takes of so many seconds: the same tasks here, as many at a time, the
    sum by itself, and one report of all, without any engine."""
    here = timed(lambda: bench.run("fleet", "submit", "--engine=local", "--list=list", "-o",
                                   "here.pb.gz", f"--tasks={tasks}", "--limit=2", bench.elf))
    reduced = timed(lambda: bench.run("fleet", "reduce", "here.pb.gz.d"))
    one = timed(lambda: bench.run("report", "-q", "-j2", bench.elf, "--input-list=list",
                                  "--format=pprof", "-o", "two.pb.gz"))
    print(f"# the same tasks without an engine, 2 at a time: {here[0]:.1f} s, {here[1]:.1f} "
          f"CPU s, of which the sum {reduced[0]:.2f} s, {reduced[1]:.2f} CPU s; one report "
          f"with -j2: {one[0]:.1f} s, {one[1]:.1f} CPU s")
    print(f"# the engine adds {wall - here[0]:.1f} s, {1000 * (wall - here[0]) / tasks:.0f} ms "
          f"for each task; tasks add {here[1] - reduced[1] - one[1]:.1f} CPU s to one report's, "
          f"{1000 * (here[1] - reduced[1] - one[1]) / tasks:.0f} ms for each")


def many(bench, slurm, n):
    """So many recordings through both nodes; and again, with one of these killed half-way."""
    bench.many(n)
    began = time.monotonic()
    bench.submit("slurm", "--tasks=100")
    slurm.wait(slurm.is_quiet, 1800)
    wall = time.monotonic() - began
    print(f"# {n} recordings, 100 tasks on two nodes: {wall:.0f} s")
    yield from bench.same(f"{n} recordings")
    tell_engine(bench, wall, 100)
    out, _, _ = bench.run("fleet", "status", "sum.pb.gz.d")
    if f"{n} of {n + 1} recordings are in them, 1 could not" not in out:
        yield out
    shutil.rmtree(bench.path("sum.pb.gz.d"))
    os.unlink(bench.path("sum.pb.gz"))
    bench.submit("slurm", "--tasks=100")
    slurm.wait(lambda: len(bench.parts()) >= 50, 1800)
    slurm.kill_node("n2")
    slurm.kill_node("n1")  # else this one does it all
    slurm.wait(lambda: "DOWN" in slurm.ask("sinfo", "--noheader", "--format=%T")[0].upper(), 120)
    slurm.ask("scancel", "--user=root")
    left = len(bench.parts())
    print(f"# both nodes were killed with {left} of 100 parts whole")
    yield from bench.none("nodes are gone")
    slurm.start_node("n1")
    slurm.start_node("n2")
    slurm.wait(slurm.is_up, 120)
    out, err, status = bench.resume()
    if status or err:
        yield f"resume: {status}, {out}{err}"
    slurm.wait(slurm.is_quiet, 1800)
    yield from bench.same("resumed")


def main():
    p = parser(__doc__)
    p.add_argument("--recordings", metavar="N", type=int, default=0)
    p.add_argument("only", nargs="*")
    args = p.parse_args()
    tap = Tap()
    # What is mounted here is gone with this program, and what is killed.
    import ctypes  # pylint: disable=import-outside-toplevel
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNS) == 0:
        run("mount", "--make-rprivate", "/")
    checks = [("Slurm", whole, ""), ("Slurm, a node is killed", killed, "sleep 2"),
              ("Slurm, a task fails", dies, ""), ("Slurm, a full disk", full, "")]
    for name, check, prolog in checks:
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
            if not args.only or check.__name__ in args.only:
                tap.run(name, lambda c=check, f=folder, p=prolog: list(by_slurm(args.build, f, c, p)))
    if args.recordings:
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
            tap.run(f"Slurm, {args.recordings} recordings", lambda: list(by_slurm(
                args.build, folder, lambda b, s: many(b, s, args.recordings))))
    for name, check in (("parallel", parallel_here), ("parallel by SSH", parallel_there),
                        ("parallel, files sent", parallel_sent)):
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
            if not args.only or check.__name__ in args.only:
                tap.run(name, lambda c=check, f=folder: list(c(Bench(args.build, f))))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
