"""The pictures of a page. The script moves the marks in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cutscore.report.escaped import name_of, safe
from cutscore.report.scenario import benefit_ends, live, on_score_axis, start_ratio
from cutscore.report.summary import ScoreSummary, Summary
from cutscore.report.svg import UNIT, area, line, path, region, stairs, ticks
from cutscore.report.terminal import fixed
from cutscore.report.traces import Axis
from cutscore.sweeps.sweep import Floats

# As many scores as there are colours to tell apart; the rest share the last.
COLOURS = 7


_BENEFIT_LOW = -0.2


def _figure(title: str, note: str, body: str, kind: str = "", legend: str = "") -> str:
    return (
        f'<figure class="plot {kind}"><figcaption><h3>{title}</h3>{legend}'
        f"{f'<p>{note}</p>' if note else ''}</figcaption>{body}</figure>"
    )


def _dot(key: str, x: float, y: float) -> str:
    """The operating point in a picture; hidden where it has no place."""
    nowhere = np.isnan(x + y)
    left, bottom = (0.0 if nowhere else 100 * min(max(v, 0.0), 1.0) for v in (x, y))
    return (
        f'<span class="dot" data-dot="{key}" style="left:{left:.5g}%;bottom:{bottom:.5g}%"'
        f"{' hidden' if nowhere else ''}></span>"
    )


def _rules(points: Mapping[str, tuple[float, float]]) -> str:
    """Classifiers that are single points of the ROC figure, each with its name on the side where
    there is room."""
    return "".join(
        f'<span class="point{" left" if x > 0.6 else ""}" '
        f'style="left:{100 * x:.5g}%;bottom:{100 * y:.5g}%"><i></i>{name_of(name)}</span>'
        for name, (x, y) in points.items()
    )


def _score_name(one: ScoreSummary) -> str:
    return name_of(one.name) + (", from high to low" if one.reverse else "")


def _at(one: ScoreSummary) -> float:
    """Where the threshold is along the axis of the scores."""
    return float(one.trace.axis.place(np.array([one.point.threshold]))[0])


def _weight_of_positives(summary: Summary) -> float:
    """π₊λ₊ / (π₊λ₊ + π₋λ₋)."""
    p = summary.prevalence if summary.asked.prior is None else summary.asked.prior
    odds = (1 - p) / p / float(start_ratio(summary))
    return 1 / (1 + odds)


def _handle(one: ScoreSummary, state: dict[str, str]) -> str:
    return (
        '<div class="handle" id="handle" role="slider" tabindex="0" '
        f'style="left:{100 * _at(one):.5g}%" aria-label="threshold" '
        'aria-orientation="horizontal" aria-valuemin="0" aria-valuemax="1" aria-valuenow="0" '
        f'aria-valuetext="{safe(state["headline"])}"><i></i></div>'
    )


def _each(summary: Summary, layers: Iterable[tuple[int, str]]) -> list[str]:
    """A group of lines for each score; that of the first is in front."""
    groups = [
        f'<g class="d c{min(k, COLOURS - 1)}{" on" if k == 0 else ""}" data-d="{k}">{inner}</g>'
        for k, inner in layers
    ]
    return groups[::-1] if len(summary.scores) > 1 else groups


def _legend(
    summary: Summary, more: Sequence[tuple[str, str]] = (), told: Sequence[str] = ()
) -> str:
    """The scores by name, with what is told of each, and what else is drawn."""
    names = []
    if len(summary.scores) > 1:
        for k, one in enumerate(summary.scores):
            on, more_told = (" on" if k == 0 else ""), (f" <span>{told[k]}</span>" if told else "")
            names.append(
                f'<li class="c{min(k, COLOURS - 1)}{on}" data-d="{k}"><i class="line"></i>'
                f"{name_of(one.name)}{more_told}</li>"
            )
    names += [f'<li><i class="{kind}"></i>{words}</li>' for kind, words in more]
    return f'<ul class="legend">{"".join(names)}</ul>' if names else ""


def scores_figure(summary: Summary, state: dict[str, str]) -> str:
    parts = []
    for k, one in enumerate(summary.scores):
        t = one.trace
        top, x = max(t.pos.max(), t.neg.max()) * 1.06, round(1000 * _at(one))
        layers = [
            f'<rect class="flagged" data-flagged x="{x}" y="0" width="{1000 - x}" height="1000"/>',
            line(stairs(t.edges, t.neg / top), "neg"),
            line(stairs(t.edges, t.pos / top), "pos"),
        ]
        label = f"histogram of the score {safe(one.name)}, by class"
        frame = area(
            label,
            x_name=_score_name(one),
            y_name="",
            x=ticks(t.axis, one.reverse),
            y=[],
            layers=layers,
            overlay="" if k else _handle(one, state),
            key="scores",
        )
        parts.append(f'<div class="of" data-d="{k}"{" hidden" if k else ""}>{frame}</div>')
    sides = (
        '<div class="sides"><p><b>left alone</b> '
        f'<span class="pos">{live("fn", state["fn"])} missed</span> '
        f'<span class="neg">{live("tn", state["tn"])} rightly</span></p>'
        "<p><b>flagged</b> "
        f'<span class="pos">{live("tp", state["tp"])} caught</span> '
        f'<span class="neg">{live("fp", state["fp"])} false alarms</span></p></div>'
    )
    legend = "".join(f'<li class="{w[:3]}"><i></i>{w}</li>' for w in ("positive", "negative"))
    legend = f'<ul class="legend">{legend}</ul>'
    counted = "weights are summed" if summary.weighted else "counts are of the rows"
    note = f"Each class by itself; {counted}. Drag the threshold, or move it with the arrow keys."
    return _figure(
        "Scores", note, f'{sides}<div class="stack">{"".join(parts)}</div>', "wide", legend
    )


def _rates(summary: Summary, one: ScoreSummary) -> tuple[Floats, Floats]:
    return one.trace.fp / summary.N, one.trace.tp / summary.P


def roc(summary: Summary, points: Mapping[str, tuple[float, float]]) -> str:
    layers = []
    c = summary.scores[0].point.confusion
    for k, one in enumerate(summary.scores):
        fpr, tpr = _rates(summary, one)
        t, inner = one.trace, ""
        if t.band is not None:
            inner += line(region(t.band.fpr, t.band.low, t.band.high), "band")
        at = t.vertex
        corners_x = np.concatenate(([0.0], fpr[at], [1.0]))
        corners_y = np.concatenate(([0.0], tpr[at], [1.0]))
        inner += line(path(corners_x, corners_y), "hull")
        inner += line(path(np.concatenate(([0.0], fpr)), np.concatenate(([0.0], tpr))), "curve")
        layers.append((k, inner))
    lines = [
        line("M0,1000L1000,0", "guide"),
        *_each(summary, layers),
        '<path class="iso" data-iso d=""/>',
    ]
    frame = area(
        "ROC curve",
        x_name="false alarm rate",
        y_name="recall",
        x=UNIT,
        y=UNIT,
        layers=lines,
        overlay=_rules(points) + _dot("roc", c.fpr, c.recall),
        key="roc",
    )
    more = [("line thin", "convex hull"), ("line dashed", "chance")]
    more.append(("line dotdash", "equal costs"))
    if any(one.trace.band is not None for one in summary.scores):
        more.insert(1, ("shade", f"{100 * summary.asked.level:g} % band"))
    aucs = [f"AUC {fixed(one.auc)}" for one in summary.scores]
    note = f"{aucs[0]}." if len(aucs) == 1 else ""
    return _figure("ROC", note, frame, "", _legend(summary, more, aucs))


def precision_steps(prior: float, tpr: Floats, fpr: Floats) -> tuple[Floats, Floats]:
    """Recall and precision of cases with the share ``prior`` of positives, from the first cut that
    flags anything: steps, whose area is the average precision."""
    some = tpr + fpr > 0
    right, wrong = prior * tpr[some], (1 - prior) * fpr[some]
    recall = np.concatenate(([0.0], tpr[some]))
    return np.repeat(recall, 2)[1:-1], np.repeat(right / (right + wrong), 2)


def pr(summary: Summary) -> str:
    prior = summary.asked.prior or summary.prevalence
    layers = []
    for k, one in enumerate(summary.scores):
        fpr, tpr = _rates(summary, one)
        d = path(*precision_steps(prior, tpr, fpr))
        layers.append((k, f'<path class="curve" data-pr="{k}" d="{d}"/>'))
    y = round(1000 * (1 - prior))
    lines = [f'<path class="guide" data-base d="M0,{y}H1000"/>', *_each(summary, layers)]
    c = summary.scores[0].point.deployed
    frame = area(
        "precision-recall curve",
        x_name="recall",
        y_name="precision",
        x=UNIT,
        y=UNIT,
        layers=lines,
        overlay=_dot("pr", c.recall, c.precision),
        key="pr",
    )
    areas = [f"average precision {one.average_precision:.4f}" for one in summary.scores]
    note = f"A{areas[0][1:]}, on these rows." if len(areas) == 1 else ""
    more = [("line dashed", "flagging at random")]
    return _figure("Precision–recall", note, frame, "", _legend(summary, more, areas))


def costs(summary: Summary) -> str:
    layers = []
    for k, one in enumerate(summary.scores):
        fpr, tpr = (x[one.trace.vertex] for x in _rates(summary, one))
        grid = np.linspace(0, 1, 401)
        layers.append((k, line(path(grid, _envelope(grid, fpr, 1 - tpr) * 2), "curve")))
    lines = [
        line("M0,1000L500,0L1000,1000", "guide"),
        *_each(summary, layers),
        '<path class="iso" data-line d=""/>',
    ]
    y = [(k / 5, f"{k / 10:g}") for k in range(6)]
    c, at = summary.scores[0].point.confusion, _weight_of_positives(summary)
    frame = area(
        "cost curve",
        x_name="weight of the positives",
        y_name="normalised cost",
        x=UNIT,
        y=y,
        layers=lines,
        overlay=_dot("cost", at, 2 * (c.fnr * at + c.fpr * (1 - at))),
        key="cost",
    )
    note = (
        "The least cost that a threshold reaches, for every weight of the positives: their share "
        "times the cost of a miss, as a part of that and the share of negatives times the cost of "
        "a false alarm."
    )
    more = [("line dashed", "without scores"), ("line thin", "this threshold")]
    return _figure("Cost curve", note, frame, "", _legend(summary, more))


def _envelope(x: Floats, fpr: Floats, fnr: Floats) -> Floats:
    """The least of the straight lines FNR·x + FPR·(1 − x)."""
    best = np.full(len(x), np.inf)
    for start in range(0, len(fpr), 512):
        part = slice(start, start + 512)
        costs = np.outer(fnr[part], x) + np.outer(fpr[part], 1 - x)
        best = np.minimum(best, costs.min(axis=0))
    return best


def _decades(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten along the axis of net benefit, no more than there is room for."""
    first, last = round(np.log10(low)), round(np.log10(high))
    every = range(first, last + 1, 1 if last - first <= 5 else 2)
    return [((k - first) / (last - first), f"{10.0**k:,.10g}") for k in every]


