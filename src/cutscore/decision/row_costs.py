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

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Calibrator
from cutscore.calibration.fitting import calibrate
from cutscore.calibration.methods import candidate
from cutscore.core import _native
from cutscore.core.checks import as_vector, one_of, score_column
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Where
from cutscore.core.findings.report import FewAmounts, Notice
from cutscore.core.findings.rows import ValueMissing
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
from cutscore.decision.search import allowed_cuts, first_of_best, linear_value
from cutscore.inference.guarantee import Rule, split_error
from cutscore.inference.means import Moments, mean_interval
from cutscore.inference.periods import Periods, ratio_over
from cutscore.inference.placements import effective
from cutscore.inference.selection import Expected, effort, is_large, ratio_cells
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs, Stakes, cost_text
from cutscore.measures.limits import Limit
from cutscore.measures.prior import log_odds
from cutscore.measures.registry import Objective
from cutscore.sweeps.curves import from_zero
from cutscore.sweeps.sweep import EqualRows, Floats, Sweep, sweep

if TYPE_CHECKING:
    from cutscore.decision.choice import Chosen

Bools = NDArray[np.bool_]

FEWEST = 10
"""If the money at stake comes from fewer positives than this, effectively, its interval may be too
narrow."""


FREE = 1e-300
"""What a false alarm that costs nothing counts as."""
GRID = 2.0**36
"""Gaps are multiples of 1/GRID."""


def on_grid(gap: Floats) -> Floats:
    """The nearest multiples of 1/GRID."""
    return np.asarray(np.rint(gap * GRID) / GRID)


def flags(gap: Floats, threshold: float) -> Bools:
    """Whether gaps are at or above a threshold, which counts as the nearest gap there can be."""
    return np.asarray(gap >= on_grid(np.array([threshold]))[0])


