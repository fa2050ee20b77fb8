"""Structural: a line trained for the measure itself."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import inf
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from cutscore.core.checks import number
from cutscore.core.errors import CutscoreWarning
from cutscore.core.findings.statistics import LearnedNothing, NotConverged, PositiveAssumed
from cutscore.core.progress import progress
from cutscore.decision.choice import choose
from cutscore.estimators._base import (
    LinearEstimator,
    StoppedEarly,
    check_left_out_once,
    closing,
    names_positive,
)
from cutscore.linear import Fit, LinearDetector
from cutscore.linear.rows import ArrayRows, Floats
from cutscore.linear.structural import RowRisk, TrainableMeasure, as_trainable, structural
from cutscore.measures.measure import f
from cutscore.sweeps.sweep import sweep

# Measures for which the two classes are the same but for their names.
_SYMMETRIC = ("auc", "balanced", "error")
_THRESHOLDS = ("auto", "zero", "cross-fit")


class Structural(LinearEstimator):
    r"""A linear detector trained for a measure of all its decisions at once.

    Minimises ½‖w‖² + C·n·R(w), where R is the convex surrogate of 1 − measure:

    .. math:: R(w) = \max_v \; Δ(v, y) + \frac1n \left(\sum_{FP(v)} s - \sum_{FN(v)} s\right),
              \qquad s = w·x + b,

    over all labellings v of the rows, found exactly; for the AUC it is the mean over pairs of
    (1 − s₊ + s₋)₊. It is an upper bound of 1 − measure at the threshold 0. The minimum comes with a
    certificate: ``gap_`` is how much lower the objective can be at the most.

    Parameters
    ----------
    measure
        ``"f1"``, ``cutscore.f(beta)``, ``"balanced"``, ``"error"``, ``"precision@k"`` or
        ``"recall@k"`` (or ``"precision@100"``, ``"recall@5%"``), ``"prbep"``, the precision where
        as many are flagged as there are positives, or ``"auc"``. All but balanced, error and AUC
        are about the positives: a warning tells which class was taken for them, if the labels are
        not 0/1, False/True or -1/1.
    k
        For ``"precision@k"`` and ``"recall@k"``: how many rows are flagged, or below 1 which share
        of them. Both ask for as many positives as possible among the k highest scores. Where k is
        at most P, the surrogate is that of the precision over all labellings that flag k rows and
        more; else that of the recall over all that flag k rows at the most. Only so is the true
        labelling one of them.
    as_named
        For the measures at k. True: precision@k flags k rows and more and recall@k k rows at the
        most, for any k. Where the true labelling is not among these, the surrogate is lower the
        further b moves all scores up (recall, k < P) or down (precision, k > P), and the penalty
        alone stops b: scores then rank, 0 means nothing, and ``threshold="zero"`` is no choice.
    C
        What the surrogate counts against ‖w‖², for each row: as in ``LinearSVC``, whose objective
        (with its hinge loss) is that of ``measure="error"``. SVM-perf's C is C·n/100. Rare
        positives and F measures want a large one.
    tol
        Ends as soon as ``gap_`` is at most so much of the objective.
    max_iter
        Ends after so many iterations, with a warning.
    threshold
        ``"zero"``: b is the one that was trained. ``"cross-fit"``: b moves the threshold to where
        it is best for the measure (for the AUC: for the balanced rate) on scores of rows left out,
        at the price of ``cv`` more fits. ``"auto"``: zero for F, balanced and error, cross-fit for
        the others, which are measures of the ranking and leave b undetermined.
    cv
        The folds for ``"cross-fit"``, as scikit-learn understands them.
    intercept_scaling
        b is the weight of a feature that has this value in all rows, and so part of ‖w‖.
        Standardise features that are far from 0.
    class_weight
        None, "balanced", a dict, or :class:`cutscore.Costs`: rows count as so many.
    verbose
        Show progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, classes_, fit_, detector_
        As for all linear estimators.
    objective_, gap_
        ½‖w‖² + C·n·R and its certificate, of the line before ``"cross-fit"`` moves it.
    n_iter_, passes_, converged_
        Iterations, passes over all rows, and whether the gap was closed.

    Notes
    -----
    Weights count as numbers of rows. Ties in the worst labelling are shared evenly, so that nothing
    depends on the order of the rows. Cutting planes with a search along the line between the best
    point and the model's minimum, which costs no pass over the rows.

    References
    ----------
    Joachims, "A support vector method for multivariate performance measures", ICML (2005),
    https://doi.org/10.1145/1102351.1102399. Franc & Sonnenburg, "Optimized cutting plane algorithm
    for large-scale risk minimization", JMLR 10 (2009), https://jmlr.org/papers/v10/franc09a.html.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import f1_score
    >>> from cutscore.estimators import Structural
    >>> X, y = make_classification(4000, weights=[0.97], flip_y=0.02, random_state=1)
    >>> train, test = slice(0, 2000), slice(2000, None)
    >>> line = Structural("f1").fit(X[train], y[train])
    >>> line.converged_, line.gap_ <= 1e-3 * line.objective_
    (True, True)
    >>> plain = LogisticRegression().fit(X[train], y[train])
    >>> f1_score(y[test], plain.predict(X[test])) < f1_score(y[test], line.predict(X[test]))
    True
    """

    def __init__(  # noqa: PLR0913 - parameters of scikit-learn's kind
        self,
        measure: Any = "f1",
        *,
        k: float | None = None,
        as_named: bool = False,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        threshold: str = "auto",
        cv: Any = 5,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.k = k
        self.as_named = as_named
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.cv = cv
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose

    def _learn(self, rows: ArrayRows) -> Fit:
        for name in ("C", "tol", "intercept_scaling"):
            value = getattr(self, name)
            if not 0 < number(value) < inf:
                raise ValueError(f"{name} must be a positive number; it is {value!r}.")
        if not (number(self.max_iter) >= 1 and int(self.max_iter) == self.max_iter):
            raise ValueError(f"max_iter must be a whole number from 1 on; it is {self.max_iter!r}.")
        if self.threshold not in _THRESHOLDS:
            raise ValueError(
                f"threshold must be one of {', '.join(map(repr, _THRESHOLDS))}; it is "
                f"{self.threshold!r}."
            )
        aim = as_trainable(self.measure, self.k, as_named=self.as_named)
        if aim.kind not in _SYMMETRIC and not names_positive(self.classes_):
            # No error: scikit-learn has labels of any kind learned with the default measure.
            other, taken = self.classes_.tolist()
            warnings.warn(CutscoreWarning(PositiveAssumed(taken, other)), stacklevel=3)
        crossed = self.threshold == "cross-fit" or (self.threshold == "auto" and not aim.has_zero)
        splits = self._splits(rows) if crossed else []
        fit = self._fitted(rows, aim, "training")
        self._remark(fit)
        self.objective_, self.gap_ = fit.objective, fit.gap
        self.passes_, self.converged_ = fit.passes, fit.converged
        if crossed:
            line = fit.detector
            moved = LinearDetector(line.w, line.b - self._best_threshold(rows, aim, line, splits))
            fit = replace(fit, detector=moved)
        return fit

    def _remark(self, fit: Fit) -> None:
        """Warn of a fit that is not what was asked for."""
        assert fit.gap is not None
        assert fit.objective is not None
        if not fit.converged:
            why = (
                "Raise max_iter"
                if fit.iterations >= self.max_iter
                else "float64 tells no more, as features or C are too large"
            )
            share = fit.gap / abs(fit.objective)
            state = f"the gap is {fit.gap:.3g}, {share:.2g} of the objective"
            hint = f"{why}. Standardise the features, or lower C."
            found = NotConverged("Structural", fit.iterations, self.max_iter, hint, state)
            warnings.warn(StoppedEarly(found), stacklevel=4)
        elif not fit.detector.w.any():
            warnings.warn(CutscoreWarning(LearnedNothing("Structural")), stacklevel=4)

    def _fitted(self, rows: ArrayRows, aim: TrainableMeasure, label: str) -> Fit:
        with progress(f"Structural: {label}", self.verbose) as report:
            return structural(
                rows,
                aim,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                bias=self.intercept_scaling,
                on_step=None if report is None else closing(report),
            )

    def _splits(self, rows: ArrayRows) -> list[tuple[Any, Any]]:
        """The folds, as they apply to the rows that have a weight."""
        n = len(rows.y) if rows.kept is None else len(rows.kept)
        codes = np.zeros(n, np.intp)
        kept = np.arange(n) if rows.kept is None else np.flatnonzero(rows.kept)
        codes[kept] = rows.y
        least = int(min(np.count_nonzero(rows.y), np.count_nonzero(~rows.y)))
        if isinstance(self.cv, Integral) and least < int(self.cv):
            raise ValueError(
                f"a cross-fitted threshold needs a row of either class in each of cv={self.cv} "
                f"folds; of one class there {'is' if least == 1 else 'are'} {least}. Use fewer "
                "folds, or threshold='zero'."
            )
        # Only what has a weight is dealt, unless the user has dealt it.
        if isinstance(self.cv, Integral):
            splits = list(check_cv(self.cv, rows.y, classifier=True).split(rows.y, rows.y))
        else:
            place = np.full(n, -1)
            place[kept] = np.arange(len(kept))
            splits = [
                tuple(place[part][place[part] >= 0] for part in pair)
                for pair in check_cv(self.cv, codes, classifier=True).split(codes, codes)
            ]
        for i, (train, _) in enumerate(splits):
            if rows.y[train].all() or not rows.y[train].any():
                raise ValueError(
                    f"each fold must leave rows of both classes to train on; fold {i} of "
                    f"{len(splits)} does not. Use other folds, or threshold='zero'."
                )
        check_left_out_once(splits, len(rows.y))
        return splits

    def _best_threshold(
        self,
        rows: ArrayRows,
        aim: TrainableMeasure,
        final: LinearDetector,
        splits: list[tuple[Any, Any]],
    ) -> float:
        """Where to cut scores of rows that were left out, for the measure."""

        def part_of(some: Any) -> ArrayRows:
            weight = None if rows.weight is None else rows.weight[some]
            return ArrayRows(rows.X[some], rows.y[some], weight)

        def own(line: LinearDetector, part: ArrayRows) -> float:
            """Where a line whose b means nothing would be cut by its own training rows."""
            if aim.has_zero:
                return 0.0
            return _threshold(part.y, line.scores(part.X), part.weight, settled)

        settled = aim.settled(RowRisk(rows, aim.surrogate, 1.0).masses)
        scores = np.empty(len(rows.y))
        for i, (train, test) in enumerate(splits):
            part = part_of(train)
            line = self._fitted(part, settled, f"fold {i + 1} of {len(splits)}").detector
            scores[test] = line.scores(rows.X[test]) - own(line, part)
        here = final.scores(rows.X) - (shift := own(final, rows))
        threshold = _threshold(rows.y, scores, rows.weight, settled)
        # To flag nothing or everything is beyond all scores, but not ±inf, which no line has.
        both = np.concatenate((scores, here))
        low, high = float(both.min()), float(both.max())
        room = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-300)
        return shift + min(max(threshold, low - room), high + room)


def _threshold(codes: Any, scores: Floats, weight: Floats | None, aim: TrainableMeasure) -> float:
    s = sweep(codes, scores, weight)
    if aim.kind == "f":
        point = choose(s, f(aim.beta))
    elif aim.kind in ("at k", "prbep"):
        k = s.P if aim.share is None else aim.share * (s.P + s.N)
        k = float(np.rint(k)) if not s.weighted else k
        point = choose(s, "recall", subject_to=f"flagged <= {k * (1 + 1e-12)!r}")
    else:
        point = choose(s, "error" if aim.kind == "error" else "balanced")
    return point.threshold
