"""Agreement of two raters, and prevalence corrected for a judge's errors: parts of ``run.py``."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

import cutscore as cs
from cutscore.core.errors import UndefinedError

Array = Any
DRAWS = 2000


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def marked(coverage: float) -> str:
    return percent(coverage) if 0.94 <= coverage <= 0.96 else f"**{percent(coverage)}**"


def slack(draws: int) -> float:
    """How far a coverage of 95 % may be off by luck."""
    return float(3 * (0.05 * 0.95 / draws) ** 0.5)


# --------------------------------------------------------------------------------------- agreement

# The shares of five ratings.
RATINGS = (0.05, 0.1, 0.2, 0.3, 0.35)


def raters(
    rng: np.random.Generator, kappa: float, shares: Array, n: int, cluster: int
) -> tuple[Array, Array]:
    """Labels of two raters: equal with the probability kappa, else independent of each other. Rows
    of one cluster have the same labels with probability one half."""
    labels = np.arange(len(shares))
    a, b = (rng.choice(labels, n, p=shares) for _ in range(2))
    b = np.where(rng.random(n) < kappa, a, b)
    if cluster > 1:
        copied = rng.random(n) < 0.5
        first = np.arange(n) // cluster * cluster
        a, b = np.where(copied, a[first], a), np.where(copied, b[first], b)
    return a, b


def kappa_coverage(task: tuple[str, float, Array, int, int, int]) -> Array:
    """Intervals that contain kappa, those of ± z standard errors, and samples without a kappa."""
    kind, kappa, shares, n, first, draws = task
    out = np.zeros(3)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 41))
        a, b = raters(rng, kappa, shares, n, 5 if kind == "clusters of 5" else 1)
        options: dict[str, Any] = {}
        if kind == "clusters of 5":
            options["unit"] = np.arange(n) // 5
        if kind == "weights 1 and 5":
            # Where labels are equal, one row in five was kept.
            same = a == b
            kept = ~same | (rng.random(n) < 0.2)
            a, b, options["weight"] = a[kept], b[kept], np.where(same, 5.0, 1.0)[kept]
        if kind == "quadratic":
            options["ordinal"] = kind
        try:
            found = cs.cohen_kappa(a, b, **options)
        except UndefinedError:
            out[2] += 1
            continue
        out += [kappa in found.interval, kappa in asymptotic(found), 0]
    return out


def asymptotic(found: cs.Agreement) -> cs.Interval:
    """Kappa ± z of Fleiss, Cohen & Everitt's standard errors, for labels without an order."""
    n, k = found.counts.sum(), found.kappa
    p = found.counts / n
    row, column = p.sum(axis=1), p.sum(axis=0)
    slope = np.eye(len(p)) - (1 - k) * (column[:, None] + row)
    variance = max(0.0, np.sum(p * slope**2) - np.sum(p * slope) ** 2) / n
    half = 1.959964 * variance**0.5 / (1 - found.expected)
    return cs.Interval(k - half, k + half, 0.95)


def report_agreement(r: Any) -> None:
    columns = ("kappa", "rows", "coverage", "± z", "undefined")
    r.table(AGREEMENT_TEXT, "rows are", "labels", *columns)
    draws = min(r.draws, DRAWS)
    two = [(share, 1 - share) for share in (0.05, 0.3, 0.5)]
    grid = product((0.0, 0.4, 0.8, 0.95), (50, 200, 1000))
    heads = [("plain", kappa, shares, n) for shares, (kappa, n) in product(two, grid)]
    grid = product((0.4, 0.8), (50, 200))
    heads += [
        (kind, kappa, RATINGS, n) for kind, (kappa, n) in product(("plain", "quadratic"), grid)
    ]
    kinds = ("clusters of 5", "weights 1 and 5")
    heads += [
        (kind, kappa, two[1], n) for kind, kappa, n in product(kinds, (0.4, 0.8), (250, 1000))
    ]
    for (kind, kappa, shares, n), (hits, by_z, none) in r.spread(kappa_coverage, heads, draws):
        names = f"{100 * shares[0]:g} %" if len(shares) == 2 else "five"
        got, other = hits / (1 - none), by_z / (1 - none)
        z = marked(other) if kind == "plain" else "–"
        r.row(kind, names, f"{kappa:g}", f"{n:,}", marked(got), z, percent(none))
        # Of few ratings a large disagreement may be missing, which nothing in the sample shows.
        if kind == "quadratic" and n < 200:
            continue
        if not 0.93 - slack(draws) <= got <= 0.98 + slack(draws):
            r.faults.append(f"kappa {kind, kappa, shares, n}: {got}")


# -------------------------------------------------------------------------------------- prevalence


