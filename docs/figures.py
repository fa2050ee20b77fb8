"""Makes the figures of the pages: ``python docs/figures.py [folder]``, by default docs/images.

Each function below draws one file. Numbers and curves come from the library itself. The same
versions of everything make the same bytes, with no date in them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from doctest import SKIP, DocTestParser, Example
from functools import partial
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cutscore as cs

IMAGES = Path(__file__).parent / "images"
HOWTO = Path(__file__).parent / "howto"

# The colours of cutscore.plot.
POSITIVE, NEGATIVE = "#d55e00", "#0072b2"
GREEN, PINK, YELLOW = "#009e73", "#cc79a7", "#e69f00"
INK, GREY, PALE = "#262626", "#737373", "#f3f5f7"

FIGURES: dict[str, Callable[[Path], None]] = {}

# Eight cases without ties and seven with: the worked examples of the pages.
EIGHT = ([1, 0, 1, 1, 0, 1, 0, 0], [0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33])
SEVEN = ([1, 0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
# Ten cases in the order in which they came, two pairs of them with equal scores.
TEN = ([1, 0, 0, 1, 1, 0, 1, 0, 1, 0], [0.6, 0.4, 0.1, 0.9, 0.7, 0.5, 0.8, 0.7, 0.4, 0.3])


def figure(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Enters a function under the name of its file."""

    def enter(draw: Callable[[Path], None]) -> Callable[[Path], None]:
        FIGURES[name] = draw
        return draw

    return enter


def main(folder: Path = IMAGES) -> list[Path]:
    """Makes all files; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw(folder / name)
    return [folder / name for name in FIGURES]


# -- Two pictures drawn by hand: how it works.


class Svg:
    """A drawing, shape by shape; the file has nothing else in it."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" '
            'font-family="Helvetica, Arial, sans-serif" font-size="14">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="8" '
            f'markerHeight="8" orient="auto"><path d="M0 0.5 L7.5 4 L0 7.5 Z" fill="{GREY}"/>'
            "</marker></defs>",
        ]
        self.box(0, 0, width, height, fill="#ffffff", radius=0)

    def shape(self, kind: str, content: str | None = None, **values: Any) -> None:
        words = " ".join(
            f'{key.rstrip("_").replace("_", "-")}="{_plain(value)}"'
            for key, value in values.items()
            if value is not None
        )
        end = "/>" if content is None else f">{escape(content)}</{kind}>"
        self.out.append(f"<{kind} {words}{end}")

    def box(
        self, x: float, y: float, w: float, h: float, *, radius: float = 6, **look: Any
    ) -> None:
        self.shape("rect", x=x, y=y, width=w, height=h, rx=radius or None, **look)

    def text(self, x: float, y: float, text: str, *, fill: str = INK, **look: Any) -> None:
        self.shape("text", text, x=x, y=y, fill=fill, **look)

    def dot(self, x: float, y: float, r: float, fill: str, **look: Any) -> None:
        self.shape("circle", cx=x, cy=y, r=r, fill=fill, **look)

    def path(self, d: str, *, stroke: str = GREY, width: float = 1.5, **look: Any) -> None:
        look = {"fill": "none", **look}
        self.shape("path", d=d, stroke=stroke, stroke_width=width, **look)

    def line(self, *points: tuple[float, float], **look: Any) -> None:
        self.path("M" + " L".join(f"{_plain(x)} {_plain(y)}" for x, y in points), **look)

    def flow(self, x: float, y: float, to_x: float, to_y: float, **look: Any) -> None:
        """A curve that leaves and arrives level."""
        middle = (x + to_x) / 2
        at = [_plain(v) for v in (x, y, middle, y, middle, to_y, to_x, to_y)]
        self.path("M{} {} C{} {} {} {} {} {}".format(*at), **look)

    def save(self, path: Path) -> None:
        path.write_text("\n".join([*self.out, "</svg>"]) + "\n", encoding="utf-8")


def _plain(value: Any) -> str:
    return f"{round(value, 1):g}" if isinstance(value, (int, float)) else escape(str(value))


class Square(NamedTuple):
    """Where a small plot is: its upper left corner, and its side."""

    x: float
    y: float
    side: float

    def at(self, across: float, up: float) -> tuple[float, float]:
        """A point of the unit square."""
        return self.x + self.side * across, self.y + self.side * (1 - up)


def colour(y: int) -> str:
    return POSITIVE if y else NEGATIVE


