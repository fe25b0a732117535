#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of hlguest report against the samples that it is of.

    report_page.py --build DIR [--seed N] [--seeds N]

Guests and recordings are those of report_model.py, which computes rows, shares and intervals. Here
they must be those of format=html: in its table, whose bars are as long; in the sentence on hot
code; in the listings; and in the data that its scripts draw from, as tools/page/report-data.h
describes it: each byte of code in a span, each address, each slice of time, thread and loss. What
the page says in words must be what text says.
"""
import collections
import html
import itertools
import os
import re
import sys

sys.dont_write_bytecode = True  # the folders are the source's
sys.path.insert(1, os.path.join(sys.path[0], "../kit"))
sys.path.insert(1, os.path.join(sys.path[0], "../verbs"))
import report_model
from forged import HOST, TEXT, TIME
from modelled import CLOCKS, KERNEL, OUTSIDE, SECOND, TRACEPOINT, is_guest, near
from page import marks_of, sums
from programs import hlguest_of, page_data
from report_model import KINDS, PHASES
from seeds import seeds

SLICE = 20 * 10**6
LINE, PAGE = 64, 4096
BAR = 100
LEVELS = (0, .05, .2, .5, .9)  # of a listing's heat
FUNCTIONS, AROUND = 20, 8


class Judge(report_model.Judge):
    def __init__(self, hlguest, folder, seed):
        made = self.drawn(seed)
        for one in made.recordings:
            self.hit_behind(one)
        made.samples = [s for one in made.recordings for s in one.samples]
        super().__init__(hlguest, folder, made)
        rng = self.rng
        self.options |= {"by": "", "mode": rng.choice(("guest", "all")), "region": 1024,
                         "top": rng.choice((0, 0, 3)), "min": rng.choice((0, 0, 5)),
                         "regions": None, "sort": "overhead"}
        self.aliases, self.counters, self.tree = False, False, None
        self.counted()
        self.period = self.options["weight"] == "period" and not self.several

    @staticmethod
    def drawn(seed):
        """Each fifth of two guests, of which the first has two sections of code."""
        for i in itertools.count():
            made = report_model.Made(seed + 1000 * i)
            first = made.guests[0]
            if seed % 5 or (len(made.guests) > 1 and first.second < first.end and
                            len(made.samples) > 50):
                return made

    @staticmethod
    def hit_behind(one):
        """A tracepoint's, on the host, long after all that is timed."""
        if TRACEPOINT in one.events and one.samples and one.has(TIME) and one.rng.random() < .5:
            last = one.samples[-1]
            one.samples.append(last._replace(
                event=TRACEPOINT, mode=KERNEL, ip=1 << 40, callers=None,
                period=one.every[TRACEPOINT], time=last.time + one.rng.choice((1, 5)) * SLICE))

    def weighed(self, samples):
        return sum(self.weight(s, True) for s in samples)

    def check(self):
        if not self.shown():
            return
        out, err, status = self.run("html")
        what = " ".join(self.words())
        if "needs more than" in err or "not in this build" in err:
            return
        if status not in (0, 3):
            yield f"{what}: status {status}: {err}"
            return
        self.all = self.view(self.guest, True)
        self.data = page_data(out)
        for line in (*self.table(out), *self.hot(out), *self.words_said(out), *self.listings(out),
                     *self.data_told(), *self.sections(out)):
            yield f"{what}: {line}"

    def sections(self, page):
        heads = re.findall("<h2>(.*?)</h2>", page)
        timed = any(s.time is not None and (is_guest(s) or s.event != TRACEPOINT)
                    for s in self.left) or any(
                        one.losses and one.has(TIME) for one in self.made.recordings)
        right = ["Functions", "Image", "Time", *["Threads"] * timed, "Instructions"]
        right += ["Flame graph"] * ("flame" in self.data)
        if heads != right:
            yield f"sections {heads}, not {right}"
        links = re.findall('<a href="#(.*?)">(.*?)</a>', page.split("</nav>")[0])
        if [name for _, name in links] != [name for name in heads if timed or name != "Time"]:
            yield f"links {links}"
        for ident, _ in links:
            if f'<section id="{ident}">' not in page:
                yield f"a link to nowhere: {ident}"
        title = f"{self.made.guests[0].path} – hlguest"
        if re.search("<title>(.*?)</title>", page)[1] != title or re.search(
                "<h1>(.*?)</h1>", page)[1] != ", ".join(
                    map(self.made.space.called, range(len(self.made.space.bases)))):
            yield "title"
        none = "The samples have no times." in page
        if none == timed or ("time" in self.data) != timed:
            yield f"times: {none}, {'time' in self.data}"
        untimed = [s for s in self.left if s.time is None and
                   (is_guest(s) or s.event != TRACEPOINT)]
        guest = sum(map(is_guest, untimed))
        said = [f"Without a time: {guest} guest and {len(untimed) - guest} host samples. "
                "They count in the whole only."] * bool(untimed and timed)
        if re.findall("Without a time.*?(?=<)", page) != said:
            yield f"not said: {said}"

    def table(self, page):
        """Rows, as JSON has them, and bars up to the end of the first one's interval."""
        rows = self.all.table(self.options, False)
        text = page.split('<table id="function-table">')[1].split("</table>")[0]
        got = re.findall(
            r'<tr data-row="(\d+)"><td>(\S+) %</td><td>(.*?)</td><td>(\S+)–(\S+)</td>'
            r'<td>(\d+)</td>'
            r'<th scope="row">(.*?)(?: <small>(label)</small>)?'
            r'(?: <small class="owner">(.*?)</small>)?</th><td>(.*?)</td><td>(.*?)</td></tr>',
            text)
        if len(got) != len(rows) or len(got) != text.count("<tr") - 1:
            yield f"{len(got)} rows, not {len(rows)}"
        most, exact = None, len(self.guest) < PHASES
        for i, (one, row) in enumerate(zip(got, rows)):
            number, share, bar, low, high, samples, name, label, owner, size, at = one
            image = os.path.basename(row[3] or "") if len(self.made.space.bases) > 1 else ""
            most = float(high) if most is None else most
            if [int(number), html.unescape(name), bool(label), owner, int(samples), size, at] != [
                    i, row[0], row[2] == "label", image, row[6], str(row[5] or ""),
                    row[4] or ""] or not near(share, 100 * row[-3], 2):
                yield f"row {one}, not {row}"
            if exact and not (near(low, 100 * row[-2], 2) and near(high, 100 * row[-1], 2)):
                yield f"row {name}: {low} to {high}, not {row[-2:]}"
            yield from self.bar(name, bar, [float(n) for n in (share, low, high)], most)

    @staticmethod
    def bar(name, bar, share, most):
        width, = re.findall('<rect y="2" width="(.*?)"', bar)
        ends = re.fullmatch(r'M(\S+) 6H(\S+)M(\S+) 3V9M(\S+) 3V9', re.search('d="(.*?)"', bar)[1])
        right = [BAR * n / most if most else 0 for n in share]
        got = [float(n) for n in (width, ends[1], ends[2])]
        if any(abs(a - b) > .02 + 1.5 / (most or 1) for a, b in zip(got, right)) or \
                ends.groups()[:2] != ends.groups()[2:] or f'width="{BAR}"' not in bar:
            yield f"bar of {name}: {bar}, not {right}"

    def hot(self, page):
        """How little code nine tenths of the time in code are in."""
        lines = collections.Counter()
        for s in self.all.kept:
            image, addr, place = self.made.space.place(s.ip)
            if self.options["gaps"] == "stretch" and place.kind == "gap":
                place = self.made.space.bases[image][0].before(addr)
            if place.kind in ("function", "label", "gap"):
                lines[image, addr // LINE] += self.weight(s, True)
        whole, sum_, hot = lines.total(), 0, []
        for key, weight in sorted(lines.items(), key=lambda kv: (-kv[1], kv[0])):
            if sum_ >= whole - whole // 10:
                break
            sum_ += weight
            hot.append(key)
        code = sum(guest.end - TEXT for guest, _ in self.made.space.bases)
        inside = sum(max(0, min(guest.end, (n + 1) * LINE) - max(TEXT, n * LINE))
                     for image, n in hot for guest in [self.made.space.bases[image][0]])
        pages = len({(image, n * LINE // PAGE) for image, n in hot})
        said = f"90 % of the time in code is in {size_said(inside)} of {size_said(code)}: " \
            f"{len(hot)} cache line{'s' * (len(hot) > 1)} of 64 bytes, on {pages} page" \
            f"{'s' * (pages > 1)} of 4 KiB; side by side they would take " \
            f"{-(-len(hot) * LINE // PAGE)}."
        got = re.findall(">(90 % of the time.*?)<", page)
        if got != [said] * bool(hot):
            yield f"{got}, not {said}"

    def words_said(self, page):
        """All of these are lines of text, too."""
        stacks = ["--stacks=callgraph"] * bool(self.made.recordings[0].returns)
        text, _, _ = self.run("text", "-v", "--wide=yes", "--color=never", *stacks)
        known = {" ".join(line.split()) for line in text.splitlines()}
        head = page.split("</header>")[0]
        facts = re.findall('<div class="(.*?)"><dt>(.*?)</dt><dd>(.*?)</dd>', head)
        warned = re.findall('<p class="warning">(.*?)</p>', head)
        folded = [line for pre in re.findall("<pre.*?>(.*?)</pre>", head, re.S)
                  for line in pre.split("\n")]
        for line in (*(f"{label} {fact}" for _, label, fact in facts), *warned, *folded):
            line = " ".join(html.unescape(line).split())
            if line not in known and "!! " + line not in known:
                yield f"{line!r} is not in text"
        for line in known:
            if re.match("(guest(?! 0x)|recorded|check|accounted|warning:|note:|!!) ", line) and \
                    line.split(" ", 1)[1] not in " ".join(html.unescape(re.sub(
                        "<.*?>", " ", head)).split()):
                yield f"{line!r} of text is not in the page"
        if any(label.startswith("!!") for _, label, _ in facts):
            yield f"a warning as a fact: {facts}"
        labels = [label for _, label, _ in facts if label]
        if len(labels) != len(set(labels)):
            yield f"facts {labels}"
        for kind, label, fact in facts:
            verdict = "good" if fact.startswith("OK") else "bad" if fact.startswith("WRONG") else \
                "unsure"
            if kind != (verdict if label == "check" else "fact"):
                yield f"{label} {fact} is {kind}"
        yield from self.files_said(head)

    def files_said(self, head):
        rows = re.findall('<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>.*?'
                          '<th scope="row">(.*?)</th></tr>', head)
        right = []
        for name, one in zip(self.files, self.made.recordings):
            guest = sum(s.file == one.number for s in self.guest)
            right.append((str(len(one.samples)), str(guest), str(sum(one.losses)), name))
        if len(self.files) < 2:
            right = []
        if [(row[0], row[1], row[3], row[4]) for row in rows] != right:
            yield f"files {rows}, not {right}"
        names = re.findall('<th scope="col" class="name">(.*?)</th>', head)
        if names != ["file"] * bool(right):
            yield f"columns of names: {names}"
        if right and f"<details open><summary>{len(right)} recordings<" not in head:
            yield "the recordings are folded, or not counted"

    def listings(self, page):
        """The hottest functions: what each instruction has of its function; far from any that
        has, none."""
        rows = [(i, row) for i, row in enumerate(self.all.ordered())
                if row.key[1].kind in ("function", "label", "gap")]
        rows = [(i, row) for i, row in rows if 100 * self.all.share(row) >= self.options["min"]
                and (not self.options["top"] or i < self.options["top"])][:FUNCTIONS]
        got = re.findall(r'<details data-row="(\d+)"><summary>(\S+) % <code>(.*?)</code></summary>'
                         r'(.*?)</details>', page, re.S)
        if [(int(i), html.unescape(name)) for i, _, name, _ in got] != [
                (i, row.key[1].name) for i, row in rows] or not all(
                    near(one[1], 100 * self.all.share(row), 2)
                    for one, (_, row) in zip(got, rows)):
            yield f"listings {[one[:3] for one in got]}, not {[(i, r.key) for i, r in rows]}"
            return
        if f"the hottest {len(rows)} functions" not in page:
            yield f"not {len(rows)} listings said"
        for one, (_, row) in zip(got, rows):
            for line in self.listing(one[3], row):
                yield f"listing of {row.key}: {line}"

    def listing(self, text, row):
        hits = collections.Counter()
        for s in row.samples:
            hits[self.made.space.place(s.ip)[1]] += self.weight(s, True)
        lines = re.findall(r'<span class="line heat(\d)" data-at="(\d+)".*?><span class="share">'
                           r'(.*?)</span> +([0-9a-f]+) ', text)
        whole, most = hits.total(), 0
        shown = {int(addr, 16): share for _, _, share, addr in lines if share}
        if set(shown) != set(hits):
            yield f"{set(shown) ^ set(hits)} are or are not there"
            return
        most = max(hits.values(), default=0)
        for heat, at, share, addr in lines:
            addr = int(addr, 16)
            if int(at) != addr - TEXT:
                yield f"{addr:#x} is at {at}"
            n = hits[addr] if share else 0
            right = sum(n > level * most for level in LEVELS) if share else 0
            if share and not near(share.removesuffix(" %"), 100 * n / whole if whole else 0, 2):
                yield f"{addr:#x}: {share}, not {n} of {whole}"
            if int(heat) != right and not any(
                    abs(n - level * most) < 1e-9 * most for level in LEVELS):
                yield f"{addr:#x}: heat {heat}, not {right}"
        yield from self.left_out(text, row, hits)

    def left_out(self, text, row, hits):
        """Of plain bytes each line is one: those near to samples are there, others counted."""
        place = row.key[1]
        guest = self.made.space.bases[row.key[0]][0]
        addrs = range(place.start, place.end)
        if place.kind == "gap" or self.options["gaps"] == "stretch" or any(
                guest.place(a) != place or guest.code[a - TEXT] != ord("U") for a in addrs):
            return
        near_to = {a for hit in hits for a in range(hit - AROUND, hit + AROUND + 1)}
        expected = []
        for there, group in itertools.groupby(addrs, lambda a: a in near_to):
            group = list(group)
            expected += [f"{a:x}" for a in group] if there or len(group) <= AROUND else \
                [len(group)]
        got = [int(n) if n else addr for n, addr in re.findall(
            r'<span class="source">(\d+) lines without samples|</span> +([0-9a-f]+)  ', text)]
        if got != expected:
            yield f"lines {got}, not {expected}"

    def data_told(self):
        data, weight = self.data, "period" if self.period else "samples"
        events = {s.event for s in self.guest}
        unit = "samples" if weight == "samples" or len(events) != 1 else \
            "ns" if events <= set(CLOCKS) else min(events)
        each = {self.weight(s, True) for s in self.guest}
        right = {"weight": weight, "unit": unit, "total": self.weighed(self.all.kept),
                 "guest": self.weighed(self.guest),
                 "each": 1 if weight == "samples" else each.pop() if len(each) == 1 else 0}
        for key, value in right.items():
            if data[key] != value and self.guest:
                yield f"{key}: {data[key]}, not {value}"
        if len(self.guest) < PHASES and abs(data["observations"] - self.all.observations) > \
                1e-6 * self.all.observations + 1e-6:
            yield f"observations {data['observations']}, not {self.all.observations}"
        yield from self.images()
        yield from self.rows_data()
        yield from self.addresses()
        if "time" in data:
            yield from self.time()

    def images(self):
        for i, (image, (guest, base)) in enumerate(itertools.zip_longest(
                self.data["images"], self.made.space.bases)):
            spans, at = [], TEXT
            while at < guest.end:
                place = guest.place(at)
                named = place.symbol or "" if place.kind != "gap" else ""
                end = at
                while end < guest.end and guest.place(end) == place:
                    end += 1
                spans.append((at - TEXT, end - at, KINDS.index(place.kind), named))
                at = end
            got = list(zip(sums(image["spans"]["at"]), *(
                image["spans"][key] for key in ("size", "kind", "name"))))
            if got != spans:
                yield f"spans of {guest.path}: {got}, not {spans}"
            sections = [(guest.second - TEXT, guest.end - guest.second, SECOND, 1)] * (
                guest.second < guest.end)
            sections = [(0, guest.second - TEXT, ".text", 1), *sections,
                        (guest.end - TEXT, 64, ".rodata", 0)]
            if [image["path"], image["name"], image["base"], image["parts"]] != [
                    guest.path, self.made.space.called(i), hex(base), {"at": [0], "from": [hex(TEXT)]}] or list(zip(*(
                        image["sections"][key] for key in ("at", "size", "name", "code")))) \
                    != sections:
                yield f"{image['path']}: {image['base']}, {image['parts']}, {image['sections']}"

    def rows_data(self):
        data, rows = self.data["rows"], self.all.ordered()
        whole = dict(self.options, top=0, min=0)
        table = self.all.table(whole, False)
        exact, n = len(self.guest) < PHASES, len(rows)
        for i, (row, told) in enumerate(zip(rows, table)):
            image, place = row.key
            right = {"name": place.name, "kind": KINDS.index(place.kind),
                     "image": -1 if image is None else image,
                     "at": 0 if image is None else place.start - TEXT,
                     "size": 0 if image is None else place.end - place.start,
                     "count": self.weighed(row.samples), "samples": len(row.samples)}
            if exact:
                right["unsure"] = int(told[9])
            got = {key: data[key][i] if i < len(data[key]) else None for key in right}
            if got != right:
                yield f"data: row {got}, not {right}"
            for key, value in ("low", told[-2]), ("high", told[-1]):
                if exact and abs(data[key][i] - value) > 1e-6:
                    yield f"data: {place.name}: {key} {data[key][i]}, not {value}"
        if any(data["count"][n:]) or len({len(of) for of in data.values()}) > 1:
            yield f"data: {data['name'][n:]} behind rows"
        if "with" in data:
            yield from self.inclusive_data(rows)

    def inclusive_data(self, rows):
        """What each has with all that it calls; behind the rows who has no samples itself."""
        view, data = self.inclusive(self.guest, True), self.data["rows"]
        with_ = {row.key: self.weighed(row.samples) for row in view.rows.values()}
        own = [row.key for row in rows]
        if data["with"][:len(own)] != [with_[key] for key in own]:
            yield f"with: {data['with']}, not {with_}"
        callers = [(name, n) for name, n in zip(data["name"], data["with"])][len(own):]
        if sorted(callers) != sorted((place.name, n) for (image, place), n in with_.items()
                                     if (image, place) not in own):
            yield f"callers {callers}"
        if self.data["withTotal"] != self.weighed(self.guest if self.options["gaps"] != "drop"
                                                  else self.all.kept):
            yield f"with callees {self.data['withTotal']} in all"

    def places(self):
        """[(row, offset, samples)] of addresses; what is outside is one."""
        found = collections.defaultdict(list)
        for i, row in enumerate(self.all.ordered()):
            for s in row.samples:
                at = self.made.space.place(s.ip)[1] - TEXT if row.key[1] != OUTSIDE else 0
                found[i, at].append(s)
        return [(*key, found[key]) for key in sorted(found)]

    def addresses(self):
        got = list(zip(*(self.data["addresses"][key] for key in ("row", "at", "count"))))
        right = [(row, at, self.weighed(of)) for row, at, of in self.places()]
        if got != right:
            yield f"addresses {set(got) ^ set(right)}"

    def time(self):
        """What ran in each slice of each recording; where; and what was lost."""
        data = self.data["time"]
        # A tracepoint's hits on the host are none of the time that they are in.
        timed = {one.number: [s for s in self.left if s.file == one.number and
                              s.time is not None and (is_guest(s) or s.event != TRACEPOINT)]
                 for one in self.made.recordings}
        losses = {one.number: [(time // SLICE, n) for time, n in zip(one.lost_at, one.losses)]
                  for one in self.made.recordings if one.losses and one.has(TIME)}
        timed = {number: of for number, of in timed.items() if of or number in losses}
        if data["slice"] != SLICE:
            yield f"slices of {data['slice']} ns"
            return
        at, starts, ran, lost = 0, [], collections.Counter(), collections.Counter()
        self.slices = {}
        for number, runs in timed.items():
            span = [s.time // SLICE for s in runs]
            span += [slice_ for slice_, _ in losses.get(number, ())]
            first = min(span)
            starts.append(at)
            for slice_, n in losses.get(number, ()):
                lost[at + slice_ - first] += n
            for s in runs:
                place = at + s.time // SLICE - first
                self.slices[id(s)] = place
                what = 0 if is_guest(s) else {HOST: -1, KERNEL: -2}.get(s.mode, -3)
                ran[place, what, s.tid] += self.weight(s, True)
            at += max(span) - first + 1
        if data["n"] != at or data["recordings"]["at"] != starts:
            yield f"{data['n']} slices, recordings at {data['recordings']['at']}, not " \
                f"{at}, {starts}"
        if data["recordings"]["path"] != [self.files[number] for number in timed]:
            yield f"recordings {data['recordings']['path']}"
        got = marks_of(self.data, 0) if "marks" in self.data else {}
        if got != lost:
            yield f"lost {got}, not {lost}"
        yield from self.ran(ran)
        yield from self.where()

    def ran(self, ran):
        data, threads = self.data["time"], self.data["threads"]["tid"]
        got = collections.Counter()
        for when, what, thread, n in zip(sums(data["when"]), data["what"], data["thread"],
                                         data["count"]):
            got[when, min(what, 0), threads[thread]] += n
        if got != ran:
            yield f"what ran: {(got - ran).most_common(3)}, not {(ran - got).most_common(3)}"

    def where(self):
        where, right = self.data["where"], collections.Counter()
        begins = sums(where["begins"])
        if begins != list(range(self.data["time"]["n"] + 1)):
            yield f"where: begins {begins}"
            return
        for i, (_, _, of) in enumerate(self.places()):
            for s in of:
                if s.time is not None:
                    right[self.slices[id(s)], i] += self.weight(s, True)
        got = collections.Counter()
        # What no thread ran, as a hit of a tracepoint behind all that ran, is in the last one.
        if "stacks" in self.data and max([0, *sums(self.data["stacks"]["when"])]) > len(begins) - 2:
            yield f"stacks behind the last of {len(begins) - 1} slices"
        for when, what, n in zip(sums(where["when"]), sums(where["what"]), where["count"]):
            got[when, what] += n
        if got != right:
            yield f"where: {(got - right).most_common(3)}, not {(right - got).most_common(3)}"


def size_said(n):
    if n < 1024:
        return f"{n} bytes"
    unit, tenths = ("KiB", n * 10 // 1024) if n < 1 << 20 else ("MiB", n * 10 >> 20)
    return f"{tenths / 10:.1f} {unit}" if tenths < 100 else f"{tenths // 10} {unit}"


def differences(build, folder, seed):
    return Judge(hlguest_of(build), folder, seed).check()


if __name__ == "__main__":
    sys.exit(seeds(__doc__, 30, differences))
