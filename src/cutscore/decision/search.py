"""The best of all cuts for an aim, exactly: among few that can be it, where bounds tell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.types import Selector
from cutscore.inference.guarantee import (
    CertifiedLimit,
    Rule,
)
from cutscore.measures.aim import Aim, undefined_error
from cutscore.measures.confusion import Confusion
from cutscore.measures.limits import Limit
from cutscore.measures.registry import Measure
from cutscore.sweeps.curves import from_zero
from cutscore.sweeps.sweep import Floats, Sweep


class SomeCuts:
    """Some cuts: what they do on the rows of the sweep, on what the objective looks at, and on what
    limits look at."""

    def __init__(
        self, s: Sweep, q: Aim, cut: NDArray[Any], tp: NDArray[Any], fp: NDArray[Any]
    ) -> None:
        self.cut, self.q = cut, q
        self.c = Confusion(tp, fp, s.P - tp, s.N - fp)
        self.deployed = self.c if q.prior is None else self.c.deployed(q.prior)

    def confusion_for(self, rule: Rule, k: Selector = slice(None)) -> Confusion:
        """What a limit looks at; a guarantee looks at the rows themselves."""
        if isinstance(rule, CertifiedLimit) or self.q.confidence is not None:
            j = self.c
        else:
            j = rule.sees(self.c, self.deployed)
        return Confusion(j.tp[k], j.fp[k], j.fn[k], j.tn[k])

    def values(self) -> Floats:
        """The objective's values, of which more is better."""
        return self.q.goal.better * np.asarray(self.q.goal(self.deployed), np.float64)


def all_cuts(s: Sweep) -> tuple[NDArray[Any], ...]:
    return np.arange(len(s) + 1), from_zero(s.tp), from_zero(s.fp)


def candidate_cuts(s: Sweep, q: Aim, rules: list[Rule]) -> SomeCuts:
    """All cuts that can be the best, among few others.

    No cut of a block of cuts catches more than the last of them, nor has fewer false alarms than
    the first. Where that does an objective good, it bounds what the block can reach, and blocks
    that can't be better than the best of their ends are not looked into.
    """
    by_bounds = q.goal.helpful and bounded(rules)
    known = all(rule.helpful or _holds_at_an_end(s, rule) for rule in rules)
    if s.merged and not (known and _best_at_corners(s, q)):
        # Inside of a run one rate changes alone; what gains by that may gain in the middle of it,
        # and what is 0/0 at an end may be known there.
        s.needs_scores("this objective with these limits")
    if not by_bounds or len(s) <= 4 * s.blocks.size:
        return SomeCuts(s, q, *all_cuts(s))
    b = s.blocks
    ends, most = block_ends(s, q)
    bound = most.values()
    bound[np.isnan(bound)] = np.inf  # 0/0 here, but perhaps not inside
    size = float(np.abs(bound[np.isfinite(bound)]).max(initial=0.0))
    some = promising(s, (ends, most), rules, (ends.values(), bound), size)
    return SomeCuts(s, q, *cuts_in(s, some, (s.pos, b.tp), (s.neg, b.fp)))


def bounded(rules: Sequence[Rule]) -> bool:
    """Whether limits can be shown to hold nowhere inside of a block."""
    return all(
        rule.helpful or isinstance(rule, CertifiedLimit) or rule.measure.monotone for rule in rules
    )


def block_ends(s: Sweep, q: Aim) -> tuple[SomeCuts, SomeCuts]:
    """The ends of all blocks of cuts; and of each block what catches most with the fewest false
    alarms, which no cut of it outdoes."""
    cut, tp, fp = s.blocks.cut, s.blocks.tp, s.blocks.fp
    return SomeCuts(s, q, cut, tp, fp), SomeCuts(s, q, cut[1:], tp[1:], fp[:-1])


def promising(
    s: Sweep,
    ends: tuple[SomeCuts, SomeCuts],
    rules: Sequence[Rule],
    values: tuple[Floats, Floats],
    size: float,
) -> NDArray[np.intp]:
    """The blocks that may have the best cut, by what :func:`block_ends` found, by the values there
    and those that no cut of a block exceeds; these were rounded as numbers of such a size are."""
    (at_ends, bound), (here, most) = values, ends
    best = np.nanmax(at_ends[keep_allowed(s, here, rules)], initial=-np.inf)
    return np.flatnonzero(_may_hold(here, most, rules) & (bound >= best - 1e-12 * size))


