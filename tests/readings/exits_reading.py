# SPDX-License-Identifier: GPL-2.0-only
"""A second reading of KVM's tracepoints: exits, calls and times of a recording.

By what man/hlguest-exits.1, tools/exits/*.h and tools/feed/queue.h say, from the list that
made_exits.py made the recording from: who is next to whom, instead of what state is next.
"""
import collections

from made_exits import (ABORT, ARM, CREATE_VCPU, EINTR, ERRNO, HALT, INSN_MAX, NONE, TRAP, USER)

LONE = EXITS, ENTRIES, VISITS, RUNS, LOST, LATE, BAD = (
    "kvm_exit without kvm_entry", "kvm_entry without kvm_exit",
    "kvm_userspace_exit without KVM_RUN", "KVM_RUN without kvm_userspace_exit",
    "pairs across lost records", "records too late to be put in order",
    "records that lack fields")


class Pair:
    """kind: exit, vmm, call, or between guest calls. other: of an exit, the reason of its first
    time in the VMM; of that, of the exit that it is in."""

    def __init__(self, kind, begin, story, reason, rip, port=None, other=None):
        self.kind, self.begin, self.story = kind, begin, story
        self.reason, self.rip, self.port, self.other = reason, rip, port, other
        self.ns = None


class Story:
    """A vCPU on its thread: exits, entries, and what else its calls depend on, in their order."""

    def __init__(self, pid, tid, number):
        self.pid, self.tid, self.number = pid, tid, number
        self.events, self.time = [], collections.Counter()

    def exit(self):
        """The exit that it is in."""
        for event in reversed(self.events):
            if isinstance(event, Exit):
                return None if event.left else event
            if isinstance(event, Entry):
                break
        return None


class Exit:
    def __init__(self, record, rip):
        self.record, self.rip = record, rip
        self.port = self.told = None  # told: by which record
        self.left = False             # its thread has gone on to another vCPU
        self.inner = 0                # ns in the VMM
        self.flush = None             # see is_flush
        self.visited = None           # for which reason the VMM was told first


class Entry:
    def __init__(self, record, rip, out, aborts):
        self.record, self.rip, self.out, self.aborts = record, rip, out, aborts


class Reading:
    """Pairs, and what is in none, of some of a recording's threads."""

    def __init__(self, made, keeps, window):
        self.made, self.guest, self.window = made, made.guest, window
        self.pairs, self.stories, self.lone = [], [], collections.Counter()
        self.crossed = False
        self.gaps = []  # (how many records came out before, start, end, CPU or None)
        threads = collections.defaultdict(list)
        for i, r in enumerate(self.queue(keeps)):
            r.at, of = i, threads[r.pid, r.tid]
            if of and r.time < of[-1].time:
                self.lone[LATE] += 1
                self.gaps.append((i, r.time - 1, r.time, None))
            else:
                of.append(r)
        for of in threads.values():
            Thread(self, of)

    def queue(self, keeps):
        """By time, as tools/feed/queue.h says; and gaps, as tools/exits/gaps.h does."""
        waiting, out, complete, newest, cpus = [], [], 0, 0, {}
        for r in self.made.stream:
            if r is None:  # a round
                out += sorted((w for w in waiting if w.time <= complete), key=lambda w: w.time)
                waiting, complete = [w for w in waiting if w.time > complete], newest
            elif r.event is None:  # what comes is no older than what went out
                start = cpus.get(r.cpu, max((w.time for w in out), default=0))
                self.gaps.append((len(out), min(start, r.time), r.time, r.cpu))
            elif keeps(r) and r.short:
                self.lone[BAD] += 1
                self.gaps.append((len(out), r.time - 1, r.time, None))
            elif keeps(r) and r.is_of_interest():
                waiting.append(r)
                newest, cpus[r.cpu] = max(newest, r.time), r.time
        return out + sorted(waiting, key=lambda w: w.time)

    def is_torn(self, begin, end, by=None):
        """Could records be lost between, as was known when the second came, or another?"""
        by = (by or end).at
        return any(at <= by and begin.time < stop and start < end.time and
                   (cpu is None or begin.cpu != end.cpu or cpu == begin.cpu)
                   for at, start, stop, cpu in self.gaps)

    def counts(self, record):
        return self.window[0] <= record.time < self.window[1]

    def is_early(self, pair):
        """Did its thread not run a vCPU before?"""
        begin = pair.begin
        return not any(r.is_run() and (r.pid, r.tid) == (begin.pid, begin.tid) and
                       r.time <= begin.time for r in self.made.records)

    def add(self, pair, end):
        pair.ns = end.time - pair.begin.time
        if self.counts(pair.begin):
            self.pairs.append(pair)


