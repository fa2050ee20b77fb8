"""Points on the ROC curve by name: the sensitivity at a fixed specificity, and the reverse."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.inference.placements import sizes_of
from cutscore.measures.confusion import Confusion
from cutscore.measures.prior import check_level
from cutscore.sweeps.curves import from_zero
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

# Points of the curve that are tried to either side of the fixed rate.
_STEPS = 20
_ROUNDS = 8  # of Newton's method


@dataclass(frozen=True, slots=True, repr=False)
class CurvePoint(Card):
    """One rate at a fixed value of the other; made by :func:`cutscore.sensitivity_at` and
    :func:`cutscore.specificity_at`.

    Parameters
    ----------
    measure : str
        ``"sensitivity"`` or ``"specificity"``.
    value : float
        The rate on the ROC curve of these rows, interpolated linearly between its points.
    low, high, level : float
        Its confidence interval.
    fixed : float
        The fixed rate: the specificity or the sensitivity.
    threshold : float
        The threshold with at least the fixed rate on these rows and the highest value of the other
        rate.
    confusion : Confusion
        The confusion matrix of that threshold on these rows.
    """

    measure: str
    value: float
    low: float
    high: float
    level: float
    fixed: float
    threshold: float
    confusion: Confusion

    @property
    def interval(self) -> Interval:
        """The confidence interval as an :class:`cutscore.Interval`."""
        return Interval(self.low, self.high, self.level)

    def __repr__(self) -> str:
        estimate = estimate_text(self.value, self.interval)
        other = "specificity" if self.measure == "sensitivity" else "sensitivity"
        c = self.confusion
        return (
            f"{self.measure} {estimate} at {other} "
            f"{self.fixed:g}; score ≥ {self.threshold:.6g}: sensitivity {c.recall:.3f}, "
            f"specificity {c.specificity:.3f}"
        )

    def _title(self) -> str:
        return f"{self.measure.capitalize()} at a fixed rate"


def sensitivity_at(s: Sweep, specificity: float, *, level: float = 0.95) -> CurvePoint:
    r"""The sensitivity at a fixed specificity, with a confidence interval.

    The threshold with that specificity is not known; it is estimated from the negatives. The
    interval therefore accounts for the sampling error of both classes. At each point (1 − x, y) of
    the ROC curve, where x is the specificity, the distance from the fixed specificity :math:`x_0`
    is measured in standard errors: :math:`d^2 = n (x - x_0)^2 / x_0 (1 - x_0)`. Points with d > z
    are excluded. Each of the others has the mid-P interval of y at the remaining
    :math:`\sqrt{z^2 - d^2}` standard errors, and the result is the smallest interval that contains
    all of these.

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``. Classes then count as
        their effective numbers of rows (Σw)²/Σw².
    specificity : float
        Above 0 and below 1.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    CurvePoint
        ``value``, ``low`` and ``high`` refer to the curve; ``threshold`` and ``confusion`` to the
        threshold with at least that specificity on these rows. Its specificity may be higher.

    Notes
    -----
    Between two points of the curve the sensitivity is interpolated linearly, as in pROC: a rule
    that chooses between the two thresholds at random achieves it. If several thresholds have the
    specificity, the highest sensitivity is used. If scores are tied, the variance of a class is
    lower between two thresholds than at one, by λ(1 − λ)Δ for a share λ of a step Δ, and the class
    counts as correspondingly more rows.

    The interval refers to the ROC curve at the fixed specificity, not to the sensitivity of
    ``threshold`` on new rows, where the specificity will differ. With fewer than z² x₀ / (1 − x₀)
    negatives, which is 35 for a specificity of 0.9 and 73 for 0.95, its lower end is 0: all
    negatives may be below the threshold, which could then be arbitrarily high.

    Its coverage, measured on the page *Validation*, is 94 to 99 %; it is highest with ten or twenty
    positives, for which only a few rates are possible. If the class of the fixed rate is the
    smaller one, it is 92 to 99 %.

    References
    ----------
    The same regions by the likelihood: Claeskens, Jing, Peng & Zhou, "Empirical likelihood
    confidence regions for comparison distributions and ROC curves", Canadian Journal of Statistics
    31 (2003). https://doi.org/10.2307/3316065. The mid-P interval: Berry & Armitage, "Mid-P
    confidence intervals: a brief review", The Statistician 44 (1995).
    https://doi.org/10.2307/2348891

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([5, 4, 3, 2, 1], [22, 15, 9, 6, 4], [3, 8, 10, 19, 40])
    >>> cs.sensitivity_at(s, 0.9)
    sensitivity 0.560 (95 % CI 0.354–0.755) at specificity 0.9; score ≥ 4.5: sensitivity 0.393,
    specificity 0.963
    """
    level, at = check_level(level), _rate(specificity, "specificity")
    check_sweep(s).needs_both_classes("a sensitivity")
    pos, neg = sizes_of(s, "the interval of a sensitivity")
    x, y = (s.N - from_zero(s.fp)) / s.N, from_zero(s.tp) / s.P
    return _point(s, "sensitivity", at, _Curve(x[::-1], y[::-1], neg, pos), level)


def specificity_at(s: Sweep, sensitivity: float, *, level: float = 0.95) -> CurvePoint:
    """The specificity at a fixed sensitivity, with a confidence interval.

    As :func:`cutscore.sensitivity_at`, with the roles of the classes swapped.

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``.
    sensitivity : float
        Above 0 and below 1.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    CurvePoint

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> p = cs.specificity_at(s, 0.6)
    >>> p.value, p.threshold, p.confusion.recall
    (0.75, 0.67, 0.75)
    """
    level, at = check_level(level), _rate(sensitivity, "sensitivity")
    check_sweep(s).needs_both_classes("a specificity")
    pos, neg = sizes_of(s, "the interval of a specificity")
    x, y = from_zero(s.tp) / s.P, (s.N - from_zero(s.fp)) / s.N
    return _point(s, "specificity", at, _Curve(x, y, pos, neg), level)


def _rate(value: object, name: str) -> float:
    rate = number(value)
    if not 0 < rate < 1:
        hint = "roc(s) includes the ends of the curve."
        raise DataError(BadArgument(name, "be between 0 and 1, such as 0.9", value, hint))
    return rate


class _Curve(NamedTuple):
    """Rates of one class, which rise, and of the other, which fall; n and m rows tell of them."""

    x: Floats
    y: Floats
    n: float
    m: float


def _point(s: Sweep, name: str, at: float, curve: _Curve, level: float) -> CurvePoint:
    """The rate y where x is ``at``."""
    x, y, n, m = curve
    z = NormalDist().inv_cdf((1 + level) / 2)
    steps = np.arange(-_STEPS, _STEPS + 1) / _STEPS
    near = np.clip(at + steps * (z * (at * (1 - at) / n) ** 0.5), 0.0, 1.0)
    k = np.searchsorted(x, near)  # the first of all that have the rate: y falls
    # Past the last row of the fixed class nothing says where a threshold would be.
    k[near >= 1] = len(x) - 1
    before = np.maximum(k - 1, 0)
    run, fall = x[k] - x[before], y[k] - y[before]
    share = np.divide(near - x[before], run, out=np.ones(len(near)), where=run > 0)
    rate, tied = y[before] + share * fall, share * (1 - share)
    rest = z**2 - (near - at) ** 2 / (at * (1 - at)) * _as_many(near, tied * run, n)
    there = rest > -1e-9 * z**2  # but for rounding
    rest = np.maximum(rest, 0.0)
    low, high = _mid_p(rate[there], _as_many(rate, -tied * fall, m)[there], rest[there])
    cut = int(k[_STEPS]) if name == "specificity" else len(x) - 1 - int(k[_STEPS])
    threshold = s.threshold_of(cut)
    value = float(rate[_STEPS])
    ends = min(value, float(low.min())), max(value, float(high.max()))
    return CurvePoint(name, value, *ends, level, at, threshold, s.at(threshold))


def _as_many(rate: Floats, less: Floats, n: float) -> Floats:
    """How many rows without ties vary as much as n rows whose variance is smaller by ``less``; with
    one row more at either end, so that few rows are not taken for certain."""
    r = (rate * n + 1) / (n + 2)
    variance = r * (1 - r)
    return np.asarray(n * variance / (variance - less * (n / (n + 2))))


def _mid_p(rate: Floats, n: Floats, squared: Floats) -> tuple[Floats, Floats]:
    """Mid-P intervals of rates, of n rows each, to so many standard errors, squared."""
    k = np.concatenate((rate * n, (1 - rate) * n))
    low, rest = np.split(_lowest_rate(k, np.tile(n, 2), np.tile(squared, 2)), 2)
    return low, 1 - rest


def _lowest_rate(k: Floats, n: Floats, squared: Floats) -> Floats:
    """The rates at which k rows or more of n, half of k itself, are that many standard errors too
    many: by Newton's method, between the rates for all of k and for none of it."""
    from scipy.special import betainc, betaincinv, betaln, ndtr, xlog1py, xlogy

    tail, others = ndtr(-np.sqrt(squared)), n - k
    # Beta distributions with a parameter of 0 are all at one end.
    none, all_ = k <= 0, others <= 0
    a, b = np.where(none, 1.0, k), np.where(all_, 1.0, others)
    low = np.where(none, 0.0, betaincinv(a, others + 1, tail))
    high = np.where(none, 0.0, np.where(all_, 1.0, betaincinv(k + 1, b, tail)))
    scale = betaln(a, others + 1), betaln(k + 1, b)
    x = (low + high) / 2
    for _ in range(_ROUNDS):
        at_least = np.where(none, 1.0, betainc(a, others + 1, x))
        above = np.where(all_, 0.0, betainc(k + 1, b, x))
        excess = at_least + above - 2 * tail
        low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
        slope = np.exp(xlogy(a - 1, x) + xlog1py(others, -x) - scale[0])
        slope += np.where(all_, 0.0, np.exp(xlogy(k, x) + xlog1py(b - 1, -x) - scale[1]))
        x = x - np.divide(excess, slope, out=np.zeros(len(x)), where=slope > 1e-200)
        x = np.where((x >= low) & (x <= high), x, (low + high) / 2)
    return np.minimum(x, k / n)
