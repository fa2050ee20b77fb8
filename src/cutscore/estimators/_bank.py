"""DetectorBank: one-vs-rest detectors, and a decision among all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from cutscore.core.checks import number
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument, Conflict
from cutscore.core.findings.base import Shown
from cutscore.core.findings.statistics import TooFew
from cutscore.core.types import Array, Label, MatrixLike
from cutscore.estimators._base import check_held_out_once, check_mass, check_positive, one_class
from cutscore.estimators._cross_fit import (
    CalibratedScorer,
    ClassifierWrapper,
    CrossFitter,
    Split,
    calibrate_scores,
    responses_for,
    weight_params,
)
from cutscore.estimators._shares import as_numbers, by_label, check_labels, class_shares
from cutscore.estimators._types import Classifier, ClassShares, CostMatrix, Folds
from cutscore.measures.costs import Costs
from cutscore.sweeps.sweep import Floats, sweep


def _calibrates(bank: DetectorBank) -> bool:
    if bank.method is None:
        raise AttributeError(
            "raw scores are not probabilities and have no expected cost: with method=None there "
            "are decision_function and predict only. Set method='platt', say, and refit."
        )
    return True


class DetectorBank(ClassifierWrapper):
    """One-vs-rest classifier: a calibrated detector for each of K classes.

    Each detector is a classifier whose scores are calibrated on held-out rows. Their probabilities
    are combined into posteriors, and the predicted class is the one with the largest posterior or,
    with ``costs``, the smallest expected cost. Prior and costs apply at prediction:
    ``set_params(prior=..., costs=...)`` takes effect without a refit.

    Parameters
    ----------
    estimator : classifier, optional
        A binary classifier with ``decision_function`` or ``predict_proba``, fitted to 1 for its
        class and 0 for the rest. Default :class:`Logistic`.
    method : str or None, default "platt"
        How scores are calibrated, as for :func:`cutscore.calibrate`. None leaves them raw: the
        largest score decides, and there are neither probabilities nor expected costs.
    cv : int, splitter or iterable, default 5
        A number of folds, a splitter, or pairs of indices that hold out each row once. All
        detectors use the same folds. Not used with ``method=None``.
    prior : array-like of shape (n_classes,) or dict, optional
        The share of each class where predictions are made, in the order of ``classes_`` or by
        label, adding up to 1. Default: that of the training rows.
    costs : array-like of shape (n_classes, n_classes), dict or Costs, optional
        ``costs[i, j]`` is the cost of predicting class j when the true class is i: a K × K array in
        the order of ``classes_``, or ``{label: {predicted: cost}}``, where the cost of a correct
        prediction defaults to 0. A benefit is a negative cost. With two classes 0/1, False/True or
        -1/1, :class:`cutscore.Costs` is accepted. By default all errors cost the same.

    Attributes
    ----------
    detectors_
        For each class, in the order of ``classes_``, the fitted ``estimator``, its ``calibrator``
        and the ``prior`` of the class. For two classes there is one, for the second. With
        ``method=None`` they are the classifiers.
    prior_
        The weighted share of each class among the training rows.
    classes_
        The labels, as scikit-learn sorts them.

    Notes
    -----
    Detector k estimates q_k, the probability of its class at the training prior π. Its "rest" has
    the other classes in the same proportions, so all K probabilities refer to the same population.
    Without error they would add up to 1. In general p is the projection that minimises Σ_k KL(p_k ‖
    q_k), the divergences of "class k or not", among all p that add up to 1. The solution shifts all
    log odds by the same amount:

        logit p_k = logit q_k − λ,  with λ such that Σ_k p_k = 1.

    It does not change probabilities that add up to 1 already, it keeps their order, and confident
    detectors change less than others. Of two alternatives, plain normalisation p_k ∝ q_k had the
    higher log loss in 51 of 56 trials (7 data sets, 4 classifiers, 2 methods), and p_k ∝ q_k / (1 −
    q_k) turns the correct (0.7, 0.2, 0.1) into (0.87, 0.09, 0.04).

    Another prior π′ is applied afterwards: p_k / π_k is p(x|k) up to a factor common to all
    classes, so p′_k ∝ p_k π′_k / π_k. Adding its log odds to the LLR of each detector would be
    wrong for more than two classes, since the composition of the rest changes too.

    Ties go to the class that comes first in ``classes_``.

    References
    ----------
    B. Zadrozny, C. Elkan, Transforming classifier scores into accurate multiclass probability
    estimates, KDD 2002, `doi:10.1145/775047.775151 <https://doi.org/10.1145/775047.775151>`_.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cutscore.estimators import DetectorBank
    >>> X, y = load_iris(return_X_y=True)
    >>> bank = DetectorBank().fit(X, y)
    >>> bank.predict(X[[0, 70, 120]])
    array([0, 2, 2])
    >>> bank.predict_proba(X[[0, 70, 120]]).round(2)
    array([[0.96, 0.04, 0.  ],
           [0.01, 0.33, 0.67],
           [0.  , 0.05, 0.95]])
    >>> costs = {0: {1: 1, 2: 1}, 1: {0: 1, 2: 5}, 2: {0: 1, 1: 1}}  # 1 as 2 is expensive
    >>> bank.set_params(costs=costs).predict(X[[0, 70, 120]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        estimator: Classifier | None = None,
        *,
        method: str | None = "platt",
        cv: Folds = 5,
        prior: ClassShares = None,
        costs: CostMatrix = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.prior = prior
        self.costs = costs

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> DetectorBank:
        """Fit and calibrate the detector of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights count as numbers of rows. A classifier that does not take them is fitted
            without, with a warning; the calibrators always use them.
        """
        X, y = indexable(X, y)
        if not _num_samples(X):
            raise ValueError("DetectorBank needs rows; X has 0 sample(s).")
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        mass = self._mass(codes, weight)
        self.prior_ = mass / mass.sum()
        # Errors in these settings show now, not at the first prediction.
        self._log_prior()
        self._costs()
        folds = None if self.method is None else self._folds(X, y, codes, weight)
        last = len(self.classes_) - 1
        of_class = [1] if last == 1 else range(last + 1)
        self.detectors_ = [
            self._detector(X, (codes == k).astype(np.int64), weight, folds) for k in of_class
        ]
        self._adopt_features(getattr(self.detectors_[0], "estimator", self.detectors_[0]))
        return self

    def decision_function(self, X: MatrixLike) -> Floats:
        """Log posterior odds of each class against the rest, at ``prior``.

        For two classes those of the second only, one number for each row. With ``method=None`` the
        raw scores: from ``decision_function`` or, without one, P(class) − P(rest).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        if self.method is None:
            scores = self._raw(X)
            return scores[:, 0] if len(self.classes_) == 2 else scores
        log_p = self._log_posterior(X)
        if len(self.classes_) == 2:
            return np.asarray(log_p[:, 1] - log_p[:, 0])
        p = np.exp(log_p)
        # A function of p_k alone, so that ties stay ties; above ½, where at most one class is, from
        # the other classes, or 1 − p would be lost in rounding.
        odds = log_p - np.log1p(-np.minimum(p, 0.5))
        row, k = np.nonzero(p > 0.5)
        others = log_p[row]
        others[np.arange(len(row)), k] = -np.inf
        odds[row, k] = log_p[row, k] - _log_sum(others)
        return np.asarray(odds)

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> Floats:
        """The posterior of each class, at ``prior``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        return np.asarray(np.exp(self._log_posterior(X)))

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """The logarithms of ``predict_proba``, accurate where these round to 0."""
        return self._log_posterior(X)

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def expected_cost(self, X: MatrixLike) -> Floats:
        """The expected cost of predicting each class j: Σ_i p_i costs[i, j].

        Without ``costs`` it is the probability of an error.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        costs = self._costs()
        return np.asarray(self.predict_proba(X) @ (_zero_one(self) if costs is None else costs))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The class with the smallest expected cost; without ``costs`` the most probable one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        check_is_fitted(self)
        costs = self._costs()
        if costs is not None:
            # Costs of correct predictions are common to all decisions; large ones cost precision.
            regret = costs - np.diag(costs)[:, None]
            best = np.argmin(self.predict_proba(X) @ regret, axis=1)
        elif len(self.classes_) == 2:
            best = (self.decision_function(X) > 0).astype(np.intp)
        elif self.method is None:
            best = np.argmax(self._raw(X), axis=1)
        else:
            best = np.argmax(self._log_posterior(X), axis=1)
        return np.asarray(self.classes_[best])

    def _log_posterior(self, X: MatrixLike) -> Floats:
        check_is_fitted(self)
        odds = np.column_stack([d.log_odds(X) for d in self.detectors_])
        if len(self.classes_) == 2:
            odds = np.hstack((-odds, odds))
        log_p = _project(odds) + (self._log_prior() - np.log(self.prior_))
        return np.asarray(log_p - _log_sum(log_p)[:, None])

    def _raw(self, X: MatrixLike) -> Floats:
        check_is_fitted(self)
        return np.column_stack([_score(d, X) for d in self.detectors_])

    def _mass(self, codes: NDArray[np.intp], weight: Floats | None) -> Floats:
        mass = np.bincount(codes, weight).astype(np.float64)
        names = self.classes_.tolist()
        if np.count_nonzero(mass) < 2:
            raise one_class("DetectorBank", names[int(mass.argmax())])
        check_mass(mass, names)
        return mass

    def _folds(self, X: MatrixLike, y: ArrayLike, codes: Array, weight: Floats | None) -> list[Any]:
        """Folds for all detectors, stratified by class if cv is a number."""
        if isinstance(self.cv, str):
            rule = "be a number of folds, a splitter or pairs of indices"
            raise DataError(BadArgument("cv", rule, self.cv))
        names = self.classes_.tolist()
        splitter = check_cv(self.cv, y, classifier=True)
        rows = np.bincount(codes if weight is None else codes[weight > 0])
        if rows.min() < 2:
            what = f"class {names[int(rows.argmin())]!r}"
            of = "rows (n_samples), one for training while the other is held out"
            hint = "Add rows of this class, or merge it with another."
            raise UndefinedError(TooFew(what, 2, of, int(rows.min()), hint))
        folds = list(splitter.split(X, y))
        for k, (train, _) in enumerate(folds):
            rest = codes[train] if weight is None else codes[train][weight[train] > 0]
            gone = np.setdiff1d(np.arange(len(names)), rest)
            if len(gone):
                seen = f"fold {k} holds out all of class {names[gone[0]]!r}"
                rule = f"leave rows of each class to train on; {seen}"
                raise DataError(BadArgument("cv", rule, hint="Use StratifiedKFold."))
        return folds

    def _detector(
        self, X: MatrixLike, y: NDArray[Any], weight: Floats | None, folds: list[Any] | None
    ) -> Any:
        estimator = self._inner()
        if folds is not None:
            return self._calibrate(X, y, weight, folds)
        new = clone(estimator)
        if weight is None:
            return new.fit(X, y)
        if not has_fit_parameter(new, "sample_weight"):
            raise TypeError(
                f"{type(new).__name__} takes no sample_weight, and with method=None nothing else "
                "uses it. Drop it, or use a classifier that accepts it."
            )
        return new.fit(X, y, sample_weight=weight)

    def _calibrate(
        self, X: MatrixLike, y: NDArray[Any], weight: Floats | None, folds: Sequence[Split]
    ) -> CalibratedScorer:
        assert self.method is not None
        check_held_out_once(folds, len(y))
        estimator, responses = self._inner(), responses_for(self.method)
        params = weight_params(estimator, weight, stacklevel=4)
        fitter = CrossFitter(estimator, np.array([0, 1]), 1, responses, params)
        scores = np.empty(len(y))
        for (_, test), part in zip(folds, fitter.held_out_scores(X, y, folds), strict=True):
            scores[test] = part
        s = sweep(y, scores, weight)
        calibrator = calibrate_scores(s, self.method)
        return CalibratedScorer(fitter.fit(X, y), calibrator, s.prevalence, responses)

    def _log_prior(self) -> Floats:
        if self.prior is None:
            return np.asarray(np.log(self.prior_))
        self._needs_method("prior")
        return np.asarray(np.log(class_shares(self.prior, self.classes_.tolist())))

    def _costs(self) -> Floats | None:
        if self.costs is None:
            return None
        self._needs_method("costs")
        names = self.classes_.tolist()
        k = len(names)
        given: object = self.costs
        if isinstance(given, Costs):
            if k != 2:
                rule = f"be a matrix for {k} classes"
                hint = "Pass costs[i, j] of predicting class j when the true class is i."
                raise DataError(BadArgument("costs", rule, given, hint))
            check_positive(self.classes_, "costs=Costs(...)")
            given = [[-given.tn, given.fp], [given.fn, -given.tp]]
        given = by_label(given)
        costs = _cost_matrix(given, names) if isinstance(given, Mapping) else as_numbers(given)
        if costs.shape != (k, k):
            rule = f"be a {k} × {k} matrix, a row and a column for each class"
            raise DataError(BadArgument("costs", rule, Shown(f"shape {costs.shape}")))
        for i, j in np.argwhere(~(np.abs(costs) <= 1e100)):
            subject = f"the cost of predicting {names[j]!r} for {names[i]!r}"
            rule = "be a finite number, up to 1e100"
            raise DataError(BadArgument("costs", rule, costs[i, j], subject=subject))
        right = np.diag(costs)[:, None]
        for i, j in np.argwhere(costs < right):
            subject = f"the cost of predicting {names[j]!r} for {names[i]!r}"
            rule = f"be at least that of a correct prediction, {costs[i, i]:g}"
            hint = "costs[i, j] is the cost of predicting j for i; a benefit is negative."
            raise DataError(BadArgument("costs", rule, costs[i, j], hint, subject))
        if not (costs > right).any():
            hint = "Omit costs to count all errors equally."
            raise DataError(BadArgument("costs", "depend on the prediction", hint=hint))
        return costs

    def _needs_method(self, what: str) -> None:
        if self.method is None:
            rule = f"{what} requires calibrated scores; with method=None they are raw"
            hint = "Set {1}='platt' or {0}=None."
            raise DataError(Conflict((what, "method"), rule, hint))


def _project(odds: Floats) -> Floats:
    """ln p of the p that add up to 1 and whose log odds are ``odds`` − λ, row by row.

    Only differences matter, so the largest log odds are made 0. Then λ solves
    ln σ(λ) = ln Σ σ(l_k − λ) over the other classes: the probability that it is none of the first,
    in two ways. Their difference rises with λ, with a slope between ½ and 2, so that Newton's
    method needs few steps; as logarithms nothing is lost however far apart the classes are.
    """
    # A score far out may have an infinite LLR; two such would leave nothing to compare.
    odds = np.clip(odds, -1e300, 1e300)
    odds = odds - odds.max(axis=1, keepdims=True)
    rest = np.sort(odds, axis=1)[:, :-1]
    # At the second largest odds Σ p_k is at least ½ + ½; at the log-sum-exp of all, below 1.
    low, high = rest[:, -1].copy(), _log_sum(odds)
    shift = np.clip(0.5 * _log_sum(rest), low, high)
    for _ in range(100):
        log_q = -np.logaddexp(0, shift[:, None] - rest)
        total = _log_sum(log_q)
        share = np.exp(log_q - total[:, None])
        not_first = -np.logaddexp(0, -shift)
        gap = not_first - total
        slope = -np.expm1(not_first) - np.sum(share * np.expm1(log_q), axis=1)
        low, high = np.where(gap < 0, shift, low), np.where(gap < 0, high, shift)
        new = shift - gap / slope
        new = np.where((new >= low) & (new <= high), new, 0.5 * low + 0.5 * high)
        moved = np.abs(new - shift)
        shift = new
        # Steps square their error: after one of 1e-8 what is left is rounding, that of λ included.
        if np.all(moved <= 1e-8 + 4e-15 * np.abs(shift)):
            break
    return np.asarray(-np.logaddexp(0, shift[:, None] - odds))


def _log_sum(a: Floats) -> Floats:
    """ln Σ exp of each row; the largest must be finite."""
    top = a.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(a - top).sum(axis=1)))


def _score(estimator: Classifier, X: MatrixLike) -> Floats:
    """Scores, above 0 where the estimator predicts its class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), np.float64).ravel()
    if hasattr(estimator, "predict_proba"):
        p = np.asarray(estimator.predict_proba(X), np.float64)
        return np.asarray(p[:, 1] - p[:, 0])
    raise TypeError(
        f"{type(estimator).__name__} has no scores to decide among classes. Use a classifier with "
        "decision_function or predict_proba."
    )


def _zero_one(bank: DetectorBank) -> Floats:
    k = len(bank.classes_)
    return np.ones((k, k)) - np.eye(k)


def _cost_matrix(given: Mapping[Label, object], names: list[Label]) -> Floats:
    check_labels(given, names, "costs")
    costs = np.zeros((len(names), len(names)))
    for i, name in enumerate(names):
        row = given.get(name, {})
        if not isinstance(row, Mapping):
            rule, subject = "be {predicted: cost}", f"costs of {name!r}"
            raise DataError(BadArgument("costs", rule, row, subject=subject))
        check_labels(row, names, f"costs of {name!r}")
        for j, decided in enumerate(names):
            if decided in row:
                costs[i, j] = number(row[decided])
            elif i != j:
                rule = f"include that of predicting {decided!r} for {name!r}"
                raise DataError(BadArgument("costs", rule))
    return costs
