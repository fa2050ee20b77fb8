"""Rows compared, resampled and grouped: against fractions, pROC, sweeps and each other."""

from __future__ import annotations

import copy
import csv
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import inf, isnan, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

import cutscore as cs
import oracle
from cutscore.cli import main
from cutscore.comparison.costs import _Gains, _RankedRows
from cutscore.comparison.rows import read_rows
from cutscore.core.findings.base import Shown, Where
from cutscore.core.numbers import number_text
from cutscore.inference.auc import score_interval
from cutscore.inference.placements import auc_variance
from cutscore.inference.selection import select_among
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Costs
from raising import finding
from strategies import scores, weights

Array = NDArray[Any]
Matrix = list[list[Fraction]]


class Pair(NamedTuple):
    """Labels 0/1 and two scores of the same rows."""

    y: Array
    a: Array
    b: Array


@st.composite
def pairs(draw: st.DrawFn, *, least: int = 2, most: int = 24) -> Pair:
    """Rows with many ties and at least `least` of each class."""
    n = draw(st.integers(2 * least, most))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.int64)
    y[: 2 * least] = draw(st.permutations([0, 1] * least))
    return Pair(y, draw(scores(n, np.float64)), draw(scores(n, np.float64)))


def _mean(values: list[Fraction], w: list[Fraction]) -> Fraction:
    return sum((v * x for v, x in zip(values, w, strict=True)), Fraction(0)) / sum(w)


def covariance(y: Any, columns: Any, weight: Any = None) -> Matrix:
    """DeLong's matrix by the definition: every placement is a loop over the other class."""
    w = [Fraction(1)] * len(y) if weight is None else oracle.exactly(weight)
    rows = [i for i in range(len(y)) if w[i] > 0]
    total = [[Fraction(0)] * len(columns) for _ in columns]
    for label in (1, 0):
        own, others = [i for i in rows if y[i] == label], [i for i in rows if y[i] != label]
        u, v = [w[i] for i in own], [w[j] for j in others]
        centred = []
        for s in columns:
            sign = 1 if label == 1 else -1
            placement = [
                _mean([Fraction(1 + int(np.sign(sign * _order(s[i], s[j]))), 2) for j in others], v)
                for i in own
            ]
            centred.append([p - _mean(placement, u) for p in placement])
        scale = sum(u) ** 2 - sum(x * x for x in u)
        for r, x in enumerate(centred):
            for c, z in enumerate(centred):
                total[r][c] += sum(k * k * p * q for k, p, q in zip(u, x, z, strict=True)) / scale
    return total


def _order(a: float, b: float) -> int:
    """The sign of a − b, also of infinities."""
    return int(a > b) - int(a < b)


def close(value: float, exact: Fraction, ulps: int = 16) -> bool:
    """Within a few roundings of numbers no larger than 1."""
    return bool(abs(Fraction(value) - exact) <= ulps * Fraction(1, 2**53))


def normal(n: int = 300, seed: int = 0, decimals: int = 1) -> Pair:
    """Two scores that share half of their noise; the first is better."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    noise = rng.standard_normal((3, n))
    return Pair(
        y,
        (y + noise[0] + noise[1]).round(decimals),
        (0.5 * y + noise[0] + noise[2]).round(decimals),
    )


# ------------------------------------------------------------------------------------------- DeLong


@given(pairs())
def test_covariance(rows: Pair) -> None:
    y, a, b = rows
    ours, exact = cs.auc_covariance(y, [a, b]), covariance(y, [a, b])
    for i, s in enumerate((a, b)):
        assert ours.auc[i] == float(oracle.auc(y, s))
        # The sweep's route: integers, and no row in sight.
        variance = auc_variance(cs.sweep(y, s))
        assert ours.covariance[i, i] == pytest.approx(variance, rel=1e-12, abs=1e-30)
        for j in (0, 1):
            assert ours.covariance[i, j] == float(exact[i][j])  # rounded once
    assert (ours.covariance == ours.covariance.T).all()


@given(st.data(), pairs(), st.sampled_from((1.0, 0.1, 1e300, 2.0**-1060)))
def test_weighted_covariance(data: st.DataObject, rows: Pair, unit: float) -> None:
    y, a, b = rows
    w = data.draw(weights(len(y), exact=True))
    assume(all(np.count_nonzero(w[y == label]) >= 2 for label in (0, 1)))
    ours, exact = cs.auc_covariance(y, [a, b], weight=w * unit), covariance(y, [a, b], w)
    for i, s in enumerate((a, b)):
        assert close(ours.auc[i], oracle.auc(y, s, w))
        for j in (0, 1):
            assert close(ours.covariance[i, j], exact[i][j], 64)


@given(st.data(), pairs(), st.booleans())
def test_compare(data: st.DataObject, rows: Pair, weighted: bool) -> None:
    y, a, b = rows
    w = data.draw(weights(len(y), exact=True)) if weighted else None
    if w is not None:
        assume(all(np.count_nonzero(w[y == label]) >= 2 for label in (0, 1)))
        w = w * 0.1
    exact = covariance(y, [a, b], w)
    variance = exact[0][0] + exact[1][1] - 2 * exact[0][1]
    difference = oracle.auc(y, a, w) - oracle.auc(y, b, w)
    if variance < Fraction(1, 10**30) and abs(difference) > Fraction(1, 10**12):
        with finding("no-variation", cs.UndefinedError):
            cs.compare(y, a, b, weight=w)
        return
    c = cs.compare(y, a, b, weight=w)
    assert (c.statistic, c.method, c.cost_interval) == ("auc", "t", None)
    kept = np.ones(len(y)) if w is None else w
    sizes = [kept[y == k].sum() ** 2 / (kept[y == k] ** 2).sum() for k in (0, 1)]
    assert c.df == pytest.approx(min(sizes) - 1, rel=1e-9)
    if variance < Fraction(1, 10**30):
        assert (c.difference, c.standard_error, c.z, c.p_value) == (0, 0, 0, 1)
        assert tuple(c.interval) == (0, 0)
        return
    z = float(difference) / sqrt(variance)
    assert close(c.a - c.b, difference)
    assert c.difference == c.a - c.b
    assert c.standard_error == pytest.approx(sqrt(variance), rel=1e-10)
    assert c.z == pytest.approx(z, abs=1e-10)
    assert c.p_value == pytest.approx(2 * stats.t.sf(abs(z), c.df), rel=1e-7, abs=1e-300)
    as_printed = cs.compare(y, a, b, weight=w, method="delong")
    assert (as_printed.z, as_printed.method, as_printed.df) == (c.z, "delong", inf)
    p_value = 2 * stats.norm.sf(abs(z))
    assert as_printed.p_value == pytest.approx(p_value, rel=1e-9, abs=1e-300)
    for found, one in ((c, stats.t.ppf(0.975, c.df)), (as_printed, stats.norm.ppf(0.975))):
        reach = one * sqrt(variance)
        ends = max(float(difference) - reach, -1), min(float(difference) + reach, 1)
        assert tuple(found.interval) == pytest.approx(ends, abs=1e-8)


def test_compare_by_hand() -> None:
    # Placements of the positives: 1, 1 and 1, 0; of the negatives: 1, 1 and 1/2, 1/2.
    c = cs.compare([1, 1, 0, 0], [4, 3, 2, 1], [4, 1, 2, 3], level=0.9)
    assert (c.a, c.b, c.difference) == (1, 0.5, 0.5)
    # The differences 0, 1 have the variance 1/2, over 2 rows; 1/2, 1/2 have none.
    assert c.standard_error == sqrt(0.5 / 2)
    assert c.z == 1
    assert c.interval.level == 0.9
    assert (c.interval.low, c.interval.high) == (-1, 1)  # as far as AUCs can differ
    # Student's t of one degree of freedom is Cauchy's: P(|t| >= 1) = 1/2.
    assert (c.df, c.p_value) == (1, pytest.approx(0.5, rel=1e-12))
    by_z = cs.compare([1, 1, 0, 0], [4, 3, 2, 1], [4, 1, 2, 3], level=0.9, method="delong")
    assert by_z.interval.low == pytest.approx(0.5 - stats.norm.ppf(0.95) * 0.5, rel=1e-14)


def test_a_test_without_power_says_so() -> None:
    # Of b, 10 positives: one below all 90 negatives. AUC 0.9, standard error 0.1, and
    # t(9) = 2.262 of those reach beyond 1: not even a perfect score would be better.
    y, b = np.repeat([1, 0], [10, 90]), np.r_[np.full(9, 2), 0, np.ones(90)]
    c = cs.compare(y, np.r_[np.full(9, 2), 1, np.ones(90)], b)
    assert c.powerless
    assert c._facts()["test"].endswith("even that a perfect score is better")
    # A perfect one, with one tie: the test agrees that nothing is shown.
    perfect = cs.compare(y, np.r_[np.full(10, 2), np.ones(89), 2], b)
    assert perfect.powerless
    assert perfect.p_value > 0.05
    # Thirty positives with three such: 0.1 against t(29) = 2.045 of √(0.09/29) = 0.0557: no; but
    # of 300, 0.1 against 1.968 of 0.0173.
    for times, powerless in ((3, True), (30, False)):
        c = cs.compare(np.tile(y, times), np.tile(np.r_[np.full(9, 2), 1, np.ones(90)], times),
                       np.tile(b, times))  # fmt: skip
        assert c.powerless is powerless
        assert ("too little power" in repr(c)) is powerless


ASAH = Path(__file__).parents[2] / "shared/data/asah.csv"


@pytest.mark.skipif(not ASAH.exists(), reason="pROC's data are not ours to ship")
def test_proc() -> None:
    """Values of pROC's own tests: roc.test(r.wfns, r.s100b), var(r.wfns), cov(r.wfns, r.ndka) …"""
    with ASAH.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    y = [row["outcome"] for row in table]
    column = {name: [float(row[name]) for row in table] for name in ("wfns", "s100b", "ndka")}
    near = {"rel": 1e-12}

    c = cs.auc_covariance(y, column, positive="Poor")
    assert c.names == ("wfns", "s100b", "ndka")
    assert c.auc[[0, 2]] == pytest.approx([0.823678861788618, 0.611957994579946], **near)
    assert c.covariance[0, 0] == pytest.approx(0.00146991470882363, **near)
    assert c.covariance[2, 2] == pytest.approx(0.0031908105493913, **near)
    assert c.covariance[0, 1] == pytest.approx(0.00119615567376754, **near)
    assert c.covariance[0, 2] == pytest.approx(-0.000532967856762438, **near)
    assert c.covariance[1, 2] == pytest.approx(-0.000756164938056579, **near)

    for a, b, z, p, interval, t, p_unpaired in (
        (
            *("wfns", "s100b", 2.20898359144091, 0.0271757822291882),
            (0.0104061769564846, 0.174214419249478),
            *(1.43490640926908, 0.152825378808796),
        ),
        (
            *("wfns", "ndka", 2.79777591868904, 0.00514557970691098),
            (0.0634011709339876, 0.3600405634833566),
            *(3.10125096778969, 0.00220950791756457),
        ),
        (
            *("ndka", "s100b", -1.39077002573558, 0.164295175223054),
            (-0.2876917446341914, 0.0488706064228094),
            *(-1.55995743389685, 0.120192832430845),
        ),
    ):
        paired = cs.compare(y, column[a], column[b], positive="Poor", method="delong")
        assert (paired.z, paired.p_value) == pytest.approx((z, p), **near)
        assert tuple(paired.interval) == pytest.approx(interval, **near)
        unpaired = cs.compare_unpaired(
            *(cs.sweep(y, column[name], positive="Poor") for name in (a, b))
        )
        assert (unpaired.z, unpaired.p_value) == pytest.approx((t, p_unpaired), **near)


