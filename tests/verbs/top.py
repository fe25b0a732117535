#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest top, with a perf that does as it is told, on a terminal and elsewhere.

    top.py --build DIR

The perf writes samples of two functions of demo.elf when it is asked to look (ping), and
some more when it has to end. Each sample is in the tables once, whatever ends it, and the
recording has the same. Keys, sizes, colours; ends; what is saved. And where a guest runs
here, real perf: the only table of --once is what report says of its recording.
"""
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from microvm import guest, monitor
from programs import hlguest_of, need_zydis
from recording import attribute
from tap import DATA, TIMEOUT, Skip, Tap, environment, must, parser, run
from terminal import Terminal

DEMO = os.path.join(DATA, "demo.elf")
BASE = 0x4000
PER_PING, AT_END = 50, 7
PERF = f"""#!{sys.executable}
import os, select, signal, struct, sys
how = os.environ["HOW"]
if "--dry-run" in sys.argv:
    sys.exit("event syntax error: 'instructoins'")
control = [a for a in sys.argv if a.startswith("--control=fd:")][0]
take, answer = (int(n) for n in control[13:].split(","))
spots = [int(n) for n in os.environ["SPOTS"].split()]
sent = 0
def put(n):
    global sent
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    for i in range(sent, sent + n):
        ip = spots[i % len(spots)]
        mode = 5 if i % 5 and how != "waits" else 2
        os.write(1, struct.pack("<IHHQQIIQ", 9, mode, 40, 1, ip, 7, 7, 1000000))
    sent += n
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
def end(sig, frame):
    put({AT_END})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, signal.SIG_IGN)
with open("words", "w") as f:
    f.write("\\n".join(sys.argv))
if how == "refuses":
    sys.exit("perf says no")
os.write(1, struct.pack("<8sQ", b"PERFILE2", 16))
attr = bytes.fromhex(os.environ["ATTR"])
os.write(1, struct.pack("<IHH", 64, 0, 144) + attr + struct.pack("<Q", 1))
os.write(2, b"a word of the guest\\n")
while True:
    word = os.read(take, 64)
    if not word:
        sys.exit(0)
    os.write(answer, b"ack\\n" * word.count(b"\\n"))
    put({PER_PING})
    if how == "talks":
        os.write(2, b"and another\\n")
    if how in ("ends", "waits") and sent >= 3 * {PER_PING}:
        sys.exit(int(os.environ["STATUS"]))
    if how == "leaves" and sent >= 2 * {PER_PING}:
        if os.fork() == 0:  # the recording stays open, and nobody hears a ping
            os.close(take)
            os.close(answer)
            select.select([], [], [], 0.5)
        os._exit(0)
    if how == "breaks" and sent >= 2 * {PER_PING}:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.write(1, struct.pack("<IHH", 9, 2, 4))
        while True:
            os.write(1, bytes(4096))
    if how == "dies" and sent >= 2 * {PER_PING}:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def spots(hlguest):
    """Guest addresses where instructions of two functions begin, twelve and more."""
    try:
        text = must(hlguest, "annotate", "--format=json", "demo.elf", "demo-user.data", cwd=DATA)
    except RuntimeError as e:
        raise Skip(f"no JSON: {e}") from e
    found = []
    for listing in json.loads(text)["functions"][:2]:
        lines = [line for line in listing["lines"] if line.get("text")]
        found.append([int(line["addr"], 16) + BASE for line in lines[:16]])
    return [a for pair in zip(*found) for a in pair]


class Bench:
    def __init__(self, build, folder):
        self.hlguest, self.folder = hlguest_of(build), folder
        self.build = build
        with open(os.path.join(folder, "perf"), "w", encoding="utf-8") as f:
            f.write(PERF)
        os.chmod(os.path.join(folder, "perf"), 0o755)
        self.env = {"PATH": f"{folder}:/usr/bin:/bin",
                    "ATTR": attribute(0).hex(),
                    "TMPDIR": folder,
                    "SPOTS": " ".join(map(str, spots(self.hlguest)))}

    def argv(self, *words):
        return [self.hlguest, "top", "--every=0.1s", "--window=0.5s", *words]

    def terminal(self, *words, how="goes on", **more):
        return Terminal(self.argv(*words, DEMO, "-p", "1"), self.folder, HOW=how,
                        **{"STATUS": "0", **self.env, **more})

    def run(self, *words, how="goes on", status=0, **more):
        return run(*self.argv(*words, DEMO, "-p", "1"), cwd=self.folder,
                   env=environment(HOW=how, STATUS=str(status), **self.env, **more))


