"""Logistic: logistic regression with an L2 penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from math import isinf
from typing import TypeVar

from cutscore.core.findings.statistics import NotConverged
from cutscore.core.progress import progress
from cutscore.core.types import MatrixLike
from cutscore.estimators._base import LinearEstimator, LogOdds, StoppedEarly, gap_progress
from cutscore.estimators._types import ClassWeight
from cutscore.linear import ClassesFit, Fit
from cutscore.linear.logistic import logistic
from cutscore.linear.multinomial import multinomial
from cutscore.linear.rows import ArrayRows, Floats

_F = TypeVar("_F", Fit, ClassesFit)


class Logistic(LogOdds, LinearEstimator):
    """Logistic regression: the minimum of ½‖w‖² + C · Σ weight · ln(1 + exp(−y(w·x + b))), y = ±1.

    The objective is that of scikit-learn's ``LogisticRegression``, without a penalty on the
    intercept. Its minimum is found to high precision on features of any scale: Newton's method on
    a subsample, then a few gradients of all rows. X is neither copied nor converted.

    For K > 2 classes it is multinomial: ½‖W‖² + C · Σ weight · (ln Σ_k exp(g_k) − g_y), with one
    discriminant g_k = W[k]·x + b[k] for each class, by Newton's method on all rows.

    Parameters
    ----------
    C : float, default 1.0
        Inverse of the regularisation strength; ``inf`` is no penalty, which needs classes that are
        not linearly separable.
    tol : float, default 1e-11
        Stop when the objective is within about this relative distance of its minimum.
    max_iter : int, default 100
        Maximum number of iterations over all rows.
    class_weight : dict, "balanced" or Costs, optional
        Weights of the classes. The scores are then log odds at the prior that these weights imply.
    verbose : bool, default False
        Show progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, classes_, detector_
        The weights, and the labels with the negative one first.
    n_iter_
        Iterations over all rows.
    converged_
        Whether ``tol`` was reached; if not, there is a ``ConvergenceWarning``.
    objective_
        The value of the objective; the sum of the losses if C is infinite.
    gap_
        The duality gap, an upper bound of the distance to the minimum; None if C is infinite or
        there are more than two classes.
    fit_
        All of these, as :class:`cutscore.Fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.estimators import Logistic
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = Logistic().fit(X, [0, 1, 0, 1])
    >>> model.decision_function(X).round(3).tolist()
    [-0.679, -0.226, 0.226, 0.679]
    >>> model.predict_proba([[1.5]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    _multiclass = True
    _finds_nan = True  # sums over all rows show it

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-11,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.verbose = verbose

    def _learn(self, rows: ArrayRows) -> Fit:
        return self._minimise(logistic, rows)

    def _learn_classes(self, rows: ArrayRows) -> ClassesFit:
        return self._minimise(partial(multinomial, classes=len(self.classes_)), rows)

    def _minimise(self, learn: Callable[..., _F], rows: ArrayRows) -> _F:
        """The fit; a warning if it has not converged."""
        with progress("Logistic", self.verbose) as report:
            fit = learn(
                rows,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                on_step=None if report is None else gap_progress(report),
            )
        self.converged_, self.objective_, self.gap_ = fit.converged, fit.objective, fit.gap
        if not fit.converged:
            hint = (
                "Without a penalty there is no minimum if the classes are linearly separable; use "
                "a finite C."
                if isinf(self.C)
                else "Raise max_iter or tol, or lower C."
            )
            early = NotConverged("Logistic", fit.iterations, self.max_iter, hint)
            warnings.warn(StoppedEarly(early), stacklevel=4)
        return fit

    def decision_function(self, X: MatrixLike) -> Floats:
        """The log posterior odds w·x + b of each row. For more than two classes, g of each, whose
        differences are log odds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        """
        return super().decision_function(X)
