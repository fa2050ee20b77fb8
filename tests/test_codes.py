"""Codes with zeros in front and long whole numbers: from the file to decisions."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutscore as cs
from cutscore.cli import main
from cutscore.detector import Detector, Encoding
from cutscore.tables import open_table, parts, write_table
from cutscore.training import train
from raising import finding

LONG = 12345678901234567890
STAMP = "timestamp[us]"


def file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def column(path: Any, name: str = "x", **options: Any) -> list[Any]:
    """A column as read() and batches() give it, which must be the same."""
    read = open_table(path, **options).read([name])
    source = open_table(path, **options)
    assert pa.Table.from_batches(source.batches([name])).equals(read)
    assert source.schema.field(name).type == read.schema.types[0]
    return read.column(name).to_pylist()


# --------------------------------------------------------------------------------------- the types


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["007", "07", "7"], ["007", "07", "7"]),
        (["7", "", "-07"], ["7", None, "-07"]),
        (["1", " 02"], ["1", " 02"]),
        (["1", "+02"], ["1", "+02"]),
        (["1", '"02"'], ["1", "02"]),
        (["1.5", "00.5"], ["1.5", "00.5"]),
        (["1", "00"], ["1", "00"]),
        (["1", "0x1F"], ["1", "0x1F"]),
        (["1", "0", "-0"], [1, 0, 0]),
        (["0.5", "-0.5", "0", "0e3"], [0.5, -0.5, 0, 0]),
        (["1", "10", "100.0"], [1, 10, 100]),
        (["1.05", "2.005"], [1.05, 2.005]),
        (["1", str(2**63 - 1)], [1, 2**63 - 1]),
        (["1", str(LONG), str(LONG + 1)], ["1", str(LONG), str(LONG + 1)]),
        (["1.5", str(LONG)], ["1.5", str(LONG)]),
        (["1.5", str(2**53)], [1.5, float(2**53)]),
        (["1.5", str(2**53 + 1)], ["1.5", str(2**53 + 1)]),
        (["1e30", f"{LONG}.0"], [1e30, float(LONG)]),
        (["0.1234567890123456789012", "1"], [0.12345678901234568, 1.0]),
    ],
)
def test_what_would_lose_digits_is_text(tmp_path: Path, values: list[str], read: list[Any]) -> None:
    path = file(tmp_path / "a.csv", "x,y\n" + "".join(f"{v},a\n" for v in values))
    assert column(path) == read
    assert open_table(path).column("y").tolist() == ["a"] * len(values)
    path = file(tmp_path / "b.csv", "y,x\n" + "".join(f"a,{v}\r\n" for v in values).rstrip())
    assert column(path) == read


@pytest.mark.parametrize("at", [0, 499, 500, 999])
@pytest.mark.parametrize("packed", [False, True])
def test_one_code_far_down_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, packed: bool
) -> None:
    monkeypatch.setattr(parts, "BLOCK", 1 << 10)
    values = [str(k) for k in range(1000)]
    values[at] = "007"
    text = "n,x,t\n" + "".join(f"{k},{v},a {v}\n" for k, v in enumerate(values))
    path = file(tmp_path / "a.csv", text)
    if packed:
        path = tmp_path / "a.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
    assert column(path) == values
    assert column(path, "n") == list(range(1000))
    assert column(path, "t") == [f"a {v}" for v in values]
    source = open_table(path)
    _, batch = next(source.pieces(["x"])[0].read())
    assert batch.schema.types == [pa.string()]
    assert source.column("x", number=True)[at] == 7


def test_codes_in_one_of_several_files_are_codes_in_all(tmp_path: Path) -> None:
    one = file(tmp_path / "a.csv", "x,n\n12,1\n13,2\n")
    two = file(tmp_path / "b.csv", "x,n\n007,3\n")
    none = file(tmp_path / "c.csv", "x,n\n,4\n")
    for files in ([one, two], [two, one], [one, none, two, none]):
        assert {v for v in column(files) if v} == {"12", "13", "007"}
    both = open_table([one, two])
    assert both.column("x", number=True).tolist() == [12, 13, 7]
    assert both.column("x").tolist() == ["12", "13", "007"]
    assert both.column("n").tolist() == [1, 2, 3]
    assert [b.to_pydict() for b in both.batches(["x"], numbers=["x"])] == [
        {"x": [12, 13]},
        {"x": [7]},
    ]
    # Text that is no code at all is still another type.
    word = file(tmp_path / "d.csv", "x,n\nhigh,3\n")
    with finding("types-differ", column="x"):
        open_table([one, word]).read()
    with finding("value-unfit", value="high", column="x", row=0, file=str(word)):
        open_table([two, word]).column("x", number=True)


fields = st.one_of(
    st.from_regex(r"[+-]?[0-9]{1,4}(\.[0-9]{0,2})?", fullmatch=True),
    st.from_regex(r"0?[0-9]{18,20}", fullmatch=True),
    st.sampled_from(["", "NA", "0", "007", "a", "2020-01-02", "x 05", "-0.5", "1e5", "12:05"]),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(fields, fields), min_size=1, max_size=8), st.sampled_from(",;\t"))
def test_against_a_plain_loop(
    tmp_path_factory: Any, rows: list[tuple[str, str]], between: str
) -> None:
    path = tmp_path_factory.mktemp("c") / "a.csv"
    path.write_text(f"x{between}y\n" + "".join(f"{a}{between}{b}\n" for a, b in rows))
    for k, name in enumerate("xy"):
        given_ = [row[k] for row in rows if row[k] not in ("", "NA")]
        coded = any(re.match(r"[+-]?0[0-9]", v) for v in given_)
        got = column(path, name, separator=between)
        if coded:
            assert [v for v in got if v is not None] == given_
        numbers = [v for v in got if isinstance(v, (int, float))]
        if all(isinstance(v, int) for v in numbers):  # floats round; whole numbers never do
            assert numbers == [] or [str(v) for v in numbers] == [
                str(int(v)) for v in given_ if v not in ("", "NA")
            ]
        whole = given_ and all(re.fullmatch(r"[+-]?[0-9]+", v) for v in given_)
        if whole:
            assert len({str(v) for v in got if v is not None}) >= len({int(v) for v in given_})


def test_queries_read_the_same(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    text = "x;it's;z\n" + "7;1.25;a\n" * 30_000 + "007;3.5;b\n"
    path = file(tmp_path / "a'b.csv", text)
    q = "select * from data where z = 'b' or x = '7' limit 30001"
    assert open_table(path, sql=q).read().equals(open_table(path).read())
    assert open_table(path).read().slice(29_999).to_pydict() == {
        "x": ["7", "007"],
        "it's": [1.25, 3.5],
        "z": ["a", "b"],
    }
    long = file(tmp_path / "l.tsv", f"x\ty\n{LONG}\t1\n{LONG + 1}\t2\n")
    q = "select x, sum(y) as y from data group by x order by y"
    assert open_table(long, sql=q).column("x").tolist() == [str(LONG), str(LONG + 1)]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("007,1.5,x\n8,2.5,y\n", {"header": False}),
        ("a,,z\n1,007,x\n2,8,y\n", {}),
        ("a, b,z\n1,007,x\n2,8,y\n", {}),
        ("s;z\n1,5;x\nNA;y\n;\n", {}),
        ("s;z\n1,5;x\n", {"separator": ";"}),
        ("s,t|z\n1,5|NA\n2,0|null\n", {"separator": "|", "decimal": ","}),
        ('c,n\nNA,1\n"NA",2\nN/A,NaN\n', {}),
        ("'a,b'\n1,007\n", {"header": False}),
    ],
)
def test_queries_read_odd_files_the_same(
    tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    pytest.importorskip("duckdb")
    path = file(tmp_path / "a.csv", text)
    wanted = open_table(path, **options).read()
    got = open_table(path, sql="from data", **options).read()
    assert got.to_pydict() == wanted.to_pydict()


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("d,e\n31/12/2024,01/11/2024\n01/11/2024,02/11/2024\n", ["string", "string"]),
        ("d,e\n01/11/2024,12/31/2024\n02/11/2024,1.2.2024\n", ["string", "string"]),
        ("a,b,c\nt,yes,true\nf,no,1\n", ["string", "string", "bool"]),
        ("a,b\n true,TRUE\nNA,0\nfalse,\n", ["bool", "bool"]),
        ("d,t\n2024-11-01,2024-11-01 03:04\n2024-12-31,2024-11-01\n", ["date32[day]", STAMP]),
        ("t,z\n2024-11-01 03,1\n2024-11-01T04,2\n2024-11-01 03:04:05,3\n", [STAMP, "int64"]),
        ("t,z\n2024-11-01T03:04:05.123456789,1\n2024-11-01,2\n", ["timestamp[ns]", "int64"]),
        ("x,y\n 1.5 ,+3\n-Infinity,4\n1e400,5\n", ["double", "double"]),
        ("x,y\n12, 7 \nNA,8\n", ["int64", "int64"]),
        ('#a,b\n#1," x "\n# 2,"a ""b"" c\\"\n', ["string", "string"]),
    ],
)
def test_queries_guess_no_types(tmp_path: Path, text: str, types: list[str]) -> None:
    pytest.importorskip("duckdb")
    path = file(tmp_path / "a.csv", text)
    wanted = open_table(path).read()
    assert [str(t) for t in wanted.schema.types] == types
    got = open_table(path, sql="from data")
    assert got.schema == wanted.schema
    assert got.read().equals(wanted)


def test_queries_read_times_with_a_zone_and_empty_columns(tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("duckdb")
    text = "t,k,n,z\n2024-11-01T03:04:05+02:00,03:04:05,,1\n2024-11-01 03Z,04:05:06,NA,2\n"
    path = file(tmp_path / "a.csv", text)
    monkeypatch.setenv("TZ", "America/New_York")
    got, wanted = open_table(path, sql="from data").read(), open_table(path).read()
    assert got.schema.field("t").type == pa.timestamp("us", "UTC")
    assert got.to_pydict() == wanted.to_pydict()


def test_queries_have_types_that_all_files_share(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    a = file(tmp_path / "a.csv", "x,d,n\n1,2024-11-01,\n")
    b = file(tmp_path / "b.csv", "x,d,n\n2.5,2024-11-01 03:04:05,3\n")
    got = open_table([a, b], sql="from data order by x").read()
    assert got.equals(open_table([a, b]).read())


def test_a_query_reads_a_table_twice(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    text = "x,y\n" + "".join(f"{k},{k % 3}\n" for k in range(1000))
    sql = "select a.x from data a join data b on a.x = b.x where b.y = 0 order by a.x"
    source = open_table(file(tmp_path / "a.csv", text), sql=sql)
    assert source.column("x").tolist() == list(range(0, 1000, 3))


def test_queries_over_several_files_of_csv(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    paths = [file(tmp_path / "a.csv", "x,y\n007,1\n"), file(tmp_path / "b.csv", "y,x\n2,7\n")]
    q = "select x, y from data order by y"
    assert open_table(paths, sql=q).read().to_pydict() == {"x": ["007", "7"], "y": [1, 2]}
    file(paths[1], "x;y\n7;2.5\n")
    assert open_table(paths, sql=q).read().to_pydict() == {"x": ["007", "7"], "y": [1, 2.5]}
    file(paths[1], "x;z\n7;2\n")
    with finding("files-differ", column="y", has=str(paths[0]), lacks=str(paths[1])):
        open_table(paths, sql=q)
    for options in ({"separator": ";"}, {"header": False}):
        with finding("arguments-conflict", parameters=(next(iter(options)), "format")):
            open_table(sql=f"from '{paths[0]}'", **options)


@pytest.mark.parametrize("between", [",", ";"])
def test_scores_too_long_to_be_told_apart_are_refused(tmp_path: Path, between: str) -> None:
    """As integers of 64 bits are: floats would make two of them one."""
    path = file(tmp_path / "a.csv", f"y{between}s\n0{between}5\n1{between}{LONG}\n")
    wanted = {"value": str(LONG), "column": "s", "row": 1, "file": str(path)}
    with finding("number-inexact", **wanted):
        open_table(path).columns(["y", "s"], numbers=["s"])
    with finding("number-inexact", **wanted):
        cs.sweep_file(path, label="y", score="s")
    # Of a detector's column the last digits are lost, which does no harm.
    (batch,) = open_table(path).batches(["s"], numbers=["s"])
    assert batch.column(0).to_pylist() == [5.0, float(LONG)]
    exact = file(tmp_path / "b.csv", f"s\n{2**53:020d}\n-5\n")
    assert open_table(exact).column("s", number=True).tolist() == [2.0**53, -5]


def test_scores_with_fractions_here_and_zeros_there(tmp_path: Path) -> None:
    a = file(tmp_path / "a.csv", "y;s\n1;1.5\n")
    b = file(tmp_path / "b.csv", "y;s\n0;05\n")
    for paths in ([a, b], [b, a]):
        scores = open_table(paths).column("s", number=True)
        assert sorted(scores.tolist()) == [1.5, 5.0]
    assert cs.sweep_file([a, b], label="y", score="s").auc == 0
    file(b, "y;s\n0;05\n1;0x1F\n")
    with finding("value-unfit", value="0x1F", column="s", row=1, file=str(b)):
        open_table(b).column("s", number=True)
    with finding("types-differ", column="s"):
        open_table([a, b]).column("s", number=True)


def test_groups_that_are_long_numbers_stay_apart(tmp_path: Path) -> None:
    text = '{"g": 9007199254740993, "s": 1}\n{"g": 1.5, "s": 2}\n'
    with finding("number-inexact", value=9007199254740993, column="g", row=0):
        open_table(file(tmp_path / "a.jsonl", text))
    floats = pa.table({"g": [float(LONG), 1.0]})
    write_table(tmp_path / "f.parquet", floats)
    with finding("number-inexact", column="g", row=0):
        open_table(tmp_path / "f.parquet").column("g")
    wide = pa.table({"g": pa.array([LONG, LONG + 1], pa.decimal128(38, 0)), "s": [1, 2]})
    write_table(tmp_path / "a.parquet", wide)
    source = open_table(tmp_path / "a.parquet")
    assert source.column("g").tolist() == [str(LONG), str(LONG + 1)]
    assert source.column("g", number=True).tolist() == [float(LONG)] * 2
    short = pa.table({"y": pa.array([0, 1], pa.decimal128(38, 0)), "s": [1, 2]})
    write_table(tmp_path / "b.parquet", short)
    assert open_table(tmp_path / "b.parquet").column("y").tolist() == [0, 1]


# ------------------------------------------------------------------------------ from end to end


def branches(path: Path, between: str = ",", n: int = 600) -> Path:
    """Branches 007, 07 and 7 differ in their share of positives; a decimal number; a long id."""
    rng = np.random.default_rng(5)
    rows = [["branch", "amount", "unit", "y"]]
    for k in range(n):
        code = ("007", "07", "7")[k % 3]
        y = int(rng.random() < {"007": 0.1, "07": 0.5, "7": 0.9}[code])
        amount = f"{rng.normal() + y:.3f}"
        rows.append([code, amount.replace(".", "," if between != "," else "."), LONG + k // 3, y])
    return file(path, "".join(between.join(map(str, row)) + "\n" for row in rows))


@pytest.mark.parametrize("between", [",", ";"])
@pytest.mark.parametrize("engine", ["memory", "arrow"])
def test_codes_from_the_file_to_every_decision(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    between: str,
    engine: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = branches(tmp_path / "t.csv", between)
    sign = ["--decimal", "," if between == ";" else "."]
    words = ["fit", "t.csv", "--target", "y", "--unit", "unit", "--learner", "logistic", "-q"]
    assert main([*words, *sign, "--engine", engine, "-o", "m.json"]) == 0
    d = Detector.load("m.json")
    assert d.columns == ["branch", "amount"]
    assert set(d.scorer.terms[0].column.levels) == {"007", "07", "7"}
    capsys.readouterr()
    kept = ["--keep", "branch", "--keep", "unit"]
    assert main(["apply", "m.json", "t.csv", *sign, *kept, "-q"]) == 0
    decided = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    raw = list(csv.DictReader(path.read_text().splitlines(), delimiter=between))
    assert [row["branch"] for row in decided] == [row["branch"] for row in raw]
    assert [row["unit"] for row in decided] == [row["unit"] for row in raw]
    flags = [row["decision"] == "true" for row in decided]
    assert 0.2 < np.mean(flags) < 0.8
    share = {
        code: np.mean([f for f, row in zip(flags, raw, strict=True) if row["branch"] == code])
        for code in ("007", "07", "7")
    }
    assert share["007"] < share["07"] < share["7"]
    # As SQLite's own .import stores it: all of it text.
    assert main(["export", "m.json", "--to", "sql", "--dialect", "sqlite", "--table", "t"]) == 0
    query = capsys.readouterr().out
    with sqlite3.connect(":memory:") as base:
        base.execute("create table t (branch text, amount text, unit text, y text)")
        base.executemany("insert into t values (?, ?, ?, ?)", [list(r.values()) for r in raw])
        base.execute("update t set amount = replace(amount, ',', '.')")  # as the docs say
        assert [bool(row[-1]) for row in base.execute(query)] == flags
    base.close()
    duckdb = pytest.importorskip("duckdb")
    assert main(["export", "m.json", "--to", "sql", "--dialect", "duckdb", "--table", "t"]) == 0
    query = capsys.readouterr().out
    with duckdb.connect() as base:
        point = ", decimal_separator=','" if between == ";" else ""
        types = "types={'branch': 'VARCHAR', 'unit': 'VARCHAR'}"
        base.sql(f"create table t as from read_csv('t.csv', {types}{point})")
        assert [row[-1] for row in base.sql(query).fetchall()] == flags


def test_groups_of_codes_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = branches(tmp_path / "t.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    for engine in ("memory", "arrow"):
        for group in ("branch", "unit"):
            words = ["evaluate", str(path), "--label", "y", "--score", "amount", "--json", "-q"]
            assert main([*words, "--group", group, "--engine", engine]) == 0
            found = json.loads(capsys.readouterr().out)["groups"]["scores"][0]["groups"]
            assert {one["group"] for one in found} == {row[group] for row in rows}


def test_a_model_of_numbers_takes_zeros_in_front(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 400)
    table = {"x": x, "y": (x + rng.normal(size=400) * 30 > 50).astype(int)}
    d = train(table, "y", learner="fisher").detector
    new = open_table(file(tmp_path / "new.csv", "x,id\n007,1\n42,2\n"))
    assert d.scores(new).tolist() == d.scores({"x": [7.0, 42.0]}).tolist()
    assert d.apply(new, keep=["id"])["id"].to_pylist() == [1, 2]
    coded = open_table(file(tmp_path / "c.csv", "x,y\n" + "05,0\n9,1\n3.5,0\n" * 30))
    assert Encoding.fit(coded, target="y").columns[0].kind == "category"
    t = train(coded, "y", learner="fisher", numbers=["x"])
    assert t.encoding.features == ["x"]
    assert t.detector.decide(coded).tolist() == [False, True, False] * 30
    assert cs.sweep(coded.column("y"), coded.column("x", number=True)).auc == 1


def test_running_numbers_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = branches(tmp_path / "t.csv").read_text().splitlines()
    text = "".join(f"{k or 'id'},{row}\n" for k, row in enumerate(rows))
    file(tmp_path / "t.csv", text)
    words = ["fit", "t.csv", "--target", "y", "--learner", "fisher", "-q", "-o", "m.json"]
    assert main(words) == 0
    assert Detector.load("m.json").columns == ["branch", "amount"]
    assert main([*words, "--number", "id"]) == 0
    assert Detector.load("m.json").columns == ["id", "branch", "amount"]
    assert main([*words, "--column", "id", "--column", "branch"]) == 0
    assert Detector.load("m.json").columns == ["id", "branch"]
