# SPDX-License-Identifier: GPL-2.0-only
"""A figure is the same wherever it stands: in every format, in rows and their sum, in what was
saved, and in whatever order recordings are named.
"""
import collections
import csv
import io
import json
import os
import re

import inputs
import splice
from bed import Broken, same, stacks_of
from known_exits import BASE, ELF, Known
from programs import page_data
from tap import DATA

UNITS = ("samples", "period")
KINDS = ("function", "label", "gap")
MOST = 2 ** 63 - 1  # that JSON has a number for
ALL = ("--force", "--top=0", "-q")


def pick(rng, *choices):
    return rng.choice(choices)


def added(rows, *keys):
    """{(key, unit): sum}, without zeros."""
    total = collections.Counter()
    for row in rows:
        for unit in UNITS:
            total[(*(row[k] for k in keys), unit)] += row[unit]
    return +total


def of_total(totals, *names):
    return +collections.Counter({(unit,): sum(totals[n][unit] for n in names)
                                 for unit in UNITS})


def passed(document):
    """Sums of periods that passed 2^64 are wrong, and said to be."""
    return document["totals"]["seen"]["period"] >= MOST or any(
        "2^64" in note for note in document["notes"])


def check_rows(what, document, gaps, border):
    """Rows, of which there are all, add up to the totals."""
    totals = document["totals"]
    same(f"{what}: seen", of_total(totals, "seen"),
         of_total(totals, "deselected", "host", "guest"))
    if "functions" in document:
        check_guest(what, document, gaps, border)
    if "host" in document:
        same(f"{what}: host", of_total(totals, "host"), added(document["host"]))


def check_guest(what, document, gaps, border):
    totals = document["totals"]
    same(f"{what}: guest", of_total(totals, "guest"),
         of_total(totals, *KINDS, "data", "outside", "border"))
    rows, whole = added(document["functions"], "kind"), of_total(totals, *KINDS)
    whole.subtract(of_total(totals, "dropped"))
    same(f"{what}: functions", +whole, added(document["functions"]))
    if gaps == "retag":
        same(f"{what}: kinds", +collections.Counter(
            {(k, u): totals[k][u] for k in KINDS for u in UNITS}), rows)
    if border != "drop":
        same(f"{what}: border", of_total(totals, "border"), added(document["border"]))
    same(f"{what}: events", of_total(totals, "guest"), added(document["events"]))
    whole.update(of_total(totals, "data", "outside"))
    same(f"{what}: regions", +whole, added(document["regions"]))
    same(f"{what}: other", of_total(totals, "data", "outside"), added(document["other"]))
    for part in ("functions", "other", "border", "regions"):
        for f in document[part]:
            if f["series"]:
                same(f"{what}: series of {part}", added([f]), added(f["series"].values()))


def rows_of_json(document):
    """As CSV has them: a row for each series."""
    found = collections.Counter()

    def add(record, name, image, addr, series, count):
        for unit in UNITS:
            found[record, name, image, addr, series, unit] += count[unit]

    for name, count in document["totals"].items():
        if name != "states":
            add("total", name, "", "", "", count)
    for part, record in (("functions", "function"), ("other", "other"),
                         ("border", "border")):
        for f in document.get(part, ()):
            for series, count in (f["series"] or {"": f}).items():
                add(record, f["name"], f["image"] or "", f["addr"] or "", series, count)
    for f in document.get("host", ()):
        add("host", f["name"], f["dso"], "", f["series"] or "", f)
    for f in document["events"]:
        add("event", f["name"], "", "", "", f)
    return +found


def rows_of_csv(out):
    found = collections.Counter()
    for row in csv.DictReader(io.StringIO(out.decode("utf-8", "replace"), newline="")):
        if row["record"] in ("total", "function", "other", "border", "host", "event"):
            for unit in UNITS:
                found[row["record"], row["name"], row["image"], row["addr"], row["series"],
                      unit] += int(row[unit])
    return +found


SUMS = {"all": "seen", "filtered out": "deselected", "host": "host", "guest": "guest",
        "function": "function", "label": "label", "gap": "gap", "VM exits": "border",
        "data": "data", "outside": "outside", "padding": "padding"}


