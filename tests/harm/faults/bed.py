# SPDX-License-Identifier: GPL-2.0-only
"""Where faults.py and kills.py run programs: folders with inputs, and what came of a run."""
import os
import queue
import re
import shutil
import signal
import struct
import subprocess

from tap import DATA, TIMEOUT, Skip, environment

# Of a build with gcc's sanitizers: what they find ends a program by a status of its own.
# faults.so comes before their library. The loader has a list that they take for lost.
ASAN = "exitcode=99:verify_asan_link_order=0:detect_leaks="
KNOWN = "leak:_dl_map_object_deps\n"
TOLD = struct.Struct("QQ496s")  # told.h
LINE = re.compile(r"hlguest[ a-z]*: .+: .+\n")


class Case:
    """A command, what it reads, and what it writes: `out`, or standard output."""

    def __init__(self, name, argv, inputs=("demo.elf", "demo-user.data"), out=False,
                 good=(0,), stdin=None, recordings=1, tells=False, varies=False, slow=False):
        self.name = name
        self.argv = list(argv)
        self.inputs = inputs
        self.out = out
        self.good = good    # statuses of success
        self.stdin = stdin  # an input given there
        self.recordings = recordings  # each of which may be told to fail
        self.tells = tells  # a line on standard error where all is well
        self.varies = varies  # what comes of it, by what the machine is and has
        self.slow = slow    # seconds each
        self.right = {}     # of each result what it is to be


class Outcome:
    """What one run did."""

    def __init__(self, status, out, err, told, made):
        self.status = status
        self.out = out
        self.err = err
        self.calls, self.struck, at = TOLD.unpack(told)
        self.at = at.split(b"\0")[0].decode("utf-8", "replace")
        self.made = made  # {name: bytes} of what was not there before


class Place:
    """One folder, with inputs, for one run at a time."""

    def __init__(self, bed, number):
        self.folder = os.path.join(bed.folder, f"place{number}")
        self.told = os.path.join(bed.folder, f"told{number}")
        os.mkdir(self.folder)
        self.bed = bed
        self.inputs = {}
        for name, path in bed.inputs.items():
            shutil.copy2(path, os.path.join(self.folder, name))
        self.remember()

    def path(self, name):
        return os.path.join(self.folder, name)

    def remember(self):
        self.inputs = {name: self.stamp(name) for name in self.bed.inputs}

    def stamp(self, name):
        st = os.stat(self.path(name))
        return st.st_ino, st.st_size, st.st_mtime_ns, st.st_mode

    def restore(self):
        for name, path in self.bed.inputs.items():
            if self.stamp(name) != self.inputs[name]:
                shutil.copy2(path, self.path(name))
        self.remember()

    def changed(self):
        return [name for name in self.inputs if self.stamp(name) != self.inputs[name]]

    def run(self, case, before=(), env=None, wait=None, keep=False, **how):
        """Runs it behind the words `before`; wait(child) may do something meanwhile. keep:
        what was made stays for the next run. how: is Popen's."""
        with open(self.told, "wb") as f:
            f.write(bytes(TOLD.size))
        words = [w.replace("{told}", self.told).replace("{place}", self.folder)
                 for w in before]
        with open(case.stdin and self.path(case.stdin) or os.devnull, "rb") as stdin:
            child = subprocess.Popen(
                words + case.argv, cwd=self.folder, stdin=stdin, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, close_fds=False,
                env={**self.bed.env, **(env or {}), "FAULT_TOLD": self.told}, **how)
            if wait:
                wait(child)
            out, err = child.communicate(timeout=TIMEOUT)
        with open(self.told, "rb") as f:
            told = f.read()
        return Outcome(child.returncode, self.plain(out), err.decode("utf-8", "replace"), told,
                       self.collect(keep))

    def plain(self, text):
        """The same whatever the place it was written in."""
        return text.replace(self.folder.encode(), os.path.join(self.bed.folder, "place0").encode())

    def collect(self, keep):
        """What was made, removed on the way unless it is to be kept."""
        made = {}
        for at, folders, files in os.walk(self.folder, topdown=False):
            for name in files:
                path = os.path.join(at, name)
                short = os.path.relpath(path, self.folder)
                if short in self.inputs:
                    continue
                with open(path, "rb") as f:
                    made[short] = self.plain(f.read())
                if not keep:
                    os.unlink(path)
            for name in folders:
                short = os.path.relpath(os.path.join(at, name), self.folder)
                if not keep:
                    os.rmdir(os.path.join(at, name))
        return made


class Bed:
    """All places, and the programs."""

    def __init__(self, build, folder, workers):
        # A shell lets what it starts in the background ignore ^C; what we start is not to.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.folder = folder
        self.programs = os.path.join(build, "tests", "harm", "faults")
        self.calls = os.path.abspath(os.path.join(self.programs, "calls"))
        self.memory = os.path.abspath(os.path.join(self.programs, "faults.so"))
        self.env = environment(MALLOC_PERTURB_="0", TMPDIR=folder)
        self.env.setdefault("ASAN_OPTIONS", "")
        self.checks = self.add_sanitizers(build)
        self.inputs = {name: os.path.join(DATA, name) for name in os.listdir(DATA)
                       if name.endswith((".data", ".elf"))}
        self.inputs["stream"] = os.path.join(DATA, "sysprof", "all-records.bin")
        for name in ("guest.elf", "small.elf", "turns.data"):
            self.inputs[name] = os.path.join(DATA, "hyperlight", name)
        self.places = queue.Queue()
        self.workers = workers

    def add_sanitizers(self, build):
        """Are there gcc's? clang's are in the program, where nothing preloaded is asked."""
        with open(os.path.join(build, "tools", "hlguest"), "rb") as f:
            if b"libasan.so" not in f.read():
                return False
        known = os.path.join(self.folder, "known-leaks")
        with open(known, "w", encoding="ascii") as f:
            f.write(KNOWN)
        self.env.update(ASAN_OPTIONS=ASAN + "1", UBSAN_OPTIONS="halt_on_error=1:exitcode=99",
                        LSAN_OPTIONS=f"suppressions={known}:print_suppressions=0")
        return True

    def traced(self, leave):
        """More environment for what is traced: leaks are only found of what is not, and what
        is left alone is fast."""
        if leave:
            return {"CALLS_LEAVE": "1"}
        return {"ASAN_OPTIONS": ASAN + "0"} if self.checks else {}

    def open(self):
        """Once all inputs are named."""
        for i in range(self.workers):
            self.places.put(Place(self, i))

    def tell(self, tap, case, attempt):
        """The result of attempt(case): (differences, what there was to see)."""
        if not all(name in self.inputs for name in case.inputs):
            tap.skip(case.name, "not in this build")
            return
        try:
            wrong, seen = attempt(case)
            tap.result(not wrong, f"{case.name}: {seen}", wrong)
        except Skip as e:
            tap.skip(case.name, e)
        except Exception as e:  # one case must not hide the others
            tap.result(False, case.name, [f"{type(e).__name__}: {e}"])

    def run(self, function):
        """function(place) in a place that is free."""
        place = self.places.get()
        try:
            return function(place)
        finally:
            place.restore()
            self.places.put(place)


def died(status):
    """The name of the signal that ended it, or None."""
    return signal.Signals(-status).name if status < 0 else None
