"""What a chosen cut is worth on new rows: chosen again on folds, and judged on the rows left out.

On the rows that a cut was chosen on it looks better than it is, since it is the best of many there.
So it is chosen on nine tenths of the rows and judged on the tenth left out, ten times in turn: a
choice on almost as many rows, judged on rows that it has not seen.

How far that may be off is seen on bootstrap samples, which stand to the rows as the rows stand to
all cases: the value that a sample's own choice has on the rows, less what choosing on folds of the
sample makes of it. Copies of a row stay in one fold.

Where positives are few, cuts of folds may differ much: some flag a handful of rows, others
hundreds. Rates and costs of all tenths add up nevertheless. Precision, F, MCC and their like are
ratios whose denominator depends on how many rows are flagged, and the ratio of two sums over
different cuts is not the mean of their ratios: for F1 it may be half as much again. Of those each
fold has its own ratio: true positives among the rows left out, and the flagged among all rows, as
those left out alone are too few to divide by.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import threads
from cutscore.core.errors import UndefinedError
from cutscore.core.frozen import Frozen
from cutscore.core.html import fact_table
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.inference.guarantee import split_error
from cutscore.inference.placements import effective, sizes_of
from cutscore.inference.rates import interval
from cutscore.measures.aim import Aim, Top
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit
from cutscore.measures.prior import check_level
from cutscore.measures.registry import Measure, Objective
from cutscore.sweeps.sweep import EqualRows, Floats, Sweep

_FOLDS = 10
# With more rows than this in either class, choosing the threshold adds about 0.1 % to the value.
MANY = 50_000
_ALL: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)


def is_large(s: Sweep) -> bool:
    """Whether there are so many rows that choosing a threshold adds next to nothing."""
    if s.weighted and s.pos2 is None:  # of which nothing is known but their sum
        return min(s.P, s.N) > MANY
    return min(sizes_of(s, "a choice")) > MANY


class Expected(NamedTuple):
    """A value expected on new rows, with its confidence interval.

    Examples
    --------
    >>> from cutscore.inference.selection import Expected
    >>> Expected(0.6, 0.48, 0.75, 0.95)
    0.600 (95 % CI 0.480–0.750)
    """

    value: float
    low: float
    high: float
    level: float

    def __repr__(self) -> str:
        return estimate_text(self.value, Interval(self.low, self.high, self.level))

    def _repr_html_(self) -> str:
        return fact_table(repr(self), [])


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Frozen):
    """What choices on folds and on bootstrap samples of rows came to; made by :func:`select`.

    Parameters
    ----------
    P, N : float
        What the positives and the negatives weigh: how many there are, if all weigh 1.
    rows : (float, float)
        How many rows without weights would tell as much, of either class.
    prior : float or None
        The share of positives that was asked about, or None for that of the rows.
    repeats : array of float
        What choices on folds flag, in each repeat and for each fold, of shape (repeats, 4, folds):
        the shares of all positives and of all negatives that are left out and flagged, and of
        those that are flagged.
    samples : array of float
        The same within each bootstrap sample.
    sample_share : array of float
        The share of positives in each sample: it is an estimate too, unless somebody says what it
        is.
    here_recall, here_fpr : array of float
        What each sample's own choice does on the rows themselves.
    df : float
        Degrees of freedom: the number of units less one, if rows come in units.
    """

    P: float
    N: float
    rows: tuple[float, float]
    prior: float | None
    repeats: Floats
    samples: Floats
    sample_share: Floats
    here_recall: Floats
    here_fpr: Floats
    df: float = inf

    @property
    def confusion(self) -> Confusion:
        """What the choice does with the rows if each was left out of it, on average."""
        return self._confusion(*self._rates, self._share)

    @property
    def _rates(self) -> tuple[float, float]:
        """The shares of positives and of negatives that are flagged among rows left out."""
        recall, fpr, _, _ = self.repeats.sum(axis=2).mean(axis=0)
        return float(recall), float(fpr)

    @property
    def _share(self) -> float:
        return self.P / (self.P + self.N)

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """The value of a measure on new rows, or None if it has none on some of the folds."""
        goal = goal.measure if isinstance(goal, Top) else goal
        z = critical_value(check_level(level), self.df)
        with np.errstate(divide="ignore", invalid="ignore"):
            repeats = self._fold_values(goal, self.repeats, self._share)
            inside = self._fold_values(goal, self.samples, self.sample_share)
            here = self._values(goal, self.here_recall, self.here_fpr, self._share)
        value, spread = spread_of(repeats, inside, here)
        if np.isnan(spread):
            return None
        value = within_range(goal, value)
        if not spread or value == 0 or (value == 1 and not isinstance(goal, Costs)):
            with suppress(UndefinedError):
                return Expected(value, *self._at_once(goal, value, level), level)
            return None  # as if nothing at all were flagged
        half, most = z * spread, self._largest_value(goal)
        low, high = (
            interval_ends(goal, value, half) if most is None else logit_interval(value, half, most)
        )
        return Expected(value, low, high, level)

    def _largest_value(self, goal: Objective) -> float | None:
        """What a number that is at least 0 can't exceed: a cost if all is decided wrong, a count if
        all rows are counted."""
        c = self._confusion(0.0, 1.0, self._share)
        c = c if self.prior is None else c.deployed(self.prior)
        if isinstance(goal, Costs):
            return float(goal(c)) if not goal.tp and not goal.tn else None
        whole = {"tp": c.positives, "fn": c.positives, "fp": c.negatives, "tn": c.negatives}
        whole["flagged"] = c.total
        name = getattr(goal, "name", "")
        return float(whole[name]) if name in whole else None

    def _at_once(self, goal: Objective, value: float, level: float) -> tuple[float, float]:
        """An interval as at a threshold that was given: where rows are many the choice adds next to
        nothing, and where all samples agree they tell nothing."""
        P, N = (max(round(n), 1) for n in self.rows)
        recall, fpr = self._rates
        tp, fp = round(P * recall), round(N * fpr)
        two = Sweep.from_counts([1.0, 0.0], [tp, P - tp], [fp, N - fp])
        prior = self._share if self.prior is None and self.rows != (self.P, self.N) else self.prior
        span = interval(two, goal, at=0.5, prior=prior, level=level)
        return min(span.low, value), max(span.high, value)

    def _confusion(self, recall: Number, fpr: Number, share: Number) -> Confusion:
        P, N = (self.P + self.N) * share, (self.P + self.N) * (1 - share)
        tp, fp = recall * P, fpr * N
        return Confusion(tp, fp, P - tp, N - fp)

    def _fold_values(self, goal: Objective, found: Floats, share: Number) -> Floats:
        """The values of choices on folds, each judged on the rows left out."""
        recall, fpr, all_recall, all_fpr = found.transpose(1, 0, 2)
        if not _divides_by_flagged(goal):
            return self._values(goal, recall.sum(axis=1), fpr.sum(axis=1), share)
        p = np.reshape(share if self.prior is None else self.prior, (-1, 1))
        tp, flagged = p * recall * recall.shape[1], p * all_recall + (1 - p) * all_fpr
        if getattr(goal, "name", "") == "mcc":  # of a confusion it is clipped, and not linear
            ratio = (tp - p * flagged) / np.sqrt(p * (1 - p) * flagged * (1 - flagged))
        else:
            ratio = np.asarray(goal(Confusion(tp, flagged - tp, p - tp, 1 - p - flagged + tp)))
        has_one = np.isfinite(ratio)  # not where a cut flags nothing
        mean: Floats = np.sum(ratio, axis=1, where=has_one) / has_one.sum(axis=1)
        return np.clip(mean, -1.0, inf if getattr(goal, "name", "") == "lift" else 1.0)

    def _values(self, goal: Objective, recall: Floats, fpr: Floats, share: Number) -> Floats:
        c = self._confusion(recall, fpr, share)
        return np.asarray(goal(c if self.prior is None else c.deployed(self.prior)), np.float64)


def spread_of(repeats: Floats, inside: Floats, here: Floats) -> tuple[float, float]:
    """What choices on folds came to, and its standard error: nan if too few have a value.

    Parameters
    ----------
    repeats : array of float
        The value of choices on folds of the rows, in each repeat.
    inside : array of float
        The same within each bootstrap sample.
    here : array of float
        What each sample's own choice has on the rows.
    """
    with np.errstate(invalid="ignore"):
        away = here - inside
    value, away = float(repeats.mean()), away[np.isfinite(away)]
    if not np.isfinite(value) or 2 * len(away) < len(here):
        return value, np.nan
    spread = float(away.var(ddof=1)) if len(away) > 1 else 0.0
    # A sample has one set of folds where the rows have several: less what folds alone do.
    folds = float(repeats.var(ddof=1)) * (1 - 1 / len(repeats)) if len(repeats) > 1 else 0.0
    return value, sqrt(max(spread - folds, spread / 2))


def _divides_by_flagged(goal: Objective) -> bool:
    """Whether a measure is linear in the true positives where it is given how many are flagged,
    and not otherwise."""
    name = getattr(goal, "name", "")
    return getattr(goal, "beta", None) is not None or name in ("precision", "npv", "lift", "mcc")


def within_range(goal: Objective, value: float) -> float:
    """A rate as a share: what is corrected for a choice may be none where rows are few."""
    rate = isinstance(goal, Measure) and goal.rate
    return min(max(value, 0.0), 1.0) if rate else value


def interval_ends(goal: Objective, value: float, half: float) -> tuple[float, float]:
    """An interval on the scale where the measure has no end: costs are at least 0, rates at most
    1."""
    if getattr(goal, "name", "") in _ABOVE_0 and value > 0:
        factor = exp(min(half / value, 700.0))
        return value / factor, value * factor
    if isinstance(goal, Measure) and (goal.rate or goal.beta is not None):
        return logit_interval(value, half, 1.0)
    low = -1.0 if getattr(goal, "name", "") in ("youden", "mcc") else -inf
    return max(value - half, low), min(value + half, -low)


_ABOVE_0 = ("lift", "lr_positive", "lr_negative")


def logit_interval(value: float, half: float, most: float) -> tuple[float, float]:
    """On the logit scale, between 0 and the most there can be."""
    inside = min(max(value / most, 1e-9), 1 - 1e-9)
    middle, away = log(inside / (1 - inside)), half / most / (inside * (1 - inside))
    ends = most / (1 + np.exp(-np.clip([middle - away, middle + away], -700, 700)))
    return min(float(ends[0]), value), max(float(ends[1]), value)


def critical_value(level: float, df: float) -> float:
    """So many standard errors to either side."""
    from scipy.special import stdtrit

    tail = (1 + level) / 2
    return NormalDist().inv_cdf(tail) if df == inf else float(stdtrit(df, tail))


def effort(rare: float) -> tuple[int, int]:
    """How many fold assignments to make, and how many samples to draw, by the size of the rarer
    class: where it is large, a choice costs more and matters less."""
    if rare <= 1_000:
        return 16, 150 if rare <= 300 else 100
    return (2, 24) if rare <= 5_000 else (1, 0)


@dataclass(frozen=True, eq=False)
class _Items:
    """Rows, positives first, or many rows of one score as one; see ``native/choice.hpp``."""

    scores: list[tuple[Floats, Floats, NDArray[np.int32]]]
    """Of each score: its values from above, the highest of each run, and which an item has."""
    positives: int
    count: Floats | None
    weight: Floats | None
    unit: NDArray[np.int32] | None
    masses: tuple[float, float]
    """What the positives and the negatives weigh."""
    rows: tuple[float, float]
    """How many rows without weights would tell as much."""


def select(s: Sweep, aim: Aim) -> Selection | None:
    """Choose a cut again on folds and on bootstrap samples; None for aims that it does not know,
    and for weighted rows without squares of weights."""
    if not (s.P > 0 and s.N > 0) or (s.weighted and (s.pos2 is None or s.neg2 is None)):
        return None
    return _select(_count_items(s, aim.helpful), aim)


def select_among(
    y: NDArray[np.bool_],
    scores: Sequence[Floats],
    aim: Aim,
    *,
    weight: Floats | None = None,
    unit: NDArray[Any] | None = None,
) -> Selection | None:
    """Choose the score as well, of several of the same rows; rows of one unit stay together.

    Parameters
    ----------
    y : array of bool
        True where the row is positive.
    scores : sequence of array of float
        What each score gives to the rows.
    aim : Aim
        What is asked.
    weight : array of float, optional
        Of each row.
    unit : array, optional
        The unit of each row, from 0 on.
    """
    order = np.argsort(~y, kind="stable")
    P = int(np.count_nonzero(y))
    if not 0 < P < len(y):
        return None
    made = []
    for score in scores:
        value, index = np.unique(-np.asarray(score, np.float64)[order], return_inverse=True)
        pos = np.bincount(index[:P], minlength=len(value))
        neg = np.bincount(index[P:], minlength=len(value))
        threshold = top = 0.0 - value
        if aim.helpful:
            first, last = _runs(pos, neg)
            threshold, top = threshold[last], threshold[first]
            index = np.searchsorted(first, index, side="right") - 1
        made.append((threshold, top, index.astype(np.int32)))
    w = None if weight is None else np.asarray(weight, np.float64)[order]
    one = np.ones(len(y)) if w is None else w
    masses = float(one[:P].sum()), float(one[P:].sum())
    effective_rows = (
        effective(masses[0], float((one[:P] ** 2).sum())),
        effective(masses[1], float((one[P:] ** 2).sum())),
    )
    units = None if unit is None else np.asarray(unit)[order].astype(np.int32)
    return _select(_Items(made, P, None, w, units, masses, effective_rows), aim)


def _select(items: _Items, aim: Aim) -> Selection | None:
    P, N = items.masses
    rare = min(items.rows)
    if items.unit is not None:
        rare = min(rare, len(np.unique(items.unit)))
    index = items.scores[0][2]
    if rare < 2 or len(index) >= 2**31 or (aim.confidence and items.weight is not None):
        return None
    if aim.units is not None and aim.confidence is not None:
        return None  # what a part of the clusters can guarantee is another question
    numbers = _numbers(aim, items)
    if numbers is None:
        return None
    # By the rows: with one seed for all, rows of the same ranks would always be in one fold, and
    # what that does would not average out.
    seed = crc32(b"" if items.count is None else items.count.tobytes())
    for _, _, at in items.scores:
        seed = crc32(at.tobytes(), seed)
    rng = np.random.default_rng(seed)
    repeats, samples = effort(rare)
    in_pos: Floats = np.ones(samples)
    in_neg: Floats = np.ones(samples)
    if aim.prior is None and items.unit is None:
        rows, share = _rows_in_all(items), P / (P + N)
        drawn = np.clip(rng.binomial(rows, share, samples) / rows, 1 / rows, 1 - 1 / rows)
        in_pos, in_neg = drawn / share, (1 - drawn) / (1 - share)
    of_repeats, of_samples, here = _native.cross_fit(
        items.scores,
        items.positives,
        items.count,
        items.weight,
        items.unit,
        *numbers,
        folds=(folds := min(_FOLDS, int(rare))),
        repeats=repeats,
        in_pos=in_pos,
        in_neg=in_neg,
        seed=seed,
        threads=threads(samples * len(index) * len(items.scores)),
    )
    df = inf if items.unit is None else float(len(np.unique(items.unit)) - 1)
    repeated, sampled = (of.reshape(-1, 4, folds) for of in (of_repeats, of_samples))
    shares, recall, fpr = here.reshape(3, -1)
    return Selection(P, N, items.rows, aim.prior, repeated, sampled, shares, recall, fpr, df)


def _rows_in_all(items: _Items) -> int:
    """How many rows without weights would tell as much of the share of positives."""
    P, N = items.masses
    share = P / (P + N)
    return max(round(1 / (share * (1 - share) * (1 / items.rows[0] + 1 / items.rows[1]))), 2)


# Rows of one score and class that are looked at one by one; more of them are one item.
_MANY_ALIKE = 200


def _count_items(s: Sweep, helpful: bool) -> _Items:
    """The rows of a sweep. Where weights differ, as many rows as tell as much, of equal weights."""
    threshold = s.threshold
    top = threshold if s.top is None else s.top
    masses: list[NDArray[Any]] = [s.pos, s.neg]
    squares: list[NDArray[Any]] = masses
    if s.weighted:
        assert s.pos2 is not None
        assert s.neg2 is not None
        squares = [s.pos2, s.neg2]
    if helpful and s.top is None:
        first, last = _runs(s.pos, s.neg)
        threshold, top = threshold[last], threshold[first]
        masses = [np.add.reduceat(mass, first) for mass in masses]
        squares = [np.add.reduceat(square, first) for square in squares]
    index, count, weight = [], [], []
    for mass, square in zip(masses, squares, strict=True):
        at = np.flatnonzero(mass > 0)
        rows = EqualRows.made(mass[at], square[at]).rows
        alike = rows > _MANY_ALIKE
        times = np.where(alike, 1, rows).astype(np.int64)
        index.append(np.repeat(at, times).astype(np.int32))
        count.append(np.repeat(np.where(alike, rows, 1).astype(np.float64), times))
        weight.append(np.repeat(mass[at] / rows, times))
    together = np.concatenate(count)
    P, N = (float(mass.sum()) for mass in masses)
    effective_rows = tuple(
        effective(float(m.sum()), float(q.sum())) for m, q in zip(masses, squares, strict=True)
    )
    return _Items(
        [(threshold, top, np.concatenate(index))],
        len(index[0]),
        together if (together > 1).any() else None,
        np.concatenate(weight) if s.weighted else None,
        None,
        (P, N),
        (effective_rows[0], effective_rows[1]),
    )


# Scores of one class in a row that are kept apart: a cut lies between two scores of the rows it is
# chosen on, and a row left out lies in between only if the next of its class are left out as well.
_APART = 12


def _runs(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where to cut masses into stretches, by their first and last: of long rows of one class, all
    but the first few are one. No cut among them can be the best."""
    kind = np.where(pos == 0, -1, np.where(neg == 0, 1, 0))
    at = np.arange(len(kind))
    starts = np.concatenate(([True], (kind[1:] != kind[:-1]) | (kind[1:] == 0)))
    in_run = at - np.maximum.accumulate(np.where(starts, at, 0))
    first = np.flatnonzero(in_run <= _APART)
    return first, np.append(first[1:], len(kind)) - 1


