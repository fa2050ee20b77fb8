"""What choices of thresholds do to groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutscore.decision.groups import GroupComparison
from cutscore.measures.aim import as_objective
from cutscore.measures.registry import WORDS, is_rate
from cutscore.plot._canvas import COLOURS, add_legend, check_kind, wide_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def group_choices(
    comparison: GroupComparison, ax: Axes | None = None, *, measure: str | None = None
) -> Axes:
    """Draw what several choices cost each group: a bar for each choice and group, and for all rows.

    Parameters
    ----------
    comparison : GroupComparison
        From :func:`cutscore.compare_group_choices`.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    measure : str, optional
        What to draw instead of the objective: ``"recall"``, ``"fpr"`` or another measure.

    Examples
    --------
    >>> import cutscore as cs
    >>> groups = {"a": cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "b": cs.sweep([1, 0], [7, 4])}
    >>> one = cs.choose_groups(groups, cs.Costs(fp=1, fn=1))
    >>> ax = cs.plot.group_choices(cs.compare_group_choices({"one threshold": one}))
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['a', 'b', 'all rows']
    """
    check_kind(
        comparison, GroupComparison, "group_choices", "cs.compare_group_choices({name: point})"
    )
    points = comparison.points
    first = next(iter(points.values()))
    goal = first.aim.goal if measure is None else as_objective(measure)
    word = WORDS.get(goal.name, goal.name)
    ax = wide_axes(ax, "", f"{word[0].upper()}{word[1:]}{' (%)' if is_rate(goal.name) else ''}")
    names = [*map(str, first.confusions), "all rows"]
    scale, width = 100 if is_rate(goal.name) else 1, 0.8 / len(points)
    for k, (name, p) in enumerate(points.items()):
        values = [scale * float(goal(c)) for c in (*p.confusions.values(), p.confusion)]
        at = np.arange(len(names)) + (k - (len(points) - 1) / 2) * width
        ax.bar(at, values, width * 0.92, color=COLOURS[k % len(COLOURS)], label=name)
    ax.set_xticks(np.arange(len(names)), names)
    add_legend(ax)
    return ax
