"""Intervals: against definitions in fractions, pROC's figures, SciPy's and plain resampling."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.special
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.core import _native
from cutscore.inference.auc import score_interval
from cutscore.inference.bootstrap import Sampler, _acceleration
from cutscore.inference.rates import clopper_pearson, wilson
from raising import finding
from strategies import Case, rows, weights

ASAH = Path(__file__).parents[2] / "shared" / "data" / "asah.csv"


def placements(case: Case) -> tuple[list[Fraction], list[Fraction]]:
    """Of every row, the share of the other class that it is on the right side of."""
    ones, zeros = case.score[case.y == 1].tolist(), case.score[case.y == 0].tolist()

    def right(a: float, b: float) -> Fraction:
        return Fraction(2 * (a > b) + (a == b), 2)

    of_pos = [sum((right(a, b) for b in zeros), Fraction(0)) / len(zeros) for a in ones]
    of_neg = [sum((right(a, b) for a in ones), Fraction(0)) / len(ones) for b in zeros]
    return of_pos, of_neg


def variance(values: list[Fraction]) -> Fraction:
    n, mean = len(values), sum(values, Fraction(0)) / len(values)
    return sum(((v - mean) ** 2 for v in values), Fraction(0)) / (n - 1)


@given(rows(both=True, least=4))
def test_delong_variance(case: Case) -> None:
    assume(2 <= case.y.sum() <= len(case.y) - 2)
    of_pos, of_neg = placements(case)
    exact = variance(of_pos) / len(of_pos) + variance(of_neg) / len(of_neg)
    s = cs.sweep(*case)
    assert cs.auc_variance(s) == float(exact)
    # The same by floats, which sweeps of weights take; and with every row twice as heavy.
    for w in (1.0, 2.0):
        heavy = cs.sweep(*case, np.full(len(case.y), w), squares=True)
        assert cs.auc_variance(heavy) == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


def test_delong_variance_of_weights() -> None:
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 2, 200), rng.exponential(size=200)
    score = (rng.standard_normal(200) + y).round(1)
    s = cs.sweep(y, score, w, squares=True)
    v = np.array(
        [
            sum(w[y != c] * ((2 * c - 1) * (x - score[y != c]) > 0))
            + 0.5 * sum(w[y != c] * (x == score[y != c]))
            for x, c in zip(score, y, strict=True)
        ]
    )
    expected = 0.0
    for c in (0, 1):
        own, other = y == c, y != c
        placed = v[own] / w[other].sum()
        n = w[own].sum() ** 2 / (w[own] ** 2).sum()
        expected += (w[own] ** 2 * (placed - s.auc) ** 2).sum() / w[own].sum() ** 2 * n / (n - 1)
    assert cs.auc_variance(s) == pytest.approx(expected, rel=1e-12)
    halves = cs.sweep(y[:90], score[:90], w[:90], squares=True)
    halves += cs.sweep(y[90:], score[90:], w[90:], squares=True)
    assert cs.auc_variance(halves) == pytest.approx(expected, rel=1e-12)


@given(rows(both=True), st.data())
def test_squares(case: Case, data: st.DataObject) -> None:
    w = data.draw(weights(len(case.y)))
    if w.max() > 1e100 or (0 < w[w > 0].min(initial=1.0) < 1e-150):
        with finding("bad-argument", cs.DataError, parameter="weight"):
            cs.sweep(*case, w, squares=True)
        return
    s = cs.sweep(*case, w, squares=True)
    assert s.pos2 is not None
    assert s.neg2 is not None
    for k, threshold in enumerate(s.threshold):
        here = case.score == threshold
        for mass, cls in ((s.pos2, 1), (s.neg2, 0)):
            assert mass[k] == pytest.approx((w[here & (case.y == cls)] ** 2).sum(), rel=1e-14)
    plain = cs.sweep(*case, w)
    assert plain.pos2 is None
    assert (s + plain).pos2 is None
    merged = s + cs.sweep(*case)  # rows without weights weigh 1, and so do their squares
    assert merged.pos2 is not None
    assert merged.pos2.sum() == pytest.approx(s.pos2.sum() + case.y.sum())
    compact = s.compact()
    assert compact.pos2 is not None
    assert compact.pos2.sum() == pytest.approx(s.pos2.sum())


def test_large_counts_take_the_float_route() -> None:
    # P (2N)² leaves 128 bits: counts as floats, and the same number.
    rng = np.random.default_rng(0)
    pos, neg = rng.integers(1, 2**40, 200), rng.integers(1, 2**40, 200)
    s = cs.Sweep.from_counts(np.arange(200), pos, neg)
    small = cs.Sweep.from_counts(np.arange(200), pos // 2**30, neg // 2**30)
    ratio = s.P / small.P
    assert cs.auc_variance(s) * ratio == pytest.approx(cs.auc_variance(small), rel=1e-2)


@pytest.mark.skipif(not ASAH.exists(), reason="pROC's data are not ours to ship")
def test_figures_of_proc() -> None:
    with ASAH.open() as file:
        table = list(csv.DictReader(file))
    poor = [row["outcome"] == "Poor" for row in table]
    wfns, ndka = (cs.sweep(poor, [float(row[c]) for row in table]) for c in ("wfns", "ndka"))
    assert (wfns.P, wfns.N) == (41, 72)
    assert wfns.auc == pytest.approx(0.823678861788618, abs=5e-16)
    assert ndka.auc == pytest.approx(0.611957994579946, abs=5e-16)
    assert cs.auc_variance(wfns) == pytest.approx(0.00146991470882363, abs=5e-18)
    assert cs.auc_variance(ndka) == pytest.approx(0.0031908105493913, abs=5e-17)
    low, high = cs.auc_interval(ndka, method="delong")
    assert low == pytest.approx(0.501244999271703, abs=5e-16)
    assert high == pytest.approx(0.722670989888189, abs=5e-16)


def binormal(n: int, share: float = 0.3, distance: float = 1.0, seed: int = 0) -> cs.Sweep:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return cs.sweep(y, rng.standard_normal(n) + distance * y)


def test_auc_intervals() -> None:
    s = binormal(400)
    plain, score, logit, newcombe, percentile, bca = (
        cs.auc_interval(s, method=m)
        for m in ("delong", "score", "logit", "newcombe", "bootstrap", "bca")
    )
    half = scipy.stats.norm.ppf(0.975) * cs.auc_variance(s) ** 0.5
    assert tuple(plain) == pytest.approx((s.auc - half, s.auc + half))
    for other in (score, logit, newcombe, percentile, bca):
        assert s.auc in other
        assert other.level == 0.95
        assert other.low == pytest.approx(plain.low, abs=0.012)
        assert other.high == pytest.approx(plain.high, abs=0.012)
    a = s.auc
    half /= a * (1 - a)
    assert np.log(logit.high / (1 - logit.high)) == pytest.approx(np.log(a / (1 - a)) + half)
    assert cs.auc_interval(s, level=0.5).width < score.width < cs.auc_interval(s, level=0.99).width
    assert cs.auc_interval(s) == cs.interval(s, "auc") == score
    assert cs.interval(s, "auc", method="logit") == logit


def test_perfect_separation_is_not_certainty() -> None:
    for n in (3, 30):
        s = cs.sweep([1] * n + [0] * n, [1.0] * n + [0.0] * n)
        for method in ("score", "delong", "logit", "newcombe"):
            interval = cs.auc_interval(s, method=method)
            assert interval.high == 1.0
            assert interval.low < 1 - 0.5 / n
    tied = cs.auc_interval(cs.sweep([1, 0] * 10, [0.0] * 20))
    assert tied.low < 0.4
    assert tied.high > 0.6


def test_perfect_separation_of_weights_is_not_certainty() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = rng.integers(2, 6)
        w = rng.random(2 * n) + 0.01
        s = cs.sweep([1] * n + [0] * n, np.arange(2 * n)[::-1], w, squares=True)
        for method in ("delong", "logit"):
            assert cs.auc_interval(s, method=method) == cs.auc_interval(s)


@cache
def both_beyond(auc: float) -> float:
    """Chance that two positives are above one negative, both normal, by quadrature."""
    shift = float(scipy.special.ndtri(auc))

    def density(z: float) -> float:
        above = math.erfc(z / 2**0.5 - shift) / 2
        return math.exp(-z * z / 2) / (2 * math.pi) ** 0.5 * above**2

    return float(scipy.integrate.quad(density, -12, 12, epsabs=1e-13, epsrel=1e-13, limit=200)[0])


def normal_variance(auc: float, pos: float, neg: float) -> float:
    """Of the AUC of two normal distributions of equal spread, without Owen's T."""
    shared = both_beyond(auc) - auc**2
    return (auc * (1 - auc) + (pos + neg - 2) * shared) / (pos * neg)