def _numbers(aim: Aim, items: _Items) -> tuple[Floats, list[Floats | None]] | None:
    """An aim as the native core takes it: 13 numbers for the goal and for each limit, and for
    limits that are to be guaranteed how many rows may be wrong. None if it does not know it."""
    goal = aim.ranked.goal
    first = ratio_cells(goal, aim.prior)
    if first is None:
        return None
    out = [(*first[:-1], 0.0, float(goal.better), first[-1], 1.0)]
    allowed: list[Floats | None] = [None]
    for limit in aim.limits:
        if aim.confidence is not None:
            sure = _certain(limit, split_error(aim.limits, aim.confidence), items.masses)
            if sure is None:
                return None
            wrong, of, rate, table, step = sure
            out.append((*wrong, *of, -1.0, rate, -1.0, 0.0, step))
            allowed.append(table)
            continue
        one = ratio_cells(limit.measure, aim.prior)
        if one is None:
            return None
        rows = sum(items.masses) if limit.measure.is_count else 1
        bound = limit.bound / rows
        at_least = 1.0 if limit.sign[0] == ">" else -1.0
        out.append((*one[:-1], bound, at_least, one[-1], 1.0))
        allowed.append(None)
    return np.array(out, np.float64).ravel(), allowed


def ratio_cells(goal: Objective, prior: float | None) -> tuple[float, ...] | None:
    """How much TP, FP, FN and TN count in the numerator, and in the denominator; the share of
    positives, −1 for that of the rows; and which form it has, 0 for a ratio."""
    share = -1.0 if prior is None else prior
    if isinstance(goal, Costs) and not goal.by_row:
        return (-goal.tp, goal.fp, goal.fn, -goal.tn, *_ALL, share, 0.0)
    if not isinstance(goal, Measure):
        return None
    if goal.beta is not None:
        b = goal.beta**2
        return (1 + b, 0.0, 0.0, 0.0, 1 + b, 1.0, b, 0.0, share, 0.0)
    if goal.name == "mcc":
        return (0.0,) * 8 + (share, 2.0)
    if goal.part is None:
        return None
    share = -1.0 if goal.is_count else share
    return (
        *goal.part,
        *(goal.whole or _ALL),
        0.5 if goal.even else share,
        float(goal.name == "lift"),  # a precision, by the share of positives
    )


