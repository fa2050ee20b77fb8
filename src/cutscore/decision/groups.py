"""Thresholds for rows of several groups: limits in each of them, and a threshold for each of them.

**One threshold, limits in each group.** A limit such as fpr <= 1 % is broken in some group exactly
below one score: the highest of the scores below which a group breaks it. Which group that is does
not depend on the sample. So if the threshold satisfies what is asked of *that* group's rows, at the
whole of the error that is allowed, then all groups hold: groups need no correction (it is an
intersection–union test; Bonferroni's or Holm's correction would ask for more rows of each). The
same is true of several limits that all hold from some threshold on. Limits that ask for a low
threshold, such as recall >= 80 %, beside some that ask for a high one share the error, half each.

**A threshold for each group.** These can each be wrong on their own, so groups, limits and gaps
share the error (Bonferroni). A gap is shown by the band of Dvoretzky, Kiefer, Wolfowitz and Massart
around the rates of each group, which holds at all cuts at once, however they were chosen.

Reference: Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24
(1982), https://doi.org/10.1080/00401706.1982.10487790.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd, inf, lcm, log, log1p, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.core.checks import as_vector, check_threshold, one_of
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Shown, shown
from cutscore.core.findings.rows import GroupUnknown, LengthsDiffer
from cutscore.core.findings.statistics import CountsRows, GroupsInfeasible, GroupsTooSmall, OneClass
from cutscore.core.frozen import derived
from cutscore.core.html import Card, grid_table
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text, number_text
from cutscore.decision.choice import needs_classes, place_threshold
from cutscore.decision.search import SomeCuts, all_cuts, best_cut, gains_of
from cutscore.decision.three_way import decide_scores
from cutscore.decision.windows import Rates, best_cuts, certain_rates, exact_rates
from cutscore.decision.words import extreme
from cutscore.inference.guarantee import Rule, certify_limit, check_guarantee, max_errors
from cutscore.inference.rates import interval
from cutscore.inference.roc_band import band_width
from cutscore.measures.aim import Aim, GoalLike, as_aim
from cutscore.measures.confusion import Confusion, count_text
from cutscore.measures.limits import Limit, LimitsLike, as_limits
from cutscore.measures.registry import MEASURES, WORDS, Measure, is_rate
from cutscore.sweeps.groups import GroupSweeps
from cutscore.sweeps.sweep import Sweep

OTHERS = "other groups"
"""What groups are called that are tested together."""

# Rates whose gap is that of another.
_COMPLEMENTS = {"fnr": "recall", "specificity": "fpr"}
# Measures that can be guaranteed, and by a high threshold or by a low one.
_BY_CUT = ("precision", "npv")


class GroupOutcome(NamedTuple):
    """What a choice does to the rows of one group."""

    group: Hashable
    threshold: float
    confusion: Confusion
    value: float
    """The objective on these rows: of costs, that of a case of the group."""


class GroupStatus(NamedTuple):
    """A limit of a choice for groups, and whether it holds."""

    limit: str
    measure: str
    """What it is on in each group; empty if it is on all rows, or on a gap."""
    bound: float
    value: float
    """On these rows: of a limit in each group that of the group it is worst in."""
    holds: bool
    """With a confidence, whether it is shown to hold on new rows."""
    text: str
    """The value in words, where it should be known."""


@dataclass(frozen=True, eq=False, repr=False)
class GroupPoint(Card):
    """Thresholds for rows of several groups, and what they do; see :func:`cutscore.choose_groups`.

    Parameters
    ----------
    thresholds : dict
        The threshold of each group; all are the same if one was asked for.
    confusions : dict
        What it does on the rows of each group.
    value : float
        The objective on all rows. Of costs it is the cost of a case.
    aim : Aim
        What was asked for, with limits over all rows and the confidence.
    each : tuple of Limit
        The limits that hold in each group.
    gaps : tuple of Limit
        The most by which rates of groups may differ.
    pooled : tuple
        The groups that were tested together because they are too small to be tested alone.
    sweeps : GroupSweeps
        The rows.
    own : bool
        Whether each group has a threshold of its own, rather than all the same.
    small : str
        What was asked for groups that are too small to be tested alone.
    given : bool
        Whether the thresholds were given, rather than chosen: then limits may be violated.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> country = rng.choice(["de", "fr"], 4000, p=[0.7, 0.3])
    >>> y = rng.random(4000) < 0.2
    >>> score = rng.normal(size=4000) + 2 * y + 0.5 * (country == "fr")
    >>> groups = cs.sweeps_by_group(y, score, country)
    >>> p = cs.choose_groups(groups, "recall", each="fpr <= 5 %", confidence=0.95)
    >>> p.common, p.decide([2.0, 2.6], ["de", "fr"])
    (2.2258, array([False,  True]))
    """

    thresholds: Mapping[Hashable, float]
    confusions: Mapping[Hashable, Confusion]
    value: float
    aim: Aim
    each: tuple[Limit, ...]
    gaps: tuple[Limit, ...]
    pooled: tuple[Hashable, ...]
    sweeps: GroupSweeps
    own: bool = False
    small: str = "pool"
    given: bool = False

    @property
    def common(self) -> float | None:
        """The threshold, if all groups have the same."""
        first, *rest = self.thresholds.values()
        return first if all(t == first for t in rest) else None

    @property
    def confusion(self) -> Confusion:
        """What the thresholds do on all rows."""
        return _added(self.confusions.values())

    def decide(
        self, scores: ArrayLike, groups: ArrayLike, *, default: float | None = None
    ) -> NDArray[np.bool_]:
        """Whether each score is flagged, by the threshold of its group. A group that has no
        threshold is refused, unless there is a ``default`` for it."""
        x, names = as_vector(scores, "scores"), as_vector(groups, "groups").tolist()
        if len(x) != len(names):
            raise DataError(LengthsDiffer("groups", "scores", len(names), len(x)))
        other = None if default is None else check_threshold(default)
        out = np.empty(len(x), np.bool_)
        rows: dict[Hashable, list[int]] = {}
        for row, name in enumerate(names):
            rows.setdefault(name, []).append(row)
        for name, of in rows.items():
            threshold = self.thresholds.get(name, other)
            if threshold is None:
                hint = "Pass a default threshold for other groups, or choose again with such rows."
                raise DataError(GroupUnknown(str(name), tuple(map(str, self.thresholds)), hint))
            out[of] = decide_scores(x[of], (threshold,))
        return out

    def rate(
        self, measure: GoalLike, *, level: float = 0.95
    ) -> dict[Hashable, tuple[float, Interval | None]]:
        """A measure in each group on these rows, with the interval as at a threshold that was
        given: it does not know of the choice. No interval where the measure is 0/0, and of weighted
        rows without squares."""
        goal = as_aim(measure).goal
        out: dict[Hashable, tuple[float, Interval | None]] = {}
        for name, c in self.confusions.items():
            span = None
            with suppress(CutscoreError):
                span = interval(self.sweeps[name], goal, at=self.thresholds[name], level=level)
            out[name] = (float(goal(c)), span)
        return out

    @property
    def outcomes(self) -> tuple[GroupOutcome, ...]:
        """What it does to each group on these rows."""
        return tuple(
            GroupOutcome(name, self.thresholds[name], c, float(self.aim.goal(c)))
            for name, c in self.confusions.items()
        )

    def gap(self, measure: str) -> float:
        """The highest rate of a group on these rows, less the lowest."""
        rates = [float(MEASURES[measure](c)) for c in self.confusions.values()]
        return max(rates) - min(rates)

    def __repr__(self) -> str:
        goal, word = self.aim.goal, WORDS.get(self.aim.goal.name, self.aim.goal.name)
        value = estimate_text(self.value, rate=is_rate(goal.name))
        head = "a threshold for each group"
        if self.common is not None:
            head = f"flag scores ≥ {self.common!r} in all groups"
        lines = [f"{head}, {extreme(goal)} {word}: {value} on these rows"]
        recall, fpr = self.rate("recall"), self.rate("fpr")
        lines += [
            f"{shown(name)}: {_rule(self.thresholds[name])}; recall {_rate_text(recall[name])}, "
            f"false positive rate {_rate_text(fpr[name])} on these rows"
            for name in self.thresholds
        ]
        return "\n".join([*lines, *self.limit_lines])

    @property
    def feasible(self) -> bool:
        """Whether all limits hold; thresholds that were chosen rather than given keep them."""
        return all(one.holds for one in self.status)

    @derived
    def status(self) -> tuple[GroupStatus, ...]:
        """Each limit, first those in each group, with its value and whether it holds."""
        return tuple(_status(self))

    @property
    def limit_lines(self) -> list[str]:
        """What holds in groups and between them, in sentences."""
        sure = at = ""
        if self.aim.confidence is not None:
            at = f" at {100 * self.aim.confidence:g} % confidence"
            sure = f", guaranteed on new rows{at}"
        failed = f"can't be guaranteed{at}" if at else "violated"
        lines = [
            f"{one.limit}: {f'met{sure}' if one.holds else failed}{one.text}" for one in self.status
        ]
        if self.pooled:
            names = ", ".join(map(shown, self.pooled))
            lines.append(f"too small to be tested alone, tested together as {OTHERS!r}: {names}")
        return lines

    def _title(self) -> str:
        return "Thresholds of groups" if self.common is None else "One threshold for all groups"


def choose_groups(  # noqa: PLR0913 - all but two are options
    sweeps: Mapping[Any, Sweep],
    objective: GoalLike | Aim,
    *,
    each: LimitsLike = None,
    gap: LimitsLike = None,
    thresholds: str = "common",
    subject_to: LimitsLike = None,
    confidence: float | None = None,
    small: str = "pool",
) -> GroupPoint:
    """The best threshold for rows of several groups under limits that hold in each group, or the
    best combination of a threshold for each group: exactly, of all cuts that there are.

    Parameters
    ----------
    sweeps : GroupSweeps or mapping
        The sweep of each group, from :func:`cutscore.sweeps_by_group`.
    objective : str, Costs or Aim
        What to aim at over all rows, as for :func:`cutscore.choose`. With thresholds of groups it
        has to be a sum over cases: costs, recall, fpr, accuracy, Youden's J and the like.
    each : str or sequence of str, optional
        Limits that hold in each group: ``"fpr <= 1 %"``.
    gap : str or sequence of str, optional
        With thresholds of groups, the most by which the rates of two groups differ:
        ``"recall <= 5 %"``, ``"fpr <= 2 %"``, or both (equalised odds, within these gaps).
    thresholds : str, default 'common'
        ``"common"`` for one threshold, or ``"group"`` for one per group.
    subject_to : str or sequence of str, optional
        Limits over all rows, as for :func:`cutscore.choose`; for a common threshold.
    confidence : float, optional
        Limits and gaps hold on new rows with this confidence, all of them together, rather than
        on these rows.
    small : str, default 'pool'
        With a confidence, what to do with groups of too few rows to show a limit, even without any
        error: ``"pool"`` tests them together, as "other groups"; ``"refuse"`` raises.

    Returns
    -------
    GroupPoint

    Raises
    ------
    UndefinedError
        If no thresholds satisfy the limits, if groups are too small to show them, or if a group
        lacks a class that a limit refers to.

    Notes
    -----
    With one threshold, groups need no correction: a limit in every group is broken exactly below
    one score, which one group determines, so that each group may use the whole error. Thresholds of
    groups share it. Ties are broken as in :func:`cutscore.choose`, in each group.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> country = rng.choice(["de", "fr"], 4000, p=[0.7, 0.3])
    >>> y = rng.random(4000) < 0.2
    >>> score = rng.normal(size=4000) + 2 * y + 0.5 * (country == "fr")
    >>> groups = cs.sweeps_by_group(y, score, country)
    >>> costs = cs.Costs(fp=1, fn=5)
    >>> one = cs.choose_groups(groups, costs)
    >>> two = cs.choose_groups(groups, costs, thresholds="group")
    >>> equal = cs.choose_groups(groups, costs, thresholds="group", gap="fpr <= 1 %")
    >>> [round(p.value, 3) for p in (one, two, equal)]
    [0.278, 0.264, 0.268]
    >>> round(one.gap("fpr"), 3), round(equal.gap("fpr"), 3)
    (0.132, 0.001)
    """
    groups = sweeps if isinstance(sweeps, GroupSweeps) else GroupSweeps(sweeps)
    one_of("thresholds", thresholds, ("common", "group"))
    one_of("small", small, ("pool", "refuse"))
    q = _asked(objective, subject_to, confidence)
    limits, gaps = tuple(as_limits(each)), tuple(map(_check_gap, as_limits(gap)))
    _check_question(q, limits, gaps, thresholds)
    for s in groups.values():
        s.needs_scores("a decision about groups")
    if thresholds == "common":
        return replace(_common(groups, q, limits, small), small=small)
    return replace(_per_group(groups, q, limits, gaps, small), own=True, small=small)


def _asked(objective: GoalLike | Aim, subject_to: LimitsLike, confidence: float | None) -> Aim:
    if not isinstance(objective, Aim):
        return Aim(objective, tuple(as_limits(subject_to)), None, confidence)
    if (subject_to, confidence) != (None, None):
        rule = "an Aim has its own limits, prior, confidence and units"
        raise DataError(Conflict(("objective", "subject_to"), rule, "Set them there."))
    return objective


def _check_gap(limit: Limit) -> Limit:
    name = limit.measure.name
    if limit.sign != "<=" or name not in ("recall", "fpr", "fnr", "specificity", "flagged_rate"):
        rule = "be 'recall <= 5 %', or the same of fpr, fnr, specificity or flagged_rate"
        raise DataError(BadArgument("gap", rule, limit.text, subject="a gap"))
    return replace(limit, measure=MEASURES[_COMPLEMENTS.get(name, name)])


def _check_question(
    q: Aim, each: tuple[Limit, ...], gaps: tuple[Limit, ...], thresholds: str
) -> None:
    """Refuse what no rows can answer."""
    q.needs_one_cut("groups have one threshold each")
    if q.units is not None:
        hint = "Keep one row per cluster."
        raise UndefinedError(CountsRows("a choice for groups", hint, "clusters"))
    if gaps and thresholds == "common":
        hint = "Use {1}='group'."
        raise DataError(Conflict(("gap", "thresholds"), "a gap needs group thresholds", hint))
    if len({limit.measure.name for limit in gaps}) < len(gaps) or len(gaps) > 2:
        rule = "be one for recall, one for fpr, or both: fnr and specificity have the same gaps"
        raise DataError(BadArgument("gap", rule, tuple(limit.text for limit in gaps)))
    if q.limits and thresholds == "group":
        rule = "limits over all rows need one common threshold"
        raise DataError(Conflict(("subject_to", "thresholds"), rule, "Use each instead."))
    if q.confidence is not None and not (each or gaps or q.limits):
        rule, hint = "a confidence applies to limits", "Add {1}, such as 'fpr <= 1 %'."
        raise DataError(Conflict(("confidence", "each"), rule, hint))
    for limit in (*each, *q.limits):
        if limit.period is not None:
            rule = "count all rows: limits per period are not known for groups"
            raise DataError(BadArgument("each", rule, limit.text, subject="a limit"))
    for limit in (*each, *(q.limits if q.confidence else ())):
        if limit.measure.reviews:
            raise DataError(BadArgument("each", "be for one threshold", limit.text))
        if q.confidence is not None:
            check_guarantee(limit, q.prior)
        if q.prior is not None and not limit.measure.prior_free and limit in each:
            rule = f"{limit.measure.name} in a group depends on the share of positives there"
            raise DataError(Conflict(("prior", "each"), rule, "Limit fpr and recall."))
        if q.confidence is not None and thresholds == "common" and limit in each:
            _refuse_by_cut(limit)


def _refuse_by_cut(limit: Limit) -> None:
    if limit.measure.name in _BY_CUT:
        name = limit.measure.name
        why = Shown(limit.text)
        rule = f"be one that is guaranteed for a common threshold; {name} is not"
        hint = "Limit fpr and recall, or choose a threshold for each group."
        raise DataError(BadArgument("each", rule, why, hint, "a limit in each group"))


# ------------------------------------------------------------------------------------ one threshold


def _common(groups: GroupSweeps, q: Aim, each: tuple[Limit, ...], small: str) -> GroupPoint:
    s = groups.total
    needs_classes(s, q.ranked.goal)
    if q.prior is not None:
        s.needs_both_classes("an operating point for another prior")
    error = _shared_error(q, each)
    tested, pooled = _pool(groups, each, error, small)
    cuts = SomeCuts(s, q.ranked, *all_cuts(s))
    rules: list[Rule] = [_rule_for(s, limit, error, q.prior) for limit in q.limits]
    ok = np.ones(len(cuts.cut), np.bool_)
    for rule in rules:
        ok &= rule.holds(cuts.confusion_for(rule))
    if each:
        for name, part in tested.items():
            ok &= _allowed_in_total(s, part, _allowed(name, part, each, error))
    ok[0] &= s.threshold[0] < inf  # else no threshold flags nothing
    if not ok.any():
        raise _infeasible(q, each, ())
    cut = int(cuts.cut[best_cut(s, q.ranked, cuts, ok)])
    threshold = place_threshold(s, cut, rules)
    return _point(groups, q, each, (), pooled, dict.fromkeys(groups, threshold))


def _shared_error(q: Aim, each: tuple[Limit, ...]) -> float | None:
    """The error that each of the limits is allowed: limits that ask for a high threshold share one
    part of it, and those that ask for a low one another."""
    if q.confidence is None:
        return None
    parts = {
        limit.text if limit.measure.name in _BY_CUT else _asks_for_high(limit)
        for limit in (*each, *q.limits)
    }
    return (1 - q.confidence) / len(parts)


def _asks_for_high(limit: Limit) -> bool:
    """Whether a limit holds from some threshold on, rather than up to it."""
    rises = limit.measure.name in ("recall", "fpr", "flagged", "flagged_rate")  # as more is flagged
    return rises == (limit.sign[0] == "<")


def _rule_for(s: Sweep, limit: Limit, error: float | None, prior: float | None = None) -> Rule:
    return limit if error is None else certify_limit(s, limit, error, prior, None)


def _allowed(
    name: Hashable, s: Sweep, each: Sequence[Limit], error: float | None
) -> NDArray[np.bool_]:
    """Which cuts of a group satisfy the limits in it."""
    _, tp, fp = all_cuts(s)
    c = Confusion(tp, fp, s.P - tp, s.N - fp)
    ok = np.ones(len(tp), np.bool_)
    for limit in each:
        _needs_class(name, s, limit)
        ok &= _rule_for(s, limit, error).holds(c)
    return ok


def _needs_class(name: Hashable, s: Sweep, limit: Limit) -> None:
    """A rate of a class says nothing of a group that has none of it."""
    positive = limit.measure.of_class
    if positive is not None and not (s.P if positive else s.N) > 0:
        have = f"{'negative' if positive else 'positive'} ({count_text(s.P + s.N)} of them)"
        need = f"{'positives' if positive else 'negatives'} in group {shown(name)}"
        hint = "Add rows of the other class, or merge the group with another."
        raise UndefinedError(OneClass(limit.text, need, f"{have} in group {shown(name)}", hint))


def _allowed_in_total(s: Sweep, part: Sweep, ok: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cuts of a group as cuts of all rows, between which the group has no scores of its own."""
    change = np.flatnonzero(ok[1:] != ok[:-1])  # between this cut and the next
    # The next cut flags the group's score at ``change``, and so do the cuts of all rows from
    # there on.
    at = s.cuts(part.threshold[change])
    flips = np.zeros(len(s) + 1, np.int8)
    flips[at] = 1
    return np.asarray((np.cumsum(flips) + (not ok[0])) % 2 == 0)


