#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What goes wrong for somebody new to a verb is told in one line that says what to do.

    mishaps.py --build DIR

Files that are missing, empty, folders, closed to the user, or of the wrong kind, for
every verb; outputs that are full, closed, or that nobody reads any more; and ^C. One line
`hlguest...: subject: problem (what to do)` on standard error, nothing on standard output,
and status 1, or 2 where the command line makes no sense.
"""
import contextlib
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from programs import hlguest_of, session
from tap import DATA, TIMEOUT, Skip, Tap, but_banner, environment, need, parser, run

LINE = re.compile(r"hlguest[ a-z]*: .+: .+ \(.+\)\n|hlguest \w+: .+\n")
SEARCHED = 32 << 20  # bytes of code
TRY = re.compile(r"^(Try `hlguest|information\.).*\n", re.M)

# {verb: words}, {x} is the file that is wrong
IMAGES = {
    "report": ["{x}", "good.data"],
    "annotate": ["{x}", "good.data"],
    "flame": ["{x}", "good.data"],
    "base": ["{x}", "good.data"],
    "inject": ["{x}", "good.data", "-o", "injected"],
    "kallsyms": ["{x}"],
    "lookup": ["{x}", "0x5000"],
    "diff": ["{x}", "good.data", "--after", "good.data"],
}
RECORDINGS = {
    "report": ["good.elf", "{x}"],
    "report first": ["{x}", "good.elf"],
    "report -i": ["good.elf", "-i", "{x}"],
    "annotate -i": ["good.elf", "hash_block", "-i", "{x}"],
    "flame": ["good.elf", "{x}"],
    "flame -i": ["good.elf", "-i", "{x}"],
    "flame, before": ["good.elf", "good.data", "--before={x}"],
    "base": ["good.elf", "{x}"],
    "base -i": ["good.elf", "-i", "{x}"],
    "windows": ["good.elf", "{x}"],
    "diff, before": ["good.elf", "{x}", "good.data"],
    "diff, after": ["good.elf", "good.data", "{x}"],
    "diff, build": ["good.elf", "good.data", "--after", "good.elf", "{x}"],
    "exits": ["good.elf", "{x}"],
    "inject": ["good.elf", "{x}", "-o", "injected"],
}
CALIBRATIONS = {
    "report": ["good.elf", "good.data", "--calibration={x}"],
}
PROFILES = {
    "merge": ["{x}"],
    "merge, second": ["good.pb.gz", "{x}", "-o", "sum"],
}
STREAMS = {
    "sysprof": ["{x}"],
}
# {verb, what of it: (words, {x} is the file that is written; the files that are read)}
OUTPUTS = {
    "report": (["good.elf", "good.data", "--out={x}"], ["good.elf", "good.data"]),
    "report, in pieces": (["good.elf", "good.data", "--out", "{x}"], ["good.elf", "good.data"]),
    "report, csv": (["good.elf", "good.data", "--format=csv", "--out={x}"],
                    ["good.elf", "good.data"]),
    "report, callgrind": (["good.elf", "good.data", "--format=callgrind", "--out={x}"],
                          ["good.elf", "good.data"]),
    "report, speedscope": (["good.elf", "good.data", "--format=speedscope", "--out={x}"],
                           ["good.elf", "good.data"]),
    "report, pprof": (["good.elf", "good.data", "--format=pprof", "--out={x}"],
                      ["good.elf", "good.data"]),
    "report, saved": (["good.elf@0x4000", "good.pb.gz", "--format=pprof", "--out={x}"],
                      ["good.elf", "good.pb.gz"]),
    "report, several": (["good.elf", "good.data", "again.pb.gz", "good.pb.gz", "--out={x}"],
                        ["good.elf", "good.data", "again.pb.gz", "good.pb.gz"]),
    "report, map": (["map:map@0x4000", "good.data", "--out={x}"], ["map", "good.data"]),
    "report, calibration": (["good.elf", "good.data", "--calibration=calibration",
                             "--out={x}"], ["good.elf", "good.data", "calibration"]),
    "report, stdin": (["good.elf", "-", "--out={x}"], ["good.elf", "good.data"]),
    "annotate": (["good.elf", "good.data", "hash_block", "--out={x}"],
                 ["good.elf", "good.data"]),
    "diff": (["good.elf", "good.data", "good.pb.gz", "--out={x}"],
             ["good.elf", "good.data", "good.pb.gz"]),
    "diff, builds": (["map:map", "good.data", "--after", "map:text", "good.pb.gz",
                      "--out={x}"], ["map", "good.data", "text", "good.pb.gz"]),
    "diff, saved": (["again.pb.gz", "good.pb.gz", "--out={x}"], ["again.pb.gz", "good.pb.gz"]),
    "flame": (["good.elf", "good.data", "-o", "{x}"], ["good.elf", "good.data"]),
    "flame, before": (["good.elf", "good.data", "--before=good.pb.gz", "--before=map:map",
                       "--out={x}"], ["good.elf", "good.data", "good.pb.gz", "map"]),
    "windows": (["-q", "good.elf", "windows.data", "--out={x}"], ["good.elf", "windows.data"]),
    "windows, pairs": (["good.elf", "windows.data", "--between=port:1..port:2", "--out={x}"],
                       ["good.elf", "windows.data"]),
    "exits": (["good.elf", "exits.data", "--out={x}"], ["good.elf", "exits.data"]),
    "merge": (["-o", "{x}", "good.pb.gz", "again.pb.gz"], ["good.pb.gz", "again.pb.gz"]),
    "merge, stdin": (["-", "-o", "{x}"], ["good.pb.gz"]),
    "sysprof": (["stream", "--out={x}"], ["stream"]),
    "inject": (["good.elf", "good.data", "-o", "{x}"], ["good.elf", "good.data"]),
    "inject, stdin": (["good.elf", "-", "-o", "{x}"], ["good.elf", "good.data"]),
    "calibrate": (["-q", "--only=precision", "--time=10", "--out={x}"], []),
    "calibrate, save": (["-q", "--only=precision", "--time=10", "--save={x}"], []),
    "record": (["-e", "cpu-clock", "-o", "{x}", "--", "true"], []),
    "base": (["good.elf", "good.data", "-o", "{x}"], ["good.elf", "good.data"]),
    "kallsyms": (["good.elf", "-o", "{x}"], ["good.elf"]),
    "kallsyms, map": (["map:map@0x4000", "-o", "{x}"], ["map"]),
    "lookup": (["good.elf", "0x5000", "-o", "{x}"], ["good.elf"]),
    "lookup, map": (["map:map@0x4000", "0x5000", "-o", "{x}"], ["map"]),
    "doctor": (["good.elf", "-o", "{x}"], ["good.elf"]),
    "extract": (["host", "-o", "{x}"], ["host"]),
}
# Formats that take JSON.
JSON = [(["report", "good.elf", "good.data"], ("json", "html", "speedscope")),
        (["annotate", "good.elf", "good.data", "hash_block"], ("json",)),
        (["diff", "good.elf", "good.data", "good.data"], ("json", "html")),
        (["exits", "good.elf", "exits.data"], ("json", "html")),
        (["windows", "-q", "good.elf", "windows.data"], ("json", "html"))]
# Tested by programs of their own: top makes new files only, fleet a folder, too.
TESTED_APART = {"top", "fleet"}
# what is wrong, and what is said of it
WRONG = {
    "missing": "no such file",
    "empty": "is empty",
    "folder": "is a directory",
    "secret": "[Pp]ermission denied",
    "good.elf/below": "Not a directory",
    "text": "is not an ELF|is no recording|is no stream|is not a saved profile|is no calibration",
}


class Place:
    """A folder with good and bad files in it, and the command run there, not as root."""

    def __init__(self, build, folder):
        self.folder = folder
        self.hlguest = os.path.join(folder, "hlguest")
        shutil.copy(hlguest_of(build), self.hlguest)
        shutil.copy(os.path.join(DATA, "demo.elf"), os.path.join(folder, "good.elf"))
        with open(os.path.join(folder, "host"), "wb") as f, \
                open(os.path.join(DATA, "demo.elf"), "rb") as guest:
            f.write(b"host" + guest.read())
        shutil.copy(os.path.join(DATA, "demo-user.data"), os.path.join(folder, "good.data"))
        shutil.copy(os.path.join(DATA, "demo-windows.data"),
                    os.path.join(folder, "windows.data"))
        shutil.copy(os.path.join(DATA, "demo-exits.data"), os.path.join(folder, "exits.data"))
        shutil.copy(os.path.join(DATA, "sysprof", "all-records.bin"),
                    os.path.join(folder, "stream"))
        for name, text in (("empty", ""), ("text", "nothing of the kind\n" * 9),
                           ("secret", "")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.mkdir(os.path.join(folder, "folder"))
        self.profiles = "not in this build" not in self.run(
            "report", "good.elf", "good.data", "--format=pprof", "--out=good.pb.gz")[1]
        self.json = "not in this build" not in self.run(
            "report", "good.elf", "good.data", "--format=json")[1]
        with open(os.path.join(folder, "list"), "w", encoding="utf-8") as f:
            f.write("good.data\n")
        self.run("fleet", "submit", "--list=list", "-o", "done", "good.elf")
        self.decodes = "without Zydis" not in self.run("base", "good.elf", "good.data")[1]
        os.chmod(os.path.join(folder, "secret"), 0)
        os.chmod(folder, 0o755)

    def run(self, verb, *words, **how):
        """(standard output, standard error, status); verb may have an option."""
        verb = verb.split(",")[0].split()
        done = subprocess.run(
            [self.hlguest, *verb[:1], *(w for w in verb[1:] if w[0] == "-" and len(w) > 2),
             *words], cwd=self.folder, env=environment(), timeout=TIMEOUT,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               **how})
        return ((done.stdout or b"").decode("utf-8", "surrogateescape"),
                done.stderr.decode("utf-8", "replace"), done.returncode)

    def nobody(self):
        """For run(): as another user, if this one may read everything."""
        return {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}


def differences(what, found, said="", status=1):
    out, err, got = found
    err = TRY.sub("", err)
    if out or got != status or not LINE.fullmatch(err) or not err[:-1].isprintable() or \
            not re.search(said, err):
        yield f"{what}: status {got}, {err!r}, {out[:99]!r}, not {status}, {said!r}"


def check_files(place, verbs):
    for verb, words in verbs.items():
        if "merge" in verb and not place.profiles:
            continue
        for wrong, said in WRONG.items():
            argv = [word.format(x=wrong) for word in words]
            found = place.run(verb, *argv, **(place.nobody() if wrong == "secret" else {}))
            yield from differences(f"{verb} {' '.join(argv)}", found, said, 1)


def check_wrong_kind(place):
    """A recording for an ELF, an ELF for a recording, a profile, a base that is none."""
    for argv, status, said in (
        (["report", "good.data"], 2, "no guest ELF is given"),
        (["report", "good.data", "good.data"], 2, "no guest ELF is given"),
        (["report", "good.elf"], 2, "no recording is given"),
        (["report", "good.elf", "good.elf"], 2, "no recording is given"),
        (["report", "good.elf", "-i", "good.elf"], 1, "is an ELF, no recording"),
        (["report", "folder"], 1, "is a directory that holds no recording"),
        (["report", "missing"], 1, "no such file"),
        (["annotate", "good.elf", "tick"], 2, "no recording is given"),
        (["annotate", "good.elf", "good.data", "missing"], 1, "missing: no such function .*"
                                                              "no such file"),
        (["annotate", "good.elf", "good.data", "--function=folder/x"], 1, "no such function"),
        (["annotate", "good.elf", "-i", "good.data", "--function="], 2, "no name is given"),
        (["report", "good.elf", "--out", "good.data"], 2, "good.data: is a recording"),
        (["report", "good.elf", "--out=good.elf", "good.data"], 2, "is an input of"),
        (["report", "map:good.elf", "good.data"], 1, "has no line of a perf map"),
        (["report", "good.elf@here", "good.data"], 1, "what follows good.elf is no base"),
        (["report", "good.elf@0xx", "good.data"], 2, "the base is not a number"),
        (["flame", "good.data"], 2, "no guest ELF is given"),
        (["flame", "good.elf"], 2, "no recording is given"),
        (["flame", "good.elf", "-o", "good.data"], 2, "good.data: is a recording"),
        (["base", "good.data"], 2, "no guest ELF is given"),
        (["base", "good.elf"], 2, "no recording is given"),
        (["base", "good.elf", "-i", "good.elf"], 1, "is an ELF, no recording"),
        (["base", "good.elf@here", "good.data"], 1, "what follows good.elf is no base"),
        (["base", "map:good.elf", "good.data"], 1, "has no line of a perf map"),
        (["diff", "good.data", "good.data"], 2, "no guest ELF is given"),
        (["diff", "good.elf", "good.data"], 2, "one side has no recording"),
        (["diff", "good.elf", "good.data", "-i", "good.elf"], 1, "is an ELF, no recording"),
        (["diff", "good.elf", "good.data", "--after"], 2, "one side has no recording"),
        (["diff", "good.elf@here", "good.data", "good.data"], 1, "is no base"),
        (["diff", "good.elf", "good.data", "good.data", "--out=good.elf"], 2, "is an inp"),
        (["lookup", "good.data", "0x5000"], 2, "no guest ELF is given"),
        (["lookup", "good.elf@here", "0x5000"], 1, "what follows good.elf is no base"),
        (["lookup"], 2, "no guest ELF is given"),
        (["kallsyms", "good.data"], 1, "is perf's recording, not an ELF"),
        (["kallsyms", "good.elf@here"], 1, "what follows good.elf is no base"),
        (["kallsyms"], 2, "no guest ELF is given"),
        (["sysprof"], 2, "no stream is given"),
        (["sysprof", "stream", "stream"], 2, "is a second stream"),
        (["sysprof", "good.data"], 1, "is perf's recording"),
        (["sysprof", "good.elf"], 1, "is no stream of LuaJIT's sysprof"),
        (["report", "good.elf", "good.data", "--format=pprof", "--format=csv"], 2,
         "format is given twice"),
        (["calibrate", "good.elf"], 2, "takes no file"),
        (["calibrate", "--out=good.data"], 2, "is a recording"),
        (["doctor", "good.elf", "good.elf"], 2, "one image at a time"),
        (["merge"], 2, "no profile is given"),
        (["inject", "good.elf", "good.data"], 2, "no output file"),
        (["inject", "good.elf", "good.data", "-o", "-"], 1, "is not a regular file"),
        (["record"], 2, "nothing to record"),
        (["record", "-F", "often", "--", "true"], 2, "not a frequency"),
        (["record", "-p", ""], 2, "-p '': names no process"),
        (["record", "-p", " ", "--", "true"], 2, "-p ' ': names no process"),
        (["record", "-p", "17 18"], 2, "processes are separated by commas"),
        (["record", "-p", "17\n18"], 2, "processes are separated by commas"),
        (["record", "-p", "1,", "--", "true"], 2, "-p '1,': names no process"),
        (["top", "-p", "17,,18", "good.elf"], 2, "-p '17,,18': names no process"),
        (["record", "-o", "nowhere/x", "--", "true"], 1, "x: its folder cannot be written"),
        (["top", "--once", "-o", "nowhere/x", "good.elf", "--", "true"], 1, "cannot be written"),
        (["calibrate", "--out=nowhere/x"], 1, "x: its folder cannot be written"),
        (["calibrate", "--out=x", "--save=./x"], 2, "./x: is where the result goes, too"),
        (["calibrate", "--save=nowhere/x"], 1, "x: its folder cannot be written"),
    ):
        yield from differences(" ".join(argv), place.run(*argv), said, status)
    if place.profiles:
        for argv in (["merge", "good.data"], ["merge", "good.elf"]):
            yield from differences(" ".join(argv), place.run(*argv), "is .*not a saved profile")
    with open(os.path.join(place.folder, "good.data"), "rb") as f:
        if f.read(7) != b"PERFILE":
            yield "the recording was overwritten"


def names_of(folder, name):
    """The file by its name, another path, a link, a second name; each is to be removed."""
    yield name
    yield os.path.join("folder", "..", name)
    os.symlink(name, os.path.join(folder, "link"))
    yield "link"
    os.unlink(os.path.join(folder, "link"))
    os.link(os.path.join(folder, name), os.path.join(folder, "second"))
    yield "second"
    os.unlink(os.path.join(folder, "second"))


def outputs(place):
    """(verb, words, files that it reads) of those that this build has, with a place in it."""
    with open(os.path.join(place.folder, "map"), "w", encoding="utf-8") as f:
        f.write("5000 100 f\n")
    with open(os.path.join(place.folder, "calibration"), "w", encoding="utf-8") as f:
        f.write("{}\n")
    if place.profiles:
        shutil.copy(os.path.join(place.folder, "good.pb.gz"),
                    os.path.join(place.folder, "again.pb.gz"))
    for verb, (words, reads) in OUTPUTS.items():
        saved = "merge" in verb.split(",")[0] or "--format=pprof" in words or \
            any(name.endswith(".pb.gz") for name in reads)
        if place.profiles or not saved:
            yield verb, words, reads


def content(place, name):
    with open(os.path.join(place.folder, name), "rb") as f:
        return f.read()


def refused(place, verb, words, out, said, into=None):
    """Of a file that is no output: one line, and it is as it was. into: where standard output
    goes, if that is it (`>> FILE`)."""
    name = into or out
    before = content(place, name)
    with open(os.path.join(place.folder, OUTPUTS[verb][1][-1] if "-" in words else "empty"),
              "rb") as stdin, \
            open(os.path.join(place.folder, into) if into else os.devnull, "ab") as stdout:
        argv = [word.format(x=out) for word in words]
        found = place.run(verb, *argv, stdin=stdin, **({"stdout": stdout} if into else {}))
    what = f"{verb}: {' '.join(argv)}{' >> ' + into if into else ''}"
    yield from differences(what, found, said, 1 if found[2] != 2 else 2)
    if content(place, name) != before:
        yield f"{what}: {name} was overwritten"
        with open(os.path.join(place.folder, name), "wb") as f:
            f.write(before)


def check_inputs(place):
    """No output is written over what is read, by whatever name."""
    for verb, words, reads in outputs(place):
        for name in reads:
            for out in names_of(place.folder, name):
                yield from refused(place, verb, words, out,
                                   f"{re.escape(out)}: is an input of this run")
        if reads and verb.split(",")[0] != "inject":  # its output is a file
            yield from refused(place, verb, words, "-", "standard output: is an input of this run",
                               into=reads[-1])
    note = os.path.join(place.folder, "good.data.hlguest")
    with open(note, "w", encoding="utf-8") as f:  # what record noted is read, too
        f.write("noted\n")
    for verb, words, reads in outputs(place):
        if "good.data" in reads and "-" not in words:
            yield from refused(place, verb, words, "good.data.hlguest", "is an input of this run")
    os.unlink(note)
    os.rename(os.path.join(place.folder, "good.data"), os.path.join(place.folder, "real.data"))
    os.symlink("real.data", os.path.join(place.folder, "good.data"))
    for verb, words, reads in outputs(place):
        if "good.data" in reads:
            yield from refused(place, verb, words, "real.data", "is an input of this run")
    os.rename(os.path.join(place.folder, "real.data"), os.path.join(place.folder, "good.data"))


def check_foreign(place):
    """Nor over recordings and ELFs that are not read, but by who writes such."""
    writes = {"other.data": ("inject", "record"), "other.elf": ("extract",)}
    for name, of in (("other.data", "good.data"), ("other.elf", "good.elf")):
        shutil.copy(os.path.join(place.folder, of), os.path.join(place.folder, name))
        for verb, words, _ in outputs(place):
            if verb.split(",")[0] not in writes[name]:
                yield from refused(place, verb, words, name,
                                   f"{name}: is an? (ELF|recording) .name another")
        os.unlink(os.path.join(place.folder, name))
    out, err, status = place.run("report", "good.elf", "good.data", "--out=text")
    if out or err or status:
        yield f"over a text: {status}, {err}"


def check_verbs(place):
    """Each verb is known here: what it writes, or who else tests it."""
    said = place.run("help")[0]
    verbs = set(re.findall(r"^  (\w+)  ", said, re.M))
    known = {verb.split(",")[0] for verb in OUTPUTS} | TESTED_APART
    if verbs != known:
        yield f"verbs {sorted(verbs ^ known)}: what do they write?"


def check_devices(place):
    """What is no file may be read and written: no harm can be done."""
    for out in ("/dev/null", "/dev/stdout", "fifo"):
        if out == "fifo":
            os.mkfifo(os.path.join(place.folder, out))
            reader = os.open(os.path.join(place.folder, out), os.O_RDWR)
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
        for argv, expected in (
                (["report", "good.elf", "good.data", "--out=" + out], 0),
                (["report", "good.elf", "good.data", "/dev/null", "--out=" + out], 1),
                (["flame", "good.elf", "good.data", "-o", out], 0),
                (["sysprof", "stream", "--out=" + out], 0)):
            _, err, status = place.run(*argv)
            if status != expected or "input of" in err:
                yield f"{' '.join(argv)}: {status}, {err}"
    os.close(reader)
    os.unlink(os.path.join(place.folder, "fifo"))


def check_dash(place):
    """- is standard output for every verb, and ./- a file."""
    stdin = os.path.join(place.folder, "good.data")
    for verb, words, reads in outputs(place):
        if verb.split(",")[0] in ("inject", "record"):  # two places at once; perf's business
            continue
        found = []
        for out in ("-", "./-"):
            with open(os.path.join(place.folder, reads[0]) if "merge, " in verb else stdin,
                      "rb") as f:
                found.append(place.run(verb, *(word.format(x=out) for word in words), stdin=f))
            there = os.path.exists(os.path.join(place.folder, "-"))
            if there != (out == "./-" and found[-1][2] in (0, 3)):
                yield f"{verb}: {out}: {found[-1][1:]}, a file: {there}"
            if there:
                text = content(place, "-").decode("utf-8", "surrogateescape")
                err = found[-1][1]
                # These say what they wrote, and what does not fit is in the text.
                err = "" if verb[:5] in ("extra", "flame") else but_banner(err)
                found[-1] = (text + found[-1][0], err, found[-1][2])
                os.unlink(os.path.join(place.folder, "-"))
        if verb.startswith("calibrate"):  # figures are never the same
            found = [(bool(f[0]), *f[1:]) for f in found]
        if found[0] != found[1]:
            yield f"{verb}: -: {found[0]}, to a file: {found[1]}"


def writers(place):
    for argv in (["report", "good.elf", "good.data"],
                 ["report", "good.elf", "good.data", "--format=csv"],
                 ["report", "good.elf", "good.data", "--format=pprof"],
                 ["annotate", "good.elf", "good.data", "hash_block"],
                 ["report", "good.elf", "good.data", "--format=callgrind"],
                 ["diff", "good.elf", "good.data", "good.data"],
                 ["diff", "good.elf", "good.data", "good.data", "--format=csv"],
                 *([verb + ["--format=" + form] for verb, forms in JSON for form in forms]
                   if place.json else []),
                 ["report", "good.elf", "good.data", "--format=folded"],
                 ["diff", "good.elf", "good.data", "good.data", "--format=markdown"],
                 ["flame", "good.elf", "good.data"],
                 ["flame", "good.elf", "good.data", "--before=good.data"],
                 ["flame", "good.elf", "good.data", "--format=folded"],
                 ["windows", "-q", "good.elf", "windows.data"],
                 ["windows", "good.elf", "windows.data", "--format=svg"],
                 ["exits", "good.elf", "exits.data"],
                 ["exits", "good.elf", "exits.data", "--format=csv"],
                 ["sysprof", "stream"], ["sysprof", "stream", "--format=folded"],
                 ["merge", "good.pb.gz"], ["kallsyms", "good.elf"], ["extract", "host"],
                 ["extract", "host", "-o", "-"],
                 ["fleet", "submit", "--list=list", "-o", "new.pb.gz", "good.elf", "--print"],
                 ["fleet", "status", "done.d"],
                 ["inject", "good.elf", "good.data", "-o", "injected"],
                 *([["base", "good.elf", "good.data"]] if place.decodes else []),
                 ["lookup", "good.elf", "5000"],
                 ["calibrate", "-q", "--only=precision", "--time=10"],
                 ["doctor"], ["help"], ["help", "report"], ["record", "--help"],
                 ["lookup", "--usage"], ["--version"]):
        if place.profiles or not {"merge", "fleet", "--format=pprof"} & {*argv}:
            yield argv


def check_full(place):
    for argv in writers(place):
        with open("/dev/full", "wb") as full:
            found = place.run(*argv, stdout=full)
        yield from differences(" ".join(argv), found, "standard output: .*No space left")


def check_closed(place):
    """Nothing that is opened gets the number of what is closed: perf's pipe, of top, would."""
    live = [["top", "--once", "good.elf", "--", "sleep", "0.1"]] if shutil.which("perf") else []
    for argv in [*writers(place), *live]:
        for fds in (1,), (0, 1):
            found = place.run(*argv, stdout=None, stdin=None if 0 in fds else subprocess.DEVNULL,
                              preexec_fn=lambda fds=fds: [os.close(fd) for fd in fds])
            yield from differences(" ".join(argv), found, "standard output: .*is closed")


