"""Pictures as HTML and SVG: a stretched square of 1,000 by 1,000 with ticks and marks around it.

Lines are SVG and may be stretched; words and marks are HTML, so that they keep their size on a
phone as on a wall. Everything that comes in as text is escaped by the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from cutscore.report.traces import Axis
from cutscore.sweeps.sweep import Floats

Tick = tuple[float, str]

UNIT: list[Tick] = [(k / 5, f"{k / 5:g}") for k in range(6)]


def path(x: Any, y: Any, *, close: bool = False) -> str:
    """The way through points of the unit square, in whole thousandths; steps that nobody can see
    are left out."""
    a = np.rint(1000 * np.clip(np.asarray(x, np.float64), -0.5, 1.5)).astype(np.int64)
    b = np.rint(1000 * (1 - np.clip(np.asarray(y, np.float64), -0.5, 1.5))).astype(np.int64)
    keep = np.ones(len(a), np.bool_)
    keep[1:] = (np.diff(a) != 0) | (np.diff(b) != 0)
    a, b = a[keep], b[keep]
    # Of a straight run along an axis, only the ends; where it turns back is an end.
    if len(a) > 2:
        right, up = np.diff(a), np.diff(b)
        along = ((right[:-1] == 0) & (right[1:] == 0) & (up[:-1] * up[1:] > 0)) | (
            (up[:-1] == 0) & (up[1:] == 0) & (right[:-1] * right[1:] > 0)
        )
        keep = np.concatenate(([True], ~along, [True]))
        a, b = a[keep], b[keep]
    steps = " ".join(f"{i},{j}" for i, j in zip(a.tolist(), b.tolist(), strict=True))
    return f"M{steps}{'Z' if close else ''}"


def region(x: Any, low: Any, high: Any) -> str:
    """Between two curves."""
    across = np.concatenate((np.asarray(x), np.asarray(x)[::-1]))
    around = np.concatenate((np.asarray(high), np.asarray(low)[::-1]))
    return path(across, around, close=True)


def stairs(edges: Floats, height: Floats) -> str:
    """A histogram, from the ground and back to it."""
    return path(np.repeat(edges, 2), np.concatenate(([0.0], np.repeat(height, 2), [0.0])))


def line(d: str, kind: str) -> str:
    return f'<path class="{kind}" d="{d}"/>'


def ticks(axis: Axis, reverse: bool = False) -> list[Tick]:
    """Round numbers along an axis of scores; of negated ones as they were before."""
    values = _round_chances(axis) if axis.kind == "logit" else _round(axis.low, axis.high)
    places = axis.place(np.array(values)).tolist() if values else []
    if axis.kind == "linear":
        back = [0.0 - v for v in values] if reverse else values
        return [(p, f"{v:.6g}") for p, v in zip(places, back, strict=True)]
    return [(p, _chance(v)) for p, v in zip(places, values, strict=True)]


def _round(low: float, high: float, most: int = 7) -> list[float]:
    raw = (high - low) / most
    size = 10.0 ** floor(log10(raw))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= raw)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _chance(p: float) -> str:
    """0.01, but 10⁻⁵: short enough for a tick."""
    if p >= 0.0005:
        return f"{p:.10f}".rstrip("0")
    return "10⁻" + str(round(-log10(p))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _round_chances(axis: Axis) -> list[float]:
    low = [10.0**-k for k in range(9, 0, -1)]
    every = [*low, 0.5, *(1 - p for p in reversed(low))]
    inside = [p for p in every if axis.low <= p <= axis.high]
    # No more than a phone has room for.
    while len(inside) > 7:
        inside = inside[::2]
    return inside


def area(  # noqa: PLR0913 - the parts of a picture
    label: str,
    *,
    x_name: str,
    y_name: str,
    x: Sequence[Tick],
    y: Sequence[Tick],
    layers: Iterable[str],
    overlay: str = "",
    key: str = "",
) -> str:
    """The frame of a picture with its ticks, grid, lines and what lies above them."""
    grid = "".join(f"M{round(1000 * p)},0V1000" for p, _ in x if 0 < p < 1)
    grid += "".join(f"M0,{round(1000 * (1 - p))}H1000" for p, _ in y if 0 < p < 1)
    marks = "".join(f'<span class="tx" style="left:{100 * p:.5g}%">{t}</span>' for p, t in x)
    marks += "".join(f'<span class="ty" style="bottom:{100 * p:.5g}%">{t}</span>' for p, t in y)
    tag = f' data-plot="{key}"' if key else ""
    return (
        f'<div class="frame"><div class="area"{tag}>'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<path class="grid" d="{grid}"/>{"".join(layers)}</svg>{marks}{overlay}</div>'
        f'<span class="nx">{x_name}</span>'
        + (f'<span class="ny">{y_name}</span>' if y_name else "")
        + "</div>"
    )
