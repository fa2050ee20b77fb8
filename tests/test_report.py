"""The summary and its page without a browser: values, schema, escaping, size."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

import cutscore as cs
from cutscore.comparison import class_samples
from cutscore.core.findings.base import COMMAND, Foreign, Where
from cutscore.core.findings.report import CertainAndWrong, FewRows
from cutscore.core.numbers import number_text, per_cent
from cutscore.decision.words import describe_outcome as told_of
from cutscore.decision.words import natural
from cutscore.measures.confusion import count_text
from cutscore.report import Summary, render, summarise, summarise_sweeps
from cutscore.report import summary as of_summary
from cutscore.report import traces as of_trace
from cutscore.report.charts import path, precision_steps
from cutscore.report.registry import charts
from cutscore.report.scenario import share_text
from cutscore.report.summary import AVERAGES, Estimate, Learner, Learners, Weight
from cutscore.report.traces import Axis, by_parts, largest_tie
from cutscore.report.words import shown
from raising import finding
from strategies import Case, rows


def some(n: int = 3_000, share: float = 0.1, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    a = np.round(rng.standard_normal(n) + 1.5 * y, 3)
    return y, a, np.round(a + rng.standard_normal(n), 3)


@pytest.fixture(scope="module")
def two() -> Summary:
    y, a, b = some()
    group = np.resize(["x", "y", "z"], len(y))
    return summarise(
        y, {"a": a, "b": b}, costs=cs.Costs(fp=1, fn=9), group=group, prior=0.03, source="rows.csv"
    )


# ------------------------------------------------------------------------------------- the numbers


def test_numbers_are_those_of_the_library(two: Summary) -> None:
    y, a, b = some()
    for one, column in zip(two.scores, (a, b), strict=True):
        s = cs.sweep(y, column)
        p = cs.choose(s, cs.Costs(fp=1, fn=9), prior=0.03)
        assert one.auc == Estimate(s.auc, cs.auc_interval(s))
        assert one.average_precision == pytest.approx(cs.average_precision(s), rel=1e-13)
        assert (one.hull_vertices, one.hull_auc) == (len(cs.hull(s)), cs.hull(s).auc)
        assert one.point.threshold == p.threshold
        for name, estimate in one.measures.items():
            known = p.expected if name == "cost" else p.expect(name)
            assert known is not None
            assert estimate.value == known.value
            if name in ("recall", "fpr", "specificity", "precision", "flagged_rate", "cost"):
                assert estimate.interval == cs.Interval(known.low, known.high, 0.95)
    groups = two.groups
    assert groups is not None
    assert (
        groups.by_score["b"].pooled == cs.by_group(y, b, np.resize(["x", "y", "z"], len(y))).pooled
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_differences_are_delongs(weighted: bool) -> None:
    y, a, b = some(800, 0.2, 1)
    w = np.random.default_rng(2).random(len(y)) if weighted else None
    if w is not None:
        w[::7] = 0
    d = summarise(y, {"a": a, "b": b}, weight=w).differences[0]
    c = cs.compare(y, a, b, weight=w)
    assert (d.a, d.b) == ("a", "b")
    assert d.difference == pytest.approx(c.difference, abs=1e-14)
    assert d.p_value == pytest.approx(c.p_value, rel=1e-9)
    assert d.interval is not None
    assert list(d.interval) == pytest.approx(list(c.interval), abs=1e-12)


def test_variance_of_many_rows_is_estimated_from_some(monkeypatch: pytest.MonkeyPatch) -> None:
    y, a, b = some(20_000, 0.3, 3)
    exact = summarise(y, {"a": a, "b": b}).differences[0]
    monkeypatch.setattr(class_samples, "MOST_SAMPLED", 2_000)
    rough = summarise(y, {"a": a, "b": b}).differences[0]
    assert rough.difference == exact.difference
    assert exact.interval is not None
    assert rough.interval is not None
    assert rough.interval != exact.interval
    assert rough.interval.width == pytest.approx(exact.interval.width, rel=0.05)


def test_differences_that_rows_cannot_tell() -> None:
    y = [1, 1, 0, 0]
    same = summarise(y, {"a": [4, 3, 2, 1], "b": [8, 6, 4, 2]}).differences[0]
    assert (same.difference, same.p_value) == (0, 1)
    perfect = summarise(y, {"a": [4, 3, 2, 1], "b": [1, 1, 1, 1]}).differences[0]
    assert (perfect.difference, perfect.interval, perfect.p_value) == (0.5, None, None)


def test_more_than_five_scores_are_compared_with_the_first() -> None:
    y, a, _ = some(200)
    d = summarise(y, {f"s{k}": a + k * np.arange(len(a)) / 200 for k in range(7)}).differences
    assert [(one.a, one.b) for one in d] == [("s0", f"s{k}") for k in range(1, 7)]


def test_losses_by_parts() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(5_000)
    s = cs.sweep(rng.random(5_000) < p, p)
    assert by_parts(s, cs.brier, 64) == pytest.approx(cs.brier(s), rel=1e-13)
    assert by_parts(s, cs.log_loss, 64) == pytest.approx(cs.log_loss(s), rel=1e-13)


def test_the_largest_tie() -> None:
    y = np.arange(1_000) % 2
    score = np.arange(1_000.0)
    score[300:450] = 7.5
    assert largest_tie(cs.sweep(y, score)) == (7.5, 0.15)
    assert largest_tie(cs.sweep(y, np.arange(1_000)))[1] == 0


# -------------------------------------------------------------------------------------- the trace


@given(rows(both=True), st.fractions(min_value="1/50", max_value=1000, max_denominator=50))
def test_every_cut_that_costs_can_choose_is_kept(case: Case, ratio: Any) -> None:
    s = cs.sweep(*case)
    t = of_trace.trace(s, cs.hull(s))
    p = cs.choose(s, cs.Costs(fp=1, fn=float(ratio)))
    k = int(np.searchsorted(t.cut, p.cut))
    assert k in t.vertex
    assert (t.cut[k], t.threshold[k]) == (p.cut, p.threshold)
    assert (t.tp[k], t.fp[k]) == (p.confusion.tp, p.confusion.fp)


def test_few_cuts_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.03
    s = cs.sweep(y, rng.standard_normal(200_000) + 2 * y)
    fine = of_trace.trace(s, cs.hull(s))
    monkeypatch.setattr(of_trace, "_MANY", 1_000)
    for t in (fine, of_trace.trace(s, cs.hull(s), 77_777)):
        assert len(t.cut) < 4_000
        assert t.complete
        assert t.cut[t.vertex].tolist() == cs.hull(s).cut.tolist()
        assert t.tp[1:].tolist() == s.tp[t.cut[1:] - 1].tolist()
        assert t.fp[1:].tolist() == s.fp[t.cut[1:] - 1].tolist()
        # What is drawn between them is nowhere far from the curve, nor from the precision.
        every = np.arange(1, len(s) + 1)
        assert np.abs(np.interp(every, t.cut, t.tp) - s.tp).max() < 0.01 * s.P
        assert np.abs(np.interp(every, t.cut, t.fp) - s.fp).max() < 0.01 * s.N
        precision, drawn = s.tp / (s.tp + s.fp), t.tp[1:] / (t.tp + t.fp)[1:]
        far = np.abs(np.interp(every, t.cut[1:], drawn) - precision)
        assert far[200:].max() < 0.01
        assert t.pos.sum() == pytest.approx(1)
        assert t.neg.sum() == pytest.approx(1)
    assert 77_777 in t.cut


def test_hulls_of_very_many_vertices_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_trace, "_VERTICES", 10)
    y, a, _ = some(3_000)
    s = cs.sweep(y, a)
    t = of_trace.trace(s, cs.hull(s))
    assert not t.complete
    assert len(t.vertex) == 10


def test_axes() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(10_000) < 0.02
    z = rng.standard_normal(10_000) + y

    def axis(score: Any) -> Axis:
        return of_trace.score_axis(cs.sweep(y, score))

    assert axis(1 / (1 + np.exp(4 - z))).kind == "logit"  # most of them near 0
    crowded = np.round(1 / (1 + np.exp(5 - z)), 3)
    assert crowded.min() == 0  # which has no place on the scale of log odds
    assert (axis(crowded).kind, axis(crowded).low) == ("logit", 0.001)
    assert axis(np.where(z > 2, 1.0, 0.0)) == Axis("linear", 0.0, 1.0)
    assert axis(rng.random(10_000)) == Axis("linear", 0.0, 1.0)
    far = z.copy()
    far[5] = 1e9  # one row must not hide the others
    assert axis(far).high < 20
    assert axis(np.full(10_000, 3.0)) == Axis("linear", 2.5, 3.5)
    assert np.isfinite([axis(z * 1e305).low, axis(np.where(z > 1, inf, z)).high]).all()
    logit = Axis("logit", 0.001, 0.9)
    places = np.array([0.0, 0.3, 1.0])
    assert logit.place(logit.score(places)) == pytest.approx(places)
    assert logit.place(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_shares_are_the_isotonic_regression() -> None:
    rng = np.random.default_rng(0)
    p = np.round(rng.random(2_000), 2)
    y = rng.random(2_000) < p
    one = summarise(y, {"p": p}).scores[0]
    r = cs.reliability(cs.sweep(y, p), level=None)
    assert one.shares.share.tolist() == r.calibrated[r.start].tolist()
    assert one.shares.high.tolist() == r.forecast[r.start].tolist()
    assert one.shares.outside is not None
    assert one.shares.outside < 0.3
    assert (one.brier, one.log_loss) == (cs.brier(cs.sweep(y, p)), cs.log_loss(cs.sweep(y, p)))


def test_a_calibrator_makes_scores_probabilities() -> None:
    y, a, _ = some()
    c = cs.calibrate(cs.sweep(y, a), "platt")
    one = summarise(y, {"a": a}, calibrators={"a": c}).scores[0]
    p = c.probability(a, float(np.mean(y)))
    assert one.brier == pytest.approx(cs.brier(cs.sweep(y, p)), rel=1e-12)
    assert one.calibrator is not None
    assert one.calibrator.startswith("LLR = ")
    assert one.shares.outside is not None


# ----------------------------------------------------------------------------------------- notices


def codes(*arguments: Any, **options: Any) -> set[str]:
    return {notice.code for notice in summarise(*arguments, **options).notices}


def test_notices() -> None:
    y, a, _ = some()
    assert codes(y, {"a": a}) == set()
    assert codes(y, {"a": -a}) == {"inverted"}
    assert codes(y, {"a": a + 100 * y}) == {"separated"}
    assert codes(y, {"a": np.where(a < 1, 0, a)}) == {"ties"}
    assert codes(y, {"a": a}, prior=0.0001) == {"prior-far"}
    assert codes(y, {"a": 1 / (1 + np.exp(-a - 2))}) == {"miscalibrated"}
    ends = np.where(a == a[~y].max(), 9, np.where(a == a[y].min(), -9, a))
    assert codes(y, {"a": ends}, costs=cs.Costs(fp=1, fn=1e-6)) == {"flags-alike"}
    assert codes(y, {"a": ends}, costs=cs.Costs(fp=1, fn=1e6)) == {"flags-alike"}
    none = {"maximize": "recall", "subject_to": "precision >= 0.999", "confidence": 0.95}
    assert codes(y, {"a": a}, **none) == {"infeasible"}
    assert codes(y[:90], {"a": a[:90]}) == {"few-rows", "few-errors"}
    assert "few-rows" in codes(~y[:90], {"a": -a[:90]})
    heavy = np.where(np.arange(len(y)) < 20, 1e6, 1.0)
    assert "few-rows" in codes(y, {"a": a}, weight=heavy)
    assert "no-better-than-chance" in codes([1, 0, 1, 0], {"a": [3, 4, 1, 2]})


def test_an_auc_that_few_errors_decide() -> None:
    score = np.arange(460.0)
    y = (score >= 400) & (score != 459) | (score == 200)

    def about(y: Any, score: Any) -> list[str]:
        found = summarise(y, {"a": score}).notices
        return [n.render() for n in found if n.code == "few-errors"]

    (text,) = about(y, score)
    assert "equivalent to 0.65 of 60 positives ranked below every negative" in text
    (text,) = about(~y, -score)
    assert "equivalent to 0.65 of 60 negatives ranked above every positive" in text
    assert not about(y, np.where((score >= 410) & (score < 415), -1, score))


def test_notices_name_the_score_where_there_are_several() -> None:
    y, a, _ = some()
    (notice,) = summarise(y, {"good": a, "bad": -a}).notices
    assert (notice.code, notice.where) == ("inverted", Where(part="bad"))
    assert notice.render().startswith("bad: The AUC of ")
    (notice,) = summarise(y, {"bad": -a}).notices
    assert notice.where is None


def test_certain_and_wrong() -> None:
    y = np.arange(400) % 2 == 1
    p = np.where(y, 0.7, 0.3) + np.linspace(-0.25, 0.25, 400)
    assert "certain-and-wrong" not in codes(y, {"p": p})
    assert "certain-and-wrong" not in codes(y, {"p": np.where(p > 0.9, 1.0, p)})  # and right
    p[[1, 3, 5]], p[0] = 0.0, 1.0
    summary = summarise(y, {"p": p})
    assert summary.scores[0].certain == (3, 1)
    assert summary.scores[0].log_loss == inf
    assert [n for n in summary.notices if n.code == "certain-and-wrong"] == [
        CertainAndWrong(3, 0, "positive"),
        CertainAndWrong(1, 1, "negative"),
    ]
    # Of other scores nobody says that they are probabilities.
    assert "certain-and-wrong" not in codes(y, {"p": 2 * p})
    weighted = summarise(y, {"p": p}, weight=np.full(400, 0.3))
    assert weighted.scores[0].certain == pytest.approx((0.9, 0.3))


def test_a_notice_of_few_rows_counts_in_words() -> None:
    y = np.arange(200) == 100
    one, *_ = summarise(y, {"a": np.arange(200)}).notices
    assert one == FewRows("positive", 1.0)
    assert one.render().startswith("There is only 1 positive. A single positive changes recall ")
    assert "by 100 percentage points" in one.render()
    y = np.arange(200) >= 159
    one, *_ = summarise(y, {"a": np.arange(200)}).notices
    assert one.render().startswith("There are only 41 positives. ")
    assert "by 2.4 percentage points" in one.render()


# ---------------------------------------------------------------------- low scores mean positive


def test_low_scores_that_mean_positive_are_turned_round_and_told_as_they_are() -> None:
    y, a, b = some()
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    group = np.resize(["x", "y", "z"], len(y))
    asked: dict[str, Any] = {"costs": cs.Costs(fp=1, fn=9), "source": "rows.csv"}
    columns = {"a": 0.0 - a, "b": b}
    for weight in (None, w):
        turned = summarise(y, {"a": a, "b": b}, weight=weight, group=group, **asked)
        low = summarise(y, columns, weight=weight, group=group, reverse=["a"], **asked)
        squares = weight is not None
        of_sweeps = summarise_sweeps(
            {n: cs.sweep(y, x, weight, squares=squares) for n, x in columns.items()},
            rows=len(y),
            samples=class_samples.sample_classes(y, columns, weight, None),
            groups={n: cs.by_group(y, x, group, weight=weight) for n, x in columns.items()},
            reverse="a",
            **asked,
        )
        said, wanted = low.as_dict(), turned.as_dict()
        assert_close(of_sweeps.as_dict(), said)
        one, other = said["scores"][0], wanted["scores"][0]
        assert (one["lowest"], one["highest"]) == (-other["highest"], -other["lowest"])
        point, turn = one["operating_point"], other["operating_point"]
        assert (point["rule"], turn["rule"]) == ("up to", "from")
        assert point["threshold"] == -turn["threshold"]
        caught, count = columns["a"] <= point["threshold"], np.ones(len(y)) if weight is None else w
        assert point["confusion"]["tp"] == count[caught & y].sum()
        assert point["confusion"]["fp"] == count[caught & ~y].sum()
        for key in ("reverse", "lowest", "highest", "verdict"):
            one[key] = other[key] = None
        for key in ("rule", "threshold"):
            point[key] = turn[key] = None
        assert_close(said, wanted)
    text = low.text()
    t = low.as_dict()["scores"][0]["operating_point"]["threshold"]
    assert f"a: Flag scores ≤ {t!r}\n" in text
    assert "b: Flag scores ≥ " in text
    page = render(low)
    assert f">Flag scores ≤ {t!r}</h2>" in page
    assert ">Flag scores ≤<" in page
    assert "<bdi>a, from high to low</bdi>" in page
    assert "at least the threshold; with <bdi>a</bdi>, where low scores indicate" in page


def assert_close(a: Any, b: Any) -> None:
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_close(a[key], b[key])
    elif isinstance(a, list):
        for x, z in zip(a, b, strict=True):
            assert_close(x, z)
    else:
        assert a == (pytest.approx(b, rel=1e-12, abs=1e-12) if isinstance(a, float) else b)


def test_what_is_said_of_scores_the_wrong_way_round() -> None:
    y, a, _ = some()
    (notice,) = summarise(y, {"a b": -a}).notices
    assert notice.code == "inverted"
    assert "--reverse 'a b'" in notice.render(COMMAND)
    assert "reverse='a b'" in notice.render()
    (notice,) = summarise(y, {"a": a}, reverse=["a"]).notices
    assert (notice.code, notice.reverse) == ("inverted", True)
    # A score that many share is told as it is.
    tied = np.where(np.arange(len(y)) % 2, 700.0, 650 - 90 * a)
    (notice,) = summarise(y, {"a": tied}, reverse=["a"]).notices
    assert (notice.code, notice.score) == ("ties", 700)
    with finding("bad-argument", parameter="reverse", value="c"):
        summarise(y, {"a": a}, reverse=["c"])
    c = cs.calibrate(cs.sweep(y, a), "logistic")
    with finding("bad-argument", parameter="forecasts", value="a"):
        summarise(y, {"a": a}, forecasts={"a": c.probability(a, 0.1)})


def test_a_score_that_stands_for_none_is_told() -> None:
    y, a, _ = some()
    gone = np.arange(len(y)) % 100 == 5
    for scores, reverse, at in (
        (np.where(gone, -9999, a), (), -9999),
        (np.where(gone, 9999, 700 - a), "x", 9999),
    ):
        (notice,) = summarise(y, {"x": scores}, reverse=reverse).notices
        assert (notice.code, notice.score, notice.cases) == ("outlier", at, 30)
    assert not summarise(y, {"x": np.where(gone[::-1] & (np.arange(len(y)) < 150), 9, a)}).notices
    assert not summarise(y, {"x": np.where(gone, -np.inf, a)}).notices


def test_calibrators_take_scores_as_they_are() -> None:
    y, a, _ = some()
    low = 700 - 50 * a
    found = [
        summarise(
            y, scores, reverse=reverse, calibrators={"x": cs.calibrate(cs.sweep(y, x), "platt")}
        )
        for scores, reverse, x in (({"x": a}, (), a), ({"x": low}, ["x"], low))
    ]
    assert found[0].scores[0].brier == pytest.approx(found[1].scores[0].brier, rel=1e-3)
    assert found[0].scores[0].brier < 0.1


def test_a_frame_of_scores() -> None:
    pd = pytest.importorskip("pandas")
    y, a, b = some()
    frame = pd.DataFrame({"a": a, 2: b})
    summary = summarise(np.where(y, "bad", "ok"), frame, positive="bad", label="status")
    assert [one.name for one in summary.scores] == ["a", "2"]
    assert summary.label == "status = bad"
    assert summarise(y, {2: b}, reverse=[2]).scores[0].reverse


# ------------------------------------------------------------------------------------------ errors


def test_one_class_is_undefined() -> None:
    with pytest.raises(cs.UndefinedError, match="a report needs positives and negatives"):
        summarise([1, 1], {"a": [1, 2]})


def test_bad_questions() -> None:
    with finding("bad-argument", parameter="scores"):
        summarise([1, 0], {})
    for costs in ({"fp": 1, "fn": 2}, "f1"):
        with finding("bad-argument", parameter="costs"):
            summarise([1, 0], {"a": [2, 1]}, costs=costs)  # type: ignore[arg-type]
    with finding("arguments-conflict", parameters=("costs", "maximize")):
        summarise([1, 0], {"a": [2, 1]}, costs=cs.Costs(1, 1), maximize="f1")
    with finding("value-missing", where=Where(1, "score", part="b")):
        summarise([1, 0], {"a": [2, 1], "b": [2, np.nan]})
    with finding("bad-argument", parameter="level", value=95):
        summarise([1, 0], {"a": [2, 1]}, level=95)


# -------------------------------------------------------------------------------------------- JSON

ESTIMATE = {"value": float, "low": float, "high": float, "level": float}
SCHEMA: dict[str, Any] = {
    "schema": str,
    "version": str,
    "digest": str,
    "source": str,
    "label": str,
    "rows": {
        "count": int, "positives": float, "negatives": float, "weighted": bool, "prevalence": float,
    },
    "asked": {
        "objective": str, "assumed": bool,
        "costs": {
            "fp": float, "fn": float, "tp": float, "tn": float,
            "review": float, "review_miss": float,
        },
        "limits": [str], "confidence": float, "prior": float, "level": float,
    },
    "baselines": {"flag_none": float, "flag_all": float},
    "scores": [
        {
            "name": str, "verdict": {"state": str, "headline": str, "codes": [str]},
            "reverse": bool, "distinct": int, "lowest": float, "highest": float,
            "probabilities": bool,
            "auc": ESTIMATE, "hull": {"vertices": int, "auc": float}, "average_precision": float,
            "brier": float, "log_loss": float,
            "calibration": {"calibrator": str, "outside_band": float}, "probability": float,
            "operating_point": {
                "rule": str, "threshold": float, "feasible": bool, "value": float,
                "expected": ESTIMATE, "here": dict,
                "limits": [{"limit": str, "value": float, "holds": bool}],
                "confusion": {"tp": float, "fp": float, "fn": float, "tn": float},
                "measures": dict, "text": [str],
            },
        }
    ],
    "differences": [{"a": str, "b": str, "difference": ESTIMATE, "p_value": float}],
    "groups": {
        "name": str,
        "scores": [
            {
                "name": str,
                "groups": [{"group": str, "positives": float, "negatives": float, "auc": float}],
                "pooled": float, "weighted": float, "macro": float, "covered": float,
                "averages": {"pooled": ESTIMATE, "weighted": ESTIMATE, "macro": ESTIMATE},
            }
        ],
    },
    "warnings": [
        {"code": str, "severity": str, "where": dict, "fixes": [dict], "fields": dict, "text": str}
    ],
    "learners": {
        "measure": str, "chosen": str, "why": str,
        "rows": [
            {"name": str, "value": ESTIMATE, "difference": ESTIMATE, "seconds": float, "note": str}
        ],
    },
    "training": [{"name": str, "value": str}],
    "weights": [{"column": str, "weight": float, "scaled": float}],
    "importances": [{"column": str, "value": float}],
    "group_results": {
        "column": str, "rule": str, "own_thresholds": bool, "pooled": [str],
        "limits": [{"limit": str, "value": float, "holds": bool}],
        "total": dict, "groups": [
            {"group": str, "threshold": float, "rows": int, "positives": int, "measures": dict}
        ],
    },
    "period_limits": [
        {"limit": str, "holds": bool, "counts": str, "period": str, "periods": int,
         "column": str, "most": float, "count": float}
    ],
    "row_costs": {
        "rule": str, "threshold": float, "factor": float, "uniform_threshold": float,
        "value": float, "flagged": float,
        "rows": [{"rule": str, "cost": ESTIMATE, "saving": ESTIMATE, "total": float}],
        "per_period": {"period": str, "periods": int, "cost": float},
    },
}  # fmt: skip


def conforms(value: Any, schema: Any, where: str = "") -> None:
    """Exactly these keys, these types or null."""
    if value is None and not isinstance(schema, list):
        return
    if isinstance(schema, dict):
        assert isinstance(value, dict), where
        assert list(value) == list(schema), where
        for key, inner in schema.items():
            conforms(value[key], inner, f"{where}.{key}")
    elif isinstance(schema, list):
        assert isinstance(value, list), where
        for one in value:
            conforms(one, schema[0], f"{where}[]")
    else:
        known = (int, float) if schema is float else schema
        assert isinstance(value, known), (where, value)
        assert schema is bool or not isinstance(value, bool), (where, value)


def with_learners(summary: Summary) -> Summary:
    i = cs.Interval(0.8, 0.9, 0.95)
    learners = Learners(
        "auc",
        (
            Learner("logistic", Estimate(0.85, i), None, 0.3),
            Learner("<b>perceptron</b>", Estimate(0.8, i), Estimate(-0.05, i), 1.25, "no <end>"),
        ),
        "logistic",
        "logistic is within one standard error of the best",
    )
    weights = (Weight("amount", 0.002, 1.5), Weight("<i>age</i>", -3.0, -0.4))
    return replace(summary, learners=learners, training=(("rows", "1,000"),), weights=weights)


def test_the_schema(two: Summary) -> None:
    y, a, _ = some()
    p = 1 / (1 + np.exp(-a))
    p[~y & (p == p[~y].max())] = 1.0  # a certainty that is wrong: its log loss is infinite
    limited = {"maximize": "recall", "subject_to": "fpr <= 0.01", "confidence": 0.9}
    cases = [
        two,
        with_learners(two),
        summarise(y, {"p": p}, costs=cs.Costs(fp=1, fn=1e-9), weight=np.full(len(y), 0.5)),
        summarise(y, {"p": p}, **limited),
        summarise([1, 0], {"a": [1, 1]}, group=["x", "y"]),
        summarise([1, 0, 1], {"a": [inf, -inf, inf]}, costs=cs.Costs(fp=1, fn=0.1)),
    ]
    for summary in cases:
        d = summary.as_dict()
        conforms(d, SCHEMA)
        assert json.loads(json.dumps(d, allow_nan=False)) == d
        assert d["schema"] == "cutscore.summary/1"
    assert cases[2].as_dict()["scores"][0]["log_loss"] is None
    point = cases[2].as_dict()["scores"][0]["operating_point"]
    assert (point["rule"], point["threshold"]) == ("nothing", None)
    assert cases[3].as_dict()["scores"][0]["operating_point"]["limits"][0]["limit"] == "fpr <= 0.01"
    assert cases[4].as_dict()["groups"]["scores"][0]["pooled"] is None
    d = two.as_dict()
    assert d["scores"][0]["operating_point"]["confusion"]["tp"] == two.scores[0].point.confusion.tp
    assert d["asked"]["costs"] == asdict(cs.Costs(fp=1, fn=9))
    assert set(point["measures"]) == {
        *("recall", "fpr", "precision", "flagged_rate", "specificity", "npv", "accuracy"),
        *("balanced_rate", "f1", "mcc", "lift", "cost"),
    }


def test_the_text_of_a_point_is_its_repr() -> None:
    y, a, _ = some()
    for options in (
        {"costs": cs.Costs(fp=1, fn=4)},
        {"maximize": "recall", "subject_to": ["fpr <= 0.02", "flagged <= 200"], "prior": 0.01},
        {"maximize": "recall", "subject_to": "precision >= 0.99", "confidence": 0.99},
    ):
        summary = summarise(y, {"a": a}, **options)
        text = summary.as_dict()["scores"][0]["operating_point"]["text"]
        point = summary.scores[0].point
        assert text == told_of(point) == repr(point).splitlines()[-len(text) :]


# -------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_text_keeps_to_its_width(two: Summary, width: int) -> None:
    text = with_learners(two).text(width)
    # Words and numbers are not cut: lines that can't be broken may be longer.
    assert all(len(line) <= max(width, 66) for line in text.splitlines())
    assert "at 3 % prevalence" in " ".join(text.split())


def test_text_says_what_matters(two: Summary) -> None:
    text = two.text()
    p = two.scores[0].point
    assert "3,000 rows: " in text
    assert f"a: Flag scores ≥ {p.threshold!r}\n  objective: minimum cost" in text
    assert told_of(p)[0] in " ".join(text.split())
    assert f"{two.scores[1].auc.value:.3f} (95 % CI " in text
    assert f"AUC: a {two.scores[0].auc.value:.3f}, b " in text
    assert repr(two) == text


def test_counts_of_rows_are_told_from_those_of_10_000_cases() -> None:
    y, a, _ = some(12_000)
    text = summarise(y, {"a": a}, maximize="f1").text()
    assert "  expected per 10,000 cases: " in text
    assert re.search(r"\n  caught  +\d+ of [\d,]+ positives\n", text)
    few = summarise(y[:9000], {"a": a[:9000]}, maximize="f1").text()
    assert "on these rows: 9,000 cases, " in few


def test_of_many_groups_the_worst_are_shown() -> None:
    y, a, b = some(9000)
    group = np.arange(9000) % 40  # 225 rows each
    a = np.where(group == 7, -a, a)
    text = summarise(y, {"a": a}, group=group).text()
    g = cs.by_group(y, a, group)
    enough = np.flatnonzero(np.minimum(g.P, g.N) >= 10)
    assert 8 < len(enough) <= 40
    assert f"\n  the 8 lowest of {len(enough)} with at least 10 positives and 10 negati" in text
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("  the 8 lowest of")) + 1
    shown_groups = [int(line.split()[0]) for line in lines[start : start + 8]]
    lowest = enough[np.argsort(g.auc[enough], kind="stable")][:8]
    assert shown_groups == g.group[lowest].tolist()
    assert shown_groups[0] == 7
    assert lines[start + 8] == "  and 32 more groups"
    page = render(summarise(y, {"a": a, "b": b}, group=group))
    assert f"Of 40 groups the 8 lowest of {len(enough)} with at least 10" in page
    # Where groups are small, the lowest would be those of the fewest rows.
    text = summarise(y, {"a": a}, group=np.arange(9000) % 3000).text()
    assert "  the 8 largest with both classes:\n" in text
    assert " –" not in text
    assert "  and 2,992 more groups" in text
    one_class = np.where(y == 1, np.arange(9000) % 50, 50 + np.arange(9000) % 50)
    one_class[:2] = 100, 100
    text = summarise(y, {"a": a}, group=np.where(np.arange(9000) < 600, 100, one_class)).text()
    assert "  the 8 largest:\n" in text
    few = summarise(y, {"a": a}, group=np.arange(9000) % 12).text()
    assert "more groups" not in few
    assert " lowest of " not in few


def test_units_that_tell_no_interval() -> None:
    y, a, b = some(60)
    one = np.where(y == 1, 0, np.arange(60))
    summary = summarise(y, {"a": a, "b": b}, unit=one)
    assert [score.auc.interval for score in summary.scores] == [None, None]
    assert [d.interval for d in summary.differences] == [None]
    assert summarise(y, {"a": a}, unit=np.arange(60) // 2).scores[0].auc.interval is not None


def test_costs_that_nobody_gave_are_explained() -> None:
    y, a, _ = some(300)
    words = (
        "No costs were given. The slider starts where both classes contribute equally to the cost."
    )
    for options, said in (({"maximize": "f1"}, True), ({"costs": cs.Costs(fp=1, fn=9)}, False)):
        page = render(summarise(y, {"a": a}, **options))
        assert (words in page) is said
        # It is not shown until costs are set.
        assert ('<main id="main" class="layout uncosted">' in page) is said


def test_what_was_aimed_at_has_an_interval() -> None:
    y, a, _ = some(300)
    for aim in ("f1", "mcc"):
        summary = summarise(y, {"a": a}, maximize=aim)
        one = summary.scores[0]
        e = one.point.expected
        assert e is not None
        assert one.measures[aim].interval == cs.Interval(e.low, e.high, 0.95)
        text = Estimate.of(e).text()
        assert f" {text} expected on new rows, " in " ".join(summary.text().split())
        assert f'<span data-live="{aim}-expected">{text}</span>' in render(summary)
        here = number_text(one.point.value)
        assert f": {text} expected on new rows, {here} on these rows<" in render(summary)
    assert summarise(y, {"a": a}, maximize="f1").scores[0].measures["mcc"].interval is None


def test_averages_over_groups_are_told_alike() -> None:
    y, a, b = some(3000)
    summary = summarise(y, {"a": a, "b": b}, group=np.arange(3000) % 30)
    text, wide, page = summary.text(), summary.text(120), render(summary)
    for name, score in (("a", a), ("b", b)):
        g = cs.by_group(y, score, np.arange(3000) % 30)
        assert f"AUC of {name} within group (30 groups)\n" in text
        for average, words in AVERAGES.items():
            span = g.interval(average)
            mean = Estimate(getattr(g, average), span).text()
            assert f"  {average:<8}  {mean}  {words}\n" in wide
            assert mean in page
            assert f'{average}<em class="said">{words}</em>' in page
    d = summary.as_dict()["groups"]["scores"][1]
    span = g.interval("macro")
    assert d["macro"] == d["averages"]["macro"]["value"] == g.macro
    assert (d["averages"]["macro"]["low"], d["averages"]["macro"]["high"]) == tuple(span)
    # One group tells no interval.
    alone = summarise(y, {"a": a}, group=["x"] * 3000).text()
    assert f"\n  pooled    {cs.sweep(y, a).auc:.3f}  share of within-group pairs" in alone


def test_options_are_not_broken() -> None:
    y, a, _ = some(300)
    note = Foreign("key", "note", "a column looks like a key; to use it say --number id <b>.")
    summary = replace(summarise(y, {"a": a}), notices=(note,))
    assert 'say <span class="option">--number</span> id &lt;b&gt;.' in render(summary)
    for width in range(40, 80):
        assert any("--number" in line for line in summary.text(width).splitlines())


def test_text_of_hostile_names_stays_on_its_line() -> None:
    y, a, _ = some(300)
    text = summarise(y, {"two\nlines\x1b[31m": a, "b": -a}, source="c\r\nd").text()
    assert "two lines [31m" in text
    assert "\x1b" not in text
    assert "\r" not in text


def test_long_names_stay_apart() -> None:
    y, a, _ = some(300)
    names = [f"{'the same beginning of a long name, ' * 3}{end}" for end in ("first", "second")]
    text = summarise(y, {names[0]: a, names[1]: -a}).text(120)
    assert "first: Flag" in text
    assert "second: Worse than chance" in text
    assert shown("abcdefghij", 10) == "abcdefghij"
    assert shown("abcdefghijk", 10) == "abcde…hijk"
    assert shown("abcdefghijk", 9) == "abcd…hijk"


def test_text_of_another_prior_says_so(two: Summary) -> None:
    text = two.text(120)
    point = two.scores[0].point
    precision, share = point.expect("precision"), point.expect("flagged_rate")
    assert precision is not None
    assert share is not None
    assert f"precision at 3 % prevalence      {per_cent(precision.value)} (" in text
    assert f"share flagged at 3 % prevalence  {per_cent(share.value)} (" in text
    assert "recall at" not in text
    assert "precision at 3 % prevalence" in render(two)
    y, a, _ = some(300)
    assert "prevalence" not in summarise(y, {"a": a}).text()


def test_weighted_counts_are_short() -> None:
    y, a, _ = some(300)
    w = np.random.default_rng(0).random(300)
    summary = summarise(y, {"a": a}, weight=w, group=np.resize(["x", "y"], 300))
    page = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", render(summary), flags=re.DOTALL)
    for text in (summary.text(), page):
        digits = [re.sub(r"\D", "", x).lstrip("0") for x in re.findall(r"\d[\d,]*\.\d+", text)]
        assert max(map(len, digits)) <= len(count_text(1 / 3).partition(".")[2])
    tp = summary.as_dict()["scores"][0]["operating_point"]["confusion"]["tp"]
    assert tp == summary.scores[0].point.confusion.tp


def test_aims_are_words() -> None:
    y, a, _ = some(300)
    text = summarise(y, {"a": a}, maximize="balanced_rate").text()
    assert "objective: maximum balanced accuracy" in " ".join(text.split())
    assert "_" not in text
    assert "objective: maximum recall" in summarise(
        y, {"a": a}, maximize="recall", subject_to="fpr <= 0.1"
    ).text(200)


# -------------------------------------------------------------------------------------------- HTML


@given(rows(both=True))
def test_precision_recall_has_the_area_of_the_average_precision(case: Case) -> None:
    s = cs.sweep(*case)
    t = of_trace.trace(s, cs.hull(s))
    x, y = precision_steps(s.prevalence, t.tp / s.P, t.fp / s.N)
    assert x[0] == 0
    assert x[-1] == 1
    area = float(np.sum(np.diff(x) * y[1:]))
    assert area == pytest.approx(cs.average_precision(s), rel=1e-9)
    assert y[0] == pytest.approx(s.pos[0] / (s.pos[0] + s.neg[0]), rel=1e-9)


def drawn(page: str, key: str) -> str:
    found = re.search(rf'd="([^"]*)" data-draw="{key}-0"', page)
    assert found
    return found[1]


def test_a_constant_score_has_the_precision_of_chance() -> None:
    page = render(summarise([1, 0, 0, 0], {"a": [5, 5, 5, 5]}))
    assert drawn(page, "pr") == "M0,750 1000,750"


def test_there_is_no_point_where_precision_is_undefined() -> None:
    y, a, _ = some(300)
    a = np.where(a == a.max(), 9 - 0 * a, a)
    y[np.argmax(a)] = False
    hidden = r'data-dot="pr"[^>]* hidden>'
    nothing = summarise(y, {"a": a}, costs=cs.Costs(fp=1, fn=1e-3))
    assert np.isnan(nothing.scores[0].point.confusion.precision)
    assert re.search(hidden, render(nothing))
    assert not re.search(hidden, render(summarise(y, {"a": a})))


def test_runs_that_turn_back_are_drawn() -> None:
    assert path([0, 0, 0, 1], [1, 0.5, 0.75, 0.75]) == "M0,0 0,500 0,250 1000,250"
    assert path([0, 0, 0, 1], [1, 0.75, 0.5, 0.5]) == "M0,0 0,500 1000,500"


@pytest.mark.parametrize(
    ("share", "fn", "end"),
    [(0.1, 20, 0.5), (0.01, 20, 0.1), (0.01, 5_000, 0.05), (0.1, 0.5, 1.0), (0.4, 20, 1.0)],
)
def test_decision_curves_are_drawn_where_they_are_useful(
    share: float, fn: float, end: float
) -> None:
    y, a, _ = some(3_000)
    summary = summarise(y, {"a": a}, costs=cs.Costs(fp=1, fn=fn), prior=share)
    curve = summary.scores[0].decision_curve
    assert curve.threshold[-1] == min(end, 0.995)
    at = re.search(r'data-dot="nb" style="left:([\d.e-]+)%', render(summary))
    assert at
    assert float(at[1]) == pytest.approx(100 / (1 + fn) / end, rel=1e-3)


def test_the_decision_curve_is_that_of_the_library() -> None:
    rng = np.random.default_rng(0)
    p = np.round(rng.random(500), 2)
    y = rng.random(500) < p
    s = cs.sweep(y, p)
    curve = summarise(y, {"p": p}).scores[0].decision_curve
    known = cs.net_benefit_at(s, curve.threshold)
    assert curve.acting is not None
    for found, wanted in ((curve.acting.net_benefit, known.net_benefit),):
        assert found.value.tolist() == wanted.value.tolist()
        assert found.low.tolist() == wanted.low.tolist()
    assert curve.flag_all == pytest.approx(known.flag_all.value, abs=1e-12)
    assert (curve.best >= known.net_benefit.value - 1e-12).all()
    # Of other scores it is that of the best cut, and rows of a cluster tell no interval.
    assert summarise(y, {"p": 2 * p}).scores[0].decision_curve.acting is None
    clustered = summarise(y, {"p": p}, unit=np.arange(500) // 2).scores[0]
    assert (clustered.decision_curve.acting, clustered.trace.band) == (None, None)


def test_the_share_of_positives_fits_into_its_box() -> None:
    assert [share_text(p) for p in (0.2073312, 0.016916, 0.5, 0.99999, 1e-6)] == [
        *("20.73", "1.692", "50", "99.999", "0.0001"),
    ]


def test_many_scores_are_in_several_tables() -> None:
    y, a, _ = some(300)
    for count, tables in ((1, [1]), (3, [3]), (4, [2, 2]), (7, [2, 3, 2])):
        page = render(summarise(y, {f"s{k}": a + k for k in range(count)}))
        part = page.partition("<h2>All numbers</h2>")[2].partition("</details>")[0]
        heads = re.findall(r"<thead>(.*?)</thead>", part)
        assert [head.count("<bdi>") for head in heads] == tables
        assert re.findall(r"<bdi>(s\d)</bdi>", "".join(heads)) == [f"s{k}" for k in range(count)]
        assert part.count("vertices of the convex hull") == len(tables)


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--",
    "\"'><img src=x onerror=alert(3)>",
    "a\nb\u2028c\u2029d\x00e",
    "\u202eevil",
    "\ud800 alone",
    "&amp;",
]


class _Tags(HTMLParser):
    """All tags, and attributes that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "src"]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(data)


