"""Trees in other formats: the same scores to the last bit, or a finding."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cutscore as cs
from cutscore.detector import Detector, ModelScorer
from cutscore.detector.export import onnx_inputs, to_onnx, to_python, to_sql
from cutscore.detector.export import sql as sql_module
from cutscore.detector.export.trees import Ensemble, Leaf, Node, below
from cutscore.training import boosting, train
from raising import finding

pytestmark = pytest.mark.boosting

ROWS = 10_000
LEVELS = [f"level {k}" for k in range(40)]


def table(n: int, seed: int = 0) -> dict[str, Any]:
    """Numbers of all sizes with gaps, many levels, booleans, and a column without a gap."""
    rng = np.random.default_rng(seed)
    a, b, k = rng.normal(size=n), rng.lognormal(3, 3, n), rng.integers(0, 40, n)
    flag = rng.random(n) < 0.3
    z = a + np.sin(2 * k) + flag * (b > 20) + rng.logistic(size=n)
    level = np.array(LEVELS, object)[k]
    gone = rng.random((n, 3)) < 0.1
    level[gone[:, 0]] = None
    return {
        "y": z > 0.5,
        "a": pa.array(a, mask=gone[:, 1]),
        "b": b,
        "level": pa.array(level.tolist(), pa.string()),
        "flag": pa.array(flag, mask=gone[:, 2]),
    }


@pytest.fixture(scope="module", params=["lightgbm", "xgboost", "catboost"])
def detector(request: pytest.FixtureRequest) -> Detector:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosting, "_MOST", 25)
        data = pa.table(table(3000))
        return train(data, "y", learner=request.param, costs=cs.Costs(fp=1, fn=2), folds=3).detector


@pytest.fixture(scope="module")
def new() -> Any:
    return pa.table({k: v for k, v in table(ROWS, seed=1).items() if k != "y"})


def run(node: Node, X: Any) -> Any:
    """What each row gets of a tree, by the definition."""
    if isinstance(node, Leaf):
        return np.full(len(X), node.value)
    x = X[:, node.column]
    yes = np.isin(x, node.test) if isinstance(node.test, tuple) else x <= node.test
    yes = np.where(np.isnan(x), node.missing, yes)
    return np.where(yes, run(node.yes, X), run(node.no, X))


def test_plain_trees_have_the_scores_of_the_library(detector: Detector, new: Any) -> None:
    from cutscore.detector.scorers.model import matrix_of
    from cutscore.detector.scorers.reading import read_columns

    scorer: Any = detector.scorer
    e = Ensemble.of(scorer, "SQL")
    ((_, values),) = read_columns(new.combine_chunks(), scorer.inputs)
    X = matrix_of(scorer.inputs, values)
    kind = np.float32 if e.single else np.float64
    total = np.full(len(X), e.base, kind)
    for tree in e.trees:
        total = total + run(tree, X).astype(kind)
    assert np.array_equal(total, detector.scores(new))


@pytest.mark.parametrize("x", [0.1, 1.0, -1.0, 1e-40, -3.5e30, 16777217.0])
def test_below_is_where_rounding_turns(x: float) -> None:
    t = np.float32(x)
    last = below(t)
    assert np.float32(last) < t
    assert np.float32(np.nextafter(last, np.inf)) >= t


def test_onnx_decides_alike(detector: Detector, new: Any) -> None:
    pytest.importorskip("onnx")
    ort = pytest.importorskip("onnxruntime")
    scores = detector.scores(new)
    applied = detector.apply(new)
    for dtype in ("float64", "float32"):
        if dtype == "float32" and detector.training.learner != "xgboost":
            with finding("scorer-unfit"):
                to_onnx(detector, dtype="float32")
            continue
        model = to_onnx(detector, dtype=dtype)  # type: ignore[arg-type]
        session = ort.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        given = onnx_inputs(detector, new, dtype=dtype)  # type: ignore[arg-type]
        score, _, probability, decision = (out.ravel() for out in session.run(None, given))
        assert np.array_equal(score, scores)
        assert np.array_equal(decision, applied["decision"])
        assert np.allclose(probability, applied["probability"], rtol=1e-5, atol=1e-7)
        assert 0 < decision.sum() < ROWS
        few = {name: values[:4].copy() for name, values in given.items()}
        few["a"][0], few["flag"][1] = np.inf, 2.0  # what the detector refuses
        few["level"][2] = "never"
        score, *_, decision = (out.ravel() for out in session.run(None, few))
        assert np.isnan(score).tolist() == [True, True, False, False]
        assert not decision[:2].any()


def test_sql_decides_alike(detector: Detector, new: Any) -> None:
    scores, decided = detector.scores(new), np.asarray(detector.apply(new)["decision"])
    if detector.training.learner == "xgboost":
        with finding("scorer-unfit"):
            to_sql(detector, "new")
    else:
        rows = list(zip(*(new[name].to_pylist() for name in new.column_names), strict=True))
        base = sqlite3.connect(":memory:")
        base.execute("CREATE TABLE new (a REAL, b REAL, level TEXT, flag INTEGER)")
        base.executemany("INSERT INTO new VALUES (?, ?, ?, ?)", rows)
        query = to_sql(detector, "new", dialect="sqlite", keep=["b"])
        found = list(zip(*base.execute(query).fetchall(), strict=True))
        base.close()
        assert np.array_equal(found[0], new["b"])
        assert np.array_equal(found[1], scores)
        assert np.array_equal(np.array(found[4], bool), decided)
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as base:
        base.register("new", new)
        query = to_sql(detector, "new", dialect="duckdb", keep=["b"])
        found = base.execute(f"SELECT * FROM ({query}) ORDER BY b").fetchnumpy()
    order = np.argsort(np.asarray(new["b"]))
    assert np.array_equal(found["score"], scores[order])
    assert np.array_equal(found["decision"], decided[order])


def test_many_trees_are_refused_in_sql(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_module, "_TREES", 3)
    with finding("scorer-unfit", format="SQL"):
        to_sql(detector, "new", dialect="duckdb")


def test_python_decides_alike(detector: Detector, new: Any) -> None:
    module: dict[str, Any] = {}
    exec(to_python(detector), module)
    few = new.slice(0, 2_000)
    rows = few.to_pylist()
    rows[0]["level"] = "never"
    few = pa.Table.from_pylist(rows, few.schema)
    scores = [module["score"](row) for row in rows]
    assert scores == detector.scores(few).tolist()
    decided = [module["decide"](score) for score in scores]
    assert decided == detector.apply(few)["decision"].to_pylist()
    assert 0 < sum(decided) < len(rows)
    with pytest.raises(ValueError, match="'a' must hold finite numbers; it is inf"):
        module["score"](rows[0] | {"a": np.inf})


def wrapped(tmp_path: Path, name: str, save: Any, columns: Any) -> Detector:
    """A detector of a model that somebody else has trained."""
    path = tmp_path / name
    save(str(path))
    s = cs.sweep([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    return Detector(ModelScorer.from_file(path, columns), policy)


def exported(d: Detector) -> None:
    """Nobody writes it."""
    for export in (to_onnx, to_sql, to_python):
        with finding("scorer-unfit", kind="model"):
            export(d)


@pytest.fixture(scope="module")
def plain() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    return X, (X[:, 0] + rng.normal(size=400) > 0).astype(int)


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
        {"objective": "binary", "linear_tree": True},
        {"objective": "binary", "zero_as_missing": True},
    ],
)
def test_other_trees_of_lightgbm_are_refused(plain: Any, tmp_path: Path, options: Any) -> None:
    import lightgbm as lgb

    data = lgb.Dataset(*plain, params={"verbosity": -1, **options})
    model = lgb.train({"verbosity": -1, **options}, data, 3)
    exported(wrapped(tmp_path, "m.txt", model.save_model, ["a", "b"]))


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "binary:logitraw"},
        {"objective": "reg:squarederror"},
        {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.5},
        {"objective": "binary:logistic", "booster": "gblinear"},
    ],
)
def test_other_models_of_xgboost_are_refused(plain: Any, tmp_path: Path, options: Any) -> None:
    import xgboost as xgb

    model = xgb.train({"verbosity": 0, **options}, xgb.DMatrix(*plain), 3)
    exported(wrapped(tmp_path, "m.json", model.save_model, ["a", "b"]))


@pytest.mark.parametrize("scaled", [False, True])
def test_other_models_of_catboost_are_refused(plain: Any, tmp_path: Path, scaled: bool) -> None:
    catboost = pytest.importorskip("catboost")
    X, y = plain
    options = {"logging_level": "Silent", "allow_writing_files": False, "iterations": 3}
    if not scaled:
        options["grow_policy"] = "Lossguide"
    model = catboost.CatBoostClassifier(**options).fit(X, y)
    if scaled:
        model.set_scale_and_bias(2.0, 0.0)
    exported(wrapped(tmp_path, "m.cbm", model.save_model, ["a", "b"]))


def test_statistics_of_combined_categories_are_refused(tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (2_000, 2))
    y = (X[:, 0] + X[:, 1]) % 2 == 0
    model = catboost.CatBoostClassifier(
        logging_level="Silent", allow_writing_files=False, iterations=30, max_ctr_complexity=4
    ).fit(X, y.astype(int), cat_features=[0, 1])
    levels = list("abcde")
    exported(wrapped(tmp_path, "m.cbm", model.save_model, {"a": levels, "b": levels}))


@pytest.mark.parametrize("one_hot", [2, 10])
def test_categories_alone(tmp_path: Path, one_hot: int) -> None:
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 5, (600, 2))
    y = X[:, 0] + X[:, 1] + rng.normal(size=600) > 4
    model = catboost.CatBoostClassifier(
        logging_level="Silent",
        allow_writing_files=False,
        iterations=20,
        one_hot_max_size=one_hot,
        max_ctr_complexity=1,
    ).fit(X, y.astype(int), cat_features=[0, 1])
    levels = list("abcde")
    d = wrapped(tmp_path, "m.cbm", model.save_model, {"a": levels, "b": levels})
    module: dict[str, Any] = {}
    exec(to_python(d), module)
    named = [*levels, "never", None]
    rows = [{"a": a, "b": b} for a in named for b in named]
    scores = d.scores(pa.Table.from_pylist(rows))
    assert [module["score"](row) for row in rows] == scores.tolist()
    assert len(set(scores)) > 10


def test_a_bias_of_catboost_is_added_last(plain: Any, tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    X, y = plain
    options = {"logging_level": "Silent", "allow_writing_files": False, "iterations": 30}
    model = catboost.CatBoostClassifier(**options).fit(X, y)
    model.set_scale_and_bias(1.0, 0.3)
    d = wrapped(tmp_path, "m.cbm", model.save_model, ["a", "b"])
    module: dict[str, Any] = {}
    exec(to_python(d), module)
    rows = [dict(zip("ab", row, strict=True)) for row in X.tolist()]
    rows += [{"a": None, "b": 1e300}, {"a": -1e300, "b": None}]
    table = pa.Table.from_pylist(rows)
    assert [module["score"](row) for row in rows] == d.scores(table).tolist()
