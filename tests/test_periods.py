"""Limits per day or hour: the same as by exhaustion, and kept on new days."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import cutscore as cs
from cutscore.cli import main
from cutscore.core.errors import CutscoreError
from cutscore.inference.periods import KnownPeriods, unit_of
from cutscore.inference.units import gaffke_p_value
from cutscore.measures.limits import parse_limit
from cutscore.policy import Policy
from cutscore.policy.check import CheckState
from cutscore.report import summarise_policy
from cutscore.report.page import render
from cutscore.tables import write_table
from test_policy_schema import VALIDATOR

CONFIDENCE = 0.8  # low, so that few days can show something


def drawn(seed: int, n: int = 60, days: int = 12) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = (True, False)
    return y, rng.integers(0, 15, n) + 3.0 * y, rng.integers(0, days, n)


def mean_holds(x: Any, bound: float, error: float | None) -> bool:
    if error is None:
        return Fraction(int(x.sum()), len(x)) <= Fraction(str(bound))
    most = max(2.5 * float(x.max()), 2 * bound, 2.0)
    return gaffke_p_value(x / most, np.ones(len(x)), bound / most) <= error


def share_holds(x: Any, bound: float, share: float, error: float | None) -> bool:
    over = int((x > bound).sum())
    if error is None:
        return Fraction(over, len(x)) <= 1 - Fraction(str(share))
    return bool(binom.cdf(over, len(x), 1 - share) <= error)


LIMITS = {
    "flagged <= {} per day": mean_holds,
    "fp <= {} per day": mean_holds,
    "flagged <= {} on 75 % of days": lambda x, b, e: share_holds(x, b, 0.75, e),
    "fp <= {} on 60 % of days": lambda x, b, e: share_holds(x, b, 0.6, e),
}


@pytest.mark.parametrize("confidence", [None, CONFIDENCE])
@pytest.mark.parametrize("limit", LIMITS)
def test_threshold_by_exhaustion(limit: str, confidence: float | None) -> None:
    rng = np.random.default_rng(1)
    for seed in range(60):
        y, score, day = drawn(seed, days=int(rng.integers(4, 14)))
        number = len(np.unique(day)) + int(rng.integers(0, 3))
        days, bound = cs.periods(y, score, day, exposure=number), float(rng.choice([0, 0.5, 1, 2]))
        asked = {"subject_to": limit.format(bound), "periods": days, "confidence": confidence}
        p = cs.choose(cs.sweep(y, score), "recall", **asked)
        error = None if confidence is None else 1 - confidence
        allowed = {np.inf}  # flagging nothing keeps any limit
        for t in np.unique(score):
            counted = (score >= t) & ~y if limit.startswith("fp") else score >= t
            x = np.concatenate((np.unique(day[counted], return_counts=True)[1], np.zeros(number)))
            if LIMITS[limit](np.sort(x)[::-1][:number], bound, error):
                allowed.add(t)
        # Nothing is shown by flagging nothing unless something is shown by days without alarms.
        if confidence is not None and not LIMITS[limit](np.zeros(number), bound, error):
            allowed = {np.inf}
        best = max((y & (score >= t)).sum() for t in allowed)
        assert p.feasible
        assert p.confusion.tp == best, (seed, bound)
        assert not np.isfinite(p.threshold) or min(score[score >= p.threshold]) in allowed


def test_values_of_limits() -> None:
    y, score = [0, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    days = cs.periods(y, score, ["a", "a", "a", "b", "b", "b"], exposure=3)
    asked = {"subject_to": ["flagged <= 1 per day", "fp <= 1 on 60 % of days"], "periods": days}
    p = cs.choose(cs.sweep(y, score), "recall", **asked)
    assert p.confusion.flagged == 3
    assert [one.value for one in p.status] == [1.0, 2 / 3]
    assert "flagged <= 1 per day: met (1.00 per day on these 3 days)" in repr(p)
    assert "(on 66.7 % of days on these 3 days)" in repr(p)


def top_by_force(y: Any, score: Any, day: Any, k: int) -> tuple[Fraction, Fraction]:
    """Recall and precision, on average over all orders of equal scores."""
    caught, flagged = Fraction(0), 0
    for d in np.unique(day):
        rows = [(s, bool(one)) for s, one in zip(score[day == d], y[day == d], strict=True)]
        orders = [
            sum(one for _, one in sorted(order, key=lambda row: -row[0])[:k])
            for order in permutations(rows)
        ]
        caught += Fraction(sum(orders), len(orders))
        flagged += min(k, len(rows))
    return caught / int(y.sum()), caught / flagged


@pytest.mark.parametrize("k", [1, 2, 5])
def test_top_by_exhaustion(k: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y, day = rng.random(18) < 0.5, np.repeat(np.arange(4), (5, 6, 5, 2))
        score = rng.integers(0, 4, 18).astype(float)
        y[[0, 5]] = True
        found = cs.periods(y, score, day).top(k)
        recall, precision = top_by_force(y, score, day, k)
        assert found.recall.value == pytest.approx(float(recall), abs=1e-12)
        assert found.precision.value == pytest.approx(float(precision), abs=1e-12)
        assert found.recall.low <= found.recall.value <= found.recall.high
        assert found.flagged == np.mean([min(k, n) for n in (5, 6, 5, 2)])


def bursts(rng: np.random.Generator, days: int) -> tuple[Any, Any]:
    """Scores of 40 rows a day, higher on some days; and the true mean of alarms at a score."""
    shift = rng.normal(0, 0.7, days)
    day = np.repeat(np.arange(days), 40)
    return day, shift[day] + rng.normal(0, 0.7, len(day))


@pytest.mark.parametrize("limit", ["flagged <= 4 per day", "flagged <= 8 on 90 % of days"])
def test_limit_is_kept_on_new_days(limit: str) -> None:
    rng = np.random.default_rng(2)
    _, far = bursts(rng, 5000)
    new, broken = far.reshape(-1, 40), 0
    for _ in range(200):
        day, score = bursts(rng, 60)
        y = np.zeros(len(day), bool)
        s, days = cs.sweep(y, score), cs.periods(y, score, day)
        p = cs.choose(s, "recall", subject_to=limit, periods=days, confidence=0.95)
        x = (new >= p.threshold).sum(axis=1)
        broken += x.mean() > 4 if "per" in limit else (x > 8).mean() > 0.1
    assert broken <= 18  # of 200; 5 % but for what chance allows


def test_expected_values_are_over_days() -> None:
    rng = np.random.default_rng(3)
    day, noise = bursts(rng, 50)
    y = rng.random(len(day)) < 0.2
    score = noise + 2 * y
    s, days = cs.sweep(y, score), cs.periods(y, score, day)
    p = cs.choose(s, "recall", subject_to="flagged <= 8 per day", periods=days)
    rows = cs.choose(s, "recall", subject_to="flagged <= 400")
    assert p.threshold == rows.threshold
    assert p.chosen is not None
    assert p.chosen.df == 49
    wide, narrow = p.expect("fpr"), rows.expect("fpr")
    assert wide.high - wide.low > narrow.high - narrow.low
    for goal in ("fpr", "precision", "f2", "accuracy", cs.Costs(1, 9), cs.Costs(1, 9, tp=3)):
        wanted = cs.Aim(goal).goal
        given = days.measured(wanted, p.threshold, 0.95)
        assert given.value == pytest.approx(float(wanted(p.confusion)), abs=1e-12)
        assert given.low < given.value < given.high
    for goal in ("mcc", "flagged", "balanced", "lift"):
        assert days.measured(cs.Aim(goal).goal, p.threshold, 0.95) is None


def test_of_many_rows_expected_values_are_those_of_the_threshold() -> None:
    rng = np.random.default_rng(3)
    y, day = rng.random(60_000) < 0.02, np.repeat(np.arange(60), 1000)
    score = rng.normal(0, 0.3, 60)[day] + rng.normal(size=60_000) + 2 * y
    s, days = cs.sweep(y, score), cs.periods(y, score, day)
    p = cs.choose(s, cs.Costs(1, 20), subject_to="flagged <= 30 per day", periods=days)
    assert p.expected.value == pytest.approx(p.value, abs=1e-12)
    assert p.expected.low < p.value < p.expected.high
    assert p.expect("recall").value == p.confusion.recall


def test_normal_rows() -> None:
    day, score = bursts(np.random.default_rng(4), 60)
    y = np.zeros(len(day))
    s, days = cs.sweep(y, score), cs.periods(y, score, day)
    asked = {"periods": days, "confidence": 0.95}
    p = cs.choose(s, "recall", subject_to="fp <= 4 per day", **asked)
    same = cs.choose(s, "recall", subject_to="flagged <= 4 per day", **asked)
    assert p.threshold == same.threshold < np.inf
    assert p.expect("fpr").value == p.confusion.fpr
    few = cs.choose(s, "recall", subject_to="fp <= 4 on 99 % of days", **asked)
    assert few.threshold == np.inf
    assert "requires at least 299 days; there are 60" in repr(few)


def test_days_without_rows() -> None:
    y, score = [0, 1, 0], [3, 2, 1]
    day = np.array(["2026-03-01", "2026-03-02", "2026-03-05"], "datetime64[D]")
    days = cs.periods(y, score, day)
    assert (len(days), days.unit, days.gaps) == (3, "day", 2)
    assert [one.code for one in days.findings] == ["periods-empty"]
    assert "2 of 5 days have no rows and are not counted" in repr(days)
    assert "exposure=5" in repr(days)
    stated = cs.periods(y, score, day, exposure=5)
    assert (len(stated), stated.findings) == (5, ())
    hour = np.array(["2026-03-01T10", "2026-03-01T12"], "datetime64[h]")
    assert unit_of(hour.astype("datetime64[ns]")) == ("hour", 0)
    assert unit_of(np.array([1, 2])) == (None, 0)


def raised(text: str, *, confidence: float | None = None, **more: Any) -> str:
    y, score, day = drawn(0)
    options = {"periods": cs.periods(y, score, more.pop("day", day))} | more
    asked = {"subject_to": text, "confidence": confidence} | options
    with pytest.raises(CutscoreError) as error:
        cs.choose(cs.sweep(y, score), "recall", **asked)
    return str(error.value)


def test_bad_input() -> None:
    assert "needs the period of each row" in raised("flagged <= 2 per day", periods=None)
    assert "be flagged <=, fp <= or reviewed <=" in raised("recall >= 0.5 per day")
    assert "be flagged <=, fp <= or reviewed <=" in raised("flagged >= 2 per day")
    assert "allow 0" in raised("flagged < 0 per day")
    assert "be at least 0" in raised("flagged <= -1 per day")
    assert "less than 100 %" in raised("flagged <= 2 on 100 % of days")
    assert "must have the form" in raised("flagged <= 2 on most of days")
    assert "result of periods" in raised("flagged <= 2 per day", periods=[1, 2])
    prior = raised("flagged <= 2 per day", prior=0.5, confidence=0.9)
    assert "prevalence of these rows" in prior
    times = np.datetime64("2026-03-01T00:00:01") + np.arange(60)
    assert "the limit is per day" in raised("flagged <= 2 per day", day=times)
    y, score, day = drawn(0)
    for exposure in (3, 2.5):
        with pytest.raises(cs.DataError, match="exposure must be an integer of at least 12"):
            cs.periods(y, score, day, exposure=exposure)
    with pytest.raises(cs.DataError, match="k must be an integer of at least 1"):
        cs.periods(y, score, day).top(0)
    other, days = cs.periods(y, score + 1, day), cs.periods(y, score, day)
    with pytest.raises(cs.DataError, match="made from the rows of the sweep"):
        cs.choose(cs.sweep(y, score), "recall", subject_to="fp <= 1 per day", periods=other)
    with pytest.raises(cs.DataError, match="not known for groups"):
        cs.choose_groups(cs.sweeps_by_group(y, score, day), "recall", each="fp <= 1 per day")
    p = cs.choose(cs.sweep(y, score), "recall", subject_to="fp <= 1 per day", periods=days)
    with pytest.raises(cs.UndefinedError, match="stability"):
        p.stability()


def test_contradicting_limits_are_one_finding() -> None:
    y, score, day = drawn(0)
    limits = ["flagged <= 0 per day", "recall >= 0.5"]
    asked = {"subject_to": limits, "periods": cs.periods(y, score, day)}
    p = cs.choose(cs.sweep(y, score), "recall", **asked)
    assert not p.feasible
    assert "infeasible" in [one.code for one in p.verdict.findings]


def test_known_periods_have_the_rules() -> None:
    y, score, day = drawn(5)
    days, s = cs.periods(y, score, day), cs.sweep(y, score)
    for text in ("flagged <= 2 per day", "fp <= 1 on 60 % of days"):
        for confidence in (None, CONFIDENCE):
            aim = cs.Aim("recall", text, confidence=confidence, periods=days)
            error = None if confidence is None else 1 - confidence
            known = days.known(aim.limits, error)
            again = cs.Aim("recall", text, confidence=confidence, periods=known)
            assert cs.choose(s, again).threshold == cs.choose(s, aim).threshold
            if "%" in text:
                with pytest.raises(cs.UndefinedError, match="needs the rows"):
                    known.rule(aim.limits[0], 0.01)
    assert len(KnownPeriods(3, None, {})) == 3


# ----------------------------------------------------------------------------------- two thresholds


def each_day(rows: Any, day: Any, number: int) -> Any:
    return np.bincount(day[rows], minlength=number)


def pairs_by_force(y: Any, score: Any, holds: Any) -> tuple[Any, Any]:
    """Of all pairs of thresholds those that hold: which miss fewest, and of these which review
    fewest."""
    cuts = [np.inf, *np.unique(score)[::-1]]
    found = []
    for i, block in enumerate(cuts):
        for review in cuts[i:]:
            blocked, passed = score >= block, score < review
            if holds(blocked, ~blocked & ~passed, ~passed):
                found.append(((y & passed).sum(), (~blocked & ~passed).sum()))
    return min(found)


REVIEWS = {
    "reviewed <= {} per day": mean_holds,
    "reviewed <= {} on 75 % of days": lambda x, b, e: share_holds(x, b, 0.75, e),
}


@pytest.mark.parametrize("also", ["precision >= 0.6", "fp <= 1 per day", "npv >= 0.9"])
@pytest.mark.parametrize("limit", REVIEWS)
def test_pairs_by_exhaustion(limit: str, also: str) -> None:
    rng = np.random.default_rng(3)
    for seed in range(25):
        number, n = int(rng.integers(4, 9)), int(rng.integers(12, 40))
        y, score, day = drawn(seed, n, number)
        number = len(np.unique(day))
        bound = float(rng.choice([0, 0.5, 1, 2]))
        days = cs.periods(y, score, day, exposure=number + 1)

        def holds(
            blocked: Any,
            reviewed: Any,
            not_passed: Any,
            of: tuple[Any, Any, Any] = (y, day, number + 1),
            bound: float = bound,
        ) -> bool:
            y, day, number = of
            day = np.unique(day, return_inverse=True)[1]
            kept = REVIEWS[limit](each_day(reviewed, day, number), bound, None)
            if also.startswith("precision"):
                more = blocked.any() and y[blocked].mean() >= 0.6
            elif also.startswith("npv"):
                more = (~not_passed).any() and 1 - y[~not_passed].mean() >= 0.9
            else:
                more = mean_holds(each_day(blocked & ~y, day, number), 1, None)
            return bool(kept and more)

        p = cs.choose(
            cs.sweep(y, score), "fnr", subject_to=[limit.format(bound), also], periods=days
        )
        try:
            best = pairs_by_force(y, score, holds)
        except ValueError:
            assert not p.feasible
            continue
        assert (p.feasible, p.confusion.fn, p.confusion.reviewed) == (True, *best), seed
        assert all(one.holds for one in p.status)


def test_guaranteed_reviews() -> None:
    """Of pairs that keep a limit with a confidence, all were tested: either so few rows are not
    passed, or so few are reviewed from a score on that blocks no more."""
    for seed in range(6):
        y, score, day = days_of(40, seed)
        day, s = np.unique(day, return_inverse=True)[1], cs.sweep(y, score)
        days = cs.periods(y, score, day)
        share = days.rule(parse_limit("reviewed <= 10 on 75 % of days"), 0.05)
        order = np.argsort(-score)

        def counts(start: int, end: int, day: Any = day[order]) -> Any:
            return np.bincount(day[start:end], minlength=40)

        edges = np.append(np.flatnonzero(np.diff(score[order])) + 1, len(y))
        kept = [k for k in edges if share_holds(counts(0, k), 10, 0.75, 0.05)]
        assert (share.blocked, share.most) == ((0,), (max(kept),))
        mean = days.rule(parse_limit("reviewed <= 10 per day"), 0.05)
        kept = [k for k in edges if mean_holds(counts(0, k), 10, 0.045)]
        assert (mean.blocked[0], mean.most[0]) == (0, max(kept))
        for start, end in list(zip(mean.blocked, mean.most, strict=True))[1::9]:
            assert mean_holds(counts(start, end), 9.5, 0.005 / 1002)
            later = edges[edges > end]  # not far from what just fails
            if len(later) > 2:
                assert not mean_holds(counts(start, later[2]), 9.5, 0.005 / 1002)
        # Many can be blocked besides.
        many = cs.choose(
            s,
            cs.Costs(fp=1, fn=3, review=0.1),
            subject_to="reviewed <= 10 per day",
            confidence=0.95,
            periods=days,
        )
        assert many.feasible
        assert many.confusion.reviewed / 40 < 10


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("text", ["reviewed <= 8 per day", "reviewed <= 10 on 90 % of days"])
def test_policies_with_reviews_per_day(text: str, reverse: bool, confidence: float | None) -> None:
    y, score, day = days_of(60, 1)
    score = -score if reverse else score
    days, s = cs.periods(y, score, day), cs.sweep(y, score)
    limits = ("precision >= 60 %", text)
    aim = cs.Aim("fnr", limits, confidence=confidence, periods=days)
    p = Policy.choose(s, aim, reverse=reverse)
    VALIDATOR.validate(json.loads(p.to_json()))
    again = Policy.from_json(p.to_json())
    assert again.to_json() == p.to_json()
    assert [one.holds for one in again.point.status] == [True, True]
    assert again.point.confusion == p.point.confusion
    assert p.promises["fnr"].low < p.confusion.fnr < p.promises["fnr"].high
    if p.confusion.reviewed:
        assert p.promises["review_rate"].value == pytest.approx(p.confusion.review_rate, abs=0.02)
    costs = cs.Costs(fp=3, fn=9, review=1)
    new = Policy.choose(s, cs.Aim(costs, limits, None, confidence, periods=days), reverse=reverse)
    assert again.revised(costs=costs).cuts == new.cuts
    # Thresholds that were set are tested like those that were chosen.
    far = again.revised(threshold=(9.0, -5.0) if reverse else (-9.0, 5.0))
    assert not far.point.status[1].holds
    for seed, shift, states in ((3, 0.0, ("holds", "exceeded")), (4, 2.0, ("broken",))):
        y, score, day = days_of(50, seed, shift)
        score = -score if reverse else score
        found = again.check(y, score, period=day)
        assert found.limits[1].state in states or not p.confusion.reviewed
        assert again.check(y, score).limits[1].state == "unknown"
    text = render(summarise_policy(again))
    assert "reviewed rows" in text


def test_many_windows_are_kept_at_the_thresholds() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(12_000) < 0.1
    score, day = rng.normal(size=len(y)) + 2 * y, rng.integers(0, 40, len(y))
    aim = cs.Aim(
        "fnr",
        ("precision >= 0.5", "reviewed <= 10 on 80 % of days"),
        periods=cs.periods(y, score, day),
    )
    s = cs.sweep(y, score)
    p = Policy.choose(s, aim)
    (rule,) = p.evidence.periods.rules.values()
    assert len(rule.most) > 1002
    few = Policy.from_json(Policy.choose(s, aim, evidence="corners").to_json())
    (rule,) = few.evidence.periods.rules.values()
    assert len(rule.most) == 1
    assert [one.holds for one in few.point.status] == [True, True]
    assert few.cuts == p.cuts
    with pytest.raises(cs.UndefinedError):
        few.revised(costs=cs.Costs(fp=1, fn=2, review=1))
    with pytest.raises(cs.UndefinedError, match="needs the rows with their periods"):
        _ = few.revised(threshold=(0.0, 9.0)).point.status


def test_reviews_of_many_rows_have_intervals_over_days() -> None:
    rng = np.random.default_rng(1)
    day = np.repeat(np.arange(50), 2000)
    y = rng.random(len(day)) < 0.5
    score = rng.normal(0, 0.5, 50)[day] + rng.normal(size=len(day)) + 2 * y
    s, days = cs.sweep(y, score), cs.periods(y, score, day)
    limits = ["precision >= 95 %", "reviewed <= 200 per day"]
    p = cs.choose(s, cs.Costs(fp=1, fn=1, review=0.2), subject_to=limits, periods=days)
    decided = p.decide(score).astype(int)
    cost = np.where(decided == 1, 0.2, (decided == 2) != y)
    daily = [cost[day == d].mean() for d in range(50)]
    half = 2.01 * np.std(daily, ddof=1) / np.sqrt(50)
    assert p.expected.value == pytest.approx(p.value) == pytest.approx(cost.mean())
    assert p.expected.high - p.expected.low == pytest.approx(2 * half, rel=0.1)
    for name in ("fnr", "recall", "review_rate", "npv"):
        e = p.expect(name)
        assert e.low < float(getattr(p.confusion, name)) < e.high


@pytest.mark.parametrize(
    ("costs", "limit"),
    [
        (cs.Costs(fp=1, fn=3), "flagged <= 400 per day"),
        (cs.Costs(fp=1, fn=3, review=0.2), "reviewed <= 100 per day"),
    ],
)
def test_many_rows_at_another_prior(costs: cs.Costs, limit: str) -> None:
    """What was expected there was that of the rows."""
    rng = np.random.default_rng(1)
    day = np.repeat(np.arange(50), 2000)
    y = rng.random(len(day)) < 0.3
    score = rng.normal(size=len(day)) + 2 * y
    s, days = cs.sweep(y, score), cs.periods(y, score, day)
    p = cs.choose(s, costs, subject_to=limit, prior=0.02, periods=days)
    assert p.expected.value == pytest.approx(p.value)
    for name in ("precision", "recall", "fpr"):
        e = p.expect(name)
        assert e.value == pytest.approx(float(getattr(p.deployed, name)))
        assert e.low < e.value < e.high


# ---------------------------------------------------------------------------------------- policies


def days_of(days: int, seed: int, shift: float = 0.0) -> tuple[Any, Any, Any]:
    """Labels, scores and days: some days are worse than others."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), 100)
    y = rng.random(len(day)) < 0.05
    score = rng.normal(0, 0.4, days)[day] + rng.normal(size=len(day)) + 2.5 * y + shift
    return y, score.round(4), np.datetime64("2026-01-01") + day


