"""Operating points against trying every cut, in fractions; and what they say of themselves."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutscore as cs
import oracle
from cutscore.decision import choice as decision
from cutscore.inference import guarantee
from cutscore.inference.bootstrap import Sampler
from raising import finding
from strategies import Case, rows

OBJECTIVES: dict[str, tuple[Any, tuple[Any, int]]] = {
    name: (name, exact) for name, exact in oracle.MEASURES.items()
}
for _costs in ("fp=1 fn=20", "fp=0.1 fn=0.3", "fp=3 fn=0", "fp=0 fn=1", "fp=1 fn=1 tp=2.5 tn=0.7"):
    _fields = dict(field.split("=") for field in _costs.split())
    _floats = {name: float(value) for name, value in _fields.items()}
    OBJECTIVES[_costs] = (cs.Costs(**_floats), oracle.cost(**_fields))
OBJECTIVES["custom"] = (
    lambda tp, fp, fn, tn: 3 * tp - fp * fp + 0 * (fn + tn),
    (lambda a, b, c, d: 3 * a - b * b + 0 * (c + d), 1),
)
LIMITS: dict[str, list[tuple[str, str, Fraction]]] = {
    text: [
        (name, sign, Fraction(bound))
        for name, sign, bound in (part.split() for part in text.split(", ") if part)
    ]
    for text in (
        "",
        "precision >= 0.75",
        "precision >= 0.999",
        "recall >= 0.5",
        "fpr <= 0.25",
        "fnr <= 0.4",
        "flagged <= 3",
        "flagged >= 3",
        "flagged_rate <= 0.3",
        "specificity >= 0.6",
        "fpr >= 0.3",
        "npv >= 0.7",
        "accuracy >= 0.6",
        "f1 >= 0.5",
        "mcc >= 0.1034",
        "lift >= 1.25",
        "lr_positive >= 1.5",
        "lr_negative <= 0.7",
        "fpr >= 1",
        "recall <= 0.5",
        "precision <= 0.6",
        "fpr <= 0.5, recall >= 0.5",
        "flagged >= 2, flagged <= 4",
        "flagged <= 4, precision >= 0.6",
        "recall >= 0.9, precision >= 0.9",
        "youden >= 0.2, balanced >= 0.4",
        "recall >= 0.45",
        "precision >= 0.31",
        "flagged <= 3.7",
        "npv >= 0.71",
    )
}


def random_sweep(rng: np.random.Generator) -> tuple[cs.Sweep, oracle.Table]:
    """Few scores, many ties, one time in two with weights (whose sums are exact)."""
    n = int(rng.integers(2, 14))
    y = rng.integers(0, 2, n)
    y[:2] = (0, 1)
    score = rng.integers(0, rng.integers(1, 9) + 1, n) / 4
    w = rng.integers(1, 9, n) / 4 if rng.random() < 0.5 else None
    return cs.sweep(y, score, w), oracle.table(y, score, w)


def agree(
    s: cs.Sweep, t: oracle.Table, objective: str, limits: str, prior: Fraction | None = None
) -> None:
    wanted, exact = OBJECTIVES[objective]
    best = oracle.choose(t, exact, LIMITS[limits], prior)
    where = f"{objective} subject to {limits or 'nothing'} at {prior} of {t}"
    question: dict[str, Any] = {"subject_to": limits.split(", ") if limits else None}
    question["prior"] = None if prior is None else float(prior)
    if oracle.choose(t, exact, (), prior).value is None:
        with finding("undefined", cs.UndefinedError):
            cs.choose(s, wanted, **question)
        return
    mine = cs.choose(s, wanted, **question)
    assert mine.feasible == best.feasible, where
    assert mine.cut == best.cut or (objective, limits) in ROUNDED or prior is not None, where
    if best.value is None:
        assert math.isnan(mine.value), where
    else:
        assert mine.value == pytest.approx(float(best.value), rel=1e-12, abs=1e-12), where
    assert s.at(mine.threshold) == mine.confusion, where
    points = oracle.points(t)
    assert (mine.confusion.tp, mine.confusion.fp) == points[mine.cut], where


# Where equally good cuts may look different by a rounding: values that are no single quotient.
ROUNDED = {("mcc", limits) for limits in LIMITS} | {("lift", limits) for limits in LIMITS}
ROUNDED |= {
    (name, limits)
    for name in OBJECTIVES
    for limits in LIMITS
    if {"mcc", "lift"} & {*limits.split()}
}


@pytest.mark.parametrize("seed", range(5))
def test_no_cut_is_better(seed: int) -> None:
    """500 sweeps each, 100 in `make check`; four of all pairs of objective and limits on each."""
    rng = np.random.default_rng(seed)
    objectives, limits = list(OBJECTIVES), list(LIMITS)
    for _ in range(5 * settings().max_examples):
        s, t = random_sweep(rng)
        for _ in range(4):
            agree(
                s, t, objectives[rng.integers(len(objectives))], limits[rng.integers(len(limits))]
            )


@pytest.mark.slow
def test_every_pair_of_objective_and_limits() -> None:
    rng = np.random.default_rng(99)
    for objective in OBJECTIVES:
        for limits in LIMITS:
            for _ in range(3):
                agree(*random_sweep(rng), objective, limits)


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["0.002", "0.37", "0.9"])
def test_for_another_prior(prior: str) -> None:
    rng = np.random.default_rng(7)
    for objective in OBJECTIVES:
        for limits in ("", "recall >= 0.45", "precision >= 0.31", "flagged <= 3.7", "npv >= 0.71"):
            for _ in range(6):
                agree(*random_sweep(rng), objective, limits, Fraction(prior))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.03, 0.5])
def test_blocks_lose_nothing(weighted: bool, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large sweeps most blocks of cuts are not looked into: as good as looking at all."""
    rng = np.random.default_rng(0)
    y = rng.random(9000) < share
    score = np.round(rng.standard_normal(9000) + 1.5 * y, 3)
    s = cs.sweep(y, score, rng.integers(1, 5, 9000) / 2 if weighted else None)
    assert len(s) > 4 * s.blocks.size
    looked: list[int] = []
    everything = decision.candidate_cuts

    def counted(*question: Any) -> Any:
        cuts = everything(*question)
        looked.append(len(cuts.cut))
        return cuts

    limits = [
        *LIMITS,
        "flagged <= 300",
        "flagged >= 17, fpr <= 0.01",
        "flagged <= 5, recall >= 0.9",
    ]
    limits += ["tp >= 40, fp <= 3", "precision >= 0.97, recall >= 0.01"]
    for objective, limit in itertools.product(OBJECTIVES, limits):
        asked = {"subject_to": limit.split(", ") if limit else None}
        with monkeypatch.context() as m:
            m.setattr(decision, "candidate_cuts", counted)
            quick = cs.choose(s, OBJECTIVES[objective][0], **asked)
            m.setattr(
                decision,
                "candidate_cuts",
                lambda s, q, _: decision.SomeCuts(s, q, *decision.all_cuts(s)),
            )
            slow = cs.choose(s, OBJECTIVES[objective][0], **asked)
        where = f"{objective} subject to {limit}"
        assert (quick.cut, quick.feasible) == (slow.cut, slow.feasible), where
        assert quick.confusion == slow.confusion, where
    assert np.median(looked) < len(s) / 4


