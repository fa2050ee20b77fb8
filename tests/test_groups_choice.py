"""Thresholds of groups, against all combinations of cuts in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest

import cutscore as cs
from cutscore.core.errors import DataError, UndefinedError
from cutscore.decision import windows
from cutscore.inference.guarantee import max_errors

GOALS = (cs.Costs(fp=1, fn=3), cs.Costs(fp=2.5, fn=1), "recall", "fpr", "accuracy", "youden")


def draw(rng, weighted):
    """A few small groups of tied scores, with both classes."""
    groups = {}
    for name in "abc"[: rng.integers(2, 4)]:
        m = int(rng.integers(2, 5 if weighted else 6))
        pos, neg = rng.integers(0, 4, (2, m))
        pos[rng.integers(m)] += 1
        neg[rng.integers(m)] += 1
        if weighted:
            pos, neg = pos * 0.5, neg * 0.25
        groups[name] = cs.Sweep.from_counts(rng.choice(7, m, replace=False), pos, neg)
    return groups


def cuts_of(s):
    """TP and FP at each cut, in fractions."""
    tp, fp = [Fraction(0)], [Fraction(0)]
    for p, n in zip(s.pos.tolist(), s.neg.tolist(), strict=True):
        tp.append(tp[-1] + Fraction(p))
        fp.append(fp[-1] + Fraction(n))
    return list(zip(tp, fp, strict=True))


def worth(goal, tp, fp, P, N):
    """What is made large."""
    if isinstance(goal, cs.Costs):
        return -(Fraction(repr(goal.fp)) * fp + Fraction(repr(goal.fn)) * (P - tp)) / (P + N)
    return {
        "recall": tp / P,
        "fpr": -fp / N,
        "accuracy": (tp + N - fp) / (P + N),
        "youden": tp / P - fp / N,
    }[goal]


def holds(limit, tp, fp, P, N):
    name, sign, bound = limit.split()
    value = {"recall": tp / P, "fpr": fp / N, "flagged_rate": (tp + fp) / (P + N)}[name]
    return value >= Fraction(bound) if sign == ">=" else value <= Fraction(bound)


LIMITS = ((), ("fpr <= 0.5",), ("recall >= 0.5",), ("fpr <= 0.4", "flagged_rate <= 0.6"))
GAPS = ((), ("recall <= 0.25",), ("fpr <= 0.1",), ("recall <= 0.3", "fpr <= 0.3"), ("recall <= 0",))


@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds_of_groups_are_the_best_of_all_combinations(weighted):
    rng = np.random.default_rng(3 + weighted)
    for k in range(1500):
        groups = draw(rng, weighted)
        goal, each = GOALS[k % len(GOALS)], LIMITS[k % len(LIMITS)]
        gap = GAPS[int(rng.integers(len(GAPS)))]
        total = [Fraction(sum(getattr(s, c) for s in groups.values())) for c in "PN"]
        sizes = [(Fraction(s.P), Fraction(s.N)) for s in groups.values()]
        best = None
        for combo in product(*(cuts_of(s) for s in groups.values())):
            pairs = list(zip(combo, sizes, strict=True))
            if not all(holds(limit, *c, *n) for c, n in pairs for limit in each):
                continue
            rates = {
                "recall": [c[0] / n[0] for c, n in pairs],
                "fpr": [c[1] / n[1] for c, n in pairs],
            }
            if any(
                max(rates[g.split()[0]]) - min(rates[g.split()[0]]) > Fraction(g.split()[2])
                for g in gap
            ):
                continue
            value = worth(goal, sum(c[0] for c in combo), sum(c[1] for c in combo), *total)
            best = value if best is None else max(best, value)
        if best is None:
            with pytest.raises(UndefinedError):
                cs.choose_groups(groups, goal, thresholds="group", each=each, gap=gap)
            continue
        p = cs.choose_groups(groups, goal, thresholds="group", each=each, gap=gap)
        c = p.confusion
        assert worth(goal, Fraction(c.tp), Fraction(c.fp), *total) == best
        for g in gap:
            assert p.gap(g.split()[0]) <= float(g.split()[2]) + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
def test_one_threshold_is_the_best_of_all_cuts(weighted):
    rng = np.random.default_rng(5 + weighted)
    for k in range(1500):
        groups = draw(rng, weighted)
        goal, each = GOALS[k % len(GOALS)], LIMITS[int(rng.integers(len(LIMITS)))]
        total = sum(groups.values())
        P, N = Fraction(total.P), Fraction(total.N)
        best = None
        for t in [inf, *total.threshold.tolist()]:
            cells = [(s, s.at(t)) for s in groups.values()]
            ok = all(
                holds(limit, Fraction(c.tp), Fraction(c.fp), Fraction(s.P), Fraction(s.N))
                for s, c in cells
                for limit in each
            )
            if ok:
                tp, fp = (sum(Fraction(getattr(c, n)) for _, c in cells) for n in ("tp", "fp"))
                value = worth(goal, tp, fp, P, N)
                best = value if best is None else max(best, value)
        if best is None:
            with pytest.raises(UndefinedError):
                cs.choose_groups(groups, goal, each=each)
            continue
        c = cs.choose_groups(groups, goal, each=each).confusion
        assert worth(goal, Fraction(c.tp), Fraction(c.fp), P, N) == best


def normal_groups(rng, sizes, shift=0.5):
    """Rows of groups whose scores differ."""
    name = np.repeat(np.array(list("abcdef"[: len(sizes)])), sizes)
    y = rng.random(len(name)) < 0.3
    step = dict(zip("abcdef", shift * np.arange(6), strict=True))
    return y, rng.normal(size=len(name)) + 2 * y + [step[g] for g in name], name


def test_limits_with_confidence_need_no_correction_for_groups():
    rng = np.random.default_rng(0)
    groups = cs.sweeps_by_group(*normal_groups(rng, (3000, 2000, 1000)))
    p = cs.choose_groups(groups, "recall", each="fpr <= 5 %", confidence=0.95)
    for s, c in zip(groups.values(), p.confusions.values(), strict=True):
        assert c.fp <= max_errors(int(s.N), 0.05, 0.05)
    total = groups.total  # the next positive can't be caught
    lower = total.threshold[(total.threshold < p.common) & (total.pos > 0)][0]
    assert any(s.at(lower).fp > max_errors(int(s.N), 0.05, 0.05) for s in groups.values())
    both = cs.choose_groups(
        groups, "recall", each=["fpr <= 40 %", "recall >= 60 %"], confidence=0.95
    )
    for s, c in zip(groups.values(), both.confusions.values(), strict=True):
        assert c.fp <= max_errors(int(s.N), 0.4, 0.025)
        assert c.fn <= max_errors(int(s.P), 0.4, 0.025)


def test_small_groups_are_pooled_or_refused():
    rng = np.random.default_rng(0)
    groups = cs.sweeps_by_group(*normal_groups(rng, (3000, 300, 300, 50), 0.1))
    asked = {"each": "fpr <= 1 %", "confidence": 0.95}
    p = cs.choose_groups(groups, "recall", **asked)
    assert p.pooled == ("b", "c", "d")
    assert "other groups" in repr(p)
    assert "in each group (small ones together): met" in repr(p)
    with pytest.raises(UndefinedError) as caught:
        cs.choose_groups(groups, "recall", small="refuse", **asked)
    assert caught.value.finding.code == "groups-too-small"
    alone = {name: groups[name] for name in "ad"}
    with pytest.raises(UndefinedError) as caught:
        cs.choose_groups(alone, "recall", **asked)
    assert caught.value.finding.groups == ("d",)
    assert caught.value.finding.need == 299


def test_gaps_with_confidence_hold_for_the_bands_of_all_groups():
    rng = np.random.default_rng(0)
    groups = cs.sweeps_by_group(*normal_groups(rng, (20_000, 20_000, 20_000)))
    costs = cs.Costs(fp=1, fn=2)
    sure = cs.choose_groups(groups, costs, thresholds="group", gap="recall <= 10 %", confidence=0.9)
    here = cs.choose_groups(groups, costs, thresholds="group", gap="recall <= 10 %")
    assert sure.gap("recall") < 0.1
    assert here.value <= sure.value


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"gap": "recall <= 5 %"}, "arguments-conflict"),
        ({"gap": "precision <= 5 %", "thresholds": "group"}, "bad-argument"),
        ({"gap": ["fnr <= 5 %", "recall <= 1 %"], "thresholds": "group"}, "bad-argument"),
        ({"confidence": 0.95}, "arguments-conflict"),
        ({"each": "precision >= 90 %", "confidence": 0.95}, "bad-argument"),
        ({"subject_to": "fpr <= 1 %", "thresholds": "group"}, "arguments-conflict"),
        ({"each": ["recall >= 90 %", "fpr <= 1 %"]}, "groups-infeasible"),
        ({"each": "reviewed <= 5"}, "bad-argument"),
        ({"thresholds": "each"}, "bad-argument"),
        ({"small": "drop", "each": "fpr <= 1 %"}, "bad-argument"),
    ],
)
def test_bad_questions_have_one_finding(arguments, code):
    groups = cs.sweeps_by_group(*normal_groups(np.random.default_rng(0), (300, 200)))
    with pytest.raises(cs.CutscoreError) as caught:
        cs.choose_groups(groups, "recall", **arguments)
    assert caught.value.finding.code == code


def test_objectives_of_groups_are_sums_over_cases():
    groups = cs.sweeps_by_group(*normal_groups(np.random.default_rng(0), (300, 200)))
    with pytest.raises(DataError, match="sum over cases"):
        cs.choose_groups(groups, "f1", thresholds="group")
    one = cs.choose_groups(groups, "f1")
    assert one.common == cs.choose(groups.total, "f1").threshold


def test_bad_rows_have_one_finding():
    y, score, group = [1, 0, 1, 0], [4, 3, 2, 1], ["a", "a", "b", None]
    with pytest.raises(DataError) as caught:
        cs.sweeps_by_group(y, score, group)
    assert caught.value.finding.code == "value-missing"
    assert caught.value.finding.where.row == 3
    with pytest.raises(DataError) as caught:
        cs.sweeps_by_group(y, [4, 3, 2, np.nan], list("abab"))
    assert caught.value.finding.where.row == 3
    groups = cs.sweeps_by_group([1, 0, 0, 0], score, list("aabb"))
    with pytest.raises(UndefinedError) as caught:
        cs.choose_groups(groups, "accuracy", each="recall >= 50 %")
    assert caught.value.finding.code == "one-class"
    with pytest.raises(DataError):
        cs.choose_groups({}, "accuracy")


def test_unseen_groups_are_refused_or_have_a_default():
    groups = cs.sweeps_by_group([1, 0, 1, 0], [4, 3, 2, 1], list("aabb"))
    p = cs.choose_groups(groups, "accuracy", thresholds="group")
    assert p.decide([3.9, 1.9], ["a", "b"]).tolist() == [True, True]
    assert p.decide([3.1, 1.1], ["a", "b"]).tolist() == [False, False]
    with pytest.raises(DataError) as caught:
        p.decide([1, 2], ["a", "c"])
    assert (caught.value.finding.code, caught.value.finding.known) == ("group-unknown", ("a", "b"))
    assert p.decide([1, 2], ["a", "c"], default=2).tolist() == [False, True]
    with pytest.raises(DataError):
        p.decide([1, 2], ["a"])


def test_large_denominators_are_compared_in_floats():
    counts = [np.array([0, 1, 10**12 + k]) for k in (39, 61)]
    rates = windows.exact_rates(counts, 0.05)
    assert rates.low[0].dtype.kind == "f"


def test_sweeps_by_group_are_those_of_the_rows():
    rng = np.random.default_rng(2)
    y, score, group = normal_groups(rng, (50, 30))
    w = rng.random(80)
    found = cs.sweeps_by_group(y, score, group, weight=w, squares=True)
    for name, s in found.items():
        own = cs.sweep(y[group == name], score[group == name], w[group == name], squares=True)
        for column in ("threshold", "pos", "neg", "pos2", "neg2"):
            assert np.array_equal(getattr(s, column), getattr(own, column))
    assert "2 groups" in repr(found)
    p = cs.choose_groups(found, "youden", each="fpr <= 20 %")
    assert "<table" in p._repr_html_()
    assert "<table" in cs.compare_group_choices({"one": p})._repr_html_()


def test_many_sweeps_are_added_in_pairs() -> None:
    rng = np.random.default_rng(0)
    for groups in (1, 2, 3, 7, 8):
        y, score, group = rng.random(300) < 0.4, rng.integers(0, 40, 300), np.arange(300) % groups
        total = cs.sweeps_by_group(y, score, group).total
        whole = cs.sweep(y, score)
        assert np.array_equal(total.threshold, whole.threshold)
        assert np.array_equal(total.pos, whole.pos)
        assert np.array_equal(total.neg, whole.neg)


def test_groups_that_are_all_too_small_are_refused():
    """Tested together, nothing would be shown of any of them."""
    rng = np.random.default_rng(0)
    groups = cs.sweeps_by_group(*normal_groups(rng, (300, 300, 300), 0.1))
    with pytest.raises(UndefinedError) as caught:
        cs.choose_groups(groups, "recall", each="fpr <= 1 %", confidence=0.95)
    assert caught.value.finding.code == "groups-too-small"
