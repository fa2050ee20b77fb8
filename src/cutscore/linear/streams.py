"""Rows that are streamed, pass by pass, rather than held in memory; and a file to stream from."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.files import Nameless
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.cluster import DiskRefused
from cutscore.linear.rows import (
    ArrayRows,
    Block,
    Flags,
    Matrix,
    block_rows,
    one_thread_blas,
    one_thread_here,
)

_S = TypeVar("_S")

# What the system says where there is no room: on the disk, for the user, in one file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Later(NamedTuple):
    """A block that is still to be made, on whichever thread wants it."""

    rows: int
    load: Callable[[], Block]


class StreamRows:
    """Rows that are read anew for each pass, some at a time: a table of any size.

    Blocks are summarised on threads while the next ones are read; there are only as many at a time
    as there are threads, and two or three more. Summaries are merged in the order of the rows, so
    that the result is the same to the bit on any number of threads.

    Parameters
    ----------
    blocks : callable
        Called for each pass; gives all blocks in the order of their rows, ``start`` counted on. A
        block is copied, so that the next one may use its memory. It may be a ``Later(rows, load)``
        instead, which the thread loads that summarises it, into new memory. They have been checked,
        as for :class:`cutscore.linear.ArrayRows`.
    features : int
        How many columns of features there are.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear.streams import StreamRows
    >>> from cutscore.linear import Block
    >>> def blocks():
    ...     for k in range(0, 6, 2):
    ...         yield Block(np.full((2, 1), float(k)), np.array([True, False]), None, k)
    >>> rows = StreamRows(blocks, 1)
    >>> rows.reduce(lambda block: block.X.sum(), np.add).item()
    12.0
    >>> some = rows.where(np.array([True, False, False, False, True, True]))
    >>> some.reduce(lambda block: block.X.sum(), np.add).item()
    8.0
    """

    def __init__(self, blocks: Callable[[], Iterator[Block | Later]], features: int) -> None:
        self._make, self._features = blocks, features

    @property
    def features(self) -> int:
        """How many columns of features there are."""
        return self._features

    def _pieces(self) -> Iterator[Later]:
        """All blocks but empty ones, in the order of the rows."""
        for block in self._make():
            # Others summarise it while the next one is made, perhaps in the same memory.
            piece = block if isinstance(block, Later) else _copy_block(block)
            if piece.rows:
                yield piece

    def blocks(self) -> Generator[Block]:
        """All blocks but empty ones, in the order of the rows. The next is read ahead."""
        pieces = self._pieces()

        def load_next() -> Block | None:
            piece = next(pieces, None)
            return None if piece is None else piece.load()

        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(load_next)
            while (block := coming.result()) is not None:
                coming = pool.submit(load_next)
                yield block
                del block

    def reduce(self, summarise: Callable[[Block], _S], merge: Callable[[_S, _S], _S]) -> _S:
        """As in :class:`cutscore.linear.Rows`. A table without rows is one empty block."""
        with one_thread_blas(), closing(self._summaries(summarise)) as summaries:
            out = next(summaries, _NOTHING)
            if out is _NOTHING:
                return summarise(self._empty())
            for summary in summaries:
                out = merge(out, summary)
            return out

    def _summaries(self, summarise: Callable[[Block], _S]) -> Generator[_S]:
        workers = threads()
        pieces = self._pieces()
        if workers == 1:
            yield from (summarise(piece.load()) for piece in pieces)
            return
        pool = ThreadPoolExecutor(workers, initializer=one_thread_here)
        try:
            ahead: deque[Future[_S]] = deque()
            for piece in pieces:
                ahead.append(pool.submit(_summarise, summarise, piece.load))
                del piece  # or it stays here for as long as the next one takes
                if len(ahead) > workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def fold(self, step: Callable[[_S, Block], _S], start: _S) -> list[_S]:
        """As in :class:`cutscore.linear.Rows`: one part."""
        with closing(self.blocks()) as blocks:
            for block in blocks:
                start = step(start, block)
        return [start]

    def where(self, mask: Flags) -> StreamRows:
        """Some of the rows, still not in memory.

        Parameters
        ----------
        mask : array of bool
            For each row of the table, whether it is one of them. Of a spool, blocks that have none
            are not read.
        """
        return _MaskedRows(self, np.asarray(mask, np.bool_))

    def take(self, mask: Flags) -> ArrayRows:
        """Some of the rows, in memory."""
        whole = _concatenate(list(self.where(mask).blocks()) or [self._empty()])
        return ArrayRows(whole.X, whole.y, whole.weight)

    def spooled(self, *, rows: int | None = None, folder: str | None = None) -> StreamRows:
        """The same rows from a temporary file, to which one pass writes them now.

        It has no name, so nothing is left behind however the process ends; it goes with these rows.

        Parameters
        ----------
        rows : int, optional
            How many there are, if that is known: to say how much room they need where there is too
            little.
        folder : str, optional
            Where; if it is not said, where temporary files are, ``TMPDIR``.
        """
        return _SpooledRows(self, Spool(folder), rows)

    def _empty(self) -> Block:
        return Block(np.empty((0, self.features)), np.empty(0, np.bool_), None, 0)


class _MaskedRows(StreamRows):
    """Some rows of others."""

    def __init__(self, rows: StreamRows, mask: Flags) -> None:
        self._rows, self._mask = rows, mask

    @property
    def features(self) -> int:
        return self._rows.features

    def _pieces(self) -> Iterator[Later]:
        at = start = 0
        for piece in self._rows._pieces():
            some = self._mask[at : at + piece.rows]
            at += piece.rows
            if at > len(self._mask):
                self._refuse("more")
            count = int(np.count_nonzero(some))
            if count:
                yield Later(count, partial(_select, piece, some, start))
            start += count
        if at < len(self._mask):
            self._refuse(f"{at:,}")

    def _refuse(self, rows: str) -> None:
        rule = f"have one entry for each of {rows} rows"
        raise DataError(BadArgument("mask", rule, len(self._mask)))


class _SpooledRows(StreamRows):
    """Rows in a file, from which threads read their blocks on their own."""

    def __init__(self, rows: StreamRows, spool: Spool, expected: int | None) -> None:
        self._features, self._spool = rows.features, spool
        self._stored: list[_StoredBlock] = []
        done = 0
        with closing(_rechunk(rows.blocks())) as blocks:
            for block in blocks:
                done += len(block.y)
                self._stored.append(
                    _StoredBlock(
                        len(block.y),
                        block.start,
                        block.X.shape,
                        block.weight is not None,
                        spool.write(_arrays(block), 1.0 if expected is None else expected / done),
                    )
                )

    def __len__(self) -> int:
        return sum(stored.rows for stored in self._stored)

    def _pieces(self) -> Iterator[Later]:
        for stored in self._stored:
            yield Later(stored.rows, partial(stored.read, self._spool))


class _StoredBlock(NamedTuple):
    """A block in a spool."""

    rows: int
    start: int
    shape: tuple[int, int]
    weighted: bool
    places: list[_Place]

    def read(self, spool: Spool) -> Block:
        arrays = [spool.read(place) for place in self.places]
        weight = arrays.pop() if self.weighted else None
        y = arrays.pop()
        if len(arrays) == 1:
            return Block(arrays[0].reshape(self.shape), y, weight, self.start)
        from scipy.sparse import csr_array

        return Block(csr_array(tuple(arrays), shape=self.shape), y, weight, self.start)


def _arrays(block: Block) -> list[NDArray[Any]]:
    """What is stored of a block."""
    X = block.X
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    return [*parts, block.y, *(() if block.weight is None else (block.weight,))]


class _Place(NamedTuple):
    at: int
    numbers: int
    dtype: Any


class Spool:
    """A file without a name that holds arrays. Any thread may read; one writes."""

    def __init__(self, folder: str | None = None) -> None:
        self._file = Nameless(folder)
        if self._file.refused is not None:
            refused = self._file.refused
            raise DataError(
                DiskRefused(self._file.folder, refused.strerror or str(refused))
            ) from refused

    def write(self, arrays: Sequence[NDArray[Any]], of_all: float = 1.0) -> list[_Place]:
        """Where these arrays are now. ``of_all``: how much more room all that is still to come will
        take than what is there with these; for a message."""
        need, out = self._file.size + sum(array.nbytes for array in arrays), []
        for array in arrays:
            flat = np.ascontiguousarray(array).reshape(-1)
            try:
                start, _ = self._file.write(flat.view(np.uint8).data)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                reason, least = os.strerror(error.errno), round(need * of_all)
                raise DataError(
                    DiskRefused(self._file.folder, reason, self._file.size, least)
                ) from error
            out.append(_Place(start, flat.size, flat.dtype))
        return out

    def read(self, place: _Place) -> NDArray[Any]:
        """An array, in new memory: whoever keeps a part of it keeps what it was."""
        out = np.empty(place.numbers, place.dtype)
        self._file.fill(out.view(np.uint8).data, place.at)
        return out


_NOTHING: Any = object()


def _identity(block: Block) -> Block:
    return block


def _copy_block(block: Block) -> Later:
    X, y, weight, start = block
    copy = Block(X.copy(), y.copy(), None if weight is None else weight.copy(), start)
    return Later(len(y), partial(_identity, copy))


def _summarise(summarise: Callable[[Block], _S], load: Callable[[], Block]) -> _S:
    return summarise(load())


def _select(piece: Later, some: Flags, start: int) -> Block:
    X, y, weight, _ = piece.load()
    if some.all():
        return Block(X, y, weight, start)
    at = np.flatnonzero(some)
    # Indexing does the same for arrays, at a third of the speed.
    X = X.take(at, axis=0) if isinstance(X, np.ndarray) else X[at]
    return Block(X, y[at], None if weight is None else weight[at], start)


def _rechunk(blocks: Generator[Block]) -> Generator[Block]:
    """The same rows in blocks of the size that learners like; those of a reader may be small."""
    kept: list[Block] = []
    for block in blocks:
        kept.append(block)
        size = _size(block)
        if sum(len(b.y) for b in kept) < size:
            continue
        whole = _concatenate(kept)
        full = len(whole.y) - len(whole.y) % size
        yield from (whole.part(k, k + size) for k in range(0, full, size))
        kept = [whole.part(full, len(whole.y))] if full < len(whole.y) else []
    if kept:
        yield _concatenate(kept)


def _size(block: Block) -> int:
    n, d = block.X.shape
    if isinstance(block.X, np.ndarray):
        return block_rows(d)
    return block_rows(1 + block.X.nnz // n)


def _concatenate(blocks: Sequence[Block]) -> Block:
    """Blocks that follow each other as one."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    X, y, weight, _ = zip(*blocks, strict=True)
    whole: Matrix
    if isinstance(first.X, np.ndarray):
        whole = np.concatenate(X)
    else:
        from scipy.sparse import vstack

        whole = vstack(X, "csr")
    w = None if first.weight is None else np.concatenate(weight)
    return Block(whole, np.concatenate(y), w, first.start)
