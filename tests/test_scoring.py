"""Proper scores against fractions, direct formulas, scipy's isotonic regression and peers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf, isinf, log, log1p
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import metrics

import cutscore as cs
import oracle
from cutscore.sweeps import proper_scores as scoring
from cutscore.sweeps.proper_scores import (
    Decomposition,
    brier,
    cllr,
    decompose,
    log_loss,
    min_cllr,
    reliability,
)
from raising import finding
from strategies import Case, rows, weights

PROBABILITIES = (0.0, 1.0, 0.5, 0.1, 0.9, 0.3, 2**-40, 1 - 2**-40, 5e-324)


@st.composite
def forecasts(draw: st.DrawFn, *, both: bool = False) -> Case:
    """Labels, and probabilities with many ties, 0 and 1 among them."""
    n = draw(st.integers(2 if both else 1, 30))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    if both:
        y[:2] = 0, 1
    one = st.one_of(st.sampled_from(PROBABILITIES), st.floats(0, 1))
    pool = draw(st.lists(one, min_size=1, max_size=6))
    return Case(y, np.array(draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))))


def pav(t: oracle.Table) -> list[tuple[int, Fraction, Fraction]]:
    """Blocks (scores, positives, negatives) from the highest score on, by pooling neighbours."""
    out: list[tuple[int, Fraction, Fraction]] = []
    for p, n in zip(t.pos, t.neg, strict=True):
        out.append((1, p, n))
        while len(out) > 1 and out[-2][1] * (out[-1][1] + out[-1][2]) <= out[-1][1] * (
            out[-2][1] + out[-2][2]
        ):
            k, p1, n1 = out.pop()
            j, p0, n0 = out.pop()
            out.append((j + k, p0 + p1, n0 + n1))
    return out


def mean_log_loss(masses: list[tuple[Fraction, Fraction]], p: list[float]) -> float:
    """−Σ pos ln p − Σ neg ln(1−p), over all."""
    total = sum(a + b for a, b in masses)
    terms = []
    for (a, b), q in zip(masses, p, strict=True):
        if a:
            terms.append(inf if q == 0 else -log(q) * float(a / total))
        if b:
            terms.append(inf if q == 1 else -log1p(-q) * float(b / total))
    return fsum(terms)


# ---------------------------------------------------------------------------------------- the means


def test_by_hand() -> None:
    s = cs.sweep([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.6])
    assert brier(s) == pytest.approx((0.01 + 0.04 + 0.16 + 0.36) / 4, rel=1e-15)
    assert log_loss(s) == pytest.approx(-(log(0.9) + log(0.8) + log(0.6) + log(0.4)) / 4, rel=1e-15)


@given(forecasts(), st.data())
def test_brier_is_a_fraction(case: Case, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    t = oracle.table(*case, w)
    assume(t.P + t.N > 0)
    exact = sum(
        p * (1 - Fraction(q)) ** 2 + n * Fraction(q) ** 2
        for q, p, n in zip(t.threshold, t.pos, t.neg, strict=True)
    ) / (t.P + t.N)
    assert brier(cs.sweep(*case, w)) == pytest.approx(float(exact), rel=1e-13, abs=1e-300)


@given(forecasts(), st.data())
def test_log_loss_is_its_formula(case: Case, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    t = oracle.table(*case, w)
    assume(t.P + t.N > 0)
    exact = mean_log_loss(list(zip(t.pos, t.neg, strict=True)), t.threshold)
    assert log_loss(cs.sweep(*case, w)) == pytest.approx(exact, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("weighted", [False, True])
def test_peers(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, 500), rng.uniform(0.01, 0.99, 500).round(2)
    w = rng.exponential(size=500) if weighted else None
    s = cs.sweep(y, p, w)
    theirs = metrics.brier_score_loss(y, p, sample_weight=w)
    assert brier(s) == pytest.approx(theirs, rel=1e-13)
    assert log_loss(s) == pytest.approx(metrics.log_loss(y, p, sample_weight=w), rel=1e-13)


def test_certainty() -> None:
    assert log_loss(cs.sweep([1, 0], [1, 0])) == 0
    assert log_loss(cs.sweep([1, 0, 0], [1, 1, 0])) == inf
    assert log_loss(cs.sweep([1, 0], [0, 0])) == inf
    # However little the row weighs: its share of the total is 0 in floats.
    assert log_loss(cs.sweep([1, 0], [0.5, 1], [1e300, 5e-324])) == inf
    assert brier(cs.sweep([0, 1], [1, 0])) == 1


def test_one_class_is_enough_for_a_mean() -> None:
    assert brier(cs.sweep([1, 1], [0.5, 1])) == 0.125
    assert log_loss(cs.sweep([0], [0.5])) == log(2)
    d = decompose(cs.sweep([1, 1], [0.5, 1]))
    assert d == Decomposition(0.125, 0.125, 0.0, 0.0)


# --------------------------------------------------------------------------------------------- Cllr


def direct_cllr(lr_pos: Any, lr_neg: Any) -> float:
    """½ (mean log₂(1 + 1/LR) over positives + mean log₂(1 + LR) over negatives)."""
    return float((np.log2(1 + 1 / lr_pos).mean() + np.log2(1 + lr_neg).mean()) / 2)


def test_cllr_by_the_direct_formula() -> None:
    rng = np.random.default_rng(2)
    lr_pos, lr_neg = np.exp(rng.normal(2, 2, 300)), np.exp(rng.normal(-2, 2, 700))
    y = np.repeat([1, 0], [300, 700])
    s = cs.sweep(y, np.log(np.concatenate((lr_pos, lr_neg))))
    assert cllr(s) == pytest.approx(direct_cllr(lr_pos, lr_neg), rel=1e-13)


def test_cllr_by_hand() -> None:
    assert cllr(cs.sweep([1, 0, 0], [0, 0, 0])) == 1  # LR = 1 says nothing
    assert cllr(cs.sweep([1, 0], [log(3), -log(3)])) == pytest.approx(np.log2(4 / 3), rel=1e-15)
    assert cllr(cs.sweep([1, 0], [inf, -inf])) == 0
    assert cllr(cs.sweep([1, 0], [-inf, -1])) == inf
    assert cllr(cs.sweep([1, 0], [-800, 800])) == pytest.approx(800 / log(2), rel=1e-15)


@given(rows(both=True), st.data())
def test_cllr_is_the_balanced_log_loss_in_bits(case: Case, data: st.DataObject) -> None:
    llr = np.clip(case.score.astype(np.float64), -30, 30)
    w = data.draw(weights(len(llr), exact=True))
    s = cs.sweep(case.y, llr, w)
    assume(s.P > 0 and s.N > 0)
    even = np.where(case.y == 1, w / s.P, w / s.N)
    balanced = log_loss(cs.sweep(case.y, 1 / (1 + np.exp(-llr)), even)) / log(2)
    assert cllr(s) == pytest.approx(balanced, rel=1e-3, abs=1e-12)


@given(rows(both=True), st.data())
def test_min_cllr_is_that_of_the_isotonic_fit(case: Case, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    t, s = oracle.table(*case, w), cs.sweep(*case, w)
    assume(t.P > 0 and t.N > 0)
    terms = []
    for _, p, n in pav(t):
        a, b = p / t.P, n / t.N
        terms += [float(a) * log((a + b) / a) if a else 0, float(b) * log((a + b) / b) if b else 0]
    exact = fsum(terms) / (2 * log(2))
    assert min_cllr(s) == pytest.approx(exact, rel=1e-13, abs=1e-15)
    assert -1e-15 <= min_cllr(s) <= 1 + 1e-15
    assert min_cllr(s) <= cllr(s) + 1e-12


@given(rows(both=True))
def test_min_cllr_depends_on_the_order_only(case: Case) -> None:
    order = np.unique(case.score, return_inverse=True)[1]
    assert min_cllr(cs.sweep(case.y, order)) == min_cllr(cs.sweep(*case))


# ------------------------------------------------------------------------------------ decomposition


def test_decomposition_by_hand() -> None:
    d = decompose(cs.sweep([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.6]))
    # PAV: 1, ½ twice, 0; so S_c = 2 · ¼ / 4.
    assert d.score == pytest.approx(0.1425, rel=1e-15)
    assert d.miscalibration == pytest.approx(0.1425 - 0.125, rel=1e-13)
    assert d.discrimination == 0.125
    assert d.uncertainty == 0.25
    assert repr(d) == (
        "score 0.1425 = miscalibration 0.0175 − discrimination 0.125 + uncertainty 0.25"
    )
    assert "0.0175" in d._repr_html_()


@given(forecasts(both=True), st.sampled_from(("brier", "log", "cllr")), st.data())
def test_decomposition_adds_up(case: Case, score: str, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    s, t = cs.sweep(*case, w), oracle.table(*case, w)
    assume(t.P > 0 and t.N > 0)
    d = decompose(s, score)
    assert d.miscalibration >= 0
    assert 0 <= d.discrimination <= d.uncertainty + 1e-15
    sum_of_parts = d.miscalibration - d.discrimination + d.uncertainty
    assert d.score == pytest.approx(sum_of_parts, rel=1e-13, abs=1e-15)
    total, blocks = t.P + t.N, pav(t)
    if score == "brier":
        best = float(sum(p * n / (p + n) for _, p, n in blocks) / total)
        constant = float(t.P * t.N / total**2)
    elif score == "log":
        masses = [(p, n) for _, p, n in blocks]
        best = mean_log_loss(masses, [float(p / (p + n)) for _, p, n in blocks])
        constant = mean_log_loss([(t.P, t.N)], [float(t.P / total)])
    else:
        best, constant = min_cllr(s), 1.0
    assert d.uncertainty == pytest.approx(constant, rel=1e-12)
    assert d.uncertainty - d.discrimination == pytest.approx(best, rel=1e-12, abs=1e-14)
    if isinf(d.score):
        assert d.miscalibration == inf


@given(forecasts(both=True), st.data())
def test_no_monotone_map_beats_pav(case: Case, data: st.DataObject) -> None:
    s = cs.sweep(*case)
    steps = data.draw(st.lists(st.floats(1e-3, 1), min_size=len(s), max_size=len(s)))
    p = np.cumsum(steps) / (sum(steps) + data.draw(st.floats(1e-3, 10)))
    other = cs.Sweep(p[::-1].copy(), s.pos, s.neg)
    for score, mean in (("brier", brier), ("log", log_loss)):
        d = decompose(s, score)
        assert mean(other) >= d.uncertainty - d.discrimination - 1e-12


# ------------------------------------------------------------------------------------- reliability


@given(forecasts(), st.data())
def test_reliability_is_isotonic_regression(case: Case, data: st.DataObject) -> None:
    w = data.draw(st.one_of(st.none(), weights(len(case.y), exact=True)))
    s = cs.sweep(*case, w)
    assume(len(s))
    r = reliability(s, level=None)
    mass = (s.pos + s.neg).astype(float)
    fit = optimize.isotonic_regression(s.pos / mass, weights=mass, increasing=False)
    np.testing.assert_allclose(r.calibrated, fit.x, rtol=1e-12, atol=1e-15)
    # Blocks of the definition: neighbours with equal values are one.
    sizes = [k for k, _, _ in pav(oracle.table(*case, w))]
    assert np.diff([*r.start.tolist(), len(s)]).tolist() == sizes
    assert all(a > b for a, b in pairwise(r.calibrated[r.start].tolist()))
    np.testing.assert_array_equal(r.mass, s.pos + s.neg)
    np.testing.assert_array_equal(r.forecast, s.threshold)


def test_band_of_one_forecast_is_binomial() -> None:
    """PAV of one forecast is the share of positives, of which the distribution is known."""
    r = reliability(cs.Sweep.from_counts([0.3], [20], [80]), level=0.9, n=20_000)
    assert r.low is not None
    assert r.high is not None
    low, high = stats.binom(100, 0.3).ppf([0.05, 0.95]) / 100
    assert r.low[0] == pytest.approx(low, abs=1e-12)
    assert r.high[0] == pytest.approx(high, abs=1e-12)
    assert r.outside.tolist() == [True]
    assert r.samples == 20_000


@pytest.mark.slow
def test_band_contains_calibrated_forecasts() -> None:
    """At a fixed forecast the band misses the curve of calibrated data one time in ten."""
    rng = np.random.default_rng(3)
    p = np.linspace(0.05, 0.95, 19)
    outside = np.zeros(19)
    for seed in range(300):
        pos = rng.binomial(40, p)
        s = cs.Sweep.from_counts(p, pos, 40 - pos)
        outside += reliability(s, level=0.9, n=200, seed=seed).outside[::-1]
    share = outside / 300
    # Values come in steps of 1/40 and less: the band is a little wide, never narrow.
    assert share.max() < 0.16
    assert 0.05 < share.mean() < 0.115


def test_band_finds_overconfidence() -> None:
    rng = np.random.default_rng(4)
    truth = rng.uniform(0.2, 0.8, 3000)
    y = rng.uniform(size=3000) < truth
    told = 1 / (1 + np.exp(-3 * np.log(truth / (1 - truth))))
    calm, loud = (reliability(cs.sweep(y, p.round(2)), n=200) for p in (truth, told))
    share = [float(np.sum(r.mass * r.outside) / np.sum(r.mass)) for r in (calm, loud)]
    assert share[0] < 0.15
    assert share[1] > 0.7
    assert "% of cases outside the 95 % band" in repr(loud)
    assert "forecasts" in loud._repr_html_()


def test_band_by_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups change the band by less than its own noise."""
    rng = np.random.default_rng(5)
    p = np.sort(rng.uniform(size=4000))
    s = cs.sweep(rng.uniform(size=4000) < p, p)
    whole = reliability(s, n=400)
    monkeypatch.setattr(scoring, "_ALONE", 50)
    monkeypatch.setattr(scoring, "_GROUPS", 400)
    grouped = reliability(s, n=400)
    assert grouped.low is not None
    assert len(np.unique(grouped.low)) < 501
    for a, b in ((whole.low, grouped.low), (whole.high, grouped.high)):
        assert a is not None
        assert b is not None
        assert not np.array_equal(a, b)
        assert np.abs(a - b).mean() < 0.01
        assert np.abs(a - b).max() < 0.08