def check_untold(place):
    """What inject wrote, and cannot tell, does not appear."""
    before = sorted(os.listdir(place.folder))
    for how in ([], ["--direct"]):
        argv = ["inject", "good.elf", "good.data", "-o", "x", *how]
        with open("/dev/full", "wb") as full:
            found = place.run(*argv, stdout=full)
        yield from differences(" ".join(argv), found, "standard output: .*No space left")
        found = place.run(*argv, stdout=None, preexec_fn=lambda: os.close(1))
        yield from differences(" ".join(argv), found, "standard output: .*is closed")
    if sorted(os.listdir(place.folder)) != before:
        yield f"left behind: {sorted(os.listdir(place.folder))}"


def check_small_stack(place):
    """As some give to programs, and musl to threads: 128 KiB."""
    def small():
        resource.setrlimit(resource.RLIMIT_STACK, (131072, 131072))
    shutil.copy(os.path.join(place.folder, "good.data"), os.path.join(place.folder, "z"))
    for argv in [*writers(place), ["report", "-j2", "good.elf", "good.data"],
                 ["report", "-j2", "-q", "--format=html", "-o", "y", "good.elf", "good.data", "z"],
                 ["inject", "good.elf", "good.data", "-o", "x"]]:
        _, err, status = place.run(*argv, preexec_fn=small)
        if status < 0 or err:
            yield f"{' '.join(argv)}: status {status}: {err}"
    for name, verb in ("x", "inject"), ("y", "report"):
        if os.path.exists(os.path.join(place.folder, name)):
            os.unlink(os.path.join(place.folder, name))
        else:
            yield f"{verb} wrote nothing"
    os.unlink(os.path.join(place.folder, "z"))


