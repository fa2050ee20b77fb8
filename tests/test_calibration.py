"""Calibrators: closed forms by hand, maxima by their gradients, PAV by scipy, and what holds for
all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, log, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import cutscore as cs
from cutscore.calibration import (
    Affine,
    Beta,
    Calibrator,
    Chain,
    Gaussian,
    Monotone,
    PriorShift,
    calibrate,
    cross_fit,
    fitting,
    llr,
    logistic,
    prior_shift,
    probability,
    venn_abers,
)
from cutscore.calibration.logistic import fit, fit_pieces
from cutscore.calibration.methods import candidate, merge_neighbours, splines
from cutscore.core.findings.base import Shown, Where
from cutscore.sweeps.proper_scores import cllr, decompose, log_loss, min_cllr
from raising import finding, warned
from strategies import Case, rows, weights

METHODS = ("logistic", "platt", "beta", "gaussian", "spline", "isotonic")
SPLINES = ("spline-25", "spline-50", "spline-75", "spline")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x)))


@st.composite
def tame(draw: st.DrawFn) -> tuple[Case, Any]:
    """Rows of both classes with tied, finite scores, and perhaps weights."""
    case = draw(rows(both=True, least=4))
    score = np.clip(case.score.astype(np.float64), -1e6, 1e6)
    w = draw(st.one_of(st.none(), weights(len(score), exact=True)))
    assume(w is None or (w[case.y == 1].sum() > 0 and w[case.y == 0].sum() > 0))
    return Case(case.y, score), w


def binormal(
    n: int, seed: int, share: float = 0.5, gap: float = 2.0, width: float = 1.0
) -> tuple[Any, Any]:
    """Labels and scores: N(gap, width²) against N(0, 1)."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < share).astype(np.int64)
    return y, np.where(y == 1, gap, 0.0) + rng.normal(size=n) * np.where(y == 1, width, 1.0)


# ------------------------------------------------------------------ logistic: from moments


def test_plain_sigmoid() -> None:
    """Unit variance and means ±½: the LLR is the distance itself."""
    s = cs.sweep([1, 1, 0, 0], [1.5, -0.5, 0.5, -1.5])
    c = calibrate(s, "logistic")
    assert c == Affine(1.0, 0.0, "logistic")
    d = np.array([-3.0, 0.0, 0.7])
    assert c.llr(d).tolist() == d.tolist()
    np.testing.assert_allclose(c.probability(d, 0.5), np.exp(d) / (np.exp(d) + 1), rtol=1e-15)


def test_basic_classifier() -> None:
    """w = μ₊ − μ₋ through the midpoint, ‖w‖ = 1: d₀ = 0 and γ = ‖μ₊ − μ₋‖/σ²."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [40, 60])
    X = rng.normal(size=(100, 3)) + np.outer(y, [1.0, -2.0, 0.5])
    up, down = X[y == 1].mean(0), X[y == 0].mean(0)
    w = (up - down) / np.linalg.norm(up - down)
    d = (X - (up + down) / 2) @ w
    c = calibrate(cs.sweep(y, d), "logistic")
    assert isinstance(c, Affine)
    within = np.where(y == 1, d - d[y == 1].mean(), d - d[y == 0].mean())
    assert c.d0 == pytest.approx(0, abs=1e-14)
    assert c.gamma == pytest.approx(np.linalg.norm(up - down) / np.mean(within**2), rel=1e-13)


@given(tame())
def test_logistic_is_its_closed_form(data: tuple[Case, Any]) -> None:
    (y, d), w = data
    d = np.where(np.abs(d) < 1e-100, 0.0, d)  # γ of denormals is beyond float64
    s = cs.sweep(y, d, w)
    w = np.ones(len(d)) if w is None else w
    weight = {k: [Fraction(v) for v in w[y == k]] for k in (0, 1)}
    score = {k: [Fraction(v) for v in d[y == k]] for k in (0, 1)}
    mean = {
        k: sum(a * b for a, b in zip(weight[k], score[k], strict=True)) / sum(weight[k])
        for k in (0, 1)
    }
    squares = sum(
        a * (b - mean[k]) ** 2 for k in (0, 1) for a, b in zip(weight[k], score[k], strict=True)
    )
    variance = squares / (sum(weight[0]) + sum(weight[1]))
    if variance == 0:
        if mean[0] != mean[1]:
            with finding("no-variation", cs.UndefinedError):
                calibrate(s, "logistic")
        else:
            assert calibrate(s, "logistic").llr(d).tolist() == [0.0] * len(d)
        return
    # The class means must differ by more than their rounding for γ to have digits.
    spread = float(s.threshold[0] - s.threshold[-1])
    assume(variance > Fraction(1e-12 * spread) ** 2)
    c = calibrate(s, "logistic")
    assert isinstance(c, Affine)
    scale = spread / float(variance)
    assert c.gamma == pytest.approx(
        float((mean[1] - mean[0]) / variance), rel=1e-9, abs=1e-9 * scale
    )
    assert c.d0 == pytest.approx(float((mean[1] + mean[0]) / 2), rel=1e-12, abs=1e-12 * spread)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_units_of_the_score_do_not_matter(scale: float) -> None:
    y, x = binormal(500, 1)
    s = cs.sweep(y, x)
    for method in ("logistic", "platt", "gaussian"):
        there = calibrate(cs.sweep(y, x * scale), method).llr(x * scale)
        np.testing.assert_allclose(there, calibrate(s, method).llr(x), rtol=1e-9, atol=1e-11)


# -------------------------------------------------------------------------------------------- Platt


def test_platts_reference() -> None:
    """LibSVM's sigmoid of three rows, as scikit-learn tests it; LibSVM stops at 1e-5."""
    s = cs.sweep([1, -1, -1], [5, -4, 1])
    c = calibrate(s, "platt", smooth=True)
    assert isinstance(c, Affine)
    a, b = -c.gamma, c.gamma * c.d0 - log(s.P / s.N)
    assert a == pytest.approx(-0.20261354391187855, abs=5e-6)
    assert b == pytest.approx(0.65236314980010512, abs=5e-6)
    # The maximum itself: the gradient vanishes, where that of the reference is 5e-6.
    f, target = np.array([5.0, -4.0, 1.0]), np.array([2 / 3, 1 / 4, 1 / 4])
    left = sigmoid(-(a * f + b)) - target
    assert abs(left.sum()) < 1e-15
    assert abs(left @ f) < 1e-14
    np.testing.assert_allclose(c.probability(f, 1 / 3), sigmoid(-(a * f + b)), rtol=1e-14)


@given(tame(), st.booleans())
def test_platt_is_at_the_maximum(data: tuple[Case, Any], smooth: bool) -> None:
    (y, x), w = data
    x = np.round(np.clip(x, -3, 3), 1)
    s = cs.sweep(y, x, w)
    assume(len(s) > 1)
    w = np.ones(len(x)) if w is None else w
    P, N = w[y == 1].sum(), w[y == 0].sum()
    seen = w > 0
    low = {k: x[seen & (y == k)].min() for k in (0, 1)}
    high = {k: x[seen & (y == k)].max() for k in (0, 1)}
    if not smooth and not (low[1] < high[0] and low[0] < high[1]):
        with finding("no-overlap", cs.UndefinedError):
            calibrate(s, "platt")
        return
    c = calibrate(s, "platt", smooth=smooth)
    target = np.where(y == 1, (P + 1) / (P + 2), 1 / (N + 2)) if smooth else y
    left = w * (sigmoid(c.llr(x) + log(P / N)) - target)
    if isinstance(c, Affine) and c.gamma == 0:  # no score tells anything: not even smoothing does
        left = w * (np.average(target, weights=w) - target)
    assert abs(left.sum()) < 1e-9 * (P + N)
    assert abs((left * x).sum()) < 1e-9 * (P + N)


def test_platt_of_equal_scores_says_nothing() -> None:
    for smooth in (False, True):
        c = calibrate(cs.sweep([1, 0, 0], [7, 7, 7]), "platt", smooth=smooth)
        assert c.llr([7, 8, -inf]).tolist() == [0, 0, 0]


