"""Marks of missing values in CSV, and rows without a value: from a file to decisions."""

from __future__ import annotations

import io
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from cutscore.cli import main
from cutscore.core.errors import DataError
from cutscore.detector import Encoding
from cutscore.tables import open_table, parts, write_table
from cutscore.tables.literals import MISSING
from raising import finding


def file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def rows(values: list[str]) -> str:
    return "x;z\n" + "".join(f"{v};b\n" for v in values)


def column(paths: Any, name: str = "x", **options: Any) -> list[Any]:
    """A column as read(), batches(), pieces() and a query give it, which must be the same."""
    read = open_table(paths, **options).read([name])
    assert pa.Table.from_batches(open_table(paths, **options).batches([name])).equals(read)
    pieces = open_table(paths, **options).pieces([name])
    assert pa.Table.from_batches(b for p in pieces for _, b in p.read()).equals(read)
    assert open_table(paths, sql="from data", **options).read([name]).equals(read)
    return list(read[name].to_pylist())


# ---------------------------------------------------------------------------------- what is missing


@pytest.mark.parametrize(
    ("values", "missing", "read"),
    [
        (["1.5", "-", "2"], "-", [1.5, None, 2.0]),
        (["1", "?", "-", "NA", ""], ["-", "?"], [1, None, None, None, None]),
        (["1", "-9999", "-99"], "-9999", [1, None, -99]),
        (["1.5", "-9999", "-9999.0"], ("-9999",), [1.5, None, -9999.0]),  # as it is written
        (["a", "k.A.", "b"], "k.A.", ["a", None, "b"]),
        (["2024-01-31", "it's open"], "it's open", ["2024-01-31", None]),
        (["007", "000"], "000", ["007", None]),
        (["7", "000"], "000", [7, None]),  # what is missing is no code
        (["1", "-"], (), ["1", "-"]),
        (["1", "-"], "--", ["1", "-"]),
    ],
)
def test_what_is_missing(tmp_path: Path, values: list[str], missing: Any, read: list[Any]) -> None:
    path = file(tmp_path / "a.csv", rows(values))
    got = [str(v) if hasattr(v, "year") else v for v in column(path, missing=missing)]
    assert got == read
    assert list(map(type, got)) == list(map(type, read))


@pytest.mark.parametrize(
    ("values", "missing", "read"),
    [
        (["1.5", "-", "2"], "-", [1.5, None, 2.0]),
        (["1", " 2", "-", "3"], "-", [1, 2, None, 3]),
        (["1", "+2", "-"], "-", [1.0, 2.0, None]),
        (["1e3", "?", "-"], ["-", "?"], [1000.0, None, None]),
        (["007", "-"], "-", ["007", None]),
        (["9" * 19, "-"], "-", ["9" * 19, None]),
        (["a", "-", "NA", ""], "-", ["a", None, "NA", None]),
        (["1", "x", "-"], "-", ["1", "x", None]),
    ],
)
def test_marks_in_quotes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    values: list[str],
    missing: Any,
    read: list[Any],
) -> None:
    """As R writes a column that is text for its marks."""
    for sign in (";", ","):
        text = rows([f'"{v}"' for v in values]).replace(";", sign)
        path = file(tmp_path / "a.csv", text)
        got = column(path, missing=missing)
        assert got == read
        assert list(map(type, got)) == list(map(type, read))
    both = column([path, file(tmp_path / "b.csv", "z,x\nb,\n")], missing=missing)
    assert both == [*read, None]
    monkeypatch.setattr(parts, "BLOCK", 1 << 10)
    long = file(path, rows(['"1"'] * 900 + [f'"{v}"' for v in values]))
    assert column(long, missing=missing)[900:] == read


def test_marks_in_quotes_with_decimal_commas(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(['"1234,5"', '"-"', "7"]))
    assert column(path, missing="-", decimal=",") == [1234.5, None, 7.0]


@pytest.mark.parametrize("mark", MISSING)
def test_what_is_always_missing(tmp_path: Path, mark: str) -> None:
    path = file(tmp_path / "a.csv", rows(["1", mark]))
    assert column(path) == [1, None]
    if "nan" not in mark.lower():  # which is a number, of a kind
        quoted = column(file(path, rows(["1", f'"{mark}"'])))
        assert quoted == (["1", mark] if mark else [1, None])


