"""Coverage of rates at fixed rates, of smooth ROC curves' areas and of net benefits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

import cutscore as cs

if TYPE_CHECKING:
    from run import Report, Truth

    TruthOf = Callable[[float, str], Truth]

DRAWS = 2000
GRID = list(product((0.6, 0.8, 0.95, 0.99), (10, 20, 50, 500), (200, 2000)))


def drawn(truth: Truth, kind: str, positives: int, negatives: int, seed: int) -> cs.Sweep:
    rng = np.random.default_rng((seed, 17))
    y = np.repeat([1, 0], (positives, negatives))
    score = truth.draw(rng, y)
    weight = rng.exponential(size=len(y)) if kind == "weights" else None
    return cs.sweep(y, score, weight, squares=weight is not None)


def on_curve(truth: Truth, fpr: float | None, tpr: float | None) -> float:
    """The TPR of the true curve at an FPR, or the FPR at a TPR; straight lines between levels."""
    if truth.levels:
        cuts = np.concatenate(([np.inf], truth.levels[::-1]))
        x, y = truth.fpr(cuts), truth.tpr(cuts)
        return float(np.interp(fpr, x, y) if tpr is None else np.interp(tpr, y, x))
    if tpr is None:
        return float(ndtr((truth.distance + ndtri(fpr)) / truth.spread))
    return float(ndtr(truth.spread * ndtri(tpr) - truth.distance))


RATES = ("continuous", "five levels", "weights")


def rate_coverage(task: tuple[Truth, str, int, int, int, int]) -> Any:
    """Coverage of the sensitivity at specificities of 0.9 and 0.95, and of the specificity at a
    sensitivity of 0.9."""
    truth, kind, positives, negatives, first, draws = task
    hits = np.zeros(3)
    true = [on_curve(truth, 0.1, None), on_curve(truth, 0.05, None), 1 - on_curve(truth, None, 0.9)]
    for seed in range(first, first + draws):
        s = drawn(truth, kind, positives, negatives, seed)
        found = (cs.sensitivity_at(s, 0.9), cs.sensitivity_at(s, 0.95), cs.specificity_at(s, 0.9))
        hits += [x in p.interval for x, p in zip(true, found, strict=True)]
    return hits


def report_rates(r: Report, truth_of: TruthOf) -> None:
    columns = [f"{name}, {kind}" for name in ("Se 0.9", "Se 0.95", "Sp 0.9") for kind in RATES]
    r.table(RATE_TEXT, "AUC", "positives, negatives", *columns)
    draws = min(r.draws, DRAWS)
    heads = [(truth_of(auc, kind), kind, p, n) for auc, p, n in GRID for kind in RATES]
    found = {(h[1], h[0], *h[2:]): got for h, got in r.spread(rate_coverage, heads, draws)}
    for auc, p, n in GRID:
        got = np.array([found[kind, truth_of(auc, kind), p, n] for kind in RATES])
        r.row(f"{auc:g}", f"{p:,}, {n:,}", *(f"{100 * x:.1f} %" for x in got.T.ravel()))
        if got.min() < 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5:
            r.faults.append(f"rates at fixed rates {auc, p, n}: {got}")


AREAS = ("continuous", "five levels", "wide")


def area_coverage(task: tuple[Truth, str, int, int, int, int]) -> Any:
    """Curves that there are, of these how many areas are covered, and the sums of widths: of the
    binormal interval, and of the one of the rows."""
    truth, kind, positives, negatives, first, draws = task
    out = np.zeros(4)
    true = float(ndtr(truth.distance / (1 + truth.spread**2) ** 0.5))
    for seed in range(first, first + draws):
        s = drawn(truth, kind, positives, negatives, seed)
        try:
            span = cs.smooth_roc(s).interval
        except cs.UndefinedError:
            continue
        out += [1, true in span, span.width, cs.auc_interval(s).width]
    return out


def report_areas(r: Report, truth_of: TruthOf) -> None:
    columns = [*AREAS, "width / auc_interval's", "no curve, continuous", "no curve, wide"]
    r.table(AREA_TEXT, "AUC", "positives, negatives", *columns)
    draws = min(r.draws, DRAWS)
    heads = [(truth_of(auc, kind), kind, p, n) for auc, p, n in GRID for kind in AREAS]
    found = {(h[1], h[0], *h[2:]): got for h, got in r.spread(area_coverage, heads, draws)}
    for auc, p, n in GRID:
        got = np.array([found[kind, truth_of(auc, kind), p, n] for kind in AREAS])
        covered, none = got[:, 1] / got[:, 0], 1 - got[[0, 2], 0]
        cells = [f"{100 * x:.1f} %" for x in covered]
        cells += [f"{got[0, 2] / got[0, 3]:.2f}", *(f"{100 * x:.1f} %" for x in none)]
        r.row(f"{auc:g}", f"{p:,}, {n:,}", *cells)
        if covered.min() < 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5:
            r.faults.append(f"binormal areas {auc, p, n}: {covered}")


TIMES = (0.05, 0.2, 0.5)


def benefit_coverage(task: tuple[int, float, float, int, int]) -> Any:
    """At each threshold, coverage of the net benefit, of interventions avoided, of the net benefit
    under a known prior, and of the difference of two models; then of ± z standard errors for the
    first and the last."""
    n, prior, auc, first, draws = task
    t, out = np.array(TIMES), np.zeros((6, len(TIMES)))
    distance = np.array([ndtri(auc), ndtri(min(auc + 0.03, 0.98))]) * 2**0.5
    cut = (logit(t) - logit(prior))[:, None] / distance + distance / 2
    tpr, fpr = ndtr(distance - cut).T, ndtr(-cut).T
    rate = t / (1 - t)
    true, other = prior * tpr - (1 - prior) * rate * fpr
    every = prior - rate * (1 - prior)
    truths = (true, 100 * (true - every) / rate, true, true - other)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 19))

        def models(y: Any, rng: np.random.Generator = rng) -> Any:
            noise = rng.standard_normal((3, len(y)))
            score = 0.8**0.5 * noise[0] + 0.2**0.5 * noise[1:] + distance[:, None] * y
            odds = distance[:, None] * (score - distance[:, None] / 2) + logit(prior)
            return expit(odds)

        y = rng.random(n) < prior
        if not 0 < y.sum() < n:
            y[0] = not y[0]
        a, b = models(y)
        found = cs.net_benefit_at(cs.sweep(y, a), t)
        case_control = np.arange(n) < n // 2
        known = cs.net_benefit_at(cs.sweep(case_control, models(case_control)[0]), t, prior=prior)
        pair = cs.compare_net_benefit(y, a, b, t).difference
        spans = (found.net_benefit, found.avoided, known.net_benefit, pair)
        hits = [(x.low <= true) & (true <= x.high) for x, true in zip(spans, truths, strict=True)]
        worth = [(p >= t[:, None]) * np.where(y, 1.0, -rate[:, None]) for p in (a, b)]
        for values, true in ((worth[0], truths[0]), (worth[0] - worth[1], truths[3])):
            half = 1.959964 * values.std(axis=1) / n**0.5
            hits.append(np.abs(values.mean(axis=1) - true) <= half)
        out += hits
    return out


def report_benefit(r: Report) -> None:
    columns = ("net benefit", "± z", "avoided", "known prior", "difference", "± z")
    counts = ("flagged + / −", "rows, positive", "AUC", "threshold")
    r.table(BENEFIT_TEXT, *counts, *columns)
    draws = min(r.draws, DRAWS)
    heads = list(product((200, 1000), (0.05, 0.14, 0.5), (0.7, 0.95)))
    for (n, prior, auc), got in r.spread(benefit_coverage, heads, draws):
        d = float(ndtri(auc)) * 2**0.5
        for k, t in enumerate(TIMES):
            cut = (logit(t) - logit(prior)) / d + d / 2
            tp, fp = n * prior * ndtr(d - cut), n * (1 - prior) * ndtr(-cut)
            own, avoided, known, pair, plain, plain_pair = got[:, k]
            cells = (own, plain, avoided, known, pair, plain_pair)
            what = (f"{tp:.1f} / {fp:.1f}", f"{n:,}, {100 * prior:g} %", f"{auc:g}", f"{t:g}")
            r.row(*what, *(f"{100 * x:.1f} %" for x in cells))
            if min(own, avoided, known, pair) < 0.93 - 3 * (0.05 * 0.95 / draws) ** 0.5:
                r.faults.append(f"net benefit {n, prior, auc, t}: {got[:, k]}")


RATE_TEXT = """
## Sensitivity at a fixed specificity, and vice versa

Coverage of `sensitivity_at(s, 0.9)`, `(s, 0.95)` and `specificity_at(s, 0.9)` at 95 %, 2,000
samples per cell. Scores are continuous and normal, in five levels, or with exponential weights.
Ten positives have eleven possible sensitivities, and intervals of so few values can't cover exactly
95 %: they cover 98 or 99 % rather than 90. With fewer than 35 positives, the interval of the
specificity at a sensitivity of 0.9 extends to 0, as it must.
"""

AREA_TEXT = """
## Smooth curves

Coverage of `smooth_roc(s).auc` at 95 % for binormal scores, continuous or in five levels, 2,000
samples per cell. For continuous scores, the mean width relative to `auc_interval(s)`. The last
columns are how often there is no such curve, because the classes overlap too little.
"""

BENEFIT_TEXT = """
## Net benefit

Two calibrated models with a correlation of 0.8, the second with an AUC that is 0.03 higher.
Coverage of `net_benefit_at` and `compare_net_benefit` at 95 %, 2,000 samples per row, compared
with ± z standard errors of the mean over rows. With a known prior, half of the rows are positive.
The first column is how many positives and negatives the first model flags on average. If it flags
nearly none, or all, there is hardly any uncertainty.
"""