def score_ends(s: cs.Sweep, level: float = 0.95) -> tuple[float, float]:
    """The default interval from its definition, with another root finder."""
    a, z = s.auc, scipy.stats.norm.ppf((1 + level) / 2)
    pos2, neg2 = (s.pos, s.neg) if s.pos2 is None else (s.pos2, s.neg2)
    pos, neg = s.P**2 / np.sum(pos2), s.N**2 / np.sum(neg2)
    fewer = min(pos, neg)
    wanted = cs.auc_variance(s) * (1 + fewer**-0.5)
    least, largest = normal_variance(a, pos, neg), a * (1 - a) / fewer
    share = np.clip((wanted - least) / (largest - least), 0, 1)

    def beyond(x: float) -> float:
        v = (1 - share) * normal_variance(x, pos, neg) + share * x * (1 - x) / fewer
        return float((x - a) ** 2 - z * z * v)

    low, high = ((1e-12, a), (a, 1 - 1e-12))
    return tuple(scipy.optimize.brentq(beyond, *ends, xtol=1e-14) for ends in (low, high))


@pytest.mark.parametrize(
    ("pos", "neg", "distance", "spread"),
    [(10, 200, 1, 1), (10, 200, 1, 4), (300, 300, 1, 1), (50, 20, 0.3, 0.3), (4, 4, 0.5, 1)],
)
def test_score_interval_by_quadrature(pos: int, neg: int, distance: float, spread: float) -> None:
    rng = np.random.default_rng(pos)
    y = np.repeat([1, 0], [pos, neg])
    score = np.where(y, distance + spread * rng.normal(size=pos + neg), rng.normal(size=pos + neg))
    for s in (
        cs.sweep(y, score),
        cs.sweep(y, np.round(score)),
        cs.sweep(y, score, rng.random(pos + neg) + 0.1, squares=True),
    ):
        for level in (0.8, 0.95):
            found = cs.auc_interval(s, level=level)
            assert tuple(found) == pytest.approx(score_ends(s, level), abs=1e-9)


