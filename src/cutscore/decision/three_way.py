"""Pass, review or block: two thresholds, and what to expect of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from types import MappingProxyType
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.core.checks import as_array, score_column
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import ValueMissing
from cutscore.core.frozen import derived
from cutscore.decision.choice import (
    Baseline,
    Chosen,
    CutPair,
    OperatingPoint,
    Status,
    limited_value,
    needs_classes,
)
from cutscore.decision.pairs import Pair, cut_costs, pairs_kept, period_rules, search, side_of
from cutscore.inference.guarantee import just_above
from cutscore.inference.periods import Periods, ratio_over
from cutscore.inference.placements import effective
from cutscore.inference.rates import clopper_pearson, interval
from cutscore.inference.selection import (
    Expected,
    Selection,
    critical_value,
    effort,
    interval_ends,
    logit_interval,
    select,
    spread_of,
    within_range,
)
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit, PeriodRule
from cutscore.measures.registry import Measure, Objective
from cutscore.measures.triage import Triage
from cutscore.sweeps.sweep import Floats, Sweep


@dataclass(frozen=True, eq=False, repr=False)
class ThreeWayPoint(OperatingPoint):
    """Two thresholds, why they were chosen and what they do; see :func:`cutscore.choose`.

    It is an operating point whose ``threshold`` is that for blocking, and whose ``confusion`` is a
    :class:`cutscore.Triage`.

    Parameters
    ----------
    review_threshold : float
        Review a case iff its score is at least this, and below ``threshold``.
    review_cut : int
        How many of the distinct scores are not passed.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[4, 50, 9926])
    >>> p = cs.choose(s, cs.Costs(fp=10, fn=100, review=2))
    >>> p.cuts, p.decide([0.95, 0.5, 0.2])
    (CutPair(review=0.3, block=0.7), array([2, 1, 0], dtype=int8))
    >>> p.value  # 10 · 4 blocked in error, 100 · 1 missed, 2 · 52 reviewed, of 10,000
    0.0244
    """

    review_threshold: float = inf
    review_cut: int = 0

    @property
    def cuts(self) -> CutPair:
        """The scores from which on a case is reviewed, and blocked."""
        return CutPair(self.review_threshold, self.threshold)

    def decide(self, scores: ArrayLike) -> NDArray[np.int8]:
        """0 to pass, 1 to review, 2 to block each score. NaN is refused."""
        return decide_scores(scores, self.cuts)

    @property
    def cut_indices(self) -> tuple[int, ...]:
        """How many of the distinct scores are blocked, and how many are not passed."""
        return self.cut, self.review_cut

    @property
    def trivial(self) -> bool:
        """Whether all cases are decided alike."""
        ends = (0, len(self.sweep))
        return self.cut in ends and self.review_cut in ends

    @property
    def alike(self) -> dict[str, Confusion]:
        """The same cases if all are passed, blocked or reviewed."""
        return _decided_alike(self.deployed)

    @derived
    def baseline(self) -> Baseline | None:
        """What passing, blocking or reviewing everything would cost, whichever is least."""
        goal = self.question.goal
        if not isinstance(goal, Costs):
            return None
        return self._baseline(lambda name: _Difference(goal, name))

    def _choose_again(self) -> Chosen | None:
        s, q = self.sweep, self.question
        if not self.feasible:
            return None
        if q.periods is None:
            return _selected(s, q)
        if not isinstance(q.periods, Periods) or min(s.P, s.N, q.periods.number) < 2:
            return None
        return _cross_fitted(s, q, q.periods, period_rules(s, q))

    def over_periods(self, periods: Periods, goal: Objective, level: float) -> Expected | None:
        if isinstance(goal, Measure) and side_of(goal) != "both":
            at = self.threshold if side_of(goal) == "block" else self.review_threshold
            return periods.measured(goal, at, level, self.question.prior)
        # What a case is worth that is passed, reviewed or blocked, of either class.
        tp, fp, fn, tn, pos, neg = (float(goal(Triage(*row))) for row in np.eye(6))
        worth, prior = np.array([[tn, neg, fp], [fn, pos, tp]]), self.question.prior
        most = _most(goal, self.confusion, prior)
        if isinstance(goal, Measure) and goal.rate:
            most = 1.0
        sums, cases = periods.worth(worth, self.cuts, prior)
        return ratio_over(sums, cases, level, goal.name, most)

    def as_given(self, goal: Objective, level: float = 0.95, method: str | None = None) -> Expected:
        """A measure with its interval as at thresholds that were given, not chosen."""
        if isinstance(goal, Measure) and side_of(goal) != "both":
            at = self.threshold if side_of(goal) == "block" else self.review_threshold
            prior = self.question.prior
            span = interval(self.sweep, goal, at=at, prior=prior, level=level, method=method)
            return Expected(float(goal(self.deployed)), span.low, span.high, level)
        if method is not None:  # a share of all rows
            n = effective(self.sweep.P + self.sweep.N, sum(self.sweep.square_totals("a limit")))
            value = float(goal(self.confusion))
            return Expected(value, *clopper_pearson(value * n, n, level), level)
        return _linear_interval(self, goal, level)


def decide_scores(
    scores: ArrayLike, thresholds: Sequence[float], *, reverse: bool = False
) -> NDArray[Any]:
    """Whether each score is at least the threshold, or with ``reverse`` at most; of two thresholds
    how many of them that is so for, as int8."""
    a = as_array(scores, "score")
    x = score_column(a.reshape(-1))
    above = []
    for threshold in thresholds:
        t = rounded(x.dtype, threshold, up=not reverse)
        above.append(x <= t if reverse else x >= t)
    flagged = above[0] if len(above) == 1 else above[0].astype(np.int8) + above[1]
    # Of most arrays one sum tells that there is no NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        total = x.sum(dtype=np.float64)
    if np.isnan(total) and (missing := np.isnan(x)).any():
        raise DataError(ValueMissing("score", "NaN", where=Where(int(missing.argmax()), "score")))
    return np.asarray(flagged.reshape(a.shape))


def rounded(dtype: np.dtype[Any], threshold: float, *, up: bool) -> Any:
    """A threshold in the type of the scores, to the side on which none of them changes: NumPy would
    compare float32 scores with the nearest float32."""
    with np.errstate(over="ignore"):
        near = dtype.type(threshold)
    beyond = float(near) < threshold if up else float(near) > threshold
    return np.nextafter(near, dtype.type(inf if up else -inf)) if beyond else near


@dataclass(frozen=True)
class _Difference:
    """What a case costs, less what it costs if all are decided alike."""

    costs: Costs
    baseline: str
    name: str = "difference"
    better: int = -1
    helpful: bool = True
    reviews: bool = True

    def gains(self, _: Any, __: Any) -> None:
        return None

    def __call__(self, c: Confusion) -> Number:
        return self.costs(c) - self.costs(_decided_alike(c)[self.baseline])


def _decided_alike(c: Confusion) -> dict[str, Confusion]:
    """The same cases if all are decided alike."""
    P, N, zero = c.positives, c.negatives, 0 * c.tp
    return {
        "pass all": Triage(zero, zero, P, N, zero, zero),
        "block all": Triage(P, N, zero, zero, zero, zero),
        "review all": Triage(zero, zero, zero, zero, P, N),
    }


def choose_three_way(s: Sweep, q: Aim) -> ThreeWayPoint:
    """The best two thresholds for an aim."""
    s.needs_rows("an operating point")
    needs_classes(s, q.goal)
    if q.prior is not None:
        s.needs_both_classes("an operating point for another prior")
    pair, feasible = search(s, q, period_rules(s, q))
    return point_of(s, q, pair, feasible)


def three_way_at(s: Sweep, q: Aim, cuts: CutPair) -> ThreeWayPoint:
    """What two thresholds do that were given."""
    block, review = s.cuts(np.array([cuts.block, cuts.review])).tolist()
    return point_of(s, q, Pair(block, review), None, cuts)


def point_of(
    s: Sweep, q: Aim, pair: Pair, feasible: bool | None, cuts: CutPair | None = None
) -> ThreeWayPoint:
    """The operating point of two cuts; feasible if that is known, else if the limits hold on the
    rows."""
    c = triage_at(s, pair)
    deployed = c if q.prior is None else c.deployed(q.prior)
    here = [feasible is not False] * len(q.limits)
    if not feasible and q.confidence is not None:
        here = pairs_kept(s, q, pair)
    elif q.confidence is None:
        # What the search found to be allowed is, whatever the rounding of shares at another prior.
        rules = {} if feasible else period_rules(s, q)
        here = [
            feasible or bool(rules.get(limit, limit).holds(limit.sees(c, deployed)))
            for limit in q.limits
        ]
    if feasible is None:
        feasible = all(here)
    cuts = _thresholds(s, q, pair) if cuts is None else cuts
    values = [limited_value(q, limit, cuts, limit.sees(c, deployed)) for limit in q.limits]
    return ThreeWayPoint(
        threshold=cuts.block,
        confusion=c,
        value=float(q.goal(deployed)),
        feasible=feasible,
        status=tuple(
            Status(limit.text, value, holds)
            for limit, value, holds in zip(q.limits, values, here, strict=True)
        ),
        cut=pair.block,
        sweep=s,
        question=q,
        review_threshold=cuts.review,
        review_cut=pair.review,
    )


def triage_at(s: Sweep, pair: Pair) -> Triage:
    """The six counts of two cuts."""
    (tp, either_tp), (fp, either_fp) = (
        masses.tolist() for masses in s.flagged(np.array(pair, np.int64))
    )
    return Triage(tp, fp, s.P - either_tp, s.N - either_fp, either_tp - tp, either_fp - fp)


def _thresholds(s: Sweep, q: Aim, pair: Pair) -> CutPair:
    block, review = (s.threshold_of(cut) for cut in pair)
    if q.confidence is not None:
        # What was tested is blocking all above the next lower score, and passing all below the
        # next higher one.
        names = {limit.measure.name for limit in q.limits}
        if "precision" in names and 0 < pair.block < len(s):
            k = pair.block
            block = just_above(float(s.threshold[k]), float(s.threshold[k - 1]))
        if "npv" in names and 0 < pair.review < len(s):
            review = float(s.threshold[pair.review - 1])
    return CutPair(min(review, block), block)


# ----------------------------------------------------------------------------- expected on new rows


@dataclass(frozen=True, eq=False)
class _PairSelection:
    """What choices of two cuts on folds and bootstrap samples came to: the same folds and samples
    for both."""

    block: Selection
    review: Selection

    @property
    def confusion(self) -> Triage:
        c, r = self.block.confusion, self.review.confusion
        return Triage(c.tp, c.fp, r.fn, r.tn, r.tp - c.tp, r.fp - c.fp)

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        if isinstance(goal, Measure) and side_of(goal) != "both":
            one = self.block if side_of(goal) == "block" else self.review
            return one.expect(goal, level)
        b, r = self.block, self.review
        repeats, samples = (
            [found.sum(axis=2)[:, :2].T for found in pair]
            for pair in ((b.repeats, r.repeats), (b.samples, r.samples))
        )
        share = b.P / (b.P + b.N)
        here = [(one.here_recall, one.here_fpr) for one in (b, r)]
        value, spread = spread_of(
            self._values(goal, repeats, share),
            self._values(goal, samples, b.sample_share),
            self._values(goal, here, share),
        )
        if not spread > 0:
            return None
        value = within_range(goal, value)
        if value == 0 and isinstance(goal, Measure):  # as on the folds, so on few of other rows
            return Expected(0.0, *clopper_pearson(0, b.P + b.N, level), level)
        half = critical_value(level, b.df) * spread
        most = _most(goal, self.confusion, b.prior)
        ends = logit_interval(value, half, most) if most else interval_ends(goal, value, half)
        return Expected(value, *ends, level)

    def _values(self, goal: Objective, rates: Any, share: Number) -> Floats:
        (recall, fpr), (all_recall, all_fpr) = rates
        prior = self.block.prior
        p = share if prior is None else prior
        n = 1 - p
        c = Triage(
            p * recall,
            n * fpr,
            p * (1 - all_recall),
            n * (1 - all_fpr),
            p * (all_recall - recall),
            n * (all_fpr - fpr),
        )
        return np.asarray(goal(c), np.float64)


def _most(goal: Objective, c: Confusion, prior: float | None) -> float | None:
    """What a cost can't exceed: that of deciding all wrong."""
    if not isinstance(goal, Costs) or goal.tp or goal.tn:
        return None
    d = c if prior is None else c.deployed(prior)
    zero = 0 * d.tp
    ends = (
        Triage(zero, d.negatives, d.positives, zero, zero, zero),
        Triage(zero, zero, zero, zero, d.positives, d.negatives),
    )
    return max(float(goal(end)) for end in ends)


