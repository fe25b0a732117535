# SPDX-License-Identifier: GPL-2.0-only
"""The main of a test that makes its input up from seeds.

It asks for what it can compute. All else that its commands print and write is kept as a digest
of each seed, in the folder `said` beside it, so that no output changes without a word: by
mistake, or where nobody looked. What differs is seen with a build of the source as it was:

    TEST --build DIR --against OTHER    how the two builds differ, seed by seed
    TEST --build DIR --update           what is said now is right, of all seeds

Digests are of Debian 12 on x86-64 and of builds with all features: other libraries disassemble and
demangle in other words. Elsewhere figures alone are asked.
"""
import contextlib
import difflib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import stat
import sys
import tempfile

import said
from programs import hlguest_of
from tap import ALL, Tap, parser, run

LINES = 40  # of a difference
# Its names are in what is printed and written: cut, hashed and compressed.
FOLDERS = "/tmp/hlguest-seeds"


def why_not(build):
    """Why digests are not of what this build prints here, or None."""
    try:
        with open("/etc/os-release", encoding="utf-8") as f:
            is_here = "VERSION_CODENAME=bookworm\n" in f.read() and platform.machine() == "x86_64"
        os.makedirs(FOLDERS, mode=0o700, exist_ok=True)
        its = os.lstat(FOLDERS)
    except OSError as e:
        return str(e)
    if not is_here:
        return "digests are of Debian 12 on x86-64"
    if not stat.S_ISDIR(its.st_mode) or its.st_uid != os.getuid():
        return f"{FOLDERS} is somebody else's"
    if " without " in run(hlguest_of(build), "--version")[0]:
        return "digests are of a build with all features"
    return None


@contextlib.contextmanager
def folder_of(name):
    """An empty folder that has the same name on every machine, for one run at a time."""
    if not name:
        with tempfile.TemporaryDirectory(prefix="seeds-") as folder:
            yield folder
        return
    folder = os.path.join(FOLDERS, name)
    with open(folder + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
        os.mkdir(folder)
        yield folder
        shutil.rmtree(folder)


def files_below(folder):
    """What is in the files that there are, by name."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        for path in (os.path.join(here, name) for name in sorted(names)):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    data = f.read()
                yield f"{os.path.relpath(path, folder)}: {hashlib.sha256(data).hexdigest()}\n"


class Said:
    """The digests of one test: lines of a seed and its digest."""

    def __init__(self, script, n):
        """Of seeds up to n there is to be one."""
        here, file = os.path.split(os.path.abspath(script))
        self.name = file[:-len(".py")]
        self.path = os.path.join(here, "said", self.name + ".txt")
        self.n, self.known = n, {}
        if os.path.exists(self.path):
            with open(self.path, encoding="ascii") as f:
                self.known = {int(seed): digest for seed, digest in map(str.split, f)}

    def take(self, seed, text):
        if seed <= self.n:
            self.known[seed] = self.digest(text)

    def write(self):
        with open(self.path, "w", encoding="ascii") as f:
            f.writelines(f"{seed} {digest}\n" for seed, digest in sorted(self.known.items()))

    def compare(self, seed, text):
        """A line about what is not as it was."""
        if seed <= self.n and self.digest(text) != self.known.get(seed):
            yield ("all that is computed is right, and something else that is printed or written "
                   "has changed (--against OTHER-BUILD shows it, --update keeps it)")

    @staticmethod
    def digest(text):
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def try_seed(differences, build, seed, name, but):
    """(what is wrong with it, all that was said and written, without what matches)"""
    with folder_of(name) as folder:
        def work():
            return list(differences(build, folder, seed)), "".join(files_below(folder))
        (wrong, files), runs = said.keep(work)
    text = said.transcript(runs) + files
    return wrong, re.sub(but, "", text) if but else text


def compare(differences, seed, name, but, builds):
    """How what two builds say differs."""
    texts = [try_seed(differences, build, seed, name, but)[1].splitlines() for build in builds]
    return list(difflib.unified_diff(*texts, *builds, lineterm="", n=2))[:LINES]


def seeds(description, n, differences, but=None, computes=True):
    """By default n seeds, in the gate half of them: differences(build, folder, seed) tells of one
    what is wrong, of what it makes in that folder. but matches what is never said twice; computes:
    there is more to tell than the digest does."""
    p = parser(description)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seeds", type=int)
    p.add_argument("--against", metavar="BUILD", help="of what another build says, the differences")
    p.add_argument("--update", action="store_true", help="keep what is said as it is now")
    args = p.parse_args()
    args.seeds = args.seeds or (n if ALL or args.update else n // 2)
    kept, lacking, tap = Said(sys.argv[0], n), why_not(args.build), Tap()
    if lacking and (args.update or args.against):
        sys.exit(f"{p.prog}: {lacking}")
    if lacking:
        tap.skip("what else is said", lacking)
    name = None if lacking else kept.name

    def judge(seed):
        if args.against:
            return compare(differences, seed, name, but, [args.against, args.build])
        wrong, text = try_seed(differences, args.build, seed, name, but)
        if args.update and not wrong:
            kept.take(seed, text)
        return wrong or (kept.compare(seed, text) if name else [])

    for first in range(args.seed, args.seed + args.seeds, 10) if name or computes else ():
        last = min(first + 10, args.seed + args.seeds)
        tap.run(f"seeds {first} to {last - 1}", lambda: [
            f"seed {seed}: {line}" for seed in range(first, last) for line in judge(seed)])
    if args.update:
        kept.write()
    return tap.finish()
