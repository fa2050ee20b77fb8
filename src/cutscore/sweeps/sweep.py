"""The sweep: everything a set of scores can tell about its labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import floor, frexp, log10
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import (
    Columns,
    check_counts,
    check_rows,
    check_threshold,
    check_totals,
    run_kernel,
    threads,
)
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import OneClass, SquaresMissing, SweepCompact, TooFew
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import thumbnail
from cutscore.core.types import ArrayLike, Label
from cutscore.measures.confusion import Confusion, count_text

if TYPE_CHECKING:
    from cutscore.sweeps.sketch import Sketch

Floats = NDArray[np.float64]
Masses = NDArray[Any]  # int64 counts or float64 sums of weights


# Entries that a pass over a sweep looks at at a time: few enough for a cache, and as many as are in
# memory of a sweep in a file. A multiple of the size of blocks.
_PART = 2**16
# Cuts of a large sweep that are looked up at a time.
_LOOKED_UP = 1024


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Frozen):
    """Every so many cuts: ``cut[i]`` and what it flags. Block i has the cuts after ``cut[i]`` up to
    ``cut[i + 1]``; ``first[i]`` is its highest score."""

    cut: NDArray[np.int64]
    tp: Masses
    fp: Masses
    first: Floats
    size: int = 256


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Frozen):
    """The mass of each class at each distinct score.

    A case is decided positive iff ``score >= threshold``, everywhere in cutscore. Masses are stored
    and cumulatives derived from them, because masses add: ``s1 + s2`` is the sweep of both sets of
    rows.

    Make one with :func:`cutscore.sweep` or :meth:`Sweep.from_counts`; the constructor itself trusts
    its arguments.

    Parameters
    ----------
    threshold : array of float
        The distinct scores, descending.
    pos, neg : array of int or float
        Mass of positives and of negatives at exactly that score: int64 counts, or float64 sums of
        weights.
    pos2, neg2 : array of float or None
        Sums of squared weights, on request: intervals of weighted data need them.
    top : array of float or None
        Where runs of one class were merged by :meth:`compact`: the highest score of each.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
    >>> s
    Sweep of 7 rows: 4 positive (57.1 %), 3 negative, 4 distinct scores from 0.1 to 0.9,
    AUC 0.458333
    >>> s.tp, s.fp
    (array([1, 2, 3, 4]), array([0, 2, 3, 3]))
    >>> s.at(0.3)
    7 cases, 4 positive; 2 caught, 2 missed, 2 false alarms
    """

    threshold: Floats
    pos: Masses
    neg: Masses
    pos2: Floats | None = None
    neg2: Floats | None = None
    top: Floats | None = None

    @classmethod
    def from_counts(cls, threshold: ArrayLike, pos: ArrayLike, neg: ArrayLike) -> Sweep:
        """A sweep from masses that were counted elsewhere, for example by a GROUP BY in a database.

        Scores may come in any order and more than once; integer counts stay integers. A score
        without any mass is ignored.

        Examples
        --------
        >>> import cutscore as cs
        >>> cs.Sweep.from_counts([0.2, 0.9, 0.5], pos=[1, 40, 9], neg=[900, 10, 40]).auc
        0.979578...
        """
        # Each entry is a row of one class with a weight: the native core sorts and adds them up.
        ones, zeros, whole = check_counts(threshold, pos, neg)
        s = _sweep(ones) + _sweep(zeros)
        if not whole:
            return s
        return cls._adopt(s.threshold, s.pos.astype(np.int64), s.neg.astype(np.int64))

    @property
    def weighted(self) -> bool:
        """Whether the masses are sums of weights rather than counts."""
        return self.pos.dtype.kind == "f"

    @property
    def merged(self) -> bool:
        """Whether runs of one class were merged into one entry, by :meth:`compact`."""
        return self.top is not None

    @derived
    def tp(self) -> Masses:
        """Positives at or above each threshold."""
        return np.cumsum(self.pos)

    @derived
    def fp(self) -> Masses:
        """Negatives at or above each threshold."""
        return np.cumsum(self.neg)

    @derived
    def P(self) -> int | float:
        """Mass of all positives."""
        return self._total(self.pos, "tp")

    @derived
    def N(self) -> int | float:
        """Mass of all negatives."""
        return self._total(self.neg, "fp")

    def _total(self, mass: Masses, of: str) -> int | float:
        # The sums of blocks will be asked for again, but cost more than they save if there are few.
        few = len(self) <= 4 * Blocks.size
        return _total_of(np.cumsum(mass) if few else getattr(self.blocks, of))

    @property
    def prevalence(self) -> float:
        """P / (P + N)."""
        self.needs_rows("the prevalence")
        return self.P / (self.P + self.N)

    @derived
    def auc(self) -> float:
        """P(s₊ > s₋) + ½ P(s₊ = s₋): the area under the ROC curve, exact.

        From counts it is the fraction 2U / 2PN of two integers, rounded once.
        """
        self.needs_both_classes("the AUC")
        if self.weighted:
            # Scaled by powers of two: no product overflows or vanishes, and none is rounded by it.
            (p, up), (n, right) = frexp(self.P), frexp(self.N)
            area = 0.0
            for at, tp, _ in self.running():
                height = np.ldexp(tp, -up) - 0.5 * np.ldexp(self.pos[at], -up)
                # Not np.dot: its rounding depends on the threads of the BLAS.
                area += float(np.sum(np.ldexp(self.neg[at], -right) * height))
            return min(1.0, area / (p * n))
        return self.twice_area / (2 * int(self.P) * int(self.N))

    @derived
    def twice_area(self) -> int:
        """2·P·N·AUC of counts: twice the pairs in the right order, of which ties count half."""
        twice = 0
        for at in self.parts():
            tp, _ = self.before(at)
            pos, neg = self.pos[at], self.neg[at]
            twice += _native.twice_area(pos, neg) + 2 * int(tp) * int(neg.sum())
        return twice

    @derived
    def blocks(self) -> Blocks:
        """Every 256th cut."""
        size, m = Blocks.size, len(self)
        cut = np.append(np.arange(0, m, size), m)
        tp: Masses
        fp: Masses
        if not self.weighted:
            first, tp, fp = self._sums_of_blocks
            return Blocks._adopt(cut, tp, fp, first)
        tp, fp = (np.zeros(len(cut)) for _ in "pn")
        first = np.empty(len(cut) - 1)
        for at in self.parts():
            k = at.start // size
            here = slice(k, k - (at.start - at.stop) // size + 1)
            first[here.start : here.stop - 1] = self.threshold[at][::size]
            for sums, mass in ((tp, self.pos[at]), (fp, self.neg[at])):
                every = np.cumsum(np.append(sums[k], mass))  # one by one, as tp is
                sums[here] = np.append(every[:-1:size], every[-1])
        return Blocks._adopt(cut, tp, fp, first)

    @derived
    def _sums_of_blocks(self) -> tuple[Floats, Masses, Masses]:
        """Of counts: the highest score of each block, and TP and FP at its cut."""
        used = threads(len(self) // 8)  # adding takes less time than sorting
        return _native.block_sums(self.threshold, self.pos, self.neg, Blocks.size, used)

    def parts(self) -> Iterator[slice]:
        """Slices of the entries, in order, for a pass over all of them.

        Of a sweep in a file (see :func:`cutscore.sweep_file`) no more than one part is in memory
        at a time.
        """
        for start in range(0, len(self), _PART):
            at = slice(start, min(start + _PART, len(self)))
            yield at
            self.forget(at)

    def before(self, at: slice) -> tuple[Any, Any]:
        """TP and FP before a part."""
        k = at.start // Blocks.size
        return self.blocks.tp[k], self.blocks.fp[k]

    def running(self) -> Iterator[tuple[slice, Masses, Masses]]:
        """Each part, with TP and FP at its thresholds."""
        for at in self.parts():
            tp, fp = self.before(at)
            yield (
                at,
                np.cumsum(np.append(tp, self.pos[at]))[1:],
                np.cumsum(np.append(fp, self.neg[at]))[1:],
            )

    def forget(self, at: slice = slice(None)) -> None:
        """Of a sweep in a file: take these entries out of memory until they are looked at again."""
        for column in (self.threshold, self.pos, self.neg, self.pos2, self.neg2, self.top):
            if column is not None:
                _native.forget(column[at])

    def sums(self, column: Masses, starts: NDArray[np.int64]) -> Masses:
        """Sums of a column from each start to the next, and to the end; starts ascend from 0."""
        out = np.zeros(len(starts), column.dtype)
        for at in self.parts():
            first, end = np.searchsorted(starts, (at.start, at.stop))
            here = np.union1d(0, starts[first:end] - at.start)  # one may have begun before
            out[end - len(here) : end] += np.add.reduceat(column[at], here)
        return out

    def cuts(self, score: Floats) -> NDArray[np.int64]:
        """How many of the distinct scores are at least each of some scores."""
        m = len(self)
        if m <= _PART:
            return np.asarray(m - np.searchsorted(self.threshold[::-1], score, side="left"))
        first, out = self.blocks.first, [np.empty(0, np.int64)]
        for some in _several_of(score):
            k = np.maximum(len(first) - np.searchsorted(first[::-1], some, side="left") - 1, 0)
            at, there = self.inside(k)
            out.append(at[:, 0] + ((self.threshold[at] >= some[:, None]) & there).sum(axis=1))
            self.forget()
        return np.concatenate(out)

    def flagged(self, cut: NDArray[np.int64]) -> tuple[Masses, Masses]:
        """TP and FP at some cuts: from the sums of blocks, and the few entries in between."""
        if len(self) <= _PART:
            zero = np.zeros(1, self.pos.dtype)
            return np.append(zero, self.tp)[cut], np.append(zero, self.fp)[cut]
        if Blocks.size * len(cut) > len(self):
            return self._flagged_in_one_pass(cut)
        b, none = self.blocks, np.empty(0, self.pos.dtype)
        tp, fp = [none], [none]
        for some in _several_of(cut):
            k = np.minimum(some // b.size, len(b.cut) - 2)
            at, there = self.inside(k)
            inside = (at < some[:, None]) & there
            for sums, mass, start in ((tp, self.pos, b.tp), (fp, self.neg, b.fp)):
                # Added one by one, as tp and fp are.
                each = np.column_stack((start[k], np.where(inside, mass[at], 0)))
                sums.append(np.cumsum(each, axis=1)[:, -1])
            self.forget()
        return np.concatenate(tp), np.concatenate(fp)

    def _flagged_in_one_pass(self, cut: NDArray[np.int64]) -> tuple[Masses, Masses]:
        tp, fp = (np.zeros(len(cut), self.pos.dtype) for _ in "pn")
        order = np.argsort(cut)
        entry = cut[order] - 1
        for at, here_tp, here_fp in self.running():
            some = slice(*np.searchsorted(entry, (at.start, at.stop)).tolist())
            tp[order[some]] = here_tp[entry[some] - at.start]
            fp[order[some]] = here_fp[entry[some] - at.start]
        return tp, fp

    def inside(self, block: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The entries of each of some blocks, and which of them there are: the last has fewer."""
        at = self.blocks.cut[block][:, None] + np.arange(Blocks.size)
        return np.minimum(at, len(self) - 1), at < len(self)

    def threshold_of(self, cut: int) -> float:
        """A threshold that flags exactly the ``cut`` highest of the distinct scores.

        It lies in the middle half of the gap between the lowest score that is flagged and the
        highest that is not, and is the number with the fewest decimals there: thresholds are typed,
        and new scores fall on either side. Where no such number exists, since scores are
        neighbouring floats or infinite, it is the lowest flagged score itself. ``+inf`` flags
        nothing and ``-inf`` everything.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.sweep([1, 0, 1], [0.93817, 0.51213, 0.11111])
        >>> [s.threshold_of(cut) for cut in range(4)]
        [inf, 0.7, 0.3, -inf]
        """
        if cut <= 0:
            return np.inf
        if cut >= len(self):
            return -np.inf
        below = self.threshold if self.top is None else self.top
        return _short_decimal_between(float(below[cut]), float(self.threshold[cut - 1]))

    def thresholds_of(self, cuts: NDArray[np.int64]) -> Floats:
        """The same of several cuts."""
        out: list[float] = []
        for some in _several_of(cuts):
            out += [self.threshold_of(k) for k in some.tolist()]
            self.forget()
        return np.array(out)

    def at(self, threshold: float) -> Confusion:
        """The confusion when every ``score >= threshold`` is decided positive.

        Any number is a threshold, whether a score equals it or not; ``+inf`` flags the cases whose
        score is ``+inf``.
        """
        t = check_threshold(threshold)
        k = int(self.cuts(np.array([t]))[0])
        if self.top is not None and k < len(self) and self.top[k] >= t:
            ends = f"{self.threshold[k]:.9g} or {self.top[k]:.9g}"
            hint = f"Use {ends}, the ends of the run, or the original sweep."
            raise UndefinedError(SweepCompact(f"the threshold {t!r}", hint))
        tp, fp = (mass.item() for mass in self.flagged(np.array([k])))
        return Confusion(tp=tp, fp=fp, fn=self.P - tp, tn=self.N - fp)

    def compact(self) -> Sweep:
        """The same ROC curve with the fewest thresholds: runs of one class become one step.

        Two neighbours that are both all positive, or both all negative, lie on one vertical or
        horizontal line of the staircase; they are merged at the lower threshold, but for scores of
        ``+inf``, which every threshold flags. At most
        2 min(P, N) + 2 entries remain of P + N unweighted rows. ROC curve, area, hull, intervals of
        these, and the thresholds that are best for costs, the accuracy, the balanced rate, Youden's
        J and F_β are unchanged. Scores inside of a run are forgotten: what depends on them, such as
        the average precision, is refused from then on.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.sweep([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
        >>> s.compact().threshold, s.compact().auc == s.auc
        (array([5., 2., 1.]), True)
        """
        only_pos, only_neg = self.neg == 0, self.pos == 0
        last = np.ones(len(self), np.bool_)
        last[:-1] = ~((only_pos[:-1] & only_pos[1:]) | (only_neg[:-1] & only_neg[1:]))
        if len(self) and self.threshold[0] == np.inf:
            last[0] = True  # no threshold flags less: what it does must be known
        ends = np.flatnonzero(last)
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        if len(ends) == len(self):
            return self
        masses = (self.pos, self.neg, self.pos2, self.neg2)
        merged = (None if mass is None else np.add.reduceat(mass, starts) for mass in masses)
        top = (self.threshold if self.top is None else self.top)[starts]
        return Sweep._adopt(self.threshold[ends], *merged, top=top)

    def negated(self) -> Sweep:
        """The sweep of ``-score``: for scores of which low ones mean positive.

        Examples
        --------
        >>> import cutscore as cs
        >>> y, score = [1, 0, 1, 0], [310, 720, 540, 690]
        >>> s = cs.sweep(y, score).negated()
        >>> s.auc, s.at(-600)  # a score of 600 or less
        (1.0, 4 cases, 2 positive; 2 caught, 0 missed, 0 false alarms)
        """
        self.needs_scores("the sweep of negated scores")
        masses = (self.pos, self.neg, self.pos2, self.neg2)
        back = (None if mass is None else mass[::-1].copy() for mass in masses)
        # 0.0 - x, since -x makes a -0.0 of 0.0.
        return Sweep._adopt(0.0 - self.threshold[::-1], *back)

    def __len__(self) -> int:
        return len(self.threshold)

    def __add__(self, other: object) -> Sweep:
        if not isinstance(other, Sweep):
            return NotImplemented
        a, b = self, other
        if a.merged or b.merged:
            raise UndefinedError(SweepCompact("addition", "Add first, then compact()."))
        if not (a.weighted or b.weighted):
            merge: Callable[..., Any] = _native.merge
            return _bounded(Sweep(*merge(a.threshold, a.pos, a.neg, b.threshold, b.pos, b.neg)))
        a, b, merge = a._with_float_masses(), b._with_float_masses(), _native.weighted_merge
        merged = merge(a.threshold, a.pos, a.neg, b.threshold, b.pos, b.neg)
        if a.pos2 is None or a.neg2 is None or b.pos2 is None or b.neg2 is None:
            return _bounded(Sweep(*merged))
        _, *squares = merge(a.threshold, a.pos2, a.neg2, b.threshold, b.pos2, b.neg2)
        return _bounded(Sweep(*merged, *squares))

    def __radd__(self, other: object) -> Sweep:
        # For sum(): it starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _with_float_masses(self) -> Sweep:
        if self.weighted:
            return self
        pos, neg = self.pos.astype(np.float64), self.neg.astype(np.float64)
        return Sweep._adopt(self.threshold, pos, neg, pos, neg)  # a weight of 1 is its own square

    def squares(self, measure: str) -> tuple[Masses, Masses]:
        """Sums of squared weights at each score, of either class; or an error."""
        if not self.weighted:
            return self.pos, self.neg
        if self.pos2 is None or self.neg2 is None:
            raise UndefinedError(SquaresMissing(measure))
        return self.pos2, self.neg2

    def square_totals(self, measure: str) -> tuple[float, float]:
        """The sums of all squared weights of positives and of negatives; or an error."""
        pos2, neg2 = self.squares(measure)
        if not self.weighted:
            return self.P, self.N
        sums = [(pos2[at].sum(), neg2[at].sum()) for at in self.parts()]
        pos, neg = (sum(map(float, each)) for each in zip(*sums, strict=True))
        return pos, neg

    def needs_rows(self, measure: str) -> None:
        """Raise unless there is any mass."""
        if not self.P + self.N > 0:
            raise UndefinedError(TooFew(measure, 1, "row", 0))

    def needs_scores(self, measure: str) -> None:
        """Raise if scores inside of runs were forgotten."""
        if self.merged:
            raise UndefinedError(SweepCompact(measure))

    def needs_positives(self, measure: str, hint: str = "") -> None:
        """Raise unless positives have mass."""
        self.needs_rows(measure)
        if not self.P > 0:
            self._one_class_error("positives", measure, hint)

    def needs_negatives(self, measure: str) -> None:
        """Raise unless negatives have mass."""
        self.needs_rows(measure)
        if not self.N > 0:
            self._one_class_error("negatives", measure)

    def needs_both_classes(self, measure: str) -> None:
        """Raise unless both classes have mass."""
        self.needs_rows(measure)
        if not (self.P > 0 and self.N > 0):
            self._one_class_error("positives and negatives", measure)

    def _one_class_error(self, what: str, measure: str, hint: str = "") -> NoReturn:
        only = "positive" if self.P > 0 else "negative"
        unit = "weight {}" if self.weighted else "{} of them"
        have = f"{only} ({unit.format(count_text(self.P + self.N))})"
        hint = hint or "Add rows of the other class."
        raise UndefinedError(OneClass(measure, what, have, hint))

    def _facts(self) -> dict[str, str]:
        if not len(self):
            return {"rows": "none"}
        total = self.P + self.N
        facts = {
            "weight" if self.weighted else "rows": count_text(total),
            "positive": f"{count_text(self.P)} ({100 * self.P / total:.3g} %)",
            "negative": count_text(self.N),
            "distinct scores": count_text(len(self)),
            "from, to": f"{self.threshold[-1]:.6g}, {self.threshold[0]:.6g}",
        }
        if self.P > 0 and self.N > 0:
            facts["AUC"] = f"{self.auc:.6g}"
        return facts

    def __repr__(self) -> str:
        if not len(self):
            return "Sweep of no rows"
        fact = self._facts()
        what = f"weight {fact['weight']}" if self.weighted else _several(fact["rows"], "row")
        return (
            f"Sweep of {what}: {fact['positive'].replace(' ', ' positive ', 1)}, "
            f"{fact['negative']} negative, {_several(fact['distinct scores'], 'distinct score')} "
            f"from {fact['from, to'].replace(',', ' to')}, "
            + (f"AUC {fact['AUC']}" if "AUC" in fact else "one class only, no AUC")
        )

    def sketch(self, points: int = 500) -> Sketch:
        """At most so many cuts, for loggers and files that can't hold all.

        Every vertex of the convex hull is kept, so that the best cut for any costs is what it was;
        counts are exact at each cut that is kept, and ``error`` bounds how far any other is from
        these.

        Parameters
        ----------
        points : int, default 500
            How many cuts to keep at most.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = rng.random(10_000) < 0.2
        >>> k = cs.sweep(y, rng.standard_normal(10_000) + y).sketch(200)
        >>> curve = cs.roc(k)  # to log: curve.fpr, curve.tpr, curve.threshold
        >>> len(k) <= 200, k.error < 0.03
        (True, True)
        """
        from cutscore.sweeps.sketch import sketch

        return sketch(self, points)

    def outline(self) -> tuple[Floats, Floats]:
        """FPR and TPR of cuts enough to draw the ROC curve: its corners, or every 256th of very
        many."""
        of: Any = self.compact() if len(self) <= _PART else self.blocks
        return np.append(0.0, of.fp / self.N), np.append(0.0, of.tp / self.P)

    def _picture(self) -> str:
        return thumbnail(*self.outline()) if self.P > 0 and self.N > 0 else ""


