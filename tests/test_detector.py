"""The artefact: its scores, decisions and reasons, and files that are what was saved or refused."""

from __future__ import annotations

import copy
import json
import pickle
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings import Fix
from cutscore.core.findings.training import ColumnUnused, Leak
from cutscore.detector import (
    CategoryTerm,
    ColumnScorer,
    Detector,
    Encoding,
    LinearScorer,
    NumberTerm,
    Training,
)
from cutscore.detector.scorers.linear import GROUP
from cutscore.policy import Labels
from cutscore.tables import open_table, write_table
from detectors import hand_made
from raising import finding
from test_encoding import tables

HOSTILE = "<script>alert('x')</script>\n\u202e\"';--"


def calibrators() -> list[cs.Calibrator]:
    s = cs.Sweep.from_counts([3, 2, 1, -1], pos=[6, 3, 1, 1], neg=[1, 3, 6, 9])
    return [
        cs.Affine(1.7, 0.2),
        cs.calibrate(s, "monotone"),
        cs.Monotone([2.0, 0.5, -3.0], [2.5, 0.1, -np.pi], interpolate=True, tilt=2**-10, scale=3.0),
        cs.Monotone([np.inf, 0.0, -np.inf], [np.inf, 1.0, -np.inf]),
        cs.Gaussian(1.0, 2.0, 0.0, 1.0, low=-0.3, high=9.0),
        cs.Gaussian(1.0, 1.0, 0.0, 1.0, low=-4.0, high=9.0).then(cs.Affine(0.5, 0.1)),
    ]


def made(
    table: Any, seed: int = 0, calibrator: cs.Calibrator | None = None, **more: Any
) -> Detector:
    """A detector with drawn weights."""
    e = Encoding.fit(table, min_rows=1, max_categories=3)
    rng = np.random.default_rng(seed)
    line = cs.LinearDetector(rng.normal(size=len(e.features)), float(rng.normal()))
    options = {"aim": cs.Aim(prior=0.1), "threshold": 0.25} | more
    return hand_made((e, line), calibrator=calibrator or cs.Affine(1.5, 0.1), **options)


TABLE = pa.table(
    {
        "income": [1.5, 2.5, None, 4.0, 0.5, 3.0],
        "colour": ["red", "blue", "red", None, "green", "red"],
        HOSTILE: [True, False, True, True, False, None],
    }
)


def full() -> Detector:
    return made(
        TABLE,
        aim=cs.Aim(cs.Costs(fp=1, fn=20, tp=0.5), "recall >= 0.9", prior=0.1, confidence=0.95),
        column="label",
        positive=1,
        negative=0,
        training=Training(
            100,
            7,
            "logistic",
            0.91,
            cs.Interval(0.85, 0.95, 0.95),
            (ColumnUnused("é", "empty"), Leak("x", 0.999, fixes=(Fix("exclude", "x"),))),
            "sha256:12",
        ),
    )


# ------------------------------------------------------------------------------------- the numbers


@given(tables(), st.integers(0, 9))
def test_scores_are_the_line_on_the_features(train: pa.Table, seed: int) -> None:
    e = Encoding.fit(train, min_rows=1, max_categories=3)
    rng = np.random.default_rng(seed)
    line = cs.LinearDetector(rng.normal(size=len(e.features)), float(rng.normal()))
    d = hand_made((e, line))
    # Rows with nothing but missing values, and with levels that training never had.
    gone = pa.table({f.name: pa.nulls(2, f.type) for f in train.schema})
    new = {
        f.name: pa.array(["never seen"] * 3, f.type) if f.type == pa.string() else train[f.name][:3]
        for f in train.slice(0, 3).schema
        if train.num_rows >= 3
    }
    for table in (train, gone, *([pa.table(new)] if new else [])):
        X = e.transform(table, sparse=False)
        wanted = X @ line.w + line.b
        size = np.abs(X) @ np.abs(line.w) + abs(line.b) + 1
        assert (np.abs(d.scores(table) - wanted) <= 1e-12 * size).all()


def by_hand(d: Detector, row: dict[str, Any]) -> float:
    """The formula, one row at a time."""
    total = d.scorer.base
    for term in d.scorer.terms:
        value = row[term.column.name]
        if isinstance(term, NumberTerm):
            gone = value is None or value != value  # noqa: PLR0124
            total += term.missing if gone else term.weight * (value - term.column.mean)
        elif value is None:
            total += term.missing
        else:
            text = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
            levels = dict(zip(term.column.levels, term.weights, strict=True))
            total += levels.get(text, term.other)
    return total


