"""The border: whatever users hand in becomes one typed value here, and is not checked again.

The table of all cases is ``docs/conventions.md``; ``tests/test_conventions.py`` runs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, shown
from cutscore.core.findings.base import Shown, Where, either
from cutscore.core.findings.rows import (
    BadWeight,
    Inexact,
    LengthsDiffer,
    PositiveUnknown,
    PositiveUnstated,
    TooManyLabels,
    TooMuch,
    TypeUnfit,
    ValueMissing,
    ValueUnfit,
)
from cutscore.core.types import ArrayLike, Label

Array = NDArray[Any]

_T = TypeVar("_T")

# Integers up to here are exact as float64.
_EXACT = 2**53


def threads(rows: int | None = None) -> int:
    """How many threads the native core may use: ``CUTSCORE_THREADS``, else the CPUs we may run on.

    No more than one for each 16,384 rows: a thread takes as long to start as these take to sort.
    """
    asked = os.environ.get("CUTSCORE_THREADS")
    if asked is None:
        if rows is not None and rows < 16384:
            return 1
        most = _cpus()
    elif asked.isascii() and asked.isdigit() and len(asked) < 10 and 1 <= int(asked) <= 1024:
        most = int(asked)
    else:
        rule, hint = "be an integer from 1 to 1024", "Correct or unset it."
        raise DataError(
            BadArgument("CUTSCORE_THREADS", rule, asked, hint, subject="CUTSCORE_THREADS")
        )
    return most if rows is None else min(most, 1 + rows // 16384)


def _cpus() -> int:
    try:
        return min(len(os.sched_getaffinity(0)), 1024)
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns as the native core reads them: same length, numeric, one dimension.

    Labels equal ``positive`` or ``negative``; the core checks that row by row, as it does NaN
    scores and bad weights, so that no pass over the data is spent on it here.
    """

    score: Array
    label: Array
    negative: float
    positive: float
    weight: Array | None
    asked: Any
    """The positive label that the user named, or None."""

    def explained(self, fault: str) -> Columns:
        """After the core's fault: the same rows with the labels read anew, or an error."""
        what, _, where = fault.partition(":")
        row = int(where)
        if what == "score":
            raise DataError(ValueMissing("score", "NaN", where=Where(row, "score")))
        if what == "weight":
            assert self.weight is not None
            raise _bad_weight(row, self.weight)
        # Labels are read as 0/1 first, then as -1/1, and only then by an extra pass over them.
        if self.negative == 0 and self.label[row] == -1:
            return replace(self, negative=-1.0)
        if self.asked is None:
            _refuse_labels(self.label)
        return replace(self, label=_encode_numbers(self.label, self.asked), negative=0.0)


def check_rows(
    y: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None, positive: Label | None = None
) -> Columns:
    """Columns for the native core, from lists, NumPy, pandas, polars, pyarrow or torch (CPU)."""
    s = score_column(score)
    label = _label_column(y, positive)
    w = None if weight is None else _weight_column(weight)
    for name, column in (("label", label), ("weight", w)):
        if column is not None and len(column) != len(s):
            raise DataError(LengthsDiffer(name, "score", len(column), len(s)))
    return Columns(s, label, 0.0, 1.0, w, positive)


def check_totals(pos: Array, neg: Array) -> None:
    """Raise if masses add up to more than their type holds."""
    weighted = pos.dtype.kind == "f"
    with np.errstate(over="ignore"):
        p, n = pos.sum().item(), neg.sum().item()
    # Half of the range: sums in another order, of tp and fp, must fit too. A count that wrapped
    # around is negative, as two that fit were added.
    if not (p >= 0 and n >= 0 and p + n < (2.0**1023 if weighted else 2**63)):
        raise DataError(
            TooMuch("weights", "2**1023", hint="Scale them down.")
            if weighted
            else TooMuch("rows", "2**63")
        )


