"""The prevalence of unlabelled rows, from how many of them are flagged and labelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import erfc, sqrt
from numbers import Integral
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cutscore.core.errors import CutscoreWarning, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import NotAMixture, OneClass, Undefined
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.measures.confusion import Confusion
from cutscore.measures.prior import check_level

_WHAT = "the corrected prevalence"

# Below this p-value of the mixture test there is a warning.
_DOUBT = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class CorrectedPrevalence(Card):
    """A prevalence corrected for errors; see :func:`cutscore.corrected_prevalence`.

    Parameters
    ----------
    prevalence : float
        The estimated share of positives among the unlabelled rows, from 0 to 1.
    interval : Interval
        Its confidence interval.
    flagged_rate : float
        The share of flagged rows, also called apparent prevalence.
    p_value : float
        The p-value of the mixture test: that the flagged rate lies between the false positive rate
        and the recall. It is 1 if it does so in the samples. If it is small, the error rates of the
        labelled rows don't apply to the unlabelled ones.
    rows : int
        The number of unlabelled rows.
    """

    prevalence: float
    interval: Interval
    flagged_rate: float
    p_value: float
    rows: int

    def __repr__(self) -> str:
        doubt = "" if self.p_value == 1 else f"; mixture test p = {self.p_value:.2g}"
        return (
            f"prevalence {estimate_text(self.prevalence, self.interval)}; flagged "
            f"{100 * self.flagged_rate:.3g} % of {self.rows:,} unlabelled rows{doubt}"
        )

    def _title(self) -> str:
        return "Corrected prevalence"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("prevalence", estimate_text(self.prevalence, self.interval)),
            ("flagged", f"{100 * self.flagged_rate:.3g} %"),
            ("mixture test p", f"{self.p_value:.2g}"),
            ("rows", f"{self.rows:,}"),
        ]


def corrected_prevalence(
    labelled: Confusion, flagged: int, total: int, *, level: float = 0.95
) -> CorrectedPrevalence:
    r"""Estimate the prevalence of unlabelled rows, corrected for errors (Rogan–Gladen).

    .. math:: \hat\pi = \frac{q - \mathrm{FPR}}{\mathrm{TPR} - \mathrm{FPR}}

    where q is the share of flagged unlabelled rows, and both error rates come from labelled rows.

    Parameters
    ----------
    labelled : Confusion
        Counts of labelled, unweighted rows at the threshold, with rows of both classes. Their
        prevalence does not matter. The threshold must not have been chosen on these rows.
    flagged, total : int
        How many unlabelled rows are flagged at the same threshold, and how many there are.
    level : float, default 0.95
        The confidence level of the interval.

    Returns
    -------
    CorrectedPrevalence

    Raises
    ------
    UndefinedError
        If the labelled rows lack a class, or if TPR = FPR in them.

    Warns
    -----
    UserWarning
        If no prevalence explains the flagged rate (p < 0.05).

    Notes
    -----
    It assumes independent rows and label shift: within a class, unlabelled rows are flagged as
    often as labelled ones. The estimate is limited to [0, 1]. In quantification it is known as
    *adjusted classify and count*.

    The interval accounts for the sampling errors of both samples. It contains each π that the score
    test of q = π TPR + (1−π) FPR does not reject: T(π) − T(π̂) ≤ z². The variance is that of the
    three rates that fit best at this π, so a sample without errors is not taken for certain. T(π̂)
    is 0 unless the estimate is limited to 0 or 1; there the interval over-covers. A judge that is
    not shown to be better than chance excludes no prevalence.

    References
    ----------
    Rogan & Gladen, "Estimating prevalence from the results of a screening test", American Journal
    of Epidemiology 107 (1978). https://doi.org/10.1093/oxfordjournals.aje.a112510. Miettinen &
    Nurminen, "Comparative analysis of two rates", Statistics in Medicine 4 (1985).
    https://doi.org/10.1002/sim.4780040211. Lang & Reiczigel, "Confidence limits for prevalence of
    disease adjusted for estimated sensitivity and specificity", Preventive Veterinary Medicine 113
    (2014). https://doi.org/10.1016/j.prevetmed.2013.09.015

    Examples
    --------
    >>> import cutscore as cs
    >>> labelled = cs.Confusion(tp=80, fp=15, fn=20, tn=285)
    >>> cs.corrected_prevalence(labelled, flagged=900, total=10_000)
    prevalence 0.0533 (95 % CI 0.0122–0.0804); flagged 9 % of 10,000 unlabelled rows
    """
    level = check_level(level)
    samples = _samples(labelled, flagged, total)
    rates = samples.rates
    if rates.tpr == rates.fpr:
        why = "can't be estimated where recall and false positive rate are equal"
        raise UndefinedError(Undefined(_WHAT, why, "Use another threshold."))
    estimate = min(max((rates.flagged - rates.fpr) / (rates.tpr - rates.fpr), 0.0), 1.0)
    least = samples.statistic(estimate)
    limit = least + NormalDist().inv_cdf((1 + level) / 2) ** 2
    low, high = (_end(lambda x: samples.statistic(x) - limit, estimate, end) for end in (0.0, 1.0))
    p_value = erfc(sqrt(least / 2)) if estimate in (0.0, 1.0) else 1.0
    if p_value < _DOUBT:
        warnings.warn(CutscoreWarning(NotAMixture(p_value)), stacklevel=2)
    return CorrectedPrevalence(
        estimate, Interval(low, high, level), rates.flagged, p_value, int(total)
    )


def _end(excess: Callable[[float], float], inside: float, outside: float) -> float:
    """Where the statistic passes its limit, between the estimate and an end of [0, 1]."""
    from scipy.optimize import brentq

    if excess(outside) <= 0:
        return outside
    return float(brentq(excess, inside, outside, xtol=1e-12))


class _Rates(NamedTuple):
    flagged: float
    tpr: float
    fpr: float


class _Samples(NamedTuple):
    """Three samples, of unlabelled rows, positives and negatives: how many of how many are
    flagged."""

    parts: tuple[int, int, int]
    wholes: tuple[int, int, int]

    @property
    def rates(self) -> _Rates:
        return _Rates(*(k / n for k, n in zip(self.parts, self.wholes, strict=True)))

    def statistic(self, prior: float) -> float:
        """The score statistic of q = π TPR + (1−π) FPR.

        The likelihood has its maximum under this equation where each rate p of k in n rows has
        (k − np) / (p(1−p)) = λc, with its coefficient c in the equation. The larger λ, the smaller
        the left side of the equation, so there is one λ that satisfies it. The statistic is λ times
        the left side at the observed rates.
        """
        from scipy.optimize import brentq

        coefficients = (1.0, -prior, prior - 1.0)

        def left(multiplier: float) -> float:
            return sum(
                c * _constrained_rate(k, n, multiplier * c)
                for c, k, n in zip(coefficients, self.parts, self.wholes, strict=True)
            )

        start = sum(c * rate for c, rate in zip(coefficients, self.rates, strict=True))
        if abs(start) < 1e-14:
            return 0.0
        far = 1.0 if start > 0 else -1.0
        while left(far) * start > 0:
            far *= 4
        return float(brentq(left, 0.0, far, xtol=1e-12 * abs(far))) * start


def _constrained_rate(k: int, n: int, slope: float) -> float:
    """The rate p in [0, 1] with k − np = slope · p(1−p); k/n at slope 0, falling with it."""
    whole = n + slope
    root = sqrt((whole - 2 * k) ** 2 + 4.0 * k * (n - k))
    if whole > 0:
        return 2 * k / (whole + root)
    return (whole - root) / (2 * slope)


def _samples(labelled: Confusion, flagged: int, total: int) -> _Samples:
    """The counts, checked."""
    if not isinstance(labelled, Confusion):
        raise DataError(BadArgument("labelled", "be a Confusion", labelled))
    for cell in (labelled.tp, labelled.fp, labelled.fn, labelled.tn):
        if not isinstance(cell, (Integral, np.integer)) or cell < 0:
            raise DataError(BadArgument("labelled", "contain counts of unweighted rows", cell))
    if not isinstance(total, Integral) or total < 1:
        raise DataError(BadArgument("total", "be an integer of at least 1", total))
    if not isinstance(flagged, Integral) or not 0 <= flagged <= total:
        raise DataError(BadArgument("flagged", f"be an integer from 0 to {total}", flagged))
    if not (labelled.positives and labelled.negatives):
        only = "negative" if labelled.negatives else "positive"
        have = f"{only} ({labelled.total:,} of them)"
        raise UndefinedError(OneClass(_WHAT, "positives and negatives", have))
    return _Samples(
        (int(flagged), int(labelled.tp), int(labelled.fp)),
        (int(total), int(labelled.positives), int(labelled.negatives)),
    )