def test_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "BLOCK", 1 << 10)
    path = file(tmp_path / "a.csv", rows(["1"] * 900 + ["-", "2.5"]))
    assert column(path, missing="-")[-2:] == [None, 2.5]
    assert column(path)[-2:] == ["-", "2.5"]


def test_several_files(tmp_path: Path) -> None:
    a = file(tmp_path / "a.csv", rows(["-", "1"]))
    b = file(tmp_path / "b.csv", "z|x\nb|2.5\nb|?\n")
    assert column([a, b], missing=["-", "?"]) == [None, 1.0, 2.5, None]
    for other in ("-", "2 kg", "2024-01-31"):
        with finding("types-differ", column="x"):
            open_table([file(b, rows(["2"])), file(a, rows([other]))]).read()


def test_what_can_not_be_a_mark(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(["1"]))
    for bad in (-9999, [None], ["-", 1]):
        with finding("bad-argument", parameter="missing"):
            open_table(path, missing=bad)  # type: ignore[arg-type]
    for name in ("t.parquet", "t.jsonl", "t.arrow"):
        write_table(tmp_path / name, {"x": ["1.5", "it's"]})
        for options in ({}, {"sql": "from data"}):
            with finding("arguments-conflict", parameters=("missing", "format")):
                open_table(tmp_path / name, missing="it's", **options)  # type: ignore[arg-type]
    with finding("arguments-conflict", parameters=("missing", "format")):
        open_table(sql="select 1 as x", missing="-")


def test_features_of_marks(tmp_path: Path) -> None:
    lines = (f"{'-' if k == 5 else k * 7919 % 1000 / 8};{k % 7};{k % 2}\n" for k in range(60))
    path = file(tmp_path / "a.csv", "x;n;y\n" + "".join(lines))
    e = Encoding.fit(open_table(path, missing="-"), target="y")
    assert e.features == ["x", "x is missing", "n"]
    with pytest.raises(DataError):
        e.transform(open_table(path))
    with finding("value-unfit", column="x", row=5, value="-"):
        open_table(path).column("x", number=True)


