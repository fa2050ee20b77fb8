"""From columns of any kind to features: what each column is, decided once and said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cutscore._check import check_weights, shown
from cutscore._frozen import derived
from cutscore._names import no_column
from cutscore._rows import block_rows
from cutscore._sweep import Floats
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.deciding import (
    Limits,
    Summary,
    Table,
    in_order,
    is_ordered,
    left_out,
    like_units,
    of_kind,
    running,
    summed,
    warned,
)
from cutscore.detector.values import as_table, kind_of, schema_of, stream
from cutscore.errors import DataError
from cutscore.linear.detector import LinearDetector

# Numbers in a block that stays in the second-level cache.
_CACHED = 1 << 17
# Rows of sparse features that are made at a time.
_BATCH = 1 << 16


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
    >>> from cutscore.detector import Encoding
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
        numbers: Sequence[str] = (),
        max_categories: int = 50,
        min_rows: int = 5,
        weight: Any = None,
    ) -> Encoding:
        """Decide what each column is, by its type and in one pass over the rows.

        Numbers are standardised. Booleans and text are categories; so are numbers, if they are
        named in ``categories``. Text of which at least 80 % could be read as numbers or dates is a
        category nevertheless, with a warning. Dates count as days. Columns with one value only,
        text that differs in every row, running numbers and nested values are not used. Missing
        values, NaN included, become a feature; an infinite number is an error.

        Running numbers are whole, different in every row, and so dense that at least half of those
        between the smallest and the largest are there. What is named in ``columns`` or ``numbers``
        is used nevertheless. So are whole numbers that rise or fall from row to row with larger
        gaps, since a table may be sorted by an amount; ``warnings`` says so.

        Identifiers that repeat, as those of patients with several visits do, are used too, with a
        warning: at least 20 values with few rows each, of text with digits, or of whole numbers
        that are in order or leave none out, but for days of the month (1 to 28 or more) and years
        (1900 to 2100). What is named in ``categories``, or is a number and named in ``columns`` or
        ``numbers``, is taken at its word.

        Parameters
        ----------
        data
            A table of :mod:`cutscore.tables`, pyarrow, pandas or polars, or a mapping from names
            to columns.
        target
            The column of labels, which is not used.
        columns
            Which columns to use; all but ``target`` and ``exclude`` if they are not named.
        exclude
            Which not to use.
        categories
            Columns of whole numbers that are names rather than amounts.
        numbers
            Columns that are amounts, though they look like running numbers, or like codes since
            some in a CSV file have zeros in front.
        max_categories
            How many levels a category has at the most. The most frequent are kept, of equally
            frequent ones the first in the alphabet; what is left is "other".
        min_rows
            A level that fewer rows have is "other" too.
        weight
            How much each row counts: means, deviations, shares and ``min_rows`` are those of a
            table that has a row of weight 2 twice. Rows of weight 0 are ignored.

        Notes
        -----
        ``fingerprint`` is SHA-256 over the number of rows and, for each column, its name, its kind,
        how many values are missing, the smallest and the largest number or how many rows have each
        value. It does not depend on the order of the rows.
        """
        schema = schema_of(data)
        wanted = _wanted(schema.names, target, columns, exclude)
        _check_said(schema.names, wanted, target, categories, numbers)
        if max_categories < 1 or min_rows < 1:
            raise DataError(
                "max_categories and min_rows must be at least 1; they are "
                f"{shown(max_categories)} and {shown(min_rows)}."
            )
        summaries, notes = _kinds(schema, wanted, categories, numbers, asked=columns is not None)
        w = None if weight is None else check_weights(weight)
        table = Table(data, numbers, w)
        rows = summed(table, summaries)
        asked = {*numbers, *(columns or ())}
        counted, repeated = running(table, summaries, rows)
        given = {name: values for name, values in repeated.items() if name not in asked}
        limits = Limits(max_categories, min_rows)
        used: list[Column] = []
        warnings: list[str] = []
        for name, summary in summaries.items():
            column, notes[name] = summary.decided(rows, limits)
            if name in counted and name in asked:
                notes[name] += " It counts the rows: leave it out if it is a number given to them."
            elif name in counted:
                column, notes[name] = None, left_out(name)
            if column is not None:
                used.append(column)
            likely = summary.likely() if name not in categories else None
            if likely is not None:
                notes[name] += f" But {likely.text}."
                warnings.append(warned(name, likely, column, getattr(data, "decimal", None)))
            elif name not in categories and (units := given.get(name) or summary.units()):
                warnings.append(like_units(name, units, rows - summary.missing, column))
        new = [c.name for c in used if c.name not in asked and is_ordered(summaries[c.name], rows)]
        warnings += map(in_order, new)
        ordered = tuple(notes[name] for name in wanted)
        if not used:
            why = next((notes[name] for name in wanted if name in counted), None)
            why = why or next(iter(ordered), "there are none besides the target.")
            raise DataError(f"no column can be used to tell the classes apart: {why}")
        facts = [rows, *(s.facts() for s in summaries.values())]
        return cls(tuple(used), ordered, rows, _fingerprint(facts), tuple(warnings))

    @classmethod
    def of_matrix(cls, X: Any, names: Sequence[str], weight: Any = None) -> Encoding:
        """The encoding of a matrix, dense or CSR, whose columns are numbers without a gap; rows
        count by their weight.

        For learners that take the matrix as it is, such as that of a libsvm file:
        :meth:`from_raw` makes their line one of this encoding. Every column is kept, also one with
        a single value.

        Examples
        --------
        >>> import numpy as np
        >>> import cutscore as cs
        >>> from cutscore.detector import Encoding
        >>> X = np.array([[0.0, 2.0], [1.0, 4.0]])
        >>> e = Encoding.of_matrix(X, ["1", "2"])
        >>> line = cs.LinearDetector(np.array([3.0, -1.0]), 0.5)
        >>> e.from_raw(line).scores(e.transform({"1": X[:, 0], "2": X[:, 1]}))
        array([-1.5, -0.5])
        """
        w = np.ones(X.shape[0]) if weight is None else check_weights(weight)
        if not w.all():
            X, w = X[w > 0], w[w > 0]
        rows, columns = X.shape
        if columns != len(names) or not rows:
            raise DataError(
                "a matrix must have rows that count, and one column for each name; its shape is "
                f"{X.shape}, and there are {len(names):,} names."
            )
        flat = X
        if not isinstance(X, np.ndarray):
            # A copy: what SciPy adds up, entries of one place, it adds up in the matrix itself.
            flat = X.tocsc().astype(np.float64)
            flat.sum_duplicates()
        mean = np.ravel(w @ flat) / w.sum()
        ends = [np.asarray(_dense_row(m), np.float64) for m in (flat.min(axis=0), flat.max(axis=0))]
        if not all(np.isfinite(e).all() for e in ends):
            raise DataError("a matrix must hold finite numbers; this one does not.")
        scale = _deviations(flat, mean, w)
        scale[(scale == 0) | (ends[0] == ends[1])] = 1.0
        facts = [rows, *zip(names, *(map(repr, e.tolist()) for e in ends), strict=True)]
        used = tuple(
            NumberColumn(name, m, s, low=low, high=high)
            for name, m, s, low, high in zip(
                names, *(x.tolist() for x in (mean, scale, *ends)), strict=True
            )
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

    @property
    def _numbers(self) -> list[str]:
        return [column.name for column in self.columns if column.kind == "number"]

    @property
    def _texts(self) -> dict[str, tuple[str, ...]]:
        columns = (c for c in self.columns if isinstance(c, CategoryColumn))
        return {c.name: c.levels for c in columns if c.is_text}

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
            for batch in stream(table, self.names, self._numbers, self._texts):
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
        for whole in stream(data, self.names, self._numbers, self._texts):
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
                parts.append(csr_array(column.rows)[column.values(batch.column(k), start)])
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


def _deviations(X: Any, mean: Floats, weight: Floats) -> Floats:
    """The standard deviation of each column, centred: squares of large numbers would cancel."""
    total = weight.sum()
    if isinstance(X, np.ndarray):
        return np.asarray(np.sqrt(weight @ np.square(X - mean) / total))
    filled = np.diff(X.indptr)
    of_column = np.repeat(np.arange(X.shape[1]), filled)
    there = weight[X.indices]
    squares, masses = (
        np.bincount(of_column, part, X.shape[1])
        for part in (there * (X.data - mean[of_column]) ** 2, there)
    )
    return np.asarray(np.sqrt((squares + (total - masses) * mean**2) / total))


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


def _check_said(
    names: Sequence[str],
    wanted: Sequence[str],
    target: str | None,
    categories: Sequence[str],
    numbers: Sequence[str],
) -> None:
    for name in (*categories, *numbers):
        if name not in names:
            raise no_column(name, wanted, "the table")
        if name not in wanted:
            too = "category" if name in categories else "number"
            why = (
                "it is the target"
                if name == target
                else "it names the units or the weights, or is left out by --exclude or --column"
            )
            raise DataError(
                f"{shown(name)} can't be a {too} to tell the classes by: {why}. Name it once."
            )
        if name in categories and name in numbers:
            raise DataError(f"a column is a category or a number; {shown(name)} can't be both.")


def _kinds(
    schema: Any,
    wanted: Sequence[str],
    categories: Sequence[str],
    numbers: Sequence[str],
    *,
    asked: bool,
) -> tuple[dict[str, Summary], dict[str, str]]:
    """What is to be summed up of each column that can be used; and why others can't. One that was
    asked for must be."""
    summaries: dict[str, Summary] = {}
    notes: dict[str, str] = {}
    for name in wanted:
        t = schema.field(name).type
        found = kind_of(t)
        kind = _said(name, categories, numbers) or found
        if kind == "category" and found == "boolean":
            kind = "boolean"
        if kind is None and asked:
            raise DataError(
                f"{shown(name)} can't be used: values of the type {t} are not read. Leave it out, "
                "or make columns of numbers or text of it."
            )
        if kind is None:
            notes[name] = f"{shown(name)} is not used: values of the type {t} are not read."
        elif kind == "empty":
            notes[name] = f"{shown(name)} is not used: it has no values."
        else:
            summaries[name] = of_kind(kind, name, found)
    return summaries, notes


def _said(name: str, categories: Sequence[str], numbers: Sequence[str]) -> str | None:
    return "category" if name in categories else "number" if name in numbers else None
