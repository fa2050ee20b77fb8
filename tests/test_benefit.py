"""Net benefit at threshold probabilities, against dcurves, fractions and plain standard errors."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.core.findings.base import Where
from cutscore.inference.rates import wilson
from raising import finding

DATA = Path(__file__).parents[2] / "shared" / "data"
# 750 people, 105 with cancer; 24 and 91 have a family history (dcurves' df_binary).
FAMILY = cs.Sweep.from_counts([1, 0], [24, 81], [91, 554])


def test_published_figures() -> None:
    """What dcurves gives: treating all, and those with a family history."""
    found = cs.net_benefit_at(FAMILY, [0.05, 0.1, 0.15, 0.2])
    assert found.flag_all.value == pytest.approx(
        [0.0947368421, 0.0444444444, -0.0117647059, -0.075], abs=1e-10
    )
    assert found.net_benefit.value == pytest.approx(
        [0.0256140, 0.0185185, 0.0105882, 0.0016667], abs=5e-8
    )


@pytest.mark.skipif(not DATA.exists(), reason="dcurves' data are not ours to ship")
def test_all_of_dcurves() -> None:
    """Every net benefit of its result; age becomes a probability by logistic regression there."""
    with (DATA / "dcurves_binary.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (DATA / "dcurves_binary_result.csv").open(encoding="utf-8") as file:
        results = list(csv.DictReader(file))
    y = np.array([row["cancer"] == "TRUE" for row in rows])
    age = np.array([float(row["age"]) for row in rows])
    p = cs.calibrate(cs.sweep(y, age), "platt").probability(age, float(y.mean()))
    at = [float(row["threshold"]) for row in results if row["variable"] == "age"]
    found = cs.net_benefit_at(cs.sweep(y, p), at)
    columns = {"age": found.net_benefit.value, "all": found.flag_all.value, "none": np.zeros(100)}
    for name, column in columns.items():
        published = [float(r["net_benefit"]) for r in results if r["variable"] == name]
        assert column == pytest.approx(published, abs=1e-12)


@st.composite
def counted(draw: st.DrawFn) -> tuple[list[Fraction], list[int], list[int]]:
    score = draw(st.lists(st.fractions(0, 1), min_size=1, max_size=8, unique=True))
    masses = st.lists(st.integers(0, 20), min_size=len(score), max_size=len(score))
    return score, [1 + x for x in draw(masses)], [1 + x for x in draw(masses)]


@given(
    counted(), st.fractions(0, Fraction(19, 20)), st.fractions(Fraction(1, 100), Fraction(9, 10))
)
def test_definitions(
    case: tuple[list[Fraction], list[int], list[int]], t: Fraction, prior: Fraction
) -> None:
    score, pos, neg = case
    s = cs.Sweep.from_counts([float(x) for x in score], pos, neg)
    P, N = sum(pos), sum(neg)
    tp = sum(k for x, k in zip(score, pos, strict=True) if float(x) >= float(t))
    fp = sum(k for x, k in zip(score, neg, strict=True) if float(x) >= float(t))
    rate = t / (1 - t)
    for given_prior, p in ((None, Fraction(P, P + N)), (float(prior), prior)):
        found = cs.net_benefit_at(s, float(t), prior=given_prior)
        nb = p * Fraction(tp, P) - rate * (1 - p) * Fraction(fp, N)
        every = p - rate * (1 - p)
        near = {"abs": 1e-10, "rel": 1e-9}
        assert found.net_benefit.value[0] == pytest.approx(float(nb), **near)
        assert found.flag_all.value[0] == pytest.approx(float(every), **near)
        assert found.standardized[0] == pytest.approx(float(nb / p), **near)
        if rate:
            avoided = float(100 * (nb - every) / rate)
            assert found.avoided.value[0] == pytest.approx(avoided, abs=1e-8, rel=1e-8)
        for column in (found.net_benefit, found.flag_all):
            assert column.low[0] <= column.value[0] <= column.high[0]


def test_flagging_all_has_the_interval_of_the_prevalence() -> None:
    found = cs.net_benefit_at(FAMILY, [0.1, 0.4])
    low, high = wilson(105, 750, 0.95)
    for k, rate in enumerate((1 / 9, 2 / 3)):
        assert found.flag_all.low[k] == pytest.approx(low - rate * (1 - low))
        assert found.flag_all.high[k] == pytest.approx(high - rate * (1 - high))
    known = cs.net_benefit_at(FAMILY, [0.1], prior=0.3).flag_all
    assert known.low == known.value == known.high == pytest.approx(0.3 - 0.7 / 9)


def draw_rows(n: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.5, 1.2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-odds))
    noisy = odds + rng.normal(size=n)
    return y, 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(1 - 0.5 * noisy))


def test_many_rows_have_plain_standard_errors() -> None:
    """The mean of what each row is worth, ± z standard errors."""
    y, a, b = draw_rows(50_000, 0)
    at = np.array([0.1, 0.3, 0.5])
    one = cs.net_benefit_at(cs.sweep(y, a), at)
    two = cs.compare_net_benefit(y, a, b, at)
    for k, t in enumerate(at):
        worth = [(p >= t) * np.where(y, 1.0, -t / (1 - t)) for p in (a, b)]
        saved = 100 * (a < t) * np.where(y, -(1 - t) / t, 1.0)
        for values, found in (
            (worth[0], one.net_benefit[k]),
            (worth[0] - worth[1], two.difference[k]),
            (saved, one.avoided[k]),
        ):
            half = 1.959964 * values.std() / len(y) ** 0.5
            assert found.value == pytest.approx(values.mean(), abs=1e-10)
            assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.01)
            assert found.value - found.low == pytest.approx(half, rel=0.05)


def test_many_rows_of_a_case_control_sample() -> None:
    """With a known prior the two classes are two samples."""
    y, a, b = draw_rows(50_000, 1)
    prior, t = 0.02, 0.05
    found = cs.net_benefit_at(cs.sweep(y, a), t, prior=prior).net_benefit[0]
    both = cs.compare_net_benefit(y, a, b, t, prior=prior).difference[0]
    for score, one in (((a >= t) * 1.0, found), ((a >= t) * 1.0 - (b >= t), both)):
        parts = (prior, score[y]), (-(1 - prior) * t / (1 - t), score[~y])
        value = sum(c * x.mean() for c, x in parts)
        half = 1.959964 * sum(c * c * x.var() / len(x) for c, x in parts) ** 0.5
        assert one.value == pytest.approx(value, abs=1e-12)
        assert (one.high - one.low) / 2 == pytest.approx(half, rel=0.01)


@pytest.mark.parametrize("prior", [None, 0.1])
def test_difference_is_that_of_the_net_benefits(prior: float | None) -> None:
    y, a, b = draw_rows(400, 2)
    at = [0.05, 0.2, 0.6]
    found = cs.compare_net_benefit(y, a, b, at, prior=prior)
    for own, score in ((found.a, a), (found.b, b)):
        other = cs.net_benefit_at(cs.sweep(y, score), at, prior=prior)
        assert own == pytest.approx(other.net_benefit.value, abs=1e-14)
    assert found.difference.value == pytest.approx(found.a - found.b, abs=1e-15)
    back = cs.compare_net_benefit(y, b, a, at, prior=prior).difference
    assert back.low == pytest.approx(-found.difference.high)
    assert back.high == pytest.approx(-found.difference.low)


def test_the_same_model_twice() -> None:
    """No row makes a difference, and yet a few might have."""
    y, a, _ = draw_rows(200, 3)
    same = cs.compare_net_benefit(y, a, a, 0.2).difference[0]
    assert same.value == 0
    assert same.low == pytest.approx(-same.high)
    assert 0 < same.high < 0.02


def test_weights() -> None:
    y, a, b = draw_rows(400, 4)
    for w in (np.full(400, 3.0), None):
        s = cs.sweep(y, a, w, squares=w is not None)
        found = cs.net_benefit_at(s, [0.1, 0.4]).net_benefit
        both = cs.compare_net_benefit(y, a, b, [0.1, 0.4], weight=w).difference
        if w is not None:
            heavy = found, both
    for one, other in zip(heavy, (found, both), strict=True):
        for name in ("value", "low", "high"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    w = np.random.default_rng(0).exponential(size=400)
    uneven = cs.net_benefit_at(cs.sweep(y, a, w, squares=True), 0.1).net_benefit[0]
    assert 1.2 < (uneven.high - uneven.low) / (found[0].high - found[0].low) < 1.7
    wide = cs.compare_net_benefit(y, a, b, 0.1, weight=w).difference[0]
    assert wide.high - wide.low > both[0].high - both[0].low
    with finding("squares-missing", cs.UndefinedError):
        cs.net_benefit_at(cs.sweep(y, a, w), 0.1)


def test_coverage() -> None:
    """Where counts are small, and ± z standard errors cover 91 and 73 %."""
    rng = np.random.default_rng(0)
    for t, cells in ((0.05, [0.032, 0.34]), (0.2, [0.002, 0.0065])):
        truth = cells[0] - t / (1 - t) * cells[1]
        hits = 0
        for tp, fp, _ in rng.multinomial(200, [*cells, 1 - sum(cells)], 500):
            s = cs.Sweep.from_counts([0.9, 0.0], [tp, 30], [fp, 170 - tp - fp])
            found = cs.net_benefit_at(s, t).net_benefit[0]
            hits += found.low <= truth <= found.high
        assert hits / 500 >= 0.93


@pytest.mark.parametrize("prior", [None, 0.02, 0.7])
def test_the_best_cut_by_the_cost_curve(prior: float | None) -> None:
    rng = np.random.default_rng(4)
    p = np.round(rng.random(300), 2)
    s = cs.sweep(rng.random(300) < p, p)
    curve = cs.net_benefit(s, prior=prior)
    some = curve.threshold < 1
    found = cs.cost_curve(s).net_benefit(curve.threshold[some], prior or s.prevalence)
    assert found == pytest.approx(curve.best[some], abs=1e-12)
    with finding("bad-argument", parameter="threshold"):
        cs.cost_curve(s).net_benefit([1.0], 0.5)


def test_repr() -> None:
    found = cs.net_benefit_at(FAMILY, np.linspace(0, 0.9, 12))
    lines = repr(found).splitlines()
    assert len(lines) == 11
    assert lines[0] == "at 0: net benefit 0.140 (95 % CI 0.117–0.167), flag all 0.14"
    assert lines[-1] == "…"
    assert repr(found.net_benefit).endswith(", …")
    assert len(found) == len(found.net_benefit) == 12
    y, a, b = draw_rows(100, 0)
    assert len(repr(cs.compare_net_benefit(y, a, b, np.linspace(0, 0.9, 12))).splitlines()) == 11


def test_bad_input() -> None:
    for bad in (1, -0.1, [0.2, np.nan], 20):
        with finding("bad-argument", parameter="at", subject="a threshold probability"):
            cs.net_benefit_at(FAMILY, bad)
    for bad, code in (("0.1", "bad-argument"), ([[0.1]], "bad-argument"), (None, "bad-argument")):
        with finding(code, cs.DataError):
            cs.net_benefit_at(FAMILY, bad)
    with finding("not-probabilities", what="net benefit", score=2.0):
        cs.net_benefit_at(cs.sweep([1, 0], [2, 1]), 0.1)
    with finding("one-class", cs.UndefinedError):
        cs.net_benefit_at(cs.sweep([1, 1], [0.2, 0.1]), 0.1)
    with finding("bad-argument", cs.DataError, parameter="s"):
        cs.net_benefit_at([1, 0], 0.1)  # type: ignore[arg-type]
    with finding("bad-argument", parameter="prior"):
        cs.net_benefit_at(FAMILY, 0.1, prior=0)
    with finding("not-probabilities", score=7.0, where=Where(part="b")):
        cs.compare_net_benefit([1, 0], [0.2, 0.1], [0.1, 7], 0.1)
    with finding("one-class", have="positive (2 of them)"):
        cs.compare_net_benefit([1, 1], [0.2, 0.1], [0.1, 0.2], 0.1)
    assert np.isnan(cs.net_benefit_at(FAMILY, 0).avoided.value[0])
