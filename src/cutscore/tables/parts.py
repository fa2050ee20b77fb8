"""What each format offers: one part of a table, and the rules that all of them share."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.files import Nameless
from cutscore.core.findings import Finding, Fix, Where
from cutscore.core.findings.cluster import RowsChanged
from cutscore.core.findings.rows import Inexact, NoRows, ValueMissing
from cutscore.core.findings.tables import FileUnreadable, LineInvalid, NamesRepeat
from cutscore.core.names import quote_sql
from cutscore.core.types import Array
from cutscore.tables.literals import NUMBER, floats

# Rows that are handed on at a time.
BATCH = 1 << 16
# Bytes of text that are parsed at a time. A table that is smaller is kept in memory, and no line is
# longer.
BLOCK = 1 << 23
# What libraries raise about a file that is not as they expect it.
FOREIGN = (pa.ArrowException, OSError, ValueError, EOFError, LookupError, RecursionError)

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class File:
    """A file of a table, with its first bytes."""

    path: str
    where: str
    """What it is called in messages."""
    start: bytes
    """Its first bytes, decompressed."""
    packed: str | None
    """How it is compressed."""

    @classmethod
    def at(cls, path: str, where: str) -> File:
        """The file at a path. It is looked into, but not read."""
        try:
            with open(path, "rb") as file:
                start = file.read(4096)
            packed = next((how for magic, how in _MAGIC.items() if start.startswith(magic)), None)
            if packed:
                with pa.input_stream(path, compression=packed) as stream:
                    start = stream.read(4096)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else first_line(error)
            raise DataError(FileUnreadable(reason, where=Where(file=where))) from error
        if not start:
            raise empty_file(where)
        return cls(path, where, start, packed)

    def stream(self) -> Any:
        """Its bytes, decompressed."""
        return pa.input_stream(self.path, compression=self.packed)

    @property
    def is_small(self) -> bool:
        """Whether all of it can be kept in memory without a thought."""
        return self.packed is None and os.path.getsize(self.path) < BLOCK


class TemporaryFile(Nameless):
    """A temporary file with a path, by which this process alone can open it. It has no name in any
    folder: however the process ends, nothing is left."""

    @property
    def path(self) -> str:
        """Where it is, for as long as this lives."""
        return f"/proc/self/fd/{self.fileno()}"

    def create(self) -> IO[bytes]:
        """The file, to be written to."""
        if self.refused is not None:
            raise self.refused
        return open(os.dup(self.fileno()), "wb")


@dataclass(frozen=True)
class Style:
    """How CSV is written; see :func:`cutscore.tables.open_table`."""

    header: bool = True
    separator: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = ()


class Writer(Protocol):
    """What record batches are written to, within a ``with``."""

    def __enter__(self) -> Writer: ...

    def __exit__(self, *error: object) -> object: ...

    def write_batch(self, batch: pa.RecordBatch) -> object:
        """Write some more rows."""
        ...


@dataclass(frozen=True)
class Format:
    """How files of one format are recognised, read and written."""

    name: str
    extensions: tuple[str, ...]
    """Without the dot; also other names of the format."""
    fits: Callable[[bytes], bool]
    """Whether a file may be one, by its first bytes."""
    read: Callable[[File, Style], Part] | None = None
    write: Callable[[IO[bytes], pa.Schema], Writer] | None = None
    query: Callable[[File, str], Part] | None = None
    """Of databases, the rows of a query."""
    is_text: bool = False
    has_style: bool = False
    """Whether ``style`` says how to read it."""


@dataclass(frozen=True)
class Piece:
    """Some rows of a table that can be read for themselves: see
    :meth:`cutscore.tables.Table.pieces`."""

    read: Callable[[], Iterator[tuple[str, pa.RecordBatch]]]
    """Batches of them, each with the place that its rows are counted from: a file, or a row group
    of it."""
    rows: int | None = None
    """How many there are, where the file knows."""


class Part(ABC):
    """One file, or one query: names, types and batches of rows.

    What the libraries below raise becomes a DataError that names the file: see ``guard``.
    """

    dataset: str | None = None
    """The format by which pyarrow.dataset reads it, filters included."""
    is_small = False
    """Whether all of it can be kept in memory without a thought."""

    def __init__(self, path: str, shown_as: str | None = None) -> None:
        self.path = path
        self.where = shown_as or path
        self.notes: list[Finding] = []
        self.coded: set[str] = set()
        """Columns of text that are numbers, but would lose digits; known after :meth:`schema`."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns, in their order."""

    @abstractmethod
    def schema(self, columns: Sequence[str]) -> pa.Schema:
        """Types of these columns, such that every row fits."""

    def can_be_text(self, name: str) -> bool:  # noqa: ARG002
        """Whether a column can be read as the text that it is written as, whatever its type."""
        return False

    def with_texts(self, names: Collection[str]) -> Part:  # noqa: ARG002
        """The same with these columns as text where a query reads files."""
        return self

    def hold_text(self, columns: Sequence[str]) -> None:  # noqa: B027 - most have none
        """Keep the text of these columns in memory, if rows are text and the file is not large."""

    @abstractmethod
    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """All rows of these columns in these types: those of :meth:`schema`, or text."""

    def read(self, columns: Sequence[str]) -> pa.Table:
        """All rows of these columns at once."""
        schema = self.schema(columns)
        return pa.Table.from_batches(self.batches(columns, schema), schema)

    def number(self, text: pa.Array) -> Any:
        """A column that is :attr:`coded` as float64."""
        return text.cast(pa.float64())

    def first_not_number(self, text: pa.Array) -> int:
        """The first row of text that is no number, as they are written there; 0 if all are."""
        return max(int(pc.index(pc.match_substring_regex(text, NUMBER), False).as_py()), 0)

    def pieces(self, columns: Sequence[str], schema: pa.Schema) -> list[Piece]:
        """All rows of these columns, in their order, in pieces for several threads."""

        def read() -> Iterator[tuple[str, pa.RecordBatch]]:
            for batch in self.batches(columns, schema):
                yield self.where, batch

        return [Piece(read)]

    @property
    def rows(self) -> int | None:
        """How many rows there are, if that is known without reading them."""
        return None

    def has(self, name: str) -> bool:
        """Whether it can give a column of that name."""
        return name in self.names

    @property
    def at(self) -> Where:
        """The place of what is wrong with all of it."""
        return Where(file=self.where)

    def explain(self, error: Exception) -> Finding:
        """What a library's error becomes."""
        if isinstance(error, UnicodeError):
            return LineInvalid("utf-8", where=self.at)
        return FileUnreadable(first_line(error), where=self.at)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Errors of the libraries below become one DataError; full memory is a MemoryError."""
        try:
            yield
        except (CutscoreError, MemoryError):
            raise
        except FOREIGN as error:
            number = getattr(error, "errno", None)
            if number == errno.ENOMEM:
                raise MemoryError from error
            # pyarrow's own have no number, or a message of many lines.
            if number is None or error.strerror is None or isinstance(error, pa.ArrowException):  # type: ignore[union-attr]
                raise DataError(self.explain(error)) from error
            raise DataError(FileUnreadable(os.strerror(number), where=self.at)) from error

    def guarded(self, batches: Iterable[Any], *, checked: bool = False) -> Iterator[Any]:
        """The same, around each step of an iterator. ``checked`` are those that the library has
        validated itself; of all others every offset, index and text is looked at once, here."""
        with self.guard():
            rest = iter(batches)
        while True:
            with self.guard():
                batch = next(rest, None)
                if batch is not None and not checked:
                    batch.validate(full=True)
            if batch is None:
                return
            yield batch


class HeldPart(Part):
    """A part whose rows stay in memory once they are asked for: its files are read once."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.path, part.where)
        self._part, self.notes = part, part.notes

    @cached_property
    def _table(self) -> pa.Table:
        table = self._part.read(self._part.names)
        self.coded = self._part.coded
        return table

    @property
    def names(self) -> list[str]:
        return self._part.names

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        whole = self._table.schema
        return pa.schema([whole.field(name) for name in columns])

    def can_be_text(self, name: str) -> bool:
        return self._part.can_be_text(name)

    def with_texts(self, names: Collection[str]) -> Part:
        part = self._part.with_texts(names)
        return self if part is self._part else part

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        if not schema.equals(self.schema(columns)):
            return self._part.batches(columns, schema)
        return iter(self._table.select(list(columns)).to_batches(BATCH))

    def read(self, columns: Sequence[str]) -> pa.Table:
        return self._table.select(list(columns))

    def number(self, text: pa.Array) -> Any:
        return self._part.number(text)

    def first_not_number(self, text: pa.Array) -> int:
        return self._part.first_not_number(text)

    @property
    def rows(self) -> int | None:
        return self._part.rows

    def explain(self, error: Exception) -> Finding:
        return self._part.explain(error)