def test_grouped_scores_end_at_the_same_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = binormal(20_000, 2, share=0.1)
    s, p = cs.sweep(y, x), sigmoid(x - 1)
    one = [calibrate(s, "platt"), calibrate(cs.sweep(y, p), "beta")]
    monkeypatch.setattr(logistic, "_GROUPS", 100)
    two = [calibrate(s, "platt"), calibrate(cs.sweep(y, p), "beta")]
    assert one[0] != two[0]
    np.testing.assert_allclose(two[0].llr(x), one[0].llr(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two[1].llr(p), one[1].llr(p), rtol=1e-7, atol=1e-7)


def test_groups_that_are_separable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes that overlap within one group only: its means have no maximum, all scores do."""
    x = np.arange(1000.0)
    y = (x >= 500).astype(int)
    y[[499, 500]] = 1, 0
    alone = calibrate(cs.sweep(y, x), "platt")
    monkeypatch.setattr(logistic, "_GROUPS", 3)
    assert alone.llr(x).tolist() == pytest.approx(
        calibrate(cs.sweep(y, x), "platt").llr(x).tolist()
    )


def test_outliers_and_offsets() -> None:
    """Scores with a huge offset, and one far away: the standardisation must hold."""
    y, x = binormal(400, 3)
    far = calibrate(cs.sweep(y, x.round(3) + 1e9), "platt")
    near = calibrate(cs.sweep(y, x.round(3)), "platt")
    np.testing.assert_allclose(far.llr(x + 1e9), near.llr(x), atol=1e-5)
    wild = np.append(x, 1e12)
    c = calibrate(cs.sweep(np.append(y, 1), wild), "platt")
    left = sigmoid(c.llr(wild) + log((y.sum() + 1) / (400 - y.sum()))) - np.append(y, 1)
    assert abs(left.sum()) < 1e-6


# --------------------------------------------------------------------------------------------- beta


def test_beta_at_the_maximum() -> None:
    y, x = binormal(2000, 4)
    p = sigmoid(1.7 * x - 0.5)
    c = calibrate(cs.sweep(y, p), "beta")
    assert isinstance(c, Beta)
    assert min(c.a, c.b) > 0.2
    left = sigmoid(c.llr(p) + log(y.sum() / (2000 - y.sum()))) - y
    for feature in (np.ones(2000), np.log(p), np.log1p(-p)):
        assert abs(left @ feature) < 1e-8


def test_beta_contains_the_identity() -> None:
    """Probabilities that are calibrated already: a = b = 1, c the prior."""
    rng = np.random.default_rng(5)
    p = rng.beta(1, 2, 400_000)
    c = calibrate(cs.sweep(rng.uniform(size=len(p)) < p, p), "beta")
    assert isinstance(c, Beta)
    assert [c.a, c.b, c.c] == pytest.approx([1, 1, log(2)], abs=0.07)


@pytest.mark.parametrize(
    ("low", "high", "truth", "free"),
    [
        # Log odds that fall, those that flatten to the right, and those that do to the left.
        (0.05, 0.95, (-1, -1, 0), (False, False)),
        (0.05, 0.6, (3, -2, 4), (True, False)),
        (0.4, 0.95, (-2, 3, -4), (False, True)),
        (0.05, 0.95, (2, 0.5, 0), (True, True)),
    ],
)
def test_beta_never_falls(low: float, high: float, truth: Any, free: Any) -> None:
    """The constraints hold, and on them the fit is the best of all maps that satisfy them."""
    rng = np.random.default_rng(6)
    x = rng.uniform(low, high, 2000)
    features = np.array([np.log(x), -np.log1p(-x), np.ones(2000)])
    y = (rng.uniform(size=2000) < sigmoid(truth @ features)).astype(int)
    c = calibrate(cs.sweep(y, x), "beta")
    assert isinstance(c, Beta)
    assert (c.a > 0, c.b > 0) == free
    prior = log(y.sum() / (2000 - y.sum()))

    def loss(theta: Any) -> float:
        eta = theta @ features
        return float(np.mean(np.logaddexp(0, eta) - y * eta))

    bounds = [(0, None), (0, None), (None, None)]
    best = optimize.minimize(loss, [0.5, 0.5, 0.0], bounds=bounds, method="L-BFGS-B")
    ours = np.array([c.a, c.b, c.c + prior])
    assert loss(ours) <= best.fun + 1e-12
    assert loss(ours) == pytest.approx(best.fun, abs=1e-6)


def test_beta_of_certainties() -> None:
    """0 and 1 count as 2⁻⁵² and 1 − 2⁻⁵²."""
    c = Beta(1.0, 2.0, 0.25)
    assert c.llr([0, 1]).tolist() == pytest.approx(
        [-52 * log(2) + 0.25, 2 * 52 * log(2) + 0.25], rel=1e-14
    )
    s = cs.sweep([1, 0, 1, 0, 0], [1, 1, 0.6, 0, 0.3])
    assert np.isfinite(calibrate(s, "beta").llr([0, 0.5, 1])).all()


# ----------------------------------------------------------------------------------------- gaussian


def test_gaussian_is_two_densities() -> None:
    c = Gaussian(2.0, 0.5, -1.0, 1.5, -5, 5)
    x = np.linspace(-6, 6, 50)
    exact = stats.norm(2, 0.5).logpdf(x) - stats.norm(-1, 1.5).logpdf(x)
    np.testing.assert_allclose(c.llr(x), exact, rtol=1e-12, atol=1e-13)


def test_gaussian_moments() -> None:
    c = calibrate(cs.sweep([1, 1, 0, 0, 0], [1, 5, 0, 0, 3], [1, 3, 1, 1, 1]), "gaussian")
    assert isinstance(c, Gaussian)
    assert (c.pos_mean, c.pos_sd) == (4, pytest.approx(sqrt(3)))
    assert (c.neg_mean, c.neg_sd) == (1, pytest.approx(sqrt(2)))
    assert (c.low, c.high) == (0, 5)


@pytest.mark.parametrize(
    ("c", "turn", "monotone", "says"),
    [
        (Gaussian(2, 1, 0, 1, -9, 9), None, True, "monotone"),
        (Gaussian(0, 1, 2, 1, -9, 9), None, False, "decreasing"),
        (Gaussian(2, 2, 0, 1, -3, 9), -2 / 3, False, "not monotone: decreases below -0.6667"),
        (Gaussian(2, 2, 0, 1, 0, 9), -2 / 3, True, "monotone on the fitted range 0 to 9"),
        (Gaussian(2, 1, 0, 2, -9, 9), 8 / 3, False, "not monotone: decreases above 2.667"),
        (Gaussian(2, 1, 0, 2, -9, 2), 8 / 3, True, "monotone on the fitted range -9 to 2"),
    ],
)
def test_gaussian_says_where_it_turns(
    c: Gaussian, turn: float | None, monotone: bool, says: str
) -> None:
    assert c.turning_point == pytest.approx(turn)
    assert c.monotone is monotone
    assert says in repr(c)
    assert says in c._repr_html_()
    x = np.linspace(c.low, c.high, 1001)
    assert (np.diff(c.llr(x)) >= 0).all() == monotone
    if turn is not None:
        step = c.llr(np.array([turn - 0.1, turn, turn + 0.1]))
        assert (step[0] - step[1]) * (step[2] - step[1]) > 0


def test_gaussian_limits() -> None:
    wide_pos, wide_neg = Gaussian(2, 2, 0, 1, -3, 9), Gaussian(2, 1, 0, 2, -3, 9)
    for x in (inf, -inf, 1e300, -1e300, np.finfo(float).max):
        assert wide_pos.llr(x) == inf
        assert wide_neg.llr(x) == -inf
    equal = Gaussian(2, 1, 0, 1, -3, 9)
    assert equal.llr([inf, -inf]).tolist() == [inf, -inf]
    assert Gaussian(0, 1, 2, 1, -3, 9).llr([inf, -inf]).tolist() == [-inf, inf]
    assert Gaussian(0, 1, 0, 1, -3, 9).llr([inf, -inf, 3]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", ["logistic", "platt", "gaussian"])
def test_converges_to_the_truth(method: str) -> None:
    """Binormal scores: the LLR is 2 x − 2, and the error falls like 1/√n."""
    x = np.linspace(-1, 3, 9)
    error = []
    for n in (1000, 100_000):
        runs = [calibrate(cs.sweep(*binormal(n, k)), method).llr(x) for k in range(20)]
        error.append(np.sqrt(np.mean((np.array(runs) - (2 * x - 2)) ** 2)))
    assert error[1] < 0.03
    assert 5 < error[0] / error[1] < 20  # 10 is the square root of 100


# ----------------------------------------------------------------------------------------- monotone


def test_staircase_by_hand() -> None:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33])
    c = calibrate(s, "isotonic")
    assert isinstance(c, Monotone)
    # Hull: 1+, then 2+ 1−, then 1+ 1−, then 2−. Ends: 2 + 1.5/½ and 1/(1/1 + 2.5/½).
    np.testing.assert_allclose(np.exp(c.value), [5, 2, 1, 1 / 6], rtol=1e-15)
    assert c.threshold.tolist() == [s.threshold_of(k) for k in (1, 4, 6, 8)]
    bare = calibrate(s, "isotonic", smooth=False)
    assert bare.llr([0.95, 0.8, 0.5, 0.1]).tolist() == [inf, log(2), 0, -inf]


@given(tame())
def test_slopes_are_isotonic_odds(data: tuple[Case, Any]) -> None:
    (y, x), w = data
    s = cs.sweep(y, x, w)
    c = calibrate(s, "isotonic", smooth=False)
    mass = (s.pos + s.neg).astype(float)
    fit = optimize.isotonic_regression(s.pos / mass, weights=mass, increasing=False).x
    np.testing.assert_allclose(
        c.probability(s.threshold, s.prevalence), fit, rtol=1e-12, atol=1e-15
    )
    with np.errstate(divide="ignore"):
        lr = fit / (1 - fit) * (s.N / s.P)
    inner = (fit > 0) & (fit < 1)
    np.testing.assert_allclose(np.exp(c.llr(s.threshold))[inner], lr[inner], rtol=1e-12)


@given(rows(both=True))
def test_area_of_the_staircase_is_that_of_the_hull(case: Case) -> None:
    """Smoothed ends or not, and infinite scores among them: exact, by integers."""
    s = cs.sweep(*case)
    for smooth in (True, False):
        llr = calibrate(s, "isotonic", smooth=smooth).llr(case.score)
        assert cs.sweep(case.y, llr).auc == cs.hull(s).auc
        assert np.isfinite(llr).all() or not smooth


@given(rows(both=True), st.data())
def test_loss_of_the_staircase_is_the_least(case: Case, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    s = cs.sweep(*case, w)
    assume(s.P > 0 and s.N > 0)
    c = calibrate(s, "isotonic", smooth=False)
    after = cs.sweep(case.y, c.probability(case.score, s.prevalence), w)
    for score in ("brier", "log"):
        d = decompose(after, score)
        assert d.miscalibration == pytest.approx(0, abs=1e-14)
    assert cllr(cs.sweep(case.y, c.llr(case.score), w)) == pytest.approx(min_cllr(s), abs=1e-13)


@given(rows(both=True), st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_decisions_are_those_of_choose(case: Case, fp: float, prior: float) -> None:
    """Where choose cuts, decide flags: the cost of either is the least there is."""
    s = cs.sweep(*case)
    costs = cs.Costs(fp=fp, fn=1)
    flagged = calibrate(s, "isotonic", smooth=False).decide(s.threshold, costs, prior)
    tp, fp_mass = s.pos[flagged].sum(), s.neg[flagged].sum()

    def cost(tp: Any, fp: Any) -> Any:
        return (1 - prior) * costs.fp * (fp / s.N) + prior * (1 - tp / s.P)

    least = min(cost(0, 0), float(np.min(cost(s.tp, s.fp))))
    assert cost(tp, fp_mass) == pytest.approx(least, rel=1e-12, abs=1e-14)


@given(rows(both=True))
def test_smoothed_ends_stay_in_order(case: Case) -> None:
    s = cs.sweep(*case)
    bare = calibrate(s, "isotonic", smooth=False)
    c = calibrate(s, "isotonic")
    assert isinstance(bare, Monotone)
    assert isinstance(c, Monotone)
    assert (np.diff(c.value) < 0).all()
    inner = np.isfinite(bare.value)
    assert c.value[inner].tolist() == bare.value[inner].tolist()
    # More rows of one class at the end say more.
    assert np.isfinite(c.value).all()


def test_smoothed_ends_of_separated_classes() -> None:
    c = calibrate(cs.sweep([1, 1, 1, 0], [4, 3, 2, 1]), "isotonic")
    ratio = log(1 / 3)
    assert c.llr([3, 0]).tolist() == pytest.approx([log(7) + ratio, -log(3) + ratio], rel=1e-15)


def test_interpolated() -> None:
    s = cs.sweep([1, 1, 0, 1, 0, 0], [9, 7, 5, 4, 2, 0])
    c = calibrate(s, "isotonic", interpolate=True)
    assert isinstance(c, Monotone)
    assert c.threshold.tolist() == [8, 4.5, 1]  # mean scores of the steps
    stair = calibrate(s, "isotonic").llr([8, 4.5, 1])
    assert c.llr([8, 4.5, 1]).tolist() == stair.tolist()
    assert c.llr(6.25) == pytest.approx((stair[0] + stair[1]) / 2, rel=1e-14)
    assert c.llr([100, inf, -100, -inf]).tolist() == [stair[0], stair[0], stair[2], stair[2]]
    weighted = calibrate(cs.sweep([1, 1, 0], [9, 7, 0], [3, 1, 1]), "isotonic", interpolate=True)
    assert isinstance(weighted, Monotone)
    assert weighted.threshold.tolist() == [8.5, 0]


@given(rows(both=True), st.booleans())
def test_strict_keeps_the_ranking(case: Case, interpolate: bool) -> None:
    score = np.round(np.clip(case.score.astype(np.float64), -50, 50), 3)
    s = cs.sweep(case.y, score)
    plain = calibrate(s, "isotonic", interpolate=interpolate)
    c = calibrate(s, "isotonic", strict=True, interpolate=interpolate)
    assert (np.diff(c.llr(s.threshold)) < 0).all()
    assert cs.sweep(case.y, c.llr(score)).auc == s.auc
    assert np.abs(c.llr(score) - plain.llr(score)).max() <= 2**-10


def test_strict_of_infinite_scores() -> None:
    s = cs.sweep([1, 0, 1, 0], [inf, 2, 1, -inf])
    llr = calibrate(s, "isotonic", strict=True).llr([inf, 2, 1, -inf])
    assert (np.diff(llr) < 0).all()
    assert np.isfinite(llr).all()


def test_isotonic_of_a_peer() -> None:
    y, x = binormal(3000, 8)
    theirs = IsotonicRegression(y_min=0, y_max=1).fit(x, y).predict(x)
    ours = calibrate(cs.sweep(y, x), "isotonic", smooth=False).probability(x, y.mean())
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


# --------------------------------------------------------------------------- what all of them share


@given(tame(), st.sampled_from(METHODS))
def test_repeated_rows_are_weights(data: tuple[Case, Any], method: str) -> None:
    (y, x), w = data
    assume(w is not None)
    x = sigmoid(x / 1e6) if method == "beta" else x
    times = w.astype(int)
    one, two = cs.sweep(y, x, w), cs.sweep(np.repeat(y, times), np.repeat(x, times))
    options = {"smooth": True} if method in ("platt", "beta") else {}
    try:
        expected = calibrate(two, method, **options).llr(x)
    except cs.CutscoreError as error:
        with finding(error.finding.code, type(error)):
            calibrate(one, method, **options)
        return
    scale = np.abs(expected).max()
    got = calibrate(one, method, **options).llr(x)
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-7 * scale)


@given(rows(both=True), st.sampled_from(METHODS), st.booleans(), st.data())
def test_any_scores_and_weights(case: Case, method: str, smooth: bool, data: st.DataObject) -> None:
    """Tiny and huge scores and weights: a calibrator without NaN, or a clear error."""
    w = data.draw(weights(len(case.y)))
    score = (
        sigmoid(np.clip(case.score.astype(float), -700, 700)) if method == "beta" else case.score
    )
    options = {"smooth": smooth} if method in ("platt", "beta", "isotonic") else {}
    try:
        c = calibrate(cs.sweep(case.y, score, w), method, **options)
    except cs.CutscoreError:
        return
    llr = c.llr(score)
    assert not np.isnan(llr).any()
    if method in ("beta", "isotonic"):
        rising = llr[np.argsort(score, kind="stable")]
        slack = 1e-9 * np.abs(llr[np.isfinite(llr)]).max(initial=0)
        assert (rising[1:] >= rising[:-1] - slack).all()


def examples() -> list[Calibrator]:
    y, x = binormal(200, 9)
    p = sigmoid(x - 1)
    affine = Affine(0.1, 1 / 3, "platt")
    s = cs.sweep(y, x)
    return [
        affine,
        Affine(-2.5, 1e300),
        Beta(0.1, 1e-17, -3.3),
        Gaussian(1.1, 0.7, -0.3, 1.3, -2.2, 4.4),
        calibrate(cs.sweep(y, p), "beta"),
        calibrate(s, "isotonic"),
        calibrate(s, "isotonic", smooth=False),
        calibrate(s, "isotonic", interpolate=True),
        calibrate(s, "isotonic", strict=True),
        calibrate(s, "auto"),
        calibrate(s, "isotonic").then(affine),
        Beta(1.0, 2.0, 0.0).then(Gaussian(1.1, 0.7, -0.3, 1.3, -2.2, 4.4)).then(affine),
    ]


@pytest.mark.parametrize("c", examples(), ids=lambda c: c.kind)
def test_json_comes_back_exactly(c: Calibrator) -> None:
    text = c.to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    again = Calibrator.from_json(text)
    assert again == c
    assert hash(again) == hash(c)
    assert type(again) is type(c)
    assert again.to_json() == text
    assert again.method == c.method
    x = np.linspace(0, 1, 1001)
    assert again.llr(x).tolist() == c.llr(x).tolist()
    assert Calibrator.from_dict(c.to_dict()).llr(x).tolist() == c.llr(x).tolist()
    assert type(c)._repr_html_(c).startswith("<div")
    assert repr(again)


def edited(**changes: Any) -> str:
    data = Affine(2.0, 1.0).to_dict() | changes
    return json.dumps({name: value for name, value in data.items() if value is not None})


def monotone_json(**changes: Any) -> str:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    return json.dumps(calibrate(s, "isotonic").to_dict() | changes)


BAD_JSON: list[tuple[str, str, dict[str, Any]]] = [
    ("{", "not-json", {"line": 1}),
    ("[1]", "format-unknown", {"reads": "cutscore calibrator"}),
    (edited(format="other"), "format-unknown", {"format": "other"}),
    (edited(version=2), "format-unknown", {"format": "cutscore calibrator 2"}),
    (edited(version=True), "format-unknown", {"format": "cutscore calibrator True"}),
    (edited(kind="spline"), "field-unfit", {"field": "kind", "value": "spline"}),
    (edited(kind=["affine"]), "field-unfit", {"field": "kind"}),
    (edited(d0=None), "field-unfit", {"field": "affine.d0"}),
    (edited(extra=1), "field-unfit", {"field": "affine.extra"}),
    (edited(gamma="2"), "field-unfit", {"field": "affine.gamma", "value": "2"}),
    (edited(gamma=True), "field-unfit", {"field": "affine.gamma", "value": True}),
    (edited(gamma=nan), "field-unfit", {"value": "NaN"}),
    (edited(gamma="inf"), "field-unfit", {"field": "affine.gamma", "value": "inf"}),
    (edited(method=3), "field-unfit", {"field": "affine.method", "rule": "text"}),
    ('{"format": 1, "format": 2}', "field-unfit", {"field": "format"}),
    (monotone_json(value=3), "field-unfit", {"field": "monotone.value", "rule": "a list"}),
    (monotone_json(value=["a"]), "field-unfit", {"field": "monotone.value[0]", "value": "a"}),
    (monotone_json(interpolate=1), "field-unfit", {"rule": "true or false", "value": 1}),
    (monotone_json(scale=0), "field-unfit", {"rule": "a finite number above 0"}),
    (
        json.dumps(Chain((Affine(1, 1),)).to_dict() | {"steps": [{"kind": "affine"}]}),
        "format-unknown",
        {"format": None},
    ),
    (monotone_json(value=[1, 2, 3]), "bad-argument", {"parameter": "value"}),
    (monotone_json(value=[1]), "lengths-differ", {"name": "value", "have": 1}),
    (monotone_json(threshold=[3, 2, 1]), "bad-argument", {"rule": "end with -inf"}),
    (monotone_json(interpolate=True), "bad-argument", {"rule": "be finite"}),
    (
        json.dumps(Beta(1, 1, 1).to_dict() | {"a": -1}),
        "bad-argument",
        {"parameter": "a", "value": -1.0},
    ),
    (
        json.dumps(Gaussian(1, 1, 1, 1, 0, 1).to_dict() | {"low": 2}),
        "bad-argument",
        {"parameter": "low", "value": 2.0},
    ),
    (
        json.dumps(Chain((Affine(1, 1),)).to_dict() | {"steps": []}),
        "bad-argument",
        {"parameter": "steps"},
    ),
    (
        json.dumps(
            Chain((Affine(1, 1),)).to_dict() | {"steps": [Chain((Affine(1, 1),)).to_dict()]}
        ),
        "bad-argument",
        {"parameter": "steps"},
    ),
]


@pytest.mark.parametrize(("text", "code", "fields"), BAD_JSON)
def test_malformed_json(text: str, code: str, fields: dict[str, Any]) -> None:
    with finding(code, cs.DataError, **fields):
        Calibrator.from_json(text)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", ">f8", "i4", "O"])
def test_any_type_of_scores(dtype: str) -> None:
    x = np.array([0, 1, 1, 0]).astype(dtype)
    for c in examples():
        out = c.llr(x)
        assert out.dtype == np.float64
        assert out.tolist() == c.llr([0.0, 1.0, 1.0, 0.0]).tolist()


def test_shapes() -> None:
    c = Affine(2.0, 1.0)
    assert c.llr(1.5) == 1.0
    assert type(c.llr(1.5)) is float
    assert type(c.probability(1.5, 0.5)) is float
    assert c.llr(np.ones((2, 3))).shape == (2, 3)
    assert c.llr([]).shape == (0,)
    many = np.linspace(-3, 3, 100_001)  # several blocks
    np.testing.assert_array_equal(c.llr(many), 2 * (many - 1))


def test_infinite_scores_of_affine_calibrators() -> None:
    assert Affine(2.0, 1.0).llr([inf, -inf]).tolist() == [inf, -inf]
    assert Affine(-2.0, 1.0).llr([inf, -inf]).tolist() == [-inf, inf]
    assert Affine(0.0, 1.0).llr([inf, -inf]).tolist() == [0, 0]
    assert Affine(2.0, 1.0).probability([inf, -inf], 0.1).tolist() == [1, 0]


@pytest.mark.parametrize("c", examples(), ids=lambda c: c.kind)
def test_nan_is_refused(c: Calibrator) -> None:
    x = np.full(40_000, 0.5)
    x[33_333] = nan
    with finding("value-missing", where=Where(33_333, "score")):
        c.llr(x)


def test_probability_and_decision() -> None:
    c = Affine(1.0, 0.0)
    x = np.linspace(-40, 40, 81)
    for prior in (0.5, 0.002, 1 - 1e-9):
        p = c.probability(x, prior)
        odds = np.exp(x) * prior / (1 - prior)
        np.testing.assert_allclose(p, odds / (1 + odds), rtol=1e-13)
        costs = cs.Costs(fp=1, fn=20)
        flags = c.decide(x, costs, prior)
        # The expected cost of flagging is at most that of leaving alone.
        np.testing.assert_array_equal(flags, (1 - p) * 1 <= p * 20)
    edge = cs.Costs(fp=1, fn=1)
    assert c.decide(0.0, edge, 0.5)  # a tie is flagged
    assert c.probability(-800.0, 0.5) == exp(-800) or c.probability(-800.0, 0.5) == 0
    assert c.probability(-700.0, 0.5) == pytest.approx(exp(-700), rel=1e-13)
    with finding("bad-argument", parameter="prior"):
        c.probability(x, 0)
    with finding("bad-argument", parameter="costs"):
        c.decide(x, 3, 0.5)  # type: ignore[arg-type]


floats = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3)


@given(floats, floats, floats, floats, st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_composition(g1: float, d1: float, g2: float, d2: float, x: list[float]) -> None:
    a, b = Affine(g1, d1), Affine(g2, d2)
    both = a.then(b)
    assert isinstance(both, Affine) == (g1 != 0)
    scale = abs(g2) * (abs(g1) * (2e3 + abs(d1)) + abs(d2))
    np.testing.assert_allclose(both.llr(x), b.llr(a.llr(x)), rtol=1e-9, atol=1e-12 * scale)


@given(floats.filter(bool), floats, st.floats(-1e3, 1e3))
def test_inverse(g: float, d0: float, x: float) -> None:
    c = Affine(g, d0)
    assert c.inverse(c.llr(x)) == pytest.approx(x, rel=1e-12, abs=1e-12 * (abs(d0) + abs(x)))


def test_inverse_where_there_is_none() -> None:
    for c in examples():
        if isinstance(c, Affine):
            continue
        with finding("undefined", what=f"a {c.kind} calibrator"):
            c.inverse(0.0)
    with finding("undefined", cs.UndefinedError):
        Affine(0.0, 1.0).inverse(0.0)


def test_chain() -> None:
    y, x = binormal(300, 10)
    first, second = calibrate(cs.sweep(y, x), "isotonic"), Affine(2.0, 0.5)
    both = first.then(second)
    assert isinstance(both, Chain)
    assert both.llr(x).tolist() == (2 * (first.llr(x) - 0.5)).tolist()
    assert isinstance(both.then(first), Chain)
    assert len(both.then(both).steps) == 4  # type: ignore[attr-defined]
    assert ", then " in repr(both)
    with finding("bad-argument", parameter="steps"):
        first.then(Beta(1, 1, 0))
    with finding("bad-argument", parameter="other", value=3):
        first.then(3)  # type: ignore[arg-type]
    with finding("not-probabilities", score=2.0, where=Where(1, "score")):
        Beta(1, 1, 0).then(second).llr([0.5, 2])


def test_a_line_stays_a_line() -> None:
    """γ (w·x + b − d₀) is linear in x: (γ w, γ (b − d₀))."""
    rng = np.random.default_rng(11)
    X, line = rng.normal(size=(50, 4)), cs.LinearDetector(rng.normal(size=4), 0.7)
    c = Affine(1.7, -0.4)
    both = line.then(c)
    np.testing.assert_allclose(both.scores(X), c.llr(line.scores(X)), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(both.unit().w, line.unit().w, rtol=1e-14)
    with finding("bad-argument", parameter="calibrator"):
        line.then(Beta(1, 1, 0))  # type: ignore[arg-type]


def test_repr() -> None:
    assert repr(Affine(2.0, -1.0, "platt")) == "LLR = 2 (score + 1), platt"
    assert "decreasing: low scores indicate positives" in repr(Affine(-2.0, 1.0))
    assert repr(Beta(1, 2, -0.5)) == "LLR = 1 ln p − 2 ln(1−p) − 0.5, beta"
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    assert repr(calibrate(s, "isotonic")) == (
        "LLR -1.39 to 1.39, isotonic: step function with 3 steps"
    )
    assert calibrate(s, "monotone") == calibrate(s, "isotonic")
    assert "strictly increasing" in repr(calibrate(s, "isotonic", strict=True))


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_one_class_has_no_calibration(method: str) -> None:
    with finding("one-class", cs.UndefinedError):
        calibrate(cs.sweep([1, 1], [0.5, 0.25]), method)
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        calibrate(cs.sweep([], []), method)


@pytest.mark.parametrize("method", ["logistic", "platt", "gaussian"])
def test_infinite_scores_have_no_moments(method: str) -> None:
    with finding("not-finite", what=f"scores of {method} calibration", value=-inf):
        calibrate(cs.sweep([1, 0, 1], [1, 0, -inf]), method)
    with finding("not-finite", value=inf):
        calibrate(cs.sweep([1, 0, 1], [1, 0, inf]), "isotonic", interpolate=True)


def of_argument(parameter: str, **more: Any) -> dict[str, Any]:
    return {"code": "bad-argument", "parameter": parameter, **more}


BAD_CALLS: list[tuple[Callable[[cs.Sweep], Any], dict[str, Any]]] = [
    (
        lambda s: calibrate(s, "sigmoid"),
        of_argument("method", hint="scikit-learn's sigmoid is called 'platt' here."),
    ),
    (lambda s: calibrate(s, 3), of_argument("method", value=3)),  # type: ignore[arg-type]
    (lambda s: calibrate(s, "platt", strict=True), of_argument("strict", value=True)),
    (
        lambda s: calibrate(s, "logistic", smooth=True),
        of_argument("smooth", hint="It is an option of 'platt', 'beta' and 'isotonic'."),
    ),
    (lambda s: calibrate(s, "platt", folds=3), of_argument("folds", value=3)),
    (lambda s: calibrate(s, "auto", folds=1), of_argument("folds", value=1)),
    (lambda s: calibrate(s, "auto", seed=-1), of_argument("seed", value=-1)),
    (
        lambda s: calibrate(s, "beta"),
        {"code": "not-probabilities", "what": "beta calibration", "score": 4.0},
    ),
    (
        lambda s: calibrate(s, "isotonic", smooth=False, strict=True),
        {"code": "arguments-conflict", "parameters": ("smooth", "interpolate", "strict")},
    ),
    (
        lambda _: calibrate(cs.sweep([1, 0, 0], [2, 1, 0]), "auto"),
        {"code": "too-few", "error": cs.UndefinedError, "need": 2, "have": 1},
    ),
    (
        lambda _: calibrate(cs.sweep([1, 0], [0.9, 0.1]), "beta"),
        {"code": "no-overlap", "error": cs.UndefinedError, "what": "beta calibration"},
    ),
    (
        lambda _: calibrate(cs.sweep([1, 1, 0], [2, 1, 0]), "gaussian"),
        {"code": "no-variation", "error": cs.UndefinedError},
    ),
    (
        lambda _: calibrate(
            cs.sweep([1, 1, 1, 0, 0, 0], 5e-324 * np.array([2, 2, 1, 2, 1, 1])), "platt"
        ),
        {"code": "beyond-floats", "error": cs.DataError, "value": inf},
    ),
    (
        lambda _: Beta(1, 1, 0).llr([0.5, -0.1]),
        {"code": "not-probabilities", "score": -0.1, "where": Where(1, "score")},
    ),
]


@pytest.mark.parametrize(("call", "found"), BAD_CALLS)
def test_bad_calls(call: Callable[[cs.Sweep], Any], found: dict[str, Any]) -> None:
    with finding(**found):
        call(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]))


def test_calibrate_takes_a_sweep() -> None:
    with finding("bad-argument", cs.DataError, parameter="s"):
        calibrate([1], "platt")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- spline


@pytest.mark.parametrize("seed", range(4))
def test_spline_is_the_most_likely_broken_line(seed: int) -> None:
    """Against a general optimiser, on steps that must not be negative."""
    y, x = binormal(200, seed, share=0.3, gap=1, width=2)
    x = x.round(1)
    s = cs.sweep(y, x)
    c = calibrate(s, "spline")
    assert isinstance(c, Monotone)
    knots, hi, lo = c.threshold[::-1], (s.P + 1) / (s.P + 2), 1 / (s.N + 2)
    assert (knots[0], knots[-1]) == (x.min(), x.max())
    assert len(knots) == 1 + round(1.6 * min(s.P, s.N) ** 0.2)
    target = np.where(y == 1, hi, lo)

    def loss(theta: Any) -> float:
        odds = np.interp(x, knots, np.cumsum(theta))
        return float(np.sum(np.logaddexp(0, odds) - target * odds))

    bounds = [(None, None), *[(0, None)] * (len(knots) - 1)]
    ours = np.diff(c.value[::-1] + log(s.P / s.N), prepend=0)
    best = optimize.minimize(loss, ours, bounds=bounds, method="L-BFGS-B", tol=1e-12)
    assert loss(ours) <= best.fun + 1e-7
    rough = optimize.minimize(loss, np.zeros(len(knots)), bounds=bounds, method="L-BFGS-B")
    assert loss(ours) <= rough.fun + 1e-7


def test_splines_lead_from_the_line_to_the_spline() -> None:
    y, x = binormal(300, 5, width=2)
    s = cs.sweep(y, x)
    line = calibrate(s, "platt", smooth=True)
    got = splines(s)
    assert tuple(got) == SPLINES
    at = got["spline"].threshold
    for name, share in zip(SPLINES, (0.25, 0.5, 0.75, 1), strict=True):
        expected = share * calibrate(s, "spline").llr(at) + (1 - share) * line.llr(at)
        np.testing.assert_allclose(got[name].llr(at), expected, rtol=1e-9, atol=1e-9)


def test_sums_of_pieces_are_products_of_features() -> None:
    y, x = binormal(2000, 5, share=0.2, width=2)
    s, edges = cs.sweep(y, x), np.quantile(x, [0, 0.1, 0.5, 0.9, 1])

    def features(t: Any) -> list[Any]:
        return [np.clip((t - u) / (v - u), 0, 1) for u, v in pairwise(edges)]

    got = fit_pieces(s, s.threshold, edges, (0.999, 0.001))
    expected = fit(s, features, (0.999, 0.001), rising=True)
    np.testing.assert_allclose(
        [*got.coefficient, got.constant], [*expected.coefficient, expected.constant], rtol=1e-9
    )


def test_spline_of_few_distinct_scores() -> None:
    assert calibrate(cs.sweep([1, 0, 0], [7, 7, 7]), "spline").llr([7, 8]).tolist() == [0, 0]
    levels = cs.Sweep.from_counts([3, 2, 1], pos=[600, 300, 100], neg=[100, 300, 600])
    both = [calibrate(levels, m).llr([3, 2, 1]) for m in ("spline", "isotonic")]
    np.testing.assert_allclose(*both, atol=0.02)  # the targets are smoothed


def test_neighbours_are_taken_together_where_there_are_many() -> None:
    y, x = binormal(50_000, 6, share=0.1)
    s = cs.sweep(y, x)
    few = merge_neighbours(s)
    assert len(few) <= 8192
    assert (few.P, few.N) == (s.P, s.N)
    assert few.auc == pytest.approx(s.auc, abs=1e-4)
    assert merge_neighbours(few) is few
    w = np.random.default_rng(0).uniform(0.5, 1.5, 50_000)
    for some in (s, cs.sweep(y, x, w)):
        table = calibrate(some).comparison
        assert table is not None
        by_method = {e.method: e for e in table.entries}
        # As the rows themselves are judged.
        llr = cross_fit(y, x, "isotonic", weight=None if some is s else w)
        odds = log(some.P / some.N)
        loss = np.logaddexp(0, np.where(y == 1, -1, 1) * (llr + odds))
        share = (np.ones(50_000) if some is s else w) / (some.P + some.N)
        m = share @ loss
        assert by_method["isotonic"].log_loss == pytest.approx(m, abs=5e-4)
        assert by_method["isotonic"].se == pytest.approx(sqrt(share**2 @ (loss - m) ** 2), rel=0.02)


# --------------------------------------------------------------------------------------------- auto


def test_auto_takes_the_simplest_that_will_do() -> None:
    y, x = binormal(20_000, 12)
    c = calibrate(cs.sweep(y, x), "auto")
    assert c.comparison is not None
    assert c.comparison.chosen == c.method
    assert isinstance(c, Affine)
    by_method = {e.method: e for e in c.comparison.entries}
    assert list(by_method) == ["platt", "beta", *SPLINES, "isotonic"]
    best = by_method[c.comparison.best]
    for e in by_method.values():
        if not e.note:
            assert e.excess >= 0
            assert e.log_loss >= best.log_loss
    assert c.method == "platt"
    assert by_method["isotonic"].excess > 0
    assert by_method["beta"].note.code == "not-probabilities"
    assert "← chosen" in repr(c)
    page = c.comparison._repr_html_()
    assert "needs probabilities" in page
    # Columns keep apart also where the page has no style of its own.
    assert page.count("padding:.2em .8em") == 2 * (1 + len(by_method))


def test_auto_sees_what_a_line_can_not() -> None:
    y, x = binormal(50_000, 13)
    kinked = np.where(x > 1, 1 + (x - 1) ** 5, x)  # the same order, and nothing normal about it
    assert calibrate(cs.sweep(y, kinked), "auto").method == "spline"


@pytest.mark.parametrize("n", [200, 5000])
@pytest.mark.parametrize("width", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("gap", [-2.0, 0.0, 1.5])
def test_auto_never_falls(gap: float, width: float, n: int) -> None:
    """Decisions flag from a score upwards. The quadratic that fits these best would fall."""
    y, x = binormal(n, 13, gap=gap, width=width, share=0.2)
    s = cs.sweep(y, x)
    wide = np.linspace(x.min() - 5, x.max() + 5, 1000)
    calibrators = [
        calibrate(s),
        fitting.calibrate_across(s, y == 1, x, None, np.arange(n) % 5)[0],
        calibrate(cs.sweep(y, sigmoid(x))),
    ]
    for c in calibrators:
        llr = c.llr(sigmoid(wide) if c is calibrators[2] else wide)
        assert c.monotone
        assert (np.diff(llr) >= 0).all()
    named = calibrate(s, "gaussian")
    assert named.monotone == (np.diff(named.llr(np.sort(x))) >= 0).all()


def test_auto_is_honest_on_few_rows() -> None:
    """On the rows it was fitted to the staircase always wins; out of fold it does not."""
    worse = []
    for seed in range(10):
        y, x = binormal(100, seed)
        s = cs.sweep(y, x)
        table = calibrate(s, "auto").comparison
        assert table is not None
        loss = {e.method: e.log_loss for e in table.entries}
        worse.append(loss["isotonic"] - loss["platt"])
        inside = {
            m: log_loss(cs.sweep(y, calibrate(s, m).probability(x, s.prevalence)))
            for m in ("isotonic", "platt")
        }
        assert inside["isotonic"] < inside["platt"]
        assert table.chosen != "isotonic"
    assert np.mean(worse) > 0.01


def test_out_of_fold_losses_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table from masses equals the one from rows, given the same folds."""
    y, x = binormal(300, 15)
    x = x.round(1)
    s = cs.sweep(y, x)
    dealt: list[list[Any]] = []
    deal = fitting._split_counts

    def remember(*args: Any) -> Any:
        dealt.append(deal(*args))
        return dealt[-1]

    monkeypatch.setattr(fitting, "_split_counts", remember)
    c = calibrate(s, "auto")
    assert c.comparison is not None
    by_row: dict[str, list[float]] = {"logistic": [], "isotonic": []}
    for pos, neg in zip(*dealt, strict=True):
        t = np.concatenate(
            (np.repeat(s.threshold, s.pos - pos), np.repeat(s.threshold, s.neg - neg))
        )
        label = np.repeat([1, 0], [(s.pos - pos).sum(), (s.neg - neg).sum()])
        test = np.concatenate((np.repeat(s.threshold, pos), np.repeat(s.threshold, neg)))
        truth = np.repeat([1, 0], [pos.sum(), neg.sum()])
        for method in by_row:
            p = calibrate(cs.sweep(label, t), method).probability(test, s.prevalence)
            by_row[method] += (-np.log(np.where(truth == 1, p, 1 - p))).tolist()
    assert all(len(losses) == 300 for losses in by_row.values())
    for e in c.comparison.entries:
        if e.method in by_row:
            loss = np.array(by_row[e.method])
            assert e.log_loss == pytest.approx(loss.mean(), rel=1e-12)
            assert e.se == pytest.approx(loss.std() / sqrt(300), rel=1e-10)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20).filter(lambda m: sum(m) >= 2),
    st.integers(2, 5),
    st.integers(0, 1000),
)
def test_dealing(mass: list[int], folds: int, seed: int) -> None:
    counts = np.array(mass)
    rng = np.random.default_rng(seed)
    parts = fitting._split_counts(counts, folds, rng)
    sizes = [int(part.sum()) for part in parts]
    assert np.sum(parts, axis=0).tolist() == mass
    assert min(map(np.min, parts)) >= 0
    assert max(sizes) - min(sizes) <= 1
    whole = fitting._split_masses(counts.astype(float), folds, rng)
    assert np.sum(whole, axis=0).tolist() == mass
    assert all(sum(bool(part[k]) for part in whole) == bool(mass[k]) for k in range(len(mass)))