@figure("sweep-flow.svg")
def sweep_flow(path: Path) -> None:
    """Ten rows on their way: sorted, counted, cumulated, and then every curve and decision."""
    labels, scores = TEN
    s = cs.sweep(labels, scores)
    svg = Svg(920, 640, "Rows are sorted, counted at each score and cumulated; all else follows")
    top, step = 98.0, 22.0

    # What each stage is, above it.
    stages = ((70, "rows"), (262, "sorted"), (480, "masses"), (728, "cumulatives"))
    notes = ("as they come", "one native sort", "what is kept, and adds", "derived")
    for (x, name), note in zip(stages, notes, strict=True):
        svg.text(x, 30, name, font_size=18, font_weight="bold", text_anchor="middle")
        svg.text(x, 50, note, fill=GREY, font_size=13, text_anchor="middle")

    # The sweep itself is framed.
    svg.box(376, 62, 208, 250, fill=PALE, stroke="#c3cad1", stroke_width=1.2, radius=10)
    svg.text(480, 332, "the sweep", font_size=15, font_weight="bold", text_anchor="middle")

    def head(x: float, *names: tuple[float, str]) -> None:
        for dx, name in names:
            svg.text(x + dx, top - 14, name, fill=GREY, font_size=12, text_anchor="middle")

    head(70, (-24, "y"), (22, "score"))
    head(262, (-24, "y"), (22, "score"))
    order = sorted(range(len(labels)), key=lambda k: (-scores[k], -labels[k]))
    place = {k: i for i, k in enumerate(order)}
    mass_y = dict(
        zip(s.threshold.tolist(), (top + 4 + 25 * np.arange(len(s))).tolist(), strict=True)
    )
    for k, (y, score) in enumerate(zip(labels, scores, strict=True)):
        here, there = top + step * k, top + step * place[k]
        svg.flow(118, here, 214, there, stroke=colour(y), width=1.6, opacity=0.55)
        svg.flow(310, there, 388, mass_y[score], stroke=colour(y), width=1.6, opacity=0.55)
        for x, at in ((70, here), (262, there)):
            svg.dot(x - 24, at, 7.5, colour(y))
            svg.text(
                x - 24, at + 4, "+" if y else "−", fill="#fff", font_size=12, text_anchor="middle"
            )
            svg.text(x + 22, at + 4.5, f"{score:g}", text_anchor="middle")

    # Masses at each distinct score, as bars of unit squares.
    head(480, (-70, "threshold"), (0, "pos"), (58, "neg"))
    for t, pos, neg in zip(s.threshold.tolist(), s.pos.tolist(), s.neg.tolist(), strict=True):
        at = mass_y[t]
        svg.text(410, at + 4.5, f"{t:g}", text_anchor="middle")
        for x, mass, fill in ((480, pos, POSITIVE), (538, neg, NEGATIVE)):
            if mass:
                svg.box(x - 17, at - 9, 34, 18, fill=fill, radius=3)
            svg.text(
                x, at + 4.5, str(mass), fill="#fff" if mass else "#b5bcc4", text_anchor="middle"
            )

    # Cumulatives as bars that grow.
    head(728, (-36, "TP"), (84, "FP"))
    wide = 16.0
    for t, tp, fp in zip(s.threshold.tolist(), s.tp.tolist(), s.fp.tolist(), strict=True):
        at = mass_y[t]
        svg.line((590, at), (628, at), stroke="#c3cad1", width=1.2)
        for x, mass, fill in ((652, tp, POSITIVE), (772, fp, NEGATIVE)):
            svg.box(x, at - 8, 5 * wide, 16, fill="#eef1f4", radius=2)
            if mass:
                svg.box(x, at - 8, mass * wide, 16, fill=fill, radius=2, opacity=0.85)
            svg.text(x - 10, at + 4.5, str(mass), text_anchor="middle", font_size=13)

    # Below: what is read off.
    names = ("ROC", "precision–recall", "hull", "calibration", "decision")
    width, gap, left, floor = 160.0, 20.0, 20.0, 410.0
    for k, name in enumerate(names):
        x = left + k * (width + gap)
        middle = x + width / 2
        start = 480 + 26 * (k - 2)
        svg.path(
            f"M{start:g} 342 C{start:g} 380 {middle:g} 356 {middle:g} {floor - 10:g}",
            stroke=GREY,
            width=1.3,
            marker_end="url(#tip)",
        )
        svg.box(x, floor, width, 208, fill="#fff", stroke="#c3cad1", stroke_width=1.2, radius=8)
        svg.text(middle, floor + 22, name, font_weight="bold", text_anchor="middle")
        _PANELS[k](svg, s, Square(x + 25, floor + 38, 110.0))
    svg.save(path)


def _frame(svg: Svg, on: Square, caption: str, *, rising: bool = False) -> None:
    svg.box(*on, on.side, fill=PALE, radius=2)
    if rising:
        svg.line(on.at(0, 0), on.at(1, 1), stroke="#b5bcc4", width=1, stroke_dasharray="4 3")
    x, y = on.at(0.5, 0)
    for k, line in enumerate(caption.split("\n")):
        svg.text(x, y + 21 + 16 * k, line, text_anchor="middle", font_size=12.5)


def _curve(svg: Svg, on: Square, across: Any, up: Any, **look: Any) -> None:
    points = zip(np.asarray(across).tolist(), np.asarray(up).tolist(), strict=True)
    svg.line(*(on.at(*point) for point in points), stroke_linejoin="round", **look)


def _roc_panel(svg: Svg, s: cs.Sweep, on: Square) -> None:
    curve = cs.roc(s)
    _frame(svg, on, f"AUC {s.auc:g}: a fraction\nof two integers", rising=True)
    _curve(svg, on, curve.fpr, curve.tpr, stroke=NEGATIVE, width=2.4)


def _pr_panel(svg: Svg, s: cs.Sweep, on: Square) -> None:
    curve = cs.pr(s)
    _frame(svg, on, f"average precision\n{cs.average_precision(s):.3f}")
    across, up = np.repeat(curve.recall, 2)[:-1], np.repeat(curve.precision, 2)[1:]
    _curve(svg, on, across, up, stroke=NEGATIVE, width=2.4)


def _hull_panel(svg: Svg, s: cs.Sweep, on: Square) -> None:
    curve, h = cs.roc(s), cs.hull(s)
    _frame(svg, on, f"{len(h)} cuts that are\nbest at some costs", rising=True)
    _curve(svg, on, curve.fpr, curve.tpr, stroke=NEGATIVE, width=1.4, opacity=0.6)
    _curve(svg, on, h.fpr, h.tpr, stroke=INK, width=2)
    for point in zip(h.fpr.tolist(), h.tpr.tolist(), strict=True):
        svg.dot(*on.at(*point), 3.2, INK)


def _calibration_panel(svg: Svg, s: cs.Sweep, on: Square) -> None:
    c = cs.calibrate(s, "monotone")
    _frame(svg, on, "slopes of the hull:\nlikelihood ratios")
    at = np.linspace(0.0, 1.0, 201)
    _curve(svg, on, at, c.probability(at, prior=0.5), stroke=GREEN, width=2.4)


def _decision_panel(svg: Svg, s: cs.Sweep, on: Square) -> None:
    p = cs.choose(s, "f1")
    t, c = p.threshold, p.confusion
    _frame(svg, on, f"flag from {t:g} on:\n{c.tp} caught, {c.fp} false alarm")
    x, y = on.at(t, 1)
    svg.box(x, y, on.side * (1 - t), on.side, fill="#e3e7eb", radius=2)
    for score, pos, neg in zip(s.threshold.tolist(), s.pos.tolist(), s.neg.tolist(), strict=True):
        for k, fill in enumerate([POSITIVE] * pos + [NEGATIVE] * neg):
            svg.dot(*on.at(score, 0.11 + 0.12 * k), 5, fill)
    svg.line(on.at(t, 1), on.at(t, 0), stroke=INK, width=1.8)


_PANELS = (_roc_panel, _pr_panel, _hull_panel, _calibration_panel, _decision_panel)