# ----------------------------------------------------------------------------- a threshold for each


def _per_group(
    groups: GroupSweeps, q: Aim, each: tuple[Limit, ...], gaps: tuple[Limit, ...], small: str
) -> GroupPoint:
    if q.prior is not None:
        groups.total.needs_both_classes("an operating point for another prior")
    needs_classes(groups.total, q.goal)
    error = None
    if q.confidence is not None:
        error = (1 - q.confidence) / (len(groups) * (len(each) + len(gaps)))
    tested, pooled = _pool(groups, each, error, small)
    value = _values(tested, q)
    allowed = [_allowed(name, s, each, error) for name, s in tested.items()]
    for ok, s in zip(allowed, tested.values(), strict=True):
        ok[0] &= s.threshold[0] < inf
    rates = [_rates(tested, limit, error) for limit in gaps]
    cuts = best_cuts(value, allowed, rates)
    if cuts is None:
        raise _infeasible(q, each, gaps)
    chosen = {
        name: place_threshold(s, cut, [_rule_for(s, limit, error) for limit in each])
        for (name, s), cut in zip(tested.items(), cuts, strict=True)
    }
    thresholds = {name: chosen.get(name, chosen.get(OTHERS, inf)) for name in groups}
    return _point(groups, q, each, gaps, pooled, thresholds)


