"""What the command line costs beside what it can't do without.

    .venv/bin/python benchmarks/command.py

- ``cutscore --help`` beside a Python that does nothing; the bar is 5 times.
- ``cutscore evaluate`` with a report on 10⁷ rows of Parquet, a label (uint8) and a score (float32),
  beside a Python that reads these columns by pyarrow; the bar is 3 times. The same for costs by
  row, with an amount in each, and then with days and a limit per day.
- ``cutscore fit`` on 10⁶ rows of CSV, 14 numbers and 6 categories: ``--learner logistic`` beside
  pandas and scikit-learn, which read the same file, score it out of fold and fit all rows; the bar
  is a fifth. And ``auto`` beside that; the bar is 2.5 times.
- ``cutscore apply`` of that model to the same rows, with three reasons each; the bar is 2.5 s.

Whole processes, in turns; the least time of each counts, by the wall and of the processors. On a
machine that has other work, compare the latter.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

ROWS = 10**7
READ = "import pyarrow.parquet as pq; pq.read_table({!r}, columns={!r})"


class Seconds(NamedTuple):
    """What a process took: by the wall, and of the processors."""

    wall: float
    cpu: float


def seconds(words: list[str]) -> Seconds:
    start, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(perf_counter() - start, cpu)


def least(cases: dict[str, list[str]], turns: int) -> dict[str, Seconds]:
    times = [{name: seconds(words) for name, words in cases.items()} for _ in range(turns)]
    return {
        name: Seconds(min(t[name].wall for t in times), min(t[name].cpu for t in times))
        for name in cases
    }


def table(path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.1
    score = rng.normal(size=ROWS) + 1.5 * y
    columns = {"label": y.astype(np.uint8), "score": score.astype(np.float32)}
    columns["amount"] = rng.lognormal(4, 1.5, ROWS).round(2)
    columns["day"] = np.sort(rng.integers(0, 365, ROWS)).astype(np.int32)
    pq.write_table(pa.table(columns), path)


def mixed(path: Path, rows: int = 10**6) -> None:
    """Numbers and categories, of which some tell something about y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 14))
    columns = {f"x{k}": np.round(X[:, k] * (k + 1), 4) for k in range(14)}
    z = X[:, :6] @ np.array([0.8, -0.5, 0.3, 0.2, -0.2, 0.1]) - 2.2
    for k, levels in enumerate((3, 4, 5, 8, 12, 20)):
        code = rng.integers(0, levels, rows)
        z += np.linspace(-0.5, 0.5, levels)[code] * (0.5 + 0.1 * k)
        names = pa.array([f"{'abcdef'[k]}{j:02d}" for j in range(levels)])
        columns[f"c{k}"] = names.take(pa.array(code))
    y = rng.random(rows) < 1 / (1 + np.exp(-z))
    csv.write_csv(pa.table({"y": y.astype(np.int8), **columns}), path)


PEER = """
import sys
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

X = pd.read_csv(sys.argv[1])
y = X.pop("y")
numbers = X.select_dtypes("number").columns
encode = make_column_transformer(
    (StandardScaler(), numbers), (OneHotEncoder(), X.columns.difference(numbers))
)
model = make_pipeline(encode, LogisticRegression(max_iter=1000))
cross_val_predict(model, X, y, cv=5, method="predict_proba")
model.fit(X, y)
"""


def compare(what: str, ours: Seconds, other: str, theirs: Seconds, bar: float) -> None:
    print(f"{what}: {ours.wall * 1e3:,.0f} ms ({ours.cpu * 1e3:,.0f} of the processors); ", end="")
    print(f"{other}: {theirs.wall * 1e3:,.0f} ms ({theirs.cpu * 1e3:,.0f}); ", end="")
    print(f"{ours.wall / theirs.wall:.2f} times ({ours.cpu / theirs.cpu:.2f}; bar: {bar:g})")


def main() -> None:
    cutscore = str(Path(sys.executable).parent / "cutscore")
    t = least({"pass": [sys.executable, "-c", "pass"], "help": [cutscore, "--help"]}, 20)
    compare("cutscore --help", t["help"], "python -c pass", t["pass"], 5)
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder) / "scores.parquet", Path(folder) / "report.html"
        table(file)
        columns = ["--label", "label", "--score", "score"]
        cases = {
            "read": [sys.executable, "-c", READ.format(str(file), ["label", "score"])],
            "evaluate": [cutscore, "evaluate", str(file), *columns, "--report", str(page)],
        }
        t = least(cases, 5)
        compare(f"cutscore evaluate, {ROWS:,} rows", t["evaluate"], "reading them", t["read"], 3)
        by_row = [str(file), *columns, "--cost", "fp=10,fn=amount"]
        limit = ["--period", "day", "--subject-to", "flagged <= 1000 per day"]
        every = ["label", "score", "amount", "day"]
        cases = {
            "read": [sys.executable, "-c", READ.format(str(file), every)],
            "evaluate": [cutscore, "evaluate", *by_row],
            "choose": [cutscore, "choose", *by_row, *limit],
        }
        t = least(cases, 3)
        for command, what in (("evaluate", "amounts"), ("choose", "amounts and days")):
            said = f"cutscore {command} with {what}, {ROWS:,} rows"
            compare(said, t[command], "reading them", t["read"], 3)
        file, model = Path(folder) / "mixed.csv", Path(folder) / "model.json"
        mixed(file)
        fit = [cutscore, "fit", str(file), "--target", "y", "--quiet", "--output", str(model)]
        decided = Path(folder) / "decided.csv"
        cases = {
            "auto": fit,
            "logistic": [*fit, "--learner", "logistic"],
            "apply": [cutscore, "apply", str(model), str(file), "--quiet", "-o", str(decided)],
            "peer": [sys.executable, "-c", PEER, str(file)],
        }
        t = least(cases, 3)
        what = "cutscore fit --learner logistic"
        compare(what, t["logistic"], "scikit-learn", t["peer"], 0.2)
        compare("cutscore fit", t["auto"], what, t["logistic"], 2.5)
        wall, cpu = t["apply"]
        print(f"cutscore apply: {wall:.2f} s ({cpu:.2f} of the processors; bar: 2.5 s)")


if __name__ == "__main__":
    main()
