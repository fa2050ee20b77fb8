"""The charts of a page as data: ticks, and paths in a square of 1,000 by 1,000.

Lines are SVG and may be stretched; words and marks are HTML, so that they keep their size on a
phone as on a wall. The template writes both, and the script moves what has a ``script`` key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np

from cutscore.core.numbers import number_text, per_cent
from cutscore.core.types import ArrayLike
from cutscore.measures.confusion import count_text
from cutscore.measures.registry import is_rate
from cutscore.policy.words import figure_text, promise_name
from cutscore.report.scenario import start_probability
from cutscore.report.summary import (
    Estimate,
    GroupResults,
    NormalSummary,
    ScoreSummary,
    Summary,
)
from cutscore.report.traces import Axis
from cutscore.sweeps.sweep import Floats

# As many scores as there are colours to tell apart; the rest share the last.
COLOURS = 7


class Tick(NamedTuple):
    """A number along an axis; ``kind`` is a class of it."""

    at: float
    text: str
    kind: str = ""


class Line(NamedTuple):
    """A path of a class; the script redraws those with a key."""

    kind: str
    d: str
    script: str = ""
    opacity: float | None = None


class Mark(NamedTuple):
    """The operating point, from 0 to 1 along both axes; hidden where it has no place."""

    key: str
    x: float
    y: float


class Swatch(NamedTuple):
    """An entry of a legend: a class of line, what it stands for, and of which score."""

    kind: str
    words: str
    of: int | None = None
    value: str = ""


@dataclass(frozen=True)
class Panel:
    """One square of a chart."""

    x_name: str
    y_name: str
    x: Sequence[Tick]
    y: Sequence[Tick]
    lines: Sequence[Line] = ()
    """Those that belong to no score, below the others."""
    scores: Sequence[tuple[int, Sequence[Line]]] = ()
    """The lines of each score, by its number."""
    marks: Sequence[Mark] = ()
    threshold: float | None = None
    """Where the threshold is along the horizontal axis."""
    review: float | None = None
    """Where that for reviewing is, if there are two."""
    of: int | None = None
    """The number of the score, if each has a panel of its own."""
    note: str = ""
    height: float | None = None
    """In units of the text, if it is no square."""

    @property
    def grid(self) -> str:
        """The lines of the ticks."""
        down = (f"M{_whole(t.at)},0V1000" for t in self.x if 0 < t.at < 1)
        across = (f"M0,{1000 - _whole(t.at)}H1000" for t in self.y if 0 < t.at < 1 and not t.kind)
        return "".join((*down, *across))


@dataclass(frozen=True)
class Chart:
    """A titled chart of one panel, or of one for each score."""

    key: str
    title: str
    panels: Sequence[Panel]
    note: str = ""
    legend: Sequence[Swatch] = field(default=())
    description: str = ""
    """What it shows, for those who don't see it, where that never changes."""


UNIT = [Tick(k / 5, f"{k / 5:g}") for k in range(6)]


# ------------------------------------------------------------------------------------------ scores


def histograms(summary: Summary) -> Chart:
    """The scores of each class, as shares of it and as counts."""
    panels = []
    for k, one in enumerate(summary.scores):
        t = one.trace
        lines: list[Line] = []
        if summary.group_results is not None and summary.own_thresholds:
            lines += _thresholds(one, summary.group_results)
        elif summary.on_score:
            lines.append(_flagged_area(place(one)))
        if summary.asked.three_way:
            lines.insert(0, _flagged_area(place(one, review=True), "reviewed"))
        ticks: list[Tick] = []
        classes = ((t.neg, "neg", summary.N), (t.pos, "pos", summary.P))
        for kind, scaled in (
            ("density", [(share, name) for share, name, _ in classes]),
            ("counts", [(share * mass, name) for share, name, mass in classes]),
        ):
            top = 1.06 * max(height.max() for height, _ in scaled)
            lines += (Line(f"{kind} {name}", stairs(t.edges, h / top)) for h, name in scaled)
            unit = (100, " %") if kind == "density" else (1, "")
            values = ((v / top, f"{unit[0] * v:,.6g}{unit[1]}") for v in _round(0, top, 4))
            ticks += (Tick(*value, kind) for value in values)
        panels.append(
            Panel(
                _score_name(one),
                "",
                axis_ticks(t.axis, one.reverse),
                ticks,
                lines,
                threshold=place(one) if summary.on_score else None,
                review=place(one, review=True) if summary.asked.three_way else None,
                of=k,
                note=_clipping_note(one),
            )
        )
    legend = [Swatch("shade pos", "positive"), Swatch("shade neg", "negative")]
    if summary.own_thresholds:
        legend.append(Swatch("line thin", "thresholds of the groups"))
    return Chart("scores", "Scores by class", panels, "", legend)


