"""Learners compared on what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cutscore._interval import Interval
from cutscore._rows import Floats
from cutscore._sweep import Sweep, sweep
from cutscore.decision import OperatingPoint, choose
from cutscore.errors import CutscoreError
from cutscore.inference import auc_interval, interval
from cutscore.objectives import as_objective
from cutscore.paired import auc_covariance, bootstrap_rows, compare
from cutscore.paired.best import Best
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

    def point(self, s: Sweep, sure: bool = True) -> OperatingPoint:
        return choose(
            s,
            "balanced" if self.objective is None else self.objective,
            subject_to=list(self.limits),
            prior=self.prior,
            confidence=self.confidence if sure and self.limits else None,
        )

    def better(self) -> int:
        return 1 if self.objective is None else as_objective(self.objective).better

    def value(self, s: Sweep) -> float:
        """What learners are compared by. Limits are met on the rows alone: how many more rows a
        guarantee wants is the same for all."""
        return self.judged(s)[1]

    def judged(self, s: Sweep) -> tuple[bool, float]:
        """Whether the limits are met, and the value."""
        if self.objective is None and not self.limits:
            return True, s.auc
        point = self.point(s, sure=False)
        return point.feasible, s.auc if self.objective is None else point.value

    @property
    def statistic(self) -> Callable[[Sweep], float]:
        """The same value, as the bootstrap takes it: of the best cut there is a faster way."""
        if self.objective is None or self.limits:
            return self.value
        return Best(self.objective, self.prior)

    def interval(self, data: Data, scores: Floats, level: float) -> Interval | None:
        """Of that value, where the rows can tell one. It is one of units, if there are some."""
        try:
            if data.unit is not None and self.objective is None:
                return auc_covariance(
                    data.y, [scores], weight=data.weight, unit=data.unit
                ).intervals(level=level)[0]
            if data.unit is not None:
                return bootstrap_rows(
                    data.y,
                    scores,
                    self.statistic,
                    weight=data.weight,
                    unit=data.unit,
                    n=_replicates(data),
                    level=level,
                ).interval
            s = sweep(data.y, scores, data.weight, squares=data.weight is not None)
            if self.objective is None:
                return auc_interval(s, level=level)
            point = self.point(s, sure=False)
            goal = point.question.goal
            return interval(s, goal, at=point.threshold, prior=self.prior, level=level)
        except CutscoreError:
            return None


def _value(out: OutOfFold, name: str, data: Data, question: Question) -> float:
    return question.value(sweep(data.y, out.scores[name], data.weight))


def chosen_of(
    out: OutOfFold, able: Sequence[str], data: Data, question: Question
) -> tuple[str, str]:
    """The learner that does best, of equally good ones the simplest; and why.

    The simplest that is not shown to be worse did worse on new rows: with few positives nothing is
    ever shown, and all of them make a line.
    """
    found = {name: question.judged(sweep(data.y, out.scores[name], data.weight)) for name in able}
    what = "AUC" if question.objective is None else as_objective(question.objective).name
    best = max(found, key=lambda name: (found[name][0], question.better() * found[name][1]))
    if len(out.scores) + len(out.notes.keys() - out.scores.keys()) == 1:
        return best, f"{best} was asked for."
    return best, f"{best} has the best {what} on rows it was not fitted to, {found[best][1]:.4g}."


def compared_of(
    out: OutOfFold, chosen: str, data: Data, question: Question, level: float
) -> tuple[Compared, ...]:
    """Each learner, and how it differs from the chosen one on the same rows."""
    rows = []
    for name in dict.fromkeys((*out.scores, *out.notes)):
        note = out.notes.get(name, "")
        if name not in out.scores:
            rows.append(Compared(name, float("nan"), None, None, None, 0.0, note))
            continue
        value = _value(out, name, data, question)
        span = question.interval(data, out.scores[name], level)
        d, between = None, None
        if name != chosen:
            found = _difference(out, data, question, name, chosen, level)
            d, between = found or (value - _value(out, chosen, data, question), None)
        rows.append(Compared(name, value, span, d, between, out.seconds[name], note))
    order = {name: k for k, name in enumerate(learners())}
    return tuple(sorted(rows, key=lambda row: order[row.name]))


def _replicates(data: Data) -> int:
    return _REPLICATES if len(data.y) <= 10**5 else _REPLICATES // 4


def _difference(  # noqa: PLR0913, PLR0917 - two scores of the same rows
    out: OutOfFold, data: Data, question: Question, a: str, b: str, level: float
) -> tuple[float, Interval] | None:
    options: Any = {"weight": data.weight, "unit": data.unit, "level": level}
    if question.objective is not None:
        options |= {
            "method": "bootstrap",
            "statistic": question.statistic,
            "n": _replicates(data),
        }
    try:
        found = compare(data.y, out.scores[a], out.scores[b], **options)
    except CutscoreError:  # scores that rank all rows alike, or too few rows to tell
        return None
    return found.difference, found.interval