def test_score_interval_of_ten_values_by_hand() -> None:
    # 5 + 5 rows, perfectly separated: the lower end t has 1 − t = z √v₀(t).
    low = cs.auc_interval(cs.sweep([1] * 5 + [0] * 5, range(10, 0, -1))).low
    assert 1 - low == pytest.approx(1.959964 * normal_variance(low, 5, 5) ** 0.5, rel=1e-6)
    # At ½, Owen's T(0, 1/√3) is 1/12: v₀ = (1/4 + 8/12) / 25 for five and five.
    assert normal_variance(0.5, 5, 5) == pytest.approx((1 / 4 + 8 / 12) / 25)
    # One positive has no variance that could be estimated: it is the largest, θ(1 − θ).
    # (1 − θ)² = z² θ(1 − θ), θ = 1 / (1 + z²).
    assert cs.auc_interval(cs.sweep([1, 0, 0], [3, 2, 1])).low == pytest.approx(0.206549, abs=1e-6)
    assert cs.auc_interval(cs.sweep([1, 0], [3, 2])).low == pytest.approx(0.206549, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("pos", "neg", "a"), [(2, 3, 0.5), (10, 2000, 0.99), (500, 20, 0.6)])
def test_score_interval_is_all_that_is_not_rejected(
    pos: int, neg: int, a: float, share: float
) -> None:
    """Bisection finds the whole set, which is one piece."""
    fewer = min(pos, neg)

    def variance(t: float) -> float:
        return (1 - share) * normal_variance(t, pos, neg) + share * t * (1 - t) / fewer

    found = score_interval(a, variance(a) / (1 + fewer**-0.5), pos, neg, 0.95)
    z = scipy.stats.norm.ppf(0.975)
    for t in np.linspace(0.0005, 0.9995, 400).tolist():
        assert (abs(t - a) < z * variance(t) ** 0.5) == (found.low < t < found.high)


def test_score_interval_turned_round_and_scaled() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(120) < 0.2
    score, w = rng.normal(size=120) + y, rng.random(120) + 0.1
    low, high = cs.auc_interval(cs.sweep(y, score, w, squares=True))
    # The other class is positive: AUC 1 − θ of N and P. And scores turned round: 1 − θ of P and N.
    for other in (cs.sweep(~y, score, w, squares=True), cs.sweep(y, -score, w, squares=True)):
        assert tuple(cs.auc_interval(other)) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    # Only shares of weights count; equal weights are none.
    scaled = cs.auc_interval(cs.sweep(y, score, 7 * w, squares=True))
    assert tuple(scaled) == pytest.approx((low, high), abs=1e-12)
    equal = cs.auc_interval(cs.sweep(y, score, np.full(120, 3.0), squares=True))
    assert tuple(equal) == pytest.approx(tuple(cs.auc_interval(cs.sweep(y, score))), abs=1e-12)
    # Twice the rows say more.
    twice = cs.auc_interval(cs.sweep(np.tile(y, 2), np.tile(score, 2)))
    assert twice.width < 0.75 * cs.auc_interval(cs.sweep(y, score)).width


def test_score_interval_rises_with_the_auc_and_narrows_with_rows() -> None:
    ends = []
    for right in range(11):  # that many of the ten positives above all negatives
        s = cs.Sweep.from_counts([3, 2, 1], pos=[right, 0, 10 - right], neg=[0, 90, 0])
        ends.append(tuple(cs.auc_interval(s)))
    assert (np.diff(ends, axis=0) >= 0).all()
    widths = [cs.auc_interval(cs.sweep([1] * n + [0] * n, range(2 * n, 0, -1))).width
              for n in (1, 2, 5, 20, 100, 1000)]  # fmt: skip
    assert (np.diff(widths) < 0).all()


def test_newcombe_solves_its_equation() -> None:
    s = binormal(100)
    z = scipy.stats.norm.ppf(0.975)
    for end in cs.auc_interval(s, method="newcombe"):
        others = (s.P + s.N) / 2 - 1
        spread = end * (1 - end) * (1 + others * ((1 - end) / (2 - end) + end / (1 + end)))
        assert abs(end - s.auc) == pytest.approx(z * (spread / (s.P * s.N)) ** 0.5, rel=1e-9)


# -------------------------------------------------------------------------------------------- rates


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from((0.5, 0.9, 0.95, 0.999)))
def test_shares_as_scipy_has_them(k: int, n: int, level: float) -> None:
    assume(k <= n)
    test = scipy.stats.binomtest(k, n)
    exact, score = (test.proportion_ci(level, method=m) for m in ("exact", "wilson"))
    assert clopper_pearson(k, n, level) == pytest.approx(
        (exact.low, exact.high), rel=1e-9, abs=1e-12
    )
    assert wilson(k, n, level) == pytest.approx((score.low, score.high), rel=1e-9, abs=1e-12)


