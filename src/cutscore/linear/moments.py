"""ClassMoments: how many, where and how scattered the rows of either class are.

All closed-form learners need nothing else, and it merges: the moments of two parts of a table give
those of the whole, so rows that never fit in memory are read once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cutscore.core import _native
from cutscore.core.checks import check_rows
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Shown
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.findings.rows import ValueUnfit
from cutscore.core.findings.statistics import (
    BeyondFloats,
    CantMerge,
    NotFinite,
    OneClass,
    TooFew,
    Undefined,
)
from cutscore.core.frozen import Frozen, derived
from cutscore.core.json import with_format, without_format
from cutscore.core.types import Array, ArrayLike, Label, MatrixLike, SparseMatrix
from cutscore.linear.rows import (
    NARROW,
    ArrayRows,
    Block,
    Flags,
    Floats,
    Matrix,
    Rows,
    is_narrow,
)

_FORMAT, _VERSION = "cutscore moments", 1
# Two scatter matrices of so many columns take 1 GiB.
_WIDEST = 8192
# Numbers that are widened and multiplied at a time: 1 MiB of them, near the core and few calls.
_CHUNK = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class ClassMoments(Frozen):
    """Weight, mean and scatter of the negatives and the positives, or of each of K classes.

    Arrays have one entry for each class along their first axis, with the negatives first. Means are
    stored relative to a row, ``origin``, and scatters are around the means. This avoids
    cancellation if columns are far from 0; all sums are in float64. ``a + b`` are the moments of
    the rows of both [1]_, and ``sum`` adds up any number of them.

    Make it with :meth:`from_arrays`, :meth:`of` (a block) or :meth:`of_rows`.

    Attributes
    ----------
    origin
        A row, to which the means are relative.
    weight
        Weight of each class: the number of rows, or the sum of their weights.
    offset
        Mean of each class − origin.
    scatter
        Σ weight·(x − mean)(x − mean)ᵀ of each class; None if not requested.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque: Algorithms for computing the sample variance,
       The American Statistician 37 (1983), doi:10.1080/00031305.1983.10483115.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0], [6.0, 9.0]])
    >>> m = cs.ClassMoments.from_arrays(X, [0, 0, 1, 1])
    >>> m
    ClassMoments(features=2, negatives=2, positives=2)
    >>> m.mean.tolist()
    [[1.0, 1.0], [5.0, 7.0]]
    >>> m.scatter[1].tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    >>> parts = [cs.ClassMoments.from_arrays(X[k:k + 1], [k > 1]) for k in range(4)]
    >>> sum(parts).mean.tolist()
    [[1.0, 1.0], [5.0, 7.0]]
    """

    origin: Floats
    weight: Floats
    offset: Floats
    scatter: Floats | None

    @classmethod
    def from_arrays(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        positive: Label | None = None,
        scatter: bool = True,
    ) -> ClassMoments:
        """The moments of a table in memory.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features, an array or a sparse matrix with one row for each label.
        y : array-like of shape (n,)
            As for :func:`cutscore.sweep`: two labels, and how much each row counts.
        weight : array-like of shape (n,), optional
            As for :func:`cutscore.sweep`: two labels, and how much each row counts.
        positive : label, optional
            As for :func:`cutscore.sweep`: two labels, and how much each row counts.
        scatter : bool, default True
            Whether to compute the scatter, whose size is the square of the number of columns. The
            mean difference does not need it.
        """
        return cls.of_rows(_rows(X, y, weight, positive), scatter=scatter)

    @classmethod
    def of(cls, block: Block, *, scatter: bool = True) -> ClassMoments:
        """The moments of one block."""
        return BlockMoments(scatter)(block)

    @classmethod
    def of_rows(cls, rows: Rows, *, scatter: bool = True, classes: int = 2) -> ClassMoments:
        """The moments of a table wherever it lives, in one pass over it. With more ``classes`` than
        two, the y of its blocks are codes from 0 on."""
        if scatter:
            _check_width(rows.features, classes)
        out = rows.reduce(BlockMoments(scatter, classes), ClassMoments.__add__)
        out.check_finite()
        return out

    @property
    def features(self) -> int:
        """How many columns there are."""
        return len(self.origin)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.weight)

    @derived
    def mean(self) -> Floats:
        """Mean of each class; 0 where a class has no rows."""
        there = (self.weight > 0)[:, None]
        return np.where(there, self.origin + self.offset, 0.0)

    @derived
    def within(self) -> Floats:
        """The scatter around the means of all classes together."""
        if self.scatter is None:
            what, hint = "the scatter within classes", "Create the moments with scatter=True."
            raise UndefinedError(Undefined(what, "was not computed", hint))
        return np.asarray(self.scatter.sum(0))

    def check_finite(self) -> None:
        """Raise if there was a NaN or an infinity in a column, or squares were past every float."""
        bad = ~np.isfinite(self.origin + self.offset.sum(0))
        if bad.any():
            raise DataError(NotFinite("features", index=int(bad.argmax())))
        if self.scatter is not None and not np.isfinite(self.scatter).all():
            column = int((~np.isfinite(self.scatter)).any((0, 1)).argmax())
            raise DataError(BeyondFloats(f"squares of column {column}", hint="Divide it by 1e150."))
        # The other end: all columns so small that their squares have lost their digits.
        if self.scatter is not None and self.features:
            square = float(self.scatter.diagonal(axis1=1, axis2=2).max())
            if square < 1e-280 and 0 < float(np.abs(self.offset).max()) < 1e-140:
                hint = "Multiply all columns by 1e150."
                raise DataError(BeyondFloats("squares of features", square, hint))

    def needs_both_classes(self, what: str) -> None:
        """Raise unless all classes have mass."""
        if self.classes > 2 and not (self.weight > 0).all():
            raise UndefinedError(TooFew(what, 1, f"row of class {self.weight.argmin()}", 0))
        if not (self.weight > 0).all():
            only = "positive" if self.weight[1] > 0 else "negative"
            have = f"{only} (weight {self.weight.sum():g})"
            raise UndefinedError(OneClass(what, "positives and negatives", have))

    def __add__(self, other: object) -> ClassMoments:
        if not isinstance(other, ClassMoments):
            return NotImplemented
        for same, values in (
            ("columns", (self.features, other.features)),
            ("classes", (self.classes, other.classes)),
        ):
            if len(set(values)) > 1:
                raise DataError(CantMerge("moments", same, values))
        if (self.scatter is None) != (other.scatter is None):
            values = (self.scatter is not None, other.scatter is not None)
            raise DataError(CantMerge("moments", "scatter=", values))
        # The row that an empty one counts from means nothing.
        if not other.weight.any():
            return self
        if not self.weight.any():
            return other
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        # From one origin: where the columns are far from 0, origins differ by little, and exactly.
        # An empty class is nowhere, and stays at offset 0 so that nothing overflows there.
        moved = other.offset + (other.origin - self.origin)
        apart = np.where((share > 0)[:, None], moved - self.offset, 0.0)
        offset = self.offset + share[:, None] * apart
        if self.scatter is None or other.scatter is None:
            return ClassMoments(self.origin, weight, offset, None)
        # Products before factors, so that the result is as symmetric as they are.
        scatter = apart[:, :, None] * apart[:, None, :]
        scatter *= (self.weight * share)[:, None, None]
        scatter += self.scatter
        scatter += other.scatter
        return ClassMoments._adopt(self.origin, weight, offset, scatter)

    def __radd__(self, other: object) -> ClassMoments:
        # For sum(): it starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """All of it as lists and numbers, for JSON."""
        names = ("origin", "weight", "offset", "scatter")
        return with_format(_FORMAT, _VERSION, {name: getattr(self, name) for name in names})

    @staticmethod
    def from_dict(data: object) -> ClassMoments:
        """The moments that :meth:`to_dict` wrote."""
        data = without_format(_FORMAT, _VERSION, data)
        d = len(data["origin"]) if isinstance(data.get("origin"), list) else 0
        k = max(len(data["weight"]), 2) if isinstance(data.get("weight"), list) else 2
        shapes = {"origin": (d,), "weight": (k,), "offset": (k, d), "scatter": (k, d, d)}
        out: dict[str, Any] = {}
        for name, shape in shapes.items():
            if name == "scatter" and data.get(name) is None:
                out[name] = None
                continue
            try:
                out[name] = np.array(data[name], np.float64)
            except (KeyError, TypeError, ValueError):
                out[name] = np.empty(0)
            if out[name].shape != shape or not np.isfinite(out[name]).all():
                rule = f"finite numbers of shape {shape}"
                raise DataError(FieldUnfit(name, rule, data.get(name)))
        if (out["weight"] < 0).any():
            raise DataError(FieldUnfit("weight", "at least 0", data["weight"]))
        return ClassMoments(**out)

    def __repr__(self) -> str:
        mass = [f"{int(w):,}" if w == int(w) else f"{w:,.6g}" for w in self.weight.tolist()]
        less = "" if self.scatter is not None else ", scatter=None"
        rows = f"rows=[{', '.join(mass)}]"
        if self.classes == 2:
            rows = f"negatives={mass[0]}, positives={mass[1]}"
        return f"ClassMoments(features={self.features:,}, {rows}{less})"


class BlockMoments:
    """The moments of a block: what a table is asked to reduce.

    Rows are widened and multiplied some at a time, in memory that each thread keeps for the next
    block: pages that are new cost as much as the sums.
    """

    def __init__(self, scatter: bool, classes: int = 2) -> None:
        self.scatter, self.classes = scatter, classes
        self.kept = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return BlockMoments, (self.scatter, self.classes)

    def __call__(self, block: Block) -> ClassMoments:
        X, y, weight, _ = block
        d = int(X.shape[1])
        if self._has_gaps(X) and X.size > 2 * _CHUNK and len(y) > 64:
            # It is going to be copied: some at a time.
            size = max(_CHUNK // d, 64)
            pieces = (block.part(k, k + size) for k in range(0, len(y), size))
            return reduce(ClassMoments.__add__, map(self, pieces))
        mass = np.zeros(self.classes)
        offset = np.zeros((self.classes, d))
        if self.scatter:
            _check_width(d, self.classes)
        scatter = np.zeros((self.classes, d, d)) if self.scatter else None
        if not len(y):
            return ClassMoments._adopt(np.zeros(d), mass, offset, scatter)
        # What is not finite comes out as such, and is refused when all is added up.
        with np.errstate(over="ignore", invalid="ignore"):
            if scatter is None and not isinstance(X, np.ndarray):
                return self._sparse_means(block)
            X = self._compact(X)
            origin = _row(X, 0)
            far = _is_far(X)
            for k, rows in enumerate(_by_class(y, self.classes)):
                if rows is not None and not len(rows):
                    continue
                w = weight if weight is None or rows is None else weight[rows]
                mass[k] = (len(y) if rows is None else len(rows)) if w is None else w.sum()
                first = _row(X, 0 if rows is None else int(rows[0]))
                start = first if far else None
                for _ in range(3):
                    total, square = self._sums(X, rows, w, start)
                    mean = total / mass[k]
                    if square is None or not _cancels(mean, mass[k], square):
                        break
                    # From a row first: columns of equal values then have exactly no scatter. If it
                    # was an outlier, from the mean.
                    start = first if start is None else start + mean
                offset[k] = mean - origin if start is None else (start - origin) + mean
                if square is not None and scatter is not None:
                    np.multiply(mean[:, None], mean, out=scatter[k])
                    scatter[k] *= -mass[k]
                    scatter[k] += square
        return ClassMoments._adopt(origin, mass, offset, scatter)

    def _sparse_means(self, block: Block) -> ClassMoments:
        """Counted from 0, which keeps the zeros."""
        weight = np.ones(len(block.y)) if block.weight is None else block.weight
        of_class = [np.where(block.y == k, weight, 0.0) for k in range(self.classes)]
        mass = np.array([w.sum() for w in of_class])
        sums = np.array([block.combine(w) for w in of_class])
        offset = sums / np.where(mass > 0, mass, 1.0)[:, None]
        return ClassMoments(np.zeros(block.X.shape[1]), mass, offset, None)

    def _sums(
        self, X: Matrix, rows: NDArray[np.intp] | None, weight: Floats | None, start: Floats | None
    ) -> tuple[Floats, Floats | None]:
        """Σ weight·z and Σ weight·z·zᵀ of z = x − start, over the rows of one class."""
        d = X.shape[1]
        if is_narrow(X):
            zero = np.zeros(d) if start is None else start
            sums = _native.scatter(X, rows, weight, zero, self.scatter).reshape(-1, d + 1)
            return sums[-1, :d], sums[:d, :d] if self.scatter else None
        total = np.zeros(d)
        square: Floats | None = None
        for at, z in self._float_chunks(X, rows):
            k = len(z)
            if start is not None:
                np.subtract(z, start, out=z)
            if weight is None:
                side = self._scratch("ones", k, 1)[:, 0]
                side.fill(1.0)
            else:
                side = np.sqrt(weight[at])
                np.multiply(z, side[:, None], out=z)
            total += side @ z
            if self.scatter:
                # The same array twice: NumPy computes one triangle of it, and copies that.
                product = z.T @ z
                if square is None:
                    square = product
                else:
                    square += product
        return total, square

    def _float_chunks(
        self, X: Matrix, rows: NDArray[np.intp] | None
    ) -> Iterator[tuple[slice, Floats]]:
        """Some rows of a class at a time, as float64 that may be written to."""
        n, d = X.shape[0] if rows is None else len(rows), X.shape[1]
        # In wide tables as many as make adding up d × d products cheap beside computing them.
        most = max(_CHUNK // d, min(d // 2, (1 << 22) // d), 16)
        size = -(-n // -(-n // most))
        by_column = isinstance(X, np.ndarray) and X.flags.f_contiguous and not X.flags.c_contiguous
        for k in range(0, n, size):
            at = slice(k, min(k + size, n))
            z = self._scratch("wide", at.stop - k, d, by_column)
            if not isinstance(X, np.ndarray):
                narrow = self._scratch("narrow", at.stop - k, d, False, X.dtype)
                X[at if rows is None else rows[at]].toarray(out=narrow)
                z[...] = narrow
            elif rows is None:
                z[...] = X[at]
            else:
                # In the order of memory. "clip" writes in place; all rows are there.
                same = X.dtype == np.float64
                to = z if same else self._scratch("narrow", at.stop - k, d, by_column, X.dtype)
                if by_column:
                    np.take(X.T, rows[at], axis=1, out=to.T, mode="clip")
                else:
                    np.take(X, rows[at], axis=0, out=to, mode="clip")
                if not same:
                    z[...] = to
            yield at, z

    @staticmethod
    def _has_gaps(X: Matrix) -> bool:
        """A block of a table in Fortran order, or a table that is part of another."""
        return isinstance(X, np.ndarray) and not (X.flags.c_contiguous or X.flags.f_contiguous)

    def _compact(self, X: Matrix) -> Matrix:
        """The same without gaps, row by row if it is narrow."""
        if not isinstance(X, np.ndarray) or not self._has_gaps(X):
            return X
        n, d = X.shape
        by_column = d > NARROW and abs(X.strides[0]) < abs(X.strides[1])
        out: NDArray[Any] = self._scratch("block", n, d, by_column, X.dtype)
        out[...] = X
        return out

    def _scratch(
        self,
        name: str,
        n: int,
        d: int,
        by_column: bool = False,
        dtype: DTypeLike = np.float64,
    ) -> Any:
        """An array of this thread's, with whatever is left in it."""
        there = getattr(self.kept, name, None)
        if there is None or there.size < n * d or there.dtype != dtype:
            there = np.empty(n * d, dtype)
            setattr(self.kept, name, there)
        return there[: n * d].reshape((n, d), order="F" if by_column else "C")


