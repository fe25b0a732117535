#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Guest calls and host calls in a report, against another reading of the same exits.

    calls_model.py --build DIR [--seed N] [--seeds N]

Recordings of Hyperlight's guests are made up, of versions whose ports mean different things and
of none: threads that run a sandbox each, which begins at its entry point, as a snapshot of one, or
as nothing that is known, with samples between its exits. How many calls these are, of all and of
each sandbox, and how long host calls took, is known from there (filter/view/calls.h).
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
from forged import RAW, TEXT
from lines import line, plural, whole
from made_sandboxes import RUN
from modelled import GUEST_USER, IOCTL, KERNEL, Guest, Recording, Sample, Space, names_of, write_all
from programs import hlguest_of
from seeds import seeds
from tap import run

FUNC, GLOBAL = 2, 1
FIELDS = {
    "kvm_exit": (("unsigned int", "exit_reason", 8, 4), ("unsigned long", "guest_rip", 16, 8)),
    "kvm_entry": (("unsigned int", "vcpu_id", 8, 4), ("unsigned long", "rip", 16, 8)),
    "kvm_pio": (("unsigned int", "rw", 8, 4), ("unsigned int", "port", 12, 4),
                ("unsigned int", "size", 16, 4), ("unsigned int", "count", 20, 4),
                ("unsigned int", "val", 24, 4)),
}
EXIT, ENTRY, PORT = (f"kvm:{name}" for name in FIELDS)
NUMBERS = {f"kvm:{name}": i + 1 for i, name in enumerate(FIELDS)}  # as forged.formats() has them
LOG, CALL, HALT, NOTIFY = 99, 101, 108, 109
VERSIONS = ("", "0.12.9", "0.13.0", "0.13.1", "0.17.3", "0.18.0", "1.2.0")
BASE = 0x10000


class Hyperlight(Guest):
    """Begins at its first byte; dispatch_function is the last symbol."""

    def __init__(self, rng, version):
        self.version = version
        super().__init__(rng, names_of(rng, 4), "guest.elf")
        self.dispatch = TEXT + len(self.code)
        self.add("dispatch_function", self.dispatch, 16, FUNC, GLOBAL)
        self.code += b"\x55" * 16
        self.end = TEXT + len(self.code)
        self.tops.append(self.symbols[-1])

    def note(self, elf):
        if self.version:
            text = self.version.encode() + b"\0"
            note = struct.pack("<3I12s", 11, len(text), 1, b"Hyperlight")
            note += text + bytes(-len(text) % 4)
            elf.section(elf.name(b".note.hyperlight"), 7, at=elf.put(note), size=len(note))


class Sandbox:
    """What it did. began: as its ELF does, as a snapshot (False), or as nothing that is known
    (None)."""

    def __init__(self, began):
        self.began, self.ports = began, {CALL: 0, HALT: 0, NOTIFY: 0, LOG: 0, 0: 0}
        self.ns, self.guest_ns, self.exits_ns = dict.fromkeys(self.ports, 0), 0, 0


class Exits(Recording):
    """A thread for each sandbox, and one that its vCPU may go on in."""

    def __init__(self, rng, number, guest):
        self.guest = guest
        super().__init__(rng, number, ["cpu-clock"], lambda: 0, 0)
        self.kind |= RAW
        self.has_runs, self.losses = rng.random() < .8, [3] * (rng.random() < .15)
        self.lost_at = [self.begins] * len(self.losses)
        self.events += [EXIT, ENTRY, PORT] + [IOCTL] * self.has_runs
        self.every |= dict.fromkeys(self.events[1:], 1)
        self.sandboxes = []
        for i in range(rng.choice((1, 2, 3, 5))):
            self.live(90 + 2 * i, 10 + i)
        self.samples.sort(key=lambda s: s.time)

    def live(self, tid, fd):
        rng = self.rng
        self.of = Sandbox(rng.choice((True, False, None)) if rng.random() < .3 else True)
        self.sandboxes.append(self.of)
        self.now, self.tid, self.fd = self.begins + len(self.sandboxes), tid, fd
        rip = BASE if self.of.began else {False: self.guest.dispatch - TEXT + BASE,
                                          None: BASE + 1}[self.of.began]
        if self.has_runs and rng.random() < .1:  # it was recorded up to there
            self.of.began = False
            self.run()
            return
        self.enter(rip)
        ports = rng.choice(((0, LOG, CALL, CALL, HALT, NOTIFY), (0, HALT)))
        for _ in range(rng.choice((1, 5, 30))):
            self.once(rng.choice(ports))
        if rng.random() < .5:
            self.once(HALT, True)

    def wait(self):
        self.now += self.rng.choice((10, 1000, self.rng.randrange(5, 10**6)))

    def hit(self, event, raw):
        raw = struct.pack("<HHi", NUMBERS.get(event, 78), 0, self.tid) + raw
        raw += bytes((4 - len(raw)) % 8)
        self.samples.append(Sample(self.number, self.now, 0, 70, self.tid, event, 1 << 40, KERNEL,
                                   1, None, raw))

    def run(self):
        self.now += 1
        self.hit(IOCTL, struct.pack("<4Q", 16, self.fd, RUN, 0))

    def enter(self, rip):
        if self.has_runs:
            self.run()
        self.now += 1
        self.hit(ENTRY, struct.pack("<IIQ", 0, 0, rip))
        self.entered = self.now

    def once(self, port, last=False):
        """In the guest, out for a port or for nothing, and in again."""
        rng, of = self.rng, self.of
        again = not port and rng.random() < .2  # where its ELF begins
        at = BASE if again else BASE + 20 + rng.randrange(40)
        for _ in range(rng.choice((0, 1, 3))):
            self.wait()
            self.samples.append(Sample(self.number, self.now, 0, 70, self.tid, "cpu-clock", at,
                                       GUEST_USER, 1000, None))
        self.wait()
        of.guest_ns += self.now - self.entered
        left = self.now
        self.hit(EXIT, struct.pack("<IIQ", 30 if port else 1, 0, at))
        of.ports[port] += 1
        if port:
            self.now += 1
            self.hit(PORT, struct.pack("<5I", 1, port, 4, 1, self.guest.dispatch - TEXT + BASE))
        if last:
            return
        if rng.random() < .3:
            self.tid ^= 1  # another thread goes on with it
        self.wait()
        self.enter(self.guest.dispatch - TEXT + BASE if port == HALT else
                   at + (not again))
        of.ns[port] += self.now - left
        of.exits_ns += (self.now - left) * (port != HALT)

    def known(self, event):
        return (2, NUMBERS[event]) if event in NUMBERS else super().known(event)

    def features(self):
        """The formats of KVM's tracepoints."""
        return {1: forged.formats(tracepoints=FIELDS)}