@figure("reduces.svg")
def reduces(path: Path) -> None:
    """Blocks of rows, wherever they are, summarised, merged, and a line learned from the sum."""
    svg = Svg(920, 550, "Blocks are summarised where they are, summaries merged, a line learned")
    rng = np.random.default_rng(1)
    for x, name in (
        (132, "blocks of rows"),
        (372, "summaries"),
        (530, "their sum"),
        (760, "a line"),
    ):
        svg.text(x, 30, name, font_size=18, font_weight="bold", text_anchor="middle")
    where = (
        ("arrays", "slices, on threads", "#0072b2"),
        ("files", "batches, a few at a time", "#009e73"),
        ("cluster", "partitions, where they are", "#cc79a7"),
    )
    joined = (530.0, 208.0)
    for k, (name, how, hue) in enumerate(where):
        y = 58 + 116.0 * k
        if k:
            svg.text(132, y - 4, "or", fill=GREY, font_size=12.5, text_anchor="middle")
        svg.box(16, y, 232, 100, fill=PALE, stroke="#c3cad1", stroke_width=1, radius=10)
        svg.text(30, y + 24, name, font_weight="bold")
        svg.text(30 + 9 * len(name), y + 24, how, fill=GREY, font_size=12.5)
        for j in range(4):
            x = 30 + 54.0 * j
            _block(svg, x, y + 38, hue, rng.random(4) < 0.4)
        _merge(svg, (248.0, y + 62), hue, joined, 62 + y)
    svg.dot(*joined, 24, "#fff", stroke=INK, stroke_width=2)
    svg.text(joined[0], joined[1] + 7, "Σ", font_size=20, font_weight="bold", text_anchor="middle")
    svg.text(
        372, 416, "merge: in the order of the rows", fill=GREY, font_size=12.5, text_anchor="middle"
    )
    svg.flow(556, 208, 614, 208, width=2, marker_end="url(#tip)")

    # The learner, and what it makes.
    svg.box(620, 166, 96, 84, fill="#fff", stroke=INK, stroke_width=1.5, radius=10)
    svg.text(668, 204, "learner", font_weight="bold", text_anchor="middle")
    svg.text(668, 225, "w, b", text_anchor="middle", font_style="italic")
    svg.flow(718, 208, 760, 208, width=2, marker_end="url(#tip)")
    _line_of(svg, Square(766, 140, 136))
    # The way back.
    svg.path(
        "M668 164 C668 50 668 44 600 44 L330 44 C272 44 266 60 260 92",
        width=1.8,
        stroke_dasharray="6 4",
        marker_end="url(#tip)",
    )
    svg.box(560, 68, 130, 40, fill="#fff", radius=2)
    svg.text(625, 84, "not there yet:", fill=GREY, font_size=12.5, text_anchor="middle")
    svg.text(625, 101, "the next w, b", fill=GREY, font_size=12.5, text_anchor="middle")

    # What is added up.
    rows = (
        ("closed forms", "mass, mean and scatter of each class", "once"),
        ("logistic", "loss and slope at w, b", "once a step"),
        ("structural", "all scores; then x of the rows that count", "twice a step"),
        ("perceptron", "the line itself, handed on from row to row", "once a pass"),
    )
    svg.line((16, 430), (904, 430), stroke="#c3cad1", width=1)
    for k, (learner, what, often) in enumerate(rows):
        y = 456 + 25.0 * k
        svg.text(30, y, learner, font_weight="bold")
        svg.text(200, y, what)
        svg.text(890, y, often, fill=GREY, text_anchor="end")
    svg.save(path)


def _block(svg: Svg, x: float, y: float, hue: str, labels: Any) -> None:
    """A small table: features in grey, the label in its colour."""
    svg.box(x, y, 46, 50, fill="#fff", stroke=hue, stroke_width=1.5, radius=4)
    for k, positive in enumerate(labels.tolist()):
        at = y + 9 + 10.5 * k
        svg.line((x + 7, at), (x + 28, at), stroke="#c3cad1", width=4)
        svg.dot(x + 37, at, 3.4, colour(positive))