@given(pairs())
def test_swap(rows: Pair) -> None:
    y, a, b = rows
    try:
        c = cs.compare(y, a, b)
    except cs.UndefinedError:
        with finding("no-variation", cs.UndefinedError):
            cs.compare(y, b, a)
        return
    d = cs.compare(y, b, a)
    assert (d.a, d.b, d.difference, d.z, d.p_value) == (c.b, c.a, -c.difference, -c.z, c.p_value)
    assert tuple(d.interval) == (-c.interval.high, -c.interval.low)


INVARIANCES: tuple[Callable[[Pair], Pair], ...] = (
    lambda p: Pair(p.y, np.exp(p.a), p.b**3),
    lambda p: Pair(p.y[::-1], p.a[::-1], p.b[::-1]),
    lambda p: Pair(1 - p.y, -p.a, -p.b),
    lambda p: Pair(2 * p.y - 1, p.a, p.b),
)


@pytest.mark.parametrize("change", INVARIANCES)
def test_invariances(change: Callable[[Pair], Pair]) -> None:
    rows = normal(200)
    c, d = cs.compare(*rows), cs.compare(*change(rows))
    assert (d.a, d.b) == (c.a, c.b)
    assert (d.standard_error, d.z) == pytest.approx((c.standard_error, c.z), rel=1e-13)


def test_weights_are_repetitions_for_the_values_alone() -> None:
    y, a, b = normal(100)
    twice = cs.compare(*(np.repeat(column, 2) for column in (y, a, b)))
    heavy = cs.compare(y, a, b, weight=np.full(100, 2.0))
    plain = cs.compare(y, a, b)
    assert (twice.a, twice.b) == (heavy.a, heavy.b) == (plain.a, plain.b)
    # Weights say how much a row counts, and not that there are more of it.
    assert heavy.standard_error == pytest.approx(plain.standard_error, rel=1e-14)
    assert twice.standard_error < 0.75 * plain.standard_error
    # A row of weight 0 is as good as absent.
    w = np.arange(100) % 3.0
    some = cs.compare(y, a, b, weight=w)
    kept = cs.compare(y[w > 0], a[w > 0], b[w > 0], weight=w[w > 0])
    assert some == kept


def test_rounding_of_weights_is_no_difference() -> None:
    """Scores that order only the negatives differently add up weights in another order."""
    rng = np.random.default_rng(0)
    y, a = np.repeat([1, 0, 1], 200), np.arange(600.0)
    b = np.concatenate((a[:200], a[200:400][::-1], a[400:]))
    w = rng.exponential(size=600)
    c = cs.compare(y, a, b, weight=w)
    assert (c.z, c.p_value, c.difference) == (0, 1, 0)
    c = cs.compare(y, a, b, weight=w, method="bootstrap", n=50)
    assert (c.z, c.p_value, c.difference) == (0, 1, 0)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.parametrize("other", [[1, 2, 3, 4], [0, 0, 0, 0]])
def test_a_difference_that_never_varies(method: Any, other: list[int]) -> None:
    with finding("no-variation", cs.UndefinedError):
        cs.compare([1, 1, 0, 0], [4, 3, 2, 1], other, method=method, n=20)


