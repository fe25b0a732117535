#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest doctor on this machine, with perfs of all kinds in PATH.

    doctor.py --build DIR

What it finds here is nobody's business: only the shape is looked at. Every line is a
level, a topic and a text, or a remedy; what is not ok has one; the exit status says
whether something fails. A perf that is missing, hangs, crashes or talks nonsense is a
finding like any other and takes at most a few seconds.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from programs import hlguest_of

from tap import DATA, TIMEOUT, Skip, Tap, environment, filter_of, must, need, parser, run

FINDING = re.compile(r"(ok|info|warn|fail) +(\S.{0,11}?)  +(\S.*)$")
REMEDY = re.compile(r" {20}-> \S.*$")
TOPICS = ["perf", "hlguest.so", "/dev/kvm", "nesting", "perf events", "counters",
          "mediated PMU", "tracefs", "guest stacks", "calibration"]
IMAGE = ["image", "symbols", "gaps", "base", "frames", "tables", "build id", "lines"]

# name, program or None, pattern that the line on perf has
PERFS = [
    ("missing", None, r"fail perf none in PATH"),
    ("hangs", "#!/bin/sh\nsleep 60 &\necho $! >pid\nsleep 60\n",
     r"fail perf .* within 5 seconds"),
    ("crashes", "#!/bin/sh\nkill -SEGV $$\n", r"fail perf .*does not run"),
    ("fails", "#!/bin/sh\necho 'not for this kernel' >&2\nexit 2\n",
     r"fail perf .*does not run: not for this kernel"),
    ("is none", "#!/bin/sh\necho performance\n", r"warn perf .*not understood: perf"),
    ("is no program", "", r"fail perf .*does not run: Exec format error"),
    ("is old", "#!/bin/sh\necho perf version 5.10.223\n", r"fail perf .*5\.10 has no"),
    ("is new", "#!/bin/sh\necho perf version 7.3.g12ab\n", r"ok perf .*7\.3\.g12ab"),
    ("attacks", "#!/bin/sh\nprintf 'perf version 6.9\\033[31m\\n'\n",
     r"ok perf .*6\.9\\x1b\[31m"),
    ("floods", "#!/bin/sh\nexec yes perf version 9.9\n", r"fail perf .* 5 seconds"),
]


def shape(out, status, topics):
    """Differences from what any output must look like."""
    findings = []
    previous = None
    *lines, verdict = out.splitlines()
    if not re.fullmatch(r"ready( \(cpu-clock only\))?(, \d+ warnings?)?|not ready: \d+ .*",
                        verdict) or (status == 1) != verdict.startswith("not"):
        yield f"status {status}, but {verdict!r}"
    for line in lines:
        finding = FINDING.match(line)
        if not finding and not REMEDY.match(line):
            yield f"not a finding: {line!r}"
        if previous and previous[1] != "ok" and finding:
            yield f"no remedy: {previous[0]}"
        previous = finding
        if finding:
            findings.append(finding.groups())
    seen = list(dict.fromkeys(topic for _, topic, _ in findings))
    if seen != topics:
        yield f"topics {seen}, expected {topics}"
    if status != any(level == "fail" for level, _, _ in findings):
        yield f"status {status}"


def live(build):
    out, err, status = run(hlguest_of(build), "doctor")
    if err:
        yield err
    yield from shape(out, status, TOPICS)
    if "\033" in out:
        yield "colours in a file"


def folded(build):
    """What is folded for a terminal is what a file has, and fits."""
    whole = run(hlguest_of(build), "doctor")[0]
    for columns in (40, 80):
        out, err, _ = run(hlguest_of(build), "doctor",
                          env=environment(LINES="24", COLUMNS=str(columns)))
        if err:
            yield err
        for line in out.splitlines():
            if len(line) > columns and " " in line[23:]:
                yield f"wider than {columns}: {line!r}"
        if out.split() != whole.split():
            yield f"folded at {columns}: {out}\nwhole: {whole}"
        if columns == 40 and out == whole:
            yield "nothing was folded"


def with_image(build):
    out, err, status = run(hlguest_of(build), "doctor", os.path.join(DATA, "demo.elf"))
    if err:
        yield err
    yield from shape(out, status, TOPICS + IMAGE)
    for text in ("symbols       30 from .symtab: functions 24, labels 0, without a size 6",
                 "gaps          19 without a symbol: 334 of 3758 bytes of code, of which 304 are padding",
                 "base          0x4000 (from the Hyperlight note, version 0.17.0)"):
        if f"ok    {text}\n" not in out:
            yield f"{text!r} is not in {out}"


