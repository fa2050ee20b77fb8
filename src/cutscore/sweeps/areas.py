"""Areas under the curves, and the extremes between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cutscore.core import _native
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Shown
from cutscore.sweeps.sweep import Floats, Sweep


def auc(s: Sweep) -> float:
    """Area under the ROC curve: P(s₊ > s₋) + ½ P(s₊ = s₋), exact.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.auc(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33]))
    0.75
    """
    return s.auc


def gini(s: Sweep) -> float:
    """Gini coefficient: 2 AUC − 1, which is 0 for chance and 1 for perfection.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.gini(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33]))
    0.5
    """
    s.needs_both_classes("the Gini coefficient")
    return 2 * s.auc - 1


@dataclass(frozen=True)
class PartialAuc:
    """The area of a part of the ROC curve, as a function of a sweep.

    What :func:`cutscore.partial_auc` computes, to be handed to functions that take a statistic:
    :func:`cutscore.compare`, :func:`cutscore.bootstrap`.

    Parameters
    ----------
    min_fpr, max_fpr, min_tpr, max_tpr : float, optional
        As in :func:`cutscore.partial_auc`.
    standardized : bool, default False
        As in :func:`cutscore.partial_auc`.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> area = cs.PartialAuc(max_fpr=0.5)
    >>> area(s), area.name, area.highest
    (0.25, 'partial auc', 0.5)
    """

    min_fpr: float | None = None
    max_fpr: float | None = None
    min_tpr: float | None = None
    max_tpr: float | None = None
    standardized: bool = False

    def __post_init__(self) -> None:
        if self.over_fpr == (self.min_tpr is not None or self.max_tpr is not None):
            rule = "a partial AUC requires a range of either FPR or TPR"
            hint = "Use {0} and/or {1}, or {2} and/or {3}. The full area is auc(s)."
            raise DataError(Conflict(("min_fpr", "max_fpr", "min_tpr", "max_tpr"), rule, hint))
        low, high = self.ends
        if not 0.0 <= low < high <= 1.0:
            name, value = "max_fpr" if self.over_fpr else "max_tpr", Shown(f"[{low:g}, {high:g}]")
            rule = "have 0 <= min < max <= 1"
            raise DataError(BadArgument(name, rule, value, subject="an interval"))

    @property
    def over_fpr(self) -> bool:
        """Whether the interval is one of FPR, not of TPR."""
        return self.min_fpr is not None or self.max_fpr is not None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        low = self.min_fpr if self.over_fpr else self.min_tpr
        high = self.max_fpr if self.over_fpr else self.max_tpr
        return 0.0 if low is None else float(low), 1.0 if high is None else float(high)

    @property
    def chance(self) -> float:
        """The area under the diagonal."""
        low, high = self.ends
        square = (high * high - low * low) / 2
        return square if self.over_fpr else high - low - square

    @property
    def scale(self) -> float:
        """What one unit of area counts: 1, or ½ / (best − chance) on McClish's scale."""
        low, high = self.ends
        return 0.5 / (high - low - self.chance) if self.standardized else 1.0

    @property
    def highest(self) -> float:
        """The value of a perfect score."""
        low, high = self.ends
        return 1.0 if self.standardized else high - low

    @property
    def lowest(self) -> float:
        """The value of the worst score there is."""
        return 0.5 - self.chance * self.scale if self.standardized else 0.0

    @property
    def name(self) -> str:
        """What it is called in results."""
        return "standardized partial auc" if self.standardized else "partial auc"

    def __call__(self, s: Sweep) -> float:
        s.needs_both_classes("a partial AUC")
        fpr = np.concatenate(([0.0], s.fp / s.N))
        tpr = np.concatenate(([0.0], s.tp / s.P))
        low, high = self.ends
        if self.over_fpr:
            area = _area_between(fpr, tpr, low, high)
        else:
            # Seen from the other side: walk the curve upwards, its height being 1 - FPR.
            area = _area_between(tpr, 1.0 - fpr, low, high)
        width, chance = high - low, self.chance
        area = min(area, width)  # rounding
        if self.standardized:
            return 0.5 * (1.0 + (area - chance) / (width - chance))
        return area


