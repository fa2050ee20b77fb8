"""Guarantees: the bounds they rest on, the cuts they certify, and how often they are broken."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import cutscore as cs
from cutscore.inference.guarantee import _start_sizes, just_above, max_errors, most_weight, precise
from cutscore.inference.units import gaffke_p_value
from raising import finding


@given(st.integers(1, 300), st.floats(0.001, 0.999), st.sampled_from((0.01, 0.05, 0.3)))
def test_most(n: int, rate: float, error: float) -> None:
    k = max_errors(n, rate, error)
    cdf = scipy.stats.binom.cdf(np.arange(-1, n + 1), n, rate)
    assert cdf[k + 1] <= error * (1 + 1e-9)
    assert k == n or cdf[k + 2] > error * (1 - 1e-9)


def test_most_at_the_ends() -> None:
    assert max_errors(10, 1.0, 0.05) == 10
    assert max_errors(10, 0.0, 0.05) == -1
    assert max_errors(0, 0.5, 0.05) == -1
    # The rule of three: 299 rows without a fault show less than one per cent at 95 %.
    assert [max_errors(n, 0.01, 0.05) for n in (298, 299)] == [-1, 0]


@given(st.integers(1, 10**7), st.floats(0.05, 0.99), st.sampled_from((0.001, 0.05, 0.3)))
def test_start_sizes_share_the_error(total: int, bound: float, error: float) -> None:
    starts = _start_sizes(total, bound, error)
    assert sum(starts.values()) == pytest.approx(error, rel=1e-12)
    first, *_ = starts
    assert bound**first <= starts[first] * (1 + 1e-9)  # as many rows can prove something
    assert first == 1 or bound ** (first - 1) > starts[first]
    assert all(b == 4 * a for a, b in pairwise(starts))
    assert len(starts) == 1 or max(starts) <= total < 4 * max(starts)
    assert all(starts[b] <= starts[a] for a, b in pairwise(starts))


@pytest.mark.slow
def test_the_fallback_procedure_by_hand() -> None:
    """One number of rows after the other, as the procedure is written down; ties too."""
    rng = np.random.default_rng(7)
    seen = 0
    for trial in range(300):
        n = int(rng.integers(20, 400))
        y = rng.random(n) < 0.4
        score = np.round(rng.normal(size=n) + 2 * y, trial % 3)
        order = np.argsort(-score, kind="stable")
        y, score = y[order], score[order]
        s, bound = cs.sweep(y, score), float(rng.choice([0.5, 0.6, 0.8]))
        weights, level, certified = _start_sizes(n, bound, 0.2), 0.0, set()
        running = False
        for j in range(1, n + 1):
            if j in weights:  # its own share, and what is left of those before
                level = weights[j] + (level if running else 0.0)
                running = True
            above = score > score[j] if j < n else np.ones(n, np.bool_)
            rows, tp = np.count_nonzero(above), np.count_nonzero(y & above)
            if running and rows:
                running = bool(scipy.stats.binom.sf(tp - 1, rows, bound) <= level)
                certified |= {rows} if running else set()
        assert set(precise(s, bound, 0.2).tolist()) == certified
        seen += len(certified) > 0
    assert seen > 100


def test_certified_precision_by_hand() -> None:
    # 100 positives, then 100 negatives: at 0.9 it takes 36 rows to show anything at 2.5 %, and the
    # next sequence starts at 144, where the 44 negatives are too many.
    s = cs.sweep([1] * 100 + [0] * 100, np.arange(200)[::-1])
    assert _start_sizes(200, 0.9, 0.05) == {36: 0.025, 144: 0.025}
    certified = precise(s, 0.9, 0.05)
    tests = scipy.stats.binom.sf(s.tp - 1, s.tp + s.fp, 0.9)
    assert certified.tolist() == [k + 1 for k in range(35, 120) if tests[k] <= 0.025]
    assert 100 < certified[-1] < 110
    assert precise(s, 0.0, 0.05).tolist() == list(range(1, 201))
    assert not len(precise(s, 1.0, 0.05))


@pytest.mark.parametrize("separation", [0.5, 1.5, 3.0])
def test_certified_precision_cut_by_cut(separation: float) -> None:
    """Blocks of cuts are tested by their bounds: the same as a test of each."""
    rng = np.random.default_rng(3)
    y = rng.random(30_000) < 0.4
    s = cs.sweep(y, (rng.standard_normal(30_000) + separation * y).round(4))
    flagged, p_value = s.tp + s.fp, scipy.stats.binom.sf(s.tp - 1, s.tp + s.fp, 0.8)
    starts = _start_sizes(30_000, 0.8, 0.05)
    expected, level = set(), 0.0
    ends = [*list(starts)[1:], 30_001]
    for (start, share), end in zip(starts.items(), ends, strict=True):
        level += share
        first = max(int(np.searchsorted(flagged, start, "right")) - 1, 0)
        for k in range(first, int(np.searchsorted(flagged, end - 1, "right"))):
            if not p_value[k] <= level:
                level = 0.0
                break
            expected.add(int(flagged[k]))
    assert set(precise(s, 0.8, 0.05).tolist()) == expected
    # And the choice among them is the best of all cuts that hold.
    p = cs.choose(s, "recall", subject_to="precision >= 0.8", confidence=0.95)
    assert p.feasible == bool(expected)
    if expected:
        assert p.confusion.tp == max(t for t, f in zip(s.tp, flagged, strict=True) if f in expected)


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
    assert sure.confusion.fp == max_errors(int(s.N), 0.001, 0.05)
    assert "fpr <= 0.001 at 95 % confidence: met (" in repr(sure)
    both = cs.choose(s, "recall", subject_to=["fpr <= 0.001", "flagged <= 2000"], confidence=0.95)
    # The error is shared.
    allowed = max_errors(int(s.N), 0.001, 0.025)
    assert allowed - 1 <= both.confusion.fp <= allowed < max_errors(int(s.N), 0.001, 0.05)
    assert both.confusion.tp == s.tp[s.fp <= allowed].max()
    recall = cs.choose(s, "fpr", subject_to="recall >= 0.9", confidence=0.9)
    assert recall.confusion.fn <= max_errors(int(s.P), 0.1, 0.1)
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
    assert "No threshold can be guaranteed to meet precision >= 0.9 at 95 % confidence" in repr(p)
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
    ("options", "found"),
    [
        ({"subject_to": "f1 >= 0.5"}, {"code": "bad-argument", "value": "f1 >= 0.5"}),
        ({"subject_to": "fpr >= 0.5"}, {"code": "bad-argument", "value": "fpr >= 0.5"}),
        ({"subject_to": "precision <= 0.5"}, {"code": "bad-argument"}),
        ({}, {"code": "arguments-conflict", "parameters": ("confidence", "subject_to")}),
        (
            {"subject_to": "fpr <= 0.5", "confidence": 95},
            {"code": "bad-argument", "parameter": "confidence"},
        ),
        (
            {"subject_to": "precision >= 0.5", "prior": 0.1},
            {"code": "arguments-conflict", "parameters": ("prior", "subject_to")},
        ),
    ],
)
def test_bad_guarantees(options: dict[str, Any], found: dict[str, Any]) -> None:
    with finding(**found):
        cs.choose(cs.sweep([1, 0], [2, 1]), "recall", **({"confidence": 0.95} | options))


def test_weights_without_a_guarantee() -> None:
    s = cs.sweep([1, 0, 0], [3, 2, 1], [1, 2, 2], squares=True)
    with finding("counts-rows", cs.UndefinedError):
        cs.choose(s, "recall", subject_to="precision >= 0.1", confidence=0.9)
    assert cs.interval(s, "precision", at=2.5).high == 1.0
    with finding("squares-missing", cs.UndefinedError):
        cs.choose(
            cs.sweep([1, 0], [2, 1], [1, 2]), "recall", subject_to="fpr <= 0.1", confidence=0.9
        )


@pytest.mark.parametrize(
    ("weight", "wrong", "rate"), [([1.0, 3.0, 1.0, 2.0, 5.0, 1.0], 1, 0.9), ([2.0, 1.0], 0, 0.7)]
)
def test_most_weight_against_simulated_exponentials(
    weight: list[float], wrong: int, rate: float
) -> None:
    """Gaffke's bound with weights, by drawing the exponential variables of its definition."""
    w = np.array(weight)
    x = np.arange(len(w)) < wrong
    drawn = np.random.default_rng(3).exponential(size=(400_000, len(w) + 1))
    above = np.mean(drawn @ np.append(w * (x - rate), w.max() * (1 - rate)) > 0)
    assert gaffke_p_value(x * 1.0, np.ones(len(w)), rate, w / w.max()) == pytest.approx(
        above, abs=3e-3
    )
    for error, allowed in ((above + 0.01, True), (above - 0.01, False)):
        most = most_weight(w, w**2, rate, error)
        assert (most >= w[:wrong].sum()) == allowed