def _linear_interval(p: ThreeWayPoint, goal: Objective, level: float) -> Expected:
    """Of a mean over cases, by its variance: within each class if its share is given."""
    c, prior = p.confusion, p.question.prior
    cells = ("tp", "fp", "fn", "tn", "reviewed_pos", "reviewed_neg")
    mass = np.array([getattr(c, name) for name in cells], np.float64)
    # What one case of each kind adds.
    worth = np.array([float(goal(Triage(*row))) for row in np.eye(6)])
    value, total = float(goal(p.deployed)), float(mass.sum())
    positive = np.array([1, 0, 1, 0, 1, 0], np.bool_)
    effective = _rows_per_mass(p.sweep)
    if prior is None:
        mean = float(mass @ worth) / total
        var = float(mass @ (worth - mean) ** 2) / total / (total * effective)
    else:
        var = 0.0
        for of, share in ((positive, prior), (~positive, 1 - prior)):
            m, w = mass[of], worth[of]
            mean = float(m @ w / m.sum())
            var += share**2 * float(m @ (w - mean) ** 2 / m.sum()) / (m.sum() * effective)
    half, most = critical_value(level, inf) * sqrt(var), _most(goal, c, prior)
    if not half or not isfinite(half):
        return Expected(value, value, value, level)
    ends = logit_interval(value, half, most) if most else interval_ends(goal, value, half)
    return Expected(value, *ends, level)


