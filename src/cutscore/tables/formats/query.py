"""A query as a table: over files or a DuckDB database by DuckDB, over an SQLite file by SQLite."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from cutscore.core.errors import DataError
from cutscore.core.findings import Finding, LibraryMissing, Where
from cutscore.core.findings.base import shown
from cutscore.core.findings.tables import FileUnreadable, QueryFailed, TypesDiffer
from cutscore.linear.streams import Spool
from cutscore.tables.literals import EXACT
from cutscore.tables.parts import (
    BATCH,
    File,
    Format,
    Part,
    TemporaryFile,
    called,
    check_names,
    common_type,
    first_line,
    inexact,
    kind_of,
    row_of,
)

NO_ROWS = "it must be one query that returns rows, and does nothing else"
_T = TypeVar("_T")
# Makes what DuckDB reads as data, with these columns as text, and what that needs to live.
MakeData = Callable[[Collection[str]], tuple[Any, Any]]


class DuckPart(Part):
    """The rows of a query, by DuckDB. It runs once, when rows are first asked for: whoever reads
    them again reads what is kept, since a query need not give them in the same order twice.

    ``data`` makes the dataset of pyarrow that the query calls so.
    """

    def __init__(
        self,
        query: str,
        data: MakeData | None = None,
        *,
        database: str | None = None,
        of: Sequence[str] = (),
        texts: Collection[str] = (),
    ) -> None:
        self._called = f"the query {shown(query)}"
        super().__init__(query, called(of, self._called) if of else self._called)
        self._duckdb = _import_duckdb()
        self._make, self._database, self._of, self._texts = data, database, of, set(texts)
        self._data: Any = None
        self._keep: Any = None
        if data is not None:
            self._data, self._keep = data(texts)
        self._schema = self._run(lambda reader: reader.schema, limit=0)
        self._kept: _Kept | None = None
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    def with_texts(self, names: Collection[str]) -> Part:
        if self._make is None or self._texts.issuperset(names):
            return self
        return DuckPart(self.path, self._make, of=self._of, texts={*self._texts, *names})

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        with self._lock:
            if self._kept is None:
                self._kept = self._run(self._store)
        return self._kept.batches(columns)

    @property
    def rows(self) -> int | None:
        return None if self._kept is None else self._kept.rows

    def _run(self, consume: Callable[[Any], _T], limit: int | None = None) -> _T:
        """What somebody makes of the rows of the query."""
        # What a query may do is said in SECURITY.md: read the database or the files that were
        # given, or, where none were, the files that it names.
        config = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "enable_external_access": str(not self._of).lower(),
        }
        try:
            connection = self._duckdb.connect(
                self._database or ":memory:", read_only=self._database is not None, config=config
            )
        except self._duckdb.Error as error:
            place = Where(file=self._of[0])
            raise DataError(FileUnreadable(first_line(error), where=place)) from error
        with connection:
            try:
                connection.execute("set TimeZone = 'UTC'")  # where days begin
                if self._data is not None:
                    connection.register("data", self._data)
                connection.execute("set lock_configuration = true")
                return interruptible(connection, lambda: consume(self._rows_of(connection, limit)))
            except (self._duckdb.Error, pa.ArrowException, OSError) as error:
                raise DataError(self.explain(error)) from error

    def _rows_of(self, connection: Any, limit: int | None) -> Any:
        kinds = [one.type.name for one in connection.extract_statements(self.path)]
        if kinds != ["SELECT"]:
            raise DataError(QueryFailed(self.path, NO_ROWS, where=self.at))
        relation = connection.sql(self.path)
        check_names(list(relation.columns), self.where)
        if limit is not None:
            relation = relation.limit(limit)
        return relation.to_arrow_reader(BATCH)

    def _store(self, reader: Any) -> _Kept:
        kept = _Kept(self._schema)
        for batch in reader:
            batch.validate(full=True)  # DuckDB passes text on as it was in a file
            kept.add(batch)
        return kept

    def explain(self, error: Exception) -> Finding:
        return QueryFailed(self.path, first_line(error).rstrip("!"), where=self.at)


class _Kept:
    """Record batches in a temporary file without a name: what a query gave, for as often as it is
    read."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._spool = Spool()
        self._places: list[Any] = []
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        self._places += self._spool.write([np.frombuffer(sink.getvalue(), np.uint8)])
        self.rows += batch.num_rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        fields = [self.schema.get_field_index(name) for name in columns]
        options = ipc.IpcReadOptions(included_fields=sorted(fields))
        for place in self._places:
            stored = pa.py_buffer(self._spool.read(place))
            for batch in ipc.open_stream(stored, options=options):
                yield batch.select(list(columns))


