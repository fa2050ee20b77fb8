"""Types of parameters: public signatures say what may be passed, and ``Any`` does not grow back."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import cutscore as cs

SOURCE = Path(cs.__file__).parent
ROOMS = "metrics estimators detector detector.export training spark torch plot tables report linear"
# How many parameters inside may be typed ``Any``; 42 are. Lower it when you can, never raise it.
MOST = 50


def _public() -> dict[str, object]:
    """Everything that a user can import by name."""
    out: dict[str, object] = {name: getattr(cs, name) for name in cs.__all__}
    for room in ROOMS.split():
        module = importlib.import_module(f"cutscore.{room}")
        names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        out |= {f"{room}.{name}": getattr(module, name) for name in names}
    return {
        name: value
        for name, value in out.items()
        if getattr(value, "__module__", "").startswith("cutscore")
    }


def _functions(name: str, value: object) -> Iterator[tuple[str, FunctionType]]:
    """A function, or the methods of a class that users call."""
    if inspect.isfunction(value):
        yield name, value
    elif inspect.isclass(value):
        for kind in value.__mro__:
            if not kind.__module__.startswith("cutscore"):
                continue
            for own, member in vars(kind).items():
                method = getattr(member, "__func__", member)
                called = own[0] != "_" or own in ("__init__", "__call__")
                if called and inspect.isfunction(method):
                    yield f"{name}.{own}", method


def _unsaid(annotation: str) -> bool:
    """Whether a type is left open: an array of any type, and keys of any type, are not."""
    return bool(re.search(r"\bAny\b", re.sub(r"(NDArray|dtype|Mapping)\[Any", "", annotation)))


PUBLIC = _public()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_signature_says_what_may_be_passed(name: str) -> None:
    for where, function in _functions(name, PUBLIC[name]):
        types = function.__annotations__
        untyped = [p for p, t in types.items() if p != "return" and _unsaid(str(t))]
        assert not untyped, f"{where} takes Any: {', '.join(untyped)}"


def test_parameters_typed_any_do_not_grow_back() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                a = node.args
                every = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
                of = [arg for arg in every if arg and arg.annotation is not None]
                found += [
                    f"{path.name}:{node.lineno} {node.name}({arg.arg})"
                    for arg in of
                    if "Any" in re.split(r"\s*\|\s*", ast.unparse(arg.annotation or arg))
                ]
    assert len(found) <= MOST, "\n".join(found)