@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_apply_is_the_formula(calibrator: cs.Calibrator) -> None:
    d = made(TABLE, calibrator=calibrator)
    new = pa.concat_tables([TABLE, TABLE.set_column(1, "colour", pa.array(["pink", *["red"] * 5]))])
    out = d.apply(new, keep=["colour"])
    assert out.schema.names == ["colour", "score", "llr", "probability", "decision", "why"]
    for row, got in zip(new.to_pylist(), out.to_pylist(), strict=True):
        score = by_hand(d, row)
        assert got["score"] == pytest.approx(score, abs=1e-13)
        assert got["llr"] == calibrator.llr(got["score"])
        assert got["probability"] == calibrator.probability(got["score"], 0.1)
        assert got["decision"] == (got["score"] >= d.policy.threshold)
        assert got["colour"] == row["colour"]
    assert np.array_equal(d.scores(new), out["score"].to_numpy())
    assert np.array_equal(d.llr(new), out["llr"].to_numpy())
    assert np.array_equal(d.probability(new), out["probability"].to_numpy())
    assert np.array_equal(d.decide(new), out["decision"].to_numpy())
    assert d.probability(new, 0.5)[0] == calibrator.probability(d.scores(new)[0], 0.5)


def test_bias_is_for_raw_values() -> None:
    d = made(TABLE)
    income = d.scorer.terms[0]
    assert isinstance(income, NumberTerm)
    for row in TABLE.to_pylist():
        if row["income"] is not None:
            rest = by_hand(d, row | {"income": income.column.mean}) - d.scorer.base
            raw = d.scorer.bias + income.weight * row["income"] + rest
            assert raw == pytest.approx(by_hand(d, row), abs=1e-13)


def test_the_average_row_has_the_base_score() -> None:
    d = made(TABLE)
    new = pa.table(
        {"income": [d.scorer.terms[0].column.mean], "colour": ["never"], HOSTILE: [True]}
    )
    out = d.apply(new, reasons=9)
    weight = dict(zip(d.scorer.terms[2].column.levels, d.scorer.terms[2].weights, strict=True))[
        "true"
    ]
    assert d.scorer.terms[1].other == 0  # "max_categories" kept all colours
    assert out["score"].to_pylist() == [d.scorer.base + weight]
    # Weights of levels are compared with the average of the training rows.
    for term in d.scorer.terms[1:]:
        assert isinstance(term, CategoryTerm)
        assert float(term.column.share @ term.table) == pytest.approx(0, abs=1e-12)


def test_why() -> None:
    d = made(TABLE)
    new = pa.table(
        {"income": [400.0, None, 2.0], "colour": ["red", "blue", None], HOSTILE: [True] * 3}
    )
    for row, why in zip(new.to_pylist(), d.apply(new, reasons=2)["why"].to_pylist(), strict=True):
        added = {}
        for term in d.scorer.terms:
            name, value = term.column.name, row[term.column.name]
            without = dict(row)
            label = f"{name} is missing" if value is None else name
            if isinstance(term, CategoryTerm) and value is not None:
                label = f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
            added[label] = by_hand(d, row) - by_hand(_without(d, term), without)
        largest = sorted(added.items(), key=lambda item: -abs(item[1]))[:2]
        pieces = why.split(", ")
        assert len(pieces) == 2
        for piece, (label, value) in zip(pieces, largest, strict=True):
            text, number = piece.rsplit(" ", 1)
            assert text == label
            assert number[0] == "+-"[value < 0]
            assert float(number) == pytest.approx(value, rel=0.051)
    assert "why" not in d.apply(new, reasons=0).schema.names
    assert d.apply(new, reasons=50).num_rows == 3
    flat = made({"x": [1.0, 2.0, 3.0]})
    assert flat.apply({"x": [2.0, None]})["why"].to_pylist() == ["", ""]


def _without(d: Detector, term: Any) -> Detector:

    line = d.scorer
    return replace(d, scorer=replace(line, terms=tuple(t for t in line.terms if t is not term)))


