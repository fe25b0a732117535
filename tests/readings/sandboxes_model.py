#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reports by sandbox against another reading of the same numbers.

    sandboxes_model.py --build DIR [--seed N] [--seeds N]

made_sandboxes.py makes recordings up of VMMs whose threads make and run machines of KVM, of one
vCPU or several, one after the other or in turn, in one recording or several. Whose each sample
is is known from there, and all that report_model.py reads of reports is read of them, split by
sandbox and of chosen ones; and the list of sandboxes, in JSON, CSV and text.
"""
import collections
import csv
import io
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
import report_model
from forged import CPU, PERIOD, TEXT
from lines import Any, fitted_pieces, line, scaled, unit_for
from made_sandboxes import Vmm
from made_trust import INSNS, Coded, Flow, Moved
from modelled import CALL, CLOCKS, OUTSIDE, RODATA, Guest, Space, is_guest, names_of
from modelled_view import Count
from programs import hlguest_of
from seeds import seeds
from tap import environment, run

ANY, ALL = 6, 7
MOST = 4    # lines on a screen
LEAST = 10  # samples that tell which guest a sandbox runs
BASE, LOWER, SPREAD, SHARED = 0x10000, (1 << 60) - 1, (0x10000, 0x40008000), 0x7000000
SURE = 25   # distinct addresses on boundaries, at one base, that must be found


class Apart(Space):
    """Two guests at one address, and maybe what is run with either. An address has in its upper
    bits whose it is, from 1 on; ANY: that cannot be told, but one of them fits all; ALL: it is
    in what is run with either."""

    def place(self, ip):
        runs, ip = ip >> 60, ip & LOWER
        for i in (*[runs - 1] * (runs < ANY), *range(2, len(self.bases))) if runs else ():
            guest, base = self.bases[i]
            place = guest.place(ip - base + TEXT)
            if place != OUTSIDE:
                return i, ip - base + TEXT, place
        return None, ip, OUTSIDE


class Spread(Space):
    """A guest that lies at several bases, each sandbox at one; they are to be found."""

    def __init__(self, guest, found):
        super().__init__([(guest, found[0])])
        self.found = found

    def words(self):
        return [self.bases[0][0].path + "@auto"]

    def place(self, ip):
        for base in self.found:
            place = self.bases[0][0].place(ip - base + TEXT)
            if place != OUTSIDE:
                return 0, ip - base + TEXT, place
        return None, ip, OUTSIDE


class Made:
    """A guest, at one base or several, or two at one base, and maybe a third that is run with
    either; and recordings of their sandboxes."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        kind = rng.choice(("plain", "plain", "apart", "apart", "spread"))
        self.apart, self.spread = kind == "apart", kind == "spread"
        make = Guest if kind == "plain" else Coded if self.apart else Moved
        self.guests = [make(rng, names_of(rng, rng.randint(3 if self.spread else 1, 8)),
                            f"guest{i}.elf")
                       for i in range(1 + (self.apart and rng.choice((1, 1, 2))))]
        bases = [(guest, SHARED if i == 2 else BASE) for i, guest in enumerate(self.guests)]
        self.space = Apart(bases) if self.apart else Spread(self.guests[0], SPREAD) \
            if self.spread else Space(bases)
        self.events = rng.choice((["cpu-clock"], ["cpu-clock"], ["cycles"],
                                  ["cpu-clock", "cycles"]))
        self.lacks = rng.choice((0, 0, CPU, PERIOD))
        draws = self.draws_apart() if self.apart else [
            self.draw(self.guests[0], base) for base in SPREAD] if self.spread else [
            lambda: self.space.some(rng)]
        returns = self.returns() if kind != "plain" and rng.random() < .4 else ()
        self.recordings = [
            Vmm(rng, i, self.events, draws, rng.randint(5, 80) if i else
                rng.choice((40, 120, 400)) if kind == "plain" else 700, self.lacks,
                returns)
            for i in range(rng.choice((1, 1, 2, 3)))]
        self.samples = [s for one in self.recordings for s in one.samples]

    def draw(self, guest, base, least=TEXT):
        """Addresses of its instructions."""
        at = sorted(at for at in guest.starts if at >= least) or sorted(guest.starts)
        return lambda: base - TEXT + self.rng.choice(at)

    def returns(self):
        """Puts calls by pointers into the guests; gives where they return to, of each draw."""
        found = []
        for guest, base in zip(self.guests * 2, SPREAD if self.spread else (BASE, BASE)):
            found.append([at + 2 - TEXT + base for at in sorted(guest.starts)
                          if guest.boundary(at) and self.is_call(guest, at)])
        both = sorted({*found[0]} & {*found[1]})
        longer = max(range(min(2, len(self.guests))), key=lambda i: self.guests[i].end)
        return [*found, found[longer], both, both] if all(found) else ()

    @staticmethod
    def is_call(guest, at):
        """Makes a move of two bytes one."""
        code = guest.code
        if {at + 1, at + 2} & guest.starts == {at + 2} and \
                code[at - TEXT:at - TEXT + 2] == INSNS[2]:
            guest.code = code[:at - TEXT] + CALL + code[at - TEXT + 2:]
            guest.flows[at] = Flow(None, at + 2, True)
        return guest.code[at - TEXT:at - TEXT + 2] == CALL and at in guest.flows

    def draws_apart(self):
        """Of the one, of the other, of what is in the longer one alone, of where both have
        instructions, and of both in turn."""
        one, other = [self.draw(guest, BASE) for guest in self.guests[:2]]
        short, long = sorted(self.guests[:2], key=lambda guest: guest.end)
        both = [at for at in sorted(short.starts) if short.boundary(at) and long.boundary(at)]
        draws = [one, other, self.draw(long, BASE, short.end + RODATA),
                 lambda: BASE - TEXT + self.rng.choice(both or [TEXT]),
                 lambda: self.rng.choice((one, other))()]
        if len(self.guests) == 2:
            return draws
        shared = self.draw(self.guests[2], SHARED)
        return [lambda of=of: shared() if self.rng.random() < .3 else of() for of in draws]