def test_costs_beyond_the_integers_of_the_processor() -> None:
    # Products of counts and costs leave 64 bits: floats find candidates and fractions decide.
    big = 2**50
    s = cs.Sweep.from_counts([3, 2, 1], [big, 1, 1], [0, 3, big])
    # One more caught for three more false alarms: worth it by the last digit of the costs only.
    for fn, cut in (("3000000000000001", 2), ("3000000000000000", 1), ("2999999999999999", 1)):
        costs = cs.Costs(fp=1e15, fn=float(fn))
        p = cs.choose(s, costs)
        assert p.cut == cut


def test_decimal_costs_are_decimals() -> None:
    # 0.1 : 0.3 is 1 : 3 as people write it, though not as floats are: a tie, so flag less.
    s = cs.Sweep.from_counts([2, 1], [5, 1], [0, 3])
    assert cs.choose(s, cs.Costs(fp=0.1, fn=0.3)).cut == cs.choose(s, cs.Costs(fp=1, fn=3)).cut == 1
    assert cs.choose(s, cs.Costs(fp=0.1, fn=0.3 + 1e-16)).cut == 2


@given(rows(both=True))
def test_invariances(case: Case) -> None:
    if not np.isfinite(case.score).all() or np.abs(case.score).max() > 1e30:
        return
    s = cs.sweep(*case)
    order = np.arange(len(s), 0, -1, dtype=np.float64)
    for objective in ("f1", cs.Costs(fp=1, fn=3), "recall", "youden"):
        p = cs.choose(s, objective)
        moved = cs.choose(cs.Sweep(order, s.pos, s.neg), objective)
        assert (moved.cut, moved.value) == (p.cut, p.value)
        double = cs.choose(s + s, objective)
        assert double.cut == p.cut
        assert double.value == pytest.approx(p.value, rel=1e-12)
    heavy = cs.choose(cs.sweep(*case, np.full(len(case.y), 2.0)), "f1")
    assert heavy.value == pytest.approx(cs.choose(s, "f1").value, rel=1e-12)