def test_apply_by_batches_and_from_files(tmp_path: Path) -> None:
    n = 150_000
    rng = np.random.default_rng(1)
    table = pa.table(
        {"x": rng.normal(size=n), "c": pa.array(rng.choice(["a", "b", "c"], n)), "id": np.arange(n)}
    )
    e = Encoding.fit(table, exclude=["id"])
    line = cs.LinearDetector(np.array([1.0, 0.5, -0.5]), 0.1)
    d = hand_made((e, line), calibrator=cs.Affine(1.0, 0.0), aim=cs.Aim(prior=0.3), threshold=0.0)
    whole = d.apply(table, keep=["id"])
    batches = list(d.apply_batches(table, keep=["id"]))
    assert len(batches) == 3
    assert pa.Table.from_batches(batches).equals(whole)
    write_table(tmp_path / "t.parquet", table)
    assert d.apply(open_table(tmp_path / "t.parquet"), keep=["id"]).equals(whole)
    assert (
        write_table(tmp_path / "out.csv", d.apply_batches(open_table(tmp_path / "t.parquet"))) == n
    )
    assert d.apply(table.to_pandas(), keep=["id"]).equals(whole)
    twice = d.apply(table.slice(0, 9), keep=["id", "id", "x"])
    assert twice["x"].equals(table["x"].slice(0, 9))


def test_many_columns() -> None:
    k = 2 * GROUP + 7
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, k))
    table = {f"x{j}": X[:, j] for j in range(k)}
    d = made(table)
    assert d.scores(table) == pytest.approx(
        [by_hand(d, {f"x{j}": v for j, v in enumerate(r)}) for r in X]
    )


def test_bad_tables() -> None:
    d = made(TABLE)
    for data, code in (
        ({"income": [1.0]}, "column-missing"),
        ({"income": ["x"], "colour": ["red"], HOSTILE: [True]}, "value-unfit"),
        ({"income": [np.inf], "colour": ["red"], HOSTILE: [True]}, "value-unfit"),
        (3, "bad-argument"),
        (TABLE.slice(0, 0), "no-rows"),
    ):
        with finding(code):
            d.apply(data)
    with finding("column-reserved", column="score"):
        d.apply(TABLE.append_column("score", pa.array([1] * 6)), keep=["score"])
    with finding("column-missing", column="nix"):
        d.apply(TABLE, keep=["nix"])


# --------------------------------------------------------------------------------- costs and prior


@pytest.mark.parametrize("costs", [{"fp": 2, "fn": 100}, (2, 100), "f1", [], 0])
def test_costs_are_costs(costs: Any) -> None:
    with finding("bad-argument", parameter="costs"):
        full().revised(costs=costs)


def test_a_revision_is_the_choice_on_the_evidence() -> None:
    """It is that of the policy; nothing else of the detector changes."""
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.3
    table = {"x": rng.normal(size=300).round(1) + y}
    line = LinearScorer.of(Encoding.fit(table), cs.LinearDetector(np.array([1.0]), 0.0))
    s = cs.sweep(y, line.scores(table))
    aim = cs.Aim(cs.Costs(fp=1, fn=9), "fpr <= 0.5")
    d = Detector(line, cs.Policy.choose(s, aim), Training(300, 90, "drawn"))
    for changes, wanted in (
        ({"costs": cs.Costs(fp=1, fn=2)}, cs.Aim(cs.Costs(fp=1, fn=2), "fpr <= 0.5")),
        ({"prior": 0.01}, cs.Aim(aim.goal, "fpr <= 0.5", prior=0.01)),
        ({"subject_to": "recall >= 0.9"}, cs.Aim(aim.goal, "recall >= 0.9")),
        ({"maximize": "f1", "drop_limits": True}, cs.Aim("f1")),
    ):
        r, p = d.revised(**changes), cs.choose(s, wanted)
        assert r.policy.aim == wanted
        assert r.policy.threshold == p.threshold
        assert r.policy.promises[p.objective] == p.expected
        assert (r.scorer, r.training) == (d.scorer, d.training)
        assert r.policy.calibrator is d.policy.calibrator
    assert d.revised(threshold=0.3).policy.given


