"""Intervals of means of skewed amounts."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from cutscore.inference.means import Moments, _unskewed, mean_interval

amounts = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30).map(np.array)


def test_moments_by_hand() -> None:
    m = Moments.of(np.array([1.0, 2.0, 6.0]))
    assert m == (3, 3, 7, 6, pytest.approx((16 + 1 + 81) / 3))
    again = Moments.of(np.array([6.0, 1.0, 2.0, 9.0]), np.array([1, 1, 1, 0]))
    assert again == pytest.approx(m)
    assert Moments.of(np.array([])) == Moments.of(np.array([1.0]), np.array([0])) == (0,) * 5


@given(amounts)
def test_counts_are_copies(values: np.ndarray) -> None:
    count = np.arange(1, len(values) + 1)
    one, other = Moments.of(values, count), Moments.of(np.repeat(values, count))
    far = max(float(np.abs(values).max()), 1e-9)  # what is left of larger numbers is rounded
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * far**k)


def test_without_skewness_it_is_the_interval_of_t() -> None:
    values = np.array([-3.0, -1, 0, 1, 3])
    found = mean_interval([(1.0, Moments.of(values))], 0.95)
    m = Moments.of(values)
    error = sqrt(m.variance / 5)
    doubt = (m.fourth - m.variance**2) / 5**3
    df = min(2 * error**4 / doubt if doubt > 0 else inf, 4)
    half = float(student.ppf(0.975, df)) * error
    assert found[:3] == pytest.approx((0, -half, half))


@given(amounts)
def test_the_interval_contains_the_mean_and_turns_with_it(values: np.ndarray) -> None:
    found = mean_interval([(1.0, Moments.of(values))], 0.95)
    assert found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high
    turned = mean_interval([(1.0, Moments.of(-values))], 0.95)
    wide = max(1.0, found.high - found.low, abs(found.value))
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high), abs=1e-6 * wide)


def test_it_is_longer_towards_the_long_tail() -> None:
    values = np.random.default_rng(0).lognormal(sigma=1.5, size=200)
    low, high = mean_interval([(1.0, Moments.of(values))], 0.95)[1:3]
    assert high - values.mean() > 1.2 * (values.mean() - low)


def test_equal_amounts_and_single_ones_have_no_width() -> None:
    same = Moments.of(np.full(9, 2.5))
    assert mean_interval([(1.0, same)], 0.95)[:3] == (2.5, 2.5, 2.5)
    assert mean_interval([(1.0, Moments.of(np.array([4.0])))], 0.95)[:3] == (4, 4, 4)
    one = Moments.of(np.array([1.0, 2.0, 4.0]))
    alone, both = (mean_interval(p, 0.95) for p in ([(1.0, one)], [(1.0, one), (0.5, same)]))
    assert both.value == alone.value + 1.25


@pytest.mark.parametrize("skew", [-3.0, -0.2, 1e-9, 0.2, 3.0])
def test_the_transformation_is_inverted(skew: float) -> None:
    for z in np.linspace(-4, 4, 9):
        t = _unskewed(float(z), skew)
        g = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
        assert g == pytest.approx(z, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "true"), [("lognormal", np.exp(1.125)), ("normal", 0.0)])
def test_coverage(draw: str, true: float) -> None:
    rng, hits = np.random.default_rng(3), 0
    for _ in range(2000):
        x = rng.lognormal(0, 1.5, 200) if draw == "lognormal" else rng.standard_normal(200)
        found = mean_interval([(1.0, Moments.of(x))], 0.95)
        hits += found.low <= true <= found.high
    assert 0.925 <= hits / 2000 <= 0.97
