"""A policy on labelled rows: each promise beside what happened, and whether the two agree.

**Promises.** Both are estimates, so that their difference has both errors. Intervals are wider to
one side: where more happened than was promised, what counts is how far the promise may have been
too low, and the outcome too high. With half-widths h₁ and h₂ to these sides (MOVER),

    z = z_level |difference| / √(h₁² + h₂²).

p-values of several promises are adjusted by Holm's method, which holds whatever their dependence.

**Limits.** A limit is broken if rows as these would be rare where it held: one-sided, by
Clopper and Pearson's bound for shares of counted rows, at the confidence of the aim, or else its
level; several limits share the error.

**Groups.** Promises and limits of groups are tested beside those of all rows, and counted with them
where p-values are adjusted and errors are shared. Groups that were too small to be tested alone are
one group here, too. A gap between rates is broken if the bounds of two groups are further apart.

References: Zou & Donner, "Construction of confidence limits about effect measures: a general
approach", Statistics in Medicine 27 (2008), https://doi.org/10.1002/sim.3095. Holm, "A simple
sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isnan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutscore.comparison.covariance import auc_over
from cutscore.comparison.group_sweeps import sweeps_by_group
from cutscore.comparison.row_costs import choose_by_row
from cutscore.comparison.rows import periods as periods_of
from cutscore.comparison.rows import units as units_of
from cutscore.core.checks import as_array
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, shown
from cutscore.core.findings.models import SameRows, ScoresOutside
from cutscore.core.findings.report import FewRows
from cutscore.core.html import Card, Facts
from cutscore.core.json import to_plain
from cutscore.core.numbers import p_value_text
from cutscore.core.types import Array, ArrayLike, Label
from cutscore.decision.choice import CutPair, OperatingPoint, point_at
from cutscore.decision.groups import OTHERS, replace_scores
from cutscore.decision.normal import is_normal
from cutscore.decision.row_costs import RowCostPoint
from cutscore.decision.three_way import three_way_at
from cutscore.decision.verdict import FEWEST
from cutscore.inference.auc import auc_interval
from cutscore.inference.periods import Periods, as_periods, ratio_over, share_over
from cutscore.inference.placements import effective, sizes_of
from cutscore.inference.rates import clopper_pearson, wilson
from cutscore.inference.selection import Expected
from cutscore.inference.units import Units
from cutscore.measures.aim import Aim, as_objective
from cutscore.measures.limits import Limit
from cutscore.measures.prior import check_level
from cutscore.measures.registry import Objective
from cutscore.policy.evidence import digest_of
from cutscore.policy.words import figure_text, promise_name, promise_text
from cutscore.sweeps.groups import sum_of
from cutscore.sweeps.sweep import Sweep, sweep

if TYPE_CHECKING:
    from cutscore.policy.artefact import Policy


FAR = 0.5
"""Scores are far from the evidence if they are outside of its range by so much of its width."""


class CheckState(StrEnum):
    """What follows from a check."""

    AGREES = "agrees"
    """No value differs significantly from expected, and no limit is violated."""
    UNKNOWN = "unknown"
    """There are too few rows to tell."""
    DIFFERS = "differs"
    """A value differs significantly from expected."""
    BROKEN = "broken"
    """A limit is violated, significantly."""


class Outcome(NamedTuple):
    """A promise, and what happened."""

    name: str
    promised: Expected
    observed: Expected | None
    """On the labelled rows; None where it has no value or no interval there."""
    p: float | None
    """Of the test whether both are equal, adjusted for the number of promises."""
    agrees: bool | None
    """Whether they are not shown to differ; None if that can't be said."""
    group: str | None = None
    """The group that it is about; None for all rows."""

    @property
    def words(self) -> str:
        """What was promised, for people."""
        return promise_name(self.name) + _of_group(self.group)


