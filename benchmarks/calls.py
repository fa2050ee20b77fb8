"""What users call around the area: comparisons, curves, resampling, groups. Beside peers.

``python benchmarks/calls.py`` runs it by itself; ``run.py`` puts its rows on the page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.metrics

import cutscore as cs
from cutscore import metrics
from run import Line, Share, beside, clock, data, shown


def midranks(x: Any) -> Any:
    order = np.argsort(x)
    ordered = x[order]
    fresh = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    start = np.flatnonzero(fresh)
    middle = (start + np.append(start[1:], len(x)) + 1) / 2
    out = np.empty(len(x))
    out[order] = middle[np.cumsum(fresh) - 1]
    return out


def delong(y: Any, *scores: Any) -> tuple[float, float]:
    """The paired test of Sun and Xu (2014), in plain NumPy: z and the p-value."""
    from scipy.special import ndtr

    ones = y == 1
    m, n = int(ones.sum()), int((~ones).sum())
    aucs, of_pos, of_neg = [], [], []
    for s in scores:
        x, z = s[ones], s[~ones]
        every = midranks(np.concatenate((x, z)))
        aucs.append(every[:m].sum() / m / n - (m + 1) / 2 / n)
        of_pos.append((every[:m] - midranks(x)) / n)
        of_neg.append(1 - (every[m:] - midranks(z)) / m)
    covariance = np.cov(of_pos) / m + np.cov(of_neg) / n
    contrast = np.array([1, -1])
    z = float((aucs[0] - aucs[1]) / np.sqrt(contrast @ covariance @ contrast))
    return z, float(2 * ndtr(-abs(z)))


def paired(n: int, k: int = 2) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(np.uint8)
    common = rng.standard_normal(n) + y
    return y, [common + 0.5 * rng.standard_normal(n) for _ in range(k)]


def comparisons() -> list[Line]:
    """Paired DeLong beside plain NumPy."""
    lines = []
    for n, bar in ((10**3, 2), (10**4, 3), (10**5, 5), (10**6, 8)):
        y, (a, b) = paired(n)
        assert np.isclose(cs.compare(y, a, b).z, delong(y, a, b)[0])
        lines.append(
            beside(
                f"`compare` / NumPy midranks, {n:,} rows",
                lambda y=y, a=a, b=b: delong(y, a, b),
                lambda y=y, a=a, b=b: cs.compare(y, a, b),
                bar,
            )
        )
    return lines


def curves(n: int) -> list[Line]:
    """Whole curves, the same arrays as scikit-learn's."""
    lines = []
    asked = [("roc_curve", n), *((name, 10**6) for name in CURVES)]
    for name, rows in asked:
        y, score, _ = data(rows, 0.5, "float64")
        ours, theirs = getattr(metrics, name), getattr(sklearn.metrics, name)
        found = [f(y, score) for f in (ours, theirs)]
        pairs = zip(*found, strict=True) if isinstance(found[0], tuple) else [found]
        assert all(np.allclose(a, b) for a, b in pairs)
        lines.append(
            beside(
                f"`{name}`, {rows:,} distinct scores",
                lambda y=y, s=score, f=theirs: f(y, s),
                lambda y=y, s=score, f=ours: f(y, s),
                15,
                rounds=3,
            )
        )
    return lines


CURVES = ("roc_curve", "precision_recall_curve", "det_curve", "average_precision_score")


