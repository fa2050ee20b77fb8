"""What a saved calibrator is made of: readers of JSON values, named by what they take."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from cutscore._sweep import Floats


def number(value: Any) -> float:
    """a finite number"""
    out = any_number(value)
    if not isfinite(out):
        raise ValueError
    return out


def any_number(value: Any) -> float:
    """a number"""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    if isinstance(value, str) and value not in ("inf", "-inf"):
        raise ValueError
    out = float(value)
    if out != out:  # noqa: PLR0124 - NaN
        raise ValueError
    return out


def positive(value: Any) -> float:
    """a finite number above 0"""
    out = number(value)
    if not out > 0:
        raise ValueError
    return out


def numbers(value: Any) -> Floats:
    """a list of numbers"""
    if not isinstance(value, list):
        raise TypeError
    return np.array([any_number(v) for v in value])


def flag(value: Any) -> bool:
    """true or false"""
    if not isinstance(value, bool):
        raise TypeError
    return value


def text(value: Any) -> str:
    """text"""
    if not isinstance(value, str):
        raise TypeError
    return value


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, tuple):
        return [v.to_dict() for v in value]
    # JSON has no infinity.
    return value if not isinstance(value, float) or isfinite(value) else str(value)
