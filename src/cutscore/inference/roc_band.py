"""Confidence band of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from cutscore.core.frozen import Frozen
from cutscore.inference.placements import curve_at, sizes_of
from cutscore.measures.prior import check_level
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep


@dataclass(frozen=True, eq=False, repr=False)
class Band(Frozen):
    """A region that contains the whole ROC curve; see :func:`cutscore.roc_band`.

    Parameters
    ----------
    fpr, low, high : array of float
        False positive rates from 0 to 1, with the lowest and the highest TPR at each.
    level : float
        Confidence level.
    """

    fpr: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        return len(self.fpr)

    def __repr__(self) -> str:
        return f"Band of {len(self):,} points at {100 * self.level:g} %: fpr, low, high"


def band_width(n: float, level: float, scores: int = 1) -> float:
    """Within so much of the share that is seen, to either side, are the true shares of all cuts at
    once: of n rows, and of some scores of the same rows.

    Examples
    --------
    >>> from cutscore.inference.roc_band import band_width
    >>> round(band_width(1000, 0.95), 3), round(band_width(1000, 0.95, scores=5), 3)
    (0.043, 0.051)
    """
    return sqrt(log(2 * scores / (1 - level)) / (2 * n))


def roc_band(s: Sweep, *, level: float = 0.95) -> Band:
    r"""A simultaneous confidence band: it contains the whole true ROC curve at the given level.

    The TPR at every threshold is known to within :math:`\sqrt{\ln(2/\alpha)/2P}`, and every FPR to
    within
    :math:`\sqrt{\ln(2/\alpha)/2N}`, with :math:`\alpha = 1 - \sqrt{level}` each (Dvoretzky,
    Kiefer, Wolfowitz and Massart); the band contains all curves within these distances. It is valid
    for any distributions, with or without ties, and any number of rows, so it is wide. With
    weights, the effective number of rows (Σw)²/Σw² is used, which is an approximation.

    Returns
    -------
    Band
        At each ``fpr``, from 0 to 1, the lowest and the highest TPR of the band.

    References
    ----------
    Campbell, "Advances in statistical methodology for the evaluation of diagnostic and laboratory
    tests", Statistics in Medicine 13 (1994). https://doi.org/10.1002/sim.4780130513

    Massart, "The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality", Annals of
    Probability 18 (1990). https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> band = cs.roc_band(cs.sweep(y, rng.standard_normal(2000) + y))
    >>> at = np.searchsorted(band.fpr, 0.2)
    >>> band.low[at].round(2), band.high[at].round(2)
    (np.float64(0.45), np.float64(0.68))
    """
    level = check_level(level)
    check_sweep(s).needs_both_classes("a ROC band")
    rows = sizes_of(s, "a ROC band")
    up, right = (band_width(n, sqrt(level)) for n in rows)
    small = s.compact()
    fpr = np.concatenate(([0.0], small.fp / s.N))
    tpr = np.concatenate(([0.0], small.tp / s.P))
    x = np.unique(np.clip(np.concatenate((fpr - right, fpr, fpr + right, [0.0, 1.0])), 0.0, 1.0))
    # The highest point of the curve at a rate, and the lowest: they differ where it goes straight
    # up. Tied scores make a diagonal, on which it is interpolated.
    highest = curve_at(fpr, tpr, np.minimum(x + right, 1.0), side="right")
    lowest = curve_at(fpr, tpr, np.maximum(x - right, 0.0), side="left")
    return Band(x, np.maximum(0.0, lowest - up), np.minimum(1.0, highest + up), level)
