"""Normal rows only: the lowest threshold that limits on false alarms allow."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.decision.verdict import judge
from cutscore.detector import Detector
from cutscore.inference.guarantee import max_errors
from cutscore.policy import Policy
from cutscore.policy.check import CheckState
from cutscore.tables import open_table, write_table
from test_policy_schema import VALIDATOR

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


# ---------------------------------------------------------------------------------------- policies

AIM = cs.Aim("recall", "fpr <= 2 %", confidence=0.95)


def normal(n: int, seed: int, shift: float = 0.0) -> Any:
    return (np.random.default_rng(seed).normal(size=n) + shift).round(4)


@pytest.mark.parametrize("kind", ["scores", "corners", "blocks"])
@pytest.mark.parametrize("reverse", [False, True])
def test_policy_is_saved_and_decides(kind: str, reverse: bool) -> None:
    score = normal(3000, 1)
    p = Policy.choose(cs.sweep(np.zeros(3000), score), AIM, evidence=kind, reverse=reverse)
    VALIDATOR.validate(json.loads(p.to_json()))
    again = Policy.from_json(p.to_json())
    assert again == p
    assert again.calibrator is None
    assert list(again.promises) == ["fpr"]
    assert again.point.feasible
    new = normal(500, 2)
    flagged = new <= p.threshold if reverse else new >= p.threshold
    assert np.array_equal(again.decide(new), flagged)
    for of in (again.llr, again.probability):
        with pytest.raises(cs.UndefinedError, match="all rows of the evidence are normal"):
            of(new)
    assert "calibration" not in repr(p)
    if kind != "corners":
        wider = cs.Aim("recall", "fpr <= 5 %", confidence=0.95)
        chosen = Policy.choose(cs.sweep(np.zeros(3000), score), wider, reverse=reverse)
        assert again.revised(subject_to="fpr <= 5 %").threshold == chosen.threshold


def test_evidence_of_many_rows_keeps_the_highest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutscore.policy.evidence.ENTRIES", 500)
    monkeypatch.setattr("cutscore.policy.evidence.BLOCKS", 200)
    s = cs.sweep(np.zeros(3000), normal(3000, 1))
    p = Policy.from_json(Policy.choose(s, AIM).to_json())
    assert len(p.sweep) == 201
    assert p.sweep.N == 3000
    assert p.threshold == cs.choose(s, AIM).threshold
    wider = cs.Aim("recall", "fpr <= 5 %", confidence=0.95)
    assert p.revised(subject_to="fpr <= 5 %").threshold == cs.choose(s, wider).threshold
    with pytest.raises(cs.UndefinedError, match="merged"):
        p.revised(subject_to="fpr <= 50 %")
    low = Policy.choose(s, cs.Aim("recall", "fpr <= 50 %"))
    assert (len(low.sweep), low.confusion.fp) == (low.point.cut + 1, low.point.sweep.fp[-2])


def test_exports_decide_alike() -> None:
    p = Policy.choose(cs.sweep(np.zeros(3000), normal(3000, 1)), AIM)
    new = normal(300, 2).tolist()
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    want = p.decide(new).tolist()
    assert [module["decide"](x) for x in new] == want
    assert module["decide"](None) is None
    assert "llr" not in module
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE data (score REAL)")
        db.executemany("INSERT INTO data VALUES (?)", [(x,) for x in [*new, None]])
        found = db.execute(p.export("sql", dialect="sqlite")).fetchall()
    assert [(s, None if d is None else bool(d)) for s, d in found] == [
        *zip(new, want, strict=True),
        (None, None),
    ]
    assert "no probabilities are known" in p.export("card")
    with pytest.raises(cs.UndefinedError, match="ONNX"):
        p.export("onnx")


def test_apply_adds_the_decision_alone() -> None:
    p = Policy.choose(cs.sweep(np.zeros(3000), normal(3000, 1)), AIM)
    found = Detector.of_policy(p).apply({"score": [0.0, 9.0, None]})
    assert found.column_names == ["decision"]
    assert found["decision"].to_pylist() == [False, True, None]


def test_check_of_normal_rows_and_of_all() -> None:
    p = Policy.choose(cs.sweep(np.zeros(3000), normal(3000, 1)), AIM)
    found = p.check(np.zeros(2000), normal(2000, 2))
    assert (found.state, [one.name for one in found.outcomes]) == (CheckState.AGREES, ["fpr"])
    y = np.repeat([0, 1], (2000, 3))
    mixed = p.check(y, np.append(normal(2000, 2), [5.0, 4.0, 1.0]))
    assert mixed.limits[0].observed == found.limits[0].observed
    assert mixed.state is CheckState.AGREES
    assert p.check(np.zeros(2000), normal(2000, 2, shift=1)).state is CheckState.BROKEN


def test_evidence_of_sites_is_merged() -> None:
    one, other = normal(2000, 1), normal(1500, 2)
    parts = [Policy.choose(cs.sweep(np.zeros(len(x)), x), AIM) for x in (one, other)]
    both = np.concatenate((one, other))
    assert sum(parts).threshold == cs.choose(cs.sweep(np.zeros(3500), both), AIM).threshold


def test_a_calibrator_is_needed_where_there_are_positives() -> None:
    p = Policy.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "f1", calibrator=cs.Affine(1.0, 2.5))
    with pytest.raises(cs.DataError, match="unless all rows are normal"):
        Policy(p.aim, p.cuts, None, p.evidence)


# ----------------------------------------------------------------------------------------- command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_table(tmp_path / "normal.csv", {"s": normal(5000, 1)})
    write_table(tmp_path / "labelled.csv", {"y": np.zeros(5000, int), "s": normal(5000, 1)})
    write_table(tmp_path / "new.csv", {"s": normal(4000, 2)})
    y = np.repeat([0, 1], (4000, 40))
    mixed = np.append(normal(4000, 2), normal(40, 3, shift=4))
    write_table(tmp_path / "mixed.csv", {"y": y, "s": mixed})
    write_table(tmp_path / "worse.csv", {"s": normal(4000, 4, shift=1)})
    return tmp_path


ASKED = ["--score", "s", "--maximize", "recall", "--subject-to", "fpr <= 1 %"]


@pytest.mark.parametrize("rows", [["normal.csv", "--normal"], ["labelled.csv", "--label", "y"]])
def test_command(rows: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, table = str(folder / "policy.json"), [str(folder / rows[0]), *rows[1:]]
    assert main(["choose", *table, *ASKED, "--confidence", "0.95", "-o", policy]) == 0
    assert "recall: not known, no row is positive" in capsys.readouterr().out
    assert Policy.load(policy).confusion.fp == max_errors(5000, 0.01, 0.05)
    decided = str(folder / "decided.csv")
    assert main(["apply", policy, str(folder / "new.csv"), "-q", "-o", decided]) == 0
    flags = open_table(decided).columns(["decision"])["decision"]
    assert 10 < np.count_nonzero(flags) < 60
    assert main(["check", policy, str(folder / "mixed.csv")]) == 0
    if "--normal" in rows:
        assert main(["check", policy, str(folder / "new.csv")]) == 0
        assert main(["check", policy, str(folder / "worse.csv")]) == 3
    for to in ("sql", "python", "card"):
        assert main(["export", policy, "--to", to]) == 0
    assert main(["revise", policy, "--subject-to", "fpr <= 2 %"]) == 0
    capsys.readouterr()
    assert main(["report", policy, "-o", str(folder / "report.html")]) == 0
    assert "is not known without positives" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--normal", "--label", "s", *ASKED], 2, "--normal or --label"),
        (["--normal", "--positive", "1", *ASKED], 2, "--normal or --positive"),
        (["--normal", "--score", "s", "--maximize", "f1"], 1, "limit on fpr"),
        (["--normal", "--engine", "arrow", *ASKED], 2, "memory"),
    ],
)
def test_bad_commands(
    words: list[str], code: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["choose", str(folder / "normal.csv"), *words]) == code
    assert said in capsys.readouterr().err


def test_too_few_rows_are_said_first() -> None:
    s = cs.sweep(np.zeros(40), np.arange(40.0))
    p = cs.choose(s, "recall", subject_to="fpr <= 1 %", confidence=0.95)
    (found,) = p.verdict.findings
    assert (found.code, found.few) == ("flags-alike", True)
    assert "too few rows to guarantee these limits unless nothing is flagged" in found.render()
    many = cs.sweep(np.zeros(400), np.arange(400.0))
    p = cs.choose(many, "recall", subject_to="flagged <= 0")
    assert not p.verdict.findings[0].few
