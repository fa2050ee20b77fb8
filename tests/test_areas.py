"""Areas and extremes against fractions, and against peers that compute them another way."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import cutscore as cs
import oracle
from raising import finding
from strategies import Case, rows, weights

ends = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda e: e[0] != e[1]).map(sorted)
# Where the curve itself has points: k/P and k/N of small classes.
on_points = st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda e: e[0] != e[1])
intervals = st.one_of(ends, on_points.map(lambda e: sorted((e[0] / 12, e[1] / 12))))


def close(value: float, exact: Fraction, ulps: int = 16) -> bool:
    """Within a few roundings of numbers no larger than 1."""
    return bool(abs(Fraction(value) - exact) <= ulps * Fraction(1, 2**53))


# -------------------------------------------------------------------------------------- partial AUC


@given(rows(both=True), intervals)
def test_partial_auc(case: Case, interval: list[float]) -> None:
    low, high = interval
    s, t = cs.sweep(*case), oracle.table(*case)
    a, b = Fraction(low), Fraction(high)
    over_fpr, over_tpr = oracle.area_over_fpr(t, a, b), oracle.area_over_tpr(t, a, b)
    # The end of an interval within a rounding of a jump may take the jump or leave it: no area.
    assert close(cs.partial_auc(s, min_fpr=low, max_fpr=high), over_fpr, 64)
    assert close(cs.partial_auc(s, min_tpr=low, max_tpr=high), over_tpr, 64)


@given(rows(both=True), intervals)
def test_standardized_partial_auc(case: Case, interval: list[float]) -> None:
    low, high = interval
    assume(high - low > 1e-3)  # the scale divides by the interval
    s, t = cs.sweep(*case), oracle.table(*case)
    a, b = Fraction(low), Fraction(high)
    for area, chance, ours in (
        (
            oracle.area_over_fpr(t, a, b),
            (b * b - a * a) / 2,
            cs.partial_auc(s, min_fpr=low, max_fpr=high, standardized=True),
        ),
        (
            oracle.area_over_tpr(t, a, b),
            ((1 - a) ** 2 - (1 - b) ** 2) / 2,
            cs.partial_auc(s, min_tpr=low, max_tpr=high, standardized=True),
        ),
    ):
        best = b - a
        assume(best - chance > Fraction(1, 10**6))
        exact = (1 + (area - chance) / (best - chance)) / 2
        assert float(exact) == pytest.approx(ours, abs=1e-9)


@given(rows(both=True))
def test_whole_interval_is_the_whole_area(case: Case) -> None:
    s = cs.sweep(*case)
    exact = oracle.auc(*case)
    assert close(cs.partial_auc(s, max_fpr=1), exact)
    assert close(cs.partial_auc(s, min_tpr=0), exact)
    assert close(cs.partial_auc(s, max_fpr=1, standardized=True), exact)
    assert close(cs.partial_auc(s, max_tpr=1, standardized=True), exact)


@given(rows(both=True), st.floats(0.01, 0.99), st.booleans())
def test_parts_add_up(case: Case, cut: float, over_fpr: bool) -> None:
    s = cs.sweep(*case)
    names = ("max_fpr", "min_fpr") if over_fpr else ("max_tpr", "min_tpr")
    parts = [cs.partial_auc(s, **{name: cut}) for name in names]  # type: ignore[arg-type]
    assert sum(parts) == pytest.approx(s.auc, abs=1e-14)


@pytest.mark.parametrize("max_fpr", [1e-3, 0.05, 0.2, 0.37, 0.999])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_partial_auc_of_a_peer(max_fpr: float, decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    y = rng.integers(0, 2, 400)
    score = (rng.standard_normal(400) + y).round(decimals)
    w = rng.exponential(size=400)
    for weight in (None, w):
        ours = cs.partial_auc(cs.sweep(y, score, weight), max_fpr=max_fpr, standardized=True)
        theirs = metrics.roc_auc_score(y, score, sample_weight=weight, max_fpr=max_fpr)
        assert ours == pytest.approx(theirs, abs=1e-12)


def _integral(x: Any, y: Any, low: float, high: float) -> float:
    """∫ y dx along a polygon by a million midpoints: slow, rough, and nobody's formula."""
    at = low + (high - low) * (np.arange(10**6) + 0.5) / 10**6
    return float(np.interp(at, x, y).mean() * (high - low))


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.35), (0.8, 1.0), (0.0, 0.05), (0.42, 0.43)])
def test_partial_auc_by_integration(low: float, high: float) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    s = cs.sweep(y, (rng.standard_normal(300) + 0.7 * y).round(1))
    roc = cs.roc(s)
    over_fpr = cs.partial_auc(s, min_fpr=low, max_fpr=high)
    assert over_fpr == pytest.approx(_integral(roc.fpr, roc.tpr, low, high), abs=2e-6)
    over_tpr = cs.partial_auc(s, min_tpr=low, max_tpr=high)
    assert over_tpr == pytest.approx(_integral(roc.tpr, 1 - roc.fpr, low, high), abs=2e-6)