def samples_of(text):
    """(all, guest, host) of a report's, or table's, accounted line."""
    found = re.search(r"^accounted +(\d+) samples? += (\d+) guest \+ (\d+) host", text, re.M)
    return tuple(map(int, found.groups())) if found else None


def check_once(bench):
    """What perf writes when it has to end is in the table, too."""
    path = os.path.join(bench.folder, "once.data")
    out, err, status = bench.run("--once", "--top=0", "-o", path)
    total = samples_of(out)
    if status or not total or (total[0] - AT_END) % PER_PING or total[0] <= AT_END:
        yield f"status {status}, {total}: {err}{out}"
        return
    if samples_of(must(bench.hlguest, "report", DEMO, path)) != total:
        yield f"{total}, and report has another sum"
    rows = dict(re.findall(r"(\d+)  (\w+)$", out, re.M))
    counted = re.findall(r" +(\d+) +\d+  (\w+)$",
                         must(bench.hlguest, "report", "--top=0", DEMO, path), re.M)
    if not rows or {name: n for n, name in counted} != {n: k for k, n in rows.items()}:
        yield f"{rows}, report has {counted}"
    if "a word of the guest" not in err:
        yield f"what the guest says is lost: {err}"
    with open(os.path.join(bench.folder, "words"), encoding="utf-8") as f:
        words = f.read().split("\n")
    if words[1] != "record" or words[words.index("-p") + 1] != "1" or "-o" not in words:
        yield f"perf's words: {words}"
    _, err, status = bench.run("--once", "-o", path)
    if status != 1 or "is there already" not in err:
        yield f"over a recording: status {status}: {err}"
    out, err, status = bench.run("--once", "--format=json", "--every=0.5s", "--window=1s")
    if "not in this build" in err:
        return
    recent = json.loads(out)["recent"]["ns"]
    if status or not 75 * 10 ** 7 <= recent < 2 * 10 ** 9:  # without its last slice: half
        yield f"status {status}: a window of {recent} ns: {err}"


def check_json(bench):
    """Lines of JSON: sums go on, the last has everything."""
    out, err, status = bench.run("--stdio", "--format=json", how="ends")
    if "not in this build" in err:
        raise Skip(err.strip())
    tables = [json.loads(line) for line in out.splitlines()]
    seen = [t["start"]["seen"]["samples"] for t in tables]
    if status or seen != sorted(seen) or seen[-1] != 3 * PER_PING:
        yield f"status {status}: {seen}: {err}"
    for t in tables:
        start = t["start"]
        if start["guest"]["samples"] + start["host"]["samples"] != start["seen"]["samples"]:
            yield f"sums: {start}"
        for which in ("since", "recent"):
            total = (start if which == "since" else t["recent"])["guest"]["samples"] \
                if t["rows"] else 0
            if sum(row[which]["samples"] for row in t["rows"]) != total:
                yield f"{which}: {total}, {t['rows']}"
    if tables[-1]["verdict"] != "verified":
        yield f"the verdict is {tables[-1]['verdict']}"


def check_tables(bench):
    """Without a terminal tables are printed, and the report behind them."""
    out, err, status = bench.run(how="ends")
    if status or "no screen: this is no terminal" not in err or "check     OK: all" not in out:
        yield f"status {status}: {err}{out}"
    if samples_of(out.split("recorded  ")[-1]) != (3 * PER_PING, 120, 30):
        yield f"the report: {out}"
    for term in "dumb", "", "nothing-known":
        screen = bench.terminal(how="ends", TERM=term)
        try:
            if screen.end() or b"no screen: " not in screen.raw or \
                    (b"\x1b" in screen.raw and term != "nothing-known"):
                yield f"TERM={term}: {screen.raw[-2000:]}"
        finally:
            screen.close()


def check_last_report(bench):
    """The options that the report at the end proposes are another verb's, and need the recording:
    whether that is kept is said, and how."""
    kept = os.path.join(bench.folder, "kept.data")
    whom = "hlguest annotate, flame, and report, whose options the report above may name"
    for words, said in (([], f"the recording is not kept (hlguest top -o FILE keeps it, for {whom})"),
                        (["-o", kept], f"{kept}: the recording, kept for {whom}")):
        out, err, status = bench.run("--stdio", *words, how="ends")
        if status or f"hlguest: {said}\n" not in err:
            yield f"{words}: status {status}: {err}{out}"
    for words in ["--once"], ["--stdio", "--format=json"]:
        _, err, _ = bench.run(*words, how="ends")
        if "is not kept" in err:
            yield f"{words}: {err}"


