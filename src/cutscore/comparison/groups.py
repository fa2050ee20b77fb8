"""Pairs of rows of the same group only."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.comparison.comparison import Comparison, DifferenceTest
from cutscore.comparison.rows import Bools, encode_column, encode_values, read_rows
from cutscore.core import _native
from cutscore.core.checks import Columns, check_rows, one_of, run_kernel
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.statistics import CountsRows, NoVariation, TooFew
from cutscore.core.frozen import Frozen
from cutscore.core.interval import Interval
from cutscore.core.types import ArrayLike, Label
from cutscore.inference.auc import newcombe_ends
from cutscore.measures.confusion import count_text
from cutscore.measures.prior import check_level
from cutscore.sweeps.areas import auc as area_under
from cutscore.sweeps.sweep import Floats, Masses


class GroupIntervals(NamedTuple):
    """The confidence interval of the AUC of each group; see :meth:`GroupAuc.intervals`.

    Examples
    --------
    >>> import cutscore as cs
    >>> y, score = [1, 0, 0, 1, 0], [0.9, 0.3, 0.2, 0.4, 0.6]
    >>> cs.by_group(y, score, list("aaabb")).intervals(level=0.8).low.round(3)
    array([0.477, 0.   ])
    """

    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupAuc(Frozen):
    """The AUC within each group of rows, and three ways to summarise them in one number.

    Made by :func:`cutscore.by_group`. A group of one class has no AUC (``nan``) and is excluded
    from all three; :attr:`covered` is the share of the data that remains, and :meth:`interval`
    gives confidence intervals.

    Parameters
    ----------
    group : array
        The groups, in the order in which they first appear.
    P, N : array of int or float
        Mass of the positives and negatives in each: int64 counts, or float64 sums of weights.
    auc : array of float
        The AUC in each.
    """

    group: NDArray[Any]
    P: Masses
    N: Masses
    auc: Floats

    @property
    def pooled(self) -> float:
        """Σ U_g / Σ P_g N_g: the share of within-group pairs that are ranked correctly."""
        return self._mean("pooled")

    @property
    def weighted(self) -> float:
        """Σ n_g AUC_g / Σ n_g with n_g = P_g + N_g: what advertising calls GAUC."""
        return self._mean("weighted")

    @property
    def macro(self) -> float:
        """The unweighted mean of the groups' AUCs."""
        return self._mean("macro")

    @property
    def covered(self) -> float:
        """The share of the rows, or of their weight, that is in groups with both classes."""
        mass = self.P + self.N
        if not len(mass):
            raise UndefinedError(TooFew("the share of rows covered", 1, "row", 0))
        return float(mass[~np.isnan(self.auc)].sum() / mass.sum())

    def interval(self, average: str = "weighted", *, level: float = 0.95) -> Interval:
        r"""Confidence interval for one of the three, treating groups as a sample from many.

        Rows of one group are correlated, so the groups are treated as the independent units: each
        is left out in turn (the jackknife). With :math:`h_g`, the group's share of the weight, and
        :math:`A`, the average,

        .. math:: \mathrm{se}^2 = \frac{G-1}{G} \sum_g
                  \left(\frac{h_g (A_g - A)}{1 - h_g}\right)^2, \qquad
                  A \pm t_{df}\,\mathrm{se}, \quad df = \frac{1}{\sum_g h_g^2} - 1,

        clipped to [0, 1]. If a few groups have most of the weight, as large groups do in
        ``"pooled"``, there are few degrees of freedom.

        Parameters
        ----------
        average : str, default 'weighted'
            ``"weighted"``, ``"pooled"`` or ``"macro"``.
        level : float, default 0.95
            Confidence level.

        Raises
        ------
        UndefinedError
            If there are fewer than two groups with both classes, or if all have the same AUC: there
            are then too few groups to estimate its variance.

        References
        ----------
        MacKinnon, Nielsen & Webb, "Cluster-robust inference: A guide to empirical practice",
        Journal of Econometrics 232 (2023). https://doi.org/10.1016/j.jeconom.2022.04.001

        Examples
        --------
        >>> import cutscore as cs
        >>> y, score = [1, 0, 0, 1, 0, 1, 1, 0, 0], [9, 3, 2, 4, 6, 5, 8, 7, 1]
        >>> g = cs.by_group(y, score, list("aaabbbccc"))
        >>> g.macro, g.interval("macro", level=0.8)
        (0.666..., [0.038..., 1] at 80 %)
        """
        level = check_level(level)
        weight = self._weights(average)
        value = self.auc[self._both]
        error, df = _jackknife(value, weight)
        if not error > 1e-14:  # what rounding leaves of 0
            raise UndefinedError(
                NoVariation(f"the AUC, {value[0]:.6g},", f"over {len(value):,} groups")
            )
        from scipy.special import stdtrit

        middle, reach = self._mean(average), float(stdtrit(df, (1 + level) / 2)) * error
        return Interval(max(0.0, middle - reach), min(1.0, middle + reach), level)

    def intervals(self, *, level: float = 0.95) -> GroupIntervals:
        """Newcombe's confidence interval of the AUC of each group, as if its rows were independent.

        That of :func:`cutscore.auc_interval` with ``method="newcombe"``, which needs only the AUC
        and the number of rows of each class, for all groups at once; ``nan`` where a group has one
        class. The default method there needs the scores: ``auc_interval(s)`` of each sweep of
        :func:`cutscore.sweeps_by_group`.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of each interval.

        Raises
        ------
        UndefinedError
            If the rows are weighted.

        Examples
        --------
        >>> import cutscore as cs
        >>> y, score = [1, 0, 0, 1, 0, 1, 1, 0, 0], [9, 3, 2, 4, 6, 5, 8, 7, 1]
        >>> g = cs.by_group(y, score, list("aaabbbccc"))
        >>> g.intervals().low.round(3), g.intervals().high.round(3)
        (array([0.283, 0.   , 0.283]), array([1.   , 0.717, 1.   ]))
        """
        level = check_level(level)
        if self.P.dtype.kind == "f":
            hint = "Use auc_interval(s) of each of sweeps_by_group(..., squares=True)."
            raise UndefinedError(CountsRows("an interval of each group", hint))
        return GroupIntervals(*newcombe_ends(self.auc, self.P, self.N, level), level)

    def _mean(self, average: str) -> float:
        weight = self._weights(average)
        return float(np.sum(self.auc[self._both] * weight) / np.sum(weight))

    def _weights(self, average: str) -> Floats:
        """What each group with both classes counts, the largest of them about 1: sums of weights
        and their products could leave the floats."""
        one_of("average", average, ("weighted", "pooled", "macro"))
        both = self._both
        if average == "macro":
            return np.ones(np.count_nonzero(both))
        if average == "pooled":
            (p, up), (n, right) = np.frexp(self.P[both]), np.frexp(self.N[both])
            size = up + right
            weight = np.ldexp(p * n, size - size.max())
        else:
            weight = (self.P + self.N)[both]
        return np.asarray(weight / weight.max())

    @property
    def _both(self) -> Bools:
        both: Bools = ~np.isnan(self.auc)
        if not both.any():
            of, hint = "group with positives and negatives", "Group the rows more coarsely."
            raise UndefinedError(TooFew("the AUC within groups", 1, of, 0, hint))
        return both

    def __len__(self) -> int:
        return len(self.group)

    def _facts(self) -> dict[str, str]:
        both = int(np.count_nonzero(~np.isnan(self.auc)))
        facts = {"groups": f"{len(self):,}", "with both classes": f"{both:,}"}
        if both:
            mass = count_text((self.P + self.N).sum())
            rows = f"{mass} rows" if self.P.dtype.kind == "i" else f"weight {mass}"
            facts |= {
                "covered": f"{100 * self.covered:.3g} % of {rows}",
                "pooled": f"{self.pooled:.6g}",
                "weighted": f"{self.weighted:.6g}",
                "macro": f"{self.macro:.6g}",
            }
        return facts

    def __repr__(self) -> str:
        fact = self._facts()
        words = (
            f"GroupAuc of {fact['groups']} groups: {fact['with both classes']} have both classes"
        )
        if "covered" not in fact:
            return f"{words}, no AUC"
        aucs = ", ".join(f"{fact[name]} {name}" for name in ("pooled", "weighted", "macro"))
        return f"{words} ({fact['covered']}), AUC {aucs}"

    def _title(self) -> str:
        return "AUC within groups"


