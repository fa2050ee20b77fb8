"""The sweep: everything a set of scores can tell about its labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutpoint import _native
from cutpoint._check import Rows, check_rows, threads
from cutpoint.confusion import Confusion
from cutpoint.errors import DataError, UndefinedError

Floats = NDArray[np.float64]
Masses = NDArray[np.int64] | NDArray[np.float64]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The mass of each class at each distinct score.

    A case is decided positive iff ``score >= threshold``, everywhere in cutpoint. Masses are stored and
    cumulatives derived from them, because masses add: ``s1 + s2`` is the sweep of both sets of rows.

    Make one with :func:`cutpoint.sweep` or :meth:`Sweep.from_counts`; the constructor itself trusts
    its arguments.

    Parameters
    ----------
    threshold
        The distinct scores, descending.
    pos, neg
        Mass of positives and of negatives at exactly that score: int64 counts, or float64 sums of
        weights.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep([1, 0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
    >>> s
    Sweep of 7 rows: 4 positive (57.1 %), 3 negative, 4 distinct scores from 0.1 to 0.9, AUC 0.458333
    >>> s.tp, s.fp
    (array([1, 2, 3, 4]), array([0, 2, 3, 3]))
    >>> s.at(0.3)
    of 7 cases 4 are positive: 2 caught, 2 missed, 2 false alarms
    """

    threshold: Floats
    pos: Masses
    neg: Masses

    def __post_init__(self) -> None:
        for array in (self.threshold, self.pos, self.neg):
            array.setflags(write=False)

    @classmethod
    def from_counts(cls, threshold: ArrayLike, pos: ArrayLike, neg: ArrayLike) -> Sweep:
        """A sweep from masses that were counted elsewhere, for example by a GROUP BY in a database.

        Scores may come in any order and more than once; integer counts stay integers.

        Examples
        --------
        >>> import cutpoint as cp
        >>> cp.Sweep.from_counts([0.2, 0.9, 0.5], pos=[1, 40, 9], neg=[900, 10, 40]).auc
        0.980947...
        """
        masses = np.asarray(pos), np.asarray(neg)
        weighted = any(mass.dtype.kind == "f" for mass in masses)
        for name, mass in zip(("pos", "neg"), masses, strict=True):
            if mass.dtype.kind not in "iuf" or mass.ndim != 1:
                raise DataError(
                    f"{name} must be a column of counts or sums of weights; it has the type "
                    f"{mass.dtype} and the shape {mass.shape}."
                )
            bad = np.flatnonzero(~((mass >= 0) & np.isfinite(mass)))
            if len(bad):
                raise DataError(
                    f"a mass must be finite and at least 0; {name}[{bad[0]}] is {mass[bad[0]]!s}."
                )
        pos, neg = (mass.astype(np.float64 if weighted else np.int64) for mass in masses)
        # Each entry is a row of one class with a weight: the native core sorts and adds them up.
        ones, zeros = (
            check_rows(np.full(len(mass), label), threshold, mass)
            for label, mass in ((np.uint8(1), pos), (np.uint8(0), neg))
        )
        if not weighted and float(pos.sum() + neg.sum()) >= 2**53:
            raise DataError("counts must add up to less than 2**53.")
        s = _sweep(ones) + _sweep(zeros)
        if weighted:
            return s
        return cls(s.threshold, s.pos.astype(np.int64), s.neg.astype(np.int64))

    @property
    def weighted(self) -> bool:
        """Whether the masses are sums of weights rather than counts."""
        return self.pos.dtype.kind == "f"

    @cached_property
    def tp(self) -> Masses:
        """Positives at or above each threshold."""
        return _frozen(np.cumsum(self.pos))

    @cached_property
    def fp(self) -> Masses:
        """Negatives at or above each threshold."""
        return _frozen(np.cumsum(self.neg))

    @cached_property
    def P(self) -> int | float:
        """Mass of all positives."""
        return _scalar(self.tp[-1]) if len(self) else _scalar(self.pos.sum())

    @cached_property
    def N(self) -> int | float:
        """Mass of all negatives."""
        return _scalar(self.fp[-1]) if len(self) else _scalar(self.neg.sum())

    @property
    def prevalence(self) -> float:
        """P / (P + N)."""
        self.needs_rows("the prevalence")
        return self.P / (self.P + self.N)

    @cached_property
    def auc(self) -> float:
        """P(s₊ > s₋) + ½ P(s₊ = s₋): the area under the ROC curve, exact.

        From counts it is the fraction 2U / 2PN of two integers, rounded once.
        """
        self.needs_both_classes("the AUC")
        if self.weighted:
            above = self.tp - self.pos
            return float(np.dot(self.neg, above + 0.5 * self.pos) / (self.P * self.N))
        return _native.twice_area(self.pos, self.neg) / (2 * int(self.P) * int(self.N))

    def at(self, threshold: float) -> Confusion:
        """The confusion when every ``score >= threshold`` is decided positive.

        Any number is a threshold, whether a score equals it or not; ``+inf`` flags the cases whose
        score is ``+inf``.
        """
        t = float(threshold)
        if t != t:
            raise DataError("a threshold must be a number; it is NaN.")
        k = len(self) - int(np.searchsorted(self.threshold[::-1], t, side="left"))
        tp, fp = (_scalar(self.tp[k - 1]), _scalar(self.fp[k - 1])) if k else (0, 0)
        return Confusion(tp=tp, fp=fp, fn=self.P - tp, tn=self.N - fp)

    def compact(self) -> Sweep:
        """The same ROC curve with the fewest thresholds: runs of one class become one step.

        Two neighbours that are both all positive, or both all negative, lie on one vertical or
        horizontal line of the staircase; they are merged at the lower threshold. At most
        2 min(P, N) + 1 entries remain, however many rows there are. Area, hull and the confusion at
        every threshold that is left are unchanged; scores between them are forgotten.

        Examples
        --------
        >>> import cutpoint as cp
        >>> s = cp.sweep([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
        >>> s.compact().threshold, s.compact().auc == s.auc
        (array([5., 2., 1.]), True)
        """
        only_pos, only_neg = self.neg == 0, self.pos == 0
        last = np.ones(len(self), np.bool_)
        last[:-1] = ~((only_pos[:-1] & only_pos[1:]) | (only_neg[:-1] & only_neg[1:]))
        ends = np.flatnonzero(last)
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        if not len(ends):
            return self
        return Sweep(
            self.threshold[ends],
            np.add.reduceat(self.pos, starts),
            np.add.reduceat(self.neg, starts),
        )

    def __len__(self) -> int:
        return len(self.threshold)

    def __add__(self, other: object) -> Sweep:
        if not isinstance(other, Sweep):
            return NotImplemented
        a, b = self, other
        if a.weighted or b.weighted:
            a, b = a._with_float_masses(), b._with_float_masses()
            return Sweep(
                *_native.weighted_merge(a.threshold, a.pos, a.neg, b.threshold, b.pos, b.neg)
            )
        return Sweep(*_native.merge(a.threshold, a.pos, a.neg, b.threshold, b.pos, b.neg))

    def __radd__(self, other: object) -> Sweep:
        return self if other == 0 else NotImplemented  # for sum(): it starts from 0

    def _with_float_masses(self) -> Any:
        if self.weighted:
            return self
        return Sweep(self.threshold, self.pos.astype(np.float64), self.neg.astype(np.float64))

    def needs_rows(self, measure: str) -> None:
        """Raise unless there is any mass."""
        if not self.P + self.N > 0:
            raise UndefinedError(f"{measure} needs rows; this sweep has none.")

    def needs_both_classes(self, measure: str) -> None:
        """Raise unless both classes have mass."""
        self.needs_rows(measure)
        if not (self.P > 0 and self.N > 0):
            only = "positive" if self.P > 0 else "negative"
            raise UndefinedError(
                f"{measure} needs positives and negatives; these {_shown(self.P + self.N)} "
                f"{'weighted ' if self.weighted else ''}rows are all {only}. Add rows of the other "
                "class, or merge with a sweep that has them."
            )

    def _facts(self) -> list[tuple[str, str]]:
        total = self.P + self.N
        if not len(self):
            return [("rows", "none")]
        unit = "weight" if self.weighted else "rows"
        facts = [
            (unit, _shown(total)),
            ("positive", f"{_shown(self.P)} ({_percent(self.P / total)})"),
            ("negative", _shown(self.N)),
            ("distinct scores", f"{len(self):,} from {self.threshold[-1]:.6g} to {self.threshold[0]:.6g}"),
        ]
        if self.P > 0 and self.N > 0:
            facts.append(("AUC", f"{self.auc:.6g}"))
        return facts

    def __repr__(self) -> str:
        if not len(self):
            return "Sweep of no rows"
        fact = dict(self._facts())
        many, span = fact["distinct scores"].split(" ", 1)
        what = f"weight {fact['weight']}" if self.weighted else f"{fact['rows']} rows"
        area = f"AUC {fact['AUC']}" if "AUC" in fact else "one class only, no AUC"
        return (
            f"Sweep of {what}: {fact['positive'].replace(' (', ' positive (', 1)}, "
            f"{fact['negative']} negative, {many} distinct scores {span}, {area}"
        )

    def _repr_html_(self) -> str:
        from cutpoint._html import fact_table, roc_thumbnail

        picture = ""
        if self.P > 0 and self.N > 0:
            small = self.compact()
            picture = roc_thumbnail(small.fp / self.N, small.tp / self.P)
        return fact_table("Sweep", self._facts(), picture)


