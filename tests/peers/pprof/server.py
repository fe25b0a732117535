#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Profiles for servers that keep them.

    server.py --build DIR

No server runs here. check() restates what these refuse, or drop without a word:

- Pyroscope at 3fe6a457 (August 2026): ValidateProfile, ValidateLabels and
  validateStringTableAccess of pkg/validation/validate.go, the defaults in
  pkg/validation/limits.go, sample labels in pkg/model/pprofsplit/pprof_split.go.
- Parca at 3b5647cd (July 2026): ValidatePprofProfile of pkg/normalizer/validate.go, labels and
  values in pkg/normalizer/normalizer.go; its queries split NAME:TYPE:UNIT:TYPE:UNIT at colons
  and take Prometheus' names, and 0.28.0 fails for want of a period type.

Sums are those of a profile that hlguest saved for itself. Go's pprof and npm's pprof-format read
the files, where these are installed (NODE_PATH).
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../../kit"))
from hostile import fields
from kit import RECORDINGS, elf_of, run_checks
from times import Profile

import recording
from tap import DATA, Skip, but_banner, must, need, run

SERVERS = "pyroscope", "parca"
SAMPLES, BYTES = {"pyroscope": 16000, "parca": 1 << 60}, {"pyroscope": 4 << 20, "parca": 32 << 20}
NAME = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
FOLDED = "[rare samples]"


def check_strings(p):
    if not p.strings or p.strings[0] != b"":
        yield "string 0 is not empty"
    for s in p.strings:
        try:
            s.decode()
        except UnicodeDecodeError:
            yield f"{s}: not UTF-8"


def check_tables(p):
    """Ids go up from 1, and what refers to them, or to strings, is there."""
    counts = {f: len(p.parts.get(f, [])) for f in (3, 4, 5)}
    for field in counts:
        ids = [dict(fields(x)).get(1) for x in p.parts.get(field, [])]
        if ids != list(range(1, counts[field] + 1)):
            yield f"ids of field {field} are not 1, 2, ..."
    for x in p.parts.get(4, []):
        location = dict(fields(x))
        function = dict(fields(location.get(4, b""))).get(1, 0)
        if location.get(2, 0) > counts[3] or not 0 < function <= counts[5]:
            yield f"location {location}: of nothing"
    for field, strings in ((3, (5, 6)), (5, (2, 3, 4))):
        for x in p.parts.get(field, []):
            if any(dict(fields(x)).get(f, 0) >= len(p.strings) for f in strings):
                yield f"field {field} names no string"
    for locations, values, _ in p.samples:
        if len(values) != len(p.types) or not all(0 < n <= counts[4] for n in locations):
            yield f"sample {locations} {values}: wrong"
        if not locations or any(v < 0 for v in values) or not any(values):
            yield f"sample {locations} {values}: is dropped"


def check_labels(p, sample):
    names = [p.text(x.get(1, 0)) for x in sample[2]]
    if len(set(names)) != len(names) or len(names) > 25:
        yield f"labels {names}"
    for name, x in zip(names, sample[2]):
        value = p.text(x.get(2, 0))
        if not NAME.fullmatch(name) or name.startswith("__") or len(name) > 1024:
            yield f"label {name}: refused"
        if not value or len(value.encode()) > 2048 or 3 in x or 4 in x:
            yield f"label {name}={value}: {x} is a number, or refused"


def check(p, server):
    yield from check_strings(p)
    yield from check_tables(p)
    for name, unit in p.types + [p.type(x) for x in p.parts.get(11, [])]:
        if not NAME.fullmatch(name) or unit not in ("count", "nanoseconds"):
            yield f"{name}/{unit}: not a value type that can be asked for"
    if len(set(p.types)) != len(p.types):
        yield f"{p.types}: not told apart"
    if len(p.parts.get(11, [])) != 1:
        yield "not one period type"
    if len(p.samples) > SAMPLES[server] or p.size > BYTES[server]:
        yield f"{len(p.samples)} samples, {p.size} bytes: too many"
    if set(p.parts) - set(range(1, 15)) or p.others:
        yield f"it has fields {sorted(p.parts)}, and samples {p.others}"
    for sample in p.samples:
        yield from check_labels(p, sample)


