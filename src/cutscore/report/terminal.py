"""A summary as text for a terminal: the verdict, then tables. Plain, or with colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cutscore.core.findings.base import COMMAND, Note, Surface
from cutscore.core.numbers import baselines_text, difference_text, number_text
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.verdict import State, Verdict
from cutscore.decision.words import cases_text, expectation, headline, limit_lines, value_text
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion, count_text
from cutscore.measures.registry import is_rate
from cutscore.policy.words import promise_name
from cutscore.report.summary import (
    AVERAGES,
    UNKNOWN,
    Difference,
    Summary,
    aim_words,
    estimates,
    group_means,
    listed,
    measures_of,
    normal_rows_text,
    rows_text,
)
from cutscore.report.words import measure_word, shown, word_for

if TYPE_CHECKING:
    from cutscore.report.summary import (
        GroupResults,
        Groups,
        Learners,
        NormalSummary,
        PeriodLimit,
        RowCostResults,
        ScoreSummary,
    )

_SHOWN = 12
_COLORS = {State.USABLE: "green", State.UNPROVEN: "yellow", State.UNUSABLE: "red"}


def text(summary: Summary | NormalSummary, width: int, on: Surface, *, color: bool = False) -> str:
    """See ``Summary.text``; with the codes for colours if ``color``."""
    blocks = _blocks(summary, on) if isinstance(summary, Summary) else _normal(summary, on)
    return render_blocks(blocks, width, color=color)


def render_blocks(blocks: Iterator[Any], width: int, *, color: bool = False) -> str:
    """What rich makes of these, an empty line between them."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(width, 40),
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for k, block in enumerate(blocks):
        if k:
            console.print()
        console.print(block)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _difference(d: Difference, aucs: Mapping[str, float]) -> str:
    """Two AUCs, and whether they differ."""
    if d.interval is None or d.p_value is None:
        verdict = "too little data to tell whether they differ"
    elif d.p_value < 1 - d.interval.level:
        verdict = f"{shown(d.b if d.difference < 0 else d.a, 24)} is better"
    else:
        verdict = "no significant difference"
    names = (shown(d.a, 24), shown(d.b, 24))
    found = (d.difference, d.interval, d.p_value)
    return difference_text(names, (aucs[d.a], aucs[d.b]), verdict, *found)


def paragraph(lines: Sequence[str]) -> Group:
    """Lines, the first of them bold."""
    return Group(*(Text(line, style="" if k else "bold") for k, line in enumerate(lines)))


# ----------------------------------------------------------------------------------------- blocks


def _blocks(summary: Summary, on: Surface) -> Iterator[Any]:
    several = len(summary.scores) > 1
    for one in summary.scores:
        yield _verdict(summary, one, on, several)
    source = f"{shown(summary.source, 200)}, " if summary.source else ""
    positive = f"; positive class: {shown(summary.label)}" if summary.label else ""
    yield Text(f"{source}{rows_text(summary)}{positive}")
    said = {id(found) for found in _repeated_notices(summary)}
    for notice in summary.notices:
        if id(notice) not in said:
            text = shown(notice.render(on), 1000)
            yield Text(text) if isinstance(notice, Note) else _mark("!", text, "yellow")
    yield _overview(summary)
    if summary.differences:
        aucs = {one.name: one.auc.value for one in summary.scores}
        yield Group(*(Text(f"AUC: {_difference(d, aucs)}") for d in summary.differences))
    if summary.group_results is not None:
        yield _group_results(summary.group_results)
    if summary.row_costs is not None:
        yield _row_costs(summary.row_costs)
    if summary.periods:
        yield _periods(summary.periods)
    if summary.groups is not None:
        yield from _groups(summary.groups, summary.asked.level)
    if summary.learners is not None:
        yield _learners(summary.learners)
    reason = summary.learners.why if summary.learners is not None else None
    yield from _scorer([fact for fact in summary.training if fact[1] != reason], summary)


def _scorer(facts: Sequence[tuple[str, str]], summary: Summary | NormalSummary) -> Iterator[Any]:
    """How the policy was made, and what moves its score."""
    if facts:
        yield _facts(facts)
    if summary.weights:
        rows = [
            (shown(w.column), number_text(w.weight), number_text(w.scaled)) for w in summary.weights
        ]
        head = ("largest weights", "per unit", "per SD")
        yield _table(rows[:_SHOWN], head)
    if summary.importances:
        found = [(shown(one.column), number_text(one.value)) for one in summary.importances]
        yield _table(found[:_SHOWN], ("largest importances", "mean |SHAP|, in the score's unit"))


