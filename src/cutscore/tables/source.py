"""One table from one file or many: checked against each other and read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._names import in_sql, no_column
from cutscore._written import (
    EUROPEAN,
    EXACT,
    MISSING,
    MOSTLY,
    NUMBER,
    coinciding,
    floats,
    mark_way,
    sign_way,
    unmarked,
)
from cutscore.errors import DataError
from cutscore.tables.digits import whole
from cutscore.tables.libsvm import LibsvmPart
from cutscore.tables.parts import (
    Part,
    Piece,
    called,
    check_names_in_floats,
    common_type,
    decoded,
    filled,
    is_text,
    kind_of,
    plain,
    row_of,
)
from cutscore.tables.query import DuckPart, SqlitePart
from cutscore.tables.text import CsvPart


class Source:
    """A table in files; see :func:`cutscore.tables.open_table`.

    Nothing but names and types is read until rows are asked for.
    """

    def __init__(self, parts: Sequence[Part], keep: Any = None) -> None:
        self._parts = list(parts)
        self._keep = keep
        self._schemas: dict[str, pa.DataType] = {}
        self.notes: list[str] = [note for part in parts for note in part.notes]
        """What was decided while opening, in sentences."""
        first = self._parts[0]
        if not isinstance(first, LibsvmPart):
            for part in self._parts[1:]:
                same_names(first, part)

    @property
    def where(self) -> str:
        """What the table is called in messages."""
        return called([part.where for part in self._parts])

    @property
    def names(self) -> list[str]:
        """The columns, in their order."""
        if isinstance(self._parts[0], LibsvmPart) and len(self._parts) > 1:
            low, high = self._range()
            return ["label", *map(str, range(low, high + 1))]
        return self._parts[0].names

    @property
    def schema(self) -> pa.Schema:
        """The columns with types that every row fits. Of large CSV files that takes a pass."""
        return self._schema(self.names)

    @property
    def rows(self) -> int | None:
        """How many rows there are, if the files know."""
        sizes = [part.rows for part in self._parts]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def size(self) -> int:
        """Bytes of the files, as they lie on the disk; 0 for queries."""
        return sum(os.path.getsize(p.path) for p in self._parts if os.path.isfile(p.path))

    @property
    def decimal(self) -> str | None:
        """What numbers are written with, "." or ","; None if the table is not read from CSV."""
        return self._parts[0].decimal

    @property
    def missing(self) -> tuple[str, ...]:
        """What stands for a missing value in files of CSV, besides what always does."""
        return self._parts[0].missing

    @property
    def is_csv(self) -> bool:
        """Whether all of it is read from CSV, or from what is like it."""
        return all(isinstance(part, CsvPart) for part in self._parts)

    @property
    def is_sparse(self) -> bool:
        """Whether :meth:`sparse` has something to give: the files are in the format of LIBSVM."""
        return all(isinstance(part, LibsvmPart) for part in self._parts)

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        numbers: Sequence[str] = (),
        texts: Mapping[str, Collection[str]] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """All rows, some at a time; only these columns, if they are named.

        Columns of CSV in ``numbers`` are numbers even where they have zeros in front. Those in
        ``texts`` are the text that stands there, TRUE and 1e5, though it could be something else.
        Each has a list of words, such as NA, that are text in SQLite rather than a missing value.
        """
        texts = texts or {}
        parts = [part.with_texts(texts) for part in self._parts]
        if parts != self._parts:
            yield from Source(parts, self._keep).batches(columns, numbers=numbers, texts=texts)
            return
        wanted = self._wanted(columns)
        given = [n for n in texts if all(part.can_be_text(n) for part in self._parts)]
        schema = _with_texts(wanted, given, partial(self._schema, numbers=numbers))
        rows = 0
        for part in self._parts:
            own, start = _with_texts(wanted, given, part.schema), rows
            for batch in part.batches(wanted, own):
                if batch.num_rows:
                    at = row_of(part.where, rows - start)
                    found = _marked_out(part, batch, texts)
                    yield found if found.schema.equals(schema) else _cast(found, schema, part, at)
                rows += batch.num_rows
        if not rows:
            raise self._no_rows()

    def read(
        self, columns: Sequence[str] | None = None, *, numbers: Sequence[str] = ()
    ) -> pa.Table:
        """All rows at once; only these columns, if they are named. ``numbers`` as in
        :meth:`batches`."""
        wanted = self._wanted(columns)
        tables = [_marked_out(part, part.read(wanted)) for part in self._parts]
        for part in self._settle_codes(wanted):
            tables[self._parts.index(part)] = part.read(wanted)
        schema = tables[0].schema
        if len(tables) > 1:
            schema = self._joined(wanted, [table.schema for table in tables])
        schema = self._with_numbers(schema, numbers)
        tables = [
            table
            if table.schema.equals(schema)
            else _cast(table, schema, part, row_of(part.where), exact=True)
            for table, part in zip(tables, self._parts, strict=True)
        ]
        table = pa.concat_tables(tables)
        if not table.num_rows:
            raise self._no_rows()
        return table

    def pieces(
        self, columns: Sequence[str] | None = None, *, numbers: Sequence[str] = ()
    ) -> list[Piece]:
        """All rows in pieces that several threads can read, in their order: of Parquet files some
        row groups each, else a file. ``numbers`` as in :meth:`batches`.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from cutscore.tables import open_table
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
        >>> _ = file.write_text("y,s\\n1,0.9\\n0,0.4\\n")
        >>> [piece] = open_table(file).pieces(["y"])
        >>> [batch.num_rows for place, batch in piece.read()]
        [2]
        """
        wanted = self._wanted(columns)
        schema = self._schema(wanted, numbers)
        self._check_exact(numbers)
        for name in set(numbers).intersection(wanted):
            if self.decimal and is_text(schema.field(name).type):
                values = (v for batch in self.batches([name]) for v in batch[0].to_pylist())
                self._refuse(values, name, if_sign=True)
        return [
            replace(piece, read=partial(_cast_piece, piece, schema, part))
            for part in self._parts
            for piece in part.pieces(wanted, part.schema(wanted))
        ]

    def columns(
        self, names: Sequence[str], *, numbers: Sequence[str] = ()
    ) -> dict[str, NDArray[Any]]:
        """Columns as NumPy arrays, such as :func:`cutscore.sweep` takes: no value may be missing.

        Parameters
        ----------
        names
            Which columns.
        numbers
            Which of them must hold numbers. The others may also hold text or booleans, as labels.

        Notes
        -----
        Numbers of a file of one row group are not copied.
        """
        table = self.read(list(dict.fromkeys(names)), numbers=numbers)
        self._check_exact(numbers)
        return {
            name: self._array(table.column(name), name, number=name in numbers) for name in names
        }

    def column(self, name: str, *, number: bool = False) -> NDArray[Any]:
        """One column as a NumPy array; see :meth:`columns`."""
        return self.columns([name], numbers=[name] if number else [])[name]

    def sparse(self) -> tuple[Any, NDArray[np.float64]]:
        """Features as a CSR matrix and the labels, of files in the format of LIBSVM.

        Columns of the matrix are ``names[1:]``.
        """
        if not self.is_sparse:
            raise DataError(f"only libsvm files are sparse; {self.where} is none. Use read().")
        from scipy.sparse import vstack

        low, high = self._range()
        both = [part.sparse(low, high) for part in self._parts if isinstance(part, LibsvmPart)]
        X = both[0][0] if len(both) == 1 else vstack([x for x, _ in both], format="csr")
        return X, np.concatenate([label for _, label in both])

    @property
    def indices(self) -> range:
        """The indices that the columns of :meth:`sparse` have in the files."""
        low, high = self._range()
        return range(low, high + 1)

    def place(self, row: int) -> str:
        """Where a row of the table is: its file, and its number there, counted from 1; of CSV its
        line too."""
        if len(self._parts) > 1:
            for part in self._parts:
                some = part.names[:1]
                n = sum(batch.num_rows for batch in part.batches(some, part.schema(some)))
                if row < n:
                    return part.place(row)
                row -= n
        return self._parts[0].place(row)

    def _place_of(self, rows: int, row: int) -> str:
        """The same, where there are so many rows: totals stand in the last."""
        last = ", the last, perhaps with totals," if row == rows - 1 > 0 else ""
        return self.place(row) + last

    def _range(self) -> tuple[int, int]:
        parts = [part for part in self._parts if isinstance(part, LibsvmPart)]
        return min(part._low for part in parts), max(part._high for part in parts)

    def _no_rows(self) -> DataError:
        return DataError(f"a table must have rows; {self.where} has column names only.")

    def _wanted(self, columns: Sequence[str] | None) -> list[str]:
        if columns is None:
            return self.names
        if isinstance(columns, str):
            raise DataError(f"columns must be a list of names; it is {shown(columns)}.")
        wanted = list(columns)
        known = set(self.names)
        for name in wanted:
            if not isinstance(name, str) or not (name in known or self._parts[0].has(name)):
                raise self._no_column(name)
        if not wanted or len(set(wanted)) < len(wanted):
            raise DataError(
                f"columns must be different names, at least one; it is {shown(wanted)}."
            )
        return wanted

    def _no_column(self, name: Any) -> DataError:
        error = no_column(name, self.names, self.where)
        first = self._parts[0]
        hint = first.if_alone(self.names) if isinstance(first, CsvPart) else ""
        return DataError(f"{error} {hint}") if hint else error

    def _schema(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> pa.Schema:
        if any(name not in self._schemas for name in columns):
            schemas = [part.schema(columns) for part in self._parts]
            if self._settle_codes(columns):
                schemas = [part.schema(columns) for part in self._parts]
            joined = self._joined(columns, schemas)
            self._schemas |= dict(zip(joined.names, joined.types, strict=True))
        schema = pa.schema([pa.field(name, self._schemas[name]) for name in columns])
        return self._with_numbers(schema, numbers)

    @property
    def _codes(self) -> set[str]:
        return {name for part in self._parts if isinstance(part, CsvPart) for name in part.codes}

    def _settle_codes(self, columns: Sequence[str]) -> list[CsvPart]:
        """What is a code in one file of CSV is one in all of them. The files that it changes."""
        codes = self._codes.intersection(columns)
        parts = [part for part in self._parts if isinstance(part, CsvPart)]
        return [part for part in parts if part.add_codes(codes)]

    def _with_numbers(self, schema: pa.Schema, numbers: Sequence[str]) -> pa.Schema:
        """The same with these columns as numbers, if codes are all that makes them text; or SQLite,
        which stores what it imports as text."""
        known = [n for n in numbers if n in schema.names]
        for name in self._numbers_in_codes(known) | self._numbers_in_sqlite(schema, known):
            at = schema.get_field_index(name)
            schema = schema.set(at, pa.field(name, pa.float64()))
        return schema

    def _numbers_in_sqlite(self, schema: pa.Schema, names: Sequence[str]) -> set[str]:
        (part, *_) = self._parts
        if not isinstance(part, SqlitePart):
            return set()
        texts = {name for name in names if is_text(schema.field(name).type)}
        return part.with_numbers(texts)

    def _numbers_in_codes(self, names: Sequence[str]) -> set[str]:
        return {
            name
            for name in self._codes.intersection(names)
            if all(isinstance(part, CsvPart) and part.has_numbers(name) for part in self._parts)
        }

    def coded(self, names: Sequence[str]) -> set[str]:
        """Which of these columns are text only for the zeros in front of their numbers, for their
        length, or since SQLite stored them so: ``numbers`` makes numbers of them."""
        if not names:
            return set()
        schema = self._schema(self._wanted(names))
        return self._numbers_in_codes(names) | self._numbers_in_sqlite(schema, names)

    def _joined(self, columns: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
        """Types that the rows of all files fit."""
        types = []
        # Asked for once: pyarrow makes a list of all types each time.
        of_part = [schema.types for schema in schemas]
        for k, name in enumerate(columns):
            now = of_part[0][k]
            for part, its in zip(self._parts, of_part, strict=True):
                joined = common_type(now, its[k])
                if joined is None:
                    raise DataError(
                        f"a column must have one type in all files; {shown(name)} is "
                        f"{kind_of(now)} in {self._parts[0].where} and "
                        f"{kind_of(its[k])} in {part.where}. Correct it, or read them apart."
                        f"{self._first_text(name)}"
                    )
                now = joined
            types.append(pa.field(name, now))
        return pa.schema(types)

    def _first_text(self, name: str) -> str:
        """Sentences on the value that makes a column text in one of several files of CSV, if it may
        stand for a missing one."""
        own = EUROPEAN if self.decimal == "," else NUMBER
        for part in self._parts:
            values = part.read([name]).column(0)
            if not is_text(values.type) or not isinstance(part, CsvPart):
                continue
            for row, value in enumerate(values.to_pylist()):
                if value is not None and not re.search(own, value):
                    way = mark_way(value, self.decimal)
                    place = part.place(row)
                    return f" {place[0].upper()}{place[1:]} has {shown(value)}.{way}" if way else ""
        return ""

    def _array(self, column: pa.ChunkedArray, name: str, *, number: bool) -> NDArray[Any]:
        column = decoded(filled(column, name, partial(self._place_of, len(column))))
        column = plain(column if number else whole(column))
        t = column.type
        known = pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t)
        if number and not known:
            self._refuse(column.to_pylist(), name)
        if not number and pa.types.is_temporal(t):
            column, known = column.cast(pa.string()), True
        if not known and not is_text(t):
            raise DataError(
                f"{shown(name)} of {self.where} holds {kind_of(t)}; numbers, booleans or text are "
                "needed. Convert it first."
            )
        one = column.chunk(0) if column.num_chunks == 1 else column
        out: NDArray[Any] = (
            one.to_numpy(zero_copy_only=False) if isinstance(one, pa.Array) else one.to_numpy()
        )
        if not number and pa.types.is_floating(t):
            check_names_in_floats(out, shown(name), self.place)
        return out

    def _check_exact(self, numbers: Sequence[str]) -> None:
        """Raise if floats can't tell the numbers of a column apart, though they were written."""
        for name in numbers:
            for part in self._parts:
                if name in part.inexact:
                    row, value = part.inexact[name]
                    raise coinciding(value, name, part.place(row))

    def _refuse(self, values: Iterable[Any], name: str, *, if_sign: bool = False) -> None:
        """Say which value of a column is no number; or only if another decimal sign may help."""
        own, other = (EUROPEAN, NUMBER) if self.decimal == "," else (NUMBER, EUROPEAN)
        row, value, either = 0, None, True
        rest = iter(values)
        for row, value in enumerate(rest):  # noqa: B007
            if value is None:
                continue
            if not isinstance(value, str) or not re.search(own, value):
                break
            either = either and re.search(other, value) is not None
        else:
            if if_sign:
                return
            raise self._only_text(name, value)
        way = sign_way(value, self.decimal) if either else ""
        if if_sign and not way:
            return
        if not way and mark_way(value, self.decimal):
            others = [v for v in rest if v is not None and v != value]
            numbers = row + sum(re.search(own, v) is not None for v in others)
            if numbers and numbers >= MOSTLY * (row + len(others)):
                way = mark_way(value, self.decimal)
        raise DataError(
            f"{shown(name)} must hold numbers; {self.place(row)} has {shown(value)}. Correct it, "
            f"or name another column.{way}"
        )

    def _only_text(self, name: str, value: Any) -> DataError:
        """The error for numbers that are stored as text."""
        number = in_sql(name)
        way = "Cast it in the query"
        if not isinstance(self._parts[0], (DuckPart, SqlitePart)):
            query = f"select * replace (cast({number} as double) as {number}) from data"
            way = f"Cast it in a query, sql='{query}'"
        return DataError(
            f"{shown(name)} must hold numbers; in {self.where} it holds text, such as "
            f"{shown(value)}. {way}, or write the table anew with numbers, as pandas.to_numeric "
            "makes them."
        )

    def __repr__(self) -> str:
        names = self.names
        some = ", ".join(map(shown, names[:8])) + (", …" if len(names) > 8 else "")
        return f"{self.where}: {len(names):,} column{'s' if len(names) > 1 else ''} ({some})"


