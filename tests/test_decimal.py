"""Numbers written as 12,5 in CSV: ``decimal=","`` on every way from a file to decisions."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutscore.cli import main
from cutscore.core.errors import DataError
from cutscore.detector import Encoding
from cutscore.tables import open_table, parts, write_table
from raising import finding


def file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def rows(values: list[str], between: str = ";") -> str:
    return f"x{between}z\n" + "".join(f"{v}{between}b\n" for v in values)


def column(paths: Any, name: str = "x", **options: Any) -> list[Any]:
    """A column as read(), batches(), pieces() and a query give it, which must be the same."""
    read = open_table(paths, decimal=",", **options).read([name])
    source = open_table(paths, decimal=",", **options)
    assert pa.Table.from_batches(source.batches([name])).equals(read)
    pieces = open_table(paths, decimal=",", **options).pieces([name])
    assert pa.Table.from_batches(b for p in pieces for _, b in p.read()).equals(read)
    asked = open_table(paths, decimal=",", sql="from data", **options).read([name])
    assert asked.equals(read)
    return list(read[name].to_pylist())


# -------------------------------------------------------------------------------- what is a number


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["12,5", "-3", "", "7"], [12.5, -3.0, None, 7.0]),
        (["12", "NA", "7"], [12, None, 7]),  # integers stay integers
        (["1,5e3", ",5", "2,", "+7"], [1500.0, 0.5, 2.0, 7.0]),
        ([" 1,5 ", " 2"], [1.5, 2.0]),
        (["2025-01-31", "2025-02-01"], ["2025-01-31", "2025-02-01"]),
        *(
            (values, values)  # text
            for values in (
                ["31.12.2024", "1.1.2025"],
                ["3.5", "1,5"],
                ["1.234", "1,5"],
                ["1.234,56", "1,5"],
                ["1,234,567", "1,5"],
                ["12,5", "high"],
                ["007,5", "1,5"],
            )
        ),
    ],
)
def test_what_is_a_number(tmp_path: Path, values: list[str], read: list[Any]) -> None:
    for between in ";\t|":
        got = [
            str(v) if hasattr(v, "year") else v
            for v in column(file(tmp_path / "a.csv", rows(values, between)))
        ]
        assert got == read
        assert list(map(type, got)) == list(map(type, read))


def written(value: float, places: int) -> str:
    return f"{value:.{places}f}".replace(".", ",")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-(10**14), 10**14), min_size=1, max_size=6), st.integers(0, 4))
def test_every_number_comes_back(tmp_path_factory: Any, values: list[int], places: int) -> None:
    exact = [v / 10**places if places else v for v in values]
    texts = [written(v, places) for v in exact]
    got = column(file(tmp_path_factory.mktemp("d") / "a.csv", rows(texts)))
    assert got == [float(f"{v:.{places}f}") if places else v for v in exact]
    assert {type(v) for v in got} == {float if places else int}


def test_commas_are_decimal_only_if_that_is_said(tmp_path: Path) -> None:
    for values in (["12,5", "3"], ["1.234,5", "2,5"], ["1,234", "2,345"]):
        path = file(tmp_path / "a.csv", rows(values))
        assert open_table(path).read(["x"])["x"].to_pylist() == values
    assert open_table(file(path, rows(["1.234"]))).read(["x"]).to_pydict() == {"x": [1.234]}


def test_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "BLOCK", 1 << 10)
    for first in ("", "1", "1,5"):
        for last, read in (("2,5", 2.5), ("3.5", "3.5")):
            path = file(tmp_path / "a.csv", rows([first] * 900 + [last]))
            assert column(path)[-1] == read


def test_several_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    for one, other, read in (
        ("7", "1234", [7, 1234]),
        ("1234", "1,5", [1234.0, 1.5]),
        ("", "1234,5", [None, 1234.5]),
        ("007", "1,50", ["007", "1,50"]),  # a code in one is one in all
    ):
        file(a, rows([one]))
        file(b, "z|x\n" + f"b|{other}\n")
        got = column([a, b])
        assert got == read
        assert list(map(type, got)) == list(map(type, read))
    codes = open_table([a, file(b, rows(["1234,5"]))], decimal=",")
    assert codes.column("x", number=True).tolist() == [7.0, 1234.5]
    long = open_table(file(a, rows(["1000000000000000001", "7,5"])), decimal=",")
    with finding("number-inexact", column="x", row=0):
        long.column("x", number=True)


def test_the_separator(tmp_path: Path) -> None:
    one = file(tmp_path / "a.csv", "x\n1,5\n1234,5\n")  # nothing tells what separates columns
    assert column(one) == [1.5, 1234.5]
    file(one, "x, net;z\n1,5;b\n")
    assert open_table(one, decimal=",").names == ["x, net", "z"]


# --------------------------------------------------------------------------------------- bad values


def test_bad_signs(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(["1,5"]))
    for bad in (";", "", ",,", None, 1):
        with finding("bad-argument", parameter="decimal"):
            open_table(path, decimal=bad)  # type: ignore[arg-type]
    for both in ".,":
        with finding("bad-argument", parameter="decimal", value=both):
            open_table(path, decimal=both, separator=both)
    for name in ("t.parquet", "t.jsonl", "t.arrow"):
        write_table(tmp_path / name, {"x": [1.5]})
        for more in ({}, {"sql": "from data"}):
            with finding("arguments-conflict", parameters=("decimal", "format")):
                open_table(tmp_path / name, decimal=",", **more)  # type: ignore[arg-type]
        assert open_table(tmp_path / name, decimal=".").names == ["x"]
    with finding("arguments-conflict", parameters=("decimal", "format")):
        open_table(sql="select 1 as x", decimal=",")


def test_the_row_that_is_no_number_is_named(tmp_path: Path) -> None:
    source = open_table(file(tmp_path / "a.csv", rows(["12,5", "3.5"])), decimal=",")
    with finding("value-unfit", column="x", row=1, value="3.5"):
        source.column("x", number=True)


def test_columns_of_a_detector(tmp_path: Path) -> None:
    """What was a number in training is refused as text, never taken for something missing."""
    path = tmp_path / "a.csv"
    numbers = [written(1000.5 + 37 * k, 2) for k in range(60)]
    table = "x;n;y\n" + "".join(f"{v};{k % 7};{k % 2}\n" for k, v in enumerate(numbers))
    source = open_table(file(path, table), decimal=",")
    e = Encoding.fit(source, target="y")
    assert e.names == ["x", "n"]
    assert e.transform(source).shape == (60, 2)
    with pytest.raises(DataError):
        e.transform(open_table(path))


# --------------------------------------------------------------------------------- the command line


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same table with points and with commas; scores and labels that overlap."""
    monkeypatch.chdir(tmp_path)
    values = [(k % 3 == 0, (k * 7919) % 4000 + 900.25 + 800 * (k % 3 == 0)) for k in range(300)]
    file(tmp_path / "point.csv", "y,s\n" + "".join(f"{y:d},{s}\n" for y, s in values))
    commas = "".join(f"{y:d};{written(s, 2)}\n" for y, s in values)
    file(tmp_path / "comma.csv", "y;s\n" + commas)
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