def _group_results(g: GroupResults) -> Group:
    """What the policy does to each group."""
    level = next((e.interval.level for e in g.total.values() if e.interval is not None), None)
    words = f"By {shown(g.column)}, expected on new rows"
    words += "" if level is None else f" ({100 * level:g} % CI)"
    sizes = [
        (
            *(shown(one.name, 24), *([repr(one.threshold)] if g.own else [])),
            *(count_text(one.rows), count_text(one.positives)),
        )
        for one in g.rows
    ]
    parts: list[Any] = [_table(sizes, ["", *(["threshold"] if g.own else []), "rows", "positive"])]
    names = g.measures
    for pair in (names[k : k + 2] for k in range(0, len(names), 2)):  # more do not fit
        rows = [("all rows", *estimates({name: g.total[name] for name in pair}))]
        for one in g.rows:
            found = estimates({name: one.measures[name] for name in pair})
            rows.append((shown(one.name, 24), *found))
        parts.append(_table(rows, ("", *map(promise_name, pair))))
    return Group(Text(words), *parts)


def _row_costs(m: RowCostResults) -> Group:
    """What the decisions cost, beside simpler ones."""
    lines = (Padding(Text(x), (0, 0, 0, 2)) for x in m.sentences)
    return Group(Text("Costs by row"), *lines, _table(m.table[1:], m.table[0]))


def _periods(periods: Sequence[PeriodLimit]) -> Group:
    """Limits per period, and what they came to."""
    lines = (sentence for one in periods for sentence in one.sentences)
    return Group(Text("Limits per period"), *(Padding(Text(x), (0, 0, 0, 2)) for x in lines))


def _normal(summary: NormalSummary, on: Surface) -> Iterator[Any]:
    p, verdict = summary.point, summary.verdict
    yield verdict_block(verdict, _answer(p, verdict, summary.reverse, summary.asked), on)
    source = f"{shown(summary.source, 200)}, " if summary.source else ""
    yield Text(f"{source}{normal_rows_text(summary)}")
    for notice in summary.notices:
        if notice not in verdict.findings:
            yield _mark("!", shown(notice.render(on), 1000), "yellow")
    rows = [
        ("false positive rate", summary.fpr.text(rate=True)),
        *((words, e.text()) for words, e in summary.alarms),
    ]
    yield _table(rows, ("", "expected on new normal rows"))
    if summary.periods:
        yield _periods(summary.periods)
    yield Text(UNKNOWN)
    yield from _scorer(summary.training, summary)


def _repeated_notices(summary: Summary) -> Iterator[Any]:
    """Notices that the verdicts say already."""
    findings = [found for one in summary.scores for found in one.verdict.findings]
    for notice in summary.notices:
        if replace(notice, where=None) in findings:
            yield notice


def _verdict(summary: Summary, one: ScoreSummary, on: Surface, several: bool) -> Group:
    who = f"{shown(one.name)}: " if several else ""
    lines = _answer(one.point, one.verdict, one.reverse, summary.asked)
    g = summary.group_results
    if g is not None:
        unusable = one.verdict.state is State.UNUSABLE
        rule = f"thresholds: {g.rule[0].lower()}{g.rule[1:]}" if unusable else ""
        lines = [rule, *lines[1:], *(shown(line, 300) for line in g.lines)]
    return verdict_block(one.verdict, lines, on, who)


def _answer(p: OperatingPoint, verdict: Verdict, reverse: bool, asked: Aim) -> list[str]:
    """The threshold, the objective, and what became of it."""
    aim = aim_words(p) + (" (default; no costs given)" if asked.assumed else "")
    return [threshold_words(p, verdict, reverse), f"objective: {aim}", *point_lines(p, asked.level)]


def verdict_block(verdict: Verdict, lines: Sequence[str], on: Surface, who: str = "") -> Group:
    """A verdict, what speaks against it, and what is to be said of the threshold."""
    first = Text(f"{who}{verdict.headline}", style=f"bold {_COLORS[verdict.state]}")
    said = [found.render(on) for found in verdict.findings]
    if verdict.state is State.UNUSABLE and verdict.finding is not None:
        said[0] = verdict.finding.hint(on)  # the rest is the headline
    return Group(first, *(Padding(Text(line), (0, 0, 0, 2)) for line in (*said, *lines) if line))


def verdict_text(
    p: OperatingPoint, verdict: Verdict, reverse: bool, width: int, color: bool = False
) -> str:
    """A verdict and what the threshold does, for the command."""
    lines = _answer(p, verdict, reverse, p.question)
    return render_blocks(iter([verdict_block(verdict, lines, COMMAND)]), width, color=color)


def threshold_words(p: OperatingPoint, verdict: Verdict, reverse: bool) -> str:
    """The threshold, where the headline says something else."""
    if verdict.state is not State.UNUSABLE:
        return ""
    flag = headline(p, reverse)
    which = "best threshold" if p.feasible else "closest to the limits"
    which = "threshold" if p.given else which
    return f"{which}: {flag[0].lower()}{flag[1:]}"


def point_lines(p: OperatingPoint, level: float) -> list[str]:
    """What a threshold is worth, what it does, and what became of the limits."""
    return [value_text(p, level, cases=1000), *baselines(p), cases_text(p), *limit_lines(p)]