def _with_texts(
    columns: Sequence[str], texts: Sequence[str], schema: Callable[[Sequence[str]], pa.Schema]
) -> pa.Schema:
    """The types of columns, of which some are text whatever the others' schema says of them."""
    rest = schema([name for name in columns if name not in texts])
    text = pa.string()
    return pa.schema([pa.field(n, text) if n in texts else rest.field(n) for n in columns])


def same_names(first: Part, other: Part) -> None:
    a, b = first.names, other.names
    if a == b or set(a) == set(b):
        return
    lacks = [name for name in a if name not in set(b)]
    if lacks:
        what = f"{other.where} lacks {shown(lacks[0])}, which {first.where} has"
    else:
        more = next(name for name in b if name not in set(a))
        what = f"{other.where} has {shown(more)}, which {first.where} lacks"
    raise DataError(f"all files of a table must have the same columns; {what}. Read them apart.")


def _converted(
    column: Any, t: pa.DataType, name: str, row_at: Callable[[int], str], *, exact: bool
) -> Any:
    """A column in another type. Of whole numbers as floats none may be too long, if they must be
    exact."""
    if not pa.types.is_floating(t):
        return column.cast(t)
    column = decoded(column)
    if exact and pa.types.is_integer(column.type):
        values = np.asarray(column.fill_null(0))
        long = (values > EXACT) | (values < -EXACT)
        if long.any():
            row = int(long.argmax())
            raise coinciding(values[row], name, row_at(row))
    return floats(column)


