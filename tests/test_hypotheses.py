"""One-sided tests, non-inferiority, equivalence and partial AUCs: p-values agree with intervals."""

from __future__ import annotations

import csv
from math import inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import cutscore as cs
from cutscore.comparison.hypotheses import Hypothesis
from cutscore.inference.placements import area_variance, partial_placements
from raising import finding

Array = NDArray[Any]
ASAH = Path(__file__).parents[2] / "shared/data/asah.csv"
ALL = [("two-sided", 0.0), ("greater", 0.0), ("less", 0.0)]
ALL += [("greater", 0.03), ("less", 0.03), ("equivalent", 0.03)]


def pair(n: int = 300, seed: int = 0, shift: float = 0.3) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    common = rng.standard_normal(n)
    return (y, common + 0.7 * rng.standard_normal(n) + (1 + shift) * y,
            common + 0.7 * rng.standard_normal(n) + y)  # fmt: skip


def asah() -> tuple[list[str], dict[str, list[float]]]:
    with ASAH.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    names = ("wfns", "s100b", "ndka")
    return [row["outcome"] for row in table], {
        name: [float(row[name]) for row in table] for name in names
    }


needs_asah = pytest.mark.skipif(not ASAH.exists(), reason="pROC's data are not ours to ship")


# ------------------------------------------------------------------------------ t and z: by scipy


@pytest.mark.parametrize("unpaired", [False, True])
def test_against_scipy(unpaired: bool) -> None:
    """p-values from the tails of scipy's t distribution, of the plain comparison's figures."""
    y, a, b = pair()

    def run(**options: Any) -> cs.Comparison:
        if unpaired:
            return cs.compare_unpaired(cs.sweep(y, a), cs.sweep(y, b), **options)
        return cs.compare(y, a, b, **options)

    plain = run()
    d, se, t = plain.difference, plain.standard_error, stats.t(plain.df)
    greater, less = run(alternative="greater"), run(alternative="less")
    assert greater.p_value == pytest.approx(t.sf(d / se), rel=1e-9)
    assert less.p_value == pytest.approx(t.cdf(d / se), rel=1e-9)
    assert greater.p_value + less.p_value == pytest.approx(1, abs=1e-12)
    assert tuple(greater.interval) == (pytest.approx(d - t.ppf(0.95) * se), 1)
    assert tuple(less.interval) == (-1, pytest.approx(d + t.ppf(0.95) * se))
    assert greater.interval.level == 0.95
    worse = run(alternative="greater", margin=0.02)
    assert worse.z == pytest.approx((d + 0.02) / se)
    assert worse.p_value == pytest.approx(t.sf((d + 0.02) / se), rel=1e-9)
    for margin in (0.02, 0.2):
        same = run(alternative="equivalent", margin=margin)
        both = t.sf((d + margin) / se), t.cdf((d - margin) / se)
        assert same.p_value == pytest.approx(max(both), rel=1e-9)
        ends = d - t.ppf(0.95) * se, d + t.ppf(0.95) * se
        assert tuple(same.interval) == pytest.approx(ends)
        assert same.interval.level == pytest.approx(0.9)
        assert same.shown is bool(max(ends[1], -ends[0]) < margin)


@needs_asah
def test_one_sided_as_in_proc() -> None:
    """pROC's own tests: roc.test(r.wfns, r.s100b, alternative = "greater") and "less"."""
    y, column = asah()
    a, b = column["wfns"], column["s100b"]
    sweeps = [cs.sweep(y, s, positive="Poor") for s in (a, b)]
    for alternative, paired, unpaired in (
        ("greater", 0.0135878911145941, 0.076412689404398),
        ("less", 0.986412108885406, 0.923587310595602),
    ):
        c = cs.compare(y, a, b, positive="Poor", method="delong", alternative=alternative)
        assert c.p_value == pytest.approx(paired, rel=1e-12)
        d = cs.compare_unpaired(*sweeps, alternative=alternative)
        assert d.p_value == pytest.approx(unpaired, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("alternative", "margin"), ALL)
