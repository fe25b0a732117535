#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest report --format=html: what the page holds and shows is what JSON says.

    page.py --build DIR

The data in the page is compared with --format=json of the same recording: rows, shares and
intervals, sums of addresses, and of each stretch of time with --time=. Then a real browser
opens it: rows, sorting, filter, selection by mouse and keys, a range of time; scripts off,
narrow, dark, printed. It asks for nothing and reports no error. What needs Chromium is
skipped where there is none.
"""
import base64
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse
from html import unescape

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
import made
import recording
import stacked
from chromium import Browser, NoBrowser, Page
from programs import hlguest_of, need_zydis, on_terminal, page_data
from tap import DATA, Skip, Tap, environment, must, need, parser, run

REAL = os.path.join(DATA, "hyperlight")
CASES = {  # name: words
    "a Rust guest": (f"{REAL}/guest.elf", f"{REAL}/mix.data"),
    "with callers": (f"{REAL}/frames.elf", f"{REAL}/callers/callers.data"),
    "threads": (f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-threads.data"),
    "samples as weight": (f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-user.data",
                          "--weight=samples"),
    "VM exits": (f"{REAL}/guest.elf", f"{REAL}/exits.data"),
    "several guests": (f"{REAL}/guest.elf", f"{REAL}/small.elf", f"{REAL}/two.data"),
    "dropped gaps": (f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-user.data", "--gaps=drop"),
    "the wrong base": (f"{REAL}/guest.elf@0x5010", f"{REAL}/mix.data"),
    "several recordings": (f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-user.data",
                           f"{DATA}/demo-host.data"),
}
KINDS = ["function", "label", "gap"]
CELLS = """[...document.querySelectorAll('#function-table tbody tr[data-row]')].map(
    tr => [...tr.children].map(cell => cell.textContent))"""
READY = """new Promise(done => { const look = () => document.documentElement.dataset.ready
    ? done() : setTimeout(look, 10); look(); })"""
SELECTED = "document.querySelector('tr[aria-selected=true] th')?.textContent"


def page_of(build, *words):
    """The page's text; and the report in JSON."""
    html, err, status = run(hlguest_of(build), "report", "-q", "--format=html", *words)
    if status not in (0, 3):
        raise RuntimeError(f"status {status}: {err}")
    return html, report_of(build, *words)


def report_of(build, *words):
    out, err, status = run(hlguest_of(build), "report", "-q", "--format=json", "--top=0", *words)
    if "libjansson-dev" in err:
        raise Skip("not built with jansson")
    if status not in (0, 3):
        raise RuntimeError(f"status {status}: {err}")
    return json.loads(out)


def sums(differences):
    total, out = 0, []
    for n in differences:
        total += n
        out.append(total)
    return out


def address(image, offset):
    """Of the part of the image that an offset is in; as a script's numbers have it."""
    parts = image["parts"]
    at, start = max((at, int(start, 16)) for at, start in zip(parts["at"], parts["from"])
                    if at <= offset)
    if offset >= 2 ** 53 or (start - int(parts["from"][0], 16) - at) % 64:
        raise RuntimeError(f"{offset} is not exact, or in another part of its cache line")
    return hex(start + offset - at)


def weigh(count, weight):
    return count["samples" if weight == "samples" else "period"]


def check_rows(build, words):
    """Each function of JSON is a row with its count, share and interval."""
    html, report = page_of(build, *words)
    data, weight = page_data(html), report["weight"]
    rows = data["rows"]
    lengths = {key: len(value) for key, value in rows.items()}
    if len(set(lengths.values())) != 1:
        yield f"rows of several lengths: {lengths}"
    known = {}
    for i, name in enumerate(rows["name"]):
        if rows["kind"][i] in (0, 1, 2) and rows["count"][i]:
            image = data["images"][rows["image"][i]]
            known[name, address(image, rows["at"][i]), image["path"]] = i
    for f in report["functions"]:
        i = known.get((f["name"], f["addr"], f["image"]))
        if i is None:
            yield f"{f['name']} at {f['addr']} has no row"
            continue
        if rows["count"][i] != weigh(f, weight) or rows["samples"][i] != f["samples"] or KINDS[rows["kind"][i]] != f["kind"] or \
                rows["size"][i] != f["size"] or rows["unsure"][i] != f["unsure"]:
            yield f"{f['name']}: {[(k, v[i]) for k, v in rows.items()]}, not {f}"
        for key in ("low", "high"):
            if abs(100 * rows[key][i] - f[key]) > 0.0051:
                yield f"{f['name']}: {key} {rows[key][i]}, not {f[key]}"
    if len(known) != len(report["functions"]):
        yield f"{len(known)} rows, {len(report['functions'])} functions"
    if sum(rows["count"]) != data["total"]:
        yield f"rows sum to {sum(rows['count'])}, not {data['total']}"
    by_row = [0] * len(rows["name"])
    for row, n in zip(data["addresses"]["row"], data["addresses"]["count"]):
        by_row[row] += n
    if by_row != rows["count"]:
        yield "addresses do not sum to their rows"
    if "with" in rows:
        # As rows have no VM exits, who called there has none.
        report = report_of(build, *words, "--children", "--border=drop")
        children = {(c["name"], c["addr"]): weigh(c, weight) for c in report["children"]}
        for i, name in enumerate(rows["name"]):
            at = address(data["images"][rows["image"][i]], rows["at"][i]) \
                if rows["image"][i] >= 0 else None
            if rows["with"][i] != children.get((name, at), rows["with"][i] if at is None else None):
                yield f"{name}: {rows['with'][i]} with callees, not {children.get((name, at))}"
        if not sum(rows["with"]):
            yield "no inclusive counts"
        less = [name for name, n, with_ in zip(rows["name"], rows["count"], rows["with"])
                if 0 <= with_ / data["withTotal"] < n / data["total"] - 1e-9]
        if less:
            yield f"with callees they have less than without: {less}"
    if data["guest"] != weigh(report["totals"]["guest"], weight):
        yield f"{data['guest']} of the guest, not {report['totals']['guest']}"


def check_files(build, words):
    """The list of recordings has what JSON's has; one that cannot be read is there, too."""
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "<b>&bad.data")
        with open(bad, "wb") as f:
            f.write(b"nothing")
        argv = "report", "-q", *words, bad
        html, _, status = run(hlguest_of(build), *argv, "--format=html")
        out, err, _ = run(hlguest_of(build), *argv, "--format=json")
        if "libjansson-dev" in err:
            raise Skip("not built with jansson")
    table = html.split('<table class="values"')[1].split("</table>")[0]
    rows = [[unescape(re.sub("<.*?>", "", cell)) for cell in re.split("</t[hd]>", row)[:-1]]
            for row in re.findall("<tr>(.*?)</tr>", table)[1:]]
    right = [[str(f["samples"]), str(f["guest"]), f"{100 * f['guest'] / f['samples']:.2f} %",
              str(f["lost"]), f["base"], "OK", f["path"]] if not f["problem"]
             else ["-"] * 5 + ["left out", f["path"]] for f in json.loads(out)["files"]]
    if rows != right or status != 1:
        yield f"{rows}, not {right}; status {status}"


