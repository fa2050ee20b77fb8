"""One table, written in every way there is: every way to decide about it decides alike.

A detector is applied to 20,000 rows with nulls, NaN, empty texts, unseen levels, dates, decimals,
whole numbers stored as floats, texts that look like something else, and many scores at the
threshold itself. Scores, not only decisions, are compared, to the bit.
"""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from pyarrow import feather, ipc

import cutscore as cs
from cutscore.cli import main
from cutscore.detector import CategoryColumn, Detector, Encoding, LinearScorer
from cutscore.detector.export import onnx_inputs, to_onnx, to_sklearn, to_sql
from cutscore.tables import open_table, write_table
from detectors import hand_made
from raising import finding

ROWS = 20_000

# What the columns are, and what SQL calls it.
TYPES = {
    "x": ("DOUBLE", "REAL"),
    "whole": ("BIGINT", "INTEGER"),
    "price": ("DECIMAL(10,2)", "REAL"),
    "flag": ("BOOLEAN", "INTEGER"),
    "word": ("VARCHAR", "TEXT"),
    "shop": ("BIGINT", "INTEGER"),
    "day": ("DATE", "TEXT"),
    "at": ("TIMESTAMP", "TEXT"),
    "since": ("TIMESTAMP", "TEXT"),
}


def rows(n: int, seed: int) -> pa.Table:
    """A table of every kind of column. Few different values each, so that scores are tied."""
    rng = np.random.default_rng(seed)

    def gaps(share: float = 0.05) -> NDArray[np.bool_]:
        return np.asarray(rng.random(n) < share)

    some = np.array([0.0, -0.0, 1.5, -2.25, 1e5, 0.1, 3.0])
    prices = pa.array([Decimal(int(c)).scaleb(-2) for c in rng.choice([29, 115, 1005, -357], n)])
    # As text they look like booleans, floats, exponents, signs, times, dates, codes and words.
    words = ["TRUE", "FALSE", "1.0", "2.0", "1e5", "+1", "10:30", "2024-01-31", "007", 'née, "x"']
    unseen = ["true", "1", "100000", "7", " 1.0", "2024-01-31 00:00:00", "é", "=1+1"]
    days = rng.choice([0, 1, 19_753, -400, 40_000], n).astype(np.int32)
    micro = rng.choice(
        [0, 1, 999_999, 43_200_000_000, 86_399_999_600], n
    ) + 86_400_000_000 * days.astype(np.int64)
    return pa.table(
        {
            "x": pa.array(np.where(gaps(), np.nan, rng.choice(some, n)), mask=gaps()),
            "whole": pa.array(rng.choice([0, 3, -7, 2**40], n), mask=gaps()),
            "price": pc.if_else(gaps(), None, prices).cast(pa.decimal128(10, 2)),
            "flag": pa.array(rng.random(n) < 0.5, mask=gaps()),
            "word": pa.array(
                rng.choice(words if seed == 0 else [*words, *words, *unseen], n), mask=gaps()
            ),
            "shop": pa.array(rng.choice([10, 20, 300, 100_000, 0], n), mask=gaps()),
            "day": pa.array(days, mask=gaps()).cast(pa.date32()),
            "at": pa.array(micro, mask=gaps()).cast(pa.timestamp("us")),
            "since": pa.array(rng.choice(micro[:4], n), mask=gaps()).cast(pa.timestamp("us")),
        }
    )


def made() -> Detector:
    """A detector of all columns whose threshold is the score of many rows."""
    table = rows(5_000, seed=0)
    e = Encoding.fit(table, categories=["shop", "since"], min_rows=1)
    rng = np.random.default_rng(5)
    line = cs.LinearDetector(rng.normal(size=len(e.features)), 0.1)
    d = hand_made((e, line), calibrator=cs.Affine(1.5, 0.2), aim=cs.Aim(prior=0.2), threshold=0.0)
    scores, count = np.unique(d.scores(rows(ROWS, seed=1)), return_counts=True)
    common = scores[count >= 3]
    middle = common[np.abs(common - np.median(scores)).argmin()]
    return hand_made(
        (e, line),
        calibrator=cs.Affine(1.5, 0.2),
        aim=cs.Aim(prior=0.2),
        threshold=float(middle),
        column="y",
        positive=1,
        negative=0,
    )