def check_gone(place):
    """Nobody reads: SIGPIPE ends it as it ends others; ignored, it is told by all alike."""
    for name in {"injected", "injected.elf"} & {*os.listdir(place.folder)}:
        path = os.path.join(place.folder, name)
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
    before = sorted(os.listdir(place.folder))
    # A name as long as that is told in more than one write, each of which sends a SIGPIPE.
    long = ["inject", "good.elf", "good.data", "-o", "./" * 1600 + "injected"]
    for argv in [*writers(place), long]:
        for ignored in (True, False):
            ours, its = os.pipe()
            os.close(ours)
            found = place.run(
                *argv, stdout=its, restore_signals=False, preexec_fn=lambda i=ignored:
                signal.signal(signal.SIGPIPE, signal.SIG_IGN if i else signal.SIG_DFL))
            os.close(its)
            if ignored:
                yield from differences(" ".join(argv), found, "its reader went away")
            elif found != ("", "", -signal.SIGPIPE):
                yield f"{' '.join(argv)}: {found}, not SIGPIPE"
    if sorted(os.listdir(place.folder)) != before:
        yield f"left behind: {sorted(os.listdir(place.folder))}"


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


def check_too_large(place):
    """As on a disk that becomes full in the middle; nothing of the file is left."""
    before = sorted(os.listdir(place.folder))
    argvs = [["report", "good.elf", "good.data", "--out=x", *how]
             for how in ([], ["--format=callgrind"])]
    argvs += [["annotate", "good.elf", "good.data", "--out=x"],
             ["diff", "good.elf", "good.data", "good.data", "--out=x"]]
    argvs += [["sysprof", "stream", "--out=x"],
             ["inject", "good.elf", "good.data", "-o", "x"],
             ["inject", "good.elf", "good.data", "-o", "x", "--direct"]]
    argvs += [["flame", "good.elf", "good.data", "-o", "x"]]
    argvs += [["extract", "host", "-o", "x"], ["calibrate", "-q", "--only=precision", "-o", "x"]]
    if place.profiles:
        argvs += [argvs[0] + ["--format=pprof"], ["merge", "good.pb.gz", "-o", "x"]]
    for argv in argvs:
        found = place.run(*argv, preexec_fn=limit)
        yield from differences(" ".join(argv), found, "^hlguest: (x:|/.*/x.elf/good.elf:|host: the ELF inside "
                               "it|guests:) cannot be .*File too large .raise ulimit -f")
    if sorted(os.listdir(place.folder)) != before:
        yield f"left behind: {sorted(os.listdir(place.folder))}"


