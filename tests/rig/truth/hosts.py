#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hosts of several versions of Hyperlight, each with its guest inside: `hlguest -- ./host`.

    hosts.py --build DIR [--rig [--keep FOLDER]]

Is the guest found, and its base, is the report believed, and is it what was executed? Of the
recordings in tests/data/hyperlight/versions, which takes seconds; --rig makes them anew, in the
rig, with hosts and guests that are built if need be, and --keep puts them there.
"""
import lzma
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are the source's
sys.path[1:1] = [os.path.join(sys.path[0], folder) for folder in
                 ("../../kit", "../boot", "../hyperlight")]
import build as hyperlight
import checks
import rig
from executed import Coverage, Executed, functions
from programs import hlguest_of, need_zydis
from runs import ICOUNT, TIMEOUT
from tap import DATA, Skip, Tap, must, names_in, need, parser

FOLDER = os.path.join(DATA, "hyperlight", "versions")
HEADER = 4096  # bytes of a host that are kept in front of its guest
# Where each version loads a guest.
BASES = {"0.13.1": 0x1000, "0.16.0": 0x1000, "0.17.0": 0x4000, "0.18.0": 0x4000}


# By a fault, a panic and a time-out, in a sandbox each.
FAILING = "0.18.0"
FAILS = {"fail": "", "fail-exits": "--exits"}


class Host:
    """A host, the guest inside it, its recording, and what the guest executed."""

    def __init__(self, version, path, data, counts):
        self.version, self.path, self.data, self.base = version, path, data, BASES[version]
        self.executed = Executed(counts)


def kept(folder):
    """Those in FOLDER; hosts are unpacked."""
    for name in names_in(FOLDER, ".host.xz"):
        version = name.removesuffix(".host.xz")
        path = os.path.join(folder, f"host-{version}")
        with lzma.open(os.path.join(FOLDER, name)) as packed, open(path, "wb") as f:
            shutil.copyfileobj(packed, f)
        yield Host(version, path, os.path.join(FOLDER, f"{version}.data"),
                   os.path.join(FOLDER, f"{version}.counts.xz"))


def recorded(build, folder, version):
    """The same, made now. The report that `hlguest -- ./host` printed is in VERSION.said."""
    host, guest = hyperlight.version(version)
    name, truth = os.path.basename(host), os.path.join(build, "tests", "rig", "truth")
    script = (f"./mark start\n./hlguest -- ./{name} >out/{version}.said 2>&1 || exit 1\n"
              f"./mark stop\ncp perf.data.guest out/{version}.data\n"
              f"cp perf.data.guest.hlguest out/{version}.data.hlguest\n")
    counts = os.path.join(folder, version)
    done = rig.run(script, [host, os.path.join(truth, "mark"), hlguest_of(build)], into=folder,
                   icount=ICOUNT, timeout=TIMEOUT,
                   plugin=f"{truth}/count.so,out={counts},elf={guest},base={BASES[version]:#x}")
    if done.status:
        with open(os.path.join(folder, f"{version}.said"), encoding="utf-8") as f:
            raise RuntimeError(f"status {done.status}: {done.output} {f.read()}")
    return Host(version, host, os.path.join(folder, f"{version}.data"), f"{counts}.1.1")


def keep(one, into):
    """Of a host all but its header and the guest is zeros: what finds a guest is not that."""
    with open(one.path, "rb") as f:
        host = f.read()
    with open(hyperlight.version(one.version)[1], "rb") as f:
        guest = f.read()
    at = host.index(guest)
    host = host[:HEADER] + bytes(at - HEADER) + guest + bytes(len(host) - at - len(guest))
    os.makedirs(into, exist_ok=True)
    with lzma.open(os.path.join(into, f"{one.version}.host.xz"), "wb", preset=9) as f:
        f.write(host)
    with lzma.open(os.path.join(into, f"{one.version}.counts.xz"), "wt", encoding="ascii",
                   preset=9) as f:
        f.writelines(f"{addr:x} {one.executed.at[addr]}\n" for addr in one.executed.addrs)
    for end in (".data", ".data.hlguest"):
        shutil.copyfile(one.data.removesuffix(".data") + end,
                        os.path.join(into, one.version + end))


def said(one, text):
    """The head of a report: the guest inside this host, at the base, and believed; no doubts."""
    name = re.escape(os.path.basename(one.path))
    wanted = [rf"^guest +{name}, the guest inside it, x86-64, base {one.base:#x} "
              rf"\(Hyperlight note {re.escape(one.version)}\)$",
              r"^check +OK: all (\d+) (?:tested )?samples lie on instruction starts"]
    wrong = [line for line in wanted if not re.search(line, text, re.M)]
    wrong += re.findall(r"^(?:warning:|!!).*", text, re.M)
    return [*wrong, text] if wrong else []


def report(hlguest, one):
    return said(one, must(hlguest, "report", one.path, one.data))


def printed(one, folder):
    """What was printed there and then, without a word but the host."""
    with open(os.path.join(folder, f"{one.version}.said"), encoding="utf-8") as f:
        return said(one, f.read())


def executed(hlguest, one, folder, coverage):
    """No sample lies where nothing ran, and functions have what they executed."""
    guest = os.path.join(folder, f"guest-{one.version}.elf")
    must(hlguest, "extract", one.path, "-o", guest)
    ips = [sample.ip for sample in checks.read_samples(one.data) if sample.guest]
    wrong = [f"{ip:#x} never ran" for ip in ips if ip - one.base not in one.executed.at]
    found = {addr: (float(r["low"]), float(r["high"])) for addr, _, r in
             checks.rows(checks.report(hlguest, [one.path], one.data, "--weight=samples"))}
    for symbol in functions(guest):
        true = one.executed.share(symbol.addr, symbol.size)
        if true >= checks.LARGE:
            coverage.add(*found.get(symbol.addr, (0.0, 0.0)), 100 * true,
                         f"{one.version} {symbol.name}")
    return wrong if ips else ["no sample is a guest's"]


def failing(build, folder):
    """A host of 0.18 whose calls fail, by a fault, a panic and a time-out: its recordings."""
    host, _ = hyperlight.version(FAILING)
    script = "".join(f"./hlguest record -q {how} -o out/{name}.data -- ./{os.path.basename(host)} "
                     f"fail >out/{name}.log || exit 1\n" for name, how in FAILS.items())
    done = rig.run(script, [host, hlguest_of(build)], into=folder, icount=ICOUNT, timeout=TIMEOUT)
    if done.status:
        raise RuntimeError(f"status {done.status}: {done.output}")
    return host


def failed(hlguest, host, folder, name):
    """Nothing is doubted, and the function that went on for ever has the most. The calls differ,
    one after another, so intervals may be wider for it."""
    one = os.path.join(folder, f"{name}.data")
    text = must(hlguest, "report", host, one)
    wrong = [line for line in re.findall(r"^(?:warning:|!!|note:).*", text, re.M)
             if not re.search(r" 3 sandboxes ran on thread \d+, and are reported as one "
                              r"|^note: +phases: ", line)]
    first = re.search(r"^ *[\d.]+ %.* (\S+)$", text, re.M)
    if not re.search(r"^check +OK", text, re.M) or not first or first[1] != "guest::spin":
        wrong += ["not as it was", text]
    return wrong


def failed_exits(hlguest, host, folder):
    """
    Three calls returned, of which each called the host 20 times. What the host did behind an
    abort, which is most of the time, is nobody's exit.
    """
    found = {r["name"]: r for r in checks.table(hlguest, "exits", host,
                                                os.path.join(folder, "fail-exits.data"))
             if r["record"] == "call"}
    counts = {name: int(r["count"]) for name, r in found.items()}
    wrong = [f"{name}: {counts.get(name)}, not {n}" for name, n in
             (("guest call", 3), ("host call", 60)) if counts.get(name) != n]
    abort = found.get("abort (panic or fault)")
    if not abort or float(abort["p99"]) > 1e6:
        wrong.append(f"{abort}")
    return wrong


def hosts(args, folder):
    """Each host, or the reason why there is none of a version."""
    if not args.rig:
        yield from kept(folder)
        return
    for version in hyperlight.VERSIONS:
        try:
            yield recorded(args.build, folder, version)
        except (hyperlight.Unavailable, Skip) as e:
            yield version, e


def fails(tap, hlguest, args, one, folder):
    for name in FAILS:
        packed = os.path.join(FOLDER, f"{name}.data.xz")
        if not args.rig:
            with lzma.open(packed) as f, open(os.path.join(folder, f"{name}.data"), "wb") as out:
                shutil.copyfileobj(f, out)
    host = failing(args.build, folder) if args.rig else one.path
    for name in FAILS:
        tap.run(f"{one.version}: {name}: report", failed, hlguest, host, folder, name)
    tap.run(f"{one.version}: fail: exits", failed_exits, hlguest, host, folder)
    for name in FAILS if args.keep else ():
        with open(os.path.join(folder, f"{name}.data"), "rb") as f, \
                lzma.open(os.path.join(args.keep, f"{name}.data.xz"), "wb", preset=9) as packed:
            shutil.copyfileobj(f, packed)


def main():
    p = parser(__doc__)
    p.add_argument("--rig", action="store_true")
    p.add_argument("--keep", metavar="FOLDER")
    args = p.parse_args()
    tap, hlguest, coverage = Tap(), hlguest_of(args.build), Coverage()
    try:
        need("readelf", "perf")
        need_zydis(hlguest)
    except Skip as e:
        tap.skip("hosts", e)
        return tap.finish()
    with tempfile.TemporaryDirectory(prefix="hosts-") as folder:
        for one in hosts(args, folder):
            if not isinstance(one, Host):
                tap.skip(*one)
                continue
            if args.rig:
                tap.run(f"{one.version}: hlguest -- ./host", printed, one, folder)
            tap.run(f"{one.version}: guest, base and check", report, hlguest, one)
            tap.run(f"{one.version}: as executed", executed, hlguest, one, folder, coverage)
            if args.keep:
                keep(one, args.keep)
            if one.version == FAILING:
                fails(tap, hlguest, args, one, folder)
    if coverage.n:
        checks.covered(tap, "functions", coverage)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
