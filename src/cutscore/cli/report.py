"""cutscore report."""

from __future__ import annotations

from argparse import Namespace

from cutscore.cli import INFEASIBLE, shared
from cutscore.core.findings import COMMAND
from cutscore.core.findings.base import spelled
from cutscore.core.names import quote_if_spaced
from cutscore.detector import Detector
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.report.policies import summarise_policy


def run(arguments: Namespace) -> tuple[str, int]:
    """What a model or a policy does, from its evidence."""
    shared.check_outputs(arguments)
    detector = Detector.load(arguments.model)
    summary = summarise_policy(detector, arguments.model)
    files: dict[str, str] = {}
    if arguments.output:
        target = detector.policy.labels.column
        what = "Policy for" if isinstance(detector.scorer, ColumnScorer) else "Model for"
        title = detector.policy.score if target is None else f"{what} {quote_if_spaced(target)}"
        files[arguments.output] = shared.page(arguments, summary, title)
    text = shared.as_json(summary.as_dict(COMMAND)) if arguments.json else shared.shown(summary)
    shared.write_files(files)
    if files and not arguments.json:
        text += f"\n\nWrote {spelled(arguments.output)}"
    return text, 0 if detector.policy.feasible else INFEASIBLE
