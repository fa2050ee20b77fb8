"""Power and sample sizes: against pROC's and published figures, brute force, and our own tests."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import owens_t

import cutscore as cs
from cutscore import power
from cutscore.comparison.covariance import AucCovariance
from cutscore.comparison.power import AucPair, SampleSize, _above_both, _OneAuc
from cutscore.inference.guarantee import max_errors
from raising import finding

# pROC's aSAH: 41 positives, 72 negatives, and what pROC's own tests say of its scores.
S100B = 2159 / (41 * 72)
VARIANCES = {"wfns": 0.00146991470882363, "ndka": 0.0031908105493913}
AUCS = {"wfns": 0.823678861788618, "ndka": 0.611957994579946}


# ------------------------------------------------------------------------------------------ one AUC


def test_power_of_proc() -> None:
    """power.roc.test(r.s100b); power.roc.test(ncases = 41, ncontrols = 72, auc = 0.73)."""
    by = {"method": "obuchowski"}
    assert power.auc_power(S100B, 41, 72, **by) == pytest.approx(0.9904833, abs=5e-8)
    assert power.auc_power(0.73, 41, 72, **by) == pytest.approx(0.9897453, abs=5e-8)
    # Sample sizes, before they are rounded up to whole rows.
    for wanted, ratio, cases in ((0.95, 1.7, 29.29764), (0.9, 72 / 41, 23.5598674),
                                 (0.9, 1, 29.5697422)):  # fmt: skip
        test = _OneAuc.of(S100B, 0.5, "two-sided", "obuchowski", 0.95)
        assert test.power(cases, cases * ratio) == pytest.approx(wanted, abs=1e-7)
        size = power.auc_sample_size(S100B, power=wanted, ratio=ratio, **by)
        assert size == SampleSize(ceil(cases), ceil(cases * ratio))
    # pROC's search stops when it is this near.
    found = power.detectable_auc(41, 72, power=0.95, **by)
    assert found == pytest.approx(0.6961054, abs=1e-5)
    assert power.auc_power(found, 41, 72, **by) == pytest.approx(0.95, abs=1e-9)


def test_table_of_obuchowski() -> None:
    """Obuchowski et al. 2004, table 4: one-sided tests at 5 %, power 90 %, at least 10 of each."""
    table = {
        0.25: [(84, 334), (20, 80), (10, 40), (10, 40), (10, 40)],
        1.0: [(135, 135), (33, 33), (14, 14), (10, 10), (10, 10)],
        2.0: [(203, 102), (50, 25), (21, 11), (20, 10), (20, 10)],
    }
    for ratio, sizes in table.items():
        for auc, (controls, cases) in zip((0.6, 0.7, 0.8, 0.9, 0.95), sizes, strict=True):
            size = power.auc_sample_size(
                auc, power=0.9, ratio=ratio, alternative="greater", method="obuchowski"
            )
            if min(size.positives, size.negatives) >= 10:
                assert (size.negatives, size.positives) == (controls, cases)
            else:
                assert min(controls, cases) == 10


def test_variance_of_normal_scores() -> None:
    """By Owen's T, and by pairs of rows."""
    for auc, pos, neg in ((0.5, 10, 30), (0.76, 25, 40), (0.97, 60, 9)):
        h = stats.norm.ppf(auc)
        shared = auc * (1 - auc) - 2 * owens_t(h, 1 / sqrt(3))
        wanted = (auc * (1 - auc) + (pos + neg - 2) * shared) / (pos * neg)
        assert AucPair(auc, auc, 0).variances(pos, neg)[0] == pytest.approx(wanted, rel=1e-9)
    rng = np.random.default_rng(0)
    x, z = rng.multivariate_normal([1, 1.5], [[1, 0.6], [0.6, 1]], (4000, 15)).transpose(2, 0, 1)
    u, v = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], (4000, 25)).transpose(2, 0, 1)
    a, b = ((p[:, :, None] > q[:, None, :]).mean(axis=(1, 2)) for p, q in ((x, u), (z, v)))
    pair = AucPair(*stats.norm.cdf(np.array([1, 1.5]) / sqrt(2)).tolist(), correlation=0.6)
    drawn = np.cov(a, b)
    assert pair.variances(15, 25) == pytest.approx(
        (drawn[0, 0], drawn[1, 1], drawn[0, 1]), rel=0.07
    )


@pytest.mark.parametrize(("h", "k", "r"), [(0.3, 1.2, 0.25), (0, 0, 0.5), (2.5, 2, 0.49),
                                           (0.84, 0.84, 0.97), (-1, 0.5, 0.3)])  # fmt: skip
