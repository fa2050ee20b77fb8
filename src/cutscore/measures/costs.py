"""What each outcome costs or brings in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import as_vector, number, score_column
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Where, shown
from cutscore.core.findings.rows import LARGEST_STAKE, LengthsDiffer, RowCostUnfit
from cutscore.core.findings.statistics import CostsByRow
from cutscore.core.json import read, read_fields
from cutscore.core.types import ArrayLike
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.expression import Expression, RowValues
from cutscore.measures.prior import check_prior, log_odds
from cutscore.measures.registry import Gains

Floats = NDArray[np.float64]

# Why rows are not reviewed by costs of their own: blocking and reviewing would each have an order
# of rows, so that those that are reviewed lie between two cuts of neither.
BY_ROW = "costs that differ by row have one threshold"
BY_ROW_HINT = "Give numbers for all rows, such as the mean amount, to choose which to review."


class Stakes(NamedTuple):
    """What depends on the decision about each row."""

    miss: Floats
    """What a positive gains by being flagged: fn + tp."""
    alarm: Floats
    """What a negative loses by it: fp + tn."""


@dataclass(frozen=True)
class Costs:
    """What each outcome costs or brings in: the objective of a decision.

    Parameters
    ----------
    fp, fn : float, str or array-like of shape (n,)
        Cost of a false alarm and of a missed positive (λ₋ and λ₊ of the literature). If it differs
        by row: the name of a column, a formula of columns such as ``"0.8*amount + 15"``, or an
        array. See :func:`cutscore.choose_by_row`.
    tp, tn : float, default 0.0
        Benefit of a true positive and of a true negative. A negative benefit is a cost, such as
        that of acting on a case.
    review : float, optional
        Cost of reviewing a case. If it is given there are two cuts: cases are passed, reviewed or
        blocked. ``fp`` is then the cost of a negative that is blocked, ``fn`` that of a positive
        that is passed.
    review_miss : float, default 0.0
        What a reviewed positive costs besides, where reviews are not always right or come late.

    Notes
    -----
    A decision depends on two differences only: what a positive gains by being flagged,
    λ₊ = fn + tp, and what a negative loses by it, λ₋ = fp + tn. Neither may be less than 0.

    Examples
    --------
    >>> import cutscore as cs
    >>> costs = cs.Costs(fp=1, fn=20)
    >>> costs.ratio, round(costs.probability, 4), round(costs.log_odds, 4)
    (0.05, 0.0476, -2.9957)
    >>> round(costs.llr(prior=0.002), 4)  # for scores that are log-likelihood ratios
    3.2169
    >>> round(costs.probability_cost(prior=0.02), 4)  # the axis of cost_curve
    0.2899
    """

    fp: float
    fn: float
    tp: float = 0.0
    tn: float = 0.0
    review: float | None = None
    review_miss: float = 0.0

    if TYPE_CHECKING:  # what users may write; the fields are what became of it

        def __init__(  # noqa: PLR0913, PLR0917 - the fields
            self,
            fp: float | str | Expression | ArrayLike,
            fn: float | str | Expression | ArrayLike,
            tp: float = 0.0,
            tn: float = 0.0,
            review: float | None = None,
            review_miss: float = 0.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "review":
                continue
            if field.name in _OF_ROWS:
                value = _of_row(value, field.name)
            if isinstance(value, (Expression, RowValues)):
                object.__setattr__(self, field.name, value)
                continue
            cost = number(value)
            if not abs(cost) <= 1e100:
                rule, subject = "be a finite number, up to 1e100", f"the cost {field.name}"
                hint = "Only fp and fn can differ by row." if np.ndim(value) else ""
                raise DataError(BadArgument("costs", rule, value, hint, subject))
            object.__setattr__(self, field.name, cost)
        if self.by_row:
            self._check_by_row()
            return
        for what, a, b in (("miss", "fn", "tp"), ("false alarm", "fp", "tn")):
            worth = getattr(self, a) + getattr(self, b)
            if worth < 0:
                rule, subject = "cost at least 0", f"a {what} ({a} + {b})"
                hint = "Costs are positive numbers, fp=1; benefits are tp and tn."
                raise DataError(BadArgument("costs", rule, worth, hint, subject))
        if not self.on_positives + self.on_negatives:
            raise DataError(BadArgument("costs", "be above 0 for at least one error"))
        if min(self.review or 0.0, self.review_miss) < 0:
            raise DataError(BadArgument("costs", "be at least 0 for a review", self.review))
        if self.review is None and self.review_miss:
            rule, hint = "be given together with review", "Add review=0."
            raise DataError(BadArgument("costs", rule, self.review_miss, hint, "review_miss"))

    def _check_by_row(self) -> None:
        if self.review is not None:
            rule = f"be left out: {BY_ROW}"
            raise DataError(BadArgument("costs", rule, self.review, BY_ROW_HINT, "review"))
        for name in ("tp", "tn"):
            if abs(getattr(self, name)) > LARGEST_STAKE:
                rule = f"be at most {LARGEST_STAKE:g} where costs differ by row"
                raise DataError(BadArgument("costs", rule, getattr(self, name), subject=name))

    @property
    def by_row(self) -> bool:
        """Whether they differ by row."""
        return any(isinstance(getattr(self, n), (Expression, RowValues)) for n in _OF_ROWS)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that they are computed from."""
        formulas = (getattr(self, name) for name in _OF_ROWS)
        names = (n for one in formulas if isinstance(one, Expression) for n in one.names)
        return tuple(dict.fromkeys(names))

    def stakes(self, rows: int, columns: Mapping[str, ArrayLike] | None = None) -> Stakes:
        """What a miss and a false alarm cost in each of so many rows, more than the right decision.

        Examples
        --------
        >>> import cutscore as cs
        >>> costs = cs.Costs(fp=2.5, fn="0.8*amount + 15")
        >>> costs.stakes(2, {"amount": [100, 20]})
        Stakes(miss=array([95., 31.]), alarm=array([2.5, 2.5]))
        """
        known = {name: _column(name, rows, columns) for name in self.columns}
        out = []
        for name, benefit in (("fn", self.tp), ("fp", self.tn)):
            value: Any = getattr(self, name)
            if isinstance(value, RowValues):
                if len(value.values) != rows:
                    what = f"value of {name}"
                    raise DataError(LengthsDiffer(what, "score", len(value.values), rows))
                each = value.values
            elif isinstance(value, Expression):
                each = np.broadcast_to(np.asarray(value.evaluate(known), np.float64), rows)
            else:
                each = np.asarray(value, np.float64)
            with np.errstate(all="ignore"):
                worth = np.broadcast_to(each + benefit, rows)  # a number takes no memory for rows
            low, high = (worth.min(), worth.max()) if rows else (0.0, 0.0)
            if not (low >= 0 and high <= LARGEST_STAKE):
                row = int(np.argmin((worth >= 0) & (worth <= LARGEST_STAKE)))
                written = value.text if isinstance(value, Expression) else name
                found = RowCostUnfit(name, written, float(worth[row]), benefit)
                raise DataError(found.at(row=row, parameter=name))
            out.append(worth)
        return Stakes(*out)

    def needs_names(self) -> None:
        """Refuse costs of an array, which no file can name."""
        for name in _OF_ROWS:
            value: Any = getattr(self, name)
            if isinstance(value, RowValues):
                value.to_dict()

    def _fixed(self, name: str) -> Fraction:
        """A cost that is the same for all rows, as the decimal number that it is written as."""
        value: Any = getattr(self, name)
        if isinstance(value, (Expression, RowValues)):
            raise DataError(CostsByRow(f"{name}={_shown(value)}"))
        return Fraction(repr(value))

    @property
    def by_cut(self) -> tuple[Gains, Gains]:
        """Of two cuts, what a positive above each gains and a negative loses: at the cut for
        blocking by not being reviewed, at that for reviewing by not being passed."""
        review = Fraction(repr(self.review or 0.0))
        miss, fp, fn, tp, tn = map(self._fixed, ("review_miss", "fp", "fn", "tp", "tn"))
        return (review + miss + tp, fp - review), (fn - review - miss, review + tn)

    @property
    def on_positives(self) -> Fraction:
        """λ₊ = fn + tp, as the decimal number that it is written as."""
        return self._fixed("fn") + self._fixed("tp")

    @property
    def on_negatives(self) -> Fraction:
        """λ₋ = fp + tn."""
        return self._fixed("fp") + self._fixed("tn")

    @property
    def ratio(self) -> float:
        """λ₋/λ₊: how many missed positives a false alarm is worth."""
        if not self.on_positives:
            return inf
        try:
            return float(self.on_negatives / self.on_positives)
        except OverflowError:
            return inf

    @property
    def log_odds(self) -> float:
        """w₀ = ln(λ₋/λ₊): the best threshold for scores that are log posterior odds."""
        up, down = self.on_negatives, self.on_positives
        if not (up and down):
            return inf if up else -inf
        ratio = up / down
        return log(ratio.numerator) - log(ratio.denominator)

    @property
    def probability(self) -> float:
        """λ₋/(λ₋+λ₊): the best threshold for scores that are probabilities."""
        return float(self.on_negatives / (self.on_negatives + self.on_positives))

    def llr(self, prior: float) -> float:
        """ln(λ₋/λ₊) − ln clr: the best threshold for scores that are log-likelihood ratios, where
        the share ``prior`` of the cases is positive and clr = prior / (1 − prior)."""
        return self.log_odds - log_odds(prior)

    def probability_cost(self, prior: float) -> float:
        """π₊λ₊ / (π₊λ₊ + π₋λ₋): where these costs are on the axis of a cost curve, if the share
        ``prior`` of the cases is positive."""
        up = Fraction(check_prior(prior)) * self.on_positives
        return float(up / (up + (1 - Fraction(prior)) * self.on_negatives))

    @property
    def name(self) -> str:
        """What is aimed at: "cost"."""
        return "cost"

    @property
    def better(self) -> int:
        """-1: less is better."""
        return -1

    @property
    def helpful(self) -> bool:
        """True: it never gets worse when a positive is caught or a negative spared."""
        return True

    def gains(self, _: Fraction, __: Fraction) -> Gains:
        """λ₊ and λ₋: what a TP gains and an FP loses, however many of each class there are."""
        return self.on_positives, self.on_negatives

    def __call__(self, c: Confusion) -> Number:
        """Expected cost of a case."""
        if self.by_row:
            self._fixed("fp"), self._fixed("fn")
        cost = self.fp * c.fp + self.fn * c.fn - self.tp * c.tp - self.tn * c.tn
        if self.review is not None:
            cost = cost + self.review * c.reviewed + self.review_miss * c.reviewed_positives
        return cost / c.total

    def __repr__(self) -> str:
        shown_fields = (
            f"{field.name}={_shown(getattr(self, field.name))}"
            for field in fields(self)
            if field.name in _OF_ROWS
            or getattr(self, field.name)
            or (field.name == "review" and self.review is not None)
        )
        return f"Costs({', '.join(shown_fields)})"

    @classmethod
    def from_dict(cls, data: object, where: str = "") -> Costs:
        """The costs of a file."""
        saved = read_fields(_SavedCosts, data, where)
        return cls(**vars(saved))


