"""Numbers written as 1.234,56 in CSV: ``decimal=","`` on every way from a file to decisions."""

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
from cutscore.detector import Encoding
from cutscore.errors import DataError
from cutscore.tables import open_table, write_table
from cutscore.tables import text as text_module

NARROW, HARD = "\u202f", "\u00a0"
SIGNS = [".", " ", HARD, NARROW, "'", "’"]


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
        (["1.234,56", "12,5", "NA", "7"], [1234.56, 12.5, None, 7.0]),
        (["1.234", "-12.345.678", "7"], [1234, -12345678, 7]),  # integers stay integers
        (["1.234,0", "7"], [1234.0, 7.0]),
        (["1.234", "2e3"], [1234.0, 2000.0]),
        (["+1.234", "7"], [1234.0, 7.0]),  # as +7 alone, which is a float to pyarrow
        ([" 1.234,5 ", f"{HARD}2{HARD}"], [1234.5, 2.0]),
        (["1.234,5", "1 234,5", "1'234,5", "1234,5"], [1234.5] * 4),
        ([",5", "2,", "1.000,"], [0.5, 2.0, 1000.0]),
        (
            ["1.000.000.000.000.000.000", "7"],
            ["1.000.000.000.000.000.000", "7"],
        ),  # as 10**18 is not
        *(
            (values, values)  # text
            for values in (
                ["31.12.2024", "1.1.2025"],
                ["1.2.3", "1.234"],
                ["3.5", "1.234"],
                ["0.123", "1.234"],
                ["1234.567", "1.234"],
                ["1.23.456", "1.234"],
                ["1.234 567", "1.234"],
                ["1.234.56", "1.234"],
                ["1,234.56", "1,5"],
                ["1,234,567", "1,5"],
                ["1.234,56 €", "1,5"],
                ["12,5", "high"],
                ["1.234", "007"],
                ["007,5", "1,5"],
                [f"{HARD}007", "1,5"],
                ["1. 234", "7"],
            )
        ),
    ],
)
def test_what_is_a_number(tmp_path: Path, values: list[str], read: list[Any]) -> None:
    for between in ";\t|":
        got = column(file(tmp_path / "a.csv", rows(values, between)))
        assert got == read
        assert list(map(type, got)) == list(map(type, read))
    quoted = [f'"{v}"' for v in values if v not in ("", "NA")]
    wanted = [v for v in read if v is not None]
    assert column(file(tmp_path / "q.csv", rows(quoted, ","))) == wanted


def written(value: float, places: int, sign: str) -> str:
    """By Python's own way of grouping digits."""
    return f"{value:,.{places}f}".replace(",", "\0").replace(".", ",").replace("\0", sign)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-(10**14), 10**14), min_size=1, max_size=6),
    st.integers(0, 4),
    st.sampled_from([*SIGNS, ""]),
)
def test_every_number_comes_back(
    tmp_path_factory: Any, values: list[int], places: int, sign: str
) -> None:
    exact = [v / 10**places if places else v for v in values]
    texts = [written(v, places, sign) for v in exact]
    got = column(file(tmp_path_factory.mktemp("d") / "a.csv", rows(texts)))
    assert got == [float(f"{v:.{places}f}") if places else v for v in exact]
    assert {type(v) for v in got} == {float if places else int}


def test_points_are_as_ever(tmp_path: Path) -> None:
    """The default changes nothing, and has no thousands."""
    for values in (["12,5", "3"], ["1.234", "2.5"], ["1.234,5", "2,5"], ["1,234", "2,345"]):
        path = file(tmp_path / "a.csv", rows(values))
        assert open_table(path).read().equals(open_table(path, decimal=".").read())
    assert open_table(file(path, rows(["1.234"]))).read(["x"]).to_pydict() == {"x": [1.234]}
    assert open_table(file(path, rows(["1.234,5"]))).read(["x"]).to_pydict() == {"x": ["1.234,5"]}


def test_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_BLOCK", 1 << 10)
    for first in ("", "1", "1,5", "1.234"):
        for last, read in (("2,5", 2.5), ("1.234,5", 1234.5), ("3.5", "3.5")):
            path = file(tmp_path / "a.csv", rows([first] * 900 + [last]))
            assert column(path)[-1] == read


