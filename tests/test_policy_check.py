"""Promises and limits of a policy beside what labelled rows show."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.inference.selection import Expected
from cutscore.policy import Labels, Policy
from cutscore.policy.check import CheckState, difference, holm
from raising import finding


def rows(n: int, seed: int, shift: float = 0.0, share: float = 0.3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, rng.standard_normal(n) + 1.5 * y + shift


def policy(aim: Any = None, **more: Any) -> Policy:
    return Policy.choose(cs.sweep(*rows(2000, 1)), aim or cs.Costs(fp=1, fn=3), **more)


def test_rows_like_the_evidence_agree() -> None:
    found = policy().check(*rows(2000, 2))
    assert found.state is CheckState.AGREES
    assert found.ok
    assert [one.name for one in found.promises] == list(policy().promises)
    assert all(one.agrees for one in found.promises)
    assert found.prevalence.agrees
    assert found.findings == ()
    assert found.headline in repr(found)
    assert found.headline in found._repr_html_()


def test_what_happened_is_what_the_rows_show() -> None:
    p, (y, x) = policy(), rows(1000, 2)
    flagged = p.decide(x)
    seen = {one.name: one.observed for one in p.check(y, x).promises}
    assert seen["recall"].value == flagged[y].mean()
    assert seen["precision"].value == y[flagged].mean()
    cost = ((flagged & ~y).sum() + 3 * (~flagged & y).sum()) / len(y)
    assert seen["cost"].value == pytest.approx(cost)
    assert seen["recall"][1:3] == tuple(cs.interval(cs.sweep(y, x), "recall", at=p.threshold))


def test_a_shifted_score_differs() -> None:
    found = policy().check(*rows(2000, 2, shift=-0.6))
    assert found.state is CheckState.DIFFERS
    differs = {one.name for one in found.promises if one.agrees is False}
    assert {"recall", "fpr"} <= differs
    assert "auc" not in differs


def test_another_share_of_positives_is_said() -> None:
    found = policy().check(*rows(3000, 2, share=0.1))
    assert found.prevalence.agrees is False
    by_name = {one.name: one for one in found.promises}
    assert by_name["recall"].agrees
    assert by_name["precision"].agrees is False
    # At a prior that was given, precision and cost are those at that prior.
    at_prior = policy(cs.Aim(cs.Costs(fp=1, fn=3), prior=0.3)).check(*rows(3000, 2, share=0.1))
    assert all(one.agrees for one in at_prior.promises if one.name not in ("flagged_rate",))


@pytest.mark.parametrize(
    ("shift", "state"), [(-0.5, "holds"), (-0.13, "exceeded"), (0.8, "broken")]
)
def test_limits(shift: float, state: str) -> None:
    p = policy(cs.Aim("recall", "fpr <= 10 %"))
    found = p.check(*rows(1500, 3, shift=shift))
    assert found.limits[0].state == state
    assert found.ok == (state != "broken")
    if state == "broken":
        assert found.state is CheckState.BROKEN
        assert "fpr <= 0.1" in found.headline


def test_broken_is_a_one_sided_exact_test() -> None:
    from scipy.stats import binomtest

    p = policy(cs.Aim("recall", "fpr <= 10 %", confidence=0.9), threshold=1.0)
    for wrong in range(5, 30):
        x = np.repeat([2.0, 0.0], (wrong, 100 - wrong))
        x, y = np.append(x, np.full(20, 2.0)), np.arange(120) >= 100
        broken = binomtest(wrong, 100, 0.1, alternative="greater").pvalue < 0.1
        assert (p.check(y, x).limits[0].state == "broken") == broken


def test_limits_on_counts_are_for_as_many_rows() -> None:
    p = policy(cs.Aim("recall", "flagged <= 400"))
    y, x = rows(4000, 3, shift=-0.3)
    (found,) = p.check(y, x).limits
    assert found.state == "holds"
    assert found.observed.value == p.decide(x).sum() / 2
    assert p.check(y, x + 1).limits[0].state == "broken"


def test_too_few_rows_to_tell() -> None:
    found = policy().check([1, 1, 0, 0, 0], [2.0, 1.0, 0.1, -1.0, -0.5])
    assert found.state is CheckState.UNKNOWN
    assert [one.code for one in found.findings] == ["few-rows", "few-rows"]
    with finding("too-few"):
        policy().check([], [])


@pytest.mark.parametrize("reverse", [False, True])
def test_scores_of_another_scale(reverse: bool) -> None:
    sign = -1 if reverse else 1
    y, x = rows(2000, 1)
    p = Policy.choose(cs.sweep(y, sign * x), "f1", reverse=reverse)
    v, z = rows(500, 4)
    assert not p.check(v, sign * z).findings
    few = np.where(np.arange(len(z)) < 100, 100 * z, z)
    (found,) = p.check(v, sign * few).findings
    assert found.code == "scores-outside"
    with finding("scores-outside"):  # most of them: another model or scale
        p.check(v, sign * 100 * z)
    z = few / 100
    low, high = p.range
    assert found.times == pytest.approx(
        max(low - sign * 100 * z.max(), sign * 100 * z.max() - high,
            low - sign * 100 * z.min(), sign * 100 * z.min() - high) / (high - low)
    )  # fmt: skip


def test_labels_are_those_of_the_policy() -> None:
    y, x = rows(300, 5)
    p = policy(labels=Labels("yes", "no", "ill"))
    words = np.where(y, "yes", "no")
    assert p.check(words, x).to_dict() == p.check(y, x).to_dict()
    zero = policy(labels=Labels(0, 1))
    assert zero.check(1 - y, x).to_dict() == p.check(y, x).to_dict()
    with finding("one-class", what="a check"):
        p.check(np.full(300, "no"), x)
    with finding("positive-unknown"):
        p.check(np.where(y, "a", "b"), x)


def test_weights() -> None:
    y, x = rows(300, 5)
    p = policy()
    once = p.check(np.repeat(y, 2), np.repeat(x, 2))
    weighed = p.check(y, x, np.full(300, 2.0))
    for a, b in zip(once.promises, weighed.promises, strict=True):
        assert a.observed.value == pytest.approx(b.observed.value)
    # Weights of 2 say no more than weights of 1.
    assert weighed.promises[1].observed == pytest.approx(p.check(y, x).promises[1].observed)


def test_as_json() -> None:
    p = policy(cs.Aim("recall", "fpr <= 10 %"))
    data = json.loads(json.dumps(p.check(*rows(500, 3)).to_dict()))
    assert data["schema"] == "cutscore.check/1"
    assert data["limits"][0]["limit"] == "fpr <= 0.1"


def test_differences_have_both_errors() -> None:
    a, b = Expected(0.5, 0.4, 0.7, 0.95), Expected(0.8, 0.7, 0.85, 0.95)
    # z = 1.96 · 0.3 / √(0.2² + 0.1²)
    assert difference(a, b) == pytest.approx(0.00856, abs=2e-5)
    assert difference(a, a) == 1
    sure = Expected(0.0, 0.0, 0.0, 0.95)
    assert difference(sure, sure) == 1
    assert difference(sure, Expected(1.0, 1.0, 1.0, 0.95)) == 0


def test_holm() -> None:
    found = holm([0.01, 0.04, None, 0.03, 0.005])
    assert found[2] is None
    assert found[:2] + found[3:] == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_can_not_be_compared_is_refused() -> None:
    """Rows of one class, and scores of another scale."""
    rng = np.random.default_rng(8)
    y = rng.random(2_000) < 0.2
    score = rng.normal(size=2_000) + 1.5 * y
    p = cs.Policy.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=5))
    with finding("one-class", what="a check"):
        p.check(np.zeros(50), score[:50])
    with finding("scores-outside"):
        p.check(y, 100 * score)


def test_a_limit_on_a_count_says_which_rows_it_is_about() -> None:
    y, x = np.repeat([1, 0], [100, 900]), np.arange(1000, 0, -1)
    p = cs.Policy.choose(cs.sweep(y, x), cs.Aim("recall", ["flagged <= 50", "fpr <= 0.5"]))
    found = p.check(np.repeat(y, 4), np.repeat(x, 4))
    flagged, fpr = found.limits
    assert flagged.of_rows == 1000
    assert flagged.observed is not None
    assert flagged.observed.value == 50  # of 200 that were flagged of 4,000
    assert fpr.of_rows is None
    assert found.to_dict()["limits"][0]["of_rows"] == 1000
    assert "flagged <= 50 of 1,000 rows" in repr(found)


def test_rows_it_was_chosen_on_check_nothing() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(800) < 0.3
    x = rng.standard_normal(800) + 2 * y
    for reverse in (False, True):
        sign = -1 if reverse else 1
        p = cs.Policy.choose(cs.sweep(y, sign * x), "f1", reverse=reverse)
        found = p.check(y, sign * x)
        assert found.state is CheckState.UNKNOWN
        assert [one.code for one in found.findings] == ["same-rows"]
        assert not p.check(y[:-1], sign * x[:-1]).findings


def test_a_limited_measure_has_one_interval() -> None:
    rng = np.random.default_rng(6)
    y = rng.random(1600) < 0.3
    x = rng.standard_normal(1600) + 2 * y
    aim = cs.Aim("recall", "precision >= 0.7")
    found = cs.Policy.choose(cs.sweep(y[:800], x[:800]), aim).check(y[800:], x[800:])
    promised = {one.name: one.observed for one in found.promises}
    assert promised["precision"] == found.limits[0].observed
