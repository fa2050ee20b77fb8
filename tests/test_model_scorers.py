"""Models of other libraries as scorers: their own scores and reasons, in formats without code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cutscore.core.json import dumps
from cutscore.detector import CategoryColumn, Encoding, ModelScorer, NumberColumn
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers import Scorer
from cutscore.detector.scorers.trees import catboost_pool, is_whole
from raising import finding

pytestmark = pytest.mark.boosting

LEVELS = ["north", "south", "east", "west", "far"]
LIBRARIES = ["lightgbm", "xgboost", "catboost"]
SUFFIX = {"lightgbm": ".txt", "xgboost": ".json", "catboost": ".cbm"}


def rows(n: int = 600, seed: int = 0) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """A table, the same as a matrix of numbers and codes, and labels."""
    rng = np.random.default_rng(seed)
    age, income = rng.normal(40, 9, n), rng.lognormal(size=n)
    region = rng.integers(0, 5, n)
    y = age / 9 + 2 * (region % 2) + rng.normal(size=n) > 6
    X = np.stack([age, region.astype(float), income], 1)
    X[rng.random(n) < 0.1, 0] = np.nan
    X[rng.random(n) < 0.1, 1] = np.nan
    table = {
        "age": [None if np.isnan(v) else v for v in X[:, 0].tolist()],
        "region": [None if np.isnan(v) else LEVELS[int(v)] for v in X[:, 1].tolist()],
        "income": income,
    }
    return table, X, y


COLUMNS = {"age": "number", "region": LEVELS, "income": "number"}
FLAGS = np.array([False, True, False])


def fitted(library: str, path: Path) -> Any:
    """Writes a model to a file; a function from a matrix to its margins."""
    _, X, y = rows()
    module = pytest.importorskip(library)
    if library == "lightgbm":
        data = module.Dataset(X, y, categorical_feature=[1])
        booster = module.train({"objective": "binary", "verbosity": -1, "num_threads": 1}, data, 20)
        booster.save_model(path)
        return lambda X: booster.predict(X, raw_score=True)
    if library == "xgboost":
        kinds = ["q", "c", "q"]
        data = module.DMatrix(X, y, feature_types=kinds, enable_categorical=True)
        booster = module.train({"objective": "binary:logistic", "nthread": 1}, data, 20)
        booster.save_model(path)
        return lambda X: booster.predict(
            module.DMatrix(X, feature_types=kinds, enable_categorical=True), output_margin=True
        )
    booster = module.CatBoost(
        {
            "loss_function": "Logloss",
            "iterations": 20,
            "logging_level": "Silent",
            "allow_writing_files": False,
            "thread_count": 1,
        }
    )
    booster.fit(catboost_pool(X, FLAGS, label=y.astype(int)))
    booster.save_model(str(path), format="json" if path.suffix == ".json" else "cbm")
    return lambda X: booster.predict(catboost_pool(X, FLAGS), prediction_type="RawFormulaVal")


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_are_those_of_the_library(library: str, embed: bool, tmp_path: Path) -> None:
    path = tmp_path / f"model{SUFFIX[library]}"
    margins = fitted(library, path)
    scorer = ModelScorer.from_file(path, COLUMNS, embed=embed)
    table, X, _ = rows(200, seed=1)
    assert np.array_equal(scorer.scores(table), margins(X))
    other = dict(sorted({**table, "more": [0] * 200}.items()))
    assert np.array_equal(scorer.scores(other), margins(X))
    again = Scorer.from_dict(json.loads(dumps(scorer.to_dict())))
    if embed:
        path.unlink()
    assert again == scorer
    assert np.array_equal(again.scores(table), margins(X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_reasons_add_up_to_the_margin(library: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{SUFFIX[library]}"
    fitted(library, path)
    scorer = ModelScorer.from_file(path, COLUMNS)
    table, _, _ = rows(200, seed=1)
    (part,) = scorer.scored(table, explain=True)
    why = part.contributions
    assert why is not None
    offset = part.score - why.value.sum(axis=0)
    assert_allclose(offset, offset[0], atol=1e-5 if library == "xgboost" else 1e-9)
    assert np.ptp(part.score) > 1
    names = np.array(why.names)[why.label]
    gone = [v is None for v in table["age"]]
    assert (names[0] == np.where(gone, "age is missing", "age")).all()
    words = [f"region = {v}" if v else "region is missing" for v in table["region"]]
    assert names[1].tolist() == words


def test_xgboost_also_in_binary_json_and_catboost_as_json(tmp_path: Path) -> None:
    table, X, _ = rows(50, seed=1)
    path = tmp_path / "model.ubj"
    margins = fitted("xgboost", path)
    scorer = ModelScorer.from_file(path, COLUMNS, embed=True)
    assert scorer.to_dict()["model"]["encoding"] == "base64"
    assert np.array_equal(scorer.scores(table), margins(X))
    path = tmp_path / "model.json"
    margins = fitted("catboost", path)
    scorer = ModelScorer.from_file(path, COLUMNS, format="catboost")
    assert_allclose(scorer.scores(table), margins(X), rtol=1e-6)


def test_unseen_levels_are_missing_unless_training_had_rare_ones(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    margins = fitted("lightgbm", path)
    table = {"age": [30.0, 30.0], "region": ["moon", None], "income": [1.0, 1.0]}
    missing = margins(np.array([[30.0, np.nan, 1.0]]))[0]
    assert ModelScorer.from_file(path, COLUMNS).scores(table).tolist() == [missing, missing]
    shares = (0.25,) * 4
    region = CategoryColumn("region", tuple(LEVELS[:4]), shares, other=0.1, missing=0.1)
    columns = [NumberColumn("age", 40, 9), region, NumberColumn("income", 1, 1)]
    fifth = margins(np.array([[30.0, 4.0, 1.0]]))[0]
    assert ModelScorer.from_file(path, columns).scores(table).tolist() == [fifth, missing]


def test_what_training_never_had_is_counted_where_that_is_known(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    fitted("lightgbm", path)
    table, *_ = rows()
    e = Encoding.fit(table)
    new = {"age": [1000.0], "region": ["moon"], "income": [1.0]}
    found = {}
    for columns in (COLUMNS, e.columns):
        seen = Novelty()
        list(ModelScorer.from_file(path, columns).scored(new, seen=seen))
        found[columns is COLUMNS] = [one.code for one in seen.found(1)]
    assert found == {True: [], False: ["unseen-values", "unseen-values"]}


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    fitted("lightgbm", path)
    scorer = ModelScorer.from_file(path, COLUMNS)
    saved = scorer.to_dict()
    path.write_text(path.read_text().replace("shrinkage=0.1", "shrinkage=0.2"))
    with finding("scorer-file-changed", path=str(path)):
        Scorer.from_dict(saved).scores(rows()[0])
    path.unlink()
    with finding("file-unreadable", file=str(path)):
        Scorer.from_dict(saved).scores(rows()[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_truncated_file_is_refused(library: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{SUFFIX[library]}"
    fitted(library, path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2):
        path.write_bytes(whole[:size])
        with finding("scorer-damaged"):
            ModelScorer.from_file(path, COLUMNS)


def test_a_text_is_whole_or_not(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    fitted("lightgbm", path)
    text = path.read_text()
    assert is_whole(text)
    assert not is_whole(text.replace("Tree=3\n", "Tree=3\nx=1\n"))
    assert not is_whole("tree\n")


def test_columns_must_be_as_many_as_the_model_takes(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    fitted("lightgbm", path)
    with finding("lengths-differ"):
        ModelScorer.from_file(path, ["age"])
    with finding("bad-argument", parameter="inputs"):
        ModelScorer.from_file(path, ["age", "age", "income"])
    with finding("bad-argument", parameter="columns"):
        ModelScorer.from_file(path, {"age": "integer"})
    with finding("column-missing", column="region"):
        ModelScorer.from_file(path, COLUMNS).scores({"age": [1.0], "income": [1.0]})


def test_the_format_is_named_by_the_file_or_by_you(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    margins = fitted("lightgbm", path)
    table, X, _ = rows(20)
    renamed = path.rename(tmp_path / "model")
    with finding("bad-argument", parameter="path"):
        ModelScorer.from_file(renamed, COLUMNS)
    with finding("bad-argument", parameter="format"):
        ModelScorer.from_file(renamed, COLUMNS, format="pickle")  # type: ignore[arg-type]
    scorer = ModelScorer.from_file(renamed, COLUMNS, format="lightgbm")
    assert np.array_equal(scorer.scores(table), margins(X))


def test_more_than_two_classes_are_refused(tmp_path: Path) -> None:
    lgb = pytest.importorskip("lightgbm")
    _, X, _ = rows()
    data = lgb.Dataset(X, np.arange(len(X)) % 3)
    params = {"objective": "multiclass", "num_class": 3, "verbosity": -1, "num_threads": 1}
    path = tmp_path / "model.txt"
    lgb.train(params, data, 2).save_model(path)
    with finding("scores-unusable"):
        ModelScorer.from_file(path, ["a", "b", "c"]).scores({"a": [1], "b": [1], "c": [1]})


# ------------------------------------------------------------------------------ ONNX, scikit-learn


def linear_graph(out: str = "score", width: int = 2) -> bytes:
    """x·w + b in float32."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    h, t = onnx.helper, onnx.TensorProto
    w = h.make_tensor("w", t.FLOAT, [2, width], np.arange(1.0, 2 * width + 1).tolist())
    node = h.make_node("MatMul", ["x", "w"], [out])
    graph = h.make_graph(
        [node],
        "line",
        [h.make_tensor_value_info("x", t.FLOAT, [None, 2])],
        [h.make_tensor_value_info(out, t.FLOAT, [None, width])],
        [w],
    )
    opset = [h.make_opsetid("", 17)]
    return h.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def test_onnx(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(linear_graph(width=1))
    table = {"a": [1.0, 2.0], "b": [3.0, 5.0]}
    scorer = ModelScorer.from_file(path, ["a", "b"], embed=True)
    assert scorer.scores(table).tolist() == [7.0, 12.0]
    assert ModelScorer.from_file(path, ["b", "a"]).scores(table).tolist() == [5.0, 9.0]
    (part,) = scorer.scored(table, explain=True)
    assert part.contributions is None
    path.write_bytes(linear_graph(width=2))  # both classes: the second
    assert ModelScorer.from_file(path, ["a", "b"]).scores(table).tolist() == [14.0, 24.0]
    path.write_bytes(linear_graph(width=3))
    with finding("scores-unusable"):
        ModelScorer.from_file(path, ["a", "b"]).scores(table)
    path.write_bytes(b"rubbish")
    with finding("scorer-damaged"):
        ModelScorer.from_file(path, ["a", "b"])


def test_scikit_learn_through_skops(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > X[:, 1]
    table = {"b": X[:, 1], "a": X[:, 0]}
    path = tmp_path / "model.skops"
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    skops.dump(line, path)
    scorer = ModelScorer.from_file(path, ["a", "b"], embed=True)
    assert np.array_equal(scorer.scores(table), line.decision_function(X))
    bayes = GaussianNB().fit(X, y)
    skops.dump(bayes, path)
    found = ModelScorer.from_file(path, ["a", "b"]).scores(table)
    assert np.array_equal(found, bayes.predict_proba(X)[:, 1])
    skops.dump(make_pipeline(FunctionTransformer(rows), line).fit, path)
    with finding("scorer-untrusted"):
        ModelScorer.from_file(path, ["a", "b"])
    path.write_bytes(b"rubbish")
    with finding("scorer-damaged"):
        ModelScorer.from_file(path, ["a", "b"])


@pytest.fixture
def framed() -> Any:
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["age", "income"])
    return X, (X["age"] > 0).astype(int)


def saved(kind: str, X: Any, y: Any, folder: Path) -> Path:
    """A model that knows the names of its columns."""
    if kind == "lightgbm":
        lgb = pytest.importorskip("lightgbm")
        path = folder / "m.txt"
        lgb.train({"objective": "binary", "verbosity": -1}, lgb.Dataset(X, y), 3).save_model(path)
    elif kind == "xgboost":
        xgb = pytest.importorskip("xgboost")
        path = folder / "m.ubj"
        xgb.train({"objective": "binary:logistic"}, xgb.DMatrix(X, y), 3).save_model(path)
    elif kind == "catboost":
        catboost = pytest.importorskip("catboost")
        path = folder / "m.cbm"
        options = {"iterations": 3, "logging_level": "Silent", "allow_writing_files": False}
        catboost.CatBoostClassifier(**options).fit(X, y).save_model(str(path))
    else:
        io = pytest.importorskip("skops.io")
        from sklearn.linear_model import LogisticRegression

        path = folder / "m.skops"
        io.dump(LogisticRegression().fit(X, y), path)
    return path


@pytest.mark.parametrize("kind", ["lightgbm", "xgboost", "catboost", "sklearn"])
def test_columns_in_another_order_are_refused(kind: str, framed: Any, tmp_path: Path) -> None:
    X, y = framed
    path = saved(kind, X, y, tmp_path)
    with finding("columns-moved", column="income", place=1, of_model=2, names=("age", "income")):
        ModelScorer.from_file(path, ["income", "age"])
    scores = ModelScorer.from_file(path, ["age", "income"]).scores(X[["income", "age"]])
    # Other names say nothing about the order.
    renamed = ModelScorer.from_file(path, ["a", "b"]).scores(X.set_axis(["a", "b"], axis=1))
    assert np.array_equal(scores, renamed)


def test_categories_of_catboost_are_refused_as_numbers(framed: Any, tmp_path: Path) -> None:
    X, y = framed
    path = saved("catboost", X, y, tmp_path)
    with finding("categories-differ", column="age", category=False):
        ModelScorer.from_file(path, {"age": ["young", "old"], "income": "number"})
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 3, "logging_level": "Silent", "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options).fit((X > 0).astype(int), y, cat_features=[0])
    model.save_model(str(path))
    with finding("categories-differ", column="age", category=True):
        ModelScorer.from_file(path, ["age", "income"])
