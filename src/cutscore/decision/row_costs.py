"""Costs that differ by row: what the decision about each row is worth, and the best cut.

Flagging row i pays if p·missᵢ ≥ (1 − p)·alarmᵢ, where missᵢ = fnᵢ + tp, alarmᵢ = fpᵢ + tn and p is
the probability of the row. With the odds p/(1 − p) = clr · exp(LLR) that is

    gapᵢ = LLRᵢ − ln(alarmᵢ / missᵢ) ≥ −ln clr.

So the gap is a score like any other. Its sweep has every decision of the form "gap ≥ c" there is,
and the money at stake in place of the counts says what each costs. The best cut is found among all
of them; where the probabilities are right it is near −ln clr. Limits count rows, and are those of
any score.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import exp, inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import one_of
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.report import FewAmounts, Notice
from cutscore.core.findings.statistics import Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text, number_text
from cutscore.core.types import ArrayLike
from cutscore.decision.choice import (
    Baseline,
    OperatingPoint,
    Promised,
    Stability,
    limit_statuses,
    place_threshold,
    rules_of,
)
from cutscore.decision.money import (
    MoneySweep,
    RowCosts,
    best_uniform,
    choose_cut,
    flags,
    gaps_of,
    on_grid,
)
from cutscore.decision.row_folds import MOST, CrossFit, at_least_0, cross_fit
from cutscore.inference.means import Moments, mean_interval
from cutscore.inference.selection import Expected, is_large
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs, cost_text
from cutscore.measures.prior import log_odds
from cutscore.measures.registry import Objective
from cutscore.sweeps.curves import from_zero, sums_from_zero
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    from cutscore.decision.choice import Chosen

FEWEST = 10
"""If the money at stake comes from fewer positives than this, effectively, its interval may be too
narrow."""


@dataclass(frozen=True, eq=False, repr=False)
class MoneyCurve(Frozen):
    """What it costs to flag the rows of the highest gaps, by how many are flagged; made by
    :attr:`RowCostPoint.curve`.

    Parameters
    ----------
    threshold : array of float
        The gap of each cut, from +inf on, which flags nothing.
    flagged : array of float
        The share of cases that is flagged.
    cost : array of float
        The cost per case on the rows of the sweep.

    Examples
    --------
    >>> import cutscore as cs
    >>> costs = cs.Costs(fp=4, fn="amount")
    >>> p = cs.choose_by_row([1, 0, 1, 0], [4, 3, 2, 1], costs, {"amount": [20, 9, 50, 3]})
    >>> p.curve.flagged, p.curve.cost
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([17.5, 12.5,  0. ,  1. ,  2. ]))
    """

    threshold: Floats
    flagged: Floats
    cost: Floats

    def __len__(self) -> int:
        """How many cuts there are."""
        return len(self.cost)


class Uniform(NamedTuple):
    """The best single threshold on the score for all rows, whatever is at stake in them."""

    threshold: float
    value: float
    """Its cost per case on the same rows."""


@dataclass(frozen=True, eq=False, repr=False)
class RowCostPoint(OperatingPoint):
    """A decision by the costs of each row; see :func:`cutscore.choose_by_row`.

    It is an operating point whose ``threshold`` is one on the gap between the odds of a row and
    those from which flagging it pays.

    Parameters
    ----------
    money : MoneySweep
        What flagging the rows of each gap is worth.
    rows : RowCosts or None
        The rows; None of a policy from a file.
    stored : Uniform or None
        The best single threshold on the score, where the rows are not known.

    Examples
    --------
    >>> import cutscore as cs
    >>> y, score = [1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.4, 0.3, 0.2]
    >>> amount = [20, 10, 500, 3, 2, 5]
    >>> p = cs.choose_by_row(y, score, cs.Costs(fp=4, fn="amount"), {"amount": amount})
    >>> p.total, p.baselines
    (4.0, {'flag none': 525.0, 'flag all': 12.0})
    """

    money: MoneySweep = None  # type: ignore[assignment]  # never None once it is made
    rows: RowCosts | None = None
    stored: Uniform | None = None

    def stability(self, n: int = 200, *, seed: int = 0) -> Stability:  # noqa: ARG002
        """Not available: the samples would need calibrators of their own."""
        raise UndefinedError(Undefined("stability", "is not available where costs differ by row"))

    @property
    def costs(self) -> Costs:
        """The costs that it was chosen for."""
        goal = self.question.goal
        assert isinstance(goal, Costs)
        return goal

    @property
    def factor(self) -> float:
        """A row is flagged iff its expected loss by a miss, p · (fn + tp), is at least so many
        times that by a false alarm, (1 − p) · (fp + tn): 1 if probabilities are taken as they
        are."""
        at = self.threshold + log_odds(self.prior)
        return exp(at) if at < 700 else inf

    @property
    def prior(self) -> float:
        """The share of positives where it is used: that of the aim, else of the rows."""
        prior = self.question.prior
        return self.sweep.prevalence if prior is None else prior

    def rule_text(self, score: str = "score", *, reverse: bool = False) -> str:
        """The decision in words: what is compared, and what that means for a case."""
        c = self.costs
        miss, alarm = (_sum(one, b) for one, b in ((c.fn, c.tp), (c.fp, c.tn)))
        if self.threshold == inf and not self.confusion.flagged:
            return "flag nothing"
        if self.threshold == -inf:
            return "flag everything"
        of = f"−{score}" if reverse else score
        return (
            f"flag if odds × {miss} ≥ {self.factor:.4g} × {alarm} "
            f"(exactly: LLR({of}) + ln({miss} / {alarm}) ≥ {self.threshold!r})"
        )

    def decide(
        self, scores: ArrayLike, columns: Mapping[str, ArrayLike] | None = None
    ) -> NDArray[np.bool_]:
        """Whether to flag each score, by the costs of its row. NaN is refused."""
        calibrator = None if self.rows is None else self.rows.calibrator
        if calibrator is None:
            why = "are not known without the calibrator"
            raise UndefinedError(Undefined("decisions", why, "Use decide of the policy."))
        gap = gaps_of(self.costs, calibrator, scores, columns)
        return flags(gap, self.threshold)

    @property
    def total(self) -> float:
        """What the decisions cost in all on these rows."""
        return sum(self.money.by_class(self.cut))

    @property
    def baselines(self) -> dict[str, float]:
        """What flagging nothing, and everything, costs in all on these rows."""
        none, everything = self.money.alike
        return {"flag none": none, "flag all": everything}

    @property
    def trivial_costs(self) -> dict[str, float] | None:
        """What a case costs if all are decided alike."""
        return self.money.trivial(self.question.prior)

    @property
    def simpler_costs(self) -> dict[str, float]:
        """The same, and of the best single threshold on the score: what that is expected to cost on
        new rows, where it is known."""
        out = dict(self.money.trivial(self.question.prior))
        uniform = self.uniform_cost
        return out if uniform is None else {"uniform": uniform} | out

    @derived
    def uniform(self) -> Uniform | None:
        """The best single threshold on the score under the same limits, to compare with; None for
        limits on clusters or periods."""
        rows, q = self.rows, self.question
        found = None if rows is None else best_uniform(rows, q)
        if rows is None or rows.score is None or found is None:
            return self.stored
        cost = rows.outcomes((rows.score >= found).astype(np.float64))
        return Uniform(found, _mean(rows, cost, q.prior))

    @property
    def uniform_cost(self) -> float | None:
        """What a case costs by the best single threshold: on new rows, or else on these."""
        if self.uniform is None:
            return None
        known = isinstance(self.among, Promised) or self.trivial or self._many
        chosen = None if known else self.chosen
        if not isinstance(chosen, CrossFit):
            return self.uniform.value
        return chosen.uniform_cost

    @property
    def money_lines(self) -> tuple[str, ...]:
        """What it costs in all, and per period."""
        none, everything = (number_text(cost) for cost in self.baselines.values())
        rows = self.question.prior is None
        lines = [
            f"in all on these rows: {number_text(self.total)}; flagging none: {none}, flagging "
            f"all: {everything}"
        ]
        each = self.expect_per_period()
        if each is not None:
            unit = getattr(self.question.periods, "unit", None) or "period"
            text = estimate_text(each.value, Interval(*each[1:]))
            lines.append(f"per {unit}: {text} expected on new {unit}s")
        return tuple(lines) if rows else tuple(lines[1:])

    @derived
    def baseline(self) -> Baseline | None:
        """What flagging everything or nothing would cost, whichever is less, and the difference
        that is expected on new rows; None if limits allow neither."""
        q = self.question
        values = self.money.trivial(q.prior)
        limits = [q.on_all_rows(limit) for limit in q.limits]
        allowed = [
            (values[name], name)
            for name, does in self.alike.items()
            if all(limit.holds(limit.sees(does, does)) for limit in limits)
        ]
        if not allowed:
            return None
        value, name = min(allowed)
        with suppress(CutscoreError):
            saved = self.expect_saving(name)
            if saved is not None:
                less = Expected(-saved.value, -saved.high, -saved.low, saved.level)
                return Baseline(name, value, less)
        return Baseline(name, value, None)

    def expect_saving(self, baseline: str = "flag none", *, level: float = 0.95) -> Expected | None:
        """What a case costs less on new rows than where all are decided alike, with its interval:
        the choice is made again on folds.

        Parameters
        ----------
        baseline
            ``"flag none"`` or ``"flag all"``.
        level
            Confidence level of the interval.
        """
        one_of("baseline", baseline, ("flag none", "flag all"))
        if isinstance(self.among, Promised):
            return self.among.promises.get("saving") if baseline == "flag none" else None
        if self.trivial or self._many:
            return self._saving_as_given(baseline, level)
        chosen = self.chosen
        return chosen.saving(baseline, level) if isinstance(chosen, CrossFit) else None

    @derived
    def curve(self) -> MoneyCurve:
        """What every cut costs on the rows, by how many of them are flagged."""
        m, s, prior = self.money, self.sweep, self.question.prior
        P, N = float(s.P), float(s.N)
        share = P / (P + N) if prior is None else prior
        tp, fp = from_zero(s.tp), from_zero(s.fp)
        gain, loss = (sums_from_zero(mass) / m.scale for mass in (m.gain, m.loss))
        none = m.value(0, prior)
        return MoneyCurve._adopt(
            np.append(inf, s.threshold),
            share * tp / P + (1 - share) * fp / N,
            none - share * gain / P + (1 - share) * loss / N,
        )

    @property
    def uniform_saving(self) -> float | None:
        """What a case is expected to cost less on new rows than by the best single threshold on the
        score; None if the rows are not known.

        It has no interval. The best single threshold differs from sample to sample, which no error
        of rows or folds shows: intervals of 95 % contained the truth in 86 to 96 %.
        """
        uniform, expected = self.uniform_cost, self.expected
        return None if uniform is None or expected is None else uniform - expected.value

    def saving_as_given(self, level: float = 0.95) -> Expected:
        """What a case costs less than where nothing is flagged, with its interval as at a threshold
        that was given, not chosen."""
        return self._saving_as_given("flag none", level)

    def _saving_as_given(self, baseline: str, level: float) -> Expected:
        if self._here is not None:
            return self._here.saving(baseline, level)
        return self._interval(self.money.moments(self.cut, baseline), level)

    def expect_per_period(self, *, level: float = 0.95) -> Expected | None:
        """What a period costs on new rows, with its interval over periods; None if the period of
        each row is not known."""
        periods = self.question.periods
        if periods is None or self.rows is None:
            return None
        chosen = self.chosen
        return chosen.per_period(len(periods), level) if isinstance(chosen, CrossFit) else None

    def as_given(self, goal: Objective, level: float = 0.95, method: str | None = None) -> Expected:
        """A measure with its interval as at a threshold that was given, not chosen."""
        if not isinstance(goal, Costs) or not goal.by_row:
            return super().as_given(goal, level, method)
        self._check_costs(goal)
        if self._here is not None:
            return at_least_0(self._here.of_costs(level), goal)
        return at_least_0(self._interval(self.money.moments(self.cut), level), goal)

    @derived
    def _here(self) -> CrossFit | None:
        """The decisions about the rows themselves, in place of those about parts left out."""
        if self.rows is None:
            return None
        flagged = flags(self.rows.gap, self.threshold).astype(np.float64)
        return CrossFit._adopt(self.rows, self.question.prior, flagged, flagged)

    def _interval(self, parts: tuple[Moments, Moments], level: float) -> Expected:
        prior = self.question.prior
        if prior is not None:
            return mean_interval([(prior, parts[0]), (1 - prior, parts[1])], level)
        return mean_interval([(1.0, _together(*parts, self.sweep.prevalence))], level)

    def _check_costs(self, goal: Costs) -> None:
        if goal != self.costs:
            rule = "be those that the decision was chosen for: others need the rows"
            raise DataError(BadArgument("costs", rule, goal))

    def _expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        if isinstance(goal, Costs) and goal.by_row:
            self._check_costs(goal)
        elif isinstance(goal, Costs):
            return None
        if isinstance(self.among, Promised):
            return self.among.expect(goal, level)
        if self.trivial or self._many:
            with suppress(CutscoreError):
                return self.as_given(goal, level)
            return None
        found = self.chosen
        return None if found is None else found.expect(goal, level)

    @property
    def _many(self) -> bool:
        return is_large(self.sweep) or float(self.sweep.P + self.sweep.N) > MOST

    @property
    def typical(self) -> Confusion | None:
        """What to expect of as many new rows as these."""
        if isinstance(self.among, Promised):
            return self.among.confusion_of(self.confusion)
        if self.trivial or self._many:
            return self.confusion
        return None if self.chosen is None else self.chosen.confusion

    def _choose_again(self) -> Chosen | None:
        rows = RowCosts.of_money(self.costs, self.money) if self.rows is None else self.rows
        if rows is None or self._many:
            return None
        uniform = None if self.uniform is None else self.uniform.threshold
        return cross_fit(rows, self.question, self.threshold, uniform)

    @property
    def findings(self) -> tuple[Notice, ...]:
        """What should be known: that few positives have most of the money."""
        rows = self.money.effective_positives
        return (FewAmounts(rows),) if 0 < rows < FEWEST else ()


def _sum(cost: object, benefit: float) -> str:
    """What is at stake, as a factor of a product."""
    text = cost_text(cost)
    if benefit:
        text += f" {'-' if benefit < 0 else '+'} {abs(benefit):g}"
    single = text.isidentifier() or text.replace(".", "").isdigit()
    return text if single else f"({text})"


def _together(a: Moments, b: Moments, share: float) -> Moments:
    """The moments of two kinds of rows as one, of which the first has such a share of the mass."""
    n, mean = a.rows + b.rows, share * a.mean + (1 - share) * b.mean
    second = third = fourth = 0.0
    for m, part in ((a, share), (b, 1 - share)):
        d = m.mean - mean
        v = m.variance * max(m.rows - 1, 0) / max(m.rows, 1)
        second += part * (v + d * d)
        third += part * (m.third + 3 * d * v + d**3)
        fourth += part * (m.fourth + 4 * d * m.third + 6 * d * d * v + d**4)
    return Moments(n, mean, second * n / max(n - 1, 1), third, fourth)


def point_of_rows(rows: RowCosts, q: Aim, threshold: float | None = None) -> RowCostPoint:
    """The best cut for rows, or one that is given."""
    money = MoneySweep.of(rows)
    point = point_of_money(money, q, threshold)
    return replace(point, rows=rows)


def point_of_money(money: MoneySweep, q: Aim, threshold: float | None = None) -> RowCostPoint:
    """The same of money alone."""
    s = money.counts
    s.needs_rows("an operating point")
    if q.prior is not None:
        s.needs_both_classes("an operating point for another prior")
    rules, feasible = rules_of(s, q), True
    if threshold is None:
        cut, feasible = choose_cut(money, q, rules)
        threshold = place_threshold(s, cut, rules)
    else:
        cut = int(s.cuts(on_grid(np.array([threshold])))[0])
    tp, fp = (mass.item() for mass in s.flagged(np.array([cut])))
    confusion = Confusion(tp, fp, s.P - tp, s.N - fp)
    status = limit_statuses(q, rules, threshold, confusion)
    feasible = feasible and all(one.holds for one in status)
    value = money.value(cut, q.prior)
    return RowCostPoint(threshold, confusion, value, feasible, status, cut, s, q, money=money)


def _mean(rows: RowCosts, cost: Floats, prior: float | None) -> float:
    w = np.ones(len(cost)) if rows.weight is None else rows.weight
    if prior is None:
        return float(np.average(cost, weights=w))
    return sum(
        share * float(np.average(cost[of], weights=w[of]))
        for of, share in ((rows.positive, prior), (~rows.positive, 1 - prior))
    )
