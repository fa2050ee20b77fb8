"""cutpoint apply: what it says of values that the training rows never had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutpoint.cli import main
from cutpoint.detector import Detector, NumberTerm, saved
from cutpoint.tables import write_table


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
    return [text.removeprefix("cutpoint: ") for text in remarks]


def days(n: int) -> Any:
    return np.full(n, np.datetime64("2021-01-01"))


@pytest.mark.usefixtures("model")
def test_values_out_of_the_range_of_training(capsys: pytest.CaptureFixture[str]) -> None:
    n = 10_000
    amount = np.full(n, 500.0)
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[-12:] = 1000.0
    amount[-1] = 1.2e9
    day = days(n)
    day[:200] = np.datetime64("2019-12-31")
    assert said(capsys, {"amount": amount, "day": day}) == [
        "200 of 10,000 rows have 'day' below the smallest of the training rows, 2020-01-01; the "
        "smallest is 2019-12-31.",
        "12 of 10,000 rows have 'amount' above the largest of the training rows, 950; the "
        "largest is 1.2e+09.",
    ]
    assert said(capsys, {"amount": amount, "day": day}, "-q") == []
    both = said(capsys, {"amount": [-1.0, 951.0, 500.0], "day": days(3)})
    assert [text.partition(" of the")[0] for text in both] == [
        "1 of 3 rows have 'amount' above the largest",
        "1 of 3 rows have 'amount' below the smallest",
    ]
    # The ends themselves are in it, and a missing value is no number out of it.
    (gone,) = said(capsys, {"amount": [0.0, 950.0, None], "day": days(3)})
    assert gone == "1 of 3 rows have no 'amount', which all training rows had."


@pytest.mark.usefixtures("model")
def test_a_few_a_little_out_of_the_range_are_chance(capsys: pytest.CaptureFixture[str]) -> None:
    n = 10_000  # of 1,000 training rows: up to 70
    amount = np.full(n, 500.0)
    amount[:70] = 960.0
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[70] = 960.0
    assert said(capsys, {"amount": amount, "day": days(n)})[0].startswith("71 of 10,000 rows")
    amount[:] = 500.0
    amount[5] = 950 + 475
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[5] += 1
    assert said(capsys, {"amount": amount, "day": days(n)})[0].endswith("the largest is 1426.")


def test_chance_is_what_it_is_said_to_be() -> None:
    """Above the largest of n rows there are more than 7/n of others once in a thousand times."""
    rng = np.random.default_rng(1)
    n, m, times = 100, 400, 20_000
    training = rng.random((times, n)).max(axis=1)
    above = rng.binomial(m, 1 - training)
    assert 0.0003 < np.mean(above * n > 7 * m) < 0.002


def test_models_of_before_have_no_range(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = Detector.load(model)
    term = new.terms[0]
    assert isinstance(term, NumberTerm)
    assert (term.column.low, term.column.high) == (0, 950)
    data = json.loads(model.read_text())
    del data["checksum"]
    for column in data["columns"]:
        del column["range"]
    model.write_text(json.dumps(data | {"checksum": saved._checksum(data)}))
    old = Detector.load(model)
    assert all(t.column.low is None for t in old.terms if isinstance(t, NumberTerm))
    rows = {"amount": [1e9, 2.0], "day": days(2)}
    assert old.scores(rows).tolist() == new.scores(rows).tolist()
    assert said(capsys, rows) == []
    assert Detector.from_json(old.to_json()).to_json() == old.to_json()


def test_the_ways_out_of_an_edited_model_work(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = model.read_text()
    prior = json.loads(original)["prior"]
    model.write_text(original.replace(f'"prior": {prior}', '"prior": 0.25'))
    assert main(["apply", "m.json", "t.parquet", "-o", "out.csv"]) == 1
    message = capsys.readouterr().err
    assert "m.json is no detector to rely on: its checksum does not fit" in message
    # Each way as it is named.
    meant = "Detector.load(path, verify=False).save(path)"
    assert meant in message
    eval(meant, {"Detector": Detector, "path": model})
    assert Detector.load(model).prior == 0.25
    assert main(["apply", "m.json", "t.parquet", "-o", "out.csv"]) == 0
    model.write_text(original)
    revised = "Detector.load(original).revised(costs=..., prior=...).save(path)"
    assert revised in message
    from cutpoint import Costs

    filled = revised.replace("costs=...", "costs=Costs(1, 9)").replace("prior=...", "prior=0.01")
    eval(filled, {"Detector": Detector, "Costs": Costs, "original": model, "path": "new.json"})
    d = Detector.load("new.json")
    assert (d.prior, d.costs) == (0.01, Costs(1, 9))
    assert d.threshold != Detector.load(model).threshold