def _values(groups: Mapping[Hashable, Sweep], q: Aim) -> list[NDArray[Any]]:
    """What each cut of each group adds to the objective; more is better. In integers where rows are
    counted: equally good is exact."""
    total = _total_of(groups)
    gains = gains_of(total, q) or _rate_gains(q)
    if gains is None:
        rule = (
            "be a sum over cases for thresholds of groups: costs, recall, fpr, accuracy, youden or "
            "balanced"
        )
        raise DataError(BadArgument("objective", rule, q.goal.name, subject="the objective"))
    scale = lcm(gains[0].denominator, gains[1].denominator)
    a, b = int(gains[0] * scale), int(gains[1] * scale)
    common = gcd(a, b) or 1
    a, b = a // common, b // common
    x: float = a
    y: float = b
    if total.weighted or abs(a) * int(total.P) + abs(b) * int(total.N) >= 2**62:
        most = max(abs(a), abs(b), 1)
        if most >= 2**53:
            x, y = float(Fraction(a, most)), float(Fraction(b, most))
        x, y = float(x), float(y)
    return [np.asarray(x * tp - y * fp) for _, tp, fp in map(all_cuts, groups.values())]


def _rate_gains(q: Aim) -> tuple[Fraction, Fraction] | None:
    """The same of counts and rates of one class, and of the share flagged."""
    goal = q.goal
    if not isinstance(goal, Measure) or not goal.monotone or goal.part is None:
        return None
    tp, fp, fn, tn = goal.part
    return Fraction(goal.better * (tp - fn)), Fraction(-goal.better * (fp - tn))