def by_group(
    y: ArrayLike,
    score: ArrayLike,
    group: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
) -> GroupAuc:
    r"""The AUC within each group: only pairs of rows from the same group are compared.

    Use it for scores that rank the items of one user, query or session and are never compared
    across them. The AUCs are exact, like :attr:`Sweep.auc`.

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    weight : array-like of shape (n,), optional
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    group : array-like of shape (n,)
        The group of each row: numbers, text, dates or other hashable values, such as tuples of
        several columns: ``list(zip(country, day))``.

    Returns
    -------
    GroupAuc

    References
    ----------
    Zhu et al., "Optimized cost per click in Taobao display advertising", KDD (2017).
    https://doi.org/10.1145/3097983.3098134

    Examples
    --------
    >>> import cutscore as cs
    >>> user = ["ann", "ann", "ann", "bob", "bob", "eve"]
    >>> g = cs.by_group([1, 0, 0, 1, 0, 1], [0.9, 0.3, 0.2, 0.4, 0.6, 0.8], user)
    >>> g
    GroupAuc of 3 groups: 2 have both classes (83.3 % of 6 rows), AUC 0.666667 pooled, 0.6 weighted,
    0.5 macro
    >>> g.auc
    array([ 1.,  0., nan])
    """
    if weight is None:
        unweighted = check_rows(y, score, None, positive)
        everywhere = np.ones(len(unweighted.score), np.bool_)
        label, code = encode_values(group, "group", everywhere)
        return of_codes(unweighted, label, code)
    rows = read_rows(y, {"score": score}, weight, positive)
    assert rows.weight is not None
    label, code = encode_column(group, "group", rows)
    cell = 2 * code + rows.ones
    neg, pos = mass = np.bincount(cell, rows.weight, 2 * len(label)).reshape(-1, 2).T
    # Weights as whole parts of their class in their group. Integers add up exactly, and may wrap
    # around in the running sum over all groups: the differences are right all the same.
    part = np.rint(rows.weight / mass.T.ravel()[cell] * 2.0**60).astype(np.int64)
    order = np.lexsort((-rows.scores[0], code))
    code, s, one, part = code[order], rows.scores[0][order], rows.ones[order], part[order]
    fresh = np.ones(len(s), np.bool_)  # first row of a group and score
    fresh[1:] = (code[1:] != code[:-1]) | (s[1:] != s[:-1])
    at = np.flatnonzero(fresh)
    p, q = (np.add.reduceat(np.where(of, part, 0), at) for of in (one, ~one))
    code = code[at]
    start = np.searchsorted(code, np.arange(len(label)))
    above = np.cumsum(p) - p
    above -= above[start][code]
    above, p, q = above.astype(np.float64), p.astype(np.float64), q.astype(np.float64)
    right = np.add.reduceat(q * (2 * above + p), start)  # twice the pairs
    pairs = 2 * np.add.reduceat(p, start) * np.add.reduceat(q, start)
    auc = np.full(len(label), np.nan)
    np.divide(right, pairs, out=auc, where=pairs > 0)
    return GroupAuc(label, pos, neg, np.minimum(auc, 1.0))


