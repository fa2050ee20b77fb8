"""HTML for notebooks: cards of results, tables and small pictures. Text is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Facts = Mapping[str, str] | Sequence[tuple[str, str]]

_LEFT = "text-align:left;vertical-align:top"
_RIGHT = "text-align:right;padding:.2em .8em;font-variant-numeric:tabular-nums"
_WARNING = "border-left:.3em solid #d32f2f;padding-left:.6em;margin-bottom:.4em;font-weight:bold"


class Card:
    """A result that a notebook shows as a card: title, facts and perhaps a picture.

    Examples
    --------
    >>> from cutscore.core.html import Card
    >>> class Answer(Card):
    ...     def _title(self):
    ...         return "Answer"
    ...
    ...     def __repr__(self):
    ...         return "a < b"
    >>> "a &lt; b" in Answer()._repr_html_()
    True
    """

    __slots__ = ()

    def _title(self) -> str:
        return type(self).__name__

    def _warning(self) -> str:
        """What has to be said before anything else."""
        return ""

    def _facts(self) -> Facts:
        return [("", line) for line in repr(self).splitlines()]

    def _picture(self) -> str:
        """Trusted markup."""
        return ""

    def _repr_html_(self) -> str:
        return fact_table(self._title(), self._facts(), self._picture(), self._warning())


def fact_table(title: str, facts: Facts, picture: str = "", warning: str = "") -> str:
    """A titled table of facts, with a picture (trusted markup) on its left, under a warning."""
    pairs = facts.items() if isinstance(facts, Mapping) else facts
    rows = "".join(f"<tr>{_fact_cells(name, value)}</tr>" for name, value in pairs)
    above = f"<div style='{_WARNING}'>{escape(warning)}</div>" if warning else ""
    return (
        f"<div>{above}<div style='display:flex;gap:1.2em;align-items:center'>"
        f"{picture}<div><strong>{escape(title)}</strong><table>{rows}</table></div></div></div>"
    )


def _fact_cells(name: str, value: str) -> str:
    if not name:
        return f"<td colspan='2' style='{_LEFT}'>{escape(value)}</td>"
    style = f"{_LEFT};font-weight:normal;opacity:.7;padding-right:1em"
    return f"<th style='{style}'>{escape(name)}</th><td style='{_LEFT}'>{escape(value)}</td>"


def grid_table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
) -> str:
    """A table with a head; the first column names the rows, the others hold numbers."""
    body = "".join([_table_row("th", head), *(_table_row("td", row) for row in rows)])
    return f"<div><strong>{escape(title)}</strong><table>{body}</table>{escape(note)}</div>"


def _table_row(cell: str, texts: Sequence[str]) -> str:
    first, *rest = map(escape, texts)
    others = "".join(f"<{cell} style='{_RIGHT}'>{text}</{cell}>" for text in rest)
    return f"<tr><th style='{_LEFT}'>{first}</th>{others}</tr>"


def thumbnail(  # noqa: PLR0913 - options have names
    x: NDArray[Any],
    y: NDArray[Any],
    name: str = "ROC curve",
    *,
    guide: Sequence[tuple[float, float]] = ((0, 0), (1, 1)),
    point: tuple[float, float] | None = None,
    most: int = 400,
) -> str:
    """A curve in the unit square as a small SVG, over a dashed guide, perhaps with a point on it;
    at most so many points of it are drawn."""
    size = 120
    if len(x) > most:
        keep = np.linspace(0, len(x) - 1, most).astype(np.intp)
        x, y = x[keep], y[keep]

    def path(points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{size * a:.1f},{size * (1 - b):.1f}" for a, b in points)

    mark = ""
    if point is not None:
        left, top = path([point]).split(",")
        mark = f"<circle cx='{left}' cy='{top}' r='4' fill='#d55e00'/>"
    return (
        f"<svg width='{size}' height='{size}' viewBox='-1 -1 {size + 2} {size + 2}' role='img' "
        f"aria-label='{escape(name)}'>"
        f"<rect width='{size}' height='{size}' fill='none' stroke='currentColor' opacity='.3'/>"
        f"<polyline points='{path(guide)}' fill='none' stroke='currentColor' opacity='.3' "
        "stroke-dasharray='3'/>"
        f"<polyline points='{path(zip(x.tolist(), y.tolist(), strict=True))}' fill='none' "
        f"stroke='#0072b2' stroke-width='2'/>{mark}</svg>"
    )
