"""train: scores of rows that were not fitted to, a fair choice, and a detector that keeps it."""

from __future__ import annotations

import cProfile
import json
import operator
import pstats
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import cutscore as cs
from cutscore.calibration.methods import candidate
from cutscore.core.findings import Fix, Where
from cutscore.core.findings.report import FlagsAlike
from cutscore.core.findings.statistics import NotConverged
from cutscore.core.findings.training import (
    ColumnUnused,
    FoldsApart,
    Leak,
    LearnerEmpty,
    LearnerSampled,
    RowsWeightless,
)
from cutscore.detector import Detector, Encoding
from cutscore.detector.column_summaries import Limits
from cutscore.linear.line import Fit, LinearDetector
from cutscore.report import render, summarise_fit
from cutscore.tables import open_table
from cutscore.tables.roles import Roles
from cutscore.training import diagnostics, folds, train
from cutscore.training.fitted import FittedLine
from cutscore.training.folds import Plan, ScoreScale, out_of_fold
from cutscore.training.registry import LEARNERS, LineLearner
from cutscore.training.rows import Data, TrainingLabels
from raising import finding

NAMES = [name for name, learner in LEARNERS.items() if learner.is_line]


def table(n: int = 600, seed: int = 0, share: float = 0.3, gap: float = 1.5) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return {
        "y": y.astype(np.int64),
        "a": rng.normal(size=n) + gap * y,
        "b": 100 + 20 * rng.normal(size=n),
        "c": rng.choice(["red", "blue", "green"], n),
    }


def features(t: Any, data: dict[str, Any]) -> Any:
    return t.encoding.transform(data)


@pytest.mark.parametrize("learner", NAMES)
def test_the_detector_is_the_line_of_its_learner_on_all_rows(learner):
    data = table()
    t = train(data, "y", learner=learner)
    e = Encoding.fit(data, target="y")
    X, y = e.transform(data), data["y"] == 1
    # Fold by fold, as training orders the rows.
    fold = TrainingLabels(y, 1, 0, None, None, None, ()).folds(5, 0)
    order = np.argsort(fold, kind="stable")
    line = LEARNERS[learner].fit(rows(X[order], y[order]), None, fold[order])
    w, b = line.detector.w, line.detector.b
    assert np.array_equal(t.line.w, w)
    assert np.allclose(t.detector.scores(data), X @ w + b, rtol=1e-9, atol=1e-9)
    assert t.learner == learner
    assert t.why == f"{learner} was chosen by the user."


def rows(X: Any, y: Any) -> Any:
    from cutscore.linear.rows import ArrayRows

    return ArrayRows(X, y)


def test_labels_drawn_at_random_are_not_learned():
    """Half of many intervals of a useless score lie above one half; a leak would put all there."""
    covers, above = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 300
        data = {"y": rng.integers(2, size=n)} | {f"x{k}": rng.normal(size=n) for k in range(40)}
        # A category with many levels is what target encodings leak through.
        data["k"] = rng.choice([f"l{k}" for k in range(30)], n)
        t = train(data, "y", learner="logistic", seed=seed)
        interval = t.detector.training.auc_interval
        covers += interval.low <= 0.5 <= interval.high
        above += t.detector.training.auc > 0.5
        # What the same line says of the rows it was fitted to: that is what honesty costs.
        assert cs.sweep(data["y"], t.detector.scores(data)).auc > 0.7
    assert covers >= 16
    assert 3 <= above <= 17


def test_scores_out_of_fold_come_from_the_other_rows():
    data = table(80)
    roles = Roles("y")
    d = Data.of(data, roles)
    X = Encoding.of(data, roles, Limits(), None).transform(data)
    seen: list[Any] = []

    def spy(given: Any, *_: Any) -> Fit:
        seen.append(given.reduce(lambda block: [(block.X, block.y)], operator.add))
        k = float(len(seen))
        return Fit(LinearDetector(np.full(given.features, k), k * k))

    fold = d.labels.folds(5, 0)
    plan = Plan((LineLearner(name="spy", fit=spy),), cs.Aim())
    out = out_of_fold(d, plan, lambda *_: None)
    for k, given in enumerate(seen):
        others = np.concatenate([np.flatnonzero(fold == j) for j in range(5) if j != k])
        assert np.array_equal(np.concatenate([part for part, _ in given]), X[others])
        assert np.array_equal(np.concatenate([part for _, part in given]), d.y[others])
    assert len(seen) == 5
    # Each had a scale of its own; they share that of the mean line.
    assert_allclose(out.scores["spy"], 3 * X.sum(1) + (1 + 4 + 9 + 16 + 25) / 5, rtol=1e-12)
    line = FittedLine(Fit(LinearDetector(np.full(4, 0.5), 7.0)))
    assert_allclose(out.onto("spy", line), X.sum(1) / 2 + 7)


