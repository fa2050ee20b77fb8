"""Scores of either class, what a threshold or a calibrator does to them, and margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from cutscore.calibration.calibrators import Calibrator, Monotone
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import TooFew
from cutscore.decision.choice import OperatingPoint, Stability
from cutscore.linear import Margins
from cutscore.measures.confusion import Number, count_text
from cutscore.measures.triage import Triage
from cutscore.plot._canvas import (
    COLOURS,
    add_legend,
    axis_text,
    check_kind,
    check_option,
    curve_of,
    draw_each,
    draw_guide,
    draw_histogram,
    draw_line,
    new_axes,
    prepare_axes,
    put_text,
    rule_text,
    shade,
    wide_axes,
)
from cutscore.sweeps import proper_scores
from cutscore.sweeps.proper_scores import Reliability
from cutscore.sweeps.sweep import Floats, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType as Colour

POSITIVE, NEGATIVE = "#d55e00", "#0072b2"
_WRONG, _RIGHT = POSITIVE, NEGATIVE
_MARGIN = "Margin (signed distance from the decision boundary)"

# How far the histogram of a reliability diagram reaches below 0.
_STRIP = 0.16


def reliability(
    r: Sweep | Reliability | Mapping[str, Sweep | Reliability],
    ax: Axes | None = None,
    *,
    label: str | None = None,
    bins: int = 50,
    **line: object,
) -> Axes:
    """Draw a reliability diagram: the observed event rate against the predicted probability.

    Calibrated probabilities are on the diagonal. The line is level where predictions share an event
    rate, by isotonic regression, and passes straight to the next such block. The shaded band is
    around the diagonal and not around the line: it is where the line of calibrated predictions
    would be. The histogram below has the mass of the predictions.

    Parameters
    ----------
    r : Sweep, Reliability or dict of Sweep or Reliability
        A sweep of probabilities; what :func:`cutscore.reliability` computed; or several, as a
        mapping from their names. The band of a sweep is simulated with the defaults of that
        function; weighted rows without squares have none.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    label : str, optional
        Name in the legend.
    bins : int, default 50
        How many bins the histogram has.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.7, 0.5, 0.1], pos=[80, 30, 32, 10], neg=[20, 30, 28, 90])
    >>> ax = cs.plot.reliability(s, label="mine")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mine', '95 % consistency band']
    """
    if isinstance(r, Mapping):
        return draw_each(reliability, r, ax, {"bins": bins, **line}, label=label)
    r = curve_of(r, Reliability, "reliability", _reliability)
    assert isinstance(r, Reliability)
    count = _bins(bins)
    ax = new_axes(4.4, 4.7) if ax is None else ax
    ax = prepare_axes(ax, "Predicted probability", "Observed event rate", square=True)
    ax.set(ylim=(-_STRIP, 1.01), yticks=np.linspace(0, 1, 6))
    ax.spines["left"].set_bounds(0, 1)
    draw_guide(ax, [0, 1], [0, 1])
    # Both ends of each block: where it starts, and before the next one starts.
    ends = np.unique(np.concatenate((r.start, r.start[1:] - 1, [len(r) - 1])))
    few = {"marker": "o", "markersize": 4.0} if len(r) <= 30 else {}
    draw_line(ax, r.forecast[ends], r.calibrated[ends], label, {**few, **line})
    colour = ax.lines[-1].get_color()
    if r.low is not None and r.high is not None and r.level is not None:
        name: str | None = f"{100 * r.level:g} % consistency band"
        if name in ax.get_legend_handles_labels()[1]:  # of the curve before
            name = None
        shade(ax, (r.forecast, r.low, r.high), colour, name)
        if few:  # between them there is nothing
            ax.vlines(r.forecast, r.low, r.high, color=colour, alpha=0.4, linewidth=3, zorder=1.6)
        add_legend(ax)
    # As shares: a sum of weights may be as large as floats go.
    share, edges = np.histogram(r.forecast, count, (0, 1), weights=r.mass / np.sum(r.mass))
    height = -_STRIP + (_STRIP - 0.02) * share / share.max()
    draw_histogram(ax, height, edges, colour, baseline=-_STRIP)
    return ax


def _reliability(s: Sweep) -> Reliability:
    unknown = s.weighted and s.pos2 is None
    return proper_scores.reliability(s, level=None if unknown else 0.95)


def calibrator(  # noqa: PLR0913 - options have names
    c: Calibrator | Mapping[str, Calibrator],
    ax: Axes | None = None,
    *,
    s: Sweep | None = None,
    low: float | None = None,
    high: float | None = None,
    label: str | None = None,
    **line: object,
) -> Axes:
    """Draw a calibrator: the log-likelihood ratio of each score.

    Above the dashed line a score is evidence for the positive class, below it for the negative
    class.

    Parameters
    ----------
    c : Calibrator or dict of Calibrator
        From :func:`cutscore.calibrate`; or several, as a mapping from their names.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    s : Sweep, optional
        A sweep, whose range of scores is drawn.
    low, high : float, optional
        The range of scores, if it is another one.
    label : str, optional
        Name in the legend.
    **line : keyword arguments
        Passed to ``Axes.plot``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> both = {method: cs.calibrate(s, method) for method in ("platt", "monotone")}
    >>> ax = cs.plot.calibrator(both, s=s)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['platt', 'monotone']
    """
    if isinstance(c, Mapping):
        return draw_each(calibrator, c, ax, {"s": s, "low": low, "high": high, **line}, label=label)
    check_kind(c, Calibrator, "calibrator", "cs.calibrate(s)")
    check_option(s, Sweep, "s", "cs.sweep(y, score)")
    start, end = _range_of(c, s, low, high)
    ax = wide_axes(ax, "Score", "Log-likelihood ratio")
    x = np.linspace(start, end, 1001)
    if isinstance(c, Monotone):
        # Each step from its first score to the last float before the next, and each bend.
        inner = c.threshold[(c.threshold > start) & (c.threshold <= end)]
        x = np.unique(np.concatenate((x, inner, np.nextafter(inner, -np.inf))))
    llr = c.llr(x)
    finite = np.abs(llr) <= 1e300
    if not any(line.get_gid() == "guide" for line in ax.lines):
        zero = ax.axhline(0, color="0.65", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        zero.set_gid("guide")
    draw_line(ax, x, llr if finite.all() else np.where(finite, llr, np.nan), label, line)
    ax.update_datalim([(start, 0.0), (end, 0.0)])  # even where there is no line
    ax.autoscale_view()
    _infinities(ax, x, llr, ax.lines[-1].get_color())
    return ax


def distributions(s: Sweep, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw the scores of each class as a histogram of area 1.

    Infinite scores, and those beyond ±1e300, are counted in the outermost bins. Scores that differ
    by less than a picture can show are drawn as one bar.

    Examples
    --------
    >>> import cutscore as cs
    >>> ax = cs.plot.distributions(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive', 'negative']
    """
    check_kind(s, Sweep, "distributions", "cs.sweep(y, score)")
    edges = bin_edges(s.threshold, bins)
    ax = prepare_axes(ax, "Score", "Density within the class", unit=False)
    score = np.clip(s.threshold, edges[0], edges[-1])
    for name, mass, colour in (("positive", s.pos, POSITIVE), ("negative", s.neg, NEGATIVE)):
        if mass.sum() > 0:
            # As shares: a sum of weights over the width of a bin may overflow.
            share = mass / mass.sum()
            height, _ = np.histogram(score, edges, weights=share, density=True)
            draw_histogram(ax, height, edges, colour, name)
    ax.set_ylim(bottom=0)
    add_legend(ax)
    return ax


