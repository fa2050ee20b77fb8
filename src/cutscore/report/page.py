"""The report as one page: no network, no other files.

The page is complete as it is written: words, numbers and pictures are there without a script. The
script (``page.js``) moves the operating point; it has the cuts of each score as integers, chooses
by the rule of :func:`cutscore.choose` and formats as Python does.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise

import numpy as np

from cutscore import __version__
from cutscore.core.findings.base import PAGE
from cutscore.decision.choice import outcome
from cutscore.measures.confusion import Confusion, counted
from cutscore.measures.measure import WORDS
from cutscore.report import figures
from cutscore.report.escaped import name_of, safe, sentence
from cutscore.report.figures import COLOURS
from cutscore.report.scenario import (
    about_costs,
    cost_word,
    given_costs,
    live,
    page_data,
    prior_steps,
    ratio_steps,
    share_text,
    start_ratio,
    state_of,
    threshold_text,
    why,
)
from cutscore.report.summary import (
    AVERAGES,
    MEASURES,
    Difference,
    Estimate,
    Summary,
    group_means,
    listed,
    rows_text,
)
from cutscore.report.terminal import fixed, general, measured, word_for
from cutscore.sweeps.hull import check_points

# As many scores as a printed sheet has room for, with their intervals.
_BESIDE = 3


def render(
    summary: Summary,
    title: str = "Report",
    command: str = "",
    *,
    points: Mapping[str, tuple[float, float]] | None = None,
) -> str:
    """A self-contained page of a summary: one file that opens from disk, and reads without scripts.

    Parameters
    ----------
    summary
        From :func:`cutscore.report.summarise`.
    title
        The title of the page.
    command
        The command that made it, to be shown at its end.
    points
        Classifiers without a score, such as rules: their rates (FPR, TPR) by name, drawn beside the
        ROC curves.

    Returns
    -------
    str
        HTML. Write it as UTF-8.

    Examples
    --------
    >>> from cutscore.report import render, summarise
    >>> page = render(summarise([1, 0, 1, 0], {"mine": [0.9, 0.4, 0.6, 0.2]}), "Mine")
    >>> page.startswith("<!doctype html>"), "Flag from 0.5 on" in page
    (True, True)
    """
    rules = {} if points is None else check_points(points)
    script, style = _resource("page.js"), _resource("page.css")
    # No script but ours runs, and nothing is fetched, whatever the data say.
    digest = b64encode(sha256(script.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta name="generator" content="cutscore {escape(__version__)}">',
            f"<title>{safe(title)}</title>\n<style>\n{style}</style></head>\n<body>\n",
            _body(summary, title, command, rules),
            f'\n<script type="application/json" id="data">{page_data(summary)}</script>',
            f"\n<script>{script}</script>\n</body></html>\n",
        )
    )


def _resource(name: str) -> str:
    return files("cutscore.report").joinpath(name).read_text(encoding="utf-8")


def _body(
    summary: Summary, title: str, command: str, points: Mapping[str, tuple[float, float]]
) -> str:
    one = summary.scores[0]
    state = state_of(summary, one)
    sections = [
        figures.scores_figure(summary, state),
        '<div class="plots">',
        figures.roc(summary, points),
        figures.pr(summary),
        figures.costs(summary),
        figures.benefit(summary),
        figures.shares(summary),
        figures.confusion(summary, state),
        figures.surface(summary),
        "</div>",
        _measures(summary, state),
        _compared(summary),
        _by_group(summary),
        _learned(summary),
        _everything(summary),
    ]
    return (
        '<a class="skip" href="#main">Skip to the answer</a>'
        '<header class="top"><span class="brand">cutscore</span>'
        '<button type="button" id="theme" class="quiet" hidden>Theme: auto</button></header>'
        f'<div class="title"><h1>{safe(title)}</h1><p class="sub">{_sub(summary)}</p></div>'
        f'<main id="main" class="layout{"" if given_costs(summary) else " uncosted"}">'
        f"{_answer(state, one.point.deployed)}"
        f'{_controls(summary, state)}<div class="rest">'
        f"{_notices(summary)}{''.join(sections)}</div></main>"
        f"<footer><p>{_foot(summary)}</p>{_made(command)}</footer>"
        '<p class="unseen" role="status" aria-live="polite" id="status"></p>'
        '<div id="tip" hidden></div>'
    )


def _sub(summary: Summary) -> str:
    facts = [safe(rows_text(summary))]
    if summary.label:
        facts.append(f"positive is {name_of(summary.label)}")
    if summary.source:
        facts.append(f"from {name_of(summary.source)}")
    return " · ".join(facts)


def _foot(summary: Summary) -> str:
    level = f"{100 * summary.asked.level:g} %"
    names = [name_of(one.name) for one in summary.scores if one.reverse]
    low = f"; by {' and '.join(names)}, where low means positive, if at most that" if names else ""
    return (
        f"A case is flagged if its score is at least the threshold{low}. Intervals are at {level}. "
        "Sliders choose among all cuts of the scores, exactly, and tell what these do on these "
        "rows. "
        f"Made by cutscore {escape(__version__)}."
    )


def _made(command: str) -> str:
    return f"<p>The command was <code>{sentence(command)}</code></p>" if command else ""


def _notices(summary: Summary) -> str:
    if not summary.notices:
        return ""
    lines = "".join(f"<li>{sentence(found.render(PAGE))}</li>" for found in summary.notices)
    return f'<section class="notices" aria-label="Warnings"><ul>{lines}</ul></section>'


def _answer(state: dict[str, str], d: Confusion) -> str:
    def bar(key: str, kind: str, share: float) -> str:
        wide = 0.0 if np.isnan(share) else 100 * share
        return f'<i class="{kind}" data-bar="{key}" style="width:{wide:.4g}%"></i>'

    return (
        '<section class="answer" aria-labelledby="answer">'
        f'<h2 id="answer">{live("headline", safe(state["headline"]))}</h2>'
        f'<p class="told expected">{live("expected", safe(state["expected"]))}</p>'
        f'<p class="told">On these rows: {live("natural", safe(state["natural"]))}</p>'
        '<div class="bars" aria-hidden="true">'
        '<div class="bar"><b>positives</b><span class="track">'
        f"{bar('caught', 'caught', d.recall)}{bar('missed', 'missed', d.fnr)}</span>"
        f"<em>{live('tp-share', state['tp-share'])} caught</em></div>"
        '<div class="bar"><b>flagged</b><span class="track">'
        f"{bar('right', 'caught', d.precision)}{bar('wrong', 'alarm', 1 - d.precision)}</span>"
        f"<em>{live('right-share', state['right-share'])} right</em></div></div>"
        f"{live('why', safe(state['why']), 'p', ' class=why')}</section>"
    )


def _controls(summary: Summary, state: dict[str, str]) -> str:
    ratios, at = ratio_steps(start_ratio(summary))
    priors, here = prior_steps(summary)
    prior = summary.asked.prior if summary.asked.prior is not None else summary.prevalence
    pick = ""
    if len(summary.scores) > 1:
        choices = "".join(
            f'<label class="c{min(k, COLOURS - 1)}"><input type="radio" name="score" value="{k}"'
            f"{' checked' if k == 0 else ''}><span>{name_of(one.name)}</span></label>"
            for k, one in enumerate(summary.scores)
        )
        pick = f'<fieldset class="pick"><legend>Score</legend>{choices}</fieldset>'
    t = summary.scores[0].trace
    position = int(np.searchsorted(t.cut, summary.scores[0].point.cut))
    return (
        '<aside class="controls" aria-label="What if"><form id="controls" autocomplete="off">'
        f'{pick}<div class="control"><label for="ratio">A miss costs as much as</label>'
        f'<span class="value"><input type="number" id="ratio-number" min="0.000001" step="any" '
        f'value="{ratios[at]}" aria-label="cost of a miss, in false alarms"> false alarms</span>'
        f'<input type="range" id="ratio" min="0" max="{len(ratios) - 1}" value="{at}" step="1">'
        f"{_noted(about_costs(summary))}</div>"
        '<div class="control"><label for="prior">Of all cases</label>'
        '<span class="value"><input type="number" id="prior-number" min="0.0001" max="99.99" '
        f'step="any" value="{share_text(prior)}" aria-label="share of positives in per cent"> '
        "% are positive</span>"
        f'<input type="range" id="prior" min="0" max="{len(priors) - 1}" value="{here}" step="1">'
        "</div>"
        '<div class="control"><label for="cut">'
        f"{live('sense', state['sense'])}</label>"
        f'<span class="value big">{live("threshold", state["threshold"])}</span>'
        f'<input type="range" id="cut" min="0" max="{len(t.cut) - 1}" '
        f'value="{len(t.cut) - 1 - position}" step="1"></div>'
        '<div class="buttons"><button type="button" id="best">Best for these costs</button>'
        '<button type="button" id="reset" class="quiet">As asked</button></div></form>'
        '<dl class="key"><div><dt>on these rows</dt></div>'
        + "".join(
            f"<div><dt>{WORDS[name]}</dt>{live(name, state[name], 'dd')}</div>"
            for name in ("recall", "precision", "fpr")
        )
        + f"<div><dt>{cost_word(summary)}</dt>{live('cost', state['cost'], 'dd')}</div>"
        "</dl></aside>"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table of trusted cells; the first of a row is its name."""
    cols = "".join(f'<th scope="col">{cell}</th>' for cell in head) if any(head) else ""
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{c}</td>" for c in row[1:]) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table class="numbers {kind}">'
        f"{f'<thead><tr>{cols}</tr></thead>' if cols else ''}"
        f"<tbody>{body}</tbody></table></div>"
    )


