"""What can be drawn of a sweep: few cuts of the many, and always those that costs can choose.

A sweep of ten million scores has as many cuts; a page shows a thousand of them at best. A
:class:`Trace` keeps those that can be told apart in a picture (by rates, by precision, by score)
and every vertex of the hull, so that the best cut for any costs is among them, with exact counts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import UndefinedError
from cutscore.core.frozen import Frozen
from cutscore.decision.row_costs import MoneyCurve
from cutscore.inference.net_benefit import NetBenefitAt, net_benefit_at
from cutscore.inference.roc_band import Band, roc_band
from cutscore.sweeps.cost_curve import CostCurve
from cutscore.sweeps.curves import Roc, from_zero
from cutscore.sweeps.hull import Hull, vertices
from cutscore.sweeps.proper_scores import Reliability, reliability
from cutscore.sweeps.sweep import Floats, Masses, Sweep

Ints = NDArray[np.int64]

# Up to so many cuts are all kept; up to so many are looked at one by one.
_FEW, _MANY = 1500, 2**18
# Steps along each axis, and how much a cut may flag more than the one before.
_STEPS, _GROWTH = 320, 1.01
# Hulls have some hundred vertices; of one with more than this a page keeps what it can show.
_VERTICES = 6_000
_BINS = 64
# Of each of so many parts of the axis, costs by row are drawn at three cuts.
_MONEY_PARTS = 150


@dataclass(frozen=True)
class Axis:
    """The scale that scores are drawn on: ``"linear"``, or ``"logit"`` for probabilities that
    crowd at an end."""

    kind: Literal["linear", "logit"]
    low: float
    high: float

    def place(self, score: Floats) -> Floats:
        """From 0 at the low end to 1 at the high end; what lies beyond is at the ends."""
        a, b = self._scale(np.array([self.low, self.high]))
        x = self._scale(np.clip(score, self.low, self.high))
        return np.asarray(np.clip((x - a) / (b - a), 0.0, 1.0))

    def score(self, place: Floats) -> Floats:
        """The other way round."""
        a, b = self._scale(np.array([self.low, self.high]))
        x = a + place * (b - a)
        return x if self.kind == "linear" else np.asarray(1 / (1 + np.exp(-x)))

    def _scale(self, x: Floats) -> Floats:
        return np.asarray(x if self.kind == "linear" else np.log(x) - np.log1p(-x))


@dataclass(frozen=True, eq=False)
class Shares(Frozen):
    """The share of positives from score to score by isotonic regression: the blocks of PAV."""

    low: Floats
    """The lowest score of each block, from the highest block on."""
    high: Floats
    share: Floats
    axis: Axis
    forecast: Floats | None = None
    """Where the band is known: forecasts, and between which shares calibrated ones would be."""
    band_low: Floats | None = None
    band_high: Floats | None = None
    outside: float | None = None
    """The share of cases whose block is outside of the band."""


@dataclass(frozen=True, eq=False)
class Trace(Frozen):
    """Some cuts of a sweep, from flagging nothing to flagging everything."""

    cut: Ints
    threshold: Floats
    tp: Masses
    fp: Masses
    vertex: Ints
    """Which of the cuts are vertices of the hull of the cuts that a threshold can make."""
    complete: bool
    """Whether these are all vertices there are."""
    axis: Axis
    edges: Floats
    """Of the bins of the histogram, from 0 to 1 along the axis."""
    pos: Floats
    """The share of the positives in each bin."""
    neg: Floats
    beyond: tuple[float, float]
    """The mass of the rows below and above the axis, which are in the outermost bins."""
    band: Band | None = None
    """The confidence band of the ROC curve."""

    @property
    def roc(self) -> Roc:
        """The ROC curve through these cuts."""
        return Roc(self.threshold, self.fp / self.fp[-1], self.tp / self.tp[-1])


class Histogram(NamedTuple):
    """How many of the normal rows there are in each bin."""

    axis: Axis
    edges: Floats
    """From 0 to 1 along the axis."""
    mass: Floats
    beyond: tuple[float, float]
    """The mass below and above the axis, which is in the outermost bins."""


@dataclass(frozen=True, eq=False)
class DecisionCurve(Frozen):
    """Net benefit at threshold probabilities, in the range where a score can be of use."""

    threshold: Floats
    flag_all: Floats
    best: Floats
    """That of the score's best cut at each of them."""
    acting: NetBenefitAt | None = None
    """That of acting on the probability, with its interval; None if there is none."""


