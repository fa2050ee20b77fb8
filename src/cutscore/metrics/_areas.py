"""``roc_auc_score`` and ``average_precision_score``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from math import isnan

import numpy as np
from numpy.typing import ArrayLike

from cutscore.core import _native
from cutscore.core.checks import Columns, threads
from cutscore.metrics._columns import (
    AREA,
    SWEEP,
    Array,
    Label,
    Reading,
    as_columns,
    classes,
    columns,
    is_text,
    larger_positive,
    native_columns,
    run_readings,
    text_with_positive,
    with_positive,
)
from cutscore.metrics._drop_in import Irregular, drop_in, require_known
from cutscore.sweeps.areas import average_precision, partial_auc
from cutscore.sweeps.sweep import Floats, Sweep

Metric = Callable[[Columns, Iterable[Reading]], float | None]
"""A number, or None where scikit-learn has a warning to give instead."""


@drop_in
def roc_auc_score(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: ArrayLike | None = None,
) -> float | Floats:
    """Area under the ROC curve for two classes, several classes, or each column of a label matrix.

    For two classes without weights it is the exact fraction 2U / 2PN, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Labels; of two labels the larger is positive. Or a matrix of 0/1 labels.
    y_score : array-like of shape (n,) or (n, classes)
        Scores; probabilities with a column for each class where there are several.
    average : str, optional
        How the areas of several columns are averaged; None returns all of them.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    max_fpr : float, optional
        Only the part of the curve up to this false positive rate, on McClish's scale.
    multi_class : str, default 'raise'
        ``"ovr"``: each class against the rest. ``"ovo"``: each pair of classes (Hand and Till 2001,
        https://doi.org/10.1023/A:1010920819831).
    labels : array-like of labels, optional
        The classes, in the order of the columns of ``y_score``.

    See Also
    --------
    cutscore.auc, cutscore.partial_auc : The same of a sweep.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.roc_auc_score.html

    Examples
    --------
    >>> from cutscore.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> p = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.6, 0.1, 0.3]]
    >>> roc_auc_score([0, 1, 2, 2], p, multi_class="ovr")
    0.958...
    """
    if sample_weight is None and max_fpr is None and labels is None and average == "macro":
        area = plain_area(y_true, y_score)
        if area is not None and multi_class == "raise":
            return area
    need_average(average)
    require_known(multi_class in ("raise", "ovr", "ovo"), "multi_class must be one of the options")
    if max_fpr is not None:
        require_known(
            type(max_fpr) in (int, float) and 0 < max_fpr <= 1, "max_fpr must be in (0, 1]"
        )
    require_known(labels is None or hasattr(labels, "__len__"), "labels must be a list of classes")
    metric = partial(area_under, max_fpr=max_fpr)
    y, score, weight = columns(y_true, y_score, sample_weight)
    if y.ndim == score.ndim == 1:
        if is_text(y):
            seen = classes(y)
            require_known(len(seen) == 2, "there must be two labels")
            y = y == seen[1]
        r = native_columns(y, score, weight)
        return require(metric(r, larger_positive(r.label)), "y_true has one class only")
    need_matrix(y, score, weight)
    if y.ndim == 2:
        whole = partial(roc_auc_score, max_fpr=max_fpr)
        return average_columns(metric, whole, (y, score, weight), average)
    require_known(max_fpr in (None, 1), "max_fpr is for two classes")
    require_known(multi_class != "raise", "several classes need a multi_class")
    require_known(np.allclose(1, score.sum(axis=1)), "the probabilities of a row must add up to 1")
    named = classes(y) if labels is None else check_classes(labels, y)
    require_known(2 < len(named) == score.shape[1], "y_score must have a column for each class")
    if multi_class == "ovo":
        require_known(weight is None, "pairs of classes have no weights")
        require_known(np.ndim(y_true) == 1, "labels must have one dimension")
        require_known(average in ("macro", "weighted"), "average must be 'macro' or 'weighted'")
        return pairwise(y, score, named, average == "weighted")
    require_known(average != "samples", "average='samples' is for label matrices")
    return average_columns(metric, roc_auc_score, (y[:, None] == named, score, weight), average)


@drop_in
def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    pos_label: Label = 1,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Average precision: Σ (Rᵢ − Rᵢ₋₁) Pᵢ over all thresholds, not interpolated.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Labels, or a matrix of 0/1 labels.
    y_score : array-like of shape (n,) or (n, classes)
        Scores, with a column for each class where there are several.
    average : str, optional
        How the values of several columns are averaged; None returns all of them.
    pos_label : label, default 1
        The positive label of two.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    See Also
    --------
    cutscore.average_precision : The same of a sweep.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.average_precision_score.html

    Examples
    --------
    >>> from cutscore.metrics import average_precision_score
    >>> average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.833...
    """
    need_average(average)
    require_known(pos_label is not None, "pos_label must be a label")
    y, score, weight = columns(y_true, y_score, sample_weight)
    if y.ndim == score.ndim == 1:
        if is_text(y):
            y, pos_label = text_with_positive(y, pos_label, several=False), 1
        r = native_columns(y, score, weight)
        readings = with_positive(r.label, pos_label, several=False)
        return require(precision_on_average(r, readings), "y_true has no positives")
    require_known(not isinstance(pos_label, str) and pos_label == 1, "pos_label is for two classes")
    need_matrix(y, score, weight)
    if y.ndim == 1:
        named = classes(y)
        require_known(2 < len(named) == score.shape[1], "y_score must have a column for each class")
        require_known(hasattr(y_score, "shape"), "y_score must be an array")
        y = y[:, None] == named
    return average_columns(
        precision_on_average, average_precision_score, (y, score, weight), average
    )


