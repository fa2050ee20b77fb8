"""Choices on normal rows alone, as detectors of anomalies have them: there are no positives.

Whatever the positives are, more of them are caught the lower the threshold is. The best recall
under limits that normal rows can answer is therefore at the lowest threshold that satisfies them,
exactly; only its value is not known.

**What to expect.** With a confidence, the number k of false alarms that is allowed follows from the
number of rows alone. The true false positive rate of a threshold between the k-th and the next of N
scores lies between a Beta(k, N − k + 1) and a Beta(k + 1, N − k) variable. Their quantiles are
Clopper and Pearson's interval for k of N, which so holds for the chosen threshold as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cutscore.inference.guarantee import Rule
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.registry import Objective
from cutscore.sweeps.sweep import Sweep

GOALS = ("recall", "tp", "fnr", "fn")
"""Goals that are at their best where as much as possible is flagged."""
LIMITED = ("fpr", "specificity", "fp", "tn", "flagged", "flagged_rate")
"""Measures that have a value without positives."""

NORMAL_HINT = (
    "Add rows of the other class; or, if all rows are normal, ask for recall with a limit on fpr."
)


def is_normal(s: Sweep) -> bool:
    """Whether all rows are normal: there are negatives and no positives.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.decision.normal import is_normal
    >>> is_normal(cs.sweep([0, 0], [1, 2])), is_normal(cs.sweep([0, 1], [1, 2]))
    (True, False)
    """
    return bool(s.N > 0 and not s.P > 0)


def answers_without_positives(q: Aim) -> bool:
    """Whether normal rows alone have the exact answer to an aim.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.decision.normal import answers_without_positives
    >>> answers_without_positives(cs.Aim("recall", "fpr <= 1 %"))
    True
    >>> answers_without_positives(cs.Aim("f1", "fpr <= 1 %"))
    False
    """
    limited = [limit.measure.name in LIMITED for limit in q.limits]
    return q.goal.name in GOALS and bool(limited) and all(limited) and q.prior is None


def lowest_cut(s: Sweep, rules: Sequence[Rule]) -> tuple[int, bool]:
    """The last cut that all rules allow, and True; else the last of the nearest, and False.

    Where low scores were merged into one entry, a cut inside of it may be meant: that is an error.
    """
    fp = np.concatenate(([0], s.fp))
    none = np.zeros_like(fp)
    c = Confusion(none, fp, none, s.N - fp)
    ok = np.ones(len(fp), np.bool_)
    for rule in rules:
        ok &= rule.holds(c)
    ok[0] &= s.threshold[0] < np.inf  # else no threshold flags nothing
    feasible = bool(ok.any())
    if not feasible:
        short: Any = np.max([rule.shortfall(c) for rule in rules], axis=0)
        short[0] = short[0] if s.threshold[0] < np.inf else np.inf
        ok = short <= short.min() * (1 + 1e-12)
    k = int(np.flatnonzero(ok)[-1])
    near = [*range(max(k - 1, 0), min(k + 1, len(s)))]
    if s.top is not None and any(s.top[j] > s.threshold[j] for j in near):
        s.needs_scores("the lowest threshold that meets these limits")
    return k, feasible


def is_known(s: Sweep, goal: Objective) -> bool:
    """Whether a measure has a value without positives: only what false alarms tell."""
    return not is_normal(s) or goal.name in ("fpr", "specificity")
