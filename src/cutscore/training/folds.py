"""Scores of rows by lines that were fitted to other rows, on one scale.

Each fold has a line of its own, and with it a scale of its own. Where a level of a category is seen
among positives alone, say, a handful of rows decides how large all weights are: the scores of one
fold lie around -60 then, those of the next around -95. Laid together as they are, they would rank
the folds rather than the rows, and no threshold of theirs would mean anything to the line that is
shipped. So each line is first brought to the scale of that one, by what both give to the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore._rows import Flags, Floats
from cutscore.errors import CutscoreError, DataError
from cutscore.linear.detector import LinearDetector
from cutscore.training.data import HELD, Data
from cutscore.training.known import Learn

# Told how much is done, from 0 to 1, and what comes next.
Report = Callable[[float, str], None]
# Learners that invert matrices of all features are left out of "auto" beyond so many.
_WIDE = 2_000
# Of more rows "auto" shows `structural` a sample in each fold: it takes longer than all the others.
_SLOW = {"structural"}
_SAMPLE = 50_000
# Rows at least on which scales are compared, however wide they are.
_LEAST = 1_000


class Scale(NamedTuple):
    """Where scores lie and how far apart. A few wild ones have little say: the median, and the mean
    distance to it."""

    centre: float
    spread: float

    @classmethod
    def of(cls, scores: Floats, weight: Floats | None) -> Scale:
        centre = float(np.median(scores)) if weight is None else _median(scores, weight)
        return cls(centre, float(np.average(np.abs(scores - centre), weights=weight)))

    def onto(self, other: Scale, scores: Floats) -> Floats:
        """The same scores in the other's units; their order stays."""
        told = self.spread > 0 and other.spread > 0
        slope = other.spread / self.spread if told else 1.0
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
    def of(cls, data: Data, fold: NDArray[np.intp]) -> Yardstick:
        """All rows, or as many as are soon looked at."""
        count = min(len(fold), _SAMPLE, max(HELD // data.features, _LEAST))
        at = np.arange(len(fold))
        if count < len(fold):
            at = np.sort(np.random.default_rng(0).choice(at, count, replace=False))
        return cls(data.some(at), fold[at], None if data.weight is None else data.weight[at])

    def scale(self, scores: Floats, some: Flags | None = None) -> Scale:
        """The scale of what a line gives to all of these rows, or to some."""
        if some is None:
            return Scale.of(scores, self.weight)
        return Scale.of(scores[some], None if self.weight is None else self.weight[some])

    def together(
        self, lines: list[LinearDetector], scores: Floats, fold: NDArray[np.intp]
    ) -> tuple[Floats, Scale]:
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
    notes: dict[str, str]
    empty: set[str]
    """Those that found nothing in some fold: all weights are 0."""
    yardstick: Yardstick
    scales: dict[str, Scale]
    """The scale of each learner's scores."""

    def able(self) -> list[str]:
        return [name for name in self.scores if name not in self.empty]

    def onto(self, name: str, line: LinearDetector) -> Floats:
        """The scores of a learner on the scale of its line for all rows."""
        scale = self.yardstick.scale(line.scores(self.yardstick.X))
        return self.scales[name].onto(scale, self.scores[name])


def out_of_fold(
    data: Data, chosen: dict[str, Learn], fold: NDArray[np.intp], tell: Report
) -> OutOfFold:
    out = OutOfFold({}, {}, {}, set(), Yardstick.of(data, fold), {})
    count = int(fold.max()) + 1
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]
    for k, (rest, _) in enumerate(splits):
        if data.y[rest].all() or not data.y[rest].any():
            raise DataError(
                f"all rows of one class are in fold {k + 1} of {count}, whose units stay "
                "together: use fewer folds, or smaller units if one has them all."
            )
    for j, (name, learn) in enumerate(chosen.items()):
        if len(chosen) > 1 and name in ("gaussian", "fisher") and data.features > _WIDE:
            out.notes[name] = f"left out: there are more than {_WIDE:,} features"
            continue
        scores, start = np.empty(len(data.y)), perf_counter()
        lines: list[LinearDetector] = []
        unfinished = empty = sampled = 0
        try:
            for k, (rest, test) in enumerate(splits):
                done = (j * count + k) / (len(chosen) * count)
                tell(0.1 + 0.75 * done, f"{name}, fold {k + 1} of {count}")
                if len(chosen) > 1 and name in _SLOW and len(rest) > _SAMPLE:
                    some, sampled = data.sample(_sample(data.y, rest, k)), sampled + 1
                else:
                    some = data.rows(rest)
                fit = learn(some)
                scores[test] = data.scores(fit.detector, test)
                lines.append(fit.detector)
                unfinished += not fit.converged
                empty += not fit.detector.w.any()
        except (CutscoreError, np.linalg.LinAlgError, MemoryError) as error:
            out.notes[name] = str(error) or "there is not enough memory for it"
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            scores, scale = out.yardstick.together(lines, scores, fold)
        if not (np.isfinite(scores).all() and np.isfinite(scale).all()):
            out.notes[name] = "its scores are no finite numbers"
            continue
        out.scores[name], out.scales[name] = scores, scale
        out.seconds[name] = perf_counter() - start
        if empty:
            out.empty.add(name)
        # The perceptron only ever ends by itself where a line separates the classes.
        if empty or (unfinished and name != "perceptron"):
            out.notes[name] = note_of(unfinished, empty, count)
        if sampled:
            said = f"fitted to a sample of {_SAMPLE:,} rows in each fold"
            out.notes[name] = "; ".join(filter(None, (out.notes.get(name), said)))
    return out


def _sample(y: Flags, rows: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Some of these rows, in their order, with the share of either class that they have."""
    rng = np.random.default_rng(seed)
    ones, zeros = rows[y[rows]], rows[~y[rows]]
    p = min(max(round(_SAMPLE * len(ones) / len(rows)), 1), _SAMPLE - 1)
    both = (rng.choice(ones, p, replace=False), rng.choice(zeros, _SAMPLE - p, replace=False))
    return np.sort(np.concatenate(both))


def note_of(unfinished: int, empty: int, count: int) -> str:
    of = "" if count == 1 else f" in {empty or unfinished} of {count} folds"
    if empty or not unfinished:
        return f"learned nothing{of}: all weights are 0"
    return f"stopped before it was done{of}"