def check_ends(bench):
    """What ends it ends it with the whole report, and the status that says why."""
    for how, status, word in (("ends", 0, ""), ("leaves", 0, ""), ("dies", 137, "perf was ended by signal 9")):
        out, err, got = bench.run("--stdio", how=how)
        if got != status or word not in err or not samples_of(out.split("recorded  ")[-1]):
            yield f"{how}: status {got}: {err}{out}"
    out, err, status = bench.run("-g", "--stdio", how="breaks")
    passes = "none of perf's events takes" in err  # through the thread: BPF may be used
    if passes and (status != 1 or "perf's recording: is damaged" not in err or
                   "signal" in err or not samples_of(out.split("recorded  ")[-1])):
        yield f"breaks: status {status}: {err}{out}"
    # What a message calls a recording that is in no file is no file's name.
    named = os.path.join(bench.folder, "perf's recording")
    with open(named, "w", encoding="utf-8") as f:
        f.write("of something else")
    out, err, got = bench.run("-g", "--stdio", how="ends")
    os.unlink(named)
    if passes and (got or not samples_of(out.split("recorded  ")[-1])):
        yield f"a file of that name: status {got}: {err}{out}"
    _, err, status = bench.run("--stdio", how="ends", status=5)
    if status != 5:
        yield f"perf's status: {status}: {err}"
    path = os.path.join(bench.folder, "refused.data")
    out, err, status = bench.run("--stdio", "-o", path, how="refuses")
    if os.path.exists(path):
        yield "an empty recording is left"
    if status != 1 or "perf says no" not in err or \
            "hlguest: perf ended with status 1, and nothing was recorded" not in err:
        yield f"refuses: status {status}: {err}{out}"
    _, err, status = run(*bench.argv("--stdio", DEMO, "--", "true"), cwd=bench.folder,
                         env=environment(HOW="dies", **bench.env))
    if status != 137 or "then is reported (and true may still run)\n" not in err:
        yield f"a command whose perf dies: status {status}: {err}"
    _, err, status = run(*bench.argv("--stdio", DEMO, "--", "false"), cwd=bench.folder,
                         env=environment(HOW="refuses", **bench.env))
    if status != 1 or "hlguest: false: ended with status 1, and nothing was" not in err:
        yield f"a command: status {status}: {err}"
    # Who looked on is done with ^C; a command of ours did not end by itself.
    # SIGHUP may be ignored here already, as nohup and some that run tests have it.
    for whom, sig, status in ((["-p", "1"], signal.SIGTERM, 143), (["-p", "1"], signal.SIGINT, 0),
                              (["-p", "1"], signal.SIGHUP, 129),
                              (["-p", "1"], "nohup's, and ^C", 0),
                              (["--", "true"], signal.SIGINT, 130)):
        child = subprocess.Popen(bench.argv("--stdio", DEMO, *whom), cwd=bench.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=environment(HOW="goes on", **bench.env),
                                 preexec_fn=lambda s=sig: signal.signal(
                                     signal.SIGHUP, signal.SIG_IGN if isinstance(s, str) else
                                     signal.SIG_DFL))
        while line := child.stdout.readline():  # the first sample is in a table
            if re.search(rb" [1-9]\d* guest samples", line):
                break
        if isinstance(sig, str):
            child.send_signal(signal.SIGHUP)
            time.sleep(0.2)
        child.send_signal(signal.SIGINT if isinstance(sig, str) else sig)
        out, err = child.communicate(timeout=TIMEOUT)
        total = samples_of(out.decode().split("recorded  ")[-1])
        if child.returncode != status or not total or (total[0] - AT_END) % PER_PING:
            yield f"{sig}: status {child.returncode}, {total}: {line}{err}"


def wait_for(child, path, word):
    """Until a file that a child writes has a word in it; false if it has ended without."""
    until, text = time.monotonic() + TIMEOUT, ""
    while word not in text and time.monotonic() < until and child.poll() is None:
        time.sleep(0.05)
        with open(path, encoding="utf-8") as f:
            text = f.read()
    return word in text