def _cast_piece(
    piece: Piece, schema: pa.Schema, part: Part
) -> Iterator[tuple[str, pa.RecordBatch]]:
    last, rows = "", 0
    for where, batch in piece.read():
        rows, last = rows if where == last else 0, where
        at = row_of(where, rows)
        found = _marked_out(part, batch)
        yield (
            where,
            found if found.schema.equals(schema) else _cast(found, schema, part, at, exact=True),
        )
        rows += batch.num_rows


def _marked_out(
    part: Part, data: Any, but: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Any:
    """Rows of SQLite without the words for what is missing, which .import stores as text; ``but``
    has words of columns that are not."""
    if not isinstance(part, SqlitePart):
        return data
    arrays = []
    for name, column in zip(data.schema.names, data.columns, strict=True):
        known = but.get(name, ())
        marks = [word for word in MISSING if word not in known]
        arrays.append(unmarked(column, marks) if is_text(column.type) else column)
    return type(data).from_arrays(arrays, schema=data.schema)


def _cast(
    data: Any, schema: pa.Schema, part: Part, row_at: Callable[[int], str], *, exact: bool = False
) -> Any:
    """Columns in the types that all files share. What is compared must be exact; what a detector
    adds up, which comes in batches, need not."""
    with part.guard():
        arrays = [
            part.number(column, t, name, row_at, exact=exact)
            if isinstance(part, (CsvPart, SqlitePart))
            and is_text(column.type)
            and t == pa.float64()
            else _converted(column, t, name, row_at, exact=exact)
            for column, name, t in zip(data.columns, schema.names, schema.types, strict=True)
        ]
        return type(data).from_arrays(arrays, schema=schema)