def _section(title: str, body: str, note: str = "") -> str:
    return f"<section><h2>{title}</h2>{_noted(note)}{body}</section>"


def _noted(text: str) -> str:
    return f'<p class="note">{text}</p>' if text else ""


def _measures(summary: Summary, state: dict[str, str]) -> str:
    rows = [
        (
            cost_word(summary) if name == "cost" else WORDS[name],
            live(f"{name}-expected", state[f"{name}-expected"]),
            live(name, state[name]),
        )
        for name in (*MEASURES, "cost")
    ]
    level = f"to expect on new rows, {100 * summary.asked.level:g} % interval"
    return _section(
        "At this threshold",
        _table(("measure", level, "on these rows"), rows, "live"),
        "What to expect is known of the threshold that was asked for: it was chosen again without "
        "the rows it is judged on.",
    )


def _compared(summary: Summary) -> str:
    if len(summary.scores) < 2:
        return ""
    rows = [
        (
            f'<i class="chip c{min(k, COLOURS - 1)}"></i>{name_of(one.name)}',
            fixed(one.auc),
            f"{one.average_precision:.4f}",
            live(f"best-{k}", ""),
            live(f"best-cost-{k}", ""),
        )
        for k, one in enumerate(summary.scores)
    ]
    head = ("score", "AUC", "average precision", "best threshold", cost_word(summary))
    body = _table(head, rows)
    body += _table(
        ("difference of AUCs", "", "p-value"),
        [_difference(d) for d in summary.differences],
    )
    return _section(
        "Scores compared",
        body,
        "Each at its own best threshold for the costs and the share of positives that are set; "
        "differences by DeLong's method, on the same rows.",
    )


