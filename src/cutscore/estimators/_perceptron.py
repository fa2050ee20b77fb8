"""Perceptron: the line that is moved by its errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from cutscore.core.findings.statistics import NotConverged
from cutscore.core.progress import progress
from cutscore.estimators._base import LinearEstimator, StoppedEarly, row_weights
from cutscore.linear.detector import Fit
from cutscore.linear.perceptron import Pass, PerceptronFit, Variant, perceptron
from cutscore.linear.rows import ArrayRows


class Perceptron(LinearEstimator):
    """Rosenblatt's perceptron, with a bias that moves by R².

    w = 0, w₀ = 0, R = max‖x‖; then for each row in order, if y(w·x + w₀) ≤ 0 with y = ±1:
    w += rate·y·x and w₀ += rate·y·R². Pass after pass, until one makes no update: then the line
    separates the classes. If no line does, it never ends by itself, and the last line can be a bad
    one; ``"averaged"`` and ``"pocket"`` are for such data. Rows are not shuffled.

    Parameters
    ----------
    rate
        The learning rate. It scales the line and changes no decision.
    max_passes
        How often to go over the rows, at most.
    variant
        ``"plain"`` keeps the last line, as above. ``"averaged"`` keeps the mean of the lines after
        each row of each pass. ``"pocket"`` keeps, of the lines that had the longest runs of right
        rows and of those at the ends of passes, the one with the least errors on the rows; it is
        never worse there than the plain one.
    class_weight
        None, ``"balanced"``, a dictionary by label, or :class:`cutscore.Costs`: they scale the
        updates as weights of rows do.
    verbose
        Show progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, classes_, detector_
        The line and its labels, the negative one first.
    converged_
        Whether the last pass made no update. If not, the plain variant gives a
        ``ConvergenceWarning``.
    n_iter_
        Passes over the rows.
    updates_
        How often the line was moved.
    radius_
        R, the largest length of a row.
    errors_
        Weight of the rows on the wrong side of the line or on it; their number without weights.
    fit_
        All of that, as a :class:`cutscore.Fit`.

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
        class_weight: Any = None,
        verbose: bool = False,
    ) -> None:
        self.rate = rate
        self.max_passes = max_passes
        self.variant = variant
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        on_pass: Callable[[Pass], None] | None = None,
    ) -> Perceptron:
        """Learn the line from all rows, in their order.

        Parameters
        ----------
        X
            Features, dense or sparse (CSR), float32 or float64: neither is copied into another.
        y
            Labels of two classes; the one that sorts last is the positive.
        sample_weight
            One for each row: it scales the updates that the row makes. That is not the same as
            so many copies of the row. A row of weight 0 counts as absent, also for R.
        on_pass
            Called after each pass with a :class:`cutscore.linear.perceptron.Pass`: the line so far
            and, if asked for, the margin of each row that has a weight, for
            :func:`cutscore.plot.passes` to draw.
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
                "If no line does, its last line is as good as any: use variant='averaged' or "
                "'pocket'. Else raise max_passes."
            )
            state = "its last line does not separate the classes"
            found = NotConverged("Perceptron", fit.passes, self.max_passes, hint, state)
            warnings.warn(StoppedEarly(found), stacklevel=3)
        return fit

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Perceptron:
        """One pass over new rows, from the line as it is. R is the largest length so far.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``; y may have one class only.
        classes
            Both labels. The first call needs them, unless its y has both.
        """
        first = not hasattr(self, "fit_")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], reset=first
        )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self._know(y, classes, first)
        positive = y == self.classes_[1]
        weight = row_weights(sample_weight, X)
        if self.class_weight is not None:
            if isinstance(self.class_weight, str):
                raise ValueError(
                    f"class_weight={self.class_weight!r} needs all rows at once, and partial_fit "
                    "sees some. Give the weights themselves, as a dictionary by label."
                )
            weight = self._weighted(y, positive, weight)
        if weight is not None and not weight.all():
            some = weight > 0
            if not some.any():
                raise ValueError("partial_fit needs a row with a weight above 0; there is none.")
            X, positive, weight = X[some], positive[some], weight[some]
        if not first and self._learned_as != self.variant:
            raise ValueError(
                f"the line was begun as variant={self._learned_as!r} and can't go on as "
                f"{self.variant!r}. Fit it anew."
            )
        self._learned_as = self.variant
        self._adopt(
            perceptron(
                ArrayRows(X, positive, weight),
                rate=self.rate,
                max_passes=1,
                variant=self.variant,
                state=None if first else self.fit_.state,
            )
        )
        return self

    def _know(self, y: Any, classes: Any, first: bool) -> None:
        """Settle the labels, and refuse others."""
        known = np.unique(y if classes is None else classes)
        if first:
            if len(known) != 2:
                raise ValueError(
                    f"Perceptron needs two classes; {'y has' if classes is None else 'classes are'}"
                    f" {known.tolist()}. Give both labels as classes in the first call."
                )
            self.classes_ = known
        elif classes is not None and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes must stay {self.classes_.tolist()}; they are {known.tolist()}."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the classes {self.classes_.tolist()}; it has {unknown.tolist()[0]!r}."
            )

    def _adopt(self, fit: Fit) -> None:
        super()._adopt(fit)
        done = cast(PerceptronFit, fit)
        self.converged_ = done.converged
        self.updates_ = done.updates
        self.radius_ = done.radius
        self.errors_ = done.errors
