"""What takes the rows themselves: scores of the same rows, resampled units, groups of rows.

A sweep has forgotten which score belongs to which row. To compare two scores of the same rows, to
draw whole patients instead of rows, or to count only the pairs inside a group, one needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, sqrt
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutpoint._check import array_of, check_rows, check_totals, missing_row, shown, vector
from cutpoint._frozen import Frozen
from cutpoint._html import fact_table
from cutpoint._interval import Interval
from cutpoint._sweep import Floats, Masses, Sweep, area
from cutpoint.areas import auc
from cutpoint.confusion import counted
from cutpoint.decision import choose
from cutpoint.errors import DataError, UndefinedError
from cutpoint.inference import (
    Bootstrap,
    Statistic,
    as_number,
    as_statistic,
    auc_variance,
    check_samples,
    check_seed,
    effective,
    percentiles,
)
from cutpoint.objectives import Costs, check_level

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_WORDS = {
    "delong": "paired DeLong",
    "bootstrap": "paired bootstrap",
    "unpaired": "unpaired DeLong, Welch's t",
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two scores, the difference of what they achieve, and how sure it is.

    Made by :func:`cutpoint.compare` and :func:`cutpoint.compare_unpaired`.

    Parameters
    ----------
    a, b
        The statistic of either score.
    difference
        a − b.
    standard_error
        Of the difference.
    z
        difference / standard_error: standard normal if there is no difference, or Student's t with
        ``df`` degrees of freedom.
    p_value
        How probable a z at least as far from 0 is if there is no difference; two-sided.
    interval
        Of the difference.
    statistic
        Its name.
    method
        ``"delong"``, ``"bootstrap"`` or ``"unpaired"``.
    df
        Degrees of freedom; ``inf`` for the normal distribution.
    cost_a, cost_b
        Expected cost per case of either score at its own best cut, if costs were given.
    cost_interval
        Interval of cost_a − cost_b; every replicate chooses its cuts anew.
    """

    a: float
    b: float
    difference: float
    standard_error: float
    z: float
    p_value: float
    interval: Interval
    statistic: str
    method: str
    df: float = inf
    cost_a: float | None = None
    cost_b: float | None = None
    cost_interval: Interval | None = None

    def _facts(self) -> dict[str, str]:
        t = "z" if self.df == inf else f"t({self.df:.4g})"
        better = "better" if self.statistic == "auc" else "higher"
        facts = {
            self.statistic: f"a {self.a:.4f}, b {self.b:.4f}",
            "difference": _verdict(self.difference, self.interval, better),
            "test": f"{t} = {self.z:.3g}, p = {self.p_value:.2g} ({_WORDS[self.method]})",
        }
        if self.cost_a is not None and self.cost_b is not None and self.cost_interval is not None:
            facts["cost per case"] = f"a {self.cost_a:.4g}, b {self.cost_b:.4g}"
            facts["difference of costs"] = _verdict(
                self.cost_a - self.cost_b, self.cost_interval, "dearer"
            )
        return facts

    def __repr__(self) -> str:
        values, difference, test, *costs = self._facts().values()
        name = "" if self.statistic == "auc" else f"{self.statistic} "
        words = f"{name}{values}: {difference}, {test}"
        return f"{words}; cost per case {': '.join(costs)}" if costs else words

    def _repr_html_(self) -> str:
        return fact_table("Comparison", list(self._facts().items()))


@dataclass(frozen=True, eq=False, repr=False)
class AucCovariance(Frozen):
    """AUCs of several scores of the same rows, and DeLong's covariance matrix of them.

    Made by :func:`cutpoint.auc_covariance`.

    Parameters
    ----------
    auc
        The k AUCs.
    covariance
        Their k × k covariance matrix.
    names
        What the scores are called: the keys of a mapping, the columns of a frame, else 0, 1, …
    """

    auc: Floats
    covariance: Floats
    names: tuple[Any, ...]

    @property
    def standard_error(self) -> Floats:
        """The roots of the diagonal."""
        error: Floats = np.sqrt(np.diag(self.covariance))
        return error

    def _facts(self) -> list[tuple[str, str]]:
        columns = zip(self.names, self.auc.tolist(), self.standard_error.tolist(), strict=True)
        return [(str(name), f"{a:.4f} ± {error:.2g}") for name, a, error in columns]

    def __repr__(self) -> str:
        return "AUC ± standard error: " + ", ".join(f"{n} {value}" for n, value in self._facts())

    def _repr_html_(self) -> str:
        return fact_table("AUC ± standard error", self._facts())