@dataclass(frozen=True, eq=False, repr=False)
class EqualRows(Frozen):
    """The rows of one class, those of one score as so many of equal weight.

    (Σw)²/Σw² of them, rounded, and at least one: they have the same sum of weights, and the same
    sum of squares but for that rounding. Where rows of a score weigh alike they are the rows
    themselves.
    """

    rows: NDArray[np.int64]
    each: Floats

    @classmethod
    def made(cls, mass: Masses, squares: Masses) -> EqualRows:
        """Of sums of weights, and of their squares."""
        if mass.dtype.kind != "f":
            return cls._adopt(mass, np.ones(len(mass)))
        seen = mass > 0
        rows, each = np.zeros(len(mass), np.int64), np.zeros(len(mass))
        rows[seen] = np.maximum(np.round(mass[seen] * (mass[seen] / squares[seen])), 1)
        each[seen] = mass[seen] / rows[seen]
        return cls._adopt(rows, each)

    @classmethod
    def of(cls, s: Sweep, what: str) -> tuple[EqualRows, EqualRows]:
        """The positives and the negatives of a sweep; ``what`` needs them."""
        pos2, neg2 = s.squares(what)
        return cls.made(s.pos, pos2), cls.made(s.neg, neg2)

    @derived
    def total(self) -> int:
        """How many there are."""
        return int(self.rows.sum())

    @derived
    def mass(self) -> float:
        """What they weigh together."""
        return float(np.sum(self.rows * self.each))


