#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest windows, against perf script.

    windows.py --build DIR

A program is recorded here with a group of software counters, alone and with all CPUs, to a
file and through a pipe. Every row must be what perf script makes of the same sample: time,
pid, tid, CPU, and each member's period, 0 for those that perf leaves out. Sums over time,
by function and in JSON add up to the rows, and the plot is well-formed and complete by
itself. Where /dev/kvm opens and kvm's tracepoints may be recorded, the micro-VM's calls are
counted: each once, with the counts that perf script's lines add up to. What is damaged or
makes no sense ends with one line.
"""
import csv
import html
import json
import os
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from decimal import Decimal

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from markup import check_still, check_widths, ns_of
from programs import hlguest_of, on_terminal, program

from tap import DATA, Skip, Tap, mount_tracefs, must, need, parser, run

SOURCE = """
#include <stdlib.h>
#include <string.h>
volatile long sum;
int main(void)
{
	for (int round = 0; round < 48; round++) {
		char *p = malloc(4 << 20);

		memset(p, 1, 4 << 20);
		for (long i = 0; i < 5000000; i++)
			sum += i;
		sum += p[round];
		free(p);
	}
	return 0;
}
"""
EVENTS = ["task-clock", "page-faults", "context-switches", "cpu-migrations"]
GUEST = os.path.join(DATA, "demo.elf")
LINE = re.compile(r"^\s*(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+\.\d+):\s+(\d+)\s+(\S+?):\s+([0-9a-f]+)")


def record(path, *words, events=EVENTS, count="500000"):
    need("perf")
    out, err, status = run("perf", "record", "-q", "-T", "--sample-cpu", "-e",
                           "{" + ",".join(events) + "}:S", "-c", count, "-o", path, *words)
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        raise Skip(f"perf may not record here: {err.strip() or status}")
    return path


def of_perf(path, events, words):
    """[(time, pid, tid, cpu, *counts)] as perf script has them, with more words."""
    rows, leader = [], events[0]
    text = must("perf", "script", *words, "--ns", "-i", path, "-F",
                "pid,tid,cpu,time,period,event,ip")
    for line in text.splitlines():
        found = LINE.match(line)
        assert found, line
        pid, tid, cpu, time, period, event, _ = found.groups()
        if event == leader:
            rows.append([Decimal(time), int(pid), int(tid), int(cpu)] + [0] * len(events))
        assert rows[-1][:4] == [Decimal(time), int(pid), int(tid), int(cpu)], line
        rows[-1][4 + events.index(event)] = int(period)
    return rows


class Windows:
    def __init__(self, build, path):
        self.hlguest, self.path = hlguest_of(build), path

    def ask(self, *words):
        return run(self.hlguest, "windows", "-q", GUEST, self.path, *words)

    def text(self, *words):
        out, err, status = self.ask(*words)
        assert (err, status) == ("", 0), (err, status)
        return out

    def csv(self, *words):
        """Header and rows; windows without the record's and their names."""
        rows = list(csv.reader(self.text(*words).splitlines()))
        return [x[1 if "--summary" in words else 2:] for x in rows]


def rows_agree(w, events, *words):
    rows = w.csv()
    head, want = rows[0], of_perf(w.path, events, words)
    if head != ["time", "pid", "tid", "cpu", *events, "mark"]:
        yield f"header {head}"
    # A task that is about to end has no ids any more: -1, which is left empty.
    got = [[Decimal(r[0])] + [int(x or -1) for x in r[1:4 + len(events)]] for r in rows[1:]]
    if len(got) < 20:
        yield f"only {len(got)} windows"
    if len(got) != len(want):
        yield f"{len(got)} windows, perf script has {len(want)}"
    # What happened at the same time on several CPUs has no order.
    for a, b in zip(sorted(got), sorted(want)):
        if a != b:
            yield f"{a}, perf script has {b}"
    if [r[0] for r in got] != sorted(r[0] for r in got):
        yield "rows are not in the order of time"
    if not any("first" in r[-1] for r in rows) or not any("last" in r[-1] for r in rows):
        yield "no window is marked first, or last"


