"""Times beside scikit-learn's, in one run: interleaved, the minimum of each, as ratios.

Writes ``docs/benchmarks.md`` and the table in ``README.md``. ``--quick`` tries it on a tenth of the
rows and writes nothing. Wants an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import sklearn.metrics

import cutscore as cs
from cutscore import metrics

ROOT = Path(__file__).parent.parent
Call = Callable[[], Any]


@dataclass
class Line:
    """One row of the table: seconds for the same work, and the target ratio."""

    what: str
    theirs: float
    ours: float
    bar: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


# What the README shows of it: calls that users make, the less favourable case of each.
HEADLINES = (
    "`roc_auc_score`, float32, 2 % positive",
    "`roc_auc_score`, float64, 50 % positive",
    "`roc_curve`, 10,000,000 distinct scores",
    "`roc_auc_score`, 100,000 rows, 50 % positive",
    "isotonic calibration (`IsotonicRegression.fit`), sweep included",
    "`Logistic` / lbfgs, 1,000,000 × 50 float32, well-conditioned",
)


def data(n: int, share: float, kind: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < share).astype(np.uint8)
    score = rng.standard_normal(n)
    score += y
    if kind == "3 decimals":
        score = np.round(1 / (1 + np.exp(-score)), 3)
    return y, score.astype(np.float64 if kind == "float64" else np.float32), rng.random(n)


def clock(call: Call, least: float = 0.0) -> float:
    """Seconds of one call, as the best of a few in a row that together take ``least`` seconds."""
    best, spent = np.inf, 0.0
    while True:
        start = time.perf_counter()
        call()
        taken = time.perf_counter() - start
        best, spent = min(best, taken), spent + taken
        if spent >= least:
            return best


def beside(what: str, theirs: Call, ours: Call, bar: float, rounds: int = 4) -> Line:
    a = b = np.inf
    for _ in range(rounds):
        b = min(b, clock(ours, least=0.25))
        a = min(a, clock(theirs, least=0.05))
    line = Line(what, a, b, bar)
    print(f"{what:<52}{shown(a):>10}{shown(b):>10}{line.ratio:>8.0f} x  (bar {bar:g})", flush=True)
    return line


def areas(n: int) -> list[Line]:
    lines = []
    cases = [
        ("float32", 0.02, 90),
        ("float32", 0.5, 45),
        ("float64", 0.02, 60),
        ("float64", 0.5, 35),
        ("3 decimals", 0.02, 50),
        ("3 decimals", 0.5, 50),
    ]
    for kind, share, bar in cases:
        y, score, _ = data(n, share, kind)
        assert np.isclose(metrics.roc_auc_score(y, score), sklearn.metrics.roc_auc_score(y, score))
        lines.append(
            beside(
                f"`roc_auc_score`, {kind}, {100 * share:g} % positive",
                lambda y=y, s=score: sklearn.metrics.roc_auc_score(y, s),
                lambda y=y, s=score: metrics.roc_auc_score(y, s),
                bar,
            )
        )
    for share in (0.02, 0.5):
        y, score, w = data(n, share, "float32")
        lines.append(
            beside(
                f"`roc_auc_score`, weighted, {100 * share:g} % positive",
                lambda y=y, s=score, w=w: sklearn.metrics.roc_auc_score(y, s, sample_weight=w),
                lambda y=y, s=score, w=w: metrics.roc_auc_score(y, s, sample_weight=w),
                38,
            )
        )
    return lines


def small() -> list[Line]:
    lines = []
    for n, bar in ((1_000, 5), (100_000, 40)):
        for share in (0.02, 0.5):
            y, score, _ = data(n, share, "float32")
            lines.append(
                beside(
                    f"`roc_auc_score`, {n:,} rows, {100 * share:g} % positive",
                    lambda y=y, s=score: sklearn.metrics.roc_auc_score(y, s),
                    lambda y=y, s=score: metrics.roc_auc_score(y, s),
                    bar,
                    rounds=8,
                )
            )
    return lines


def resampling() -> Line:
    """1,000 stratified bootstrap replicates of the AUC; of the loop over rows 25 are timed."""
    y, score, _ = data(100_000, 0.02, "float32")
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    rng = np.random.default_rng(0)
    s = cs.sweep(y, score)

    def loop() -> None:
        for _ in range(25):
            drawn = np.concatenate([rng.choice(of, len(of)) for of in (ones, zeros)])
            sklearn.metrics.roc_auc_score(y[drawn], score[drawn])

    ours = beside("bootstrap", loop, lambda: cs.bootstrap(s, n=1000), 0, rounds=3).ours
    theirs = 40 * min(clock(loop) for _ in range(3))
    return Line("1,000 bootstrap replicates of the AUC, 100,000 rows", theirs, ours, 400)


def compared() -> Line:
    """1,000 replicates of the difference of two scores' best costs; of the loop 10 are timed."""
    y, a, _ = data(100_000, 0.02, "float64")
    rng = np.random.default_rng(0)
    b = a + 0.5 * rng.standard_normal(len(a))
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    share = len(ones) / len(y)

    def least(drawn: Any, score: Any) -> float:
        fpr, tpr, _ = sklearn.metrics.roc_curve(y[drawn], score[drawn])
        return float(np.min(24 * share * (1 - tpr) + (1 - share) * fpr))

    def loop() -> None:
        for _ in range(10):
            drawn = np.concatenate([rng.choice(of, len(of)) for of in (ones, zeros)])
            least(drawn, a) - least(drawn, b)

    what = "1,000 bootstrap replicates of the difference of best costs, 100,000 rows"
    costs = cs.Costs(fp=1, fn=24)
    line = beside(what, loop, lambda: cs.compare(y, a, b, costs=costs, n=1000), 0, rounds=3)
    return Line(what, 100 * line.theirs, line.ours, 40)