def test_detectors_that_score_alike_add_up() -> None:
    s = cs.sweep([1, 0, 1, 0, 1], [5, 4, 3, 2, 1])
    d = replace(made(TABLE), policy=cs.Policy.choose(s, "f1"))
    others = cs.Policy.choose(cs.sweep([1, 0, 1, 0, 1], [6, 4, 3, 2, 1]), "f1")
    both = d + replace(d, policy=others)
    assert (both.policy.sweep.P, both.policy.sweep.N) == (6, 4)
    assert both.scorer is d.scorer
    for other in (d, replace(made(TABLE, seed=1), policy=others)):  # the same rows; another scorer
        with finding("bad-argument", parameter="other"):
            d + other


# ----------------------------------------------------------------------- scores that are a column


def chosen(**more: Any) -> cs.Policy:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    return cs.Policy.choose(s, cs.Costs(fp=1, fn=3), score="risk", **more)


def test_a_policy_is_a_detector_of_its_column(tmp_path: Path) -> None:
    p = chosen()
    p.save(tmp_path / "p.json")
    d = Detector.load(tmp_path / "p.json")
    assert d.scorer == ColumnScorer("risk")
    assert d.to_json() == p.to_json()
    rows = {"risk": [8.0, None, 2, np.nan, 4.5, 2.5], "id": list("abcdef")}
    out = d.apply(rows, keep=["id", "risk"])
    assert out.schema.names == ["id", "risk", "llr", "probability", "decision"]
    assert out["decision"].to_pylist() == [True, None, False, None, True, True]
    known = [k for k, one in enumerate(out["llr"].to_pylist()) if one is not None]
    assert known == [0, 2, 4, 5]
    scores = np.array(rows["risk"], float)[known]
    assert out["llr"].take(known).to_pylist() == p.llr(scores).tolist()
    assert out["probability"].take(known).to_pylist() == p.probability(scores).tolist()
    with finding("value-missing", what="score"):
        d.decide(rows)
    with finding("column-missing", column="risk"):
        d.apply({"rsik": [1.0]})
    with finding("bad-argument", parameter="column"):
        Detector(ColumnScorer("other"), p)


def test_low_scores_that_mean_positive() -> None:
    s = cs.sweep([1, 1, 0, 1, 0, 0], [310, 420, 540, 560, 690, 720])
    p = cs.Policy.choose(s, "precision", score="bureau", reverse=True)
    assert 420 <= p.threshold < 540
    d = Detector.of_policy(p)
    rows = {"bureau": [300, p.threshold, p.threshold + 0.5, 700]}
    out = d.apply(rows)
    assert out["decision"].to_pylist() == [True, True, False, False]
    assert np.all(np.diff(out["probability"].to_numpy()) <= 0)
    assert d.novelty(rows) == []
    (found,) = d.novelty({"bureau": [300, -200, 1200]})
    assert (found.low, found.high, found.value) == (310, 720, -200)
    assert (found.share, found.times) == (2 / 3, 510 / 410)


def test_scores_on_another_scale_are_refused() -> None:
    """Per cent for shares: nothing says so but the evidence."""
    d = Detector.of_policy(chosen())  # 1 to 8
    assert d.novelty({"risk": [-2.5, 11.5, None]}) == []
    (few,) = d.novelty({"risk": [1.0, 2.0, 800.0]})
    assert (few.share, few.low, few.high, few.value) == (1 / 3, 1, 8, 800)
    assert few.times == pytest.approx(792 / 7)
    assert d.apply({"risk": [1.0, 2.0, 800.0]}).num_rows == 3
    with finding("scores-outside", share=2 / 3, value=800.0):
        d.apply({"risk": [1.0, 200.0, 800.0]})
    (far,) = d.novelty({"risk": [1.0, np.inf]})
    assert far.value == np.inf


# ------------------------------------------------------------------------------------- saved files


def same(a: Detector, b: Detector) -> bool:
    return a.to_json() == b.to_json() and a.scorer == b.scorer and a.training == b.training


@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
@pytest.mark.parametrize("threshold", [0.1 + 0.2, np.inf, -np.inf, 5e-324, -0.0])
def test_round_trip(tmp_path: Path, calibrator: cs.Calibrator, threshold: float) -> None:
    d = made(TABLE, calibrator=calibrator, threshold=threshold)
    back = Detector.from_json(d.to_json())
    assert same(back, d)
    assert back.policy.threshold == threshold
    assert np.array_equal(back.scores(TABLE), d.scores(TABLE))
    d.save(tmp_path / "m.json")
    assert same(Detector.load(tmp_path / "m.json"), d)
    assert same(Detector.load(str(tmp_path / "m.json")), d)
    assert same(Detector.from_json(d.to_json().encode()), d)
    assert same(pickle.loads(pickle.dumps(d)), d)
    assert same(copy.deepcopy(d), d)


