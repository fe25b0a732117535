# SPDX-License-Identifier: GPL-2.0-only
"""The filter's JSON, CSV and text, read back into one shape, and its sums added up."""
import collections
import csv
import io
import json
import re

KINDS = ("function", "label", "gap", "data", "outside")

Row = collections.namedtuple("Row", "kind name addr size")  # addr, size: None outside


class Count:
    def __init__(self, samples=0, period=0):
        self.samples, self.period = samples, period

    def add(self, samples, period):
        self.samples += samples
        self.period += period

    def __eq__(self, other):
        return (self.samples, self.period) == (other.samples, other.period)

    def __repr__(self):
        return f"{self.samples} samples, period {self.period}"

    def __bool__(self):
        return self.samples != 0


class Profile:
    """Totals and rows: what the oracle finds, and what an output is parsed into."""

    def __init__(self):
        self.totals = collections.defaultdict(Count)
        self.rows = collections.defaultdict(Count)
        self.regions = Count()


def parse_json(text):
    """JSON has no rows for data and outside; they are in the totals."""
    document = json.loads(text)
    profile = Profile()
    for name, count in document["totals"].items():
        profile.totals[name].add(count["samples"], count["period"])
    for f in document["functions"]:
        row = Row(f["kind"], f["symbol"] or f["name"], int(f["addr"], 16), f["size"])
        profile.rows[row].add(f["samples"], f["period"])
        if f["series"]:
            for key in ("samples", "period"):
                if sum(s[key] for s in f["series"].values()) != f[key]:
                    raise RuntimeError(f"{f['name']}: its series do not sum to it")
    for region in document["regions"]:
        profile.regions.add(region["samples"], region["period"])
    return profile


def parse_csv(text):
    profile = Profile()
    for r in csv.DictReader(io.StringIO(text)):
        if r["record"] not in ("total", "function", "other", "region"):
            continue
        count = (int(r["samples"]), int(r["period"]))
        if r["record"] == "total":
            profile.totals[r["name"]].add(*count)
        elif r["record"] == "region":
            profile.regions.add(*count)
        else:
            addr = int(r["addr"], 16) if r["addr"] else None
            size = int(r["size"]) if r["size"] else None
            profile.rows[Row(r["kind"], r["name"], addr, size)].add(*count)
    return profile


def parse_text(text):
    """Text, with the words of WORDS, has no addresses, and no period with regions."""
    profile = Profile()
    total = re.compile(r"^ *(all|filtered out|tracepoint hits|host|guest|function|label|gap|padding"
                       r"|data|outside|dropped gaps) +(\d+) +(\d+) +(?:\d+\.\d\d %|-)$", re.M)
    for name, samples, period in total.findall(text):
        name = {"all": "seen", "filtered out": "deselected",
                "tracepoint hits": "host"}.get(name, name.split()[0])
        profile.totals[name].add(int(samples), int(period))
    row = re.compile(
        r"^ *\d+\.\d\d % [ ~] *\d+\.\d\d - +\d+\.\d\d +(\d+) +(\d+) +(\d+|-)  (\S.*)$", re.M
    )
    remark = re.compile(
        r"  \((label|no symbol|padding|\d+ samples? in padding|\+\d+ alias(?:es)?)"
        r"(?:, no function)?\)"
    )
    for period, samples, size, name in row.findall(text):
        remarks = remark.findall(name)
        name = remark.sub("", name)
        kind = "label" if "label" in remarks else "function"
        if name.startswith("__gap__"):
            kind = "gap"
        elif name.startswith("[data]"):
            kind = "data"
        elif name == "[outside]":
            kind = "outside"
        size = None if size == "-" else int(size)
        profile.rows[Row(kind, name, None, size)].add(int(samples), int(period))
    region = re.compile(r"^(?:\S+ )?0x\w+-0x\w+ +\d+\.\d\d % +(\d+)  #* +\S", re.M)
    for samples in region.findall(text):
        profile.regions.add(int(samples), 0)
    return profile


# What a format needs to say all.
WORDS = {"text": ["wide=yes", "raw=yes", "verbose=yes", "regions=0"]}
PARSERS = {"json": parse_json, "csv": parse_csv, "text": parse_text}


def check_sums(p, gaps):
    """The identities, from the output's own numbers."""
    wrong = []

    def equal(what, *parts):
        for unit in ("samples", "period"):
            whole = getattr(what[1], unit)
            if unit == "period" and what[0] == "regions" and whole == 0:
                continue  # text
            if whole != sum(getattr(p.totals[part], unit) for part in parts):
                wrong.append(f"{what[0]} is not the sum of {', '.join(parts)} in {unit}")

    rows = collections.defaultdict(Count)
    for row, count in p.rows.items():
        rows[row.kind].add(count.samples, count.period)
    kept = [k for k in KINDS if k != "gap" or gaps != "drop"]
    everything = Count()
    for kind in ("function", "label", "gap"):
        everything.add(rows[kind].samples, rows[kind].period)
        if gaps == "retag":
            equal((f"the {kind} rows", rows[kind]), kind)
    equal(("seen", p.totals["seen"]), "deselected", "host", "guest")
    equal(("guest", p.totals["guest"]), *KINDS)
    equal(("regions", p.regions), *kept)
    if "dropped" in p.totals:
        equal(("dropped", p.totals["dropped"]), *(["gap"] if gaps == "drop" else []))
    equal(("the rows", everything), *(k for k in kept if k not in ("data", "outside")))
    if p.totals["padding"].samples > p.totals["gap"].samples:
        wrong.append("more padding than gap")
    return wrong