def test_intervals_of_rates() -> None:
    s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    p = cs.choose(s, "f1")
    for name, k, n in (
        ("recall", 17, 20),
        ("fnr", 3, 20),
        ("fpr", 41, 9980),
        ("specificity", 9939, 9980),
        ("precision", 17, 58),
        ("flagged_rate", 58, 10_000),
    ):
        assert tuple(cs.interval(s, name, at=p)) == wilson(k, n, 0.95)
        assert tuple(
            cs.interval(s, name, at=0.9, level=0.8, method="clopper-pearson")
        ) == clopper_pearson(k, n, 0.8)
    # Any other measure: as the two rates and the share of positives may be, by Jeffreys'
    # distribution of each.
    rng = np.random.default_rng(1)
    P = 10_000 * rng.beta(20.5, 9980.5, 100_000)
    tp, fp = P * rng.beta(17.5, 3.5, 100_000), (10_000 - P) * rng.beta(41.5, 9939.5, 100_000)
    for name, values in (
        ("f1", 2 * tp / (tp + fp + P)),
        ("youden", tp / P - fp / (10_000 - P)),
        (cs.Costs(fp=1, fn=20), (fp + 20 * (P - tp)) / 10_000),
        (lambda tp, fp, fn, tn: tp - fp + 0 * (fn + tn), tp - fp),
    ):
        low, high = np.quantile(values, (0.025, 0.975))
        mine = cs.interval(s, name, at=p)
        assert (mine.low, mine.high) == pytest.approx((low, high), abs=0.05 * (high - low) + 1e-9)
    # The share of positives is known where it was given.
    nothing = [cs.interval(s, cs.Costs(1, 1), at=2, prior=prior) for prior in (None, 0.002)]
    assert nothing[0].low < 0.0015
    assert nothing[0].high > 0.0027
    assert nothing[1].width < 0.5 * nothing[0].width
    # At another prior the precision is no share of counted rows.
    there = cs.interval(s, "precision", at=p, prior=0.5)
    assert 17 / 20 / (17 / 20 + 41 / 9980) in there
    assert cs.interval(s, "recall", at=p, prior=0.5) == cs.interval(s, "recall", at=p)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("at", "flags"), [(-np.inf, 1.0), (np.inf, 0.0)])
def test_flagging_all_or_nothing_is_certain(at: float, flags: float, weighted: bool) -> None:
    """On any rows, so the rates have no interval; what depends on the share of positives has."""
    y, score = np.repeat([1, 0], (20, 80)), np.arange(100.0)
    s = cs.sweep(y, score, np.full(100, 3.0), squares=True) if weighted else cs.sweep(y, score)
    rates = dict.fromkeys(("recall", "fpr", "flagged_rate"), flags)
    rates |= dict.fromkeys(("fnr", "specificity"), 1 - flags)
    for name, value in rates.items():
        for options in ({}, {"prior": 0.3}, {"method": "clopper-pearson"}):
            if options != {"prior": 0.3} or name != "flagged_rate":
                assert cs.interval(s, name, at=at, **options) == cs.Interval(value, value, 0.95)
    assert tuple(cs.interval(s, "flagged_rate", at=at, prior=0.3)) == pytest.approx((flags, flags))
    assert tuple(cs.interval(s, "youden", at=at)) == (0.0, 0.0)
    share = "precision" if flags else "npv"
    assert cs.interval(s, share, at=at).width > 0.1
    cost, known = (cs.interval(s, cs.Costs(1, 5), at=at, prior=p) for p in (None, 0.3))
    # 5 × the share of positives where nothing is flagged, 1 − that share where all is.
    jeffreys = scipy.stats.beta.ppf((0.025, 0.975), 20.5, 80.5)
    ends = 1 - jeffreys[::-1] if flags else 5 * jeffreys
    assert tuple(cost) == pytest.approx(tuple(ends), rel=0.02)
    assert tuple(known) == pytest.approx((0.7, 0.7) if flags else (1.5, 1.5))
    # At a threshold below all scores seen, others may come.
    assert cs.interval(s, "recall", at=-1).width > 0.1
    trivial = cs.choose(s, cs.Costs(fp=0, fn=1) if flags else cs.Costs(fp=1, fn=0.001))
    assert trivial.threshold == at
    recall = trivial.expect("recall")
    assert recall is not None
    assert (recall.low, recall.high) == (flags, flags)
    assert repr(recall) == f"{flags:.2f}"


def test_infinite_scores_are_not_certain_to_be_none() -> None:
    """A threshold of +inf flags scores of +inf."""
    s = cs.sweep([1, 1, 0, 0], [np.inf, 1, np.inf, 0])
    assert cs.interval(s, "recall", at=np.inf).width > 0.1
    only = cs.interval(cs.sweep([1] * 9, range(9)), cs.Costs(1, 1), at=-np.inf)
    assert only.low == 0
    assert only.high > 0.1, "that all rows are positive is not certain"


