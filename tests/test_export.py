"""Detectors elsewhere: databases, onnxruntime and scikit-learn decide as the detector does."""

from __future__ import annotations

import datetime as dt
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow.csv import ConvertOptions
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline

import cutscore as cs
from cutscore.core.errors import DataError
from cutscore.core.findings.base import Foreign
from cutscore.detector import Detector, Encoding, LinearScorer, Training
from cutscore.detector.export import (
    onnx_inputs,
    to_markdown,
    to_onnx,
    to_python,
    to_sklearn,
    to_sql,
)
from cutscore.detector.export.markdown import text
from cutscore.inference.selection import Expected
from cutscore.tables import open_table
from cutscore.tables.literals import MISSING
from cutscore.training import train
from detectors import hand_made
from raising import finding

NAMES = [
    "x",
    "a b",
    'q"uote',
    "it's",
    "<script>",
    "select",
    "línea\nnew",
    "\u202ertl",
    "a.b",
    "d",
    "--",
]
WORDS = ["red", "blue", "it's", '"', "", "NULL", "<b>", "é\n", "\u202e", "true", "0", "--"]


def calibrators() -> list[cs.Calibrator]:
    rng = np.random.default_rng(5)
    y = rng.random(400) < 0.4
    s = cs.sweep(y, rng.normal(size=400) + y)
    return [
        cs.Affine(1.7, 0.2),
        cs.Affine(0.0, 0.2),
        cs.calibrate(s, "monotone"),
        cs.Monotone([2.0, 0.5, -3.0], [2.5, 0.1, -np.pi], interpolate=True, tilt=2**-10, scale=3.0),
        cs.Monotone([1.0], [0.5], interpolate=True),
        cs.Monotone([-np.inf], [0.5]),
        cs.Monotone([np.inf, 0.0, -np.inf], [np.inf, 1.0, -np.inf]),
        cs.Monotone([0.0, -np.inf], [2.0, -1.0], tilt=2**-10, centre=0.3),
        cs.Gaussian(1.0, 2.0, 0.0, 1.0, low=-0.3, high=9.0),
        cs.Gaussian(1.0, 2.0, 0.0, 1.0, low=-0.3, high=9.0).then(cs.Affine(0.5, 0.1)),
        cs.calibrate(s, "monotone").then(cs.Affine(2.0, 0.1)).then(cs.Affine(0.5, 0.0)),
    ]


def rows(n: int, seed: int = 0, *, dates: bool = False, empty: bool = True) -> pa.Table:
    """A table with hostile names and values, and with missing ones."""
    rng = np.random.default_rng(seed)
    words = WORDS if empty else [w for w in WORDS if w not in MISSING]

    def gone(values: Any, type: pa.DataType) -> pa.Array:
        return pa.array(values, type, mask=rng.random(n) < 0.2)

    columns = {
        NAMES[0]: pa.array(rng.normal(size=n)),
        NAMES[1]: gone(rng.normal(size=n) * 100 + 5, pa.float64()),
        NAMES[2]: gone(rng.choice(words, n), pa.string()),
        NAMES[3]: gone(rng.integers(-3, 4, n), pa.int64()),
        NAMES[4]: gone(rng.random(n) < 0.4, pa.bool_()),
        NAMES[5]: pa.array(rng.choice(words[:3], n)),
        NAMES[6]: gone(rng.normal(size=n).astype(np.float32), pa.float32()),
        NAMES[7]: pa.array(rng.random(n) < 0.5),
        NAMES[8]: pa.array(rng.choice([10115, 20095], n)),
    }
    if dates:
        day = [dt.date(2020, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 900, n)]
        columns["day"] = gone(day, pa.date32())
        stamps = [
            dt.datetime(1965, 3, 1, 7, 30) + dt.timedelta(milliseconds=int(k))
            for k in rng.integers(0, 10**12, n)
        ]
        columns["at"] = gone(stamps, pa.timestamp("ms"))
    return pa.table(columns)


def made(
    train: pa.Table, calibrator: cs.Calibrator | None = None, seed: int = 0, **more: Any
) -> Detector:
    e = Encoding.fit(
        train,
        min_rows=2,
        max_categories=8,
        categories=[n for n in ["a.b"] if n in train.schema.names],
    )
    rng = np.random.default_rng(seed)
    line = cs.LinearDetector(rng.normal(size=len(e.features)), float(rng.normal()))
    options = {"aim": cs.Aim(prior=0.07), "threshold": 0.25} | more
    return hand_made((e, line), calibrator=calibrator or cs.Affine(1.5, 0.1), **options)


def in_duckdb(query: str, table: pa.Table, name: str = "data") -> list[dict[str, Any]]:
    with duckdb.connect() as con:
        con.register(name, table)
        out: list[dict[str, Any]] = con.sql(query).to_arrow_table().to_pylist()
        return out