def check_text(what, out, document):
    """The sums of --verbose, and the samples of its rows."""
    text, totals = out.decode("utf-8", "replace"), document["totals"]
    told = {SUMS[name]: {"samples": int(samples), "period": int(period)}
            for name, samples, period in re.findall(
                r"^ *([a-zA-Z ]+?)  +(\d+) +(\d+) +[\d.]+ %$", text, re.M) if name in SUMS}
    same(f"{what}: sums of text", {k: totals[k] for k in told}, told)
    if len(told) < 4:
        raise Broken(f"{what}: no sums in text: {told}")
    if "functions" not in document:
        return
    rows = re.findall(r"^ *[\d.]+ % .*?(\d+) +(\d+) +(?:\d+|-)  \S.*$", text, re.M)
    same(f"{what}: rows of text", [totals["guest"][u] - totals["dropped"][u] -
                                   totals["border"][u] for u in UNITS],
         [sum(int(row[i]) for row in rows) for i in (1, 0)])
    found = re.findall(r"^ +[\d.]+ % +(\d+)  __vm_exit__ in ", text, re.M)
    same(f"{what}: border of text", added(document["border"])[("samples",)],
         sum(map(int, found)))


def check_others(what, make, document):
    """Formats of other viewers have what is shown: the guest's, the host's, or both."""
    totals, shown = document["totals"], [p for p in ("guest", "host") if
                                         (p == "host" and "host" in document) or
                                         (p == "guest" and "functions" in document)]
    out = ["dropped"] * ("guest" in shown) + ["border"] * ("guest" in shown and
                                                           not document["border"])
    want = {u: sum(totals[p][u] for p in shown) - sum(totals[p][u] for p in out) for u in UNITS}
    for unit in UNITS:
        same(f"{what}: folded, {unit}", [want[unit]],
             [sum(stacks_of(make("folded", f"--weight={unit}")).values())])
    for one in json.loads(make("speedscope"))["profiles"]:
        same(f"{what}: speedscope, {one['name']}", [want[one["name"]]] * 2,
             [one["endValue"], sum(one["weights"])])
    same(f"{what}: callgrind", [want] * 2, callgrind(make("callgrind").decode()))


def check_page(what, html, document):
    """What its scripts draw from."""
    page = page_data(html)
    unit, totals = page["weight"], document["totals"]
    untimed = re.search(r"Without a time: (\d+) guest and (\d+) host samples", html)
    guest, host = map(int, untimed.groups() if untimed else (0, 0))
    drawn = totals["guest"][unit] - totals["dropped"][unit] - totals["border"][unit]
    for part in ("rows", "addresses", "where"):  # the last only where there are times
        if part in page and not (part == "where" and guest):
            same(f"{what}: {part} of the page", [drawn] * 2, [
                page["total"], sum(page[part]["count"])])
    if unit == "samples" and guest and "where" in page and not totals["dropped"][unit]:
        same(f"{what}: samples with times of the page", drawn - guest,
             sum(page["where"]["count"]))
    if "span" in document and guest + host == 0:
        same(f"{what}: time of the page", totals["guest"][unit] + totals["host"][unit],
             sum(page["time"]["count"]))


def callgrind(text):
    """The sums of its lines, and those that it says: all columns of a unit together."""
    columns = re.search(r"^events: (.*)$", text, re.M)[1].lower().split()
    itself = re.sub(r"^calls=.*\n.*\n", "", text, flags=re.M)
    lines = [line.split()[2:] for line in re.findall(r"^0x.*$", itself, re.M)]
    told = re.search(r"^totals: (.*)$", text, re.M)[1].split()
    return [{unit: sum(int(n) for line in some for n, column in zip(line, columns)
                       if unit in column) for unit in UNITS} for some in (lines, [told])]