def sweep(  # noqa: PLR0913 - two are options
    y: ArrayLike,
    score: ArrayLike,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    *,
    squares: bool = False,
    compact: bool = False,
) -> Sweep:
    """Sweep a threshold over all scores: the mass of each class at each distinct score.

    One native sort; unweighted counts are integers from end to end. The result depends on the rows
    alone, not on the number of threads; ``CUTSCORE_THREADS`` sets how many are used.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels. ``0/1``, ``False/True`` and ``-1/1`` are understood; for any others say which one is
        ``positive``.
    score : array-like of shape (n,)
        Scores, higher meaning more positive. ``±inf`` are scores; NaN is refused. ``-0.0`` equals
        ``0.0``, and no other two values are ever merged. float32 and float64 are read in place, at
        any stride.
    weight : array-like of shape (n,), optional
        Weights, finite and at least 0. Rows of weight 0 are ignored.
    positive : label, optional
        The positive label.
    squares : bool, default False
        Keep the sums of squared weights too, which intervals of weighted data need; a second sort.
    compact : bool, default False
        The same as :meth:`Sweep.compact` of the result, in the time and memory of the few entries
        that are left.

    Returns
    -------
    Sweep

    Raises
    ------
    DataError
        If the input breaks one of the rules above; the message names the row.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep(["ok", "fraud", "ok"], [0.2, 0.9, 0.4], positive="fraud")
    >>> s.threshold, s.pos, s.neg
    (array([0.9, 0.4, 0.2]), array([1, 0, 0]), array([0, 1, 1]))
    """
    return sweep_of(check_rows(y, score, weight, positive), squares=squares, compact=compact)


