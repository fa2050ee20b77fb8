"""Scores of any scikit-learn classifier, for rows it was not fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from cutscore.calibration import Calibrator, calibrate
from cutscore.core.errors import CutscoreWarning, DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import WeightsUnused
from cutscore.core.types import MatrixLike
from cutscore.estimators._logistic import Logistic
from cutscore.estimators._types import Classifier
from cutscore.measures.prior import log_odds
from cutscore.sweeps.sweep import Floats, Sweep

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class ClassifierWrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator around any classifier of scikit-learn; around ``Logistic`` if none is given."""

    estimator: Classifier | None

    def _inner(self) -> Any:
        return Logistic() if self.estimator is None else self.estimator

    def _adopt_features(self, fitted: Any) -> None:
        """What a fitted classifier knows of the features."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self._inner(), "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags.sparse = inner().input_tags.sparse
        return tags


RESPONSES = ("decision_function", "predict_proba")


def scores_of(
    estimator: Classifier, X: MatrixLike, responses: Sequence[str], positive: object
) -> Floats:
    """The score of each row, higher for the positive class, by the first of the methods that the
    classifier has."""
    method = next((name for name in responses if hasattr(estimator, name)), None)
    if method is None:
        raise TypeError(f"{type(estimator).__name__} has no {' and no '.join(responses)}.")
    values = np.asarray(getattr(estimator, method)(X), np.float64)
    classes = list(getattr(estimator, "classes_", ()))
    second = not classes or classes[-1] == positive
    if values.ndim == 2 and values.shape[1] == 2:
        return values[:, 1 if second else 0]
    return values.ravel() if second else -values.ravel()


def check_classes(estimator: Classifier, classes: NDArray[Any]) -> None:
    """Refuse a fitted classifier that knows other classes."""
    seen = getattr(estimator, "classes_", classes)
    if not np.array_equal(seen, classes):
        rule = f"have the classes of the fitted estimator, {np.asarray(seen).tolist()}"
        raise DataError(BadArgument("y", rule, classes.tolist()))


def weight_params(estimator: Classifier, weight: Floats | None, stacklevel: int) -> dict[str, Any]:
    """Weights as an argument of ``fit``, for a classifier that takes them; a warning for others."""
    if weight is None:
        return {}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": weight}
    hint = 'Pass the weights to its last step yourself, and cv="prefit".'
    steps = hasattr(estimator, "steps")
    unused = WeightsUnused(type(estimator).__name__, hint if steps else "")
    warnings.warn(CutscoreWarning(unused), stacklevel=stacklevel + 1)
    return {}


def calibrate_scores(s: Sweep, method: str) -> Calibrator:
    """The calibrator of held-out scores. Perfect separation is common in small folds: methods that
    have smoothed targets use them, which have a fit even then."""
    options: dict[str, Any] = {"smooth": True} if method in ("platt", "beta") else {}
    return calibrate(s, method, **options)


def responses_for(method: str) -> Sequence[str]:
    """The methods of a classifier that give a score to calibrate, in the order of preference."""
    return RESPONSES[1:] if method == "beta" else RESPONSES


@dataclass(frozen=True, eq=False)
class CalibratedScorer:
    """A fitted binary classifier whose scores are calibrated on held-out rows."""

    estimator: Classifier
    calibrator: Calibrator
    prior: float
    """The share of positives among the training rows."""
    responses: Sequence[str]

    def log_odds(self, X: MatrixLike) -> Floats:
        """Log posterior odds of the second class, at the share of the training rows."""
        scores = scores_of(self.estimator, X, self.responses, 1)
        return np.asarray(self.calibrator.llr(scores)) + log_odds(self.prior)


@dataclass(frozen=True, eq=False)
class CrossFitter:
    """How a classifier is fitted to some rows and scores others."""

    estimator: Classifier
    classes: NDArray[Any]
    positive: object
    responses: Sequence[str]
    fit_params: Mapping[str, Any]
    """Arguments of ``fit`` besides X and y; those with an entry a row are cut to the rows."""

    def fit(self, X: MatrixLike, y: NDArray[Any], rows: NDArray[np.intp] | None = None) -> Any:
        """A clone fitted to all rows, or to some."""
        params = _check_method_params(X, self.fit_params, indices=rows)
        if rows is not None:
            X, y = _safe_indexing(X, rows), _safe_indexing(y, rows)
        fitted = clone(self.estimator).fit(X, y, **params)
        check_classes(fitted, self.classes)
        return fitted

    def scores(self, estimator: Classifier, X: MatrixLike) -> Floats:
        """What a fitted classifier gives to rows."""
        return scores_of(estimator, X, self.responses, self.positive)

    def held_out_scores(
        self, X: MatrixLike, y: NDArray[Any], splits: Sequence[Split], n_jobs: int | None = None
    ) -> list[Floats]:
        """For each split, the scores of its test rows by a clone fitted to its training rows."""
        return list(
            Parallel(n_jobs=n_jobs)(
                delayed(_fit_and_score)(self, X, y, train, test) for train, test in splits
            )
        )


def _fit_and_score(
    fitter: CrossFitter,
    X: MatrixLike,
    y: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> Floats:
    return fitter.scores(fitter.fit(X, y, train), _safe_indexing(X, test))