def headers(build):
    """The ELF's own headers in an executable segment are no code without a name."""
    need("gcc")
    with tempfile.TemporaryDirectory() as work:
        elf = os.path.join(work, "elf")
        with open(elf + ".s", "w", encoding="utf-8") as f:
            f.write(".globl _start\n.type _start, @function\n_start:\n\tjmp _start\n"
                    ".size _start, . - _start\n")
        must("gcc", "-nostdlib", "-static", "-Wl,-z,noseparate-code,--build-id=none", "-o",
             elf, elf + ".s")
        out, _, _ = run(hlguest_of(build), "doctor", elf)
    # Between them and the function there may be a filler.
    if not re.search(r"ok    gaps +[01] without a symbol: [0-6] of [2-8] bytes of code", out):
        yield out


def filler(build):
    """Padding is no code without a name, however much of it there is."""
    need("gcc")
    with tempfile.TemporaryDirectory() as work:
        elf = os.path.join(work, "elf")
        with open(elf + ".s", "w", encoding="utf-8") as f:
            f.write("".join(f".p2align 6\n.globl {name}\n.type {name}, @function\n{name}:\n"
                            f"\tjmp _start\n.size {name}, . - {name}\n"
                            for name in ("_start", "other")))
        must("gcc", "-nostdlib", "-static", "-Wl,--build-id=none", "-o", elf, elf + ".s")
        out, _, _ = run(hlguest_of(build), "doctor", elf)
    found = re.search(r"^ok    gaps +\d without a symbol: (\d+) of (\d+) bytes of code, of which "
                      r"(\d+) are padding$", out, re.M)
    if not found or found[1] != found[3] or 10 * int(found[1]) <= int(found[2]):
        yield out


CALLS = """
#define OWN __attribute__((noinline, visibility("default")))
OWN int leaf(int *x) { return x[0] * 3; }
OWN int middle(int *x) { int y[2] = {leaf(x), 1}; return leaf(y) + 1; }
OWN void _start(void) { for (int x = 0;; x++) x += middle(&x) + 1; }
"""
FRAMES = ("-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables")
TABLES = ("-fomit-frame-pointer", "-fasynchronous-unwind-tables")
NEITHER = ("-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")
NO_TABLES = (r"(no function has unwind tables|not looked for: built without libdw)")
# What it is linked of, what is done to it, what must be said; a remedy stands behind "->".
BUILT = (
    ("frames", FRAMES, (), (
        r"ok    symbols       \d+ from \.symtab: functions 3, labels 0, without a size \d+\n(?!  )",
        r"ok    frames        1 of 1 functions that call others keep a frame pointer\n(?!  )",
        r"ok    tables        " + NO_TABLES + r"\n(?!  )", r"ok    build id      [0-9a-f]{40}\n(?!  )")),
    ("lines", (*FRAMES, "-g"), (), (
        r"(ok    lines         source lines are known|info  lines .*without libdw)\n(?!  )",)),
    ("tables", TABLES, (), (
        r"info  frames        0 of 1 functions that call others keep a frame pointer\n"
        r" +-> (record --guest-stacks takes its unwind tables|for record --guest-stacks build it)",
        r"(ok    tables        3 of 3 functions have unwind tables\n(?!  )|info  tables .*without libdw)")),
    ("neither", NEITHER, (), (
        r"info  frames        0 of 1 .*\n +-> for record --guest-stacks build it with",
        r"info  tables        " + NO_TABLES + r"\n +-> or build it with",
        r"info  lines         (none\n +-> compile with -g|not looked for: built without libdw\n(?!  ))")),
    ("split off", (*FRAMES, "-g"),
     ("objcopy --only-keep-debug elf elf.debug", "strip elf", "objcopy --add-gnu-debuglink=elf.debug elf"),
     (r"ok    symbols       \d+ from \.symtab of \S*elf\.debug: functions 3, labels 0,",)),
    ("exported", (*FRAMES, "-shared", "-fPIC"), ("strip elf",), (
        r"warn  symbols       3 from \.dynsym: functions 3, labels 0, without a size 0\n"
        r" +-> what is not exported has no name: keep \.symtab",)),
)


def built(build):
    """Guests as compilers make them, whole and stripped, and what each lacks."""
    need("gcc", "objcopy", "strip")
    for name, flags, then, wanted in BUILT:
        with tempfile.TemporaryDirectory() as work:
            with open(os.path.join(work, "elf.c"), "w", encoding="utf-8") as f:
                f.write(CALLS)
            must("gcc", "-O1", "-nostdlib", "-static", "-fcf-protection=none", "-Wl,--build-id=sha1",
                 "-fno-stack-protector", *flags, "-o", "elf", "elf.c", cwd=work)
            for line in then:
                must(*line.split(), cwd=work)
            out, err, _ = run(hlguest_of(build), "doctor", "elf", cwd=work,
                              env=environment(HLGUEST_DEBUG_DIR=work))
        for pattern in wanted:
            if err or not re.search("^" + pattern, out, re.M):
                yield f"{name}: {pattern!r} is not in {out}{err}"