class Judge(report_model.Judge):
    def __init__(self, hlguest, folder, made):
        super().__init__(hlguest, folder, made)
        rng, runs = made.rng, sorted({s.sandbox for s in made.samples})
        self.options["by"] = rng.choice(("", "sandbox", "sandbox", "event,sandbox", "tid,sandbox"))
        self.counters = False
        if rng.random() < .4:
            chosen = rng.choice(runs)
            last = chosen + rng.choice((0, 0, 2)) if chosen > 0 else chosen
            self.select.words.append(f"--sandbox={chosen}" + f"-{last}" * (last > chosen)
                                     if chosen > 0 else "--sandbox=1")
            low, high = (chosen, last) if chosen > 0 else (1, 1)
            self.select.keeps.append(lambda s: low <= s.sandbox <= high)
        self.counted()

    def counted(self):
        """filter/trust/apart.h: whose samples all fit one of the guests; of those that can be
        tested it takes ten. All count, whichever are selected."""
        super().counted()
        self.everyone = [s for s in self.made.samples if is_guest(s)]
        if not self.made.apart:
            return
        groups = collections.defaultdict(list)
        for s in self.everyone:
            groups[s.file, s.sandbox, s.tid if s.sandbox < 0 else None].append(s)
        self.lanes = {}
        for key, of in groups.items():
            fit = [i for i in range(2) if all(self.fits(i, s.ip) for s in of)]
            tested = fit and sum(self.at(fit[0], s.ip)[1] is not None for s in of)
            self.lanes[key] = fit[0] + 1 if len(fit) == 1 and tested >= LEAST else \
                ANY if fit else 0
            if self.lanes[key] == ANY and all(self.at(3, s.ip)[0] != OUTSIDE for s in of):
                self.lanes[key] = ALL
        told = {file for (file, _, _), lane in self.lanes.items() if lane not in (0, ANY)}
        self.is_told = told == {s.file for s in self.everyone}
        left = {id(s) for s in self.guest}
        self.guest = [s._replace(ip=s.ip | lane << 60, callers=s.callers and (
            tuple(at | lane << 60 for at in s.callers[0]), s.callers[1]))
                      for key, of in groups.items() for s in of for lane in [self.lanes[key]]
                      if id(s) in left]

    def at(self, i, ip):
        """The place in one of them, or what is run with it, and whether an instruction begins."""
        for guest, base in (self.made.space.bases[k] for k in (i, 2) if
                            k < len(self.made.guests)):
            place = guest.place(ip - base + TEXT)
            if place != OUTSIDE:
                return place, guest.boundary(ip - base + TEXT)
        return OUTSIDE, None

    def fits(self, i, ip):
        """In its code, and nowhere off instructions."""
        place, boundary = self.at(i, ip)
        return place.kind not in ("outside", "data") and boundary is not False

    def check(self):
        """Where too few samples tell who lies where, nothing is asked."""
        if self.made.apart and not self.is_told or self.made.spread and not all(
                self.at_base(base) >= SURE for base in SPREAD):
            return ()
        return super().check()

    def at_base(self, base):
        """Distinct addresses on instructions there."""
        guest = self.made.guests[0]
        return len({s.ip for s in self.everyone if guest.boundary(s.ip - base + TEXT)})

    def spread(self):
        """The bases that have selected samples."""
        guest = self.made.guests[0]
        return [base for base in SPREAD if any(
            guest.place(s.ip - base + TEXT) != OUTSIDE for s in self.guest)]

    def kept_at(self, base):
        """(whose each is, the sample) there. Of a recording's only sandbox threads are kept."""
        guest = self.made.guests[0]
        files = {one.number for one in self.listed() if len(one.sandboxes) > 1}
        return [((s.sandbox, None) if s.sandbox > 0 and s.file in files else (-1, s.tid), s)
                for s in self.guest if guest.place(s.ip - base + TEXT) != OUTSIDE and (
                    self.options["gaps"] != "drop" or
                    guest.place(s.ip - base + TEXT).kind != "gap")]

    def owner(self, base):
        """The number of the sandbox that alone has samples there; None: none, or several."""
        whose = {who for who, _ in self.kept_at(base)}
        return next(iter(whose))[0] if len(whose) == 1 and min(whose, key=str)[1] is None else None

    def alone(self, n):
        """The only one of several bases that it has for itself, or has all it has for itself at;
        or None."""
        found = [base for base in self.spread() if self.owner(base) == n]
        return found[0] if len(found) == 1 and len(self.spread()) > 1 else self.own(n)

    def own(self, n):
        """That one which has all addresses that it alone was sampled at, of ten samples; or
        None."""
        whose, mine = collections.defaultdict(set), collections.Counter()
        is_apart = "sandbox" in self.options["by"]
        every = [((s.event, s.ip, is_apart and who), who, base)
                 for base in self.spread() for who, s in self.kept_at(base)]
        for key, who, _ in every:
            whose[key].add(who)
        for key, _, base in every:
            mine[base] += whose[key] == {(n, None)}
        mine = +mine
        return next(iter(mine)) if len(mine) == 1 and len(self.spread()) > 1 and \
            min(mine.values()) >= LEAST else None

    def lanes_of(self, n):
        """What was found of sandboxes of that number, of recordings that list them."""
        files = {s.file for s in self.guest if s.sandbox == n}
        return {0 if lane == ANY else lane for (file, number, _), lane in self.lanes.items()
                if number == n and file in files}

    def runs(self, n):
        """What a sandbox of that number runs, of all recordings: its path; None: unknown."""
        lanes = self.lanes_of(n)
        if len(lanes) != 1 or lanes == {0}:
            return None
        return self.made.guests[2 if lanes == {ALL} else max(lanes) - 1].path

    def listed(self):
        """The recordings that list their sandboxes."""
        return [one for one in self.made.recordings if one.sandboxes]

    def nothing(self, what, err, status):
        if status != 1:
            yield f"{what}: status {status} though nothing is left"

    def differences(self, told):
        yield from super().differences(told)
        yield from self.sandboxes(told)

    def of_number(self, n):
        """(the machines of that number, their guest samples)"""
        files = {one.number for one in self.listed()}
        return [one.sandboxes[n - 1] for one in self.listed() if len(one.sandboxes) >= n], \
            [s for s in self.guest if s.sandbox == n and s.file in files]

    def sandboxes(self, told):
        expected = []
        for n in range(1, 1 + max([len(one.sandboxes) for one in self.listed()], default=0)):
            machines, samples = self.of_number(n)
            pids, fds = {m.pid for m in machines}, {m.first for m in machines}
            expected.append({
                "sandbox": n, "pid": pids.pop() if len(pids) == 1 else None,
                "fd": fds.pop() if len(fds) == 1 else None,
                "vcpus": max(len(m.ran) for m in machines),
                "samples": len(samples), "period": sum(s.period for s in samples)})
            if self.made.apart:
                expected[-1]["image"] = self.runs(n)
            if self.made.spread and self.alone(n):
                expected[-1] |= {"image": "guest0.elf", "base": hex(self.alone(n))}
        if told.get("sandboxes", []) != expected:
            yield f"sandboxes: {told.get('sandboxes')}, not {expected}"
        rows = [(f["name"], int(f["samples"]), int(f["period"])) for f in csv.DictReader(
            io.StringIO(self.run("csv")[0])) if f["record"] == "sandbox"]
        if rows != [(str(f["sandbox"]), f["samples"], f["period"]) for f in expected]:
            yield f"CSV: {rows}, not {expected}"
        if self.options["mode"] != "host":
            yield from self.lines(expected)
        if self.made.spread:
            yield from self.bases(told["images"][0]["bases"])

    def bases(self, told):
        """What lies at each, and whose it is if one's alone; in text with all details."""
        guest, expected = self.made.guests[0], {}
        for base in self.spread():
            of = Count(s for s in self.guest if guest.place(s.ip - base + TEXT) != OUTSIDE and (
                self.options["gaps"] != "drop" or guest.place(s.ip - base + TEXT).kind != "gap"))
            expected[hex(base)] = of.samples, of.period, self.owner(base)
        if expected != {f["base"]: (f["samples"], f["period"], f.get("sandbox")) for f in told}:
            yield f"bases {told}, not {expected}"
        out = self.run("text", "--verbose=yes", "--color=never")[0]
        got = re.findall(r"^ {12}(0x\S+) +(\d+) samples(.*)$", out, re.M)
        lines = [(f["base"], str(f["samples"]),
                  f", sandbox {f['sandbox']}" if f.get("sandbox") else
                  f", thread {f['tid']}" if f["tid"] is not None else "") for f in told
                 if len(told) > 1]
        if got != lines:
            yield f"bases in text: {got}, not {lines}"

    def lines(self, listed):
        """Of several those that have samples; of more than four the largest three."""
        rng = self.rng
        screen, wide = rng.random() < .6, rng.random() < .3
        columns = rng.choice((60, 80, 200))
        env = environment(COLUMNS=str(columns), **({"LINES": "40"} if screen else {}))
        words = [*self.words(), "--color=never", "--verbose=no"] + ["--wide"] * wide
        out = run(self.hlguest, "report", "-q", "--force", "--border=keep", *words,
                  *self.made.space.words(), *self.files, cwd=self.folder, env=env)[0]
        found = re.search(r"^sandboxes .*\n(?:          .*\n)*", out, re.M)
        got = found[0].splitlines() if found else []
        columns = 0 if wide else columns
        shown = [f for f in listed if f["samples"] and len(listed) > 1]
        more = len(shown) - MOST + 1 if len(shown) > MOST and not wide else 0
        if more:
            shown = sorted(shown, key=lambda f: (-f["samples"], f["sandbox"]))[:MOST - 1]
        pids = {f["pid"] for f in listed} - {None}
        expected = [self.line(f, i == 0, len(pids) > 1, columns) for i, f in enumerate(shown)]
        if more:
            expected.append(line(f"          and {more} more (--wide lists them, --by=sandbox "
                                 "reports each)"))
        rest = Count(self.guest)
        rest.samples -= sum(f["samples"] for f in listed)
        rest.period -= sum(f["period"] for f in listed)
        if not shown and "no known sandbox" in out:
            yield "samples of no known sandbox, where none is known"
        if rest.samples and shown:
            expected.append(fitted_pieces("", [
                (0, "of no known sandbox", ""), *self.counts(rest.samples, rest.period)],
                columns))
        if len(got) != len(expected) or not all(map(re.fullmatch, expected, got)):
            yield f"text {columns} {screen}: {got}, not {expected}"

    def counts(self, samples, period):
        yield 0, f"{samples} sample{'s' * (samples != 1)}", ", "
        events = {s.event for s in self.guest}
        if len(events) == 1 and events <= set(CLOCKS):
            if "--raw=yes" not in self.words():
                yield 1, scaled(period, unit_for(sum(s.period for s in self.guest), True)), ", "

    def line(self, f, first, with_pid, columns):
        """Its descriptor is left out first."""
        label = "sandboxes" if first else ""
        for with_fd in (True, False):
            who = f"sandbox {f['sandbox']}" + (
                f" ({f['vcpus']} vCPUs)" if f["vcpus"] > 1 else f" (fd {f['fd']})"
                if f["fd"] is not None and with_fd else "")
            pieces = [(0, who, "")]
            if self.made.apart:
                several = len(self.lanes_of(f["sandbox"])) > 1
                pieces.append((0, f["image"] or ("several ELFs" if several else "unknown ELF"),
                               ", "))
            if "base" in f:
                pieces += [(0, f["image"], ", "), (1, f"base {f['base']}", ", ")]
            if with_pid and f["pid"] is not None:
                pieces.append((1, f"pid {f['pid']}", ", "))
            pieces += self.counts(f["samples"], f["period"])
            whole = 10 + sum(len(between if i else "") + len(text[0] if isinstance(text, Any)
                                                              else text)
                             for i, (_, text, between) in enumerate(pieces))
            if not columns or whole <= columns:
                break
        return fitted_pieces(label, pieces, columns)


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, Made(seed)).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 40, differences))
