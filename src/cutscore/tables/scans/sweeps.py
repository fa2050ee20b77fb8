"""sweep_file: the sweep of a table in files, however large, within a limit of memory."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Lock
from typing import Any, Literal, overload

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import Columns, threads
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Conflict
from cutscore.core.labels import unknown_label_error
from cutscore.core.types import Label
from cutscore.sweeps.binned import BinnedSweep
from cutscore.sweeps.sweep import Sweep, adopt_counts, square_weights, sweep_of
from cutscore.tables.parts import Piece
from cutscore.tables.scans.groups import GroupNumbers
from cutscore.tables.scans.memory import Spill, limit_of
from cutscore.tables.scans.runs import merged, pack, unpack
from cutscore.tables.scans.scan import Batch, Scan, Source, workers_for

__all__ = ["sweep_file"]

# Told how many rows were read.
Report = Callable[[int], None]

# Bytes that readers of files take.
_READING = 96 << 20
# More groups than this have a sweep each no more; by_group counts them all.
_GROUPS = 100_000
# Rows that are sorted by group at a time, at least.
_GROUP_ROWS = 1 << 16
# Weighted rows of a group that are swept at a time.
_BLOCK_ROWS = 1 << 20

# Of fewer rows none are counted: the table that takes has to be made first.
_COUNTED = 1 << 17

# Where something is in a temporary file, and how long it is.
_Place = tuple[int, int]


@overload
def sweep_file(
    data: Source,
    *,
    label: str,
    score: str,
    binned: Literal[True],
    weight: str | None = None,
    group: None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    squares: bool = False,
    compact: bool = False,
    bits: int = 16,
    memory_limit: int | str | None = None,
    report: Report | None = None,
) -> BinnedSweep: ...
@overload
def sweep_file(
    data: Source,
    *,
    label: str,
    score: str,
    group: str | Sequence[str],
    weight: str | None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    squares: bool = False,
    compact: bool = False,
    binned: Literal[False] = False,
    bits: int = 16,
    memory_limit: int | str | None = None,
    report: Report | None = None,
) -> dict[Any, Sweep]: ...
@overload
def sweep_file(
    data: Source,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    group: None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    squares: bool = False,
    compact: bool = False,
    binned: Literal[False] = False,
    bits: int = 16,
    memory_limit: int | str | None = None,
    report: Report | None = None,
) -> Sweep: ...
def sweep_file(  # noqa: PLR0913 - what the columns are for, and how to go about it
    data: Source,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    group: str | Sequence[str] | None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    squares: bool = False,
    compact: bool = False,
    binned: bool = False,
    bits: int = 16,
    memory_limit: int | str | None = None,
    report: Report | None = None,
) -> Sweep | BinnedSweep | dict[Any, Sweep]:
    """The sweep of a table in files: read in batches, within a limit of memory, exact.

    It is the sweep that :func:`cutscore.sweep` makes of the columns in memory, to the last integer.

    Parameters
    ----------
    data
        A path, a pattern, a folder of Parquet files or a list of these, as for
        :func:`cutscore.tables.open_table`; a table that was opened; or a dataset of pyarrow.
    label, score, weight
        Columns, of which nothing else is read. Weights are optional.
    group : str or sequence of str, optional
        A column: a sweep for each of its values, by value; of several columns, by tuples. (For
        the AUC inside of millions of groups there is :func:`cutscore.by_group_file`.)
    positive, squares, compact
        As for :func:`cutscore.sweep`. A compact sweep of a rare class is small, however many rows
        there are.
    filter
        An expression of pyarrow, pushed down into Parquet and Arrow files: rows that do not satisfy
        it are left out, and row groups that have none that do are not read.
    binned, bits
        Instead of the exact sweep a :class:`cutscore.BinnedSweep` of 2^bits bins: constant memory,
        and an AUC that is certainly in an interval.
    memory_limit
        Bytes, or text such as "2 GB", beside what Python and its libraries take themselves (some
        120 MB); if it is not given, half of what is free. Rows are distributed over buckets of
        neighbouring scores as they come. Where they take more, buckets are written to a temporary
        file (in ``TMPDIR``: 4 or 8 bytes a row, 16 with weights), and read back to be sorted one
        after the other. A sweep that does not fit stays in another such file, 24 bytes for each
        distinct score, for as long as its arrays are in use; see the page *Scale* for what is in
        memory then. Sweeps of groups have to fit.
    report
        Called with the number of rows that were read so far.

    Raises
    ------
    DataError
        If a row breaks a rule of :func:`cutscore.sweep`, a file is damaged or files differ; the
        message names the file, the row group and the row. Also if a temporary file has no room, or
        sweeps of groups don't fit into the limit.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import cutscore as cs
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("fraud,score,country\\n1,0.9,at\\n0,0.4,at\\n1,0.35,de\\n0,0.2,de\\n")
    >>> cs.sweep_file(file, label="fraud", score="score")
    Sweep of 4 rows: 2 positive (50 %), 2 negative, 4 distinct scores from 0.2 to 0.9, AUC 0.75
    >>> cs.sweep_file(file, label="fraud", score="score", group="country")["de"].auc
    1.0
    >>> cs.sweep_file(file, label="fraud", score="score", binned=True).auc
    [0.75, 0.75] guaranteed
    """
    if binned and (group is not None or compact or squares):
        rule = "a binned sweep has neither groups nor runs nor squares"
        hint = "Drop {0}, or {1}, {2} and {3}."
        raise DataError(Conflict(("binned", "group", "compact", "squares"), rule, hint))
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 24:
        raise DataError(BadArgument("bits", "be an integer from 1 to 24", bits))
    limit = limit_of(memory_limit)
    scan = Scan(
        data,
        label=label,
        score=score,
        weight=weight,
        group=group,
        positive=positive,
        filter=filter,
    )
    if binned:
        return _binned(scan, bits, limit, _RowsRead(report))
    if group is not None:
        return _by_group(scan, _Plan(scan, limit, squares, compact), _RowsRead(report))
    return sweep_scan(scan, limit=limit, squares=squares, compact=compact, report=report)


def sweep_scan(
    scan: Scan,
    *,
    limit: int,
    squares: bool = False,
    compact: bool = False,
    report: Report | None = None,
) -> Sweep:
    """The exact sweep of what a scan reads."""
    s = _streamed(scan, _Plan(scan, limit, squares, compact), _RowsRead(report))
    # As for arrays: a part of the rows may lack the positive label, but not beside two others.
    if not s.P and len(scan.labels.others) > 1:
        raise unknown_label_error(
            scan.labels.positive, sorted(scan.labels.others, key=str), scan.labels.name
        )
    return s


class _RowsRead:
    """Adds up the rows that all threads have read, and reports the sum."""

    def __init__(self, report: Report | None) -> None:
        self.report, self.rows, self.lock = report, 0, Lock()

    def add(self, rows: int) -> None:
        if self.report is not None:
            with self.lock:
                self.rows += rows
                self.report(self.rows)


class _Plan:
    """How rows are kept and sorted within the limit."""

    def __init__(self, scan: Scan, limit: int, squares: bool, compact: bool) -> None:
        self.limit, self.compact = limit, compact
        self.weighted = scan.weight is not None
        self.squares = squares and self.weighted
        self.workers, self.threads = workers_for(len(scan.pieces)), threads()
        record = 16 if self.weighted else scan.dtype.itemsize
        # Rows and then entries: of a compact sweep there are fewer.
        of_rows, of_entries = (0.5, 0.25) if compact else (0.35, 0.3)
        self.pool = int(of_rows * (limit - _READING)) // (1 + self.squares)
        """Bytes of rows, before they are written to a file."""
        self.sorted = limit // 10 // self.threads // (3 * record)
        """Rows that a thread may sort at a time."""
        self.entry = 24 + (8 if compact else 0) + (16 if self.squares else 0)
        # As the native core keeps them, with keys, until all are counted.
        step = 16 + 2 * scan.dtype.itemsize
        self.entries = int(of_entries * limit) // max(self.entry, step * (1 + self.squares))
        """Of the sweep in memory, at most."""


class _Stream:
    """Rows of several threads: counted by score as long as there are few, and else distributed over
    buckets as they come."""

    def __init__(self, scan: Scan, plan: _Plan) -> None:
        self.scan, self.plan = scan, plan
        self.lock, self.begun = Lock(), False
        self.spills = [Spill() for _ in range(1 + plan.squares)]
        make: Any = _native.weighted_stream if plan.weighted else _native.stream
        self.streams = [
            make(scan.single, plan.workers, plan.pool, plan.sorted, spill.fileno())
            for spill in self.spills
        ]
        if plan.weighted or (scan.rows or _COUNTED) < _COUNTED:
            self.begin()

    def begin(self) -> None:
        """Choose buckets by a sample, unless another thread has done so."""
        with self.lock:
            if self.begun:
                return
            sample, rows = self.scan.sample(), self.scan.rows
            # Each has a cache line of its own that is being filled, beside the batch being
            # distributed.
            buckets = 1 << 11
            if rows is not None:
                each = min(max(rows // 256, 2048), 8192)
                buckets = 0 if rows < 16384 else min(rows // each, buckets)
            elif len(sample) < buckets:
                buckets = 0
            for stream in self.streams:
                stream.begin(sample, buckets)
            self.begun = True

    def add(self, worker: int, batch: Batch) -> None:
        """Rows of a worker: sums of weights go from the first worker's first to the last one's
        last."""
        weights: list[Any] = [batch.weight]
        if self.plan.squares:
            assert batch.weight is not None
            weights.append(square_weights(batch.weight))
        for stream, weight, spill in zip(self.streams, weights, self.spills, strict=True):
            for _ in range(2):
                with spill.guard():
                    if stream.add(worker, batch.score, batch.label, weight):
                        break
                self.begin()

    def sweep(self) -> Sweep:
        """The sweep, in memory or in a file; a file lasts as long as the arrays that show it."""
        plan, sweeps = self.plan, []
        for stream in self.streams:
            with closing(Spill()) as file, file.guard():
                threshold, pos, neg, top = stream.finish(
                    plan.threads, plan.compact, plan.entries, file.fileno()
                )
            s = adopt_counts(threshold, pos, neg)
            sweeps.append(replace(s, top=top) if len(top) else s)
        s, *rest = sweeps
        return replace(s, pos2=rest[0].pos, neg2=rest[0].neg) if rest else s

    def close(self) -> None:
        for spill in self.spills:
            spill.close()


def _streamed(scan: Scan, plan: _Plan, tell: _RowsRead) -> Sweep:
    stream = _Stream(scan, plan)
    numbers = iter(range(plan.workers))

    def read(worker: int, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            for batch in scan.read(piece):
                stream.add(worker, batch)
                tell.add(len(batch.score))

    def share(pieces: Iterator[tuple[int, Piece]]) -> None:
        read(next(numbers), (piece for _, piece in pieces))

    try:
        if plan.weighted:  # in the order of the rows
            deque(scan.in_runs(read, plan.workers, plan.workers), maxlen=0)
        else:
            scan.each(share, plan.workers)
        return stream.sweep()
    finally:
        stream.close()


def _binned(scan: Scan, bits: int, limit: int, tell: _RowsRead) -> BinnedSweep:
    weighted = scan.weight is not None

    def count(pieces: Iterable[Piece]) -> tuple[NDArray[Any], NDArray[Any], int]:
        pos, neg = (np.zeros(2**bits, np.float64 if weighted else np.int64) for _ in "pn")
        rows = 0
        for piece in pieces:
            for batch in scan.read(piece):
                if batch.weight is None:
                    _native.bin(batch.score, batch.label, 0.0, 1.0, 1, pos, neg)
                else:
                    _native.weighted_bin(
                        batch.score, batch.label, 0.0, 1.0, batch.weight, 1, pos, neg
                    )
                rows += len(batch.score)
                tell.add(len(batch.score))
        return pos, neg, rows

    # As many as have room for bins of their own.
    workers = max(1, min(workers_for(len(scan.pieces)), limit // 2 // (16 << bits)))
    if 16 << bits > limit:
        rule = f"hold 2**{bits} bins of two classes, {16 << bits:,} bytes"
        hint = "Use fewer bits, or a larger limit."
        raise DataError(BadArgument("memory_limit", rule, limit, hint))
    if weighted:
        # Runs that depend on the table alone, so that sums of weights do too; few, where there are
        # many bins to add up.
        runs = min(64, 1 << max(24 - bits, 0))
        parts = scan.in_runs(lambda _, pieces: count(pieces), runs, workers)
    else:
        parts = iter(scan.each(lambda numbered: count(piece for _, piece in numbered), workers))
    pos, neg, rows = next(parts)
    for more_pos, more_neg, more in parts:
        pos += more_pos
        neg += more_neg
        rows += more
    return BinnedSweep._adopt(pos, neg, rows)


def _by_group(scan: Scan, plan: _Plan, tell: _RowsRead) -> dict[Any, Sweep]:
    """A sweep for each value of a column: runs are sorted by it, and kept by value."""
    numbers, spill = GroupNumbers(), Spill()

    def codes(batch: Batch) -> NDArray[np.int64]:
        out = numbers.of(batch.groups)
        if len(numbers) > _GROUPS:
            rule = f"have at most {_GROUPS:,} different values for a sweep of each"
            hint = "Use by_group_file for the AUC within each."
            raise DataError(BadArgument("group", rule, ", ".join(scan.groups), hint))
        return out

    def work(_: int, pieces: Sequence[Piece]) -> list[tuple[int, _Place]]:
        # Rows as they are read, put together, in order, and as entries.
        size = max(plan.limit // plan.workers // 160, _GROUP_ROWS)
        rows: list[tuple[Batch, NDArray[np.int64]]] = []
        places: list[tuple[int, _Place]] = []
        n = 0
        for piece in pieces:
            for batch in scan.read(piece):
                rows.append((batch, codes(batch)))
                n += len(batch.score)
                tell.add(len(batch.score))
                if n >= size:
                    places += _keep(rows, spill)
                    rows, n = [], 0
        return [*places, *_keep(rows, spill)] if rows else places

    try:
        index: dict[int, list[_Place]] = defaultdict(list)
        for places in scan.in_runs(work, 4 * plan.workers, plan.workers):
            for g, where in places:
                index[g].append(where)
        out, entries = {}, 0
        for g, value in enumerate(numbers.values):
            blobs = (spill.read(*where) for where in index[g])
            if plan.weighted:
                blocks = _blocks(blobs, scan.dtype)
                s = merged([sweep_of(block, squares=plan.squares) for block in blocks])
            else:
                s = merged([unpack(blob) for blob in blobs])
            out[value] = s.compact() if plan.compact else s
            entries += len(out[value])
            if entries > plan.entries:
                rule = f"hold the sweeps of all groups, with more than {plan.entries:,} entries"
                hint = "Pass compact=True, a filter for some of the groups, or a larger limit."
                raise DataError(BadArgument("memory_limit", rule, plan.limit, hint))
    finally:
        spill.close()
    return dict(sorted(out.items(), key=lambda item: _order(item[0])))


def _keep(
    rows: list[tuple[Batch, NDArray[np.int64]]], spill: Spill
) -> Iterator[tuple[int, _Place]]:
    """Write rows to a file by their group, of which each has the number: as sweeps, or as rows
    where their weights are still to be added up in their order."""
    code = np.concatenate([own for _, own in rows])
    score = np.concatenate([batch.score for batch, _ in rows])
    label = np.concatenate([batch.label for batch, _ in rows])
    weights = [batch.weight for batch, _ in rows if batch.weight is not None]
    weight = np.concatenate(weights) if weights else None
    order = np.argsort(code, kind="stable")
    present, starts = np.unique(code[order], return_index=True)
    for g, some in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
        if weight is None:
            blob = pack(sweep_of(Columns(score[some], label[some], 0.0, 1.0, None, None)))
        else:
            blob = b"".join(column[some].tobytes() for column in (score, label, weight))
        with spill.guard():
            yield g, spill.write(blob)


def _blocks(blobs: Iterable[Any], dtype: np.dtype[Any]) -> Iterator[Columns]:
    """The rows of a group in blocks that depend on these alone, not on how they were kept: so do
    the sums of their weights."""
    held: list[tuple[NDArray[Any], ...]] = []
    n = 0
    for blob in blobs:
        rows = len(blob) // (dtype.itemsize + 9)
        score = np.frombuffer(blob, dtype, rows)
        label = np.frombuffer(blob, np.uint8, rows, score.nbytes)
        weight = np.frombuffer(blob, np.float64, rows, score.nbytes + rows)
        start = 0
        while start < rows:
            some = slice(start, min(rows, start + _BLOCK_ROWS - n))
            held.append((score[some], label[some], weight[some]))
            n, start = n + some.stop - start, some.stop
            if n == _BLOCK_ROWS:
                yield _columns(held)
                held, n = [], 0
    if held:
        yield _columns(held)


def _columns(held: list[tuple[NDArray[Any], ...]]) -> Columns:
    score, label, weight = (np.concatenate(column) for column in zip(*held, strict=True))
    return Columns(score, label, 0.0, 1.0, weight, None)


def _order(value: Label | tuple[Label, ...]) -> tuple[str, Any]:
    if isinstance(value, tuple):
        return ("", tuple(map(_order, value)))
    return ("", value) if isinstance(value, (int, float)) else (type(value).__name__, str(value))