def _total_of(groups: Mapping[Hashable, Sweep]) -> Sweep:
    return groups.total if isinstance(groups, GroupSweeps) else GroupSweeps(groups).total


def _rates(groups: Mapping[Hashable, Sweep], limit: Limit, error: float | None) -> Rates:
    name, part, half = limit.measure.name, [], []
    for group, s in groups.items():
        _needs_class(group, s, limit)
        _, tp, fp = all_cuts(s)
        part.append({"recall": tp, "fpr": fp}.get(name, tp + fp))
        if error is not None:
            if s.weighted:
                raise UndefinedError(CountsRows("a guarantee of a gap"))
            half.append(band_width(float(part[-1][-1]), 1 - error))
    if error is None:
        return exact_rates(part, limit.bound)
    return certain_rates(part, limit.bound, half)


# ------------------------------------------------------------------------------------------- shared


def _pool(
    groups: GroupSweeps, each: tuple[Limit, ...], error: float | None, small: str
) -> tuple[Mapping[Hashable, Sweep], tuple[Hashable, ...]]:
    """The groups to be tested: those that are too small to show a limit together, as one."""
    if error is None or not each:
        return groups, ()
    few = [name for name, s in groups.items() if any(_too_small(s, one, error) for one in each)]
    if not few:
        return groups, ()
    limit = next(one for one in each if any(_too_small(groups[name], one, error) for name in few))
    if small == "refuse":
        raise _small_error(groups, few, limit, error)
    others = GroupSweeps({name: groups[name] for name in few}).total
    short = [one for one in each if _too_small(others, one, error)]
    if short or len(few) == len(groups):  # or nothing would be shown of any group
        raise _small_error(groups, few, short[0] if short else limit, error)
    tested = {name: s for name, s in groups.items() if name not in few}
    return {**tested, OTHERS: others}, tuple(few)


