"""Perceptron: a linear classifier updated by its errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import NotConverged, TooFew
from cutscore.core.progress import progress
from cutscore.core.types import MatrixLike
from cutscore.estimators._base import LinearEstimator, StoppedEarly, row_weights
from cutscore.estimators._types import ClassWeight
from cutscore.linear.line import Fit
from cutscore.linear.perceptron import Pass, PerceptronFit, Variant, perceptron
from cutscore.linear.rows import ArrayRows


class Perceptron(LinearEstimator):
    """Rosenblatt's perceptron, with bias updates of size R².

    w = 0, w₀ = 0, R = max‖x‖; then for each row in order, if y(w·x + w₀) ≤ 0 with y = ±1:
    w += rate·y·x and w₀ += rate·y·R². It ends after a pass without updates: then the classes are
    separated. If they are not linearly separable, it never converges, and the last weights are
    arbitrary; use ``"averaged"`` or ``"pocket"`` for such data. Rows are not shuffled.

    Parameters
    ----------
    rate : float, default 1.0
        The learning rate. It scales the weights and changes no decision.
    max_passes : int, default 100
        Maximum number of passes over the rows (epochs).
    variant : {"plain", "averaged", "pocket"}, default "plain"
        ``"plain"`` keeps the last weights. ``"averaged"`` keeps the mean of the weights after each
        row of each pass. ``"pocket"`` keeps the weights with the fewest training errors, among
        those with the longest runs of correct rows and those at the ends of passes; on the training
        rows it is never worse than the plain variant.
    class_weight : dict, "balanced" or Costs, optional
        Weights of the classes, which scale the updates as sample weights do.
    verbose : bool, default False
        Show progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, classes_, detector_
        The weights, and the labels with the negative one first.
    converged_
        Whether the last pass made no update. If not, the plain variant gives a
        ``ConvergenceWarning``.
    n_iter_
        Passes over the rows.
    updates_
        Number of updates.
    radius_
        R, the largest norm of a row.
    errors_
        Number (or weight) of rows on the wrong side of the decision boundary or on it.
    fit_
        All of these, as a :class:`cutscore.Fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.estimators._perceptron import Perceptron
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]])
    >>> y = ["no", "no", "yes", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.converged_, model.updates_, model.errors_
    (True, 5, 0.0)
    >>> model.predict([[0.5, 0.5], [4.0, 4.0]]).tolist()
    ['no', 'yes']
    >>> model.margins(X, y)
    Margins(rows=4, smallest=0.8, errors=0)
    """

    fit_: PerceptronFit

    def __init__(
        self,
        rate: float = 1.0,
        *,
        max_passes: int = 100,
        variant: Variant = "plain",
        class_weight: ClassWeight = None,
        verbose: bool = False,
    ) -> None:
        self.rate = rate
        self.max_passes = max_passes
        self.variant = variant
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        on_pass: Callable[[Pass], None] | None = None,
    ) -> Perceptron:
        """Fit the perceptron to all rows, in their order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, dense or CSR, float32 or float64; neither is converted.
        y : array-like of shape (n_samples,)
            Labels of two classes; the last in sorted order is the positive.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, which scale the updates. That is not the same as copies of the row. A
            row of weight 0 is ignored, also for R.
        on_pass : callable, optional
            Called after each pass with a :class:`cutscore.linear.perceptron.Pass`: the weights so
            far and, on request, the margin of each row, for :func:`cutscore.plot.passes`.
        """
        rows = self._rows(X, y, sample_weight)
        self._adopt(self._learn(rows, on_pass))
        self._learned_as = self.variant
        return self

    def _learn(self, rows: ArrayRows, on_pass: Callable[[Pass], None] | None = None) -> Fit:
        with progress("Perceptron", self.verbose) as report:

            def watch(done: Pass) -> None:
                if report is not None:
                    report(
                        done.passes / done.limit if done.updates else 1.0,
                        f"pass {done.passes}, {done.updates:,} updates",
                    )
                if on_pass is not None:
                    on_pass(done)

            fit = perceptron(
                rows,
                rate=self.rate,
                max_passes=self.max_passes,
                variant=self.variant,
                on_pass=watch,
            )
        if not fit.converged and self.variant == "plain":
            hint = (
                "If the classes are not linearly separable, the last weights are arbitrary: use "
                "variant='averaged' or 'pocket'. Otherwise raise max_passes."
            )
            state = "the last weights do not separate the classes"
            early = NotConverged("Perceptron", fit.passes, self.max_passes, hint, state)
            warnings.warn(StoppedEarly(early), stacklevel=3)
        return fit

    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Perceptron:
        """One pass over new rows, from the current weights. R is the largest norm so far.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels; they may be of one class only.
        classes : array-like of shape (2,), optional
            Both labels. The first call needs them, unless its y has both.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.
        """
        first = not hasattr(self, "fit_")
        features, labels = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], reset=first
        )
        labels = column_or_1d(labels, warn=True)
        check_classification_targets(labels)
        self._settle_classes(labels, classes, first)
        positive = labels == self.classes_[1]
        weight = row_weights(sample_weight, features)
        if self.class_weight is not None:
            if isinstance(self.class_weight, str):
                rule = "be a dictionary by label in partial_fit, which does not see all rows"
                raise DataError(BadArgument("class_weight", rule, self.class_weight))
            weight = self._weigh(labels, positive, weight)
        if weight is not None and not weight.all():
            some = weight > 0
            if not some.any():
                raise UndefinedError(TooFew("partial_fit", 1, "row with a weight above 0", 0))
            features, positive, weight = features[some], positive[some], weight[some]
        if not first and self._learned_as != self.variant:
            rule, hint = f"stay {self._learned_as!r} in partial_fit", "Call fit to start again."
            raise DataError(BadArgument("variant", rule, self.variant, hint))
        self._learned_as = self.variant
        self._adopt(
            perceptron(
                ArrayRows(features, positive, weight),
                rate=self.rate,
                max_passes=1,
                variant=self.variant,
                state=None if first else self.fit_.state,
            )
        )
        return self

    def _settle_classes(self, y: NDArray[Any], classes: ArrayLike | None, first: bool) -> None:
        """Set the classes in the first call; afterwards refuse others."""
        known = np.unique(y if classes is None else classes)
        if first:
            if len(known) != 2:
                raise DataError(BadArgument("classes", "be two in the first call", known.tolist()))
            self.classes_ = known
        elif classes is not None and not np.array_equal(known, self.classes_):
            rule = f"stay {self.classes_.tolist()}"
            raise DataError(BadArgument("classes", rule, known.tolist()))
        self._check_labels(y)

    def _adopt(self, fit: Fit) -> None:
        super()._adopt(fit)
        done = cast(PerceptronFit, fit)
        self.converged_ = done.converged
        self.updates_ = done.updates
        self.radius_ = done.radius
        self.errors_ = done.errors
