"""cutscore fit."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from typing import Any

from cutscore.cli import INFEASIBLE, engines, shared
from cutscore.core.findings import COMMAND
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import NothingWritten
from cutscore.core.names import quote_if_spaced
from cutscore.core.progress import progress
from cutscore.report import summarise_fit
from cutscore.training import train


def run(arguments: Namespace) -> tuple[str, int]:
    """Learn a detector, and write it."""
    shared.check_outputs(arguments)
    shared.check_options(arguments)
    costs = shared.costs(arguments)
    shared.points(arguments)
    table = shared.source(arguments)
    engine = engines.choose_engine(arguments, table, len(table.names))
    with ExitStack() as stack:
        tell = stack.enter_context(progress("fitting", not arguments.quiet))
        stream: Any = engine == "arrow"
        if engine == "spark":
            from cutscore.spark.training import encoded

            spark = stack.enter_context(engines.session(arguments))
            stream = encoded(arguments.paths, spark=spark)
        trained = train(
            table,
            arguments.target,
            positive=arguments.positive,
            learner=arguments.learner,
            maximize=arguments.maximize,
            costs=costs,
            subject_to=arguments.subject_to,
            prior=arguments.prior,
            confidence=arguments.confidence,
            columns=arguments.columns or None,
            exclude=arguments.exclude,
            categories=arguments.categories,
            numbers=arguments.numbers,
            max_categories=arguments.max_categories,
            weight=arguments.weight,
            unit=arguments.unit,
            folds=arguments.folds,
            seed=arguments.seed,
            stream=stream,
            report=tell,
        )
    summary = summarise_fit(trained, table.where)
    files: dict[str, str] = {}
    if arguments.output:
        files[arguments.output] = trained.detector.to_json() + "\n"
    if arguments.report:
        files[arguments.report] = shared.page(
            arguments, summary, f"Model for {quote_if_spaced(arguments.target)}"
        )
    code = 0 if trained.point.feasible else INFEASIBLE
    text = shared.as_json(summary.as_dict(COMMAND)) if arguments.json else shared.shown(summary)
    shared.write_files(files)
    if files and not arguments.json:
        text += f"\n\nWrote {', '.join(map(spelled, files))}"
        if arguments.output:
            text += shared.next_step("apply", arguments.output, "new.csv", "-o", "decided.csv")
    if not files:
        shared.remark(arguments, NothingWritten("model.json"))
    return text, code
