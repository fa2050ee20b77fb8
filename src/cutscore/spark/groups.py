"""The AUC inside each of millions of groups: rows of one group meet by the hash of its name."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.comparison.groups import GroupAuc
from cutscore.core.checks import check_rows
from cutscore.core.errors import DataError
from cutscore.core.findings import Where
from cutscore.core.findings.rows import ValueMissing
from cutscore.spark.blobs import (
    Message,
    begin_task,
    collect,
    in_order,
    map_tasks,
    origin,
    receive,
    send,
    shuffle,
)
from cutscore.spark.columns import Chunk, Columns, Located, chunks, encode_labels, one_other
from cutscore.spark.sources import Files, Paths, open_source, parallelism
from cutscore.sweeps.sweep import area
from cutscore.tables.parts import check_names_in_floats
from cutscore.tables.scans.groups import deal, evaluate, joined, pack, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows that a task partitions at a time, and about how many a reducer gets.
_CHUNK = 1 << 20
_SLOT = 1 << 21
# Where nobody knows the number of rows in advance, as many reducers as tasks at a time, times this.
_SPARE = 8


def by_group(  # noqa: PLR0913 - names of columns
    data: DataFrame | Paths,
    *,
    label: str,
    score: str,
    group: str,
    weight: str | None = None,
    positive: Hashable = None,
    spark: SparkSession | None = None,
) -> GroupAuc:
    """The AUC within each group of a DataFrame or of Parquet files.

    The numbers and their order are those of :func:`cutscore.by_group` for the same rows. One
    shuffle brings the rows of each group together.

    Parameters
    ----------
    data : DataFrame, path or sequence of paths
        As in :func:`cutscore.spark.sweep`.
    label, score : str
        As in :func:`cutscore.spark.sweep`.
    weight : str, optional
        As in :func:`cutscore.spark.sweep`.
    positive : label, optional
        As in :func:`cutscore.spark.sweep`.
    spark : SparkSession, optional
        As in :func:`cutscore.spark.sweep`.
    group : str
        The group column: numbers, text or dates.

    Examples
    --------
    >>> import cutscore as cs
    >>> spark = cs.spark.session("local[2]")
    >>> rows = [(1, 0.9, "ann"), (0, 0.3, "ann"), (0, 0.2, "ann"), (1, 0.4, "bob"), (0, 0.6, "bob")]
    >>> frame = spark.createDataFrame(rows, ["y", "s", "user"])
    >>> cs.spark.by_group(frame, label="y", score="s", group="user")
    GroupAuc of 2 groups: 2 have both classes (100 % of 5 rows), AUC 0.666667 pooled, 0.6 weighted,
    0.5 macro
    """
    columns = Columns(label, score, weight, group, positive)
    source = open_source(data, columns.names, spark)
    slots = parallelism(source.spark)
    slots = max(slots, -(-source.rows // _SLOT)) if isinstance(source, Files) else slots * _SPARE
    parts = source.messages(_Partition(columns, slots), columns.names)
    messages = collect(map_tasks(shuffle(parts, slots), _Evaluate()))
    one_other((o for message in messages for o in json.loads(message.note or "[]")), label)
    tables = [unpack(message.blob) for message in messages if message.blob is not None]
    return joined(tables, weighted=weight is not None)


@dataclass(frozen=True)
class _Partition:
    """The task that assigns rows to slots by the hash of their group."""

    columns: Columns
    slots: int

    def __call__(self, task: int, batches: Iterable[Located]) -> Iterator[pa.RecordBatch]:
        names = self.columns
        texts = [name for name in (names.label, names.group) if name is not None]
        return send(self._messages(task, chunks(batches, names.names, texts, _CHUNK)), task)

    def _messages(self, task: int, some: Iterable[Chunk]) -> Iterator[Message]:
        for number, chunk in enumerate(some):
            table, other = chunk.locate_errors(self._rows)
            note = json.dumps([] if other is None else [other])
            for k, part in deal(table, self.slots):
                yield Message(k, origin(task, number), part.num_rows, note, blob=pack(part))

    def _rows(self, c: dict[str, NDArray[Any]]) -> tuple[pa.Table, str | None]:
        names = self.columns
        y, positive, other = encode_labels(c[names.label], names.positive)
        weight = None if names.weight is None else c[names.weight]
        rows = check_rows(y, c[names.score], weight, positive)
        area(rows)  # the core finds what is wrong with single rows
        # -1/1 were understood by now, and everything else is 0/1.
        ones = np.asarray(rows.label == rows.positive)
        assert names.group is not None
        group = c[names.group]
        if group.dtype.kind in "fmM" and np.isnan(group).any():
            row = int(np.isnan(group).argmax())
            how, hint = f"missing ({group[row]!s})", "Drop such rows, or give them a group."
            raise DataError(ValueMissing("group", how, hint, where=Where(int(row), "group")))
        if group.dtype.kind == "f":
            check_names_in_floats(group, names.group, lambda row: Where(row, "group"))
            group = group + 0.0  # and -0.0 becomes 0.0
        at = np.arange(len(ones), dtype=np.uint32)
        if weight is not None:
            some = np.flatnonzero(np.asarray(weight) > 0)
            ones, group, at, weight = ones[some], group[some], at[some], weight[some]
        columns = {"row": at, "one": ones, "score": rows.score[at], "group": group}
        if weight is not None:
            columns["weight"] = weight.astype(np.float64)
        # Scores and groups may be of other types elsewhere.
        return pa.table(columns), other


@dataclass(frozen=True)
class _Evaluate:
    """The task that has all rows of its groups."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return send(self._messages(batches), begin_task())

    def _messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
        found = [m for m in in_order(receive(batches)) if m.blob is not None]
        if not found:
            return
        tables = [(m.origin, unpack(m.blob)) for m in found if m.blob is not None]
        rows = sum(table.num_rows for _, table in tables)
        result = evaluate(tables)
        others = sorted({o for m in found for o in json.loads(m.note or "[]")})
        yield Message(0, found[0].origin, rows, json.dumps(others), blob=pack(result))