class _RowCost:
    """A cost in a file: a number, or a formula."""

    @staticmethod
    def from_dict(data: object, where: str = "") -> float | str:
        return data if isinstance(data, str) else float(read(float, data, where))


@dataclass(frozen=True)
class _SavedCosts:
    """Costs in a file."""

    fp: _RowCost
    fn: _RowCost
    tp: float
    tn: float
    review: float | None
    review_miss: float


_OF_ROWS = ("fp", "fn")


def _of_row(value: float | str | Expression | RowValues | ArrayLike, name: str) -> Any:
    """A number as it is, or what has one for each row."""
    if isinstance(value, str):
        formula = Expression(value)
        return formula if formula.names else float(formula.evaluate({}))
    if isinstance(value, (Expression, RowValues)) or not np.ndim(value):
        return value
    values = score_column(value, f"the cost {name}").astype(np.float64)
    values.setflags(write=False)
    return RowValues(values)


def _column(name: str, rows: int, columns: Mapping[str, ArrayLike] | None) -> Floats:
    """A column of numbers that costs are computed from."""
    names = () if columns is None else tuple(columns)
    if columns is None or name not in names:
        rule = f"have {shown(name)}, which the costs name"
        hint = f"Pass columns={{{shown(name)}: ...}}."
        value = names or ...
        raise DataError(BadArgument("columns", rule, value, hint))
    values = score_column(as_vector(columns[name], name), name).astype(np.float64)
    if len(values) != rows:
        raise DataError(LengthsDiffer(name, "score", len(values), rows))
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(bad.argmax())
        found = RowCostUnfit("column", name, float(values[row]), where=Where(row, column=name))
        raise DataError(found)
    return values