def test_every_command_reads_it(tables: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(*words: str) -> None:
        printed = []
        for path, sign in (("point.csv", "."), ("comma.csv", ",")):
            assert run(words[0], path, *words[1:], "--decimal", sign, "-q") == 0
            out = capsys.readouterr().out.replace(path, "FILE")
            printed.append(out.replace(f"--decimal {sign}", "--decimal SIGN"))
        assert printed[0] == printed[1] != ""

    scores = ("--label", "y", "--score", "s")
    for engine in ("memory", "arrow"):
        same("evaluate", *scores, "--engine", engine)
    same("choose", *scores, "--maximize", "f1")
    same("evaluate", *scores, "--sql", "select * from data where s > 1000")
    same("fit", "--target", "y")
    assert run("fit", "comma.csv", "--target", "y", "--decimal", ",", "-q", "-o", "m.json") == 0
    for path, sign in (("point.csv", "."), ("comma.csv", ",")):
        out = f"{path}.out.csv"
        assert run("apply", "m.json", path, "--decimal", sign, "--keep", "y", "-o", out) == 0
    decided = [(tables / f"{path}.out.csv").read_text() for path in ("point.csv", "comma.csv")]
    assert decided[0] == decided[1]
    capsys.readouterr()
    text = io.BytesIO((tables / "comma.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=text))
    assert run("choose", "-", *scores, "--decimal", ",", "--maximize", "f1", "-q") == 0
    assert capsys.readouterr().out != ""


@pytest.mark.parametrize(
    ("words", "exit", "code"),
    [
        ("evaluate comma.csv --label y --score s", 1, "value-unfit"),
        ("evaluate point.csv --label y --score s --decimal ,", 1, "column-missing"),
        ("evaluate comma.csv --decimal ;", 2, "bad-argument"),
        ("evaluate comma.csv --decimal , --separator ,", 2, "bad-argument"),
        ("evaluate comma.csv --separator ;;", 2, "bad-argument"),
        ("evaluate comma.csv --format xlsx", 1, "bad-argument"),
    ],
)
@pytest.mark.usefixtures("tables")
def test_what_is_wrong(capsys: Any, words: str, exit: int, code: str) -> None:
    assert run(*words.split()) == exit
    assert capsys.readouterr().err.endswith(f"[{code}]\n")


def test_text_among_the_numbers_of_a_model(tables: Path) -> None:
    assert run("fit", "comma.csv", "--target", "y", "--decimal", ",", "-q", "-o", "m.json") == 0
    assert run("apply", "m.json", "comma.csv", "--keep", "y", "-o", "o.csv", "-q") == 1
    assert not (tables / "o.csv").exists()
    words = "evaluate comma.csv --label y --score s --engine arrow"
    assert run(*words.split()) == 1
