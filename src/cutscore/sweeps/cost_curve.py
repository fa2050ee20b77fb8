"""Costs that are not settled yet: every ratio of them at once, by the hull of the ROC curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import as_array, threads
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import BeyondFloats, NotProbabilities
from cutscore.core.frozen import Frozen
from cutscore.core.html import thumbnail
from cutscore.core.types import ArrayLike
from cutscore.measures.costs import Costs
from cutscore.measures.prior import check_prior
from cutscore.sweeps.hull import Hull, hull, vertices
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep


def thresholds_for(s: Sweep, cost_ratios: ArrayLike, *, prior: float | None = None) -> Floats:
    """The best threshold for each of many cost ratios: one binary search on the hull for each.

    Parameters
    ----------
    s : Sweep
        The sweep.
    cost_ratios : array-like, or sequence of Costs
        Ratios λ₋/λ₊ of the cost of a false alarm to that of a missed positive, as ``Costs.ratio``;
        1/20 where a miss costs twenty times as much. Or a sequence of :class:`cutscore.Costs`.
    prior : float, optional
        The share of positives where decisions are made; that of the sweep if left out.

    Returns
    -------
    array
        Thresholds in the order of the ratios, placed as by :meth:`Sweep.threshold_of`. Where two
        cuts are equally good it is the one with fewer false alarms.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.thresholds_for(s, [1 / 20, 1, 1.5, 20])
    array([0.45, 0.67, 0.67, 0.88])
    >>> cs.thresholds_for(s, [cs.Costs(fp=1, fn=20)], prior=0.01)
    array([0.88])
    """
    ratio = _ratios(cost_ratios)
    check_sweep(s).needs_both_classes("a threshold for costs")
    if prior is not None:
        p = check_prior(prior)
        ratio = ratio * ((1 - p) / p * (s.P / s.N))  # of posterior odds in this sweep
    # Where scores are +inf no threshold flags nothing: the hull of the other cuts.
    v = vertices(s, first=1 if s.threshold[0] == np.inf else 0)
    placed = s.thresholds_of(v.cut)
    return placed[_best_vertex(v.odds, ratio)]


def _ratios(values: ArrayLike) -> Floats:
    if isinstance(values, (Costs, Iterator)):
        values = [values] if isinstance(values, Costs) else list(values)
    ratio = as_array(values, "cost_ratios")
    if ratio.dtype.kind == "O":
        ratio = np.array([_ratio(one) for one in ratio.ravel().tolist()]).reshape(ratio.shape)
    if ratio.dtype.kind not in "biuf":
        raise DataError(BadArgument("cost_ratios", "be numbers or Costs", values))
    ratio = ratio.astype(np.float64)
    if not np.all(ratio >= 0):
        bad = float(ratio.ravel()[np.argmin(ratio.ravel() >= 0)])
        raise DataError(
            BadArgument("cost_ratios", "be at least 0", bad, subject="a cost ratio λ₋/λ₊")
        )
    return ratio


def _ratio(one: object) -> float:
    if isinstance(one, Costs):
        return one.ratio
    if isinstance(one, (Real, Decimal)):
        return float(one)
    raise DataError(BadArgument("cost_ratios", "be numbers or Costs", one))


def _best_vertex(slope: Floats, line: Floats) -> NDArray[np.int64]:
    """The vertex that lines of a given slope touch: past all segments that are steeper, and past
    what is caught without a false alarm."""
    steepest = np.minimum(line, np.finfo(np.float64).max)
    at = _native.look_up(-slope, -steepest.ravel(), False, threads(steepest.size))
    return np.asarray(at).reshape(steepest.shape)


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Frozen):
    """The lower envelope of expected costs; see :func:`cutscore.cost_curve`.

    One entry a vertex of the hull.

    Parameters
    ----------
    threshold, fpr, fnr : array of float
        A cut and its rates.
    low, high : array of float
        From where to where on the axis of probability times cost it is the best.
    """

    threshold: Floats
    fpr: Floats
    fnr: Floats
    low: Floats
    high: Floats

    def cost(self, x: ArrayLike) -> Any:
        """Normalised expected cost of the best cut at the probability-cost ``x``, from 0 to 1."""
        at = np.asarray(x)
        if at.dtype.kind not in "biuf" or not np.all((at >= 0) & (at <= 1)):
            raise DataError(BadArgument("x", "be between 0 and 1", x, subject="a probability-cost"))
        k = np.searchsorted(self.high[:-1], at, side="left")
        return self.fnr[k] * at + self.fpr[k] * (1 - at)

    def net_benefit(self, threshold: ArrayLike, prior: float) -> Any:
        """Net benefit of the best cut at threshold probabilities t, from 0 to less than 1, where
        the share ``prior`` of the cases is positive: π − (π(1 − t) + (1 − π)t) · cost(x) / (1 − t)
        at the probability-cost x of a miss that costs (1 − t)/t false alarms.

        Any score has it; :func:`cutscore.net_benefit` has that of acting on probabilities too.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.sweep([1, 0, 1, 0], [0.8, 0.6, 0.5, 0.2])
        >>> cs.cost_curve(s).net_benefit([0.5, 0.2], prior=0.5)
        array([0.25  , 0.4375])
        """
        p, t = check_prior(prior), np.asarray(threshold, np.float64)
        if not np.all((t >= 0) & (t < 1)):
            rule = "be at least 0 and less than 1"
            raise DataError(BadArgument("threshold", rule, threshold))
        on_pos, on_neg = p * (1 - t), (1 - p) * t
        return p - (on_pos + on_neg) * self.cost(on_pos / (on_pos + on_neg)) / (1 - t)

    @property
    def area(self) -> float:
        """The mean of the normalised expected cost over all probability-costs."""
        x = np.concatenate(([0.0], self.high))
        y = self.cost(x)
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        return f"CostCurve of {len(self):,} cuts, mean normalised cost {self.area:.4g}"

    def _title(self) -> str:
        return "Cost curve"

    def _picture(self) -> str:
        x = np.append(0.0, self.high)
        return thumbnail(x, 2 * self.cost(x), self._title(), guide=((0, 0), (0.5, 1), (1, 0)))


def cost_curve(s: Sweep) -> CostCurve:
    """Cost curve: the expected cost of the best cut for every class ratio and cost ratio.

    On the horizontal axis is x = π₊λ₊ / (π₊λ₊ + π₋λ₋), which joins the share of positives and the
    costs, ``Costs.probability_cost(prior)``; on the vertical one the expected cost
    FNR·x + FPR·(1 − x), as a share of the highest possible. Each cut is a straight line there, and
    the curve is their lower envelope: cut k is best between ``low[k]`` and ``high[k]``. Flagging
    nothing or everything costs min(x, 1 − x).

    References
    ----------
    Drummond & Holte, "Cost curves: An improved method for visualizing classifier performance",
    Machine Learning 65 (2006). https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> curve = cs.cost_curve(s)
    >>> curve
    CostCurve of 5 cuts, mean normalised cost 0.1458
    >>> curve.high.round(3), curve.cost(0.5)
    (array([0.   , 0.333, 0.5  , 1.   , 1.   ]), np.float64(0.25))
    """
    check_sweep(s).needs_both_classes("a cost curve")
    h = hull(s)
    edge = 1 / (1 + h.slope)
    low, high = np.concatenate(([0.0], edge)), np.concatenate((edge, [1.0]))
    return CostCurve(h.threshold, h.fpr, (h.tp[-1] - h.tp) / h.tp[-1], low, high)


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefit(Frozen):
    """A decision curve; see :func:`cutscore.net_benefit`.

    Parameters
    ----------
    threshold : array of float
        ``+inf``, then the probabilities, descending, from which on one might act.
    net_benefit, flag_all, best : array of float
        The net benefit of acting so, of flagging everything, and of the score's best cut, at the
        exchange rate of that probability.
    """

    threshold: Floats
    net_benefit: Floats
    flag_all: Floats
    best: Floats

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        return (
            f"NetBenefit of {len(self):,} points: threshold, net_benefit, flag_all, best "
            "(flagging nothing has net benefit 0)"
        )

    def _title(self) -> str:
        return "Decision curve"


def net_benefit(s: Sweep, *, prior: float | None = None) -> NetBenefit:
    """Decision curve: the net benefit of acting on each probability as the threshold.

    Somebody who acts from the probability t on holds a false alarm worth t/(1−t) caught positives:
    NB(t) = π₊·TPR − π₋·FPR · t/(1−t), caught positives for each case, net of false alarms. One
    entry a cut in the order of all curves, from ``threshold = +inf`` on, where nothing is flagged
    and the net benefit is 0.

    Parameters
    ----------
    s : Sweep
        A sweep whose scores are probabilities.
    prior : float, optional
        The share of positives where decisions are made; that of the sweep if left out.

    Returns
    -------
    NetBenefit
        ``net_benefit`` of flagging from each ``threshold`` on, ``flag_all`` of flagging everything
        at that exchange rate, and ``best`` that of the score's best cut for it: a gap between
        ``best`` and ``net_benefit`` is what miscalibration costs.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis", Medical Decision Making 26 (2006).
    https://doi.org/10.1177/0272989X06295361

    Examples
    --------
    >>> import cutscore as cs
    >>> curve = cs.net_benefit(cs.sweep([1, 0, 1, 0], [0.8, 0.6, 0.5, 0.2]))
    >>> curve.threshold, curve.net_benefit
    (array([inf, 0.8, 0.6, 0.5, 0.2]), array([ 0.   ,  0.25 , -0.125,  0.25 ,  0.375]))
    >>> curve.best
    array([0.   , 0.25 , 0.25 , 0.25 , 0.4375])
    """
    check_sweep(s).needs_both_classes("a decision curve")
    s.needs_scores("a decision curve")
    top, bottom = float(s.threshold[0]), float(s.threshold[-1])
    if bottom < 0 or top > 1:
        hint = "Calibrate them first, or use cost_curve(s), which works for any scores."
        one = bottom if bottom < 0 else top
        raise DataError(NotProbabilities("a decision curve", one, hint=hint))
    p = s.prevalence if prior is None else check_prior(prior)
    t = s.threshold
    with np.errstate(divide="ignore"):
        rate = t / (1 - t)
    h = hull(s)
    # Without a prior, odds are compared as they are: (1 − p)/p of weights may be beyond floats.
    with np.errstate(over="ignore"):
        at = (
            _best_vertex(h.odds, rate)
            if prior is None
            else _best_vertex(h.slope, rate * ((1 - p) / p))
        )
    columns = (
        _benefit(p, s.tp / s.P, s.fp / s.N, rate),
        _benefit(p, np.ones(len(t)), np.ones(len(t)), rate),
        _benefit(p, h.tpr[at], h.fpr[at], rate),
    )
    # At +inf nothing is flagged; flagging everything there is as bad as can be.
    starts = (0.0, -np.inf, 0.0)
    return NetBenefit(
        np.concatenate(([np.inf], t)),
        *(np.concatenate(([a], b)) for a, b in zip(starts, columns, strict=True)),
    )


def _benefit(prior: float, tpr: Floats, fpr: Floats, rate: Floats) -> Floats:
    """π₊·TPR − π₋·FPR·rate, where no false alarms cost nothing at any rate."""
    alarms = (1 - prior) * fpr
    return prior * tpr - np.multiply(alarms, rate, out=np.zeros(len(rate)), where=alarms > 0)


def h_measure(s: Sweep, *, a: float | None = None, b: float | None = None) -> float:
    r"""Hand's H measure: one minus the expected least cost, as a share of that without scores.

    The cost of a false alarm, c of c + (1 − c), is not known but for its distribution Beta(a, b):

    :math:`H = 1 - \int L(c)\,w(c)\,dc \;/ \int \min(c\,\pi_-, (1-c)\,\pi_+)\,w(c)\,dc` with
    :math:`L(c) = \min_t\; c\,\pi_- \mathrm{FPR}(t) + (1-c)\,\pi_+ \mathrm{FNR}(t)`.

    It is 0 for chance and 1 for perfection. Unlike the AUC it weighs costs in the same way for
    every classifier. The integrals are exact: L is piecewise linear, and changes at the hull's
    slopes.

    Parameters
    ----------
    s : Sweep
        The sweep.
    a, b : float, optional
        Parameters of the Beta distribution, above 0. By default 1 + π₊ and 1 + π₋ (Hand &
        Anagnostopoulos 2014), with the mode at π₊: the rarer the positives, the more a miss costs.

    References
    ----------
    Hand, "Measuring classifier performance", Machine Learning 77 (2009).
    https://doi.org/10.1007/s10994-009-5119-5

    Hand & Anagnostopoulos, "A better Beta for the H measure of classification performance",
    Pattern Recognition Letters 40 (2014). https://doi.org/10.1016/j.patrec.2013.12.011

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> round(cs.h_measure(s), 6)
    0.420653
    """
    check_sweep(s).needs_both_classes("the H measure")
    h: Hull = hull(s)
    p, q = s.prevalence, s.N / (s.P + s.N)
    a, b = 1 + p if a is None else a, 1 + q if b is None else b
    for name, x in (("a", a), ("b", b)):
        if not (isinstance(x, Real) and 0 < x < np.inf):
            raise DataError(BadArgument(name, "be above 0 and finite", x))
    # Vertex k is best while c/(1 − c) passes from odds[k − 1] down to odds[k].
    odds = np.concatenate(([np.inf], h.odds, [0.0]))
    fnr = (h.tp[-1] - h.tp) / h.tp[-1]
    least = _expected_minimum(a, b, odds, q * h.fpr, p * fnr)
    one = np.array([np.inf, s.P / s.N, 0.0])
    blind = _expected_minimum(a, b, one, np.array([0.0, q]), np.array([p, 0.0]))
    if not blind:
        what = "the ratio of the classes' weights"
        raise UndefinedError(BeyondFloats(what, hint="Scale the weights of one class."))
    return 1 - least / blind


def _expected_minimum(a: float, b: float, odds: Floats, on_c: Floats, on_rest: Floats) -> float:
    """∫ min(c·on_c + (1−c)·on_rest) w(c) dc, entry k being least while c/(1−c) passes from odds[k]
    down to odds[k+1]."""
    from scipy.special import betainc

    with np.errstate(divide="ignore", over="ignore"):
        c, rest = 1 / (1 + 1 / odds), 1 / (1 + odds)
    # Each from its own end, where it is small: 1 − c of a c next to 1 would be 0.
    with_c = -np.diff(betainc(a + 1, b, c)) * (a / (a + b))  # ∫ c w(c) dc
    with_rest = np.diff(betainc(b + 1, a, rest)) * (b / (a + b))
    return float(np.sum(on_c * with_c + on_rest * with_rest))
