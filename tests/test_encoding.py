"""Columns to features: what each column is, that it is said, and that features mean it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

import cutscore as cs
from cutscore.core.findings.base import Where
from cutscore.core.findings.training import ColumnUnused
from cutscore.detector import CategoryColumn, Encoding, NumberColumn, column_summaries
from cutscore.tables import open_table, write_table
from cutscore.tables.frames import Frame
from cutscore.training import train
from detectors import hand_made
from raising import finding

TABLE = {
    "age": [30.0, 40.0, None, 50.0, 35.0, 45.0],
    "colour": ["red", "blue", "red", None, "red", "green"],
    "member": [True, False, None, True, True, False],
    "since": [dt.date(2020, 1, k) for k in (1, 2, 3, 4, 5, 6)],
    "unit": ["cm"] * 6,
    "y": [0, 1, 0, 1, 0, 1],
}


def fitted(table: Any = None, **options: Any) -> Encoding:
    return Encoding.fit(TABLE if table is None else table, **{"min_rows": 1, **options})


def note(e: Encoding, name: str) -> Any:
    (found,) = [n for n in e.notes if n.column == name]
    return found


def unfit(name: str, row: int, **fields: Any) -> Any:
    """An error about a value in this row, counted from 0."""
    return finding("value-unfit", column=name, where=Where(row, column=name), **fields)


# -------------------------------------------------------------------------------- what becomes what


def test_every_column_is_said() -> None:
    e = fitted(target="y")
    assert e.features == [
        "age",
        "age is missing",
        "colour = blue",
        "colour = green",
        "colour is missing",
        "member = false",
        "member is missing",
        "since",
    ]
    assert e.names == ["age", "colour", "member", "since"]
    assert e.rows == 6
    assert [n.column for n in e.notes] == ["age", "colour", "member", "since", "unit"]
    assert note(e, "unit") == ColumnUnused("unit", "constant", "'cm'")
    since = note(e, "since")
    assert (since.code, since.date, since.mean) == ("column-number", True, "2020-01-03")
    colour = note(e, "colour")
    assert (colour.code, colour.reference, colour.missing) == ("column-category", "'red'", 1 / 6)
    assert (note(e, "member").boolean, note(e, "age").missing) == (True, 1 / 6)


def test_values_by_hand() -> None:
    X = fitted(target="y").transform(TABLE)
    age = np.array([30, 40, np.nan, 50, 35, 45.0])
    z = (age - 40) / np.std(age[~np.isnan(age)])
    z[2] = 0
    assert np.array_equal(X[:, 0], z)
    assert X[:, 1].tolist() == [0, 0, 1, 0, 0, 0]
    assert X[:, 2].tolist() == [0, 1, 0, 0, 0, 0]
    assert X[:, 3].tolist() == [0, 0, 0, 0, 0, 1]
    assert X[:, 4].tolist() == [0, 0, 0, 1, 0, 0]
    assert X[:, 5].tolist() == [0, 1, 0, 0, 0, 1]
    assert X[:, 6].tolist() == [0, 0, 1, 0, 0, 0]
    days = np.arange(18262, 18268.0)
    assert X[:, 7] == pytest.approx((days - days.mean()) / days.std(), abs=1e-12)


def test_what_training_never_had_counts_as_the_average() -> None:
    table = {"n": [1.0, 2.0, 6.0, 3.0], "c": ["a", "a", "b", "a"], "b": [True, False, True, True]}
    e = fitted(table)
    assert e.features == ["n", "c = b", "b = false"]
    X = e.transform({"n": [None], "c": ["new"], "b": pa.array([None], pa.bool_())})
    assert X.tolist() == [[0.0, 0.25, 0.25]]
    assert e.transform(table).mean(axis=0)[1:].tolist() == [0.25, 0.25]


def test_rare_levels_are_other() -> None:
    values = ["a"] * 9 + ["b"] * 7 + ["c"] * 5 + ["d"] * 4 + ["e"]
    e = Encoding.fit({"c": values})
    assert e.features == ["c = b", "c = c", "c = other"]
    assert (note(e, "c").rare, note(e, "c").other) == (2, 5 / 26)
    assert e.transform({"c": ["d", "e", "new", "a"]}).tolist() == [[0, 0, 1]] * 3 + [[0, 0, 0]]
    two = Encoding.fit({"c": values}, max_categories=2)
    # Ten rows are "other" now, more than any level has: the others are told from them.
    assert two.features == ["c = a", "c = b"]
    assert note(two, "c").reference == "'other'"


def test_levels_are_ordered_by_frequency_then_alphabet() -> None:
    e = fitted({"c": ["z", "y", "x", "x", "w", "z"]})
    column = e.columns[0]
    assert isinstance(column, CategoryColumn)
    assert column.levels == ("x", "z", "w", "y")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["x"] * 30, ("constant", "'x'")),
        ([5] * 30, ("constant", "5")),
        ([dt.date(2020, 2, 1)] * 30, ("constant", "2020-02-01")),
        ([None] * 30, ("empty", "")),
        (pa.array([None] * 30, pa.float64()), ("empty", "")),
        (pa.array([None] * 30, pa.string()), ("empty", "")),
        ([f"id-{k}" for k in range(30)], ("identifier", "")),
        (pa.array([[k] for k in range(30)], pa.list_(pa.int8())), ("type", "list<item: int8>")),
        ([b"x"] * 30, ("type", "binary")),
        ([f"r{k // 2}" for k in range(30)], ("rare", "5")),
    ],
)
def test_columns_that_are_not_used(values: Any, why: tuple[str, str]) -> None:
    good = [float(k % 7) for k in range(30)]
    e = Encoding.fit({"bad": values, "good": good})
    assert e.names == ["good"]
    assert note(e, "bad") == ColumnUnused("bad", *why)
    with finding("no-features", first="bad", reason=why[0], value=why[1]):
        Encoding.fit({"bad": values})


def test_too_many_values_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_summaries, "_MOST_VALUES", 10)
    e = Encoding.fit({"c": [f"v{k % 12}" for k in range(200)], "n": [k % 9 for k in range(200)]})
    assert note(e, "c") == ColumnUnused("c", "many", "10")


LAST = 2**63 - 1


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1, 31),
        np.arange(30.0),
        np.arange(30, dtype=np.uint8)[::-1],
        np.arange(-100, 101, dtype=np.int8)[::-1],
        np.cumsum(1 + np.arange(30) % 5),  # some rows are gone
        [LAST - 60 + 2 * k for k in range(30)],  # all of them one float
        np.arange(2**64 - 30, 2**64, dtype=np.uint64),
    ],
    ids=lambda v: str(v[0]),
)
def test_row_ids_are_left_out_unless_they_are_named(values: Any) -> None:
    table = {"id": values, "x": [0.5 * (k % 7) for k in range(len(values))]}
    for chunk in (7, 10**6):
        rows = pa.table(table)
        cut = pa.concat_tables(rows.slice(k, chunk) for k in range(0, len(rows), chunk))
        e = Encoding.fit(cut)
        assert e.names == ["x"]
        assert note(e, "id").reason == "row-ids"
    for named in ({"numbers": ["id"]}, {"columns": ["id", "x"]}):
        if len({float(v) for v in values}) == 1:
            break  # one value, as floats
        assert Encoding.fit(table, **named).names == ["id", "x"]
    with finding("no-features", first="one", reason="constant"):
        Encoding.fit({"one": [1] * len(values), "id": values})


@pytest.mark.parametrize(
    "values",
    [
        np.arange(19),  # few
        np.random.default_rng(1).permutation(3000),  # in no order
        np.r_[0, np.arange(40)],  # 0 is there twice
        np.r_[np.arange(40), 39],
        np.r_[np.arange(40), 5],
        np.arange(40) + 0.5,
        pa.array([*range(40), None]),
        [None] * 5 + list(range(40)),
    ],
    ids=lambda v: str(v[0]),
)
def test_other_whole_numbers_are_used(values: Any) -> None:
    rows = pa.table({"n": values})
    for chunk in (1, 7, 10**6):
        e = Encoding.fit(pa.concat_tables(rows.slice(k, chunk) for k in range(0, len(rows), chunk)))
        assert e.names == ["n"]


@pytest.mark.parametrize("what", ["category", "number"])
def test_what_has_another_role_is_no_feature(what: str) -> None:
    table = {"x": [1, 2, 3, 4], "u": [1, 1, 2, 2], "y": [0, 1, 0, 1]}
    said = {"categories" if what == "category" else "numbers": ["u"]}
    (own,) = said
    for role, others in (
        ("exclude", {"exclude": ["u"], "target": "y"}),
        ("columns", {"columns": ["x"]}),
        ("target", {"target": "u"}),
    ):
        with finding("arguments-conflict", column="u", parameters=(role, own)):
            Encoding.fit(table, **said, **others)
    with finding("arguments-conflict", column="u", parameters=("unit", own)):
        train(table, "y", unit="u", **said)


def test_what_is_said_of_a_column_must_fit() -> None:
    table = {"x": [1, 2, 3], "c": ["007", "8", "9"]}
    with finding("arguments-conflict", column="x", parameters=("categories", "numbers")):
        Encoding.fit(table, numbers=["x"], categories=["x"])
    with finding("column-missing", column="y"):
        Encoding.fit(table, numbers=["y"])
    with unfit("c", 0, wanted="numbers", value="007"):
        Encoding.fit(table, numbers=["c"])
    # The first that can't be read is to blame, wherever it is.
    for where in (1, 70_000):
        amounts = [None, *["1.5"] * where, "1.234,56", "x"]
        with unfit("c", where + 1, value="1.234,56"):
            Encoding.fit({"c": amounts}, numbers=["c"])
    assert Encoding.fit({"b": [True, False, True]}, numbers=["b"]).features == ["b"]


@pytest.mark.parametrize("where", [0, 1, 70_000])
@pytest.mark.parametrize("bad", ["<0.5", "3,5", "?"])
def test_the_value_that_is_to_blame_is_named(tmp_path: Path, where: int, bad: str) -> None:
    file = tmp_path / "a.csv"
    e = Encoding.fit({"x": [1.0, 2.0], "z": [1.0, 2.0]})
    lines = [f"3.0;{k % 7}" for k in range(70_010)]
    lines[where] = f"{bad};1"
    file.write_text("x;z\n" + "\n".join(lines) + "\n")
    for task in (
        lambda: Encoding.fit(open_table(file), numbers=["x"]),
        lambda: e.transform(open_table(file)),
        lambda: list(e.blocks(open_table(file))),
    ):
        with unfit("x", where, wanted="numbers", value=bad):
            task()


@pytest.mark.parametrize("t", [pa.large_string(), pa.string_view(), "dictionary"], ids=str)
def test_the_value_to_blame_in_any_type_of_text(t: Any) -> None:
    values = [None, "3.0", "8.4", "<0.5"]
    column = pa.array(values).dictionary_encode() if t == "dictionary" else pa.array(values, t)
    with unfit("x", 3, value="<0.5"):
        Encoding.fit({"x": column, "z": [1, 2, 3, 4]}, numbers=["x"])


def test_codes_in_files(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("c,x\n" + "007,05\n07,6\n7,7.5\n" * 7)
    e = Encoding.fit(open_table(file), numbers=["x"])
    assert e.features == ["c = 07", "c = 7", "x"]
    assert e.columns[1].mean == pytest.approx(18.5 / 3)
    X = e.transform(open_table(file))
    assert X[:3, :2].tolist() == [[0, 0], [1, 0], [0, 1]]
    assert np.concatenate(list(e.blocks(open_table(file)))).tolist() == X.tolist()
    plain = tmp_path / "b.csv"
    plain.write_text("c,x\n7,5\n8,6\n")
    assert e.transform(open_table(plain))[:, :2].tolist() == [[0, 1], [1 / 3, 1 / 3]]


def test_long_whole_numbers_stay_apart() -> None:
    ids = [2**53, 2**53 + 1, 2**64 - 1]
    for t in (pa.uint64(), pa.decimal128(38, 0)):
        e = Encoding.fit({"c": pa.array(ids * 9, t)}, categories=["c"])
        assert sorted(e.columns[0].levels) == sorted(map(str, ids))
    with unfit("c", 0, wanted="text or whole numbers"):
        Encoding.fit({"c": [float(v) for v in ids] * 9}, categories=["c"])


def test_numbers_as_names_only_if_asked() -> None:
    table = {"zip": [1, 2, 1, 3, None, 1], "w": [1.0, 2.0, 1.0, 2.0, 5.0, 9.0]}
    assert fitted(table).features == ["zip", "zip is missing", "w"]
    e = fitted(table, categories=["zip", "w"])
    assert e.features[:4] == ["zip = 2", "zip = 3", "zip is missing", "w = 2"]
    # The same numbers in any type, and as text.
    for values in ([2, 9], [2.0, 9.0], ["2", "9"], [Decimal(2), Decimal(9)]):
        X = e.transform({"zip": values, "w": [1, 1]})
        assert X[0, :3].tolist() == [1, 0, 0]
    with unfit("zip", 1, value=2.5):
        e.transform({"zip": [1.0, 2.5], "w": [1, 1]})
    with finding("column-missing", column="nix"):
        fitted(table, categories=["nix"])


def test_dates_and_times() -> None:
    stamps = [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 3, 18, 30, 15, 250), None]
    expected = [18262.5, 18264 + (18.5 * 3600 + 15.00025) / 86400, np.nan]
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC"):
            some = stamps if unit in ("us", "ns") else [stamps[0], None, None]
            column = pa.array(some, pa.timestamp(unit, zone))
            x = NumberColumn("d", 0.0, 1.0, kind="date").values(column)
            wanted = expected if unit in ("us", "ns") else [18262.5, np.nan, np.nan]
            assert x == pytest.approx(wanted, abs=1e-11, nan_ok=True)
    old = pa.array([dt.date(1969, 12, 31), dt.date(1, 1, 1)])
    assert NumberColumn("d", 0, 1, kind="date").values(old).tolist() == [-1, -719162]
    assert NumberColumn("d", 0, 1, kind="date").values(old.cast(pa.date64())).tolist() == [
        -1,
        -719162,
    ]


def test_nan_is_missing_and_infinity_an_error() -> None:
    e = fitted({"x": [1.0, np.nan, 2.0]})
    assert e.features == ["x", "x is missing"]
    for data in ({"x": [1.0, np.inf]}, {"x": [1.0, -np.inf]}):
        with unfit("x", 1, wanted="finite numbers"):
            e.transform(data)
        with unfit("x", 1, wanted="finite numbers"):
            fitted(data)
    with finding("beyond-floats", what="squares of 'x'"):
        fitted({"x": [1e300, -1e300]})


# -------------------------------------------------------------------------------------- bad input


def test_wrong_columns_and_types() -> None:
    e = fitted(target="y")
    with finding("column-missing", column="age", names=("colour",)):
        e.transform({"colour": ["red"]})
    good = {"age": [1], "colour": ["red"], "member": [True], "since": [dt.date(2020, 1, 1)]}
    assert e.transform(good | {"more": [1]}).shape == (1, 8)
    for name, values, row, wanted in (
        ("age", [None, "x"], 1, "numbers"),
        ("age", [dt.date(2020, 1, 1)] * 2, 0, "numbers"),
        ("member", [1, 2], 1, "true and false, or 1 and 0"),
        ("member", ["yes", "no"], 0, "true and false"),
        ("since", [1.0, 2.0], 0, "dates"),
        ("since", ["2024-07-41"] * 2, 0, "dates"),
        ("since", ["2024-07-11", "31/12/2020"], 1, "dates"),
        ("age", ["1", "2"], 0, "numbers"),
        ("age", ["1", "2,5"], 1, "numbers"),
        ("colour", [[1], [2]], 0, "text"),
    ):
        bad = {key: value * 2 for key, value in good.items()} | {name: values}
        with unfit(name, row, wanted=wanted):
            e.transform(bad)
    # Booleans may come as 0 and 1, numbers as booleans, and nothing at all as anything.
    assert e.transform(good | {"member": [0]})[0, 5] == 1
    assert e.transform(good | {"age": [True]})[0, 0] == e.transform(good)[0, 0]
    empty = {name: pa.nulls(1) for name in good}
    assert e.transform(empty).tolist() == [[0, 1, 0, 0, 1, 0, 1, 0]]


def test_rows_are_counted_through_batches() -> None:
    table = pa.table({"x": np.arange(200_000.0)})
    e = Encoding.fit(table, numbers=["x"])
    x = np.arange(200_000.0)
    x[150_000] = np.inf
    with unfit("x", 150_000, value=np.inf):
        e.transform(pa.table({"x": x}))


def test_wrong_arguments() -> None:
    for options, code, fields in (
        ({"target": "z"}, "column-missing", {"column": "z"}),
        ({"columns": ["agee"]}, "column-missing", {"column": "agee", "near": ["age"]}),
        ({"exclude": ["z"]}, "column-missing", {"column": "z"}),
        ({"columns": "age"}, "bad-argument", {"parameter": "columns", "value": "age"}),
        (
            {"columns": ["y"], "target": "y"},
            "arguments-conflict",
            {"parameters": ("target", "columns")},
        ),
        ({"max_categories": 0}, "bad-argument", {"parameter": "max_categories", "value": 0}),
        ({"min_rows": 0}, "bad-argument", {"parameter": "min_rows", "value": 0}),
    ):
        with finding(code, **fields):
            fitted(**options)
    for data in (3, [1, 2], "x.csv", None, {"a": [1], "b": [1, 2]}):
        with finding("bad-argument"):
            Encoding.fit(data)
    with finding("no-rows"):
        Encoding.fit({"a": pa.array([], pa.float64())})
    with finding("no-rows"):
        fitted().transform({k: pa.array([], pa.null()) for k in TABLE})
    twice = pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])
    with finding("names-repeat", first="a"):
        Encoding.fit(twice)


# ------------------------------------------------------------------------------ the same everywhere


def test_any_kind_of_table(tmp_path: Path) -> None:
    table = pa.table(TABLE)
    write_table(tmp_path / "t.parquet", table)
    write_table(tmp_path / "t.csv", table)
    e = fitted(table, target="y")
    X = e.transform(table)
    sources: list[Any] = [
        TABLE,
        table.to_batches()[0],
        table.to_pandas(),
        pl.from_arrow(table),
        open_table(tmp_path / "t.parquet"),
        open_table(tmp_path / "t.csv"),
        table.set_column(1, "colour", table["colour"].dictionary_encode()),
    ]
    for data in sources:
        other = fitted(data, target="y")
        assert other.columns == e.columns
        assert other.notes == e.notes
        assert other.fingerprint == e.fingerprint
        assert np.array_equal(e.transform(data), X)
        assert np.array_equal(e.transform(data, sparse=True).toarray(), X)
    assert isinstance(e.transform(pd.DataFrame(TABLE)), np.ndarray)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A few columns of any kind, with missing values."""
    n = draw(st.integers(2, 30))
    word = st.sampled_from(["a", "b", "", "true", "NA", "x'y", "other", "\u202e"])
    values = {
        # Not so small that their squares are 0.
        "n": st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-100),
        "i": st.integers(-5, 5),
        "c": word,
        "b": st.booleans(),
        "d": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    }
    types = {
        "n": pa.float64(),
        "i": pa.int64(),
        "c": pa.string(),
        "b": pa.bool_(),
        "d": pa.date32(),
    }
    out = {}
    for k, kind in enumerate(draw(st.lists(st.sampled_from("nicbd"), min_size=1, max_size=4))):
        one = st.one_of(st.none(), values[kind]) if draw(st.booleans()) else values[kind]
        drawn = draw(st.lists(one, min_size=n, max_size=n))
        out[f"{kind}{k}"] = pa.array(drawn, types[kind])
    out["z"] = pa.array(np.arange(n) / 2)  # one that is always used
    return pa.table(out)


