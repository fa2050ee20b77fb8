"""Sensitivity at a fixed specificity, and the reverse."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, norm

import cutscore as cs
from cutscore.inference.points import _mid_p
from raising import finding
from strategies import Case, rows, weights

RATES = st.sampled_from([0.05, 0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.8, 0.9, 0.95, 0.99])


def corners(case: Case) -> list[tuple[Fraction, Fraction]]:
    """(FPR, TPR) of every cut, from flagging nothing to flagging everything."""
    ones, zeros = case.score[case.y == 1].tolist(), case.score[case.y == 0].tolist()
    out = [(Fraction(0), Fraction(0))]
    for t in sorted({*ones, *zeros}, reverse=True):
        out.append(
            (
                Fraction(sum(x >= t for x in zeros), len(zeros)),
                Fraction(sum(x >= t for x in ones), len(ones)),
            )
        )
    return out


def on_curve(points: list[tuple[Fraction, Fraction]], x: Fraction) -> Fraction:
    """The highest y of a broken line at x."""
    found = []
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            found.append(max(y0, y1) if x0 == x1 else y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return max(found)


@given(rows(both=True), RATES)
def test_value_lies_on_the_curve(case: Case, rate: float) -> None:
    s, points = cs.sweep(*case), corners(case)
    p = cs.sensitivity_at(s, rate)
    exact = on_curve(points, 1 - Fraction(rate).limit_denominator(1000))
    assert p.value == pytest.approx(float(exact), abs=1e-12)
    assert 0 <= p.low <= p.value <= p.high <= 1
    q = cs.specificity_at(s, rate)
    turned = [(y, 1 - x) for x, y in points]
    exact = on_curve(turned, Fraction(rate).limit_denominator(1000))
    assert q.value == pytest.approx(float(exact), abs=1e-12)
    assert 0 <= q.low <= q.value <= q.high <= 1


@given(rows(both=True), RATES)
def test_threshold_has_the_rate_and_the_most_of_the_other(case: Case, rate: float) -> None:
    case = Case(case.y, np.where(np.isinf(case.score), 0, case.score))  # +inf is always flagged
    s = cs.sweep(*case)
    points = [(float(1 - x), float(y)) for x, y in corners(case)]
    c = cs.sensitivity_at(s, rate).confusion
    assert c.specificity >= rate
    assert c.recall == pytest.approx(max(y for x, y in points if x >= rate), abs=1e-15)
    c = cs.specificity_at(s, rate).confusion
    assert c.recall >= rate
    assert c.specificity == pytest.approx(max(x for x, y in points if y >= rate), abs=1e-15)


@given(rows(both=True), RATES, st.data())
def test_any_weights(case: Case, rate: float, data: st.DataObject) -> None:
    w = data.draw(weights(len(case.y)))
    for ask in (cs.sensitivity_at, cs.specificity_at):
        try:
            p = ask(cs.sweep(*case, w, squares=True), rate)
        except cs.CutscoreError:
            continue
        assert 0 <= p.low <= p.value <= p.high <= 1


def test_interval_of_one_class_alone() -> None:
    """With ever so many negatives the threshold is known, and a share of positives is left; with
    ever so many positives the curve is known, and where on it the specificity lies is left."""
    grid = np.arange(1, 100_000) / 100_000
    positives = [0.05, 0.35, 0.55, 0.85, 0.915, 0.925, 0.955, 0.965, 0.985, 0.995]
    s = cs.sweep(np.repeat([1, 0], [10, len(grid)]), np.concatenate((positives, grid)))
    p = cs.sensitivity_at(s, 0.9)
    low, high = mid_p(6, 10, 0.025)
    assert p.value == 0.6
    assert (p.low, p.high) == pytest.approx((low, high), abs=0.01)
    # Positives are uniform on (0, 2): TPR = 1 − c/2 where FPR = 1 − c.
    negatives = (np.arange(400) + 0.5) / 400
    s = cs.sweep(np.repeat([1, 0], [len(grid), 400]), np.concatenate((2 * grid, negatives)))
    half = norm.ppf(0.975) * (0.9 * 0.1 / 400) ** 0.5 / 2
    p = cs.sensitivity_at(s, 0.9)
    assert p.value == pytest.approx(0.55, abs=2e-3)
    assert (p.low, p.high) == pytest.approx((0.55 - half, 0.55 + half), abs=4e-3)


def mid_p(k: int, n: int, tail: float) -> tuple[float, float]:
    """By its definition, on scipy's binomial distribution."""

    def above(p: float) -> float:
        return float(binom.sf(k, n, p) + binom.pmf(k, n, p) / 2)

    low = brentq(lambda p: above(p) - tail, 0, 1, xtol=1e-14) if k else 0.0
    high = brentq(lambda p: above(p) - (1 - tail), 0, 1, xtol=1e-14) if k < n else 1.0
    return low, high


@pytest.mark.parametrize("n", [1, 5, 20, 300])
def test_mid_p(n: int) -> None:
    k = np.unique(np.linspace(0, n, 7).astype(int))
    squared = norm.ppf(0.95) ** 2
    low, high = _mid_p(k / n, np.full(len(k), float(n)), np.full(len(k), squared))
    for one, *ends in zip(k.tolist(), low, high, strict=True):
        assert ends == pytest.approx(mid_p(one, n, 0.05), abs=1e-12)


