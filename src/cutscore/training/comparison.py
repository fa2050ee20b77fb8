"""Learners compared on what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from cutscore.comparison.comparison import compare
from cutscore.comparison.covariance import auc_covariance
from cutscore.core.errors import CutscoreError
from cutscore.core.findings.base import Finding
from cutscore.core.interval import Interval
from cutscore.decision.choice import OperatingPoint, choose, expectation, with_choice
from cutscore.inference.auc import auc_interval
from cutscore.linear.rows import Floats
from cutscore.measures.aim import Aim
from cutscore.sweeps.sweep import Sweep
from cutscore.training.data import Data
from cutscore.training.folds import OutOfFold
from cutscore.training.learners import LEARNERS

_REPLICATES = 200


@dataclass(frozen=True)
class Compared:
    """A learner among others: what it achieves on rows that it was not fitted to.

    Part of what :func:`cutscore.training.train` returns.
    """

    name: str
    value: float
    """Of the measure that learners are compared by; nan if it could not be fitted."""
    interval: Interval | None
    """Of the value, where the rows can tell one."""
    difference: float | None
    """To the chosen one: of the two values."""
    difference_interval: Interval | None
    seconds: float
    """What all folds took together."""
    notes: tuple[Finding, ...] = ()
    """Why it was left out, or what else is to be said."""


@dataclass(frozen=True)
class Result:
    """What a learner has of what is asked for, as it is expected on new rows."""

    value: float
    interval: Interval | None
    feasible: bool
    """Whether the limits can be met, on these rows: how many more rows a guarantee wants is the
    same for all."""


def value_of(s: Sweep, aim: Aim) -> float:
    """What learners are compared by, on these rows: the AUC, if nobody asked for anything."""
    return s.auc if aim.assumed else choose(s, aim.on_rows).value


def interval_of_auc(data: Data, scores: Floats, s: Sweep, level: float) -> Interval | None:
    """Of the AUC, where the rows can tell one. It is one of units, if there are some."""
    try:
        if data.unit is None:
            return auc_interval(s, level=level)
        found = auc_covariance(data.y, [scores], weight=data.weight, unit=data.unit)
        return found.intervals(level=level)[0]
    except CutscoreError:
        return None


def result_of(data: Data, scores: Floats, aim: Aim) -> Result:
    """What is asked for, of the scores of one learner."""
    s = data.sweep(scores)
    point = choose(s, aim.on_rows) if aim.limits or not aim.assumed else None
    feasible = point is None or point.feasible
    if aim.assumed or point is None:
        return Result(s.auc, interval_of_auc(data, scores, s, aim.level), feasible)
    point = with_data(point, data, [scores])
    found = expectation(point, aim.goal, aim.level)
    if found is None:
        return Result(point.value, None, feasible)
    return Result(found.value, Interval(found.low, found.high, aim.level), feasible)


def with_data(point: OperatingPoint, data: Data, scores: Sequence[Floats]) -> OperatingPoint:
    """The same point, that knows what it was chosen among: scores of some learners, or rows of
    units."""
    unit = None if data.unit is None else np.unique(data.unit, return_inverse=True)[1]
    return with_choice(point, data.y, scores, weight=data.weight, unit=unit)


def best_of(able: Sequence[str], results: dict[str, Result], aim: Aim) -> str:
    """The learner that does best, of equally good ones the simplest.

    The simplest that is not shown to be worse did worse on new rows: with few positives nothing is
    ever shown, and all of them make a line.
    """
    better = 1 if aim.assumed else aim.goal.better
    return max(able, key=lambda name: (results[name].feasible, better * results[name].value))


def compared_of(
    out: OutOfFold, chosen: str, results: dict[str, Result], data: Data, aim: Aim
) -> tuple[Compared, ...]:
    """Each learner, and how it differs from the chosen one on the same rows."""
    rows = []
    for name in LEARNERS:
        notes = out.notes.get(name, ())
        if name not in out.scores:
            if notes:
                rows.append(Compared(name, nan, None, None, None, 0.0, notes))
            continue
        own = results[name]
        d, between = None, None
        if name != chosen:
            d = own.value - results[chosen].value
            between = _interval(data, out.scores[name], out.scores[chosen], aim)
            if (
                between is not None
            ):  # it is of these rows' values, if costs are not all that is asked
                between = Interval(min(between.low, d), max(between.high, d), between.level)
        rows.append(Compared(name, own.value, own.interval, d, between, out.seconds[name], notes))
    return tuple(rows)


def _interval(data: Data, a: Floats, b: Floats, aim: Aim) -> Interval | None:
    """Of the difference of two learners, where the rows can tell one."""
    options: Any = {"weight": data.weight, "unit": data.unit, "level": aim.level}
    if aim.costs is not None and not aim.limits:
        options |= {"costs": aim.costs, "prior": aim.prior}
    elif not aim.assumed:
        options |= {
            "method": "bootstrap",
            "statistic": lambda s: value_of(s, aim),
            "n": _REPLICATES if len(data.y) <= 10**5 else _REPLICATES // 4,
        }
    try:
        found = compare(data.y, a, b, **options)
    except CutscoreError:  # scores that rank all rows alike, or too few rows to tell
        return None
    return found.interval if found.cost_interval is None else found.cost_interval
