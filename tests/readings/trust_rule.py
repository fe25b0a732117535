# SPDX-License-Identifier: GPL-2.0-only
"""The rule of filter/trust/verdict.h, FIRST, of what lies in an image or in a whole report."""
from modelled import OUTSIDE
from shares import Z99, wilson

LEAST, LEAST_STRAY, NEARLY_ALL = 12, 30, .99
ORDER = ("not tested", "too few samples to tell", "verified", "mixed", "mismatch")


def worst(words):
    return max(words, key=ORDER.index, default=ORDER[0])


def is_off(on, off):
    """Are more off than one in a hundred explains, at 99 %?"""
    n, term, below = on + off, (1 - .01)**(on + off), 0
    for k in range(off):
        below += term
        term *= (n - k) / (k + 1) * .01 / .99
    return off > 0 and 1 - below < .01


class Tested:
    """addresses: of those on boundaries (True), off (False) and not decodable (None) the
    samples of each."""

    def __init__(self):
        self.addresses = {True: {}, False: {}, None: {}}
        self.stray, self.padding, self.any, self.inside = set(), 0, False, False
        self.densities = []

    def __repr__(self):
        return f"{ {key: (len(of), sum(of.values())) for key, of in self.addresses.items()} }, " + \
            f"{len(self.stray)} stray, {self.padding} in padding"

    def add(self, key, place, guest, addr):
        """A sample. key: what tells the address from others."""
        self.any = True
        filler = place.kind == "gap" and guest.is_filler(addr)
        self.padding += filler
        if filler or place == OUTSIDE or place.kind == "data":
            self.stray.add(key)
        self.inside |= place != OUTSIDE and not filler
        if place.kind in ("gap", "outside"):
            return
        is_on = guest.boundary(addr)
        self.addresses[is_on][key] = self.addresses[is_on].get(key, 0) + 1
        if is_on is not None and place.kind != "data":
            self.densities.append(guest.density(place))

    def chance(self):
        return sum(self.densities) / len(self.densities) if self.densities else None

    @staticmethod
    def interval(on, n):
        return wilson(on / n if n else 0, n, Z99)

    def judge(self, stray=0):
        """stray: distinct addresses; none of an image."""
        on, off = (sum(self.addresses[key].values()) for key in (True, False))
        n_on, n_off = (len(self.addresses[key]) for key in (True, False))
        n, chance = n_on + n_off, self.chance() or 0
        half = chance + (1 - chance) / 2
        if not n and self.addresses[None]:
            return "not tested"
        if n < LEAST:
            none_or_some, least = not n_on or n_off, LEAST_STRAY if self.inside else LEAST
            return "mismatch" if is_off(on, off) or is_off(n_on, n_off) or \
                none_or_some and stray >= least else "too few samples to tell"
        if n_on >= NEARLY_ALL * n and on >= NEARLY_ALL * (on + off):
            if self.interval(n_on, n)[0] <= half:
                return "too few samples to tell"
            return "mixed" if is_off(on + off, self.padding) else "verified"
        if n_on / n < half and is_off(n_on, n_off) or on / (on + off) < half and is_off(on, off):
            return "mismatch"
        return "mixed"
