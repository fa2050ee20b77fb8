"""Decisions by the costs of each row in SQL, Python and tables are alike; ONNX refuses them."""

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
from cutscore.core.findings.rows import CostsUndecided
from cutscore.detector import Detector
from cutscore.policy import Cuts, Policy
from raising import finding

Rows = list[tuple[float | None, float | None, float | None]]
AMOUNT, FEE = "the amount", 'a "fee"'
FORMULA = 'max("the amount", 2) * 0.5 + "a ""fee""" - min("the amount", 1) / 4'


def policy(*, reverse: bool = False, calibrator: Any = "platt") -> Policy:
    rng = np.random.default_rng(3)
    y = rng.random(600) < 0.3
    x = np.round(rng.normal(size=600) + 1.5 * y, 2)
    amount, fee = rng.lognormal(1, 1, 600).round(2), rng.integers(0, 3, 600).astype(float)
    costs = cs.Costs(fp='"a ""fee"""', fn=FORMULA, tn=0.5)
    columns = {AMOUNT: amount, FEE: fee}
    return Policy.choose_by_row(
        y, -x if reverse else x, costs, columns, calibrator=calibrator, reverse=reverse
    )


POLICIES = {
    "high": policy(),
    "low": policy(reverse=True),
    "ties": replace(policy(calibrator=cs.Affine(1.0, 0.0)), cuts=Cuts((0.25,))),
    "isotonic": policy(calibrator="isotonic"),
    "all": replace(policy(), cuts=Cuts((-inf,))),
    "nothing": replace(policy(), cuts=Cuts((inf,))),
}


def rows() -> Rows:
    """Scores and two columns: ends, nulls, stakes of 0, ties at a threshold of 0.25, and others."""
    scores = (0.25, float(np.nextafter(0.25, 1)), float(np.nextafter(0.25, 0)), 3.0, -3.0)
    out: Rows = [(x, a, f) for x in scores for a in (0.0, 2.0, 900.0) for f in (0.0, 1.0, 2.0)]
    # A miss costs 1.0 + 0.75 − 0.25 and a false alarm 0.75 + 0.5 more than the right decision.
    out += [(x, 2.0, 0.75) for x in scores] + [(x, 2.5, 0.5) for x in scores]
    out += [(None, 2.0, 1.0), (nan, 2.0, 1.0), (1.0, None, 1.0), (1.0, 2.0, None), (1.0, nan, 1.0)]
    out += [(inf, 2.0, 1.0), (-inf, 2.0, 1.0)]
    some = np.random.default_rng(4)
    x, a = some.uniform(-3, 3, 10_000).round(2), some.lognormal(1, 1, 10_000).round(2)
    f = some.integers(0, 3, 10_000)
    return out + list(zip(x.tolist(), a.tolist(), f.astype(float).tolist(), strict=True))


def expected(p: Policy, values: Rows) -> list[bool | None]:
    """By the policy itself."""
    known = [k for k, row in enumerate(values) if not any(v is None or isnan(v) for v in row)]
    x, a, f = (np.array(column) for column in zip(*(values[k] for k in known), strict=True))
    out: list[bool | None] = [None] * len(values)
    for k, flagged in zip(known, p.decide(x, columns={AMOUNT: a, FEE: f}).tolist(), strict=True):
        out[k] = flagged
    return out


def as_table(values: Rows) -> pa.Table:
    columns = zip(("score", AMOUNT, FEE), zip(*values, strict=True), strict=True)
    own = {name: pa.array(column, pa.float64()) for name, column in columns}
    return pa.table({"id": range(len(values)), **own})


def test_the_rows_tell_policies_apart() -> None:
    found = [expected(p, rows()) for p in POLICIES.values()]
    assert len({tuple(one) for one in found}) == len(found)
    assert all(one.count(None) == 5 for one in found)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("dialect", ["standard", "duckdb"])