class LimitOutcome(NamedTuple):
    """A limit, and what happened."""

    limit: str
    observed: Expected | None
    state: str
    """"holds", "exceeded" (on these rows, which the limit may still allow), "broken" or
    "unknown"."""
    of_rows: float | None = None
    """How many rows a limit on a count is about, those of the evidence: what happened is scaled to
    as many. None of a limit on anything else."""
    group: str | None = None
    """The group that it is about; None for all rows, and for a gap between groups."""
    measure: str = ""
    """The name of what is limited."""

    @property
    def words(self) -> str:
        """The limit, with the rows that a count is of."""
        of = "" if self.of_rows is None else f" of {self.of_rows:,.6g} rows"
        return self.limit + of + _of_group(self.group)


def _of_group(group: str | None) -> str:
    return "" if group is None else f" in {shown(group)}"


@dataclass(frozen=True, eq=False, repr=False)
class PolicyCheck(Card):
    """What became of a policy's promises; see :meth:`cutscore.Policy.check`.

    Parameters
    ----------
    state, headline
        The verdict, and the same in a line.
    promises
        Each promise beside what happened.
    limits
        Each limit beside what happened.
    prevalence
        The share of positives then and now.
    findings
        What else should be known: too few rows of a class, scores far from the evidence.
    rows
        How many rows were looked at; of weighted ones their weight.
    level
        Of intervals and tests.
    """

    state: CheckState
    headline: str
    promises: tuple[Outcome, ...]
    limits: tuple[LimitOutcome, ...]
    prevalence: Outcome
    findings: tuple[Finding, ...]
    rows: float
    level: float

    @property
    def ok(self) -> bool:
        """Whether no limit is violated, significantly."""
        return self.state is not CheckState.BROKEN

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Promises, and the share of positives unless nothing was expected of it."""
        expected = self.prevalence.promised
        known = (expected.low, expected.high) != (0, 1)
        return (*self.promises, self.prevalence) if known else self.promises

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists."""
        return {
            "schema": "cutscore.check/1",
            "state": self.state.value,
            "headline": self.headline,
            "rows": self.rows,
            "level": self.level,
            "promises": [_plain(one) for one in self.promises],
            "limits": [_plain(one) for one in self.limits],
            "prevalence": _plain(self.prevalence),
            "findings": [one.as_dict() for one in self.findings],
        }

    def __repr__(self) -> str:
        lines = (f"{name}: {value}" for name, value in self._lines())
        return "\n".join([self.headline, *lines, *(one.render() for one in self.findings)])

    def _lines(self) -> Iterator[tuple[str, str]]:
        for one in self.limits:
            seen = "no value observed" if one.observed is None else f"observed {one.observed!r}"
            yield one.words, f"{limit_word(one)} ({seen})"
        for each in self.outcomes:
            yield each.words, _beside(each)

    def _title(self) -> str:
        return "Policy check"

    def _warning(self) -> str:
        return "" if self.state is CheckState.AGREES else self.headline

    def _facts(self) -> Facts:
        notes = [("", one.render()) for one in self.findings]
        return [("", self.headline), *self._lines(), *notes]


def _plain(one: Outcome | LimitOutcome) -> dict[str, Any]:
    """For JSON; a group where there is one."""
    out: dict[str, Any] = to_plain(one)
    out.pop("measure", None)
    if one.group is None:
        del out["group"]
    return out


def _beside(one: Outcome) -> str:
    seen = "no value observed"
    if one.observed is not None:
        seen = f"observed {promise_text(one.name, one.observed)}"
    differs = (
        "" if one.agrees is not False or one.p is None else f"; differs ({p_value_text(one.p)})"
    )
    return f"expected {promise_text(one.name, one.promised)}, {seen}{differs}"


def limit_word(one: LimitOutcome) -> str:
    """What became of a limit."""
    return {"holds": "met", "exceeded": "exceeded, not significantly", "broken": "violated"}.get(
        one.state, one.state
    )


