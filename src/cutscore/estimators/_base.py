"""What all linear estimators share: reading X, y and weights, the line, and what is asked of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from cutscore.core.errors import CutscoreWarning, DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Shown, shown
from cutscore.core.progress import Report
from cutscore.linear import ClassesFit, Discriminants, Fit, LinearDetector, Margins
from cutscore.linear.detector import Step
from cutscore.linear.rows import ArrayRows, Floats
from cutscore.measures.costs import Costs


def two_classes(
    name: str, y: Any, weight: Floats | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """The column of labels, the two that there are, and which rows have the second; an error if
    there are not just two."""
    y = column_or_1d(y, warn=True)
    classes = _two_numbers(y)
    if classes is None:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        classes = np.unique(y)
        if type_of_target(y, input_name="y", raise_unknown=True) == "multiclass":
            # The wording that scikit-learn's checks look for.
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(classes)} classes. Learn one of them against the rest."
            )
    positive = np.asarray(y == classes[-1])
    seen = positive if weight is None else positive[weight > 0]
    if not len(seen) or seen.all() or not seen.any():
        only = classes.tolist()[-1 if seen.any() else 0]
        raise ValueError(
            f"{name} needs rows of two classes; y has 1 class with any weight, {only!r}."
        )
    return y, classes, positive


def all_classes(
    name: str, y: Any, weight: Floats | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The column of labels, those that there are, and which each row has: as :func:`two_classes`
    says if there are two, else by its place among them."""
    y = column_or_1d(y, warn=True)
    if _two_numbers(y) is None:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            mass = np.bincount(codes, weight)
            if not mass.all():
                raise ValueError(
                    "each class needs rows with a weight above 0; class "
                    f"{classes.tolist()[int(mass.argmin())]!r} has none. Leave its rows out."
                )
            return y, classes, codes
    return two_classes(name, y, weight)


class StoppedEarly(CutscoreWarning, ConvergenceWarning):  # type: ignore[misc]
    """What scikit-learn's users expect of a fit that has not converged, with its finding."""


def names_positive(classes: NDArray[Any]) -> bool:
    """Whether two labels say by themselves which is the positive: 0/1, False/True and -1/1."""
    return classes.tolist() in ([0, 1], [-1, 1])


def check_positive(classes: NDArray[Any], what: str) -> None:
    """Refuse what treats the classes differently, where only the alphabet tells them apart."""
    if not names_positive(classes):
        first, last = map(shown, classes.tolist())
        rule = f"be 0/1, False/True or -1/1 for {what}, which needs a positive class"
        value, hint = Shown(f"{first} and {last}"), f"Pass y == {first} or y == {last}."
        raise DataError(BadArgument("y", rule, value, hint))


def _two_numbers(y: NDArray[Any]) -> NDArray[Any] | None:
    """The two labels of a numeric column without a sort of it; None if there are not just two."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    ends = np.array([y.min(), y.max()])
    if not np.array_equal(ends, np.trunc(ends)):  # NaN, or no labels
        return None
    counts = [np.count_nonzero(y == end) for end in ends]
    return ends if ends[0] != ends[1] and sum(counts) == len(y) else None


def _check_columns(X: Any) -> None:
    """Refuse a sparse matrix that is damaged: SciPy would read beyond its end."""
    if isinstance(X, np.ndarray) or not X.nnz:
        return
    low, high = int(X.indices.min()), int(X.indices.max())
    if low < 0 or high >= X.shape[1]:
        raise ValueError(
            f"columns of a sparse matrix are numbered from 0 to {X.shape[1] - 1}; one is "
            f"{low if low < 0 else high}. It is damaged."
        )


def row_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Weights of the rows of X as float64, none below 0; None if there are none."""
    if sample_weight is None:
        return None
    return np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )


def check_left_out_once(splits: Iterable[tuple[Any, Any]], rows: int) -> None:
    """Refuse folds that don't give each row just one score."""
    times = np.zeros(rows, np.intp)
    for _, test in splits:
        np.add.at(times, test, 1)
    if not (times == 1).all():
        row = int((times != 1).argmax())
        raise ValueError(
            "cv must leave each row out exactly once, as KFold does; this one leaves out row "
            f"{row} {times[row]} times."
        )


