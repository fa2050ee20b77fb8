"""cutscore apply: what it says of values that the training rows never had."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutscore.cli import main
from cutscore.detector import CategoryTerm, Detector, NumberColumn, NumberTerm, saved, strange
from cutscore.detector.strange import Strange, log_chance_beyond, log_chance_share
from cutscore.errors import DataError
from cutscore.tables import open_table, write_table


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
    amount[-1] = 1.2e9
    day = days(n)
    day[:200] = np.datetime64("2019-12-31")
    assert said(capsys, {"amount": amount, "day": day}) == [
        "200 of 10,000 rows have 'day' before the earliest of the training rows, 2020-01-01; the "
        "earliest is 2019-12-31. Decisions on such rows may be driven by it.",
        "12 of 10,000 rows have 'amount' above the largest of the training rows, 950; the "
        "largest is 1.2e+09. Decisions on such rows may be driven by it.",
    ]
    day[0] = np.datetime64("2023-01-01")
    day[1:100] = np.datetime64("2022-09-30")
    (text, *_) = said(capsys, {"amount": np.full(n, 500.0), "day": day})
    assert text.startswith(
        "100 of 10,000 rows have 'day' after the latest of the training rows, 2022-09-26; the "
        "latest is 2023-01-01."
    )
    day[:200] = np.datetime64("2019-12-31")
    write_table("new.parquet", {"amount": amount, "day": day})
    assert Detector.load("m.json").remarks(open_table("new.parquet")) == said(
        capsys, {"amount": amount, "day": day}
    )
    assert said(capsys, {"amount": amount, "day": day}, "-q") == []
    both = said(capsys, {"amount": [-1.0, -2.0, 951.0, 952.0, 500.0], "day": days(5)})
    assert [text.partition(" of the")[0] for text in both] == [
        "2 of 5 rows have 'amount' above the largest",
        "2 of 5 rows have 'amount' below the smallest",
    ]
    assert said(capsys, {"amount": [951.0, 500.0], "day": days(2)}) == []  # 1 in 501 times
    # The ends themselves are in it, and a missing value is no number out of it.
    (gone,) = said(capsys, {"amount": [0.0, 950.0, None], "day": days(3)})
    assert gone == "1 of 3 rows have no 'amount', which all training rows had."


@pytest.mark.usefixtures("model")
def test_a_few_a_little_out_of_the_range_are_chance(capsys: pytest.CaptureFixture[str]) -> None:
    # Both ends of two columns are looked at; of 1,000 training rows.
    n, chance, most = 10_000, 1.0, 0
    while (chance := chance * (n - most) / (1000 + n - most)) >= 0.001 / 4:
        most += 1
    amount = np.full(n, 500.0)
    amount[:most] = 960.0
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[most] = 960.0
    (text,) = said(capsys, {"amount": amount, "day": days(n)})
    assert text.startswith(f"{most + 1} of 10,000 rows")
    # Rows without a value are no rows that could be above.
    (text,) = said(capsys, {"amount": [*amount[:9], *[None] * 9991], "day": days(n)})[1:]
    assert text.startswith("9 of 10,000 rows have 'amount' above")
    amount[:] = 500.0
    amount[5] = 950 + 9500
    assert said(capsys, {"amount": amount, "day": days(n)}) == []
    amount[5] += 1
    assert (
        said(capsys, {"amount": amount, "day": days(n)})[0]
        .partition("; ")[2]
        .startswith("the largest is 10451. ")
    )


@pytest.mark.parametrize(("n", "m"), [(100, 400), (4, 4), (300, 20)])
def test_chance_is_what_it_is_said_to_be(n: int, m: int) -> None:
    rng = np.random.default_rng(1)
    times = 200_000
    largest = rng.random(times) ** (1 / n)  # of n uniform ones
    above = rng.binomial(m, 1 - largest)
    for count in (1, 2, 3):
        chance = exp(log_chance_beyond(count, n, m))
        exact = 1.0
        for i in range(count):
            exact *= (m - i) / (n + m - i)
        assert chance == pytest.approx(exact, rel=1e-9)
        assert abs(np.mean(above >= count) - chance) < 4 * np.sqrt(chance / times)


def test_heavy_tails_are_not_far() -> None:
    """The farthest of 1,000 lognormal values is rarely far out of the range of 1,000 others."""
    rng = np.random.default_rng(2)
    far = 0
    for _ in range(500):
        a, b = np.exp(1.5 * rng.normal(size=(2, 1000)))
        column = NumberColumn("x", 0.0, 1.0, low=a.min(), high=a.max())
        found = Strange(1000)
        found._range(column, b)
        far += any(beyond.is_far for beyond in found.beyond.values())
    assert far <= 5


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
    term = d.terms[0]
    assert isinstance(term, CategoryTerm)
    assert (len(term.column.levels), term.column.other) == (4, 0.06)
    return d


def test_levels_without_a_weight_are_said(
    lines: Detector, capsys: pytest.CaptureFixture[str]
) -> None:
    n = 500
    line = np.full(n, "A-01", object)
    shift = np.full(n, "day", object)
    # As many as in training, and somewhat more: rare levels are picked after they were counted.
    for most in (30, 55):
        line[:most] = "R-1"
        assert said(capsys, {"line": line, "shift": shift}) == []
    line[:90] = "D\n<b>"
    shift[:7], shift[7:16] = "late", "early"
    wanted = [
        "90 of 500 rows have a 'line' without a weight of its own, which counts as 'other' as in "
        "6 % of the training rows; the commonest is 'D\\n<b>'.",
        "16 of 500 rows have a 'shift' that the training rows never had; the commonest is 'early'.",
    ]
    rows = {"line": line, "shift": shift}
    assert said(capsys, rows) == wanted
    assert lines.remarks(rows) == wanted
    # Of equally common ones the first in the alphabet; a dictionary is what its values are.
    shift[7:14], shift[14:16] = "early", "day"
    table = pa.table({"line": line, "shift": pa.array(shift).dictionary_encode()})
    assert lines.remarks(table)[1].endswith("the commonest is 'early'.")
    assert lines.remarks(table.slice(n)) == []


def test_levels_are_counted_over_batches(lines: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    """In each half another one is the commonest; in all, a third."""
    halves = [["a"] * 5 + ["c"] * 4, ["b"] * 5 + ["c"] * 4]
    found = Strange(lines.training.rows)
    rows = 0
    for shift in halves:
        batch = {"line": ["A-01"] * len(shift), "shift": shift}
        rows += sum(b.num_rows for b in lines.apply_batches(batch, watch=found.watch))
    assert found.remarks(rows) == [
        "18 of 18 rows have a 'shift' that the training rows never had; the commonest is 'c'."
    ]
    # Memory is bounded: who has seen some values only does not know the commonest.
    monkeypatch.setattr(strange, "_VALUES", 3)
    many = {"line": ["A-01"] * 90, "shift": [f"s{k}" for k in range(90)]}
    found = Strange(lines.training.rows)
    for _ in range(2):
        list(lines.apply_batches(many, watch=found.watch))
    assert found.remarks(180)[0].endswith(
        "180 of 180 rows have a 'shift' that the training rows never had; one is 's0'."
    )
    assert len(found.unknown["shift"].values) == 3


@pytest.mark.parametrize(("m", "k", "n"), [(500, 60, 1000), (50, 0, 400), (9000, 90, 100)])
def test_the_chance_of_a_share_is_a_bound(m: int, k: int, n: int) -> None:
    from scipy.stats import hypergeom

    for count in range(1, m + 1, max(1, m // 40)):
        exact = hypergeom.logsf(count - 1, n + m, count + k, m)
        bound = log_chance_share(count, m, k, n)
        assert exact <= bound + 1e-9
        if count / m > k / n:  # of use: it has the larger of two exponents, which exact adds up
            assert bound <= (exact + 2 * np.log(m + n)) / 2


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
    assert d.numbers == ["n"]
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
    with pytest.raises(DataError, match="'n' must hold numbers; row 2 has '0x1F'"):
        d.apply(open_table("b.csv"), keep=["n"])


def test_codes_that_came_as_numbers_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    y = rng.random(300) < 0.4
    code = np.where(rng.random(300) < 0.2 + 0.6 * y, "0007", "12")
    write_table("t.parquet", {"branch": code, "y": y})
    words = ["fit", "t.parquet", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main(words) == 0
    d = Detector.load("m.json")
    wanted = "'branch' holds the number 7 where training rows had the text '0007'"
    for table in ({"branch": [12, 7]}, {"branch": [7.0, None]}):
        with pytest.warns(UserWarning, match=wanted):
            d.apply(table)
    with pytest.warns(UserWarning, match=wanted):
        d.decide({"branch": [7]})
    d.apply({"branch": [12, 13]})  # no warning, which would be an error: nothing was lost
    d.apply({"branch": ["0007", "7"]})
    (remark, unknown) = said(capsys, {"branch": [7] * 9})
    assert remark.startswith(wanted)
    assert "never had" in unknown


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
    from cutscore import Costs

    filled = revised.replace("costs=...", "costs=Costs(1, 9)").replace("prior=...", "prior=0.01")
    eval(filled, {"Detector": Detector, "Costs": Costs, "original": model, "path": "new.json"})
    d = Detector.load("new.json")
    assert (d.prior, d.costs) == (0.01, Costs(1, 9))
    assert d.threshold != Detector.load(model).threshold