def test_intervals_of_likelihood_ratios() -> None:
    """Simel, Samsa & Matchar's, on the logarithm, from the four counts."""
    s = cs.Sweep.from_counts([1, 0], pos=[90, 10], neg=[40, 160])
    z = float(scipy.stats.norm.ppf(0.975))
    for name, ratio, a, b in (("lr_positive", 4.5, 90, 40), ("lr_negative", 0.125, 10, 160)):
        half = z * math.sqrt(1 / a - 1 / 100 + 1 / b - 1 / 200)
        both = ratio * math.exp(-half), ratio * math.exp(half)
        assert tuple(cs.interval(s, name, at=1)) == pytest.approx(both, rel=1e-12)
        assert cs.interval(s, name, at=1, prior=0.01) == cs.interval(s, name, at=1)
        heavy = cs.sweep([1, 0] * 2, [1, 1, 0, 0], [90.0, 40, 10, 160], squares=True)
        assert cs.interval(heavy, name, at=1).width > 10 * (both[1] - both[0])
    copies = cs.sweep(
        np.repeat([1, 0, 1, 0], [90, 40, 10, 160]),
        np.repeat([1, 1, 0, 0], [90, 40, 10, 160]),
        np.full(300, 7.0),
        squares=True,
    )
    assert tuple(cs.interval(copies, "LR-", at=1)) == pytest.approx(both, rel=1e-12)


def test_likelihood_ratios_of_certain_rates() -> None:
    """A rate of 0 or 1 has no spread to measure: then as the rates may be, by Jeffreys."""
    rng = np.random.default_rng(1)
    tpr, fpr = rng.beta(18.5, 2.5, 100_000), rng.beta(0.5, 30.5, 100_000)
    s = cs.Sweep.from_counts([1, 0], pos=[18, 2], neg=[0, 30])
    low, high = cs.interval(s, "lr_positive", at=1)
    assert low == pytest.approx(np.quantile(tpr / fpr, 0.025), rel=0.05)
    assert high == np.inf
    all_ = cs.Sweep.from_counts([1, 0], pos=[20, 0], neg=[30, 0])
    assert 1.0 in cs.interval(all_, "lr_positive", at=1)
    assert cs.interval(all_, "lr_positive", at=1).width > 0.05
    with finding("undefined", cs.UndefinedError, what="the lr_negative"):
        cs.interval(all_, "lr_negative", at=1)
    light = cs.sweep([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1e-12, 1], squares=True)
    assert cs.interval(light, "lr_positive", at=1).high == np.inf


def test_intervals_of_weighted_rates() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.4
    score = rng.standard_normal(1000) + y
    plain = cs.interval(cs.sweep(y, score), "recall", at=0.5)
    same = cs.interval(cs.sweep(y, score, np.full(1000, 7.0), squares=True), "recall", at=0.5)
    assert tuple(same) == pytest.approx(tuple(plain))
    f1 = cs.interval(cs.sweep(y, score, np.full(1000, 7.0), squares=True), "f1", at=0.5)
    assert tuple(f1) == pytest.approx(
        tuple(cs.interval(cs.sweep(y, score), "f1", at=0.5)), abs=0.01
    )
    uneven = cs.sweep(y, score, rng.exponential(size=1000) ** 3, squares=True)
    assert cs.interval(uneven, "recall", at=0.5).width > 2 * plain.width
    with finding("squares-missing", cs.UndefinedError):
        cs.interval(cs.sweep(y, score, np.ones(1000)), "recall", at=0.5)
    with finding("squares-missing", cs.UndefinedError):
        cs.auc_interval(cs.sweep(y, score, np.ones(1000)))


def test_intervals_of_thinned_negatives() -> None:
    """One negative in ten was kept, and weighs ten: about as sure as a bootstrap of the rows,
    whatever their classes."""
    rng = np.random.default_rng(3)
    y = rng.random(20_000) < 0.02
    keep = y | (rng.random(20_000) < 0.1)
    y = y[keep]
    score, w = rng.standard_normal(len(y)) + 1.2 * y, np.where(y, 1.0, 10.0)
    s = cs.sweep(y, score, w, squares=True)
    for measure in ("precision", "recall", "fpr"):
        boot = cs.bootstrap_rows(
            y,
            score,
            lambda s, m=measure: getattr(s.at(1.0), m),
            weight=w,
            unit=range(len(y)),
            n=500,
        )
        width = cs.interval(s, measure, at=1.0).width
        assert width == pytest.approx(boot.interval.width, rel=0.15), measure


def test_a_part_without_rows_weighs_what_its_class_does() -> None:
    """No false alarm among 20 caught: a single one would have weighed ten."""
    y = np.repeat([1, 0], [40, 100])
    score = np.concatenate((np.repeat([9, 0], 20), np.zeros(100)))
    s = cs.sweep(y, score, np.where(y, 1.0, 10.0), squares=True)
    found = cs.interval(s, "precision", at=5)
    assert tuple(found) == pytest.approx(wilson(2, 2, 0.95))
    none = cs.sweep(1 - y, score, np.where(y, 10.0, 1.0), squares=True)
    assert tuple(cs.interval(none, "precision", at=5)) == pytest.approx(wilson(0, 200, 0.95))