def number(value: object) -> float:
    """A number as a float; nan for anything else, text that reads like one included."""
    try:
        return np.nan if isinstance(value, (str, bytes)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan


def one_of(parameter: str, value: object, choices: Iterable[str], hint: str = "") -> None:
    """Refuse what is not one of some names."""
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise DataError(BadArgument(parameter, f"be {either(names)}", value, hint))


def check_threshold(threshold: object) -> float:
    """A threshold as a float; ±inf are fine."""
    t = number(threshold)
    if np.isnan(t):
        raise DataError(BadArgument("threshold", "be a number", threshold, subject="a threshold"))
    return t


def run_kernel(rows: Columns, kernel: Callable[..., _T], *more: object) -> _T:
    """A kernel of the native core on rows; its faults become a second reading or a DataError."""
    while True:
        columns = (rows.score, rows.label, rows.negative, rows.positive)
        weight = () if rows.weight is None else (rows.weight,)
        try:
            return kernel(*columns, *weight, threads(len(rows.score)), *more)
        except _native.RowFault as error:
            fault = str(error)
        # Outside the handler, or the error would name the core's as its context.
        rows = rows.explained(fault)


def check_counts(
    threshold: ArrayLike, pos: ArrayLike, neg: ArrayLike
) -> tuple[Columns, Columns, bool]:
    """Masses counted elsewhere, as weighted rows of either class; and whether they are counts."""
    t = score_column(threshold, "threshold")
    if np.isnan(t).any():
        row = int(np.isnan(t).argmax())
        raise DataError(
            ValueMissing("threshold", "NaN", "Drop such rows.", where=Where(row, "threshold"))
        )
    whole, rows, masses = True, [], []
    for label, name, values in ((1, "pos", pos), (0, "neg", neg)):
        column = as_vector(values, name)
        mass = _weight_column(column, name)
        if len(mass) != len(t):
            raise DataError(LengthsDiffer(name, "threshold", len(mass), len(t)))
        counts = _is_whole(column)
        # A count past every float is infinite here; there are too many of it, which is said below.
        bad = np.flatnonzero(~((mass >= 0) & (np.isfinite(mass) | counts)))
        if len(bad):
            raise DataError(BadWeight(column[bad[0]], "count", where=Where(int(bad[0]), name)))
        whole = whole and counts
        masses.append(mass)
        rows.append(Columns(t, np.full(len(t), label, np.uint8), 0.0, 1.0, mass, None))
    ones, zeros = rows
    with np.errstate(over="ignore"):
        total = np.concatenate(masses).sum()
    if whole and total >= _EXACT:
        raise DataError(
            TooMuch("counts", "2**53", float(total), "Pass them as floats to round them.")
        )
    return ones, zeros, whole


def _is_whole(column: Array) -> bool:
    """Whether masses are counts: integers by type, as are the Decimals of a database's SUM."""
    if column.dtype.kind != "O":
        return column.dtype.kind in "biu" or not len(column)
    return all(
        (v.is_finite() and v == v.to_integral_value())
        if isinstance(v, Decimal)
        else isinstance(v, (Integral, np.bool_))
        for v in column.tolist()
    )


def score_column(values: ArrayLike, name: str = "score") -> Array:
    a = as_vector(values, name)
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return _readable(a)
    if kind in "bfiu" and size <= 2:
        return a.astype(np.float32)
    if kind in "fiu":
        return _as_exact_floats(a, name)
    if kind == "O":
        return _as_floats(a, name, exact=True)
    return _refuse_type(a, name)


def _weight_column(values: ArrayLike, name: str = "weight") -> Array:
    a = as_vector(values, name)
    if a.dtype.kind == "f" and a.dtype.itemsize in (4, 8):
        return _readable(a)
    if a.dtype.kind in "bfiu":
        with np.errstate(over="ignore"):  # of a longdouble: becomes inf, which is refused
            return a.astype(np.float64)
    if a.dtype.kind == "O":
        return _as_floats(a, name)
    return _refuse_type(a, name)


def check_weights(values: ArrayLike) -> NDArray[np.float64]:
    """Weights of rows that are not checked by the native core."""
    out = _weight_column(values).astype(np.float64)
    bad = ~(np.isfinite(out) & (out >= 0))
    if bad.any():
        raise _bad_weight(int(bad.argmax()), out)
    return out


def _bad_weight(row: int, weight: Array) -> DataError:
    return DataError(BadWeight(weight[row], where=Where(row, "weight")))


def _label_column(values: ArrayLike, positive: Label | None) -> Array:
    """The label column as it is if its labels may be 0/1 or -1/1; otherwise encoded as 0/1."""
    a = as_vector(values, "label")
    kind = a.dtype.kind
    if kind == "f" and a.dtype.itemsize not in (4, 8):
        a = _as_exact_floats(a, "label")
    if kind in "biuf":
        a = _readable(a)
        if positive is None or (isinstance(positive, Real) and positive == 1):
            return a
        return _encode_numbers(a, positive)
    if kind in "OSTU":
        return _encode_labels(a, positive)
    raise DataError(TypeUnfit("label", str(a.dtype), "Pass y == positive instead."))


def _encode_numbers(a: Array, positive: Label | None) -> Array:
    """0/1 labels from a column of numbers: 1 where it is the positive one, 0 for all the rest.

    A partition may lack the positive one; where two other labels are seen it is a mistake.
    """
    if not isinstance(positive, (Real, np.bool_)) or positive != positive:  # noqa: PLR0124 - NaN
        raise DataError(PositiveUnknown(positive, kind="numbers"))
    try:
        hit: Array = np.asarray(a == positive)
    except OverflowError:  # an integer past every float is none of these
        hit = np.zeros(len(a), np.bool_)
    if a.dtype.kind == "f" and np.isnan(a).any():
        _refuse_labels(a)
    if not hit.any() and len(seen := np.unique(a)) > 1:
        _refuse_positive(seen.tolist(), positive)
    return hit.view(np.uint8)


# So many numbers are no labels.
_SCORES = 100


def _refuse_labels(a: Array) -> NoReturn:
    """Say what is wrong with a column of numeric labels."""
    if np.isnan(a).any():
        row = int(np.isnan(a).argmax())
        raise DataError(ValueMissing("label", "NaN", where=Where(row, "label")))
    seen = np.unique(a).tolist()
    if len(seen) > 2:
        _refuse_many(seen, a.tolist())
    row = int((~((a == 1) | (a == (-1 if -1 in seen else 0)))).argmax())
    raise DataError(PositiveUnstated(tuple(seen), a[row], where=Where(row, "label")))


def _refuse_positive(seen: list[Any], positive: Label | None) -> NoReturn:
    raise DataError(PositiveUnknown(positive, tuple(seen)))


def _refuse_many(seen: list[Any], values: list[Any]) -> NoReturn:
    numbers = len(seen) > _SCORES and all(isinstance(value, (int, float)) for value in seen)
    row = values.index(seen[2])
    raise DataError(TooManyLabels(tuple(seen), seen[2], numbers, where=Where(row, "label")))


def _encode_labels(a: Array, positive: Label | None) -> Array:
    """0/1 labels from text, or from any hashable objects."""
    values = a.tolist()
    try:
        seen = list(dict.fromkeys(values))
    except TypeError:
        raise DataError(TypeUnfit("label", shown(values))) from None
    row = missing_row(values, seen)
    if row is not None:
        how = f"missing ({values[row]!r})"
        raise DataError(ValueMissing("label", how, where=Where(row, "label")))
    if positive is None and (set(seen) <= {0, 1} or set(seen) <= {-1, 1}):
        positive = 1
    if positive is None:
        if len(seen) > 2:
            _refuse_many(seen, values)
        raise DataError(PositiveUnstated(tuple(seen)))
    # Found by hash: arrays and expressions answer == with more of their kind, or not at all.
    code = dict.fromkeys(seen, 0)
    try:
        known = positive in code
    except TypeError:
        known = None
    if known is None or (not known and len(seen) > 1):
        _refuse_positive(seen, positive)
    if known:
        code[positive] = 1
    return np.fromiter(map(code.__getitem__, values), np.uint8, len(values))


def _as_floats(a: Array, name: str, *, exact: bool = False) -> Array:
    """A column of objects as float64, provided that every one is a real number."""
    out = np.empty(len(a))
    for row, value in enumerate(a.tolist()):
        if is_missing(value):
            raise DataError(ValueMissing(name, f"missing ({value!r})", where=Where(row, name)))
        if not isinstance(value, (Real, Decimal, np.bool_)):
            raise DataError(ValueUnfit(name, value, where=Where(row, name)))
        try:
            out[row] = float(value)
        except OverflowError:
            out[row] = -np.inf if value < 0 else np.inf
        except ValueError:  # a signalling NaN
            out[row] = np.nan
        if exact and abs(out[row]) >= _EXACT and _is_long(value):
            _refuse_inexact(name, row, value)
    return out


def _is_long(value: object) -> bool:
    """Whether a number is whole, and too long for a float; floats themselves are what they are."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value() and abs(value) > _EXACT
    if not isinstance(value, Rational) or value.denominator != 1:
        return False
    whole: int = value.numerator  # type: ignore[assignment]  # of a protocol without an order
    return abs(whole) > _EXACT


def _as_exact_floats(a: Array, name: str) -> Array:
    """A column of long integers or floats as float64, provided that none of them is rounded."""
    with np.errstate(over="ignore"):
        out = a.astype(np.float64)
    whole = a.dtype.kind in "iu"
    lost = (a > _EXACT) | (a < -_EXACT) if whole else (out != a) & ~np.isnan(a)
    if lost.any():
        row = int(lost.argmax())
        _refuse_inexact(name, row, a[row])
    return out


def _refuse_inexact(name: str, row: int, value: object) -> NoReturn:
    raise DataError(Inexact(name, value, where=Where(row, name)))


def _refuse_type(a: Array, name: str) -> NoReturn:
    first = a[:1].tolist()[0] if len(a) else ...
    found = ValueUnfit(name, first, str(a.dtype), "Convert it first.", where=Where(0, name))
    raise DataError(found)


def missing_row(values: list[Any], seen: Iterable[Any]) -> int | None:
    """The first row that has a missing value, of the different ones that were seen."""
    for value in seen:
        if is_missing(value) or value != value:  # noqa: PLR0124 - NaN
            return next(i for i, v in enumerate(values) if v is value)
    return None


def is_missing(value: object) -> bool:
    if isinstance(value, tuple):
        return any(is_missing(part) or part != part for part in value)  # noqa: PLR0124 - NaN
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def as_vector(values: ArrayLike, name: str) -> Array:
    a = as_array(values, name)
    if a.ndim != 1:
        raise not_a_column(name, a)
    return a


def not_a_column(name: str, value: object, hint: str = "") -> DataError:
    """The error for something that is not an array of one dimension."""
    shape = getattr(value, "shape", ())
    if len(shape) > 1:
        hint = "Pass one column: a[:, 1], a.ravel() or frame['column']."
        value = Shown(f"shape {tuple(shape)}")
    return DataError(BadArgument(name, "be a column of values", value, hint))


def _readable(a: Array) -> Array:
    """The array itself, or a copy where the native core can't read it in place."""
    if a.dtype.isnative and a.flags.aligned and not a.strides[0] % a.itemsize:
        return a
    return a.astype(a.dtype.newbyteorder("="))


def as_array(values: ArrayLike, name: str) -> Array:
    if type(values) is np.ndarray:
        return values
    if values is None or isinstance(values, (str, bytes)):
        raise not_a_column(name, values)
    library = type(values).__module__.partition(".")[0]
    if library == "torch":
        values = _from_torch(values, name)
    elif library == "pandas":
        values = _from_pandas(values, name)
    elif library in ("polars", "pyarrow"):
        _refuse_nulls(values, name)
    elif isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(values).ravel().argmax())
        raise DataError(_missing_value(name, row, "masked"))
    try:
        a = np.asarray(values)
        # NumPy rounds [2**63, -1] and [2**53 + 1, 0.5] to floats; as objects they stay what they
        # are, to be refused where that matters.
        if isinstance(values, (list, tuple)) and a.dtype == np.float64 and a.ndim == 1:
            big = np.isfinite(a) & (np.abs(a) >= _EXACT)
            return np.array(values, object) if big.any() else a
        return a
    except (ValueError, TypeError, RuntimeError) as error:
        raise not_a_column(name, ..., f"NumPy says: {error}") from error


def _from_torch(values: Any, name: str) -> Any:
    if values.device.type != "cpu":
        rule, value = "be in host memory", Shown(f"one on {values.device}")
        hint = "Use cutscore.torch, which computes on the device, or pass tensor.cpu()."
        raise DataError(BadArgument(name, rule, value, hint))
    values = values.detach()
    short = values.dtype.is_floating_point and values.dtype.itemsize < 4
    return values.float() if short else values


def _from_pandas(values: Any, name: str) -> Any:
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return values
    missing = np.asarray(values.isna())
    if missing.any():
        raise DataError(_missing_value(name, int(missing.argmax()), "missing"))
    plain = getattr(dtype, "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "biuf":
        return values.to_numpy(dtype=plain)
    return values


def _refuse_nulls(values: Any, name: str) -> None:
    # A whole table, or an expression that stands for a column: its shape will tell.
    if not hasattr(values, "is_null") or not hasattr(values, "__len__"):
        return
    count = values.null_count
    if count() if callable(count) else count:
        row = int(np.asarray(values.is_null()).argmax())
        raise DataError(_missing_value(name, row, "null"))


def _missing_value(name: str, row: int, how: str) -> ValueMissing:
    return ValueMissing(name, how, "Drop such rows first.", where=Where(row, name))