@pytest.mark.parametrize(
    "options",
    [{}, {"stream": True}, {"unit": "u"}, {"weight": "w"}, {"folds": 3, "seed": 4}],
    ids=lambda o: next(iter(o), "plain"),
)
def test_probabilities_out_of_fold_come_from_the_other_rows(options):
    data = table(500, share=0.2)
    data["u"] = np.arange(500) // 3
    data["w"] = 0.5 + np.arange(500) % 4
    drop = [name for name in ("u", "w") if name not in options.values()]
    t = train(data, "y", learner="fisher", exclude=drop, **options)
    unit = data["u"] if "unit" in options else None
    labels = TrainingLabels(t.y, 1, None, t.weight, unit, None, ())
    fold = labels.folds(options.get("folds", 5), options.get("seed", 0))
    score = t.scores["fisher"]
    prior = cs.sweep(t.y, score, t.weight).prevalence
    methods = [e.method for e in t.detector.policy.calibrator.comparison.entries if not e.note]
    for k in range(fold.max() + 1):
        own = fold == k
        # The other folds fit it, and choose the method.
        others = sweep_of(t, score, ~own)
        fits = [candidate(others, method).probability(score[own], prior) for method in methods]
        assert any(np.allclose(t.probability[own], p, rtol=1e-9, atol=0) for p in fits)
    # What is said of them is said of these; the shipped calibrator is that of all scores.
    one = summarise_fit(t).scores[0]
    w = np.ones(500) if t.weight is None else t.weight
    p = np.where(t.y, t.probability, 1 - t.probability)
    assert_allclose(one.brier, np.average((1 - p) ** 2, weights=w), rtol=1e-12)
    assert_allclose(one.log_loss, np.average(-np.log(p), weights=w), rtol=1e-12)
    assert (one.shares.low.min(), one.shares.high.max()) == (
        t.probability.min(),
        t.probability.max(),
    )
    assert one.cross_fitted
    shipped = candidate(sweep_of(t, score), t.detector.policy.calibrator.comparison.chosen)
    assert t.detector.policy.calibrator.llr(score).tolist() == shipped.llr(score).tolist()


def sweep_of(t: Any, score: Any, some: Any = slice(None)) -> cs.Sweep:
    return cs.sweep(t.y[some], score[some], None if t.weight is None else t.weight[some])


def test_probabilities_of_labels_drawn_at_random_are_not_believed():
    """What columns that know nothing gain on the share of positives, in log loss: nothing, but for
    those who ask the calibrator about the rows it was fitted to."""
    rng = np.random.default_rng(5)
    inside, outside = [], []
    for seed in range(40):
        data = {"y": rng.integers(2, size=200), "x": rng.normal(size=200)}
        t = train(data, "y", learner="fisher", seed=seed)
        s = sweep_of(t, t.scores["fisher"])
        known = cs.log_loss(sweep_of(t, np.full(200, s.prevalence)))
        p = t.detector.policy.calibrator.probability(t.scores["fisher"], s.prevalence)
        inside.append(cs.log_loss(sweep_of(t, p)) - known)
        outside.append(cs.log_loss(sweep_of(t, t.probability)) - known)
    assert np.mean(inside) < -0.001
    assert abs(np.mean(outside)) < 0.002


def test_pages_say_whose_probabilities_they_show():
    t = train(table(200), "y", learner="fisher")
    page = render(summarise_fit(t))
    assert "Each row was calibrated by a model fitted without it (cross-fitting)." in page
    assert "this plot is optimistic" not in page
    text = " ".join(summarise_fit(t).text(80).split())
    said = "each row was scored and calibrated by models fitted without it"
    assert said in text


def test_folds_have_their_share_of_either_class():
    d = Data.of(table(503, share=0.05), Roles("y"))
    fold = d.labels.folds(5, 3)
    for of in (d.y, ~d.y):
        count = np.bincount(fold[of], minlength=5)
        assert count.max() - count.min() <= 1
    assert not np.array_equal(fold, d.labels.folds(5, 4))
    assert np.array_equal(fold, d.labels.folds(5, 3))


def test_folds_never_split_a_group():
    data = table(400)
    rng = np.random.default_rng(0)
    data["who"] = rng.integers(60, size=400)
    d = Data.of(data, Roles("y", unit="who"))
    fold = d.labels.folds(5, 0)
    assert all(len(set(fold[data["who"] == g])) == 1 for g in set(data["who"].tolist()))
    ones = np.bincount(fold[d.y], minlength=5)
    assert ones.max() - ones.min() <= np.bincount(data["who"][d.y]).max()
    t = train(data, "y", unit="who", learner="mean-difference")
    assert "who" not in t.detector.columns
    assert t.detector.training.auc_interval is not None


@pytest.mark.parametrize("positives", [25, 26, 27, 28, 29])
def test_each_fold_has_its_share_of_both_classes(positives: int):
    """Patients who come once or thrice, and are ill or not; those who are not are many."""
    rng = np.random.default_rng(positives)
    who = np.repeat(np.arange(200), rng.choice([1, 3], 200))
    ill = np.arange(200) < positives
    d = Data.of(
        {"y": ill[who], "x": rng.normal(size=len(who)), "who": who},
        Roles("y", unit="who"),
    )
    fold = d.labels.folds(5, 0)
    for mine in (d.y, ~d.y):
        each = np.bincount(fold[mine], minlength=5)
        assert each.max() - each.min() <= 3, each
    # As few as there can be: no fold is empty.
    d = Data.of(
        {"y": [1, 0, 1, 0, 1], "x": np.arange(5.0), "who": np.arange(5)},
        Roles("y", unit="who"),
    )
    assert len(set(d.labels.folds(2, 0).tolist())) == 2


