"""What scikit-learn's ``check_estimator`` asks for that an estimator can't do, and why not."""

from __future__ import annotations

from typing import Any

from cutscore.estimators._perceptron import Perceptron
from cutscore.estimators._structural import Structural
from cutscore.linear.structural import as_trainable

_ORDER = (
    "a perceptron is moved by its rows one after the other: a weight scales one move, and copies "
    "are several moves. scikit-learn's own Perceptron depends on the order of rows as well"
)
_F = (
    "an F measure is 0 where no positive is caught, whatever the negatives weigh: no weights of "
    "classes move all decisions to the negatives"
)
# By estimator and check, the reason.
_REASONS: dict[type, dict[str, str]] = {
    Perceptron: {
        "check_sample_weight_equivalence_on_dense_data": _ORDER,
        "check_sample_weight_equivalence_on_sparse_data": _ORDER,
    },
    Structural: {"check_class_weight_classifiers": _F},
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Checks of scikit-learn's ``check_estimator`` that an estimator can't pass, with reasons.

    What is in here no implementation can pass; all other checks pass.

    Parameters
    ----------
    estimator
        An estimator of this package.

    Returns
    -------
    dict
        From the name of a check to its reason, as ``check_estimator`` and
        ``parametrize_with_checks`` take it.

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
    return dict(_REASONS.get(type(estimator), {}))
