"""What thresholds for rows of groups are worth on new rows.

On the rows that thresholds were chosen on they look better than they are. By how much is seen on
folds: thresholds are chosen again on nine tenths of the rows of each group, ten times in turn, and
the rates on these rows are compared with those on the tenth left out. What they differ by, on
average, is taken off the rates of the group, whose intervals are those of as many rows. That is for
rates and costs, which are sums over cases; precision, F1 and their like have no expectation here.

Where the choice can't be made again, since nine tenths of a group are too few to show a limit or
rows have weights, rates have the band of Dvoretzky, Kiefer, Wolfowitz and Massart: it holds at all
cuts of a group at once, however they were chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from math import isfinite
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import CutscoreError
from cutscore.decision.groups import GroupPoint, choose_groups
from cutscore.inference.placements import sizes_of
from cutscore.inference.rates import interval
from cutscore.inference.roc_band import band_width
from cutscore.inference.selection import Expected
from cutscore.measures.aim import Top, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.registry import Measure, Objective
from cutscore.sweeps.sweep import Sweep

_FOLDS = 10
# With more rows than this in each class of each group, a choice adds little beside the intervals.
_MANY = 5_000
_RATES = ("recall", "fpr", "flagged_rate")

Promises = dict[str, Expected]


class GroupExpectations(NamedTuple):
    """What to expect on new rows, by the name of the measure."""

    total: Promises
    """On rows of all groups, in the shares that they have here."""
    groups: dict[Hashable, Promises]


def expect_groups(
    point: GroupPoint, level: float = 0.95, *, given: bool = False
) -> GroupExpectations:
    """What to expect of thresholds on new rows: of the objective if it is a sum over cases, and of
    recall, false positive rate and the share flagged. Of ``given`` ones what is seen on the rows.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> from cutscore.decision.group_folds import expect_groups
    >>> rng = np.random.default_rng(1)
    >>> country = rng.choice(["de", "fr"], 4000, p=[0.7, 0.3])
    >>> y = rng.random(4000) < 0.2
    >>> score = rng.normal(size=4000) + 2 * y + 0.5 * (country == "fr")
    >>> groups = cs.sweeps_by_group(y, score, country)
    >>> p = cs.choose_groups(groups, "recall", each="fpr <= 5 %", confidence=0.95)
    >>> expect_groups(p).groups["fr"]["fpr"]
    0.0373 (95 % CI 0.0271–0.0513)
    """
    goals = {}
    if _is_sum(point.aim.goal):
        goals[point.aim.goal.name] = point.aim.goal
    goals |= {name: as_objective(name) for name in _RATES if name not in goals}
    corrected = _corrected(point, given)
    if corrected is None:
        return _in_band(point, level)
    cells = np.array([(c.tp, c.fp, c.fn, c.tn) for c in corrected.values()])
    # A group has the share of positives that it has: only all of them together have a prior.
    total = _expect(Confusion(*cells.sum(axis=0).tolist()), goals, level, point.aim.prior)
    return GroupExpectations(
        total, {name: _expect(c, goals, level) for name, c in corrected.items()}
    )


def _is_sum(goal: Objective) -> bool:
    """Whether values of tenths add up: costs, and shares of rows or of one class."""
    if isinstance(goal, Costs):
        return True
    divides = ("precision", "npv", "lift", "mcc", "lr_positive", "lr_negative")
    if isinstance(goal, Top) or not isinstance(goal, Measure) or goal.is_count:
        return False
    return goal.beta is None and goal.name not in divides and goal.part is not None


def _expect(
    c: Confusion, goals: Mapping[str, Objective], level: float, prior: float | None = None
) -> Promises:
    """The measures of so many rows, with intervals as at a threshold that was given."""
    two = Sweep.from_counts([1.0, 0.0], [c.tp, c.fn], [c.fp, c.tn])
    deployed = c if prior is None else c.deployed(prior)
    out = {}
    for name, goal in goals.items():
        with suppress(CutscoreError):
            low, high = interval(two, goal, at=0.5, prior=prior, level=level)
            found = Expected(float(goal(deployed)), float(low), float(high), level)
            if all(map(isfinite, found)):
                out[name] = found
    return out


def _corrected(point: GroupPoint, given: bool) -> dict[Hashable, Confusion] | None:
    """What to expect of as many new rows; None where the choice can't be made again."""
    sweeps = point.sweeps
    counts = any(one.measure.is_count for one in (*point.each, *point.aim.limits))
    if any(s.weighted for s in sweeps.values()):
        return None
    if given or all(min(s.P, s.N) > _MANY for s in sweeps.values()):
        return dict(point.confusions)
    if counts:  # of fewer rows there would be fewer
        return None
    seed = 0
    for s in sweeps.values():
        seed = crc32(s.neg.tobytes(), crc32(s.pos.tobytes(), seed))
    rng = np.random.default_rng(seed)
    folds = {name: (_split(s.pos, rng), _split(s.neg, rng)) for name, s in sweeps.items()}
    excess = {name: np.zeros(2) for name in sweeps}
    for k in range(_FOLDS):
        left_out = {name: (pos[k], neg[k]) for name, (pos, neg) in folds.items()}
        try:
            again = choose_groups(
                {name: _without(s, *left_out[name]) for name, s in sweeps.items()},
                point.aim,
                each=point.each,
                gap=point.gaps,
                thresholds="group" if point.own else "common",
                small=point.small,
            )
        except CutscoreError:
            return None
        for name, s in sweeps.items():
            above = s.threshold >= again.thresholds[name]
            pairs = zip((s.pos, s.neg), left_out[name], strict=True)
            excess[name] += [_excess(mass, out, above) / _FOLDS for mass, out in pairs]
    return {name: _less(c, *excess[name].tolist()) for name, c in point.confusions.items()}