def test_most_weight_of_equal_weights_counts_rows() -> None:
    for n, rate, error in product((1, 40, 300), (0.01, 0.1, 0.5), (0.05, 0.2)):
        w = np.full(n, 0.3)
        k = max_errors(n, rate, error)
        found = [most_weight(w, w**2, rate, error)]
        w[-1] *= 1 - 1e-7  # all but equal: the general way, which knows no rows
        found.append(most_weight(w, w**2, rate, error))
        assert found == pytest.approx([0.3 * k if k >= 0 else -1.0] * 2, abs=1e-6)


MEANS = np.array([[2, 0.5], [0, -1.5]])


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "goal"), [("fpr <= 0.1", "recall"), ("recall >= 0.7", "fpr")])
def test_weighted_limits_are_broken_at_most_as_often_as_promised(limit: str, goal: str) -> None:
    """Two strata of very different scores, of which one holds most cases and half of the rows."""
    rng, broken, ignored, draws = np.random.default_rng(2), 0, 0, 150
    share = np.array([1, 5]) / 6
    for _ in range(draws):
        y, second = rng.random((2, 400)) < 0.5
        score = rng.standard_normal(400) + 2 * y - 1.5 * second
        asked: dict[str, Any] = {"subject_to": limit, "confidence": 0.8}
        weighted = cs.sweep(y, score, np.where(second, 5.0, 1.0), squares=True)
        for k, s in enumerate((weighted, cs.sweep(y, score))):
            t = cs.choose(s, goal, **asked).threshold
            tpr, fpr = (float(share @ ndtr(mean - t)) for mean in MEANS)
            bad = fpr > 0.1 if limit.startswith("fpr") else tpr < 0.7
            broken, ignored = broken + (bad and k == 0), ignored + (bad and k == 1)
    assert broken / draws <= 0.2 + 3 * (0.2 * 0.8 / draws) ** 0.5
    if limit.startswith("recall"):
        assert ignored / draws > 0.5  # the weights matter here