def _shown(value: object) -> str:
    if isinstance(value, Expression):
        return repr(value.text)
    return repr(value) if isinstance(value, RowValues) else f"{value:g}"


def cost_text(cost: object, digits: int = 6) -> str:
    """A cost in a sentence: a number, or a formula.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.measures.costs import cost_text
    >>> costs = cs.Costs(fp=2.5, fn="0.8*amount")
    >>> cost_text(costs.fp), cost_text(costs.fn)
    ('2.5', '0.8*amount')
    """
    if isinstance(cost, Expression):
        return cost.text
    return repr(cost) if isinstance(cost, RowValues) else f"{cost:.{digits}g}"


def check_costs(costs: object, *, one_cut: str | None = None) -> Costs:
    """Costs and nothing else: a mapping might miss one of them, a name is a measure. For what has
    ``one_cut``, without the cost of a review."""
    if not isinstance(costs, Costs):
        raise DataError(BadArgument("costs", "be Costs(fp=..., fn=...)", costs))
    if one_cut is not None and costs.by_row:
        raise DataError(CostsByRow(repr(costs)))
    if one_cut is not None and costs.review is not None:
        rule = f"have no cost of a review: {one_cut} has one threshold"
        raise DataError(BadArgument("costs", rule, costs))
    return costs
