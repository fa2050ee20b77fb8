"""What choices do to groups, and to money."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutscore.core.numbers import number_text
from cutscore.decision.groups import GroupComparison
from cutscore.decision.row_costs import RowCostPoint
from cutscore.measures.aim import as_objective
from cutscore.measures.registry import WORDS, is_rate
from cutscore.plot._canvas import (
    COLOURS,
    add_legend,
    check_kind,
    draw_guide,
    draw_line,
    put_text,
    simplify,
    wide_axes,
)

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


def money(
    point: RowCostPoint, ax: Axes | None = None, *, label: str | None = None, **line: object
) -> Axes:
    """Draw what decisions by the costs of each row cost, by how many cases are flagged.

    The dot is the decision that was chosen, and the dashed line the cost of the best single
    threshold on the score. The ends of the curve flag nothing and everything.

    Parameters
    ----------
    point : RowCostPoint
        From :func:`cutscore.choose_by_row`, or the point of a policy.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    label : str, optional
        Name in the legend.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> y, score, amount = [1, 0, 1, 0, 0, 1], [9, 8, 6, 4, 3, 2], [20, 10, 500, 30, 900, 5]
    >>> p = cs.choose_by_row(y, score, cs.Costs(fp=4, fn="amount"), {"amount": amount})
    >>> ax = cs.plot.money(p)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Flagged (%)', 'Cost per 1,000 cases')
    """
    check_kind(point, RowCostPoint, "money", "cs.choose_by_row(y, score, costs, columns)")
    curve = point.curve
    ax = wide_axes(ax, "Flagged (%)", "Cost per 1,000 cases")
    x, y = simplify(100 * curve.flagged, 1000 * curve.cost)
    draw_line(ax, x, y, label, line)
    colour = ax.lines[-1].get_color()
    if point.uniform is not None:
        cost = 1000 * point.uniform.value
        draw_guide(ax, [0, 100], [cost, cost])
        text = f"best single threshold: {number_text(cost)}"
        put_text(ax, text, (100, cost), (0, 3), textcoords="offset points", ha="right", color="0.4")
    at, cost = 100 * float(curve.flagged[point.cut]), 1000 * point.value
    ax.plot([at], [cost], "o", color=colour, zorder=4)
    put_text(ax, number_text(cost), (at, cost), (0, -12), textcoords="offset points", color=colour)
    ax.set_xlim(-1, 101)
    ax.set_ylim(bottom=0)
    return ax
