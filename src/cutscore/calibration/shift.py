"""The prior of an unlabelled batch, from its likelihood ratios."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from statistics import NormalDist
from typing import Any

import numpy as np

from cutscore._check import vector
from cutscore._html import fact_table
from cutscore._interval import Interval
from cutscore._sweep import Floats
from cutscore.calibration.odds import column, probability, shaped
from cutscore.errors import UndefinedError
from cutscore.objectives import check_level

# Of so many LLRs some are below 0, or beyond 1.
_SEVERAL = 20


@dataclass(frozen=True, repr=False)
class PriorShift:
    """The estimated share of positives in a batch; see :func:`cutscore.prior_shift`.

    Parameters
    ----------
    prior
        The most likely share, from 0 to 1.
    interval
        Its confidence interval by the likelihood ratio.
    iterations
        How many steps the estimate took.
    rows
        How many LLRs there were.
    """

    prior: float
    interval: Interval
    iterations: int
    rows: int

    def probability(self, llr: Any) -> Any:
        """P(+) of cases of this batch with these LLRs: σ(LLR + ln clr) at the estimated prior."""
        if 0 < self.prior < 1:
            return probability(llr, self.prior)
        x, shape = column(llr, "llr")  # all cases are of one class, whatever their LLRs
        return shaped(np.full(len(x), self.prior), shape)

    def __repr__(self) -> str:
        return f"prior {self.prior:.6g}, {self.interval} (from {self.rows:,} unlabelled rows)"

    def _repr_html_(self) -> str:
        facts = [("prior", f"{self.prior:.6g}"), ("interval", repr(self.interval))]
        return fact_table("Prior shift", [*facts, ("rows", f"{self.rows:,}")])


def prior_shift(llr: Any, *, level: float = 0.95) -> PriorShift:
    r"""Estimate the share of positives in an unlabelled batch, from its likelihood ratios.

    It maximises :math:`\ell(\pi) = \sum_i \ln(\pi LR_i + 1 - \pi)`, which is concave: what the EM
    iteration π ← mean σ(LLR + logit π) converges to, found here by Newton's method within bounds
    that close in.

    Parameters
    ----------
    llr
        LLRs of the batch, such as ``calibrator.llr(score)``. ``±inf`` are legal. For probabilities
        that were made at a prior, ``cutscore.llr(probability, prior)``.
    level
        The confidence of the interval.

    Returns
    -------
    PriorShift

    Notes
    -----
    It assumes that only the shares of the classes have changed: within a class the scores are
    distributed as they were where the calibrator was fitted (label shift). The interval holds the
    priors with 2(ℓ(π̂) − ℓ(π)) ≤ χ²₁(level), so it never leaves [0, 1]; it tells how much so many
    rows can say, and takes the calibrator for exact.

    References
    ----------
    Saerens, Latinne & Decaestecker, "Adjusting the outputs of a classifier to new a priori
    probabilities", Neural Computation 14 (2002). https://doi.org/10.1162/089976602753284446

    Examples
    --------
    >>> import cutscore as cs
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> llr = rng.normal(np.where(np.arange(10_000) < 700, 2.0, -2.0), 2.0)  # 7 % are positive
    >>> cs.prior_shift(llr)
    prior 0.0694837, [0.0613834, 0.0779699] at 95 % (from 10,000 unlabelled rows)
    """
    level = check_level(level)
    x, _ = column(vector(llr, "llr"), "llr")
    if not len(x):
        raise UndefinedError("the prior of a batch needs rows; there are none.")
    if len(x) >= _SEVERAL and 0 <= x.min() < x.max() <= 1:
        warnings.warn(
            "these LLRs all lie between 0 and 1, as probabilities do: then the prior is said to be "
            "1. Of probabilities make LLRs first: cutscore.llr(probability, prior).",
            stacklevel=2,
        )
    # Each likelihood over the larger of its two: bounded, and exact for infinite LLRs.
    e = np.exp(-np.abs(x))
    a, b = np.where(x > 0, 1.0, e), np.where(x > 0, e, 1.0)
    if not (a != b).any():
        raise UndefinedError(
            "LLRs that are all 0 say nothing about the prior. Calibrate a score that tells the "
            "classes apart."
        )
    best, steps = _most_likely(a, b)
    return PriorShift(best, _interval(a, b, best, level), steps, len(x))


def _most_likely(a: Floats, b: Floats) -> tuple[float, int]:
    """The maximum of Σ ln(π a + (1−π) b) over [0, 1], and the steps to it."""
    d = a - b

    def slope(pi: float) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            r = d / (b + pi * d if pi < 1 else a)
        return float(np.sum(r)), -float(np.sum(np.square(r)))

    if slope(0.0)[0] <= 0:
        return 0.0, 0
    if slope(1.0)[0] >= 0:
        return 1.0, 0
    low, high, pi = 0.0, 1.0, 0.5
    for step in range(1, 200):
        g, h = slope(pi)
        low, high = (pi, high) if g > 0 else (low, pi)
        new = pi - g / h
        if abs(new - pi) <= 1e-14 * pi:
            return new, step
        # Newton's steps go to the maximum of a concave function, but the first may go too far.
        pi = new if low < new < high else 0.5 * (low + high)
    return pi, step


def _interval(a: Floats, b: Floats, best: float, level: float) -> Interval:
    d = a - b
    drop = NormalDist().inv_cdf((1 + level) / 2) ** 2 / 2

    def height(pi: float) -> float:
        with np.errstate(divide="ignore"):
            return float(np.sum(np.log(b + pi * d if pi < 1 else a)))

    need = height(best) - drop
    low = 0.0 if height(0.0) >= need else _crossing(height, need, 0.0, best)
    high = 1.0 if height(1.0) >= need else _crossing(height, need, 1.0, best)
    return Interval(low, high, level)


def _crossing(height: Callable[[float], float], need: float, out: float, inside: float) -> float:
    """Where a concave function passes ``need`` between a point outside and one inside."""
    from scipy.optimize import brentq

    # Its end may be at minus infinity: halve until it is not.
    while not isfinite(height(out)):
        middle = 0.5 * (out + inside)
        if height(middle) >= need:
            inside = middle
        else:
            out = middle
    return float(brentq(lambda pi: height(pi) - need, out, inside, xtol=1e-300, rtol=1e-12))
