"""A detector as a scikit-learn classifier; imported on demand."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from cutscore.core.errors import missing_library

if find_spec("sklearn") is None:
    raise ImportError(missing_library("to_sklearn", "scikit-learn", "sklearn"), name="sklearn")

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Shown
from cutscore.detector.artefact import Detector, as_text
from cutscore.measures.aim import LABELS

Table = ArrayLike | Mapping[str, ArrayLike]
"""A data frame, an array, or columns by name."""


class DetectorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A detector as a scikit-learn classifier; see :func:`cutscore.detector.export.to_sklearn`.

    It is fitted already: ``fit`` changes nothing, so that it can be cloned and used in pipelines.

    Parameters
    ----------
    detector : Detector
        The detector.
    """

    def __init__(self, detector: Detector) -> None:
        self.detector = detector

    def fit(self, X: object = None, y: object = None) -> DetectorClassifier:  # noqa: ARG002
        """Set the attributes of a fitted classifier; nothing is learned."""
        d, known = self.detector, self.detector.policy.labels
        d.policy.aim.needs_one_cut(LABELS)
        labels: tuple[Any, Any] = False, True
        if known.positive is not None and known.negative is not None:
            labels = known.negative, known.positive
        elif known.positive is not None:
            positive = as_text(known.positive)
            labels = f"not {positive}", positive
        # Scorers take the classes to be sorted, and the second to be what scores rise with.
        self.classes_ = np.array(sorted(labels))
        self._last = labels[1] == max(labels)
        self.feature_names_in_ = np.array(d.columns, object)
        self.n_features_in_ = len(d.columns)
        return self

    def decision_function(self, X: Table) -> NDArray[np.float64]:
        """The score minus the threshold, at least 0 iff flagged; the other way round where low
        scores are flagged. If the positive label is the first class, the negative of that.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            The columns of the detector.
        """
        policy = self.detector.policy
        away = self.scores(X) - policy.threshold
        return away if self._last != policy.reverse else -away

    def scores(self, X: Table) -> NDArray[np.float64]:
        """The detector's score of each row."""
        check_is_fitted(self)
        return self.detector.scores(self._frame(X))

    def predict_proba(self, X: Table) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``, at the detector's prior."""
        check_is_fitted(self)
        p = self.detector.probability(self._frame(X))
        return np.column_stack((1 - p, p) if self._last else (p, 1 - p))

    def predict(self, X: Table) -> NDArray[Any]:
        """The positive label for flagged rows (score ≥ threshold), the negative one for others."""
        check_is_fitted(self)
        # Not by the sign of decision_function, which is 0 at the threshold for either order.
        flagged = self.detector.decide(self._frame(X))
        return np.asarray(self.classes_[(flagged == self._last).astype(np.intp)])

    def _frame(self, X: Table) -> Any:
        if isinstance(X, np.ndarray):
            if X.ndim != 2 or X.shape[1] != len(self.detector.columns):
                rule = f"have the {len(self.detector.columns):,} columns of the detector, in order"
                shape = Shown(f"shape {X.shape}")
                raise DataError(BadArgument("X", rule, shape, "Or pass a data frame."))
            return {name: X[:, k] for k, name in enumerate(self.detector.columns)}
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")
