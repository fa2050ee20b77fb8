"""Ours where the input is plain, scikit-learn's own function where it is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

from cutscore.core.findings.arguments import installed_by

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Irregular(Exception):
    """Not a plain case: scikit-learn's own function answers it, or refuses it."""


def require_known(condition: object, rule: str) -> None:
    """Leave the input to scikit-learn unless the condition holds."""
    if not condition:
        raise Irregular(rule)


def drop_in(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Hand irregular input on, as it came, to the function of the same name in scikit-learn."""

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except Irregular as error:
            why = str(error)
        except TypeError as error:
            # Only of the call itself, when the arguments don't match the signature.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            why = str(error)
        # Outside the handlers, or scikit-learn's errors would name ours as their context.
        return cast(_R, sklearn_function(function.__name__, why)(*args, **kwargs))

    return wrapper


def sklearn_function(name: str, why: str) -> Callable[..., Any]:
    """The function of that name in ``sklearn.metrics``, imported only now."""
    try:
        return cast(Callable[..., Any], getattr(import_module("sklearn.metrics"), name))
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{name} leaves this input to scikit-learn, which is not installed: {why}. "
            f"Correct the input, or {installed_by('sklearn')}."
        ) from None
