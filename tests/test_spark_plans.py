"""Plans of jobs on a cluster at any size: the functions that plan them, without a cluster."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cutscore as cs

pytest.importorskip("pyspark")

from cutscore.spark import plans, sweeps
from cutscore.spark.blobs import in_order, receive
from cutscore.spark.columns import Columns, Located
from cutscore.spark.errors import in_a_sentence
from cutscore.spark.sources import Files, RowGroup, _files, _tasks
from cutscore.spark.sweeps import _Merge, _Work
from cutscore.tables.scans.runs import quantiles, separate, stacked, stored, unpack

TRILLION = 10**12


def synthetic_groups(n: int = 120_000) -> list[RowGroup]:
    """10¹² rows in files of one row group each: the longest list of paths."""
    rows = TRILLION // n
    groups = [
        RowGroup(f"/data/scores/day=2026-01-01/part-{k:06}.parquet", 0, 1, rows) for k in range(n)
    ]
    return [*groups[:-1], groups[-1]._replace(rows=TRILLION - rows * (n - 1))]


@pytest.mark.parametrize("at_a_time", [64, 1000, 4000])
def test_a_plan_for_a_trillion_rows(at_a_time: int) -> None:
    groups = synthetic_groups()
    planned = plans.plan(TRILLION, at_a_time)
    tasks = _tasks(groups, at_a_time)
    assert len(tasks) == planned.tasks
    assert [group for task in tasks for group in task] == groups
    assert 3_900 <= planned.tasks <= 4_096
    assert planned.ranges == 4_096
    assert planned.blobs <= plans.BLOBS
    # A task has no more than its share, and knows of no other's files.
    rows = [sum(group.rows for group in task) for task in tasks]
    assert max(rows) <= 1.1 * TRILLION / planned.tasks
    assert max(len(pickle.dumps(task)) for task in tasks) < 5_000
    # What a task holds: packed sweeps of its rows, and a chunk that is being sorted.
    assert max(rows) * 6 + planned.chunk * 58 < 3 << 30
    assert planned.chunk * plans.PARTS >= TRILLION / planned.tasks
    # To cut off and pack a piece takes some 20 µs: few nanoseconds for each of its entries.
    assert planned.chunk / planned.ranges > 3_000


@pytest.mark.parametrize("order", ["random", "inside row groups", "globally"])
def test_ranges_of_a_trillion_rows_are_balanced(order: str) -> None:
    """Scores are uniform, so that the width of a range is its share of the rows."""
    groups = synthetic_groups()
    ranges = plans.plan(TRILLION, 1000).ranges
    sizes = [group.rows for group in groups]
    values = plans.picked(sizes, ranges)
    assert (values > 0).sum() <= 8 * ranges  # of 120,000: a quarter is read
    rng = np.random.default_rng(0)
    sample = []
    for k in np.flatnonzero(values):
        at = plans.spread(sizes[k], int(values[k]), float(rng.random())) / sizes[k]
        if order == "random":
            at = rng.random(len(at))
        sample.append((k + at) / len(groups) if order == "globally" else at)
    found = np.concatenate(sample)
    assert found.nbytes < 1 << 23
    bounds = quantiles(found, ranges)
    widths = np.diff(np.concatenate(([0.0], bounds, [1.0])))
    assert len(widths) == ranges
    assert widths.max() * ranges < 2


@pytest.mark.parametrize(("rows", "at_a_time"), [(0, 1), (1, 8), (10**7, 2), (10**9, 16)])
def test_plans_of_fewer_rows(rows: int, at_a_time: int) -> None:
    planned = plans.plan(rows, at_a_time)
    assert planned.tasks % at_a_time == 0
    assert planned.tasks * plans.TASK >= rows
    assert planned.ranges * plans.RANGE >= rows
    assert planned.chunk == plans.CHUNK


def test_more_tasks_at_a_time_than_a_shuffle_bears() -> None:
    assert plans.plan(TRILLION, 10_000).tasks == 10_000  # no core is left without one


# --------------------------------------------------------------------------------------- samples


def scores_in_order(order: str, n: int = 200_000) -> Any:
    s = np.random.default_rng(0).normal(size=n)
    if order == "inside row groups":
        return np.sort(s.reshape(20, -1), axis=1).ravel()
    if order == "few scores":
        return np.round(s, 1)
    return np.sort(s) if order == "globally" else s


@pytest.mark.parametrize("order", ["random", "inside row groups", "globally", "few scores"])
def test_a_sample_of_files_in_any_order(order: str, tmp_path: Any) -> None:
    s = scores_in_order(order)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"s": s}), path, row_group_size=10_000)
    groups = [RowGroup(str(path), k, 20, 10_000) for k in range(20)]
    sample = Files(None, [groups], len(s)).sample("s", 8)
    bounds = quantiles(sample, 8)
    share = np.bincount(np.searchsorted(bounds, s, side="right"), minlength=8) / len(s)
    # A score that many rows share can't be cut.
    most = np.unique(s, return_counts=True)[1].max() / len(s)
    assert share.max() < 1.3 / 8 + most


def test_row_groups_are_picked_by_size() -> None:
    values = plans.picked([10_000] + [10] * 1_000, 4)
    assert abs(values[0] / values.sum() - 0.5) < 0.05
    assert plans.picked([0, 0], 4).tolist() == [0, 0]


# --------------------------------------------------------------------------------- map and reduce


def run_tasks(s: Any, y: Any, bounds: Any, **options: Any) -> list[pa.RecordBatch]:
    work = _Work(Columns("y", "s"), False, **options).cut_at(np.asarray(bounds))
    out: list[pa.RecordBatch] = []
    for k, (a, b) in enumerate(((0, 700), (700, 2_000))):
        batches = [
            Located(pa.RecordBatch.from_pydict({"y": y[i : i + 100], "s": s[i : i + 100]}), "here")
            for i in range(a, b, 100)
        ]
        out += work(k, batches)
    return out


def test_one_blob_for_each_task_and_range() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 2_000), rng.normal(size=2_000)
    sent = list(receive(run_tasks(s, y, [-1.0, 0.0, 1.0], chunk=200)))
    assert sorted(message.slot for message in sent) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert max(len(separate(message.blob)) for message in sent if message.blob) == 7


def test_a_range_that_is_too_large_is_cut_by_its_reducer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "RANGE", 100)
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 2_000), rng.normal(size=2_000)
    # As if the sample had been wrong: nearly all rows are in one range.
    batches = run_tasks(s, y, [-9.0, 9.0], chunk=200)
    found = in_order(receive(_Merge(False)(batches)))
    sizes = [len(stored(message.blob)[0]) for message in found if message.blob]
    assert 18 <= len(sizes) <= 24
    assert max(sizes) < 200
    merged = stacked([unpack(message.blob) for message in found if message.blob])
    expected = cs.sweep(y, s)
    assert np.array_equal(merged.threshold, expected.threshold)
    assert np.array_equal(merged.pos, expected.pos)
    assert np.array_equal(merged.neg, expected.neg)


def test_few_scores_are_counted_and_many_are_not_sent() -> None:
    y, s = np.arange(2_000) % 2, np.arange(2_000) // 2 % 10 + 0.0
    work = _Work(Columns("y", "s"), False, most=10, chunk=200)
    batch = pa.RecordBatch.from_pydict({"y": y, "s": s})
    (message,) = receive(work(0, [Located(batch, "here")]))
    assert len(unpack(message.blob)) == 10
    many = pa.RecordBatch.from_pydict({"y": y, "s": np.arange(2_000.0)})
    (message,) = receive(work(0, [Located(many, "here")]))
    assert message.blob is None


# ----------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("compact", "hint"),
    [(False, "Pass compact=True or binned=True."), (True, "Pass binned=True.")],
)
def test_the_advice_is_what_was_not_passed(
    monkeypatch: pytest.MonkeyPatch, compact: bool, hint: str
) -> None:
    hints: list[str] = []
    for name in ("map_tasks", "shuffle"):
        monkeypatch.setattr(sweeps, name, lambda *_: None)
    monkeypatch.setattr(sweeps, "collect", lambda _, too_large: hints.append(too_large) or [])
    assert sweeps._merge_slots(None, 3, compact=compact) == []  # type: ignore[arg-type]
    assert hints == [hint]


def test_folders_with_columns_in_their_names_are_for_spark(tmp_path: Any) -> None:
    (tmp_path / "day=1").mkdir()
    pq.write_table(pa.table({"y": [1], "s": [0.5]}), tmp_path / "day=1" / "a.parquet")
    with pytest.raises(cs.DataError, match="is partitioned") as error:
        _files([tmp_path], ["y", "s"], None)  # type: ignore[arg-type]
    assert f"Pass a DataFrame: spark.read.parquet('{tmp_path}')." in str(error.value)


def test_the_deadline_counts_from_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    from unittest.mock import MagicMock

    from pyspark.sql import SparkSession

    from cutscore.spark import sessions

    seconds: list[float] = []
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    for name in ("_check_java", "_check_master", "_start_java"):
        monkeypatch.setattr(sessions, name, lambda *_: None)
    monkeypatch.setattr(sessions, "_make_session", lambda _: MagicMock())
    monkeypatch.setattr(sessions, "_in_time", lambda *asked: seconds.append(asked[1]))
    sessions.session("spark://host:7077", deadline=5)
    assert seconds == [5 + sessions._DRIVER, 5]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Total size of serialized results of 9 tasks", "Try that. Raise spark.driver.maxResult"),
        ('Cannot run program "python9": error=2, No such file', "Set PYSPARK_PYTHON to a Python"),
        ("[PYTHON_VERSION_MISMATCH] worker has 3.8", "Set PYSPARK_PYTHON to a Python"),
        ("ModuleNotFoundError: No module named 'cutscore'", "that PYSPARK_PYTHON names"),
    ],
)
def test_sentences_name_the_setting(said: str, words: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(cs.spark.SparkError, match=words), in_a_sentence("Try that."):
        raise PySparkException(said)