def calibrations(n: int) -> list[Line]:
    from sklearn.calibration import _sigmoid_calibration
    from sklearn.isotonic import IsotonicRegression

    y, score, _ = data(n, 0.02, "float64")
    return [
        beside(
            "isotonic calibration (`IsotonicRegression.fit`), sweep included",
            lambda: IsotonicRegression(out_of_bounds="clip").fit(score, y),
            lambda: cs.calibrate(cs.sweep(y, score), "monotone"),
            10,
            rounds=2,
        ),
        beside(
            "Platt's calibration (`_sigmoid_calibration`), sweep included",
            lambda: _sigmoid_calibration(score, y),
            lambda: cs.calibrate(cs.sweep(y, score), "platt", smooth=True),
            10,
            rounds=2,
        ),
    ]


def applied(n: int) -> list[tuple[str, float, float]]:
    """Seconds of each calibrator for n scores, and of np.interp with the staircase's knots."""
    y, score, _ = data(n, 0.02, "float64")
    p = 1 / (1 + np.exp(-score))
    s = cs.sweep(y, score)
    stairs = cs.calibrate(s, "monotone")
    at, value = stairs.threshold[:-1][::-1].copy(), stairs.value[:-1][::-1].copy()
    asked = {
        "logistic, Platt": (cs.calibrate(s, "platt"), score),
        "beta": (cs.calibrate(cs.sweep(y, p), "beta"), p),
        "gaussian": (cs.calibrate(s, "gaussian"), score),
        f"isotonic, {len(stairs):,} steps": (stairs, score),
        "isotonic, interpolated": (cs.calibrate(s, "monotone", interpolate=True), score),
        "isotonic, strict": (cs.calibrate(s, "monotone", strict=True), score),
    }
    rows = []
    for name, (c, x) in asked.items():
        ours = theirs = np.inf
        for _ in range(4):
            ours = min(ours, clock(lambda c=c, x=x: c.llr(x)))
            theirs = min(theirs, clock(lambda: np.interp(score, at, value)))
        rows.append((name, ours, theirs))
        print(f"apply {name:<40}{shown(ours):>10}{shown(theirs):>10}", flush=True)
    return rows


