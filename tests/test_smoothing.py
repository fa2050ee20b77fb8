"""Smooth ROC curves, against published fits, a general optimiser and sums over pairs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

import cutscore as cs
from raising import finding
from strategies import Case, rows, weights

ASAH = Path(__file__).parents[2] / "shared" / "data" / "asah.csv"
# Hanley & McNeil's ratings of 109 CT images (Radiology 143, 1982).
RATINGS = cs.Sweep.from_counts([5, 4, 3, 2, 1], [33, 11, 2, 2, 3], [2, 11, 6, 6, 33])


def test_published_ratings() -> None:
    """Stata's manual, [R] rocfit, has a = 1.656782, b = 0.713002 and the area 0.911331."""
    curve = cs.smooth_roc(RATINGS)
    assert (curve.a, curve.b, curve.auc) == pytest.approx((1.656782, 0.713002, 0.911331), abs=1e-6)
    assert curve.interval.low < 0.85
    assert 0.95 < curve.interval.high < 1


def by_optimiser(s: cs.Sweep) -> tuple[float, float]:
    """The same likelihood in other parameters, by a solver that knows nothing of it."""

    def loss(t: Any) -> float:
        a, b, first, *gaps = t
        c = first - np.concatenate(([0.0], np.cumsum(np.exp(gaps))))
        edges = np.concatenate(([np.inf], c, [-np.inf]))
        p, q = -np.diff(norm.cdf(edges)), -np.diff(norm.cdf(np.exp(b) * edges - a))
        with np.errstate(divide="ignore"):
            return -float(np.sum(s.neg * np.log(p) + s.pos * np.log(q)))

    start = np.concatenate(([1.0, 0.0, 1.5], np.full(len(s) - 2, np.log(3 / len(s)))))
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-6}).x
    return float(found[0]), float(np.exp(found[1]))


@pytest.mark.parametrize("seed", range(4))
def test_maximum_of_the_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 3 == 0
    score = rng.standard_normal(40) * np.where(y, 1.5, 1) + y
    for s in (cs.sweep(y, score), cs.sweep(y, score.round())):
        curve = cs.smooth_roc(s)
        assert (curve.a, curve.b) == pytest.approx(by_optimiser(s.compact()), abs=2e-4)


def test_truth_of_many_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.2
    score = np.where(y, 1 + rng.standard_normal(len(y)) / 0.6, rng.standard_normal(len(y)))
    curve = cs.smooth_roc(cs.sweep(y, np.exp(score)))  # an increasing transform changes nothing
    assert (curve.a, curve.b) == pytest.approx((0.6, 0.6), abs=0.01)
    assert curve.auc in curve.interval
    assert curve.interval.width < 0.008


@pytest.mark.parametrize("method", ["binormal", "kernel"])
def test_curve(method: str) -> None:
    curve = cs.smooth_roc(RATINGS, method)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(curve.auc, abs=1e-5)
    x = np.linspace(0, 1, 50)
    assert curve.at(x) == pytest.approx(np.interp(x, curve.fpr, curve.tpr), abs=1e-4)
    assert curve.at([0, 1]).tolist() == [0, 1]
    assert len(curve) == len(curve.fpr)
    assert method in repr(curve)
    with finding("bad-argument", parameter="fpr", value=1.5):
        curve.at(1.5)


def test_binormal_invariances() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(500) < 0.3
    score = (rng.standard_normal(500) + y).round(1)
    curve = cs.smooth_roc(cs.sweep(y, score))
    for other in (
        cs.sweep(y, score, compact=True),
        cs.sweep(y, np.arctan(score)),
        cs.sweep(y, score, np.full(500, 2.5), squares=True),
    ):
        same = cs.smooth_roc(other)
        assert (same.a, same.b, *same.interval) == pytest.approx(
            (curve.a, curve.b, *curve.interval), abs=1e-6
        )
    # Positives and negatives swapped, scores turned round: the curve on its other diagonal.
    turned = cs.smooth_roc(cs.sweep(~y, -score))
    assert (turned.a, turned.b) == pytest.approx((curve.a / curve.b, 1 / curve.b), abs=1e-5)
    assert turned.auc == pytest.approx(curve.auc, abs=1e-7)


def test_unequal_weights_tell_less() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(500) < 0.3
    score, w = rng.standard_normal(500) + y, rng.exponential(size=500)
    plain = cs.smooth_roc(cs.sweep(y, score))
    uneven = cs.smooth_roc(cs.sweep(y, score, w, squares=True))
    assert 1.2 < uneven.interval.width / plain.interval.width < 1.8
    with finding("squares-missing", cs.UndefinedError):
        cs.smooth_roc(cs.sweep(y, score, w))


