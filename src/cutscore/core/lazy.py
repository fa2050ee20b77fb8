"""Names of a package that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(
    package: str, homes: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: ``homes`` says in which of its modules each name lives, and
    ``modules`` where those are that go by a name of their own."""

    def find(name: str) -> Any:
        if modules is not None and name in modules:
            value: Any = import_module(f"{package}.{modules[name]}")
        elif name in homes:
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return find
