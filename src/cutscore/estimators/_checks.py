"""The checks of scikit-learn's ``check_estimator`` that an estimator can't pass, and why."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cutscore.estimators._perceptron import Perceptron
from cutscore.estimators._structural import Structural
from cutscore.linear.structural import as_trainable

_ORDER = (
    "a perceptron is updated row by row: a weight scales one update, copies of a row make several "
    "updates. scikit-learn's own Perceptron depends on the order of rows as well"
)
_F = (
    "an F measure is 0 without true positives, whatever the negatives weigh: no class weights make "
    "all predictions negative"
)
# By estimator and check, the reason.
_REASONS: dict[type, dict[str, str]] = {
    Perceptron: {
        "check_sample_weight_equivalence_on_dense_data": _ORDER,
        "check_sample_weight_equivalence_on_sparse_data": _ORDER,
    },
    Structural: {"check_class_weight_classifiers": _F},
}


def expected_failed_checks(estimator: BaseEstimator) -> dict[str, str]:
    """Checks of scikit-learn's ``check_estimator`` that an estimator can't pass, with reasons.

    No implementation can pass the checks listed here; all other checks pass.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package.

    Returns
    -------
    dict
        The reason by name of the check, as ``check_estimator`` and ``parametrize_with_checks``
        take it.

    Examples
    --------
    >>> from sklearn.utils.estimator_checks import check_estimator
    >>> from cutscore.estimators import Fisher, Perceptron, expected_failed_checks
    >>> expected_failed_checks(Fisher())
    {}
    >>> sorted(expected_failed_checks(Perceptron()))
    ['check_sample_weight_equivalence_on_dense_data',
    'check_sample_weight_equivalence_on_sparse_data']
    """
    if (
        isinstance(estimator, Structural)
        and as_trainable(estimator.measure, estimator.k).kind != "f"
    ):
        return {}
    found = (reasons for kind, reasons in _REASONS.items() if isinstance(estimator, kind))
    return dict(next(found, {}))