def _thresholds(one: ScoreSummary, g: GroupResults) -> Iterator[Line]:
    """The threshold of each group."""
    turn = -1.0 if one.reverse else 1.0
    cuts = np.array(sorted({turn * group.threshold for group in g.rows}))
    for at in one.trace.axis.place(cuts).tolist():
        yield Line("hull", f"M{_whole(at)},0V1000")


def normal_histogram(summary: NormalSummary) -> Chart:
    """The scores of normal rows, and which of them are flagged."""
    axis, edges, mass, beyond = summary.histogram
    p, top = summary.point, 1.06 * float(mass.max())
    at = float(axis.place(np.array([p.threshold]))[0])
    name = summary.name + (", from high to low" if summary.reverse else "")
    panel = Panel(
        name,
        "",
        axis_ticks(axis, summary.reverse),
        [Tick(v / top, f"{v:,.6g}", "counts") for v in _round(0, top, 4)],
        [
            _flagged_area(at),
            Line("counts neg", stairs(edges, mass / top)),
            Line("cutline", f"M{_whole(at)},0V1000"),
        ],
        note=_beyond_text(axis, beyond, reverse=summary.reverse),
    )
    c = p.confusion
    said = (
        f"Histogram of the scores of normal rows. Flagged: {count_text(c.fp)}. Not flagged: "
        f"{count_text(c.tn)}."
    )
    legend = [Swatch("shade neg", "normal rows"), Swatch("line thin", "threshold")]
    words = "weight of rows in each bin" if summary.weighted else "number of rows in each bin"
    note = f"The {words}; the shaded side is flagged. {panel.note}".rstrip()
    return Chart("scores", "Scores of normal rows", [panel], note, legend, said)


def _flagged_area(at: float, kind: str = "flagged") -> Line:
    return Line(kind, f"M{_whole(at)},0H1000V1000H{_whole(at)}Z", kind)


def _clipping_note(one: ScoreSummary) -> str:
    return _beyond_text(one.trace.axis, one.trace.beyond, reverse=one.reverse)


def _beyond_text(axis: Axis, beyond: tuple[float, float], *, reverse: bool) -> str:
    """How many rows are beyond the axis."""
    (below, above), low, high = beyond, axis.low, axis.high
    if reverse:
        (below, above), (low, high) = (above, below), (0.0 - high, 0.0 - low)
    parts = [
        f"{count_text(n)} {side} {x:.3g}"
        for n, side, x in ((below, "below", low), (above, "above", high))
        if n
    ]
    return f"The end bins include rows beyond the axis: {', '.join(parts)}." if parts else ""


def place(one: ScoreSummary, *, review: bool = False) -> float:
    """Where the threshold is along the axis of the scores; or that for reviewing."""
    cuts = one.point.cuts
    return float(one.trace.axis.place(np.array([cuts.review if review else cuts.block]))[0])


def _score_name(one: ScoreSummary) -> str:
    return one.name + (", from high to low" if one.reverse else "")


# ------------------------------------------------------------------------------------------ curves


def _each(lines: Iterable[list[Line]]) -> list[tuple[int, list[Line]]]:
    """The lines of each score; those of the first are in front."""
    return list(enumerate(lines))[::-1]