def _rows_per_mass(s: Sweep) -> float:
    """How many rows of equal weight a unit of mass stands for."""
    if not s.weighted:
        return 1.0
    return float((s.P + s.N) / sum(s.square_totals("an interval")))


def _selected(s: Sweep, q: Aim) -> _PairSelection | None:
    if not (s.P > 0 and s.N > 0):
        return None
    if not q.limits and isinstance(q.goal, Costs):
        # The choices are independent but for the rows, so that each is made natively.
        made = [select(s, Aim(costs, prior=q.prior)) for costs in cut_costs(q.goal)]
        return None if made[0] is None or made[1] is None else _PairSelection(made[0], made[1])
    return _cross_fitted(s, q)


# At most so many distinct scores are kept when cuts are chosen again on folds. If there are more,
# neighbours are merged, except for the corners of the convex hull.
_POINTS = 4_000


def _cross_fitted(
    s: Sweep,
    q: Aim,
    periods: Periods | None = None,
    rules: Mapping[Limit, PeriodRule] = MappingProxyType({}),
) -> _PairSelection | None:
    """Choose both cuts on folds and on bootstrap samples; see ``inference/selection.py``. With
    periods, rows of one period stay together, and limits per period are on all rows."""
    P, N = int(s.P), int(s.N)
    if min(P, N) < 2 or s.weighted or s.merged:
        return None
    few = s.sketch(_POINTS) if len(s) > _POINTS else s
    rare = min(P, N) if periods is None else min(P, N, periods.number)
    again = _Again(few.threshold, q, min(10, rare), P + N, rules)
    rng = np.random.default_rng(crc32(few.pos.tobytes() + few.neg.tobytes()))
    masses = (few.pos, few.neg)
    rows: _Rows | _PeriodRows = _Rows(masses, q.prior)
    if periods is not None:
        rows = _PeriodRows(periods, few.threshold)
    repeats, samples = effort(rare)
    in_repeats = [again.cross_fit(rows.dealt(rng, again.folds)) for _ in range(min(repeats, 6))]
    in_samples, here, shares = [], [], []
    for _ in range(max(min(samples, 60), 24)):
        drawn = rows.drawn(rng, again.folds)
        inside, whole = again.cross_fit(drawn), again.choose([d.sum(axis=0) for d in drawn])
        if inside is None or whole is None:
            continue
        in_samples.append(inside)
        here.append([[m[few.threshold >= t].sum() / m.sum() for m in masses] for t in whole[::-1]])
        shares.append(drawn[0].sum() / sum(d.sum() for d in drawn))
    known = [one for one in in_repeats if one is not None]
    if len(known) < len(in_repeats) or len(in_samples) < 2:
        return None
    a, b, h = np.array(known), np.array(in_samples), np.array(here)
    block, review = (
        Selection(
            *(P, N, (float(P), float(N)), q.prior),
            *(a[:, k], b[:, k], np.array(shares), h[:, k, 0], h[:, k, 1]),
            df=inf if periods is None else periods.number - 1.0,
        )
        for k in (0, 1)
    )
    return _PairSelection(block, review)


