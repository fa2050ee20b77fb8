"""What is at stake in rows whose errors cost different amounts, and the sweep of that money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Calibrator
from cutscore.calibration.fitting import calibrate
from cutscore.calibration.methods import candidate
from cutscore.core import _native
from cutscore.core.checks import as_vector, score_column
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import ValueMissing
from cutscore.core.findings.statistics import Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.types import ArrayLike
from cutscore.decision.choice import place_threshold, rules_of
from cutscore.decision.search import (
    SomeCuts,
    all_cuts,
    allowed_of,
    block_ends,
    bounded,
    cuts_in,
    first_of_best,
    linear_value,
    promising,
)
from cutscore.inference.guarantee import Rule
from cutscore.inference.means import Moments, blocks_of
from cutscore.inference.placements import effective
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Costs, Stakes
from cutscore.sweeps.curves import sums_from_zero
from cutscore.sweeps.sweep import EqualRows, Floats, Sweep, square_weights, sweep

Bools = NDArray[np.bool_]

FREE = 1e-300
"""What a false alarm that costs nothing counts as."""
GRID = 2.0**36
"""Gaps are multiples of 1/GRID."""
# Gaps from which on most cuts are excluded by bounds rather than looked at.
_MANY = 1 << 15


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
    out = np.empty(len(llr))
    for part in blocks_of(len(llr)):
        miss, alarm = stakes.miss[part], np.maximum(stakes.alarm[part], FREE)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = on_grid(llr[part] - (np.log(alarm) - np.log(miss)))
        gap[~(miss > 0) | np.isnan(gap)] = -inf
        out[part] = gap
    return out


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
    return gaps(np.asarray(calibrator.llr(x)), stakes)


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
        gap = gaps(np.asarray(calibrator.llr(score)), stakes)
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

    @derived
    def stake(self) -> Floats:
        """What is lost by a wrong decision about each row."""
        return np.where(self.positive, self.miss, self.alarm)

    @derived
    def scale(self) -> int:
        """How many units of money one has; see :class:`MoneySweep`."""
        return scale_of(self.stake)

    @derived
    def units(self) -> Floats:
        """What is at stake in each row, in units of 1/scale, times its weight."""
        units = self.stake
        if self.scale > 1:
            units = np.multiply(units, self.scale)
            np.rint(units, out=units)
        return units if self.weight is None else units * self.weight

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
        llr = np.asarray(calibrator.llr(self.score))
        gap = gaps(llr, Stakes(self.miss, self.alarm))
        return replace(self, calibrator=calibrator, gap=gap)

    def outcomes(self, flagged: Floats) -> Floats:
        """What each row costs if so much of it is flagged: a share from 0 to 1."""
        c, out = self.costs, np.empty(len(flagged))
        for part in blocks_of(len(flagged)):
            y, share = self.positive[part], flagged[part]
            wrong = np.where(y, 1 - share, share)
            out[part] = wrong * self.stake[part] - np.where(y, c.tp, c.tn)
        return out

    def saved(self, flagged: Floats, baseline: float) -> Floats:
        """What each row costs less than if such a share of it were flagged."""
        out = np.empty(len(flagged))
        for part in blocks_of(len(flagged)):
            moved = flagged[part] - baseline
            out[part] = np.where(self.positive[part], moved, -moved) * self.stake[part]
        return out


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
        The rows, of which squares are summed when they are asked for; None of a policy, and of
        scores in place of gaps.
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
    def of(cls, rows: RowCosts) -> MoneySweep:
        """Of rows by their gaps."""
        counts = sweep(rows.positive, rows.gap, rows.weight, squares=rows.weight is not None)
        gain, loss = _masses_at(counts, rows, rows.gap, rows.units)
        return cls._adopt(counts, gain, loss, rows.scale, rows.costs.tp, rows.costs.tn, rows)

    @classmethod
    def by_score(cls, rows: RowCosts) -> MoneySweep:
        """Of rows by their scores, in place of gaps."""
        assert rows.score is not None
        gain, loss = _masses_at(rows.scores, rows, rows.score, rows.units)
        return cls._adopt(rows.scores, gain, loss, rows.scale, rows.costs.tp, rows.costs.tn)

    @derived
    def squares(self) -> tuple[Floats, Floats]:
        """Sums of squares of what the positives of each gap gain, and the negatives lose."""
        if self.stored is not None:
            return self.stored
        rows = self.rows
        assert rows is not None
        return _masses_at(self.counts, rows, rows.gap, square_weights(rows.units))

    @property
    def effective_positives(self) -> float:
        """As how many positives of equal amounts they count."""
        if self.rows is None:
            squares = float(self.squares[0].sum())
        else:
            squares = float(np.sum(np.square(self.rows.units[self.rows.positive])))
        return effective(float(self.gain.sum()), squares)

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


def _masses_at(
    counts: Sweep, rows: RowCosts, order: Floats, money: Floats
) -> tuple[Floats, Floats]:
    """The money of both classes, or its squares, at each gap or score of the rows."""
    if not (money > 0).any():
        return np.zeros(len(counts)), np.zeros(len(counts))
    there = sweep(rows.positive, order, money)
    if len(there) == len(counts):
        return there.pos, there.neg
    # Where nothing is at stake there is no money.
    at = _native.weighted_count_below(-counts.threshold, -there.threshold, False)
    out = np.zeros((2, len(counts)))
    out[:, at] = there.pos, there.neg
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
    >>> from cutscore.decision.money import scale_of
    >>> scale_of(np.array([2.5, 19.99, 0.1 + 0.2])), scale_of(np.array([1 / 3]))
    (100, 1)
    """
    for scale in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        if _whole(amounts, scale):
            return scale if float(amounts.sum()) * scale < 2.0**53 else 1
    return 1


