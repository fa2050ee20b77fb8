"""The border: whatever users hand in becomes one typed value here, and is not checked again.

The table of all cases is ``docs/conventions.md``; ``tests/test_conventions.py`` runs it.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore import _native
from cutscore.errors import DataError

Array = NDArray[Any]

_T = TypeVar("_T")

# Integers up to here are exact as float64.
_EXACT = 2**53


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python prints no integers of thousands of digits
            return f"an integer of {x.bit_length():,} bits"


_short = _Short()


def shown(value: Any) -> str:
    """A value for a message: cut short, and never an error of its own."""
    return str(value) if isinstance(value, (np.number, np.bool_)) else _short.repr(value)


def threads(rows: int | None = None) -> int:
    """How many threads the native core may use: ``CUTSCORE_THREADS``, else the CPUs we may run on.

    No more than one for each 16,384 rows: a thread takes as long to start as these take to sort.
    """
    asked = os.environ.get("CUTSCORE_THREADS")
    if asked is None:
        most = _cpus()
    elif asked.isascii() and asked.isdigit() and len(asked) < 10 and 1 <= int(asked) <= 1024:
        most = int(asked)
    else:
        raise DataError(
            f"CUTSCORE_THREADS must be a whole number from 1 to 1024; it is {shown(asked)}. "
            "Correct or unset it."
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
            raise DataError(
                f"a score must be a number; score[{row}] is NaN. Drop such rows or give them a "
                "score: where a missing score ranks is a decision, not a default."
            )
        if what == "weight":
            assert self.weight is not None
            raise _bad_weight(row, self.weight)
        # Labels are read as 0/1 first, then as -1/1, and only then by an extra pass over them.
        if self.negative == 0 and self.label[row] == -1:
            return replace(self, negative=-1.0)
        if self.asked is None:
            _refuse_labels(self.label)
        return replace(self, label=_encoded(self.label, self.asked), negative=0.0)


def check_rows(y: Any, score: Any, weight: Any = None, positive: Any = None) -> Columns:
    """Columns for the native core, from lists, NumPy, pandas, polars, pyarrow or torch (CPU)."""
    s = score_column(score)
    label = _label(y, positive)
    w = None if weight is None else _weight(weight)
    for name, column in (("label", label), ("weight", w)):
        if column is not None and len(column) != len(s):
            raise DataError(
                f"there must be one {name} for each score; there are {len(column):,} {name}s and "
                f"{len(s):,} scores. Pass columns of the same rows."
            )
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
            "weights must add up to less than 2**1023. Scale them down."
            if weighted
            else "rows must number less than 2**63."
        )


def number(value: Any) -> float:
    """A number as a float; nan for anything else, text that reads like one included."""
    try:
        return np.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def check_threshold(threshold: Any) -> float:
    """A threshold as a float; ±inf are fine."""
    t = number(threshold)
    if np.isnan(t):
        raise DataError(f"a threshold must be a number; it is {shown(threshold)}.")
    return t


def checked(rows: Columns, kernel: Callable[..., _T], *more: Any) -> _T:
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


def check_counts(threshold: Any, pos: Any, neg: Any) -> tuple[Columns, Columns, bool]:
    """Masses counted elsewhere, as weighted rows of either class; and whether they are counts."""
    t = score_column(threshold, "threshold")
    if np.isnan(t).any():
        row = int(np.isnan(t).argmax())
        raise DataError(f"a threshold must be a number; threshold[{row}] is NaN. Drop such rows.")
    whole, rows, masses = True, [], []
    for label, name, values in ((1, "pos", pos), (0, "neg", neg)):
        column = vector(values, name)
        mass = _weight(column, name)
        if len(mass) != len(t):
            raise DataError(
                f"there must be one {name} for each threshold; there are {len(mass):,} and "
                f"{len(t):,}."
            )
        counts = _is_whole(column)
        # A count past every float is infinite here; there are too many of it, which is said below.
        bad = np.flatnonzero(~((mass >= 0) & (np.isfinite(mass) | counts)))
        if len(bad):
            raise DataError(
                f"a mass must be finite and at least 0; {name}[{bad[0]}] is "
                f"{shown(column[bad[0]])}."
            )
        whole = whole and counts
        masses.append(mass)
        rows.append(Columns(t, np.full(len(t), label, np.uint8), 0.0, 1.0, mass, None))
    ones, zeros = rows
    with np.errstate(over="ignore"):
        total = np.concatenate(masses).sum()
    if whole and total >= _EXACT:
        raise DataError(
            f"counts must add up to less than 2**53; these make {total:.4g}. Pass them as floats "
            "to round them."
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


def score_column(values: Any, name: str = "score") -> Array:
    a = vector(values, name)
    kind, size = a.dtype.kind, a.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return _readable(a)
    if kind in "bfiu" and size <= 2:
        return a.astype(np.float32)
    if kind in "fiu":
        return _exact(a, name)
    if kind == "O":
        return _numbers(a, name, exact=True)
    return _refuse_type(a, name)


def _weight(values: Any, name: str = "weight") -> Array:
    a = vector(values, name)
    if a.dtype.kind == "f" and a.dtype.itemsize in (4, 8):
        return _readable(a)
    if a.dtype.kind in "bfiu":
        with np.errstate(over="ignore"):  # of a longdouble: becomes inf, which is refused
            return a.astype(np.float64)
    if a.dtype.kind == "O":
        return _numbers(a, name)
    return _refuse_type(a, name)


def check_weights(values: Any) -> NDArray[np.float64]:
    """Weights of rows that are not checked by the native core."""
    out = _weight(values).astype(np.float64)
    bad = ~(np.isfinite(out) & (out >= 0))
    if bad.any():
        raise _bad_weight(int(bad.argmax()), out)
    return out


def _bad_weight(row: int, weight: Array) -> DataError:
    return DataError(
        f"a weight must be finite and at least 0; weight[{row}] is {weight[row]!s}. "
        "Drop such rows, or give them the weight 0, which is the same."
    )


def _label(values: Any, positive: Any) -> Array:
    """The label column where 0/1 and -1/1 have to be told apart only; else labels as 0/1."""
    a = vector(values, "label")
    kind = a.dtype.kind
    if kind == "f" and a.dtype.itemsize not in (4, 8):
        a = _exact(a, "label")
    if kind in "biuf":
        a = _readable(a)
        if positive is None or (isinstance(positive, Real) and positive == 1):
            return a
        return _encoded(a, positive)
    if kind in "OSTU":
        return _named_labels(a, positive)
    raise DataError(
        f"labels must be numbers, booleans or text; these are of type {a.dtype}. Pass y == the "
        "positive one."
    )


def _encoded(a: Array, positive: Any) -> Array:
    """0/1 labels from a column of numbers: 1 where it is the positive one, and one other."""
    if not isinstance(positive, (Real, np.bool_)) or positive != positive:  # noqa: PLR0124 - NaN
        raise DataError(
            f"positive must be one of the labels, which are numbers; it is {shown(positive)}."
        )
    try:
        hit: Array = np.asarray(a == positive)
    except OverflowError:  # an integer past every float is none of these
        hit = np.zeros(len(a), np.bool_)
    if not hit.all():
        other = a[int(hit.argmin())]
        if np.count_nonzero(hit) + np.count_nonzero(a == other) != len(a):
            _refuse_labels(a, positive)
    return hit.view(np.uint8)


# So many numbers are no labels.
_SCORES = 100


def _refuse_labels(a: Array, positive: Any = None) -> NoReturn:
    """Say what is wrong with a column of numeric labels."""
    if np.isnan(a).any():
        row = int(np.isnan(a).argmax())
        raise DataError(f"label[{row}] is NaN. Drop the rows that have no label.")
    seen = np.unique(a).tolist()
    if positive is not None and positive not in seen:
        _refuse_positive(seen, positive)
    if len(seen) > 2:
        _refuse_many(seen, a.tolist(), positive)
    row = int((~((a == 1) | (a == (-1 if -1 in seen else 0)))).argmax())
    raise DataError(
        "labels are understood without help only as 0/1, False/True or -1/1; "
        f"label[{row}] is {a[row]!s}, and the labels seen are {_some(seen)}. Say which one is the "
        "positive: positive=..."
    )


def _refuse_positive(seen: list[Any], positive: Any) -> NoReturn:
    raise DataError(f"positive must be one of the labels {_some(seen)}; it is {shown(positive)}.")


def _refuse_many(seen: list[Any], values: list[Any], positive: Any) -> NoReturn:
    one = "the positive one" if positive is None else shown(positive)
    if len(seen) > _SCORES and all(isinstance(value, (int, float)) for value in seen):
        raise DataError(
            f"there must be two labels at the most; the labels seen are {_some(seen)}. They look "
            "like scores: are labels and scores the other way round?"
        )
    raise DataError(
        f"there must be two labels at the most; label[{values.index(seen[2])}] is "
        f"{shown(seen[2])}, and the labels seen are {_some(seen)}. For one against the rest pass "
        f"y == {one}."
    )


def _named_labels(a: Array, positive: Any) -> Array:
    """0/1 labels from text, or from any objects that can be told apart."""
    values = a.tolist()
    try:
        seen = list(dict.fromkeys(values))
    except TypeError:
        raise DataError(
            f"labels must be plain values, numbers or text; these are {shown(values)}."
        ) from None
    row = missing_row(values, seen)
    if row is not None:
        raise DataError(
            f"label[{row}] is missing ({values[row]!r}). Drop the rows that have no label."
        )
    if positive is None and (set(seen) <= {0, 1} or set(seen) <= {-1, 1}):
        positive = 1
    if len(seen) > 2:
        _refuse_many(seen, values, positive)
    if positive is None:
        raise DataError(
            f"the positive label is known without help only among 0/1, False/True or -1/1; these "
            f"are {_some(seen)}. Say which one is the positive: positive=..."
        )
    # Found by hash: arrays and expressions answer == with more of their kind, or not at all.
    code = dict.fromkeys(seen, 0)
    try:
        known = positive in code
    except TypeError:
        known = None
    if known is None or (not known and len(seen) == 2):
        _refuse_positive(seen, positive)
    if known:
        code[positive] = 1
    return np.fromiter(map(code.__getitem__, values), np.uint8, len(values))


def _numbers(a: Array, name: str, *, exact: bool = False) -> Array:
    """A column of objects as float64, provided that every one is a real number."""
    out = np.empty(len(a))
    for row, value in enumerate(a.tolist()):
        if is_missing(value):
            raise DataError(
                f"{name}[{row}] is missing ({value!r}). Drop such rows or fill them in."
            )
        if not isinstance(value, (Real, Decimal, np.bool_)):
            raise DataError(f"{name} must hold real numbers; {name}[{row}] is {shown(value)}.")
        try:
            out[row] = float(value)
        except OverflowError:
            out[row] = -np.inf if value < 0 else np.inf
        except ValueError:  # a signalling NaN
            out[row] = np.nan
        if exact and abs(out[row]) >= _EXACT and _is_long(value):
            _refuse_inexact(name, row, value)
    return out


def _is_long(value: Any) -> bool:
    """Whether a number is whole, and too long for a float; floats themselves are what they are."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value() and abs(value) > _EXACT
    whole = isinstance(value, Rational) and value.denominator == 1
    return bool(whole and abs(value) > _EXACT)