def trace(s: Sweep, h: Hull, *also: int, level: float | None = 0.95, detail: float = 1.0) -> Trace:
    """The cuts to draw; ``also`` are cuts that must be among them. Less ``detail``, down to a
    quarter, is for pages with many scores. Without a level there is no band."""
    # Where scores are +inf no threshold flags nothing.
    first = 1 if s.threshold[0] == np.inf else 0
    best = vertices(s, first).cut if first else h.cut
    axis = score_axis(s)
    most = int(_VERTICES * detail)
    kept = best if len(best) <= most else best[_spread(len(best), most)]
    cut = np.unique(np.concatenate((kept, also, _visible(s, axis, first, detail))))
    cut = cut.astype(np.int64)
    tp, fp = s.flagged(cut)
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    pos, neg = _histogram(s, axis, edges)
    return Trace(
        cut,
        s.thresholds_of(cut),
        tp,
        fp,
        np.searchsorted(cut, kept),
        len(kept) == len(best),
        axis,
        edges,
        pos,
        neg,
        _beyond(s, axis),
        None if level is None else _band(s, cut, tp, fp, level),
    )


def money_trace(curve: MoneyCurve, cut: int) -> MoneyCurve:
    """The cuts that a picture of costs shows: in each small part of the axis the first, the
    cheapest and the dearest; and the one that was chosen."""
    part = np.minimum((_MONEY_PARTS * curve.flagged).astype(np.int64), _MONEY_PARTS - 1)
    first = np.flatnonzero(np.diff(part, prepend=-1))
    last = np.append(first[1:], len(part)) - 1
    order = np.lexsort((curve.cost, part))  # parts stay where they are
    ends = np.array([cut, len(curve) - 1])
    at = np.unique(np.concatenate((first, order[first], order[last], ends)))
    return MoneyCurve(curve.threshold[at], curve.flagged[at], curve.cost[at])


def histogram(s: Sweep) -> Histogram:
    """The histogram of normal rows: there are no positives."""
    axis, edges = score_axis(s), np.linspace(0.0, 1.0, _BINS + 1)
    return Histogram(axis, edges, _bins(s, axis, edges)[1], _beyond(s, axis))


class _Table(NamedTuple):
    """Cuts in order, with what they flag: all of them, or every 256th of very many."""

    cut: Ints
    tp: Masses
    fp: Masses


def _table(s: Sweep) -> _Table:
    if len(s) <= _MANY:
        return _Table(np.arange(len(s) + 1), from_zero(s.tp), from_zero(s.fp))
    return _Table(s.blocks.cut, s.blocks.tp, s.blocks.fp)


def by_parts(s: Sweep, loss: Callable[[Sweep], float], size: int = 2**16) -> float:
    """The mean loss of all cases from those of parts that fit into the cache."""
    if len(s) <= 2 * size:
        return loss(s)
    total = s.P + s.N

    def part(start: int) -> float:
        at = slice(start, start + size)
        some = Sweep(s.threshold[at], s.pos[at], s.neg[at])
        mean = loss(some) * ((some.P + some.N) / total)
        s.forget(at)
        return mean

    # NumPy lets others run meanwhile. Added in the order of the parts, whoever was first.
    with ThreadPoolExecutor(threads(len(s))) as pool:
        return sum(pool.map(part, range(0, len(s), size)))