def first_line(error: Exception) -> str:
    """What a library says, as one short line without its full stop."""
    text = (str(error) or type(error).__name__).strip().splitlines()[0]
    text = "".join(c if c.isprintable() else "?" for c in text)
    return (text if len(text) <= 200 else text[:199] + "…").rstrip(".")


def called(files: Sequence[str], by: str | None = None) -> str:
    """What a table in several files is called, or one that is made of files by something.

    Examples
    --------
    >>> from cutscore.tables.parts import called
    >>> called(["a.csv", "b.csv", "c.csv"], by="a query")
    'a.csv (and 2 more files, by a query)'
    """
    more = len(files) - 1
    extra = [f"and {more} more file{'s' if more > 1 else ''}"] if more else []
    if by is not None:
        extra.append(f"by {by}")
    # In brackets, so that what is said of it stays of one: "a.csv (and 1 more file) has rows".
    return f"{files[0]} ({', '.join(extra)})" if extra else files[0]


@dataclass(frozen=True)
class Place(Where):
    """A row of a file; in a sentence "row 5 of a.csv"."""

    def __str__(self) -> str:
        return f"row {(self.row or 0) + 1:,} of {self.file}"


def row_of(where: str, start: int = 0) -> Callable[[int], Place]:
    """Names a row by its number, counted from 0 after the first ``start`` of a place.

    Examples
    --------
    >>> from cutscore.tables.parts import row_of
    >>> print(row_of("day.csv", start=1000)(4))
    row 1,005 of day.csv
    """
    return lambda row: Place(row=start + row, file=where)