def check_spans(build, words):
    """Each byte of code is in one span; and what was sampled there lies in its row's span."""
    html, _ = page_of(build, *words)
    data = page_data(html)
    for number, image in enumerate(data["images"]):
        spans, sections = image["spans"], image["sections"]
        starts = sums(spans["at"])
        if any(s + n > t for s, n, t in zip(starts, spans["size"], starts[1:])):
            yield "spans overlap"
        code = sum(n for n, is_code in zip(sections["size"], sections["code"]) if is_code)
        if sum(spans["size"]) != code:
            yield f"{sum(spans['size'])} bytes in spans, {code} in sections of code"
        where = {s: n for s, n in zip(starts, spans["size"])}
        rows = data["rows"]
        for row, at in zip(data["addresses"]["row"], data["addresses"]["at"]):
            start = rows["at"][row]
            if rows["image"][row] == number and rows["kind"][row] < 3 and \
                    not start <= at < start + where.get(start, rows["size"][row]):
                yield f"{rows['name'][row]}: a sample at {at:#x}"


def check_time(build, words):
    """What lies in a stretch of slices is what --time= counts there."""
    # VM exits are told from the whole recording, not from a stretch of it.
    html, report = page_of(build, *words, "--border=keep")
    data, rng = page_data(html), random.Random(7)
    time, first = data.get("time"), report["span"]["first"]
    if not time:
        yield "no time"
        return
    when = sums(time["when"])
    if when != sorted(when) or when[-1] >= time["n"]:
        yield "slices are not in order"
    if sum(n for n, what in zip(time["count"], time["what"]) if what >= 0) != data["total"]:
        yield "slices do not sum to the whole"
    where = data["where"]
    begins = sums(where["begins"])
    if begins != list(range(time["n"] + 1)) or sum(where["count"]) != data["total"]:
        yield f"by address: {begins}, {sum(where['count'])} in all"
    if "flame" in data and sum(data["stacks"]["count"]) != sum(data["flame"]["count"]):
        yield "stacks by time do not sum to the flame graph"
    when = sums(where["when"])
    for i in range(8):
        start, stop = sorted(rng.sample(range(time["n"] + 1), 2)) if i else (0, time["n"])
        ours = {}
        for slice_, what, n in zip(when, sums(where["what"]), where["count"]):
            if start <= slice_ < stop:
                row = data["addresses"]["row"][what]
                ours[data["rows"]["name"][row]] = ours.get(data["rows"]["name"][row], 0) + n
        begin = first + time["recordings"]["first"][0]
        bounds = [f"{(begin + s * time['slice']) // 10**9}."
                  f"{(begin + s * time['slice']) % 10**9:09}" for s in (start, stop)]
        out, _, status = run(hlguest_of(build), "report", "-q", "--format=json", "--top=0",
                             "--border=keep", "--time=" + ",".join(bounds), *words)
        theirs = {}
        for f in json.loads(out)["functions"] if status == 0 else []:
            theirs[f["name"]] = theirs.get(f["name"], 0) + weigh(f, report["weight"])
        ours = {name: n for name, n in ours.items() if name != "[outside]"}
        if ours != theirs:
            yield f"slices {start} to {stop}: {len(ours)} functions, {len(theirs)} by --time="
        if "flame" in data and status == 0:
            stacks, there = stacks_of(data, start, stop), folded_of(
                build, *words, "--border=keep", "--time=" + ",".join(bounds))
            if stacks != there:
                yield f"slices {start} to {stop}: {len(stacks)} stacks, {len(there)} by --time="


def check_recordings(build, words, one_by_one):
    """Of several recordings each has its stretch of time, in which is what it has alone."""
    html, report = page_of(build, *words, "--border=keep")
    data = page_data(html)
    where, recordings = data["where"], data["time"]["recordings"]
    if recordings["path"] != [f["path"] for f in report["files"]]:
        yield f"recordings {recordings['path']}"
    ends = recordings["at"][1:] + [data["time"]["n"]]
    begins, items = sums(where["begins"]), list(zip(
        sums(where["when"]), sums(where["what"]), where["count"]))
    for path, start, stop in zip(recordings["path"], recordings["at"], ends):
        ours = {}
        for slice_, what, n in items:
            if start <= begins[slice_] < stop:
                name = data["rows"]["name"][data["addresses"]["row"][what]]
                ours[name] = ours.get(name, 0) + n
        alone = report_of(build, *[w for w in words if w not in one_by_one], path,
                          "--border=keep")
        theirs = {f["name"]: weigh(f, report["weight"]) for f in alone["functions"]}
        ours.pop("[outside]", None)
        if ours != theirs or not ours:
            yield f"{path}: {ours}, alone {theirs}"


def folded_of(build, *words):
    folded = {}
    out = must(hlguest_of(build), "report", "-q", "--format=folded", "--stacks=callgraph", *words)
    for line in out.splitlines():
        stack, n = line.rsplit(" ", 1)
        folded[stack] = folded.get(stack, 0) + int(n)
    return folded


def stacks_of(data, start=0, stop=None):
    """{folded stack: count} of the page's tree; of slices of time, if they are given."""
    flame, counts = data["flame"], list(data["flame"]["count"])
    if stop is not None:
        stacks, begins = data["stacks"], sums(data["where"]["begins"])
        counts = [0] * len(counts)
        for slice_, node, n in zip(sums(stacks["when"]), sums(stacks["what"]), stacks["count"]):
            if start <= begins[slice_] < stop:
                counts[node] += n
    names, ours = [""], {}
    for i in range(1, len(flame["parent"])):
        name = flame["names"][flame["name"][i]]
        parent = names[flame["parent"][i]]
        names.append(f"{parent};{name}" if parent else name)
        if counts[i]:
            ours[names[i]] = ours.get(names[i], 0) + counts[i]
    return ours


def check_flame(build, words):
    """The tree's stacks are those of folded."""
    html, _ = page_of(build, *words)
    ours, folded = stacks_of(page_data(html)), folded_of(build, *words)
    if ours != folded:
        yield f"{len(ours)} stacks, {len(folded)} folded"


def marks_of(data, kind):
    """{slice, from the first of the page on: count}"""
    marks, found = data["marks"], {}
    for this, when, n in zip(marks["kind"], sums(marks["when"]), marks["count"]):
        if this == kind:
            found[when] = found.get(when, 0) + n
    return found


def check_lost(build, folder):
    """Lost events are where they were, by slice; and in no sum."""
    rng, records, right = random.Random(3), [], {}
    for time in sorted(rng.sample(range(10**9, 2 * 10**9), 3000)):
        if rng.random() < .3:
            n, slot = rng.randint(1, 9), time // 20_000_000 - 50
            records.append(forged.lost(time, n=n))
            right[slot] = right.get(slot, 0) + n
            continue
        record = bytearray(forged.crossing(True, time))
        record[4] = forged.GUEST
        records.append(bytes(record))
    data, elf = (os.path.join(folder, name) for name in ("lost.data", "lost.elf"))
    with open(data, "wb") as f:
        f.write(forged.crossings(b"".join(records)))
    with open(elf, "wb") as f:
        f.write(forged.Elf().symbols([(1, forged.TEXT, 16)], b"\0code\0").build())
    html, _ = page_of(build, elf, data, "--force")
    ours = page_data(html)
    if marks_of(ours, 0) != right:
        yield f"{marks_of(ours, 0)}, not {right}"
    if any(what < -4 for what in ours["time"]["what"]) or -1 in ours["threads"]["tid"]:
        yield "marks are among the samples"


