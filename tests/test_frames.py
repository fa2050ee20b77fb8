"""What a table is, and is called: frames and their index, queries, and Excel's first line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

from cutscore.cli import main
from cutscore.core.errors import DataError
from cutscore.core.names import data_columns, missing_column_error, quote_sql
from cutscore.detector import Detector, Encoding
from cutscore.tables import open_table
from cutscore.training import train
from raising import finding

INDEX = "__index_level_0__"


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 3 == 0
    whole = pd.DataFrame({"y": y.astype(int), "x": rng.normal(y, 1), "z": rng.normal(size=200)})
    return whole.sample(150, random_state=1)


# ------------------------------------------------------------------------------ the index of pandas


def test_an_index_without_a_name_is_no_column(frame: pd.DataFrame, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(frame)
    assert INDEX in table.schema.names  # or there is nothing to see here
    wanted = ["x", "z"]
    for data in (frame, frame[frame.x > -1], table, table.to_batches()[0]):
        assert Encoding.fit(data, target="y").names == wanted
    t = train(frame, "y", learner="fisher")
    assert t.detector.columns == wanted
    assert (t.detector.decide(table) == t.detector.decide(frame)).all()
    frame.to_parquet(tmp_path / "s.parquet")
    feather.write_feather(table, tmp_path / "s.feather")
    with (
        pa.OSFile(str(tmp_path / "s.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    for name in ("s.parquet", "s.feather", "s.arrow"):
        for options in ({}, {"sql": "select * from data"}):
            source = open_table(tmp_path / name, **options)  # type: ignore[arg-type]
            assert source.names == source.schema.names == ["y", *wanted]
            assert source.read().schema.names == ["y", *wanted]
            assert next(source.batches()).schema.names == ["y", *wanted]
            assert source.column("x").tolist() == frame.x.tolist()
        with finding("column-missing", column=INDEX):
            open_table(tmp_path / name).read([INDEX])
    frame.reset_index(drop=True).to_parquet(tmp_path / "r.parquet")
    two = [tmp_path / "r.parquet", tmp_path / "s.parquet"]
    assert open_table(two).read().num_rows == 300
    two.reverse()
    assert open_table(two).read().num_rows == 300


def test_only_an_index_without_a_name_is_left_out(frame: pd.DataFrame, tmp_path: Path) -> None:
    named = frame.set_index("z")
    assert Encoding.fit(named, target="y").names == ["x", "z"]
    named.to_parquet(tmp_path / "s.parquet")
    assert open_table(tmp_path / "s.parquet").names == ["y", "x", "z"]
    # Nor a column that somebody called so himself.
    own = pa.table({INDEX: [1.5, 2.5, 7.0], "x": [1, 2, 4]})
    assert Encoding.fit(own).names == [INDEX, "x"]
    levels = pd.DataFrame({"x": [1, 2]}, index=pd.MultiIndex.from_tuples([(1, 2), (3, 4)]))
    assert data_columns(pa.table(levels).schema) == ["x"]
    for stored in (b"", b"[]", b"{}", b'{"index_columns": 1}', b'{"index_columns": [{}, null]}'):
        assert data_columns(own.schema.with_metadata({b"pandas": stored})) == [INDEX, "x"]


def test_fit_of_a_sampled_frame(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    frame.to_parquet("s.parquet")
    assert main(["fit", "s.parquet", "--target", "y", "-o", "m.json"]) == 0
    assert Detector.load("m.json").columns == ["x", "z"]
    assert main(["apply", "m.json", "s.parquet", "-o", "o.csv"]) == 0
    assert INDEX not in (tmp_path / "o.csv").read_text() + "".join(capsys.readouterr())


# ------------------------------------------------------------------------------ what is not a table


def test_what_is_nearly_a_table(frame: pd.DataFrame) -> None:
    d = train(frame, "y", learner="fisher").detector
    assert len(d.decide(frame.iloc[[0]])) == 1
    dated = frame.assign(day=pd.Timestamp("2024-01-31"), name="a")
    for row in (frame.iloc[0], dated.iloc[0], frame.x, pl.Series("x", [1.0])):
        with finding("bad-argument"):
            d.decide(row)
    plan = pl.from_pandas(frame).lazy()
    with finding("bad-argument"):
        d.decide(plan)
    assert (d.decide(plan.collect()) == d.decide(frame)).all()
    for table in (frame, pl.from_pandas(frame), pa.table(frame), plan, {"x": [1]}):
        with finding("bad-argument", parameter="paths", value=type(table).__name__):
            open_table(table)


# -------------------------------------------------------------------------------- what it is called


def test_a_query_is_called_by_its_file(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (a, b):
        path.write_text("y,s\n1,0.5\n0,0.25\n")
    q = "select * from data"
    assert open_table(a, sql=q).where == f"{a} (by the query '{q}')"
    assert open_table([a, b], sql=q).where == f"{a} (and 1 more file, by the query '{q}')"
    assert open_table([a, b]).where == f"{a} (and 1 more file)"
    assert open_table(sql="select 1 as x").where == "the query 'select 1 as x'"
    with pytest.raises(DataError, match=r"^the query 'select t from data' failed"):
        open_table(a, sql="select t from data")
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as db:
        db.execute("create table t as select 1 as x")
    source = open_table(tmp_path / "t.duckdb", sql="from t")
    assert source.where == f"{tmp_path / 't.duckdb'} (by the query 'from t')"


def test_names_in_sql() -> None:
    import duckdb

    with duckdb.connect() as db:
        for name in ("s", "Größe", "my x", 'a"b', "1st", "order", "a.b"):
            found = db.sql(f"select {quote_sql(name)} from (select 7 as {quote_sql(name)})")
            assert found.columns == [name]
            assert found.fetchall() == [(7,)]


def test_missing_columns_name_those_that_are_near() -> None:
    names = ["a", "b", "c", "d,e"]
    for name, near in {"x,z": [], "d,f": ["d,e"]}.items():
        found = missing_column_error(name, names, "t").finding
        assert (found.code, found.column, found.near) == ("column-missing", name, near)
    assert "Its columns: 'a', 'b', 'c', 'd,e'." in str(missing_column_error("x,z", names, "t"))
