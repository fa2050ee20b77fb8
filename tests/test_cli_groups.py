"""Groups on the command line: choose --each, apply, check, revise, merge and export."""

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
NAMED = ["--label", "y", "--positive", "bad", "--score", "s"]
COMMON = ["--maximize", "recall", "--each", "country", "--subject-to", "fpr <= 5 %"]
OWN = ["--cost", "fp=1,fn=10", "--each", "country", "--thresholds", "group"]


def rows(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    country = rng.choice(["de", "fr", "49"], n, p=[0.6, 0.3, 0.1])
    y = rng.random(n) < 0.2
    s = rng.normal(size=n) + np.where(y, 2.5, 0.5 * (country == "fr"))
    return {
        "id": list(range(n)),
        "y": ["bad" if one else "fine" for one in y],
        "s": s.round(2).tolist(),
        "country": country.tolist(),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groups")
    write_table(folder / "t.csv", rows(4000, 1))
    write_table(folder / "t.parquet", rows(4000, 1))
    write_table(folder / "new.csv", rows(3000, 2))
    for name, aim in (("common", [*COMMON, "--confidence", "0.95"]), ("own", OWN)):
        words = ["choose", str(folder / "t.csv"), *NAMED, *aim, "-q", "-o"]
        assert main([*words, str(folder / f"{name}.json")]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(made)
    capsys.readouterr()


def asked(capsys: Capture, *words: str, code: int = 0) -> tuple[str, str]:
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    return out, err


def sweeps() -> cs.GroupSweeps:
    t = rows(4000, 1)
    return cs.sweeps_by_group([one == "bad" for one in t["y"]], t["s"], t["country"])


def test_policies_are_those_of_python() -> None:
    costs = cs.Costs(fp=1, fn=10)
    own = cs.choose_groups(sweeps(), costs, thresholds="group")
    found = cs.Policy.load("own.json")
    assert {name: t for name, (t,) in found.cuts.groups.items()} == own.thresholds
    common = cs.choose_groups(sweeps(), "recall", each="fpr <= 5 %", confidence=0.95)
    assert cs.Policy.load("common.json").threshold == common.common


@pytest.mark.parametrize("aim", [COMMON, [*OWN, "--gap", "recall <= 5 %"]])
def test_engines_and_formats_choose_the_same(capsys: Capture, aim: list[str]) -> None:
    found = []
    for words in (["t.csv"], ["t.parquet"], ["t.parquet", "--engine", "arrow"]):
        out, _ = asked(capsys, "choose", *words, *NAMED, *aim, "--json", "-q")
        data = json.loads(out)
        assert data["schema"] == "cutscore.group_choice/1"
        found.append({one["group"]: (one["threshold"], one["confusion"]) for one in data["groups"]})
    assert found[0] == found[1] == found[2]


def test_what_choose_prints(capsys: Capture) -> None:
    out, _ = asked(capsys, "choose", "t.csv", *NAMED, *COMMON, "--confidence", "0.95", "-q")
    assert out.startswith("Flag s ≥ ")
    assert "fpr <= 0.05 in each group: met, guaranteed on new rows at 95 % confidence" in out
    assert "false positive rate" in out
    out, _ = asked(capsys, "choose", "t.csv", *NAMED, *OWN, "--gap", "recall <= 5 %", "-q")
    assert out.startswith("Flag s ≥ the threshold of its 'country'")
    assert "gap(recall) <= 0.05: met" in out


def test_what_no_threshold_satisfies(capsys: Capture) -> None:
    words = ["choose", "t.csv", *NAMED, *COMMON, "--subject-to", "recall >= 99 %", "-q"]
    out, _ = asked(capsys, *words, "-o", "never.json", code=3)
    assert out.startswith("No threshold satisfies fpr <= 0.05 in each group and")
    assert not Path("never.json").exists()
    out, _ = asked(capsys, *words, "--json", code=3)
    assert json.loads(out)["error"]["code"] == "groups-infeasible"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--maximize", "recall", "--gap", "recall <= 5 %"], "Add --each, or drop --gap"),
        (["--maximize", "recall", "--thresholds", "group"], "Add --each, or drop --thresholds"),
        ([*COMMON, "--gap", "recall <= 5 %"], "Use --thresholds"),
        ([*OWN, "--confidence", "0.95"], "a confidence applies to limits"),
        ([*OWN, "--gap", "precision <= 5 %"], "a gap must be"),
    ],
)
def test_options_that_can_not_be_meant(capsys: Capture, words: list[str], says: str) -> None:
    assert main(["choose", "t.csv", *NAMED, *words, "-q"]) in (1, 2)
    assert says in capsys.readouterr().err


def test_apply(capsys: Capture) -> None:
    write_table("few.csv", {"s": [1.0, 1.0, None, 9.0, -9.0, 2.0], "country": _FEW})
    _, err = asked(capsys, "apply", "own.json", "few.csv", "-o", "decided.parquet")
    found = open_table("decided.parquet").read().column("decision").to_pylist()
    cuts = {name: t for name, (t,) in cs.Policy.load("own.json").cuts.groups.items()}
    assert found == [cuts["de"] <= 1.0, cuts["fr"] <= 1.0, None, True, False, None]
    assert "1 of 6 rows (16.7 %) has no decision" in err
    asked(capsys, "apply", "own.json", "few.csv", "-o", "decided.csv", "-q")
    assert "" in Path("decided.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")
    assert main(["apply", "own.json", "t.csv", "--sql", "select s from data"]) == 1
    assert "country" in capsys.readouterr().err


_FEW = ["de", "fr", "fr", "49", "de", "it"]


def test_check(capsys: Capture) -> None:
    out, _ = asked(capsys, "check", "common.json", "new.csv")
    assert out.startswith("Consistent with expectations")
    assert "fpr <= 0.05 in 'fr'" in out
    out, _ = asked(capsys, "check", "own.json", "new.csv", "--json")
    assert {one.get("group") for one in json.loads(out)["promises"]} == {None, "de", "fr", "49"}
    worse = rows(3000, 2)
    worse["s"] = [s + 2 * (c == "fr") for s, c in zip(worse["s"], worse["country"], strict=True)]
    write_table("worse.csv", worse)
    out, _ = asked(capsys, "check", "common.json", "worse.csv", code=3)
    assert out.startswith("Limit violated: fpr <= 0.05 in 'fr'")
    worse["country"] = ["it", *worse["country"][1:]]
    write_table("unseen.csv", worse)
    assert "[group-unknown]" in asked(capsys, "check", "common.json", "unseen.csv", code=1)[1]


def test_revise(capsys: Capture) -> None:
    words = ["revise", "common.json", "--subject-to", "fpr <= 2 %", "-o", "stricter.json"]
    out, _ = asked(capsys, *words)
    assert "fpr <= 0.02 in each group: met, guaranteed" in out
    wanted = cs.choose_groups(sweeps(), "recall", each="fpr <= 2 %", confidence=0.95)
    assert cs.Policy.load("stricter.json").threshold == wanted.common
    out, _ = asked(capsys, "revise", "own.json", "--gap", "fpr <= 1 %", "-o", "equal.json")
    assert "threshold in 'fr'" in out
    equal = cs.choose_groups(sweeps(), cs.Costs(fp=1, fn=10), thresholds="group", gap="fpr <= 1 %")
    found = cs.Policy.load("equal.json").cuts.groups
    assert {name: t for name, (t,) in found.items()} == equal.thresholds
    out, _ = asked(capsys, "revise", "own.json", "--cost", "fp=1,fn=50", "--json", "-q")
    assert json.loads(out)["after"]["groups"][0]["threshold"] is not None


def test_merge_report_and_export(capsys: Capture) -> None:
    asked(capsys, "choose", "new.csv", *NAMED, *OWN, "-q", "-o", "site.json")
    out, _ = asked(capsys, "merge", "own.json", "site.json", "-o", "both.json")
    assert "Flag s ≥ the threshold of its 'country'" in out
    out, _ = asked(capsys, "report", "common.json", "-o", "report.html")
    assert "fpr <= 0.05 in each group" in out
    out, _ = asked(capsys, "report", "own.json")
    assert out.startswith("Flag scores ≥ the threshold of their 'country'")
    assert "## Groups" in asked(capsys, "export", "own.json", "--to", "card")[0]
    assert "WHEN 'de' THEN" in asked(capsys, "export", "own.json", "--to", "sql")[0]
    _, err = asked(capsys, "export", "own.json", "--to", "onnx", "-o", "x.onnx", code=1)
    assert "[not-exportable]" in err


def test_rows_of_which_no_group_is_known(capsys: Capture) -> None:
    write_table("others.csv", {"s": [1.0, 9.0], "country": ["it", None]})
    _, err = asked(capsys, "apply", "own.json", "others.csv", "-o", "none.csv", code=1)
    assert "[group-undecided]" in err
    assert not Path("none.csv").exists()


def test_groups_of_one_class(capsys: Capture) -> None:
    out, _ = asked(capsys, "choose", "t.csv", *NAMED, "--cost", "fp=1,fn=9", "--each", "y", "-q")
    assert out.startswith("Flag s ≥ ")
    words = ["--maximize", "recall", "--each", "y", "--subject-to", "fpr <= 5 %", "-o", "y.json"]
    _, err = asked(capsys, "choose", "t.csv", *NAMED, *words, code=1)
    assert "[one-class]" in err
    assert "'bad'" in err
    assert not Path("y.json").exists()


def test_limits_that_allow_nothing(capsys: Capture) -> None:
    words = ["choose", "t.csv", *NAMED, "--maximize", "recall", "--each", "country", "-q"]
    out, _ = asked(capsys, *words, "--subject-to", "flagged <= 0", "--json")
    found = json.loads(out)
    assert found["verdict"]["state"] == "unproven"
    assert [one["code"] for one in found["verdict"]["findings"]] == ["flags-alike"]
    assert [one["holds"] for one in found["limits"]] == [True]
    limits = ["--subject-to", "fpr <= 1 %", "--subject-to", "fpr >= 5 %", "-o", "never.json"]
    out, _ = asked(capsys, *words, *limits, code=3)
    assert out.startswith("No threshold satisfies")
    assert not Path("never.json").exists()


def test_a_given_threshold_is_tested(capsys: Capture) -> None:
    out, _ = asked(capsys, "revise", "common.json", "--threshold", "0.5", "-o", "low.json", code=3)
    assert "fpr <= 0.05 in each group: can't be guaranteed at 95 % confidence (" in out
    out, _ = asked(capsys, "revise", "common.json", "--threshold", "5", "--json", "-o", "high.json")
    assert json.loads(out)["after"]["limits"][0]["holds"]


def test_a_threshold_of_zero_is_one(capsys: Capture) -> None:
    asked(capsys, "choose", "t.csv", *NAMED, "--maximize", "recall", "--subject-to", "fpr <= 5 %",
          "--confidence", "0.9", "-q", "-o", "one.json")  # fmt: skip
    out, _ = asked(capsys, "revise", "one.json", "--threshold", "0", "-o", "zero.json", code=3)
    assert cs.Policy.load("zero.json").threshold == 0
    out, _ = asked(capsys, "report", "zero.json", "--json", code=3)
    verdict = json.loads(out)["scores"][0]["verdict"]
    assert verdict["headline"] == (
        "This threshold can't be guaranteed to meet fpr ≤ 0.05 at 90 % confidence"
    )
