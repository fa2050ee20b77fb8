"""DeLong's placements of each class among the other: the variance of an AUC or of part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from cutscore.core import _native
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import TooFew
from cutscore.sweeps.areas import PartialAuc
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep

Statistic = Callable[[Sweep], float]


def auc_variance(s: Sweep) -> float:
    r"""DeLong's variance of the AUC, computed from the placements of each class.

    :math:`\mathrm{var} = \frac{1}{P(P-1)} \sum_i (V_i - A)^2 + \frac{1}{N(N-1)} \sum_j (V_j - A)^2`
    where :math:`V` is the share of the other class that is ranked correctly relative to a row, with
    ties counted as one half. Without weights, it is a ratio of two integers, rounded once. With
    weights, the sums contain squared weights, and the number of rows is replaced by (Σw)²/Σw².

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 44 (1988). https://doi.org/10.2307/2531595

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.auc_variance(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    0.041666666666666664
    """
    check_sweep(s).needs_both_classes("the variance of the AUC")
    rows_pos, rows_neg = sizes_of(s, "the variance of the AUC")
    if not (rows_pos > 1 and rows_neg > 1):
        of, have, hint = (
            "rows of each class",
            min(rows_pos, rows_neg),
            "Use auc_interval(s), which needs one.",
        )
        raise UndefinedError(TooFew("DeLong's variance", 2, of, float(have), hint))
    P, N = int(s.P), int(s.N)
    # The integers of the native core: P (2N)² in 128 bits and 2PN in 64.
    if not s.weighted and 4 * P * N * max(P, N) < 2**128 and 2 * P * N < 2**64:
        twice, of_pos, of_neg = s.twice_area, 0, 0
        for at in s.parts():
            tp, fp = s.before(at)
            sums = _native.squared_placements(s.pos[at], s.neg[at], int(tp), N - int(fp))
            of_pos, of_neg = of_pos + sums[0], of_neg + sums[1]
        in_pos, in_neg = P * of_pos - twice * twice, N * of_neg - twice * twice
        a, b = P * (P - 1), N * (N - 1)
        return (in_pos * P * b + in_neg * N * a) / (4 * P * P * N * N * a * b)
    pos2, neg2 = s.squares("the variance of the AUC")
    spread_pos = spread_neg = 0.0
    for at, tp, fp in s.running():
        won, lost = _block_placements(s, at, tp, fp)
        spread_pos += float(np.sum(pos2[at] * (won - s.auc) ** 2))
        spread_neg += float(np.sum(neg2[at] * (lost - s.auc) ** 2))
    spread_pos *= rows_pos / (rows_pos - 1)
    spread_neg *= rows_neg / (rows_neg - 1)
    return spread_pos / s.P / s.P + spread_neg / s.N / s.N


def placements(s: Sweep) -> tuple[Floats, Floats]:
    """At each score, the share of negatives below it and that of positives above it, ties half."""
    return _block_placements(s, slice(None), s.tp, s.fp)


def _block_placements(s: Sweep, at: slice, tp: Masses, fp: Masses) -> tuple[Floats, Floats]:
    return ((s.N - fp) + 0.5 * s.neg[at]) / s.N, (tp - 0.5 * s.pos[at]) / s.P


def partial_placements(s: Sweep, area: PartialAuc) -> tuple[Floats, Floats]:
    """At each score, what a positive and what a negative there add to a partial AUC.

    Of FPRs from c to d: a positive at the FPR u adds the part of [c, d] that is above u, and a
    negative at u adds the TPR at u, or at c or d if u is outside. Both but for a constant, on which
    no variance depends. Rows of equal scores are spread evenly over the line that they make.
    """
    swap = -1 if not area.over_fpr else 1  # TPRs are FPRs of the other class, from the other side
    pos, neg = (s.pos, s.neg)[::swap]
    x, y = (np.concatenate(([0.0], np.cumsum(m[::swap]) / m.sum())) for m in (neg, pos))
    c, d = area.ends if area.over_fpr else (1 - area.ends[1], 1 - area.ends[0])
    lo, hi = x[:-1], x[1:]
    a, b, gap = np.clip(lo, c, d), np.clip(hi, c, d), hi - lo
    # How much of each step is below c, inside and above d.
    parts = np.minimum(hi, c) - np.minimum(lo, c), b - a, np.maximum(hi, d) - np.maximum(lo, d)
    flat = gap <= 0

    def mean(*values: Floats | float) -> Floats:
        total = sum(part * value for part, value in zip(parts, values, strict=True))
        out: Floats = np.divide(total, gap, out=np.zeros(len(gap)), where=~flat)
        return out

    slope = np.divide(np.diff(y), gap, out=np.zeros(len(gap)), where=~flat)
    low, high = (
        curve_at(x, y, np.array([c]), "right")[0],
        curve_at(x, y, np.array([d]), "left")[0],
    )
    heights = y[:-1] + slope * ((a + b) / 2 - lo)
    of_pos = d - np.where(flat, a, mean(c, (a + b) / 2, d))
    of_neg = mean(low, heights, high)
    out = area.scale * of_pos[::swap], area.scale * of_neg[::swap]
    return out if area.over_fpr else out[::-1]


def placement_variances(s: Sweep, area: Statistic) -> tuple[float, float]:
    """The sample variances of what the positives and the negatives add to an area: DeLong's
    variance of it is their sum, each over the number of its rows."""
    auc_variance(s)  # whatever that needs
    values = partial_placements(s, area) if isinstance(area, PartialAuc) else placements(s)
    out = []
    for v, mass, squares in zip(values, (s.pos, s.neg), s.squares("the variance"), strict=True):
        rows, share = effective(mass.sum(), squares.sum()), mass / mass.sum()
        spread = np.sum(squares / squares.sum() * (v - np.sum(share * v)) ** 2)
        out.append(float(spread) * rows / (rows - 1))
    return out[0], out[1]


def area_variance(s: Sweep, area: Statistic) -> float:
    """DeLong's variance of the AUC, or its counterpart for a :class:`cutscore.PartialAuc`."""
    if not isinstance(area, PartialAuc):
        return auc_variance(s)
    variances, sizes = placement_variances(s, area), sizes_of(s, "the variance")
    return variances[0] / sizes[0] + variances[1] / sizes[1]


def effective(mass: float, squares: float) -> float:
    """Kish's number of equally weighted rows that say as much as these: (Σw)² / Σw²."""
    return float(mass * (mass / squares)) if squares > 0 else 0.0


def sizes_of(s: Sweep, what: str) -> tuple[float, float]:
    """As how many equally weighted rows the positives and the negatives count."""
    pos2, neg2 = s.square_totals(what)
    return effective(s.P, pos2), effective(s.N, neg2)


def curve_at(fpr: Floats, tpr: Floats, x: Floats, side: Literal["left", "right"]) -> Floats:
    k = np.searchsorted(fpr, x, side=side)
    a, b = np.maximum(k - 1, 0), np.minimum(k, len(fpr) - 1)
    on = b if side == "left" else a  # where a point of the curve has that very rate
    gap = fpr[b] - fpr[a]
    share = np.divide(x - fpr[a], gap, out=np.zeros(len(x)), where=gap > 0)
    return np.where(fpr[on] == x, tpr[on], tpr[a] + share * (tpr[b] - tpr[a]))