def gaps(llr: Floats, stakes: Stakes) -> Floats:
    """How far the odds of each row are above those from which flagging pays at even odds, as
    logarithms; −inf where flagging gains nothing, since then it is left alone. A false alarm that
    costs nothing counts as FREE, so that such rows are still in order of their odds.

    Gaps are rounded to multiples of 1/GRID: rows of the same odds and the same ratio of costs have
    one gap, whatever their amounts and the errors of floats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        alarm = np.maximum(stakes.alarm, FREE)
        gap = on_grid(llr - (np.log(alarm) - np.log(stakes.miss)))
    gap[~(stakes.miss > 0) | np.isnan(gap)] = -inf
    return np.asarray(gap, np.float64)


def gaps_of(
    costs: Costs,
    calibrator: Calibrator,
    scores: ArrayLike,
    columns: Mapping[str, ArrayLike] | None,
) -> Floats:
    """The gap of each row, by scores of which high ones mean positive."""
    x = score_column(as_vector(scores, "score"))
    missing = np.isnan(x)
    if missing.any():
        raise DataError(ValueMissing("score", "NaN", where=Where(int(missing.argmax()), "score")))
    stakes = costs.stakes(len(x), columns)
    return gaps(np.array(calibrator.llr(x), np.float64), stakes)


_COLUMNS = ("positive", "score", "miss", "alarm", "gap", "weight", "unit", "period")


@dataclass(frozen=True, eq=False, repr=False)
class RowCosts(Frozen):
    """Rows with what is at stake in each.

    Parameters
    ----------
    costs : Costs
        The costs.
    positive : array of bool
        Whether each row is positive.
    score : array of float or None
        Its score; None of a policy from a file.
    miss, alarm : array of float
        What it gains by being flagged if it is positive, and loses by it if it is negative.
    gap : array of float
        See :func:`gaps`.
    calibrator : Calibrator or None
        From the score to the LLR.
    method : str or None
        How to fit the calibrator to other rows; None if it was given.
    weight : array of float, optional
        The weight of each row.
    unit, period : array of int, optional
        The cluster and the period of each row, from 0 on.
    """

    costs: Costs
    positive: Bools
    score: Floats | None
    miss: Floats
    alarm: Floats
    gap: Floats
    calibrator: Calibrator | None
    method: str | None = None
    weight: Floats | None = None
    unit: NDArray[np.int64] | None = None
    period: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        costs: Costs,
        positive: Bools,
        score: Floats,
        stakes: Stakes,
        calibrator: Calibrator | str,
        **more: NDArray[Any] | None,
    ) -> RowCosts:
        """Of checked columns."""
        method = s = None
        if isinstance(calibrator, str):
            s = sweep(positive, score, more.get("weight"))
            s.needs_both_classes("a decision by the costs of each row")
            asked, calibrator = calibrator, calibrate(s, calibrator)
            comparison = getattr(calibrator, "comparison", None)
            method = asked if comparison is None else comparison.chosen
        gap = gaps(np.array(calibrator.llr(score), np.float64), stakes)
        out = cls._adopt(costs, positive, score, *stakes, gap, calibrator, method, **more)
        if s is not None and not s.weighted:
            vars(out)["scores"] = s
        return out

    @derived
    def scores(self) -> Sweep:
        """The sweep of the scores."""
        if self.score is None:
            raise UndefinedError(Undefined("the sweep of the scores", "needs the rows"))
        return sweep(self.positive, self.score, self.weight, squares=self.weight is not None)

    @classmethod
    def of_money(cls, costs: Costs, money: MoneySweep) -> RowCosts | None:
        """The rows of a file that has what is at stake at each gap: those of one gap and class
        share it evenly. None if they have weights."""
        s = money.counts
        if s.weighted:
            return None
        gap = np.append(np.repeat(s.threshold, s.pos), np.repeat(s.threshold, s.neg))
        miss, alarm = (
            np.repeat(np.divide(mass, rows, where=rows > 0, out=mass * 0.0) / money.scale, rows)
            for mass, rows in ((money.gain, s.pos), (money.loss, s.neg))
        )
        positive = np.arange(len(gap)) < len(miss)
        stakes = [np.zeros(len(gap)) for _ in range(2)]
        stakes[0][positive], stakes[1][~positive] = miss, alarm
        return cls._adopt(costs, positive, None, *stakes, gap, None)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.gap)

    def __repr__(self) -> str:
        return f"{len(self):,} rows with {self.costs!r}"

    @property
    def stake(self) -> Floats:
        """What is lost by a wrong decision about each row."""
        return np.where(self.positive, self.miss, self.alarm)

    def at(self, rows: NDArray[Any]) -> RowCosts:
        """Some of the rows."""
        columns: Any = {
            name: None if (column := getattr(self, name)) is None else column[rows]
            for name in _COLUMNS
        }
        return replace(self, **columns)

    def recalibrated(self, train: NDArray[np.intp]) -> RowCosts:
        """The same rows with a calibrator that was fitted to some of them."""
        if self.method is None or self.score is None:
            return self
        w = None if self.weight is None else self.weight[train]
        s = sweep(self.positive[train], self.score[train], w)
        fit = candidate if self.method not in ("auto", "logistic", "gaussian") else calibrate
        calibrator = fit(s, self.method)
        llr = np.array(calibrator.llr(self.score), np.float64)
        gap = gaps(llr, Stakes(self.miss, self.alarm))
        return replace(self, calibrator=calibrator, gap=gap)

    def outcomes(self, flagged: Floats) -> Floats:
        """What each row costs if so much of it is flagged: a share from 0 to 1."""
        c = self.costs
        return np.where(
            self.positive, self.miss * (1 - flagged) - c.tp, self.alarm * flagged - c.tn
        )


@dataclass(frozen=True, eq=False, repr=False)
class MoneySweep(Frozen):
    """What flagging the rows of each gap is worth; money is counted in units of 1/scale.

    Parameters
    ----------
    counts : Sweep
        The rows at each gap.
    gain, loss : array of float
        What the positives of each gap gain by being flagged, and the negatives lose: whole numbers
        if ``scale`` makes whole numbers of all amounts.
    scale : int
        How many units one has: 100 if costs are in cents.
    tp, tn : float
        Benefits of the right decision, which are the same for all rows.
    rows : RowCosts or None
        The rows, of which squares are summed when they are asked for; None of a policy.
    stored : (array of float, array of float) or None
        Sums of squares of gains and losses, if there are no rows.
    """

    counts: Sweep
    gain: Floats
    loss: Floats
    scale: int = 1
    tp: float = 0.0
    tn: float = 0.0
    rows: RowCosts | None = None
    stored: tuple[Floats, Floats] | None = None

    @classmethod
    def of(cls, rows: RowCosts, counts: Sweep | None = None) -> MoneySweep:
        """Of rows, whose sweep by gap may be known."""
        if counts is None:
            counts = sweep(rows.positive, rows.gap, rows.weight, squares=rows.weight is not None)
        stake = rows.stake
        scale = scale_of(stake)
        gain, loss = _masses_at(counts, _sweep_money(rows, stake, scale))
        return cls._adopt(counts, gain, loss, scale, rows.costs.tp, rows.costs.tn, rows)

    @derived
    def squares(self) -> tuple[Floats, Floats]:
        """Sums of squares of what the positives of each gap gain, and the negatives lose."""
        if self.stored is not None:
            return self.stored
        rows = self.rows
        assert rows is not None
        money = _sweep_money(rows, rows.stake, self.scale, squares=True)
        return _masses_at(self.counts, money, squares=True)

    @property
    def alike(self) -> tuple[float, float]:
        """What flagging nothing costs in all, and flagging everything."""
        s = self.counts
        missed = float(self.gain.sum()) / self.scale - self.tp * float(s.P)
        alarms = float(self.loss.sum()) / self.scale - self.tn * float(s.N)
        return missed - self.tn * float(s.N), alarms - self.tp * float(s.P)

    def by_class(self, cut: int) -> tuple[float, float]:
        """What positives and negatives cost in all, where so many of the gaps are flagged."""
        s = self.counts
        missed = float(self.gain[cut:].sum()) / self.scale - self.tp * float(s.P)
        return missed, float(self.loss[:cut].sum()) / self.scale - self.tn * float(s.N)

    def value(self, cut: int, prior: float | None) -> float:
        """The cost per case, where the share ``prior`` is positive."""
        missed, alarms = self.by_class(cut)
        return _per_case(missed, alarms, self.counts, prior)

    def trivial(self, prior: float | None) -> dict[str, float]:
        """The cost per case of flagging nothing, and everything."""
        cuts = {"flag none": 0, "flag all": len(self.counts)}
        return {name: self.value(cut, prior) for name, cut in cuts.items()}

    def moments(self, cut: int, baseline: str | None = None) -> tuple[Moments, Moments]:
        """The moments of what positives and negatives cost; or of what they cost less than where
        nothing is flagged, or everything."""
        s, flagged = self.counts, np.arange(len(self.gain)) < cut
        signs = {None: (1, 1), "flag none": (1, -1), "flag all": (-1, 1)}[baseline]
        missed, alarms = baseline != "flag none", baseline != "flag all"
        gain2, loss2 = self.squares
        sides = (
            (s.pos, s.pos2, self.gain, gain2, flagged != missed, signs[0], -self.tp),
            (s.neg, s.neg2, self.loss, loss2, flagged == alarms, signs[1], -self.tn),
        )
        out = []
        for rows, rows2, mass, square, counted, sign, shift in sides:
            some = counted & (mass > 0)
            equal = EqualRows.made(mass[some], square[some])
            total = float(np.sum(rows))
            # Rows with weights are taken for the effective number of rows, of equal weights.
            number = total if rows2 is None else effective(total, float(np.sum(rows2)))
            number = max(round(number), int(equal.rows.sum()))
            each = sign * equal.each / self.scale * (number / total if total else 1.0)
            values = np.append(each, 0.0) + (0.0 if baseline else shift)
            out.append(Moments.of(values, np.append(equal.rows, number - equal.rows.sum())))
        return out[0], out[1]


def _sweep_money(
    rows: RowCosts, stake: Floats, scale: int, *, squares: bool = False
) -> Sweep | None:
    """What is at stake at each gap, in units of 1/scale; None if nothing is."""
    units = np.rint(stake * scale) if scale > 1 else stake
    units = units if rows.weight is None else units * rows.weight
    return sweep(rows.positive, rows.gap, units, squares=squares) if (units > 0).any() else None


def _masses_at(
    counts: Sweep, money: Sweep | None, *, squares: bool = False
) -> tuple[Floats, Floats]:
    """The money of both classes, or its squares, at each gap of the rows."""
    if money is None:
        return np.zeros(len(counts)), np.zeros(len(counts))
    masses = money.squares("money") if squares else (money.pos, money.neg)
    if len(money) == len(counts):
        return masses
    # Where nothing is at stake there is no money.
    at = _native.weighted_count_below(-counts.threshold, -money.threshold, False)
    out = np.zeros((2, len(counts)))
    out[:, at] = masses
    return out[0], out[1]


def _per_case(missed: float, alarms: float, s: Sweep, prior: float | None) -> float:
    if prior is None:
        return (missed + alarms) / float(s.P + s.N)
    return prior * missed / float(s.P) + (1 - prior) * alarms / float(s.N)


def scale_of(amounts: Floats) -> int:
    """The smallest power of ten up to 10⁶ that makes whole numbers of all amounts, but for the
    rounding of float64, so that their sums are exact; 1 if none does.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.decision.row_costs import scale_of
    >>> scale_of(np.array([2.5, 19.99, 0.1 + 0.2])), scale_of(np.array([1 / 3]))
    (100, 1)
    """
    for scale in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        if _whole(amounts[:1000], scale) and _whole(amounts, scale):
            return scale if float(amounts.sum()) * scale < 2.0**53 else 1
    return 1


def _whole(amounts: Floats, scale: int) -> bool:
    """Whether all are multiples of 1/scale, to the last bits."""
    off = np.abs(np.rint(amounts * scale) / scale - amounts)
    return bool((off <= 2 * np.spacing(amounts)).all())


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
        found = None if rows is None else _best_uniform(rows, q)
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
        gain, loss = (from_zero(np.cumsum(mass)) / m.scale for mass in (m.gain, m.loss))
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
        rows = effective(float(self.money.gain.sum()), float(self.money.squares[0].sum()))
        return (FewAmounts(rows),) if 0 < rows < FEWEST else ()


def at_least_0(cost: Expected, costs: Costs) -> Expected:
    """A cost with its interval; without benefits it can't be negative."""
    low = cost.low if costs.tp or costs.tn else max(cost.low, 0.0)
    return cost._replace(low=low)


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


