r"""What a line trained for a measure minimises, and the labelling that is worst for it.

The surrogate of a measure with loss Δ is, for the scores s of all rows,

.. math:: R(s) = \max_v \; Δ(v, y) + c \, (\sum_{FP} s - \sum_{FN} s), \qquad c = 1/n,

over all labellings v of the rows (others take c = 2; the difference is one of C). It is convex
in s, at least the loss of the labelling that the signs of s give, and 0 is the value of the true
labelling, where that is allowed. For each number a of positives and b of negatives that v flags,
the highest-scored ones are the worst, so (P+1)(N+1) candidates remain. Two facts leave P+1 of them:
for given a the objective is concave in b, so the best b is found by bisection; and with weights,
where a and b are masses and a row can be flagged in part, it is convex in a within a row.

Weights count as numbers of rows. Whole weights give just the surrogate of repeated rows; others its
limit for rows that can be split. Rows that tie share what their group is flagged, so that nothing
depends on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import threads
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import Undefined
from cutscore.linear.rows import Flags, Floats

__all__ = ["Classes", "Masses", "Surrogate", "Worst"]


class Classes(NamedTuple):
    """One number for each row, separately for positives and negatives: scores or coefficients. The
    argument of a :class:`cutscore.linear.surrogates.Surrogate`."""

    pos: Floats
    neg: Floats

    def dot(self, other: Classes) -> float:
        return float(self.pos @ other.pos + self.neg @ other.neg)


class Worst(NamedTuple):
    """R at given scores: its value, Δ of the most violated labelling, and its derivative with
    respect to each score. The result of a :class:`cutscore.linear.surrogates.Surrogate`."""

    value: float
    loss: float
    slope: Classes
    labelling: Classes | None = None
    """v*, where it was asked for: 1 for a flagged row and -1 for another."""


class Surrogate(Protocol):
    """R of a measure, for rows with given weights; of ``as_trainable(measure).surrogate(masses)``.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear.structural import as_trainable
    >>> from cutscore.linear.surrogates import Classes, Masses
    >>> f1 = as_trainable("f1").surrogate(Masses.of(None, 2, 3))
    >>> worst = f1.worst(Classes(np.array([4.0, -1.0]), np.array([1.0, -2.0, -3.0])))
    >>> round(worst.value, 4), worst.loss  # the second positive missed, the first negative flagged
    (0.9, 0.5)
    >>> 5 * worst.slope.pos, 5 * worst.slope.neg
    (array([-0., -1.]), array([1., 0., 0.]))
    >>> scores = Classes(np.array([4.0, -1.0]), np.array([1.0, -2.0, -3.0]))
    >>> f1.worst(scores, labelling=True).labelling
    Classes(pos=array([ 1., -1.]), neg=array([ 1., -1., -1.]))
    """

    def worst(self, s: Classes, *, labelling: bool = False) -> Worst:
        """The labelling that is worst at these scores.

        With ``labelling`` it is part of the answer. Of rows that tie, those that come first are
        flagged; the slope has their mean. A row with a weight stands for so many rows and may be
        flagged in part: it has a number between -1 and 1. For the AUC, whose surrogate is a sum
        over pairs, rows have no labelling, and an ``UndefinedError`` says so.
        """


@dataclass(frozen=True)
class Masses:
    """The weights of the rows of each class, None if all are 1, and their sums: the input of
    :class:`cutscore.linear.surrogates.Surrogate`."""

    pos: Floats | None
    neg: Floats | None
    P: float
    N: float

    @classmethod
    def of(cls, weight: Classes | None, P: int, N: int) -> Masses:
        """Of P positive and N negative rows, with weights or without."""
        if weight is None:
            return cls(None, None, float(P), float(N))
        return cls(weight.pos, weight.neg, float(weight.pos.sum()), float(weight.neg.sum()))

    @cached_property
    def whole(self) -> bool:
        """Whether rows are flagged by whole numbers."""
        columns = (self.pos, self.neg)
        return all(w is None or bool((w == np.rint(w)).all()) for w in columns)

    def scaled(self, pos: float, neg: float) -> Masses:
        """The same rows with the weights of either class times a factor."""
        weight = (np.ones(round(self.P)) if self.pos is None else self.pos) * pos
        other = (np.ones(round(self.N)) if self.neg is None else self.neg) * neg
        return Masses(weight, other, self.P * pos, self.N * neg)

    def times(self, pos: Floats, neg: Floats) -> Classes:
        """Coefficients times weights."""
        return Classes(
            pos if self.pos is None else pos * self.pos,
            neg if self.neg is None else neg * self.neg,
        )


def _equal(s: Classes) -> float:
    """Scores, and sums of them by the number of rows, that differ by this count as equal.

    A line at its best has rows that tie, by design. On which side rounding puts them depends on the
    order of sums, and so on whether a row has a weight or copies; the solver must not.
    """
    return 1e-11 * (1 + float(max(np.abs(s.pos).max(), np.abs(s.neg).max())))


@dataclass(frozen=True)
class Hinge:
    """Measures in which every row has its own loss: a positive costs ``miss``, a negative
    ``alarm``. R = Σ over positives of (miss − c s)₊ + Σ over negatives of (alarm + c s)₊."""

    masses: Masses
    miss: float
    alarm: float

    def worst(self, s: Classes, *, labelling: bool = False) -> Worst:
        n = self.masses.P + self.masses.N
        c, equal = 1 / n, _equal(s)
        pos, neg = s.pos < n * self.miss - equal, s.neg > equal - n * self.alarm
        wrong = self.masses.times(pos.astype(np.float64), neg.astype(np.float64))
        loss = self.miss * float(wrong.pos.sum()) + self.alarm * float(wrong.neg.sum())
        slope = Classes(-c * wrong.pos, c * wrong.neg)
        v = Classes(np.where(pos, -1.0, 1.0), np.where(neg, 1.0, -1.0)) if labelling else None
        return Worst(loss + slope.dot(s), loss, slope, v)


def error(masses: Masses) -> Hinge:
    """The share of errors; R is the mean hinge loss, as in a linear SVM."""
    each = 1 / (masses.P + masses.N)
    return Hinge(masses, each, each)


def cost(masses: Masses, miss: float, alarm: float) -> Hinge:
    """The cost of errors, relative to that of all errors; R is the mean hinge loss, weighted by
    what an error on each row costs."""
    return error(masses.scaled(miss, alarm))


def balanced(masses: Masses) -> Hinge:
    """1 − ½(TPR + TNR)."""
    return Hinge(masses, 0.5 / masses.P, 0.5 / masses.N)


@dataclass(frozen=True)
class Pairs:
    """1 − AUC: R is the mean over pairs of (1 − (s₊ − s₋))₊. No pair is ever formed: a
    sorted search counts the partners of each row that are within its margin."""

    masses: Masses

    def worst(self, s: Classes, *, labelling: bool = False) -> Worst:
        if labelling:
            why = "is a sum over pairs of rows, and labels no row"
            hint = "Ask for its value and slope, or for the labelling of another measure."
            raise UndefinedError(Undefined("the surrogate of the AUC", why, hint))
        m = self.masses
        pos, neg = _partners(m, s.pos - 1 + _equal(s), s.neg)
        pairs = m.times(pos / (m.P * m.N), neg / (m.P * m.N))
        loss = float(pairs.pos.sum())
        slope = Classes(-pairs.pos, pairs.neg)
        return Worst(loss + slope.dot(s), loss, slope)


def _partners(m: Masses, least: Floats, neg: Floats) -> tuple[Floats, Floats]:
    """The mass of the negatives above each of ``least``, and of those below each negative.

    One search finds both: the smaller class is sorted, the other one looked up, and how many came
    to lie in each gap is added up.
    """
    if len(least) <= len(neg):
        order = np.argsort(least)
        at = _native.look_up(least[order], neg, False, threads(len(neg)))
        above = np.empty(len(least))
        above[order] = m.N - np.cumsum(np.bincount(at, m.neg, len(least) + 1))[:-1]
        return above, _mass_before(m.pos, order)[at]
    order = np.argsort(neg)
    at = _native.look_up(neg[order], least, True, threads(len(least)))
    below = np.empty(len(neg))
    below[order] = np.cumsum(np.bincount(at, m.pos, len(neg) + 1))[:-1]
    return m.N - _mass_before(m.neg, order)[at], below


def _mass_before(weight: Floats | None, order: NDArray[np.intp]) -> Floats:
    """The mass of the rows that come before each place in an order."""
    if weight is None:
        return np.arange(len(order) + 1.0)
    return np.concatenate(([0.0], np.cumsum(weight[order])))


@dataclass(frozen=True)
class Ratio:
    """Δ = 1 − κ a / (a + b + r), with the number of flagged rows a + b within limits.

    F_β: κ = 1 + β², r = β² P. Precision: κ = 1, r = 0.
    """

    masses: Masses
    kappa: float
    rest: float
    least: float = 0.0

    def worst(self, s: Classes, *, labelling: bool = False) -> Worst:
        return _worst(self, self.masses, s, labelling)

    def loss(self, a: Floats, b: Floats) -> Floats:
        flagged = a + b + self.rest
        return 1 - self.kappa * a / np.where(flagged > 0, flagged, 1)

    def rises(self, a: Floats, b: Floats, slope: Floats) -> Flags:
        """Whether loss + slope·b rises with b: κ a / (a+b+r)² > −slope."""
        return (slope > 0) | (self.kappa * a > -slope * np.square(a + b + self.rest))

    def peak(self, a: Floats, slope: Floats) -> Floats:
        """b at which loss + slope·b is highest, for slope < 0."""
        return np.sqrt(self.kappa * a / -slope) - a - self.rest

    def bounds(self, a: Floats) -> tuple[Floats, Floats]:
        return np.clip(self.least - a, 0, self.masses.N), np.full(len(a), self.masses.N)

    @property
    def line(self) -> float | None:
        """A number of flagged rows a + b at which the limits may bind."""
        return self.least or None


@dataclass(frozen=True)
class Caught:
    """Δ = 1 − a/P, with at least and at most so many flagged rows."""

    masses: Masses
    least: float
    most: float

    def worst(self, s: Classes, *, labelling: bool = False) -> Worst:
        return _worst(self, self.masses, s, labelling)

    def loss(self, a: Floats, b: Floats) -> Floats:  # noqa: ARG002 - as Ratio's
        return 1 - a / self.masses.P

    def rises(self, a: Floats, b: Floats, slope: Floats) -> Flags:  # noqa: ARG002
        return slope > 0

    def peak(self, a: Floats, slope: Floats) -> Floats:  # noqa: ARG002
        return np.zeros(len(a))

    def bounds(self, a: Floats) -> tuple[Floats, Floats]:
        N = self.masses.N
        return np.clip(self.least - a, 0, N), np.clip(self.most - a, 0, N)

    @property
    def line(self) -> float | None:
        return self.most


def f_measure(masses: Masses, beta: float) -> Ratio:
    """1 − F_β."""
    return Ratio(masses, 1 + beta**2, beta**2 * masses.P)


def precision_at(masses: Masses, k: float) -> Ratio:
    """1 − precision, of k flagged rows and more."""
    return Ratio(masses, 1.0, 0.0, least=k)


def recall_at(masses: Masses, k: float) -> Caught:
    """1 − recall, of k flagged rows and less."""
    return Caught(masses, 0.0, k)


def break_even(masses: Masses) -> Caught:
    """1 − precision (= recall) where as many rows are flagged as there are positives."""
    return Caught(masses, masses.P, masses.P)


class _Top:
    """Rows of one class from the highest score down: mass and sum of scores of the first ones."""

    def __init__(self, s: Floats, weight: Floats | None) -> None:
        if weight is None:
            self.score = np.sort(s)[::-1]
            self.mass = np.arange(len(s) + 1, dtype=np.float64)
            self.sum = np.concatenate(([0.0], np.cumsum(self.score)))
        else:
            order = np.argsort(s, kind="stable")[::-1]
            self.score = s[order]
            self.mass = np.concatenate(([0.0], np.cumsum(weight[order])))
            self.sum = np.concatenate(([0.0], np.cumsum(self.score * weight[order])))
        self.unit = weight is None

    def sum_of(self, mass: Floats) -> Floats:
        """The sum of scores of the first so many rows, the last of which may be split."""
        if self.unit:
            return self.sum[mass.astype(np.intp)]
        return np.interp(mass, self.mass, self.sum)

    def flagged(self, s: Floats, mass: float, equal: float) -> Floats:
        """Which share of each row is among the first so many; rows that tie have the same."""
        if mass <= 0:
            return np.zeros(len(s))
        last = min(int(np.searchsorted(self.mass, mass, side="left")), len(self.score)) - 1
        at = self.score[last]
        up = self.score[::-1]  # ascending, as searches want it
        high, low = at + equal, at - equal
        above = self.mass[len(up) - int(np.searchsorted(up, high, side="right"))]
        through = self.mass[len(up) - int(np.searchsorted(up, low, side="left"))]
        share = (mass - above) / (through - above)
        return np.where(s > high, 1.0, np.where(s >= low, share, 0.0))


def _worst(measure: Ratio | Caught, masses: Masses, s: Classes, labelling: bool) -> Worst:
    c = 1 / (masses.P + masses.N)
    pos, neg = _Top(s.pos, masses.pos), _Top(s.neg, masses.neg)
    a = pos.mass
    if measure.line is not None and not (pos.unit and neg.unit):
        # On a limit a + b = k the best point may split a positive: it is then at the end of a
        # negative.
        a = np.union1d(a, np.clip(measure.line - neg.mass, 0, masses.P))
    equal = _equal(s)
    b, ok = _best_b(measure, masses, neg, a, equal)
    q = measure.loss(a, b) + c * (neg.sum_of(b) - (pos.sum[-1] - pos.sum_of(a)))
    q[~ok] = -np.inf
    # Of labellings that are equally bad, the one that flags the fewest positives.
    best = int(np.argmax(q >= q.max() - equal))
    loss = float(measure.loss(a[best : best + 1], b[best : best + 1])[0])
    up, down = float(a[best]), float(b[best])
    wrong = masses.times(1 - pos.flagged(s.pos, up, equal), neg.flagged(s.neg, down, equal))
    v = None
    if labelling:
        v = Classes(_labels(s.pos, masses.pos, up), _labels(s.neg, masses.neg, down))
    return Worst(float(q.max()), loss, Classes(-c * wrong.pos, c * wrong.neg), v)


def _labels(s: Floats, weight: Floats | None, mass: float) -> Floats:
    """1 for the highest-scored rows of so much mass, the first of those that tie, -1 for others."""
    order = np.argsort(-s, kind="stable")
    w = np.ones(len(s)) if weight is None else weight[order]
    v = np.empty(len(s))
    v[order] = 2 * np.clip((mass - (np.cumsum(w) - w)) / w, 0, 1) - 1
    return v


def _best_b(
    measure: Ratio | Caught, masses: Masses, neg: _Top, a: Floats, equal: float
) -> tuple[Floats, Flags]:
    """For each a the mass b of flagged negatives that is worst, and whether any is allowed."""
    c = 1 / (masses.P + masses.N)
    low, high = measure.bounds(a)
    # How many negatives there are at whose start the objective still rises: bisection in step.
    slope = c * neg.score
    count, size = np.zeros(len(a), np.intp), len(slope)
    while size:
        half = (size + 1) // 2
        there = count + (half - 1)
        count = np.where(measure.rises(a, neg.mass[there], slope[there]), count + half, count)
        size -= half
    b = neg.mass[count]
    last = slope[count - 1]
    # Within the last of them it may turn.
    turns = np.flatnonzero((count > 0) & ~measure.rises(a, b, last) & (last < 0))
    b[turns] = np.clip(measure.peak(a[turns], last[turns]), neg.mass[count[turns] - 1], b[turns])
    b = np.clip(b, low, high)
    if masses.whole:
        floor, ceil = np.floor(b), np.minimum(np.ceil(b), high)
        up = measure.loss(a, ceil) + c * neg.sum_of(ceil)
        down = measure.loss(a, floor) + c * neg.sum_of(floor)
        b = np.where(up > down + equal, ceil, np.maximum(floor, low))
    ok = (a + b >= measure.least - 1e-9 * masses.P) & (low <= high)
    if isinstance(measure, Caught):
        ok &= a + b <= measure.most * (1 + 1e-12)
    return b, ok