def check_few_files(place):
    """Where a process may have few files open, that is what is told, and nothing is left."""
    for argv in (["report", "good.elf", "good.data", "--out=x"],
                 ["flame", "good.elf", "good.data", "-o", "x"], ["extract", "host", "-o", "x"],
                 ["inject", "good.elf", "good.data", "-o", "x"], ["sysprof", "stream"],
                 ["calibrate", "-q", "--only=precision", "--time=10", "-o", "x"]):
        before = sorted(os.listdir(place.folder))
        for n in range(4, 7):
            out, err, status = place.run(*argv, preexec_fn=lambda n=n: resource.setrlimit(
                resource.RLIMIT_NOFILE, (n, n)))
            if "calibrate" in argv:  # the reason is in the result, too
                out = ""
                if os.path.exists(os.path.join(place.folder, "x")):
                    os.unlink(os.path.join(place.folder, "x"))
            if status:
                yield from differences(f"{' '.join(argv)}, {n} files", (out, err, status),
                                       "Too many open files .*raise ulimit -n")
        left = {*os.listdir(place.folder)} - {*before}
        if status and left:
            yield f"left behind: {left}"
        for name in left:
            path = os.path.join(place.folder, name)
            (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)


def check_outputs(place):
    for out, said in (("folder", "is a directory"), ("folder/", "is a directory"),
                      ("missing/x", "No such file"), ("good.elf/x", "Not a directory"),
                      ("x", "Permission denied")):
        for argv in (["report", "good.elf", "good.data", "--out=" + out],
                     ["annotate", "good.elf", "good.data", "--out=" + out],
                     ["diff", "good.elf", "good.data", "good.data", "--out=" + out],
                     ["sysprof", "stream", "--out=" + out],
                     ["inject", "good.elf", "good.data", "-o", out],
                     ["flame", "good.elf", "good.data", "-o", out],
                     ["merge", "good.pb.gz", "-o", out]):
            if place.profiles or argv[0] != "merge":
                how = place.nobody() if out == "x" else {}
                if out == "x" and not how:  # the folder is ours
                    continue
                yield from differences(" ".join(argv), place.run(*argv, **how), said)


