"""Policies: what they decide, how they are revised, merged, saved and refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from aims import outcome, random_aim
from cutscore.core.findings import Fix
from cutscore.policy import Cuts, Evidence, Labels, Policy, Provenance
from raising import finding

KEEP = (Fix("evidence", "scores"),)


def rows(n: int = 400, seed: int = 0, *, ties: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    score = rng.standard_normal(n) + 1.2 * y
    return y, np.round(score, 1) if ties else score


def policy(n: int = 400, seed: int = 0, aim: Any = None, **more: Any) -> Policy:
    return Policy.choose(cs.sweep(*rows(n, seed)), aim or cs.Costs(fp=1, fn=5), **more)


AIMS: list[dict[str, Any]] = [
    {"costs": cs.Costs(fp=1, fn=20)},
    {"costs": cs.Costs(fp=1, fn=20), "prior": 0.02},
    {"maximize": "f1"},
    {"maximize": cs.f(2), "prior": 0.1},
    {"maximize": "balanced_rate", "subject_to": "fpr <= 10 %"},
    {"costs": cs.Costs(fp=3, fn=2), "subject_to": ["recall >= 0.6", "precision >= 0.4"]},
    {"costs": cs.Costs(fp=1, fn=5), "subject_to": "fpr <= 10 %", "confidence": 0.9},
    {"maximize": "recall", "subject_to": "fpr <= 1 %", "confidence": 0.9},
    {"maximize": "fpr", "subject_to": "recall >= 0.8"},
    {"maximize": "recall", "subject_to": ["fpr <= 1 %", "recall >= 0.99"]},
]
ALL_AIMS: list[dict[str, Any]] = [
    *AIMS,
    {"maximize": "mcc"},
    {"maximize": "recall", "subject_to": "flagged <= 40"},
    {"maximize": "precision@50"},
]


def chosen(s: cs.Sweep, aim: dict[str, Any]) -> cs.OperatingPoint:
    """The choice on the rows themselves."""
    return cs.choose(s, cs.Aim.asked(**aim))


def same(p: Policy, point: cs.OperatingPoint) -> bool:
    found = p.point
    return (
        (p.threshold, found.confusion, found.feasible)
        == (point.threshold, point.confusion, point.feasible)
        and p.aim == point.question
        and (found.value == point.value or np.isnan(found.value + point.value))
    )


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("aim", ALL_AIMS, ids=str)
def test_revision_from_all_scores_is_the_choice_on_the_rows(
    aim: dict[str, Any], ties: bool
) -> None:
    s = cs.sweep(*rows(ties=ties))
    p = Policy.from_json(Policy.choose(s, "youden").to_json())
    assert p.evidence.kind == "scores"
    assert same(p.revised(**aim), chosen(s, aim))


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_revision_from_corners_is_the_choice_on_the_rows(aim: dict[str, Any]) -> None:
    s = cs.sweep(*rows(2000))
    p = Policy.from_json(Policy.choose(s, "youden", evidence="corners").to_json())
    assert p.evidence.kind == "corners"
    assert len(p.sweep) < len(s)
    assert same(p.revised(**aim), chosen(s, aim))


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["scores", "corners"])
def test_revision_for_random_aims(keep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutscore.policy.artefact.promises_of", lambda *_, **__: {})  # for speed
    answered = 0
    for seed in range(300):
        rng = np.random.default_rng((seed, 3))
        s = cs.sweep(*rows(int(rng.integers(20, 400)), seed, ties=bool(seed % 2)))
        p = Policy.choose(s, "youden", calibrator=cs.Affine(1.0, 0.0), evidence=keep)
        p = Policy.from_json(p.to_json())
        aim = random_aim(rng, corners=keep == "corners")
        found = outcome(lambda p=p, aim=aim: p.revised(**aim))
        wanted = outcome(lambda s=s, aim=aim: chosen(s, aim))
        if keep == "corners" and found == ("sweep-compact",):
            # A guarantee that asks to flag all or none, beside limits that rule it out.
            assert not wanted[3], (seed, aim)
            continue
        assert found == wanted, (seed, aim)
        answered += 1
    assert answered >= 296


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_revision_from_blocks_is_exact_or_bounded(
    aim: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutscore.policy.evidence.BLOCKS", 150)
    s = cs.sweep(*rows(5000))
    p = Policy.from_json(Policy.choose(s, "youden", evidence="blocks").to_json())
    assert p.evidence.kind == "blocks"
    assert len(p.sweep) <= 150
    assert s.auc in p.evidence.auc
    best, found = chosen(s, aim), p.revised(**aim)
    if "subject_to" not in aim:
        assert same(found, best)
    elif best.feasible:
        assert found.reach.low <= best.value <= found.reach.high
        assert found.confusion == s.at(found.threshold)


def test_corners_keep_the_cut_inside_of_a_run() -> None:
    s = cs.sweep([1, 1, 1, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    p = Policy.choose(
        s, "youden", threshold=4.5, calibrator=cs.Affine(1.0, 0.0), evidence="corners"
    )
    assert p.sweep.threshold.tolist() == [5, 3, 1]
    assert p.confusion.tp == 2
    assert p.given
    assert p.revised(maximize="youden").threshold == 2.5


def test_aims_that_corners_cannot_answer() -> None:
    p = policy(evidence="corners")
    with finding("sweep-compact", fixes=KEEP):
        p.revised(maximize="mcc")
    inside = p.sweep.threshold[p.sweep.top != p.sweep.threshold][0]
    with finding("sweep-compact", fixes=KEEP):
        p.revised(threshold=float(np.nextafter(inside, np.inf)))


def test_limits_stay_unless_given_anew_or_dropped() -> None:
    p = policy(aim=cs.Aim("recall", "fpr <= 5 %", prior=0.2))
    assert p.revised(prior=0.1).aim == cs.Aim("recall", "fpr <= 5 %", prior=0.1)
    assert p.revised(subject_to="fpr <= 20 %").aim.limit_texts == ("fpr <= 0.2",)
    assert p.revised(costs=cs.Costs(fp=1, fn=1), drop_limits=True).aim.limits == ()
    with finding("arguments-conflict"):
        p.revised(subject_to="fpr <= 20 %", drop_limits=True)
    with finding("arguments-conflict"):
        p.revised(costs=cs.Costs(fp=1, fn=1), maximize="f1")
    with finding("arguments-conflict"):
        p.revised(drop_limits=True, confidence=0.9)


def test_decisions_at_the_threshold() -> None:
    p = policy(threshold=0.1)
    t = p.threshold
    x = np.array([t, np.nextafter(t, -1), np.inf, -np.inf])
    assert p.decide(x).tolist() == [True, False, True, False]
    # 0.1 as a float32 is above 0.1, and the next below is not.
    near = np.float32(0.1)
    single = np.array([near, np.nextafter(near, np.float32(0))])
    assert p.decide(single).tolist() == [float(v) >= t for v in single] == [True, False]
    assert p.decide(0.5).shape == ()
    with finding("value-missing"):
        p.decide([0.1, np.nan, np.inf, -np.inf])


def test_low_scores_mean_positive() -> None:
    y, x = rows(ties=True)
    up = Policy.choose(cs.sweep(y, x), cs.Costs(fp=1, fn=5))
    down = Policy.choose(cs.sweep(y, 0.0 - x), cs.Costs(fp=1, fn=5), reverse=True)
    assert down.threshold == -up.threshold
    assert (down.decide(0.0 - x) == up.decide(x)).all()
    assert (down.llr(0.0 - x) == up.llr(x)).all()
    assert (down.probability(0.0 - x, 0.1) == up.probability(x, 0.1)).all()
    assert down.rule.startswith("flag score ≤ ")
    again = Policy.from_json(down.to_json()).revised(costs=cs.Costs(fp=1, fn=1))
    assert again.threshold == -up.revised(costs=cs.Costs(fp=1, fn=1)).threshold


def test_probability_at_its_own_prior() -> None:
    p = policy(aim=cs.Aim("f1", prior=0.05))
    x = [0.0, 1.0]
    assert p.prior == 0.05
    assert (p.probability(x) == p.calibrator.probability(x, 0.05)).all()
    assert policy().prior == policy().sweep.prevalence


def test_promises_are_those_of_the_choice() -> None:
    p = policy()
    assert list(p.promises) == ["cost", "recall", "fpr", "precision", "flagged_rate", "auc"]
    assert p.promises["cost"] == cs.choose(cs.sweep(*rows()), cs.Costs(fp=1, fn=5)).expected
    given = policy(threshold=0.5)
    recall = cs.interval(given.sweep, "recall", at=0.5)
    assert given.promises["recall"][1:3] == (recall.low, recall.high)


def test_merged_evidence_is_that_of_all_rows() -> None:
    (y, x), (v, z) = rows(300, 1), rows(500, 2)
    a, b = (Policy.choose(cs.sweep(*r), cs.Costs(fp=1, fn=5)) for r in ((y, x), (v, z)))
    both = Policy.choose(
        cs.sweep(np.concatenate((y, v)), np.concatenate((x, z))), cs.Costs(fp=1, fn=5)
    )
    assert (a + b).to_json() == both.to_json()
    assert sum([a, b]).to_json() == both.to_json()


@pytest.mark.parametrize(
    ("other", "code", "what"),
    [
        ({"aim": "f1"}, "cant-merge", "objective"),
        ({"labels": Labels("yes", "no")}, "cant-merge", "positive label"),
        ({"threshold": 0.3}, "cant-merge", "threshold"),
        ({"evidence": "corners"}, "sweep-compact", None),
    ],
)
def test_what_cannot_be_merged(other: dict[str, Any], code: str, what: str | None) -> None:
    with finding(code, **({"same": what} if what else {"fixes": KEEP})):
        policy() + policy(seed=1, **other)


def test_calibrators_must_not_fall() -> None:
    with finding("bad-argument", parameter="calibrator"):
        policy(calibrator=cs.Affine(-1.0, 0.0))


def test_there_are_one_or_two_cuts() -> None:
    with finding("bad-argument", parameter="thresholds"):
        Cuts(())
    with finding("bad-argument", parameter="thresholds"):
        Cuts((0.1, 0.2, 0.3))
    with finding("bad-argument"):
        Cuts((0.1,), {"a": (0.2,)})


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    p = policy(labels=Labels("fraud", "legit", "status"), provenance=Provenance("cross-fitted"))
    p.save(path)
    again = Policy.load(path)
    assert again.to_json() == p.to_json()
    assert again.promises == p.promises
    assert again.evidence.digest == p.provenance.digest
    assert repr(again) == repr(p)


def test_the_card_in_a_notebook() -> None:
    p = policy(aim=cs.Aim("recall", ["fpr <= 0.1 %", "recall >= 0.99"]), labels=Labels("<b>", "no"))
    html = p._repr_html_()
    assert "<svg" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert not p.feasible
    assert "violated on the evidence" in html


def _edited(text: str, **changes: Any) -> str:
    return json.dumps(json.loads(text) | changes)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": "cutscore.policy/2"}, "format-unknown"),
        ({"extra": 1}, "field-unfit"),
        ({"score": "other"}, "model-changed"),
        ({"cuts": {"thresholds": ["low"], "groups": {}}}, "field-unfit"),
    ],
)
def test_bad_files(change: dict[str, Any], code: str) -> None:
    text = policy().to_json()
    with finding(code):
        Policy.from_json(_edited(text, **change))
    with finding("not-json"):
        Policy.from_json(text[: len(text) // 2])


@pytest.mark.parametrize(
    "change",
    [
        {"entries": 3},
        {"pos": [1]},
        {"pos": [2, 0]},
        {"threshold": [2.0, 2.0]},
        {"neg": [0, 0]},
        {"positives": 2},
        {"top": [2.0, 1.0]},
    ],
    ids=str,
)
def test_evidence_that_no_rows_have(change: dict[str, Any]) -> None:
    good = Evidence.of(cs.sweep([1, 0], [2.0, 1.0])).to_dict()
    assert Evidence.from_dict(good).sweep.auc == 1
    with finding("field-unfit"):
        Evidence.from_dict(good | change)


ODD: list[Any] = [None, -1, 0, "x", "inf", [], {}, True, 1e308, 2**70, 0.5, [1], {"a": 1}, "AAAA"]


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a file, of long lists the first few."""
    pairs = value.items() if isinstance(value, dict) else []
    if isinstance(value, list):
        pairs = list(enumerate(value))[:2]
    for key, one in pairs:
        yield (*at, key)
        yield from _places(one, (*at, key))


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["scores", "corners", "packed"])
def test_odd_values_anywhere_are_refused_or_make_sense(keep: str) -> None:
    """No other error than ours, and no warning, whatever a file says."""
    n, how = (5000, "corners") if keep == "packed" else (60, keep)
    text = policy(n, aim=cs.Aim("recall", "fpr <= 20 %"), evidence=how).to_json()
    base = json.loads(text)
    assert base["evidence"]["packed"] == (keep == "packed")
    for place in _places(base):
        for odd in ODD:
            data = json.loads(text)
            inside = data
            for key in place[:-1]:
                inside = inside[key]
            inside[place[-1]] = odd
            with suppress(cs.CutscoreError):
                p = Policy.from_json(json.dumps(data), verify=False)
                assert repr(p)
                assert p.decide([0.1]).shape == (1,)
                for to in ("sql", "python", "card"):
                    assert p.export(to)


