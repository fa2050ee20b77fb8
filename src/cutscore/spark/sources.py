"""Where the rows are: Parquet files that tasks read themselves, or any DataFrame."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import shown, spelled
from cutscore.core.findings.cluster import RowsChanged, SparkFailed
from cutscore.core.findings.tables import FolderUnfit
from cutscore.core.names import missing_column_error
from cutscore.spark.blobs import (
    Message,
    begin_task,
    changed,
    collect,
    map_tasks,
    receive,
    send,
    shuffle,
)
from cutscore.spark.columns import Located
from cutscore.spark.plans import count_tasks, picked, spread
from cutscore.tables import open_table
from cutscore.tables.formats.parquet import UNREADABLE, cut_off, damaged
from cutscore.tables.parts import plain

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame, SparkSession

# Rows that pyarrow hands on at a time.
_BATCH = 1 << 16
# Rows of a sample that the driver reads by itself rather than start a job.
_HERE = 1 << 24
# Steps of a plan that hand on rows one by one.
_CHEAP = {"Project", "Filter", "Union", "LogicalRelation", "InMemoryRelation", "Range"}
# Options of a reader that say nothing but which files.
_HARMLESS = {"path", "__paths__", "pathglobfilter", "recursivefilelookup"}


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A Parquet file, a folder of them, a pattern, or a list of these."""

Work = Callable[[int, Iterable[Located]], Iterator[pa.RecordBatch]]
"""What a task does: from its number and its batches to messages."""


class RowGroup(NamedTuple):
    """A row group of a file."""

    path: str
    number: int
    of: int
    rows: int

    @property
    def where(self) -> str:
        return f"row group {self.number + 1} of {self.of} of {spelled(self.path)}"