def check_interrupt(place):
    """Waiting for standard input: ^C ends at once, by the signal, and leaves nothing."""
    before = sorted(os.listdir(place.folder))
    for argv in (["report", "good.elf", "-", "--out=x"],
                 ["annotate", "good.elf", "tick", "-", "--out=x"],
                 ["flame", "good.elf", "-", "-o", "x"], ["base", "good.elf", "-"],
                 ["diff", "good.elf", "good.data", "-", "--out=x"], ["lookup", "good.elf"], ["sysprof", "-", "--out=x"], ["inject", "good.elf", "-", "-o", "x"],
                 ["merge", "-", "-o", "x"]):
        child = subprocess.Popen([place.hlguest, *argv], cwd=place.folder, env=environment(),
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
        time.sleep(0.2)
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=TIMEOUT)
            if child.returncode != -signal.SIGINT or err:
                yield f"{' '.join(argv)}: {child.returncode}, {err}"
        elif argv[0] != "merge" or place.profiles:
            yield f"{' '.join(argv)}: did not wait"
    if sorted(os.listdir(place.folder)) != before:
        yield f"left behind: {sorted(os.listdir(place.folder))}"


def wait_for(child, name):
    """Until a process of its session is called so; False: none came."""
    until = time.monotonic() + 10
    while child.poll() is None and time.monotonic() < until:
        if name in session(child.pid).values():
            return True
        time.sleep(0.01)
    return False