def in_sqlite(query: str, table: pa.Table, name: str = "data") -> list[dict[str, Any]]:
    def quoted(n: str) -> str:
        return '"' + n.replace('"', '""') + '"'

    con = sqlite3.connect(":memory:")
    try:
        con.execute(f"create table {quoted(name)} ({', '.join(map(quoted, table.schema.names))})")
        marks = ", ".join("?" * table.num_columns)
        values = zip(*(map(_plain, c.to_pylist()) for c in table.columns), strict=True)
        con.executemany(f"insert into {quoted(name)} values ({marks})", values)
        cursor = con.execute(query)
        names = [c[0] for c in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    finally:
        con.close()


def _plain(v: Any) -> Any:
    if isinstance(v, dt.datetime):
        return v.isoformat(sep=" ", timespec="milliseconds")
    return v.isoformat() if isinstance(v, dt.date) else v


def agree(wanted: pa.Table, got: list[dict[str, Any]], tolerance: float = 1e-9) -> None:
    assert len(got) == wanted.num_rows
    for name in ("score", "llr", "probability"):
        a = wanted[name].to_numpy()
        b = np.array([row[name] for row in got], float)
        with np.errstate(invalid="ignore"):  # inf - inf
            same = (a == b) | (np.abs(a - b) <= tolerance * np.maximum(1, np.abs(a)))
        assert same.all(), (name, a[~same][:3], b[~same][:3])
    assert [bool(row["decision"]) for row in got] == wanted["decision"].to_pylist()


# -------------------------------------------------------------------------------------------- SQL


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_sql_decides_as_the_detector(engine: Any, calibrator: cs.Calibrator) -> None:
    d = made(rows(300), calibrator)
    new = rows(300, seed=1)
    agree(d.apply(new), engine(to_sql(d), new))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(5, 60))
def test_sql_on_random_tables(seed: int, n: int) -> None:
    train = rows(n, seed)
    try:
        d = made(train, seed=seed)
    except DataError:
        assume(False)
    new = rows(n, seed + 1)
    wanted = d.apply(new)
    for engine in (in_duckdb, in_sqlite):
        agree(wanted, engine(to_sql(d), new))


@pytest.mark.parametrize(("engine", "dialect"), [(in_duckdb, "duckdb"), (in_sqlite, "sqlite")])
def test_dates_in_sql(engine: Any, dialect: str) -> None:
    # Empty text and NULL are missing values in SQLite.
    empty = dialect != "sqlite"
    d = made(rows(300, dates=True, empty=empty))
    new = rows(300, seed=1, dates=True, empty=empty)
    agree(d.apply(new), engine(to_sql(d, dialect=dialect), new))
    with finding("bad-argument", parameter="dialect"):
        to_sql(d)


def test_text_that_sqlite_imports() -> None:
    """What .import makes: every column is TEXT, and what is missing is empty."""
    d = made(rows(300, dates=True, empty=False))
    new = rows(300, seed=1, dates=True, empty=False)

    def text(v: Any) -> str:
        v = _plain(v)
        return "" if v is None else str(v).lower() if isinstance(v, bool) else str(v)

    texts = pa.table({n: [text(v) for v in new[n].to_pylist()] for n in new.schema.names})
    agree(d.apply(new), in_sqlite(to_sql(d, dialect="sqlite"), texts))
    # So are numbers that are stored as numbers, and a mixture.
    agree(d.apply(new), in_sqlite(to_sql(d, dialect="sqlite"), new))
    d = made(pa.table({"x": [1.0, 2.0, None, 5.0]}))
    odd = [" 7 ", "", "1e3", "9007199254740993", "-.5", "nan"]
    numbers = [7.0, None, 1e3, 9007199254740993.0, -0.5, None]
    got = in_sqlite(to_sql(d, dialect="sqlite"), pa.table({"x": odd}))
    agree(d.apply(pa.table({"x": numbers})), got)


def test_raw_text_is_missing_in_sqlite_where_it_is_in_csv(tmp_path: Path) -> None:
    """The same file, by apply and by what .import makes of it: every field as it is written."""
    rng = np.random.default_rng(3)
    words = [*ConvertOptions().null_values, "none", "7", "8.5", "-1e1"]
    number = [w for w in words if w != "none"]
    lines = [
        f"{rng.choice(number)},{rng.choice(['red', 'blue', *words])},"
        f"{rng.choice(['true', 'false', *MISSING])}"
        for _ in range(400)
    ]
    file = tmp_path / "raw.csv"
    file.write_text("x,c,b\n" + "\n".join(lines) + "\n")
    d = made(open_table(file).read())
    assert {term.column.missing > 0 for term in d.scorer.terms} == {True}
    fields = zip(*(line.split(",") for line in lines), strict=True)
    raw = pa.table(dict(zip("xcb", map(list, fields), strict=True)))
    agree(d.apply(open_table(file)), in_sqlite(to_sql(d, dialect="sqlite"), raw))
    # What was a level of training, with quotes, stays one.
    d = made(pa.table({"c": ["NA", "red"] * 9}))
    got = in_sqlite(to_sql(d, dialect="sqlite"), pa.table({"c": ["NA", "red", "null"]}))
    agree(d.apply(pa.table({"c": ["NA", "red", None]})), got)


