"""Estimators in closed form: one pass over the rows, and a system of the size of their columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cutscore.estimators._base import LinearEstimator, LogOdds, check_positive
from cutscore.estimators._shares import class_shares
from cutscore.linear import ClassesFit, Fit
from cutscore.linear.closed import (
    fisher,
    gaussian,
    gaussian_classes,
    least_squares,
    least_squares_classes,
    mean_difference,
    shrinkage_of,
)
from cutscore.linear.moments import ClassMoments
from cutscore.linear.rows import ArrayRows


class _FromMoments(LinearEstimator):
    """A learner that needs the moments of the classes only."""

    moments_: ClassMoments
    _scatter = True
    _finds_nan = True  # what is not finite in X is not finite in its moments

    def _learn(self, rows: ArrayRows) -> Fit:
        self.moments_ = ClassMoments.of_rows(rows, scatter=self._scatter)
        return self._solve(self.moments_)

    def _learn_classes(self, rows: ArrayRows) -> ClassesFit:
        self.moments_ = ClassMoments.of_rows(rows, classes=len(self.classes_))
        return self._solve_classes(self.moments_)

    @abstractmethod
    def _solve(self, m: ClassMoments) -> Fit:
        """The line of these moments."""

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        """The functions of these moments, where there are more than two classes."""
        raise NotImplementedError


class MeanDifference(_FromMoments):
    """The line half-way between the means of the classes: w = μ₊ − μ₋.

    The simplest of all: it takes the columns for independent and equally wide, so scale them first.
    With very many columns, as of text, it is hard to beat for its price. There are no weights of
    classes, on which means don't depend.

    Attributes
    ----------
    coef_, intercept_
        w and b.
    moments_
        Mass and means of the classes: :class:`cutscore.ClassMoments`.
    classes_
        The labels, the negative one first, as scikit-learn sorts them.

    Examples
    --------
    >>> from cutscore.estimators import MeanDifference
    >>> line = MeanDifference().fit([[0, 1], [2, 1], [4, 5], [6, 9]], [0, 0, 1, 1])
    >>> line.coef_.tolist(), line.intercept_.tolist()
    ([[4.0, 6.0]], [-36.0])
    >>> line.predict([[3, 3], [3, 5]]).tolist()
    [0, 1]
    """

    _scatter = False

    def _solve(self, m: ClassMoments) -> Fit:
        return mean_difference(m)


class LeastSquares(_FromMoments):
    """The line of least squares for the targets −1 and 1; of K > 2 classes, K of them.

    w, b = argmin Σ weight·(target − w·x − b)² + alpha·‖w‖². Where more than one line is best
    (columns depend on each other, or there are more of them than rows), w is the shortest in units
    of the columns' standard deviations within the classes. Of more than two classes, each has a
    line of its own, for the target 1 of its rows and −1 of all others: the regression on one-hot
    targets. All K come from one pass and one matrix.

    Parameters
    ----------
    alpha
        At least 0: what w costs. It is in units of the columns; scale these first.
    class_weight
        None, ``"balanced"``, a dict from labels to weights, or :class:`cutscore.Costs`.

    Attributes
    ----------
    coef_, intercept_
        w and b.
    moments_
        Mass, means and scatter of the classes: :class:`cutscore.ClassMoments`.
    classes_
        The labels, the negative one first, as scikit-learn sorts them.

    Notes
    -----
    One pass sums up squares, so a direction with less than 1e-12 of the variance of the widest one
    (columns scaled to equal width) counts as none.

    Examples
    --------
    >>> from cutscore.estimators import LeastSquares
    >>> line = LeastSquares().fit([[0], [2], [4], [6]], [0, 0, 1, 1])
    >>> line.decision_function([[0], [3], [6]]).round(6).tolist()
    [-1.2, 0.0, 1.2]
    """

    def __init__(self, alpha: float = 0.0, *, class_weight: Any = None) -> None:
        self.alpha = alpha
        self.class_weight = class_weight

    _many = True

    def _solve(self, m: ClassMoments) -> Fit:
        return least_squares(m, alpha=self.alpha)

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        return least_squares_classes(m, alpha=self.alpha)


class GaussianDiscriminant(LogOdds, _FromMoments):
    """The Bayesian discriminant of two or more normal distributions with the same covariance Σ.

    Scores are log posterior odds: w = Σ⁻¹(μ₊ − μ₋), and b = −w·(μ₊ + μ₋)/2 + ln clr with the prior
    odds clr. Of K > 2 classes, each has the log of its prior and density as its score, but for what
    is the same in all of them: w_k = Σ⁻¹(μ_k − c) with the mean c of all rows. With ``prior=None``
    and no shrinkage it is what scikit-learn calls ``LinearDiscriminantAnalysis(solver="lsqr")``.

    Parameters
    ----------
    shrinkage
        None: Σ as it is. A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ), which at 1 takes the
        columns for independent. ``"auto"``: oracle approximating shrinkage of the correlations, as
        :func:`cutscore.linear.closed.shrinkage_of` computes it. Units of the columns don't matter.
    prior
        The share of positives where predictions are made; it needs labels that say which class
        that is: 0/1, False/True or -1/1. Of more classes, the share of each, in the order of
        ``classes_`` or by label. None is that of the training rows, by their weights.
    class_weight
        None, ``"balanced"``, a dict from labels to weights, or :class:`cutscore.Costs`. It moves
        the prior odds too if ``prior`` is None.

    Attributes
    ----------
    coef_, intercept_
        w and b.
    shrinkage_
        The shrinkage that was used.
    moments_
        Mass, means and scatter of the classes: :class:`cutscore.ClassMoments`.
    classes_
        The labels, the negative one first, as scikit-learn sorts them.

    Notes
    -----
    Where columns, or combinations of them, have one value in each class and not the same (with more
    columns than rows there always are such), odds without shrinkage would be infinite. They are
    finite here, and probabilities 0 or 1: use ``shrinkage="auto"``.

    Examples
    --------
    >>> from cutscore.estimators import GaussianDiscriminant
    >>> d = GaussianDiscriminant().fit([[0], [2], [4], [6]], [0, 0, 1, 1])
    >>> d.decision_function([[3], [4]]).round(6).tolist()
    [0.0, 4.0]
    >>> d.predict_proba([[3], [4]])[:, 1].round(3).tolist()
    [0.5, 0.982]
    >>> GaussianDiscriminant(prior=0.01).fit([[0], [2], [4], [6]], [0, 0, 1, 1]).predict([[4]])
    array([0])
    """

    def __init__(
        self,
        *,
        shrinkage: float | str | None = None,
        prior: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.prior = prior
        self.class_weight = class_weight

    _many = True

    def _learn(self, rows: ArrayRows) -> Fit:
        if self.prior is not None:
            check_positive(self.classes_, "prior")
        return super()._learn(rows)

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        prior = None if self.prior is None else class_shares(self.prior, self.classes_.tolist())
        fit = gaussian_classes(m, shrinkage=self.shrinkage, prior=prior)
        self.shrinkage_ = _used(self.shrinkage, m)
        return fit

    def _solve(self, m: ClassMoments) -> Fit:
        fit = gaussian(m, shrinkage=self.shrinkage, prior=self.prior)
        self.shrinkage_ = _used(self.shrinkage, m)
        return fit


class Fisher(_FromMoments):
    """Fisher's discriminant: w = Σ⁻¹(μ₊ − μ₋), its threshold half-way between the projected means.

    w maximises (w·μ₊ − w·μ₋)² / w·Σw, the distance of the classes by their width. Where that is
    infinite, as with more columns than rows, w lies where the classes have no width, and their
    means have the scores 1 and −1. There are no weights of classes, which the threshold would not
    follow; :class:`GaussianDiscriminant` has the same w, and a threshold that does.

    Parameters
    ----------
    shrinkage
        None: Σ as it is. A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ). ``"auto"``: as for
        :class:`GaussianDiscriminant`.

    Attributes
    ----------
    coef_, intercept_
        w and b.
    shrinkage_
        The shrinkage that was used.
    moments_
        Mass, means and scatter of the classes: :class:`cutscore.ClassMoments`.
    classes_
        The labels, the negative one first, as scikit-learn sorts them.

    References
    ----------
    .. [1] R. A. Fisher: The use of multiple measurements in taxonomic problems, Annals of Eugenics
       7 (1936), doi:10.1111/j.1469-1809.1936.tb02137.x.

    Examples
    --------
    >>> from cutscore.estimators import Fisher
    >>> line = Fisher().fit([[0, 5], [2, 5], [4, 5], [6, 5]], ["no", "no", "yes", "yes"])
    >>> line.decision_function([[0, 5], [3, 5]]).round(6).tolist()
    [-12.0, 0.0]
    >>> line.predict([[2, 5], [4, 5]]).tolist()
    ['no', 'yes']
    """

    def __init__(self, *, shrinkage: float | str | None = None) -> None:
        self.shrinkage = shrinkage

    def _solve(self, m: ClassMoments) -> Fit:
        fit = fisher(m, shrinkage=self.shrinkage)
        self.shrinkage_ = _used(self.shrinkage, m)
        return fit


def _used(shrinkage: float | str | None, m: ClassMoments) -> float:
    if shrinkage is None:
        return 0.0
    return shrinkage_of(m) if isinstance(shrinkage, str) else float(shrinkage)