def test_several_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    for one, other, read in (
        ("7", "1.234", [7, 1234]),
        ("1.234", "1,5", [1234.0, 1.5]),
        ("", "1.234,5", [None, 1234.5]),
        ("1.234", "", [1234, None]),
        ("007", "1.234", ["007", "1.234"]),  # a code in one is one in all
    ):
        file(a, rows([one]))
        file(b, "z|x\n" + f"b|{other}\n")
        got = column([a, b])
        assert got == read
        assert list(map(type, got)) == list(map(type, read))
    codes = open_table([a, file(b, rows(["1.234,5"]))], decimal=",")
    assert codes.column("x", number=True).tolist() == [7.0, 1234.5]
    long = open_table(file(a, rows(["1.000.000.000.000.000.001", "7"])), decimal=",")
    with pytest.raises(DataError, match="may coincide with its neighbours"):
        long.column("x", number=True)


def test_names(tmp_path: Path) -> None:
    one = file(tmp_path / "a.csv", "x\n1,5\n1.234,5\n")  # nothing tells what separates columns
    assert column(one) == [1.5, 1234.5]
    file(one, "x, net, all;z\n1,5;b\n")
    assert open_table(one, decimal=",").names == ["x, net, all", "z"]
    for first in ("0,5;1,5", "x;1.234,5"):
        with pytest.raises(DataError, match=r"first line .* must hold the names"):
            open_table(file(one, f"{first}\n0,5;2,5\n"), decimal=",")
    assert column(one, "c1", header=False) == ["x", "0,5"]
    assert column(one, "c2", header=False) == [1234.5, 2.5]


# --------------------------------------------------------------------------------------- bad values