def _rows_for(s: Sweep, limit: Limit) -> tuple[int, float]:
    """How many rows of equal weight tell about a limit, and the rate of errors that it allows."""
    positive, upper = limit.measure.of_class, limit.sign[0] == "<"
    bound = limit.bound
    if limit.measure.name == "flagged":
        bound /= s.P + s.N
    mass = s.P + s.N if positive is None else s.P if positive else s.N
    if s.weighted:
        pos2, neg2 = s.square_totals("a guarantee")
        squares = pos2 + neg2 if positive is None else pos2 if positive else neg2
        mass = mass * (mass / squares) if squares > 0 else 0
    return int(mass), bound if upper else 1 - bound


def _too_small(s: Sweep, limit: Limit, error: float) -> bool:
    if limit.measure.name in _BY_CUT:
        return False
    rows, rate = _rows_for(s, limit)
    return 0 < rate < 1 and max_errors(rows, rate, error) < 0


def _small_error(
    groups: GroupSweeps, few: Sequence[Hashable], limit: Limit, error: float
) -> UndefinedError:
    rows = max(_rows_for(groups[name], limit)[0] for name in few)
    rate = _rows_for(groups[few[0]], limit)[1]
    need = ceil(log(error) / log1p(-rate))
    of = {True: "positives", False: "negatives", None: "rows"}[limit.measure.of_class]
    return UndefinedError(GroupsTooSmall(tuple(map(str, few)), limit.text, need, of, rows))


