"""Policies on the command line: choose, apply, check, report, merge and export."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.detector import Detector
from cutscore.tables import open_table, write_table

Capture = pytest.CaptureFixture[str]


def rows(n: int, seed: int, shift: float = 1.5) -> dict[str, list[Any]]:
    draw = random.Random(seed)
    y = [draw.random() < 0.2 for _ in range(n)]
    s = [round(draw.gauss(shift * one, 1), 2) for one in y]
    return {"id": list(range(n)), "y": ["bad" if one else "fine" for one in y], "s": s}


NAMED = ["--label", "y", "--positive", "bad", "--score", "s"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policy")
    write_table(folder / "t.csv", rows(800, 1))
    write_table(folder / "t.parquet", rows(800, 1))
    write_table(folder / "new.parquet", rows(600, 2))
    write_table(folder / "worse.csv", rows(600, 3, shift=0.0))
    costs = ["--cost", "fp=1,fn=5", "-q"]
    for table, policy in (("t.csv", "p.json"), ("new.parquet", "q.json")):
        words = ["choose", str(folder / table), *NAMED, *costs, "-o", str(folder / policy)]
        assert main(words) == 0
    limited = ["--maximize", "recall", "--subject-to", "fpr <= 0.2", "-q"]
    words = ["choose", str(folder / "t.csv"), *NAMED, *limited, "-o", str(folder / "limited.json")]
    assert main(words) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()


def asked(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    return out, err


# ----------------------------------------------------------------------------------------- choose


def test_choose_writes_what_policy_choose_makes() -> None:
    p, table = cs.Policy.load("p.json"), rows(800, 1)
    s = cs.sweep(table["y"], table["s"], positive="bad")
    wanted = cs.Policy.choose(s, cs.Costs(fp=1, fn=5))
    assert (p.aim, p.cuts, p.promises) == (wanted.aim, wanted.cuts, wanted.promises)
    assert p.calibrator.to_dict() == wanted.calibrator.to_dict()
    assert p.evidence.to_dict() == wanted.evidence.to_dict()
    assert (p.score, p.labels.column, p.labels.positive) == ("s", "y", "bad")
    assert p.provenance.command.startswith("cutscore choose ")
    assert (p.provenance.scores, p.provenance.rows) == ("supplied by user", 800)


def test_engines_choose_the_same_policy(capsys: Capture, tmp_path: Path) -> None:
    out = str(tmp_path / "arrow.json")
    words = ["choose", "t.parquet", *NAMED, "--cost", "fp=1,fn=5", "--engine", "arrow", "-q"]
    text, _ = asked(capsys, *words, "-o", out)
    assert f"Wrote {out}" in text
    a, b = cs.Policy.load(out), cs.Policy.load("p.json")
    assert (a.cuts, a.promises, a.labels) == (b.cuts, b.promises, b.labels)
    assert a.evidence.digest == b.evidence.digest


def test_a_policy_of_low_scores(capsys: Capture, tmp_path: Path) -> None:
    table = rows(500, 4)
    table["s"] = [600 - 40 * one for one in table["s"]]
    write_table(tmp_path / "b.csv", table)
    words = ["choose", str(tmp_path / "b.csv"), *NAMED, "--reverse", "s", "--maximize", "f1"]
    out, _ = asked(capsys, *words, "-o", "-")
    p = cs.Policy.from_json(out)
    assert p.reverse
    assert 400 < p.threshold < 700
    (tmp_path / "b.json").write_text(out)
    asked(capsys, "apply", str(tmp_path / "b.json"), str(tmp_path / "b.csv"), "-o",
          str(tmp_path / "d.parquet"))  # fmt: skip
    found = pq.read_table(tmp_path / "d.parquet")
    flagged = np.array(table["s"]) <= p.threshold
    assert found["decision"].to_pylist() == flagged.tolist()
    out, _ = asked(capsys, "report", str(tmp_path / "b.json"))
    assert f"Flag scores ≤ {p.threshold:g}" in out


# ------------------------------------------------------------------------------------------ apply


def test_apply_adds_what_follows_from_the_score(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "d.parquet"
    _, err = asked(capsys, "apply", "p.json", "new.parquet", "-o", str(out))
    found, p, s = pq.read_table(out), cs.Policy.load("p.json"), np.array(rows(600, 2)["s"])
    assert found.column_names == ["id", "y", "s", "llr", "probability", "decision"]
    assert np.array_equal(found["decision"].to_numpy(), p.decide(s))
    assert np.array_equal(found["llr"].to_numpy(), p.llr(s))
    assert np.array_equal(found["probability"].to_numpy(), p.probability(s))
    assert f"{p.decide(s).sum():,} of 600 rows flagged" in err


def test_missing_scores_are_not_decided(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,s\n1,9\n2,\n3,-9\n4,NA\n")
    out, err = asked(capsys, "apply", "limited.json", str(tmp_path / "n.csv"), "--keep", "id")
    lines = [line.split(",") for line in out.splitlines()]
    assert [line[0] for line in lines] == ["id", "1", "2", "3", "4"]
    assert [line[-1] for line in lines[1:]] == ["true", "", "false", ""]
    assert lines[2][1:] == ["", "", ""]
    assert "1 of 4 rows flagged, 2 without a decision" in err


@pytest.mark.parametrize(
    ("table", "policy", "code"),
    [
        ("id,t\n1,2\n", None, "column-missing"),
        ("id,s\n1,200\n2,300\n", None, "scores-outside"),
        ("id,s\n1,high\n", None, "value-unfit"),
        ("id,s\n1,2\n", lambda text: text.replace("policy/1", "policy/2"), "format-unknown"),
        ("id,s\n1,2\n", lambda text: text[:-400], "not-json"),
        ("id,s\n1,2\n", lambda text: text.replace('"given": false', '"given": true'),
         "model-changed"),
    ],
)  # fmt: skip
def test_what_is_refused(
    capsys: Capture, tmp_path: Path, table: str, policy: Any, code: str
) -> None:
    text = Path("p.json").read_text()
    (tmp_path / "p.json").write_text(text if policy is None else policy(text))
    (tmp_path / "n.csv").write_text(table)
    words = [str(tmp_path / name) for name in ("p.json", "n.csv")]
    out, err = asked(capsys, "apply", *words, "-o", str(tmp_path / "out.csv"), code=1)
    assert out == ""
    assert err.endswith(f"[{code}]\n")
    assert not (tmp_path / "out.csv").exists()


def test_scores_far_away_are_said(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,s\n1,1\n2,0.5\n3,900\n")
    _, err = asked(capsys, "apply", "p.json", str(tmp_path / "n.csv"), "-o",
                   str(tmp_path / "out.csv"))  # fmt: skip
    low, high = cs.Policy.load("p.json").range
    assert (
        f"33.3 % of the scores are far outside the range of the evidence, {low:g} to {high:g}"
        in err
    )
    assert f"900, lies {(900 - high) / (high - low):.3g} range widths away" in err


# ------------------------------------------------------------------------------------------ check


def test_check_says_the_verdict_first(capsys: Capture) -> None:
    out, _ = asked(capsys, "check", "p.json", "new.parquet")
    lines = out.splitlines()
    assert lines[0] == "Consistent with expectations"
    assert lines[1] == "600 rows; 95 % confidence intervals"
    p, table = cs.Policy.load("p.json"), rows(600, 2)
    found = p.check(np.array(table["y"]) == "bad", table["s"])
    recall = next(one for one in found.promises if one.name == "recall")
    assert recall.observed is not None
    row = next(line for line in lines if line.startswith("  recall"))
    assert f"{100 * recall.observed.value:.1f} %" in row
    assert f"{100 * recall.promised.value:.1f} %" in row
    machine = json.loads(asked(capsys, "check", "p.json", "new.parquet", "--json")[0])
    assert machine["schema"] == "cutscore.check/1"
    assert machine["state"] == "agrees"
    assert {one["name"] for one in machine["promises"]} == set(p.promises)


def test_a_broken_limit_exits_with_3(capsys: Capture, tmp_path: Path) -> None:
    table = rows(600, 5)
    table["s"] = [one + 1 for one in table["s"]]
    write_table(tmp_path / "shifted.csv", table)
    out, _ = asked(capsys, "check", "limited.json", str(tmp_path / "shifted.csv"), code=3)
    assert out.startswith("Limit violated: fpr <= 0.2; observed ")
    assert out.splitlines()[4].split()[:3] == ["fpr", "<=", "0.2"]
    assert out.splitlines()[4].endswith("violated")
    assert asked(capsys, "check", "limited.json", "t.csv")[0]
    # A promise that is not kept is no limit.
    out, _ = asked(capsys, "check", "p.json", "worse.csv")
    assert out.startswith("Differs from expected: ")


def test_check_takes_other_columns_and_models(capsys: Capture, tmp_path: Path) -> None:
    table = rows(600, 2)
    table["truth"] = [int(one == "bad") for one in table.pop("y")]
    write_table(tmp_path / "n.csv", table)
    named = ["--label", "truth", "--positive", "1"]
    ours, _ = asked(capsys, "check", "p.json", str(tmp_path / "n.csv"), *named)
    assert ours == asked(capsys, "check", "p.json", "new.parquet")[0]
    _, err = asked(capsys, "check", "p.json", str(tmp_path / "n.csv"), code=1)
    assert err.endswith("[column-missing]\n")
    model = str(tmp_path / "m.json")
    fit = ["fit", "t.csv", "--target", "y", "--positive", "bad", "--exclude", "id", "-q"]
    assert main([*fit, "--learner", "fisher", "--cost", "fp=1,fn=5", "-o", model]) == 0
    capsys.readouterr()
    out, _ = asked(capsys, "check", model, "new.parquet")
    assert out.startswith("Consistent with expectations")


# ------------------------------------------------------------------------------- report and merge


def test_the_report_needs_the_file_alone(capsys: Capture, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    out, _ = asked(capsys, "report", "p.json", "-o", str(page))
    p = cs.Policy.load("p.json")
    assert f"Wrote {page}" in out
    assert f"Flag scores ≥ {p.threshold:g}" in out
    assert "p.json, 800 rows: " in out
    cost = 1000 * p.promises["cost"].value
    assert f"cost per 1,000 cases: {cost:.0f} " in out
    html = page.read_text("utf-8")
    assert "<script" in html
    assert "y = bad" in html
    machine = json.loads(asked(capsys, "report", "p.json", "--json")[0])
    assert machine["schema"] == "cutscore.summary/1"
    assert machine["rows"]["count"] == 800


@pytest.mark.parametrize("keep", ["corners", "blocks"])
def test_the_report_of_compact_evidence(capsys: Capture, tmp_path: Path, keep: str) -> None:
    table = rows(3000, 6)
    s = cs.sweep(table["y"], np.array(table["s"]), positive="bad")
    p = cs.Policy.choose(s, cs.Costs(fp=1, fn=5), evidence=keep)
    p.save(tmp_path / "p.json")
    out, _ = asked(capsys, "report", str(tmp_path / "p.json"), "-o", str(tmp_path / "r.html"))
    assert f"Flag scores ≥ {p.threshold:g}" in out


def test_a_model_reports_what_it_promised(capsys: Capture, tmp_path: Path) -> None:
    """Learner and threshold were chosen together, which its evidence alone does not know."""
    model = str(tmp_path / "m.json")
    fit = ["fit", "t.csv", "--target", "y", "--positive", "bad", "--exclude", "id", "-q"]
    fitted, _ = asked(capsys, *fit, "--cost", "fp=1,fn=5", "-o", model)
    out, _ = asked(capsys, "report", model)
    cost = next(line for line in fitted.splitlines() if "cost per 1,000 cases" in line)
    assert cost in out
    for name in ("  AUC ", "  recall ", "  false positive rate ", "  largest weights", "  s "):
        line = next(line for line in fitted.splitlines() if line.startswith(name))
        assert line in out


def test_evidence_adds_up(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    text, _ = asked(capsys, "merge", "p.json", "q.json", "-o", str(out))
    assert f"Wrote {out}" in text
    p, q, both = (cs.Policy.load(path) for path in ("p.json", "q.json", out))
    y, s = (rows(800, 1)[k] + rows(600, 2)[k] for k in ("y", "s"))
    wanted = cs.Policy.choose(cs.sweep(y, s, positive="bad"), cs.Costs(fp=1, fn=5))
    assert (both.cuts, both.promises) == (wanted.cuts, wanted.promises)
    assert both.evidence.digest == wanted.evidence.digest
    assert f"p.json: {p.evidence!r}" in text
    assert f"q.json: {q.evidence!r}" in text
    machine = json.loads(asked(capsys, "merge", "p.json", "q.json", "--json", "-q")[0])
    assert machine["schema"] == "cutscore.merge/1"
    assert machine["policy"]["threshold"] == both.threshold
    assert machine["written"] is None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["p.json"], 2, "be at least two policies"),
        (["p.json", "p.json"], 2, "would be counted twice"),
        (["p.json", "limited.json"], 1, "the same objective"),
        (["p.json", "q.json", "-o", "q.json"], 2, "it is also an input file"),
        (["p.json", "nix.json"], 1, "[file-missing]"),
    ],
)
def test_what_does_not_add_up(capsys: Capture, words: list[str], code: int, said: str) -> None:
    before = Path("q.json").read_bytes()
    _, err = asked(capsys, "merge", *words, code=code)
    assert said in err
    assert err.count("\n") == 1
    assert Path("q.json").read_bytes() == before


# ----------------------------------------------------------------------------------------- export


def test_exports_decide_alike(capsys: Capture, tmp_path: Path) -> None:
    p = cs.Policy.load("p.json")
    s = [*rows(600, 2)["s"], p.threshold, None]
    wanted = [None if one is None else bool(one >= p.threshold) for one in s]
    code, _ = asked(capsys, "export", "p.json", "--to", "python")
    module: dict[str, Any] = {}
    exec(code, module)
    assert [module["decide"](one) for one in s] == wanted
    query, _ = asked(capsys, "export", "p.json", "--to", "sql", "--keep", "id")
    with sqlite3.connect(":memory:") as base:
        base.execute("create table data (id integer, s real)")
        base.executemany("insert into data values (?, ?)", enumerate(s))
        found = base.execute(query).fetchall()
    base.close()
    assert [None if row[-1] is None else bool(row[-1]) for row in sorted(found)] == wanted
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    asked(capsys, "export", "p.json", "--to", "onnx", "-o", str(tmp_path / "p.onnx"))
    session = runtime.InferenceSession(tmp_path / "p.onnx")
    name = session.get_inputs()[0].name
    x = np.array(s[:-1], np.float64).reshape(-1, 1)
    (decision,) = session.run(["decision"], {name: x})
    assert decision.ravel().tolist() == wanted[:-1]
    card, _ = asked(capsys, "export", "p.json", "--to", "card")
    assert card.startswith("# ")


def test_what_is_for_models_or_for_policies_alone(capsys: Capture, tmp_path: Path) -> None:
    _, err = asked(capsys, "export", "p.json", "--to", "sklearn", code=1)
    assert err.endswith("[scorer-unfit]\n")
    table = open_table("t.csv").columns(["s", "y"])
    from cutscore.training import train

    model = tmp_path / "m.json"
    train(table, "y", positive="bad", learner="fisher").detector.save(model)
    source, _ = asked(capsys, "export", str(model), "--to", "python")
    module: dict[str, Any] = {}
    exec(source, module)
    scores = Detector.load(model).scores({"s": [0.5, 2.0]}).tolist()
    assert [module["score"]({"s": x}) for x in (0.5, 2.0)] == scores
    assert Detector.load(model).columns == ["s"]


@pytest.mark.parametrize("kind", ["scores", "corners", "blocks"])
def test_the_kind_of_evidence_is_asked_for(capsys: Capture, tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(5)
    y = rng.random(2_000) < 0.2
    score = (rng.normal(size=2_000) + 1.5 * y).tolist()
    write_table(tmp_path / "rows.csv", {"y": y.tolist(), "s": score})
    path = tmp_path / "p.json"
    words = ["choose", str(tmp_path / "rows.csv"), "--label", "y", "--score", "s"]
    words += ["--cost", "fp=1,fn=5", "-o", str(path), "--evidence", kind]
    assert main(words) == 0
    p = cs.Policy.load(path)
    assert p.evidence.kind == kind
    assert p.threshold == cs.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=5)).threshold
    capsys.readouterr()


def test_a_report_has_a_title(capsys: Capture, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    y = rng.random(500) < 0.3
    p = cs.Policy.choose(cs.sweep(y, rng.normal(size=500) + y), cs.Costs(fp=1, fn=2))
    p.save(tmp_path / "p.json")
    page = tmp_path / "r.html"
    assert (
        main(["report", str(tmp_path / "p.json"), "--title", "March & April", "-o", str(page)]) == 0
    )
    assert "March &amp; April" in page.read_text("utf-8")
    capsys.readouterr()


# ------------------------------------------------------------------------- pass, review or block


def test_two_thresholds_go_through_all_commands(capsys: Capture, tmp_path: Path) -> None:
    costs = cs.Costs(fp=4, fn=9, review=1)
    a, b, both = (str(tmp_path / f"{name}.json") for name in "abc")
    for table, path in (("t.csv", a), ("new.parquet", b)):
        text, _ = asked(capsys, "choose", table, *NAMED, "--cost", "fp=4,fn=9,review=1", "-o", path)
        assert text.startswith("Block scores ≥ ")
    asked(capsys, "merge", a, b, "-o", both)
    p = cs.Policy.load(both)
    first = cs.Policy.load(a)
    y, s = (np.array(rows(800, 1)[k]) for k in ("y", "s"))
    assert first.cuts.thresholds == tuple(cs.choose(cs.sweep(y, s, positive="bad"), costs).cuts)
    decided = p.decide(s)
    _, err = asked(capsys, "apply", both, "t.csv", "-o", str(tmp_path / "decided.parquet"))
    assert f"{np.sum(decided == 2):,} of 800 rows blocked, {np.sum(decided == 1)} to review" in err
    table = pq.read_table(tmp_path / "decided.parquet")
    assert table["decision"].to_pylist() == decided.tolist()
    text, _ = asked(capsys, "check", both, "worse.csv", "--positive", "bad")
    assert "share reviewed" in text
    assert text.startswith("Differs from expected")
    machine = json.loads(asked(capsys, "revise", both, "--threshold", "0.5,2", "--json", "-q")[0])
    assert machine["after"]["cuts"] == {"review": 0.5, "block": 2.0}
    assert "[bad-argument]" in asked(capsys, "revise", both, "--threshold", "2", code=1)[1]
    assert "[bad-argument]" in asked(capsys, "revise", both, "--threshold", "1,x", code=2)[1]
    text, _ = asked(capsys, "revise", both, "--cost", "fp=4,fn=90,review=1", "-q")
    assert "Cases to review: " in text
    machine = json.loads(asked(capsys, "report", both, "--json", "-q")[0])
    assert machine["scores"][0]["operating_point"]["cuts"] == {
        "review": p.cuts.review,
        "block": p.cuts.block,
    }
    asked(capsys, "report", both, "-o", str(tmp_path / "report.html"), "-q")
    assert 'id="handle-review"' in (tmp_path / "report.html").read_text("utf-8")
    text, _ = asked(capsys, "export", both, "--to", "card", "-o", "-")
    assert f"| reviewed | {p.confusion.reviewed_pos} | {p.confusion.reviewed_neg} |" in text


def test_the_next_best_within_a_capacity(capsys: Capture) -> None:
    limits = ["--subject-to", "precision >= 70 %", "--subject-to", "reviewed <= 50"]
    words = ["choose", "t.csv", *NAMED, "--maximize", "fnr", *limits, "--json", "-q"]
    found = json.loads(asked(capsys, *words)[0])
    c = found["confusion"]
    assert c["tp"] >= 0.7 * (c["tp"] + c["fp"])
    assert c["reviewed_pos"] + c["reviewed_neg"] <= 50
    assert found["cuts"]["review"] < found["cuts"]["block"]
    impossible = [*words, "--subject-to", "reviewed >= 60"]
    assert json.loads(asked(capsys, *impossible, code=3)[0])["feasible"] is False
