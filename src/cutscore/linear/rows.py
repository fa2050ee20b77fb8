"""A labelled table of features, wherever it lives: learners only ever ask it for sums of blocks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import threads

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class CsrMatrix(Protocol):
    """What is used of SciPy's CSR matrices and arrays, which have no types of their own."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    dtype: np.dtype[Any]
    ndim: int
    nnz: int
    size: int

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def T(self) -> Any: ...

    def __getitem__(self, rows: slice | NDArray[Any] | tuple[slice, list[int]], /) -> Any: ...

    def __matmul__(self, other: NDArray[Any], /) -> Any: ...

    def astype(self, dtype: np.dtype[Any] | type) -> Any: ...

    def copy(self) -> Any: ...

    def multiply(self, other: NDArray[Any] | CsrMatrix) -> Any: ...

    def power(self, n: int) -> Any: ...

    def toarray(self, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...

    def tocsc(self) -> Any: ...

    def tocsr(self) -> Any: ...


Matrix: TypeAlias = NDArray[Any] | CsrMatrix
"""Features inside: an array of float32 or float64 with two dimensions, or a CSR matrix."""

_S = TypeVar("_S")
_N = TypeVar("_N", bound=np.generic)

# Numbers in a block. Summaries go through it in pieces that fit their cache; fewer blocks are fewer
# steps of Python, which only one thread takes at a time. Small tables have smaller blocks, down to
# an eighth, so that all threads have some.
_BLOCK = 1 << 20
_ENOUGH = 32
# Blocks are added up in so many parts at most, so that few summaries exist at a time.
_PARTS = 64
# Up to so many columns the native core adds up their products faster than BLAS, which wants rows
# that were gathered, widened and moved before.
NARROW = 128


class Block(NamedTuple):
    """Some consecutive rows; :class:`cutscore.linear.ArrayRows` are divided into blocks."""

    X: Matrix
    """Their features, a row each: an array, or a CSR matrix."""
    y: Flags
    """True where the row is positive; of more than two classes, the code of its class."""
    weight: Floats | None
    """How often each counts; None for once."""
    start: int
    """How many rows of the table come before."""

    def scores(self, w: Floats, b: float = 0.0) -> Floats:
        """w·x + b of each row, in float64 whatever the type of X."""
        return _native.scores(*readable(self.X), np.ascontiguousarray(w, np.float64), b)

    def combine(self, coefficient: Floats) -> Floats:
        """Σ coefficient·x over the rows, in float64."""
        return _native.combine(
            *readable(self.X), np.ascontiguousarray(coefficient, np.float64), self.X.shape[1]
        )

    def part(self, start: int, stop: int) -> Block:
        """Some of its rows, without a copy."""
        at = slice(start, min(stop, len(self.y)))
        weight = None if self.weight is None else self.weight[at]
        return Block(slice_rows(self.X, at), self.y[at], weight, self.start + start)


def readable(X: Matrix) -> tuple[Any, Any, Any]:
    """X as the native core reads it: an array whose rows are contiguous, None and None; or data,
    indices and indptr of CSR. What lies otherwise in memory is copied, so ask for blocks."""
    if isinstance(X, np.ndarray):
        size = X.dtype.itemsize
        side_by_side = X.shape[1] <= 1 or X.strides[1] == size
        if not side_by_side or X.strides[0] % size or not X.flags.aligned:
            X = np.ascontiguousarray(X)
        return X, None, None
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    contiguous = np.ascontiguousarray
    return contiguous(X.data), contiguous(indices), contiguous(indptr)


def is_narrow(X: Matrix) -> TypeGuard[NDArray[Any]]:
    """Whether it has few columns, and rows that the native core reads as they are."""
    if not isinstance(X, np.ndarray) or X.shape[1] > NARROW:
        return False
    return X.flags.c_contiguous and X.flags.aligned and X.dtype in (np.float32, np.float64)


class Rows(Protocol):
    """A labelled table of features: arrays, files, or the partitions of a cluster.

    A learner only asks for sums of summaries, so it works the same way for all of them. Rows in
    memory are :class:`cutscore.linear.ArrayRows`.

    On a cluster, functions are sent to the rows and summaries are sent back: both must be small,
    and a function must not refer to the table. A block only exists while it is being summarised; a
    summary that refers to a part of it, rather than to a copy, keeps the whole block in memory.
    """

    @property
    def features(self) -> int:
        """How many columns of features there are."""
        ...

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """The summaries of all blocks, merged in the order of the rows."""
        ...

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """Each part of the table folds its blocks in the order of its rows, from ``start`` on; the
        results, in the order of the parts.

        Rows in memory and in files are one part, which may change ``start`` itself. Where there are
        several, such as the partitions of a cluster, each starts from a copy of its own.
        """
        ...


class ArrayRows:
    """Rows in memory. Blocks are slices without a copy, summarised on threads.

    X is an array or a sparse matrix of float32 or float64 without NaN; y is True for positives;
    weights are positive. The caller has to check this. X is read whenever a sum is computed and
    must not change until then.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> rows = ArrayRows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([True, False]))
    >>> rows.reduce(lambda block: block.X.sum(axis=0), np.add).tolist()
    [4.0, 6.0]
    """

    kept: Flags | None = None
    """Which rows of a larger table these are, if it had some without a weight."""

    def __init__(self, X: Matrix, y: Flags, weight: Floats | None = None) -> None:
        # The core would take the columns of CSC for rows.
        self.X = X.tocsr() if hasattr(X, "tocsr") else X
        self.y, self.weight = y, weight

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """How many columns of features there are."""
        return int(self.X.shape[1])

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """As in :class:`Rows`. Blocks depend on the table alone, never on the number of threads,
        so that sums are the same to the bit on any number of them."""
        n = len(self)
        if not n:
            return summarise(self._whole)
        size = self._block_size()
        blocks = -(-n // size)
        per_part = -(-blocks // _PARTS) * size

        def fold(start: int) -> _S:
            places = range(start, min(start + per_part, n), size)
            return reduce(merge, (summarise(self._whole.part(k, k + size)) for k in places))

        starts = range(0, n, per_part)
        # Starting threads takes as long as summing up some hundred thousand numbers.
        workers = min(threads(n), len(starts), 1 + self._numbers() // _BLOCK)
        with one_thread_blas():
            if workers <= 1:
                return reduce(merge, map(fold, starts))
            # Few tasks, each of some parts: to hand one over takes as long as a small block.
            share = -(-len(starts) // (4 * workers))
            tasks = [starts[k : k + share] for k in range(0, len(starts), share)]
            with ThreadPoolExecutor(workers, initializer=one_thread_here) as pool:
                parts = pool.map(lambda task: [fold(start) for start in task], tasks)
                return reduce(merge, (part for task in parts for part in task))

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """As in :class:`Rows`: one part, and one block."""
        return [step(start, self._whole)]

    def part(self, start: int, stop: int) -> ArrayRows:
        """Some rows that follow each other, without a copy."""
        some = self._whole.part(start, stop)
        return ArrayRows(some.X, some.y, some.weight)

    @property
    def _whole(self) -> Block:
        return Block(self.X, self.y, self.weight, 0)

    def _numbers(self) -> int:
        return self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz + len(self)

    def _block_size(self) -> int:
        n, d = len(self), self.features
        most = _BLOCK * n // max(self._numbers(), 1)
        size = min(most, max(n // _ENOUGH, most // 8))
        if n > 1 << 14:  # enough for more threads than one, however few numbers they are
            size = min(size, -(-n // 8))
        return _block_length(size, d)


def block_rows(features: int) -> int:
    """How many rows make a block of a dense table that has many more."""
    return _block_length(_BLOCK // max(features, 1), features)


def _block_length(size: int, features: int) -> int:
    # Of wide tables enough rows that d × d products of a block outweigh adding them up.
    least = max(min(features // 2, (1 << 22) // max(features, 1)), 64)
    return int(min(max(size, least), 1 << 16))


class JoinedRows:
    """Rows in memory that lie in several places, as one table.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear.rows import ArrayRows, JoinedRows
    >>> rows = ArrayRows(np.array([[1.0], [2.0], [4.0]]), np.array([True, False, True]))
    >>> some = JoinedRows([rows.part(0, 1), rows.part(2, 3)])
    >>> some.reduce(lambda block: block.X.sum(axis=0), np.add).tolist()
    [5.0]
    """

    def __init__(self, parts: Sequence[ArrayRows]) -> None:
        self.parts = parts
        self.starts = [0, *accumulate(len(part) for part in parts)]

    def __len__(self) -> int:
        return self.starts[-1]

    @property
    def features(self) -> int:
        """How many columns of features there are."""
        return self.parts[0].features

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """As in :class:`Rows`."""

        def shift(start: int) -> Callable[[Block], _S]:
            return lambda block: summarise(block._replace(start=start + block.start))

        pairs = zip(self.parts, self.starts, strict=False)
        return reduce(merge, (part.reduce(shift(start), merge) for part, start in pairs))

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """As in :class:`Rows`: one part, and a block for each place."""
        for part, before in zip(self.parts, self.starts, strict=False):
            start = step(start, Block(part.X, part.y, part.weight, before))
        return [start]


class MaskedRows:
    """Some rows of a table, wherever it lives: blocks without the others.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear.rows import ArrayRows, MaskedRows
    >>> rows = ArrayRows(np.array([[1.0], [2.0], [4.0]]), np.array([True, False, True]))
    >>> some = MaskedRows(rows, np.array([True, False, True]))
    >>> some.reduce(lambda block: block.X.sum(axis=0), np.add).tolist()
    [5.0]
    """

    def __init__(self, rows: Rows, mask: Flags) -> None:
        self.whole, self.mask = rows, mask

    @property
    def features(self) -> int:
        return self.whole.features

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """As in :class:`Rows`."""
        choose = _Choose(self.mask)

        def some(block: Block) -> _S | None:
            chosen = choose(block)
            return summarise(chosen) if len(chosen.y) else None

        def both(a: _S | None, b: _S | None) -> _S | None:
            if a is None or b is None:
                return b if a is None else a
            return merge(a, b)

        out = self.whole.reduce(some, both)
        if out is None:
            none = Block(np.empty((0, self.features)), np.empty(0, np.bool_), None, 0)
            return summarise(none)
        return out

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """As in :class:`Rows`."""
        choose = _Choose(self.mask)

        def of_some(state: _S, block: Block) -> _S:
            chosen = choose(block)
            return step(state, chosen) if len(chosen.y) else state

        return self.whole.fold(of_some, start)


class _Choose:
    """Blocks without the rows that a mask leaves out. It travels, so it holds a bit a row."""

    _EVERY = 1 << 16

    def __init__(self, mask: Flags) -> None:
        self.bits, self.rows = np.packbits(mask), len(mask)
        counts = np.add.reduceat(mask, np.arange(0, max(len(mask), 1), self._EVERY), dtype=np.int64)
        self.before = np.concatenate(([0], np.cumsum(counts)))

    def __call__(self, block: Block) -> Block:
        start, stop = block.start, block.start + len(block.y)
        near = start // self._EVERY
        some = np.unpackbits(
            self.bits[near * (self._EVERY // 8) : -(-stop // 8)],
            count=stop - near * self._EVERY,
        ).view(np.bool_)
        skipped = start - near * self._EVERY
        at = np.flatnonzero(some[skipped:])
        before = int(self.before[near]) + int(np.count_nonzero(some[:skipped]))
        weight = None if block.weight is None else block.weight[at]
        return Block(block.X[at], block.y[at], weight, before)


def collect(rows: Rows, of: Callable[[Block], NDArray[_N]]) -> NDArray[_N]:
    """An array of all rows, from the arrays that a function makes of each block."""
    return np.concatenate(rows.reduce(lambda block: [of(block)], lambda a, b: a + b))


def slice_rows(X: Matrix, at: slice) -> Matrix:
    """Some rows, without a copy: SciPy's own slices of CSR are copies."""
    if isinstance(X, np.ndarray):
        return X[at]
    pointer = X.indptr[at.start : at.stop + 1]
    some = slice(pointer[0], pointer[-1])
    parts = (X.data[some], X.indices[some], pointer - pointer[0])
    make: Any = type(X)
    return make(parts, shape=(len(pointer) - 1, X.shape[1]), copy=False)  # type: ignore[no-any-return]


class _Blas:
    """How many threads BLAS has: for each thread that calls it (OpenMP), or for the process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before: list[int] = []

    @cached_property
    def libraries(self) -> tuple[list[Any], list[Any]]:
        """Those with a limit for each thread, and the others. Looked for once, which takes a
        millisecond: summaries multiply by NumPy, whose library is loaded with it, and call none
        that somebody loads later."""
        from threadpoolctl import ThreadpoolController

        found = ThreadpoolController().select(user_api="blas").lib_controllers
        own = [lib for lib in found if getattr(lib, "threading_layer", None) == "openmp"]
        return own, [lib for lib in found if lib not in own]

    def enter(self) -> list[int]:
        own, shared = self.libraries
        mine = _set(own, [1] * len(own))
        with self.lock:
            if not self.inside:
                self.before = _set(shared, [1] * len(shared))
            self.inside += 1
        return mine

    def leave(self, mine: list[int]) -> None:
        own, shared = self.libraries
        _set(own, mine)
        with self.lock:
            self.inside -= 1
            if not self.inside:
                _set(shared, self.before)


def _set(libraries: list[Any], numbers: list[int]) -> list[int]:
    """Sets numbers of threads; those that were set before."""
    before = [lib.num_threads for lib in libraries]
    for lib, k in zip(libraries, numbers, strict=True):
        lib.set_num_threads(k)
        # Newer versions of threadpoolctl let the thread that sets a number set it back, and no
        # other. Whoever leaves last must.
        if hasattr(lib, "clear_controlling_thread"):
            lib.clear_controlling_thread()
    return before


_blas = _Blas()


def _after_fork() -> None:
    # A thread that is not here any more may have held the lock.
    _blas.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def one_thread_blas() -> Iterator[None]:
    """BLAS on one thread for as long as this lasts: the threads are ours, one block each.

    Fits that run at the same time share it. threadpoolctl's own limits would be set back by each of
    them to what it found, the limit of another.
    """
    mine = _blas.enter()
    try:
        yield
    finally:
        _blas.leave(mine)


def one_thread_here() -> None:
    """For a new thread of ours, where BLAS has a limit for each."""
    own, _ = _blas.libraries
    _set(own, [1] * len(own))