def deal(rng: np.random.Generator, mass: NDArray[Any], folds: int) -> NDArray[np.int64]:
    """The counts of a class in each of some folds of the same size, but for a row."""
    left, out = mass.copy(), np.zeros((folds, len(mass)), np.int64)
    for k in range(folds - 1):
        size = int(left.sum()) // (folds - k)
        out[k] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= out[k]
    out[-1] = left
    return out


Cells = list[NDArray[np.int64]]
"""Of positives and of negatives, the counts of each fold at each score."""


@dataclass(frozen=True)
class _Rows:
    """Independent rows, by their counts at each score."""

    masses: tuple[NDArray[Any], NDArray[Any]]
    prior: float | None

    def dealt(self, rng: np.random.Generator, folds: int) -> Cells:
        """Rows in folds of the same size."""
        return [deal(rng, m, folds) for m in self.masses]

    def drawn(self, rng: np.random.Generator, folds: int) -> Cells:
        """A bootstrap sample of such folds: copies of a row stay in one fold."""
        P, rows = int(self.masses[0].sum()), int(sum(m.sum() for m in self.masses))
        positives = P if self.prior is not None else rng.binomial(rows, P / rows)
        sizes = (min(max(int(positives), 1), rows - 1), 0)
        sizes = (sizes[0], rows - sizes[0])
        return [
            rng.multinomial(n, cell.ravel() / cell.sum()).reshape(cell.shape)
            for n, cell in zip(sizes, self.dealt(rng, folds), strict=True)
        ]