def test_duckdb(name: str, dialect: str) -> None:
    import duckdb

    p, values = Policy.from_json(POLICIES[name].to_json()), rows()
    with duckdb.connect() as db:
        db.register("cases", as_table(values))
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
        found = [row[-1] for row in sorted(db.execute(sql).fetchall())]
    assert found == expected(p, values)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("dialect", ["standard", "sqlite"])
def test_sqlite(name: str, dialect: str) -> None:
    p, values = POLICIES[name], rows()
    with sqlite3.connect(":memory:") as db:
        db.execute(
            'CREATE TABLE cases (id INTEGER, score REAL, "the amount" REAL, "a ""fee""" REAL)'
        )
        numbered = [(k, *one) for k, one in enumerate(values)]
        db.executemany("INSERT INTO cases VALUES (?, ?, ?, ?)", numbered)
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
        found = [row[-1] for row in sorted(db.execute(sql).fetchall(), key=lambda row: row[0])]
    assert [None if d is None else bool(d) for d in found] == expected(p, values)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_postgresql(name: str, server: Path) -> None:
    p, values = POLICIES[name], rows()
    table = 'CREATE TABLE cases (id int, score float8, "the amount" float8, "a ""fee""" float8)'
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
    p, values = POLICIES[name], rows()
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    assert module["COLUMNS"] == (FEE, AMOUNT) or set(module["COLUMNS"]) == {AMOUNT, FEE}
    found = [module["decide"](x, {AMOUNT: a, FEE: f}) for x, a, f in values]
    assert found == expected(p, values)
    assert module["decide"](1.0, {AMOUNT: 2.0}) is None
    with pytest.raises(ValueError, match="at least 0"):
        module["decide"](1.0, {AMOUNT: 2.0, FEE: -20.0})


@pytest.mark.parametrize("name", POLICIES)
def test_tables(name: str) -> None:
    p, values = POLICIES[name], rows()
    table, d = as_table(values), Detector.of_policy(p)
    found = d.apply(table, keep=["id"])
    assert found.column("decision").to_pylist() == expected(p, values)
    assert found.column_names == ["id", "llr", "probability", "decision"]
    notes = [one for one in d.novelty(table) if isinstance(one, CostsUndecided)]
    assert [(one.rows, one.of) for one in notes] == [(3, len(values))]
    assert set(d.columns) == {"score", AMOUNT, FEE}
    assert d.decide(table.slice(0, 40)).tolist() == expected(p, values)[:40]


def test_what_can_not_be_exported_or_applied() -> None:
    p = POLICIES["high"]
    with finding("not-exportable"):
        p.export("onnx")
    with finding("column-reserved"):
        p.export("sql", keep=["cutscore cost 1"])
    assert "0.5" in p.export("card")
    bad = pa.table({"score": [1.0, 2.0], AMOUNT: [3.0, 4.0], FEE: [1.0, -9.0]})
    with finding("row-cost-unfit", row=1):
        Detector.of_policy(p).apply(bad)
    with finding("column-missing"):
        Detector.of_policy(p).apply(bad.drop([FEE]))
    with finding("value-unfit"):
        Detector.of_policy(p).apply(bad.set_column(2, FEE, pa.array(["1", "x"])))


def test_what_is_no_cost_is_no_decision_in_sql() -> None:
    import duckdb

    y, x, qty = [1, 0, 1, 0], [4, 3, 2, 1], [1.0, 2.0, 4.0, 5.0]
    p = Policy.choose_by_row(y, x, cs.Costs(fp=1, fn="9 / qty"), {"qty": qty}, calibrator="platt")
    new = pa.table({"score": [4.0, 4.0, 4.0], "qty": [1.0, 0.0, -3.0]})
    with duckdb.connect() as db:
        db.register("cases", new)
        found = [row[-1] for row in db.execute(p.export("sql", table="cases")).fetchall()]
    assert sorted(map(str, found)) == ["None", "None", "True"]
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    for quantity in (0.0, -3.0):
        with pytest.raises(ValueError, match="at least 0"):
            module["decide"](4.0, {"qty": quantity})
        with finding("row-cost-unfit"):
            p.decide([4.0], columns={"qty": [quantity]})
