"""Rows for learners, as the partitions of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce as folded
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.core.checks import check_rows
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings import BadArgument, Where, dumps, loads
from cutscore.core.findings.cluster import RowsChanged, SparkFailed
from cutscore.core.findings.rows import NoRows
from cutscore.core.findings.statistics import NotFinite
from cutscore.linear.rows import Block, one_thread_blas
from cutscore.spark.blobs import (
    Message,
    begin_task,
    ignore_pandas_warnings,
    origin,
    send,
    settings,
)
from cutscore.spark.columns import Chunk, Located, chunks, encode_labels, one_other
from cutscore.spark.errors import SparkError, in_a_sentence
from cutscore.spark.sources import Files, Frame, Paths, RowGroup, open_source, read
from cutscore.sweeps.sweep import area

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_S = TypeVar("_S")

# Numbers in a block.
_BLOCK = 1 << 20
# Summaries of more partitions than that are first merged on executors.
_PARTS = 64


def rows(  # noqa: PLR0913 - names of columns
    data: DataFrame | Paths,
    *,
    features: Sequence[str],
    label: str,
    weight: str | None = None,
    positive: Hashable = None,
    spark: SparkSession | None = None,
) -> SparkRows:
    """Rows on a cluster, for the learners in :mod:`cutscore.linear`.

    The DataFrame is computed once. Its rows are kept on the executors, in memory or, if necessary,
    on disk, until ``unpersist()`` or the end of a ``with`` block.

    Parameters
    ----------
    data : DataFrame, path or sequence of paths
        As in :func:`cutscore.spark.sweep`. A row of weight 0 is left out.
    label : str
        As in :func:`cutscore.spark.sweep`. A row of weight 0 is left out.
    weight : str, optional
        As in :func:`cutscore.spark.sweep`. A row of weight 0 is left out.
    positive : label, optional
        As in :func:`cutscore.spark.sweep`. A row of weight 0 is left out.
    spark : SparkSession, optional
        As in :func:`cutscore.spark.sweep`. A row of weight 0 is left out.
    features : sequence of str
        Columns of finite numbers; the weights are in the same order. They are neither scaled nor
        encoded.

    Returns
    -------
    SparkRows
        Float32 where all features are, else float64.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import mean_difference
    >>> spark = cs.spark.session("local[2]")
    >>> frame = spark.createDataFrame([(0.0, 1.0, 0), (2.0, 1.0, 1)], ["a", "b", "y"])
    >>> with cs.spark.rows(frame, features=["a", "b"], label="y") as rows:
    ...     mean_difference(rows).detector
    LinearDetector(w=[2, 0], b=-2)
    """
    if isinstance(features, str) or not isinstance(features, Sequence) or not features:
        rule = "be a list of columns, at least one"
        raise DataError(BadArgument("features", rule, features))
    wanted = [*features, label, *(() if weight is None else (weight,))]
    for k, name in enumerate(wanted):
        if name in wanted[:k]:
            rule = "have one role only: feature, label or weight"
            raise DataError(BadArgument("features", rule, name, subject="a column"))
    source = open_source(data, wanted, spark)
    make = _Make(list(features), label, weight, positive)
    return SparkRows(source, make, wanted)


class SparkRows:
    """Rows in the partitions of a cluster; see :func:`cutscore.spark.rows`.

    Functions are sent to the rows, and summaries are sent back. If a partition is lost and
    recomputed, it must be identical; a DataFrame whose rows or order change is an error.
    """

    def __init__(self, source: Files | Frame, make: _Make, names: Sequence[str]) -> None:
        self._context = _context(source.spark)
        self.features = len(make.features)
        with in_a_sentence(), settings(source.spark, self.features + 2):
            self._blocks = _persist_blocks(source, make, names)
            try:
                heads = self._blocks.mapPartitionsWithIndex(_head_of).collect()
            except BaseException:
                self.unpersist()
                raise
        self._plan = _Plan.of(heads)
        self._sent = self._context.broadcast(self._plan)
        try:
            for _, blocks in sorted(heads):
                for block in blocks:
                    if block.error is not None:
                        raise DataError(loads(block.error))
            others = (block.other for _, blocks in heads for block in blocks)
            one_other(others, make.label)
            if not len(self):
                raise DataError(NoRows("a table"))
        except DataError:
            self.unpersist()
            raise

    def __len__(self) -> int:
        return self._plan.rows

    def __repr__(self) -> str:
        parts = len(self._plan.parts)
        return (
            f"SparkRows: {len(self):,} rows of {self.features:,} features in {parts:,} partitions"
        )

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """The summaries of all blocks, merged in the order of the rows."""
        task = _Task(self._sent, _Summaries(summarise, merge))
        out: _S = folded(merge, self._results(task, merge))
        return out

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """Fold the blocks of each partition in order, each starting from its own copy of
        ``start``."""
        return list(self._results(_Task(self._sent, _Steps(step, start)), None))

    def _results(self, task: _Task, merge: Callable[[Any, Any], Any] | None) -> list[Any]:
        parts = max(self._plan.parts, default=0) + 1
        results = self._blocks.mapPartitionsWithIndex(task)
        if merge is not None and parts > _PARTS:
            # As many on each executor as go to the driver then.
            width = int(np.ceil(np.sqrt(parts)))
            results = (
                results.map(_KeyByRange(width))
                .partitionBy(-(-parts // width), int)
                .mapPartitions(_MergeResults(merge))
            )
        with in_a_sentence():
            found = sorted(results.collect(), key=lambda result: result.part)
        for result in found:
            if result.error is not None:
                raise result.error
        return [result.value for result in found]

    def unpersist(self) -> None:
        """Release the rows on the executors."""
        self._blocks.unpersist()
        if hasattr(self, "_sent"):
            self._sent.unpersist()

    def __enter__(self) -> SparkRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def __reduce__(self) -> tuple[Any, ...]:
        # Functions that travel may hold the table without a need for it.
        return _Elsewhere, (self.features, len(self))


class _Elsewhere:
    """What is left of SparkRows inside of a task."""

    def __init__(self, features: int, rows: int) -> None:
        self.features, self._rows = features, rows

    def __len__(self) -> int:
        return self._rows

    def reduce(self, *_: object) -> Any:
        rule = "a summary of a block can't start a pass of its own over all rows"
        raise SparkError(SparkFailed(rule))

    fold = reduce


class Packed(NamedTuple):
    """A block on its way, or what is wrong with it."""

    rows: int
    fingerprint: int
    other: str | None = None
    error: str | None = None
    dtype: str = "f8"
    X: bytes = b""
    y: bytes = b""
    weight: bytes | None = None

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        ones: NDArray[np.bool_],
        weight: NDArray[Any] | None,
        other: str | None = None,
    ) -> Packed:
        """A block of rows, without those of weight 0."""
        if weight is not None and not (weight > 0).all():
            some = np.flatnonzero(weight > 0)
            X, ones, weight = X[some], ones[some], weight[some]
        w = None if weight is None else weight.astype(np.float64).tobytes()
        x, y = X.tobytes(), ones.tobytes()
        fingerprint = crc32(w or b"", crc32(y, crc32(x)))
        return cls(len(X), fingerprint, other, None, X.dtype.str, x, y, w)

    @property
    def head(self) -> Packed:
        """The same without its rows."""
        return self._replace(X=b"", y=b"", weight=None)

    def block(self, start: int) -> Block:
        X = np.frombuffer(self.X, self.dtype).reshape(self.rows, -1)
        weight = None if self.weight is None else np.frombuffer(self.weight, np.float64)
        return Block(X, np.frombuffer(self.y, np.bool_), weight, start)


@dataclass(frozen=True)
class _Make:
    """The task that makes blocks of columns."""

    features: list[str]
    label: str
    weight: str | None
    positive: Any

    def __call__(self, task: int, batches: Iterable[Located]) -> Iterator[pa.RecordBatch]:
        """For Spark's frames: blocks as blobs."""
        return send(
            (
                Message(0, origin(task, k), block.rows, blob=pickle.dumps(block, 5))
                for k, block in enumerate(self.blocks(batches))
            ),
            task,
        )

    def blocks(self, batches: Iterable[Located]) -> Iterator[Packed]:
        """Blocks; an error is one, too."""
        names = [*self.features, self.label, *(() if self.weight is None else (self.weight,))]
        size = max(_BLOCK // len(self.features), 64)
        try:
            for chunk in chunks(_split_batches(batches, size), names, [self.label], size):
                block = self._block(chunk)
                if block.rows:
                    yield block
        except DataError as error:
            yield Packed(0, 0, error=dumps(error.finding))

    def _block(self, chunk: Chunk) -> Packed:
        return chunk.locate_errors(self._pack)

    def _pack(self, c: dict[str, NDArray[Any]]) -> Packed:
        columns = [c[name] for name in self.features]
        narrow = all(column.dtype == np.float32 for column in columns)
        X = np.empty((len(columns[0]), len(columns)), np.float32 if narrow else np.float64)
        for k, column in enumerate(columns):
            X[:, k] = column
        if not np.isfinite(X).all():
            row, k = np.argwhere(~np.isfinite(X))[0].tolist()
            place = Where(int(row), column=self.features[k])
            raise DataError(NotFinite(self.features[k], X[row, k], where=place))
        y, positive, other = encode_labels(c[self.label], self.positive)
        weight = None if self.weight is None else c[self.weight]
        found = check_rows(y, np.zeros(len(X)), weight, positive)
        area(found)  # the core finds what is wrong with labels and weights
        return Packed.of(X, np.asarray(found.label == found.positive), weight, other)


def _split_batches(batches: Iterable[Located], most: int) -> Iterator[Located]:
    """Batches of no more rows than that."""
    for batch, where in batches:
        for k in range(0, batch.num_rows, most):
            yield Located(batch.slice(k, most), where)


def _context(spark: SparkSession) -> Any:
    try:
        return spark.sparkContext
    except Exception:
        rule = "rows for learners are kept by executors, which Spark Connect can't access"
        hint = "Start the program as the driver: spark-submit, or cutscore.spark.session(master)."
        raise SparkError(SparkFailed(rule, hint)) from None


def _persist_blocks(source: Files | Frame, make: _Make, names: Sequence[str]) -> Any:
    """Blocks of all partitions, computed when first asked for and kept."""
    from pyspark import StorageLevel

    if isinstance(source, Files):
        tasks = _context(source.spark).parallelize(source.tasks, len(source.tasks))
        blocks = tasks.mapPartitions(_ReadBlocks(make, list(names)))
    else:
        with ignore_pandas_warnings():
            blocks = source.messages(make, names).select("error", "blob").rdd.map(_unpack)
    return blocks.persist(StorageLevel.MEMORY_AND_DISK)


@dataclass(frozen=True)
class _ReadBlocks:
    make: _Make
    names: list[str]

    def __call__(self, tasks: Iterable[Sequence[RowGroup]]) -> Iterator[Packed]:
        begin_task()
        for groups in tasks:
            yield from self.make.blocks(read(groups, self.names))


def _unpack(row: Row) -> Packed:
    if row.error is not None:
        return Packed(0, 0, error=row.error)
    out: Packed = pickle.loads(row.blob)
    return out


def _head_of(part: int, blocks: Iterable[Packed]) -> Iterator[tuple[int, list[Packed]]]:
    found = [block.head for block in blocks]
    if found:
        yield part, found


@dataclass(frozen=True)
class _Plan:
    """Where the blocks of each partition stand among all rows, and their fingerprints."""

    parts: dict[int, tuple[int, list[int]]]
    rows: int

    @classmethod
    def of(cls, heads: Iterable[tuple[int, list[Packed]]]) -> _Plan:
        parts, start = {}, 0
        for part, blocks in sorted(heads, key=lambda one: one[0]):
            parts[part] = (start, [block.fingerprint for block in blocks])
            start += sum(block.rows for block in blocks)
        return cls(parts, start)


class _Result(NamedTuple):
    part: int
    value: Any = None
    error: CutscoreError | None = None


@dataclass(frozen=True)
class _Task:
    """One pass over the blocks of a partition."""

    plan: Any
    make: Any

    def __call__(self, part: int, blocks: Iterable[Packed]) -> Iterator[_Result]:
        begin_task()
        if part not in self.plan.value.parts:
            if next(iter(blocks), None) is not None:
                yield _Result(part, error=_changed_error(part))
            return
        try:
            with one_thread_blas():
                value = self.make(self._check_blocks(part, blocks))
        except CutscoreError as error:
            yield _Result(part, error=error)
            return
        yield _Result(part, value)

    def _check_blocks(self, part: int, blocks: Iterable[Packed]) -> Iterator[Block]:
        start, expected = self.plan.value.parts[part]
        number = 0
        for number, packed in enumerate(blocks, 1):
            if number > len(expected) or packed.fingerprint != expected[number - 1]:
                raise _changed_error(part)
            yield packed.block(start)
            start += packed.rows
        if number != len(expected):
            raise _changed_error(part)


def _changed_error(part: int) -> DataError:
    return DataError(RowsChanged(f"partition {part}, which was lost and computed again,"))


@dataclass(frozen=True)
class _Summaries:
    summarise: Any
    merge: Any

    def __call__(self, blocks: Iterable[Block]) -> Any:
        return folded(self.merge, map(self.summarise, blocks))


@dataclass(frozen=True)
class _Steps:
    step: Any
    start: Any

    def __call__(self, blocks: Iterable[Block]) -> Any:
        return folded(self.step, blocks, self.start)


@dataclass(frozen=True)
class _KeyByRange:
    width: int

    def __call__(self, result: _Result) -> tuple[int, _Result]:
        return result.part // self.width, result


@dataclass(frozen=True)
class _MergeResults:
    """Results of partitions that follow each other as one."""

    merge: Any

    def __call__(self, pairs: Iterable[tuple[int, _Result]]) -> Iterator[_Result]:
        found = sorted((result for _, result in pairs), key=lambda result: result.part)
        wrong = [result for result in found if result.error is not None]
        if wrong:
            yield wrong[0]
        elif found:
            yield _Result(found[0].part, folded(self.merge, [result.value for result in found]))
