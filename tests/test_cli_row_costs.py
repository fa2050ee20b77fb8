"""Costs of each row on the command line: choose, apply, check, revise and export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.tables import open_table, write_table

Capture = pytest.CaptureFixture[str]
NAMED = ["--label", "fraud", "--score", "risk"]
COSTS = "fp=4,fn=max(0.8*amount, 5) + 15"


def rows(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.04
    day = np.repeat(np.datetime64("2026-01-01") + np.arange(60), -(-n // 60))[:n]
    return {
        "id": list(range(n)),
        "fraud": y.astype(int).tolist(),
        "risk": (rng.normal(size=n) + 2 * y).round(3).tolist(),
        "amount": rng.lognormal(3.5, 1, n).round(2).tolist(),
        "day": [str(one) for one in day],
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("amounts")
    write_table(folder / "t.csv", rows(6000, 1))
    write_table(folder / "t.parquet", rows(6000, 1))
    write_table(folder / "new.csv", rows(3000, 2))
    words = ["choose", str(folder / "t.csv"), *NAMED, "--cost", COSTS, "-q", "-o"]
    assert main([*words, str(folder / "p.json")]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(made)
    capsys.readouterr()


def asked(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    return out, err


def policy(**options: Any) -> cs.Policy:
    t = rows(6000, 1)
    costs = cs.Costs(fp=4, fn="max(0.8*amount, 5) + 15")
    return cs.Policy.choose_by_row(t["fraud"], t["risk"], costs, t, score="risk", **options)


def test_choose_is_that_of_the_library(capsys: Capture) -> None:
    p, q = cs.Policy.load("p.json"), policy()
    assert (p.cuts, p.promises, p.aim) == (q.cuts, q.promises, q.aim)
    out, _ = asked(capsys, "choose", "t.parquet", *NAMED, "--cost", COSTS, "--json", "-q")
    found = json.loads(out)
    assert found["threshold"] == p.threshold
    assert found["total"] == pytest.approx(p.point.total)
    assert found["saving"]["value"] == p.promises["saving"].value
    assert found["totals"].keys() == {"flag none", "flag all"}
    out, _ = asked(capsys, "choose", "t.csv", *NAMED, "--cost", COSTS)
    assert "the best single threshold" in out
    assert "in all on these rows" in out


def test_low_scores_are_said_as_they_are(tmp_path: Path, capsys: Capture) -> None:
    """The best single threshold was that of the negated score, and so was the rule."""
    columns = rows(6000, 1)
    columns["risk"] = [-one for one in columns["risk"]]
    write_table(tmp_path / "low.csv", columns)
    asked_for = (*NAMED, "--cost", COSTS, "--json", "-q")
    high, low = (
        json.loads(asked(capsys, "choose", path, *asked_for, *more)[0])
        for path, more in (("t.csv", ()), (str(tmp_path / "low.csv"), ("--reverse", "risk")))
    )
    assert low["uniform"] == high["uniform"] | {"threshold": -high["uniform"]["threshold"]}
    assert "LLR(−risk)" in low["rule"]


def test_limits_per_day_and_money_per_day(capsys: Capture) -> None:
    words = ["--period", "day", "--subject-to", "flagged <= 6 per day", "--confidence", "0.95"]
    out, _ = asked(
        capsys, "choose", "t.csv", *NAMED, "--cost", COSTS, *words, "-o", "days.json", "--json"
    )
    found = json.loads(out)
    assert found["per_period"]["low"] < found["per_period"]["value"]
    assert found["limits"][0]["value"] <= 6
    out, _ = asked(capsys, "check", "days.json", "new.csv", "--exposure", "60")
    assert "flagged <= 6 per day" in out
    assert "unknown" not in out


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_apply(to: str, capsys: Capture) -> None:
    asked(capsys, "apply", "p.json", "new.csv", "-q", "-o", f"d.{to}")
    found = open_table(f"d.{to}").columns(["decision", "amount", "risk"])
    decision = [str(one).lower() == "true" for one in found["decision"]]
    p, t = cs.Policy.load("p.json"), rows(3000, 2)
    assert decision == p.decide(t["risk"], columns=t).tolist()


def test_check_compares_money(capsys: Capture) -> None:
    out, _ = asked(capsys, "check", "p.json", "new.csv", "--json")
    found = json.loads(out)
    assert {one["name"] for one in found["promises"]} >= {"cost", "saving", "recall", "auc"}
    assert found["state"] == "agrees"
    t = rows(3000, 2)
    q = cs.Policy.load("p.json").check(t["fraud"], t["risk"], columns=t)
    assert [one["observed"]["value"] for one in found["promises"]] == [
        pytest.approx(one.observed.value) for one in q.promises if one.observed
    ]


def test_revise_by_numbers(capsys: Capture) -> None:
    other = COSTS.replace("fp=4", "fp=8")
    asked(capsys, "revise", "p.json", "--cost", other, "-o", "eight.json")
    p = cs.Policy.load("eight.json")
    t = rows(6000, 1)
    costs = cs.Costs(fp=8, fn="max(0.8*amount, 5) + 15")
    q = cs.Policy.choose_by_row(t["fraud"], t["risk"], costs, t)
    assert p.confusion == q.confusion
    assert p.threshold == pytest.approx(q.threshold, abs=1e-3)
    out, _ = asked(capsys, "revise", "p.json", "--subject-to", "flagged <= 100")
    assert "flagged <= 100: met" in out
    for cost in ("fp=4,fn=amount", "fp=4,fn=20"):
        _, err = asked(capsys, "revise", "p.json", "--cost", cost, "-o", "none.json", code=1)
        assert "[undefined]" in err
    assert not Path("none.json").exists()


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["--cost", "fp=4,fn=amuont"], 1, "column-missing"),
        (["--cost", "fp=4,fn=amount +"], 2, "bad-argument"),
        (["--cost", "fp=4,fn=amount,review=1"], 2, "bad-argument"),
        (["--cost", "fp=4,fn=amount,tp=amount"], 2, "bad-argument"),
        (["--cost", "fn=amount"], 2, "bad-argument"),
        (["--cost", "fp=4,fn=day"], 1, "value-unfit"),
        (["--cost", "fp=4,fn=amount - 50"], 1, "row-cost-unfit"),
        (["--cost", "fp=4,fn=1 / (amount - amount)"], 1, "row-cost-unfit"),
        (["--cost", "fp=4,fn=amount", "--each", "day"], 2, "arguments-conflict"),
        (["--cost", "fp=4,fn=amount", "--engine", "arrow"], 2, "usage"),
    ],
)
def test_bad_costs(words: list[str], code: int, kind: str, capsys: Capture) -> None:
    given = [] if "--each" in words else ["-o", "none.json"]
    _, err = asked(capsys, "choose", "t.csv", *NAMED, *words, *given, code=code)
    assert err.rstrip().endswith(f"[{kind}]")
    assert not Path("none.json").exists()


@pytest.mark.parametrize("command", ["compare", "fit"])
def test_other_commands_say_where_costs_may_differ(command: str, capsys: Capture) -> None:
    named = ["--target", "fraud", "-o", "m.json"] if command == "fit" else [*NAMED, "--score", "id"]
    _, err = asked(capsys, command, "t.csv", *named, "--cost", "fp=4,fn=amount", code=2)
    assert err.rstrip().endswith("[costs-by-row]")


def test_evaluate(capsys: Capture) -> None:
    words = ["t.csv", *NAMED, "--cost", COSTS, "--unit", "day"]
    out, _ = asked(capsys, "evaluate", *words, "--report", "r.html")
    assert "best single threshold" in out
    assert 'data-plot="money"' in Path("r.html").read_text("utf-8")
    out, _ = asked(capsys, "evaluate", "t.parquet", *NAMED, "--cost", COSTS, "--json")
    found = json.loads(out)["row_costs"]["rows"][0]
    assert found["cost"]["value"] == cs.Policy.load("p.json").promises["cost"].value
    for more in (["--group", "day"], ["--score", "id"], ["--engine", "arrow"]):
        _, err = asked(capsys, "evaluate", *words, *more, code=2)
        assert err.startswith("cutscore: ")