@pytest.mark.parametrize("limit", ["flagged_rate <= 0.2", "flagged <= 600", "flagged_rate >= 0.4"])
def test_equal_weights_flag_what_rows_without_weights_do(limit: str) -> None:
    rng = np.random.default_rng(9)
    y = rng.random(3000) < 0.3
    score = np.round(rng.normal(size=3000) + y, 2)
    goal = "fpr" if ">" in limit else "recall"
    plain = cs.choose(cs.sweep(y, score), goal, subject_to=limit, confidence=0.9)
    one = cs.sweep(y, score, np.ones(3000), squares=True)
    assert cs.choose(one, goal, subject_to=limit, confidence=0.9).threshold == plain.threshold


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


# ------------------------------------------------------------------------------------------- units


@given(st.integers(1, 400), st.data(), st.floats(0.01, 0.99))
def test_shares_of_nought_and_one_are_binomial(n: int, data: st.DataObject, rate: float) -> None:
    k = data.draw(st.integers(0, n))
    found = gaffke_p_value(np.array([0.0, 1.0]), np.array([n - k, k]), rate)
    assert found == pytest.approx(scipy.stats.binom.cdf(k, n, rate), rel=1e-9, abs=1e-12)


def test_other_shares_by_simulation() -> None:
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(400_000, 13))
    for spread, rate in ((0.2, 0.15), (0.6, 0.4), (0.05, 0.1)):
        share = np.round(spread * rng.random(6), 3)
        a = np.append(np.repeat(share, 2), 1.0) - rate
        drawn = np.mean(weights @ a > 0)
        assert gaffke_p_value(share, np.full(6, 2), rate) == pytest.approx(drawn, abs=0.004)


def test_a_share_at_the_limit_is_no_evidence() -> None:
    share, times = np.array([0.0, 0.3]), np.array([20, 7])
    alone = gaffke_p_value(share[:1], times[:1], 0.3)
    assert gaffke_p_value(share, times, 0.3) == pytest.approx(alone, rel=1e-12)


LIMITS = ("fpr <= 0.1", "recall >= 0.7", "flagged_rate <= 0.3", "flagged_rate >= 0.2")


@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("limit", LIMITS)
def test_units_of_one_row_are_rows(limit: str, digits: int) -> None:
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.3
    score = np.round(rng.normal(size=500) + y, digits)
    s, u = cs.sweep(y, score), cs.units(y, score, [f"row {i}" for i in range(500)])
    asked: Any = {"objective": "balanced", "subject_to": limit, "confidence": 0.9}
    rows, units = cs.choose(s, **asked), cs.choose(s, **asked, units=u)
    assert (rows.threshold, rows.feasible) == (units.threshold, units.feasible)


