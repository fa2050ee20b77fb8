"""Smooth ROC curves: of two normal distributions behind any scores, or of kernel densities."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from cutscore.core.checks import as_array, one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import NoOverlap, NotFinite, NoVariation, TooFew
from cutscore.core.frozen import Frozen
from cutscore.core.html import thumbnail
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.core.types import ArrayLike
from cutscore.inference.auc import auc_interval, score_interval
from cutscore.inference.placements import sizes_of
from cutscore.measures.prior import check_level
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep

_GRID = 8192  # places that scores are moved to before kernels are laid over them
_ROUNDS = 200


@dataclass(frozen=True, eq=False, repr=False)
class SmoothRoc(Frozen):
    """A smooth ROC curve; made by :func:`cutscore.smooth_roc`.

    Parameters
    ----------
    fpr, tpr : array of float
        Points of the curve, from (0, 0) to (1, 1), close enough to be drawn as a line.
    auc : float
        The area under it.
    interval : Interval
        The confidence interval of the AUC.
    method : str
        ``"binormal"`` or ``"kernel"``.
    a, b : float
        Intercept and slope of the binormal curve, TPR = Φ(a + b Φ⁻¹(FPR)); nan for others.
    """

    fpr: Floats
    tpr: Floats
    auc: float
    interval: Interval
    method: str
    a: float = np.nan
    b: float = np.nan

    def at(self, fpr: ArrayLike) -> Floats:
        """The TPR of the curve at any false positive rates.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.Sweep.from_counts([5, 4, 3, 2, 1], [22, 15, 9, 6, 4], [3, 8, 10, 19, 40])
        >>> cs.smooth_roc(s).at([0, 0.1, 0.5, 1]).round(3)
        array([0.   , 0.593, 0.933, 1.   ])
        """
        from scipy.special import ndtr, ndtri

        x = as_array(fpr, "fpr")
        if x.dtype.kind not in "biuf" or not np.all((x >= 0) & (x <= 1)):
            raise DataError(
                BadArgument("fpr", "be between 0 and 1", fpr, subject="a false positive rate")
            )
        if self.method == "binormal":
            return np.asarray(ndtr(self.a + self.b * ndtri(x.astype(np.float64))))
        return np.asarray(np.interp(x, self.fpr, self.tpr))

    def __len__(self) -> int:
        return len(self.fpr)

    def __repr__(self) -> str:
        area = estimate_text(self.auc, self.interval)
        return f"smooth ROC curve ({self.method}), AUC {area}"

    def _title(self) -> str:
        return "Smooth ROC curve"

    def _picture(self) -> str:
        return thumbnail(self.fpr, self.tpr)


def smooth_roc(s: Sweep, method: str = "binormal", *, level: float = 0.95) -> SmoothRoc:
    r"""A smooth ROC curve, with its AUC and a confidence interval for it.

    ``"binormal"``: some increasing transform of the scores, which need not be known, makes both
    classes normal: :math:`\mathrm{TPR} = \Phi(a + b \, \Phi^{-1}(\mathrm{FPR}))` and
    :math:`\mathrm{AUC} = \Phi(a / \sqrt{1 + b^2})`. It is fitted by maximum likelihood to the order
    of the rows, as Dorfman and Alf do for ratings and Metz for continuous scores: each run of rows
    of one class is a level.

    ``"kernel"``: the density of each class is estimated with Gaussian kernels. Their bandwidth is
    Silverman's, 0.9 min(standard deviation, interquartile range / 1.34) n^(−1/5).

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``.
    method : str, default 'binormal'
        ``"binormal"``, which depends only on the order of the scores, or ``"kernel"``, which also
        depends on their scale.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    SmoothRoc
        ``at(fpr)`` is the curve at any rate; ``plot.roc`` draws it.

    Notes
    -----
    The interval of a binormal AUC is the score interval of :func:`cutscore.auc_interval` around it,
    with the variance from the information matrix. It assumes that the scores are binormal. Kernel
    smoothing pulls the curve towards the diagonal and adds no information about the area: its
    interval is that of ``auc_interval(s)``, widened if necessary to contain the curve's AUC.

    A binormal curve is concave only for b = 1; otherwise it crosses the diagonal near one of its
    ends, often too close to be visible.

    References
    ----------
    Dorfman & Alf, "Maximum-likelihood estimation of parameters of signal-detection theory and
    determination of confidence intervals", Journal of Mathematical Psychology 6 (1969).
    https://doi.org/10.1016/0022-2496(69)90019-4. Metz, Herman & Shen, "Maximum likelihood
    estimation of receiver operating characteristic (ROC) curves from continuously-distributed
    data", Statistics in Medicine 17 (1998). Zou, Hall & Shapiro, "Smooth non-parametric receiver
    operating characteristic (ROC) curves for continuous diagnostic tests", Statistics in Medicine
    16 (1997).

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([5, 4, 3, 2, 1], [22, 15, 9, 6, 4], [3, 8, 10, 19, 40])
    >>> curve = cs.smooth_roc(s)
    >>> curve, round(curve.a, 3), round(curve.b, 3)
    (smooth ROC curve (binormal), AUC 0.857 (95 % CI 0.771–0.911), 1.497, 0.984)
    >>> cs.smooth_roc(s, "kernel")
    smooth ROC curve (kernel), AUC 0.835 (95 % CI 0.756–0.899)
    """
    level = check_level(level)
    one_of("method", method, ("binormal", "kernel"))
    check_sweep(s).needs_both_classes("a smooth ROC curve")
    return _binormal(s, level) if method == "binormal" else _kernel(s, level)


# ----------------------------------------------------------------------------------------- binormal


def _binormal(s: Sweep, level: float) -> SmoothRoc:
    from scipy.special import ndtr

    small, sizes = s.compact(), sizes_of(s, "a binormal ROC curve")
    what, hint = "a binormal curve", "Use auc_interval(s), which needs no curve."
    if s.auc in (0.0, 1.0):
        raise UndefinedError(NoOverlap(what, f"the AUC is {s.auc:g}", hint))
    if len(small) < 3:
        raise UndefinedError(TooFew(what, 3, "runs of scores of one class", len(small), hint))
    a, b, covariance = _fit(small.pos * (sizes[0] / s.P), small.neg * (sizes[1] / s.N), s.auc)
    deviate = a / sqrt(1 + b * b)
    slope = np.array([1.0, -a * b / (1 + b * b)]) / sqrt(1 + b * b)
    auc = float(ndtr(deviate))
    error = np.exp(-(deviate**2) / 2) / sqrt(2 * np.pi) * slope
    interval = score_interval(auc, float(error @ covariance @ error), *sizes, level)
    # Even steps of the normal deviate, which show the ends of the curve as well as its middle.
    z = np.linspace(-8, 8, 1025)
    z = np.sort(np.concatenate((z, (z - a) / b)))
    fpr, tpr = (np.concatenate(([0.0], ndtr(x), [1.0])) for x in (z, a + b * z))
    return SmoothRoc._adopt(fpr, tpr, auc, interval, "binormal", a, b)


class _State(NamedTuple):
    """Parameters of two normal distributions that are cut at c into levels, and what follows."""

    a: float
    b: float
    c: Floats
    likelihood: float  # its logarithm
    p: Floats  # probabilities of the levels, of negatives
    q: Floats  # and of positives


class _Step(NamedTuple):
    """Steps of the parameters, the covariance of a and b, and what a and b gain, which is the
    square of their step in standard errors."""

    a: float
    b: float
    c: Floats
    covariance: Floats
    gain: float


def _fit(pos: Floats, neg: Floats, auc: float) -> tuple[float, float, Floats]:
    """a, b and their covariance by Fisher scoring, with step halving."""
    from scipy.special import ndtri

    start = sqrt(2) * float(ndtri(min(max(auc, 0.01), 0.99)))
    now = _state(pos, neg, start, 1.0, _cuts(pos, neg, start))
    for _ in range(_ROUNDS):
        try:
            step = _step(pos, neg, now)
        except np.linalg.LinAlgError:  # no information left
            break
        if step.gain < 1e-12:
            return now.a, now.b, step.covariance
        then = _improve(pos, neg, now, step)
        if then is None or not 1e-3 < then.b < 1e3 or abs(then.a) > 1e3:
            break
        now = then
    why = f"no maximum-likelihood curve exists (a reached {now.a:.3g}, b {now.b:.3g})"
    raise UndefinedError(NoOverlap("a binormal curve", why, "Use method='kernel'."))


def _improve(pos: Floats, neg: Floats, now: _State, step: _Step) -> _State | None:
    """Along a step, halved until the likelihood gains a quarter of what it should, but for
    rounding; None if it never does. (The expected information may promise twice the right step.)"""
    size, rounding = 1.0, 1e-14 * abs(now.likelihood)
    while size > 1e-6:
        a, b, c = now.a + size * step.a, now.b + size * step.b, now.c + size * step.c
        if b > 0 and (np.diff(c) < 0).all():
            then = _state(pos, neg, a, b, c)
            if then.likelihood - now.likelihood >= size * step.gain / 4 - rounding:
                return then
        size /= 2
    return None


def _cuts(pos: Floats, neg: Floats, a: float) -> Floats:
    """Where the levels begin, if positives are normal around a and negatives around 0."""
    from scipy.special import ndtr

    total = pos.sum() + neg.sum()
    grid = np.linspace(-9, 9, 4001) + min(a, 0.0) + np.linspace(0, abs(a), 4001)
    below = (pos.sum() * ndtr(grid - a) + neg.sum() * ndtr(grid)) / total
    above = np.cumsum(pos + neg)[:-1] / total
    return np.asarray(np.interp(1 - above, below, grid))


def _state(pos: Floats, neg: Floats, a: float, b: float, c: Floats) -> _State:
    p, q = _level_probabilities(c), _level_probabilities(b * c - a)
    with np.errstate(divide="ignore"):
        likelihood = float(np.sum(neg * np.log(p) + pos * np.log(q)))
    return _State(a, b, c, likelihood, p, q)


def _level_probabilities(c: Floats) -> Floats:
    """Probabilities between cuts that fall, each from the side where it loses no digits."""
    from scipy.special import ndtr

    upper, lower = np.concatenate(([np.inf], c)), np.concatenate((c, [-np.inf]))
    right = upper + lower > 0
    size = np.where(right, ndtr(-lower) - ndtr(-upper), ndtr(upper) - ndtr(lower))
    return np.asarray(np.maximum(size, 1e-300))


def _step(pos: Floats, neg: Floats, at: _State) -> _Step:
    """Fisher scoring: the information of the cuts is tridiagonal, that of a and b its border."""
    from scipy.linalg import solveh_banded

    a, b, c, _, p, q = at
    P, N = pos.sum(), neg.sum()
    of_neg, of_pos = _density(c), _density(b * c - a)
    # By a and by b, how the probability of a level of positives grows.
    edge_a, edge_b = (np.concatenate(([0.0], x, [0.0])) for x in (of_pos, c * of_pos))
    grow = np.stack((np.diff(edge_a), -np.diff(edge_b)))
    # By a cut: what the level above it loses, the one below it gains.
    down, up = 1 / p[:-1] + 1 / p[1:], 1 / q[:-1] + 1 / q[1:]
    band = np.zeros((2, len(c)))
    band[1] = N * of_neg**2 * down + P * (b * of_pos) ** 2 * up
    band[0, 1:] = -N * of_neg[:-1] * of_neg[1:] / p[1:-1]
    band[0, 1:] -= P * b * b * of_pos[:-1] * of_pos[1:] / q[1:-1]
    border = P * b * of_pos * np.diff(grow / q)
    slope = np.sum(pos / q * grow, axis=1)
    slope_c = of_neg * np.diff(neg / p) + b * of_pos * np.diff(pos / q)
    solved = solveh_banded(band, np.column_stack((border.T, slope_c)))
    inner = P * (grow / q) @ grow.T - border @ solved[:, :2]
    step = np.linalg.solve(inner, slope - border @ solved[:, 2])
    dc = solved[:, 2] - solved[:, :2] @ step
    gain = float(step @ inner @ step)
    return _Step(float(step[0]), float(step[1]), dc, np.linalg.inv(inner), gain)


def _density(x: Floats) -> Floats:
    return np.asarray(np.exp(-(x**2) / 2) / sqrt(2 * np.pi))


# ------------------------------------------------------------------------------------------- kernel


def _kernel(s: Sweep, level: float) -> SmoothRoc:
    from scipy.ndimage import gaussian_filter1d

    s.needs_scores("a kernel-smoothed ROC curve")
    interval = auc_interval(s, level=level)
    if not np.isfinite(s.threshold[[0, -1]]).all():
        one = float(s.threshold[-1 if np.isfinite(s.threshold[0]) else 0])
        hint = "Use method='binormal', which needs only their order."
        raise DataError(NotFinite("scores of a kernel-smoothed ROC curve", one, hint=hint))
    sizes = sizes_of(s, "a kernel-smoothed ROC curve")
    score = s.threshold / (np.abs(s.threshold).max() or 1.0)  # its squares don't overflow
    both = [_bandwidth(score, mass, n) for mass, n in zip((s.pos, s.neg), sizes, strict=True)]
    widest = max(both)
    if widest == 0:
        so, hint = "kernels have no width", "Use roc(s), the curve of such scores."
        raise UndefinedError(NoVariation("the score", "within either class", so, hint))
    low, high = score[-1] - 6 * widest, score[0] + 6 * widest
    step = (high - low) / (_GRID - 1)
    place = (high - score) / step
    rates = []
    for mass, width in zip((s.pos, s.neg), both, strict=True):
        density = _on_grid(place, mass / mass.sum())
        if 100 * width > step:  # a narrower kernel would not reach the next point
            density = gaussian_filter1d(density, width / step, mode="constant")
        rate = np.cumsum(density)
        rates.append(np.concatenate(([0.0], rate / rate[-1])))
    tpr, fpr = rates
    auc = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)
    ends = Interval(min(interval.low, auc), max(interval.high, auc), level)
    return SmoothRoc._adopt(fpr, tpr, auc, ends, "kernel")


def _bandwidth(score: Floats, mass: Masses, n: float) -> float:
    """Silverman's rule: 0.9 min(standard deviation, interquartile range / 1.34) n^(−1/5)."""
    share = mass / mass.sum()
    mean = float(np.sum(share * score))
    deviation = sqrt(float(np.sum(share * (score - mean) ** 2)) * n / max(n - 1, 1.0))
    below = np.cumsum(share[::-1])
    quarters = np.searchsorted(below, (0.25, 0.75))
    apart = float(np.diff(score[::-1][quarters])[0]) / 1.34
    width = min(deviation, apart) if apart > 0 else deviation
    return 0.9 * width * float(n**-0.2)


def _on_grid(place: Floats, mass: Masses) -> Floats:
    """Masses, each split between the two neighbouring grid points."""
    k = np.minimum(place.astype(np.int64), _GRID - 2)
    part = place - k
    lower = np.bincount(k, mass * (1 - part), _GRID)
    return np.asarray(lower + np.bincount(k + 1, mass * part, _GRID))
