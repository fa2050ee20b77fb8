"""The base of all linear estimators: reading X, y and weights, fitting, scores and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from cutscore.calibration.odds import sigmoid
from cutscore.core.errors import CutscoreWarning, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Shown, shown
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.findings.statistics import OneClass, TooFew
from cutscore.core.progress import Report
from cutscore.core.types import Label, MatrixLike
from cutscore.linear import ClassesFit, Discriminants, Fit, LinearDetector, Margins
from cutscore.linear.line import Step
from cutscore.linear.rows import ArrayRows, Floats, Matrix
from cutscore.measures.costs import Costs


def two_classes(
    name: str, y: ArrayLike, weight: Floats | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The column of labels, the two classes, and which rows have the second; an error unless there
    are exactly two."""
    column: NDArray[Any] = column_or_1d(y, warn=True)
    classes = _two_numbers(column)
    if classes is None:
        assert_all_finite(column, input_name="y")
        check_classification_targets(column)
        classes = np.unique(column)
        if type_of_target(column, input_name="y", raise_unknown=True) == "multiclass":
            # The wording that scikit-learn's checks look for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(classes)} classes. Fit one-vs-rest, y == label."
            )
    positive = np.asarray(column == classes[-1])
    seen = positive if weight is None else positive[weight > 0]
    if not len(seen) or seen.all() or not seen.any():
        raise one_class(name, classes.tolist()[-1 if seen.any() else 0])
    return column, classes, positive


def one_class(name: str, label: object) -> UndefinedError:
    """The error of labels of one class; scikit-learn's checks look for "1 class"."""
    have = f"of 1 class, {label!r}, or have weight 0"
    return UndefinedError(OneClass(name, "rows of two classes", have))


def check_mass(mass: Floats, labels: list[Label]) -> None:
    """Refuse a class all of whose rows have weight 0."""
    if not mass.all():
        what = f"class {labels[int(mass.argmin())]!r}"
        raise UndefinedError(TooFew(what, 1, "row with a weight above 0", 0, "Drop its rows."))


