"""The report as one page: a self-contained HTML file that makes no network requests.

The page is complete as it is written: words, numbers and charts are there without a script. The
script (``page.js``) moves the operating point; it has the cuts of each score as integers, chooses
by the rule of :func:`cutscore.choose` and formats as Python does.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cutscore import __version__
from cutscore.core.findings.base import PAGE, Note
from cutscore.core.numbers import number_text
from cutscore.decision.verdict import State
from cutscore.decision.words import headline, limit_lines, limit_outcome
from cutscore.measures.confusion import Confusion, count_text
from cutscore.measures.registry import WORDS, is_rate
from cutscore.policy.words import promise_name
from cutscore.report.charts import (
    COLOURS,
    MOST_GROUPS,
    draw_money,
    histograms,
    normal_histogram,
)
from cutscore.report.registry import charts, charts_by_group
from cutscore.report.scenario import (
    given_costs,
    prior_steps,
    ratio_steps,
    script_data,
    share_text,
    start_ratio,
    start_texts,
    threshold_text,
    why,
)
from cutscore.report.summary import (
    AVERAGES,
    UNKNOWN,
    Estimate,
    NormalSummary,
    ScoreSummary,
    Summary,
    aim_words,
    estimates,
    group_means,
    listed,
    measures_of,
    normal_rows_text,
    rows_text,
)
from cutscore.report.words import measure_word, word_for
from cutscore.sweeps.hull import check_points

if TYPE_CHECKING:
    from jinja2 import Environment

# As many scores as a printed sheet has room for, with their intervals.
_BESIDE = 3


def render(
    summary: Summary | NormalSummary,
    title: str = "Report",
    command: str = "",
    *,
    points: Mapping[str, tuple[float, float]] | None = None,
    date: str | None = None,
) -> str:
    """A self-contained page of a summary: one file that opens from disk, and reads without scripts.

    Parameters
    ----------
    summary
        From :func:`cutscore.report.summarise` or :func:`cutscore.report.summarise_policy`.
    title
        The title of the page.
    command
        The command that made it, to be shown at its end.
    points
        Classifiers without a score, such as rules: their rates (FPR, TPR) by name, drawn beside the
        ROC curves.
    date
        When it was made, for display; now if left out.

    Returns
    -------
    str
        HTML. Write it as UTF-8.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.report import render, summarise
    >>> y = np.repeat([1, 0], 50)
    >>> page = render(summarise(y, {"mine": np.linspace(1, 0, 100)}), "Mine")
    >>> page.startswith("<!doctype html>"), "Flag from 0.5 on" in page
    (True, False)
    """
    environment = _environment()
    loader = environment.loader
    assert loader is not None
    script, style = (loader.get_source(environment, f"page.{kind}")[0] for kind in ("js", "css"))
    shared: dict[str, Any] = {
        "title": title,
        "command": command,
        "version": __version__,
        "date": date or f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "style": style,
        "summary": summary,
        "colours": COLOURS,
        "level": f"{100 * summary.asked.level:g} %",
        "warnings": [found for found in summary.notices if not isinstance(found, Note)],
        "notes": [found for found in summary.notices if isinstance(found, Note)],
        "most": max((one.value for one in summary.importances), default=0.0) or 1.0,
        "largest": max((abs(w.scaled) for w in summary.weights), default=0.0) or 1.0,
    }
    if isinstance(summary, NormalSummary):
        return environment.get_template("normal.html").render(shared | _normal(summary))
    one = summary.scores[0]
    ratios, ratio_at = ratio_steps(start_ratio(summary))
    priors, prior_at = prior_steps(summary)
    own, by_row = summary.own_thresholds, summary.row_costs is not None
    return environment.get_template("page.html").render(
        shared,
        # A threshold for each group or row is no point on a slider.
        interactive=summary.on_score,
        own=own,
        by_row=by_row,
        at_threshold="Rates of these decisions"
        if by_row
        else "At these thresholds"
        if own
        else "At this threshold",
        money_chart=draw_money(summary) if by_row else None,
        by_group=None if summary.group_results is None else _by_group(summary),
        script=script,
        # No script but ours runs, and nothing is fetched, whatever the data say.
        script_hash=b64encode(sha256(script.encode()).digest()).decode("ascii"),
        data=script_data(summary) if summary.on_score else None,
        one=one,
        texts=start_texts(summary, one),
        unusable=one.verdict.state is State.UNUSABLE,
        rows_text=rows_text(summary),
        costs_given=by_row or given_costs(summary) is not None,
        ratios=ratios,
        ratio_at=ratio_at,
        priors=priors,
        prior_at=prior_at,
        prior_text=share_text(summary.prior),
        bars=_bars(one.point.deployed),
        cuts=len(one.trace.cut),
        cut_at=_from_the_end(one, one.point.cut),
        review_at=_from_the_end(one, one.point.cut_indices[-1]),
        points=_points(points),
        histograms=histograms(summary),
        charts=charts(summary),
        measures=[(name, WORDS[name]) for name in measures_of(summary.asked)],
        three_way=summary.asked.three_way,
        groups=None if summary.groups is None else _groups(summary),
        tables=_tables(summary),
        why=why(summary),
    )


def _by_group(summary: Summary) -> dict[str, Any]:
    """The table of groups, and their charts."""
    g = summary.group_results
    assert g is not None
    rows = [("all rows", "", count_text(summary.P + summary.N), count_text(summary.P), g.total)]
    rows += [
        (
            one.name,
            repr(one.threshold).replace("inf", "∞"),
            count_text(one.rows),
            count_text(one.positives),
            one.measures,
        )
        for one in g.rows
    ]
    drawn = f"The {MOST_GROUPS} largest of {len(g.rows):,} groups are drawn."
    return {
        "column": g.column,
        "own": g.own,
        "lines": g.lines,
        "words": [promise_name(name) for name in g.measures],
        "rows": [
            # Where there is little room, an interval stands below its value.
            (*row, [text.partition(" (")[::2] for text in estimates(measures)])
            for *row, measures in rows
        ],
        "charts": charts_by_group(summary),
        "left_out": drawn if len(g.rows) > MOST_GROUPS else "",
    }


def _normal(summary: NormalSummary) -> dict[str, Any]:
    """What the page of normal rows shows."""
    p = summary.point
    c, rule = p.confusion, headline(p, summary.reverse)
    return {
        "interactive": False,
        "three_way": False,
        "rows_text": normal_rows_text(summary),
        "unknown": UNKNOWN,
        "unusable": summary.verdict.state is State.UNUSABLE,
        "rule": rule[0].lower() + rule[1:],
        "objective": aim_words(p),
        "fpr": summary.fpr.text(rate=True),
        "alarms": [(words, e.text()) for words, e in summary.alarms],
        "counted": f"{count_text(c.fp)} of {count_text(c.negatives)}",
        "limits": limit_lines(p),
        "chart": normal_histogram(summary),
        "side": "at most" if summary.reverse else "at least",
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("cutscore.report", ""),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        finalize=clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "estimate": Estimate.text,
        "number": number_text,
        "measure_word": measure_word,
        "said": lambda found: found.render(PAGE),
        "parts": _parts,
    }
    plain = {"allow_nan": False, "separators": (",", ":")}
    environment.policies["json.dumps_kwargs"] = plain
    return environment


def clean(value: object) -> Any:
    """Text that any file can hold: no lone surrogates, no control characters. Applied to all that
    a template writes, before it is escaped."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    whole = value.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() or c in "\n\t " else "\ufffd" for c in whole)