@pytest.mark.parametrize("limit", LIMITS)
def test_copies_of_rows_say_nothing_new(limit: str) -> None:
    """A unit of equal rows counts as one row, however many they are."""
    rng = np.random.default_rng(4)
    y, times = rng.random(300) < 0.3, rng.integers(1, 6, 300)
    score = rng.normal(size=300) + y
    goal = "recall" if "<" in limit else "specificity"  # to the last cut that is allowed
    asked: Any = {"objective": goal, "subject_to": limit, "confidence": 0.9}
    alone = cs.choose(cs.sweep(y, score), **asked)
    y, score, unit = (np.repeat(x, times) for x in (y, score, np.arange(300)))
    copied = cs.choose(cs.sweep(y, score), **asked, units=cs.units(y, score, unit))
    assert (copied.threshold, copied.feasible) == (alone.threshold, True)
    assert copied.status[0].value == pytest.approx(alone.status[0].value)


def test_most_of_units_by_force() -> None:
    """Every cut is tried, with the mean of units by the beta distribution where there is one."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        unit = rng.integers(40, size=150)
        score = np.round(rng.normal(size=150) + rng.normal(size=40)[unit], 1)
        u = cs.units(rng.random(150) < 0.5, score, unit)
        for positive, flagged in ((False, True), (True, False), (None, True), (None, False)):
            some = np.ones(150, np.bool_) if positive is None else u.positive == positive
            score_of, unit_of = u.score[some], np.unique(u.unit[some], return_inverse=True)[1]
            best = -1
            for t in (np.inf, *np.unique(score_of)[::-1], -np.inf):
                wrong = score_of >= t if flagged else score_of < t
                share = np.bincount(unit_of, wrong) / np.bincount(unit_of)
                if gaffke_p_value(*np.unique(share, return_counts=True), 0.3) <= 0.1:
                    best = max(best, np.count_nonzero(wrong))
            assert u.most(0.3, 0.1, positive=positive, flagged=flagged) == best
    assert u.most(1.0, 0.1, positive=None, flagged=True) == 150
    assert u.most(0.0, 0.1, positive=None, flagged=True) == -1


def test_what_units_say() -> None:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(30), 10)
    y = rng.random(300) < 0.3
    score = rng.normal(size=300) + y
    s, u = cs.sweep(y, score), cs.units(y, score, unit)
    asked: Any = {"subject_to": "fpr <= 0.05", "confidence": 0.95}
    p = cs.choose(s, "recall", **asked, units=u)
    assert p.threshold > s.threshold[s.neg > 0][0]  # no negative is flagged
    assert "fpr <= 0.05 at 95 % confidence for the mean over 30 clusters: met" in repr(p)
    assert "requires at least 59 clusters with negatives; there are 30" in repr(p)
    assert repr(u) == "30 clusters with 300 rows"
    with finding("counts-rows", cs.UndefinedError, what="stability"):
        p.stability()
    with finding("counts-rows", what="a guarantee for precision"):
        cs.choose(s, "recall", subject_to="precision >= 0.5", confidence=0.9, units=u)
    with finding("bad-argument", parameter="aim"):
        cs.choose(s, cs.Costs(fp=9, fn=9, review=1), units=u)
    with finding("bad-argument", parameter="units"):
        cs.choose(s, "recall", **asked, units=unit)  # type: ignore[arg-type]
    with finding("arguments-conflict", parameters=("units", "s")):
        cs.choose(cs.sweep(y, score + 1), "recall", **asked, units=u)
    heavy = cs.sweep(y, score, np.ones(300), squares=True)
    with finding("counts-rows", cs.UndefinedError):
        cs.choose(heavy, "recall", **asked, units=u)


@pytest.mark.slow
@pytest.mark.parametrize("equal", [True, False])
def test_limits_of_units_are_broken_as_seldom_as_promised(equal: bool) -> None:
    rng = np.random.default_rng(6)
    draws, broken = 400, {"rows": 0, "units": 0}
    for _ in range(draws):
        sizes = np.full(60, 6) if equal else 1 + rng.geometric(0.2, 60)
        unit = np.repeat(np.arange(60), sizes)
        score = rng.normal(size=60)[unit] + 0.3 * rng.normal(size=len(unit))
        y = rng.random(len(unit)) < 0.2
        s, u = cs.sweep(y, score), cs.units(y, score, unit)
        for name, units in (("rows", None), ("units", u)):
            p = cs.choose(s, "recall", subject_to="fpr <= 0.2", confidence=0.9, units=units)
            broken[name] += scipy.stats.norm.sf(p.threshold / 1.09**0.5) > 0.2
    low, high = scipy.stats.binom.ppf((1e-4, 1 - 1e-4), draws, 0.1)
    assert broken["units"] <= high < broken["rows"]
    assert broken["units"] >= low / 2