@given(tables(), st.integers(1, 4), st.integers(1, 3))
def test_properties(table: pa.Table, most: int, least: int) -> None:
    e = Encoding.fit(table, max_categories=most, min_rows=least)
    X = e.transform(table)
    assert X.shape == (table.num_rows, len(e.features))
    assert len(set(e.features)) == len(e.features) or any("=" in f for f in e.features)
    assert np.isfinite(X).all()
    assert len(e.notes) == table.num_columns
    for column, place in zip(e.columns, e.places, strict=True):
        part = X[:, place]
        if isinstance(column, NumberColumn):
            assert abs(part[:, 0].mean()) < 1e-6
            here = ~np.asarray(table[column.name].is_null())
            # Distances between subnormal numbers have lost the digits that would tell a width.
            if here.any() and np.ptp(part[here, 0]) > 1e-300:
                assert part[here, 0].std() == pytest.approx(1, abs=1e-6)
        else:
            # One feature at a time, and on average the shares.
            assert set(np.unique(part)) <= {0.0, 1.0}
            assert part.sum(axis=1).max() <= 1
            assert part.mean(axis=0) == pytest.approx(column.share[column.featured], abs=1e-12)
            assert column.share.sum() == pytest.approx(1, abs=1e-12)
            assert column.reference not in column.featured
    assert np.array_equal(e.transform(table, sparse=True).toarray(), X)
    # Row by row, and in another order of rows.
    assert np.array_equal(
        np.concatenate([e.transform(table.slice(k, 1)) for k in range(3) if k < table.num_rows]),
        X[:3],
    )
    again = Encoding.fit(
        table.take(list(range(table.num_rows))[::-1]), max_categories=most, min_rows=least
    )
    assert again.fingerprint == e.fingerprint
    assert again.features == e.features


