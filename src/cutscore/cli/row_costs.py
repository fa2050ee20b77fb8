"""Costs that differ by row, for the commands that choose or show a decision."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

import numpy as np

from cutscore.cli import shared
from cutscore.comparison.row_costs import choose_by_row
from cutscore.core.errors import DataError, UsageError
from cutscore.core.findings import BadArgument, some
from cutscore.core.findings.command import Usage
from cutscore.core.findings.rows import RowCostUnfit
from cutscore.decision.row_costs import RowCostPoint
from cutscore.inference.periods import Periods
from cutscore.measures.costs import Costs
from cutscore.sweeps.sweep import Sweep


def check_engine(arguments: Namespace) -> None:
    """Raise if rows are not to be read into memory."""
    if arguments.engine not in ("auto", "memory"):
        rule = "a cost of each row reads all rows into memory"
        raise UsageError(Usage(rule, f"Drop --engine {arguments.engine}."))


def only_score(what: shared.Named) -> str:
    """The score that was named; one, not several."""
    if len(what.scores) != 1:
        raise UsageError(
            BadArgument("score", "name exactly one score", some(what.scores, show=str))
        )
    return what.scores[0]


def choose_rows(
    arguments: Namespace, what: shared.Named, costs: Costs
) -> tuple[RowCostPoint, Sweep]:
    """The best decisions, and the sweep of the score; of −score if low scores mean positive."""
    name = only_score(what)
    period, unit = (getattr(arguments, option, None) for option in ("period", "unit"))
    rows = shared.rows(arguments, what, period, unit, costs=costs.columns)
    score = rows.scores[name]
    if name in arguments.reverse:
        score = 0.0 - np.asarray(score, np.float64)
    try:
        point = choose_by_row(
            *(rows.y, score, costs, rows.costs),
            subject_to=arguments.subject_to,
            prior=arguments.prior,
            confidence=arguments.confidence if arguments.subject_to else None,
            weight=rows.weight,
            period=rows.group,
            unit=rows.unit,
            exposure=getattr(arguments, "exposure", None),
        )
    except DataError as error:
        found = error.finding
        if not isinstance(found, RowCostUnfit):
            raise
        raise DataError(found.at(file=what.source.where, parameter=None)) from error
    shared.remark(arguments, rows.note)
    days = point.question.periods
    if isinstance(days, Periods):
        shared.remark_all(arguments, days.findings)
        days = replace(days, column=period)
        point = replace(point, question=replace(point.question, periods=days))
    assert point.rows is not None
    return point, point.rows.scores
