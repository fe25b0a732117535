#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A page has at most 10 MB; and every sample in it, whatever it leaves out.

    page_limit.py --build DIR

Recordings are made up that would need more: very many functions, with names that do not
pack, addresses, and stacks. The sums are those of --format=json; what the page says is
left out is what is not there.
"""
import os
import random
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from page import report_of, stacks_of, sums
from programs import hlguest_of, page_data
from tap import Tap, parser, run

MOST = 10_000_000
SIZE, CODE = 16, b"\xff\xd0"  # bytes of a function; call *%rax
CHAINED = forged.IP | forged.TID | forged.TIME | forged.CALLCHAIN | forged.PERIOD
GUEST_CONTEXT = 2 ** 64 - 2048 - 128  # PERF_CONTEXT_GUEST_KERNEL


def guest(folder, functions, name):
    """An ELF of so many functions; name(i) is bytes. Each begins with a call by register."""
    strings, symbols = bytearray(b"\0"), []
    for i in range(functions):
        symbols.append((len(strings), forged.TEXT + SIZE * i, SIZE))
        strings += name(i) + b"\0"
    path, elf = os.path.join(folder, "guest.elf"), forged.Elf(SIZE * functions)
    elf.data[elf.text:] = CODE.ljust(SIZE, b"\x90") * functions
    with open(path, "wb") as f:
        f.write(elf.symbols(symbols, bytes(strings)).build())
    return path


def recorded(folder, records, kind=None, name="guest.data"):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(forged.recording(b"".join(records), kind and [forged.attr(kind)]))
    return path


def chained(ip, time, callers):
    words = [GUEST_CONTEXT, ip, *callers]
    return forged.record(forged.SAMPLE, forged.GUEST, struct.pack(
        f"<QIIQQQ{len(words)}Q", ip, 1, 1, time, 1, len(words), *words))


def page(build, *words):
    """The page, what it says it leaves out, its data, JSON's report."""
    html, err, status = run(hlguest_of(build), "report", "-q", "--force", "--format=html", *words)
    if status:
        raise RuntimeError(f"status {status}: {err}")
    said = re.search(r'<p class="summary" id="cut">(.*?)</p>', html)
    if not said or "below 10 MB: " not in err:
        raise RuntimeError(f"it does not say what is left out: {err}")
    if "base 0x" not in err and said[1].split(": ")[1].split(" (")[0] not in err:
        raise RuntimeError(f"{said[1]}, but {err}")
    return html, said[1], page_data(html), report_of(build, "--force", *words)


def check_size(html):
    if len(html.encode()) > MOST:
        yield f"{len(html.encode())} bytes"
    if len(html.encode()) < MOST / 2:
        yield f"only {len(html.encode())} bytes: more than needed is left out"


def check_sums(data, report, weight="samples"):
    """Rows, addresses and times each have all samples; rows that are there have JSON's."""
    rows, total = data["rows"], sum(f[weight] for f in report["functions"])
    if not total == data["total"] == sum(rows["count"]) == sum(data["addresses"]["count"]) == \
            sum(data["where"]["count"]):
        yield (f"{total}, but {data['total']}, rows {sum(rows['count'])}, addresses "
               f"{sum(data['addresses']['count'])}, times {sum(data['where']['count'])}")
    by_row = [0] * len(rows["name"])
    for row, n in zip(data["addresses"]["row"], data["addresses"]["count"]):
        by_row[row] += n
    if by_row != rows["count"]:
        yield "addresses do not sum to their rows"
    timed = [0] * len(data["addresses"]["row"])
    for what, n in zip(sums(data["where"]["what"]), data["where"]["count"]):
        timed[what] += n
    if timed != data["addresses"]["count"]:
        yield "times do not sum to their addresses"
    if len({len(column) for column in rows.values()}) != 1:
        yield "rows of several lengths"
    right = {f["name"]: f[weight] for f in report["functions"]}
    for name, n, kind in zip(rows["name"], rows["count"], rows["kind"]):
        if kind != 4 and n and right.get(name) != n:
            yield f"{name}: {n}, not {right.get(name)}"