def _exact(a: Array, name: str) -> Array:
    """A column of long integers or floats as float64, provided that none of them is rounded."""
    with np.errstate(over="ignore"):
        out = a.astype(np.float64)
    whole = a.dtype.kind in "iu"
    lost = (a > _EXACT) | (a < -_EXACT) if whole else (out != a) & ~np.isnan(a)
    if lost.any():
        row = int(lost.argmax())
        _refuse_inexact(name, row, a[row])
    return out


def _refuse_inexact(name: str, row: int, value: Any) -> NoReturn:
    raise DataError(
        f"{name}s are compared as float64, where {name}[{row}] = {shown(value)} may coincide with "
        f"its neighbours. Rescale or round the {name}s."
    )


def _refuse_type(a: Array, name: str) -> NoReturn:
    first = f", and {name}[0] is {shown(a[:1].tolist()[0])}" if len(a) else ""
    raise DataError(
        f"{name} must hold real numbers; its type is {a.dtype}{first}. Convert it first."
    )


def missing_row(values: list[Any], seen: Iterable[Any]) -> int | None:
    """The first row that has a missing value, of the different ones that were seen."""
    for value in seen:
        if is_missing(value) or value != value:  # noqa: PLR0124 - NaN
            return next(i for i, v in enumerate(values) if v is value)
    return None