@given(tables(), st.integers(0, 3))
def test_any_detector_comes_back(table: pa.Table, seed: int) -> None:
    d = made(table, seed)
    assert same(Detector.from_json(d.to_json()), d)


def test_everything_is_kept(tmp_path: Path) -> None:
    d = full()
    d.save(tmp_path / "m.json")
    back = Detector.load(tmp_path / "m.json")
    assert same(back, d)
    assert back.training == d.training
    for name in ("aim", "cuts", "given", "labels", "provenance", "score", "reverse"):
        assert getattr(back.policy, name) == getattr(d.policy, name)
    assert back.policy.provenance.library == f"cutscore {cs.__version__}"
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert list(data) == ["format", "rule", "scorer", "training", "policy", "checksum"]
    assert data["format"] == "cutscore.detector/3"
    assert data["scorer"]["kind"] == "linear"
    assert data["scorer"]["terms"][0]["column"]["name"] == "income"
    assert data["policy"]["aim"]["limits"] == ["recall >= 0.9"]
    assert data["policy"]["labels"]["positive"] == 1
    assert "é" in text  # names can be read


@pytest.mark.parametrize(
    "labels", [(0, 1), (0.0, 1.0), (False, True), (True, False), (-1, 1), ('é"', "\u202e")]
)
def test_labels_keep_their_type(labels: Any) -> None:
    for pair in (labels, tuple(np.array(labels)) if not isinstance(labels[1], str) else labels):
        d = made(TABLE, negative=pair[0], positive=pair[1])
        back = Detector.from_json(d.to_json()).policy.labels
        assert repr((back.negative, back.positive)) == repr(labels)


@pytest.mark.parametrize("pair", [(1, 1.0), ("0", 1), (False, 1), ((), 1), (None, np.nan)])
def test_labels_that_can_not_be(pair: Any) -> None:
    with finding("bad-argument", parameter="labels"):
        Labels(pair[1], pair[0])


def test_counts_of_numpy_are_written() -> None:
    d = made(TABLE, training=Training(np.int64(9), np.int32(3), auc=np.float64(0.5)))
    assert Detector.from_json(d.to_json()).training == Training(9, 3, auc=0.5)