def _infeasible(q: Aim, each: tuple[Limit, ...], gaps: tuple[Limit, ...]) -> UndefinedError:
    asked = [
        *(limit.text for limit in q.limits),
        *(f"{limit.text} in each group" for limit in each),
        *(f"gap({limit.measure.name}) <= {limit.bound:.12g}" for limit in gaps),
    ]
    return UndefinedError(GroupsInfeasible(tuple(asked), q.confidence))


def _point(  # noqa: PLR0913, PLR0917 - the fields
    groups: GroupSweeps,
    q: Aim,
    each: tuple[Limit, ...],
    gaps: tuple[Limit, ...],
    pooled: tuple[Hashable, ...],
    thresholds: dict[Hashable, float],
) -> GroupPoint:
    confusions = {name: s.at(thresholds[name]) for name, s in groups.items()}
    c = _added(confusions.values())
    value = float(q.goal(c if q.prior is None else c.deployed(q.prior)))
    return GroupPoint(thresholds, confusions, value, q, each, gaps, pooled, groups)


def group_point_at(  # noqa: PLR0913 - options have names
    sweeps: GroupSweeps,
    aim: Aim,
    thresholds: Mapping[Hashable, float],
    *,
    each: LimitsLike = None,
    gap: LimitsLike = None,
    pooled: tuple[Hashable, ...] = (),
    own: bool = False,
    small: str = "pool",
    given: bool = True,
) -> GroupPoint:
    """What known thresholds do in each group, beside what was asked; ``given`` says that they
    were not chosen for it."""
    limits, gaps = tuple(as_limits(each)), tuple(map(_check_gap, as_limits(gap)))
    found = _point(sweeps, aim, limits, gaps, pooled, dict(thresholds))
    return replace(found, own=own, small=small, given=given)


