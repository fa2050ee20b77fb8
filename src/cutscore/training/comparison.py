"""Learners compared on what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from cutscore.comparison.class_samples import auc_difference, sample_classes, sampled_covariance
from cutscore.comparison.comparison import compare
from cutscore.comparison.covariance import AucCovariance, auc_covariance
from cutscore.core.errors import CutscoreError
from cutscore.core.findings.base import Finding
from cutscore.core.interval import Interval
from cutscore.decision.choice import OperatingPoint, choose, with_choice
from cutscore.decision.words import expectation
from cutscore.inference.auc import auc_interval
from cutscore.linear.rows import Floats
from cutscore.measures.aim import Aim
from cutscore.sweeps.sweep import Sweep
from cutscore.training.folds import OutOfFold
from cutscore.training.registry import LEARNERS
from cutscore.training.rows import Data

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

    sweep: Sweep
    value: float
    interval: Interval | None
    feasible: bool
    """Whether the limits can be met, on these rows: how many more rows a guarantee wants is the
    same for all."""


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
    point = choose(s, aim.on_rows) if aim.limits or not aim.by_auc else None
    feasible = point is None or point.feasible
    if aim.by_auc or point is None:
        return Result(s, s.auc, interval_of_auc(data, scores, s, aim.level), feasible)
    point = with_data(point, data, [scores])
    found = expectation(point, aim.goal, aim.level)
    if found is None:
        return Result(s, point.value, None, feasible)
    return Result(s, found.value, Interval(found.low, found.high, aim.level), feasible)


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
    better = 1 if aim.by_auc else aim.goal.better
    return max(able, key=lambda name: (results[name].feasible, better * results[name].value))


def compare_learners(
    out: OutOfFold, chosen: str, results: dict[str, Result], data: Data, aim: Aim
) -> tuple[Compared, ...]:
    """Each learner, and how it differs from the chosen one on the same rows."""
    areas = _areas(out, results, data) if aim.by_auc and len(results) > 1 else None
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
            with suppress(CutscoreError):  # scores that rank all rows alike, or too few to tell
                if not aim.by_auc:
                    between = _interval(data, out.scores[name], out.scores[chosen], aim)
                elif areas is not None:
                    between = auc_difference(areas, name, chosen, level=aim.level).interval
            if between is not None:  # of costs it is that of the bootstrap
                between = Interval(min(between.low, d), max(between.high, d), between.level)
        rows.append(Compared(name, own.value, own.interval, d, between, out.seconds[name], notes))
    return tuple(rows)


def _areas(out: OutOfFold, results: dict[str, Result], data: Data) -> AucCovariance | None:
    """The covariance of the AUCs, of units where there are some; None where rows can't tell it."""
    try:
        if data.unit is not None:
            return auc_covariance(data.y, out.scores, weight=data.weight, unit=data.unit)
        sweeps = {name: result.sweep for name, result in results.items()}
        return sampled_covariance(sweeps, sample_classes(data.y, out.scores, data.weight, None))
    except CutscoreError:
        return None


def _interval(data: Data, a: Floats, b: Floats, aim: Aim) -> Interval:
    """Of the difference in what is asked for: costs at their best cuts, or a measure."""
    options: dict[str, Any] = {"weight": data.weight, "unit": data.unit, "level": aim.level}
    if aim.costs is not None and not aim.limits:
        found = compare(data.y, a, b, costs=aim.costs, prior=aim.prior, **options)
        assert found.cost_interval is not None
        return found.cost_interval
    on_rows = aim.on_rows
    samples = _REPLICATES if len(data.y) <= 10**5 else _REPLICATES // 4
    return compare(
        data.y,
        a,
        b,
        method="bootstrap",
        statistic=lambda s: choose(s, on_rows).value,
        n=samples,
        **options,
    ).interval
