"""Where the work of a command is done: in memory, batch by batch, or on a cluster."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from cutscore.cli import shared
from cutscore.comparison.class_samples import MOST_SAMPLED, ClassSample
from cutscore.comparison.groups import GroupAuc
from cutscore.core.errors import DataError, UsageError
from cutscore.core.findings import BadArgument, Finding, LibraryMissing
from cutscore.core.findings.command import Usage
from cutscore.core.labels import BinaryLabels, one_versus_rest_note, unknown_label_error
from cutscore.sweeps.sweep import Sweep, sweep
from cutscore.tables import Table
from cutscore.tables.scans.memory import limit_of

Tell = Callable[[float, str], None]


class Swept(NamedTuple):
    """Sweeps of scores, and what else a summary is made of."""

    sweeps: dict[str, Sweep]
    rows: int | None = None
    groups: dict[str, GroupAuc] | None = None
    samples: tuple[ClassSample, ClassSample] | None = None
    note: Finding | None = None
    """What to say of the labels."""


def limit(arguments: Namespace) -> int:
    """The limit of memory in bytes."""
    try:
        return limit_of(arguments.memory_limit)
    except DataError as error:
        raise UsageError(error.finding) from None


def choose_engine(arguments: Namespace, table: Table, columns: int) -> str:
    """The engine that was named; or memory, if so many columns of the table fit into it well."""
    if arguments.master and arguments.engine != "spark":
        raise UsageError(Usage("--master applies only to --engine spark"))
    if arguments.memory_limit is not None:
        limit(arguments)
    if arguments.engine == "spark":
        _check_paths(arguments, table)
    if arguments.engine != "auto":
        if arguments.engine == "arrow" and table.is_sparse:
            rule = "libsvm files are read into memory"
            raise UsageError(Usage(rule, "Drop --engine arrow."))
        return str(arguments.engine)
    if table.is_sparse:
        return "memory"
    # Columns as they are read, in another type, and sorted. Text takes a multiple of its file.
    rows = table.rows
    bytes_ = 4 * table.size if rows is None else rows * columns * 8
    return "memory" if 3 * bytes_ <= limit(arguments) else "arrow"


def _check_paths(arguments: Namespace, table: Table) -> None:
    if arguments.sql is not None or not arguments.paths or "-" in arguments.paths:
        rule = "--engine spark reads Parquet files that executors can reach"
        raise UsageError(Usage(rule, "Pass their paths."))
    if table.rows is None:
        rule = f"--engine spark reads Parquet files; {table.where} is not one"
        raise UsageError(Usage(rule, "Convert it with cutscore.tables.write_table."))


def sweep_tables(
    arguments: Namespace,
    what: shared.Named,
    group: str | None = None,
    *,
    tell: Tell | None = None,
    compact: bool = False,
) -> Swept:
    """The sweeps of all scores; with several scores, what tests their differences. Compact ones,
    for large tables, where that will do."""
    engine = choose_engine(arguments, what.source, len(what.scores) + 2)
    if engine == "memory":
        rows = shared.rows(arguments, what)
        weighted = rows.weight is not None
        return Swept(
            {n: sweep(rows.y, s, rows.weight, squares=weighted) for n, s in rows.scores.items()},
            note=rows.note,
        )
    if engine == "arrow":
        return _by_arrow(arguments, what, group, tell, compact)
    with session(arguments) as spark:
        return _by_spark(arguments, what, group, tell, spark, compact)


def _by_arrow(
    arguments: Namespace, what: shared.Named, group: str | None, tell: Tell | None, compact: bool
) -> Swept:
    from cutscore.tables.scans.groups import by_group_file
    from cutscore.tables.scans.sample import draw
    from cutscore.tables.scans.scan import Scan
    from cutscore.tables.scans.sweeps import sweep_scan

    table, label, scores = what
    roles: dict[str, Any] = {
        "label": label,
        "weight": arguments.weight,
        "positive": arguments.positive,
    }
    most = limit(arguments)
    sweeps, groups = {}, {}
    passes = len(scores) * (2 if group else 1) + (len(scores) > 1)
    squares, rows, note = arguments.weight is not None, 0, None
    for k, name in enumerate(scores):
        scan = Scan(table, score=name, **roles)
        seen = _PassProgress(tell, name, k / passes, 1 / passes, scan.rows)
        sweeps[name] = sweep_scan(scan, limit=most, squares=squares, compact=compact, report=seen)
        rows = seen.rows
        if arguments.positive is not None and not k:
            note = _about_labels(arguments.positive, scan.labels, label, sweeps[name])
    if group:
        for k, name in enumerate(scores, len(scores)):
            if tell:
                tell(0.9 * k / passes, f"groups of {name}")
            groups[name] = by_group_file(table, score=name, group=group, memory_limit=most, **roles)
    samples = None
    if len(scores) > 1:
        if tell:
            tell(0.9 - 0.9 / passes, "comparing")
        samples = draw(table, scores=scores, most=MOST_SAMPLED, **roles)
    return Swept(sweeps, rows, groups or None, samples, note)


def _about_labels(positive: str, labels: Any, name: str, s: Sweep) -> Finding | None:
    found = BinaryLabels(np.empty(0, np.bool_), positive, sorted(labels.others, key=str))
    if not s.P:
        raise unknown_label_error(positive, found.others, name)
    return one_versus_rest_note(found, name)


class _PassProgress:
    """Counts the rows of one pass, and reports the progress over all passes."""

    def __init__(
        self, tell: Tell | None, name: str, start: float, share: float, expected: int | None
    ) -> None:
        self.tell, self.name, self.start, self.share = tell, name, start, share
        self.expected, self.rows = expected, 0

    def __call__(self, done: int) -> None:
        self.rows = done
        if self.tell is not None:
            part = min(done / self.expected, 1.0) if self.expected else 0.5
            self.tell(0.9 * (self.start + self.share * part), f"{self.name}: {done:,} rows")


# -------------------------------------------------------------------------------------- the cluster


@contextmanager
def session(arguments: Namespace) -> Iterator[Any]:
    """A session of Spark, ended afterwards."""
    if not arguments.deadline > 0:
        raise UsageError(BadArgument("deadline", "be above 0", arguments.deadline))
    try:
        from cutscore import spark as engine
    except ImportError:
        raise DataError(LibraryMissing("--engine spark", "PySpark", "spark")) from None
    from pyspark import SparkContext

    # Where somebody has one already, as a notebook that calls main(), it stays theirs. (A session
    # is active in one thread only; there is one context for all.)
    own = SparkContext._active_spark_context is None
    made = engine.session(arguments.master, deadline=arguments.deadline)
    try:
        yield made
    finally:
        if own:
            made.stop()


def _by_spark(  # noqa: PLR0913, PLR0917 - as above
    arguments: Namespace,
    what: shared.Named,
    group: str | None,
    tell: Tell | None,
    spark: Any,
    compact: bool,
) -> Swept:
    from cutscore import spark as engine
    from cutscore.spark.sample import draw
    from cutscore.tables.scans.scan import as_label

    table, label, scores = what
    positive = arguments.positive
    if positive is not None:
        positive = as_label(positive, table.types([label]).field(label).type, label)
    roles: dict[str, Any] = {
        "label": label,
        "weight": arguments.weight,
        "positive": positive,
        "spark": spark,
    }
    sweeps: dict[str, Any] = {}
    groups = {}
    steps = len(scores) * (2 if group else 1) + (len(scores) > 1)
    for k, name in enumerate(scores):
        if tell:
            tell(0.05 + 0.85 * k / steps, f"{name} on {spark.sparkContext.master}")
        squares = arguments.weight is not None
        sweeps[name] = engine.sweep(
            arguments.paths, score=name, squares=squares, compact=compact, **roles
        )
    if group:
        for k, name in enumerate(scores, len(scores)):
            if tell:
                tell(0.05 + 0.85 * k / steps, f"groups of {name}")
            groups[name] = engine.by_group(arguments.paths, score=name, group=group, **roles)
    samples = None
    if len(scores) > 1:
        samples = draw(arguments.paths, scores=scores, most=MOST_SAMPLED, **roles)
    return Swept(sweeps, table.rows, groups or None, samples)