def _by_class(y: Array, classes: int) -> Sequence[Any]:
    """Which rows are of each class, the negatives first; None for all of them."""
    if classes > 2:
        return [np.flatnonzero(y == k) for k in range(classes)]
    positive = np.flatnonzero(y)
    if not len(positive):
        return None, positive
    if len(positive) == len(y):
        return positive[:0], None
    return np.flatnonzero(~y), positive


def _is_far(X: Matrix) -> bool:
    """Whether some column is farther from 0 than it is wide, by the look of the first rows. Other
    tables are spared a pass; a wrong guess costs one."""
    some = X[:32] if isinstance(X, np.ndarray) else X[:32].toarray()
    low, high = some.min(0).astype(np.float64), some.max(0).astype(np.float64)
    return bool(np.any(np.maximum(low, -high) > high - low))


def _cancels(mean: Floats, mass: float, square: Floats) -> bool:
    """Whether Σz² − mass·mean² loses more than two digits."""
    return bool(np.any(mass * mean * mean > 0.99 * square.diagonal()))


def _row(X: Matrix, k: int) -> Floats:
    """A copy: X is the caller's, or memory that the next block is going to overwrite."""
    row = X[k] if isinstance(X, np.ndarray) else X[k : k + 1].toarray()[0]
    return np.array(row, np.float64)