# --------------------------------------------------------------------------------------- thresholds


@given(rows(least=1))
def test_thresholds_make_their_cuts(case: Case) -> None:
    s = cs.sweep(*case)
    scores = case.score.astype(np.float64)
    for cut in range(len(s) + 1):
        t = s.threshold_of(cut)
        if cut == 0 and s.threshold[0] == np.inf:
            continue
        kept = int((s.pos + s.neg)[:cut].sum())
        assert s.at(t).flagged == kept
        assert np.count_nonzero(scores >= t) == kept
        # NumPy casts a Python number to the type of the scores.
        assert np.count_nonzero(case.score >= t) == kept


def test_thresholds_are_short() -> None:
    s = cs.sweep([1, 0, 1, 0], [0.98765, 0.12345, -7123.4, -7123.5])
    assert [s.threshold_of(k) for k in range(5)] == [np.inf, 0.6, -4000.0, -7123.45, -np.inf]


@pytest.mark.parametrize("top", [1e40, 1.5e100, 7e200, float(np.finfo(float).max)])
def test_thresholds_between_huge_neighbours(top: float) -> None:
    scores = [top]
    for _ in range(4):
        scores.append(float(np.nextafter(scores[-1], 0)))
    for some in (scores, scores[::2], scores[::4]):
        s = cs.sweep(np.arange(len(some)) % 2, some)
        for cut in range(len(s) + 1):
            assert s.at(s.threshold_of(cut)).flagged == cut


def test_infinite_scores() -> None:
    s = cs.sweep([1, 0, 0, 1], [np.inf, 1, -np.inf, -np.inf])
    assert cs.choose(s, "fpr").threshold == np.inf
    assert cs.choose(s, "fpr").confusion.tp == 1  # no threshold flags nothing
    assert cs.choose(s, "recall").threshold == -np.inf
    worst = cs.sweep([0, 1], [np.inf, 0])
    p = cs.choose(worst, "fpr", subject_to="precision >= 0.9")
    assert (p.feasible, p.cut) == (False, 2)
    assert worst.at(p.threshold) == p.confusion


# ------------------------------------------------------------------------------ what a point tells


def detector() -> cs.Sweep:
    return cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])


def noisy() -> cs.Sweep:
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.1
    return cs.sweep(y, rng.standard_normal(4000) + 2 * y)


def test_point() -> None:
    p = cs.choose(detector(), cs.Costs(fp=1, fn=20))
    assert (p.threshold, p.feasible, p.status, p.objective) == (0.7, True, (), "cost")
    assert p.confusion == cs.Confusion(17, 41, 3, 9939)
    assert p.value == pytest.approx(101 / 10_000)
    assert p.cost_per_1000 == pytest.approx(10.1)
    assert p.value in p.interval
    assert p.interval == cs.interval(detector(), cs.Costs(fp=1, fn=20), at=p)
    assert cs.choose(detector(), "f1").cost_per_1000 is None
    assert p.explanation == "All limits are met."
    copy = pickle.loads(pickle.dumps(p))
    assert repr(copy) == repr(p)


def test_natural_frequencies() -> None:
    point = cs.choose(detector(), cs.Costs(fp=1, fn=20))
    assert "10,000 cases, 20 positive; 17 caught, 3 missed, 41 false alarms" in repr(point)
    shifted = cs.choose(detector(), cs.Costs(fp=1, fn=500), prior=0.0001)
    # Not the counts of the rows any more, and so it says.
    words = "per 100,000 cases: 10 positive; 8.5 caught, 1.5 missed, 411 false alarms"
    assert words in repr(shifted)
    many = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[34, 4, 2], neg=[82, 1000, 18_878])
    words = "per 10,000 cases: 20 positive; 17 caught, 3 missed, 41 false alarms"
    assert words in repr(cs.choose(many, cs.Costs(fp=1, fn=20)))
    everything = cs.choose(detector(), "recall", subject_to="recall >= 1")
    assert repr(everything).startswith(
        "flag everything, maximum recall: 100 % expected on new rows, 100 % on these rows"
    )
    assert repr(cs.choose(detector(), "fpr")).startswith(
        "flag nothing, minimum false positive rate: 0 %"
    )
    assert "10,000 cases, 20 positive; 17 caught" in point._repr_html_()
    assert "<svg" in point._repr_html_()


