"""Curves of rates, costs and benefits, and the points on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.numbers import estimate_text
from cutscore.decision.choice import OperatingPoint
from cutscore.inference.auc import auc_interval
from cutscore.inference.net_benefit import NetBenefitAt
from cutscore.inference.roc_band import Band
from cutscore.inference.smoothing import SmoothRoc
from cutscore.plot._canvas import (
    COLOURS,
    add_legend,
    artists,
    check_option,
    curve_of,
    draw_each,
    draw_guide,
    draw_line,
    prepare_axes,
    put_text,
    rule_text,
    shade,
    simplify,
    wide_axes,
)
from cutscore.sweeps import cost_curve as costs
from cutscore.sweeps import curves
from cutscore.sweeps import hull as hulls
from cutscore.sweeps.areas import average_precision
from cutscore.sweeps.cost_curve import CostCurve, NetBenefit
from cutscore.sweeps.curves import Det, Gain, Lift, PrecisionRecall, Roc
from cutscore.sweeps.hull import Hull, JointHull, check_points
from cutscore.sweeps.sweep import Floats, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType as Colour

FPR, RECALL = "False positive rate (1 − specificity)", "Recall (sensitivity)"
FLAGGED = "Share of cases flagged"

# Nearer to 0 than this, a few rows decide about precision and lift, which jump between 0 and their
# highest value in what would look like a bar.
_START = 0.01

# Past as many classifiers as there are colours, others: for sweeps, and for single points.
_MARKERS = ("oD", "sP", "^X", "v*")


def roc(  # noqa: PLR0913 - options have names
    curve: Sweep | Roc | SmoothRoc | Mapping[str, Sweep | Roc | SmoothRoc] | None = None,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    band: Band | None = None,
    point: OperatingPoint | Sequence[OperatingPoint] | None = None,
    hull: Hull | JointHull | None = None,
    points: Mapping[str, tuple[float, float]] | None = None,
    **line: object,
) -> Axes:
    """Draw a ROC curve over its diagonal.

    The legend has the AUC of a sweep, with its 95 % confidence interval, and that of a smooth
    curve. A weighted sweep without squares has no interval.

    Parameters
    ----------
    curve : Sweep, Roc, SmoothRoc or dict of Sweep or Roc or SmoothRoc, optional
        A sweep; what :func:`cutscore.roc` or :func:`cutscore.smooth_roc` computed; or several, as a
        mapping from their names. It may be left out where there are ``points``.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    label : str, optional
        Name in the legend.
    band : Band, optional
        From :func:`cutscore.roc_band`: shaded behind the curve.
    point : OperatingPoint or sequence of OperatingPoint, optional
        From :func:`cutscore.choose`, one or several: marked, with their thresholds.
    hull : Hull or JointHull, optional
        From :func:`cutscore.hull`: a thin line over the curve.
    points : dict of (FPR, TPR), optional
        Classifiers without a score, such as rules: their rates (FPR, TPR) by name. Each is marked
        with its name, wherever it lies.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cs.plot.roc(s)
    >>> ax.get_ylabel(), ax.get_legend().get_texts()[0].get_text()
    ('Recall (sensitivity)', 'AUC 0.750 (95 % CI 0.301–0.954)')

    Several by name:

    >>> ax = cs.plot.roc({"mine": s, "chance": cs.roc(cs.sweep([1, 0], [0, 0]))})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mine, AUC 0.750 (95 % CI 0.301–0.954)', 'chance']

    With all that is known about it:

    >>> p = cs.choose(s, "f1")
    >>> ax = cs.plot.roc(s, band=cs.roc_band(s), point=p, hull=cs.hull(s))
    >>> [text.get_text() for text in ax.texts]
    ['≥ 2.50']

    And smooth:

    >>> ax = cs.plot.roc({"empirical": s, "binormal": cs.smooth_roc(s)})

    Beside rules that only say yes or no:

    >>> ax = cs.plot.roc(s, points={"old rule": (0.1, 0.6), "coin": (0.5, 0.5)})
    >>> [text.get_text() for text in ax.texts]
    ['old rule', 'coin']
    """
    rules = {} if points is None else check_points(points)
    if isinstance(curve, Mapping):
        ax = draw_each(roc, curve, ax, line, label=label, band=band, point=point, hull=hull)
        return _mark_classifiers(ax, rules)
    if curve is None and rules:
        for name, given in (("label", label), ("band", band), ("point", point), ("hull", hull)):
            if given is not None:
                rule, hint = "be omitted if there is no curve", "Pass a sweep first."
                raise DataError(BadArgument(name, rule, given, hint))
        return _mark_classifiers(_roc_axes(ax), rules)
    drawn: Roc | SmoothRoc = curve_of(curve, (Roc, SmoothRoc), "roc", curves.roc)
    several = point if isinstance(point, Sequence) else [point]
    chosen = [p for p in several if p is not None]
    check_option(band, Band, "band", "cs.roc_band(s)")
    check_option(hull, (Hull, JointHull), "hull", "cs.hull(s)")
    for p in chosen:
        check_option(p, OperatingPoint, "point", "cs.choose(s, objective)")
    ax = _roc_axes(ax)
    draw_line(ax, drawn.fpr, drawn.tpr, _legend_text(label, _area_text(curve)), line)
    colour = ax.lines[-1].get_color()
    if band is not None:
        name = f"{100 * band.level:g} % confidence band"
        shade(ax, (band.fpr, band.low, band.high), colour, name)
    if isinstance(hull, JointHull):
        _joint(ax, hull)
    elif hull is not None:
        (thin,) = ax.plot(*simplify(hull.fpr, hull.tpr), color="0.2", linewidth=0.9)
        thin.set(marker=_vertex(hull), markersize=2.5, zorder=3.5, label="convex hull", gid="hull")
    # From the top down, since labels give way downwards.
    for p in sorted(chosen, key=lambda p: -p.confusion.recall):
        _mark(ax, p.confusion.fpr, p.confusion.recall, rule_text(p), colour)
    add_legend(ax)
    return _mark_classifiers(ax, rules)


def hull(
    h: Sweep | Hull | JointHull | Mapping[str, Sweep | Hull],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw the convex hull of a ROC curve, or of several classifiers together.

    Vertices are marked, unless there are too many to see apart. Those of a joint hull always
    are, in the colour of their classifier; classifiers that are a single point have markers of
    their own, which are hollow below the hull. The colours are those that
    :func:`cutscore.plot.roc` gives to the curves when it draws all classifiers in their order.

    Parameters
    ----------
    h : Sweep, Hull, JointHull or dict of Sweep or Hull
        A sweep; what :func:`cutscore.hull` computed; or several, each by itself, as a mapping from
        their names.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    label : str, optional
        Name of the line in the legend, where the classifiers of a joint hull are listed anyway.
    **line : keyword arguments
        Passed to ``Axes.plot``, for the line.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cs.plot.hull(cs.hull({"score": s, "rule": (0.1, 0.6), "old rule": (0.5, 0.5)}))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['score', 'rule', 'old rule (never best)']
    """
    if isinstance(h, Mapping):
        return draw_each(hull, h, ax, line, label=label)
    drawn: Hull | JointHull = curve_of(h, (Hull, JointHull), "hull", hulls.hull)
    ax = _roc_axes(ax)
    if isinstance(drawn, Hull):
        look = {"marker": _vertex(drawn), "markersize": 4.0, **line}
        return draw_line(ax, drawn.fpr, drawn.tpr, label, look)
    _joint(ax, drawn, label=label, **line)
    add_legend(ax)
    return ax