def _merge(
    svg: Svg, start: tuple[float, float], hue: str, joined: tuple[float, float], y: float
) -> None:
    """Four summaries that become two, one, and part of the sum."""
    x = start[0]
    for k in range(4):
        at = y - 36 + 24.0 * k
        svg.flow(x, y, 312, at, stroke=hue, width=1.2, opacity=0.6)
        svg.flow(332, at, 372, y - 24 + 48.0 * (k // 2), stroke=hue, width=1.4)
        svg.dot(322, at, 9, hue, opacity=0.9)
        svg.text(322, at + 4, "Σ", fill="#fff", font_size=11, text_anchor="middle")
    for k in range(2):
        at = y - 24 + 48.0 * k
        svg.flow(384, at, 424, y, stroke=hue, width=1.8)
        svg.dot(378, at, 10.5, hue)
        svg.text(378, at + 4.5, "Σ", fill="#fff", font_size=12, text_anchor="middle")
    svg.flow(436, y, joined[0] - 26, joined[1], stroke=hue, width=2.4)
    svg.dot(430, y, 12, hue)
    svg.text(430, y + 5, "Σ", fill="#fff", font_size=13, text_anchor="middle")


def _line_of(svg: Svg, on: Square) -> None:
    """Some points, and the line that Fisher's discriminant draws between them."""
    from cutscore.linear.closed import fisher

    X, labels = two_clouds(36, seed=5, centre=[0.34, 0.34], spread=0.13)
    d = fisher(cs.ClassMoments.from_arrays(X, labels)).detector
    svg.box(*on, on.side, fill=PALE, radius=4)
    for (a, b), positive in zip((X + 0.5).tolist(), labels.tolist(), strict=True):
        svg.dot(*on.at(a, b), 3.4, colour(positive), opacity=0.85)
    unit = d.unit()
    foot, along = -unit.b * unit.w, np.array([-unit.w[1], unit.w[0]])
    reach = 0.44 / np.abs(along).max()
    ends = [(0.5 + foot + k * along).tolist() for k in (-reach, reach)]
    svg.line(*(on.at(*end) for end in ends), stroke=INK, width=2.2)
    x, y = on.at(0.5, 0)
    svg.text(x, y + 20, "score = w·x + b", text_anchor="middle", font_size=13)


# -- Data of the theory pages.


def two_clouds(n: int, seed: int, centre: Any, spread: float = 1.0) -> tuple[Any, Any]:
    """Two normal classes around ±centre/2, with a common covariance that is round."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < n // 2
    X = rng.normal(size=(n, 2)) * spread + np.outer(np.where(y, 0.5, -0.5), centre)
    return X, y


def uneven(seed: int) -> tuple[Any, Any]:
    """400 negatives in an ellipse; 60 positives beside it, and 25 far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(485, 2)) @ np.array([[1.1, 0.8], [0.0, 0.5]])
    k = np.repeat([0, 1, 2], [400, 60, 25])
    return X + np.array([[0.0, 0.0], [1.3, -0.4], [5.0, 0.6]])[k], k > 0


# -- Figures with matplotlib.


def axes(columns: int, width: float, height: float, **options: Any) -> Any:
    """A figure and its axes, side by side."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    made.get_layout_engine().set(wspace=0.08)
    return made, np.atleast_1d(made.subplots(1, columns, **options))


def save(made: Any, path: Path) -> None:
    """The same bytes each time: neither a date nor random names in it."""
    from matplotlib import rc_context

    svg = path.suffix == ".svg"
    metadata = {"Date": None, "Creator": None} if svg else {"Software": None}
    with rc_context({"svg.hashsalt": "cutscore", "svg.fonttype": "path"}):
        made.savefig(path, dpi=150, metadata=metadata)
    if svg:  # matplotlib leaves blanks at the ends of lines
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


def title(ax: Any, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=10, fontweight="bold")


def plain(ax: Any, x: str, y: str) -> None:
    """Axes as cutscore.plot has them."""
    ax.set(xlabel=x, ylabel=y)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def note(ax: Any, text: str, at: Any, offset: Any = (0, 0), **look: Any) -> None:
    """A text that stays legible over points and lines."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    look = {"fontsize": 9, "path_effects": halo, "zorder": 6, **look}
    ax.annotate(text, at, offset, textcoords="offset points", **look)


def scatter(ax: Any, X: Any, y: Any, size: float = 12) -> None:
    y = np.asarray(y, dtype=bool)
    for some, hue, name in ((~y, NEGATIVE, "negative"), (y, POSITIVE, "positive")):
        ax.scatter(*X[some].T, s=size, color=hue, alpha=0.65, linewidths=0, label=name)


def boundary(ax: Any, d: cs.LinearDetector, score: float = 0.0, **look: Any) -> None:
    """Where w·x + b is the given score, across the axes."""
    at = d.unit()
    score /= float(np.linalg.norm(d.w))
    foot, along = (score - at.b) * at.w, np.array([-at.w[1], at.w[0]])
    ends = np.array([foot - 50 * along, foot + 50 * along])
    x, y = ax.get_xlim(), ax.get_ylim()
    ax.plot(*ends.T, **{"color": INK, "linewidth": 1.8, **look})
    ax.set(xlim=x, ylim=y)


@figure("roc.svg")
def roc(path: Path) -> None:
    """The two worked examples: one step a row, and a slope for a tie."""
    made, (left, right) = axes(2, 8.6, 4.2)
    s = cs.sweep(*EIGHT)
    curve = cs.roc(s)
    cs.plot.roc(curve, left, marker="o", markersize=4)
    for t, x, y in zip(curve.threshold[1:], curve.fpr[1:], curve.tpr[1:], strict=True):
        note(left, f"≥ {t:g}", (x, y), (5, -11), fontsize=8, color=GREY)
    title(left, f"eight scores, no ties: AUC {s.auc:g}")

    s = cs.sweep(*SEVEN)
    curve = cs.roc(s)
    fpr, tpr = curve.fpr, curve.tpr
    for k in range(len(fpr) - 1):
        wide, high = fpr[k + 1] - fpr[k], tpr[k + 1] - tpr[k]
        if wide and high:
            corner = (fpr[k], tpr[k])
            right.add_patch(_rectangle(corner, wide, high, label="tied scores" if k == 1 else None))
    cs.plot.roc(curve, right, marker="o", markersize=4, label="ties count one half")
    U = {"best": 0.0, "worst": 0.0}
    for k in range(len(fpr) - 1):
        wide = fpr[k + 1] - fpr[k]
        U["best"] += wide * tpr[k + 1]
        U["worst"] += wide * tpr[k]
    look = {"linewidth": 1.1, "linestyle": (0, (2, 1.5))}
    right.step(
        fpr, tpr, where="pre", color=GREEN, label=f"positives first: {U['best']:.3f}", **look
    )
    right.step(
        fpr, tpr, where="post", color=PINK, label=f"negatives first: {U['worst']:.3f}", **look
    )
    right.legend(frameon=False, fontsize=8, loc="lower right")
    title(right, f"seven scores, two ties: AUC {s.auc:.3f}")
    save(made, path)


def _rectangle(corner: Any, wide: float, high: float, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, wide, high, facecolor="0.9", edgecolor="none", zorder=1.2, **look)


@figure("notebook.svg")
def notebook(path: Path) -> None:
    """What the page about notebooks shows under its first plot: its own code, up to there."""
    text = (IMAGES.parent / "howto" / "notebook.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for cell in re.findall(r"^```python\n(.*?)^```", text.partition("![")[0], re.M | re.S):
        exec(cell, names)
    save(names["ax"].figure, path)


@figure("hull.svg")
def hull(path: Path) -> None:
    """The hull and lines of equal cost; and several classifiers in one picture."""
    made, (left, right) = axes(2, 8.6, 4.2)
    s = cs.sweep(*EIGHT)
    h = cs.hull(s)
    cs.plot.roc(cs.roc(s), left, hull=h)
    for k, (costs, hue) in enumerate(
        ((cs.Costs(fp=3, fn=2), GREEN), (cs.Costs(fp=2, fn=3), POSITIVE))
    ):
        p = cs.choose(s, costs)
        x, y = p.confusion.fpr, p.confusion.recall
        m = costs.ratio * s.N / s.P
        at = np.array([x - 0.3, x + 0.34])
        name = f"λ₋/λ₊ = {costs.fp:g}/{costs.fn:g}"
        left.plot(at, y + m * (at - x), color=hue, linewidth=1.4, label=name, zorder=3.6 + k / 10)
        left.plot([x], [y], "o", color=hue, markersize=8, markeredgecolor="white", zorder=5)
    left.legend(frameon=False, fontsize=9, loc="lower right")
    title(left, "iso-cost lines touch the hull")

    rng = np.random.default_rng(7)
    y = rng.random(4000) < 0.3
    one = cs.sweep(y, rng.normal(size=4000) + np.where(y, 1.5, 0.0))
    two = cs.sweep(y, np.where(y & (rng.random(4000) < 0.55), 4.0, 0.0) + rng.normal(size=4000))
    both = cs.hull({"score A": one, "score B": two, "a rule": (0.3, 0.88), "old rule": (0.45, 0.8)})
    cs.plot.roc(cs.roc(one), right, linewidth=1.2, alpha=0.7)
    cs.plot.roc(cs.roc(two), right, linewidth=1.2, alpha=0.7)
    cs.plot.hull(both, right)
    title(right, "several classifiers, one hull")
    save(made, path)


def payments() -> cs.Sweep:
    """Rare positives: 20,000 payments, one in fifty a fraud."""
    rng = np.random.default_rng(7)
    y = rng.random(20_000) < 0.02
    return cs.sweep(y, rng.normal(size=20_000) + 2.2 * y)


@figure("costs.svg")
def costs_(path: Path) -> None:
    """The cut for one ratio of costs, and the cost of the best cut for all of them."""
    made, (left, right) = axes(2, 9.4, 4.0)
    s = payments()
    costs = cs.Costs(fp=1, fn=20)
    p = cs.choose(s, costs)
    cs.plot.operating_point(p, left)
    x = costs.probability_cost(s.prevalence)
    cs.plot.cost_curve(cs.cost_curve(s), right, x=round(x, 3))
    title(right, "lowest cost, for all costs and prevalences")
    save(made, path)


def run_blocks(page: str) -> dict[str, Any]:
    """Run the Python files of a page where it makes its tables; the names that they leave."""
    from contextlib import chdir
    from tempfile import TemporaryDirectory

    text = (Path(__file__).parent / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page}
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()):
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, page, "exec"), names)
            if "ax" in names:
                break
    return names