def far_guest(folder):
    """Code that boots at the bottom of the address space, and a kernel at its top."""
    high, elf = 0xffffffff80001040, forged.Elf()
    elf.segment(high, 0x1000)
    elf.section(elf.name(b".high"), 1, 6, high, elf.text, 0x1000)
    elf.symbols([(1, forged.TEXT, 0x1000), (6, high, 0x100, 2),
                 (11, high + 0x100, 0xf00, 2)],
                b"\0boot\0high\0more\0")
    samples = [forged.sample(ip=at, time=1000 * i) for i, at in enumerate(
        [forged.TEXT + 1] * 3 + [high + 0x41] * 40 + [high + 0xf01] * 20)]
    paths = [os.path.join(folder, name) for name in ("far.elf", "far.data")]
    for path, data in zip(paths, (elf.build(), forged.recording(b"".join(samples)))):
        with open(path, "wb") as f:
            f.write(data)
    return (*paths, "--force")


def check_far(pages):
    """Addresses are right however far from each other they are."""
    words = far_guest(pages.folder)
    yield from check_rows(pages.build, words)
    yield from check_spans(pages.build, words)
    yield from check_code(pages.build, words, 3)
    if not pages.browser:
        raise Skip("no browser")
    page, report, _ = pages.open(words)
    right = {f["name"]: f["addr"] for f in report["functions"]}
    for cells in page.run(CELLS):
        if right.get(cells[-4]) != cells[-1]:
            yield f"{cells}, not {right}"
    page.run("document.querySelector('tr[data-row]').click()")
    said = page.run("document.querySelector('#image .said').textContent")
    if "0x1000 to 0xffffffff8000203f" not in said:
        yield said
    page.close()


def check_exits(build):
    """VM exits are where perf has them."""
    need("perf")
    elf, data = CASES["VM exits"]
    html, report = page_of(build, elf, data)
    ours, right = page_data(html), {"kvm:kvm_exit": {}, "kvm:kvm_userspace_exit": {}}
    begin = report["span"]["first"] + ours["time"]["recordings"]["first"][0]
    for line in must("perf", "script", "-i", data, "-F", "time,event", "--ns").splitlines():
        time, event = line.split()[:2]
        if (found := right.get(event.rstrip(":"))) is not None:
            at = (int(time.rstrip(":").replace(".", "")) - begin) // ours["time"]["slice"]
            found[at] = found.get(at, 0) + 1
    for kind, (event, found) in enumerate(right.items(), 1):
        if marks_of(ours, kind) != found or not found:
            yield f"{event}: {marks_of(ours, kind)}, not {found}"


def check_exit_callers(build, folder):
    """Functions that call but have no samples have rows, behind the others. VM exits have none,
    and count in nobody who called there."""
    path = os.path.join(folder, "exits.data")
    stacked.at_exits(path)
    html, report = page_of(build, os.path.join(DATA, "demo.elf"), path, "--force")
    rows = page_data(html)["rows"]
    got = dict(zip(rows["name"], zip(rows["samples"], rows["with"])))
    right = {"hash_block": (4, 4), "guest_main": (0, 4), "_start": (0, 4)}
    if report.get("border") and (got != right or rows["name"][0] != "hash_block"):
        yield f"samples, and with callees: {got}, not {right}"


def check_code(build, words, most=5):
    """Each listing's samples are those that annotate has, at the same addresses."""
    html, _ = page_of(build, *words, "--border=keep")
    data = page_data(html)
    listings = re.findall(r'<details data-row="(\d+)">(.*?)</details>', html, re.S)
    if len(listings) < most:
        yield f"{len(listings)} listings"
    out = must(hlguest_of(build), "annotate", "-q", "--format=json", "--top=5", *words)
    theirs = {(f["name"], f["addr"]): f for f in json.loads(out)["functions"]}
    for row, listing in listings[:5]:
        image = data["images"][data["rows"]["image"][int(row)]]
        start = address(image, data["rows"]["at"][int(row)])
        ours = {int(address(image, int(at)), 16): share for at, share in
                re.findall(r'data-at="(\d+)"[^>]*><span class="share">([\d.]+) %', listing)}
        f = theirs.get((data["rows"]["name"][int(row)], start))
        lines = {int(line["addr"], 16): f"{line['percent']:.2f}" for line in f["lines"]
                 if line["samples"]} if f else None
        if ours != lines:
            yield f"row {row}: {ours}, not {lines}"


def check_lines(build, folder):
    """Behind instructions that are left out the source line is said again; and a branch to where
    its function begins leads there."""
    need("gcc", "nm")
    need_zydis(hlguest_of(build))
    with open(os.path.join(folder, "long.c"), "w", encoding="ascii") as f:
        f.write('__attribute__((noinline)) void lasts(void) { __asm__("1: .rept 60; nop; .endr; jmp 1b"); }\n'
                "int main(void) { lasts(); return 0; }\n")
    must("gcc", "-g", "-O1", "-pie", "-fPIE", "-fcf-protection=none", "long.c", "-o", "long", cwd=folder)
    start, = (int(line.split()[0], 16) for line in must("nm", "long", cwd=folder).splitlines()
              if line.endswith(" lasts"))
    recording.write(os.path.join(folder, "long.data"),
                    [(0x4000 + start + i, 7, 1000, 0) for i in (0, 55)])
    html, err, _ = run(hlguest_of(build), "report", "-q", "--force", "--format=html", "long@0x4000",
                       "long.data", cwd=folder)
    told = re.findall(r'<span class="source">(.*?)</span>', html)
    if "libjansson-dev" in err or not any("long.c" in line for line in told):
        raise Skip("not built with jansson and libdw")
    if told[:3] != ["long.c:1", "38 lines without samples", "long.c:1"]:
        yield f"{told}"
    first = re.search(r'data-at="(\d+)"', html)[1]
    if re.findall(r'data-to="(\d+)"', html) != [first]:
        yield "the branch does not lead to where its function begins"


def check_refused(build):
    """What cannot be shown is said, and nothing is written."""
    elf, data = f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-user.data"
    hlguest = hlguest_of(build)
    for words, said in ((("--by=tid",), "does not show --by"),
                        (("--by=sandbox",), "make one of each: --sandbox=1"),
                        (("--mode=host",), "does not show --mode=host")):
        out, err, status = run(hlguest, "report", "--format=html", *words, elf, data)
        if status == 0 or out or said not in err:
            yield f"{words}: status {status}, {err}"
    shown, status = on_terminal([hlguest, "report", "--format=html", elf, data])
    if status == 0 or "not for a terminal" not in shown:
        yield f"terminal: {status}, {shown}"
    html, _ = page_of(build, *CASES["the wrong base"])
    if 'class="bad"' not in html or "WRONG ELF" not in html or 'id="image"' in html:
        yield "the wrong base is not told"
    if '<p class="warning">warning:' not in html or "<dt>warning" in html:
        yield "a warning is among the facts"


def check_each(build, folder):
    """What each sample weighs is told where all weigh the same: a mean is no weight."""
    elf, data = (os.path.join(folder, name) for name in ("each.elf", "each.data"))
    with open(elf, "wb") as f:
        f.write(forged.Elf().symbols([(1, forged.TEXT, 16)], b"\0code\0").build())
    for periods, right in (((2, 2, 2), 2), ((1, 3), 0), ((1, 2), 0)):
        with open(data, "wb") as f:
            f.write(forged.recording(b"".join(forged.sample(time=1000 * i, period=n)
                                              for i, n in enumerate(periods))))
        for words, weight in (((), right), (("--weight=samples",), 1)):
            html, _ = page_of(build, elf, data, "--force", *words)
            if page_data(html)["each"] != weight:
                yield f"{periods}, {words}: {page_data(html)['each']}, not {weight}"