def plain_area(y: object, score: object) -> float | None:
    """The AUC of arrays that the core reads as they are; None for all others, and whatever is wrong
    with them. Of few rows the way that reads everything takes longer than the area itself."""
    if not (type(y) is type(score) is np.ndarray and y.ndim == score.ndim == 1):
        return None
    if y.dtype not in _PLAIN_LABELS or score.dtype not in _PLAIN_SCORES or len(y) != len(score):
        return None
    if not all(a.flags.c_contiguous and a.flags.aligned for a in (y, score)):
        return None
    try:
        P, N, twice_u = _native.area(score, y, 0.0, 1.0, threads(len(y)), finite=True)
    except _native.RowFault:
        return None
    return twice_u / (2 * P * N) if P and N else None


_PLAIN_LABELS = frozenset(map(np.dtype, ("bool", "uint8", "int8", "int32", "int64")))
_PLAIN_SCORES = frozenset(map(np.dtype, ("float32", "float64")))


def area_under(
    r: Columns, readings: Iterable[Reading], max_fpr: float | None = None
) -> float | None:
    """The AUC, or None without mass in one of the classes."""
    if max_fpr is not None and max_fpr != 1:
        s = Sweep(*run_readings(SWEEP, r, readings)[0])
        both = s.P > 0 and s.N > 0
        return partial_auc(s, max_fpr=max_fpr, standardized=True) if both else None
    P, N, twice_u = run_readings(AREA, r, readings)[0]
    if not (P > 0 and N > 0):
        return None
    if r.weight is not None:
        require_known(
            1e-100 < P < 1e100 and 1e-100 < N < 1e100, "weights must not be that large or small"
        )
    return min(1.0, max(0.0, float(twice_u / (2 * P * N))))  # weighted sums are rounded


def precision_on_average(r: Columns, readings: Iterable[Reading]) -> float | None:
    """The average precision, or None without positives."""
    found = run_readings((_native.average_precision_of_rows, _native.weighted_sweep), r, readings)[
        0
    ]
    if r.weight is None:
        return None if isnan(found) else min(1.0, found)
    s = Sweep(*found)
    return average_precision(s) if s.P > 0 else None


def average_columns(
    metric: Metric,
    whole: Callable[..., float | Floats],
    matrices: tuple[Array, Array, Array | None],
    average: str | None,
) -> float | Floats:
    """A metric of each column of a label matrix (for "samples", of each row), averaged.

    ``whole`` is the function it is for, which knows what to do with a column of one class.
    """
    y, score, weight = matrices
    share = None
    if average == "micro":
        weight = None if weight is None else np.repeat(weight, y.shape[1])
        y, score = y.reshape(-1, 1), score.reshape(-1, 1)
    elif average == "weighted":
        share = y.sum(axis=0) if weight is None else weight @ y
    elif average == "samples":
        y, score, share, weight = y.T, score.T, weight, None
    require_known(share is None or share.sum() > 1e-6, "there must be positives to weight by")
    tables = [native_columns(y[:, k], score[:, k], weight) for k in range(y.shape[1])]
    # All of ours before any of theirs: once they have warned it is too late to find a bad label.
    values: list[object] = [metric(r, [(r.label, 0.0, 1.0)]) for r in tables]
    for k, r in enumerate(tables):
        if values[k] is None:
            values[k] = whole(r.label, r.score, sample_weight=r.weight)
    result = np.array(values, np.float64)
    if average is None:
        return result
    if share is not None:
        result[share == 0] = 0.0
    return float(np.average(result, weights=share))


def pairwise(y: Array, score: Array, named: Array, by_prevalence: bool) -> float:
    """The mean AUC over all pairs of classes, each of the two being the positive one once."""
    members = [(k, y == label) for k, label in enumerate(named)]
    values, prevalence = [], []
    for pair in combinations([(k, member) for k, member in members if member.any()], 2):
        either = pair[0][1] | pair[1][1]
        values.append(np.mean([_auc(c[either], score[either, k]) for k, c in pair]))
        prevalence.append(either.mean())
    require_known(values, "there must be two classes")
    mean: float = np.average(values, weights=prevalence if by_prevalence else None)
    return mean  # of NumPy's type, as scikit-learn's


def _auc(y: Array, score: Array) -> float:
    r = native_columns(y, score, None)
    area = area_under(r, [(r.label, 0.0, 1.0)])
    assert area is not None  # both classes are there
    return area


def check_classes(labels: ArrayLike, y: Array) -> Array:
    """The classes as the user named them."""
    named, seen = as_columns(labels), classes(y)
    require_known(
        named.ndim == 1 and is_text(named) == is_text(y), "labels must be like those of y_true"
    )
    require_known(np.array_equal(np.unique(named), named), "labels must be unique and in order")
    require_known(np.isin(seen, named).all(), "y_true must have no labels but these")
    return named


def require(value: float | None, rule: str) -> float:
    """The value; without one, scikit-learn has a warning to give."""
    if value is None:
        raise Irregular(rule)
    return value


def need_average(average: object) -> None:
    options = ("micro", "macro", "weighted", "samples")
    known = average is None or (isinstance(average, str) and average in options)
    require_known(known, "average must be one of the options")


def need_matrix(y: Array, score: Array, weight: Array | None) -> None:
    require_known(
        score.ndim == 2 and len(y) == len(score), "there must be a row of scores for each label"
    )
    if y.ndim == 2:
        require_known(
            y.shape == score.shape and y.dtype.kind in "biuf", "as many columns of labels"
        )
    if weight is not None:
        require_known(weight.shape == (len(y),), "there must be one weight for each row")
        require_known(
            weight.dtype.kind in "biuf" and np.isfinite(weight).all(), "weights must be finite"
        )
        require_known((weight >= 0).all(), "weights must be at least 0")