def all_classes(
    name: str, y: ArrayLike, weight: Floats | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The column of labels, the classes, and the class of each row: as in :func:`two_classes` if
    there are two, else as an index."""
    column: NDArray[Any] = column_or_1d(y, warn=True)
    if _two_numbers(column) is None:
        assert_all_finite(column, input_name="y")
        check_classification_targets(column)
        classes, codes = np.unique(column, return_inverse=True)
        if len(classes) > 2:
            check_mass(np.bincount(codes, weight).astype(np.float64), classes.tolist())
            return column, classes, codes
    return two_classes(name, y, weight)


class StoppedEarly(CutscoreWarning, ConvergenceWarning):  # type: ignore[misc]
    """scikit-learn's warning of a fit that has not converged, with a finding."""


def names_positive(classes: NDArray[Any]) -> bool:
    """Whether the positive class is evident from the labels: 0/1, False/True and -1/1."""
    return classes.tolist() in ([0, 1], [-1, 1])


def check_positive(classes: NDArray[Any], what: str) -> None:
    """Refuse settings that treat the classes differently if the positive class is not evident."""
    if not names_positive(classes):
        first, last = map(shown, classes.tolist())
        rule = f"be 0/1, False/True or -1/1 for {what}, which needs a positive class"
        value, hint = Shown(f"{first} and {last}"), f"Pass y == {first} or y == {last}."
        raise DataError(BadArgument("y", rule, value, hint))


def _two_numbers(y: NDArray[Any]) -> NDArray[Any] | None:
    """The two labels of a numeric column, without sorting it; None unless there are exactly two."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    ends = np.array([y.min(), y.max()])
    if not np.array_equal(ends, np.trunc(ends)):  # NaN, or no labels
        return None
    counts = [np.count_nonzero(y == end) for end in ends]
    return ends if ends[0] != ends[1] and sum(counts) == len(y) else None


def _check_columns(X: Matrix) -> None:
    """Refuse a corrupt sparse matrix: SciPy would read beyond its end."""
    if isinstance(X, np.ndarray) or not X.nnz:
        return
    low, high = int(X.indices.min()), int(X.indices.max())
    if low < 0 or high >= X.shape[1]:
        rule, hint = f"be from 0 to {X.shape[1] - 1}", "The sparse matrix is corrupt."
        index = low if low < 0 else high
        raise DataError(BadArgument("X", rule, index, hint, subject="a column index of X"))


def row_weights(sample_weight: ArrayLike | None, X: MatrixLike) -> Floats | None:
    """Sample weights as float64, none below 0; None if there are none."""
    if sample_weight is None:
        return None
    return np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )


def check_held_out_once(splits: Iterable[tuple[ArrayLike, NDArray[np.intp]]], rows: int) -> None:
    """Refuse folds that don't hold out each row exactly once."""
    times = np.zeros(rows, np.intp)
    for _, test in splits:
        np.add.at(times, test, 1)
    if not (times == 1).all():
        row = int((times != 1).argmax())
        seen = f"row {row} is held out {times[row]} times"
        raise DataError(BadArgument("cv", f"hold out each row exactly once, as KFold does; {seen}"))


class LogOdds:
    """Probabilities of an estimator whose ``decision_function`` returns log posterior odds or, for
    more than two classes, unnormalised log probabilities."""

    def _log_odds(self, X: MatrixLike) -> Floats:
        """Log posterior odds of the second class."""
        return np.asarray(self.decision_function(X))  # type: ignore[attr-defined]

    def predict_proba(self, X: MatrixLike) -> Floats:
        """The probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        numpy.ndarray of shape (n_samples, n_classes)
        """
        odds = self._log_odds(X)
        if odds.ndim == 2:
            return np.exp(_log_softmax(odds))
        return np.column_stack((sigmoid(-odds), sigmoid(odds)))

    def predict_log_proba(self, X: MatrixLike) -> Floats:
        """The logarithms of ``predict_proba``, accurate where these round to 0 or 1."""
        odds = self._log_odds(X)
        if odds.ndim == 2:
            return _log_softmax(odds)
        return -np.column_stack((np.logaddexp(0, odds), np.logaddexp(0, -odds)))


def _log_softmax(scores: Floats) -> Floats:
    from scipy.special import log_softmax

    return np.asarray(log_softmax(scores, axis=1))


def gap_progress(report: Report) -> Callable[[Step], None]:
    """A callback that reports how much of the gap is closed, on a log scale."""
    first = 0.0

    def on_step(step: Step) -> None:
        nonlocal first
        far = log(max(step.gap, 1e-300) / max(step.goal, 1e-300))
        first = max(first, far)
        done = 1 - far / first if first > 0 else 1.0
        report(done, f"iteration {step.iteration}, gap {step.gap:.2g}")

    return on_step


class LinearEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier; subclasses implement ``_learn``."""

    classes_: NDArray[Any]
    fit_: Fit | ClassesFit
    _finds_nan = False
    """Whether ``_learn`` itself raises for NaN or infinity in X, which saves a pass."""
    _multiclass = False
    """Whether there is a ``_learn_classes``, for more than two classes."""

    @abstractmethod
    def _learn(self, rows: ArrayRows) -> Fit:
        """The linear classifier of these rows; their weights include class weights."""

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, dense or CSR, float32 or float64; neither is converted.
        y : array-like of shape (n_samples,)
            Labels of two classes; the last in sorted order is the positive. Costs and priors need
            labels 0/1, False/True or -1/1, which name the positive class. ``LeastSquares``,
            ``GaussianDiscriminant`` and ``Logistic`` also take more than two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. A row of weight 2 counts as two rows, one of weight 0 is ignored.

        Returns
        -------
        self
        """
        rows = self._rows(X, y, sample_weight)
        if len(self.classes_) > 2:
            self._adopt_classes(self._learn_classes(rows))
        else:
            self._adopt(self._learn(rows))
        return self

    def _learn_classes(self, rows: ArrayRows) -> ClassesFit:
        """The discriminants of these rows, whose y are indices of the classes."""
        raise NotImplementedError

    def _rows(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> ArrayRows:
        features, labels = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=not self._finds_nan,
        )
        _check_columns(features)
        weight = row_weights(sample_weight, features)
        read = all_classes if self._multiclass else two_classes
        labels, self.classes_, positive = read(type(self).__name__, labels, weight)
        if getattr(self, "class_weight", None) is not None:
            weight = self._weigh(labels, positive, weight)
            read(type(self).__name__, labels, weight)
        if weight is None:
            return ArrayRows(features, positive)
        if not 1e-290 < float(weight.sum()) < 1e290:
            total, subject = float(weight.sum()), "the sum of sample weights times class weights"
            rule = "be between 1e-290 and 1e290"
            raise DataError(BadArgument("sample_weight", rule, total, "Rescale them.", subject))
        if weight.all():
            return ArrayRows(features, positive, weight)
        some = weight > 0
        rows = ArrayRows(features[some], positive[some], weight[some])
        rows.kept = some
        return rows

    def _weigh(self, y: ArrayLike, codes: NDArray[Any], weight: Floats | None) -> Floats:
        """Sample weights times class weights."""
        wanted = self.class_weight
        if isinstance(wanted, Costs):
            if len(self.classes_) > 2:
                rule = f"be a weight for each of {len(self.classes_)} labels, as a dictionary"
                raise DataError(BadArgument("class_weight", rule, wanted))
            check_positive(self.classes_, "class_weight=Costs(...)")
            each = np.array([wanted.on_negatives, wanted.on_positives], np.float64)
        else:
            each = compute_class_weight(wanted, classes=self.classes_, y=y, sample_weight=weight)
        if not ((each >= 0) & (each < np.inf)).all():
            given = dict(zip(self.classes_.tolist(), each.tolist(), strict=True))
            raise DataError(BadArgument("class_weight", "be finite and at least 0", given))
        of_row = each[codes.astype(np.intp)]
        return of_row if weight is None else of_row * weight

    def _adopt(self, fit: Fit) -> None:
        self.fit_ = fit
        self.coef_ = fit.detector.w.reshape(1, -1).copy()
        self.intercept_ = np.array([fit.detector.b])
        self.n_iter_ = fit.iterations

    def _adopt_classes(self, fit: ClassesFit) -> None:
        self.fit_ = fit
        self.coef_ = fit.discriminants.W.copy()
        self.intercept_ = fit.discriminants.b.copy()
        self.n_iter_ = fit.iterations

    @property
    def detector_(self) -> LinearDetector:
        """The classifier as a :class:`cutscore.LinearDetector`, for two classes only."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise AttributeError(
                f"detector_ exists for two classes only; there are {len(self.classes_)}. Use coef_ "
                "and intercept_, or fit one-vs-rest, y == label."
            )
        return LinearDetector(self.coef_[0], float(self.intercept_[0]))

    def _features(self, X: MatrixLike) -> Any:
        check_is_fitted(self)
        known: Any = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        _check_columns(known)
        return known

    def decision_function(self, X: MatrixLike) -> Floats:
        """The score w·x + b of each row; it is flagged as positive iff the score is at least 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        numpy.ndarray of shape (n_samples,) or (n_samples, n_classes)
            For more than two classes, a column each; the largest score decides.
        """
        X = self._features(X)
        if len(self.classes_) > 2:
            return Discriminants(self.coef_, self.intercept_).scores(X)
        return self.detector_.scores(X)

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The predicted label of each row: the positive one iff its score is at least 0; for more
        than two classes, the one with the largest score, the first of ties.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        positive = scores >= 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def signed_distance(self, X: MatrixLike) -> Floats:
        """The signed distance of each row from the decision boundary, positive on the side of the
        positive class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        return self.detector_.signed_distance(self._features(X))

    def margins(self, X: MatrixLike, y: ArrayLike) -> Margins:
        """The margin of each row, its signed distance on the correct side of the boundary.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        Margins
        """
        features, labels = self._features(X), column_or_1d(y)
        self._check_labels(labels)
        if len(labels) != features.shape[0]:
            raise DataError(LengthsDiffer("label", "row of X", len(labels), features.shape[0]))
        return self.detector_.margins(features, labels == self.classes_[1])

    def _check_labels(self, y: NDArray[Any]) -> None:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            rule = f"be one of {self.classes_.tolist()}"
            raise DataError(BadArgument("y", rule, unknown.tolist()[0], subject="a label"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multiclass
        tags.input_tags.sparse = True
        return tags
