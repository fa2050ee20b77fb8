"""The border: whatever users hand in becomes one typed value here, and is not checked again.

The table of all cases is ``docs/conventions.md``; ``tests/test_conventions.py`` runs it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoint.errors import DataError

Array = NDArray[Any]

# Integers up to here are exact as float64.
_EXACT = 2**53


def threads() -> int:
    """How many threads the native core may use: ``CUTPOINT_THREADS``, else the CPUs we may run on."""
    asked = os.environ.get("CUTPOINT_THREADS")
    if asked is None:
        return _cpus()
    if not asked.isascii() or not asked.isdigit() or int(asked) < 1:
        raise DataError(
            f"CUTPOINT_THREADS must be a whole number of at least 1; it is {asked!r}. Correct or unset it."
        )
    return int(asked)


def _cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns as the native core reads them: same length, numeric, one dimension.

    Labels equal ``positive`` or ``negative``; the core checks that row by row, as it does NaN scores
    and bad weights, so that no pass over the data is spent on it here.
    """

    score: Array
    label: Array
    negative: float
    positive: float
    weight: Array | None
    guessed: bool
    """``positive`` was not given, and 0/1 is assumed until a row says otherwise."""

    def explained(self, fault: Exception) -> Rows:
        """What to do after the core's fault: the same rows read as -1/1 labels, or a DataError."""
        what, _, where = str(fault).partition(":")
        row = int(where)
        if what == "score":
            raise DataError(
                f"a score must be a number; score[{row}] is NaN. Drop such rows or give them a score: "
                "where a missing score ranks is a decision, not a default."
            )
        if what == "weight":
            assert self.weight is not None
            raise DataError(
                f"a weight must be finite and at least 0; weight[{row}] is {self.weight[row]!s}."
            )
        bad = self.label[row]
        if bad != bad:
            raise DataError(f"label[{row}] is NaN. Drop the rows that have no label.")
        if self.guessed and self.negative == 0.0 and bad == -1:
            return replace(self, negative=-1.0)
        seen = _some(np.unique(self.label))
        if not self.guessed:
            raise DataError(
                f"there must be two labels, positive={self.positive:g} and one other; label[{row}] is "
                f"{bad!s}, and the labels seen are {seen}. For one against the rest pass "
                f"y == {self.positive:g}."
            )
        raise DataError(
            "labels are understood without help only as 0/1, False/True or -1/1; "
            f"label[{row}] is {bad!s}, and the labels seen are {seen}. Say which one is the positive: "
            "positive=..."
        )


def check_rows(y: Any, score: Any, weight: Any = None, positive: Any = None) -> Rows:
    """Columns for the native core, from lists, NumPy, pandas, polars, pyarrow or torch (CPU)."""
    s = _score(score)
    label, negative, pos = _label(y, positive)
    w = None if weight is None else _weight(weight)
    for name, column in (("label", label), ("weight", w)):
        if column is not None and len(column) != len(s):
            raise DataError(
                f"there must be one {name} a score; there are {len(column):,} {name}s "
                f"and {len(s):,} scores."
            )
    return Rows(s, label, negative, pos, w, guessed=positive is None)


def _score(values: Any) -> Array:
    a = _vector(values, "score")
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind == "f":
        if size > 8:
            return _exact_float64(a, "score")
        return _readable(a if size >= 4 else a.astype(np.float32))
    if kind == "b" or (kind in "iu" and size <= 2):
        return a.astype(np.float32)
    if kind in "iu":
        return _exact_float64(a, "score")
    if kind == "O":
        return _score(_numbers(a, "score"))
    raise DataError(f"scores must be real numbers; these are of type {a.dtype}.")


def _weight(values: Any) -> Array:
    a = _vector(values, "weight")
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return _readable(a)
    if kind in "fiub":
        return a.astype(np.float64)
    if kind == "O":
        return _numbers(a, "weight").astype(np.float64)
    raise DataError(f"weights must be real numbers; these are of type {a.dtype}.")


def _label(values: Any, positive: Any) -> tuple[Array, float, float]:
    """The label column, and what a negative and a positive look like in it."""
    a = _vector(values, "label")
    kind = a.dtype.kind
    if kind == "O":
        a = _plain_labels(a, positive)
        kind = a.dtype.kind
    if kind == "c":
        raise DataError(f"labels can't be complex numbers; these are of type {a.dtype}.")
    numeric = kind in "biu" or (kind == "f" and a.dtype.itemsize <= 8)
    if not numeric:
        return _named_labels(a, positive)
    if a.dtype == np.float16:
        a = a.astype(np.float32)
    a = _readable(a)
    if positive is None:
        return a, 0.0, 1.0
    if isinstance(positive, (str, bytes)) or not np.isscalar(positive) or positive != positive:
        raise DataError(f"positive must be one of the labels, which are numbers; it is {positive!r}.")
    if abs(positive) > _EXACT:
        return (a == positive).view(np.uint8), 0.0, 1.0
    others = np.flatnonzero(a != positive)
    if len(others) == 0:
        return np.ones(len(a), np.uint8), 0.0, 1.0
    negative = a[others[0]]
    if abs(float(negative)) > _EXACT:
        return (a == positive).view(np.uint8), 0.0, 1.0
    if len(others) == len(a) and (a != negative).any():
        raise DataError(
            f"positive must be one of the labels; it is {positive!r}, and the labels seen are "
            f"{_some(np.unique(a))}."
        )
    return a, float(negative), float(positive)