def cell(place: Place, column: str) -> Where:
    """The place of a value: a row, and a column."""
    return Where(place.row, place.parameter, column, place.file)


def decoded(column: pa.Array) -> Any:
    """The values of an array, or of a chunked one, whether they stand in a dictionary or not."""
    t = value_type(column.type)
    return column if t.equals(column.type) else column.cast(t)


def plain(column: pa.Array) -> Any:
    """The same, with decimals as float64, which NumPy has, or as int64 if they have no fraction.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from cutscore.tables.parts import plain
    >>> plain(pa.array([Decimal("0.5"), Decimal("0.2"), Decimal("0.5")]).dictionary_encode())
    <pyarrow.lib.DoubleArray object at ...>
    [
      0.5,
      0.2,
      0.5
    ]
    """
    column = decoded(column)
    if not pa.types.is_decimal(column.type):
        return column
    if column.type.scale <= 0:  # such as DuckDB's sums of whole numbers
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.int64())
    return floats(column)


def whole(column: pa.Array) -> Any:
    """Decimals without a fraction as integers, or as text if those are too short: they may be names
    of groups, and floats would make several one. Anything else as it is."""
    if not pa.types.is_decimal(column.type) or column.type.scale > 0:
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.string())


def inexact(value: object, name: str, place: Place) -> DataError:
    """The error for a number that is compared, and that floats can't tell from others."""
    return DataError(Inexact("number", value, where=cell(place, name)))


