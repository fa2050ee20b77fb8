"""Tables into files: written aside and renamed, so that a failure costs nothing that was there."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from cutscore.core.errors import DataError
from cutscore.core.files import written_aside
from cutscore.core.findings import BadArgument
from cutscore.core.terminal import neutral
from cutscore.core.types import ArrayLike
from cutscore.tables.formats.registry import WRITTEN, named, written_as
from cutscore.tables.parts import Format, first_line


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, ArrayLike] | pa.Table | Iterable[pa.RecordBatch],
    *,
    format: str | None = None,
) -> int:
    """Write columns to a file, and return the number of rows.

    The file is written under a temporary name and then renamed: if anything fails, an existing file
    is unchanged.

    Parameters
    ----------
    path
        The file; ``"-"`` is the standard output.
    columns
        A mapping from names to columns, a table of pyarrow, or an iterable of its record batches,
        which are written as they come.
    format
        "csv", "tsv", "parquet", "arrow" (or "feather") or "jsonl". Default: detected from the
        extension; CSV for the standard output.

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
    kind = _format(text, format)
    batches = _batches(columns)
    first = next(batches, None)
    if first is None:
        raise DataError(BadArgument("columns", "have at least one column; there are none"))
    with _output(text) as file:
        return _write(file, kind, first, batches)


def is_text_format(path: str) -> bool:
    """Whether a table is written to this path as CSV, or as what is like it."""
    return _format(path, None).has_style


def _format(path: str, format: str | None) -> Format:
    if format is not None:
        return named(format, to_write=True)
    found = named("csv") if path == "-" else written_as(path)
    if found is None:
        rule = f"end in {', '.join(WRITTEN)}, unless the format is given"
        raise DataError(BadArgument("path", rule, path))
    return found


def _batches(
    columns: Mapping[str, ArrayLike] | pa.Table | Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    if isinstance(columns, pa.RecordBatch):
        return iter([columns])
    if isinstance(columns, Mapping):
        try:
            columns = pa.table(dict(columns))
        except (pa.ArrowException, ValueError, TypeError) as error:
            rule = f"be of one length, and of one type each: {first_line(error)}"
            raise DataError(BadArgument("columns", rule)) from error
    if isinstance(columns, pa.Table):
        # An empty table has columns too.
        empty = pa.RecordBatch.from_pylist([], schema=columns.schema)
        return iter(columns.to_batches(1 << 16) or [empty])
    if isinstance(columns, Iterable):
        return iter(columns)
    raise DataError(BadArgument("columns", "be a mapping of names to columns", columns))


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
    yield _Terminal(to) if sys.stdout.isatty() else to  # type: ignore[misc]
    to.flush()


class _Terminal:
    """The standard output where somebody looks at it: cells of strangers don't control it."""

    def __init__(self, to: IO[bytes]) -> None:
        self.to = to

    def write(self, text: bytes | memoryview) -> None:
        """Write some more text."""
        self.to.write(neutral(bytes(text).decode()).encode())


def _write(
    file: IO[bytes], kind: Format, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]
) -> int:
    assert kind.write is not None  # or it would not have been found
    rows = int(first.num_rows)
    with kind.write(file, first.schema) as writer:
        # A batch is written while the next one is made.
        one = _OneAtATime(writer)
        with one, ThreadPoolExecutor(1) as aside:
            writing = aside.submit(one.write_batch, first)
            for batch in rest:
                writing.result()
                writing = aside.submit(one.write_batch, batch)
                rows += batch.num_rows
            writing.result()
    return rows


class _OneAtATime:
    """A writer that is not closed while another thread writes. An interrupt may leave an executor
    before its thread has ended, and a library's writer that is closed meanwhile crashes."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer
        self.lock = threading.Lock()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some more rows, unless it is too late for them."""
        with self.lock:
            if self.writer is not None:
                self.writer.write_batch(batch)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.writer = None