def test_band_is_deterministic_and_seeded() -> None:
    s = cs.Sweep.from_counts([0.2, 0.5, 0.7], [20, 51, 68], [80, 49, 32])
    one, same, other = (reliability(s, n=50, seed=k) for k in (1, 1, 2))
    np.testing.assert_array_equal(one.low, same.low)
    assert not np.array_equal(np.array([one.low, one.high]), np.array([other.low, other.high]))


def test_reliability_of_one_class() -> None:
    r = reliability(cs.sweep([1, 1], [0.4, 0.8]), n=100)
    assert r.calibrated.tolist() == [1.0, 1.0]
    assert len(r.start) == 1


# --------------------------------------------------------------------------------------- bad input

PROBABILITY_ONLY = [
    (brier, "the Brier score"),
    (log_loss, "the log loss"),
    (reliability, "a reliability curve"),
    (decompose, "the Brier score"),
]


@pytest.mark.parametrize(("measure", "name"), PROBABILITY_ONLY)
@pytest.mark.parametrize("bad", [1.5, -0.25, inf])
def test_scores_that_are_no_probabilities(
    measure: Callable[..., Any], name: str, bad: float
) -> None:
    with finding("not-probabilities", cs.DataError, what=name, score=bad):
        measure(cs.sweep([1, 0], [0.5, bad]))