def hostile() -> str:
    y, a, _ = some(200)
    summary = summarise(
        y,
        {name: a + k for k, name in enumerate(HOSTILE)},
        group=np.resize(np.array(HOSTILE, object), len(y)),
        group_name=HOSTILE[0],
        label=HOSTILE[1],
        source=HOSTILE[3],
    )
    learned = with_learners(summary)
    training = tuple((name, name) for name in HOSTILE)
    weights = tuple(Weight(name, 1.0, 1.0) for name in HOSTILE)
    return render(replace(learned, training=training, weights=weights), title=HOSTILE[1])


def test_the_command_is_shown_as_text(two: Summary) -> None:
    page = render(two, "Mine", "cutscore fit 'a <b>.csv' -o y\udce9")
    assert "The command was <code>cutscore fit &#39;a &lt;b&gt;.csv&#39; -o y?</code>" in page
    # Options are not broken at their hyphens.
    assert '<code>cutscore <span class="option">--x</span></code>' in render(
        two, "", "cutscore --x"
    )
    assert "The command was" not in render(two, "Mine")


def test_names_are_escaped_everywhere() -> None:
    page = hostile()
    page.encode("utf-8")  # no lone surrogates
    tags = _Tags()
    tags.feed(page)
    assert tags.tags.count("script") == 2
    assert page.count("</script") == 2
    assert "img" not in tags.tags
    assert tags.handlers == []
    assert "\u2028" not in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert escape(HOSTILE[0]) in page


