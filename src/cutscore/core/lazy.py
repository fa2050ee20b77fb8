"""Names of a package that are loaded on first use."""

from __future__ import annotations

import ast
import sys
from importlib import import_module

TYPE_CHECKING = False  # typing is slow to import, and whoever interrupts the command early waits
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def homes(file: str, modules: Mapping[str, str] | None = None) -> dict[str, str]:
    """In which module each name of a package lives, by the stub beside its ``__init__.py``: the one
    list of these names, for type checkers and at run time. ``modules`` are not among them."""
    with open(file.rpartition(".")[0] + ".pyi", encoding="utf-8") as stub:
        tree = ast.parse(stub.read())
    imports = (line for line in tree.body if isinstance(line, ast.ImportFrom))
    found = {name.name: str(line.module) for line in imports for name in line.names}
    return {name: home for name, home in found.items() if name not in (modules or {})}


def attributes(
    package: str, homes: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: ``homes`` says in which module each name lives, and
    ``modules`` which modules go by a name of their own."""

    def find(name: str) -> Any:
        if modules is not None and name in modules:
            value: Any = import_module(modules[name])
        elif name in homes:
            value = getattr(import_module(homes[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return find