def save(bench, server, *argv):
    """The profile, and what was said; "samples do not fit" is no matter here."""
    out = bench.new()
    _, err, status = bench.run("report", *argv, "--format=pprof", f"--for={server}", f"--out={out}")
    if status not in (0, 3):
        raise RuntimeError(f"{argv}: status {status}: {err}")
    return out, but_banner(err)


def takes(bench, server):
    labels = {"zone_id": "1", "service_name": "günther's", "zone": "a=b"}
    words = [f"--label={k}={v}" for k, v in labels.items()]
    calls = os.path.join(DATA, "hyperlight/callers/callers.data")
    for name in [*RECORDINGS, calls]:
        for by in ([], ["--by=pid,tid,cpu", *words]):
            elf = os.path.join(DATA, "hyperlight/frames.elf") if name == calls else elf_of(name)
            path, err = save(bench, server, elf, name, *by)
            p = Profile(path)
            own = Profile(bench.save(elf, name, *by[:1]))
            yield from (f"{name} {by}: {x}" for x in check(p, server))
            if err or p.sums() != own.sums() or (p.time, p.took) != (own.time, own.took):
                yield f"{name} {by}: {err}, {p.sums()}, not {own.sums()}"
            for sample in p.samples if by else ():
                if not labels.items() <= p.labels(sample).items() or "tid" not in p.labels(sample):
                    yield f"{name}: labels {p.labels(sample)}"
            if name == calls and max(len(s[0]) for s in p.samples) < 3:
                yield f"{name}: no stacks"
    clock = [("samples", "count"), ("cpu", "nanoseconds")]
    for name in "demo-user.data", named(bench, b"vm/freq=9"):
        types = Profile(save(bench, server, "demo.elf", name)[0]).types
        if types != clock:
            yield f"{name}: {types}"


def named(bench, event):
    """A recording whose clock has another name of as many bytes (-e cpu-clock/name=.../)."""
    path = os.path.join(bench.folder("given"), "named.data")
    with open(os.path.join(DATA, "demo-user.data"), "rb") as f:
        whole = f.read()
    at = whole.rindex(b"cpu-clock")
    with open(path, "wb") as f:
        f.write(whole[:at] + event + whole[at + len(event):])
    return path


def made(bench, samples, configs=(0,)):
    path = os.path.join(bench.folder("given"), "made-up.data")
    recording.write(path, samples, configs)
    return path


