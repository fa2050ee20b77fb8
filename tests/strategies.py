"""Hypothesis strategies for rows, biased to where sweeps break: ties, near-ties and odd memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[Any]

SPECIAL = (0.0, -0.0, np.inf, -np.inf, 1.0, 0.5, 0.1)


class Case(NamedTuple):
    """Labels 0/1 and scores of the same length."""

    y: Array
    score: Array


@st.composite
def scores(draw: st.DrawFn, n: int, dtype: type[np.floating[Any]]) -> Array:
    """n scores from a small pool: drawn values, their neighbours, both zeros and infinities."""
    info = np.finfo(dtype)
    width = 8 * np.dtype(dtype).itemsize
    anchors = draw(st.lists(st.floats(width=width, allow_nan=False), min_size=1, max_size=6))
    ends = [info.smallest_subnormal, info.tiny, info.max, -info.max]
    pool = np.array([*anchors, *SPECIAL, *ends], dtype)
    with np.errstate(all="ignore"):  # the neighbour of max is inf, that of 0 a denormal
        neighbours = [np.nextafter(pool, dtype(end)) for end in (-np.inf, np.inf)]
    pool = np.concatenate((pool, *neighbours))
    picked = draw(st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=8))
    at = draw(st.lists(st.sampled_from(picked), min_size=n, max_size=n))
    return pool[at]


@st.composite
def rows(draw: st.DrawFn, *, least: int = 0, most: int = 40, both: bool = False) -> Case:
    """Rows with int64 labels 0/1; with `both`, at least one of each class."""
    n = draw(st.integers(max(least, 2 if both else 0), most))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.int64)
    if both:
        y[:2] = (0, 1) if draw(st.booleans()) else (1, 0)
    return Case(y, draw(scores(n, draw(st.sampled_from((np.float32, np.float64))))))


def weights(n: int, *, exact: bool = False) -> st.SearchStrategy[Array]:
    """n weights: small integers if `exact`, else zeros, denormals, tiny, huge and plain ones."""
    if exact:
        one: st.SearchStrategy[float] = st.integers(0, 9).map(float)
    else:
        one = st.sampled_from((0.0, 5e-324, 1e-300, 1e-9, 0.1, 0.3, 1.0, 7.0, 1e9, 1e300))
    return st.lists(one, min_size=n, max_size=n).map(lambda w: np.array(w, np.float64))


def _strided(a: Array) -> Array:
    out = np.zeros(3 * len(a), a.dtype)[::3]
    out[:] = a
    return out


def _negative_stride(a: Array) -> Array:
    return a[::-1].copy()[::-1]


def _column(a: Array) -> Array:
    out = np.zeros((len(a), 5), a.dtype)
    out[:, 2] = a
    return out[:, 2]


def _unaligned(a: Array) -> Array:
    if a.dtype.hasobject:  # NumPy has no such arrays of references
        return a.copy()
    out = np.frombuffer(bytearray(1 + a.nbytes), np.uint8)[1:].view(a.dtype)
    out[:] = a
    return out


def _field(a: Array) -> Array:
    """A packed record's field: its stride is no multiple of its size."""
    out = np.zeros(len(a), np.dtype([("pad", "u1"), ("value", a.dtype)]))
    out["value"] = a
    return out["value"]


def _byte_swapped(a: Array) -> Array:
    return a.astype(a.dtype.newbyteorder())


def _read_only(a: Array) -> Array:
    out = a.copy()
    out.setflags(write=False)
    return out


LAYOUTS: tuple[Callable[[Array], Any], ...] = (
    np.ascontiguousarray,
    _strided,
    _negative_stride,
    _column,
    _unaligned,
    _field,
    _byte_swapped,
    _read_only,
    list,
    memoryview,
)


def layouts() -> st.SearchStrategy[Callable[[Array], Any]]:
    return st.sampled_from(LAYOUTS)


LABEL_TYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "O")


@st.composite
def label_columns(draw: st.DrawFn, y: Array) -> Array:
    """The same labels 0/1 in any type; or as -1/1 where the type has a sign."""
    kind = draw(st.sampled_from(LABEL_TYPES))
    if kind[0] not in "?u" and draw(st.booleans()):
        y = 2 * y - 1
    return y.astype(kind)
