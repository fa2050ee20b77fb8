"""Two thresholds: are limits with a confidence kept on new rows, and does the expected cost's
interval contain what new rows cost?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutscore as cs
from cutscore.measures.aim import Aim
from truths import Truth

Array = NDArray[Any]

SMOOTH, STRONG = Truth(1.5), Truth(2.5)
TIED = Truth(1.5, tuple(np.arange(-1.5, 3.6, 0.5).tolist()))
NAMES = {SMOOTH: "normal", STRONG: "normal, AUC 0.96", TIED: "normal, tied"}
DRAWS = 2_000


@dataclass(frozen=True)
class Review:
    """Two thresholds that are chosen for an aim on rows whose true rates are known."""

    aim: Aim
    rows: int
    prevalence: float
    truth: Truth = SMOOTH

    def point(self, seed: int) -> cs.OperatingPoint:
        rng = np.random.default_rng((seed, 3))
        y = rng.random(self.rows) < self.prevalence
        return cs.choose(cs.sweep(y, self.truth.draw(rng, y)), self.aim)

    def on_new_rows(self, p: cs.OperatingPoint) -> cs.Triage:
        """The true shares of cases."""
        at = np.array([p.cuts.block, p.cuts.review])
        tp, not_fn = self.prevalence * self.truth.tpr(at)
        fp, not_tn = (1 - self.prevalence) * self.truth.fpr(at)
        passed = self.prevalence - not_fn, 1 - self.prevalence - not_tn
        return cs.Triage(tp, fp, *passed, not_fn - tp, not_tn - fp)


def guaranteed(goal: Any, *limits: str) -> Aim:
    return Aim(goal, limits, confidence=0.95)


LIMITED = (
    Review(guaranteed("fnr", "precision >= 0.8", "review_rate <= 0.2"), 3000, 0.2, STRONG),
    Review(guaranteed("fnr", "precision >= 0.6", "review_rate <= 0.3"), 3000, 0.3, TIED),
    Review(guaranteed("review_rate", "precision >= 0.8", "npv >= 0.95"), 3000, 0.2, STRONG),
    Review(guaranteed("review_rate", "npv >= 0.9", "fpr <= 0.05"), 2000, 0.3),
    Review(guaranteed("review_rate", "error_rate <= 0.05"), 2000, 0.2),
    Review(guaranteed("review_rate", "error_rate <= 0.05"), 2000, 0.2, TIED),
    Review(guaranteed("error_rate", "review_rate <= 0.1"), 1000, 0.2),
    Review(guaranteed(cs.Costs(5, 20, review=1), "review_rate <= 0.1"), 1000, 0.2, TIED),
    Review(guaranteed("review_rate", "fnr <= 0.1", "fpr <= 0.1"), 1000, 0.3),
)


def review_kept(task: tuple[Review, int, int]) -> Array:
    """How often a limit is broken on new rows, with the guarantee and without; infeasible; the
    share reviewed."""
    review, first, draws = task
    plain = Review(review.aim.on_rows, review.rows, review.prevalence, review.truth)
    out = np.zeros(4)
    for seed in range(first, first + draws):
        sure, here = review.point(seed), plain.point(seed)
        found = review.on_new_rows(sure)
        out += [
            sure.feasible and _broken(review, found),
            here.feasible and _broken(review, review.on_new_rows(here)),
            not sure.feasible,
            found.review_rate,
        ]
    return out


def _broken(review: Review, c: cs.Triage) -> bool:
    return not all(limit.holds(c) for limit in review.aim.limits)


PRICED = (
    (Review(Aim(cs.Costs(5, 20, review=1)), 400, 0.1), DRAWS),
    (Review(Aim(cs.Costs(5, 20, review=1)), 2000, 0.1), DRAWS),
    (Review(Aim(cs.Costs(2, 100, review=1, review_miss=5)), 2000, 0.05, STRONG), DRAWS),
    (Review(Aim(cs.Costs(5, 20, review=1), "review_rate <= 10 %"), 400, 0.1), 500),
    (Review(Aim(cs.Costs(5, 20, review=1), "precision >= 0.7"), 1000, 0.2, STRONG), 500),
)


def review_costs(task: tuple[Review, int, int]) -> Array:
    """The cost on the rows, expected and true, and how often its interval contains the truth: as
    if the thresholds had been given, and after the choice; how often there is none."""
    review, first, draws = task
    out = np.zeros(6)
    for seed in range(first, first + draws):
        p = review.point(seed)
        expected = p.expected
        if expected is None:
            out[5] += 1
            continue
        true = float(review.aim.goal(review.on_new_rows(p)))
        out[:3] += p.value, expected.value, true
        out[3:5] += true in p.interval, expected.low <= true <= expected.high
    return out


def report_review(r: Any) -> None:
    """Limits with a confidence, then costs."""
    r.table(LIMITS_TEXT, "aim", "rows, positive", "truth", "violated", "plain", "none", "reviewed")
    for (review,), got in r.spread(review_kept, [(one,) for one in LIMITED], DRAWS):
        rows = f"{review.rows:,}, {100 * review.prevalence:g} %"
        aim = ", ".join((review.aim.goal.name, *review.aim.limit_texts))
        r.row(aim, rows, NAMES[review.truth], *(f"{100 * share:.1f} %" for share in got))
        if got[0] > 0.05 + r.slack:
            r.faults.append(f"review, {aim}: {got}")
    r.table(COSTS_TEXT, "aim", "rows, positive", "here", "expected", "true", "given", "expected")
    for review, draws in PRICED:
        ((_, got),) = r.spread(review_costs, [(review,)], draws)
        known = 1 - got[5]
        rows = f"{review.rows:,}, {100 * review.prevalence:g} %"
        aim = ", ".join((repr(review.aim.goal)[6:-1], *review.aim.limit_texts))
        covered = got[3:5] / known
        values, shares = got[:3] / known, [f"{100 * share:.1f} %" for share in covered]
        r.row(aim, rows, *(f"{value:.3f}" for value in values), *shares)
        if not 0.93 - r.slack <= covered[1] <= 0.98 + r.slack:
            r.faults.append(f"review, cost of {aim}: {got}")


LIMITS_TEXT = """
## Pass, review or block

`choose(s, ..., subject_to=limits, confidence=0.95)` with two thresholds: all limits together may be
violated in at most 5 % of the samples. *Plain* is the same for limits that are only met on the
sample. *None* is how often no two thresholds could be shown to meet them. Last comes the true share
that is reviewed. 2,000 samples per row.
"""

COSTS_TEXT = """
The cost of a case on the rows that two thresholds were chosen on, as expected on new rows, and on
new rows. Then follow coverages of 95 % intervals: as if the thresholds had been given, and that of
the expected cost. 2,000 samples per row, 500 where there is a limit.
"""
