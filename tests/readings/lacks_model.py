#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recordings lack, as hlguest report tells it, against what was taken from them.

    lacks_model.py --build DIR [--seed N] [--seeds N]

Recordings of modelled.py are made, one to many, and broken in ways of a known size: events are
lost, samples are short or of no event, records are short or of a type to come, the kernel
throttles; the end is cut off, is no record, or was not written; some are of another machine, or
no recordings. What is seen and what is told to be missing are together what was made: in each
file, in the sums, and in the notes, which stand in their order, as warnings in text.
"""
import json
import os
import random
import re
import struct
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import forged
from modelled import COMM, LOST, Guest, Recording, Space, is_guest, names_of
from programs import hlguest_of
from seeds import seeds
from tap import Skip, environment, run

THROTTLE, LOST_SAMPLES, TO_COME, ARCH = 5, 13, 4000, 20
MOST, MOST_JSON, MOST_TOLD, SHOWN = 2**64 - 1, 2**63 - 1, 16, 5
HEADER, SIZE_AT = 104, 48  # where the header has the size of all records
OWN = re.compile(r"\d+ events? (?:was|were) lost|the kernel throttled|\d+ records?,? |\d+ more notes?|"
                 r"the recording |recordings were |\d+ of \d+ (?:recordings|files) |\S+ was recorded on ")
NO_END = "no end: perf record was killed, or the file was cut off (what came last, and what perf " \
    "notes behind it, may be missing)"


def ends_after(times):
    """How much of the run is there."""
    took = max(times, default=0) - min(times, default=0)
    span = f"{took / 10**9 + 1e-9:.1f} s" if took >= 10**8 else f"{took // 1000 / 1000:.3f} ms"
    return f", and it ends after {span}: what came later is not there" if took else ""


class Broken(Recording):
    """parts: (what, bytes) each; what is a sample, the name of a counter, or None."""

    def __init__(self, rng, number, space, events, n, foreign, alone):
        super().__init__(rng, number, events, lambda: space.some(rng), 0)
        self.losses, self.time, self.lost = [], self.begins, [0, 0]
        self.parts = [(None, super().records())]
        for _ in range(n):
            self.add(space)
        self.ending = rng.choice(("whole",) * 4 + ("cut", "cut", "killed", "damaged"))
        self.is_foreign, self.is_other = rng.random() < foreign, not alone and rng.random() < .15

    def add(self, space):
        rng = self.rng
        self.time += rng.randrange(1, 10**7)
        sample = Recording.sample(self, self.time, lambda: space.some(rng))
        data, body = self.pack(sample), self.tail(*self.threads[0], self.time)
        at = rng.random()
        if at < .7:
            self.parts.append((sample, data))
        elif at < .78:
            self.lose(body)
        elif at < .82:
            self.parts.append(("throttled", forged.record(THROTTLE, 0, bytes(24) + body)))
        elif at < .86:
            self.parts.append(("unknown", forged.record(TO_COME + rng.randrange(9), 0,
                                                        bytes(8 * rng.randrange(4)))))
        elif at < .9:  # of no event; but where there is one, all are of it, as in perf
            self.parts.append(("skipped" if len(self.events) > 1 else sample, data[:8] + struct.pack("<Q", 999) + data[16:]))
        elif at < .95:
            end = 8 * rng.randrange(1, len(data) // 8)
            self.parts.append(("skipped", data[:6] + struct.pack("<H", end) + data[8:end]))
        else:
            self.parts.append(("skipped", forged.record(rng.choice((COMM, LOST, forged.MMAP2)), 0, b"")))

    def lose(self, body):
        """Who counts at the end what was lost counts the same again."""
        n = self.rng.choice((1, 1, 7, 1000, MOST if self.rng.random() < .02 else 3))
        again = self.rng.random() < .3
        kind, fixed = (LOST_SAMPLES, struct.pack("<Q", n)) if again else (
            LOST, struct.pack("<2Q", 1, n))
        self.parts.append((("lost", n, again), forged.record(kind, 0, fixed + body)))

    def records(self):
        return b"".join(data for _, data in self.parts)

    def data(self):
        """Breaks its end. Sets end: so many parts can be read; left: bytes that cannot."""
        rng = self.rng
        attrs, ids, features = self.described()
        self.tells_machine = self.is_foreign and self.ending != "killed"
        if self.is_foreign:
            features = {6: struct.pack(f"<I{ARCH - 4}s", ARCH - 4, b"aarch64"), **features}
        records, self.left, self.no_end, self.is_damaged = self.records(), 0, False, False
        whole = forged.recording(records, attrs, ids, features)
        start, = struct.unpack_from("<Q", whole, 40)
        self.end, at = len(self.parts), len(records)
        if self.is_other:
            return b"no recording"
        if self.ending == "damaged":
            return self.damaged(whole, start, at)
        if self.ending == "cut":
            return self.cut(whole, start, at)
        if self.ending == "killed":  # without a size, and what perf notes at its end
            to = self.cut_at(rng.choice((at, rng.randrange(len(self.parts[0][1]), at + 1))))
            self.left = to - self.whole()
            self.no_end = not self.left
            return whole[:SIZE_AT] + bytes(8) + whole[SIZE_AT + 8:72] + bytes(32) + \
                whole[HEADER:start + to]
        return whole

    def damaged(self, whole, start, size):
        """A record has no size."""
        self.cut_at(self.rng.randrange(len(self.parts[0][1]), size + 1))
        at = self.whole()
        self.left, self.is_damaged = size - at, at < size
        return whole[:start + at + 4] + bytes(4) + whole[start + at + 8:] if at < size else whole

    def cut(self, whole, start, size):
        """Within the records, or in what perf notes behind them."""
        if self.rng.random() < .3:
            to, self.no_end = self.rng.randrange(start + size, len(whole)), True
            # What features there are, two; then what they are.
            self.tells_machine &= to >= start + size + 2 * 16 + ARCH
            return whole[:to]
        self.tells_machine = False
        to = self.cut_at(self.rng.randrange(len(self.parts[0][1]), size + 1))
        self.left = size - self.whole()
        self.no_end = not self.left
        return whole[:start + to]

    def cut_at(self, to):
        """Of the records up to there; the same again."""
        ends, at = [], 0
        for _, data in self.parts:
            at += len(data)
            ends.append(at)
        self.end = sum(end <= to for end in ends)
        return to

    def whole(self):
        """Bytes of the records that can be read."""
        return sum(len(data) for _, data in self.parts[:self.end])

    def told(self, name):
        return sum(what == name for what, _ in self.parts[:self.end])

    def n_lost(self):
        found = [what for what, _ in self.parts[:self.end] if what and what[0] == "lost"]
        return max(min(MOST, sum(n for _, n, too in found if too == again)) for again in (0, 1))

    def seen(self):
        return [what for what, _ in self.parts[:self.end] if hasattr(what, "ip")]


class Judge:
    def __init__(self, build, folder, seed):
        self.hlguest, self.folder = hlguest_of(build), folder
        rng = self.rng = random.Random(seed)
        self.guests = [Guest(rng, names_of(rng, 6), f"guest{i}.elf")
                       for i in range(rng.choice((1, 1, 2)))]
        self.space = Space([(guest, 0x10000 + 0x8000 * i) for i, guest in enumerate(self.guests)])
        n = rng.choice((1, 1, 2, 3, rng.randint(12, 24)))
        foreign = rng.choice((.1, .4, 1))
        events = rng.sample(("cpu-clock", "page-faults"), rng.choice((1, 1, 2)))
        self.files = [Broken(rng, i, self.space, events, rng.choice((0, 5, 40, 120)),
                             foreign, n == 1)
                      for i in range(n)]
        self.names = [f"{i:02}.data" for i in range(n)]
        for name, one in zip([*(guest.path for guest in self.guests), *self.names],
                             [*self.guests, *self.files]):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(one.data())
        self.read = [one for one in self.files if not one.is_other]

    def run(self, *words):
        return run(self.hlguest, "report", "-q", "--force", "--border=keep", "--stacks=counters",
                   f"-j{self.rng.randint(1, 3)}", *words, *self.space.words(), *self.names,
                   cwd=self.folder, env=environment(COLUMNS="10000"))

    def check(self):
        seen = [s for one in self.read for s in one.seen()]
        out, err, status = self.run("--format=json")
        if "not in this build" in err:
            raise Skip(err.strip())
        if not seen:
            if status == 0:
                yield f"nothing is seen, and status 0: {out}"
            return
        told = json.loads(out)
        fits = told["trust"]["verdict"] != "mismatch"
        yield from self.same("status", status, 1 if len(self.read) < len(self.files) else
                             0 if fits else 3)
        yield from self.same("seen", told["totals"]["seen"]["samples"], len(seen))
        yield from self.same("guest", told["totals"]["guest"]["samples"], sum(map(is_guest, seen)))
        yield from self.same("notes", [note for note in told["notes"] if OWN.match(note)],
                             list(self.notes(True)))
        yield from self.files_told(told)
        yield from self.same("lacks", told.get("lacks"), self.lacks())
        text = self.run("--wide=yes")[0].split("\n")
        yield from self.same("warnings", [line[10:] for line in text if line.startswith(
            "warning:  ") and OWN.match(line[10:])], list(self.notes(False)))

    @staticmethod
    def same(what, got, expected):
        if got != expected:
            yield f"{what}: {got}, not {expected}"

    def files_told(self, told):
        """Each has what it could be read of."""
        if len(self.files) == 1:
            yield from self.same("files", "files" in told, False)
            return
        for name, one, f in zip(self.names, self.files, told["files"], strict=True):
            yield from self.same(name, (f["path"], f["problem"] is not None), (name, one.is_other))
            if not one.is_other:
                yield from self.same(f"{name} {one.ending}", (f["samples"], f["guest"], f["lost"]), (
                    len(one.seen()), sum(map(is_guest, one.seen())), min(one.n_lost(), MOST_JSON)))

    def lacks(self):
        """All files', in numbers; None if nothing is lacking."""
        found = {"lost": sum(one.n_lost() for one in self.read),
                 **{name: sum(one.told(name) for one in self.read)
                    for name in ("throttled", "skipped", "unknown")},
                 "unread_bytes": sum(one.left for one in self.read),
                 "damaged": sum(one.is_damaged for one in self.read),
                 "no_end": sum(one.no_end for one in self.read)}
        found = {name: min(n, MOST_JSON) for name, n in found.items()}
        return found if any(found.values()) else None

    # Notes, in their order.

    def notes(self, details):
        others = [name for name, one in zip(self.names, self.files) if one.is_other]
        if others:
            yield f"{len(others)} of {len(self.files)} recordings left out: " + "; ".join(
                [f"{name}: is too short for a recording (record again)" for name in others[:SHOWN]] +
                [f"and {len(others) - SHOWN} more"] * (len(others) > SHOWN))
        yield from self.machines(details)
        several, n = len(self.files) > 1, len(self.read)
        left = min(MOST, sum(one.left for one in self.read))
        cut = [(name, one) for name, one in zip(self.names, self.files)
               if not one.is_other and one.left]
        vain = [name for name, one in zip(self.names, self.files)
                if not (one.is_other or any(map(is_guest, one.seen())) or
                        (one.is_foreign and one.tells_machine))]
        if several and vain and any(is_guest(s) for one in self.read for s in one.seen()):
            yield f"{len(vain)} of {n} recordings {'have' if len(vain) > 1 else 'has'} no guest " + \
                f"samples, and still count{'s' * (len(vain) == 1)}: {vain[0]}" + \
                f"{' and others' if len(vain) > 1 else ''} (leave out what was recorded in vain)"
        if several and cut:
            yield f"{len(cut)} of {len(self.files)} files {'are' if len(cut) > 1 else 'is'} cut " + \
                f"off: {cut[0][0]}{' and others' if len(cut) > 1 else ''} ({left} bytes are " + \
                "missing or hold no whole record)"
        yield from self.sums()
        damaged, ends = (sum(getattr(one, name) for one in self.read)
                         for name in ("is_damaged", "no_end"))
        if damaged and n > 1:
            yield f"{damaged} of {n} recordings {'is' if damaged == 1 else 'are'} damaged: what " + \
                "follows where no record begins was not read"
        if left and not several:
            yield ("the recording is damaged: no record begins where one should, and "
                   f"{left} bytes from there on were not read" if damaged else "the recording was "
                   f"cut off: {left} bytes at its end are missing or hold no whole record") + \
                ends_after([s.time for s in self.read[0].seen()])
        if ends:
            has = "has" if ends == 1 else "have"
            yield f"{ends} of {n} recordings {has} {NO_END}" if n > 1 else \
                f"the recording has {NO_END}"

    def machines(self, details):
        """Of sixteen all are told, and no more files are begun then: what these have is a detail."""
        told = 0
        for name, one in zip(self.names, self.files):
            if one.is_other or not one.tells_machine:
                continue
            for guest in self.guests:
                if details or told - told % len(self.guests) < MOST_TOLD:
                    yield f"{name} was recorded on AArch64, and {guest.path} is for x86-64: it " + \
                        "cannot be the guest's ELF"
                told += 1
        rest = told - -(-MOST_TOLD // len(self.guests)) * len(self.guests)
        if rest > 0:
            yield f"{rest} more notes on single recordings are left out (hlguest report -v lists them)" \
                if rest > 1 else "1 more note on a single recording is left out (hlguest report -v " \
                "lists it)"

    def sums(self):
        lost = min(MOST, sum(one.n_lost() for one in self.read))
        throttled, skipped, unknown = (sum(one.told(name) for one in self.read)
                                       for name in ("throttled", "skipped", "unknown"))
        if lost:
            yield f"{lost} event{' was' if lost == 1 else 's were'} lost while recording (a larger " + \
                "-m, or a lower -F, loses less)"
        if throttled:
            yield f"the kernel throttled sampling {throttled} time{'s' * (throttled != 1)}: busy " + \
                "periods have too few samples"
        if skipped:
            yield f"{skipped} record{' makes' if skipped == 1 else 's, or parts of records, make'} no " + \
                f"sense and {'was' if skipped == 1 else 'were'} skipped"
        if unknown:
            yield (f"{unknown} records are of types" if unknown > 1 else "1 record is of a type") + \
                " that this hlguest does not know, and " + ("were" if unknown > 1 else "was") + \
                " skipped (is it older than perf?)"


def differences(build, folder, seed):
    return Judge(build, folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 60, differences))