def largest_tie(s: Sweep) -> tuple[float, float]:
    """The score with the most mass, if it has a tenth of all, and its share."""
    total = s.P + s.N
    t = _table(s)
    heavy = np.flatnonzero(np.diff(t.tp) + np.diff(t.fp) >= 0.1 * total)
    score, share = np.nan, 0.0
    for k in heavy.tolist():
        at = slice(int(t.cut[k]), int(t.cut[k + 1]))
        mass = s.pos[at] + s.neg[at]
        most = int(np.argmax(mass))
        if mass[most] / total > share:
            score, share = float(s.threshold[at][most]), float(mass[most] / total)
    return score, share


def _spread(n: int, k: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, k).astype(np.int64))


def _visible(s: Sweep, axis: Axis, first: int, detail: float) -> Ints:
    """Cuts that a picture can tell apart: by FPR, by TPR, by score, and by precision."""
    m = len(s)
    if m <= _FEW * detail:
        return np.arange(first, m + 1)
    grid, t = np.linspace(0, 1, int(_STEPS * detail) + 1), _table(s)
    by_rate = [
        t.cut[np.minimum(np.searchsorted(mass, grid * mass[-1]), len(t.cut) - 1)]
        for mass in (t.tp, t.fp)
    ]
    by_score = s.cuts(axis.score(grid))
    # The precision changes by no more than the growth of what is flagged.
    steps = detail * np.log(m) / np.log(_GROWTH)
    by_growth = np.unique(np.rint(np.exp(np.linspace(0, np.log(m), int(steps) + 2))))
    every = np.concatenate(([first, m], *by_rate, by_score, by_growth))
    return np.unique(np.clip(every, first, m).astype(np.int64))


def score_axis(s: Sweep) -> Axis:
    """Over all scores but the outermost 0.05 % of either class at either end."""
    t, table = s.threshold, _table(s)
    ends = []
    for mass in (m for m in (table.tp, table.fp) if m[-1] > 0):
        # What is flagged before the first such cut, and by the last one.
        k = np.searchsorted(mass, np.array([0.0005, 0.9995]) * mass[-1], side="left")
        cut = table.cut[np.minimum(k, len(table.cut) - 1)]
        ends.append((t[max(int(table.cut[max(k[0] - 1, 0)]), 0)], t[max(int(cut[1]) - 1, 0)]))
    highs, lows = zip(*ends, strict=True)
    low, high = np.clip(np.array([min(lows), max(highs)]), -1e300, 1e300).tolist()
    if t[-1] >= 0 and t[0] <= 1:
        at = s.flagged(s.cuts(np.array([0.95, 0.05])))
        above, to = ((at[0] + at[1]) / (s.P + s.N)).tolist()
        # On the scale of log odds 0 and 1 have no place; they are drawn at the ends.
        inside = s.cuts(np.array([1.0, 5e-324])).tolist()
        if max(above, 1 - to) > 0.6 and inside[0] < inside[1]:
            least, most = float(t[inside[1] - 1]), float(t[inside[0]])
            a, b = max(low, least, 1e-9), min(high, most, 1 - 1e-9)
            if a < b:
                return Axis("logit", a, b)
        low, high = (0.0 if low < 0.2 else low), (1.0 if high > 0.8 else high)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-200):
        pad = max(0.5, 1e-9 * size)
        low, high = low - pad, high + pad
    elif not 0 <= low < high <= 1:
        pad = min(0.02 * (high - low), 1e299)
        low, high = low - pad, high + pad
    return Axis("linear", low, high)


def _histogram(s: Sweep, axis: Axis, edges: Floats) -> tuple[Floats, Floats]:
    """Shares of either class in each bin, those beyond the axis in the outermost."""
    pos, neg = _bins(s, axis, edges)
    return pos / s.P, neg / s.N


def _bins(s: Sweep, axis: Axis, edges: Floats) -> tuple[Floats, Floats]:
    """The mass of either class in each bin."""
    inner = s.cuts(axis.score(edges[1:-1]))
    tp, fp = s.flagged(np.concatenate(([len(s)], inner, [0])))
    return -np.diff(tp), -np.diff(fp)


def _beyond(s: Sweep, axis: Axis) -> tuple[float, float]:
    tp, fp = s.flagged(s.cuts(np.array([np.nextafter(axis.high, np.inf), axis.low])))
    above, down_to = (tp + fp).tolist()
    return s.P + s.N - down_to, above