@figure("start-roc.svg")
def start_roc(path: Path) -> None:
    """The figure of the tutorial, by its own code."""
    save(run_blocks("start.md")["ax"].figure, path)


@figure("command-roc.svg")
def command_roc(path: Path) -> None:
    """The figure of the page on the command line, by its own code."""
    save(run_blocks("howto/command.md")["ax"].figure, path)


@figure("measures.svg")
def measures(path: Path) -> None:
    """Measures against the threshold, with the cut that is best for each."""
    made, (ax,) = axes(1, 7.0, 4.0)
    s = payments()
    some = np.flatnonzero((s.threshold > -1.5) & (s.threshold < 4))
    some = np.unique(
        np.concatenate((some[:200], some[200::20]))
    )  # few at the top, where it is rough
    grid, tp, fp = s.threshold[some], s.tp[some], s.fp[some]
    c = cs.Confusion(tp=tp, fp=fp, fn=s.P - tp, tn=s.N - fp)
    plain(ax, "threshold", "")
    ax.plot(grid, c.recall, color="0.55", linewidth=1.4, linestyle=(0, (4, 2)), label="recall")
    ax.plot(
        grid, c.precision, color="0.55", linewidth=1.4, linestyle=(0, (1, 1)), label="precision"
    )
    for name, values, hue in (
        ("balanced", c.balanced_rate, NEGATIVE),
        ("f2", c.f(2), GREEN),
        ("f1", c.f1, POSITIVE),
        ("f0.5", c.f(0.5), PINK),
    ):
        p = cs.choose(s, name)
        ax.plot(
            grid, values, color=hue, linewidth=1.8, label=f"{name}: best from {p.threshold:.2f} on"
        )
        ax.plot([p.threshold], [p.value], "o", color=hue, markersize=8, markeredgecolor="white")
    ax.set(xlim=(-1.5, 4), ylim=(0, 1.02))
    ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(made, path)


@figure("distance.svg")
def distance(path: Path) -> None:
    """The signed distance from a line, and how it is spread in either class."""
    from cutscore.linear.closed import mean_difference

    made, (left, right) = axes(2, 9.4, 4.0)
    X, y = two_clouds(300, seed=3, centre=[2.0, 1.2])
    d = mean_difference(cs.ClassMoments.from_arrays(X, y)).detector.unit()
    plain(left, "x₁", "x₂")
    scatter(left, X, y)
    left.set(xlim=(-4, 4), ylim=(-3.6, 3.6), aspect="equal")
    boundary(left, d)
    foot = -d.b * d.w + 1.9 * np.array([d.w[1], -d.w[0]])
    left.annotate(
        "", foot + 1.4 * d.w, foot, arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.6}
    )
    note(left, "w", foot + 1.5 * d.w, fontsize=11, fontstyle="italic")
    far = X[np.argmax(np.where(X[:, 1] > 1.2, d.scores(X), -np.inf))]
    base = far - float(d.scores(far[None])[0]) * d.w
    left.plot(*np.array([base, far]).T, color=GREEN, linewidth=1.6)
    left.plot(*far, "o", color=POSITIVE, markersize=7, markeredgecolor="white")
    note(left, "d(x)", (base + far) / 2, (-6, 8), color=GREEN, fontsize=10, ha="right")
    title(left, "d(x) = (w·x + b)/‖w‖")

    s = cs.sweep(y, d.scores(X))
    cs.plot.distances(s, right, densities=True, prior=0.5, bins=30)
    c = cs.calibrate(s, "logistic")
    title(right, f"moments give γ = {c.gamma:.2f}, d₀ = {abs(round(c.d0, 6)):g}")
    save(made, path)