def test_groups_that_repeat_themselves_make_wider_intervals():
    data = table(150, gap=1.0)
    many = {name: np.repeat(column, 4) for name, column in data.items()}
    many["who"] = np.repeat(np.arange(150), 4)
    alone = train(many, "y", learner="mean-difference", exclude=["who"])
    grouped = train(many, "y", learner="mean-difference", unit="who")
    width = [t.detector.training.auc_interval.width for t in (alone, grouped)]
    assert width[1] > 1.5 * width[0]


@pytest.mark.parametrize("aim", [{"costs": cs.Costs(fp=1, fn=7)}, {"maximize": "f1"}, {}])
def test_the_threshold_is_what_choose_says_of_the_scores(aim):
    data = table()
    t = train(data, "y", prior=0.05 if "costs" in aim else None, **aim)
    scores = t.scores[t.learner]
    objective = aim.get("costs") or aim.get("maximize") or "balanced"
    point = cs.choose(cs.sweep(data["y"], scores), objective, prior=t.point.question.prior)
    assert t.detector.policy.threshold == point.threshold
    assert t.detector.policy.confusion == point.confusion
    assert np.count_nonzero(scores >= t.detector.policy.threshold) == point.confusion.flagged
    assert t.detector.policy.aim.costs == aim.get("costs")
    assert t.detector.policy.prior == (0.05 if "costs" in aim else np.mean(data["y"]))
    assert t.detector.policy.aim.goal.name == point.objective


def test_limits_and_confidence_go_into_the_detector():
    t = train(
        table(2000), "y", maximize="recall", subject_to=["precision >= 0.5"], confidence=0.9,
        learner="fisher",
    )  # fmt: skip
    s = cs.sweep(t.y, t.scores["fisher"])
    sure = cs.choose(s, "recall", subject_to=["precision >= 0.5"], confidence=0.9)
    assert t.detector.policy.threshold == sure.threshold
    assert t.detector.policy.aim.limit_texts == ("precision >= 0.5",)
    assert t.detector.policy.aim.confidence == 0.9


def test_auto_takes_the_best():
    t = train(table(1500), "y")
    value = {c.name: c.value for c in t.compared}
    assert list(value) == ["mean-difference", "gaussian", "logistic", "structural"]
    assert t.learner == max(value, key=lambda name: value[name])
    assert t.why == (f"{t.learner} has the highest cross-validated AUC ({value[t.learner]:.4g}).")
    for c in t.compared:
        assert c.value == cs.sweep(t.y, t.scores[c.name]).auc
        if c.name == t.learner:
            assert c.difference is None
        else:
            d = cs.compare(t.y, t.scores[c.name], t.scores[t.learner])
            assert c.difference == d.difference
            assert_allclose(c.difference_interval[:2], d.interval[:2], rtol=1e-9)


def calls(run: Any) -> Counter[str]:
    """How often each function of the package is called, by its module and name."""
    profiler = cProfile.Profile()
    profiler.runcall(run)
    out: Counter[str] = Counter()
    for (file, _, name), (_, count, *_) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        out[f"{Path(file).stem}.{name}"] += count
    return out


@pytest.mark.parametrize(
    ("learner", "chosen", "checked"), [("logistic", 1, 8), ("auto", 1, 12)], ids=["one", "auto"]
)
def test_a_fit_and_its_report_validate_and_choose_once(learner, chosen, checked):
    """The report is made of what training had: it chooses, bounds and selects nothing again."""
    data = table(600)
    trained: list[Any] = []
    fit = calls(lambda: trained.append(train(data, "y", learner=learner)))
    report = calls(lambda: render(summarise_fit(trained[0])))
    assert fit["choice.choose"] == chosen
    assert fit["selection.select"] == 1
    assert fit["checks.check_rows"] <= checked
    for name in ("choice.choose", "selection.select", "selection.select_among"):
        assert report[name] == 0, name
    assert report["intervals.auc_interval"] == 0
    assert report["checks.check_rows"] == 1  # the probabilities out of fold


@pytest.mark.parametrize("aim", [{"costs": cs.Costs(1, 5)}, {"maximize": "f1"}])
def test_differences_are_those_of_the_values_shown(aim: Any) -> None:
    t = train(table(600), "y", **aim)
    value = {c.name: c.value for c in t.compared}
    for c in t.compared:
        if c.name != t.learner:
            assert c.difference == c.value - value[t.learner]
            assert c.difference_interval is None or c.difference in c.difference_interval
    if "costs" in aim:
        other = next(name for name in value if name != t.learner)
        d = cs.compare(t.y, t.scores[other], t.scores[t.learner], **aim)
        assert (d.cost_a, d.cost_b) == (value[other], value[t.learner])


def test_auto_takes_the_simplest_of_equally_good_ones_only():
    """Two columns that share their noise: the mean difference adds it up, the others subtract."""
    rng = np.random.default_rng(2)
    y = rng.random(1500) < 0.4
    noise = rng.normal(size=1500)
    data = {
        "y": y,
        "a": y + noise + 0.3 * rng.normal(size=1500),
        "b": noise + 0.3 * rng.normal(size=1500),
    }
    t = train(data, "y")
    assert t.learner != "mean-difference"
    first = t.compared[0]
    assert first.name == "mean-difference"
    assert first.difference_interval.high < 0
    data = {"y": y, "a": y + noise}  # one column: all lines rank alike
    t = train(data, "y")
    assert len({c.value for c in t.compared}) < len(t.compared)
    best = [c.name for c in t.compared if c.value == max(c.value for c in t.compared)]
    assert t.learner == best[0]


