#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""All perfs of today: each records, reads what hlguest says of it, and what inject writes.

    perfs.py --perfs DIR --get               once: unpacks Debian's into DIR
    perfs.py --perfs DIR --build BUILD [NAME...]

By hand: a minute for each perf. NAME: system (the one that is installed), trixie, sid,
backports; those that are not there are skipped. Each records a guest in the micro-VM by the
forms of hlguest record and by options of perf record. Then the guest's samples are as many as
perf itself counts, the filter in that perf and the command give the same bytes, and each perf
shows the guest's functions in the copy that inject makes. --get takes them from the mirror
that this machine's apt has (300 MB); it needs apt-get, dpkg, patchelf. A perf is its own
program with the libraries of its Debian, so that it runs here: nothing is installed.
"""
import argparse
import difflib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from microvm import guest, monitor
from programs import hlguest_of
from tap import Skip, Tap, environment, filter_argv, must, need, run

SUITES = {"trixie": ("trixie",), "sid": ("sid",), "backports": ("trixie", "trixie-backports")}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SECONDS = "--seconds=1"
SAMPLE = re.compile(r"PERF_RECORD_SAMPLE\(IP, 0x[45]\)")
# perf keeps from a filter what the kernel lost: hlguest-report(1).
LOST = re.compile(r'^note,.*(lost|throttled) .*\n', re.M)
FUNCTION = "hash_block"  # where the guest demo is most of the time
# By hlguest record; what its own reader has to do with it.
FORMS = {
    "record": ((), None), "record --host": (("--host",), None),
    "record --stacks": (("--stacks",), None), "record --exits": (("--exits",), "exits"),
    "record --guest-stacks": (("--guest-stacks",), None), "record -z": (("-z",), None),
    "record --sandboxes": (("--sandboxes",), None), "record -a": (("-a",), None),
    "record --windows": (("--windows=task-clock,page-faults",), "windows"),
}
# By perf record; the first perf that knows it.
OPTIONS = {
    "-g": 0, "--call-graph dwarf": 0, "--call-graph fp,defer": 7, "-a": 0, "-z": 0,
    "--threads": 0, "--buildid-all": 0, "--no-buildid-mmap": 7, "--per-thread": 0,
    "--sample-identifier": 0, "--namespaces": 0, "--switch-events": 0, "--latency": 7,
    "--intr-regs": 0, "--tail-synthesize --overwrite": 0, "-e page-faults": 0,
}


def get(folder, name):
    """A perf and the libraries of its Debian, into folder/name."""
    need("apt-get", "dpkg", "patchelf")
    top = os.path.join(folder, name)
    root, apt = os.path.join(top, "root"), os.path.join(top, "apt")
    shutil.rmtree(top, ignore_errors=True)
    for path in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(apt, path))
    open(os.path.join(apt, "status"), "w", encoding="utf-8").close()
    mirror = must("apt-get", "indextargets", "--format", "$(REPO_URI)", "Label: Debian").split()
    with open(os.path.join(apt, "sources"), "w", encoding="utf-8") as f:
        for suite in SUITES[name]:
            f.write(f"deb [check-valid-until=no signed-by={KEYRING}] {mirror[0]} {suite} main\n")
    words = ["apt-get", "-q", "-y", "-t", SUITES[name][-1], "--no-install-recommends"]
    for key, value in {
            "Dir::Etc::SourceList": f"{apt}/sources", "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State": apt, "Dir::State::status": f"{apt}/status", "Dir::Cache": apt,
            "Dir::Cache::archives": f"{apt}/archives", "Debug::NoLocking": "1"}.items():
        words += ["-o", f"{key}={value}"]
    for what in (["update"], ["install", "--download-only", "linux-perf"]):
        subprocess.run(words + what, check=True, stdout=subprocess.DEVNULL)
    for package in glob.glob(f"{apt}/archives/*.deb"):
        must("dpkg", "-x", package, root)
    shutil.rmtree(apt)
    os.mkdir(os.path.join(top, "bin"))
    perf = shutil.copy(f"{root}/usr/bin/perf", f"{top}/bin/perf")
    loader = glob.glob(f"{root}/**/ld-linux-x86-64.so.2", recursive=True)
    libraries = [f"{root}{d}/x86_64-linux-gnu" for d in ("/usr/lib", "/lib")]
    must("patchelf", "--set-interpreter", os.path.abspath(loader[0]), "--force-rpath",
         "--set-rpath", ":".join(map(os.path.abspath, libraries)), perf)
    print(f"{name}: {must(perf, '--version').strip()}")


class Perf:
    def __init__(self, folder, name):
        found = shutil.which("perf") if name == "system" else f"{folder}/{name}/bin/perf"
        self.there = bool(found) and os.path.exists(found)
        if not self.there:
            return
        self.env = environment(PATH=os.path.dirname(os.path.abspath(found)) + ":" +
                               os.environ["PATH"])
        self.version = must(found, "--version").split()[-1]
        self.major = int(self.version.split(".")[0])


class Bench:
    def __init__(self, build, perfs, folder):
        self.build, self.perfs, self.folder = build, perfs, folder
        self.vm, self.elf = monitor(build, folder), guest("demo", build, folder)
        self.command = (self.vm, SECONDS, self.elf)
        self.hlguest = hlguest_of(build)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compare(self, perf, recording):
        """perf's count, the filter's bytes."""
        out, err, status = run(self.hlguest, "report", "--format=csv", "--top=0", self.elf,
                               recording, env=perf.env)
        text, said, its = run(*filter_argv(self.build, recording, self.elf, "format=csv", "top=0",
                                           "strict-base=yes"), env=perf.env)
        out = LOST.sub("", out)
        if text != out or (its != status and status != 3):
            yield f"status {status}, the filter's {its}: {err}{said}"
            yield from difflib.unified_diff(out.split("\n"), text.split("\n"), lineterm="", n=0)
        document = json.loads(must(self.hlguest, "report", "-q", "--format=json", "--force=yes",
                                   self.elf, recording, env=perf.env))
        count = len(SAMPLE.findall(must("perf", "script", "-D", "-i", recording, env=perf.env)))
        ours = document["totals"]["guest"]["samples"]
        if ours != count or not ours:
            yield f"{ours} guest samples, perf has {count}"

    def injected(self, recording):
        """All perfs show the guest, those that are older than the recording's too."""
        path = self.path("injected")
        must(self.hlguest, "inject", "-q", "--force=yes", self.elf, recording, "-o", path)
        for perf in self.perfs:
            out, err, status = run("perf", "report", "--stdio", "-i", path, env=perf.env)
            if status or FUNCTION not in out:
                yield f"perf {perf.version} does not show what was injected: {status}, {err}"

    def form(self, perf, name):
        words, reader = FORMS[name]
        path = self.path("form.data")
        _, err, status = run(self.hlguest, "record", "-o", path, *words, "--", *self.command,
                             env=perf.env)
        if status:
            yield f"status {status}: {err}"
            return
        if reader:
            out, err, status = run(self.hlguest, reader, self.elf, path, env=perf.env)
            if status or not out:
                yield f"hlguest {reader}: status {status}, {len(out)} characters: {err}"
        if reader == "windows":
            return
        # Without what hlguest notes beside a recording, which the filter does not read.
        alone = shutil.copy(path, self.path("alone.data"))
        yield from self.compare(perf, alone)
        yield from self.injected(alone)

    def option(self, perf, words):
        if perf.major < OPTIONS[words]:
            raise Skip("not in this perf")
        path = self.path("option.data")
        if os.path.isdir(path):
            shutil.rmtree(path)
        must("perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock:HG", *words.split(), "-o",
             path, "--", *self.command, env=perf.env)
        yield from self.compare(perf, path)
        yield from self.injected(path)

    def piped(self, perf):
        path = self.path("pipe.data")
        must("sh", "-c", 'path=$1; shift; exec perf record -q --no-bpf-event -e cpu-clock:HG -o - '
             '-- "$@" >"$path"', "sh", path, *self.command, env=perf.env)
        yield from self.compare(perf, path)
        yield from self.injected(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfs", metavar="DIR", required=True)
    parser.add_argument("--get", action="store_true")
    parser.add_argument("--build", metavar="BUILD")
    parser.add_argument("names", metavar="NAME", nargs="*")
    args = parser.parse_args()
    if args.get:
        for name in args.names or SUITES:
            get(args.perfs, name)
        return 0
    if not args.build:
        parser.error("--build or --get is needed")
    tap = Tap()
    every = {name: Perf(args.perfs, name) for name in ("system", *SUITES)}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args.build, [p for p in every.values() if p.there], folder)
        for name in args.names or every:
            perf = every[name]
            if not perf.there:
                tap.skip(name, f"it is not in {args.perfs} (--get)")
                continue
            for form in FORMS:
                tap.run(f"perf {perf.version}: {form}",
                        lambda p=perf, f=form: list(bench.form(p, f)))
            for words in OPTIONS:
                tap.run(f"perf {perf.version}: perf record {words}",
                        lambda p=perf, w=words: list(bench.option(p, w)))
            tap.run(f"perf {perf.version}: perf record -o -",
                    lambda p=perf: list(bench.piped(p)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
