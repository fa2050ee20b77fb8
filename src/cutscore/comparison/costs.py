"""What two scores cost at their best cuts, as expected on new rows.

The costs are those that :func:`cutscore.choose` expects of each score by itself, by choices on
folds, and their difference is the difference of these.

The interval of the difference comes from bootstrap samples of the rows that both scores share. Such
samples stand to the rows as the rows stand to all cases: what a sample's own best cut costs on the
rows, less what it costs in the sample, is how much too good it looks. That is added to what
samples' cuts cost, the mean of the cost in the sample and on the rows. It varies less than choices
on folds of either score, so the interval is shorter than one around their difference; it is
extended to that where it does not reach it, in less than 1 % of simulated draws.

How much the difference varies, in samples and between samples and rows, is its standard error. What
was added is itself an estimate, and may be off by three quarters of its size where positives are
few; that is allowed for. These choices were made by simulation: see "Costs of two scores" in
docs/validation.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutscore.comparison.rows import Ints, ScoredRows
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import TooFew
from cutscore.core.interval import Interval
from cutscore.core.progress import Report
from cutscore.decision.choice import choose, with_choice
from cutscore.inference.placements import effective
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Costs
from cutscore.sweeps.sweep import Floats, sweep

# Samples: of more rows, whose cuts vary less, fewer are enough.
_SAMPLES = 200
_MANY = 10**5
# How far off the estimate of what the choice adds may be, as a share of it; found by simulation.
_DOUBT = 0.75


class ComparedCosts(NamedTuple):
    """Expected costs of a case by two scores, and an interval of a − b, which contains it."""

    a: float
    b: float
    interval: Interval


def compare_costs(  # noqa: PLR0913 - rows, and what is asked of them
    rows: ScoredRows,
    unit: Ints | None,
    costs: Costs,
    *,
    prior: float | None,
    level: float,
    seed: int,
    report: Report | None = None,
) -> ComparedCosts:
    """Expected costs per case of the two scores of these rows, each at its own best cut."""
    from scipy.special import stdtrit

    weight = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
    scores = [_RankedRows(score, rows) for score in rows.scores]
    of = np.arange(len(weight)) if unit is None else unit
    samples = _SAMPLES if len(weight) <= _MANY else _SAMPLES // 4
    rng = np.random.default_rng(seed)
    all_rows = _Gains(weight, rows, costs, prior)
    inside, outside = np.empty((samples, 2)), np.empty((samples, 2))
    for r in range(samples):
        drawn = _Gains(weight * _draw_counts(rng, of, rows), rows, costs, prior)
        for k, score in enumerate(scores):
            inside[r, k], cut = score.lowest_cost(drawn)
            outside[r, k] = score.at(cut, all_rows)
        if report is not None:
            report((r + 1) / samples, f"{r + 1:,} of {samples:,} samples")
    away = outside - inside
    middle = float(np.subtract(*((inside + outside) / 2 + away).mean(axis=0)))
    spread = np.mean([np.std(x[:, 0] - x[:, 1], ddof=1) for x in (inside, away)])
    error = np.hypot(spread, _DOUBT * np.mean(away[:, 0] - away[:, 1]))
    df = max(min(_count(weight, rows, of, one) for one in (True, False)) - 1, 1.0)
    half = float(stdtrit(df, (1 + level) / 2) * error)
    a, b = (_expected_cost(rows, score, unit, Aim(costs, prior=prior)) for score in rows.scores)
    low, high = min(middle - half, a - b), max(middle + half, a - b)
    return ComparedCosts(a, b, Interval(low, high, level))


def _expected_cost(rows: ScoredRows, score: Floats, unit: Ints | None, aim: Aim) -> float:
    """The cost of a score by itself, at a cut that is chosen again on folds."""
    s = sweep(rows.ones, score, rows.weight, squares=rows.weight is not None)
    point = with_choice(choose(s, aim), rows.ones, [score], weight=rows.weight, unit=unit)
    if point.expected is None:
        raise UndefinedError(TooFew("an expected cost", 2, "rows of each class", 1))
    return point.expected.value


class _Gains:
    """What rows of some weight lose if none is flagged, and what each gains by being flagged."""

    def __init__(self, weight: Floats, rows: ScoredRows, costs: Costs, prior: float | None) -> None:
        P, N = weight[rows.ones].sum(), weight[~rows.ones].sum()
        # The share of all cases that a positive, and a negative, of weight 1 stands for.
        pos, neg = (1 / (P + N),) * 2 if prior is None else (prior / P, (1 - prior) / N)
        self.lost = float(P * pos * costs.fn - N * neg * costs.tn)
        up, down = pos * (costs.fn + costs.tp), -neg * (costs.fp + costs.tn)
        self.each = weight * np.where(rows.ones, up, down)


class _RankedRows:
    """Rows in the order of a score, from above. A cut is how many of them it flags."""

    def __init__(self, score: Floats, rows: ScoredRows) -> None:
        self.order = np.argsort(-score, kind="stable")
        ordered, ones = score[self.order], rows.ones[self.order]
        # Equal scores are flagged together, and the best cut has a positive right above it.
        ends = np.append(ordered[1:] != ordered[:-1], True)
        pure = ends & np.append(True, ends[:-1]) & ~ones
        last = np.flatnonzero(ends & ~pure) + 1
        # Every threshold flags scores of +inf: then there is no cut before them, but one after.
        first = 0 if ordered[0] < np.inf else int(np.flatnonzero(ends)[0]) + 1
        self.cuts = np.unique(np.append(last[last > first], first))

    def lowest_cost(self, gains: _Gains) -> tuple[float, int]:
        """The least cost, and the cut that has it: of equally good ones the first."""
        gained = np.append(0.0, np.cumsum(gains.each[self.order]))[self.cuts]
        # Rounding must not make one of them better.
        best = int(np.argmax(gained >= gained.max() - 1e-12 * np.abs(gained).max()))
        return gains.lost - float(gained[best]), int(self.cuts[best])

    def at(self, cut: int, gains: _Gains) -> float:
        """The cost of a cut."""
        return gains.lost - float(gains.each[self.order[:cut]].sum())


def _draw_counts(rng: np.random.Generator, of: Ints, rows: ScoredRows) -> Ints:
    """How often each row is drawn if as many units are as there are: until there are both
    classes."""
    units = int(of.max()) + 1
    while True:
        times = np.bincount(rng.integers(units, size=units), minlength=units)[of]
        if times[rows.ones].any() and times[~rows.ones].any():
            return times


def _count(weight: Floats, rows: ScoredRows, of: Ints, one: bool) -> float:
    """As how many units of equal weight those of a class count."""
    own = rows.ones == one
    mass = np.bincount(of[own], weight[own])
    return effective(float(mass.sum()), float(np.sum(mass * mass)))
