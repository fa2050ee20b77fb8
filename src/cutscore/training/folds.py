"""Scores of rows by models that were fitted to other rows, on one scale.

Of lines, each fold has one of its own, and with it a scale of its own. Where a level of a category
is seen among positives alone, say, a handful of rows decides how large all weights are: the scores
of one fold lie around -60 then, those of the next around -95. Laid together as they are, they would
rank the folds rather than the rows, and no threshold of theirs would mean anything to the line that
is shipped. So each line is first brought to the scale of that one, by what both give to the same
rows. Boosted trees have log-odds for scores, so that these are on one scale already.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings.base import Finding
from cutscore.core.findings.statistics import FoldOneClass, NotConverged
from cutscore.core.findings.training import LearnerEmpty, LearnerSampled, LearnerSkipped
from cutscore.core.progress import Report
from cutscore.linear.line import LinearDetector
from cutscore.linear.rows import Flags, Floats
from cutscore.measures.aim import Aim
from cutscore.measures.registry import Objective
from cutscore.training.fitted import Fitted, FittedLine
from cutscore.training.registry import Learner
from cutscore.training.rows import HELD, Data

# What is said of learners that take columns as they are, where the table is elsewhere.
NEEDS_MEMORY = "it needs the whole table in memory, in dense form."
# Rows at the most on which scales are compared.
_SAMPLE = 50_000
# Rows at least on which scales are compared, however wide they are.
_LEAST = 1_000


class ScoreScale(NamedTuple):
    """Where scores lie and how far apart. A few wild ones have little say: the median, and the mean
    distance to it."""

    centre: float
    spread: float

    @classmethod
    def of(cls, scores: Floats, weight: Floats | None) -> ScoreScale:
        centre = float(np.median(scores)) if weight is None else _median(scores, weight)
        return cls(centre, float(np.average(np.abs(scores - centre), weights=weight)))

    def onto(self, other: ScoreScale, scores: Floats) -> Floats:
        """The same scores in the other's units; their order stays."""
        comparable = self.spread > 0 and other.spread > 0
        slope = other.spread / self.spread if comparable else 1.0
        return (scores - self.centre) * slope + other.centre


def _median(values: Floats, weight: Floats) -> float:
    """The median of a table that has a row of weight 2 twice."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    low, high = (np.searchsorted(mass, mass[-1] / 2, side) for side in ("left", "right"))
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2


class Yardstick(NamedTuple):
    """Rows that tell how the scales of lines compare."""

    X: Any
    fold: NDArray[np.intp]
    weight: Floats | None

    @classmethod
    def of(cls, data: Data) -> Yardstick:
        """All rows, or as many as are soon looked at."""
        fold = data.fold
        count = min(len(fold), _SAMPLE, max(HELD // data.features, _LEAST))
        at = np.arange(len(fold))
        if count < len(fold):
            at = np.sort(np.random.default_rng(0).choice(at, count, replace=False))
        return cls(data.some(at), fold[at], None if data.weight is None else data.weight[at])

    def scale(self, scores: Floats, some: Flags | None = None) -> ScoreScale:
        """The scale of what a line gives to all of these rows, or to some."""
        if some is None:
            return ScoreScale.of(scores, self.weight)
        return ScoreScale.of(scores[some], None if self.weight is None else self.weight[some])

    def together(
        self, lines: list[LinearDetector], scores: Floats, fold: NDArray[np.intp]
    ) -> tuple[Floats, ScoreScale]:
        """Scores of all folds on the scale of the mean of their lines, and that scale.

        What a line gives to rows it was fitted to is compared: those of its own fold have no say in
        where they come to lie.
        """
        given = [line.scores(self.X) for line in lines]
        mean = np.mean(given, axis=0)
        out = np.empty_like(scores)
        for k, own in enumerate(given):
            seen, test = self.fold != k, fold == k
            out[test] = self.scale(own, seen).onto(self.scale(mean, seen), scores[test])
        return out, self.scale(mean)


@dataclass(frozen=True)
class OutOfFold:
    """Scores of the learners that could be fitted, and what is to be said of any."""

    scores: dict[str, Floats]
    seconds: dict[str, float]
    notes: dict[str, tuple[Finding, ...]]
    empty: set[str]
    """Those that found nothing in some fold: all rows have the same score."""
    fitted: dict[str, tuple[Fitted, ...]]
    """What each learner made of the other folds, fold by fold."""
    yardstick: Yardstick | None
    """None where there are no lines."""
    scales: dict[str, ScoreScale]
    """The scale of each line's scores."""

    def able(self) -> list[str]:
        return [name for name in self.scores if name not in self.empty]

    def onto(self, name: str, fitted: Fitted) -> Floats:
        """The scores of a learner on the scale of what it makes of all rows."""
        if not isinstance(fitted, FittedLine):
            return self.scores[name]
        assert self.yardstick is not None
        scale = self.yardstick.scale(fitted.line.scores(self.yardstick.X))
        return self.scales[name].onto(scale, self.scores[name])


