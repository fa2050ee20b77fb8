"""Small pieces of HTML for notebooks. Text from data is escaped here, once."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray


def fact_table(title: str, facts: Sequence[tuple[str, str]], picture: str = "") -> str:
    """A titled table of facts with an optional picture (trusted markup) on its left."""
    rows = "".join(
        "<tr><th style='text-align:left;vertical-align:top;font-weight:normal;opacity:.7;"
        f"padding-right:1em'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in facts
    )
    return (
        "<div style='display:flex;gap:1.2em;align-items:center'>"
        f"{picture}<div><strong>{escape(title)}</strong><table>{rows}</table></div></div>"
    )


def roc_thumbnail(
    fpr: NDArray[Any],
    tpr: NDArray[Any],
    size: int = 120,
    most: int = 400,
    point: tuple[float, float] | None = None,
) -> str:
    """A ROC curve as a small SVG, perhaps with a point on it; curves of more than ``most`` points
    are thinned."""
    x, y = np.concatenate(([0.0], fpr)), np.concatenate(([0.0], tpr))
    if len(x) > most:
        keep = np.linspace(0, len(x) - 1, most).astype(np.intp)
        x, y = x[keep], y[keep]
    points = " ".join(
        f"{size * a:.1f},{size * (1 - b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )
    mark = ""
    if point is not None:
        x0, y0 = size * point[0], size * (1 - point[1])
        mark = f"<circle cx='{x0:.1f}' cy='{y0:.1f}' r='4' fill='#d55e00'/>"
    return (
        f"<svg width='{size}' height='{size}' viewBox='-1 -1 {size + 2} {size + 2}' role='img' "
        "aria-label='ROC curve'>"
        f"<rect width='{size}' height='{size}' fill='none' stroke='currentColor' opacity='.3'/>"
        f"<line x1='0' y1='{size}' x2='{size}' y2='0' stroke='currentColor' opacity='.3' "
        "stroke-dasharray='3'/>"
        f"<polyline points='{points}' fill='none' stroke='#0072b2' stroke-width='2'/>{mark}</svg>"
    )