def test_above_both(h: float, k: float, r: float) -> None:
    both = stats.multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([h, k])
    wanted = both - stats.norm.cdf(h) * stats.norm.cdf(k)
    assert _above_both(h, k, r) == pytest.approx(wanted, abs=1e-7)
    assert _above_both(h, k, 0) == 0


def test_one_auc() -> None:
    assert power.auc_power(0.7, 50, 50) > power.auc_power(0.7, 50, 50, against=0.6)
    one_sided = power.auc_power(0.7, 30, 60, alternative="greater")
    assert one_sided > power.auc_power(0.7, 30, 60)
    assert one_sided == pytest.approx(power.auc_power(0.7, 30, 60, level=0.9), abs=1e-12)
    less = power.auc_power(0.3, 30, 60, alternative="less")
    assert less == pytest.approx(one_sided, abs=1e-12)
    assert power.auc_power(0.5, 30, 60, alternative="greater") < 0.05
    # The fewest rows: one less of either class is not enough.
    size = power.auc_sample_size(0.7, power=0.9, ratio=1.5, against=0.6)
    assert size.total == size.positives + size.negatives
    assert power.auc_power(0.7, size.positives, size.negatives, against=0.6) >= 0.9
    assert power.auc_power(0.7, size.positives - 1, size.negatives - 1, against=0.6) < 0.9
    below = power.detectable_auc(40, 60, against=0.8, alternative="less")
    assert power.auc_power(below, 40, 60, against=0.8, alternative="less") == pytest.approx(0.8)
    assert below < 0.8


def test_pilot_of_one() -> None:
    """A pilot study of normal scores says what normal scores say."""
    rng = np.random.default_rng(0)
    y = np.arange(40_000) % 4 == 0
    s = cs.sweep(y, rng.standard_normal(40_000) + 0.8 * y)
    near = power.auc_power(s.auc, 40, 120, against=0.6)
    assert power.auc_power(s, 40, 120, against=0.6) == pytest.approx(near, abs=0.04)
    size = power.auc_sample_size(s, against=0.6, ratio=3)
    assert size.positives == pytest.approx(
        power.auc_sample_size(s.auc, against=0.6, ratio=3).positives, rel=0.1
    )
    with finding("no-variation", cs.UndefinedError):
        power.auc_power(cs.sweep([1, 1, 0, 0], [2, 2, 1, 1]), 40, 40)


# ------------------------------------------------------------------------------------- differences


def pilot() -> AucCovariance:
    """auc_covariance of ndka and wfns in aSAH, as pROC's tests print it."""
    shared = -0.000532967856762438
    matrix = np.array([[VARIANCES["ndka"], shared], [shared, VARIANCES["wfns"]]])
    aucs = np.array([AUCS["ndka"], AUCS["wfns"]])
    return AucCovariance(aucs, matrix, ("ndka", "wfns"), (41, 72), (41, 72), np.ones(2))


def test_difference_of_proc() -> None:
    """power.roc.test(r.ndka, r.wfns), and with power = 0.9: 64.77777 cases."""
    by = {"method": "obuchowski"}
    found = power.difference_power(pilot(), 41, **by)
    assert found == pytest.approx(0.7131594, abs=5e-8)
    assert power.difference_power(pilot(), 64.77777, **by) == pytest.approx(0.9, abs=1e-7)
    size = power.difference_sample_size(pilot(), power=0.9, **by)
    assert size == SampleSize(65, 114)  # 113.7561 controls


def test_difference() -> None:
    pair = AucPair(0.85, 0.8, 0.6)
    shown = power.difference_power(pair, 100, 300)
    v, w, c = pair.variances(100, 300)
    shift, t = 0.05 / sqrt(v + w - 2 * c), stats.t(99).ppf(0.975)
    both = stats.nct(99, shift).sf(t) + stats.nct(99, shift).cdf(-t)
    assert shown == pytest.approx(both, abs=1e-9)
    # Non-inferiority of equal scores is finding a difference of the margin; equivalence is both.
    equal = AucPair(0.8, 0.8, 0.6)
    more: Any = {"margin": 0.06, "level": 0.95}
    one = power.difference_power(equal, 200, 300, alternative="greater", **more)
    assert one == pytest.approx(power.difference_power(equal, 200, 300, alternative="less", **more))
    both = power.difference_power(equal, 200, 300, alternative="equivalent", **more)
    assert both == pytest.approx(2 * one - 1, abs=1e-12)
    size = power.difference_sample_size(pair, power=0.9, ratio=2)
    assert power.difference_power(pair, size.positives, size.negatives) >= 0.9
    assert power.difference_power(pair, size.positives - 1, size.negatives - 2) < 0.9
    gap = power.detectable_difference(0.8, size.positives, size.negatives, correlation=0.6,
                                      power=0.9)  # fmt: skip
    assert gap == pytest.approx(0.05, abs=2e-4)
    # Scores that agree more are told apart with fewer rows.
    near = power.difference_sample_size(AucPair(0.85, 0.8, 0.9), power=0.9, ratio=2)
    assert near.positives < 0.5 * size.positives
    # Where t becomes the normal distribution nothing jumps.
    tiny = AucPair(0.801, 0.8, 0.6)
    few, many = (power.difference_power(tiny, n, n) for n in (999_990, 1_000_010))
    assert few == pytest.approx(many, abs=1e-5)
    # No difference: what is found is the error of the test.
    assert power.difference_power(equal, 100, 300) == pytest.approx(0.05, abs=1e-9)