def test_infeasible_is_explained() -> None:
    p = cs.choose(detector(), "recall", subject_to=["precision >= 0.5", "recall >= 0.5"])
    assert not p.feasible
    assert [s.holds for s in p.status] == [False, True]
    assert p.status[0].value == pytest.approx(17 / 58)
    assert p.explanation == (
        "No threshold meets precision >= 0.5 and recall >= 0.5; the closest one is shown. "
        "Consider relaxing a limit."
    )
    assert p.explanation in repr(p)
    assert "precision >= 0.5: violated (29.3 % on these rows)" in repr(p)


def test_user_functions_may_divide_by_nothing() -> None:
    p = cs.choose(detector(), lambda tp, fp, fn, tn: tp / (tp + fp) + 0 * (fn + tn))
    assert (p.cut, p.objective) == (1, "objective")
    assert p.value == 17 / 58


def test_per_cents_are_decimals() -> None:
    s = cs.Sweep.from_counts([3, 2, 1], [10, 0, 0], [7, 1, 992])
    for limit in ("fpr <= 0.7 %", "fpr <= 0.007"):
        assert cs.choose(s, "recall", subject_to=limit).value == 1


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.2, 0.002, 0.9])
def test_rates_of_a_class_do_not_depend_on_the_prior(prior: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        s, _ = random_sweep(rng)
        c = s.at(float(rng.choice(s.threshold)))
        for name in ("recall", "fpr", "fnr", "specificity"):
            for sign in (">=", "<="):
                limit = f"{name} {sign} {getattr(c, name)!r}"
                here, there = (
                    cs.choose(s, "youden", subject_to=limit, prior=p) for p in (None, prior)
                )
                assert here.cut == there.cut


def test_functions_get_arrays_and_keep_their_names_to_themselves() -> None:
    def recall(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        value = tp - 10 * fp + 0.0 * (fn + tn)
        value[tp < 1] = -1
        return value

    s = detector()
    p = cs.choose(s, recall)
    assert p.value == -1
    assert p.interval != cs.interval(s, "recall", at=p)
    nothing = cs.choose(
        s, lambda tp, fp, fn, tn: tp / (tp + fp) + 0 * (fn + tn), subject_to="flagged <= 0"
    )
    assert math.isnan(nothing.value)


@pytest.mark.parametrize("objective", ["youden", "accuracy", cs.f(2), cs.Costs(fp=1, fn=2)])
def test_points_can_be_sent_to_other_processes(objective: Any) -> None:
    p = cs.choose(detector(), objective)
    assert repr(pickle.loads(pickle.dumps(p))) == repr(p)


def test_printed_thresholds_are_the_rule() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    for score in (1e9 + rng.standard_normal(3000) + y, 1 - 1e-6 * rng.random(3000) / (1 + y)):
        s = cs.sweep(y, score)
        for options in ({}, {"subject_to": "precision >= 0.3", "confidence": 0.9}):
            p = cs.choose(s, "recall" if options else "f1", **options)  # type: ignore[arg-type]
            printed = repr(p).split(", ")[0].removeprefix("flag scores ≥ ")
            assert s.at(float(printed)) == p.confusion


def test_intervals_without_errors_are_no_points() -> None:
    p = cs.choose(cs.sweep([1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1]), cs.Costs(fp=1, fn=20))
    assert p.value == p.interval.low == 0
    assert p.interval.high > 1
    there = cs.choose(detector(), "precision", subject_to="recall >= 0.5", prior=0.01)
    assert cs.interval(detector(), "precision", at=there) == there.interval


def test_one_traceback() -> None:
    with finding("bad-argument", cs.DataError) as error:
        cs.choose(detector(), "f1", subject_to=3)  # type: ignore[arg-type]
    assert error.value.__context__ is None


def test_stability_of_flagging_nothing() -> None:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    st_ = cs.choose(s, "recall", subject_to="fpr <= 0.1", confidence=0.95).stability(20)
    assert tuple(st_.thresholds) == (np.inf, np.inf)
    assert "inf" in repr(st_)


@pytest.mark.slow
def test_stability_of_many_scores() -> None:
    """Past 65,536 distinct scores runs of one class are drawn as one; the result is the same but
    for where inside of a gap thresholds are."""
    rng = np.random.default_rng(5)
    y = rng.random(70_000) < 0.05
    p = cs.choose(cs.sweep(y, rng.standard_normal(70_000) + 2 * y), "f1")
    sampler = Sampler(p.sweep, 0)
    each = [cs.choose(sampler.sample(k), "f1").confusion for k in range(8)]
    moved = p.stability(8)
    for k, c in enumerate(each):
        again = sampler.sample(k).at(moved.threshold[k])
        assert (again.tp, again.fp) == (c.tp, c.fp)


def test_stability() -> None:
    s = noisy()
    p = cs.choose(s, "f1")
    st_ = p.stability(100)
    assert len(st_.threshold) == len(st_.regret) == 100
    assert (st_.regret >= -1e-12).all()  # nothing is better on the rows themselves
    assert st_.regret.max() > 0
    assert p.threshold in st_.thresholds
    assert not st_.broken.any()
    assert p.stability(100).threshold.tolist() == st_.threshold.tolist()
    assert p.stability(100, seed=1).threshold.tolist() != st_.threshold.tolist()
    for threshold, regret in zip(st_.threshold[:5], st_.regret[:5], strict=True):
        assert regret == pytest.approx(p.value - s.at(threshold).f1)
    few = cs.choose(s + s + s + s, "f1").stability(100)
    assert few.thresholds.width < st_.thresholds.width


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("prior", [None, 0.02])
@pytest.mark.parametrize("limit", ["fpr <= 0.02", "precision >= 0.3"])
def test_regret_is_of_cuts_that_could_be_chosen(limit: str, prior: Any, confidence: Any) -> None:
    """Under a limit other cuts may do better, by breaking it."""
    if prior and confidence and "precision" in limit:
        prior = None  # no such guarantee
    s = noisy()
    p = cs.choose(s, "recall", subject_to=limit, prior=prior, confidence=confidence)
    again = p.stability(100)
    known = again.comparable
    assert p.feasible
    assert 0 < known.sum() < 100
    assert (again.regret[known] >= 0).all()
    assert again.mean_regret == again.regret[known].mean() >= 0
    assert again.regrets.low >= 0
    assert f"mean regret {again.mean_regret:.4g} of the {known.sum()} that could" in repr(again)
    others = np.array([s.at(t).recall for t in again.threshold])
    assert np.allclose(again.regret[known], p.confusion.recall - others[known], atol=1e-12)
    assert (others[~known] > p.confusion.recall).any()
    if confidence is None:
        assert np.array_equal(again.broken, ~known)
        assert repr(again).endswith(f"; limits violated in {100 - known.sum()} % of samples")


def test_no_regret_where_limits_can_not_be_met() -> None:
    s = noisy()
    again = cs.choose(s, "recall", subject_to=["fpr <= 0.02", "recall >= 0.99"]).stability(20)
    assert not again.comparable.any()
    assert math.isnan(again.mean_regret)
    assert math.isnan(again.regrets.low)
    assert repr(again).endswith(
        "20 samples, none of which could be chosen on these rows; "
        "limits violated in 100 % of samples"
    )


def test_infinite_values() -> None:
    """Of a likelihood ratio: as large as any other, and 0/0 is worse."""
    s = cs.sweep([1, 0, 1, 0, 1], [5, 4, 3, 2, 1])
    p = cs.choose(s, "LR+")
    assert (p.value, p.cut, p.objective) == (np.inf, 1, "lr_positive")
    assert p.interval.high == np.inf > p.interval.low > 0
    again = p.stability(20)
    assert (again.regret >= 0).all()
    assert (again.regret == 0).any()
    least = cs.choose(s, "LR-", subject_to="fpr >= 1")
    assert (least.value, least.cut) == (np.inf, 4)  # and not to flag everything, which is 0/0


# ------------------------------------------------------------------------------------ what is asked


def test_names() -> None:
    s = detector()
    assert cs.choose(s, "Sensitivity").objective == "recall"
    assert cs.choose(s, " f2 ").value == cs.choose(s, cs.f(2)).value
    assert cs.choose(s, "f0.5").objective == "f0.5"
    p = cs.choose(s, "recall", subject_to="fpr≤1 %")
    assert p.status[0].limit == "fpr <= 0.01"
    assert cs.choose(s, "tp", subject_to="fp < 41").confusion.fp == 0
    assert cs.choose(s, "tp", subject_to="fp <= 4_1").confusion.fp == 41


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("accurcy", ["accuracy"]),
        ("sens", ["sensitivity"]),
        ("spec", ["specificity"]),
        ("false", ["false_alarms", "false_alarm_rate", "false_negative_rate"]),
        ("f", []),
        ("best", []),
        ("rappel", ["recall"]),
        ("Hit-Rate", ["recall"]),
        ("ks", []),
        ("Gini", []),
        ("AUC", []),
        ("cost", []),
    ],
)
def test_unknown_measures(name: str, near: list[str]) -> None:
    with finding("bad-argument", value=name) as caught:
        cs.choose(detector(), name)
    assert [one for one in near if f"{one} (" not in caught.value.finding.hint] == []
    assert caught.value.finding.hint.startswith("Did you mean") == bool(near)
    with finding("bad-argument", value=name):
        cs.choose(detector(), "f1", subject_to=f"{name} >= 0.5")


