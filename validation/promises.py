"""Boosted trees: is what a detector promises what new rows show?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutscore as cs
from cutscore.training import train

Array = NDArray[Any]
RATES = ("recall", "fpr", "precision", "flagged_rate")
DRAWS = 400
# The rates of new rows stand for the truth, so their own error must be small beside that of the
# intervals: of 20,000 rows it lowers the coverage of a cost by three points.
NEW = 100_000


def census(rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Any]]:
    """As in a census: numbers and categories with gaps, an eighth positive."""
    age, hours = rng.normal(40, 12, n), rng.gamma(8, 5, n)
    school, job = rng.integers(0, 8, n), rng.integers(0, 12, n)
    gain = np.where(rng.random(n) < 0.1, rng.lognormal(8, 1, n), 0)
    z = -2.2 + 0.04 * (age - 40) - 0.0015 * (age - 40) ** 2 + 0.03 * (hours - 40)
    z += 0.35 * (school - 3.5) + 0.5 * np.sin(1.7 * job) + 0.0001 * gain
    y = rng.random(n) < 1 / (1 + np.exp(-z - 0.5 * ((job == 3) & (age > 45))))
    age[rng.random(n) < 0.05] = np.nan
    jobs = np.array([f"job {k}" for k in range(12)], object)[job]
    jobs[rng.random(n) < 0.05] = None
    schools = np.array([f"school {k}" for k in range(8)], object)[school]
    return y, {"age": age, "hours": hours, "school": schools, "job": jobs, "gain": gain}


def rare(rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Any]]:
    """Six numbers, one in 25 rows is positive."""
    X = rng.standard_normal((n, 6))
    z = -5 + 1.2 * X[:, 0] + np.abs(X[:, 1]) + 0.8 * X[:, 2] * X[:, 3]
    return rng.random(n) < 1 / (1 + np.exp(-z)), {f"x{k}": X[:, k] for k in range(6)}


def friedman(rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Any]]:
    """Friedman's first function and five columns of noise, half of the rows positive."""
    X = rng.random((n, 10))
    z = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    z += 10 * X[:, 3] + 5 * X[:, 4] - 14.4
    return rng.random(n) < 1 / (1 + np.exp(-0.6 * z)), {f"x{k}": X[:, k] for k in range(10)}


def clicks(rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Any]]:
    """As in advertising: categories of skewed frequencies, counts, a ninth positive."""
    site, ad = rng.zipf(1.6, n) % 40, rng.zipf(1.5, n) % 25
    hour, seen = rng.integers(0, 24, n), rng.poisson(3, n)
    z = -2.7 + 0.8 * np.sin(2.1 * site) + 0.7 * np.cos(1.3 * ad) + 0.5 * np.sin(site * ad)
    z += 0.4 * np.sin(hour * np.pi / 12) - 0.15 * (seen - 3)
    columns: dict[str, Any] = {"hour": hour, "seen": seen}
    columns["site"] = np.array([f"site {k}" for k in range(40)], object)[site]
    columns["ad"] = np.array([f"ad {k}" for k in range(25)], object)[ad]
    return rng.random(n) < 1 / (1 + np.exp(-z)), columns


# How rows are drawn, how many there are, and what a false negative costs.
TABLES: dict[str, tuple[Any, int, float]] = {
    "census": (census, 3000, 4.0),
    "rare events": (rare, 6000, 15.0),
    "Friedman": (friedman, 2000, 2.0),
    "clicks": (clicks, 4000, 6.0),
}


def promise_coverage(task: tuple[str, str, int, int]) -> Array:
    """Whether the intervals of the rates and of the cost hold what many new rows show; then the
    cost that was expected, and that of the new rows."""
    name, learner, first, draws = task
    draw, n, fn = TABLES[name]
    costs = cs.Costs(fp=1, fn=fn)
    out = np.zeros(len(RATES) + 3)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 31))
        y, columns = draw(rng, n)
        d = train({"y": y, **columns}, "y", learner=learner, costs=costs).detector
        new, rows = draw(rng, NEW)
        flagged = d.decide(rows)
        tp, fp, missed, tn = (int((a & b).sum()) for a in (flagged, ~flagged) for b in (new, ~new))
        c = cs.Confusion(tp, fp, missed, tn)
        promised = d.policy.promises
        cost = (fp + fn * missed) / NEW
        seen = [*(getattr(c, rate) for rate in RATES), cost]
        spans = [promised[what] for what in (*RATES, "cost")]
        out[: len(seen)] += [e.low <= v <= e.high for e, v in zip(spans, seen, strict=True)]
        out[-2:] += promised["cost"].value, cost
    return out


def report_promises(r: Any) -> None:
    draws = min(r.draws, DRAWS)
    columns = ("table", "learner", *RATES, "cost", "expected", "true")
    r.table(TEXT.format(draws=draws, new=NEW, known=200 * (0.05 * 0.95 / draws) ** 0.5), *columns)
    heads = [(name, learner) for name in TABLES for learner in ("lightgbm", "xgboost")]
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    for (name, learner), got in r.spread(promise_coverage, heads, draws):
        *covers, expected, true = got
        told = [f"{100 * c:.1f} %" for c in covers]
        r.row(name, learner, *told, f"{expected:.4f}", f"{true:.4f}")
        if not all(0.92 - slack <= c <= 0.98 + slack for c in covers):
            r.faults.append(f"promises, {name}, {learner}: {got}")


TEXT = """
### Boosted trees

`train` with LightGBM and XGBoost and costs, on four simulated tables: 3,000 rows as in a census,
with numbers and categories, missing values and 13 % positives; 6,000 rows with 4 % positives; 2,000
rows of Friedman's first function, half of them positive; 4,000 rows of categories with skewed
frequencies, 11 % positive.
The table shows how often the 95 % intervals of the expected rates contain the rates on {new:,} new
rows. This should be between 92 and 98 %. {draws:,} samples per row, so the margin of error is about
{known:.0f} percentage points.
"""