def of_labels(build):
    """Labels have no sizes; a line of a perf map may be none."""
    need("gcc")
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "elf.s"), "w", encoding="utf-8") as f:
            f.write(".globl _start, other\n_start:\n\tjmp other\nother:\n\tjmp _start\n")
        must("gcc", "-nostdlib", "-static", "-o", "elf", "elf.s", cwd=work)
        with open(os.path.join(work, "x.map"), "w", encoding="utf-8") as f:
            f.write("1000 10 one\nzz\n1010 10 two\n\n!\n")
        for words, pattern in (
                (["elf"], r"warn  symbols       \d+ from \.symtab: functions 0, labels 0, "
                          r"without a size \d+\n +-> labels reach to the next one: give"),
                (["map:x.map"], r"ok    symbols       2 from a perf map: functions 2, labels 0, "
                                r"without a size 0; lines skipped [23]\n(?!  )")):
            out, err, _ = run(hlguest_of(build), "doctor", *words, cwd=work)
            if err or not re.search("^" + pattern, out, re.M) or \
                    ("build id" in out) == (words != ["elf"]):
                yield f"{words}: {pattern!r} is not in {out}{err}"


def without_image(build):
    out, _, status = run(hlguest_of(build), "doctor", "/no/such.elf")
    if status != 1 or "fail  image         /no/such.elf: no such file" not in out:
        yield f"status {status}: {out}"


def is_left(work):
    """Does what the fake started in the background still run?"""
    try:
        with open(os.path.join(work, "pid"), encoding="utf-8") as f:
            pid = f.read().strip()
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def with_perf(build, text, pattern):
    with tempfile.TemporaryDirectory() as work:
        if text is not None:
            with open(os.path.join(work, "perf"), "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(f.name, 0o755)
        env = environment()
        # The fakes need sleep, yes and printf, but no other perf must be found.
        tools = os.path.join(work, "tools")
        os.mkdir(tools)
        for tool in ("sleep", "yes"):
            os.symlink(f"/usr/bin/{tool}", os.path.join(tools, tool))
        env["PATH"] = f"{work}:{tools}"
        begin = time.monotonic()
        out, err, status = run(hlguest_of(build), "doctor", cwd=work, env=env)
        took = time.monotonic() - begin
        if is_left(work):
            yield "what perf started was left running"
    if err:
        yield err
    if took > 20:
        yield f"took {took:.0f} seconds"
    yield from shape(out, status, TOPICS)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    if not any(re.match(pattern, line) for line in lines):
        yield f"{pattern!r} is not in {out}"


def own_filter(build):
    """What others may write, a group or all, is not loaded from the current folder."""
    hlguest = hlguest_of(build)
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        path = shutil.copy(filter_of(build), os.path.join(work, "hlguest.so"))
        if other:
            os.chown(path, 65534, 65534)
        for mode, loaded in ((0o644, True), (0o664, False), (0o646, False)):
            os.chmod(path, mode)
            try:
                done = subprocess.run([hlguest, "doctor"], cwd=work, env=environment(), text=True,
                                      timeout=TIMEOUT, stdout=subprocess.PIPE, check=False, **other)
            except PermissionError as e:
                raise Skip("another user cannot run what was built") from e
            if ("./hlguest.so: was not loaded" in done.stdout) == loaded or \
                    ("./hlguest.so: loads" in done.stdout) != loaded:
                yield f"{mode:o}: {done.stdout}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    tap.run("this machine", lambda: list(live(args.build)))
    tap.run("folded for a terminal", lambda: list(folded(args.build)))
    tap.run("an image", lambda: list(with_image(args.build)))
    tap.run("headers in the code", lambda: list(headers(args.build)))
    tap.run("filler in the code", lambda: list(filler(args.build)))
    tap.run("compiled images", lambda: list(built(args.build)))
    tap.run("labels and maps", lambda: list(of_labels(args.build)))
    tap.run("no image", lambda: list(without_image(args.build)))
    tap.run("a filter of one's own", lambda: list(own_filter(args.build)))
    for name, text, pattern in PERFS:
        tap.run(f"perf {name}", lambda t=text, p=pattern:
                list(with_perf(args.build, t, p)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