def filled(column: pa.Array, name: str, row_at: Callable[[int], Any]) -> Any:
    """A column that has a value in every row; the error of one that lacks some says which row, by
    ``row_at(row)``. (Of a dictionary that holds a null itself the values, in which it counts.)"""
    if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        query = f"select * from data where {quote_sql(name)} is not null"
        raise DataError(
            ValueMissing(name, where=cell(row_at(row), name), fixes=(Fix("sql", query),))
        )
    return column


def empty_file(where: str) -> DataError:
    """The error for a file that has nothing in it."""
    hint = "A table has a header line, then rows."
    return DataError(NoRows(where, hint, where=Where(file=where)))


def long_line(where: str) -> DataError:
    """The error for a line that is too long for one of text, and may never end."""
    reason = f"a line is longer than {BLOCK >> 20} MiB"
    return DataError(FileUnreadable(reason, where=Where(file=where)))


def bounded(lines: IO[Any], where: str) -> Iterator[Any]:
    """The lines of a file, none of which is longer than ``BLOCK``."""
    while line := lines.readline(BLOCK):
        if len(line) == BLOCK:
            raise long_line(where)
        yield line


def changed_file(where: str) -> DataError:
    """The error for a file that has other rows than when it was read before."""
    hint = "Try again when it is complete."
    return DataError(RowsChanged(where, hint=hint, where=Where(file=where)))


def damaged_file(where: str, reason: str, part: str | None = None) -> FileUnreadable:
    """The finding for a file that is not whole, or has a damaged part."""
    hint = "Copy it or write it again."
    return FileUnreadable(f"it is damaged ({reason})", hint, where=Where(file=where, part=part))


def check_names_in_floats(values: Array, column: str, row_at: Callable[[int], Any]) -> None:
    """Raise if floats that name something, a label or a group, may each stand for several."""
    big = np.isfinite(values) & (np.abs(values) >= 2**53)
    if big.any():
        row = int(big.argmax())
        place = cell(row_at(row), column)
        hint = "Store such names as integers or as text."
        raise DataError(Inexact("label or group", float(values[row]), hint, where=place))


def check_names(names: Sequence[str], where: str) -> None:
    """Raise if two columns have one name."""
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if name in seen:
            places = (seen[name], k)
            raise DataError(NamesRepeat(name, name, places, where=Where(file=where)))
        seen[name] = k


def common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """A type that holds the values of both without a change of meaning; None if there is none."""
    if a.equals(b):
        return a
    a, b = _plain(a), _plain(b)
    if a.equals(b) or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if _is_number(a) and _is_number(b):
        both = pa.types.is_integer(a) and pa.types.is_integer(b)
        return pa.int64() if both else pa.float64()
    return _common_date(a, b)


def _common_date(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    stamps = [t for t in (a, b) if pa.types.is_timestamp(t)]
    dates = [t for t in (a, b) if pa.types.is_date(t)]
    if len(stamps) + len(dates) < 2 or (len(stamps) == 2 and a.tz != b.tz):
        return None
    if not stamps:
        return pa.date32()
    return stamps[0] if dates else pa.timestamp("us", a.tz)


def _plain(t: pa.DataType) -> pa.DataType:
    t = value_type(t)
    return pa.string() if is_text(t) else t


def value_type(t: pa.DataType) -> pa.DataType:
    """The type of the values, whether they stand in a dictionary or not."""
    return t.value_type if pa.types.is_dictionary(t) else t


def is_text(t: pa.DataType) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t))


def _is_number(t: pa.DataType) -> bool:
    return bool(pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t))


def kind_of(t: pa.DataType) -> str:
    """A type in a word that everybody knows."""
    t = _plain(t)
    if _is_number(t):
        return "numbers"
    if is_text(t):
        return "text"
    if pa.types.is_boolean(t):
        return "booleans"
    if pa.types.is_date(t) or pa.types.is_timestamp(t):
        return "dates"
    return "empty" if pa.types.is_null(t) else str(t)