@dataclass(frozen=True)
class Files:
    """Parquet files as a list of tasks, each of row groups that follow each other."""

    spark: Any
    tasks: list[list[RowGroup]]
    rows: int

    @property
    def groups(self) -> list[RowGroup]:
        return [group for task in self.tasks for group in task]

    def messages(self, work: Work, names: Sequence[str]) -> DataFrame:
        """A frame of what the tasks send; ``work(task, batches)`` yields it."""
        run = _FilesTask(work, list(names))
        return map_tasks(_one_each(self.spark, [pickle.dumps(task) for task in self.tasks]), run)

    def sample(self, name: str, ranges: int) -> NDArray[Any]:
        """Some values of a column: every k-th of row groups that are picked by their size."""
        groups = self.groups
        values = picked([group.rows for group in groups], ranges).tolist()
        some = [
            Sampled(group, n, k) for k, (group, n) in enumerate(zip(groups, values, strict=True))
        ]
        some = [one for one in some if one.values]
        if sum(one.group.rows for one in some) <= _HERE:
            with ThreadPoolExecutor() as threads:
                parts = list(threads.map(lambda one: draw([one], name), some))
        else:
            # As many tasks as run at a time, four times over: row groups differ.
            tasks = -(-len(some) // (4 * parallelism(self.spark)))
            sent = [pickle.dumps(some[k : k + tasks]) for k in range(0, len(some), tasks)]
            found = collect(map_tasks(_one_each(self.spark, sent), _DrawTask(name)))
            parts = [np.frombuffer(m.blob) for m in found if m.blob is not None]
        return np.concatenate(parts) if parts else np.empty(0)


class Sampled(NamedTuple):
    """A row group of which so many values are drawn."""

    group: RowGroup
    values: int
    seed: int


def draw(some: Sequence[Sampled], name: str) -> NDArray[np.float64]:
    """Numbers of a column: every k-th of each row group, from a random start on."""
    parts = [np.empty(0)]
    for group, values, seed in some:
        start = float(np.random.default_rng(seed).random())
        wanted = spread(group.rows, values, start)
        before = 0
        for batch, _ in read([group], [name]):
            low, high = np.searchsorted(wanted, (before, before + batch.num_rows))
            at = pa.array(wanted[low:high] - before)
            column = plain(batch.column(0).take(at).drop_null())
            found = np.asarray(column.to_numpy(zero_copy_only=False))
            if found.dtype.kind in "biuf":
                parts.append(found.astype(np.float64))
            before += batch.num_rows
    out = np.concatenate(parts)
    return np.asarray(out[~np.isnan(out)])


def _one_each(spark: SparkSession, blobs: Sequence[bytes]) -> DataFrame:
    """A frame of as many partitions as blobs, each of which has its own and no other."""
    n = len(blobs)
    table = pa.table({"slot": pa.array(range(n), pa.int32()), "blob": pa.array(blobs, pa.binary())})
    rows = pa.Table.from_batches([b for k in range(n) for b in table.slice(k, 1).to_batches()])
    # Spark makes a partition of each batch, but for small tables.
    with changed(spark, {"spark.sql.execution.arrow.localRelationThreshold": "0"}):
        frame = spark.createDataFrame(rows)
    try:
        fits = spark.sparkContext is not None
    except Exception:  # Spark Connect cuts it in its own way
        fits = False
    return frame if fits else shuffle(frame, n)


@dataclass(frozen=True)
class _DrawTask:
    name: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begin_task()
        for message in receive(batches):
            assert message.blob is not None
            values = draw(pickle.loads(message.blob), self.name)
            yield from send([Message(0, message.slot, blob=values.tobytes())], message.slot)


@dataclass(frozen=True)
class Frame:
    """Any DataFrame."""

    spark: Any
    frame: Any

    def messages(self, work: Work, names: Sequence[str]) -> DataFrame:
        """As :meth:`Files.messages`."""
        # By number: a name with a dot is taken for a field of a struct.
        columns = [col_of(name).alias(f"c{k}") for k, name in enumerate(names)]
        return map_tasks(self.frame.select(*columns), _FrameTask(work, list(names)))

    def is_cheap(self) -> bool:
        """Whether some of its rows cost little: nothing has to be shuffled, or run in Python, for
        them."""
        from py4j.protocol import Py4JError

        try:
            left = [self.frame._jdf.queryExecution().optimizedPlan()]
            while left:
                plan = left.pop()
                if _class_name(plan) not in _CHEAP:
                    return False
                children = plan.children()
                left += [children.apply(k) for k in range(children.size())]
        except (AttributeError, Py4JError):
            return False
        return True


@dataclass(frozen=True)
class _FilesTask:
    work: Any
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begin_task()
        for message in receive(batches):
            assert message.blob is not None
            yield from self.work(message.slot, read(pickle.loads(message.blob), self.names))


@dataclass(frozen=True)
class _FrameTask:
    work: Any
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = begin_task()
        where = f"partition {number} of the DataFrame"
        named = (Located(batch.rename_columns(self.names), where) for batch in batches)
        yield from self.work(number, named)


def col_of(name: str) -> Any:
    """A column of a DataFrame, whatever its name."""
    from pyspark.sql.functions import col

    return col(quote_name(name))


def quote_name(name: str) -> str:
    """A column's name for Spark, which takes dots for fields of structs."""
    return "`" + name.replace("`", "``") + "`"


def read(groups: Iterable[RowGroup], names: Sequence[str], size: int = _BATCH) -> Iterator[Located]:
    """The rows of row groups, some at a time."""
    for path, some in groupby(groups, attrgetter("path")):
        try:
            file = pq.ParquetFile(path, buffer_size=1 << 20)
        except FileNotFoundError:
            rule = f"there is no file {spelled(path)} on {os.uname().nodename}"
            hint = (
                "Files have to be where every executor can read them under the same name; else "
                "pass spark.read.parquet(…)."
            )
            raise DataError(SparkFailed(rule, hint)) from None
        except UNREADABLE as error:
            raise DataError(cut_off(path, error)) from None
        with file:
            for group in some:
                yield from _batches(file, group, names, size)


def _batches(
    file: pq.ParquetFile, group: RowGroup, names: Sequence[str], size: int
) -> Iterator[Located]:
    if group.number >= file.num_row_groups:
        raise DataError(RowsChanged(spelled(group.path)))
    rest = file.iter_batches(
        size, row_groups=[group.number], columns=list(names), use_threads=False
    )
    while True:
        try:
            batch = next(rest, None)
        except UNREADABLE as error:
            raise damaged(spelled(group.path), group.number, group.of, error) from None
        if batch is None:
            return
        # "a" also brings "a.b" along, should there be one.
        yield Located(batch.select(list(names)), group.where)


def open_source(
    data: DataFrame | Paths, names: Sequence[str], spark: SparkSession | None = None
) -> Files | Frame:
    """What was handed in: a DataFrame, or the paths of Parquet files."""
    for name in names:
        if not isinstance(name, str):
            raise DataError(BadArgument("columns", "be names", name, subject="columns"))
    if hasattr(data, "mapInArrow"):
        frame: Any = data
        _check_names(names, frame.columns, "the DataFrame")
        return _local_files(frame, names) or Frame(frame.sparkSession, frame)
    spark = spark or _active()
    several = [data] if isinstance(data, (str, os.PathLike)) else data
    if not isinstance(several, Iterable):
        rule = "be a Spark DataFrame, or paths of Parquet files"
        raise DataError(BadArgument("data", rule, data))
    several = list(several)
    if any(isinstance(path, str) and "://" in path for path in several):
        # HDFS, S3 and such: Spark has the keys and the libraries.
        frame = spark.read.parquet(*(os.fspath(path) for path in several))
        _check_names(names, frame.columns, shown(data))
        return Frame(spark, frame)
    return _files(several, names, spark)


def _local_files(frame: DataFrame, names: Sequence[str]) -> Files | None:
    """The files that a DataFrame is nothing but columns of, if tasks can read them themselves."""
    paths = _plain_files(frame)
    if paths is None:
        return None
    try:
        return _files(paths, names, frame.sparkSession)
    except DataError:  # Spark may make more of them, or has to say why not
        return None


def _active() -> SparkSession:
    from pyspark.sql import SparkSession

    from cutscore.spark.sessions import session

    return SparkSession.getActiveSession() or session()


def _check_names(names: Sequence[str], known: Sequence[str], where: str) -> None:
    for name in names:
        if name not in known:
            raise missing_column_error(name, list(known), where)


def _files(
    paths: Sequence[str | os.PathLike[str]], names: Sequence[str], spark: SparkSession
) -> Files:
    """Tasks of row groups. That all files have these columns, and in them the same kind of values,
    is seen here, from the ends of the files."""
    try:
        source = open_table(paths, format="parquet", columns=list(dict.fromkeys(names)))
    except DataError as error:
        if isinstance(error.finding, FolderUnfit):
            raise DataError(replace(error.finding, cluster=True)) from None
        raise
    source.types(list(dict.fromkeys(names)))
    groups = []
    for file in source.paths:
        meta = pq.read_metadata(file)
        path = os.path.abspath(file)
        of = meta.num_row_groups
        groups += [RowGroup(path, k, of, meta.row_group(k).num_rows) for k in range(of)]
    return Files(spark, _tasks(groups, parallelism(spark)), sum(group.rows for group in groups))


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at a time."""
    try:
        return max(int(spark.sparkContext.defaultParallelism), 1)
    except Exception:  # Spark Connect does not say
        return 8


def _tasks(groups: Sequence[RowGroup], at_a_time: int) -> list[list[RowGroup]]:
    rows = sum(group.rows for group in groups)
    # Of about the same size each.
    target = rows / count_tasks(rows, at_a_time)
    tasks: list[list[RowGroup]] = []
    before = 0
    for group in groups:
        # By its middle, so that the last task is no crumb.
        number = int((before + group.rows / 2) / target) if target else 0
        if not tasks or number >= len(tasks):
            tasks.append([])
        tasks[-1].append(group)
        before += group.rows
    return tasks or [[]]


def _plain_files(frame: DataFrame) -> list[str] | None:
    """Paths of the local Parquet files that the plan of a DataFrame only takes columns of."""
    from py4j.protocol import Py4JError

    try:
        if not _only_selects_columns(frame):
            return None
        found = [urlsplit(uri) for uri in frame.inputFiles()]
    except (AttributeError, Py4JError):  # Spark Connect has no plan here; other versions, others
        return None
    if not found or any(uri.scheme != "file" for uri in found):
        return None
    # Spark lists them by size; here they come in the order of their names.
    paths = sorted(unquote(uri.path) for uri in found)
    return paths if all(map(os.path.exists, paths)) else None


def _only_selects_columns(frame: DataFrame) -> bool:
    plan = frame._jdf.queryExecution().optimizedPlan()
    while _class_name(plan) == "Project":
        fields = plan.projectList()
        if any(_class_name(fields.apply(k)) != "AttributeReference" for k in range(fields.size())):
            return False
        plan = plan.child()
    if _class_name(plan) != "LogicalRelation" or _class_name(plan.relation()) != "HadoopFsRelation":
        return False
    relation = plan.relation()
    if (
        _class_name(relation.fileFormat()) != "ParquetFileFormat"
        or relation.partitionSchema().size()
    ):
        return False
    # Options that make Spark skip files must keep doing so.
    conf = frame.sparkSession.conf
    given = relation.options().keySet().mkString("\n").splitlines()
    return set(given) <= _HARMLESS and not any(
        conf.get(f"spark.sql.files.ignore{what}Files") == "true" for what in ("Corrupt", "Missing")
    )


def _class_name(of: JavaObject) -> str:
    name: str = of.getClass().getSimpleName()
    return name