def check_formats(bed, rng, guest, rec, data):
    gaps, border = pick(rng, "retag", "drop", "stretch"), pick(rng, "split", "keep", "drop")
    more = [f"--gaps={gaps}", f"--border={border}",
            "--mode=" + pick(rng, "all", "guest", "guest", "host"),
            "--by=" + pick(rng, "event", "tid", "pid,cpu", "event,tid")]
    what = " ".join(["report", *more])
    document = bed.json("report", *ALL, *more, guest, *data)
    if document is None or passed(document):
        return

    def make(form, *words):
        got = bed.run("report", *ALL, *more, f"--format={form}", *words, guest, *data)
        if got.status not in (0, 3):
            raise Broken(f"{what} --format={form}: status {got.status}: {got.err[-300:]}")
        return got.out

    check_rows(what, document, gaps, border)
    same(f"{what}: rows of CSV", rows_of_json(document), rows_of_csv(make("csv")))
    check_text(what, make("text", "--verbose", "--wide", "--raw", "--regions=0"), document)
    check_others(what, make, document)
    if "functions" in document:
        more.pop()  # the page has no --by
        check_page(what, make("html").decode(), document)


def check_annotate(bed, rng, guest, rec, data):
    """An instruction's samples are of one function, whose samples they are."""
    by = "--by=" + pick(rng, "event", "tid", "pid,cpu", "event,tid")
    listed = bed.json("annotate", "--force", "-q", "--top=0", by, guest, *data)
    document = bed.json("report", *ALL, "--border=keep", by, guest, *data)
    if listed is None or document is None or passed(document):
        return
    rows = collections.Counter()
    for f in listed["functions"]:
        for part in ("lines", "sums"):
            of = f[part] if part == "lines" else f[part].values()
            same(f"annotate {by}: {part} of {f['name']}", added([f]), added(of))
        for unit in UNITS if f["kind"] in KINDS else ():
            rows[f["kind"], f["name"], f["addr"], f["series"] or "", unit] += f[unit]
    same(f"annotate {by}: all", of_total(document["totals"], "guest"),
         added(listed["functions"]))
    want = collections.Counter()
    for f in document["functions"]:
        for series, count in (f["series"] or {"": f}).items():
            for unit in UNITS:
                want[f["kind"], f["name"], f["addr"], series, unit] += count[unit]
    same(f"annotate {by} and report", +want, +rows)


def check_flame(bed, rng, guest, rec, data):
    """The root is all that is shown, and no frame is wider than what it lies on."""
    more = ["--mode=" + pick(rng, "all", "guest", "host"), "--min=0", "--force", "-q",
            "--weight=samples", "--border=" + pick(rng, "split", "keep", "drop"),
            *pick(rng, [], ["--inverted"])]
    what = " ".join(["flame", *more])
    folded = bed.run("flame", *more[:-1] if "--inverted" in more else more, "--format=folded",
                     guest, *data)
    got = bed.run("flame", *more, guest, *data)
    same(f"{what}: status", folded.status, got.status)
    if got.status == 1:
        return
    frames = [tuple(map(int, f)) for f in re.findall(
        rb'data-at="(\d+)" data-n="(\d+)" data-d="(\d+)"', got.out)]
    same(f"{what}: root", sum(stacks_of(folded.out).values()), frames[0][1])
    levels = collections.defaultdict(list)
    for at, n, depth in frames:
        levels[depth].append((at, at + n))
    for depth in range(1, len(levels)):
        below = levels[depth - 1]
        for at, end in levels[depth]:
            if not any(a <= at and end <= b for a, b in below):
                raise Broken(f"{what}: a frame of depth {depth} lies on none: {at} to {end}")
        ends = sorted(levels[depth])
        if any(end > at for (_, end), (at, _) in zip(ends, ends[1:])):
            raise Broken(f"{what}: frames of depth {depth} overlap")


