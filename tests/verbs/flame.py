#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest flame draws what hlguest report counts.

    flame.py --build DIR

Pictures of real recordings, parsed as XML and held against the folded stacks of the same
recordings: every frame its weight, its place and its shares. Then what must be said: what
is not drawn, several events, a base that does not fit, and of two recordings what changed.
Last names that try to be markup.
"""
import csv
import io
import itertools
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../harm/hostile"))
import recording
import recordings
from graph import Graph, draw_of, unfold
from programs import feed, hlguest_of
from tap import DATA, Skip, Tap, but_banner, environment, must, parser, run

MISFIT = 3
RECORDINGS = ("demo-user", "demo-host", "demo-threads", "demo-kernel")
ELF = os.path.join(DATA, "demo.elf")


def data(name):
    return os.path.join(DATA, name + ".data")


def flame(build, *argv):
    out, err, status = run(hlguest_of(build), "flame", ELF, *argv)
    if status not in (0, MISFIT if "--force" in argv else 0):
        raise RuntimeError(f"{argv}: status {status}: {err}")
    return Graph(out)


def report_of(build, *argv):
    out, err, status = run(hlguest_of(build), "report", ELF, *argv, "--border=keep",
                           "--format=json")
    if "not in this build" in err:
        raise Skip(err.strip())
    if status:
        raise RuntimeError(err)
    return json.loads(out)


def check_frames(graph, folded):
    """Every frame has the weight and the place that the stacks give it."""
    total, at = folded[("all",)], {}
    if {f.path for f in graph.frames} != {*folded}:
        yield f"{len(graph.frames)} frames, {len(folded)} in the stacks"
    for f in graph.frames:
        weight = folded.get(f.path)
        if f.n != weight:
            yield f"{f.path}: {f.n}, not {weight}"
        if abs(f.width - 100 * f.n / total) > 0.0002 or \
                abs(f.left - 100 * f.at / total) > 0.0002:
            yield f"{f.path}: at {f.left} %, {f.width} % wide"
        if f.depth and abs(f.share() - 100 * f.n / total) > 0.0051:
            yield f"{f.path}: {f.said}"
        parent = f.path[:-1]
        if f.depth and f.at != at[parent]:
            yield f"{f.path}: begins at {f.at}, not {at[parent]}"
        of_parent = [float(n) for n in re.findall(r"([\d.]+) % of its parent", f.words)]
        if f.depth > 1 and (len(of_parent) != 1 or
                            abs(of_parent[0] - 100 * f.n / folded[parent]) > 0.0051):
            yield f"{f.path}: {f.said}"
        at[parent] = f.at + f.n
        at[f.path] = f.at


def check_recording(build, name, *how):
    hlguest = hlguest_of(build)
    folded = must(hlguest, "report", ELF, data(name), "--mode=all", "--format=folded", *how)
    mine = must(hlguest, "flame", ELF, data(name), "--format=folded", *how)
    if folded != mine:
        yield "folded stacks are not report's"
    graph = flame(build, data(name), *how, "--min=0")
    yield from check_frames(graph, unfold(folded))
    if any("not drawn" in text for text in graph.texts):
        yield f"{graph.texts}"


def check_sums(build, name):
    graph = flame(build, data(name))
    report = report_of(build, data(name))
    totals = report["totals"]
    said = (f"{graph.frames[0].samples} samples of {report['events'][0]['name']}: guest "
            f"{totals['guest']['samples']}, host {totals['host']['samples']}")
    if graph.frames[0].samples != totals["guest"]["samples"] + totals["host"]["samples"] or \
            said not in graph.said():
        yield f"{graph.texts}, not {said}"
    said = {"verified": "OK", "mixed": "MIXED", "mismatch": "WRONG ELF OR BASE"}
    one = flame(build, data(name), "--time=+0,+0.5")
    left = totals["seen"]["samples"] - one.frames[0].samples
    if f"{left} of {totals['seen']['samples']} samples are filtered out" not in one.said():
        yield f"{one.texts}: not {left} filtered out"
    if f"check {said[report['trust']['verdict']]}" not in graph.said():
        yield f"{graph.texts}: no {report['trust']['verdict']}"


def check_intervals(build):
    """The intervals are the report's, where the report has the same total."""
    for name, more in (("demo-user", []), ("demo-user", ["--weight=samples"]),
                       ("demo-threads", ["--weight=samples"])):
        report = report_of(build, data(name), *more)
        graph = flame(build, data(name), "--mode=guest", "--border=keep", *more)
        for row in report["functions"]:
            said = graph.of(row["name"]).said[1]
            numbers = [float(n) for n in re.findall(r"\d+\.\d+", said)[:3]]
            if numbers != [float(row[k]) for k in ("percent", "low", "high")]:
                yield f"{name} {more} {row['name']}: {said}, not " \
                    f"{row['percent']} {row['low']} {row['high']}"