def prevalence_coverage(task: tuple[Any, ...]) -> Array:
    """Intervals that contain the prevalence; their width; warnings; and coverage of Lang and
    Reiczigel's."""
    recall, fpr, share, positives, negatives, n, first, draws = task
    out = np.zeros(4)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 42))
        tp, fp = int(rng.binomial(positives, recall)), int(rng.binomial(negatives, fpr))
        flagged = int(rng.binomial(n, share * recall + (1 - share) * fpr))
        labelled = cs.Confusion(tp, fp, positives - tp, negatives - fp)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                interval = cs.corrected_prevalence(labelled, flagged, n).interval
            except UndefinedError:  # nothing is excluded by a judge like chance
                interval = cs.Interval(0.0, 1.0, 0.95)
        other = lang_reiczigel(labelled, flagged, n)
        out += [share in interval, interval.width, bool(caught), share in other]
    return out


def lang_reiczigel(c: cs.Confusion, flagged: int, n: int) -> cs.Interval:
    z2 = 1.959964**2
    (p, m), q = (c.positives + 2, c.negatives + 2), (flagged + z2 / 2) / (n + z2)
    tpr, fpr = (c.tp + 1) / p, (c.fp + 1) / m
    if tpr == fpr:
        return cs.Interval(0.0, 1.0, 0.95)
    share = (q - fpr) / (tpr - fpr)
    parts = tpr * (1 - tpr) / p, fpr * (1 - fpr) / m
    middle = share + 2 * z2 * (share * parts[0] - (1 - share) * parts[1])
    total = q * (1 - q) / (n + z2) + share**2 * parts[0] + (1 - share) ** 2 * parts[1]
    half = (z2 * total) ** 0.5 / abs(tpr - fpr)
    return cs.Interval(max(0.0, middle - half), min(1.0, middle + half), 0.95)


def report_prevalence(r: Any) -> None:
    columns = ("recall, FPR", "prevalence", "unlabelled", "coverage", "mean width", "warning")
    r.table(PREVALENCE_TEXT, "labelled: positives, negatives", *columns, "Lang & Reiczigel")
    draws = min(r.draws, DRAWS)
    sizes = ((25, 25), (10, 40), (50, 150), (50, 950), (500, 500))
    rates, shares = ((0.8, 0.05), (0.95, 0.01), (0.6, 0.2)), (0.01, 0.05, 0.3)
    heads = [
        (*rate, share, *size, n)
        for size, rate, share, n in product(sizes, rates, shares, (1000, 20_000))
    ]
    for (recall, fpr, share, p, m, n), got in r.spread(prevalence_coverage, heads, draws):
        cover, width, warned, other = got
        cells = (f"{recall:g}, {fpr:g}", f"{100 * share:g} %", f"{n:,}")
        r.row(f"{p:,}, {m:,}", *cells, marked(cover), *map(percent, (width, warned)), marked(other))
        # The interval is limited to [0, 1], and so few positives have few values.
        most = 1.0 if share < 0.1 or p * (1 - recall) < 3 else 0.98 + slack(draws)
        if not 0.93 - slack(draws) <= cover <= most or warned > 0.05 + slack(draws):
            r.faults.append(f"prevalence {recall, fpr, share, p, m, n}: {got}")


PREVALENCE_TEXT = f"""
### Prevalence corrected for errors

Coverage of `corrected_prevalence(labelled, flagged, total)` at 95 %, {DRAWS:,} samples per row. A
judge with this recall and false positive rate has flagged unlabelled rows, and labelled rows of
both classes. A warning says that no prevalence explains the flagged rate, which is false here. The
last column is the coverage of Lang and Reiczigel's interval.

The interval over-covers at the ends: where the estimate is limited to 0, and where so few of the
labelled positives are missed that the count has few values. Lang and Reiczigel's interval
over-covers more often.
"""

AGREEMENT_TEXT = f"""
## Agreement of two raters

Coverage of `cohen_kappa(a, b)` at 95 %, {DRAWS:,} samples per row, and of kappa ± z of the
asymptotic standard errors. Of two labels the share of one is given. *Five* are ratings with the
shares {", ".join(f"{100 * share:g}" for share in RATINGS)} %; *quadratic* is the ordinal kappa of
them. A row of a cluster of five is a copy of the first one with probability one half. With weights,
one in five rows with equal labels was kept, with the weight 5. Undefined if both raters give all
rows the same label; coverage is that of the other samples.

The ordinal kappa of 50 rows under-covers: a few large disagreements determine it, and a sample
without them does not show that. So does a kappa below 0 if one label is rare: for -0.03, a share of
5 % and 50 rows, 82 % of the intervals contained it.
"""