NOTHING = dict.fromkeys(("score", "llr", "probability", "decision"))


@pytest.mark.parametrize("threshold", [0.25, np.inf, -np.inf])
@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_what_apply_refuses_is_null_in_sqlite(
    calibrator: cs.Calibrator, threshold: float, tmp_path: Path
) -> None:
    """1,234 may be a thousand: apply refuses it, and SQL decides nothing about such a row."""
    day = [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None, dt.date(2024, 3, 1)]
    train = {"x": [1.0, 2.0, None, 5.0], "b": [True, False, True, None], "day": day}
    d = made(pa.table(train), calibrator, threshold=threshold)
    good = {"x": "3.5", "b": "true", "day": "2024-02-02"}
    odd = {
        "x": ["1,234", "1.034,56", "12abc", "abc", "0x10", "$5", " NA ", "  ", "inf", "-1e999"],
        "b": ["yes", "2", "-", "t"],
        "day": ["24.04.2025", "soon", "2024-13-01"],
    }
    lines = [good | {name: value} for name, values in odd.items() for value in values]
    file = tmp_path / "odd.csv"
    for line in lines:
        pd.DataFrame([line]).to_csv(file, index=False)
        with pytest.raises(DataError):
            d.apply(open_table(file))
    query = to_sql(d, dialect="sqlite")
    got = in_sqlite(
        query, pa.Table.from_pylist([*lines, good, good | {"x": "NA", "b": "", "day": ""}])
    )
    assert got[:-2] == [NOTHING] * len(lines)
    as_read = {"x": [3.5, None], "b": [True, None], "day": [dt.date(2024, 2, 2), None]}
    agree(d.apply(pa.table(as_read)), got[-2:])
    # Infinite numbers that are stored as such, and bytes.
    for value in (np.inf, -np.inf, b"3"):
        one = pa.Table.from_pylist([{"x": value, "b": True, "day": "2024-02-02"}])
        assert in_sqlite(query, one) == [NOTHING]


def test_remedies_for_text_in_sqlite(tmp_path: Path) -> None:
    """What the page on tables says to do with amounts and marks after .import."""
    d = made(pa.table({"x": [1.0, 2.0, None, 5.0]}))
    texts = ["1034,56", "-9999", "7", "0,5", ""]
    file = tmp_path / "cases.csv"
    file.write_text("x;k\n" + "".join(f"{text};{k}\n" for k, text in enumerate(texts)))
    base = sqlite3.connect(":memory:")
    base.execute("create table data (x text)")
    base.executemany("insert into data values (?)", [(text,) for text in texts])
    base.execute("update data set x = replace(x, ',', '.')")
    base.execute("update data set x = nullif(x, '-9999')")
    cursor = base.execute(to_sql(d, dialect="sqlite"))
    names = [c[0] for c in cursor.description]
    got = [dict(zip(names, row, strict=True)) for row in cursor]
    base.close()
    agree(d.apply(open_table(file, decimal=",", missing=["-9999"])), got)


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
@pytest.mark.parametrize("threshold", [np.inf, -np.inf, "tie"])
def test_thresholds_in_sql(engine: Any, threshold: Any) -> None:
    table = rows(200)
    d = made(table)
    if threshold == "tie":
        threshold = float(np.sort(d.scores(table))[100])  # a score itself: it is flagged
    d = made(table, threshold=threshold)
    out = engine(to_sql(d), table)
    agree(d.apply(table), out)
    assert sum(bool(row["decision"]) for row in out) == int(d.decide(table).sum())


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
@pytest.mark.parametrize("name", ['we"ird', "x'; drop table y; --", "select", "a.b", "\u202e\n"])
def test_names_of_tables_and_kept_columns(engine: Any, name: str) -> None:
    table = rows(50)
    d = made(table)
    out = engine(to_sql(d, name, keep=['q"uote', "a b"]), table, name)
    assert list(out[0]) == ['q"uote', "a b", "score", "llr", "probability", "decision"]
    assert [row["a b"] for row in out] == table["a b"].to_pylist()
    agree(d.apply(table), out)


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
def test_a_column_that_is_not_there(engine: Any) -> None:
    """SQLite would take an unknown name in quotes for text, if the query let it."""
    table = rows(50)
    query = to_sql(made(table))
    with pytest.raises((duckdb.Error, sqlite3.Error)):
        engine(query, table.drop_columns(["x"]))


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
def test_many_columns_levels_and_steps(engine: Any) -> None:
    rng = np.random.default_rng(0)
    n, k = 60, 700
    table = pa.table({f"x{j}": rng.normal(size=n) for j in range(k)})
    steps = np.sort(rng.normal(size=3000))[::-1]
    value = np.sort(rng.normal(size=3001))[::-1]
    d = made(table, cs.Monotone(np.append(steps, -np.inf), value))
    agree(d.apply(table), engine(to_sql(d), table))
    words = pa.table({"c": [f"w{j % 900}" for j in range(9000)]})
    e = Encoding.fit(words, max_categories=1000)
    line = cs.LinearDetector(rng.normal(size=len(e.features)), 0.0)
    d = hand_made((e, line))
    agree(d.apply(words.slice(0, 950)), engine(to_sql(d), words.slice(0, 950)))


