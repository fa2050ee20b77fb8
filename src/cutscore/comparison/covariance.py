"""AUCs of several scores of the same rows, their covariance, and tests of contrasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from cutscore.comparison.bootstrap import Score
from cutscore.comparison.rows import (
    Ints,
    ScoredRows,
    encode_column,
    read_columns,
    read_rows,
    score_columns,
)
from cutscore.core import _native
from cutscore.core.checks import Columns, one_of, run_kernel, threads
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import NoVariation, TooFew
from cutscore.core.frozen import Frozen
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.types import ArrayLike, Label, Scores
from cutscore.inference.auc import score_interval
from cutscore.inference.placements import effective, partial_placements
from cutscore.inference.selection import Expected
from cutscore.inference.units import Units
from cutscore.measures.prior import check_level
from cutscore.sweeps.areas import PartialAuc
from cutscore.sweeps.sweep import Floats

MISTAKES = "Use rows on which the better score makes errors."


@dataclass(frozen=True, eq=False, repr=False)
class AucCovariance(Frozen):
    """AUCs of several scores on the same rows, and their covariance matrix (DeLong).

    Made by :func:`cutscore.auc_covariance`.

    Parameters
    ----------
    auc : array of float
        The k AUCs.
    covariance : array of float
        Their k × k covariance matrix.
    names : tuple of labels
        The names of the scores: the keys of a mapping, the columns of a frame, otherwise 0, 1, …
    sizes : (float, float)
        The effective numbers of positives and negatives: rows, or clusters if ``unit`` was given.
    rows : (float, float)
        The effective numbers of positive and negative rows, ignoring clusters.
    design : array of float
        The design effect of each score: the factor by which clustering increases the variance of
        its AUC.
    """

    auc: Floats
    covariance: Floats
    names: tuple[Label, ...]
    sizes: tuple[float, float]
    rows: tuple[float, float]
    design: Floats

    @property
    def standard_error(self) -> Floats:
        """The standard error of each AUC."""
        error: Floats = np.sqrt(np.diag(self.covariance))
        return error

    def intervals(self, *, level: float = 0.95) -> tuple[Interval, ...]:
        """The score interval of each AUC; see :func:`cutscore.auc_interval`.

        With clusters, the normal model uses the number of rows divided by the design effect in each
        class, but at least the number of clusters; the largest variance uses the number of
        clusters.

        Examples
        --------
        >>> import cutscore as cs
        >>> y, new = [1, 1, 1, 1, 0, 0, 0, 0], [9, 7, 8, 5, 2, 4, 6, 1]
        >>> cs.auc_covariance(y, [new], unit=[1, 1, 2, 2, 3, 3, 4, 4]).intervals()
        ([0.440956, 0.995417] at 95 %,)
        """
        level = check_level(level)
        out = []
        for a, v, by in zip(self.auc, np.diag(self.covariance), self.design, strict=True):
            both = zip(self.sizes, self.rows, strict=True)
            pos, neg = (max(units, rows / by) for units, rows in both)
            out.append(score_interval(float(a), float(v), pos, neg, level, fewer=min(self.sizes)))
        return tuple(out)

    def test(
        self, contrasts: ArrayLike | None = None, *, method: str = "f", level: float = 0.95
    ) -> ContrastTest:
        r"""Test whether all AUCs are equal, or whether other contrasts are 0.

        With one row of L for each contrast, DeLong's statistic is
        :math:`T^2 = (L\hat\theta)^\top (L \Sigma L^\top)^+ L\hat\theta`. If some scores are copies
        of others, r is the rank of the matrix, which is then lower.

        Parameters
        ----------
        contrasts : array-like of shape (k,) or (m, k), optional
            One row of k numbers that add up to 0 for each contrast. Default: all differences.
        method : str, default 'f'
            ``"f"``: :math:`T^2 (m - r + 1) / (m r)` is compared with F with r and m − r + 1 degrees
            of freedom, where m is the number of rows (or clusters) of the rarer class minus one.
            For two scores this is the test of :func:`cutscore.compare`. ``"delong"``: T² is
            compared with chi-square with r degrees of freedom, as most software does; this rejects
            too often if there are few positives.
        level : float, default 0.95
            The confidence level used by :attr:`ContrastTest.powerless`.

        Raises
        ------
        UndefinedError
            If AUCs differ by an amount that doesn't vary, or if there are too few positives for
            this many contrasts.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> y, rng = np.arange(200) % 4 == 0, np.random.default_rng(0)
        >>> scores = {name: rng.normal(size=200) + d * y for name, d in zip("abc", (1, 1, 1.5))}
        >>> cs.auc_covariance(y, scores).test()
        test whether a, b and c differ: T² = 12.5, F(2, 48) = 6.14, p = 0.0042
        >>> cs.auc_covariance(y, scores).test([1, -1, 0])
        contrast of a, b and c: T² = 0.0152, F(1, 49) = 0.0152, p = 0.9
        """
        one_of("method", method, ("f", "delong"))
        given, level = _contrasts(contrasts, self.names), check_level(level)
        squared, rank = _wald(given, self.auc, self.covariance)
        df = inf if method == "delong" else min(self.sizes) - rank
        if not df > 0:
            what, of = f"a test of {rank} contrasts", "rows or clusters of each class"
            hint = "Compare fewer scores."
            raise UndefinedError(TooFew(what, rank, of, float(min(self.sizes)), hint, above=True))
        p_value, critical = _squared_test(squared, rank, df, level)
        worst = int(np.argmin(self.auc))
        enough = (1 - self.auc[worst]) ** 2 > critical * self.covariance[worst, worst]
        named = tuple(str(name) for name in self.names)
        whole = contrasts is None
        return ContrastTest(squared, rank, df, p_value, not bool(enough), named, whole)

    def _facts(self) -> list[tuple[str, str]]:
        columns = zip(self.names, self.auc.tolist(), self.standard_error.tolist(), strict=True)
        return [(str(name), f"{a:.4f} ± {error:.2g}") for name, a, error in columns]

    def __repr__(self) -> str:
        return "AUC ± standard error: " + ", ".join(f"{n} {value}" for n, value in self._facts())

    def _title(self) -> str:
        return "AUC ± standard error"


@dataclass(frozen=True, slots=True, repr=False)
class ContrastTest(Card):
    """A test of several AUCs at once; made by :meth:`cutscore.AucCovariance.test`, see there.

    Parameters
    ----------
    statistic : float
        T²: how far the contrasts are from 0, squared, in standard errors.
    rank : int
        The number of independent contrasts.
    df : float
        Degrees of freedom of the denominator of F; ``inf`` for chi-square.
    p_value : float
        The probability of differences at least this large if all contrasts are 0.
    powerless : bool
        Whether the test has too little power: it could not have shown that a perfect score is
        better than the worst of these. A large p-value then means nothing.
    names : tuple of str
        The names of the scores.
    all_equal : bool
        Whether the test was for equality of all AUCs rather than for other contrasts.
    """

    statistic: float
    rank: int
    df: float
    p_value: float
    powerless: bool
    names: tuple[str, ...]
    all_equal: bool = True

    @property
    def f(self) -> float:
        """The statistic that is compared with F: T² (m − r + 1) / (m r); T² / r for chi-square."""
        if not self.rank:
            return 0.0
        shrink = 1.0 if self.df == inf else self.df / (self.df + self.rank - 1)
        return self.statistic * shrink / self.rank

    def _facts(self) -> dict[str, str]:
        names = " and ".join(filter(None, (", ".join(self.names[:-1]), self.names[-1])))
        what = f"test whether {names} differ" if self.all_equal else f"contrast of {names}"
        judged = f"chi²({self.rank})" if self.df == inf else f"F({self.rank}, {self.df:.4g})"
        value = self.statistic if self.df == inf else self.f
        test = f"{judged} = {value:.3g}, p = {self.p_value:.2g}"
        if self.df != inf:
            test = f"T² = {self.statistic:.3g}, {test}"
        if self.powerless:
            test += ", too little power: even a perfect score would not be significant"
        return {what: test}

    def __repr__(self) -> str:
        ((what, test),) = self._facts().items()
        return f"{what}: {test}"

    def _title(self) -> str:
        return "Test of AUCs"


def auc_over(units: Units, level: float) -> Expected:
    """The AUC of clustered rows, with its interval over the clusters."""
    rows = (units.positive, [units.score])
    found = auc_covariance(*rows, weight=units.weight, unit=units.unit)
    low, high = found.intervals(level=level)[0]
    return Expected(float(found.auc[0]), low, high, level)


def auc_covariance(
    y: ArrayLike,
    scores: Scores,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    unit: ArrayLike | None = None,
) -> AucCovariance:
    r"""DeLong's covariance matrix for the AUCs of several scores on the same rows.

    With :math:`V` the placements of :func:`cutscore.compare` it is
    :math:`\Sigma = \mathrm{cov}(V_+) / P + \mathrm{cov}(V_-) / N`. Any contrast :math:`c` of the
    AUCs then has the variance :math:`c^\top \Sigma c`. With ``unit``, placements are summed over
    each unit first.

    Parameters
    ----------
    y, weight, positive : array-like of shape (n,) and label
        As in :func:`cutscore.sweep`. With weights a class of n rows counts as
        :math:`(\sum w)^2 / \sum w^2`.
    scores : dict of arrays, frame, sequence of arrays, or array of shape (n, k)
        A mapping from names to columns, a frame, an array with a column for each score, or a
        sequence of columns.
    unit : array-like of shape (n,), optional
        Cluster id of each row (patient, user, session), where rows of one cluster are correlated.

    Returns
    -------
    AucCovariance

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach", Biometrics 44 (1988).
    https://doi.org/10.2307/2531595

    Examples
    --------
    >>> import cutscore as cs
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"new": [9, 7, 8, 5, 2, 4, 6, 1], "old": [7, 5, 6, 2, 4, 3, 6, 1]}
    >>> c = cs.auc_covariance(y, scores)
    >>> c
    AUC ± standard error: new 0.9375 ± 0.088, old 0.7188 ± 0.21
    >>> c.covariance.round(4)
    array([[0.0078, 0.0169],
           [0.0169, 0.0436]])

    """
    columns = score_columns(scores)
    if weight is None and unit is None:
        exact = exact_placements(y, columns, positive)
        if exact is not None:
            each = np.eye(len(columns), dtype=int).tolist()
            matrix = np.array([[exact.covariance(a, b) for a in each] for b in each])
            size, names = exact.sizes, tuple(columns)
            return AucCovariance(
                np.array(exact.auc), matrix, names, size, size, np.ones(len(names))
            )
    rows = read_rows(y, columns, weight, positive)
    auc = [Score(s, rows).sweep().auc for s in rows.scores]
    units = None if unit is None else encode_column(unit, "unit", rows)[1]
    placements, of = row_placements(rows), units_by_class(rows, units)
    covariance, design = placement_covariance(placements, of), np.ones(len(auc))
    if of is not None:
        alone = np.diag(placement_covariance(placements, None))
        # Where nothing varies, units are all that is known to be independent.
        ratio = np.divide(np.diag(covariance), alone, out=np.full(len(auc), inf), where=alone > 0)
        design = np.maximum(1.0, ratio)
    sizes = effective_sizes(placements, of), effective_sizes(placements, None)
    return AucCovariance(np.array(auc), covariance, tuple(columns), *sizes, design)


def _contrasts(contrasts: ArrayLike | None, names: tuple[Label, ...]) -> Floats:
    """Contrasts of k scores as an array with a row for each."""
    k = len(names)
    if contrasts is None:
        if k < 2:
            raise DataError(TooFew("a test", 2, "scores", k))
        return np.eye(k)[:-1] - np.eye(k)[1:]
    try:
        given = np.atleast_2d(np.asarray(contrasts, np.float64))
    except (TypeError, ValueError):
        given = np.full((1, 0), np.nan)
    fits = given.ndim == 2 and given.shape[1] == k and np.isfinite(given).all()
    size = np.abs(given).sum(axis=-1)
    if not (fits and (size > 0).all() and (np.abs(given.sum(axis=1)) <= 1e-9 * size).all()):
        rule = f"have {k} numbers, one for each score, that add up to 0 and are not all 0"
        hint = f"Such as {[1, -1, *[0] * (k - 2)]}."
        raise DataError(BadArgument("contrasts", rule, contrasts, hint))
    return given


def _wald(contrasts: Floats, auc: Floats, covariance: Floats) -> tuple[float, int]:
    """How far contrasts are from 0, squared, in standard errors; and how many there are."""
    _, size, basis = np.linalg.svd(contrasts, full_matrices=False)
    basis = basis[size > 1e-9 * size.max()]  # the same contrasts, of length 1 and at right angles
    value, matrix = basis @ auc, basis @ covariance @ basis.T
    spread, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    along = axes.T @ value
    varies = spread > 1e-12 * float(np.diag(covariance).max())
    if (np.abs(along[~varies]) > 1e-12).any():
        raise UndefinedError(NoVariation("the difference between the AUCs", hint=MISTAKES))
    return float(np.sum(along[varies] ** 2 / spread[varies])), int(varies.sum())


def _squared_test(squared: float, rank: int, df: float, level: float) -> tuple[float, float]:
    """The p-value of Hotelling's T², or of chi-square; and the value that it must exceed."""
    from scipy.special import chdtrc, chdtri, fdtrc, fdtri

    if not rank:  # copies of one score
        return 1.0, inf
    if df == inf:
        return float(chdtrc(rank, squared)), float(chdtri(rank, 1 - level))
    per = rank * (df + rank - 1) / df
    return float(fdtrc(rank, df, squared / per)), float(fdtri(rank, df, level)) * per


