"""Spark on this machine: the same numbers as in memory, and errors in one sentence."""

from __future__ import annotations

import pickle
import socket
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutscore as cs
from clusters import local_session, needs_spark
from cutscore.core.findings.statistics import Undefined
from cutscore.linear import ArrayRows
from cutscore.linear.logistic import logistic
from cutscore.linear.perceptron import perceptron
from cutscore.tables.scans.runs import stacked, unpack
from raising import finding
from strategies import Case
from strategies import rows as drawn_rows

pytest.importorskip("pyspark")

import cutscore.spark
from cutscore.spark import SparkError, sources
from cutscore.spark import sweeps as sweeping
from cutscore.spark.blobs import in_order, receive
from cutscore.spark.columns import Columns, Located, chunks, encode_labels
from cutscore.spark.partitions import _head_of, _Make, _Plan, _Steps, _Summaries, _Task
from cutscore.spark.sources import RowGroup, _plain_files, _tasks
from cutscore.spark.sweeps import _Cut, _Merge, _Work

pytestmark = [needs_spark, pytest.mark.filterwarnings("ignore:.*pandas")]


@pytest.fixture(scope="module")
def spark() -> Any:
    return local_session()


def same(a: Any, b: Any) -> bool:
    """Whether two sweeps are the same in every array."""
    names = ("threshold", "pos", "neg", "pos2", "neg2", "top")
    pairs = [(getattr(a, name), getattr(b, name)) for name in names]
    return all(
        (p is None and q is None) or (p.dtype == q.dtype and np.array_equal(p, q)) for p, q in pairs
    )


# ---------------------------------------------------------------- the rows, as Spark may have them


def written(path: Path, columns: dict[str, Any], group: int = 700) -> str:
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return str(path)


def as_paths(_: Any, path: str) -> Any:
    return path


def as_plain(spark: Any, path: str) -> Any:
    frame = spark.read.parquet(path)
    assert _plain_files(frame) == [path]
    return frame


def as_frame(spark: Any, path: str) -> Any:
    frame = spark.read.parquet(path).repartition(3)
    assert _plain_files(frame) is None
    return frame


