"""cutscore compare."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from math import inf
from typing import Any

from cutscore.cli import shared
from cutscore.comparison.comparison import Comparison, compare
from cutscore.core.errors import UsageError
from cutscore.core.findings import BadArgument, Conflict, some
from cutscore.core.findings.report import Inverted
from cutscore.core.numbers import number_text
from cutscore.core.progress import progress
from cutscore.report.terminal import paragraph, render_blocks


def run(arguments: Namespace) -> tuple[str, int]:
    """Two scores of the same rows."""
    shared.check_options(arguments)
    costs = shared.costs(arguments)
    if arguments.prior is not None and costs is None:
        raise UsageError(Conflict(("prior", "costs"), "a prior only affects costs", shared.NEEDS))
    what = shared.named(arguments)
    rows = shared.rows(arguments, what, unit=arguments.unit)
    shared.remark(arguments, rows.note)
    if len(rows.scores) != 2:
        rule = "name exactly two scores"
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
            names=(a, b),
            report=tell,
        )
    for name, value in ((a, found.a), (b, found.b)):
        if value < 0.5:
            shared.remark(arguments, Inverted(value, name, name in arguments.reverse))
    if arguments.json:
        return shared.as_json(_plain(found)), 0
    names = tuple(f"{n} (low = positive)" if n in arguments.reverse else n for n in (a, b))
    text = _text(replace(found, names=(names[0], names[1])), shared.width(), shared.color())
    if not arguments.sql:
        words = shared.columns(arguments, what, a if found.a >= found.b else b)
        text += shared.next_step("choose", *words, "--cost", arguments.costs or "fp=1,fn=20")
    return text, 0


def _text(found: Comparison, width: int, color: bool = False) -> str:
    """The difference, how it was tested, and that of costs."""
    lines = [f"AUC: {found.text}"]
    test = "z" if found.df == inf else f"t({found.df:.4g})"
    lines.append(f"  {_METHODS[found.method]}: {test} = {number_text(found.z)}")
    if found.powerless:
        lines.append("  too little power: even a perfect score would not be significantly better")
    costs = found.cost_text(1000)
    if costs is not None:
        lines.append(f"cost per 1,000 cases: {costs}")
    return render_blocks(iter([paragraph(lines)]), width, color=color)


_METHODS = {
    "t": "paired DeLong test",
    "delong": "paired DeLong test",
    "bootstrap": "paired bootstrap test",
    "units": "paired DeLong test for clustered rows",
}


def _plain(found: Comparison) -> dict[str, Any]:
    finite, (a, b) = shared.finite, found.names
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
        "text": _text(found, 80),
    }
    if found.cost_a is not None and found.cost_b is not None:
        out["costs"] = {
            "a": finite(found.cost_a),
            "b": finite(found.cost_b),
            "difference": shared.estimate(found.cost_a - found.cost_b, found.cost_interval),
        }
    return out