def effective_sizes(
    classes: list[tuple[Floats, Floats]], units: list[Ints] | None
) -> tuple[float, float]:
    """As how many rows, or units, of equal weight those of either class count."""
    mass = [w if units is None else np.bincount(units[j], w) for j, (_, w) in enumerate(classes)]
    pos, neg = (effective(float(w.sum()), float((w * w).sum())) for w in mass)
    return pos, neg


def units_by_class(rows: ScoredRows, unit: Ints | None) -> list[Ints] | None:
    """The units of the positives, and those of the negatives."""
    return None if unit is None else [unit[rows.ones], unit[~rows.ones]]


@dataclass(frozen=True, slots=True)
class ExactPlacements:
    """Sums over unweighted rows of twice their placements, and of products of two scores' ones: all
    integers, so that each covariance is a fraction that is rounded once."""

    pos: int
    neg: int
    twice: list[int]
    """2·P·N·AUC of each score: the sum over either class."""
    products: tuple[list[list[int]], list[list[int]]]
    """Of the positives and of the negatives; a line for each score, up to itself."""

    @property
    def auc(self) -> list[float]:
        """The AUC of each score."""
        return [t / (2 * self.pos * self.neg) for t in self.twice]

    @property
    def sizes(self) -> tuple[float, float]:
        """How many rows there are of either class."""
        return float(self.pos), float(self.neg)

    def covariance(self, a: list[int], b: list[int]) -> float:
        """DeLong's covariance of two contrasts of the AUCs, with whole coefficients."""
        P, N = self.pos, self.neg
        of_pos, of_neg = P * (P - 1), N * (N - 1)
        total = 0
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                if x and y:
                    p, n = (of[max(i, j)][min(i, j)] for of in self.products)
                    both = self.twice[i] * self.twice[j]
                    part = (P * p - both) * P * of_neg + (N * n - both) * N * of_pos
                    total += x * y * part
        return total / (4 * P * P * N * N * of_pos * of_neg)


