"""cutscore revise: another threshold for the same model, and what is known of it."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.cli.revise import Revision
from cutscore.core.findings import COMMAND, Fix
from cutscore.core.findings.models import CostsMissing, LimitsKept
from cutscore.detector import Detector
from cutscore.detector.artefact import Training
from cutscore.detector.export import to_markdown
from cutscore.tables import write_table
from raising import finding

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, a model for costs, and one under a limit."""
    folder = tmp_path_factory.mktemp("revise")
    draw = random.Random(3).gauss
    y = [k % 5 == 0 for k in range(600)]
    table = {"is bad": ["yes" if one else "no" for one in y], "x": [draw(one, 1) for one in y]}
    write_table(folder / "t.csv", table)
    base = ["fit", str(folder / "t.csv"), "--target", "is bad", "--positive", "yes", "-q"]
    base += ["--learner", "fisher"]
    for name, aim in (
        ("model.json", ["--cost", "fp=1,fn=10"]),
        ("limited.json", ["--maximize", "recall", "--subject-to", "fpr <= 0.2"]),
    ):
        assert main([*base, *aim, "-o", str(folder / name)]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()


def asked(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert main(["revise", *words]) == code
    out, err = capsys.readouterr()
    return out, err


def as_json(capsys: Capture, *words: str) -> dict[str, Any]:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    found: dict[str, Any] = json.loads(
        asked(capsys, *words, "--json", "-q")[0], parse_constant=refuse
    )
    return found


def rows_of(text: str) -> dict[str, list[str]]:
    lines = text.partition("\n\n")[0].splitlines()[1:]
    split = (re.split(r"\s{2,}", line.strip()) for line in lines)
    return {name: cells for name, *cells in split}


def test_it_writes_what_revised_makes(capsys: Capture, tmp_path: Path) -> None:
    new = tmp_path / "new.json"
    out, err = asked(capsys, "model.json", "--cost", "fp=1,fn=50", "--prior", "2 %", "-o", str(new))
    assert err == ""
    assert f"\n\nWrote {new}\n\nnext: cutscore apply {new} new.csv" in out
    old = Detector.load("model.json")
    costs = cs.Costs(fp=1, fn=50)
    expected = old.revised(costs=costs, prior=0.02)
    assert new.read_text() == expected.to_json() + "\n"
    shown = rows_of(out)
    assert out.splitlines()[0].split() == ["was", "is"]
    assert shown["costs"] == ["fp=1, fn=10", "fp=1, fn=50"]
    assert shown["prior"] == ["20.0 %", "2.00 %"]
    assert shown["threshold"] == [repr(old.threshold), repr(expected.threshold)]
    assert shown["probability at threshold"][1] == f"{100 / 51:.3g} %"  # what the costs ask for
    assert all(len(line) <= 80 or str(new) in line for line in out.splitlines())


def test_nothing_is_written_unless_asked(made: Path, capsys: Capture) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    out, err = asked(capsys, "model.json", "--prior", "0.1")
    assert err == "cutscore: nothing was written: add -o new.json.\n"
    assert out.splitlines()[0].split() == ["was", "would", "be"]
    assert asked(capsys, "model.json", "--prior", "0.1", "--quiet") == (out, "")
    assert as_json(capsys, "model.json", "--prior", "0.1")["written"] is None
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_json_has_all_digits_and_its_schema(capsys: Capture, tmp_path: Path) -> None:
    new = str(tmp_path / "new.json")
    found = as_json(capsys, "model.json", "--cost", "fp=1,fn=3", "-o", new)
    assert set(found) == {
        *("schema", "model", "written", "before", "after", "rates", "cost_per_1000_if_kept"),
        "text",
    }
    assert found["schema"] == "cutscore.revision/1"
    assert (found["model"], found["written"]) == ("model.json", new)
    for which, path in (("before", "model.json"), ("after", new)):
        d, saved = Detector.load(path), json.loads(Path(path).read_text())
        assert found[which]["threshold"] == d.threshold
        assert found[which]["flags"] == "from"
        for name in ("given", "aim"):
            assert found[which][name] == saved[name]
    assert found["after"]["probability"] == pytest.approx(1 / 4, rel=1e-12)
    # A threshold that JSON has no number for.
    for costs, flags, end in (("fp=1,fn=0", "nothing", 0), ("fp=0,fn=1", "everything", 1)):
        found = as_json(capsys, "model.json", "--cost", costs)
        assert (found["after"]["threshold"], found["after"]["flags"]) == (None, flags)
        assert found["after"]["probability"] is None
        assert all(rate["after"] == {"low": end, "high": end} for rate in found["rates"].values())
    out, _ = asked(capsys, "model.json", "--cost", "fp=1,fn=0")
    assert "The new threshold flags no case." in out


@pytest.mark.parametrize("threshold", [-9.0, -0.7, 0.3, 9.0])
@pytest.mark.parametrize("prior", [0.02, 0.2, 0.9])
def test_rates_lie_between_what_is_said(threshold: float, prior: float) -> None:
    rng = np.random.default_rng(5)
    y = rng.random(400) < 0.3
    s = cs.sweep(y, rng.normal(size=400).round(1) + y)
    old = Detector(
        (), 0.0, cs.Affine(1.0, 0.0), aim=cs.Aim(cs.Costs(1, 4), prior=0.3), threshold=0.3,
        training=Training(400, int(y.sum()), confusion=s.at(0.3)),
    )  # fmt: skip
    new = old.revised(prior=prior, threshold=threshold)
    revision = Revision(old, new, None)
    rates = revision.rates()
    c = s.at(threshold)
    truth = {
        "recall": c.recall,
        "false alarm rate": c.fpr,
        "share flagged": c.deployed(prior).flagged_rate,
    }
    for name, value in truth.items():
        _, span = rates[name]
        assert span is not None
        assert span.low - 1e-15 <= value <= span.high + 1e-15
        assert (span.low == span.high) == (threshold == old.threshold)
    assert rates["share flagged"][0] == pytest.approx(s.at(0.3).deployed(0.3).flagged_rate)
    assert revision.kept == pytest.approx(1000 * cs.Costs(1, 4)(s.at(0.3).deployed(prior)))
    # Of a threshold that has moved nothing is claimed; one that stays keeps what is known of it.
    assert new.training.confusion == (s.at(0.3) if threshold == 0.3 else None)


def test_words_for_rates() -> None:
    def said(confusion: cs.Confusion | None, threshold: float) -> str:
        d = Detector(
            (), 0.0, cs.Affine(1.0, 0.0), cs.Aim(prior=0.5), 0.0, target="y", positive="1",
            training=Training(20, 10, confusion=confusion),
        )  # fmt: skip
        return Revision(d, d.revised(threshold=threshold), "n.json").text(80)

    c = cs.Confusion(tp=8, fp=2, fn=2, tn=8)
    assert rows_of(said(c, 1.0))["recall"] == ["80.0 %", "≤ 80.0 %"]
    assert rows_of(said(c, -1.0))["false alarm rate"] == ["20.0 %", "≥ 20.0 %"]
    assert "only bounds are known for the new threshold" in " ".join(said(c, -1.0).split())
    same = said(c, 0.0)
    assert rows_of(same)["recall"] == ["80.0 %", "80.0 %"]
    assert "The threshold is unchanged" in same
    assert "only bounds" not in same
    # All are caught already, but more false alarms there may be.
    all_caught = said(cs.Confusion(tp=10, fp=2, fn=0, tn=8), -1.0)
    assert rows_of(all_caught)["recall"] == ["100 %", "100 %"]
    assert "only bounds" in " ".join(all_caught.split())
    assert rows_of(said(cs.Confusion(10, 2, 0, 8), 1.0))["recall"] == ["100 %", "unknown"]
    for unknown in (None, cs.Confusion(tp=0, fp=2, fn=0, tn=8)):
        text = said(unknown, 1.0)
        assert "recall" not in rows_of(text)
        assert "The model does not say" in text
        assert rows_of(said(unknown, -math.inf))["recall"] == ["-", "100 %"]


def test_the_way_that_is_named_works(
    made: Path, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out, _ = asked(capsys, str(made / "model.json"), "--cost", "fp=1,fn=3", "-o", "new one.json")
    text = " ".join(out.split())
    first, _, rest = text.partition("To measure it on labelled rows: ")[2].partition(", then ")
    second = rest.partition(". ")[0].removesuffix(".")
    (tmp_path / "rows.csv").write_bytes((made / "t.csv").read_bytes())
    assert main(shlex.split(first)[1:]) == 0
    assert main(shlex.split(second)[1:]) == 0
    d = Detector.load("new one.json")
    columns = cs.tables.open_table("rows.csv").columns(["is bad", "x"])
    c = cs.sweep(columns["is bad"], d.scores(columns), positive="yes").at(d.threshold)
    assert repr(c) in " ".join(capsys.readouterr().out.split())


def test_limits_are_let_go_only_when_told(capsys: Capture) -> None:
    for words in (["--cost", "fp=1,fn=5"], ["--threshold", "0"]):
        _, err = asked(capsys, "limited.json", *words, code=1)
        said = LimitsKept(("fpr <= 0.2",), fixes=(Fix("drop_limits", True),)).render(COMMAND)
        assert err.startswith(f"cutscore: {said}")
        assert "--drop-limits" in err
        out, _ = asked(capsys, "limited.json", *words, "--drop-limits")
        assert "The model no longer respects fpr <= 0.2." in out
        now = "cost" if "--cost" in words else "as given"
        assert rows_of(out)["chosen for"] == ["recall, fpr <= 0.2", now]
    _, err = asked(capsys, "limited.json", "--prior", "0.1", "--drop-limits", code=1)
    assert err.startswith(f"cutscore: {CostsMissing().render(COMMAND)}")
    assert "--cost fp=1,fn=20" in err


@pytest.mark.parametrize("text", ["-1e-05", "-0.25", "-.5", "1.5", "-inf", "inf"])
def test_thresholds_are_taken_as_they_are(text: str, capsys: Capture, tmp_path: Path) -> None:
    new = str(tmp_path / "new.json")
    asked(capsys, "model.json", "--threshold", text, "-o", new)
    d = Detector.load(new)
    assert d.threshold == float(text)
    assert (d.given, d.aim.costs) == (True, cs.Costs(fp=1, fn=10))
    assert d.training.confusion is None
    assert "of 600 cases" not in to_markdown(d)


def test_the_model_on_the_standard_output(capsys: Capture) -> None:
    out, err = asked(capsys, "model.json", "--prior", "0.1", "-o", "-")
    assert err == ""
    assert Detector.from_json(out) == Detector.load("model.json").revised(prior=0.1)


def test_costs_that_are_no_others_are_told(capsys: Capture) -> None:
    out, _ = asked(capsys, "model.json", "--cost", "fp=1,fn=10")
    assert "Costs and prior are unchanged" in out
    assert "are unchanged" not in asked(capsys, "model.json", "--cost", "fp=2,fn=10")[0]


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ("model.json", "there is nothing to revise. Give --cost fp=1,fn=50", 2),
        ("model.json --cost fp=1", "--cost must be written as", 2),
        ("model.json --cost fp=1, fn=3", "unexpected argument 'fn=3'", 2),
        ("model.json t.csv --prior 0.1", "unexpected argument 't.csv'", 2),
        ("model.json --prior 2", "--prior must lie between 0 and 1; it is 2.0.", 2),
        ("model.json --threshold nan", "a threshold must be a number; it is nan.", 2),
        ("model.json --prior 0.1 -o ./model.json", "./model.json is read from. Write to an", 2),
        ("model.json --prior 0.1 -o - --json", "-o - and --json both write", 2),
        ("none.json --prior 0.1", "none.json can't be read as a model", 1),
        ("t.csv --prior 0.1", "t.csv is not a cutscore model", 1),
        ("model.json --prior 0.1 -o no/new.json", "its folder is not there", 1),
    ],
)
def test_what_can_not_be_done(
    made: Path, capsys: Capture, words: str, message: str, code: int
) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    out, err = asked(capsys, *words.split(" "), code=code)
    assert out == "" or json.loads(out)["schema"] == "cutscore.error/1"
    assert err.startswith("cutscore: ")
    assert err.count("\n") == 1
    assert message in err
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_costs_without_a_gain_flag_nothing() -> None:
    # An LLR may overflow, and no score is worth a false alarm then either.
    d = Detector((), 0.0, cs.Affine(1.1, 0.0), aim=cs.Aim(prior=0.5), threshold=0.0)
    assert d.revised(costs=cs.Costs(fp=1, fn=0)).threshold == math.inf
    assert d.revised(costs=cs.Costs(fp=0, fn=1)).threshold == -math.inf


def test_a_given_threshold_needs_no_costs() -> None:
    d = Detector((), 0.0, cs.Affine(1.0, 0.0), aim=cs.Aim("f1", prior=0.5), threshold=0.0)
    assert d.revised(threshold=2, prior=0.1) == replace(
        d, threshold=2, aim=cs.Aim("f1", prior=0.1), given=True
    )
    with finding("bad-argument", parameter="threshold"):
        d.revised(threshold=math.nan)
    with finding("costs-missing"):
        d.revised(prior=0.1)
