#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""format=speedscope has the stacks of format=folded, in the shape that its schema asks for.

    speedscope.py --build DIR

The schema's rules (file-format-schema.json of npm's speedscope) are written out here. Then,
where $SPEEDSCOPE names the dist/release folder of that package and there is a Chromium,
speedscope itself opens a profile: its table must have the same functions and totals.
"""
import base64
import json
import os
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
from chromium import Browser, NoBrowser, Page
from graph import unfold
from programs import hlguest_of, mkelf_of
from tap import DATA, Skip, Tap, must, parser, run

ELF = os.path.join(DATA, "demo.elf")
KINDS = {"group", "host user", "host kernel", "guest", "gap", "border", "note"}
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def data(name):
    return os.path.join(DATA, name + ".data")


def profile_of(build, *argv):
    out, err, status = run(hlguest_of(build), *argv, "--format=speedscope")
    if "not in this build" in err:
        raise Skip(err.strip())
    if status or err:
        raise RuntimeError(f"{argv}: {status}, {err}")
    return json.loads(out)


def check_shape(document):
    def is_number(value):
        return isinstance(value, int) and not isinstance(value, bool)

    if document["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        yield document["$schema"]
    if set(document) != {"$schema", "shared", "profiles", "name", "exporter",
                         "activeProfileIndex"} or set(document["shared"]) != {"frames"}:
        yield f"keys: {set(document)}"
    frames = document["shared"]["frames"]
    for frame in frames:
        if set(frame) != {"name", "file"} or frame["file"] not in KINDS:
            yield f"{frame}"
    if len({(f["name"], f["file"]) for f in frames}) != len(frames):
        yield "a frame is there twice"
    if len(document["profiles"]) != 1 or document["activeProfileIndex"] != 0:
        yield f"{len(document['profiles'])} profiles"
    profile = document["profiles"][0]
    if set(profile) != {"type", "name", "unit", "startValue", "endValue", "samples",
                        "weights"} or profile["type"] != "sampled" or \
            profile["unit"] not in UNITS:
        yield f"{set(profile)}, {profile['type']}, {profile['unit']}"
    if len(profile["samples"]) != len(profile["weights"]) or \
            not all(is_number(w) and w > 0 for w in profile["weights"]) or \
            profile["startValue"] != 0 or profile["endValue"] != sum(profile["weights"]):
        yield f"weights: {profile['endValue']}, {sum(profile['weights'])}"
    if not all(is_number(i) and 0 <= i < len(frames) and stack
               for stack in profile["samples"] for i in stack):
        yield "stacks of frames that are not there"


def folded_of(document):
    """The same stacks as folded lines, sorted."""
    frames, profile = document["shared"]["frames"], document["profiles"][0]
    return sorted(";".join(frames[i]["name"].replace(";", ":") for i in stack) + f" {weight}"
                  for stack, weight in zip(profile["samples"], profile["weights"]))


def check_report(build, name, unit, *how):
    hlguest = hlguest_of(build)
    argv = ["report", ELF, data(name), *how]
    document = profile_of(build, *argv)
    yield from check_shape(document)
    folded = sorted(must(hlguest, *argv, "--format=folded").splitlines())
    if folded_of(document) != folded:
        yield f"{folded_of(document)[:3]}, not {folded[:3]}"
    if document["profiles"][0]["unit"] != unit:
        yield f"unit {document['profiles'][0]['unit']}, not {unit}"


def check_flame(build):
    document = profile_of(build, "flame", ELF, data("demo-host"))
    if document != profile_of(build, "report", ELF, data("demo-host"), "--mode=all"):
        yield "flame has another profile than report --mode=all"


def check_events(build):
    """Periods of several events do not add up: samples do."""
    document = profile_of(build, "report", ELF, data("demo-events"))
    yield from check_shape(document)
    totals = json.loads(must(hlguest_of(build), "report", ELF, data("demo-events"),
                             "--format=json"))["totals"]
    profile = document["profiles"][0]
    if (profile["endValue"], profile["name"], profile["unit"]) != \
            (totals["guest"]["samples"], "samples", "none"):
        yield f"{profile['endValue']} {profile['name']}, not {totals['guest']['samples']}"


def check_hostile(build):
    """Names of the guest that no viewer should get to see as they are."""
    with tempfile.TemporaryDirectory() as folder:
        elf = os.path.join(folder, "x.elf")
        must(mkelf_of(build), "hostile", elf)
        out, _, status = run(hlguest_of(build), "report", elf + "@0x4800", data("demo-user"),
                             "--format=speedscope", "--force")
        if status == 1:
            raise Skip("not in this build")
        yield from check_shape(json.loads(out))
        if len(json.loads(out)["shared"]["frames"]) < 20:
            yield f"{out}"
        if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out):
            yield "control characters"


def check_speedscope(build):
    release = os.environ.get("SPEEDSCOPE")
    if not release:
        raise Skip("$SPEEDSCOPE names no folder of npm's speedscope")
    document = profile_of(build, "report", ELF, data("demo-host"), "--mode=all")
    loaded = base64.b64encode(json.dumps(document).encode()).decode()
    totals = {}
    for path, n in unfold(must(hlguest_of(build), "report", ELF, data("demo-host"),
                               "--mode=all", "--format=folded")).items():
        if not any(path == other[:-1] for other in totals):
            totals[path[-1]] = totals.get(path[-1], 0) + n
    try:
        with tempfile.TemporaryDirectory() as folder, Browser() as browser:
            script = os.path.join(folder, "load.js")
            with open(script, "w", encoding="ascii") as f:
                f.write(f"speedscope.loadFileFromBase64('x.json', '{loaded}')")
            page = Page(browser, f"{release}/index.html#localProfilePath={script}")
            until, rows = time.monotonic() + 15, []
            while not rows and time.monotonic() < until:
                page.key("3", "3")  # the table of functions
                time.sleep(0.2)
                rows = re.findall(r"\n([\d.]+)(ms|s|µs) \([\d.<]+%\)\s+([\d.]+)\w+ "
                                  r"\([\d.<]+%\)\s+(.*)", page.run("document.body.innerText"))
    except NoBrowser as e:
        raise Skip(e) from e
    if len(rows) < 10:
        yield f"speedscope shows {len(rows)} rows"
    for value, unit, _, name in rows:
        shown = float(value) * {"s": 1e9, "ms": 1e6, "µs": 1e3}[unit]
        if abs(shown - totals.get(name, -1)) > 0.01 * shown:
            yield f"{name}: {shown}, not {totals.get(name)}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    for name, unit, how in (("demo-user", "nanoseconds", ()),
                            ("demo-host", "nanoseconds", ("--mode=all",)),
                            ("demo-host", "nanoseconds", ("--mode=host", "--min=2")),
                            ("demo-user", "none", ("--weight=samples", "--top=5")),
                            ("demo-threads", "nanoseconds", ("--by=tid", "--demangle=no"))):
        tap.run(" ".join((name, *how)),
                lambda n=name, u=unit, h=how: list(check_report(build, n, u, *h)))
    for name, function in (("flame", check_flame), ("several events", check_events),
                           ("hostile names", check_hostile),
                           ("speedscope itself", check_speedscope)):
        tap.run(name, lambda f=function: list(f(build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
