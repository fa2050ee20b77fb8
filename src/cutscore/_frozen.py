"""Values that can't change: arrays are read-only, and what derives from them is computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

import numpy as np

_T = TypeVar("_T")


class Frozen:
    """A dataclass of arrays that can't be written to, here or in a pickled or deep copy."""

    def __post_init__(self) -> None:
        # A view: the caller's own array stays as it is. By its type's name, which makes a long long
        # from the native core the int64 that NumPy prints without a remark.
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                vars(self)[name] = _read_only(value.view(value.dtype.str))

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


def _read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array