class Made:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.version = rng.choice(VERSIONS)
        self.guests = [Hyperlight(rng, self.version)]
        self.space = Space([(self.guests[0], BASE)])
        self.recordings = [Exits(rng, i, self.guests[0]) for i in range(rng.choice((1, 1, 2)))]


class Judge:
    def __init__(self, hlguest, folder, seed):
        self.made = Made(seed)
        self.argv = [hlguest, "report", "-q", "--force", *self.made.space.words(),
                     *write_all(folder, self.made)]
        self.folder = folder
        number = tuple(map(int, self.made.version.split("."))) if self.made.version else ()
        self.counts_halts = number >= (0, 13, 1)
        self.host = NOTIFY if number >= (0, 18, 0) else CALL

    def calls(self, sandboxes, timed):
        """Each start that was seen ends with a Halt that ends no call."""
        if not self.counts_halts:
            return None
        starts = sum(of.began is True for of in sandboxes)
        told = {"guest": max(0, sum(of.ports[HALT] for of in sandboxes) - starts),
                "host": sum(of.ports[self.host] for of in sandboxes)}
        ns = sum(of.guest_ns + of.exits_ns for of in sandboxes)
        if timed and ns:
            told |= {"host_ns": sum(of.ns[self.host] for of in sandboxes), "time_ns": ns}
        return told

    def check(self):
        out, err, status = run(*self.argv, "--format=json", cwd=self.folder)
        made = self.made.recordings
        if not any(s.mode == GUEST_USER for one in made for s in one.samples):
            return
        if status not in (0, 3):
            yield f"status {status}: {err}"
            return
        told = json.loads(out)
        lists = [one for one in made if one.has_runs and one.sandboxes]
        for f in told.get("sandboxes", ()):
            of = [one for one in lists if len(one.sandboxes) >= f["sandbox"]]
            yield from self.same(f"sandbox {f['sandbox']}", f.get("calls"), of, [
                one.sandboxes[f["sandbox"] - 1] for one in of], True)
        every = [of for one in made for of in one.sandboxes]
        # Of a recording without KVM_RUN nothing tells sandboxes apart, so that of both kinds
        # together nothing tells how many began.
        if lists and not all(one.has_runs for one in made if one.sandboxes):
            if told.get("calls"):
                yield f"calls of recordings with and without KVM_RUN: {told['calls']}"
        elif lists or all(of.began is not None for of in every):
            yield from self.same("all", told.get("calls"), made, every, False)
        yield from self.text(told.get("calls"))
        yield from self.selected(told)

    def selected(self, told):
        """Calls are told of whole recordings; of sandboxes that are all that is selected, too."""
        for more in ([], [self.made.rng.choice(("--tid=90", "--cpu=0", "--event=cpu-clock",
                                                "--time=0.5,", "--pid=70", "--event=kvm:*"))]):
            out, _, _ = run(*self.argv, "--format=json", "--sandbox=1", *more, cwd=self.folder)
            some = json.loads(out or '{"totals": null}')
            totals = some["totals"]
            if not totals or not 0 < totals["deselected"]["samples"] < totals["seen"]["samples"]:
                continue
            calls, got = ([f.get("calls") for f in of.get("sandboxes", ())] for of in (told, some))
            if some.get("calls") or got != (calls if not more else [None] * len(got)):
                yield f"--sandbox=1 {more}: {some.get('calls')}, {got}, of {calls}"

    def same(self, what, got, of, sandboxes, even_none):
        """Unless recordings of a sandbox's number began it in several ways."""
        timed = {one.has_runs and not one.losses for one in of}
        began = {one.began for one in sandboxes}
        if len(of) > 1 and (len(timed) > 1 or len(began) > 1):
            return
        expected = self.calls(sandboxes, timed == {True})
        if None in began or expected and not even_none and not (
                expected["host"] + sum(one.ports[HALT] for one in sandboxes)):
            expected = None
        if got != expected:
            yield f"{self.made.version}, {what}: calls {got}, not {expected}"

    def text(self, expected):
        out = run(*self.argv, "--color=never", "--wide", cwd=self.folder)[0]
        got = re.findall(r"^calls .*", out, re.M)
        if not expected:
            if got:
                yield f"text: {got}"
            return
        pattern = line("calls     ", plural(expected["guest"], "guest call"), ", ",
                       plural(expected["host"], "host call"))
        if expected.get("host_ns"):
            share = expected["host_ns"] / expected["time_ns"]
            pattern += line(", which took ", whole(100 * share) if share >= .005 else "under 1",
                            " % of the time")
        else:
            pattern += line(" (what they took: hlguest exits)")
        if len(got) != 1 or not re.fullmatch(pattern, got[0]):
            yield f"text: {got}, not {pattern}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 40, differences))