@dataclass(frozen=True, eq=False, repr=False)
class GroupAuc(Frozen):
    """The AUC inside each group of rows, and three ways to make one number of them.

    Made by :func:`cutpoint.by_group`. A group of one class has no AUC (``nan``) and counts in none
    of the three; :attr:`covered` says how much of the data that leaves.

    Parameters
    ----------
    group
        The groups, in the order in which they first appear.
    P, N
        Mass of the positives and negatives in each: int64 counts, or float64 sums of weights.
    auc
        The AUC in each.
    """

    group: NDArray[Any]
    P: Masses
    N: Masses
    auc: Floats

    @property
    def pooled(self) -> float:
        """Σ U_g / Σ P_g N_g: the share of pairs inside a group that are ranked right."""
        both = self._both
        # Scaled by powers of two, since products of weights leave the floats.
        (p, up), (n, right) = np.frexp(self.P[both]), np.frexp(self.N[both])
        size = up + right
        return _mean(self.auc[both], np.ldexp(p * n, size - size.max()))

    @property
    def weighted(self) -> float:
        """Σ n_g AUC_g / Σ n_g with n_g = P_g + N_g: what advertising calls GAUC."""
        both = self._both
        return _mean(self.auc[both], (self.P + self.N)[both])

    @property
    def macro(self) -> float:
        """The plain mean of the groups' AUCs."""
        return float(self.auc[self._both].mean())

    @property
    def covered(self) -> float:
        """The share of the rows, or of their weight, that is in groups with both classes."""
        mass = self.P + self.N
        if not len(mass):
            raise UndefinedError("the share of rows that is covered needs rows; there are none.")
        return float(mass[~np.isnan(self.auc)].sum() / mass.sum())

    @property
    def _both(self) -> Bools:
        both: Bools = ~np.isnan(self.auc)
        if not both.any():
            raise UndefinedError(
                "the AUC inside groups needs a group with positives and negatives; "
                f"none of {len(self):,} has both. Group the rows more coarsely."
            )
        return both

    def __len__(self) -> int:
        return len(self.group)

    def _facts(self) -> dict[str, str]:
        both = int(np.count_nonzero(~np.isnan(self.auc)))
        facts = {"groups": f"{len(self):,}", "with both classes": f"{both:,}"}
        if both:
            mass = counted((self.P + self.N).sum())
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

    def _repr_html_(self) -> str:
        return fact_table("AUC inside groups", list(self._facts().items()))