def _parts(text: str) -> list[str]:
    """A sentence in parts; every other one is an option of the command."""
    return re.split(r"(?<!\S)(--[a-z][a-z-]*)", text)


def _from_the_end(one: ScoreSummary, cut: int) -> int:
    """Where a slider is that moves from the lowest threshold to the highest."""
    return len(one.trace.cut) - 1 - int(np.searchsorted(one.trace.cut, cut))


def _bars(d: Confusion) -> dict[str, str]:
    """Widths in per cent."""
    rates = {
        "caught": d.recall,
        "reviewed": d.reviewed_positives / d.positives,
        "missed": d.fnr,
        "right": d.precision,
        "wrong": 1 - d.precision,
    }
    return {key: f"{100 * float(np.nan_to_num(rate)):.4g}" for key, rate in rates.items()}


def _points(points: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    return {} if points is None else check_points(points)


def _groups(summary: Summary) -> dict[str, Any]:
    """The table of groups: some groups by the first score, then the averages."""
    assert summary.groups is not None
    every = list(summary.groups.by_score.values())
    first, level = every[0], summary.asked.level
    order, which = listed(first)
    means = [group_means(g, level) for g in every]
    return {
        "which": which,
        "count": len(first),
        "rows": [
            (
                str(first.group[k]),
                count_text(first.P[k]),
                count_text(first.N[k]),
                [number_text(float(g.auc[k])) for g in every],
            )
            for k in order
        ],
        "averages": [
            (name, words, [m[name].text() if m else "–" for m in means])
            for name, words in AVERAGES.items()
        ],
    }


def _tables(summary: Summary) -> list[tuple[list[str], list[list[str]]]]:
    """All numbers: the names of some scores, and rows of a word and a text for each."""
    scores = summary.scores
    rows: list[tuple[str, list[str]]] = [
        ("AUC", [one.auc.text() for one in scores]),
        ("average precision", [number_text(one.average_precision) for one in scores]),
        ("AUC of the convex hull", [number_text(one.hull_auc) for one in scores]),
        ("vertices of the convex hull", [f"{one.hull_vertices:,}" for one in scores]),
        ("distinct scores", [f"{one.distinct:,}" for one in scores]),
        ("lowest, highest score", [f"{one.lowest:.6g}, {one.highest:.6g}" for one in scores]),
    ]
    for word, what in (("Brier score", "brier"), ("log loss", "log_loss")):
        values = [getattr(one, what) for one in scores]
        if any(value is not None for value in values):
            rows.append((word, ["" if v is None else number_text(v) for v in values]))
    words = {
        "true positives": "tp",
        "false negatives": "fn",
        "false positives": "fp",
        "true negatives": "tn",
    }
    if summary.asked.three_way:
        at = [threshold_text(one, one.point.cuts.review) for one in scores]
        rows.append(("threshold for reviewing", at))
        words = {
            "positives blocked": "tp",
            "positives reviewed": "reviewed_pos",
            "positives passed": "fn",
            "negatives blocked": "fp",
            "negatives reviewed": "reviewed_neg",
            "negatives passed": "tn",
        }
    which = "threshold for blocking" if summary.asked.three_way else "threshold"
    if summary.on_score:
        rows.append((which, [threshold_text(one) for one in scores]))
    for word, cell in words.items():
        counts = [count_text(getattr(one.point.confusion, cell)) for one in scores]
        rows.append((f"{word}, on these rows", counts))
    for name in (*measures_of(summary.asked), "cost"):
        if name in scores[0].measures:
            word, rate = word_for(name, summary.asked.prior), is_rate(name)
            found = [one.measures[name] for one in scores]
            if name == "cost":
                word, found = "cost per 1,000 cases", [one.times(1000) for one in found]
            if any(one.interval is not None for one in found):
                word += ", expected on new rows"
            rows.append((word, [one.text(rate=rate) for one in found]))
    for k, status in enumerate(scores[0].point.status):
        each = [(one.point, one.point.status[k]) for one in scores]
        limit = scores[0].point.question.limits[k]
        values = [f"{limit_outcome(p, t)} ({limit.value_text(t.value)})" for p, t in each]
        rows.append((status.limit, values))
    # Below each other rather than beyond the edge of a sheet.
    tables = -(-len(scores) // _BESIDE)
    ends = [round(k * len(scores) / tables) for k in range(tables + 1)]
    return [
        ([one.name for one in scores[a:b]], [[word, *texts[a:b]] for word, texts in rows])
        for a, b in pairwise(ends)
    ]
