"""Thresholds of groups in SQL, Python and tables decide alike; ONNX and reports refuse them."""

from __future__ import annotations

import csv
import io
import sqlite3
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cutscore as cs
import databases
from cutscore.core.findings.rows import GroupUndecided
from cutscore.detector import Detector
from cutscore.policy import Cuts, Policy
from cutscore.report import summarise_policy
from raising import finding

# Names that a careless query would trip over, and one that looks like a number.
NAMES = ("de", "Côte d'Ivoire", '"; DROP', "49", "none", "all")
Rows = list[tuple[float | None, str | None]]


def policy(*, reverse: bool = False) -> Policy:
    rng = np.random.default_rng(3)
    parts = {}
    for k, name in enumerate(NAMES):
        y = rng.random(300) < 0.3
        x = np.round(rng.normal(size=300) + 1.5 * y + 0.2 * k, 2)
        parts[name] = cs.sweep(y, -x if reverse else x)
    p = Policy.choose_groups(
        parts,
        cs.Costs(fp=1, fn=3),
        column="the country",
        thresholds="group",
        calibrator="platt",
        reverse=reverse,
    )
    # One group of which nothing is flagged, and one of which everything is.
    ends = {"none": (-inf if reverse else inf,), "all": (inf if reverse else -inf,)}
    return replace(p, cuts=Cuts((), {**p.cuts.groups, **ends}))


POLICIES = {"high": policy(), "low": policy(reverse=True)}


def rows(p: Policy) -> Rows:
    """Ties at the cut of each group, neighbours, ends, nulls, and groups that nobody knows."""
    out: Rows = []
    for name, (t,) in p.cuts.groups.items():
        cut = t if abs(t) < inf else 0.5
        near = [cut, float(np.nextafter(cut, inf)), float(np.nextafter(cut, -inf))]
        out += [(x, name) for x in (*near, inf, -inf, None, nan)]
    some = np.random.default_rng(4).uniform(-3, 3, 200).round(2)
    out += [(float(x), NAMES[k % len(NAMES)]) for k, x in enumerate(some)]
    odd = ("it", None, "DE", "de ", "", "49.5", "nan")
    return out + [(x, name) for name in odd for x in (5.0, -5.0, None)]


def expected(p: Policy, values: Rows) -> list[bool | None]:
    """By the policy itself, row by row."""
    return [
        None
        if x is None or isnan(x) or name not in p.cuts.groups
        else bool(p.decide([x], [name])[0])
        for x, name in values
    ]


def as_table(p: Policy, values: Rows) -> pa.Table:
    assert p.groups is not None
    scores, names = zip(*values, strict=True)
    columns = {
        "id": range(len(values)),
        p.score: pa.array(scores, pa.float64()),
        p.groups.column: pa.array(names, pa.string()),
    }
    return pa.table(columns)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("dialect", ["standard", "duckdb"])
def test_duckdb(name: str, dialect: str) -> None:
    import duckdb

    p = Policy.from_json(POLICIES[name].to_json())
    values = rows(p)
    with duckdb.connect() as db:
        db.register("cases", as_table(p, values))
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
        found = [row[-1] for row in sorted(db.execute(sql).fetchall())]
    assert found == expected(p, values)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("dialect", ["standard", "sqlite"])
def test_sqlite(name: str, dialect: str) -> None:
    p = POLICIES[name]
    values = rows(p)
    with sqlite3.connect(":memory:") as db:
        db.execute('CREATE TABLE cases (id INTEGER, score REAL, "the country" TEXT)')
        db.executemany(
            "INSERT INTO cases VALUES (?, ?, ?)", [(k, *one) for k, one in enumerate(values)]
        )
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id", "the country"])
        found = [row[-1] for row in sorted(db.execute(sql).fetchall(), key=lambda row: row[0])]
    assert [None if d is None else bool(d) for d in found] == expected(p, values)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_postgresql(name: str, server: Path) -> None:
    p = POLICIES[name]
    values = [one for one in rows(p) if one[1] != ""]  # an empty cell of CSV is NULL
    table = 'CREATE TABLE cases (id int, score float8, "the country" text)'
    databases.query(server, f"DROP TABLE IF EXISTS cases; {table}")
    text = io.StringIO()
    csv.writer(text).writerows((k, *one) for k, one in enumerate(values))
    databases.query(server, "COPY cases FROM STDIN CSV", text.getvalue())
    sql = p.export("sql", table="cases", keep=["id"])
    out = databases.query(server, f"{sql} ORDER BY id").stdout
    truth = {"t": True, "f": False, "": None}
    assert [truth[row[-1]] for row in csv.reader(io.StringIO(out))] == expected(p, values)


@pytest.mark.parametrize("name", POLICIES)
def test_python(name: str) -> None:
    p = POLICIES[name]
    values = rows(p)
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    assert [module["decide"](*one) for one in values] == expected(p, values)
    # Names are text, whatever type they come in.
    x = 3.0 if name == "high" else -3.0
    assert [module["decide"](x, one) for one in (49, 49.0, nan, None, 49.5)] == [
        True,
        True,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("name", POLICIES)
def test_tables(name: str) -> None:
    p = POLICIES[name]
    values = rows(p)
    table = as_table(p, values)
    d = Detector.of_policy(p)
    found = d.apply(table, keep=["id"])
    assert found.column("decision").to_pylist() == expected(p, values)
    assert found.column_names == ["id", "llr", "probability", "decision"]
    coded = table.set_column(2, "the country", table.column(2).dictionary_encode())
    assert d.apply(coded).column("decision").to_pylist() == expected(p, values)
    notes = [one for one in d.novelty(table) if isinstance(one, GroupUndecided)]
    assert [(one.rows, one.total, one.group) for one in notes] == [(21, len(values), "it")]
    assert d.columns == ["score", "the country"]
    known = table.slice(0, 4)
    assert d.decide(known).tolist() == expected(p, values)[:4]
    with pytest.raises(cs.DataError) as error:
        d.decide(table.slice(len(values) - 21, 1))
    assert error.value.finding.code == "group-unknown"


def test_what_can_not_be_exported() -> None:
    p = POLICIES["high"]
    with finding("not-exportable", value="the country"):
        p.export("onnx")
    with finding("column-reserved"):
        p.export("sql", keep=["cutscore group"])
    card = p.export("card")
    assert "## Groups" in card
    assert "Côte d'Ivoire" in card


def test_one_threshold_is_exported_as_any() -> None:
    parts = {"a": cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "b": cs.sweep([1, 0, 1, 0], [7, 4, 6, 5])}
    p = Policy.choose_groups(parts, "youden", calibrator="platt")
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    assert module["decide"](p.threshold) is True
    assert "cutscore group" not in p.export("sql")
    assert "## Groups" in p.export("card")
    assert summarise_policy(p).scores[0].auc is not None
