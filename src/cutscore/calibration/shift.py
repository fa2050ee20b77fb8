"""Label shift: the prior of an unlabelled batch, from its scores and labelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10, sqrt
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import ArrayLike, NDArray

from cutscore.calibration.odds import column, probability, reshape
from cutscore.core.checks import as_vector
from cutscore.core.errors import CutscoreWarning, UndefinedError
from cutscore.core.findings.statistics import NotAMixture, TooFew, Undefined
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.measures.prior import check_level
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep

# The degree of the polynomials of the rank that the mixture test compares.
_DEGREE = 3

# Below this p-value of the mixture test there is a warning.
_DOUBT = 0.05


@dataclass(frozen=True, repr=False)
class PriorShift(Card):
    """The estimated prior of a batch; see :func:`cutscore.prior_shift`.

    Parameters
    ----------
    prior : float
        The estimated share of positives, from 0 to 1.
    interval : Interval
        Its confidence interval.
    p_value : float
        The p-value of the mixture test: that the batch is a mixture of the labelled classes. If it
        is small, this is not a label shift, and prior and interval may be wrong.
    rows : int
        The number of unlabelled rows.
    """

    prior: float
    interval: Interval
    p_value: float
    rows: int

    def probability(self, llr: ArrayLike) -> Floats | float:
        """P(+) of cases of this batch with these LLRs: σ(LLR + ln clr) at the estimated prior.

        Parameters
        ----------
        llr : float or array-like
            Log-likelihood ratios, in nats.
        """
        if 0 < self.prior < 1:
            return probability(llr, self.prior)
        x, shape = column(llr, "llr")  # all cases are of one class, whatever their LLRs
        return reshape(np.full(len(x), self.prior), shape)

    def __repr__(self) -> str:
        places = min(max(2 - floor(log10(self.prior or self.interval.high or 1.0)), 0), 12)
        prior, low, high = (f"{x:.{places}f}" for x in (self.prior, *self.interval))
        return (
            f"prior {prior} ({100 * self.interval.level:g} % CI {low}–{high}), {self.rows:,} "
            f"unlabelled rows; mixture test p = {self.p_value:.2g}"
        )

    def _title(self) -> str:
        return "Prior shift"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("prior", estimate_text(self.prior, self.interval)),
            ("mixture test p", f"{self.p_value:.2g}"),
            ("rows", f"{self.rows:,}"),
        ]


def prior_shift(labelled: Sweep, score: ArrayLike, *, level: float = 0.95) -> PriorShift:
    r"""Estimate the prior of an unlabelled batch under label shift.

    Scores are replaced by their rank u among the labelled rows, ½F₊ + ½F₋. For any function g of u
    the mean over a mixture is the mixture of the means, so that

    .. math:: \hat\pi = \frac{\bar g_{new} - \bar g_-}{\bar g_+ - \bar g_-}

    is the ratio estimator. Here g = (1−π₀) u² + π₀ (1 − (1−u)²), where π₀ is the estimate for g =
    u; it gives most weight to the scores typical of the rarer class.

    Parameters
    ----------
    labelled : Sweep
        The sweep of labelled rows, at least two of each class. Their prevalence does not matter.
        Weighted rows need ``sweep(..., squares=True)``.
    score : array-like of shape (n_samples,)
        Scores of the batch, on the same scale. Only their order counts; ``±inf`` are scores.
    level : float, default 0.95
        The confidence level of the interval.

    Returns
    -------
    PriorShift

    Warns
    -----
    UserWarning
        If the batch is not a mixture of the labelled classes (p < 0.05).

    Notes
    -----
    It assumes label shift: only the prior has changed, and within a class the scores are
    distributed as in the labelled rows. The interval contains all π with |ḡ_new − π ḡ₊ − (1−π) ḡ₋|
    ≤ t · s(π), where s² is the sum of the variances of all three means and t has Welch's degrees of
    freedom (Fieller's interval). It accounts for the sampling error of the labelled rows and of the
    batch.

    The assumption is tested on the means of three polynomials of u: their smallest Mahalanobis
    distance to a mixture has an F distribution with two numerator degrees of freedom. The test
    can't detect a change within the classes that looks like another mixture.

    References
    ----------
    Vaz, Izbicki & Stern, "Quantification under prior probability shift: the ratio estimator and its
    extensions", JMLR 20 (2019). https://jmlr.org/papers/v20/18-456.html. Fieller, "Some problems in
    interval estimation", Journal of the Royal Statistical Society B 16 (1954).
    https://doi.org/10.1111/j.2517-6161.1954.tb00159.x. Hansen, "Large sample properties of
    generalized method of moments estimators", Econometrica 50 (1982).
    https://doi.org/10.2307/1912775

    Examples
    --------
    >>> import cutscore as cs
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def rows(n, share):
    ...     y = rng.random(n) < share
    ...     return y, rng.normal(2.0 * y)
    >>> s = cs.sweep(*rows(2_000, share=0.3))
    >>> shift = cs.prior_shift(s, rows(10_000, share=0.07)[1])
    >>> shift
    prior 0.0680 (95 % CI 0.0471–0.0885), 10,000 unlabelled rows; mixture test p = 0.23
    """
    level = check_level(level)
    check_sweep(labelled).needs_both_classes("the prior of a batch")
    labelled.needs_scores("the prior of a batch")
    x, _ = column(as_vector(score, "score"), "score")
    if len(x) < 2:
        raise UndefinedError(TooFew("the prior of a batch", 2, "rows of it", len(x)))
    rank = _Rank.of(labelled)
    squares = labelled.squares("the prior of a batch")
    own, ones = rank.own_ranks(), np.ones(len(x), np.int64)
    samples = (
        _Sample.of(rank(x), ones, ones),
        _Sample.of(own, labelled.pos, squares[0]),
        _Sample.of(own, labelled.neg, squares[1]),
    )
    least = min(sample.size for sample in samples)
    if least < 2:
        raise UndefinedError(
            TooFew("the prior of a batch", 2, "labelled rows of each class", least)
        )
    rough, _ = _ratio(samples, lambda u: u, level)
    prior, interval = _ratio(samples, lambda u: (1 - rough) * u**2 + rough * u * (2 - u), level)
    p = _p_value(samples, prior)
    if p < _DOUBT:
        warnings.warn(CutscoreWarning(NotAMixture(p)), stacklevel=2)
    return PriorShift(prior, interval, p, len(x))


class _Rank(NamedTuple):
    """The rank of a score among the labelled rows, the classes weighted equally: from 0 to 1, ties
    in the middle."""

    ascending: Floats
    below: Floats  # the share below each of them, and 1

    @classmethod
    def of(cls, s: Sweep) -> _Rank:
        share = (s.pos / s.P + s.neg / s.N)[::-1] / 2
        return cls(s.threshold[::-1], np.concatenate(((0.0,), np.cumsum(share))))

    def own_ranks(self) -> Floats:
        """The ranks of the scores of the sweep, in its order."""
        return np.asarray((self.below[1:] + self.below[:-1])[::-1] / 2)

    def __call__(self, x: Floats) -> Floats:
        ends = [np.searchsorted(self.ascending, x, side) for side in ("left", "right")]
        return np.asarray((self.below[ends[0]] + self.below[ends[1]]) / 2)


class _Sample(NamedTuple):
    """Ranks, with the weight of each and its contribution to the variance of a mean."""

    u: Floats
    share: Floats
    noise: Floats
    size: float  # the effective sample size

    @classmethod
    def of(cls, u: Floats, mass: Masses, squares: Masses) -> _Sample:
        some = mass > 0
        total = mass[some].sum()
        noise = squares[some] / total / total
        size = float(1 / noise.sum())
        # One degree of freedom goes to the mean.
        return cls(u[some], mass[some] / total, noise * size / max(size - 1, 1e-9), size)

    def mean(self, h: Floats) -> tuple[Floats, NDArray[np.float64]]:
        """The mean of the columns of h, and its covariance."""
        m = self.share @ h
        return m, (h - m).T @ ((h - m) * self.noise[:, None])


_Samples = tuple[_Sample, _Sample, _Sample]
_Function = Callable[[Floats], Floats]


def _ratio(samples: _Samples, g: _Function, level: float) -> tuple[float, Interval]:
    """The ratio estimate within [0, 1], and Fieller's interval."""
    from scipy.stats import t

    (m, pos, neg), (v, v_pos, v_neg) = (
        [float(part.item()) for part in parts]
        for parts in zip(*(sample.mean(g(sample.u)[:, None]) for sample in samples), strict=True)
    )
    a, b = m - neg, pos - neg
    if not abs(b) > 1e-12:
        why = "can't be estimated from scores with the same mean rank in both classes"
        raise UndefinedError(Undefined("the prior of a batch", why, "Use another score."))
    best = min(max(a / b, 0.0), 1.0)
    parts = np.array((v, best**2 * v_pos, (1 - best) ** 2 * v_neg))
    if not parts.sum() > 0:
        return best, Interval(best, best, level)
    freedom = parts.sum() ** 2 / np.sum(parts**2 / [sample.size - 1 for sample in samples])
    z2 = float(t.ppf((1 + level) / 2, freedom)) ** 2
    # (a − πb)² ≤ z² (v + π² v₊ + (1−π)² v₋), a quadratic inequality in π.
    square, half, rest = b * b - z2 * (v_pos + v_neg), a * b - z2 * v_neg, a * a - z2 * (v + v_neg)
    root = half * half - square * rest
    if square <= 0 or root < 0:  # the labelled means may be equal: no prior is excluded
        return best, Interval(0.0, 1.0, level)
    low, high = (half - sqrt(root)) / square, (half + sqrt(root)) / square
    return best, Interval(min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0), level)


def _p_value(samples: _Samples, prior: float) -> float:
    """The p-value of the smallest distance between the batch and a mixture of the classes."""
    from scipy.stats import f

    (m, c), (pos, c_pos), (neg, c_neg) = (
        sample.mean(np.asarray(legvander(2 * sample.u - 1, _DEGREE)[:, 1:], np.float64))
        for sample in samples
    )
    a, b = m - neg, pos - neg
    for _ in range(2):
        cov = c + prior**2 * c_pos + (1 - prior) ** 2 * c_neg
        # With few distinct scores some polynomials are equal.
        values, vectors = np.linalg.eigh(cov)
        some = values > 1e-9 * values[-1]
        x, y = ((vectors[:, some].T @ d) / np.sqrt(values[some]) for d in (a, b))
        prior = min(max(float(x @ y / max(y @ y, 1e-300)), 0.0), 1.0)
    free = int(np.count_nonzero(some)) - 1
    if free < 1:
        return 1.0  # every batch of two distinct scores is a mixture
    least = min(sample.size for sample in samples)
    return float(f.sf(np.sum(np.square(x - prior * y)) / free, free, max(least - _DEGREE, 1.0)))