@dataclass
class Share:
    """Something that is asked of a sweep, and how long the sweep itself took."""

    what: str
    sweep: float
    seconds: float
    bar: float

    @property
    def share(self) -> float:
        return self.seconds / self.sweep


def shares(n: int) -> list[Share]:
    ratios = np.random.default_rng(1).exponential(size=100_000)
    questions: list[tuple[str, float, Callable[[cs.Sweep], Any]]] = [
        ("DeLong interval", 1.0, cs.auc_interval),
        ("thresholds for 100,000 cost ratios", 1.0, lambda s: cs.thresholds_for(s, ratios)),
        (
            "recall, precision ≥ 0.2",
            0.1,
            lambda s: cs.choose(s, "recall", subject_to="precision >= 0.2"),
        ),
        (
            "recall, flagged ≤ 500 and FPR ≤ 0.001",
            0.1,
            lambda s: cs.choose(s, "recall", subject_to=["flagged <= 500", "fpr <= 0.001"]),
        ),
        ("F₁, recall ≥ 0.5", 0.1, lambda s: cs.choose(s, "f1", subject_to="recall >= 0.5")),
        (
            "costs, FPR ≤ 0.1",
            0.1,
            lambda s: cs.choose(s, cs.Costs(fp=1, fn=20), subject_to="fpr <= 0.1"),
        ),
    ]
    out = []
    for share in (0.02, 0.5):
        y, score, _ = data(n, share, "float64")
        for what, bar, ask in questions:
            first = later = whole = np.inf
            for _ in range(15):
                whole = min(whole, clock(lambda y=y, score=score: cs.sweep(y, score)))
                fresh = cs.sweep(y, score)  # has answered nothing yet
                first = min(first, clock(lambda ask=ask, fresh=fresh: ask(fresh)))
                later = min(later, clock(lambda ask=ask, fresh=fresh: ask(fresh), least=0.02))
            where = f"{what}; {100 * share:g} % positive"
            out += [Share(f"{where}, first query", whole, first, bar)]
            out += [Share(f"{where}, later queries", whole, later, bar)]
            print(
                f"{where:<60}{first / whole:8.1%}{later / whole:8.1%}  (bar {bar:.0%})", flush=True
            )
    return out


def reading(n: int) -> tuple[float, float]:
    """Seconds to read the input once, and to compute the area."""
    y, score, _ = data(n, 0.02, "float32")
    read = area = np.inf
    for _ in range(8):
        read = min(read, clock(lambda: (score.max(), y.max()), least=0.05))
        area = min(area, clock(lambda: metrics.roc_auc_score(y, score), least=0.1))
    return read, area


def imports() -> dict[str, float]:
    codes = {
        "import numpy": "import numpy",
        "import cutscore": "import cutscore",
        "import cutscore, and its sweep": "import cutscore; cutscore.sweep",
        "import cutscore.metrics": "import cutscore.metrics",
    }
    best = dict.fromkeys(codes, np.inf)
    for _ in range(15):
        for name, code in codes.items():
            timed = f"import time; t = time.perf_counter()\n{code}\nprint(time.perf_counter() - t)"
            out = subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True)
            best[name] = min(best[name], float(out.stdout))
    return best


GROWTH = """
import json, sys, time
import numpy as np, cutscore as cs
from cutscore import metrics
n, what = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
y, score = np.empty(n, np.uint8), np.empty(n, np.float32)
step = 1_000_000
for i in range(0, n, step):
    m = min(step, n - i)
    y[i : i + m] = rng.random(m, np.float32) < (0.02 if what != "AUC, 50 %" else 0.5)
    score[i : i + m] = rng.standard_normal(m, np.float32) + y[i : i + m]
if what == "sweep":
    score = score.astype(np.float64)
    score += rng.random(n) * 1e-9
run = (lambda: cs.sweep(y, score)) if what == "sweep" else (lambda: metrics.roc_auc_score(y, score))
def memory(what):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew from what is there now
before, best = memory("VmRSS"), float("inf")
for k in range(3 if n > 3e7 else 12):
    start = time.perf_counter(); out = run(); best = min(best, time.perf_counter() - start)
    if k == 0: extra = memory("VmHWM") - before
print(json.dumps([best, extra, y.nbytes + score.nbytes, len(out) if what == "sweep" else 0]))
"""


