"""Groups: are limits in each group and gaps with a confidence kept on new rows, is as much caught
as by testing 100 thresholds, and do intervals of what to expect in a group contain it?

The grid is tested with the same correction: each group by its exact binomial test at the whole
error, from the lowest threshold on; the first that passes in every group is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

import cutscore as cs
from cutscore.decision.group_folds import expect_groups

Array = NDArray[Any]

CONFIDENCE, DRAWS, EXPECTED_DRAWS = 0.95, 2_000, 1_000
COSTS = cs.Costs(fp=1, fn=4)


@dataclass(frozen=True)
class Setting:
    """Groups of normal scores, each shifted by as much against the one before, and positives
    further from negatives by ``more``."""

    sizes: tuple[int, ...]
    shift: float
    separation: float = 2.0
    share: float = 0.3
    more: float = 0.0

    @property
    def apart(self) -> Array:
        return self.separation + self.more * np.arange(len(self.sizes))

    def draw(self, seed: int) -> dict[int, cs.Sweep]:
        rng = np.random.default_rng((seed, 23))
        out = {}
        for group, n in enumerate(self.sizes):
            y = rng.random(n) < self.share
            x = rng.normal(size=n) + self.apart[group] * y + self.shift * group
            out[group] = cs.sweep(y, x)
        return out

    def rates(self, p: cs.GroupPoint) -> tuple[Array, Array]:
        """True recall and false positive rate of each group."""
        at = np.array([p.thresholds[k] for k in range(len(self.sizes))])
        at -= self.shift * np.arange(len(at))
        return norm.sf(at - self.apart), norm.sf(at)

    def __str__(self) -> str:
        more = f"; shift {self.shift:g}" if self.shift else ""
        more += f"; separation {self.more:+g}" if self.more else ""
        return ", ".join(f"{n:,}" for n in self.sizes) + more


LIMITED = (
    (Setting((1000, 1000, 1000), 0.0), 0.05),
    (Setting((1000, 1000, 1000), 0.5), 0.05),
    (Setting((2000, 800, 500), 0.0), 0.02),
    (Setting((3000, 300, 60, 60), 0.2), 0.05),
)
GAPPED = (
    (Setting((1500, 1500), 0.0), 0.15),
    (Setting((4000, 3000, 3000), 0.5, more=0.5), 0.12),
    (Setting((20_000, 10_000), 0.0, 1.0, more=1.0), 0.05),
)
EXPECTED: dict[str, dict[str, Any]] = {
    "one threshold, costs": {"objective": COSTS},
    "fpr <= 10 % in each group": {
        "objective": "recall",
        "each": "fpr <= 10 %",
        "confidence": CONFIDENCE,
    },
    "own thresholds, costs": {"objective": COSTS, "thresholds": "group"},
    "gap(recall) <= 5 %": {"objective": COSTS, "thresholds": "group", "gap": "recall <= 5 %"},
}
SIZES = (Setting((2000, 800, 200), 0.4), Setting((8000, 4000, 2000), 0.4, 2.0, 0.1))


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


def limit_kept(task: tuple[Setting, float, int, int]) -> Array:
    """How often a limit is broken in some group on new rows, with the guarantee and without; the
    recall, and that of the grid."""
    setting, limit, first, draws = task
    out = np.zeros(4)
    for seed in range(first, first + draws):
        groups = setting.draw(seed)
        sure = cs.choose_groups(groups, "recall", each=f"fpr <= {limit}", confidence=CONFIDENCE)
        here = cs.choose_groups(groups, "recall", each=f"fpr <= {limit}")
        out += [
            _worst(setting, sure) > limit,
            _worst(setting, here) > limit,
            float(sure.confusion.recall),
            grid_recall(groups, limit),
        ]
    return out


def _worst(setting: Setting, p: cs.GroupPoint) -> float:
    """The highest rate of a group; groups that were tested together have one rate."""
    _, fpr = setting.rates(p)
    few = [int(name) for name in p.pooled]  # type: ignore[call-overload]
    alone = np.delete(fpr, few)
    together = [np.average(fpr[few], weights=np.array(setting.sizes)[few])] if few else []
    return float(max([*alone, *together]))


def gap_kept(task: tuple[Setting, float, int, int]) -> Array:
    """How often the true recalls are further apart, with the guarantee and without."""
    setting, gap, first, draws = task
    out = np.zeros(2)
    for seed in range(first, first + draws):
        groups = setting.draw(seed)
        for k, confidence in enumerate((CONFIDENCE, None)):
            p = cs.choose_groups(
                groups,
                COSTS,
                thresholds="group",
                gap=f"recall <= {gap}",
                confidence=confidence,
            )
            out[k] += np.ptp(setting.rates(p)[0]) > gap
    return out


def group_covered(task: tuple[str, Setting, int, int]) -> Array:
    """How often the intervals of recall and FPR contain the truth, of the largest group, of the
    smallest, and of those of all groups the least often."""
    name, setting, first, draws = task
    out = np.zeros((2, len(setting.sizes)))
    for seed in range(first, first + draws):
        p = cs.choose_groups(setting.draw(seed), **EXPECTED[name])
        expected = expect_groups(p).groups
        for k, true in enumerate(setting.rates(p)):
            for group, rate in enumerate(true):
                e = expected[group][("recall", "fpr")[k]]
                out[k, group] += e.low <= rate <= e.high
    return out.ravel()


def report_group_choice(r: Any) -> None:
    r.table(
        LIMIT_TEXT,
        "rows of the groups",
        "limit",
        "violated",
        "without confidence",
        "recall",
        "of the grid",
    )
    for (setting, limit), got in r.spread(limit_kept, list(LIMITED), DRAWS):
        pooled = len(setting.sizes) > 3  # the grid can't test the small ones
        grid = "none" if pooled else f"{got[3]:.4f}"
        r.row(
            str(setting),
            f"fpr <= {100 * limit:g} %",
            *(f"{100 * rate:.1f} %" for rate in got[:2]),
            f"{got[2]:.4f}",
            grid,
        )
        if got[0] > 0.05 + 3 * (0.05 * 0.95 / DRAWS) ** 0.5 or (not pooled and got[2] < got[3]):
            r.faults.append(f"groups {setting}, fpr <= {limit}: {got}")
    r.table(GAP_TEXT, "rows of the groups", "gap of recall", "violated", "without confidence")
    for (setting, gap), got in r.spread(gap_kept, list(GAPPED), DRAWS):
        r.row(str(setting), f"{100 * gap:g} %", *(f"{100 * rate:.1f} %" for rate in got))
        if got[0] > 0.05 + 3 * (0.05 * 0.95 / DRAWS) ** 0.5:
            r.faults.append(f"groups {setting}, gap {gap}: {got}")
    r.table(EXPECTED_TEXT, "choice", "rows of the groups", "recall", "false positive rate")
    heads = [(name, setting) for name in EXPECTED for setting in SIZES]
    for (name, setting), got in r.spread(group_covered, heads, EXPECTED_DRAWS):
        both = np.reshape(got, (2, -1))
        cells = (", ".join(map(_marked, one)) for one in both)
        r.row(name, str(setting), *cells)
        if both.min() < 0.87:
            r.faults.append(f"expected of groups {name}, {setting}: {got}")


def _marked(coverage: float) -> str:
    text = f"{100 * coverage:.1f} %"
    return text if 0.94 <= coverage <= 0.96 else f"**{text}**"


LIMIT_TEXT = f"""
## Thresholds for groups

`choose_groups(groups, "recall", each=limit, confidence=0.95)`: on new rows, the limit may be
violated in any group in at most 5 % of the samples; {DRAWS:,} per row. Scores of each group may be
shifted against those of the one before. Groups of 60 rows are tested together. The grid has 100
quantiles of the scores, which are tested from the lowest threshold on with the same correction.
"""

GAP_TEXT = f"""
A threshold for each group, of least cost, with `gap=` and `confidence=0.95`. The band behind the
guarantee holds at all cuts at once, so violations are rarer than they may be. {DRAWS:,} samples
per row.
"""

EXPECTED_TEXT = f"""
Coverage of the 95 % intervals of recall and false positive rate that policies expect in each
group, in the order of the groups; {EXPECTED_DRAWS:,} samples per row. They are corrected for the
choice, but not widened for it: with few positives in a group, and a threshold of its own, recall is
covered less often.
"""