def check_full(bench):
    """Tables that cannot be written end it; what could not be judged before is not why."""
    elf, out, err = (os.path.join(bench.folder, name) for name in ("full.elf", "full.out", "full.err"))
    shutil.copy(DEMO, elf)
    with open(out, "w", encoding="utf-8") as f, open(err, "w", encoding="utf-8") as g:
        child = subprocess.Popen(bench.argv("--stdio", "--format=json", elf, "-p", "1"),
                                 cwd=bench.folder, stdout=f, stderr=g, restore_signals=False,
                                 env=environment(HOW="goes on", **bench.env))
    judged = wait_for(child, out, '"verdict":"verified"')
    os.unlink(elf)
    refused = wait_for(child, err, "no such file")
    if child.poll() is None:  # no more than is in it: as on a disk that is full
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (os.path.getsize(out),) * 2)
    status = child.wait(timeout=TIMEOUT)
    with open(err, encoding="utf-8") as f:
        said = f.read()
    if "not in this build" in said:
        raise Skip(said.strip())
    if not judged or not refused or status != 1 or said.count("no such file") != 1 or \
            "standard output: cannot be written" not in said:
        yield f"{judged}, {refused}, status {status}: {said}"


def check_keys(bench):
    """Each key on a screen of 80 x 24, and the terminal as it was behind it."""
    screen = bench.terminal()
    try:
        screen.wait(r"^check     OK: all \d+ ")
        screen.wait(r"% .* sort_keys$")
        first = screen.lines()
        if not first[0].startswith("hlguest top  0:0") or not first[23]:
            yield f"the first screen:\n{screen.text()}"
        rows = re.findall(r"^ *[\d.]+ % .* (\w+)$", screen.text(), re.M)
        screen.press("h")
        screen.wait("^hlguest top: keys")
        screen.press("q")
        screen.wait("^check ")
        screen.wait("^q end")
        screen.press(" ")
        screen.wait("PAUSED")
        before = [line for line in screen.lines() if "%" in line]
        time.sleep(0.35)
        screen.read(0.1)
        if before != [line for line in screen.lines() if "%" in line]:
            yield f"paused:\n{screen.text()}"
        screen.press(" ")
        screen.press("/" + rows[1][:4])
        screen.wait("^/" + rows[1][:4])
        screen.press("\r")
        screen.wait(rf'function with "{rows[1][:4]}" \(\d+\)$')
        screen.wait("^Escape all functions  q end ")
        if rows[0] in screen.text() or rows[1] not in screen.text():
            yield f"the filter {rows[1][:4]}:\n{screen.text()}"
        screen.press("\r")  # annotate
        screen.wait(r"^== " + rows[1])
        screen.wait("ELF addr   instruction")
        screen.press("q")
        screen.wait(r"^check ")
        screen.press("\x1b")
        screen.wait("q end")
        screen.press("w")
        screen.wait(r"saved hlguest-top-[\d-]+\.data")
        screen.press("z\r")  # no row is left for Enter
        screen.wait("top  0:00 since z  ")
        screen.wait("^ .* since z .* function")
        screen.wait(r"% .* sort_keys$")
        screen.press("j/nomatch\r\r")
        screen.wait(r'function with "nomatch" \(0\)$')
        screen.press("q")
        if screen.end() or not samples_of(screen.raw.decode().split("recorded  ")[-1].replace(
                "\r", "")):
            yield f"the end: {screen.raw[-3000:]}"
        if b"a word of the guest" not in screen.raw[-6000:]:
            yield "what the guest said is lost"
        if not screen.is_restored():
            yield "the terminal is not as it was"
    finally:
        screen.close()
    saved = [n for n in os.listdir(bench.folder) if n.startswith("hlguest-top-")]
    data = [n for n in saved if n.endswith(".data")]
    if len(data) != 1:
        yield f"saved: {saved}"
        return
    out, err, status = run(bench.hlguest, "report", DEMO, data[0], cwd=bench.folder)
    total = samples_of(out)
    if status or not total or total[0] % PER_PING or "cut off" in err + out:
        yield f"the saved recording: status {status}, {total}: {err}{out}"
    for name in saved:
        if name.endswith(".pb.gz"):
            if samples_of(must(bench.hlguest, "report", DEMO, name,
                               cwd=bench.folder)) != total:
                yield f"{name} has other samples than {data[0]}"
    left = [n for n in os.listdir(bench.folder) if n.startswith("hlguest-") and n not in saved]
    if left:
        yield f"left: {left}"