def test_a_learner_that_learned_nothing_is_never_taken(monkeypatch):
    def nothing(given: Any, *_: Any) -> Fit:
        return Fit(LinearDetector(np.zeros(given.features), 0.0), converged=False)

    for name in ("mean-difference", "gaussian"):
        monkeypatch.setitem(LEARNERS, name, replace(LEARNERS[name], fit=nothing))
    t = train(table(), "y")
    assert t.learner in ("logistic", "structural")
    notes = {c.name: c.notes for c in t.compared}
    assert notes["gaussian"] == (LearnerEmpty(5, 5),)
    assert notes["logistic"] == ()
    assert f": {LearnerEmpty(5, 5).render()}\n" in summarise_fit(t).text()
    with finding("nothing-learned", learners=("gaussian",)):
        train(table(), "y", learner="gaussian")
    for name in NAMES:
        monkeypatch.setitem(LEARNERS, name, replace(LEARNERS[name], fit=nothing))
    with finding("nothing-learned"):
        train(table(), "y")


def test_a_line_for_a_measure_that_learns_nothing_is_refused(tmp_path: Path, monkeypatch, capsys):
    """The surrogate of F1 is lowest at w = 0 where classes overlap."""
    from cutscore.cli import main
    from cutscore.tables import write_table

    monkeypatch.chdir(tmp_path)
    write_table("t.csv", table(400, share=0.05, gap=0.3))
    words = ["fit", "t.csv", "--target", "y", "--maximize", "f1", "-q", "-o", "m.json"]
    assert main([*words, "--learner", "structural"]) == 1
    said = capsys.readouterr().err
    assert "[nothing-learned]" in said
    assert not Path("m.json").exists()
    assert main(words) == 0


def test_scores_of_no_use_are_said_to_be():
    rng = np.random.default_rng(3)
    data = {"y": rng.integers(2, size=300), "x": rng.normal(size=300)}
    data["y"][:2], data["x"][:2] = 1, [9, -9]  # positives last, either way
    t = train(data, "y", learner="fisher", costs=cs.Costs(fp=1, fn=999))
    (auc,) = t.warnings
    assert (auc.code, auc.auc) == ("no-better-than-chance", t.detector.training.auc)
    assert [found.code for found in summarise_fit(t).notices].count(auc.code) == 1
    limits = ["precision >= 0.99", "recall >= 0.5"]
    limited = train(data, "y", learner="fisher", maximize="recall", subject_to=limits)
    assert [found.code for found in limited.warnings] == ["no-better-than-chance", "infeasible"]
    # Scores that rank well, and decide nothing at these costs.
    data["x"] += data["y"]
    always = train(data, "y", learner="fisher", costs=cs.Costs(fp=1, fn=999)).warnings
    assert always == (FlagsAlike("everything", costs=True),)
    data["y"][:2] = 0
    never = train(data, "y", learner="fisher", costs=cs.Costs(fp=1000, fn=1)).warnings
    assert never == (FlagsAlike("nothing", costs=True),)
    assert train(table(), "y", learner="fisher").warnings == ()


@pytest.mark.parametrize("learner", ["gaussian", "mean-difference", "logistic"])
def test_folds_are_laid_together_on_one_scale(learner: str):
    """A level that positives alone have makes the scale of a line hang on a handful of rows."""
    rng = np.random.default_rng(7)

    def parts(n: int) -> dict[str, Any]:
        y = rng.random(n) < 0.01
        return {
            "y": y,
            "temperature": rng.normal(size=n) + 1.5 * y,
            "vibration": rng.lognormal(0, 1.2, n) * (1 + 2 * y),
            "noise": np.where(y & (rng.random(n) < 0.5), "rattles", "none"),
        }

    data, more = parts(6000), parts(100_000)
    t = train(data, "y", learner=learner, costs=cs.Costs(fp=1, fn=20))
    scores = t.scores[learner]
    raw = cs.sweep(more["y"], t.detector.scores(more))
    promised, kept = t.point.confusion, raw.at(t.detector.policy.threshold)
    assert kept.fpr == pytest.approx(promised.fpr, abs=0.006)
    assert kept.tpr == pytest.approx(promised.tpr, abs=0.12)
    span = t.detector.training.auc_interval
    assert span.low < raw.auc < span.high
    assert span.width < 0.14
    # Negatives lie where those of the line that is shipped do.
    negatives = scores[~data["y"]], t.detector.scores(more)[~more["y"]]
    a, b = (np.quantile(s, [0.25, 0.5, 0.75]) for s in negatives)
    assert_allclose(a, b, atol=0.1 * (b[2] - b[0]))
    assert "folds-apart" not in {found.code for found in t.warnings}
    revised = t.detector.revised(costs=cs.Costs(fp=1, fn=100))
    assert 0.01 < np.mean(revised.decide(more)) < 0.5


