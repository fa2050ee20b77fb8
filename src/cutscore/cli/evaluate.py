"""cutscore evaluate."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from cutscore.cli import INFEASIBLE, engines, policies, row_costs, shared
from cutscore.core.errors import UsageError
from cutscore.core.findings import COMMAND, Conflict
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import Usage
from cutscore.core.findings.report import GroupsNotUnits
from cutscore.core.names import quote_if_spaced
from cutscore.core.progress import progress
from cutscore.decision.verdict import State
from cutscore.measures.costs import Costs
from cutscore.report import Summary, summarise, summarise_policy, summarise_sweeps


def run(arguments: Namespace) -> tuple[str, int]:
    """Summarise scores."""
    shared.check_outputs(arguments)
    shared.check_options(arguments)
    costs = shared.costs(arguments, by_row=True)
    if costs is not None and costs.by_row:
        return _run_by_row(arguments, costs)
    shared.points(arguments)  # before the work begins
    with progress("evaluating", not arguments.quiet) as tell:
        if tell:
            tell(0.02, "reading")
        what = shared.named(arguments)
        said: dict[str, Any] = {
            "costs": costs,
            "maximize": arguments.maximize,
            "subject_to": arguments.subject_to,
            "prior": arguments.prior,
            "confidence": arguments.confidence,
            "label": quote_if_spaced(what.label),
            "reverse": arguments.reverse,
            "group_name": arguments.group or "group",
            "source": what.source.where,
        }
        if arguments.positive is not None:
            said["label"] += f" = {quote_if_spaced(arguments.positive)}"
        engine = engines.choose_engine(arguments, what.source, len(what.scores) + 2)
        if arguments.unit and arguments.engine not in ("auto", "memory"):
            rule = "intervals for clusters require all rows in memory"
            raise UsageError(Usage(rule, f"Drop --unit or --engine {arguments.engine}."))
        if engine == "memory" or arguments.unit:
            rows = shared.rows(arguments, what, arguments.group, arguments.unit)
            note = rows.note
            if tell:
                tell(0.5, "counting")
            summary = summarise(
                rows.y,
                rows.scores,
                weight=rows.weight,
                group=rows.group,
                unit=rows.unit,
                **said,
            )
        else:
            found = engines.sweep_tables(arguments, what, arguments.group, tell=tell)
            note = found.note
            summary = summarise_sweeps(
                found.sweeps, rows=found.rows, samples=found.samples, groups=found.groups, **said
            )
        if note:
            summary = replace(summary, notices=(note, *summary.notices))
        scores = what.scores
        files: dict[str, str] = {}
        if arguments.report:
            if tell:
                tell(0.9, "drawing")
            title = " and ".join(scores) if len(scores) <= 3 else "Scores"
            files[arguments.report] = shared.page(arguments, summary, title)
        text = shared.as_json(summary.as_dict(COMMAND)) if arguments.json else shared.shown(summary)
        shared.write_files(files)
    if arguments.group and not arguments.unit:
        shared.remark(arguments, GroupsNotUnits(arguments.group))
    if not arguments.json:
        text += f"\n\nWrote {spelled(arguments.report)}" if files else ""
        text += _next(arguments, what, summary)
    return text, 0 if all(one.point.feasible for one in summary.scores) else INFEASIBLE


def _run_by_row(arguments: Namespace, costs: Costs) -> tuple[str, int]:
    """The same where costs differ by row: the report of the policy that would be chosen."""
    row_costs.check_engine(arguments)
    for option in ("group", "point"):
        if getattr(arguments, option, None):
            raise UsageError(Conflict(("costs", option), "costs that differ by row have neither"))
    shared.points(arguments)
    with progress("evaluating", not arguments.quiet):
        what = shared.named(arguments)
        point, _ = row_costs.choose_rows(arguments, what, costs)
        policy = policies.policy_of(arguments, what, point)
        summary = summarise_policy(policy, what.source.where)
        files = {}
        if arguments.report:
            files[arguments.report] = shared.page(arguments, summary, policy.score)
        text = shared.as_json(summary.as_dict(COMMAND)) if arguments.json else shared.shown(summary)
        shared.write_files(files)
    if files and not arguments.json:
        text += f"\n\nWrote {spelled(arguments.report)}"
    return text, 0 if policy.feasible else INFEASIBLE


def _next(arguments: Namespace, what: shared.Named, summary: Summary) -> str:
    """The next step: costs, a report, or none where no score is of use."""
    best = max(summary.scores, key=lambda one: one.auc.value)
    if all(one.verdict.state is State.UNUSABLE for one in summary.scores) or arguments.sql:
        return ""
    if summary.asked.assumed:
        words = shared.columns(arguments, what, best.name)
        return shared.next_step("choose", *words, "--cost", "fp=1,fn=20")
    if not arguments.report:
        return shared.next_step(*arguments.words, "--report", "report.html")
    return ""