# --------------------------------------------------------------------------------------- unpaired t


def test_unpaired_is_welch() -> None:
    first, second = normal(150, seed=1), normal(80, seed=2)
    a, b = cs.sweep(first.y, first.a), cs.sweep(second.y, second.b)
    c = cs.compare_unpaired(a, b, level=0.9)
    v = [
        cs.auc_covariance(p.y, [s]).covariance[0, 0]
        for p, s in ((first, first.a), (second, second.b))
    ]
    df = sum(v) ** 2 / (v[0] ** 2 / 149 + v[1] ** 2 / 79)
    t = (a.auc - b.auc) / sqrt(sum(v))
    assert (c.a, c.b, c.difference) == (a.auc, b.auc, a.auc - b.auc)
    assert (c.df, c.z) == pytest.approx((df, t), rel=1e-12)
    assert c.p_value == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-11)
    reach = stats.t.ppf(0.95, df) * sqrt(sum(v))
    assert tuple(c.interval) == pytest.approx((c.difference - reach, c.difference + reach))
    assert c.method == "unpaired"


def test_unpaired_with_weights() -> None:
    y, a, b = normal(100)
    w = np.random.default_rng(0).exponential(size=100)
    plain = cs.compare_unpaired(cs.sweep(y, a), cs.sweep(y, b))
    equal = [cs.sweep(y, s, np.full(100, 0.1), squares=True) for s in (a, b)]
    c = cs.compare_unpaired(*equal)
    assert (c.z, c.df, c.p_value) == pytest.approx((plain.z, plain.df, plain.p_value), rel=1e-9)
    # The same variances by the other route; and 1/Σw² rows instead of 100.
    some = cs.compare_unpaired(*(cs.sweep(y, s, w, squares=True) for s in (a, b)))
    v = np.diag(cs.auc_covariance(y, [a, b], weight=w).covariance)
    rows = w.sum() ** 2 / (w * w).sum()
    assert some.standard_error == pytest.approx(sqrt(v.sum()), rel=1e-12)
    assert some.df == pytest.approx(v.sum() ** 2 / (v @ v) * (rows - 1), rel=1e-12)
    with finding("squares-missing", cs.UndefinedError):
        cs.compare_unpaired(cs.sweep(y, a, w), cs.sweep(y, b, w))


def test_unpaired_of_perfect_scores() -> None:
    perfect, useless = cs.sweep([1, 1, 0, 0], [2, 2, 1, 1]), cs.sweep([1, 1, 0, 0], [1, 1, 1, 1])
    c = cs.compare_unpaired(perfect, perfect)
    assert (c.z, c.p_value, tuple(c.interval)) == (0, 1, (0, 0))
    with finding("no-variation", what="the difference between a = 1 and b = 0.5"):
        cs.compare_unpaired(perfect, useless)


# ---------------------------------------------------------------------------------------- bootstrap


def test_bootstrap_agrees_with_delong() -> None:
    rows = normal(400)
    delong, boot = cs.compare(*rows), cs.compare(*rows, method="bootstrap", n=1500)
    assert (boot.a, boot.b, boot.difference) == (delong.a, delong.b, delong.difference)
    assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.08)
    assert tuple(boot.interval) == pytest.approx(tuple(delong.interval), abs=0.012)
    assert boot.z == boot.difference / boot.standard_error
    # The p-value inverts the percentile interval: near that of z, but not the same.
    assert boot.p_value == pytest.approx(2 * stats.norm.sf(abs(boot.z)), abs=0.01)
    # Were the scores resampled apart, the error would be that of the unpaired test.
    y, a, b = rows
    apart = cs.compare_unpaired(cs.sweep(y, a), cs.sweep(y, b)).standard_error
    assert boot.standard_error < 0.85 * apart


def test_bootstrap_with_weights_agrees_with_delong() -> None:
    y, a, b = normal(400, seed=3)
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 400)
    delong = cs.compare(y, a, b, weight=w)
    boot = cs.compare(y, a, b, weight=w, method="bootstrap", n=1500)
    assert (boot.a, boot.b) == (delong.a, delong.b)
    assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.08)
    assert delong.standard_error > 1.1 * cs.compare(y, a, b).standard_error


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_samples_are_sweeps_of_drawn_rows(weighted: bool, clustered: bool) -> None:
    """Each replicate's sweep is one of rows that exist, of one sample for both scores."""
    y, a, b = normal(60)
    w = np.random.default_rng(0).integers(1, 4, 60).astype(float) if weighted else None
    unit = np.arange(60) // 2 if clustered else None
    seen: list[cs.Sweep] = []

    def statistic(s: cs.Sweep) -> float:
        seen.append(s)
        return s.auc

    c = cs.compare(y, a, b, weight=w, unit=unit, method="bootstrap", statistic=statistic, n=50)
    whole, samples = seen[:2], seen[2:]
    differences = [
        first.auc - second.auc for first, second in zip(*[iter(samples)] * 2, strict=True)
    ]
    assert c.standard_error == pytest.approx(np.std(differences, ddof=1), rel=1e-12)
    assert len(samples) == 100
    assert [s.auc for s in whole] == [cs.sweep(y, s, w).auc for s in (a, b)]
    sizes = set()
    for first, second in zip(samples[::2], samples[1::2], strict=True):
        assert (first.P, first.N) == (second.P, second.N)
        sizes.add((first.P, first.N))
        for s, score in ((first, a), (second, b)):
            assert (np.diff(s.threshold) < 0).all()
            assert (s.pos + s.neg > 0).all()
            assert s.weighted == weighted
            at = np.isin(s.threshold, score[y == 1])
            assert (s.pos[~at] == 0).all()
            assert s.at(-inf).total == first.P + first.N
    if not weighted:
        assert {sum(size) for size in sizes} == {60}
        assert (len(sizes) == 1) == (not clustered)  # units bring their classes along


def test_bootstrap_rows() -> None:
    y, score, _ = normal(300)
    boot = cs.bootstrap_rows(y, score, cs.auc, n=1000)
    assert boot.estimate == cs.sweep(y, score).auc
    assert len(boot.replicates) == 1000
    error = cs.auc_covariance(y, [score]).standard_error[0]
    assert boot.standard_error == pytest.approx(error, rel=0.1)
    low, high = np.quantile(boot.replicates, [0.025, 0.975])
    assert tuple(boot.interval) == pytest.approx((low, high), rel=1e-14)
    assert cs.bootstrap_rows(y, score, cs.auc, n=1000, level=0.5).interval.width < high - low
    same, other = (cs.bootstrap_rows(y, score, cs.auc, n=10, seed=seed) for seed in (0, 1))
    assert (same.replicates == boot.replicates[:10]).all()
    assert (same.replicates != other.replicates).any()


def test_zeros_have_one_sign() -> None:
    signs = set()

    def statistic(s: cs.Sweep) -> float:
        signs.update(np.signbit(s.threshold).tolist())
        return s.auc

    cs.bootstrap_rows([1, 0], [-0.0, 0.0], statistic, n=2)
    assert signs == {False}


def test_units_of_one_row_are_rows() -> None:
    y, score, _ = normal(300)
    rows = cs.bootstrap_rows(y, score, cs.auc, n=1000)
    units = cs.bootstrap_rows(y, score, cs.auc, unit=np.arange(300)[::-1], n=1000)
    assert units.standard_error == pytest.approx(rows.standard_error, rel=0.1)


