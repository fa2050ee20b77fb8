"""What a chosen cut is worth on new rows: the native choices against plain ones, and the truth."""

from __future__ import annotations

import pickle
from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import settings

import cutscore as cs
from cutscore.core import _native
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.words import against_trivial
from cutscore.inference.guarantee import max_errors
from cutscore.inference.selection import (
    Expected,
    Selection,
    _Items,
    _max_errors,
    _numbers,
    select,
    select_among,
)
from cutscore.measures.aim import Aim, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.limits import Limit, as_limits

COSTS = cs.Costs(fp=1, fn=3)
Asked = tuple[Any, list[str], float | None, float | None]
AIMS: list[Asked] = [
    (COSTS, [], None, None),
    (COSTS, [], 0.2, None),
    (cs.Costs(fp=2, fn=5, tp=1, tn=0.5), [], None, None),
    ("f1", [], None, None),
    (cs.f(2), [], 0.1, None),
    ("youden", [], None, None),
    ("balanced", [], 0.3, None),
    ("accuracy", [], None, None),
    ("recall", ["fpr <= 0.4"], None, None),
    ("recall", ["precision >= 0.6", "flagged <= 4"], None, None),
    ("precision", ["recall >= 0.5"], 0.3, None),
    ("fpr", ["recall >= 0.9"], None, None),
    ("mcc", [], None, None),
    ("mcc", [], 0.2, None),
    ("recall", ["lift >= 1.5"], None, None),
    ("recall", ["fpr <= 0.7"], None, 0.6),
    (COSTS, ["recall >= 0.5"], None, 0.8),
    ("recall", ["flagged_rate <= 0.6"], None, 0.7),
]


def short_of(limit: Limit, c: cs.Confusion, there: cs.Confusion, n: int) -> float:
    """How far a limit is from holding."""
    if limit.measure.name == "flagged":  # a share of all rows, as fewer are at hand
        value, bound = c.flagged / c.total, limit.bound / n
    else:
        value, bound = float(limit.measure(limit.sees(c, there))), limit.bound
    gap = bound - value if limit.sign[0] == ">" else value - bound
    return float(np.inf if np.isnan(value) else max(gap, 0.0) / bound)


def surely_short_of(limit: Limit, c: cs.Confusion, error: float) -> float:
    """The same, where it is to hold with a confidence."""
    name, rate = limit.measure.name, limit.bound
    if name == "flagged_rate":
        k = max(max_errors(int(c.total), rate, error), 0)
        return max(c.flagged - k, 0) / (rate * c.total)
    wrong, rows = (c.fn, c.positives) if name == "recall" else (c.fp, c.negatives)
    rate = 1 - rate if name == "recall" else rate
    k = max_errors(int(rows), rate, error)
    if k < 0:
        return float(c.fn + c.tn if name == "recall" else c.flagged)
    return max(wrong - k, 0) / max(rate * rows, 1)


def best_cut(y: Any, score: Any, aim: Asked, n: int) -> float:
    """The threshold of the best cut, by trying all: in the middle between two scores."""
    goal, limits, prior, confidence = aim
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
            if confidence is None:
                short = max(short, short_of(limit, c, there, n))
            else:
                short = max(short, surely_short_of(limit, c, (1 - confidence) / len(limits)))
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


def core(  # noqa: PLR0913, PLR0917 - as the core has them
    y: Any,
    scores: list[Any],
    aim: Asked,
    folds: int,
    repeats: int,
    samples: int,
    seed: int,
    **more: Any,
) -> tuple[Any, Any, Any]:
    """What the native core makes of rows, positives first: of repeats and of samples, by fold, the
    shares flagged among rows left out and among all; the share of positives in each sample; and
    the shares that its own choice flags."""
    goal, limits, prior, confidence = aim
    made = []
    for score in scores:
        value, index = np.unique(-np.asarray(score, float), return_inverse=True)
        made.append((0.0 - value, 0.0 - value, index.astype(np.int32)))
    P = int(np.sum(y))
    sizes = (float(P), float(len(y) - P))
    items = _Items(made, P, None, None, None, sizes, sizes)
    wanted = Aim(as_objective(goal), tuple(as_limits(limits)), prior, confidence)
    numbers = _numbers(wanted, items)
    assert numbers is not None
    ones = np.ones(samples)
    given = {"count": None, "weight": None, "unit": None, "threads": 1} | more
    of_repeats, of_samples, here = _native.cross_fit(
        made,
        P,
        given["count"],
        given["weight"],
        given["unit"],
        *numbers,
        folds=folds,
        repeats=repeats,
        in_pos=ones,
        in_neg=ones,
        seed=seed,
        threads=given["threads"],
    )
    by_fold = (of.reshape(-1, 4, folds) for of in (of_repeats, of_samples))
    return *by_fold, here.reshape(3, -1)


