"""From columns of any kind to features: what each column is, decided once and said."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoint._check import shown
from cutpoint._frozen import derived
from cutpoint._names import no_column
from cutpoint._rows import block_rows
from cutpoint.detector.values import (
    Floats,
    as_table,
    day_of,
    flags,
    kind_of,
    numbers,
    schema_of,
    stream,
    texts,
)
from cutpoint.errors import DataError
from cutpoint.linear.detector import LinearDetector

# More different values than this are not counted any further.
_MOST_VALUES = 1 << 17
# From so many rows on a column of values that all differ is taken for an identifier.
_FEW = 20
# Numbers in a block that stays in the second-level cache.
_CACHED = 1 << 17
# Rows of sparse features that are made at a time.
_BATCH = 1 << 16


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers or dates: standardised, and 0 where it is missing. One of those of
    :class:`cutpoint.detector.Encoding`.

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
    """

    name: str
    mean: float
    scale: float
    missing: float = 0.0
    kind: str = "number"

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


@dataclass(frozen=True)
class CategoryColumn:
    """A column of text, of booleans, or of numbers that are names: one feature for each level but
    the most frequent. One of those of :class:`cutpoint.detector.Encoding`.

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
    """

    name: str
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    other: float = 0.0
    missing: float = 0.0
    kind: str = "category"

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

    def codes(self, column: Any, start: int = 0) -> NDArray[np.int64]:
        """The state of each row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        read = flags if self.kind == "boolean" else texts
        values = read(column, self.name, start)
        found = pc.index_in(values, value_set=pa.array(self.levels, pa.string()))
        codes = found.fill_null(len(self.levels)).to_numpy(zero_copy_only=False).astype(np.int64)
        if values.null_count:
            codes[np.asarray(values.is_null())] = len(self.levels) + 1
        return np.asarray(codes)

    def fill(self, out: Floats, column: Any, start: int) -> None:
        """Write the features of some rows, one feature after the other."""
        np.take(self.rows.T, self.codes(column, start), axis=1, out=out, mode="clip")


Column = NumberColumn | CategoryColumn


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """What each column of a table is, and the features it becomes; made by :meth:`fit`.

    Parameters
    ----------
    columns
        The columns that are used, in their order.
    notes
        What was decided, a sentence for each column.
    rows
        How many rows it was decided on.
    fingerprint
        A hash of what these rows were like: see :meth:`fit`.
    warnings
        Columns that were likely meant as something else.

    Examples
    --------
    >>> from cutpoint.detector import Encoding
    >>> table = {
    ...     "age": [30, 40, None, 50],
    ...     "colour": ["red", "blue", "red", "red"],
    ...     "unit": ["cm", "cm", "cm", "cm"],
    ... }
    >>> e = Encoding.fit(table, min_rows=1)
    >>> e.features
    ['age', 'age is missing', 'colour = blue']
    >>> e.transform(table).round(3).tolist()
    [[-1.225, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.225, 0.0, 0.0]]
    >>> for note in e.notes:
    ...     print(note)
    'age' is a number: mean 40, standard deviation 8.16497; 25 % are missing: a feature too.
    'colour' is a category: 'red' (75 %), 'blue' (25 %); features tell the others from 'red'.
    'unit' is not used: it is 'cm' in every row.
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    rows: int = 0
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()

    @classmethod
    def fit(  # noqa: PLR0913 - all but the first are options
        cls,
        data: Any,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        categories: Sequence[str] = (),
        max_categories: int = 50,
        min_rows: int = 5,
    ) -> Encoding:
        """Decide what each column is, by its type and in one pass over the rows.

        Numbers are standardised. Booleans and text are categories; so are numbers, if they are
        named in ``categories``. Text of which at least 80 % could be read as numbers or dates is a
        category nevertheless, with a warning. Dates count as days. Columns with one value only,
        text that differs in every row, and nested values are not used. Missing values, NaN
        included, become a feature; an infinite number is an error.

        Parameters
        ----------
        data
            A table of :mod:`cutpoint.tables`, pyarrow, pandas or polars, or a mapping from names
            to columns.
        target
            The column of labels, which is not used.
        columns
            Which columns to use; all but ``target`` and ``exclude`` if they are not named.
        exclude
            Which not to use.
        categories
            Columns of whole numbers that are names rather than amounts.
        max_categories
            How many levels a category has at the most. The most frequent are kept, of equally
            frequent ones the first in the alphabet; what is left is "other".
        min_rows
            A level that fewer rows have is "other" too.

        Notes
        -----
        ``fingerprint`` is SHA-256 over the number of rows and, for each column, its name, its kind,
        how many values are missing, the smallest and the largest number or how many rows have each
        value. It does not depend on the order of the rows.
        """
        schema = schema_of(data)
        wanted = _wanted(schema.names, target, columns, exclude)
        for name in categories:
            if name not in wanted:
                raise no_column(name, wanted, "the table")
        if max_categories < 1 or min_rows < 1:
            raise DataError(
                "max_categories and min_rows must be at least 1; they are "
                f"{shown(max_categories)} and {shown(min_rows)}."
            )
        summaries: dict[str, _Summary] = {}
        notes: dict[str, str] = {}
        for name in wanted:
            t = schema.field(name).type
            kind = "category" if name in categories else kind_of(t)
            if kind is None:
                notes[name] = f"{shown(name)} is not used: values of the type {t} are not read."
            elif kind == "empty":
                notes[name] = f"{shown(name)} is not used: it has no values."
            else:
                summaries[name] = _of_kind(kind, name)
        rows = _summed(data, summaries)
        limits = _Limits(max_categories, min_rows)
        used: list[Column] = []
        warnings: list[str] = []
        for name, summary in summaries.items():
            column, notes[name] = summary.decided(rows, limits)
            if column is not None:
                used.append(column)
            likely = summary.likely() if name not in categories else None
            if likely is not None:
                notes[name] += f" But {likely}."
                warnings.append(_warned(name, likely, column))
        ordered = tuple(notes[name] for name in wanted)
        if not used:
            why = ordered[0] if ordered else "there are none besides the target."
            raise DataError(f"no column can be used to tell the classes apart: {why}")
        facts = [rows, *(s.facts() for s in summaries.values())]
        return cls(tuple(used), ordered, rows, _fingerprint(facts), tuple(warnings))

    @classmethod
    def of_matrix(cls, X: Any, names: Sequence[str]) -> Encoding:
        """The encoding of a matrix, dense or CSR, whose columns are numbers without a gap.

        For learners that take the matrix as it is, such as that of a libsvm file:
        :meth:`from_raw` makes their line one of this encoding. Every column is kept, also one with
        a single value.

        Examples
        --------
        >>> import numpy as np
        >>> import cutpoint as cp
        >>> from cutpoint.detector import Encoding
        >>> X = np.array([[0.0, 2.0], [1.0, 4.0]])
        >>> e = Encoding.of_matrix(X, ["1", "2"])
        >>> line = cp.LinearDetector(np.array([3.0, -1.0]), 0.5)
        >>> e.from_raw(line).scores(e.transform({"1": X[:, 0], "2": X[:, 1]}))
        array([-1.5, -0.5])
        """
        rows, columns = X.shape
        if columns != len(names) or not rows:
            raise DataError(
                "a matrix must have rows, and one column for each name; its shape is "
                f"{X.shape}, and there are {len(names):,} names."
            )
        flat = X if isinstance(X, np.ndarray) else X.tocsc()
        mean = np.asarray(flat.mean(axis=0), np.float64).ravel()
        ends = [np.asarray(_dense_row(m), np.float64) for m in (flat.min(axis=0), flat.max(axis=0))]
        if not all(np.isfinite(e).all() for e in ends):
            raise DataError("a matrix must hold finite numbers; this one does not.")
        scale = _deviations(flat, mean)
        scale[(scale == 0) | (ends[0] == ends[1])] = 1.0
        facts = [rows, *zip(names, *(map(repr, e.tolist()) for e in ends), strict=True)]
        used = tuple(
            NumberColumn(name, m, s)
            for name, m, s in zip(names, mean.tolist(), scale.tolist(), strict=True)
        )
        note = f"{columns:,} columns are numbers, used as they are."
        return cls(used, (note,), rows, _fingerprint(facts))

    def from_raw(self, line: LinearDetector) -> LinearDetector:
        """The line of the features that gives the scores which ``line`` gives raw numbers."""
        mean = np.array([c.mean for c in self.columns if isinstance(c, NumberColumn)])
        scale = np.array([c.scale for c in self.columns if isinstance(c, NumberColumn)])
        if len(mean) < len(self.features) or len(line.w) != len(mean):
            raise DataError(
                "a line of raw numbers has one weight for each column, all of them numbers "
                f"without a gap; there are {len(line.w):,} weights and {len(mean):,} such columns."
            )
        return LinearDetector(line.w * scale, float(line.b + line.w @ mean))

    @derived
    def features(self) -> list[str]:
        """Names of the features, such as "age", "colour = red" and "income is missing"."""
        return [name for column in self.columns for name in column.features]

    @derived
    def places(self) -> list[slice]:
        """Where the features of each column are."""
        ends = np.cumsum([0, *(len(column.features) for column in self.columns)]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def names(self) -> list[str]:
        """The columns that are used."""
        return [column.name for column in self.columns]

    def transform(self, data: Any, *, sparse: bool | None = None) -> Any:
        """The features of all rows: a float64 array, or a CSR matrix.

        Parameters
        ----------
        data
            A table as in :meth:`fit`. Further columns do no harm.
        sparse
            Whether to make a CSR matrix. If it is not said: where less than a tenth is not 0.
        """
        table = data if hasattr(data, "batches") else as_table(data)
        rows = getattr(table, "num_rows", None)
        if rows and not self._is_sparse(sparse):
            whole, at = np.empty((rows, len(self.features))), 0
            for batch in stream(table, self.names):
                self._dense(batch, at, whole[at : at + batch.num_rows])
                at += batch.num_rows
            return whole
        blocks = list(self.blocks(table, sparse=sparse))
        if not blocks:
            raise DataError("a table must have rows; this one has none.")
        if len(blocks) == 1:
            return blocks[0]
        if isinstance(blocks[0], np.ndarray):
            return np.concatenate(blocks)
        from scipy.sparse import vstack

        return vstack(blocks, format="csr")

    def _is_sparse(self, asked: bool | None) -> bool:
        if asked is not None:
            return asked
        full = sum(
            len(c.features) if isinstance(c, NumberColumn) else 1 - max(c.share)
            for c in self.columns
        )
        return bool(full < 0.1 * len(self.features))

    def blocks(self, data: Any, *, sparse: bool | None = None) -> Iterator[Any]:
        """The features, some rows at a time."""
        as_sparse, start = self._is_sparse(sparse), 0
        # A reader's batch may be a whole table, and features be many more than columns.
        size = _BATCH if as_sparse else block_rows(len(self.features))
        for whole in stream(data, self.names):
            for k in range(0, whole.num_rows, size):
                batch = whole.slice(k, size)
                if as_sparse:
                    yield self._sparse(batch, start)
                else:
                    out = np.empty((batch.num_rows, len(self.features)))
                    self._dense(batch, start, out)
                    yield out
                start += batch.num_rows

    def _dense(self, batch: Any, start: int, out: Floats) -> None:
        # Few rows at a time, so that features stay in the cache until they are turned into rows.
        size = max(256, _CACHED // max(len(self.features), 1))
        block = np.empty((len(self.features), min(size, batch.num_rows)))
        for k in range(0, batch.num_rows, size):
            some = batch.slice(k, size)
            turned = block[:, : some.num_rows]
            for j, (column, place) in enumerate(zip(self.columns, self.places, strict=True)):
                column.fill(turned[place], some.column(j), start + k)
            out[k : k + size] = turned.T

    def _sparse(self, batch: Any, start: int) -> Any:
        from scipy.sparse import csr_array, hstack

        n = batch.num_rows
        parts: list[Any] = []
        for k, column in enumerate(self.columns):
            if isinstance(column, CategoryColumn):
                parts.append(csr_array(column.rows)[column.codes(batch.column(k), start)])
            else:
                block = np.empty((len(column.features), n))
                column.fill(block, batch.column(k), start)
                parts.append(csr_array(block.T))
        return hstack(parts, format="csr")

    def __repr__(self) -> str:
        return (
            f"Encoding of {len(self.columns):,} columns into {len(self.features):,} features, by "
            f"{self.rows:,} rows"
        )


def _fingerprint(facts: Any) -> str:
    text = json.dumps(facts, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _dense_row(row: Any) -> Any:
    """The one row of a matrix, or of a sparse one."""
    return np.ravel(row.toarray() if hasattr(row, "toarray") else row)


def _deviations(X: Any, mean: Floats) -> Floats:
    """The standard deviation of each column, centred: squares of large numbers would cancel."""
    if isinstance(X, np.ndarray):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    filled = np.diff(X.indptr)
    away = X.data.astype(np.float64) - np.repeat(mean, filled)
    squares = np.bincount(np.repeat(np.arange(X.shape[1]), filled), away**2, X.shape[1])
    rest = X.shape[0] - filled
    return np.asarray(np.sqrt((squares + rest * mean**2) / X.shape[0]))


def _wanted(
    names: Sequence[str],
    target: str | None,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
) -> list[str]:
    for asked in (columns, exclude):
        if isinstance(asked, str):
            raise DataError(f"columns must be a list of names; it is {shown(asked)}.")
    known = set(names)
    for name in (*([] if target is None else [target]), *(columns or ()), *exclude):
        if name not in known:
            raise no_column(name, names, "the table")
    if columns is not None and target in columns:
        raise DataError(f"the target {shown(target)} can't be among the columns to tell it by.")
    out = [n for n in (names if columns is None else columns) if n != target and n not in exclude]
    return list(dict.fromkeys(out))


def _summed(data: Any, summaries: dict[str, _Summary]) -> int:
    if not summaries:
        return sum(batch.num_rows for batch in stream(data))
    rows = 0
    for batch in stream(data, list(summaries)):
        for k, summary in enumerate(summaries.values()):
            summary.add(batch.column(k), rows)
        rows += batch.num_rows
    if not rows:
        raise DataError("a table must have rows; this one has none.")
    return rows


@dataclass(frozen=True)
class _Limits:
    most: int
    least: int


def _of_kind(kind: str, name: str) -> _Summary:
    return _Numbers(name, kind) if kind in ("number", "date") else _Levels(name, kind)


class _Summary(ABC):
    """What is kept of a column while its rows pass by."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.missing = 0

    @abstractmethod
    def add(self, column: Any, start: int) -> None:
        """Take in some rows, of which the first is number ``start``."""

    @abstractmethod
    def decided(self, rows: int, limits: _Limits) -> tuple[Column | None, str]:
        """What the column becomes, and the sentence that says so."""

    def likely(self) -> str | None:
        """What the values are rather than what they are taken for, if that differs."""
        return None

    @abstractmethod
    def facts(self) -> list[Any]:
        """What the fingerprint is made of."""


class _Numbers(_Summary):
    """Count, mean and squares of a column of numbers, merged centred; and its ends."""

    count = 0
    mean = squares = 0.0
    low, high = np.inf, -np.inf
    counts_rows = True

    def add(self, column: Any, start: int) -> None:
        x = numbers(column, self.name, start, self.kind)
        there = x[~np.isnan(x)]
        self.missing += len(x) - len(there)
        if not len(there):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(there.mean())
            squares = float(np.square(there - mean).sum())
            shift, n = mean - self.mean, self.count + len(there)
            self.squares += squares + shift * shift * self.count * len(there) / n
            self.mean += shift * len(there) / n
        if self.counts_rows:
            expected = (self.low if self.count else float(there[0])) + np.arange(
                self.count, self.count + len(there)
            )
            self.counts_rows = len(there) == len(x) and bool((there == expected).all())
        self.count = n
        self.low = min(self.low, float(there.min()))
        self.high = max(self.high, float(there.max()))

    def decided(self, rows: int, limits: _Limits) -> tuple[Column | None, str]:  # noqa: ARG002
        name = shown(self.name)
        if not self.count:
            return None, f"{name} is not used: it has no values."
        share = self.missing / rows
        gone = f"; {_percent(share)} are missing: a feature too" if share else ""
        if self.low == self.high and not share:
            return None, f"{name} is not used: it is {self._shown(self.low)} in every row."
        scale = sqrt(self.squares / self.count)
        if not (np.isfinite(scale) and np.isfinite(self.mean)):
            raise DataError(
                f"numbers must be small enough to be squared; {name} reaches from {self.low:g} to "
                f"{self.high:g}. Rescale it."
            )
        # Of values so small that their squares vanish, half their range; of a single one, 1.
        scale = scale or self.high / 2 - self.low / 2 or 1.0
        column = NumberColumn(self.name, self.mean, scale, share, self.kind)
        what = "a number" if self.kind == "number" else "a date, in days"
        mean = self._shown(self.mean)
        text = f"{name} is {what}: mean {mean}, standard deviation {scale:.6g}{gone}."
        if self.kind == "number" and self.counts_rows and rows >= _FEW:
            text += " It counts the rows: leave it out if it is a number given to them."
        return column, text

    def _shown(self, x: float) -> str:
        return day_of(x) if self.kind == "date" else f"{x:.6g}"

    def facts(self) -> list[Any]:
        ends = (repr(x + 0.0) for x in (self.low, self.high))  # -0.0 is 0.0
        return [self.name, self.kind, self.count, self.missing, *ends]


class _Levels(_Summary):
    """How many rows have each value."""

    # Whether there are values without a feature of their own.
    many = True

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(name, kind)
        self.counts: dict[str, int] | None = {}
        self.most: str | None = None

    def add(self, column: Any, start: int) -> None:
        values = (flags if self.kind == "boolean" else texts)(column, self.name, start)
        self.missing += values.null_count
        if self.counts is None:
            return
        found = values.drop_null().value_counts()
        both = zip(
            found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True
        )
        for value, count in both:
            self.counts[value] = self.counts.get(value, 0) + count
        if len(self.counts) > _MOST_VALUES:
            self.most, self.counts = _likely(self.counts, True), None

    def decided(self, rows: int, limits: _Limits) -> tuple[Column | None, str]:
        name, share = shown(self.name), self.missing / rows
        if self.counts is None:
            return None, f"{name} is not used: it has more than {_MOST_VALUES:,} different values."
        if not self.counts:
            return None, f"{name} is not used: it has no values."
        if len(self.counts) == 1 and not self.missing:
            return None, f"{name} is not used: it is {shown(next(iter(self.counts)))} in every row."
        if len(self.counts) == rows - self.missing >= _FEW:
            return (
                None,
                f"{name} is not used: its values differ in every row, as an identifier's do.",
            )
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        least = 1 if self.kind == "boolean" else limits.least
        kept = [(value, n) for value, n in ordered[: limits.most] if n >= least]
        rest = sum(self.counts.values()) - sum(n for _, n in kept)
        self.many = len(kept) < len(self.counts)
        column = CategoryColumn(
            self.name,
            tuple(value for value, _ in kept),
            tuple(n / rows for _, n in kept),
            rest / rows,
            share,
            self.kind,
        )
        if not column.features:
            return None, f"{name} is not used: no value is in {least} rows or more."
        return column, self._said(column, len(self.counts) - len(kept))

    def likely(self) -> str | None:
        if self.kind == "boolean" or self.counts is None:
            return self.most
        return _likely(self.counts, self.many)

    def _said(self, column: CategoryColumn, others: int) -> str:
        shares = [
            f"{shown(v)} ({_percent(p)})" for v, p in zip(column.levels, column.shares, strict=True)
        ]
        some = ", ".join(shares[:4]) + (f", … {len(shares)} levels" if len(shares) > 4 else "")
        if others:
            what = f"{others:,} rarer value{'s' if others > 1 else ''} ({_percent(column.other)})"
            some += f"{', ' if some else ''}{what} together as 'other'"
        if column.missing:
            some += f"; {_percent(column.missing)} are missing: a level too"
        first = column.states[column.reference].removeprefix(self.name + " ")
        base = {"= other": "'other'", "is missing": "those that are missing"}.get(first)
        if base is None or column.reference < len(column.levels):
            base = shown(column.levels[column.reference])
        what = "a boolean" if self.kind == "boolean" else "a category"
        return f"{shown(self.name)} is {what}: {some}; features tell the others from {base}."

    def facts(self) -> list[Any]:
        counts = None if self.counts is None else sorted(self.counts.items())
        return [self.name, self.kind, self.missing, counts]


# Not 0123: what begins with a 0 is a code.
_NUMBER = re.compile(r"\s*[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_DATE = re.compile(r"\s*[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-9]{2}:[0-9]{2}.*)?\s*")
_MOSTLY = 0.8


def _likely(counts: dict[str, int], many: bool) -> str | None:
    """Whether text is numbers or dates for the most part, and which value is not.

    Text that is nothing but numbers may be codes: it is amounts only where there are ``many``.
    """
    total = sum(counts.values())
    for what, pattern in (("numbers", _NUMBER), ("dates", _DATE)):
        bad = [value for value in counts if pattern.fullmatch(value) is None]
        share = 1 - sum(counts[value] for value in bad) / total if total else 0.0
        if share < _MOSTLY or len(bad) == len(counts) or not (bad or many):
            continue
        if not bad:
            return f"all its values are {what}, stored as text"
        return (
            f"{_percent(share)} of its values are {what}; the first that is not is {shown(bad[0])}"
        )
    return None


def _warned(name: str, likely: str, column: Column | None) -> str:
    if column is None:
        return f"{shown(name)} is not used, but {likely}. Clean it, or leave it out: --exclude."
    return (
        f"{shown(name)} is taken for a category, but {likely}. Clean it, or say that it is one: "
        f"--category {shown(name)}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