def check(  # noqa: PLR0913 - options have names
    policy: Policy,
    y: ArrayLike,
    scores: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    positive: Label | None = None,
    level: float | None = None,
    period: ArrayLike | None = None,
    exposure: int | None = None,
    groups: ArrayLike | None = None,
    unit: ArrayLike | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
) -> PolicyCheck:
    """Each promise and each limit of a policy beside what labelled rows show."""
    level = policy.aim.level if level is None else check_level(level)
    _check_columns(policy, groups, unit)
    if positive is None:
        y, positive = _labelled(policy, as_array(y, "label"))
    s = sweep(y, scores, weight, positive, squares=weight is not None)
    if is_normal(policy.sweep):
        s.needs_negatives("a check")
    else:
        s.needs_both_classes("a check")
    periods = None
    if period is not None:
        periods = periods_of(y, scores, period, exposure=exposure, positive=positive)
    total = s.negated() if policy.reverse else s
    units = None
    if unit is not None:
        units = units_of(y, scores, unit, weight=weight, positive=positive)
        units = units.negated() if policy.reverse else units
    for outside in novelty(policy, total):
        if outside.share > 0.5:  # scores of another model or scale: nothing can be compared
            raise DataError(outside)
    if policy.row_costs is not None:
        rows = tuple(one for one in policy.aim.limits if one.period is None)
        aim = replace(policy.aim.on_rows, limits=rows, periods=None)
        found = choose_by_row(
            *(y, policy.towards(scores), aim, columns),
            calibrator=policy.needs_calibrator("a check"),
            weight=weight,
            unit=unit,
            period=period,
            exposure=exposure,
            positive=positive,
            threshold=policy.threshold,
        )
        return _CheckedByRow(policy, total, level, found, units).result()
    if policy.groups is None or groups is None:
        if periods is not None and policy.reverse:
            periods = periods.negated()
        return _Checked(policy, total, level, periods, units).result()
    numbers = policy.groups.numbers(groups, len(as_array(scores, "score")))
    parts = sweeps_by_group(
        y, scores, numbers, weight=weight, positive=positive, squares=weight is not None
    )
    names = policy.groups.names
    towards = {names[int(k)]: one.negated() if policy.reverse else one for k, one in parts.items()}  # type: ignore[call-overload]
    return _CheckedGroups(policy, total, level, towards).result()


def _check_columns(policy: Policy, groups: ArrayLike | None, unit: ArrayLike | None) -> None:
    """Raise if there are no groups or clusters where the policy has some, or the other way
    round."""
    if (groups is None) != (policy.groups is None):
        rule = "be left out: the policy knows of no groups"
        if policy.groups is not None:
            rule = f"be given: the policy knows of groups by {shown(policy.groups.column)}"
        raise DataError(BadArgument("groups", rule))
    if unit is None and policy.evidence.units is not None:
        raise DataError(BadArgument("unit", "be given: the policy was chosen on clustered rows"))
    if unit is not None and (policy.groups is not None or policy.three_way):
        rule = "be left out: a check of groups or of two thresholds takes rows as independent"
        raise DataError(BadArgument("unit", rule))


def _labelled(policy: Policy, y: Array) -> tuple[Any, Any]:
    """Labels, and the positive one, as the policy knows it; 0/1 and booleans speak for
    themselves."""
    known, named = policy.labels.positive, y.dtype.kind in "OUST"
    if known is None or (isinstance(known, str) and not named):
        return y, None
    negatives = {policy.labels.negative, *policy.labels.others} - {None}
    if named and negatives and set(y.tolist()) <= negatives:
        return np.zeros(len(y), np.bool_), None  # none is positive
    return y, known