def _legend(summary: Summary, *more: Swatch, values: Sequence[str] = ()) -> list[Swatch]:
    """The scores by name, where there are several, and what else is drawn."""
    if len(summary.scores) < 2:
        return list(more)
    named = enumerate(summary.scores)
    return [
        *(Swatch("line", one.name, k, values[k] if values else "") for k, one in named),
        *more,
    ]


def draw_roc(summary: Summary) -> Chart:
    lines = []
    for one in summary.scores:
        curve, band, own = one.trace.roc, one.trace.band, []
        if band is not None:
            own.append(Line("band", region(band.fpr, band.low, band.high)))
        x, y = (np.concatenate(([0.0], rate)) for rate in (curve.fpr, curve.tpr))
        at = np.concatenate(([0], one.trace.vertex + 1, [len(x) - 1]))
        own += (Line("hull", path(x[at], y[at])), Line("curve", path(x, y)))
        lines.append(own)
    c, three_way = summary.scores[0].point.confusion, summary.asked.three_way
    one_threshold = summary.on_score and not three_way
    marks = [Mark("roc", float(c.fpr), float(c.recall))]
    if three_way:
        marks.append(Mark("roc-review", 1 - float(c.specificity), 1 - float(c.fnr)))
    panel = Panel(
        "False positive rate (1 − specificity)",
        "Recall (sensitivity)",
        UNIT,
        UNIT,
        [
            Line("guide", "M0,1000L1000,0"),
            *([Line("iso costed", "", "iso")] if one_threshold else []),
        ],
        _each(lines),
        marks,
    )
    aucs = [f"AUC {one.auc.text()}" for one in summary.scores]
    more = [Swatch("line thin", "convex hull"), Swatch("line dashed", "chance")]
    if any(one.trace.band is not None for one in summary.scores):
        more.append(Swatch("shade", f"{100 * summary.asked.level:g} % confidence band"))
    if one_threshold:
        more.append(Swatch("line dotdash costed", "equal expected cost"))
    note = f"{aucs[0]}." if len(aucs) == 1 else ""
    return Chart("roc", "ROC curve", [panel], note, _legend(summary, *more, values=aucs))


def precision_steps(prior: float, tpr: Floats, fpr: Floats) -> tuple[Floats, Floats]:
    """Recall and precision of cases with the share ``prior`` of positives, from the first cut that
    flags anything: steps, whose area is the average precision."""
    some = tpr + fpr > 0
    right, wrong = prior * tpr[some], (1 - prior) * fpr[some]
    recall = np.concatenate(([0.0], tpr[some]))
    return np.repeat(recall, 2)[1:-1], np.repeat(right / (right + wrong), 2)


def draw_precision_recall(summary: Summary) -> Chart:
    prior = summary.prior
    lines = [
        [
            Line(
                "curve",
                path(*precision_steps(prior, one.trace.roc.tpr, one.trace.roc.fpr)),
                f"pr-{k}",
            )
        ]
        for k, one in enumerate(summary.scores)
    ]
    c = summary.scores[0].point.deployed
    panel = Panel(
        "Recall (sensitivity)",
        "Precision (PPV)",
        UNIT,
        UNIT,
        [Line("guide", f"M0,{1000 - _whole(prior)}H1000", "base")],
        _each(lines),
        [Mark("pr", float(c.recall), float(c.precision))],
    )
    areas = [f"average precision {number_text(one.average_precision)}" for one in summary.scores]
    note = f"A{areas[0][1:]}, on these rows." if len(areas) == 1 else ""
    legend = _legend(summary, Swatch("line dashed", "flagging at random"), values=areas)
    return Chart("pr", "Precision–recall curve", [panel], note, legend)


