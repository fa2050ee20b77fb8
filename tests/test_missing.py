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

from cutscore._written import MISSING
from cutscore.cli import main
from cutscore.detector import Encoding
from cutscore.errors import DataError
from cutscore.tables import open_table, write_table
from cutscore.tables import text as text_module


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
    monkeypatch.setattr(text_module, "_BLOCK", 1 << 10)
    long = file(path, rows(['"1"'] * 900 + [f'"{v}"' for v in values]))
    assert column(long, missing=missing)[900:] == read


def test_marks_in_quotes_with_decimal_commas(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(['"1.234,5"', '"-"', "7"]))
    assert column(path, missing="-", decimal=",") == [1234.5, None, 7.0]
    assert column(file(path, rows(['"1,5"', '"-"', "7"])), missing="-") == [1.5, None, 7.0]
    assert column(file(path, rows(['"1.234"', '"-"', "7"])), missing="-") == [1.234, None, 7.0]


@pytest.mark.parametrize("mark", MISSING)
def test_what_is_always_missing(tmp_path: Path, mark: str) -> None:
    path = file(tmp_path / "a.csv", rows(["1", mark]))
    assert column(path) == [1, None]
    if "nan" not in mark.lower():  # which is a number, of a kind
        quoted = column(file(path, rows(["1", f'"{mark}"'])))
        assert quoted == (["1", mark] if mark else [1, None])


def test_errors_of_excel_are_missing() -> None:
    errors = "#NV #N/A #DIV/0! #WERT! #VALUE! #REF! #BEZUG! #NAME? #NUM! #NULL!"
    assert set(errors.split()) <= set(MISSING)


def test_with_decimal_commas(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(["1.234,5", "k.A.", "7"]))
    assert column(path, missing="k.A.", decimal=",") == [1234.5, None, 7.0]
    assert column(file(path, rows(["1,5", "k.A.", "7"])), missing="k.A.") == [1.5, None, 7.0]


def test_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_BLOCK", 1 << 10)
    path = file(tmp_path / "a.csv", rows(["1"] * 900 + ["-", "2.5"]))
    assert column(path, missing="-")[-2:] == [None, 2.5]
    assert column(path)[-2:] == ["-", "2.5"]


def test_several_files(tmp_path: Path) -> None:
    a = file(tmp_path / "a.csv", rows(["-", "1"]))
    b = file(tmp_path / "b.csv", "z|x\nb|2.5\nb|?\n")
    assert column([a, b], missing=["-", "?"]) == [None, 1.0, 2.5, None]
    says = r"is text in .*a\.csv and numbers in .*b\.csv\. .* apart\. Row 1 of .*a\.csv \(line 2\) "
    with pytest.raises(DataError, match=says + r'has \'-\'\. Say missing="-" if that stands for a'):
        open_table([a, file(b, rows(["2"]))]).read()
    for other in ("2 kg", "2024-01-31"):
        with pytest.raises(DataError, match=r"or read them apart\.$"):
            open_table([b, file(a, rows([other]))]).read()


def test_what_can_not_be_a_mark(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(["1"]))
    for bad in (-9999, [None], ["-", 1]):
        with pytest.raises(DataError, match=r"must be text, as it is written .* it is .*in quotes"):
            open_table(path, missing=bad)  # type: ignore[arg-type]
    for name in ("t.parquet", "t.jsonl", "t.arrow"):
        write_table(tmp_path / name, {"x": ["1.5", "it's"]})
        way = (
            r"said of CSV only; .* sql=\"select \* replace \(nullif\(x, 'it''s'\) as x\) from data"
        )
        for options in ({}, {"sql": "from data"}):
            with pytest.raises(DataError, match=way) as error:
                open_table(tmp_path / name, missing="it's", **options)  # type: ignore[arg-type]
        query = str(error.value).split('sql="')[1].split('"')[0]
        assert open_table(tmp_path / name, sql=query).read()["x"].to_pylist() == ["1.5", None]
    with pytest.raises(DataError, match="said of CSV only; this query reads others"):
        open_table(sql="select 1 as x", missing="-")


# ----------------------------------------------------------------------------- the way out is named


def numbers(path: Path, marks: dict[int, str]) -> Path:
    lines = (f"{marks.get(k, k * 7919 % 1000 / 8)};{k % 7};{k % 2}\n" for k in range(60))
    return file(path, "x;n;y\n" + "".join(lines))