def test_nan_is_missing_in_duckdb() -> None:
    d = made(pa.table({"x": [1.0, 2.0, None, 5.0]}))
    new = pa.table({"x": [np.nan, 1.0, None]})
    agree(d.apply(new), in_duckdb(to_sql(d), new))


def test_what_sql_can_not_say() -> None:
    d = made(pa.table({"a": [1.0, 2.0], "A": [3.0, 5.0]}))
    with finding("names-repeat", first="a", second="A"):
        to_sql(d)
    with finding("not-exportable", format="SQL"):
        to_sql(made(pa.table({"a\0": [1.0, 2.0]})))
    with finding("not-exportable", format="SQL"):
        to_sql(made(pa.table({"c": ["\0", "b", "\0", "b"]})))
    x = made(pa.table({"x": [1.0, 2.0]}))
    with finding("bad-argument", parameter="dialect"):
        to_sql(x, dialect="oracle")
    with finding("column-reserved", column="Score"):
        to_sql(x, keep=["Score"])
    with finding("bad-argument", parameter="keep"):
        to_sql(x, keep="x")


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
def test_columns_called_like_the_results(engine: Any) -> None:
    rng = np.random.default_rng(0)
    names = ("score", "llr", "probability", "decision", "scored", "step0")
    table = pa.table({name: rng.normal(size=40) for name in names})
    d = made(table)
    agree(d.apply(table), engine(to_sql(d, keep=["scored"]), table))


# ------------------------------------------------------------------------------------------- ONNX


def run(model: Any, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    values = [v.ravel() for v in session.run(None, inputs)]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_onnx_decides_as_the_detector(calibrator: cs.Calibrator) -> None:
    d = made(rows(300, empty=False, dates=True), calibrator)
    new = rows(300, seed=1, empty=False, dates=True)
    agree(d.apply(new), run(to_onnx(d), onnx_inputs(d, new)))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(5, 60))
def test_onnx_on_random_tables(seed: int, n: int) -> None:
    try:
        d = made(rows(n, seed, empty=False), seed=seed)
    except DataError:
        assume(False)
    new = rows(n, seed + 1, empty=False)
    agree(d.apply(new), run(to_onnx(d), onnx_inputs(d, new)))


@pytest.mark.parametrize("calibrator", calibrators()[:5], ids=lambda c: c.kind)
def test_onnx_in_float32(calibrator: cs.Calibrator) -> None:
    d = made(rows(300, empty=False), calibrator)
    new = rows(2000, seed=1, empty=False)
    wanted = d.apply(new)
    got = run(to_onnx(d, dtype="float32"), onnx_inputs(d, new, dtype="float32"))
    score = np.array([row["score"] for row in got])
    assert score.dtype == np.float32
    size = np.abs(wanted["score"].to_numpy()) + 1
    assert (np.abs(score - wanted["score"].to_numpy()) <= 1e-5 * size).all()
    # Next to a step or the threshold rounding decides; elsewhere all is the same.
    clear = np.abs(wanted["score"].to_numpy() - d.policy.threshold) > 1e-4
    flagged = np.array([row["decision"] for row in got])
    assert np.array_equal(flagged[clear], wanted["decision"].to_numpy()[clear])
    if not isinstance(calibrator, cs.Monotone) or calibrator.interpolate:
        p = np.array([row["probability"] for row in got])
        assert np.abs(p - wanted["probability"].to_numpy()).max() < 1e-5


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, "tie"])
def test_thresholds_in_onnx(threshold: Any) -> None:
    table = rows(200, empty=False)
    d = made(table)
    if threshold == "tie":
        threshold = float(np.sort(d.scores(table))[100])
    d = made(table, threshold=threshold)
    agree(d.apply(table), run(to_onnx(d), onnx_inputs(d, table)))


def test_onnx_of_many_columns() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.normal(size=20) for j in range(300)})
    d = made(table)
    agree(d.apply(table), run(to_onnx(d), onnx_inputs(d, table)))


def test_what_onnx_can_not_say() -> None:
    with finding("not-exportable", value="score", format="ONNX"):
        to_onnx(made(pa.table({"score": [1.0, 2.0]})))
    with finding("bad-argument", parameter="dtype"):
        to_onnx(made(pa.table({"x": [1.0, 2.0]})), dtype="float16")  # type: ignore[arg-type]
    with finding("detector-without-columns"):
        to_onnx(hand_made(LinearScorer((), 0.0)))