class _Checked:
    """A policy and the sweep of the rows that it is checked on, with their periods or clusters."""

    scores: Sweep
    """The sweep of the scores themselves; thresholds may be on something else."""

    units: Units | None = None
    """The clusters of the rows, by the score."""

    def __init__(
        self,
        policy: Policy,
        s: Sweep,
        level: float,
        periods: Periods | None,
        units: Units | None = None,
    ) -> None:
        self.policy, self.s, self.level, self.periods = policy, s, level, periods
        self.scores, self.units = s, units
        self.aim = policy.aim
        if periods is not None:
            periods.check(s)
        self.point = self.at_cuts()
        self.total = s.P + s.N
        self.tests = len(self.aim.limits)
        self.evidence = policy.sweep

    def at_cuts(self) -> OperatingPoint:
        """What the thresholds do on the rows."""
        rows = tuple(limit for limit in self.aim.limits if limit.period is None)
        aim = replace(self.aim.on_rows, limits=rows, periods=None, units=self.units)
        # Where only a limit per period is on reviews, the rest of the aim has one threshold.
        at = three_way_at if self.aim.three_way else point_at
        return at(self.s, aim, self.policy.point.cuts)

    def outcomes(self) -> list[Outcome]:
        promises = self.policy.promises.items()
        return [self.outcome(name, e) for name, e in promises if name != "prevalence"]

    def limits(self) -> list[LimitOutcome]:
        return list(map(self.limit, self.aim.limits))

    def result(self) -> PolicyCheck:
        raw = self.outcomes()
        adjusted = holm([one.p for one in raw])
        promises = tuple(
            one._replace(p=p, agrees=None if p is None else p >= 1 - self.level)
            for one, p in zip(raw, adjusted, strict=True)
        )
        limits = tuple(self.limits())
        gone = () if self.periods is None else self.periods.findings
        findings = (*self.same(), *self.few(), *novelty(self.policy, self.scores), *gone)
        state, headline = _verdict(promises, limits, findings)
        return PolicyCheck(
            state,
            headline,
            promises,
            limits,
            self.prevalence(),
            findings,
            self.total,
            self.level,
        )

    def outcome(self, name: str, promised: Expected) -> Outcome:
        observed = self.observed(name)
        p = None if observed is None else difference(promised, observed)
        return Outcome(name, promised, observed, p, None)

    def observed(self, name: str) -> Expected | None:
        with suppress(CutscoreError):
            if name == "auc" and self.units is not None:
                return auc_over(self.units, self.level)
            if name == "auc":
                low, high = auc_interval(self.scores, level=self.level)
                return Expected(self.scores.auc, low, high, self.level)
            rows = [one for one in self.aim.limits if one.period is None]
            limited = [one for one in rows if one.measure.name == name]
            if limited:  # the same interval as beside the limit
                return self.of_limit(limited[0], self.level)
            goal = self.aim.goal if name == self.aim.goal.name else as_objective(name)
            return self.measured(goal, self.level)
        return None

    def measured(self, goal: Objective, level: float, method: str | None = None) -> Expected | None:
        """A measure of the rows at the thresholds, at the prior of the aim if it has one. With
        periods, a rate has an interval over them."""
        if self.periods is not None and self.aim.prior is None:
            over = self.point.over_periods(self.periods, goal, level)
            if over is not None:
                return over
        found = self.point.as_given(goal, level, method)
        return None if isnan(found.value) else found

    def limit(self, limit: Limit) -> LimitOutcome:
        shown_by = self.aim.confidence or self.level
        error = (1 - shown_by) / self.tests
        counted = float(self.evidence.P + self.evidence.N)
        of_rows = counted if limit.measure.is_count and limit.period is None else None
        sided = max(1 - 2 * error, 1e-9)  # each end of a two-sided interval
        try:
            seen, tested = (self.of_limit(limit, level) for level in (self.level, sided))
        except CutscoreError:
            seen = tested = None
        name = limit.measure.name
        if seen is None or tested is None:
            return LimitOutcome(limit.text, None, "unknown", of_rows, measure=name)
        upper, bound = limit.sign[0] == "<", limit.bound
        if limit.share is not None:
            upper, bound = False, limit.share  # of the periods that keep it
        over = seen.value > bound if upper else seen.value < bound
        beyond = tested.low > bound if upper else tested.high < bound
        state = "broken" if beyond else "exceeded" if over else "holds"
        return LimitOutcome(limit.text, seen, state, of_rows, measure=name)

    def of_limit(self, limit: Limit, level: float) -> Expected | None:
        """What a limit is on. A count is one of rows: of as many as the policy was chosen on; or
        of periods."""
        measure = limit.measure
        if limit.period is not None:
            at = self.point.cuts
            return None if self.periods is None else self.periods.expect(limit, at, level)
        if self.units is not None and (measure.is_count or self.aim.confidence is not None):
            return self.of_units(limit, level)
        if not measure.is_count:
            here = self.aim.prior is None or measure.prior_free
            exact = here and (measure.binomial or self.aim.three_way)
            return self.measured(measure, level, "clopper-pearson" if exact else None)
        share = float(measure(self.point.confusion)) / self.total
        n = effective(self.total, sum(self.s.square_totals("a limit")))
        low, high = clopper_pearson(share * n, n, level)
        rows = float(self.evidence.P + self.evidence.N)
        return Expected(share * rows, low * rows, high * rows, level)

    def of_units(self, limit: Limit, level: float) -> Expected | None:
        """What a guarantee for clusters is on, the mean of their own rates; None of others."""
        of_class, name = limit.measure.of_class, limit.measure.name
        if self.units is None or self.aim.confidence is None or name in ("precision", "npv", "fp"):
            return None
        share = self.units.shares(of_class, self.point.threshold)
        if name in ("fnr", "specificity"):
            share = 1 - share
        e = ratio_over(share, np.ones(len(share)), level, name, what="clusters")
        rows = float(self.evidence.P + self.evidence.N) if name == "flagged" else 1.0
        return Expected(e.value * rows, e.low * rows, e.high * rows, level)

    def prevalence(self) -> Outcome:
        then, now = (_share(s, self.level) for s in (self.policy.sweep, self.s))
        then = self.policy.promises.get("prevalence", then)
        if self.units is not None:
            with suppress(CutscoreError):
                now = share_over(self.units, self.level)
        if is_normal(self.policy.sweep):
            then = None  # what is positive is only seen now
        if self.aim.prior is not None:  # somebody said what it is
            then = Expected(self.aim.prior, self.aim.prior, self.aim.prior, self.level)
        p = None if then is None or now is None else difference(then, now)
        agrees = None if p is None else p >= 1 - self.level
        unknown = Expected(self.policy.prior, 0.0, 1.0, self.level)
        return Outcome("prevalence", then or unknown, now, p, agrees)

    def same(self) -> Iterator[SameRows]:
        if digest_of(self.scores) == self.policy.provenance.digest:
            yield SameRows()

    def few(self) -> Iterator[FewRows]:
        with suppress(UndefinedError):
            sizes = sizes_of(self.s, "a check")
            for of, rows in zip(("positive", "negative"), sizes, strict=True):
                needed = of == "negative" or not is_normal(self.policy.sweep)
                if rows < FEWEST and needed:
                    yield FewRows(of, rows, self.s.weighted)