def sums_agree(w, events):
    n = len(events)
    rows = [[int(x) for x in r[4:4 + n]] for r in w.csv()[1:]]
    total = [sum(column) for column in zip(*rows)]
    every = w.csv("--every=20ms")[1:]
    if not 2 < len(every) < len(rows):
        yield f"{len(every)} intervals of {len(rows)} windows"
    if [sum(int(r[4 + i]) for r in every) for i in range(n)] != total:
        yield "the intervals' sums differ"
    if sum(int(r[4 + n]) for r in every) != len(rows):
        yield "the intervals hold another number of windows"
    if any(w.csv(f"--every={time}")[1:] != every for time in ("0.02", "20000us")):
        yield "20 ms in another unit, or of seconds, are others"
    functions = w.csv("--summary")[1:]
    if [sum(int(r[3 + i]) for r in functions) for i in range(n)] != total:
        yield "the functions' sums differ"
    if abs(sum(float(r[2]) for r in functions) - 100) > 0.1:
        yield f"shares add up to {sum(float(r[2]) for r in functions)}"
    out, err, status = w.ask("--format=json")
    if status and "not in this build" in err:
        raise Skip(err.strip())
    document = json.loads(out)
    if [x["counts"] for x in document["windows"]] != rows or document["events"] != events:
        yield "JSON has other windows"
    if not any("multiplex" in note for note in document["notes"]):
        yield "JSON says nothing of multiplexing"
    if not re.search(r"^ 100\.00 +\d+ ", w.text("--format=text"), re.M):
        yield "text has no row with all of it"
    if "not scaled" not in w.ask("-v")[1]:
        yield "CSV does not say that counts are as read"


def terminal_has_sums(w, _):
    """Sums for people; rows where they are asked for, and in a pipe."""
    def ask(*words):
        text, status = on_terminal([w.hlguest, "windows", "-q", GUEST, w.path, *words])
        assert status == 0, text
        return text
    if ask("--wide") != w.text("--format=text", "--wide"):
        yield "a terminal does not get the sums"
    fitted = ask()
    if max(map(len, fitted.splitlines())) > 80 or fitted == ask("--wide"):
        yield "the sums are not fitted to a terminal"
    for words in (["--format=csv"], ["--every=10ms"], ["--summary"]):
        if ask(*words) != w.text(*words) or not ask(*words).startswith("record,"):
            yield f"{words}: a terminal gets something else than a pipe"