def test_copies_in_a_unit_add_nothing() -> None:
    y, a, b = normal(100)
    four = [np.repeat(column, 4) for column in (y, a, b)]
    unit = np.repeat([f"patient {i}" for i in range(100)], 4)
    once = cs.bootstrap_rows(y, a, cs.auc, unit=range(100), n=500)
    copied = cs.bootstrap_rows(*four[:2], cs.auc, unit=unit, n=500)
    assert (copied.replicates == once.replicates).all()  # the same units are drawn
    naive = cs.bootstrap_rows(*four[:2], cs.auc, n=500)
    assert naive.standard_error < 0.6 * copied.standard_error
    paired = cs.compare(*four, unit=unit, method="bootstrap", n=500)
    naive_pair = cs.compare(*four, method="bootstrap", n=500)
    assert naive_pair.interval.width < 0.6 * paired.interval.width


def test_delong_of_units_that_are_rows_is_delong() -> None:
    y, a, b = normal(300)
    w = np.random.default_rng(2).random(300)
    for weight in (None, w):
        plain = cs.auc_covariance(y, [a, b], weight=weight)
        units = cs.auc_covariance(y, [a, b], weight=weight, unit=np.arange(300)[::-1])
        assert_allclose(units.covariance, plain.covariance, rtol=1e-12)
    rows, units = cs.compare(y, a, b), cs.compare(y, a, b, unit=range(300))
    assert units.standard_error == pytest.approx(rows.standard_error, rel=1e-12)
    assert units.df == rows.df == min(np.bincount(y)) - 1
    (alone,) = cs.auc_covariance(y, [a]).intervals(level=0.9)
    assert tuple(alone) == pytest.approx(tuple(cs.auc_interval(cs.sweep(y, a), level=0.9)))


def test_delong_of_copies_in_a_unit_is_that_of_one() -> None:
    y, a, b = normal(100)
    four = [np.repeat(column, 4) for column in (y, a, b)]
    unit = np.repeat([f"patient {i}" for i in range(100)], 4)
    once = cs.auc_covariance(y, [a, b])
    copied = cs.auc_covariance(four[0], four[1:], unit=unit)
    assert_allclose(copied.covariance, once.covariance, rtol=1e-12)
    for one, other in zip(copied.intervals(), once.intervals(), strict=True):
        assert tuple(one) == pytest.approx(tuple(other), rel=1e-9)
    of_units, plain = cs.compare(*four, unit=unit), cs.compare(y, a, b)
    assert of_units.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert (of_units.method, of_units.df) == ("units", plain.df)


def test_delong_of_units_by_the_formula_itself() -> None:
    """Obuchowski 1997, (3) to (6), with sums over pairs."""
    rng = np.random.default_rng(5)
    unit = rng.integers(12, size=60)
    y = rng.random(60) < 0.4
    score = np.round(rng.normal(size=60) + y + 0.5 * unit / 12, 1)
    M, N = int(y.sum()), int((~y).sum())
    win = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
    auc = win.mean()
    groups = np.unique(unit)
    x = [(win.mean(1) - auc)[unit[y] == g].sum() for g in groups]
    z = [(win.mean(0) - auc)[unit[~y] == g].sum() for g in groups]
    with_one, with_zero, both = len(set(unit[y])), len(set(unit[~y])), len(groups)
    # The published factors count units; ours count their rows, as they may differ in size.
    m, n = (np.unique(unit[own], return_counts=True)[1] for own in (y, ~y))
    eff = [k.sum() ** 2 / (k * k).sum() for k in (m, n)]
    assert eff[0] <= with_one
    assert eff[1] <= with_zero
    factor = [e / (e - 1) for e in eff]
    want = factor[0] * np.square(x).sum() / M**2 + factor[1] * np.square(z).sum() / N**2
    want += 2 * both / (both - 1) * np.dot(x, z) / (M * N)
    found = cs.auc_covariance(y, [score], unit=unit)
    assert found.covariance[0, 0] == pytest.approx(want, rel=1e-12)
    assert found.sizes == pytest.approx(eff, rel=1e-12)
    assert found.rows == (M, N)
    alone = cs.auc_variance(cs.sweep(y, score))
    assert found.design[0] == pytest.approx(max(1, want / alone), rel=1e-9)
    pos, neg = (max(u, k / found.design[0]) for u, k in zip(eff, (M, N), strict=True))
    (span,) = found.intervals(level=0.9)
    assert span == score_interval(float(found.auc[0]), found.covariance[0, 0], pos, neg, 0.9,
                                  fewer=min(eff))  # fmt: skip
    assert cs.auc_covariance(y, [y * 1.0], unit=unit).intervals()[0].high == 1


def test_units_of_which_nothing_varies() -> None:
    y, score = [1, 1, 0, 0], [4, 3, 2, 1]
    (span,) = cs.auc_covariance(y, [score], unit=[1, 2, 3, 4]).intervals()
    assert tuple(span) == pytest.approx(tuple(cs.auc_interval(cs.sweep(y, score))))
    twice = cs.auc_covariance(y * 2, [score * 2], unit=[1, 2, 3, 4] * 2)
    assert twice.sizes == (2, 2)
    assert tuple(twice.intervals()[0]) == pytest.approx(tuple(span))


def test_a_unit_without_weight_is_absent() -> None:
    y, score, _ = normal(40)
    w, unit = np.repeat([0.0, 1.0], 20), np.arange(40) // 2
    some = cs.bootstrap_rows(y, score, cs.auc, weight=w, unit=unit, n=20)
    kept = cs.bootstrap_rows(y[20:], score[20:], cs.auc, weight=w[20:], unit=unit[20:], n=20)
    assert (some.replicates == kept.replicates).all()


def test_samples_that_lack_a_class_are_drawn_again() -> None:
    # Half of all samples of these two units would.
    boot = cs.bootstrap_rows([1, 0, 0], [3, 2, 1], lambda s: s.P, unit=["a", "b", "b"], n=50)
    assert (boot.replicates == 1).all()