@figure("sigmoid.svg")
def sigmoid(path: Path) -> None:
    """What γ, d₀ and the prior each do to the curve."""
    made, all_axes = axes(3, 10.0, 3.4, sharey=True)
    at = np.linspace(-6, 6, 401)
    plain_one = cs.Affine(gamma=1.0, d0=0.0)
    panels = (
        ("γ: slope", [(0.5, 0.0, 0.5), (1.0, 0.0, 0.5), (3.0, 0.0, 0.5)], "γ = {0:g}"),
        ("d₀: location", [(1.0, -2.0, 0.5), (1.0, 0.0, 0.5), (1.0, 2.0, 0.5)], "d₀ = {1:g}"),
        (
            "prior: shift by ln clr",
            [(1.0, 0.0, 0.1), (1.0, 0.0, 0.5), (1.0, 0.0, 0.9)],
            "π₊ = {2:g}",
        ),
    )
    for ax, (name, curves, label) in zip(all_axes, panels, strict=True):
        plain(ax, "signed distance d", "")
        ax.axhline(0.5, color="0.75", linewidth=0.9, linestyle=(0, (4, 3)))
        for (gamma, d0, prior), hue in zip(curves, (GREEN, INK, POSITIVE), strict=True):
            c = cs.Affine(gamma=gamma, d0=d0)
            thin = c == plain_one and prior == 0.5
            text = label.format(gamma, d0, prior).replace("-", "−")
            ax.plot(
                at,
                c.probability(at, prior=prior),
                color=hue,
                linewidth=1.6 if thin else 2,
                label=text,
            )
        ax.legend(frameon=False, fontsize=9, loc="upper left")
        ax.set(xlim=(-6, 6), ylim=(-0.02, 1.02))
        title(ax, name)
    all_axes[0].set_ylabel("P(+ | d)")
    save(made, path)


@figure("staircase.svg")
def staircase(path: Path) -> None:
    """One step of the staircase for each segment of the hull."""
    from cutscore.linear.closed import mean_difference

    made, (left, right) = axes(2, 9.4, 4.2)
    X, y = two_clouds(60, seed=16, centre=[1.2, 0.6])
    d = mean_difference(cs.ClassMoments.from_arrays(X, y)).detector.unit()
    s = cs.sweep(y, d.scores(X))
    h = cs.hull(s)
    hues = (NEGATIVE, GREEN, YELLOW, POSITIVE, PINK, "#56b4e9", INK)
    cs.plot.roc(cs.roc(s), left, linewidth=1.0, color="0.6")
    c = cs.calibrate(s, "monotone", smooth=False)
    low, high = float(s.threshold[-1]) - 0.3, float(s.threshold[0]) + 0.3
    plain(right, "signed distance d", "P(+ | d)")
    edges = [high, *c.threshold[:-1].tolist(), low]
    for k, slope in enumerate(h.slope.tolist()):
        hue = hues[k % len(hues)]
        left.plot(
            h.fpr[k : k + 2], h.tpr[k : k + 2], color=hue, linewidth=2.6, marker="o", markersize=4
        )
        odds = h.odds[k]
        p = 1.0 if np.isinf(odds) else odds / (1 + odds)
        right.plot([edges[k], edges[k + 1]], [p, p], color=hue, linewidth=3)
        if np.isfinite(slope) and slope > 0:
            middle = ((edges[k] + edges[k + 1]) / 2, p)
            note(right, f"slope {slope:.2g}", middle, (0, 5), fontsize=8, ha="center", color=hue)
    at = np.linspace(low, high, 300)
    line = cs.calibrate(s, "logistic")
    right.plot(
        at, line.probability(at, prior=s.prevalence), color="0.45", linewidth=1.2, label="logistic"
    )
    rows_y = np.where(y, 1.06, -0.06)
    for one, hue in ((y, POSITIVE), (~y, NEGATIVE)):
        right.plot(d.scores(X[one]), rows_y[one], "|", color=hue, markersize=6, alpha=0.8)
    right.legend(frameon=False, fontsize=9, loc="center right")
    title(left, f"the hull has {len(h) - 1} segments")
    title(right, f"isotonic calibration has {len(c.value)} steps")
    save(made, path)


class Shape(NamedTuple):
    """Scores of either class, as functions of a share of its cases: the inverse of P(score ≤ s)."""

    title: str
    pos: Callable[[Any], Any]
    neg: Callable[[Any], Any]
    llr: Callable[[Any], Any]


def shapes() -> tuple[Shape, Shape]:
    """A shape for which logistic calibration is right, and one for which it is not."""
    from scipy.special import ndtri

    return (
        Shape("normal classes: logistic is right", lambda u: ndtri(u) + 1.5, ndtri,
              lambda s: 1.5 * (s - 0.75)),
        Shape("densities 8s⁷ and 1: logistic is wrong", lambda u: u**0.125, lambda u: u,
              lambda s: np.log(8) + 7 * np.log(s)),
    )  # fmt: skip


def out_of_sample(shape: Shape, n: int, draws: int, seed: int) -> dict[str, Any]:
    """Log losses on all cases there could be, of calibrators of n rows each; and of the truth.

    Half of the cases are positive. The loss is an integral: a mean over a thousand shares of each
    class at equal steps.
    """
    from cutscore.calibration import probability

    rng, u = np.random.default_rng([n, seed]), (np.arange(1000) + 0.5) / 1000
    score = np.concatenate((shape.pos(u), shape.neg(u)))

    def loss(llr: Any) -> float:
        p = probability(llr, prior=0.5)
        return float(-np.mean(np.log(np.where(np.arange(2000) < 1000, p, 1 - p))))

    losses: dict[str, Any] = {"logistic": [], "monotone": []}
    while len(losses["logistic"]) < draws:
        y, at = rng.random(n) < 0.5, rng.random(n)
        s = cs.sweep(y, np.where(y, shape.pos(at), shape.neg(at)))
        for method, found in losses.items():
            found.append(loss(cs.calibrate(s, method).llr(score)))
    return {**losses, "truth": loss(shape.llr(score))}


SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@figure("overfitting.svg")
def overfitting(path: Path) -> None:
    """The staircase against the logistic curve, on rows that they have not seen, by sample size."""
    made, both = axes(2, 9.4, 4.0, sharey=True)
    for ax, shape in zip(both, shapes(), strict=True):
        found = [out_of_sample(shape, n, 100, seed=1) for n in SIZES]
        plain(ax, "training rows", "")
        for method, name, hue in (
            ("monotone", "isotonic", POSITIVE),
            ("logistic", "logistic", NEGATIVE),
        ):
            excess = np.array([np.array(one[method]) - one["truth"] for one in found])
            low, high = np.quantile(excess, (0.1, 0.9), axis=1)
            ax.fill_between(SIZES, low, high, color=hue, alpha=0.16, linewidth=0)
            ax.plot(SIZES, excess.mean(axis=1), "o-", color=hue, markersize=4, label=name)
        ax.set(xscale="log", yscale="log", xlim=(SIZES[0], SIZES[-1]), ylim=(1e-4, 0.5))
        title(ax, shape.title)
    both[0].set_ylabel("excess log loss on new rows")
    both[0].legend(frameon=False, fontsize=9)
    save(made, path)


