"""A line trained for the measure itself: its surrogate, minimised to a certified gap."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import number
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import shown
from cutscore.linear import surrogates
from cutscore.linear.cutting_planes import Model, minimise
from cutscore.linear.line import Fit, LinearDetector, Step
from cutscore.linear.rows import (
    Block,
    Flags,
    Floats,
    MaskedRows,
    Rows,
    collect,
    one_thread_blas,
)
from cutscore.linear.surrogates import Classes, Masses, Surrogate, Worst
from cutscore.measures.aim import GoalLike, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.registry import MEASURES, Measure, f

__all__ = ["CSearch", "TrainableMeasure", "as_trainable", "search_C", "structural"]

# C = "scale" is so many times the C·n at which a line could begin to have the scores that the loss
# asks for. On real tables and simulated ones, from 10³ rows to 3·10⁴, dense and sparse, F1 was
# within 3 % of that of the best C, see docs/structural.md.
_STRENGTH = 1000.0
# What a search tries, as multiples of C = "scale".
C_PATH = (0.01, 0.1, 1.0, 10.0, 100.0)
# A search tells values of C apart that differ in the measure, and needs no exact minimum for that.
_SEARCH_TOL = 1e-2
# So many values of C in a row that are no better end a search.
_NO_BETTER = 2

_AT_K = re.compile(r"(precision|recall)@(?:k|(\d[\d_]*(?:\.\d*)?)\s*(%?))")


@dataclass(frozen=True)
class TrainableMeasure:
    """A measure to train for, made by :func:`cutscore.linear.structural.as_trainable`."""

    kind: str
    """balanced, error, cost, f, at k, prbep or auc."""
    beta: float = 1.0
    costs: Costs | None = None
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
        if self.costs is not None:
            return surrogates.cost(masses, *self._regrets(self.costs))
        return _SURROGATES[self.kind](masses)

    @staticmethod
    def _regrets(costs: Costs) -> tuple[float, float]:
        """What a miss and a false alarm cost, as shares of the larger."""
        miss, alarm = costs.on_positives, costs.on_negatives
        most = max(miss, alarm)
        return float(miss / most), float(alarm / most)

    def scaled_C(self, masses: Masses, variance: float) -> float:
        r"""The C that means the same for any number of rows, scale of features and share of
        positives.

        Scores that the loss asks for are of size 1/π for measures of the positives, and of size 1
        for errors and pairs; the slope of R is π or 1 times a distance of features. So a line
        begins to fit where C·n is 1/(π² variance), 1/(π variance) or 1/variance.
        """
        P, N = masses.P, masses.N
        if self.costs is not None:
            miss, alarm = self._regrets(self.costs)
            P, N = max(P * miss, 1e-9 * N), max(N * alarm, 1e-9 * P)
        share = (min(P, N) if self.kind in ("balanced", "error", "cost") else P) / (P + N)
        power = {"auc": 0, "error": 1, "cost": 1}.get(self.kind, 2)
        C = _STRENGTH / (share**power * (variance or 1.0) * (masses.P + masses.N))
        # Rounding in the variance must not make two fits of the same rows differ.
        return float(f"{C:.3g}")

    def held_out(self, y: Flags, scores: Floats, weight: Floats | None = None) -> float:
        """The measure itself of scores, where higher is better: at the threshold 0, or at k, or
        the AUC. The cost of errors is negated."""
        w = np.ones(len(y)) if weight is None else weight
        if not self.has_zero:
            # Rows that tie are half above each other, and flagged in part.
            group = np.unique(-scores, return_inverse=True)[1]
            tp, fp = np.bincount(group, w * y), np.bincount(group, w * ~y)
            caught, alarms = (np.concatenate(([0.0], np.cumsum(x))) for x in (tp, fp))
            P, N = float(caught[-1]), float(alarms[-1])
            if self.kind == "auc":
                return float(fp @ (caught[:-1] + tp / 2)) / (P * N)
            k = P if self.kind == "prbep" else self.count(Masses(None, None, P, N))
            return float(np.interp(k, caught + alarms, caught)) / min(k, P)
        flagged = scores >= 0
        outcomes = (y & flagged, ~y & flagged, y & ~flagged, ~y & ~flagged)
        point = Confusion(*(float(w[some].sum()) for some in outcomes))
        if self.costs is not None:
            return -float(self.costs(point))
        measure = f(self.beta) if self.kind == "f" else MEASURES[self.kind]
        value = measure.better * float(measure(point))
        return value if np.isfinite(value) else 0.0

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
        return self.kind in ("balanced", "error", "cost", "f")


_SURROGATES: dict[str, Callable[[Masses], Surrogate]] = {
    "balanced": surrogates.balanced,
    "error": surrogates.error,
    "prbep": surrogates.break_even,
    "auc": surrogates.Pairs,
}


def as_trainable(
    measure: GoalLike, k: float | None = None, *, as_named: bool = False
) -> TrainableMeasure:
    """A measure to train for, from its name, from ``f(beta)`` or from ``Costs(fp=…, fn=…)``.

    ``as_named`` concerns the measures at k: precision@k is then the surrogate over all labellings
    that flag at least k rows, and recall@k over those that flag at most k rows, for any k. Without
    it, the one that includes the true labelling is used.

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
    >>> as_trainable(cs.Costs(fp=1, fn=20)).kind
    'cost'
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
    if isinstance(known, Costs) and known.review is None:
        return TrainableMeasure("cost", costs=known)
    if isinstance(known, Measure):
        if known.beta:
            return TrainableMeasure("f", beta=known.beta)
        for kind in ("balanced", "error", "accuracy"):
            if known is MEASURES[kind]:
                return TrainableMeasure("error" if kind == "accuracy" else kind)
    rule = (
        "be one of the supported measures: 'balanced', 'f1', f(beta) with beta > 0, "
        "'precision@k', 'recall@k', 'prbep', 'auc', 'error' or Costs without reviews"
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
    C: float | Literal["scale"] = "scale",
    tol: float = 1e-3,
    max_iter: int = 1000,
    bias: float = 1.0,
    start: LinearDetector | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Fit:
    """Minimise ½‖w‖² + C·n·R(w), to within ``tol``.

    n is the number (or weight) of the rows, so C has the same meaning as in scikit-learn's
    ``LinearSVC``; SVM-perf, whose losses are percentages, uses C·n/100. With C = "scale" the
    penalty has the same effect for any number of rows, prevalence and scale of the features. The
    intercept is the weight of a constant feature with the value ``bias``, and part of ‖w‖. A
    ``start`` that ranks the rows well, such as a logistic regression, reduces the number of passes.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.structural import as_trainable, structural
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fit = structural(ArrayRows(X, X[:, 0] > 0), as_trainable("auc"), C=1.0)
    >>> fit.converged, fit.gap <= 1e-3 * fit.objective
    (True, True)
    >>> fit.detector.w.round(3).tolist()
    [0.5]
    """
    risk = RowRisk(rows, aim.surrogate, bias)
    if C == "scale":
        C = scaled_C(rows, aim, risk.masses)
    return _Path(risk, aim, start).fit(C, tol, max_iter, on_step)


class _Path:
    """Fits to the same rows, one after the other: each starts from the line and the planes of the
    one before."""

    def __init__(
        self, risk: RowRisk, aim: TrainableMeasure, start: LinearDetector | None = None
    ) -> None:
        self.risk, self.model = risk, Model()
        self.w: Floats | None = None
        if start is not None:
            self.w = np.append(start.w, start.b / risk.bias if aim.has_zero else 0.0)

    def fit(
        self,
        C: float,
        tol: float,
        max_iter: int,
        on_step: Callable[[Step], None] | None = None,
    ) -> Fit:
        risk = self.risk
        with one_thread_blas():
            found = minimise(
                risk,
                C * risk.n,
                tol=tol,
                max_iter=max_iter,
                start=self.w,
                model=self.model,
                on_step=on_step,
            )
        self.w = found.w
        return Fit(
            LinearDetector(found.w[:-1], float(found.w[-1]) * risk.bias),
            iterations=found.iterations,
            passes=found.passes,
            converged=found.converged,
            objective=found.objective,
            gap=found.gap,
            at_zero=found.at_zero,
        )


def scaled_C(rows: Rows, aim: TrainableMeasure, masses: Masses | None = None) -> float:
    """C = "scale" for these rows. One pass, or two if their masses are not known."""
    return aim.scaled_C(masses or RowRisk(rows, aim.surrogate, 1.0).masses, total_variance(rows))


class CSearch(NamedTuple):
    """The values of C that :func:`cutscore.linear.structural.search_C` tried, and the best."""

    C: float
    """The best one, for all rows."""
    Cs: tuple[float, ...]
    """Those that were tried, for all rows, from the lowest up."""
    scores: tuple[float, ...]
    """The mean over folds of the measure of rows left out, for each of them."""


def search_C(  # noqa: PLR0913 - the options of the estimator
    rows: Rows,
    aim: TrainableMeasure,
    fold: NDArray[np.intp],
    *,
    path: Sequence[float] = C_PATH,
    max_iter: int = 1000,
    bias: float = 1.0,
    start: LinearDetector | None = None,
) -> CSearch:
    """The C with the best cross-validated measure, from a path of multiples of C = "scale".

    ``fold`` is the fold in which each row is held out. Each fit starts from the weights and the
    cutting planes of the previous C, since a plane is a lower bound of R for any C. The search ends
    when two values in a row are no better; of equally good values the lowest is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.structural import as_trainable, search_C
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(600) < 0.2
    >>> X = rng.normal(size=(600, 3)) + 1.5 * y[:, None]
    >>> found = search_C(ArrayRows(X, y), as_trainable("f1"), np.arange(600) % 3)
    >>> found.C in found.Cs, 0.6 < max(found.scores) < 1
    (True, True)
    """
    whole = RowRisk(rows, aim.surrogate, bias)
    unit = scaled_C(rows, aim, whole.masses)
    settled = aim.for_rows(whole.masses)
    parts = [_LeftOut(rows, whole, settled, fold == k, start) for k in np.unique(fold).tolist()]
    multiples, scores = sorted(path), list[float]()
    for multiple in multiples:
        scores.append(float(np.mean([part.score(multiple, max_iter) for part in parts])))
        if len(scores) - 1 - int(np.argmax(scores)) >= _NO_BETTER:
            break
    Cs = tuple(float(f"{unit * multiple:.3g}") for multiple in multiples[: len(scores)])
    return CSearch(Cs[int(np.argmax(scores))], Cs, tuple(scores))


class _LeftOut:
    """A fold: the path of fits to the other rows, and the measure of its own."""

    def __init__(
        self,
        rows: Rows,
        whole: RowRisk,
        aim: TrainableMeasure,
        test: Flags,
        start: LinearDetector | None,
    ) -> None:
        self.aim, self.test = aim, MaskedRows(rows, test)
        others = MaskedRows(rows, ~test)
        risk = RowRisk(others, aim.surrogate, whole.bias)
        self.unit = scaled_C(others, aim, risk.masses)
        self.path = _Path(risk, aim, start)
        self.y = whole.y[test]
        self.weight = None if whole.weight is None else whole.weight[test]

    def score(self, multiple: float, max_iter: int) -> float:
        line = self.path.fit(self.unit * multiple, _SEARCH_TOL, max_iter).detector
        scores = collect(self.test, lambda block: block.scores(line.w, line.b))
        return self.aim.held_out(self.y, scores, self.weight)


def total_variance(rows: Rows) -> float:
    """The sum of the variances of all features. One pass."""

    def sums(block: Block) -> tuple[float, Floats, float]:
        weight = np.ones(len(block.y)) if block.weight is None else block.weight
        if isinstance(block.X, np.ndarray):
            squares = np.einsum("ij,ij->i", block.X, block.X, dtype=np.float64)
        else:
            squares = np.asarray(block.X.multiply(block.X).sum(axis=1), np.float64).ravel()
        return float(weight.sum()), block.combine(weight), float(weight @ squares)

    n, total, square = rows.reduce(sums, lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]))
    mean = total / n
    variance = square / n - float(mean @ mean)
    # Where it is lost to rounding, features are constant but for that.
    return variance if variance > 1e-12 * square / n else 0.0


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
        self.weight = np.concatenate(weights) if weights else None
        weight = None if self.weight is None else self._split(self.weight)
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
