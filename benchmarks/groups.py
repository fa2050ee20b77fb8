"""Groups: a million distinct scores in three groups, in multiples of the time of one sweep of them.
``python benchmarks/groups.py``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

import cutscore as cs

ROUNDS, COSTS = 4, cs.Costs(fp=1, fn=5)
CHOICES: dict[str, dict[str, Any]] = {
    "fpr <= 1 % in each group, 95 %": {
        "objective": "recall",
        "each": "fpr <= 1 %",
        "confidence": 0.95,
    },
    "a threshold for each group": {"objective": COSTS, "thresholds": "group"},
    "gap(recall) <= 2 %": {"objective": COSTS, "thresholds": "group", "gap": "recall <= 2 %"},
    "gap of recall and fpr <= 2 %": {
        "objective": COSTS,
        "thresholds": "group",
        "gap": ["recall <= 2 %", "fpr <= 2 %"],
    },
}


def main(n: int = 10**6) -> None:
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, 3, n), rng.random(n) < 0.1
    score = rng.normal(size=n) + 2 * y + 0.3 * group
    least: dict[str, float] = {}

    def measure(name: str, start: float) -> None:
        least[name] = min(least.get(name, np.inf), perf_counter() - start)

    for _ in range(ROUNDS):
        start = perf_counter()
        cs.sweep(y, score)
        measure("sweep", start)
        start = perf_counter()
        groups = cs.sweeps_by_group(y, score, group)
        measure("sweeps_by_group", start)
        for name, asked in CHOICES.items():
            fresh = cs.GroupSweeps(
                {g: cs.Sweep(s.threshold, s.pos, s.neg) for g, s in groups.items()}
            )
            start = perf_counter()
            cs.choose_groups(fresh, **asked)
            measure(name, start)
    for name, seconds in least.items():
        print(f"{name}: {seconds:.3f} s, {seconds / least['sweep']:.1f} sweeps")


if __name__ == "__main__":
    main()
