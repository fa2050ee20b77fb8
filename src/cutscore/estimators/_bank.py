"""DetectorBank: one detector for each class against the rest, and a decision among all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Shown, shown
from cutscore.core.findings.statistics import BadCosts
from cutscore.estimators._base import check_positive
from cutscore.estimators._calibrated import CalibratedDetector
from cutscore.estimators._logistic import Logistic
from cutscore.estimators._shares import as_numbers, by_label, check_labels, class_shares
from cutscore.measures.costs import Costs
from cutscore.sweeps.sweep import Floats


def _calibrates(bank: DetectorBank) -> bool:
    if bank.method is None:
        raise AttributeError(
            "raw scores are no probabilities, and have no expected cost: with method=None there "
            "are decision_function and predict only. Set a method, 'platt' say, and fit again."
        )
    return True


class DetectorBank(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """One detector for each of K classes against the rest; the decision is made among all.

    Each detector is a :class:`CalibratedDetector`. Their answers are combined into posteriors,
    and the class decided is the one with the largest posterior or, with ``costs``, the one with
    the smallest expected cost. Prior and costs are bound at prediction:
    ``set_params(prior=..., costs=...)`` takes effect without another fit.

    Parameters
    ----------
    estimator
        A binary classifier with ``decision_function`` or ``predict_proba``, as for
        :class:`CalibratedDetector`. It sees 1 for its class and 0 for the rest. None is a
        ``LogisticRegression``.
    method
        How scores are calibrated, as for :func:`cutscore.calibrate`. None leaves them as they are:
        the largest score decides, and there are neither probabilities nor expected costs.
    cv
        Folds, as scikit-learn understands them: a number, a splitter, or pairs of indices that
        leave each row out once. All detectors use the same. Nothing is left out for
        ``method=None``.
    prior
        The share of each class where predictions are made, in the order of ``classes_`` or by
        label, adding up to 1. None is that of the training rows.
    costs
        ``costs[i, j]`` is the cost of deciding class j when it is i: a K × K array in the order of
        ``classes_``, or ``{label: {decided: cost}}``, where the cost of being right is 0 if left
        out. A benefit is a negative cost. With two classes that say which is the positive (0/1,
        False/True or -1/1), :class:`cutscore.Costs` will do. None counts all errors alike.

    Attributes
    ----------
    detectors_
        The fitted :class:`CalibratedDetector` of each class, in the order of ``classes_``. Of two
        classes there is one, for the second. With ``method=None`` they are the classifiers.
    prior_
        The share (by weight) of each class among the training rows.
    classes_
        The labels, as scikit-learn sorts them.

    Notes
    -----
    Detector k gives q_k, the probability of its class at the training shares π. Its "rest" is the
    other classes in just these shares, so the K answers speak of the same population, and there
    they are combined. Had they no error they would add up to 1. As they have, p is taken as near
    to all of them as it can be: it minimises Σ_k KL(p_k ‖ q_k), the divergences of "class k or
    not", among all p that add up to 1. The solution moves all log odds by the same amount:

        logit p_k = logit q_k − λ,  with λ such that Σ_k p_k = 1.

    It leaves answers alone that add up to 1 already, it keeps their order, and a detector that is
    sure is moved less than one that is not. Of two other ways, p_k ∝ q_k moves the sure as much
    as the unsure, and had the higher log loss in 51 of 56 trials (7 data sets, 4 classifiers, 2
    methods); p_k ∝ q_k / (1 − q_k) makes (0.87, 0.09, 0.04) of the right answer (0.7, 0.2, 0.1).

    Another prior π′ comes in afterwards: p_k / π_k is p(x|k) up to a factor common to all classes,
    so p′_k ∝ p_k π′_k / π_k. Adding its log odds to the LLR of each detector would be wrong for
    more than two classes, since with the shares of the classes the rest changes too.

    Ties go to the class that comes first in ``classes_``.

    References
    ----------
    B. Zadrozny, C. Elkan, Transforming classifier scores into accurate multiclass probability
    estimates, KDD 2002, `doi:10.1145/775047.775151 <https://doi.org/10.1145/775047.775151>`_.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cutscore.estimators import DetectorBank
    >>> X, y = load_iris(return_X_y=True)
    >>> bank = DetectorBank().fit(X, y)
    >>> bank.predict(X[[0, 70, 120]])
    array([0, 2, 2])
    >>> bank.predict_proba(X[[0, 70, 120]]).round(2)
    array([[0.96, 0.04, 0.  ],
           [0.01, 0.33, 0.67],
           [0.  , 0.05, 0.95]])
    >>> costs = {0: {1: 1, 2: 1}, 1: {0: 1, 2: 5}, 2: {0: 1, 1: 1}}  # 1 must not be taken for 2
    >>> bank.set_params(costs=costs).predict(X[[0, 70, 120]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str | None = "platt",
        cv: Any = 5,
        prior: Any = None,
        costs: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.prior = prior
        self.costs = costs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DetectorBank:
        """Fit and calibrate the detector of each class.

        Weights count as numbers of rows. A classifier that takes none is fitted without them, with
        a warning; the calibrators use them in any case.
        """
        X, y = indexable(X, y)
        if not _num_samples(X):
            raise ValueError("DetectorBank needs rows; X has 0 sample(s).")
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        mass = self._mass(codes, weight)
        self.prior_ = mass / mass.sum()
        # What is wrong with these shows now, and not only at the first prediction.
        self._log_prior()
        self._costs()
        folds = None if self.method is None else self._folds(X, y, codes, weight)
        last = len(self.classes_) - 1
        of_class = [1] if last == 1 else range(last + 1)
        self.detectors_ = [
            self._detector(X, (codes == k).astype(np.int64), weight, folds) for k in of_class
        ]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.detectors_[0], name):
                setattr(self, name, getattr(self.detectors_[0], name))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log posterior odds of each class against all others, at ``prior``.

        Of two classes only those of the second, one number for each row. With ``method=None`` the
        raw scores: of ``decision_function`` or, without one, P(class) − P(rest).
        """
        if self.method is None:
            scores = self._raw(X)
            return scores[:, 0] if len(self.classes_) == 2 else scores
        log_p = self._log_posterior(X)
        if len(self.classes_) == 2:
            return np.asarray(log_p[:, 1] - log_p[:, 0])
        p = np.exp(log_p)
        # One function of p_k alone, so that classes that tie still do; above ½, which no two
        # classes are, from the others, or 1 − p would be lost in rounding.
        odds = log_p - np.log1p(-np.minimum(p, 0.5))
        row, k = np.nonzero(p > 0.5)
        others = log_p[row]
        others[np.arange(len(row)), k] = -np.inf
        odds[row, k] = log_p[row, k] - _log_sum(others)
        return np.asarray(odds)

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The posterior of each class, at ``prior``."""
        return np.asarray(np.exp(self._log_posterior(X)))

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of ``predict_proba``, exact where these round to 0."""
        return self._log_posterior(X)

    @available_if(_calibrates)  # type: ignore[untyped-decorator]
    def expected_cost(self, X: Any) -> Floats:
        """What deciding each class j costs on average: Σ_i p_i costs[i, j].

        Without ``costs`` an error costs 1: the probability of being wrong.
        """
        costs = self._costs()
        return np.asarray(self.predict_proba(X) @ (_all_alike(self) if costs is None else costs))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the smallest expected cost; without ``costs`` the most probable one."""
        check_is_fitted(self)
        costs = self._costs()
        if costs is not None:
            # What being right costs is due whatever is decided. Left in, it could drown the rest.
            regret = costs - np.diag(costs)[:, None]
            best = np.argmin(self.predict_proba(X) @ regret, axis=1)
        elif len(self.classes_) == 2:
            best = (self.decision_function(X) > 0).astype(np.intp)
        elif self.method is None:
            best = np.argmax(self._raw(X), axis=1)
        else:
            best = np.argmax(self._log_posterior(X), axis=1)
        return np.asarray(self.classes_[best])

    def _log_posterior(self, X: Any) -> Floats:
        check_is_fitted(self)
        odds = np.column_stack([d.decision_function(X) for d in self.detectors_])
        if len(self.classes_) == 2:
            odds = np.hstack((-odds, odds))
        log_p = _nearest(odds) + (self._log_prior() - np.log(self.prior_))
        return np.asarray(log_p - _log_sum(log_p)[:, None])

    def _raw(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.column_stack([_score(d, X) for d in self.detectors_])

    def _mass(self, codes: NDArray[np.intp], weight: Floats | None) -> Floats:
        mass = np.bincount(codes, weight).astype(np.float64)
        names = self.classes_.tolist()
        if np.count_nonzero(mass) < 2:
            raise ValueError(
                "DetectorBank needs rows of at least two classes; y has 1 class with any weight, "
                f"{names[int(mass.argmax())]!r}."
            )
        if not mass.all():
            raise ValueError(
                f"each class needs rows with a weight above 0; class {names[int(mass.argmin())]!r} "
                "has none. Leave its rows out."
            )
        return mass

    def _folds(self, X: Any, y: Any, codes: Any, weight: Floats | None) -> list[Any]:
        """The same for all detectors, with all classes in their shares where that can be."""
        if isinstance(self.cv, str):
            raise ValueError(
                f"cv must be folds, a number of them or a splitter; it is {shown(self.cv)}. The "
                "bank fits one detector for each class, so none can be there already."
            )
        names = self.classes_.tolist()
        splitter = check_cv(self.cv, y, classifier=True)
        rows = np.bincount(codes if weight is None else codes[weight > 0])
        if rows.min() < 2:
            raise ValueError(
                "each class needs two rows, one to learn from while the other is left out; class "
                f"{names[int(rows.argmin())]!r} has n_samples={rows.min()}. Find more rows of this "
                "class, or join it with another."
            )
        folds = list(splitter.split(X, y))
        for k, (train, _) in enumerate(folds):
            rest = codes[train] if weight is None else codes[train][weight[train] > 0]
            gone = np.setdiff1d(np.arange(len(names)), rest)
            if len(gone):
                raise ValueError(
                    f"each class needs rows outside of every fold; fold {k} of cv has all those of "
                    f"class {names[gone[0]]!r}. Use folds with all classes in each, as "
                    "StratifiedKFold makes."
                )
        return folds

    def _detector(self, X: Any, y: Any, weight: Floats | None, folds: list[Any] | None) -> Any:
        estimator = self._inner()
        if folds is not None:
            detector = CalibratedDetector(estimator, method=self.method, cv=folds)  # type: ignore[arg-type]
            return detector.fit(X, y, sample_weight=weight)
        new = clone(estimator)
        if weight is None:
            return new.fit(X, y)
        if not has_fit_parameter(new, "sample_weight"):
            raise TypeError(
                f"{type(new).__name__} takes no sample_weight, and with method=None nothing else "
                "uses it. Leave it out, or use a classifier that takes it."
            )
        return new.fit(X, y, sample_weight=weight)

    def _inner(self) -> Any:
        return Logistic() if self.estimator is None else self.estimator

    def _log_prior(self) -> Floats:
        if self.prior is None:
            return np.asarray(np.log(self.prior_))
        self._needs_method("prior")
        return np.asarray(np.log(class_shares(self.prior, self.classes_.tolist())))

    def _costs(self) -> Floats | None:
        if self.costs is None:
            return None
        self._needs_method("costs")
        names = self.classes_.tolist()
        k = len(names)
        given = self.costs
        if isinstance(given, Costs):
            if k != 2:
                rule = f"be a matrix for {k} classes"
                hint = "Pass costs[i, j] for deciding class j when it is i."
                raise DataError(BadArgument("costs", rule, given, hint))
            check_positive(self.classes_, "costs=Costs(...)")
            given = [[-given.tn, given.fp], [given.fn, -given.tp]]
        given = by_label(given)
        costs = _of_labels(given, names) if isinstance(given, Mapping) else as_numbers(given)
        if costs.shape != (k, k):
            rule = f"be a {k} × {k} matrix, a row and a column for each class"
            raise DataError(BadArgument("costs", rule, Shown(f"of the shape {costs.shape}")))
        for i, j in np.argwhere(~(np.abs(costs) <= 1e100)):
            rule = (
                "a cost must be a finite number, up to 1e100; that of deciding "
                f"{names[j]!r} when it is {names[i]!r} is {costs[i, j]:g}"
            )
            raise DataError(BadCosts(rule))
        right = np.diag(costs)[:, None]
        for i, j in np.argwhere(costs < right):
            rule = (
                f"being right must cost no more than being wrong; deciding {names[j]!r} when it "
                f"is {names[i]!r} costs {costs[i, j]:g}, and deciding {names[i]!r} then "
                f"{costs[i, i]:g}"
            )
            hint = "costs[i, j] is of deciding j when it is i; a benefit is a negative cost."
            raise DataError(BadCosts(rule, hint))
        if not (costs > right).any():
            rule = "some decision must make a difference; with these costs none does"
            raise DataError(BadCosts(rule, "Leave costs out to count all errors alike."))
        return costs

    def _needs_method(self, what: str) -> None:
        if self.method is None:
            rule = f"{what} is for calibrated scores; method is None, which leaves them raw"
            hint = "Set {1}='platt', say, or {0}=None."
            raise DataError(Conflict((what, "method"), rule, hint))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self._inner(), "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags.sparse = inner().input_tags.sparse
        return tags


def _nearest(odds: Floats) -> Floats:
    """ln p of the p that add up to 1 and whose log odds are ``odds`` − λ, row by row.

    Only differences matter, so the largest log odds are made 0. Then λ solves
    ln σ(λ) = ln Σ σ(l_k − λ) over the other classes: the probability that it is none of the first,
    in two ways. Their difference rises with λ, with a slope between ½ and 2, so that Newton's
    method needs few steps; as logarithms nothing is lost however far apart the classes are.
    """
    # A score far out may have an infinite LLR; two such would leave nothing to compare.
    odds = np.clip(odds, -1e300, 1e300)
    odds = odds - odds.max(axis=1, keepdims=True)
    rest = np.sort(odds, axis=1)[:, :-1]
    # At the second largest odds Σ p_k is at least ½ + ½; at the log-sum-exp of all, below 1.
    low, high = rest[:, -1].copy(), _log_sum(odds)
    shift = np.clip(0.5 * _log_sum(rest), low, high)
    for _ in range(100):
        log_q = -np.logaddexp(0, shift[:, None] - rest)
        total = _log_sum(log_q)
        share = np.exp(log_q - total[:, None])
        not_first = -np.logaddexp(0, -shift)
        gap = not_first - total
        slope = -np.expm1(not_first) - np.sum(share * np.expm1(log_q), axis=1)
        low, high = np.where(gap < 0, shift, low), np.where(gap < 0, high, shift)
        new = shift - gap / slope
        new = np.where((new >= low) & (new <= high), new, 0.5 * low + 0.5 * high)
        moved = np.abs(new - shift)
        shift = new
        # Steps square their error: after one of 1e-8 what is left is rounding, that of λ included.
        if np.all(moved <= 1e-8 + 4e-15 * np.abs(shift)):
            break
    return np.asarray(-np.logaddexp(0, shift[:, None] - odds))


def _log_sum(a: Floats) -> Floats:
    """ln Σ exp of each row; the largest must be finite."""
    top = a.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(a - top).sum(axis=1)))


