"""Tests and examples see an installation without LightGBM, unless they are about it.

"auto" also tries LightGBM where that is installed, which takes time and changes what is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Importing it, as the collection of examples does, would hide LightGBM for good.
collect_ignore = ["tests/plain"]

ROOT = Path(__file__).parent
ABOUT = (
    ROOT / "src" / "cutscore" / "detector" / "scorers" / "model.py",
    ROOT / "src" / "cutscore" / "training" / "learners.py",
    ROOT / "docs" / "howto" / "boosting.md",
    ROOT / "docs" / "stories" / "payments.md",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples can't be marked where they are written."""
    for item in items:
        if item.path in ABOUT:
            item.add_marker(pytest.mark.boosting)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hide LightGBM from a test, and from processes that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("boosting") is None:
            patch.setitem(sys.modules, "lightgbm", None)
            paths = [str(ROOT / "tests" / "plain"), os.environ.get("PYTHONPATH")]
            patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        return (yield)