class _PeriodRows:
    """Rows of periods that are drawn independently: folds and samples have whole periods."""

    def __init__(self, periods: Periods, threshold: Floats) -> None:
        # At the score that is the lowest of its entry.
        at = np.searchsorted(-threshold, -periods.score)
        self.number, self.entries = periods.number, len(threshold)
        self.rows = [
            (periods.period[some], at[some]) for some in (periods.positive, ~periods.positive)
        ]

    def dealt(self, rng: np.random.Generator, folds: int) -> Cells:
        """Periods in folds of the same size, but for one."""
        return self._cells(rng.permutation(self.number) % folds, folds, None)

    def drawn(self, rng: np.random.Generator, folds: int) -> Cells:
        """As many periods with replacement; copies of a period stay in one fold."""
        fold = rng.permutation(self.number) % folds
        times = np.bincount(rng.integers(0, self.number, self.number), minlength=self.number)
        return self._cells(fold, folds, times.astype(np.float64))

    def _cells(self, fold: NDArray[Any], folds: int, times: Floats | None) -> Cells:
        shape = (folds, self.entries)
        return [
            np.bincount(
                fold[period] * self.entries + at,
                None if times is None else times[period],
                folds * self.entries,
            )
            .astype(np.int64)
            .reshape(shape)
            for period, at in self.rows
        ]


@dataclass(frozen=True)
class _Again:
    """Choices of two cuts on counts at the same scores."""

    threshold: Floats
    aim: Aim
    folds: int
    rows: int
    """That limits on counts are for: of fewer rows there may be fewer."""
    rules: Mapping[Limit, PeriodRule]
    """What limits per period come to on that many rows."""

    def choose(self, masses: Sequence[NDArray[Any]]) -> CutPair | None:
        """The best two thresholds for these counts; None where there are none."""
        pos, neg = masses
        seen = (pos > 0) | (neg > 0)
        part = Sweep._adopt(self.threshold[seen], pos[seen], neg[seen])
        if not (part.P and part.N):
            return None
        share = float(part.P + part.N) / self.rows
        limits = (one if one in self.rules else one.scaled(share) for one in self.aim.limits)
        aim = replace(self.aim, limits=tuple(limits))
        rules = {limit: rule.scaled(share) for limit, rule in self.rules.items()}
        with suppress(CutscoreError):
            return _thresholds(part, aim, search(part, aim, rules, steps=8)[0])
        return None

    def cross_fit(self, cells: Sequence[NDArray[np.int64]]) -> NDArray[np.float64] | None:
        """For either cut: the shares of both classes that are left out and above it, and that are
        above it in all, in each fold. As :class:`Selection` has them."""
        totals = [m.sum(axis=0) for m in cells]
        out = np.zeros((2, 4, self.folds))
        for k in range(self.folds):
            cuts = self.choose([total - m[k] for total, m in zip(totals, cells, strict=True)])
            if cuts is None:
                return None
            for side, t in enumerate((cuts.block, cuts.review)):
                above = self.threshold >= t
                left_out = [m[k][above].sum() / m.sum() for m in cells]
                out[side, :, k] = (*left_out, *(m[above].sum() / m.sum() for m in totals))
        return out