def test_dealing_more_rows_than_can_be_drawn_without_replacement() -> None:
    parts = fitting._split_counts(np.array([10**12, 3]), 4, np.random.default_rng(0))
    assert np.sum(parts, axis=0).tolist() == [10**12, 3]
    assert all(abs(part[0] / 10**12 - 0.25) < 1e-5 for part in parts)


def test_auto_of_weights() -> None:
    y, x = binormal(2000, 16)
    whole = np.random.default_rng(0).integers(0, 4, 2000)
    repeated = calibrate(cs.sweep(np.repeat(y, whole), np.repeat(x, whole)), "auto")
    weighted = calibrate(cs.sweep(y, x, whole), "auto")
    assert repeated.comparison == weighted.comparison
    odd = calibrate(cs.sweep(y, x, whole * 0.7), "auto")
    assert odd.comparison is not None
    assert repeated.comparison is not None
    assert odd.comparison.folds == 5
    # Weights that vary say less than as many rows: the standard error is larger.
    assert odd.comparison.entries[0].se > repeated.comparison.entries[0].se


def test_auto_is_deterministic() -> None:
    s = cs.sweep(*binormal(300, 17))
    assert calibrate(s).comparison == calibrate(s).comparison
    assert calibrate(s).comparison != calibrate(s, "auto", seed=1).comparison
    small = calibrate(cs.sweep([1, 1, 1, 0, 0, 0, 0], [5, 3, 4, 1, 2, 3.5, 0]))
    assert small.comparison is not None
    assert small.comparison.folds == 3