def in_python(d: Detector, table: pa.Table) -> list[dict[str, Any]]:
    module: dict[str, Any] = {}
    exec(to_python(d), module)
    scores = [module["score"](row) for row in table.to_pylist()]
    return [
        {"score": s, "decision": module["decide"](s)}
        | {name: module[name](s) for name in ("llr", "probability")}
        for s in scores
    ]


@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_python_decides_as_the_detector(calibrator: cs.Calibrator) -> None:
    table = rows(400, seed=7, dates=True)
    d, new = made(table, calibrator), rows(400, seed=8, dates=True)
    wanted, got = d.apply(new), in_python(d, new)
    assert [row["score"] for row in got] == wanted["score"].to_pylist()
    agree(wanted, got)


def test_python_has_the_bits_of_many_terms() -> None:
    rng = np.random.default_rng(3)
    table = pa.table({f"x{k}": rng.normal(size=20) * 10.0 ** (k % 7) for k in range(600)})
    d = made(table)
    assert [row["score"] for row in in_python(d, table)] == d.scores(table).tolist()


@pytest.mark.parametrize(
    ("column", "training", "values"),
    [
        ("number", [1.5, 2.0, None, 4.0], ["1.5", " 2e0 ", "NA", "", True, float("nan"), 3]),
        ("whole", [10, 20, 10, 20], ["10", "010", " 20 ", "2e1", 20.0, 7, "x", "", None]),
        ("text", ["10", "a", "10", "a"], ["10", "10.0", 10, 10.0, "a", "", None, "never"]),
        ("flag", [True, False, None, True], ["TRUE", "0", 1, 0.0, "NaN", None, np.True_]),
        (
            "day",
            [dt.date(2020, 1, 1), dt.date(2021, 5, 3), None, dt.date(1969, 2, 1)],
            ["2020-01-31", "2020-01-31 12:30", dt.datetime(1960, 1, 1, 1, 2, 3, 4), "", None],
        ),
    ],
)
def test_python_reads_values_as_the_detector(column: str, training: Any, values: Any) -> None:
    names = [column] if column in ("whole", "text") else []
    e = Encoding.fit({column: pa.array(training)}, min_rows=1, categories=names)
    weights = np.random.default_rng(0).normal(size=len(e.features))
    d = hand_made((e, cs.LinearDetector(weights, 0.1)), calibrator=cs.Affine(1.0, 0.0))
    module: dict[str, Any] = {}
    exec(to_python(d), module)
    for value in values:
        kept = dt.datetime if isinstance(value, dt.datetime) else None
        one = pa.array([value]) if kept or not isinstance(value, np.bool_) else pa.array([True])
        if column in ("number", "day") and isinstance(value, str):  # as in a file of text
            one = pa.array([value]) if value not in MISSING else pa.nulls(1)
            one = one if column == "day" or value in MISSING else pa.array([float(value)])
        assert module["score"]({column: value}) == d.scores({column: one})[0], value


@pytest.mark.parametrize(
    ("column", "training", "value"),
    [
        ("number", [1.5, 2.0], "x"),
        ("number", [1.5, 2.0], float("inf")),
        ("number", [1.5, 2.0], "1_0"),
        ("text", ["a", "b"], 1.5),
        ("text", ["a", "b"], True),
        ("flag", [True, False], 2),
        ("day", [dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "2020-02-30"),
        ("day", [dt.date(2020, 1, 1), dt.date(2021, 1, 1)], 5),
    ],
)
def test_python_refuses_what_the_detector_refuses(column: str, training: Any, value: Any) -> None:
    e = Encoding.fit({column: pa.array(training)}, min_rows=1)
    line = cs.LinearDetector(np.ones(len(e.features)), 0.1)
    module: dict[str, Any] = {}
    exec(to_python(hand_made((e, line), calibrator=cs.Affine(1.0, 0.0))), module)
    with pytest.raises(ValueError, match=" must hold "):
        module["score"]({column: value})


def test_onnx_says_what_it_is() -> None:
    d = made(rows(50, empty=False), column="y", positive="1")
    model = to_onnx(d)
    props = {p.key: p.value for p in model.metadata_props}
    assert props["target"] == "y"
    assert props["fingerprint"] == d.training.fingerprint
    assert model.producer_name == "cutscore"


# ----------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("calibrator", calibrators(), ids=lambda c: c.kind)
def test_scikit_learn_decides_as_the_detector(calibrator: cs.Calibrator) -> None:
    d = made(rows(300, dates=True), calibrator)
    new = rows(300, seed=1, dates=True)
    frame = new.to_pandas()
    wanted = d.apply(new)
    for model in (
        to_sklearn(d),
        make_pipeline(to_sklearn(d)).fit(frame),
        clone(to_sklearn(d)).fit(),
        pickle.loads(pickle.dumps(to_sklearn(d))),
    ):
        proba = model.predict_proba(frame)
        assert proba.shape == (300, 2)
        assert np.abs(proba[:, 1] - wanted["probability"].to_numpy()).max() <= 1e-9
        assert proba.sum(axis=1) == pytest.approx(1)
        assert np.array_equal(model.predict(frame), wanted["decision"].to_numpy())
        away = model.decision_function(frame)
        assert away == pytest.approx(wanted["score"].to_numpy() - d.policy.threshold, abs=1e-9)
        assert np.array_equal(away >= 0, wanted["decision"].to_numpy())


def test_scikit_learn_labels_and_arrays() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, 7.0], "z": [0.5, 1.0, 9.0]})
    d = made(pa.Table.from_pandas(table), positive="fraud", column="y")
    model = to_sklearn(d)
    assert model.classes_.tolist() == ["fraud", "not fraud"]
    assert np.array_equal(model.predict(table) == "fraud", d.decide(table))
    assert set(model.predict(table)) <= {"not fraud", "fraud"}
    assert np.array_equal(model.predict(table.to_numpy()), model.predict(table))
    assert model.feature_names_in_.tolist() == ["x", "z"]
    # Columns are told by their names, in any order.
    assert np.array_equal(model.predict_proba(table[["z", "x"]]), model.predict_proba(table))
    with finding("bad-argument", parameter="X"):
        model.predict(np.ones((3, 5)))
    with finding("column-missing", column="z"):
        model.predict(table[["x"]])


