"""cutscore choose --each: thresholds for rows of several groups."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from cutscore.cli import INFEASIBLE, engines, policies, shared
from cutscore.comparison.group_sweeps import sweeps_by_group
from cutscore.core.errors import UndefinedError, UsageError
from cutscore.core.findings import COMMAND, Conflict
from cutscore.core.findings.base import shown, spelled
from cutscore.core.findings.command import Usage
from cutscore.core.findings.statistics import GroupsInfeasible
from cutscore.core.progress import progress
from cutscore.decision.verdict import State, Verdict, judge_groups
from cutscore.inference.selection import Expected
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Costs
from cutscore.policy import Policy, Provenance
from cutscore.policy.words import promise_text

_SCHEMA = "cutscore.group_choice/1"


def check_groups(arguments: Namespace) -> None:
    """Raise if options for groups were given without a column of groups, or with what has none."""
    if arguments.each is not None:
        for name, given in (("normal", arguments.normal), ("period", arguments.period)):
            if given:
                rule = "limits in each group are on rows, and need positives and negatives"
                raise UsageError(Conflict(("each", name), rule))
        return
    for name, usual in (("gap", []), ("thresholds", "common"), ("small", "pool")):
        if getattr(arguments, name) != usual:
            rule = "groups need a column"
            raise UsageError(Conflict((name, "each"), rule, shared.NEEDS))


def run_groups(arguments: Namespace, what: shared.Named, costs: Costs | None) -> tuple[str, int]:
    """The best thresholds for rows of several groups."""
    (name,) = what.scores
    with progress("sweeping", not arguments.quiet):
        sweeps = _sweeps(arguments, what, name)
    limited = arguments.subject_to or arguments.gap
    aim = Aim(
        arguments.maximize if costs is None else costs,
        prior=arguments.prior,
        confidence=arguments.confidence if limited else None,
    )
    try:
        policy = Policy.choose_groups(
            sweeps,
            aim,
            column=arguments.each,
            each=arguments.subject_to,
            gap=arguments.gap,
            thresholds=arguments.thresholds,
            small=arguments.small,
            evidence=arguments.evidence,
            score=name,
            reverse=name in arguments.reverse,
            labels=policies.labels_of(arguments, what),
            provenance=policies.made_by(arguments, Provenance()),
        )
    except UndefinedError as error:
        if not isinstance(error.finding, GroupsInfeasible):
            raise
        return _infeasible(arguments, error.finding), INFEASIBLE
    if arguments.output == "-":
        return policy.to_json(), 0
    if arguments.output is not None:
        shared.write_files({arguments.output: policy.to_json() + "\n"})
    if arguments.json:
        verdict = shared.plain_verdict(verdict_of(policy))
        found = {"schema": _SCHEMA, "score": name, "verdict": verdict, **policies.plain(policy)}
        return shared.as_json(found | {"text": groups_text(policy)}), 0
    return groups_text(policy) + _ending(arguments), 0


def _sweeps(arguments: Namespace, what: shared.Named, name: str) -> Any:
    engine = engines.choose_engine(arguments, what.source, 3)
    if engine == "spark":
        raise UsageError(Usage("--each does not run on Spark", "Drop --engine spark."))
    squares = arguments.weight is not None
    if engine == "memory":
        rows = shared.rows(arguments, what, arguments.each)
        shared.remark(arguments, rows.note)
        return sweeps_by_group(
            rows.y, rows.scores[name], rows.group, weight=rows.weight, squares=squares
        )
    from cutscore.tables.scans.sweeps import sweep_file

    return sweep_file(
        what.source,
        label=what.label,
        score=name,
        weight=arguments.weight,
        group=arguments.each,
        positive=policies.labels_of(arguments, what).positive,
        squares=squares,
        memory_limit=engines.limit(arguments),
    )


def _infeasible(arguments: Namespace, finding: GroupsInfeasible) -> str:
    if arguments.json:
        plain = {"schema": _SCHEMA, "feasible": False, "error": finding.as_dict(COMMAND)}
        return shared.as_json(plain)
    text = finding.render(COMMAND)
    return f"{text[0].upper()}{text[1:]}"


def verdict_of(p: Policy) -> Verdict:
    """Whether to use the thresholds of groups."""
    rule = f"{p.rule[0].upper()}{p.rule[1:]}"
    return judge_groups(p.group_point, p.sweep, rule, score=p.score, reverse=p.reverse)


def groups_text(p: Policy) -> str:
    """The verdict, the thresholds, what to expect in each group and what holds in them."""
    assert p.groups is not None
    verdict = verdict_of(p)
    said = [f"  {line}" for found in verdict.findings for line in _wrapped(found.render(COMMAND))]
    if verdict.state is State.UNUSABLE:
        said.append(f"  thresholds: {p.rule}")
    level = f"expected on new rows ({100 * p.aim.level:g} % CI)"
    head = (p.groups.column, "threshold", "recall", "false positive rate")
    rows = [("all rows", "", *_rates(p.promises))]
    for name in p.groups.names:
        (threshold,) = p.cuts.groups.get(name, p.cuts.thresholds)
        rates = _rates(p.groups.promises.get(name, {}))
        rows.append((_printable(name), f"{threshold!r}" if p.cuts.groups else "", *rates))
    table = [tuple(row[k] for k in range(4) if k != 1 or p.cuts.groups) for row in (head, *rows)]
    sizes = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = [
        "  " + "  ".join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True)).rstrip()
        for row in table
    ]
    holds = [f"  {line}" for line in p.group_point.limit_lines]
    objective = f"  objective: {p.objective_words}"
    return "\n".join([verdict.headline, *said, objective, *holds, "", f"  {level}", *lines])


def _wrapped(text: str) -> list[str]:
    # Options are not torn at their dashes.
    return wrap(text, shared.width() - 2, break_on_hyphens=False, break_long_words=False)


def _rates(promises: Mapping[str, Expected]) -> tuple[str, str]:
    recall, fpr = (
        promise_text(name, promises.get(name), level=False) for name in ("recall", "fpr")
    )
    return recall, fpr


def _printable(name: str) -> str:
    return name if name.isprintable() and name.strip() else shown(name)


def _ending(arguments: Namespace) -> str:
    path = arguments.output
    if path is None:
        return ""
    return f"\n\nWrote {spelled(path)}" + shared.next_step(
        "apply", path, "new.csv", "-o", "decided.csv"
    )
