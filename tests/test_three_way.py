"""Pass, review or block: two cuts at once, against every pair of them in fractions."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from scipy.stats import binom

import cutscore as cs
from cutscore.decision.pairs import side_of
from cutscore.detector.export import to_onnx, to_sklearn, to_sql
from cutscore.estimators import DecisionClassifier
from cutscore.inference.guarantee import certify_limit, max_between, max_errors
from cutscore.measures.limits import HOLDS, parse_limit
from cutscore.measures.registry import MEASURES
from cutscore.policy import Cuts, Policy
from cutscore.report import summarise, summarise_policy
from cutscore.training import train
from raising import finding

# HYPOTHESIS_PROFILE=slow compares more than 10,000 sweeps.
TIMES = max(1, settings().max_examples // 100)

LIMITS = [
    "precision >= 0.75",
    "npv >= 0.8",
    "fpr <= 0.25",
    "fnr <= 0.2",
    "recall >= 0.3",
    "specificity >= 0.4",
    "error_rate <= 0.1",
    "accuracy >= 0.6",
    "review_rate <= 0.4",
    "reviewed <= 5",
    "reviewed >= 2",
    "fn < 3",
    "flagged_rate <= 0.5",
    "flagged >= 2",
    "fp <= 1",
    "review_rate > 0.1",
    "error_rate >= 0.05",
]


def draw(rng, weighted):
    """Scores with ties, and their masses."""
    m = int(rng.integers(1, 9))
    pos, neg = rng.integers(0, 4, (2, m))
    pos[(pos == 0) & (neg == 0)] = 1
    if weighted:  # dyadic, so that floats are exact
        pos, neg = pos * 0.25, neg * 1.5
    return cs.Sweep.from_counts(np.arange(m, 0, -1.0), pos, neg)


def every_pair(s):
    """The six counts of all pairs of cuts, as fractions."""
    pos, neg = [F(x) for x in s.pos.tolist()], [F(x) for x in s.neg.tolist()]
    P, N = sum(pos), sum(neg)
    for i, j in product(range(len(s) + 1), repeat=2):
        if i <= j:
            tp, fp, tr, fr = sum(pos[:i]), sum(neg[:i]), sum(pos[i:j]), sum(neg[i:j])
            yield (i, j), cs.Triage(tp, fp, P - tp - tr, N - fp - fr, tr, fr)


def fraction(x):
    return F(repr(x))


def cost_of(costs, c):
    parts = (
        (costs.fp, c.fp),
        (costs.fn, c.fn),
        (-costs.tp, c.tp),
        (-costs.tn, c.tn),
        (costs.review, c.reviewed),
        (costs.review_miss, c.reviewed_positives),
    )
    return sum((fraction(float(k)) * m for k, m in parts), F(0)) / c.total


def ratio(name, c):
    """A measure in fractions; None for 0/0."""
    part, whole = {
        "precision": (c.tp, c.tp + c.fp),
        "npv": (c.tn, c.tn + c.fn),
        "fpr": (c.fp, c.negatives),
        "fnr": (c.fn, c.positives),
        "recall": (c.tp, c.positives),
        "specificity": (c.tn, c.negatives),
        "error_rate": (c.fp + c.fn, c.total),
        "accuracy": (c.tp + c.tn, c.total),
        "review_rate": (c.reviewed, c.total),
        "flagged_rate": (c.tp + c.fp, c.total),
        "reviewed": (c.reviewed, F(1)),
        "fn": (c.fn, F(1)),
        "fp": (c.fp, F(1)),
        "flagged": (c.tp + c.fp, F(1)),
    }[name]
    return part / whole if whole else None


def holds(limit, c):
    name, sign, bound = limit.split()
    value, bound = ratio(name, c), fraction(float(bound))
    if value is None:
        return False
    return HOLDS[sign](value, bound)


def compare(s, goal, limits, prior=None):
    """What was chosen is as good as the best of all pairs."""
    p = cs.choose(s, goal, subject_to=limits or None, prior=prior)
    c = cs.Triage(
        *(F(x) for x in (p.confusion.tp, p.confusion.fp, p.confusion.fn)),
        *(F(x) for x in (p.confusion.tn, p.confusion.reviewed_pos, p.confusion.reviewed_neg)),
    )
    share = F(repr(prior)) if prior else None
    value = (
        (lambda d: cost_of(goal, d if share is None else d.deployed(share)))
        if isinstance(goal, cs.Costs)
        else (lambda d: ratio(goal, d) * (1 if goal in ("recall", "accuracy") else -1) * -1)
    )
    allowed = [d for _, d in every_pair(s) if all(holds(limit, d) for limit in limits)]
    assert p.feasible == bool(allowed)
    assert c in [d for _, d in every_pair(s)]
    if allowed:
        assert all(holds(limit, c) for limit in limits)
        assert value(c) == min(map(value, allowed))
        for limit, status in zip(limits, p.status, strict=True):
            assert status.holds
            assert status.value == pytest.approx(float(ratio(limit.split()[0], c)))


@pytest.mark.parametrize("weighted", [False, True])
def test_costs_against_every_pair(weighted):
    rng = np.random.default_rng(1)
    for _ in range(200 * TIMES):
        s = draw(rng, weighted)
        fp, fn, review, miss = rng.integers(1, 12, 4) / rng.integers(1, 5)
        costs = cs.Costs(fp=fp, fn=fn, review=review / 4, review_miss=rng.choice([0.0, miss / 4]))
        compare(s, costs, [], prior=rng.choice([None, 0.01, 0.3]) if s.P and s.N else None)


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_against_every_pair(weighted):
    rng = np.random.default_rng(2)
    for _ in range(200 * TIMES):
        s = draw(rng, weighted)
        limits = list(rng.choice(LIMITS, rng.integers(1, 4), replace=False))
        costs = cs.Costs(fp=rng.integers(1, 9), fn=rng.integers(1, 9), review=rng.integers(0, 3))
        compare(s, costs, limits)


@pytest.mark.parametrize("goal", ["review_rate", "fnr", "error_rate", "recall"])
def test_measures_against_every_pair(goal):
    rng = np.random.default_rng(3)
    for _ in range(60 * TIMES):
        s = draw(rng, False)
        if not (s.P and s.N):
            continue
        limits = ["review_rate <= 0.5", *rng.choice(LIMITS[:8], 2, replace=False)]
        compare(s, goal, limits)


def test_names_that_others_rely_on():
    s = cs.sweep([1, 1, 0, 1, 0, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1])
    p = cs.choose(s, cs.Costs(fp=4, fn=4, review=1))
    assert p.cuts.review <= p.cuts.block
    decided = p.decide([9, p.cuts.review, -1.0])
    assert decided.dtype == np.int8
    assert decided.tolist() == [2, 1, 0]
    with finding("value-missing", row=1):
        p.decide([9, np.nan])
    c = p.confusion
    assert p.value == (4 * c.fp + 4 * c.fn + c.reviewed) / 8


def test_one_cut_where_no_case_is_worth_a_review():
    s = cs.sweep([1, 1, 0, 1, 0, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1])
    p = cs.choose(s, cs.Costs(fp=1, fn=2, review=50))
    assert p.cuts.review == p.cuts.block == cs.choose(s, cs.Costs(fp=1, fn=2)).threshold
    assert p.confusion.reviewed == 0


def test_the_next_best_within_a_capacity():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.05
    s = cs.sweep(y, rng.standard_normal(4000) + 2.5 * y)
    p = cs.choose(s, "fnr", subject_to=["precision >= 0.9", "reviewed <= 200"])
    assert p.feasible
    assert p.confusion.precision >= 0.9
    assert p.confusion.reviewed <= 200
    less = cs.choose(s, "fnr", subject_to=["precision >= 0.9", "reviewed <= 50"])
    assert less.confusion.fnr > p.confusion.fnr


def test_prior_scales_the_classes():
    s = cs.sweep([1, 1, 0, 1, 0, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1])
    p = cs.choose(s, cs.Costs(fp=4, fn=40, review=1), prior=0.05)
    many = cs.Sweep.from_counts(s.threshold, s.pos, 19 * s.neg)
    assert p.cuts == cs.choose(many, cs.Costs(fp=4, fn=40, review=1)).cuts


def test_infeasible_limits_are_loosened_alike():
    s = cs.sweep([1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1])
    p = cs.choose(s, "review_rate", subject_to=["error_rate <= 0.01", "reviewed <= 1"])
    assert not p.feasible
    assert p.expected is None
    assert p.verdict.state == "unusable"


@pytest.mark.parametrize("name", ["f1", "mcc", "youden", "lift", "lr_positive"])
def test_measures_without_a_side(name):
    with finding("bad-argument", parameter="subject_to"):
        side_of(MEASURES[name])


@pytest.mark.parametrize(
    "costs",
    [{"review": -1}, {"review": 1, "review_miss": -2}, {"review_miss": 2}, {"review": np.nan}],
)
def test_bad_costs(costs):
    with finding("bad-argument", parameter="costs"):
        cs.Costs(fp=1, fn=2, **costs)


def test_expected_is_worse_than_apparent():
    better, rng = [], np.random.default_rng(5)
    for _ in range(20):
        y = np.repeat([1, 0], (40, 360))
        s = cs.sweep(y, rng.standard_normal(400) + 1.5 * y)
        p = cs.choose(s, cs.Costs(fp=5, fn=20, review=1))
        assert p.expected.low <= p.expected.value <= p.expected.high
        better.append(p.expected.value - p.value)
    assert np.mean(better) > 0


def test_most_between_is_safe():
    """Uniform scores: the share between cuts that are k rows apart, wherever they are."""
    n, rate, error = 400, 0.1, 0.2
    k = max_between(n, rate, error)
    assert 0 < k < max_errors(n, rate, error)
    rng = np.random.default_rng(0)
    ends = np.pad(np.sort(rng.random((2000, n))), ((0, 0), (1, 1)), constant_values=(0, 1))
    widest = (ends[:, k + 1 :] - ends[:, : -k - 1]).max(axis=1)
    assert np.mean(widest > rate) <= error
    assert max_between(10, 0.01, 0.05) == -1


def test_npv_is_guaranteed_as_precision_of_the_negatives():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    x = rng.standard_normal(3000) + 2 * y
    p = cs.choose(cs.sweep(y, x), "flagged_rate", subject_to="npv >= 0.95", confidence=0.9)
    q = cs.choose(cs.sweep(~y, -x), "recall", subject_to="precision >= 0.95", confidence=0.9)
    assert p.feasible
    assert p.confusion.tn == q.confusion.tp
    passed = p.confusion.tn + p.confusion.fn
    assert binom.sf(p.confusion.tn - 1, passed, 0.95) <= 0.1


# ---------------------------------------------------------------------------------- every surface

COSTS = cs.Costs(fp=20, fn=100, review=3)
CAPACITY = cs.Aim("fnr", ["precision >= 80 %", "reviewed <= 40"])


def rows(n=1500, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, np.round(rng.standard_normal(n) + 2.2 * y, 3)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("aim", [COSTS, CAPACITY], ids=["costs", "capacity"])
def test_policies_keep_both(aim, reverse, tmp_path):
    y, x = rows()
    x = -x if reverse else x
    p = Policy.choose(cs.sweep(y, x), aim, reverse=reverse, score="risk")
    point = cs.choose(cs.sweep(y, -x if reverse else x), aim)
    assert p.cuts.thresholds == tuple(-t if reverse else t for t in point.cuts)
    p.save(tmp_path / "policy.json")
    again = Policy.load(tmp_path / "policy.json")
    assert again.to_json() == p.to_json()
    decided = again.decide(x)
    assert decided.dtype == np.int8
    assert np.array_equal(decided, point.decide(-x if reverse else x))
    counts = np.bincount(decided, y).tolist()
    assert counts == [p.confusion.fn, p.confusion.reviewed_pos, p.confusion.tp]
    assert "reviewed" in p._repr_html_() or "review" in p.rule
    assert {"review_rate", "fnr", "npv"} <= set(p.promises)


def test_policies_are_revised_merged_and_checked():
    (y, x), (z, w) = rows(seed=1), rows(seed=2)
    a, b = (Policy.choose(cs.sweep(*one), COSTS) for one in ((y, x), (z, w)))
    both = a + b
    whole = cs.choose(cs.sweep(np.r_[y, z], np.r_[x, w]), COSTS)
    assert both.cuts.thresholds == tuple(whole.cuts)
    dear = cs.Costs(fp=20, fn=400, review=3)
    assert both.revised(costs=dear).cuts.thresholds == tuple(cs.choose(both.sweep, dear).cuts)
    one = both.revised(costs=cs.Costs(fp=20, fn=100))
    assert not one.three_way
    assert one.revised(costs=COSTS).cuts == both.cuts
    given = a.revised(threshold=(1.0, 3.0)) + b.revised(threshold=(1.0, 3.0))
    assert given.cuts == Cuts((1.0, 3.0))
    assert given.confusion.reviewed == np.sum((np.r_[x, w] >= 1) & (np.r_[x, w] < 3))
    new = rows(3000, 3)
    found = both.check(*new)
    assert found.state.value == "agrees"
    seen = {one.name: one.observed.value for one in found.promises}
    decided, t = both.decide(new[1]), new[0]
    assert seen["review_rate"] == np.mean(decided == 1)
    assert seen["fnr"] == np.mean(decided[t] == 0)
    assert seen["precision"] == np.mean(t[decided == 2])
    assert seen["npv"] == np.mean(~t[decided == 0])
    assert both.check(new[0], new[1] - 1).state.value == "differs"


@pytest.mark.parametrize("kind", ["corners", "blocks"])
def test_compact_evidence_keeps_both_cuts(kind):
    y, x = rows(3000, 5)
    s = cs.sweep(y, x)
    for aim in (COSTS, CAPACITY):
        whole, p = Policy.choose(s, aim), Policy.choose(s, aim, evidence=kind)
        assert p.cuts == whole.cuts
        assert Policy.from_json(p.to_json()).confusion == whole.confusion
    reach = Policy.choose(s, COSTS, evidence=kind).reach
    assert reach.low == reach.high == cs.choose(s, COSTS).value
    dear = cs.Costs(fp=20, fn=400, review=3)
    kept = Policy.choose(s, COSTS, evidence=kind).revised(costs=dear)
    assert kept.confusion == cs.choose(s, dear).confusion
    with finding("sweep-compact"):
        p.revised(subject_to="reviewed <= 20")


def test_a_broken_capacity_is_found():
    p = Policy.choose(cs.sweep(*rows()), CAPACITY)
    y, x = rows(3000, 4)
    assert p.check(y, x).limits[1].state == "holds"
    found = p.check(y, x + 0.5)
    assert (found.state.value, found.limits[1].state) == ("broken", "broken")


def test_thresholds_that_do_not_fit_the_aim():
    s = cs.sweep(*rows())
    with finding("bad-argument", parameter="threshold"):
        Policy.choose(s, COSTS, threshold=1.0)
    with finding("bad-argument", parameter="threshold"):
        Policy.choose(s, COSTS, threshold=(3.0, 1.0))
    with finding("bad-argument", parameter="threshold"):
        Policy.choose(s, "f1", threshold=(1.0, 3.0))
    p = Policy.choose(s, COSTS)
    data = p.to_dict()
    data["cuts"]["thresholds"] = data["cuts"]["thresholds"][::-1]
    with finding("bad-argument", parameter="thresholds"):
        Policy.from_dict(data)
    data["cuts"]["thresholds"] = data["cuts"]["thresholds"][:1]
    with finding("bad-argument", parameter="thresholds"):
        Policy.from_dict(data)


def test_nothing_between_where_the_capacity_is_0():
    s = cs.sweep(*rows())
    p = cs.choose(s, "fnr", subject_to=["fpr <= 2 %", "reviewed <= 0"])
    assert p.feasible
    assert p.cuts.review == p.cuts.block == cs.choose(s, "fnr", subject_to="fpr <= 2 %").threshold


def test_one_class():
    s = cs.sweep([1, 1, 1], [3, 2, 1])
    p = cs.choose(s, cs.Costs(fp=1, fn=5, review=1))
    assert (p.confusion.tp, p.confusion.reviewed, p.value) == (3, 0, 0)
    none = cs.choose(cs.sweep([0, 0], [2, 1]), cs.Costs(fp=1, fn=5, review=1))
    assert (none.confusion.tn, none.cuts) == (2, (inf, inf))
    with finding("one-class"):
        cs.choose(cs.sweep([0, 0, 0], [3, 2, 1]), "fnr", subject_to="review_rate <= 1")
    wrong = cs.choose(
        cs.Sweep.from_counts([2, 1], [0, 0], [3, 4]), "review_rate", subject_to="error_rate <= 0.1"
    )
    assert (wrong.feasible, wrong.confusion.fp) == (True, 0)
    with finding("one-class"):
        cs.choose(s, cs.Costs(fp=1, fn=5, review=1), prior=0.1)
    found = cs.choose(s, "review_rate", subject_to="fpr <= 0.1")  # 0/0 keeps no limit
    assert not found.feasible


def test_detectors_are_trained_for_both():
    duckdb, onnxruntime = map(pytest.importorskip, ("duckdb", "onnxruntime"))
    y, x = rows(600)
    table = {"bad": y, "gap": x, "noise": np.random.default_rng(1).standard_normal(600)}
    t = train(table, "bad", costs=COSTS, learner="logistic")
    d = t.detector
    assert d.policy.three_way
    assert t.measure == "auc"
    assert sorted(set(d.decide(table).tolist())) == [0, 1, 2]
    assert d.apply(table)["decision"].to_pylist() == d.decide(table).tolist()
    assert d.policy.promises["cost"].value > t.point.value
    cases = pa.table({"id": np.arange(600), "gap": x, "noise": table["noise"]})
    with duckdb.connect() as db:
        db.register("cases", cases)
        sql = to_sql(d, "cases", dialect="duckdb", keep=["id"])
        answers = db.execute(f'SELECT "decision" FROM ({sql}) ORDER BY "id"').fetchall()
    assert [one for (one,) in answers] == d.decide(table).tolist()
    session = onnxruntime.InferenceSession(to_onnx(d).SerializeToString())
    found = session.run(["decision"], {k: np.reshape(table[k], (-1, 1)) for k in ("gap", "noise")})
    assert found[0].ravel().tolist() == d.decide(table).tolist()
    with finding("bad-argument", parameter="aim"):
        train({**table, "who": np.arange(600)}, "bad", costs=COSTS, unit="who")
    with finding("bad-argument", parameter="aim"):
        to_sklearn(d)


def test_classifiers_have_two_labels():
    y, x = rows(300)
    with finding("bad-argument", parameter="aim"):
        DecisionClassifier(aim=COSTS).fit(x[:, None], y)
    model = DecisionClassifier(aim=cs.Costs(fp=20, fn=100)).fit(x[:, None], y)
    with finding("bad-argument", parameter="aim"):
        model.revised(costs=COSTS)
    decided = model.policy_.revised(costs=COSTS).decide(model.scores(x[:, None]))
    assert set(decided.tolist()) == {0, 1, 2}
    with finding("bad-argument", parameter="costs"):
        cs.compare(y, x, -x, costs=COSTS)


@pytest.mark.parametrize("aim", [COSTS, CAPACITY], ids=["costs", "capacity"])
def test_reports_say_both(aim):
    y, x = rows()
    asked = {"costs": aim} if aim is COSTS else {"maximize": "fnr", "subject_to": aim.limits}
    summary = summarise(y, {"risk": x}, **asked)
    point = cs.choose(cs.sweep(y, x), aim)
    plain = summary.as_dict()["scores"][0]["operating_point"]
    assert plain["cuts"] == point.cuts._asdict()
    assert plain["confusion"]["reviewed_pos"] == point.confusion.reviewed_pos
    assert plain["here"]["review_rate"] == point.confusion.review_rate
    text = summary.text()
    assert f"{point.confusion.reviewed_neg:,} of {summary.N:,} negatives" in text
    assert ("reviewing all" in text) == (aim is COSTS)
    kept = summarise_policy(Policy.choose(cs.sweep(y, x), aim)).scores[0]
    assert kept.point.cuts == point.cuts
    for name, e in summary.scores[0].measures.items():
        assert kept.measures[name].value == pytest.approx(e.value)
    assert kept.point.typical.reviewed == pytest.approx(point.typical.reviewed)


def test_rows_of_units_are_refused():
    y, x = rows()
    with finding("bad-argument", parameter="aim"):
        summarise(y, {"risk": x}, unit=np.arange(len(y)) // 5, costs=COSTS)


@pytest.mark.parametrize("limit", ["precision >= 0.8", "npv >= 0.9"])
def test_certified_cuts_of_many(limit):
    """Of many cuts in order one pass tells which were certified, of others a search."""
    rng = np.random.default_rng(2)
    y = rng.random(30_000) < 0.3
    s = cs.sweep(y, rng.standard_normal(30_000) + 2 * y)
    rule = certify_limit(s, parse_limit(limit), 0.05, None, None)
    flagged = s.tp + s.fp
    in_order = rule.certifies(flagged)
    assert 0 < in_order.sum() < len(s)
    assert in_order.tolist() == rule.certifies(flagged[::-1])[::-1].tolist()
    assert in_order.tolist() == [bool(rule.certifies(k)) for k in flagged[:50]] + [
        bool(x) for x in np.isin(flagged[50:], rule.flagged)
    ]


@pytest.mark.parametrize("limit", ["error_rate <= 3 %", "review_rate <= 20 %", "precision >= 0.9"])
def test_guarantees_at_another_prior_are_refused(limit):
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.1
    aim = cs.Aim("fnr", [limit, "review_rate <= 30 %"], prior=0.3, confidence=0.95)
    with finding("arguments-conflict"):
        cs.choose(cs.sweep(y, rng.normal(size=2000) + 2 * y), aim)


def test_limits_at_another_prior_are_exact():
    """Of one tenth positives, missing all is exactly one error in ten."""
    s = cs.sweep([1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1])
    for limit in ("error_rate <= 0.1", "error_rate >= 0.1"):
        p = cs.choose(s, "review_rate", subject_to=limit, prior=0.1)
        assert p.feasible, limit
        assert p.status[0].holds, limit


def test_expected_shares_are_shares():
    y = [1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]
    score = [6, 4.5, 6.75, 0, 9, 1.5, 2, 2, 8.25, 6, 1.75, 3.75, 3.25]
    s, aim = cs.sweep(y, score), cs.Aim(cs.Costs(fp=1, fn=2, review=0.1), "review_rate <= 20 %")
    assert cs.choose(s, aim).expect("npv").value == 0
    assert 0 <= Policy.choose(s, aim).promises["npv"].value <= 1


def test_limits_that_fail_are_told_from_those_that_hold():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.1
    s = cs.sweep(y, rng.normal(size=300) + 2 * y)
    limits = ["precision >= 0.999", "review_rate <= 90 %", "fpr <= 99 %"]
    aim = cs.Aim("fnr", limits, confidence=0.9)
    p = cs.choose(s, aim)
    assert not p.feasible
    holds = [one.holds for one in p.status]
    assert holds == [False, True, True]
    same = Policy.choose(s, aim, threshold=(p.review_threshold, p.threshold)).point
    assert [one.holds for one in same.status] == holds