def check_moving(bench):
    """Keys that a terminal sends as several bytes, and which of two rows they lead to. What
    is wrong is waited for in vain."""
    moves = (("\x1bOB", 1), ("\x1bOA", 0), ("\x1b[4~", 1), ("\x1b[1~", 0), ("\x1b[6~", 1),
             ("\x1b[5~", 0), ("j", 1), ("k", 0), ("G", 1), ("g", 0))
    screen = bench.terminal(TERM="screen")
    try:
        screen.wait(r"^check     OK: all \d+ ")
        screen.wait(r"% .* sort_keys$")
        screen.press(" ")
        screen.wait("PAUSED")
        rows = re.findall(r"^ *[\d.]+ % .* (\w+)$", screen.text(), re.M)
        for keys, row in moves:
            screen.press(keys)
            screen.press("\r" if row else "\n")
            screen.wait(f"^== {rows[row]}")
            screen.press("\x7f" if row else "\b")
            screen.wait("^check ")
        screen.press("/" + rows[1][:4] + "x\x7f\r")
        screen.wait(rf'function with "{rows[1][:4]}" \(\d+\)$')
        screen.wait(rf"\A(?s:(?!.*\b{rows[0]}\b))")  # it is drawn line by line
        screen.press("q")
        screen.end()
    finally:
        screen.close()
    return ()


def check_nobody(bench):
    """With -a and no guest so far a recording is saved, without a profile, whatever else is asked
    for; in a namespace of processes of ours, so that no VMM is seen."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    argv = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *bench.argv("-a", "--force")]
    screen = Terminal(argv, bench.folder, **{"HOW": "goes on", "STATUS": "0", **bench.env})
    try:
        screen.wait("no VMM runs whose guest is known")
        screen.press("w")
        screen.wait(r"^saved hlguest-top-[\d-]+\.data")
        if "profile" in screen.text():
            yield screen.text()
        screen.press("q")
        screen.end()
    finally:
        screen.close()


def check_said(bench):
    """What a key was answered stays, however much the guest says; so does how to be helped."""
    screen = bench.terminal(how="talks", columns=100, lines=60)
    try:
        screen.wait(r"^perf said: and another +h help$")
        screen.press("w")
        screen.wait(r"^saved hlguest-top-[\d-]+\.data and ")
        for _ in range(5):
            screen.read(0.1)
        if not screen.lines()[-1].startswith("saved "):
            yield f"what was saved is gone:\n{screen.text()}"
        for words in "by all since the start", "by name":
            screen.press("s")
            screen.wait(f"function {words}$")
        screen.press("s")
        screen.wait("function$")
        screen.wait("^perf said: ")
        screen.press("h")
        screen.wait(r"^perf said: and another$")  # h does nothing here
        screen.press("qw")
        screen.wait(r"^saved hlguest-top-[\d-]+\.data and ")
        screen.press("q")
        screen.end()
        if "saved hlguest-top" in screen.text() or "and another" not in screen.text():
            yield f"behind the screen:\n{screen.text()}"
    finally:
        screen.close()


def check_sizes(bench):
    """It fits whatever the terminal is, also when that changes."""
    screen = bench.terminal(columns=40, lines=8)
    try:
        screen.wait(r"^check ")
        for columns, lines in (100, 30), (20, 4), (8, 2), (1, 1), (120, 40):
            screen.resize(columns, lines)
            end = time.monotonic() + 1
            while time.monotonic() < end and columns > 1 and not (
                    columns < 20 or "q end" in screen.lines()[-1]):
                screen.read(0.1)
            if columns >= 20 and "q end" not in screen.lines()[-1]:
                yield f"{columns} x {lines}:\n{screen.text()}"
        screen.wait("^check     OK")
        screen.press("q")
        status = screen.end()
        if status:
            yield f"the end: status {status}: {screen.raw[-3000:]}"
    finally:
        screen.close()


def check_colours(bench):
    """Shares are in colour where colours are wanted."""
    for env, wanted in (({}, True), ({"NO_COLOR": "1"}, False)):
        screen = bench.terminal(TERM="xterm", **env)
        try:
            end = time.monotonic() + TIMEOUT
            while b"sort_keys" not in screen.raw and time.monotonic() < end:
                screen.read(0.1)
            screen.read(0.1)
            found = re.search(rb"\x1b\[[0-9;]*3[12]m", screen.raw) is not None
            if found != wanted:
                yield f"{env}: {'colours' if found else 'none'}"
            screen.press("q")
            screen.end()
        finally:
            screen.close()


def check_words(bench):
    """What makes no sense is told before perf runs."""
    for words, status, said in (
            ([], 2, "nothing to look at"), (["-a", "-p", "1"], 2, "use one of both"),
            (["-p", "1", "--every=2s", "--window=1s"], 2, "shorter than --every"),
            (["-p", "1", "-o", "-"], 2, "-o -: standard output has the tables"),
            (["-p", "1", "--every=soon"], 2, "not a time"),
            (["-p", "1", "--window=2h"], 2, "not a time"),
            (["-p", "1", os.path.join(DATA, "demo-user.data")], 2, "is a recording"),
            (["-p", "4194305", DEMO], 1, "no such process"),
            (["-p", "1", "-e", "instructoins", DEMO], 1, "no such event"),
            (["-p", str(os.getpid())], 2, "names no guest ELF"),
            (["--"], 2, "no command follows"),
            (["--", "./nosuchvmm", DEMO], 127, "not found"),
            (["-p", "1", "./nosuch.elf"], 1, "nosuch.elf")):
        if os.path.exists(os.path.join(bench.folder, "words")):
            os.unlink(os.path.join(bench.folder, "words"))
        out, err, got = run(bench.hlguest, "top", *words, cwd=bench.folder,
                            env=environment(HOW="goes on", **bench.env))
        if got != status or said not in err or out or \
                os.path.exists(os.path.join(bench.folder, "words")):
            yield f"{words}: status {got}: {err}{out}"


def check_forced(bench):
    """At a wrong base functions have no names, unless that is asked for."""
    for words, named in (([], False), (["--force"], True), (["--force=no"], False)):
        out, err, status = run(*bench.argv("--once", *words, DEMO + "@0x4001000", "-p", "1"),
                               cwd=bench.folder, env=environment(HOW="goes on", **{
                                   **bench.env, "SPOTS": " ".join(
                                       str(int(n) + 0x4000000 - 0x3000 + 0x1) for n in
                                       bench.env["SPOTS"].split())}))
        if status != 3 or bool(re.search(r"% .* [a-z]+_[a-z_]+$", out, re.M)) != named:
            yield f"{words}: status {status}: {err}{out}"


def check_foreign(bench):
    """Of another user's process nothing can be read, and that is said."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    folder = tempfile.mkdtemp(prefix="top-")
    try:
        os.chmod(folder, 0o755)
        program = shutil.copy(bench.hlguest, folder)
        _, err, status = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                             program, "top", "-p", str(os.getpid()), cwd=folder)
    finally:
        shutil.rmtree(folder)
    if status != 2 or "may not look into that process" not in err:
        yield f"status {status}: {err}"


