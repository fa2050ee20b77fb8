"""Estimators in closed form: one pass over the rows, then one linear system."""

from __future__ import annotations

from abc import abstractmethod

from cutscore.estimators._base import LinearEstimator, LogOdds, check_positive
from cutscore.estimators._shares import class_shares
from cutscore.estimators._types import ClassShares, ClassWeight
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
    """A learner that needs only the moments of the classes."""

    moments_: ClassMoments
    _scatter = True
    _finds_nan = True  # moments of non-finite features are not finite

    def _learn(self, rows: ArrayRows) -> Fit:
        self.moments_ = ClassMoments.of_rows(rows, scatter=self._scatter)
        return self._solve(self.moments_)

    def _learn_classes(self, rows: ArrayRows) -> ClassesFit:
        self.moments_ = ClassMoments.of_rows(rows, classes=len(self.classes_))
        return self._solve_classes(self.moments_)

    @abstractmethod
    def _solve(self, m: ClassMoments) -> Fit:
        """The linear classifier of these moments."""

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        """The discriminants of these moments, for more than two classes."""
        raise NotImplementedError


class MeanDifference(_FromMoments):
    """Linear classifier through the midpoint of the class means: w = μ₊ − μ₋ (nearest centroid).

    It assumes independent features of equal variance, so standardise them first. With very many
    features, such as text, it is hard to beat at its cost. There are no class weights, since means
    don't depend on them.

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
    >>> model = MeanDifference().fit([[0, 1], [2, 1], [4, 5], [6, 9]], [0, 0, 1, 1])
    >>> model.coef_.tolist(), model.intercept_.tolist()
    ([[4.0, 6.0]], [-36.0])
    >>> model.predict([[3, 3], [3, 5]]).tolist()
    [0, 1]
    """

    _scatter = False

    def _solve(self, m: ClassMoments) -> Fit:
        return mean_difference(m)


class LeastSquares(_FromMoments):
    """Least-squares (ridge) classifier for the targets −1 and 1; one-vs-rest for K > 2 classes.

    w, b = argmin Σ weight·(target − w·x − b)² + alpha·‖w‖². If the minimum is not unique (collinear
    features, or more features than rows), w is the one of minimum norm, in units of the features'
    standard deviations within the classes. With more than two classes, each has a discriminant for
    the target 1 of its rows and −1 of all others: regression on one-hot targets. All K come from
    one pass and one matrix.

    Parameters
    ----------
    alpha : float, default 0.0
        The ridge penalty, at least 0. It depends on the units of the features; standardise first.
    class_weight : dict, "balanced" or Costs, optional
        Weights of the classes.

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
    One pass sums up squares, so a direction with less than 1e-12 of the largest variance (of
    standardised features) counts as constant.

    Examples
    --------
    >>> from cutscore.estimators import LeastSquares
    >>> model = LeastSquares().fit([[0], [2], [4], [6]], [0, 0, 1, 1])
    >>> model.decision_function([[0], [3], [6]]).round(6).tolist()
    [-1.2, 0.0, 1.2]
    """

    def __init__(self, alpha: float = 0.0, *, class_weight: ClassWeight = None) -> None:
        self.alpha = alpha
        self.class_weight = class_weight

    _multiclass = True

    def _solve(self, m: ClassMoments) -> Fit:
        return least_squares(m, alpha=self.alpha)

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        return least_squares_classes(m, alpha=self.alpha)


class GaussianDiscriminant(LogOdds, _FromMoments):
    """Linear discriminant analysis: normal classes with a common covariance matrix Σ.

    Scores are log posterior odds: w = Σ⁻¹(μ₊ − μ₋), and b = −w·(μ₊ + μ₋)/2 + ln clr with the prior
    odds clr. For K > 2 classes the score is the log of prior and density, up to a common term: w_k
    = Σ⁻¹(μ_k − c) with the mean c of all rows. With ``prior=None`` and no shrinkage it is
    scikit-learn's ``LinearDiscriminantAnalysis(solver="lsqr")``.

    Parameters
    ----------
    shrinkage : float or "auto", optional
        A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ); 1 assumes independent features. ``"auto"``:
        oracle approximating shrinkage of the correlations, from
        :func:`cutscore.linear.closed.shrinkage_of`. It does not depend on the units of the
        features. Default: no shrinkage.
    prior : float, array-like of shape (n_classes,) or dict, optional
        The share of positives where predictions are made; it needs labels 0/1, False/True or -1/1,
        which name the positive class. For more classes the share of each, in the order of
        ``classes_`` or by label. Default: the weighted shares of the training rows.
    class_weight : dict, "balanced" or Costs, optional
        Weights of the classes. They change the prior odds too if ``prior`` is None.

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
    Where a linear combination of features is constant within each class but differs between them
    (always so with more features than rows), odds without shrinkage would be infinite. Here they
    are finite, with probabilities of 0 or 1: use ``shrinkage="auto"``.

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
        prior: float | ClassShares = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.prior = prior
        self.class_weight = class_weight

    _multiclass = True

    def _learn(self, rows: ArrayRows) -> Fit:
        if self.prior is not None:
            check_positive(self.classes_, "prior")
        return super()._learn(rows)

    def _solve_classes(self, m: ClassMoments) -> ClassesFit:
        prior = None if self.prior is None else class_shares(self.prior, self.classes_.tolist())
        fit = gaussian_classes(m, shrinkage=self.shrinkage, prior=prior)
        self.shrinkage_ = _shrinkage(self.shrinkage, m)
        return fit

    def _solve(self, m: ClassMoments) -> Fit:
        fit = gaussian(m, shrinkage=self.shrinkage, prior=self.prior)  # type: ignore[arg-type]
        self.shrinkage_ = _shrinkage(self.shrinkage, m)
        return fit


class Fisher(_FromMoments):
    """Fisher's linear discriminant: w = Σ⁻¹(μ₊ − μ₋), threshold midway between projected means.

    w maximises (w·μ₊ − w·μ₋)² / w·Σw, the ratio of between-class to within-class variance. Where
    that is infinite, as with more features than rows, w lies in the null space of Σ, and the means
    have the scores 1 and −1. There are no class weights, which the threshold would ignore;
    :class:`GaussianDiscriminant` has the same w and a threshold that depends on them.

    Parameters
    ----------
    shrinkage : float or "auto", optional
        A number s from 0 to 1: (1 − s)·Σ + s·diag(Σ). ``"auto"``: as for
        :class:`GaussianDiscriminant`. Default: no shrinkage.

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
    >>> model = Fisher().fit([[0, 5], [2, 5], [4, 5], [6, 5]], ["no", "no", "yes", "yes"])
    >>> model.decision_function([[0, 5], [3, 5]]).round(6).tolist()
    [-12.0, 0.0]
    >>> model.predict([[2, 5], [4, 5]]).tolist()
    ['no', 'yes']
    """

    def __init__(self, *, shrinkage: float | str | None = None) -> None:
        self.shrinkage = shrinkage

    def _solve(self, m: ClassMoments) -> Fit:
        fit = fisher(m, shrinkage=self.shrinkage)
        self.shrinkage_ = _shrinkage(self.shrinkage, m)
        return fit


def _shrinkage(shrinkage: float | str | None, m: ClassMoments) -> float:
    if shrinkage is None:
        return 0.0
    return shrinkage_of(m) if isinstance(shrinkage, str) else float(shrinkage)