@pytest.mark.parametrize(
    "limit",
    [
        *("precision", "precision = 0.9", "precision >= high", "precision >= nan"),
        *("precision >= inf", 0.9, "recall >= 90", "fpr <= 2.5", "fpr <= -1", "recall >= 1.2"),
        *("precision >= 800 %", "flagged <= -3", "fp >= -3", "fpr <= 0,05", "flagged <= 1,500"),
        *("flagged <= 5 %", b"fpr <= 1", [0.9]),
    ],
)
def test_bad_limits(limit: Any) -> None:
    with finding("bad-argument") as caught:
        cs.choose(detector(), "f1", subject_to=limit)
    asked = limit[0] if isinstance(limit, list) else limit
    assert str(caught.value.finding.value) == str(asked)


@pytest.mark.parametrize(
    "objective",
    [
        3,
        lambda tp, fp, fn, tn: 1.0,  # noqa: ARG005
        lambda tp, fp, fn, tn: ["x"] * len(tp),  # noqa: ARG005
    ],
)
def test_bad_objectives(objective: Any) -> None:
    with finding("bad-argument", parameter="objective"):
        cs.choose(detector(), objective)


def test_measures_are_called_as_they_are_printed() -> None:
    from cutscore.measures.aim import as_objective
    from cutscore.measures.limits import as_limits
    from cutscore.measures.registry import MEASURES, WORDS

    for name, words in WORDS.items():
        if name != "cost":
            assert as_objective(words) is MEASURES[name]
            assert as_limits(f"{words.upper()} >= 0")[0].measure is MEASURES[name]
            assert as_limits(f"{words}>=0")[0].text == f"{name} >= 0"
    for words, name in (("false alarms", "fp"), ("caught", "tp"), ("missed", "fn")):
        assert words in repr(detector().at(0.5))
        assert as_limits(f"{words} <= 3")[0].text == f"{name} <= 3"
    for words, name in (("LR+", "lr_positive"), ("LR-", "lr_negative"), ("lr −", "lr_negative")):
        assert as_limits(f"{words} <= 3")[0].text == f"{name} <= 3"
    assert as_limits("false-alarm  rate <= 1 %")[0].text == "fpr <= 0.01"
    for m in MEASURES.values():
        assert m.words
        assert as_objective(m.words).words == m.words  # as the list of them explains it
    assert as_limits("share of positives caught >= 0.5")[0].text == "recall >= 0.5"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("false positive rate", "fpr"),
        ("True Positive Rate", "recall"),
        ("false-negative rate", "fnr"),
        ("miss rate", "fnr"),
        ("true negative rate", "specificity"),
        ("positive predictive value", "precision"),
        ("f1 score", "f1"),
        ("alert rate", "flagged_rate"),
    ],
)
def test_measures_have_their_names_spelled_out(words: str, name: str) -> None:
    """As goals, in limits and where an interval is asked for."""
    s = detector()
    assert cs.choose(s, words).objective == name
    p, short = (cs.choose(s, "youden", subject_to=f"{n} >= 1 %") for n in (words, name))
    assert (p.threshold, p.status) == (short.threshold, short.status)
    assert cs.interval(s, words, at=p) == cs.interval(s, name, at=p)


