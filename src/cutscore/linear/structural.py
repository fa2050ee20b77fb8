"""A line trained for the measure itself: its surrogate, minimised to a certified gap."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import shown
from cutscore.linear import surrogates
from cutscore.linear.cutting_planes import minimise
from cutscore.linear.line import Fit, LinearDetector, Step
from cutscore.linear.rows import Flags, Floats, Rows, collect, one_thread_blas
from cutscore.linear.surrogates import Classes, Masses, Surrogate, Worst
from cutscore.measures.aim import GoalLike, as_objective
from cutscore.measures.registry import MEASURES, Measure

__all__ = ["TrainableMeasure", "as_trainable", "structural"]

_AT_K = re.compile(r"(precision|recall)@(?:k|(\d[\d_]*(?:\.\d*)?)\s*(%?))")


@dataclass(frozen=True)
class TrainableMeasure:
    """A measure to train for, made by :func:`cutscore.linear.structural.as_trainable`."""

    kind: str
    """balanced, error, f, at k, prbep or auc."""
    beta: float = 1.0
    k: float | None = None
    """At k: a number of rows,"""
    share: float | None = None
    """or a share of them."""
    many: bool | None = None
    """At k: whether labellings of k rows and more are allowed, rather than of k and less; if it is
    not said, whichever allows the true one."""
    as_named: bool = False
    """At k: whether ``many`` holds for any k, also where the true labelling is not allowed."""

    def surrogate(self, masses: Masses) -> Surrogate:
        """The surrogate for rows of these weights."""
        if self.kind == "f":
            return surrogates.f_measure(masses, self.beta)
        if self.kind == "at k":
            k = self.count(masses)
            if self.as_named:
                at = surrogates.precision_at if self.many else surrogates.recall_at
                return at(masses, k)
            # Both ask for as many positives as possible among the k highest scores. Only one of
            # the two surrogates allows the true labelling; that of the other has no minimum but
            # for the penalty on b.
            if k <= masses.P if self.many is None else self.many:
                return surrogates.precision_at(masses, min(k, masses.P))
            return surrogates.recall_at(masses, max(k, masses.P))
        return _SURROGATES[self.kind](masses)

    def count(self, masses: Masses) -> float:
        """k as a number of rows."""
        n = masses.P + masses.N
        k = self.k if self.k is not None else (self.share or 0.0) * n
        if masses.whole:
            k = max(float(np.rint(k)), 1.0)
        if k > n:
            hint = "Use a share, such as k=0.05, to scale with the rows."
            raise DataError(BadArgument("k", f"be at most the number of rows, {n:g}", k, hint))
        return k

    def for_rows(self, masses: Masses) -> TrainableMeasure:
        """The same for some of the rows: the same share of them, by the same surrogate."""
        if self.kind != "at k":
            return self
        k = self.count(masses)
        many = self.many if self.as_named else k <= masses.P
        return replace(self, k=None, share=k / (masses.P + masses.N), many=many)

    @property
    def has_zero(self) -> bool:
        """Whether scores above 0 are what the measure is trained to flag."""
        return self.kind in ("balanced", "error", "f")


_SURROGATES: dict[str, Callable[[Masses], Surrogate]] = {
    "balanced": surrogates.balanced,
    "error": surrogates.error,
    "prbep": surrogates.break_even,
    "auc": surrogates.Pairs,
}


def as_trainable(
    measure: GoalLike, k: float | None = None, *, as_named: bool = False
) -> TrainableMeasure:
    """A measure to train for, from its name or from ``f(beta)``.

    ``as_named`` is for the measures at k: precision@k is then the surrogate over all labellings
    that flag k rows and more and recall@k that over k rows and less, for any k. Without it, the one
    of the two is taken that allows the true labelling.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.structural import as_trainable
    >>> as_trainable("precision@5%").share
    0.05
    >>> as_trainable(cs.f(2)).beta
    2.0
    >>> as_trainable("recall@10", as_named=True).many
    False
    """
    text = measure.strip().lower() if isinstance(measure, str) else ""
    at = _AT_K.fullmatch(text)
    if at:
        many = at[1] == "precision" if as_named else None
        return replace(_at_k(text, at, k), many=many, as_named=as_named)
    if as_named:
        rule = f"as_named applies to precision@k and recall@k, not to {shown(measure)}"
        raise DataError(Conflict(("as_named", "measure"), rule, "Drop {0}."))
    if k is not None:
        rule = f"k applies to precision@k and recall@k, not to {shown(measure)}"
        raise DataError(Conflict(("k", "measure"), rule, "Drop {0}."))
    if text in ("auc", "roc_auc", "prbep"):
        return TrainableMeasure(text.removeprefix("roc_"))
    try:
        known = as_objective(measure)
    except CutscoreError:
        known = None
    if isinstance(known, Measure):
        if known.beta:
            return TrainableMeasure("f", beta=known.beta)
        for kind in ("balanced", "error", "accuracy"):
            if known is MEASURES[kind]:
                return TrainableMeasure("error" if kind == "accuracy" else kind)
    rule = (
        "be one of the supported measures: 'balanced', 'f1', f(beta) with beta > 0, "
        "'precision@k', 'recall@k', 'prbep', 'auc' or 'error'"
    )
    raise DataError(BadArgument("measure", rule, measure))


def _at_k(measure: str, at: re.Match[str], k: float | None) -> TrainableMeasure:
    """k, or a share, of the name of a measure or beside it."""
    if at[2]:
        if k is not None:
            rule = f"k is given twice, as {shown(k)} and in {shown(measure)}"
            raise DataError(Conflict(("k", "measure"), rule, "Drop {0}."))
        k = float(at[2].replace("_", ""))
        if at[3]:
            if not 0 < k <= 100:
                raise DataError(BadArgument("measure", "have a share between 0 and 100 %", measure))
            return TrainableMeasure("at k", share=k / 100)
    value = _check_k(k)
    return TrainableMeasure("at k", share=value) if value < 1 else TrainableMeasure("at k", k=value)


def _check_k(k: object) -> float:
    value = number(k)
    if not 0 < value < inf or (value > 1 and value != int(value)):
        rule = "be an integer number of rows, 1 or more, or a share below 1"
        hint = "Pass k=100, k=0.05, or write 'precision@100'."
        raise DataError(BadArgument("k", rule, k, hint))
    return value


def structural(  # noqa: PLR0913 - the options of the estimator
    rows: Rows,
    aim: TrainableMeasure,
    *,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    bias: float = 1.0,
    start: LinearDetector | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Fit:
    """The line with the least ½‖w‖² + C·n·R(w), to within ``tol`` of it.

    n is the number (or weight) of the rows, so that C means what it does in scikit-learn's
    ``LinearSVC``; that of SVM-perf, whose losses are per cents, is C·n/100. The constant is the
    weight of a feature that is ``bias`` for all rows, part of ‖w‖. From a ``start`` that ranks the
    rows well, such as a logistic line, it takes fewer passes to the same bound.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.structural import as_trainable, structural
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fit = structural(ArrayRows(X, X[:, 0] > 0), as_trainable("auc"))
    >>> fit.converged, fit.gap <= 1e-3 * fit.objective
    (True, True)
    >>> fit.detector.w.round(3).tolist()
    [0.5]
    """
    risk = RowRisk(rows, aim.surrogate, bias)
    w = None
    if start is not None:
        w = np.append(start.w, start.b / bias if aim.has_zero else 0.0)
    with one_thread_blas():
        found = minimise(risk, C * risk.n, tol=tol, max_iter=max_iter, start=w, on_step=on_step)
    return Fit(
        LinearDetector(found.w[:-1], float(found.w[-1]) * bias),
        iterations=found.iterations,
        passes=found.passes,
        converged=found.converged,
        objective=found.objective,
        gap=found.gap,
    )


class RowRisk:
    """R of a line over rows. The constant is the weight of one more feature, ``bias``."""

    def __init__(self, rows: Rows, surrogate: Callable[[Masses], Surrogate], bias: float) -> None:
        self.rows, self.bias = rows, bias
        self.size = rows.features + 1
        # Copies, since what is kept of a block keeps all of it.
        parts = rows.reduce(
            lambda block: [(block.y.copy(), None if block.weight is None else block.weight.copy())],
            lambda a, b: a + b,
        )
        self.y: Flags = np.concatenate([y for y, _ in parts])
        weights = [w for _, w in parts if w is not None]
        weight = self._split(np.concatenate(weights)) if weights else None
        P = int(np.count_nonzero(self.y))
        self.masses = Masses.of(weight, P, len(self.y) - P)
        self.n = self.masses.P + self.masses.N
        self.surrogate = surrogate(self.masses)

    def _split(self, column: Floats) -> Classes:
        return Classes(column[self.y], column[~self.y])

    def zero(self) -> Classes:
        return self._split(np.zeros(len(self.y)))

    def scores(self, w: Floats) -> Classes:
        line, b = w[:-1], float(w[-1]) * self.bias
        return self._split(collect(self.rows, lambda block: block.scores(line, b)))

    def worst(self, s: Classes) -> Worst:
        return self.surrogate.worst(s)

    def gradient(self, slope: Classes) -> Floats:
        column = np.empty(len(self.y))
        column[self.y], column[~self.y] = slope.pos, slope.neg
        g = self.rows.reduce(
            lambda block: block.combine(column[block.start : block.start + len(block.y)]),
            lambda a, b: a + b,
        )
        return np.append(g, self.bias * float(column.sum()))
