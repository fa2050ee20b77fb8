"""Tables into files: written aside and renamed, so that a failure costs nothing that was there."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import ipc

from cutscore._check import shown
from cutscore._files import written_aside
from cutscore._names import spelled
from cutscore._written import MISSING
from cutscore.errors import DataError
from cutscore.tables.formats import EXTENSIONS, WRITTEN, format_named
from cutscore.tables.parts import decoded, is_text


def write_table(path: str | os.PathLike[str], columns: Any, *, format: str | None = None) -> int:
    """Write columns to a file, and say how many rows there were.

    The file is written aside and renamed at the end: if anything fails, what was there before is
    still there.

    Parameters
    ----------
    path
        Where to; ``"-"`` is the standard output.
    columns
        A mapping from names to columns, a table of pyarrow, or an iterable of its record batches,
        which are written as they come.
    format
        "csv", "tsv", "parquet", "arrow" (or "feather") or "jsonl". If it is not given the extension
        tells; the standard output gets CSV.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from cutscore.tables import open_table, write_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "out.parquet"
    >>> write_table(file, {"id": [1, 2], "score": [0.5, -1.0]})
    2
    >>> open_table(file).read(["score"]).to_pydict()
    {'score': [0.5, -1.0]}
    """
    text = os.fspath(path)
    kind = _kind(text, format)
    batches = _batches(columns)
    first = next(batches, None)
    if first is None:
        raise DataError("a table to write must have columns; there are none.")
    with _output(text) as file:
        return _write(file, kind, first, batches)


def is_text_format(path: str) -> bool:
    """Whether a table is written to this path as CSV, or as what is like it."""
    return _kind(path, None) in ("csv", "tsv")


def _kind(path: str, format: str | None) -> str:
    if format is not None:
        return format_named(format, WRITTEN)
    if path == "-":
        return "csv"
    found = EXTENSIONS.get(Path(path).suffix.lower())
    if found not in WRITTEN:
        raise DataError(
            f"the extension must tell how to write {spelled(path)}: .csv, .tsv, .parquet, .arrow, "
            ".feather or .jsonl. Choose one, or say format=..."
        )
    return found


def _batches(columns: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(columns, pa.RecordBatch):
        return iter([columns])
    if isinstance(columns, Mapping):
        try:
            columns = pa.table(dict(columns))
        except (pa.ArrowException, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"columns must be of one length and type each: {reason}.") from error
    if isinstance(columns, pa.Table):
        # An empty table has columns too.
        empty = pa.RecordBatch.from_pylist([], schema=columns.schema)
        return iter(columns.to_batches(1 << 16) or [empty])
    if isinstance(columns, Iterable):
        return iter(columns)
    raise DataError(f"columns must be a mapping of names to columns; it is {shown(columns)}.")


@contextmanager
def _output(path: str) -> Iterator[IO[bytes]]:
    if path != "-":
        with written_aside(path) as file:
            yield file
        return
    sys.stdout.flush()
    to = getattr(sys.stdout, "buffer", None)
    if to is None:  # a notebook's, or one that tests put there: text only
        held = io.BytesIO()
        yield held
        sys.stdout.write(held.getvalue().decode())
        return
    yield to
    to.flush()


def _write(
    file: IO[bytes], kind: str, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]
) -> int:
    schema = first.schema
    rows = 0
    with _writer(file, kind, schema) as writer:
        batch: pa.RecordBatch | None = first
        while batch is not None:
            writer.write_batch(batch)
            rows += batch.num_rows
            batch = next(rest, None)
    return rows


def _writer(file: IO[bytes], kind: str, schema: pa.Schema) -> Any:
    # A sink that is ours to close: closing pyarrow's would close the file, which is renamed open.
    sink = pa.PythonFile(file, mode="w")
    if kind in ("csv", "tsv"):
        return _CsvWriter(file, schema, "," if kind == "csv" else "\t")
    if kind == "parquet":
        return pq.ParquetWriter(sink, schema)
    if kind == "arrow":
        return ipc.new_file(sink, schema)
    return _JsonWriter(file)


class _LineWriter:
    """What is written line by line needs no end."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class _CsvWriter(_LineWriter):
    """Nothing stands for a missing value. Text is in quotes where it has to be: where it holds what
    may separate columns, a quote or the end of a line, or would be taken for a missing value.
    (pyarrow's own writer has all text in quotes, so that what is handed on would not be as it
    was.)"""

    def __init__(self, file: IO[bytes], schema: pa.Schema, separator: str) -> None:
        super().__init__(file)
        self.separator = separator
        self.write_cells([self.quoted(pa.array([name])) for name in schema.names])

    def write_batch(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self.write_cells([self.cells(column) for column in batch.columns])

    def cells(self, column: Any) -> Any:
        column = decoded(column)
        return self.quoted(column) if is_text(column.type) else column.cast(pa.string())

    def quoted(self, column: Any) -> Any:
        text = column.cast(pa.string())
        odd = pc.is_in(text, value_set=_MISSING)
        if _may_hold(text, _SPECIAL):
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


def _may_hold(text: Any, characters: str) -> bool:
    """Whether some value may hold one of these, by the bytes of all: a search in one go."""
    _, ends, data = text.buffers()
    if data is None:
        return False
    at = memoryview(ends).cast("i")
    start, end = at[text.offset], at[text.offset + len(text)]
    held = data.slice(start, end - start).to_pybytes()
    return any(byte in held for byte in characters.encode())


_MISSING = pa.array(MISSING)
_SPECIAL = ',;\t|"\r\n'


class _JsonWriter(_LineWriter):
    """One object a line; what is no number is null, as JSON has no NaN."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [_plain(column.to_pylist()) for column in batch.columns]
        names = batch.schema.names
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
            for row in zip(*columns, strict=True)
        ]
        if lines:
            self.file.write(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))


def _plain(values: list[Any]) -> list[Any]:
    return [v if v is None or isinstance(v, (str, int)) else _valued(v) for v in values]


def _valued(value: Any) -> Any:
    """A value as JSON has it: decimals are numbers, dates are text."""
    if isinstance(value, (float, Decimal)):
        return float(value) if math.isfinite(value) else None
    return str(value)
