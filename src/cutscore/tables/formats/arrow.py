"""Arrow's own format, which is Feather too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa
from pyarrow import ipc

from cutscore.core.findings import Finding
from cutscore.core.names import data_columns
from cutscore.tables.parts import (
    BATCH,
    File,
    Format,
    Part,
    Style,
    Writer,
    check_names,
    damaged_file,
    first_line,
)


class ArrowPart(Part):
    """A file, or a stream, of Arrow record batches. It is not mapped into memory: one that shrinks
    meanwhile would end the process."""

    def __init__(self, file: File, style: Style) -> None:  # noqa: ARG002
        super().__init__(file.path, file.where)
        self._stream = not file.start.startswith(b"ARROW1")
        self.dataset = None if self._stream else "ipc"
        with self.guard(), pa.OSFile(file.path) as opened:
            self._schema = self._reader(opened, None).schema
            check_names(self._schema.names, self.where)
            self._names = data_columns(self._schema)

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
            reader = self._reader(pa.OSFile(self.path), at)
        stored = (
            iter(reader)
            if self._stream
            else (reader.get_batch(k) for k in range(reader.num_record_batches))
        )
        for batch in self.guarded(stored):
            yield batch.select(list(columns))

    def explain(self, error: Exception) -> Finding:
        return damaged_file(self.where, first_line(error))


def _writer(file: IO[bytes], schema: pa.Schema) -> Writer:
    return ipc.new_file(pa.PythonFile(file, mode="w"), schema)  # type: ignore[no-any-return]


def _fits(start: bytes) -> bool:
    # A stream of batches begins with 0xFFFFFFFF.
    return start.startswith((b"ARROW1", b"\xff\xff\xff\xff"))


ARROW = Format("arrow", ("arrow", "feather", "ipc"), _fits, ArrowPart, _writer)