def draw_costs(summary: Summary) -> Chart:
    lines = []
    for one in summary.scores:
        x = np.concatenate(([0.0], one.cost_curve.high))
        lines.append([Line("curve", path(x, 2 * one.cost_curve.cost(x)))])
    c, p = summary.scores[0].point.confusion, summary.prior
    on_pos, on_neg = p * (1 - start_probability(summary)), (1 - p) * start_probability(summary)
    at = on_pos / (on_pos + on_neg)
    panel = Panel(
        "Probability cost",
        "Normalised expected cost",
        UNIT,
        [Tick(k / 5, f"{k / 10:g}") for k in range(6)],
        [Line("guide", "M0,1000L500,0L1000,1000"), Line("iso", "", "line")],
        _each(lines),
        [Mark("cost", at, 2 * float(c.fnr * at + c.fpr * (1 - at)))],
    )
    note = (
        "Expected cost of the best threshold for every prevalence π and every cost ratio. The "
        "probability cost is π·c_miss / (π·c_miss + (1 − π)·c_false_alarm)."
    )
    more = (Swatch("line dashed", "flag all or none"), Swatch("line thin", "this threshold"))
    return Chart("cost", "Cost curve", [panel], note, _legend(summary, *more))


def draw_benefit(summary: Summary) -> Chart:
    first, prior = summary.scores[0], summary.prior
    end = benefit_end(summary)
    low, high = benefit_range(prior)

    def line(kind: str, t: Floats, benefit: Floats, script: str) -> Line:
        return Line(kind, path(t / end, (benefit - low) / (high - low)), script)

    lines = []
    for k, one in enumerate(summary.scores):
        curve = one.decision_curve
        own, t = [line("curve", curve.threshold, curve.best, f"nb-{k}")], curve.threshold
        if curve.acting is not None:
            found = curve.acting.net_benefit
            ends = ((x - low) / (high - low) for x in (found.low, found.high))
            own.append(Line("band", region(t / end, *ends), "nb-band"))
            own.append(line("acting", t, found.value, f"act-{k}"))
        lines.append(own)
    t = first.decision_curve.threshold
    none = 1000 - _whole(-low / (high - low))
    c, at = first.point.deployed, start_probability(summary)
    here = float(c.tp - c.fp * at / (1 - at)) / float(c.total) if at < 1 else np.nan
    panel = Panel(
        "Threshold probability",
        "Net benefit",
        linear_ticks(0, end),
        linear_ticks(low, high),
        [
            Line("guide solid", f"M0,{none}H1000", "none"),
            line("guide", t, first.decision_curve.flag_all, "all"),
        ],
        _each(lines),
        [Mark("nb", at / end if at <= end else np.nan, (here - low) / (high - low))],
    )
    more = [Swatch("line dashed", "flag all"), Swatch("line grey", "flag none")]
    if any(one.decision_curve.acting is not None for one in summary.scores):
        words = f"acting at the threshold probability ({100 * summary.asked.level:g} % CI)"
        more.append(Swatch("line dotted", words))
    if len(summary.scores) == 1:
        more.insert(0, Swatch("line", "best threshold on the score", 0))
    note = (
        "Net benefit is the share of true positives minus the share of false positives times the "
        "odds of the threshold probability. That is the lowest probability at which one would act."
    )
    return Chart("nb", "Decision curve", [panel], note, _legend(summary, *more))


def benefit_end(summary: Summary) -> float:
    """The end of the axis of threshold probabilities."""
    end = float(summary.scores[0].decision_curve.threshold[-1])
    return 1.0 if end == 0.995 else end


def benefit_range(prior: float) -> tuple[float, float]:
    """The axis of net benefit: its maximum is the prevalence, and little below 0 is of interest."""
    return -0.2 * prior, 1.05 * prior


