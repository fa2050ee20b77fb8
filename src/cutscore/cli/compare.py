"""cutscore compare."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cutscore.cli import UsageError, shared
from cutscore.comparison.comparison import Comparison, compare
from cutscore.core.findings import BadArgument, some
from cutscore.core.findings.command import OptionNeeds
from cutscore.core.findings.report import Inverted
from cutscore.core.progress import progress


def run(arguments: Namespace) -> tuple[str, int]:
    """Two scores of the same rows."""
    shared.check_options(arguments)
    costs = shared.costs(arguments)
    if arguments.prior is not None and costs is None:
        raise UsageError(OptionNeeds("prior", ("costs",)))
    rows = shared.rows(arguments, shared.named(arguments), unit=arguments.unit)
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
    names = (f"{n}, low is positive" if n in arguments.reverse else n for n in (a, b))
    return "a: {}\nb: {}\n{!r}".format(*names, found), 0


def _plain(a: str, b: str, found: Comparison) -> dict[str, Any]:
    number = shared.finite
    out = {
        "schema": "cutscore.comparison/1",
        "a": a,
        "b": b,
        "statistic": found.statistic,
        "method": found.method,
        "values": {"a": number(found.a), "b": number(found.b)},
        "difference": shared.estimate(found.difference, found.interval),
        "z": number(found.z),
        "df": number(found.df),
        "p_value": number(found.p_value),
        "powerless": found.powerless,
        "costs": None,
        "text": repr(found),
    }
    if found.cost_a is not None and found.cost_b is not None:
        out["costs"] = {
            "a": number(found.cost_a),
            "b": number(found.cost_b),
            "difference": shared.estimate(found.cost_a - found.cost_b, found.cost_interval),
        }
    return out
