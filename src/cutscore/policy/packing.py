"""Columns of numbers as text: base64 of zlib of bytes, and back.

A column is a sequence of 64-bit values, little-endian, whose bytes are written in planes: all first
bytes, then all second ones, and so on. Scores fall from entry to entry, so what is written of them
is the first, as an integer that sorts as the score does, and then by how much each is lower than
the one before. That leaves few bytes that differ.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.models import FieldUnfit

_WIDTH = 8
_RULE = "base64 of zlib of so many 64-bit values"


def pack(values: NDArray[np.int64] | NDArray[np.float64]) -> str:
    """Masses as text.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.policy.packing import pack, unpack
    >>> unpack(pack(np.array([3, 1, 2])), 3, np.int64, "pos")
    array([3, 1, 2])
    """
    bits = np.ascontiguousarray(values).view(np.uint64).astype("<u8")
    planes = bits.view(np.uint8).reshape(-1, _WIDTH).T
    return b64encode(zlib.compress(np.ascontiguousarray(planes).tobytes(), 6)).decode()


def unpack(text: str, count: int, dtype: type, where: str) -> NDArray[np.int64 | np.float64]:
    """What :func:`pack` wrote, of so many values; anything else is a DataError."""
    size = count * _WIDTH
    try:
        inflate = zlib.decompressobj()
        # No more than there should be, whatever the text says.
        data = inflate.decompress(b64decode(text, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise DataError(FieldUnfit(where, _RULE)) from None
    if len(data) != size or not inflate.eof:
        raise DataError(FieldUnfit(where, f"{_RULE}: {count:,} of them"))
    planes = np.frombuffer(data, np.uint8).reshape(_WIDTH, -1)
    return np.ascontiguousarray(planes.T).view("<u8").ravel().astype(np.uint64).view(dtype)


def pack_falling(values: NDArray[np.float64]) -> str:
    """Scores that fall, as text.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.policy.packing import pack_falling, unpack_falling
    >>> unpack_falling(pack_falling(np.array([np.inf, 2.5, -1.0])), 3, "threshold")
    array([ inf,  2.5, -1. ])
    """
    keys = _keys(values)
    steps = np.append(keys[:1], keys[:-1] - keys[1:])
    return pack(steps.view(np.int64))


def unpack_falling(text: str, count: int, where: str) -> NDArray[np.float64]:
    """What :func:`pack_falling` wrote."""
    steps = unpack(text, count, np.uint64, where).view(np.uint64)
    with np.errstate(over="ignore"):  # a text that was changed; whoever reads it checks the order
        keys = steps[:1] - np.cumsum(np.append(np.zeros(1, np.uint64), steps[1:]), dtype=np.uint64)
    return _floats(keys[:count])


_SIGN = np.uint64(1 << 63)


def _keys(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Unsigned integers in the order of the floats: negative ones have their bits turned over."""
    bits = (values + 0.0).view(np.uint64)  # + 0.0 makes 0.0 of -0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _floats(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    bits = np.where(keys & _SIGN, keys & ~_SIGN, ~keys)
    return bits.view(np.float64)