def check_live(bench):
    """Real perf, a real guest: the table is what report says of the recording."""
    vm = monitor(bench.build, bench.folder)
    elf = guest("demo", bench.build, bench.folder)
    path = os.path.join(bench.folder, "live.data")
    began = time.monotonic()
    out, err, status = run(bench.hlguest, "top", "--once", "--top=0", "--window=1s", "-o", path,
                           "-e", "cpu-clock", "--", vm, "--seconds=20", elf, cwd=bench.folder)
    if status or time.monotonic() - began > 15:
        yield f"status {status}: {err}{out}"
    total = samples_of(out)
    report = must(bench.hlguest, "report", "--top=0", elf, path)
    if not total or not total[1] or samples_of(report) != total:
        yield f"{out}\nreport:\n{report}"
    for n, name in re.findall(r" +(\d+)  ([a-z_]+)$", out, re.M):
        if not re.search(rf" {n} +\d+  {name}\b", report):
            yield f"{name} has {n}; report:\n{report}"
    out, err, status = run(bench.hlguest, "top", "--stdio", "--every=0.2s", "--window=1s", "-e",
                           "cpu-clock", "--", vm, "--seconds=0.7", elf, cwd=bench.folder)
    counts = [int(n) for n in re.findall(r"^live .* (\d+) guest sample", out, re.M)]
    last = samples_of(out.split("recorded  ")[-1])
    if status or len(counts) < 2 or counts != sorted(counts) or not last or \
            not counts[-1] or counts[-1] > last[1]:
        yield f"status {status}, {counts}, {last}: {err}"