def check_hidden(build):
    graph = flame(build, data("demo-host"), "--min=5")
    whole = flame(build, data("demo-host"), "--min=0")
    drawn = {f.path for f in graph.frames}
    small = [f for f in whole.frames[1:] if f.n < 0.05 * whole.frames[0].n]
    lost = sum(f.samples for f in small if f.path[:-1] in drawn)
    said = f"{lost} samples ({100 * lost / whole.frames[0].samples:.2f} %) in {len(small)} " \
        "frames narrower than 5.00 % are not drawn"
    if drawn & {f.path for f in small} or len(drawn) + len(small) != len(whole.frames):
        yield f"{len(drawn)} drawn, {len(small)} small"
    if said not in " ".join(graph.texts):
        yield f"{graph.texts}, not {said}"


def check_time(build):
    """Of a clock a frame has its milliseconds, to a tenth that is not rounded up."""
    with tempfile.TemporaryDirectory(prefix="hlguest-flame-") as folder:
        path = os.path.join(folder, "made.data")
        recording.write(path, [(0x52b0, 7, 1234567, 0)] * 3)
        graph = flame(build, path, "--force")
        if not any(f.n == 3703701 and "3 samples, 3.7 ms" in f.words for f in graph.frames):
            yield f"{[f.words for f in graph.frames]}"


def check_events(build):
    """Periods of several events have no common unit: samples are what is drawn."""
    graph = flame(build, data("demo-events"))
    if "widths are samples" not in graph.said() or "several events" not in graph.said() or \
            any(f.n != f.samples for f in graph.frames) or "period" in graph.frames[0].said[0]:
        yield f"{graph.texts}, {graph.frames[0].said}"
    events = {f.name for f in graph.frames if f.name.startswith("event=")}
    if len(events) < 2:
        yield f"events: {events}"
    one = flame(build, data("demo-events"), "--event=" + min(events)[6:].split(",")[0])
    if "widths are time" not in one.said():
        yield f"{one.texts}"
    one = flame(build, data("demo-user"), "--before=" + data("demo-events"))
    if "widths are samples" not in one.said():
        yield f"several before: {one.texts}"


def check_mismatch(build):
    out, err, status = run(hlguest_of(build), "flame", ELF + "@0x123000", data("demo-user"))
    graph = Graph(out)
    if status != MISFIT or but_banner(err) or err.count("!! ") != 1:
        yield f"status {status}, {err}"
    if "check WRONG ELF OR BASE" not in graph.said() or "wrong ELF or wrong base" not in graph.said():
        yield f"{graph.texts}"
    if any(f.name == "hash_block" for f in graph.frames):
        yield "functions are named"
    _, err, status = run(hlguest_of(build), "flame", ELF, data("demo-user"),
                         f"--before={ELF}@0x123000", "--before=" + data("demo-user"))
    if status != MISFIT or "before: " not in err:
        yield f"the side before: status {status}, {err}"