def test_warnings_name_it(tmp_path: Path) -> None:
    path = numbers(tmp_path / "a.csv", {5: "-"})
    (warning,) = Encoding.fit(open_table(path), target="y").warnings
    assert (
        ', say --missing - (in Python missing="-") if that stands for a missing value, or'
        in warning
    )
    e = Encoding.fit(open_table(path, missing="-"), target="y")
    assert e.warnings == ()
    assert e.features == ["x", "x is missing", "n"]
    numbers(path, {5: "-", 9: "?"})
    (warning,) = Encoding.fit(open_table(path), target="y").warnings
    way = """say --missing - --missing '?' (in Python missing=["-", "?"]) if they stand for a"""
    assert way in warning
    # Neither a limit, nor many words, nor a frame that nobody read from CSV.
    for marks in ({5: "<0.5"}, dict(enumerate("abcd"))):
        (warning,) = Encoding.fit(open_table(numbers(path, marks)), target="y").warnings
        assert "--missing" not in warning
    frame = {"x": [*map(str, range(59)), "-"], "n": [1, 2, 3] * 20, "y": [0, 1] * 30}
    (warning,) = Encoding.fit(frame, target="y").warnings
    assert "--missing" not in warning


def test_errors_name_it(tmp_path: Path) -> None:
    path = numbers(tmp_path / "a.csv", {})
    e = Encoding.fit(open_table(path), target="y")
    say = r' Say missing="-" if that stands for a missing value\.$'
    numbers(path, {5: "-"})
    with pytest.raises(DataError, match=r"'x' must hold numbers; row 6 has '-'\. Convert.*" + say):
        e.transform(open_table(path))
    assert e.transform(open_table(path, missing="-")).shape == (60, 2)
    for options in ({}, {"sql": "from data"}):
        with pytest.raises(
            DataError, match=r"'x' must hold numbers; row 6 of .* has '-'\..*" + say
        ):
            open_table(path, **options).column("x", number=True)  # type: ignore[arg-type]
    # Text is no mark only because it is no number.
    file(path, "x;n;y\nred;1;0\nblue;2;1\n3;2;1\n")
    with pytest.raises(DataError, match=r"or name another column\.$"):
        open_table(path).column("x", number=True)
    with pytest.raises(DataError, match=r"or correct that row\.$"):
        e.transform(open_table(path))


# ----------------------------------------------------------------------------- text that is numbers


def test_numbers_that_are_stored_as_text(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.arrow", "t.jsonl"):
        table = pa.table({"mcc code": ["5411", "12"], "y": [1, 0]})
        if name != "t.jsonl":
            table = table.set_column(0, "mcc code", table["mcc code"].dictionary_encode())
        write_table(tmp_path / name, table)
        with pytest.raises(
            DataError, match=r"must hold numbers; in .* it holds text, such as '12'\. Cast"
        ) as error:
            open_table(tmp_path / name).column("mcc code", number=True)
        query = str(error.value).split("sql='")[1].split("'")[0]
        source = open_table(tmp_path / name, sql=query)
        assert source.column("mcc code", number=True).tolist() == [5411.0, 12.0]
        again = open_table(tmp_path / name, sql="from data")
        with pytest.raises(DataError, match=r"it holds text, such as '12'\. Cast it in the query,"):
            again.column("mcc code", number=True)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """What .import makes of a CSV file: text everywhere, or everything that is no number."""
    path = tmp_path / "l.db"
    with sqlite3.connect(path) as db:
        db.execute("create table parts (id text, temp text, n text, colour text)")
        db.execute("create table typed (id text, temp real, n int, colour text)")
        for k in range(60):
            row = [f"{k:03}", f"{k * 7919 % 1000 / 8}", str(k % 7), "red" if k % 3 else "blue"]
            row[1] = {5: "", 7: "NA", 9: " 12.5 "}.get(k, row[1])
            row[2] = "#DIV/0!" if k == 8 else row[2]
            for table in ("parts", "typed"):
                db.execute(f"insert into {table} values (?, ?, ?, ?)", row)
    db.close()
    return path


def test_sqlite_stores_text(database: Path, tmp_path: Path) -> None:
    csv = "id,temp,n,colour,y\n"
    with sqlite3.connect(database) as db:
        for k, row in enumerate(db.execute("select * from parts")):
            csv += ",".join((*row, str(k % 2))) + "\n"
    db.close()
    source = open_table(file(tmp_path / "a.csv", csv))
    e = Encoding.fit(source, target="y", exclude=["id"], columns=["temp", "n", "colour"])
    assert e.features == ["temp", "temp is missing", "n", "n is missing", "colour = blue"]
    X = e.transform(source)
    for table in ("parts", "typed"):
        text = open_table(database, sql=f"select * from {table}")
        assert (e.transform(text) == X).all()
    parts = open_table(database, sql="select * from parts where temp not in ('', 'NA')")
    assert parts.schema.field("temp").type == pa.string()  # unless somebody says what it is
    assert parts.column("temp", number=True)[7] == 12.5
    assert parts.coded(["temp", "colour"]) == {"temp"}
    typed = open_table(database, sql="select * from typed").read(["temp", "n"])
    assert typed.schema.types == [pa.float64(), pa.int64()]
    assert typed["temp"].null_count == 2
    with pytest.raises(DataError, match="'colour' must hold numbers; row 1 has 'blue'"):
        Encoding.fit(text, numbers=["colour"])
    missing = open_table(database, sql="select * from parts")
    with pytest.raises(DataError, match="'temp' must have a value in every row; row 6 of"):
        missing.column("temp", number=True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, "", "x", 3], "has numbers, 1 in row 1, and text, 'x' in row 4"),
        (["x", "", None, 2.5], "has text, 'x' in row 1, and numbers, 2.5 in row 4"),
        (["NA", 2.5, b"ab"], "has numbers, 2.5 in row 2, and bytes, b'ab' in row 3"),
        ([None, "", b"ab", "x"], "has bytes, b'ab' in row 3, and text, 'x' in row 4"),
        ([1] * 70_000 + ["x"], "has numbers, 1 in row 1, and text, 'x' in row 70,001"),
        ([""] * 70_000 + [1] * 70_000 + ["x"], "1 in row 70,001, and text, 'x' in row 140,001"),
    ],
)
def test_columns_of_several_types(tmp_path: Path, values: list[Any], said: str) -> None:
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("create table t (x)")
        db.executemany("insert into t values (?)", [(v,) for v in values])
    db.close()
    with pytest.raises(DataError) as error:
        open_table(tmp_path / "a.db", sql="select x from t")
    assert said in str(error.value)
    assert str(error.value).endswith("Cast it in the query.")


