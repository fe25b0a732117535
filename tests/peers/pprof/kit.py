# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of saved profiles share: the recordings, and hlguest run on them."""
import os
import re
import shutil
import tempfile

from programs import hlguest_of
from tap import DATA, Skip, Tap, but_banner, must, names_in, parser, run

RECORDINGS = names_in(DATA, ".data")


def elf_of(recording):
    return "rusty.elf" if recording.startswith("rusty") else "demo.elf"


MISFIT = 3  # the status when samples do not fit: demo-far's base is not the note's


NOTHING = re.compile(r"hlguest: .*(no (guest|host) samples|: selects none of \d+ sample).*\n")


class Bench:
    """A folder with a recording and its ELF in, and profiles made of them."""

    def __init__(self, build, work):
        self.hlguest = hlguest_of(build)
        self.work = work
        self.count = 0
        for name in os.listdir(DATA):
            if name.endswith((".data", ".elf")):
                shutil.copy(os.path.join(DATA, name), self.folder("given"))
        out, err, status = self.run("merge", "/dev/null")
        if "not in this build" in err:
            raise Skip(err.strip())

    def folder(self, *names):
        path = os.path.join(self.work, *names)
        os.makedirs(path, exist_ok=True)
        return path

    def new(self):
        self.count += 1
        return os.path.join(self.work, f"{self.count}.pb.gz")

    def run(self, *argv, folder="given"):
        # A profile keeps where its images lay: not where a file says that they do.
        strict = ["--strict-base"] if argv[0] == "report" else []
        out, err, status = run(self.hlguest, *argv, *strict,
                               cwd=os.path.join(self.work, folder))
        if argv[0] == "report" and status == 1 and NOTHING.fullmatch(err):
            return out, "", 0  # what programs read is whole
        return out, err, status

    def save(self, *argv, out=None):
        """Bytes of the profile that a report saves."""
        out = out or self.new()
        words = ["report", *argv, "--format=pprof", f"--out={out}"]
        _, err, status = self.run(*words)
        if but_banner(err) or status not in (0, MISFIT):
            raise RuntimeError(f"{' '.join(words)}: status {status}: {err}")
        return out

    def copy(self, path):
        """Another file with the same in it: one that is named twice counts once."""
        return shutil.copy(path, self.new())

    def merge(self, paths):
        out = self.new()
        must(self.hlguest, "merge", "-o", out, *paths)
        return out

    def saved_alike(self, *options):
        """A folder like the given one, but each recording is a profile saved from it."""
        folder = "saved" + "".join(options).replace("/", "")
        for name in os.listdir(self.folder("given")):
            to = os.path.join(self.folder(folder), name)
            if os.path.exists(to):
                continue
            if name.endswith(".elf"):
                shutil.copy(os.path.join(self.folder("given"), name), to)
            else:
                self.save(elf_of(name), name, *options, out=to)
        return folder


def content(path):
    with open(path, "rb") as f:
        return f.read()


def run_checks(doc, what, checks):
    """The main() of a test: runs each (name, function), with a Bench; what is skipped without."""
    args = parser(doc).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        try:
            bench = Bench(args.build, work)
        except Skip as e:
            tap.skip(what, e)
            return tap.finish()
        for name, function in checks:
            tap.run(name, lambda f=function: list(f(bench)))
    return tap.finish()