def benefit(summary: Summary) -> str:
    prior = summary.asked.prior or summary.prevalence
    grid = np.linspace(0, 1, 241)
    ends = benefit_ends(summary)
    low, high = np.log(ends)
    ratio = np.exp(low + grid * (high - low))
    alarm = (1 - prior) / prior / ratio  # what a false alarm takes from the share caught
    layers = []
    for k, one in enumerate(summary.scores):
        fpr, tpr = (x[one.trace.vertex] for x in _rates(summary, one))
        best = np.full(len(grid), -np.inf)
        for start in range(0, len(fpr), 512):
            part = slice(start, start + 512)
            best = np.maximum(best, (tpr[part, None] - np.outer(fpr[part], alarm)).max(axis=0))
        inner = f'<path class="curve" data-nb="{k}" d="{path(grid, _height(best))}"/>'
        if one.probabilities:
            fpr, tpr = _rates(summary, one)
            at = _acting(one.trace.threshold, 1 / (1 + ratio))
            acting = tpr[at] - fpr[at] * alarm
            inner += f'<path class="acting" data-act="{k}" d="{path(grid, _height(acting))}"/>'
        layers.append((k, inner))
    zero = round(1000 * (1 - float(_height(np.zeros(1))[0])))
    lines = [
        f'<path class="guide solid" d="M0,{zero}H1000"/>',
        f'<path class="guide" data-all d="{path(grid, _height(1 - alarm))}"/>',
        *_each(summary, layers),
    ]
    y = [(float(_height(np.array([v]))[0]), f"{v:g}") for v in (-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    c, at = summary.scores[0].point.confusion, _weight_of_positives(summary)
    here = (np.log(float(start_ratio(summary))) - low) / (high - low)
    here = here if 0 <= here <= 1 else np.nan
    benefit = _height(np.array([c.recall - c.fpr * (1 - at) / at]))
    frame = area(
        "net benefit",
        x_name="a miss costs as many false alarms",
        y_name="net benefit, share of the best",
        x=_decades(*ends),
        y=y,
        layers=lines,
        overlay=_dot("nb", here, float(benefit[0])),
        key="nb",
    )
    more = [("line dashed", "flag all")]
    if any(one.probabilities for one in summary.scores):
        more.append(("line dotted", "acting on the score as a probability"))
    note = "Positives caught, less false alarms at their price, as a share of all positives."
    return _figure("Net benefit", note, frame, "", _legend(summary, more))


def _height(benefit: Floats) -> Floats:
    return np.asarray((np.maximum(benefit, 2 * _BENEFIT_LOW) - _BENEFIT_LOW) / (1 - _BENEFIT_LOW))


def _acting(threshold: Floats, chance: Floats) -> Any:
    """The cuts of those who flag from a probability on."""
    return np.searchsorted(-threshold, -chance, side="right") - 1


def shares(summary: Summary) -> str:
    parts = []
    for k, one in enumerate(summary.scores):
        r = one.shares
        chances = one.probabilities or one.calibrator is not None
        axis = r.axis
        lines = []

        def up(values: Floats, chances: bool = chances, axis: Any = axis) -> Floats:
            return axis.place(values) if chances and axis.kind == "logit" else values

        y = ticks(axis) if chances and axis.kind == "logit" else UNIT
        x = ticks(axis, one.reverse)
        if chances:
            ends = np.array([axis.low, axis.high])
            lines.append(line(path(axis.place(ends), up(ends)), "guide"))
        if r.forecast is not None and r.band_low is not None and r.band_high is not None:
            at = axis.place(r.forecast)
            lines.append(line(region(at, up(r.band_low), up(r.band_high)), "band"))
        across = axis.place(np.column_stack((r.high, r.low)).ravel())
        lines.append(line(path(across, up(np.repeat(r.share, 2))), "curve"))
        mark = f'<span class="rule" data-rule style="left:{100 * _at(one):.5g}%"></span>'
        mark = mark if on_score_axis(one) else ""
        group = f'<g class="d on c{min(k, COLOURS - 1)}">{"".join(lines)}</g>'
        name = "calibrated probability" if one.calibrator else _score_name(one)
        frame = area(
            f"share of positives by {safe(one.name)}",
            x_name=name,
            y_name="share of positives",
            x=x,
            y=y,
            layers=[group],
            overlay=mark,
            key="shares",
        )
        what = _reliability_note(one)
        parts.append(
            f'<div class="of" data-d="{k}"{" hidden" if k else ""}><p class="note">{what}</p>'
            f"{frame}</div>"
        )
    title = (
        "Reliability" if any(one.probabilities for one in summary.scores) else "What a score means"
    )
    legend = ""
    if any(one.shares.forecast is not None for one in summary.scores):
        band = f"{100 * summary.asked.level:g} % band if calibrated"
        legend = f'<ul class="legend"><li><i class="shade"></i>{band}</li></ul>'
    return (
        f'<figure class="plot shares"><figcaption><h3>{title}</h3>{legend}</figcaption>'
        f"{''.join(parts)}</figure>"
    )


def _reliability_note(one: ScoreSummary) -> str:
    if not (one.probabilities or one.calibrator):
        return "The share of positives at each score, by isotonic regression."
    words = []
    if one.brier is not None:
        words.append(f"Brier score {one.brier:.4f}")
    if one.log_loss is not None:
        words.append(f"log loss {one.log_loss:.4f}")
    if one.shares.outside is not None:
        words.append(f"{100 * one.shares.outside:.3g} % of cases outside of the band")
    text = ", ".join(words)
    more = ""
    if one.cross_fitted:
        more += " Each probability is by a calibrator that was fitted to other rows."
    elif one.calibrator:
        more += " If the calibrator was fitted to these rows, it looks better than it is."
    return f"{text[:1].upper()}{text[1:]}.{more}"


def confusion(summary: Summary, state: dict[str, str]) -> str:
    def cell(key: str, word: str, kind: str) -> str:
        return (
            f'<td class="{kind}">{live(key, state[key], "b")}<span>{word}</span>'
            f"{live(f'{key}-share', state[f'{key}-share'], 'em')}</td>"
        )

    counted = "Weight of the rows" if summary.weighted else "Rows"
    return (
        '<figure class="plot matrix"><figcaption><h3>Confusion matrix</h3>'
        f"<p>{counted} of the data, at this threshold.</p></figcaption>"
        '<table><thead><tr><td></td><th scope="col">flagged</th><th scope="col">left alone</th>'
        '</tr></thead><tbody><tr><th scope="row">positive</th>'
        + cell("tp", "caught", "good pos")
        + cell("fn", "missed", "bad pos")
        + '</tr><tr><th scope="row">negative</th>'
        + cell("fp", "false alarms", "bad neg")
        + cell("tn", "rightly", "good neg")
        + "</tr></tbody></table></figure>"
    )


# Lines of equal probability, and how many shades there are on either side of one half.
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_SHADES = 10


def surface(summary: Summary) -> str:
    """The probability over two columns, in shades, with lines of equal probability and rows."""
    s = summary.grid
    if s is None:
        return ""
    axes = [Axis("linear", float(x[0]), float(x[-1])) for x in (s.x1, s.x2)]
    x1, x2, positive = s.rows
    layers = _shades(s.p)
    for level in _LEVELS:
        kind = "level half" if level == 0.5 else "level"
        layers.append(line(_level(s.p, level), kind))
    for kind, some in (("neg", ~positive), ("pos", positive)):
        at = zip(axes[0].place(x1[some]), axes[1].place(x2[some]), strict=True)
        d = "".join(f"M{round(1000 * x)},{round(1000 * (1 - y))}h0" for x, y in at)
        layers.append(line(d, f"rows {kind}"))
    frame = area(
        f"probability over {safe(s.names[0])} and {safe(s.names[1])}",
        x_name=name_of(s.names[0]),
        y_name=name_of(s.names[1]),
        x=ticks(axes[0]),
        y=ticks(axes[1]),
        layers=layers,
    )
    legend = "".join(f'<li class="{w[:3]}"><i></i>{w}</li>' for w in ("positive", "negative"))
    legend += '<li><i class="line thin"></i>one half</li>'
    told = ", ".join(f"{100 * level:g} %" for level in _LEVELS if level != 0.5)
    note = (
        f"By the detector of all rows; thin lines are at {told}. "
        f"{'The' if len(x1) == summary.rows else f'{len(x1):,} of the'} rows are drawn."
    )
    return _figure(
        "Probability of a positive", note, frame, "", f'<ul class="legend">{legend}</ul>'
    )


def _shades(p: Floats) -> list[str]:
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
        f'<path class="shade {"pos" if value > 0 else "neg"}" '
        f'fill-opacity="{0.55 * abs(value) / _SHADES:.3g}" d="{"".join(cells)}"/>'
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
                ends.append(
                    f"{round(1000 * x / (columns - 1))},{round(1000 * (1 - y / (rows - 1)))}"
                )
        d += [f"M{a}L{b}" for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return "".join(d)
