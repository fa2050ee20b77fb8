"""A summary as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from cutscore.core.findings.base import Surface
from cutscore.decision.choice import headline, in_rows, told, worth
from cutscore.measures.confusion import counted
from cutscore.measures.measure import MEASURES as KNOWN
from cutscore.measures.measure import WORDS
from cutscore.report.summary import (
    AVERAGES,
    MEASURES,
    Estimate,
    aim_words,
    group_means,
    listed,
    rows_text,
)

if TYPE_CHECKING:
    from cutscore.report.summary import Groups, Learners, ScoreSummary, Summary

_SHOWN = 12


def text(summary: Summary, width: int, on: Surface) -> str:
    """See ``Summary.text``."""
    return "\n".join(_lines(summary, max(width, 40), on))


def fixed(e: Estimate, places: int = 4) -> str:
    """``0.7500 [0.3499, 1.0000]``."""
    if e.interval is None:
        return f"{e.value:.{places}f}"
    return f"{e.value:.{places}f} [{e.interval.low:.{places}f}, {e.interval.high:.{places}f}]"


def general(e: Estimate) -> str:
    """``0.75 [0.35, 1]``; a value of nothing is a dash."""
    if np.isnan(e.value):
        return "–"
    if e.interval is None:
        return f"{e.value:.4g}"
    return f"{e.value:.4g} [{e.interval.low:.4g}, {e.interval.high:.4g}]"


def shown(name: str, most: int = 40) -> str:
    """A name for one line: no line breaks, no control signs, not too long. Names differ at either
    end, so what is left out is in the middle."""
    line = "".join(c if c.isprintable() else " " for c in name)
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}…{line[len(line) - tail :]}"


def measured(name: str) -> str:
    """What learners were compared by."""
    return {"auc": "AUC"}.get(name) or WORDS.get(name) or shown(name)


def word_for(name: str, prior: float | None) -> str:
    """The word for a measure; with the share of positives where that is not the one of the rows
    and the measure depends on it."""
    if prior is None or (name in KNOWN and KNOWN[name].prior_free):
        return WORDS[name]
    return f"{WORDS[name]}, where {100 * prior:.3g} % are positive"


def _wrapped(text: str, width: int, first: str = "", rest: str = "  ") -> list[str]:
    """Lines of words. Those with hyphens stay whole: an option is one, and so is a learner."""
    return wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _lines(summary: Summary, width: int, on: Surface) -> Iterator[str]:
    if summary.source:
        yield shown(summary.source, width)
    positive = f"; positive is {shown(summary.label)}" if summary.label else ""
    yield from _wrapped(rows_text(summary) + positive, width)
    for notice in summary.notices:
        yield ""
        yield from _wrapped(f"! {shown(notice.render(on), 1000)}", width)
    yield ""
    yield from _table(_overview(summary), width)
    for one in summary.scores:
        yield ""
        yield from _decision(summary, one, width)
    if summary.differences:
        yield ""
        yield f"Differences of AUCs, at {100 * summary.asked.level:g} %"
        yield from _table(
            [
                (
                    f"{shown(d.a, 24)} − {shown(d.b, 24)}",
                    general(Estimate(d.difference, d.interval))
                    + (f", p = {d.p_value:.2g}" if d.p_value is not None else ", can't tell"),
                )
                for d in summary.differences
            ],
            width,
        )
    if summary.groups is not None:
        yield ""
        yield from _groups(summary.groups, summary.asked.level, width)
    if summary.learners is not None:
        yield ""
        yield from _learners(summary.learners, width)
    if summary.training:
        yield ""
        said = summary.learners.why if summary.learners is not None else None
        yield from _facts([fact for fact in summary.training if fact[1] != said], width)
    if summary.weights:
        yield ""
        head = ("Largest weights", "in its own unit", "for one standard deviation")
        rows = [(shown(w.column), f"{w.weight:.4g}", f"{w.scaled:.4g}") for w in summary.weights]
        yield from _table([head, *rows[:_SHOWN]], width)


def _overview(summary: Summary) -> list[tuple[str, ...]]:
    scores = summary.scores
    rows: list[tuple[str, ...]] = [("", *(shown(one.name) for one in scores))]
    rows.append(("AUC", *(fixed(one.auc) for one in scores)))
    rows.append(("average precision", *(f"{one.average_precision:.4f}" for one in scores)))
    rows.append(("AUC of the hull", *(f"{one.hull_auc:.4f}" for one in scores)))
    for name, what in (("Brier score", "brier"), ("log loss", "log_loss")):
        values = [getattr(one, what) for one in scores]
        if any(value is not None for value in values):
            rows.append((name, *("" if v is None else f"{v:.4f}" for v in values)))
    return rows


def _decision(summary: Summary, one: ScoreSummary, width: int) -> Iterator[str]:
    p = one.point
    who = f"{shown(one.name)}: " if len(summary.scores) > 1 else ""
    why = f", for {aim_words(summary.asked)}"
    if summary.asked.assumed:
        why += " (no costs were given)"
    head = headline(p, one.reverse)
    head = head[0].lower() + head[1:] if who else head
    yield from _wrapped(f"{who}{head}{why}", width)
    for line in (f"{measured(p.objective)}: {worth(p, summary.asked.level)}", *told(p)):
        yield from _wrapped(line, width, "  ", "    ")
    c, prior = p.confusion, p.question.prior
    cells = [
        (_counted_by(summary, in_rows(c, prior)), "flagged", "left alone"),
        ("positive", counted(c.tp), counted(c.fn)),
        ("negative", counted(c.fp), counted(c.tn)),
    ]
    sizes = [max(len(row[k]) for row in cells) for k in range(3)]
    table = [f"  {row[0]:<{sizes[0]}}  {row[1]:>{sizes[1]}}  {row[2]:>{sizes[2]}}" for row in cells]
    names = list(MEASURES[:4])
    if p.objective in MEASURES[4:] and not summary.asked.assumed:
        names.append(p.objective)
    first = [(word_for(name, prior), general(one.measures[name])) for name in names]
    wide = max(17, *(len(word) for word, _ in first))
    facts = [f"{word:<{wide}} {value}" for word, value in first]
    facts.insert(0, "on these rows" if p.typical is None else "to expect on new rows")
    yield ""
    side = max(map(len, table)) + 4
    if side + max(map(len, facts)) <= width:
        for left, right in zip_longest(table, facts, fillvalue=""):
            yield f"{left:<{side}}{right}".rstrip()
    else:
        yield from table
        yield from (f"  {fact}" for fact in facts)


def _groups(groups: Groups, level: float, width: int) -> Iterator[str]:
    for name, g in groups.by_score.items():
        means = group_means(g, level)
        if not means:
            yield f"AUC inside {shown(groups.name)}: no group has both classes"
            return
        yield from _wrapped(
            f"AUC of {shown(name)} inside {shown(groups.name)}, of {len(g):,} groups", width
        )
        rows = [(one, fixed(e), AVERAGES[one]) for one, e in means.items()]
        yield from _table(rows, width, least=0)
        order, which = listed(g)
        if which:
            yield f"  {which}:"
        rows = [
            (
                shown(str(g.group[k])),
                "–" if np.isnan(g.auc[k]) else f"{g.auc[k]:.4f}",
                f"{counted(g.P[k])} positive, {counted(g.N[k])} negative",
            )
            for k in order
        ]
        yield from _table(rows, width)
        if len(g) > len(order):
            yield f"  and {len(g) - len(order):,} more groups"


def _learners(learners: Learners, width: int) -> Iterator[str]:
    """One line a learner, without its time: that is not the same twice."""
    rows = [("  learner", measured(learners.measure), "to the chosen")]
    for one in learners.rows:
        mark = "*" if one.name == learners.chosen else " "
        less = "" if one.difference is None else general(one.difference)
        rows.append((f"{mark} {shown(one.name)}", general(one.value), less))
    yield f"Learners, by {measured(learners.measure)} on rows they were not fitted to"
    lines = list(_table(rows, width, least=0))
    if len(lines) == len(rows):
        yield lines[0]
        for line, one in zip(lines[1:], learners.rows, strict=True):
            yield line
            yield from _indented(shown(one.note, 300), width, 6)
    else:  # too narrow for one line each
        yield from lines
        for one in learners.rows:
            if one.note:
                yield from _indented(f"{shown(one.name)}: {shown(one.note, 300)}", width, 4)
    yield from _wrapped(shown(learners.why, 1000), width, rest="")


def _indented(text: str, width: int, by: int) -> list[str]:
    return _wrapped(text, width, " " * by, " " * by)


def _facts(facts: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Names to the left, sentences to the right; of many of one name the first ones."""
    yield "  Training"
    size = min(max(len(shown(name)) for name, _ in facts) + 4, 23)
    seen: dict[str, int] = {}
    for name, value in facts:
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > _SHOWN:
            continue
        first = f"  {shown(name):<{size - 2}}"
        yield from _wrapped(shown(value, 1000), width, first, " " * size)
    for name, count in seen.items():
        if count > _SHOWN:
            more = count - _SHOWN
            yield f"{'':<{size}}and {more:,} more {shown(name)}{'s' if more > 1 else ''}"


def _counted_by(summary: Summary, as_told: bool) -> str:
    """What a table of counts is of, where that does not go without saying."""
    if summary.weighted:
        return "weight"
    return "" if as_told else "rows"


def _table(rows: Sequence[tuple[str, ...]], width: int, least: int = 23) -> Iterator[str]:
    """Columns side by side; one below the other where the width is too small."""
    columns = max(map(len, rows))
    filled = [(*row, *[""] * (columns - len(row))) for row in rows]
    sizes = [max(len(row[k]) for row in filled) for k in range(columns)]
    sizes[0] = max(sizes[0], least) if columns <= 3 else sizes[0]
    if 2 + sum(sizes) + 2 * (columns - 1) <= width or columns <= 2:
        for row in filled:
            cells = "  ".join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True))
            yield f"  {cells}".rstrip()
        return
    head, *body = filled
    for k in range(1, columns):
        if head[k]:
            yield f"  {head[k]}"
        for row in body:
            if row[k]:
                yield f"    {row[0]:<{sizes[0]}}  {row[k]}".rstrip()