def check_rest(data, report, said):
    """The last row with samples is of all functions that are not there."""
    rows = data["rows"]
    rest = [i for i, kind in enumerate(rows["kind"]) if kind == 4]
    found = re.search(r"(\d+) functions below ([\d.]+) % are one row", said)
    if len(rest) != 1 or not found:
        yield f"rows {rest}; {said}"
        return
    n, below = int(found[1]), float(found[2])
    there = {name for name, kind in zip(rows["name"], rows["kind"]) if kind != 4}
    others = [f for f in report["functions"] if f["name"] not in there]
    if n != len(others) or rows["name"][rest[0]] != f"[{found[0].split(' are')[0]}]":
        yield f"{len(others)} functions are not there: {rows['name'][rest[0]]}, {said}"
    if not rows["count"][rest[0]] == rows["samples"][rest[0]] == sum(f["samples"] for f in others):
        yield f"{rows['count'][rest[0]]} samples are of others, or {rows['samples'][rest[0]]}"
    if any(100 * f["samples"] / data["total"] >= below for f in others):
        yield f"not all of them are below {below} %"
    share = rows["count"][rest[0]] / data["total"]
    if not rows["low"][rest[0]] < share < rows["high"][rest[0]]:
        yield f"{share}: {rows['low'][rest[0]]} to {rows['high'][rest[0]]}"


def check_flame(build, data, said, *words):
    """Each stack of folded is there; or counts in what is smaller on the frames it has."""
    folded, end = {}, "[smaller frames]"
    for line in run(hlguest_of(build), "report", "-q", "--force", "--format=folded",
                    "--stacks=callgraph", *words)[0].splitlines():
        stack, count = line.rsplit(" ", 1)
        folded[stack] = folded.get(stack, 0) + int(count)
    ours, rest = stacks_of(data), {}
    if sum(ours.values()) != sum(folded.values()) or sum(ours.values()) != data["total"]:
        yield f"{sum(ours.values())} in the flame graph, {sum(folded.values())} folded"
    if any(parent >= i for i, parent in enumerate(data["flame"]["parent"])):
        yield "a frame is in front of what it stands on"
    for stack, count in folded.items():
        if stack in ours:
            continue
        while stack and f"{stack};{end}" not in ours:
            stack = stack.rpartition(";")[0]
        rest[stack] = rest.get(stack, 0) + count
    wrong = [stack for stack, count in ours.items() if count != (
        rest.get(stack[:-len(end) - 1]) if stack.endswith(end) else folded.get(stack))]
    if wrong or not rest or "frames of the flame graph below" not in said:
        yield f"{len(wrong)} stacks are wrong: {wrong[:1]}; {said}"
    if "stacks" in data and sum(data["stacks"]["count"]) != data["total"]:
        yield f"{sum(data['stacks']['count'])} by time"
    if "stacks" not in data and "the flame graph is of all time" not in said:
        yield f"no stacks by time; {said}"


