"""cutscore revise: another threshold for the same model, and what is known of it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.core.numbers import number_text
from cutscore.detector import Detector
from cutscore.policy.words import promise_text
from cutscore.tables import write_table

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
    old = Detector.load("model.json").policy
    expected = Detector.load("model.json").revised(costs=cs.Costs(fp=1, fn=50), prior=0.02)
    assert new.read_text() == expected.to_json() + "\n"
    shown, p = rows_of(out), expected.policy
    assert out.splitlines()[0].split() == ["current", "new"]
    assert shown["costs"] == ["fp=1, fn=10", "fp=1, fn=50"]
    assert shown["prior"] == ["20.0 %", "2.00 %"]
    assert shown["threshold"] == [repr(old.threshold), repr(p.threshold)]
    assert shown["recall"] == [
        promise_text("recall", of.promises["recall"], level=False) for of in (old, p)
    ]
    assert shown["cost per 1,000 cases"][1].startswith(number_text(1000 * p.promises["cost"].value))
    flagged = old.confusion.flagged, p.confusion.flagged
    assert f"flags {flagged[1]:,} cases (was {flagged[0]:,})." in out
    assert all(len(line) <= 80 or str(new) in line for line in out.splitlines())


def test_it_is_the_choice_on_the_rows(capsys: Capture, tmp_path: Path) -> None:
    """What choose finds on the rows, revise finds in the file: threshold, promises and limits."""
    rng = np.random.default_rng(8)
    y = rng.random(900) < 0.2
    write_table(tmp_path / "s.csv", {"y": y.astype(int), "s": (rng.normal(size=900) + y).round(2)})
    table, policy, again = (str(tmp_path / name) for name in ("s.csv", "p.json", "q.json"))
    named = ["choose", table, "--label", "y", "--score", "s", "-q"]
    assert main([*named, "--maximize", "f1", "-o", policy]) == 0
    for words in (
        ["--cost", "fp=1,fn=7"],
        ["--cost", "fp=1,fn=7", "--prior", "0.02"],
        ["--maximize", "recall", "--subject-to", "precision >= 0.4"],
        ["--maximize", "recall", "--subject-to", "fpr <= 10 %", "--confidence", "0.9"],
        ["--maximize", "recall", "--subject-to", "fpr <= 10 %", "--subject-to", "precision >= 0.2"],
    ):
        asked(capsys, policy, *words, "-o", str(tmp_path / "r.json"))
        assert main([*named, *words, "-o", again]) == 0
        a, b = (cs.Policy.load(path) for path in (tmp_path / "r.json", again))
        assert (a.aim, a.cuts, a.promises, a.feasible) == (b.aim, b.cuts, b.promises, b.feasible)
        (tmp_path / "r.json").unlink()


def test_nothing_is_written_unless_asked(made: Path, capsys: Capture) -> None:
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    out, err = asked(capsys, "model.json", "--prior", "0.1")
    assert err == "cutscore: nothing was saved; to save, add -o new.json.\n"
    assert out.splitlines()[0].split() == ["current", "new"]
    assert asked(capsys, "model.json", "--prior", "0.1", "--quiet") == (out, "")
    assert as_json(capsys, "model.json", "--prior", "0.1")["written"] is None
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_json_has_all_digits_and_its_schema(capsys: Capture, tmp_path: Path) -> None:
    new = str(tmp_path / "new.json")
    found = as_json(capsys, "model.json", "--cost", "fp=1,fn=3", "-o", new)
    assert set(found) == {
        *("schema", "model", "written", "before", "after", "verdict", "cost_per_1000_if_kept"),
        "text",
    }
    assert found["schema"] == "cutscore.revision/2"
    assert (found["model"], found["written"]) == ("model.json", new)
    for which, path in (("before", "model.json"), ("after", new)):
        d, saved = Detector.load(path), json.loads(Path(path).read_text())["policy"]
        assert found[which]["threshold"] == d.policy.threshold
        assert found[which]["flags"] == "from"
        for name in ("given", "aim", "feasible", "promises"):
            assert found[which][name] == saved[name]
    c = Detector.load("model.json").policy.confusion
    assert found["cost_per_1000_if_kept"] == pytest.approx(1000 * cs.Costs(1, 3)(c))
    # A threshold that JSON has no number for.
    for threshold, flags in (("inf", "nothing"), ("-inf", "everything")):
        found = as_json(capsys, "model.json", "--threshold", threshold)
        assert (found["after"]["threshold"], found["after"]["flags"]) == (None, flags)
        assert found["after"]["probability"] is None
        assert found["verdict"] is None
    out, _ = asked(capsys, "model.json", "--threshold", "inf")
    assert rows_of(out)["threshold"][1] == "flag nothing"


def test_limits_stay_unless_they_are_dropped_or_given(capsys: Capture) -> None:
    out, _ = asked(capsys, "limited.json", "--cost", "fp=1,fn=5")
    assert rows_of(out)["objective"] == ["recall, fpr <= 0.2", "cost, fpr <= 0.2"]
    assert "\nfpr <= 0.2: met (" in out
    out, _ = asked(capsys, "limited.json", "--cost", "fp=1,fn=5", "--drop-limits")
    assert rows_of(out)["objective"] == ["recall, fpr <= 0.2", "cost"]
    assert "Limit dropped: fpr <= 0.2." in out
    out, _ = asked(capsys, "limited.json", "--subject-to", "fpr <= 0.1", "--confidence", "0.9")
    assert rows_of(out)["objective"][1] == "recall, fpr <= 0.1, with 90 % confidence"
    # A confidence alone is for the limits that are there.
    out, _ = asked(capsys, "limited.json", "--confidence", "0.9")
    assert rows_of(out)["objective"][1] == "recall, fpr <= 0.2, with 90 % confidence"


def test_limits_that_no_threshold_meets(capsys: Capture) -> None:
    words = ("limited.json", "--subject-to", "precision >= 0.999", "--subject-to", "recall >= 0.9")
    out, _ = asked(capsys, *words, code=3)
    assert ": violated (" in out
    found = json.loads(asked(capsys, *words, "--json", "-q", code=3)[0])
    assert found["after"]["feasible"] is False
    assert [one["holds"] for one in found["after"]["limits"]].count(False) >= 1


@pytest.mark.parametrize("text", ["-1e-05", "-0.25", "-.5", "1.5", "-inf", "inf"])
def test_thresholds_are_taken_as_they_are(text: str, capsys: Capture, tmp_path: Path) -> None:
    new = str(tmp_path / "new.json")
    out, _ = asked(capsys, "model.json", "--threshold", text, "-o", new)
    p = Detector.load(new).policy
    assert p.threshold == float(text)
    assert (p.given, p.aim.costs) == (True, cs.Costs(fp=1, fn=10))
    assert p.confusion == p.sweep.at(float(text))
    assert rows_of(out)["objective"] == ["cost", "set manually"]


def test_the_model_on_the_standard_output(capsys: Capture) -> None:
    out, err = asked(capsys, "model.json", "--prior", "0.1", "-o", "-")
    assert err == ""
    assert out == Detector.load("model.json").revised(prior=0.1).to_json() + "\n"


def test_an_aim_that_is_the_same(capsys: Capture) -> None:
    out, _ = asked(capsys, "model.json", "--cost", "fp=1,fn=10")
    assert "The threshold and all decisions are unchanged." in out


def test_low_scores_that_mean_positive(capsys: Capture, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    y = rng.random(500) < 0.3
    s = cs.sweep(y, (600 - 80 * y + 60 * rng.normal(size=500)).round())
    p = cs.Policy.choose(s, cs.Costs(fp=1, fn=2), score="bureau", reverse=True)
    p.save(tmp_path / "p.json")
    found = as_json(capsys, str(tmp_path / "p.json"), "--cost", "fp=1,fn=9")
    assert (found["before"]["flags"], found["after"]["flags"]) == ("up to", "up to")
    assert found["after"]["threshold"] == p.revised(costs=cs.Costs(fp=1, fn=9)).threshold
    assert found["after"]["threshold"] > p.threshold
    assert found["after"]["probability"] < found["before"]["probability"]


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ("model.json", "nothing to revise. Use --cost, --maximize", 2),
        ("model.json --cost fp=1", "--cost must look like", 2),
        ("model.json --cost fp=1, fn=3", "unexpected argument 'fn=3'", 2),
        ("model.json t.csv --prior 0.1", "unexpected argument 't.csv'", 2),
        ("model.json --prior 2", "--prior must be between 0 and 1, got 2.0.", 2),
        ("model.json --threshold nan", "a threshold must be a number, got nan.", 2),
        (
            "model.json --prior 0.1 -o ./model.json",
            "model.json can't be written: it is also an input file",
            2,
        ),
        ("model.json --prior 0.1 -o - --json", "-o - and --json both write", 2),
        ("none.json --prior 0.1", "there is no file none.json", 1),
        ("t.csv --prior 0.1", "t.csv is not a cutscore model", 1),
        ("model.json --prior 0.1 -o no/new.json", "its folder does not exist", 1),
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


def test_a_threshold_set_manually_optimises_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.4
    p = cs.Policy.choose(cs.sweep(y, rng.standard_normal(300) + y), cs.Costs(fp=1, fn=2))
    for given, words in ((None, "objective: minimum cost"), (0.5, "threshold set manually")):
        chosen = p.revised(prior=0.3, threshold=given)
        chosen.save(tmp_path / "p.json")
        assert main(["report", str(tmp_path / "p.json")]) == 0
        assert words in capsys.readouterr().out
        assert ("minimum" in repr(chosen.point)) == (given is None)
