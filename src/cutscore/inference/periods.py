"""Limits per period: at most 200 alarms a day, or 3 false alarms an hour.

Rows of one day may be alike, and some days are worse than others, so it is days that are taken to
be drawn independently. With x alarms on each of n days, there are two limits.

**On the mean**, ``flagged <= 200 per day``. Without a confidence it counts the rows at hand: at
most 200 n. With one, it is tested by Gaffke's bound as for units: with independent exponential
weights E, and one more day of M alarms,

    P(E₀ (M − α) + Σ Eᵢ (xᵢ − α) > 0) ≤ error.

Nothing bounds the alarms of a day, so M has to be assumed: no day has more than 2.5 times as many
as the worst seen, twice the limit, or 2, whichever is most. The factor was set by simulations of 15
to 180 days, in which 1 and 1.5 are too little where numbers of days have heavy tails, and 3 costs
recall everywhere. If rare days are worse than that, and none was seen, the limit can be broken.

**On the share of days**, ``flagged <= 200 on 95 % of days``. Whether a day has more than 200 is a
yes or no, so the number of such days is binomial, and the Clopper–Pearson bound is exact whatever
happens inside of a day.

Alarms only rise as the threshold falls. So the cuts that satisfy a limit are those above one of
them, many cuts need no correction, and each limit is one on the number of rows flagged.

**Reviews** are the rows between two thresholds, ``reviewed <= 200 per day``. On the rows at hand
both thresholds move on together: for each number of rows blocked there is a most that may not be
passed. With a confidence there are two ways, of which either will do:

- If so few are *blocked or reviewed*, fewer are reviewed. That is a limit on one threshold, tested
  as above, and best where few are blocked. On a share of days it is the only way.
- Else the mean is tested at α − δ for reviews below each of several fixed scores, with δ = α / 20.
  Between two of these are on average δ rows a day, so that of any pair of thresholds with more than
  α reviews, more than α − δ are below the next of them. There may be ties, so it takes two scores
  for each δ. That each test sees the rows from a higher score on, or up to a lower one, makes it
  stricter only: where these scores are need not be known. Up to 25 α rows a day may be blocked,
  which is tested as well, so that 1,002 tests share the error.

The first way has nine tenths of the error, since the others need a small one anyway.

Rates at the k highest scores of each day are ratios r = Σ a / Σ b of sums over days. Their
variance is the jackknife's, from residuals (a − r b) / (1 − b / Σ b), and their intervals are on
the logit scale with the t distribution. A few large days make that variance uncertain: with the
kurtosis κ of the residuals of n days, it has 2 n / (κ − 1) degrees of freedom, at most n − 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log, log1p, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Finding, counted
from cutscore.core.findings.statistics import CountsRows, PeriodsEmpty, TooFew, Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.interval import Interval
from cutscore.core.json import Count
from cutscore.core.numbers import estimate_text
from cutscore.inference.guarantee import max_errors
from cutscore.inference.rates import clopper_pearson
from cutscore.inference.selection import (
    Expected,
    critical_value,
    logit_interval,
    ratio_cells,
)
from cutscore.inference.units import Units, gaffke_p_value
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit, PeriodRule, ReviewWindows, parse_limit
from cutscore.measures.prior import check_level
from cutscore.measures.registry import MEASURES, Objective
from cutscore.sweeps.sweep import Floats, Sweep, sweep

Ints = NDArray[np.int64]

UNITS = {"day": "D", "hour": "h", "minute": "m", "second": "s"}
"""Words for the periods that columns of times may have, and NumPy's codes for them."""


class PeriodTop(NamedTuple):
    """What flagging the k highest scores of each period does; made by
    :meth:`cutscore.Periods.top`."""

    k: int
    recall: Expected
    """The share of all positives that is caught."""
    precision: Expected
    """The share of the flagged that is positive."""
    flagged: float
    """How many are flagged in a period, on average: k, or fewer where a period has fewer rows."""

    def __repr__(self) -> str:
        rates = (
            f"{name} {estimate_text(e.value, Interval(*e[1:]), rate=True)}"
            for name, e in (("recall", self.recall), ("precision", self.precision))
        )
        return f"the {self.k:,} highest of each period: {', '.join(rates)}"