def baselines(p: OperatingPoint) -> list[str]:
    """What it costs to decide all cases alike, and what the threshold saves."""
    costs = p.simpler_costs
    if costs is None:
        return []
    expected = expectation(p)
    cost = p.value if expected is None else expected.value
    text = baselines_text({name: 1000 * one for name, one in costs.items()}, 1000 * cost)
    return [text, *p.money_lines]


def _mark(mark: str, text: str, style: str = "") -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(mark, style=style), Text(text))
    return grid


def _table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None) -> Padding:
    """Columns side by side."""
    table = Table(box=None, show_header=head is not None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in head or [""] * max(map(len, rows)):
        table.add_column(Text(name, style="bold"))
    for row in rows:
        table.add_row(*map(Text, row))
    return Padding(table, (0, 0, 0, 2))


def _overview(summary: Summary) -> Padding:
    scores = summary.scores
    rows: list[tuple[str, ...]] = []
    rows.append(("AUC", *(one.auc.text() for one in scores)))
    rows.append(("average precision", *(number_text(one.average_precision) for one in scores)))
    for name, what in (("Brier score", "brier"), ("log loss", "log_loss")):
        values = [getattr(one, what) for one in scores]
        if any(value is not None for value in values):
            rows.append((name, *("–" if v is None else number_text(v) for v in values)))
    point = scores[0].point
    here = "on these rows (weighted)" if summary.weighted else "on these rows"
    rows += _heading("expected on new rows" if point.typical is not None else here)
    every, few = measures_of(summary.asked), 6 if summary.asked.three_way else 4
    names = list(every[:few])
    if point.objective in every[few:] and not summary.asked.assumed:
        names.append(point.objective)
    for name in names:
        cells = (one.measures[name].text(rate=is_rate(name)) for one in scores)
        rows.append((word_for(name, point.question.prior), *cells))
    if point.typical is not None:
        rows += _heading(here)
    counts: tuple[tuple[str, str], ...] = (("caught", "tp"), ("false alarms", "fp"))
    if summary.asked.three_way:
        ways = {"blocked": "tp fp", "reviewed": "reviewed_pos reviewed_neg", "passed": "fn tn"}
        counts = tuple((way, cell) for way, both in ways.items() for cell in both.split())
    for name, cell in counts:
        rows.append((name, *(_of(one.point.confusion, cell) for one in scores)))
    return _table(rows, ("", *(shown(one.name) for one in scores)))


def _heading(text: str) -> list[tuple[str, ...]]:
    return [("",), (text,)]


def _of(c: Confusion, cell: str) -> str:
    of = "positives" if cell in ("tp", "fn", "reviewed_pos") else "negatives"
    return f"{count_text(getattr(c, cell))} of {count_text(getattr(c, of))} {of}"


def _groups(groups: Groups, level: float) -> Iterator[Any]:
    for name, g in groups.by_score.items():
        means = group_means(g, level)
        if not means:
            yield Text(f"AUC within {shown(groups.name)}: no group has both classes")
            return
        title = f"AUC of {shown(name)} within {shown(groups.name)} ({len(g):,} groups)"
        averages = [(one, e.text(), AVERAGES[one]) for one, e in means.items()]
        order, which = listed(g)
        rows = [
            (
                shown(str(g.group[k])),
                number_text(g.auc[k]),
                f"{count_text(g.P[k])} positive, {count_text(g.N[k])} negative",
            )
            for k in order
        ]
        parts: list[Any] = [Text(title), _table(averages)]
        parts += [Padding(Text(f"{which}:"), (0, 0, 0, 2))] if which else []
        parts.append(_table(rows))
        if len(g) > len(order):
            parts.append(Padding(Text(f"and {len(g) - len(order):,} more groups"), (0, 0, 0, 2)))
        yield Group(*parts)


def _learners(learners: Learners) -> Group:
    """One line a learner, without its time: that is not the same twice."""
    rate = is_rate(learners.measure)
    rows = []
    for one in learners.rows:
        mark = "*" if one.name == learners.chosen else " "
        value = one.value.text(rate=rate)
        less = "" if one.difference is None else one.difference.text(rate=rate)
        rows.append((f"{mark} {shown(one.name)}", value, less))
    head = ("  learner", measure_word(learners.measure), "difference")
    return Group(
        Text(f"Learners by {measure_word(learners.measure)}, cross-validated"),
        _table(rows, head),
        *(
            Padding(Text(f"{shown(one.name)}: {shown(one.note, 300)}"), (0, 0, 0, 4))
            for one in learners.rows
            if one.note
        ),
        Text(shown(learners.why, 1000)),
    )


def _facts(facts: Sequence[tuple[str, str]]) -> Group:
    """Names to the left, sentences to the right; of many of one name the first ones."""
    rows: list[tuple[str, str]] = []
    seen: dict[str, int] = {}
    for name, value in facts:
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= _SHOWN:
            rows.append((shown(name), shown(value, 1000)))
    for name, count in seen.items():
        if count > _SHOWN:
            more = count - _SHOWN
            rows.append(("", f"and {more:,} more {shown(name)}{'s' if more > 1 else ''}"))
    return Group(Text("Provenance"), _table(rows))
