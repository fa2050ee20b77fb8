"""Plots of curves and decisions on matplotlib axes: each function takes an ``ax`` and returns it.

Hand in a sweep, as in ``plot.roc(s)``, or what was computed from it, as in ``plot.roc(cs.roc(s))``:
drawing adds nothing to it. Where there is a ``label``, several are drawn by name, as in
``plot.roc({"new": a, "old": b})``; or call the function again with the axes it returned.

As the last line of a notebook's cell a plot shows itself. In a script, ``ax.figure.savefig(path)``
saves it; with pyplot, pass ``plt.gca()`` as ``ax``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cutscore.plot._canvas import check_kind, new_figure
from cutscore.plot._curves import cost_curve, det, gain, hull, lift, net_benefit, pr, roc
from cutscore.plot._features import distances, surface
from cutscore.plot._groups import group_choices, money
from cutscore.plot._scores import (
    calibrator,
    distributions,
    margins,
    operating_point,
    passes,
    reliability,
    stability,
)
from cutscore.sweeps.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "calibrator",
    "cost_curve",
    "det",
    "distances",
    "distributions",
    "gain",
    "group_choices",
    "hull",
    "lift",
    "margins",
    "money",
    "net_benefit",
    "operating_point",
    "overview",
    "passes",
    "pr",
    "reliability",
    "roc",
    "stability",
    "surface",
]


def overview(s: Sweep) -> Figure:
    """Draw all curves, and the scores of each class, in one figure.

    Examples
    --------
    >>> import cutscore as cs
    >>> figure = cs.plot.overview(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['ROC', 'Precision–recall', 'Cumulative gain', 'DET', 'Lift', 'Scores']
    """
    check_kind(s, Sweep, "overview", "cs.sweep(y, score)")
    figure = new_figure(12.5, 8)
    axes = figure.subplots(2, 3).ravel()
    titles = ("ROC", "Precision–recall", "Cumulative gain", "DET", "Lift", "Scores")
    draws: tuple[Callable[..., Axes], ...] = (roc, pr, gain, det, lift, distributions)
    for ax, title, draw in zip(axes, titles, draws, strict=True):
        draw(s, ax)
        ax.set_title(title, loc="left", fontweight="bold")
    return figure
