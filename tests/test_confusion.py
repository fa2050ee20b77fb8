"""Every rate of the four counts: by hand, by peers, for one cut and for many at once."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import metrics

import cutscore as cs
from cutscore.core.html import fact_table
from cutscore.measures.confusion import ALIASES
from cutscore.measures.registry import MEASURES
from raising import finding

COUNTS = ("positives", "negatives", "total", "flagged")
RATES = (
    *("prevalence", "recall", "fpr", "fnr", "specificity", "precision", "npv", "flagged_rate"),
    *("accuracy", "error_rate", "balanced_rate", "youden", "lift", "f1", "mcc"),
    *("lr_positive", "lr_negative"),
)
count = st.integers(0, 30)
REVIEWS = ("reviewed", "reviewed_positives", "review_rate")
confusions = st.builds(cs.Confusion, tp=count, fp=count, fn=count, tn=count)


def test_every_property_is_tested() -> None:
    public = {name for name, value in vars(cs.Confusion).items() if isinstance(value, property)}
    assert public == {*COUNTS, *RATES, *REVIEWS, *ALIASES}


@given(confusions)
def test_one_cut_reviews_nothing(c: cs.Confusion) -> None:
    assert (c.reviewed, c.reviewed_positives) == (0, 0)
    assert c.review_rate == 0 or (c.total == 0 and isnan(c.review_rate))


@given(confusions)
def test_every_name_of_a_measure_is_an_attribute(c: cs.Confusion) -> None:
    assert {"sensitivity", "ppv", "tpr", "caught"} <= set(ALIASES) < set(MEASURES)
    for name, measure in MEASURES.items():
        assert_array_equal(getattr(c, name), measure(c), err_msg=name)
        assert measure.name == ALIASES.get(name, name)


def _by_definition(c: cs.Confusion) -> dict[str, tuple[int, int]]:
    tp, fp, fn, tn = c.tp, c.fp, c.fn, c.tn
    p, n = tp + fn, fp + tn
    return {
        "prevalence": (p, p + n),
        "recall": (tp, p),
        "fpr": (fp, n),
        "fnr": (fn, p),
        "specificity": (tn, n),
        "precision": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "flagged_rate": (tp + fp, p + n),
        "accuracy": (tp + tn, p + n),
        "error_rate": (fp + fn, p + n),
        "balanced_rate": (tp * n + tn * p, 2 * p * n),
        "youden": (tp * n - fp * p, p * n),
        "lift": (tp * (p + n), (tp + fp) * p),
        "f1": (2 * tp, 2 * tp + fp + fn),
    }


@given(confusions)
def test_rates(c: cs.Confusion) -> None:
    """0/0 is nan; one division of integers is right to the last bit; a sum of two nearly so."""
    two_roundings = ("balanced_rate", "youden", "lift")
    for name, (part, whole) in _by_definition(c).items():
        value = getattr(c, name)
        assert type(value) is float
        if whole == 0:
            assert isnan(value), name
        elif name in two_roundings:
            assert value == pytest.approx(part / whole, rel=1e-15, abs=1e-15), name
        else:
            assert value == float(Fraction(part, whole)), name


@given(confusions)
def test_likelihood_ratios(c: cs.Confusion) -> None:
    """Of one rate to another: 0/0 is nan, and anything else over 0 is inf."""
    for value, a, b in (
        (c.lr_positive, c.tp * c.negatives, c.fp * c.positives),
        (c.lr_negative, c.fn * c.negatives, c.tn * c.positives),
    ):
        assert type(value) is float
        if b:
            assert value == float(Fraction(a, b))
        else:
            assert value == np.inf if a else isnan(value)
    large = cs.Confusion(*(2**40 * cell for cell in (c.tp, c.fp, c.fn, c.tn)))
    assert large.lr_positive == pytest.approx(c.lr_positive, rel=1e-15, nan_ok=True)
    assert large.lr_negative == pytest.approx(c.lr_negative, rel=1e-15, nan_ok=True)


@given(confusions)
def test_mcc(c: cs.Confusion) -> None:
    square = c.flagged * c.positives * c.negatives * (c.tn + c.fn)
    if square == 0:
        assert isnan(c.mcc)
        return
    assert type(c.mcc) is float
    assert c.mcc == pytest.approx((c.tp * c.tn - c.fp * c.fn) / sqrt(square), rel=1e-14)
    assert -1 <= c.mcc <= 1
    if c.tp * c.tn == c.fp * c.fn:
        assert c.mcc == 0


def test_mcc_of_a_perfect_decision() -> None:
    """Exactly 1, whatever the counts (√3·√3 is not 3); and the opposite never past -1."""
    p, n = np.meshgrid(np.arange(1, 100), np.arange(1, 100))
    zero = np.zeros_like(p)
    assert (cs.Confusion(tp=p, fp=zero, fn=zero, tn=n).mcc == 1).all()
    worst = cs.Confusion(tp=zero, fp=n, fn=p, tn=zero).mcc
    assert (worst >= -1).all()
    assert (worst <= -1 + 2**-52).all()


def test_mcc_of_large_counts() -> None:
    big = 10**12  # the product of four such counts is past every integer type
    assert cs.Confusion(tp=big, fp=0, fn=0, tn=big).mcc == 1
    arrays = cs.Confusion(*(np.array([n, big]) for n in (big, 0, 0, big)))
    assert arrays.mcc[0] == 1


@given(confusions, st.floats(0, 100))
def test_f_beta(c: cs.Confusion, beta: float) -> None:
    b2 = Fraction(beta) ** 2
    whole = (1 + b2) * c.tp + c.fp + b2 * c.fn
    if c.tp + c.fp + c.fn == 0 or (c.tp + c.fp == 0 and beta == 0):
        assert isnan(c.f(beta))
    elif whole > Fraction(1, 10**300):  # β² of the tiniest β is 0 as a float
        assert c.f(beta) == pytest.approx(float((1 + b2) * c.tp / whole), rel=1e-14)
    assert c.f1 == c.f(1) or isnan(c.f1)


def test_f_beta_extremes() -> None:
    c = cs.Confusion(tp=6, fp=2, fn=4, tn=1)
    assert c.f(0) == c.precision == 0.75
    assert c.f(1e9) == pytest.approx(c.recall)
    for beta in (-1.0, np.inf, np.nan):
        with finding("bad-argument", parameter="beta"):
            c.f(beta)


@given(st.lists(st.tuples(count, count, count, count), min_size=1, max_size=10), st.booleans())
def test_many_cuts_are_one_cut_each(cuts: list[tuple[int, int, int, int]], weighted: bool) -> None:
    kind: Any = np.float64 if weighted else np.int64
    many = cs.Confusion(*(np.array(column, kind) for column in zip(*cuts, strict=True)))
    for name in (*COUNTS, *RATES):
        one = np.array([getattr(cs.Confusion(*cut), name) for cut in cuts])
        assert_array_equal(getattr(many, name), one, err_msg=name)
    assert_array_equal(many.f(2.0), [cs.Confusion(*cut).f(2.0) for cut in cuts])


def test_arrays_beside_a_number() -> None:
    c = cs.Confusion(tp=np.array([0, 3]), fp=0, fn=np.array([3, 0]), tn=5)
    assert_array_equal(c.precision, [np.nan, 1])
    assert_array_equal(c.recall, [0, 1])
    assert_array_equal(c.fpr, 0)


@pytest.mark.parametrize("weight", [None, np.random.default_rng(1).exponential(size=200)])
def test_peers(weight: Any) -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 200), rng.standard_normal(200).round(1)
    c = cs.sweep(y, score, weight).at(0.3)
    flag = score >= 0.3
    tn, fp, fn, tp = metrics.confusion_matrix(y, flag, sample_weight=weight).ravel()
    assert (c.tp, c.fp, c.fn, c.tn) == pytest.approx((tp, fp, fn, tn), rel=1e-13)
    for name, peer in {
        "recall": metrics.recall_score,
        "precision": metrics.precision_score,
        "accuracy": metrics.accuracy_score,
        "balanced_rate": metrics.balanced_accuracy_score,
        "f1": metrics.f1_score,
        "mcc": metrics.matthews_corrcoef,
    }.items():
        theirs = peer(y, flag, sample_weight=weight)
        assert getattr(c, name) == pytest.approx(theirs, rel=1e-12), name
    theirs = metrics.class_likelihood_ratios(y, flag, sample_weight=weight)
    assert (c.lr_positive, c.lr_negative) == pytest.approx(theirs, rel=1e-12)
    theirs = metrics.fbeta_score(y, flag, beta=2, sample_weight=weight)
    assert c.f(2) == pytest.approx(theirs, rel=1e-12)


def test_frozen() -> None:
    c = cs.Confusion(tp=1, fp=2, fn=3, tn=4)
    with pytest.raises(FrozenInstanceError):
        c.tp = 5
    assert c == cs.Confusion(1, 2, 3, 4) != cs.Confusion(4, 3, 2, 1)
    assert len({c, cs.Confusion(1, 2, 3, 4)}) == 1


def test_repr() -> None:
    assert repr(cs.Confusion(tp=17, fp=41, fn=3, tn=9939)) == (
        "10,000 cases, 20 positive; 17 caught, 3 missed, 41 false alarms"
    )
    assert repr(cs.Confusion(tp=0.25, fp=1.5, fn=0.5, tn=1e6)) == (
        "1e+06 cases, 0.75 positive; 0.25 caught, 0.5 missed, 1.5 false alarms"
    )
    assert repr(cs.Confusion(*np.zeros((4, 3), int))) == "Confusion at 3 thresholds"


def test_html() -> None:
    page = cs.Confusion(tp=17, fp=41, fn=3, tn=9939)._repr_html_()
    cells = [cell.partition("<")[0].partition(">")[2] for cell in page.split("<td")[1:]]
    assert cells == ["17", "3", "41", "9,939"]
    assert "recall 85 %, precision 29.3 %, false positive rate 0.411 %" in page
    assert page.count("padding:.2em .8em") == 6  # of the columns and of their heads
    assert "precision 0/0" in cs.Confusion(tp=0, fp=0, fn=3, tn=1)._repr_html_()
    assert "Confusion at 3 thresholds" in cs.Confusion(*np.zeros((4, 3), int))._repr_html_()


def test_interval() -> None:
    """Certain or confident, it unpacks and contains its ends."""
    certain, sure = cs.Interval(0.25, 0.75), cs.Interval(0.71, 0.75, level=0.95)
    assert (tuple(certain), certain.width) == ((0.25, 0.75), 0.5)
    assert 0.25 in certain
    assert 0.75 in certain
    assert 0.7500001 not in certain
    assert cs.Confusion(0, 0, 0, 0).recall not in certain  # nan
    assert repr(certain) == "[0.25, 0.75] guaranteed"
    assert repr(sure) == "[0.71, 0.75] at 95 %"


def test_text_in_html_is_escaped() -> None:
    page = fact_table("<script>", [("a&b", "<b>")])
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    assert "a&amp;b" in page


def test_one_of_a_kind_is_singular():
    assert repr(cs.Confusion(tp=1, fp=0, fn=0, tn=0)) == (
        "1 case, 1 positive; 1 caught, 0 missed, 0 false alarms"
    )
    assert repr(cs.Confusion(tp=0, fp=1, fn=2, tn=0)).endswith("2 missed, 1 false alarm")


@given(confusions, st.integers(-1060, 1010))
def test_mcc_is_free_of_scale(c: cs.Confusion, power: int) -> None:
    """Weights of any size: products of four of them leave the floats long before they do."""
    scaled = cs.Confusion(*(np.ldexp(float(n), power) for n in (c.tp, c.fp, c.fn, c.tn)))
    assert scaled.mcc == c.mcc or (isnan(scaled.mcc) and isnan(c.mcc))


def test_f_beta_of_any_finite_beta_and_weight() -> None:
    c = cs.Confusion(tp=6.0, fp=2.0, fn=4.0, tn=1.0)
    assert c.f(1e200) == c.f(10**5000) == c.recall == 0.6
    big = cs.Confusion(*(np.ldexp(n, 1018) for n in (6.0, 2.0, 4.0, 1.0)))
    assert big.f(3.0) == c.f(3.0)
