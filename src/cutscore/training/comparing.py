"""Learners compared on what was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cutscore._interval import Interval
from cutscore._rows import Floats
from cutscore._sweep import Sweep, sweep
from cutscore.decision import OperatingPoint, choose, expectation
from cutscore.errors import CutscoreError
from cutscore.inference import auc_interval
from cutscore.objectives import Costs, as_objective
from cutscore.paired import auc_covariance, compare, units
from cutscore.selection import many, select_among
from cutscore.training.data import Data
from cutscore.training.folds import OutOfFold
from cutscore.training.known import learners

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
    """To the chosen one, on the same rows."""
    difference_interval: Interval | None
    seconds: float
    """What all folds took together."""
    note: str = ""
    """Why it was left out, or what else is to be said."""


@dataclass(frozen=True)
class Question:
    objective: Any
    limits: tuple[str, ...]
    prior: float | None
    confidence: float | None

    def point(
        self, s: Sweep, sure: bool = True, rows: tuple[Any, Any, Any] | None = None
    ) -> OperatingPoint:
        """The choice; ``rows`` are label, score and unit of each, where guarantees count units."""
        certain = sure and bool(self.limits) and self.confidence is not None
        return choose(
            s,
            "balanced" if self.objective is None else self.objective,
            subject_to=list(self.limits),
            prior=self.prior,
            confidence=self.confidence if certain else None,
            units=units(*rows) if certain and rows is not None else None,
        )

    def better(self) -> int:
        return 1 if self.objective is None else as_objective(self.objective).better

    def value(self, s: Sweep) -> float:
        """What learners are compared by, on these rows. Limits are met on the rows alone: how many
        more rows a guarantee wants is the same for all."""
        return s.auc if self.objective is None else self.point(s, sure=False).value

    def feasible(self, s: Sweep) -> bool:
        """Whether the limits can be met."""
        return not self.limits or self.point(s, sure=False).feasible

    def interval(self, data: Data, scores: Floats, level: float) -> Interval | None:
        """Of the AUC, where the rows can tell one. It is one of units, if there are some."""
        try:
            if data.unit is not None:
                return auc_covariance(
                    data.y, [scores], weight=data.weight, unit=data.unit
                ).intervals(level=level)[0]
            s = sweep(data.y, scores, data.weight, squares=data.weight is not None)
            return auc_interval(s, level=level)
        except CutscoreError:
            return None

    def estimate(self, data: Data, scores: Floats, level: float) -> tuple[float, Interval | None]:
        """What learners are compared by, as it is expected on new rows, and its interval."""
        s = sweep(data.y, scores, data.weight, squares=data.weight is not None)
        if self.objective is None:
            return s.auc, self.interval(data, scores, level)
        point = with_choice(self.point(s, sure=False), data, [scores])
        found = expectation(point, point.question.goal, level)
        if found is None:
            return point.value, None
        return found.value, Interval(found.low, found.high, level)


def with_choice(point: OperatingPoint, data: Data, scores: Sequence[Floats]) -> OperatingPoint:
    """The same point, that knows what it was chosen among: scores of some learners, or rows of
    units."""
    if (len(scores) == 1 and data.unit is None) or many(point.sweep):
        return point
    unit = None if data.unit is None else np.unique(data.unit, return_inverse=True)[1]
    found = select_among(data.y, scores, point.question, weight=data.weight, unit=unit)
    return replace(point, among=found)


def estimates_of(
    out: OutOfFold, data: Data, question: Question, level: float
) -> dict[str, tuple[float, Interval | None]]:
    """What each learner that could be fitted has of what is asked for."""
    return {name: question.estimate(data, score, level) for name, score in out.scores.items()}


def chosen_of(
    out: OutOfFold,
    able: Sequence[str],
    estimates: Mapping[str, tuple[float, Interval | None]],
    data: Data,
    question: Question,
) -> tuple[str, str]:
    """The learner that does best, of equally good ones the simplest; and why.

    The simplest that is not shown to be worse did worse on new rows: with few positives nothing is
    ever shown, and all of them make a line.
    """

    def key(name: str) -> tuple[bool, float]:
        feasible = question.feasible(sweep(data.y, out.scores[name], data.weight))
        return feasible, question.better() * estimates[name][0]

    what = "AUC" if question.objective is None else as_objective(question.objective).name
    best = max(able, key=key)
    if len(out.scores) + len(out.notes.keys() - out.scores.keys()) == 1:
        return best, f"{best} was asked for."
    value = f"{estimates[best][0]:.4g}"
    return best, f"{best} has the best {what} on rows it was not fitted to, {value}."


def compared_of(  # noqa: PLR0913, PLR0917 - what is known
    out: OutOfFold,
    chosen: str,
    estimates: Mapping[str, tuple[float, Interval | None]],
    data: Data,
    question: Question,
    level: float,
) -> tuple[Compared, ...]:
    """Each learner, and how it differs from the chosen one on the same rows."""
    rows = []
    for name in dict.fromkeys((*out.scores, *out.notes)):
        note = out.notes.get(name, "")
        if name not in out.scores:
            rows.append(Compared(name, float("nan"), None, None, None, 0.0, note))
            continue
        value, span = estimates[name]
        d, between = None, None
        if name != chosen:
            found = _difference(out, data, question, name, chosen, level)
            d, between = found or (value - estimates[chosen][0], None)
        rows.append(Compared(name, value, span, d, between, out.seconds[name], note))
    order = {name: k for k, name in enumerate(learners())}
    return tuple(sorted(rows, key=lambda row: order[row.name]))


def _replicates(data: Data) -> int:
    return _REPLICATES if len(data.y) <= 10**5 else _REPLICATES // 4


def _difference(  # noqa: PLR0913, PLR0917 - two scores of the same rows
    out: OutOfFold, data: Data, question: Question, a: str, b: str, level: float
) -> tuple[float, Interval] | None:
    options: Any = {"weight": data.weight, "unit": data.unit, "level": level}
    of_costs = isinstance(question.objective, Costs) and not question.limits
    if of_costs:
        options |= {"costs": question.objective, "prior": question.prior}
    elif question.objective is not None:
        options |= {
            "method": "bootstrap",
            "statistic": question.value,
            "n": _replicates(data),
        }
    try:
        found = compare(data.y, out.scores[a], out.scores[b], **options)
    except CutscoreError:  # scores that rank all rows alike, or too few rows to tell
        return None
    if found.cost_difference is not None and found.cost_interval is not None:
        return found.cost_difference, found.cost_interval
    return found.difference, found.interval