@pytest.mark.parametrize("aim", AIMS)
def test_folds_by_trying_all(aim: Asked) -> None:
    """Four rows of each class in four folds: a positive and a negative each, in one of 24 ways."""
    goal, limits, prior, confidence = aim
    rng = np.random.default_rng(0)
    for _ in range(settings().max_examples // 8):
        score = rng.integers(0, 7, 8).astype(float)
        y = np.arange(8) < 4
        possible = set()
        pos, neg = score[y], score[~y]
        for order in permutations(range(4)):
            tp = fp = 0
            for k, j in enumerate(order):
                rest = np.concatenate((np.delete(pos, k), np.delete(neg, j)))
                six = (as_objective(goal), limits, prior, confidence)
                t = best_cut(np.arange(6) < 3, rest, six, 8)
                tp += bool(pos[k] >= t)
                fp += bool(neg[j] >= t)
            possible.add((tp / 4, fp / 4))
        every = {
            (float(np.mean(pos >= t)), float(np.mean(neg >= t))) for t in (*score, score.max() + 1)
        }
        seen = set()
        for seed in range(30):
            repeats, _, _ = core(y, [score], aim, 4, 2, 0, seed)
            recall, fpr, all_recall, all_fpr = repeats.transpose(1, 0, 2)
            seen |= set(zip(recall.sum(1).tolist(), fpr.sum(1).tolist(), strict=True))
            # All that its cut flags, some of which are left out.
            assert set(zip(all_recall.ravel(), all_fpr.ravel(), strict=True)) <= every
            assert (recall <= all_recall).all()
            assert (fpr <= all_fpr).all()
        assert seen <= possible
        assert seen == possible or len(possible) > 3


def test_of_several_scores_each_choice_takes_the_best() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(60) < 20
    good = rng.normal(size=60) + 3 * y
    bad = rng.normal(size=60)
    aim: Asked = ("f1", [], None, None)
    alone, *_ = core(y, [good], aim, 5, 3, 0, 1)
    for both in ([good, bad], [bad, good], [good, good]):
        assert np.array_equal(core(y, both, aim, 5, 3, 0, 1)[0], alone)
    good, close = (rng.normal(size=60) + y for _ in range(2))
    alone, *_ = core(y, [good], aim, 5, 3, 0, 1)
    either, *_ = core(y, [good, close], aim, 5, 3, 0, 1)
    assert not np.array_equal(either, alone)


@pytest.mark.parametrize("name", ["f1", "f2", "precision", "npv", "lift", "mcc"])
@pytest.mark.parametrize("prior", [None, 0.3])
def test_ratios_of_folds(name: str, prior: float | None) -> None:
    """Where all folds cut alike, the mean of their ratios is that of the sums; where one of two
    flags next to nothing, it is about half of the other's."""
    goal = as_objective(name)
    same = np.array([[[0.4, 0.4], [0.05, 0.05], [0.8, 0.8], [0.1, 0.1]]])
    none = np.array([[[0.4, 0.0], [0.05, 0.0], [0.8, 0.0], [0.1, 1e-9]]])
    found = []
    for folds in (same, none):
        one = Selection(50, 200, (50, 200), prior, folds, folds, np.ones(1), np.ones(1), np.ones(1))
        found.append(one._fold_values(goal, folds, one._share).item())
    c = Confusion(40, 20, 10, 180)
    exact = float(goal(c if prior is None else c.deployed(prior)))
    assert found[0] == pytest.approx(exact, rel=1e-12)
    p = 0.2 if prior is None else prior
    nothing = 1 - p if name == "npv" else 0.0
    assert found[1] == pytest.approx((exact + nothing) / 2, abs=1e-4)


def test_rows_of_one_unit_stay_together() -> None:
    """Twenty copies of a table are one table where copies are units: its folds, and its spread."""
    rng = np.random.default_rng(4)
    y = np.arange(100) < 30
    score = rng.normal(size=100) + y
    copies = np.repeat(y, 20)
    aim: Asked = ("youden", [], None, None)
    spread = {}
    for name, unit in (("rows", None), ("units", np.repeat(np.arange(100, dtype=np.int32), 20))):
        _, samples, here = core(copies, [np.repeat(score, 20)], aim, 10, 4, 200, 1, unit=unit)
        recall, fpr, *_ = samples.sum(axis=2).T
        share, *_ = here
        spread[name] = float(np.std(recall - fpr))
        assert (np.std(share) > 1e-9) == (unit is not None)
    assert spread["units"] > 2.5 * spread["rows"]


def test_rows_of_weight_two_are_two_of_the_same_fold() -> None:
    rng = np.random.default_rng(5)
    y = np.arange(80) < 25
    score = rng.normal(size=80) + y
    aim: Asked = (COSTS, [], None, None)
    plain, *_ = core(y, [score], aim, 5, 3, 0, 2)
    twice, *_ = core(y, [score], aim, 5, 3, 0, 2, weight=np.full(80, 2.0))
    assert np.array_equal(plain, twice)


def test_many_rows_of_one_score_are_one_item() -> None:
    """The same table by its rows and by its counts, as far as chance lets them agree."""
    pos, neg = [300, 400, 250, 100], [220, 900, 4_000, 9_000]
    s = cs.Sweep.from_counts([4.0, 3.0, 2.0, 1.0], pos, neg)
    counted = cs.choose(s, "f1")
    y = np.concatenate((np.ones(sum(pos), bool), np.zeros(sum(neg), bool)))
    score = np.concatenate([np.repeat([4.0, 3.0, 2.0, 1.0], mass) for mass in (pos, neg)])
    rows = select_among(y, [score], Aim(as_objective("f1")))
    assert rows is not None
    assert counted.expected is not None
    by_rows = rows.expect(as_objective("f1"))
    assert by_rows is not None
    assert counted.expected.value == pytest.approx(by_rows.value, rel=1e-3)
    widths = [e.high - e.low for e in (counted.expected, by_rows)]
    assert widths[0] == pytest.approx(widths[1], rel=0.3)


def test_equal_seeds_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(500) < 100
    score = rng.normal(size=500) + y
    aim: Asked = ("f1", [], None, None)
    one, two = (core(y, [score], aim, 10, 3, 40, 7, threads=threads) for threads in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_as_many_may_be_wrong_as_a_guarantee_allows() -> None:
    n = np.arange(400.0)
    for rate, error in ((0.05, 0.05), (0.3, 0.01), (0.001, 0.1)):
        assert _max_errors(n, rate, error).tolist() == [max_errors(int(k), rate, error) for k in n]


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
        (lambda tp, fp, fn, tn: tp - 0.1 * fp, {}),  # noqa: ARG005
        ("lr_positive", {}),
        ("recall", {"subject_to": "precision >= 0.3", "confidence": 0.95}),
    ],
)
def test_aims_that_it_does_not_know(goal: Any, more: dict[str, Any]) -> None:
    p = point(goal, **more)
    assert p.expected is None
    assert "expected" not in repr(p).split("\n")[0]
    assert "on these rows" in repr(p).split("\n")[0]


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        ("mcc", {}),
        ("recall", {"subject_to": "fpr <= 0.1", "confidence": 0.95}),
        ("recall", {"subject_to": "lift >= 1.5"}),
    ],
)
def test_aims_of_other_forms(goal: Any, more: dict[str, Any]) -> None:
    p = point(goal, **more)
    assert p.expected is not None
    assert p.expected.low < p.expected.value < p.value < p.expected.high + 0.2


