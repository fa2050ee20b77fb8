"""Sweeps of rows on a cluster: each task sweeps its own, one shuffle brings ranges together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import check_rows, run_kernel
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Conflict
from cutscore.core.findings.cluster import RowsChanged
from cutscore.spark.columns import Chunk, Columns, Located, chunks, encode_labels, one_other
from cutscore.spark.errors import in_a_sentence
from cutscore.spark.messages import (
    Message,
    begin_task,
    collect,
    ignore_pandas_warnings,
    in_order,
    map_tasks,
    origin,
    receive,
    send,
    settings,
    shuffle,
)
from cutscore.spark.sources import Files, Frame, Paths, col_of, open_source, parallelism
from cutscore.sweeps.binned import BinnedSweep
from cutscore.sweeps.sweep import Floats, Sweep
from cutscore.sweeps.sweep import sweep as _sweep
from cutscore.tables.scans.runs import added, merged, pack, quantiles, split, stacked, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows that a task sweeps at a time.
_CHUNK = 1 << 21
# Entries of one range, about: a reducer holds them all, some fifty bytes each.
_RANGE = 1 << 22
# Every so many entries of a chunk are sampled for the driver, which sets the bounds.
_EVERY = 1 << 12
# Bytes that the driver adds up by itself rather than start a shuffle.
_FEW = 1 << 24
# Bytes of a blob that come to the driver at once, before it is known how many there are in all.
_SMALL = 1 << 18
# Rows to look at, to see whether they share scores; and how many scores are many, if they do.
_LOOK = 1 << 16
_COUNTED = 1 << 20


def sweep(  # noqa: PLR0913 - all but one are names and options
    data: DataFrame | Paths,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    positive: Hashable = None,
    compact: bool = False,
    binned: bool = False,
    bits: int = 16,
    squares: bool = False,
    ranges: int | None = None,
    spark: SparkSession | None = None,
) -> Sweep | BinnedSweep:
    """The sweep of a DataFrame or of Parquet files, made where the rows are.

    The same integers as :func:`cutscore.sweep` gives of the same rows. Each task sweeps its rows
    natively, some millions at a time, and sends one blob for each range of scores; whoever gets a
    range adds its blobs up; the driver puts the ranges in a row. Sums of weights may differ in the
    last digit, as they are added up in another order.

    Parameters
    ----------
    data : DataFrame, path or sequence of paths
        A DataFrame; or the path of a Parquet file, a folder of them, a pattern, or a list of
        these. Tasks read files themselves, which is some three times as fast as to get rows from
        Spark. So they do where a DataFrame is nothing but columns of local Parquet files.
    label, score : str
        Names of columns. What they may hold is said in :func:`cutscore.sweep`.
    weight : str, optional
        Names of columns. What they may hold is said in :func:`cutscore.sweep`.
    positive : label, optional
        The positive label, as in :func:`cutscore.sweep`.
    compact : bool, default False
        Merge runs of one class, see :meth:`cutscore.Sweep.compact`: the driver receives
        2 min(P, N) + 1 entries at the most. Without it, all distinct scores have to fit there.
    binned, bits : bool and int
        A :class:`cutscore.BinnedSweep` of 2^bits bins instead: no shuffle, and an interval that
        certainly contains the AUC.
    squares : bool, default False
        Keep the sums of squared weights.
    ranges : int, optional
        Into how many ranges scores are cut; by default so many that each has some four million
        distinct scores.
    spark : SparkSession, optional
        The session, where ``data`` are paths. By default the active one, or a local one.

    Raises
    ------
    DataError
        If the rows break a rule of :func:`cutscore.sweep`; the message names the file and the row
        group, or the partition.
    SparkError
        If Spark can't do it.

    Examples
    --------
    >>> import tempfile
    >>> import cutscore as cs
    >>> from cutscore.tables import write_table
    >>> spark = cs.spark.session("local[2]")
    >>> frame = spark.createDataFrame([(1, 0.9), (0, 0.4), (1, 0.35), (0, 0.2)], ["y", "s"])
    >>> cs.spark.sweep(frame, label="y", score="s")
    Sweep of 4 rows: 2 positive (50 %), 2 negative, 4 distinct scores from 0.2 to 0.9, AUC 0.75
    """
    columns = Columns(label, score, weight, positive=positive)
    if ranges is not None and not (isinstance(ranges, int) and ranges >= 1):
        raise DataError(BadArgument("ranges", "be an integer of at least 1", ranges))
    if binned:
        # Refuses what is no number of bits.
        nothing = BinnedSweep.from_batches([], bits=bits)
        if compact or squares:
            rule = "a binned sweep has neither runs nor squares"
            raise DataError(Conflict(("compact", "squares"), rule, "Drop {0} and {1}."))
    source = open_source(data, columns.names, spark)
    work = _Work(columns, squares, bits if binned else None)
    if binned:
        return _merge_bins(collect(source.messages(work, columns.names)), columns, nothing)
    way = _from_files if isinstance(source, Files) else _from_frame
    pieces, rows = way(source, work, compact, ranges)  # type: ignore[arg-type]
    s = stacked(pieces)
    if not len(s):
        return _empty_sweep(columns, squares)
    if rows is not None and not s.weighted and rows != s.P + s.N:
        raise DataError(RowsChanged("the DataFrame", rows, int(s.P + s.N)))
    return s.compact() if compact else s


def _empty_sweep(columns: Columns, squares: bool) -> Sweep:
    none = np.empty(0)
    return _sweep(none, none, None if columns.weight is None else none, squares=squares)


def _from_files(
    files: Files, work: _Work, compact: bool, ranges: int | None
) -> tuple[list[Sweep], int]:
    """The sweeps of ranges, upwards. Bounds come from a sample that the driver reads."""
    if ranges is None:
        ranges = max(-(-files.rows // _RANGE), min(parallelism(files.spark), files.rows >> 18), 1)
    bounds = quantiles(files.sample(work.columns.score), ranges) if ranges > 1 else np.empty(0)
    frame = files.messages(work.cut_at(bounds), work.columns.names)
    return _reduce_ranges(frame, bounds, work.columns, compact), files.rows


def _from_frame(
    source: Frame, work: _Work, compact: bool, ranges: int | None
) -> tuple[list[Sweep], int | None]:
    """The same of a DataFrame, which is computed once: to take a sample first may cost as much as
    all the rest. Its rows are kept as sweeps, and their bounds come from these."""
    from pyspark import StorageLevel

    columns = work.columns
    if ranges is None and columns.weight is None and _few_scores(source, columns):
        counted = _count_in_spark(source, columns)
        if counted is not None:
            return [counted], None
    swept = source.messages(work, columns.names).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        small = f"if(length(blob) <= {_SMALL}, blob, null) as blob"
        messages = collect(swept.selectExpr("slot", "origin", "rows", "note", "error", small))
        one_other(_other_labels(messages), columns.label)
        rows = sum(message.rows for message in messages)
        size = sum(_Note.read(message.note).entries for message in messages)
        if ranges is None and 8 * size <= _FEW:
            all_here = all(message.blob is not None for message in messages)
            blobs = [message.blob for message in (messages if all_here else collect(swept))]
            return [merged([unpack(blob) for blob in blobs if blob is not None])], rows
        sample = np.concatenate([_Note.read(message.note).sample for message in messages])
        if ranges is None:
            ranges = max(-(-size // _RANGE), min(parallelism(source.spark), size >> 18))
        bounds = quantiles(sample, ranges)
        cut = map_tasks(swept, _Cut(bounds))
        return _reduce_ranges(cut, bounds, columns, compact), rows
    finally:
        swept.unpersist()


def _few_scores(source: Frame, columns: Columns) -> bool:
    """Whether many rows seem to share a score, where it costs little to look at some of them."""
    if columns.label == columns.score or not source.is_cheap():
        return False
    with in_a_sentence(), ignore_pandas_warnings():
        some = source.frame.select(col_of(columns.score)).limit(_LOOK).toArrow().column(0)
    return len(some) == _LOOK and 4 * len(some.unique()) <= _LOOK


def _count_in_spark(source: Frame, columns: Columns) -> Sweep | None:
    """The sweep of what Spark itself counts of each score and label, so that no row has to come to
    Python. None where the look was wrong, and there are many; or where something is wrong with the
    rows: whoever reads them can say which."""
    from pyspark.sql.functions import count, lit

    both = (col_of(columns.label).alias("y"), col_of(columns.score).alias("s"))
    frame = source.frame.select(*both).groupBy("y", "s").agg(count(lit(1)).alias("n"))
    parts = parallelism(source.spark)
    with (
        in_a_sentence(),
        settings(source.spark, shuffle_partitions=parts),
        ignore_pandas_warnings(),
    ):
        table = frame.limit(_COUNTED).toArrow().combine_chunks()
    if table.num_rows == _COUNTED:
        return None
    try:
        for chunk in chunks([Located(b, "") for b in table.to_batches()], "ysn", "y", _COUNTED):
            c = chunk.columns
            y, positive, _ = encode_labels(c["y"], columns.positive)
            s = _sweep(y, c["s"], c["n"], positive)
            # Whole numbers add up exactly as floats, too.
            return Sweep(s.threshold, s.pos.astype(np.int64), s.neg.astype(np.int64))
    except DataError:
        pass
    return None


def _reduce_ranges(
    frame: DataFrame, bounds: Floats, columns: Columns, compact: bool
) -> list[Sweep]:
    """The sweep of each range, upwards."""
    slots = len(bounds) + 1
    messages = collect(map_tasks(shuffle(frame, slots), _Merge(compact)))
    one_other(_other_labels(messages), columns.label)
    messages.sort(key=lambda message: message.slot)
    return [unpack(message.blob) for message in messages if message.blob is not None]


def _merge_bins(messages: list[Message], columns: Columns, nothing: BinnedSweep) -> BinnedSweep:
    one_other(_other_labels(messages), columns.label)
    s = merged([unpack(message.blob) for message in messages if message.blob is not None])
    pos, neg = nothing.bin_pos.copy(), nothing.bin_neg.copy()
    if columns.weight is not None:
        pos, neg = pos.astype(np.float64), neg.astype(np.float64)
    bins = s.threshold.astype(np.int64)
    pos[bins], neg[bins] = s.pos, s.neg
    return BinnedSweep(pos, neg, sum(message.rows for message in messages))


@dataclass(frozen=True)
class _Note:
    """What a task tells the driver of a piece: the other label, how many entries, some of them."""

    other: str | None
    entries: int
    sample: Floats

    def write(self) -> str:
        return f"{self.entries};{self.sample.tobytes().hex()};{self.other or ''}"

    @classmethod
    def read(cls, note: str | None) -> _Note:
        entries, sample, other = (note or "0;;").split(";", 2)
        return cls(other or None, int(entries), np.frombuffer(bytes.fromhex(sample)))


def _other_labels(messages: Iterable[Message]) -> Iterator[str]:
    return (
        other
        for message in messages
        for other in (_Note.read(message.note).other or "").split("\n")
        if other
    )


@dataclass(frozen=True)
class _Work:
    """The task that makes sweeps of rows: of all their scores, or of bins."""

    columns: Columns
    squares: bool
    bits: int | None = None
    bounds: Floats | None = None

    def cut_at(self, bounds: Floats) -> _Work:
        return replace(self, bounds=bounds)

    def __call__(self, task: int, batches: Iterable[Located]) -> Iterator[pa.RecordBatch]:
        some = chunks(batches, self.columns.names, [self.columns.label], _CHUNK)
        return send(
            self._exact_messages(task, some) if self.bits is None else self._bins(task, some), task
        )

    def _exact_messages(self, task: int, some: Iterable[Chunk]) -> Iterator[Message]:
        small: Sweep | None = None
        number = rows = 0
        others: set[str] = set()
        for chunk in some:
            s, other = chunk.locate_errors(self._sweep_chunk)
            if 4 * len(s) > chunk.rows:
                yield from self._message(s, chunk.rows, {other}, task, number)
                number += 1
                continue
            # Few different scores: all chunks of the task make one piece.
            small = s if small is None else small + s
            rows += chunk.rows
            others.add(other)
        if small is not None:
            yield from self._message(small, rows, others, task, number)

    def _message(
        self, s: Sweep, rows: int, others: set[str], task: int, number: int
    ) -> Iterator[Message]:
        note = _Note("\n".join(sorted(others - {""})), len(s), s.threshold[_EVERY // 2 :: _EVERY])
        at = origin(task, number)
        if self.bounds is None:
            yield Message(0, at, rows, note.write(), blob=pack(s))
            return
        yield from _pieces(s, self.bounds, at, note.other)

    def _sweep_chunk(self, c: dict[str, NDArray[Any]]) -> tuple[Sweep, str]:
        y, positive, other = encode_labels(c[self.columns.label], self.columns.positive)
        s = _sweep(y, c[self.columns.score], self._weight(c), positive, squares=self.squares)
        return s, other or ""

    def _weight(self, c: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
        return None if self.columns.weight is None else c[self.columns.weight]

    def _bins(self, task: int, some: Iterable[Chunk]) -> Iterator[Message]:
        assert self.bits is not None
        weighted = self.columns.weight is not None
        pos, neg = (np.zeros(2**self.bits, np.float64 if weighted else np.int64) for _ in "pn")
        kernel: Any = _native.weighted_bin if weighted else _native.bin
        rows, others = 0, set()

        def add(c: dict[str, NDArray[Any]]) -> str:
            y, positive, other = encode_labels(c[self.columns.label], self.columns.positive)
            run_kernel(
                check_rows(y, c[self.columns.score], self._weight(c), positive), kernel, pos, neg
            )
            return other or ""

        for chunk in some:
            others.add(chunk.locate_errors(add))
            rows += chunk.rows
        # A sweep whose scores are the numbers of the bins: it travels and adds up like others.
        at = np.flatnonzero((pos > 0) | (neg > 0))[::-1]
        note = _Note("\n".join(sorted(others - {""})), len(at), np.empty(0))
        blob = pack(Sweep(at.astype(np.float64), pos[at], neg[at]))
        yield Message(0, origin(task, 0), rows, note.write(), blob=blob)


def _pieces(s: Sweep, bounds: Floats, at: int, other: str | None) -> Iterator[Message]:
    """A message for each range that a sweep has something in."""
    for slot, piece in enumerate(split(s, bounds)):
        if len(piece):
            note = _Note(other, len(piece), np.empty(0)).write()
            yield Message(slot, at, note=note, blob=pack(piece))


@dataclass(frozen=True)
class _Cut:
    """The task that cuts sweeps at bounds."""

    bounds: Floats

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = begin_task()
        for message in receive(batches):
            if message.blob is not None:
                pieces = _pieces(unpack(message.blob), self.bounds, message.origin, None)
                yield from send(pieces, task)


@dataclass(frozen=True)
class _Merge:
    """The task that adds up what it gets of each range, or of several: slots are hashes there."""

    compact: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return send(self._messages(batches), begin_task())

    def _messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
        by_slot: dict[int, list[Message]] = {}
        for message in in_order(receive(batches)):
            by_slot.setdefault(message.slot, []).append(message)
        for slot, messages in by_slot.items():
            blobs = [message.blob for message in messages if message.blob is not None]
            s = added(blobs, compact=self.compact)
            others = "\n".join(sorted(set(_other_labels(messages))))
            note = _Note(others, len(s), np.empty(0)).write()
            yield Message(slot, slot, note=note, blob=pack(s))