def piped(build):
    """Recordings as perf record -o - writes them, of which report makes something."""
    for seed in range(200):
        maker = made.Maker(seed, False)
        data = maker.pipe() if maker.piped else None
        if data and give(build, data, "report", "--force", "--format=csv") in (0, 3):
            yield data


def give(build, data, *words):
    """The status of a verb that reads the data from its standard input."""
    return subprocess.run([hlguest_of(build), words[0], "-q", *words[1:],
                           f"{DATA}/demo.elf@0x4000", "-"], input=data, capture_output=True,
                          env=environment(), timeout=60).returncode


def check_pipe(build):
    """What can be read but once is read once: for what shows stacks, too."""
    for n, data in enumerate(piped(build)):
        for words in (("report", "--format=html"), ("report", "--format=speedscope"), ("flame",)):
            status = give(build, data, *words, "--force")
            if status not in (0, 3):
                yield f"{words}: status {status}"
        if n == 3:
            return
    yield "too few recordings"


def check_policy(build):
    """The policy allows what is there, by its hash, and no more."""
    html, _ = page_of(build, *CASES["threads"])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    if "default-src 'none'" not in policy or "unsafe" in policy or "http" in policy:
        yield policy
    scripts = re.findall(r"<script>", html)
    if len(scripts) != 1 or re.search(r"<[^>]*\s(?:style|on\w+)=", html.split("<script")[0]):
        yield f"{len(scripts)} scripts, or attributes that the policy forbids"
    if re.search(r"(?:src|href)=\"(?!#)", html):
        yield "something from elsewhere"
    code = sum(len(html.split(f"<{tag}>")[1].split(f"</{tag}>")[0].encode()) for tag in ("style", "script"))
    if code > 100000:
        yield f"{code} bytes of script and style"


class Pages:
    def __init__(self, build, folder):
        self.build, self.folder, self.browser = build, folder, None

    def write(self, *words):
        path = os.path.join(self.folder, "page.html")
        html, report = page_of(self.build, *words)
        with open(path, "w", encoding="utf-8") as f:
            f.write(html)
        return path, report, page_data(html)

    def open(self, words, **how):
        """A page that is drawn, JSON's report, the page's data."""
        if not self.browser:
            try:
                self.browser = Browser()
            except NoBrowser as e:
                raise Skip(str(e)) from e
        path, report, data = self.write(*words)
        page = Page(self.browser, path, **how)
        page.run(READY)
        return page, report, data


def check_shown(pages, words):
    """The rows on the screen have JSON's shares, in its order, and of several ELFs whose they are;
    nothing is reported."""
    page, report, _ = pages.open(words)
    cells = page.run(CELLS)
    for cell, f in zip(cells, report["functions"]):
        text = [c.replace("\u202f", "") for c in cell]
        if text[0] != f"{f['percent']:.2f} %" or f"{f['low']:.2f}–{f['high']:.2f}" not in text or \
                " ".join([f["name"], *["label"] * (f["kind"] == "label"),
                          *[os.path.basename(f["image"] or "")] * (len(report["images"]) > 1)]
                         ) not in text:
            yield f"{cell}, not {f}"
    if len(cells) < min(10, len(report["functions"])):
        yield f"{len(cells)} rows are shown"
    yield from page.noticed()
    page.close()


def check_sorted(pages):
    page, report, data = pages.open(CASES["a Rust guest"])
    rows = data["rows"]
    for key, value, first in (("name", lambda f: f["name"], None),
                              ("size", lambda f: f["size"], max),
                              ("address", lambda f: int(f["addr"], 16), min)):
        page.run(f"document.querySelector('th[data-key={key}] button').click()")
        top = page.run(CELLS)[0]
        said = page.run(f"document.querySelector('th[data-key={key}]').ariaSort")
        if first:
            right = first(report["functions"], key=value)
            if right["name"] not in top:
                yield f"by {key}: {top}, not {right['name']}"
        if said not in ("ascending", "descending"):
            yield f"by {key}: aria-sort is {said}"
    names = sorted(name for name in rows["name"] if "deflate" in name)
    page.key("/", "/")
    page.write("deflate")
    shown = [c for row in page.run(CELLS) for c in row if "deflate" in c]
    if sorted(shown) != names or not names:
        yield f"filtered: {shown}, not {names}"
    page.key("Escape")
    if len(page.run(CELLS)) <= len(names):
        yield "Escape does not show all"
    page.close()


def check_selected(pages):
    """By mouse and by keys; the flame graph shows it, too."""
    page, report, _ = pages.open(CASES["with callers"])
    names = [f["name"] for f in report["functions"]]
    page.run("document.querySelector('tr[data-row=\"0\"]').scrollIntoView({block: 'center'})")
    x, y = page.run("(() => { const b = document.querySelector('tr[data-row=\"0\"] th')"
                    ".getBoundingClientRect(); return [b.x + 5, b.y + 5]; })()")
    page.click(x, y)
    if page.run(SELECTED) != names[0]:
        yield f"a click selects {page.run(SELECTED)}, not {names[0]}"
    page.run("document.querySelector('tr[data-row=\"0\"]').focus()")
    page.key("ArrowDown")
    if page.run(SELECTED) != names[1]:
        yield f"a key selects {page.run(SELECTED)}, not {names[1]}"
    if not page.run("document.querySelectorAll('#flame .chosen').length"):
        yield "the flame graph does not show it"
    frames = page.run("[...document.querySelectorAll('#flame g.f.guest')].map(g => [g.classList[2],"
                      "g.querySelector('text')?.textContent])")
    shades = {shade for shade, _ in frames}
    if not shades <= {f"s{i}" for i in range(8)} or len(shades) < 4:
        yield f"frames have the shades {shades}"
    if sum(bool(re.search(r" \d+\.\d %$", words or "")) for _, words in frames) < 4:
        yield f"no shares on frames: {frames}"
    yield from page.noticed()
    page.close()


def check_parts(pages):
    """What is chosen is a part of all, VM exits among it."""
    page, report, data = pages.open((f"{DATA}/demo.elf@0x4000", f"{DATA}/demo-user.data"))
    time = data["time"]
    part = sum(n for when, what, n in zip(sums(time["when"]), time["what"], time["count"])
               if when >= 1 and what >= 0)
    page.run(f"location.hash = 'range=1-{time['n']}'; new Promise(f => setTimeout(f, 100))")
    said = page.run("document.querySelector('#time .said').textContent")
    lines = page.run("[...document.querySelectorAll('#functions .unsure-line')].map(p => p.offsetHeight > 0)")
    if lines != [page.run("document.querySelectorAll('tr.unsure').length") > 0] or not all(lines):
        yield f"nothing tells the line beside rows: {lines}"
    right = f"{100 * part / report['totals']['guest']['period'] + 1e-9:.2f} % of all"
    if right not in said or not report["totals"]["border"]["samples"]:
        yield f"{said}, not {right}; {report['totals']}"
    yield from page.noticed()
    page.close()


def bounds_of(report, data, start, stop):
    """The option for what slices of time are."""
    time = data["time"]
    begin = report["span"]["first"] + time["recordings"]["first"][0]
    return "--time=" + ",".join(
        f"{(begin + s * time['slice']) // 10**9}.{(begin + s * time['slice']) % 10**9:09}"
        for s in (start, stop))


