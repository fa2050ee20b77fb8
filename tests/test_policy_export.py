"""Exported policies decide as the policy does, everywhere."""

from __future__ import annotations

import csv
import io
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from math import inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
import databases
from cutscore.policy import Labels, Policy
from cutscore.policy.words import promise_text
from raising import finding

# decision, LLR and probability of each score; None where they are NULL
Answers = list[tuple[int | None, float | None, float | None]]


def evidence(n: int = 600, *, share: bool = False) -> cs.Sweep:
    rng = np.random.default_rng(7)
    y = rng.random(n) < 0.4
    x = np.round(rng.standard_normal(n) + 1.3 * y, 2)
    return cs.sweep(y, 1 / (1 + np.exp(-x)) if share else x)


def policies() -> dict[str, Policy]:
    s, p = evidence(), evidence(share=True)
    aim = cs.Aim(cs.Costs(fp=1, fn=2), prior=0.1)
    review = cs.Aim(cs.Costs(fp=5, fn=20, review=1), prior=0.1)
    steps = cs.calibrate(s, "isotonic")
    return {
        "affine": Policy.choose(s, aim, calibrator="platt"),
        "reversed": Policy.choose(s.negated(), aim, calibrator="platt", reverse=True),
        "reversed spline": Policy.choose(s.negated(), aim, calibrator="spline", reverse=True),
        "flat": Policy.choose(s, aim, calibrator=cs.Affine(0.0, 0.0)),
        "spline": Policy.choose(s, aim, calibrator="spline"),
        "steps": Policy.choose(s, aim, calibrator=steps),
        "strict": Policy.choose(s, aim, calibrator=cs.calibrate(s, "isotonic", strict=True)),
        "interpolated": Policy.choose(
            s, aim, calibrator=cs.calibrate(s, "isotonic", interpolate=True, strict=True)
        ),
        "gaussian": Policy.choose(
            s, aim, calibrator=cs.Gaussian(1.3, 1.2, 0.0, 1.0, low=-2.0, high=5.0)
        ),
        "beta": Policy.choose(p, aim, calibrator="beta"),
        "chain": Policy.choose(p, aim, calibrator=cs.calibrate(p, "beta").then(steps)),
        "review": Policy.choose(s, review, calibrator="platt"),
        "review of reversed": Policy.choose(s.negated(), review, calibrator="platt", reverse=True),
        "review all": Policy.choose(s, review, calibrator="platt", threshold=(-inf, inf)),
        "flag all": Policy.choose(s, aim, calibrator="platt", threshold=-inf),
        "flag none": Policy.choose(s, aim, calibrator="platt", threshold=inf),
        "flag none of reversed": Policy.choose(
            s.negated(), aim, calibrator="platt", threshold=-inf, reverse=True
        ),
    }


POLICIES = policies()


def scores(p: Policy, n: int = 10_000) -> list[float | None]:
    """Scores with nulls, NaN, infinities, and ties at the cut and around it."""
    rng = np.random.default_rng(11)
    low, high = p.range
    some: list[float | None] = rng.uniform(low - 0.2, high + 0.2, n).tolist()
    # PostgreSQL refuses to compute with the largest numbers, next to a threshold of infinity.
    near = [
        one
        for t in p.cuts.thresholds
        if isfinite(t)
        for one in (t, float(np.nextafter(t, inf)), float(np.nextafter(t, -inf)))
    ]
    for k, value in enumerate([None, nan, inf, -inf, *near, low, high]):
        some[k::97] = [value] * len(some[k::97])
    return some


def expected(p: Policy, values: list[float | None]) -> Answers:
    """By the policy itself."""
    x = np.array([nan if v is None else v for v in values])
    known = ~np.isnan(x)
    decision = np.full(len(x), None, object)
    decision[known] = p.decide(x[known])
    first = p.calibrator.steps[0] if isinstance(p.calibrator, cs.Chain) else p.calibrator
    low, high = first.domain
    inside = known & (x >= low) & (x <= high)
    llr, probability = (np.full(len(x), None, object) for _ in range(2))
    llr[inside], probability[inside] = p.llr(x[inside]), p.probability(x[inside])
    return list(zip(decision.tolist(), llr.tolist(), probability.tolist(), strict=True))