def _check_width(d: int, classes: int = 2) -> None:
    if classes * d * d > 2 * _WIDEST * _WIDEST:
        hint = (
            f"{classes} matrices would take {8 * classes * d * d / 2**30:,.1f} GiB. Choose or "
            "combine columns first, or use a learner without scatter: mean difference "
            "(scatter=False) or logistic regression."
        )
        most = int(_WIDEST * (2 / classes) ** 0.5)
        rule = f"have at most {most:,} columns for a scatter"
        raise DataError(BadArgument("X", rule, d, hint))


def _rows(
    data: MatrixLike, y: ArrayLike, weight: ArrayLike | None, positive: Label | None
) -> ArrayRows:
    """The border: whatever users hand in as a labelled table."""
    X: Any
    if isinstance(data, SparseMatrix):
        X = data.tocsr()
        if X.dtype.kind in "biuf" and X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
    else:
        X = np.asarray(data)
        if X.dtype.kind == "O":
            try:
                X = X.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(ValueUnfit("X", type="object")) from error
    if X.ndim != 2 or not X.shape[1] or X.dtype.kind not in "biuf":
        value, hint = Shown(f"{X.dtype} of shape {X.shape}"), "For one column pass X[:, None]."
        rule = "be a table of numbers with at least one column"
        raise DataError(BadArgument("X", rule, value, hint))
    n = X.shape[0]
    columns = check_rows(y, np.broadcast_to(np.float32(0), n), weight, positive)
    while True:
        flags: Flags = columns.label == columns.positive
        bad = ~(flags | (columns.label == columns.negative))
        if not bad.any():
            break
        columns = columns.explained(f"label:{bad.argmax()}")
    if columns.weight is None:
        return ArrayRows(X, flags)
    bad = ~((columns.weight >= 0) & (columns.weight < np.inf))
    if bad.any():
        columns.explained(f"weight:{bad.argmax()}")
    some = columns.weight > 0
    w = columns.weight.astype(np.float64)
    if some.all():
        return ArrayRows(X, flags, w)
    return ArrayRows(X[some], flags[some], w[some])