def draw_calibration(summary: Summary) -> Chart:
    panels = []
    for k, one in enumerate(summary.scores):
        r, axis, lines = one.shares, one.shares.axis, []
        chances = one.probabilities or one.calibrator is not None
        bent = chances and axis.kind == "logit"

        def up(values: Floats, bent: bool = bent, axis: Axis = axis) -> Floats:
            return axis.place(values) if bent else values

        if chances:
            ends = np.array([axis.low, axis.high])
            lines.append(Line("guide", path(axis.place(ends), up(ends))))
        if r.forecast is not None and r.band_low is not None and r.band_high is not None:
            across = axis.place(r.forecast)
            lines.append(Line("band", region(across, up(r.band_low), up(r.band_high))))
        across = axis.place(np.column_stack((r.high, r.low)).ravel())
        lines.append(Line("curve", path(across, up(np.repeat(r.share, 2)))))
        panels.append(
            Panel(
                "Predicted probability" if chances else _score_name(one),
                "Observed event rate",
                axis_ticks(axis, one.reverse and one.calibrator is None),
                axis_ticks(axis) if bent else UNIT,
                scores=[(k, lines)],
                threshold=place(one) if one.calibrator is None else None,
                of=k,
                note=_calibration_note(one),
            )
        )
    chances = any(one.probabilities or one.calibrator for one in summary.scores)
    legend = []
    if any(one.shares.forecast is not None for one in summary.scores):
        legend.append(Swatch("shade", f"{100 * summary.asked.level:g} % consistency band"))
    title = "Calibration" if chances else "Event rate by score"
    return Chart("shares", title, panels, "", legend)


def _calibration_note(one: ScoreSummary) -> str:
    words = "Observed event rate, estimated by isotonic regression."
    facts = [
        f"{word} {number_text(value)}"
        for word, value in (("Brier score", one.brier), ("log loss", one.log_loss))
        if value is not None
    ]
    if one.shares.outside is not None:
        facts.append(f"{per_cent(one.shares.outside)} of cases outside the band")
    if facts:
        words += f" {', '.join(facts)}."
    if one.cross_fitted:
        words += " Each row was calibrated by a model fitted without it (cross-fitting)."
    elif one.calibrator:
        words += " If the calibrator was fitted to these rows, this plot is optimistic."
    return words


# ---------------------------------------------------------------------------------------- by group

# So many groups are drawn, the largest: more don't fit on a screen.
MOST_GROUPS = 25


def draw_by_group(summary: Summary, measure: str) -> Chart:
    """A measure of each group, with its interval: one below the other, the largest first."""
    g = summary.group_results
    assert g is not None
    some, total = g.rows[:MOST_GROUPS], g.total[measure].value
    factor = 100.0 if is_rate(measure) else 1000.0 if measure == "cost" else 1.0
    unit = " %" if is_rate(measure) else ""
    bounds = g.bounds(measure)
    ends = [x for one in some for x in _ends(one.measures[measure])]
    ends = [factor * x for x in (0.0, total, *bounds, *ends) if np.isfinite(x)]
    low, high = min(ends), 1.04 * max(ends) or 1.0
    if is_rate(measure):
        high = min(high, 100.0)

    def across(x: float) -> int:
        return _whole((factor * x - low) / (high - low))

    lines = [Line("guide limit", f"M{across(bound)},0V1000") for bound in bounds]
    if np.isfinite(total):
        lines.append(Line("guide", f"M{across(total)},0V1000"))
    names, said = [], []
    for k, one in enumerate(some):
        e, down = one.measures[measure], (k + 0.68) / len(some)
        text = figure_text(measure, e.value, e.interval) if np.isfinite(e.value) else "undefined"
        said.append(f"{one.name}: {text}")
        missing = "" if np.isfinite(e.value) else " (undefined)"
        names.append(Tick(1 - (k + 0.3) / len(some), one.name + missing, "group"))
        if e.interval is not None:
            a, b = map(across, e.interval)
            lines.append(Line("span", f"M{a},{_whole(down)}H{b}"))
        if np.isfinite(e.value):
            lines.append(Line("at", f"M{across(e.value)},{_whole(down)}h0"))
    ticks = [Tick((v - low) / (high - low), f"{v:,.6g}{unit}") for v in _round(low, high, 5)]
    word = promise_name(measure)
    panel = Panel(word, "", ticks, names, lines, height=2.7 * len(some))
    legend = [Swatch("line", f"{100 * summary.asked.level:g} % CI", 0)]
    legend.append(Swatch("line dashed", "all rows"))
    if bounds:
        legend.append(Swatch("line limit", "limit"))
    title = f"{word[0].upper()}{word[1:]} by group"
    note = ""
    if bounds and summary.asked.confidence is not None:
        note = (
            "A limit is tested at one end of the interval and on the rows as they are; expected "
            "values are corrected for the choice."
        )
    return Chart(f"by-group-{measure}", title, [panel], note, legend, "; ".join(said) + ".")


