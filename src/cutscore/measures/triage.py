"""The six counts of two thresholds: cases are passed, reviewed or blocked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutscore.core.html import fact_table, grid_table
from cutscore.measures.confusion import Confusion, Number, count_text


@dataclass(frozen=True, slots=True, repr=False)
class Triage(Confusion):
    """Positives and negatives that are blocked, reviewed and passed.

    The four counts of a confusion are those of cases that are decided without a review: a true
    positive is blocked, a false negative is passed. Rates of a class, and of all cases, count the
    reviewed in their denominators. So recall is the share of positives that is blocked, fnr the
    share that is passed, precision that of the positives among the blocked, and npv that of the
    negatives among the passed.

    Parameters
    ----------
    tp, fp : int, float or array
        Positives and negatives that are blocked.
    fn, tn : int, float or array
        Positives and negatives that are passed.
    reviewed_pos, reviewed_neg : int, float or array
        Those that are reviewed.

    Examples
    --------
    >>> from cutscore import Triage
    >>> c = Triage(30, 5, 8, 900, 12, 45)
    >>> c
    1,000 cases, 50 positive: 30 blocked, 12 reviewed, 8 passed; negatives: 5 blocked,
    45 reviewed, 900 passed
    >>> c.review_rate, c.fnr, round(c.precision, 3), round(c.npv, 3), c.error_rate
    (0.057, 0.16, 0.857, 0.991, 0.013)
    """

    reviewed_pos: Number
    reviewed_neg: Number

    @property
    def positives(self) -> Number:
        """All positives, reviewed ones included."""
        return self.tp + self.fn + self.reviewed_pos

    @property
    def negatives(self) -> Number:
        """All negatives, reviewed ones included."""
        return self.fp + self.tn + self.reviewed_neg

    @property
    def reviewed_positives(self) -> Number:
        """Positives that are reviewed."""
        return self.reviewed_pos

    @property
    def reviewed(self) -> Number:
        """How many cases are reviewed."""
        return self.reviewed_pos + self.reviewed_neg

    def deployed(self, prior: float) -> Triage:
        """The same rates among as many cases, of which the share ``prior`` is positive."""
        p = prior * self.total / self.positives
        n = (1 - prior) * self.total / self.negatives
        return Triage(
            p * self.tp,
            n * self.fp,
            p * self.fn,
            n * self.tn,
            p * self.reviewed_pos,
            n * self.reviewed_neg,
        )

    def __repr__(self) -> str:
        if isinstance(self.tp, np.ndarray):
            return f"Triage at {self.tp.size:,} pairs of thresholds"
        n, p, *cells = map(
            count_text,
            (
                *(self.total, self.positives, self.tp, self.reviewed_pos, self.fn),
                *(self.fp, self.reviewed_neg, self.tn),
            ),
        )
        cases = "case" if n == "1" else "cases"
        return (
            f"{n} {cases}, {p} positive: {cells[0]} blocked, {cells[1]} reviewed, "
            f"{cells[2]} passed; negatives: {cells[3]} blocked, {cells[4]} reviewed, "
            f"{cells[5]} passed"
        )

    def _repr_html_(self) -> str:
        if isinstance(self.tp, np.ndarray):
            return fact_table(repr(self), ())
        rows = (
            ("positive", self.tp, self.reviewed_pos, self.fn),
            ("negative", self.fp, self.reviewed_neg, self.tn),
        )
        return grid_table(
            "Decisions",
            ("", "blocked", "reviewed", "passed"),
            [(name, *map(count_text, counts)) for name, *counts in rows],
        )