def operating_point(p: OperatingPoint, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw an operating point over the score histograms of both classes.

    The flagged side is shaded; of two thresholds the reviewed part more lightly. The numbers are
    those of ``p.confusion``, the rows of the sweep; the heights are densities within each class, as
    in :func:`cutscore.plot.distributions`. Where the verdict is not to use the threshold, the title
    says that first.

    Parameters
    ----------
    p : OperatingPoint
        From :func:`cutscore.choose`.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    bins : int, default 60
        How many bins the histograms have.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    >>> ax = cs.plot.operating_point(cs.choose(s, "f1"))
    >>> ax.get_title(loc="left")
    'Flag scores ≥ 0.700 (highest f1)'
    >>> [text.get_text() for text in ax.texts]
    ['not flagged', 'FN 3', 'TN 9,939', 'flagged', 'TP 17', 'FP 41']
    """
    check_kind(p, OperatingPoint, "operating_point", "cs.choose(s, objective)")
    ax = distributions(p.sweep, new_axes(6.2, 4.0) if ax is None else ax, bins=bins)
    left, right = ax.get_xlim()
    three_way = p.question.three_way
    greys = {p.cuts.review: "0.96", p.threshold: "0.93"}  # one, or two
    for t, grey in greys.items():
        at = float(np.clip(t, left, right))
        ax.axvspan(at, right, color=grey, linewidth=0, zorder=0.5)
        if np.isfinite(t):
            ax.axvline(at, ymax=0.76, color="0.15", linewidth=1.4, zorder=4)
    # Room for the numbers above the histograms; the legend goes between them.
    ax.set(xlim=(left, right), ylim=(0, ax.get_ylim()[1] / 0.74))
    c = p.confusion
    left_out, taken = (c.fn, c.tn), (c.tp, c.fp)
    sides: list[tuple[float, str, tuple[str, ...]]] = [
        (0.015, "left", ("not flagged", *map("{} {}".format, ("FN", "TN"), _texts(left_out)))),
        (0.985, "right", ("flagged", *map("{} {}".format, ("TP", "FP"), _texts(taken)))),
    ]
    if isinstance(c, Triage):
        ways = {"passed": left_out, "reviewed": (c.reviewed_pos, c.reviewed_neg), "blocked": taken}
        places = ((0.015, "left"), (0.5, "center"), (0.985, "right"))
        of = ("positive", "negative")
        sides = [
            (x, side, (way, *map("{} {}".format, _texts(two), of)))
            for (x, side), (way, two) in zip(places, ways.items(), strict=True)
        ]
    for x, side, texts in sides:
        for k, (text, colour) in enumerate(zip(texts, ("0.15", POSITIVE, NEGATIVE), strict=True)):
            at_top = {"xycoords": "axes fraction", "ha": side, "va": "top", "path_effects": []}
            bold = "bold" if k == 0 else "normal"
            put_text(ax, text, (x, 0.985 - 0.068 * k), color=colour, fontweight=bold, **at_top)
    add_legend(ax, "center left" if three_way else "upper center")
    rule = rule_text(p)
    best = "lowest" if p.question.goal.better < 0 else "highest"
    if three_way:
        review, block = map(axis_text, p.cuts)
        rule = f"Review scores ≥ {review}, block ≥ {block}"
    title = f"{'Flag scores ' if rule[0] == '≥' else ''}{rule} ({best} {p.objective})"
    title = title[0].upper() + title[1:]
    style: dict[str, Any] = {"loc": "left", "fontsize": 10, "parse_math": False}
    if p.verdict.state == "unusable":
        title, style["color"] = f"{p.verdict.headline}\n{title}", "#b3261e"
    ax.set_title(title, **style)
    return ax


def _texts(masses: tuple[Number, Number]) -> list[str]:
    return [count_text(mass) for mass in masses]


def stability(
    st: Stability, ax: Axes | None = None, *, point: OperatingPoint | None = None, bins: int = 40
) -> Axes:
    """Draw the thresholds that bootstrap samples chose; 95 % of them are in the shaded range.

    Samples that chose ``±inf``, to flag nothing or everything, are counted in bars beside the axis
    of thresholds.

    Parameters
    ----------
    st : Stability
        From :meth:`cutscore.OperatingPoint.stability`.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    point : OperatingPoint, optional
        The operating point itself, whose threshold is to be marked.
    bins : int, default 40
        How many bins the histogram has.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> p = cs.choose(cs.sweep(y, rng.standard_normal(2000) + 2 * y), "f1")
    >>> ax = cs.plot.stability(p.stability(100), point=p)
    >>> ax.get_title(loc="left")
    'Mean regret 0.00... in 100 bootstrap samples'
    """
    check_kind(st, Stability, "stability", "p.stability()")
    check_option(point, OperatingPoint, "point", "cs.choose(s, objective)")
    edges = bin_edges(st.threshold, bins)
    ax = wide_axes(ax, "Threshold", "Bootstrap samples")
    width = edges[1] - edges[0]
    finite = st.threshold[np.isfinite(st.threshold)]
    count, _ = np.histogram(np.clip(finite, edges[0], edges[-1]), edges)
    draw_histogram(ax, count, edges, COLOURS[0], "chosen in samples")
    beside = {-np.inf: edges[0] - 3 * width, np.inf: edges[-1] + 3 * width}
    ax.margins(x=0.07)
    for value, x in beside.items():
        many = int(np.count_nonzero(st.threshold == value))
        if many:
            ax.bar(x, many, width, color="0.6")
            outer, side = (x + width / 2, "left") if value > 0 else (x - width / 2, "right")
            beyond = {"textcoords": "offset points", "ha": side, "va": "top", "color": "0.2"}
            put_text(ax, axis_text(value), (outer, many), (2 * np.sign(value), 0), **beyond)
    low, high = _range(st)
    start, end = (beside.get(x, float(np.clip(x, -1e300, 1e300))) for x in (low, high))
    name = f"95 % of them: {axis_text(low)} to {axis_text(high)}"
    ax.axvspan(start, end, color=COLOURS[0], alpha=0.12, linewidth=0, zorder=0.5, label=name)
    if point is not None:
        at = beside.get(point.threshold, float(np.clip(point.threshold, -1e300, 1e300)))
        name = f"chosen: {rule_text(point)}"
        ax.axvline(at, color="0.15", linewidth=1.4, label=name, zorder=4)
    known, title = np.count_nonzero(st.comparable), f"{len(st.threshold):,} bootstrap samples"
    if known:
        of = f"{known:,} of " if known < len(st.threshold) else ""
        title = f"Mean regret {st.mean_regret:.3g} in {of}{title}"
    if st.broken.any():
        title += f"; limits violated in {100 * np.mean(st.broken):.3g} %"
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_ylim(0, ax.get_ylim()[1] / 0.74)  # the legend goes above
    add_legend(ax, "upper left", frame=True)
    return ax


def margins(m: Margins, ax: Axes | None = None, *, bins: int = 60) -> Axes:
    """Draw the margins of a linear detector as a histogram: misclassified rows, and correct ones.

    Rows on the boundary itself count as errors, left of 0. The dashed line is the smallest margin;
    where it is above 0 the classes are separated, and the strip without rows is shaded.

    Parameters
    ----------
    m : Margins
        From :meth:`cutscore.LinearDetector.margins`, or that of an estimator.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    bins : int, default 60
        About how many bins the histogram has. One of their edges is 0.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> line = cs.LinearDetector(np.array([3.0, 4.0]), -5.0)
    >>> X = np.array([[3.0, 4.0], [3.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> ax = cs.plot.margins(line.margins(X, np.array([True, True, False, False])))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['3 correct', '1 wrong', 'smallest margin: −0.400']
    """
    check_kind(m, Margins, "margins", "detector.margins(X, y)")
    count = _bins(bins)
    if not len(m.value):
        raise DataError(TooFew("a histogram of margins", 1, "row", 0))
    edges, zero, (rows,) = _count([m], count)
    smallest = float(np.clip(m.smallest, -1e300, 1e300))
    first, above = zero, edges[zero:]
    if 0 < smallest < edges[-1]:  # or the first bar would reach into the strip without rows
        first = int(np.searchsorted(edges, smallest, "right")) - 1
        above = np.append(smallest, edges[first + 1 :])
    ax = wide_axes(ax, _MARGIN, "Rows")

    from matplotlib.ticker import MaxNLocator  # there, or there would be no axes

    for some, at, name, colour in (
        (rows[first:], above, "correct", _RIGHT),
        (rows[:zero], edges[: zero + 1], "wrong", _WRONG),
    ):
        if some.any():
            draw_histogram(ax, some, at, colour, f"{count_text(int(some.sum()))} {name}")
    ax.axvline(0, 0, 0.78, color="0.15", linewidth=1.4, zorder=4)
    (least,) = ax.plot([smallest] * 2, [0, 0.78], transform=ax.get_xaxis_transform(), zorder=4)
    least.set(color=_WRONG if smallest <= 0 else "0.15", linewidth=1.2, linestyle=(0, (4, 3)))
    least.set_label(f"smallest margin: {axis_text(m.smallest)}")
    if smallest > 0:
        ax.axvspan(0, smallest, 0, 0.78, color="0.93", linewidth=0, zorder=0.5)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.set_ylim(0, ax.get_ylim()[1] / 0.76)  # the legend goes above
    add_legend(ax, "upper left")
    return ax


def passes(
    margins: Mapping[int, Margins] | Sequence[Margins], ax: Axes | None = None, *, bins: int = 60
) -> Axes:
    """Draw how the histogram of margins changes while a detector is trained, pass after pass.

    One histogram for each pass, the first at the top, all with the same bins and the same scale.
    Misclassified rows are left of 0, and the number of them stands beside. The short stroke is the
    smallest margin.

    Parameters
    ----------
    margins : dict of Margins or sequence of Margins
        The margins after each pass, as :class:`cutscore.linear.perceptron.Pass` has them: a list in
        the order of the passes, or a mapping from the number of a pass.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure if left out.
    bins : int, default 60
        About how many bins a histogram has. One of their edges is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.perceptron import perceptron
    >>> seen = {}
    >>> rows = ArrayRows(np.array([[1.0], [3.0], [4.0]]), np.array([False, True, True]))
    >>> fit = perceptron(rows, on_pass=lambda p: seen.update({p.passes: p.margins}))
    >>> ax = cs.plot.passes(seen)
    >>> [text.get_text() for text in ax.get_yticklabels()][:2]
    ['pass 1: 1 wrong', 'pass 2: 1 wrong']
    """
    count = _bins(bins)
    named = dict(margins if isinstance(margins, Mapping) else enumerate(margins, 1))
    if not named or not all(isinstance(m, Margins) and len(m.value) for m in named.values()):
        rule, hint = "be Margins with rows, one for each pass", "Collect p.margins in on_pass."
        raise DataError(BadArgument("margins", rule, margins, hint))
    edges, zero, heights = _count(list(named.values()), count)
    ax = wide_axes(ax, _MARGIN, "")
    centre, room = np.arange(len(named))[::-1], 0.86 / max(int(rows.max()) for rows in heights)
    for at, m, height in zip(centre, named.values(), heights, strict=True):
        rows = at + room * height
        for some, side, colour in (
            (rows[:zero], edges[: zero + 1], _WRONG),
            (rows[zero:], edges[zero:], _RIGHT),
        ):
            draw_histogram(ax, some, side, colour, baseline=at)
        least = float(np.clip(m.smallest, -1e300, 1e300))
        stroke = _WRONG if least <= 0 else "0.15"
        ax.plot([least] * 2, [at, at + 0.3], color=stroke, linewidth=1.6, zorder=4)
    ax.axvline(0, color="0.15", linewidth=1.4, zorder=3)
    labels = [f"pass {k}: {count_text(m.errors)} wrong" for k, m in named.items()]
    ax.set_yticks(centre, labels)
    ax.set_ylim(-0.15, len(named) + 0.05)
    return ax


def _count(several: Sequence[Margins], bins: int) -> tuple[Floats, int, list[Any]]:
    """Rows in bins that all share: the edges, the place of 0 among them, and the rows of each.

    Bins of errors have their upper edge, and those of correct rows their lower one: 0 is an error.
    """
    # Within ±1e300, or the width of the axis would overflow.
    values = [np.clip(m.value, -1e300, 1e300) for m in several]
    _, edges = Margins(np.concatenate(values)).histogram(bins)
    if edges[0] == 0:  # no errors beyond the boundary
        edges = np.concatenate(([-edges[1]], edges))
    if edges[-1] == 0:
        edges = np.append(edges, -edges[-2])
    zero, out = int(np.searchsorted(edges, 0.0)), []
    for value in values:
        inside = np.clip(value, edges[0], edges[-1])  # which are rounded
        errors = np.histogram(-inside[inside <= 0], -edges[zero::-1])[0][::-1]
        out.append(np.append(errors, np.histogram(inside[inside > 0], edges[zero:])[0]))
    return edges, zero, out


def _range_of(
    c: Calibrator, s: Sweep | None, low: float | None, high: float | None
) -> tuple[float, float]:
    """The range of scores to draw a calibrator over."""
    for name, given in (("low", low), ("high", high)):
        if given is not None and not _is_moderate(given):
            raise DataError(BadArgument(name, "be a number within ±1e300", given))
    if s is None and (low is None or high is None):
        raise DataError(BadArgument("s", "be a sweep, unless low and high are given", s))
    # Only what nobody asked for is held inside of what can be mapped.
    edges = (low, high) if s is None else np.clip(bin_edges(s.threshold, 1), *c.domain)
    start, end = (float(e if x is None else x) for e, x in zip(edges, (low, high), strict=True))
    if not start < end:
        rule = f"be less than high, {end:g}"
        raise DataError(BadArgument("low", rule, start, "Pass both, or none."))
    return start, end


def _is_moderate(x: object) -> bool:
    """Whether it is a number that is no risk to the width of an axis."""
    try:
        return isinstance(x, Real) and abs(float(x)) <= 1e300
    except OverflowError:
        return False


def _infinities(ax: Axes, x: Floats, llr: Floats, colour: Colour) -> None:
    """Signs at the upper or lower edge, above the scores whose LLR is infinite."""
    for value, edge, side in ((np.inf, 1.0, "top"), (-np.inf, 0.0, "bottom")):
        at = x[np.sign(value) * llr > 1e300]
        if len(at):
            middle = 0.5 * at[0] + 0.5 * at[-1]
            where = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": side}
            put_text(ax, axis_text(value), (middle, edge), color=colour, **where)


def _bins(bins: object) -> int:
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool) and 1 <= bins <= 100_000:
        return int(bins)
    hint = "Omit it for a default that suits most scores."
    raise DataError(BadArgument("bins", "be an integer from 1 to 100,000", bins, hint))


def bin_edges(values: Floats, bins: int) -> Floats:
    """Edges of equal bins over all finite values."""
    bins = _bins(bins)
    # Within ±1e300, or the width of the axis would overflow.
    finite = np.clip(values[np.isfinite(values)], -1e300, 1e300)
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-200):  # or bins would have no width, or no finite height
        pad = max(0.5, 1e-9 * size)
        low, high = low - pad, high + pad
    return np.linspace(low, high, bins + 1)


def _range(st: Stability) -> tuple[float, float]:
    """The range of 95 % of the thresholds, of which some may be infinite."""
    if np.abs(st.threshold).max() <= 1e300:
        low, high = st.thresholds
    else:  # nothing lies between a number and infinity, and no float is as large as some gaps
        low, high = np.quantile(st.threshold, (0.025, 0.975), method="inverted_cdf").tolist()
    return low, high