# The ends that the axis of threshold probabilities may have.
ENDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def useful_range(prior: float, at: float) -> float:
    """The end of the axis of threshold probabilities: three times the prevalence, and twice the
    threshold probability of the costs, are on it."""
    return next((end for end in ENDS if end >= max(3 * prior, 2 * at)), ENDS[-1])


def decision_curve(  # noqa: PLR0913 - what is known
    cost: CostCurve, p: Sweep | None, prior: float, end: float, level: float | None, *, known: bool
) -> DecisionCurve:
    """The decision curve up to a threshold probability; ``p`` is a sweep of probabilities. Without
    a level there is no interval; ``known`` says that the prior is not estimated."""
    t = np.linspace(0.0, min(end, 0.995), 201)
    acting = None
    if p is not None and level is not None:
        with suppress(UndefinedError):  # weights without squares
            acting = net_benefit_at(p, t, prior=prior if known else None, level=level)
    return DecisionCurve(t, prior - (1 - prior) * t / (1 - t), cost.net_benefit(t, prior), acting)


def _band(s: Sweep, cut: Ints, tp: Masses, fp: Masses, level: float) -> Band | None:
    """The band of the curve through these cuts."""
    k = 1 if cut[0] == 0 else 0
    at = cut[k:]
    squares = [
        None if mass is None else s.sums(mass, np.concatenate(([0], at[:-1])))
        for mass in (s.pos2, s.neg2)
    ]
    pos, neg = np.diff(tp[k:], prepend=0), np.diff(fp[k:], prepend=0)
    try:
        return roc_band(Sweep(s.threshold[at - 1], pos, neg, *squares), level=level)
    except UndefinedError:
        return None


def shares(s: Sweep, h: Hull, *, level: float, probabilities: bool) -> Shares:
    """The share of positives by score, with a band where scores are probabilities of rows."""
    pos, neg = np.diff(h.tp), np.diff(h.fp)
    high, low = s.threshold[h.cut[:-1]], s.threshold[h.cut[1:] - 1]
    share = pos / (pos + neg)
    if len(share) > 2 * _FEW:
        at = _spread(len(share), 2 * _FEW)
        high, low, share = high[at], low[at], share[at]
    axis = score_axis(s)
    if not probabilities or (s.weighted and s.pos2 is None):
        return Shares(low, high, share, axis)
    r: Reliability = reliability(_merge_neighbours(s), level=level, n=200)
    assert r.low is not None
    assert r.high is not None
    # By rank, and by forecast too: where forecasts are far apart there are few.
    by_value = len(r) - np.searchsorted(r.forecast[::-1], axis.score(np.linspace(0, 1, 201)))
    by_rank = _spread(len(r), 300) if len(r) > 600 else np.arange(len(r))
    at = np.unique(np.concatenate((by_rank, np.clip(by_value, 0, len(r) - 1))))
    outside = float(np.sum(r.mass[r.outside]) / np.sum(r.mass))
    return Shares(low, high, share, axis, r.forecast[at], r.low[at], r.high[at], outside)


def _merge_neighbours(s: Sweep, alone: int = 1024, groups: int = 4096) -> Sweep:
    """Neighbours together at their mean forecast, but for the outermost: for the band, which is the
    same to the eye."""
    m = len(s)
    if m <= 2 * alone + groups:
        return s
    middle = np.linspace(alone, m - alone, groups, endpoint=False).astype(np.int64)
    starts = np.concatenate((np.arange(alone), middle, np.arange(m - alone, m)))
    pos, neg = (s.sums(mass, starts) for mass in (s.pos, s.neg))
    squares = (None if mass is None else s.sums(mass, starts) for mass in (s.pos2, s.neg2))
    # The plain mean of the scores of a group: among so many each has one row or few.
    mean = s.sums(s.threshold, starts) / np.diff(starts, append=m)
    return Sweep(np.clip(mean, 0.0, 1.0), pos, neg, *squares)
