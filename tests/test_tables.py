"""Tables in files: every format in and out, and one clear sentence for everything that is wrong."""

from __future__ import annotations

import bz2
import errno
import gc
import gzip
import io
import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, ipc

import cutscore as cs
from cutscore.core.errors import DataError
from cutscore.core.files import written_aside
from cutscore.core.findings import Finding, Where
from cutscore.core.findings.tables import SeparatorFound
from cutscore.tables import Table, open_table, parts, write_table
from cutscore.tables.parts import Format
from cutscore.training import train
from raising import finding

TABLE = pa.table(
    {
        "y": pa.array([1, 0, 1, 0], pa.int64()),
        "s": [0.9, 0.4, 0.35, 0.1],
        "colour": ["red", "blue", "red", None],
        "ok": [True, False, None, True],
    }
)
# Names that break quoting, terminals and HTML.
HOSTILE = [
    "<script>alert(1)</script>",
    'a"b',
    "a'b",
    "a\nb",
    "a,b",
    "\u202ertl\u05d0",
    "a.b",
    "a",
    "--",
    "$x `y`",
    "=1+1",
    " ",
    "x" * 300,
]


def everything(source: Table) -> pa.Table:
    """All rows by batches, which must be what read() gives."""
    streamed = pa.Table.from_batches(source.batches())
    read = source.read()
    assert streamed.equals(read)
    assert read.schema.equals(source.schema)
    assert source.names == read.schema.names
    return read


# ------------------------------------------------------------------------------------ round trips


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "feather", "jsonl", "orc"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    name = f"t.{suffix}"
    assert write_table(tmp_path / name, TABLE) == 4
    assert everything(open_table(tmp_path / name)).equals(TABLE)
    two = open_table(tmp_path / name).read(["ok", "y"])
    assert two.equals(TABLE.select(["ok", "y"]))
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.arrow", "t.jsonl", "t.orc"])
@pytest.mark.parametrize("format", [None, "named"])
def test_format_by_content(tmp_path: Path, name: str, format: str | None) -> None:
    write_table(tmp_path / name, TABLE)
    bare = tmp_path / "table.dat"
    (tmp_path / name).rename(bare)
    source = open_table(bare, format=name.partition(".")[2] if format else None)
    assert source.read().equals(TABLE)


@settings(max_examples=40)
@given(data=st.data(), suffix=st.sampled_from(["csv", "parquet", "arrow", "jsonl"]))
def test_any_table_comes_back(tmp_path_factory: Any, data: st.DataObject, suffix: str) -> None:
    words = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8)
    named = words.filter(lambda name: bool(name.strip()))
    names = data.draw(st.lists(named, min_size=1, max_size=4, unique=True))
    rows = data.draw(st.integers(1, 6))
    columns: dict[str, pa.Array] = {}
    for name in names:
        whole = st.integers(-(2**53), 2**53)
        # A letter in front: "1" in a file is a number again, wherever it came from.
        kind = data.draw(st.sampled_from(["int", "float", "text", "bool"]))
        value = {
            "int": whole,
            "float": st.floats(allow_nan=False, allow_infinity=False, width=64),
            "text": words.map(lambda w: "v" + w),
            "bool": st.booleans(),
        }[kind]
        drawn = data.draw(st.lists(value, min_size=rows, max_size=rows))
        columns[name] = pa.array(drawn)
    table = pa.table(columns)
    path = tmp_path_factory.mktemp("t") / f"t.{suffix}"
    write_table(path, table)
    back = open_table(path).read()
    assert back.schema.names == table.schema.names
    for name in names:
        # 5.0 is written as 5 in CSV.
        assert back.column(name).cast(table.schema.field(name).type).equals(table.column(name))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_hostile_names(tmp_path: Path, suffix: str) -> None:
    names = [n for n in HOSTILE if n.strip()]
    table = pa.table({name: [k, k + 1] for k, name in enumerate(names)})
    path = tmp_path / f"t.{suffix}"
    write_table(path, table)
    source = open_table(path)
    assert everything(source).equals(table)
    for k, name in enumerate(names):
        assert source.column(name).tolist() == [k, k + 1]
        assert next(iter(source.batches([name]))).schema.names == [name]


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path: Path) -> None:
    wide = pa.table({f"c{k}": [k, -k] for k in range(10_000)})
    for suffix in ("csv", "parquet"):
        write_table(tmp_path / f"w.{suffix}", wide)
        source = open_table(tmp_path / f"w.{suffix}")
        assert len(source.names) == 10_000
        assert source.read(["c9999", "c3"]).to_pydict() == {"c9999": [9999, -9999], "c3": [3, -3]}
        with finding("column-missing", column="c10001"):
            source.read(["c10001"])


