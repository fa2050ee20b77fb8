"""Plots of curves and decisions on matplotlib axes: each function takes an ``ax`` and returns it.

Hand in what was computed, as in ``plot.roc(cp.roc(s))``: drawing does not compute. Call a function
again with the axes it returned to put another detector into the same picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutpoint import curves
from cutpoint._check import shown
from cutpoint._hull import Hull, JointHull
from cutpoint._sweep import Sweep
from cutpoint.areas import average_precision
from cutpoint.calibration.calibrators import Affine, Calibrator, Chain, Gaussian, Monotone
from cutpoint.confusion import counted
from cutpoint.costs import CostCurve, NetBenefit
from cutpoint.curves import Det, Gain, PrecisionRecall, Roc
from cutpoint.decision import OperatingPoint, Stability
from cutpoint.errors import DataError
from cutpoint.inference import Band
from cutpoint.linear import Margins
from cutpoint.scoring import Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "calibrator",
    "cost_curve",
    "det",
    "distributions",
    "gain",
    "hull",
    "lift",
    "margins",
    "net_benefit",
    "operating_point",
    "overview",
    "pr",
    "reliability",
    "roc",
    "stability",
]

Floats = NDArray[np.float64]

# Okabe and Ito's colours: apart for colour-blind readers, and in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_POSITIVE, _NEGATIVE = "#d55e00", "#0072b2"
_WRONG, _RIGHT = "#d55e00", "#0072b2"
# Past as many classifiers as there are colours, others: for sweeps, and for single points.
_MARKERS = ("oD", "sP", "^X", "v*")

# How far the histogram of a reliability diagram reaches below 0.
_STRIP = 0.16

# No screen or page shows more steps than this along one axis.
_STEPS = 2000


def roc(  # noqa: PLR0913 - options have names
    curve: Roc,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    band: Band | None = None,
    point: OperatingPoint | Sequence[OperatingPoint] | None = None,
    hull: Hull | JointHull | None = None,
    **line: Any,
) -> Axes:
    """Draw a ROC curve over its diagonal.

    Parameters
    ----------
    curve
        From :func:`cutpoint.roc`.
    ax
        Axes to draw on; a new figure if left out.
    label
        Name in the legend.
    band
        From :func:`cutpoint.roc_band`: shaded behind the curve.
    point
        From :func:`cutpoint.choose`, one or several: marked, with their thresholds.
    hull
        From :func:`cutpoint.hull`: a thin line over the curve.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cp.plot.roc(cp.roc(s), label=f"mine, AUC {s.auc:.2f}")
    >>> ax.get_ylabel()
    'true positive rate (recall)'

    With all that is known about it:

    >>> p = cp.choose(s, "f1")
    >>> ax = cp.plot.roc(cp.roc(s), band=cp.roc_band(s), point=p, hull=cp.hull(s))
    >>> [text.get_text() for text in ax.texts]
    ['≥ 2.5']
    """
    _needs(curve, Roc, "roc(cp.roc(s))")
    points = [point] if isinstance(point, OperatingPoint) else _listed(point)
    _option(band, Band, "band=cp.roc_band(s)")
    _option(hull, (Hull, JointHull), "hull=cp.hull(s)")
    for p in points:
        _option(p, OperatingPoint, "point=cp.choose(s, objective)")
    ax = _roc_axes(ax)
    _line(ax, curve.fpr, curve.tpr, label, line)
    colour = ax.lines[-1].get_color()
    if band is not None:
        x, low, high = _thinned(band.fpr, band.low, band.high)
        name = f"{100 * band.level:g} % band"
        ax.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0, label=name, zorder=1.5)
    if isinstance(hull, JointHull):
        _joint(ax, hull)
    elif hull is not None:
        (thin,) = ax.plot(*_thinned(hull.fpr, hull.tpr), color="0.2", linewidth=0.9)
        thin.set(marker=_vertex(hull), markersize=2.5, zorder=3.5, label="convex hull", gid="hull")
    # From the top down, since labels give way downwards.
    for p in sorted(points, key=lambda p: -p.confusion.recall):
        _mark(ax, p.confusion.fpr, p.confusion.recall, _flags(p), colour)
    if band is not None or hull is not None:
        _legend(ax)
    return ax


def hull(
    h: Hull | JointHull, ax: Axes | None = None, *, label: str | None = None, **line: Any
) -> Axes:
    """Draw the convex hull of a ROC curve, or of several classifiers together.

    Vertices are marked, unless they are too many to be told apart. Those of a joint hull always
    are, in the colour of their classifier; classifiers that are a single point have markers of
    their own. The colours are those that
    :func:`cutpoint.plot.roc` gives to the curves when it draws all classifiers in their order.

    Parameters
    ----------
    h
        From :func:`cutpoint.hull`.
    ax
        Axes to draw on; a new figure if left out.
    label
        Name of the line in the legend, where the classifiers of a joint hull are listed anyway.
    **line
        Passed to ``Axes.plot``, for the line.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cp.plot.hull(cp.hull({"score": s, "rule": (0.1, 0.6), "old rule": (0.5, 0.5)}))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['score', 'rule', 'old rule (never best)']
    """
    _needs(h, (Hull, JointHull), "hull(cp.hull(s))")
    ax = _roc_axes(ax)
    if isinstance(h, Hull):
        return _line(ax, h.fpr, h.tpr, label, {"marker": _vertex(h), "markersize": 4.0, **line})
    _joint(ax, h, label=label, **line)
    _legend(ax)
    return ax


def pr(
    curve: PrecisionRecall, ax: Axes | None = None, *, label: str | None = None, **line: Any
) -> Axes:
    """Draw a precision–recall curve over the prevalence, which is the precision of flagging all.

    The curve is a staircase: between two thresholds no detector has the precision in between.

    Examples
    --------
    >>> import cutpoint as cp
    >>> ax = cp.plot.pr(cp.pr(cp.sweep([1, 0, 1], [3, 2, 1])))
    >>> ax.get_ylabel()
    'precision'
    """
    _needs(curve, PrecisionRecall, "pr(cp.pr(s))")
    ax = _axes(ax, "recall", "precision", square=True)
    _guide(ax, [0, 1], [curve.precision[-1]] * 2)
    return _line(ax, curve.recall, curve.precision, label, {"drawstyle": "steps-pre", **line})


def det(curve: Det, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> Axes:
    """Draw a DET curve on normal-deviate axes, where normal scores make a straight line.

    Points at 0 % or 100 % have no place on such axes and are left out.

    Examples
    --------
    >>> import cutpoint as cp
    >>> ax = cp.plot.det(cp.det(cp.sweep([1, 0, 1, 0], [4, 3, 2, 1])))
    >>> ax.get_xlabel()
    'false positive rate, %'
    """
    _needs(curve, Det, "det(cp.det(s))")
    ax = _axes(ax, "false positive rate, %", "miss rate (1 − recall), %", unit=False)
    inside = (curve.fpr > 0) & (curve.fpr < 1) & (curve.fnr > 0) & (curve.fnr < 1)
    fpr, fnr = _thinned(curve.fpr[inside], curve.fnr[inside])
    deviate = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
    ticks = np.array([0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])
    names = [f"{100 * t:g}" for t in ticks]
    ax.set_xticks(deviate(ticks), names)
    ax.set_yticks(deviate(ticks), names)
    low = deviate(np.clip([fpr.min(initial=0.05) / 2, fnr.min(initial=0.05) / 2], 1e-6, 0.4))
    high = deviate(np.clip([fpr.max(initial=0.5) * 1.1, fnr.max(initial=0.5) * 1.1], 0.6, 0.9995))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return _line(ax, deviate(fpr), deviate(fnr), label, line)


def gain(curve: Gain, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> Axes:
    """Draw the share of positives that a budget of flagged cases catches.

    The dashed lines are chance, and the best that any detector could do at this prevalence.

    Examples
    --------
    >>> import cutpoint as cp
    >>> ax = cp.plot.gain(cp.gain(cp.sweep([1, 0, 0, 0], [4, 3, 2, 1])))
    >>> ax.get_xlabel()
    'share of cases flagged'
    """
    _needs(curve, Gain, "gain(cp.gain(s))")
    ax = _axes(ax, "share of cases flagged", "share of positives caught", square=True)
    prevalence = 1 / curve.lift[0]
    _guide(ax, [0, 1], [0, 1])
    _guide(ax, [0, prevalence, 1], [0, 1, 1])
    return _line(ax, curve.flagged, curve.gain, label, line)


def lift(curve: Gain, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> Axes:
    """Draw how much richer in positives the flagged cases are than all, against their share.

    Examples
    --------
    >>> import cutpoint as cp
    >>> ax = cp.plot.lift(cp.gain(cp.sweep([1, 0, 0, 0], [4, 3, 2, 1])))
    >>> ax.get_ylabel()
    'lift (precision / prevalence)'
    """
    _needs(curve, Gain, "lift(cp.gain(s))")
    ax = _axes(ax, "share of cases flagged", "lift (precision / prevalence)", unit=False)
    _guide(ax, [0, 1], [1, 1])
    ax.set(xlim=(-0.01, 1.01))
    _line(ax, curve.flagged[1:], curve.lift[1:], label, line)
    ax.set_ylim(bottom=0)
    return ax


def cost_curve(
    curve: CostCurve,
    ax: Axes | None = None,
    x: float | None = None,
    *,
    label: str | None = None,
    **line: Any,
) -> Axes:
    """Draw a cost curve: the expected cost of the best cut, whatever the costs and the prevalence.

    The dashed lines are the costs without scores, of flagging nothing on the left and of flagging
    everything on the right; the shaded area between is what the scores of the first curve gain.

    Parameters
    ----------
    curve
        From :func:`cutpoint.cost_curve`.
    ax
        Axes to draw on; a new figure if left out.
    x
        A probability-cost to mark, π₊λ₊ / (π₊λ₊ + π₋λ₋), with the costs there.
    label
        Name in the legend.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cp.plot.cost_curve(cp.cost_curve(s), x=0.4)
    >>> ax.get_xlabel(), ax.texts[-1].get_text()
    ('probability × cost of positives', 'at 0.4: 0.25 instead of 0.4')
    """
    _needs(curve, CostCurve, "cost_curve(cp.cost_curve(s))")
    if x is not None and not (isinstance(x, Real) and 0 <= x <= 1):
        raise DataError(
            f"x must be a probability-cost from 0 to 1; it is {shown(x)}. Pass one such number, or "
            "none."
        )
    first = ax is None or not any(_drawn(ax, "curve"))
    ax = _wide_axes(ax, "probability × cost of positives", "normalised expected cost")
    if first:
        _guide(ax, [0, 0.5, 1], [0, 0.5, 0])
        for middle, turn, name in ((0.25, 45, "flag none"), (0.75, -45, "flag all")):
            ax.annotate(
                name,
                (middle, 0.25),
                (0, 3),
                textcoords="offset points",
                rotation=turn,
                rotation_mode="anchor",
                transform_rotates_text=True,
                ha="center",
                va="bottom",
                color="0.4",
                fontsize=9,
            )
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.005, 0.525))
    # Straight lines between the probability-costs at which the best cut changes.
    at = np.concatenate(([0.0], curve.high))
    _line(ax, at, curve.cost(at), label, line)
    colour = ax.lines[-1].get_color()
    if first:  # two shades over each other say nothing
        at = np.sort(np.append(_thinned(at)[0], 0.5))
        low, high = curve.cost(at), np.minimum(at, 1 - at)
        ax.fill_between(at, low, high, color=colour, alpha=0.13, linewidth=0, zorder=1.5)
    if x is not None:
        cost, without = float(curve.cost(x)), min(x, 1 - x)
        ax.set_ylim(top=max(0.6, ax.get_ylim()[1]))
        ax.plot([x, x], [cost, 0.53], color=colour, linewidth=0.9, zorder=2)
        _dot(ax, x, cost, colour)
        _text(
            ax,
            f"at {x:g}: {cost:.3g} instead of {without:.3g}",
            (x, 0.54),
            ha="left" if x < 0.3 else "right" if x > 0.7 else "center",
            color=colour,
        )
    return ax


def net_benefit(
    curve: NetBenefit, ax: Axes | None = None, *, label: str | None = None, **line: Any
) -> Axes:
    """Draw a decision curve: the net benefit of acting from each probability on.

    The thin line is the best cut of the same scores: what lies between is lost to miscalibration.
    The dashed lines are flagging everything, and nothing. Above the highest probability the model
    flags nothing, below the lowest one everything; what falls below the axes is left out.

    Parameters
    ----------
    curve
        From :func:`cutpoint.net_benefit`.
    ax
        Axes to draw on; a new figure if left out.
    label
        Name in the legend.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 0], [0.8, 0.6, 0.5, 0.2])
    >>> ax = cp.plot.net_benefit(cp.net_benefit(s))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['model', 'best cut', 'flag all', 'flag none']
    """
    _needs(curve, NetBenefit, "net_benefit(cp.net_benefit(s))")
    first = ax is None or not any(_drawn(ax, "curve"))
    ax = _wide_axes(ax, "threshold probability", "net benefit")
    there = np.isfinite(curve.threshold)
    t, model, best = (a[there][::-1] for a in (curve.threshold, curve.net_benefit, curve.best))
    x, flag_all = _flag_all(t, curve.flag_all[there][::-1])
    values = np.concatenate((model, best, flag_all))
    top = 1.05 * values.max(initial=0.0, where=np.isfinite(values)) or 1.0
    if not first:
        top = max(top, ax.get_ylim()[1])
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.15 * top, top))
    if len(t):
        # Below the lowest probability everything is flagged, and above the highest one nothing.
        below = x < t[0]
        past = [t[-1], 1.0] if t[-1] < 1 else []
        model = np.concatenate((flag_all[below], model, np.zeros(len(past))))
        t_model = np.concatenate((x[below], t, past))
    else:
        t_model = t
    _line(ax, *_within(t_model, model, top), "model" if label is None else label, line)
    colour = ax.lines[-1].get_color()
    (thin,) = ax.plot(*_thinned(*_within(t, best, top)), color=colour, linewidth=0.9, zorder=2.5)
    thin.set(label="best cut" if label is None else f"{label}, best cut", gid="best")
    guides = [] if not len(x) else [("flag all", *_within(x, flag_all, top), (0, (4, 3)))]
    guides.append(("flag none", np.array([0.0, 1.0]), np.zeros(2), (0, (1, 2))))
    for name, across, up, dashes in guides:
        if not _there(ax, across, up):
            (thin,) = ax.plot(across, up, color="0.45", linewidth=1.2, zorder=2, label=name)
            thin.set_linestyle(dashes)
    _legend(ax)
    return ax


def reliability(
    r: Reliability, ax: Axes | None = None, *, label: str | None = None, bins: int = 50, **line: Any
) -> Axes:
    """Draw a reliability diagram: what happened against what was forecast.

    Calibrated forecasts are on the diagonal. The line is level where forecasts share a calibrated
    value, and passes straight to the next such block. The shaded band is around the diagonal and
    not around the line: it is where the line of calibrated forecasts would be. The histogram below
    has the mass of forecasts.

    Parameters
    ----------
    r
        From :func:`cutpoint.reliability`.
    ax
        Axes to draw on; a new figure if left out.
    label
        Name in the legend.
    bins
        How many bins the histogram has.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.Sweep.from_counts([0.9, 0.7, 0.5, 0.1], pos=[80, 30, 32, 10], neg=[20, 30, 28, 90])
    >>> ax = cp.plot.reliability(cp.reliability(s), label="mine")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mine', '95 % band if calibrated']
    """
    _needs(r, Reliability, "reliability(cp.reliability(s))")
    count = _bins(bins)
    ax = _new(4.4, 4.7) if ax is None else ax
    ax = _axes(ax, "forecast probability", "calibrated probability", square=True)
    ax.set(ylim=(-_STRIP, 1.01), yticks=np.linspace(0, 1, 6))
    ax.spines["left"].set_bounds(0, 1)
    _guide(ax, [0, 1], [0, 1])
    # Both ends of each block: where it starts, and before the next one starts.
    ends = np.unique(np.concatenate((r.start, r.start[1:] - 1, [len(r) - 1])))
    few = {"marker": "o", "markersize": 4.0} if len(r) <= 30 else {}
    _line(ax, r.forecast[ends], r.calibrated[ends], label, {**few, **line})
    colour = ax.lines[-1].get_color()
    if r.low is not None and r.high is not None and r.level is not None:
        x, low, high = _thinned(r.forecast, r.low, r.high)
        name: str | None = f"{100 * r.level:g} % band if calibrated"
        if name in ax.get_legend_handles_labels()[1]:  # of the curve before
            name = None
        shade: dict[str, Any] = {"color": colour, "alpha": 0.16, "linewidth": 0, "zorder": 1.5}
        ax.fill_between(x, low, high, label=name, **shade)
        if few:  # between them there is nothing
            ax.vlines(x, low, high, color=colour, alpha=0.4, linewidth=3, zorder=1.6)
        _legend(ax)
    # As shares: a sum of weights may be as large as floats go.
    share, edges = np.histogram(r.forecast, count, (0, 1), weights=r.mass / np.sum(r.mass))
    floor = -_STRIP
    height = floor + (_STRIP - 0.02) * share / share.max()
    shape: dict[str, Any] = {"baseline": floor, "color": colour, "zorder": 1.4}
    ax.stairs(height, edges, fill=True, alpha=0.35, **shape)
    ax.stairs(height, edges, linewidth=0.8, **shape)
    return ax


def calibrator(  # noqa: PLR0913 - options have names
    c: Calibrator,
    ax: Axes | None = None,
    *,
    s: Sweep | None = None,
    low: float | None = None,
    high: float | None = None,
    label: str | None = None,
    **line: Any,
) -> Axes:
    """Draw a calibrator: the log-likelihood ratio of each score.

    Above the dashed line a score speaks for the positive class, below it for the negative one.

    Parameters
    ----------
    c
        From :func:`cutpoint.calibrate`.
    ax
        Axes to draw on; a new figure if left out.
    s
        A sweep, whose range of scores is drawn.
    low, high
        The range of scores, if it is another one. Without any it is that of the curves on ``ax``,
        or one that suits the calibrator.
    label
        Name in the legend.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> ax = None
    >>> for method in ("platt", "monotone"):
    ...     ax = cp.plot.calibrator(cp.calibrate(s, method), ax, s=s, label=method)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['platt', 'monotone']
    """
    _needs(c, Calibrator, "calibrator(cp.calibrate(s))")
    _option(s, Sweep, "s=cp.sweep(y, score)")
    start, end = _scores_of(c, ax, s, low, high)
    ax = _wide_axes(ax, "score", "log-likelihood ratio")
    x = np.linspace(start, end, 1001)
    if isinstance(c, Monotone):
        # Each step from its first score to the last float before the next, and each bend.
        inner = c.threshold[(c.threshold > start) & (c.threshold <= end)]
        x = np.unique(np.concatenate((x, inner, np.nextafter(inner, -np.inf))))
    llr = c.llr(x)
    finite = np.abs(llr) <= 1e300
    if not any(line.get_gid() == "guide" for line in ax.lines):
        zero = ax.axhline(0, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        zero.set_gid("guide")
    _line(ax, x, llr if finite.all() else np.where(finite, llr, np.nan), label, line)
    ax.update_datalim([(start, 0.0), (end, 0.0)])  # even where there is no line
    ax.autoscale_view()
    _infinities(ax, x, llr, ax.lines[-1].get_color())
    return ax


def distributions(s: Sweep, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw the scores of either class as a histogram, each class with area 1.

    Infinite scores, and those beyond ±1e300, are counted in the outermost bins. Scores that differ
    by less than a picture can show are drawn as one bar.

    Examples
    --------
    >>> import cutpoint as cp
    >>> ax = cp.plot.distributions(cp.sweep([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive', 'negative']
    """
    _needs(s, Sweep, "distributions(cp.sweep(y, score))")
    edges = _edges(s.threshold, bins)
    ax = _axes(ax, "score", "density within the class", unit=False)
    score = np.clip(s.threshold, edges[0], edges[-1])
    for name, mass, colour in (("positive", s.pos, _POSITIVE), ("negative", s.neg, _NEGATIVE)):
        if mass.sum() > 0:
            # As shares: a sum of weights over the width of a bin may overflow.
            share = mass / mass.sum()
            height, _ = np.histogram(score, edges, weights=share, density=True)
            ax.stairs(height, edges, fill=True, color=colour, alpha=0.45, label=name)
            ax.stairs(height, edges, color=colour, linewidth=1.2)
    ax.set_ylim(bottom=0)
    _legend(ax)
    return ax


