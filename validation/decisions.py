"""Guarantees for units and of precision, costs of two scores, baselines: parts of ``run.py``."""

from __future__ import annotations

from itertools import product
from math import ceil, log
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

import cutscore as cs

Array = Any
DRAWS = 2000
COSTS = cs.Costs(fp=1, fn=20)


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def slack(draws: int) -> float:
    """How far a rate of 5 % may be off by luck."""
    return float(3 * (0.05 * 0.95 / draws) ** 0.5)


# ------------------------------------------------------------------------------------------- units


def unit_limits(task: tuple[str, int, bool, float, int, int]) -> Array:
    """Broken by counting units, and by counting rows; the true rate of errors at either cut."""
    limit, units, equal, icc, first, draws = task
    name, _, bound = limit.split()
    out = np.zeros(4)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 21))
        sizes = np.full(units, 10) if equal else np.ceil(rng.lognormal(1.8, 1.0, units)).astype(int)
        unit = np.repeat(np.arange(units), sizes)
        common, own = rng.standard_normal(units)[unit], rng.standard_normal(len(unit))
        # Half of the rows are positive, and these score higher by 2.
        y = rng.random(len(unit)) < 0.5
        score = icc**0.5 * common + (1 - icc) ** 0.5 * own + 2 * y
        s, of = cs.sweep(y, score), cs.units(y, score, unit)
        aim = "recall" if name == "fpr" else "fpr"
        for k, count in enumerate((of, None)):
            p = cs.choose(s, aim, subject_to=limit, confidence=0.95, units=count)
            wrong = ndtr(-p.threshold) if name == "fpr" else ndtr(p.threshold - 2)
            allowed = float(bound) if name == "fpr" else 1 - float(bound)
            out[k] += wrong > allowed * (1 + 1e-9)
            out[2 + k] += wrong
    return out


def report_unit_limits(r: Any) -> None:
    columns = ("limit", "clusters", "rows per cluster", "correlation")
    r.table(UNIT_TEXT, *columns, "violated", "by rows", "true errors", "by rows")
    draws = min(r.draws, DRAWS)
    heads = [
        (limit, units, equal, icc)
        for limit, units in (("fpr <= 0.05", 100), ("fpr <= 0.05", 400), ("recall >= 0.8", 100))
        for equal, icc in product((True, False), (0.0, 0.2, 0.5, 1.0))
    ]
    for (limit, units, equal, icc), got in r.spread(unit_limits, heads, draws):
        rows = "10" if equal else "1 to about 100"
        r.row(limit, f"{units}", rows, f"{icc:g}", *map(percent, got))
        if got[0] > 0.05 + slack(draws):
            r.faults.append(f"units {limit, units, equal, icc}: {got}")


# --------------------------------------------------------------------------------------- precision


def precision_limits(task: tuple[int, float, float, float, float, int, int]) -> Array:
    """A cut was found, and by even shares; it is broken; the recall of either on the rows."""
    positives, share, distance, bound, step, first, draws = task
    out = np.zeros(5)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 22))
        y = rng.random(round(positives / share)) < share
        score = rng.standard_normal(len(y)) + distance * y
        score = np.ceil(score / step) * step if step else score
        s = cs.sweep(y, score)
        p = cs.choose(s, "recall", subject_to=f"precision >= {bound}", confidence=0.95)
        before = even_shares(s, bound, 0.05)
        out[[1, 4]] += before > 0, before
        if p.feasible:
            t = np.ceil(p.threshold / step) * step - step if step else p.threshold
            tp, fp = share * ndtr(distance - t), (1 - share) * ndtr(-t)
            out[[0, 2, 3]] += 1, tp / (tp + fp) < bound, p.value
    return out


def even_shares(s: cs.Sweep, bound: float, error: float) -> float:
    """The recall on the rows that version 0.1 found: sequences share the error evenly, and each
    keeps its own."""
    rows, number = s.tp + s.fp, 1
    while True:
        starts = [max(1, ceil(log(error / number) / log(bound)))]
        while 4 * starts[-1] <= rows[-1]:
            starts.append(4 * starts[-1])
        if len(starts) <= number:
            break
        number = len(starts)
    passes = binom.sf(s.tp - 1, rows, bound) <= error / number
    best = -1
    for start in starts:
        at = max(int(np.searchsorted(rows, start, side="right")) - 1, 0)
        fails = np.flatnonzero(~passes[at:])
        end = at + int(fails[0]) if len(fails) else len(rows)
        best = max(best, end - 1 if end > at else -1)
    return float(s.tp[best] / s.P) if best >= 0 else 0.0


# Positives, their share, distance of the means, bound, step of the scores.
PRECISION = (
    (50, 0.1, 2.0, 0.6, 0.0),
    (50, 0.1, 3.0, 0.8, 0.0),
    (50, 0.5, 2.0, 0.8, 0.0),
    (100, 0.02, 3.0, 0.7, 0.0),
    (100, 0.1, 2.0, 0.6, 0.0),
    (100, 0.3, 2.0, 0.8, 0.0),
    (100, 0.1, 3.0, 0.9, 0.0),
    (100, 0.1, 2.5, 0.7, 0.5),
    (500, 0.1, 2.0, 0.7, 0.0),
    (500, 0.02, 3.0, 0.8, 0.0),
    (500, 0.5, 1.0, 0.8, 0.0),
)


