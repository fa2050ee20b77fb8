"""ORC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

import pyarrow as pa
from pyarrow import orc

from cutscore.tables.parts import File, Format, Part, Style, check_names, decoded


class OrcPart(Part):
    """An ORC file. Only the columns that are asked for are read."""

    dataset = "orc"

    def __init__(self, file: File, style: Style) -> None:  # noqa: ARG002
        super().__init__(file.path, file.where)
        with self.guard():
            opened = orc.ORCFile(file.path)
            self._schema, self._rows = opened.schema, int(opened.nrows)
            check_names(self._schema.names, self.where)

    @property
    def names(self) -> list[str]:
        return list(self._schema.names)

    @property
    def rows(self) -> int | None:
        return self._rows

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([self._schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        with self.guard():
            opened = orc.ORCFile(self.path)
        stripes = (opened.read_stripe(k, list(columns)) for k in range(opened.nstripes))
        for stripe in self.guarded(stripes):
            yield stripe.select(list(columns))


class OrcWriter(orc.ORCWriter):  # type: ignore[misc]
    """ORC takes tables, and has no dictionaries."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        super().__init__(pa.PythonFile(file, mode="w"))
        self._names = schema.names

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some more rows."""
        self.write(pa.table(list(map(decoded, batch.columns)), self._names))


ORC = Format("orc", ("orc",), lambda start: start.startswith(b"ORC"), OrcPart, OrcWriter)