def sweep_of(rows: Columns, *, squares: bool = False, compact: bool = False) -> Sweep:
    """The sweep of columns that were checked."""
    s = _sweep(rows, compact)
    if squares and rows.weight is not None:
        s = _with_squares(s, rows, compact)
    # Neighbours that the native core had in two buckets are not merged yet.
    return s.compact() if compact else s


def _with_squares(s: Sweep, rows: Columns, compact: bool) -> Sweep:
    assert rows.weight is not None
    of_squares = _sweep(replace(rows, weight=square_weights(rows.weight)), compact)
    return replace(s, pos2=of_squares.pos, neg2=of_squares.neg)


def square_weights(weight: NDArray[Any]) -> Floats:
    """Squares of weights, none of which is lost."""
    weight = weight.astype(np.float64, copy=False)  # beside float32, 2**500 is infinite
    most = float(weight.max(initial=0.0))
    least = float(weight.min(where=weight > 0, initial=np.inf))
    if not (least > 2.0**-500 and most < 2.0**500):
        one = most if most >= 2.0**500 else least
        rule = "lie between 2**-500 and 2**500 to be squared"
        raise DataError(BadArgument("weight", rule, one, "Rescale them."))
    return np.asarray(np.square(weight))


def _sweep(rows: Columns, compact: bool = False) -> Sweep:
    find: Any
    if rows.weight is None and not compact:
        # Blocks are added up while their entries are in the cache, before anybody asks for them.
        masses, sums = run_kernel(rows, _native.sweep_in_blocks, Blocks.size)
        s = Sweep(*masses)
        vars(s)["_sums_of_blocks"] = sums
        return s
    if rows.weight is None:
        find = _native.compact_sweep
    else:
        find = _native.weighted_compact_sweep if compact else _native.weighted_sweep
    return adopt_counts(*run_kernel(rows, find))