def sweep(
    y: Any, score: Any, weight: Any = None, positive: Any = None
) -> Sweep:
    """Sweep a threshold over all scores: the mass of each class at each distinct score.

    One native sort; unweighted counts are integers from end to end. The result depends on the rows
    alone, not on the number of threads; ``CUTPOINT_THREADS`` sets how many are used.

    Parameters
    ----------
    y
        Labels. ``0/1``, ``False/True`` and ``-1/1`` are understood; for any others say which one is
        ``positive``.
    score
        Scores, higher meaning more positive. ``±inf`` are scores; NaN is refused. ``-0.0`` equals
        ``0.0``, and no other two values are ever merged. float32 and float64 are read in place, at any
        stride.
    weight
        Weights, finite and at least 0. A row of weight 0 is as good as absent.
    positive
        The positive label.

    Returns
    -------
    Sweep

    Raises
    ------
    DataError
        If the input breaks one of the rules above; the message names the row.

    Examples
    --------
    >>> import cutpoint as cp
    >>> s = cp.sweep(["ok", "fraud", "ok"], [0.2, 0.9, 0.4], positive="fraud")
    >>> s.threshold, s.pos, s.neg
    (array([0.9, 0.4, 0.2]), array([1, 0, 0]), array([0, 1, 1]))
    """
    return _sweep(check_rows(y, score, weight, positive))


