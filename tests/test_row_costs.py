"""Costs that differ by row: decisions against every cut of the gap in fractions, and values by
hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings

import cutscore as cs
import oracle
from cutscore.decision.row_costs import RowCostPoint
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
    where = f"{limits or 'nothing'} at {prior} of {d}: {best}, {p}"
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
