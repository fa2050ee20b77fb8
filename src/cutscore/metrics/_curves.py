"""``roc_curve``, ``precision_recall_curve``, ``det_curve`` and ``auc``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cutscore.core import _native
from cutscore.core.checks import Columns
from cutscore.metrics._columns import (
    SWEEP,
    Array,
    Kernels,
    Label,
    Reading,
    as_columns,
    columns,
    is_text,
    native_columns,
    run_readings,
    text_with_positive,
    with_positive,
)
from cutscore.metrics._drop_in import drop_in, require_known
from cutscore.sweeps.sweep import Floats


@drop_in
def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """ROC curve: ``fpr, tpr, thresholds``, from a threshold of +inf downwards.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Labels: 0/1 or -1/1, or any others together with ``pos_label``.
    y_score : array-like of shape (n,) or (n, classes)
        Scores, higher meaning more positive.
    pos_label : label, optional
        The positive label; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    drop_intermediate : bool, default True
        Leave out a point if the steps to it and from it are the same.

    See Also
    --------
    cutscore.roc : The same curve of a sweep, with every point.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.roc_curve.html

    Examples
    --------
    >>> from cutscore.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    """
    need_bool(drop_intermediate)
    given = columns(y_true, y_score, sample_weight)
    if sample_weight is None:
        kernel = partial(_native.roc_curve, corners_only=bool(drop_intermediate))
        fpr, tpr, thresholds = read_by(kernel, given, pos_label)
        require_known(len(fpr) > 0, "y_true has one class only")
        return fpr, tpr, thresholds
    # Which points are dropped depends on how weights were added up.
    tp, fp, threshold, _ = counts(given, pos_label, as_sklearn_adds=bool(drop_intermediate))
    require_known(tp[-1] > 0 and fp[-1] > 0, "y_true has one class only")
    if drop_intermediate:
        turns = changes(np.diff(tp)) | changes(np.diff(fp))
        tp, fp, threshold = keep_points(turns, tp, fp, threshold)
    return prepend(0.0, fp) / fp[-1], prepend(0.0, tp) / tp[-1], prepend(np.inf, threshold)


@drop_in
def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, Array]:
    """Precision–recall curve: ``precision, recall, thresholds``, from the lowest threshold upwards.

    Precision and recall end with one more point, (1, 0), that has no threshold. The thresholds keep
    the dtype of the scores.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Labels: 0/1 or -1/1, or any others together with ``pos_label``.
    y_score : array-like of shape (n,) or (n, classes)
        Scores, higher meaning more positive.
    pos_label : label, optional
        The positive label; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    drop_intermediate : bool, default False
        Leave out the points between the two ends of a run of equal recall.

    See Also
    --------
    cutscore.pr : The same curve of a sweep, in the order of all curves of cutscore.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.precision_recall_curve.html

    Examples
    --------
    >>> from cutscore.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 1, 1], [0.1, 0.4, 0.3])
    >>> precision, recall
    (array([0.66666667, 1.        , 1.        , 1.        ]), array([1. , 1. , 0.5, 0. ]))
    >>> thresholds
    array([0.1, 0.3, 0.4])
    """
    need_bool(drop_intermediate)
    given = columns(y_true, y_score, sample_weight)
    if sample_weight is None and not drop_intermediate:
        precision, recall, upwards = read_by(_native.precision_recall_curve, given, pos_label)
        require_known(len(recall) > 0, "y_true has no positives")
        return precision, recall, upwards.astype(given[1].dtype, copy=False)
    tp, fp, threshold, dtype = counts(given, pos_label)
    require_known(tp[-1] > 0, "y_true has no positives")
    if drop_intermediate:
        tp, fp, threshold = keep_points(recall_changes(tp), tp, fp, threshold)
    precision, recall = tp / (tp + fp), tp / tp[-1]
    upwards = threshold[::-1].astype(dtype)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), upwards


@drop_in
def det_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """DET curve: ``fpr, fnr, thresholds``, from the lowest threshold upwards.

    From the highest threshold that misses no positive to the lowest that raises no false alarm.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Labels: 0/1 or -1/1, or any two others together with ``pos_label``.
    y_score : array-like of shape (n,) or (n, classes)
        Scores, higher meaning more positive.
    pos_label : label, optional
        The positive label.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    drop_intermediate : bool, default False
        Leave out the points between the two ends of a run of equal miss rate.

    See Also
    --------
    cutscore.det : The whole curve of a sweep, in the order of all curves of cutscore.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.det_curve.html

    Examples
    --------
    >>> from cutscore.metrics import det_curve
    >>> det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    (array([0.5, 0.5, 0. ]), array([0. , 0.5, 0.5]), array([0.35, 0.4 , 0.8 ]))
    """
    need_bool(drop_intermediate)
    given = columns(y_true, y_score, sample_weight)
    if sample_weight is None and not drop_intermediate:
        fpr, fnr, thresholds = read_by(_native.det_curve, given, pos_label, several=False)
        require_known(len(fpr) > 0, "y_true has one class only")
        return fpr, fnr, thresholds
    tp, fp, threshold, _ = counts(given, pos_label, several=False)
    require_known(tp[-1] > 0 and fp[-1] > 0, "y_true has one class only")
    tp, fp, threshold = prepend(0.0, tp), prepend(0.0, fp), prepend(np.inf, threshold)
    if drop_intermediate:
        tp, fp, threshold = keep_points(recall_changes(tp), tp, fp, threshold)
    no_alarm = np.searchsorted(fp, 0.0, side="right") - 1
    no_miss = np.searchsorted(tp, tp[-1], side="left")
    part = slice(no_alarm, no_miss + 1)
    fpr, fnr = fp[part] / fp[-1], (tp[-1] - tp[part]) / tp[-1]
    return fpr[::-1], fnr[::-1], threshold[part][::-1]


@drop_in
def auc(x: ArrayLike, y: ArrayLike) -> float:
    """Area under any curve by the trapezoidal rule.

    Parameters
    ----------
    x : float or array-like
        Abscissae, monotonically increasing or decreasing.
    y : array-like of shape (n,)
        Ordinates.

    See Also
    --------
    cutscore.auc : The area under the ROC curve of a sweep, exact.

    Notes
    -----
    https://scikit-learn.org/stable/modules/generated/sklearn.metrics.auc.html

    Examples
    --------
    >>> from cutscore.metrics import auc
    >>> auc([0, 0.5, 1], [0, 1, 1])
    0.75
    """
    a, b = as_columns(x), as_columns(y)
    require_known(a.ndim == b.ndim == 1, "x and y must have one dimension")
    require_known(len(a) == len(b) > 1, "x and y must have the same length, at least 2")
    require_known(a.dtype.kind in "fi" and b.dtype.kind in "fi", "x and y must be real numbers")
    step = np.diff(a)
    downwards = (step < 0).any()
    require_known(not downwards or (step <= 0).all(), "x must go one way")
    # scikit-learn adds up in the precision of the ordinates, whatever that of the abscissae is.
    precision = b.dtype if b.dtype.kind == "f" else np.float64
    area = float(np.sum(step * (b[1:] + b[:-1]) / 2.0, dtype=precision))
    return -area if downwards else area


Given = tuple[Array, Array, Array | None]


def masses(
    given: Given, pos_label: Label | None, *, several: bool = True, kernels: Kernels = SWEEP
) -> tuple[tuple[Array, Array, Array], Columns, Reading]:
    """Distinct scores, descending, and the mass of either class there, or what other kernels find;
    of which rows, read how.

    ``several``: more than two labels are fine, all but one being negative.
    """
    y, score, weight = given
    if is_text(y):
        y, pos_label = text_with_positive(y, pos_label, several=several), 1
    r = native_columns(y, score, weight)
    found, reading = run_readings(kernels, r, with_positive(r.label, pos_label, several=several))
    return found, r, reading


def read_by(
    kernel: Callable[..., Any], given: Given, pos_label: Label | None, *, several: bool = True
) -> tuple[Array, Array, Array]:
    """What a kernel finds in rows without weights."""
    return masses(given, pos_label, several=several, kernels=(kernel, kernel))[0]


def counts(
    given: Given,
    pos_label: Label | None,
    *,
    several: bool = True,
    as_sklearn_adds: bool = False,
) -> tuple[Array, Array, Array, np.dtype[Any]]:
    """TP and FP at each distinct score, these scores descending, and the dtype they came in."""
    (threshold, pos, neg), r, reading = masses(given, pos_label, several=several)
    require_known(len(threshold) > 0, "all weights are 0")
    tp, fp = np.cumsum(pos), np.cumsum(neg)
    total = tp[-1] + fp[-1]
    require_known(math.isfinite(total), "weights must have a finite sum")
    if as_sklearn_adds and r.weight is not None and len(threshold) < np.count_nonzero(r.weight):
        whole = total < 2**53 and (r.weight == np.rint(r.weight)).all()
        if not whole:  # sums of whole numbers are exact in any order
            label, _, positive = reading
            tp, fp = added_row_by_row(label == positive, r.score, r.weight)
    return tp, fp, threshold, given[1].dtype


def added_row_by_row(positive: Array, score: Array, weight: Array) -> tuple[Floats, Floats]:
    """Weighted TP and FP, added one row after the other, tied ones in the order they came.

    The core adds up each tie first, and differs in the last bit. That bit decides whether three
    points are on one line, hence how long the curve is.
    """
    used = np.flatnonzero(weight)
    order = used[np.argsort(-score[used], kind="stable")]
    last = np.append(changes(score[order]), True)
    w, p = weight[order].astype(np.float64), positive[order]
    return np.cumsum(np.where(p, w, 0.0))[last], np.cumsum(np.where(p, 0.0, w))[last]


def keep_points(inner: Array, *points: Array) -> list[Array]:
    """The first point, the inner ones that are wanted, and the last."""
    if len(points[0]) < 3:
        return list(points)
    wanted = np.concatenate(([True], inner, [True]))
    return [column[wanted] for column in points]


def recall_changes(tp: Array) -> Array:
    """Whether the recall changes before or after each inner point."""
    change = changes(tp)
    return np.logical_or(change[:-1], change[1:])


def changes(column: Array) -> Array:
    """Whether each value but the first differs from the one before."""
    return np.not_equal(column[1:], column[:-1])


def prepend(start: float, column: Array) -> Floats:
    return np.concatenate(([start], column))


def need_bool(drop_intermediate: object) -> None:
    require_known(
        isinstance(drop_intermediate, (bool, np.bool_)), "drop_intermediate must be a bool"
    )
