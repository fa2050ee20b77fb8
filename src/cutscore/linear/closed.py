"""Learners in closed form: all that they ask of the rows is one ``ClassMoments``.

Mean difference aside, they solve one system, S v = δ with the scatter S within the classes and the
difference δ of their means, and differ in the length of w and in b. S is brought to a unit diagonal
first, so units of the columns, 1e-8 or 1e8, change neither what is solved nor its rank.

Rank is what the moments can tell. A direction with less than 1e-12 of the variance of the widest
one, in these units, has none: sums of squares in float64 resolve no less. There

- if the classes don't differ along it either, w has no part in it (the least norm, in these units);
- if they do, it tells the classes apart without error. Fisher's ratio is infinite then, and w lies
  in such directions alone. So would be the log odds of :func:`gaussian`, which takes the 1e-12 for
  the variance there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutscore._check import number, shown
from cutscore._rows import Flags, Floats, Rows, one_thread_blas
from cutscore.errors import DataError
from cutscore.linear.detector import Fit, LinearDetector
from cutscore.moments import ClassMoments
from cutscore.objectives import log_odds

__all__ = ["fisher", "gaussian", "least_squares", "mean_difference", "shrinkage_of"]

_RANK = 1e-12
# The part of δ in directions without variance, as a share of its square, that is no rounding: the
# directions themselves are known to about 1e-5.
_APART = 1e-8
# A column that varies by less than this share of its size holds rounding errors.
_EQUAL = 8 * np.finfo(np.float64).eps


def mean_difference(data: ClassMoments | Rows) -> Fit:
    """The line half-way between the means of the classes: w = μ₊ − μ₋.

    Parameters
    ----------
    data
        Rows, or their moments; these need no scatter.

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
    """The line of least squares for the targets −1 and 1.

    w, b = argmin Σ weight·(target − w·x − b)² + alpha·‖w‖². Where more than one line is best
    (columns depend on each other, or there are more of them than rows), w is the shortest in units
    of the columns' standard deviations within the classes.

    Parameters
    ----------
    data
        Rows, or their moments.
    alpha
        At least 0: what w costs, b being free. It is in units of the columns; scale these first.

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
    ridge = number(alpha)
    if not 0 <= ridge < np.inf:
        raise DataError(f"alpha must be finite and at least 0; it is {shown(alpha)}.")
    m = _moments(data, "least squares")
    scatter = m.within
    if ridge:
        scatter = scatter + np.diag(np.full(m.features, ridge))
    v = _solve(scatter, m)
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
    with the prior odds clr. Means and Σ (the scatter by the mass of all rows) are those of maximum
    likelihood. Where columns or combinations of them have one value in each class, and not the
    same, log odds would be infinite; they are of the order of 1e12.

    Parameters
    ----------
    data
        Rows, or their moments.
    shrinkage
        None: Σ as it is. A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ), which at 1 takes the
        columns for independent. ``"auto"``: the s of :func:`shrinkage_of`. Units of the columns
        don't matter.
    prior
        The share of positives where the detector is used. None is that of the rows.

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
    v = _solve(_shrunk(m, shrinkage), m, floor=True)
    return _through(m, v.v * m.weight.sum(), odds)


def fisher(data: ClassMoments | Rows, *, shrinkage: float | str | None = None) -> Fit:
    """Fisher's discriminant: w = Σ⁻¹(μ₊ − μ₋), with its threshold half-way between the means of
    w·x of the classes.

    w maximises (w·μ₊ − w·μ₋)² / w·Σw, the distance of the classes by their width. Where that is
    infinite, as with more columns than rows, the means have the scores 1 and −1.

    Parameters
    ----------
    data
        Rows, or their moments.
    shrinkage
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
    v = _solve(_shrunk(m, shrinkage), m)
    if v.exact:
        return _through(m, v.v * (2 / float((m.offset[1] - m.offset[0]) @ v.v)), 0.0)
    return _through(m, v.v * m.weight.sum(), 0.0)


