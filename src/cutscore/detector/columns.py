"""What a column of a table is to a detector: numbers, or a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.frozen import derived
from cutscore.core.json import Positive, Share
from cutscore.detector.values import flags, numbers, texts
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    import pyarrow as pa

NumberKind = Literal["number", "date"]
CategoryKind = Literal["category", "boolean"]
LevelType = Literal["text", "whole", "date"]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers or dates, standardised; missing values become 0. Part of a
    :class:`cutscore.detector.Encoding`.

    Parameters
    ----------
    name
        The column.
    mean, scale
        Mean and standard deviation of the non-missing training values.
    missing
        The share of training rows with a missing value. If it is not 0, an indicator feature is
        added.
    kind
        "number", or "date" for days since 1970-01-01.
    low, high
        The smallest and the largest training value, if known.
    """

    name: str
    mean: float
    scale: Positive
    missing: Share = 0.0
    kind: NumberKind = "number"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None) or (
            self.low is not None and self.high is not None and self.low > self.high
        ):
            raise DataError(BadArgument("low", f"be at most high, {self.high}", self.low))

    @property
    def features(self) -> list[str]:
        """Names of what it becomes."""
        return [self.name, *([f"{self.name} is missing"] if self.missing else [])]

    def values(self, column: pa.Array, start: int = 0) -> Floats:
        """The numbers, NaN where they are missing."""
        return numbers(column, self.name, start, self.kind)

    def fill(self, out: Floats, column: pa.Array, start: int) -> None:
        """Write the features of some rows, one feature after the other."""
        x = self.values(column, start)
        gone = np.isnan(x)
        with np.errstate(over="ignore"):
            np.divide(np.subtract(x, self.mean, out=out[0]), self.scale, out=out[0])
        if gone.any():
            out[0, gone] = 0.0
        if self.missing:
            out[1] = gone


@dataclass(frozen=True)
class CategoryColumn:
    """A column of text, booleans or numeric codes, dummy-coded: one feature for each level except
    the most frequent. Part of a :class:`cutscore.detector.Encoding`.

    Parameters
    ----------
    name
        The column.
    levels
        The values that have a feature of their own, the most frequent first.
    shares
        The share of training rows with each level.
    other
        The share of training rows with any other value.
    missing
        The share of training rows with a missing value.
    kind
        "category", or "boolean", with the levels "true" and "false".
    level_type
        What the values of a category were in training: "text", "whole" numbers or a "date". New
        rows are read accordingly, however they are stored: 10, 10.0 and "10" are one whole number,
        but three texts.
    """

    name: str
    levels: tuple[str, ...]
    shares: tuple[Share, ...]
    other: Share = 0.0
    missing: Share = 0.0
    kind: CategoryKind = "category"
    level_type: LevelType = "text"

    def __post_init__(self) -> None:
        if "" in self.levels:
            raise DataError(BadArgument("levels", "not hold an empty text, a missing value"))
        if len(set(self.levels)) < len(self.levels):
            raise DataError(BadArgument("levels", "differ from each other"))
        if len(self.shares) != len(self.levels):
            raise DataError(LengthsDiffer("share", "level", len(self.shares), len(self.levels)))
        if self.kind == "boolean" and not set(self.levels) <= {"true", "false"}:
            raise DataError(BadArgument("levels", "be 'true' and 'false', of a boolean"))

    @property
    def is_text(self) -> bool:
        """Whether its levels are text, as it is written."""
        return self.kind == "category" and self.level_type == "text"

    @derived
    def states(self) -> list[str]:
        """What a row can be, in words."""
        return [
            *(f"{self.name} = {level}" for level in self.levels),
            f"{self.name} = other",
            f"{self.name} is missing",
        ]

    @derived
    def share(self) -> Floats:
        """The share of the training rows in each state."""
        return np.array([*self.shares, self.other, self.missing])

    @derived
    def reference(self) -> int:
        """The most frequent state, the reference level, which has no feature."""
        return int(self.share.argmax())

    @derived
    def featured(self) -> NDArray[np.intp]:
        """The states that have a feature: those that training rows were in, but the reference."""
        seen = self.share > 0
        seen[self.reference] = False
        return np.flatnonzero(seen)

    @property
    def features(self) -> list[str]:
        """Names of what it becomes."""
        return [self.states[k] for k in self.featured.tolist()]

    @derived
    def rows(self) -> Floats:
        """The features of each state. One that no training row was in counts as the average."""
        eye = np.eye(len(self.share))[:, self.featured]
        eye[self.share == 0] = self.share[self.featured]
        return eye

    def values(self, column: pa.Array, start: int = 0) -> NDArray[np.int64]:
        """The state of each row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.texts(column, start)
        found = pc.index_in(values, value_set=pa.array(self.levels, pa.string()))
        codes = found.fill_null(len(self.levels)).to_numpy(zero_copy_only=False).astype(np.int64)
        if values.null_count:
            codes[np.asarray(values.is_null())] = len(self.levels) + 1
        return np.asarray(codes)

    def texts(self, column: pa.Array, start: int = 0) -> Any:
        """The level of each row as text, known or not; null where it is missing."""
        if self.kind == "boolean":
            return flags(column, self.name, start)
        return texts(column, self.name, start, self.level_type)

    def fill(self, out: Floats, column: pa.Array, start: int) -> None:
        """Write the features of some rows, one feature after the other."""
        np.take(self.rows.T, self.values(column, start), axis=1, out=out, mode="clip")


Column = NumberColumn | CategoryColumn