def _may_hold(ends: SomeCuts, most: SomeCuts, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """Whether limits may hold somewhere in each block, by its ends and by what catches most with
    the fewest false alarms."""
    out = np.ones(len(most.cut), np.bool_)
    for rule in rules:
        if isinstance(rule, CertifiedLimit):
            out &= rule.may_hold_between(ends.c)
        elif rule.helpful:
            out &= rule.may_hold(most.confusion_for(rule))
        else:  # monotone: if it holds anywhere inside, then at one of the ends
            holds = rule.holds(ends.confusion_for(rule))
            out &= holds[1:] | holds[:-1]
    return out


def _holds_at_an_end(s: Sweep, rule: Rule) -> bool:
    """Whether a limit asks to flag nothing, or everything: what too few rows can guarantee."""
    if not isinstance(rule, Limit) or rule.measure.name != "flagged":
        return False
    return rule.bound <= 0 if rule.sign == "<=" else rule.bound >= s.P + s.N


def best_between_runs(s: Sweep, q: Aim) -> bool:
    """Whether a choice is the same where runs of one class are merged."""
    if q.confidence is not None or not all(limit.helpful for limit in q.limits):
        return False
    return _best_at_corners(s, q.ranked)


def _best_at_corners(s: Sweep, q: Aim) -> bool:
    """Whether no cut inside of a run of one class can be the best: for what is linear in TP and FP,
    F measures, and counts and rates of one class."""
    goal = q.goal
    monotone = isinstance(goal, Measure) and goal.monotone and goal.helpful
    return monotone or best_at_vertices(s, q)


def cuts_in(
    s: Sweep, blocks: NDArray[np.intp], *columns: tuple[NDArray[Any], NDArray[Any]]
) -> list[NDArray[Any]]:
    """All cuts of some blocks, in order, and flagging nothing: how many entries are flagged, then
    the sums of columns, of each of which the sums before the blocks are known."""
    at, there = s.inside(blocks)
    sums = [
        np.cumsum(np.column_stack((start[blocks], mass[at])), axis=1)[:, 1:][there]
        for mass, start in columns
    ]
    s.forget()
    return [from_zero(each) for each in (at[there] + 1, *sums)]


def keep_allowed(s: Sweep, cuts: SomeCuts, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    ok = np.ones(len(cuts.cut), np.bool_)
    for rule in rules:
        ok &= rule.holds(cuts.confusion_for(rule))
    ok[0] &= s.threshold[0] < np.inf  # else no threshold flags nothing
    return ok


def keep_nearest(s: Sweep, cuts: SomeCuts, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """The cuts whose worst shortfall, as a share of the limit, is least; where none is allowed."""
    short = np.max([rule.shortfall(cuts.confusion_for(rule)) for rule in rules], axis=0)
    short[0] = short[0] if s.threshold[0] < np.inf else np.inf
    return np.asarray(short <= short.min() * (1 + 1e-12))  # equally near, but for rounding


def allowed_of(s: Sweep, cuts: SomeCuts, rules: Sequence[Rule]) -> tuple[NDArray[np.bool_], bool]:
    """Of some cuts those that limits allow; if there are none the nearest, and False."""
    ok = keep_allowed(s, cuts, rules)
    return (ok, True) if ok.any() else (keep_nearest(s, cuts, rules), False)


def best_cut(s: Sweep, q: Aim, cuts: SomeCuts, ok: NDArray[np.bool_]) -> int:
    """The best of the cuts that are allowed."""
    allowed = np.flatnonzero(ok)
    tp, fp = cuts.c.tp[allowed], cuts.c.fp[allowed]
    gains = gains_of(s, q)
    if gains is not None:
        value = linear_value(gains, (s.P, s.N), tp, fp)
    else:
        everywhere = cuts.values()
        if np.isnan(everywhere).all():
            raise undefined_error(q.goal.name)
        value = np.maximum(everywhere[allowed], np.finfo(np.float64).min)
        value[np.isnan(value)] = -np.inf  # 0/0 is worse than any value
    return int(allowed[first_of_best(value, fp)])


def first_of_best(value: NDArray[Any], fp: NDArray[Any]) -> int:
    """Of equally good cuts the one with the fewest false alarms, and of those the last, which may
    catch more."""
    first = int(np.argmax(value))
    same = int(np.searchsorted(fp, fp[first], side="right"))
    return same - 1 - int(np.argmax(value[first:same][::-1] == value[first]))


def gains_of(s: Sweep, q: Aim) -> tuple[Fraction, Fraction] | None:
    """What a TP gains and an FP loses, for objectives where that is the same at every cut."""
    P, N = Fraction(s.P), Fraction(s.N)
    if q.prior is None:
        return q.goal.gains(P, N)
    prior = Fraction(repr(q.prior))
    # One row of the sweep stands for so many cases of its class.
    as_pos, as_neg = prior * (P + N) / P, (1 - prior) * (P + N) / N
    gains = q.goal.gains(as_pos * P, as_neg * N)
    return None if gains is None else (gains[0] * as_pos, gains[1] * as_neg)


def linear_value(
    gains: tuple[Fraction, Fraction],
    totals: tuple[float, float],
    tp: NDArray[Any],
    fp: NDArray[Any],
) -> NDArray[Any]:
    """Something that is greatest, and equal, exactly where a·TP − b·FP is; of masses, counts or
    money, with these totals."""
    scale = lcm(gains[0].denominator, gains[1].denominator)
    a, b = int(gains[0] * scale), int(gains[1] * scale)
    common = gcd(a, b)
    a, b = a // common, b // common
    up, down = totals
    if tp.dtype.kind == "i" and a * int(up) + b * int(down) < 2**62:
        return np.asarray(a * tp - b * fp)
    # Too large for integers of the processor: floats find the few that may be best.
    x, y = (float(Fraction(g, max(a, b))) for g in (a, b))
    rough = x * tp - y * fp
    near = np.flatnonzero(rough >= rough.max() - 1e-12 * (x * float(up) + y * float(down)))
    pairs = zip(tp[near].tolist(), fp[near].tolist(), strict=True)
    exact = [a * Fraction(t) - b * Fraction(f) for t, f in pairs]
    best, most = np.zeros(len(tp)), max(exact)
    best[near] = [value == most for value in exact]
    return best


def cuts_at(s: Sweep, q: Aim, threshold: Floats) -> SomeCuts:
    k = s.cuts(threshold)
    return SomeCuts(s, q, k, *s.flagged(k))


def best_at_vertices(s: Sweep, q: Aim) -> bool:
    """Whether the best cut is a vertex of the convex hull: for what is linear in TP and FP, and for
    the F measures, which are ratios of such."""
    return gains_of(s, q) is not None or bool(getattr(q.goal, "beta", None))