@pytest.mark.parametrize("kind", ["int64", "int8", "float64", "bool"])
@pytest.mark.parametrize("positive", [1, 0])
def test_scikit_learn_predicts_labels_of_the_kind_it_was_trained_on(
    kind: str, positive: int
) -> None:
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(kind)
    table = pd.DataFrame({"x": y + rng.normal(size=200), "y": y})
    label = y.dtype.type(positive).item()
    d = train(table, "y", positive=label, learner="mean-difference").detector
    model = to_sklearn(Detector.from_json(d.to_json()))
    predicted = model.predict(table)
    assert predicted.dtype.kind == y.dtype.kind
    assert np.array_equal(predicted == positive, d.decide(table))
    assert model.classes_.tolist() == [0, 1]
    # Raises where labels and predictions are of different kinds.
    assert f1_score(y, predicted, pos_label=label) > 0.3
    assert 0 < model.score(table, y) <= 1


def test_text_stays_text_in_scikit_learn() -> None:
    table = pa.table({"x": [1.0, 2.0, 7.0]})
    for label in ("true", "2", "1.5", "yes"):
        model = to_sklearn(made(table, positive=label, column="y"))
        assert model.classes_.tolist() == sorted([f"not {label}", label])


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        (0, 1),
        (1, 0),
        (0.0, 1.0),
        (False, True),
        (True, False),
        (-1, 1),
        (1, -1),
        (1, 2),
        (2, 1),
        ("legit", "fraud"),
        ("fraud", "legit"),
        ("0", "1"),
    ],
)
def test_scorers_of_scikit_learn_say_what_the_detector_says(negative: Any, positive: Any) -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(400) < 0.3
    x = np.round(rng.normal(size=400) + 2 * ill, 1)  # with ties
    y = np.where(ill, np.array(positive), np.array(negative))
    table = pd.DataFrame({"x": x, "y": y})
    d = train(table, "y", positive=positive, learner="mean-difference").detector
    assert pair(d) == (negative, positive)
    d = Detector.from_json(d.to_json())
    assert [type(v) for v in pair(d)] == [type(negative), type(positive)]
    # At a score itself: it is flagged, whichever class is the first.
    d = d.revised(threshold=float(np.sort(d.scores(table))[260]), drop_limits=True)
    model = to_sklearn(d)
    assert model.classes_.tolist() == sorted([negative, positive])
    flagged, p, score = d.decide(table), d.probability(table), d.scores(table)
    assert (score == d.policy.threshold).any()
    predicted = model.predict(table)
    assert predicted.dtype.kind == y.dtype.kind
    assert np.array_equal(predicted == positive, flagged)
    away, off = model.decision_function(table), score != d.policy.threshold
    assert np.array_equal(away[off] > 0, predicted[off] == model.classes_[1])
    assert (away[~off] == 0).all()
    wanted = {
        "accuracy": np.mean(flagged == ill),
        "roc_auc": cs.sweep(ill, score).auc,
        "neg_log_loss": np.mean(np.log(np.where(ill, p, 1 - p))),
    }
    for name, value in wanted.items():
        assert get_scorer(name)(model, table, y) == pytest.approx(value, abs=1e-12), name
    assert wanted["roc_auc"] > 0.8