def check_turns(bench):
    """Of guests that ran in turn it is told how to record them anew: by the command, or of the
    processes, that top was given."""
    words = [monitor(bench.build, bench.folder), "--seconds=2", "--sandboxes=2", "--in-turn",
             "--base=0x4000", *(guest(name, bench.build, bench.folder) for name in ("demo", "rusty"))]
    with subprocess.Popen([words[0], "--seconds=100", *words[2:]],
                          stderr=subprocess.DEVNULL) as vmm:
        try:
            for whom, again in (["--", *words], f"-- {shlex.join(words)}"), (["-p", str(vmm.pid)], f"-p {vmm.pid}"):
                out, err, _ = run(bench.hlguest, "top", "--once", "--window=1s", "-e", "cpu-clock",
                                  *whom, cwd=bench.folder)
                if "in turn, at the same addresses, and the recording does not tell when which of " \
                        f"them (record anew: hlguest record --sandboxes {again})" not in out + err:
                    yield f"{whom}: {err}{out}"
        finally:
            vmm.kill()


def check_later(bench):
    """With -a a guest of another ELF that comes later has its own rows; in a namespace of
    processes of ours, so that no other VMM is seen."""
    vm = monitor(bench.build, bench.folder)
    elfs = [guest(name, bench.build, bench.folder) for name in ("demo", "rusty")]
    script = '"$1" --seconds=100 "$2" & "$0" top -a --stdio --format=json --every=0.5s & ' \
        'until [ -e later ]; do sleep 0.1; done; "$1" --seconds=100 "$3" & wait %2'
    child = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c", script,
         os.path.abspath(bench.hlguest), vm, *elfs], cwd=bench.folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    late, seen, line = threading.Timer(TIMEOUT, child.kill), [], b""
    late.start()
    try:
        for line in child.stdout:
            now = {os.path.basename(row["file"]) for row in json.loads(line)["rows"]
                   if row["file"] and row["recent"]["samples"]}
            seen += [sorted(now)] if now and sorted(now) not in seen else []
            if now:  # the first is seen
                with open(os.path.join(bench.folder, "later"), "wb"):
                    pass
            if len(now) == 2:
                break
    finally:
        late.cancel()
        child.kill()
        _, err = child.communicate()
    names = [os.path.basename(elf) for elf in elfs]
    if b"Operation not permitted" in err:
        raise Skip("no namespace of processes (not root)")
    if not seen or seen[0] != names[:1] or seen[-1] != sorted(names):
        yield f"{seen}: {err}{line}"