# ------------------------------------------------------------------------------------------ routes


def by_duckdb(p: Policy, values: list[float | None], dialect: str) -> Answers:
    import duckdb
    import pyarrow as pa

    data = pa.table({"id": range(len(values)), p.score: pa.array(values, pa.float64())})
    with duckdb.connect() as db:
        db.register("cases", data)
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
        return [row[2:] for row in _ordered(db.execute(sql).fetchall())]


def by_sqlite(p: Policy, values: list[float | None], dialect: str) -> Answers:
    with sqlite3.connect(":memory:") as db:
        db.execute(f'CREATE TABLE cases (id INTEGER, "{p.score}" REAL)')
        db.executemany("INSERT INTO cases VALUES (?, ?)", enumerate(values))
        sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
        return [
            (None if d is None else int(d), llr, probability)
            for _, _, llr, probability, d in sorted(db.execute(sql).fetchall())
        ]


def by_postgresql(server: Path, p: Policy, values: list[float | None], dialect: str) -> Answers:
    databases.query(
        server, f'DROP TABLE IF EXISTS cases; CREATE TABLE cases (id int, "{p.score}" float8)'
    )
    lines = "".join(f"{k},{'' if v is None else repr(v)}\n" for k, v in enumerate(values))
    databases.query(server, "COPY cases FROM STDIN CSV", lines)
    sql = p.export("sql", table="cases", dialect=dialect, keep=["id"])
    out = databases.query(server, f"SET extra_float_digits = 3; {sql} ORDER BY id").stdout
    truth = {"t": True, "f": False, "": None, "0": 0, "1": 1, "2": 2}
    return [
        (truth[d], *(float(v) if v else None for v in (llr, probability)))
        for _, _, llr, probability, d in csv.reader(io.StringIO(out))
    ]


def by_python(p: Policy, values: list[float | None], _: str) -> Answers:
    module: dict[str, Any] = {}
    exec(p.export("python"), module)
    ask = [module[name] for name in ("decide", "llr", "probability")]
    return [tuple(f(v) for f in ask) for v in values]  # type: ignore[misc]


def by_onnx(p: Policy, values: list[float | None], _: str) -> Answers:
    onnxruntime = pytest.importorskip("onnxruntime")
    model = p.export("onnx").SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    x = np.array([nan if v is None else v for v in values]).reshape(-1, 1)
    score, llr, probability, decision = (a.ravel().tolist() for a in session.run(None, {"x": x}))
    return [
        # A tensor of booleans has no null: what is missing is not flagged, and has no LLR.
        (None if isnan(s) and not d else d, *(None if isnan(v) else v for v in (a, b)))
        for s, a, b, d in zip(score, llr, probability, decision, strict=True)
    ]


def _ordered(found: list[Any]) -> list[Any]:
    return [(k, score, d, llr, probability) for k, score, llr, probability, d in sorted(found)]


def _alike(found: Answers, wanted: Answers) -> None:
    assert [one[0] for one in found] == [one[0] for one in wanted]
    for k in (1, 2):
        a, b = ([nan if v[k] is None else v[k] for v in some] for some in (found, wanted))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


ROUTES: dict[str, Callable[..., Answers]] = {
    "duckdb": by_duckdb,
    "sqlite": by_sqlite,
    "python": by_python,
    "onnx": by_onnx,
}


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", POLICIES)
def test_all_routes_decide_alike(name: str, route: str) -> None:
    p = Policy.from_json(POLICIES[name].to_json())
    values = scores(p)
    _alike(ROUTES[route](p, values, "standard"), expected(p, values))


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_postgresql_decides_alike(name: str, server: Path) -> None:
    p = POLICIES[name]
    values = scores(p)
    _alike(by_postgresql(server, p, values, "standard"), expected(p, values))


