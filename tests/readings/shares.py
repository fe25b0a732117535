# SPDX-License-Identifier: GPL-2.0-only
"""How sure a share is, and a difference: what hlguest(7), hlguest-diff(1) and filter/stats/*.h
name, each from the paper that they name."""
import math
import statistics

Z95, Z99 = 1.959963984540054, 2.5758293035489004
EXPECTED = 5  # where fewer are, Fisher's test


def wilson(share, n, z=Z95):
    """hlguest(7), "Intervals": Wilson's, of 95 % unless z is another level's."""
    if n <= 0:
        return 0, 1
    z = z * z / n
    middle, half = share + z / 2, math.sqrt(z * (share * (1 - share) + z / 4))
    return max(0, (middle - half) / (1 + z)), min(1, (middle + half) / (1 + z))


def effective(weights):
    """Kish's number of observations."""
    squares = sum(w * w for w in weights)
    return sum(weights)**2 / squares if squares else 0


def newcombe(shares, ns):
    """Of the difference of two proportions: R. G. Newcombe, 1998, method 10."""
    if not all(ns):
        return -1, 1  # nothing is known
    (p, q), (l, u) = shares, wilson(shares[0], ns[0])
    low, high = wilson(q, ns[1])
    return q - p - math.hypot(q - low, u - p), q - p + math.hypot(high - q, p - l)


def tested(shares, ns):
    """(p, whether it is Fisher's) of two proportions."""
    if not all(ns):
        return 1, False
    whole = sum(ns)
    mean = sum(p * n for p, n in zip(shares, ns)) / whole
    if min(n * part for n in ns for part in (mean, 1 - mean)) < EXPECTED:
        sizes = [int(n + 1e-9) for n in ns]  # whole ones
        return exact([int(p * n + .5) for p, n in zip(shares, sizes)], sizes), True
    x = (shares[1] - shares[0])**2 / (mean * (1 - mean) * sum(1 / n for n in ns))
    return math.erfc(math.sqrt(x / 2)), False


def exact(counts, sizes):
    """Fisher's test with the mid-P, the smaller tail doubled."""
    hits, whole = sum(counts), sum(sizes)
    ways = [math.comb(sizes[0], x) * math.comb(sizes[1], hits - x) if x <= hits else 0
            for x in range(sizes[0] + 1)]
    x = counts[0]
    tails = [sum(of) - ways[x] / 2 for of in (ways[:x + 1], ways[x:])]
    return min(1, 2 * min(tails) / math.comb(whole, hits))


def adjusted(ps):
    """Benjamini's and Hochberg's false discovery rates."""
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    qs, least = [1] * len(ps), 1
    for rank, i in enumerate(order):
        least = qs[i] = min(least, ps[i] * len(ps) / (len(ps) - rank))
    return qs


def student(t, df):
    """Two-sided p: the density's integral up to |t|, by Simpson's rule over its angle."""
    end, n = math.atan(abs(t) / math.sqrt(df)), 2000
    h = end / n
    area = sum((1 if i in (0, n) else 4 if i % 2 else 2) * math.cos(i * h)**(df - 1)
               for i in range(n + 1)) * h / 3
    factor = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    return max(0, 1 - 2 * factor * area)


def welch(runs):
    """runs: of each side (weight, observations) of each recording. The variance of a side is at
    least that of its samples: of a sum of weights, their squares."""
    means = [statistics.fmean(w for w, _ in of) for of in runs]
    parts, dfs = [], 0
    for of, mean in zip(runs, means):
        poisson = statistics.fmean(w * w / n if n else 0 for w, n in of)
        part = max(statistics.variance(w for w, _ in of), poisson) / len(of)
        parts.append(part)
        dfs += part**2 / (len(of) - 1)
    if not sum(parts):
        return 1
    return student((means[1] - means[0]) / math.sqrt(sum(parts)), sum(parts)**2 / dfs)


def chi_square(x, df):
    """Q(df / 2, x / 2), for whole degrees of freedom: from those of one or two on."""
    if x <= 0:
        return 1
    odd = df % 2
    total = math.erfc(math.sqrt(x / 2)) if odd else math.exp(-x / 2)
    term = math.sqrt(2 * x / math.pi) * math.exp(-x / 2) if odd else math.exp(-x / 2)
    for k in range(3 if odd else 4, df + 1, 2):
        if odd:
            total += term
            term *= x / k
        else:
            term *= x / (k - 2)
            total += term
    return total
