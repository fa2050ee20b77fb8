"""A query as a table: over files or a DuckDB database by DuckDB, over an SQLite file by SQLite."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from cutscore._check import shown
from cutscore._names import in_sql, spelled
from cutscore._spool import Spool
from cutscore._written import EXACT, MISSING, NUMBER, THOUSANDS, WHOLE, parsed, unmarked
from cutscore.errors import DataError, missing_library
from cutscore.tables.parts import BATCH, Part, called, check_names, first_line

# How DuckDB reads the files that the query calls data.
_ARROW = "data_in_arrow"
_READERS = {"csv": "read_csv", "tsv": "read_csv", "parquet": "read_parquet", "jsonl": "read_json"}


class DuckPart(Part):
    """The rows of a query, by DuckDB. It runs once, when rows are first asked for: whoever reads
    them again reads what is kept, since a query need not give them in the same order twice.

    Files of CSV are read as ``as_csv`` says of each, as where there is no query; ``unnamed`` are
    columns of Parquet and Arrow files that are left out there.
    """

    def __init__(  # noqa: PLR0913 - what a query may run over
        self,
        query: str,
        files: Sequence[tuple[str, str]] = (),
        *,
        database: str | None = None,
        arrow: Any = None,
        as_csv: Sequence[AsCsv] = (),
        unnamed: Sequence[str] = (),
        of: Sequence[str] = (),
    ) -> None:
        self._called = f"the query {shown(query)}"
        super().__init__(query, called(of, self._called) if of else self._called)
        self._duckdb = _imported()
        self._database, self._arrow = database, arrow
        self._files, self._as_csv, self._of = files, as_csv, of
        self._view = ""
        if files:
            format = files[0][1]
            if any(f != format for _, f in files):
                raise DataError(
                    "a query over several files needs them in one format; these are "
                    f"{', '.join(sorted({f for _, f in files}))}. Name each in the query instead: "
                    "from 'a.csv', from 'b.parquet'."
                )
            if format in _READERS:
                paths = [path for path, _ in files]
                rows = f"{_all_but(unnamed)} from {_READERS[format]}({_listed(paths)})"
                rows = _rows(paths, as_csv) if as_csv else rows
                self._view = f"create temp view data as {rows}"
                if any(pa.types.is_timestamp(t) and t.tz for how in as_csv for t in how.types):
                    # As pyarrow has them: else days would begin when they do on this machine.
                    self._view = f"set TimeZone = 'UTC'; {self._view}"
            elif arrow is None:
                raise DataError(
                    "a query reads CSV, TSV, Parquet, JSON lines and Arrow files; "
                    f"{spelled(files[0][0])} is {format}. Convert it first."
                )
            elif unnamed:
                self._view = f"create temp view data as {_all_but(unnamed)} from {_ARROW}"
        with _Running(self, "probe") as result:
            self._schema = result.schema
        self._kept: _Kept | None = None
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    def with_texts(self, names: Collection[str]) -> Part:
        as_csv = [how.with_texts(names) for how in self._as_csv]
        if as_csv == list(self._as_csv):
            return self
        return DuckPart(self.path, self._files, as_csv=as_csv, of=self._of)

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        with self._lock:
            if self._kept is None:
                self._kept = self._run()
        return self._kept.batches(columns)

    @property
    def rows(self) -> int | None:
        return None if self._kept is None else self._kept.rows

    def _run(self) -> _Kept:
        kept = _Kept(self._schema)
        with _Running(self) as reader:
            while True:
                try:
                    kept.add(reader.read_next_batch())
                except StopIteration:
                    return kept
                except (pa.ArrowException, self._duckdb.Error, OSError) as error:
                    raise DataError(self.explain(error)) from error

    def explain(self, error: Exception) -> str:
        text = first_line(error).rstrip("!")
        hint = ""
        if self._has_data and re.search("Table with name .* does not exist", text):
            hint = " The table on the command line, or in paths, is called data."
        return f"{self._called} does not run: {text}.{hint}"

    @property
    def _has_data(self) -> bool:
        return bool(self._view) or self._arrow is not None


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
        with ipc.new_stream(sink, self.schema) as stream:
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


@dataclass(frozen=True)
class AsCsv:
    """How DuckDB is to read a file of CSV: in the ``types`` that it has without a query. ``commas``
    are columns of numbers with decimal commas, and with thousands if there are any; ``marks`` are
    what stands for a missing value in quotes too; ``inexact`` are columns of floats
    with whole numbers that are too long for one."""

    separator: str
    header: bool
    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    commas: frozenset[str]
    marks: tuple[str, ...] = ()
    skip: int = 0
    inexact: frozenset[str] = frozenset()

    def query(self, paths: Sequence[str]) -> str:
        """Reads files that are alike, as text that is converted then: DuckDB guesses nothing, for
        it takes 01/11/2024 for one date in a file and for another one in the next."""
        texts = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in self.names)
        options = [
            _listed(paths),
            "auto_detect=false",
            f"header={str(self.header).lower()}",
            f"delim={_quoted(self.separator)}",
            "quote='\"'",
            "escape='\"'",
            f"columns={{{texts}}}",
            f"skip={self.skip}",
            f"nullstr={_listed(MISSING)}",
            "allow_quoted_nulls=false",
        ]
        columns = (
            f"{self._checked(name, t)} as {in_sql(name)}"
            for name, t in zip(self.names, self.types, strict=True)
        )
        return f"select {', '.join(columns)} from read_csv({', '.join(options)})"

    def with_texts(self, names: Collection[str]) -> AsCsv:
        """The same with these columns as the text that stands there."""
        both = zip(self.names, self.types, strict=True)
        return replace(self, types=tuple(pa.string() if n in names else t for n, t in both))

    def _checked(self, name: str, t: pa.DataType) -> str:
        text = self._unmarked(name)
        value = _converted(text, t, comma=name in self.commas)
        if name not in self.inexact or not pa.types.is_floating(t):
            return value
        long = f"abs(try_cast({text} as hugeint)) > {EXACT}"
        what = _quoted(
            f"a number of {name} is too long for a float, where it may coincide with its "
            "neighbours. Rescale or round them."
        )
        whole = f"regexp_matches({text}, {_quoted(WHOLE)})"
        return f"case when {whole} and {long} then error({what}) else {value} end"

    def _unmarked(self, name: str) -> str:
        if not self.marks:
            return in_sql(name)
        marks = ", ".join(map(_quoted, self.marks))
        return f"(case when {in_sql(name)} not in ({marks}) then {in_sql(name)} end)"


_STAMPS = {"s": "timestamp_s", "ms": "timestamp_ms", "us": "timestamp", "ns": "timestamp_ns"}


def _converted(column: str, t: pa.DataType, *, comma: bool) -> str:
    """Text in SQL as what pyarrow reads from it."""
    if pa.types.is_boolean(t):
        return f"lower({column}) in ('true', '1')"
    as_type = None
    if comma:
        groups = _quoted(rf"[\s{THOUSANDS}]")
        column = f"replace(regexp_replace({column}, {groups}, '', 'g'), ',', '.')"
    if pa.types.is_integer(t):
        as_type = "bigint"
    elif pa.types.is_floating(t):
        as_type = "double"
    elif pa.types.is_date(t):
        as_type = "date"
    elif pa.types.is_time(t):
        as_type = "time"
    elif pa.types.is_timestamp(t):
        # DuckDB wants minutes where there are hours.
        column = rf"regexp_replace({column}, '([ T]\d\d)(Z|[+-].*)?$', '\1:00\2')"
        as_type = "timestamptz" if t.tz else _STAMPS[t.unit]
    return f"cast({column} as {as_type})" if as_type else column


def _rows(paths: Sequence[str], as_csv: Sequence[AsCsv]) -> str:
    if len(set(as_csv)) == 1:
        return as_csv[0].query(paths)
    each = (how.query([path]) for path, how in zip(paths, as_csv, strict=True))
    return " union all by name ".join(f"({query})" for query in each)


def _all_but(names: Sequence[str]) -> str:
    return f"select * exclude ({', '.join(map(in_sql, names))})" if names else "select *"


class _Running:
    """A query that runs, and the connection that is closed when nobody needs its rows any more."""

    def __init__(self, part: DuckPart, rows: str = "all") -> None:
        self.part, self.rows = part, rows

    def __enter__(self) -> Any:
        part = self.part
        # Nothing is fetched from the network unasked.
        config = {"autoinstall_known_extensions": "false"}
        try:
            self.connection = part._duckdb.connect(
                part._database or ":memory:", read_only=part._database is not None, config=config
            )
        except part._duckdb.Error as error:
            raise DataError(
                f"{spelled(part._database)} can't be opened by DuckDB: {first_line(error)}."
            ) from error
        try:
            if part._arrow is not None:
                self.connection.register(_ARROW if part._view else "data", part._arrow)
            if part._view:
                self.connection.execute(part._view)
            relation = self.connection.sql(part.path)
            if relation is None:
                raise DataError(f"a query must return rows; {part._called} returns none.")
            check_names(list(relation.columns), part.where)
            if self.rows == "probe":  # names and types without running it
                relation = relation.limit(0)
            return relation.to_arrow_reader(BATCH)
        except (part._duckdb.Error, pa.ArrowException) as error:
            self.connection.close()
            raise DataError(part.explain(error)) from error
        except BaseException:
            self.connection.close()
            raise

    def __exit__(self, *_: Any) -> None:
        self.connection.close()


class SqlitePart(Part):
    """The rows of a query over an SQLite file, which is opened for reading only. It runs once."""

    def __init__(self, path: str, query: str, shown_as: str | None = None) -> None:
        super().__init__(path, shown_as)
        self._query = query
        self._numbers: dict[str, bool] = {}
        try:
            self._kept = self._run()
        except sqlite3.Error as error:
            raise DataError(
                f"the query {shown(self._query)} does not run on {self.where}: {first_line(error)}."
            ) from error
        self._schema = self._kept.schema

    def _run(self) -> _Kept:
        """All rows, in types that every one fits. SQLite has a type for each value, not for each
        column, so that these are known only after the last row: until then the values stay as they
        are in a temporary table, whose columns have no type either."""
        found: list[_Stored] = []
        names: list[str] = []
        row = 0
        with closing(sqlite3.connect("")) as aside:
            for names, rows in self._chunks():
                if not row:
                    check_names(names, self.where)
                    found = [_Stored() for _ in names]
                    columns = ", ".join(f"c{k}" for k in range(len(names)))
                    aside.execute(f"create table kept ({columns})")
                for stored, values in zip(found, zip(*rows, strict=True), strict=False):
                    stored.add(values, row)
                aside.executemany(f"insert into kept values ({', '.join('?' * len(names))})", rows)
                row += len(rows)
            both = zip(names, found, strict=True)
            kept = _Kept(pa.schema([(name, self._type(name, stored)) for name, stored in both]))
            cursor = aside.execute("select * from kept order by rowid")
            while rows := cursor.fetchmany(BATCH):
                by_column = zip(*rows, strict=True)
                arrays = [
                    self._array(v, f.type) for v, f in zip(by_column, kept.schema, strict=True)
                ]
                kept.add(pa.RecordBatch.from_arrays(arrays, schema=kept.schema))
        return kept

    def _type(self, name: str, stored: _Stored) -> pa.DataType:
        first = dict(stored.first)
        if len(first) > 1 and not stored.text:
            first.pop("text")  # nothing but words for what is missing, as .import keeps them
        if len(first) > 1:
            (one, (i, a)), (other, (k, b)) = sorted(first.items(), key=lambda item: item[1][0])[:2]
            raise DataError(
                f"a column must have one type; {shown(name)} of {self.where} has {one}, "
                f"{shown(a)} in row {i + 1:,}, and {other}, {shown(b)} in row {k + 1:,}. Cast it "
                "in the query."
            )
        (kind,) = first or [None]
        if kind == "numbers":
            if stored.floats and stored.long is not None:
                self.inexact[name] = stored.long
            return pa.float64() if stored.floats else pa.int64()
        return {"text": pa.string(), "bytes": pa.binary(), None: pa.null()}[kind]

    def with_numbers(self, names: Collection[str]) -> set[str]:
        """Columns of text that are nothing but numbers, and words for what is missing."""
        new = [name for name in names if name not in self._numbers]
        if new:
            self._numbers |= dict.fromkeys(new, True)
            for batch in self.batches(new, self.schema(new)):
                for name, column in zip(new, batch.columns, strict=True):
                    fits = pc.match_substring_regex(unmarked(column), NUMBER)
                    self._numbers[name] &= bool(pc.all(fits, min_count=0).as_py())
        return {name for name in names if self._numbers[name]}

    def number(  # as that of CSV has it
        self,
        column: Any,
        t: pa.DataType,  # noqa: ARG002
        name: str,
        row_at: Callable[[int], str],
        *,
        exact: bool = False,
    ) -> Any:
        """Text that is known to be numbers, as numbers."""
        return parsed(column, name, row_at, exact=exact)

    def _array(self, values: Any, type: pa.DataType) -> Any:
        try:
            return pa.array(values, type)
        except (pa.ArrowException, TypeError):
            # Among numbers words for what is missing, among floats whole numbers that are too long.
            number = float if pa.types.is_floating(type) else int
            with self.guard():
                return pa.array([None if v is None or v in _MARKS else number(v) for v in values])

    def _chunks(self) -> Iterator[tuple[list[str], list[Any]]]:
        uri = Path(self.path).resolve().as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            cursor = connection.execute(self._query)
            if cursor.description is None:
                raise DataError(f"a query must return rows; {shown(self._query)} returns none.")
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchmany(BATCH)
            yield names, rows
            while rows := cursor.fetchmany(BATCH):
                yield names, rows

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    @property
    def rows(self) -> int | None:
        return self._kept.rows

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        return self._kept.batches(columns)


class _Stored:
    """What the values of a column of SQLite are: for each kind, the first of them with its row."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[int, Any]] = {}
        self.text = self.floats = False
        """Whether there is text that is not missing, and whether some numbers have a fraction."""
        self.long: tuple[int, int] | None = None
        """The first whole number that is too long for a float, and its row."""

    def add(self, values: Sequence[Any], row: int) -> None:
        kinds = set(map(type, values))
        self.floats = self.floats or float in kinds
        if self.long is None and int in kinds:
            long = (k for k, v in enumerate(values) if type(v) is int and abs(v) > EXACT)
            k = next(long, None)
            self.long = None if k is None else (row + k, values[k])
        for kind, types in _KINDS.items():
            # Words for what is missing make way for the first text that is none.
            if not kinds.intersection(types) or (
                kind in self.first and (kind != "text" or self.text)
            ):
                continue
            some = ((k, v) for k, v in enumerate(values) if isinstance(v, types))
            k, v = next(some)
            if kind == "text":
                k, v = next(((k, v) for k, v in enumerate(values) if _is_word(v)), (k, v))
                self.text = _is_word(v)
            if kind not in self.first or self.text:
                self.first[kind] = row + k, v


_KINDS: dict[str, tuple[type, ...]] = {"numbers": (int, float), "text": (str,), "bytes": (bytes,)}


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value not in _MARKS


_MARKS = frozenset(MISSING)


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _imported() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(missing_library("a query", "DuckDB", "sql") + ".") from None
    return duckdb