def report_precision(r: Any) -> None:
    columns = ("positives, share", "distance", "limit", "scores", "violated", "found")
    r.table(PRECISION_TEXT, *columns, "before", "recall", "before")
    draws = min(r.draws, DRAWS)
    for head, got in r.spread(precision_limits, list(PRECISION), draws):
        p, share, distance, bound, step = head
        found, before, broken, recall, recall_before = got
        r.row(
            f"{p}, {100 * share:g} %",
            f"{distance:g}",
            f"≥ {bound:g}",
            f"rounded to {step:g}" if step else "continuous",
            percent(broken),
            percent(found),
            percent(before),
            f"{recall:.3f}",
            f"{recall_before:.3f}",
        )
        if broken > 0.05 + slack(draws):
            r.faults.append(f"precision {head}: {got}")


# ----------------------------------------------------------------------------- costs of two scores


def two_costs(task: tuple[bool, int, int, float, float, int, int]) -> Array:
    """Differences that were found; of these, in favour of b; the mean difference of costs."""
    rule, rows, positives, distance, shift, first, draws = task
    share = positives / rows
    best = distance / 2 + log((1 - share) * COSTS.fp / (share * COSTS.fn)) / distance
    out = np.zeros(3)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 23))
        y = rng.random(rows) < share
        common, *own = 0.5**0.5 * rng.standard_normal((3, rows))
        a, b = (
            common + x + mean * y for x, mean in zip(own, (distance + shift, distance), strict=True)
        )
        c = cs.compare(y, a, b >= best if rule else b, costs=COSTS)
        low, high = c.cost_interval
        out += (low > 0 or high < 0, low > 0, c.cost_difference)
    return out


def report_two_costs(r: Any) -> None:
    columns = ("b is", "rows, positive", "distance", "shift of a")
    r.table(COSTS_TEXT, *columns, "difference found", "in favour of b", "mean difference")
    draws = min(r.draws, DRAWS)
    sizes = ((400, 40, 1.5), (2000, 100, 1.5), (2000, 40, 2.5), (150, 15, 1.5))
    heads = [(rule, *size, 0.0) for rule, size in product((False, True), sizes)]
    heads += [(False, 400, 40, 1.5, 0.7), (False, 2000, 100, 1.5, 0.4)]
    for (rule, rows, p, distance, shift), got in r.spread(two_costs, heads, draws):
        found, other, mean = got
        what = "a rule" if rule else "a score"
        cells = (f"{rows:,}, {p}", f"{distance:g}", f"{shift:g}")
        r.row(what, *cells, percent(found), percent(other), f"{mean:+.4f}")
        if not shift and found > 0.065 + slack(draws):
            r.faults.append(f"costs {rule, rows, p}: {got}")


# --------------------------------------------------------------------------------------- baselines


def baselines(task: tuple[int, float, float, float, int, int]) -> Array:
    """Shown to beat flagging all or none; and truly better than both at the cut that was chosen."""
    rows, share, miss, distance, first, draws = task
    out = np.zeros(2)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 24))
        y = rng.random(rows) < share
        y[:2] = True, False
        p = cs.choose(cs.sweep(y, rng.standard_normal(rows) + distance * y), cs.Costs(1, miss))
        t = p.threshold
        cost = share * miss * ndtr(t - distance) + (1 - share) * ndtr(-t)
        assert p.baseline is not None
        out += (p.baseline.shown, cost < (1 - 1e-9) * min(share * miss, 1 - share))
    return out


def report_baselines(r: Any) -> None:
    r.table(BASELINE_TEXT, "rows", "positive", "a miss", "AUC", "shown", "truly better")
    draws = min(r.draws, DRAWS)
    cases = ((400, 0.1, 9.0), (400, 0.1, 20.0), (2000, 0.02, 49.0), (100, 0.5, 1.0))
    for head, got in r.spread(baselines, [(*c, d) for c in cases for d in (0.0, 0.3, 1.5)], draws):
        rows, share, miss, distance = head
        auc = float(ndtr(distance / 2**0.5))
        r.row(f"{rows:,}", f"{100 * share:g} %", f"{miss:g}", f"{auc:.2f}", *map(percent, got))
        if distance == 0 and got[0] > 0.05:
            r.faults.append(f"baseline {head}: {got}")


UNIT_TEXT = """
## Guarantees for clustered rows

`choose(..., confidence=0.95, units=units(y, score, unit))`: the limit may be violated in at most
5 % of the samples, for the given correlation within clusters. 2,000 samples per row. The next
column is the same limit with rows treated as independent. Cluster sizes are 10, or log-normal. The
last two columns are the true error rates (false positives or false negatives) of either threshold,
which show the cost of the guarantee.
"""

PRECISION_TEXT = """
## Precision guarantees

`choose(s, "recall", subject_to="precision >= …", confidence=0.95)`, 2,000 samples per row: how
often a threshold was found, and its mean recall on the sample (0 if there is none). *Before* is
version 0.1, in which the sequences of tests shared the error evenly and did not pass it on.
"""

COSTS_TEXT = """
## Costs of two scores

`compare(..., costs=Costs(fp=1, fn=20))`, 2,000 samples per row. The noise of the two scores has a
correlation of 0.5; where b is a rule, it is an optimal binary one. Without a shift both are equally
good, and the type I error may be 5 %. A percentile bootstrap on the rows used for the choice had a
type I error of 22 % (400 rows) and 15 % (2,000) for a rule and a score. For two scores it was 5 %.
With the shifts below its power was 66 and 71 %.
"""

BASELINE_TEXT = """
## Baselines

`OperatingPoint.baseline`: how often a threshold is significantly cheaper than flagging all or
none, and how often it is truly cheaper. For an uninformative score that may happen in 2.5 % of the
samples. 2,000 samples per row.
"""
