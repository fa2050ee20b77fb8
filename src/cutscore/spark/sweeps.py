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
from cutscore.spark.blobs import (
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
from cutscore.spark.columns import Chunk, Columns, Located, chunks, encode_labels, one_other
from cutscore.spark.errors import in_a_sentence
from cutscore.spark.plans import CHUNK, RANGE, count_ranges, plan
from cutscore.spark.sources import Files, Frame, Paths, col_of, open_source, parallelism
from cutscore.sweeps.binned import BinnedSweep
from cutscore.sweeps.sweep import Floats, Sweep
from cutscore.sweeps.sweep import sweep as _sweep
from cutscore.tables.scans.runs import (
    added_columns,
    cut,
    merged,
    pack,
    quantiles,
    separate,
    split,
    stacked,
    stored,
    unpack,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Every so many entries of a chunk are sampled for the driver, which sets the bounds.
_EVERY = RANGE >> 6
# Bytes that the driver adds up by itself rather than start a shuffle.
_FEW = 1 << 24
# Bytes of an entry on its way, at most.
_ENTRY = 16
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
    """The sweep of a DataFrame or of Parquet files, computed on the executors.

    The counts are identical to those of :func:`cutscore.sweep` for the same rows. Each task sweeps
    its rows natively, a few million at a time, and sends one binary row for each range of scores.
    After a shuffle, one task adds up each range, and the driver concatenates the ranges. Sums of
    weights may differ in the last digit, because they are added in a different order.

    Parameters
    ----------
    data : DataFrame, path or sequence of paths
        A DataFrame; or the path of a Parquet file, a folder of them, a pattern, or a list of these.
        Tasks read files directly, which is about three times as fast as reading rows through Spark.
        They also do so for a DataFrame that only selects columns of local Parquet files.
    label, score : str
        Names of columns. What they may hold is said in :func:`cutscore.sweep`.
    weight : str, optional
        Names of columns. What they may hold is said in :func:`cutscore.sweep`.
    positive : label, optional
        The positive label, as in :func:`cutscore.sweep`.
    compact : bool, default False
        Merge runs of one class, see :meth:`cutscore.Sweep.compact`: the driver receives at most 2
        min(P, N) + 1 entries. Otherwise all distinct scores must fit into the driver's memory.
    binned, bits : bool and int
        A :class:`cutscore.BinnedSweep` of 2^bits bins instead: no shuffle, and an interval that
        certainly contains the AUC.
    squares : bool, default False
        Keep the sums of squared weights.
    ranges : int, optional
        Into how many ranges scores are cut; by default so many that each has some four million
        distinct scores, but no more than 4,096.
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
        return _merge_bins(_collect_bins(source, work), columns, nothing)
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
    """The sweeps of ranges, upwards. Bounds come from a sample that is read first."""
    at_a_time = parallelism(files.spark)
    planned = plan(files.rows, at_a_time)
    many = ranges or planned.ranges
    work = replace(work, chunk=planned.chunk)
    sample = files.sample(work.columns.score, many) if many > 1 else np.empty(0)
    most = _FEW // (_ENTRY * len(files.tasks))
    if ranges is None and 4 * len(np.unique(sample)) <= min(len(sample), 4 * most):
        counted = _count_few(files, replace(work, most=most))
        if counted is not None:
            return [counted], files.rows
    bounds = quantiles(sample, many)
    frame = files.messages(work.cut_at(bounds), work.columns.names)
    return _reduce_ranges(frame, bounds, work.columns, compact), files.rows


def _count_few(files: Files, work: _Work) -> Sweep | None:
    """The sum of what the tasks counted, where each found few scores; None if one found many."""
    messages = collect(files.messages(work, work.columns.names))
    if any(message.blob is None for message in messages):
        return None
    one_other(_other_labels(messages), work.columns.label)
    return merged([unpack(message.blob) for message in messages if message.blob is not None])


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
        # Without blobs: nobody knows yet how many bytes they have together.
        messages = collect(swept.select("slot", "origin", "rows", "note", "error"))
        one_other(_other_labels(messages), columns.label)
        rows = sum(message.rows for message in messages)
        size = sum(_Note.read(message.note).entries for message in messages)
        if ranges is None and _ENTRY * size <= _FEW:
            blobs = [message.blob for message in collect(swept)]
            return [merged([unpack(blob) for blob in blobs if blob is not None])], rows
        sample = np.concatenate([_Note.read(message.note).sample for message in messages])
        bounds = quantiles(sample, ranges or count_ranges(size, parallelism(source.spark)))
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
    messages = _merge_slots(frame, len(bounds) + 1, compact=compact)
    one_other(_other_labels(messages), columns.label)
    return [unpack(message.blob) for message in messages if message.blob is not None]


def _merge_slots(frame: DataFrame, slots: int, *, compact: bool) -> list[Message]:
    hint = "Pass binned=True." if compact else "Pass compact=True or binned=True."
    return collect(map_tasks(shuffle(frame, slots), _Merge(compact)), too_large=hint)


def _collect_bins(source: Files | Frame, work: _Work) -> list[Message]:
    """Bins of all tasks, or sums of them: executors add them up where the driver would receive too
    many."""
    assert work.bits is not None
    names = work.columns.names
    if isinstance(source, Files) and len(source.tasks) * _ENTRY << work.bits <= _FEW:
        return collect(source.messages(work, names))
    slots = min(parallelism(source.spark), 64, 1 << work.bits)
    bounds = np.asarray(np.arange(1, slots) * ((1 << work.bits) / slots), np.float64)
    return _merge_slots(source.messages(work.cut_at(bounds), names), slots, compact=False)


def _merge_bins(messages: list[Message], columns: Columns, nothing: BinnedSweep) -> BinnedSweep:
    one_other(_other_labels(messages), columns.label)
    s = merged([unpack(message.blob) for message in messages if message.blob])
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
    chunk: int = CHUNK
    """Rows that are sorted at a time."""
    most: int | None = None
    """Scores of a task that are few; of more it sends none."""

    def cut_at(self, bounds: Floats) -> _Work:
        return replace(self, bounds=bounds)

    def __call__(self, task: int, batches: Iterable[Located]) -> Iterator[pa.RecordBatch]:
        some = chunks(batches, self.columns.names, [self.columns.label], self.chunk)
        return send(
            self._exact_messages(task, some) if self.bits is None else self._bins(task, some), task
        )

    def _exact_messages(self, task: int, some: Iterable[Chunk]) -> Iterator[Message]:
        small: Sweep | None = None
        number = rows = 0
        others: set[str] = set()
        pieces = None if self.bounds is None else _Pieces(self.bounds)
        for chunk in some:
            s, other = chunk.locate_errors(self._sweep_chunk)
            others.add(other)
            if 4 * len(s) <= chunk.rows or self.most is not None:
                # Few different scores: all chunks of the task make one piece.
                small = s if small is None else small + s
                rows += chunk.rows
                if self.most is not None and len(small) > self.most:
                    yield Message(0, origin(task, 0))
                    return
            elif pieces is not None:
                pieces.add(s)
            else:
                yield self._message(s, chunk.rows, {other}, task, number)
                number += 1
        if pieces is not None:
            pieces.add(small)
            yield from pieces.messages(origin(task, 0), 0, others)
        elif small is not None:
            yield self._message(small, rows, others, task, number)

    def _message(self, s: Sweep, rows: int, others: set[str], task: int, number: int) -> Message:
        at = origin(task, number)
        note = _Note(_lines(others), len(s), _every(s.threshold, _EVERY, at))
        return Message(0, at, rows, note.write(), blob=pack(s))

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
        s = Sweep(at.astype(np.float64), pos[at], neg[at])
        pieces = _Pieces(np.empty(0) if self.bounds is None else self.bounds)
        pieces.add(s)
        yield from pieces.messages(origin(task, 0), rows, others)


def _lines(others: Iterable[str]) -> str:
    return "\n".join(sorted(set(others) - {""}))


def _every(scores: NDArray[Any], step: int, seed: int) -> Floats:
    """Every so many scores, from a start on that depends on the seed: pieces of any size have
    their share of a sample."""
    start = int(np.random.default_rng(seed).integers(step))
    return scores[start::step].astype(np.float64)


class _Pieces:
    """What a task sends: a blob for each range that it has scores in, whatever its rows."""

    def __init__(self, bounds: Floats) -> None:
        self.bounds = bounds
        self.blobs: dict[int, list[bytes]] = {}

    def add(self, s: Sweep | None) -> None:
        for slot, piece in enumerate([] if s is None else split(s, self.bounds)):
            if len(piece):
                self.blobs.setdefault(slot, []).append(pack(piece))

    def messages(self, at: int, rows: int, others: Iterable[str]) -> Iterator[Message]:
        """The first of them has the number of rows, and the labels."""
        note = _Note(_lines(others), 0, np.empty(0)).write()
        yield Message(0, at, rows, note, blob=b"".join(self.blobs.pop(0, [])))
        for slot in sorted(self.blobs):
            yield Message(slot, at, blob=b"".join(self.blobs.pop(slot)))


@dataclass(frozen=True)
class _Cut:
    """The task that cuts sweeps at bounds."""

    bounds: Floats

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = begin_task()
        pieces, at = _Pieces(self.bounds), None
        for message in receive(batches):
            if message.blob is not None:
                at = message.origin if at is None else min(at, message.origin)
                pieces.add(unpack(message.blob))
        if at is not None:
            yield from send(pieces.messages(at, 0, ()), task)


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
            rows = sum(message.rows for message in messages)
            note = _Note(_lines(_other_labels(messages)), 0, np.empty(0)).write()
            pieces = [
                stored(piece)
                for message in messages
                if message.blob is not None
                for piece in separate(message.blob)
            ]
            for k, some in enumerate(_narrow_ranges(pieces)):
                s = added_columns(some, compact=self.compact)
                yield Message(slot, origin(slot, k), 0 if k else rows, note, blob=pack(s))


def _narrow_ranges(pieces: list[list[Any]]) -> Iterator[list[Any]]:
    """Pieces of one range, cut further where they have too many entries together: a reducer holds
    what it adds up at a time, some fifty bytes for each entry."""
    entries = sum(len(piece[0]) for piece in pieces)
    if entries <= 2 * RANGE:
        yield pieces
        return
    step = max(entries >> 14, 1)
    sample = [_every(piece[0], step, k) for k, piece in enumerate(pieces)]
    bounds = quantiles(np.concatenate(sample), -(-entries // RANGE))
    parts = [cut(piece, bounds) for piece in pieces]
    for k in range(len(bounds) + 1):
        some = [part[k] for part in parts if len(part[k][0])]
        if some:
            yield some