def end_session(leader):
    """Names of processes that did not end within a second; they do now."""
    until = time.monotonic() + 1
    while session(leader) and time.monotonic() < until:
        time.sleep(0.01)
    left = session(leader)
    for number in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return sorted(left.values())


def check_interrupt_others(place):
    """While others work for it: a perf that doctor asks, the processes of a fleet here, and
    who reads what extract writes. ^C reaches all of them, as on a terminal."""
    folder, perf = place.folder, os.path.join(place.folder, "bin", "perf")
    os.makedirs(os.path.dirname(perf))
    with open(perf, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexec sleep 60\n")
    os.chmod(perf, 0o755)
    os.mkfifo(os.path.join(folder, "fifo"))
    with open(os.path.join(folder, "slow"), "w", encoding="utf-8") as f:
        f.write("fifo\n")
    before = sorted(os.listdir(folder))
    path = os.path.dirname(perf) + ":" + os.environ["PATH"]
    for argv, who, statuses in (
            (["doctor"], "sleep", (-signal.SIGINT,)),
            (["doctor", "-o", "x"], "sleep", (-signal.SIGINT,)),
            (["extract", "host", "-o", "fifo"], "hlguest", (-signal.SIGINT,)),
            (["fleet", "submit", "--list=slow", "-o", "x", "good.elf"], "hlguest",
             (-signal.SIGINT, 1, 128 + signal.SIGINT))):
        if argv[0] == "fleet" and not place.profiles:
            continue
        child = subprocess.Popen([place.hlguest, *argv], cwd=folder, env=environment(PATH=path),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 start_new_session=True)
        come = wait_for(child, who)
        time.sleep(0.2)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGINT)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        left = end_session(child.pid)
        if left:
            yield f"{' '.join(argv)}: left behind: {left}"
        _, err = child.communicate(timeout=TIMEOUT)
        if not come or child.returncode not in statuses or (err and argv[0] != "fleet"):
            yield f"{' '.join(argv)}: {come}, status {child.returncode}, {err}"
    shutil.rmtree(os.path.join(folder, "x.d"), ignore_errors=True)
    if sorted(os.listdir(folder)) != before:
        yield f"left behind: {sorted(os.listdir(folder))}"
    os.unlink(os.path.join(folder, "fifo"))


