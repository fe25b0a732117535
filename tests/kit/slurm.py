# SPDX-License-Identifier: GPL-2.0-only
"""A Slurm of two nodes on this machine, for as long as a test lasts.

Debian's slurmctld, slurmd (built for several on a machine) and munge, as root, with all of
their files in a folder of the test's; no service of the system is used or touched.
"""
import os
import shutil
import signal
import socket
import subprocess
import time

from tap import Skip, environment, run

CONF = """
ClusterName=hlguest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
StateSaveLocation={folder}/state
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
JobRequeue=0
SlurmdTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=300
NodeName=n1 NodeHostName={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostName={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 State=UNKNOWN
PartitionName=test Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""
DAEMONS = ["slurmctld", "slurmd", "munged", "sbatch", "squeue", "sinfo"]


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """with Slurm(folder) as slurm: its commands are run with slurm.environment."""

    def __init__(self, folder, prolog=""):
        missing = [d for d in DAEMONS if not shutil.which(d, path="/usr/sbin:/usr/bin:/sbin:/bin")]
        if missing:
            raise Skip(f"not installed: {' '.join(missing)} (slurmctld, slurmd, slurm-client, munge)")
        if os.geteuid() != 0:
            raise Skip("slurmd runs jobs as root only")
        self.folder, self.running, self.prolog = folder, {}, prolog
        self.environment = environment(SLURM_CONF=self.path("slurm.conf"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, name, *argv):
        with open(self.path(name + ".out"), "ab") as log:
            self.running[name] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                cwd=self.folder, start_new_session=True)

    def start_node(self, name):
        self.start(name, "/usr/sbin/slurmd", "-D", "-N", name, "-f", self.path("slurm.conf"))

    def end(self, name, how=signal.SIGTERM):
        """Ends a daemon that this test has started."""
        process = self.running.pop(name)
        process.send_signal(how)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill_node(self, name):
        """As if the machine had lost its power: the daemon and all that it runs."""
        steps = [self.running[name].pid]
        for pid in steps:  # grows as it goes
            out, _, _ = run("ps", "-o", "pid=", "--ppid", str(pid))
            steps += [int(p) for p in out.split()]
        for pid in steps:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.running.pop(name).wait()
        # slurmstepd has left its daemon's tree.
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if f"SLURM_CONF={self.path('slurm.conf')}".encode() in words and \
                    f"SLURMD_NODENAME={name}".encode() in words:
                try:
                    os.kill(int(entry), signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def wait(self, question, seconds=60):
        """Until question() says yes."""
        until = time.monotonic() + seconds
        while not question():
            if time.monotonic() > until:
                raise RuntimeError(f"Slurm: not within {seconds} s: {self.tail()}")
            time.sleep(0.2)

    def tail(self):
        found = []
        for name in ("slurmctld.log", "n1.log", "n2.log", "slurmctld.out", "munged.out"):
            try:
                with open(self.path(name), errors="replace", encoding="utf-8") as f:
                    found += [f"{name}: {line}" for line in f.read().splitlines()[-4:]]
            except OSError:
                pass
        return "\n".join(found)

    def ask(self, *argv):
        return run(*argv, env=self.environment)

    def is_up(self, n=2):
        out, _, _ = self.ask("sinfo", "--noheader", "--Node", "--format=%t")
        return out.split().count("idle") == n

    def is_quiet(self):
        """Is no job queued, nor runs?"""
        out, _, status = self.ask("squeue", "--noheader", "--states=all", "--format=%T")
        return status == 0 and not {*out.split()} & {"PENDING", "RUNNING", "COMPLETING",
                                                     "CONFIGURING", "SUSPENDED"}

    def __enter__(self):
        for name in ("state", "n1", "n2"):
            os.makedirs(self.path(name))
        os.chmod(self.folder, 0o755)
        with open(self.path("munge.key"), "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(self.path("munge.key"), 0o400)
        with open(self.path("slurm.conf"), "w", encoding="ascii") as f:
            f.write(CONF.format(host=socket.gethostname().split(".")[0], folder=self.folder,
                                ports=free_ports(3)))
            if self.prolog:  # what each node does before a task
                f.write(f"TaskProlog={self.path('prolog')}\n")
        with open(self.path("prolog"), "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{self.prolog}\n")
        os.chmod(self.path("prolog"), 0o755)
        with open(self.path("cgroup.conf"), "w", encoding="ascii") as f:
            f.write("CgroupPlugin=cgroup/v1\n")  # which slurmd loads, and does nothing here
        try:
            self.start("munged", "/usr/sbin/munged", "--foreground", "--force",
                       f"--socket={self.path('munge.sock')}", f"--key-file={self.path('munge.key')}",
                       f"--pid-file={self.path('munge.pid')}",
                       f"--seed-file={self.path('munge.seed')}",
                       f"--log-file={self.path('munge.log')}")
            self.wait(lambda: os.path.exists(self.path("munge.sock")))
            self.start("slurmctld", "/usr/sbin/slurmctld", "-D", "-c", "-f",
                       self.path("slurm.conf"))
            self.start_node("n1")
            self.start_node("n2")
            self.wait(self.is_up)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "slurmctld" in self.running:
            self.ask("scancel", "--user=root")
        for name in reversed([*self.running]):
            if name.startswith("n"):
                self.kill_node(name)
            else:
                self.end(name)