def operating_point(p: OperatingPoint, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw what an operating point does to the scores of either class.

    The flagged side is shaded. The numbers are those of ``p.confusion``, the rows of the sweep; the
    heights are densities within each class, as in :func:`cutpoint.plot.distributions`.

    Parameters
    ----------
    p
        From :func:`cutpoint.choose`.
    ax
        Axes to draw on; a new figure if left out.
    bins
        How many bins the histograms have.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cp.plot.operating_point(cp.choose(s, "f1"))
    >>> ax.get_title(loc="left")
    'flag from 2.5 on, for the most f1'
    >>> [text.get_text() for text in ax.texts]
    ['not flagged', '0 missed', '2 left alone', 'flagged', '4 caught', '2 false alarms']
    """
    _needs(p, OperatingPoint, "operating_point(cp.choose(s, objective))")
    ax = distributions(p.sweep, _new(6.2, 4.0) if ax is None else ax, bins=bins)
    left, right = ax.get_xlim()
    at = float(np.clip(p.threshold, left, right))
    ax.axvspan(at, right, color="0.93", linewidth=0, zorder=0.5)
    if np.isfinite(p.threshold):
        ax.axvline(at, ymax=0.76, color="0.15", linewidth=1.4, zorder=4)
    # Room for the numbers above the histograms; the legend goes between them.
    ax.set(xlim=(left, right), ylim=(0, ax.get_ylim()[1] / 0.74))
    c = p.confusion
    alarms = "false alarm" if c.fp == 1 else "false alarms"
    sides = (
        (0.015, "left", "not flagged", f"{counted(c.fn)} missed", f"{counted(c.tn)} left alone"),
        (0.985, "right", "flagged", f"{counted(c.tp)} caught", f"{counted(c.fp)} {alarms}"),
    )
    for x, side, *texts in sides:
        for k, (text, colour) in enumerate(zip(texts, ("0.15", _POSITIVE, _NEGATIVE), strict=True)):
            at_top = {"xycoords": "axes fraction", "ha": side, "va": "top", "path_effects": []}
            bold = "bold" if k == 0 else "normal"
            _text(ax, text, (x, 0.985 - 0.068 * k), color=colour, fontweight=bold, **at_top)
    _legend(ax, "upper center")
    aim = "least" if p.question.goal.better < 0 else "most"
    failed = "" if p.feasible else " (limits not met)"
    title = f"flag {_flags(p, long=True)}, for the {aim} {p.objective}{failed}"
    ax.set_title(title, loc="left", fontsize=10, parse_math=False)
    return ax


def stability(
    st: Stability, ax: Axes | None = None, *, point: OperatingPoint | None = None, bins: int = 40
) -> Axes:
    """Draw the thresholds that bootstrap samples chose, with the range of 95 % of them.

    Samples that chose ``±inf``, to flag nothing or everything, are counted in bars beside the axis
    of thresholds.

    Parameters
    ----------
    st
        From :meth:`cutpoint.OperatingPoint.stability`.
    ax
        Axes to draw on; a new figure if left out.
    point
        The operating point itself, whose threshold is to be marked.
    bins
        How many bins the histogram has.

    Examples
    --------
    >>> import cutpoint as cp, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> p = cp.choose(cp.sweep(y, rng.standard_normal(2000) + 2 * y), "f1")
    >>> ax = cp.plot.stability(p.stability(100), point=p)
    >>> ax.get_title(loc="left")
    'mean regret 0.00... in 100 bootstrap samples'
    """
    _needs(st, Stability, "stability(p.stability())")
    _option(point, OperatingPoint, "point=cp.choose(s, objective)")
    edges = _edges(st.threshold, bins)
    ax = _wide_axes(ax, "threshold", "bootstrap samples")
    width = edges[1] - edges[0]
    finite = st.threshold[np.isfinite(st.threshold)]
    count, _ = np.histogram(np.clip(finite, edges[0], edges[-1]), edges)
    ax.stairs(count, edges, fill=True, color=_COLOURS[0], alpha=0.45, label="chosen thresholds")
    ax.stairs(count, edges, color=_COLOURS[0], linewidth=1.2)
    beside = {-np.inf: edges[0] - 3 * width, np.inf: edges[-1] + 3 * width}
    ax.margins(x=0.07)
    for value, x in beside.items():
        many = int(np.count_nonzero(st.threshold == value))
        if many:
            ax.bar(x, many, width, color="0.6")
            outer, side = (x + width / 2, "left") if value > 0 else (x - width / 2, "right")
            beyond = {"textcoords": "offset points", "ha": side, "va": "top", "color": "0.2"}
            _text(ax, _number(value), (outer, many), (2 * np.sign(value), 0), **beyond)
    low, high = _range(st)
    start, end = (beside.get(x, float(np.clip(x, -1e300, 1e300))) for x in (low, high))
    name = f"95 %: {_number(low)} to {_number(high)}"
    ax.axvspan(start, end, 0, 0.75, facecolor="0.93", edgecolor="0.55", zorder=0.5, label=name)
    if point is not None:
        at = beside.get(point.threshold, float(np.clip(point.threshold, -1e300, 1e300)))
        name = f"chosen: {_flags(point)}"
        ax.axvline(at, 0, 0.75, color="0.15", linewidth=1.4, label=name, zorder=4)
    title = f"mean regret {np.mean(st.regret):.3g} in {len(st.threshold):,} bootstrap samples"
    if st.broken.any():
        title += f", limits broken by {100 * np.mean(st.broken):.3g} %"
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_ylim(0, ax.get_ylim()[1] / 0.74)  # the legend goes above
    _legend(ax, "upper left")
    return ax


def margins(m: Margins, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw the margins of a line as a histogram: rows on the wrong side of it, and on the right.

    Rows on the line itself count as errors, left of 0. The dashed line is the smallest margin;
    where it is above 0 the line separates the classes, and the strip without rows is shaded.

    Parameters
    ----------
    m
        From :meth:`cutpoint.LinearDetector.margins`, or that of an estimator.
    ax
        Axes to draw on; a new figure if left out.
    bins
        About how many bins the histogram has. One of their edges is 0.

    Examples
    --------
    >>> import cutpoint as cp, numpy as np
    >>> line = cp.LinearDetector(np.array([3.0, 4.0]), -5.0)
    >>> X = np.array([[3.0, 4.0], [3.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> ax = cp.plot.margins(line.margins(X, np.array([True, True, False, False])))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['3 correct', '1 wrong', 'smallest margin: −0.4']
    """
    from matplotlib.ticker import MaxNLocator

    _needs(m, Margins, "margins(detector.margins(X, y))")
    count = _bins(bins)
    if not len(m.value):
        raise DataError("a histogram of margins needs rows; there are 0. Pass margins of some.")
    # Within ±1e300, or the width of the axis would overflow.
    value = np.clip(m.value, -1e300, 1e300)
    smallest = float(value.min())
    _, edges = Margins(value).histogram(count)
    # Inside of the edges, which are rounded.
    value = np.clip(value, edges[0], edges[-1])
    below, above = edges[edges <= 0], edges[edges >= 0]
    if len(below) < 2:  # rows on the line, and none beyond
        below = np.array([-above[1], 0.0])
    if 0 < smallest < above[-1]:  # or the first bar would reach into the strip without rows
        above = np.concatenate(([smallest], above[above > smallest]))
    ax = _wide_axes(ax, "margin (distance from the line, above 0 on the right side)", "rows")
    # Bins of errors have their upper edge, those of correct rows their lower one: 0 is an error.
    wrong = value <= 0
    errors = np.histogram(-value[wrong], -below[::-1])[0][::-1]
    correct = np.histogram(value[~wrong], above)[0]
    for rows, at, name, colour in (
        (correct, above, "correct", _RIGHT),
        (errors, below, "wrong", _WRONG),
    ):
        if rows.any():
            label = f"{counted(int(rows.sum()))} {name}"
            ax.stairs(rows, at, fill=True, color=colour, alpha=0.45, label=label)
            ax.stairs(rows, at, color=colour, linewidth=1.2)
    ax.axvline(0, 0, 0.78, color="0.15", linewidth=1.4, zorder=4)
    (least,) = ax.plot([smallest] * 2, [0, 0.78], transform=ax.get_xaxis_transform(), zorder=4)
    least.set(color=_WRONG if smallest <= 0 else "0.15", linewidth=1.2, linestyle=(0, (4, 3)))
    least.set_label(f"smallest margin: {_number(float(f'{m.smallest:.4g}'))}")
    if smallest > 0:
        ax.axvspan(0, smallest, 0, 0.78, color="0.93", linewidth=0, zorder=0.5)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.set_ylim(0, ax.get_ylim()[1] / 0.76)  # the legend goes above
    _legend(ax, "upper left")
    return ax


def overview(s: Sweep) -> Figure:
    """Draw everything about a detector in one figure: all curves, and the scores of either class.

    Examples
    --------
    >>> import cutpoint as cp
    >>> figure = cp.plot.overview(cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['ROC', 'Precision–recall', 'Cumulative gain', 'DET', 'Lift', 'Scores']
    """
    from matplotlib.figure import Figure

    _needs(s, Sweep, "overview(cp.sweep(y, score))")
    figure = Figure(figsize=(12.5, 8), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    roc(curves.roc(s), axes[0], label=f"AUC {s.auc:.3f}")
    pr(curves.pr(s), axes[1], label=f"average precision {average_precision(s):.3f}")
    gain(curves.gain(s), axes[2])
    det(curves.det(s), axes[3])
    lift(curves.gain(s), axes[4])
    distributions(s, axes[5])
    titles = ("ROC", "Precision–recall", "Cumulative gain", "DET", "Lift", "Scores")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left", fontweight="bold")
    return figure


def _needs(given: object, kind: type | tuple[type, ...], call: str) -> None:
    if not isinstance(given, kind):
        raise DataError(
            f"plot.{call.partition('(')[0]} draws {_either(kind)}; got {_a(type(given))}. "
            f"Call plot.{call}."
        )


def _option(given: object, kind: type | tuple[type, ...], how: str) -> None:
    if given is not None and not isinstance(given, kind):
        name = how.partition("=")[0]
        raise DataError(f"{name} must be {_either(kind)}; it is {shown(given)}. Pass {how}.")


def _either(kind: type | tuple[type, ...]) -> str:
    return " or ".join(_a(one) for one in (kind if isinstance(kind, tuple) else (kind,)))


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOUaeiou' else 'a'} {kind.__name__}"


def _listed(point: Any) -> list[Any]:
    try:
        return [] if point is None else list(point)
    except TypeError:
        return [point]


def _axes(ax: Axes | None, x: str, y: str, *, unit: bool = True, square: bool = False) -> Axes:
    ax = _new(4.4, 4.2) if ax is None else ax
    ax.set(xlabel=x, ylabel=y)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if unit:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    if square:
        ax.set_aspect("equal")
    return ax


def _new(width: float, height: float) -> Axes:
    from matplotlib.figure import Figure

    # Not pyplot: nothing is kept alive, and no window system is asked for.
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def _wide_axes(ax: Axes | None, x: str, y: str) -> Axes:
    return _axes(_new(6.2, 4.0) if ax is None else ax, x, y, unit=False)


def _roc_axes(ax: Axes | None) -> Axes:
    ax = _axes(ax, "false positive rate", "true positive rate (recall)", square=True)
    _guide(ax, [0, 1], [0, 1])
    return ax


def _guide(ax: Axes, x: list[float], y: list[float]) -> None:
    if not _there(ax, x, y):
        ax.plot(x, y, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def _line(ax: Axes, x: Floats, y: Floats, label: str | None, line: dict[str, Any]) -> Axes:
    drawn = sum(1 for _ in _drawn(ax, "curve"))
    style = {"color": _COLOURS[drawn % len(_COLOURS)], "linewidth": 1.8, "zorder": 3, **line}
    (artist,) = ax.plot(*_thinned(x, y), label=label, **style)
    artist.set_gid("curve")
    if label is not None:
        _legend(ax)
    return ax


def _drawn(ax: Axes, what: str) -> Iterator[Any]:
    return (artist for artist in (*ax.lines, *ax.texts) if artist.get_gid() == what)


def _there(ax: Axes, x: Any, y: Any) -> bool:
    """Whether that line is drawn already, under another curve."""
    return any(np.array_equal(line.get_xydata(), np.column_stack((x, y))) for line in ax.lines)


def _joint(ax: Axes, h: JointHull, *, label: str | None = None, **line: Any) -> None:
    """The line of a joint hull, and its vertices by classifier."""
    style = {"color": "0.35", "linewidth": 1.2, "zorder": 3.2, **line}
    ax.plot(*_thinned(h.fpr, h.tpr), label=label, gid="hull", **style)
    never = []
    for k, name in enumerate(h.names):
        mine = h.classifier == k
        if not mine.any():
            never.append(name)
            continue
        single = bool(np.isnan(h.threshold[mine]).all())
        ax.plot(
            h.fpr[mine],
            h.tpr[mine],
            linestyle="none",
            marker=_MARKERS[k // len(_COLOURS) % len(_MARKERS)][single],
            markersize=8 if single else 5,
            markeredgecolor="white",
            markeredgewidth=0.8 if single else 0.4,
            color=_COLOURS[k % len(_COLOURS)],
            label=name,
            gid="vertices",
            zorder=4,
        )
    for name in never:
        ax.plot([], [], linestyle="none", label=f"{name} (never best)")


def _vertex(h: Hull) -> str:
    """The marker of vertices: more would hide the line."""
    return "o" if len(h) <= 100 else "none"


def _mark(ax: Axes, x: float, y: float, text: str, colour: Any) -> None:
    """A point of ROC space, with a text to its lower right that gives way to those there already.

    The lower right, since the curve rises: its text is below it there.
    """
    if np.isnan(x) or np.isnan(y):  # of one class only: it has no place here
        return
    others = sorted(_drawn(ax, "point"), key=lambda other: -other.xyann[1])
    _dot(ax, x, y, colour)
    if any(other.xy == (x, y) and other.get_text() == text for other in others):
        return
    height = 13 * ax.figure.dpi / 72 / ax.bbox.height
    start, end = _span(ax, x, text)
    # Where the curve is steep there is room right beside the point.
    beside = level = y - (0.2 if x + y < 1 else 0.9) * height
    for other in others:
        first, last = _span(ax, other.xy[0], other.get_text())
        if first < end and start < last and abs(other.xyann[1] - level) < height:
            level = other.xyann[1] - height
    level = max(level, 0.5 * height)
    left, moved = start < x, beside - level > 0.5 * height
    away = (0.06 if moved else 0.025) * (-1 if left else 1)
    leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (float(left), 0.5)}
    label = _text(
        ax,
        text,
        (x, y),
        (x + away, level),
        ha="right" if left else "left",
        va="center",
        color=colour,
        arrowprops=leader if moved else None,
    )
    label.set_gid("point")


def _span(ax: Axes, x: float, text: str) -> tuple[float, float]:
    """About where the text at a point starts and ends: to its right, if there is room."""
    width = 6 * (len(text) + 2) * ax.figure.dpi / 72 / ax.bbox.width
    return (x - width, x) if x > 0.6 else (x, x + width)


def _dot(ax: Axes, x: float, y: float, colour: Any) -> None:
    (dot,) = ax.plot([x], [y], "o", color=colour, markersize=8, zorder=5, clip_on=False)
    dot.set(markeredgecolor="white", markeredgewidth=1.2)


def _text(ax: Axes, text: str, *at: Any, **style: Any) -> Any:
    """A text that stays legible over lines and shades."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    style = {"fontsize": 9, "zorder": 6, "parse_math": False, "path_effects": halo, **style}
    return ax.annotate(text, *at, **style)


def _flags(p: OperatingPoint, *, long: bool = False) -> str:
    if p.threshold == np.inf and not p.confusion.flagged:
        return "nothing" if long else "flag none"
    if p.threshold == -np.inf:
        return "everything" if long else "flag all"
    return f"from {_number(p.threshold)} on" if long else f"≥ {_number(p.threshold)}"


def _number(x: float) -> str:
    """With the signs that matplotlib's axes have."""
    return f"{x:.6g}".replace("-", "−").replace("inf", "∞")


def _flag_all(t: Floats, flag_all: Floats) -> tuple[Floats, Floats]:
    """Flagging everything at every probability: π − (1 − π) t/(1 − t), π from what is given."""
    known = np.flatnonzero(np.isfinite(flag_all))
    if not len(known):
        return np.empty(0), np.empty(0)
    k = known[0]
    prior = flag_all[k] * (1 - t[k]) + t[k]
    x = np.linspace(0.0, 1.0, 1001)[:-1]
    return x, prior - (1 - prior) * (x / (1 - x))


def _within(x: Floats, y: Floats, top: float) -> tuple[Floats, Floats]:
    """The points that have a value, and those far below the axes moved up to just below them."""
    known = ~np.isnan(y)
    return x[known], np.maximum(y[known], -top)


def _scores_of(
    c: Calibrator, ax: Axes | None, s: Sweep | None, low: Any, high: Any
) -> tuple[float, float]:
    """The range of scores to draw a calibrator over."""
    for name, given in (("low", low), ("high", high)):
        if given is not None and not _is_moderate(given):
            raise DataError(
                f"{name} must be a number within ±1e300; it is {shown(given)}. Pass the {name}est "
                "score to draw, or none."
            )
    drawn = [] if ax is None else [line.get_xdata() for line in _drawn(ax, "curve")]
    if s is not None:
        scores = s.threshold
    elif drawn:
        scores = np.concatenate(drawn)
    else:
        scores = _typical(c)
    edges = _edges(np.clip(scores, *c.domain), 1)
    # Only what nobody asked for is held inside of what can be mapped.
    start, end = np.clip(edges, *c.domain).tolist()
    start, end = start if low is None else float(low), end if high is None else float(high)
    if not start < end:
        raise DataError(
            f"low must be less than high; they are {start:g} and {end:g}. Pass both, or none."
        )
    return start, end


def _is_moderate(x: Any) -> bool:
    """Whether it is a number that is no risk to the width of an axis."""
    try:
        return isinstance(x, Real) and abs(float(x)) <= 1e300
    except OverflowError:
        return False


def _typical(c: Calibrator) -> Floats:
    """Scores that a calibrator was fitted to, as far as it remembers them, or made for."""
    first = c.steps[0] if isinstance(c, Chain) else c
    if isinstance(first, Affine):
        with np.errstate(over="ignore"):
            wide = np.divide(5.0, abs(first.gamma)) if first.gamma else 1.0
        return np.clip(first.d0 + np.array([-wide, wide]), -1e300, 1e300)
    if isinstance(first, Gaussian):
        return np.array([first.low, first.high])
    if isinstance(first, Monotone):
        at = first.threshold[np.isfinite(first.threshold)]
        if len(at):
            pad = 0.1 * np.clip(np.ptp(np.clip(at, -1e300, 1e300)), 0, 1e300) or 0.5
            return np.array([at.min() - pad, at.max() + pad])
    # Where probabilities are mapped, not up to 0 and 1: logarithms go far there.
    return np.array([0.001, 0.999]) if isfinite(first.domain[0]) else np.array([0.0, 1.0])


def _infinities(ax: Axes, x: Floats, llr: Floats, colour: Any) -> None:
    """Signs at the upper or lower edge, above the scores whose LLR is infinite."""
    for value, edge, side in ((np.inf, 1.0, "top"), (-np.inf, 0.0, "bottom")):
        at = x[np.sign(value) * llr > 1e300]
        if len(at):
            middle = 0.5 * at[0] + 0.5 * at[-1]
            where = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": side}
            _text(ax, _number(value), (middle, edge), color=colour, **where)


def _bins(bins: Any) -> int:
    whole = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    if not whole or not 1 <= bins <= 100_000:
        raise DataError(
            f"a histogram must have from 1 to 100,000 bins, a whole number; it is {shown(bins)}. "
            "Leave bins out for a number that suits most scores."
        )
    return int(bins)


def _edges(values: Floats, bins: int) -> Floats:
    """Edges of equal bins over all finite values."""
    bins = _bins(bins)
    # Within ±1e300, or the width of the axis would overflow.
    finite = np.clip(values[np.isfinite(values)], -1e300, 1e300)
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-200):  # or bins would have no width, or no finite height
        pad = max(0.5, 1e-9 * size)
        low, high = low - pad, high + pad
    return np.linspace(low, high, bins + 1)


def _range(st: Stability) -> tuple[float, float]:
    """The range of 95 % of the thresholds, of which some may be infinite."""
    if np.abs(st.threshold).max() <= 1e300:
        low, high = st.thresholds
    else:  # nothing lies between a number and infinity, and no float is as large as some gaps
        low, high = np.quantile(st.threshold, (0.025, 0.975), method="inverted_cdf").tolist()
    return low, high


def _legend(ax: Axes, place: Literal["best", "upper left", "upper center"] = "best") -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        for text in ax.legend(handles, labels, frameon=False, loc=place).get_texts():
            text.set_parse_math(False)  # names come from data: "$x_$" is one, and no formula


def _thinned(*columns: Floats) -> tuple[Floats, ...]:
    """The points that a picture can tell apart: the last of each run in one small square."""
    if len(columns[0]) <= 2 * _STEPS:
        return columns
    keep = np.zeros(len(columns[0]), np.bool_)
    keep[[0, -1]] = True
    for a in columns:
        cell = np.round((a - a.min()) * (_STEPS / (np.ptp(a) or 1.0)))
        keep[1:-1] |= cell[1:-1] != cell[2:]
    return tuple(a[keep] for a in columns)