def check_range(pages):
    """A range that keys chose counts what --time= does."""
    page, report, data = pages.open(CASES["a Rust guest"])
    page.run("document.querySelector('#time [tabindex=\"0\"]').focus()")
    for _ in range(3):
        page.key("ArrowRight")
    for _ in range(10):
        page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight",
                  windowsVirtualKeyCode=39, modifiers=8)
    page.run("new Promise(requestAnimationFrame).then(() => 0)")
    chosen = re.search(r"range=(\d+)-(\d+)", page.run("location.hash"))
    if not chosen:
        yield "no range was chosen"
        return
    start, stop = (int(n) for n in chosen.groups())
    there = report_of(pages.build, *CASES["a Rust guest"], "--border=keep",
                      bounds_of(report, data, start, stop))
    cells = page.run(CELLS)
    for cell, f in zip(cells[:3], there["functions"]):
        if cell[0] != f"{f['percent']:.2f} %":
            yield f"slices {start} to {stop}: {cell}, not {f['name']} {f['percent']}"
    yield from page.noticed()
    page.close()


def counted_guest(folder, period):
    """Two functions, sampled each 10 ms by an event that is no timer; period(i): of each sample."""
    paths = [os.path.join(folder, name) for name in ("counted.elf", "counted.data")]
    elf = forged.Elf().symbols([(1, forged.TEXT, 64), (5, forged.TEXT + 64, 64)], b"\0one\0two\0")
    samples = [forged.sample(ip=forged.TEXT + (64 if i % 3 else 2), time=10**9 + 10**7 * i, period=period(i))
               for i in range(90)]
    for path, data in zip(paths, (elf.build(), forged.recording(
            b"".join(samples), [forged.attr(kind=0, config=1)]))):  # instructions
        with open(path, "wb") as f:
            f.write(data)
    return (*paths, "--force")


def check_counted(pages):
    """What samples counted is not called samples; these stand beside it, of a range where they are
    known."""
    for period, known in ((lambda i: 1000, True), (lambda i: 1000 + i % 2, False)):
        words = counted_guest(pages.folder, period)
        page, report, data = pages.open(words)
        heads = page.run("[...document.querySelectorAll('#function-table thead th')].map("
                         "th => th.textContent)")
        for choice in None, (10, 30):
            if choice:
                page.run("location.hash = 'range=%d-%d'; new Promise(requestAnimationFrame).then(() => 0)" % choice)
                report = report_of(pages.build, *words, bounds_of(report, data, *choice))
            shown = {cells[heads.index("name")]: [cells[heads.index(h)].replace("\u202f", "") for h in (
                data["unit"], "samples")] for cells in page.run(CELLS)}
            right = {f["name"]: [str(f["period"]), str(f["samples"]) if known or not choice else ""]
                     for f in report["functions"]}
            if shown != right or len(right) != 2 or not data["unit"].startswith("instructions"):
                yield f"{choice}: {shown}, not {right}"
        yield from page.noticed()
        page.close()


def check_flame_range(pages):
    """The flame graph is of the chosen time."""
    page, _, data = pages.open(CASES["with callers"])
    said = "document.querySelector('#flame .said').textContent"
    page.run("document.querySelector('#time [tabindex=\"0\"]').focus()")
    whole = page.run(said)
    for _ in range(6):
        page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight",
                  windowsVirtualKeyCode=39, modifiers=8)
    page.run("new Promise(requestAnimationFrame).then(() => 0)")
    start, stop = (int(n) for n in re.search(r"range=(\d+)-(\d+)",
                                             page.run("location.hash")).groups())
    right = sum(stacks_of(data, start, stop).values())
    now = page.run(said)
    if f"all: 100.00 %, {right / 1e6:.1f} ms" not in now or now == whole:
        yield f"slices {start} to {stop}: {now}, not {right / 1e6} ms"
    if "Of the chosen time" not in page.run("document.querySelector('#flame').textContent"):
        yield "it does not say so"
    wide = page.run("new Promise(done => { document.getElementById('flame').scrollIntoView();"
                    "setTimeout(() => done([...document.querySelectorAll('#flame rect')].filter("
                    "r => r.parentNode.dataset.node).map(r => [r.parentNode.dataset.node,"
                    "r.getAttribute('width') / document.querySelector('#flame svg')"
                    ".getAttribute('width')])), 300); })")
    counts = [0] * len(data["flame"]["parent"])
    begins, stacks = sums(data["where"]["begins"]), data["stacks"]
    for slice_, node, n in zip(sums(stacks["when"]), sums(stacks["what"]), stacks["count"]):
        while node >= 0 and start <= begins[slice_] < stop:
            counts[node] += n
            node = data["flame"]["parent"][node]
    for node, part in wide:
        if abs(part - counts[int(node)] / counts[0]) > .002:
            yield f"frame {node} has {part} of the width, not {counts[int(node)] / counts[0]}"
    if len(wide) < 10:
        yield f"{len(wide)} frames"
    page.run("document.querySelector('#time [tabindex=\"0\"]').focus()")
    page.key("Escape")
    page.run("new Promise(requestAnimationFrame).then(() => 0)")
    if page.run(said) != whole:
        yield f"then {page.run(said)}, not {whole}"
    yield from page.noticed()
    page.close()


def check_pinch(pages):
    """Two fingers that part zoom into the image; that meet, out of it; one selects still."""
    page, _, _ = pages.open(CASES["a Rust guest"], width=390)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    x, y = page.run("(() => { const c = document.querySelector('#image canvas.cells');"
                    "c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect();"
                    "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
    shown = []
    for apart in (0, (40, 80, 160), (160, 80, 20)):
        for i, n in enumerate(apart or ()):
            page.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                      touchPoints=[{"x": x - n, "y": y, "id": 1}, {"x": x + n, "y": y, "id": 2}])
        if apart:
            page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        page.run("new Promise(requestAnimationFrame).then(() => 0)")
        said = page.run("document.querySelector('#image .said').textContent")
        shown.append(float(re.search(r", ([\d.]+) (KiB|bytes) of", said)[1]))
    if not shown[1] < shown[0] / 2 or not shown[2] > 1.9 * shown[1]:
        yield f"{shown} KiB"
    if page.run(SELECTED):
        yield f"{page.run(SELECTED)} is selected"
    yield from page.noticed()
    page.close()