# -------------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("prior", [None, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_costs_are_those_of_choose(prior: float | None, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    for trial in range(60):
        y = rng.random(40) < 0.4
        y[:2] = True, False
        score = np.round(rng.normal(size=40) + y, trial % 3)
        score[rng.random(40) < 0.1] = np.inf if trial % 5 == 0 else 1.0
        w = rng.integers(1, 4, 40) / 2 if weighted else None
        costs = Costs(1, 3) if trial % 2 else Costs(2, 5, tp=1, tn=0.5)
        rows = read_rows(y, {"score": score}, w, None)
        gains = _Gains(np.ones(40) if w is None else rows.weight, rows, costs, prior)
        ranked = _RankedRows(rows.scores[0], rows)
        cost, cut = ranked.lowest_cost(gains)
        point = cs.choose(cs.sweep(y, score, w), costs, prior=prior)
        assert cost == pytest.approx(point.value, rel=1e-12, abs=1e-12)
        assert ranked.at(cut, gains) == pytest.approx(cost, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("prior", [None, 0.01])
@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_costs_by_hand(prior: float | None, units: bool, weighted: bool) -> None:
    """The recipe written down with sweeps, on the same samples."""
    y, a, b = normal(120)
    n, costs = len(y), Costs(fp=1, fn=5)
    w = np.where(y == 1, 1.0, 2.5) if weighted else np.ones(n)
    unit = np.arange(n) // 3 if units else np.arange(n)
    asked: Any = {"weight": w if weighted else None, "unit": unit if units else None}
    c = cs.compare(y, a, b, costs=costs, prior=prior, seed=3, **asked)

    def cost(s: cs.Sweep, t: float) -> float:
        at = s.at(t)
        p = s.prevalence if prior is None else prior
        return float(5 * p * at.fnr + (1 - p) * at.fpr)

    rng, inside, away = np.random.default_rng(3), [], []
    for _ in range(200):
        count = int(unit.max()) + 1
        times = np.bincount(rng.integers(count, size=count), minlength=count)[unit]
        pair = []
        for x in (a, b):
            drawn = cs.sweep(y, x, w * times)
            p = cs.choose(drawn, costs, prior=prior)
            lowest = drawn.threshold[p.cut - 1] if p.cut else np.inf
            pair.append((p.value, cost(cs.sweep(y, x, w), lowest) - p.value))
        inside.append([value for value, _ in pair])
        away.append([off for _, off in pair])
    expected = np.mean(inside, axis=0) + 1.5 * np.mean(away, axis=0)
    middle = expected[0] - expected[1]
    # Each by itself is what choices on folds come to.
    points = [
        cs.choose(cs.sweep(y, x, asked["weight"], squares=weighted), costs, prior=prior)
        for x in (a, b)
    ]
    if units:
        more: Any = {"weight": asked["weight"], "unit": unit}
        alone = [select_among(y == 1, [x], Aim(costs, prior=prior), **more) for x in (a, b)]
        points = [replace(p, among=one) for p, one in zip(points, alone, strict=True)]
    assert [c.cost_a, c.cost_b] == [p.expected.value for p in points if p.expected is not None]
    assert c.cost_a is not None
    assert c.cost_b is not None
    assert c.cost_difference == c.cost_a - c.cost_b
    added = np.mean(away, axis=0)
    spread = [np.std(np.subtract(*np.transpose(x)), ddof=1) for x in (inside, away)]
    error = np.hypot(np.mean(spread), 0.75 * (added[0] - added[1]))
    seen = [np.bincount(unit[y == k], w[y == k]) for k in (0, 1)]
    df = min(m.sum() ** 2 / np.sum(m**2) for m in seen) - 1
    half = stats.t.ppf(0.975, df) * error
    ends = min(middle - half, c.cost_difference), max(middle + half, c.cost_difference)
    assert c.cost_interval is not None
    assert tuple(c.cost_interval) == pytest.approx(ends, rel=1e-9)
    plain = cs.compare(y, a, b, **asked)
    assert (plain.cost_difference, plain.interval, plain.z) == (None, c.interval, c.z)


def test_the_same_score_costs_the_same() -> None:
    y, a, _ = normal(80)
    c = cs.compare(y, a, 2 * a + 1, method="bootstrap", costs=Costs(1, 5), n=40)
    assert (c.cost_difference, c.cost_interval) == (0.0, cs.Interval(0.0, 0.0, 0.95))


@pytest.mark.slow
def test_a_rule_is_no_worse_than_its_score() -> None:
    """An optimal rule of yes or no was found worse than a score in every fifth draw."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        y = rng.random(400) < 0.1
        common, own, other = rng.standard_normal((3, 400))
        score, rule = common + own + 2.12 * y, common + other + 2.12 * y >= 0.5
        c = cs.compare(y, score, rule, costs=Costs(1, 20))
        assert c.cost_interval is not None
        found.append(c.cost_interval.low > 0 or c.cost_interval.high < 0)
    assert np.mean(found) < 0.12


@pytest.mark.parametrize("options", [{"costs": Costs(fp=1, fn=2)}, {"method": "bootstrap"}])
def test_progress(options: Any) -> None:
    y, a, b = normal(60)
    told: list[tuple[float, str]] = []
    c = cs.compare(y, a, b, n=200, report=lambda *what: told.append(what), **options)
    done = [share for share, _ in told]
    assert done == sorted(done)
    assert (done[-1], told[-1][1]) == (1.0, "200 of 200 samples")
    assert 100 <= len(told) <= 300
    assert c == cs.compare(y, a, b, n=200, **options)


@pytest.mark.parametrize("quiet", [False, True])
def test_command_tells_progress(
    quiet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    y, a, b = normal(60)
    pd.DataFrame({"y": y, "a": a, "b": b}).to_csv(tmp_path / "t.csv", index=False)
    told: list[str] = []

    @contextmanager
    def bar(label: str, wanted: bool) -> Iterator[Any]:
        yield (lambda _, note: told.append(f"{label} {note}")) if wanted else None

    monkeypatch.setattr("cutscore.cli.compare.progress", bar)
    words = ["compare", str(tmp_path / "t.csv"), "--label=y", "--score=a", "--score=b"]
    assert main([*words, "--cost", "fp=1,fn=5", *["--quiet"] * quiet]) == 0
    assert told[-1:] == ([] if quiet else ["comparing 200 of 200 samples"])
    c = cs.compare(y, a, b, costs=Costs(fp=1, fn=5))
    out = capsys.readouterr().out
    assert out.startswith(f"AUC: a {c.a:.3f}, b {c.b:.3f}: ")
    assert f"cost per 1,000 cases: a {1000 * c.cost_a:.0f}, b {1000 * c.cost_b:.0f}: " in out


# ------------------------------------------------------------------------------------------- groups


class Grouped(NamedTuple):
    y: Array
    score: Array
    group: Array


@st.composite
def grouped(draw: st.DrawFn) -> Grouped:
    n = draw(st.integers(0, 40))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.int64)
    group = np.array(draw(st.lists(st.integers(-2, 5), min_size=n, max_size=n)), np.int64)
    return Grouped(y, draw(scores(n, np.float64)), group)


def check_groups(rows: Grouped, w: Array | None = None) -> None:
    """by_group against one sweep for each group, and its sums against fractions."""
    y, score, group = rows
    g = cs.by_group(y, score, group, weight=w)
    present = group if w is None else group[w > 0]
    assert g.group.tolist() == list(dict.fromkeys(present.tolist()))
    aucs, wins, all_pairs, mass = [], Fraction(0), Fraction(0), []
    for i, label in enumerate(g.group):
        at = group == label
        s = cs.sweep(y[at], score[at], None if w is None else w[at])
        assert (g.P[i], g.N[i]) == pytest.approx((s.P, s.N), rel=0 if w is None else 1e-14)
        if not (s.P > 0 and s.N > 0):
            assert isnan(g.auc[i])
            continue
        exact = oracle.auc(y[at], score[at], None if w is None else w[at])
        if w is None:
            assert g.auc[i] == s.auc == float(exact)
        assert close(g.auc[i], exact)
        aucs.append(exact)
        mass.append(Fraction(s.P) + Fraction(s.N))
        wins += exact * Fraction(s.P) * Fraction(s.N)
        all_pairs += Fraction(s.P) * Fraction(s.N)
    if not aucs:
        for summary in ("pooled", "weighted", "macro"):
            with finding("too-few", cs.UndefinedError, have=0):
                getattr(g, summary)
        return
    assert close(g.pooled, wins / all_pairs)
    assert close(g.weighted, sum(a * m for a, m in zip(aucs, mass, strict=True)) / sum(mass))
    assert close(g.macro, sum(aucs, Fraction(0)) / len(aucs))
    assert close(g.covered, sum(mass) / sum(map(Fraction, (g.P + g.N).tolist())))


@given(grouped())
def test_by_group(rows: Grouped) -> None:
    check_groups(rows)
    g = cs.by_group(*rows)
    assert g.P.dtype == g.N.dtype == np.int64


@given(st.data(), grouped())
def test_by_group_with_weights(data: st.DataObject, rows: Grouped) -> None:
    check_groups(rows, data.draw(weights(len(rows.y))))


@pytest.mark.slow
def test_by_group_of_a_thousand() -> None:
    rng = np.random.default_rng(0)
    rows = Grouped(
        rng.integers(0, 2, 6000), rng.standard_normal(6000).round(1), rng.integers(0, 999, 6000)
    )
    check_groups(rows)
    check_groups(rows, rng.exponential(size=6000))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_whole_numbers_as_groups(dtype: Any) -> None:
    """A table of them, or sorted where they are far apart: the same groups in the same order."""
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    y, score = rng.integers(0, 2, 400), rng.standard_normal(400).round(1)
    for values in ([info.min, info.min + 3, 7], [info.max, info.max - 1], [info.min, info.max]):
        group = np.array(values, dtype)[rng.integers(0, len(values), 400)]
        found, as_text = cs.by_group(y, score, group), cs.by_group(y, score, group.astype(str))
        assert found.group.dtype == dtype
        assert found.group.astype(str).tolist() == as_text.group.tolist()
        for of in ("P", "N", "auc"):
            assert getattr(found, of).tolist() == getattr(as_text, of).tolist()


def test_one_group_is_a_sweep() -> None:
    y, score, _ = normal(100)
    g = cs.by_group(y, score, np.zeros(100))
    auc = cs.sweep(y, score).auc
    assert (g.pooled, g.weighted, g.macro, g.covered) == (auc, auc, auc, 1)


AVERAGES = ("weighted", "pooled", "macro")


def many_groups(seed: int, groups: int = 12) -> tuple[Array, Array, Array, Array]:
    """Labels, two scores that vary together, and groups of many sizes, the last of one class."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rng.integers(6, 30, groups))
    y = (rng.random(len(group)) < 0.4).astype(np.int64)
    y[group == groups - 1] = 0
    common, *own = rng.standard_normal((3, len(y)))
    a, b = (common + 0.5 * noise + gap * y for noise, gap in zip(own, (1.0, 0.6), strict=True))
    return y, a, b, group


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_interval_of_groups_is_that_of_leaving_out_their_rows(average: str, weighted: bool) -> None:
    y, a, _, group = many_groups(1)
    w = np.random.default_rng(2).exponential(size=len(y)) if weighted else None
    g = cs.by_group(y, a, group, weight=w)
    left = []
    for k in range(11):
        rest = group != k
        part = cs.by_group(y[rest], a[rest], group[rest], weight=None if w is None else w[rest])
        left.append(getattr(part, average))
    whole = getattr(g, average)
    error = sqrt(10 / 11 * np.sum(np.square(np.array(left) - whole)))
    mass = {"weighted": g.P + g.N, "pooled": g.P * g.N, "macro": np.ones(12)}[average][:11]
    df = mass.sum() ** 2 / np.sum(np.square(mass)) - 1
    low, high = g.interval(average, level=0.8)
    reach = stats.t.ppf(0.9, df) * error
    assert (low, high) == pytest.approx((whole - reach, whole + reach), rel=1e-10)
    assert g.interval(average, level=0.8).level == 0.8


def test_equal_groups_have_the_t_test() -> None:
    """The plain mean of groups: Student's interval, and his test of pairs."""
    y, a, b, group = many_groups(3)
    first, second = (cs.by_group(y, score, group) for score in (a, b))
    values = [g.auc[~np.isnan(g.auc)] for g in (first, second)]
    expected = stats.ttest_1samp(values[0], 0.5).confidence_interval(0.9)
    assert tuple(first.interval("macro", level=0.9)) == pytest.approx(tuple(expected), rel=1e-12)
    c = cs.compare_groups(first, second, average="macro", level=0.9)
    paired = stats.ttest_rel(*values)
    assert (c.z, c.p_value, c.df) == pytest.approx((paired.statistic, paired.pvalue, 10), rel=1e-10)
    assert tuple(c.interval) == pytest.approx(tuple(paired.confidence_interval(0.9)), rel=1e-10)
    assert (c.a, c.b, c.method) == (first.macro, second.macro, "groups")


@pytest.mark.parametrize("average", AVERAGES)
def test_comparison_of_groups(average: str) -> None:
    y, a, b, group = many_groups(4, groups=80)
    first, second = (cs.by_group(y, score, group) for score in (a, b))
    c = cs.compare_groups(first, second, average=average)
    assert c.difference == getattr(first, average) - getattr(second, average)
    back = cs.compare_groups(second, first, average=average)
    assert (back.difference, back.z, back.p_value) == (-c.difference, -c.z, c.p_value)
    assert tuple(back.interval) == (-c.interval.high, -c.interval.low)
    # Scores that vary together: surer than if they were of different groups.
    apart = np.hypot(first.interval(average).width, second.interval(average).width)
    assert c.interval.width < 0.8 * apart
    assert repr(c).startswith(f"{average} auc: a {c.a:.3f}, b {c.b:.3f}: a is better (Δ 0.")
    assert repr(c).endswith(f"paired by group, t({c.df:.4g}) = {number_text(c.z)}")
    same = cs.compare_groups(first, first, average=average)
    assert (same.z, same.p_value) == (0, 1)


def test_copies_of_rows_tell_nothing_new_inside_groups() -> None:
    y, a, _, group = many_groups(5)
    once = cs.by_group(y, a, group).interval()
    copied = cs.by_group(*(np.tile(column, 3) for column in (y, a, group))).interval()
    assert tuple(copied) == pytest.approx(tuple(once), rel=1e-12)
    heavy = cs.by_group(y, a, group, weight=np.full(len(y), 1e-200)).interval("pooled")
    assert tuple(heavy) == pytest.approx(
        tuple(cs.by_group(y, a, group).interval("pooled")), rel=1e-12
    )


def test_intervals_of_groups_cover() -> None:
    """250 studies of 40 groups; the page Validation has more of them."""
    rng = np.random.default_rng(6)
    hits = np.zeros(3)
    for _ in range(250):
        group = np.repeat(np.arange(40), rng.integers(5, 40, 40))
        y = rng.random(len(group)) < 0.3
        s = rng.standard_normal(len(group)) + y  # the same AUC inside of all
        g = cs.by_group(y, s, group)
        hits += [stats.norm.cdf(1 / sqrt(2)) in g.interval(average) for average in AVERAGES]
    assert (np.abs(hits / 250 - 0.95) < 0.04).all()


def test_intervals_of_each_group() -> None:
    rng = np.random.default_rng(3)
    user, y = rng.integers(0, 20, 400), rng.random(400) < 0.2
    score = rng.normal(size=400) + y
    found = cs.by_group(y, score, user).intervals(level=0.9)
    sweeps = cs.sweeps_by_group(y, score, user)
    for k, s in enumerate(sweeps.values()):
        if s.P and s.N:
            expected = cs.auc_interval(s, level=0.9, method="newcombe")
            assert (found.low[k], found.high[k]) == (expected.low, expected.high)
        else:
            assert np.isnan(found.low[k])
            assert np.isnan(found.high[k])
    weighted = cs.by_group(y, score, user, weight=np.ones(400))
    with finding("counts-rows"):
        weighted.intervals()


def test_groups_of_several_values() -> None:
    y, score = [1, 0, 0, 1, 0], [0.9, 0.3, 0.2, 0.4, 0.6]
    g = cs.by_group(y, score, [("a", 1), ("a", 1), ("a", 2), ("b", 2), ("b", 2)])
    assert g.group.tolist() == [("a", 1), ("a", 2), ("b", 2)]
    with finding("value-missing"):
        cs.by_group(y, score, [("a", 1), ("a", None), ("a", 2), ("b", 2), ("b", 2)])


def test_groups_that_tell_nothing() -> None:
    one = cs.by_group([1, 0, 1], [1, 2, 3], ["a", "a", "b"])
    with finding("too-few", cs.UndefinedError, need=2, have=1.0):
        one.interval()
    with finding("too-few", need=2, of="groups with both classes"):
        cs.compare_groups(one, one)
    none = cs.by_group([1, 1], [1, 2], ["a", "b"])
    with finding("too-few", need=1):
        none.interval()
    lopsided = cs.by_group(
        [1, 0, 1, 0], [1, 2, 4, 3], ["a", "a", "b", "b"], weight=[1e9, 1e9, 1, 1]
    )
    with finding("too-few", need=2) as few:
        lopsided.interval()
    assert few.value.finding.have == pytest.approx(1, abs=1e-6)
    perfect = cs.by_group([1, 0, 1, 0], [2, 1, 4, 3], ["a", "a", "b", "b"])
    with finding("no-variation", over="over 2 groups"):
        perfect.interval()
    awful = cs.by_group([1, 0, 1, 0], [1, 2, 3, 4], ["a", "a", "b", "b"])
    with finding("no-variation", over="over these rows"):
        cs.compare_groups(perfect, awful)


def test_groups_that_are_others() -> None:
    y, a, b, group = many_groups(7)
    g = cs.by_group(y, a, group)
    with finding("bad-argument", parameter="average", value="mean"):
        g.interval("mean")
    with finding("bad-argument", parameter="level"):
        g.interval(level=95)
    with finding("bad-argument", parameter="b"):
        cs.compare_groups(g, cs.sweep(y, b))  # type: ignore[arg-type]
    for other in (cs.by_group(y, b, -group), cs.by_group(1 - y, b, group), cs.by_group([], [], [])):
        with finding("arguments-conflict", parameters=("a", "b")):
            cs.compare_groups(g, other)


TEXT = ["b", "a", "b", "a", "c", "b"]


@pytest.mark.parametrize(
    "column",
    [
        TEXT,
        np.array(TEXT),
        np.array(TEXT, "S1"),
        np.array(TEXT, object),
        np.array([2, 1, 2, 1, 3, 2], "u1"),
        np.array([0.5, -inf, 0.5, -inf, inf, 0.5]),
        np.array(["2024", "2023", "2024", "2023", "2025", "2024"], "M8[D]"),
        [("b", 1), ("a", 1), ("b", 1), ("a", 1), ("c", 1), ("b", 1)],
        pd.Series(TEXT),
        pd.Series(TEXT, dtype="category"),
        pd.Series([2, 1, 2, 1, 3, 2], dtype="Int64"),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series([2, 1, 2, 1, 3, 2]),
    ],
    ids=str,
)
def test_columns_of_groups(column: Any) -> None:
    if isinstance(column, list) and isinstance(column[0], tuple):
        whole = np.empty(len(column), object)
        whole[:] = column
        column = whole
    y, score = [1, 1, 0, 0, 1, 0], [5, 2, 5, 3, 1, 4]
    g = cs.by_group(y, score, column)
    assert len(g) == 3
    assert g.P.tolist() == [1, 1, 1]
    assert g.N.tolist() == [2, 1, 0]
    assert g.auc.tolist()[:2] == [0.75, 0]
    assert isnan(g.auc[2])
    assert g.group.tolist() == list(dict.fromkeys(np.asarray(column).tolist()))
    boot = cs.bootstrap_rows(y, score, cs.auc, unit=column, n=5)
    plain = cs.bootstrap_rows(y, score, cs.auc, unit=TEXT, n=5)
    assert (boot.replicates == plain.replicates).all()


def test_a_group_without_weight_is_absent() -> None:
    w = [0, 1, 0, 1, 1, 2]
    g = cs.by_group([1, 1, 0, 0, 1, 0], [5, 2, 5, 3, 1, 4], list("babacb"), weight=w)
    assert g.group.tolist() == ["a", "c", "b"]
    assert (g.P.tolist(), g.N.tolist()) == ([1, 1, 0], [1, 0, 2])


def test_perfect_groups_are_not_more_than_perfect() -> None:
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 20_000), rng.integers(0, 1000, 20_000)
    g = cs.by_group(y, y + rng.random(20_000), group, weight=rng.exponential(size=20_000))
    both = (g.P > 0) & (g.N > 0)
    assert g.auc[both].max() == 1
    assert g.auc[both].min() > 1 - 1e-15


