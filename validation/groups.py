"""Groups: are limits in each group and gaps with a confidence kept on new rows, and is as much
caught as by testing 100 thresholds? ``python validation/groups.py [draws]``, by default 2,000.

The grid is tested with the same correction: each group by its exact binomial test at the whole
error, from the lowest threshold on; the first that passes in every group is taken.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm

import cutscore as cs

SEPARATION, SHARE, CONFIDENCE, DRAWS = 2.0, 0.3, 0.95, 2_000


@dataclass(frozen=True)
class Setting:
    """Groups of normal scores, each shifted by as much against the one before."""

    sizes: tuple[int, ...]
    shift: float

    def draw(self, rng: np.random.Generator) -> dict[int, cs.Sweep]:
        out = {}
        for group, n in enumerate(self.sizes):
            y = rng.random(n) < SHARE
            out[group] = cs.sweep(y, rng.normal(size=n) + SEPARATION * y + self.shift * group)
        return out


LIMITED = (
    (Setting((1000, 1000, 1000), 0.0), 0.05),
    (Setting((1000, 1000, 1000), 0.5), 0.05),
    (Setting((2000, 800, 500), 0.0), 0.02),
)
GAPPED = ((Setting((1500, 1500), 0.0), 0.15), (Setting((4000, 3000, 3000), 0.5), 0.12))


def grid_recall(groups: dict[int, cs.Sweep], limit: float) -> float:
    """The recall of the lowest of 100 thresholds that passes in each group."""
    s = cs.GroupSweeps(groups).total
    scores = np.repeat(s.threshold, s.pos + s.neg)
    for t in np.quantile(scores, np.linspace(0, 1, 101)[1:]):
        cells = [one.at(float(t)) for one in groups.values()]
        tests = (binom.cdf(c.fp, c.negatives, limit) for c in cells)
        if all(p <= 1 - CONFIDENCE for p in tests):
            return float(s.at(float(t)).recall)
    return 0.0


def report_limit(setting: Setting, limit: float, draws: int) -> str:
    rng, broken, ours, grid = np.random.default_rng(0), 0, 0.0, 0.0
    for _ in range(draws):
        groups = setting.draw(rng)
        p = cs.choose_groups(groups, "recall", each=f"fpr <= {limit}", confidence=CONFIDENCE)
        assert p.common is not None
        rates = norm.sf(p.common - setting.shift * np.arange(len(groups)))
        broken += bool(rates.max() > limit)
        ours += float(p.confusion.recall)
        grid += grid_recall(groups, limit)
    return (
        f"{setting}, fpr <= {limit}: broken in {100 * broken / draws:.2f} % of {draws:,}, "
        f"recall {ours / draws:.4f}, of the grid {grid / draws:.4f}"
    )


def report_gap(setting: Setting, gap: float, draws: int) -> str:
    rng, broken, costs = np.random.default_rng(0), 0, cs.Costs(fp=1, fn=2)
    for _ in range(draws):
        p = cs.choose_groups(
            setting.draw(rng),
            costs,
            thresholds="group",
            gap=f"recall <= {gap}",
            confidence=CONFIDENCE,
        )
        at = np.array(list(p.thresholds.values()))
        rates = norm.sf(at - SEPARATION - setting.shift * np.arange(len(at)))
        broken += bool(np.ptp(rates) > gap)
    return f"{setting}, gap(recall) <= {gap}: broken in {100 * broken / draws:.2f} % of {draws:,}"


if __name__ == "__main__":
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    for setting, limit in LIMITED:
        print(report_limit(setting, limit, draws), flush=True)
    for setting, limit in GAPPED:
        print(report_gap(setting, limit, draws), flush=True)