D = made()
NEW = rows(ROWS, seed=1)
WANTED = D.scores(NEW)


def test_what_is_compared() -> None:
    kinds = {c.name: c for c in (term.column for term in D.scorer.terms)}
    assert set(kinds) == set(TYPES)
    levels = {n: c.level_type for n, c in kinds.items() if isinstance(c, CategoryColumn)}
    assert levels == {"flag": "text", "word": "text", "shop": "whole", "since": "date"}
    assert np.count_nonzero(D.policy.threshold == WANTED) >= 3
    assert 0.2 < np.mean(D.policy.threshold <= WANTED) < 0.8


def texts(table: pa.Table, missing: str = "") -> list[list[str]]:
    """Cells as people write them into text files."""
    columns = []
    for column in table.columns:
        cells = column
        if pa.types.is_boolean(column.type):
            cells = pc.if_else(column, "TRUE", "FALSE")
        elif pa.types.is_floating(column.type):
            there = (None if v is None or np.isnan(v) else repr(v) for v in column.to_pylist())
            cells = pa.array(there)
        columns.append(pc.fill_null(cells.cast(pa.string()), missing).to_pylist())
    return [list(row) for row in zip(*columns, strict=True)]


def as_csv(table: pa.Table, missing: str = "", **style: Any) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, **{"lineterminator": "\n", **style})
    writer.writerows([table.schema.names, *texts(table, missing)])
    return file.getvalue().encode()


def floats_of_whole(table: pa.Table) -> pa.Table:
    """As pandas stores whole numbers with gaps."""
    for name in ("whole", "shop"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).cast(pa.float64()))
    return table


def with_types(table: pa.Table, **types: pa.DataType) -> pa.Table:
    for name, t in types.items():
        table = table.set_column(
            table.schema.get_field_index(name), name, table.column(name).cast(t)
        )
    return table


