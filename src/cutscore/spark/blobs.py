"""What tasks send: rows of one blob each, or of one error. A shuffle moves few of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from cutscore.core.errors import DataError
from cutscore.core.findings import dumps, loads
from cutscore.spark.errors import in_a_sentence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "slot int, origin bigint, rows bigint, note string, error string, blob binary"
_ARROW = pa.schema(
    [
        ("slot", pa.int32()),
        ("origin", pa.int64()),
        ("rows", pa.int64()),
        ("note", pa.string()),
        ("error", pa.string()),
        ("blob", pa.binary()),
    ]
)
# Bytes of blobs that are sent together: a batch costs the same whatever is in it.
_SEND = 1 << 22
# The largest number of pieces of one task.
_PIECES = 1 << 24


Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""A task: from the batches of a partition to batches of messages."""


class Message(NamedTuple):
    """One row of what tasks send."""

    slot: int
    """Which reducer it goes to."""
    origin: int
    """Where its rows stand among all: what is added up in this order is the same every time."""
    rows: int = 0
    note: str | None = None
    error: str | None = None
    blob: bytes | None = None


def origin(task: int, piece: int) -> int:
    """The place of a piece of a task in the order of all rows."""
    return task * _PIECES + piece


def send(messages: Iterable[Message], task: int) -> Iterator[pa.RecordBatch]:
    """Messages as Spark takes them. What is wrong with the data is a message, too: to raise would
    make Spark try again, and bury the sentence."""
    held: list[Message] = []
    size = 0
    try:
        for message in messages:
            held.append(message)
            size += len(message.blob or b"")
            if size >= _SEND:
                yield _batch(held)
                held, size = [], 0
    except DataError as error:
        held.append(Message(0, origin(task, _PIECES - 1), error=dumps(error.finding)))
    if held:
        yield _batch(held)


def _batch(messages: Sequence[Message]) -> pa.RecordBatch:
    columns = zip(*messages, strict=True)
    arrays = [pa.array(column, t) for column, t in zip(columns, _ARROW.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def receive(batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
    """The messages in batches, or in a table. Blobs are not copied."""
    for batch in batches:
        blobs = batch.column("blob") if "blob" in batch.schema.names else None
        names = [name for name in batch.schema.names if name != "blob"]
        small = batch.select(names).to_pylist()
        for k, row in enumerate(small):
            blob = None if blobs is None else blobs[k].as_buffer()
            view: Any = None if blob is None else memoryview(blob)
            yield Message(**{"origin": 0, **row}, blob=view)


def in_order(messages: Iterable[Message]) -> list[Message]:
    """The messages in the order of their rows; the first error, if there is one, is raised."""
    out = sorted(messages, key=lambda message: message.origin)
    for message in out:
        if message.error is not None:
            raise DataError(loads(message.error))
    return out


def map_tasks(frame: DataFrame, task: Task) -> DataFrame:
    """A frame of the messages that tasks make of the rows of another."""
    with ignore_pandas_warnings():
        return frame.mapInArrow(task, _SCHEMA)


def collect(frame: DataFrame, *, too_large: str = "") -> list[Message]:
    """All messages of a frame, on the driver; what to do where they are too large for it."""
    with in_a_sentence(too_large), settings(frame.sparkSession), ignore_pandas_warnings():
        table = frame.toArrow()
    return in_order(receive(table.to_batches()))


def shuffle(frame: DataFrame, slots: int) -> DataFrame:
    """Messages where those of one slot are together."""
    if hasattr(frame, "repartitionById"):
        return frame.repartitionById(slots, "slot")
    return frame.repartition(slots, "slot")


@contextmanager
def ignore_pandas_warnings() -> Iterator[None]:
    """PySpark's worries about the version of pandas are not the user's: no frame of it is made."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas.*")
        yield


@contextmanager
def settings(
    spark: SparkSession, columns: int = 4, *, shuffle_partitions: int | None = None
) -> Iterator[None]:
    """Batches of many rows but few bytes, while this lasts: a batch that goes from Spark to Python
    costs the same whatever is in it."""
    most = min(200_000, max((1 << 23) // columns, 64))
    wanted = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(most),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    }
    if shuffle_partitions is not None:
        wanted["spark.sql.shuffle.partitions"] = str(shuffle_partitions)
    with changed(spark, wanted):
        yield


@contextmanager
def changed(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """A session with other settings, while this lasts."""
    with ExitStack() as after:
        for name, value in wanted.items():
            before = spark.conf.get(name, None)
            after.callback(_set_back, spark, name, before)
            spark.conf.set(name, value)
        yield


def _set_back(spark: SparkSession, name: str, value: str | None) -> None:
    if value is None:
        spark.conf.unset(name)
    else:
        spark.conf.set(name, value)


def begin_task() -> int:
    """For the start of a task: as many threads as it has CPUs. Which partition it is."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:  # called outside of Spark
        return 0
    os.environ.setdefault("CUTSCORE_THREADS", str(context.cpus()))
    return context.partitionId()
