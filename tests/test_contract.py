"""The contract of all engines: the same tests, wherever the rows are.

``memory`` is what the others are measured by. ``spark`` is a local session, or one of the master
that CUTSCORE_TEST_MASTER names: ``test_spark_cluster.py`` runs these tests on two workers.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cutscore as cs
from clusters import local_session, needs_spark
from cutscore.linear import ArrayRows, Rows, closed
from cutscore.linear.logistic import logistic
from cutscore.linear.perceptron import perceptron
from cutscore.linear.structural import as_trainable, structural
from cutscore.tables import open_table

MASTER = os.environ.get("CUTSCORE_TEST_MASTER")
FEATURES = ["a", "b", "c"]
N = 9000


class Engine(ABC):
    """Where the work is done."""

    @abstractmethod
    def sweep(self, folder: Path, **options: Any) -> Any: ...

    @abstractmethod
    def by_group(self, folder: Path, **roles: Any) -> cs.GroupAuc: ...

    @abstractmethod
    def rows(self, folder: Path, **roles: Any) -> Any:
        """A context with rows for learners."""


class Memory(Engine):
    def _columns(self, folder: Path, *names: str | None) -> list[Any]:
        wanted = [name for name in names if name is not None]
        found = open_table(folder).columns(wanted)
        return [None if name is None else found[name] for name in names]

    def sweep(self, folder: Path, **o: Any) -> Any:
        binned, bits = o.pop("binned", False), o.pop("bits", 16)
        y, s, w = self._columns(folder, o.pop("label"), o.pop("score"), o.pop("weight", None))
        if binned:
            return cs.BinnedSweep.of(y, s, w, bits=bits)
        return cs.sweep(y, s, w, **o)

    def by_group(self, folder: Path, **o: Any) -> cs.GroupAuc:
        y, s, g, w = self._columns(folder, o["label"], o["score"], o["group"], o.get("weight"))
        return cs.by_group(y, s, g, weight=w)

    @contextmanager
    def rows(self, folder: Path, **o: Any) -> Iterator[Rows]:
        *X, y, w = self._columns(folder, *o["features"], o["label"], o.get("weight"))
        some = slice(None) if w is None else np.flatnonzero(w)
        yield ArrayRows(
            np.column_stack(X)[some], np.asarray(y[some] == 1), None if w is None else w[some]
        )


class Arrow(Engine):
    def sweep(self, folder: Path, **o: Any) -> Any:
        return cs.sweep_file(folder, **o)

    def by_group(self, folder: Path, **o: Any) -> cs.GroupAuc:
        return cs.by_group_file(folder, **o)

    @contextmanager
    def rows(self, folder: Path, **o: Any) -> Iterator[Rows]:
        yield cs.rows_file(folder, **o)


class Spark(Engine):
    def __init__(self) -> None:
        if MASTER is None:
            self.spark = local_session()
        else:
            partitions = {"spark.sql.shuffle.partitions": 2}
            self.spark = cs.spark.session(MASTER, deadline=240, **partitions)

    def sweep(self, folder: Path, **o: Any) -> Any:
        return cs.spark.sweep(folder, spark=self.spark, **o)

    def by_group(self, folder: Path, **o: Any) -> cs.GroupAuc:
        return cs.spark.by_group(folder, spark=self.spark, **o)

    @contextmanager
    def rows(self, folder: Path, **o: Any) -> Iterator[Rows]:
        with cs.spark.rows(folder, spark=self.spark, **o) as rows:
            yield rows


class SparkFrame(Spark):
    """The same from a DataFrame that is no plain scan of files."""

    def _frame(self, folder: Path) -> Any:
        from pyspark.sql.functions import col

        frame = self.spark.read.parquet(str(folder))
        return frame.filter(col("y").isNull() | (col("y") > -9)).repartition(3)

    def sweep(self, folder: Path, **o: Any) -> Any:
        return cs.spark.sweep(self._frame(folder), **o)

    def by_group(self, folder: Path, **o: Any) -> cs.GroupAuc:
        return cs.spark.by_group(self._frame(folder), **o)

    @contextmanager
    def rows(self, folder: Path, **o: Any) -> Iterator[Rows]:
        with cs.spark.rows(self._frame(folder), **o) as rows:
            yield rows


@pytest.fixture(
    scope="module",
    params=[
        Memory,
        Arrow,
        pytest.param(Spark, marks=needs_spark),
        pytest.param(SparkFrame, marks=needs_spark),
    ],
    ids=["memory", "arrow", "spark", "spark-frame"],
)
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.param()
    return made


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.2
    s = rng.normal(size=N) + y
    odd = s.copy()
    odd[rng.random(N) < 0.02] = np.inf
    odd[rng.random(N) < 0.02] = -np.inf
    odd[rng.random(N) < 0.02] = -0.0
    return {
        "y": y.astype(np.int8),
        "sign": np.where(y, 1, -1),
        "s": s,
        "single": s.astype(np.float32),
        "rounded": s.round(1),
        "odd": odd,
        "w": rng.integers(0, 4, N).astype(float),
        "user": rng.integers(0, 700, N),
        "name": np.array([f"u{k}" for k in rng.integers(0, 50, N)]),
        "a": rng.normal(size=N) + 1.5 * y,
        "b": rng.normal(size=N) * 3 - y,
        "c": rng.normal(size=N),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]) -> Path:
    return written(tmp_path_factory.mktemp("rows"), data)


def written(folder: Path, data: dict[str, Any], files: int = 3) -> Path:
    for k in range(files):
        at = slice(k * N // files, (k + 1) * N // files)
        table = pa.table({name: column[at] for name, column in data.items()})
        pq.write_table(table, folder / f"{k}.parquet", row_group_size=1000)
    return folder


def same(a: cs.Sweep, b: cs.Sweep) -> None:
    """The same integers; weights here are whole numbers, whose sums are exact."""
    for name in ("threshold", "pos", "neg", "pos2", "neg2", "top"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y, err_msg=name)


@pytest.mark.parametrize("score", ["s", "single", "rounded", "odd"])
def test_sweep(engine: Engine, folder: Path, data: dict[str, Any], score: str) -> None:
    expected = cs.sweep(data["y"], data[score])
    found = engine.sweep(folder, label="y", score=score)
    same(found, expected)
    assert found.auc == expected.auc
    question = cs.Costs(fp=1, fn=4)
    assert cs.choose(found, question).threshold == cs.choose(expected, question).threshold


@pytest.mark.parametrize("score", ["s", "rounded"])
def test_compact_sweep(engine: Engine, folder: Path, data: dict[str, Any], score: str) -> None:
    full = cs.sweep(data["y"], data[score])
    found = engine.sweep(folder, label="y", score=score, compact=True)
    same(found, full.compact())
    question = cs.Costs(fp=1, fn=4)
    assert cs.choose(found, question).threshold == cs.choose(full, question).threshold


def test_weights_and_other_labels(engine: Engine, folder: Path, data: dict[str, Any]) -> None:
    expected = cs.sweep(data["sign"], data["s"], data["w"], squares=True)
    same(engine.sweep(folder, label="sign", score="s", weight="w", squares=True), expected)


def test_binned_sweep(engine: Engine, folder: Path, data: dict[str, Any]) -> None:
    expected = cs.BinnedSweep.of(data["y"], data["s"], bits=12)
    found = engine.sweep(folder, label="y", score="s", binned=True, bits=12)
    np.testing.assert_array_equal(found.bin_pos, expected.bin_pos)
    np.testing.assert_array_equal(found.bin_neg, expected.bin_neg)
    assert found.rows == N
    assert found.auc == expected.auc


@pytest.mark.parametrize("group", ["user", "name"])
def test_groups(engine: Engine, folder: Path, data: dict[str, Any], group: str) -> None:
    expected = cs.by_group(data["y"], data["rounded"], data[group])
    found = engine.by_group(folder, label="y", score="rounded", group=group)
    order, other = (np.argsort(g.group) for g in (found, expected))
    assert found.group[order].tolist() == expected.group[other].tolist()
    np.testing.assert_array_equal(found.P[order], expected.P[other])
    np.testing.assert_array_equal(found.N[order], expected.N[other])
    np.testing.assert_array_equal(found.auc[order], expected.auc[other])


LEARNERS = {
    "mean-difference": closed.mean_difference,
    "least-squares": closed.least_squares,
    "gaussian": closed.gaussian,
    "fisher": closed.fisher,
    # Its sample, and so its way to the minimum, depends on the order of the rows.
    "logistic": lambda rows: logistic(rows, tol=1e-16),
    "structural-auc": lambda rows: structural(rows, as_trainable("auc"), tol=1e-2),
    "structural-f1": lambda rows: structural(rows, as_trainable("f1"), tol=1e-2),
}


# Each pass is a job of Spark: there a learner that has several is run without weights, or with.
PASSES = {None: {"logistic", "structural-f1"}, "w": {"structural-auc"}}


@pytest.mark.parametrize("weight", [None, "w"])
def test_learners(engine: Engine, folder: Path, weight: str | None) -> None:
    roles = {"features": FEATURES, "label": "y", "weight": weight}
    skipped = PASSES[None if weight else "w"] if isinstance(engine, Spark) else set()
    with Memory().rows(folder, **roles) as here, engine.rows(folder, **roles) as there:
        order_matters = isinstance(engine, SparkFrame)
        for name, learn in LEARNERS.items():
            if name in skipped:
                continue
            expected, found = learn(here), learn(there)
            if order_matters and name.startswith("structural"):
                # Other rows come first, so that planes differ within the gap.
                assert found.objective == pytest.approx(expected.objective, rel=2e-2)
                continue
            a, b = found.detector, expected.detector
            np.testing.assert_allclose(a.w, b.w, rtol=1e-8, atol=1e-8, err_msg=name)
            assert a.b == pytest.approx(b.b, rel=1e-8, abs=1e-8), name


def test_the_perceptron_is_as_good(engine: Engine, folder: Path, data: dict[str, Any]) -> None:
    roles = {"features": FEATURES, "label": "y"}
    X = np.column_stack([data[name] for name in FEATURES])
    right = []
    for one in (Memory(), engine):
        with one.rows(folder, **roles) as rows:
            line = perceptron(rows, max_passes=10, variant="averaged").detector
        right.append(np.mean((line.scores(X) > 0) == (data["y"] == 1)))
    assert abs(right[0] - right[1]) < 0.01


def changed(folder: Path, data: dict[str, Any], name: str, value: Any) -> Path:
    """One value of the second file, in its second row group."""
    lists = {key: column.tolist() for key, column in data.items()}
    lists[name][N // 3 + 1500] = value
    return written(folder, lists)


@pytest.mark.parametrize(
    ("name", "value"), [("y", None), ("s", float("nan")), ("s", None), ("y", 7)]
)
def test_a_bad_row_is_named(
    engine: Engine, tmp_path: Path, data: dict[str, Any], name: str, value: Any
) -> None:
    folder = changed(tmp_path, data, name, value)
    with pytest.raises(cs.DataError) as error:
        engine.sweep(folder, label="y", score="s")
    text = str(error.value)
    assert ("label" if value == 7 else name) in text
    if type(engine) in (Arrow, Spark):
        assert "1.parquet" in text
        assert "row group 2" in text


def test_broken_files(engine: Engine, tmp_path: Path, data: dict[str, Any]) -> None:
    written(tmp_path, data)
    if isinstance(engine, SparkFrame):
        pytest.skip("Spark reads the files itself")
    one = tmp_path / "1.parquet"
    whole = one.read_bytes()
    one.write_bytes(whole[:-1000])
    with pytest.raises(cs.DataError, match=r"1\.parquet"):
        engine.sweep(tmp_path, label="y", score="s")
    at = pq.ParquetFile(tmp_path / "0.parquet").metadata.row_group(1).column(2)
    start = at.dictionary_page_offset or at.data_page_offset
    one.write_bytes(whole[:start] + b"\xff" * 60 + whole[start + 60 :])
    with pytest.raises(
        cs.DataError, match=r"row group 2 of 3: .*1\.parquet can't be read: it is damaged"
    ):
        engine.sweep(tmp_path, label="y", score="s")
    table = pq.read_table(tmp_path / "0.parquet")
    text = table.set_column(2, "s", pa.array(["x"] * len(table)))
    pq.write_table(text, one)
    with pytest.raises(cs.DataError, match=r"1\.parquet"):
        engine.sweep(tmp_path, label="y", score="s")
    pq.write_table(table.drop_columns(["s"]), one)
    with pytest.raises(cs.DataError, match=r"has 's', but .*1\.parquet does not"):
        engine.sweep(tmp_path, label="y", score="s")
