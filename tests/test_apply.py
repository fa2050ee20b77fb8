"""cutscore apply: what it says of values that the training rows never had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutscore.cli import main
from cutscore.core.errors import DataError
from cutscore.core.findings import COMMAND
from cutscore.core.findings.models import UnseenValues
from cutscore.detector import CategoryTerm, Detector
from cutscore.detector.novelty import Novelty
from cutscore.tables import open_table, write_table
from raising import finding


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of amounts from 0 to 950, and 1,000 days from 2020 on."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 1000
    y = rng.random(n) < 0.3
    amount = np.clip(rng.normal(size=n) * 100 + 400 + 150 * y, 0, 950).round()
    amount[:2] = 0, 950
    day = np.datetime64("2020-01-01") + rng.permutation(n)
    write_table("t.parquet", {"y": y.astype(int), "amount": amount, "day": day})
    words = ["fit", "t.parquet", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main(words) == 0
    return tmp_path / "m.json"


def said(capsys: pytest.CaptureFixture[str], columns: dict[str, Any], *words: str) -> list[str]:
    """What apply says of a table, but for how many rows are flagged."""
    write_table("new.parquet", columns)
    capsys.readouterr()
    assert main(["apply", "m.json", "new.parquet", "-o", "out.parquet", *words]) == 0
    *remarks, last = capsys.readouterr().err.splitlines() or [""]
    assert "rows flagged" in last or words
    return [text.removeprefix("cutscore: ") for text in remarks]


def days(n: int) -> Any:
    return np.full(n, np.datetime64("2021-01-01"))


@pytest.mark.usefixtures("model")
def test_values_out_of_the_range_of_training(capsys: pytest.CaptureFixture[str]) -> None:
    n = 10_000
    amount = np.full(n, 500.0)
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[-12:] = 1000.0
    amount[-1], amount[-2] = 1.2e9, -3.0
    day = days(n)
    day[:200] = np.datetime64("2019-12-31")
    rows = {"amount": amount, "day": day}
    wanted = [
        UnseenValues("day", 200, n, "2019-12-31", "2020-01-01", "2022-09-26"),
        UnseenValues("amount", 12, n, "1.2e+09", "0", "950"),
    ]
    write_table("new.parquet", rows)
    d = Detector.load("m.json")
    assert d.novelty(open_table("new.parquet")) == wanted
    assert d.novelty(pa.table(rows).slice(9_000)) == [
        UnseenValues("amount", 12, 1_000, "1.2e+09", "0", "950")
    ]
    assert said(capsys, rows) == [found.render(COMMAND) for found in wanted]
    assert said(capsys, rows, "-q") == []
    # The ends themselves are in it, and a missing value is no number out of it.
    assert d.novelty({"amount": [0.0, 950.0, None], "day": days(3)}) == [
        UnseenValues("amount", 1, 3)
    ]


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Detector:
    """Of a category with 4 levels in 1,000 rows, and 60 rows of rare ones; one is never rare."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    line = rng.choice(["A-01", "A-02", "B-01", "C-07"], 1000).astype(object)
    line[:60] = [f"R-{k // 3}" for k in range(60)]
    y = rng.random(1000) < np.where(line == "C-07", 0.6, 0.2)
    table = {"y": y.astype(int), "line": line, "shift": rng.choice(["day", "night"], 1000)}
    write_table("t.parquet", table)
    words = ["fit", "t.parquet", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main(words) == 0
    d = Detector.load("m.json")
    term = d.scorer.terms[0]
    assert isinstance(term, CategoryTerm)
    assert (len(term.column.levels), term.column.other) == (4, 0.06)
    return d


def test_levels_that_no_training_row_had(
    lines: Detector, capsys: pytest.CaptureFixture[str]
) -> None:
    n = 500
    line, shift = np.full(n, "A-01", object), np.full(n, "day", object)
    line[:90] = "D-01"  # training rows had rare levels too, which count as 'other'
    shift[:7], shift[7:16] = "la\n<b>", "early"
    rows = {"line": line, "shift": shift}
    wanted = [UnseenValues("shift", 16, n, "la\n<b>")]
    assert lines.novelty(rows) == wanted
    assert said(capsys, rows) == [found.render(COMMAND) for found in wanted]
    # A dictionary is what its values are.
    table = pa.table({"line": line, "shift": pa.array(shift).dictionary_encode()})
    assert lines.novelty(table) == wanted
    assert lines.novelty(table.slice(n)) == []


def test_levels_are_counted_over_batches(lines: Detector) -> None:
    seen, rows = Novelty(), 0
    for shift in (["day"] * 3, ["day"] + ["c"] * 4, ["b"] * 5 + ["c"] * 4):
        batch = {"line": ["A-01"] * len(shift), "shift": shift}
        rows += sum(b.num_rows for b in lines.apply_batches(batch, seen=seen))
    assert seen.found(rows) == [UnseenValues("shift", 13, 17, "c")]


def test_all_columns_of_a_frame_are_kept_if_that_is_said(lines: Detector) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2], "line": ["A-01", "B-01"], "shift": ["day", "night"]})
    added = ["score", "llr", "probability", "decision", "why"]
    assert lines.apply(frame).column_names == added
    kept = lines.apply(frame, keep=frame.columns)
    assert kept.column_names == ["id", "line", "shift", *added]
    assert kept["id"].to_pylist() == [1, 2]
    assert lines.apply(open_table("t.parquet"), keep=["y"]).num_rows == 1000
    assert lines.apply(open_table("t.parquet"), keep="y").column_names[0] == "y"


