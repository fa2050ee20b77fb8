"""What one pass over the rows keeps of each column, and what the column becomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import LengthsDiffer, NoRows
from cutscore.core.findings.statistics import BeyondFloats
from cutscore.core.findings.training import ColumnCategory, ColumnNote, ColumnNumber, ColumnUnused
from cutscore.detector.columns import (
    CategoryColumn,
    CategoryKind,
    Column,
    LevelType,
    NumberColumn,
    NumberKind,
)
from cutscore.detector.values import flags, in_words, numbers, stream, texts, whole_numbers
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    import pyarrow as pa

    from cutscore.tables.frames import TableLike

# More different values than this are not counted any further.
_MOST_VALUES = 1 << 17
# From so many rows on, values that all differ are taken for identifiers of the rows.
_FEW = 20
# So many levels are named in a note.
_SHOWN = 4


@dataclass(frozen=True)
class Limits:
    """How many levels a category has at the most, and how many rows a level at least; and which
    columns were asked for."""

    most: int = 50
    least: int = 5
    asked: frozenset[str] = frozenset()


def summed(
    data: TableLike,
    summaries: dict[str, ColumnSummary],
    as_numbers: Sequence[str],
    weight: Floats | None,
) -> int:
    """Add up what there is to know of columns, and return how many rows count."""
    rows = counted = 0
    for batch in stream(data, list(summaries) or None, as_numbers):
        start, rows = rows, rows + batch.num_rows
        if weight is not None and rows > len(weight):
            break
        w = None if weight is None else weight[start:rows]
        for k, summary in enumerate(summaries.values()):
            summary.add(batch.column(k), start, w)
        counted += batch.num_rows if w is None else int(np.count_nonzero(w))
    if weight is not None and rows != len(weight):
        raise DataError(LengthsDiffer("weight", "row", len(weight), rows))
    if not counted and summaries:
        raise DataError(NoRows("a table"))
    return counted


def of_kind(kind: str, name: str, found: str | None) -> ColumnSummary:
    """What to keep of a column that is used as ``kind``, of which its type says ``found``."""
    if kind in ("number", "date"):
        return _Numbers(name, "number" if kind == "number" else "date")
    level_type: LevelType = "whole" if found == "number" else "date" if found == "date" else "text"
    return _Levels(name, "boolean" if kind == "boolean" else "category", level_type)


class ColumnSummary(ABC):
    """What is kept of a column while its rows pass by."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.missing = 0
        """How many rows have no value."""
        self.mass = self.missing_mass = 0.0
        """How much all rows weigh, and those without a value."""

    @abstractmethod
    def add(self, column: pa.Array, start: int, weight: Floats | None) -> None:
        """Take in some rows, of which the first is number ``start``."""

    def weigh(self, missing: NDArray[np.bool_], weight: Floats | None) -> None:
        """Take in how much rows weigh, and which of them have no value."""
        self.missing += int(np.count_nonzero(missing))
        self.mass += len(missing) if weight is None else float(weight.sum())
        gone = np.count_nonzero(missing) if weight is None else weight[missing].sum()
        self.missing_mass += float(gone)

    @property
    def share(self) -> float:
        """The share of the rows that has no value."""
        return self.missing_mass / self.mass

    @abstractmethod
    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, ColumnNote]:
        """What the column becomes, and the note that says so."""

    @abstractmethod
    def facts(self) -> list[Any]:
        """What the fingerprint is made of."""


class _Numbers(ColumnSummary):
    """Weight, mean and squares of a column of numbers, merged centred; and its ends.

    ``rises`` and ``falls`` say whether every row so far had a whole number of its own, larger or
    smaller than that of the row before.
    """

    count = 0
    known = mean = squares = 0.0
    low, high = np.inf, -np.inf
    last: int | None = None

    def __init__(self, name: str, kind: NumberKind) -> None:
        super().__init__(name)
        self.kind = kind
        self.rises = self.falls = kind == "number"

    def add(self, column: pa.Array, start: int, weight: Floats | None) -> None:
        # All of them: rows that count nothing are refused like others, by their own number.
        x = numbers(column, self.name, start, self.kind)
        if weight is not None:
            column, x, weight = counting(column, weight), x[weight > 0], weight[weight > 0]
        gone = np.isnan(x)
        self.weigh(gone, weight)
        there = x[~gone]
        if not len(there):
            return
        w = None if weight is None else weight[~gone]
        mass = float(len(there) if w is None else w.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(there.mean() if w is None else w @ there / mass)
            away = np.square(there - mean)
            squares = float(away.sum() if w is None else w @ away)
            shift, total = mean - self.mean, self.known + mass
            self.squares += squares + shift * shift * self.known * mass / total
            self.mean += shift * mass / total
        if self.rises or self.falls:
            self._follow(whole_numbers(column, x))
        self.count, self.known = self.count + len(there), total
        self.low = min(self.low, float(there.min()))
        self.high = max(self.high, float(there.max()))

    def _follow(self, x: NDArray[Any] | None) -> None:
        """Look whether whole numbers go on rising, or falling."""
        if x is None:
            self.rises = self.falls = False
            return
        self.rises &= bool((x[1:] > x[:-1]).all())
        self.falls &= bool((x[1:] < x[:-1]).all())
        if self.last is not None:
            self.rises &= int(x[0]) > self.last
            self.falls &= int(x[0]) < self.last
        self.last = int(x[-1])

    def _counts_rows(self, rows: int) -> bool:
        """Whether it holds a number for each row, in their order."""
        return (self.rises or self.falls) and not self.missing and rows >= _FEW

    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, ColumnNote]:
        if not self.count:
            return None, ColumnUnused(self.name, "empty")
        if self._counts_rows(rows) and self.name not in limits.asked:
            return None, ColumnUnused(self.name, "row-ids")
        share = self.share
        if self.low == self.high and not share:
            return None, ColumnUnused(self.name, "constant", in_words(self.low, self.kind))
        scale = sqrt(self.squares / self.known)
        if not (np.isfinite(scale) and np.isfinite(self.mean)):
            raise DataError(BeyondFloats(f"squares of {shown(self.name)}"))
        # Of values so small that their squares vanish, half their range; of a single one, 1.
        scale = scale or self.high / 2 - self.low / 2 or 1.0
        column = NumberColumn(
            self.name, self.mean, scale, share, self.kind, self.low + 0.0, self.high + 0.0
        )
        mean = in_words(self.mean, self.kind)
        return column, ColumnNumber(self.name, mean, scale, share, self.kind == "date")

    def facts(self) -> list[Any]:
        ends = (repr(x + 0.0) for x in (self.low, self.high))  # -0.0 is 0.0
        return [self.name, self.kind, self.count, self.missing, *ends]


