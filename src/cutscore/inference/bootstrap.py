"""Intervals of any function of a sweep, from bootstrap samples of its counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import one_of, threads
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import Undefined
from cutscore.core.frozen import Frozen
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.inference.placements import Statistic, placements
from cutscore.measures.prior import check_level
from cutscore.sweeps.areas import auc, average_precision
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import EqualRows, Floats, Sweep, check_sweep


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Frozen):
    """The distribution of a statistic under resampling; see :func:`cutscore.bootstrap`.

    Parameters
    ----------
    estimate : float
        The statistic on the original rows.
    replicates : array of float
        The statistic on each sample.
    interval : Interval
        Its confidence interval.
    """

    estimate: float
    replicates: Floats
    interval: Interval

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates; nan if one is infinite."""
        finite = bool(np.isfinite(self.replicates).all())
        return float(np.std(self.replicates, ddof=1)) if finite else np.nan

    @property
    def bias(self) -> float:
        """The mean of the replicates minus the estimate."""
        return float(np.mean(self.replicates)) - self.estimate

    def __repr__(self) -> str:
        return (
            f"{self.estimate:.6g} {self.interval!r}, standard error {self.standard_error:.3g}, "
            f"{len(self.replicates):,} bootstrap samples"
        )

    def _title(self) -> str:
        return estimate_text(self.estimate, self.interval)

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("standard error", f"{self.standard_error:.3g}"),
            ("bias", f"{self.bias:.3g}"),
            ("bootstrap samples", f"{len(self.replicates):,}"),
        ]


def bootstrap(  # noqa: PLR0913 - options have names
    s: Sweep,
    statistic: Statistic | str = "auc",
    *,
    method: str = "percentile",
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
) -> Bootstrap:
    """Stratified bootstrap of any function of a sweep.

    Each sample draws positives and negatives separately, with replacement and in their original
    numbers, as new counts at the same scores, so nothing is sorted again. The AUC is computed in
    the native core, about a hundred times faster than by resampling rows.

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``; rows with the same
        class and score are then drawn as if they had equal weights, with the same sum and sum of
        squares. For clustered rows, use :func:`cutscore.bootstrap_rows`.
    statistic : "auc", PartialAuc or callable, default 'auc'
        A function of a sweep that returns a number, or "auc".
    method : str, default 'percentile'
        ``"percentile"``, or ``"bca"``: Efron's, corrected for bias and skewness.
    level : float, default 0.95
        Confidence level of the interval.
    n, seed : int
        The number of samples, and the random seed. A seed gives the same samples on every machine
        and with any number of threads.

    References
    ----------
    Efron & Tibshirani, *An Introduction to the Bootstrap* (1993).
    https://doi.org/10.1201/9780429246593

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> b = cs.bootstrap(s, cs.average_precision, n=500)
    >>> round(b.estimate, 4), len(b.replicates), b.interval.low < b.estimate < b.interval.high
    (0.7708, 500, True)
    """
    level = check_level(level)
    one_of("method", method, ("percentile", "bca"))
    statistic = as_statistic(statistic)
    sampler = Sampler(s, seed)
    estimate = as_number(statistic(s))
    replicates = sampler.values(statistic, n)
    if method == "percentile":
        return Bootstrap(estimate, replicates, percentiles(replicates, level))
    return Bootstrap(estimate, replicates, _bca(sampler, statistic, estimate, replicates, level))


def as_statistic(statistic: object) -> Statistic:
    """ "auc" or a function of a sweep, as a function."""
    if isinstance(statistic, str) and statistic == "auc":
        return auc
    if not callable(statistic):
        raise DataError(BadArgument("statistic", "be 'auc' or a function of a sweep", statistic))
    function: Statistic = statistic
    return function


def check_samples(n: object) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 2 <= n <= 10**7:
        raise DataError(BadArgument("n", "be an integer from 2 to 10,000,000", n))
    return int(n)