def test_an_existing_model_survives(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("precious")
    broken = full()
    object.__setattr__(broken.scorer, "base", float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        broken.save(path)
    assert path.read_text() == "precious"
    with pytest.raises(OSError, match="No such file"):
        full().save(tmp_path / "nix" / "m.json")


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The place of every value in a JSON text."""
    out = [at] if at else []
    if isinstance(value, dict):
        for key, inner in value.items():
            out += _paths(inner, (*at, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            out += _paths(inner, (*at, k))
    return out


def _changed(data: Any, at: tuple[Any, ...], change: Any) -> str:
    data = copy.deepcopy(data)
    inner = data
    for key in at[:-1]:
        inner = inner[key]
    change(inner, at[-1])
    return json.dumps(data)


def _drop(inner: Any, key: Any) -> None:
    del inner[key]


def _more(inner: Any, _: Any) -> None:
    if isinstance(inner, dict):
        inner["extra"] = 1
    else:
        inner.append({"extra": 1})


WRONG: list[Any] = [None, "x", -1, 10**400, [], {}, True, 0.5, [1], {"a": 1}, "inf", 1e300]


@pytest.mark.slow
def test_every_change_is_noticed() -> None:
    """Each value dropped, joined by another or replaced: refused, by a sentence of one line."""
    data = json.loads(full().to_json())
    refused = 0
    for at in _paths(data):
        changes: list[Any] = [_drop, _more]
        for wrong in WRONG:
            changes.append(lambda inner, key, wrong=wrong: inner.__setitem__(key, wrong))
        for change in changes:
            text = _changed(data, at, change)
            if json.loads(text) == data and repr(json.loads(text)) == repr(data):
                continue
            with pytest.raises(DataError) as error:
                Detector.from_json(text)
            assert "\n" not in str(error.value)
            assert len(str(error.value)) < 500
            refused += 1
            # What is wrong in itself is refused without the checksum as well; nothing else raises.
            with suppress(CutscoreError):
                Detector.from_json(text, verify=False)
    assert refused > 500


def test_a_detector_that_is_read_as_a_policy() -> None:
    with finding("format-unknown", format="cutscore.detector/3") as found:
        cs.Policy.from_json('{"format": "cutscore.detector/3"}')
    assert str(found.value).endswith("Use Detector.load(path).")
    with finding("format-unknown") as found:
        cs.Policy.from_json('{"format": "cutscore.policy/9"}')
    assert "Use the version that wrote the file" in str(found.value)


@pytest.mark.parametrize(
    ("at", "value", "code", "fields"),
    [
        ("format", "cutscore.detector/1", "format-unknown", {"format": "cutscore.detector/1"}),
        ("format", "other", "format-unknown", {"format": "other"}),
        ("format", 1, "field-unfit", {"field": "format"}),
        (
            "policy.cuts.thresholds.0",
            "high",
            "field-unfit",
            {"field": "policy.cuts.thresholds[0]", "value": "high"},
        ),
        (
            "policy.cuts.thresholds.0",
            None,
            "field-unfit",
            {"field": "policy.cuts.thresholds[0]", "value": None},
        ),
        ("policy.aim.prior", 1.5, "bad-argument", {"parameter": "prior", "value": 1.5}),
        (
            "policy.aim.objective",
            3,
            "field-unfit",
            {"field": "policy.aim.objective", "rule": "text"},
        ),
        ("policy.aim.costs.fp", -5, "bad-argument", {}),
        ("policy.aim.confidence", 3, "bad-argument", {"parameter": "confidence"}),
        ("scorer.base", "inf", "field-unfit", {"field": "scorer.base", "rule": "a finite number"}),
        ("scorer.terms", {}, "field-unfit", {"field": "scorer.terms", "rule": "a list"}),
        ("scorer.terms.0", 3, "field-unfit", {"field": "scorer.terms[0]", "rule": "an object"}),
        (
            "scorer.terms.0.weight",
            "x",
            "field-unfit",
            {"field": "scorer.terms[0].weight", "value": "x"},
        ),
        ("scorer.terms.0.column.scale", 0, "field-unfit", {"rule": "a finite number above 0"}),
        ("scorer.terms.0.column.low", 9, "bad-argument", {"parameter": "low"}),
        ("scorer.terms.0.column.kind", "text", "field-unfit", {"rule": "number or date"}),
        (
            "scorer.terms.0.column.mean",
            True,
            "field-unfit",
            {"field": "scorer.terms[0].column.mean"},
        ),
        ("scorer.terms.1.column.shares.0", 2, "field-unfit", {"rule": "a number from 0 to 1"}),
        (
            "scorer.terms.1.column.shares",
            [],
            "lengths-differ",
            {"name": "share", "have": 0, "need": 3},
        ),
        ("scorer.terms.1.weights", [1], "lengths-differ", {"name": "weight", "have": 1, "need": 3}),
        ("scorer.terms.1.column.levels.1", "red", "bad-argument", {"parameter": "levels"}),
        ("scorer.terms.2.column.levels.0", "maybe", "bad-argument", {"parameter": "levels"}),
        ("scorer.terms.1.column.name", "income", "bad-argument", {"parameter": "terms"}),
        ("policy.calibrator.kind", "magic", "field-unfit", {"value": "magic"}),
        (
            "policy.calibrator.gamma",
            "x",
            "field-unfit",
            {"field": "policy.calibrator.gamma", "value": "x"},
        ),
        ("policy.calibrator", {"format": "x"}, "format-unknown", {"format": "x"}),
        ("training.rows", -1, "field-unfit", {"rule": "an integer of at least 0"}),
        ("training.notes", [1], "field-unfit", {"field": "training.notes[0]"}),
        ("training.notes.0.fields", {"x": 1}, "field-unfit", {"field": "training.notes[0]"}),
    ],
)
def test_what_is_wrong_is_said(at: str, value: Any, code: str, fields: dict[str, Any]) -> None:
    path = tuple(int(key) if key.isdigit() else key for key in at.split("."))
    text = _changed(
        json.loads(full().to_json()), path, lambda inner, key: inner.__setitem__(key, value)
    )
    with finding(code, **fields):
        Detector.from_json(text, verify=False)


def test_a_change_by_hand_is_noticed_and_can_be_meant() -> None:
    data = json.loads(full().to_json())
    text = _changed(
        data, ("policy", "cuts", "thresholds", 0), lambda inner, key: inner.__setitem__(key, 0.5)
    )
    with finding("model-changed"):
        Detector.from_json(text)
    assert Detector.from_json(text, verify=False).policy.threshold == 0.5
    # Spaces are no change.
    assert same(Detector.from_json(json.dumps(data, indent=7)), full())


@pytest.mark.parametrize(
    ("content", "code", "fields"),
    [
        (b"", "not-json", {"line": 1}),
        *(
            (other, "not-a-model", {})
            for other in (b"\xff\xfe", b"[]", b"3", b"null", b"a,b\n1,2\n", b"PAR1", b"\x80\x04K.")
        ),
        (b" \n{}", "field-unfit", {"field": "format"}),
        (b'\xef\xbb\xbf{"a": 1}', "not-json", {"line": 1}),
        (b'{"a": "\xff"}', "not-json", {"reason": "this is not UTF-8"}),
        (b'{"a": NaN}', "field-unfit", {"value": "NaN"}),
        (b'{"a": -Infinity}', "field-unfit", {"value": "-Infinity"}),
        (b'{"a": 1, "a": 2}', "field-unfit", {"field": "a"}),
        (b'{"a": ' + b"[" * 200_000, "not-json", {"reason": "this is nested too deeply"}),
        (b'{"format": ' + b"9" * 10_000 + b"}", "not-json", {}),
        (b'{"format": "cutscore.detector/3"}', "field-unfit", {"field": "scorer"}),
    ],
)
def test_files_that_are_no_detectors(
    tmp_path: Path, content: bytes, code: str, fields: dict[str, Any]
) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with finding(code, **fields) as error:
        Detector.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_files_cut_off_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    whole = full().to_json().encode()
    for size in range(0, len(whole) - 1, 37):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError):
            Detector.load(path)


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with finding("file-missing", file=str(tmp_path / "nix.json")):
        Detector.load(tmp_path / "nix.json")
    for path in (tmp_path, "a\0b"):
        with finding("file-unreadable", file=str(path)):
            Detector.load(path)
    monkeypatch.setattr("cutscore.policy.file._MOST", 10)
    full().save(tmp_path / "m.json")
    with finding("file-unreadable", reason="it is larger than 256 MB"):
        Detector.load(tmp_path / "m.json")


# ------------------------------------------------------------------------------- making and showing


def test_detectors_that_can_not_be() -> None:
    e = Encoding.fit(TABLE, min_rows=1)
    good = cs.LinearDetector(np.ones(len(e.features)), 0.0)
    options: dict[str, Any] = {"calibrator": cs.Affine(1.0, 0.0), "threshold": 0.0}
    options["aim"] = cs.Aim(prior=0.5)
    with finding("lengths-differ", name="weight", have=2, need=len(e.features)):
        hand_made((e, cs.LinearDetector(np.ones(2), 0.0)), **options)
    lost = cs.LinearDetector(np.full(len(e.features), np.nan), 0.0)
    for line, more, parameter in (
        (lost, {}, "line"),
        (good, {"threshold": np.nan}, "threshold"),
        (good, {"calibrator": cs.Beta(1.0, 1.0, 0.0)}, "calibrator"),
        (good, {"calibrator": cs.Beta(1.0, 1.0, 0.0).then(cs.Affine(1, 0))}, "calibrator"),
        (good, {"calibrator": 3}, "calibrator"),
    ):
        with finding("bad-argument", parameter=parameter):
            hand_made((e, line), **options | more)


def test_repr() -> None:
    text = repr(full())
    assert text.startswith("Detector for 'label' = 1: flag score ≥ 0.25\n")
    assert "learner: logistic from 100 rows, 7 positive" in text
    assert "cross-validated AUC: 0.9100 [0.85, 0.95] at 95 %" in text
    assert "\u202e" not in text
    html = full()._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "flag nothing" in repr(made(TABLE, threshold=np.inf))
    assert "flag everything" in repr(made(TABLE, threshold=-np.inf))
    with pytest.raises(AttributeError):
        full().scorer = None  # type: ignore[misc]