def shrinkage_of(m: ClassMoments) -> float:
    """How far to shrink the correlations within classes: oracle approximating shrinkage [1]_.

    Where Ledoit and Wolf's estimate needs fourth moments of the rows, this one takes the rows for
    normal, as the discriminant does, and needs the correlations R of d columns and the mass n only:
    s = (tr R² / d² + 1) / ((n + 1)(tr R² / d² − 1/d)), at most 1.

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
    there = ~_flat(m, scale)
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
    """S v = 0: v tells the classes apart without error."""


def _moments(data: ClassMoments | Rows, what: str, scatter: bool = True) -> ClassMoments:
    m = data if isinstance(data, ClassMoments) else ClassMoments.of_rows(data, scatter=scatter)
    m.needs_both_classes(what)
    return m


def _flat(m: ClassMoments, scale: Floats) -> Flags:
    """Whether columns of these √S hold one value in each class, but for rounding."""
    return np.asarray(scale <= _EQUAL * _size(m) * np.sqrt(m.weight.sum()))


def _size(m: ClassMoments) -> Floats:
    return np.asarray(np.maximum(np.abs(m.mean).max(0), np.abs(m.offset).max(0)))


def _shrunk(m: ClassMoments, shrinkage: float | str | None) -> Floats:
    """The scatter within classes, its off-diagonal entries times 1 − shrinkage."""
    if shrinkage is None:
        return m.within
    auto = isinstance(shrinkage, str) and shrinkage == "auto"
    s = shrinkage_of(m) if auto else number(shrinkage)
    if not 0 <= s <= 1:
        raise DataError(
            f"shrinkage must be None, 'auto' or a number from 0 to 1; it is {shown(shrinkage)}."
        )
    out = m.within * (1 - s)
    np.fill_diagonal(out, m.within.diagonal())
    return out


def _solve(scatter: Floats, m: ClassMoments, *, floor: bool = False) -> _Solution:
    """v with S v = δ, the shortest in units of the columns' deviations.

    If there is none: v with S v = 0 and δ·v > 0; or, with a floor, S v = δ for an S that has the
    least variance which can be told from 0 wherever it has less.
    """
    delta = m.offset[1] - m.offset[0]
    scale = np.sqrt(scatter.diagonal())
    flat = _flat(m, scale)
    # A column that is flat within the classes and not between them: any unit will do.
    scale = np.where(flat, np.abs(delta), scale)
    used = scale > np.where(flat, _EQUAL * _size(m), 0.0)
    v = np.zeros(m.features)
    if not used.any():
        return _Solution(v, False)
    s = scale[used]
    # Flat columns have exactly no variance in these units, but may have roundings of it.
    unit = scatter[np.ix_(used, used)] / s / s[:, None]
    unit[flat[used]] = 0
    unit[:, flat[used]] = 0
    wanted = delta[used] / s
    # Exactly symmetric again: two divisions round by their order.
    with one_thread_blas():  # or its rounding would depend on the number of threads
        values, axes = np.linalg.eigh((unit + unit.T) / 2)
    along = axes.T @ wanted
    least = _RANK * (values[-1] if values[-1] > 0 else 1.0)
    wide = values > least
    narrow = np.where(wide, 0.0, along)
    exact = bool(narrow @ narrow > _APART * (along @ along))
    if exact and not floor:
        v[used] = (axes @ narrow) / s
    else:
        v[used] = (axes @ ((along if exact else along - narrow) / np.maximum(values, least))) / s
    return _Solution(v, exact)


def _through(m: ClassMoments, w: Floats, at: float) -> Fit:
    """The line that has the score ``at`` half-way between the means."""
    return _line(m, w, (m.offset[0] + m.offset[1]) / 2, at)


def _line(m: ClassMoments, w: Floats, point: Floats, score: float) -> Fit:
    """The line that has a score at a point, given from the origin of the moments."""
    return Fit(LinearDetector(w, score - float(w @ m.origin) - float(w @ point)))