def choose_cut(money: MoneySweep, q: Aim, rules: Sequence[Rule]) -> tuple[int, bool]:
    """The best of all cuts that the limits allow: how many of the gaps are flagged. If they allow
    none, the best of the nearest, and False."""
    s = money.counts
    ok, feasible = allowed_cuts(s, q, rules)
    gain, loss = (from_zero(np.cumsum(one)) for one in (money.gain, money.loss))
    totals, fp = (float(gain[-1]), float(loss[-1])), from_zero(s.fp)
    allowed = None if ok.all() else np.flatnonzero(ok)
    if allowed is not None:
        gain, loss, fp = gain[allowed], loss[allowed], fp[allowed]
    if q.prior is None:
        value = gain - loss
    else:
        prior = Fraction(repr(q.prior))
        worth = prior / Fraction(s.P), (1 - prior) / Fraction(s.N)
        value = linear_value(worth, totals, gain, loss)
    k = first_of_best(value, fp)
    return k if allowed is None else int(allowed[k]), feasible


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


def _best_uniform(rows: RowCosts, q: Aim) -> float | None:
    """The best single threshold on the score, under the same limits; None if none is allowed, and
    for limits on clusters and periods, which are known by the gaps."""
    if rows.score is None or (q.limits and (q.periods is not None or q.units is not None)):
        return None
    money = MoneySweep.of(replace(rows, gap=rows.score), rows.scores)
    q = replace(q, periods=None, units=None)
    rules = rules_of(money.counts, q)
    cut, feasible = choose_cut(money, q, rules)
    return place_threshold(money.counts, cut, rules) if feasible else None


