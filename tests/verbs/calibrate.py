#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest calibrate: what it writes is complete, adds up and is the same in each format.

    calibrate.py --build DIR

Measures once with few operations, as JSON and CSV; with and without /dev/kvm (taken away
by a user namespace, where that is allowed); and is interrupted.
"""
import csv
import html
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from markup import (check_still, check_units, check_widths, near, ns_of, rectangles,
                    rows_of)
from programs import hlguest_of
from tap import Skip, Tap, environment, must, need, parser, run

FEW = ["--operations=100", "--runs=2", "--time=20", "-q"]
COLUMNS = ["ins", "l_cycle", "ref_cycle", "event1", "event2", "event3", "event4"]


def check_crossings(document):
    crossings = document["crossings"]
    kvm = "no_kvm" not in document["machine"]
    for row in crossings["rows"]:
        if "skipped" in row:
            if not row["skipped"]:
                yield f"{row['row']}: no reason"
            continue
        if sum(row["bins"]) + row["outliers"] != row["n"]:
            yield f"{row['row']}: bins do not add up"
        values = [row[k] for k in ("min", "p50", "p90", "p99", "max", "worst")]
        if values != sorted(values):
            yield f"{row['row']}: {values}"
    native = [r["row"] for r in crossings["rows"] if "skipped" not in r]
    for row in crossings["rows"]:
        if row["row"] in ("getppid", "host_fault", "pair_host"):
            found = row["batches"]
            parts = [found[k] for k in ("quiet", "shared", "switched", "stolen")]
            counted = found["quiet"] if found["undisturbed"] else found["n"]
            if sum(parts) != found["n"] or row["n"] % counted:
                yield f"{row['row']}: batches do not add up: {found}, {row['n']}"
    if not {"getppid", "host_fault", "pair_host"} <= set(native):
        yield f"native rows are missing: {native}"
    if kvm and crossings["faults_served"] != crossings["faults_asked"]:
        yield f"{crossings['faults_served']} faults were served"
    if kvm and crossings["ring0_emulated"] is None:
        yield "no verdict on ring 0"
    if not all(r["source"] and r["cpu"] for r in crossings["references"]):
        yield "a reference without its source"


def check_counts(document):
    counts = document["counts"]
    sides = ["native"] if "no_kvm" in document["machine"] else ["guest", "native"]
    if len(counts["programs"]) != 20:
        yield f"{len(counts['programs'])} programs"
    for program in counts["programs"]:
        for side in sides:
            found = program[side]
            if found.get("steps") != program["expected"] or not found["exact"]:
                yield f"{program['program']}, {side}: {found}"


def check_landing(document):
    landing = document["landing"]
    if not (landing.get("skipped") or landing.get("programs_skipped") or
            len(landing["programs"]) == 20):
        yield f"no programs, and no reason: {landing}"
    for event in landing["events"]:
        if "skipped" in event:
            if not event["skipped"]:
                yield f"{event['event']}: no reason"
            continue
        if event["window"] is None and not event["window_why"]:
            yield f"{event['event']}: no window, and no reason"
        for guest in event["guests"]:
            if guest["off_boundary"] or guest["on_boundary"] != guest["guest"]:
                yield f"{event['event']}: not on boundaries: {guest}"
            if guest["right"] + guest["wrong"] + guest["gap"] != guest["guest"]:
                yield f"{event['event']}: does not add up: {guest}"
            if sum(guest.get("distance", [guest["guest"]])) != guest["guest"]:
                yield f"{event['event']}: distances do not add up: {guest}"


def measure_twice_told(build, *words):
    """One measurement: as the words have it, and as JSON."""
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        path = os.path.join(folder, "saved.json")
        text = must(hlguest_of(build), "calibrate", *FEW, *words, "--save=" + path,
                    env=environment(XDG_STATE_HOME=folder))
        with open(path, encoding="utf-8") as f:
            return text, json.load(f)


def check_csv(build):
    text, document = measure_twice_told(build, "--only=counters", "--format=csv")
    rows = list(csv.reader(io.StringIO(text)))
    ticks = {(p["program"], side, run + 1): n
             for p in document["counts"]["programs"] for side in ("guest", "native")
             for run, n in enumerate(p[side]["ticks"])}
    told = {(row[7], row[8], int(row[9])): int(row[2]) for row in rows[1:]}
    if ticks != told:
        yield "ticks are not those of the JSON"
    if rows[0][:7] != COLUMNS:
        yield f"columns {rows[0]}"
    for row in rows[1:]:
        found = dict(zip(rows[0], row))
        if found["ins_from"] == "steps" and found["program"].startswith("rep"):
            if int(found["ins"]) not in (8, 9):
                yield f"{found}"
        if not int(found["ref_cycle"]):
            yield f"no ticks: {found}"
    if len(rows) - 1 not in (40, 80):
        yield f"{len(rows) - 1} rows"


def hidden_kvm():
    """What to put before a command so that it finds no /dev/kvm."""
    if not os.path.exists("/dev/kvm"):
        return []
    hidden = ["unshare", "-rm", "sh", "-c",
              'mount --bind /dev/null /dev/kvm && exec "$0" "$@"']
    if run(*hidden, "true")[2]:
        raise Skip("no user namespaces here")
    return hidden


def without_kvm(build):
    """The machine without its /dev/kvm: native rows, a reason for all others, and status 1."""
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        out, err, status = run(*hidden_kvm(), hlguest_of(build), "calibrate", *FEW,
                               "--format=json", f"--save={folder}/c.json",
                               env=environment(XDG_STATE_HOME=folder))
        if os.listdir(folder) != ["c.json"]:  # what is known of guests stays
            return [f"kept: {os.listdir(folder)}"]
    if status != 1 or not re.fullmatch(r"hlguest: calibrate: no guest was measured: .*\n", err):
        return [f"status {status}: {err}"]
    document = json.loads(out)
    if "no_kvm" not in document["machine"]:
        return [f"a guest ran: {document['machine']}"]
    if document["landing"].get("skipped") != document["machine"]["no_kvm"]:
        return [f"landing has no reason: {document['landing']}"]
    return [*check_crossings(document), *check_counts(document)]


def children_of(pid):
    """Of hlguest; before it is that, the shell that hides /dev/kvm has one, too."""
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            if f.read() != "hlguest\n":
                return []
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except FileNotFoundError:
        return []


def wait_for(what, seconds=20):
    """What is true at last, or what is not after all that time."""
    until = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def interrupted(build, before, in_child):
    """^C while a guest or a child runs: it ends by the signal, and nothing is left."""
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        program = subprocess.Popen(
            [*before, hlguest_of(build), "calibrate", "-q", "--only=counters",
             "--operations=1000000", "--out=x"], cwd=folder, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        children = []
        if in_child:
            children = wait_for(lambda: children_of(program.pid))
            if not children:
                yield "no child ran"
        else:
            time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        program.wait(timeout=20)
        for child in children:
            if not wait_for(lambda c=child: is_gone(c), 5):
                yield f"still there: {child}"
                os.kill(child, signal.SIGKILL)
        out, err = program.communicate(timeout=20)  # ends when no child has the pipe
        if program.returncode != -signal.SIGINT or out or err:
            yield f"{program.returncode}: {out} {err}"
        if os.listdir(folder):
            yield f"left behind: {os.listdir(folder)}"


def check_told(text, document):
    """What the text says of a crossing is what the JSON says; a reason once."""
    told_reason = None
    for row in document["crossings"]["rows"]:
        line = [html.unescape(t) for t in text.splitlines()
                if t.startswith("  " + row["text"] + " ")]
        if "skipped" in row:
            same = row["skipped"] == told_reason
            if not line or f"skipped: {'as above' if same else row['skipped']}" not in line[0]:
                yield f"{row['row']}: {line}"
            told_reason = row["skipped"]
            continue
        told = line[0][2 + len(row["text"]):].split()[:6]
        values = [str(row[k]) for k in ("n", "min", "p50", "p90", "p99", "max")]
        if told != values:
            yield f"{row['row']}: {told}, and as JSON {values}"
    for program in document["counts"]["programs"]:
        line = [t.split() for t in text.splitlines()
                if t.startswith(f"  {program['program']} ")]
        exact = [side for side in ("guest", "native") if program[side].get("exact")]
        if not any(row.count("exact") == len(exact) for row in line):
            yield f"{program['program']}: {line}"


def check_conclusion(build):
    """The text opens with the sentences of the JSON; -v has the tables, too."""
    text, document = measure_twice_told(build)
    told = " ".join(text.split("\n\n")[0].split())
    if len(document["conclusion"]) != 3 or told != " ".join(document["conclusion"]):
        yield f"{told}: and as JSON {document['conclusion']}"
    if max(map(len, text.splitlines())) > 80 or len(text.splitlines()) > 15:
        yield f"more than a look at it: {text}"
    has_kvm = "no_kvm" not in document["machine"]
    if ("is not known" in document["conclusion"][1]) == has_kvm:
        yield f"what an exit costs: {document['conclusion'][1]}"
    text, document = measure_twice_told(build, "-v")
    yield from check_told(text, document)


def rows_by_name(page, title):
    """{row: (its drawing, its figures)} of the first of each name; the words of the axis."""
    rows, axis = rows_of(page, title)
    return {name: (drawing, cells) for name, _, drawing, cells in reversed(rows)}, axis


def check_drawn_crossings(page, document):
    """Figures are JSON's in ns, and bars begin where the axis has them."""
    rows, axis = rows_by_name(page, "Exit cost")
    low, decades = math.log10(ns_of(axis[0])), len(axis)
    yield from check_units("Exit cost", rows.values())
    for row in document["crossings"]["rows"]:
        drawing, cells = rows[row["text"]]
        if "skipped" in row:
            if cells != [row["skipped"]]:
                yield f"{row['row']}: {cells}, not {row['skipped']}"
            continue
        for cell, key in zip(cells, ("p50", "p99"), strict=True):
            if not near(cell, row["ns"][key]) and \
                    abs(ns_of(cell) - row["ns"][key]) > max(0.6, row["ns"][key] / 100):
                yield f"{row['row']}: {cells}, not {row['ns']}"
        for kind, start in ("range", "min"), ("most", "p50"):
            at = 1000 * (math.log10(max(row["ns"][start], 1)) - low) / decades
            if [abs(x - max(at, 0)) < 1 for x, *_ in rectangles(drawing, kind)] != [True]:
                yield f"{row['row']}: {kind} begins at {drawing}, not {at}"


