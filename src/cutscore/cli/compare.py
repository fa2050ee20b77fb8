"""cutscore compare."""

from __future__ import annotations

from argparse import Namespace
from math import inf
from typing import Any

from cutscore.cli import UsageError, shared
from cutscore.comparison.comparison import Comparison, compare
from cutscore.core.findings import BadArgument, Conflict, some
from cutscore.core.findings.report import Inverted
from cutscore.core.interval import in_places
from cutscore.core.progress import progress
from cutscore.report.numbers import number
from cutscore.report.summary import Estimate
from cutscore.report.terminal import difference_text, paragraph, rendered


def run(arguments: Namespace) -> tuple[str, int]:
    """Two scores of the same rows."""
    shared.check_options(arguments)
    costs = shared.costs(arguments)
    if arguments.prior is not None and costs is None:
        raise UsageError(Conflict(("prior", "costs"), "a prior belongs to costs", shared.NEEDS))
    what = shared.named(arguments)
    rows = shared.rows(arguments, what, unit=arguments.unit)
    shared.remark(arguments, rows.note)
    if len(rows.scores) != 2:
        rule = "name two scores to compare"
        raise UsageError(BadArgument("score", rule, some(rows.scores, show=str)))
    (a, x), (b, z) = (
        (name, 0.0 - s if name in arguments.reverse else s) for name, s in rows.scores.items()
    )
    with progress("comparing", not arguments.quiet) as tell:
        found = compare(
            rows.y,
            x,
            z,
            weight=rows.weight,
            unit=rows.unit,
            costs=costs,
            prior=arguments.prior,
            report=tell,
        )
    for name, value in ((a, found.a), (b, found.b)):
        if value < 0.5:
            shared.remark(arguments, Inverted(value, name, name in arguments.reverse))
    if arguments.json:
        return shared.as_json(_plain(a, b, found)), 0
    names = tuple(f"{n} (low is positive)" if n in arguments.reverse else n for n in (a, b))
    text = _text((names[0], names[1]), found, shared.width(), shared.color())
    if not arguments.sql:
        words = shared.columns(arguments, what, a if found.a >= found.b else b)
        text += shared.next_step("choose", *words, "--cost", arguments.costs or "fp=1,fn=20")
    return text, 0


def _text(names: tuple[str, str], found: Comparison, width: int, color: bool = False) -> str:
    """The difference, how it was tested, and that of costs."""
    auc = Estimate(found.difference, found.interval)
    lines = [f"AUC: {difference_text(names, (found.a, found.b), auc, found.p_value)}"]
    test = "z" if found.df == inf else f"t({found.df:.4g})"
    lines.append(f"  {_METHODS[found.method]}: {test} = {number(found.z)}")
    if found.powerless:
        lines.append("  no power: these rows would not show even a perfect score as better")
    if found.cost_difference is not None and found.cost_interval is not None:
        span = found.cost_interval
        ends = [1000 * x for x in (found.cost_difference, *span)]
        delta, low, high = (x.replace("-", "−") for x in in_places(max(ends, key=abs), *ends)[1:])
        values = (1000 * (found.cost_a or 0.0), 1000 * (found.cost_b or 0.0))
        each = ", ".join(f"{n} {number(v)}" for n, v in zip(names, values, strict=True))
        level, what = f"{100 * span.level:g} %", "no significant difference"
        if 0 not in span:
            what = f"{names[0] if values[0] < values[1] else names[1]} costs less"
        lines.append(f"cost of 1,000 cases: {each}: {what} (Δ {delta}, {level} CI {low} to {high})")
    return rendered(iter([paragraph(lines)]), width, color=color)


_METHODS = {
    "t": "paired DeLong test",
    "delong": "paired DeLong test",
    "bootstrap": "paired bootstrap test",
    "units": "paired DeLong test, rows clustered by unit",
}


def _plain(a: str, b: str, found: Comparison) -> dict[str, Any]:
    finite = shared.finite
    out = {
        "schema": "cutscore.comparison/1",
        "a": a,
        "b": b,
        "statistic": found.statistic,
        "method": found.method,
        "values": {"a": finite(found.a), "b": finite(found.b)},
        "difference": shared.estimate(found.difference, found.interval),
        "z": finite(found.z),
        "df": finite(found.df),
        "p_value": finite(found.p_value),
        "powerless": found.powerless,
        "costs": None,
        "text": _text((a, b), found, 80),
    }
    if found.cost_a is not None and found.cost_b is not None:
        out["costs"] = {
            "a": finite(found.cost_a),
            "b": finite(found.cost_b),
            "difference": shared.estimate(found.cost_a - found.cost_b, found.cost_interval),
        }
    return out
