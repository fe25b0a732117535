#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of a saved profile shows when samples were taken, in at most 64 slices.

    page_saved.py --build DIR

Where the profile has a time of each sample, what lies in a slice is what the recording's
page has there; where it has those of some, counts by time are estimates whose sum is that
of all samples. It is said what has no time. The order of a merge does not matter.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from page import page_of, sums
from programs import hlguest_of, page_data
from tap import DATA, Skip, Tap, must, parser, run

ELF = f"{DATA}/demo.elf"
KEPT = os.path.join(sys.path[0], "../peers/pprof/saved-format-3.pb.gz")
FEW = 64
TIMES = re.compile(r"Without a time: (\d+) guest and (\d+) host samples")


def saved(build, folder, name, *words):
    path = os.path.join(folder, name)
    _, err, status = run(hlguest_of(build), "report", "-q", "--force", "--format=pprof", "-o", path, *words)
    if "protobuf" in err:
        raise Skip("not built with protobuf-c")
    if status:
        raise RuntimeError(err)
    return path


def by_slice(data, length, begin):
    """{(slice of that length, row's name): count}; begin: when the first slice begins."""
    where, found = data["where"], {}
    begins = sums(where["begins"])
    for slice_, what, n in zip(sums(where["when"]), sums(where["what"]), where["count"]):
        name = data["rows"]["name"][data["addresses"]["row"][what]]
        key = (begin + begins[slice_] * data["time"]["slice"]) // length, name
        found[key] = found.get(key, 0) + n
    return found


def from_first(found):
    first = min(slice_ for slice_, _ in found)
    return {(slice_ - first, name): n for (slice_, name), n in found.items()}


def check_times(build, *words):
    """Of a short recording: all times are there."""
    with tempfile.TemporaryDirectory() as folder:
        path = saved(build, folder, "one.pb.gz", ELF, f"{DATA}/demo-threads.data", "--by=tid")
        html, _ = page_of(build, ELF, path, "--border=keep", *words)
    data = page_data(html)
    fresh, report = page_of(build, ELF, f"{DATA}/demo-threads.data", "--border=keep", *words)
    right, length = page_data(fresh), data["time"]["slice"]
    if not FEW / 4 < data["time"]["n"] <= FEW:
        yield f"{data['time']['n']} slices"
    if data["time"]["recordings"]["first"] != [0]:
        yield f"when it began is not saved, but {data['time']['recordings']}"
    begin = report["span"]["first"] + right["time"]["recordings"]["first"][0]
    ours, theirs = by_slice(data, length, 0), from_first(by_slice(right, length, begin))
    if ours != theirs:
        yield f"{len(ours)} counts, not {len(theirs)}: {sorted(ours.items())[:3]}, not {sorted(theirs.items())[:3]}"
    threads = [set(), set()]
    for found, page in zip(threads, (data, right)):
        lanes = {}
        for thread, what, n in zip(page["time"]["thread"], page["time"]["what"], page["time"]["count"]):
            if what >= 0:
                lanes[page["threads"]["tid"][thread]] = lanes.get(page["threads"]["tid"][thread], 0) + n
        found.update(lanes.items())
    if threads[0] != threads[1] or len(threads[0]) < 2:
        yield f"threads {threads[0]}, not {threads[1]}"
    said = TIMES.search(html)
    host = report["totals"]["host"]["samples"]
    if not host or not said or said.groups() != ("0", str(host)) or \
            "estimate" in html.split("<script")[0]:
        yield f"of times it says {said and said[0]}"


def check_merged(build):
    """In any order; with one that has no times it says of how many samples these are."""
    with tempfile.TemporaryDirectory() as folder:
        one = saved(build, folder, "one.pb.gz", ELF, f"{DATA}/demo-threads.data", "--by=pid,tid,cpu")
        pages = []
        for names in ((one, KEPT), (KEPT, one)):
            path = os.path.join(folder, "merged.pb.gz")
            must(hlguest_of(build), "merge", "-q", "-o", path, *names)
            html, report = page_of(build, ELF, path, "--border=keep", "--event=cpu-clock", "--weight=samples")
            pages.append(html)
        alone, _ = page_of(build, ELF, one, "--border=keep", "--weight=samples")
    if pages[0] != pages[1]:
        yield "the order matters"
    data, right = page_data(pages[0]), page_data(alone)
    said = TIMES.search(pages[0])
    if not said or int(said[1]) + right["total"] != data["total"]:
        yield f"{said and said[0]}; {data['total']} samples, {right['total']} with times"
    if sum(data["where"]["count"]) != right["total"] or \
            sum(data["time"]["count"]) != right["total"]:
        yield f"{sum(data['where']['count'])} samples have times, not {right['total']}"
    if data["total"] != sum(data["rows"]["count"]):
        yield "rows do not sum to all samples"


