"""Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from cutscore.core.errors import DataError
from cutscore.core.findings import Finding
from cutscore.core.names import data_columns
from cutscore.tables.parts import (
    BATCH,
    FOREIGN,
    File,
    Format,
    Part,
    Piece,
    Style,
    Writer,
    check_names,
    damaged_file,
    first_line,
)

# Rows of a piece, at least: to open a file takes as long as to read some thousand of them.
_PIECE = 1 << 19
# What a damaged row group makes pyarrow raise.
UNREADABLE = FOREIGN


def damaged(where: str, k: int, of: int, error: Exception) -> DataError:
    """The error for a row group that can't be read."""
    return DataError(damaged_file(where, first_line(error), f"row group {k + 1} of {of}"))


def cut_off(where: str, error: Exception) -> Finding:
    """What is said of a file that can't be opened."""
    return damaged_file(where, first_line(error))


class ParquetPart(Part):
    """A Parquet file. Only the columns that are asked for are read."""

    dataset = "parquet"

    def __init__(self, file: File, style: Style) -> None:  # noqa: ARG002
        super().__init__(file.path, file.where)
        with self.guard(), self._open() as opened:
            self._schema = opened.schema_arrow
            self._rows = int(opened.metadata.num_rows)
            check_names(self._schema.names, self.where)
            self._names = data_columns(self._schema)

    def _open(self) -> pq.ParquetFile:
        # Not mapped: pages of a mapped file count as memory of whoever reads them, and one that
        # shrinks meanwhile would end the process.
        return pq.ParquetFile(self.path, buffer_size=1 << 20)

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def rows(self) -> int | None:
        return self._rows

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        with self.guard():
            file = self._open()
        with file:
            # Of wide tables fewer rows at a time: a batch has all of their columns.
            size = max(1024, min(BATCH, (1 << 20) // max(len(columns), 1)))
            rest = self.guarded(file.iter_batches(size, columns=list(columns)))
            while True:
                try:
                    batch = next(rest, None)
                except DataError as error:
                    raise self._where(error, file, columns) from error.__cause__
                if batch is None:
                    return
                # "a" also brings "a.b" along, should there be one.
                yield batch.select(list(columns))

    def read(self, columns: Sequence[str]) -> pa.Table:
        names = list(columns)
        with self.guard():
            file = self._open()
        with file:
            # One row group at a time: a signal is heard after each.
            groups = (file.read_row_group(k, names) for k in range(file.num_row_groups))
            try:
                tables = [group.select(names) for group in self.guarded(groups)]
            except DataError as error:
                raise self._where(error, file, columns) from error.__cause__
        return pa.concat_tables(tables) if tables else self.schema(names).empty_table()

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
        with self.guard():
            file = self._open()
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

    def _where(self, error: DataError, file: pq.ParquetFile, columns: Sequence[str]) -> DataError:
        """The same error with the row group that can't be read."""
        for k in range(file.num_row_groups):
            try:
                file.read_row_group(k, columns=list(columns)).validate(full=True)
            except MemoryError:
                raise
            except UNREADABLE as found:
                return damaged(self.where, k, file.num_row_groups, found)
        return error

    def explain(self, error: Exception) -> Finding:
        return cut_off(self.where, error)


def _writer(file: IO[bytes], schema: pa.Schema) -> Writer:
    return pq.ParquetWriter(pa.PythonFile(file, mode="w"), schema)  # type: ignore[no-any-return]


PARQUET = Format(
    "parquet", ("parquet", "pq"), lambda start: start.startswith(b"PAR1"), ParquetPart, _writer
)