def test_infinite_llrs_need_a_dialect(server: Path) -> None:
    s = cs.sweep([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    p = Policy.choose(s, "f1", calibrator=cs.calibrate(s, "isotonic", smooth=False))
    assert p.llr([6, 1]).tolist() == [inf, -inf]
    values: list[float | None] = [None, 6.0, 5.0, 4.0, 1.0, inf, -inf]
    with finding("bad-argument"):
        p.export("sql")
    wanted = expected(p, values)
    _alike(by_duckdb(p, values, "duckdb"), wanted)
    _alike(by_sqlite(p, values, "sqlite"), wanted)
    _alike(by_postgresql(server, p, values, "postgresql"), wanted)
    _alike(by_python(p, values, ""), wanted)
    _alike(by_onnx(p, values, ""), wanted)


def test_text_in_sqlite() -> None:
    p = POLICIES["affine"]
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE cases (score)")
        t = repr(p.threshold)
        db.executemany("INSERT INTO cases VALUES (?)", [("high",), ("",), (t,), (p.threshold,)])
        found = db.execute(p.export("sql", table="cases")).fetchall()
        assert [row[3] for row in found] == [None, None, None, 1]
        found = db.execute(p.export("sql", table="cases", dialect="sqlite")).fetchall()
        assert [row[3] for row in found] == [None, None, 1, 1]


def test_other_types_of_numbers(server: Path) -> None:
    p = Policy.choose(evidence(), "f1", calibrator="platt", threshold=0.1)
    databases.query(server, "DROP TABLE IF EXISTS cases")
    databases.query(server, "CREATE TABLE cases (a int, b numeric, c real)")
    databases.query(server, "INSERT INTO cases VALUES (1, 0.1, 0.1)")
    for column in "abc":  # 0.1 as a float32 is above 0.1
        sql = p.export("sql", table="cases").replace('d."score"', f'd."{column}"')
        assert databases.query(server, sql).stdout.strip().endswith(",t")


def test_float32_scores_in_onnx() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    p = Policy.choose(evidence(), "f1", calibrator="platt", threshold=0.1)
    near = np.float32(0.1)
    x = np.array([near, np.nextafter(near, np.float32(0)), 0.2], np.float32)
    session = onnxruntime.InferenceSession(
        p.export("onnx", dtype="float32").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    decided = session.run(["decision"], {"x": x.reshape(-1, 1)})[0].ravel()
    assert decided.tolist() == p.decide(x).tolist() == [True, False, True]


def test_the_python_file_stands_alone(tmp_path: Path) -> None:
    p = Policy.choose(evidence(), "f1", labels=Labels('"""x', "no\n", "ill\r"))
    path = tmp_path / "rule.py"
    path.write_text(p.export("python"), encoding="utf-8")
    code = "import sys, rule; print(rule.decide(9), [m for m in sys.modules if 'numpy' in m])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True []"


def test_the_card() -> None:
    p = Policy.choose(
        evidence(), cs.Aim("recall", "fpr <= 5 %"), labels=Labels("<b>*yes*", "no", "ill")
    )
    card = p.export("card", title="My | rule")
    assert card.startswith("# My \\| rule\n")
    assert "<b>" not in card
    assert "fpr <= 0.05" in card
    assert str(p.confusion.tp) in card
    for name, promise in p.promises.items():
        assert promise_text(name, promise) in card, name


def test_bad_options() -> None:
    p = POLICIES["affine"]
    with finding("bad-argument", parameter="to"):
        p.export("pickle")
    with finding("bad-argument", parameter="dialect"):
        p.export("sql", dialect="oracle")
    with finding("column-reserved"):
        p.export("sql", keep=["LLR"])
    with finding("bad-argument", parameter="dtype"):
        p.export("onnx", dtype="int8")
