"""Weighted rows: do bootstrap, guarantees, consistency bands and stability keep what they say?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, ndtr

import cutscore as cs

if TYPE_CHECKING:
    from run import Report

DISTANCE = 1.5
KINDS = ("none", "exponential", "negatives 1 in 10", "strata 1 : 5")


@dataclass(frozen=True)
class Population:
    """Normal scores, positives a distance above negatives, and how rows of them are sampled.

    Of "strata" the second holds five sixths of all cases and half of the sample, and its scores are
    lower by one.
    """

    kind: str
    share: float

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
        """Labels, scores and weights of n rows."""
        share = self.share
        if self.kind == "negatives 1 in 10":  # of those that are kept
            share = share / (share + (1 - share) / 10)
        y = rng.random(n) < share
        score = rng.standard_normal(n) + DISTANCE * y
        if self.kind == "exponential":
            return y, score, rng.exponential(size=n)
        if self.kind == "negatives 1 in 10":
            return y, score, np.where(y, 1.0, 10.0)
        if self.kind == "none":
            return y, score, np.ones(n)
        second = rng.random(n) < 0.5
        return y, score - second, np.where(second, 5.0, 1.0)

    def rate(self, threshold: float, positive: bool) -> float:
        """The share of a class that is flagged."""
        z = DISTANCE * positive - threshold
        if self.kind.startswith("strata"):
            return float((ndtr(z) + 5 * ndtr(z - 1)) / 6)
        return float(ndtr(z))

    def flagged(self, threshold: float) -> float:
        pos, neg = self.rate(threshold, True), self.rate(threshold, False)
        return self.share * pos + (1 - self.share) * neg

    @property
    def auc(self) -> float:
        if not self.kind.startswith("strata"):
            return float(ndtr(DISTANCE / 2**0.5))
        pairs = [(a * b, a_ - b_) for a, a_ in _STRATA for b, b_ in _STRATA]
        return float(sum(w * ndtr((DISTANCE + gap) / 2**0.5) for w, gap in pairs))

    def sweep(self, seed: int, n: int) -> tuple[cs.Sweep, tuple[Any, Any, Any]]:
        rows = self.draw(np.random.default_rng((seed, 31)), n)
        return cs.sweep(*rows, squares=True), rows


_STRATA = ((1 / 6, 0.0), (5 / 6, -1.0))


def bootstrap_cover(task: tuple[str, int, int, int]) -> Any:
    """Intervals of the AUC that contain it: of the sweep by percentiles and by BCa, and of rows."""
    kind, n, first, draws = task
    population, hits = Population(kind, 0.2), np.zeros(4)
    for seed in range(first, first + draws):
        s, (y, score, weight) = population.sweep(seed, n)
        of_rows = cs.bootstrap_rows(y, score, weight=weight, n=500, seed=seed).interval
        found = [
            cs.bootstrap(s, n=500, method=m, seed=seed).interval for m in ("percentile", "bca")
        ]
        hits += [population.auc in i for i in (*found, of_rows, cs.auc_interval(s))]
    return hits


LIMITS = {"fpr": "fpr <= 0.05", "recall": "recall >= 0.8", "flagged": "flagged_rate <= 0.1"}


def limits_broken(task: tuple[str, str, int, int, int]) -> Any:
    """Broken with a guarantee; without; and if weights are left out."""
    kind, limit, n, first, draws = task
    population, out = Population(kind, 0.2), np.zeros(4)
    goal = "fpr" if limit == "recall" else "recall"

    def broken(t: float) -> bool:
        if limit == "flagged":
            return population.flagged(t) > 0.1
        rate = population.rate(t, limit == "recall")
        return rate < 0.8 if limit == "recall" else rate > 0.05

    for seed in range(first, first + draws):
        s, (y, score, _) = population.sweep(seed, n)
        asked = {"subject_to": LIMITS[limit]}
        sure = cs.choose(s, goal, **asked, confidence=0.95)
        out += [
            broken(sure.threshold),
            broken(cs.choose(s, goal, **asked).threshold),
            broken(cs.choose(cs.sweep(y, score), goal, **asked, confidence=0.95).threshold),
            population.rate(sure.threshold, limit != "recall"),
        ]
    return out


def band_cover(task: tuple[str, int, int, int]) -> Any:
    """The share of forecasts inside the band, where all forecasts are right; and for a band that
    takes the rows as unweighted."""
    kind, n, first, draws = task
    out = np.zeros(2)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 32))
        p = np.round(expit(rng.normal(-1, 1.5, 30 * n)), 2)  # many forecasts are shared
        y = rng.random(30 * n) < p
        keep = rng.random(30 * n) < np.where(y, 1.0, 0.1 if kind == "negatives 1 in 10" else 1.0)
        p, y = p[keep][:n], y[keep][:n]
        weight = {
            "none": np.ones(n),
            "exponential": rng.exponential(size=n),
            "negatives 1 in 10": np.where(y, 1.0, 10.0),
            "strata 1 : 5": np.where(rng.random(n) < 0.5, 5.0, 1.0),
        }[kind]
        r = cs.reliability(cs.sweep(y, p, weight, squares=True), n=200, seed=seed)
        plain = cs.reliability(cs.sweep(y, p), n=200, seed=seed)
        assert plain.low is not None
        assert plain.high is not None
        inside = (plain.low <= r.calibrated) & (r.calibrated <= plain.high)
        out += [1 - r.outside.mean(), inside.mean()]
    return out


def stability_cover(task: tuple[str, int, int, int]) -> Any:
    """Whether the range of 95 % of the thresholds contains the truly best one; and the standard
    deviation of the thresholds in samples, the threshold, and its square."""
    kind, n, first, draws = task
    population, out = Population(kind, 0.2), np.zeros(4)
    grid = np.linspace(-2, 4, 2001)
    cost = [
        4 * 0.2 * (1 - population.rate(t, True)) + 0.8 * population.rate(t, False) for t in grid
    ]
    best = grid[int(np.argmin(cost))]
    for seed in range(first, first + draws):
        p = cs.choose(population.sweep(seed, n)[0], cs.Costs(fp=1, fn=4))
        moved = p.stability(100, seed=seed)
        t = min(max(p.threshold, -3.0), 5.0)
        out += [best in moved.thresholds, moved.threshold.clip(-3, 5).std(), t, t * t]
    return out


def report_weighted(r: Report) -> None:
    draws = min(r.draws, 1000)
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    r.table(TEXT, "limit", "weights", "rows", "violated", "no guarantee", "no weights", "achieved")
    for (kind, limit, n), got in r.spread(
        limits_broken, list(product(KINDS[1:], LIMITS, (300, 2000))), draws
    ):
        what = f"{'specificity' if limit == 'recall' else 'recall'} "
        value = 1 - got[3] if limit == "recall" else got[3]
        shares = (f"{100 * x:.1f} %" for x in got[:3])
        r.row(LIMITS[limit], kind, f"{n:,}", *shares, f"{what}{value:.3f}")
        if got[0] > 0.05 + slack:
            r.faults.append(f"weighted guarantee {kind, limit, n}: {got[0]}")
    names = ("bootstrap(s)", "bca", "bootstrap_rows", "auc_interval")
    r.table(BOOTSTRAP_TEXT, "weights", "rows", *names)
    fewer = min(draws, 400)
    for (kind, n), got in r.spread(bootstrap_cover, list(product(KINDS, (200, 1000))), fewer):
        r.row(kind, f"{n:,}", *(f"{100 * x:.1f} %" for x in got))
        if abs(got[0] - got[2]) > 0.03:
            r.faults.append(f"weighted bootstrap {kind, n}: {got}")
    r.table(BAND_TEXT, "weights", "rows", "inside", "band without weights")
    for (kind, n), got in r.spread(band_cover, list(product(KINDS, (300, 3000))), min(draws, 100)):
        r.row(kind, f"{n:,}", *(f"{100 * x:.1f} %" for x in got))
        if not 0.93 <= got[0] <= 0.975:
            r.faults.append(f"weighted band {kind, n}: {got}")
    r.table(STABILITY_TEXT, "weights", "rows", "contains the optimum", "SD, bootstrap", "SD, true")
    for (kind, n), got in r.spread(
        stability_cover, list(product(KINDS, (300, 2000))), min(draws, 200)
    ):
        spread = (got[3] - got[2] ** 2) ** 0.5
        r.row(kind, f"{n:,}", f"{100 * got[0]:.1f} %", f"{got[1]:.3f}", f"{spread:.3f}")


TEXT = """
## Weighted rows

Normal scores, 20 % positive, with three kinds of weights. Exponential weights are independent of
everything else. Undersampling keeps one negative in ten, with weight 10. Of two strata, the second
has five sixths of all cases, half of the rows, and lower scores. Guarantees at 95 %, 1,000 samples
per row: how often the limit is violated; without a guarantee; and without the weights. Exponential
weights are unbounded, although the guarantee assumes a largest weight.
"""

BOOTSTRAP_TEXT = """
Coverage of 95 % intervals of the AUC, 400 samples per row: `bootstrap(s)` of a sweep with squares,
percentile and BCa, compared with `bootstrap_rows`, which has the rows themselves.
"""

BAND_TEXT = """
`reliability(s)`: the share of distinct forecasts inside the 95 % band if all forecasts are
calibrated, 100 samples per row. The last column is a band that ignores the weights.
"""

STABILITY_TEXT = """
`choose(s, Costs(fp=1, fn=4)).stability()`: how often the 95 % range of the thresholds contains the
true optimum, 200 samples per row. Then the mean standard deviation of the thresholds over
bootstrap samples, and that of the chosen threshold over samples.
"""