class Thread:
    """Who is next to whom among the records of a thread."""

    def __init__(self, reading, records):
        self.all, self.records, self.lone = reading, records, reading.lone
        self.guest, self.fields = reading.guest, reading.made.fields
        self.has_runs = reading.made.has("sys_enter_ioctl")
        self.stories = {}
        self.changes = self.find_changes()
        self.now = []  # by record: the latest crossing's story, and the exit that it is in
        self.find_crossings()
        self.find_visits()
        for story in self.stories.values():
            self.cross(story)
            self.find_calls(story)
        reading.stories += self.stories.values()

    def story(self, number=None):
        first = self.records[0]
        return self.stories.setdefault(number, Story(first.pid, first.tid, number))

    def find_changes(self):
        """KVM_RUNs of another vCPU: of another descriptor, or of one that was made since."""
        changes, last, made = set(), None, False
        for i, r in enumerate(self.records):
            made = made or r.cmd == CREATE_VCPU
            if r.is_run():
                if last and (made or r.fd != last.fd):
                    changes.add(i)
                last, made = r, False
        return changes

    def halts(self, port):
        return self.guest.halt is not None and port == HALT

    def rip_of(self, r):
        name = {"kvm_exit": "guest_rip", "kvm_entry": "rip"}[r.event]
        return (r.vcpu_pc if self.guest.is_arm else r.values[name]) if name in self.fields else None

    def aborts(self, out, rip):
        """A guest that aborts goes on behind each of its writes, but for the last."""
        return bool(self.guest.halt and out and out.port == ABORT and out.rip is not None and
                    rip and (rip - out.rip) % 2**64 > INSN_MAX)

    def crossing(self, story, r):
        rip, out = self.rip_of(r), story.exit()
        return Exit(r, rip) if r.event == "kvm_exit" else Entry(r, rip, out, self.aborts(out, rip))

    def find_crossings(self):
        story = None
        for i, r in enumerate(self.records):
            if r.event in ("kvm_exit", "kvm_entry"):
                story = self.story(r.vcpu_id if "vcpu_id" in self.fields else None)
                story.events.append(self.crossing(story, r))
            out = story and story.exit()
            if out and not out.told and r.is_port():
                out.port, out.told = self.guest.port_of(r), r
                if self.halts(out.port):
                    story.events.append("halted")
            if i in self.changes and story and not self.is_done(story):
                story.events.append("left")
                if out:
                    out.left, out = True, None
            if r.event == "kvm_userspace_exit" and r.errno < 0:
                (story or self.story()).events.append("cancelled")
                if r.errno == -4 and out and self.is_flush(story, out):
                    out.flush = r
            self.now.append((story, out))

    def is_done(self, story):
        """Has a call ended behind which the guest was not entered?"""
        for event in reversed(story.events):
            if isinstance(event, Exit) and self.halts(event.port):
                return True
            if isinstance(event, Entry):
                break
        return False

    def is_flush(self, story, out):
        """On arm64 the store that ended a call is finished by a KVM_RUN that fails at once."""
        return self.guest.is_arm and out.record.ret == 2 and not out.flush and self.is_done(story)

    def find_visits(self):
        """Times in the VMM: from each userspace exit to KVM_RUN, or the next entry."""
        since, ran, visit = 0, None, None  # since: KVM_RUN, or the last crossing or visit
        for i, r in enumerate(self.records):
            if visit and (r.is_run() if self.has_runs else r.event == "kvm_entry"):
                self.end_visit(visit, i)
                visit = None
            if r.event in ("kvm_exit", "kvm_entry"):
                since = i
            elif r.is_run():
                self.lone[RUNS] += ran is not None
                since, ran = i, r
            elif r.event == "kvm_userspace_exit":
                self.lone[VISITS] += visit is not None
                visit = self.begin_visit(i, since)
                if ran and self.all.counts(ran) and not self.all.is_torn(ran, r):
                    visit.story.time["guest or kernel"] += r.time - ran.time
                since, ran = i, None
        self.lone[VISITS] += visit is not None

    def begin_visit(self, i, since):
        r, (story, out), between = self.records[i], self.now[i], self.records[since:i]
        ports = [self.guest.port_of(w) for w in between if w.is_port() and not w.is_answer()]
        rips = [w.rip for w in between if w.event == "kvm_emulate_insn"]
        reason = (ERRNO, -r.errno) if r.errno < 0 else (USER, r.reason)
        if out and out.flush is r:
            ports = [HALT]
        if out:
            out.visited = out.visited or reason
        return Pair("vmm", r, story or self.story(), reason,
                    out.rip if out else rips[-1] if rips else None, ports[0] if ports else None,
                    self.reason_of(out.record) if out else None)

    def end_visit(self, visit, i):
        r, (story, out) = self.records[i], self.now[i]
        if i in self.changes and visit.reason[0] != ERRNO and not self.halts(visit.port):
            self.lone[VISITS] += 1
            return
        if self.all.is_torn(visit.begin, r):
            self.lone[LOST] += 1
            return
        if not self.has_runs:
            out = next(e.out for e in story.events if isinstance(e, Entry) and e.record is r)
        if out:
            out.inner += r.time - max(out.record.time, visit.begin.time)
        behind = self.answer(visit, i) if self.has_runs else i
        if self.halts(visit.port):
            # What KVM's own records tell is told by them.
            if out and self.all.made.has("kvm_entry") or any(
                    w.event == "kvm_entry" and self.now[k][0] is story
                    for k, w in enumerate(self.records[:i])):
                return
            visit.kind = "between"
        if self.is_left(behind) if self.has_runs else self.aborts(out, self.rip_of(r)):
            return  # the host's own time
        self.all.add(visit, r)
        if visit.kind == "vmm" and self.all.counts(visit.begin):
            visit.story.time["visit"] += visit.ns

    def is_left(self, i):
        """Does a guest that aborts not go on behind that record?"""
        after = self.records[i + 1:i + 2]
        return after and after[0].event == "kvm_entry" and self.aborts(
            self.now[i][1], self.rip_of(after[0]))

    def answer(self, visit, i):
        """What the guest reads is told behind KVM_RUN. Returns the last record that may tell."""
        while i + 1 < len(self.records) and self.records[i + 1].is_port():
            i += 1
            answer = self.records[i]
            reason = USER, 2 if answer.event == "kvm_pio" else 6
            if answer.is_answer() and visit.port is None and visit.reason == reason:
                visit.port = self.guest.port_of(answer)
        return i

    def cross(self, story):
        """Exits to entries, and entries to exits."""
        entry = out = None  # out: the exit that is open
        for event in story.events:
            if isinstance(event, Entry):
                self.lone[ENTRIES] += out is None
                if out:
                    self.leave(story, out, event)
                entry, out = event.record, None
            elif isinstance(event, Exit):
                if entry and self.all.counts(entry) and not self.all.is_torn(entry, event.record):
                    story.time["guest"] += event.record.time - entry.time
                self.lone[EXITS] += out is not None
                entry, out = None, event
            elif event == "left":
                self.lone[EXITS] += out is not None
                out = None
        self.lone[EXITS] += out is not None

    def reason_of(self, r):
        if self.guest.is_arm:
            return (TRAP, r.esr_ec) if r.ret == 2 else (ARM, r.ret)
        return r.isa if "isa" in self.fields else NONE, r.exit_reason

    def leave(self, story, out, entry):
        r, own = out.record, entry.aborts or self.halts(out.port)
        self.all.crossed = True
        if self.all.is_torn(r, entry.record):
            self.lone[LOST] += 1
            return
        pair = Pair("between" if own else "exit", r, story, self.reason_of(r), out.rip, out.port,
                    out.visited)
        self.all.add(pair, entry.record)
        if self.all.counts(r) and not own:
            story.time["outside"] += pair.ns
            story.time["inner"] += out.inner

    def find_calls(self, story):
        """Of a guest that tells when it is done: from where it is entered for a call, behind the
        end of the one before, or where that was entered but not where it was left just now."""
        begun = address = out = None
        done = False
        for event in story.events if self.guest.halt else ():
            if isinstance(event, Exit):
                out = event
            elif event == "halted":
                if begun and not self.all.is_torn(begun, out.record, out.told):
                    self.all.add(Pair("call", begun, story, None, address), out.record)
                begun, done = None, True
            elif isinstance(event, Entry):
                again = event.rip and event.rip == address and not (out and out.rip == address)
                if done or event.aborts or again:
                    begun, address = event.record, event.rip
                done = False
            elif event == "cancelled":
                begun = None
            elif not done:
                begun = address = None