def _certain(
    limit: Limit, error: float, masses: tuple[float, float]
) -> tuple[tuple[float, ...], tuple[float, ...], float, Floats, float] | None:
    """What is wrong, among which rows, the share of it that is allowed; and of how many rows how
    many may be."""
    name, upper, bound = limit.measure.name, limit.sign[0] == "<", limit.bound
    whole = sum(masses)
    if name == "flagged":
        name, bound = "flagged_rate", bound / whole
    rate, least = (bound if upper else 1 - bound), -1.0
    wrong: tuple[float, ...] = (1, 1, 0, 0) if upper else (0, 0, 1, 1)
    of = _ALL
    if name == "flagged_rate":
        least = 0.0
    elif limit.measure.of_class is not None:
        # Positives are wrong where they are missed, negatives where they are flagged.
        wrong = (0, 0, 1, 0) if limit.measure.of_class else (0, 1, 0, 0)
        of = limit.measure.whole or _ALL
    else:
        return None
    if not 0 < rate < 1:
        return None
    most_rows = of[0] * masses[0] + of[1] * masses[1]
    n = np.linspace(0, most_rows, int(min(most_rows, _EXACT)) + 1)
    allowed = np.maximum(_max_errors(np.floor(n + 1e-9), rate, error), least)
    return wrong, of, rate, allowed, (len(n) - 1) / most_rows


# Up to so many rows it is known for each number of them how many may be wrong.
_EXACT = 1_000


def _max_errors(n: Floats, rate: float, error: float) -> Floats:
    """:func:`cutscore.inference.guarantee.max_errors` of each n."""
    from scipy.special import betainc

    low, high = np.full(len(n), -1.0), n.copy()
    while (high - low > 1).any():
        k = np.floor((low + high) / 2)
        inside = np.maximum(n - k, 1e-300)
        fits = (betainc(inside, k + 1, 1 - rate) <= error) & (high - low > 1)
        low, high = np.where(fits, k, low), np.where(fits | (high - low <= 1), high, k)
    return low
