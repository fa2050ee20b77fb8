"""Times of ``cutscore.spark`` beside MLlib's evaluator and Spark's own group-by.

    python benchmarks/spark.py [--rows 10000000] [--repeat 3] [--large] [--master local[2]]
    python benchmarks/spark.py --planned [--write]

Times of jobs, in turns, the smallest counts; the session and the first tasks of both sides, which
start the Python workers and warm the compiler of Java, are not timed. Files are made by NumPy in a
folder of their own: scores are float64 and all different, or rounded to three decimals. ``--large``
adds 5·10⁷ rows, for which MLlib takes minutes.

``--planned`` starts no session: it times the functions that tasks run, on one core, with as many
rows at a time and as many ranges as the plan for 10¹² rows has.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cutscore as cs
import cutscore.spark
from cutscore.spark.plans import plan
from cutscore.spark.sweeps import _Pieces
from cutscore.tables.scans.runs import added_columns, pack, quantiles, stored
from scale import enter

GROUP = 1 << 20
# The estimate on the page: rows, and tasks that run at a time.
MANY, CORES = 10**12, 1000


def written(folder: Path, rows: int, decimals: int | None) -> Path:
    """A Parquet file: 2 % positive, row groups of a million rows."""
    path = folder / f"{rows}-{'distinct' if decimals is None else decimals}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(rows)
    schema = pa.schema([("label", pa.uint8()), ("score", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, rows, GROUP):
            n = min(GROUP, rows - start)
            y = rng.random(n) < 0.02
            score = rng.normal(y * 1.5)
            if decimals is not None:
                score = np.round(score, decimals)
            file.write_table(pa.table([y.astype(np.uint8), score], schema=schema))
    return path


def fastest(ways: dict[str, Callable[[], float]], repeat: int) -> dict[str, tuple[float, float]]:
    """The smallest time of each way, taken in turns, and what it gave."""
    out: dict[str, tuple[float, float]] = {}
    for _ in range(repeat):
        for name, way in ways.items():
            start = time.perf_counter()
            value = way()
            took = time.perf_counter() - start
            out[name] = (min(took, out[name][0]) if name in out else took, value)
    return out


def ours(data: Any) -> Callable[[], float]:
    return lambda: cs.spark.sweep(data, label="label", score="score", compact=True).auc


def mllib(frame: Any) -> Callable[[], float]:
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    exact = BinaryClassificationEvaluator(
        rawPredictionCol="score", labelCol="label", metricName="areaUnderROC", numBins=0
    )
    return lambda: float(exact.evaluate(frame))


def group_by(frame: Any) -> Callable[[], float]:
    """What one would write in SQL: counts of each score and label, then the area of them."""

    def way() -> float:
        table = frame.groupBy("score", "label").count().toArrow()
        one = table.column("label").to_numpy() == 1
        count = table.column("count").to_numpy()
        score = table.column("score").to_numpy()
        return cs.Sweep.from_counts(score, np.where(one, count, 0), np.where(one, 0, count)).auc

    return way


def embedded(path: Path) -> Callable[[], float]:
    return lambda: cs.sweep_file(path, label="label", score="score", compact=True).auc


def line(name: str, found: dict[str, tuple[float, float]], peer: str) -> str:
    """What was found, as a line of the page; and on the terminal."""
    slow = found[peer][0]
    aucs = {f"{auc:.12f}" for _, auc in found.values()}
    parts = [f"{way} {took:.2f} s ({slow / took:.1f} ×)" for way, (took, _) in found.items()]
    print(f"{name}: {', '.join(parts)}; AUC {' / '.join(sorted(aucs))}", flush=True)
    cells = []
    for way in ("MLlib", "groupBy", "any DataFrame", "Parquet paths", "embedded"):
        if way not in found:
            cells.append("–")
        else:
            took = found[way][0]
            cells.append(f"{took:.2f} s" + ("" if way == peer else f", {slow / took:.1f} ×"))
    return f"| {name} | {' | '.join(cells)} |"


def by_parts(folder: Path, rows: int, repeat: int) -> str:
    """The same rows in ever more files."""
    whole = pq.read_table(written(folder, rows, None))
    lines = ["| files | `--engine arrow` | `--engine spark`, local |", "|---|---|---|"]
    for parts in (1, 4, 16, 64, 256):
        some = folder / f"{rows}-in-{parts}"
        if not some.exists():
            some.mkdir()
            for k in range(parts):
                at, end = k * rows // parts, (k + 1) * rows // parts
                pq.write_table(whole.slice(at, end - at), some / f"{k:03}.parquet")
        ways = {
            "arrow": lambda some=some: (
                cs.sweep_file(some, label="label", score="score", compact=True).auc
            ),
            "spark": ours(str(some)),
        }
        found = fastest(ways, repeat)
        assert found["arrow"][1] == found["spark"][1]
        lines.append(f"| {parts} | {found['arrow'][0]:.2f} s | {found['spark'][0]:.2f} s |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, the least of three, and what came out."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        out = call()
        best = min(best, time.process_time() - start)
    return best, out


def by_plan(folder: Path) -> str:
    """What a row costs in the tasks of the plan for 10¹² rows: its rows at a time, its ranges."""
    os.environ["CUTSCORE_THREADS"] = "1"
    p = plan(MANY, CORES)
    rng = np.random.default_rng(0)
    y = rng.random(p.chunk) < 2e-4
    score = rng.standard_normal(p.chunk, dtype=np.float32)
    score[y] += 1.5
    path = folder / "planned.parquet"
    pq.write_table(pa.table([y.astype(np.uint8), score], names=["y", "s"]), path)
    read, _ = seconds(lambda: pq.read_table(path, use_threads=False))
    swept, s = seconds(lambda: cs.sweep(y, score))
    bounds = quantiles(rng.standard_normal(64 * p.ranges), p.ranges)

    def split() -> _Pieces:
        pieces = _Pieces(bounds)
        pieces.add(s)
        return pieces

    cut, pieces = seconds(split)
    sent = sum(len(blob) for some in pieces.blobs.values() for blob in some)
    # A range gets a piece of every chunk; of a quarter of a million pieces some.
    low, high = bounds[p.ranges // 2 - 1 : p.ranges // 2 + 1]
    each = p.chunk // p.ranges
    some = [
        stored(pack(cs.sweep(rng.random(each) < 2e-4, rng.uniform(low, high, each).astype("f4"))))
        for _ in range(1024)
    ]
    added, _ = seconds(lambda: added_columns(some, compact=True))
    entries = sum(len(one[0]) for one in some)

    def line(step: str, nanoseconds: float) -> str:
        return f"| {step} | {nanoseconds:.1f} ns | {nanoseconds * MANY / 3.6e12:.1f} core hours |"

    def stored_as(step: str, size: float) -> str:
        return f"| {step} | {size:.1f} bytes | {size * MANY / 1e12:.1f} TB |"

    lines = [
        "| step | per row | 10¹² rows |",
        "|---|---|---|",
        stored_as("Parquet on disk", path.stat().st_size / p.chunk),
        line("read and decode", 1e9 * read / p.chunk),
        line("sort in the map tasks", 1e9 * swept / p.chunk),
        line(f"cut at the bounds of {p.ranges:,} ranges and pack", 1e9 * cut / p.chunk),
        stored_as("shuffle: one blob per task and range", sent / p.chunk),
        line("add the blobs of each range", 1e9 * added / entries),
    ]
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


def main() -> None:
    warnings.filterwarnings("ignore", message=".*pandas.*")
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--planned", action="store_true", help="the estimate for 10¹² rows")
    parser.add_argument("--no-mllib", action="store_true", help="leave the slow peer out")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g", help="of the driver, for both sides")
    parser.add_argument("--folder", type=Path, help="where files are kept for the next time")
    parser.add_argument("--write", action="store_true", help="enter the figures in docs/scale.md")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="cutscore-"))
    folder.mkdir(parents=True, exist_ok=True)
    if asked.planned:
        found = by_plan(folder)
        if asked.write:
            enter("planned", found)
        return
    spark = cs.spark.session(asked.master, **{"spark.driver.memory": asked.memory})

    small = written(folder, 100_000, None)
    read = spark.read.parquet
    for way in (ours(str(small)), ours(computed(read(str(small)))), mllib(read(str(small)))):
        way()
        way()

    lines = [
        "| | MLlib | Spark's groupBy | cutscore, any DataFrame | cutscore, Parquet paths "
        "| cutscore, without Spark |",
        "|---|---|---|---|---|---|",
    ]
    for rows in [asked.rows, *([50_000_000] if asked.large else [])]:
        path = written(folder, rows, None)
        frame = read(str(path))
        repeat = asked.repeat if rows <= asked.rows else 1
        ways = {
            "any DataFrame": ours(computed(frame)),
            "Parquet paths": ours(str(path)),
            "embedded": embedded(path),
        }
        if not asked.no_mllib:
            ways["MLlib"] = mllib(frame)
        peer = "any DataFrame" if asked.no_mllib else "MLlib"
        lines.append(line(f"{rows:.0e} distinct scores", fastest(ways, repeat), peer))
    path = written(folder, asked.rows, 3)
    frame = read(str(path))
    ways = {
        "any DataFrame": ours(computed(frame)),
        "Parquet paths": ours(str(path)),
        "groupBy": group_by(frame),
    }
    lines.append(line(f"{asked.rows:.0e}, 3 decimals", fastest(ways, asked.repeat), "groupBy"))
    parts = by_parts(folder, asked.rows, asked.repeat)
    spark.stop()
    if asked.write:
        enter("spark", "\n".join(lines).replace("e+0", "e"))
        enter("parts", parts)


def computed(frame: Any) -> Any:
    """The same rows, of which Spark knows no files: they come from its own reader."""
    return frame.selectExpr("label", "score + 0D as score")


if __name__ == "__main__":
    main()
