"""Two thresholds at once, beside the time of the sweep that they are chosen on: by costs, and under
each kind of limit. CPU time, of all threads.

Writes nothing; ``--rows N`` for other sizes. By costs it should take less than the sweep, under
limits no more than three times as long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import cutscore as cs

COSTS = cs.Costs(fp=20, fn=100, review=3)
AIMS: dict[str, dict[str, Any]] = {
    "costs": {"objective": COSTS},
    "costs, another prior": {"objective": COSTS, "prior": 0.01},
    "precision >= 95 %, reviewed <= 2,000": {
        "objective": "fnr",
        "subject_to": ["precision >= 95 %", "reviewed <= 2000"],
    },
    "least review: fnr <= 5 %, fpr <= 1 %": {
        "objective": "review_rate",
        "subject_to": ["fnr <= 5 %", "fpr <= 1 %"],
    },
    "least review: error_rate <= 2 %": {
        "objective": "review_rate",
        "subject_to": "error_rate <= 2 %",
    },
    "costs, review_rate <= 5 %, npv >= 98 %": {
        "objective": COSTS,
        "subject_to": ["review_rate <= 5 %", "npv >= 98 %"],
    },
    "the same with 95 % confidence": {
        "objective": COSTS,
        "subject_to": ["review_rate <= 5 %", "npv >= 97 %"],
        "confidence": 0.95,
    },
}


def fastest(run: Callable[[cs.Sweep], Any], make: Callable[[], cs.Sweep], turns: int) -> float:
    """The least time of some turns, each on a sweep made anew: it would remember its sums."""
    times = []
    for _ in range(turns):
        s = make()
        start = time.process_time()
        run(s)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.random(arguments.rows) < 0.05
    x = rng.standard_normal(arguments.rows) + 2.2 * y
    s, turns = cs.sweep(y, x), arguments.turns

    def make() -> cs.Sweep:
        return cs.sweep(y, x)

    base = fastest(lambda _: make(), make, turns)
    print(f"{arguments.rows:,} rows, {len(s):,} distinct scores; sweep {1000 * base:.1f} ms")
    for name, aim in AIMS.items():
        assert cs.choose(s, **aim).feasible, name
        own = fastest(lambda s, aim=aim: cs.choose(s, **aim), make, turns)
        print(f"{name:<40} {1000 * own:>7.1f} ms  {own / base:>5.2f} × the sweep")


if __name__ == "__main__":
    main()