def test_numbers_of_sqlite(tmp_path: Path) -> None:
    for values, read in (
        ([1, None, 2], [1, None, 2]),
        ([1, 2.5, 2**60], [1.0, 2.5, float(2**60)]),
        (["", 2**60 + 1, "NA"], [None, 2**60 + 1, None]),
        ([None, None], [None, None]),
        (["", "x", "NA", "n"], [None, "x", None, "n"]),
    ):
        with sqlite3.connect(tmp_path / "a.db") as db:
            db.execute("drop table if exists t")
            db.execute("create table t (x)")
            db.executemany("insert into t values (?)", [(v,) for v in values])
        db.close()
        got = open_table(tmp_path / "a.db", sql="select x from t").read()["x"].to_pylist()
        assert got == read
        assert list(map(type, got)) == list(map(type, read))


# --------------------------------------------------------------------------------- the command line


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same table with nothing, and with -9999, where there is no value."""
    monkeypatch.chdir(tmp_path)
    values = [(k % 3 == 0, (k * 7919) % 4000 / 8 + 80 * (k % 3 == 0)) for k in range(300)]
    for name, mark in (("none.csv", ""), ("mark.csv", "-9999"), ("dash.csv", "--")):
        lines = (f"{y:d},{s},{mark if k % 9 == 5 else s / 3}\n" for k, (y, s) in enumerate(values))
        file(tmp_path / name, "y,s,my x\n" + "".join(lines))
    file(tmp_path / "total.csv", (tmp_path / "none.csv").read_text() + ",120000,\n")
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evaluate", "dash.csv", "--score", "my x"], "Say --missing -- if that stands for a miss"),
        (
            ["evaluate", "none.csv", "--score", "my x"],
            "row 6 of none.csv (line 7) has none. Leave such rows out, --sql 'select * from data "
            'where "my x" is not null\', or fill them in.',
        ),
        (
            ["choose", "none.csv", "--score", "my x", "--engine", "arrow", "--maximize", "f1"],
            "Leave such rows out, --sql 'select * from data where \"my x\" is not null', or fill",
        ),
        (
            ["compare", "none.csv", "--score", "s", "--score", "my x"],
            "Leave such rows out, --sql 'select * from data where \"my x\" is not null', or fill",
        ),
        (
            ["evaluate", "none.csv", "--score", "my x", "--sql", "select * from data"],
            "row 6 of none.csv (by the query 'select * from data') has none. Leave such rows out, "
            'in the query: where "my x" is not null, or fill them in.',
        ),
        (
            ["evaluate", "total.csv", "--score", "s"],
            "'y' must have a value in every row; row 301 of total.csv (line 302), the last, "
            "perhaps with totals, has none. Leave such rows out, --sql 'select * from data where "
            '"y" is not null\'',
        ),
        (
            ["fit", "total.csv"],
            "(line 302), the last, perhaps with totals, has none. Leave such rows out, --sql",
        ),
        (["fit", "none.csv", "--exclude", "s,my x"], "has no column 's,my x', but 's' and 'my x'."),
        (["fit", "none.csv", "--column", "s, x"], "give the option for each."),
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
    with pytest.raises(SystemExit) as error:
        run("fit", "none.csv", "--target", "y", *words)
    assert error.value.code == 2
    assert "--missing: expected one argument" in capsys.readouterr().err