@pytest.mark.parametrize("method", ["t", "delong", "bootstrap"])
@pytest.mark.parametrize("seed", range(4))
def test_interval_and_p_value_agree(
    alternative: str, margin: float, method: str, seed: int
) -> None:
    y, a, b = pair(90, seed, 0.1)
    more: Any = {"alternative": alternative, "margin": margin, "n": 199, "method": method}
    p = cs.compare(y, a, b, **more).p_value
    shown = set()
    for level in (0.6, 0.8, 0.9, 0.95, 0.98, 1 - p * 1.01, 1 - p * 0.99):
        if not 0.5 < level < 0.985:
            continue
        c = cs.compare(y, a, b, level=level, **more)
        assert c.p_value == p  # whatever the level
        assert c.shown is (p < 1 - level)
        shown.add(c.shown)
    assert shown


@given(
    st.lists(st.integers(-4, 6), min_size=45, max_size=80),
    st.sampled_from(ALL),
    st.sampled_from([0.6, 0.75, 0.8, 0.9, 0.95]),
    st.sampled_from([1.0, 0.01, 1 / 3, 0.03]),
)
def test_resampled_ties(
    values: list[int], asked: tuple[str, float], level: float, unit: float
) -> None:
    """Replicates that tie with what is to be ruled out, as those of AUCs do."""
    hypothesis = Hypothesis(asked[0], 2 * unit if asked[1] else 0.0)
    x = np.array(values) * unit
    p, interval = hypothesis.bootstrap_test(x, level, inf)
    assert hypothesis.holds_for(interval) is (p < 1 - level)
    # The interval is the percentile interval, but for rounding.
    tail, _ = hypothesis.of_interval(level)
    ends = np.quantile(x, [tail, 1 - tail], method="weibull")
    if asked[0] != "less":
        assert interval.low == pytest.approx(ends[0], abs=1e-12)
    if asked[0] != "greater":
        assert interval.high == pytest.approx(ends[1], abs=1e-12)
    # And the p-value at least the share on the wrong side, at most one replicate more.
    n, m = len(x), hypothesis.margin
    below, above = np.count_nonzero(x <= -m), np.count_nonzero(x >= m)
    least = {"greater": below, "less": above, "two-sided": 2 * min(below, above)}
    share = least.get(asked[0], max(below, above)) / (n + 1)
    more = (2 if asked[0] == "two-sided" else 1) / (n + 1)
    assert min(share, 1) - 1e-12 <= p <= share + more + 1e-12 or p == 1


def test_resampled_by_hand() -> None:
    x = np.arange(-4.0, 95.0)  # 99 replicates: the k-th is at k %
    p, interval = Hypothesis("greater").bootstrap_test(x, 0.95, inf)
    assert p == pytest.approx(0.05)  # 0 is the fifth
    assert tuple(interval) == (pytest.approx(0.0, abs=1e-12), inf)
    assert Hypothesis().bootstrap_test(x, 0.95, inf)[0] == pytest.approx(0.10)
    assert Hypothesis("less").bootstrap_test(x, 0.95, inf)[0] == pytest.approx(0.95)
    p, interval = Hypothesis("equivalent", 94.5).bootstrap_test(x, 0.95, inf)
    assert (p, interval.level) == (pytest.approx(0.01), pytest.approx(0.9))
    assert tuple(interval) == pytest.approx((0, 90))


def test_words() -> None:
    y, a, b = pair()
    assert cs.compare(y, a, b).hypothesis == "a and b differ"
    c = cs.compare(y, a, b, alternative="less")
    assert c.hypothesis == "b is better than a"
    assert ": not shown that b is better than a (Δ " in repr(c)
    assert f"(Δ {c.difference:.3f}, 95 % upper bound {c.interval.high:.3f}, p = " in repr(c)
    c = cs.compare(y, a, b, alternative="equivalent", margin=0.3)
    assert c.hypothesis == "a and b differ by less than 0.3"
    assert ": shown that a and b differ by less than 0.3 (Δ " in repr(c)
    assert ", 90 % CI " in repr(c)
    c = cs.compare(y, a, b, alternative="less", margin=0.3, method="bootstrap", n=50,
                   statistic=cs.average_precision)  # fmt: skip
    assert c.hypothesis == "b is less than 0.3 lower than a"