class LogOdds:
    """Probabilities of an estimator whose ``decision_function`` gives log posterior odds or, of
    more than two classes, logarithms of what is proportional to their probabilities."""

    def predict_proba(self, X: Any) -> Floats:
        """P(negative), P(positive) of each row; of more than two classes, P of each."""
        odds = self.decision_function(X)  # type: ignore[attr-defined]
        if odds.ndim == 2:
            return np.exp(_log_softmax(odds))
        return np.column_stack((sigmoid(-odds), sigmoid(odds)))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of ``predict_proba``, exact where these round to 0 or 1."""
        odds = self.decision_function(X)  # type: ignore[attr-defined]
        if odds.ndim == 2:
            return _log_softmax(odds)
        return -np.column_stack((np.logaddexp(0, odds), np.logaddexp(0, -odds)))


def _log_softmax(scores: Floats) -> Floats:
    from scipy.special import log_softmax

    return np.asarray(log_softmax(scores, axis=1))


def closing(report: Report) -> Callable[[Step], None]:
    """Progress by how much of the gap is closed, in powers of ten."""
    first = 0.0

    def on_step(step: Step) -> None:
        nonlocal first
        far = log(max(step.gap, 1e-300) / max(step.goal, 1e-300))
        first = max(first, far)
        done = 1 - far / first if first > 0 else 1.0
        report(done, f"iteration {step.iteration}, gap {step.gap:.2g}")

    return on_step


class LinearEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of a line: subclasses say how, in ``_learn``."""

    classes_: NDArray[Any]
    fit_: Fit | ClassesFit
    _finds_nan = False
    """Whether ``_learn`` raises for a NaN or an infinity in X: then no pass is spent on it."""
    _many = False
    """Whether there is a ``_learn_classes``, for more than two."""

    @abstractmethod
    def _learn(self, rows: ArrayRows) -> Fit:
        """The line of these rows; weights and costs of classes are in their weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn the line from all rows.

        Parameters
        ----------
        X
            Features, dense or sparse (CSR), float32 or float64: neither is copied into another.
        y
            Labels of two classes; the one that sorts last is the positive. Costs and priors need
            labels that say which that is: 0/1, False/True or -1/1. ``LeastSquares``,
            ``GaussianDiscriminant`` and ``Logistic`` take labels of more classes as well.
        sample_weight
            One for each row. A row of weight 2 counts as two rows, one of weight 0 as none.
        """
        rows = self._rows(X, y, sample_weight)
        if len(self.classes_) > 2:
            self._adopt_classes(self._learn_classes(rows))
        else:
            self._adopt(self._learn(rows))
        return self

    def _learn_classes(self, rows: ArrayRows) -> ClassesFit:
        """The functions of these rows, whose y are codes of the classes."""
        raise NotImplementedError

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> ArrayRows:
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=not self._finds_nan,
        )
        _check_columns(X)
        weight = row_weights(sample_weight, X)
        read = all_classes if self._many else two_classes
        y, self.classes_, positive = read(type(self).__name__, y, weight)
        if getattr(self, "class_weight", None) is not None:
            weight = self._weighted(y, positive, weight)
            read(type(self).__name__, y, weight)
        if weight is None:
            return ArrayRows(X, positive)
        if not 1e-290 < float(weight.sum()) < 1e290:
            raise ValueError(
                "weights must add up to a number between 1e-290 and 1e290, times those of classes; "
                f"they add up to {weight.sum():g}. Rescale them."
            )
        if weight.all():
            return ArrayRows(X, positive, weight)
        some = weight > 0
        rows = ArrayRows(X[some], positive[some], weight[some])
        rows.kept = some
        return rows

    def _weighted(self, y: Any, codes: NDArray[Any], weight: Floats | None) -> Floats:
        """Weights of the rows times those of their classes."""
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
            raise ValueError(
                "weights of classes must be finite and at least 0; they are "
                f"{dict(zip(self.classes_.tolist(), each.tolist(), strict=True))}."
            )
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
        """The line, as :class:`cutscore.LinearDetector`; there is one of two classes only."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise AttributeError(
                f"a line tells two classes apart, and there are {len(self.classes_)}, each with a "
                "function of its own: coef_ and intercept_. For a line, fit y == label."
            )
        return LinearDetector(self.coef_[0], float(self.intercept_[0]))

    def _features(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        _check_columns(X)
        return X

    def decision_function(self, X: Any) -> Floats:
        """The score w·x + b of each row; positive is decided iff it is at least 0. Of more than two
        classes, a column for each: the largest decides."""
        X = self._features(X)
        if len(self.classes_) > 2:
            return Discriminants(self.coef_, self.intercept_).scores(X)
        return self.detector_.scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row: the positive one iff its score is at least 0; of more than two
        classes, the one with the largest score, the first of those that tie."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        positive = scores >= 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def signed_distance(self, X: Any) -> Floats:
        """The distance of each row from the line, positive on the side of the positives."""
        return self.detector_.signed_distance(self._features(X))

    def margins(self, X: Any, y: Any) -> Margins:
        """How far each row is on its right side of the line: :class:`cutscore.Margins`."""
        X = self._features(X)
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the classes {self.classes_.tolist()}; it has {unknown.tolist()[0]!r}."
            )
        if len(y) != X.shape[0]:
            raise ValueError(
                f"there must be one label for each row; there are {len(y)} and {X.shape[0]}."
            )
        return self.detector_.margins(X, y == self.classes_[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many
        tags.input_tags.sparse = True
        return tags