def check_functions(build):
    """Names that do not pack; most functions have samples, and callers."""
    rng, n = random.Random(1), 12000
    with tempfile.TemporaryDirectory() as folder:
        elf = guest(folder, n, lambda i: b"f%d_%s" % (i, rng.randbytes(300).hex().encode()))
        starts = [forged.TEXT + SIZE * i for i in range(n)]
        ips = [ip + k for i, ip in enumerate(starts) if i % 5
               for k in (range(2, 12) if i < 2000 else [0])]
        callers = [rng.choice(starts) if i % 4 == 0 else None for i in range(len(ips))]
        words = elf, recorded(folder, [
            chained(ip, 10**9 + 10**6 * i, [] if caller is None else [caller + len(CODE)])
            for i, (ip, caller) in enumerate(zip(ips, callers))], CHAINED)
        html, said, data, report = page(build, *words)
        yield from check_flame(build, data, said, *words)
    yield from check_size(html)
    yield from check_sums(data, report)
    yield from check_rest(data, report, said)
    image = data["images"][0]
    if sum(image["spans"]["size"]) != SIZE * n:
        yield f"{sum(image['spans']['size'])} bytes of code are in spans"
    shown = {name for name, count in zip(data["rows"]["name"], data["rows"]["count"]) if count}
    named = shown.intersection(image["spans"]["name"])
    found = re.search(r"(\d+) functions without samples have no outline", said)
    if not found or int(found[1]) != n - len(named) or len(named) + 1 != len(shown):
        yield f"{len(named)} of {n} functions have outlines; {said}"
    alone = {at for at in callers if at is not None and (at - forged.TEXT) // SIZE % 5 == 0}
    found = re.search(r"(\d+) callers without samples of their own have no row", said)
    callers = data["rows"]["count"].count(0)
    if int(found[1] if found else 0) + callers != len(alone) or not alone:
        yield f"{callers} of {len(alone)} callers without samples have rows; {said}"
    static = re.findall(r'<tr data-row="(\d+)"><td>', html)
    if static != [str(i) for i in range(200)] or "9400 more rows need scripts" not in html:
        yield f"without scripts there are {len(static)} rows"


def check_diff(build, both):
    """Both sides of a comparison together: a small one stays whole; both: none is small."""
    rng, n = random.Random(3), 13000
    with tempfile.TemporaryDirectory() as folder:
        small, few = (os.path.join(folder, f"small.{end}") for end in ("elf", "data"))
        os.rename(guest(folder, 100, b"f%d".__mod__), small)
        os.rename(recorded(folder, [forged.sample(forged.TEXT + SIZE * (i % 100) + 2, time=10**6 * i)
                                    for i in range(n)]), few)
        elf = guest(folder, n, lambda i: b"f%d_%s" % (i, rng.randbytes(300).hex().encode()))
        data = recorded(folder, [forged.sample(forged.TEXT + SIZE * i + 2, time=10**6 * i)
                                 for i in range(n)])
        html, err, status = run(hlguest_of(build), "diff", "-q", "--force", "--format=html", elf, data,
                                "--after", *((elf, data) if both else (small, few)))
    yield from check_size(html)
    said = re.search(r'<p class="summary" id="cut">(.*?)</p>', html)
    told = said and said[1].split(": ", 1)[1].split(" (")[0]
    if status or not said or told not in err or "before, " not in told or ("; after, " in told) != both:
        yield f"status {status}, {err}"
    of = re.search(r"\d+ of (\d+) differ between", html)
    shown = html.count('<th scope="row">')
    if shown != 500 or f"{int(of[1]) - shown} more rows are not here." not in html:
        yield f"{shown} rows of {of}"
    sides = [page_data(html, f"data-{side}") for side in ("before", "after")]
    for side in sides:
        if not sum(side["rows"]["count"]) == side["total"] == sum(side["addresses"]["count"]) == n:
            yield f"{side['total']}, {sum(side['rows']['count'])}, {sum(side['addresses']['count'])}"
    if not both and len(sides[1]["rows"]["name"]) != 100:
        yield f"{len(sides[1]['rows']['name'])} rows of the smaller side"


def check_names(build):
    """A page that names alone would make too large is none, and says so."""
    name = random.Random(4).randbytes(6 << 20).hex().encode()
    with tempfile.TemporaryDirectory() as folder:
        elf = guest(folder, 1, lambda i: name)
        data = recorded(folder, [forged.sample(time=10**6)])
        path = os.path.join(folder, "page.html")
        for words in ("report", elf, data), ("diff", elf, data, data):
            _, err, status = run(hlguest_of(build), words[0], "-q", "--force", "--format=html", "-o", path,
                                 *words[1:])
            if status != 1 or "more than the 10 MB of a page" not in err or os.path.exists(path):
                yield f"{words[0]}: status {status}, {err[:300]}"


def check_stacks(build):
    """Stacks that all differ."""
    rng, n = random.Random(2), 2000
    with tempfile.TemporaryDirectory() as folder:
        elf = guest(folder, n, b"f%d".__mod__)
        words = elf, recorded(folder, [chained(
            forged.TEXT + SIZE * min(int(rng.paretovariate(.5)), n - 1), 10**9 + 10**6 * i,
            [forged.TEXT + SIZE * rng.randrange(n) + len(CODE) for _ in range(60)])
            for i in range(24000)], CHAINED)
        html, said, data, report = page(build, *words)
        yield from check_flame(build, data, said, *words)
    yield from check_size(html)
    yield from check_sums(data, report)


def check_slices(build):
    """So many addresses by time that their slices are longer: each recording has its own."""
    slice_, right, paths = 20_000_000, [], []
    with tempfile.TemporaryDirectory() as folder:
        elf = guest(folder, 300, b"f%d".__mod__)
        for part, (first, last) in enumerate(((1, 41), (1001, 1033))):
            records = [forged.sample(forged.TEXT + k, time=i * slice_ + k) for i in range(first, last)
                       for k in range(4267) if k % SIZE != 1]
            paths.append(recorded(folder, records, name=f"{part}.data"))
            right.append(len(records))
        html, err, status = run(hlguest_of(build), "report", "-q", "--force", "--format=html", elf, *paths)
    data = page_data(html)
    where, time = data["where"], data["time"]
    begins, ends = sums(where["begins"]), [*time["recordings"]["at"][1:], time["n"]]
    found = [sum(n for i, n in zip(sums(where["when"]), where["count"]) if start <= begins[i] < stop)
             for start, stop in zip(time["recordings"]["at"], ends)]
    if status or found != right or begins != sorted({*begins}) or \
            not 4 < len(begins) - 1 <= time["n"] / 2 + 2:
        yield f"recordings have {found} samples, not {right}; slices {begins}, {status}, {err}"


def check_files(build):
    """More recordings than are listed, of a guest of MiB of which they share little."""
    size, n, listed = 5 << 19, 2003, 2000
    with tempfile.TemporaryDirectory() as folder:
        elf = os.path.join(folder, "guest.elf")
        with open(elf, "wb") as f:
            f.write(forged.Elf(size).symbols([(1, forged.TEXT, 128),
                                              (6, forged.TEXT + 128, size - 128)],
                                             b"\0main\0rest\0").build())
        paths = [recorded(folder, [forged.sample(forged.TEXT + 64 * (i % 3 == 0), time=10**6)],
                          name=f"{i:04}.data") for i in range(n)]
        html, err, status = run(hlguest_of(build), "report", "-q", "--force", "--border=keep",
                                "--format=html", elf, *paths)
    rows = re.findall(r'<th scope="row">\S+/(\d+)\.data</th>', html)
    if status or rows != [f"{i:04}" for i in range(listed)]:
        yield f"status {status}, {err}, {len(rows)} recordings are listed"
    for text in (f"<details><summary>{n} recordings</summary>",
                 f"{n - listed} more recordings are not listed.",
                 "is in 128 bytes of 2.5 MiB: 2 cache lines of 64 bytes, on 1 page of 4 KiB; side "
                 "by side they would take 1."):
        if text not in html:
            yield f"not there: {text}; {re.findall('90 % of the time.*', html)}"


def main():
    options = parser(__doc__)
    options.add_argument("--all", action="store_true", help="also what takes long")
    args = options.parse_args()
    tap = Tap()
    tap.run("very many functions", lambda: list(check_functions(args.build)))
    tap.run("a large side and a small one", lambda: list(check_diff(args.build, False)))
    tap.run("many addresses by time", lambda: list(check_slices(args.build)))
    tap.run("many recordings", lambda: list(check_files(args.build)))
    tap.run("a name that is too long", lambda: list(check_names(args.build)))
    if args.all:
        tap.run("two large sides", lambda: list(check_diff(args.build, True)))
        tap.run("very many stacks", lambda: list(check_stacks(args.build)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
