"""Normal rows only: the lowest threshold that limits on false alarms allow."""

from __future__ import annotations

import numpy as np
import pytest

import cutscore as cs
from cutscore.decision.verdict import judge
from cutscore.inference.guarantee import max_errors

LIMITS = {
    "fpr <= 10 %": lambda k, n: k / n <= 0.1,
    "specificity >= 0.75": lambda k, n: (n - k) / n >= 0.75,
    "fp < 3": lambda k, _: k < 3,
    "flagged <= 2": lambda k, _: k <= 2,
    "flagged_rate <= 20 %": lambda k, n: k / n <= 0.2,
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("seed", range(40))
def test_lowest_threshold_by_exhaustion(limit: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 12, rng.integers(1, 30)).astype(float)
    p = cs.choose(cs.sweep(np.zeros(len(score)), score), "recall", subject_to=limit)
    flagged = [0, *(int((score >= t).sum()) for t in np.unique(score))]
    allowed = max(k for k in flagged if LIMITS[limit](k, len(score)))
    assert p.feasible
    assert p.confusion.fp == allowed == (score >= p.threshold).sum()
    assert np.isnan(p.value)


def test_guarantee_allows_as_many_as_the_binomial_bound() -> None:
    score = np.random.default_rng(0).permutation(5000).astype(float)
    s = cs.sweep(np.zeros(5000), score)
    p = cs.choose(s, "recall", subject_to="fpr <= 1 %", confidence=0.95)
    assert p.confusion.fp == max_errors(5000, 0.01, 0.05)
    low, high = p.expect("fpr")[1:3]
    assert low < p.confusion.fpr < high
    assert p.expected is None
    assert judge(p).state.value == "usable"
    assert "recall: not known, no row is positive" in repr(p)


def test_says_how_many_rows_are_missing() -> None:
    s = cs.sweep(np.zeros(500), np.arange(500.0))
    p = cs.choose(s, "recall", subject_to="fpr <= 0.1 %", confidence=0.95)
    assert p.threshold == np.inf
    assert "requires at least 2,995 negatives; there are 500" in repr(p)


def test_guarantee_is_broken_in_few_draws() -> None:
    # Scores are uniform, so that the true false positive rate is one less the threshold.
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(2000):
        s = cs.sweep(np.zeros(1000), rng.random(1000))
        p = cs.choose(s, "recall", subject_to="fpr <= 2 %", confidence=0.95)
        broken += 1 - p.threshold > 0.02
    assert broken <= 100 + 2 * np.sqrt(2000 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("goal", "limits"), [("f1", "fpr <= 1 %"), ("recall", "precision >= 0.5"), ("recall", None)]
)
def test_what_needs_positives_is_refused_with_the_way_out(goal: str, limits: str | None) -> None:
    s = cs.sweep(np.zeros(50), np.arange(50.0))
    with pytest.raises(cs.UndefinedError, match="limit on fpr"):
        cs.choose(s, goal, subject_to=limits)


def test_merged_scores_give_the_same_or_say_so() -> None:
    s = cs.sweep(np.zeros(50), np.arange(50.0))
    with pytest.raises(cs.UndefinedError):
        cs.choose(s.compact(), "recall", subject_to="fpr <= 10 %")