def sqlite(table: pa.Table, path: Path) -> Path:
    """Booleans are 0 and 1, dates ISO text, NaN is NULL."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as lite:
        names = ", ".join(f'"{name}" {TYPES[name][1]}' for name in table.schema.names)
        lite.execute(f"create table data ({names})")
        columns = []
        for column in table.columns:
            t = column.type
            texts_of = pa.types.is_temporal(t) or pa.types.is_decimal(t)
            cells = column.cast(pa.string()) if texts_of else column
            if pa.types.is_decimal(t):
                cells = cells.cast(pa.float64())
            columns.append(cells.to_pylist())
        marks = ", ".join("?" * len(columns))
        lite.executemany(f"insert into data values ({marks})", zip(*columns, strict=True))
    lite.close()
    return path


def to_stream(table: pa.Table, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, 999)


def in_other_types(table: pa.Table) -> pa.Table:
    names = {"word": pa.dictionary(pa.int32(), pa.string()), "price": pa.decimal128(20, 4)}
    return with_types(table, **names)


def in_other_units(table: pa.Table) -> pa.Table:
    return with_types(floats_of_whole(table), at=pa.timestamp("ns"), since=pa.timestamp("ns"))


def by_query(table: pa.Table, path: Path) -> Any:
    pq.write_table(table, path)
    return open_table(path, sql="select * from data")


def to_csv(table: pa.Table, path: Path, **style: Any) -> Path:
    path.write_bytes(as_csv(table, **style))
    return path


def with_commas(table: pa.Table, path: Path) -> Path:
    """Numbers as 1234,56; other text has a point, too, and stays as it is."""
    for name in ("x", "whole", "price", "shop"):
        values = table.column(name).to_pylist()
        shown = [None if v is None or np.isnan(float(v)) else str(v) for v in values]
        swapped = [v and v.replace(".", ",") for v in shown]
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.array(swapped, pa.string()))
    return to_csv(table, path, delimiter=";")


QUOTED: dict[str, Any] = {"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"}
# How to write a table to a file; what is returned, if anything, is the table instead of the file.
WAYS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": lambda t, path: path.write_bytes(as_csv(t)) and None,
    "csv quoted, CRLF": lambda t, path: path.write_bytes(as_csv(t, **QUOTED)) and None,
    "csv with NA": lambda t, path: path.write_bytes(as_csv(t, "NA", delimiter=";")) and None,
    "csv of floats": lambda t, path: path.write_bytes(as_csv(floats_of_whole(t))) and None,
    "csv.gz": lambda t, path: path.write_bytes(gzip.compress(as_csv(t))) and None,
    "csv by write_table": lambda t, path: write_table(path, t) and None,
    "csv with commas": lambda t, path: open_table(with_commas(t, path), decimal=","),
    "csv by a query": lambda t, path: open_table(to_csv(t, path), sql="select * from data"),
    "tsv": lambda t, path: path.write_bytes(as_csv(t, delimiter="\t")) and None,
    "parquet": pq.write_table,
    "parquet in row groups, with dictionaries": lambda t, path: pq.write_table(
        in_other_types(t), path, row_group_size=700
    ),
    "parquet of floats, other units": lambda t, path: pq.write_table(in_other_units(t), path),
    "arrow": feather.write_feather,
    "arrow stream": to_stream,
    "jsonl": lambda t, path: write_table(path, t) and None,
    "sqlite": lambda t, path: open_table(sqlite(t, path), sql="select * from data"),
    "duckdb query": by_query,
    "pandas": lambda t, _: t.to_pandas(),
    "pandas of objects": lambda t, _: t.to_pandas().astype(object),
    "polars": lambda t, _: pl.from_arrow(t),
    "mapping": lambda t, _: {name: t.column(name) for name in t.schema.names},
}


def write(way: str, table: pa.Table, folder: Path) -> Any:
    """The table in one of the ways that there are."""
    path = folder / f"t.{way.partition(' ')[0]}"
    made = WAYS[way](table, path)
    return open_table(path) if made is None else made


def same(scores: Any, wanted: Any = WANTED) -> None:
    scores = np.asarray(scores, np.float64)
    differ = np.flatnonzero(scores != wanted)
    assert not len(differ), (
        f"{len(differ):,} of {len(wanted):,} scores differ, such as "
        f"{NEW.slice(int(differ[0]), 1).to_pylist()}: {scores[differ[0]]} for {wanted[differ[0]]}"
    )


@pytest.mark.parametrize("way", WAYS)
def test_every_format(way: str, tmp_path: Path) -> None:
    data = write(way, NEW, tmp_path)
    same(D.scores(data))
    applied = D.apply(data, reasons=0)
    same(applied["score"].to_numpy())
    assert np.array_equal(applied["decision"].to_numpy(), D.policy.threshold <= WANTED)


@pytest.mark.parametrize("way", WAYS)
def test_in_chunks_and_row_by_row(way: str, tmp_path: Path) -> None:
    """A part of a table says less about its types than the whole of it."""
    places = [(k, 1) for k in range(0, ROWS, ROWS // 15)] + [(0, 7), (5_000, 3_001), (12_345, 64)]
    for start, size in places:
        data = write(way, NEW.slice(start, size), tmp_path)
        same(D.scores(data), WANTED[start : start + size])


FILES = [way for way in WAYS if way.startswith(("csv", "tsv", "parquet", "jsonl"))]


@pytest.mark.parametrize("way", sorted({*FILES} - {"csv with commas", "csv by a query"}))
def test_the_command(way: str, tmp_path: Path) -> None:
    """Kept columns pass through, and what is added does not depend on where it goes."""
    D.save(tmp_path / "model.json")
    write(way, NEW, tmp_path)
    path = tmp_path / f"t.{way.partition(' ')[0]}"
    for out in ("out.csv", "out.parquet"):
        arguments = ["apply", str(tmp_path / "model.json"), str(path), "--quiet", "--reasons", "0"]
        assert main([*arguments, "-o", str(tmp_path / out)]) == 0
        decided = open_table(tmp_path / out).read(["score", "decision"])
        same(decided["score"].to_numpy())
        assert np.array_equal(decided["decision"].to_numpy(), D.policy.threshold <= WANTED)
        # And what was kept is decided about alike once more.
        same(D.scores(open_table(tmp_path / out)))


def test_cells_of_csv_pass_through(tmp_path: Path) -> None:
    D.save(tmp_path / "model.json")
    path = tmp_path / "t.csv"
    path.write_bytes(as_csv(NEW))
    main(
        ["apply", str(tmp_path / "model.json"), str(path), "--quiet", "-o", str(tmp_path / "o.csv")]
    )
    with open(path, newline="") as before, open(tmp_path / "o.csv", newline="") as after:
        for a, b in zip(csv.reader(before), csv.reader(after), strict=True):
            assert b[: len(a)] == a


def in_full(d: Detector, dialect: str = "standard") -> str:
    return f"select score, decision from ({to_sql(d, dialect=dialect)})"


def in_duckdb(table: pa.Table, query: str) -> Iterator[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb")
    # One thread: rows come in the order of the table, which nothing else promises.
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("data", table)
        names = ("score", "decision")
        yield from (dict(zip(names, row, strict=True)) for row in connection.sql(query).fetchall())


def test_sql_in_duckdb() -> None:
    """Whatever types the columns of the database have."""
    query = in_full(D, "duckdb")
    as_text = with_types(NEW, shop=pa.string())
    other = with_types(
        with_types(NEW, flag=pa.int8()),
        price=pa.decimal128(20, 4),
        at=pa.timestamp("ns"),
        flag=pa.decimal128(5, 2),
    )
    blank = NEW.set_column(
        NEW.schema.get_field_index("word"), "word", pc.fill_null(NEW.column("word"), "")
    )
    for table in (NEW, floats_of_whole(NEW), as_text, other, blank):
        same([row["score"] for row in in_duckdb(table, query)])
        decided = [row["decision"] for row in in_duckdb(table, query)]
        assert np.array_equal(decided, D.policy.threshold <= WANTED)


def test_sql_in_sqlite(tmp_path: Path) -> None:
    query = to_sql(D, dialect="sqlite")
    for table in (NEW, floats_of_whole(NEW)):
        with sqlite3.connect(sqlite(table, tmp_path / "t.db")) as lite:
            found = lite.execute(query).fetchall()
        lite.close()
        same([row[0] for row in found])
        assert np.array_equal([row[3] for row in found], D.policy.threshold <= WANTED)


def test_sql_in_sqlite_of_imported_text(tmp_path: Path) -> None:
    """Everything is text there, and what is missing is empty."""
    names = NEW.schema.names
    with sqlite3.connect(tmp_path / "t.db") as lite:
        lite.execute(f"create table data ({', '.join(f'{name} text' for name in names)})")
        lite.executemany(f"insert into data values ({','.join('?' * len(names))})", texts(NEW))
        found = lite.execute(to_sql(D, dialect="sqlite")).fetchall()
    lite.close()
    same([row[0] for row in found])


def test_standard_sql(tmp_path: Path) -> None:
    """Without dates, which databases write in different ways."""
    dates = ("day", "at", "since")
    terms = tuple(term for term in D.scorer.terms if term.column.name not in dates)
    d = replace(D, scorer=LinearScorer(terms, D.scorer.base))
    wanted = d.scores(NEW)
    for table in (NEW, floats_of_whole(NEW)):
        same([row["score"] for row in in_duckdb(table, in_full(d))], wanted)
        with sqlite3.connect(sqlite(table, tmp_path / "t.db")) as lite:
            found = lite.execute(to_sql(d)).fetchall()
        lite.close()
        same([row[0] for row in found], wanted)


@pytest.mark.parametrize("way", ["parquet", "csv", "pandas", "parquet of floats, other units"])
def test_onnx(way: str, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(D).SerializeToString())
    score, decision = session.run(["score", "decision"], onnx_inputs(D, write(way, NEW, tmp_path)))
    same(score.ravel())
    assert np.array_equal(decision.ravel(), D.policy.threshold <= WANTED)


def test_scikit_learn() -> None:
    classifier = to_sklearn(D)
    for data in (NEW.to_pandas(), pl.from_arrow(NEW)):
        same(classifier.scores(data))
        assert np.array_equal(classifier.predict(data), D.policy.threshold <= WANTED)


def test_files_that_are_scanned(tmp_path: Path) -> None:
    """The engine for files larger than memory has the scores that memory has."""
    y = (np.arange(ROWS) % 3 == 0).astype(int)
    for ending in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"scored.{ending}"
        write_table(path, {"y": y, "score": WANTED, "price": NEW.column("price").fill_null(0)})
        for score in ("score", "price"):
            whole = open_table(path).columns(["y", score], numbers=[score])
            inside = cs.sweep(whole["y"], whole[score])
            assert cs.sweep_file(path, label="y", score=score).auc == inside.auc
    prices = [float(v) for v in NEW.column("price").fill_null(Decimal(0)).to_pylist()]
    assert np.array_equal(
        open_table(tmp_path / "scored.parquet").column("price", number=True), prices
    )


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_numbers_are_refused_everywhere(value: float, tmp_path: Path) -> None:
    """By apply with an error, in SQL by NULL, in ONNX by NaN."""
    table = NEW.slice(0, 3)
    x = pa.array([1.5, value, None])
    table = table.set_column(table.schema.get_field_index("x"), "x", x)
    with finding("value-unfit", column="x", wanted="finite numbers"):
        D.scores(table)
    fine = D.scores(table.take([0, 2]))
    found = [row["score"] for row in in_duckdb(table, in_full(D, "duckdb"))]
    assert [found[0], found[2]] == fine.tolist()
    assert found[1] is None
    with sqlite3.connect(sqlite(table, tmp_path / "t.db")) as lite:
        rows_of = lite.execute(to_sql(D, dialect="sqlite")).fetchall()
    lite.close()
    assert [row[0] for row in rows_of] == [fine[0], None, fine[1]]
    assert rows_of[1] == (None,) * 4
    runtime = pytest.importorskip("onnxruntime")
    steps = cs.Monotone(np.array([0.0, -np.inf]), np.array([1.0, -1.0]))
    for calibrator in (D.policy.calibrator, steps):
        d = replace(D, policy=replace(D.policy, calibrator=calibrator))
        inputs = onnx_inputs(d, NEW.slice(0, 3))
        inputs["x"] = np.array([[1.5], [value], [np.nan]])
        session = runtime.InferenceSession(to_onnx(d).SerializeToString())
        score, llr, probability, decision = (v.ravel() for v in session.run(None, inputs))
        assert [score[0], score[2]] == fine.tolist()
        assert np.isnan([score[1], llr[1], probability[1]]).all()
        assert not decision[1]


@pytest.mark.parametrize("way", sorted({*WAYS} - {"csv by write_table", "sqlite"}))
def test_training_from_every_format(way: str, tmp_path: Path) -> None:
    """Whatever rows a detector was trained on, it gives them the scores of training once more."""
    table = rows(900, seed=0)
    e = Encoding.fit(write(way, table, tmp_path), categories=["shop", "since"], min_rows=1)
    line = cs.LinearDetector(np.random.default_rng(1).normal(size=len(e.features)), 0.5)
    d = hand_made((e, line))
    wanted = line.scores(e.transform(write(way, table, tmp_path)))
    assert d.scores(write(way, table, tmp_path)) == pytest.approx(wanted, abs=1e-9)
    assert len(np.unique(np.round(wanted, 9))) > 500
    for start in range(0, 900, 60):
        part = d.scores(write(way, table.slice(start, 1), tmp_path))
        assert part == pytest.approx(wanted[start : start + 1], abs=1e-9)


def nanoseconds() -> pa.Table:
    ticks = [-999, -1, 0, 999, 1500, 999_999_999, -(10**9) - 500, 86_399_999_999_999, None]
    return pa.table({"t": pa.array(ticks, pa.int64()).cast(pa.timestamp("ns"))})


@pytest.mark.parametrize("categories", [[], ["t"]])
def test_nanoseconds_are_cut_alike(categories: list[str], tmp_path: Path) -> None:
    table = nanoseconds()
    e = Encoding.fit(table, categories=categories, min_rows=1)
    line = cs.LinearDetector(np.arange(1.0, 1 + len(e.features)), 0.0)
    d = hand_made((e, line))
    wanted = d.scores(table)
    same([row["score"] for row in in_duckdb(table, in_full(d, "duckdb"))], wanted)
    text = table.column("t").cast(pa.string()).to_pylist()
    with sqlite3.connect(tmp_path / "t.db") as lite:
        lite.execute("create table data (t text)")
        lite.executemany("insert into data values (?)", [(v,) for v in text])
        found = lite.execute(to_sql(d, dialect="sqlite")).fetchall()
    lite.close()
    same([row[0] for row in found], wanted)
    same(d.scores({"t": text}), wanted)


def of_whole() -> Detector:
    e = Encoding.fit({"k": [10, 20, 20, 10**15]}, categories=["k"], min_rows=1)
    line = cs.LinearDetector(np.array([1.0, 2.0]), 0.0)
    return hand_made((e, line))


@pytest.mark.parametrize("dialect", ["standard", "duckdb"])
def test_whole_numbers_as_floats_in_duckdb(dialect: str) -> None:
    """What is no whole number is refused by apply, and has no score in SQL."""
    d = of_whole()
    table = pa.table({"k": pa.array([10.0, 20.0, 1e15, 7.0, np.nan, None])})
    query = in_full(d, dialect)
    same([row["score"] for row in in_duckdb(table, query)], d.scores(table))
    for odd in (10.5, np.inf, -np.inf, 1e300, 10.0000001):
        bad = pa.table({"k": [odd]})
        with finding("value-unfit", wanted="text or whole numbers"):
            d.scores(bad)
        assert [row["score"] for row in in_duckdb(bad, query)] == [None]


def test_whole_numbers_as_text() -> None:
    d = of_whole()
    values = ["10", "10.0", "+20", "1e15", "020", "10.0000001", "1_0", "x", "", None]
    table = pa.table({"k": pa.array(values)})
    same([row["score"] for row in in_duckdb(table, in_full(d, "duckdb"))], d.scores(table))


def test_whole_numbers_as_floats_in_sqlite() -> None:
    d = of_whole()
    values = [10, 10.0, 1e15, "10.0", "1e15", "20", 7, None, 10.5]
    with sqlite3.connect(":memory:") as lite:
        lite.execute("create table data (k)")
        lite.executemany("insert into data values (?)", [(v,) for v in values])
        found = [row[0] for row in lite.execute(to_sql(d, dialect="sqlite")).fetchall()]
    lite.close()
    wanted = d.scores({"k": ["10", "10", "1e15", "10", "1e15", "20", "7", None]})
    assert found == [*wanted.tolist(), None]


def test_days_that_are_not_in_the_calendar_have_no_score_in_sqlite() -> None:
    e = Encoding.fit({"t": pa.array([0, 10**15]).cast(pa.timestamp("us"))})
    line = cs.LinearDetector(np.array([1.0]), 0.0)
    d = hand_made((e, line))
    odd = ["2024-02-30", "2024-01-01 24:00:00", "2024-01-01 ", "2024-01-01 10:00:00.", "x"]
    with sqlite3.connect(":memory:") as lite:
        lite.execute("create table data (t text)")
        lite.executemany("insert into data values (?)", [(v,) for v in [*odd, "2024-02-29"]])
        found = [row[0] for row in lite.execute(to_sql(d, dialect="sqlite")).fetchall()]
    lite.close()
    assert found == [None] * len(odd) + d.scores({"t": ["2024-02-29"]}).tolist()
    for text in odd:
        with finding("value-unfit", wanted="dates"):
            d.scores({"t": [text]})


def test_a_category_of_dates_without_a_value() -> None:
    dates = pa.array([0, 10**15]).cast(pa.timestamp("us"))
    e = Encoding.fit({"c": dates}, categories=["c"], min_rows=1)
    assert e.transform({"c": ["", "NA"]}).shape == (2, 1)


def test_numbers_too_long_for_a_float(tmp_path: Path) -> None:
    long = 2**53 + 1
    pq.write_table(pa.table({"s": [long, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"s": [0.5, 0.25]}), tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text(f"id;s\n1;{long}\n2;0,5\n")
    (tmp_path / "e.jsonl").write_text(f'{{"s": 0.5,\n"y": 1}}{{"s": {long}, "y": 0}}\n')
    (tmp_path / "f.csv").write_text(f"id,s\n1,{long}\n2,5\n")
    total = "select id, sum(s) as s from data group by id"
    for table in (
        open_table([tmp_path / "a.parquet", tmp_path / "b.parquet"]),
        open_table(tmp_path / "c.csv", decimal=","),
    ):
        with finding("number-inexact", column="s"):
            table.column("s", number=True)
        with finding("number-inexact", column="s"):
            [list(piece.read()) for piece in table.pieces(["s"], numbers=["s"])]
    with finding("number-inexact", column="s"):
        open_table(tmp_path / "e.jsonl")
    summed = open_table(tmp_path / "f.csv", sql=total).column("s", number=True)
    with finding("number-inexact"):
        cs.sweep([1, 0], summed)
    for values in ([Decimal(long), Decimal(2)], [Fraction(long), 0.5]):
        with finding("number-inexact"):
            cs.sweep([1, 0], values)