class Sampler:
    """Stratified bootstrap samples of a sweep.

    A row takes its weight along. A sweep knows the sum of the weights at a score and the sum of
    their squares: rows of one class and score are taken as so many of equal weight that both sums
    agree. That is exact where these rows weigh the same, or where there is one. Where they differ,
    what depends on each class by itself has the right variance, and what depends on the ratio of
    the classes, as the precision does, one that is too small: how much the class weighs varies with
    the weights, which ``bootstrap_rows`` knows.
    """

    def __init__(self, s: Sweep, seed: int) -> None:
        check_sweep(s).needs_rows("a bootstrap sample")
        self.s, self.seed = s, check_seed(seed)
        self.pos, self.neg = EqualRows.of(s, "a bootstrap sample")
        # Row by row where rows are few; where most scores are shared by many, score by score.
        P, N = self.pos.total, self.neg.total
        self.by_rows = 16 * len(s) + 4096 >= P + N and max(P, N) < 2**31

    def of_runs(self) -> Sampler:
        """The same samples, where runs of one class are one entry."""
        out = Sampler(self.s.compact(), self.seed)
        out.by_rows = self.by_rows
        return out

    def areas(self, n: int) -> Floats:
        """The AUCs of n samples."""
        s = self.s
        s.needs_both_classes("the AUC")
        if not s.weighted and self.by_rows and 2 * int(s.P) * int(s.N) < 2**63:
            return self._native(_native.bootstrap_area, s.compact(), n)
        return self._one_by_one(auc, n)

    def precisions(self, n: int) -> Floats:
        """The average precisions of n samples."""
        s = self.s
        s.needs_positives("the average precision")
        s.needs_scores("the average precision")
        if not s.weighted and self.by_rows:
            return self._native(_native.bootstrap_precision, s, n)
        return self._one_by_one(average_precision, n)

    def _native(self, kernel: Callable[..., Floats], s: Sweep, n: int) -> Floats:
        n, rows = check_samples(n), int(s.P + s.N)
        workers, each = threads(n * rows), max(1, 10**9 // rows)
        # In parts of about a second, after which Python sees whether it was interrupted.
        parts = [
            kernel(s.pos, s.neg, first, min(each, n - first), self.seed, workers)
            for first in range(0, n, each)
        ]
        return np.concatenate(parts)

    def sample(self, k: int) -> Sweep:
        """The k-th sample."""
        if self.by_rows:
            pos = _native.resample(self.pos.rows, self.seed, 2 * k)
            neg = _native.resample(self.neg.rows, self.seed, 2 * k + 1)
        else:
            rng = np.random.default_rng((self.seed, k))
            pos, neg = (_multinomial(rng, of.rows, of.total) for of in (self.pos, self.neg))
        return self.of_rows(pos, neg)

    def of_rows(self, pos: NDArray[Any], neg: NDArray[Any]) -> Sweep:
        """The sweep of so many rows at each score, without the scores that no row has any more."""
        # Indices, since a mask of every other entry takes NumPy longer.
        s, there = self.s, np.flatnonzero(pos + neg > 0)
        top = None if s.top is None else s.top[there]
        pos, neg = pos[there], neg[there]
        if not s.weighted:
            return Sweep._adopt(s.threshold[there], pos, neg, top=top)
        w, v = self.pos.each[there], self.neg.each[there]
        masses = (pos * w, neg * v, pos * w * w, neg * v * v)
        return Sweep._adopt(s.threshold[there], *masses, top=top)

    def values(self, statistic: Statistic, n: int) -> Floats:
        """A statistic of each of n samples."""
        if statistic is auc:
            return self.areas(n)
        if statistic is average_precision:
            return self.precisions(n)
        return self._one_by_one(statistic, n)

    def _one_by_one(self, statistic: Statistic, n: int) -> Floats:
        return np.array([as_number(statistic(self.sample(k))) for k in range(check_samples(n))])


def _multinomial(rng: np.random.Generator, mass: NDArray[Any], total: int) -> NDArray[Any]:
    return rng.multinomial(total, mass / total) if total else mass


def as_number(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        rule = "be one number per sample"
        raise DataError(
            BadArgument("statistic", rule, value, subject="the return value of a statistic")
        ) from None
    if np.isnan(number):
        why = "is NaN in a bootstrap sample, so it has no distribution"
        raise UndefinedError(Undefined("the statistic", why, "Return a number for every sample."))
    return number


def percentiles(replicates: Floats, level: float) -> Interval:
    """The range of the middle replicates."""
    tail = (1 - level) / 2
    low, high = _quantiles(replicates, (tail, 1 - tail))
    return Interval(low, high, level)


def _quantiles(values: Floats, at: Sequence[float] | Floats) -> list[float]:
    # Between infinite values there is nothing to interpolate.
    how: Any = "linear" if np.isfinite(values).all() else "inverted_cdf"
    out: list[float] = np.quantile(values, at, method=how).tolist()
    return out


def _bca(
    sampler: Sampler, statistic: Statistic, estimate: float, replicates: Floats, level: float
) -> Interval:
    from scipy.special import ndtr, ndtri

    n = len(replicates)
    # Half of the ties; and off the ends, where the normal deviate is infinite.
    below = np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates == estimate) / 2
    z0 = float(ndtri(min(max(below, 0.5), n - 0.5) / n))
    a = _acceleration(sampler, statistic)
    z = ndtri(np.array([(1 - level) / 2, (1 + level) / 2])) + z0
    low, high = _quantiles(replicates, ndtr(z0 + z / (1 - a * z)))
    return Interval(low, high, level)


def _acceleration(sampler: Sampler, statistic: Statistic) -> float:
    """Skewness of the statistic's influence: Σ l³ / 6 (Σ l²)^1.5, by leaving out row after row.

    Rows of one class and score are alike, so each such cell is left out once. Of more than 1,000
    cells of a class a random sample stands for all.
    """
    s, classes = sampler.s, (sampler.pos, sampler.neg)
    rng = np.random.default_rng(0)
    cubes = squares = 0.0
    places = placements(s) if statistic is auc else (s.threshold, s.threshold)
    for of, other, placed, swap in zip(classes, classes[::-1], places, (1, -1), strict=True):
        total, cells = of.total, np.flatnonzero(of.rows)
        if total < 2:
            continue
        if statistic is auc:
            influence = of.each[cells] * (total / of.mass) * (placed[cells] - s.auc)
        else:
            if len(cells) > 1000:
                cells = np.sort(rng.choice(cells, 1000, replace=False))
            values = np.empty(len(cells))
            for i, k in enumerate(cells):
                less = of.rows.copy()
                less[k] -= 1
                values[i] = as_number(statistic(sampler.of_rows(*(less, other.rows)[::swap])))
            influence = (total - 1) * (np.average(values, weights=of.rows[cells]) - values)
        # Influences count by 1/n of their own class.
        share = of.rows[cells] / of.rows[cells].sum()
        squares += float(np.sum(share * influence**2)) / total
        cubes += float(np.sum(share * influence**3)) / total**2
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0