@pytest.mark.parametrize("measure", [brier, log_loss, cllr, min_cllr, decompose, reliability])
def test_no_rows(measure: Callable[..., Any]) -> None:
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        measure(cs.sweep([], []))


@pytest.mark.parametrize("measure", [cllr, min_cllr])
def test_one_class_has_no_cllr(measure: Callable[..., Any]) -> None:
    with finding("one-class", cs.UndefinedError):
        measure(cs.sweep([1], [1]))


def test_other_bad_input() -> None:
    s = cs.sweep([1, 0], [0.6, 0.4])
    with finding("bad-argument", parameter="score", value="x"):
        decompose(s, "x")
    with finding("bad-argument", parameter="level"):
        reliability(s, level=95)
    with finding("bad-argument", parameter="n", value=0):
        reliability(s, n=0)
    with finding("bad-argument", parameter="seed", value=0.5):
        reliability(s, seed=0.5)  # type: ignore[arg-type]
    weighted = cs.sweep([1, 0], [0.6, 0.4], [1, 2])
    with finding("squares-missing", cs.UndefinedError):
        reliability(weighted)
    assert reliability(weighted, level=None).calibrated.tolist() == [1.0, 0.0]
    with finding("undefined", cs.UndefinedError, what="the share outside"):
        _ = reliability(weighted, level=None).outside