@pytest.mark.parametrize("level", [1.2, 0, 95, 1000])
def test_bad_confidence(level: float) -> None:
    with finding("bad-argument", parameter="confidence", value=level):
        cs.choose(detector(), "f1", subject_to="fpr <= 0.1", confidence=level)


def test_no_value_has_a_reason() -> None:
    p = cs.choose(detector(), "precision", subject_to=["flagged <= 0", "npv >= 0.5"])
    first, _, flagged, npv = repr(p).splitlines()
    assert first == "flag nothing, maximum precision: undefined (0/0) because nothing is flagged"
    assert flagged == "flagged <= 0: met (0 on these rows)"
    assert npv == "npv >= 0.5: met (99.8 % on these rows)"
    everything = cs.choose(detector(), "npv", subject_to="flagged_rate >= 1")
    words = "negative predictive value: undefined (0/0) because everything is flagged"
    assert repr(everything).startswith(f"flag everything, maximum {words}")
    p = cs.choose(cs.sweep([0, 0], [1, 2]), "fpr", subject_to="recall >= 0.5")
    assert "recall >= 0.5: violated (0/0 because no row is positive)" in repr(p)


@pytest.mark.parametrize("rate", [1e-4, 0.003, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ("fpr <= {0}", "while flagging anything requires at least {1} negatives; there are 1"),
        (
            "specificity >= {2}",
            "while flagging anything requires at least {1} negatives; there are 1",
        ),
        (
            "recall >= {2}",
            "while leaving anything unflagged requires at least {1} positives; there are 1",
        ),
        ("flagged_rate <= {0}", "while flagging anything requires at least {1} rows; there are 2"),
    ],
)
def test_too_few_rows_for_a_guarantee(rate, confidence, limit, what) -> None:
    """As many as it takes are enough, and one less is not."""
    text = limit.format(rate, None, 1 - rate)
    bound = float(text.split()[-1])
    share = bound if "<=" in text else 1 - bound
    n = 1
    while guarantee.max_errors(n, share, 1 - confidence) < 0:
        n = n + 1 if n < 100 else int(n * 1.01)
    if n > 100:  # the first, between the last two
        low = int(n / 1.01) - 1
        n = next(
            k for k in range(low, n + 1) if guarantee.max_errors(k, share, 1 - confidence) >= 0
        )
    p = cs.choose(cs.sweep([1, 0], [1, 0]), "recall", subject_to=text, confidence=confidence)
    said = what.format(None, f"{n:,}", None)
    assert (said in repr(p)) == (n > (2 if "rows" in what else 1)), repr(p)