def test_weighted_rows_and_single_ones() -> None:
    y, score, weight = [1, 0, 1, 0, 1], [5, 4, 3, 2, 1], [1.5, 1, 2, 1, 1]
    assert cs.choose(cs.sweep(y, score, weight), "f1").expected is None
    assert cs.choose(cs.sweep(y, score, weight, squares=True), "f1").expected is not None
    assert select(cs.sweep([1, 0, 0], [3, 2, 1]), Aim(as_objective("f1"))) is None


def test_weights_of_one_are_none() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) < 60
    score = rng.normal(size=300) + y
    plain = cs.choose(cs.sweep(y, score), COSTS).expected
    ones = cs.choose(cs.sweep(y, score, np.ones(300), squares=True), COSTS).expected
    assert plain is not None
    assert ones == pytest.approx(plain)
    # A few rows of great weight tell less than many.
    few = cs.choose(cs.sweep(y, score, rng.exponential(size=300), squares=True), COSTS).expected
    assert few is not None
    assert few.high - few.low > plain.high - plain.low


def test_a_compact_sweep_will_do() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < 100
    s = cs.sweep(y, rng.normal(size=20_000) + 2 * y)
    full, compact = (cs.choose(one, COSTS).expected for one in (s, s.compact()))
    assert full is not None
    assert compact is not None
    assert compact.value == pytest.approx(full.value, rel=0.02)
    assert compact.high - compact.low == pytest.approx(full.high - full.low, rel=0.3)


