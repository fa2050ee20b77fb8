"""Costs that differ by row: decisions against every cut of the gap in fractions, and values by
hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutscore as cs
import oracle
from cutscore.decision.money import MoneySweep, gaps
from cutscore.decision.row_costs import RowCostPoint
from cutscore.inference.guarantee import max_errors
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Stakes
from raising import finding
from test_decision import LIMITS

ASIS = cs.Affine(1.0, 0.0)
"""Scores that are LLRs already."""

# HYPOTHESIS_PROFILE=slow compares 10,000 samples.
SEEDS = 10 * settings().max_examples

MANY = [*LIMITS, "fp <= 1", "tp >= 3", "fn <= 0", "tn >= 2", "flagged <= 0", "fp <= 2, recall >= 1"]


def parsed(text: str) -> list[tuple[str, str, F]]:
    """Names, signs and bounds of limits."""
    split = (part.split() for part in text.split(", ") if part)
    return [(name, sign, F(bound)) for name, sign, bound in split]


class Sample(NamedTuple):
    """Few rows with many ties, and costs as decimals."""

    y: np.ndarray
    score: np.ndarray
    columns: dict[str, np.ndarray]
    weight: np.ndarray | None
    costs: cs.Costs
    miss: list[F]
    alarm: list[F]

    def choose(self, **question: Any) -> RowCostPoint:
        question = {"calibrator": ASIS, "weight": self.weight} | question
        return cs.choose_by_row(self.y, self.score, self.costs, self.columns, **question)


def sample(rng: np.random.Generator) -> Sample:
    """Amounts in cents, of which some are 0; weights in quarters."""
    n = int(rng.integers(2, 14))
    y = rng.integers(0, 2, n)
    y[:2] = (0, 1)
    score = rng.integers(0, rng.integers(1, 6) + 1, n) / 4
    few = rng.choice(["0", "0.05", "0.1", "0.3", "1", "2.5", "19.99", "250"], 3).tolist()
    amount, fee = (rng.choice(few, n).tolist() for _ in range(2))
    tp, tn = rng.choice(["0", "0", "0.2", "1.5"], 2).tolist()
    fp, fn = [("2.5", "amount"), ("fee", "amount"), ("fee", "4"), ("1", "2*amount + 0.5*fee")][
        rng.integers(4)
    ]
    exact = {
        "2.5": [F("2.5")] * n,
        "1": [F(1)] * n,
        "4": [F(4)] * n,
        "amount": list(map(F, amount)),
        "fee": list(map(F, fee)),
        "2*amount + 0.5*fee": [2 * F(a) + F(b) / 2 for a, b in zip(amount, fee, strict=True)],
    }
    costs = cs.Costs(
        *(float(c) if c[0].isdigit() and len(c) < 4 else c for c in (fp, fn)),
        tp=float(tp),
        tn=float(tn),
    )
    return Sample(
        y,
        score,
        {"amount": np.array(amount, float), "fee": np.array(fee, float)},
        rng.integers(1, 9, n) / 4 if rng.random() < 0.5 else None,
        costs,
        [x + F(tp) for x in exact[fn]],
        [x + F(tn) for x in exact[fp]],
    )


class Best(NamedTuple):
    """The best cut, by trying each."""

    cut: int
    value: F
    feasible: bool


def best_of(
    d: Sample, gap: Sequence[float], limits: list[tuple[str, str, F]], prior: F | None = None
) -> Best:
    """Every cut of the gap: of equally good ones the fewest false alarms, then the most caught."""
    t = oracle.table(d.y, gap, d.weight)
    weight = [F(1)] * len(gap) if d.weight is None else oracle.exactly(d.weight)
    rows = list(zip(d.y.tolist(), gap, d.miss, d.alarm, weight, strict=True))
    tp_, tn_ = F(repr(d.costs.tp)), F(repr(d.costs.tn))
    best: Best | None = None
    nearest: tuple[Any, ...] | None = None
    for cut, (tp, fp) in enumerate(oracle.points(t)):
        if not cut and t.threshold[0] == inf:
            continue  # no threshold flags nothing
        at = t.threshold[cut - 1] if cut else inf
        missed = sum((w * m for y, g, m, _, w in rows if y and not (cut and g >= at)), F(0))
        alarms = sum((w * a for y, g, _, a, w in rows if not y and cut and g >= at), F(0))
        missed, alarms = missed - tp_ * t.P, alarms - tn_ * t.N
        seen = (tp, fp, t.P - tp, t.N - fp)
        if prior is None:
            value, cells = (missed + alarms) / (t.P + t.N), seen
        else:
            value = prior * missed / t.P + (1 - prior) * alarms / t.N
            p, q = prior * (t.P + t.N) / t.P, (1 - prior) * (t.P + t.N) / t.N
            cells = (p * tp, q * fp, p * seen[2], q * seen[3])
        short: Any = F(0)
        for name, sign, bound in limits:
            counted = name in ("tp", "fp", "fn", "tn", "flagged")
            of = oracle.MEASURES[name][0] if name not in ("tp", "fp", "fn", "tn") else None
            on = seen if counted else cells
            measured = on[("tp", "fp", "fn", "tn").index(name)] if of is None else of(*on)
            if measured is None:
                short = inf
            elif not (measured >= bound if sign == ">=" else measured <= bound):
                short = max(short, abs(measured - bound) / (abs(bound) or 1))
        key = (-short, -value, -fp, tp)
        if nearest is None or key > nearest:
            nearest, best = key, Best(cut, value, short == 0)
    assert best is not None
    return best


def agree(d: Sample, limits: str, prior: F | None = None) -> None:
    """The choice is that of trying all cuts."""
    p = d.choose(
        subject_to=limits.split(", ") if limits else None,
        prior=None if prior is None else float(prior),
    )
    assert p.rows is not None
    best = best_of(d, p.rows.gap.tolist(), parsed(limits), prior)
    where = f"{limits or 'nothing'} at {prior} of {d}: {best}, {p.cut}, {p.feasible}"
    assert p.feasible == best.feasible, where
    assert p.cut == best.cut, where
    assert p.value == pytest.approx(float(best.value), rel=1e-12, abs=1e-12), where
    assert p.sweep.at(p.threshold) == p.confusion, where
    flagged = p.rows.gap >= p.threshold
    total = np.where(d.y == 1, np.where(flagged, 0, d.miss), np.where(flagged, d.alarm, 0))
    w = [F(1)] * len(d.y) if d.weight is None else oracle.exactly(d.weight)
    benefit = sum(x * F(repr(d.costs.tp if y else d.costs.tn)) for x, y in zip(w, d.y, strict=True))
    exact = sum((x * t for x, t in zip(w, total, strict=True)), F(0)) - benefit
    assert p.total == pytest.approx(float(exact), rel=1e-12, abs=1e-12), where


# MCC and lift have values of equally good cuts that differ by a rounding, where they limit.
SURE = [text for text in MANY if not {"mcc", "lift"} & {*text.split()}]


@pytest.mark.parametrize("part", range(5))
def test_no_cut_is_better(part: int) -> None:
    for seed in range(part, SEEDS, 5):
        rng = np.random.default_rng((seed, 60))
        d = sample(rng)
        agree(d, SURE[seed // 5 % len(SURE)])
        agree(d, SURE[rng.integers(len(SURE))], F(str(rng.choice(["0.002", "0.37", "0.89"]))))


@given(st.integers(0, 2**32), st.sampled_from(SURE))
def test_any_sample(seed: int, limits: str) -> None:
    agree(sample(np.random.default_rng((seed, 62))), limits)


@given(st.integers(0, 2**32), st.sampled_from(["0.5", "0.25", "0.1"]))
def test_ties_at_another_prior_are_exact(seed: int, prior: str) -> None:
    agree(sample(np.random.default_rng((seed, 61))), "", F(prior))


@given(
    st.integers(0, 2**32), st.sampled_from(["fpr <= 0.5", "recall >= 0.3", "flagged_rate <= 0.7"])
)
def test_guarantees_are_those_of_counts(seed: int, limit: str) -> None:
    d = sample(np.random.default_rng((seed, 63)))._replace(weight=None)
    p = d.choose(subject_to=limit, confidence=0.6)
    assert p.rows is not None
    name, _, bound = limit.split()
    s = p.sweep
    wholes = {"fpr": int(s.N), "recall": int(s.P), "flagged_rate": int(s.P + s.N)}
    share = 1 - float(bound) if name == "recall" else float(bound)
    most = max_errors(wholes[name], share, 0.4)
    errors = {
        "fpr": lambda t: t.fp,
        "recall": lambda t: s.P - t.tp,
        "flagged_rate": lambda t: t.tp + t.fp,
    }[name]
    points = list(enumerate(oracle.points(oracle.table(d.y, p.rows.gap))))
    points = points[1:] if s.threshold[0] == inf else points
    # Flagging nothing, or everything, is certain however few rows there are.
    end = len(s) if name == "recall" else 0
    allowed = [cut for cut, t in points if errors(t) <= most or cut == end]
    if p.feasible:
        assert p.cut in allowed
        best = max(p.money.gain[:cut].sum() - p.money.loss[:cut].sum() for cut in allowed)
        assert p.money.gain[: p.cut].sum() - p.money.loss[: p.cut].sum() == pytest.approx(best)
    else:
        assert not allowed


# ------------------------------------------------------------------------------------------ by hand

Y, SCORE = [1, 0, 1, 0, 0, 1], [2.0, 1.0, 0.0, -1.0, -1.0, -2.0]
AMOUNT = {"amount": [20, 10, 500, 30, 900, 5]}
COSTS = cs.Costs(fp=4, fn="amount")


def by_hand(**question: Any) -> RowCostPoint:
    return cs.choose_by_row(Y, SCORE, COSTS, AMOUNT, **({"calibrator": ASIS} | question))


def test_by_hand() -> None:
    p = by_hand()
    gap = [x - log(4 / a) for x, a in zip(SCORE, AMOUNT["amount"], strict=True)]
    assert p.rows is not None
    assert p.rows.gap == pytest.approx(gap)
    # By gap: 500 (+), 900 (−), 20 (+), 10 (−), 30 (−), 5 (+).
    assert (p.cut, p.total, p.value) == (3, 9.0, 1.5)
    assert p.baselines == {"flag none": 525.0, "flag all": 12.0}
    assert p.trivial_costs == {"flag none": 87.5, "flag all": 2.0}
    assert (p.confusion.tp, p.confusion.fp) == (2, 1)
    assert p.prior == 0.5
    assert p.factor == pytest.approx(np.exp(p.threshold))
    assert p.rule_text().startswith("flag if odds × amount ≥ 20.09 × 4 (exactly: LLR(score) + ln(")
    # One threshold on the score: all but the last catch 520 for 3 false alarms.
    assert p.uniform is not None
    assert p.uniform.value == pytest.approx(9 / 6)


def test_limits_another_prior_and_a_given_threshold() -> None:
    assert by_hand(subject_to="fp <= 0").total == 25.0
    assert by_hand(subject_to="fn <= 0").total == 12.0
    none = by_hand(threshold=inf)
    assert (none.cut, none.total, none.rule_text()) == (0, 525.0, "flag nothing")
    assert by_hand(threshold=-inf).rule_text() == "flag everything"
    # The first of three positives alone: 20 and 5 are missed.
    rare = by_hand(prior=0.1)
    assert rare.value == pytest.approx(0.1 * 25 / 3)
    assert rare.trivial_costs == pytest.approx({"flag none": 17.5, "flag all": 3.6})


def test_benefits_are_costs_of_the_other_decision() -> None:
    p = cs.choose_by_row(Y, SCORE, cs.Costs(4, "amount", tp=1, tn=2), AMOUNT, calibrator=ASIS)
    assert p.rows is not None
    assert p.rows.miss.tolist() == [a + 1 for a in AMOUNT["amount"]]
    assert set(p.rows.alarm.tolist()) == {6}
    assert p.baselines == {"flag none": 525 - 6, "flag all": 12 - 3}
    assert p.total == 5 + 4 - 2 * 1 - 2 * 2


def test_where_flagging_gains_nothing_nothing_is_flagged() -> None:
    stakes = Stakes(np.array([0.0, 0, 3, 3, 3, 0]), np.array([2.0, 0, 0, 2, 2, 0]))
    llr = np.array([9.0, inf, 0, -inf, inf, -inf])
    free = 300 * np.log(10) + np.log(3)  # a false alarm that costs nothing counts as 1e-300
    assert gaps(llr, stakes).tolist() == [-inf, -inf, pytest.approx(free), -inf, inf, -inf]
    costs = cs.Costs(fp=1, fn="amount")
    p = cs.choose_by_row([1, 0, 1, 0], [3, 2, 1, 0], costs, {"amount": [0] * 4}, calibrator=ASIS)
    assert p.total == 0
    assert not p.confusion.fp
    free = cs.choose_by_row(
        [1, 0], [1, 0], cs.Costs("amount", 1), {"amount": [0, 0]}, calibrator=ASIS
    )
    assert (free.total, free.confusion.tp) == (0, 1)


def test_weights_are_copies() -> None:
    rng = np.random.default_rng(5)
    y, score = rng.random(300) < 0.3, rng.standard_normal(300).round(1)
    amount, w = rng.lognormal(3, 1, 300).round(2), rng.integers(0, 4, 300)
    again = np.repeat(np.arange(300), w)
    one = cs.choose_by_row(y, score, COSTS, {"amount": amount}, weight=w, calibrator=ASIS)
    other = cs.choose_by_row(
        y[again], score[again], COSTS, {"amount": amount[again]}, calibrator=ASIS
    )
    assert (one.threshold, one.cut) == (other.threshold, other.cut)
    assert one.total == pytest.approx(other.total)
    assert one.uniform == pytest.approx(other.uniform)
    assert one.as_given(COSTS).value == pytest.approx(other.as_given(COSTS).value)


def test_formulas_columns_and_arrays_are_one() -> None:
    array = np.array(AMOUNT["amount"], float)
    ways = [
        (cs.Costs(4, array), None),
        (cs.Costs(4, "min(amount, 1e9)/1 + 0"), AMOUNT),
        (cs.Costs("cost", array), {"cost": [4] * 6}),
        (cs.Costs(np.full(6, 4), "max(amount, 0)"), AMOUNT),
    ]
    for costs, columns in ways:
        p = cs.choose_by_row(Y, SCORE, costs, columns, calibrator=ASIS)
        assert (p.threshold, p.total) == (by_hand().threshold, 9.0)


def test_savings_by_the_rows_are_those_by_money() -> None:
    """Two routes to the interval: rows, and sums and squares at each gap as in a file."""
    rng = np.random.default_rng(6)
    y, score = rng.random(2000) < 0.1, rng.standard_normal(2000)
    amount = rng.lognormal(3, 1, 2000).round(2)
    p = cs.choose_by_row(y, score + y, COSTS, {"amount": amount}, calibrator="platt", prior=0.05)
    moments = p.money.moments(p.cut)
    assert p._interval(moments, 0.9) == pytest.approx(p.as_given(COSTS, 0.9), rel=1e-9)
    for baseline in ("flag none", "flag all"):
        by_money = p._interval(p.money.moments(p.cut, baseline), 0.95)
        assert by_money == pytest.approx(p._saving_as_given(baseline, 0.95), rel=1e-9)
        less = p.trivial_costs[baseline] - p.value
        assert by_money.value == pytest.approx(less)


def test_expected_values() -> None:
    rng = np.random.default_rng(7)
    n = 3000
    y, day = rng.random(n) < 0.1, rng.integers(0, 60, n)
    score, amount = rng.standard_normal(n) + 2 * y, rng.lognormal(3, 1, n).round(2)
    columns = {"amount": amount}
    p = cs.choose_by_row(y, score, COSTS, columns, period=day, calibrator="platt")
    assert p.expected is not None
    assert p.expected.low < p.expected.value < p.expected.high
    assert p.expected.value >= p.value
    saved = p.expect_saving()
    assert saved is not None
    assert saved.value == pytest.approx(p.trivial_costs["flag none"] - p.expected.value)
    assert p.uniform_saving is not None
    assert p.uniform_saving > 0
    each = p.expect_per_period()
    assert each is not None
    assert each.value == pytest.approx(p.expected.value * n / 60)
    assert p.expect("recall") is not None
    assert p.baseline is not None
    with finding("bad-argument", parameter="baseline"):
        p.expect_saving("uniform")
    alone = cs.choose_by_row(y, score, COSTS, columns, calibrator="platt")
    assert alone.expect_per_period() is None
    with finding("bad-argument", parameter="costs"):
        p.expect(cs.Costs(fp=5, fn="amount"))


def test_few_amounts_are_a_finding() -> None:
    y = np.arange(400) < 40
    amount = np.where(np.arange(400) < 3, 1e5, 10.0)
    p = cs.choose_by_row(y, y * 1.0, COSTS, {"amount": amount}, calibrator=ASIS)
    (found,) = p.findings
    assert found.code == "few-amounts"
    assert found.rows == pytest.approx(3, rel=0.01)
    assert not cs.choose_by_row(y, y * 1.0, COSTS, {"amount": y + 5.0}, calibrator=ASIS).findings


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("costs", "amount", "code", "fields"),
    [
        (COSTS, [1, 2, -3.5, 4, 5, 6], "row-cost-unfit", {"name": "fn", "row": 2, "value": -3.5}),
        (COSTS, [1, 2, 3, np.inf, 5, 6], "row-cost-unfit", {"name": "column", "row": 3}),
        (COSTS, [np.nan, 2, 3, 4, 5, 6], "row-cost-unfit", {"name": "column", "row": 0}),
        (COSTS, [1, 2, 3], "lengths-differ", {}),
        (COSTS, ["a"] * 6, "value-unfit", {}),
        (
            cs.Costs(4, "amount/(amount - 1)"),
            [2, 1] * 3,
            "row-cost-unfit",
            {"name": "fn", "row": 1},
        ),
        (cs.Costs("0 - amount", 1), [1] * 6, "row-cost-unfit", {"name": "fp", "row": 0}),
        (cs.Costs(4, "amount", tp=-2), [1] * 6, "row-cost-unfit", {"benefit": -2.0}),
        (cs.Costs(4, "amount*1e99"), [1e9] * 6, "row-cost-unfit", {"name": "fn"}),
        (cs.Costs(4, np.ones(5)), [1] * 6, "lengths-differ", {}),
        (cs.Costs(4, [1, 2, 3, 4, 5, np.nan]), [1] * 6, "row-cost-unfit", {"row": 5}),
        (cs.Costs(4, "other"), [1] * 6, "bad-argument", {"parameter": "columns"}),
        (cs.Costs(4, 5), [1] * 6, "bad-argument", {"parameter": "costs"}),
    ],
)
def test_bad_costs(costs: cs.Costs, amount: list[Any], code: str, fields: dict[str, Any]) -> None:
    with finding(code, cs.DataError, **fields):
        cs.choose_by_row(Y, SCORE, costs, {"amount": amount}, calibrator=ASIS)


def test_bad_questions() -> None:
    with finding("bad-argument", parameter="columns"):
        cs.choose_by_row(Y, SCORE, COSTS)
    with finding("arguments-conflict"):
        cs.choose_by_row(Y, SCORE, Aim(COSTS), AMOUNT, prior=0.1)
    with finding("one-class", cs.UndefinedError):
        cs.choose_by_row([1, 1], [1, 2], COSTS, {"amount": [1, 2]})
    with finding("costs-by-row"):
        cs.choose(cs.sweep(Y, SCORE), COSTS)
    with finding("bad-argument", parameter="costs"):
        cs.Costs(4, "amount", review=1)
    with finding("bad-argument", parameter="costs"):
        cs.Costs(4, "amount +")


@pytest.mark.parametrize("scale", [1, 10, 100, 1_000])
def test_money_is_whole_where_it_can_be(scale: int) -> None:
    amount = np.arange(1, 7) / scale
    p = cs.choose_by_row(Y, SCORE, cs.Costs(fp=1, fn="amount"), {"amount": amount}, calibrator=ASIS)
    assert isinstance(p.money, MoneySweep)
    assert p.money.scale == scale
    assert p.money.gain.sum() == sum(a for a, y in zip(range(1, 7), Y, strict=True) if y)


def test_rows_of_the_same_odds_and_ratio_of_costs_have_one_gap() -> None:
    rng = np.random.default_rng(5)
    y, score = rng.random(5000) < 0.1, rng.integers(0, 30, 5000) / 10
    amount = rng.lognormal(3, 1, 5000).round(2)
    costs = cs.Costs(fp="0.02*amount", fn="0.9*amount")  # a ratio of 45, whatever the amount
    p = cs.choose_by_row(y, score, costs, {"amount": amount}, calibrator="isotonic")
    assert p.rows is not None
    assert len(p.sweep) == len(np.unique(p.rows.calibrator.llr(score)))
    for x in np.unique(score):
        assert len(set(p.decide(np.full(5000, x), {"amount": amount}).tolist())) == 1
    even = cs.Costs(fp="amount", fn="3*amount")
    at = cs.choose_by_row(
        y, score, even, {"amount": amount}, calibrator=cs.Affine(0.0, 0.0), threshold=np.log(3)
    )
    assert at.confusion.flagged == 5000


def test_few_rows_promise_shares() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(60) < 4
        score, amount = rng.normal(size=60) + y, rng.lognormal(2, 1, 60).round(2)
        p = cs.Policy.choose_by_row(y, score, cs.Costs(fp=20, fn="amount"), {"amount": amount})
        assert all(p.promises[name].low >= 0 for name in ("recall", "fpr") if name in p.promises)


def test_false_alarms_that_cost_nothing_are_in_order_of_their_odds() -> None:
    y, score, fee = [1, 0, 1, 0], [4, 3, 2, 1], [0, 0, 0, 3]
    costs, columns = cs.Costs(fp="fee", fn=9), {"fee": fee}
    options = {"calibrator": cs.Affine(1.0, 0.0)}
    p = cs.choose_by_row(y, score, costs, columns, subject_to="flagged_rate <= 50 %", **options)
    assert p.feasible
    assert p.confusion.flagged == 1


@pytest.mark.parametrize("limit", ["reviewed <= 3", "review_rate <= 5 %", "reviewed <= 3 per day"])
def test_rows_are_not_reviewed_by_their_own_costs(limit: str) -> None:
    """A limit on reviews was met by an answer with one threshold."""
    y, score, amount = np.array([1, 0, 1, 0]), np.arange(4.0), np.arange(1.0, 5.0)
    with pytest.raises(cs.DataError, match="costs that differ by row have one threshold"):
        cs.choose_by_row(
            y, score, cs.Costs(fp=2, fn="amount"), {"amount": amount}, subject_to=limit
        )