def test_several_negative_labels_are_one_in_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for labels, positive in (([0, 1, 2], 1), (["legit", "fraud", "unknown"], "fraud")):
        y = rng.choice(labels, 300)
        table = pd.DataFrame({"x": rng.normal(size=300) + 2 * (y == positive), "y": y})
        d = train(table, "y", positive=positive, learner="mean-difference").detector
        assert pair(d)[0] is None
        model = to_sklearn(Detector.from_json(d.to_json()))
        other = f"not {positive}"
        assert model.classes_.tolist() == sorted([other, str(positive)])
        assert np.array_equal(model.predict(table) == str(positive), d.decide(table))
        two = np.where(y == positive, str(positive), other)
        auc = cs.sweep(y == positive, d.scores(table)).auc
        assert get_scorer("roc_auc")(model, table, two) == pytest.approx(auc, abs=1e-12)
        assert auc > 0.8


def test_labels_that_were_not_named_are_kept() -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(300) < 0.3
    x = rng.normal(size=300) + 2 * ill
    weight = np.where(np.arange(300) % 7 == 0, 0.0, 1.0)
    for y, labels in ((ill, (False, True)), (np.where(ill, 1, -1), (-1, 1)), (ill * 1.0, (0, 1))):
        table = pd.DataFrame({"x": x, "y": y, "w": weight})
        for more in ({"exclude": ["w"]}, {"weight": "w"}, {"weight": "w", "stream": True}):
            d = train(table, "y", learner="mean-difference", **more).detector
            assert pair(d) == labels
            assert to_sklearn(d).predict(table).dtype == y.dtype


# --------------------------------------------------------------------------------------- Markdown


def pair(d: Detector) -> tuple[Any, Any]:
    return d.policy.labels.negative, d.policy.labels.positive


def card(**more: Any) -> str:
    return to_markdown(made(rows(200), **more))


def test_the_card_says_it_all() -> None:
    out = card(
        aim=cs.Aim(cs.Costs(fp=1, fn=20), "recall >= 0.9", prior=0.07, confidence=0.95),
        column="fraud",
        positive="yes",
        training=Training(
            200,
            20,
            "logistic",
            0.91,
            cs.Interval(0.85, 0.95, 0.95),
            (Foreign("x", "note", "a note"),),
        ),
        evidence=cs.Sweep.from_counts([1, 0], pos=[17, 3], neg=[8, 172]),
        threshold=0.5,
        promises={
            "cost": Expected(0.21, 0.15, 0.3, 0.95),
            "recall": Expected(0.9, 0.8, 0.95, 0.95),
            "fpr": Expected(0.05, 0.01, 0.1, 0.95),
        },
    )
    assert out.startswith("# Model for fraud = yes\n")
    assert "| cost per 1,000 cases | 210 (95 % CI 150–300) |" in out
    assert "| flagged | 17 | 8 |" in out
    # 7 % positive: 700 of 10,000, of which 90 % are caught; 5 % of the other 9,300 are flagged.
    assert (
        "Expected per 10,000 cases: 700 positive; 630 caught, 70 missed, 465 false alarms." in out
    )
    assert "Cross\\-validated AUC" not in out
    assert "Cross-validated AUC: 0.910 (95 % CI 0.850–0.950)." in out
    assert "subject to recall >= 0.9 at 95 % confidence: " in out
    assert "- a note" in out
    assert "few positives" in out
    assert ": 1 per false positive, 20 per false negative." in out
    for heading in ("## Performance", "## Data", "## Columns", "## Limitations"):
        assert f"\n{heading}\n" in out


def test_numbers_and_dates_of_the_card_are_for_people() -> None:
    table = pa.table({"day": [dt.date(2024, 12, 24), dt.date(2024, 12, 26)] * 20})
    weighted = cs.Sweep.from_counts([1, 0], pos=[1234567.891, 3.0], neg=[0.123456789, 4e6])
    out = to_markdown(
        made(
            table,
            aim=cs.Aim(cs.Costs(fp=1, fn=30, tp=2.5, tn=-0.5), prior=0.07),
            training=Training(40, 4),
            evidence=weighted,
        )
    )
    assert "each day above 2024-12-25 (standard deviation 1 days)" in out
    assert "| flagged | 1,234,600 | 0.12346 |" in out
    assert "| not flagged | 3 | 4,000,000 |" in out
    assert (
        text("1 per false positive, 30 per false negative, a benefit of 2.5 per true positive")
        in out
    )


def test_the_card_reads_well_as_it_is() -> None:
    out = card(
        threshold=-3.574,
        calibrator=cs.Affine(2.0, -0.5),
        aim=cs.Aim("recall", ("flagged_rate <= 0.05", "fpr < 0.1"), prior=0.07),
        column="since_when (days)",
        training=Training(9, 3, notes=(Foreign("x", "note", "'R&D' has -3.5, +2 and 100 % > 1!"),)),
    )
    assert "to **flag score ≥ -3.574**" in out
    assert "subject to flagged_rate <= 0.05 and fpr < 0.1." in out
    assert "LLR = 2 (score + 0.5), affine" in out
    assert "# Model for since_when (days) = " in out
    assert "- 'R&D' has -3.5, +2 and 100 % > 1!" in out


