"""Bayes' rule in log odds: from a log-likelihood ratio and a prior to a probability, and back."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from cutscore.core.checks import as_array, score_column
from cutscore.core.errors import DataError
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import ValueMissing
from cutscore.core.findings.statistics import NotProbabilities
from cutscore.measures.prior import log_odds
from cutscore.sweeps.sweep import Floats


@overload
def probability(llr: float, prior: float) -> float: ...
@overload
def probability(llr: ArrayLike, prior: float) -> Floats: ...
def probability(llr: ArrayLike, prior: float) -> Floats | float:
    r"""P(+) of cases with these log-likelihood ratios, at a prior.

    :math:`p = \sigma(\mathrm{LLR} + \ln\mathrm{clr})` with clr = prior / (1 − prior): Bayes' rule.

    Parameters
    ----------
    llr : float or array-like
        Log-likelihood ratios in nats: from :meth:`cutscore.Calibrator.llr`,
        :func:`cutscore.cross_fit` or :func:`cutscore.llr`. ``±inf`` give 0 and 1.
    prior : float
        The share of positives where decisions are made, above 0 and below 1.

    Returns
    -------
    numpy.ndarray or float
        In the shape of ``llr``.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.probability([-2.0, 0.0, 2.0], prior=0.01).round(4)
    array([0.0014, 0.01  , 0.0695])

    Probabilities for a prior of 25 %, converted to a prior of 1 %:

    >>> cs.probability(cs.llr([0.25, 0.9], prior=0.25), prior=0.01).round(4)
    array([0.01  , 0.2143])
    """
    x, shape = column(llr, "llr")
    return reshape(sigmoid(x + log_odds(prior)), shape)


@overload
def llr(probability: float, prior: float) -> float: ...
@overload
def llr(probability: ArrayLike, prior: float) -> Floats: ...
def llr(probability: ArrayLike, prior: float) -> Floats | float:
    r"""The log-likelihood ratios of probabilities that hold at a prior.

    :math:`\mathrm{LLR} = \ln\frac{p}{1-p} - \ln\mathrm{clr}` with clr = prior / (1 − prior): the
    evidence without the prior. The inverse of :func:`cutscore.probability`.

    Parameters
    ----------
    probability : float or array-like
        Calibrated probabilities, from 0 to 1: 0 and 1 have the LLRs ``-inf`` and ``inf``.
    prior : float
        The share of positives that they hold for: the prevalence of the training rows, by weight.

    Returns
    -------
    numpy.ndarray or float
        In the shape of ``probability``.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.llr([0.0, 0.02, 0.5, 1.0], prior=0.02).round(4)
    array([  -inf, 0.    , 3.8918,    inf])
    """
    p, shape = column(probability, "probability")
    ok = (p >= 0) & (p <= 1)
    if not ok.all():
        row = int(ok.argmin())
        hint = "To calibrate scores, use calibrate(sweep(y, score)).llr(score)."
        where = Where(row, "probability")
        raise DataError(NotProbabilities("llr", float(p[row]), hint=hint, where=where))
    with np.errstate(divide="ignore"):
        return reshape(np.log(p) - np.log1p(-p) - log_odds(prior), shape)


def column(values: ArrayLike, name: str) -> tuple[Floats, tuple[int, ...]]:
    """Numbers of any shape as one float64 column, without NaN, and their shape."""
    a = as_array(values, name)
    x = score_column(a.reshape(-1), name).astype(np.float64, copy=False)
    if np.isnan(x).any():
        row = int(np.isnan(x).argmax())
        raise DataError(ValueMissing(name, "NaN", "Drop such rows.", where=Where(row, name)))
    return x, a.shape


def reshape(x: Floats, shape: tuple[int, ...]) -> Floats | float:
    """A column in the shape of the input; a float for a scalar."""
    return x.reshape(shape) if shape else float(x[0])


@overload
def sigmoid(x: float) -> float: ...
@overload
def sigmoid(x: Floats) -> Floats: ...
def sigmoid(x: Floats | float) -> Floats | float:
    """1 / (1 + e⁻ˣ), with full precision near 0 and without overflow."""
    e = np.exp(-np.abs(x))
    out = np.where(np.asarray(x) >= 0, 1.0, e) / (1 + e)
    return out if np.ndim(x) else float(out)
