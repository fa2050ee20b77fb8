"""What each column adds to the score, in its own units."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.frozen import derived
from cutscore.core.types import ArrayLike
from cutscore.detector.columns import CategoryColumn, NumberColumn
from cutscore.detector.encoding import Encoding
from cutscore.sweeps.sweep import Floats


@dataclass(frozen=True)
class NumberTerm:
    """The contribution of a numeric column to the score of a linear
    :class:`cutscore.detector.Detector`: weight · (value − mean), or the weight of a missing value.

    Parameters
    ----------
    column
        What the column is.
    weight
        What one unit of the column adds to the score.
    missing
        What a missing value adds, compared with a row at the mean.
    """

    column: NumberColumn
    weight: float
    missing: float

    @property
    def size(self) -> float:
        """How much it moves scores: the root mean square of what it added in training."""
        step = self.weight * self.column.scale  # a product overflows to infinity, a power raises
        here = step * step * (1 - self.column.missing)
        return sqrt(here + self.missing * self.missing * self.column.missing)

    @property
    def labels(self) -> list[str]:
        """What its contributions are called."""
        return [self.column.name, f"{self.column.name} is missing"]

    def contributions(self, x: NDArray[Any]) -> tuple[Floats, NDArray[np.integer[Any]]]:
        """What each row gets for its value, and under which label."""
        gone = np.isnan(x)
        with np.errstate(over="ignore"):
            out = self.weight * (x - self.column.mean)
        if gone.any():
            out[gone] = self.missing
        return out, gone.view(np.uint8)


@dataclass(frozen=True)
class CategoryTerm:
    """The contribution of a categorical column to the score of a linear
    :class:`cutscore.detector.Detector`: one weight for each level, relative to the average of the
    training rows.

    Parameters
    ----------
    column
        What the column is.
    weights
        What each level adds to the score, in the order of ``column.levels``.
    other, missing
        What any other value adds, and a missing value. They are 0, the average, if no training row
        had one.
    """

    column: CategoryColumn
    weights: tuple[float, ...]
    other: float
    missing: float

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.column.levels):
            raise DataError(
                LengthsDiffer("weight", "level", len(self.weights), len(self.column.levels))
            )

    @derived
    def table(self) -> Floats:
        """The weight of each state."""
        return np.array([*self.weights, self.other, self.missing])

    @property
    def size(self) -> float:
        """How much it moves scores: the root mean square of what it added in training."""
        return sqrt(float(np.sum(self.column.share * self.table**2)))

    @property
    def labels(self) -> list[str]:
        """What its contributions are called."""
        return self.column.states

    def contributions(self, codes: NDArray[Any]) -> tuple[Floats, NDArray[np.int64]]:
        """What each row gets for its state, and under which label."""
        return self.table[codes], codes


Term = NumberTerm | CategoryTerm


def folded(encoding: Encoding, w: ArrayLike, b: float) -> tuple[tuple[Term, ...], float]:
    """Weights of features as terms of columns, and the score of an average row.

    The score b + w·features = base + Σ terms. Numbers are counted from their mean, and categories
    from the average of the training rows, so that what is added up is small where rows are
    ordinary: nothing cancels, and each term says what is out of the ordinary.
    """
    weights = np.asarray(w, np.float64)
    if weights.shape != (len(encoding.features),):
        raise DataError(LengthsDiffer("weight", "feature", weights.size, len(encoding.features)))
    if not (np.isfinite(weights).all() and np.isfinite(b)):
        raise DataError(BadArgument("line", "have finite weights", hint="Rescale the features."))
    base = float(b)
    terms: list[Term] = []
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        own = weights[place]
        if isinstance(column, NumberColumn):
            missing = float(own[1]) if column.missing else 0.0
            terms.append(NumberTerm(column, float(own[0]) / column.scale, missing))
        else:
            # Before: 0 for the reference. After: 0 on average over the training rows.
            of_state = column.rows @ own
            mean = float(column.share @ of_state)
            base += mean
            centred = np.where(column.share > 0, of_state - mean, 0.0).tolist()
            terms.append(CategoryTerm(column, tuple(centred[:-2]), centred[-2], centred[-1]))
    return tuple(terms), base
