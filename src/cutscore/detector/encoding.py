"""From columns of any kind to features: what each column is, decided once and said."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import check_weights
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, shown
from cutscore.core.findings.base import Shown
from cutscore.core.findings.rows import LengthsDiffer, NoRows, TypeUnfit
from cutscore.core.findings.training import (
    ColumnNote,
    ColumnsNumbers,
    ColumnUnused,
    NothingToLearnFrom,
)
from cutscore.core.frozen import derived
from cutscore.core.types import ArrayLike
from cutscore.detector.column_summaries import ColumnSummary, Limits, of_kind, summed
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.values import kind_of, stream
from cutscore.linear.line import LinearDetector
from cutscore.linear.rows import Matrix, block_rows
from cutscore.sweeps.sweep import Floats
from cutscore.tables.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa

    from cutscore.tables.frames import TableLike

# Numbers in a block that stays in the second-level cache.
_CACHED = 1 << 17
# Rows of sparse features that are made at a time.
_BATCH = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """The columns of a table and how they are encoded as features; made by :meth:`fit`.

    Parameters
    ----------
    columns
        The columns used, in order.
    notes
        One finding for each column, which describes its encoding.
    rows
        The number of rows it was fitted to.
    fingerprint
        A hash of these rows: see :meth:`fit`.

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
    ...     print(note.render())
    'age' is numeric: mean 40, standard deviation 8.16497; 25 % missing (indicator column added).
    'colour' is categorical: 'red' (75 %), 'blue' (25 %); reference level: 'red'.
    'unit' is not used: it is 'cm' in every row.
    """

    columns: tuple[Column, ...]
    notes: tuple[ColumnNote, ...] = ()
    rows: int = 0
    fingerprint: str = ""

    @classmethod
    def fit(  # noqa: PLR0913 - all but the first are options
        cls,
        data: TableLike,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        categories: Sequence[str] = (),
        numbers: Sequence[str] = (),
        max_categories: int = 50,
        min_rows: int = 5,
        weight: ArrayLike | None = None,
    ) -> Encoding:
        """Decide what each column is, by its type and in one pass over the rows.

        Numbers are standardised. Booleans and text are categories; so are numbers, if they are
        named in ``categories``. Dates count as days. Columns with one value only, text that differs
        in every row and nested values are not used. Missing values, NaN included, become a feature;
        an infinite number is an error.

        Row ids are not used either: whole numbers, one a row, that only rise or only fall from row
        to row. What is named in ``columns`` or ``numbers`` is used nevertheless.

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
            Columns that are amounts, though they look like row ids, or like codes since some in a
            CSV file have zeros in front.
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
        roles = Roles(
            target, columns=columns, exclude=exclude, categories=categories, numbers=numbers
        )
        if max_categories < 1 or min_rows < 1:
            name = "max_categories" if max_categories < 1 else "min_rows"
            raise DataError(BadArgument(name, "be at least 1", min(max_categories, min_rows)))
        w = None if weight is None else check_weights(weight)
        return cls.of(data, roles, Limits(max_categories, min_rows), w)

    @classmethod
    def of(cls, data: TableLike, roles: Roles, limits: Limits, weight: Floats | None) -> Encoding:
        """As :meth:`fit`, of checked arguments."""
        from cutscore.tables.frames import as_table

        data = as_table(data)
        schema = data.schema
        wanted = roles.features(schema.names)
        summaries, notes = _kinds(schema, wanted, roles)
        rows = summed(data, summaries, roles.numbers, weight)
        limits = replace(limits, asked=frozenset(roles.named))
        used: list[Column] = []
        for name, summary in summaries.items():
            column, notes[name] = summary.decided(rows, limits)
            if column is not None:
                used.append(column)
        ordered = tuple(notes[name] for name in wanted)
        if not used:
            unused = (note for note in ordered if isinstance(note, ColumnUnused))
            first = next(((n.column, n.reason, n.value) for n in unused), ())
            raise DataError(NothingToLearnFrom(*first))
        facts = [rows, *(s.facts() for s in summaries.values())]
        return cls(tuple(used), ordered, rows, _fingerprint(facts))

    @classmethod
    def of_matrix(
        cls, X: Matrix, names: Sequence[str], weight: ArrayLike | None = None
    ) -> Encoding:
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
            rule = f"have rows with weight above 0, and {len(names):,} columns, one per name"
            raise DataError(BadArgument("X", rule, Shown(f"shape {X.shape}")))
        flat: Any = X
        if not isinstance(X, np.ndarray):
            # A copy: what SciPy adds up, entries of one place, it adds up in the matrix itself.
            flat = X.tocsc().astype(np.float64)
            flat.sum_duplicates()
        mean = np.ravel(w @ flat) / w.sum()
        ends = [np.asarray(_dense_row(m), np.float64) for m in (flat.min(axis=0), flat.max(axis=0))]
        if not all(np.isfinite(e).all() for e in ends):
            raise DataError(BadArgument("X", "contain finite numbers"))
        scale = _deviations(flat, mean, w)
        scale[(scale == 0) | (ends[0] == ends[1])] = 1.0
        facts = [rows, *zip(names, *(map(repr, e.tolist()) for e in ends), strict=True)]
        used = tuple(
            NumberColumn(name, m, s, low=low, high=high)
            for name, m, s, low, high in zip(
                names, *(x.tolist() for x in (mean, scale, *ends)), strict=True
            )
        )
        return cls(used, (ColumnsNumbers(columns),), rows, _fingerprint(facts))

    def from_raw(self, line: LinearDetector) -> LinearDetector:
        """The line of the features that gives the scores which ``line`` gives raw numbers."""
        mean = np.array([c.mean for c in self.columns if isinstance(c, NumberColumn)])
        scale = np.array([c.scale for c in self.columns if isinstance(c, NumberColumn)])
        if len(mean) < len(self.features) or len(line.w) != len(mean):
            raise DataError(LengthsDiffer("weight", "column of numbers", len(line.w), len(mean)))
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

    def column_of(self, feature: int) -> str:
        """The column that a feature is made of, by its number."""
        ends = [place.stop for place in self.places]
        return self.columns[bisect_right(ends, feature)].name

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

    def transform(self, data: TableLike, *, sparse: bool | None = None) -> Any:
        """The features of all rows: a float64 array, or a CSR matrix.

        Parameters
        ----------
        data
            A table as in :meth:`fit`. Further columns do no harm.
        sparse
            Whether to make a CSR matrix. If it is not said: where less than a tenth is not 0.
        """
        from cutscore.tables.frames import as_table

        table = as_table(data)
        rows = table.rows
        if rows and not self._is_sparse(sparse):
            whole, at = np.empty((rows, len(self.features))), 0
            for batch in stream(table, self.names, self._numbers, self._texts):
                self._dense(batch, at, whole[at : at + batch.num_rows])
                at += batch.num_rows
            return whole
        blocks = list(self.blocks(table, sparse=sparse))
        if not blocks:
            raise DataError(NoRows())
        if len(blocks) == 1:
            return blocks[0]
        if isinstance(blocks[0], np.ndarray):
            return np.concatenate(blocks)
        from scipy.sparse import vstack

        return vstack(blocks, format="csr")

    def arranged(self, data: TableLike, places: NDArray[np.intp], rows: int) -> Any:
        """The features as :meth:`transform` makes them, of so many rows in another order.

        Parameters
        ----------
        data
            A table as in :meth:`fit`.
        places
            Where each row of the table comes to lie; -1 leaves it out.
        rows
            How many are kept.
        """
        if self._is_sparse(None):
            order = np.empty(rows, np.intp)
            kept = np.flatnonzero(places >= 0)
            order[places[kept]] = kept
            return self.transform(data, sparse=True)[order]
        # What is left out is written to the last row, which nobody sees.
        out, at = np.empty((rows + 1, len(self.features))), 0
        for batch in stream(data, self.names, self._numbers, self._texts):
            self._dense(batch, at, out, places)
            at += batch.num_rows
        return out[:rows]

    def _is_sparse(self, asked: bool | None) -> bool:
        if asked is not None:
            return asked
        full = sum(
            len(c.features) if isinstance(c, NumberColumn) else 1 - max(c.share)
            for c in self.columns
        )
        return bool(full < 0.1 * len(self.features))

    def blocks(self, data: TableLike, *, sparse: bool | None = None) -> Iterator[Any]:
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

    def _dense(
        self, batch: pa.RecordBatch, start: int, out: Floats, places: NDArray[np.intp] | None = None
    ) -> None:
        """Write the features of a batch, whose first row is number ``start``, to rows of ``out``:
        in their order, or each to its place."""
        # Few rows at a time, so that features stay in the cache until they are turned into rows.
        size = max(256, _CACHED // max(len(self.features), 1))
        block = np.empty((len(self.features), min(size, batch.num_rows)))
        for k in range(0, batch.num_rows, size):
            some = batch.slice(k, size)
            turned = block[:, : some.num_rows]
            for j, (column, place) in enumerate(zip(self.columns, self.places, strict=True)):
                column.fill(turned[place], some.column(j), start + k)
            if places is None:
                out[k : k + size] = turned.T
            else:
                out[places[start + k : start + k + some.num_rows]] = turned.T

    def _sparse(self, batch: pa.RecordBatch, start: int) -> Any:
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


def _fingerprint(facts: object) -> str:
    text = json.dumps(facts, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _dense_row(row: Matrix) -> Any:
    """The one row of a matrix, or of a sparse one."""
    return np.ravel(row.toarray() if hasattr(row, "toarray") else row)


def _deviations(X: Matrix, mean: Floats, weight: Floats) -> Floats:
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


def _kinds(
    schema: pa.Schema, wanted: Sequence[str], roles: Roles
) -> tuple[dict[str, ColumnSummary], dict[str, ColumnNote]]:
    """What is to be summed up of each column that can be used; and why others can't. One that was
    asked for must be."""
    summaries: dict[str, ColumnSummary] = {}
    notes: dict[str, ColumnNote] = {}
    for name in wanted:
        t = schema.field(name).type
        found = kind_of(t)
        kind = roles.kind(name) or found
        if kind == "category" and found == "boolean":
            kind = "boolean"
        if kind is None and name in roles.named:
            hint = "Exclude it, or convert it."
            raise DataError(TypeUnfit(shown(name), str(t), hint))
        if kind is None:
            notes[name] = ColumnUnused(name, "type", str(t))
        elif kind == "empty":
            notes[name] = ColumnUnused(name, "empty")
        else:
            summaries[name] = of_kind(kind, name, found)
    return summaries, notes