def _mean(rows: RowCosts, cost: Floats, prior: float | None) -> float:
    w = np.ones(len(cost)) if rows.weight is None else rows.weight
    if prior is None:
        return float(np.average(cost, weights=w))
    return sum(
        share * float(np.average(cost[of], weights=w[of]))
        for of, share in ((rows.positive, prior), (~rows.positive, 1 - prior))
    )


# ----------------------------------------------------------------------------- expected on new rows

MOST = 1_000_000
"""Of more rows the choice is not made again on folds."""
_FOLDS = 10


@dataclass(frozen=True, eq=False, repr=False)
class CrossFit(Frozen):
    """A decision less what its choice gained on its own rows; made by :func:`cross_fit`.

    Choices on nine tenths of the rows are judged on these and on the tenth left out. Row by row,
    the share that flags it where it was left out, less that where it was not, is added to what the
    decision itself does with it: means of such values expect of new rows what this decision, and
    not an average one, will do.

    Parameters
    ----------
    rows : RowCosts
        The rows.
    prior : float or None
        The share of positives that was asked about.
    flagged : array of float
        How much of each row the decision flags, corrected as above: not always from 0 to 1.
    uniform : array of float
        The same of the best single threshold.
    """

    rows: RowCosts
    prior: float | None
    flagged: Floats
    uniform: Floats

    @property
    def confusion(self) -> Confusion:
        """What to expect of as many rows."""
        w = np.ones(len(self.flagged)) if self.rows.weight is None else self.rows.weight
        y = self.rows.positive
        P, N = float(np.sum(w[y])), float(np.sum(w[~y]))
        tp = min(max(float(np.sum(w[y] * self.flagged[y])), 0.0), P)
        fp = min(max(float(np.sum(w[~y] * self.flagged[~y])), 0.0), N)
        return Confusion(tp, fp, P - tp, N - fp)

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """A measure on new rows, with its interval."""
        if isinstance(goal, Costs):
            return at_least_0(self.of_costs(level), goal)
        found = ratio_cells(goal, self.prior)
        if found is None or found[9] != 0 or getattr(goal, "is_count", False):
            return None
        f, y = self.flagged, self.rows.positive
        cells = (f * y, f * ~y, (1 - f) * y, (1 - f) * ~y)
        w = self._weights(found[8])
        up, down = (
            w * sum(number * cell for number, cell in zip(numbers, cells, strict=True))
            for numbers in (found[:4], found[4:8])
        )
        by = self._by
        if by is not None:
            up, down = (np.bincount(by, column).astype(np.float64) for column in (up, down))
        some = down != 0
        if np.count_nonzero(some) < 2 or not np.sum(down) > 1.000001 * np.max(down):
            return None  # a single row, or cluster, is all there is
        # Corrected shares may leave the range of a share where rows are few.
        share = np.clip(np.sum(up[some]) / np.sum(down[some]), 0.0, 1.0)
        found = ratio_over(up[some], down[some], level, goal.name)
        low, high = (float(np.clip(end, 0.0, 1.0)) for end in (found.low, found.high))
        return Expected(float(share), min(low, float(share)), max(high, float(share)), level)

    def of_costs(self, level: float) -> Expected:
        """What a case costs."""
        return self._mean(self.rows.outcomes(self.flagged), level)

    def saving(self, baseline: str, level: float) -> Expected:
        """What a case costs less than where all are decided alike."""
        other = np.full(len(self.flagged), float(baseline == "flag all"))
        return self._mean(self.rows.outcomes(other) - self.rows.outcomes(self.flagged), level)

    @property
    def uniform_cost(self) -> float:
        """What a case costs by the best single threshold."""
        return self._mean(self.rows.outcomes(self.uniform), 0.95).value

    def per_period(self, number: int, level: float) -> Expected | None:
        """What all rows of a period cost, with its interval over periods."""
        period = self.rows.period
        if period is None or number < 2:
            return None
        w = self._weights(-1.0 if self.prior is None else self.prior)
        sums = np.bincount(period, w * self.rows.outcomes(self.flagged), number)
        return mean_interval([(1.0, Moments.of(np.asarray(sums, np.float64)))], level)

    @property
    def _by(self) -> NDArray[np.int64] | None:
        return self.rows.period if self.rows.period is not None else self.rows.unit

    def _weights(self, share: float) -> Floats:
        """The weights of rows, with as large a share of positives as was asked for."""
        w = np.ones(len(self.flagged)) if self.rows.weight is None else self.rows.weight
        if share < 0:
            return w
        y = self.rows.positive
        return w * np.where(y, share / np.sum(w[y]), (1 - share) / np.sum(w[~y])) * np.sum(w)

    def _mean(self, values: Floats, level: float) -> Expected:
        """A mean over rows, by the errors of independent rows or clusters."""
        w, by, y = self._weights(-1.0), self._by, self.rows.positive
        if by is None and self.prior is not None:
            parts = [
                (share, Moments.of(_influence(values[of], w[of])))
                for of, share in ((y, self.prior), (~y, 1 - self.prior))
            ]
            return mean_interval(parts, level)
        w = w if self.prior is None else self._weights(self.prior)
        if by is not None:
            sums, mass = np.bincount(by, w * values), np.bincount(by, w)
            some = mass > 0
            values, w = sums[some] / mass[some], np.asarray(mass[some], np.float64)
        return mean_interval([(1.0, Moments.of(_influence(values, w)))], level)