def _score(estimator: Any, X: Any) -> Floats:
    """Above 0 where the estimator takes a row for its class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), np.float64).ravel()
    if hasattr(estimator, "predict_proba"):
        p = np.asarray(estimator.predict_proba(X), np.float64)
        return np.asarray(p[:, 1] - p[:, 0])
    raise TypeError(
        f"{type(estimator).__name__} has no score, and scores are what decides among classes. Use "
        "a classifier with decision_function or predict_proba."
    )


def _all_alike(bank: DetectorBank) -> Floats:
    k = len(bank.classes_)
    return np.ones((k, k)) - np.eye(k)


def _of_labels(given: Mapping[Any, Any], names: list[Any]) -> Floats:
    check_labels(given, names, "costs")
    costs = np.zeros((len(names), len(names)))
    for i, name in enumerate(names):
        row = given.get(name, {})
        if not isinstance(row, Mapping):
            rule, subject = "be {decided: cost}", f"costs of {name!r}"
            raise DataError(BadArgument("costs", rule, row, subject=subject))
        check_labels(row, names, f"costs of {name!r}")
        for j, decided in enumerate(names):
            if decided in row:
                costs[i, j] = number(row[decided])
            elif i != j:
                rule = f"costs must have that of deciding {decided!r} when it is {name!r}"
                raise DataError(BadCosts(rule))
    return costs