class RankedRows(NamedTuple):
    """Rows by score, the highest first."""

    score: Floats
    positive: NDArray[np.bool_]
    period: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Periods(Frozen):
    """Rows and the period of each; made by :func:`cutscore.periods`.

    Parameters
    ----------
    score : array of float
        The score of each row.
    positive : array of bool
        Whether each row is positive.
    period : array of int
        The number of each row's period, from 0 on.
    number : int
        How many periods there are, with those that have no rows.
    unit : str or None
        "day", "hour", "minute" or "second", if the periods are times.
    gaps : int
        How many periods between the first and the last have no rows and are not counted; 0 if
        periods are no times.
    column : str or None
        The name of the column, for those who have the policy and another table.
    """

    score: Floats
    positive: NDArray[np.bool_]
    period: Ints
    number: int
    unit: str | None = None
    gaps: int = 0
    column: str | None = None

    def __len__(self) -> int:
        """How many periods there are."""
        return self.number

    def __repr__(self) -> str:
        what = counted(self.number, self.unit or "period")
        notes = "".join(f"\n{one.render()}" for one in self.findings)
        return f"{what} with {len(self.period):,} rows{notes}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What should be known: that some periods have no rows."""
        if not self.gaps:
            return ()
        return (PeriodsEmpty(self.gaps, self.number + self.gaps, self.unit or "period"),)

    def negated(self) -> Periods:
        """The same of −score."""
        return replace(self, score=0.0 - self.score)

    @derived
    def ranked(self) -> RankedRows:
        """The rows by score, the highest first."""
        order = np.argsort(-self.score, kind="stable")
        return RankedRows(self.score[order], self.positive[order], self.period[order])

    def check(self, s: Sweep) -> None:
        """Raise unless these are the rows of a sweep."""
        if s.weighted:
            hint = "Drop the weights, or limit rates."
            raise UndefinedError(CountsRows("a limit per period", hint))
        own = sweep(self.positive, self.score)
        same = (own.P, own.N) == (s.P, s.N)
        if not same or not (s.merged or np.array_equal(own.threshold, s.threshold)):
            rule = "periods must be made from the rows of the sweep; these have other rows"
            hint = "Make both from the same columns: sweep(y, score) and periods(y, score, day)."
            raise DataError(Conflict(("periods", "s"), rule, hint))

    def counts(self, limit: Limit, cuts: Sequence[float]) -> Ints:
        """How many rows of each period a limit counts at the thresholds for reviewing and for
        blocking, which are the same if there is one."""
        score, period = self._rows(limit)
        review, block = cuts
        some = score >= block
        if limit.measure.reviews:
            some = (score >= review) & ~some
        return np.bincount(period[some], minlength=self.number)

    def value(self, limit: Limit, cuts: Sequence[float]) -> float:
        """What a limit is on: the mean of all periods, or the share of periods that keep it."""
        x = self.counts(limit, cuts)
        return float(np.mean(x) if limit.share is None else np.mean(limit.keeps(x)))

    def expect(self, limit: Limit, cuts: Sequence[float], level: float) -> Expected:
        """The same with its interval over periods: t of the mean, Clopper and Pearson's of the
        share."""
        x = self.counts(limit, cuts)
        n = self.number
        if limit.share is not None:
            kept = int(np.count_nonzero(limit.keeps(x)))
            return Expected(kept / n, *clopper_pearson(kept, n, level), level)
        if n < 2:
            raise UndefinedError(TooFew("an interval over periods", 2, "periods", n))
        mean, half = float(np.mean(x)), critical_value(level, n - 1) * float(np.std(x, ddof=1))
        return Expected(mean, max(mean - half / sqrt(n), 0.0), mean + half / sqrt(n), level)

    def rule(self, limit: Limit, error: float | None) -> PeriodRule:
        """What a limit per period comes to on all rows; with an error, so that the true mean, or
        share, breaks it with at most that probability."""
        self._check_unit(limit)
        if limit.share is None and error is None:
            return _mean_rule(limit, self.number)
        if limit.measure.reviews:
            asked = limit, error
            if asked not in self._windows:
                self._windows[asked] = self._review_windows(limit, error)
            return self._windows[asked]
        holds = self._test(limit, error)
        if not holds(np.zeros(self.number, np.int64)):
            return Limit(MEASURES["flagged"], "<=", 0, len(self.score))
        return Limit(limit.measure, "<=", self._most(limit, holds), len(self.score))

    @derived
    def _windows(self) -> dict[tuple[Limit, float | None], ReviewWindows]:
        """Those that were asked for already."""
        return {}

    def _test(self, limit: Limit, error: float | None) -> Callable[[Ints], bool]:
        """Whether numbers of each period keep a limit."""
        if limit.share is None:
            assert error is not None
            return lambda x: _mean_is_below(x, limit.bound, error)
        over = self._most_over(limit, error)
        return lambda x: int(np.count_nonzero(~limit.keeps(x))) <= over

    def _most_over(self, limit: Limit, error: float | None) -> int:
        """How many periods may be above a limit on a share of them."""
        share = 1 - Fraction(repr(limit.share))
        if error is None:
            return floor(share * self.number)
        return max_errors(self.number, float(share), error)

    def _most(self, limit: Limit, holds: Callable[[Ints], bool]) -> int:
        """How many of the highest of the rows that a limit counts hold; equal scores are flagged
        together."""
        score, positive, period = self.ranked
        if limit.measure.name == "fp":
            score, period = score[~positive], period[~positive]
        edges = _edges(score)
        low, high = 0, len(edges)
        while high - low > 1:
            k = (low + high) // 2
            good = holds(np.bincount(period[: edges[k]], minlength=self.number))
            low, high = (k, high) if good else (low, k)
        return int(edges[low])

    def _review_windows(self, limit: Limit, error: float | None) -> ReviewWindows:
        """How many rows may be blocked or reviewed, so that those between keep a limit."""
        if error is None:
            return self._exact_windows(limit)
        none = np.zeros(self.number, np.int64)
        alone = self._test(limit, error if limit.share is not None else 0.9 * error)
        if not alone(none):
            return ReviewWindows((), ())
        starts, most = [0], [self._most(limit, alone)]
        if limit.share is not None:
            return ReviewWindows(tuple(starts), tuple(most))
        share, alpha = 0.1 * error / _TESTS, limit.bound

        def below(bound: float) -> Callable[[Ints], bool]:
            return lambda x: _mean_is_below(x, bound, share)

        inside = below((1 - _STEP) * alpha)
        if alpha > 0 and inside(none):
            edges = _edges(self.ranked.score)
            reach = self._most(limit, below(_REACH * alpha))
            step, at, to = max(1, int(_STEP * alpha * self.number)), 0, 0
            while at <= reach:
                to = self._last_end(edges, (at, to, step), inside)
                if to > max(most[-1], at):
                    starts.append(at)
                    most.append(to)
                if to >= len(self.score):
                    break
                # From the next score on that is so far on.
                k = int(np.searchsorted(edges, at + step))
                if k == len(edges):
                    break
                at = int(edges[k])
        return ReviewWindows(tuple(starts), tuple(most))

    def _last_end(
        self, edges: Ints, rows: tuple[int, int, int], holds: Callable[[Ints], bool]
    ) -> int:
        """Up to which of these edges the rows from one on hold, but for a sixteenth of a step: at
        least up to one that is known, and often a step further."""
        start, known, step = rows
        period = self.ranked.period

        def good(k: int) -> bool:
            return holds(np.bincount(period[start : edges[k]], minlength=self.number))

        low, high = int(np.searchsorted(edges, max(start, known))), len(edges)
        while (k := int(np.searchsorted(edges, edges[low] + step))) < high:
            low, high, step = (k, high, 2 * step) if good(k) else (low, k, step)
        end = len(self.score)
        while high - low > 1:
            if high < len(edges):
                end = int(edges[high])
            if end - edges[low] <= rows[2] // 16:
                break
            k = (low + high) // 2
            low, high = (k, high) if good(k) else (low, k)
        return int(edges[low])

    def _exact_windows(self, limit: Limit) -> ReviewWindows:
        """The same on these rows: for each end the first start, in one pass."""
        over = self._most_over(limit, None)
        edges = _edges(self.ranked.score).tolist()
        period, counts, above = self.ranked.period.tolist(), [0] * self.number, 0
        keeps = limit.keeps(np.arange(len(period) + 2)).tolist()
        first, blocked, most = 0, [0], [0]
        for start, end in pairwise(edges):
            for d in period[start:end]:
                above += keeps[counts[d]] and not keeps[counts[d] + 1]
                counts[d] += 1
            while above > over:
                for d in period[edges[first] : edges[first + 1]]:
                    counts[d] -= 1
                    above -= keeps[counts[d]] and not keeps[counts[d] + 1]
                first += 1
            if edges[first] > blocked[-1]:
                blocked.append(edges[first])
                most.append(end)
            else:
                most[-1] = end
        return ReviewWindows(tuple(blocked), tuple(most))

    def shortage_text(self, limit: Limit, error: float) -> str:
        """What to say where periods are too few to allow a single alarm: it takes
        (1 − rate)ⁿ ≤ error, where the rate is α / M of a mean, and of a share what may exceed."""
        rate = limit.bound / (2 * max(limit.bound, 1.0)) if limit.share is None else 1 - limit.share
        doing = "reviewing" if limit.measure.reviews else "flagging"
        if limit.measure.reviews and limit.share is None:
            error *= 0.9
        if not 0 < rate < 1 or max_errors(self.number, rate, error) >= 0:
            return ""
        fewest = ceil(log(error) / log1p(-rate))
        return (
            f"guaranteeing this limit while {doing} anything requires at least {fewest:,} "
            f"{limit.period}s; there are {self.number:,}"
        )

    def known(self, limits: Sequence[Limit], error: float | None) -> KnownPeriods:
        """What a file keeps of it: what these limits come to."""
        of_periods = [limit for limit in limits if limit.period is not None]
        rules = {limit.text: _plain(self.rule(limit, error)) for limit in of_periods}
        return KnownPeriods(self.number, error, rules, self.column)

    def top(self, k: int, *, level: float = 0.95) -> PeriodTop:
        """Recall and precision where the k highest scores of each period are flagged.

        Of equal scores, of which only some are among the k, all count in part. Recall is the share
        of all positives that is caught, and precision that of all flagged rows that are positive:
        ratios of sums over all periods. Intervals are over periods.

        Parameters
        ----------
        k
            How many rows of each period can be looked at.
        level
            Of the intervals.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> day = np.repeat(np.arange(60), 500)
        >>> y = rng.random(len(day)) < 0.01
        >>> score = rng.standard_normal(len(day)) + 2.5 * y
        >>> cs.periods(y, score, day).top(10)
        the 10 highest of each period: recall 60.5 % (95 % CI 55.3–65.4 %), precision 29.8 %
        (95 % CI 25.6–34.4 %)
        """
        level = check_level(level)
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise DataError(BadArgument("k", "be an integer of at least 1", k))
        order = np.argsort(self.ranked.period, kind="stable")
        score, positive, period = (column[order] for column in self.ranked)
        new_period = np.append(True, period[1:] != period[:-1])
        first = np.flatnonzero(new_period | np.append(True, score[1:] != score[:-1]))
        size = np.diff(np.append(first, len(score)))
        starts = np.flatnonzero(new_period)
        before = first - starts[np.searchsorted(starts, first, side="right") - 1]
        taken = np.clip(k - before, 0, size)
        tp = np.add.reduceat(positive.astype(np.int64), first) * (taken / size)
        of = period[first]
        caught, flagged = (np.bincount(of, mass, self.number) for mass in (tp, taken))
        positives = np.bincount(period, positive, self.number)
        recall, precision = (
            ratio_over(caught, whole, level, name)
            for name, whole in (("recall", positives), ("precision", flagged))
        )
        return PeriodTop(k, recall, precision, float(np.mean(flagged)))

    def worth(
        self, each: NDArray[Any], cuts: Sequence[float], prior: float | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """What the cases of each period are worth, and how many there are, at another prior if one
        is given: those of each class are worth so much if passed, reviewed and blocked."""
        review, block = cuts
        decided = (self.score >= review).astype(np.int64) + (self.score >= block)
        cases = np.where(self.positive, *self._cases_of_rows(prior))
        value = cases * each[self.positive.astype(np.int64), decided]
        sums, rows = (np.bincount(self.period, w, self.number) for w in (value, cases))
        return sums, rows

    def _cases_of_rows(self, prior: float | None) -> tuple[float, float]:
        """How many cases a positive and a negative row stand for, at a prior."""
        share = float(np.mean(self.positive))
        if prior is None or not 0 < share < 1:
            return 1.0, 1.0
        return prior / share, (1 - prior) / (1 - share)

    def measured(
        self, goal: Objective, threshold: float, level: float, prior: float | None = None
    ) -> Expected | None:
        """A rate, F measure or cost at a threshold that is given, with its interval over periods,
        at another prior if one is given; None of measures that are no ratios of sums."""
        cases = None if prior is None else np.where(self.positive, *self._cases_of_rows(prior))
        rows = (self.score >= threshold, self.positive, self.period, level, cases)
        return measured_over(goal, *rows)

    def _rows(self, limit: Limit) -> tuple[Floats, Ints]:
        """Scores and periods of the rows that a limit counts."""
        if limit.measure.name == "fp":
            return self.score[~self.positive], self.period[~self.positive]
        return self.score, self.period

    def _check_unit(self, limit: Limit) -> None:
        if self.unit is not None and limit.period in UNITS and limit.period != self.unit:
            rule = (
                f"the limit is per {limit.period}, but the times of the rows differ by {self.unit}"
            )
            hint = f"Truncate the times of {{0}} to the {limit.period}."
            raise DataError(Conflict(("period", "subject_to"), rule, hint))


@dataclass(frozen=True)
class KnownPeriods:
    """What limits per period came to, where the rows are not known any more: in a policy.

    Parameters
    ----------
    number
        How many periods there were.
    error
        The error that each limit was allowed; None if it holds on the rows alone.
    rules
        By the text of each limit, what it came to: ``"flagged <= 5321"`` rows of the evidence.
    column
        The name of the column of periods, if it is known.

    Examples
    --------
    >>> from cutscore.inference.periods import KnownPeriods
    >>> from cutscore.measures.limits import parse_limit
    >>> known = KnownPeriods(30, 0.05, {"flagged <= 200 per day": "flagged <= 5321"})
    >>> known.rule(parse_limit("flagged <= 200 per day"), 0.05).text
    'flagged <= 5321'
    """

    number: Count
    error: float | None
    rules: Mapping[str, str | ReviewWindows]
    column: str | None = None

    def __len__(self) -> int:
        """How many periods there were."""
        return self.number

    def at(self, blocked: float) -> KnownPeriods:
        """What is known of it where so many rows are blocked: of many steps a file keeps one."""
        rules = {
            text: rule if isinstance(rule, str) or len(rule.most) <= _TESTS else rule.at(blocked)
            for text, rule in self.rules.items()
        }
        return replace(self, rules=rules)

    def check(self, s: Sweep) -> None:
        """The rows are not known any more."""

    def negated(self) -> KnownPeriods:
        """The same: rules count rows."""
        return self

    def known(self, limits: Sequence[Limit], error: float | None) -> KnownPeriods:
        """What a file keeps of it."""
        of_periods = [limit for limit in limits if limit.period is not None]
        rules = {limit.text: _plain(self.rule(limit, error)) for limit in of_periods}
        return KnownPeriods(self.number, error, rules, self.column)

    def rule(self, limit: Limit, error: float | None) -> PeriodRule:
        """What a limit per period came to on all rows."""
        if limit.share is None and error is None:
            return _mean_rule(limit, self.number)
        # What is guaranteed holds on the rows as well.
        same = error is None or (self.error is not None and abs(error - self.error) < 1e-12)
        if not same or limit.text not in self.rules:
            why = "needs the rows with their periods; the policy keeps only what its limits came to"
            hint = "Choose the policy on the rows again, with periods."
            raise UndefinedError(Undefined(f"{limit.text!r}", why, hint))
        rule = self.rules[limit.text]
        return parse_limit(rule) if isinstance(rule, str) else rule

    def shortage_text(self, limit: Limit, error: float) -> str:  # noqa: ARG002 - as of rows
        """Not known any more."""
        return ""

    def value(self, limit: Limit, cuts: Sequence[float]) -> float:  # noqa: ARG002 - as of rows
        """Not known any more."""
        return nan


def _edges(score: Floats) -> Ints:
    """How many rows are above each score, and from it on: equal ones are decided alike."""
    if not len(score):
        return np.zeros(1, np.int64)
    inside = np.flatnonzero(score[1:] != score[:-1]) + 1
    return np.concatenate(([0], inside, [len(score)]))


def _plain(rule: PeriodRule) -> str | ReviewWindows:
    """A rule as a file has it."""
    return rule.text if isinstance(rule, Limit) else rule


def _mean_rule(limit: Limit, number: int) -> Limit:
    """A limit on the mean of the periods at hand, as one on their sum."""
    most = Fraction(repr(limit.bound)) * number
    whole = floor(most) if len(limit.sign) == 2 else ceil(most) - 1
    return Limit(limit.measure, "<=", whole, max(float(most), 1.0))


# Of reviews with a confidence: how far apart the scores are below which they are tested, and up to
# how many rows may be blocked, both in terms of the limit. Ties may take two scores for each step.
_STEP, _REACH = 0.05, 25
_TESTS = 2 * round(_REACH / _STEP) + 2
# So many times the alarms of the worst period seen are taken to be the most that one can have.
_WORST = 2.5


def _mean_is_below(x: Ints, bound: float, error: float) -> bool:
    """Whether the mean of a period is shown to be at most ``bound``."""
    most = max(_WORST * float(x.max(initial=0)), 2.0 * bound, 2.0)
    share, times = np.unique(x, return_counts=True)
    return gaffke_p_value(share / most, times, bound / most) <= error


def ratio_over(  # noqa: PLR0913, PLR0917 - two are options
    part: NDArray[Any],
    whole: NDArray[Any],
    level: float,
    name: str,
    most: float | None = 1.0,
    what: str = "periods",
) -> Expected:
    """Σ part / Σ whole with its interval over periods, or clusters: a number from 0 to ``most``, or
    any.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.inference.periods import ratio_over
    >>> ratio_over(np.array([4, 6, 5, 7]), np.array([10, 10, 10, 10]), 0.95, "recall")
    0.550 (95 % CI 0.348–0.737)
    """
    n = int(np.count_nonzero(whole))
    if n < 2:
        raise UndefinedError(
            TooFew(f"an interval over {what}", 2, f"{what} in which {name} has a value", n)
        )
    total = float(np.sum(whole))
    value = float(np.sum(part)) / total
    away = (part - value * whole) / (1 - whole / total)
    squares = float(np.sum(away**2))
    if most is not None and (not squares or not 0 < value < most):
        # All periods agree; as many yeses and noes would not tell more.
        low, high = clopper_pearson(value / most * n, n, level)
        return Expected(value, most * low, most * high, level)
    if not squares:
        return Expected(value, value, value, level)
    kurtosis = n * float(np.sum(away**4)) / squares**2
    df = max(2 * n / max(kurtosis - 1, 2 * n / (n - 1)), 1.0)
    spread = sqrt((n - 1) / n * squares) / total
    half = critical_value(level, df) * spread
    if most is None:
        return Expected(value, value - half, value + half, level)
    low, high = logit_interval(value, half, most)
    return Expected(value, low, high, level)


def share_over(units: Units, level: float) -> Expected:
    """The share of positives in clustered rows, with its interval over the clusters."""
    weight = np.ones(len(units.unit)) if units.weight is None else units.weight
    part, whole = (np.bincount(units.unit, w) for w in (weight * units.positive, weight))
    return ratio_over(part, whole, level, "the prevalence", what="clusters")


def measured_over(  # noqa: PLR0913, PLR0917 - the rows, and what is asked of them
    goal: Objective,
    flagged: NDArray[np.bool_],
    positive: NDArray[np.bool_],
    of: Ints,
    level: float,
    weight: Floats | None = None,
    what: str = "periods",
) -> Expected | None:
    """A rate, F measure or cost of rows that are flagged, with its interval over the periods or
    clusters that they are of; None of measures that are no ratios of sums."""
    found = None if getattr(goal, "is_count", False) else ratio_cells(goal, None)
    if found is None or found[8] != -1 or found[9] != 0:
        return None
    cells = [
        np.bincount(of, (side & (positive == one)) * (1 if weight is None else weight))
        for side in (flagged, ~flagged)
        for one in (True, False)
    ]
    # In the order of TP, FP, FN and TN.
    up, down = (
        sum((w * cell for w, cell in zip(weights, cells, strict=True)), 0 * cells[0])
        for weights in (found[:4], found[4:8])
    )
    most: float | None = 1.0
    if isinstance(goal, Costs):
        most = None if goal.tp or goal.tn else max(goal.fp, goal.fn)
    return ratio_over(up, down, level, goal.name, most, what) if down.any() else None


_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")


def unit_of(times: NDArray[Any]) -> tuple[str | None, int]:
    """Of different times the longest unit that all are whole numbers of, and how many steps between
    the first and the last are not among them. A step is the largest that leads to all of them: a
    day, or a week.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.inference.periods import unit_of
    >>> unit_of(np.array(["2026-03-01", "2026-03-02", "2026-03-05"], "datetime64[s]"))
    ('day', 2)
    >>> unit_of(np.array(["2026-03-01", "2026-03-08"]))  # as ISO 8601 writes them
    ('day', 0)
    """
    if times.dtype.kind != "M":
        texts = [str(one) for one in times.tolist()]
        if not all(map(_ISO.fullmatch, texts)):
            return None, 0
        times = np.array(texts, "datetime64[us]")
    for word, code in UNITS.items():
        whole = times.astype(f"datetime64[{code}]")
        if (whole == times).all():
            steps = np.sort(whole.astype(np.int64))
            step = int(np.gcd.reduce(np.diff(steps))) if len(steps) > 1 else 1
            return word, int((steps[-1] - steps[0]) // step + 1 - len(steps))
    return "second", 0


def as_periods(periods: object) -> Periods | KnownPeriods | None:
    """Periods, or None; anything else is an error."""
    if periods is None or isinstance(periods, (Periods, KnownPeriods)):
        return periods
    rule = "be the result of periods(y, score, period)"
    raise DataError(BadArgument("periods", rule, periods))