def test_equivalence_without_power_says_so() -> None:
    y, a, b = pair(60)
    c = cs.compare(y, a, b, alternative="equivalent", margin=0.001)
    assert c.powerless
    assert repr(c).endswith("too little power to show even that equal areas are within the margin")
    assert not cs.compare(y, a, b, alternative="equivalent", margin=0.5).powerless


@pytest.mark.parametrize(
    ("options", "parameter", "value"),
    [
        ({"alternative": "two.sided"}, "alternative", "two.sided"),
        ({"margin": 0.1}, "margin", 0.1),
        ({"alternative": "equivalent"}, "margin", 0),
        ({"alternative": "greater", "margin": -0.1}, "margin", -0.1),
        ({"alternative": "greater", "margin": 1}, "margin", 1),
        ({"alternative": "greater", "margin": "x"}, "margin", "x"),
        ({"alternative": "equivalent", "margin": 0.1, "level": 0.5}, "level", 0.5),
        ({"method": "bootstrap", "n": 38}, "n", 38),
    ],
)
def test_refuses(options: dict[str, Any], parameter: str, value: Any) -> None:
    with finding("bad-argument", cs.DataError, parameter=parameter, value=value):
        cs.compare(*pair(60), **options)


def test_equal_rankings_show_no_equivalence() -> None:
    y, a, _ = pair(60)
    with finding("no-variation", cs.UndefinedError):
        cs.compare(y, a, 2 * a, alternative="equivalent", margin=0.1)
    c = cs.compare(y, a, 2 * a, alternative="greater")
    assert (c.p_value, c.shown, c.interval.low) == (1, False, 0)


# ------------------------------------------------------------------------------------ partial AUCs

AREAS = [
    cs.PartialAuc(max_fpr=0.2),
    cs.PartialAuc(min_fpr=0.1, max_fpr=0.45),
    cs.PartialAuc(min_tpr=0.7),
    cs.PartialAuc(min_tpr=0.3, max_tpr=0.8, standardized=True),
    cs.PartialAuc(max_fpr=0.3, standardized=True),
]


@needs_asah
def test_partial_areas_of_proc() -> None:
    """Values of pROC's own tests: auc(r.wfns, partial.auc = c(1, .9), …)."""
    y, column = asah()
    sweeps = {name: cs.sweep(y, column[name], positive="Poor") for name in ("wfns", "ndka")}
    for name, low, high, figures in (
        ("wfns", 0.9, 1.0, (0.0334417344173442, 0.649693339038653, 0.0400999322493225,
                            0.68473648552275)),
        ("wfns", 0.8, 0.9, (0.0598373983739837, 0.763749402199904, 0.0609953703703703,
                            0.770561002178649)),
        ("wfns", 0.0, 0.5, (0.488134475939354, 0.952537903757416, 0.483358739837398,
                            0.933434959349593)),
        ("ndka", 0.9, 1.0, (0.0107046070460705, 0.530024247610897, 0.0037940379403794, None)),
        ("ndka", 0.8, 0.9, (0.0277777777777778, 0.575163398692811, 0.0242547425474255,
                            0.554439662043679)),
        ("ndka", 0.0, 0.5, (0.416836043360434, 0.667344173441734, 0.428523035230352,
                            0.714092140921409)),
    ):  # fmt: skip
        s = sweeps[name]
        ours = [
            cs.partial_auc(s, **ends, standardized=corrected)
            for ends in ({"min_fpr": 1 - high, "max_fpr": 1 - low},
                         {"min_tpr": low, "max_tpr": high})
            for corrected in (False, True)
        ]  # fmt: skip
        for value, wanted in zip(ours, figures, strict=True):
            if wanted is not None:  # pROC gives NA below the diagonal
                assert value == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("digits", [1, 6])