def test_it_reads_well() -> None:
    assert repr(Expected(0.0306, 0.0281, 0.0332, 0.95)) == "0.0306 (95 % CI 0.0281–0.0332)"
    assert repr(Expected(17805.2, 15311.0, 17976.0, 0.9)) == "17,805 (90 % CI 15,311–17,976)"
    assert repr(Expected(0.0, 0.0, 0.0123, 0.95)) == "0.0000 (95 % CI 0.0000–0.0123)"
    assert repr(Expected(nan, nan, nan, 0.95)) == "–"
    p = point(cs.Costs(1, 20))
    assert p.expected == pickle.loads(pickle.dumps(p)).expected


def test_the_unit_of_weights_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) < 40
    score, weight = rng.normal(size=400) + 1.5 * y, rng.exponential(size=400)
    found = [
        cs.choose(cs.sweep(y, score, k * weight, squares=True), COSTS).expected for k in (1, 5_000)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_costs_and_counts_stay_where_they_can_be() -> None:
    y = [1] * 5 + [0] * 5
    close = cs.choose(cs.sweep(y, range(9, -1, -1)), cs.Costs(1, 20)).expected
    assert close is not None
    assert 0 <= close.low < close.value < close.high <= 10.5  # that of deciding all wrong
    apart = cs.choose(cs.sweep(y, [14, 13, 12, 11, 10, 4, 3, 2, 1, 0]), cs.Costs(1, 20)).expected
    assert apart is not None
    assert apart.low == apart.value == 0
    assert 1 < apart.high < 10.5
    p = point(cs.Costs(1, 20), n=100)
    for name, most_there in (("tp", 10), ("fn", 10), ("fp", 90), ("tn", 90), ("flagged", 100)):
        e = p.expect(name)
        assert e is not None
        assert 0 <= e.low <= e.value <= e.high <= most_there


def test_no_choice_flags_nothing_where_scores_are_infinite() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(300) < 25
    score = rng.normal(size=300) + 3 * y
    score[25:50] = np.inf
    p = cs.choose(cs.sweep(y, score), cs.Costs(1, 1.3))
    fpr = p.expect("fpr")
    assert fpr is not None
    assert fpr.value >= 25 / 275 - 1e-9


def test_few_units_tell_little() -> None:
    rng = np.random.default_rng(2)
    y = np.tile([True, False], 300)
    score = rng.normal(size=600) + y
    spans = []
    for units in (3, 60):
        found = select_among(y, [score], Aim(as_objective("youden")), unit=np.arange(600) % units)
        assert found is not None
        e = found.expect(as_objective("youden"))
        assert found.df == units - 1
        assert e is not None
        spans.append(e.high - e.low)
    assert spans[0] > spans[1]


def test_bad_arguments_of_the_core() -> None:
    x, index = np.array([2.0, 1.0]), np.array([0, 1], np.int32)
    fine: dict[str, Any] = {
        "scores": [(x, x, index)],
        "positives": 1,
        "count": None,
        "weight": None,
        "unit": None,
        "aim": np.ones(13),
        "allowed": [None],
        "folds": 2,
        "repeats": 1,
        "in_pos": np.ones(1),
        "in_neg": np.ones(1),
        "seed": 0,
        "threads": 1,
    }
    _native.cross_fit(**fine)
    for change, words in (
        ({"aim": np.ones(11)}, "13 numbers"),
        ({"folds": 1}, "2 to 255 folds"),
        ({"allowed": []}, "13 numbers"),
        ({"allowed": [np.ones(0)]}, "nothing says"),
        ({"scores": []}, "no score"),
        ({"positives": 3}, "more items"),
        ({"scores": [(x, x, index + 1)]}, "none of the scores"),
        ({"unit": index - 1}, "from 0 on"),
        ({"weight": np.ones(1)}, "length"),
        ({"count": np.ones(3)}, "length"),
        ({"in_neg": np.ones(2)}, "length"),
    ):
        with pytest.raises(ValueError, match=words):
            _native.cross_fit(**(fine | change))


# ---------------------------------------------------------------------------------------- baselines


def _drawn(seed: int, n: int, share: float, d: float) -> cs.Sweep:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return cs.sweep(y, rng.standard_normal(n) + d * y)


@pytest.mark.parametrize("prior", [None, 0.02, 0.4])
@pytest.mark.parametrize("costs", [cs.Costs(1, 3), cs.Costs(1, 50), cs.Costs(2, 5, tp=1, tn=0.5)])
def test_the_baseline_is_the_cheaper_of_two(costs: cs.Costs, prior: float | None) -> None:
    s = _drawn(1, 500, 0.1, 1.5)
    p = cs.choose(s, costs, prior=prior)
    share = s.prevalence if prior is None else prior
    none = share * costs.fn - (1 - share) * costs.tn
    every = (1 - share) * costs.fp - share * costs.tp
    assert p.baseline is not None
    assert p.baseline.name == ("flag none" if none <= every else "flag all")
    assert p.baseline.value == pytest.approx(min(none, every), rel=1e-12)
    assert p.expected is not None
    assert p.baseline.difference is not None
    assert p.baseline.difference.value == pytest.approx(
        p.expected.value - p.baseline.value, rel=1e-9, abs=1e-12
    )


def test_what_is_said_of_baselines() -> None:
    costs = cs.Costs(1, 9)
    good, poor = (
        cs.choose(_drawn(0, 400, 0.1, 2.5), costs),
        cs.choose(_drawn(0, 400, 0.1, 0), costs),
    )
    assert good.baseline is not None
    assert poor.baseline is not None
    assert (good.baseline.shown, poor.baseline.shown) == (True, False)
    assert against_trivial(good) is None
    assert "not significantly cheaper than flagging" in repr(poor)
    assert "cheaper than" not in repr(good)
    # What the rows themselves choose: nothing to gain.
    nothing = cs.choose(cs.sweep([1] * 50 + [0] * 50, range(100)), cs.Costs(1, 1))
    assert nothing.threshold in (np.inf, -np.inf)
    assert against_trivial(nothing) == "no cheaper than flagging nothing (cost per case 0.500)"
    assert cs.choose(_drawn(0, 400, 0.1, 1), "f1").baseline is None
    # A limit that forbids the cheaper one, and one that forbids both.
    s = _drawn(3, 400, 0.1, 1)
    few = cs.choose(s, cs.Costs(1, 50), subject_to="flagged_rate <= 0.5").baseline
    assert few is not None
    assert few.name == "flag none"
    both = ["flagged_rate <= 0.5", "recall >= 0.2"]
    assert cs.choose(s, cs.Costs(1, 50), subject_to=both).baseline is None
    # Where the value expected is not known, neither is the difference.
    weighted = cs.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1], [1, 2, 1, 1]), costs).baseline
    assert weighted is not None
    assert (weighted.difference, weighted.shown) == (None, False)
    many = cs.Sweep.from_counts([2, 1], [90_000, 10_000], [10_000, 90_000])
    large = cs.choose(many, cs.Costs(1, 1)).baseline
    assert large is not None
    assert large.shown
    assert large.difference is not None
    assert large.difference.value == pytest.approx(0.1 - 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "costs"), [(0.5, cs.Costs(1, 1)), (0.2, cs.Costs(1, 5))])
def test_useless_scores_are_not_shown_to_be_of_use(share: float, costs: cs.Costs) -> None:
    points = [cs.choose(_drawn(k, 150, share, 0), costs) for k in range(200)]
    shown = sum(p.baseline.shown for p in points if p.baseline is not None)
    assert shown <= scipy.stats.binom.ppf(0.9999, 200, 0.025)


@pytest.mark.parametrize(("positives", "most"), [(900, 116), (3_000, 26), (6_000, 1)])
def test_many_positives_need_fewer_choices(positives: int, most: int) -> None:
    """A choice among more cuts costs more, and varies less."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], (positives, 20_000))
    s = cs.sweep(y, rng.standard_normal(len(y)) + 1.5 * y)
    found = select(s, Aim(as_objective(cs.Costs(1, 20))))
    assert found is not None
    assert len(found.repeats) + len(found.samples) == most
    expected = found.expect(cs.Costs(1, 20))
    assert expected is not None
    assert expected.low < expected.value < expected.high