WAYS: list[Callable[[Any, str], Any]] = [as_paths, as_plain, as_frame]
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def case(n: int = 3000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    s = np.round(rng.normal(size=n) + y, 2)
    s[:6] = np.inf, -np.inf, 0.0, -0.0, np.inf, -np.inf
    return {"y": y.astype(np.int8), "s": s, "w": rng.integers(0, 4, n) / 2.0}


# ----------------------------------------------------------------------------------------- sweeps


@ways
@pytest.mark.parametrize("compact", [False, True])
def test_the_integers_of_memory(spark: Any, tmp_path: Path, way: Any, compact: bool) -> None:
    columns = case()
    data = way(spark, written(tmp_path / "a.parquet", columns))
    s = cs.sweep(columns["y"], columns["s"])
    for ranges in (None, 4):
        found = cs.spark.sweep(
            data, label="y", score="s", compact=compact, ranges=ranges, spark=spark
        )
        assert same(found, s.compact() if compact else s)


@ways
def test_weights_squares_and_bins(spark: Any, tmp_path: Path, way: Any) -> None:
    columns = case()
    data = way(spark, written(tmp_path / "a.parquet", columns))
    y, s, w = columns.values()
    # Halves add up exactly, in any order.
    found = cs.spark.sweep(data, label="y", score="s", weight="w", squares=True, ranges=3)
    assert same(found, cs.sweep(y, s, w, squares=True))
    for weight, array in ((None, None), ("w", w)):
        found = cs.spark.sweep(data, label="y", score="s", weight=weight, binned=True, bits=12)
        b = cs.BinnedSweep.of(y, s, array, bits=12)
        assert np.array_equal(found.bin_pos, b.bin_pos)
        assert np.array_equal(found.bin_neg, b.bin_neg)
        assert found.bin_pos.dtype == b.bin_pos.dtype
        assert (found.rows, found.auc) == (b.rows, b.auc)


LABELS = {
    "-1/1": (lambda y: np.where(y, 1, -1), None),
    "bool": (lambda y: y.astype(bool), None),
    "float": (lambda y: y.astype(float), None),
    "text": (lambda y: np.where(y, "bad", "good").tolist(), "bad"),
    "numbers": (lambda y: np.where(y, 7, 3), 7),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(spark: Any, tmp_path: Path, kind: str) -> None:
    columns = case()
    make, positive = LABELS[kind]
    expected = cs.sweep(columns["y"], columns["s"])
    # All positives first: tasks may have one label only.
    order = np.argsort(-columns["y"], kind="stable")
    y = make(columns["y"][order])
    path = written(tmp_path / "a.parquet", {"y": y, "s": columns["s"][order]}, group=100)
    for data in (path, as_frame(spark, path)):
        found = cs.spark.sweep(data, label="y", score="s", positive=positive)
        assert same(found, expected)


def test_scores_of_every_kind(spark: Any, tmp_path: Path) -> None:
    y = [1, 0, 1, 0]
    for scores in (
        pa.array([1, 3, 2, 2], pa.int64()),
        pa.array([1, 3, 2, 2], pa.float32()),
        pa.array([True, False, True, True]),
        pa.array([1, 3, 2, 2], pa.int32()).cast(pa.decimal128(12, 2)),
    ):
        path = written(tmp_path / "a.parquet", {"y": y, "s": scores})
        expected = cs.sweep(y, scores.cast(pa.float64()).to_numpy())
        for data in (path, as_frame(spark, path)):
            assert same(cs.spark.sweep(data, label="y", score="s"), expected)


def test_no_rows(spark: Any, tmp_path: Path) -> None:
    none = {name: a[:0] for name, a in case().items()}
    path = written(tmp_path / "a.parquet", none)
    for data in (path, as_frame(spark, path)):
        assert same(cs.spark.sweep(data, label="y", score="s"), cs.sweep([], []))
        weighted = cs.spark.sweep(data, label="y", score="s", weight="w")
        assert same(weighted, cs.sweep([], [], []))


def test_folders_names_with_dots_and_many_files(spark: Any, tmp_path: Path) -> None:
    columns = case()
    folder = tmp_path / "a folder, 100 %"
    folder.mkdir()
    for k in range(3):
        some = slice(k * 1000, (k + 1) * 1000)
        parts = {"my.y": columns["y"][some], "my.s": columns["s"][some].astype(np.float64)}
        written(folder / f"{k}.parquet", parts)
    expected = cs.sweep(columns["y"], columns["s"])
    frame = spark.read.parquet(str(folder))
    assert len(_plain_files(frame) or []) == 3
    for data in (folder, sorted(folder.iterdir()), frame, frame.repartition(2)):
        assert same(cs.spark.sweep(data, label="my.y", score="my.s"), expected)


def test_frames_that_are_more_than_files(spark: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", case())
    frame = spark.read.parquet(path)
    assert _plain_files(frame.select("s", "y")) == [path]
    for other in (
        frame.where("s > 0"),
        frame.selectExpr("y", "w as s"),
        frame.limit(10),
        frame.union(frame),
        spark.read.option("ignoreCorruptFiles", "true").parquet(path),
        spark.range(3),
    ):
        assert _plain_files(other) is None
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert _plain_files(spark.read.parquet(path)) is None
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_the_session_is_left_as_it_was(spark: Any, tmp_path: Path) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    frame = as_frame(spark, written(tmp_path / "a.parquet", case()))
    spark.conf.set(name, "77")
    try:
        cs.spark.sweep(frame, label="y", score="s", ranges=2)
        with pytest.raises(cs.DataError):
            cs.spark.sweep(frame, label="s", score="y")
        assert spark.conf.get(name) == "77"
    finally:
        spark.conf.unset(name)
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def test_scores_that_many_rows_share_are_counted_by_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = case(20_000)
    path = written(tmp_path / "a.parquet", {"my.y": columns["y"], "s": columns["s"]})
    frame = spark.read.parquet(path)
    cheap = frame.selectExpr("`my.y`", "s + 0D as s")
    assert sources.Frame(spark, cheap).is_cheap()
    assert not sources.Frame(spark, cheap.repartition(3)).is_cheap()
    expected = cs.sweep(columns["y"], columns["s"])
    asked = []
    counted = sweeping._count_in_spark
    monkeypatch.setattr(sweeping, "_LOOK", 10_000)
    monkeypatch.setattr(sweeping, "_count_in_spark", lambda *a: asked.append(1) or counted(*a))
    assert same(cs.spark.sweep(cheap, label="my.y", score="s"), expected)
    assert same(cs.spark.sweep(cheap, label="my.y", score="s", compact=True), expected.compact())
    words = cheap.selectExpr("if(`my.y` = 1, 'bad', 'good') as y", "s")
    assert same(cs.spark.sweep(words, label="y", score="s", positive="bad"), expected)
    assert len(asked) == 3
    cs.spark.sweep(cheap.selectExpr("`my.y` as y", "rand() as s"), label="y", score="s")
    assert len(asked) == 3
    # What is wrong is found by those who can say where.
    nan = cheap.selectExpr("`my.y` as y", "if(s > 1, double('nan'), s) as s")
    with pytest.raises(cs.DataError, match=r"partition 0 of the DataFrame.*score\[0\] is NaN"):
        cs.spark.sweep(nan, label="y", score="s")
    three = cheap.selectExpr("if(s > 1, 2, `my.y`) as y", "s")
    with pytest.raises(cs.DataError, match="label"):
        cs.spark.sweep(three, label="y", score="s")
    assert len(asked) == 5
    # More scores than the first rows let hope for.
    monkeypatch.setattr(sweeping, "_COUNTED", 10)
    assert same(cs.spark.sweep(cheap, label="my.y", score="s"), expected)
    assert len(asked) == 6


@pytest.mark.parametrize("few", [0, 1 << 24], ids=["ranges", "few"])
def test_totals_are_known_before_blobs_are_collected(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Many small blobs may exceed what the driver may receive; their totals don't."""
    columns = case()
    frame = as_frame(spark, written(tmp_path / "a.parquet", columns))
    names: list[list[str]] = []
    collect = sweeping.collect
    monkeypatch.setattr(sweeping, "_FEW", few)
    monkeypatch.setattr(
        sweeping, "collect", lambda f, **more: names.append(f.columns) or collect(f, **more)
    )
    found = cs.spark.sweep(frame, label="y", score="s", compact=True)
    assert same(found, cs.sweep(columns["y"], columns["s"]).compact())
    assert ["blob" in some for some in names] == [False, True]


@settings(max_examples=30)
@given(drawn_rows(), st.integers(1, 4), st.lists(st.floats(allow_nan=False), max_size=3), st.data())
def test_any_cut_of_any_rows(case: Case, tasks: int, at: list[float], data: Any) -> None:
    """Tasks and reducers without a cluster between them: any partition, any bounds."""
    y, score = (np.asarray(column) for column in case)
    bounds = np.unique(np.asarray(at, np.float64) + 0.0)
    ends = sorted(data.draw(st.lists(st.integers(0, len(y)), min_size=tasks, max_size=tasks)))
    work = _Work(Columns("y", "s"), False)
    sent, kept = [], []
    for k, (a, b) in enumerate(zip([0, *ends], [*ends, len(y)], strict=True)):
        batch = pa.RecordBatch.from_pydict({"y": y[a:b], "s": score[a:b]})
        sent += work.cut_at(bounds)(k, [Located(batch, "here")])
        kept += work(k, [Located(batch, "here")])
    expected = cs.sweep(y, score)
    for batches in (sent, list(_Cut(bounds)(kept))):
        # As a shuffle may bring them: in any order, several slots to one reducer.
        shuffled = data.draw(st.permutations(batches)) if batches else []
        found = in_order(receive(_Merge(False)(shuffled)))
        slots = sorted(found, key=lambda message: message.slot)
        pieces = [unpack(message.blob) for message in slots if message.blob]
        assert same(stacked(pieces), expected)


# ----------------------------------------------------------------------------------------- errors


def test_a_bad_row_is_named_with_its_row_group(spark: Any, tmp_path: Path) -> None:
    columns = case()
    y: list[Any] = columns["y"].tolist()
    y[1500] = None
    path = written(tmp_path / "a.parquet", {"y": pa.array(y, pa.int8()), "s": columns["s"]}, 1000)
    with pytest.raises(
        cs.DataError, match=rf"row 501 \(row group 2 of 3 of {path}\) has no value for 'y'"
    ) as e:
        cs.spark.sweep(path, label="y", score="s")
    assert e.value.__cause__ is None
    with pytest.raises(
        cs.DataError, match=r"\(partition \d+ of the DataFrame\) has no value for 'y'"
    ):
        cs.spark.sweep(as_frame(spark, path), label="y", score="s")

    columns["s"][2001] = np.nan
    path = written(tmp_path / "b.parquet", columns, 1000)
    for call in (
        lambda data: cs.spark.sweep(data, label="y", score="s"),
        lambda data: cs.spark.sweep(data, label="y", score="s", binned=True),
        lambda data: cs.spark.by_group(data, label="y", score="s", group="w"),
    ):
        with pytest.raises(cs.DataError) as error:
            call(path)
        assert str(error.value).startswith(f"row group 3 of 3 of {path}: score[1] is NaN.")
        with pytest.raises(
            cs.DataError, match=r"partition . of the DataFrame: score\[\d+\] is NaN"
        ):
            call(as_frame(spark, path))


@pytest.mark.usefixtures("spark")
def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    good = written(tmp_path / "a.parquet", case())
    whole = Path(written(tmp_path / "b.parquet", case(seed=1), 1000)).read_bytes()
    meta = pq.read_metadata(tmp_path / "b.parquet").row_group(1).column(1)
    at = meta.data_page_offset
    bad = tmp_path / "b.parquet"
    bad.write_bytes(whole[:at] + b"\xff" * 200 + whole[at + 200 :])
    with pytest.raises(cs.DataError) as error:
        cs.spark.sweep([good, bad], label="y", score="s")
    assert str(error.value).startswith(f"row group 2 of 3: {bad} can't be read: it is damaged (")
    bad.write_bytes(whole[:-20])
    with pytest.raises(cs.DataError, match=f"{bad} can't be read: it is damaged"):
        cs.spark.sweep([good, bad], label="y", score="s")
    with pytest.raises(cs.DataError, match="there is no file"):
        cs.spark.sweep([good, tmp_path / "c.parquet"], label="y", score="s")


@pytest.mark.usefixtures("spark")
def test_files_that_differ(tmp_path: Path) -> None:
    a = written(tmp_path / "a.parquet", case())
    b = written(tmp_path / "b.parquet", {**case(), "s": ["much"] * 3000})
    c = written(tmp_path / "c.parquet", {name: case()[name] for name in "yw"})
    with pytest.raises(cs.DataError, match=f"'s' is numbers in {a} and text in {b}"):
        cs.spark.sweep([a, b], label="y", score="s")
    with pytest.raises(cs.DataError, match=f"{a} has 's', but {c} does not"):
        cs.spark.sweep([a, c], label="y", score="s")


@pytest.mark.usefixtures("spark")
def test_a_partitioned_folder_is_for_spark_to_read(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    written(tmp_path / "day=1" / "a.parquet", case())
    with pytest.raises(cs.DataError, match=r"is partitioned: .* spark\.read\.parquet\('"):
        cs.spark.sweep(tmp_path, label="y", score="s")


@ways
def test_many_bins_are_added_up_by_executors(
    spark: Any, tmp_path: Path, way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "_FEW", 0)
    columns = case()
    data = way(spark, written(tmp_path / "a.parquet", columns, 100))
    found = cs.spark.sweep(data, label="y", score="s", binned=True, bits=12)
    b = cs.BinnedSweep.of(columns["y"], columns["s"], bits=12)
    assert np.array_equal(found.bin_pos, b.bin_pos)
    assert np.array_equal(found.bin_neg, b.bin_neg)
    assert found.rows == b.rows


def test_a_sample_that_a_job_draws(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.parquet", case(), 100)
    files = sources.open_source(path, ["y", "s"], spark)
    assert isinstance(files, sources.Files)
    here = np.sort(files.sample("s", 3))
    monkeypatch.setattr(sources, "_HERE", 0)
    assert np.array_equal(np.sort(files.sample("s", 3)), here)
    assert len(here) > 2000


def test_three_labels_in_two_places(spark: Any, tmp_path: Path) -> None:
    y = np.where(np.arange(3000) < 1500, 0, -1)
    y[::3] = 1
    path = written(tmp_path / "a.parquet", {"y": y, "s": np.arange(3000.0)}, 500)
    for data in (path, spark.read.parquet(path).repartitionByRange(2, "s")):
        with finding("labels-many"):
            cs.spark.sweep(data, label="y", score="s")
        with finding("labels-many"):
            cs.spark.by_group(data, label="y", score="s", group="s")
        with finding("labels-many"):
            cs.spark.rows(data, features=["s"], label="y")
        # One that is named stands against the rest, as in arrays and files.
        found = cs.spark.sweep(data, label="y", score="s", positive=-1)
        expected = cs.sweep(y, np.arange(3000.0), positive=-1)
        assert (found.pos == expected.pos).all()
        assert (found.neg == expected.neg).all()
        assert cs.sweep_file(path, label="y", score="s", positive=-1).auc == expected.auc


def test_what_is_no_source(spark: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {**case(), "t": ["a"] * 3000})
    frame = as_frame(spark, path)
    for data, words in ((path, "has no column 'ss'"), (frame, "the DataFrame has no column 'ss'")):
        with pytest.raises(cs.DataError, match=words):
            cs.spark.sweep(data, label="y", score="ss")
        with finding("value-unfit", type="text"):
            cs.spark.sweep(data, label="y", score="t")
    with finding("bad-argument", parameter="data", value=3):
        cs.spark.sweep(3, label="y", score="s")
    with finding("bad-argument", parameter="columns", value=3):
        cs.spark.sweep(path, label="y", score=3)  # type: ignore[arg-type]
    with finding("bad-argument", parameter="ranges", value=0):
        cs.spark.sweep(path, label="y", score="s", ranges=0)
    with finding("bad-argument", parameter="bits", value=99):
        cs.spark.sweep(path, label="y", score="s", binned=True, bits=99)
    with finding("arguments-conflict"):
        cs.spark.sweep(path, label="y", score="s", binned=True, compact=True)


def test_an_error_of_the_frame_itself(spark: Any) -> None:
    frame = spark.range(10).selectExpr("id % 2 as y", "raise_error('no such thing') as s")
    with pytest.raises(SparkError, match=r"the Spark job failed: .*no such thing") as error:
        cs.spark.sweep(frame.selectExpr("y", "cast(s as double) as s"), label="y", score="s")
    assert error.value.__cause__ is not None


# ----------------------------------------------------------------------------------------- groups


@ways
@pytest.mark.parametrize("weight", [None, "w"])
def test_groups_as_in_memory(spark: Any, tmp_path: Path, way: Any, weight: str | None) -> None:
    columns = case()
    rng = np.random.default_rng(3)
    number = rng.integers(-300, 300, 3000)
    groups = {
        "int": number,
        "float": np.where(number == 0, -0.0, number / 4),
        "text": np.array([f"é{k}" for k in number], object),
        "day": np.datetime64("2024-01-01") + number.astype("m8[D]"),
    }
    path = written(tmp_path / "a.parquet", {**columns, **groups})
    data = way(spark, path)
    # Rows in the order that Spark has them in.
    table = pq.read_table(path) if way is not as_frame else data.toArrow()
    y, s, w = (table.column(name).to_numpy() for name in "ysw")
    if way is as_frame:
        data = spark.createDataFrame(table).coalesce(1)
    for name in groups if weight is None else ["int"]:
        found = cs.spark.by_group(data, label="y", score="s", group=name, weight=weight)
        group = table.column(name).to_numpy()
        expected = cs.by_group(y, s, group, weight=None if weight is None else w)
        assert np.array_equal(found.group, expected.group)
        assert np.array_equal(found.P, expected.P)
        assert np.array_equal(found.N, expected.N)
        assert np.array_equal(found.auc, expected.auc, equal_nan=True)
        assert found.P.dtype == expected.P.dtype


@pytest.mark.usefixtures("spark")
def test_groups_of_nothing_and_of_nan(tmp_path: Path) -> None:
    columns = case()
    path = written(tmp_path / "a.parquet", {name: a[:0] for name, a in columns.items()})
    assert len(cs.spark.by_group(path, label="y", score="s", group="w")) == 0
    columns["w"][1200] = np.nan
    path = written(tmp_path / "b.parquet", columns, 1000)
    with pytest.raises(cs.DataError, match=r"row group 2 of 3 of .*: group\[200\] is missing"):
        cs.spark.by_group(path, label="y", score="s", group="w")


# --------------------------------------------------------------------------------------- learners


def table(n: int = 4000) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3)) * [1, 10, 0.1]
    y = X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=n) > 0.5
    return {**{f"x{k}": X[:, k] for k in range(3)}, "y": y, "w": rng.integers(0, 3, n) / 2.0}


FEATURES = ["x0", "x1", "x2"]


@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_of_paths_and_frames_are_those_of_memory(
    spark: Any, tmp_path: Path, weight: str | None
) -> None:
    """By two learners that read them; test_contract.py has the others."""
    columns = table()
    path = written(tmp_path / "a.parquet", columns, 500)
    kept = columns["w"] > 0 if weight else np.ones(4000, bool)
    X = np.column_stack([columns[name] for name in FEATURES])[kept]
    memory = ArrayRows(X, columns["y"][kept], columns["w"][kept] if weight else None)
    for data in (path, spark.read.parquet(path).selectExpr("*", "1 as one")):
        with cs.spark.rows(data, features=FEATURES, label="y", weight=weight) as rows:
            assert (len(rows), rows.features) == (len(memory), 3)
            found, expected = logistic(rows).detector, logistic(memory).detector
            assert np.allclose(found.w, expected.w, rtol=1e-8, atol=0)
            assert found.b == pytest.approx(expected.b, rel=1e-8, abs=1e-12)
            mixed = perceptron(rows, variant="averaged", max_passes=10)
            alone = perceptron(memory, variant="averaged", max_passes=10)
            assert mixed.errors <= 1.02 * alone.errors
    assert not spark.sparkContext._jsc.getPersistentRDDs()


@pytest.mark.usefixtures("spark")
def test_blocks_come_in_order_with_their_places(tmp_path: Path) -> None:
    n = 300_000
    path = written(tmp_path / "a.parquet", {"x": np.arange(n), "y": np.arange(n) % 2}, 50_000)
    with cs.spark.rows(path, features=["x"], label="y") as rows:
        assert "300,000 rows of 1 features in 2 partitions" in repr(rows)
        found = rows.reduce(lambda b: [(b.start, int(b.X[0, 0]), len(b.y))], lambda a, b: a + b)
        assert [start for start, _, _ in found] == [first for _, first, _ in found]
        assert sum(size for _, _, size in found) == n
        # A closure that drags the rows along.
        assert rows.reduce(lambda b: len(b.y) * rows.features + 0 * len(rows), int.__add__) == n
        parts = rows.fold(lambda state, block: [*state, block.start], ["start"])
        assert [part[:2] for part in parts] == [["start", 0], ["start", 150_000]]
        with pytest.raises(SparkError, match="can't start a pass of its own"):
            rows.reduce(lambda _: rows.reduce(len, int.__add__), int.__add__)

        def refuse(_: Any) -> int:
            raise cs.UndefinedError(Undefined("it", "is not of these"))

        with finding("undefined", cs.UndefinedError):
            rows.reduce(refuse, int.__add__)
    copy = pickle.loads(pickle.dumps(rows))
    assert (copy.features, len(copy)) == (1, n)


def test_many_partitions_are_merged_in_order(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutscore.spark.partitions._PARTS", 3)
    frame = spark.range(0, 1000, 1, 8).selectExpr("id as x", "id % 2 as y")
    with cs.spark.rows(frame, features=["x"], label="y") as rows:
        found = rows.reduce(lambda b: b.X[:, 0].tolist(), lambda a, b: a + b)
        assert found == list(range(1000))


def test_a_partition_that_comes_out_otherwise(spark: Any) -> None:
    def noisy(batches: Any) -> Any:
        import os

        for batch in batches:
            noise = np.frombuffer(os.urandom(batch.num_rows), np.uint8).astype(float)
            yield pa.RecordBatch.from_arrays([pa.array(noise), batch.column(1)], ["x", "y"])

    frame = spark.range(0, 1000, 1, 2).selectExpr("id as x", "id % 2 as y")
    changing = frame.mapInArrow(noisy, "x double, y long")
    with cs.spark.rows(changing, features=["x"], label="y") as rows:
        total = rows.reduce(lambda b: float(b.X.sum()), float.__add__)
        assert total == rows.reduce(lambda b: float(b.X.sum()), float.__add__)
        rows._blocks.unpersist(blocking=True)  # as if all executors were lost
        with finding("rows-changed"):
            rows.reduce(lambda b: float(b.X.sum()), float.__add__)


def test_blocks_that_are_missing_or_too_many() -> None:
    make = _Make(["x"], "y", None, None)
    batch = pa.RecordBatch.from_pydict({"x": np.arange(200.0), "y": np.arange(200) % 2})
    blocks = [
        block for k in (0, 1) for block in make.blocks([Located(batch.slice(100 * k, 100), "here")])
    ]
    plan = _Plan.of(list(_head_of(0, blocks)))
    run = _Task(type("Sent", (), {"value": plan}), _Summaries(lambda b: len(b.y), int.__add__))
    assert [r.value for r in run(0, blocks)] == [200]
    for other in (blocks[:1], blocks[::-1], [*blocks, blocks[0]]):
        assert next(run(0, other)).error.finding.code == "rows-changed"
    assert next(run(1, blocks)).error.finding.code == "rows-changed"
    steps = _Task(run.plan, _Steps(lambda state, b: state + b.start, 1000))
    assert next(steps(0, blocks)).value == 1100


def test_rows_that_are_refused(spark: Any, tmp_path: Path) -> None:
    columns = table()
    columns["x1"][3000] = np.inf
    path = written(tmp_path / "a.parquet", columns, 1000)
    with finding("not-finite", what="x1") as error:
        cs.spark.rows(path, features=FEATURES, label="y")
    assert "row group 4 of 4 of " in str(error.value)
    with finding("not-finite", what="x1") as error:
        cs.spark.rows(as_frame(spark, path), features=FEATURES, label="y")
    assert " of the DataFrame" in str(error.value)
    with finding("bad-argument", parameter="features", value="x0"):
        cs.spark.rows(path, features="x0", label="y")
    with finding("bad-argument", parameter="features", value="x0"):
        cs.spark.rows(path, features=["x0", "x0"], label="y")
    empty = written(tmp_path / "b.parquet", {name: a[:0] for name, a in columns.items()})
    with finding("no-rows"):
        cs.spark.rows(empty, features=["x0"], label="y")
    assert not spark.sparkContext._jsc.getPersistentRDDs()


# ------------------------------------------------------------------------------------ single parts


@pytest.mark.parametrize(("sizes", "at_a_time"), [([10] * 10, 4), ([1, 100, 1], 2), ([], 3)])
def test_tasks_have_all_row_groups_in_order(sizes: list[int], at_a_time: int) -> None:
    groups = [RowGroup("a", k, len(sizes), rows) for k, rows in enumerate(sizes)]
    tasks = _tasks(groups, at_a_time)
    assert [group for task in tasks for group in task] == groups
    assert 1 <= len(tasks) <= max(at_a_time, 1)


def test_tasks_are_of_bounded_size() -> None:
    groups = [RowGroup("a", k, 200, 1 << 20) for k in range(200)]
    tasks = _tasks(groups, 2)
    assert max(len(task) for task in tasks) <= 9
    assert len(tasks) % 2 == 0


def test_chunks_know_where_their_rows_are() -> None:
    def batch(*values: float) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict({"x": list(values)})

    located = [Located(batch(1, 2), "a"), Located(batch(3), "a"), Located(batch(4, 5, 6), "b")]
    found = list(chunks(located, ["x"], [], 3))
    assert [c.columns["x"].tolist() for c in found] == [[1, 2, 3], [4, 5, 6]]
    assert [str(c.pieces[0]) for c in found] == ["a", "b"]
    found = list(chunks(located, ["x"], [], 2))
    assert [str(c.pieces[0]) for c in found] == ["a", "a, starting at row 3"]
    assert found[1].rows == 4


def test_labels_and_what_they_are_told_from() -> None:
    assert encode_labels(np.array([1, 1]), None).other is None
    assert encode_labels(np.array([1, -1, 0]), None).other == "-1"
    assert encode_labels(np.array(["b", "a"], object), "a").y.tolist() == [0, 1]
    # A chunk may lack it, beside several others.
    assert encode_labels(np.array(["b", "c"], object), "a").y.tolist() == [0, 0]
    assert encode_labels(np.array([3, 1, 2]), 2).y.tolist() == [0, 0, 1]


# --------------------------------------------------------------------------------------- sessions


def test_a_session_is_found_again(spark: Any) -> None:
    assert cs.spark.session("local[7]") is spark
    with finding("bad-argument", parameter="deadline", value=0):
        cs.spark.session(deadline=0)


def test_a_job_that_is_late(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were no executor: the count never ends."""
    import time

    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrame.count", lambda _: time.sleep(5))
    with pytest.raises(SparkError, match="workers are missing, not the master"):
        cs.spark.check_executors(spark, deadline=0.2)


def test_java_and_masters_are_looked_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cutscore.spark import sessions

    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        with pytest.raises(SparkError, match=f"no master answers at 127.0.0.1:{port}: "):
            sessions._check_master(f"spark://127.0.0.1:{port}", 5)
    for master in ("spark://host", "spark://host:x"):
        with finding("bad-argument", parameter="master"):
            sessions._check_master(master, 5)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkError, match="Spark requires Java; JAVA_HOME is "):
        sessions._check_java()
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    for says, words in (
        ("echo 'openjdk version \"1.8.0_292\"' >&2", "is version 8"),
        ("echo hello", "is no Java"),
    ):
        java.write_text(f"#!/bin/sh\n{says}\n")
        java.chmod(0o755)
        with pytest.raises(SparkError, match=words):
            sessions._check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SparkError, match="java is not on the PATH"):
        sessions._check_java()


@pytest.mark.usefixtures("spark")
def test_warnings_of_pyspark_stay_inside(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", case())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cs.spark.sweep(path, label="y", score="s")