# ---------------------------------------------------------------------------------------- cross-fit


@pytest.mark.parametrize("method", ["platt", "isotonic", "auto"])
def test_cross_fit_leaves_the_row_out(method: str) -> None:
    y, x = binormal(200, 18)
    llr = cross_fit(y, x, method, folds=4, seed=3)
    assert np.isfinite(llr).all()
    # Recover the folds: the same deal, and each fold's calibrator by hand.
    rng = np.random.default_rng(3)
    fold = np.empty(200, int)
    for members in (np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        fold[rng.permutation(members)] = np.arange(len(members)) % 4
    for k in range(4):
        c = calibrate(cs.sweep(y[fold != k], x[fold != k]), method)
        assert llr[fold == k].tolist() == c.llr(x[fold == k]).tolist()


def test_cross_fit_of_labels_and_weights() -> None:
    y, x = binormal(200, 19)
    base = cross_fit(y, x, "logistic")
    assert cross_fit(2 * y - 1, x, "logistic").tolist() == base.tolist()
    names = np.where(y == 1, "bad", "ok")
    assert cross_fit(names, x, "logistic", positive="bad").tolist() == base.tolist()
    ones = cross_fit(y, x, "logistic", weight=np.ones(200))
    np.testing.assert_allclose(ones, base, rtol=1e-12, atol=1e-13)
    w = np.linspace(0.1, 2, 200)
    assert cross_fit(y, x, "logistic", weight=w).tolist() != base.tolist()
    assert cross_fit(y, x, "platt", smooth=True).tolist() != cross_fit(y, x, "platt").tolist()
    with finding("one-class", cs.UndefinedError):
        cross_fit([1, 1], [1, 2])
    with finding("value-missing", where=Where(1, "score")):
        cross_fit([1, 0], [1, nan])


def test_cross_fit_is_honest() -> None:
    y, x = binormal(300, 20, gap=1)
    inside = calibrate(cs.sweep(y, x), "isotonic").llr(x)
    outside = cross_fit(y, x, "isotonic")
    fresh_y, fresh_x = binormal(100_000, 21, gap=1)
    fresh = cllr(cs.sweep(fresh_y, calibrate(cs.sweep(y, x), "isotonic").llr(fresh_x)))
    assert cllr(cs.sweep(y, inside)) < fresh
    assert abs(cllr(cs.sweep(y, outside)) - fresh) < abs(cllr(cs.sweep(y, inside)) - fresh)


def test_folds_that_are_given_are_kept() -> None:
    y, x = binormal(200, 22)
    fold = np.random.default_rng(0).integers(0, 3, 200)
    for method in ("logistic", "isotonic"):
        llr = cross_fit(y, x, method, folds=fold)
        for k in range(3):
            c = calibrate(cs.sweep(y[fold != k], x[fold != k]), method)
            assert llr[fold == k].tolist() == c.llr(x[fold == k]).tolist()
    with finding("lengths-differ", name="fold", have=199, need=200):
        cross_fit(y, x, "platt", folds=fold[1:])
    for bad in (fold / 1, fold[:, None], fold + 1, fold - 1, 0 * fold, fold + 10**15):
        with finding("bad-argument", parameter="folds"):
            cross_fit(y, x, "platt", folds=bad)
    with finding("fold-one-class", cs.UndefinedError, fold=1):
        cross_fit(y, x, "platt", folds=y)


def losses_by_hand(y: Any, x: Any, w: Any, fold: Any) -> tuple[Any, Any, Any]:
    """LLRs and log losses of each row by each method, fitted to the other folds: slowly. And the
    steps of each staircase."""
    steps = []
    llrs, losses = {}, {}
    odds = np.log(w[y == 1].sum() / w[y == 0].sum())
    for method in ("platt", "beta", *SPLINES, "isotonic"):
        out = np.empty(len(y))
        try:
            for k in range(fold.max() + 1):
                own = fold == k
                c = candidate(cs.sweep(y[~own], x[~own], w[~own]), method)
                out[own] = c.llr(x[own])
                if isinstance(c, Monotone) and not c.interpolate:
                    steps.append(len(c))
        except cs.CutscoreError:
            continue
        llrs[method] = out
        losses[method] = np.logaddexp(0, np.where(y == 1, -1, 1) * (odds + out))
    return llrs, losses, np.array(steps)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_across_folds_each_row_is_judged_by_the_others(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 400
    x = rng.normal(size=n).round(1 + seed % 2) + 0.0
    # Steps for some of them, so that not all folds choose the same.
    steps = np.where(x > 0.9, 0.8, np.where(x > -0.3, 0.3, 0.05))
    y = (rng.random(n) < (steps if seed > 1 else sigmoid(2 * x - 1))).astype(int)
    w = rng.uniform(0.1, 3, n).round(2) if weighted else np.ones(n)
    if weighted:  # the mass of a class at a score is one: here each row has a score of its own
        x = x + np.arange(n) * 1e-7
    fold = rng.permutation(n) % 5
    s = cs.sweep(y, x, w if weighted else None)
    c, got = fitting.calibrate_across(s, y == 1, x, w if weighted else None, fold)
    llrs, losses, steps = losses_by_hand(y, x, w, fold)

    def choice(some: Any) -> str:
        share = w[some] / w[some].sum()
        folds = np.unique(fold[some])
        flexible = {method: k for k, method in enumerate(losses)}
        flexible["isotonic"] = max(flexible["isotonic"], steps[folds].mean())
        toll = 0.5 * (share**2).sum()
        return min(losses, key=lambda m: share @ losses[m][some] + toll * flexible[m])

    assert c.comparison is not None
    assert (c.comparison.chosen, c.comparison.folds) == (choice(np.full(n, True)), 5)
    for k in range(5):
        by = choice(fold != k)
        np.testing.assert_allclose(got[fold == k], llrs[by][fold == k], rtol=1e-7, atol=1e-7)
    # What is shipped is fitted to all rows.
    assert c.llr(x).tolist() == candidate(s, c.comparison.chosen).llr(x).tolist()


def test_across_folds_no_label_tells_of_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "CANDIDATES", {"isotonic": fitting.CANDIDATES["isotonic"]})
    y, x = binormal(300, 23)
    fold = np.arange(300) % 5
    before = fitting.calibrate_across(cs.sweep(y, x), y == 1, x, None, fold)[1]
    for k in range(5):
        other = np.where(fold == k, 1 - y, y)
        after = fitting.calibrate_across(cs.sweep(other, x), other == 1, x, None, fold)[1]
        same = after == before
        assert same[fold == k].all()
        assert not same[fold != k].all()


def test_across_folds_whole_weights_are_repetitions() -> None:
    y, x = binormal(150, 24)
    times = np.arange(150) % 3 + 1
    fold = np.arange(150) % 4
    w = times.astype(float)
    c, few = fitting.calibrate_across(cs.sweep(y, x, w), y == 1, x, w, fold)
    yy, xx, ff = (np.repeat(column, times) for column in (y, x, fold))
    d, many = fitting.calibrate_across(cs.sweep(yy, xx), yy == 1, xx, None, ff)
    assert np.repeat(few, times).tolist() == many.tolist()
    assert c == d


def test_across_folds_halves_of_a_row_are_not_lost() -> None:
    """Two of weight ½ with one score, in different folds, add up to a whole one over all."""
    y, x = binormal(300, 25)
    twice = [np.tile(column, 2) for column in (y, x)]
    half, fold = np.full(600, 0.5), np.repeat(np.arange(2), 300)
    s = cs.sweep(*twice, half)
    c, llr = fitting.calibrate_across(s, twice[0] == 1, twice[1], half, fold)
    assert c.comparison is not None
    assert all(entry.log_loss > 0.1 for entry in c.comparison.entries if not entry.note)
    for k in range(2):
        one = candidate(cs.sweep(y, x, np.full(300, 0.5)), c.comparison.chosen)
        assert llr[fold == k] == pytest.approx(one.llr(x), rel=1e-9)


# -------------------------------------------------------------------------------------- prior shift


def labelled(n: int, seed: int, share: float = 0.3) -> cs.Sweep:
    return cs.sweep(*binormal(n, seed, share=share))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_prior_shift_finds_the_share(share: float) -> None:
    s = labelled(2000, 21)
    found = prior_shift(s, binormal(5000, 22, share=share)[1])
    assert share in found.interval
    assert found.prior == pytest.approx(share, abs=0.04)
    assert found.p_value > 0.05
    assert found.rows == 5000
    assert prior_shift(s, binormal(5000, 22, share=share)[1], level=0.5).interval.width < (
        found.interval.width
    )


def test_prior_shift_by_rows() -> None:
    """The estimate and Fieller's interval from the rows themselves, by a search."""
    y, x = binormal(300, 25, share=0.3)
    x = x.round(1)
    _, new = binormal(200, 26, share=0.2)
    new = new.round(1)
    pos, neg = x[y == 1], x[y == 0]

    def place(v: Any) -> Any:
        return np.mean(
            [np.mean((of < v[:, None]) + 0.5 * (of == v[:, None]), axis=1) for of in (pos, neg)],
            axis=0,
        )

    u, u_pos, u_neg = map(place, (new, pos, neg))
    rough = (u.mean() - u_neg.mean()) / (u_pos.mean() - u_neg.mean())
    g, g_pos, g_neg = ((1 - rough) * v**2 + rough * (1 - (1 - v) ** 2) for v in (u, u_pos, u_neg))
    best = (g.mean() - g_neg.mean()) / (g_pos.mean() - g_neg.mean())
    parts = [v.var(ddof=1) / len(v) for v in (g, g_pos, g_neg)]

    def each(pi: float) -> Any:
        return np.array(parts) * [1, pi**2, (1 - pi) ** 2]

    freedom = each(best).sum() ** 2 / np.sum(
        each(best) ** 2 / [len(v) - 1 for v in (g, g_pos, g_neg)]
    )
    far = stats.t(freedom).ppf(0.95)

    def beyond(pi: float) -> float:
        off = g.mean() - pi * g_pos.mean() - (1 - pi) * g_neg.mean()
        return float(abs(off) - far * sqrt(each(pi).sum()))

    found = prior_shift(cs.sweep(y, x), new, level=0.9)
    assert found.prior == pytest.approx(best, rel=1e-10)
    assert found.interval.low == pytest.approx(optimize.brentq(beyond, 0, best), rel=1e-8)
    assert found.interval.high == pytest.approx(optimize.brentq(beyond, best, 1), rel=1e-8)


def test_prior_shift_knows_only_the_order() -> None:
    y, x = binormal(400, 27)
    _, new = binormal(300, 28, share=0.2)
    plain, bent = (prior_shift(cs.sweep(y, f(x)), f(new)) for f in (np.asarray, np.exp))
    assert plain == bent
    # Classes swapped: the other share.
    swapped = prior_shift(cs.sweep(1 - y, -x), -new)
    assert swapped.prior == pytest.approx(1 - plain.prior, rel=1e-9)
    assert swapped.interval.low == pytest.approx(1 - plain.interval.high, rel=1e-9)
    assert swapped.p_value == pytest.approx(plain.p_value, rel=1e-6)


@pytest.mark.slow
def test_prior_shift_covers_and_is_doubted_where_the_classes_move() -> None:
    hits, alarms, noticed = 0, 0, 0
    for k in range(200):
        s = labelled(1000, k)
        _, new = binormal(5000, 1000 + k, share=0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, moved = prior_shift(s, new), prior_shift(s, new + 0.2)
        hits += 0.05 in found.interval
        alarms += found.p_value < 0.05
        noticed += moved.p_value < 0.05
    assert abs(hits / 200 - 0.95) < 3 * sqrt(0.95 * 0.05 / 200)
    assert alarms / 200 < 0.05 + 3 * sqrt(0.95 * 0.05 / 200)
    assert noticed > 160


def test_prior_shift_warns_where_the_classes_move() -> None:
    _, new = binormal(5000, 29, share=0.1)
    with warned("not-a-mixture"):
        assert prior_shift(labelled(5000, 30), new + 0.3).p_value < 0.05


def test_prior_shift_of_weights() -> None:
    y, x = binormal(600, 31)
    _, new = binormal(300, 32, share=0.2)
    ones = cs.sweep(y, x, np.ones(600), squares=True)
    assert prior_shift(ones, new).interval.low == pytest.approx(
        prior_shift(cs.sweep(y, x), new).interval.low, rel=1e-9
    )
    # The same rows in less even shares say less.
    w = np.tile([0.1, 1.9], 300)
    uneven = prior_shift(cs.sweep(y, x, w, squares=True), new)
    assert uneven.interval.width > prior_shift(ones, new).interval.width
    with finding("squares-missing", cs.UndefinedError):
        prior_shift(cs.sweep(y, x, w), new)


def test_prior_shift_at_the_ends() -> None:
    s = labelled(500, 33)
    low, high = (prior_shift(s, binormal(200, 34, share=share)[1]) for share in (0, 1))
    assert low.prior < 0.1
    assert low.interval.low == 0
    assert high.prior > 0.9
    assert high.interval.high == 1
    certain = PriorShift(1.0, cs.Interval(0.9, 1.0, 0.95), 1.0, 10)
    assert certain.probability([0.0, -3.0]).tolist() == [1, 1]
    assert PriorShift(0.0, cs.Interval(0, 0.1, 0.95), 1.0, 10).probability(2.0) == 0
    # Two distinct scores tell the share, and any share is a mixture.
    two = cs.Sweep.from_counts([inf, -inf], pos=[90, 10], neg=[10, 90])
    found = prior_shift(two, np.repeat([inf, -inf], [30, 70]))
    assert found.prior == pytest.approx(0.25, rel=1e-12)
    assert found.p_value == 1
    # Labelled rows that hardly tell the classes apart rule nothing out.
    weak = cs.Sweep.from_counts([1, 0], pos=[6, 5], neg=[5, 5])
    assert tuple(prior_shift(weak, [0, 1, 0]).interval) == (0, 1)


def test_prior_shift_of_a_batch() -> None:
    found = prior_shift(labelled(500, 35), binormal(1000, 24, share=0.2)[1])
    ratio = np.array([-2.0, 0.0, 2.0])
    np.testing.assert_array_equal(found.probability(ratio), probability(ratio, prior=found.prior))
    assert "), 1,000 unlabelled rows; mixture test p = " in repr(found)
    assert "(95 % CI " in found._repr_html_()


def test_prior_shift_of_bad_input() -> None:
    s = labelled(100, 36)
    with finding("too-few", cs.UndefinedError, need=2, have=0):
        prior_shift(s, [])
    with finding("too-few", of="labelled rows of each class", have=1.0):
        prior_shift(cs.sweep([1, 0, 0], [2, 1, 0]), [1, 2])
    with finding("one-class", cs.UndefinedError):
        prior_shift(cs.sweep([1, 1], [2, 1]), [1, 2])
    with finding("undefined", cs.UndefinedError):
        prior_shift(cs.sweep([1, 1, 0, 0], [1, 2, 1, 2]), [1, 2])
    with finding("value-missing", where=Where(1, "score")):
        prior_shift(s, [0.0, nan])
    with finding("bad-argument", value=Shown("shape (1, 2)")):
        prior_shift(s, [[0.0, 1.0]])
    with finding("bad-argument", cs.DataError, parameter="s"):
        prior_shift([1.0, 2.0], [1.0, 2.0])  # type: ignore[arg-type]
    with finding("value-missing", where=Where(0, "llr")):
        prior_shift(s, [1.0, -1.0]).probability([nan])


# --------------------------------------------------------------------- calibration slope, intercept


def forecasts(n: int, seed: int, slope: float = 1.0, shift: float = 0.0) -> tuple[Any, Any]:
    """Labels, and probabilities that were right if slope were 1 and shift 0."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1, 1, n)
    y = (rng.random(n) < sigmoid(slope * odds + shift)).astype(int)
    return y, sigmoid(odds)


@pytest.mark.parametrize("seed", range(4))
def test_calibration_line_by_logistic_regression(seed: int) -> None:
    """scikit-learn fits the slope, a root of the score the intercept; errors are of the rows."""
    y, p = forecasts(400, seed, slope=0.6, shift=0.5)
    x = np.log(p / (1 - p))
    line = cs.calibration_line(cs.sweep(y, p), level=0.9)
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(x[:, None], y)
    assert line.slope == pytest.approx(model.coef_[0, 0], rel=1e-6)
    shift = optimize.brentq(lambda a: float(np.sum(y - sigmoid(x + a))), -5, 5, xtol=1e-12)
    assert line.intercept == pytest.approx(shift, abs=1e-9)
    q, both = model.predict_proba(x[:, None])[:, 1], np.stack((np.ones(400), x))
    error = np.sqrt(np.linalg.inv((both * q * (1 - q)) @ both.T)[1, 1])
    z = stats.norm.ppf(0.95)
    assert line.slope_interval.high - line.slope == pytest.approx(z * error, rel=1e-5)
    q = sigmoid(x + shift)
    error = 1 / sqrt(np.sum(q * (1 - q)))
    assert line.intercept - line.intercept_interval.low == pytest.approx(z * error, rel=1e-7)


def test_calibration_line_of_weights() -> None:
    y, p = forecasts(300, 5, slope=0.8)
    twice = cs.calibration_line(cs.sweep(np.tile(y, 2), np.tile(p, 2)))
    w = np.full(300, 2.0)
    heavy = cs.calibration_line(cs.sweep(y, p, w, squares=True))
    once = cs.calibration_line(cs.sweep(y, p))
    assert heavy.slope == pytest.approx(twice.slope, rel=1e-9)
    assert heavy.intercept == pytest.approx(twice.intercept, rel=1e-9)
    # Weights that are all alike add no rows.
    assert heavy.slope_interval.width == pytest.approx(once.slope_interval.width, rel=0.1)
    assert twice.slope_interval.width == pytest.approx(
        once.slope_interval.width / sqrt(2), rel=1e-6
    )
    with finding("squares-missing", cs.UndefinedError):
        cs.calibration_line(cs.sweep(y, p, w))


def test_calibration_line_covers() -> None:
    hits = np.zeros(2)
    for seed in range(300):
        line = cs.calibration_line(cs.sweep(*forecasts(300, seed)))
        hits += [0 in line.intercept_interval, 1 in line.slope_interval]
    assert (abs(hits / 300 - 0.95) < 3 * sqrt(0.95 * 0.05 / 300)).all()


def test_calibration_line_of_a_calibrator() -> None:
    """By definition platt calibrates to intercept 0 and slope 1 on the rows it was fitted to."""
    y, x = binormal(500, 6, share=0.2)
    s = cs.sweep(y, x)
    p = calibrate(s, "platt").probability(x, s.prevalence)
    line = cs.calibration_line(cs.sweep(y, p))
    assert line.slope == pytest.approx(1, abs=1e-8)
    assert line.intercept == pytest.approx(0, abs=1e-8)
    assert repr(line).startswith("calibration intercept ")
    assert "slope" in line._repr_html_()


@pytest.mark.parametrize(
    ("y", "p", "error", "code"),
    [
        ([1, 0], [0.9, 0.1], cs.UndefinedError, "no-overlap"),
        ([1, 0, 1], [0.1, 0.9, 0.2], cs.UndefinedError, "no-overlap"),
        ([1, 0, 1], [0.5, 0.5, 0.5], cs.UndefinedError, "no-variation"),
        ([1, 1], [0.5, 0.6], cs.UndefinedError, "one-class"),
        ([1, 0, 1, 0], [1.0, 0.6, 0.5, 0.2], cs.DataError, "not-probabilities"),
        ([1, 0, 1, 0], [0.7, 0.6, 0.5, 0.0], cs.DataError, "not-probabilities"),
        ([1, 0, 1, 0], [2.0, 0.6, 0.5, 0.2], cs.DataError, "not-probabilities"),
    ],
)
def test_calibration_line_of_bad_input(y: Any, p: Any, error: Any, code: str) -> None:
    with finding(code, error):
        cs.calibration_line(cs.sweep(y, p))


# ------------------------------------------------------------------------------- binding the prior


def test_probability_is_bayes_rule() -> None:
    # P(x|+) = 3/4, P(x|-) = 1/8, one case in ten is positive: 3/40 of 3/40 + 9/80.
    assert probability(log(6), prior=0.1) == pytest.approx(2 / 5, rel=1e-15)
    assert llr(0.4, prior=0.1) == pytest.approx(log(6), rel=1e-15)
    assert probability(0.0, prior=0.1) == pytest.approx(0.1, rel=1e-15)


def test_certain_cases_stay_certain() -> None:
    assert probability([-inf, inf], prior=0.3).tolist() == [0.0, 1.0]
    assert llr([0.0, 1.0], prior=0.3).tolist() == [-inf, inf]


@given(
    st.lists(st.floats(-600, 30), min_size=1, max_size=20),
    st.floats(1e-6, 1 - 1e-6),
    st.floats(1e-6, 1 - 1e-6),
)
def test_the_prior_can_be_taken_out_and_another_put_in(
    ratios: list[float], old: float, new: float
) -> None:
    p = probability(ratios, prior=old)
    assume((p < 1).all())
    again = llr(p, prior=old)
    # Above ½ a probability has lost what its distance from 1 can't show; and at the odds of one in
    # a million the last digit is 2⁻⁴⁹.
    np.testing.assert_allclose(again, ratios, rtol=1e-12, atol=4e-15 / (1 - p).min())
    for before, after in zip(p, probability(again, prior=new), strict=True):
        x, y = Fraction(before), Fraction(after)
        odds = Fraction(new) / (1 - Fraction(new)) * (1 - Fraction(old)) / Fraction(old)
        moved = x * odds / (x * odds + 1 - x)
        assert float(abs(moved - y)) <= 1e-12 * float(min(moved, 1 - moved)) + 4e-16


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (0, 2)])
def test_binding_keeps_the_shape(shape: tuple[int, ...]) -> None:
    x = np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape)
    for f in (probability, llr):
        assert np.shape(f(x, 0.2)) == shape
    assert isinstance(probability(1, 0.2), float)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: llr([0.5, 1.5], 0.1), "not-probabilities"),
        (lambda: llr([0.5, nan], 0.1), "value-missing"),
        (lambda: llr("0.5", 0.1), "bad-argument"),
        (lambda: llr([0.5], 1), "bad-argument"),
        (lambda: probability([0.5], 0), "bad-argument"),
        (lambda: probability(["x"], 0.5), "value-unfit"),
    ],
)
def test_binding_of_bad_input(call: Callable[[], Any], code: str) -> None:
    with finding(code, cs.DataError):
        call()


def test_undersampled_negatives_need_the_prior_only() -> None:
    """Calibrated on rows with 1 % of the negatives, used at the prior of all: as good as on all."""
    rng = np.random.default_rng(0)
    y, x = binormal(400_000, 25, share=0.01)
    keep = (y == 1) | (rng.uniform(size=len(y)) < 0.01)
    fresh_y, fresh_x = binormal(400_000, 26, share=0.01)
    prior = float(y.mean())
    few, all_rows = (calibrate(cs.sweep(y[rows], x[rows]), "platt") for rows in (keep, slice(None)))
    p_few, p_all = few.probability(fresh_x, prior), all_rows.probability(fresh_x, prior)
    each = [-np.log(np.where(fresh_y == 1, p, 1 - p)) for p in (p_few, p_all)]
    error = each[1].std() / sqrt(len(fresh_y))
    assert abs(each[0].mean() - each[1].mean()) < error
    # At the prior of the undersampled rows it is not even near.
    biased = few.probability(fresh_x, float(y[keep].mean()))
    assert (
        np.mean(-np.log(np.where(fresh_y == 1, biased, 1 - biased))) > each[1].mean() + 20 * error
    )
    # And the batch tells its prior without labels.
    shift = prior_shift(cs.sweep(y[keep], x[keep]), fresh_x)
    assert fresh_y.mean() in shift.interval


# --------------------------------------------------------------------------------------- Venn–Abers


def refitted(y: Any, x: Any, w: Any, new: float, label: int) -> float:
    """Isotonic regression with the new case among the rows, its value there."""
    X, Y, W = np.append(x, new), np.append(y, label), np.append(w, 1.0)
    at = np.unique(X)
    mass = np.array([W[t == X].sum() for t in at])
    mean = np.array([(W * Y)[t == X].sum() for t in at]) / mass
    fit = optimize.isotonic_regression(mean, weights=mass).x
    return float(fit[at == new][0])


@given(tame(), st.lists(st.floats(-1e6, 1e6), max_size=5))
def test_venn_abers_is_two_fits(data: tuple[Case, Any], more: list[float]) -> None:
    (y, x), w = data
    s = cs.sweep(y, x, w)
    new = np.array([*x[:5], *more, -inf, inf])
    seen = slice(None) if w is None else w > 0
    w = np.ones(len(x)) if w is None else w
    v = venn_abers(s, new)
    for k, score in enumerate(np.clip(new, -1e9, 1e9).tolist()):
        low, high = (refitted(y[seen], x[seen], w[seen], score, label) for label in (0, 1))
        assert v.low[k] == pytest.approx(low, rel=1e-12, abs=1e-15)
        assert v.high[k] == pytest.approx(high, rel=1e-12, abs=1e-15)
    assert (v.low < v.high).all()
    assert ((v.low <= v.probability) & (v.probability <= v.high)).all()


@pytest.mark.slow
def test_venn_abers_of_more_rows() -> None:
    y, x = binormal(1500, 27)
    v = venn_abers(cs.sweep(y, x), x[:40])
    for k in range(40):
        for label, ours in ((0, v.low), (1, v.high)):
            theirs = refitted(y, x, np.ones(1500), float(x[k]), label)
            assert ours[k] == pytest.approx(theirs, rel=1e-12)
    small = venn_abers(cs.sweep(y[:50], x[:50]), x[:40])
    assert np.mean(small.high - small.low) > 3 * np.mean(v.high - v.low)
    assert "VennAbers: 40 intervals, width 0.005 to 0.05" in repr(v)
    assert len(venn_abers(cs.sweep(y, x), [])) == 0
    assert repr(venn_abers(cs.sweep(y, x), [])) == "VennAbers: no scores"


def test_venn_abers_by_hand() -> None:
    v = venn_abers(cs.sweep([1, 0], [2, 1]), [3, 1.5, 0])
    assert v.low.tolist() == [0.5, 0, 0]
    assert v.high.tolist() == [1, 1, 0.5]
    assert v.probability.tolist() == [2 / 3, 0.5, 1 / 3]
    one = venn_abers(cs.sweep([1], [2]), [2])
    assert (one.low.tolist(), one.high.tolist()) == ([0.5], [1])


def test_venn_abers_of_bad_input() -> None:
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        venn_abers(cs.sweep([], []), [1])
    with finding("value-missing", where=Where(1, "score")):
        venn_abers(cs.sweep([1, 0], [2, 1]), [1, nan])
    with finding("bad-argument", parameter="score"):
        venn_abers(cs.sweep([1, 0], [2, 1]), 1.0)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Affine("a", 2), "gamma"),  # type: ignore[arg-type]
        (lambda: Affine(np.nan, 2), "gamma"),
        (lambda: Beta(-1.0, 1.0, 0.0), "a"),
        (lambda: Monotone([], []), "threshold"),  # type: ignore[arg-type]
        (lambda: Monotone(np.array([1.0]), np.array([1.0])), "threshold"),
    ],
)
def test_calibrators_made_by_hand_are_checked(make: Any, parameter: str) -> None:
    with finding("bad-argument", parameter=parameter):
        make()


def test_calibrators_made_by_hand_take_lists() -> None:
    stairs = Monotone([1.0, -np.inf], [1.0, 0.0])  # type: ignore[arg-type]
    assert stairs.llr([2.0, 0.0]).tolist() == [1.0, 0.0]
    assert "decreases" in repr(Gaussian(0.0, 1e-200, 1.0, 1.0, 0.0, 1.0))