def check_drawn_landing(page, document):
    """The height of a bar is the share of samples at its distance."""
    rows, _ = rows_by_name(page, "Sample precision")
    events = [e for e in document["landing"].get("events", []) if "skipped" not in e]
    for guest in events[0]["guests"] if events else ():
        if "distance" not in guest or not guest["guest"]:
            continue
        drawing, cells = rows[guest["guest_code"]]
        bars = {int(x) // 10: h for x, _, _, h in rectangles(drawing, "most")}
        shares = {k: n / guest["guest"] for k, n in enumerate(guest["distance"]) if n}
        if bars.keys() != shares.keys() or any(
                abs(bars[k] - max(1, 24 * shares[k])) > 0.1 for k in bars):
            yield f"{guest['guest_code']}: bars {bars}, not {shares}"
        wrong = 100 * (guest["wrong"] + guest["gap"]) / guest["guest"]
        if abs(float(cells[-1]) - wrong) > 0.006:
            yield f"{guest['guest_code']}: astray {cells}, not {wrong}"


def check_drawn_counts(page, document):
    rows, _ = rows_by_name(page, "Counter accuracy")
    for program in document["counts"]["programs"]:
        drawing, cells = rows[program["program"]]
        sides = [program[side] for side in ("guest", "native")]
        told = ["skipped" if "skipped" in s else "exact" if s["exact"] else "WRONG" for s in sides]
        if cells[:2] != told:
            yield f"{program['program']}: {cells}, not {told}"
        if len(rectangles(drawing, "range")) != sum("ticks" in s for s in sides):
            yield f"{program['program']}: {drawing}"


def check_html(build):
    text, document = measure_twice_told(build, "--format=html")
    yield from check_told(text, document)
    yield from check_still(text)
    body = text.split("<body>")[1]
    facts = [html.unescape(t) for t in re.findall(r"<dd>(.*?)</dd>", body)]
    if facts[-3:] != document["conclusion"] or len(re.findall('"figure"', body)) != 3:
        yield f"{facts}, not {document['conclusion']}"
    yield from check_drawn_crossings(text, document)
    yield from check_drawn_landing(text, document)
    yield from check_drawn_counts(text, document)


def check_browser(build):
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        path = os.path.join(folder, "page.html")
        must(hlguest_of(build), "calibrate", *FEW, "--format=html", "--out=" + path)
        yield from check_widths(path, 20)


IDLE = ("neighbour_cold", "neighbour_before", "__gap__")  # where no time is spent


def contained(hlguest, elf, data, path):
    """
    How many guest samples a report with this calibration leaves with their true function,
    of how many, and what it notes: each is of a function that runs, or lies in one that
    does not where a late one would, which the report says (edge).
    """
    report = json.loads(must(hlguest, "report", elf, data, "--calibration=" + path,
                             "--format=json", "--top=0"))
    inside = sum(f["samples"] * (f.get("edge", 0) / 100 if f["name"].startswith(IDLE)
                                 else 1) for f in report["functions"])
    return inside, report["totals"]["guest"]["samples"], " ".join(
        report["trust"]["notes"])


def symbols_of(elf):
    rows = [line.split() for line in must("readelf", "-sW", elf).splitlines()]
    return {row[7]: (int(row[1], 16), int(row[2])) for row in rows
            if len(row) == 8 and row[3] == "FUNC"}


def make_late(data, late, symbols):
    """The recording with each sample of neighbour_hot 0 to 2 instructions into what is
    behind it. A sample has its ip as a word."""
    hot, size = symbols["neighbour_hot"]
    cold = symbols["neighbour_cold"][0]
    with open(data, "rb") as f:
        words = bytearray(f.read())
    moved = 0
    for at in range(0, len(words) - 7, 8):
        if hot <= int.from_bytes(words[at:at + 8], "little") < hot + size:
            words[at:at + 8] = (cold + moved % 3).to_bytes(8, "little")
            moved += 1
    with open(late, "wb") as f:
        f.write(words)


def held_against_late(hlguest, elf, data, document, folder):
    """
    The same samples, late by three instructions: a window of three has them, one of one
    has not. Else it would mean nothing that the measured one has.
    """
    late, path = os.path.join(folder, "late.data"), os.path.join(folder, "late.json")
    make_late(data, late, symbols_of(elf))
    for window, enough in ((3, True), (1, False)):
        for event in document["landing"]["events"]:
            event["window"] = window
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
        inside, guest, _ = contained(hlguest, elf, late, path)
        print(f"# late samples, window {window}: {inside:.1f} of {guest}")
        if (inside >= 0.95 * guest) != enough:
            yield f"late samples, window {window}: {inside} of {guest} are within it"


def saved(build):
    """What is saved is what report uses: the guests' own recording, with their ELF."""
    hlguest = hlguest_of(build)
    elf = os.path.join(build, "tools", "calibrate", "guests.elf")
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        env = environment(XDG_STATE_HOME=os.path.join(folder, "state"))
        path, data = os.path.join(folder, "c.json"), os.path.join(folder, "g.data")
        landing = [hlguest, "calibrate", "-q", "--only=precision", "--time=60",
                   "--out=/dev/null"]
        must(*landing, "--save=" + path, env=env)
        said = run(*[w for w in landing if w != "-q"], "--save=" + path, env=env)[1]
        if "state/hlguest/calibration.json: kept there as well" not in said:
            yield f"where else it is kept is not said: {said}"
        said = run(*landing, "--save=" + path,
                   env=environment(XDG_STATE_HOME="", HOME=os.path.join(folder, "no", "home")))
        if said != ("", "", 0) or os.path.exists(os.path.join(folder, "no")):
            yield f"a home was made: {said}"
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
        windows = {e["event"]: e["window"] for e in document["landing"].get("events", [])}
        if windows.get("cpu-clock") is None:
            raise Skip(f"no window of cpu-clock: {document['landing']}")
        last = os.path.join(folder, "state", "hlguest", "calibration.json")
        if not os.path.exists(last):
            yield "no last calibration is kept"
        need("perf")
        must("perf", "kvm", "--guest", "record", "-q", "--no-bpf-event", "-B", "-N",
             "-e", "cpu-clock", "-F", "4000", "-o", data, "--", *landing)
        if "jansson" not in os.environ.get("HLG_FEATURES", ""):
            raise Skip("no jansson")
        inside, guest, notes = contained(hlguest, elf, data, path)
        print(f"# {inside} of {guest} samples; {windows}")
        if inside < 0.95 * guest or guest < 200:
            yield f"{inside} of {guest} samples are within the window"
        if f"95 % within {windows['cpu-clock']} instruction" not in notes:
            yield notes
        yield from held_against_late(hlguest, elf, data, document, folder)


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    try:
        document = json.loads(
            must(hlguest_of(args.build), "calibrate", *FEW, "--format=json"))
    except RuntimeError as e:
        if "not in this build" in str(e):
            tap.skip("calibrate", "no jansson: what is told twice cannot be compared")
        else:
            tap.result(False, "calibrate", [e])
        return tap.finish()
    if "no_kvm" in document["machine"]:
        print(f"# no guest runs: {document['machine']['no_kvm']}")
    tap.result(document["holds"], "the truths hold")
    tap.run("crossings are figures or reasons", lambda: [*check_crossings(document)])
    tap.run("counts are exact", lambda: [*check_counts(document)])
    tap.run("samples land on boundaries", lambda: [*check_landing(document)])
    tap.run("CSV has HPCTool's columns", lambda: [*check_csv(args.build)])
    tap.run("the conclusion, and what it is from", lambda: [*check_conclusion(args.build)])
    tap.run("a page that shows it", lambda: [*check_html(args.build)])
    tap.run("the page in a browser", lambda: [*check_browser(args.build)])
    tap.run("saved, and used by report", lambda: [*saved(args.build)])
    tap.run("without /dev/kvm", without_kvm, args.build)
    tap.run("^C", lambda: [*interrupted(args.build, [], False)])
    tap.run("^C while a child runs", lambda: [*interrupted(args.build, hidden_kvm(), True)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
