"""What an error must be about: its code and its fields, never its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cutscore.errors import CutscoreError
from cutscore.findings import Finding, Where


@contextmanager
def finds(code: str, **fields: Any) -> Iterator[list[Finding]]:
    """As ``pytest.raises``: the error's finding must have this code and these fields, of its own or
    of its place."""
    out: list[Finding] = []
    with pytest.raises(CutscoreError) as error:
        yield out
    found = error.value.finding
    out.append(found)
    assert found.code == code, str(error.value)
    assert "\n" not in str(error.value)
    for name, value in fields.items():
        place = found.where or Where()
        has = getattr(found, name) if hasattr(found, name) else getattr(place, name)
        assert has == value, f"{name} is {has!r}: {error.value}"