def compare(  # noqa: PLR0913 - all but three are options
    y: Any,
    score_a: Any,
    score_b: Any,
    *,
    weight: Any = None,
    positive: Any = None,
    level: float = 0.95,
    method: Literal["delong", "bootstrap"] = "delong",
    statistic: Literal["auc"] | Statistic = "auc",
    costs: Costs | None = None,
    prior: float | None = None,
    groups: Any = None,
    n: int = 2000,
    seed: int = 0,
) -> Comparison:
    r"""Compare two scores of the same rows.

    DeLong's method compares AUCs. Each row has a placement, the share of the other class that the
    score ranks right against it; with :math:`D` the difference of a row's two placements,

    .. math:: \mathrm{se}^2 = \frac{S^2_+}{P} + \frac{S^2_-}{N}, \qquad
              z = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\mathrm{se}},

    where :math:`S^2` is the sample variance of D within a class. With weights a class of n rows
    counts as :math:`n_\mathrm{eff} = (\sum w)^2 / \sum w^2`.

    The bootstrap compares any statistic. Each replicate draws rows of each class with replacement,
    the same ones for both scores; or, with ``groups``, whole groups whatever their classes. The
    interval goes from percentile to percentile of the replicates' differences, and z divides by
    their standard deviation.

    Parameters
    ----------
    y, weight, positive
        As in :func:`cutpoint.sweep`.
    score_a, score_b
        The two scores of each row. They may be on different scales.
    level
        Confidence of the intervals.
    method
        ``"delong"`` or ``"bootstrap"``.
    statistic
        ``"auc"``, or for the bootstrap any function of a sweep that returns a number.
    costs
        Compare the expected cost per case as well, each score at its own best cut. Always by the
        bootstrap, and each replicate chooses its cuts anew.
    prior
        The prevalence to expect, for ``costs``.
    groups
        The unit each row belongs to (patient, user, session), where rows of one unit are not
        independent. For the bootstrap.
    n, seed
        Number of replicates, and the seed of their random numbers.

    Returns
    -------
    Comparison

    Raises
    ------
    UndefinedError
        If a class is missing; for DeLong's method, if a class has less than two rows; or if the
        scores differ but the difference doesn't vary, as between a perfect score and a constant
        one: the standard error is 0 then, which tells how little the rows can tell and not how sure
        the difference is. Scores that rank all pairs alike have z = 0 and p = 1.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach", Biometrics 44 (1988).
    https://doi.org/10.2307/2531595

    Examples
    --------
    >>> import cutpoint as cp
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> old, new = [7, 5, 6, 2, 4, 3, 6, 1], [9, 7, 8, 5, 2, 4, 6, 1]
    >>> cp.compare(y, new, old)
    a 0.9375, b 0.7188: a is better by 0.2188 [-0.04111, 0.4786] at 95 %, z = 1.65, p = 0.099
    (paired DeLong)
    >>> c = cp.compare(y, new, old, method="bootstrap", statistic=cp.average_precision)
    >>> c.difference, c.p_value < 0.5
    (0.202..., True)
    """
    measure = _measure(statistic, method)
    level = check_level(level)
    if prior is not None and costs is None:
        raise DataError("prior is the prevalence that costs are expected at; pass costs=... too.")
    if groups is not None and method == "delong":
        raise DataError(
            "DeLong's method takes rows as independent, and groups say that they are not. Use "
            'method="bootstrap".'
        )
    if costs is not None and not isinstance(costs, Costs):
        raise DataError(f"costs must be Costs(fp=..., fn=...); it is {shown(costs)}.")
    rows = _read(y, {"score_a": score_a, "score_b": score_b}, weight, positive)
    sampler = _Sampler(rows, groups, n, seed)
    whole = [s.sweep() for s in sampler.scores]
    whole[0].needs_both_classes("a comparison")
    a, b = map(measure, whole)
    name = getattr(statistic, "__name__", str(statistic))
    if method == "delong":
        differences = [(v[:1] - v[1:], w) for v, w in _placements(rows)]
        error = sqrt(_covariance(differences)[0, 0])
        result = _tested(a, b, error, level, statistic=name, method=method)
    else:
        difference = np.subtract(*sampler.replicates(measure).T)
        error = float(np.std(difference, ddof=1))
        result = _tested(a, b, error, level, statistic=name, method=method)
        result = replace(result, interval=percentiles(difference, level))
    if costs is None:
        return result

    def cost(s: Sweep) -> float:
        return choose(s, costs, prior=prior).value

    cost_a, cost_b = map(cost, whole)
    difference = np.subtract(*sampler.replicates(cost).T)
    return replace(
        result, cost_a=cost_a, cost_b=cost_b, cost_interval=percentiles(difference, level)
    )