def _named_labels(a: Array, positive: Any) -> tuple[Array, float, float]:
    """Labels that are not numbers: text, dates, anything that can be told apart."""
    seen = list(dict.fromkeys(a.tolist()))
    if positive is None:
        raise DataError(
            f"these labels are not numbers, so the positive one can't be known; they are {_some(seen)}. "
            "Say which: positive=..."
        )
    if len(seen) > 2:
        raise DataError(
            f"there must be two labels at the most; these are {_some(seen)}. For one against the rest "
            f"pass y == {positive!r}."
        )
    if len(seen) == 2 and positive not in seen:
        raise DataError(f"positive must be one of the labels {_some(seen)}; it is {positive!r}.")
    return np.asarray(a == positive, dtype=np.uint8), 0.0, 1.0


def _plain_labels(a: Array, positive: Any) -> Array:
    """An object column as numbers where all of it is numbers, else as it is; nothing missing."""
    for row, value in enumerate(a.tolist()):
        if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
            raise DataError(f"label[{row}] is missing. Drop the rows that have no label.")
    del positive
    values = a.tolist()
    if all(isinstance(v, (bool, np.bool_)) for v in values):
        return a.astype(np.bool_)
    if all(isinstance(v, (int, float, np.number, np.bool_)) for v in values):
        return a.astype(np.float64)
    return a


def _numbers(a: Array, name: str) -> Array:
    """An object column as float64, provided that every entry is a real number."""
    for row, value in enumerate(a.tolist()):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            raise DataError(f"{name}[{row}] is missing. Drop such rows or fill them in.")
        if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            raise DataError(f"a {name} must be a real number; {name}[{row}] is {value!r}.")
    if all(isinstance(v, int) for v in a.tolist()):
        return _exact_float64(a, name)
    return a.astype(np.float64)


def _exact_float64(a: Array, name: str) -> Array:
    """As float64 if that keeps every two values apart."""
    out = a.astype(np.float64)
    if a.dtype.kind == "f":  # longer than a float64
        lost = out.astype(a.dtype) != a
        lost &= a == a
    else:
        lost = (out > _EXACT) | (out < -_EXACT)
    if lost.any():
        row = int(np.flatnonzero(lost)[0])
        raise DataError(
            f"{name}s are compared as float64; {name}[{row}] = {a[row]!s} does not fit exactly, and "
            "distinct values could become ties. Rescale or round them yourself."
        )
    return out


def _vector(values: Any, name: str) -> Array:
    a = _array(values, name)
    if a.ndim != 1:
        raise DataError(
            f"{name}s must have one dimension; these have the shape {a.shape}. Pass one column: "
            "a[:, 1], a.ravel() or frame['column']."
        )
    return a


def _readable(a: Array) -> Array:
    """The array itself, or a copy where the native core can't read it in place."""
    if a.dtype.isnative and a.flags.aligned and not a.strides[0] % a.itemsize:
        return a
    return np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("="))


def _array(values: Any, name: str) -> Array:
    if type(values) is np.ndarray:
        return values
    library = type(values).__module__.partition(".")[0]
    if library == "torch":
        return _from_torch(values, name)
    if library == "pandas" and hasattr(values, "isna"):
        return _from_pandas(values, name)
    if library in ("polars", "pyarrow") and hasattr(values, "null_count"):
        return _from_arrow(values, name)
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        row = int(np.flatnonzero(np.ma.getmaskarray(values).ravel())[0])
        raise DataError(f"{name}[{row}] is masked. Drop such rows first: a.compressed().")
    if isinstance(values, (str, bytes)) or values is None:
        raise DataError(f"{name}s must be a column of values; got {values!r}.")
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{name}s must be a column of values; NumPy says: {error}.") from error


def _from_torch(values: Any, name: str) -> Array:
    if values.device.type != "cpu":
        raise DataError(
            f"{name}s must be in the host's memory; this tensor is on {values.device}. Use "
            "cutpoint.torch, which computes there, or pass tensor.cpu()."
        )
    values = values.detach()
    if str(values.dtype) in ("torch.bfloat16", "torch.float16"):
        values = values.float()
    return np.asarray(values)


def _from_pandas(values: Any, name: str) -> Array:
    if isinstance(getattr(values, "dtype", None), np.dtype):
        return np.asarray(values)
    missing = np.asarray(values.isna())
    if missing.any():
        row = int(np.flatnonzero(missing.ravel())[0])
        raise DataError(f"{name}[{row}] is missing. Drop such rows first: frame.dropna().")
    plain = getattr(getattr(values, "dtype", None), "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "biuf":
        return np.asarray(values.to_numpy(dtype=plain))
    return np.asarray(values)


def _from_arrow(values: Any, name: str) -> Array:
    nulls = values.null_count
    if nulls() if callable(nulls) else nulls:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise DataError(f"{name}[{row}] is null. Drop such rows first.")
    return np.asarray(values)


def _some(labels: Any) -> str:
    shown = [repr(v) for v in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]
    return ", ".join(shown[:5]) + (f", … ({len(shown):,} in all)" if len(shown) > 5 else "")