def pr(
    curve: Sweep | PrecisionRecall | Mapping[str, Sweep | PrecisionRecall],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a precision–recall curve over the prevalence, which is the precision of flagging all.

    The curve is a staircase: between two thresholds no detector has the precision in between. It
    starts at a recall of 1 %: before that a few rows decide. The legend has the average precision
    of a sweep.

    Examples
    --------
    >>> import cutscore as cs
    >>> ax = cs.plot.pr(cs.sweep([1, 0, 1], [3, 2, 1]))
    >>> ax.get_ylabel(), ax.get_legend().get_texts()[0].get_text()
    ('Precision (positive predictive value)', 'average precision 0.833')
    """
    if isinstance(curve, Mapping):
        return draw_each(pr, curve, ax, line, label=label)
    drawn: PrecisionRecall = curve_of(curve, PrecisionRecall, "pr", curves.pr)
    ax = prepare_axes(ax, RECALL, "Precision (positive predictive value)", square=True)
    draw_guide(ax, [0, 1], [drawn.precision[-1]] * 2)
    start = int(np.searchsorted(drawn.recall, _START))
    x = np.append(drawn.recall[start - 1], drawn.recall[start:])
    y = np.append(drawn.precision[start], drawn.precision[start:])
    area = f"average precision {average_precision(curve):.3f}" if isinstance(curve, Sweep) else ""
    return draw_line(ax, x, y, _legend_text(label, area), {"drawstyle": "steps-pre", **line})


def det(
    curve: Sweep | Det | Mapping[str, Sweep | Det],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a DET curve on normal-deviate axes, where normal scores make a straight line.

    Points at 0 % or 100 % have no place on such axes and are left out.

    Examples
    --------
    >>> import cutscore as cs
    >>> ax = cs.plot.det(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> ax.get_ylabel()
    'False negative rate (1 − recall)'
    """
    if isinstance(curve, Mapping):
        return draw_each(det, curve, ax, line, label=label)
    drawn: Det = curve_of(curve, Det, "det", curves.det)
    ax = prepare_axes(ax, FPR, "False negative rate (1 − recall)", unit=False)
    inside = (drawn.fpr > 0) & (drawn.fpr < 1) & (drawn.fnr > 0) & (drawn.fnr < 1)
    if not inside.any():
        middle = {"xycoords": "axes fraction", "ha": "center", "va": "center", "color": "0.4"}
        put_text(ax, "no threshold has both rates\nbetween 0 % and 100 %", (0.5, 0.5), **middle)
    fpr, fnr = simplify(drawn.fpr[inside], drawn.fnr[inside])
    deviate = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
    ticks = np.array([0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])
    names = [f"{100 * t:g} %" for t in ticks]
    ax.set_xticks(deviate(ticks), names)
    ax.set_yticks(deviate(ticks), names)
    low = deviate(np.clip([fpr.min(initial=0.05) / 2, fnr.min(initial=0.05) / 2], 1e-6, 0.4))
    high = deviate(np.clip([fpr.max(initial=0.5) * 1.1, fnr.max(initial=0.5) * 1.1], 0.6, 0.9995))
    if any(artists(ax, "curve")):  # room for those before, too
        left, right, bottom, top = (*ax.get_xlim(), *ax.get_ylim())
        low, high = np.minimum(low, (left, bottom)), np.maximum(high, (right, top))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return draw_line(ax, deviate(fpr), deviate(fnr), label, line)


def gain(
    curve: Sweep | Gain | Mapping[str, Sweep | Gain],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a cumulative gain curve: the sensitivity against the share of cases flagged.

    The dashed lines are chance, and the best that any detector could do at this prevalence.

    Examples
    --------
    >>> import cutscore as cs
    >>> ax = cs.plot.gain(cs.sweep([1, 0, 0, 0], [4, 3, 2, 1]))
    >>> ax.get_xlabel()
    'Share of cases flagged'
    """
    if isinstance(curve, Mapping):
        return draw_each(gain, curve, ax, line, label=label)
    drawn: Gain = curve_of(curve, Gain, "gain", curves.gain)
    ax = prepare_axes(ax, FLAGGED, RECALL, square=True)
    draw_guide(ax, [0, 1], [0, 1])
    draw_guide(ax, [0, 1 / drawn.lift[0], 1], [0, 1, 1])
    return draw_line(ax, drawn.flagged, drawn.gain, label, line)


def lift(
    curve: Sweep | Lift | Gain | Mapping[str, Sweep | Lift | Gain],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a lift curve: precision over prevalence, against the share of cases flagged.

    It starts where 1 % of the cases are flagged: before that a few rows decide.

    Examples
    --------
    >>> import cutscore as cs
    >>> ax = cs.plot.lift(cs.sweep([1, 0, 0, 0], [4, 3, 2, 1]))
    >>> ax.get_ylabel()
    'Lift (precision / prevalence)'
    """
    if isinstance(curve, Mapping):
        return draw_each(lift, curve, ax, line, label=label)
    drawn: Lift | Gain = curve_of(curve, (Lift, Gain), "lift", curves.lift)
    ax = prepare_axes(ax, FLAGGED, "Lift (precision / prevalence)", unit=False)
    draw_guide(ax, [0, 1], [1, 1])
    ax.set(xlim=(-0.01, 1.01))
    start = int(np.searchsorted(drawn.flagged, _START))
    draw_line(ax, drawn.flagged[start:], drawn.lift[start:], label, line)
    ax.set_ylim(bottom=0)
    return ax


def cost_curve(
    curve: Sweep | CostCurve | Mapping[str, Sweep | CostCurve],
    ax: Axes | None = None,
    *,
    x: float | None = None,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a cost curve: the expected cost of the best threshold for all costs and prevalences.

    The dashed lines are the costs without scores, of flagging nothing on the left and of flagging
    everything on the right; the shaded area between is what the scores of the first curve gain.

    Parameters
    ----------
    curve : Sweep, CostCurve or dict of Sweep or CostCurve
        A sweep; what :func:`cutscore.cost_curve` computed; or several, as a mapping from their
        names.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    x : float, optional
        A probability-cost to mark, with the costs there: ``Costs.probability_cost(prior)``.
    label : str, optional
        Name in the legend.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cs.plot.cost_curve(s, x=0.4)
    >>> ax.get_xlabel(), ax.texts[-1].get_text()
    ('Probability × cost of positives', 'at 0.4: 0.250 instead of 0.400')
    """
    if isinstance(curve, Mapping):
        return draw_each(cost_curve, curve, ax, line, label=label, x=x)
    drawn: CostCurve = curve_of(curve, CostCurve, "cost_curve", costs.cost_curve)
    if x is not None and not (isinstance(x, Real) and 0 <= x <= 1):
        raise DataError(BadArgument("x", "be a probability-cost from 0 to 1", x))
    first = ax is None or not any(artists(ax, "curve"))
    ax = wide_axes(ax, "Probability × cost of positives", "Normalised expected cost")
    if first:
        draw_guide(ax, [0, 0.5, 1], [0, 0.5, 0])
        for middle, turn, name in ((0.25, 45, "flag none"), (0.75, -45, "flag all")):
            along = {"rotation": turn, "rotation_mode": "anchor", "transform_rotates_text": True}
            above = {"textcoords": "offset points", "ha": "center", "va": "bottom", "color": "0.4"}
            put_text(ax, name, (middle, 0.25), (0, 3), **along, **above)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.005, 0.525))
    # Straight lines between the probability-costs at which the best cut changes.
    at = np.concatenate(([0.0], drawn.high))
    draw_line(ax, at, drawn.cost(at), label, line)
    colour = ax.lines[-1].get_color()
    if first:  # two shades over each other say nothing
        at = np.sort(np.append(simplify(at)[0], 0.5))
        shade(ax, (at, drawn.cost(at), np.minimum(at, 1 - at)), colour)
    if x is not None:
        cost, without = float(drawn.cost(x)), min(x, 1 - x)
        ax.set_ylim(top=max(0.6, ax.get_ylim()[1]))
        ax.plot([x, x], [cost, 0.53], color=colour, linewidth=0.9, zorder=2)
        _dot(ax, x, cost, colour)
        put_text(
            ax,
            f"at {x:g}: {cost:.3f} instead of {without:.3f}",
            (x, 0.54),
            ha="left" if x < 0.3 else "right" if x > 0.7 else "center",
            color=colour,
        )
    return ax


def net_benefit(
    curve: Sweep | NetBenefit | Mapping[str, Sweep | NetBenefit],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    band: NetBenefitAt | None = None,
    **line: object,
) -> Axes:
    """Draw a decision curve: the net benefit of acting from each probability on.

    The thin line is the best cut of the same scores: what lies between is lost to miscalibration.
    The dashed lines are treating everybody, and nobody. The axis ends where no curve has a benefit
    that a picture can show: a hundredth of the prevalence.

    Parameters
    ----------
    curve : Sweep, NetBenefit or dict of Sweep or NetBenefit
        A sweep of probabilities; what :func:`cutscore.net_benefit` computed; or several, as a
        mapping from their names.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    label : str, optional
        Name in the legend.
    band : NetBenefitAt, optional
        From :func:`cutscore.net_benefit_at`: intervals at its thresholds, shaded behind the curve.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 0], [0.8, 0.6, 0.5, 0.2])
    >>> ax = cs.plot.net_benefit(s, band=cs.net_benefit_at(s, [0.2, 0.4, 0.6]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Model', 'Model, best threshold', '95 % CI', 'Flag all', 'Flag none']
    """
    if isinstance(curve, Mapping):
        return draw_each(net_benefit, curve, ax, line, label=label, band=band)
    drawn: NetBenefit = curve_of(curve, NetBenefit, "net_benefit", costs.net_benefit)
    check_option(band, NetBenefitAt, "band", "cs.net_benefit_at(s, thresholds)")
    number = 1 + (0 if ax is None else sum(1 for _ in artists(ax, "curve")))
    ax = wide_axes(ax, "Threshold probability", "Net benefit")
    there = np.isfinite(drawn.threshold)
    t, model, best = (a[there][::-1] for a in (drawn.threshold, drawn.net_benefit, drawn.best))
    x, treat_all = _treat_all(t, drawn.flag_all[there][::-1])
    top, end = _decision_limits(t, model, best, treat_all)
    if number > 1:
        top, end = max(top, ax.get_ylim()[1]), max(end, ax.get_xlim()[1])
    ax.set(xlim=(-0.01 * end, end), ylim=(-0.15 * top, top))
    # Below the lowest probability everything is flagged, and above the highest one nothing.
    below, past = x < t[0], [t[-1], 1.0] if t[-1] < 1 else []
    t_model = np.concatenate((x[below], t, past))
    model = np.concatenate((treat_all[below], model, np.zeros(len(past))))
    name = label or ("Model" if number == 1 else f"Model {number}")
    draw_line(ax, *_clip_below(t_model, model, top), name, line)
    colour = ax.lines[-1].get_color()
    (thin,) = ax.plot(
        *simplify(*_clip_below(t, best, top)), color=colour, linewidth=0.9, zorder=2.5
    )
    thin.set(label=f"{name}, best threshold", gid="best")
    if band is not None:
        order, found = np.argsort(band.threshold), band.net_benefit
        ends = [a[order] for a in (band.threshold, found.low, found.high)]
        shade(ax, ends, colour, f"{100 * found.level:g} % CI")
    if len(x):
        _trivial(ax, "Flag all", *_clip_below(x, treat_all, top), dashes=(4, 3))
    _trivial(ax, "Flag none", np.array([0.0, 1.0]), np.zeros(2), dashes=(1, 2))
    add_legend(ax)
    return ax


def _decision_limits(
    t: Floats, model: Floats, best: Floats, treat_all: Floats
) -> tuple[float, float]:
    """How far the axes of a decision curve go: up to the highest benefit, and to the right as long
    as a picture shows one."""
    values = np.concatenate((model, best, treat_all))
    top = float(values.max(initial=0.0, where=np.isfinite(values)))
    seen = t[np.fmax(model, best) > top / 100]
    end = max(seen.max(initial=0.0), float(np.mean(treat_all > 0)) if len(treat_all) else 0.0)
    return 1.05 * top or 1.0, min(1.1 * end, 1.01) or 1.01


def _legend_text(label: str | None, area: str) -> str | None:
    return ", ".join(filter(None, (label, area))) or label


def _area_text(curve: object) -> str:
    """The AUC with its confidence interval, where it is known."""
    if isinstance(curve, SmoothRoc):
        return f"AUC {estimate_text(curve.auc, curve.interval)}"
    if not isinstance(curve, Sweep):
        return ""
    with suppress(UndefinedError):  # weights without squares
        return f"AUC {estimate_text(curve.auc, auc_interval(curve))}"
    return f"AUC {curve.auc:.3f}"


def _roc_axes(ax: Axes | None) -> Axes:
    ax = prepare_axes(ax, FPR, RECALL, square=True)
    draw_guide(ax, [0, 1], [0, 1])
    return ax


def _joint(ax: Axes, h: JointHull, *, label: str | None = None, **line: object) -> None:
    """The line of a joint hull, and its vertices by classifier."""
    style: dict[str, Any] = {"color": "0.35", "linewidth": 1.2, "zorder": 3.2, **line}
    ax.plot(*simplify(h.fpr, h.tpr), label=label, gid="hull", **style)
    best = np.isin(np.arange(len(h.names)), h.classifier)
    for k in np.argsort(~best, kind="stable").tolist():
        mine = h.classifier == k
        single = not np.isnan(h.points[k, 0])
        x, y = h.points[k : k + 1].T if single and not best[k] else (h.fpr[mine], h.tpr[mine])
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(
            x,
            y,
            linestyle="none",
            marker=_MARKERS[k // len(COLOURS) % len(_MARKERS)][single] if single or best[k] else "",
            markersize=8 if single else 5,
            markerfacecolor=colour if best[k] else "white",
            markeredgecolor="white" if best[k] else colour,
            markeredgewidth=(0.8 if single else 0.4) if best[k] else 1.4,
            color=colour,
            label=h.names[k] if best[k] else f"{h.names[k]} (never best)",
            gid="vertices" if best[k] else "below",
            zorder=4,
        )


def _mark_classifiers(ax: Axes, points: Mapping[str, tuple[float, float]]) -> Axes:
    """Single points with their names."""
    # From the top down, since labels give way downwards.
    for name, (fpr, tpr) in sorted(points.items(), key=lambda one: -one[1][1]):
        _mark(ax, fpr, tpr, name, "0.2", marker="D")
    return ax


def _vertex(h: Hull) -> str:
    """The marker of vertices: more would hide the line."""
    return "o" if len(h) <= 100 else "none"


def _mark(  # noqa: PLR0913 - a point and its looks
    ax: Axes, x: float, y: float, text: str, colour: Colour, *, marker: str = "o"
) -> None:
    """A point of ROC space, with a text to its lower right that gives way to those there already.

    The lower right, since the curve rises: its text is below it there.
    """
    if np.isnan(x) or np.isnan(y):  # of one class only: it has no place here
        return
    others = sorted(artists(ax, "point"), key=lambda other: -other.xyann[1])
    _dot(ax, x, y, colour, marker)
    if any(other.xy == (x, y) and other.get_text() == text for other in others):
        return
    height = 13 * ax.figure.dpi / 72 / ax.bbox.height
    start, end = _text_span(ax, x, text)
    # Where the curve is steep there is room right beside the point.
    beside = level = y - (0.2 if x + y < 1 else 0.9) * height
    for other in others:
        first, last = _text_span(ax, other.xy[0], other.get_text())
        if first < end and start < last and abs(other.xyann[1] - level) < height:
            level = other.xyann[1] - height
    level = max(level, 0.5 * height)
    left, moved = start < x, beside - level > 0.5 * height
    away = (0.06 if moved else 0.025) * (-1 if left else 1)
    leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (float(left), 0.5)}
    label = put_text(
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


def _text_span(ax: Axes, x: float, text: str) -> tuple[float, float]:
    """About where the text at a point starts and ends: to its right, if there is room."""
    width = 6 * (len(text) + 2) * ax.figure.dpi / 72 / ax.bbox.width
    return (x - width, x) if x > 0.6 else (x, x + width)


def _dot(ax: Axes, x: float, y: float, colour: Colour, marker: str = "o") -> None:
    (dot,) = ax.plot([x], [y], marker, color=colour, markersize=8, zorder=5, clip_on=False)
    dot.set(markeredgecolor="white", markeredgewidth=1.2)


def _treat_all(t: Floats, flag_all: Floats) -> tuple[Floats, Floats]:
    """Flagging everything at every probability: π − (1 − π) t/(1 − t), π from what is given."""
    known = np.flatnonzero(np.isfinite(flag_all))
    if not len(known):
        return np.empty(0), np.empty(0)
    k = known[0]
    prior = flag_all[k] * (1 - t[k]) + t[k]
    x = np.linspace(0.0, 1.0, 1001)[:-1]
    return x, prior - (1 - prior) * (x / (1 - x))


def _trivial(ax: Axes, name: str, x: Floats, y: Floats, *, dashes: tuple[int, int]) -> None:
    """The line of a rule without scores, once; treating all has one for each prevalence."""
    known = [float(line.get_ydata()[0]) for line in artists(ax, name)]
    if not np.isclose(known, y[0], rtol=1e-9, atol=0).any():
        text = f"{name}, prevalence {100 * y[0]:.3g} %" if known else name
        (thin,) = ax.plot(x, y, color="0.45", linewidth=1.2, zorder=2, label=text, gid=name)
        thin.set_linestyle((0, dashes))


def _clip_below(x: Floats, y: Floats, top: float) -> tuple[Floats, Floats]:
    """The points that have a value, and those far below the axes moved up to just below them."""
    known = ~np.isnan(y)
    return x[known], np.maximum(y[known], -top)