@figure("surface.png")
def surface(path: Path) -> None:
    """The probability over two features: a sigmoid along w, level along the boundary."""
    from matplotlib.figure import Figure

    from cutscore.linear.closed import mean_difference

    X, y = two_clouds(400, seed=3, centre=[2.0, 1.2])
    d = mean_difference(cs.ClassMoments.from_arrays(X, y)).detector.unit()
    c = cs.calibrate(cs.sweep(y, d.scores(X)), "logistic")
    made = Figure(figsize=(9.4, 4.2), layout="constrained")
    left, right = made.add_subplot(1, 2, 1), made.add_subplot(1, 2, 2, projection="3d")
    for ax in (left, right):
        cs.plot.surface(lambda X: c.probability(d.scores(X), prior=0.5), X, y, ax)
    left.set(aspect="equal")
    right.view_init(elev=26, azim=-122)
    title(left, "contours of equal probability are parallel")
    title(right, "P(+|x): a sigmoid along w")
    save(made, path)


@figure("lines.svg")
def lines(path: Path) -> None:
    """The lines that different learners find in the same rows."""
    from cutscore.linear import ArrayRows
    from cutscore.linear.closed import fisher, gaussian, least_squares, mean_difference
    from cutscore.linear.logistic import logistic
    from cutscore.linear.structural import as_trainable, structural

    made, (ax,) = axes(1, 9.4, 4.4)
    X, y = uneven(seed=2)
    plain(ax, "x₁", "x₂")
    scatter(ax, X, y, size=11)
    ax.set(xlim=(-3.8, 8.2), ylim=(-4.2, 5.2), aspect="equal")
    rows = ArrayRows(X, y)
    dashed = (0, (5, 2))
    for name, fit, look in (
        ("mean difference", mean_difference(rows), {"color": "0.5"}),
        ("Fisher", fisher(rows), {"color": GREEN}),
        ("Gaussian", gaussian(rows), {"color": GREEN, "linestyle": dashed}),
        ("least squares", least_squares(rows), {"color": YELLOW}),
        ("logistic", logistic(rows), {"color": INK}),
        ("structural, F1", structural(rows, as_trainable("f1"), C=10), {"color": PINK}),
    ):
        d = fit.detector
        s = cs.sweep(y, d.scores(X))
        boundary(ax, d, label=f"{name}: AUC {s.auc:.3f}, F1 {s.at(0.0).f1:.2f}", **look)
    ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(made, path)


@figure("margins.svg")
def margins(path: Path) -> None:
    """A perceptron's line, its strip without rows, and the histograms of its margins."""
    from cutscore.linear import ArrayRows
    from cutscore.linear.perceptron import perceptron

    made, all_axes = axes(3, 12.0, 3.8)
    X, y = two_clouds(160, seed=8, centre=[2.6, 2.6])
    overlap_X, overlap_y = two_clouds(160, seed=8, centre=[1.5, 1.5])
    gap = np.abs(X @ np.array([1.0, 1.0])) > 0.9
    X, y = X[gap & ((X.sum(axis=1) > 0) == y)], y[gap & ((X.sum(axis=1) > 0) == y)]
    d = perceptron(ArrayRows(X, y)).detector
    m = d.margins(X, y)
    ax = all_axes[0]
    plain(ax, "x₁", "x₂")
    scatter(ax, X, y)
    ax.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), aspect="equal")
    boundary(ax, d)
    for side in (-1, 1):
        score = side * m.smallest * float(np.linalg.norm(d.w))
        boundary(ax, d, score, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)))
    nearest = X[np.argmin(m.value)]
    ax.plot(*nearest, "o", markerfacecolor="none", markeredgecolor=INK, markersize=11)
    title(ax, f"separable: {len(X)} rows, margin {m.smallest:.2f}")
    cs.plot.margins(m, all_axes[1], bins=30)
    title(all_axes[1], "its margins")
    rows = ArrayRows(overlap_X, overlap_y)
    averaged = perceptron(rows, variant="averaged", max_passes=20).detector
    cs.plot.margins(averaged.margins(overlap_X, overlap_y), all_axes[2], bins=30)
    title(all_axes[2], "overlapping classes (averaged)")
    for ax in all_axes[1:]:
        ax.set_xlabel("margin")
    save(made, path)


@figure("passes.svg")
def passes(path: Path) -> None:
    """The histogram of a perceptron's margins, pass after pass: separable rows, and others."""
    from cutscore.linear import ArrayRows
    from cutscore.linear.perceptron import perceptron

    made, all_axes = axes(2, 12.0, 5.2)
    X, y = two_clouds(400, seed=8, centre=[1.2, 1.2])
    apart = (np.abs(X.sum(axis=1)) > 0.5) & ((X.sum(axis=1) > 0) == y)
    for ax, rows, words in (
        (all_axes[0], ArrayRows(X[apart] + [3, -2], y[apart]), "separable classes: converges"),
        (all_axes[1], ArrayRows(X, y), "overlapping classes: oscillates"),
    ):
        seen: list[Any] = []
        perceptron(rows, max_passes=8, on_pass=seen.append)
        cs.plot.passes({p.passes: p.margins for p in seen}, ax, bins=50)
        ax.set_xlabel("margin")
        title(ax, words)
    save(made, path)


def ranked() -> tuple[Any, Any]:
    """Scores of 12 positives and of 48 negatives, as a line might give them."""
    rng = np.random.default_rng(4)
    return np.sort(rng.normal(5.0, 4.0, 12))[::-1], np.sort(rng.normal(-5.0, 3.5, 48))[::-1]


