"""Features of either class: their distances from a line, and the probability over two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from cutscore.calibration.methods import logistic, normal_classes
from cutscore.comparison.rows import read_rows, score_columns
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import ColumnMissing
from cutscore.core.findings.statistics import NotFinite
from cutscore.core.types import ArrayLike, Frame, Label
from cutscore.detector import Detector
from cutscore.measures.prior import check_prior
from cutscore.plot._canvas import add_legend, check_kind, new_axes, prepare_axes
from cutscore.plot._scores import NEGATIVE, POSITIVE, bin_edges, distributions
from cutscore.sweeps.sweep import Floats, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Grid points along each feature, and the most rows that a picture can show.
_GRID, _ROWS = 121, 2000
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


class ProbabilisticClassifier(Protocol):
    """A fitted classifier of scikit-learn."""

    def predict_proba(self, X: Any, /) -> Any: ...


Probabilities: TypeAlias = Detector | ProbabilisticClassifier | Callable[[Any], ArrayLike]
"""What gives rows the probability to be positive."""

Features: TypeAlias = Mapping[Any, ArrayLike] | Frame | ArrayLike
"""Columns by name, a frame, or an array with a column for each."""


def distances(
    s: Sweep,
    ax: Axes | None = None,
    *,
    densities: bool = False,
    prior: float | None = None,
    bins: int = 60,
) -> Axes:
    """Draw the signed distances of each class from the decision boundary, as histograms of area 1.

    Parameters
    ----------
    s : Sweep
        The sweep of the distances: ``cs.sweep(y, detector.signed_distance(X))``.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    densities : bool, default False
        Whether to draw what logistic calibration assumes and what follows from it: the normal
        densities P(d|+) and P(d|−), with the means of the classes and their common variance; and
        the sigmoid P(+|d) = 1/(1 + exp(−γ (d − d₀) − ln clr)) on an axis to the right.
    prior : float, optional
        The share of positives that the sigmoid is for; by default that of the sweep.
    bins : int, default 60
        How many bins the histograms have.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> line = cs.LinearDetector(np.array([3.0, 4.0]), -5.0)
    >>> X = np.array([[3.0, 4.0], [3.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> s = cs.sweep([1, 1, 0, 0], line.signed_distance(X))
    >>> ax = cs.plot.distances(s, densities=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive', 'negative', 'P(d|+)', 'P(d|−)', 'P(+|d)']
    """
    check_kind(s, Sweep, "distances", "cs.sweep(y, detector.signed_distance(X))")
    share = s.prevalence if prior is None else check_prior(prior)
    fitted = (normal_classes(s), logistic(s)) if densities else None
    ax = distributions(s, new_axes(6.2, 4.0) if ax is None else ax, bins=bins)
    ax.set_xlabel("Signed distance d")
    ax.axvline(0, color="0.15", linewidth=1.2, zorder=4)
    if fitted is None:
        return ax
    classes, sigmoid = fitted
    d = np.linspace(*ax.get_xlim(), 401)
    ax.set_xlim(d[0], d[-1])
    top = 1 / (np.sqrt(2 * np.pi) * classes.sd)
    for name, mean, colour in (
        ("P(d|+)", classes.pos_mean, POSITIVE),
        ("P(d|−)", classes.neg_mean, NEGATIVE),
    ):
        density = top * np.exp(-(((d - mean) / classes.sd) ** 2) / 2)
        ax.plot(d, density, color=colour, linewidth=1.8, label=name, gid="density")
        ax.plot([mean] * 2, [0, top], color=colour, linewidth=1, linestyle=":", gid="mean")
    right = ax.twinx()
    right.set(ylim=(0, 1.02), ylabel="P(+|d)")
    right.spines["top"].set_visible(False)
    right.plot(d, sigmoid.probability(d, share), color="0.15", linewidth=1.4, gid="sigmoid")
    ax.plot([], [], color="0.15", linewidth=1.4, label="P(+|d)")
    ax.set_ylim(0, 1.3 * max(ax.get_ylim()[1], top))  # the legend goes above
    add_legend(ax, "upper left")
    return ax


def surface(
    detector: Probabilities,
    X: Features,
    y: ArrayLike,
    ax: Axes | None = None,
    *,
    positive: Label | None = None,
) -> Axes:
    """Draw the probability of a positive over two features, with the rows of either class.

    On three-dimensional axes (``figure.add_subplot(projection="3d")``) it is a surface above the
    plane of the features; otherwise a shaded map with contour lines, and the rows on top.

    Parameters
    ----------
    detector : Detector, classifier or callable
        A :class:`cutscore.detector.Detector` of two columns of numbers; a fitted classifier with
        ``predict_proba``, such as :class:`cutscore.estimators.DecisionClassifier`; or a function
        from rows like X to the probability of each.
    X : array-like of shape (n, 2), frame or dict of columns
        The rows: an array with two columns, or a frame or mapping of columns by name.
    y : array-like of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    positive : label, optional
        The label that is positive, where labels are not 0/1 or −1/1.

    Notes
    -----
    Of more than 2,000 rows, 2,000 at equal steps are drawn. The features must be finite numbers.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> X = np.array([[3.0, 4.0], [3.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> line, c = cs.LinearDetector(np.array([3.0, 4.0]), -5.0), cs.Affine(gamma=0.5, d0=0.0)
    >>> ax = cs.plot.surface(lambda X: c.probability(line.scores(X), prior=0.5), X, [1, 1, 0, 0])
    >>> ax.get_xlabel(), ax.get_title(loc="left")
    ('x₁', 'P(+|x)')
    """
    ask, columns = _probability(detector), _features(X, detector)
    names = [("x₁", "x₂")[k] if list(columns) == [0, 1] else str(k) for k in columns]
    rows = read_rows(y, dict(zip(names, columns.values(), strict=True)), None, positive)
    a, b = np.meshgrid(*map(_grid, names, rows.scores))
    p = np.asarray(ask(_like(X, list(columns), a.ravel(), b.ravel())), np.float64)
    if p.shape != (a.size,) or not (np.all(p >= 0) and np.all(p <= 1)):
        rule = f"be one probability from 0 to 1 for each of {a.size:,} rows"
        raise DataError(BadArgument("detector", rule, p, subject="the output of detector"))
    p = p.reshape(a.shape)
    ax = new_axes(5.4, 4.6) if ax is None else ax
    colours = _colours()
    if ax.name == "3d":
        look = {"cmap": colours, "rcount": 40, "ccount": 40, "linewidth": 0.25}
        ax.plot_surface(a, b, p, edgecolor="white", vmin=0, vmax=1, **look)  # type: ignore[attr-defined]
        ax.set(xlabel=names[0], ylabel=names[1], zlim=(0, 1))
    else:
        prepare_axes(ax, *names, unit=False)
        ax.grid(visible=False)
        around = (a[0, 0], a[0, -1], b[0, 0], b[-1, 0])
        shades = ax.imshow(p, colours, aspect="auto", origin="lower", extent=around, zorder=0.5)
        shades.set(alpha=0.55, clim=(0, 1), interpolation="bilinear")
        lines = ax.contour(a, b, p, levels=_LEVELS, colors="0.15", linewidths=1.0, zorder=2)
        ax.clabel(lines, fontsize=8)
        ones = rows.ones
        some = np.linspace(0, len(ones) - 1, min(len(ones), _ROWS)).astype(np.intp)
        for name, mine, colour in (
            ("positive", ones[some], POSITIVE),
            ("negative", ~ones[some], NEGATIVE),
        ):
            x1, x2 = (x[some][mine] for x in rows.scores)
            style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.5}
            ax.plot(x1, x2, color=colour, alpha=0.75, markeredgewidth=0, **style, label=name)
            ax.lines[-1].set_gid("rows")
        add_legend(ax, frame=True)
    ax.set_title("P(+|x)", loc="left", fontsize=10)
    return ax


def _probability(detector: Probabilities) -> Callable[[Any], ArrayLike]:
    """What gives the probability of rows."""
    if isinstance(detector, Detector):
        return detector.probability
    if hasattr(detector, "predict_proba"):
        return lambda X: np.asarray(detector.predict_proba(X))[:, 1]
    if callable(detector):
        return detector
    rule = (
        "be a Detector, a classifier with predict_proba, or a function that returns probabilities"
    )
    hint = "For a linear model, pass lambda X: calibrator.probability(line.scores(X), prior)."
    raise DataError(BadArgument("detector", rule, detector, hint))


def _features(X: Features, detector: Probabilities) -> dict[Any, Any]:
    """Two columns by name, or by number where they have no names."""
    columns = score_columns(np.asarray(X) if isinstance(X, (list, tuple)) else X)
    if isinstance(detector, Detector):
        absent = [name for name in detector.columns if name not in columns]
        if absent:
            raise DataError(ColumnMissing(absent[0], "X", tuple(map(str, columns))))
        columns = {name: columns[name] for name in detector.columns}
    if len(columns) != 2:
        raise DataError(BadArgument("X", "have two columns for a surface", len(columns)))
    return columns


def _like(X: Features, names: Sequence[Any], *columns: Floats) -> Any:
    """Rows of the same kind as X: a classifier that was fitted to a frame wants one."""
    if names == [0, 1]:
        return np.column_stack(columns)
    table = dict(zip(names, columns, strict=True))
    return table if isinstance(X, Mapping) else type(X)(table)  # type: ignore[call-arg,call-overload]


def _grid(name: str, x: Floats) -> Floats:
    """Values along a feature, from below its lowest one to above its highest one."""
    if not np.all(np.abs(x) <= 1e300):
        row = int(np.argmin(np.abs(x) <= 1e300))
        where = Where(row, column=name)
        raise DataError(NotFinite("features", float(x[row]), most="1e300", where=where))
    low, high = bin_edges(x, 1)
    pad = 0.05 * (high - low)
    return np.linspace(low - pad, high + pad, _GRID)


def _colours() -> Any:
    """From the colour of negatives over white to that of positives."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("classes", [NEGATIVE, "#f7f7f7", POSITIVE])
