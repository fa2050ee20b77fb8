"""The best pair of two cuts, exactly: cases are passed, reviewed or blocked.

Let i and j ≥ i be how many of the distinct scores are blocked, and blocked or reviewed. Costs are
sums over cases, so that an objective is A(i) + B(j), where both are linear in TP and FP:

- **Without limits** the best i and the best j are those of two ordinary choices, each with costs of
  its own. A cut for blocking asks for more positives among the next cases than one for reviewing,
  or else nothing is ever worth a review and i = j is best. So two look-ups on the convex hull do.
- **With limits**, those on one cut say which i, or which j, are allowed. Those on both, on the
  share of reviews and of errors, allow for each i a window of j, and neither end of the windows
  ever moves back as i grows. So one pass finds the best pair of all (``native/pairs.hpp``).

Limits with a confidence become limits on counts first, as those of one cut do, and so do limits per
period. These can always be kept, by blocking and reviewing nothing: they are never loosened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import CountsRows
from cutscore.decision.choice import choose
from cutscore.inference.guarantee import (
    CertifiedLimit,
    certify_limit,
    check_guarantee,
    max_between,
    max_errors,
    split_error,
)
from cutscore.inference.periods import as_periods
from cutscore.inference.units import as_units
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.limits import HOLDS, Limit, PeriodRule, ReviewWindows, bad_limit
from cutscore.measures.registry import Measure
from cutscore.sweeps.curves import from_zero
from cutscore.sweeps.sweep import Masses, Sweep

# How much TP and FP of the cut for blocking, then of that for reviewing, add to an objective.
Coefficients = tuple[Fraction, Fraction, Fraction, Fraction]

BLOCK, PASS = (1, 1, 0, 0), (0, 0, 1, 1)
_CONSTANT = (None, (1, 0, 1, 0), (0, 1, 0, 1), (1, 1, 1, 1))
# Shares of the errors that a limit on all of them grants to cases that are blocked.
_SPLITS = (0.1, 0.3, 0.5, 0.7, 0.9)


class Pair(NamedTuple):
    """Two cuts: how many of the distinct scores are blocked, and how many are not passed."""

    block: int
    review: int


def side_of(measure: Measure) -> str:
    """Which cut a measure is of: "block", "pass" or "both"."""
    if measure.reviews:
        return "both"
    if measure.part is None or measure.even or measure.name == "lift":
        known = "fpr, fnr, recall, specificity, precision, npv, error_rate, review_rate or a count"
        rule = f"be on {known} if cases may be reviewed"
        raise bad_limit(measure.name, rule)
    cells = [measure.part, *([] if measure.whole in _CONSTANT else [measure.whole])]
    block, passed = (
        any(a and b for one in cells if one for a, b in zip(one, side, strict=True))
        for side in (BLOCK, PASS)
    )
    return "both" if block and passed else "block" if block else "pass"


def coefficients(s: Sweep, q: Aim) -> Coefficients:
    """What the goal gains by TP and FP of both cuts. More is better."""
    goal = q.goal
    if isinstance(goal, Costs):
        (a, b), (c, d) = goal.by_cut
        out = (a, -b, c, -d)
    elif isinstance(goal, Measure) and goal.reviews:
        out = tuple(Fraction(x) for x in (1, 1, -1, -1))  # type: ignore[assignment]
    elif isinstance(goal, Measure) and goal.part is not None and goal.whole in _CONSTANT:
        side_of(goal)
        tp, fp, fn, tn = (goal.better * Fraction(x) for x in goal.part)
        out = (tp, fp, -fn, -tn)
    else:
        rule = "be costs, a rate of one class or of all cases, or the share reviewed"
        hint = "Use Costs(fp=..., fn=..., review=...)."
        raise DataError(BadArgument("objective", rule, goal.name, hint))
    if q.prior is None:
        return out
    pos, neg = _cases_of_a_row(s, q.prior)
    return out[0] * pos, out[1] * neg, out[2] * pos, out[3] * neg


def _cases_of_a_row(s: Sweep, prior: float) -> tuple[Fraction, Fraction]:
    """How many cases a row stands for, of either class."""
    share, P, N = Fraction(repr(prior)), Fraction(s.P), Fraction(s.N)
    return share * (P + N) / P, (1 - share) * (P + N) / N


class _Cuts:
    """All cuts of a sweep, as those for blocking and as those for reviewing."""

    def __init__(self, s: Sweep, q: Aim) -> None:
        self.s, self.q = s, q
        self.tp, self.fp = from_zero(s.tp), from_zero(s.fp)
        self.flagged = self.tp + self.fp
        m = len(self.tp)
        self.block_allowed = np.ones(m, np.bool_)
        self.pass_allowed = np.ones(m, np.bool_)
        if s.threshold[0] == np.inf:  # no threshold is above it
            self.block_allowed[0] = self.pass_allowed[0] = False
        self.low = np.arange(m)
        self.high = np.full(m, m - 1)

    @property
    def one(self) -> Confusion:
        """Each cut as if it were the only one."""
        return Confusion(self.tp, self.fp, self.s.P - self.tp, self.s.N - self.fp)

    def allow(self, side: str, holds: NDArray[np.bool_]) -> None:
        if side == "block":
            self.block_allowed &= holds
        else:
            self.pass_allowed &= holds

    def limit(self, limit: Limit) -> None:
        """Allow what keeps a limit on these rows."""
        side = side_of(limit.measure)
        if side == "both":
            self._limit_sum(limit)
        elif limit.measure.monotone:
            self.allow(side, self._holding(limit))
        elif self.q.prior is not None:
            self.allow(side, self._holds(limit, slice(None)))
        else:  # a share of what is blocked, or of what is passed: the rest need not be there
            s, tp, fp = self.s, self.tp, self.fp
            blocked = side == "block"
            c = Confusion(tp, fp, 0, 0) if blocked else Confusion(0, 0, s.P - tp, s.N - fp)
            self.allow(side, limit.holds(c))

    def _holds(self, limit: Limit, at: Any) -> Any:
        """Whether cuts keep a limit on one of the two: what the other does is no matter."""
        s, tp, fp = self.s, self.tp[at], self.fp[at]
        c = Confusion(tp, fp, s.P - tp, s.N - fp)
        return limit.holds(c if self.q.prior is None else limit.sees(c, c.deployed(self.q.prior)))

    def _holding(self, limit: Limit) -> NDArray[np.bool_]:
        """The same of a measure that only rises or only falls: it holds up to a cut, or from one
        on, which is found in few steps."""
        m = len(self.tp)
        first, last = (bool(self._holds(limit, k)) for k in (0, m - 1))
        low, high = 0, m - 1
        while high - low > 1 and first != last:
            middle = (low + high) // 2
            low, high = (middle, high) if self._holds(limit, middle) == first else (low, middle)
        holds = np.full(m, last)
        holds[: low + 1] = first
        return holds

    def _limit_sum(self, limit: Limit) -> None:
        """A limit on u(i) + v(j), of which both only rise or only fall."""
        s, measure, prior = self.s, limit.measure, self.q.prior
        whole: int | float = 1 if measure.is_count else s.P + s.N
        tp, fp = self.tp, self.fp
        if prior is not None and not measure.is_count:
            cases = _cases_of_a_row(s, prior)
            scale = lcm(*(one.denominator for one in cases))
            if not s.weighted and scale * whole < 2**62:
                whole = scale * int(whole)
                tp, fp = (m * int(k * scale) for m, k in zip((tp, fp), cases, strict=True))
            else:
                tp, fp = (m * float(k) for m, k in zip((tp, fp), cases, strict=True))
        if measure.reviews:
            v = tp + fp
            u = -v
        else:
            assert measure.part is not None
            cells = measure.part
            u = cells[0] * tp + cells[1] * fp
            v = cells[2] * (tp[-1] - tp) + cells[3] * (fp[-1] - fp)
        upper = limit.sign[0] == "<"
        most = _largest_allowed(limit, whole) if u.dtype.kind == "i" else limit.bound * whole
        if len(limit.sign) == 1 and u.dtype.kind != "i":
            most = np.nextafter(most, -np.inf if upper else np.inf)
        if upper:
            self.at_most(v, most - u)
        else:
            self.at_most(-v, u - most)

    def at_most(self, v: Masses, most: Masses) -> None:
        """Allow for each i those j whose v(j) is at most what it may be. If v rises that never
        falls, and if it falls that never rises."""
        count: Any = _native.count_below if v.dtype.kind == "i" else _native.weighted_count_below
        most = np.broadcast_to(most, v.shape).astype(v.dtype, copy=False)
        if v[-1] > v[0] or (v[-1] == v[0] and most[-1] >= most[0]):
            self.high = np.minimum(self.high, count(v, most, True) - 1)
        else:
            self.low = np.maximum(self.low, count(-v, -most, False))

    def limit_period(self, limit: Limit, rule: PeriodRule) -> None:
        """Allow what keeps a limit per period, which comes to this on all rows."""
        if isinstance(rule, ReviewWindows):
            self.at_most(self.flagged, rule.allowed(self.flagged))
        elif limit.measure.reviews:
            self._limit_sum(rule)
        else:
            self.allow("block", rule.holds(self.one))

    def keeps(self, pair: Pair) -> bool:
        """Whether a pair is allowed."""
        i, j = pair
        allowed = self.block_allowed[i] and self.pass_allowed[j]
        return bool(allowed and self.low[i] <= j <= self.high[i])

    def guarantee(self, limit: Limit, error: float) -> None:
        """Allow what keeps a limit out of sample."""
        s, q, n = self.s, self.q, self.s.P + self.s.N
        name, side = limit.measure.name, side_of(limit.measure)
        check_guarantee(limit, q.prior, three_way=True)
        if side != "both":
            rule = certify_limit(s, limit, error, q.prior, as_units(q.units))
            if isinstance(rule, CertifiedLimit):
                self.allow(side, rule.certifies(self.flagged))
            else:
                self.allow(side, rule.holds(self.one))
            return
        if s.weighted or q.units is not None:
            hint = "Limit fpr and fnr instead."
            raise UndefinedError(CountsRows(f"a guarantee for {name}", hint))
        rate = limit.bound
        if name == "review_rate" and limit.sign[0] == "<":
            k = n if rate >= 1 else max_between(int(n), rate, error)
            # Nothing is reviewed where none can be allowed: then no case is between the cuts.
            self.at_most(self.flagged, self.flagged + max(k, 0))
            return
        if name == "error_rate":
            share = error / (2 * len(_SPLITS))
            pairs = [
                (max_errors(int(n), rate * k, share), max_errors(int(n), rate * (1 - k), share))
                for k in _SPLITS
            ]
            missed = np.full(len(self.fp), -1)  # how many may be, by how many are blocked wrongly
            for wrong, may in pairs:
                missed = np.where(self.fp <= wrong, np.maximum(missed, may), missed)
            self.at_most(s.P - self.tp, missed)
            return
        raise bad_limit(limit.text, "be error_rate <= or review_rate <= to be guaranteed")

    def best(self, wanted: Coefficients) -> Pair | None:
        """The best of the pairs that are allowed, and of equally good ones that with the fewest
        reviews; None if there is none."""
        s = self.s
        scale = lcm(*(c.denominator for c in wanted))
        whole = [int(c * scale) for c in wanted]
        size = sum(map(abs, whole)) * int(s.P + s.N + 1)
        exact = not s.weighted and size < 2**62
        a: Masses
        b: Masses
        if exact:
            a, b = self._linear(*whole[:2]), self._linear(*whole[2:])
        else:
            largest = max(map(abs, wanted)) or 1
            w = [float(c / largest) for c in wanted]
            a, b = self._linear(*w[:2]), self._linear(*w[2:])
        find: Any = _native.best_pair if exact else _native.weighted_best_pair
        low, high = (np.ascontiguousarray(end, np.int64) for end in (self.low, self.high))
        mass = self.flagged.astype(a.dtype, copy=False)
        i, j = find(a, b, mass, self.block_allowed, self.pass_allowed, low, high)
        return None if i == len(a) else Pair(i, j)

    def _linear(self, k: float, m: float) -> Masses:
        """k·TP + m·FP of all cuts."""
        out: Masses = np.multiply(self.tp, k)
        if m:
            out += np.multiply(self.fp, m)
        return out


def _largest_allowed(limit: Limit, whole: int | float) -> int:
    """The largest count that keeps an upper limit, or the smallest that keeps a lower one, by the
    division that people see."""
    step = 1 if limit.sign[0] == "<" else -1
    k = floor(limit.bound * whole) - 2 * step
    while HOLDS[limit.sign]((k + step) / whole, limit.bound):
        k += step
    return k


def search(
    s: Sweep, q: Aim, rules: Mapping[Limit, PeriodRule], *, steps: int = 25
) -> tuple[Pair, bool]:
    """The best pair of cuts for an aim, and whether it keeps the limits, of which those per period
    come to these rules.

    If none does, the pair that keeps them best: all limits are loosened by the same share of their
    bounds, as little as will do, which is found in so many steps."""
    wanted = coefficients(s, q)
    if not q.limits:
        return _by_costs(s, q, wanted), True
    s.needs_scores("choosing two thresholds under limits")
    found = _allowed(s, q, q.limits, rules).best(wanted)
    if found is not None:
        return found, True
    little, much = 0.0, 1.0
    while (found := _loosened(s, q, much, rules).best(wanted)) is None:
        little, much = much, 4 * much
        if much > 1e9:  # 0/0 everywhere
            return Pair(0, 0), False
    for _ in range(steps):
        middle = (little + much) / 2
        nearer = _loosened(s, q, middle, rules).best(wanted)
        little, much, found = (middle, much, found) if nearer is None else (little, middle, nearer)
    return found, False


def period_rules(s: Sweep, q: Aim) -> dict[Limit, PeriodRule]:
    """What the limits per period come to on all rows."""
    of_periods = [limit for limit in q.limits if limit.period is not None]
    periods = as_periods(q.periods)
    if periods is not None:
        periods.check(s)
    error = None if q.confidence is None else split_error(q.limits, q.confidence)
    for limit in of_periods if error is not None else ():
        check_guarantee(limit, q.prior)
    return {limit: q.rule_on_rows(limit, error) for limit in of_periods}


def pairs_kept(s: Sweep, q: Aim, pair: Pair) -> list[bool]:
    """Which of the limits a pair keeps, out of sample if that was asked for."""
    rules = period_rules(s, q)
    error = None if q.confidence is None else split_error(q.limits, q.confidence)
    return [_allowed(s, q, [limit], rules, error).keeps(pair) for limit in q.limits]


def _allowed(
    s: Sweep,
    q: Aim,
    limits: Sequence[Limit],
    rules: Mapping[Limit, PeriodRule],
    error: float | None = None,
) -> _Cuts:
    cuts = _Cuts(s, q)
    for limit in limits:
        if limit.period is not None:
            cuts.limit_period(limit, rules[limit])
        elif q.confidence is None:
            cuts.limit(limit)
        else:
            cuts.guarantee(limit, error or split_error(limits, q.confidence))
    return cuts


def _loosened(s: Sweep, q: Aim, share: float, rules: Mapping[Limit, PeriodRule]) -> _Cuts:
    return _allowed(s, q, list(_looser(q.limits, share)), rules)


def _looser(limits: Sequence[Limit], share: float) -> Iterator[Limit]:
    for limit in limits:
        if limit.period is not None:
            yield limit
            continue
        by = share * (abs(limit.bound) or 1.0)
        bound = limit.bound + (by if limit.sign[0] == "<" else -by)
        if limit.measure.rate:
            bound = min(max(bound, 0.0), 1.0)
        yield replace(limit, bound=bound)


@dataclass(frozen=True, repr=False)
class CutCosts(Costs):
    """The costs of one of two cuts: exactly what a positive above it gains and a negative loses."""

    gain: Fraction = Fraction(0)
    loss: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        pass

    @classmethod
    def of(cls, gain: Fraction, loss: Fraction) -> CutCosts:
        return cls(float(loss), float(gain), gain=gain, loss=loss)

    @property
    def on_positives(self) -> Fraction:
        return self.gain

    @property
    def on_negatives(self) -> Fraction:
        return self.loss


def one_cut(costs: Costs) -> CutCosts | None:
    """The costs of one cut for both, if no case is worth a review; else None."""
    (a, b), (c, d) = costs.by_cut
    if min(a, b, c, d) >= 0 and b * c >= d * a and (a or b) and (c or d):
        return None
    # Blocking instead of passing: what is reviewed in between costs nothing more or less.
    return CutCosts.of(a + c, b + d)


def cut_costs(costs: Costs) -> tuple[CutCosts, CutCosts]:
    """The costs of the cut for blocking, and of that for reviewing."""
    both = one_cut(costs)
    if both is not None:
        return both, both
    (a, b), (c, d) = costs.by_cut
    return CutCosts.of(a, b), CutCosts.of(c, d)


def _by_costs(s: Sweep, q: Aim, wanted: Coefficients) -> Pair:
    if not isinstance(q.goal, Costs):
        found = _Cuts(s, q).best(wanted)
        return Pair(0, 0) if found is None else found
    cuts = [choose(s, Aim(costs, prior=q.prior)).cut for costs in cut_costs(q.goal)]
    return Pair(cuts[0], max(cuts))