def test_more_levels_of_a_category():
    rng = np.random.default_rng(0)
    code = rng.integers(80, size=4000)
    data = {"y": rng.random(4000) < 0.1 + 0.5 * (code == 3), "shop": [f"s{k}" for k in code]}
    few = train(data, "y", learner="mean-difference")
    all_ = train(data, "y", learner="mean-difference", max_categories=100)
    assert [len(t.encoding.columns[0].levels) for t in (few, all_)] == [50, 80]


def test_weights_are_on_record():
    data = table(400) | {"w": np.where(np.arange(400) % 2, 1.0, 3.0)}
    t = train(data, "y", weight="w", learner="mean-difference")
    (note,) = [n for n in t.detector.training.notes if n.code == "rows-weighted"]
    assert note.column == "w"
    assert note.share == pytest.approx(np.average(data["y"], weights=data["w"]))
    assert "\n  on these rows (weighted)\n" in summarise_fit(t).text()
    page = render(summarise_fit(t), "t")
    assert "<p>Total weight of rows at this threshold.</p>" in page
    assert "% consistency band" in page
    plain = render(summarise_fit(train(table(400), "y", learner="mean-difference")), "t")
    assert "<p>Number of rows at this threshold.</p>" in plain


def test_a_unit_must_have_a_name():
    data = table(100) | {"who": np.where(np.arange(100) == 7, np.nan, np.arange(100.0))}
    with finding("value-missing", what="who", where=Where(7, column="who")):
        train(data, "y", unit="who")