def check_left(bench):
    """With -a a guest that cannot be told from another is left out at the end, too, and is
    noted as what may have run, too; but for nothing else that fails then."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise Skip("no /dev/kvm")
    vmm = "import fcntl, os, time; fcntl.ioctl(os.open('/dev/kvm', os.O_RDWR), 0xae01, 0); " \
        "open('ready', 'a').write('.'); time.sleep(100)"
    script = 'for n in 1 2; do "$1" -c "$2" "guest$n.elf" & ' \
        'until [ "$(wc -c < ready)" = "$n" ]; do sleep 0.1; done; done 2>/dev/null; ' \
        'shift 2; exec "$@"'
    for n in 1, 2:
        shutil.copy(DEMO, os.path.join(bench.folder, f"guest{n}.elf"))
    path = os.path.join(bench.folder, "left.data")

    def attempt(*words, how):
        for name in path, path + ".hlguest":
            if os.path.exists(name):
                os.unlink(name)
        with open(os.path.join(bench.folder, "ready"), "wb"):
            pass
        return run("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c",
                   script, "bash", sys.executable, vmm,
                   *bench.argv("-a", "-o", path, *words), cwd=bench.folder,
                   env=environment(HOW=how, STATUS="0", **bench.env))

    for words in ["--once"], ["--stdio"]:
        out, err, status = attempt(*words, how="ends")
        if "Operation not permitted" in err:
            raise Skip("no namespace of processes (not root)")
        left = re.findall(r"^hlguest: .*(guest\d\.elf):? is left out", err, re.M)
        if status or left != ["guest2.elf"] or samples_of(out)[1] != 120:
            yield f"{words}: status {status}, {left}: {err}{out}"
        with open(path + ".hlguest", encoding="utf-8") as f:
            told = json.load(f)
        noted = [[os.path.basename(of["file"]) for of in told[key]] for key in ("guests", "others")]
        if noted != [["guest1.elf"], ["guest2.elf"]]:
            yield f"{words}: {noted}"
    out, err, status = attempt("--stdio", how="waits")
    if status != 1 or "left out" in err or err.count("no guest sample") != 1:
        yield f"no guest sample: status {status}: {err}{out}"


def check_many(bench):
    """Where there are more guests than can be followed, that is said."""
    guests = []
    try:
        for n in range(65):
            elf = shutil.copy(DEMO, os.path.join(bench.folder, f"many{n}.elf"))
            guests.append(subprocess.Popen(["sh", "-c", "read x", "sh", elf],
                                           stdin=subprocess.PIPE))
        for n, told in (64, 0), (65, 1):
            pids = ",".join(str(child.pid) for child in guests[:n])
            _, err, _ = run(*bench.argv("--once", "-p", pids), cwd=bench.folder,
                            env=environment(HOW="ends", STATUS="0", **bench.env))
            if err.count("more than 64 guest ELFs run: ") != told or "lie at the same" not in err:
                yield f"{n}: {err}"
            screen = Terminal(bench.argv("-p", pids), bench.folder, HOW="goes on", **bench.env)
            try:
                screen.wait("^more than 64 guest ELFs run" if told else "^check ")
                screen.press("q")
                screen.end()
                if screen.raw.count(b"hlguest: more than 64 guest ELFs run: ") != told:
                    yield f"{n}, behind the screen: {screen.raw[-3000:]}"
            finally:
                screen.close()
    finally:
        for child in guests:
            child.kill()
            child.communicate()


def check_no_callers(bench):
    """That a perf has no events to take is said once, however often it answers."""
    out, err, status = bench.run("-g", "--stdio", how="ends")
    told = re.findall("no callers: .*", err)
    if told and "none of perf's events" not in told[0]:
        raise Skip(told[0])
    if len(told) != 1 or status:
        yield f"status {status}: {err}{out}"


def check_callers(bench):
    """With -g what is recorded has the guest's callers, but of the first moments."""
    vm = monitor(bench.build, bench.folder)
    elf = guest("tree", bench.build, bench.folder)
    path = os.path.join(bench.folder, "callers.data")
    out, err, status = run(bench.hlguest, "top", "-g", "--once", "--window=1s", "-o", path, "-e",
                           "cpu-clock", "--", vm, "--seconds=20", elf, cwd=bench.folder)
    if "no callers: " in err:
        raise Skip(err.strip().split("\n")[0])
    report = must(bench.hlguest, "report", "--children", "--top=0", elf, path)
    shares = {name: float(n) for n, name in re.findall(r"^ *([\d.]+) % .* (\w+)$", report, re.M)}
    if status or samples_of(out) != samples_of(report) or shares.get("run", 0) < 30:
        yield f"status {status}: {err}{out}\n{report}"
    if not re.search(r"^callers   [\d.]+ % of \d+ stacks? whole", report, re.M):
        yield report


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    hlguest = hlguest_of(args.build)
    try:
        need_zydis(hlguest)
    except Skip as e:
        tap.skip("hlguest top", str(e))
        return tap.finish()
    with tempfile.TemporaryDirectory(prefix="top-") as folder:
        try:
            bench = Bench(args.build, folder)
        except Skip as e:
            tap.skip("hlguest top", str(e))
            return tap.finish()
        for name, check in (("--once", check_once), ("JSON", check_json),
                            ("tables", check_tables), ("ends", check_ends),
                            ("the last report", check_last_report), ("full", check_full),
                            ("words", check_words), ("--force", check_forced),
                            ("another user", check_foreign), ("left out", check_left),
                            ("no callers", check_no_callers),
                            ("many guests", check_many), ("keys", check_keys),
                            ("moving", check_moving), ("nobody", check_nobody),
                            ("said", check_said), ("sizes", check_sizes),
                            ("colours", check_colours)):
            screen = name in ("many guests", "keys", "moving", "nobody", "said", "sizes",
                              "colours") and \
                "without" in must(hlguest, "--version") and "ncurses" in \
                must(hlguest, "--version").split("without")[-1]
            if screen:
                tap.skip(name, "built without ncurses")
            else:
                tap.run(name, lambda check=check: list(check(bench)))
        os.unlink(os.path.join(folder, "perf"))
        tap.run("a real guest", lambda: list(check_live(bench)))
        tap.run("guests that run in turn", lambda: list(check_turns(bench)))
        tap.run("guests that come later", lambda: list(check_later(bench)))
        tap.run("callers", lambda: list(check_callers(bench)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