# ---------------------------------------------------------------------------------------- bootstrap


@pytest.mark.parametrize("w", [1.0, 3.0, 0.25])
@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_equal_weights_draw_the_same_samples(w: float, digits: int, method: str) -> None:
    rng = np.random.default_rng(6)
    y = rng.random(300) < 0.3
    score = np.round(rng.standard_normal(300) + y, digits)
    plain, weighted = cs.sweep(y, score), cs.sweep(y, score, np.full(300, w), squares=True)
    for statistic in (cs.auc, cs.average_precision, lambda s: s.at(1.0).recall):
        a, b = (cs.bootstrap(s, statistic, n=50, method=method) for s in (plain, weighted))
        np.testing.assert_allclose(b.replicates, a.replicates, rtol=1e-9)
        assert tuple(b.interval) == pytest.approx(tuple(a.interval), rel=1e-9)
    a, b = (cs.choose(s, "f1").stability(50) for s in (plain, weighted))
    assert a.threshold.tolist() == b.threshold.tolist()
    np.testing.assert_allclose(b.regret, a.regret, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("digits", [0, 9])
def test_average_precision_of_samples(digits: int) -> None:
    """Those of the native core are those of the samples' sweeps."""
    rng = np.random.default_rng(8)
    y = rng.random(3000) < 0.2
    s = cs.sweep(y, np.round(rng.standard_normal(3000) + y, digits))
    b, sampler = cs.bootstrap(s, cs.average_precision, n=20, seed=3), Sampler(s, 3)
    one_by_one = [cs.average_precision(sampler.sample(k)) for k in range(20)]
    np.testing.assert_allclose(b.replicates, one_by_one, rtol=1e-13)
    assert (
        b.replicates.tolist()
        == cs.bootstrap(s, cs.average_precision, n=20, seed=3).replicates.tolist()
    )


@pytest.mark.slow
def test_bootstrap_of_a_weighted_sweep_is_that_of_its_rows() -> None:
    """Where each score has one row, samples have the same distribution as those of the rows; where
    many share one, the standard error of what depends on each class by itself is the same."""
    rng = np.random.default_rng(7)
    y = rng.random(400) < 0.4
    w = rng.exponential(size=400) * np.where(y, 1.0, 4.0)
    for digits, off in ((9, 0.06), (0, 0.08)):
        score = np.round(rng.standard_normal(400) + y, digits)
        s = cs.sweep(y, score, w, squares=True)
        apart = (cs.auc, lambda s: s.at(1.0).recall)
        for statistic in (*apart, *[lambda s: s.at(1.0).precision] * (digits == 9)):
            ours = cs.bootstrap(s, statistic, n=2000)
            rows = cs.bootstrap_rows(y, score, statistic, weight=w, n=2000)
            assert ours.estimate == pytest.approx(rows.estimate, rel=1e-12)
            assert ours.standard_error == pytest.approx(rows.standard_error, rel=off)
            if digits == 9:
                assert scipy.stats.ks_2samp(ours.replicates, rows.replicates).pvalue > 0.001


def test_acceleration_of_weights_is_that_of_leaving_out_rows() -> None:
    """The closed form for the AUC against row after row left out."""
    rng = np.random.default_rng(8)
    y = rng.random(1000) < 0.4
    s = cs.sweep(y, rng.standard_normal(1000) + y, rng.exponential(size=1000), squares=True)
    sampler = Sampler(s, 0)
    left_out = _acceleration(sampler, lambda s: s.auc)
    assert _acceleration(sampler, cs.auc) == pytest.approx(left_out, rel=0.05)


def test_samples_of_weights_keep_their_squares() -> None:
    s = cs.sweep([1, 1, 0, 0], [4, 3, 2, 1], [1, 2, 3, 5], squares=True)
    for k in range(20):
        drawn = Sampler(s, 1).sample(k)
        pos2, neg2 = drawn.squares("this")
        each = dict(zip([4.0, 3.0, 2.0, 1.0], [1, 2, 3, 5], strict=True))
        w = np.array([each[t] for t in drawn.threshold])
        assert (pos2 + neg2).tolist() == (w * (drawn.pos + drawn.neg)).tolist()
        rows = (drawn.pos / w).tolist(), (drawn.neg / w).tolist()
        assert [sum(r) for r in rows] == [2, 2]  # as many of each class as there are


@pytest.mark.parametrize(
    ("n", "digits"),
    [
        *((30, 9), (60, 1), (400, 9), (5000, 9), (6000, 1)),
        pytest.param(70_000, 9, marks=pytest.mark.slow),
    ],
)
def test_samples_are_multinomial(n: int, digits: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    s = cs.sweep(y, np.round(rng.standard_normal(n), digits))
    sampler = Sampler(s, 5)
    assert sampler.by_rows == (digits == 9 or n < 6000)
    drawn = [sampler.sample(k) for k in range(300)]
    for sample in drawn:
        assert (sample.P, sample.N) == (s.P, s.N)
        assert ((sample.pos > 0) | (sample.neg > 0)).all()
        assert np.isin(sample.threshold, s.threshold).all()
    # How often each row is drawn: mean 1, variance 1 − 1/n; and two rows are correlated as −1/n.
    pos = np.zeros((300, len(s)))
    for i, sample in enumerate(drawn):
        pos[i, np.searchsorted(-s.threshold, -sample.threshold)] = sample.pos
    expected = s.pos / s.P
    chi = ((pos.sum(axis=0) - 300 * s.pos) ** 2)[s.pos > 0] / (300 * s.pos[s.pos > 0])
    cells = np.count_nonzero(s.pos)
    assert scipy.stats.chi2.cdf(chi.sum(), cells - 1) < 1 - 1e-6
    assert scipy.stats.chi2.cdf(chi.sum(), cells - 1) > 1e-6
    within = pos.var(axis=0)[s.pos > 0] / (s.P * expected * (1 - expected))[s.pos > 0]
    assert within.mean() == pytest.approx(1, abs=6 * (2 / 300 / cells) ** 0.5 + 0.02)


def test_counts_are_poisson_given_their_sum() -> None:
    # One row in many: its count is binomial(n, 1/n).
    n, draws = 1000, 400
    mass = np.ones(n, np.int64)
    counts = np.concatenate([_native.resample(mass, 1, k) for k in range(draws)])
    seen = np.bincount(counts, minlength=9)[:9]
    expected = scipy.stats.binom.pmf(np.arange(9), n, 1 / n) * n * draws
    tail = expected > 5
    assert (
        scipy.stats.chisquare(
            seen[tail], expected[tail] * seen[tail].sum() / expected[tail].sum()
        ).pvalue
        > 1e-4
    )
    assert all(_native.resample(mass, 1, k).sum() == n for k in range(20))


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_native_areas_are_those_of_the_samples(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(3000) < share
    s = cs.sweep(y, np.round(rng.standard_normal(3000) + y, 3))
    one, many = (np.empty(0),) * 2
    for threads in ("1", "3"):
        monkeypatch.setenv("CUTSCORE_THREADS", threads)
        one, many = many, Sampler(s, 3).areas(40)
    assert one.tolist() == many.tolist()
    small = Sampler(s.compact(), 3)
    assert [small.sample(k).auc for k in range(40)] == many.tolist()


def test_bootstrap_agrees_with_delong_and_with_resampled_rows() -> None:
    s = binormal(2000)
    b = cs.bootstrap(s, n=4000)
    assert b.estimate == s.auc
    assert b.standard_error == pytest.approx(cs.auc_variance(s) ** 0.5, rel=0.05)
    assert abs(b.bias) < 3 * b.standard_error / 4000**0.5
    by_rows = cs.bootstrap_rows(
        np.repeat([1, 0], (s.pos.sum(), s.neg.sum())),
        np.concatenate((np.repeat(s.threshold, s.pos), np.repeat(s.threshold, s.neg))),
        cs.auc,
    )
    assert scipy.stats.ks_2samp(b.replicates, by_rows.replicates).pvalue > 1e-3
    slow = cs.bootstrap(s, lambda x: x.auc, n=300)  # the same samples, one by one
    assert slow.replicates.tolist() == b.replicates[:300].tolist()


def test_streams_are_independent() -> None:
    mass = np.ones(20_000, np.int64)
    counts = [_native.resample(mass, seed, k) for seed in (0, 1) for k in range(6)]
    for i, a in enumerate(counts):
        for b in counts[:i]:
            # Also shifted against each other, as neighbouring states might be.
            for shift in (-4, -2, -1, 0, 1, 2, 4):
                assert abs(np.corrcoef(a, np.roll(b, shift))[0, 1]) < 6 / 20_000**0.5


def test_bca_as_scipy_has_it() -> None:
    s = binormal(120, distance=2.0)
    ones, zeros = np.repeat(s.threshold, s.pos), np.repeat(s.threshold, s.neg)

    def statistic(a: Any, b: Any) -> float:
        return float((np.sign(np.subtract.outer(a, b)).mean() + 1) / 2)

    theirs = scipy.stats.bootstrap(
        (ones, zeros),
        statistic,
        method="BCa",
        n_resamples=4000,
        vectorized=False,
        rng=np.random.default_rng(0),
    ).confidence_interval
    for mine in (
        cs.bootstrap(s, "auc", n=4000, method="bca"),
        cs.bootstrap(s, lambda x: x.auc, n=4000, method="bca"),
    ):
        assert mine.interval.low == pytest.approx(theirs.low, abs=0.006)
        assert mine.interval.high == pytest.approx(theirs.high, abs=0.006)
    assert "4,000 bootstrap samples" in repr(mine)


def test_infinite_statistics() -> None:
    s = binormal(40)
    b = cs.bootstrap(s, lambda x: np.inf if x.auc > 0.8 else x.auc, n=200, method="bca")
    assert np.isnan(b.standard_error)
    assert not np.isnan(b.interval.low)
    one = cs.bootstrap(cs.sweep([1, 1], [2, 1]), cs.average_precision, n=20, method="bca")
    assert tuple(one.interval) == (1.0, 1.0)


def test_seeds() -> None:
    s = binormal(300)
    a, b, c = (cs.bootstrap(s, n=50, seed=seed).replicates.tolist() for seed in (1, 1, 2))
    assert a == b != c
    few = cs.bootstrap(cs.sweep([1, 0], [2, 1]), n=10)
    assert few.replicates.tolist() == [1.0] * 10


# -------------------------------------------------------------------------------------------- band


def test_band() -> None:
    s = binormal(1000)
    band = cs.roc_band(s)
    roc = cs.roc(s)
    low, high = np.interp(roc.fpr, band.fpr, band.low), np.interp(roc.fpr, band.fpr, band.high)
    assert (low <= roc.tpr + 1e-12).all()
    assert (high >= roc.tpr - 1e-12).all()
    assert band.fpr[0] == 0 < band.high[0]
    assert band.fpr[-1] == 1 == band.high[-1]
    assert (np.diff(band.fpr) > 0).all()
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    assert cs.roc_band(s, level=0.5).low.mean() > band.low.mean()
    # Few negatives on a long diagonal, many positives: only interpolation holds the truth.
    tied = cs.roc_band(cs.Sweep.from_counts([2, 1], [190_000, 10_000], [50, 50]))
    truth = np.interp(tied.fpr, [0, 0.5, 1], [0, 0.95, 1])
    assert (tied.low <= truth).all()
    assert (truth <= tied.high).all()
    truth = scipy.stats.norm.cdf(scipy.stats.norm.ppf(band.fpr) + 1.0)
    assert (band.low <= truth).all()
    assert (truth <= band.high).all()


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda s: cs.auc_interval(s, level=95), "level"),
        (lambda s: cs.auc_interval(s, method="wald"), "method"),
        (lambda s: cs.interval(s, "recall"), "at"),
        (lambda s: cs.interval(s, "recall", at="x"), "threshold"),
        (lambda s: cs.interval(s, "recall", at=np.array([1, 2])), "at"),
        (lambda s: cs.interval(s, "recall", at=[1, 2]), "at"),
        (lambda s: cs.interval(s, "LR+", at=1, method="wilson"), "method"),
        (lambda s: cs.interval(s, "recall", at=1, method="exact"), "method"),
        (lambda s: cs.interval(s, "f1", at=1, method="wilson"), "method"),
        (lambda s: cs.interval(s, "f1", at=1, prior=2), "prior"),
        (lambda s: cs.bootstrap(s, 3), "statistic"),
        (lambda s: cs.bootstrap(s, n=1), "n"),
        (lambda s: cs.bootstrap(s, n=True), "n"),
        (lambda s: cs.bootstrap(s, n=10, seed=-1), "seed"),
        (lambda s: cs.bootstrap(s, n=10, method="t"), "method"),
        (lambda s: cs.bootstrap(s, lambda _: "a", n=10), "statistic"),
        (lambda s: cs.roc_band(s, level="x"), "level"),
    ],
)
def test_bad_input(call: Any, parameter: str) -> None:
    with finding("bad-argument", cs.DataError, parameter=parameter):
        call(cs.sweep([1, 1, 0, 0], [4, 2, 3, 1]))


