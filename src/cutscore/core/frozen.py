"""Values that can't change: arrays are read-only and their own, and what derives from them is
computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from cutscore.core.html import Card
from cutscore.core.types import Array

_T = TypeVar("_T")


class Frozen(Card):
    """A dataclass of arrays that can't be written to, here or in a pickled or deep copy.

    It owns its arrays: whatever somebody else could still write to is copied. That is every array
    but those that are read-only down to their memory, as the native core and other values of this
    kind have them. What was computed for this value alone is taken without a copy by ``_adopt``.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                own = value if _is_sealed(value) else _read_only(value.copy())
                # By its type's name, which makes a long long from the native core the int64 that
                # NumPy prints without a remark.
                vars(self)[name] = own.view(own.dtype.str)

    @classmethod
    def _adopt(cls, *values: Any, **named: Any) -> Self:
        """A value of new arrays that nobody else holds: they become read-only, and are not
        copied."""
        for value in (*values, *named.values()):
            if isinstance(value, np.ndarray):
                _seal(value)
        return cls(*values, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return type(self), tuple(getattr(self, name) for name in names)


class derived(Generic[_T]):
    """A property that is computed at its first use and kept.

    Like ``functools.cached_property``, but without the lock that Python 3.11 holds for all
    instances of a class while one computes: a process forked meanwhile would wait for ever.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> derived[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        value = self.compute(instance)
        if isinstance(value, np.ndarray):
            _read_only(value)
        vars(instance)[self.name] = value
        return value


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _seal(array: object) -> None:
    """Make an array read-only, and all that it is a view of."""
    while isinstance(array, np.ndarray):
        array = _read_only(array).base


def _is_sealed(array: object) -> bool:
    """Whether nobody can write to the memory of an array: NumPy's own, or the native core's. Of
    others, such as Arrow's or a file's, nobody knows."""
    while isinstance(array, (np.ndarray, memoryview)):
        if isinstance(array, memoryview):
            array = array.obj
        elif array.flags.writeable:
            return False
        else:
            array = array.base
    return array is None or type(array).__module__ == "nanobind"
