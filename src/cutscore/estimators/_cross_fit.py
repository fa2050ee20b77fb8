"""Scores of any scikit-learn classifier, for rows it was not fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.estimators._types import Classifier, Matrix
from cutscore.sweeps.sweep import Floats

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
RESPONSES = ("decision_function", "predict_proba")


def scores_of(
    estimator: Classifier, X: Matrix, responses: Sequence[str], positive: object
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


@dataclass(frozen=True, eq=False)
class CrossFitter:
    """How a classifier is fitted to some rows and scores others."""

    estimator: Classifier
    classes: NDArray[Any]
    positive: object
    responses: Sequence[str]
    fit_params: Mapping[str, Any]
    """Arguments of ``fit`` besides X and y; those with an entry a row are cut to the rows."""

    def fit(self, X: Matrix, y: NDArray[Any], rows: NDArray[np.intp] | None = None) -> Any:
        """A clone fitted to all rows, or to some."""
        params = _check_method_params(X, self.fit_params, indices=rows)
        if rows is not None:
            X, y = _safe_indexing(X, rows), _safe_indexing(y, rows)
        fitted = clone(self.estimator).fit(X, y, **params)
        check_classes(fitted, self.classes)
        return fitted

    def scores(self, estimator: Classifier, X: Matrix) -> Floats:
        """What a fitted classifier gives to rows."""
        return scores_of(estimator, X, self.responses, self.positive)

    def held_out(
        self, X: Matrix, y: NDArray[Any], splits: Sequence[Split], n_jobs: int | None = None
    ) -> list[Floats]:
        """For each split, the scores of its test rows by a clone fitted to its training rows."""
        return list(
            Parallel(n_jobs=n_jobs)(
                delayed(_fit_and_score)(self, X, y, train, test) for train, test in splits
            )
        )


def _fit_and_score(
    fitter: CrossFitter,
    X: Matrix,
    y: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> Floats:
    return fitter.scores(fitter.fit(X, y, train), _safe_indexing(X, test))
