#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hlguest inject against another reading of what it was given.

    inject_model.py --build DIR [--seed N] [--seeds N]

made_injected.py makes recordings up, in files, pipes, folders, packed and cut off: of several
events, processes and bases, with callchains, counters, registers and stacks, and with processes
that are forked and named, in or out of the order of time; sometimes a part of the guest samples is
selected. What hlguest-inject(1) and the headers of
tools/inject/ say of the copy is computed from the lists they were made from: each record that is
copied, rewritten or left out, each process and mapping that is added, the attributes and facts, the
symbols of companions, and each line that is printed.
"""
import json
import os
import random
import re
import shutil
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import companion
import forged
import parsed
from companion import Units
from forged import CALLCHAIN, CPU, IDENTIFIER, PERIOD, READ, TID, TIME
from lacks_model import ends_after
from lines import different, line, plural
from made_injected import AUXTRACE, ROUND, Injected, Named
from modelled import EVENTS, TEXT, TRACEPOINT, Space, is_guest
from modelled_view import Selection
from odd_names import escaped, odd_names
from programs import hlguest_of
from seeds import seeds
from tap import run
from text_head import SAID

FORMS = ("file", "file", "pipe", "folder", "packed", "cut")
NEVER_KEPT = (18, 24, 27)  # how the old file was stored: AUX records, a folder, packed
NRCPUS, BUILD_ID, MMAP2, BUILD_ID_KNOWN = 7, 2, 10, 1 << 14
PMU_CAPS = 31  # the last that perf 6 knows
SUMS = (("records", ""), ("  guest samples", ""),
        ("    rewritten", "as samples of guest processes"), ("    dropped", ""),
        ("    kept as guest's", "perf needs their counter values"),
        ("    not selected", "as they are"),
        ("  host samples", "as they are"), ("  tracepoint hits", "as they are"),
        ("  other", "as they are"),
        ("  left out", "marks between files"), ("added", "for guest processes"))
ALWAYS = (2, 5, 6, 8, 10)  # whose words stand there, too, where they count nothing


class Made:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        calls = rng.random() < .3
        self.guests = [Named(rng, list(odd_names(rng, rng.randint(1, 8))), f"guest{i}.elf", calls)
                       for i in range(rng.choice((1, 1, 2)))]
        self.space = Space([(guest, base) for i, guest in enumerate(self.guests) for base in
                            rng.sample([at + i * 0x8000 for at in (0x10000, 0x200000, 0x40008000)],
                                       rng.choice((1, 1, 2)))])
        self.gaps = rng.choice(("retag", "drop", "stretch"))
        events = rng.sample(sorted(EVENTS), rng.choice((1, 2, 3)))
        if all(e == TRACEPOINT for e in events):
            events.append("cycles")
        plain = list(self.plain())
        few = rng.random() < .4  # and perf would name these well, perhaps
        hot = [rng.choice(plain) if few and plain and rng.random() < .9 else self.space.some(rng)
               for _ in range(rng.randint(1, 6))]
        self.recording = Injected(
            rng, events, lambda: rng.choice(hot) if few or rng.random() < .5 else
            self.space.some(rng), rng.choice((1, 4, 20, 60, 150)),
            rng.choice((0, 0, 0, TIME, CPU, PERIOD)), self.space.returns())
        self.form = rng.choice(FORMS)
        if sum(bool(e.payload) for e in self.recording.entries) > 1 and rng.random() < .6:
            self.form = "cut"
        self.direct, self.demangle = rng.random() < .2, rng.random() < .7
        self.select = Selection(rng, [self.recording] if rng.random() < .4 else [])
        some = [(word, keep) for word, keep in zip(self.select.words, self.select.keeps)
                if re.match("--(pid|tid|time)=[^+%]*$", word)]
        self.select.words, self.select.keeps = [word for word, _ in some], [keep for _, keep in some]
        self.force, self.quiet = rng.random() < .75, rng.random() < .2

    def plain(self):
        """Addresses in functions that perf shows as they are, but for where a gap is behind."""
        for guest, base in self.space.bases:
            units = Units(guest, "retag")
            for start, end, place in units.all:
                if place.kind == "function" and (start, end) == (place.start, place.end) and \
                        not place.aliases:
                    yield base - TEXT + self.rng.randrange(start, end)

    def words(self):
        return [f"--gaps={self.gaps}", *["--direct"] * self.direct, *["-q"] * self.quiet,
                *["--demangle=no"] * (not self.demangle), *["--force"] * self.force,
                *self.select.words]


class Judge:
    def __init__(self, hlguest, folder, made):
        self.hlguest, self.made, self.one = hlguest, made, made.recording
        self.folder = os.path.join(folder, "inject")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for guest in made.guests:
            with open(self.path(guest.path), "wb") as f:
                f.write(guest.data())
        self.entries, self.cut_off = list(self.one.entries), 0
        self.facts = self.one.features()
        self.write()
        self.units = [Units(guest, made.gaps) for guest, _ in made.space.bases]
        self.samples = made.select.of(e.sample for e in self.entries if e.kind == "guest")
        self.chosen = {id(s) for s in self.samples}
        self.kept = [s for s in self.samples if not self.is_dropped(s)]
        self.hits = [(s.pid, *where) for s in self.kept for where in self.found(s)]

    def path(self, name):
        return os.path.join(self.folder, name)

    # What is there

    def write(self):
        """The recording, in its form; some leave entries out, or in another order."""
        path, form = self.path("in"), self.made.form
        if form not in ("file", "cut"):
            self.entries = [e for e in self.entries if not e.payload]
        self.write_file(path)
        if form == "file":
            return
        if form == "cut":
            self.cut(path)
            return
        whole = parsed.Recording(path)
        os.unlink(path)
        if form == "pipe":
            whole.write_pipe(path)
        elif form == "packed":
            whole.write_compressed(path)
        else:
            whole.write_directory(path)
            of = [e for e in self.entries if e.kind in ("guest", "host")]
            mark = next(iter(e for e in self.entries if e.kind == "round"), None) or \
                type(self.entries[0])("round", forged.record(ROUND, 0, b""), b"", None)
            self.entries = [e for e in self.entries if e not in of]
            for half in of[::2], of[1::2]:
                self.entries += [*half[:len(half) // 2], mark, *half[len(half) // 2:], mark]

    def write_file(self, path):
        records = b"".join(e.old + e.payload for e in self.entries)
        attrs = list(self.one.attrs())
        data = forged.recording(records, [a for a, _ in attrs], [i for _, i in attrs], self.facts)
        with open(path, "wb") as f:
            f.write(data[:16] + struct.pack("<Q", self.one.attr_size + 16) + data[24:])

    def cut(self, path):
        """Somewhere in its records: what is whole is left, and nothing of the facts."""
        with open(path, "rb") as f:
            data = f.read()
        start, size = struct.unpack_from("<2Q", data, 40)
        end = self.made.rng.randint(start + size // 2, start + size - 1)
        at, kept = start, []
        payloads = [i for i, e in enumerate(self.entries) if e.payload]
        within = self.made.rng.choice(payloads) if self.made.rng.random() < .7 and payloads else -1
        for i, e in enumerate(self.entries):
            length = len(e.old + e.payload)
            if i == within:
                end = at + length - self.made.rng.randint(1, len(e.payload))
            if at + length > end and i >= within:
                break
            kept.append(e)
            at += length
        with open(path, "wb") as f:
            f.write(data[:end])
        self.entries, self.cut_off, self.facts = kept, start + size - at, {}

    def is_dropped(self, s):
        return self.made.gaps == "drop" and self.made.space.place(s.ip)[2].kind == "gap"

    def found(self, s):
        """(image, own address) of a sample and its callers, in the call."""
        for ip in (s.ip, *(at - 1 for at in (s.callers[0] if s.callers else ()))):
            image, addr, _ = self.made.space.place(ip)
            if image is not None:
                yield image, addr

    def is_wanted(self, image):
        """Its companion: perf would name something wrongly."""
        of = self.units[image]
        return not self.made.direct and any(
            not of.is_plain(of.at(addr)) for addr in {a for _, i, a in self.hits if i == image})

    # What must be there

    def check(self):
        status, out, err = self.run("inject", *self.made.words(), "-o", "out", "in")
        report = self.run("report", "--format=json", "--border=keep", f"--gaps={self.made.gaps}",
                          *["--force"] * self.made.force, *self.made.select.words, "in")
        if self.refused(report, status, out, err) is not None:
            yield from self.refused(report, status, out, err)
            return
        if status or err:
            yield f"status {status}: {err}"
            return
        self.wanted = [self.is_wanted(i) for i in range(len(self.units))]
        self.files = [self.file_of(i) for i in range(len(self.units))]
        self.added = list(self.processes())
        yield from self.companions()
        yield from self.copy()
        yield from self.text(out, json.loads(report[1]))

    def run(self, verb, *words):
        out, err, status = run(self.hlguest, verb, *words, *self.made.space.words(),
                               cwd=self.folder)
        return status, out, err

    def refused(self, report, status, out, err):
        """What is wrong with a refusal; None: there is none to be."""
        why = None
        if not self.one.offset():
            if self.entries and any(max(e.sample.pid, e.sample.tid) == self.one.highest()
                                    for e in self.entries if e.sample):
                why = 1, f"has processes up to number {self.one.highest()}, as the third copy in a row"
            else:
                return []  # it may have been cut off
        elif not self.samples:
            why = 1, ""
        elif not self.made.force and (
                report[0] == 3 or json.loads(report[1])["trust"]["verdict"] == "mixed"):
            why = 3, "!!|samples|sample"
        if not why:
            return None
        left = sorted(set(os.listdir(self.folder)) - {"in", *(g.path for g in self.made.guests)})
        return [f"status {status}, {err!r}, {out!r}, left {left}, not {why}"] if left or out or \
            status != why[0] or not re.search(why[1], err) else []

    def file_of(self, image):
        """(path, build id) of what is mapped."""
        guest = self.made.space.bases[image][0]
        if not self.wanted[image]:
            return os.path.realpath(self.path(guest.path)), guest.id
        path = self.companion_of(image)
        with open(path, "rb") as f:
            return path, companion.id_of(guest, f.read())[1]

    def companion_of(self, image):
        """Those of one name have numbers, from 2 on."""
        names = [guest.path for guest, _ in self.made.space.bases]
        before = sum(self.wanted[i] and names[i] == names[image] for i in range(image))
        return os.path.join(os.path.realpath(self.folder), "out.elf",
                            names[image] + (f".{before + 1}" if before else ""))

    def companions(self):
        there = sorted(os.listdir(self.path("out.elf"))) if any(self.wanted) else []
        if any(self.wanted) != os.path.isdir(self.path("out.elf")):
            yield "out.elf: a folder of companions that nobody wants"
        expected = [i for i, wanted in enumerate(self.wanted) if wanted]
        if there != sorted(os.path.basename(self.companion_of(i)) for i in expected):
            yield f"companions: {there}, not of {expected}"
            return
        ids = {}
        for i in expected:
            guest = self.made.space.bases[i][0]
            with open(self.companion_of(i), "rb") as f:
                data = f.read()
            for told in companion.differences(guest, self.units[i], self.made.demangle, data):
                yield f"companion of {guest.path}: {told}"
            if ids.setdefault(guest.path, self.files[i][1]) != self.files[i][1]:
                yield f"companions of {guest.path} have several build ids"

    def named(self, pid):
        """What the guest's process is called."""
        return escaped(f"guest:{self.one.comms.get(pid, ('', 0))[0] or pid}")

    def processes(self):
        """Records of what nobody recorded: all that stands behind their fixed parts is 0."""
        trailer = bytes(8 * bin(self.one.kind & (TID | TIME | CPU | IDENTIFIER)).count("1"))
        threads = sorted({(s.pid, s.tid) for s in self.samples})

        def comm(pid, tid):
            name = self.named(pid).encode()
            return forged.record(3, 0, struct.pack(
                "<2i", self.one.new_id(pid), self.one.new_id(tid)) + name +
                bytes(8 - len(name) % 8) + trailer)
        for pid in sorted({pid for pid, _ in threads}):
            yield comm(pid, pid)
            for piece in self.mapped(pid):
                yield self.mapping(pid, *piece) + trailer
            yield from (comm(pid, tid) for own, tid in threads if own == pid and tid != pid)

    def mapped(self, pid):
        """(image, address, size, offset in the file) of each piece: the code of each one that has
        samples, and data if so."""
        for image, (guest, _) in enumerate(self.made.space.bases):
            addrs = [addr for own, i, addr in self.hits if (own, i) == (pid, image)]
            if addrs:
                yield image, TEXT, guest.end - TEXT, TEXT
            # As made: code is the file's first piece, data stands behind it, aligned to 8.
            behind = TEXT + (guest.end - TEXT + 7) // 8 * 8 - guest.end
            for start, size in guest.pieces():
                if any(start <= addr < start + size for addr in addrs):
                    yield image, start, size, start + behind

    def mapping(self, pid, image, start, size, offset):
        base = self.made.space.bases[image][1]
        path, build_id = self.files[image]
        known = struct.pack("<B3x20s", len(build_id), build_id) if build_id else bytes(24)
        body = struct.pack("<2i3Q", *[self.one.new_id(pid)] * 2, base - TEXT + start, size,
                           offset) + known + struct.pack("<2I", 5 if start == TEXT else 1, 2)
        name = path.encode()
        record = forged.record(MMAP2, 2 | BUILD_ID_KNOWN * bool(build_id),
                               body + name + bytes(8 - len(name) % 8))
        trailer = 8 * bin(self.one.kind & (TID | TIME | CPU | IDENTIFIER)).count("1")
        return record[:6] + struct.pack("<H", len(record) + trailer) + record[8:]

    def records(self):
        """(bytes) of the copy, one by one."""
        yield from self.added
        for e in self.entries:
            if e.kind == "round" and self.made.form == "folder":
                continue
            if e.kind == "guest" and id(e.sample) not in self.chosen:
                yield e.old
            elif e.kind != "guest" or not self.is_dropped(e.sample):
                yield e.new + e.payload
            elif self.one.more[e.sample.event] & READ:
                yield e.old  # perf needs its counter

    def copy(self):
        with open(self.path("out"), "rb") as f:
            data = f.read()
        if self.made.form == "pipe":
            yield from self.piped(data)
            return
        new = parsed.Recording(self.path("out"))
        head = struct.unpack_from("<9Q", data)
        if (head[1], head[7], head[8]) != (104, 0, 0):
            yield f"header: {head}"
        if new.attrs != list(self.one.new_attrs()):
            yield f"attributes: {new.attrs}, not {list(self.one.new_attrs())}"
        if new.features != self.features():
            yield f"facts: {new.features}, not {self.features()}"
        yield from self.same(data[head[5]:head[5] + head[6]])

    def same(self, data):
        at = 0
        for i, record in enumerate(self.records()):
            if data[at:at + len(record)] != record:
                yield f"record {i}: {data[at:at + len(record)].hex()}, not {record.hex()}"
                return
            at += len(record)
        if at != len(data):
            yield f"{len(data) - at} bytes behind the last record"

    def piped(self, data):
        """What a header has comes as records, in front of the others."""
        expected = data[:16] if data[:16] == struct.pack("<8sQ", b"PERFILE2", 16) else b"?"
        for attr, ids in self.one.new_attrs(one_by_one=True):
            expected += forged.record(64, 0, attr + ids)
        for number, fact in sorted(self.facts.items()):
            if number not in (1, BUILD_ID) and fact and number <= PMU_CAPS:
                fact += bytes(-len(fact) % 8)
                expected += forged.record(80, 0, struct.pack("<Q", number) + fact)
        if not data.startswith(expected):
            yield f"attributes and facts: {data[:len(expected)].hex()}, not {expected.hex()}"
            return
        yield from self.same(data[len(expected):])

    def features(self):
        """Facts: as they were, with build ids of what is mapped; and how many CPUs there are."""
        found = {number: fact for number, fact in self.facts.items() if number not in NEVER_KEPT}
        cpus = max(self.one.cpus if any(e.old[0] == 74 for e in self.entries) else 0, 0)
        if cpus and NRCPUS not in found:
            found[NRCPUS] = struct.pack("<2I", cpus, cpus)
        listed = b""
        for image, (guest, _) in enumerate(self.made.space.bases):
            files = [(os.path.realpath(self.path(guest.path)), guest.id)]
            for path, build_id in files + [self.files[image]] * self.wanted[image]:
                name = path.encode()
                if build_id:
                    name += bytes(64 - len(name) % 64)
                    listed += struct.pack("<IHHi20sB3x", 0, 2 | 1 << 15, 36 + len(name), -1,
                                          build_id, len(build_id)) + name
        if listed:
            found[BUILD_ID] = found.get(BUILD_ID, b"") + listed
        return found

    # What is said

    def sums(self):
        count = {kind: [e for e in self.entries if e.kind == kind]
                 for kind in ("guest", "host", "other", "round")}
        chosen = [e for e in count["guest"] if id(e.sample) in self.chosen]
        held = [e for e in chosen if self.is_dropped(e.sample)]
        kept = [e for e in held if self.one.more[e.sample.event] & READ]
        rounds = len(count["round"]) if self.made.form == "folder" else 0
        hits = sum(e.sample.event == TRACEPOINT for e in count["host"])
        return (len(self.entries), len(count["guest"]), len(chosen) - len(held),
                len(held) - len(kept), len(kept), len(count["guest"]) - len(chosen),
                len(count["host"]) - hits, hits,
                len(count["other"]) + len(count["round"]) - rounds, rounds, len(self.added))

    def lines(self, report):
        trust, totals = report["trust"], report["totals"]
        said = SAID[trust["verdict"]]
        if said == "OK" and totals["outside"]["samples"] > totals["guest"]["samples"] // 20:
            said += " in the ELFs" if len(self.units) > 1 else " in the ELF"
        yield line(f"written    out  (check {said})")
        for i, wanted in enumerate(self.wanted):
            if wanted:
                yield line(f"companion  {self.files[i][0]}  (keep it there: perf reads its "
                           "symbols)")
        threads = {(s.pid, s.tid) for s in self.samples}
        several = len({pid for pid, _ in threads}) > 1
        yield line(f"show       perf report {'--sort=pid,dso,sym ' * several}-i out")
        unwanted = next(n for (what, _), n in zip(SUMS, self.sums()) if "selected" in what)
        if unwanted and any(word.startswith(("--pid=", "--tid=")) for word in self.made.select.words):
            yield line("then       hlguest inject OTHER.elf out -o NEW.data  (guests that are not "
                       "selected)")
        for pid in sorted({pid for pid, _ in threads}):
            n = sum(own == pid for own, _ in threads)
            yield line(f"process    {self.one.new_id(pid)}  {self.named(pid)}  (of VMM {pid}, "
                       f"{plural(n, 'thread')})")
        yield line("")
        for i, ((what, note), n) in enumerate(zip(SUMS, self.sums())):
            if n or not ("selected" in what and not self.made.select.words or "hits" in what):
                yield line(f"{what:20} {n:12}" + (
                    f"  {note}" if note and (n or i in ALWAYS) else ""))

    def lacks(self):
        lost = sum(struct.unpack_from("<Q", e.old, 16)[0] for e in self.entries if e.old[0] == 2)
        throttled = sum(e.old[0] == 5 for e in self.entries)
        if lost:
            yield line(f"{lost} event{' was' if lost == 1 else 's were'} lost while recording "
                       "(a larger -m, or a lower -F, loses less)")
        if throttled:
            yield line(f"the kernel throttled sampling {throttled} time{'s' * (throttled != 1)}: "
                       "busy periods have too few samples")
        if self.cut_off:
            yield line(f"the recording was cut off: {self.cut_off} bytes at its end are missing or "
                       "hold no whole record" + ends_after(
                           [e.sample.time for e in self.entries
                            if e.sample is not None and e.sample.time is not None]))

    def text(self, out, report):
        got = out.split("\n")[:-1]
        told = different(got, [*self.lines(report), *self.lacks()])
        if told:
            yield f"text: {told}"


def differences(build, folder, seed):
    for told in Judge(hlguest_of(build), folder, made := Made(seed)).check():
        yield f"{made.form} {' '.join(made.words())}: {told}"


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 90, differences))
