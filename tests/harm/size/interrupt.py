#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""^C while a verb works on a large file: it ends at once, by the signal, and leaves nothing.

    interrupt.py --build DIR [VERB ...]

Ten million samples, a million exits, and large files of each other kind. ^C comes when the
verb has used so much of a processor; what it uses then, in system calls too, is judged, for
that does not depend on what else the machine does.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
import large
import long_windows
import splice
from known_exits import Known
from tap import DATA, TIMEOUT, Skip, Tap, environment, must, parser

SAMPLES = 10000000
AT = (0, 0.03, 0.2)  # CPU seconds when ^C comes
MORE = 1  # CPU seconds: most behind it
GUEST = os.path.join(DATA, "demo.elf")
TICK = os.sysconf("SC_CLK_TCK")
WITHOUT = ("not in this build", "built without", "without ")


def used(pid):
    """CPU seconds of a process that was not waited for, also when it has ended."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        user, system = f.read().rpartition(") ")[2].split()[11:13]
    return (int(user) + int(system)) / TICK


def has_ended(child, how=os.WNOHANG):
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | how) is not None


class Inputs:
    """Made when they are asked for, once."""

    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), folder

    def __call__(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            getattr(self, name.replace(".", "_"))(path)
        return path

    def repeat(self, source, path):
        must(os.path.join(self.build, "tests/bench/repeat"), f"--samples={SAMPLES}",
             os.path.join(DATA, source), path)

    def long_data(self, path):
        self.repeat("demo-user.data", path)

    def exits_data(self, path):
        short = os.path.join(self.folder, "short.data")
        Known(1, 1, splice.NEW, False, pairs=2000).write(short)
        must(os.path.join(self.build, "tests/bench/exits-repeat"), short, "500", path)

    def windows_data(self, path):
        long_windows.repeat(os.path.join(DATA, "demo-windows.data"), 200000, path)

    def stacks_data(self, path):
        with large.Recording(path, (large.CLOCK, large.ENTRY), chains=True) as r:
            for i in range(400000):
                r.sample(0x4000 + 7 * i % 0x3000, chain=(large.CONTEXT_USER, *(
                    0x400000 + 16 * (i * k % 997) for k in range(8))), mode=large.HOST_USER)

    def guest_elf(self, path):
        large.elf(path, large.functions(200000))

    def far_data(self, path):
        large.samples(path, (large.BASE + large.PAGE + 16 * i for i in range(200000)))

    def saved_pb(self, path):
        guest = f"{self('guest.elf')}@{large.BASE:#x}"
        must(os.path.join(self.build, "tools/hlguest"), "report", "-q", "--format=pprof",
             "--out=" + path, guest, self("far.data"))

    def sysprof_bin(self, path):
        large.sysprof(path, 1 << 26)

    def perf_map(self, path):
        large.perf_map(path, 1000000)


QUIET = {"lookup": (), "kallsyms": (), "sysprof": ()}  # these have no -q


def commands(get):
    """(name, words): what every verb that reads a file does."""
    def verb(word, *more, name=""):
        return name or " ".join([word, *(w for w in more if w.startswith("--format="))]), [
            word, *QUIET.get(word, ["-q"]), *more]

    data, far = get("long.data"), f"{get('guest.elf')}@{large.BASE:#x}"
    yield verb("report", GUEST, data)
    yield verb("report", "-j1", GUEST, data, name="report, one thread")
    yield verb("report", "--mode=all", GUEST, data, name="report of hosts")
    for form in ("csv", "json", "html", "folded", "pprof", "callgrind", "speedscope"):
        yield verb("report", f"--format={form}", "--out=x", far, get("far.data"))
    yield verb("report", "--mode=all", "--stacks=callgraph", "--out=x", GUEST,
               get("stacks.data"), name="report of stacks")
    yield verb("report", "--out=x", far, get("saved.pb"), name="report of a profile")
    yield verb("annotate", GUEST, data)
    yield verb("annotate", "--format=json", "--out=x", far, get("far.data"))
    yield verb("flame", GUEST, data, "-o", "x")
    yield verb("flame", "--mode=all", GUEST, get("stacks.data"), "-o", "x",
               name="flame of stacks")
    yield verb("diff", GUEST, data, data)
    yield verb("diff", "--format=json", "--out=x", far, get("far.data"), get("far.data"))
    yield verb("inject", GUEST, data, "-o", "x")
    yield verb("base", GUEST, data)
    yield verb("exits", GUEST + "@0x4000", get("exits.data"))
    yield verb("windows", "--format=csv", "--out=x", GUEST, get("windows.data"))
    yield verb("merge", *[get("saved.pb")] * 3, "-o", "x")
    yield verb("kallsyms", far, "-o", "x")
    yield verb("lookup", "map:" + get("perf.map"), "0x40000000")
    yield verb("sysprof", "--out=x", get("sysprof.bin"))


def interrupt(hlguest, words, folder, at):
    """(what is wrong, whether the signal ended it)"""
    child = subprocess.Popen([hlguest, *words], cwd=folder, env=environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    while not has_ended(child) and used(child.pid) < at:
        time.sleep(0.002)
    before, ended = used(child.pid), has_ended(child)
    os.kill(child.pid, signal.SIGINT)  # not by child, that would wait for it
    end = time.monotonic() + TIMEOUT
    while not has_ended(child) and time.monotonic() < end:
        time.sleep(0.002)
    more = used(child.pid) - before
    if not has_ended(child):
        child.kill()
    _, err = child.communicate()
    left = os.path.exists(os.path.join(folder, "x"))
    if left:
        os.unlink(os.path.join(folder, "x"))
    if any(text in err.decode() for text in WITHOUT):
        raise Skip(err.decode().strip())
    wrong = [f"{more} s of a processor behind ^C"] * (more > MORE)
    if child.returncode not in (0, 3, -signal.SIGINT):
        wrong.append(f"status {child.returncode}: {err.decode()[-300:]}")
    if child.returncode == -signal.SIGINT and (err or left):
        wrong.append(f"it left its output: {left}; it said {err.decode()[-300:]!r}")
    return [f"^C at {at} s: {text}" for text in wrong], child.returncode == -signal.SIGINT


def check(hlguest, words, folder):
    caught, wrong = 0, []
    for at in AT + (AT[1],) * 5:  # again: what is next to run may not be us
        if at == AT[1] and caught:
            continue
        more, was_caught = interrupt(hlguest, words, folder, at)
        wrong += more
        caught += was_caught and at > 0
    return wrong if caught or wrong else ["it is done before ^C comes (take more)"]


def main():
    p = parser(__doc__)
    p.add_argument("verbs", nargs="*", metavar="VERB")
    args = p.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started this ignores
    tap, hlguest = Tap(), os.path.abspath(os.path.join(args.build, "tools/hlguest"))
    with tempfile.TemporaryDirectory(prefix="hlguest-interrupt-") as folder:
        for name, words in commands(Inputs(args.build, folder)):
            if not args.verbs or words[0] in args.verbs:
                tap.run(name, check, hlguest, words, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
