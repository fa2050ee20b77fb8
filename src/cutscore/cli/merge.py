"""cutscore merge."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from cutscore.cli import INFEASIBLE, policies, shared
from cutscore.cli.groups import groups_text
from cutscore.core.errors import UsageError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import NothingWritten, Usage
from cutscore.decision.normal import is_normal
from cutscore.decision.verdict import judge
from cutscore.detector import Detector
from cutscore.policy import Policy
from cutscore.report.terminal import verdict_text


def run(arguments: Namespace) -> tuple[str, int]:
    """One policy of the evidence of several."""
    if len(arguments.models) < 2:
        raise UsageError(BadArgument("models", "be at least two files", arguments.models))
    if arguments.output == "-" and arguments.json:
        raise UsageError(Usage("-o - and --json both write to standard output"))
    shared.check_outputs(arguments)
    parts = {path: Detector.load(path) for path in arguments.models}
    if len(parts) < len(arguments.models):
        twice = next(path for path in parts if arguments.models.count(path) > 1)
        rule = "be given once, or its evidence would be counted twice"
        raise UsageError(BadArgument("models", rule, subject=spelled(twice)))
    merged = reduce(add, parts.values())
    policy = merged.policy
    policy = replace(policy, provenance=policies.made_by(arguments, policy.provenance))
    merged = replace(merged, policy=policy)
    code = 0 if policy.feasible else INFEASIBLE
    if arguments.output == "-":
        return merged.to_json(), code
    if arguments.output:
        shared.write_files({arguments.output: merged.to_json() + "\n"})
    else:
        shared.remark(arguments, NothingWritten("all.json"))
    if arguments.json:
        return shared.as_json(_plain(arguments, policy, parts)), code
    if policy.groups is None:
        verdict = judge(policy.point, score=policy.score, reverse=policy.reverse)
        text = verdict_text(policy.point, verdict, policy.reverse, shared.width(), shared.color())
    else:
        text = groups_text(policy)
    text += "\n\nEvidence\n"
    text += "\n".join(f"  {spelled(path)}: {d.policy.evidence!r}" for path, d in parts.items())
    if arguments.output:
        text += f"\n\nWrote {spelled(arguments.output)}"
        if not is_normal(merged.policy.sweep):
            text += shared.next_step("report", arguments.output, "-o", "report.html")
    return text, code


def _plain(arguments: Namespace, policy: Policy, parts: dict[str, Detector]) -> dict[str, Any]:
    return {
        "schema": "cutscore.merge/1",
        "models": [
            {"model": path, "evidence": repr(d.policy.evidence)} for path, d in parts.items()
        ],
        "written": arguments.output or None,
        "policy": policies.plain(policy),
    }