def test_partial_auc_by_hand() -> None:
    """pROC's two focuses: over specificity = 1 − FPR, and over sensitivity = TPR."""
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    # Steps: up to 1/4, right to 1/4, up to 3/4, right to 1/2, up to 1, right to 1.
    assert cs.partial_auc(s, max_fpr=0.25) == 0.25 * 0.25
    assert cs.partial_auc(s, min_fpr=0.25, max_fpr=0.5) == 0.25 * 0.75
    assert cs.partial_auc(s, min_fpr=0.5) == 0.5 * 1
    assert cs.partial_auc(s, min_tpr=0.75) == 0.25 * 0.5
    assert cs.partial_auc(s, min_tpr=0.25, max_tpr=0.75) == 0.5 * 0.75
    assert cs.partial_auc(s, max_tpr=0.25) == 0.25 * 1
    # McClish: chance over [0, 1/2] is 1/8, the best 1/2.
    assert cs.partial_auc(s, max_fpr=0.5, standardized=True) == 0.5 * (1 + (0.25 - 1 / 8) / (3 / 8))
    perfect, useless = cs.sweep([1, 0], [2, 1]), cs.sweep([1, 0], [1, 1])
    for interval in ({"max_fpr": 0.3}, {"min_fpr": 0.3}, {"max_tpr": 0.3}, {"min_tpr": 0.3}):
        assert cs.partial_auc(perfect, **interval, standardized=True) == 1  # type: ignore[arg-type]
        half = cs.partial_auc(useless, **interval, standardized=True)  # type: ignore[arg-type]
        assert half == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(
    ("interval", "parameter", "value"),
    [
        ({"max_fpr": 0.0}, "max_fpr", "[0, 0]"),
        ({"min_fpr": 0.5, "max_fpr": 0.5}, "max_fpr", "[0.5, 0.5]"),
        ({"min_fpr": 0.6, "max_fpr": 0.5}, "max_fpr", "[0.6, 0.5]"),
        ({"max_tpr": 1.1}, "max_tpr", "[0, 1.1]"),
        ({"min_tpr": -0.1}, "max_tpr", "[-0.1, 1]"),
        ({"max_fpr": np.nan}, "max_fpr", "[0, nan]"),
    ],
)
def test_partial_auc_refuses(interval: dict[str, float], parameter: str, value: str) -> None:
    with finding("bad-argument", cs.DataError, parameter=parameter, value=value):
        cs.partial_auc(cs.sweep([1, 0], [2, 1]), **interval)  # type: ignore[arg-type]


@pytest.mark.parametrize("interval", [{}, {"max_fpr": 0.5, "min_tpr": 0.5}])
def test_a_partial_auc_is_of_one_axis(interval: dict[str, float]) -> None:
    with finding("arguments-conflict", cs.DataError):
        cs.partial_auc(cs.sweep([1, 0], [2, 1]), **interval)  # type: ignore[arg-type]


