"""ORC."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO

import pyarrow as pa
from pyarrow import ipc, orc

from cutscore.core.findings import Finding
from cutscore.tables.parts import (
    File,
    Format,
    Part,
    Style,
    check_names,
    damaged_file,
    decoded,
    first_line,
)

# What reads the rows, in a process of its own, and sends them as a stream of Arrow. It says on
# stderr what went wrong.
_READ = """
import json, sys
import pyarrow as pa
from pyarrow import ipc, orc

path, columns = json.load(sys.stdin)
try:
    file = orc.ORCFile(path)
    schema = pa.schema([file.schema.field(name) for name in columns])
    with ipc.new_stream(sys.stdout.buffer, schema) as stream:
        for k in range(file.nstripes):
            stripe = file.read_stripe(k, columns).select(columns)
            stripe.validate(full=True)
            stream.write_batch(stripe)
except MemoryError:
    sys.exit(2)
except (pa.ArrowException, OSError, ValueError) as error:
    sys.exit(str(error))
"""


class OrcPart(Part):
    """An ORC file. Only the columns that are asked for are read. The library that reads the rows
    crashes on some damaged files, so that it has a process of its own."""

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
        pipe = subprocess.PIPE
        with (
            self.guard(),
            # -P: nothing is imported from the working directory.
            subprocess.Popen(
                [sys.executable, "-P", "-c", _READ], stdin=pipe, stdout=pipe, stderr=pipe
            ) as reader,
        ):
            assert reader.stdin is not None
            try:
                reader.stdin.write(json.dumps([self.path, list(columns)]).encode())
                reader.stdin.close()
                yield from self.guarded(self._received(reader), checked=True)
            finally:
                reader.kill()

    def _received(self, reader: subprocess.Popen[bytes]) -> Iterator[pa.RecordBatch]:
        """What the reader sends, to its end; or why it ended before."""
        assert reader.stdout is not None
        assert reader.stderr is not None
        try:
            with ipc.open_stream(reader.stdout) as stream:
                yield from stream
            ended = reader.wait() == 0
        except (pa.ArrowInvalid, OSError):
            ended = False
        if ended:
            return
        said = reader.stderr.read().decode(errors="replace")
        if reader.wait() == 2:
            raise MemoryError
        raise pa.ArrowInvalid(said or "the ORC library crashed")

    def explain(self, error: Exception) -> Finding:
        return damaged_file(self.where, first_line(error))


class OrcWriter(orc.ORCWriter):  # type: ignore[misc]
    """ORC takes tables, and has no dictionaries."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        super().__init__(pa.PythonFile(file, mode="w"))
        self._names = schema.names

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some more rows."""
        self.write(pa.table(list(map(decoded, batch.columns)), self._names))


ORC = Format("orc", ("orc",), lambda start: start.startswith(b"ORC"), OrcPart, OrcWriter)