def check_drag(pages):
    """A drag over time chooses; what was chosen is in the address, and is there again."""
    page, _, data = pages.open(CASES["a Rust guest"])
    box = page.run("(() => { const c = document.querySelector('#time canvas.cells'); c.scrollIntoView({block: 'center'});"
                   "const b = c.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
    y = box[1] + box[3] / 3
    for kind, x in (("mousePressed", .3), ("mouseMoved", .45), ("mouseMoved", .6),
                    ("mouseReleased", .6)):
        page.call("Input.dispatchMouseEvent", type=kind, x=box[0] + box[2] * x, y=y,
                  button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)
    chosen = page.run("location.hash")
    start, stop = (int(n) for n in re.search(r"range=(\d+)-(\d+)", chosen).groups())
    n = data["time"]["n"]
    if not (abs(start - .3 * n) < 3 and abs(stop - .6 * n) < 3):
        yield f"{chosen} of {n} slices"
    cells = page.run(CELLS)
    page.close()
    path, _, _ = pages.write(*CASES["a Rust guest"])
    page = Page(pages.browser, path, fragment=chosen)
    page.run(READY)
    if page.run(CELLS)[:5] != cells[:5]:
        yield f"{chosen} shows {page.run(CELLS)[:5]}, not {cells[:5]}"
    page.close()


def check_without_scripts(pages):
    path, report, _ = pages.write(*CASES["a Rust guest"])
    if not pages.browser:
        raise Skip("no browser")
    page = Page(pages.browser, path)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.reload")
    pages.browser.wait("Page.loadEventFired", page.session)
    page.call("Emulation.setScriptExecutionDisabled", value=False)
    cells = page.run(CELLS)
    if len(cells) != min(200, len(report["functions"])) or \
            report["functions"][0]["name"] not in cells[0]:
        yield f"{len(cells)} rows, first {cells[:1]}"
    if "OK" not in page.run("document.querySelector('#answer .good').innerText"):
        yield "no answer"
    page.close()


def check_narrow(pages):
    """No width scrolls sideways, light or dark; and it prints."""
    for width in 390, 700, 1000, 1600, 2000:
        page, _, _ = pages.open(CASES["with callers"], width=width, dark=width == 1000)
        wide = page.run("document.documentElement.scrollWidth")
        if wide > width:
            yield f"{width}: {wide} wide"
        if width == 1000:
            pdf = base64.b64decode(page.call("Page.printToPDF")["data"])
            if not pdf.startswith(b"%PDF") or len(pdf) < 10000:
                yield f"a PDF of {len(pdf)} bytes"
        yield from page.noticed()
        page.close()


def many_functions(folder, n):
    names = [f"f{i}".encode() for i in range(n)]
    at = [1 + sum(len(name) + 1 for name in names[:i]) for i in range(n)]
    paths = [os.path.join(folder, name) for name in ("many.elf", "many.data")]
    elf = forged.Elf(16 * n).symbols([(at[i], forged.TEXT + 16 * i, 16) for i in range(n)],
                                     b"\0" + b"\0".join(names) + b"\0")
    records = [forged.sample(ip=forged.TEXT + 16 * i + k, time=1000 * i + k)
               for i in range(n) for k in range(3)]
    for path, data in zip(paths, (elf.build(), forged.recording(b"".join(records)))):
        with open(path, "wb") as f:
            f.write(data)
    return (*paths, "--force")


def check_paper(pages):
    """What is printed has as many rows as without scripts, and no room for others."""
    page, report, _ = pages.open(many_functions(pages.folder, 250))
    page.run("addEventListener('beforeprint', () => { window.printed = "
             "document.querySelectorAll('tr[data-row]').length; const rest = "
             "document.querySelector('#functions > .unsure-line ~ .summary');"
             "window.rest = rest.hidden ? '' : rest.textContent; }); 1")
    shown = page.run(CELLS)
    if not page.call("Page.printToPDF")["data"]:
        yield "no PDF"
    if page.run("window.printed") != min(200, len(report["functions"])):
        yield f"{page.run('window.printed')} rows of {len(report['functions'])} are printed"
    if page.run("window.rest") != "50 more rows are not printed.":
        yield f"said: {page.run('window.rest')}"
    if page.run("document.querySelector('#functions > .unsure-line ~ .summary').hidden") is not True:
        yield "what is not printed is said on the screen"
    if page.run(CELLS)[:len(shown)] != shown:
        yield "what is on the screen is not as it was before"
    page.call("Emulation.setEmulatedMedia", media="print")
    high = page.run("[...document.querySelectorAll('.spacer')].reduce("
                    "(sum, row) => sum + row.getBoundingClientRect().height, 0)")
    if high:
        yield f"{high} pixels of blank paper"
    page.close()


def check_inclusive(pages):
    """Inclusive shares of a range are those of --time=, but of functions that share a name."""
    words = CASES["with callers"]
    page, report, data = pages.open(words, fragment="#range=3-12")
    heads = page.run("[...document.querySelectorAll('#function-table thead th')].map("
                     "th => th.dataset.key)")
    at, by_name, rows = heads.index("with"), {}, data["rows"]["name"]
    there = report_of(pages.build, *words, "--children", bounds_of(report, data, 3, 12))
    for child in there["children"]:
        by_name.setdefault(child["name"], f"{child['percent']:.2f} %")
    shown = page.run("document.querySelector('[data-key=with] button').click();" + CELLS)
    known = [(cells[heads.index("name")].removesuffix(" only called from").removesuffix(
        " label"), cells[at]) for cells in shown]
    for name, share in known:
        right = "" if rows.count(name) > 1 else by_name.get(name, "0.00 %")
        if share != right:
            yield f"{name}: {share} with callees, not {right}"
    if len({share for _, share in known}) < 5:
        yield f"too few shares: {known}"
    page.run("document.querySelector('#time .cells').dispatchEvent("
             "new KeyboardEvent('keydown', {key: 'Escape'}))")
    if not all(cells[at] for cells in page.run(CELLS)):
        yield "no inclusive shares of the whole"
    yield from page.noticed()
    page.close()


def check_links(pages):
    """A link leads to the row that it was made from; what it cannot mean is as if not said."""
    chosen = "document.querySelector('tr[aria-selected=true]')?.dataset.row"
    page, _, data = pages.open(CASES["a Rust guest"])
    names, tried = data["rows"]["name"], 0
    for row in [i for i, name in enumerate(names) if names.count(name) > 1][:4]:
        page.run(f"document.getElementById('search').value = {json.dumps(names[row])};"
                 "document.getElementById('search').dispatchEvent(new Event('input'))")
        page.run(f"document.querySelector('tr[data-row=\"{row}\"]').click()")
        link, tried = page.run("location.hash"), tried + 1
        there, _, _ = pages.open(CASES["a Rust guest"], fragment=link)
        if there.run(chosen) != str(row):
            yield f"{link} selects {there.run(chosen)}, not {row}"
        there.close()
    if tried < 2:
        yield "no two rows have one name: nothing is tested"
    page.close()
    for link in "#range=5000-6000", f"#range={'9' * 20}-{'9' * 21}", "#range=3-2", "#range=x":
        page, report, _ = pages.open(CASES["a Rust guest"], fragment=link)
        said = page.run("document.querySelector('#time .said').textContent")
        if "Whole time" not in said or page.run(CELLS)[0][0] != \
                f"{report['functions'][0]['percent']:.2f} %":
            yield f"{link}: {said}"
        yield from page.noticed()
        page.close()


def check_addresses(pages):
    """Editing what is behind # acts as a new link does; links to sections keep what is chosen."""
    page, report, _ = pages.open(CASES["a Rust guest"])
    names = [f["name"] for f in report["functions"]]
    settled = "new Promise(f => setTimeout(() => requestAnimationFrame(() => f(location.hash)), 50))"
    page.run(f"location.hash = 'function={names[1]}&search=e&range=0-9'")
    page.run(settled)
    if page.run(SELECTED) != names[1] or page.run("document.getElementById('search').value") != "e":
        yield f"an edited address selects {page.run(SELECTED)}"
    kept = page.run("location.hash")
    if "range=0-" not in kept:
        yield f"an edited address has {kept}"
    page.run("document.querySelector('nav a[href=\"#time\"]').click()")
    if page.run(settled) != kept or page.run("scrollY") < 300:
        yield f"a link to a section has {page.run('location.hash')}, not {kept}"
    page.run(f"location.hash = 'function={names[2]}'")
    state = page.run(settled)
    if state != "#" + urllib.parse.urlencode({"function": names[2]}) or page.run("document.getElementById('search').value"):
        yield f"what the address no longer says stays: {state}"
    page.run("location.hash = 'function=nosuch'")
    page.run(settled)
    page.run("document.querySelector('nav a[href=\"#image\"]').click()")
    if page.run(settled) != "#image":
        yield f"a link to a section, with nothing chosen, has {page.run('location.hash')}"
    yield from page.noticed()
    page.close()


def check_wheel(pages):
    """A wheel that scrolls the table takes the keys away from no row."""
    page, report, _ = pages.open(CASES["a Rust guest"])
    names = [f["name"] for f in report["functions"]]
    page.run("document.querySelector('tr[data-row=\"0\"]').focus()")
    for top in 300, 1500, 300, 3000:
        page.run("new Promise(f => { document.querySelector('.scroll.live').scrollTop = "
                 f"{top}; requestAnimationFrame(() => setTimeout(f)); }})")
    page.key("ArrowDown")
    if page.run(SELECTED) != names[1]:
        yield f"a key selects {page.run(SELECTED)}, not {names[1]}"
    if page.run("document.activeElement.dataset.row") != "1":
        yield f"{page.run('document.activeElement.outerHTML.slice(0, 80)')} has the keys"
    page.close()


def check_small(pages):
    """Hot cache lines have no more code than there is: at their ends they have other bytes. Gaps
    are code, too."""
    elf, data = (os.path.join(pages.folder, name) for name in ("small.elf", "small.data"))
    for size, said in (112, "112 bytes of 112 bytes: 2 cache"), (1040, "80 bytes of 1.0 KiB: 2 cache"):
        with open(elf, "wb") as f:
            f.write(forged.Elf(size).symbols([(1, forged.TEXT, size // 2)], b"\0code\0").build())
        with open(data, "wb") as f: # the first line and the last
            f.write(forged.recording(b"".join(forged.sample(ip=forged.TEXT + at, time=at)
                                              for at in (0, 1, 2, 3, size - 1, size - 2, size - 3))))
        html, _ = page_of(pages.build, elf, data, "--force")
        if "is in " + said not in html:
            yield re.search("90 % of the time in code[^<]*", html)[0]


def check_same_names(pages):
    """A frame is of all functions of its name: it selects none of several, and shows either."""
    page, _, data = pages.open(CASES["with callers"])
    names, flame = data["rows"]["name"], data["flame"]
    guest = {flame["names"][n] for n, kind in zip(flame["name"], flame["kind"]) if kind == 3}
    twice = [n for n in dict.fromkeys(names) if names.count(n) > 1 and n in guest]
    if not twice:
        yield "no two functions have one name: nothing is tested"
    for name in twice[:2]:
        for row in [i for i, other in enumerate(names) if other == name]:
            page.run(f"location.hash = {json.dumps(f'nth={names[:row].count(name)}&function=')} + "
                     f"encodeURIComponent({json.dumps(name)})")
            page.run("new Promise(f => setTimeout(f, 50))")
            if not page.run("document.querySelectorAll('#flame .chosen').length"):
                yield f"the flame graph does not show row {row}, {name}"
        node = next(i for i, n in enumerate(flame["name"])
                    if n >= 0 and flame["names"][n] == name and flame["kind"][i] == 3)
        page.run("location.hash = 'function=nosuch'")
        page.run("new Promise(f => setTimeout(f, 50))")
        page.run(f"document.querySelector('#flame g[data-node=\"{node}\"]')?.dispatchEvent("
                 "new Event('click', {bubbles: true}))")
        said = page.run("document.querySelector('#flame .said').textContent")
        if page.run(SELECTED) or "functions of this name" not in said:
            yield f"{name}: {page.run(SELECTED)} is selected, {said}"
    page.close()


def check_diff(pages):
    """The comparison's rows are those of JSON; what is selected is so in both images."""
    before, after = f"{DATA}/demo-user.data", f"{DATA}/demo-kernel.data"
    words = ("-q", f"{DATA}/demo.elf", before, after)
    html = must(hlguest_of(pages.build), "diff", "--format=html", *words)
    out, err, _ = run(hlguest_of(pages.build), "diff", "--format=json", *words)
    if "libjansson-dev" in err:
        raise Skip("not built with jansson")
    rows = json.loads(out)["functions"]
    found = re.findall(r'<tr data-row="\d+" class="(\w+)"><td>([^<]*)</td>(.*?)</tr>', html, re.S)
    for (kind, change, rest), row in zip(found, rows):
        name = re.search(r'<th scope="row">([^<]*)', rest)[1].rstrip()
        right = "chance" if not row["significant"] else "grew" if row["points"] > 0 else "shrank"
        shares = re.findall(r"<td>([\d.]+) %</td>", rest)
        theirs = [f"{row[side]['percent']:.2f}" for side in ("before", "after")
                  if row[side]["samples"]]
        if kind != right or shares != theirs or name != row["name"].replace("<", "&lt;").replace(
                ">", "&gt;"):
            yield f"{name}, {kind}, {change}, {shares}: not {row}"
    if len(found) != len(rows):
        yield f"{len(found)} rows, not {len(rows)}"
    for side in "before", "after":  # the images' shares are the rows'
        data = page_data(html, f"data-{side}")
        ours = {name: f"{100 * n / data['total'] + 1e-9:.2f}"
                for name, n in zip(data["rows"]["name"], data["rows"]["count"])}
        theirs = {row["name"]: f"{row[side]['percent']:.2f}" for row in rows
                  if row[side]["samples"] and row["kind"] != "border"}
        if ours != theirs or len(theirs) == len(rows):
            yield f"image {side}: {ours}, not {theirs}"
    if re.search("<[0-9]", html.split("<script")[0]):
        yield "a figure below a limit is markup"
    path = os.path.join(pages.folder, "diff.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(html)
    if not pages.browser:
        raise Skip("no browser")
    for width in 390, 700, 1000, 1200:
        page = Page(pages.browser, path, width=width)
        page.run(READY)
        shown = page.run("[...document.querySelectorAll('#function-table thead th')].filter("
                         "cell => cell.offsetWidth).map(cell => cell.textContent)")
        if not {"change", "before", "after", "from", "to"} <= set(shown):
            yield f"{width}: {shown}"
        if page.run("document.documentElement.scrollWidth") > width:
            yield f"{width}: {page.run('document.documentElement.scrollWidth')} wide"
        heads, cells = ([round(x) for x in page.run(
            f"[...document.querySelectorAll('#function-table {part} tr:first-child > *')].filter("
            "cell => cell.offsetWidth).map(cell => cell.getBoundingClientRect().right)")]
            for part in ("thead", "tbody"))
        if heads != cells:
            yield f"{width}: headings end at {heads}, cells at {cells}"
        cut = page.run("[...document.querySelectorAll('tbody th')].filter(th => th.scrollWidth > "
                       "th.clientWidth).map(th => th.textContent)")
        if cut and width < 1000:
            yield f"{width}: {cut} are cut"
        page.run("document.querySelector('tr[data-row=\"1\"]').click()")
        name = page.run("document.querySelector('tr[aria-selected=true] th').textContent")
        for side in "before", "after":
            said = page.run(f"document.getElementById('image-{side}').innerText + [...document"
                            f".querySelectorAll('#image-{side} canvas')].map(c => c.ariaLabel)")
            if name.strip() not in said:
                yield f"{side}: {name} is not selected: {said[-300:]}"
        page.run("document.activeElement.blur()")
        page.key("/", "/")
        page.write("hash")
        shown = "[...document.querySelectorAll('tr[data-row]')].filter(tr => !tr.hidden).length"
        if not 0 < page.run(shown) < len(rows):
            yield f"a filter leaves {page.run(shown)} of {len(rows)} rows"
        page.key("Escape")
        if page.run(shown) != len(rows):
            yield "Escape does not show all"
        yield from page.noticed()
        page.close()


def check_names(pages):
    """Where a name has no room its last part stays; and a row is copied as one line."""
    page, report, _ = pages.open(CASES["a Rust guest"], width=390)
    ends = page.run("""[...document.querySelectorAll('tr[data-row] .ends')].map(box =>
        [box.parentNode.title, ...[...box.children].slice(0, 2).map(
            end => [end.textContent, end.scrollWidth > end.clientWidth])])""")
    cut = [name for name, front, _ in ends if front[1]]
    if not cut:
        yield "no name is cut: nothing is tested"
    for name, front, last in ends:
        if front[0] + last[0] != name or last[1] and len(last[0]) < 15:
            yield f"{name}: {front}, {last}"
    copied = page.run("""(() => { const range = document.createRange();
        range.selectNodeContents(document.querySelector('tr[data-row] + tr'));
        getSelection().addRange(range); return getSelection().toString(); })()""")
    if "\n" in copied or report["functions"][1]["name"] not in copied:
        yield f"copied: {copied}"
    page.close()


def every_page(pages):
    """(name, path) of a page of each kind that this machine can make."""
    def made(name, *argv, end="html"):
        path = os.path.join(pages.folder, f"{name}.{end}")
        _, err, status = run(hlguest_of(pages.build), *argv, "-q", "-o", path)
        if status not in (0, 3):
            raise RuntimeError(f"{name}: {err}")
        return name, path

    demo = f"{DATA}/demo.elf"
    for name in "with callers", "the wrong base", "several recordings":
        yield made(name, "report", "--format=html", *CASES[name])
    yield made("diff", "diff", "--format=html", demo, f"{DATA}/demo-user.data", f"{DATA}/demo-kernel.data")
    yield made("exits", "exits", "--format=html", *CASES["VM exits"])
    yield made("windows", "windows", "--format=html", demo, f"{DATA}/demo-windows.data")
    yield made("pairs", "windows", "--between=port:101..port:101", "--format=html", demo,
               f"{DATA}/demo-calls.data")
    yield made("flame", "flame", *CASES["with callers"], end="svg")
    yield made("calibrate", "calibrate", "--format=html", "--operations=1000", "--runs=2", "--time=20")


def check_accessible(pages):
    """axe-core, of npm, finds nothing against WCAG 2.2 AA. HLG_AXE is its axe.min.js."""
    if not os.environ.get("HLG_AXE"):
        raise Skip("HLG_AXE does not say where axe.min.js is (npm install axe-core)")
    with open(os.environ["HLG_AXE"], encoding="utf-8") as f:
        axe = f.read()
    if not pages.browser:
        raise Skip("no browser")
    for name, path in every_page(pages):
        for dark in False, True:
            page = Page(pages.browser, path, dark=dark)
            page.call("Page.setBypassCSP", enabled=True)
            page.call("Page.reload")
            pages.browser.wait("Page.loadEventFired", page.session)
            if "<script>" in page.run("document.documentElement.innerHTML"):
                page.run(READY)
            page.run("document.querySelector('tr[data-row]')?.click();"
                     "document.querySelectorAll('details').forEach(d => { d.open = true; });"
                     "new Promise(f => setTimeout(f, 100))")
            page.run(axe + "; 1")
            found = page.run("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa',"
                             "'wcag22aa', 'best-practice']}).then(r => r.violations.map(v =>"
                             "v.help + ': ' + v.nodes[0].html))")
            yield from (f"{name}, {'dark' if dark else 'light'}: {line}" for line in found)
            page.close()


def check_valid(pages):
    """html-validate, of npm, finds nothing. HLG_HTML_VALIDATE is that program."""
    program = os.environ.get("HLG_HTML_VALIDATE")
    if not program:
        raise Skip("HLG_HTML_VALIDATE does not say what runs html-validate (of npm)")
    config = os.path.join(pages.folder, ".htmlvalidate.json")
    with open(config, "w", encoding="utf-8") as f:
        f.write('{"extends": ["html-validate:recommended"]}')
    for name, path in every_page(pages):
        if path.endswith(".svg"):
            continue
        out, _, status = run(program, "--config", config, path)
        if status:
            yield f"{name}: {out[:500]}"


def main():
    build = parser(__doc__).parse_args().build
    tap = Tap()
    for name, words in CASES.items():
        tap.run(f"rows: {name}", lambda w=words: list(check_rows(build, w)))
        tap.run(f"spans: {name}", lambda w=words: list(check_spans(build, w)))
    for name in ("a Rust guest", "threads", "with callers", "samples as weight"):
        tap.run(f"time: {name}", lambda w=CASES[name]: list(check_time(build, w)))
    tap.run("instructions", lambda: list(check_code(build, CASES["a Rust guest"])))
    tap.run("flame", lambda: list(check_flame(build, CASES["with callers"])))
    tap.run("recordings", lambda: list(check_files(build, CASES["several recordings"])))
    demo = CASES["several recordings"]
    tap.run("time of several recordings", lambda: list(check_recordings(build, demo, demo[1:])))
    tap.run("refused", lambda: list(check_refused(build)))
    tap.run("from a pipe", lambda: list(check_pipe(build)))
    tap.run("policy", lambda: list(check_policy(build)))
    with tempfile.TemporaryDirectory() as folder:
        tap.run("lost events", lambda: list(check_lost(build, folder)))
        tap.run("lines of the source", lambda: list(check_lines(build, folder)))
        tap.run("what each sample weighs", lambda: list(check_each(build, folder)))
        tap.run("VM exits in time", lambda: list(check_exits(build)))
        tap.run("callers of VM exits", lambda: list(check_exit_callers(build, folder)))
        pages = Pages(build, folder)
        for name in ("a Rust guest", "with callers", "VM exits", "several guests"):
            tap.run(f"shown: {name}", lambda w=CASES[name]: list(check_shown(pages, w)))
        for what, check in (("sorted and filtered", check_sorted), ("selected", check_selected),
                            ("a range of time", check_range), ("a part of all", check_parts), ("an event's count", check_counted),
                            ("the flame graph of a range", check_flame_range),
                            ("a drag", check_drag), ("a pinch", check_pinch), ("a comparison", check_diff),
                            ("without scripts", check_without_scripts),
                            ("narrow, dark, printed", check_narrow),
                            ("on paper", check_paper), ("links", check_links),
                            ("inclusive shares in a range", check_inclusive),
                            ("long names", check_names), ("an edited address", check_addresses),
                            ("the wheel and the keys", check_wheel),
                            ("little code", check_small),
                            ("functions of one name", check_same_names),
                            ("axe-core", check_accessible), ("html-validate", check_valid)):
            tap.run(what, lambda c=check: list(c(pages)))
        tap.run("addresses far from each other", lambda: list(check_far(pages)))
        if pages.browser:
            pages.browser.close()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
