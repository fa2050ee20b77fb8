"""One table from one file or many: checked against each other and read."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Finding, Where
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import NoRows, TypeUnfit, ValueUnfit
from cutscore.core.findings.tables import FilesDiffer, TypesDiffer
from cutscore.core.names import missing_column_error
from cutscore.tables import parts
from cutscore.tables.formats.libsvm import LibsvmPart
from cutscore.tables.formats.query import Scratch
from cutscore.tables.literals import first_inexact, floats
from cutscore.tables.parts import (
    HeldPart,
    Part,
    Piece,
    Place,
    called,
    cell,
    check_names_in_floats,
    common_type,
    decoded,
    filled,
    inexact,
    is_text,
    kind_of,
    plain,
    row_of,
    whole,
)


class Table:
    """A table in files; see :func:`cutscore.tables.open_table`.

    Only the column names are read until rows or types are needed. Small text files are read once.
    """

    def __init__(self, files: Sequence[Part], keep: object = None) -> None:
        self._parts = list(files)
        self._keep = keep
        self._types: dict[str, pa.DataType] = {}
        self.notes: list[Finding] = [note for part in files for note in part.notes]
        """What was decided while opening."""
        first = self._parts[0]
        if not isinstance(first, LibsvmPart):
            for part in self._parts[1:]:
                _check_same(first, part)
        if all(part.is_small for part in files) and self.size < parts.BLOCK:
            self._parts = [HeldPart(part) for part in files]

    def held(self) -> Table:
        """The same with its rows in memory once they are asked for: all files are read once."""
        if any(isinstance(part, (HeldPart, LibsvmPart)) for part in self._parts):
            return self
        return Table([HeldPart(part) for part in self._parts], self._keep)

    def hold_text(self, columns: Sequence[str]) -> None:
        """Parse these columns of CSV files now, and only once: for whoever reads them as text and
        as numbers. Of files that are not too large the text stays in memory."""
        for part in self._parts:
            part.hold_text(columns)

    @property
    def where(self) -> str:
        """What the table is called in messages."""
        return called([part.where for part in self._parts])

    @property
    def paths(self) -> list[str]:
        """The files that it lies in."""
        return [part.path for part in self._parts]

    @property
    def names(self) -> list[str]:
        """The columns, in their order."""
        if isinstance(self._parts[0], LibsvmPart) and len(self._parts) > 1:
            return ["label", *map(str, self.indices)]
        return self._parts[0].names

    @property
    def schema(self) -> pa.Schema:
        """The columns with types that every row fits. Of large CSV files that takes a pass."""
        return self.types(self.names)

    def types(self, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pa.Schema:
        """These columns with types that every row fits; ``numbers`` as in :meth:`batches`."""
        if any(name not in self._types for name in columns):
            joined = self._joined(columns, [part.schema(columns) for part in self._parts])
            self._types |= dict(zip(joined.names, joined.types, strict=True))
        found = pa.schema([pa.field(name, self._types[name]) for name in columns])
        return self._with(found, numbers, ())

    @property
    def rows(self) -> int | None:
        """How many rows there are, if the files know."""
        sizes = [part.rows for part in self._parts]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def size(self) -> int:
        """Bytes of the files, as they lie on the disk; 0 for queries."""
        return sum(os.path.getsize(p) for p in self.paths if os.path.isfile(p))

    @property
    def is_text(self) -> bool:
        """Whether all columns can be read as the text that they are written as, as those of CSV."""
        return all(part.can_be_text(name) for part in self._parts for name in part.names)

    @property
    def is_sparse(self) -> bool:
        """Whether :meth:`sparse` has something to give: the files are in the format of LIBSVM."""
        return all(isinstance(part, LibsvmPart) for part in self._parts)

    @property
    def dataset_format(self) -> str | None:
        """What pyarrow.dataset calls the format of the files; None if it does not read them as they
        are read here."""
        kinds = {part.dataset for part in self._parts}
        return next(iter(kinds)) if len(kinds) == 1 else None

    def dataset(self, texts: Collection[str] = ()) -> tuple[Any, Any]:
        """All rows as a dataset of pyarrow, in the types that all files share, and an object that
        must live as long; these columns as text, as in :meth:`batches`. What pyarrow.dataset does
        not read is written to a temporary file."""
        import pyarrow.dataset as ds

        if self.dataset_format is not None:
            if self.dataset_format == "ipc":
                # A dataset does not check offsets, and one that is wrong would end the process.
                for part in self._parts:
                    for _ in part.batches(part.names, part.schema(part.names)):
                        pass
            return ds.dataset(self.paths, self.schema, format=self.dataset_format), self
        schema = self._with(self.schema, (), texts)
        scratch = Scratch(self.batches(texts=texts), schema)
        return scratch.dataset, scratch

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        numbers: Sequence[str] = (),
        texts: Collection[str] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """All rows, some at a time; only these columns, if they are named.

        Columns of CSV in ``numbers`` are numbers even where they have zeros in front. Those in
        ``texts`` are the text that stands there, TRUE and 1e5, though it could be something else.
        """
        texts = texts or ()
        files = [part.with_texts(texts) for part in self._parts]
        if files != self._parts:
            yield from Table(files, self._keep).batches(columns, numbers=numbers)
            return
        wanted = self.wanted(columns)
        as_text = self._as_text(texts)
        rest = [name for name in wanted if name not in as_text]
        schema = _of_types(wanted, self.types(rest, numbers=numbers))
        rows = 0
        for part in self._parts:
            own, start = _own(part, schema), rows
            for batch in part.batches(wanted, own):
                if batch.num_rows:
                    at = row_of(part.where, rows - start)
                    yield batch if own.equals(schema) else _cast(batch, schema, part, at)
                rows += batch.num_rows
        if not rows:
            raise self._no_rows()

    def _as_text(self, names: Collection[str]) -> set[str]:
        return {n for n in names if all(part.can_be_text(n) for part in self._parts)}

    def _with(self, schema: pa.Schema, numbers: Collection[str], texts: Collection[str]) -> Any:
        """The same with some columns as numbers, if codes are all that makes them text, and some as
        text."""
        changed = dict.fromkeys(self.coded(numbers), pa.float64())
        changed |= dict.fromkeys(self._as_text(texts), pa.string())
        return pa.schema([pa.field(f.name, changed.get(f.name, f.type)) for f in schema])

    def read(
        self, columns: Sequence[str] | None = None, *, numbers: Sequence[str] = ()
    ) -> pa.Table:
        """All rows at once; only these columns, if they are named. ``numbers`` as in
        :meth:`batches`."""
        wanted = self.wanted(columns)
        # Types of text files are known once they have been read.
        tables = [part.read(wanted) for part in self._parts]
        schema = self._joined(wanted, [table.schema for table in tables])
        self._types |= dict(zip(schema.names, schema.types, strict=True))
        schema = self._with(schema, numbers, ())
        cast = []
        for table, part in zip(tables, self._parts, strict=True):
            own = _own(part, schema)
            # What is a code in another file is text here, too.
            if not table.schema.equals(own):
                table = pa.Table.from_batches(part.batches(wanted, own), own)  # noqa: PLW2901
            at = row_of(part.where)
            cast.append(table if own.equals(schema) else _cast(table, schema, part, at, exact=True))
        table = pa.concat_tables(cast)
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
        wanted = self.wanted(columns)
        schema = self.types(wanted, numbers=numbers)
        return [
            replace(piece, read=partial(_cast_piece, piece, schema, part))
            for part in self._parts
            for piece in part.pieces(wanted, _own(part, schema))
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
            raise DataError(
                BadArgument("paths", "be libsvm files to be read as sparse", self.where)
            )
        from scipy.sparse import vstack

        low, high = self.indices.start, self.indices.stop - 1
        both = [part.sparse(low, high) for part in self._parts if isinstance(part, LibsvmPart)]
        X = both[0][0] if len(both) == 1 else vstack([x for x, _ in both], format="csr")
        return X, np.concatenate([label for _, label in both])

    @property
    def indices(self) -> range:
        """The indices that the columns of :meth:`sparse` have in the files."""
        files = [part for part in self._parts if isinstance(part, LibsvmPart)]
        return range(min(part.low for part in files), max(part.high for part in files) + 1)

    def place(self, row: int) -> Place:
        """Where a row of the table is: its file, and its number there, counted from 1."""
        for part in self._parts[:-1]:
            some = part.names[:1]
            n = sum(batch.num_rows for batch in part.batches(some, part.schema(some)))
            if row < n:
                return row_of(part.where)(row)
            row -= n
        return row_of(self._parts[-1].where)(row)

    def _no_rows(self) -> DataError:
        return DataError(NoRows(self.where))

    def wanted(self, columns: Sequence[str] | None) -> list[str]:
        """The columns that are named, or all of them; an error names one that is not there."""
        if columns is None:
            return self.names
        if isinstance(columns, str):
            raise DataError(BadArgument("columns", "be a list of names", columns))
        wanted = list(columns)
        known = set(self.names)
        for name in wanted:
            if not isinstance(name, str) or not (name in known or self._parts[0].has(name)):
                raise missing_column_error(name, self.names, self.where)
        if not wanted or len(set(wanted)) < len(wanted):
            raise DataError(BadArgument("columns", "be different names, at least one", wanted))
        return wanted

    def coded(self, names: Collection[str]) -> set[str]:
        """Which of these columns are text only for the zeros in front of their numbers, or for
        their length: ``numbers`` makes numbers of them."""
        asked = [name for name in names if name in self.names]
        if not asked:
            return set()
        schemas = [part.schema(asked) for part in self._parts]
        coded = set().union(*(part.coded for part in self._parts)).intersection(asked)
        return {
            name
            for name in coded
            if all(
                name in part.coded or not is_text(schema.field(name).type)
                for part, schema in zip(self._parts, schemas, strict=True)
            )
        }

    def _joined(self, columns: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
        """Types that the rows of all files fit."""
        types = []
        # Asked for once: pyarrow makes a list of all types each time.
        of_part = [schema.types for schema in schemas]
        for k, name in enumerate(columns):
            now = of_part[0][k]
            for part, its in zip(self._parts, of_part, strict=True):
                joined = common_type(now, its[k])
                if joined is None and any(name in p.coded for p in self._parts):
                    joined = pa.string()  # what is a code in one file is one in all of them
                if joined is None:
                    kinds = kind_of(now), kind_of(its[k])
                    places = self._parts[0].where, part.where
                    raise DataError(TypesDiffer(name, kinds, places))
                now = joined
            types.append(pa.field(name, now))
        return pa.schema(types)

    def _array(self, column: pa.ChunkedArray, name: str, *, number: bool) -> NDArray[Any]:
        column = decoded(filled(column, name, self.place))
        column = plain(column if number else whole(column))
        t = column.type
        known = pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t)
        if number and not known:
            raise self._not_numbers(column, name)
        if not number and pa.types.is_temporal(t):
            column, known = column.cast(pa.string()), True
        if not known and not is_text(t):
            what = f"{shown(name)} of {self.where}"
            raise DataError(TypeUnfit(what, kind_of(t), where=Where(file=self.where)))
        one = column.chunk(0) if column.num_chunks == 1 else column
        out: NDArray[Any] = (
            one.to_numpy(zero_copy_only=False) if isinstance(one, pa.Array) else one.to_numpy()
        )
        if not number and pa.types.is_floating(t):
            check_names_in_floats(out, name, self.place)
        return out

    def _not_numbers(self, column: pa.ChunkedArray, name: str) -> DataError:
        """Which value of a column is no number; of text that is nothing but numbers, the first."""
        text = column.cast(pa.string()) if is_text(column.type) else None
        row = 0 if text is None else self._parts[0].first_not_number(text)
        value, place = column[row].as_py(), cell(self.place(row), name)
        hint = "Correct it, cast it in a query, or use another column."
        return DataError(ValueUnfit(shown(name), value, hint=hint, where=place))

    def __repr__(self) -> str:
        names = self.names
        some = ", ".join(map(shown, names[:8])) + (", …" if len(names) > 8 else "")
        return f"{self.where}: {len(names):,} column{'s' if len(names) > 1 else ''} ({some})"


def _of_types(columns: Sequence[str], types: pa.Schema) -> pa.Schema:
    """These columns, of the types that are known, else as text."""
    known = dict(zip(types.names, types.types, strict=True))
    return pa.schema([pa.field(name, known.get(name, pa.string())) for name in columns])


def _own(part: Part, schema: pa.Schema) -> pa.Schema:
    """What a part gives where these types are wanted: its own types, or text if that is wanted."""
    typed = [f.name for f in schema if not (is_text(f.type) and part.can_be_text(f.name))]
    return _of_types(schema.names, part.schema(typed))


def _check_same(first: Part, other: Part) -> None:
    a, b = first.names, other.names
    if a == b or set(a) == set(b):
        return
    for has, lacks in ((first, other), (other, first)):
        for name in has.names:
            if name not in lacks.names:
                raise DataError(FilesDiffer(name, has.where, lacks.where))


def _cast_piece(
    piece: Piece, schema: pa.Schema, part: Part
) -> Iterator[tuple[str, pa.RecordBatch]]:
    last, rows = "", 0
    for where, batch in piece.read():
        rows, last = rows if where == last else 0, where
        fits = batch.schema.equals(schema)
        at = row_of(where, rows)
        yield where, batch if fits else _cast(batch, schema, part, at, exact=True)
        rows += batch.num_rows


def _cast(
    data: pa.Table | pa.RecordBatch,
    schema: pa.Schema,
    part: Part,
    row_at: Callable[[int], Place],
    *,
    exact: bool = False,
) -> Any:
    """Columns in the types that all files share. What is compared must be ``exact``; what a
    detector adds up, which comes in batches, need not."""
    arrays = []
    for column, name, t in zip(data.columns, schema.names, schema.types, strict=True):
        with part.guard():
            if not pa.types.is_floating(t):
                arrays.append(column.cast(t))
                continue
            source = decoded(column)
            out = part.number(source) if is_text(source.type) else floats(source)
        if exact:
            row = first_inexact(source, out)
            if row is not None:
                raise inexact(source[row].as_py(), name, row_at(row))
        arrays.append(out)
    return type(data).from_arrays(arrays, schema=schema)