def rows_are_folded(bench, server):
    """Other addresses first, then whatever is rare; nothing is lost, and it is said."""
    many = [(0x40000000 + 16 * i, 1, 7, i % 2) for i in range(20000)]
    rare = [(0x40000000, 1 + i // 2, 7, i % 2) for i in range(40000)] + [(0x40000000, 1, 7, 0)] * 9
    for samples, words, labels in ((many, "address of its function [(]rows less: 1[0-9]{4}[)]", 0),
                                   (rare, r"limit the rarest 8002 of 40009 samples are summed as \[rare", 1)):
        path, err = save(bench, server, "demo.elf", made(bench, samples, (0, 1)), "--by=tid",
                         "--label=a=b", "--force")
        p = Profile(path)
        yield from check(p, server)
        if p.sums() != [sum(f(s) for s in samples if s[3] == event)
                        for event in (0, 1) for f in (lambda s: 1, lambda s: s[2])]:
            yield f"{p.sums()}"
        limited = server == "pyroscope"
        if (re.search(words, err) is None) == limited or err.count("\n") != limited:
            yield f"{err!r}"
        plain = [p.labels(s) for s in p.samples if "tid" not in p.labels(s)]
        if plain != [{"a": "b"}] * (labels and limited):
            yield f"without a thread: {plain[:3]}"
        if (FOLDED.encode() in p.strings) != (labels and limited):
            yield f"{words}: {FOLDED}"


def bytes_are_kept(bench, server):
    """Long names are more than bytes, not samples."""
    names = os.path.join(bench.work, "names.map")
    with open(names, "w", encoding="utf-8") as f:
        f.writelines(f"{0x40000000 + 16 * i:x} 10 {i:05}{300 * 'x'}\n" for i in range(15000))
    samples = [(0x40000000 + 16 * i, 1, 1, 0) for i in range(15000)]
    path, err = save(bench, server, f"map:{names}", made(bench, samples))
    p = Profile(path)
    yield from check(p, server)
    if p.sums() != [15000, 15000] or (FOLDED.encode() in p.strings) != (server == "pyroscope"):
        yield f"{p.sums()} {err}"


def lines_of(p):
    """Samples by the functions of their first location, innermost first."""
    names = {dict(fields(x))[1]: p.text(dict(fields(x))[2]) for x in p.parts[5]}
    lines, sums = {}, {}
    for x in p.parts[4]:
        lines[dict(fields(x))[1]] = tuple(names[dict(fields(value))[1]]
                                          for field, value in fields(x) if field == 4)
    for locations, values, _ in p.samples:
        of = lines[locations[0]]
        sums[of] = sums.get(of, 0) + values[0]
    return sums


def inlines_are_kept(bench, server):
    """Where addresses are folded, what was inlined at each still has its samples."""
    elf = os.path.join(DATA, "hyperlight/small.elf")
    found = json.loads(bench.run("annotate", "--top=0", "--format=json", elf,
                                 os.path.join(DATA, "hyperlight/small.data"))[0])
    inlined = [[line for line in f["lines"] if line.get("inlined")] for f in found["functions"]]
    if not any(inlined):
        raise Skip("nothing is inlined there: built without libdw")
    most = max(range(len(inlined)), key=lambda i: len(inlined[i]))
    lines = found["functions"][most]["lines"][:1] + inlined[most][:39]
    addrs = [int(line["addr"], 16) for line in lines]
    path = made(bench, [(addr + 0x4000, tid, 1, 0) for tid in range(1, 500) for addr in addrs])
    words = elf, path, "--by=tid", "--inline=yes", "--force"
    own = lines_of(Profile(bench.save(*words)))
    if len(own) < 2:
        yield f"all is one: {own}"
    if lines_of(Profile(save(bench, server, *words)[0])) != own:
        yield f"not {own}"


def what_is_left_out(bench, server):
    """gaps=drop and border=drop leave out what the report leaves out."""
    for name in "demo-user.data", "demo-host.data":
        for words in ["--gaps=drop"], ["--border=drop"], ["--gaps=drop", "--border=drop"]:
            all_of = json.loads(bench.run("report", "demo.elf", name, "--format=json", *words)[0])
            samples = {kind: n["samples"] for kind, n in all_of["totals"].items()}
            left = samples["guest"] - sum(samples[kind] * (word in words) for kind, word in (
                ("gap", "--gaps=drop"), ("border", "--border=drop")))
            p = Profile(save(bench, server, "demo.elf", name, *words)[0])
            yield from check(p, server)
            if p.sums()[0] != left or left == samples["guest"]:
                yield f"{name} {words}: {p.sums()}, not {left} of {samples}"


def names_are_text(bench):
    """What is no UTF-8 in a name is written \\xNN, byte by byte, in any profile."""
    names = os.path.join(bench.work, "odd.map")
    with open(names, "wb") as f:
        f.write(b"40000000 10 g\xc3\xbcnther \xff\xc3(\x1b[2J\n")
    path = made(bench, [(0x40000004, 1, 1, 0)])
    for to in (bench.save(f"map:{names}", path), *(save(bench, s, f"map:{names}", path)[0]
                                                   for s in SERVERS)):
        p = Profile(to)
        yield from check_strings(p)
        if "günther \\xff\\xc3(\\x1b[2J".encode() not in p.strings:
            yield f"{to}: {p.strings}"


def words_are_refused(bench):
    out = bench.new()
    base = ["report", "demo.elf", "demo-user.data", f"--out={out}"]
    pprof = [*base, "--format=pprof", "--for=parca"]
    for argv, said in (
        ([*base, "--for=parca"], "--for: is about saved profiles"),
        ([*base, "--format=pprof", "--for=prom"], "--for=prom"),
        ([*base, "--format=pprof", "--label=a=b"], "--label: is for a server"),
        *(([*pprof, f"--label={x}"], f"--label={x}: {why}") for x, why in (
            ("a", "lacks a value"), ("a=", "lacks a value"), ("=b", "no server takes that name"),
            ("1a=b", "no server takes"), ("a-b=c", "no server takes"), ("a.b=c", "no server"),
            ("__name__=c", "no server takes"), ("tid=3", "hlguest says that itself"),
            ("sandbox=3", "hlguest says that itself"), ("é=c", "no server takes"))),
        ([*pprof, "--label=a=\x1b[2J"], "its value is no plain UTF-8"),
        ([*pprof, "--label=a=" + 2049 * "x"], "its value is no plain UTF-8"),
        ([*pprof, "--label=a=b", "--label=a=c"], "the name is given twice"),
        ([*pprof, *(f"--label=a{i}=b" for i in range(21))], "--label: more than 20"),
    ):
        _, err, status = bench.run(*argv)
        if status != 2 or said not in err or os.path.exists(out):
            yield f"{argv[4:]}: {status}: {err}"
    path, _ = save(bench, "parca", "demo.elf", "demo-user.data")
    for argv in (["report", "demo.elf", path], ["merge", "-o", out, path]):
        _, err, status = bench.run(*argv)
        if status != 1 or "was saved for a server" not in err:
            yield f"{argv}: {status}: {err}"


def go_reads(bench):
    need("go")
    path, _ = save(bench, "pyroscope", "demo.elf", "demo-threads.data", "--by=tid", "--label=a=b")
    p = Profile(path)
    for i, total in enumerate(p.sums()):
        out, err, status = run("go", "tool", "pprof", "-top", "-nodefraction=0", "-unit=ns",
                               f"-sample_index={i}", "-tagfocus=a=b", path)
        if status or not re.search(rf" of {total}(ns)? total", out):
            yield f"{status}: {out} {err}"


NODE = """
const {Profile} = require('pprof-format'), fs = require('fs'), zlib = require('zlib');
const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[1])));
const text = (i) => p.stringTable.strings[Number(i)];
console.log(JSON.stringify({
  types: p.sampleType.map((t) => [text(t.type), text(t.unit)]),
  sums: p.sampleType.map((_, i) => p.sample.reduce((n, s) => n + Number(s.value[i]), 0)),
  times: [p.timeNanos, p.durationNanos, p.period].map(String),
  labels: p.sample.map((s) => Object.fromEntries(s.label.map((l) => [text(l.key), text(l.str)]))),
}));
"""


def npm_reads(bench):
    need("node")
    if run("node", "-e", "require('pprof-format')")[2]:
        raise Skip("npm's pprof-format is not installed, or NODE_PATH does not have it")
    path, _ = save(bench, "parca", "demo.elf", "demo-threads.data", "--by=tid", "--label=a=b")
    p = Profile(path)
    expected = {"types": [list(t) for t in p.types], "sums": p.sums(),
                "times": [str(n) for n in (p.time, p.took, p.period)],
                "labels": [p.labels(s) for s in p.samples]}
    found = json.loads(must("node", "-e", NODE, path))
    yield from (f"{k}: {found[k]}, not {x}" for k, x in expected.items() if found[k] != x)


def main():
    of_servers = [(f"{server}: {name}", lambda bench, f=function, s=server: f(bench, s))
                  for server in SERVERS
                  for name, function in (("takes each recording", takes),
                                         ("too many rows", rows_are_folded),
                                         ("too many bytes", bytes_are_kept),
                                         ("what is inlined", inlines_are_kept),
                                         ("what is left out", what_is_left_out))]
    return run_checks(__doc__, "profiles for servers", (
        *of_servers,
        ("names that are no text", names_are_text),
        ("words that make no sense", words_are_refused),
        ("go tool pprof reads it", go_reads),
        ("npm's pprof-format reads it", npm_reads),
    ))


if __name__ == "__main__":
    sys.exit(main())