def _difference(d: Difference) -> tuple[str, str, str]:
    p_value = "these rows can't tell" if d.p_value is None else f"{d.p_value:.2g}"
    value = general(Estimate(d.difference, d.interval))
    return f"{name_of(d.a)} − {name_of(d.b)}", value, p_value


def _by_group(summary: Summary) -> str:
    if summary.groups is None:
        return ""
    groups = summary.groups
    every = list(groups.by_score.values())
    first = every[0]
    order, which = listed(first)
    rows = [
        (
            name_of(str(first.group[k])),
            counted(first.P[k]),
            counted(first.N[k]),
            *("–" if np.isnan(g.auc[k]) else f"{g.auc[k]:.4f}" for g in every),
        )
        for k in order
    ]
    means = [group_means(g, summary.asked.level) for g in every]
    for name, words in AVERAGES.items():
        values = (fixed(m[name]) if m else "–" for m in means)
        rows.append((f'{name}<em class="said">{words}</em>', "", "", *values))
    aucs = (f"AUC of {name_of(name)}" for name in groups.by_score)
    of = f" by {name_of(next(iter(groups.by_score)))}" if len(every) > 1 else ""
    note = f"Of {len(first):,} groups {which}{of}. " if which else ""
    note += "Intervals of the averages count groups, not rows."
    head = (name_of(groups.name), "positive", "negative", *aucs)
    return _section(f"Inside each {name_of(groups.name)}", _table(head, rows), note)


