"""cutscore choose."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, replace
from typing import Any

from cutscore.cli import INFEASIBLE, engines, policies, row_costs, shared
from cutscore.cli.groups import check_groups, run_groups
from cutscore.comparison.rows import periods, units
from cutscore.core.errors import UndefinedError, UsageError
from cutscore.core.findings import Conflict, Finding
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import Usage
from cutscore.core.findings.report import Inverted
from cutscore.core.progress import progress
from cutscore.decision.choice import OperatingPoint, choose
from cutscore.decision.row_costs import RowCostPoint
from cutscore.decision.verdict import State, Verdict, judge
from cutscore.decision.words import expectation, rule_of
from cutscore.inference.periods import Periods
from cutscore.inference.units import Units
from cutscore.measures.costs import Costs
from cutscore.report.json import plain_cuts
from cutscore.report.terminal import verdict_text
from cutscore.sweeps.sweep import Sweep, sweep

_FEW = 1_000_000


def run(arguments: Namespace) -> tuple[str, int]:
    """The best threshold of one score."""
    shared.check_outputs(arguments)
    costs = shared.costs(arguments, by_row=True)
    shared.check_options(arguments)
    by_row = costs is not None and costs.by_row
    _check_columns(arguments, by_row=by_row)
    check_groups(arguments)
    if arguments.output == "-" and arguments.json:
        raise UsageError(Usage("-o - and --json both write to standard output"))
    if costs is None and arguments.maximize is None:
        aim = "Use {0} fp=1,fn=20 or {1} f1."
        raise UsageError(Conflict(("costs", "maximize"), "no objective given", aim))
    what = shared.named(arguments)
    name = row_costs.only_score(what)
    if arguments.each is not None:
        return run_groups(arguments, what, costs)
    if costs is not None and by_row:
        return _run_by_row(arguments, what, costs)
    point = None
    reverse = name in arguments.reverse
    # Most aims need no more than a compact sweep, which can't be turned round, and has no folds: of
    # few rows, or for a policy, all scores are kept.
    few = (what.source.rows or _FEW + 1) <= _FEW
    whole = reverse or few or arguments.output is not None or _needs_rows(arguments)
    for compact in (False,) if whole else (True, False):
        with progress("sweeping", not arguments.quiet) as tell:
            s, days, clusters, note = _sweep(arguments, what, tell, compact)
        if reverse:
            s, days = s.negated(), None if days is None else days.negated()
            clusters = None if clusters is None else clusters.negated()
        try:
            point = choose(
                s,
                costs if costs is not None else arguments.maximize,
                subject_to=arguments.subject_to,
                prior=arguments.prior,
                confidence=arguments.confidence if arguments.subject_to else None,
                units=clusters,
                periods=days,
            )
            break
        except UndefinedError:
            if not s.merged:
                raise
    assert point is not None
    shared.remark(arguments, note)
    shared.remark_all(arguments, () if days is None else days.findings)
    verdict = judge(point, score=name, reverse=reverse)
    if s.P > 0 and s.N > 0 and s.auc < 0.5 and not isinstance(verdict.finding, Inverted):
        shared.remark(arguments, Inverted(s.auc, name, reverse))
    return _written(arguments, what, point, verdict)


def _run_by_row(arguments: Namespace, what: shared.Named, costs: Costs) -> tuple[str, int]:
    """The best decisions where costs differ by row."""
    with progress("choosing", not arguments.quiet):
        point, of = row_costs.choose_rows(arguments, what, costs)
        (name,) = what.scores
        verdict = judge(point, scores=of, score=name, reverse=name in arguments.reverse)
    return _written(arguments, what, point, verdict)


def _written(
    arguments: Namespace, what: shared.Named, point: OperatingPoint, verdict: Verdict
) -> tuple[str, int]:
    """Write the policy if that was asked for, and show the point."""
    (name,) = what.scores
    reverse, code = name in arguments.reverse, 0 if point.feasible else INFEASIBLE
    if arguments.output is not None:
        policy = policies.policy_of(arguments, what, point)
        if arguments.output == "-":
            return policy.to_json(), code
        shared.write_files({arguments.output: policy.to_json() + "\n"})
    if arguments.json:
        return shared.as_json(_plain(name, point, verdict, reverse)), code
    text = verdict_text(point, verdict, reverse, shared.width(), shared.color())
    by_row = isinstance(point, RowCostPoint)
    return text + _ending(arguments, verdict, by_row=by_row), code


def _check_columns(arguments: Namespace, *, by_row: bool) -> None:
    """Raise if columns are named that nothing is done with."""
    if by_row and arguments.each is not None:
        rule = "costs that differ by row need one threshold for all"
        raise UsageError(Conflict(("costs", "each"), rule))
    if arguments.normal and (arguments.label or arguments.positive is not None):
        other = "label" if arguments.label else "positive"
        raise UsageError(Conflict(("normal", other), "all rows are normal, so no label is read"))
    if arguments.normal and arguments.costs is not None:
        rule = "costs weigh misses, and there are no positives to miss"
        hint = "Limit fpr, fp or flagged instead of {1}."
        raise UsageError(Conflict(("normal", "costs"), rule, hint))
    if arguments.exposure is not None and arguments.period is None:
        rule = "an exposure counts periods"
        raise UsageError(Conflict(("exposure", "period"), rule, shared.NEEDS))
    if by_row:
        row_costs.check_engine(arguments)
    if _needs_rows(arguments) and arguments.engine not in ("auto", "memory"):
        period = "--unit" if arguments.period is None else "--period"
        option = "--normal" if arguments.normal else period
        rule = f"{option} reads all rows into memory"
        raise UsageError(Usage(rule, f"Drop --engine {arguments.engine}."))


def _needs_rows(arguments: Namespace) -> bool:
    return bool(arguments.normal or arguments.period is not None or arguments.unit is not None)


def _sweep(
    arguments: Namespace, what: shared.Named, tell: engines.Tell | None, compact: bool
) -> tuple[Sweep, Periods | None, Units | None, Finding | None]:
    """The sweep of the score, periods and clusters of the rows, and what to say of the labels."""
    name = what.scores[0]
    if not _needs_rows(arguments):
        found = engines.sweep_tables(arguments, what, tell=tell, compact=compact)
        return found.sweeps[name], None, None, found.note
    rows = shared.rows(arguments, what, arguments.period, arguments.unit)
    score = rows.scores[name]
    s = sweep(rows.y, score, rows.weight, squares=rows.weight is not None)
    days, clusters = None, None
    if rows.group is not None:
        made = periods(rows.y, score, rows.group, exposure=arguments.exposure)
        days = replace(made, column=arguments.period)
    if rows.unit is not None:
        clusters = units(rows.y, score, rows.unit, weight=rows.weight)
    return s, days, clusters, rows.note


def _ending(arguments: Namespace, verdict: Verdict, *, by_row: bool = False) -> str:
    """What was written, and what to type next; nothing is to be done with an unusable threshold."""
    path, usable = arguments.output, verdict.state is not State.UNUSABLE
    wrote = "" if path is None else f"\n\nWrote {spelled(path)}"
    if path is not None and usable:
        return wrote + shared.next_step("apply", path, "new.csv", "-o", "decided.csv")
    if usable and not arguments.sql and not (by_row or _needs_rows(arguments)):
        return shared.next_step("evaluate", *arguments.words[1:], "--report", "report.html")
    return wrote


def _baseline(point: OperatingPoint) -> dict[str, Any] | None:
    """What flagging everything or nothing costs, and whether less was shown."""
    base = point.baseline
    if base is None:
        return None
    d = base.difference
    return {
        "rule": base.name,
        "value": shared.finite(base.value),
        "difference": None if d is None else shared.estimate(d.value, d),
        "shown": base.shown,
    }


def _money(point: OperatingPoint, name: str, reverse: bool) -> dict[str, Any]:
    """What costs of each row come to, for JSON."""
    if not isinstance(point, RowCostPoint):
        return {}
    saving, each, uniform = point.expect_saving(), point.expect_per_period(), point.uniform
    if uniform is not None and reverse:
        uniform = uniform._replace(threshold=0.0 - uniform.threshold)
    return {
        "rule": point.rule_text(name, reverse=reverse),
        "factor": shared.finite(point.factor),
        "total": shared.finite(point.total),
        "totals": {name: shared.finite(cost) for name, cost in point.baselines.items()},
        "uniform": None if uniform is None else uniform._asdict(),
        "saving": None if saving is None else shared.estimate(saving.value, saving),
        "per_period": None if each is None else shared.estimate(each.value, each),
    }


def _plain(name: str, point: OperatingPoint, verdict: Verdict, reverse: bool) -> dict[str, Any]:
    expected = expectation(point)
    c = point.confusion
    number = shared.finite
    rule, threshold = rule_of(point, reverse)
    return {
        "schema": "cutscore.choice/1",
        "score": name,
        "feasible": point.feasible,
        "verdict": shared.plain_verdict(verdict),
        "threshold": number(threshold),
        "flags": rule,
        **plain_cuts(point, reverse),
        "objective": point.objective,
        "value": number(point.value),
        "expected": None if expected is None else shared.estimate(expected.value, expected),
        "baseline": _baseline(point),
        **_money(point, name, reverse),
        "limits": [
            {"limit": s.limit, "value": number(s.value), "holds": bool(s.holds)}
            for s in point.status
        ],
        "confusion": asdict(c),
        "text": verdict_text(point, verdict, reverse, 80),
    }