def _whole(amounts: Floats, scale: int) -> bool:
    """Whether all are multiples of 1/scale, to the last bits."""
    for some in (amounts[part] for part in blocks_of(len(amounts))):
        off = np.abs(np.rint(some * scale) / scale - some)
        if not (off <= 2 * np.spacing(some)).all():
            return False
    return True


def choose_cut(money: MoneySweep, q: Aim, rules: Sequence[Rule]) -> tuple[int, bool]:
    """The best of all cuts that the limits allow: how many of the gaps are flagged. If they allow
    none, the best of the nearest, and False."""
    s = money.counts
    worth = None
    if q.prior is not None:
        prior = Fraction(repr(q.prior))
        worth = prior / Fraction(s.P), (1 - prior) / Fraction(s.N)
    few = len(s) > _MANY and bounded(rules)
    cuts, gain, loss = _promising(money, q, rules, worth) if few else _all_cuts(money, q)
    ok, feasible = allowed_of(s, cuts, rules)
    if few and not feasible:  # the nearest to being allowed may be any
        cuts, gain, loss = _all_cuts(money, q)
        ok, feasible = allowed_of(s, cuts, rules)
    allowed = np.flatnonzero(ok)
    gain, loss = gain[allowed], loss[allowed]
    if worth is None:
        value = gain - loss
    else:
        totals = float(money.gain.sum()), float(money.loss.sum())
        value = linear_value(worth, totals, gain, loss)
    return int(cuts.cut[allowed[first_of_best(value, cuts.c.fp[allowed])]]), feasible


def _all_cuts(money: MoneySweep, q: Aim) -> tuple[SomeCuts, Floats, Floats]:
    """All cuts, with the money that they gain and lose."""
    gain, loss = (sums_from_zero(one) for one in (money.gain, money.loss))
    return SomeCuts(money.counts, q, *all_cuts(money.counts)), gain, loss


def _promising(
    money: MoneySweep, q: Aim, rules: Sequence[Rule], worth: tuple[Fraction, Fraction] | None
) -> tuple[SomeCuts, Floats, Floats]:
    """Those of some blocks, one of which is the best: no cut of a block gains more than its last,
    nor loses less than the block before."""
    s = money.counts
    b = s.blocks
    gain, loss = (
        sums_from_zero(np.add.reduceat(one, b.cut[:-1])) for one in (money.gain, money.loss)
    )
    x, y = (1.0, 1.0) if worth is None else (float(one / max(worth)) for one in worth)
    values = x * gain - y * loss, x * gain[1:] - y * loss[:-1]
    size = float(x * gain[-1] + y * loss[-1])
    some = promising(s, block_ends(s, q), rules, values, size)
    columns = ((s.pos, b.tp), (s.neg, b.fp), (money.gain, gain), (money.loss, loss))
    cut, tp, fp, gained, lost = cuts_in(s, some, *columns)
    return SomeCuts(s, q, cut, tp, fp), gained, lost


def choose_threshold(money: MoneySweep, q: Aim) -> float:
    """The threshold of that cut."""
    s = money.counts
    s.needs_rows("an operating point")
    if q.prior is not None:
        s.needs_both_classes("an operating point for another prior")
    rules = rules_of(s, q)
    return place_threshold(s, choose_cut(money, q, rules)[0], rules)


def best_uniform(rows: RowCosts, q: Aim) -> float | None:
    """The best single threshold on the score, under the same limits; None if none is allowed, and
    for limits on clusters and periods, which are known by the gaps."""
    of_units = q.units is not None and q.confidence is not None
    if rows.score is None or (q.limits and (q.periods is not None or of_units)):
        return None
    money = MoneySweep.by_score(rows)
    q = replace(q, periods=None, units=None)
    rules = rules_of(money.counts, q)
    cut, feasible = choose_cut(money, q, rules)
    return place_threshold(money.counts, cut, rules) if feasible else None