def _status(p: GroupPoint) -> Iterator[GroupStatus]:
    """What became of the limits. Thresholds that were chosen keep them; a given one is tested as
    the only one that there is."""
    q, error = p.aim, None
    if q.confidence is not None and (p.each or q.limits):
        error = _shared_error(q, p.each)
    parts = GroupSweeps({n: replace_scores(s, p.thresholds[n]) for n, s in p.sweeps.items()})
    tested: Mapping[Hashable, Sweep] = parts
    if p.given:
        with suppress(UndefinedError):  # too small even together: then nothing is shown of them
            tested, _ = _pool(parts, p.each, error, "pool")
    for limit in p.each:
        words, name, bound = f"{limit.text} in each group", limit.measure.name, limit.bound
        words += " (small ones together)" if p.pooled else ""
        holds = not p.given or all(_holds(s, limit, error) for s in tested.values())
        rates = {group: float(limit.measure(c)) for group, c in p.confusions.items()}
        known = [group for group, rate in rates.items() if np.isfinite(rate)]
        if not known:
            yield GroupStatus(words, name, bound, nan, holds, "")
            continue
        worst = (max if limit.sign[0] == "<" else min)(known, key=lambda group: rates[group])
        text = "" if holds else f" ({limit.value_text(rates[worst])} in {shown(worst)})"
        yield GroupStatus(words, name, bound, rates[worst], holds, text)
    for limit in q.limits:
        there = p.confusion if q.prior is None else p.confusion.deployed(q.prior)
        value = float(limit.measure(limit.sees(p.confusion, there)))
        holds = not p.given or _holds(parts.total, limit, error, q.prior)
        text = "" if holds else f" ({limit.value_text(value)} on these rows)"
        yield GroupStatus(f"{limit.text} over all groups", "", limit.bound, value, holds, text)
    for limit in p.gaps:
        gap, words = p.gap(limit.measure.name), f"gap({limit.measure.name}) <= {limit.bound:.12g}"
        text = f" ({100 * gap:.3g} percentage points on these rows)"
        holds = not p.given or gap <= limit.bound
        yield GroupStatus(words, "", limit.bound, gap, holds, text)


def _holds(s: Sweep, limit: Limit, error: float | None, prior: float | None = None) -> bool:
    """Whether a limit holds for the rows at the score 1."""
    c = s.at(0.5)
    if error is None:
        return bool(limit.holds(c if prior is None else limit.sees(c, c.deployed(prior))))
    return bool(_rule_for(s, limit, error, prior).holds(c))


def replace_scores(s: Sweep, threshold: float) -> Sweep:
    """The rows at or above a threshold at the score 1, the others at 0."""
    cut = int(np.searchsorted(-s.threshold, -threshold, side="right"))
    there = [k for k, rows in enumerate((cut, len(s) - cut)) if rows]
    columns = [
        None if mass is None else np.array([mass[:cut].sum(), mass[cut:].sum()])[there]
        for mass in (s.pos, s.neg, s.pos2, s.neg2)
    ]
    assert columns[0] is not None
    assert columns[1] is not None
    return Sweep(np.array([1.0, 0.0])[there], columns[0], columns[1], *columns[2:])


