"""Sweeps on their way: cut by ranges of scores, packed into bytes, put together again.

What is too large for one place is swept in runs. Each run is cut at the same bounds, so that all
rows of one range can be put together without the others: in this process, from a file, or on
another machine. Equal scores never lie in two ranges.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.sweeps.sweep import Floats, Masses, Sweep, sweep

# How many entries; then how each of threshold, pos, neg, pos2, neg2, top is stored.
_HEAD = struct.Struct("<q6s")
_ABSENT = b"-"
# Codes of NumPy's types; of counts the narrowest that holds them all.
_COUNTS: dict[bytes, Any] = {b"b": np.dtype("u1"), b"h": np.dtype("<u2"), b"i": np.dtype("<u4")}
_TYPES: dict[bytes, Any] = _COUNTS | {
    b"q": np.dtype("<i8"),
    b"f": np.dtype("<f4"),
    b"d": np.dtype("<f8"),
}
_CODES = {dtype: code for code, dtype in _TYPES.items()}


def pack(s: Sweep) -> bytes:
    """A sweep as bytes: exact, and 6 bytes for a float32 score that few rows share.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.tables.scans.runs import pack, unpack
    >>> unpack(pack(cs.sweep([1, 0, 1], [0.5, 0.25, 0.1]))).auc
    0.5
    """
    columns = [_narrow(a) for a in (s.threshold, s.pos, s.neg, s.pos2, s.neg2, s.top)]
    codes = b"".join(_ABSENT if a is None else _CODES[a.dtype] for a in columns)
    parts = [_HEAD.pack(len(s), codes), *(a.tobytes() for a in columns if a is not None)]
    return b"".join(parts)


def _narrow(a: Any) -> Any:
    """The same numbers in the narrowest type that has them all."""
    if a is None:
        return None
    if a.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = a.astype("<f4")
        return single if np.array_equal(single, a) else a.astype("<f8", copy=False)
    most = int(a.max(initial=0))
    for dtype in _COUNTS.values():
        if most <= np.iinfo(dtype).max:
            return a.astype(dtype)
    return a.astype("<i8", copy=False)


def stored(data: bytes | bytearray | memoryview) -> list[Any]:
    """The columns of a packed sweep as they lie there: threshold, pos, neg, pos2, neg2, top; None
    for those that are not there."""
    m, codes = _HEAD.unpack_from(data)
    at = _HEAD.size
    columns: list[Any] = []
    for k in range(6):
        code = codes[k : k + 1]
        if code == _ABSENT:
            columns.append(None)
            continue
        columns.append(np.frombuffer(data, _TYPES[code], m, at))
        at += columns[-1].nbytes
    return columns


def unpack(data: bytes | bytearray | memoryview) -> Sweep:
    """The sweep that was packed."""
    return _widen(stored(data))


def _widen(columns: Sequence[Any]) -> Sweep:
    wide: list[Any] = [
        None if a is None else a.astype(np.float64 if a.dtype.kind == "f" else np.int64)
        for a in columns
    ]
    return Sweep._adopt(*wide)


def added(blobs: Sequence[bytes], *, compact: bool) -> Sweep:
    """The sum of packed sweeps. Where most scores are of one row each, to sort the rows once more
    is faster than to merge two and two: it takes the same time for any number of blobs, and reads
    the narrow types that they have.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.tables.scans.runs import added, pack
    >>> added([pack(cs.sweep([1, 0], [3, 1])), pack(cs.sweep([0], [2]))], compact=True).auc
    1.0
    """
    return added_columns([stored(blob) for blob in blobs], compact=compact)


def added_columns(columns: Sequence[Sequence[Any]], *, compact: bool) -> Sweep:
    """The same of columns as :func:`stored` gives them."""
    counted = all(not any(a is not None for a in c[3:]) and c[1].dtype.kind != "f" for c in columns)
    if len(columns) > 1 and counted:
        t, p, q = (np.concatenate(column) for column in list(zip(*columns, strict=True))[:3])
        rows = int(p.sum(dtype=np.int64) + q.sum(dtype=np.int64))
        if rows == len(t):
            return sweep(p, t, compact=compact)
        if rows <= 2 * len(t):
            y = np.zeros(rows, np.uint8)
            y[: int(p.sum(dtype=np.int64))] = 1
            return sweep(y, np.concatenate((np.repeat(t, p), np.repeat(t, q))), compact=compact)
    s = merged([_widen(c) for c in columns])
    return s.compact() if compact else s


def separate(data: bytes | memoryview) -> list[memoryview]:
    """Packed sweeps that were put one after the other.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.tables.scans.runs import pack, separate
    >>> [len(piece) for piece in separate(2 * pack(cs.sweep([1, 0], [3, 1])))]
    [26, 26]
    """
    view, out = memoryview(data), []
    while view:
        m, codes = _HEAD.unpack_from(view)
        widths = (
            _TYPES[codes[k : k + 1]].itemsize for k in range(6) if codes[k : k + 1] != _ABSENT
        )
        end = _HEAD.size + m * sum(widths)
        out.append(view[:end])
        view = view[end:]
    return out


def cut(columns: Sequence[Any], bounds: Floats) -> list[list[Any]]:
    """As :func:`split`, of columns as :func:`stored` gives them."""
    m = len(columns[0])
    # Descending: scores from a bound on are the first so many.
    above = m - np.searchsorted(columns[0][::-1], bounds, side="left")
    ends = [m, *above.tolist(), 0]
    return [[None if a is None else a[high:low] for a in columns] for low, high in pairwise(ends)]


def quantiles(scores: NDArray[Any], ranges: int) -> Floats:
    """Bounds that cut a sample of scores into about equal ranges: at most ranges − 1, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.tables.scans.runs import quantiles
    >>> quantiles(np.arange(8.0), 4).tolist()
    [2.0, 4.0, 6.0]
    """
    rising = np.sort(np.asarray(scores, np.float64))
    if not len(rising):
        return np.empty(0)
    at = np.arange(1, ranges) * len(rising) // ranges
    bounds = np.unique(rising[at])
    return np.asarray(bounds[bounds > rising[0]])


def split(s: Sweep, bounds: Floats) -> list[Sweep]:
    """The pieces of a sweep, upwards: that of k has the scores from bounds[k − 1] on, but none from
    bounds[k] on.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.tables.scans.runs import split
    >>> pieces = split(cs.sweep([1, 0, 1], [3, 2, 1]), np.array([2.0, 5.0]))
    >>> [piece.threshold.tolist() for piece in pieces]
    [[1.0], [3.0, 2.0], []]
    """
    return [
        Sweep._adopt(*part)
        for part in cut((s.threshold, s.pos, s.neg, s.pos2, s.neg2, s.top), bounds)
    ]


def merged(sweeps: Sequence[Sweep]) -> Sweep:
    """The sum of sweeps, two and two: each entry is moved log₂ of their number times."""
    level = [s for s in sweeps if len(s)] or list(sweeps[:1])
    if not level:
        return Sweep(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    while len(level) > 1:
        pairs = [a + b for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def stacked(pieces: Sequence[Sweep]) -> Sweep:
    """One sweep of pieces whose scores lie in ranges of their own, the lowest first."""
    some = [s for s in reversed(pieces) if len(s)] or list(pieces[:1])
    if len(some) == 1:
        return some[0]
    if not some:
        return merged([])
    runs = any(s.merged for s in some)
    weighted = any(s.weighted for s in some)
    squares = all(s.pos2 is not None or not s.weighted for s in some)

    def joined(name: str, instead: str, dtype: type[np.generic]) -> Any:
        columns = [getattr(s, name) for s in some]
        there = [
            getattr(s, instead) if c is None else c for s, c in zip(some, columns, strict=True)
        ]
        return np.concatenate(there).astype(dtype, copy=False)

    mass: Any = np.float64 if weighted else np.int64
    with_squares = weighted and squares
    columns: list[Masses | None] = [
        joined("threshold", "threshold", np.float64),
        joined("pos", "pos", mass),
        joined("neg", "neg", mass),
        joined("pos2", "pos", np.float64) if with_squares else None,
        joined("neg2", "neg", np.float64) if with_squares else None,
        joined("top", "threshold", np.float64) if runs else None,
    ]
    return Sweep._adopt(*columns)