def compare_unpaired(a: Sweep, b: Sweep, *, level: float = 0.95) -> Comparison:
    r"""Compare the AUCs of two sweeps of different rows.

    Welch's t-test with DeLong's variances :math:`v` of the two AUCs,

    .. math:: t = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\sqrt{v_a + v_b}}, \qquad
              \mathrm{df} = \frac{(v_a + v_b)^2}{v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)},

    where n is the number of rows of a sweep, as in pROC, or :math:`(\sum w)^2 / \sum w^2` of
    weighted rows. For two scores of the same rows use
    :func:`cutpoint.compare`, which knows that they vary together.

    Parameters
    ----------
    a, b
        Sweeps with at least two rows of each class. Weighted ones need squares:
        ``sweep(..., squares=True)``.
    level
        Confidence of the interval.

    Returns
    -------
    Comparison
        ``z`` is the t of the formula.

    Raises
    ------
    UndefinedError
        If a class has less than two rows; or if the AUCs differ but both variances are 0: see
        :func:`cutpoint.compare`.

    References
    ----------
    Robin et al., "pROC: an open-source package for R and S+ to analyze and compare ROC curves",
    BMC Bioinformatics 12 (2011). https://doi.org/10.1186/1471-2105-12-77

    Examples
    --------
    >>> import cutpoint as cp
    >>> a = cp.sweep([1, 1, 1, 0, 0, 0, 0], [7, 6, 3, 5, 4, 2, 1])
    >>> b = cp.sweep([1, 1, 0, 0, 0, 1], [6, 3, 5, 4, 2, 1])
    >>> cp.compare_unpaired(a, b)
    a 0.8333, b 0.4444: a is better by 0.3889 [-0.4529, 1.231] at 95 %, t(8.462) = 1.06, p = 0.32
    (unpaired DeLong, Welch's t)
    """
    level = check_level(level)
    v_a, v_b = auc_variance(a), auc_variance(b)
    v, df = v_a + v_b, inf
    if v > 0:
        df = v * v / (v_a * v_a / (_size(a) - 1) + v_b * v_b / (_size(b) - 1))
    return _tested(a.auc, b.auc, sqrt(v), level, statistic="auc", method="unpaired", df=df)


def _size(s: Sweep) -> float:
    """How many equally weighted rows say as much as a sweep's."""
    pos2, neg2 = s.squares("a comparison")
    return effective(s.P + s.N, pos2.sum() + neg2.sum())


def auc_covariance(
    y: Any, scores: Any, *, weight: Any = None, positive: Any = None
) -> AucCovariance:
    r"""DeLong's covariance matrix of the AUCs of several scores of the same rows.

    With :math:`V` the placements of :func:`cutpoint.compare` it is
    :math:`\Sigma = \mathrm{cov}(V_+) / P + \mathrm{cov}(V_-) / N`. Any contrast :math:`c` of the
    AUCs then has the variance :math:`c^\top \Sigma c`.

    Parameters
    ----------
    y, weight, positive
        As in :func:`cutpoint.sweep`. With weights a class of n rows counts as
        :math:`(\sum w)^2 / \sum w^2`.
    scores
        A mapping from names to columns, a frame, an array with a column for each score, or a
        sequence of columns.

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
    >>> import cutpoint as cp
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"new": [9, 7, 8, 5, 2, 4, 6, 1], "old": [7, 5, 6, 2, 4, 3, 6, 1]}
    >>> c = cp.auc_covariance(y, scores)
    >>> c
    AUC ± standard error: new 0.9375 ± 0.088, old 0.7188 ± 0.21
    >>> c.covariance.round(4)
    array([[0.0078, 0.0169],
           [0.0169, 0.0436]])

    """
    columns = _columns(scores)
    rows = _read(y, columns, weight, positive)
    auc = [_Score(s, rows).sweep().auc for s in rows.scores]
    return AucCovariance(np.array(auc), _covariance(_placements(rows)), tuple(columns))