def _sweep(rows: Rows) -> Sweep:
    if rows.weight is None:
        arrays = checked(rows, lambda r, *args: _native.sweep(*args, threads()))
        return Sweep(*arrays)
    s = Sweep(*checked(rows, lambda r, *args: _native.weighted_sweep(*args, r.weight, threads())))
    if not np.isfinite(s.P + s.N):
        raise DataError("the weights add up to more than a float64 holds. Scale them down.")
    return s


def area(rows: Rows) -> tuple[float, float, float]:
    """P, N and 2U = 2·P·N·AUC of rows, without a sweep: integers when unweighted."""
    if rows.weight is None:
        return checked(rows, lambda r, *args: _native.area(*args, threads()))
    return checked(rows, lambda r, *args: _native.weighted_area(*args, r.weight, threads()))


def checked(rows: Rows, kernel: Callable[..., _T]) -> _T:
    """Run a kernel on rows; its faults become either a second reading of the labels or a DataError."""
    try:
        return kernel(rows, rows.score, rows.label, rows.negative, rows.positive)
    except _native.RowFault as fault:
        return checked(rows.explained(fault), kernel)


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _scalar(value: Any) -> Any:
    return value.item()


def _shown(mass: float) -> str:
    return f"{mass:,}" if isinstance(mass, int) else f"{mass:,.6g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
