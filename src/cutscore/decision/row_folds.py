"""What decisions by the costs of each row do on new rows: chosen again on folds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import UndefinedError
from cutscore.core.frozen import Frozen
from cutscore.decision.money import (
    Bools,
    MoneySweep,
    RowCosts,
    best_uniform,
    choose_threshold,
    flags,
)
from cutscore.inference.guarantee import split_error
from cutscore.inference.means import Moments, mean_interval
from cutscore.inference.periods import Periods, ratio_over
from cutscore.inference.selection import Expected, effort, ratio_cells
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit
from cutscore.measures.registry import Objective
from cutscore.sweeps.sweep import Floats

MOST = 1_000_000
"""Of more rows the choice is not made again on folds."""
_FOLDS = 10


@dataclass(frozen=True, eq=False, repr=False)
class CrossFit(Frozen):
    """A decision less what its choice gained on its own rows; made by :func:`cross_fit`.

    Choices on nine tenths of the rows are judged on these and on the tenth left out. Row by row,
    the share that flags it where it was left out, less that where it was not, is added to what the
    decision itself does with it: means of such values expect of new rows what this decision, and
    not an average one, will do.

    Parameters
    ----------
    rows : RowCosts
        The rows.
    prior : float or None
        The share of positives that was asked about.
    flagged : array of float
        How much of each row the decision flags, corrected as above: not always from 0 to 1.
    uniform : array of float
        The same of the best single threshold.
    """

    rows: RowCosts
    prior: float | None
    flagged: Floats
    uniform: Floats

    @property
    def confusion(self) -> Confusion:
        """What to expect of as many rows."""
        w = np.ones(len(self.flagged)) if self.rows.weight is None else self.rows.weight
        y = self.rows.positive
        P, N = float(np.sum(w[y])), float(np.sum(w[~y]))
        tp = min(max(float(np.sum(w[y] * self.flagged[y])), 0.0), P)
        fp = min(max(float(np.sum(w[~y] * self.flagged[~y])), 0.0), N)
        return Confusion(tp, fp, P - tp, N - fp)

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """A measure on new rows, with its interval."""
        if isinstance(goal, Costs):
            return at_least_0(self.of_costs(level), goal)
        found = ratio_cells(goal, self.prior)
        if found is None or found[9] != 0 or getattr(goal, "is_count", False):
            return None
        f, y = self.flagged, self.rows.positive
        cells = (f * y, f * ~y, (1 - f) * y, (1 - f) * ~y)
        w = self._weights(found[8])
        up, down = (
            w * sum(number * cell for number, cell in zip(numbers, cells, strict=True))
            for numbers in (found[:4], found[4:8])
        )
        by = self._by
        if by is not None:
            up, down = (np.bincount(by, column).astype(np.float64) for column in (up, down))
        some = down != 0
        if np.count_nonzero(some) < 2 or not np.sum(down) > 1.000001 * np.max(down):
            return None  # a single row, or cluster, is all there is
        # Corrected shares may leave the range of a share where rows are few.
        share = np.clip(np.sum(up[some]) / np.sum(down[some]), 0.0, 1.0)
        found = ratio_over(up[some], down[some], level, goal.name)
        low, high = (float(np.clip(end, 0.0, 1.0)) for end in (found.low, found.high))
        return Expected(float(share), min(low, float(share)), max(high, float(share)), level)

    def of_costs(self, level: float) -> Expected:
        """What a case costs."""
        return self._mean(self.rows.outcomes(self.flagged), level)

    def saving(self, baseline: str, level: float) -> Expected:
        """What a case costs less than where all are decided alike."""
        less = self.rows.saved(self.flagged, float(baseline == "flag all"))
        return self._mean(less, level)

    @property
    def uniform_cost(self) -> float:
        """What a case costs by the best single threshold."""
        return self._mean(self.rows.outcomes(self.uniform), 0.95).value

    def per_period(self, number: int, level: float) -> Expected | None:
        """What all rows of a period cost, with its interval over periods."""
        period = self.rows.period
        if period is None or number < 2:
            return None
        w = self._weights(-1.0 if self.prior is None else self.prior)
        sums = np.bincount(period, w * self.rows.outcomes(self.flagged), number)
        return mean_interval([(1.0, Moments.of(np.asarray(sums, np.float64)))], level)

    @property
    def _by(self) -> NDArray[np.int64] | None:
        return self.rows.period if self.rows.period is not None else self.rows.unit

    def _weights(self, share: float) -> Floats:
        """The weights of rows, with as large a share of positives as was asked for."""
        w = np.ones(len(self.flagged)) if self.rows.weight is None else self.rows.weight
        if share < 0:
            return w
        y = self.rows.positive
        return w * np.where(y, share / np.sum(w[y]), (1 - share) / np.sum(w[~y])) * np.sum(w)

    def _mean(self, values: Floats, level: float) -> Expected:
        """A mean over rows, by the errors of independent rows or clusters."""
        by, y, w = self._by, self.rows.positive, self.rows.weight
        if by is None and self.prior is not None:
            parts = [
                (share, Moments.of(_influence(values[of], None if w is None else w[of])))
                for of, share in ((y, self.prior), (~y, 1 - self.prior))
            ]
            return mean_interval(parts, level)
        if by is not None:
            w = w if self.prior is None else self._weights(self.prior)
            sums = np.bincount(by, values if w is None else w * values)
            mass = np.bincount(by, w)
            some = mass > 0
            values, w = sums[some] / mass[some], np.asarray(mass[some], np.float64)
        return mean_interval([(1.0, Moments.of(_influence(values, w)))], level)


def _influence(values: Floats, w: Floats | None) -> Floats:
    """Values of equal weight with the same weighted mean, and the same error of it."""
    if w is None:
        return values
    mean = float(np.average(values, weights=w))
    return mean + (values - mean) * (w / np.mean(w))


def cross_fit(
    rows: RowCosts, q: Aim, threshold: float, uniform: float | None = None
) -> CrossFit | None:
    """Fit the calibrator and choose the cut on nine tenths of the rows, and decide about all of
    them; ten times in turn, with several assignments of folds. Clusters stay together."""
    of_rows = any(limit.period is None for limit in q.limits)
    if q.confidence is not None and (q.units is not None or (q.periods is not None and of_rows)):
        return None  # what a part of the clusters or periods can guarantee is another question
    y = rows.positive
    by = rows.period if q.periods is not None and rows.period is not None else rows.unit
    rare = min(int(np.count_nonzero(y)), int(np.count_nonzero(~y)))
    folds = min(_FOLDS, rare)
    if folds < 2 or (by is not None and len(np.unique(by)) < folds):
        return None
    aim = _on_rows(q)
    rng = np.random.default_rng(0)
    repeats = max(effort(rare)[0] // 4, 1)
    by_cut, by_score = _Flags.of(len(y)), _Flags.of(len(y))
    with suppress(UndefinedError):
        for _ in range(repeats):
            fold = _folds(rng, y, by, folds)
            for k in range(folds):
                test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
                again = rows.recalibrated(train)
                there = again.at(train)
                share = len(train) / len(y)
                money = MoneySweep.of(there)
                own = choose_threshold(money, _scaled(aim, share))
                by_cut.add(flags(again.gap, own), test, train)
                best = None if uniform is None else best_uniform(there, _scaled(aim, share))
                if best is not None and rows.score is not None:
                    by_score.add(rows.score >= best, test, train)
        most = rows.score if uniform is not None else None
        return CrossFit._adopt(
            rows,
            q.prior,
            by_cut.corrected(flags(rows.gap, threshold), repeats, folds),
            np.zeros(len(y))
            if most is None or uniform is None
            else by_score.corrected(most >= uniform, repeats, folds),
        )
    return None


class _Flags(NamedTuple):
    """How many choices flagged each row, of those that it was left out of, and of the others."""

    left_out: Floats
    inside: Floats

    @classmethod
    def of(cls, rows: int) -> _Flags:
        return cls(np.zeros(rows), np.zeros(rows))

    def add(self, flagged: Bools, test: NDArray[np.intp], train: NDArray[np.intp]) -> None:
        """One choice more."""
        self.left_out[test] += flagged[test]
        self.inside[train] += flagged[train]

    def corrected(self, flagged: Bools, repeats: int, folds: int) -> Floats:
        """What a decision does, less what its choice gained on its own rows."""
        return flagged + (self.left_out - self.inside / (folds - 1)) / repeats


def _folds(
    rng: np.random.Generator, y: Bools, by: NDArray[np.int64] | None, folds: int
) -> NDArray[np.int64]:
    """The fold of each row: stratified by class, or whole clusters."""
    if by is not None:
        number = int(by.max()) + 1
        return rng.permutation(np.arange(number) % folds)[by]
    out = np.empty(len(y), np.int64)
    for of in (y, ~y):
        at = np.flatnonzero(of)
        out[at] = rng.permutation(np.arange(len(at)) % folds)
    return out


def _on_rows(q: Aim) -> Aim:
    """The aim with limits per period as what they come to on all rows."""
    if not isinstance(q.periods, Periods):
        return replace(q, units=None)
    error = None if q.confidence is None else split_error(q.limits, q.confidence)
    limits = tuple(q.on_all_rows(limit, error) for limit in q.limits)
    return replace(q, limits=limits, confidence=None, units=None, periods=None)


def _scaled(q: Aim, share: float) -> Aim:
    """The aim for a part of the rows: a limit on a count is as much smaller."""

    def scaled(limit: Limit) -> Limit:
        if not limit.measure.is_count:
            return limit
        return replace(limit, bound=limit.bound * share)

    return replace(q, limits=tuple(map(scaled, q.limits)))


def at_least_0(cost: Expected, costs: Costs) -> Expected:
    """A cost with its interval; without benefits it can't be negative."""
    low = cost.low if costs.tp or costs.tn else max(cost.low, 0.0)
    return cost._replace(low=low)