@given(tables(), st.integers(1, 7))
def test_one_pass_in_any_batches(table: pa.Table, size: int) -> None:
    class Batches(Frame):
        def batches(self, columns: Any = None, *, numbers: Any = (), texts: Any = None) -> Any:  # noqa: ARG002
            names = columns or table.schema.names
            yield from table.select(names).combine_chunks().to_batches(size)

    whole, parts = fitted(table), fitted(Batches(table))
    assert parts.fingerprint == whole.fingerprint
    assert parts.features == whole.features
    for a, b in zip(whole.columns, parts.columns, strict=True):
        if isinstance(a, NumberColumn):
            assert isinstance(b, NumberColumn)
            assert b.mean == pytest.approx(a.mean, rel=1e-12, abs=1e-9)
            assert b.scale == pytest.approx(a.scale, rel=1e-9)
            assert (b.missing, b.kind) == (a.missing, a.kind)
        else:
            assert a == b
    assert np.array_equal(whole.transform(Batches(table)), whole.transform(table))


def test_the_fingerprint_tells_tables_apart() -> None:
    prints = [
        fitted({"a": [1, 2, 3]}).fingerprint,
        fitted({"a": [1, 2, 4]}).fingerprint,
        fitted({"b": [1, 2, 3]}).fingerprint,
        fitted({"a": [1, 2, 3, 3]}).fingerprint,
        fitted({"a": ["1", "2", "3"]}).fingerprint,
        fitted({"a": ["1", "2", "2"]}).fingerprint,
        fitted({"a": [1, 2, None]}).fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert prints[0].startswith("sha256:")
    assert len(prints[0]) == 7 + 64


@pytest.mark.parametrize("sparse", [False, True])
def test_matrices(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 5)) < 0.3, rng.normal(size=(200, 5)) + 2, 0.0)
    X[:, 3] = 0.0
    X[:, 4] = 7.0
    names = [str(k) for k in range(5)]
    e = Encoding.of_matrix(csr_array(X) if sparse else X, names)
    assert [c.mean for c in e.columns] == pytest.approx(X.mean(axis=0), abs=1e-13)
    wanted = [s or 1.0 for s in X.std(axis=0).tolist()]
    assert [c.scale for c in e.columns if isinstance(c, NumberColumn)] == pytest.approx(wanted)
    assert e.fingerprint == Encoding.of_matrix(X, names).fingerprint
    line = cs.LinearDetector(rng.normal(size=5), 0.3)
    table = {name: X[:, k] for k, name in enumerate(names)}
    assert e.from_raw(line).scores(e.transform(table)) == pytest.approx(X @ line.w + 0.3, abs=1e-12)
    with finding("bad-argument", parameter="X"):
        Encoding.of_matrix(X, ["a"])
    with finding("bad-argument", parameter="X", rule="contain finite numbers"):
        Encoding.of_matrix(np.array([[np.nan]]), ["a"])
    with finding("lengths-differ", name="weight"):
        fitted(target="y").from_raw(line)


