"""CSV and TSV. Columns are parsed as text, and have the first type that all of their values fit."""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.findings import Finding, Where
from cutscore.core.findings.tables import (
    ColumnsUnnamed,
    LineInvalid,
    RowRagged,
    SeparatorFound,
)
from cutscore.tables import parts
from cutscore.tables.literals import EXACT, MISSING, WHOLE
from cutscore.tables.parts import (
    BATCH,
    File,
    Format,
    Part,
    Style,
    Writer,
    bounded,
    changed_file,
    check_names,
    decoded,
    empty_file,
    is_text,
)

# The types of a column, in the order in which they are tried; what fits none of them is text.
_LADDER = (
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "UTC"),
    pa.float64(),
)
_SEPARATORS = ",;\t|"
# Values of a block that a type is tried on first.
_FEW = 64
# Files of at most so many bytes may have their cells in memory.
_HELD = 1 << 28


class CsvPart(Part):
    """A CSV or TSV file, possibly compressed.

    The values of ``MISSING`` are missing without quotes; nothing at all, and what ``missing``
    names, in quotes too. Numbers that would lose digits are text: see :func:`_keeps_digits`.
    """

    def __init__(self, file: File, style: Style) -> None:
        super().__init__(file.path, file.where)
        self._file, self._style = file, style
        self.is_small = file.is_small
        self._types: dict[str, pa.DataType] = {}
        self._held: dict[str, list[pa.Array]] = {}
        with self.guard(), _text(file) as text:
            lines = bounded(text, self.where)
            self._blank, first = next(
                ((k, line) for k, line in enumerate(lines) if line.strip()), (0, "")
            )
            self._separator = style.separator or self._find_separator(first)
            try:
                row = next(csv.reader(chain([first], lines), delimiter=self._separator))
            except csv.Error as error:
                raise DataError(super().explain(error)) from error
        if not row:
            raise empty_file(self.where)
        self._names = (
            self._name_columns(row) if style.header else [f"c{k + 1}" for k in range(len(row))]
        )

    def _find_separator(self, line: str) -> str:
        outside = "".join(line.split('"')[::2])
        best = max(_SEPARATORS, key=outside.count)  # the comma, of several
        if self._style.decimal == "," and best == ",":
            best = ";"
        if best != "," and best in outside:
            self.notes.append(SeparatorFound(best, where=self.at))
        return best

    def _name_columns(self, row: Sequence[str]) -> list[str]:
        names = [name if name.strip() else f"column {k}" for k, name in enumerate(row, 1)]
        new = [name for name, raw in zip(names, row, strict=True) if not raw.strip()]
        if new:
            self.notes.append(ColumnsUnnamed(tuple(new), where=self.at))
        check_names(names, self.where)
        return names

    @property
    def names(self) -> list[str]:
        return list(self._names)

    def can_be_text(self, name: str) -> bool:  # noqa: ARG002
        return True

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        new = [name for name in columns if name not in self._types]
        if new:
            fits = {name: _Fit(self._style.decimal) for name in new}
            with ThreadPoolExecutor(threads()) as pool:
                for batch in self._blocks(new):
                    deque(pool.map(_Fit.add, fits.values(), batch.columns), maxlen=0)
            for name, fit in fits.items():
                self._settle(name, fit.type, coded=fit.coded)
        return pa.schema([pa.field(name, self._types[name]) for name in columns])

    def _settle(self, name: str, t: pa.DataType, *, coded: bool) -> None:
        self._types[name] = t
        if coded:
            self.coded.add(name)

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with ThreadPoolExecutor(threads()) as pool:
            for block in self._blocks(columns):
                arrays = list(pool.map(self._cast_text, block.columns, schema.types))
                batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
                for start in range(0, batch.num_rows, BATCH):
                    yield batch.slice(start, BATCH)

    def _cast_text(self, text: pa.Array, t: pa.DataType) -> Any:
        if is_text(t):
            return text
        if pa.types.is_null(t):
            return pa.nulls(len(text))
        with self.guard():
            out = _cast(_trim(text), t, self._style.decimal)
        if out is None:
            raise changed_file(self.where)
        return out

    def read(self, columns: Sequence[str]) -> pa.Table:
        with self.guard():
            table = pacsv.read_csv(self._file.stream(), **self._options(columns))
        texts = dict(zip(columns, table.columns, strict=True))
        del table
        with ThreadPoolExecutor(threads()) as pool:
            # Each text is let go as soon as its column is there.
            found = pool.map(self._read_column, columns, (texts.pop(name) for name in columns))
            return pa.table(list(found), names=list(columns))

    def _read_column(self, name: str, text: pa.Array) -> Any:
        text = self._drop_marks(text)
        if name in self._types:
            t = self._types[name]
            return text if is_text(t) else self._cast_chunks(text, t)
        column, coded = _fit_type(text, self._style.decimal)
        self._settle(name, column.type, coded=coded)
        return column

    def _cast_chunks(self, text: pa.Array, t: pa.DataType) -> Any:
        return pa.chunked_array([self._cast_text(chunk, t) for chunk in text.chunks], t)

    def number(self, text: pa.Array) -> Any:
        chunked = isinstance(text, pa.ChunkedArray)
        return self._cast_chunks(text, _FLOAT) if chunked else self._cast_text(text, _FLOAT)

    def first_not_number(self, text: pa.Array) -> int:
        if self._style.decimal == ",":
            text = pc.replace_substring(pc.replace_substring(text, ".", "x"), ",", ".")
        return super().first_not_number(text)

    def _options(self, columns: Sequence[str]) -> dict[str, Any]:
        return {
            "read_options": pacsv.ReadOptions(
                block_size=parts.BLOCK,
                column_names=self._names,
                skip_rows=self._blank,
                skip_rows_after_names=int(self._style.header),
            ),
            # No handler of invalid rows: a thread that reads ahead could be the last to let go of
            # it, and abort the process if Python has ended meanwhile.
            "parse_options": pacsv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
            "convert_options": pacsv.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=(*MISSING, *self._style.missing),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }

    def hold_text(self, columns: Sequence[str]) -> None:
        new = [name for name in columns if name in self._names and name not in self._held]
        if new and os.path.getsize(self.path) <= _HELD:
            blocks = list(self._parse(new))
            self._held |= {name: [block[name] for block in blocks] for name in new}

    def _blocks(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of these columns as text."""
        if not all(name in self._held for name in columns):
            return self._parse(columns)
        cells = zip(*(self._held[name] for name in columns), strict=True)
        return (pa.RecordBatch.from_arrays(list(some), names=list(columns)) for some in cells)

    def _parse(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        # Closed where they are left, by a consumer that has seen enough too.
        with self.guard(), self._file.stream() as file:
            reader = pacsv.open_csv(file, **self._options(columns))
            with reader:
                for batch in self.guarded(reader, checked=True):
                    yield pa.RecordBatch.from_arrays(
                        [self._drop_marks(column) for column in batch.columns], schema=batch.schema
                    )

    def _drop_marks(self, text: pa.Array) -> Any:
        """Without the marks of missing values that are in quotes: others pyarrow takes out."""
        marks = pa.array(["", *self._style.missing])
        gone = pc.equal(text, "") if len(marks) == 1 else pc.is_in(text, value_set=marks)
        return pc.if_else(gone, None, text) if pc.any(gone).as_py() else text

    def explain(self, error: Exception) -> Finding:
        # First, since pyarrow hands over no row whose text is not UTF-8. As text, all that can be
        # wrong with a value is that it is none.
        line = _first_not_utf8(self._file)
        if line is not None:
            return LineInvalid("utf-8", where=Where(file=self.where, line=line))
        if isinstance(error, pa.ArrowInvalid) and (row := self._first_ragged()) is not None:
            # pyarrow counts from 1, and the line of names.
            place = Where(row=row.number - 1 - self._style.header, file=self.where)
            return RowRagged(row.expected_columns, row.actual_columns, where=place)
        return super().explain(error)

    def _first_ragged(self) -> Any:
        """The first row with too many columns or too few; None if there is none. One thread reads
        all again: several don't count rows."""
        found: list[Any] = []

        def handle(row: pacsv.InvalidRow) -> str:
            found.append(row)
            return "error"

        options = self._options(self._names)
        options["read_options"].use_threads = False
        options["parse_options"].invalid_row_handler = handle
        with suppress(pa.ArrowException, OSError), self._file.stream() as stream:
            pacsv.read_csv(stream, **options)
        return next(iter(found), None)


def _text(file: File) -> IO[str]:
    return io.TextIOWrapper(io.BufferedReader(file.stream()), "utf-8-sig", newline="")


def _first_not_utf8(file: File) -> int | None:
    """The line of the first byte that is not UTF-8; None if there is none."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    try:
        with file.stream() as stream:
            for part in bounded(io.BufferedReader(stream), file.where):
                decoder.decode(part)
                line += 1
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return line
    except (pa.ArrowException, OSError, DataError):
        return None
    return None


# ------------------------------------------------------------------------------------------- types


def _fit_type(text: pa.ChunkedArray, decimal: str) -> tuple[Any, bool]:
    """A column in the first type that all of its values fit; and whether it is text only since its
    numbers would lose digits."""
    if text.null_count == len(text):
        return pa.chunked_array([pa.nulls(len(text))]), False
    trimmed = [_trim(chunk) for chunk in text.chunks]
    for t in _LADDER:
        column = _cast_all(trimmed, t, decimal)
        if column is None:
            continue
        if t not in _NUMBERS or all(map(_keeps_digits, trimmed, column)):
            return pa.chunked_array(column, t), False
        return text, _cast_all(trimmed, _FLOAT, decimal) is not None
    return text, False


class _Fit:
    """The first type that all values fit, of a column that comes in blocks."""

    def __init__(self, decimal: str) -> None:
        self._decimal, self._types = decimal, list(_LADDER)
        self._seen = False
        self._lossy: set[pa.DataType] = set()

    def add(self, text: pa.Array) -> None:
        """Look at some more values."""
        if text.null_count == len(text):
            return
        self._seen, trimmed = True, _trim(text)
        casts = {t: _cast(trimmed, t, self._decimal) for t in self._types}
        self._types = [t for t, column in casts.items() if column is not None]
        for t in _NUMBERS:
            if t in self._types and t not in self._lossy and not _keeps_digits(trimmed, casts[t]):
                self._lossy.add(t)

    @property
    def type(self) -> pa.DataType:
        """What the column is read as."""
        if not self._seen:
            return pa.null()
        first = next(iter(self._types), pa.string())
        return pa.string() if first in self._lossy else first

    @property
    def coded(self) -> bool:
        """Whether it is text only since its numbers would lose digits."""
        return self._types[:1] != [] and self._types[0] in self._lossy and _FLOAT in self._types


_FLOAT = pa.float64()
_NUMBERS = (pa.int64(), _FLOAT)


def _cast(text: pa.Array, t: pa.DataType, decimal: str) -> Any:
    """Text in a type; None if some value does not fit."""
    if t == _FLOAT and decimal == ",":
        if pc.any(pc.match_substring(text, ".")).as_py():
            return None
        text = pc.replace_substring(text, ",", ".")
    try:
        # Each value that does not fit takes as long as a hundred that do.
        text.slice(0, _FEW).cast(t)
        return text.cast(t)
    except pa.ArrowInvalid:
        return None


def _cast_all(chunks: Sequence[Any], t: pa.DataType, decimal: str) -> list[Any] | None:
    out = []
    for text in chunks:
        column = _cast(text, t, decimal)
        if column is None:
            return None
        out.append(column)
    return out


def _trim(text: pa.Array) -> pa.Array:
    """Without blanks around the values, if there are any."""
    at, data = _bytes(text)
    some = at[1:] > at[:-1]
    ends = np.concatenate((data[at[:-1][some]], data[at[1:][some] - 1]))
    return pc.utf8_trim_whitespace(text) if (ends <= ord(" ")).any() else text


def _keeps_digits(text: pa.Array, numbers: pa.Array) -> bool:
    """Whether numbers hold every digit that was written: 007 has zeros in front, and floats don't
    tell whole numbers beyond 2**53 apart. As numbers, codes that differ would become the same."""
    at, data = _bytes(text)
    start, end = at[:-1], at[1:]
    first = data[np.minimum(start, len(data) - 1)]
    signed = ((first == ord("+")) | (first == ord("-"))) & (end > start)
    start = (start + signed)[end - start - signed >= 2]
    after = data[start + 1]
    # 0x1F is a number to Arrow, too.
    if ((data[start] == ord("0")) & ((after - ord("0") < 10) | (after | 32 == ord("x")))).any():
        return False
    if not pa.types.is_floating(numbers.type):
        return True
    long = text.filter(pc.greater_equal(pc.abs(numbers), EXACT))
    whole = long.filter(pc.match_substring_regex(long, WHOLE))
    return all(abs(int(value)) <= EXACT for value in whole.drop_null().to_pylist())


def _bytes(text: pa.Array) -> tuple[Any, Any]:
    """Where the values of an array of text start and end, and their bytes."""
    _, offsets, data = text.buffers()
    at = np.frombuffer(offsets, np.int32)[text.offset : text.offset + len(text) + 1]
    found = np.frombuffer(b"\0" if data is None or not data.size else data, np.uint8)
    return at.astype(np.int64), found


# ----------------------------------------------------------------------------------------- writing


class CsvWriter:
    """Nothing stands for a missing value. Text is in quotes where it has to be: where it holds what
    may separate columns, a quote or the end of a line, or would be taken for a missing value.
    (pyarrow's own writer has all text in quotes, so that what is handed on would not be as it
    was.)"""

    def __init__(self, file: IO[bytes], schema: pa.Schema, separator: str) -> None:
        self.file, self.separator = file, separator
        self.write_cells([self.quoted(pa.array([name])) for name in schema.names])

    def __enter__(self) -> CsvWriter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some more rows."""
        if batch.num_rows:
            self.write_cells([self.cells(column) for column in batch.columns])

    def cells(self, column: pa.Array) -> Any:
        column = decoded(column)
        return self.quoted(column) if is_text(column.type) else column.cast(pa.string())

    def quoted(self, column: pa.Array) -> Any:
        text = column.cast(pa.string())
        odd = pc.is_in(text, value_set=_MISSING)
        at, data = _bytes(text)
        if _IS_SPECIAL[data[at[0] : at[-1]]].any():
            odd = pc.or_(odd, pc.match_substring_regex(text, f"[{_SPECIAL}]"))
        elif not odd.true_count:
            return text
        inside = pc.replace_substring(text, '"', '""')
        return pc.if_else(odd, pc.binary_join_element_wise('"', inside, '"', ""), text)

    def write_cells(self, cells: list[Any]) -> None:
        # A line of one empty cell would be none at all.
        alone = len(cells) == 1
        filled = [pc.fill_null(column, '""' if alone else "") for column in cells]
        line = pc.binary_join_element_wise(*filled, self.separator)
        # One after the other, with an end each, they are the text of the file.
        _, ends, text = pc.binary_join_element_wise(line, "", "\n").buffers()
        self.file.write(memoryview(text)[: memoryview(ends).cast("i")[len(line)]])


_MISSING = pa.array(MISSING)
_SPECIAL = ',;\t|"\r\n'
_IS_SPECIAL = np.isin(np.arange(256), np.frombuffer(_SPECIAL.encode(), np.uint8))


def _csv_writer(file: IO[bytes], schema: pa.Schema) -> Writer:
    return CsvWriter(file, schema, ",")


def _tsv(file: File, style: Style) -> Part:
    return CsvPart(file, replace(style, separator=style.separator or "\t"))


def _tsv_writer(file: IO[bytes], schema: pa.Schema) -> Writer:
    return CsvWriter(file, schema, "\t")


# Any text may be CSV; a tab between its columns is found as a semicolon is.
CSV = Format("csv", ("csv",), lambda _: True, CsvPart, _csv_writer, is_text=True, has_style=True)
TSV = Format(
    "tsv", ("tsv", "tab"), lambda _: False, _tsv, _tsv_writer, is_text=True, has_style=True
)