def partial_auc(  # noqa: PLR0913 - either pair of ends
    s: Sweep,
    *,
    min_fpr: float | None = None,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    max_tpr: float | None = None,
    standardized: bool = False,
) -> float:
    r"""Area of a part of the ROC curve.

    Over an interval of false positive rates it is :math:`\int \mathrm{TPR}\,d\mathrm{FPR}`; over an
    interval of true positive rates it is the area beside the curve,
    :math:`\int (1-\mathrm{FPR})\,d\mathrm{TPR}`. Both reach from 0 to the length of the interval.

    Parameters
    ----------
    s : Sweep
        The sweep.
    min_fpr, max_fpr : float, optional
        Interval of FPR; an end that is left out is 0 or 1.
    min_tpr, max_tpr : float, optional
        Interval of TPR instead.
    standardized : bool, default False
        McClish's scale: ½ (1 + (A − chance) / (best − chance)): chance is ½ and perfection 1.

    References
    ----------
    McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9 (1989).
    https://doi.org/10.1177/0272989X8900900307

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.partial_auc(s, max_fpr=0.5)
    0.25
    >>> cs.partial_auc(s, max_fpr=0.5, standardized=True)
    0.666...
    >>> cs.partial_auc(s, min_tpr=0.75)
    0.125
    """
    return PartialAuc(min_fpr, max_fpr, min_tpr, max_tpr, standardized)(s)


def average_precision(s: Sweep) -> float:
    """Average precision: Σ (Rᵢ − Rᵢ₋₁) Pᵢ over all thresholds, not interpolated.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.average_precision(cs.sweep([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.833...
    """
    s.needs_positives("the average precision")
    s.needs_scores("the average precision")
    total = 0.0
    if not s.weighted:
        for at in s.parts():
            tp, fp = s.before(at)
            masses = s.pos[at], s.neg[at]
            total += _native.average_precision(*masses, int(tp), int(fp), float(s.P), 1)
        return min(1.0, total)
    for at, tp, fp in s.running():
        rises = np.flatnonzero(s.pos[at])  # the recall
        precision = tp[rises] / (tp[rises] + fp[rises])
        total += float(np.sum(s.pos[at][rises] / s.P * precision))
    return min(1.0, total)


def kolmogorov_smirnov(s: Sweep) -> float:
    """Kolmogorov–Smirnov distance of the two classes' scores: max |TPR − FPR|.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.kolmogorov_smirnov(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    0.5
    """
    s.needs_both_classes("the Kolmogorov–Smirnov distance")
    if not s.weighted and int(s.P) * int(s.N) < 2**62:
        return int(np.abs(s.tp * s.N - s.fp * s.P).max()) / (int(s.P) * int(s.N))
    return float(np.abs(s.tp / s.P - s.fp / s.N).max())


def equal_error_rate(s: Sweep) -> float:
    """Equal error rate: where the ROC curve has FPR = FNR, straight lines between its points.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.equal_error_rate(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    0.25
    """
    s.needs_both_classes("the equal error rate")
    fpr = np.concatenate(([0.0], s.fp / s.N))
    fnr = np.concatenate(([1.0], (s.P - s.tp) / s.P))
    gap = fpr - fnr  # from -1 up to 1
    k = int(np.argmax(gap >= 0))
    share = gap[k - 1] / (gap[k - 1] - gap[k])
    return float(fpr[k - 1] + share * (fpr[k] - fpr[k - 1]))


def _area_between(x: Floats, y: Floats, low: float, high: float) -> float:
    """∫ y dx over [low, high] along a curve with ascending x.

    Where the curve jumps at an end, the interval starts after the jump or ends before it: x = low
    takes the last point there, x = high the first, and the area in between is the same either way.
    """
    first = int(np.searchsorted(x, low, side="right"))
    last = int(np.searchsorted(x, high, side="left"))
    inner = slice(first, last)
    xs = np.concatenate(([low], x[inner], [high]))
    ys = np.concatenate(([_height(x, y, first, low)], y[inner], [_height(x, y, last, high)]))
    return float(np.sum(np.diff(xs) * (ys[1:] + ys[:-1])) / 2)


def _height(x: Floats, y: Floats, k: int, at: float) -> Any:
    """The curve's height at ``at``, which lies between points k - 1 and k."""
    return y[k - 1] + (y[k] - y[k - 1]) * (at - x[k - 1]) / (x[k] - x[k - 1])