@pytest.mark.parametrize("w", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_isotonic_regression_does_not_depend_on_the_scale_of_weights(w: float) -> None:
    y, score = [1, 0, 1, 1, 0, 1, 0, 0], np.arange(8)[::-1]
    plain, scaled = cs.sweep(y, score), cs.sweep(y, score, [w] * 8)
    assert cs.min_cllr(scaled) == pytest.approx(cs.min_cllr(plain), rel=1e-12)
    stairs = [cs.calibrate(s, "monotone", smooth=False) for s in (plain, scaled)]
    assert stairs[0].llr(score).tolist() == pytest.approx(stairs[1].llr(score).tolist())


@pytest.mark.parametrize("w", [1.0, 3.0, 0.25])
@pytest.mark.parametrize("digits", [2, 9])
def test_band_of_equal_weights_is_that_of_rows(w: float, digits: int) -> None:
    rng = np.random.default_rng(8)
    p = np.round(rng.random(500), digits)
    y = rng.random(500) < p
    plain = reliability(cs.sweep(y, p), n=100)
    weighted = reliability(cs.sweep(y, p, np.full(500, w), squares=True), n=100)
    for name in ("calibrated", "low", "high"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(plain, name), rtol=1e-12)


def test_band_of_sampled_negatives() -> None:
    """One in ten negatives was kept, and weighs 10: the forecasts are right, and mostly inside. A
    band of as many rows without weights would be too narrow."""
    rng, inside, narrow = np.random.default_rng(1), [], []
    for _ in range(20):
        p = np.round(rng.beta(0.5, 4, 8000), 2)
        y = rng.random(8000) < p
        keep = y | (rng.random(8000) < 0.1)
        p, y = p[keep], y[keep]
        r = reliability(cs.sweep(y, p, np.where(y, 1.0, 10.0), squares=True), n=200)
        plain = reliability(cs.sweep(y, p), n=200)
        assert plain.low is not None
        assert plain.high is not None
        inside.append(1 - r.outside.mean())
        narrow.append(np.mean((plain.low <= r.calibrated) & (r.calibrated <= plain.high)))
    assert 0.92 < np.mean(inside) < 0.98
    assert np.mean(narrow) < 0.9


def test_band_of_one_class_and_of_certain_forecasts() -> None:
    one = reliability(cs.sweep([1, 1], [0.5, 1.0], [2, 3], squares=True), n=50)
    assert one.high is not None
    assert one.high.tolist() == [1.0, 1.0]
    r = reliability(cs.sweep([1, 0], [1.0, 0.0], [2, 3], squares=True), n=50)
    assert r.low is not None
    assert r.low.tolist() == [1.0, 0.0]
