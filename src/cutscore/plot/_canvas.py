"""What all pictures share: axes, lines, texts and legends, and the checks of what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutscore.core.errors import DataError, missing_library
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import either
from cutscore.decision.choice import OperatingPoint
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: apart for colour-blind readers, and in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

# No screen or page shows more steps than this along one axis.
_STEPS = 2000


Kinds = type | tuple[type, ...]


def needs(given: object, kind: Kinds, draw: str, how: str) -> None:
    """Refuse what a function does not draw."""
    if not isinstance(given, kind):
        subject, hint = f"what plot.{draw} draws", f"Call plot.{draw}({how})."
        raise DataError(BadArgument(draw, f"be {_either(kind)}", given, hint, subject))


def option(given: object, kind: Kinds, name: str, how: str) -> None:
    """Refuse an option of another type."""
    if given is not None and not isinstance(given, kind):
        raise DataError(BadArgument(name, f"be {_either(kind)}", given, f"Pass {name}={how}."))


def each(
    draw: Callable[..., Axes],
    several: Mapping[str, Any],
    ax: Axes | None,
    shared: dict[str, Any],
    **of_one: Any,
) -> Axes:
    """Several on the same axes, each under its name; options ``of_one`` can't be given then."""
    call = f"plot.{draw.__name__}"
    for name, value in of_one.items():
        if value is not None:
            rule = "be left out where a mapping names several"
            hint = f"Draw them one by one: ax = {call}(one, ax, {name}=...)."
            raise DataError(BadArgument(name, rule, value, hint))
    if not several:
        subject = f"what {call} draws"
        raise DataError(BadArgument(draw.__name__, "have at least one entry", subject=subject))
    for name, one in several.items():
        ax = draw(one, ax, label=str(name), **shared)
    assert ax is not None
    return ax


def _either(kind: Kinds) -> str:
    return either(kind if isinstance(kind, tuple) else (kind,), show=_a)


def _a(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOUaeiou' else 'a'} {kind.__name__}"


def axes(ax: Axes | None, x: str, y: str, *, unit: bool = True, square: bool = False) -> Axes:
    ax = new_axes(4.4, 4.2) if ax is None else ax
    ax.set(xlabel=x, ylabel=y)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if unit:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    if square:
        ax.set_aspect("equal")
    return ax


def new_axes(width: float, height: float) -> Axes:
    return new_figure(width, height).add_subplot()


def new_figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            missing_library("cutscore.plot", "matplotlib", "plot"), name="matplotlib"
        ) from error
    # Not pyplot: nothing is kept alive, and no window system is asked for.
    return Figure(figsize=(width, height), layout="constrained")


def wide_axes(ax: Axes | None, x: str, y: str) -> Axes:
    return axes(new_axes(6.2, 4.0) if ax is None else ax, x, y, unit=False)


def guide(ax: Axes, x: list[float], y: list[float]) -> None:
    if not _there(ax, x, y):
        ax.plot(x, y, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def draw_line(ax: Axes, x: Floats, y: Floats, label: str | None, line: dict[str, Any]) -> Axes:
    drawn = sum(1 for _ in artists(ax, "curve"))
    style = {"color": COLOURS[drawn % len(COLOURS)], "linewidth": 1.8, "zorder": 3, **line}
    (artist,) = ax.plot(*thinned(x, y), label=label, **style)
    artist.set_gid("curve")
    if label is not None:
        legend(ax)
    return ax


def artists(ax: Axes, what: str) -> Iterator[Any]:
    return (artist for artist in (*ax.lines, *ax.texts) if artist.get_gid() == what)


def _there(ax: Axes, x: Any, y: Any) -> bool:
    """Whether that line is drawn already, under another curve."""
    return any(np.array_equal(line.get_xydata(), np.column_stack((x, y))) for line in ax.lines)


def put_text(ax: Axes, text: str, *at: Any, **style: Any) -> Any:
    """A text that stays legible over lines and shades."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    style = {"fontsize": 9, "zorder": 6, "parse_math": False, "path_effects": halo, **style}
    return ax.annotate(text, *at, **style)


def flags(p: OperatingPoint, *, long: bool = False) -> str:
    if p.threshold == np.inf and not p.confusion.flagged:
        return "nothing" if long else "flag none"
    if p.threshold == -np.inf:
        return "everything" if long else "flag all"
    return f"from {number_text(p.threshold)} on" if long else f"≥ {number_text(p.threshold)}"


def number_text(x: float) -> str:
    """With the signs that matplotlib's axes have."""
    return f"{x:.6g}".replace("-", "−").replace("inf", "∞")


def legend(
    ax: Axes,
    place: Literal["best", "upper left", "upper center"] = "best",
    *,
    frame: bool = False,
) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        for text in ax.legend(handles, labels, frameon=frame, loc=place).get_texts():
            text.set_parse_math(False)  # names come from data: "$x_$" is one, and no formula


def thinned(*columns: Floats) -> tuple[Floats, ...]:
    """The points that a picture can tell apart: the last of each run in one small square."""
    if len(columns[0]) <= 2 * _STEPS:
        return columns
    keep = np.zeros(len(columns[0]), np.bool_)
    keep[[0, -1]] = True
    for a in columns:
        cell = np.round((a - a.min()) * (_STEPS / (np.ptp(a) or 1.0)))
        keep[1:-1] |= cell[1:-1] != cell[2:]
    return tuple(a[keep] for a in columns)
