# SPDX-License-Identifier: GPL-2.0-only
"""A folder in which everything has a hostile name, and the command run there."""
import os
import re
import subprocess

import recordings as make
from names import names, shown, unclean
from programs import hlguest_of
from tap import DATA, TIMEOUT, Skip, environment

NAMES = names()
SHOWN = [shown(n) for n in NAMES]
EVENTS = NAMES[:60]
NASTY = b"=%c\x1b[31m\xc2\x9b\"',;<script>\n\xe2\x80\xae\xff[x] (1)"
ABSENT = re.compile(rb"not in this build|built without|without Zydis|without lib")


def path_of(letter, end):
    return NASTY % letter + end


class Place:
    def __init__(self, build, folder):
        self.build, self.folder, self.hlguest = build, folder, hlguest_of(build)
        os.chdir(folder)
        self.elf = path_of(b"g", b".elf")
        self.image = self.elf + b"@0x4000"
        self.samples, self.chains = path_of(b"s", b".data"), path_of(b"c", b".data")
        self.windows, self.exits = path_of(b"w", b".data"), path_of(b"e", b".data")
        self.calls, self.map = path_of(b"p", b".data"), path_of(b"m", b".map")
        self.single = path_of(b"o", b".data")
        make.write_elf(build, self.elf, NAMES)
        make.samples(self.samples, NAMES, EVENTS)
        make.samples(self.single, NAMES, [b"=1+2,\"\x1b[31m<script>"])
        make.chains(self.chains, NAMES, os.path.join(os.fsencode(folder), self.elf))
        make.windows(self.windows, NAMES, EVENTS)
        make.exits(self.exits, NAMES)
        make.renamed(self.calls, os.path.join(DATA, "demo-calls.data"), [
            b'a,"=1+2\x1b[31m<script>"', b"=1+2\xc2\x9b,\n"])
        make.perf_map(self.map, NAMES)

    def run(self, *argv, **env):
        """(stdout, stderr, status), bytes."""
        done = subprocess.run([self.hlguest, *argv], cwd=self.folder, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(**env), check=False)
        return done.stdout, done.stderr, done.returncode

    def must(self, *argv, **env):
        out, err, status = self.run(*argv, **env)
        if ABSENT.search(err):
            raise Skip(err.decode("utf-8", "replace").strip())
        if status or unclean(err, "stderr"):
            raise RuntimeError(f"{argv}: status {status}: {err[:2000]}")
        return out

    def report(self, *words):
        return self.must("report", "-q", self.image, self.samples, "--top=0",
                         "--demangle=no", *words)