def cpu_seconds(child):
    """What a process that was not waited for has used."""
    with open(f"/proc/{child.pid}/stat", encoding="utf-8", errors="replace") as f:
        user, system = f.read().rpartition(") ")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def check_interrupt_search(place):
    """While the base is searched for, which takes seconds here, ^C ends it at once."""
    if not place.decodes:
        raise Skip("this build cannot decode instructions")
    files = {"large.elf": forged.Elf(SEARCHED).symbols([(1, forged.TEXT, SEARCHED)],
                                                       b"\0main\0").build(),
             "far.data": forged.recording(b"".join(forged.sample((1 << 40) + 4 * i)
                                                   for i in range(1000)))}
    for name, data in files.items():
        with open(os.path.join(place.folder, name), "wb") as f:
            f.write(data)
    before = sorted(os.listdir(place.folder))
    for argv in (["inject", "-q", "large.elf", "far.data", "-o", "x"],
                 ["report", "-q", "large.elf", "far.data", "--out=x"],
                 ["base", "-q", "large.elf", "far.data"]):
        child = subprocess.Popen([place.hlguest, *argv], cwd=place.folder, env=environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) and \
                cpu_seconds(child) < 0.3:
            time.sleep(0.01)
        used = cpu_seconds(child)
        child.send_signal(signal.SIGINT)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        more = cpu_seconds(child) - used
        _, err = child.communicate(timeout=TIMEOUT)
        if child.returncode != -signal.SIGINT or err or more > 0.3:
            yield f"{' '.join(argv)}: {child.returncode}, {err}, {more} s after ^C"
    if sorted(os.listdir(place.folder)) != before:
        yield f"left behind: {sorted(os.listdir(place.folder))}"
    for name in files:
        os.unlink(os.path.join(place.folder, name))


