"""What a chosen cut is worth on new rows: chosen again on folds, and judged on the rows left out.

On the rows that a cut was chosen on it looks better than it is, since it is the best of many there.
So it is chosen on nine tenths of the rows and judged on the tenth left out, ten times in turn; sums
over all tenths are those of a choice on almost as many rows, on rows that it has not seen.

How far that may be off is seen on bootstrap samples, which stand to the rows as the rows stand to
all cases: the value that a sample's own choice has on the rows, less what choosing on folds of the
sample makes of it. Copies of a row stay in one fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, inf, isfinite, log, log10, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cutscore import _native
from cutscore._check import threads
from cutscore._frozen import Frozen
from cutscore._sweep import Floats, Sweep
from cutscore.confusion import Confusion
from cutscore.inference import interval
from cutscore.objectives import Costs, Limit, Measure, Objective, check_level

_FOLDS = 10
# With more rows than this in either class, choosing the threshold adds about 0.1 % to the value.
MANY = 50_000
_ALL = (1.0, 1.0, 1.0, 1.0)
# Measures that are ratios of sums of the shares of TP, FP, FN and TN.
_RATIOS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "fnr": ((0, 0, 1, 0), (1, 0, 1, 0)),
    "fpr": ((0, 1, 0, 0), (0, 1, 0, 1)),
    "specificity": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "npv": ((0, 0, 0, 1), (0, 0, 1, 1)),
    "flagged_rate": ((1, 1, 0, 0), _ALL),
    "accuracy": ((1, 0, 0, 1), _ALL),
    "error_rate": ((0, 1, 1, 0), _ALL),
    "balanced_rate": ((1, 0, 0, 1), _ALL),
    "youden": ((1, -1, -1, 1), _ALL),
}
# Counts of rows: what they are as shares of these.
_COUNTS = {"flagged": (1, 1, 0, 0), "tp": (1, 0, 0, 0), "fp": (0, 1, 0, 0)}
_COUNTS |= {"fn": (0, 0, 1, 0), "tn": (0, 0, 0, 1)}
# Where both classes count the same.
_EVEN = ("balanced_rate", "youden")


def in_places(first: float, *more: float) -> list[str]:
    """Numbers with as many decimals as the first needs for three digits.

    Examples
    --------
    >>> from cutscore.selection import in_places
    >>> in_places(0.0306, 0.02, 0.1), in_places(17805.4)
    (['0.0306', '0.0200', '0.1000'], ['17,805'])
    """
    size = next((abs(x) for x in (first, *more) if x and isfinite(x)), 1.0)
    places = min(max(2 - floor(log10(size)), 0), 12)
    return [f"{x:,.{places}f}" for x in (first, *more)]


class Expected(NamedTuple):
    """A value expected on new rows, with its confidence interval.

    Examples
    --------
    >>> from cutscore.selection import Expected
    >>> Expected(0.6, 0.48, 0.75, 0.95)
    0.600 (95 % CI 0.480–0.750)
    """

    value: float
    low: float
    high: float
    level: float

    def __repr__(self) -> str:
        value, low, high = in_places(self.value, self.low, self.high)
        return f"{value} ({100 * self.level:g} % CI {low}–{high})"


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Frozen):
    """What choices on folds and on bootstrap samples of rows came to; made by :func:`select`.

    Parameters
    ----------
    P, N
        How many positives and negatives there are.
    prior
        The share of positives that was asked about, or None for that of the rows.
    tp, fp
        What choices on folds catch and flag wrongly among the rows left out, in each repeat.
    sample_tp, sample_fp
        The same within each bootstrap sample.
    here_tp, here_fp
        What each sample's own choice does on the rows themselves.
    in_pos, in_neg
        How much the positives and negatives of each sample weigh: the share of positives is an
        estimate too, unless somebody says what it is.
    """

    P: float
    N: float
    prior: float | None
    tp: Floats
    fp: Floats
    sample_tp: Floats
    sample_fp: Floats
    here_tp: Floats
    here_fp: Floats
    in_pos: Floats
    in_neg: Floats

    @property
    def confusion(self) -> Confusion:
        """What the choice does with the rows if each was left out of it, on average."""
        tp, fp = float(self.tp.mean()), float(self.fp.mean())
        return Confusion(tp, fp, self.P - tp, self.N - fp)

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """The value of a measure on new rows, or None if it has none on some of the folds."""
        z = NormalDist().inv_cdf((1 + check_level(level)) / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            repeats = self._values(goal, self.tp, self.fp, 1.0, 1.0)
            inside = self._values(goal, self.sample_tp, self.sample_fp, self.in_pos, self.in_neg)
            here = self._values(goal, self.here_tp, self.here_fp, 1.0, 1.0)
            away = here - inside
        value, away = float(repeats.mean()), away[np.isfinite(away)]
        if not np.isfinite(value) or 2 * len(away) < len(here):
            return None
        spread = float(away.var(ddof=1)) if len(away) > 1 else 0.0
        if not spread or (value in (0.0, 1.0) and not isinstance(goal, Costs)):
            return Expected(value, *self._at_once(goal, value, level), level)
        # A sample has one set of folds where the rows have several: less what folds alone do.
        folds = float(repeats.var(ddof=1)) * (1 - 1 / len(repeats))
        low, high = _ends(goal, value, z * sqrt(max(spread - folds, spread / 2)))
        return Expected(value, low, high, level)

    def _at_once(self, goal: Objective, value: float, level: float) -> tuple[float, float]:
        """An interval as at a threshold that was given: where rows are many the choice adds next to
        nothing, and where all samples agree they tell nothing."""
        c = self.confusion
        tp, fp = round(c.tp), round(c.fp)
        two = Sweep.from_counts([1.0, 0.0], [tp, int(self.P) - tp], [fp, int(self.N) - fp])
        span = interval(two, goal, at=0.5, prior=self.prior, level=level)
        return min(span.low, value), max(span.high, value)

    def _values(self, goal: Objective, tp: Floats, fp: Floats, p: Any, n: Any) -> Floats:
        P, N = self.P * p, self.N * n
        c = Confusion(tp * p, fp * n, P - tp * p, N - fp * n)
        return np.asarray(goal(c if self.prior is None else c.deployed(self.prior)), np.float64)


def _ends(goal: Objective, value: float, half: float) -> tuple[float, float]:
    """An interval on the scale where the measure has no end: costs are at least 0, rates at most
    1."""
    if isinstance(goal, Costs) and not goal.tp and not goal.tn and value > 0:
        factor = exp(min(half / value, 700.0))
        return value / factor, value * factor
    if isinstance(goal, Measure) and (goal.name in _SHARES or goal.beta is not None):
        inside = min(max(value, 1e-9), 1 - 1e-9)
        middle, away = log(inside / (1 - inside)), half / (inside * (1 - inside))
        low, high = (1 / (1 + np.exp(-np.clip([middle - away, middle + away], -700, 700)))).tolist()
        return min(low, value), max(high, value)
    low = -1.0 if getattr(goal, "name", "") == "youden" else -inf
    return max(value - half, low), min(value + half, -low)


_SHARES = set(_RATIOS) - {"youden"}


def _effort(rare: int) -> tuple[int, int]:
    """How many fold assignments to make, and how many samples to draw, by the size of the rarer
    class: where it is large, a choice costs more and matters less."""
    if rare <= 1_000:
        return 4, 150 if rare <= 300 else 100
    return (2, 50) if rare <= 5_000 else (1, 0)


def select(
    s: Sweep,
    goal: Objective,
    limits: tuple[Limit, ...],
    prior: float | None,
) -> Selection | None:
    """Choose again on folds and on bootstrap samples; None for aims that it does not know."""
    rare = int(min(s.P, s.N))
    aim = _numbers(goal, limits, prior, float(s.P + s.N))
    if s.weighted or s.merged or aim is None or rare < 2 or s.P + s.N >= 2**31:
        return None
    threshold, top, pos, neg = s.threshold, s.threshold, s.pos, s.neg
    if goal.helpful and all(limit.helpful for limit in limits):
        threshold, top, pos, neg = _shortened(s)
    # By the rows: with one seed for all, rows of the same ranks would always be in one fold, and
    # what that does would not average out. The scores themselves don't matter, only their order.
    seed = crc32(neg.tobytes(), crc32(pos.tobytes()))
    rng = np.random.default_rng(seed)
    P, N = float(s.P), float(s.N)
    repeats, samples = _effort(rare)
    in_pos: Floats = np.ones(samples)
    in_neg: Floats = np.ones(samples)
    if prior is None:
        drawn = rng.binomial(int(P + N), P / (P + N), samples).astype(np.float64)
        drawn = np.clip(drawn, 1.0, P + N - 1)
        in_pos, in_neg = drawn / P, (P + N - drawn) / N
    folds = min(_FOLDS, rare)
    of_repeats, of_samples = _native.cross_fit(
        threshold,
        top,
        pos,
        neg,
        aim,
        folds,
        repeats,
        in_pos,
        in_neg,
        seed,
        threads(samples * int(P + N)),
    )
    tp, fp = of_repeats.reshape(2, -1)
    sample_tp, sample_fp, here_tp, here_fp = of_samples.reshape(4, -1)
    return Selection(P, N, prior, tp, fp, sample_tp, sample_fp, here_tp, here_fp, in_pos, in_neg)


# Scores of one class in a row that are kept apart: a cut lies between two scores of the rows it is
# chosen on, and a row left out lies in between only if the next of its class are left out as well.
_APART = 12


def _shortened(s: Sweep) -> tuple[Floats, Floats, NDArray[Any], NDArray[Any]]:
    """Scores from above, with the highest of each, and masses; of long rows of one class, all but
    the first few are one. No cut among them can be the best."""
    kind = np.where(s.pos == 0, -1, np.where(s.neg == 0, 1, 0))
    at = np.arange(len(s))
    starts = np.concatenate(([True], (kind[1:] != kind[:-1]) | (kind[1:] == 0)))
    in_run = at - np.maximum.accumulate(np.where(starts, at, 0))
    first = np.flatnonzero(in_run <= _APART)
    last = np.append(first[1:], len(s)) - 1
    masses = (np.add.reduceat(mass, first) for mass in (s.pos, s.neg))
    return s.threshold[last], s.threshold[first], *masses


def _numbers(
    goal: Objective, limits: tuple[Limit, ...], prior: float | None, rows: float
) -> NDArray[np.float64] | None:
    """An aim as the native core takes it; None if it is no ratio of sums."""
    first = _ratio(goal, prior)
    if first is None:
        return None
    out = [(*first, 0.0, float(goal.better))]
    for limit in limits:
        counts = _COUNTS.get(limit.measure.name)
        one = _ratio(limit.measure, prior) if counts is None else (*counts, *_ALL, -1.0)
        if one is None:
            return None
        bound = limit.bound if counts is None else limit.bound / rows
        out.append((*one, bound, 1.0 if limit.sign[0] == ">" else -1.0))
    return np.array(out, np.float64).ravel()


def _ratio(goal: Objective, prior: float | None) -> tuple[float, ...] | None:
    share = -1.0 if prior is None else prior
    if isinstance(goal, Costs):
        return (-goal.tp, goal.fp, goal.fn, -goal.tn, *_ALL, share)
    if not isinstance(goal, Measure):
        return None
    if goal.beta is not None:
        b = goal.beta**2
        return (1 + b, 0.0, 0.0, 0.0, 1 + b, 1.0, b, 0.0, share)
    if goal.name not in _RATIOS:
        return None
    up, down = _RATIOS[goal.name]
    return (*up, *down, 0.5 if goal.name in _EVEN else share)
