"""Cohen's kappa, and the prevalence corrected for errors: by hand, by definition and by peers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom

import cutscore as cs
from cutscore.core.errors import DataError, UndefinedError
from raising import finding, warned

# ------------------------------------------------------------------------------------------- kappa

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


def kappa_of(pairs: list[tuple[int, int]]) -> Fraction:
    """The definition, row by row and pair by pair."""
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n)
    expected = Fraction(sum(a == b for a, _ in pairs for _, b in pairs), n * n)
    return (observed - expected) / (1 - expected)


def columns(pairs: list[tuple[int, int]]) -> Any:
    assume(len({label for pair in pairs for label in pair}) > 1)
    return zip(*pairs, strict=True)


@given(PAIRS)
def test_kappa_is_the_fraction_rounded_once(pairs: list[tuple[int, int]]) -> None:
    a, b = columns(pairs)
    found = cs.cohen_kappa(a, b)
    assert found.kappa == float(kappa_of(pairs))
    assert found.kappa in found.interval
    assert found.kappa == pytest.approx(
        (found.observed - found.expected) / (1 - found.expected), abs=1e-12
    )
    assert found.counts.sum() == len(pairs)


@given(PAIRS, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]], ordinal: Any) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    a, b = columns(pairs)
    weight = 1 + np.arange(len(a)) % 3
    labels = [0, 1, 2, 3]  # all ratings: scikit-learn's distances are those of ranks
    for options, theirs in (({}, {}), ({"weight": weight}, {"sample_weight": weight})):
        other = sklearn.cohen_kappa_score(a, b, labels=labels, weights=ordinal, **theirs)
        assert cs.cohen_kappa(a, b, ordinal=ordinal, **options).kappa == pytest.approx(
            other, abs=1e-12
        )


def test_fields() -> None:
    found = cs.cohen_kappa(["yes"] * 25 + ["no"] * 25, ["yes"] * 20 + ["no"] * 15 + ["yes"] * 15)
    # po = 30/50; the margins are 25, 25 and 35, 15: pe = ½.
    assert (found.observed, found.expected, found.kappa) == (0.6, 0.5, 0.2)
    assert found.labels == ("no", "yes")
    assert found.counts.tolist() == [[10, 15], [5, 20]]
    assert not found.counts.flags.writeable
    assert found.interval.level == 0.95


def test_order_of_rows_and_raters_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 200))
    order = rng.permutation(200)
    one, other = cs.cohen_kappa(a, b), cs.cohen_kappa(a[order], b[order])
    assert one.interval == other.interval
    swapped = cs.cohen_kappa(b, a)
    assert swapped.kappa == one.kappa
    assert swapped.counts.tolist() == one.counts.T.tolist()


def test_interval_is_wider_at_a_higher_level_and_with_fewer_rows() -> None:
    rng = np.random.default_rng(1)
    a = rng.random(400) < 0.2
    b = a ^ (rng.random(400) < 0.1)
    found = cs.cohen_kappa(a, b).interval
    assert cs.cohen_kappa(a, b, level=0.99).interval.width > found.width
    assert cs.cohen_kappa(a[:100], b[:100]).interval.width > found.width
    assert cs.cohen_kappa(a, a).interval.low < 1  # perfect agreement is not certain
    assert cs.cohen_kappa(a, a).interval.high == 1


def test_interval_is_the_asymptotic_one_for_many_rows() -> None:
    """Fleiss, Cohen & Everitt's formula for two labels, written out."""
    p = np.array([[0.15, 0.05], [0.1, 0.7]])
    n = 200_000
    counts = (n * p).round().astype(int).ravel()
    found = cs.cohen_kappa(np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts))
    row, column, k = p.sum(axis=1), p.sum(axis=0), found.kappa
    pe = float(row @ column)
    po = float(np.trace(p))
    agree = sum(p[i, i] * (1 - (row[i] + column[i]) * (1 - k)) ** 2 for i in range(2))
    off = (1 - k) ** 2 * sum(
        p[i, j] * (column[i] + row[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    variance = (agree + off - (k - pe * (1 - k)) ** 2) / (n * (1 - pe) ** 2)
    assert k == pytest.approx((po - pe) / (1 - pe))
    assert found.interval.width == pytest.approx(2 * 1.959964 * variance**0.5, rel=0.03)


def test_copies_are_weights_but_for_the_interval() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 300))
    copies = cs.cohen_kappa(np.repeat(a, 3), np.repeat(b, 3))
    tripled = cs.cohen_kappa(a, b, weight=np.full(300, 3.0))
    plain = cs.cohen_kappa(a, b)
    assert copies.kappa == tripled.kappa == plain.kappa
    assert tripled.interval.width == pytest.approx(plain.interval.width, rel=0.02)
    # Three copies of a row are one row to whoever knows that they are.
    unit = np.repeat(np.arange(300), 3)
    known = cs.cohen_kappa(np.repeat(a, 3), np.repeat(b, 3), unit=unit)
    assert known.interval.width == pytest.approx(plain.interval.width, rel=0.02)
    assert copies.interval.width < 0.62 * plain.interval.width


def test_rows_of_weight_0_are_ignored() -> None:
    found = cs.cohen_kappa([1, 0, 1, 7], [1, 0, 0, 8], weight=[1, 1, 1, 0])
    assert found.labels == (0, 1)
    assert found.kappa == cs.cohen_kappa([1, 0, 1], [1, 0, 0]).kappa


@pytest.mark.slow
def test_coverage_where_the_asymptotic_interval_fails() -> None:
    rng, hits, draws = np.random.default_rng(3), 0, 400
    for _ in range(draws):
        a, b = rng.random((2, 50)) < 0.3
        b = np.where(rng.random(50) < 0.95, a, b)
        hits += 0.95 in cs.cohen_kappa(a, b).interval
    assert 0.92 <= hits / draws <= 0.995


def test_bad_raters() -> None:
    with finding("undefined", UndefinedError):
        cs.cohen_kappa(["a", "a"], ["a", "a"])
    with finding("too-few", UndefinedError, have=0):
        cs.cohen_kappa([], [])
    with finding("too-few", UndefinedError, of="clusters"):
        cs.cohen_kappa([1, 0], [0, 0], unit=[7, 7])
    with finding("lengths-differ", DataError):
        cs.cohen_kappa([1, 0], [1, 0, 1])
    with finding("lengths-differ", DataError):
        cs.cohen_kappa([1, 0], [1, 0], weight=[1])
    with finding("bad-argument", DataError, parameter="b"):
        cs.cohen_kappa([1, 0], ["1", "0"])
    with finding("bad-argument", DataError, parameter="ordinal"):
        cs.cohen_kappa([1, 0], [1, 0], ordinal="cubic")  # type: ignore[arg-type]
    with finding("value-missing", DataError, row=1):
        cs.cohen_kappa(["a", None], ["a", "b"])


# -------------------------------------------------------------------------------------- prevalence

COUNTS = st.integers(0, 40)


def counts_of(tp: int, fp: int, fn: int, tn: int) -> cs.Confusion:
    assume(tp + fn and fp + tn and tp * (fp + tn) != fp * (tp + fn))
    return cs.Confusion(tp, fp, fn, tn)


@given(st.tuples(*[COUNTS] * 4), COUNTS, COUNTS)
@pytest.mark.filterwarnings("ignore::cutscore.core.errors.CutscoreWarning")
def test_rogan_gladen(cells: tuple[int, int, int, int], flagged: int, rest: int) -> None:
    tp, fp, fn, tn = cells
    c = counts_of(*cells)
    assume(flagged + rest)
    sensitivity, specificity = Fraction(tp, tp + fn), Fraction(tn, tn + fp)
    apparent = Fraction(flagged, flagged + rest)
    true = (apparent + specificity - 1) / (sensitivity + specificity - 1)
    found = cs.corrected_prevalence(c, flagged, flagged + rest)
    assert found.prevalence == pytest.approx(float(min(max(true, 0), 1)), abs=1e-12)
    low, high = found.interval
    assert 0 <= low <= found.prevalence <= high <= 1
    assert low < high  # no sample is certain
    assert (found.p_value == 1) or not 0 < true < 1


def test_interval_by_force() -> None:
    """The ends are where the score statistic is z², with the likelihood maximised numerically."""
    c, flagged, total = cs.Confusion(40, 6, 10, 94), 60, 300
    parts, wholes = np.array([flagged, c.tp, c.fp]), np.array([total, 50, 100])

    def statistic(prior: float) -> float:
        def rates(x: Any) -> Any:
            tpr, fpr = 1 / (1 + np.exp(-x))
            return np.array([prior * tpr + (1 - prior) * fpr, tpr, fpr])

        def loss(x: Any) -> float:
            return -float(np.sum(binom.logpmf(parts, wholes, rates(x))))

        best = rates(minimize(loss, [1.0, -2.0], method="Nelder-Mead", tol=1e-10).x)
        c_ = np.array([1, -prior, prior - 1])
        variance = np.sum(c_**2 * best * (1 - best) / wholes)
        return float((c_ @ (parts / wholes)) ** 2 / variance)

    for end in cs.corrected_prevalence(c, flagged, total).interval:
        assert statistic(end) == pytest.approx(1.959964**2, rel=1e-4)


def test_without_errors_of_the_labelled_rows_it_is_the_rate_of_many() -> None:
    """A judge that is known to be perfect: Wilson's interval, which is the score interval."""
    many = 10**9
    found = cs.corrected_prevalence(cs.Confusion(many, 0, 0, many), 30, 200)
    s = cs.Sweep.from_counts([1, 0], pos=[30, 170], neg=[0, 1])
    wilson = cs.interval(s, "recall", at=1)
    assert tuple(found.interval) == pytest.approx(tuple(wilson), abs=1e-6)


def test_complement_and_scale() -> None:
    """Flagging what is not flagged, and calling positives negatives, mirror the answer."""
    c = cs.Confusion(40, 6, 10, 94)
    found = cs.corrected_prevalence(c, 60, 300)
    turned = cs.corrected_prevalence(cs.Confusion(c.fn, c.tn, c.tp, c.fp), 240, 300)
    assert turned.prevalence == pytest.approx(found.prevalence, abs=1e-12)
    assert tuple(turned.interval) == pytest.approx(tuple(found.interval), abs=1e-9)
    swapped = cs.corrected_prevalence(cs.Confusion(c.fp, c.tp, c.tn, c.fn), 60, 300)
    low, high = swapped.interval
    assert swapped.prevalence == pytest.approx(1 - found.prevalence, abs=1e-12)
    assert (1 - high, 1 - low) == pytest.approx(tuple(found.interval), abs=1e-9)
    more = cs.Confusion(400, 60, 100, 940)
    assert cs.corrected_prevalence(more, 600, 3000).interval.width < found.interval.width
    assert cs.corrected_prevalence(c, 60, 300, level=0.8).interval.width < found.interval.width


def test_both_samples_count() -> None:
    c = cs.Confusion(40, 6, 10, 94)
    base = cs.corrected_prevalence(c, 60, 300).interval.width
    larger_log = cs.corrected_prevalence(c, 60_000, 300_000).interval.width
    more_labels = cs.corrected_prevalence(cs.Confusion(4000, 600, 1000, 9400), 60, 300)
    assert larger_log < base
    assert more_labels.interval.width < base


def test_a_judge_like_chance_excludes_nothing() -> None:
    found = cs.corrected_prevalence(cs.Confusion(6, 5, 4, 5), 50, 100)
    assert tuple(found.interval) == (0, 1)


def test_a_flagged_rate_that_no_prevalence_explains() -> None:
    with warned("not-a-mixture"):
        found = cs.corrected_prevalence(cs.Confusion(80, 60, 20, 240), 20, 1000)
    assert found.prevalence == 0
    assert found.interval.low == 0
    assert 0 < found.p_value < 0.05
    # Of a share of p negatives with the same rate, by the test of two shares.
    pooled = (60 + 20) / 1300
    z = (60 / 300 - 20 / 1000) / (pooled * (1 - pooled) * (1 / 300 + 1 / 1000)) ** 0.5
    assert found.p_value == pytest.approx(math.erfc(z / 2**0.5), rel=1e-6)


def test_coverage() -> None:
    rng, hits, draws = np.random.default_rng(4), 0, 400
    for _ in range(draws):
        tp, fp = int(rng.binomial(50, 0.8)), int(rng.binomial(150, 0.05))
        flagged = int(rng.binomial(2000, 0.3 * 0.8 + 0.7 * 0.05))
        found = cs.corrected_prevalence(cs.Confusion(tp, fp, 50 - tp, 150 - fp), flagged, 2000)
        hits += 0.3 in found.interval
    assert 0.92 <= hits / draws <= 0.985


def test_bad_counts() -> None:
    c = cs.Confusion(9, 1, 1, 9)
    with finding("one-class", UndefinedError):
        cs.corrected_prevalence(cs.Confusion(0, 1, 0, 9), 1, 10)
    with finding("undefined", UndefinedError):
        cs.corrected_prevalence(cs.Confusion(2, 3, 2, 3), 1, 10)
    weighted = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1], [1, 2, 1, 1]).at(3)
    for bad, parameter in ((weighted, "labelled"), (cs.Confusion(-1, 1, 3, 4), "labelled")):
        with finding("bad-argument", DataError, parameter=parameter):
            cs.corrected_prevalence(bad, 1, 10)
    for flagged, total, parameter in ((11, 10, "flagged"), (-1, 10, "flagged"), (0, 0, "total")):
        with finding("bad-argument", DataError, parameter=parameter):
            cs.corrected_prevalence(c, flagged, total)
    with finding("bad-argument", DataError, parameter="flagged"):
        cs.corrected_prevalence(c, 0.1, 10)  # type: ignore[arg-type]
    with finding("bad-argument", DataError, parameter="labelled"):
        cs.corrected_prevalence((9, 1, 1, 9), 1, 10)  # type: ignore[arg-type]