def test_no_rows_in_no_groups() -> None:
    g = cs.by_group([], [], [])
    assert len(g) == 0
    with finding("too-few", have=0):
        _ = g.covered
    assert cs.by_group([1, 1], [2, 1], ["a", "b"]).covered == 0


# ------------------------------------------------------------------------------ how results present


def test_words() -> None:
    y, a, b = normal(300)
    c = cs.compare(y, a, b, costs=cs.Costs(fp=1, fn=2), n=20)
    flipped = cs.compare(y, b, a)
    assert repr(c).startswith(
        f"a {c.a:.3f}, b {c.b:.3f}: a is better (Δ {c.difference:.3f}, 95 % CI"
    )
    assert repr(flipped).startswith(f"a {c.b:.3f}, b {c.a:.3f}: b is better (Δ −")
    test = f"paired DeLong, t({c.df:g}) = {number_text(c.z)}"
    assert f"\n{test}\nexpected cost per case: a 0." in repr(c)
    assert "a costs less (Δ −0." in repr(c)
    same = "no significant difference (Δ 0.000, 95 % CI 0.000 to 0.000, p = 1)"
    assert f"{same}\npaired DeLong, t({c.df:g}) = 0" in repr(cs.compare(y, a, a))
    named = cs.compare(y, a, b, names=("new", "old"), alternative="greater")
    assert named.hypothesis == "new is better than old"
    assert f": shown that {named.hypothesis} (Δ 0." in named.text
    assert "95 % lower bound 0." in named.text
    for one, other in ((a, b), (b, a)):
        for less, chance in ((1e-6, False), (-1e-6, True)):  # the interval just reaches 0 or not
            said = repr(cs.compare(y, one, other, level=1 - c.p_value * (1 + less)))
            assert ("no significant difference" in said) is chance
    unpaired = cs.compare_unpaired(cs.sweep(y, a), cs.sweep(y, b))
    assert f"Welch's test, t({unpaired.df:.4g}) = " in repr(unpaired)
    boot = cs.compare(y, a, b, method="bootstrap", statistic=lambda s: -s.auc, n=50)
    assert repr(boot).startswith("<lambda>: a −0.")
    assert "b is higher (Δ −0." in repr(boot)
    assert "&lt;lambda&gt;" in boot._repr_html_()
    for text in ("a is better", "cost per case", "a costs less"):
        assert text in c._repr_html_()


