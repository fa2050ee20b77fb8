"""Policies by the costs of each row: saving, revising, checking, bad files."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.policy import Policy
from raising import finding

COSTS = cs.Costs(fp=4, fn="0.8*amount + 1")


def drawn(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    amount = rng.lognormal(3, 1, n).round(2)
    return y, rng.standard_normal(n) + 2 * y, {"amount": amount}


def policy(costs: cs.Costs = COSTS, **more: Any) -> Policy:
    y, score, columns = drawn()
    score = -score if more.get("reverse") else score
    return Policy.choose_by_row(y, score, costs, columns, **({"calibrator": "platt"} | more))


KINDS: dict[str, dict[str, Any]] = {
    "all scores": {"evidence": "scores"},
    "corners": {"evidence": "corners"},
    "another prior": {"prior": 0.02},
    "a limit": {"subject_to": "fpr <= 2 %", "confidence": 0.9},
    "given": {"threshold": 1.5},
    "low scores": {"reverse": True},
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_has_all_of_it(name: str) -> None:
    p = policy(**KINDS[name])
    again = Policy.from_json(p.to_json())
    assert again.to_json() == p.to_json()
    assert again.aim == p.aim
    assert again.rule == p.rule
    _y, score, columns = drawn(500, 1)
    flagged = p.decide(score, columns=columns)
    assert (again.decide(score, columns=columns) == flagged).all()
    towards = -score if p.reverse else score
    gap = p.calibrator.llr(towards) + np.log((0.8 * columns["amount"] + 1) / 4)
    assert p.row_gaps(score, columns) == pytest.approx(gap)
    assert (flagged == (p.row_gaps(score, columns) >= p.threshold)).all()
    assert again.promises == p.promises
    assert (again.point.value, again.point.confusion) == (p.point.value, p.point.confusion)


def test_it_is_the_choice_of_the_function() -> None:
    y, score, columns = drawn()
    p, point = policy(), cs.choose_by_row(y, score, COSTS, columns, calibrator="platt")
    assert (p.threshold, p.point.value) == (point.threshold, point.value)
    assert p.promises["cost"] == point.expected
    assert p.promises["saving"] == point.expect_saving()
    assert p.point.uniform.threshold == point.uniform.threshold
    assert p.point.uniform.value == point.uniform_cost  # that expected on new rows
    assert p.point.expect_saving("flag none") == point.expect_saving()


def test_low_scores() -> None:
    y, score, columns = drawn()
    options = {"calibrator": "platt"}
    one = Policy.choose_by_row(y, score, COSTS, columns, **options)
    other = Policy.choose_by_row(y, -score, COSTS, columns, reverse=True, **options)
    assert other.threshold == one.threshold
    flagged = one.decide(score, columns=columns)
    assert (other.decide(-score, columns=columns) == flagged).all()
    found = other.check(y, -score, columns=columns)
    assert [one.code for one in found.findings] == ["same-rows"]


def test_revised_for_another_cost_is_choosing_again() -> None:
    """The same calibrator and gaps that differ by a constant: the file is enough."""
    y, score, columns = drawn()
    p = Policy.from_json(policy(evidence="scores").to_json())
    new = cs.Costs(fp=10, fn="0.8*amount + 1")
    revised = p.revised(costs=new)
    point = cs.choose_by_row(y, score, new, columns, calibrator=p.calibrator)
    assert revised.point.confusion == point.confusion
    assert revised.point.value == pytest.approx(point.value)
    assert revised.threshold == pytest.approx(point.threshold, abs=0.02)
    assert revised.calibrator == p.calibrator
    promised = revised.promises["cost"]
    assert promised.value == pytest.approx(point.expected.value, rel=0.05)
    assert Policy.from_json(revised.to_json()).to_json() == revised.to_json()
    back = revised.revised(costs=COSTS)
    assert back.point.confusion == p.point.confusion


def test_revised_for_limits_priors_and_thresholds() -> None:
    y, score, columns = drawn()
    p = policy(evidence="scores")
    for more in ({"subject_to": "fpr <= 1 %"}, {"prior": 0.01}, {"threshold": 2.0}):
        point = cs.choose_by_row(y, score, COSTS, columns, calibrator=p.calibrator, **more)
        revised = p.revised(**more)
        assert revised.point.confusion == point.confusion
        assert revised.point.value == pytest.approx(point.value)
        assert revised.given == ("threshold" in more)


@pytest.mark.parametrize(
    "costs",
    [
        cs.Costs(fp=4, fn="amount"),
        cs.Costs(fp=4, fn=20),
        cs.Costs(fp="amount", fn="0.8*amount + 1"),
        cs.Costs(fp=4, fn="0.8*amount + 1", tp=2),
    ],
)
def test_other_formulas_need_the_rows(costs: cs.Costs) -> None:
    with finding("undefined", cs.UndefinedError):
        policy().revised(costs=costs)


def test_policies_of_one_cost_know_no_amounts() -> None:
    y, score, _ = drawn()
    p = Policy.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=9), calibrator="platt")
    with finding("undefined", cs.UndefinedError):
        p.revised(costs=COSTS)
    with finding("undefined", cs.UndefinedError):
        p.row_gaps(score, None)


def test_checked_on_new_rows() -> None:
    y, score, columns = drawn(4000, 2)
    p = policy()
    found = p.check(y, score, columns=columns)
    observed = {one.name: one.observed for one in found.promises}
    flagged = p.decide(score, columns=columns)
    miss = 0.8 * columns["amount"] + 1
    cost = np.where(y, miss * ~flagged, 4.0 * flagged)
    assert observed["cost"].value == pytest.approx(cost.mean())
    assert observed["saving"].value == pytest.approx((y * miss - cost).mean())
    assert observed["recall"].value == pytest.approx(flagged[y].mean())
    assert observed["auc"].value == cs.sweep(y, score).auc
    assert observed["cost"].low < cost.mean() < observed["cost"].high


def test_a_check_notices_larger_losses() -> None:
    y, score, columns = drawn(6000, 3)
    worse = {"amount": columns["amount"] * 4}
    found = policy().check(y, score - 1.5 * y, columns=worse)
    promise = next(one for one in found.promises if one.name == "cost")
    assert promise.observed.low > promise.promised.high


def test_checks_need_the_columns() -> None:
    y, score, columns = drawn(500, 4)
    with finding("bad-argument", parameter="columns"):
        policy().check(y, score)
    with finding("bad-argument", parameter="columns"):
        policy().decide(score)
    with finding("row-cost-unfit", row=7):
        amount = columns["amount"].copy()
        amount[7] = np.nan
        policy().decide(score, columns={"amount": amount})
    with finding("value-missing", row=3):
        x = score.copy()
        x[3] = np.nan
        policy().decide(x, columns=columns)


def test_arrays_cannot_be_saved() -> None:
    y, score, columns = drawn()
    with finding("bad-argument", parameter="costs"):
        Policy.choose_by_row(y, score, cs.Costs(fp=4, fn=columns["amount"]))


def test_merging_needs_the_rows() -> None:
    with finding("undefined", cs.UndefinedError):
        policy() + policy()


BAD: dict[str, Any] = {
    "gain": [-1.0],
    "loss": ["x"],
    "scale": 0,
    "packed": 3,
    "uniform": {"threshold": 1.0},
}


@pytest.mark.parametrize("field", BAD)
def test_bad_files(field: str) -> None:
    data = json.loads(policy(evidence="scores").to_json())
    data["row_costs"][field] = BAD[field]
    del data["checksum"]
    with pytest.raises(cs.DataError):
        Policy.from_dict(data)


@pytest.mark.parametrize("change", ["missing", "of one cost", "no calibrator"])
def test_files_that_contradict_themselves(change: str) -> None:
    data = policy().to_dict()
    if change == "missing":
        del data["row_costs"]
    elif change == "of one cost":
        data["aim"]["costs"]["fn"] = 3.0
    else:
        data["calibrator"] = None
    with pytest.raises(cs.DataError):
        Policy.from_dict(data)


def test_weights() -> None:
    rng = np.random.default_rng(5)
    y, score, columns = drawn()
    w = rng.integers(1, 4, len(y)).astype(float)
    p = Policy.choose_by_row(y, score, COSTS, columns, weight=w, calibrator="platt")
    again = Policy.from_json(p.to_json())
    assert again.point.value == pytest.approx(p.point.value)
    flagged = p.decide(score, columns=columns)
    miss = 0.8 * columns["amount"] + 1
    cost = np.where(y, miss * ~flagged, 4.0 * flagged)
    assert p.point.value == pytest.approx(np.average(cost, weights=w))
    found = again.point.as_given(COSTS)
    assert found.value == pytest.approx(p.point.value)
    assert found.low < found.value < found.high


def test_nothing_and_everything() -> None:
    _y, score, columns = drawn()
    for at, text in ((inf, "flag nothing"), (-inf, "flag everything")):
        p = policy(threshold=at)
        assert p.rule == text
        assert p.decide(score, columns=columns).all() == (at < 0)
        assert Policy.from_json(p.to_json()).rule == text