def exact_placements(
    y: ArrayLike, scores: Mapping[Any, Any], positive: Label | None
) -> ExactPlacements | None:
    """Placements of unweighted rows; None where a class has fewer than two of them."""
    read = read_columns(y, scores, None, positive, id)  # rows are read below, of all scores at once
    k, n, rows = len(scores), len(read[0].score), read[0]
    columns = [r.score for r in read]
    while True:
        labels = rows.label, rows.negative, rows.positive
        try:
            P, sums = _native.placement_sums(columns, *labels, threads(k * n), n >= 1 << 26)
            break
        except _native.RowFault as error:
            fault = str(error)
        try:
            rows = rows.explained(fault)
        except DataError:
            read_columns(y, scores, None, positive)  # raises it with the name of the score
            raise
    if min(P, n - P) < 2:
        return None
    half = len(sums) // 2
    starts = [i * (i + 3) // 2 for i in range(k)]  # of each score: its sum, then its products
    of_pos, of_neg = (
        [of[at + 1 : at + 2 + i] for i, at in enumerate(starts)]
        for of in (sums[:half], sums[half:])
    )
    return ExactPlacements(P, n - P, [sums[at] for at in starts], (of_pos, of_neg))


def row_placements(rows: ScoredRows) -> list[tuple[Floats, Floats]]:
    """For each class: the placements, a line for each score, and the weights of its rows.

    A placement is the share of the other class that the score ranks right against this row, ties
    counting one half: V₁₀ of a positive, V₀₁ of a negative.
    """
    ones, n = rows.ones, len(rows.ones)
    weight = np.ones(n) if rows.weight is None else rows.weight
    lines = np.empty((len(rows.scores), n))
    for score, line in zip(rows.scores, lines, strict=True):
        columns = Columns(score, ones, 0.0, 1.0, weight, None)
        run_kernel(columns, _native.weighted_placements, line)
    return [
        # Weights will be squared.
        (lines[:, own] / (2 * weight[~own].sum()), weight[own] / weight[own].max())
        for own in (ones, ~ones)
    ]


def partial_row_placements(
    scores: list[Score], rows: ScoredRows, area: PartialAuc
) -> list[tuple[Floats, Floats]]:
    """The same for a partial AUC."""
    weight = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
    at = [(partial_placements(score.sweep(), area), score.at) for score in scores]
    return [
        (np.stack([v[k][i[own]] for v, i in at]), weight[own] / weight[own].max())
        for k, own in enumerate((rows.ones, ~rows.ones))
    ]


def placement_covariance(classes: list[tuple[Floats, Floats]], units: list[Ints] | None) -> Floats:
    """Covariance matrix of the means of placements: the sum of what each class adds, and of what
    units add that have rows of both."""
    k = len(classes[0][0])
    out, parts = np.zeros((k, k)), []
    count = 0 if units is None else 1 + max(int(of.max()) for of in units)
    for j, ((v, w), name) in enumerate(zip(classes, ("positive", "negative"), strict=True)):
        d, mass = w * (v - np.average(v, axis=1, weights=w)[:, None]), w
        if units is not None:
            d = np.stack([np.bincount(units[j], x, count) for x in d])
            mass = np.bincount(units[j], w, count).astype(np.float64)
        # n_eff / (n_eff − 1) / W² with n_eff = W² / Σw²: 1 / n (n − 1) for equal weights.
        square = w.sum() ** 2
        pairs = square - (mass * mass).sum()
        if not pairs > 1e-9 * square:
            of = f"{name} {'rows' if units is None else 'clusters'}"
            hint = "If one has nearly all of the weight, it counts as a single one."
            have = float(square / (mass * mass).sum())
            raise UndefinedError(TooFew("DeLong's variance", 2, of, have, hint))
        # Not d @ d.T: its rounding depends on the threads of the BLAS.
        out += [[np.sum(x * y) / pairs for x in d] for y in d]
        parts.append(d / w.sum())
    if units is not None:
        a, b = parts
        both = np.array([[np.sum(x * y) for x in a] for y in b]) * (count / (count - 1))
        out += both + both.T
        # What rounding leaves of 0.
        np.fill_diagonal(out, np.maximum(np.diag(out), 0.0))
    return out