LIMIT_TEXTS = ("flagged <= 8 per day", "flagged <= 10 on 90 % of days", "fp <= 3 on 80 % of days")


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("text", LIMIT_TEXTS)
def test_policies_keep_what_limits_came_to(
    text: str, reverse: bool, confidence: float | None
) -> None:
    y, score, day = days_of(60, 1)
    score = -score if reverse else score
    days, s = cs.periods(y, score, day), cs.sweep(y, score)
    aim = cs.Aim("recall", text, confidence=confidence, periods=days)
    p = Policy.choose(s, aim, reverse=reverse)
    VALIDATOR.validate(json.loads(p.to_json()))
    again = Policy.from_json(p.to_json())
    assert again.to_json() == p.to_json()
    assert again.aim.limit_texts == (text,)
    assert (again.feasible, again.point.feasible, len(again.evidence.periods)) == (True, True, 60)
    assert again.point.status[0].holds
    # Another goal under the same limit is chosen as on the rows.
    costs = cs.Costs(fp=1, fn=1)
    new = Policy.choose(s, cs.Aim(costs, text, None, confidence, periods=days), reverse=reverse)
    assert again.revised(costs=costs).threshold == new.threshold != p.threshold
    assert again.revised(costs=costs).promises.keys() == {"auc"}
    assert again.revised(drop_limits=True).evidence.periods is None
    if confidence is not None:
        with pytest.raises(cs.UndefinedError, match="needs the rows with their periods"):
            again.revised(confidence=0.9)
    y, score, day = days_of(50, 2)
    score = -score if reverse else score
    aim = cs.Aim("recall", text, confidence=confidence, periods=cs.periods(y, score, day))
    other = Policy.choose(cs.sweep(y, score), aim, reverse=reverse)
    with pytest.raises(cs.UndefinedError, match="merging policies"):
        again + other