# ------------------------------------------------------------------------------------------- text


def csv(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_missing_values_in_csv(tmp_path: Path) -> None:
    t = open_table(csv(tmp_path / "a.csv", 'n,t\n1,x\n,\nNA,NA\nnan,"NA"\n2.5,""\n')).read()
    assert t.to_pydict() == {"n": [1, None, None, None, 2.5], "t": ["x", None, None, "NA", None]}


def test_quotes_and_marks(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfa,b\r\n"x, ""y""\nz",1\r\n'
    assert open_table(csv(tmp_path / "a.csv", text)).read().to_pydict() == {
        "a": ['x, "y"\nz'],
        "b": [1],
    }


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_separators_are_found_and_said(tmp_path: Path, between: str) -> None:
    source = open_table(csv(tmp_path / "a.csv", f"a{between}b\n1{between}2,5\n"))
    assert source.names == ["a", "b"]
    assert source.notes == [SeparatorFound(between, where=Where(file=str(tmp_path / "a.csv")))]
    asked = open_table(csv(tmp_path / "a.csv", f"a{between}b,c\n1{between}2,5\n"), separator=",")
    assert asked.names == [f"a{between}b", "c"]


def test_no_header(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", "0.5,1\n-1,0\n")
    assert open_table(path, header=False).read().to_pydict() == {"c1": [0.5, -1], "c2": [1, 0]}
    assert open_table(path).read().to_pydict() == {"0.5": [-1], "1": [0]}


def test_blank_lines(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", '\n\n"a\nb",c\n\n1,2\n\n3,4\n\n')
    assert everything(open_table(path)).to_pydict() == {"a\nb": [1, 3], "c": [2, 4]}
    csv(path, "\n1,2\n\n3,4\n")
    assert open_table(path, header=False).read().to_pydict() == {"c1": [1, 3], "c2": [2, 4]}


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    source = open_table(csv(tmp_path / "a.csv", ",x\n0,5\n1,6\n"))
    assert source.names == ["column 1", "x"]
    assert source.notes[0].code == "columns-unnamed"
    assert source.read(["column 1"]).to_pydict() == {"column 1": [0, 1]}


@pytest.mark.parametrize(
    ("last", "type"),
    [
        ("7", pa.int64()),
        ("7.5", pa.float64()),
        ("seven", pa.string()),
        ("", pa.int64()),
        ("2020-01-05", pa.string()),
    ],
)
def test_types_fit_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, type: pa.DataType
) -> None:
    monkeypatch.setattr(parts, "BLOCK", 200)
    path = csv(tmp_path / "a.csv", "x,y\n" + "3,1\n" * 500 + f"{last},0\n")
    source = open_table(path)
    assert everything(source).schema.field("x").type == type
    assert pa.Table.from_batches(open_table(path).batches()).equals(open_table(path).read())


@pytest.mark.parametrize(
    ("first", "last", "type"),
    [
        ("", "7", pa.int64()),
        ("", "1.5", pa.float64()),
        ("", "x", pa.string()),
        ("", "true", pa.bool_()),
        ("", "2020-01-01", pa.date32()),
        ("2020-01-01", "2020-01-01 10:00:00", pa.timestamp("us")),
        ("true", "maybe", pa.string()),
        ("", "", pa.null()),
    ],
)
def test_types_after_many_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, last: str, type: pa.DataType
) -> None:
    monkeypatch.setattr(parts, "BLOCK", 300)
    path = csv(tmp_path / "a.csv", "x,y\n" + f"{first},1\n" * 400 + f"{last},0\n")
    streamed = pa.Table.from_batches(open_table(path).batches())
    assert streamed.schema.field("x").type == type
    assert streamed.num_rows == 401


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed(tmp_path: Path, pack: Any) -> None:
    for name, text in (
        ("a.csv", "a,b\n1,2\n"),
        ("a.jsonl", '{"a": 1, "b": 2}\n'),
        ("a.libsvm", "1 1:5 2:6\n"),
    ):
        for shown_as in (f"{name}.gz", "plain"):
            path = csv(tmp_path / shown_as, pack(text.encode()))
            t = open_table(path).read()
            assert t.num_rows == 1
            assert list(t.to_pydict().values())[-1] in ([2], [6])


def test_json_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "BLOCK", 64)
    lines = [json.dumps({"a": k}) for k in range(50)] + ['{"a": 0.5, "b": "x"}', "", '{"b": "é"}']
    source = open_table(csv(tmp_path / "a.jsonl", "\n".join(lines)))
    t = everything(source).to_pydict()
    assert t["a"] == [*map(float, range(50)), 0.5, None]
    assert t["b"] == [None] * 50 + ["x", "é"]
    assert source.read(["b"]).column("b").to_pylist() == t["b"]


def test_libsvm(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.libsvm", "1 1:0.5 3:2\n0\n-1 2:-1e3 # a comment\n+1 3:4\n")
    source = open_table(path)
    assert source.is_sparse
    assert source.names == ["label", "1", "2", "3"]
    X, y = source.sparse()
    assert X.toarray().tolist() == [[0.5, 0, 2], [0, 0, 0], [0, -1000, 0], [0, 0, 4]]
    assert y.tolist() == [1, 0, -1, 1]
    dense = everything(source)
    assert (
        np.column_stack([dense.column(k).to_numpy() for k in "123"]).tolist()
        == X.toarray().tolist()
    )
    # A feature that no row has is 0.
    assert source.read(["7", "label"]).to_pydict() == {"7": [0] * 4, "label": [1, 0, -1, 1]}
    csv(tmp_path / "b.libsvm", "0 5:1\n")
    both = open_table([path, tmp_path / "b.libsvm"])
    assert both.sparse()[0].shape == (5, 5)
    assert both.names == ["label", "1", "2", "3", "4", "5"]


@given(st.lists(st.dictionaries(st.integers(0, 40), st.floats(-9, 9)), min_size=1, max_size=9))
def test_libsvm_against_a_plain_loop(tmp_path_factory: Any, rows: list[dict[int, float]]) -> None:
    text = "".join(
        f"{k % 2} " + " ".join(f"{i}:{row[i]!r}" for i in sorted(row)) + "\n"
        for k, row in enumerate(rows)
    )
    path = csv(tmp_path_factory.mktemp("t") / "a.libsvm", text)
    if not any(rows):
        assert open_table(path).sparse()[0].shape[1] == 0
        return
    source = open_table(path)
    X, y = source.sparse()
    low = min(min(row) for row in rows if row)
    for k, row in enumerate(rows):
        assert y[k] == k % 2
        for i in range(X.shape[1]):
            assert X[k, i] == row.get(i + low, 0.0)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose bytes were asked for, in order."""
    asked: list[str] = []
    stream = parts.File.stream
    monkeypatch.setattr(
        parts.File, "stream", lambda file: asked.append(Path(file.path).name) or stream(file)
    )
    return asked


@pytest.mark.parametrize("small", [True, False])
def test_a_table_in_memory_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streams: list[str], small: bool
) -> None:
    if not small:
        monkeypatch.setattr(parts, "BLOCK", 1 << 10)
    rng = np.random.default_rng(0)
    x = rng.normal(size=400).round(3)
    y = (x + rng.normal(size=400) > 0).astype(int)
    write_table(tmp_path / "a.csv", {"x": x, "c": rng.choice(["a", "b"], 400), "y": y})
    source = open_table(tmp_path / "a.csv")
    assert streams == ["a.csv"]  # the line of names
    source.columns(["x", "y"], numbers=["x"])
    assert streams == ["a.csv"] * 2
    streams.clear()
    train(open_table(tmp_path / "a.csv"), "y", learner="fisher")
    assert streams == ["a.csv"] * 2
    streams.clear()
    held = open_table(tmp_path / "a.csv").held()
    assert everything(held).equals(everything(source))
    assert held.held() is held
    asked = {"x": x.tolist(), "y": y.tolist()}
    assert held.read(["x", "y"]).to_pydict() == asked
    # As it is written, a column has to be read again.
    text = pa.Table.from_batches(held.batches(["y"], texts=["y"]))
    assert text.to_pydict() == {"y": list(map(str, y.tolist()))}


# ------------------------------------------------------------------------------------ many files


def test_several_paths_globs_and_folders(tmp_path: Path) -> None:
    for k in range(3):
        write_table(tmp_path / f"day-{k}.parquet", TABLE.slice(k, 1))
    (tmp_path / "_SUCCESS.parquet").write_bytes(b"")
    for paths in (
        str(tmp_path / "day-*.parquet"),
        [tmp_path / f"day-{k}.parquet" for k in range(3)],
        tmp_path,
    ):
        assert everything(open_table(paths)).equals(TABLE.slice(0, 3))
    # A name with a star in it is a name, if there is such a file.
    csv(tmp_path / "a[1].csv", "x\n1\n")
    assert open_table(tmp_path / "a[1].csv").names == ["x"]


def test_files_are_joined_by_name_and_widened(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", "x,y\n1,\n")
    csv(tmp_path / "b.csv", "y,x\nq,1.5\n")
    t = everything(open_table([tmp_path / "a.csv", tmp_path / "b.csv"]))
    assert t.to_pydict() == {"x": [1.0, 1.5], "y": [None, "q"]}


@pytest.mark.parametrize(
    ("other", "code", "fields"),
    [
        ("x,y\nfoo,1\n", "types-differ", {"column": "x", "kinds": ("numbers", "text")}),
        ("x\n1\n", "files-differ", {"column": "y", "has": "a.csv", "lacks": "b.csv"}),
        ("x,y,z\n1,2,3\n", "files-differ", {"column": "z", "has": "b.csv", "lacks": "a.csv"}),
    ],
)
def test_schema_drift(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: str,
    code: str,
    fields: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    csv(tmp_path / "a.csv", "x,y\n1,2\n")
    csv(tmp_path / "b.csv", other)
    for use in (lambda s: s.schema, lambda s: s.read(), lambda s: list(s.batches())):
        with finding(code, **fields):
            use(open_table(["a.csv", "b.csv"]))


def test_standard_input(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", TABLE)
    code = (
        "import sys\nfrom cutscore.tables import open_table, write_table\n"
        "s = open_table('-')\nprint(s.where, s.read().num_rows, file=sys.stderr)\n"
        "write_table('-', s.batches(['y', 'colour']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=(tmp_path / "t.parquet").read_bytes(),
        capture_output=True,
        check=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert done.stderr.decode().strip() == "the standard input 4"
    assert done.stdout.decode() == "y,colour\n1,red\n0,blue\n1,red\n0,\n"
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]  # the spool is gone


# ---------------------------------------------------------------------------------------- queries


def test_queries_over_files(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.csv", "c.arrow", "d.jsonl"):
        path = tmp_path / name
        write_table(path, TABLE)
        for source in (
            open_table(path, sql="select s, y from data where y = 1"),
            *(
                []
                if "arrow" in name
                else [open_table(sql=f"select s, y from '{path}' where y = 1")]
            ),
        ):
            t = pa.Table.from_batches(source.batches())
            assert t.column("s").to_pylist() == [0.9, 0.35]
            assert source.columns(["y", "s"], numbers=["s"])["y"].tolist() == [1, 1]
    # Decimals and sums of DuckDB are numbers.
    s = open_table(tmp_path / "a.parquet", sql="select 0.5 as half, sum(y) as n from data")
    assert s.column("half", number=True).tolist() == [0.5]
    assert s.column("n", number=True).tolist() == [2]


def test_databases(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "d.db")) as con:
        con.execute("create table t as select range as x, range % 2 = 0 as y from range(100000)")
    source = open_table(tmp_path / "d.db", sql="select * from t order by x")
    assert sum(batch.num_rows for batch in source.batches()) == 100_000
    assert source.column("x")[-1] == 99_999
    with sqlite3.connect(tmp_path / "s.db") as lite:
        lite.execute("create table t (x, y text)")
        lite.executemany("insert into t values (?, ?)", [(1, "a"), (2.5, None), (None, "c")])
    lite.close()
    source = open_table(tmp_path / "s.db", sql="select * from t")
    assert everything(source).to_pydict() == {"x": [1.0, 2.5, None], "y": ["a", None, "c"]}
    for path in ("d.db", "s.db"):
        with finding("needs-query"):
            open_table(tmp_path / path)
        with finding("query-failed"):
            open_table(tmp_path / path, sql="select nix from t").read()
        with finding("query-failed"):
            open_table(tmp_path / path, sql="delete from t").read()
    assert open_table(tmp_path / "s.db", sql="select count(*) as n from t").column("n") == [3]


def test_no_file_of_a_folder_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    for k, name in enumerate(("a.parquet", "b.parq", "part-0003", "C.PQ")):
        pq.write_table(pa.table({"x": [k]}), folder / name)
    for name in ("_SUCCESS", ".a.parquet.crc"):
        (folder / name).write_text("")
    assert sorted(open_table(folder).column("x").tolist()) == [0, 1, 2, 3]
    (folder / "more.csv").write_text("x\n4\n")
    with finding("folder-unfit", odd=str(folder / "more.csv")):
        open_table(folder)


@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
def test_a_query_runs_once(tmp_path: Path, database: str) -> None:
    """Columns that are read one after the other belong to the same rows, whatever the order in
    which the database gives these."""
    if database == "sqlite":
        path = tmp_path / "s.db"
        with sqlite3.connect(path) as lite:
            lite.execute("create table t (k integer)")
            lite.executemany("insert into t values (?)", [(k,) for k in range(100_000)])
        lite.close()
        source = open_table(path, sql="select k, k as again, random() as r from t order by 3")
    else:
        sql = "select k, k as again, random() as r from range(100000) t(k) order by 3"
        source = open_table(sql=sql)
    first, second = source.column("k"), source.column("again")
    assert np.array_equal(first, second)
    assert sorted(first.tolist()) == list(range(100_000))
    assert np.array_equal(source.column("r"), source.column("r"))
    assert source.rows == 100_000
    whole = source.read()
    assert whole.num_rows == 100_000
    assert whole.column("k").equals(whole.column("again"))


def test_sqlite_types_that_do_not_mix(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "s.db") as lite:
        lite.execute("create table t (x)")
        lite.executemany("insert into t values (?)", [(1,), ("a",)])
    lite.close()
    with finding("types-differ", column="x", kinds=("numbers", "text"), row=1):
        open_table(tmp_path / "s.db", sql="select x from t")


def test_queries_that_do_not_run(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", "x\n1\n")
    write_table(tmp_path / "b.parquet", TABLE)
    with finding("query-failed"):
        open_table(sql="selec 1")
    with finding("query-failed"):
        open_table(sql="select * from 'nix.csv'")
    write_table(tmp_path / "c.arrow", TABLE)
    for name in ("a.csv", "b.parquet", "c.arrow"):
        with finding("query-failed"):
            open_table(tmp_path / name, sql="select * from prets")
    with finding("query-failed"):
        open_table(sql="select * from prets")
    late = open_table(sql="select cast(x as int) as x from (values ('1'), ('a')) t(x)")
    for use in (late.read, lambda: list(late.batches())):
        with finding("query-failed"):
            use()
    with finding("no-rows"):
        open_table(sql="select 1 as x where false").read()
    with finding("names-repeat", first="x", places=(0, 1)):
        open_table(tmp_path / "a.csv", sql="select x, x from data").read()
    with finding("files-differ"):
        open_table([tmp_path / "a.csv", tmp_path / "b.parquet"], sql="select 1")
    with finding("bad-argument", parameter="sql"):
        open_table(sql="  ")


# -------------------------------------------------------------------------------------- bad input


def bad(tmp_path: Path, name: str, content: str | bytes) -> Finding:
    """What is wrong with a file, whichever way it is read."""
    path = csv(tmp_path / name, content)
    found = set()
    for use in (lambda s: s.read(), lambda s: list(s.batches())):
        with pytest.raises(DataError) as error:
            use(open_table(path))
        assert "\n" not in str(error.value)
        found.add(error.value.finding)
    (only,) = found
    return only


@pytest.mark.parametrize(
    ("name", "content", "code", "fields"),
    [
        *((f"a.{k}", "", "no-rows", {}) for k in ("csv", "parquet", "jsonl")),
        ("a.csv", "\n\n", "no-rows", {}),
        ("a.libsvm", "\n \n", "no-rows", {}),
        ("a.jsonl", "\n\n", "no-rows", {}),
        ("a.csv", "a,b\n", "no-rows", {}),
        ("a.csv", "a,b\n1,2\n3\n", "row-ragged", {"expected": 2, "actual": 1, "row": 1}),
        ("a.csv", 'a,b\n"x\ny",2\n3,4,5\n', "row-ragged", {"actual": 3, "row": 1}),
        ("a.csv", "a,a\n1,2\n", "names-repeat", {"first": "a", "places": (0, 1)}),
        ("a.csv", b"a,b\n1,2\n3,\xe9\n", "line-invalid", {"line": 3}),
        ("a.csv", b"a\xe9,b\n1,2\n", "line-invalid", {"line": 1}),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "line-invalid", {"line": 1}),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "line-invalid", {"line": 1}),
        ("a.jsonl", '{"a": 1}\n{"a": "x"}\n', "line-invalid", {"format": "jsonl"}),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "line-invalid", {"format": "jsonl"}),
        ("a.jsonl", "[1, 2]", "line-invalid", {"format": "jsonl"}),
        *(
            ("a.libsvm", f"1 1:2\n{line}\n", "line-invalid", {"format": "libsvm", "line": 2})
            for line in ("0 2:x", "0 2:1 1:1", "0 2 1:1\n2:1", "0 1:nan", "0 -1:1", "0 1:2:3")
        ),
        ("a.libsvm", "1 1:2\n0 99999999999:1\n", "line-invalid", {"line": 2}),
        ("a.parquet", "a,b\n1,2\n", "format-mismatch", {"said": "parquet", "seen": "csv"}),
        ("a.parquet", b"\x8f\x01\xfe", "format-mismatch", {"said": "parquet", "seen": None}),
        ("a.arrow", "a,b\n1,2\n", "format-mismatch", {"said": "arrow", "seen": "csv"}),
        ("a.csv", b"PAR1xxxx", "format-mismatch", {"said": "csv", "seen": "parquet"}),
        ("a.parquet", b"PAR1xxxxPAR1", "file-unreadable", {"part": None}),
        ("a.arrow", b"ARROW1\0\0xx", "file-unreadable", {"part": None}),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 9999, mtime=0)[:60], "file-unreadable", {}),
    ],
)
def test_bad_files(
    tmp_path: Path, name: str, content: str | bytes, code: str, fields: dict[str, Any]
) -> None:
    found = bad(tmp_path, name, content)
    assert found.code == code
    for field, value in fields.items():
        assert getattr(found if hasattr(found, field) else found.where, field) == value
    if found.where is not None:
        assert found.where.file == str(tmp_path / name)


def test_a_compressed_file_cut_off(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(9999)))
    assert bad(tmp_path, "a.csv.gz", whole[: len(whole) // 2]).code == "file-unreadable"


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_files_cut_off_or_damaged_anywhere(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"x": rng.normal(size=2000), "y": rng.integers(0, 2, 2000)})
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path, row_group_size=500, write_page_checksum=True)
    else:
        feather.write_feather(table, path, chunksize=500)
    whole = path.read_bytes()
    codes = set()
    for size in range(8, len(whole), len(whole) // 40):
        path.write_bytes(whole[:size])
        for use in (lambda s: s.read(), lambda s: list(s.batches())):
            with pytest.raises(DataError) as error:
                use(open_table(path))
            codes.add(error.value.finding.code)
    assert codes <= {"file-unreadable", "format-mismatch"}
    for at in rng.integers(4, len(whole), 60).tolist():
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        path.write_bytes(broken)
        with suppress(DataError):  # some bytes are padding, or values
            assert open_table(path).read().num_columns == 2


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"x": np.random.default_rng(0).normal(size=2000)})
    pq.write_table(table, path, row_group_size=500)
    broken = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(2).column(0).dictionary_page_offset
    broken[at : at + 20] = b"\xff" * 20
    path.write_bytes(broken)
    for use in (lambda s: s.read(), lambda s: list(s.batches())):
        with finding("file-unreadable", part="row group 3 of 4"):
            use(open_table(path))


def test_paths_that_are_no_tables(tmp_path: Path) -> None:
    csv(tmp_path / "data.csv", "x\n1\n")
    cases: list[tuple[Any, str, dict[str, Any]]] = [
        (tmp_path / "date.csv", "file-missing", {"near": str(tmp_path / "data.csv")}),
        (tmp_path / "nix" / "a.csv", "file-missing", {"folder": False}),
        (tmp_path / "*.parquet", "file-missing", {"pattern": True}),
        (tmp_path, "folder-unfit", {"odd": None, "partitions": False}),
        *(([], "bad-argument", {"parameter": "paths"}), ("", "bad-argument", {"value": ""})),
        *((bad, "bad-argument", {"parameter": "paths"}) for bad in ("a\0b", [3], 3, TABLE)),
    ]
    for path, code, fields in cases:
        with finding(code, **fields):
            open_table(path)
    with finding("arguments-conflict", parameters=("paths", "sql")):
        open_table()
    with finding("bad-argument", parameter="format", value="xlsx"):
        open_table(tmp_path / "data.csv", format="xlsx")
    with finding("bad-argument", parameter="separator", value="ab"):
        open_table(tmp_path / "data.csv", separator="ab")
    (tmp_path / "hive" / "day=1").mkdir(parents=True)
    write_table(tmp_path / "hive" / "day=1" / "a.parquet", TABLE)
    with finding("folder-unfit", partitions=True):
        open_table(tmp_path / "hive")


def test_hostile_file_names(tmp_path: Path) -> None:
    path = csv(tmp_path / "a\n\u202eb.csv", "x\n1\nabc\n")
    with pytest.raises(DataError) as error:
        open_table(path).column("x", number=True)
    assert r"a\n\u202eb.csv" in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", "x\n1\n")
    path.chmod(0)
    with finding("file-unreadable", reason="Permission denied"):
        open_table(path)


def test_wrong_columns(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", TABLE)
    source = open_table(tmp_path / "t.csv")
    for use in (source.read, lambda c: list(source.batches(c)), source.columns):
        with finding("column-missing", column="color", near=["colour"]):
            use(["color"])
    with finding("column-missing", column="zzzz", names=("y", "s", "colour", "ok"), near=[]):
        open_table(tmp_path / "t.csv", columns=["zzzz"])
    with finding("bad-argument", parameter="columns", value="y"):
        source.read("y")  # type: ignore[arg-type]
    with finding("bad-argument", parameter="columns"):
        source.read(["y", "y"])
    hostile = "\x1b[31m\u202e<b>"
    with pytest.raises(DataError) as error:
        source.read([hostile])
    assert "\x1b" not in str(error.value)
    assert "\u202e" not in str(error.value)


# ------------------------------------------------------------------------------------ for sweeps


def test_columns_go_into_a_sweep(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.csv", "t.arrow"):
        write_table(tmp_path / name, TABLE)
        c = open_table(tmp_path / name).columns(["y", "s"], numbers=["s"])
        assert cs.sweep(c["y"], c["s"]).auc == 0.75
    dictionary = pa.table({"y": pa.array(["a", "b"]).dictionary_encode(), "s": [1.0, 2.0]})
    write_table(tmp_path / "d.parquet", dictionary)
    c = open_table(tmp_path / "d.parquet").columns(["y", "s"])
    assert cs.sweep(c["y"], c["s"], positive="b").auc == 1.0


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_numbers_are_not_copied(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"s": np.arange(1000.0), "y": np.arange(1000, dtype=np.float32)})
    write_table(tmp_path / f"t.{suffix}", [table.to_batches()[0]])
    source = open_table(tmp_path / f"t.{suffix}")
    c = source.columns(["s", "y"])
    assert c["s"].dtype == np.float64
    assert c["y"].dtype == np.float32
    for a in c.values():
        assert not a.flags.owndata
        assert not a.flags.writeable  # the buffer that pyarrow read into


@pytest.mark.parametrize(
    ("text", "code", "row"),
    [
        ("s\n1\nabc\n", "value-unfit", 1),
        ("s,t\n1,0\n,0\n", "value-missing", 1),
        ("s\n2020-01-01\n", "value-unfit", 0),
    ],
)
def test_what_is_no_score(tmp_path: Path, text: str, code: str, row: int) -> None:
    source = open_table(csv(tmp_path / "a.csv", text))
    with finding(code, column="s", row=row, file=str(tmp_path / "a.csv")):
        source.column("s", number=True)


def test_the_file_of_a_bad_row_is_named(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", "s,t\n1,0\n2,0\n")
    csv(tmp_path / "b.csv", "s,t\n1,0\n,0\n")
    with finding("value-missing", column="s", row=1, file=str(tmp_path / "b.csv")):
        open_table(tmp_path / "?.csv").column("s")


# ---------------------------------------------------------------------------------------- writing


def test_an_existing_file_survives_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("precious")

    def failing(error: BaseException) -> Any:
        yield TABLE.to_batches()[0]
        raise error

    for error in (KeyboardInterrupt(), RuntimeError("x"), OSError(errno.ENOSPC, "No space left")):
        for suffix in ("csv", "parquet", "arrow", "jsonl"):
            with pytest.raises(type(error)):
                write_table(path, failing(error), format=suffix)
            assert path.read_text() == "precious"
            assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_full_disk(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    for suffix in ("csv", "parquet", "arrow", "jsonl"):
        with pytest.raises(OSError, match="No space left") as error:
            write_table("/dev/full", TABLE, format=suffix)
        assert error.value.filename == "/dev/full"
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_table(tmp_path / "link", TABLE, format="csv")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_outputs_that_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="it is a directory") as error:
        write_table(tmp_path, TABLE, format="csv")
    assert error.value.filename == str(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        write_table(tmp_path / "nix" / "a.csv", TABLE)
    assert missing.value.filename == str(tmp_path / "nix" / "a.csv")
    with finding("bad-argument", parameter="path"):
        write_table(tmp_path / "a.xlsx", TABLE)
    with finding("bad-argument", parameter="format", value="xlsx"):
        write_table(tmp_path / "a.csv", TABLE, format="xlsx")
    with finding("bad-argument", parameter="columns"):
        write_table(tmp_path / "a.csv", {"a": [1], "b": [1, 2]})
    with finding("bad-argument", parameter="columns", value=3):
        write_table(tmp_path / "a.csv", 3)
    with finding("bad-argument", parameter="columns"):
        write_table(tmp_path / "a.csv", iter([]))
    assert list(tmp_path.iterdir()) == []


def test_permissions_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    write_table(tmp_path / "link.csv", {"a": [1]})
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text() == "a\n1\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    old = os.umask(0o027)
    try:
        write_table(tmp_path / "new.csv", {"a": [1]})
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


def test_errors_about_other_files_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error, written_aside(tmp_path / "out"):
        open(tmp_path / "input")  # noqa: SIM115
    assert error.value.filename == str(tmp_path / "input")
    assert list(tmp_path.iterdir()) == []


def test_text_written_aside(tmp_path: Path) -> None:
    with written_aside(tmp_path / "a.txt", text=True) as file:
        file.write("é\r\n")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n".encode()


def test_odd_values_in_json_lines(tmp_path: Path) -> None:
    import datetime

    table = pa.table({"x": [float("nan"), float("inf"), 1.5], "d": [datetime.date(2020, 1, 2)] * 3})
    write_table(tmp_path / "a.jsonl", table)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["x"] for line in lines] == [None, None, 1.5]
    assert lines[0]["d"] == "2020-01-02"


def test_streams_of_arrow(tmp_path: Path) -> None:
    sink = io.BytesIO()
    with ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    csv(tmp_path / "t.arrow", sink.getvalue())
    assert everything(open_table(tmp_path / "t.arrow")).equals(TABLE)


def test_repr(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", TABLE)
    assert repr(open_table(tmp_path / "t.csv")).endswith(
        "t.csv: 4 columns ('y', 's', 'colour', 'ok')"
    )


def test_a_standard_output_of_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a notebook may have it."""
    text = io.StringIO()
    monkeypatch.setattr("sys.stdout", text)
    assert write_table("-", {"a": [1, 2], "b": ["é", "x"]}) == 2
    assert text.getvalue() == "a,b\n1,é\n2,x\n"


def test_an_interrupt_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even one that comes as soon as there is a file."""
    made, real = [], os.open

    def interrupted(path: str, *more: int) -> int:
        made.append(path)
        os.close(real(path, *more))
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_table("-")
    gc.collect()
    assert made
    assert list(tmp_path.iterdir()) == []


def test_a_writer_is_not_closed_while_its_thread_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt may come just when the thread was started: nobody waits for it then."""
    from cutscore.tables import writer

    begun, closed, broken = threading.Event(), threading.Event(), []

    class Slow:
        def __init__(self, *_: object) -> None: ...

        def __enter__(self) -> Slow:
            return self

        def __exit__(self, *_: object) -> None:
            closed.set()

        def write_batch(self, _: pa.RecordBatch) -> None:
            begun.set()
            broken.append(closed.wait(0.05))

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *what: Any) -> Any:
            super().submit(*what)
            begun.wait()
            raise KeyboardInterrupt

        def __exit__(self, *_: object) -> None:
            self.shutdown(wait=False)

    monkeypatch.setattr(writer, "ThreadPoolExecutor", Interrupted)
    monkeypatch.setattr(writer, "named", lambda *_, **__: Format("slow", (), bool, write=Slow))
    with pytest.raises(KeyboardInterrupt):
        write_table(tmp_path / "t.csv", TABLE, format="slow")
    assert broken == [False]
    assert closed.is_set()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_reader_that_is_left_closes_its_file(tmp_path: Path, packed: str) -> None:
    path = tmp_path / f"a.csv{packed}"
    text = "a,b\n" + "1,2.5\n" * 3_000_000
    path.write_bytes(gzip.compress(text.encode(), 1) if packed else text.encode())
    batches = open_table(path).batches()
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert str(path) not in {
        os.path.realpath(f"/proc/self/fd/{k}") for k in os.listdir("/proc/self/fd")
    }
