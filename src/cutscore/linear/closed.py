"""Learners in closed form: all that they ask of the rows is one ``ClassMoments``.

Mean difference aside, they solve one system, S v = δ with the scatter S within the classes and the
difference δ of their means, and differ in the length of w and in b. S is brought to a unit diagonal
first, so units of the columns, 1e-8 or 1e8, change neither what is solved nor its rank.

Rank is what the moments can tell. A direction with less than 1e-12 of the variance of the widest
one, in these units, has none: sums of squares in float64 resolve no less. There

- if the classes don't differ along it either, w has no part in it (the least norm, in these units);
- if they do, it separates the classes perfectly. Fisher's ratio is infinite then, and w lies
  in such directions alone. So would be the log odds of :func:`gaussian`, which takes the 1e-12 for
  the variance there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.linear.line import ClassesFit, Discriminants, Fit, LinearDetector
from cutscore.linear.moments import ClassMoments
from cutscore.linear.rows import Flags, Floats, Rows, one_thread_blas
from cutscore.measures.prior import log_odds

__all__ = [
    "fisher",
    "gaussian",
    "gaussian_classes",
    "least_squares",
    "least_squares_classes",
    "mean_difference",
    "shrinkage_of",
]

_RANK = 1e-12
# The part of δ in directions without variance, as a share of its square, that is no rounding: the
# directions themselves are known to about 1e-5.
_APART = 1e-8
# A column that varies by less than this share of its size holds rounding errors.
_EQUAL = 8 * np.finfo(np.float64).eps


def mean_difference(data: ClassMoments | Rows) -> Fit:
    """Linear classifier through the midpoint of the class means: w = μ₊ − μ₋.

    Parameters
    ----------
    data : ClassMoments or Rows
        Rows, or their moments (without scatter).

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import mean_difference
    >>> m = cs.ClassMoments.from_arrays([[0.0, 1], [2, 1], [4, 5], [6, 9]], [0, 0, 1, 1])
    >>> mean_difference(m).detector
    LinearDetector(w=[4, 6], b=-36)
    """
    m = _moments(data, "the mean difference", scatter=False)
    return _through(m, m.offset[1] - m.offset[0], 0.0)


def least_squares(data: ClassMoments | Rows, *, alpha: float = 0.0) -> Fit:
    """Least-squares linear classifier for the targets −1 and 1.

    w, b = argmin Σ weight·(target − w·x − b)² + alpha·‖w‖². If the solution is not unique
    (collinear columns, or more columns than rows), w is the one of minimum norm, in units of the
    columns' standard deviations within the classes.

    Parameters
    ----------
    data : ClassMoments or Rows
        Rows, or their moments.
    alpha : float, default 0.0
        The ridge penalty on w, at least 0; b is not penalised. It depends on the units of the
        columns; standardise them first.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import least_squares
    >>> m = cs.ClassMoments.from_arrays([[0.0], [2], [4], [6]], [0, 0, 1, 1])
    >>> least_squares(m).detector
    LinearDetector(w=[0.4], b=-1.2)
    >>> least_squares(m, alpha=20).detector
    LinearDetector(w=[0.2], b=-0.6)
    """
    ridge = _ridge(alpha)
    m = _moments(data, "least squares")
    v = _solve(_add_ridge(m.within, ridge), m)
    # With T = S + κ·δδᵀ the total scatter, T w = 2κ·δ has the solution 2κ·v / (1 + κ·δ·v), and
    # 2·v / (δ·v) if S v = 0.
    negatives, positives = m.weight.tolist()
    share = negatives / (negatives + positives)
    kappa = share * positives
    reach = float((m.offset[1] - m.offset[0]) @ v.v)
    length = 2 / reach if v.exact else 2 * kappa / (1 + kappa * reach)
    return _line(m, length * v.v, m.offset[0] * share + m.offset[1] * (1 - share), 1 - 2 * share)


def gaussian(
    data: ClassMoments | Rows,
    *,
    shrinkage: float | str | None = None,
    prior: float | None = None,
) -> Fit:
    """The Bayesian discriminant of two normal distributions with the same covariance Σ.

    Its score is the log of the posterior odds: w = Σ⁻¹(μ₊ − μ₋), and b = −w·(μ₊ + μ₋)/2 + ln clr
    with the prior odds clr. Means and Σ (the scatter divided by the total weight) are
    maximum-likelihood estimates. If a column or a linear combination is constant within each class
    but differs between them, the log odds would be infinite; they are of the order of 1e12.

    Parameters
    ----------
    data : ClassMoments or Rows
        Rows, or their moments.
    shrinkage : float or "auto", optional
        None: Σ as it is. A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ); 1 assumes independent
        columns. ``"auto"``: the s of :func:`shrinkage_of`. The result does not depend on the units
        of the columns.
    prior : float, optional
        The prevalence where decisions are made. Default: the prevalence of the rows.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import gaussian
    >>> m = cs.ClassMoments.from_arrays([[0.0], [2], [4], [6]], [0, 0, 1, 1])
    >>> gaussian(m).detector
    LinearDetector(w=[4], b=-12)
    >>> gaussian(m, prior=0.01).detector
    LinearDetector(w=[4], b=-16.6)
    """
    m = _moments(data, "the Gaussian discriminant")
    odds = float(np.log(m.weight[1]) - np.log(m.weight[0])) if prior is None else log_odds(prior)
    v = _solve(_shrink(m, shrinkage), m, floor=True)
    return _through(m, v.v * m.weight.sum(), odds)


def gaussian_classes(
    m: ClassMoments, *, shrinkage: float | str | None = None, prior: Floats | None = None
) -> ClassesFit:
    """The Bayesian discriminant of K normal distributions with the same covariance Σ.

    g_k = ln π_k − ½ (x − μ_k)·Σ⁻¹(x − μ_k), up to terms common to all classes. With the mean c of
    all rows, w_k = Σ⁻¹(μ_k − c) and g_k(c) = ln π_k − ½ w_k·(μ_k − c). Differences of two of them
    are log posterior odds. One system with K right-hand sides is solved.

    Parameters
    ----------
    m : ClassMoments
        The moments of the K classes.
    shrinkage : float or "auto", optional
        Of Σ, as for :func:`gaussian`.
    prior : array of float, optional
        The share of each class where decisions are made. Default: the shares in the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.closed import gaussian_classes
    >>> X, y = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]]), np.repeat([0, 1, 2], 2)
    >>> fit = gaussian_classes(cs.ClassMoments.of_rows(ArrayRows(X, y), classes=3))
    >>> fit.discriminants.W.ravel().tolist()
    [-4.0, 0.0, 4.0]
    >>> fit.discriminants.scores(np.array([[3.0]])).argmax()  # half-way between the first two
    np.int64(0)
    """
    m.needs_both_classes("the Gaussian discriminant")
    share = m.weight / m.weight.sum()
    centre, apart = _mean_offsets(m)
    w = _solve(_shrink(m, shrinkage), m, apart, floor=True).v * m.weight.sum()
    at = np.log(share if prior is None else prior) - 0.5 * np.sum(w * apart, axis=0)
    return _discriminants(m, w, centre, at)


def least_squares_classes(m: ClassMoments, *, alpha: float = 0.0) -> ClassesFit:
    """K least-squares discriminants, each with the target 1 for its class and −1 for the others.

    This is the regression on one-hot targets, times 2, minus 1. All K share the same matrix, the
    total scatter: one system with K right-hand sides. If the solution is not unique, each is the
    one of minimum norm, in units of the columns' standard deviations.

    Parameters
    ----------
    m : ClassMoments
        The moments of the K classes.
    alpha : float, default 0.0
        The ridge penalty, as for :func:`least_squares`.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.closed import least_squares_classes
    >>> X, y = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]]), np.repeat([0, 1, 2], 2)
    >>> fit = least_squares_classes(cs.ClassMoments.of_rows(ArrayRows(X, y), classes=3))
    >>> fit.discriminants.scores(np.array([[5.0]])).sum().round(9)  # of one-hot targets 1: 2·1 − 3
    np.float64(-1.0)
    """
    ridge = _ridge(alpha)
    m.needs_both_classes("least squares")
    share = m.weight / m.weight.sum()
    centre, apart = _mean_offsets(m)
    total = m.within + (apart * m.weight) @ apart.T
    w = _solve(_add_ridge(total, ridge), m, apart, floor=True).v * (2 * m.weight)
    return _discriminants(m, w, centre, 2 * share - 1)


def _ridge(alpha: float) -> float:
    ridge = number(alpha)
    if not 0 <= ridge < np.inf:
        raise DataError(BadArgument("alpha", "be finite and at least 0", alpha))
    return ridge


def _add_ridge(scatter: Floats, ridge: float) -> Floats:
    return scatter + np.diag(np.full(len(scatter), ridge)) if ridge else scatter


def _mean_offsets(m: ClassMoments) -> tuple[Floats, Floats]:
    """The mean of all rows, from the origin of the moments, and the way from there to the mean of
    each class, a column each."""
    centre = m.weight / m.weight.sum() @ m.offset
    return centre, np.asarray((m.offset - centre).T)


def _discriminants(m: ClassMoments, w: Floats, point: Floats, score: Floats) -> ClassesFit:
    """The functions that have these scores at a point, given from the origin of the moments."""
    return ClassesFit(Discriminants(w.T, score - m.origin @ w - point @ w))


def fisher(data: ClassMoments | Rows, *, shrinkage: float | str | None = None) -> Fit:
    """Fisher's discriminant: w = Σ⁻¹(μ₊ − μ₋), with the threshold midway between the projected
    class means.

    w maximises (w·μ₊ − w·μ₋)² / w·Σw, the ratio of between-class to within-class variance. If that
    is infinite, as with more columns than rows, the means have the scores 1 and −1.

    Parameters
    ----------
    data : ClassMoments or Rows
        Rows, or their moments.
    shrinkage : float or "auto", optional
        Of Σ, as for :func:`gaussian`.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import fisher
    >>> m = cs.ClassMoments.from_arrays([[0.0, 5], [2, 5], [4, 5], [6, 5]], [0, 0, 1, 1])
    >>> fisher(m).detector
    LinearDetector(w=[4, 0], b=-12)
    """
    m = _moments(data, "Fisher's discriminant")
    v = _solve(_shrink(m, shrinkage), m)
    if v.exact:
        return _through(m, v.v * (2 / float((m.offset[1] - m.offset[0]) @ v.v)), 0.0)
    return _through(m, v.v * m.weight.sum(), 0.0)


def shrinkage_of(m: ClassMoments) -> float:
    """The shrinkage of the within-class correlations: oracle approximating shrinkage [1]_.

    Ledoit and Wolf's estimate needs fourth moments of the rows. This one assumes normal rows, as
    the discriminant does, and needs only the correlations R of the d columns and the total weight
    n: s = (tr R² / d² + 1) / ((n + 1)(tr R² / d² − 1/d)), at most 1.

    References
    ----------
    .. [1] Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero: Shrinkage algorithms for MMSE covariance
       estimation, IEEE Transactions on Signal Processing 58 (2010), doi:10.1109/TSP.2010.2053029.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import shrinkage_of
    >>> X = np.random.default_rng(0).standard_normal((40, 20))
    >>> round(shrinkage_of(cs.ClassMoments.from_arrays(X, np.arange(40) % 2)), 3)
    0.935
    """
    scale = np.sqrt(m.within.diagonal())
    there = ~_constant_columns(m, scale)
    d = int(np.count_nonzero(there))
    if not d:
        return 1.0
    scaled = m.within[np.ix_(there, there)] / scale[there] / scale[there][:, None]
    mean_square = float(np.mean(scaled * scaled))
    below = (float(m.weight.sum()) + 1) * (mean_square - 1 / d)
    return min((mean_square + 1) / below, 1.0) if below > 0 else 1.0


class _Solution(NamedTuple):
    v: Floats
    exact: bool
    """S v = 0: v separates the classes perfectly."""


def _moments(data: ClassMoments | Rows, what: str, scatter: bool = True) -> ClassMoments:
    m = data if isinstance(data, ClassMoments) else ClassMoments.of_rows(data, scatter=scatter)
    m.needs_both_classes(what)
    return m


def _constant_columns(m: ClassMoments, scale: Floats) -> Flags:
    """Whether columns of these √S hold one value in each class, but for rounding."""
    return np.asarray(scale <= _EQUAL * _size(m) * np.sqrt(m.weight.sum()))


def _size(m: ClassMoments) -> Floats:
    return np.asarray(np.maximum(np.abs(m.mean).max(0), np.abs(m.offset).max(0)))


def _shrink(m: ClassMoments, shrinkage: float | str | None) -> Floats:
    """The scatter within classes, its off-diagonal entries times 1 − shrinkage."""
    if shrinkage is None:
        return m.within
    auto = isinstance(shrinkage, str) and shrinkage == "auto"
    s = shrinkage_of(m) if auto else number(shrinkage)
    if not 0 <= s <= 1:
        rule = "be None, 'auto' or a number from 0 to 1"
        raise DataError(BadArgument("shrinkage", rule, shrinkage))
    out = m.within * (1 - s)
    np.fill_diagonal(out, m.within.diagonal())
    return out


def _solve(
    scatter: Floats, m: ClassMoments, delta: Floats | None = None, *, floor: bool = False
) -> _Solution:
    """v with S v = δ, the shortest in units of the columns' deviations. δ is the difference of the
    two means, or a column for each right-hand side.

    If there is none: v with S v = 0 and δ·v > 0; or, with a floor, S v = δ for an S that has the
    least variance that differs from 0 numerically wherever it has less.
    """
    if delta is None:
        one = _solve(scatter, m, (m.offset[1] - m.offset[0])[:, None], floor=floor)
        return _Solution(one.v[:, 0], one.exact)
    scale = np.sqrt(scatter.diagonal())
    flat = _constant_columns(m, scale)
    # A column that is flat within the classes and not between them: any unit will do.
    scale = np.where(flat, np.abs(delta).max(axis=1), scale)
    used = scale > np.where(flat, _EQUAL * _size(m), 0.0)
    v = np.zeros(delta.shape)
    if not used.any():
        return _Solution(v, False)
    s = scale[used]
    # Flat columns have exactly no variance in these units, but may have roundings of it.
    unit = scatter[np.ix_(used, used)] / s / s[:, None]
    unit[flat[used]] = 0
    unit[:, flat[used]] = 0
    wanted = delta[used] / s[:, None]
    # Exactly symmetric again: two divisions round by their order.
    with one_thread_blas():  # or its rounding would depend on the number of threads
        values, axes = np.linalg.eigh((unit + unit.T) / 2)
    along = axes.T @ wanted
    least = _RANK * (values[-1] if values[-1] > 0 else 1.0)
    wide = values > least
    narrow = np.where(wide[:, None], 0.0, along)
    exact = bool(np.any(np.sum(narrow**2, axis=0) > _APART * np.sum(along**2, axis=0)))
    if exact and not floor:
        v[used] = (axes @ narrow) / s[:, None]
    else:
        unit_v = (along if exact else along - narrow) / np.maximum(values, least)[:, None]
        v[used] = (axes @ unit_v) / s[:, None]
    return _Solution(v, exact)


def _through(m: ClassMoments, w: Floats, at: float) -> Fit:
    """The line that has the score ``at`` half-way between the means."""
    return _line(m, w, (m.offset[0] + m.offset[1]) / 2, at)


def _line(m: ClassMoments, w: Floats, point: Floats, score: float) -> Fit:
    """The line that has a score at a point, given from the origin of the moments."""
    return Fit(LinearDetector(w, score - float(w @ m.origin) - float(w @ point)))