def test_bad_signs(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", rows(["1,5"]))
    for bad in (";", "", ",,", None, 1):
        with pytest.raises(DataError, match=r"the decimal sign must be a point or a comma; it is"):
            open_table(path, decimal=bad)  # type: ignore[arg-type]
    for both in ".,":
        with pytest.raises(DataError, match=f"must differ from the separator; both are '{both}'"):
            open_table(path, decimal=both, separator=both)
    for name in ("t.parquet", "t.jsonl", "t.arrow"):
        write_table(tmp_path / name, {"x": [1.5]})
        format = name[2:]
        with pytest.raises(DataError, match=rf"said of CSV only; .*{name} is {format}\. Leave dec"):
            open_table(tmp_path / name, decimal=",")
        with pytest.raises(DataError, match="separator, header and decimal say how"):
            open_table(tmp_path / name, decimal=",", sql="from data")
        assert open_table(tmp_path / name, decimal=".").names == ["x"]
    with pytest.raises(DataError, match="separator, header and decimal say how"):
        open_table(sql="select 1 as x", decimal=",")


SAY = r' Say decimal="," if numbers are written as 1\.234,56 there\.$'
LEAVE = r' Leave decimal="," out if numbers are written as 1234\.56 there\.$'


def test_the_way_out_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for values, decimal, way in (
        (["1.234,5", "2,5"], ".", SAY),
        (["1.234", "1.234,5"], ".", SAY),
        (["1,234", "2,345"], ".", SAY),
        (["3.5", "12,5"], ".", r"another column\.$"),  # one among others
        (["high", "12,5"], ".", r"another column\.$"),
        (["3.5", "2.5"], ",", LEAVE),
        (["12,5", "3.5"], ",", r"another column\.$"),
    ):
        file(path, rows(values))
        for options in ({}, {"sql": "from data"}):
            source = open_table(path, decimal=decimal, **options)
            with pytest.raises(DataError, match="'x' must hold numbers; row [12] of .*" + way):
                source.column("x", number=True)
        if way.startswith(" "):
            with pytest.raises(DataError, match="'x' must hold numbers; row [12] of .*" + way):
                open_table(path, decimal=decimal).pieces(["x"], numbers=["x"])
        else:
            assert len(open_table(path, decimal=decimal).pieces(["x"], numbers=["x"])) == 1


def test_columns_of_a_detector(tmp_path: Path) -> None:
    """What was a number in training is refused as text, never taken for something missing."""
    path = tmp_path / "a.csv"
    numbers = [written(1000.5 + 37 * k, 2, ".") for k in range(60)]
    table = "x;n;y\n" + "".join(f"{v};{k % 7};{k % 2}\n" for k, v in enumerate(numbers))
    source = open_table(file(path, table), decimal=",")
    e = Encoding.fit(source, target="y")
    assert e.names == ["x", "n"]
    assert e.warnings == ()
    assert e.transform(source).shape == (60, 2)
    with pytest.raises(DataError, match=r"'x' must hold numbers; row 1 has '1\.000,50'.*" + SAY):
        e.transform(open_table(path))
    pointed = file(tmp_path / "b.csv", table.replace(".", "").replace(",", "."))
    with pytest.raises(DataError, match=r"'x' must hold numbers; row 1 has '1000\.50'.*" + LEAVE):
        e.transform(open_table(pointed, decimal=","))
    # Of a frame nobody knows where it came from.
    with pytest.raises(DataError, match=r"Convert the column, or correct that row\.$"):
        e.transform({"x": numbers, "n": [1] * 60})

    (warning,) = Encoding.fit(open_table(path), target="y").warnings
    way = 'say --decimal , (in Python decimal=",") if all are written as 1.234,56, or leave it out'
    assert way in warning
    (warning,) = Encoding.fit(open_table(pointed, decimal=","), target="y").warnings
    assert "leave --decimal , out if all are written as 1234.56, or leave it out" in warning
    assert "--number" not in warning
    dirty = open_table(file(path, table + "k.A.;1;0\n"), decimal=",")
    (warning,) = Encoding.fit(dirty, target="y").warnings
    assert "the first that is not is 'k.A.'" in warning
    assert "--decimal" not in warning  # that is said already


def test_a_title_with_a_separator_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    table = "a,b,y\n1,2,0\n3,4,1\n"
    for above in ("Sales, 2024\n", "Sales, 2024\n\n", "Sales, 2024\nby, me\n"):
        with pytest.raises(
            DataError, match=r"has 3\. Correct that line; .* If line 1 is a title: "
        ) as e:
            open_table(file(path, above + table)).read()
        assert str(e.value).endswith("is a title: delete what is above the names of the columns.")
    for fine in (table + "1,2,3,4\n", table + "1,2,3,4\n1,2,3\n", table + "1,2\n1,2\n"):
        with pytest.raises(DataError, match=r"Correct that line; a value with .* needs quotes\.$"):
            open_table(file(path, fine)).read()


# --------------------------------------------------------------------------------- the command line


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same table with points and with commas; scores and labels that overlap."""
    monkeypatch.chdir(tmp_path)
    values = [(k % 3 == 0, (k * 7919) % 4000 + 900.25 + 800 * (k % 3 == 0)) for k in range(300)]
    file(tmp_path / "point.csv", "y,s\n" + "".join(f"{y:d},{s}\n" for y, s in values))
    commas = "".join(f"{y:d};{written(s, 2, '.')}\n" for y, s in values)
    file(tmp_path / "comma.csv", "y;s\n" + commas)
    return tmp_path


def run(*words: str) -> int:
    return main(list(words))


def test_every_command_reads_it(tables: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(*words: str) -> None:
        printed = []
        for path, sign in (("point.csv", "."), ("comma.csv", ",")):
            assert run(words[0], path, *words[1:], "--decimal", sign, "-q") == 0
            printed.append(capsys.readouterr().out.replace(path, "FILE"))
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
    ("words", "code", "said"),
    [
        ("evaluate comma.csv --label y --score s", 1, "Say --decimal , if numbers are written as"),
        (
            "evaluate comma.csv --label y --score s --engine arrow",
            1,
            "row 1 of comma.csv (line 2) has '1.700,25'. Correct it, or name another column. Say",
        ),
        ("apply m.json comma.csv --keep y -o o.csv", 1, "Say --decimal , if numbers are written"),
        ("evaluate point.csv --label y --score s --decimal ,", 1, "Leave --decimal , out if"),
        ("evaluate comma.csv --decimal ;", 2, "must be a point or a comma; it is ';'."),
        ("evaluate comma.csv --decimal , --separator ,", 2, "must differ from the separator; both"),
        (
            "evaluate point.csv --label y --score s --cost fp=1,5,fn=20",
            2,
            "they are 'fp=1,5,fn=20'. Numbers have a point, not a comma: write fp=1.5.",
        ),
        (
            "evaluate point.csv --label y --score s --cost fp=1,fn=20,5",
            2,
            "Numbers have a point, not a comma: write fn=20.5.",
        ),
        ("evaluate point.csv --label y --score s --cost fp=1,x,fn=2", 2, "they are 'fp=1,x,fn=2'."),
        ("evaluate point.csv --label y --score s --cost 5,fn=2", 2, "they are '5,fn=2'."),
    ],
)
def test_what_is_said(tables: Path, capsys: Any, words: str, code: int, said: str) -> None:
    if words.startswith("apply"):
        assert run("fit", "comma.csv", "--target", "y", "--decimal", ",", "-q", "-o", "m.json") == 0
        capsys.readouterr()
    assert run(*words.split()) == code
    error = capsys.readouterr().err
    assert said in error
    assert ("Numbers have a point" in error) == ("Numbers have a point" in said)
    assert not (tables / "o.csv").exists()