def _learned(summary: Summary) -> str:
    out = ""
    if summary.learners is not None:
        learners = summary.learners
        rows = [
            (
                (
                    f"<b>{name_of(one.name)}</b>"
                    if one.name == learners.chosen
                    else name_of(one.name)
                )
                + (f'<em class="said">{safe(one.note)}</em>' if one.note else ""),
                general(one.value),
                "" if one.difference is None else general(one.difference),
                "" if one.seconds is None else f"{one.seconds:.2g} s",
            )
            for one in learners.rows
        ]
        measure = safe(measured(learners.measure))
        head = ("learner", f"{measure}, out of fold", "to the chosen", "time")
        out += _section("Learners compared", _table(head, rows), safe(learners.why))
    if summary.weights:
        top = max(abs(w.scaled) for w in summary.weights) or 1.0
        weights = [
            (
                name_of(w.column),
                f"{w.weight:.4g}",
                f"{w.scaled:.4g}",
                f'<span class="weight {"up" if w.scaled > 0 else "down"}">'
                f'<i style="width:{50 * abs(w.scaled) / top:.3g}%"></i></span>',
            )
            for w in summary.weights
        ]
        names = ("column", "weight in its unit", "for one standard deviation", "")
        out += _section("Largest weights", _table(names, weights))
    if summary.training:
        rows_ = [(safe(name), sentence(value)) for name, value in summary.training]
        out += _section("How it was made", _table(("", ""), rows_, "facts"))
    return out


def _everything(summary: Summary) -> str:
    scores = summary.scores
    rows: list[tuple[str, ...]] = [
        ("AUC", *(fixed(one.auc) for one in scores)),
        ("average precision", *(f"{one.average_precision:.4f}" for one in scores)),
        ("AUC of the hull", *(f"{one.hull_auc:.4f}" for one in scores)),
        ("vertices of the hull", *(f"{one.hull_vertices:,}" for one in scores)),
        ("distinct scores", *(f"{one.distinct:,}" for one in scores)),
        ("lowest, highest", *(f"{one.lowest:.6g}, {one.highest:.6g}" for one in scores)),
    ]
    for word, what in (("Brier score", "brier"), ("log loss", "log_loss")):
        values = [getattr(one, what) for one in scores]
        if any(value is not None for value in values):
            rows.append((word, *("" if v is None else f"{v:.4f}" for v in values)))
    rows.append(("threshold", *(threshold_text(one) for one in scores)))
    for word, cell in (("caught", "tp"), ("missed", "fn"), ("false alarms", "fp")):
        rows.append((word, *(counted(getattr(one.point.confusion, cell)) for one in scores)))
    for name in (*MEASURES, "cost"):
        if name in scores[0].measures:
            word = word_for(name, summary.asked.prior)
            rows.append((word, *(general(one.measures[name]) for one in scores)))
    for k, status in enumerate(scores[0].point.status):
        each = ((one.point, one.point.status[k]) for one in scores)
        told = (f"{outcome(p, t)}: {t.value:.4g}" for p, t in each)
        rows.append((safe(status.limit), *told))
    # Below each other rather than beyond the edge of a sheet.
    tables = -(-len(scores) // _BESIDE)
    ends = [round(k * len(scores) / tables) for k in range(tables + 1)]
    head = [name_of(one.name) for one in scores]
    return _section(
        "All numbers",
        "".join(
            _table(("", *head[a:b]), [(row[0], *row[a + 1 : b + 1]) for row in rows])
            for a, b in pairwise(ends)
        ),
        f"{safe(why(summary))} These stay as they are.",
    )
