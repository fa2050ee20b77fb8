"""What a policy promises of new rows."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite
from typing import Any

from cutscore.comparison.covariance import auc_over
from cutscore.comparison.rows import units as units_of
from cutscore.core.errors import CutscoreError
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.row_costs import RowCostPoint
from cutscore.decision.words import expectation
from cutscore.inference.auc import auc_interval
from cutscore.inference.periods import share_over
from cutscore.inference.roc_band import band_width
from cutscore.inference.selection import Expected
from cutscore.inference.units import as_units
from cutscore.measures.aim import GoalLike, as_objective
from cutscore.sweeps.sweep import Sweep

RATES = ("recall", "fpr", "precision", "flagged_rate")
"""What is promised besides what was aimed at."""
THREE_WAY_RATES = (
    *("recall", "fnr", "fpr", "specificity"),
    *("precision", "npv", "review_rate", "error_rate"),
)
"""The same of two cuts."""


def promises_of(
    point: OperatingPoint, *, given: bool = False, scores: int = 1, of_scores: Sweep | None = None
) -> dict[str, Expected]:
    """What to expect on new rows: of what was aimed at, of the usual rates and of the AUC.

    Of a threshold that was given there was no choice to account for: it has the intervals of the
    rows. Where a choice can't be repeated, since a precision is guaranteed, rates have intervals
    that hold for all cuts at once, of all ``scores`` that were compared. The AUC is that of
    ``of_scores``, if thresholds are not on the score itself.
    """
    aim, s = point.question, point.sweep if of_scores is None else of_scores
    wanted: dict[str, Any] = {point.objective: aim.goal}
    for name in THREE_WAY_RATES if aim.three_way else RATES:
        wanted.setdefault(name, name)
    out: dict[str, Expected] = {}
    for name, measure in wanted.items():
        found = _of_given(point, measure) if given else expectation(point, measure, aim.level)
        if found is not None and all(map(isfinite, found)):
            out[name] = found
    if isinstance(point, RowCostPoint):
        saved = point.expect_saving(level=aim.level)
        out |= {} if saved is None else {"saving": saved}
    if not given and not out:
        out = _certain(point, scores)
    units = as_units(aim.units)
    rows = point.rows if isinstance(point, RowCostPoint) else None
    if rows is not None and rows.score is not None and rows.unit is not None:
        units = units_of(rows.positive, rows.score, rows.unit, weight=rows.weight)
    with suppress(CutscoreError):
        if units is None:
            low, high = auc_interval(s, level=aim.level)
            out["auc"] = Expected(s.auc, low, high, aim.level)
        else:  # the share of positives too, which the file can't tell without the clusters
            out["auc"] = auc_over(units, aim.level)
            out["prevalence"] = share_over(units, aim.level)
    return out


def _certain(point: OperatingPoint, scores: int) -> dict[str, Expected]:
    """What is sure whatever was chosen: rates to within the band of all cuts, and a precision that
    is guaranteed."""
    aim, s, c = point.question, point.sweep, point.confusion
    limits = [limit for limit in aim.limits if limit.measure.name == "precision"]
    if aim.confidence is None or not limits or not (s.P and s.N):
        return {}
    out = {}
    for name, rows in (("recall", s.P), ("fpr", s.N), ("flagged_rate", s.P + s.N)):
        rate, half = float(getattr(c, name)), band_width(rows, aim.level, scores)
        out[name] = Expected(rate, max(rate - half, 0.0), min(rate + half, 1.0), aim.level)
    if point.feasible and c.flagged:
        bound = max(limit.bound for limit in limits)
        out["precision"] = Expected(float(c.precision), bound, 1.0, aim.confidence)
    return out


def _of_given(point: OperatingPoint, measure: GoalLike) -> Expected | None:
    aim, goal = point.question, as_objective(measure)
    with suppress(CutscoreError):
        return point.as_given(goal, aim.level)
    return None