def test_the_card_of_a_fresh_detector_is_that_of_a_saved_one() -> None:
    """The comparison of methods, which comes with a fresh calibrator, is no part of either."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    fresh = cs.calibrate(cs.sweep(y, y + rng.normal(size=200)))
    assert fresh.comparison is not None
    for calibrator in (fresh, fresh.then(cs.Affine(2.0, 0.1)), cs.Affine(2.0, 0.1).then(fresh)):
        d = made(rows(50), calibrator)
        saved = Detector.from_json(d.to_json())
        assert to_markdown(d) == to_markdown(saved)
        assert repr(d) == repr(saved)
        assert d._repr_html_() == saved._repr_html_()
        assert "log loss" not in repr(d)


def test_the_card_warns_of_few_positives() -> None:
    assert "trained on few positives" in card(training=Training(400, 99))
    assert "trained on few positives" not in card(training=Training(400, 100))


def test_names_are_text_in_the_card() -> None:
    out = card(
        column="<img onerror=x>",
        positive="a|b\n# c",
        training=Training(9, 3, notes=(Foreign("x", "note", "[x](y)"),)),
    )
    assert "<script" not in out
    assert "<img" not in out
    assert "<b>" not in out
    assert "\u202e" not in out
    assert "\n# c" not in out
    assert "[x](y)" not in out
    # Lines of tables have as many cells as their heads, 3 or 4, whatever the names contain.
    table = [line for line in out.splitlines() if line.startswith("| ")]
    import re

    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {4, 5}


@given(st.text(max_size=30))
def test_text_has_no_markup(value: str) -> None:
    import html

    from markdown_it import MarkdownIt

    out = text(value)
    assert "\n" not in out
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(f"x{out}x")
    inner = rendered.strip().removeprefix("<p>x").removesuffix("x</p>")
    assert "<" not in inner
    shown = "".join(c if c.isprintable() else "\ufffd" for c in re_space(value))
    assert html.unescape(inner) == shown


MARKS = st.text(
    st.sampled_from("\\`*_{}[]()#+-.!|~$<>&=:;/\"'@ \t\n019axx\u00e9\u2019\u202f"), max_size=14
)
MARKUP = [
    *(
        "# a",
        "a #",
        "a ##",
        "- a",
        " - a",
        "+ a",
        "+",
        "-",
        "---",
        "- - -",
        "1. a",
        "1) a",
        "9.",
        "> a",
    ),
    *(
        "```",
        "~~~",
        "~~a~~",
        "***",
        "___",
        "__a__",
        "_a_",
        "a__b",
        "*a*",
        "[a]: /b",
        "[a](b)",
        "![a](b)",
    ),
    *(
        "[ ] a",
        "[x] a",
        "<b>",
        "<a@b.c>",
        "<=@b.c>",
        "</p>",
        "<!-- a",
        "<?a",
        "<http://a.b>",
        "&lt;",
        "&#60;",
    ),
    *(
        "&#x3c;",
        "a\\",
        "\\",
        "a|b",
        "| - |",
        "===",
        "`a`",
        "a`",
        "<",
        "<=",
        "< a",
        "<= a",
        "&",
        "a_",
        "_",
    ),
]


@given(MARKS | st.sampled_from(MARKUP))
def test_text_is_text_wherever_it_stands(value: str) -> None:
    """In a heading, at the start of an item, between marks of ours and in a cell."""
    import html

    from markdown_it import MarkdownIt

    # As GitHub has it: tables and strikethrough, and HTML let through.
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    shown = "".join(c if c.isprintable() else "\ufffd" for c in re_space(value)).strip()
    assume(shown)
    out = text(value)
    head = "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>"
    for source, before, after in (
        (f"# of {out}", "<h1>of", "</h1>"),
        (f"- {out}\n- b", "<ul>\n<li>", "</li>\n<li>b</li>\n</ul>"),
        (f"- **a {out} b**: c", "<ul>\n<li><strong>a", "b</strong>: c</li>\n</ul>"),
        (f"{out}", "<p>", "</p>"),
        (f"| a |\n| --- |\n| {out} |", head, "</td>\n</tr>\n</tbody>\n</table>"),
    ):
        page = markdown.render(source).strip()
        assert page.startswith(before), page
        assert page.endswith(after), page
        inner = page.removeprefix(before).removesuffix(after)
        assert "<" not in inner, page
        assert html.unescape(inner).strip() == shown, page


def re_space(value: str) -> str:
    import re

    return re.sub(r"\s+", " ", value)


def test_long_lists_of_levels_are_cut() -> None:
    words = pa.table({"c": [f"w{j % 40}" for j in range(4000)]})
    e = Encoding.fit(words, max_categories=50)
    line = cs.LinearDetector(np.arange(len(e.features), dtype=float), 0.0)
    d = hand_made((e, line))
    assert "| c | 28 more levels |  |  |" in to_markdown(d)