class _CheckedByRow(_Checked):
    """A policy by the costs of each row: the threshold is on gaps, the AUC is that of the score."""

    def __init__(
        self,
        policy: Policy,
        scores: Sweep,
        level: float,
        point: RowCostPoint,
        units: Units | None,
    ) -> None:
        self.choice = point
        periods = as_periods(point.question.periods)
        days = periods if isinstance(periods, Periods) else None
        super().__init__(policy, point.sweep, level, days, units)
        self.scores = scores

    def at_cuts(self) -> OperatingPoint:
        return self.choice

    def observed(self, name: str) -> Expected | None:
        if name == "saving":
            return self.choice.saving_as_given(self.level)
        return super().observed(name)


class _CheckedGroup(_Checked):
    """The same of one group, or of several that were tested together."""

    def __init__(self, whole: _CheckedGroups, parts: Mapping[str, Sweep]) -> None:
        policy, point = whole.policy, whole.policy.group_point
        cuts = {name: point.thresholds[name] for name in parts}
        s = sum_of(parts.values())
        self.policy, self.s, self.level, self.periods = policy, s, whole.level, None
        self.scores = s
        # A group has the share of positives that it has.
        self.aim = replace(policy.aim, limits=point.each, prior=None)
        self.point = _point_of_groups(self.aim, parts, cuts)
        self.total = s.P + s.N
        self.tests = whole.tests
        self.evidence = sum_of(point.sweeps[name] for name in parts)


