"""The arguments of a metric as columns for the native core, and the ways to read their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.core import _native
from cutscore.core.checks import Columns, as_array, check_rows, threads
from cutscore.core.errors import DataError
from cutscore.metrics._drop_in import Irregular, require_known

Array = NDArray[Any]
Label = str | float | bool

Reading = tuple[Array, float, float]
"""Labels, and what a negative and a positive look like among them."""

Kernels = tuple[Callable[..., Any], Callable[..., Any]]
"""Unweighted and weighted."""

SWEEP: Kernels = _native.sweep, _native.weighted_sweep
AREA: Kernels = _native.area, _native.weighted_area

_NUMBER = (int, float, np.integer, np.floating, np.bool_)


def columns(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Array, Array, Array | None]:
    """Labels, scores and weights as arrays. That scores are finite is left to the core to check."""
    y, score = as_columns(y_true), as_columns(y_score)
    require_known(len(y) > 0, "there must be rows")
    require_known(score.dtype.kind in "biuf", "scores must be real numbers")
    return y, score, None if sample_weight is None else as_columns(sample_weight)


def as_columns(values: ArrayLike) -> Array:
    """An array of one or two dimensions, a matrix of one column as a vector."""
    if type(values) is np.ndarray:
        a = values
    else:
        library = type(values).__module__.partition(".")[0]
        plain = type(values) in (list, tuple, np.memmap)
        require_known(
            plain or library in ("pandas", "polars", "pyarrow"), "an unknown kind of array"
        )
        try:
            a = as_array(values, "column")
        except DataError as error:
            raise Irregular(str(error)) from None
        # As scikit-learn reads the nullable columns of pandas: thresholds are of that type.
        if hasattr(getattr(values, "dtype", None), "numpy_dtype") and a.dtype.kind in "biuf":
            a = a.astype(np.float64)
    require_known(a.ndim in (1, 2), "there must be one dimension or two")
    return a.reshape(-1) if a.ndim == 2 and a.shape[1] == 1 else a


def native_columns(y: Array, score: Array, weight: Array | None) -> Columns:
    """Columns for the native core."""
    try:
        return check_rows(y, score, weight)
    except DataError as error:
        raise Irregular(str(error)) from None


def run_readings(kernels: Kernels, r: Columns, readings: Iterable[Reading]) -> tuple[Any, Reading]:
    """What the core returns for the first reading that fits the labels of all rows, and which."""
    kernel, weighted = kernels
    used = threads(len(r.score))
    for reading in readings:
        try:
            if r.weight is None:
                return kernel(r.score, *reading, used, finite=True), reading
            return weighted(r.score, *reading, r.weight, used, finite=True), reading
        except _native.RowFault as fault:
            what, _, row = str(fault).partition(":")
            require_known(what == "label", f"{what}s must be finite, unlike that of row {row}")
    raise Irregular("labels must be 0/1 or -1/1, or pos_label say which one is the positive")


def with_positive(y: Array, pos_label: Label | None, *, several: bool) -> Iterator[Reading]:
    """Readings of numeric labels where 1 or ``pos_label`` is positive, the likeliest first.

    No pass over the labels is spent on finding out: the core checks every row anyway.
    """
    require_known(
        pos_label is None or isinstance(pos_label, _NUMBER), "pos_label must be one of the labels"
    )
    if pos_label is None or pos_label == 1:
        yield y, 0.0, 1.0
    low, high = float(y.min()), float(y.max())
    if pos_label is None:
        if (low, high) == (-1.0, 1.0):
            yield y, low, high
        return
    if _is_label(low) and _is_label(high):
        if pos_label == high:
            yield y, low, high
        elif pos_label == low:
            yield y, high, low
    if several and _are_labels(y):
        yield y == pos_label, 0.0, 1.0


def larger_positive(y: Array) -> Iterator[Reading]:
    """Readings of two numeric labels, the larger being the positive one."""
    yield y, 0.0, 1.0
    low, high = float(y.min()), float(y.max())
    if _is_label(low) and _is_label(high):
        yield y, low, high


def text_with_positive(y: Array, pos_label: Label | None, *, several: bool) -> Array:
    """Labels that are text as booleans: the positive one or not."""
    require_known(type(pos_label) is str, "pos_label must be given for labels that are text")
    positive: Array = y == pos_label
    rest = y[~positive]
    require_known(several or not len(rest) or (rest == rest[0]).all(), "there must be two labels")
    return positive


def is_text(y: Array) -> bool:
    """Whether labels are text; they may be that or numbers."""
    if y.dtype.kind == "O":
        require_known(set(map(type, y.ravel().tolist())) == {str}, "labels must be numbers or text")
    return y.dtype.kind in "OU"


def classes(y: Array) -> Array:
    """The distinct labels, ascending."""
    require_known(is_text(y) or _are_labels(y), "labels must be text or whole numbers")
    return np.unique(y)


def _is_label(value: float) -> bool:
    """Numbers name classes only if they are whole; others are a regression target."""
    return value.is_integer() and abs(value) <= 2**53


def _are_labels(y: Array) -> bool:
    if y.dtype.kind == "f":
        return bool(((y == np.rint(y)) & (np.abs(y) <= 2**53)).all())
    return y.dtype.kind in "biu"
