"""What each outcome costs or brings in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, log

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.prior import check_prior, log_odds
from cutscore.measures.registry import Gains


@dataclass(frozen=True)
class Costs:
    """What each outcome costs or brings in: the objective of a decision.

    Parameters
    ----------
    fp, fn : float
        Cost of a false alarm and of a missed positive (λ₋ and λ₊ of the literature).
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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "review":
                continue
            cost = number(value)
            if not abs(cost) <= 1e100:
                rule, subject = "be a finite number, up to 1e100", f"the cost {field.name}"
                each = "If costs differ by case, weight the rows: see 'Weights'."
                hint = each if np.ndim(value) else ""
                raise DataError(BadArgument("costs", rule, value, hint, subject))
            object.__setattr__(self, field.name, cost)
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

    @property
    def by_cut(self) -> tuple[Gains, Gains]:
        """Of two cuts, what a positive above each gains and a negative loses: at the cut for
        blocking by not being reviewed, at that for reviewing by not being passed."""
        review, miss = _decimal(self.review or 0.0), _decimal(self.review_miss)
        fp, fn, tp, tn = (_decimal(x) for x in (self.fp, self.fn, self.tp, self.tn))
        return (review + miss + tp, fp - review), (fn - review - miss, review + tn)

    @property
    def on_positives(self) -> Fraction:
        """λ₊ = fn + tp, as the decimal number that it is written as."""
        return _decimal(self.fn) + _decimal(self.tp)

    @property
    def on_negatives(self) -> Fraction:
        """λ₋ = fp + tn."""
        return _decimal(self.fp) + _decimal(self.tn)

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
        cost = self.fp * c.fp + self.fn * c.fn - self.tp * c.tp - self.tn * c.tn
        if self.review is not None:
            cost = cost + self.review * c.reviewed + self.review_miss * c.reviewed_positives
        return cost / c.total

    def __repr__(self) -> str:
        shown_fields = (
            f"{field.name}={getattr(self, field.name):g}"
            for field in fields(self)
            if field.name in ("fp", "fn")
            or getattr(self, field.name)
            or (field.name == "review" and self.review is not None)
        )
        return f"Costs({', '.join(shown_fields)})"


def check_costs(costs: object, *, one_cut: str | None = None) -> Costs:
    """Costs and nothing else: a mapping might miss one of them, a name is a measure. For what has
    ``one_cut``, without the cost of a review."""
    if not isinstance(costs, Costs):
        raise DataError(BadArgument("costs", "be Costs(fp=..., fn=...)", costs))
    if one_cut is not None and costs.review is not None:
        rule = f"have no cost of a review: {one_cut} has one threshold"
        raise DataError(BadArgument("costs", rule, costs))
    return costs


def _decimal(x: float) -> Fraction:
    """A float as the shortest decimal that it is written as: 0.1 is 1/10."""
    return Fraction(repr(x))
