"""Parquet, and Arrow's own format, which is Feather too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from cutscore._names import named_columns
from cutscore.errors import DataError
from cutscore.tables.parts import BATCH, Part, Piece, check_names, first_line

# Rows of a piece, at least: to open a file takes as long as to read some thousand of them.
_PIECE = 1 << 19
# What a damaged row group makes pyarrow raise.
UNREADABLE = (pa.ArrowException, OSError, ValueError)


def damaged(where: str, k: int, of: int, error: Exception) -> DataError:
    """The error for a row group that can't be read."""
    return DataError(
        f"{where} is damaged: row group {k + 1} of {of} can't be read ({first_line(error)}). Copy "
        "or write it again."
    )


def cut_off(where: str, error: Exception) -> str:
    """What is said of a file that can't be opened."""
    return (
        f"{where} is no whole Parquet file: {first_line(error)}. It may have been cut off on its "
        "way; copy or write it again."
    )


class ParquetPart(Part):
    """A Parquet file. Only the columns that are asked for are read."""

    def __init__(self, path: str, shown_as: str | None = None) -> None:
        super().__init__(path, shown_as)
        with self.guard(), self._open() as file:
            self._schema = file.schema_arrow
            self._rows = int(file.metadata.num_rows)
        check_names(self._schema.names, self.where)
        self._names = named_columns(self._schema)

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.path, memory_map=True)

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def rows(self) -> int | None:
        return self._rows

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        # Not mapped: pages of a mapped file count as memory of whoever reads them.
        with self.guard():
            file = pq.ParquetFile(self.path, buffer_size=1 << 20)
        with file:
            # Of wide tables fewer rows at a time: a batch has all of their columns.
            size = max(1024, min(BATCH, (1 << 20) // max(len(columns), 1)))
            rest = file.iter_batches(size, columns=list(columns))
            while True:
                try:
                    with self.guard():
                        batch = next(rest, None)
                except DataError as error:
                    raise self._where(error, file, columns) from error.__cause__
                if batch is None:
                    return
                # "a" also brings "a.b" along, should there be one.
                yield batch.select(list(columns))

    def read(self, columns: Sequence[str]) -> pa.Table:
        with self.guard():
            file = self._open()
        with file:
            try:
                with self.guard():
                    return file.read(columns=list(columns)).select(list(columns))
            except DataError as error:
                raise self._where(error, file, columns) from error.__cause__

    def pieces(self, columns: Sequence[str], schema: pa.Schema) -> list[Piece]:  # noqa: ARG002
        """Row groups that follow each other."""
        with self.guard(), self._open() as file:
            sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        out, start, rows = [], 0, 0
        for end, size in enumerate(sizes, 1):
            rows += size
            if rows >= _PIECE or end == len(sizes):
                groups = range(start, end)
                out.append(Piece(partial(self._groups, list(columns), groups, len(sizes)), rows))
                start, rows = end, 0
        return out

    def _groups(
        self, columns: list[str], groups: Sequence[int], of: int
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        # Not mapped: pages of a mapped file count as memory of whoever reads them.
        with self.guard():
            file = pq.ParquetFile(self.path, buffer_size=1 << 20)
        # A megabyte or two at a time: fewer steps of Python, which only one thread takes at a time.
        size = max(1024, min(2 * BATCH, (1 << 19) // max(len(columns), 1)))
        with file:
            for k in groups:
                where = f"row group {k + 1} of {of} of {self.where}"
                batches = file.iter_batches(
                    size, row_groups=[k], columns=columns, use_threads=False
                )
                try:
                    for batch in self.guarded(batches):
                        with self.guard():
                            some = batch.select(columns)
                        yield where, some
                except DataError as error:
                    cause = error.__cause__
                    if isinstance(cause, UNREADABLE):
                        raise damaged(self.where, k, of, cause) from cause
                    raise

    def _where(self, error: DataError, file: Any, columns: Sequence[str]) -> DataError:
        """The same error with the row group that can't be read."""
        for k in range(file.num_row_groups):
            try:
                file.read_row_group(k, columns=list(columns))
            except UNREADABLE as found:
                return damaged(self.where, k, file.num_row_groups, found)
        return error

    def explain(self, error: Exception) -> str:
        return cut_off(self.where, error)


class ArrowPart(Part):
    """A file, or a stream, of Arrow record batches; mapped into memory, not copied."""

    def __init__(self, path: str, shown_as: str | None = None) -> None:
        super().__init__(path, shown_as)
        with self.guard(), pa.memory_map(path) as file:
            start = file.read(6)
            if start[:4] == b"FEA1":
                raise DataError(
                    f"{self.where} is a Feather file of version 1, which is not read any more. "
                    "Write it as Parquet with the library that made it."
                )
            self._stream = start != b"ARROW1"
            file.seek(0)
            self._schema = self._reader(file, None).schema
        check_names(self._schema.names, self.where)
        self._names = named_columns(self._schema)

    def _reader(self, file: Any, columns: list[int] | None) -> Any:
        options = ipc.IpcReadOptions(included_fields=columns)
        if self._stream:
            return ipc.open_stream(file, options=options)
        return ipc.open_file(file, options=options)

    @property
    def names(self) -> list[str]:
        return list(self._names)

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        for batch in self._as_stored(columns):
            for start in range(0, batch.num_rows, BATCH):
                yield batch.slice(start, BATCH)

    def read(self, columns: Sequence[str]) -> pa.Table:
        return pa.Table.from_batches(self._as_stored(columns), self.schema(columns))

    def _as_stored(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        at = sorted(self._schema.get_field_index(name) for name in columns)
        with self.guard():
            reader = self._reader(pa.memory_map(self.path), at)
        stored = (
            iter(reader)
            if self._stream
            else (reader.get_batch(k) for k in range(reader.num_record_batches))
        )
        for batch in self.guarded(stored):
            with self.guard():
                batch.validate()
            yield batch.select(list(columns))

    def explain(self, error: Exception) -> str:
        return (
            f"{self.where} is no whole Arrow file: {first_line(error)}. It may have been cut off "
            "on its way; copy or write it again."
        )
