"""Plots of curves on matplotlib axes: each function takes an ``ax`` and returns it.

Hand in a curve, as in ``plot.roc(cp.roc(s))``: drawing does not compute. Call a function again with
the axes it returned to put another detector into the same picture.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutpoint import curves
from cutpoint._sweep import Sweep
from cutpoint.areas import average_precision
from cutpoint.curves import Det, Gain, PrecisionRecall, Roc
from cutpoint.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["det", "distributions", "gain", "lift", "overview", "pr", "roc"]

Floats = NDArray[np.float64]

# Okabe and Ito's colours: apart for colour-blind readers, and in grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_POSITIVE, _NEGATIVE = "#d55e00", "#0072b2"

# No screen or page shows more steps than this along one axis.
_STEPS = 2000


def roc(curve: Roc, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> Axes:
    """Draw a ROC curve over its diagonal.

    Parameters
    ----------
    curve
        From :func:`cutpoint.roc`.
    ax
        Axes to draw on; a new figure if left out.
    label
        Name in the legend.
    **line
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> ax = cp.plot.roc(cp.roc(s), label=f"mine, AUC {s.auc:.2f}")
    >>> ax.get_ylabel()
    'true positive rate (recall)'
    """
    _needs(curve, Roc, "roc(cp.roc(s))")
    ax = _axes(ax, "false positive rate", "true positive rate (recall)", square=True)
    _guide(ax, [0, 1], [0, 1])
    return _line(ax, curve.fpr, curve.tpr, label, line)


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
    ax = _axes(ax, "score", "density within the class", unit=False)
    # Within ±1e300, or the width of the axis would overflow.
    finite = np.clip(s.threshold[np.isfinite(s.threshold)], -1e300, 1e300)
    low, high = (finite[-1], finite[0]) if len(finite) else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-200):  # or bins would have no width, or no finite height
        pad = max(0.5, 1e-9 * size)
        low, high = low - pad, high + pad
    edges = np.linspace(low, high, bins + 1)
    score = np.clip(s.threshold, low, high)
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


def _needs(given: object, kind: type, call: str) -> None:
    if not isinstance(given, kind):
        raise DataError(
            f"plot.{call.partition('(')[0]} draws a {kind.__name__}; got a "
            f"{type(given).__name__}. Call plot.{call}."
        )


def _axes(ax: Axes | None, x: str, y: str, *, unit: bool = True, square: bool = False) -> Axes:
    if ax is None:
        from matplotlib.figure import Figure

        # Not pyplot: nothing is kept alive, and no window system is asked for.
        ax = Figure(figsize=(4.4, 4.2), layout="constrained").add_subplot()
    ax.set(xlabel=x, ylabel=y)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if unit:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    if square:
        ax.set_aspect("equal")
    return ax


def _guide(ax: Axes, x: list[float], y: list[float]) -> None:
    ax.plot(x, y, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def _line(ax: Axes, x: Floats, y: Floats, label: str | None, line: dict[str, Any]) -> Axes:
    drawn = sum(artist.get_gid() == "curve" for artist in ax.lines)
    style = {"color": _COLOURS[drawn % len(_COLOURS)], "linewidth": 1.8, **line}
    (artist,) = ax.plot(*_thinned(x, y), label=label, zorder=3, **style)
    artist.set_gid("curve")
    if label is not None:
        _legend(ax)
    return ax


def _legend(ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        for text in ax.legend(handles, labels, frameon=False, loc="best").get_texts():
            text.set_parse_math(False)  # names come from data: "$x_$" is one, and no formula


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The points that a picture can tell apart: the last of each run in one small square."""
    if len(x) <= 2 * _STEPS:
        return x, y
    across, up = (np.round((a - a.min()) * (_STEPS / (np.ptp(a) or 1.0))) for a in (x, y))
    cell = across * (_STEPS + 1) + up
    keep = np.ones(len(x), np.bool_)
    keep[1:-1] = cell[1:-1] != cell[2:]
    return x[keep], y[keep]
