"""Types of what users pass in.

Parameters of public functions have these types; what they may be in detail is checked where they
are read, in :mod:`cutscore.core.checks` and at the border of each room. A value that is only
checked, and of which nothing is assumed, is an ``object``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy.typing as npt
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of any type."""

ArrayLike: TypeAlias = npt.ArrayLike
"""Whatever NumPy reads as an array: a list, an array, a column of pandas, polars or Arrow."""

Label: TypeAlias = Hashable
"""A label of a class: a number, a truth value, text, or any value that can be a key."""


@runtime_checkable
class Frame(Protocol):
    """A frame of pandas or polars: columns by name."""

    @property
    def columns(self) -> Iterable[Any]: ...

    def __getitem__(self, name: str, /) -> Any: ...


Scores: TypeAlias = Mapping[Any, ArrayLike] | Frame | Sequence[ArrayLike] | ArrayLike
"""Several scores of the same rows: columns by name, a frame, a sequence of columns, or an array
with a column for each."""

Selector: TypeAlias = "slice | int | Array"
"""Which entries of an array: a slice, a position, or an array of either positions or flags."""

GoalFunction: TypeAlias = Callable[[Array, Array, Array, Array], ArrayLike]
"""A function of (tp, fp, fn, tn), arrays with an entry for each cut, that returns such an array."""


@runtime_checkable
class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    shape: tuple[int, ...]

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


MatrixLike: TypeAlias = ArrayLike | SparseMatrix
"""Features: an array, a data frame that NumPy can read, or a sparse matrix."""


class ArrowStream(Protocol):
    """A table that offers the Arrow interface: a frame of pandas or polars, a table of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


FrameLike: TypeAlias = ArrowStream | Mapping[str, ArrayLike]
"""A table in memory: a frame of pandas or polars, a table of Arrow, or columns by name."""