def check_before(build):
    same = flame(build, data("demo-user"), "--before=" + data("demo-user"))
    if any("same" not in f.classes for f in same.frames) or \
            "coloured: 0 frames" not in same.said():
        yield f"with itself: {same.texts}"
    graph = flame(build, data("demo-kernel"), "--before=" + data("demo-user"))
    steps = set()
    for f in graph.frames[1:]:
        before, diff, low, high, word = re.search(
            r"before ([\d.]+) %, difference (\S+) points \(95 %: (\S+) to (\S+)\), (.*)$",
            f.said[-1]).groups()
        before, diff, low, high = map(float, (before, diff, low, high))
        if abs(before + diff - f.share()) > 0.011 or not low <= diff <= high:
            yield f"{f.path}: {f.said}"
        colour = [c for c in f.classes if re.match("grew|shrank|same", c)]
        right = "same" if word == "not significant" else "grew" if diff > 0 else "shrank"
        if right != "same":
            right += str(1 + (abs(diff) >= 1) + (abs(diff) >= 5))
            steps.add(right[-1])
        if colour != [right]:
            yield f"{f.path}: {f.classes}, {word}, {diff}"
    if len(re.findall(r"(?:before|after): \d+ samples of cpu-clock: guest", graph.said())) != 2:
        yield f"{graph.said()}"
    if steps != {"1", "2", "3"} or "gone: " not in graph.said():
        yield f"steps {steps}: {graph.said()}"
    gone, more = (int(*re.findall(text, graph.said())) for text in (
        r"(\d+) frames of before are gone", r"gone: (\d+) more"))
    if more != gone - len(re.findall("gone: [^,]+, [0-9.]+ %, ", graph.said())):
        yield f"{gone} are gone, {more} more: {graph.said()}"
    with tempfile.TemporaryDirectory(prefix="hlguest-flame-") as folder:
        guest = os.path.join(folder, "guest.data")
        recording.write(guest, [(0x52b0, 7, 1234567, 0)] * 3)
        for side, *words in (("after", data("demo-host"), "--before=" + guest),
                             ("before", guest, "--before=" + data("demo-host"))):
            graph = flame(build, *words, "--force")
            if f"only the side {side} has host samples" not in graph.said():
                yield f"host {side}: {graph.said()}"


def check_exits(build):
    """What is at VM exits is so on both sides, as in diff: of few samples one alone may tell."""
    found = 0
    for before, after in itertools.permutations(("demo-user", "demo-host", "demo-far"), 2):
        words = [f"{ELF}@auto", data(after), "--time=+0,+0.2"]
        graph = Graph(must(hlguest_of(build), "flame", "--mode=guest", "--min=0", *words,
                           "--before=" + data(before), f"--before={ELF}@auto"))
        rows = csv.DictReader(io.StringIO(must(
            hlguest_of(build), "diff", "--format=csv", "--top=0", words[0],
            data(before), *words[1:])))
        wanted = {row["name"]: int(row["samples_after"]) for row in rows
                  if row["kind"] == "border" and row["samples_after"] != "0"}
        got = {f.name: f.samples for f in graph.frames if "border" in f.classes}
        if got != wanted:
            yield f"{before} to {after}: {got} at VM exits, {wanted} in diff"
        found += len(wanted)
    if not found:
        yield "no VM exits"


