"""cutscore choose."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cutscore.cli import INFEASIBLE, UsageError, engines, shared
from cutscore.core.errors import UndefinedError
from cutscore.core.findings import COMMAND, BadArgument, Conflict, some
from cutscore.core.findings.report import Inverted
from cutscore.core.progress import progress
from cutscore.decision.choice import OperatingPoint, choose, expectation, rule_of
from cutscore.decision.verdict import State, Verdict, judge
from cutscore.report.summary import aim_words
from cutscore.report.terminal import flagged_by, point_lines, rendered, verdict_block

_FEW = 1_000_000


def run(arguments: Namespace) -> tuple[str, int]:
    """The best threshold of one score."""
    costs = shared.costs(arguments)
    shared.check_options(arguments)
    if costs is None and arguments.maximize is None:
        aim = "Give {0} fp=1,fn=20 or {1} f1."
        raise UsageError(Conflict(("costs", "maximize"), "there must be one aim", aim))
    what = shared.named(arguments)
    if len(what.scores) != 1:
        raise UsageError(BadArgument("score", "name one score", some(what.scores, show=str)))
    name = what.scores[0]
    point = None
    reverse = name in arguments.reverse
    # Most aims need no more than a compact sweep, which can't be turned round, and has no folds: of
    # few rows all scores are kept.
    few = (what.source.rows or _FEW + 1) <= _FEW
    for compact in (False,) if reverse or few else (True, False):
        with progress("sweeping", not arguments.quiet) as tell:
            found = engines.sweep_tables(arguments, what, tell=tell, compact=compact)
        s = found.sweeps[name]
        s = s.negated() if reverse else s
        try:
            point = choose(
                s,
                costs if costs is not None else arguments.maximize,
                subject_to=arguments.subject_to,
                prior=arguments.prior,
                confidence=arguments.confidence if arguments.subject_to else None,
            )
            break
        except UndefinedError:
            if not s.merged:
                raise
    assert point is not None
    shared.remark(arguments, found.note)
    verdict = judge(point, score=name, reverse=reverse)
    if s.P > 0 and s.N > 0 and s.auc < 0.5 and not isinstance(verdict.finding, Inverted):
        shared.remark(arguments, Inverted(s.auc, name, reverse))
    code = 0 if point.feasible else INFEASIBLE
    if arguments.json:
        return shared.as_json(_plain(name, point, verdict, reverse)), code
    text = _text(point, verdict, reverse, shared.width(), shared.color())
    if verdict.state is not State.UNUSABLE and not arguments.sql:
        text += shared.next_step("evaluate", *arguments.words[1:], "--report", "report.html")
    return text, code


def _text(
    point: OperatingPoint, verdict: Verdict, reverse: bool, width: int, color: bool = False
) -> str:
    rule = flagged_by(point, verdict, reverse)
    lines = [f"{rule}for {aim_words(point.question)}", *point_lines(point, point.question.level)]
    return rendered(iter([verdict_block(verdict, lines, COMMAND)]), width, color=color)


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


def _plain(name: str, point: OperatingPoint, verdict: Verdict, reverse: bool) -> dict[str, Any]:
    expected = expectation(point)
    c = point.confusion
    number = shared.finite
    rule, threshold = rule_of(point, reverse)
    return {
        "schema": "cutscore.choice/1",
        "score": name,
        "feasible": point.feasible,
        "verdict": {
            "state": verdict.state.value,
            "headline": verdict.headline,
            "findings": [found.as_dict(COMMAND) for found in verdict.findings],
        },
        "threshold": number(threshold),
        "flags": rule,
        "objective": point.objective,
        "value": number(point.value),
        "expected": None if expected is None else shared.estimate(expected.value, expected),
        "baseline": _baseline(point),
        "limits": [
            {"limit": s.limit, "value": number(s.value), "holds": bool(s.holds)}
            for s in point.status
        ],
        "confusion": {k: getattr(c, k) for k in ("tp", "fp", "fn", "tn")},
        "text": _text(point, verdict, reverse, 80),
    }
