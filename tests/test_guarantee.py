"""Guarantees: the bounds they rest on, the cuts they certify, and how often they are broken."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.guarantee import _starts, just_above, most, precise


@given(st.integers(1, 300), st.floats(0.001, 0.999), st.sampled_from((0.01, 0.05, 0.3)))
def test_most(n: int, rate: float, error: float) -> None:
    k = most(n, rate, error)
    cdf = scipy.stats.binom.cdf(np.arange(-1, n + 1), n, rate)
    assert cdf[k + 1] <= error * (1 + 1e-9)
    assert k == n or cdf[k + 2] > error * (1 - 1e-9)


def test_most_at_the_ends() -> None:
    assert most(10, 1.0, 0.05) == 10
    assert most(10, 0.0, 0.05) == -1
    assert most(0, 0.5, 0.05) == -1
    # The rule of three: 299 rows without a fault show less than one per cent at 95 %.
    assert [most(n, 0.01, 0.05) for n in (298, 299)] == [-1, 0]


def test_starts_share_the_error() -> None:
    for total, bound, error in ((100, 0.9, 0.05), (10_000, 0.5, 0.01), (5, 0.99, 0.05)):
        starts = _starts(total, bound, error)
        assert bound ** starts[0] <= error / len(starts)
        assert all(b == 4 * a for a, b in pairwise(starts))
        assert starts[-1] <= max(total, starts[0])


def test_certified_precision_by_hand() -> None:
    # 100 positives, then 100 negatives: 2·29 = 58 start rows suffice at 0.9, 5 % over two starts.
    s = cs.sweep([1] * 100 + [0] * 100, np.arange(200)[::-1])
    certified = precise(s, 0.9, 0.05)
    tests = scipy.stats.binom.sf(s.tp - 1, s.tp + s.fp, 0.9)
    starts = _starts(200, 0.9, 0.05)
    passed = tests <= 0.05 / len(starts)
    first = starts[0]
    last = first
    while passed[last]:
        last += 1
    assert certified.tolist() == list(range(first, last + 1))
    assert 100 < certified[-1] < 110
    assert precise(s, 0.0, 0.05).tolist() == list(range(1, 201))
    assert not len(precise(s, 1.0, 0.05))


def test_just_above() -> None:
    assert just_above(0.1, 1.0) == 0.100000001  # 0.1 as a float32 is above 0.1
    assert just_above(0.5, 1.0) == 0.50000005
    assert just_above(0.1, 0.1 + 1e-12) == np.nextafter(0.1, 1)
    assert just_above(-np.inf, 1.0) == -3.4028235e38
    assert just_above(1e300, np.inf) == np.inf
    assert just_above(1e300, 2e300) == np.nextafter(1e300, np.inf)


@given(st.floats(-(2.0**99), 2.0**99), st.booleans())
def test_just_above_decides_as_the_next_float32(low: float, of_float32: bool) -> None:
    if of_float32:
        low = float(np.float32(low))
    t = just_above(low, np.inf)
    single = np.float32(t)
    assert low < t <= float(single)  # as a float64, past no float32
    assert float(single) > low >= float(np.nextafter(single, np.float32(-np.inf)))
    if of_float32:
        digits = f"{t!r}".lstrip("-").partition("e")[0].replace(".", "").strip("0")
        assert len(digits) <= 9


def test_points_and_what_they_say() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.05
    s = cs.sweep(y, rng.standard_normal(50_000) + 2.5 * y)
    plain = cs.choose(s, "recall", subject_to="fpr <= 0.001")
    sure = cs.choose(s, "recall", subject_to="fpr <= 0.001", confidence=0.95)
    assert sure.feasible
    assert sure.threshold > plain.threshold
    assert sure.value < plain.value
    assert sure.confusion.fp == most(int(s.N), 0.001, 0.05)
    assert "fpr <= 0.001 with 95 % confidence: holds, it is" in repr(sure)
    both = cs.choose(s, "recall", subject_to=["fpr <= 0.001", "flagged <= 2000"], confidence=0.95)
    # The error is shared.
    allowed = most(int(s.N), 0.001, 0.025)
    assert allowed - 1 <= both.confusion.fp <= allowed < most(int(s.N), 0.001, 0.05)
    assert both.confusion.tp == s.tp[s.fp <= allowed].max()
    recall = cs.choose(s, "fpr", subject_to="recall >= 0.9", confidence=0.9)
    assert recall.confusion.fn <= most(int(s.P), 0.1, 0.1)
    assert recall.confusion.recall > 0.9
    same = cs.choose(s, "fpr", subject_to="fnr <= 0.1", confidence=0.9)
    assert same.threshold == recall.threshold
    specific = cs.choose(s, "recall", subject_to="specificity >= 0.999", confidence=0.95)
    assert specific.cut == sure.cut
    precision = cs.choose(s, "recall", subject_to="precision >= 0.9", confidence=0.95)
    unsure = cs.choose(s, "recall", subject_to="precision >= 0.9")
    assert 0.5 * unsure.value < precision.value < unsure.value
    assert precision.confusion.precision > 0.9
    assert s.at(precision.threshold) == precision.confusion
    few = cs.choose(s, "recall", subject_to="flagged_rate <= 0.01", confidence=0.95)
    assert 440 < few.confusion.flagged < 500
    lots = cs.choose(s, "precision", subject_to="flagged >= 500", confidence=0.95)
    assert 500 < lots.confusion.flagged < 560
    # With another prior: rates of one class are the same there.
    there = cs.choose(s, "precision", subject_to="recall >= 0.5", confidence=0.95, prior=0.001)
    assert there.feasible


def test_nothing_can_be_shown() -> None:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    none = cs.choose(s, "recall", subject_to="fpr <= 0.1", confidence=0.95)
    assert (none.feasible, none.threshold, none.confusion.flagged) == (True, np.inf, 0)
    everything = cs.choose(s, "fpr", subject_to="recall >= 0.9", confidence=0.95)
    assert (everything.feasible, everything.threshold) == (True, -np.inf)
    p = cs.choose(s, "recall", subject_to="precision >= 0.9", confidence=0.95)
    assert not p.feasible
    assert "no cut can be shown to have precision >= 0.9 with that confidence" in repr(p)
    assert p.confusion.precision == 1.0  # the nearest: the most precise


@pytest.mark.parametrize("limit", ["recall > 1", "fnr < 0", "fpr < 0", "flagged < 0"])
def test_impossible_limits_are_infeasible(limit: str) -> None:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    assert not cs.choose(s, "recall", subject_to=limit, confidence=0.9).feasible
    assert not cs.choose(s, "recall", subject_to=limit).feasible


def test_nearest_is_measured_by_the_limits_as_given() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    s = cs.sweep(y, rng.standard_normal(2000) + 1.5 * y)
    p = cs.choose(s, "recall", subject_to=["recall >= 0.8", "fpr <= 0.2"], confidence=0.95)
    assert not p.feasible
    assert p.confusion.recall > 0.7
    assert p.confusion.fpr < 0.3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"subject_to": "f1 >= 0.5"}, cs.DataError, "guarantees exist for upper limits on fpr"),
        ({"subject_to": "fpr >= 0.5"}, cs.DataError, "not for 'fpr >= 0.5'"),
        ({"subject_to": "precision <= 0.5"}, cs.DataError, "not for 'precision <= 0.5'"),
        ({}, cs.DataError, "confidence is for limits to hold with"),
        (
            {"subject_to": "fpr <= 0.5", "confidence": 95},
            cs.DataError,
            "confidence must lie between",
        ),
        (
            {"subject_to": "precision >= 0.5", "prior": 0.1},
            cs.DataError,
            "a guarantee of the precision is for cases like these, not for another prior",
        ),
    ],
)
def test_bad_guarantees(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cs.choose(cs.sweep([1, 0], [2, 1]), "recall", **({"confidence": 0.95} | options))


@pytest.mark.parametrize(
    ("limit", "weight", "message"),
    [
        ("fpr <= 0.1", [1, 1, 2], "the negatives weigh differently"),
        ("precision >= 0.1", [1, 2, 2], "a guarantee of the precision counts rows"),
        ("flagged <= 2", [1, 2, 2], "a guarantee of the flagged counts rows"),
    ],
)
def test_weights_without_a_guarantee(limit: str, weight: list[float], message: str) -> None:
    s = cs.sweep([1, 0, 0], [3, 2, 1], weight, squares=True)
    with pytest.raises(cs.UndefinedError, match=message):
        cs.choose(s, "recall", subject_to=limit, confidence=0.9)
    with pytest.raises(cs.UndefinedError, match="squares=True"):
        cs.choose(
            cs.sweep([1, 0], [2, 1], [1, 2]), "recall", subject_to="fpr <= 0.1", confidence=0.9
        )


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("weights", [(1.0, 10.0), (0.3, 9.87), (7.0, 7.0)])
@pytest.mark.parametrize(
    ("goal", "limit"),
    [("recall", "fpr <= 0.02"), ("specificity", "recall >= 0.8"), ("recall", "fpr <= 1e-6")],
)
def test_thinned_negatives_count_as_rows(
    digits: int, weights: tuple[float, float], goal: str, limit: str
) -> None:
    """Rates of one class know nothing of what its rows weigh."""
    rng = np.random.default_rng(4)
    y = rng.random(3000) < 0.2
    score = np.round(rng.normal(size=3000) + 2 * y, digits)
    w = np.where(y, *weights)
    plain = cs.choose(cs.sweep(y, score), goal, subject_to=limit, confidence=0.9)
    p = cs.choose(cs.sweep(y, score, w, squares=True), goal, subject_to=limit, confidence=0.9)
    assert (p.threshold, p.feasible) == (plain.threshold, plain.feasible)
    assert p.confusion.fpr == pytest.approx(plain.confusion.fpr, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "limit", ["fpr <= 0.05", "recall >= 0.7", "precision >= 0.6", "flagged_rate <= 0.2"]
)
def test_broken_at_most_as_often_as_promised(limit: str, ties: bool) -> None:
    """A smaller form of what make validate does, where the true rates are known."""
    rng = np.random.default_rng(1)
    name, sign, bound = limit.split()
    draws, broken = 400, 0
    grid = np.linspace(-6, 9, 31) if ties else None
    for _ in range(draws):
        y = rng.random(300) < 0.3
        score = rng.standard_normal(300) + 1.5 * y
        if grid is not None:
            score = grid[np.searchsorted(grid, score)]
        p = cs.choose(
            cs.sweep(y, score),
            "recall" if sign == "<=" or name == "precision" else "fpr",
            subject_to=limit,
            confidence=0.8,
        )
        t = p.threshold
        if grid is not None and np.isfinite(t):  # P(rounded ≥ t) = P(score > the grid point below)
            t = grid[np.searchsorted(grid, t) - 1]
        tpr, fpr = scipy.stats.norm.sf(t - 1.5), scipy.stats.norm.sf(t)
        flagged = 0.3 * tpr + 0.7 * fpr
        true = {"fpr": fpr, "recall": tpr, "flagged_rate": flagged}
        true["precision"] = 0.3 * tpr / flagged if flagged else 1.0
        if p.feasible:
            broken += not (
                true[name] <= float(bound) if sign == "<=" else true[name] >= float(bound)
            )
    assert broken <= scipy.stats.binom.ppf(0.9999, draws, 0.2)
    if name == "fpr" and not ties:  # and it does not give away more than it has to
        assert broken >= scipy.stats.binom.ppf(0.0001, draws, 0.1)
