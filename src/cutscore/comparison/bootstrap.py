"""Samples of rows, or of whole units of them, drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cutscore.comparison.rows import Ints, ScoredRows, encode_column, read_rows
from cutscore.core.progress import Report
from cutscore.core.types import ArrayLike, Label
from cutscore.inference.bootstrap import (
    Bootstrap,
    as_number,
    as_statistic,
    check_samples,
    percentiles,
)
from cutscore.inference.placements import Statistic
from cutscore.measures.prior import check_level
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Sweep


def bootstrap_rows(  # noqa: PLR0913 - all but three are options
    y: ArrayLike,
    score: ArrayLike,
    statistic: Statistic | str = "auc",
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    unit: ArrayLike | None = None,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
) -> Bootstrap:
    """Bootstrap any statistic of a sweep, from rows with weights or cluster ids.

    Each replicate draws rows of each class with replacement; rows keep their weights. With ``unit``
    it draws whole clusters instead, as many as there are, regardless of their classes; a sample
    that lacks a class is drawn again. The interval is a percentile interval.

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    weight : array-like of shape (n,), optional
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    statistic : "auc", PartialAuc or callable, default 'auc'
        A function of a sweep that returns a number, or "auc".
    unit : array-like of shape (n,), optional
        Cluster id of each row (patient, user, session), where rows of one cluster are correlated.
    level : float, default 0.95
        Confidence level of the interval.
    n : int, default 2000
        Number of samples.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Bootstrap

    References
    ----------
    Field and Welsh, "Bootstrapping clustered data", Journal of the Royal Statistical Society B 69
    (2007). https://doi.org/10.1111/j.1467-9868.2007.00593.x

    Examples
    --------
    >>> import cutscore as cs
    >>> y, score = [1, 1, 0, 1, 0, 0, 1, 0], [9, 8, 7, 6, 5, 4, 3, 2]
    >>> rows = cs.bootstrap_rows(3 * y, 3 * score, cs.auc)
    >>> patients = cs.bootstrap_rows(3 * y, 3 * score, cs.auc, unit=3 * list("abcdefgh"))
    >>> rows.estimate == patients.estimate, rows.interval.width < patients.interval.width
    (True, True)
    """
    level, measure = check_level(level), as_statistic(statistic)
    rows = read_rows(y, {"score": score}, weight, positive)
    sampler = Sampler(rows, unit, n, seed)
    whole = sampler.scores[0].sweep()
    whole.needs_both_classes("a bootstrap of rows")
    replicates = sampler.replicates(measure)[:, 0]
    return Bootstrap(as_number(measure(whole)), replicates, percentiles(replicates, level))


class Score:
    """One score of rows, sorted once: a sweep of any sample of them is a count."""

    def __init__(self, score: Floats, rows: ScoredRows) -> None:
        ascending, at = np.unique(score, return_inverse=True)
        m = len(ascending)
        self.threshold = ascending[::-1]
        self.at = m - 1 - at
        self.cell = self.at + m * rows.ones  # negatives first, then positives
        self.weight = rows.weight

    def sweep(self, drawn: Ints | slice = slice(None)) -> Sweep:
        """The sweep of some rows, each as often as it is drawn."""
        weight = None if self.weight is None else self.weight[drawn]
        mass = np.bincount(self.cell[drawn], weight, 2 * len(self.threshold)).reshape(2, -1)
        seen = mass.any(axis=0)
        neg, pos = mass[:, seen]
        return Sweep._adopt(self.threshold[seen], pos, neg)


class Sampler:
    """Bootstrap samples of rows, the same ones for every score and every statistic."""

    def __init__(self, rows: ScoredRows, unit: ArrayLike | None, n: int, seed: int) -> None:
        self.rows, self.n, self.seed = rows, check_samples(n), check_seed(seed)
        self.scores = [Score(s, rows) for s in rows.scores]
        self.unit = None if unit is None else encode_column(unit, "unit", rows)[1]

    def replicates(self, statistic: Statistic, report: Report | None = None) -> Floats:
        """The statistic in each sample, a column for each score."""
        out = np.empty((self.n, len(self.scores)))
        for r, drawn in enumerate(self._samples()):
            out[r] = [as_number(statistic(score.sweep(drawn))) for score in self.scores]
            self._tell(report, r)
        return out

    def _tell(self, report: Report | None, r: int) -> None:
        if report is not None and (r % max(1, self.n // 200) == 0 or r == self.n - 1):
            report((r + 1) / self.n, f"{r + 1:,} of {self.n:,} samples")

    def _samples(self) -> Iterator[Ints]:
        """The numbers of the rows in each sample."""
        rng = np.random.default_rng(self.seed)
        ones = self.rows.ones
        classes = [np.flatnonzero(of) for of in (ones, ~ones)]
        for _ in range(self.n):
            if self.unit is None:
                yield np.concatenate([of[rng.integers(len(of), size=len(of))] for of in classes])
            else:
                yield self._units(rng, self.unit)

    def _units(self, rng: np.random.Generator, unit: Ints) -> Ints:
        """The rows of as many units as there are, drawn with replacement."""
        units = int(unit.max()) + 1
        while True:  # never does more than every second sample lack a class that the rows have
            times = np.bincount(rng.integers(units, size=units), minlength=units)
            drawn = np.repeat(np.arange(len(unit)), times[unit])
            if 0 < np.count_nonzero(self.rows.ones[drawn]) < len(drawn):
                return drawn