def few_scores(n: int) -> list[Line]:
    """The area of scores of three decimals beside a GROUP BY in two databases, in memory, and of a
    Parquet file."""
    import duckdb
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    y, score, _ = data(n, 0.5, "float64")
    score = np.round(1 / (1 + np.exp(-score)), 3)
    frame, database = pl.DataFrame({"y": y, "s": score}), duckdb.connect()
    database.register("frame", frame)
    wanted = metrics.roc_auc_score(y, score)

    def area(s: Any, pos: Any, neg: Any) -> float:
        order = np.argsort(s)
        pos, neg = pos[order].astype(np.float64), neg[order].astype(np.float64)
        return float(np.sum(pos * (np.cumsum(neg) - neg / 2)) / pos.sum() / neg.sum())

    def by_polars() -> float:
        counted = frame.group_by("s").agg(pl.col("y").sum().cast(pl.Int64), pl.len())
        pos = counted["y"].to_numpy()
        return area(counted["s"].to_numpy(), pos, counted["len"].to_numpy() - pos)

    def by_duckdb(source: str = "frame") -> float:
        sql = (
            f"select s, sum(y)::bigint pos, count(*) - sum(y)::bigint neg from {source} group by s"
        )
        found = database.sql(sql).fetchnumpy()
        return area(found["s"], found["pos"], found["neg"])

    lines = []
    for name, peer in (("polars", by_polars), ("DuckDB", by_duckdb)):
        assert np.isclose(peer(), wanted)
        what = f"`roc_auc_score` / {name}, float64, 3 decimals, {n:,} rows"
        lines.append(beside(what, peer, lambda: metrics.roc_auc_score(y, score), 3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({"y": y, "s": score}), path)
        what = f"`sweep_file` / DuckDB, Parquet, 3 decimals, {n:,} rows"
        ours = lambda: cs.sweep_file(path, label="y", score="s").auc  # noqa: E731
        lines.append(beside(what, lambda: by_duckdb(f"'{path}'"), ours, 1.2))
    return lines


def few_rows() -> list[Line]:
    """Some rows only, beside NumPy without any check."""

    def plain(y: Any, score: Any) -> float:
        ones = y == 1
        neg, pos = np.sort(score[~ones]), score[ones]
        pairs = np.searchsorted(neg, pos, "left") + np.searchsorted(neg, pos, "right")
        return float(pairs.sum() / (2 * len(pos) * len(neg)))

    lines = []
    for n in (100, 1000):
        y, score, _ = data(n, 0.5, "float64")
        assert np.isclose(plain(y, score), metrics.roc_auc_score(y, score))
        lines.append(
            beside(
                f"`roc_auc_score` / NumPy without checks, {n:,} rows",
                lambda y=y, s=score: plain(y, s),
                lambda y=y, s=score: metrics.roc_auc_score(y, s),
                1.2,
            )
        )
    return lines


def groups(n: int) -> list[Line]:
    """The AUC of each of 10,000 users beside DuckDB's window functions."""
    import duckdb
    import polars as pl

    rng = np.random.default_rng(0)
    y, score, _ = data(n, 0.1, "float64")
    user = rng.integers(0, 10_000, n)
    database = duckdb.connect()
    database.register("frame", pl.DataFrame({"y": y, "s": score, "user": user}))
    sql = """
        with ranked as (select "user", y, rank() over (partition by "user" order by s)
            + (count(*) over (partition by "user", s) - 1) / 2.0 as r from frame)
        select "user", (sum(case when y = 1 then r end) - sum(y) * (sum(y) + 1) / 2.0)
            / (sum(y) * (count(*) - sum(y))) as auc from ranked group by "user"
    """

    def by_duckdb() -> Any:
        return database.sql(sql).fetchnumpy()

    found, ours = by_duckdb(), cs.by_group(y, score, user)
    auc = np.ma.filled(found["auc"].astype(np.float64), np.nan)  # of one class: null
    theirs = dict(zip(found["user"].tolist(), auc.tolist(), strict=True))
    assert np.allclose([theirs[g] for g in ours.group.tolist()], ours.auc, equal_nan=True)
    what = f"`by_group` / DuckDB, {n:,} rows, 10,000 groups"
    return [beside(what, by_duckdb, lambda: cs.by_group(y, score, user), 2, rounds=2)]


def times(what: str, base: Any, call: Any, bar: float, rounds: int = 3) -> Share:
    """How many times as long as another call a call takes."""
    a = b = np.inf
    for _ in range(rounds):
        a, b = min(a, clock(base, least=0.2)), min(b, clock(call, least=0.2))
    print(f"{what:<72}{shown(a):>10}{shown(b):>10}{b / a:>8.2f} x  (at most {bar:g})", flush=True)
    return Share(what, a, b, bar)


def sweeps() -> list[Share]:
    """Queries in units of the sweep of a million rows."""
    y, score, _ = data(10**6, 0.5, "float64")
    s = cs.sweep(y, score)

    def fresh() -> cs.Sweep:
        return cs.Sweep(s.threshold, s.pos, s.neg)  # has answered nothing yet

    out = [
        times(
            "recall, precision ≥ 0.9 guaranteed at 95 %; 50 % positive",
            lambda: cs.sweep(y, score),
            lambda: cs.choose(fresh(), "recall", subject_to="precision >= 0.9", confidence=0.95),
            2,
        ),
    ]
    for n in (10**6, 10**7):
        y, score, _ = data(n, 0.5, "float64")
        s = cs.sweep(y, score)
        out.append(
            times(
                f"`calibrate(s)` of {n:,} rows; 50 % positive",
                lambda y=y, score=score: cs.sweep(y, score),
                lambda: cs.calibrate(fresh()),
                10,
            )
        )
    return out


def others() -> list[Share]:
    """Calls in units of another call."""
    y, scores = paired(10**6, 10)
    out = [
        times(
            "`auc_covariance` of 10 scores / `compare`, 1,000,000 rows",
            lambda: cs.compare(y, *scores[:2]),
            lambda: cs.auc_covariance(y, scores),
            6,
        )
    ]
    y, score, _ = data(10**5, 0.02, "float32")
    s = cs.sweep(y, score)
    out.append(
        times(
            "`bootstrap(s, average_precision)` / `bootstrap(s)`, 1,000 samples of 100,000 rows",
            lambda: cs.bootstrap(s, n=1000),
            lambda: cs.bootstrap(s, cs.average_precision, n=1000),
            10,
        )
    )
    for share in (0.02, 0.5):
        y, score, _ = data(10**6, share, "float64")
        s = cs.sweep(y, score)
        what = "`stability()` / `bootstrap(s)`, 200 samples of 1,000,000 rows"
        out.append(
            times(
                f"{what}, {100 * share:g} % positive",
                lambda s=s: cs.bootstrap(s, n=200),
                cs.choose(s, "f1").stability,
                10,
                rounds=2,
            )
        )
    return out


def files(n: int = 5 * 10**6) -> list[Share]:
    """The AUC inside of each of 2,000 groups of a Parquet file, by one column and by two."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    y, score, _ = data(n, 0.1, "float64")
    user = np.random.default_rng(0).integers(0, 2000, n)
    table = {"y": y, "s": score, "user": user, "shop": user // 40, "till": user % 40}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table(table), path)

        def inside(group: str | list[str]) -> cs.GroupAuc:
            return cs.by_group_file(path, label="y", score="s", group=group)

        assert np.array_equal(inside("user").auc, inside(["shop", "till"]).auc, equal_nan=True)
        return [
            times(
                f"`by_group_file` / `sweep_file`, {n:,} rows, 2,000 groups by {what}",
                lambda: cs.sweep_file(path, label="y", score="s"),
                lambda group=group: inside(group),
                3,
                rounds=2,
            )
            for what, group in (("a column", "user"), ("two", ["shop", "till"]))
        ]


def learned() -> list[Share]:
    """A fit of the F1 with default options, beside the 25 s that it may take."""
    from cutscore.estimators import Structural
    from learn_closed import rows

    X, y = rows(10**6)
    seconds = clock(lambda: Structural("f1").fit(X, y))
    what = "`Structural('f1')`, 1,000,000 × 50 float32 / 25 s"
    print(f"{what:<72}{shown(25.0):>10}{shown(seconds):>10}{seconds / 25:>8.2f} x", flush=True)
    return [Share(what, 25.0, seconds, 1)]


def main() -> int:
    """Exit code 1 if a promise was not kept."""
    n = 10**6 if "--quick" in sys.argv else 10**7
    lines = [*comparisons(), *curves(n), *few_rows(), *few_scores(n), *groups(n)]
    asked = [*sweeps(), *others(), *files(), *learned()]
    missed = sum(line.ratio < line.bar for line in lines) + sum(q.share > q.bar for q in asked)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
