"""Intervals of the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, sqrt
from statistics import NormalDist

import numpy as np

from cutscore.core.checks import one_of
from cutscore.core.interval import Interval
from cutscore.inference.bootstrap import bootstrap
from cutscore.inference.placements import auc_variance, sizes_of
from cutscore.measures.prior import check_level
from cutscore.sweeps.areas import auc
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep


def auc_interval(s: Sweep, *, level: float = 0.95, method: str = "score") -> Interval:
    r"""Confidence interval of the AUC.

    The default inverts a test. It contains every AUC :math:`\theta` that the observed
    :math:`\hat\theta` does not reject, given the variance that the estimate would have if
    :math:`\theta` were true:

    .. math:: |\hat\theta - \theta| \le z \sqrt{v(\theta)}, \qquad
              v(\theta) = (1 - \lambda) \, v_0(\theta)
              + \lambda \, \frac{\theta (1 - \theta)}{\min(P, N)}.

    :math:`v_0` is the variance for two normal distributions of equal spread,

    .. math:: v_0(\theta) = \frac{\theta (1 - \theta) + (P + N - 2) \, \xi}{P N}, \qquad
              \xi = \theta (1 - \theta) - 2 \, T\!\left(\Phi^{-1}(\theta), 1/\sqrt 3\right)

    with Owen's T; the other term is the largest possible variance for any two distributions. The
    weight :math:`\lambda`, from 0 to 1, is estimated: it makes :math:`v(\hat\theta)` equal to
    DeLong's variance times :math:`1 + 1/\sqrt{\min(P, N)}`. That factor allows for the few rows
    that the variance is estimated from, and was chosen by simulation.

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``. P and N are then the
        effective numbers (Σw)²/Σw².
    level : float, default 0.95
        Confidence level.
    method : str, default 'score'
        ``"score"``: as above. ``"delong"``: the AUC ± z standard errors, clipped to [0, 1], as in
        most software. ``"logit"``: the same on the scale ln(A/(1−A)). ``"newcombe"``: as
        ``"score"``, but always with the variance for exponential scores (Hanley & McNeil).
        ``"bootstrap"`` and ``"bca"``: 2,000 stratified samples; see
        :func:`cutscore.bootstrap`.

    Returns
    -------
    Interval

    Notes
    -----
    ``"delong"``, ``"logit"`` and the bootstrap under-cover if there are few positives and the AUC
    is high, and ``"newcombe"`` if positives are more dispersed than negatives: see the page
    *Validation*. If the estimated variance is 0, as for perfectly separated classes, ``"delong"``
    and ``"logit"`` would be a single point; they return the score interval instead.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, https://doi.org/10.2307/2531595. Newcombe, "Confidence
    intervals for an effect size measure based on the Mann–Whitney statistic. Part 2", Statistics in
    Medicine 25 (2006). https://doi.org/10.1002/sim.2324. The largest variance: Birnbaum & Klose,
    "Bounds for the variance of the Mann–Whitney statistic", Annals of Mathematical Statistics 28
    (1957). https://doi.org/10.1214/aoms/1177706794

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.auc_interval(s)
    [0.300642, 0.954413] at 95 %
    >>> cs.auc_interval(s, method="delong")
    [0.349924, 1] at 95 %
    """
    level = check_level(level)
    one_of("method", method, ("score", "delong", "logit", "newcombe", "bootstrap", "bca"))
    if method in ("bootstrap", "bca"):
        how = "percentile" if method == "bootstrap" else "bca"
        return bootstrap(s, auc, level=level, method=how).interval
    check_sweep(s).needs_both_classes("a confidence interval for the AUC")
    sizes = sizes_of(s, "a confidence interval for the AUC")
    if method == "newcombe":
        return newcombe(s.auc, *sizes, level)
    # One row of a class has no variance that could be estimated: any may be true.
    variance = inf if method == "score" and min(sizes) <= 1 else auc_variance(s)
    if method == "score" or not variance > 1e-20:  # what rounding leaves of 0
        return score_interval(s.auc, variance, *sizes, level)
    a, z = s.auc, NormalDist().inv_cdf((1 + level) / 2)
    if method == "delong":
        half = z * sqrt(variance)
        return Interval(max(0.0, a - half), min(1.0, a + half), level)
    middle, half = log(a / (1 - a)), z * sqrt(variance) / (a * (1 - a))
    return Interval(_sigmoid(middle - half), _sigmoid(middle + half), level)


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def score_interval(  # noqa: PLR0913 - what the formula needs
    a: float, variance: float, pos: float, neg: float, level: float, *, fewer: float | None = None
) -> Interval:
    """The score interval of an AUC with an estimated variance; see :func:`auc_interval`.

    ``fewer`` is the number of independent units of the rarer class, where rows are not.
    """
    from scipy.special import ndtri, owens_t

    z, fewer = NormalDist().inv_cdf((1 + level) / 2), min(pos, neg) if fewer is None else fewer

    def normal(x: float) -> float:
        one = x * (1 - x)
        shared = one - 2 * float(owens_t(ndtri(x), 1 / sqrt(3)))  # covariance of pairs with a row
        return max(0.0, one + (pos + neg - 2) * shared) / (pos * neg)

    share = 0.0
    if fewer <= 1 or variance == inf:
        share = 1.0
    elif variance > 1e-20:  # what rounding leaves of 0
        wanted = variance * (1 + 1 / sqrt(fewer))
        least, largest = normal(a), a * (1 - a) / fewer
        share = min(1.0, max(0.0, (wanted - least) / (largest - least)))
    return _score(
        a, lambda x: z * sqrt((1 - share) * normal(x) + share * x * (1 - x) / fewer), level
    )


def _score(a: float, reach: Callable[[float], float], level: float) -> Interval:
    """All values that are no further from ``a`` than their own reach, which is 0 at 0 and at 1."""

    def end(outer: float) -> float:
        inner = a
        for _ in range(60):
            middle = (inner + outer) / 2
            if abs(middle - a) < reach(middle):
                inner = middle
            else:
                outer = middle
        return inner

    return Interval(end(0.0), end(1.0), level)


def newcombe(a: float, pos: float, neg: float, level: float) -> Interval:
    """Newcombe's interval of an AUC, of so many positives and negatives."""
    low, high = newcombe_ends(np.array([a]), np.array([pos]), np.array([neg]), level)
    return Interval(float(low[0]), float(high[0]), level)


def newcombe_ends(a: Floats, pos: Masses, neg: Masses, level: float) -> tuple[Floats, Floats]:
    """The ends of many such intervals, nan where the AUC is."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    pairs, others = pos * (neg * 1.0), (pos + neg) / 2 - 1

    def reach(t: Floats) -> Floats:
        shared = 1 + others * ((1 - t) / (2 - t) + t / (1 + t))
        return z * np.sqrt(t * (1 - t) * shared / pairs)

    def end(outer: Floats) -> Floats:
        inner = a
        for _ in range(60):
            middle = (inner + outer) / 2
            inside = np.abs(middle - a) < reach(middle)
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        return inner

    # A group of one class has no pairs.
    with np.errstate(divide="ignore", invalid="ignore"):
        return end(np.zeros(len(a))), end(np.ones(len(a)))