def test_data_in_the_page_are_the_counts(two: Summary) -> None:
    tags = _Tags()
    tags.feed(render(two))
    data = json.loads(tags.scripts[0])
    y, a, _ = some()
    s = cs.sweep(y, a)
    first = data["scores"][0]
    tp, fp, hull = (np.cumsum(first[key]) for key in ("tp", "fp", "hull"))
    t = [{"inf": inf, "-inf": -inf}.get(x, x) for x in first["t"]]
    for k in range(0, len(t), 7):
        c = s.at(t[k])
        assert (tp[k], fp[k]) == (c.tp, c.fp)
    assert tp[hull].tolist() == cs.hull(s).tp.tolist()
    assert fp[hull].tolist() == cs.hull(s).fp.tolist()
    assert data["ratio"] == ["9", "1"]
    assert data["prior"] == 0.03


def test_a_chart_without_a_description_is_an_error(
    two: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Screen readers would read the text of another chart otherwise."""
    other = replace(charts(two)[0], key="novel")
    monkeypatch.setattr("cutscore.report.page.charts", lambda _: [other])
    with pytest.raises(UndefinedError, match="novel"):
        render(two)


def test_nothing_but_the_script_of_the_page_may_run(two: Summary) -> None:
    page = render(two)
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert not re.search(r"https?://", page)
    assert "@import" not in page
    assert "url(" not in page


def test_the_page_says_everything_without_its_script(two: Summary) -> None:
    page = render(with_learners(two), "Title & more")
    body = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", " ", body)
    p = two.scores[0].point
    assert "<title>Title &amp; more</title>" in page
    assert f"Flag scores ≥ {p.threshold!r}" in words
    assert natural(p.confusion, p.question.prior) in words
    assert p.expected is not None
    cost = Estimate.of(p.expected).times(1000).text()
    assert f"Cost per 1,000 cases: {cost} expected on new rows, " in words
    for word in ("logistic", "largest weights", "all numbers", "confusion matrix", "rows.csv"):
        assert word in words.lower()
    for one in two.scores:
        assert one.auc.text() in words
        assert number_text(one.average_precision) in words
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", words.lower())
    assert body.count("<svg") == 8  # scores and shares of each, ROC, PR, costs, net benefit


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 1_000, 30_000])
def test_pages_are_small(n: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.5
    y[:2] = (True, False)
    one = summarise(y, {"a": rng.standard_normal(n) + y})
    assert len(render(one).encode()) < 250_000
    many = {f"s{k}": rng.standard_normal(n) + y for k in range(16)}
    assert len(render(summarise(y, many)).encode()) < 1_500_000
    few = {name: many[name] for name in list(many)[:8]}
    assert len(render(summarise(y, few, weight=rng.random(n))).encode()) < 1_500_000


def test_odd_scores_can_be_drawn() -> None:
    for y, score in (
        ([1, 0], [1, 1]),
        ([1, 0, 1, 0], [inf, inf, -inf, -inf]),
        ([1, 0, 1, 0], [1e308, -1e308, 5e-324, 0]),
        ([1, 0, 1, 0], [0, 1, 1, 0]),
        ([0, 1], [0.0, 1.0]),
    ):
        page = render(summarise(y, {"a": score}))
        assert "NaN" not in page.rpartition("<script>")[0]


def test_the_verdict_is_the_headline() -> None:
    y, a, _ = some()
    limits = {"maximize": "recall", "subject_to": "precision >= 0.999", "confidence": 0.95}
    for summary in (summarise(y, {"a": -a}), summarise(y, {"a": a}, **limits)):
        page, one = render(summary), summary.scores[0]
        answer = page.partition('<section class="answer card unusable"')[2]
        assert re.search("<h2[^>]*>(.*)</h2>", answer)[1] == one.verdict.headline
        assert one.verdict.state == "unusable"
    assert '<section class="answer card"' in render(summarise(y, {"a": a}))


def test_a_calibrated_threshold_is_told_as_a_probability() -> None:
    y, a, _ = some()
    c = cs.calibrate(cs.sweep(y, a), "platt")
    for prior in (None, 0.02):
        one = summarise(y, {"a": a}, calibrators={"a": c}, costs=cs.Costs(fp=1, fn=9), prior=prior)
        t = one.scores[0].point.threshold
        p = float(c.probability(t, float(np.mean(y)) if prior is None else prior))
        assert f">Flag scores ≥ {t!r} (probability ≥ {100 * p:.3g} %)</h2>" in render(one)


def test_costs_stand_beside_their_baselines() -> None:
    y, a, _ = some()
    summary = summarise(y, {"a": a}, costs=cs.Costs(fp=1, fn=9))
    assert summary.baselines == {"flag none": 9 * np.mean(y), "flag all": 1 - np.mean(y)}
    cost = summary.scores[0].measures["cost"].value
    none, every = (1000 * x for x in summary.baselines.values())
    saved = number_text(100 * (1 - cost / min(summary.baselines.values())))
    assert every < none
    both = f"flagging all ({number_text(every)}); flagging none: {number_text(none)}"
    assert f"; {saved} % below {both}<" in render(summary)
    assert summarise(y, {"a": a}).baselines is None


def test_rows_beyond_the_axis_are_counted() -> None:
    y, a, _ = some(9_000)
    a[np.flatnonzero(~y)[:3]] = 1e6, 2e6, -1e6
    one = summarise(y, {"a": a}).scores[0]
    below, above = one.trace.beyond
    axis = one.trace.axis
    assert (below, above) == (np.sum(a < axis.low), np.sum(a > axis.high))
    assert (below >= 1, above >= 2) == (True, True)
    page = render(summarise(y, {"a": a}))
    assert f"The end bins include rows beyond the axis: {below} below" in page
    assert "Rows beyond the axis" not in render(summarise(y, {"a": np.round(a, 0).clip(-1, 1)}))


def test_the_digest_is_of_the_data() -> None:
    y, a, _ = some()
    order = np.random.default_rng(0).permutation(len(y))
    digest = summarise(y, {"a": a}).digest
    assert digest == summarise(y[order], {"b": a[order]}).digest
    assert digest != summarise(y[1:], {"a": a[1:]}).digest
    assert digest in render(summarise(y, {"a": a}), date="2026-01-01")
    assert render(summarise(y, {"a": a}), date="x") == render(summarise(y, {"a": a}), date="x")


def test_resources_are_in_the_package() -> None:
    folder = Path(of_summary.__file__).parent
    assert (folder / "page.js").read_text(encoding="utf-8").startswith("// @ts-check")
    assert "@media print" in (folder / "page.css").read_text(encoding="utf-8")


def test_import_is_light() -> None:
    code = "import sys, cutscore.report; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_rules_are_points_of_the_roc_figure(two: Summary) -> None:
    page = render(two, points={"old <b>": (0.1, 0.6), "late": (0.8, 0.3)})
    roc = page[page.index('data-plot="roc"') : page.index('data-plot="pr"')]
    at = re.findall(r'<span class="(point[^"]*)" style="left:([\d.]+)%;bottom:([\d.]+)%">', roc)
    assert at == [("point", "10", "60"), ("point left", "80", "30")]
    assert "old &lt;b&gt;" in roc
    assert "old <b>" not in page
    assert page.count('<span class="point') == 2
    with finding("bad-argument"):
        render(two, points={"x": (10, 60)})


def test_a_score_that_is_called_a_probability_and_is_none() -> None:
    y, a, _ = some(300)
    summary = summarise(y, {"probability": 0.3 + 0.2 * a, "score": 0.3 + 0.2 * a})
    found = [n for n in summary.notices if n.code == "no-probability"]
    assert [n.score for n in found] == ["probability"]  # type: ignore[attr-defined]
    assert not any(n.code == "no-probability" for n in summarise(y, {"prob": a.clip(0, 1)}).notices)