def candidates(pos: Any, neg: Any) -> Any:
    """Δ + κ (Σ of flagged negatives − Σ of missed positives) for each a and b, Δ = 1 − F1.

    The a highest positives are flagged, and the b highest negatives; κ = 1/n.
    """
    P, N = len(pos), len(neg)
    a, b = np.arange(P + 1)[:, None], np.arange(N + 1)[None, :]
    missed = pos.sum() - np.concatenate(([0.0], np.cumsum(pos)))
    alarms = np.concatenate(([0.0], np.cumsum(neg)))
    return 1 - 2 * a / (a + b + P) + (alarms[None, :] - missed[:, None]) / (P + N)


@figure("surrogate.svg")
def surrogate(path: Path) -> None:
    """The surrogate over 1 − F1, and all candidates for the worst labelling at one point."""
    from cutscore.linear.structural import as_trainable
    from cutscore.linear.surrogates import Classes, Masses

    made, (left, right) = axes(2, 9.8, 4.0, width_ratios=[1, 1.15])
    pos, neg = ranked()
    R = as_trainable("f1").surrogate(Masses.of(None, len(pos), len(neg)))
    s = cs.sweep(np.arange(60) < 12, np.concatenate((pos, neg)))
    shift = np.linspace(-12, 12, 801)
    value = [R.worst(Classes(pos + b, neg + b)).value for b in shift]
    plain(left, "bias b, added to all scores", "")
    left.plot(shift, value, color=NEGATIVE, linewidth=2, label="surrogate R")
    loss = [1 - s.at(-b).f1 for b in shift]
    left.plot(shift, loss, color=POSITIVE, linewidth=1.6, label="1 − F1")
    left.set(ylim=(0, 2.6), xlim=(-12, 12))
    left.legend(frameon=False, fontsize=9, loc="upper center")
    title(left, "a convex upper bound of the loss")

    L = candidates(pos, neg)
    shown = right.imshow(
        L, origin="lower", aspect="auto", cmap=_heat(), vmin=-0.7, extent=(-0.5, 48.5, -0.5, 12.5)
    )
    worst = R.worst(Classes(pos, neg))
    n = len(pos) + len(neg)
    a, b = int(np.count_nonzero(worst.slope.pos == 0)), round(float(n * worst.slope.neg.sum()))
    right.plot(
        [b],
        [a],
        "o",
        color=POSITIVE,
        markersize=9,
        markeredgecolor="white",
        label="most violated labelling",
    )
    right.plot(
        [0],
        [12],
        "D",
        color=GREEN,
        markersize=8,
        markeredgecolor="white",
        label="true labelling",
        clip_on=False,
    )
    at = s.at(0.0)
    right.plot(
        [at.fp],
        [at.tp],
        "s",
        color="#fff",
        markeredgecolor=INK,
        markersize=7,
        label="signs of the scores",
    )
    right.set(xlabel="b: negatives flagged", ylabel="a: positives flagged")
    right.legend(fontsize=8, loc="lower right", framealpha=0.9)
    made.colorbar(shown, ax=right, shrink=0.85, extend="min")
    title(right, f"{L.size} candidates instead of 2⁶⁰; R = {worst.value:.3f}")
    save(made, path)


def _heat() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("loss", ["#ffffff", "#9ecae1", "#08519c", "#062a52"])


@figure("classes.svg")
def classes(path: Path) -> None:
    """Three detectors and a decision: the same scores, other shares, other costs."""
    from sklearn.linear_model import LogisticRegression

    from cutscore.estimators import DetectorBank

    made, all_axes = axes(3, 11.0, 4.2, sharey=True)
    rng = np.random.default_rng(3)
    k = np.repeat([0, 1, 2], [220, 130, 50])
    centre = np.array([[-1.2, -0.6], [1.4, -0.6], [0.2, 1.5]])
    X = centre[k] + rng.normal(size=(len(k), 2)) * 0.9
    names = np.array(["A", "B", "C"])
    bank = DetectorBank(LogisticRegression(), method="platt", cv=3).fit(X, names[k])
    hues = (NEGATIVE, POSITIVE, GREEN)
    grid = np.linspace(-4, 4, 121)
    a, b = np.meshgrid(grid, grid)
    points = np.column_stack((a.ravel(), b.ravel()))
    asked = (
        ("training priors", {"prior": None, "costs": None}),
        ("equal priors", {"prior": [1 / 3] * 3, "costs": None}),
        ("a missed C costs 10", {"prior": None, "costs": [[0, 1, 1], [1, 0, 1], [10, 10, 0]]}),
    )
    for ax, (name, settings) in zip(all_axes, asked, strict=True):
        decided = bank.set_params(**settings).predict(points).reshape(a.shape)
        region = np.searchsorted(names, decided)
        ax.contourf(a, b, region, levels=[-0.5, 0.5, 1.5, 2.5], colors=hues, alpha=0.16)
        for j, hue in enumerate(hues):
            ax.scatter(*X[k == j].T, s=10, color=hue, alpha=0.7, linewidths=0, label=names[j])
        ax.set(xlabel="x₁", xlim=(-4, 4), ylim=(-4, 4), aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
        title(ax, name)
    all_axes[0].set_ylabel("x₂")
    all_axes[0].legend(frameon=False, fontsize=9, loc="upper left", handletextpad=0)
    save(made, path)


# -- Figures of the how-to pages, drawn by their own code.

PICTURE = re.compile(r"\]\(\.\./images/(howto-[\w-]+\.svg)\)")


def draw_page(page: Path, path: Path) -> None:
    """Run a page as far as its picture, and save the figure that ``ax`` belongs to there."""
    names: dict[str, Any] = {"__name__": page.stem}
    for part in DocTestParser().parse(page.read_text(encoding="utf-8")):
        if isinstance(part, Example) and not part.options.get(SKIP):
            with redirect_stdout(StringIO()):
                exec_example(part, names)
        elif isinstance(part, str) and path.name in PICTURE.findall(part):
            return save(names["ax"].figure, path)
    raise LookupError(f"{page.name} does not show {path.name}")


def exec_example(example: Example, names: dict[str, Any]) -> None:
    """Run one example; an error is fine where the page shows one."""
    try:
        exec(compile(example.source, "page", "exec"), names)
    except Exception:
        if example.exc_msg is None:
            raise


for page in sorted(HOWTO.glob("*.md")):
    for name in PICTURE.findall(page.read_text(encoding="utf-8")):
        FIGURES[name] = partial(draw_page, page)


if __name__ == "__main__":
    for made in main(*map(Path, sys.argv[1:2])):
        print(made)