def is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def vector(values: Any, name: str) -> Array:
    a = array_of(values, name)
    if a.ndim == 0:
        raise DataError(f"{name} must be a column of values; it is {shown(values)}.")
    if a.ndim != 1:
        raise DataError(
            f"{name} must have one dimension; it has the shape {a.shape}. Pass one column: "
            "a[:, 1], a.ravel() or frame['column']."
        )
    return a


def _readable(a: Array) -> Array:
    """The array itself, or a copy where the native core can't read it in place."""
    if a.dtype.isnative and a.flags.aligned and not a.strides[0] % a.itemsize:
        return a
    return a.astype(a.dtype.newbyteorder("="))


def array_of(values: Any, name: str) -> Array:
    if type(values) is np.ndarray:
        return values
    if values is None or isinstance(values, (str, bytes)):
        raise DataError(f"{name} must be a column of values; it is {shown(values)}.")
    library = type(values).__module__.partition(".")[0]
    if library == "torch":
        values = _from_torch(values, name)
    elif library == "pandas":
        values = _from_pandas(values, name)
    elif library in ("polars", "pyarrow"):
        _refuse_nulls(values, name)
    elif isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(values).ravel().argmax())
        raise DataError(f"{name}[{row}] is masked. Drop such rows first.")
    try:
        a = np.asarray(values)
        # NumPy rounds [2**63, -1] and [2**53 + 1, 0.5] to floats; as objects they stay what they
        # are, to be refused where that matters.
        if isinstance(values, (list, tuple)) and a.dtype == np.float64 and a.ndim == 1:
            big = np.isfinite(a) & (np.abs(a) >= _EXACT)
            return np.array(values, object) if big.any() else a
        return a
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{name} must be a column of values; NumPy says: {error}") from error


def _from_torch(values: Any, name: str) -> Any:
    if values.device.type != "cpu":
        raise DataError(
            f"{name} must be in the host's memory; this tensor is on {values.device}. Use "
            "cutscore.torch, which computes there, or pass tensor.cpu()."
        )
    values = values.detach()
    short = values.dtype.is_floating_point and values.dtype.itemsize < 4
    return values.float() if short else values


def _from_pandas(values: Any, name: str) -> Any:
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return values
    missing = np.asarray(values.isna())
    if missing.any():
        raise DataError(f"{name}[{missing.argmax()}] is missing. Drop such rows first: dropna().")
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
        raise DataError(f"{name}[{row}] is null. Drop such rows first.")


def _some(labels: list[Any]) -> str:
    first = ", ".join(map(shown, labels[:5]))
    return first + (f", … ({len(labels):,} in all)" if len(labels) > 5 else "")