def _ends(e: Estimate) -> tuple[float, ...]:
    return (e.value,) if e.interval is None else (e.value, *e.interval)


# --------------------------------------------------------------------------------------- in money


def draw_money(summary: Summary) -> Chart:
    """What decisions by the costs of each row cost, by the share of cases that is flagged."""
    m = summary.row_costs
    assert m is not None
    costs = {one.name: 1000 * one.cost.value for one in m.rows}
    span = m.rows[0].cost.times(1000).interval if m.expected else None
    drawn = 1000 * m.curve.cost
    ends: list[float] = [*costs.values(), *drawn.tolist()]
    if span is not None:
        ends += span.low, span.high
    low, high = min(0.0, *ends), 1.05 * max(ends)
    high = high if high > low else low + 1.0

    def up(cost: float) -> float:
        return (cost - low) / (high - low)

    def level(cost: float) -> int:
        return 1000 - _whole(up(cost))

    lines, across, legend = [], _whole(m.flagged), [Swatch("line", "on these rows", 0)]
    if "uniform" in costs:
        lines.append(Line("guide", f"M0,{level(costs['uniform'])}H1000"))
        single = f"best single threshold: {number_text(costs['uniform'])}"
        legend.append(Swatch("line dashed", single))
    if span is not None:
        lines.append(Line("whisker", f"M{across},{level(span.low)}V{level(span.high)}"))
        words = f"expected on new rows, {100 * summary.asked.level:g} % CI"
        legend.append(Swatch("line whisker", words))
    panel = Panel(
        "Flagged",
        "Cost per 1,000 cases",
        [Tick(k / 5, f"{20 * k} %") for k in range(6)],
        [Tick(up(v), f"{v:,.6g}") for v in _round(low, high, 5)],
        lines,
        [(0, [Line("curve", path(m.curve.flagged, (drawn - low) / (high - low)))])],
        [Mark("money", m.flagged, up(1000 * m.here))],
    )
    said = [
        f"Cost per 1,000 cases by the share flagged, from {number_text(float(drawn[0]))} where "
        f"nothing is flagged to {number_text(float(drawn[-1]))} where everything is. These "
        f"decisions flag {per_cent(m.flagged)} and cost {number_text(1000 * m.here)}."
    ]
    if "uniform" in costs:
        said.append(f"The best single threshold costs {number_text(costs['uniform'])}.")
    note = (
        "Cases are flagged in the order of how much flagging pays. The dot is these decisions on "
        "these rows."
    )
    return Chart("money", "Cost by share flagged", [panel], note, legend, " ".join(said))


# --------------------------------------------------------------------------------- the probability

# Lines of equal probability, and how many shades there are on either side of one half.
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_SHADES = 10


def draw_surface(summary: Summary) -> Chart:
    """The probability over two columns, in shades, with lines of equal probability and rows."""
    s = summary.grid
    assert s is not None
    axes = [Axis("linear", float(x[0]), float(x[-1])) for x in (s.x1, s.x2)]
    x1, x2, positive = s.rows
    lines = _shades(s.p)
    lines += (Line("level half" if p == 0.5 else "level", _level(s.p, p)) for p in _LEVELS)
    for kind, some in (("neg", ~positive), ("pos", positive)):
        at = zip(axes[0].place(x1[some]), axes[1].place(x2[some]), strict=True)
        d = "".join(f"M{_whole(x)},{1000 - _whole(y)}h0" for x, y in at)
        lines.append(Line(f"rows {kind}", d))
    panel = Panel(s.names[0], s.names[1], axis_ticks(axes[0]), axis_ticks(axes[1]), lines)
    legend = [Swatch("shade pos", "positive"), Swatch("shade neg", "negative")]
    legend.append(Swatch("line thin", "50 %"))
    levels = ", ".join(f"{100 * p:g} %" for p in _LEVELS if p != 0.5)
    rows = "All" if len(x1) == summary.rows else f"{len(x1):,} of the"
    note = f"From the model fitted to all rows; thin lines at {levels}. {rows} rows are shown."
    return Chart("surface", "Probability of a positive", [panel], note, legend)