def of_codes(rows: Columns, label: NDArray[Any], code: NDArray[np.int64]) -> GroupAuc:
    """The AUC inside each group of unweighted rows, by the number of its label."""
    return GroupAuc(label, *run_kernel(rows, _native.group_areas, code, len(label)))


def compare_groups(
    a: GroupAuc,
    b: GroupAuc,
    *,
    average: str = "weighted",
    level: float = 0.95,
    names: tuple[str, str] = ("a", "b"),
) -> Comparison:
    r"""Compare the AUCs of two scores within the same groups.

    The test of :meth:`cutscore.GroupAuc.interval`, applied to the groups' differences. Groups are
    left out in turn, so rows within a group may be correlated in any way.

    Parameters
    ----------
    a, b : GroupAuc
        From :func:`cutscore.by_group`, for two scores on the same rows.
    average : str, default 'weighted'
        Which average of the groups: ``"weighted"``, ``"pooled"`` or ``"macro"``.
    level : float, default 0.95
        Confidence level of the interval.
    names : (str, str), default ('a', 'b')
        Names for the two scores in the result.

    Returns
    -------
    Comparison
        ``z`` is Student's t.

    Raises
    ------
    UndefinedError
        If there are not two groups with both classes; or if the AUCs differ by the same in each of
        them: see :func:`cutscore.compare`.

    Examples
    --------
    >>> import cutscore as cs
    >>> y, user = [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0], list("aaabbbcccddd")
    >>> new = cs.by_group(y, [9, 3, 2, 7, 8, 1, 9, 6, 4, 5, 3, 4], user)
    >>> old = cs.by_group(y, [4, 5, 1, 2, 8, 6, 7, 3, 2, 1, 2, 3], user)
    >>> cs.compare_groups(new, old)
    weighted auc: a 0.875, b 0.375: no significant difference (Δ 0.500, 95 % CI −0.150 to 1.000,
    p = 0.092)
    paired by group, t(3) = 2.45
    """
    level = check_level(level)
    for name, given in (("a", a), ("b", b)):
        if not isinstance(given, GroupAuc):
            hint = "Call compare_groups(by_group(y, a, group), by_group(y, b, group))."
            raise DataError(BadArgument(name, "be a result of by_group", given, hint))
    if not all(np.array_equal(getattr(a, of), getattr(b, of)) for of in ("group", "P", "N")):
        rule = "both scores must be from the same rows in the same groups"
        hint = "Pass the same y, group and weight to by_group."
        raise DataError(Conflict(("a", "b"), rule, hint))
    weight, both = a._weights(average), a._both
    error, df = _jackknife(a.auc[both] - b.auc[both], weight)
    values = a._mean(average), b._mean(average)
    return DifferenceTest(area_under, f"{average} auc", level, names).result(
        *values, error, "groups", df
    )


def _jackknife(value: Floats, weight: Floats) -> tuple[float, float]:
    """The standard error of a weighted mean of groups, and its degrees of freedom."""
    share = weight / weight.sum()
    df = float(1 / np.sum(share * share)) - 1
    if not df > 1e-3:
        hint = "Group the rows more finely, so that none has nearly all of the weight."
        raise UndefinedError(
            TooFew("the error of an average", 2, "groups with both classes", df + 1, hint)
        )
    # By how much the mean moves when a group is left out.
    moved = share * (value - np.sum(share * value)) / (1 - share)
    count = len(value)
    return sqrt((count - 1) / count * float(np.sum(moved * moved))), df