def adopt_counts(threshold: Floats, pos: Masses, neg: Masses, top: Floats | None = None) -> Sweep:
    """The sweep that the native core found."""
    # Where nothing was merged nothing is forgotten.
    merged = top is not None and not np.array_equal(top, threshold)
    s = Sweep(threshold, pos, neg, top=top if merged else None)
    return _bounded(s) if s.weighted else s


def check_sweep(s: object) -> Sweep:
    """A sweep, or an error that says how to make one."""
    if not isinstance(s, Sweep):
        raise DataError(BadArgument("s", "be a sweep", s, "Use sweep(y, score)."))
    return s


def area(rows: Columns) -> tuple[float, float, float]:
    """P, N and 2U = 2·P·N·AUC of rows, without a sweep: integers when unweighted."""
    return run_kernel(rows, _native.area if rows.weight is None else _native.weighted_area)


def _bounded(s: Sweep) -> Sweep:
    with np.errstate(over="ignore"):
        sums = [[mass[at].sum() for at in s.parts()] for mass in (s.pos, s.neg)]
    check_totals(*(np.array(each, s.pos.dtype) for each in sums))
    return s


def far_ends(values: Floats, count: Masses) -> list[tuple[int, int, int]]:
    """Of distinct values in their order, the ends that occur at least three times and are further
    from all others than these are apart: each with its neighbour and the other end, as indices.
    Few values have no far ones. Of the counts only the first and the last are looked at."""
    if len(values) < 12:
        return []
    return [
        (end, near, far)
        for end, near, far in ((0, 1, -1), (-1, -2, 0))
        if count[end] >= 3 and abs(values[end] - values[near]) >= abs(values[near] - values[far])
    ]


def _several_of(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(values), _LOOKED_UP):
        yield values[start : start + _LOOKED_UP]


def _total_of(cumulative: Masses) -> int | float:
    """The total as a Python number: 0 or 0.0 when there is nothing."""
    last: int | float = (cumulative[-1] if len(cumulative) else cumulative.dtype.type(0)).item()
    return last


def _short_decimal_between(low: float, high: float) -> float:
    """A number in (low, high]: the shortest decimal in the middle half, if there is one."""
    gap = high - low
    if not 1e-300 < gap < 1e300:
        return high
    middle = low + 0.5 * gap
    digits = -floor(log10(0.5 * gap))
    for places in (digits - 1, digits):
        try:
            candidate = round(middle, places)
        except OverflowError:  # past the largest float
            continue
        with np.errstate(over="ignore"):
            single = float(np.float32(candidate))
        # As a float32 too, since so NumPy compares float32 scores with a Python number.
        fits = low < candidate <= high and (low < single <= high or np.isinf(single))
        if fits and 4 * abs(candidate - middle) <= gap:
            return candidate
    return high


def _several(number: str, what: str) -> str:
    return f"{number} {what}" if number == "1" else f"{number} {what}s"
