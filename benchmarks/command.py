"""What the command line costs beside what it can't do without.

    .venv/bin/python benchmarks/command.py

- ``cutscore --help`` beside a Python that does nothing; the bar is 5 times.
- ``cutscore evaluate`` with a report on 10⁷ rows of Parquet, a label (uint8) and a score (float32),
  beside a Python that reads these columns by pyarrow; the bar is 3 times.

Whole processes, in turns; the least time of each counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 10**7
READ = "import pyarrow.parquet as pq; pq.read_table('{}', columns=['label', 'score'])"


def seconds(words: list[str]) -> float:
    start = perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def least(cases: dict[str, list[str]], turns: int) -> dict[str, float]:
    times = [{name: seconds(words) for name, words in cases.items()} for _ in range(turns)]
    return {name: min(t[name] for t in times) for name in cases}


def table(path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.1
    score = rng.normal(size=ROWS) + 1.5 * y
    columns = {"label": y.astype(np.uint8), "score": score.astype(np.float32)}
    pq.write_table(pa.table(columns), path)


def told(what: str, ours: float, other: str, theirs: float, bar: float) -> None:
    print(f"{what}: {ours * 1e3:,.0f} ms; {other}: {theirs * 1e3:,.0f} ms; ", end="")
    print(f"{ours / theirs:.2f} times (bar: {bar:g})")


def main() -> None:
    cutscore = str(Path(sys.executable).parent / "cutscore")
    t = least({"pass": [sys.executable, "-c", "pass"], "help": [cutscore, "--help"]}, 20)
    told("cutscore --help", t["help"], "python -c pass", t["pass"], 5)
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder) / "scores.parquet", Path(folder) / "report.html"
        table(file)
        columns = ["--label", "label", "--score", "score"]
        cases = {
            "read": [sys.executable, "-c", READ.format(file)],
            "evaluate": [cutscore, "evaluate", str(file), *columns, "--report", str(page)],
        }
        t = least(cases, 5)
        told(f"cutscore evaluate, {ROWS:,} rows", t["evaluate"], "reading them", t["read"], 3)


if __name__ == "__main__":
    main()
