"""Curves: one order, one length, an explicit start; every value against the definition."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import metrics

import cutscore as cs
import oracle
from raising import finding
from strategies import Case, rows, weights

CURVES: tuple[Callable[[cs.Sweep], Any], ...] = (cs.roc, cs.pr, cs.det, cs.gain, cs.lift)


def floats(values: list[Fraction]) -> list[float]:
    return [float(v) for v in values]


@given(rows(both=True))
def test_order_length_and_start(case: Case) -> None:
    s = cs.sweep(*case)
    for make in CURVES:
        curve = make(s)
        for field in fields(curve):
            column = getattr(curve, field.name)
            assert column.dtype == np.float64
            assert column.shape == (len(s) + 1,)
            assert not column.flags.writeable
        assert len(curve) == len(s) + 1
        assert curve.threshold[0] == np.inf
        assert_array_equal(curve.threshold[1:], s.threshold)
        assert (curve.threshold[2:] < curve.threshold[1:-1]).all()


@given(rows(both=True))
def test_values(case: Case) -> None:
    """Each is one division of integers, so it is the fraction rounded once."""
    s, t = cs.sweep(*case), oracle.table(*case)
    p = oracle.points(t)
    fpr, tpr = [a.fp / t.N for a in p], [a.tp / t.P for a in p]
    roc, pr, det, gain = cs.roc(s), cs.pr(s), cs.det(s), cs.gain(s)
    assert roc.fpr.tolist() == floats(fpr)
    assert roc.tpr.tolist() == floats(tpr)
    assert det.fpr.tolist() == floats(fpr)
    assert det.fnr.tolist() == floats([(t.P - a.tp) / t.P for a in p])
    assert pr.recall.tolist() == floats(tpr)
    precision = [Fraction(1)] + [a.tp / (a.tp + a.fp) for a in p[1:]]
    assert pr.precision.tolist() == floats(precision)
    assert gain.gain.tolist() == floats(tpr)
    lift = floats([a * (t.P + t.N) / t.P for a in precision])
    for curve in (gain, cs.lift(s)):
        assert curve.flagged.tolist() == floats([(a.tp + a.fp) / (t.P + t.N) for a in p])
        np.testing.assert_array_max_ulp(curve.lift, np.array(lift), 2)  # of two quotients


@given(st.data(), rows(both=True))
def test_values_with_weights(data: st.DataObject, case: Case) -> None:
    w = data.draw(weights(len(case.y)))
    s, t = cs.sweep(*case, w), oracle.table(*case, w)
    assume(s.P > 0 and s.N > 0)
    p = oracle.points(t)
    close: dict[str, float] = {"rtol": 1e-13, "atol": 0}
    np.testing.assert_allclose(cs.roc(s).fpr, floats([a.fp / t.N for a in p]), **close)
    np.testing.assert_allclose(cs.roc(s).tpr, floats([a.tp / t.P for a in p]), **close)
    precision = floats([Fraction(1)] + [a.tp / (a.tp + a.fp) for a in p[1:]])
    np.testing.assert_allclose(cs.pr(s).precision, precision, **close)


@given(rows(both=True))
def test_shape_of_a_roc_curve(case: Case) -> None:
    roc = cs.roc(cs.sweep(*case))
    assert (roc.fpr[0], roc.tpr[0]) == (0, 0)
    assert (roc.fpr[-1], roc.tpr[-1]) == (1, 1)
    assert (np.diff(roc.fpr) >= 0).all()
    assert (np.diff(roc.tpr) >= 0).all()
    assert (np.diff(roc.fpr) + np.diff(roc.tpr) > 0).all()


def test_worked_example() -> None:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33])
    roc = cs.roc(s)
    points = [(0, 0.25), (0.25, 0.25), (0.25, 0.5), (0.25, 0.75), (0.5, 0.75)]
    points += [(0.5, 1), (0.75, 1), (1, 1)]
    assert list(zip(roc.fpr, roc.tpr, strict=True)) == [(0, 0), *points]


def test_peer() -> None:
    """scikit-learn's curves, brought into the one order."""
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 500), rng.standard_normal(500).round(1)
    s = cs.sweep(y, score)
    fpr, tpr, threshold = metrics.roc_curve(y, score, drop_intermediate=False)
    roc = cs.roc(s)
    for ours, theirs in ((roc.fpr, fpr), (roc.tpr, tpr), (roc.threshold, threshold)):
        assert_array_equal(ours, theirs)
    precision, recall, _ = metrics.precision_recall_curve(y, score)
    assert_array_equal(cs.pr(s).precision, precision[::-1])
    assert_array_equal(cs.pr(s).recall, recall[::-1])


def test_start_and_infinite_scores() -> None:
    """Entry 0 flags nothing, even where a score is +inf itself."""
    s = cs.sweep([1, 0, 1], [np.inf, np.inf, -np.inf])
    roc = cs.roc(s)
    assert roc.threshold.tolist() == [np.inf, np.inf, -np.inf]
    assert roc.tpr.tolist() == [0, 0.5, 1]
    assert roc.fpr.tolist() == [0, 1, 1]
    assert cs.pr(s).precision.tolist() == [1, 0.5, 2 / 3]
    assert cs.gain(s).lift.tolist() == [1.5, 0.75, 1]
    assert cs.gain(s).flagged.tolist() == [0, 2 / 3, 1]
    assert cs.det(s).fnr.tolist() == [1, 0.5, 0]


@pytest.mark.parametrize("make", CURVES)
def test_one_class(make: Callable[[cs.Sweep], Any]) -> None:
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        make(cs.sweep([], []))
    with finding("one-class", cs.UndefinedError):
        make(cs.sweep([0, 0], [1, 2]))
    positives = cs.sweep([1, 1], [1, 2])
    if make in (cs.roc, cs.det):
        with finding("one-class", cs.UndefinedError):
            make(positives)
    else:  # recall and precision need no negatives
        curve = make(positives)
        assert len(curve) == 3
        assert (cs.pr(positives).precision == 1).all()
        assert (cs.gain(positives).lift == 1).all()


@pytest.mark.parametrize("make", CURVES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_frozen_and_copied(make: Callable[[cs.Sweep], Any], copied: Callable[[Any], Any]) -> None:
    curve = make(cs.sweep([1, 0, 1], [3, 2, 1]))
    with pytest.raises(FrozenInstanceError):
        curve.threshold = None
    again = copied(curve)
    for field in fields(curve):
        assert_array_equal(getattr(again, field.name), getattr(curve, field.name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(again, field.name)[0] = 0


def test_repr() -> None:
    s = cs.sweep([1, 0, 1], [3, 2, 1])
    assert repr(cs.roc(s)) == "Roc of 4 points: threshold, fpr, tpr"
    assert repr(cs.pr(s)) == "PrecisionRecall of 4 points: threshold, recall, precision"
    assert repr(cs.det(s)) == "Det of 4 points: threshold, fpr, fnr"
    assert repr(cs.lift(s)) == "Lift of 4 points: threshold, flagged, lift"
    assert repr(cs.gain(s)) == "Gain of 4 points: threshold, flagged, gain, lift"
