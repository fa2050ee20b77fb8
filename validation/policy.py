"""Policies: do their promises hold on new rows, and does a check find fault with them in vain?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import cutscore as cs
from cutscore.measures.aim import as_aim, as_objective
from cutscore.policy import Policy
from cutscore.policy.check import CheckState
from truths import Truth

Array = NDArray[Any]
DRAWS = 400
RATES = ("recall", "fpr", "precision", "flagged_rate", "auc")
# A threshold that is given, at which the limit just holds.
AT_THE_LIMIT = "fpr <= 5 %, just met"
AIMS: dict[str, Any] = {
    "cost, a miss 3": cs.Costs(fp=1, fn=3),
    "cost, a miss 10": cs.Costs(fp=1, fn=10),
    "cost, a miss 20": cs.Costs(fp=1, fn=20),
    "F1": "f1",
    "recall, fpr <= 5 % guaranteed": cs.Aim("recall", "fpr <= 5 %", confidence=0.95),
    AT_THE_LIMIT: cs.Aim("recall", "fpr <= 5 %"),
}
# Aim, rows of the policy and of the check, share of positives, distance, shift of the new scores,
# rows of a cluster.
CASES = (
    ("cost, a miss 3", 1000, 1000, 0.3, 1.5, 0.0, 1),
    ("cost, a miss 20", 2000, 500, 0.05, 2.0, 0.0, 1),
    ("cost, a miss 10", 400, 4000, 0.1, 1.5, 0.0, 1),
    ("F1", 1000, 1000, 0.2, 1.5, 0.0, 1),
    ("recall, fpr <= 5 % guaranteed", 2000, 2000, 0.1, 1.5, 0.0, 1),
    (AT_THE_LIMIT, 2000, 2000, 0.1, 1.5, 0.0, 1),
    ("cost, a miss 3", 1000, 1000, 0.3, 1.5, 0.3, 1),
    ("recall, fpr <= 5 % guaranteed", 2000, 2000, 0.1, 1.5, 0.3, 1),
    ("cost, a miss 3", 2000, 2000, 0.3, 1.5, 0.0, 10),
    ("cost, a miss 10", 2000, 4000, 0.1, 1.5, 0.0, 10),
    (AT_THE_LIMIT, 4000, 4000, 0.1, 1.5, 0.0, 10),
)


def policy_checks(task: tuple[str, int, int, float, float, float, int, int, int]) -> Array:
    """Some promise found to differ; a limit found to be broken; and whether the interval of each
    promise contains the truth: of the goal, then of each rate."""
    name, rows, new, share, distance, shift, size, first, draws = task
    truth, aim, out = Truth(distance), AIMS[name], np.zeros(3 + len(RATES))
    given = float(-ndtri(0.05)) if name == AT_THE_LIMIT else None
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 31))
        if size == 1:
            y, v = rng.random(rows) < share, rng.random(new) < share
            score, after, unit, units = truth.draw(rng, y), truth.draw(rng, v), None, None
        else:
            y, score, of = clustered(rng, rows, share, distance, size)
            v, after, unit = clustered(rng, new, share, distance, size)
            units = cs.units(y, score, of)
        asked = replace(as_aim(aim), units=units)
        p = Policy.choose(
            cs.sweep(y, score), asked, calibrator=cs.Affine(1.0, 0.0), threshold=given
        )
        found = p.check(v, after + shift, unit=unit)
        differs = any(one.agrees is False for one in found.promises)
        inside = [_holds(p, truth, share, of) for of in (p.aim.goal.name, *RATES)]
        out += (differs, found.state is CheckState.BROKEN, *inside)
    return out


def clustered(
    rng: np.random.Generator, n: int, share: float, distance: float, size: int
) -> tuple[Array, Array, Array]:
    """Rows of clusters, which differ in their share of positives, and in half of the variance of
    their scores; each row is as one of all."""
    unit = np.arange(n) // size
    y = rng.random(n) < rng.beta(2, 2 * (1 - share) / share, n // size)[unit]
    common, own = rng.standard_normal(n // size)[unit], rng.standard_normal(n)
    return y, (common + own) / np.sqrt(2) + distance * y, unit


def _holds(p: Policy, truth: Truth, share: float, name: str) -> bool:
    promise = p.promises.get(name)
    if promise is None:
        return False
    tp, fp = share * float(truth.tpr(p.threshold)), (1 - share) * float(truth.fpr(p.threshold))
    goal = p.aim.goal if name == p.aim.goal.name else name
    if name == "auc":
        value = truth.auc
    else:
        c = cs.Confusion(tp, fp, share - tp, 1 - share - fp)
        value = float(as_objective(goal)(c))
    return bool(promise.low <= value <= promise.high)


def report_policy(r: Any) -> None:
    columns = (
        *("objective", "rows, new rows", "in clusters of", "positive", "shift"),
        *("differs", "violated", "value"),
    )
    r.table(TEXT, *columns, *RATES)
    draws = min(r.draws, DRAWS)
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    for head, got in r.spread(policy_checks, list(CASES), draws):
        name, rows, new, share, _, shift, size = head
        cells = [f"{100 * x:.1f} %" for x in got]
        cells[2:] = [
            cell if 0.92 <= x <= 0.98 else f"**{cell}**"
            for cell, x in zip(cells[2:], got[2:], strict=True)
        ]
        first = name, f"{rows:,}, {new:,}", str(size), f"{100 * share:g} %", f"{shift:g}"
        r.row(*first, *cells)
        if min(got[2:]) < 0.95 - max(0.03, slack):
            r.faults.append(f"promises {head}: {got}")
        if not shift and max(got[:2]) > 0.05 + slack:
            r.faults.append(f"checks {head}: {got}")


TEXT = f"""
## Expected values of policies, and checks

A policy is chosen on some rows and checked on new ones. *Differs* is how often the check reports
that some observed value differs from the expected one, at the 95 % level over all values.
*Violated* is how often it reports a violated limit. Without a shift of the new scores, both are
false alarms and should occur in at most 5 % of the samples; the limit is just met where the table
says so. The other columns are the coverage of the 95 % intervals for the true values at the chosen
threshold. They should be between 92 and 98 %. Rows of one cluster share half of the variance of
their scores, and clusters differ in their share of positives. {DRAWS} samples per row.
"""
