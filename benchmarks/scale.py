"""Time and memory against rows, for docs/scale.md: ``python benchmarks/scale.py --most 1e9``.

Files are made up once, in a folder of their own, and kept there for the next run. Every measurement
is a process of its own, so that its peak of memory is its own too; what is compared is measured in
turns, and the least time of several counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "scale.md"
PICTURE = ROOT / "docs" / "images" / "scale.svg"
CHUNK = 1 << 20
LIMIT = "1 GB"

MAKE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
path, n, share, dtype = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), np.dtype(sys.argv[4])
rng = np.random.default_rng(0)
schema = pa.schema([("label", pa.uint8()), ("score", pa.from_numpy_dtype(dtype))])
with pq.ParquetWriter(path, schema) as writer:
    for start in range(0, n, 1 << 20):
        m = min(1 << 20, n - start)
        y = rng.random(m, dtype=np.float32) < share
        s = rng.standard_normal(m, dtype=dtype) + dtype.type(1.5) * y
        writer.write_table(pa.table([y.astype(np.uint8), s], schema=schema))
"""

START = """
import json, sys, time
path, limit = sys.argv[1:3]
import numpy as np, pyarrow.parquet as pq, scipy.special
import cutscore as cs
from cutscore.tables.scans import files
def status(name):
    return int(open("/proc/self/status").read().partition(name)[2].split()[0]) * 1024
def told(seconds, **more):
    # Not ru_maxrss: a child begins with what its parent had.
    peak = status("VmHWM:")
    print(json.dumps({"seconds": seconds, "peak": peak / 2**20, "growth": peak - before, **more}))
before = status("VmRSS:")
start = time.perf_counter()
"""

WORK = {
    "read": """
for batch in pq.ParquetFile(path).iter_batches(columns=["label", "score"]):
    pass
told(time.perf_counter() - start)
""",
    "exact": """
s = cs.sweep_file(path, label="label", score="score", compact=True, memory_limit=limit)
auc, point = s.auc, cs.choose(s, cs.Costs(fp=1, fn=20))
told(time.perf_counter() - start, auc=auc, threshold=point.threshold, entries=len(s))
""",
    "binned": """
b = cs.sweep_file(path, label="label", score="score", binned=True, bits=20, memory_limit=limit)
told(time.perf_counter() - start, low=b.auc.low, high=b.auc.high)
""",
    # All distinct scores: the sweep itself is larger than the limit.
    "whole": """
s = cs.sweep_file(path, label="label", score="score", memory_limit=limit or None)
h, point = cs.hull(s), cs.choose(s, cs.Costs(fp=1, fn=20))
spans = [list(cs.auc_interval(s, method=method)) for method in ("score", "delong")]
told(time.perf_counter() - start, entries=len(s), found=[
    s.auc, h.tp.tolist(), h.fp.tolist(), point.threshold, point.confusion.tp, point.confusion.fp,
    spans])
""",
    # Both in one process, in turns: memory is at hand, files are in the cache of the system.
    "warm": """
def read():
    for batch in pq.ParquetFile(path).iter_batches(columns=["label", "score"]):
        pass
def exact():
    s = cs.sweep_file(path, label="label", score="score", compact=True, memory_limit=limit)
    return s.auc, cs.choose(s, cs.Costs(fp=1, fn=20))
best = {read: np.inf, exact: np.inf}
for _ in range(6):
    for way in best:
        start = time.perf_counter()
        way()
        best[way] = min(best[way], time.perf_counter() - start)
told(best[exact], read=best[read])
""",
    "memory": """
table = pq.read_table(path)
s = cs.sweep(table["label"].to_numpy(), table["score"].to_numpy(), compact=True)
auc, point = s.auc, cs.choose(s, cs.Costs(fp=1, fn=20))
told(time.perf_counter() - start, auc=auc)
""",
}


def run(work: str, path: Path, limit: str = LIMIT) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", START + WORK[work], str(path), limit],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def measured(path: Path, works: list[str], repeat: int, limit: str = LIMIT) -> dict[str, dict]:
    best: dict[str, dict] = {}
    for _ in range(repeat):
        for work in works:
            found = run(work, path, limit)
            if work not in best or found["seconds"] < best[work]["seconds"]:
                best[work] = found
    return best


def made(folder: Path, n: int, share: float = 0.02, dtype: str = "float32") -> Path:
    name = f"{n:.0e}" if dtype == "float32" else f"{n:.0e}-{dtype}"
    path = folder / f"{name}.parquet".replace("+0", "")
    if not path.exists():
        aside = path.with_suffix(".part")
        what = [str(aside), str(n), str(share), dtype]
        subprocess.run([sys.executable, "-c", MAKE, *what], check=True)
        os.replace(aside, path)
    return path


def shown(n: float) -> str:
    return f"10^{len(str(int(n))) - 1}" if str(int(n)).strip("0") == "1" else f"{n:,.0f}"