@pytest.mark.parametrize("text", LIMIT_TEXTS)
def test_checks_test_limits_over_days(text: str) -> None:
    y, score, day = days_of(60, 1)
    aim = cs.Aim("recall", text, confidence=0.95, periods=cs.periods(y, score, day))
    p = Policy.from_json(Policy.choose(cs.sweep(y, score), aim).to_json())
    y, score, day = days_of(50, 3)
    found = p.check(y, score, period=day)
    assert (found.state, found.limits[0].state) == (CheckState.AGREES, "holds")
    # Days differ, so that intervals over days are wider than those of rows.
    wide, rows = found.promises[1].observed, p.check(y, score).promises[1].observed
    assert wide.value == rows.value
    assert wide.high - wide.low > rows.high - rows.low
    assert p.check(y, score).limits[0].state == "unknown"
    worse = days_of(50, 4, shift=1.0)
    assert p.check(*worse[:2], period=worse[2]).state is CheckState.BROKEN
    # Three times as many days, most of them without rows.
    assert p.check(*worse[:2], period=worse[2], exposure=500).limits[0].state == "holds"


def test_a_policy_without_periods_takes_no_limit_per_day() -> None:
    y, score, _ = days_of(10, 1)
    p = Policy.choose(cs.sweep(y, score), "f1")
    with pytest.raises(cs.UndefinedError, match="the policy has none"):
        p.revised(subject_to="flagged <= 2 per day")


