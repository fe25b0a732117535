# SPDX-License-Identifier: GPL-2.0-only
"""Where do addresses fit a guest? The rule of symtab/code/base-find.h for x86-64, and of
filter/trust/guest-bases.h for who is searched by himself, of what made_bases.py makes."""
import bisect
import collections
import itertools
import math

from forged import TEXT

PAGE, VOTERS, CANDIDATES, LEAST = 4096, 512, 48, 8
OVER_CHANCE, OVER_RIVAL, RIGHT = 10000, 1000, .95
GUEST_LEAST, GUESTS_MOST, FEW, MORE = 12, 256, 3, 6  # addresses; guests; of one that is matched
TURNS, NEARLY_ALL = 5, .99  # addresses of each that ran in turn; samples
NOBODY, SHARED = -1, 125  # lanes of who was not found, and of whom only what others run was


class Fit:
    """How addresses lie at a base; n: distinct ones that are on, off, in data, of no known code."""

    def __init__(self, base):
        self.base, self.n, self.of = base, collections.Counter(), collections.Counter()
        self.score = 0

    def add(self, kind, samples):
        self.n[kind] += 1
        self.of[kind] += samples

    @property
    def samples(self):
        return sum(self.of.values())

    def __repr__(self):
        return f"{self.base:#x}: {dict(self.n)} addresses, {dict(self.of)} samples, {self.score}"


class Found:
    """fits: most samples first. rivals: one of these is told, as they are equally good; and so
    with best, of what came nearest."""

    def __init__(self):
        self.fits, self.rivals, self.best = [], {}, []

    def told(self):
        """Those that may be told as the runner-up."""
        return self.rivals[self.fits[0].base] if self.fits else []


def equal(fits):
    """The best of them, which may be several."""
    most = max((fit.score for fit in fits), default=0)
    return [fit for fit in fits if fit.score > most - 1e-9]


