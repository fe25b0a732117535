#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a recording lacks is told by each verb that reads it, in each of its formats.

    lacks.py --build DIR

Recordings of tests/data get records that tell of lost events and of throttling, a sample
that is too short, and bytes at the end that are no record; others lose their end. All of
that must be told, in the output or on standard error.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
import parsed
from programs import hlguest_of
from tap import DATA, Skip, Tap, parser, run

DEMO = os.path.join(DATA, "demo.elf") + "@0x4000"
LOST = struct.pack("<IHHQQ", 2, 0, 24, 1, 7)
THROTTLE = struct.pack("<IHHQQQ", 5, 0, 32, 1, 1, 1)
SHORT = struct.pack("<IHHQ", parsed.SAMPLE, 5, 16, 0)
TOLD = (r"\b7 events were lost while recording", r"throttled sampling 1 time",
        r"\b1 record makes no sense", r"5 bytes at its end are missing")
NO_END = "the recording has no end"
TRACING_DATA = 1  # HEADER_TRACING_DATA, tools/perf/util/header.h
REPORT = ["report", "--force"]
VERBS = [[*REPORT, f"--format={f}"] for f in
         ("text", "csv", "json", "html", "folded", "speedscope", "callgrind")]
VERBS += [["annotate", "--force"], ["annotate", "--force", "--format=json"], ["base"],
          ["inject", "-o", "OUT"]]
VERBS += [["flame", "--force", f"--format={f}"] for f in ("svg", "folded", "speedscope")]
WINDOWS = [["windows", f"--format={f}"] for f in ("text", "csv", "json", "html", "svg")]
WINDOWS += [["windows", "--every=100ms"], ["windows", "--summary"]]
EXITS = [["exits", f"--format={f}"] for f in ("text", "csv", "json", "html")]


class Place:
    def __init__(self, build, folder):
        self.hlguest, self.folder = hlguest_of(build), folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def lacking(self, name):
        """A recording of tests/data that lacks all that TOLD has."""
        recording = parsed.Recording(os.path.join(DATA, name + ".data"))
        data = b"".join(r.data for r in recording.records)
        recording.write(self.path(name), data=data + LOST + THROTTLE + SHORT + b"12345")
        return self.path(name)

    def said(self, words, *paths):
        """All that a verb says; None where this build has no such format."""
        words = [w if w != "OUT" else self.path("out") for w in words]
        out, err, status = run(self.hlguest, words[0], "-q", *words[1:], DEMO, *paths)
        if "not in this build" in err or "built without" in err:
            return None
        return out + err + (f"status {status}" if status not in (0, 3) else "")


def missing(place, verbs, path, told=TOLD):
    for words in verbs:
        said = place.said(words, path)
        # Pictures break lines.
        plain = re.sub(r"\s+", " ", re.sub(r"</?(text|tspan)[^>]*>", " ", said or ""))
        for text in told if said else ():
            if not re.search(text, plain):
                yield f"{' '.join(words)}: not told: {text}\n{said[:3000]}"


def check_samples(place):
    """Of samples."""
    yield from missing(place, VERBS, place.lacking("demo-threads"))


def check_saved(place):
    """Of samples, by way of a saved profile."""
    with open(os.path.join(DATA, "demo-user.data"), "rb") as f:
        cut = place.write("short.data", f.read()[:-10])
    for path, told in (place.lacking("demo-threads"), TOLD), (cut, (NO_END,)):
        saved = place.path("saved.pb.gz")
        if place.said(["report", "--format=pprof", "-o", saved], path) is None:
            raise Skip("built without protobuf-c or zlib")
        yield from missing(place, [REPORT], saved, told)


def check_windows(place):
    """Of windows, which hold several where events are lost."""
    yield from missing(place, WINDOWS, place.lacking("demo-windows"))


def check_exits(place):
    """Of exits."""
    yield from missing(place, EXITS, place.lacking("demo-exits"))


def check_sides(place):
    """Of both sides of a comparison."""
    path = place.lacking("demo-threads")
    said = place.said(["diff", "--force"], path, os.path.join(DATA, "demo-threads.data"))
    for text in TOLD:
        if len(re.findall("before: .*" + text, re.sub(r"\s+", " ", said))) != 1:
            yield f"diff: {text}: {said}"


def check_no_end(place):
    """perf record was killed between two records; what it notes at the end is not there."""
    with open(os.path.join(DATA, "demo-user.data"), "rb") as f:
        data = f.read()
    begin, size = struct.unpack_from("<2Q", data, 40)
    killed = place.write("killed.data", data[:40] + struct.pack("<2Q", begin, 0) +
                         data[56:begin + size])
    cut = place.write("cut.data", data[:-10])
    for path in killed, cut:
        yield from missing(place, VERBS, path, (NO_END,))
    said = place.said(REPORT, killed, cut, os.path.join(DATA, "demo-user.data"))
    if "2 of 3 recordings have no end" not in said:
        yield said
    if NO_END in place.said(REPORT, os.path.join(DATA, "demo-user.data")):
        yield "a whole recording has no end"


def check_damage(place):
    """In the middle no record begins; before it are some of a type that nobody knows. A
    process's map, of before the last round, stands behind its samples."""
    recording = parsed.Recording(os.path.join(DATA, "demo-user.data"))
    records = [r.data for r in recording.records]
    unknown, none = struct.pack("<IHHQ", 250, 0, 16, 0), bytes(16)
    samples = [r.data for r in recording.records if r.type == parsed.SAMPLE]
    parts = (([*records[:300], unknown, unknown, *records[300:600], none, *records[600:]],
              (r"\b2 records are of types", "the recording is damaged: no record begins")),
             ([*samples, *(struct.pack("<IHH", 68, 0, 8) * 2,), samples[0]],
              ("the recording is not in the order of time",)))
    for data, told in parts:
        recording.write(place.path("damaged.data"), data=b"".join(data))
        verbs = VERBS if "damaged" in told[-1] else [[*REPORT, "--mode=all"]]
        yield from missing(place, verbs, place.path("damaged.data"), told)