def example(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, (rng.standard_normal(n) + y).round(1)


def ends(p: cs.CurvePoint) -> tuple[float, float, float]:
    return p.value, p.low, p.high


def test_the_order_of_scores_is_all_that_counts() -> None:
    y, score = example()
    p = cs.sensitivity_at(cs.sweep(y, score), 0.8)
    assert ends(cs.sensitivity_at(cs.sweep(y, np.exp(score)), 0.8)) == ends(p)
    assert ends(cs.sensitivity_at(cs.sweep(y, score, compact=True), 0.8)) == pytest.approx(ends(p))
    # Classes swapped, scores turned round: the sensitivity of one is the specificity of the other.
    assert ends(cs.specificity_at(cs.sweep(~y, -score), 0.8)) == pytest.approx(ends(p))


def test_weights() -> None:
    y, score = example()
    p = cs.sensitivity_at(cs.sweep(y, score), 0.8)
    heavy = cs.sweep(y, score, np.full(len(y), 3.0), squares=True)
    assert ends(cs.sensitivity_at(heavy, 0.8)) == pytest.approx(ends(p))
    # Unequal weights tell less: the value of copies, the interval of fewer rows.
    w = np.tile([1.0, 7.0], 150)
    uneven = cs.sensitivity_at(cs.sweep(y, score, w, squares=True), 0.8)
    copied = cs.sensitivity_at(
        cs.sweep(np.repeat(y, w.astype(int)), np.repeat(score, w.astype(int))), 0.8
    )
    assert uneven.value == pytest.approx(copied.value)
    assert uneven.interval.width > p.interval.width > copied.interval.width
    with finding("squares-missing", cs.UndefinedError):
        cs.sensitivity_at(cs.sweep(y, score, w), 0.8)


def test_more_confidence_more_rows() -> None:
    y, score = example()
    s = cs.sweep(y, score)
    widths = [cs.specificity_at(s, 0.9, level=level).interval.width for level in (0.5, 0.9, 0.99)]
    assert widths == sorted(widths)
    many = cs.sweep(np.tile(y, 100), np.tile(score, 100))
    assert 8 < widths[1] / cs.specificity_at(many, 0.9, level=0.9).interval.width < 15


def test_few_rows_are_not_taken_for_certain() -> None:
    perfect = cs.sensitivity_at(cs.sweep([1] * 5 + [0] * 5, range(10, 0, -1)), 0.9)
    assert perfect.value == perfect.high == 1
    assert perfect.low < 0.6
    one_level = cs.sensitivity_at(cs.sweep([1] * 5 + [0] * 5, [1] * 10), 0.9)
    assert one_level.value == pytest.approx(0.1)
    assert one_level.high > 0.3


def test_few_rows_of_the_fixed_class() -> None:
    """All ten positives may be above the threshold that one in ten of all is below."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        score = np.concatenate((rng.normal(1.2, 1, 20), rng.standard_normal(500)))
        p = cs.specificity_at(cs.sweep(np.repeat([1, 0], [20, 500]), score), 0.9)
        assert p.low == 0
        hits += float(norm.cdf(1.2 + norm.ppf(0.1))) in p.interval
    assert hits / 300 >= 0.92
    # At 0.9 all of 35 would be too many: 35 · 0.1² / 0.9 · 0.1 > 1.96².
    for n, bounded in ((34, False), (35, True)):
        score = np.concatenate((np.arange(n) + 0.5, np.linspace(-50, 40, 500)))
        p = cs.specificity_at(cs.sweep(np.repeat([1, 0], [n, 500]), score), 0.9)
        assert (p.low > 0) is bounded


@pytest.mark.parametrize(("auc", "levels"), [(0.8, False), (0.95, False), (0.95, True)])
def test_coverage(auc: float, levels: bool) -> None:
    """In a few settings; validation has all of them."""
    rng = np.random.default_rng(3)
    distance = float(norm.ppf(auc)) * 2**0.5
    cuts = distance / 2 + np.arange(-1.5, 2)
    y = np.repeat([True, False], [30, 200])
    truth = float(norm.cdf(distance + norm.ppf(0.1)))
    if levels:
        fpr, tpr = (np.concatenate(([0], norm.sf(cuts[::-1], mean), [1])) for mean in (0, distance))
        truth = float(np.interp(0.1, fpr, tpr))
    hits = 0
    for _ in range(300):
        score = rng.standard_normal(230) + distance * y
        s = cs.sweep(y, np.searchsorted(cuts, score) if levels else score)
        hits += truth in cs.sensitivity_at(s, 0.9).interval
    assert 0.92 <= hits / 300 <= 0.995


def test_bad_input() -> None:
    s = cs.sweep([1, 0], [2, 1])
    for bad in (0, 1, 90, np.nan, "0.9", None):
        with finding("bad-argument", cs.DataError, parameter="specificity"):
            cs.sensitivity_at(s, bad)  # type: ignore[arg-type]
        with finding("bad-argument", cs.DataError, parameter="sensitivity"):
            cs.specificity_at(s, bad)  # type: ignore[arg-type]
    with finding("bad-argument", cs.DataError, parameter="s"):
        cs.sensitivity_at([1, 0], 0.9)  # type: ignore[arg-type]
    with finding("one-class", cs.UndefinedError):
        cs.specificity_at(cs.sweep([1, 1], [2, 1]), 0.9)
    with finding("bad-argument", cs.DataError, parameter="level"):
        cs.sensitivity_at(s, 0.9, level=95)
