"""Curves: what happens at every threshold, in one order and one length.

All curves start with an explicit ``threshold = +inf`` at which nothing is flagged, and go down
through the distinct scores of the sweep: ``len(curve) == len(sweep) + 1``. (Where scores themselves
are ``+inf``, entry 0 is still "flag nothing", and entry 1 flags them.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.frozen import Frozen
from cutscore.core.html import thumbnail
from cutscore.sweeps.sweep import Floats, Sweep


class _Curve(Frozen):
    """Length and repr of a curve."""

    threshold: Floats

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        names = ", ".join(field.name for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__} of {len(self):,} points: {names}"

    def _facts(self) -> list[tuple[str, str]]:
        *_, low = self.threshold
        high = self.threshold[min(1, len(self) - 1)]
        span = f"{high:.6g} down to {low:.6g}"
        return [("points", f"{len(self):,}"), ("thresholds", f"+inf, then {span}")]


@dataclass(frozen=True, eq=False, repr=False)
class Roc(_Curve):
    """False against true positive rate; see :func:`cutscore.roc`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the scores, descending; those from it on are flagged.
    fpr, tpr : array of float
        The shares of the negatives and of the positives that are flagged.
    """

    threshold: Floats
    fpr: Floats
    tpr: Floats

    def _title(self) -> str:
        return "ROC curve"

    def _facts(self) -> list[tuple[str, str]]:
        return [*super()._facts(), ("AUC", f"{np.trapezoid(self.tpr, self.fpr):.3f}")]

    def _picture(self) -> str:
        return thumbnail(self.fpr, self.tpr)


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecall(_Curve):
    """Recall against precision; see :func:`cutscore.pr`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the scores, descending; those from it on are flagged.
    recall, precision : array of float
        The share of the positives that are flagged, and of the flagged that are positive.
    """

    threshold: Floats
    recall: Floats
    precision: Floats

    def _title(self) -> str:
        return "Precision–recall curve"

    def _picture(self) -> str:
        prevalence = float(self.precision[-1])
        level = ((0.0, prevalence), (1.0, prevalence))
        return thumbnail(self.recall, self.precision, self._title(), guide=level)


@dataclass(frozen=True, eq=False, repr=False)
class Det(_Curve):
    """False alarm against miss rate; see :func:`cutscore.det`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the scores, descending; those from it on are flagged.
    fpr, fnr : array of float
        The share of the negatives that are flagged, and of the positives that are not.
    """

    threshold: Floats
    fpr: Floats
    fnr: Floats

    def _title(self) -> str:
        return "DET curve"


@dataclass(frozen=True, eq=False, repr=False)
class Gain(_Curve):
    """Share of cases flagged against share of positives caught, and the lift; see
    :func:`cutscore.gain`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the scores, descending; those from it on are flagged.
    flagged, gain : array of float
        The shares of all cases and of the positives that are flagged.
    lift : array of float
        How much richer in positives the flagged cases are than all.
    """

    threshold: Floats
    flagged: Floats
    gain: Floats
    lift: Floats

    def _title(self) -> str:
        return "Cumulative gain"

    def _picture(self) -> str:
        return thumbnail(self.flagged, self.gain, self._title())


@dataclass(frozen=True, eq=False, repr=False)
class Lift(_Curve):
    """Share of cases flagged against the lift; see :func:`cutscore.lift`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the scores, descending; those from it on are flagged.
    flagged : array of float
        The share of all cases that are flagged.
    lift : array of float
        How much richer in positives the flagged cases are than all.
    """

    threshold: Floats
    flagged: Floats
    lift: Floats


def roc(s: Sweep) -> Roc:
    """ROC curve: FPR = FP/N and TPR = TP/P at every threshold.

    Runs from (0, 0) to (1, 1) and never down; tied scores make a diagonal step.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.roc(s).tpr
    array([0.  , 0.25, 0.25, 0.5 , 0.75, 0.75, 1.  , 1.  , 1.  ])
    >>> cs.roc(s).threshold[0], cs.roc(s)
    (np.float64(inf), Roc of 9 points: threshold, fpr, tpr)
    """
    s.needs_both_classes("a ROC curve")
    return Roc._adopt(_thresholds(s), from_zero(s.fp) / s.N, from_zero(s.tp) / s.P)


def pr(s: Sweep) -> PrecisionRecall:
    """Precision–recall curve: recall = TP/P, precision = TP/(TP+FP).

    At the start nothing is flagged and the precision is 0/0; it is drawn from 1, as everywhere.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.pr(cs.sweep([1, 0, 1], [3, 2, 1])).precision.round(3)
    array([1.   , 1.   , 0.5  , 0.667])
    """
    s.needs_positives("a precision–recall curve")
    s.needs_scores("a precision–recall curve")
    tp, fp = from_zero(s.tp), from_zero(s.fp)
    return PrecisionRecall._adopt(_thresholds(s), tp / s.P, _precision(tp, fp))


def det(s: Sweep) -> Det:
    """DET curve: false alarm rate FP/N against miss rate FN/P.

    Usually drawn on normal-deviate axes, where normal scores make a straight line.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.det(cs.sweep([1, 0, 1], [3, 2, 1])).fnr
    array([1. , 0.5, 0.5, 0. ])
    """
    s.needs_both_classes("a DET curve")
    return Det._adopt(_thresholds(s), from_zero(s.fp) / s.N, (s.P - from_zero(s.tp)) / s.P)


def gain(s: Sweep) -> Gain:
    """Cumulative gain and lift: what a budget of flagged cases catches.

    ``flagged`` = (TP+FP)/(P+N), ``gain`` = TP/P, ``lift`` = precision / prevalence. At the start
    the lift follows the precision's convention and is 1 / prevalence.

    Examples
    --------
    >>> import cutscore as cs
    >>> g = cs.gain(cs.sweep([1, 0, 0, 0], [4, 3, 2, 1]))
    >>> g.flagged, g.gain
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0., 1., 1., 1., 1.]))
    >>> g.lift.round(2)
    array([4.  , 4.  , 2.  , 1.33, 1.  ])
    """
    flagged, lift = _flagged_and_lift(s, "a gain curve")
    return Gain._adopt(_thresholds(s), flagged, from_zero(s.tp) / s.P, lift)


def lift(s: Sweep) -> Lift:
    """Lift curve: precision / prevalence against the share of cases flagged.

    A lift of 3 at 10 % flagged says that the highest tenth of the scores has three times as many
    positives as a tenth drawn at random. No lift exceeds 1 / prevalence nor 1 / ``flagged``; where
    all is flagged it is 1. At the start it follows the precision's convention and is
    1 / prevalence.

    Examples
    --------
    >>> import cutscore as cs
    >>> curve = cs.lift(cs.sweep([1, 0, 1, 0, 0, 0, 0, 0, 0, 0], range(10, 0, -1)))
    >>> curve
    Lift of 11 points: threshold, flagged, lift
    >>> curve.flagged[3], round(curve.lift[3].item(), 3)  # the three highest
    (np.float64(0.3), 3.333)
    """
    return Lift._adopt(_thresholds(s), *_flagged_and_lift(s, "a lift curve"))


def _flagged_and_lift(s: Sweep, what: str) -> tuple[Floats, Floats]:
    s.needs_positives(what)
    s.needs_scores(what)
    tp, fp = from_zero(s.tp), from_zero(s.fp)
    flagged = (tp + fp) / (s.P + s.N)
    # Where positives have next to no weight, it is infinite.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if s.prevalence > 0:
            return flagged, _precision(tp, fp) / s.prevalence
        return flagged, np.concatenate(([np.inf], tp[1:] / s.P / flagged[1:]))


def _thresholds(s: Sweep) -> Floats:
    return np.concatenate(([np.inf], s.threshold))


def from_zero(cumulative: NDArray[Any]) -> NDArray[Any]:
    """Cumulative masses from the start on, where nothing is flagged."""
    return np.concatenate((np.zeros(1, cumulative.dtype), cumulative))


def sums_from_zero(masses: NDArray[Any]) -> NDArray[Any]:
    """The same of masses that are not added up yet."""
    out = np.empty(len(masses) + 1, masses.dtype)
    out[0] = 0
    np.cumsum(masses, out=out[1:])
    return out


def _precision(tp: NDArray[Any], fp: NDArray[Any]) -> Floats:
    """TP/(TP+FP) from the start on, where it is 1 by convention."""
    return np.concatenate(([1.0], tp[1:] / (tp[1:] + fp[1:])))
