"""What learners make of rows: something that scores rows. A line is one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from cutscore.detector.scorers import LinearScorer, ModelScorer, Scorer
from cutscore.detector.scorers.model import EmbeddedModel
from cutscore.detector.scorers.trees import Model
from cutscore.linear.line import Fit, LinearDetector
from cutscore.linear.rows import Floats, collect
from cutscore.training.rows import Data, Part

# Rows whose scores are taken apart for importances, at equal steps: each takes far longer than its
# score.
_EXPLAINED = 2_000


class Fitted(Protocol):
    """What every learner returns."""

    @property
    def converged(self) -> bool:
        """Whether it got to the end."""
        ...

    @property
    def empty(self) -> bool:
        """Whether it found nothing: all rows have the same score."""
        ...

    def scores(self, part: Part) -> Floats:
        """The scores of rows of the table that it was fitted to."""
        ...

    def scorer(self, data: Data) -> Scorer:
        """What scores rows of other tables alike."""
        ...

    def importances(self, data: Data) -> dict[str, float]:
        """What each column adds to scores of the table's rows, on average and without its sign, if
        the scorer does not say it itself."""
        ...


@dataclass(frozen=True)
class FittedLine:
    """A line of features."""

    fit: Fit

    @property
    def line(self) -> LinearDetector:
        """The line, in the space that it was fitted in."""
        return self.fit.detector

    @property
    def converged(self) -> bool:
        return self.fit.converged

    @property
    def empty(self) -> bool:
        return not self.line.w.any()

    def scores(self, part: Part) -> Floats:
        w, b = self.line.w, self.line.b
        return collect(part.rows, lambda block: block.scores(w, b))

    def encoded(self, data: Data) -> LinearDetector:
        """The line of the features of the encoding."""
        return data.encoding.from_raw(self.line) if data.raw else self.line

    def scorer(self, data: Data) -> LinearScorer:
        return LinearScorer.of(data.encoding, self.encoded(data))

    def importances(self, data: Data) -> dict[str, float]:  # noqa: ARG002
        return {}


@dataclass(frozen=True)
class FittedTrees:
    """Boosted trees of columns as they are."""

    format: Literal["lightgbm", "xgboost", "catboost"]
    model: Model
    rounds: int
    """How many trees there are."""
    empty: bool
    converged: bool = True

    def scores(self, part: Part) -> Floats:
        return self.model.scores(part.values).astype(float)

    def scorer(self, data: Data) -> ModelScorer:
        embedded = EmbeddedModel.of(self.model.data)
        return ModelScorer(self.format, data.encoding.columns, embedded)

    def importances(self, data: Data) -> dict[str, float]:
        assert data.values is not None
        n = len(data.y)
        at = np.linspace(0, n - 1, min(n, _EXPLAINED)).astype(np.intp)
        found = self.model.contributions(data.values[at])
        if found is None:
            return {}
        weight = None if data.weight is None else data.weight[at]
        mean = np.average(np.abs(found), axis=0, weights=weight)
        names = [column.name for column in data.encoding.columns]
        return dict(zip(names, mean.tolist(), strict=True))
