"""The API page names every public name, and every public name has an example that runs."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import cutpoint

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGE, re.MULTILINE)


def public() -> dict[str, object]:
    names = {f"cutpoint.{name}": getattr(cutpoint, name) for name in cutpoint._HOME}
    for short in cutpoint._MODULES:
        module = import_module(f"cutpoint.{short}")
        names |= {f"cutpoint.{short}.{name}": getattr(module, name) for name in module.__all__}
    return names


def test_the_api_page_is_complete():
    assert sorted(LISTED) == sorted(public())


@pytest.mark.parametrize("name", sorted(public()))
def test_every_public_name_is_documented_and_exemplified(name):
    value = public()[name]
    text = inspect.getdoc(value) or ""
    assert len(text.split()) >= 5
    if not (isinstance(value, type) and issubclass(value, Exception)):
        # A result is exemplified where it is made, and says where that is.
        makers = re.findall(r"`cutpoint\.(\w+)", text) if isinstance(value, type) else []
        assert ">>>" in text or any(">>>" in getattr(cutpoint, m).__doc__ for m in makers)