def check_callers(build):
    """Samples of one address that differ in their callers alone: all have their times."""
    elf = f"{DATA}/hyperlight/frames.elf"
    with tempfile.TemporaryDirectory() as folder:
        path = saved(build, folder, "callers.pb.gz", elf, f"{DATA}/hyperlight/callers/callers.data")
        html, report = page_of(build, elf, path, "--border=keep", "--weight=samples")
    said, timed = TIMES.search(html), sum(page_data(html)["where"]["count"])
    if not said or said[1] != "0" or timed != report["totals"]["guest"]["samples"]:
        yield f"{said and said[0]}, {timed} timed"


def check_periods(build):
    """A time stands for what the samples of its address weigh, not for a mean of all."""
    n, periods = 40, {"one": 3, "other": 700}
    with tempfile.TemporaryDirectory() as folder:
        elf, data = (os.path.join(folder, name) for name in ("guest.elf", "guest.data"))
        with open(elf, "wb") as f:
            f.write(forged.Elf().symbols([(1, forged.TEXT, 0x100), (5, forged.TEXT + 0x100, 0x100)],
                                         b"\0one\0other\0").build())
        with open(data, "wb") as f:
            f.write(forged.recording(b"".join(
                forged.sample(ip=forged.TEXT + 0x100 * (i % 2), time=10**9 + 10**7 * i,
                              period=list(periods.values())[i % 2]) for i in range(n))))
        path = saved(build, folder, "periods.pb.gz", elf, data)
        html, _ = page_of(build, elf, path, "--force", "--border=keep", "--weight=period")
    found = {}
    for (_, name), weight in by_slice(page_data(html), 1, 0).items():
        found[name] = found.get(name, 0) + weight
    if found != {name: n // 2 * period for name, period in periods.items()}:
        yield f"by time {found}"


def check_many(build):
    """Of 80,000 samples: one function, then for as long another, and a third now and then."""
    n, names = 80000, ("one", "other", "third")
    with tempfile.TemporaryDirectory() as folder:
        elf, data = (os.path.join(folder, name) for name in ("guest.elf", "guest.data"))
        with open(elf, "wb") as f:
            f.write(forged.Elf().symbols([(1, forged.TEXT, 0x100), (5, forged.TEXT + 0x100, 0x100),
                                          (11, forged.TEXT + 0x200, 0x100)],
                                         b"\0one\0other\0third\0").build())
        ips = [0x200 + i % 7 if i % 10 == 0 else 0x100 * (i >= n // 2) + i % 5 for i in range(n)]
        with open(data, "wb") as f:
            f.write(forged.recording(b"".join(
                forged.sample(ip=forged.TEXT + ip, time=10**9 + 100003 * i, period=7 + i % 3)
                for i, ip in enumerate(ips))))
        path = saved(build, folder, "many.pb.gz", elf, data)
        for weight, total in (("samples", n), ("period", sum(7 + i % 3 for i in range(n)))):
            html, _ = page_of(build, elf, path, "--force", "--border=keep", f"--weight={weight}")
            page = page_data(html)
            if not total == page["total"] == sum(page["where"]["count"]) == sum(page["time"]["count"]):
                yield f"{weight}: {page['total']}, by address {sum(page['where']['count'])}"
            if "times of one in 4 samples" not in html:
                yield "it does not say that times are of some samples"
            found, end = by_slice(page, page["time"]["slice"], 0), page["time"]["n"]
            half = [{name: sum(n for (slice_, row), n in found.items()
                               if row == name and (slice_ >= end // 2) == late) for name in names}
                    for late in (False, True)]
            for late, most in enumerate(("one", "other")):
                part = half[late][most] / sum(half[late].values())
                if not 0.86 < part < 0.94:
                    yield f"{weight}: {part} of half {late} is {most}: {half}"


def main():
    args = parser(__doc__).parse_args()
    tap = Tap()
    tap.run("times of all samples", lambda: list(check_times(args.build)))
    tap.run("with samples as weight", lambda: list(check_times(args.build, "--weight=samples")))
    tap.run("merged with one without times", lambda: list(check_merged(args.build)))
    tap.run("with callers", lambda: list(check_callers(args.build)))
    tap.run("addresses of other weights", lambda: list(check_periods(args.build)))
    tap.run("times of some samples", lambda: list(check_many(args.build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
