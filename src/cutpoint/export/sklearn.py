"""A detector as a classifier of scikit-learn; imported only when it is asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

if find_spec("sklearn") is None:
    raise ImportError(
        "a classifier of scikit-learn needs it: pip install 'cutpoint[sklearn]'", name="sklearn"
    )

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cutpoint.detector.artefact import Detector
from cutpoint.errors import DataError

# A detector keeps its label as text: as training writes those of numbers and booleans.
_CLASSES: dict[str | None, tuple[Any, Any]] = {
    None: (False, True),
    "1": (0, 1),
    "0": (1, 0),
    "True": (False, True),
    "False": (True, False),
}


class DetectorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A detector behind the interface of scikit-learn; see :func:`cutpoint.export.to_sklearn`.

    It has learned already: ``fit`` learns nothing, so that it can stand in pipelines and be cloned.

    Parameters
    ----------
    detector
        The detector.
    """

    def __init__(self, detector: Detector) -> None:
        self.detector = detector

    def fit(self, X: Any = None, y: Any = None) -> DetectorClassifier:  # noqa: ARG002
        """Nothing is learned; what scikit-learn expects of a fitted classifier is set."""
        d = self.detector
        classes = _CLASSES.get(d.positive, (f"not {d.positive}", d.positive))
        self.classes_ = np.array(classes)
        self.feature_names_in_ = np.array(d.columns, object)
        self.n_features_in_ = len(d.columns)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of a data frame, less the threshold: at least 0 iff flagged."""
        return self.scores(X) - self.detector.threshold

    def scores(self, X: Any) -> NDArray[np.float64]:
        """The score of each row, as the detector's own."""
        check_is_fitted(self)
        return self.detector.scores(self._frame(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(negative) and P(positive) of each row, at the detector's prior."""
        check_is_fitted(self)
        p = self.detector.probability(self._frame(X))
        return np.column_stack((1 - p, p))

    def predict(self, X: Any) -> NDArray[Any]:
        """The positive label for the rows that are flagged."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.detector.decide(self._frame(X)).astype(np.intp)])

    def _frame(self, X: Any) -> Any:
        if isinstance(X, np.ndarray):
            if X.ndim != 2 or X.shape[1] != len(self.detector.columns):
                raise DataError(
                    f"an array must have the {len(self.detector.columns):,} columns of the "
                    f"detector, in its order; it has the shape {X.shape}. A data frame is told by "
                    "its names."
                )
            return {name: X[:, k] for k, name in enumerate(self.detector.columns)}
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")
