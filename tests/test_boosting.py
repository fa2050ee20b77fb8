"""Boosted trees from fit to apply: cross-fitted, stopped early, kept as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cutscore as cs
from cutscore.cli import main
from cutscore.core.findings.training import (
    ColumnCategory,
    ColumnNumber,
    LearnerSampled,
    LearnerSkipped,
    LinePrice,
)
from cutscore.detector import Detector, ModelScorer
from cutscore.detector.column_summaries import Limits
from cutscore.report import render, summarise_fit, summarise_policy
from cutscore.tables import open_table, write_table
from cutscore.tables.roles import Roles
from cutscore.training import boosting, fitted, train
from cutscore.training.boosting import boost
from cutscore.training.folds import NEEDS_MEMORY
from cutscore.training.registry import LEARNERS
from cutscore.training.rows import Data, Options
from raising import finding

pytestmark = pytest.mark.boosting

LIBRARIES = ["lightgbm", "xgboost", "catboost"]
JOBS = [f"job {k}" for k in range(7)]


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boosting, "_MOST", 20)


def adult(n: int = 800, seed: int = 0) -> dict[str, Any]:
    """As in a census: numbers and categories with gaps, and more than a line can tell."""
    rng = np.random.default_rng(seed)
    age, hours, job = rng.normal(40, 12, n), rng.gamma(8, 5, n), rng.integers(0, 7, n)
    z = 0.012 * (hours - 40) * (age - 40) + 2 * np.sin(2 * job)
    y = z + rng.logistic(size=n) > 0.5
    age[rng.random(n) < 0.1] = np.nan
    jobs = np.array(JOBS, object)[job]
    jobs[rng.random(n) < 0.1] = None
    return {"y": y.astype(np.int64), "age": age, "hours": hours, "job": jobs}


def rare(n: int = 3000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.logistic(size=n) > 5.5
    return {"y": y, **{f"x{k}": X[:, k] for k in range(4)}}


@pytest.mark.parametrize("make", [adult, rare])
@pytest.mark.parametrize("learner", LIBRARIES)
def test_decisions_are_the_same_everywhere(learner: str, make: Any, tmp_path: Path) -> None:
    pytest.importorskip(learner)
    data = make()
    t = train(
        data, "y", learner=learner, costs=cs.Costs(fp=1, fn=20 if make is rare else 1), folds=3
    )
    assert t.learner == learner
    assert t.line is None
    new = make(500, seed=1)
    scores = t.detector.scores(new)
    assert cs.sweep(new["y"], scores).auc > 0.6
    path = tmp_path / "model.json"
    t.detector.save(path)
    loaded = Detector.load(path)
    assert loaded.to_json() == t.detector.to_json()
    assert np.array_equal(loaded.scores(new), scores)
    applied = loaded.apply({k: new[k] for k in reversed(new)})
    assert np.array_equal(applied["score"], scores)
    flagged = scores >= t.point.threshold
    assert np.array_equal(applied["decision"], flagged)
    assert np.array_equal(loaded.decide(new), flagged)
    assert 0 < flagged.sum() < 500
    # One that is trained again is the same to the last bit.
    again = train(
        data, "y", learner=learner, costs=cs.Costs(fp=1, fn=20 if make is rare else 1), folds=3
    )
    assert again.detector.scorer == t.detector.scorer
    assert np.array_equal(again.scores[learner], t.scores[learner])


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
def test_scores_out_of_fold_come_from_the_other_rows(learner: str) -> None:
    data = adult(300)
    t = train(data, "y", learner=learner, folds=3)
    d = Data.of(data, Roles("y"), Options(Limits(), False, 3, 0, True))
    for k in range(3):
        # Other labels in this fold change nothing for its own rows.
        moved = data["y"].copy()
        here = np.flatnonzero(d.fold == k)
        moved[here] = moved[here[::-1]]
        other = Data.of({**data, "y": moved}, Roles("y"), Options(Limits(), False, 3, 0, True))
        other = replace(other, fold=d.fold)
        model = boost(learner, other.without(k))  # type: ignore[arg-type]
        assert np.array_equal(model.scores(other.of_fold(k)), t.scores[learner][here])


def test_rounds_follow_from_the_folds() -> None:
    data = Data.of(adult(300), Roles("y"), Options(Limits(), False, 3, 0, True))
    folds = [boost("lightgbm", data.without(k)) for k in range(3)]
    made = [replace(one, rounds=r) for one, r in zip(folds, (3, 11, 7), strict=True)]
    whole = boost("lightgbm", data.whole, made)
    assert whole.rounds == 7
    assert whole.model.booster.num_trees() == 7  # type: ignore[attr-defined]


def test_units_stay_together_in_inner_folds() -> None:
    seen = []
    data = {**adult(400), "who": np.arange(400) // 8}
    d = Data.of(data, Roles("y", unit="who"), Options(Limits(), False, 3, 0, True))
    part = d.without(0)
    for rest, held in boosting._splits(part):
        assert not set(part.unit[rest]) & set(part.unit[held])
        assert part.y[held].any()
        seen.append(held)
    assert np.array_equal(np.sort(np.concatenate(seen)), np.arange(len(part.at)))


@pytest.mark.parametrize("learner", LIBRARIES)
def test_weights_count(learner: Any) -> None:
    """Nine to one in one half of the rows, one to nine in the other."""
    pytest.importorskip(learner)
    k = np.arange(400)
    half, y = k % 2, k // 2 % 2
    data = {"y": y, "half": half, "w": np.where(half == y, 9.0, 1.0)}
    d = Data.of(data, Roles("y", weight="w"), Options(Limits(), False, 3, 0, True))
    many = [replace(boost(learner, d.without(0)), rounds=200)]
    margins = boost(learner, d.whole, many).scores(d.whole)
    assert_allclose(margins, np.where(half, 1, -1) * np.log(9), atol=0.1)


def test_rows_of_weight_0_are_not_seen() -> None:
    data = adult(300)
    more = {k: np.concatenate([v, v[:50]]) for k, v in data.items()}
    more["w"] = np.repeat([1.0, 0.0], [300, 50])
    a = train(data, "y", learner="lightgbm", folds=3)
    b = train(more, "y", learner="lightgbm", folds=3, weight="w")
    assert np.array_equal(a.detector.scores(data), b.detector.scores(data))


def test_reasons_add_up_to_the_margin() -> None:
    t = train(adult(), "y", learner="lightgbm", folds=3)
    new = adult(200, seed=1)
    (part,) = t.detector.scorer.scored(new, explain=True)
    why = part.contributions
    assert why is not None
    offset = part.score - why.value.sum(axis=0)
    assert_allclose(offset, offset[0], atol=1e-9)
    words = t.detector.apply(new)["why"].to_pylist()
    assert all(
        ("age is missing " in w) == np.isnan(a) for w, a in zip(words, new["age"], strict=True)
    )
    assert any(text.startswith("job = job ") for text in words)


def test_auto_compares_lines_and_trees_and_says_what_the_line_costs() -> None:
    data = adult(2000)
    t = train(data, "y", costs=cs.Costs(fp=1, fn=2), folds=3)
    assert t.learner == "lightgbm"
    assert [c.name for c in t.compared][-1] == "lightgbm"
    (price,) = [one for one in t.warnings if isinstance(one, LinePrice)]
    value = {c.name: c.value for c in t.compared}
    lines = {name: v for name, v in value.items() if LEARNERS[name].is_line}
    assert price == LinePrice(
        "cost",
        min(lines, key=lines.__getitem__),
        min(lines.values()),
        "lightgbm",
        value["lightgbm"],
    )
    assert price.of_line > price.of_trees
    much = f"{100 * (price.of_line / price.of_trees - 1):.2g} % higher"
    assert f"has {much} expected cost than lightgbm and is interpretable." in price.render()
    assert price in t.detector.training.notes
    assert price.render() in " ".join(summarise_fit(t).text().split())
    # On a line's own ground the line is taken.
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.5
    straight = train({"y": y, "a": y + rng.normal(size=500)}, "y", folds=3)
    assert LEARNERS[straight.learner].is_line
    (price,) = [one for one in straight.warnings if isinstance(one, LinePrice)]
    assert price.measure == "auc"
    assert price.of_line >= price.of_trees


def test_many_rows_are_sampled_in_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(LEARNERS["lightgbm"], sample_above=100)
    monkeypatch.setitem(LEARNERS, "lightgbm", few)
    t = train(adult(300), "y", folds=3)
    (row,) = [c for c in t.compared if c.name == "lightgbm"]
    assert LearnerSampled(100) in row.notes


def test_streams_are_refused_in_one_finding() -> None:
    data = adult(300)
    with finding("no-learner", learner="lightgbm"):
        train(data, "y", learner="lightgbm", stream=True)
    t = train(data, "y", stream=True, folds=3)
    (row,) = [c for c in t.compared if c.name == "lightgbm"]
    assert row.notes == (LearnerSkipped(NEEDS_MEMORY),)
    assert not [one for one in t.warnings if isinstance(one, LinePrice)]


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with finding("library-missing", extra="lightgbm"):
        train(adult(100), "y", learner="lightgbm")
    assert "lightgbm" not in [c.name for c in train(adult(200), "y", folds=3).compared]


def test_too_few_positives_to_stop_on() -> None:
    data = adult(100)
    data["y"] = (np.arange(100) < 2).astype(int)
    with finding("no-learner", learner="lightgbm"):
        train(data, "y", learner="lightgbm", folds=2)


def test_nothing_to_learn_from_is_said() -> None:
    rng = np.random.default_rng(0)
    data = {"y": np.arange(30) % 2, "a": rng.normal(size=30)}  # too few rows for a split
    with finding("nothing-learned", learners=("lightgbm",)):
        train(data, "y", learner="lightgbm", folds=2)


def test_sparse_files_and_rare_levels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        on = rng.random(4) < 0.4
        y = int(on[0] ^ on[1])
        lines.append(f"{y} " + " ".join(f"{k + 1}:1" for k in np.flatnonzero(on)))
    path = tmp_path / "rows.libsvm"
    path.write_text("\n".join(lines) + "\n")
    table = open_table(path)
    t = train(table, "label", learner="lightgbm", folds=3)
    assert t.detector.training.auc is not None
    assert t.detector.training.auc > 0.95
    assert cs.sweep(t.y, t.detector.scores(table)).auc > 0.95
    data = adult(300)
    data["job"][:2] = "once"
    t = train(data, "y", learner="lightgbm", folds=3)
    scorer = t.detector.scorer
    assert isinstance(scorer, ModelScorer)
    new = {"age": [40.0] * 3, "hours": [40.0] * 3, "job": ["once", "never", JOBS[0]]}
    assert len(set(scorer.scores(new)[:2])) == 1


def test_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table("train.parquet", adult())
    write_table("new.csv", {k: v for k, v in adult(100, seed=1).items() if k != "y"})
    words = [
        "fit",
        "train.parquet",
        "--target",
        "y",
        "--learner",
        "lightgbm",
        "--cost",
        "fp=1,fn=3",
    ]
    assert main([*words, "-o", "model.json", "--report", "fit.html", "-q"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "each row was scored and calibrated by models fitted without it" in text
    assert main(["apply", "model.json", "new.csv", "-o", "out.csv", "-q"]) == 0
    got = open_table("out.csv").columns(["score", "decision"])
    d = Detector.load("model.json")
    want = d.scores(open_table("new.csv"))
    assert np.array_equal(got["score"], want)
    saved = json.loads(Path("model.json").read_text())
    assert saved["scorer"]["kind"] == "model"
    assert saved["scorer"]["model"]["encoding"] == "text"
    cost = ["--cost", "fp=1,fn=9"]
    assert main(["revise", "model.json", *cost, "-o", "other.json", "-q"]) == 0
    assert Detector.load("other.json").policy.threshold < d.policy.threshold
    assert main([*words, "--engine", "arrow", "-q"]) == 1
    assert "memory" in capsys.readouterr().err


@pytest.mark.parametrize("learner", LIBRARIES)
def test_importances_are_those_of_the_library(learner: str) -> None:
    pytest.importorskip(learner)
    data = adult()
    t = train(data, "y", learner=learner, folds=3)
    parts = t.detector.scorer.scored(data, explain=True)
    why = [part.contributions for part in parts]
    value = np.concatenate([np.abs(one.value) for one in why if one], axis=1)
    found = t.detector.training.importances
    assert list(found) == ["age", "hours", "job"]
    assert_allclose(list(found.values()), value.mean(axis=1))
    again = Detector.from_json(t.detector.to_json())
    assert again.training.importances == found
    for summary in (summarise_fit(t), summarise_policy(again)):
        assert {one.column: one.value for one in summary.importances} == found
        values = [one.value for one in summary.importances]
        assert values == sorted(values, reverse=True)
        assert summary.as_dict()["importances"][0]["column"] == summary.importances[0].column
        assert "largest importances" in summary.text()
        assert "Largest importances" in render(summary)
        assert not summary.weights


def test_importances_count_weights_and_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "_EXPLAINED", 2)  # the first row and the last
    data = {**adult(300), "w": np.ones(300)}
    data["w"][0] = 3.0
    t = train(data, "y", learner="lightgbm", folds=3, weight="w")
    ends = {k: v[[0, -1]] for k, v in data.items()}
    (part,) = t.detector.scorer.scored(ends, explain=True)
    assert part.contributions is not None
    wanted = np.abs(part.contributions.value) @ [0.75, 0.25]
    assert_allclose(list(t.detector.training.importances.values()), wanted)


def test_notes_on_columns_say_what_trees_do() -> None:
    trees = train(adult(), "y", learner="lightgbm", folds=3)
    line = train(adult(), "y", learner="logistic", folds=3)
    for t, is_line in ((trees, False), (line, True)):
        for notes in (t.encoding.notes, t.detector.training.notes):
            (age,) = (one for one in notes if isinstance(one, ColumnNumber) and one.missing)
            (job,) = (one for one in notes if isinstance(one, ColumnCategory))
            assert age.indicator is is_line
            assert bool(job.reference) is is_line
    assert not line.detector.training.importances


def test_the_price_of_the_line_is_no_warning() -> None:
    summary = summarise_fit(train(adult(), "y", folds=3))
    (price,) = (one for one in summary.notices if isinstance(one, LinePrice))
    said = price.render()
    assert f"\n{said[:30]}" in summary.text()
    page = render(summary)
    assert 'aria-label="Warnings"' not in page
    assert "is interpretable" in page
