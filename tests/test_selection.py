"""What a chosen cut is worth on new rows: the native choices against plain ones, and the truth."""

from __future__ import annotations

import pickle
from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore import _native
from cutscore.decision import OperatingPoint
from cutscore.objectives import as_limits, as_objective
from cutscore.selection import Expected, _numbers, select

COSTS = cs.Costs(fp=1, fn=3)
AIMS: list[tuple[Any, list[str], float | None]] = [
    (COSTS, [], None),
    (COSTS, [], 0.2),
    (cs.Costs(fp=2, fn=5, tp=1, tn=0.5), [], None),
    ("f1", [], None),
    (cs.f(2), [], 0.1),
    ("youden", [], None),
    ("balanced", [], 0.3),
    ("accuracy", [], None),
    ("recall", ["fpr <= 0.4"], None),
    ("recall", ["precision >= 0.6", "flagged <= 4"], None),
    ("precision", ["recall >= 0.5"], 0.3),
    ("fpr", ["recall >= 0.9"], None),
]


def best_cut(y: Any, score: Any, aim: tuple[Any, list[str], float | None], n: int) -> float:
    """The threshold of the best cut, by trying all: in the middle between two scores."""
    goal, limits, prior = aim
    scores = np.unique(score)[::-1]
    best: tuple[Any, ...] | None = None
    threshold = np.inf
    for k in range(len(scores) + 1):
        lowest = scores[k - 1] if k else np.inf
        c = cs.Confusion(
            float(np.sum(y & (score >= lowest))),
            float(np.sum(~y & (score >= lowest))),
            float(np.sum(y & (score < lowest))),
            float(np.sum(~y & (score < lowest))),
        )
        there = c if prior is None else c.deployed(prior)
        short = 0.0
        for limit in as_limits(limits):
            if limit.measure.name == "flagged":  # a share of all rows, as fewer are at hand
                value, bound = c.flagged / len(y), limit.bound / n
            else:
                value, bound = float(limit.measure(limit.sees(c, there))), limit.bound
            gap = bound - value if limit.sign[0] == ">" else value - bound
            short = max(short, np.inf if np.isnan(value) else max(gap, 0.0) / bound)
        value = goal.better * float(goal(there))
        key = (-short, -np.inf if np.isnan(value) else value)
        worse = best is not None and key[0] < best[0] - 1e-12
        alike = best is not None and not worse and key[0] <= best[0] + 1e-12
        if best is None or not (worse or (alike and key[1] <= best[1] + 1e-12)):
            best = key
            if k == 0:
                threshold = np.inf
            elif k == len(scores):
                threshold = -np.inf
            else:
                threshold = scores[k - 1] / 2 + scores[k] / 2
    return float(threshold)


@pytest.mark.parametrize(("wanted", "limits", "prior"), AIMS)
def test_folds_by_trying_all(wanted: Any, limits: list[str], prior: float | None) -> None:
    """Four rows of each class in four folds: a positive and a negative each, in one of 24 ways."""
    goal = as_objective(wanted)
    rng = np.random.default_rng(0)
    for _ in range(12):
        score = rng.integers(0, 7, 8).astype(float)
        y = np.arange(8) < 4
        s = cs.sweep(y, score)
        aim = _numbers(goal, tuple(as_limits(limits)), prior, 8.0)
        assert aim is not None
        possible = set()
        pos, neg = np.sort(score[y])[::-1], np.sort(score[~y])[::-1]
        for order in permutations(range(4)):
            tp = fp = 0
            for k, j in enumerate(order):
                rest = np.concatenate((np.delete(pos, k), np.delete(neg, j)))
                t = best_cut(np.arange(6) < 3, rest, (goal, limits, prior), 8)
                tp += bool(pos[k] >= t)
                fp += bool(neg[j] >= t)
            possible.add((tp, fp))
        seen = set()
        for seed in range(30):
            repeats, _ = _native.cross_fit(
                s.threshold, s.threshold, s.pos, s.neg, aim, 4, 2, np.ones(0), np.ones(0), seed, 1
            )
            seen |= set(zip(*repeats.reshape(2, -1).tolist(), strict=True))
        assert seen <= possible
        assert seen == possible or len(possible) > 3