def check_one_sided_host(build):
    """With the host's stacks on one side, guests are compared, with their callers."""
    names = [b"f%d" % i for i in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        whole, guests = (os.path.join(folder, name) for name in ("whole", "guests"))
        recordings.chains(whole, names, os.fsencode(hlguest_of(build)))
        recordings.chains(guests, names, os.fsencode(hlguest_of(build)), entries=False)
        for words in [whole, "--before=" + guests], [guests, "--before=" + whole]:
            graph = flame(build, *words, "--force", "--weight=samples")
            if "only one side has the host's stacks" not in graph.said():
                yield f"{words}: {graph.said()}"
            paths = {f.path for f in graph.frames}
            alike = {f.path for f in flame(build, guests, "--mode=guest", "--force").frames}
            if paths != alike or not any("[guest]" in path[:-2] for path in paths):
                yield f"{words}: {sorted(paths ^ alike)}"
            changed = [f.path for f in graph.frames
                       if any(c.startswith(("grew", "shrank", "alone")) for c in f.classes)]
            yield from changed
        for words in [whole], [guests, "--before=" + guests], [whole, "--before=" + whole]:
            if "only one side" in flame(build, *words, "--force").said():
                yield f"{words}: told"
        if any("[no " in f.name for f in flame(build, guests, "--force").frames):
            yield "a frame tells that there is no host half"


def check_one_sided_stacks(build):
    """With callchains on one side, guest functions are compared, and nothing else."""
    names = [b"f%d" % i for i in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        whole, plain = (os.path.join(folder, name) for name in ("whole", "plain"))
        recordings.chains(whole, names, os.fsencode(hlguest_of(build)))
        recordings.samples(plain, names, [b"cpu-clock/freq=99/"])
        for after, before in (whole, plain), (plain, whole):
            graph = flame(build, after, "--before=" + before, "--force", "--weight=samples")
            if "only one side has call stacks" not in graph.said() or \
                    "different events" in graph.said():
                yield f"{graph.said()}"
            if any("[host]" in f.path or "user" in f.classes for f in graph.frames):
                yield f"{[f.path for f in graph.frames]}"
        for words in [whole, "--before=" + whole], [whole, "--before=" + plain, "--stacks=leaf"]:
            graph = flame(build, *words, "--force")
            if "only one side has call stacks" in graph.said():
                yield f"{words}: {graph.said()}"
            if not any(f.name == "[host]" or "user" in f.classes for f in graph.frames):
                yield f"{words}: {[f.name for f in graph.frames]}"


def check_builds(build):
    """Another build, whose functions have moved, is compared by name."""
    with tempfile.TemporaryDirectory() as folder:
        old = os.path.join(folder, "old.elf")
        must("objcopy", "--change-addresses", "0x10000", ELF, old)
        report = run(hlguest_of(build), "report", old + "@0x4000", data("demo-user"))
        if report[2] not in (0, 3):
            raise Skip(report[1])
        graph = flame(build, data("demo-user"), "--before=" + old,
                      "--before=" + data("demo-user"))
    if any("same" not in f.classes for f in graph.frames) or "gone:" in graph.said():
        yield f"{graph.said()}"
    out, err, status = run(hlguest_of(build), "flame", ELF, data("demo-user"),
                           "--before=" + ELF)
    if status != 2 or "is no recording" not in err:
        yield f"without a recording: {status}, {err}"


def check_words(build):
    graph = flame(build, data("demo-user"), "--title=<b>&", "--inverted")
    tops = {f.depth: f.top for f in graph.frames}
    if graph.title != "<b>&" or tops[0] != 0 or tops[1] <= 0:
        yield f"{graph.title}, {tops}"
    hlguest = hlguest_of(build)
    for argv, said in ((["--before=x", "--format=folded"], "--before: is for pictures"),
                       (["--format=text"], "not of this verb"),
                       (["--format=svg", "--format=folded"], "given twice")):
        out, err, status = run(hlguest, "flame", ELF, data("demo-user"), *argv)
        if out or status != 2 or said not in err:
            yield f"{argv}: {status}, {err}"


def check_outputs(build):
    hlguest = hlguest_of(build)
    plain = must(hlguest, "flame", ELF, data("demo-user"))
    if must(hlguest, "flame", ELF, data("demo-user"), "-o", "-") != plain:
        yield "-o - is another picture"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.svg")
        out = must(hlguest, "flame", ELF, data("demo-user"), "-o", path)
        with open(path, encoding="utf-8") as f:
            if out or f.read() != plain:
                yield "-o x.svg is another picture"
    ours, its = pty.openpty()
    done = subprocess.run([hlguest, "flame", ELF, data("demo-user")], stdout=its,
                          stderr=subprocess.PIPE, env=environment(), timeout=60)
    os.close(its)
    os.close(ours)
    if done.returncode != 1 or b"not for a terminal" not in done.stderr:
        yield f"a terminal: {done}"


HOSTILE = ("</title></g><script>document.title = 'hit'</script>", "]]></script><script>",
           "\"' onclick='document.title=1'", "&amp;&lt;", "<!-- ", "--><![CDATA[",
           "&#x3c;svg onload=alert(1)&#x3e;", "%s%n", "\\x1b[2J", "javascript:alert(1)",
           "фламе", "火焰" * 40)
BYTES = {b"\x1b[2J\x07": r"\x1b[2J\x07", b"\xe2\x80\xae rtl": r"\xe2\x80\xae rtl",
         b"\xff\xfe": r"\xff\xfe", b"\xef\xbf\xbe": r"\xef\xbf\xbe", b"\t": r"\x09",
         b"\xc2\x85": r"\xc2\x85"}


def check_hostile(build):
    lines = b"".join(b"5 gcaller\037g%s\n" % name
                     for name in [*(n.encode() for n in HOSTILE), *BYTES])
    done = subprocess.run([draw_of(build)], input=lines, stdout=subprocess.PIPE, timeout=60,
                          check=True)
    graph = Graph(done.stdout.decode("utf-8"))
    names = sorted(f.name for f in graph.frames)
    expected = sorted([*HOSTILE, *BYTES.values(), "all", "caller"])
    if names != expected:
        yield f"{names}, not {expected}"
    if graph.title != "by hand: </title><script>" or \
            len(list(graph.root.iter("{http://www.w3.org/2000/svg}script"))) != 1:
        yield f"{graph.title}"
    elements = {e.tag.rpartition("}")[2] for e in graph.root.iter()}
    if elements - {"svg", "title", "style", "defs", "pattern", "path", "rect", "text", "g",
                   "script"}:
        yield f"{elements}"
    handlers = [a for e in graph.root.iter() for a in e.attrib
                if a.startswith(("on", "href", "style")) or "}href" in a]
    if handlers:
        yield f"attributes: {handlers}"


def check_shades(build):
    """A name has one shade; where it stands first, not that of the frames beside and below."""
    names = [f"f{i}" for i in range(200)]
    text = "".join(f"{500 - i} g{name}\037g{names[i * 7 % 200]}x\n"
                   for i, name in enumerate(names)) + "1 gf9\037gf3\n"
    out, _, _ = feed([draw_of(build)], text)
    graph, shades, last = Graph(out), {}, {}
    for f in graph.frames[1:]:
        shade = f.classes[1]
        if not re.fullmatch("s[0-7]", shade) or shades.get(f.name, shade) != shade:
            yield f"{f.name}: {f.classes}, before {shades.get(f.name)}"
        if f.name not in shades and shade in (last.get(f.depth), last.get(f.depth - 1)):
            yield f"{f.name} is as one beside or below it"
        shades[f.name] = last[f.depth] = shade
    if len({*shades.values()}) != 8:
        yield f"{len({*shades.values()})} shades"


def check_labels(build):
    """A name that is there in full has its share behind it, if that fits."""
    out, _, _ = feed([draw_of(build)], "500 gshort\n480 g" + "y" * 62 + "\n15 gname\n"
                     "5 gф\n")
    labels = {f.name[:5]: f.label for f in Graph(out).frames}
    expected = {"all": "all", "short": "short 50.0 %", "yyyyy": "y" * 62 + " 48.0 %",
                "name": None, "ф": None}
    if {**labels, "name": None} != expected:
        yield f"{labels}"
    out, _, _ = feed([draw_of(build)], "1 gф\n2 ga\n")
    labels = [f.label for f in Graph(out).frames]
    if labels != ["all", "a 66.7 %", "ф"]:
        yield f"{labels}"


def check_sandwich(build):
    """Host frames below guest frames, each of its kind; the wide and the deep."""
    stack = "\037".join(f"k{i}" for i in range(100)) + "\037gwork\037p__gap__ after f"
    text = f"30 uvmm\037n[guest]\037{stack}\n70 n[no KVM_RUN stack]\037rx\n"
    out, _, status = feed([draw_of(build)], text)
    graph = Graph(out)
    kinds = [(graph.of(n).classes[:1], graph.of(n).depth) for n in
             ("vmm", "[guest]", "7", "work", "__gap__ after f", "[no KVM_RUN stack]", "x")]
    if status or kinds != [(["user"], 1), (["note"], 2), (["kernel"], 10), (["guest"], 103),
                           (["gap"], 104), (["note"], 1), (["group"], 2)]:
        yield f"{status}, {kinds}"
    wide = "".join(f"{9 if i < 50 else 1} gf{i}\n" for i in range(100000))
    out, _, _ = feed([draw_of(build), "--least=0.00008"], wide)
    if len(Graph(out).frames) != 51 or len(out) > 50000:
        yield f"{len(Graph(out).frames)} frames, {len(out)} bytes"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    for name in RECORDINGS:
        tap.run(f"{name}: frames", lambda n=name: list(check_recording(build, n)))
        tap.run(f"{name}: sums", lambda n=name: list(check_sums(build, n)))
    tap.run("by=tid, weight=samples", lambda: list(
        check_recording(build, "demo-threads", "--by=tid", "--weight=samples")))
    tap.run("gaps=stretch, demangle=no", lambda: list(
        check_recording(build, "demo-user", "--gaps=stretch", "--demangle=no")))
    tap.run("gaps=drop", lambda: list(
        check_recording(build, "demo-user", "--gaps=drop", "--event=cpu*")))
    for name, function in (
        ("intervals", check_intervals),
        ("what is not drawn", check_hidden),
        ("time", check_time),
        ("several events", check_events),
        ("a base that does not fit", check_mismatch),
        ("what changed", check_before),
        ("VM exits of one side", check_exits),
        ("stacks on one side", check_one_sided_stacks),
        ("stacks of the host on one side", check_one_sided_host),
        ("another build", check_builds),
        ("words", check_words),
        ("outputs", check_outputs),
        ("hostile names", check_hostile),
        ("host below guest", check_sandwich),
        ("shades", check_shades),
        ("labels", check_labels),
    ):
        tap.run(name, lambda f=function: list(f(build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
