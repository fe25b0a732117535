# SPDX-License-Identifier: GPL-2.0-only
"""How much recordings of one thing differ, and what that leaves of a difference: hlguest-diff(1),
"Tests", as filter/stats/dispersion.h and compare.h have it in full."""
import math

from shares import newcombe, tested

STEPS = (0, .01, .015, .022, .033, .05, .075, .11, .16, .24, .35, .5, .75, 1.1, 1.7, 2.5)
DOUBT, ROUNDS = 2, 50
RUNS, LEVEL = 3, .05


def variance(step, p, n):
    """What sampling adds, and what the runs do, by some part of the share itself."""
    return p * (1 - p) / n + (step * p * (1 - p))**2


class Side:
    """runs: (share, weight that it is of, observations) of each recording."""

    def __init__(self, runs):
        self.runs = [run for run in runs if run[1] > 0 and run[2] > 0]
        self.weight = sum(weight for _, weight, _ in self.runs)
        self.share = self.n = 0
        if self.runs:
            self.share = sum(share * weight for share, weight, _ in self.runs) / self.weight
            self.n = self.weight**2 / sum(weight**2 / n for _, weight, n in self.runs)

    def logs(self):
        """Of the likelihood of each step, where the mean is not known."""
        for step in STEPS:
            vs = [variance(step, self.share, n) for *_, n in self.runs]
            precision = sum(1 / v for v in vs)
            mean = sum(run[0] / v for run, v in zip(self.runs, vs)) / precision
            squares = sum((run[0] - mean)**2 / v for run, v in zip(self.runs, vs))
            yield -(sum(map(math.log, vs)) + math.log(precision) + squares) / 2

    def variance(self, step, p):
        """Of its share, a ratio."""
        return sum((weight / self.weight)**2 * variance(step, p, n)
                   for _, weight, n in self.runs)


def likelihood(sides):
    """Of each step: nothing is known from one recording, or where nothing can vary."""
    logs = [0] * len(STEPS)
    for side in sides:
        if len(side.runs) > 1 and 0 < side.share < 1:
            logs = [a + b for a, b in zip(logs, side.logs())]
    return [math.exp(log - max(logs)) for log in logs]


def weighed(common, of):
    whole = sum(a * b for a, b in zip(common, of))
    return [a * b / whole for a, b in zip(common, of)] if whole else common


def common_of(rows):
    """How common each step is: the likeliest of all rows, and of some that know nothing."""
    common = [1 / len(STEPS)] * len(STEPS)
    for _ in range(ROUNDS if rows else 0):
        parts = [weighed(common, of) for of in rows]
        common = [(DOUBT / len(STEPS) + sum(of)) / (len(rows) + DOUBT) for of in zip(*parts)]
    return common


def exceeds(errors, weights, difference):
    return min(1, sum(w * math.erfc(abs(difference) / error / math.sqrt(2))
                      for w, error in zip(weights, errors)))


def compared(sides, common):
    """((low, high), p, exact) of a row; these are never better than those of samples alone."""
    shares, ns = [side.share for side in sides], [side.n for side in sides]
    interval, (p, is_exact) = newcombe(shares, ns), tested(shares, ns)
    pooled = sum(share * n for share, n in zip(shares, ns)) / sum(ns)
    if not all(ns) or not 0 < pooled < 1:
        return interval, p, is_exact
    errors = [math.sqrt(sum(side.variance(step, pooled) for side in sides)) for step in STEPS]
    weights = weighed(common, likelihood(sides))
    difference, low, high = shares[1] - shares[0], 0, 10 * max(errors)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(errors, weights, middle) > LEVEL else (low, middle)
    p = max(p if is_exact else 0, exceeds(errors, weights, difference))
    return (max(-1, min(interval[0], difference - high)),
            min(1, max(interval[1], difference + high))), p, is_exact