def test_an_interval_of_no_measure() -> None:
    with finding("bad-argument", value="rcall"):
        cs.interval(cs.sweep([1, 1, 0, 0], [4, 2, 3, 1]), "rcall", at=1)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: cs.auc_variance(cs.sweep([1, 0, 0], [3, 2, 1])), "too-few"),
        (lambda: cs.auc_interval(cs.sweep([1, 1], [2, 1])), "one-class"),
        (lambda: cs.interval(cs.sweep([1, 0], [2, 1]), "precision", at=5), "undefined"),
        (lambda: cs.interval(cs.sweep([0, 0], [2, 1]), "f1", at=5), "undefined"),
        (lambda: cs.bootstrap(cs.sweep([1, 0], [2, 1], [1, 2])), "squares-missing"),
        (lambda: cs.bootstrap(cs.sweep([], [])), "too-few"),
        (lambda: cs.bootstrap(cs.sweep([1, 0], [2, 1]), lambda _: np.nan, n=5), "undefined"),
        (lambda: cs.roc_band(cs.sweep([1], [1])), "one-class"),
    ],
)
def test_undefined(call: Any, code: str) -> None:
    with finding(code, cs.UndefinedError):
        call()


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: cs.choose(s, "f1"),
        cs.auc_interval,
        cs.auc_variance,
        cs.bootstrap,
        lambda s: cs.interval(s, "recall", at=1),
        cs.roc_band,
        cs.cost_curve,
        cs.net_benefit,
        lambda s: cs.net_benefit_at(s, 0.1),
        lambda s: cs.sensitivity_at(s, 0.9),
        lambda s: cs.specificity_at(s, 0.9),
        cs.smooth_roc,
        cs.h_measure,
        lambda s: cs.thresholds_for(s, [1]),
    ],
)
def test_rows_are_no_sweep(ask: Any) -> None:
    with finding("bad-argument", cs.DataError, parameter="s"):
        ask([1, 0])


def test_one_row_of_each_class() -> None:
    assert cs.auc_interval(cs.sweep([1, 0], [2, 1]), method="newcombe").low < 0.3