def check_stream(place):
    """All that comes behind the damage, also through a pipe, which has it little by little."""
    stream = struct.pack("<8sQ", b"PERFILE2", 16) + forged.record(
        64, 0, forged.attr() + struct.pack("<Q", 1)) + forged.sample() + bytes(1 << 20)
    path = place.write("stream.data", stream)
    with open(path, "rb") as f:
        piped = subprocess.run([place.hlguest, "report", "-q", "--force", DEMO, "-"],
                               input=f.read(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=False, timeout=60).stdout.decode()
    for what, said in ("a file", place.said(REPORT, path)), ("a pipe", piped):
        if "1048576 bytes from there on were not read" not in re.sub(r"\s+", " ", said):
            yield f"{what}: {said[:1000]}"


def check_formats(place):
    """Formats of tracepoints stand at the end: without it they are cut off, too."""
    with open(os.path.join(DATA, "demo-exits.data"), "rb") as f:
        data = f.read()
    path = place.write("exits.data", data[:-2000])
    for words, text in ((["exits"], "was cut off, and with it the formats"),
                        (REPORT, "no guest samples, only tracepoints"), (REPORT, NO_END)):
        said = place.said(words, path)
        if text not in said or "with hlguest record --exits)" in said and words[0] == "report":
            yield f"{words[0]}: {said}"


def check_undecoded(place):
    """A file without the formats, or with damaged ones, though it has its end."""
    elves = [os.path.join(DATA, "hyperlight", name + ".elf") for name in ("guest", "small")]
    whole = os.path.join(DATA, "hyperlight/turns.data")
    recording = parsed.Recording(whole)
    tracing = recording.features[TRACING_DATA]
    text, saved = "where guests are entered, are not decoded", place.path("undecoded.pb.gz")
    for damaged in None, tracing.replace(b"name: kvm_exit", b"name: kvm_text"):
        del recording.features[TRACING_DATA]
        if damaged:
            recording.features[TRACING_DATA] = damaged
        recording.write(place.path("undecoded.data"))
        recording.features[TRACING_DATA] = tracing
        for verb, path in (("report",), "undecoded.data"), (("flame", "-o", "-"), "undecoded.data"), \
                (("report", "--format=csv"), "undecoded.data"), \
                (("report", "--format=pprof", "-o", saved), "undecoded.data"), \
                (("report",), saved), (("report",), whole):
            out, err, status = run(place.hlguest, verb[0], "-q", *verb[1:], *elves,
                                   place.path(path))
            plain = re.sub(r"\s+", " ", re.sub(r"</?(text|tspan)[^>]*>", " ", out + err))
            if "not in this build" in err:
                break
            if status not in (0, 3) or ("--format=pprof" not in verb and
                                        (text in plain) != (path != whole)):
                yield f"{verb} {path}: {status}, {plain[:2000]}"


def check_undecoded_late(place):
    """The event without formats is met in the second half only, which another thread reads."""
    samples = [forged.sampled(forged.TEXT, 1, 1, 1000 * i, 1) for i in range(4500)]
    late = forged.hit(bytes(36), 1, 1, 4500000)
    path = place.write("late.data", forged.traced(b"".join([*samples, late]), b"kvm:kvm_exit", {}))
    for threads in "-j1", "-j2":
        said = re.sub(r"\s+", " ", place.said([*REPORT, threads], path))
        if "where guests are entered, are not decoded" not in said:
            yield f"{threads}: {said[:2000]}"


def check_times(place):
    """What was lost could lie between any two records: then no sandbox has times."""
    elves = [os.path.join(DATA, "hyperlight", name + ".elf") for name in ("guest", "small")]
    for lost in b"", LOST, SHORT:
        recording = parsed.Recording(os.path.join(DATA, "hyperlight/turns.data"))
        path = place.path("turns.data")
        recording.write(path, data=b"".join(r.data for r in recording.records) + lost)
        out, err, _ = run(place.hlguest, "report", "-q", "--format=json", *elves, path)
        if "not in this build" in err:
            raise Skip("built without jansson")
        for sandbox in json.loads(out)["sandboxes"]:
            if sandbox["calls"]["guest"] != 2 or ("time_ns" in sandbox["calls"]) == bool(lost):
                yield f"{len(lost)} bytes of losses: {sandbox}"


def check_untimed(place):
    """Losses of a recording whose other records have no times are no samples without one."""
    attr = bytearray(forged.attr())
    struct.pack_into("<Q", attr, 40, 0)  # no sample_id_all
    path = place.write("untimed.data", forged.recording(
        b"".join(forged.sample(time=1000 * i) for i in range(1, 50)) + LOST, [bytes(attr)]))
    said = place.said([*REPORT, "--format=html"], path)
    if said and ("7 events were lost" not in said or "Without a time" in said):
        yield said[:1000]


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lacks-") as folder:
        place = Place(args.build, folder)
        for name, check in (("samples", check_samples), ("saved", check_saved),
                            ("windows", check_windows),
                            ("exits", check_exits), ("sides", check_sides),
                            ("no end", check_no_end), ("damage", check_damage),
                            ("stream", check_stream), ("formats", check_formats),
                            ("undecoded", check_undecoded),
                            ("undecoded late", check_undecoded_late),
                            ("times", check_times), ("untimed", check_untimed)):
            tap.run(name, lambda check=check: list(check(place)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