class _CheckedGroups(_Checked):
    """A policy with groups, and the rows of each group."""

    def __init__(self, policy: Policy, s: Sweep, level: float, parts: Mapping[str, Sweep]) -> None:
        self.parts, self.choice = parts, policy.group_point
        super().__init__(policy, s, level, None)
        few = self.choice.pooled
        self.tested = {name: {name: part} for name, part in parts.items() if name not in few}
        if any(name in parts for name in few):
            self.tested[OTHERS] = {name: parts[name] for name in parts if name in few}
        each = len(self.choice.each) * len(self.tested)
        self.tests = len(self.aim.limits) + each + len(self.choice.gaps)

    def at_cuts(self) -> OperatingPoint:
        return _point_of_groups(self.aim.on_rows, self.parts, self.choice.thresholds)

    def outcomes(self) -> list[Outcome]:
        out = super().outcomes()
        assert self.policy.groups is not None
        for name, part in self.parts.items():
            own = _CheckedGroup(self, {name: part})
            promises = self.policy.groups.promises.get(name, {})
            out += [own.outcome(*one)._replace(group=name) for one in promises.items()]
        return out

    def limits(self) -> list[LimitOutcome]:
        out = super().limits()
        for name, parts in self.tested.items():
            own = _CheckedGroup(self, parts)
            out += [own.limit(limit)._replace(group=name) for limit in self.choice.each]
        return [*out, *map(self.gap, self.choice.gaps)]

    def gap(self, limit: Limit) -> LimitOutcome:
        """The rates that are furthest apart, and whether their bounds are too."""
        measure, shown_by = limit.measure, self.aim.confidence or self.level
        text = f"gap({measure.name}) <= {limit.bound:.12g}"
        groups = [_CheckedGroup(self, {name: part}) for name, part in self.parts.items()]
        error = (1 - shown_by) / (self.tests * max(len(groups), 1))
        sided = max(1 - 2 * error, 1e-9)
        unknown = LimitOutcome(text, None, "unknown", measure=measure.name)
        try:
            tested = [one.measured(measure, sided, "clopper-pearson") for one in groups]
            seen = [one.measured(measure, self.level) for one in groups]
        except CutscoreError:
            return unknown
        spans, around = ([one for one in of if one is not None] for of in (tested, seen))
        if len(spans) < 2 or len(around) < 2:
            return unknown
        rates = [one.value for one in around]
        away = max(rates) - min(rates)
        surely = max(one.low for one in spans) - min(one.high for one in spans)
        low = max(max(one.low for one in around) - min(one.high for one in around), 0.0)
        high = max(one.high for one in around) - min(one.low for one in around)
        over, beyond = away > limit.bound, surely > limit.bound
        state = "broken" if beyond else "exceeded" if over else "holds"
        found = Expected(away, low, high, self.level)
        return LimitOutcome(text, found, state, measure=measure.name)


def _point_of_groups(
    aim: Aim, parts: Mapping[str, Sweep], thresholds: Mapping[Any, float]
) -> OperatingPoint:
    """What thresholds of groups do on the rows of all: they are on either side of one cut."""
    one = [replace_scores(s, thresholds[name]) for name, s in parts.items()]
    return point_at(sum_of(one), aim.on_rows, CutPair(0.5, 0.5))