@dataclass
class _Attempt:
    """What the folds of one learner came to so far."""

    learner: Learner
    scores: Floats
    seconds: float = 0.0
    unfinished: int = 0
    empty: int = 0
    sampled: int = 0

    def __post_init__(self) -> None:
        self.fitted: list[Fitted] = []


@dataclass(frozen=True)
class Plan:
    """What is to be fitted."""

    learners: tuple[Learner, ...]
    aim: Aim

    @property
    def goal(self) -> Objective | None:
        """What is aimed at, if anything was asked for."""
        return None if self.aim.by_auc else self.aim.goal

    @property
    def auto(self) -> bool:
        """Whether several are compared."""
        return len(self.learners) > 1


def out_of_fold(data: Data, plan: Plan, tell: Report) -> OutOfFold:
    """The scores of each learner. The rows of a fold are picked once, for all of them."""
    lines = any(learner.is_line for learner in plan.learners)
    out = OutOfFold({}, {}, {}, set(), {}, Yardstick.of(data) if lines else None, {})
    _check_classes(data)
    tries: dict[str, _Attempt] = {}
    for learner in plan.learners:
        if plan.auto and learner.dense_below and data.features > learner.dense_below:
            out.notes[learner.name] = (
                LearnerSkipped(f"left out: there are more than {learner.dense_below:,} features."),
            )
        elif not learner.is_line and data.values is None:
            out.notes[learner.name] = (LearnerSkipped(NEEDS_MEMORY),)
        else:
            tries[learner.name] = _Attempt(learner, np.empty(len(data.y)))
    for k in range(data.folds):
        rest, held = data.without(k), data.of_fold(k)
        for j, (name, one) in enumerate(list(tries.items())):
            tell(
                0.1 + 0.75 * (k + j / len(tries)) / data.folds,
                f"{name}, fold {k + 1} of {data.folds}",
            )
            start, most, some = perf_counter(), one.learner.sample_above, rest
            try:
                if plan.auto and most and len(rest.at) > most:
                    some = data.sample(_sample(data.y, rest.at, most, k))
                    one.sampled += 1
                fitted = one.learner.learn(some, plan.goal)
                one.scores[held.at] = fitted.scores(held)
            except (CutscoreError, np.linalg.LinAlgError, MemoryError) as error:
                reason = str(error) or "there is not enough memory for it."
                out.notes[name] = (LearnerSkipped(reason),)
                del tries[name]
                continue
            one.fitted.append(fitted)
            one.unfinished += not fitted.converged
            one.empty += fitted.empty
            one.seconds += perf_counter() - start
    for one in tries.values():
        _gather(out, one, data)
    return out


def _check_classes(data: Data) -> None:
    positives = np.bincount(data.fold, data.y, data.folds)
    negatives = np.bincount(data.fold, ~data.y, data.folds)
    for k in range(data.folds):
        if positives[k] == positives.sum() or negatives[k] == negatives.sum():
            raise DataError(FoldOneClass(k + 1, data.folds))


def _gather(out: OutOfFold, one: _Attempt, data: Data) -> None:
    """Lay the scores of all folds together, and note what is to be said."""
    name = one.learner.name
    scores = one.scores
    lines = [fitted.line for fitted in one.fitted if isinstance(fitted, FittedLine)]
    if lines:
        assert out.yardstick is not None
        with np.errstate(over="ignore", invalid="ignore"):
            scores, out.scales[name] = out.yardstick.together(lines, scores, data.fold)
    if not (np.isfinite(scores).all() and np.isfinite(out.scales.get(name, 0.0)).all()):
        out.notes[name] = (LearnerSkipped("its scores are not finite."),)
        return
    out.scores[name], out.seconds[name] = scores, one.seconds
    out.fitted[name] = tuple(one.fitted)
    notes: list[Finding] = []
    if one.empty:
        out.empty.add(name)
        notes.append(LearnerEmpty(one.empty, data.folds))
    elif one.unfinished and one.learner.converges:
        notes.append(NotConverged(name, one.unfinished, data.folds, of="folds"))
    if one.sampled and one.learner.sample_above:
        notes.append(LearnerSampled(one.learner.sample_above))
    if notes:
        out.notes[name] = tuple(notes)


def _sample(y: Flags, rows: NDArray[np.intp], size: int, seed: int) -> NDArray[np.intp]:
    """Some of these rows, in their order, with the share of either class that they have."""
    rng = np.random.default_rng(seed)
    ones, zeros = rows[y[rows]], rows[~y[rows]]
    p = min(max(round(size * len(ones) / len(rows)), 1), size - 1)
    both = (rng.choice(ones, p, replace=False), rng.choice(zeros, size - p, replace=False))
    return np.sort(np.concatenate(both))
