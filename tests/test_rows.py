"""The rows of ``make rows`` that take no more than a second or so, in every run of the tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "validation"))
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

import rows  # noqa: E402 - found by the path above

ROWS = rows.all_rows()


@pytest.mark.parametrize("row", [r for r in ROWS if not r.slow], ids=lambda row: row.key)
def test_row(row: Any) -> None:
    row.run()


def test_all_rows_are_there() -> None:
    """42 capabilities, and 82 items of the five documents."""
    keys = [r.key for r in ROWS]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if "." not in key] == [str(k) for k in range(1, 43)]
    per_document = {"000": 13, "001": 22, "002": 17, "003": 9, "004": 21}
    assert keys[42:] == [f"{d}.{k}" for d, n in per_document.items() for k in range(1, n + 1)]
    assert sum(per_document.values()) == 82
    assert all(r.name for r in ROWS)


def test_a_row_that_is_not_whole_is_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise AssertionError("1 is not 2")

    found = [rows.Row("1", "one", lambda: None), rows.Row("2", "two", fails)]
    monkeypatch.setattr(rows, "all_rows", lambda: found)
    monkeypatch.setattr(sys, "argv", ["rows.py"])
    assert rows.main() == 1
    out = capsys.readouterr().out
    assert "NOT WHOLE: AssertionError: 1 is not 2" in out
    assert "1 whole, 1 not, 0 left out" in out