def test_weighted_evidence() -> None:
    y, x = rows()
    w = np.random.default_rng(3).random(len(y))
    s = cs.sweep(y, x, w, squares=True)
    p = Policy.from_json(Policy.choose(s, cs.Costs(fp=1, fn=5)).to_json())
    assert same(p.revised(maximize="f1"), cs.choose(s, "f1"))
    assert p.provenance.rows is None
    corners = Policy.from_json(Policy.choose(s, "f1", evidence="corners").to_json())
    assert corners.sweep.pos2 is not None
    assert corners.revised(costs=cs.Costs(fp=1, fn=5)).threshold == p.threshold


def test_rows_that_come_in_units() -> None:
    y, x = rows()
    u = cs.units(y, x, np.arange(len(y)) // 4)
    aim = cs.Aim("recall", "fpr <= 20 %", confidence=0.9, units=u)
    p = Policy.from_json(Policy.choose(cs.sweep(y, x), aim).to_json())
    assert p.evidence.units == 100
    with finding("counts-rows"):
        p.revised(confidence=0.8)
    assert p.revised(costs=cs.Costs(fp=1, fn=1), drop_limits=True).promises.keys() == {"auc"}


def test_evidence_that_is_there_already_is_not_added(tmp_path: Path) -> None:
    """Counted twice, the same rows would promise what they can't show."""
    p = policy()
    p.save(tmp_path / "p.json")
    for other in (p, Policy.load(tmp_path / "p.json"), p.revised(costs=cs.Costs(fp=1, fn=30))):
        with finding("bad-argument", parameter="other"):
            p.revised(costs=other.aim.costs) + other


def test_the_calibration_of_a_reversed_score_says_so() -> None:
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.3
    s = cs.sweep(y, rng.normal(size=400) - 2 * y)
    p = Policy.choose(s, "youden", calibrator="platt", reverse=True)
    assert "calibration: of −score: LLR = " in repr(p)


def test_policies_are_equal_if_their_files_are() -> None:
    p = Policy.choose(cs.sweep(*drawn(300)), cs.Costs(fp=1, fn=5))
    again = Policy.from_json(p.to_json())
    assert p == again
    assert hash(p) == hash(again)
    assert {p: 1}[again] == 1
    assert p != p.revised(prior=0.2)
    assert p != replace(p, score="other")
    assert p != replace(p, promises={})
    assert p != "a policy"


def drawn(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, rng.normal(size=n) + 2 * y


def test_a_guaranteed_precision_promises_what_it_can() -> None:
    s = cs.sweep(*drawn(2_000))
    aim = cs.Aim("recall", "precision >= 80 %", confidence=0.9)
    p = Policy.choose(s, aim)
    assert list(p.promises) == ["recall", "fpr", "flagged_rate", "precision", "auc"]
    c = p.confusion
    for name, rows in (("recall", s.P), ("fpr", s.N), ("flagged_rate", s.P + s.N)):
        e, half = p.promises[name], np.sqrt(np.log(40) / (2 * rows))
        assert e.value == getattr(c, name)
        assert e.low == pytest.approx(max(e.value - half, 0))
        assert e.high == pytest.approx(min(e.value + half, 1))
        assert e.level == 0.95
    assert p.promises["precision"] == (c.precision, 0.8, 1.0, 0.9)
    assert Policy.from_json(p.to_json()).revised(maximize="recall").promises == p.promises
    # Nothing can be shown of few rows, and the precision is no promise then.
    few = Policy.choose(cs.sweep(*drawn(12)), aim)
    assert not few.feasible
    assert "precision" not in few.promises


def test_promises_beside_a_guaranteed_precision_hold() -> None:
    """At a threshold that was chosen on the rows; by the definition of the distributions."""
    normal, missed = NormalDist(), dict.fromkeys(("recall", "fpr", "flagged_rate", "precision"), 0)
    aim = cs.Aim("recall", "precision >= 80 %", confidence=0.9)
    for seed in range(200):
        p = Policy.choose(cs.sweep(*drawn(600, seed)), aim, calibrator=cs.Affine(1.0, 0.0))
        recall, fpr = 1 - normal.cdf(p.threshold - 2), 1 - normal.cdf(p.threshold)
        flagged = 0.3 * recall + 0.7 * fpr
        true = {
            "recall": recall,
            "fpr": fpr,
            "flagged_rate": flagged,
            "precision": 0.3 * recall / flagged,
        }
        for name, value in true.items():
            e = p.promises.get(name)
            missed[name] += e is not None and not e.low <= value <= e.high
    assert max(missed["recall"], missed["fpr"], missed["flagged_rate"]) <= 10
    assert missed["precision"] <= 20


def test_what_keeps_policies_apart_is_said_in_words() -> None:
    y, x = drawn(300)
    a = Policy.choose(cs.sweep(y[:150], x[:150]), cs.Costs(fp=1, fn=5))
    s = cs.sweep(y[150:], x[150:])
    for other, same, words in (
        (
            Policy.choose(s, cs.Costs(fp=1, fn=6)),
            "objective",
            ("cost (fp=1, fn=5)", "cost (fp=1, fn=6)"),
        ),
        (
            Policy.choose(s, cs.Aim(cs.Costs(fp=1, fn=5), prior=0.1)),
            "objective",
            ("cost (fp=1, fn=5)", "cost (fp=1, fn=5), prior 0.1"),
        ),
        (
            Policy.choose(s.negated(), cs.Costs(fp=1, fn=5), reverse=True),
            "direction",
            ("high scores for positive", "low scores for positive"),
        ),
        (
            Policy.choose(s, cs.Costs(fp=1, fn=5), labels=Labels("bad")),
            "positive label",
            ("none", "'bad'"),
        ),
    ):
        with finding("cant-merge", same=same, values=words):
            a + other


@pytest.mark.parametrize("costs", [cs.Costs(fp=1, fn=5), cs.Costs(fp=1, fn=5, review=0.2)])
def test_the_point_of_given_thresholds_expects_what_they_promise(costs: cs.Costs) -> None:
    y, x = drawn(300)
    at = (-0.5, 1.0) if costs.review is not None else 1.0
    p = Policy.choose(cs.sweep(y, x), costs, threshold=at)
    assert p.given
    assert p.point.expected == p.promises["cost"]
    assert p.point.expected.value == pytest.approx(p.point.value, rel=1e-12)
    assert p.point.expect("recall") == p.promises["recall"]
    chosen = cs.choose(cs.sweep(y, x), costs)
    assert chosen.expected != p.point.expected