def _added(several: Iterable[Confusion]) -> Confusion:
    cells = np.array([(c.tp, c.fp, c.fn, c.tn) for c in several])
    return Confusion(*cells.sum(axis=0).tolist())


def _rule(threshold: float) -> str:
    if abs(threshold) == inf:
        return "flag nothing" if threshold > 0 else "flag everything"
    return f"flag scores ≥ {threshold!r}"


def _rate_text(found: tuple[float, Interval | None]) -> str:
    return estimate_text(*found, rate=True) if np.isfinite(found[0]) else "undefined (0/0)"


# ----------------------------------------------------------------------------------------- compared


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Card):
    """What several choices do to each group; see :func:`cutscore.compare_group_choices`.

    Parameters
    ----------
    points : dict
        The choices by name, of the same rows and objective.
    """

    points: Mapping[str, GroupPoint]

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        goal = next(iter(self.points.values())).aim.goal
        value = WORDS.get(goal.name, goal.name)
        return ["choice", "group", "threshold", "recall", "fpr", "flagged", value]

    @property
    def rows(self) -> list[tuple[str, str, float, float, float, float, float]]:
        """A row for each choice and group, and one for all rows of each choice."""
        out = []
        for name, p in self.points.items():
            for group, threshold, c, value in p.outcomes:
                rates = (float(c.recall), float(c.fpr), float(c.flagged_rate))
                out.append((name, str(group), threshold, *rates, value))
            c = p.confusion
            at = float("nan") if p.common is None else p.common
            rates = (float(c.recall), float(c.fpr), float(c.flagged_rate))
            out.append((name, "all", at, *rates, p.value))
        return out

    def _texts(self) -> list[list[str]]:
        return [
            [
                *(name, group),
                "" if np.isnan(at) else f"{at:.6g}",
                *("" if np.isnan(r) else f"{100 * r:.1f} %" for r in rates),
                number_text(value),
            ]
            for name, group, at, *rates, value in self.rows
        ]

    def __repr__(self) -> str:
        table = [self.head, *self._texts()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(w) if k < 2 else cell.rjust(w)
                for k, (cell, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        )

    def _repr_html_(self) -> str:
        return grid_table("On these rows", self.head, self._texts())


def compare_group_choices(points: Mapping[str, GroupPoint]) -> GroupComparison:
    """A table of what several choices cost, and whom: one threshold, thresholds of groups,
    thresholds with equal rates. All numbers are of the rows that the choices were made on.

    Parameters
    ----------
    points : dict of GroupPoint
        The choices by name, of the same rows and objective.

    Examples
    --------
    >>> import cutscore as cs
    >>> a, b = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), cs.sweep([1, 0, 1, 0], [7, 4, 6, 5])
    >>> groups = {"a": a, "b": b}
    >>> costs = cs.Costs(fp=1, fn=1)
    >>> one = cs.choose_groups(groups, costs)
    >>> two = cs.choose_groups(groups, costs, thresholds="group")
    >>> cs.compare_group_choices({"one threshold": one, "group thresholds": two})
    choice            group  threshold   recall    fpr  flagged  cost per case
    one threshold     a            5.5    0.0 %  0.0 %    0.0 %          0.500
    one threshold     b            5.5  100.0 %  0.0 %   50.0 %              0
    one threshold     all          5.5   50.0 %  0.0 %   25.0 %          0.250
    group thresholds  a            3.5   50.0 %  0.0 %   25.0 %          0.250
    group thresholds  b            5.5  100.0 %  0.0 %   50.0 %              0
    group thresholds  all                75.0 %  0.0 %   37.5 %          0.125
    """
    if not isinstance(points, Mapping) or not points:
        raise DataError(BadArgument("points", "be choices by name", points))
    if not all(isinstance(p, GroupPoint) for p in points.values()):
        raise DataError(BadArgument("points", "be results of choose_groups", points))
    first, *rest = points.values()
    if any(list(p.sweeps) != list(first.sweeps) or p.aim.goal != first.aim.goal for p in rest):
        raise DataError(BadArgument("points", "be choices for the same groups and objective"))
    return GroupComparison(dict(points))
