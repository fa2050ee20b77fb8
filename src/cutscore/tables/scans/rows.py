"""Rows for learners straight from files, never all of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import NoRows
from cutscore.core.findings.statistics import NotFinite
from cutscore.core.types import Label
from cutscore.linear.rows import Block, Floats, block_rows
from cutscore.linear.streams import Later, StreamRows
from cutscore.tables import Table, open_table
from cutscore.tables.parts import cell, filled, plain, row_of
from cutscore.tables.scans.memory import bytes_of
from cutscore.tables.scans.scan import Labels, Source, as_weights, check_number, opened, placed

# Numbers that stay in the second-level cache while columns become rows.
_CACHED = 1 << 17


def rows_file(  # noqa: PLR0913 - what the columns are for has many sides
    data: Source,
    *,
    features: Sequence[str],
    label: str,
    weight: str | None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    memory_limit: int | str | None = None,
) -> StreamRows:
    """Rows in files of any size, for the learners in :mod:`cutscore.linear`.

    Parquet and Arrow files are read anew in each pass, only the columns that are named. CSV, JSON
    lines and queries are read once, into a temporary file in ``TMPDIR``. For learners of many
    passes that is faster for Parquet too, if there is room: ``rows_file(…).spooled()``.

    Parameters
    ----------
    data
        What :func:`cutscore.tables.open_table` takes: a path, a pattern, a folder of Parquet files
        or a list of these; what it returns; or a dataset of ``pyarrow.dataset``.
    features
        Columns of numbers, in the order of the weights to come. They are used as they are: neither
        scaled nor encoded, and no value may be missing. (:func:`cutscore.training.train` encodes,
        also with ``stream=True``.)
    label
        The column of labels: 0/1, false/true or -1/1.
    weight
        A column of weights: a row of weight 2 counts as two rows, and one of weight 0 is left out.
    positive
        The label to detect, where it is another.
    filter
        An expression of ``pyarrow.dataset``, such as ``ds.field("year") > 2020``: which rows to
        read. Parts of Parquet files that have none are skipped. For Parquet and Arrow files, and
        datasets.
    memory_limit
        Bytes, or text such as "500 MB": how much the blocks of rows that exist at a time may take.
        What reads the files, and what the learner sums up, comes on top.

    Returns
    -------
    StreamRows
        Float32 where all features are, else float64. What is wrong with a row is said when a pass
        comes to it, with its file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from cutscore.tables.scans.rows import rows_file
    >>> from cutscore.linear.logistic import logistic
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.3
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> pq.write_table(pa.table({"y": y, "a": rng.normal(size=1000) + y, "b": 0.1 * y}), file)
    >>> logistic(rows_file(file, features=["a"], label="y")).detector
    LinearDetector(w=[1.017], b=-1.474)
    """
    names = _names(features, label, weight)
    source = data if isinstance(data, (Table, ds.Dataset)) else open_table(data)
    reader = _Reader(source, names, weight is not None, positive, filter)
    if memory_limit is not None:
        reader.limit(bytes_of(memory_limit))
    rows = StreamRows(reader.blocks, reader.features)
    again = isinstance(source, ds.Dataset) or source.dataset_format is not None
    return rows if again else rows.spooled()


def _names(features: Sequence[str], label: str, weight: str | None) -> list[str]:
    """All columns that are wanted: features, label, weight."""
    if isinstance(features, str) or not isinstance(features, Sequence) or not features:
        raise DataError(BadArgument("features", "be a list of columns, at least one", features))
    wanted = [*features, label, *(() if weight is None else (weight,))]
    for k, name in enumerate(wanted):
        if not isinstance(name, str):
            raise DataError(BadArgument("features", "be names", name, subject="columns"))
        if name in wanted[:k]:
            rule = (
                f"a column can be a feature, the label or the weight; {shown(name)} is used twice"
            )
            raise DataError(Conflict(("features", "label", "weight"), rule, "Use it once."))
    return wanted


class _Reader:
    """Blocks of a table, each row of which is checked."""

    def __init__(
        self, data: Source, names: list[str], weighted: bool, positive: Label, filter: pc.Expression
    ) -> None:
        self.names, self.weighted = names, weighted
        self.features = len(names) - 1 - weighted
        numbers = [name for k, name in enumerate(names) if k != self.features]
        self.where, self.pieces, schema = opened(data, names, filter, numbers)
        self.labels = Labels(names[self.features], positive)
        for k, t in enumerate(schema.types):
            if k != self.features:
                encode = "let cutscore.training.train encode it"
                check_number(t, names[k], self.where, encode if k < self.features else "convert it")
        narrow = all(map(pa.types.is_float32, schema.types[: self.features]))
        self.dtype = np.dtype(np.float32 if narrow else np.float64)
        self.rows = block_rows(self.features)

    def limit(self, most: int) -> None:
        """Let all blocks at a time take so many bytes."""
        # A row is there as columns, as features, and while it is summarised once more.
        least = 3 * (self.features * self.dtype.itemsize + 9) * (threads() + 3)
        if most < least:
            rule = f"be {least:,} bytes or more for rows of {self.features:,} features"
            raise DataError(BadArgument("memory_limit", rule, most))
        self.rows = min(self.rows, most // least)

    def blocks(self) -> Iterator[Later]:
        """All rows with a weight. Columns are read here; threads make rows of them."""
        start, read = 0, 0
        for piece in self.pieces:
            for where, first, batch in placed(piece):
                at = first
                for some in _slices(batch, self.rows):
                    weight = None
                    if self.weighted:
                        row_at = row_of(where, at)
                        values = self._values(some, self.features + 1, row_at)
                        weight = as_weights(values, self.names[-1], row_at)
                    rows = some.num_rows if weight is None else int(np.count_nonzero(weight))
                    yield Later(rows, partial(self._block, some, weight, where, at, start))
                    at, start = at + some.num_rows, start + rows
                read += batch.num_rows
        if not read:
            raise DataError(NoRows(self.where))

    def _block(
        self, batch: pa.RecordBatch, weight: Floats | None, where: str, at: int, start: int
    ) -> Block:
        row_at = row_of(where, at)
        X = self._matrix([self._values(batch, k, row_at) for k in range(self.features)])
        if not np.isfinite(X).all():
            row, k = np.argwhere(~np.isfinite(X))[0].tolist()
            place = cell(row_at(row), self.names[k])
            raise DataError(NotFinite("features", float(X[row, k]), where=place))
        labels = filled(batch.column(self.features), self.labels.name, row_at)
        y = self.labels.flags(labels, where, row_at).astype(np.bool_)
        if weight is not None and not weight.all():
            some = np.flatnonzero(weight)
            X, y, weight = X.take(some, axis=0), y[some], weight[some]
        return Block(X, y, weight, start)

    def _values(self, batch: pa.RecordBatch, k: int, row_at: Callable[[int], Any]) -> NDArray[Any]:
        column = filled(plain(batch.column(k)), self.names[k], row_at)
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def _matrix(self, columns: list[NDArray[Any]]) -> NDArray[Any]:
        """Columns as rows, some at a time: writes to all of a block would miss the cache."""
        out = np.empty((len(columns[0]), len(columns)), self.dtype)
        size = max(256, _CACHED // len(columns))
        for k in range(0, len(out), size):
            some = slice(k, k + size)
            for j, column in enumerate(columns):
                out[some, j] = column[some]
        return out


def _slices(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    """A batch in parts of about one size, so that no thread waits for another's."""
    n = batch.num_rows
    size = -(-n // max(-(-n // most), 1))
    yield from (batch.slice(k, size) for k in range(0, n, size or 1))
