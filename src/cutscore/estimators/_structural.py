"""Structural and StructuralCV: linear classifiers trained for the measure itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import check_cv

from cutscore.core.checks import number, one_of
from cutscore.core.errors import CutscoreWarning, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import (
    LearnedNothing,
    NotConverged,
    PositiveAssumed,
    TooFew,
)
from cutscore.core.progress import progress
from cutscore.core.types import Array
from cutscore.decision.choice import choose
from cutscore.estimators._base import (
    LinearEstimator,
    StoppedEarly,
    check_held_out_once,
    gap_progress,
    names_positive,
)
from cutscore.estimators._types import ClassWeight, Folds
from cutscore.linear import Fit, LinearDetector
from cutscore.linear.rows import ArrayRows, Floats
from cutscore.linear.structural import (
    C_PATH,
    RowRisk,
    TrainableMeasure,
    as_trainable,
    scaled_C,
    search_C,
    structural,
)
from cutscore.measures.costs import Costs
from cutscore.measures.registry import Measure, f
from cutscore.sweeps.sweep import sweep

# Measures for which the two classes are the same but for their names.
_SYMMETRIC = ("auc", "balanced", "error")
_THRESHOLDS = ("auto", "zero", "cross-fit")
# A minimum with more than this share of the objective at w = 0 has learned nothing.
_NOTHING = 1 - 1e-4


class Structural(LinearEstimator):
    r"""Structural SVM: a linear classifier trained for a measure of all its decisions at once.

    Minimises ½‖w‖² + C·n·R(w), where R is the convex surrogate of 1 − measure:

    .. math:: R(w) = \max_v \; Δ(v, y) + \frac1n \left(\sum_{FP(v)} s - \sum_{FN(v)} s\right),
              \qquad s = w·x + b,

    over all labellings v of the rows, found exactly; for the AUC it is the mean over pairs of
    (1 − s₊ + s₋)₊. It is an upper bound of 1 − measure at the threshold 0. The minimum comes with a
    certificate: ``gap_`` bounds how much lower the objective can be.

    Parameters
    ----------
    measure : str, Measure or Costs, default "f1"
        ``"f1"``, ``cutscore.f(beta)``, ``"balanced"``, ``"error"``, ``"precision@k"`` or
        ``"recall@k"`` (or ``"precision@100"``, ``"recall@5%"``), ``"prbep"``, the precision where
        as many are flagged as there are positives, or ``"auc"``. ``cutscore.Costs(fp=1, fn=20)`` is
        the cost of errors: hinge losses weighted by it. All but balanced, error and AUC
        concern the positives: a warning names the class taken as positive, if the labels are not
        0/1, False/True or -1/1.
    k : float, optional
        For ``"precision@k"`` and ``"recall@k"``: the number of rows flagged, or below 1 their
        share. Both maximise the positives among the k highest scores. If k is at most P, the
        surrogate is that of the precision over all labellings that flag at least k rows; otherwise
        that of the recall over all that flag at most k rows. Then the true labelling is among them.
    as_named : bool, default False
        For the measures at k: precision@k flags at least k rows and recall@k at most k rows, for
        any k. If the true labelling is not among these, the surrogate decreases as b moves all
        scores up (recall, k < P) or down (precision, k > P), limited only by the penalty: scores
        then rank, but 0 has no meaning, and ``threshold="zero"`` should not be used.
    C : float or "scale", default "scale"
        Weight of the surrogate against ‖w‖², per row: as in ``LinearSVC``, whose objective (with
        hinge loss) is that of ``measure="error"``. SVM-perf's C is C·n/100. ``"scale"`` is
        1000 / (n V πᵖ), where V is the sum of the variances of the features, π the share of
        positives, and p = 0 for the AUC, 1 for error and costs and 2 for the other measures: the
        penalty then means the same for any number of rows, any scale of the features, and rare
        positives. :class:`StructuralCV` searches for the best.
    tol : float, default 1e-3
        Stop when ``gap_`` is at most this share of the objective.
    max_iter : int, default 1000
        Maximum number of iterations; reaching it gives a warning.
    threshold : {"auto", "zero", "cross-fit"}, default "auto"
        ``"zero"``: b as trained. ``"cross-fit"``: b is shifted to the optimal threshold for the
        measure (for the AUC: for balanced accuracy) on held-out scores, at the cost of ``cv`` more
        fits. ``"auto"``: zero for F, balanced and error, cross-fit for the others, which measure
        the ranking and leave b undetermined.
    cv : int, splitter or iterable, default 5
        Folds for ``"cross-fit"``, as in scikit-learn.
    intercept_scaling : float, default 1.0
        b is the weight of a constant feature with this value, and so part of ‖w‖. Standardise
        features that are far from 0.
    class_weight : dict, "balanced" or Costs, optional
        Weights of the classes.
    verbose : bool, default False
        Show progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, classes_, fit_, detector_
        As for all linear estimators.
    objective_, gap_
        ½‖w‖² + C·n·R and its certificate, before ``"cross-fit"`` shifts b.
    n_iter_, passes_, converged_
        Iterations, passes over all rows, and whether ``tol`` was reached.
    C_
        The value of C.

    Notes
    -----
    Weights count as numbers of rows. Ties in the worst labelling are shared evenly, so that the
    result does not depend on the order of the rows. The solver uses cutting planes with a line
    search between the best point and the model's minimum, which needs no pass over the rows.

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
    >>> model = Structural("f1").fit(X[train], y[train])
    >>> model.converged_, model.gap_ <= 1e-3 * model.objective_
    (True, True)
    >>> plain = LogisticRegression().fit(X[train], y[train])
    >>> f1_score(y[test], plain.predict(X[test])) < f1_score(y[test], model.predict(X[test]))
    True
    """

    def __init__(  # noqa: PLR0913 - parameters of scikit-learn's kind
        self,
        measure: str | Measure | Costs = "f1",
        *,
        k: float | None = None,
        as_named: bool = False,
        C: float | Literal["scale"] = "scale",
        tol: float = 1e-3,
        max_iter: int = 1000,
        threshold: str = "auto",
        cv: Folds = 5,
        intercept_scaling: float = 1.0,
        class_weight: ClassWeight = None,
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
        for name in ("tol", "intercept_scaling"):
            value = getattr(self, name)
            if not 0 < number(value) < inf:
                raise DataError(BadArgument(name, "be a positive number", value))
        self._check_C()
        if not (number(self.max_iter) >= 1 and int(self.max_iter) == self.max_iter):
            raise DataError(BadArgument("max_iter", "be an integer of at least 1", self.max_iter))
        one_of("threshold", self.threshold, _THRESHOLDS)
        aim = as_trainable(self.measure, self.k, as_named=self.as_named)
        if aim.kind not in _SYMMETRIC and not names_positive(self.classes_):
            # No error: scikit-learn's checks fit labels of any kind with the default measure.
            other, taken = self.classes_.tolist()
            warnings.warn(CutscoreWarning(PositiveAssumed(taken, other)), stacklevel=3)
        crossed = self.threshold == "cross-fit" or (self.threshold == "auto" and not aim.has_zero)
        splits = self._splits(rows) if crossed or self._searches else []
        self.C_ = self._choose_C(rows, aim, splits)
        fit = self._solve(rows, aim, "training", self.C_)
        self._warn(fit)
        self.objective_, self.gap_ = fit.objective, fit.gap
        self.passes_, self.converged_ = fit.passes, fit.converged
        if crossed:
            raw = fit.detector
            shift = self._best_threshold(rows, aim, raw, splits)
            fit = replace(fit, detector=LinearDetector(raw.w, raw.b - shift))
        return fit

    _searches = False
    """Whether C is chosen on folds."""

    def _check_C(self) -> None:
        if self.C != "scale" and not 0 < number(self.C) < inf:
            raise DataError(BadArgument("C", "be a positive number or 'scale'", self.C))

    def _choose_C(
        self,
        rows: ArrayRows,
        aim: TrainableMeasure,
        splits: list[tuple[Any, Any]],  # noqa: ARG002 - StructuralCV's
    ) -> float:
        return scaled_C(rows, aim) if isinstance(self.C, str) else float(self.C)

    def _fold_C(self) -> float | Literal["scale"]:
        """C of the fits that a threshold is cross-fitted with."""
        return "scale" if isinstance(self.C, str) else self.C_

    def _warn(self, fit: Fit) -> None:
        """Warn if the fit has not converged, or has learned nothing."""
        assert fit.gap is not None
        assert fit.objective is not None
        assert fit.at_zero is not None
        if not fit.converged:
            why = (
                "Raise max_iter"
                if fit.iterations >= self.max_iter
                else "The precision of float64 is exhausted, as features or C are too large"
            )
            share = fit.gap / abs(fit.objective)
            state = f"the gap is {fit.gap:.3g}, {share:.2g} of the objective"
            hint = f"{why}. Standardise the features, or lower C."
            early = NotConverged("Structural", fit.iterations, self.max_iter, hint, state)
            warnings.warn(StoppedEarly(early), stacklevel=4)
        elif not fit.detector.w.any() or fit.objective > _NOTHING * fit.at_zero > 0:
            warnings.warn(CutscoreWarning(LearnedNothing(type(self).__name__)), stacklevel=4)

    def _solve(
        self, rows: ArrayRows, aim: TrainableMeasure, label: str, C: float | Literal["scale"]
    ) -> Fit:
        with progress(f"Structural: {label}", self.verbose) as report:
            return structural(
                rows,
                aim,
                C=C,
                tol=self.tol,
                max_iter=self.max_iter,
                bias=self.intercept_scaling,
                on_step=None if report is None else gap_progress(report),
            )

    def _splits(self, rows: ArrayRows) -> list[tuple[Any, Any]]:
        """The folds, restricted to rows of positive weight."""
        n = len(rows.y) if rows.kept is None else len(rows.kept)
        codes = np.zeros(n, np.intp)
        kept = np.arange(n) if rows.kept is None else np.flatnonzero(rows.kept)
        codes[kept] = rows.y
        least = int(min(np.count_nonzero(rows.y), np.count_nonzero(~rows.y)))
        if isinstance(self.cv, Integral) and least < int(self.cv):
            what = f"cross-validation with cv={self.cv}"
            hint = "Use fewer folds, or Structural with threshold='zero'."
            raise UndefinedError(TooFew(what, int(self.cv), "rows of each class", least, hint))
        # Rows of weight 0 are not in any fold, unless the user has assigned them.
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
                rule = f"leave rows of both classes to train on; fold {i} of {len(splits)} does not"
                hint = "Use other folds, or threshold='zero'."
                raise DataError(BadArgument("cv", rule, hint=hint))
        check_held_out_once(splits, len(rows.y))
        return splits

    def _best_threshold(
        self,
        rows: ArrayRows,
        aim: TrainableMeasure,
        final: LinearDetector,
        splits: list[tuple[Any, Any]],
    ) -> float:
        """The optimal threshold on held-out scores, for the measure."""

        def part_of(some: Array) -> ArrayRows:
            weight = None if rows.weight is None else rows.weight[some]
            return ArrayRows(rows.X[some], rows.y[some], weight)

        def own(model: LinearDetector, part: ArrayRows) -> float:
            """The optimal threshold on its own training rows, where b is undetermined."""
            if aim.has_zero:
                return 0.0
            return _threshold(part.y, model.scores(part.X), part.weight, settled)

        settled = aim.for_rows(RowRisk(rows, aim.surrogate, 1.0).masses)
        scores = np.empty(len(rows.y))
        for i, (train, test) in enumerate(splits):
            part = part_of(train)
            label = f"fold {i + 1} of {len(splits)}"
            model = self._solve(part, settled, label, self._fold_C()).detector
            scores[test] = model.scores(rows.X[test]) - own(model, part)
        here = final.scores(rows.X) - (shift := own(final, rows))
        threshold = _threshold(rows.y, scores, rows.weight, settled)
        # Flagging nothing or everything means a threshold beyond all scores, but b must be finite.
        both = np.concatenate((scores, here))
        low, high = float(both.min()), float(both.max())
        room = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-300)
        return shift + min(max(threshold, low - room), high + room)


class StructuralCV(Structural):
    """:class:`Structural` with C chosen by cross-validation, on the measure itself.

    Parameters
    ----------
    measure, k, as_named, tol, max_iter, threshold, intercept_scaling, class_weight, verbose
        As for :class:`Structural`.
    Cs : sequence of float, default (0.01, 0.1, 1, 10, 100)
        What to try, as multiples of ``C="scale"``, so that they mean the same in each fold.
    cv : int, splitter or iterable, default 3
        Folds, as in scikit-learn: for C, and for the threshold if it is cross-fitted.

    Attributes
    ----------
    C_
        The value of C with the highest mean of the measure on rows left out; that of all rows. Of
        equal ones it is the lowest.
    Cs_, scores_
        The values of C that were tried, from the lowest up, and the mean of the measure for each.
        F, balanced accuracy, errors and costs are measured at the threshold 0 (errors and costs
        are negated); measures at k by the k highest scores.
    coef_, intercept_, classes_, fit_, detector_, objective_, gap_, n_iter_, passes_, converged_
        As for :class:`Structural`, of the fit to all rows.

    Notes
    -----
    Values are tried from the lowest up. Each fit starts from the line and the cutting planes of the
    one before, since a plane is a bound for any C, and ends at a gap of 1 %. The search ends where
    two values in a row are no better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from cutscore.estimators import StructuralCV
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0.02, random_state=1)
    >>> model = StructuralCV("f1").fit(X, y)
    >>> model.C_ in model.Cs_[model.scores_ == model.scores_.max()]
    True
    """

    _searches = True

    def __init__(  # noqa: PLR0913 - parameters of scikit-learn's kind
        self,
        measure: str | Measure | Costs = "f1",
        *,
        k: float | None = None,
        as_named: bool = False,
        Cs: Sequence[float] = C_PATH,
        tol: float = 1e-3,
        max_iter: int = 1000,
        threshold: str = "auto",
        cv: Folds = 3,
        intercept_scaling: float = 1.0,
        class_weight: ClassWeight = None,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.k = k
        self.as_named = as_named
        self.Cs = Cs
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.cv = cv
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose

    def _check_C(self) -> None:
        if not len(self.Cs) or not all(0 < number(C) < inf for C in self.Cs):
            rule = "be positive numbers, at least one: multiples of C='scale'"
            raise DataError(BadArgument("Cs", rule, self.Cs))

    def _choose_C(
        self, rows: ArrayRows, aim: TrainableMeasure, splits: list[tuple[Any, Any]]
    ) -> float:
        fold = np.empty(len(rows.y), np.intp)
        for i, (_, test) in enumerate(splits):
            fold[test] = i
        found = search_C(
            rows,
            aim,
            fold,
            path=[float(C) for C in self.Cs],
            max_iter=self.max_iter,
            bias=self.intercept_scaling,
        )
        self.Cs_, self.scores_ = np.array(found.Cs), np.array(found.scores)
        return found.C

    def _fold_C(self) -> float:
        return self.C_


def _threshold(codes: Array, scores: Floats, weight: Floats | None, aim: TrainableMeasure) -> float:
    s = sweep(codes, scores, weight)
    if aim.kind == "f":
        point = choose(s, f(aim.beta))
    elif aim.kind in ("at k", "prbep"):
        k = s.P if aim.share is None else aim.share * (s.P + s.N)
        k = float(np.rint(k)) if not s.weighted else k
        point = choose(s, "recall", subject_to=f"flagged <= {k * (1 + 1e-12)!r}")
    else:
        point = choose(s, aim.costs or ("error" if aim.kind == "error" else "balanced"))
    return point.threshold