class _Levels(ColumnSummary):
    """How many rows have each value."""

    def __init__(self, name: str, kind: CategoryKind, level_type: LevelType) -> None:
        super().__init__(name)
        self.kind, self.level_type = kind, level_type
        self.counts: dict[str, int] | None = {}
        self.masses: dict[str, float] = {}
        """How much the rows of each value weigh, where rows have weights."""

    def add(self, column: pa.Array, start: int, weight: Floats | None) -> None:
        if self.kind == "boolean":
            values = flags(column, self.name, start)
        else:
            values = texts(column, self.name, start, self.level_type)
        if weight is not None:
            values, weight = counting(values, weight), weight[weight > 0]
        gone = np.asarray(values.is_null())
        self.weigh(gone, weight)
        if self.counts is None:
            return
        found = values.drop_null().dictionary_encode()
        code, levels = np.asarray(found.indices), found.dictionary.to_pylist()
        rows = np.bincount(code, minlength=len(levels)).tolist()
        for value, count in zip(levels, rows, strict=True):
            self.counts[value] = self.counts.get(value, 0) + count
        if weight is not None:
            masses = np.bincount(code, weight[~gone], minlength=len(levels)).tolist()
            for value, mass in zip(levels, masses, strict=True):
                self.masses[value] = self.masses.get(value, 0.0) + mass
        if len(self.counts) > _MOST_VALUES:
            self.counts = None

    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, ColumnNote]:
        share = self.share
        if self.counts is None:
            return None, ColumnUnused(self.name, "many", f"{_MOST_VALUES:,}")
        if not self.counts:
            return None, ColumnUnused(self.name, "empty")
        if len(self.counts) == 1 and not self.missing:
            return None, ColumnUnused(self.name, "constant", shown(next(iter(self.counts))))
        if len(self.counts) == rows - self.missing >= _FEW:
            return None, ColumnUnused(self.name, "identifier")
        masses: Mapping[str, float] = self.masses or self.counts
        ordered = sorted(masses.items(), key=lambda item: (-item[1], item[0]))
        least = 0 if self.kind == "boolean" else limits.least
        kept = [(value, n) for value, n in ordered[: limits.most] if n >= least]
        rest = sum(n for _, n in ordered[len(kept) :])
        column = CategoryColumn(
            self.name,
            tuple(value for value, _ in kept),
            tuple(n / self.mass for _, n in kept),
            rest / self.mass,
            share,
            self.kind,
            self.level_type,
        )
        if not column.features:
            return None, ColumnUnused(self.name, "rare", str(least))
        return column, _described(column, len(self.counts) - len(kept))

    def facts(self) -> list[Any]:
        counts = None if self.counts is None else sorted(self.counts.items())
        return [self.name, self.kind, self.missing, counts]


def counting(column: pa.Array, weight: Floats | None) -> Any:
    """The rows of a column that count."""
    import pyarrow as pa

    return column if weight is None or weight.all() else column.filter(pa.array(weight > 0))


def _described(column: CategoryColumn, rare: int) -> ColumnCategory:
    """What is said of a category in which so many values are rare."""
    levels = len(column.levels)
    k = column.reference
    reference = shown(column.levels[k]) if k < levels else "'other'" if k == levels else "missing"
    return ColumnCategory(
        column.name,
        column.levels[:_SHOWN],
        column.shares[:_SHOWN],
        reference,
        count=levels if levels > _SHOWN else 0,
        rare=rare,
        other=column.other,
        missing=column.missing,
        boolean=column.kind == "boolean",
    )