def by_rows(folder: Path, most: float, repeat: int) -> tuple[str, list[dict]]:
    lines = [
        "| rows | file | limit | read, s | exact AUC and point, s | times reading | its peak, MiB "
        "| 2^20 bins, s | its AUC |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    found = []
    n = 10**6
    while n <= most:
        path = made(folder, n)
        times = 2 if n >= 10**9 else repeat
        # The compact sweep itself has 32 bytes for each of its 3.4 % of the rows.
        limit = "6 GB" if n >= 10**9 else LIMIT
        m = measured(path, ["read", "exact", "binned"], times, limit)
        ratio = m["exact"]["seconds"] / m["read"]["seconds"]
        found.append({"rows": n, **{name: m[name] for name in m}})
        lines.append(
            f"| {shown(n)} | {path.stat().st_size / 1e6:,.0f} MB | {limit} | "
            f"{m['read']['seconds']:.2f} | "
            f"{m['exact']['seconds']:.2f} | {ratio:.1f} | {m['exact']['peak']:,.0f} | "
            f"{m['binned']['seconds']:.2f} | "
            f"[{m['binned']['low']:.5f}, {m['binned']['high']:.5f}] |"
        )
        print(lines[-1], flush=True)
        n *= 10
    return "\n".join(lines), found


def by_limit(folder: Path, n: int, repeat: int) -> str:
    path = made(folder, n)
    lines = ["| memory_limit | exact AUC and point, s | peak, MiB |", "|---|---|---|"]
    for limit in ("500 MB", "1 GB", "4 GB"):
        m = measured(path, ["exact"], repeat, limit)["exact"]
        lines.append(f"| {limit} | {m['seconds']:.2f} | {m['peak']:,.0f} |")
        print(lines[-1], flush=True)
    m = measured(path, ["memory"], repeat)["memory"]
    lines.append(f"| all in memory (`cs.sweep`) | {m['seconds']:.2f} | {m['peak']:,.0f} |")
    print(lines[-1], flush=True)
    return "\n".join(lines)


def in_a_file(folder: Path, n: int) -> str:
    """Sweeps larger than the limit; all must find the same, to the last integer."""
    path = made(folder, n, 0.1, "float64")
    lines = [
        "| memory_limit | distinct scores | time, s | times as long | growth of the process, MB |",
        "|---|---|---|---|---|",
    ]
    runs = {limit: run("whole", path, limit) for limit in ("", "1 GB", "500 MB", "300 MB")}
    for limit, m in runs.items():
        assert m["found"] == runs[""]["found"], limit
        lines.append(
            f"| {limit or 'none given'} | {m['entries']:,} | {m['seconds']:.1f} | "
            f"{m['seconds'] / runs['']['seconds']:.2f} | {m['growth'] / 1e6:,.0f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def in_one_process(folder: Path, n: int) -> str:
    m = run("warm", made(folder, n))
    ratio = m["seconds"] / m["read"]
    text = (
        f"In one process, in turns, the least of six: reading {shown(n)} rows {m['read']:.2f} s, "
        f"exact AUC and point {m['seconds']:.2f} s, {ratio:.1f} times as long."
    )
    print(text, flush=True)
    return text


def picture(found: list[dict]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "cutscore"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    rows = [one["rows"] for one in found]
    for name, what, colour in (
        ("read", "pyarrow reads the columns", "#8a8f98"),
        ("exact", "exact AUC and operating point", "#2563a8"),
        ("binned", "2^20 bins", "#c2571a"),
    ):
        left.loglog(rows, [one[name]["seconds"] for one in found], "o-", color=colour, label=what)
        if name != "read":
            right.semilogx(
                rows, [one[name]["peak"] for one in found], "o-", color=colour, label=what
            )
    within = [n for n in rows if n < 10**9]
    right.hlines(1e9 / 2**20 + 120, within[0], within[-1], color="#8a8f98", ls=":", lw=1)
    right.text(rows[0], 1e9 / 2**20 + 150, "limit of 1 GB, and Python", va="bottom", fontsize=8)
    left.set(xlabel="rows", ylabel="seconds", title="Time")
    right.set(xlabel="rows", ylabel="MiB", title="Peak memory", ylim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})


def enter(name: str, text: str) -> None:
    """Put a table between the marks of the page."""
    page = PAGE.read_text("utf-8")
    marks = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.S)
    assert marks.search(page), name
    PAGE.write_text(marks.sub(lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page), "utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--most", type=float, default=1e8, help="rows of the largest file")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "cutscore-scale"
    )
    options.add_argument("--only-in-a-file", action="store_true", help="sweeps larger than memory")
    arguments = options.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    enter("in-a-file", in_a_file(arguments.folder, int(arguments.most)))
    if arguments.only_in_a_file:
        return
    table, found = by_rows(arguments.folder, arguments.most, arguments.repeat)
    enter("rows", table)
    picture(found)
    enter("warm", in_one_process(arguments.folder, 10**8))
    enter("limit", by_limit(arguments.folder, 10**8, arguments.repeat))


if __name__ == "__main__":
    main()