class Scratch:
    """Record batches in a temporary file, as a dataset that can be read again and again."""

    def __init__(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> None:
        import pyarrow.dataset as ds

        self._file = TemporaryFile()
        with self._file.create() as file, ipc.new_file(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        self.dataset = ds.dataset(self._file.path, schema, format="ipc")


class SqlitePart(Part):
    """The rows of a query over an SQLite file, which is opened for reading only. It runs once.

    SQLite has a type for each value, not for each column: one is of integers, of floats, of text or
    of bytes if all of its values are; integers among floats are floats.
    """

    def __init__(self, file: File, query: str) -> None:
        super().__init__(file.path, file.where)
        self._query = query
        try:
            with self.guard():  # names need not be UTF-8
                self._kept = self._run()
        except sqlite3.Error as error:
            raise DataError(QueryFailed(query, first_line(error), where=self.at)) from error
        self._schema = self._kept.schema

    def _run(self) -> _Kept:
        uri = Path(self.path).resolve().as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            connection.set_authorizer(_authorize)
            return interruptible(connection, lambda: self._rows_of(connection))

    def _rows_of(self, connection: sqlite3.Connection) -> _Kept:
        cursor = connection.execute(self._query)
        if cursor.description is None:
            raise DataError(QueryFailed(self._query, NO_ROWS, where=self.at))
        names = [column[0] for column in cursor.description]
        check_names(names, self.where)
        types = [pa.null()] * len(names)
        kept = _Kept(pa.schema(list(zip(names, types, strict=True))))
        while rows := cursor.fetchmany(BATCH):
            arrays = [
                self._array(values, name, kept.rows)
                for name, values in zip(names, zip(*rows, strict=True), strict=True)
            ]
            for k, array in enumerate(arrays):
                joined = common_type(types[k], array.type)
                if joined is None:
                    kinds = kind_of(types[k]), kind_of(array.type)
                    raise self._types_differ(names[k], kinds, kept.rows)
                types[k] = joined
            kept.add(pa.RecordBatch.from_arrays(arrays, names))
        kept.schema = pa.schema(list(zip(names, types, strict=True)))
        return kept

    def _array(self, values: Sequence[Any], name: str, start: int) -> pa.Array:
        try:
            return pa.array(values)
        except (pa.ArrowException, OverflowError):
            kinds = [None if v is None else _KINDS[type(v)] for v in values]
            first = next(kind for kind in kinds if kind is not None)
            other = next((k for k, kind in enumerate(kinds) if kind not in (None, first)), None)
            if other is not None:
                raise self._types_differ(name, (first, str(kinds[other])), start + other) from None
            k = next(k for k, v in enumerate(values) if v is not None and abs(v) > EXACT)
            raise inexact(values[k], name, row_of(self.where)(start + k)) from None

    def _types_differ(self, name: str, kinds: tuple[str, str], row: int) -> DataError:
        place = Where(row=row, column=name, file=self.where)
        return DataError(TypesDiffer(name, kinds, where=place))

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    @property
    def rows(self) -> int | None:
        return self._kept.rows

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in self._kept.batches(columns):
            with self.guard():
                yield batch.cast(schema)


# Reading only: no other file is attached, nothing is written, no code is loaded.
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}


def _authorize(action: int, _: str | None, function: str | None, *__: object) -> int:
    if action == sqlite3.SQLITE_FUNCTION and function != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def interruptible(connection: Any, query: Callable[[], _T]) -> _T:
    """What a query gives. It runs in a thread, so that signals are heard meanwhile: what their
    handler raises ends it."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(query)
        try:
            return running.result()
        except BaseException:
            connection.interrupt()
            raise


_KINDS = {int: "numbers", float: "numbers", str: "text", bytes: "bytes"}


def _import_duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(LibraryMissing("a query", "DuckDB", "sql")) from None
    return duckdb


def _duckdb(file: File, query: str) -> Part:
    return DuckPart(query, database=file.path, of=[file.where])


SQLITE = Format(
    "sqlite", (), lambda start: start.startswith(b"SQLite format 3\0"), query=SqlitePart
)
DUCKDB = Format("duckdb", (), lambda start: start[8:12] == b"DUCK", query=_duckdb)