def test_equal_seeds_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(1)
    y = rng.random(500) < 0.2
    s = cs.sweep(y, rng.normal(size=500) + y)
    aim = _numbers(as_objective("f1"), (), None, 500.0)
    ones = np.ones(40)
    one, two = (
        _native.cross_fit(
            s.threshold, s.threshold, s.pos, s.neg, aim, 10, 3, ones, ones, 7, threads
        )
        for threads in (1, 3)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def point(
    goal: Any = COSTS, n: int = 400, d: float = 1.5, seed: int = 0, **more: Any
) -> OperatingPoint:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 10
    return cs.choose(cs.sweep(y, rng.normal(size=n) + d * y), goal, **more)


def test_a_choice_looks_better_on_its_own_rows() -> None:
    points = [point(cs.Costs(1, 20), seed=seed) for seed in range(40)]
    expected = [p.expected for p in points]
    assert all(e is not None and e.low < e.value < e.high and e.level == 0.95 for e in expected)
    here, there = np.mean([p.value for p in points]), np.mean([e.value for e in expected if e])
    assert here < 0.55 < there < 0.65  # 0.60 in truth


def test_other_measures_at_the_same_point() -> None:
    p = point(cs.Costs(1, 20))
    recall, wide = p.expect("recall"), p.expect("recall", level=0.99)
    assert recall is not None
    assert wide is not None
    assert recall.value == wide.value < p.confusion.recall
    assert wide.low < recall.low < recall.high < wide.high <= 1


def test_where_nothing_is_chosen_the_value_is_that_of_the_rows() -> None:
    nothing = point(cs.Costs(fp=1, fn=0))
    assert nothing.threshold == np.inf
    assert nothing.expected is not None
    assert nothing.expected.value == nothing.value == 0
    one = cs.choose(cs.Sweep.from_counts([1.0, 0.0], [30, 10], [50, 400]), "youden")
    assert one.expected is not None
    assert one.expected.value == pytest.approx(one.value)


def test_many_rows_are_soon_done() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.3
    p = cs.choose(cs.sweep(y, rng.normal(size=60_000) + y), "f1")
    assert p.expected is not None
    assert p.expected.value == pytest.approx(p.value, abs=0.003)
    assert p.expected.high - p.expected.low < 0.02


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        ("mcc", {}),
        (lambda tp, fp, fn, tn: tp - 0.1 * fp, {}),  # noqa: ARG005
        ("recall", {"subject_to": "fpr <= 0.1", "confidence": 0.95}),
        ("recall", {"subject_to": "lift >= 1.5"}),
    ],
)
def test_aims_that_it_does_not_know(goal: Any, more: dict[str, Any]) -> None:
    p = point(goal, **more)
    assert p.expected is None
    assert "expected" not in repr(p).split("\n")[0]
    assert "on these rows" in repr(p).split("\n")[0]


def test_weighted_rows_and_single_ones() -> None:
    weighted = cs.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1], [1.5, 1, 2, 1]), "f1")
    assert weighted.expected is None
    assert select(cs.sweep([1, 0, 0], [3, 2, 1]), as_objective("f1"), (), None) is None


def test_it_reads_well() -> None:
    assert repr(Expected(0.0306, 0.0281, 0.0332, 0.95)) == "0.0306 (95 % CI 0.0281–0.0332)"
    assert repr(Expected(17805.2, 15311.0, 17976.0, 0.9)) == "17,805 (90 % CI 15,311–17,976)"
    assert repr(Expected(0.0, 0.0, 0.0123, 0.95)) == "0.0000 (95 % CI 0.0000–0.0123)"
    assert repr(Expected(nan, nan, nan, 0.95)).startswith("nan")
    p = point(cs.Costs(1, 20))
    assert p.expected == pickle.loads(pickle.dumps(p)).expected


def test_bad_arguments_of_the_core() -> None:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    for aim, folds in ((np.ones(10), 2), (np.ones(11), 1), (np.ones(0), 2)):
        with pytest.raises(ValueError, match="11 numbers"):
            _native.cross_fit(
                s.threshold, s.threshold, s.pos, s.neg, aim, folds, 1, np.ones(1), np.ones(1), 0, 1
            )