def growth(most: int) -> list[tuple[str, int, float, float, float, int]]:
    rows = []
    for what in ("AUC, 2 %", "AUC, 50 %", "sweep"):
        for n in (100_000, 1_000_000, 10_000_000, 100_000_000):
            if n > most:
                continue
            command = [sys.executable, "-c", GROWTH, str(n), what]
            done = subprocess.run(command, capture_output=True, check=True, text=True)
            seconds, extra, input_, distinct = json.loads(done.stdout)
            rows.append((what, n, seconds, extra, input_, distinct))
            print(
                f"{what:<12}{n:>13,}{shown(seconds):>10}  {extra / 1e6:8.0f} MB extra", flush=True
            )
    return rows


def learners(n: int) -> list[Line]:
    """Fits of linear detectors; the peer has one thread for BLAS, which suits it best."""
    # Here, since they import this module for what it measures with.
    import learn_closed
    import learn_logistic
    import learn_perceptron

    return [*learn_closed.fits(n), *learn_logistic.fits(n), *learn_perceptron.epochs(n)]


def around(n: int) -> tuple[list[Line], list[Share], list[Share]]:
    """What users call around the area: lines, what sweeps answer, and calls beside other calls."""
    import calls

    lines = [*calls.comparisons(), *calls.curves(n), *calls.few_rows(), *calls.few_scores(n)]
    others = [*calls.others(), *calls.files(), *calls.learned()]
    return [*lines, *calls.groups(n)], calls.sweeps(), others


def shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def comparison(lines: list[Line], *, targets: bool = True) -> str:
    """A table of times, with a column of targets for the page of benchmarks."""
    table = ["| | scikit-learn | cutscore | speedup |", "|---|---:|---:|---:|"]
    for line in lines:
        times = f"{shown(line.theirs)} | {shown(line.ours)} | {line.ratio:.0f} ×"
        table.append(f"| {line.what} | {times} |")
    if targets:
        met = ["" if line.ratio >= line.bar else " (missed)" for line in lines]
        bars = [f"≥ {line.bar:g} ×{end}" for line, end in zip(lines, met, strict=True)]
        column = ("target", "---:", *bars)
        table = [f"{row} {cell} |" for row, cell in zip(table, column, strict=True)]
    return "\n".join(table)


