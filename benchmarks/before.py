"""Times of the same calls in two builds of cutscore, to see that nothing got slower.

``python benchmarks/before.py OTHER`` takes the Python of an environment that has another commit
installed. Each build runs in a process of its own; the calls take turns, and the minimum of each
counts. CPU times, so that a busy machine matters less. Exits with 1 if a call takes more than
``--most`` times as long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

Call = Callable[[], Any]


def cases(n: int) -> dict[str, Callable[[], Call]]:
    """What is timed, by name: each makes its data, and then the call."""
    import cutscore as cs
    from cutscore import estimators, metrics

    def rows(n: int, share: float, dtype: Any = np.float64, digits: int | None = None) -> Any:
        rng = np.random.default_rng(0)
        y = (rng.random(n) < share).astype(np.uint8)
        score = rng.standard_normal(n) + y
        score = score if digits is None else np.round(1 / (1 + np.exp(-score)), digits)
        return y, score.astype(dtype)

    def of_rows(call: Callable[[Any, Any], Any], *of: Any) -> Callable[[], Call]:
        def make() -> Call:
            y, score = rows(*of)
            return lambda: call(y, score)

        return make

    def of_sweep(call: Callable[[Any], Any], n: int) -> Callable[[], Call]:
        def make() -> Call:
            s = cs.sweep(*rows(n, 0.02))
            return lambda: call(cs.Sweep(s.threshold, s.pos, s.neg))

        return make

    def learn(make: Callable[[], Any]) -> Callable[[], Call]:
        def ready() -> Call:
            rng = np.random.default_rng(0)
            y = np.arange(n // 10) % 4 == 0
            x = (rng.standard_normal((len(y), 50)) + 0.1 * y[:, None]).astype(np.float32)
            return lambda: make().fit(x, y)

        return ready

    found = {
        f"roc_auc_score, {dtype.__name__}, {100 * share:g} %": of_rows(
            metrics.roc_auc_score, n, share, dtype
        )
        for dtype in (np.float32, np.float64)
        for share in (0.02, 0.5)
    }
    ratios = np.random.default_rng(1).exponential(size=100_000)
    costs = cs.Costs(fp=1, fn=20)
    return found | {
        "roc_auc_score, 3 decimals": of_rows(metrics.roc_auc_score, n, 0.02, np.float64, 3),
        "roc_auc_score, 100,000 rows": of_rows(metrics.roc_auc_score, 100_000, 0.5),
        "roc_auc_score, 1,000 rows": of_rows(metrics.roc_auc_score, 1_000, 0.5),
        "sweep": of_rows(cs.sweep, n, 0.02),
        "roc_curve": of_rows(metrics.roc_curve, n // 10, 0.02),
        "precision_recall_curve": of_rows(metrics.precision_recall_curve, n // 10, 0.02),
        "compare": of_rows(lambda y, a: cs.compare(y, a, a[::-1] + 2 * y), n // 10, 0.02),
        "bootstrap of the AUC": of_sweep(lambda s: cs.bootstrap(s, n=200), 100_000),
        "auc_interval": of_sweep(cs.auc_interval, n // 10),
        "thresholds_for": of_sweep(lambda s: cs.thresholds_for(s, ratios), n // 10),
        "choose by costs": of_sweep(lambda s: cs.choose(s, costs), n // 10),
        "choose under a limit": of_sweep(
            lambda s: cs.choose(s, "recall", subject_to="precision >= 0.2"), n // 10
        ),
        "monotone calibration": of_sweep(lambda s: cs.calibrate(s, "monotone"), n // 10),
        "Platt's calibration": of_sweep(lambda s: cs.calibrate(s, "platt"), n // 10),
        "expected cost, 1,000 rows": of_rows(
            lambda y, a: cs.choose(cs.sweep(y, a), costs).expected, 1_000, 0.1
        ),
        "LeastSquares": learn(estimators.LeastSquares),
        "Fisher": learn(estimators.Fisher),
        "Logistic": learn(estimators.Logistic),
    }


def serve(n: int) -> None:
    """Time what is asked for on standard input, one name a line."""
    known = cases(n)
    print(json.dumps(list(known)), flush=True)
    at, call = "", None
    for line in sys.stdin:
        if line.strip() != at:
            at = line.strip()
            call = known[at]()
            call()
        assert call is not None
        best, spent = inf, 0.0
        while spent < 0.1:
            start = time.process_time()
            call()
            taken = time.process_time() - start
            best, spent = min(best, taken), spent + taken
        print(best, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", help="the Python with another build")
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--most", type=float, default=1.1)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.rows)
        return 0
    if arguments.other is None:
        parser.error("which Python has the other build?")
    workers = [
        subprocess.Popen(
            [python, __file__, "--serve", "--rows", str(arguments.rows)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for python in (arguments.other, sys.executable)
    ]
    names = [json.loads(worker.stdout.readline()) for worker in workers][1]  # type: ignore[union-attr]
    slower = 0
    print(f"{'CPU milliseconds':<36}{'other':>10}{'this':>10}{'this/other':>12}")
    for name in names:
        best = [inf, inf]
        for _ in range(arguments.rounds):
            for k, worker in enumerate(workers):
                assert worker.stdin is not None
                assert worker.stdout is not None
                print(name, file=worker.stdin, flush=True)
                best[k] = min(best[k], float(worker.stdout.readline()))
        ratio = best[1] / best[0]
        slower += ratio > arguments.most
        print(f"{name:<36}{1e3 * best[0]:>10.3g}{1e3 * best[1]:>10.3g}{ratio:>12.2f}", flush=True)
    for worker in workers:
        worker.communicate()
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
