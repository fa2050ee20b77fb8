"""Policies: do their promises hold on new rows, and does a check find fault with them in vain?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import cutscore as cs
from cutscore.measures.aim import as_objective
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
# Aim, rows of the policy and of the check, share of positives, distance, shift of the new scores.
CASES = (
    ("cost, a miss 3", 1000, 1000, 0.3, 1.5, 0.0),
    ("cost, a miss 20", 2000, 500, 0.05, 2.0, 0.0),
    ("cost, a miss 10", 400, 4000, 0.1, 1.5, 0.0),
    ("F1", 1000, 1000, 0.2, 1.5, 0.0),
    ("recall, fpr <= 5 % guaranteed", 2000, 2000, 0.1, 1.5, 0.0),
    (AT_THE_LIMIT, 2000, 2000, 0.1, 1.5, 0.0),
    ("cost, a miss 3", 1000, 1000, 0.3, 1.5, 0.3),
    ("recall, fpr <= 5 % guaranteed", 2000, 2000, 0.1, 1.5, 0.3),
)


def policy_checks(task: tuple[str, int, int, float, float, float, int, int]) -> Array:
    """Some promise found to differ; a limit found to be broken; and whether the interval of each
    promise contains the truth: of the goal, then of each rate."""
    name, rows, new, share, distance, shift, first, draws = task
    truth, aim, out = Truth(distance), AIMS[name], np.zeros(3 + len(RATES))
    given = float(-ndtri(0.05)) if name == AT_THE_LIMIT else None
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 31))
        y, v = rng.random(rows) < share, rng.random(new) < share
        s = cs.sweep(y, truth.draw(rng, y))
        p = Policy.choose(s, aim, calibrator=cs.Affine(1.0, 0.0), threshold=given)
        found = p.check(v, truth.draw(rng, v) + shift)
        differs = any(one.agrees is False for one in found.promises)
        inside = [_holds(p, truth, share, of) for of in (p.aim.goal.name, *RATES)]
        out += (differs, found.state is CheckState.BROKEN, *inside)
    return out


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
    columns = ("objective", "rows, new rows", "positive", "shift", "differs", "violated", "value")
    r.table(TEXT, *columns, *RATES)
    draws = min(r.draws, DRAWS)
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    for head, got in r.spread(policy_checks, list(CASES), draws):
        name, rows, new, share, _, shift = head
        cells = [f"{100 * x:.1f} %" for x in got]
        cells[2:] = [
            cell if 0.92 <= x <= 0.98 else f"**{cell}**"
            for cell, x in zip(cells[2:], got[2:], strict=True)
        ]
        r.row(name, f"{rows:,}, {new:,}", f"{100 * share:g} %", f"{shift:g}", *cells)
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
threshold. They should be between 92 and 98 %. {DRAWS} samples per row.
"""