def test_power_is_that_of_compare() -> None:
    pair, p, n = AucPair(0.8, 0.7, 0.5), 50, 100
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], (p, n))
        common, *own = rng.standard_normal((3, p + n))
        a, b = (sqrt(0.5) * (common + e) + sqrt(2) * stats.norm.ppf(auc) * y
                for e, auc in zip(own, (pair.a, pair.b), strict=True))  # fmt: skip
        found += cs.compare(y, a, b).shown
    assert found / 300 == pytest.approx(power.difference_power(pair, p, n), abs=0.09)


# ------------------------------------------------------------------------------- limits and rates


@pytest.mark.parametrize(
    ("limit", "bound", "expected", "rate"),
    [
        ("fpr <= 0.05", 0.05, 0.02, 0.02),
        ("fnr < 30 %", 0.3, 0.1, 0.1),
        ("recall >= 0.8", 0.2, 0.9, 0.1),
        ("specificity >= 0.9", 0.1, 0.97, 0.03),
        ("flagged_rate <= 0.1", 0.1, 0.05, 0.05),
    ],
)
@pytest.mark.parametrize(("wanted", "confidence"), [(0.8, 0.95), (0.9, 0.9)])
def test_limits_one_by_one(  # noqa: PLR0913, PLR0917 - what a limit needs
    limit: str, bound: float, expected: float, rate: float, wanted: float, confidence: float
) -> None:
    """Row by row: the first number of rows that has the power, by scipy's binomial."""
    n, error = 1, 1 - confidence
    while True:
        k = int(np.sum(stats.binom.cdf(np.arange(n + 1), n, 1 - (1 - bound)) <= error)) - 1
        if k >= 0 and stats.binom.cdf(k, n, rate) >= wanted:
            break
        n += 1
    size = power.limit_sample_size(limit, expected=expected, confidence=confidence, power=wanted)
    assert (size.rows, size.errors) == (n, k)
    assert size.power == pytest.approx(stats.binom.cdf(k, n, rate), rel=1e-9)
    found = power.limit_power(limit, n, expected=expected, confidence=confidence)
    assert found == pytest.approx(size.power, rel=1e-9)
    assert max_errors(n, bound if rate == expected else 1 - (1 - bound), error) == k


def test_the_least_rows_that_show_anything() -> None:
    """As many as choose needs to flag anything at all."""
    size = power.limit_sample_size("fpr <= 0.05", prevalence=0.1)
    assert (size.rows, size.of, size.errors, size.power) == (59, "negatives", 0, 1)
    assert size.total == ceil(59 / 0.9)
    for n, flags in ((58, False), (59, True)):
        s = cs.sweep(np.repeat([1, 0], (20, n)), np.repeat([2.0, 1.0], (20, n)))
        point = cs.choose(s, "recall", subject_to="fpr <= 0.05", confidence=0.95)
        assert (point.confusion.flagged > 0) is flags
    assert power.limit_power("fpr <= 0.05", 58, expected=0.0) == 0
    assert power.limit_sample_size("fpr <= 0.001").rows == 2995
    assert power.limit_sample_size("recall >= 0.99", prevalence=0.01).total == 29_900
    assert power.limit_sample_size("flagged_rate <= 0.05", prevalence=0.1).total == 59


def test_rates() -> None:
    n = power.rate_sample_size(0.9, 0.05)
    widths = []
    for rows in (n - 1, n):  # at exactly the rate that is expected: weights of a tenth
        s = cs.Sweep.from_counts([2.0, 1.0], pos=[0.9 * rows, 0.1 * rows], neg=[1.0, 1.0])
        low, high = stats.binomtest(9, 10).proportion_ci(method="wilson")
        assert low < s.at(2.0).recall < high
        z = stats.norm.ppf(0.975)
        widths.append(z / (1 + z * z / rows) * sqrt(0.09 / rows + z * z / (4 * rows * rows)))
    assert widths[1] <= 0.05 < widths[0]
    ten = cs.interval(cs.Sweep.from_counts([2, 1], pos=[126, 14], neg=[1, 1]), "recall", at=2)
    assert ten.width / 2 == pytest.approx(0.05, abs=2e-4)  # of 140, one less than it takes
    assert (n, ten.width / 2 > 0.05) == (141, True)