def test_kernel_area_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    pos, neg = rng.normal(1, 1.3, 60), rng.normal(0, 1, 90)

    def width(x: Any) -> float:
        quarters = np.quantile(x, (0.25, 0.75), method="inverted_cdf")
        spread = min(x.std(ddof=1), (quarters[1] - quarters[0]) / 1.34)
        return float(0.9 * spread * len(x) ** -0.2)

    both = np.hypot(width(pos), width(neg))
    exact = norm.cdf((pos[:, None] - neg) / both).mean()
    s = cs.sweep(np.repeat([1, 0], [60, 90]), np.concatenate((pos, neg)))
    curve = cs.smooth_roc(s, "kernel")
    assert curve.auc == pytest.approx(exact, abs=5e-5)
    assert curve.auc < s.auc  # kernels blur
    assert curve.auc in curve.interval
    # And the curve itself, at a threshold.
    fpr = norm.sf((0.7 - neg) / width(neg)).mean()
    tpr = norm.sf((0.7 - pos) / width(pos)).mean()
    assert float(curve.at(fpr)) == pytest.approx(tpr, abs=1e-4)


@pytest.mark.skipif(not ASAH.exists(), reason="pROC's data are not ours to ship")
@pytest.mark.parametrize(("name", "printed"), [("s100b", 0.74), ("ndka", 0.6006)])
def test_near_proc(name: str, printed: float) -> None:
    """pROC lays a regression line through the points; the most likely curve is close to it."""
    with ASAH.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    s = cs.sweep([r["outcome"] for r in table], [float(r[name]) for r in table], positive="Poor")
    assert cs.smooth_roc(s).auc == pytest.approx(printed, abs=0.01)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: cs.smooth_roc(cs.sweep([1, 0], [2, 1])), "no-overlap"),
        (lambda: cs.smooth_roc(cs.sweep([1, 0, 1, 0], [2, 2, 1, 1])), "too-few"),
        (lambda: cs.smooth_roc(cs.sweep([1, 1], [2, 1])), "one-class"),
        (lambda: cs.smooth_roc(cs.sweep([1, 0], [1, 1]), "kernel"), "no-variation"),
        (lambda: cs.smooth_roc(RATINGS.compact(), "kernel"), None),
        (
            lambda: cs.smooth_roc(cs.sweep([1, 1, 0], [3, 2, 1], compact=True), "kernel"),
            "sweep-compact",
        ),
        (
            # Ten positives above all negatives, one below all: no slope is the most likely one.
            lambda: cs.smooth_roc(cs.sweep([1] * 10 + [0] * 10 + [1], range(21, 0, -1))),
            "no-overlap",
        ),
    ],
)
def test_undefined(ask: Any, code: str | None) -> None:
    if code is None:
        ask()
        return
    with finding(code, cs.UndefinedError):
        ask()


@given(rows(both=True), st.data())
def test_any_rows(case: Case, data: st.DataObject) -> None:
    """A curve, or a reason why there is none; no warning, and nothing that is not a number."""
    w = data.draw(st.none() | weights(len(case.y)))
    for method in ("binormal", "kernel"):
        try:
            s = cs.sweep(*case, w, squares=w is not None)
            curve = cs.smooth_roc(s, method)
        except cs.CutscoreError:
            continue
        assert 0 <= curve.interval.low <= curve.auc <= curve.interval.high <= 1
        for rate in (curve.fpr, curve.tpr):
            assert (np.diff(rate) >= 0).all()
            assert (rate[0], rate[-1]) == (0, 1)


def test_one_class_of_equal_scores() -> None:
    """Kernels of the other class are enough: half of it is above, half below."""
    s = cs.sweep([1, 1, 0, 0, 0], [2, 2, 1, 2, 3])
    assert cs.smooth_roc(s, "kernel").auc == pytest.approx(0.5, abs=1e-3)


def test_bad_input() -> None:
    with finding("bad-argument", parameter="method", value="loess"):
        cs.smooth_roc(RATINGS, "loess")
    with finding("not-finite", value=np.inf):
        cs.smooth_roc(cs.sweep([1, 0, 1], [np.inf, 2, 1]), "kernel")
    with finding("bad-argument", cs.DataError, parameter="s"):
        cs.smooth_roc([1, 0])  # type: ignore[arg-type]
