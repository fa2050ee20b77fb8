"""What all pictures share: axes, lines, texts and legends, and the checks of what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutscore.core.errors import DataError, missing_library
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import either
from cutscore.core.numbers import format_like
from cutscore.core.types import ArrayLike
from cutscore.decision.choice import OperatingPoint
from cutscore.sweeps.sweep import Floats, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType as Colour

# Okabe and Ito's colours: apart for colour-blind readers, and in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

# No screen or page shows more steps than this along one axis.
_STEPS = 2000


Kinds = type | tuple[type, ...]


def check_kind(given: object, kind: Kinds, draw: str, how: str) -> None:
    """Refuse what a function does not draw."""
    if not isinstance(given, kind):
        subject, hint = f"what plot.{draw} draws", f"Call plot.{draw}({how})."
        raise DataError(BadArgument(draw, f"be {_either(kind)}", given, hint, subject))


def curve_of(given: object, kind: Kinds, draw: str, compute: Callable[[Sweep], object]) -> Any:
    """What is to be drawn: as it was computed, or computed from a sweep."""
    if isinstance(given, Sweep):
        return compute(given)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    check_kind(given, (*kinds, Sweep), draw, "s")
    return given


def check_option(given: object, kind: Kinds, name: str, how: str) -> None:
    """Refuse an option of another type."""
    if given is not None and not isinstance(given, kind):
        raise DataError(BadArgument(name, f"be {_either(kind)}", given, f"Pass {name}={how}."))


def draw_each(
    draw: Callable[..., Axes],
    several: Mapping[str, object],
    ax: Axes | None,
    shared: Mapping[str, object],
    **of_one: object,
) -> Axes:
    """Several on the same axes, each under its name; options ``of_one`` can't be given then."""
    call = f"plot.{draw.__name__}"
    for name, value in of_one.items():
        if value is not None:
            rule = "be omitted if a mapping names several"
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


def prepare_axes(
    ax: Axes | None, x: str, y: str, *, unit: bool = True, square: bool = False
) -> Axes:
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
    figure = new_figure(width, height)
    ax = figure.add_subplot()
    ax._repr_png_ = partial(render_png, figure)  # type: ignore[attr-defined]
    return ax


def new_figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            missing_library("cutscore.plot", "matplotlib", "plot"), name="matplotlib"
        ) from error
    # Not pyplot: nothing is kept alive, and no window system is asked for. So pyplot does not show
    # it at the end of a notebook's cell either; the figure, and its axes, do that themselves.
    figure = Figure(figsize=(width, height), layout="constrained")
    figure._repr_png_ = partial(render_png, figure)  # type: ignore[attr-defined]
    return figure


def render_png(figure: Figure) -> tuple[bytes, dict[str, float]]:
    """A figure as notebooks show it: twice as fine as its size on the page."""
    out, (width, height) = BytesIO(), figure.get_size_inches() * 100
    figure.savefig(out, format="png", dpi=200)
    return out.getvalue(), {"width": float(width), "height": float(height)}


def wide_axes(ax: Axes | None, x: str, y: str) -> Axes:
    return prepare_axes(new_axes(6.2, 4.0) if ax is None else ax, x, y, unit=False)


def draw_guide(ax: Axes, x: list[float], y: list[float]) -> None:
    if not _is_drawn(ax, x, y):
        ax.plot(x, y, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def draw_line(
    ax: Axes, x: Floats, y: Floats, label: str | None, line: Mapping[str, object]
) -> Axes:
    drawn = sum(1 for _ in artists(ax, "curve"))
    style: dict[str, Any] = {
        "color": COLOURS[drawn % len(COLOURS)],
        "linewidth": 1.8,
        "zorder": 3,
        **line,
    }
    if len(x) == 1:
        style.setdefault("marker", "o")  # a single point has no line
    (artist,) = ax.plot(*simplify(x, y), label=label, **style)
    artist.set_gid("curve")
    if label is not None:
        add_legend(ax)
    return ax


def shade(ax: Axes, band: Sequence[Floats], colour: Colour, label: str | None = None) -> None:
    """A band behind the curves: x, and its lower and upper end there."""
    x, low, high = simplify(*band)
    ax.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0, zorder=1.5, label=label)


def draw_histogram(  # noqa: PLR0913 - a histogram and its looks
    ax: Axes,
    height: Floats,
    edges: Floats,
    colour: Colour,
    label: str | None = None,
    *,
    baseline: float = 0.0,
) -> None:
    ax.stairs(height, edges, baseline=baseline, fill=True, color=colour, alpha=0.45, label=label)
    ax.stairs(height, edges, baseline=baseline, color=colour, linewidth=1.2)


def artists(ax: Axes, what: str) -> Iterator[Any]:
    return (artist for artist in (*ax.lines, *ax.texts) if artist.get_gid() == what)


def _is_drawn(ax: Axes, x: ArrayLike, y: ArrayLike) -> bool:
    """Whether that line is drawn already, under another curve."""
    return any(np.array_equal(line.get_xydata(), np.column_stack((x, y))) for line in ax.lines)


def put_text(ax: Axes, text: str, *at: tuple[float, float], **style: object) -> Any:
    """A text that stays legible over lines and shades."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    look: dict[str, Any] = {"fontsize": 9, "zorder": 6, "parse_math": False, "path_effects": halo}
    return ax.annotate(text, *at, **look | style)  # type: ignore[arg-type]


def rule_text(p: OperatingPoint) -> str:
    """What is flagged."""
    if p.threshold == np.inf and not p.confusion.flagged:
        return "flag none"
    return "flag all" if p.threshold == -np.inf else f"≥ {axis_text(p.threshold)}"


def axis_text(x: float) -> str:
    """Three digits, with the signs that matplotlib's axes have."""
    text = format_like(x)[0] if x == 0 or 1e-4 <= abs(x) < 1e7 else f"{x:.3g}"
    return text.replace("-", "−").replace("inf", "∞")


def add_legend(
    ax: Axes,
    place: Literal["best", "upper left", "upper center", "center left"] = "best",
    *,
    frame: bool = False,
) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        for text in ax.legend(handles, labels, frameon=frame, loc=place).get_texts():
            text.set_parse_math(False)  # names come from data: "$x_$" is one, and no formula


def simplify(*columns: Floats) -> tuple[Floats, ...]:
    """The points that a picture can show apart: the last of each run in one small square."""
    if len(columns[0]) <= 2 * _STEPS:
        return columns
    keep = np.zeros(len(columns[0]), np.bool_)
    keep[[0, -1]] = True
    for a in columns:
        cell = np.round((a - a.min()) * (_STEPS / (np.ptp(a) or 1.0)))
        keep[1:-1] |= cell[1:-1] != cell[2:]
    return tuple(a[keep] for a in columns)
