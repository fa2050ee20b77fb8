"""The verdict: which threshold is not to be used, and what is said instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.core.interval import Interval
from cutscore.decision.verdict import State, Verdict, judge
from cutscore.report import summarise


def scores(n: int = 3_000, share: float = 0.1, shift: float = 1.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = rng.random(n) < share
    return y, np.round(rng.standard_normal(n) + shift * y, 3)


def verdict(y: Any, score: Any, aim: Any = "f1", **options: Any) -> Verdict:
    return cs.choose(cs.sweep(y, score), aim, **options).verdict


def test_a_threshold_that_nothing_speaks_against() -> None:
    y, score = scores()
    p = cs.choose(cs.sweep(y, score), "f1")
    assert p.verdict == Verdict(State.USABLE, f"Flag scores ≥ {p.threshold!r}")
    assert p.verdict.finding is None
    rule = f"Flag scores ≥ {p.threshold!r} (probability ≥ 3.51 %)"
    assert judge(p, probability=0.0351).headline == rule
    low = judge(p, reverse=True, probability=0.0351).headline
    assert low == f"Flag scores ≤ {-p.threshold!r} (probability ≥ 3.51 %)"


@pytest.mark.parametrize(
    ("shift", "limits", "state", "code", "words"),
    [
        (-1.5, None, "unusable", "inverted", "Worse than chance: AUC 0.1"),
        (
            0.0,
            None,
            "unusable",
            "no-better-than-chance",
            "Not significantly better than chance: AUC",
        ),
        (1.5, "precision >= 0.999", "unusable", "infeasible", "No threshold meets precision ≥"),
        (1.5, "precision >= 0.01", "usable", None, "Flag scores ≥ "),
    ],
)
def test_states(shift: float, limits: Any, state: str, code: Any, words: str) -> None:
    y, score = scores(shift=shift)
    score[np.argmax(score)] = 9
    y[np.argmax(score)] = False  # so that no cut has a precision of 1
    found = verdict(y, score, "recall" if limits else "f1", subject_to=limits)
    assert found.state.value == state
    assert found.headline.startswith(words)
    assert (None if found.finding is None else found.finding.code) == code


def test_a_limit_that_cannot_be_shown_says_the_confidence() -> None:
    y, score = scores()
    found = verdict(y, score, "recall", subject_to="precision >= 0.95", confidence=0.9)
    wanted = "No threshold can be guaranteed to meet precision ≥ 0.95 at 90 % confidence"
    assert (found.state, found.headline) == (State.UNUSABLE, wanted)


def test_few_rows() -> None:
    rng = np.random.default_rng(0)
    for n, few in ((9, True), (10, False)):
        y = np.arange(300) < n
        for label, class_ in ((y, "positive"), (~y, "negative")):
            found = verdict(label, np.where(label, 3, 0) + rng.random(300))
            assert (found.state is State.UNUSABLE) is few
            assert (found.headline == f"Too few {class_}s: 9") is few


def test_a_score_that_does_not_beat_flagging_nothing_is_unproven() -> None:
    y, score = scores(400, 0.1, 0.5)
    p = cs.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=9))
    assert p.verdict.state is State.UNPROVEN
    assert p.verdict.headline.startswith("Flag ")
    assert [one.code for one in p.verdict.findings] in (["trivial"], ["flags-alike"])


def test_the_interval_of_clusters_can_be_given() -> None:
    y, score = scores()
    p = cs.choose(cs.sweep(y, score), "f1")
    found = judge(p, auc=Interval(0.45, 0.99, 0.95))
    assert found.headline.endswith(f"AUC {p.sweep.auc:.3f} (95 % CI 0.450–0.990)")


def test_one_class_and_weights_without_squares() -> None:
    found = verdict([1] * 20, np.arange(20.0), "recall")
    assert (found.state, found.headline) == (State.UNUSABLE, "Too few negatives: 0")
    y, score = scores()
    weighted = cs.sweep(y, -score, np.full(len(y), 0.5))
    found = cs.choose(weighted, "f1").verdict
    assert found.headline == f"Not significantly better than chance: AUC {weighted.auc:.3f}"


def test_a_summary_has_one_for_each_score() -> None:
    y, score = scores()
    summary = summarise(y, {"good": score, "bad": -score})
    assert [one.verdict.state for one in summary.scores] == [State.USABLE, State.UNUSABLE]
    assert [one.code for one in summary.notices] == ["inverted"]