def _share(s: Sweep, level: float) -> Expected | None:
    with suppress(UndefinedError):
        n = effective(s.P + s.N, sum(s.square_totals("the prevalence")))
        low, high = wilson(s.prevalence * n, n, level)
        return Expected(s.prevalence, low, high, level)
    return None


def difference(promised: Expected, observed: Expected) -> float:
    """The p-value of two estimates being of one value.

    Examples
    --------
    >>> from cutscore.inference.selection import Expected
    >>> from cutscore.policy.check import difference
    >>> round(difference(Expected(0.5, 0.4, 0.6, 0.95), Expected(0.7, 0.6, 0.8, 0.95)), 4)
    0.0056
    """
    away = observed.value - promised.value
    if away > 0:
        halves = (promised.high - promised.value, observed.value - observed.low)
    else:
        halves = (promised.value - promised.low, observed.high - observed.value)
    normal = NormalDist()
    errors = [
        half / normal.inv_cdf((1 + one.level) / 2)
        for half, one in zip(halves, (promised, observed), strict=True)
    ]
    spread = sqrt(sum(error**2 for error in errors))
    if spread == 0 or not away:
        return float(away == 0)
    return 0.0 if spread == inf else 2 * normal.cdf(-abs(away) / spread)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted by Holm's method; those that are not known stay so.

    Examples
    --------
    >>> from cutscore.policy.check import holm
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((value, k) for k, value in enumerate(p) if value is not None)
    out: list[float | None] = [None] * len(p)
    largest = 0.0
    for rank, (value, k) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        out[k] = largest
    return out


def novelty(policy: Policy, s: Sweep) -> Iterator[ScoresOutside]:
    """Scores that lie further outside of the evidence's range than half its width."""
    low, high = policy.range
    reverse = policy.reverse
    threshold = 0.0 - s.threshold if reverse else s.threshold
    width = high - low
    away = np.maximum(np.maximum(low - threshold, threshold - high), 0.0)
    far = away > FAR * width if np.isfinite(width) else np.zeros(len(away), np.bool_)
    if far.any():
        rows = float((s.pos + s.neg)[far].sum())
        farthest = int(np.argmax(away))
        times = float(away[farthest] / width) if width > 0 else inf
        yield ScoresOutside(rows / (s.P + s.N), low, high, float(threshold[farthest]), times)


def _verdict(
    promises: Sequence[Outcome], limits: Sequence[LimitOutcome], findings: Sequence[Finding]
) -> tuple[CheckState, str]:
    broken = [one for one in limits if one.state == "broken"]
    if broken:
        one = broken[0]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return CheckState.BROKEN, f"Limit violated: {one.words}; observed {one.observed!r}{more}"
    odd = [one for one in promises if one.agrees is False]
    if odd:
        return CheckState.DIFFERS, f"Differs from expected: {', '.join(map(_headline, odd))}"
    if any(isinstance(one, SameRows) for one in findings):
        return (
            CheckState.UNKNOWN,
            "These are the rows that the policy was chosen on",
        )
    few = next((one for one in findings if isinstance(one, FewRows)), None)
    if few is not None:
        return CheckState.UNKNOWN, f"Too few {few.of}s to tell: {few.rows:.3g}"
    if all(one.agrees is None for one in promises):
        return CheckState.UNKNOWN, "No expected value can be tested on these rows"
    exceeded = [one.limit + _of_group(one.group) for one in limits if one.state == "exceeded"]
    also = f"; exceeded, but not significantly: {', '.join(exceeded)}" if exceeded else ""
    return CheckState.AGREES, f"Consistent with expectations{also}"


def _headline(one: Outcome) -> str:
    assert one.observed is not None
    value, promised = (figure_text(one.name, e.value) for e in (one.observed, one.promised))
    return f"{one.words} {value} (expected {promised})"