def page(  # noqa: PLR0913 - what is on it
    n: int,
    lines: list[Line],
    *,
    asked: list[Share],
    others: list[Share],
    mapped: list[tuple[str, float, float]],
    read: tuple[float, float],
    loads: dict[str, float],
    grown: Any,
) -> str:
    questions = "\n".join(
        f"| {q.what} | {shown(q.seconds)} | {100 * q.share:.1f} % | ≤ {100 * q.bar:g} %"
        f"{'' if q.share <= q.bar else ' (missed)'} |"
        for q in asked
    )
    beside_calls = "\n".join(
        f"| {q.what} | {shown(q.seconds)} | {q.share:.1f} × | ≤ {q.bar:g} ×"
        f"{'' if q.share <= q.bar else ' (missed)'} |"
        for q in others
    )
    extra = [
        "| | rows | time | per row | time / (n log n), 1e5 rows = 1 | extra memory | of input |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    first: dict[str, float] = {}
    for what, rows, seconds, more, input_, distinct in grown:
        rate = seconds / (rows * log2(rows))
        first.setdefault(what, rate)
        own = distinct * 24
        scratch = f"{(more - own) / input_:.2f} ×" if rows >= 10**7 else "–"
        memory = f"{more / 1e6:,.0f} MB" + (f", {own / 1e6:,.0f} of it arrays" if own else "")
        extra.append(
            f"| {what} | {rows:,} | {shown(seconds)} | {1e9 * seconds / rows:.1f} ns "
            f"| {rate / first[what]:.2f} | {memory} | {scratch} |"
        )
    applications = "\n".join(
        f"| {name} | {shown(a)} | {a / b:.2f} × | ≤ 3 ×{'' if a <= 3 * b else ' (missed)'} |"
        for name, a, b in mapped
    )
    numpy_ = loads["import numpy"]
    starts = "\n".join(
        f"| `{name}` | {1e3 * t:.0f} ms | {t / numpy_:.2f} × |" for name, t in loads.items()
    )
    versions = (
        f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    )
    return f"""# Benchmarks

This page is generated by `make bench`. Both libraries run in one process, alternately, and each
time is the minimum of several runs. Input validation is included. Labels are uint8. Scores are
normal in both classes, one standard deviation apart. {versions}.

## Compared with scikit-learn, {n:,} rows unless stated otherwise

{comparison(lines)}

## Queries on a sweep of a million float64 rows

All scores are distinct, so there are 1,000,001 possible thresholds. The sweep itself takes
{shown(asked[0].sweep)}. The first query on a sweep computes the cumulative counts; later
queries reuse them.

| | time | relative to the sweep | target |
|---|---:|---:|---:|
{questions}

## Calls compared with other calls

| | time | relative to the other | target |
|---|---:|---:|---:|
{beside_calls}

## Applying a calibrator to {n:,} scores

Compared with `np.interp` with as many knots as the isotonic calibrator has steps.

| | time | relative to `np.interp` | target |
|---|---:|---:|---:|
{applications}

## Compared with reading the input

Finding the largest score and the largest label of {n:,} float32 rows takes
{shown(read[0])}. The exact AUC takes {shown(read[1])}, or {read[1] / read[0]:.1f} times
as long (target: at most 20 times).

## Growth and memory

Time should grow no faster than n log n: the fifth column should not rise above about 1. Extra
memory is the increase of the process's peak during the first call. The last column excludes the
three arrays of the sweep itself (24 bytes per distinct score). The target is less than 1.5 times
the input, and less than 2.5 GB for the arrays of 10⁸ distinct scores. The AUC is computed from
float32 scores, sweeps from float64 scores, nearly all distinct.

{chr(10).join(extra)}

## Start-up

| | time | relative to NumPy |
|---|---:|---:|
{starts}
"""


def main() -> int:
    """Exit code 1 if a promise was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    n = 10**6 if quick else 10**7
    lines = [*areas(n), *small(), resampling(), compared(), *calibrations(n)]
    lines += learners(10**5 if quick else 10**6)
    more, answered, others = around(n)
    lines += more
    asked, mapped = [*shares(10**6), *answered], applied(n)
    text = page(
        n,
        lines,
        asked=asked,
        others=others,
        mapped=mapped,
        read=reading(n),
        loads=imports(),
        grown=growth(10**6 if quick else 10**8),
    )
    print(text)
    missed = sum(line.ratio < line.bar for line in lines)
    missed += sum(q.share > q.bar for q in [*asked, *others])
    missed += sum(a > 3 * b for _, a, b in mapped)
    if quick:
        return 0
    (ROOT / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start, end = "<!-- speed: written by make bench -->\n", "<!-- end of speed -->"
    before, _, rest = readme.partition(start)
    _, _, after = rest.partition(end)
    some = [line for line in lines if line.what in HEADLINES]
    assert len(some) == len(HEADLINES)
    (ROOT / "README.md").write_text(
        before + start + f"\n{comparison(some, targets=False)}\n\n" + end + after, encoding="utf-8"
    )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