# ------------------------------------------------------------------- average precision, KS and EER


@given(rows(both=True))
def test_average_precision(case: Case) -> None:
    assert close(
        cs.average_precision(cs.sweep(*case)), oracle.average_precision(oracle.table(*case))
    )


@given(rows(both=True))
def test_kolmogorov_smirnov(case: Case) -> None:
    exact = oracle.kolmogorov_smirnov(oracle.table(*case))
    assert cs.kolmogorov_smirnov(cs.sweep(*case)) == float(exact)


@given(rows(both=True))
def test_equal_error_rate(case: Case) -> None:
    assert close(cs.equal_error_rate(cs.sweep(*case)), oracle.equal_error_rate(oracle.table(*case)))


@given(st.data(), rows(both=True))
def test_with_weights(data: st.DataObject, case: Case) -> None:
    w = data.draw(weights(len(case.y)))
    s, t = cs.sweep(*case, w), oracle.table(*case, w)
    assume(s.P > 0 and s.N > 0)
    assert close(cs.average_precision(s), oracle.average_precision(t), 128)
    assert close(cs.kolmogorov_smirnov(s), oracle.kolmogorov_smirnov(t), 128)
    assert close(cs.equal_error_rate(s), oracle.equal_error_rate(t), 128)
    quarter = Fraction(1, 4)
    assert close(
        cs.partial_auc(s, max_fpr=0.25), oracle.area_over_fpr(t, Fraction(0), quarter), 128
    )


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_peers(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    y = rng.integers(0, 2, 1000)
    score = (rng.standard_normal(1000) + 0.5 * y).round(decimals)
    s = cs.sweep(y, score)
    theirs = metrics.average_precision_score(y, score)
    assert cs.average_precision(s) == pytest.approx(theirs, rel=1e-14)
    test = stats.ks_2samp(score[y == 1], score[y == 0], method="asymp")
    assert cs.kolmogorov_smirnov(s) == pytest.approx(test.statistic, rel=1e-14)
    u = stats.mannwhitneyu(score[y == 1], score[y == 0]).statistic
    assert s.auc == u / (int(s.P) * int(s.N))


def test_equal_error_rate_by_hand() -> None:
    assert cs.equal_error_rate(cs.sweep([1, 0], [2, 1])) == 0
    assert cs.equal_error_rate(cs.sweep([1, 0], [1, 2])) == 1
    assert cs.equal_error_rate(cs.sweep([1, 0], [1, 1])) == 0.5
    # On the side from (1/3, 1/2) to (1/3, 1): FPR stays 1/3 while FNR falls past it.
    assert cs.equal_error_rate(cs.sweep([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])) == 1 / 3


def test_counts_too_large_for_integer_products() -> None:
    s = cs.Sweep.from_counts([2, 1], [2**50, 2**51], [2**51, 2**50])
    assert cs.kolmogorov_smirnov(s) == pytest.approx(1 / 3, rel=1e-15)
    assert s.auc == float(Fraction(oracle.twice_area(s.pos, s.neg), 2 * int(s.P) * int(s.N)))


MEASURES: tuple[Callable[[cs.Sweep], float], ...] = (
    cs.auc,
    cs.average_precision,
    cs.equal_error_rate,
    cs.kolmogorov_smirnov,
    lambda s: cs.partial_auc(s, max_fpr=0.1),
)


@pytest.mark.parametrize("measure", MEASURES)
def test_one_class(measure: Callable[[cs.Sweep], float]) -> None:
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        measure(cs.sweep([], []))
    with finding("one-class", cs.UndefinedError):
        measure(cs.sweep([0], [1], [0.5]))
    if measure is cs.average_precision:  # there are no negatives to be wrong about
        assert measure(cs.sweep([1, 1], [1, 2])) == 1
    else:
        with finding("one-class", cs.UndefinedError):
            measure(cs.sweep([1, 1], [1, 2]))