def test_matrix_of_float32_is_added_up_in_float64() -> None:
    X = (1000 + np.random.default_rng(0).normal(size=(300_000, 2))).astype(np.float32)
    mean, scale = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    for matrix in (X, np.asfortranarray(X), csr_array(X), csc_array(X)):
        used = [
            c for c in Encoding.of_matrix(matrix, ["a", "b"]).columns if isinstance(c, NumberColumn)
        ]
        assert [c.mean for c in used] == pytest.approx(mean, rel=1e-13)
        assert [c.scale for c in used] == pytest.approx(scale, rel=1e-10)


def test_entries_of_one_place_are_one_number() -> None:
    X = csc_array(([3.0, 4.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    dense, sparse = (Encoding.of_matrix(M, ["a", "b"]) for M in (X.toarray(), X))
    assert sparse.columns == dense.columns
    assert X.nnz == 3


def test_libsvm_files_are_tables(tmp_path: Path) -> None:
    (tmp_path / "a.libsvm").write_text("1 1:0.5 3:2\n0 2:1\n1 1:4\n0 3:1\n")
    source = open_table(tmp_path / "a.libsvm")
    X, _ = source.sparse()
    e = Encoding.of_matrix(X, source.names[1:])
    line = cs.LinearDetector(np.array([1.0, -2.0, 0.5]), 0.1)
    d = hand_made((e, e.from_raw(line)))
    assert d.scores(source) == pytest.approx(X @ line.w + 0.1, abs=1e-14)
    # A file without the last feature: it is 0 there, not missing.
    (tmp_path / "b.libsvm").write_text("1 1:1\n")
    assert d.scores(open_table(tmp_path / "b.libsvm")) == pytest.approx([1.1], abs=1e-14)


def test_moments_far_from_zero() -> None:
    x = 1e9 + np.arange(100_000) % 7 * 1e-3
    column = Encoding.fit(pa.table({"x": x})).columns[0]
    assert isinstance(column, NumberColumn)
    assert column.scale == pytest.approx(np.std(np.arange(100_000) % 7 * 1e-3), rel=1e-4)
    assert column.mean == pytest.approx(np.mean(x), rel=1e-15)


def test_wide_categories_are_sparse_unless_asked() -> None:
    rng = np.random.default_rng(0)
    table = {f"c{k}": [f"v{v}" for v in rng.integers(0, 40, 3000)] for k in range(4)}
    e = Encoding.fit(table)
    X = e.transform(table)
    assert X.shape == (3000, 4 * 39)
    assert X.nnz < 4 * 3000
    assert np.array_equal(X.toarray(), e.transform(table, sparse=False))
    assert repr(e) == "Encoding of 4 columns into 156 features, by 3,000 rows"


def test_categories_of_polars_are_text() -> None:
    """Dictionaries of views of text, which Arrow can hardly do anything with."""
    words = ["b", "a", None, "b"] * 10
    table = pl.DataFrame(
        {
            "c": pl.Series(words).cast(pl.Categorical),
            "e": pl.Series(words).cast(pl.Enum(["a", "b", "c"])),
            "t": words,
        }
    )
    e = Encoding.fit(table)
    assert {c.levels for c in e.columns} == {("b", "a")}
    X = e.transform(table)
    width = X.shape[1] // 3
    assert np.array_equal(X[:, :width], X[:, 2 * width :])
    assert np.array_equal(X[:, width : 2 * width], X[:, 2 * width :])


def test_a_column_that_was_asked_for_must_be_of_use() -> None:
    table = {"x": [1.0, 2.0], "s": [{"a": 1}, {"a": 2}]}
    assert note(Encoding.fit(table), "s") == ColumnUnused("s", "type", "struct<a: int64>")
    with finding("type-unfit", name="'s'", kind="struct<a: int64>"):
        Encoding.fit(table, columns=["x", "s"])


def test_weights_count_as_rows() -> None:
    """A row of weight 3 as three rows, one of weight 0 as none."""
    rng = np.random.default_rng(2)
    n = 500
    table = pa.table(
        {
            "x": pa.array(rng.normal(1e6, 1, n), mask=rng.random(n) < 0.1),
            "c": rng.choice(["a", "b", "rare", None], n, p=[0.5, 0.3, 0.01, 0.19]).tolist(),
            "b": rng.random(n) < 0.2,
            "d": pa.array(rng.integers(0, 10_000, n).astype(np.int32)).cast(pa.date32()),
        }
    )
    times = rng.integers(0, 4, n)
    again = table.take(np.repeat(np.arange(n), times))
    weighted, repeated = fitted(table, weight=times, min_rows=7), fitted(again, min_rows=7)
    assert weighted.features == repeated.features
    for a, b in zip(weighted.columns, repeated.columns, strict=True):
        if isinstance(a, CategoryColumn):
            assert isinstance(b, CategoryColumn)
            assert (a.levels, a.shares, a.other, a.missing) == (
                b.levels,
                b.shares,
                b.other,
                b.missing,
            )
        else:
            assert isinstance(b, NumberColumn)
            assert (a.mean, a.scale) == pytest.approx((b.mean, b.scale), rel=1e-9)
            assert (a.missing, a.low, a.high) == (b.missing, b.low, b.high)


def test_a_level_is_rare_by_its_weight() -> None:
    table = pa.table({"c": ["few"] * 3 + ["p", "q"] * 50})
    assert "few" not in fitted(table, min_rows=5).columns[0].levels  # type: ignore[union-attr]
    heavy = fitted(table, min_rows=5, weight=[1000.0] * 3 + [1.0] * 100)
    assert heavy.columns[0].levels[0] == "few"  # type: ignore[union-attr]


def test_of_matrix_counts_by_weight() -> None:
    rng = np.random.default_rng(3)
    X = np.where(rng.random((60, 3)) < 0.5, rng.normal(5, 2, (60, 3)), 0.0)
    times = rng.integers(0, 4, 60)
    names = ["1", "2", "3"]
    again = Encoding.of_matrix(np.repeat(X, times, axis=0), names)
    for form in (X, csr_array(X)):
        e = Encoding.of_matrix(form, names, times)
        for a, b in zip(e.columns, again.columns, strict=True):
            assert isinstance(a, NumberColumn)
            assert isinstance(b, NumberColumn)
            assert (a.mean, a.scale) == pytest.approx((b.mean, b.scale), rel=1e-12)
        assert e.rows == np.count_nonzero(times)


@pytest.mark.parametrize(
    ("weight", "code"),
    [
        ([1.0], "lengths-differ"),
        ([1.0] * 4, "lengths-differ"),
        ([1.0, -1.0, 1.0], "bad-weight"),
        ([0.0, 0.0, 0.0], "no-rows"),
    ],
)
def test_bad_weights(weight: list[float], code: str) -> None:
    with finding(code):
        Encoding.fit({"x": [1.0, 2.0, 4.0]}, weight=weight)