def test_kept_columns_are_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    y = rng.random(400) < 0.4
    n = rng.integers(0, 40, 400) + 5 * y
    body = "".join(f"{a:03d},{int(b)}\n" for a, b in zip(n, y, strict=True))
    (tmp_path / "t.csv").write_text("n,y\n" + body)
    words = ["fit", "t.csv", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main([*words, "--number", "n"]) == 0
    d = Detector.load("m.json")
    assert d.scorer.numbers == ["n"]
    for keep in ([], ["--keep", "n"]):
        assert main(["apply", "m.json", "t.csv", "-q", "-o", "out.csv", *keep]) == 0
        rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
        assert [row.split(",")[0].strip('"') for row in rows] == [f"{a:03d}" for a in n]
    table = d.apply(open_table("t.csv"), keep=["n"])
    assert table["score"].to_pylist() == d.scores({"n": n}).tolist()
    # Decimal commas in one file, zeros in front in another.
    (tmp_path / "a.csv").write_text("n;y\n1,5;0\n")
    (tmp_path / "b.csv").write_text("n;y\n 05;1\n")
    both = d.apply(open_table(["a.csv", "b.csv"], decimal=","), keep=["n"])
    assert both["n"].to_pylist() == ["1,5", " 05"]
    assert both["score"].to_pylist() == d.scores({"n": [1.5, 5.0]}).tolist()
    (tmp_path / "b.csv").write_text("n;y\n07;1\n0x1F;1\n")
    with finding("value-unfit", DataError, row=1, value="0x1F"):
        d.apply(open_table("b.csv"), keep=["n"])


def test_the_ways_out_of_an_edited_model_work(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = model.read_text()
    prior = json.loads(original)["policy"]["aim"]["prior"]
    assert prior is None
    model.write_text(original.replace('"prior": null', '"prior": 0.25'))
    assert main(["apply", "m.json", "t.parquet", "-o", "out.csv"]) == 1
    assert "m.json: the checksum does not match" in capsys.readouterr().err
    with finding("model-changed") as error:
        Detector.load("m.json")
    message = str(error.value)
    # Each way as it is named.
    meant = "Detector.load(path, verify=False).save(path)"
    assert meant in message
    eval(meant, {"Detector": Detector, "path": model})
    assert Detector.load(model).policy.prior == 0.25
    assert main(["apply", "m.json", "t.parquet", "-o", "out.csv"]) == 0
    model.write_text(original)
    revised = "Detector.load(original).revised(costs=..., prior=...).save(path)"
    assert revised in message
    from cutscore import Costs

    filled = revised.replace("costs=...", "costs=Costs(1, 9)").replace("prior=...", "prior=0.01")
    eval(filled, {"Detector": Detector, "Costs": Costs, "original": model, "path": "new.json"})
    d = Detector.load("new.json")
    assert (d.policy.prior, d.policy.aim.costs) == (0.01, Costs(1, 9))
    assert d.policy.threshold != Detector.load(model).policy.threshold