def _influence(values: Floats, w: Floats) -> Floats:
    """Values of equal weight with the same weighted mean, and the same error of it."""
    mean = float(np.average(values, weights=w))
    return mean + (values - mean) * (w / np.mean(w))


def cross_fit(
    rows: RowCosts, q: Aim, threshold: float, uniform: float | None = None
) -> CrossFit | None:
    """Fit the calibrator and choose the cut on nine tenths of the rows, and decide about all of
    them; ten times in turn, with several assignments of folds. Clusters stay together."""
    of_rows = any(limit.period is None for limit in q.limits)
    if q.confidence is not None and (q.units is not None or (q.periods is not None and of_rows)):
        return None  # what a part of the clusters or periods can guarantee is another question
    y = rows.positive
    by = rows.period if q.periods is not None and rows.period is not None else rows.unit
    rare = min(int(np.count_nonzero(y)), int(np.count_nonzero(~y)))
    folds = min(_FOLDS, rare)
    if folds < 2 or (by is not None and len(np.unique(by)) < folds):
        return None
    aim = _on_rows(q)
    rng = np.random.default_rng(0)
    repeats = max(effort(rare)[0] // 4, 1)
    by_cut, by_score = _Flags.of(len(y)), _Flags.of(len(y))
    with suppress(UndefinedError):
        for _ in range(repeats):
            fold = _folds(rng, y, by, folds)
            for k in range(folds):
                test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
                again = rows.recalibrated(train)
                there = again.at(train)
                share = len(train) / len(y)
                money = MoneySweep.of(there)
                point = point_of_money(money, _scaled(aim, share))
                by_cut.add(flags(again.gap, point.threshold), test, train)
                best = None if uniform is None else _best_uniform(there, _scaled(aim, share))
                if best is not None and rows.score is not None:
                    by_score.add(rows.score >= best, test, train)
        most = rows.score if uniform is not None else None
        return CrossFit._adopt(
            rows,
            q.prior,
            by_cut.corrected(flags(rows.gap, threshold), repeats, folds),
            np.zeros(len(y))
            if most is None or uniform is None
            else by_score.corrected(most >= uniform, repeats, folds),
        )
    return None


class _Flags(NamedTuple):
    """How many choices flagged each row, of those that it was left out of, and of the others."""

    left_out: Floats
    inside: Floats

    @classmethod
    def of(cls, rows: int) -> _Flags:
        return cls(np.zeros(rows), np.zeros(rows))

    def add(self, flagged: Bools, test: NDArray[np.intp], train: NDArray[np.intp]) -> None:
        """One choice more."""
        self.left_out[test] += flagged[test]
        self.inside[train] += flagged[train]

    def corrected(self, flagged: Bools, repeats: int, folds: int) -> Floats:
        """What a decision does, less what its choice gained on its own rows."""
        return flagged + (self.left_out - self.inside / (folds - 1)) / repeats


def _folds(
    rng: np.random.Generator, y: Bools, by: NDArray[np.int64] | None, folds: int
) -> NDArray[np.int64]:
    """The fold of each row: stratified by class, or whole clusters."""
    if by is not None:
        number = int(by.max()) + 1
        return rng.permutation(np.arange(number) % folds)[by]
    out = np.empty(len(y), np.int64)
    for of in (y, ~y):
        at = np.flatnonzero(of)
        out[at] = rng.permutation(np.arange(len(at)) % folds)
    return out


def _on_rows(q: Aim) -> Aim:
    """The aim with limits per period as what they come to on all rows."""
    if not isinstance(q.periods, Periods):
        return replace(q, units=None)
    error = None if q.confidence is None else split_error(q.limits, q.confidence)
    limits = tuple(q.on_all_rows(limit, error) for limit in q.limits)
    return replace(q, limits=limits, confidence=None, units=None, periods=None)


def _scaled(q: Aim, share: float) -> Aim:
    """The aim for a part of the rows: a limit on a count is as much smaller."""

    def scaled(limit: Limit) -> Limit:
        if not limit.measure.is_count:
            return limit
        return replace(limit, bound=limit.bound * share)

    return replace(q, limits=tuple(map(scaled, q.limits)))