def test_words_of_several() -> None:
    y, a, b = normal(100)
    c = cs.auc_covariance(y, {"<old>": a, "new": b})
    assert repr(c).startswith(f"AUC ± standard error: <old> {c.auc[0]:.4f} ± ")
    assert "&lt;old&gt;" in c._repr_html_()
    g = cs.by_group(y, a, y, weight=np.ones(100))
    assert repr(g) == "GroupAuc of 2 groups: 0 have both classes, no AUC"
    g = cs.by_group(y, a, np.arange(100) % 3, weight=np.full(100, 0.5))
    assert "3 have both classes (100 % of weight 50), AUC" in repr(g)
    assert f"{g.macro:.6g}" in g._repr_html_()


def test_frozen() -> None:
    y, a, b = normal(50)
    covariance, groups = cs.auc_covariance(y, [a, b]), cs.by_group(y, a, np.arange(50) % 4)
    for array in (covariance.auc, covariance.covariance, groups.P, groups.auc, groups.group):
        assert not array.flags.writeable
    for again in (pickle.loads(pickle.dumps(groups)), copy.deepcopy(groups)):
        assert repr(again) == repr(groups)
        assert not again.auc.flags.writeable
    c = cs.compare(y, a, b)
    assert pickle.loads(pickle.dumps(c)) == c


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_scores_by_name(make: Callable[..., Any]) -> None:
    y, a, b = normal(50)
    c, plain = cs.auc_covariance(y, make({"a": a, "b": b})), cs.auc_covariance(y, [a, b])
    assert c.names == ("a", "b")
    assert plain.names == (0, 1)
    assert (c.covariance == plain.covariance).all()
    assert (cs.auc_covariance(y, np.column_stack([a, b])).covariance == c.covariance).all()