def _excess(
    mass: NDArray[np.int64], left_out: NDArray[np.int64], above: NDArray[np.bool_]
) -> float:
    """By how much a rate is higher on the rows of a choice than on those left out."""
    seen = mass - left_out
    if not (seen.any() and left_out.any()):
        return 0.0
    return float(seen[above].sum() / seen.sum() - left_out[above].sum() / left_out.sum())


def _less(c: Confusion, recall: float, fpr: float) -> Confusion:
    """The same rows with lower rates."""
    tp = round(min(max(c.tp - recall * c.positives, 0.0), c.positives))
    fp = round(min(max(c.fp - fpr * c.negatives, 0.0), c.negatives))
    return Confusion(tp, fp, c.positives - tp, c.negatives - fp)


def _split(mass: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Rows of each score in folds of one size."""
    at = np.repeat(np.arange(len(mass)), mass)
    fold = rng.permutation(len(at)) % _FOLDS
    return [np.bincount(at[fold == k], minlength=len(mass)) for k in range(_FOLDS)]


def _without(s: Sweep, pos: NDArray[np.int64], neg: NDArray[np.int64]) -> Sweep:
    pos, neg = s.pos - pos, s.neg - neg
    there = (pos > 0) | (neg > 0)
    if not there.any():  # a group of one row
        return s
    return Sweep._adopt(s.threshold[there], pos[there], neg[there])


def _in_band(point: GroupPoint, level: float) -> GroupExpectations:
    """Rates to within what holds at all cuts at once."""
    groups: dict[Hashable, Promises] = {
        name: _band(point.sweeps[name], c, level) for name, c in point.confusions.items()
    }
    total: Promises = {}
    if not point.own:
        total = _band(point.sweeps.total, point.confusion, level)
    return GroupExpectations(total, groups)


def _band(s: Sweep, c: Confusion, level: float) -> Promises:
    out: Promises = {}
    with suppress(CutscoreError):  # the number of rows that weights are worth is not known
        P, N = sizes_of(s, "a band")
        for name, rows in zip(_RATES, (P, N, P + N), strict=True):
            rate = float(as_objective(name)(c))
            if rows > 0 and isfinite(rate):
                half = band_width(rows, level)
                out[name] = Expected(rate, max(rate - half, 0.0), min(rate + half, 1.0), level)
    return out