class Finder:
    """Of one guest; at[i]: what its i-th byte is, True where an instruction begins, False inside
    of one, None where that is not known, "data" where nothing runs."""

    def __init__(self, guest):
        self.path = guest.path
        self.at, self.size = guest.table_of(), len(guest.table_of())
        known = [kind for kind in self.at if kind in (True, False)]
        chance = sum(known) / len(known) if known else 1
        chance = min(max(chance, .01), RIGHT - .01 * (1 - RIGHT))
        off = math.log((1 - RIGHT) / (1 - chance))
        self.weights = {True: math.log(RIGHT / chance), False: off, "data": off, None: 0}
        self.begins = [[i for i in range(at, self.size, PAGE) if self.at[i] is True]
                       for at in range(PAGE)]

    def fit(self, addrs, base):
        """addrs: (address, samples), sorted."""
        fit = Fit(base)
        for ip, samples in addrs[bisect.bisect_left(addrs, (base,)):]:
            if ip - base >= self.size:
                break
            fit.add(self.at[ip - base], samples)
        fit.score = sum(self.weights[kind] * n for kind, n in fit.n.items())
        return fit

    def without(self, addrs, bases):
        return [at for at in addrs if not any(0 <= at[0] - base < self.size for base in bases)]

    def candidates(self, addrs):
        """Those with most votes; and how many have any."""
        n = min(len(addrs), VOTERS)
        votes = collections.Counter(
            ip - at for ip, _ in (addrs[i * len(addrs) // n] for i in range(n))
            for at in self.begins[ip % PAGE] if at <= ip)
        return sorted(votes, key=lambda base: (-votes[base], base))[:CANDIDATES], len(votes)

    def find(self, addrs):
        """All bases: of each cluster of addresses the best, if it stands out, then of the rest."""
        found, begin = Found(), 0
        for i in range(1, len(addrs) + 1):
            if i == len(addrs) or addrs[i][0] - addrs[i - 1][0] >= self.size:
                self.search(addrs[begin:i], found)
                begin = i
        found.fits.sort(key=lambda fit: (-fit.samples, fit.base))
        return found

    def search(self, addrs, found):
        while len(addrs) >= LEAST:
            bases, n = self.candidates(addrs)
            fits = [self.fit(addrs, base) for base in bases]
            best = equal(fits)
            rivals = [fit for fit in fits if best and fit is not best[0] and
                      abs(fit.base - best[0].base) < self.size]
            ahead = best and best[0].score - max((f.score for f in rivals), default=-math.inf)
            if not best or best[0].score <= math.log(OVER_CHANCE * (n + 1)) or \
                    ahead <= math.log(OVER_RIVAL) or \
                    any(abs(f.base - best[0].base) < self.size for f in found.fits):
                if best and (not found.best or best[0].score > found.best[0].score - 1e-9):
                    found.best = equal(found.best + best)
                return
            found.fits.append(best[0])
            found.rivals[best[0].base] = equal(rivals)
            addrs = self.without(addrs, [best[0].base])


class Seeker:
    """Several guests among the same addresses, in whatever order they were named: what most
    samples fit is taken first, then what is in no other's way, and then what the rest has."""

    def __init__(self, finders, sought, addrs, least=0):
        self.finders, self.sought, self.addrs = finders, sought, addrs
        self.fits = {i: [] for i in sought}
        last = {None: 1}
        while last and len(self.addrs) >= least:
            last = self.round([i for i in sought if set(last) - {i}])
        for fits in self.fits.values():
            fits.sort(key=lambda fit: (-fit.samples, fit.base))

    def round(self, sought):
        now = {i: self.finders[i].find(self.addrs).fits for i in sought}
        taken = collections.Counter()
        for i in sorted(now, key=lambda i: (-sum(fit.of[True] for fit in now[i]),
                                            self.finders[i].path)):
            fits = [fit for fit in now[i] if not (taken or self.fits[i]) or self.is_free(i, fit.base)]
            if fits:
                taken[i] = len(fits)
                self.fits[i] += fits
                self.addrs = self.finders[i].without(self.addrs, [fit.base for fit in fits])
        return taken

    def is_free(self, i, base):
        return not any(base - fit.base < self.finders[k].size and
                       fit.base - base < self.finders[i].size
                       for k, fits in self.fits.items() for fit in fits)


def addresses(samples):
    return sorted(collections.Counter(s.ip for s in samples).items())


def whose(sample):
    """A sandbox, else a thread; in their order."""
    return (sample.sandbox, 0) if sample.sandbox >= 0 else (-1, sample.tid)


class Placed:
    """How addresses lie in what is placed: distinct ones that are on boundaries; of places that
    more than 1 % of those inside do not fit that which has most samples that are on none."""

    def __init__(self, guests, addrs):
        self.on, self.doubt, self.misfits = 0, None, 0
        for place in sorted(guests.placed, key=lambda place: guests.finders[place[0]].path):
            fit = guests.finders[place[0]].fit(addrs, place[1])
            off = fit.n[False] + fit.n["data"]
            self.on += fit.n[True]
            misfits = fit.samples - fit.of[True]
            if 100 * off > fit.n[True] + off and (self.doubt is None or misfits > self.misfits):
                self.doubt, self.misfits = place, misfits


class Guests:
    """Who of each recording lies where. at: {(image, base, lane)}; lane of each sample; left:
    (recording, whose, samples) of those that were not found; turns: (recording, whose) of
    those of them that ran several in turn; failed: recordings of nobody else. placed: (image, base) of those
    that are not sought, which are in the first lane, and in each where there is room."""

    def __init__(self, finders, placed=()):
        self.finders, self.placed = finders, list(placed)
        self.sought = [i for i in range(len(finders)) if i not in [of for of, _ in placed]]
        self.at, self.left, self.lanes, self.turns, self.failed = set(), [], {}, [], []

    def search(self, addrs):
        """([(image, base)], samples that are on no boundary there) of some addresses."""
        seeker = Seeker(self.finders, self.sought, addrs, GUEST_LEAST)
        found = [(image, fit.base) for image, fits in seeker.fits.items() for fit in fits]
        misfits = sum(fit.samples - fit.of[True] for fits in seeker.fits.values() for fit in fits)
        return found, misfits + sum(samples for _, samples in seeker.addrs)

    def search_guest(self, addrs, sandbox):
        """Beside what is placed; or across what does not fit, where fewer samples are off then.
        None: a thread ran several in turn."""
        found, misfits = self.search(self.outside(addrs))
        placed = Placed(self, addrs)
        misfits += placed.misfits
        if placed.doubt:
            across, fewer = self.search(self.outside(addrs, placed.doubt))
            if across and fewer < misfits:
                found, misfits = across, fewer
        in_turn = self.are_across(found)
        if sandbox < 0 and (in_turn or 100 * misfits > sum(n for _, n in addrs)) and \
                self.takes_turns(addrs):
            return None
        return [] if in_turn else found

    def are_across(self, found):
        return any(self.collide(a, b) for a, b in itertools.combinations(found, 2))

    # Several in turn (filter/trust/guest-turns.h)

    def takes_turns(self, addrs):
        taken, left, unknown = [], addrs, 0
        while len(left) >= TURNS:
            fits = [(fit.of[True], -i, i, fit.base) for i, finder in enumerate(self.finders)
                    if i not in [of for of, _ in taken]
                    for fit in (finder.fit(left, base) for base in self.bases(i, left, taken))]
            most, _, i, base = max(fits, key=lambda fit: fit[:2], default=(0, 0, 0, 0))
            at = self.finders[i].at
            kinds = [at[ip - base] if 0 <= ip - base < len(at) else False for ip, _ in left]
            if not most or kinds.count(True) < TURNS:
                break
            taken.append((i, base))
            unknown += sum(n for (_, n), kind in zip(left, kinds) if kind is None)
            left = [of for of, kind in zip(left, kinds) if kind in (False, "data")]
        return self.are_across(taken) and sum(n for _, n in left) <= \
            (1 - NEARLY_ALL) * (sum(n for _, n in addrs) - unknown)

    def bases(self, i, addrs, taken):
        """At which an image may be taken."""
        placed = [base for of, base in self.placed if of == i]
        if placed:
            return placed
        found = self.finders[i].find(addrs)
        best = found.fits or found.best if not taken else found.fits
        return [fit.base for fit in best[:1]] + [base for _, base in taken]

    def outside(self, addrs, but=None):
        """Addresses that are in nothing that was placed, but for this."""
        for image, base in self.placed:
            if (image, base) != but:
                addrs = self.finders[image].without(addrs, [base])
        return addrs

    def meets(self, found):
        """What was placed that these lie across."""
        return {of for of in self.placed if any(self.collide(at, of) for at in found)}

    def add(self, number, samples):
        """A recording, all of which is searched first."""
        everything = addresses(samples)
        addrs = self.outside(everything)
        found, misfits = self.search(addrs)
        if 100 * misfits <= sum(n for _, n in addrs) and not self.meets(found) and not \
                Placed(self, everything).doubt and not self.are_across(found):
            self.settle(found, samples)
            return
        groups = collections.defaultdict(list)
        for s in sorted(samples, key=whose):
            groups[whose(s)].append(s)
        at = self.places(groups)
        turns = [who for who, bases in at.items() if bases is None]
        if turns and not any(at.values()):
            self.failed.append((number, turns[0]))
            return
        self.turns += [(number, who) for who in turns]
        for who, bases in at.items():
            bases = bases or []
            if bases in ([], SHARED):
                lane, of = (SHARED, self.outside(addresses(groups[who]))) if bases else \
                    (NOBODY, addresses(groups[who]))
                self.left.append((number, who, *(sum(n for _, n in addrs) for addrs in (
                    of, addresses(groups[who])))))
                self.lanes.update((id(s), lane) for s in groups[who])
        for who, bases in at.items():
            if bases and bases not in (SHARED, self.placed):
                self.settle(bases, groups[who])

    def places(self, groups):
        """Where each of these lies; placed: of who runs what is; SHARED: of who runs that, and
        something else."""
        at = {who: self.search_guest(addresses(of), who[0]) if i < GUESTS_MOST else []
              for i, (who, of) in enumerate(groups.items())}
        known = list(dict.fromkeys(itertools.chain(*(of or [] for of in at.values()))))
        for who, of in groups.items():
            if at[who] == []:
                at[who] = self.match(known, addresses(of), len(of))
        return at

    def match(self, known, addrs, n):
        """A guest of which no base was found."""
        placed, outside = Placed(self, addrs), self.outside(addrs)
        if placed.doubt:
            matched = self.matched(known, self.outside(addrs, placed.doubt))
            if matched:
                return matched
        if 100 * sum(samples for _, samples in outside) <= n:
            return self.placed
        matched = self.matched(known, outside)
        least = FEW if self.meets(known) else 1
        return matched or (SHARED if placed.on >= least and not placed.doubt else [])

    def matched(self, known, addrs):
        """The only one of these at which all lies; if none, it may be another ELF at such a base, or
        where one is placed."""
        matched = [at for at in known if self.matches(at, addrs, FEW)]
        if not matched:
            bases = {base for _, base in (*known, *self.placed)}
            matched = [(i, base) for i in self.sought for base in bases
                       if (i, base) not in known and self.matches((i, base), addrs, MORE)]
        return matched if len(matched) == 1 else []

    def matches(self, at, addrs, least):
        """All of it lies there."""
        fit = self.finders[at[0]].fit(addrs, at[1])
        return fit.n[True] >= least and fit.n[True] + fit.n[None] == len(addrs)

    def settle(self, bases, samples):
        """Into the first lane where it has room, and shares what others there do."""
        lane = 0
        while not self.has_room(bases, lane):
            lane += 1
        self.at |= {(*at, lane) for at in bases}
        self.lanes.update((id(s), lane) for s in samples)

    def has_room(self, bases, lane):
        others = [at for at in self.at if at[2] == lane]
        if any(self.collide(mine, other) for mine in bases for other in others):
            return False
        if lane == 0:
            return not self.meets(bases)
        return not others or self.meets(bases) == self.meets(others)

    def shared(self, image, base):
        """The lanes that what was placed comes to lie in."""
        return {0} | {lane for lane in {at[2] for at in self.at} | {*self.lanes.values()} -
                      {NOBODY} if not any(self.collide((image, base), at) for at in self.at
                                          if at[2] == lane)}

    def collide(self, a, b):
        apart = b[1] - a[1]
        return a != b[:2] and (0 <= apart < self.finders[a[0]].size or
                               0 <= -apart < self.finders[b[0]].size)