def check_exits(bed, rng):
    """Every exit has one reason, one function, one port and one vCPU; CSV has what JSON has."""
    isa = pick(rng, 1, 2)
    path = bed.place("exits.data")
    Known(rng.getrandbits(30), isa, pick(rng, splice.NEW, splice.OLD, splice.MOVED),
          rng.random() < .5, pairs=rng.choice((20, 100))).write(path)
    if rng.random() < .3:
        with open(path, "rb") as f:
            broken = inputs.damage(rng, f.read(), 104)
        bed.write(broken, "exits.data")
    argv = ("-q", "--top=0", *pick(rng, (), ("--exact",)), f"{ELF}@{BASE:#x}", path)
    document = bed.json("exits", *argv)
    if document is None:
        return
    rows = collections.Counter()
    for table in document["tables"]:
        for row in table["rows"]:
            for column in ("count", "total_ns"):
                rows[table["by"], row["name"], column] += min(MOST, row[column])
        if (table["by"], table["kind"]) != ("reason", "vmm") and table["by"] != "call":
            # Where there is no exit, tables are of the VMM's part.
            same(f"exits by {table['by']}", document["pairs"][table["kind"]],
                 sum(row["count"] for row in table["rows"]))
            same(f"time of exits by {table['by']}",
                 min(MOST, document["time"].get("kernel_ns", 0) * (table["kind"] == "exit") +
                     document["time"]["vmm_ns"]),
                 min(MOST, sum(row["total_ns"] for row in table["rows"])))
    for kind, name in (("exit", "kvm_exit to kvm_entry"), ("between", "between guest calls"),
                       ("vmm", "kvm_userspace_exit to KVM_RUN")):
        rows["pairs", name, "count"] = document["pairs"][kind]
        rows["pairs", name, "total_ns"] = min(MOST, document["pairs_ns"][kind])
    table = collections.Counter()
    for row in csv.DictReader(io.StringIO(bed.run("exits", *argv, "--format=csv").out.decode())):
        if row["kind"] and row["total"]:
            table[row["record"], row["name"], "count"] += int(row["count"])
            table[row["record"], row["name"], "total_ns"] += min(MOST, int(row["total"]))
    same("rows of exits in CSV", +rows, +table)


def check_windows(bed, rng):
    """Windows of each function add up to its row, and CSV has the same windows."""
    time = rng.uniform(17266.9, 17268)
    with open(os.path.join(DATA, "demo-windows.data"), "rb") as f:
        data = f.read()
    path = bed.write(inputs.damage(rng, data, 104) if rng.random() < .5 else data, "w.data")
    argv = ("-q", *pick(rng, [], [f"--time=,{time:.6f}"], [f"--time={time:.6f},"],
                        ["--mode=guest"]), f"{ELF}@{BASE:#x}", path)
    document = bed.json("windows", *argv)
    if document is None:
        return
    want = collections.defaultdict(lambda: [0, *[0] * len(document["events"])])
    for window in document["windows"]:
        want[window["function"]] = [a + b for a, b in zip(want[window["function"]],
                                                          (1, *window["counts"]))]
    same("windows", dict(want), {f["function"]: [f["windows"], *f["counts"]]
                                 for f in document["functions"]})
    # By place: damage can give two events one name.
    rows = [row for row in csv.reader(io.StringIO(
        bed.run("windows", *argv, "--format=csv").out.decode("utf-8", "replace")))
        if row[0] == "window"]
    same("windows of CSV", [(w["function"], w["tid"], *w["counts"], w["mark"])
                            for w in document["windows"]],
         [(row[1], int(row[4]) if row[4] else None, *map(int, row[6:-1]), row[-1])
          for row in rows])


def check_children(bed, rng, guest, rec, data):
    """A function has the stacks that it stands in, once each, and what it calls is of these."""
    tree = pick(rng, "caller", "callee")
    document = bed.json("report", *ALL, "--border=keep", "--children", "-g", tree, guest, *data)
    if document is None or passed(document):
        return
    stacks = document["stacks"]["list"]
    same("stacks", of_total(document["totals"], "guest"), added(stacks))
    rows = {f["name"]: f for f in document["functions"]}
    names = collections.Counter(f["name"] for f in document["children"])
    for f in document["children"]:
        if names[f["name"]] > 1:
            continue
        same(f"children of {f['name']}", added([f]),
             added(s for s in stacks if f["name"] in s["frames"]))
        same(f"self of {f['name']}", added([f["self"]]),
             added(s for s in stacks if f["name"] == s["frames"][-1]))
        if f["kind"] in KINDS:
            same(f"self and row of {f['name']}", added([f["self"]]),
                 added([rows[f["name"]]] if f["name"] in rows else []))
        check_calls(f, f["callee_tree" if tree == "caller" else "caller_tree"])


def check_calls(function, tree):
    """No call has more than what is around it."""
    within = collections.Counter()
    for node in tree:
        within[node["parent"]] += node["samples"]
    for parent, samples in within.items():
        most = function if parent is None else tree[parent]
        if samples > most["samples"]:
            raise Broken(f"calls of {function['name']}: {samples} in {most['samples']}")
