"""Cost curves, net benefit and the H measure: against their definitions, cut by cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import cutscore as cs
from raising import finding
from strategies import Case, rows


def all_rates(s: cs.Sweep) -> tuple[Any, Any]:
    roc = cs.roc(s)
    return roc.fpr, 1 - roc.tpr


@given(rows(both=True))
def test_cost_curve_is_the_lower_envelope(case: Case) -> None:
    s = cs.sweep(*case)
    curve = cs.cost_curve(s)
    fpr, fnr = all_rates(s)
    x = np.concatenate((np.linspace(0, 1, 41), curve.low, curve.high))
    lines = fnr[:, None] * x + fpr[:, None] * (1 - x)
    np.testing.assert_allclose(curve.cost(x), lines.min(axis=0), atol=1e-14)
    assert (curve.cost(x) <= np.minimum(x, 1 - x) + 1e-15).all()
    assert curve.low[0] == 0
    assert curve.high[-1] == 1
    assert (curve.low[1:] == curve.high[:-1]).all()
    for k in range(len(curve)):
        middle = (curve.low[k] + curve.high[k]) / 2
        mine = curve.fnr[k] * middle + curve.fpr[k] * (1 - middle)
        assert mine == pytest.approx(curve.cost(middle), abs=1e-15)
    fine = np.linspace(0, 1, 20_001)
    assert curve.area == pytest.approx(scipy.integrate.trapezoid(curve.cost(fine), fine), abs=1e-7)


def test_cost_curve_of_weights_and_bad_input() -> None:
    s = cs.sweep([1, 0, 1], [3, 2, 1], [1, 2, 3])
    assert cs.cost_curve(s).cost(0.5) == pytest.approx(0.375)
    with finding("bad-argument", parameter="x", value=1.5):
        cs.cost_curve(s).cost(1.5)
    with pytest.raises(cs.UndefinedError):
        cs.cost_curve(cs.sweep([1], [1]))


@pytest.mark.parametrize("prior", [None, 0.01, 0.9])
def test_net_benefit(prior: float | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    score = np.round(1 / (1 + np.exp(-(rng.standard_normal(300) + y))), 2)
    score[:2] = (0.0, 1.0)
    s = cs.sweep(y, score)
    curve = cs.net_benefit(s, prior=prior)
    assert curve.threshold.tolist() == [np.inf, *s.threshold.tolist()]
    assert (curve.net_benefit[0], curve.best[0]) == (0, 0)
    p = s.prevalence if prior is None else prior
    for k, t in enumerate(s.threshold.tolist(), start=1):
        c = s.at(t)
        if t == 1:
            continue
        rate = t / (1 - t)
        assert curve.net_benefit[k] == pytest.approx(p * c.recall - (1 - p) * c.fpr * rate)
        assert curve.flag_all[k] == pytest.approx(p - (1 - p) * rate)
        fpr, fnr = all_rates(s)
        assert curve.best[k] == pytest.approx((p * (1 - fnr) - (1 - p) * fpr * rate).max())
    assert (curve.best >= curve.net_benefit - 1e-15).all()
    assert not np.isnan(curve.net_benefit).any()


def test_net_benefit_at_certainty() -> None:
    # At the probability 1 a false alarm costs infinitely much, and none costs nothing.
    sure = cs.net_benefit(cs.sweep([1, 0], [1.0, 0.5]))
    assert sure.net_benefit.tolist() == [0.0, 0.5, 0.0]
    wrong = cs.net_benefit(cs.sweep([0, 1], [1.0, 0.5]))
    assert wrong.net_benefit.tolist() == [0.0, -np.inf, 0.0]
    assert wrong.best.tolist() == [0.0, 0.0, 0.0]
    with finding("not-probabilities", what="a decision curve", score=-1.0):
        cs.net_benefit(cs.sweep([1, 0], [2, -1]))


@given(rows(both=True))
def test_h_measure(case: Case) -> None:
    s = cs.sweep(*case)
    fpr, fnr = all_rates(s)
    p = s.prevalence
    for a, b in ((None, None), (2.0, 2.0), (3.5, 1.2)):
        beta = scipy.stats.beta(1 + p if a is None else a, 2 - p if b is None else b)
        # By the midpoints of cells of equal probability.
        c = beta.ppf((np.arange(4000) + 0.5) / 4000)
        least = (np.outer(c, (1 - p) * fpr) + np.outer(1 - c, p * fnr)).min(axis=1).mean()
        blind = np.minimum(c * (1 - p), (1 - c) * p).mean()
        assert cs.h_measure(s, a=a, b=b) == pytest.approx(1 - least / blind, abs=2e-4)


def test_h_measure_at_its_ends() -> None:
    assert cs.h_measure(cs.sweep([1, 1, 0, 0], [4, 3, 2, 1])) == pytest.approx(1)
    assert cs.h_measure(cs.sweep([1, 0, 1, 0], [1, 1, 1, 1])) == pytest.approx(0)
    assert cs.h_measure(cs.sweep([0, 0, 1, 1], [4, 3, 2, 1])) == pytest.approx(0)
    with finding("bad-argument", parameter="a", value=0):
        cs.h_measure(cs.sweep([1, 0], [2, 1]), a=0, b=1)
    with pytest.raises(cs.UndefinedError):
        cs.h_measure(cs.sweep([1], [1]))


def test_gini() -> None:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    assert cs.gini(s) == 2 * s.auc - 1 == 0.5
    with finding("one-class", cs.UndefinedError):
        cs.gini(cs.sweep([1], [1]))


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(-1e3, 1e3), st.floats(1e-6, 1 - 1e-6))
def test_probability_cost(fp: float, fn: float, tp: float, prior: float) -> None:
    """At it the cost curve has the cost of the best cut, as a share of the highest possible."""
    assume(fn + tp >= 0 and fp + fn + tp > 1e-9)
    costs = cs.Costs(fp=fp, fn=fn, tp=tp)
    x = costs.probability_cost(prior)
    up, down = prior * (fn + tp), (1 - prior) * fp
    assert x == pytest.approx(up / (up + down), rel=1e-9, abs=1e-12)
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    best = cs.choose(s, costs, prior=prior).value + prior * tp
    assert cs.cost_curve(s).cost(x) * (up + down) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_probability_cost_at_the_ends() -> None:
    assert cs.Costs(fp=1, fn=0).probability_cost(0.3) == 0
    assert cs.Costs(fp=0, fn=1).probability_cost(0.3) == 1
    with finding("bad-argument", parameter="prior", value=0):
        cs.Costs(fp=1, fn=1).probability_cost(0)