def test_no_word_of_too_few_rows_where_there_are_enough() -> None:
    p = cs.choose(detector(), "recall", subject_to="fpr <= 0.001", confidence=0.95)
    assert "it takes" not in repr(p)
    few = cs.choose(detector(), "recall", subject_to="fpr <= 0.0001", confidence=0.95)
    assert (
        "\nguaranteeing this limit while flagging anything requires at least 29,956 negatives; "
        "there are 9,980" in repr(few)
    )


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, math.nan, "0.1", None.__class__, 10**400])
def test_bad_prior(prior: Any) -> None:
    with finding("bad-argument", parameter="prior"):
        cs.choose(detector(), "f1", prior=prior)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"fp": -1, "fn": 1},
            r"a false alarm \(fp \+ tn\) must cost at least 0, got -1",
        ),
        ({"fp": 1, "fn": 1, "tp": -2}, r"a miss \(fn \+ tp\) must cost at least 0, got -1"),
        ({"fp": 0, "fn": 0}, "costs must be above 0 for at least one error"),
        ({"fp": math.nan, "fn": 1}, "the cost fp must be a finite number, up to 1e100, got nan"),
        ({"fp": 1, "fn": "20 EUR"}, "a cost must be a number, or a formula .*, got '20 EUR'"),
        ({"fp": 1, "fn": 10**400}, "the cost fn must be a finite number, up to 1e100, got 1000"),
    ],
)
def test_bad_costs(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(cs.DataError, match=message):
        cs.Costs(**fields)


def test_costs() -> None:
    costs = cs.Costs(fp=1, fn=20)
    assert costs.ratio == 0.05
    assert costs.log_odds == pytest.approx(math.log(1 / 20))
    assert costs.probability == pytest.approx(1 / 21)
    assert costs.llr(0.002) == pytest.approx(math.log(1 / 20) - math.log(0.002 / 0.998))
    assert costs.llr(0.5) == pytest.approx(costs.log_odds)
    assert repr(cs.Costs(fp=1, fn=20, tp=3)) == "Costs(fp=1, fn=20, tp=3)"
    # A benefit of a caught positive counts as a cost of a missed one does.
    assert cs.Costs(fp=1, fn=15, tp=5).ratio == costs.ratio
    assert cs.Costs(fp=1, fn=0).ratio == math.inf
    assert cs.Costs(fp=0, fn=1).log_odds == -math.inf
    # The theoretical threshold and the empirical one agree on scores that are calibrated.
    rng = np.random.default_rng(0)
    y = rng.random(400_000) < 0.3
    llr = rng.standard_normal(400_000) * 2 + np.where(y, 2, -2)  # the LLR of N(±2, 4) is itself
    found = cs.choose(cs.sweep(y, llr), costs, prior=0.05).threshold
    assert found == pytest.approx(costs.llr(0.05), abs=0.15)


POSITIVES = "recall fnr precision lift f1 f2 precision@1 recall@50% lift@1"
NEGATIVES = "fpr specificity npv"
BOTH = "youden balanced mcc lr_positive lr_negative"
NEITHER = "accuracy error_rate flagged flagged_rate tp fp fn tn"


@pytest.mark.parametrize("name", f"{POSITIVES} {NEGATIVES} {BOTH} {NEITHER}".split())
def test_a_measure_of_rows_of_one_class(name: str) -> None:
    """It has a best cut only if it says anything of the class that is there."""
    for y, missing in ((0, POSITIVES), (1, NEGATIVES)):
        s = cs.sweep([y, y], [1, 2])
        if name in f"{missing} {BOTH}".split():
            with finding("one-class", cs.UndefinedError):
                cs.choose(s, cs.f(2) if name == "f2" else name)
        else:
            assert np.isfinite(cs.choose(s, cs.f(2) if name == "f2" else name).value)


def test_one_class_and_no_rows() -> None:
    with finding("too-few", cs.UndefinedError, need=1, have=0):
        cs.choose(cs.sweep([], []), "f1")
    with finding("one-class", cs.UndefinedError):
        cs.choose(cs.sweep([0, 0], [1, 2]), cs.Costs(fp=1, fn=1), prior=0.1)
    assert cs.choose(cs.sweep([0, 0], [1, 2]), cs.Costs(fp=1, fn=1)).threshold == np.inf
    assert cs.choose(cs.sweep([1, 1], [1, 2]), cs.Costs(fp=1, fn=1)).threshold == -np.inf


@given(st.floats(1e-300, 1 - 1e-9), rows(both=True))
def test_deployed_confusion(prior: float, case: Case) -> None:
    c = cs.sweep(*case).at(0.5)
    d = c.deployed(prior)
    assert d.total == pytest.approx(c.total)
    assert d.prevalence == pytest.approx(prior)
    assert (d.recall, d.fpr) == pytest.approx((c.recall, c.fpr))


def test_counts_are_of_these_rows_at_any_prior() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.1
    s = cs.sweep(y, rng.standard_normal(20_000) + 2 * y)
    p = cs.choose(s, "recall", subject_to="flagged <= 500", prior=0.01)
    assert p.confusion.flagged == p.status[0].value == 500
    assert "flagged <= 500: met (500 on these rows)" in repr(p)
    share = cs.choose(s, "recall", subject_to="flagged_rate <= 2.5 %", prior=0.01)
    assert share.deployed.flagged_rate == share.status[0].value <= 0.025
    assert share.confusion.flagged > 500


# -------------------------------------------------------------------------------------------- top k


def top_rows(k: int) -> tuple[cs.Sweep, Any, Any]:
    rng = np.random.default_rng(8)
    y = rng.random(500) < 0.1
    score = rng.normal(size=500) + 1.5 * y
    return cs.sweep(y, score), y, np.argsort(-score)[:k]


@pytest.mark.parametrize("name", ["precision@60", "precision@12 %", "Precision @ 12%"])
def test_a_measure_of_the_rows_that_score_highest(name: str) -> None:
    """As many are flagged, also where the last of them are negatives and lower the precision."""
    s, y, order = top_rows(60)
    p = cs.choose(s, name)
    assert p.confusion.flagged == 60
    assert p.value == p.confusion.precision == y[order].mean()
    assert p.confusion.recall == cs.choose(s, "recall@60").value == y[order].sum() / y.sum()
    assert p.expected is not None
    assert p.expected.low < p.value < p.expected.high
    assert cs.interval(s, "precision@60", at=p) == cs.interval(s, "precision", at=p)
    assert cs.choose(s, "lift@60").value == pytest.approx(p.value / s.prevalence)


def test_top_rows_where_scores_are_tied_or_limits_bind() -> None:
    s = cs.Sweep.from_counts([3, 2, 1], [5, 5, 5], [1, 9, 50])
    assert cs.choose(s, "recall@12").confusion.flagged == 6  # the next would be 20
    assert cs.choose(s, "precision@50", subject_to="fpr <= 0.1").confusion.flagged == 6
    assert cs.choose(s, "precision@20", prior=0.01).confusion.flagged == 20
    assert cs.choose(s, "recall@20").stability(20).threshold.shape == (20,)


@pytest.mark.parametrize("name", ["nonsense@5", "recall@", "recall@-3", "recall@five"])
def test_what_is_no_measure_of_top_rows(name: str) -> None:
    with finding("bad-argument", cs.DataError):
        cs.choose(top_rows(5)[0], name)


def test_top_rows_have_no_confidence() -> None:
    with finding("arguments-conflict", cs.DataError):
        cs.choose(top_rows(5)[0], "recall@5", subject_to="fpr <= 0.1", confidence=0.9)