def test_limits_with_a_confidence_count_units():
    data = table(600) | {"who": np.arange(600) // 20}
    asked = {"maximize": "recall", "subject_to": "fpr <= 0.2", "learner": "mean-difference"}
    t = train(data, "y", unit="who", confidence=0.9, **asked)
    units = cs.units(t.y, t.scores[t.learner], data["who"])
    s = cs.sweep(t.y, t.scores[t.learner])
    limit = {"subject_to": "fpr <= 0.2", "confidence": 0.9}
    assert t.detector.policy.threshold == cs.choose(s, "recall", units=units, **limit).threshold
    assert t.detector.policy.threshold != cs.choose(s, "recall", **limit).threshold
    assert summarise_fit(t).scores[0].point.threshold == t.detector.policy.threshold
    heavy = data | {"w": np.arange(600) % 3 + 1.0}
    with finding("counts-rows", cs.UndefinedError):
        train(heavy, "y", unit="who", weight="w", confidence=0.9, **asked)
    auto = train(data, "y", confidence=0.9, **(asked | {"learner": "auto"}))
    assert auto.why.endswith(" with the limits on these rows, without the confidence.")


def test_folds_that_disagree_are_told():
    rng = np.random.default_rng(0)
    y = np.tile([False, True], 200)
    fold = np.repeat(np.arange(4), 100)
    data = replace(Data.of({"y": y, "x": rng.normal(size=400)}, Roles("y")), fold=fold)
    scores = y + 0.1 * rng.normal(size=400)
    assert diagnostics.fold_gap(data, scores, cs.sweep(y, scores).auc) == []
    scores += fold
    auc = cs.sweep(y, scores).auc
    assert auc == pytest.approx(0.72, abs=0.01)
    assert diagnostics.fold_gap(data, scores, auc) == [FoldsApart(1.0, auc)]


def test_a_learner_that_stopped_early_says_so(monkeypatch):
    own = LEARNERS["logistic"]

    def early(given: Any, *more: Any) -> Fit:
        return Fit(own.fit(given, *more).detector, converged=False)

    monkeypatch.setitem(LEARNERS, "logistic", replace(own, fit=early))
    t = train(table(), "y", learner="logistic")
    assert t.compared[0].notes == (NotConverged("logistic", 5, 5, of="folds"),)
    assert "not-converged" in [w.code for w in t.warnings]


def test_learners_that_fail_are_noted_not_fatal(monkeypatch):
    def fails(*_: Any) -> Fit:
        raise MemoryError

    monkeypatch.setitem(LEARNERS, "gaussian", replace(LEARNERS["gaussian"], fit=fails))
    t = train(table(), "y")
    (note,) = {c.name: c.notes for c in t.compared}["gaussian"]
    assert note.code == "learner-skipped"
    assert "–" in summarise_fit(t).text()
    assert summarise_fit(t).as_dict()["learners"]["rows"][1]["value"]["value"] is None


def test_weights_are_repetitions():
    """Least squares does not care how columns are scaled, so that it is exact here."""
    data = table(300)
    w = np.random.default_rng(1).integers(0, 4, 300)
    heavy = train(data | {"w": w}, "y", weight="w", learner="least-squares")
    many = {name: np.repeat(column, w) for name, column in data.items()}
    again = train(many, "y", learner="least-squares")
    a, b = heavy.detector.scores(data), again.detector.scores(data)
    assert np.allclose(a, b, rtol=1e-9, atol=1e-9)
    assert heavy.detector.policy.prior == pytest.approx(again.detector.policy.prior, rel=1e-14)
    assert RowsWeightless(int(np.sum(w == 0))) in heavy.warnings
    assert len(heavy.y) == np.count_nonzero(w)


def test_all_weights_equal_change_nothing_but_counts():
    data = table(300)
    asked = {"costs": cs.Costs(fp=1, fn=5), "learner": "mean-difference"}  # no penalty counts rows
    plain = train(data, "y", **asked)
    double = train(data | {"w": np.full(300, 2.0)}, "y", weight="w", **asked)
    assert double.detector.policy.threshold == pytest.approx(
        plain.detector.policy.threshold, rel=1e-9
    )
    assert double.detector.training.auc == pytest.approx(plain.detector.training.auc, rel=1e-12)
    assert double.detector.policy.confusion.tp == 2 * plain.detector.policy.confusion.tp


def test_the_same_seed_gives_the_same_file():
    data = table()
    a, b, c = (train(data, "y", seed=seed).detector.to_json() for seed in (1, 1, 2))
    assert a == b
    assert a != c


def test_sparse_files_stay_sparse(tmp_path: Path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        y = rng.random() < 0.4
        index = np.sort(rng.choice(np.arange(5, 10**5), 3, replace=False))
        more = " ".join(f"{i}:{rng.random():.3f}" for i in index)
        lines.append(f"{'+1' if y else '-1'} 3:{rng.normal() + 2 * y:.4f} {more}")
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    source = open_table(tmp_path / "t.svm")
    X, label = source.sparse()

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("made dense")

    monkeypatch.setattr("cutscore.tables.formats.libsvm.LibsvmPart.batches", refuse)
    t = train(source, "label", learner="logistic")
    assert t.detector.training.auc > 0.85
    assert t.detector.policy.labels.positive == 1
    assert len(t.detector.columns) == len(np.unique(X.indices))
    # The line is in standardised numbers; in raw ones it scores the matrix itself.
    weights = {term.column.name: term.weight for term in t.detector.scorer.terms}
    dense = np.array([weights.get(str(i), 0.0) for i in source.indices])
    expected = X @ dense + t.detector.scorer.bias
    raw = LEARNERS[t.learner].fit(rows(X, label == 1), None).detector
    assert np.allclose(expected, raw.scores(X), rtol=1e-9, atol=1e-9)
    only = train(source, "label", columns=["3"], learner="fisher")
    assert only.detector.columns == ["3"]
    for wrong, code, fields in (
        ({"target": "3"}, "bad-argument", {"parameter": "target", "value": "3"}),
        ({"target": "label", "exclude": ["4"]}, "column-missing", {"column": "4"}),
        ({"target": "label", "categories": ["3"]}, "bad-argument", {"parameter": "categories"}),
    ):
        with finding(code, **fields):
            train(source, **wrong)


def test_warnings_about_the_data():
    data = table(200, share=0.1)
    y = data["y"]
    data["knows"] = y * 10.0 + np.random.default_rng(0).random(200)
    t = train(data, "y", learner="fisher")
    (leak,) = [found for found in t.warnings if found.code == "leak"]
    assert leak == Leak("knows", 1.0, fixes=(Fix("exclude", "knows"),))
    assert leak in t.detector.training.notes
    again = Detector.from_json(t.detector.to_json()).training
    assert again.notes == t.detector.training.notes
    assert train(table(1000), "y", learner="fisher").warnings == ()


@pytest.mark.parametrize(
    ("change", "options", "code", "fields"),
    [
        ({"y": np.zeros(60, int)}, {}, "one-class", {"have": "negative (60 of them)"}),
        ({"y": np.r_[1, np.zeros(59, int)]}, {}, "too-few", {"have": 1}),
        ({"y": np.arange(60) % 3}, {}, "labels-many", {}),
        ({"y": np.arange(60) % 2 + 1}, {}, "positive-unstated", {}),
        ({}, {"learner": "forest"}, "bad-argument", {"parameter": "learner", "value": "forest"}),
        (
            {},
            {"costs": cs.Costs(fp=1, fn=1), "maximize": "f1"},
            "arguments-conflict",
            {"parameters": ("costs", "maximize")},
        ),
        ({}, {"target": "yy"}, "column-missing", {"column": "yy", "near": ["y"]}),
        ({}, {"weight": "c"}, "value-unfit", {"name": "'c'", "wanted": "numbers"}),
        ({"w": np.r_[-1.0, np.ones(59)]}, {"weight": "w"}, "bad-weight", {"value": -1.0}),
        (
            {},
            {"weight": "y"},
            "arguments-conflict",
            {"column": "y", "parameters": ("target", "weight")},
        ),
        ({"g": np.zeros(60, int)}, {"unit": "g"}, "too-few", {"have": 1, "need": 5}),
        ({}, {"folds": 1}, "bad-argument", {"parameter": "folds", "value": 1}),
        ({}, {"exclude": ["a", "b", "c"]}, "no-features", {"first": None}),
        ({}, {"positive": "x"}, "positive-unknown", {"positive": "x", "kind": "numbers"}),
    ],
)
def test_what_can_not_be_learned_is_said(change, options, code, fields):
    data = table(60) | change
    with finding(code, **fields):
        train(data, options.pop("target", "y"), **options)


def test_one_label_against_the_rest_is_said():
    data = table(300)
    data["y"] = np.where(data["y"] == 1, "bad", np.where(np.arange(300) % 2, "good", "fair"))
    t = train(data, "y", positive="bad", learner="fisher")
    assert t.detector.policy.labels.positive == "bad"
    assert np.array_equal(t.y, data["y"] == "bad")
    (said,) = t.warnings
    assert (said.code, said.column, said.positive) == ("one-vs-rest", "y", "bad")
    assert set(said.others) == {"good", "fair"}
    two = dict(data, y=np.where(data["y"] == "bad", "bad", "good"))
    assert train(two, "y", positive="bad", learner="fisher").warnings == ()


def test_the_model_comes_back_from_its_file(tmp_path: Path):
    data = table()
    t = train(data, "y", costs=cs.Costs(fp=1, fn=5))
    t.detector.save(tmp_path / "m.json")
    again = Detector.load(tmp_path / "m.json")
    assert np.array_equal(again.scores(data), t.detector.scores(data))
    assert json.loads((tmp_path / "m.json").read_text())["training"]["learner"] == t.learner


def test_progress_rises_to_the_end():
    told: list[float] = []
    train(table(200), "y", report=lambda done, _: told.append(done))
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(told)


def test_the_text_has_one_line_a_learner_and_no_times():
    t = train(table(), "y", costs=cs.Costs(fp=1, fn=5))
    text = summarise_fit(t, "t.csv").text(80)
    assert max(map(len, text.splitlines())) <= 80
    lines = text.splitlines()
    start = lines.index("Learners by cost per case, cross-validated")
    assert lines[start + 1].split() == ["learner", "cost", "per", "case", "difference"]
    # Long differences continue on a line of their own.
    rows = [line for line in lines[start + 2 : start + 10] if line[4:5].isalpha()][:4]
    names = [line[4:].split()[0] for line in rows]
    assert names == [c.name for c in t.compared]
    assert [line[2] == "*" for line in rows] == [name == t.learner for name in names]
    # The same twice, though the seconds are not.
    again = train(table(), "y", costs=cs.Costs(fp=1, fn=5))
    assert summarise_fit(again, "t.csv").text(80) == text
    assert max(map(len, summarise_fit(t).text(60).splitlines())) <= 60


def test_columns_that_are_not_used_come_first():
    data = table(200)
    rng = np.random.default_rng(0)
    data |= {f"x{k}": rng.normal(size=200) for k in range(20)} | {"last": ["same"] * 200}
    t = train(data, "y", learner="mean-difference")
    facts = summarise_fit(t).training
    columns = [text for name, text in facts if name == "column"]
    assert columns[0] == ColumnUnused("last", "constant", "'same'").render()
    assert sorted(columns) == sorted(note.render() for note in t.encoding.notes)
    assert columns[0] in summarise_fit(t).text(100)
    data |= {f"u{k}": [k] * 200 for k in range(15)}
    facts = dict(summarise_fit(train(data, "y", learner="mean-difference")).training)
    assert facts["not used"].endswith("'u13', 'u14'")


def test_the_interval_of_the_auc_is_one_of_groups():
    one = table(150)
    data = {name: np.repeat(column, 4) for name, column in one.items()}
    data["unit"] = np.repeat(np.arange(150), 4)
    grouped = train(data, "y", unit="unit", learner="mean-difference")
    summary = summarise_fit(grouped)
    shown = summary.scores[0].auc.interval
    assert shown == grouped.detector.training.auc_interval
    plain = summarise_fit(train(data, "y", exclude=["unit"], learner="mean-difference"))
    rows = plain.scores[0].auc.interval
    # Each unit is there four times: its interval is about twice as wide.
    assert 1.5 < (shown.high - shown.low) / (rows.high - rows.low) < 2.6
    # And so are those of the rates.
    wide, narrow = (one.scores[0].measures["recall"].interval for one in (summary, plain))
    assert 1.2 < (wide.high - wide.low) / (narrow.high - narrow.low) < 2.8


def test_weights_for_one_standard_deviation_of_a_feature():
    data = table(400)
    data["a"] = np.where(np.arange(400) % 5 == 0, np.nan, data["a"])
    t = train(data, "y", learner="logistic")
    X = t.encoding.transform(data)
    found = {w.column: w for w in summarise_fit(t).weights}
    for j, name in enumerate(t.encoding.features):
        w = found[name]
        if name in ("a", "b"):  # of the rows that have a value
            assert w.scaled == pytest.approx(t.line.w[j], rel=1e-12)
        else:
            assert w.weight == pytest.approx(t.line.w[j], rel=1e-12)
            assert w.scaled == pytest.approx(t.line.w[j] * X[:, j].std(), rel=1e-9)


def test_structural_is_trained_for_the_costs(monkeypatch):
    """For the weighted error, with a C of its path; before, for the AUC, and nobody was told."""
    from cutscore.linear import structural as module

    kinds: list[str] = []
    own = module.structural

    def spy(rows: Any, aim: Any, **options: Any) -> Fit:
        kinds.append(aim.kind)
        return own(rows, aim, **options)

    monkeypatch.setattr(module, "structural", spy)
    train(table(), "y", learner="structural", costs=cs.Costs(fp=1, fn=10))
    assert set(kinds) == {"cost"}
    kinds.clear()
    train(table(), "y", learner="structural")
    assert set(kinds) == {"auc"}


def test_auto_shows_structural_a_sample_of_many_rows(monkeypatch):
    sizes: dict[str, set[int]] = {}

    def watched(learner: Any) -> Any:
        def run(rows: Any, *more: Any) -> Fit:
            sizes.setdefault(learner.name, set()).add(len(rows))
            return learner.fit(rows, *more)

        return replace(learner, fit=run, sample_above=learner.sample_above and 100)

    for name in NAMES:
        monkeypatch.setitem(LEARNERS, name, watched(LEARNERS[name]))
    t = train(table(600), "y")
    assert sizes["structural"] == {100}
    assert 100 not in sizes["logistic"]
    (row,) = [c for c in t.compared if c.name == "structural"]
    assert LearnerSampled(100) in row.notes
    assert len(t.scores["structural"]) == 600
    sizes.clear()
    # Asked for, it sees all rows.
    assert LearnerSampled(100) not in train(table(600), "y", learner="structural").compared[0].notes
    assert min(sizes["structural"]) > 400
    y = np.arange(1000) < 300
    some = folds._sample(y, np.arange(0, 1000, 2), 100, 0)
    assert len(np.unique(some)) == 100
    assert y[some].sum() == 30
    assert (some % 2 == 0).all()


@pytest.mark.parametrize("learner", ["logistic", "gaussian", "mean-difference"])
@pytest.mark.parametrize("stream", [False, True])
def test_rows_of_weight_0_are_absent(learner: str, stream: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.3
    table = pa.table({"y": y, "a": rng.normal(size=1000) + y, "c": rng.choice(["p", "q"], 1000)})
    table = table.append_column("w", pa.array(rng.uniform(0.5, 2, 1000)))
    none = pa.table({"y": [True] * 5, "a": [1e9] * 5, "c": ["never"] * 5, "w": [0.0] * 5})
    both = pa.concat_tables([none, table])
    plain, more = (train(t, "y", weight="w", learner=learner, stream=stream) for t in (table, both))
    assert more.detector.scorer.terms == plain.detector.scorer.terms
    assert more.detector.policy.threshold == plain.detector.policy.threshold
    assert more.detector.training.auc == plain.detector.training.auc
    assert more.detector.training.fingerprint == plain.detector.training.fingerprint


def test_folds_are_brought_to_one_scale_by_weight() -> None:
    rng = np.random.default_rng(1)
    scores, times = rng.normal(size=101), rng.integers(1, 4, 101)
    again = np.repeat(scores, times)
    assert ScoreScale.of(scores, times.astype(float)) == pytest.approx(
        ScoreScale.of(again, None), rel=1e-12
    )


def test_two_numbers_have_a_surface() -> None:
    """The page draws what the detector gives on a grid; names are escaped."""
    rng = np.random.default_rng(5)
    y = rng.random(700) < 0.4
    data = {
        "y": y,
        "a<b>&": rng.normal(size=700) + y,
        "c": 10 * rng.normal(size=700) + 5 * y,
    }
    data["c"][3] = np.nan
    t = train(data, "y", learner="fisher")
    s = summarise_fit(t).grid
    assert s is not None
    assert s.names == ("a<b>&", "c")
    for i, j in ((0, 0), (7, 30), (48, 48)):
        one = t.detector.probability({"a<b>&": [s.x1[j]], "c": [s.x2[i]]})
        assert s.p[i, j] == one[0]
    # The rows are those of the table, at equal steps, without the one that has no number.
    at = np.linspace(0, 699, 500).astype(int)
    at = at[~np.isnan(data["c"][at])]
    np.testing.assert_allclose(s.rows[0], data["a<b>&"][at], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.rows[1], data["c"][at], rtol=1e-9, atol=1e-9)
    assert s.rows[2].tolist() == y[at].tolist()
    page = render(summarise_fit(t), "t")
    assert "Probability of a positive" in page
    assert "a&lt;b&gt;&amp;" in page
    assert "a<b>" not in page
    assert page.count('<path class="level') == 5
    # Lines of equal probability of a line are parallel to the line where it is one half.
    half = re.search(r'<path class="level half" d="([^"]+)"', page)
    assert half is not None
    ends = np.array(re.findall(r"(\d+),(\d+)", half[1]), float) / 1000
    x1, x2 = s.x1[0] + ends[:, 0] * np.ptp(s.x1), s.x2[0] + (1 - ends[:, 1]) * np.ptp(s.x2)
    found = t.detector.probability({"a<b>&": x1, "c": x2})
    assert np.abs(found - 0.5).max() < 0.02


@pytest.mark.parametrize("stream", [False, True])
def test_other_columns_have_no_surface(stream: bool) -> None:
    rng = np.random.default_rng(6)
    y = rng.random(300) < 0.4
    two = {"y": y, "a": rng.normal(size=300) + y, "b": rng.normal(size=300)}
    three = two | {"c": rng.normal(size=300)}
    word = {"y": y, "a": two["a"], "b": np.where(y, "u", "v")}
    for table_, there in ((two, True), (three, False), (word, False)):
        t = train(table_, "y", learner="mean-difference", stream=stream)
        assert (summarise_fit(t).grid is not None) == there
        assert ("Probability of a positive" in render(summarise_fit(t), "t")) == there