def test_numbers_that_are_stored_as_text(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.arrow", "t.jsonl"):
        table = pa.table({"mcc code": ["5411", "12"], "y": [1, 0]})
        if name != "t.jsonl":
            table = table.set_column(0, "mcc code", table["mcc code"].dictionary_encode())
        write_table(tmp_path / name, table)
        with finding("value-unfit", column="mcc code", row=0, value="5411"):
            open_table(tmp_path / name).column("mcc code", number=True)
        query = 'select * replace (cast("mcc code" as double) as "mcc code") from data'
        source = open_table(tmp_path / name, sql=query)
        assert source.column("mcc code", number=True).tolist() == [5411.0, 12.0]


# ------------------------------------------------------------------------------------------ SQLite


def sqlite(path: Path, values: list[Any]) -> Path:
    with sqlite3.connect(path) as db:
        db.execute("drop table if exists t")
        db.execute("create table t (x)")
        db.executemany("insert into t values (?)", [(v,) for v in values])
    db.close()
    return path


@pytest.mark.parametrize(
    ("values", "kinds", "row"),
    [
        ([1, 2, "x", 3], ("numbers", "text"), 2),
        (["x", "", None, 2.5], ("text", "numbers"), 3),
        ([None, 2.5, b"ab"], ("numbers", "bytes"), 2),
        ([1] * 70_000 + ["x"], ("numbers", "text"), 70_000),
    ],
)
def test_columns_of_several_types(
    tmp_path: Path, values: list[Any], kinds: tuple[str, str], row: int
) -> None:
    path = sqlite(tmp_path / "a.db", values)
    with finding("types-differ", column="x", kinds=kinds, row=row):
        open_table(path, sql="select x from t")


def test_types_of_sqlite(tmp_path: Path) -> None:
    """As the database has them: text is text, whatever it looks like."""
    for values, read in (
        ([1, None, 2], [1, None, 2]),
        ([1, 2.5, 2**50], [1.0, 2.5, float(2**50)]),
        ([None, 2**60 + 1], [None, 2**60 + 1]),
        ([None, None], [None, None]),
        (["1", "NA", ""], ["1", "NA", ""]),
        ([1] * 70_000 + [0.5], [1.0] * 70_000 + [0.5]),
    ):
        source = open_table(sqlite(tmp_path / "a.db", values), sql="select x from t")
        got = source.read()["x"].to_pylist()
        assert got == read
        assert list(map(type, got)) == list(map(type, read))
    with finding("number-inexact", value=2**60, column="x", row=2):
        open_table(sqlite(tmp_path / "a.db", [1, 2.5, 2**60]), sql="select x from t")


# --------------------------------------------------------------------------------- the command line


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same table with nothing, and with -9999, where there is no value."""
    monkeypatch.chdir(tmp_path)
    values = [(k % 3 == 0, (k * 7919) % 4000 / 8 + 80 * (k % 3 == 0)) for k in range(300)]
    for name, mark in (("none.csv", ""), ("mark.csv", "-9999"), ("dash.csv", "--")):
        lines = (f"{y:d},{s},{mark if k % 9 == 5 else s / 3}\n" for k, (y, s) in enumerate(values))
        file(tmp_path / name, "y,s,my x\n" + "".join(lines))
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


@pytest.mark.slow
def test_every_command_reads_it(tables: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(*words: str) -> None:
        printed = []
        for path, more in (
            ("none.csv", []),
            ("mark.csv", ["--missing", "-9999"]),
            ("mark.csv", ["--missing=-", "--missing=-9999"]),
            ("dash.csv", ["--missing", "-", "--missing", "--"]),
            ("dash.csv", ["--missing=--", "--missing", "-1e-05"]),
        ):
            assert run(words[0], path, *more, *words[1:], "-q") == 0
            printed.append(capsys.readouterr().out.replace(path, "FILE"))
        assert len(set(printed)) == 1
        assert printed[0]

    where = ("--sql", 'select * from data where "my x" is not null')
    for engine in ("memory", "arrow"):
        same("evaluate", "--label", "y", "--score", "my x", *where, "--engine", engine)
    same("choose", "--label", "y", "--score", "my x", *where, "--maximize", "f1")
    same("compare", "--label", "y", "--score", "s", "--score", "my x", *where)
    same("fit", "--target", "y")
    assert run("fit", "mark.csv", "--target", "y", "--missing", "-9999", "-q", "-o", "m.json") == 0
    assert "-9999" not in (tables / "m.json").read_text()
    for path, mark in (("none.csv", "-"), ("mark.csv", "-9999"), ("dash.csv", "--")):
        out = f"{path}.out.csv"
        assert run("apply", "m.json", path, "--missing", mark, "--keep", "y", "-o", out) == 0
    assert len({p.read_text() for p in tables.glob("*.out.csv")}) == 1
    capsys.readouterr()
    text = io.BytesIO((tables / "mark.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=text))
    assert run("fit", "-", "--target", "y", "--missing", "-9999", "-q") == 0
    assert "my x is missing" in capsys.readouterr().out


GONE = "--sql 'select * from data where \"my x\" is not null'"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evaluate", "dash.csv", "--score", "my x"], "[value-unfit]"),
        (["evaluate", "none.csv", "--score", "my x"], GONE),
        (["choose", "none.csv", "--score", "my x", "--engine", "arrow", "--maximize", "f1"], GONE),
        (["compare", "none.csv", "--score", "s", "--score", "my x"], GONE),
        (["evaluate", "none.csv", "--score", "my x", "--sql", "select * from data"], GONE),
        (["fit", "none.csv", "--exclude", "s,my x"], "[column-missing]"),
    ],
)
@pytest.mark.usefixtures("tables")
def test_refused(capsys: Any, words: list[str], said: str) -> None:
    label = "--target" if words[0] == "fit" else "--label"
    assert run(*words, label, "y") == 1
    assert said in capsys.readouterr().err


def test_a_long_name_is_given_in_full(tables: Path, capsys: Any) -> None:
    name = "the score of the model that was fitted last " + "year" * 9
    file(tables / "a.csv", f"y,{name}\n1,0.5\n0,\n1,0.7\n")
    assert run("evaluate", "a.csv", "--label", "y", "--score", name) == 1
    assert f'where "{name}" is not null' in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--missing"], ["--missing", "--quiet"], ["--missing", "-q"]])
@pytest.mark.usefixtures("tables")
def test_a_mark_must_be_given(capsys: Any, words: list[str]) -> None:
    assert run("fit", "none.csv", "--target", "y", *words) == 2
    assert "--missing needs a value, VALUE" in capsys.readouterr().err
