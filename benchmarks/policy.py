"""What a policy's file costs, and whether revision from it is what the rows would give.

    .venv/bin/python benchmarks/policy.py [--aims 10000]

- A policy of 10⁶ rows is at most 2 MB, and loads in at most 50 ms.
- It decides 10⁷ scores in at most 3 times the time of ``np.searchsorted``.
- Revision equals the choice on the rows for each of 10,000 random aims, bit for bit in threshold,
  counts and value, where the evidence is of all scores or of corners; where it is of blocks, the
  best value of the rows lies in the certified interval, and is met where no limits are asked for.

Exits with 1 if one of these does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import cutscore as cs
from cutscore.decision.choice import reach as point_reach
from cutscore.policy import Policy

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from aims import outcome, random_aim

ROWS = 10**6
SCORES = 10**7


def least(work: Any, turns: int = 7) -> float:
    times = []
    for _ in range(turns):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def rows(n: int, share: float, distance: float, seed: int = 0, digits: int | None = None) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    x = rng.standard_normal(n) + distance * y
    return cs.sweep(y, x if digits is None else np.round(x, digits))


def files() -> bool:
    """Sizes and times of policies of a million rows."""
    print("| rows | positive | evidence | MB | load, ms | decide 10⁷, ms | np.searchsorted, ms |")
    print("|---|---|---|---|---|---|---|")
    scores, ok = np.random.default_rng(1).standard_normal(SCORES), True
    for share, distance in ((0.01, 2.0), (0.3, 1.2), (0.5, 0.3)):
        p = Policy.choose(rows(ROWS, share, distance), cs.Costs(fp=1, fn=5))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.json"
            p.save(path)
            size, load = path.stat().st_size / 1e6, least(lambda at=path: Policy.load(at))
        own = least(lambda p=p: p.decide(scores))
        cut = np.array([p.threshold])
        theirs = least(lambda cut=cut: np.searchsorted(cut, scores, side="right"))
        ok &= size <= 2 and load <= 0.05 and own <= 3 * theirs
        print(
            f"| {ROWS:,} | {100 * share:g} % | {p.evidence!r} | {size:.2f} | {1e3 * load:.1f} | "
            f"{1e3 * own:.1f} | {1e3 * theirs:.1f} |"
        )
    return ok


def revisions(aims: int) -> bool:
    """How many random aims the file answers as the rows do."""
    print("\n| evidence | aims | equal | refused by both | inside the certified interval |")
    print("|---|---|---|---|---|")
    ok = True
    for keep, s in (
        ("scores", rows(20_000, 0.2, 1.2, 3)),
        ("scores", rows(20_000, 0.2, 1.2, 4, digits=2)),
        ("corners", rows(300_000, 0.3, 1.2, 5)),
        ("blocks", rows(300_000, 0.3, 1.2, 5)),
    ):
        p = Policy.from_json(
            Policy.choose(s, "youden", evidence=keep, calibrator="platt").to_json()
        )
        assert p.evidence.kind == keep, p.evidence
        equal = refused = inside = 0
        for k in range(aims):
            rng = np.random.default_rng((k, 23))
            aim = random_aim(
                rng, corners=keep != "scores", vertices=keep == "blocks" and k % 2 == 0
            )
            wanted = outcome(lambda aim=aim, s=s: cs.choose(s, cs.Aim.asked(**aim)))
            found = outcome(lambda aim=aim, p=p: p._chosen(cs.Aim.asked(**aim), None))
            same = wanted == found
            equal += same
            refused += same and len(wanted) == 1
            inside += same or within(p, aim, wanted)
        ok &= inside == aims if keep == "blocks" else equal == aims
        print(f"| {p.evidence!r} | {aims:,} | {equal:,} | {refused:,} | {inside:,} |")
    return ok


def within(p: Policy, aim: dict[str, Any], wanted: tuple[Any, ...]) -> bool:
    """Whether the best value of the rows lies in the interval of evidence of blocks."""
    if p.evidence.kind != "blocks" or "subject_to" not in aim or len(wanted) == 1:
        return False
    reach = point_reach(p._chosen(cs.Aim.asked(**aim), None))
    return bool(reach.low <= float(wanted[2]) <= reach.high)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--aims", type=int, default=10_000)
    asked = parser.parse_args()
    kept = [files(), revisions(asked.aims)]
    sys.exit(0 if all(kept) else 1)