def selection_agrees(w, _):
    rows = w.csv()[1:]
    middle, cpu = rows[len(rows) // 2], rows[0][3]
    if w.csv("--time=" + middle[0] + ",")[1:] != rows[len(rows) // 2:]:
        yield "--time selects other rows"
    if w.csv("--cpu=" + cpu)[1:] != [r for r in rows if r[3] == cpu]:
        yield "--cpu selects other rows"
    if w.csv("--tid=" + middle[2])[1:] != [r for r in rows if r[2] == middle[2]]:
        yield "--tid selects other rows"
    if w.csv("--mode=host")[1:] != rows or w.csv("--mode=guest")[1:]:
        yield "host samples are not told from the guest's"
    if w.csv("--function=hash_block")[1:]:
        yield "windows of the host end in a guest's function"


def plot_is_whole(w, events):
    text = w.text("--format=svg")
    tree = ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    strip, *panels = tree.findall(svg + "g")
    titles = [t.text for panel in panels for t in panel.iter(svg + "title")]
    if titles != events:
        yield f"panels {titles}"
    title = tree.find(svg + "title").text
    if not title.startswith("demo.elf: ") or not title.endswith(os.path.basename(w.path)):
        yield f"the title names neither guest nor recording: {title}"
    # The strip is whole, from the left to the right, and each colour is in the legend.
    bars = strip.findall(svg + "rect")
    legend = {r.get("fill") for r in strip.findall(f"{svg}svg/{svg}rect")}
    if sum(int(r.get("width")) for r in bars) != 800 or {r.get("fill") for r in bars} - legend:
        yield "the strip has holes, or colours without a name"
    for panel in panels:
        told = " ".join("".join(t.itertext()) for t in panel.iter(svg + "text"))
        if "p50 " not in told or "p99 " not in told:
            yield f"no percentiles: {told}"
    if "prefers-color-scheme: dark" not in text:
        yield "one colour scheme"
    if re.search(r"(href|url\(|@import|<script)", text) or text.count("http") != 1:
        yield "needs something from elsewhere"
    if re.search(r"nan|inf", re.sub(r"<style>.*</style>", "", text, flags=re.S)):
        yield "a number is none"


def page_is_whole(w, _):
    """The plot as the picture has it, below it --summary's rows; and it fits all widths."""
    page = w.text("--format=html")
    yield from check_still(page)
    # The page's heading says what the picture's says, so that this begins below its own.
    view = re.compile(r'viewBox="0 (\d+) \d+ (\d+)"')
    picture = re.sub(r"<style>.*?</style>\n", "", w.text("--format=svg"), flags=re.S)
    (top, height), (above, rest) = (map(int, view.search(text).groups()) for text in (picture, page))
    if not top < above < 30 or above + rest != height:
        yield f"a picture from {above} on, {rest} high, of {height}"
    if view.sub("", picture) not in view.sub("", page):
        yield "another picture than --format=svg"
    rows = [[html.unescape(re.sub("<.*?>", "", cell)) for cell in re.split("</t[hd]>", row)[:-1]]
            for row in re.findall(r"<tr>(.*?)</tr>", page.split('<table class="values"')[1])[1:]]
    summary = w.csv("--summary")[1:]
    if len(rows) != len(summary):
        yield f"{len(rows)} rows, not {len(summary)}"
    for row, right in zip(rows, summary):
        name, windows, share, *counts = right
        told = [row[-1], row[1], f"{float(row[0]):.2f}"]
        if told != [name, windows, share] or not all(
                near(cell, int(n)) for cell, n in zip(row[2:], counts)):
            yield f"{row}, not {right}"
    path = w.path + ".html"
    every = w.text("--format=html", "--every=20ms")
    yield from check_still(every)
    if "<table" in every:
        yield "intervals have sums by function"
    with open(path, "w", encoding="utf-8") as f:
        f.write(page)
    yield from check_widths(path, 1)


def near(text, n):
    """A count as it is, or a time with a decimal."""
    return text == str(n) or " " in text and abs(ns_of(text) - n) <= ns_of(
        "0.05 " + text.split()[1]) + 0.5


def damage_is_told(w, _):
    with open(w.path, "rb") as f:
        whole = f.read()
    rng = random.Random(5)
    bad = w.path + ".bad"
    for i in range(150):
        data = bytearray(whole)
        if i % 3 == 0:
            del data[rng.randrange(len(data)):]
        else:
            for _ in range(1 + i % 4):
                data[rng.randrange(min(len(data), (1 << rng.randrange(7, 16))))] ^= 1 << i % 8
        with open(bad, "wb") as f:
            f.write(data)
        words = ([], ["--format=json"], ["--format=svg"], ["--between=a:b..a:b"])[i % 4]
        _, err, status = run(w.hlguest, "windows", "-q", GUEST, bad, *words)
        err = "".join(x for x in err.splitlines(True) if not x.startswith("hlguest: warning: "))
        if status not in (0, 1) or (status == 1) != (err.count("\n") == 1):
            yield f"{i}: status {status}: {err[:300]}"


def words_are_told(w, _):
    for words, status, part in [
            (["--hpctool"], 1, "does not begin with instructions"),
            (["--function=nobody"], 1, "no image has such a function"),
            (["--event=cycles"], 1, "no counter group has cycles as its first event"),
            (["--between=port:1..port:2"], 1, "holds no counters read at kvm:kvm_pio"),
            (["--between=port:1"], 2, "not two markers"),
            (["--every=5x"], 2, "not a time"), (["--every=0ms"], 2, "not a time"),
            (["--format=folded"], 2, "not of this verb"),
            (["--hpctool", "--format=text"], 2, "--hpctool: not with --format=text"),
            (["--every=1s", "--between=port:1..port:2"], 2, "leave one of both out"),
            ([os.path.join(DATA, "demo-user.data")], 2, "is a second recording")]:
        out, err, got = w.ask(*words)
        if got != status or part not in err or out:
            yield f"{words}: status {got}: {err}"
    out, err, got = run(w.hlguest, "windows", GUEST, os.path.join(DATA, "demo-user.data"))
    if got != 1 or "no samples of counter groups" not in err:
        yield f"a recording without groups: status {got}: {err}"


def calls_are_counted(build, folder):
    vm = program(build, "MICROVM", "tests/rig/microvm")
    guest = program(build, "MICROVM_GUEST", "tests/rig/demo.elf")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise Skip("/dev/kvm does not open")
    # Without a counter of cycles perf takes one of the clocks, maybe again.
    events = ["kvm:kvm_pio", "cycles", "task-clock", "page-faults"]
    path = os.path.join(folder, "calls.data")
    words = ["perf", "record", "-q", "-T", "--sample-cpu", "-e", "{" + ",".join(events) + "}:S",
             "-c", "1", "-m", "4M", "-o", path, "--", vm, "--seconds=0.5", guest]
    out, err, status = run(*words)
    calls = re.search(r"101 CallFunction (\d+)", err)
    if status or not calls:
        raise Skip("kvm:kvm_pio cannot be recorded: " + err.strip().splitlines()[-1])
    text = must("perf", "script", "--ns", "-i", path, "-F", "tid,cpu,time,event,period,trace")
    want, begun, last = [], None, None
    for line in text.splitlines():
        port = re.search(r"(\d+\.\d+):.* kvm:kvm_pio: pio_write at 0x([0-9a-f]+)", line)
        other = re.search(r"(\d+\.\d+): +(\d+) +(task-clock|page-faults):", line)
        if port:
            number, cpu = int(port[2], 16), line.split("[")[1][:3]
            if number == 108 and begun and begun[3] == cpu:
                want.append([begun[0], Decimal(port[1]), dict(begun[1]), cpu])
            begun = ([Decimal(port[1]), {}, True, cpu] if number == 101 else
                     None if number == 108 else begun)
            last = want[-1] if number == 108 and want else None
        elif other:
            counted = last[2] if last and last[1] == Decimal(other[1]) else None
            if begun and begun[0] != Decimal(other[1]):
                counted = begun[1]
            if counted is not None:
                counted[other[3]] = counted.get(other[3], 0) + int(other[2])
    out, err, status = run(hlguest_of(build), "windows", "-v", guest, path,
                           "--between=port:101..port:108")
    names, *rows = csv.reader(out.splitlines()) if out else [[]]
    rows = [x for x in rows if x[0] == "pair"]
    left_out = sum(map(int, re.search(r"(\d+) markers? without .*; (\d+) pairs? left out",
                                      err).groups())) if rows else 0
    if status or len(rows) + left_out != int(calls[1]):
        yield f"{len(rows)} pairs and {left_out} left out, of {calls[1]}; {status}: {err}"
    for row, (start, end, counts, _) in zip(rows, want):
        counted = {n: sum(int(x) for m, x in zip(names, row) if m == n) for n in events[2:]}
        got = (*(Decimal(row[names.index(x)]) for x in ("start", "end")), *counted.values())
        expected = (start, end, counts.get("task-clock", 0), counts.get("page-faults", 0))
        if got != expected:
            yield f"{got}, perf script has {expected}"
    if len(want) != len(rows):
        yield f"{len(rows)} pairs, perf script has {len(want)}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    mount_tracefs()
    with tempfile.TemporaryDirectory() as folder:
        source, busy = os.path.join(folder, "busy.c"), os.path.join(folder, "busy")
        try:
            need("gcc", "perf")
            with open(source, "w", encoding="utf-8") as f:
                f.write(SOURCE)
            must("gcc", "-O1", source, "-o", busy)
            alone = Windows(args.build, record(os.path.join(folder, "a.data"), "--", busy))
        except Skip as e:
            tap.skip("windows", e)
            return tap.finish()

        def everywhere():
            path = record(os.path.join(folder, "b.data"), "-a", "--", busy,
                          events=["cpu-clock", "page-faults", "context-switches"])
            w = Windows(args.build, path)
            # perf 7 records guests that run meanwhile, and shows them if it has something of
            # theirs.
            return list(rows_agree(w, ["cpu-clock", "page-faults", "context-switches"],
                                   "--guestkallsyms=/dev/null"))

        def piped():
            path = os.path.join(folder, "pipe.data")
            with open(alone.path, "rb"):
                must("sh", "-c", f"perf record -q -T --sample-cpu -e '{{{','.join(EVENTS)}}}:S'"
                     f" -c 500000 -o - -- {busy} >{path}")
            return list(rows_agree(Windows(args.build, path), EVENTS))

        for check in (rows_agree, sums_agree, terminal_has_sums, selection_agrees,
                      plot_is_whole, page_is_whole, damage_is_told, words_are_told):
            tap.run(check.__name__.replace("_", " "), lambda c: list(c(alone, EVENTS)), check)
        tap.run("rows of all CPUs agree", everywhere)
        tap.run("rows of a pipe agree", piped)
        tap.run("calls are counted", lambda: list(calls_are_counted(args.build, folder)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