# --------------------------------------------------------------------------------------- command


def written(path: Path, days: int, seed: int, shift: float = 0.0) -> str:
    y, score, day = days_of(days, seed, shift)
    write_table(path, {"y": y.astype(int), "s": score, "day": day.astype(str)})
    return str(path)


NAMED = ["--label", "y", "--score", "s"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_command(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path / f"t.{kind}", 60, 1)
    new, worse = (
        written(tmp_path / f"{name}.csv", 50, seed, shift)
        for name, seed, shift in (("new", 3, 0.0), ("worse", 4, 1.0))
    )
    policy = str(tmp_path / "policy.json")
    limit = ["--subject-to", "flagged <= 10 on 90 % of days", "--period", "day"]
    asked = ["choose", table, *NAMED, "--maximize", "recall", *limit, "--confidence", "0.95"]
    assert main([*asked, "-o", policy]) == 0
    out = capsys.readouterr().out
    assert "flagged <= 10 on 90 % of days at 95 % confidence: met (on " in out
    y, score, day = days_of(60, 1)
    p = cs.choose(
        cs.sweep(y, score),
        "recall",
        subject_to=limit[1],
        confidence=0.95,
        periods=cs.periods(y, score, day),
    )
    saved = Policy.load(policy)
    assert saved.threshold == p.threshold
    assert saved.evidence.periods.column == "day"
    assert main(["check", policy, new]) == 0
    assert "flagged <= 10 on 90 % of days" in capsys.readouterr().out
    assert main(["check", policy, worse]) == 3
    assert main(["check", policy, worse, "--period", "day", "--exposure", "500"]) == 0
    assert main(["apply", policy, new, "-q", "-o", str(tmp_path / "decided.csv")]) == 0
    assert main(["report", policy, "-q", "-o", str(tmp_path / "report.html")]) == 0
    assert "on 90 % of days" in (tmp_path / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["revise", policy, "--cost", "fp=1,fn=1"]) == 0
    assert "flagged <= 10 on 90 % of days: met." in capsys.readouterr().out


def test_command_with_reviews(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path / "t.csv", 60, 1)
    worse = written(tmp_path / "worse.csv", 50, 4, 2.0)
    policy = str(tmp_path / "policy.json")
    limits = ["--subject-to", "precision >= 60 %", "--subject-to", "reviewed <= 8 per day"]
    asked = ["choose", table, *NAMED, "--maximize", "fnr", *limits, "--period", "day"]
    assert main([*asked, "--confidence", "0.95", "-o", policy]) == 0
    assert "reviewed <= 8 per day at 95 % confidence: met (" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["limits"][1]["value"] <= 8
    assert main(["check", policy, worse]) == 3
    assert "reviewed <= 8 per day" in capsys.readouterr().out
    assert main(["revise", policy, "--cost", "fp=1,fn=9,review=1"]) == 0
    assert "reviewed <= 8 per day: met" in capsys.readouterr().out
    assert main(["apply", policy, worse, "-q", "-o", str(tmp_path / "decided.csv")]) == 0
    for kind in ("sql", "python", "card"):
        assert main(["export", policy, "--to", kind]) == 0
    assert "reviewed <= 8 per day" in capsys.readouterr().out
    assert main(["report", policy, "-q", "-o", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "On the evidence of 60 days (column &#39;day&#39;) it allows" in page


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["choose", "--maximize", "recall", "--subject-to", "fp <= 1 per day"], 2, "--period"),
        (["evaluate", "--maximize", "recall", "--subject-to", "fp <= 1 per day"], 2, "choose"),
        (["choose", "--maximize", "recall", "--exposure", "3"], 2, "--period"),
        (["choose", "--maximize", "f1", "--period", "day", "--engine", "arrow"], 2, "memory"),
        (["choose", "--maximize", "f1", "--period", "gone"], 1, "gone"),
        (["choose", "--maximize", "f1", "--period", "day", "--exposure", "2"], 1, "at least 10"),
    ],
)
def test_bad_commands(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path / "t.csv", 10, 1)
    assert main([words[0], table, *NAMED, *words[1:]]) == code
    assert said in capsys.readouterr().err


def test_command_names_days_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days = ["2026-03-01", "2026-03-02", "2026-03-05"] * 20
    columns = {"y": [0, 1, 0] * 20, "s": np.arange(60.0), "day": days}
    write_table(tmp_path / "t.csv", columns)
    asked = ["--maximize", "recall", "--subject-to", "flagged <= 2 per day", "--period", "day"]
    assert main(["choose", str(tmp_path / "t.csv"), *NAMED, *asked]) in (0, 3)
    assert "2 of 5 days have no rows" in (said := capsys.readouterr().err)
    assert "--exposure 5" in said


def test_the_auc_stays_when_a_policy_is_revised() -> None:
    """It does not depend on the threshold; without it nothing is better than chance."""
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.2
    x, day = rng.normal(size=3000) + 2 * y, np.repeat(np.arange(50), 60)
    aim = cs.Aim("recall", "flagged <= 9 per day", periods=cs.periods(y, x, day))
    p = cs.Policy.choose(cs.sweep(y, x), aim)
    low = p.revised(threshold=2.5)
    assert dict(low.promises) == {"auc": p.promises["auc"]}
