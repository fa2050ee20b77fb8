"""How many tasks and ranges a job has: one formula for ten rows and for 10¹²."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Blobs of one shuffle: Spark's driver keeps track of each pair of a task and a range.
BLOBS = 1 << 24
# Neither tasks nor ranges exceed its root.
MOST = 1 << 12
# Rows of a task, and entries of a range, as long as there are fewer than MOST of them.
TASK = 1 << 23
RANGE = 1 << 22
# Rows that a task sorts at a time: at least CHUNK, and at most so many parts of a task.
CHUNK = 1 << 21
PARTS = 16
# Of each range the sample has so many values, from so many row groups.
_VALUES = 64
_GROUPS = 8
# A sample has as many at least.
_LEAST = 1 << 14


@dataclass(frozen=True)
class Plan:
    """Tasks, ranges, and the rows that a task sorts at a time.

    Examples
    --------
    >>> from cutscore.spark.plans import plan
    >>> plan(10**7, 2)
    Plan(tasks=2, ranges=3, chunk=2097152)
    >>> plan(10**12, 1000)
    Plan(tasks=4000, ranges=4096, chunk=15625000)
    """

    tasks: int
    ranges: int
    chunk: int

    @property
    def blobs(self) -> int:
        """What the shuffle moves at most: a blob for each task and range."""
        return self.tasks * self.ranges


def plan(rows: int, at_a_time: int) -> Plan:
    """The plan for so many rows where so many tasks run at a time."""
    tasks = count_tasks(rows, at_a_time)
    return Plan(tasks, count_ranges(rows, at_a_time), max(CHUNK, -(-rows // (tasks * PARTS))))


def count_tasks(rows: int, at_a_time: int) -> int:
    """Whole rounds of tasks of at most TASK rows, but no more than MOST tasks."""
    rounds = -(-rows // (TASK * at_a_time)) or 1
    return min(rounds, max(MOST // at_a_time, 1)) * at_a_time


def count_ranges(entries: int, at_a_time: int) -> int:
    """Ranges of about RANGE entries, but no more than MOST ranges."""
    return min(max(-(-entries // RANGE), min(at_a_time, entries >> 18), 1), MOST)


def picked(rows: Sequence[int], ranges: int) -> NDArray[np.int64]:
    """How many values of each row group are in the sample that sets the bounds of ranges.

    Row groups are picked by size, evenly over all rows: files that are sorted by score have some
    for every range.

    Examples
    --------
    >>> from cutscore.spark.plans import picked
    >>> picked([100, 300, 0], 2).tolist()
    [4096, 12288, 0]
    """
    sizes = np.asarray(rows, np.int64)
    total = int(sizes.sum())
    if not total:
        return np.zeros(len(sizes), np.int64)
    picks = max(32, _GROUPS * ranges)
    at = (np.arange(picks) + 0.5) * (total / picks)
    group = np.searchsorted(np.cumsum(sizes), at, side="right")
    each = -(-max(_LEAST, _VALUES * ranges) // picks)
    return np.bincount(group, minlength=len(sizes)) * each


def spread(rows: int, values: int, start: float) -> NDArray[np.int64]:
    """Every k-th of so many rows, from a random start in [0, 1) on.

    Examples
    --------
    >>> from cutscore.spark.plans import spread
    >>> spread(10, 3, 0.5).tolist()
    [1, 5, 8]
    """
    if values >= rows:
        return np.arange(rows)
    return ((np.arange(values) + start) * (rows / values)).astype(np.int64)
