"""CalibratedDetector: any binary classifier of scikit-learn, with calibrated scores."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from cutscore.calibration import calibrate
from cutscore.core.errors import CutscoreWarning, DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import WeightsUnused
from cutscore.core.types import MatrixLike
from cutscore.estimators._base import LogOdds, check_held_out_once, check_positive, two_classes
from cutscore.estimators._logistic import Logistic
from cutscore.estimators._types import Classifier, Folds
from cutscore.measures.costs import Costs, check_costs
from cutscore.measures.prior import check_prior, log_odds
from cutscore.sweeps.sweep import Floats, sweep

# Perfect separation is common in small folds; smoothed targets have a fit even then.
_SMOOTHED = ("platt", "beta")


class CalibratedDetector(LogOdds, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any binary classifier of scikit-learn, with scores calibrated to log-likelihood ratios.

    The calibrator is fitted to out-of-fold scores, the final classifier to all rows. Prior and
    costs apply at prediction: ``set_params(prior=..., costs=...)`` takes effect without a refit.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with ``decision_function`` or ``predict_proba``; the first is preferred, except
        by ``method="beta"``. Default :class:`Logistic`.
    method : str, default "auto"
        As for :func:`cutscore.calibrate`; ``"platt"`` and ``"beta"`` use smoothed targets.
    cv : int, splitter, iterable or "prefit", default 5
        A number of folds, a splitter, or pairs of indices that hold out each row once.
        ``"prefit"``: the estimator is fitted already, and all rows are used to calibrate it; they
        should be held-out rows. A ``FrozenEstimator`` does the same with any ``cv``.
    prior : float, optional
        The share of positives where predictions are made. Default: that of the training rows.
    costs : Costs, optional
        Costs of errors. By default all errors cost the same. Costs and prior need labels 0/1,
        False/True or -1/1, which name the positive class.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    calibrator_
        The :class:`cutscore.Calibrator` of its scores.
    prior_
        The weighted share of positives among the training rows.
    classes_
        The labels, the negative one first, as scikit-learn sorts them.

    Examples
    --------
    >>> import cutscore as cs
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from cutscore.estimators import CalibratedDetector
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> detector = CalibratedDetector(GaussianNB(), method="platt").fit(X, y)
    >>> int(detector.predict(X).sum())
    66
    >>> int(detector.set_params(costs=cs.Costs(fp=1, fn=10)).predict(X).sum())
    131
    """

    def __init__(
        self,
        estimator: Classifier | None = None,
        *,
        method: str = "auto",
        cv: Folds = 5,
        prior: float | None = None,
        costs: Costs | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.prior = prior
        self.costs = costs

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> CalibratedDetector:
        """Fit the classifier and its calibrator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights count as numbers of rows. A classifier that does not take them is fitted
            without, with a warning; the calibrator always uses them.
        groups : array-like of shape (n_samples,), optional
            Cluster ids, for splitters such as ``GroupKFold``.
        """
        X, y, groups = indexable(X, y, groups)
        if not _num_samples(X):
            raise ValueError("CalibratedDetector needs rows; X has 0 sample(s).")
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        labels, self.classes_, positive = two_classes("CalibratedDetector", y, weight)
        # Errors in these settings show now, not at the first prediction.
        self._check_settings()
        estimator = self._inner()
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        if weight is not None and not prefit and not has_fit_parameter(estimator, "sample_weight"):
            hint = 'Pass the weights to its last step yourself, and cv="prefit".'
            unused = WeightsUnused(
                type(estimator).__name__, hint if hasattr(estimator, "steps") else ""
            )
            warnings.warn(CutscoreWarning(unused), stacklevel=2)
        if prefit:
            check_is_fitted(estimator)
            self.estimator_ = estimator
            self._same_classes(estimator)
            scores = self._scores(estimator, X)
        else:
            scores = self._out_of_fold(estimator, X, labels, weight, groups)
            self.estimator_ = self._fit_clone(estimator, X, labels, weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        s = sweep(positive, scores, weight)
        options: dict[str, Any] = {"smooth": True} if self.method in _SMOOTHED else {}
        self.calibrator_ = calibrate(s, self.method, **options)
        self.prior_ = s.prevalence
        return self

    def decision_function(self, X: MatrixLike) -> Floats:
        """Log posterior odds: LLR + ln clr at ``prior``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        check_is_fitted(self)
        self._check_settings()
        llr: Floats = self.calibrator_.llr(self._scores(self.estimator_, X))
        return llr + log_odds(self.prior_ if self.prior is None else self.prior)

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The label with the lower expected cost: positive iff log odds ≥ ln(λ₋/λ₊).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        odds = self.decision_function(X)
        least = 0.0 if self.costs is None else self.costs.log_odds
        return np.asarray(self.classes_[(odds >= least).astype(np.intp)])

    def _inner(self) -> Any:
        return Logistic() if self.estimator is None else self.estimator

    def _check_settings(self) -> None:
        """Refuse a bad prior or costs, or labels that don't name the positive class."""
        if self.prior is not None:
            check_prior(self.prior)
            check_positive(self.classes_, "prior")
        if self.costs is not None:
            check_costs(self.costs)
            check_positive(self.classes_, "costs")

    def _scores(self, estimator: Classifier, X: MatrixLike) -> Floats:
        if hasattr(estimator, "decision_function") and self.method != "beta":
            scores = estimator.decision_function(X)
        elif hasattr(estimator, "predict_proba"):
            scores = np.asarray(estimator.predict_proba(X))[:, 1]
        else:
            raise TypeError(
                f"{type(estimator).__name__} has no "
                + ("predict_proba, which 'beta'" if self.method == "beta" else "score: calibration")
                + " needs. Use a classifier with decision_function or predict_proba."
            )
        return np.asarray(scores, np.float64).ravel()

    def _out_of_fold(
        self,
        estimator: Classifier,
        X: MatrixLike,
        y: NDArray[Any],
        weight: Floats | None,
        groups: ArrayLike | None,
    ) -> Floats:
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y, groups))
        check_held_out_once(splits, len(y))
        out = np.empty(len(y))
        for train, test in splits:
            w = None if weight is None else weight[train]
            part = self._fit_clone(estimator, _safe_indexing(X, train), _safe_indexing(y, train), w)
            out[test] = self._scores(part, _safe_indexing(X, test))
        return out

    def _fit_clone(
        self, estimator: Classifier, X: MatrixLike, y: ArrayLike, weight: Floats | None
    ) -> Any:
        new = clone(estimator)
        if weight is not None and has_fit_parameter(new, "sample_weight"):
            new.fit(X, y, sample_weight=weight)
        else:
            new.fit(X, y)
        self._same_classes(new)
        return new

    def _same_classes(self, estimator: Classifier) -> None:
        seen = getattr(estimator, "classes_", self.classes_)
        if not np.array_equal(seen, self.classes_):
            rule = f"have the classes of the fitted estimator, {np.asarray(seen).tolist()}"
            raise DataError(BadArgument("y", rule, self.classes_.tolist()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = getattr(self._inner(), "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags.sparse = inner().input_tags.sparse
        return tags
