"""What a column of a table is to a detector: numbers, or a category."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._frozen import derived
from cutscore._sweep import Floats
from cutscore.detector.values import flags, kind_of, numbers, texts
from cutscore.errors import DataError


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers or dates: standardised, and 0 where it is missing. One of those of
    :class:`cutscore.detector.Encoding`.

    Parameters
    ----------
    name
        The column.
    mean, scale
        Mean and standard deviation of the training rows that have a value.
    missing
        The share of the training rows that have none. If there are any, that is a feature too.
    kind
        "number", or "date" for days since 1970-01-01.
    low, high
        The smallest and the largest value of the training rows, if that is known.
    """

    name: str
    mean: float
    scale: float
    missing: float = 0.0
    kind: str = "number"
    low: float | None = None
    high: float | None = None

    @property
    def features(self) -> list[str]:
        """Names of what it becomes."""
        return [self.name, *([f"{self.name} is missing"] if self.missing else [])]

    def values(self, column: Any, start: int = 0) -> Floats:
        """The numbers, NaN where they are missing."""
        return numbers(column, self.name, start, self.kind)

    def fill(self, out: Floats, column: Any, start: int) -> None:
        """Write the features of some rows, one feature after the other."""
        x = self.values(column, start)
        gone = np.isnan(x)
        with np.errstate(over="ignore"):
            np.divide(np.subtract(x, self.mean, out=out[0]), self.scale, out=out[0])
        if gone.any():
            out[0, gone] = 0.0
        if self.missing:
            out[1] = gone


class LostZeros(UserWarning):
    """Codes came as numbers, without the zeros in front of them."""


@dataclass(frozen=True)
class CategoryColumn:
    """A column of text, of booleans, or of numbers that are names: one feature for each level but
    the most frequent. One of those of :class:`cutscore.detector.Encoding`.

    Parameters
    ----------
    name
        The column.
    levels
        The values that have a feature of their own, the most frequent first.
    shares
        The share of the training rows that has each.
    other
        The share that had any other value.
    missing
        The share that had none.
    kind
        "category", or "boolean", with the levels "true" and "false".
    level_type
        What the values of a category were in training: "text", "whole" numbers or a "date". New
        rows are read accordingly, however they are stored: 10, 10.0 and "10" are one whole number,
        but three texts.
    """

    name: str
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    other: float = 0.0
    missing: float = 0.0
    kind: str = "category"
    level_type: str = "text"

    def __post_init__(self) -> None:
        if "" in self.levels:
            raise DataError(
                f"an empty text is a missing value; {shown(self.name)} can't have it as a level."
            )

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
        """The most frequent state, which has no feature: all others are told from it."""
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

    def values(self, column: Any, start: int = 0) -> NDArray[np.int64]:
        """The state of each row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.texts(column, start)
        found = pc.index_in(values, value_set=pa.array(self.levels, pa.string()))
        if self._lost and kind_of(column.type) == "number":
            self._warn_of_lost(values.filter(found.is_null()))
        codes = found.fill_null(len(self.levels)).to_numpy(zero_copy_only=False).astype(np.int64)
        if values.null_count:
            codes[np.asarray(values.is_null())] = len(self.levels) + 1
        return np.asarray(codes)

    def texts(self, column: Any, start: int = 0) -> Any:
        """The level of each row as text, known or not; null where it is missing."""
        if self.kind == "boolean":
            return flags(column, self.name, start)
        return texts(column, self.name, start, self.level_type)

    @derived
    def _lost(self) -> dict[str, str]:
        """Levels with zeros in front, by what they are without."""
        coded = {level: re.match(r"0+([0-9]+)$", level) for level in self.levels}
        return {m[1]: level for level, m in coded.items() if m and m[1] not in self.levels}

    def _warn_of_lost(self, unknown: Any) -> None:
        value = next((v for v in unknown.unique().to_pylist() if v in self._lost), None)
        if value is not None:
            warnings.warn(
                f"{shown(self.name)} holds the number {value} where training rows had the text "
                f"{shown(self._lost[value])}: such rows count as unknown. Read the column as text, "
                "as pandas.read_csv does with dtype=str.",
                LostZeros,
                stacklevel=2,
            )

    def fill(self, out: Floats, column: Any, start: int) -> None:
        """Write the features of some rows, one feature after the other."""
        np.take(self.rows.T, self.values(column, start), axis=1, out=out, mode="clip")


Column = NumberColumn | CategoryColumn
