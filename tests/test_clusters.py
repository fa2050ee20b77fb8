"""Clustered rows: copies of a row tell no more than the row does, whatever is asked."""

from __future__ import annotations

import numpy as np
import pytest

import cutscore as cs
from cutscore.estimators import DecisionClassifier
from raising import finding

COPIES = 20


def rows(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, rng.normal(size=n) + 1.5 * y


def copied(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row so many times, of one cluster, with scores that hardly differ."""
    noise = 1e-3 * np.random.default_rng(1).normal(size=COPIES * len(y))
    every = np.repeat(np.arange(len(y)), COPIES)
    return y[every], score[every] + noise, every


def widths(p: cs.Policy) -> dict[str, float]:
    return {name: e.high - e.low for name, e in p.promises.items()}


AIM = cs.Costs(fp=1, fn=5)


def alike(one: dict[str, float], other: dict[str, float]) -> None:
    for name in ("cost", "recall", "fpr", "flagged_rate", "auc"):
        assert one[name] == pytest.approx(other[name], rel=0.4), name


def test_promises_are_those_of_clusters() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    plain = cs.Policy.choose(cs.sweep(y, score), AIM)
    s = cs.sweep(Y, S)
    clustered = cs.Policy.choose(s, cs.Aim(AIM, units=cs.units(Y, S, unit)))
    alike(widths(clustered), widths(plain))
    assert widths(cs.Policy.choose(s, AIM))["cost"] < widths(plain)["cost"] / 3
    assert clustered.evidence.units == len(y)
    prevalence = clustered.promises["prevalence"]
    assert prevalence.value == y.mean()
    assert prevalence.high - prevalence.low > 0.07


def test_of_negated_scores_and_weights() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    u = cs.units(Y, S, unit)
    up = cs.Policy.choose(cs.sweep(Y, S), cs.Aim(AIM, units=u))
    down = cs.Policy.choose(cs.sweep(Y, -S), cs.Aim(AIM, units=cs.units(Y, -S, unit)), reverse=True)
    assert down.threshold == -up.threshold
    assert down.promises["auc"] == pytest.approx(up.promises["auc"])
    w = np.full(len(Y), 0.5)
    s = cs.sweep(Y, S, w, squares=True)
    halved = cs.Policy.choose(s, cs.Aim(AIM, units=cs.units(Y, S, unit, weight=w)))
    alike(widths(halved), widths(up))


def test_given_thresholds_and_trivial_ones_are_of_clusters() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    s, u = cs.sweep(Y, S), cs.units(Y, S, unit)
    given = cs.Policy.choose(s, cs.Aim(AIM, units=u), threshold=0.5)
    plain = cs.Policy.choose(cs.sweep(y, score), AIM, threshold=0.5)
    alike(widths(given), widths(plain))
    down = cs.units(Y, -S, unit)
    nothing = cs.choose(cs.sweep(Y, -S), cs.Costs(fp=100, fn=1), units=down)
    assert nothing.threshold == np.inf
    assert nothing.expected is not None
    assert nothing.expected.high - nothing.expected.low > 0.06


def test_units_of_other_rows_are_refused() -> None:
    y, score = rows()
    u = cs.units(y, score, np.arange(len(y)))
    with finding("arguments-conflict"):
        cs.choose(cs.sweep(y, score + 1), AIM, units=u)


def test_a_classifier_with_groups() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    own = DecisionClassifier(aim=AIM).fit(S[:, None], Y, groups=unit)
    plain = DecisionClassifier(aim=AIM).fit(score[:, None], y)
    alike(widths(own.policy_), widths(plain.policy_))
    assert own.policy_.evidence.units == len(y)


def test_a_missing_group_of_a_classifier_is_named() -> None:
    y, score = rows()
    groups = np.arange(len(y), dtype=float)
    groups[24] = np.nan
    with finding("value-missing", what="groups", row=24):
        DecisionClassifier(aim=AIM).fit(score[:, None], y, groups=groups)


def test_folds_of_a_classifier_keep_groups_together() -> None:
    """Rows of one group are copies: who has seen one knows all."""
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(60), 10))
    y, X = (rng.random(60) < 0.5)[group], rng.normal(size=(60, 60))[group]
    for cv in (5, 0.3):
        leaking = DecisionClassifier(aim="balanced", cv=cv, random_state=0).fit(X, y)
        apart = DecisionClassifier(aim="balanced", cv=cv, random_state=0).fit(X, y, groups=group)
        assert leaking.policy_.sweep.auc > 0.95
        assert apart.policy_.sweep.auc < 0.75


def test_a_check_is_of_clusters() -> None:
    """Samples of the same cases differ no more often than they may."""
    y, score = rows()
    Y, S, unit = copied(y, score)
    p = cs.Policy.choose(cs.sweep(Y, S), cs.Aim(AIM, units=cs.units(Y, S, unit)))
    states, by_rows = [], []
    q = cs.Policy.choose(cs.sweep(Y, S), AIM)
    for seed in range(1, 21):
        new = copied(*rows(300, seed))
        states.append(p.check(new[0], new[1], unit=new[2]).state.value)
        by_rows.append(q.check(new[0], new[1]).state.value)
    assert states.count("differs") <= 4
    assert by_rows.count("differs") >= 12


def test_a_check_of_clusters_needs_them() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    p = cs.Policy.choose(cs.sweep(Y, S), cs.Aim(AIM, units=cs.units(Y, S, unit)))
    with finding("bad-argument"):
        p.check(Y, S)
    two = cs.Policy.choose(cs.sweep(y, score), cs.Costs(fp=9, fn=9, review=1))
    with finding("bad-argument"):
        two.check(y, score, unit=np.arange(len(y)))


def test_a_limit_of_clusters_is_on_their_mean_rate() -> None:
    """One huge cluster is flagged: half of the rows, and one in a hundred clusters."""
    unit = np.concatenate([np.repeat(0, 1000), np.arange(1, 100).repeat(10)])
    score = np.where(unit == 0, 1.0, 0.0) + 1e-6 * np.arange(len(unit))
    y = np.zeros(len(unit), bool)
    y[1000::10] = True
    score[y] += 2
    u = cs.units(y, score, unit)
    s = cs.sweep(y, score)
    aim = cs.Aim("recall", "fpr <= 0.2", confidence=0.9, units=u)
    p = cs.Policy.choose(s, aim, threshold=0.5)
    found = p.check(y, score, unit=unit).limits[0]
    assert found.observed is not None
    assert found.observed.value == pytest.approx(0.01)
    assert found.state == "holds"


def test_choices_by_row_are_of_clusters() -> None:
    y, score = rows(600)
    Y, S, unit = copied(y, score)
    amount = np.random.default_rng(2).lognormal(3, 0.5, len(y)).round(2)
    costs = cs.Costs(fp=5, fn="amount")
    one = cs.Policy.choose_by_row(y, score, costs, {"amount": amount}, calibrator="platt")
    many = cs.Policy.choose_by_row(
        *(Y, S, costs, {"amount": amount[unit]}), calibrator="platt", unit=unit
    )
    for name in ("cost", "recall", "fpr", "auc"):
        assert widths(many)[name] == pytest.approx(widths(one)[name], rel=0.4), name
    checked = many.check(Y, S, unit=unit, columns={"amount": amount[unit]})
    assert checked.outcomes


@pytest.mark.parametrize("limit", ["flagged <= 10 per day", "fp <= 8 per day"])
def test_limits_per_day_of_clusters_are_on_all_days(limit: str) -> None:
    """Choices on folds took ten a day for ten in all."""
    y, score = rows(1200)
    Y, S, unit = copied(y, score)
    days = cs.periods(Y, S, np.arange(len(Y)) % 120)
    p = cs.choose(
        cs.sweep(Y, S), "recall", subject_to=limit, periods=days, units=cs.units(Y, S, unit)
    )
    assert p.expected is not None
    assert p.expected.low < p.value < p.expected.high
    assert p.expected.value == pytest.approx(p.value, rel=0.1)


def test_the_point_of_a_policy_expects_what_was_promised() -> None:
    y, score = rows()
    Y, S, unit = copied(y, score)
    policy = cs.Policy.choose(cs.sweep(Y, S), cs.Aim(AIM, units=cs.units(Y, S, unit)))
    for one in (policy, cs.Policy.from_json(policy.to_json())):
        assert one.point.expected == one.promises["cost"]
        with finding("undefined"):
            one.point.stability()
    assert policy.revised(costs=cs.Costs(fp=1, fn=2)).point.expected is None