# ---------------------------------------------------------------------------------------- bad input


def _compare(y: Any, a: Any, b: Any, **more: Any) -> Any:
    return cs.compare(y, a, b, **{"n": 10, **more})


Y, A, B = [1, 1, 0, 0], [4, 2, 3, 1], [1, 2, 3, 4]


def of_argument(parameter: str, **more: Any) -> dict[str, Any]:
    return {"code": "bad-argument", "parameter": parameter, **more}


def missing(row: int) -> dict[str, Any]:
    return {"code": "value-missing", "what": "group", "where": Where(row, "group")}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (
            lambda: _compare(Y, [1, nan, 3, 4], B),
            {"code": "value-missing", "where": Where(1, "score", part="score_a")},
        ),
        (
            lambda: _compare(Y, A, [1, 2, 3, nan]),
            {"code": "value-missing", "where": Where(3, "score", part="score_b")},
        ),
        (
            lambda: _compare(Y, A, [1, 2, 3]),
            {"code": "lengths-differ", "have": 4, "need": 3, "where": Where(part="score_b")},
        ),
        (lambda: _compare([1, 2, 1, 2], A, B), {"code": "positive-unstated"}),
        (
            lambda: _compare(["y", "n", "n", "y"], A, B, positive="x"),
            {"code": "positive-unknown", "positive": "x"},
        ),
        (lambda: _compare(Y, A, B, weight=[1, 1, 1, -1]), {"code": "bad-weight"}),
        (lambda: _compare(Y, A, B, weight=[1e308] * 4), {"code": "sum-too-large"}),
        (lambda: _compare(Y, A, B, level=1), of_argument("level", value=1)),
        (lambda: _compare(Y, A, B, level="x"), of_argument("level", value="x")),
        (lambda: cs.bootstrap_rows(Y, A, cs.auc, level=0), of_argument("level", value=0)),
        (
            lambda: cs.compare_unpaired(cs.sweep(Y, A), cs.sweep(Y, B), level=nan),
            of_argument("level"),
        ),
        (lambda: _compare(Y, A, B, method="z"), of_argument("method", value="z")),
        (
            lambda: _compare(Y, A, B, statistic=cs.gini),
            {"code": "arguments-conflict", "parameters": ("method", "statistic")},
        ),
        (lambda: _compare(Y, A, B, statistic="ap"), of_argument("statistic", value="ap")),
        (lambda: _compare(Y, A, B, method="bootstrap", n=1), of_argument("n", value=1)),
        (lambda: _compare(Y, A, B, method="bootstrap", n=2.5), of_argument("n", value=2.5)),
        (
            lambda: _compare(Y, A, B, prior=0.1),
            {"code": "arguments-conflict", "parameters": ("prior", "costs")},
        ),
        (lambda: _compare(Y, A, B, unit=[1, 2]), {"code": "lengths-differ", "name": "unit"}),
        (
            lambda: _compare(Y, A, B, method="bootstrap", seed=-1),
            of_argument("seed", value=-1),
        ),
        (
            lambda: cs.bootstrap_rows(Y, [1, 2, nan, 3], cs.auc),
            {"code": "value-missing", "where": Where(2, "score")},
        ),
        (
            lambda: cs.by_group(Y, A, [1, 2]),
            {"code": "lengths-differ", "name": "group", "have": 2, "need": 4},
        ),
        (lambda: cs.by_group(Y, A, "user"), {"code": "bad-argument", "value": "user"}),
        (
            lambda: cs.by_group(Y, A, np.zeros((4, 1))),
            {"code": "bad-argument", "value": Shown("shape (4, 1)")},
        ),
        (lambda: cs.by_group(Y, A, [1, nan, 2, 3]), missing(1)),
        (lambda: cs.by_group(Y, A, ["a", None, "b", "b"]), missing(1)),
        (lambda: cs.by_group(Y, A, np.array(["a", nan, "b", "b"], object)), missing(1)),
        (lambda: cs.by_group(Y, A, pd.Series(["a", "b", "b", None])), missing(3)),
        (lambda: cs.by_group(Y, A, pl.Series([1, 2, None, 2])), missing(2)),
        (
            lambda: cs.by_group(Y, A, np.array(["2024", "NaT", "2024", "2025"], "M8[D]")),
            missing(1),
        ),
        (lambda: cs.by_group(Y, A, np.array([{}, 1, 2, 3], object)), of_argument("group")),
        (lambda: cs.auc_covariance(Y, []), of_argument("scores")),
        (lambda: cs.auc_covariance(Y, np.zeros(4)), of_argument("scores")),
        (
            lambda: cs.auc_covariance(Y, {"x": A, "z": [1, 2, 3, nan]}),
            {"code": "value-missing", "where": Where(3, "score", part="z")},
        ),
    ],
)
def test_bad_input(call: Callable[[], Any], found: dict[str, Any]) -> None:
    with finding(**{"error": cs.DataError, **found}):
        call()


@pytest.mark.parametrize(
    ("call", "of"),
    [
        (lambda: _compare([1, 0, 0], [3, 2, 1], [1, 2, 3]), "positive rows"),
        (lambda: _compare([1, 1, 0], [3, 2, 1], [1, 2, 3]), "negative rows"),
        (lambda: _compare(Y, A, B, weight=[1, 1e-12, 1, 1]), "positive rows"),
        (lambda: _compare(Y, A, B, weight=[1, 0, 1, 1]), "positive rows"),
    ],
)
def test_too_few_rows(call: Callable[[], Any], of: str) -> None:
    with finding("too-few", cs.UndefinedError, need=2, of=of) as few:
        call()
    assert few.value.finding.have == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: _compare([1, 1], [1, 2], [2, 1]), "one-class"),
        (lambda: _compare([], [], []), "too-few"),
        (lambda: _compare([0], [1], [2], method="bootstrap"), "one-class"),
        (lambda: cs.bootstrap_rows([1], [1], cs.auc), "one-class"),
        (lambda: cs.auc_covariance([1, 1], [[1, 2]]), "one-class"),
        (lambda: cs.bootstrap_rows(Y, A, lambda s: s.at(inf).precision, n=10), "undefined"),
    ],
)
def test_undefined(call: Callable[[], Any], code: str) -> None:
    with finding(code, cs.UndefinedError):
        call()