def bootstrap_rows(  # noqa: PLR0913 - all but three are options
    y: Any,
    score: Any,
    statistic: Literal["auc"] | Statistic = "auc",
    *,
    weight: Any = None,
    groups: Any = None,
    positive: Any = None,
    n: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Bootstrap:
    """Bootstrap any statistic of a sweep from rows that have weights or come in groups.

    Each replicate draws rows of each class with replacement; a row takes its weight along. With
    ``groups`` it draws as many whole groups as there are, whatever their classes; a sample that
    lacks a class is drawn again. The interval goes from percentile to percentile.

    Parameters
    ----------
    y, score, weight, positive
        As in :func:`cutpoint.sweep`.
    statistic
        A function of a sweep that returns a number, or "auc".
    groups
        The unit each row belongs to (patient, user, session), where rows of one unit are not
        independent.
    n, seed
        Number of replicates, and the seed of their random numbers.
    level
        Confidence of the interval.

    Returns
    -------
    Bootstrap

    References
    ----------
    Field and Welsh, "Bootstrapping clustered data", Journal of the Royal Statistical Society B 69
    (2007). https://doi.org/10.1111/j.1467-9868.2007.00593.x

    Examples
    --------
    >>> import cutpoint as cp
    >>> y, score = [1, 1, 0, 1, 0, 0, 1, 0], [9, 8, 7, 6, 5, 4, 3, 2]
    >>> rows = cp.bootstrap_rows(3 * y, 3 * score, cp.auc)
    >>> patients = cp.bootstrap_rows(3 * y, 3 * score, cp.auc, groups=3 * list("abcdefgh"))
    >>> rows.estimate == patients.estimate, rows.interval.width < patients.interval.width
    (True, True)
    """
    level, measure = check_level(level), as_statistic(statistic)
    rows = _read(y, {"score": score}, weight, positive)
    sampler = _Sampler(rows, groups, n, seed)
    whole = sampler.scores[0].sweep()
    whole.needs_both_classes("a bootstrap of rows")
    replicates = sampler.replicates(measure)[:, 0]
    return Bootstrap(as_number(measure(whole)), replicates, percentiles(replicates, level))


def by_group(
    y: Any, score: Any, group: Any, *, weight: Any = None, positive: Any = None
) -> GroupAuc:
    r"""The AUC inside each group: only pairs of rows of the same group are compared.

    For scores that rank the items of one user, query or session, and are never compared between
    two of them. The groups' AUCs are exact, as :attr:`Sweep.auc` is.

    Parameters
    ----------
    y, score, weight, positive
        As in :func:`cutpoint.sweep`.
    group
        The group each row belongs to: numbers, text, dates, or anything else that can be told
        apart.

    Returns
    -------
    GroupAuc

    References
    ----------
    Zhu et al., "Optimized cost per click in Taobao display advertising", KDD (2017).
    https://doi.org/10.1145/3097983.3098134

    Examples
    --------
    >>> import cutpoint as cp
    >>> user = ["ann", "ann", "ann", "bob", "bob", "eve"]
    >>> g = cp.by_group([1, 0, 0, 1, 0, 1], [0.9, 0.3, 0.2, 0.4, 0.6, 0.8], user)
    >>> g
    GroupAuc of 3 groups: 2 have both classes (83.3 % of 6 rows), AUC 0.666667 pooled, 0.6 weighted,
    0.5 macro
    >>> g.auc
    array([ 1.,  0., nan])
    """
    rows = _read(y, {"score": score}, weight, positive)
    label, code = _encoded(group, "group", rows)
    cell = 2 * code + rows.ones
    neg, pos = mass = np.bincount(cell, rows.weight, 2 * len(label)).reshape(-1, 2).T
    if rows.weight is None:
        part: Masses = np.ones(len(code), np.int64)
    else:
        # Weights as whole parts of their class in their group. Integers add up exactly, and may
        # wrap around in the running sum over all groups: the differences are right all the same.
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
    if rows.weight is not None:
        above, p, q = above.astype(np.float64), p.astype(np.float64), q.astype(np.float64)
    right = np.add.reduceat(q * (2 * above + p), start)  # twice the pairs
    pairs = 2 * np.add.reduceat(p, start) * np.add.reduceat(q, start)
    auc = np.full(len(label), np.nan)
    np.divide(right, pairs, out=auc, where=pairs > 0)
    return GroupAuc(label, pos, neg, np.minimum(auc, 1.0))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of positive weight: which of them are positives, their scores, their weights."""

    ones: Bools
    scores: list[Floats]
    weight: Floats | None
    kept: Bools
    """Which they are of the rows that came in."""


def _read(y: Any, scores: Mapping[Any, Any], weight: Any, positive: Any) -> _Rows:
    """Rows as :func:`cutpoint.sweep` reads them, one score after the other."""
    columns = []
    for name, score in scores.items():
        try:
            rows = check_rows(y, score, weight, positive)
            area(rows)  # the core finds what is wrong with single rows
        except DataError as error:
            if len(scores) == 1:
                raise
            raise DataError(f"with {name}: {error}") from None
        columns.append(rows.score.astype(np.float64) + 0.0)  # and -0.0 becomes 0.0
    ones: Bools = rows.label == rows.positive
    if rows.weight is None:
        return _Rows(ones, columns, None, np.ones(len(ones), np.bool_))
    check_totals(rows.weight[ones], rows.weight[~ones])
    kept = rows.weight > 0
    w = rows.weight[kept].astype(np.float64)
    return _Rows(ones[kept], [s[kept] for s in columns], w, kept)


def _columns(scores: Any) -> dict[Any, Any]:
    """Several scores by name, or by number where they have none."""
    if isinstance(scores, Mapping):
        columns = dict(scores)
    elif type(scores).__name__ == "DataFrame":
        columns = {name: scores[name] for name in scores.columns}
    elif isinstance(scores, (list, tuple)):
        columns = dict(enumerate(scores))
    else:
        a = array_of(scores, "scores")
        if a.ndim != 2:
            raise DataError(
                "scores must have a column for each score; they have the shape "
                f"{a.shape}. Pass a list of columns."
            )
        columns = dict(enumerate(a.T))
    if not columns:
        raise DataError("there must be at least one score; there is none.")
    return columns


def _encoded(values: Any, name: str, rows: _Rows) -> tuple[NDArray[Any], Ints]:
    """The different values of a column in the order of their appearance, and each row's number."""
    a = vector(values, name)
    if len(a) != len(rows.kept):
        raise DataError(
            f"there must be one {name} for each score; there are {len(a):,} {name}s and "
            f"{len(rows.kept):,} scores. Pass columns of the same rows."
        )
    if a.dtype.kind in "biufmM":
        missing = np.isnan(a)
        if missing.any():
            _refuse_missing(name, int(missing.argmax()), a[missing][0])
        label, first, code = np.unique(a[rows.kept], return_index=True, return_inverse=True)
        rank = np.argsort(first)
        return label[rank], np.argsort(rank)[code]
    # By hash: text takes long to sort, and other objects may have no order.
    listed = a.tolist()
    try:
        seen = dict.fromkeys(listed)
    except TypeError:
        raise DataError(
            f"{name}s must be plain values, numbers or text; these are {shown(listed)}."
        ) from None
    row = missing_row(listed, seen)
    if row is not None:
        _refuse_missing(name, row, listed[row])
    if not rows.kept.all():
        listed = list(compress(listed, rows.kept))
        seen = dict.fromkeys(listed)
    number = {value: i for i, value in enumerate(seen)}
    label = np.fromiter(number, a.dtype if a.dtype.kind in "SU" else object, len(number))
    return label, np.fromiter(map(number.__getitem__, listed), np.int64, len(listed))


def _refuse_missing(name: str, row: int, value: Any) -> NoReturn:
    raise DataError(
        f"{name}[{row}] is missing ({shown(value)}). Drop such rows, or give them a {name} of "
        "their own."
    )


class _Score:
    """One score of rows, sorted once: a sweep of any sample of them is a count."""

    def __init__(self, score: Floats, rows: _Rows) -> None:
        ascending, at = np.unique(score, return_inverse=True)
        m = len(ascending)
        self.threshold = ascending[::-1]
        self.cell = m - 1 - at + m * rows.ones  # negatives first, then positives
        self.weight = rows.weight

    def sweep(self, drawn: Ints | slice = slice(None)) -> Sweep:
        """The sweep of some rows, each as often as it is drawn."""
        weight = None if self.weight is None else self.weight[drawn]
        mass = np.bincount(self.cell[drawn], weight, 2 * len(self.threshold)).reshape(2, -1)
        seen = mass.any(axis=0)
        neg, pos = mass[:, seen]
        return Sweep(self.threshold[seen], pos, neg)


class _Sampler:
    """Bootstrap samples of rows, the same ones for every score and every statistic."""

    def __init__(self, rows: _Rows, groups: Any, n: int, seed: int) -> None:
        self.rows, self.n, self.seed = rows, check_samples(n), check_seed(seed)
        self.scores = [_Score(s, rows) for s in rows.scores]
        self.unit = None if groups is None else _encoded(groups, "group", rows)[1]

    def replicates(self, statistic: Statistic) -> Floats:
        """The statistic in each sample, a column for each score."""
        out = np.empty((self.n, len(self.scores)))
        for r, drawn in enumerate(self._samples()):
            out[r] = [as_number(statistic(score.sweep(drawn))) for score in self.scores]
        return out

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


def _placements(rows: _Rows) -> list[tuple[Floats, Floats]]:
    """For each class: the placements, a line for each score, and the weights of its rows.

    A placement is the share of the other class that the score ranks right against this row, ties
    counting one half: V₁₀ of a positive, V₀₁ of a negative.
    """
    weight = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
    out = []
    for own, sign in ((rows.ones, 1.0), (~rows.ones, -1.0)):
        v = [_share_below(sign * s[own], sign * s[~own], weight[~own]) for s in rows.scores]
        out.append((np.stack(v), weight[own] / weight[own].max()))  # they will be squared
    return out


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """P(other < score) + ½ P(other = score) for each score."""
    order = np.argsort(others, kind="stable")
    mass = np.concatenate(([0.0], np.cumsum(weight[order])))
    less, upto = (mass[np.searchsorted(others[order], score, side)] for side in ("left", "right"))
    share: Floats = (less + upto) / (2 * mass[-1])
    return share


def _covariance(classes: list[tuple[Floats, Floats]]) -> Floats:
    """Covariance matrix of the means of placements: the sum of what each class adds."""
    k = len(classes[0][0])
    out = np.zeros((k, k))
    for (v, w), name in zip(classes, ("positive", "negative"), strict=True):
        # n_eff / (n_eff − 1) / W² with n_eff = W² / Σw²: 1 / n (n − 1) for equal weights.
        square = w.sum() ** 2
        pairs = square - (w * w).sum()
        if not pairs > 1e-9 * square:
            raise UndefinedError(
                f"DeLong's variance needs at least 2 rows of each class; the {name}s are 1 row, or "
                "1 has nearly all of their weight."
            )
        d = w * (v - np.average(v, axis=1, weights=w)[:, None])
        # Not d @ d.T: its rounding depends on the threads of the BLAS.
        out += [[np.sum(x * y) / pairs for x in d] for y in d]
    return out


def _tested(  # noqa: PLR0913 - what a test needs
    a: float,
    b: float,
    error: float,
    level: float,
    *,
    statistic: str,
    method: str,
    df: float = inf,
) -> Comparison:
    """The z or t test of a difference with a standard error."""
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    difference, size = a - b, max(abs(a), abs(b))
    if error > 1e-14 * size:
        z = difference / error
    elif abs(difference) > 1e-12 * size:
        raise UndefinedError(
            f"the difference between a = {a:.6g} and b = {b:.6g} doesn't vary over these rows, so "
            "they can't tell how sure it is. Get rows on which the better one makes mistakes."
        )
    else:  # nothing but rounding
        difference = error = z = 0.0
    if df == inf:
        tail, reach = ndtr(-abs(z)), ndtri((1 + level) / 2) * error
    else:
        tail, reach = stdtr(df, -abs(z)), stdtrit(df, (1 + level) / 2) * error
    interval = Interval(float(difference - reach), float(difference + reach), level)
    return Comparison(a, b, difference, error, z, float(2 * tail), interval, statistic, method, df)


def _measure(statistic: Any, method: str) -> Statistic:
    """The statistic as a function, provided that the method can compare it."""
    if method not in ("delong", "bootstrap"):
        raise DataError(f'method must be "delong" or "bootstrap"; it is {shown(method)}.')
    measure = as_statistic(statistic)
    if method == "delong" and measure is not auc:
        raise DataError(
            'DeLong\'s method compares AUCs; the statistic is a function. Use method="bootstrap".'
        )
    return measure


def _mean(values: Floats, weight: Masses) -> float:
    share = weight / weight.max()  # denormal weights would be rounded
    return float(np.sum(values * share) / np.sum(share))


def _verdict(difference: float, interval: Interval, word: str) -> str:
    """Which of a and b is more of something, and by how much."""
    low, high = interval
    who = f"a is {word} by"
    if difference < 0:
        difference, low, high, who = -difference, -high, -low, f"b is {word} by"
    elif difference == 0:
        who = "no difference:"
    return f"{who} {difference:.4g} [{low:.4g}, {high:.4g}] at {100 * interval.level:g} %"