def test_placements_are_the_influence_of_rows(area: cs.PartialAuc, digits: int) -> None:
    """By how much an area changes if a row has a little more weight."""
    rng = np.random.default_rng(1)
    y = np.arange(70) % 3 == 0
    score = (rng.standard_normal(70) + y).round(digits)
    s = cs.sweep(y, score)
    placements = partial_placements(s, area)
    step = 1e-5
    for value, mass, own in zip(placements, (s.pos, s.neg), (y, ~y), strict=True):
        centred = value - np.sum(mass / mass.sum() * value)
        for row in np.flatnonzero(own)[:12]:
            sides = []
            for sign in (-1, 1):
                w = np.ones(70)
                w[row] += sign * step
                sides.append(area(cs.sweep(y, score, w)))
            slope = (sides[1] - sides[0]) / (2 * step) * mass.sum()
            at = int(np.flatnonzero(s.threshold == score[row])[0])
            assert slope == pytest.approx(centred[at], abs=2e-3 * area.scale)


def test_the_whole_area_is_the_auc() -> None:
    y, a, b = pair()
    a = a.round(1)
    for whole in (cs.PartialAuc(min_fpr=0.0), cs.PartialAuc(max_tpr=1.0)):
        s = cs.sweep(y, a)
        assert whole(s) == pytest.approx(s.auc, rel=1e-13)
        assert area_variance(s, whole) == pytest.approx(cs.auc_variance(s), rel=1e-12)
        c, d = cs.compare(y, a, b, statistic=whole), cs.compare(y, a, b)
        assert (c.z, c.p_value) == pytest.approx((d.z, d.p_value), rel=1e-9)
        assert (c.statistic, c.method, c.powerless) == ("partial auc", "t", d.powerless)


@pytest.mark.parametrize("area", AREAS)
def test_partial_tests_agree_with_the_bootstrap(area: cs.PartialAuc) -> None:
    y, a, b = pair(600, 5)
    t, boot = (cs.compare(y, a, b, statistic=area, method=m, n=800) for m in ("t", "bootstrap"))
    assert (t.a, t.b) == (boot.a, boot.b) == (area(cs.sweep(y, a)), area(cs.sweep(y, b)))
    assert t.standard_error == pytest.approx(boot.standard_error, rel=0.12)
    sweeps = cs.sweep(y, a), cs.sweep(y, b)
    t, boot = (
        cs.compare_unpaired(*sweeps, statistic=area, method=m, n=800) for m in ("t", "bootstrap")
    )
    assert t.standard_error == pytest.approx(boot.standard_error, rel=0.12)
    assert t.standard_error == pytest.approx(
        sqrt(sum(area_variance(s, area) for s in sweeps)), rel=1e-12
    )
    assert (t.method, boot.method) == ("unpaired", "unpaired bootstrap")


def test_scale_of_partial_areas() -> None:
    """McClish's scale changes figures and not the test."""
    y, a, b = pair()
    plain, scaled = (
        cs.compare(y, a, b, statistic=cs.PartialAuc(max_fpr=0.25, standardized=s))
        for s in (False, True)
    )
    assert (plain.z, plain.p_value) == pytest.approx((scaled.z, scaled.p_value), rel=1e-9)
    assert plain.powerless == scaled.powerless
    # Weights and copies: the areas are the same, and units of copies give the plain error back.
    twice = [np.repeat(x, 2) for x in (y, a, b)]
    units = cs.compare(*twice, statistic=cs.PartialAuc(max_fpr=0.25), unit=np.arange(600) // 2)
    assert units.difference == pytest.approx(plain.difference, rel=1e-12)
    assert units.standard_error == pytest.approx(plain.standard_error, rel=1e-9)


def test_unpaired_samples_are_independent() -> None:
    """Sweeps of equal sizes, and one seed: the differences of replicates vary as both together."""
    y, a, _ = pair(300)
    s = cs.sweep(y, a)
    c = cs.compare_unpaired(s, s, method="bootstrap", n=500)
    assert c.standard_error == pytest.approx(sqrt(2 * cs.auc_variance(s)), rel=0.12)
    assert c.p_value > 0.8
    assert 0 in c.interval