def check_recording(place):
    """^C is the end of -a and -p, but not of a command; kill's signal reaches perf, and a
    terminal that goes away (SIGHUP) ends it as well."""
    need("perf")
    folder = place.folder
    if run("perf", "record", "-q", "-e", "cpu-clock", "-a", "-o",
           os.path.join(folder, "p.data"), "--", "true", cwd=folder)[2]:
        raise Skip("perf cannot record here")
    ended = 128 + signal.SIGTERM
    # perf ends its command by SIGTERM when it gets ^C; either may be first.
    for words, group, sig, right in ((["-a"], True, signal.SIGINT, (0,)),
                                     (["-a"], False, signal.SIGINT, (0,)),
                                     (["-p", str(os.getpid())], True, signal.SIGINT, (0,)),
                                     (["-a"], False, signal.SIGTERM, (ended,)),
                                     (["-a"], True, signal.SIGHUP, (ended,)),
                                     (["-a"], False, signal.SIGHUP, (ended,)),
                                     (["--", "sleep", "60"], True, signal.SIGHUP, (ended,)),
                                     (["--", "sleep", "60"], True, signal.SIGINT,
                                      (128 + signal.SIGINT, ended))):
        at = os.path.join(folder, "r.data")
        child = subprocess.Popen(
            [place.hlguest, "record", "-e", "cpu-clock", "-o", at, *words], cwd=folder,
            env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,  # and as nohup, which may run this, did not leave it
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        until = time.monotonic() + 10
        while time.monotonic() < until and not os.path.exists(at):
            time.sleep(0.05)
        time.sleep(1)
        (os.killpg if group else os.kill)(child.pid, sig)
        try:
            _, err = child.communicate(timeout=10)
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)  # perf, if it was left behind
            except ProcessLookupError:
                pass
        os.unlink(at)
        if child.returncode not in right or "guest samples, " not in err.decode():
            yield f"{words}: status {child.returncode}, not {right}: {err.decode()}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="mishaps-") as folder:
        place = Place(build, folder)
        for name, verbs in (("image", IMAGES), ("recording", RECORDINGS),
                            ("profile", PROFILES), ("stream", STREAMS),
                            ("calibration", CALIBRATIONS)):
            tap.run(f"bad files: {name}", lambda v=verbs: list(check_files(place, v)))
        for name, function in (
            ("files of the wrong kind, words of no sense", check_wrong_kind),
            ("a file that is read is not written", check_inputs),
            ("recordings and ELFs are not written over", check_foreign),
            ("devices may be written", check_devices),
            ("- is standard output", check_dash),
            ("each verb that writes", check_verbs),
            ("standard output is full", check_full),
            ("standard output is closed", check_closed),
            ("what cannot be told is not done", check_untold),
            ("a small stack", check_small_stack),
            ("nobody reads standard output", check_gone),
            ("a file becomes too large", check_too_large),
            ("few files may be open", check_few_files),
            ("no place for a file", check_outputs),
            ("^C", check_interrupt),
            ("^C while it searches", check_interrupt_search),
            ("^C while others work", check_interrupt_others),
            ("^C while recording", check_recording),
        ):
            tap.run(name, lambda f=function: list(f(place)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
