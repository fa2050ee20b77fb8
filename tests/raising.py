"""What tests say of errors: their code and fields, never their words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cutscore.core.errors import CutscoreError, CutscoreWarning
from cutscore.core.findings import Where


@contextmanager
def finding(
    code: str, error: type[CutscoreError] = CutscoreError, **fields: Any
) -> Iterator[pytest.ExceptionInfo[CutscoreError]]:
    """An error that carries a finding of this kind, with these fields, its own or its place's."""
    with pytest.raises(error) as caught:
        yield caught
    found = caught.value.finding
    assert found.code == code, found
    assert "\n" not in str(caught.value)
    place = found.where or Where()
    own = {name: getattr(found if hasattr(found, name) else place, name) for name in fields}
    assert own == fields


@contextmanager
def warned(
    code: str, category: type[Warning] = CutscoreWarning, **fields: Any
) -> Iterator[pytest.WarningsRecorder]:
    """Warnings that carry findings of this kind, with these fields."""
    with pytest.warns(category) as caught:
        yield caught
    found = [w.message.finding for w in caught if isinstance(w.message, CutscoreWarning)]
    assert {one.code for one in found} == {code}
    for one in found:
        assert {name: getattr(one, name) for name in fields} == fields