def _shades(p: Floats) -> list[Line]:
    """One path for each shade: cells around the points of the grid, those side by side as one."""
    shade = np.rint(_SHADES * (2 * p - 1)).astype(int)
    rows, columns = shade.shape
    edge_x = np.rint(1000 * (np.clip(np.arange(columns + 1) - 0.5, 0, columns - 1) / (columns - 1)))
    edge_y = np.rint(1000 * (1 - np.clip(np.arange(rows + 1) - 0.5, 0, rows - 1) / (rows - 1)))
    runs: dict[int, list[str]] = {}
    for k, row in enumerate(shade):
        starts = np.append(np.flatnonzero(np.diff(row, prepend=row[0] - 1)), columns)
        bottom, top = int(edge_y[k]), int(edge_y[k + 1])
        for a, b in pairwise(starts.tolist()):
            left, right = int(edge_x[a]), int(edge_x[b])
            runs.setdefault(int(row[a]), []).append(f"M{left},{bottom}H{right}V{top}H{left}Z")
    return [
        Line(
            f"shade {'pos' if value > 0 else 'neg'}",
            "".join(cells),
            "",
            0.55 * abs(value) / _SHADES,
        )
        for value, cells in sorted(runs.items())
        if value
    ]


def _level(p: Floats, level: float) -> str:
    """The line of a probability through the squares between the points of a grid, each crossed from
    side to side where it is interpolated to be."""
    rows, columns = p.shape
    over, d = p >= level, []
    crossed = over[:-1, :-1].astype(int) + over[:-1, 1:] + over[1:, :-1] + over[1:, 1:]
    for i, j in np.argwhere((crossed > 0) & (crossed < 4)).tolist():
        corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        ends = []
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            if over[a] != over[b]:
                share = (level - p[a]) / (p[b] - p[a])
                y, x = (u + share * (v - u) for u, v in zip(a, b, strict=True))
                ends.append(f"{_whole(x / (columns - 1))},{1000 - _whole(y / (rows - 1))}")
        d += [f"M{a}L{b}" for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return "".join(d)


# -------------------------------------------------------------------------------- paths and ticks


def _whole(x: float) -> int:
    return round(1000 * x)


def path(x: ArrayLike, y: ArrayLike, *, close: bool = False) -> str:
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


def region(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> str:
    """Between two curves."""
    across = np.concatenate((np.asarray(x), np.asarray(x)[::-1]))
    around = np.concatenate((np.asarray(high), np.asarray(low)[::-1]))
    return path(across, around, close=True)


def stairs(edges: Floats, height: Floats) -> str:
    """A histogram, from the ground and back to it."""
    return path(np.repeat(edges, 2), np.concatenate(([0.0], np.repeat(height, 2), [0.0])))


def linear_ticks(low: float, high: float) -> list[Tick]:
    """Round numbers along a linear axis."""
    return [Tick((v - low) / (high - low), f"{v:g}") for v in _round(low, high, 6)]


def axis_ticks(axis: Axis, reverse: bool = False) -> list[Tick]:
    """Round numbers along an axis of scores; of negated ones as they were before."""
    logit = axis.kind == "logit"
    values = _round_chances(axis) if logit else _round(axis.low, axis.high)
    places = axis.place(np.array(values)).tolist() if values else []
    texts = [_chance(v) if logit else f"{0.0 - v if reverse else v:.6g}" for v in values]
    return [Tick(at, text) for at, text in zip(places, texts, strict=True)]


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
