"""train(stream=True): the same detector, though the features are never all in memory."""

from __future__ import annotations

import errno
import gc
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv

import cutscore as cs
from cutscore.core.findings import Where
from cutscore.core.findings.training import LearnerSampled
from cutscore.linear import rows as _rows
from cutscore.linear.streams import StreamRows
from cutscore.report import summarise_fit
from cutscore.tables import open_table
from cutscore.tables.roles import Roles
from cutscore.training import Trained, diagnostics, folds, train
from cutscore.training import rows as tables
from cutscore.training.registry import LEARNERS
from cutscore.training.rows import Data, Options
from raising import finding


def table(n: int = 900, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    age = 40 + 10 * rng.normal(size=n)
    return {
        "y": y.astype(np.int64),
        "a": rng.normal(size=n) + 1.3 * y,
        "age": [None if k % 7 == 0 else v for k, v in enumerate(age.tolist())],
        "c": rng.choice(["red", "blue", "green"], n),
        "ok": rng.random(n) < 0.5,
        "w": rng.integers(0, 4, n),
        "who": rng.integers(n // 4, size=n),
    }


ROLES = {"weight": "w", "unit": "who"}


def agree(a: Trained, b: Trained) -> None:
    """All but the last digits."""
    assert (a.learner, a.measure) == (b.learner, b.measure)
    assert a.encoding.fingerprint == b.encoding.fingerprint
    assert_array_equal(a.y, b.y)
    scale = np.abs(b.line.w).max()
    assert_allclose(a.line.w, b.line.w, rtol=1e-8, atol=1e-8 * scale)
    assert_allclose(a.line.b, b.line.b, rtol=1e-8, atol=1e-8 * scale)
    assert list(a.scores) == list(b.scores)
    for name, scores in b.scores.items():
        top = np.abs(scores).max()
        assert_allclose(a.scores[name], scores, rtol=1e-8, atol=1e-8 * top)
    assert_allclose(a.detector.policy.threshold, b.detector.policy.threshold, rtol=1e-8, atol=1e-12)
    assert a.detector.policy.confusion == b.detector.policy.confusion
    # The last digits of a score decide whether rows of different folds tie: a pair or two.
    pairs = np.count_nonzero(a.y) * np.count_nonzero(~a.y)
    assert abs(a.detector.training.auc - b.detector.training.auc) <= 2 / pairs
    assert a.warnings == b.warnings
    assert [(c.name, c.notes) for c in a.compared] == [(c.name, c.notes) for c in b.compared]
    assert_allclose([c.value for c in a.compared], [c.value for c in b.compared], rtol=1e-5)


# The perceptron's line depends on the order of the rows, which in memory is that of the folds.
@pytest.mark.parametrize(
    "learner",
    ["auto", *sorted(name for name, one in LEARNERS.items() if one.is_line and one.converges)],
)
def test_the_same_detector(learner: str) -> None:
    data = {k: v for k, v in table().items() if k not in ROLES.values()}
    agree(train(data, "y", learner=learner, stream=True), train(data, "y", learner=learner))


@pytest.mark.parametrize(
    "asked",
    [
        {"weight": "w", "exclude": ["who"]},
        {"unit": "who", "exclude": ["w"], "learner": "gaussian"},
        {"weight": "w", "unit": "who", "costs": cs.Costs(fp=1, fn=5), "learner": "logistic"},
        {"columns": ["a", "c"], "maximize": "f1", "seed": 3, "folds": 3},
        {"positive": "blue", "target": "c", "learner": "fisher"},
    ],
)
def test_whatever_is_asked(asked: dict[str, Any]) -> None:
    data, rest = table(), dict(asked)
    target = rest.pop("target", "y")
    agree(train(data, target, stream=True, **rest), train(data, target, **rest))


def test_from_files(tmp_path: Path) -> None:
    t = pa.table(table())
    csv.write_csv(t, tmp_path / "t.csv")
    pq.write_table(t, tmp_path / "t.parquet", row_group_size=250)
    (tmp_path / "parts").mkdir()
    for k in range(3):
        pq.write_table(t.slice(300 * k, 300), tmp_path / "parts" / f"{k}.parquet")
    options: dict[str, Any] = {"weight": "w", "exclude": ["who"], "learner": "logistic"}
    want = train(t, "y", **options)
    for name in ("t.csv", "t.parquet", "parts"):
        source = open_table(tmp_path / name)
        got = train(source, "y", stream=True, **options)
        agree(got, want)
        assert "logistic" in summarise_fit(got, source.where).text(80)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {k: v for k, v in table(1500).items() if k not in ROLES.values()}
    want = train(data, "y")
    monkeypatch.setattr(_rows, "_BLOCK", 700)
    agree(train(data, "y", stream=True), want)


@pytest.mark.parametrize("held", [1 << 23, 10])
def test_samples(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows "auto" shows some learners a sample: in memory, or in a file of its own."""
    few = replace(LEARNERS["structural"], sample_above=300)
    monkeypatch.setitem(LEARNERS, "structural", few)
    monkeypatch.setattr(tables, "HELD", held)
    data = {k: v for k, v in table(1200).items() if k not in ROLES.values()}
    got = train(data, "y", stream=True)
    assert any(LearnerSampled(300) in c.notes for c in got.compared)
    agree(got, train(data, "y"))


def test_sparse_features() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    code = rng.integers(40, size=n)
    data = {"y": (code % 3 == 0) ^ (rng.random(n) < 0.2), "code": [f"c{k:02}" for k in code]}
    data["other"] = [f"o{k:02}" for k in rng.integers(30, size=n)]
    roles = Roles("y")
    streamed = Data.of(data, roles, Options(stream=True)).elsewhere
    assert isinstance(streamed, StreamRows)
    assert not isinstance(next(streamed.blocks()).X, np.ndarray)
    agree(train(data, "y", stream=True), train(data, "y"))


@pytest.mark.parametrize("dense", [True, False])
def test_leaks_are_found(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """First on some rows, then on all: what leaks in the first ones only does not."""
    monkeypatch.setattr(diagnostics, "_LOOK", 100)
    data = {k: v for k, v in table(1500).items() if k not in ROLES.values()}
    rng = np.random.default_rng(1)
    y = data["y"]
    data["after"] = np.where(y, 1.0, -1.0) * (1 + rng.random(1500))
    data["early"] = np.where(np.arange(1500) < 600, data["after"], rng.normal(size=1500))
    if not dense:
        data |= {f"k{j}": [f"v{v}" for v in rng.integers(50, size=1500)] for j in range(2)}
    warned = [train(data, "y", learner="mean-difference", stream=s).warnings for s in (True, False)]
    assert warned[0] == warned[1]
    assert {found.feature for found in warned[0] if found.code == "leak"} == {"after"}


def test_libsvm_stays_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(300):
        y = rng.random() < 0.4
        lines.append(f"{int(y)} 1:{rng.normal() + y:.4f} 7:{rng.normal():.4f}")
    (tmp_path / "t.svm").write_text("\n".join(lines))
    source = open_table(tmp_path / "t.svm", format="libsvm")
    options: dict[str, Any] = {"learner": "logistic"}
    agree(train(source, "label", stream=True, **options), train(source, "label", **options))


@pytest.mark.parametrize("stream", [False, True])
def test_bad_rows_are_said_at_once(stream: bool) -> None:
    data = table()
    bad = data | {"a": [np.inf, *data["a"][1:]]}
    with finding("value-unfit", name="'a'", where=Where(0, column="a")):
        train(bad, "y", stream=stream)
    bad = data | {"w": [-1, *data["w"][1:]]}
    with finding("bad-weight", value=-1.0, where=Where(0, column="w")):
        train(bad, "y", weight="w", stream=stream)
    with finding("one-class", have="negative (900 of them)"):
        train(data | {"y": np.zeros(900, int)}, "y", stream=stream)


def test_a_full_disk_is_no_fault_of_a_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", full)
    data = {k: v for k, v in table().items() if k not in ROLES.values()}
    # 6 features (of "age" and "c" two) of 8 bytes, and a label, of 900 rows.
    with finding("disk-refused", need=44_100):
        train(data, "y", stream=True)


def test_progress_is_told() -> None:
    told: list[float] = []
    data = {k: v for k, v in table(300).items() if k not in ROLES.values()}
    train(data, "y", learner="gaussian", stream=True, report=lambda done, _: told.append(done))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_features_never_are_all_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 MB of them: what is allocated stays far below that."""
    monkeypatch.setenv("CUTSCORE_THREADS", "2")
    monkeypatch.setattr(_rows, "_BLOCK", 1 << 14)
    monkeypatch.setattr(diagnostics, "_LOOK", 100)
    few = replace(LEARNERS["structural"], sample_above=100)
    monkeypatch.setitem(LEARNERS, "structural", few)
    monkeypatch.setattr(folds, "_SAMPLE", 100)
    rng = np.random.default_rng(0)
    n, d = 5_000, 300
    y = rng.random(n) < 0.5
    t = pa.table({"y": y} | {f"x{k}": rng.normal(size=n) + 0.1 * y for k in range(d)})
    most = {}
    for stream in (True, False):
        gc.collect()
        tracemalloc.start(1)
        try:
            train(t, "y", learner="mean-difference", stream=stream)
            most[stream] = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most[False] > 8 * n * d
    assert most[True] < 8 * n * d / 3