def test_sensitivity_at_a_specificity() -> None:
    """By simulation: the spread of the sensitivity at the threshold of the negatives."""
    size = power.sensitivity_sample_size(0.8, 0.9, half_width=0.08, ratio=2)
    rng = np.random.default_rng(0)
    shift = stats.norm.ppf(0.8) + stats.norm.ppf(0.9)
    pos = rng.standard_normal((4000, size.positives)) + shift
    neg = np.sort(rng.standard_normal((4000, size.negatives)), axis=1)
    threshold = neg[:, round(0.9 * size.negatives)]
    spread = (pos > threshold[:, None]).mean(axis=1).std()
    assert 1.96 * spread == pytest.approx(0.08, rel=0.06)
    # To rule out 0.7 in a one-sided test at 5 % with a power of 80 %.
    size = power.sensitivity_sample_size(0.8, 0.9, above=0.7, ratio=2)
    wide = power.sensitivity_sample_size(0.75, 0.9, half_width=0.1, ratio=2, level=0.9)
    assert size.positives == pytest.approx(wide.positives * (1 + 0.8416 / 1.645) ** 2, rel=0.1)
    # A fixed threshold needs fewer.
    fixed = power.limit_sample_size("recall >= 0.7", expected=0.8)
    assert fixed.rows < size.positives


def of_argument(parameter: str, **more: Any) -> dict[str, Any]:
    return {"code": "bad-argument", "parameter": parameter, **more}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda: power.auc_power(1.2, 5, 5), of_argument("auc", value=1.2)),
        (lambda: power.auc_power(0.7, 0, 5), of_argument("positives", value=0)),
        (lambda: power.auc_power(0.7, 5, 5, alternative="equivalent"), of_argument("alternative")),
        (lambda: power.auc_power(0.7, 5, 5, method="t"), of_argument("method", value="t")),
        (
            lambda: power.auc_power(cs.sweep([1, 0], [2, 1]), 5, 5, method="obuchowski"),
            {"code": "arguments-conflict", "parameters": ("method", "auc")},
        ),
        (lambda: power.auc_sample_size(0.7, ratio=0), of_argument("ratio", value=0)),
        (lambda: power.auc_sample_size(0.7, power=80), of_argument("power", value=80)),
        (lambda: AucPair(0.7, 0.8, 1.0), of_argument("correlation", value=1.0)),
        (lambda: power.difference_power(0.8, 5), of_argument("expected", value=0.8)),
        (lambda: power.difference_power(pilot(), 41, 41), of_argument("negatives", value=41)),
        (lambda: power.difference_sample_size(pilot(), ratio=1), of_argument("ratio", value=1)),
        (
            lambda: power.detectable_difference(0.8, 9, 9, correlation=0, alternative="less"),
            of_argument("alternative", value="less"),
        ),
        (
            lambda: power.limit_sample_size("precision >= 0.9"),
            {"code": "bad-argument", "value": "precision >= 0.9"},
        ),
        (lambda: power.limit_sample_size("fpr >= 0.9"), {"code": "bad-argument"}),
        (lambda: power.limit_sample_size(["fpr <= 0.1", "recall >= 0.5"]), of_argument("limit")),
        (
            lambda: power.limit_sample_size("fpr <= 0"),
            {"code": "bad-argument", "value": "fpr <= 0"},
        ),
        (
            lambda: power.limit_sample_size("fpr <= 0.1", expected=0.1),
            of_argument("expected", value=0.1),
        ),
        (
            lambda: power.limit_sample_size("recall >= 0.9", expected=0.8),
            of_argument("expected", value=0.8),
        ),
        (
            lambda: power.sensitivity_sample_size(0.8, 0.9),
            {"code": "arguments-conflict", "parameters": ("half_width", "above")},
        ),
        (
            lambda: power.sensitivity_sample_size(0.8, 0.9, above=0.8),
            of_argument("above", value=0.8),
        ),
        (lambda: power.rate_sample_size(0.8, 0), of_argument("half_width", value=0)),
    ],
)
def test_refuses(call: Any, found: dict[str, Any]) -> None:
    with finding(**{"error": cs.DataError, **found}):
        call()


def test_what_no_number_of_rows_shows() -> None:
    for call in (
        lambda: power.auc_sample_size(0.5),
        lambda: power.auc_sample_size(0.6, against=0.7, alternative="greater"),
        lambda: power.difference_sample_size(AucPair(0.7, 0.8, 0.5), alternative="greater"),
    ):
        with finding("undefined", cs.UndefinedError):
            call()
    with finding("undefined", cs.UndefinedError):
        power.detectable_auc(3, 3, against=0.9)
