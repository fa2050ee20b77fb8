"""Findings: facts with a code, which every surface words and nobody reads."""

from __future__ import annotations

import json
import pickle
import re
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from cutscore.core.errors import CutscoreWarning, DataError, UndefinedError
from cutscore.core.findings import (
    COMMAND,
    PYTHON,
    BadArgument,
    Conflict,
    Finding,
    Fix,
    Where,
    dumps,
    kinds,
    loads,
)
from cutscore.core.findings.base import Foreign, Shown, counted, either, some
from cutscore.core.findings.page import page

KINDS = list(kinds().values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_kind_is_whole(kind: type[Finding]) -> None:
    """Code, meaning, an example that is worded on every surface, and a way through JSON."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", kind.code)
    assert is_dataclass(kind)
    assert kind.__doc__
    assert not kind.__doc__.startswith(kind.__name__ + "(")
    example = kind(**kind.example)
    for surface in (PYTHON, COMMAND):
        text = example.render(surface)
        assert text.endswith((".", "?"))
        assert "  " not in text
    assert loads(dumps(example)) == example
    assert pickle.loads(pickle.dumps(example)) == example
    hash(example)


def test_the_page_of_messages_is_theirs() -> None:
    written = Path(__file__).parents[1] / "docs" / "messages.md"
    assert written.read_text("utf-8") == page(), "make messages writes it anew"


def test_a_code_belongs_to_one_kind() -> None:
    with pytest.raises(TypeError, match="bad-argument"):
        type("Twin", (Finding,), {}, code="bad-argument")


def test_a_kind_that_is_not_known_keeps_its_text() -> None:
    data = BadArgument("folds", "be whole", 1.5).as_dict() | {"code": "from-the-future"}
    found = Finding.from_dict(json.loads(json.dumps(data)))
    assert isinstance(found, Foreign)
    assert found.render() == "folds must be whole, got 1.5."
    assert found.name == "from-the-future"


def test_values_are_kept_small() -> None:
    """An error that somebody keeps does not keep their table."""
    found = BadArgument("y", "be a column", np.zeros((1000, 1000)))
    assert isinstance(found.value, Shown)
    assert len(found.value) < 300
    assert loads(dumps(found)).render() == found.render()
    assert len(BadArgument("y", "be short", "x" * 10**6).render()) < 300


@pytest.mark.parametrize(
    ("surface", "text"),
    [
        (PYTHON, "score[3], positive='is fraud', positive=..."),
        (COMMAND, "the score of row 4, --positive 'is fraud', --positive VALUE"),
    ],
)
def test_surfaces_name_places_and_fixes(surface: object, text: str) -> None:
    where = Where(row=3, parameter="score")
    fixes = [Fix("positive", "is fraud"), Fix("positive")]
    said = ", ".join([surface.place(where), *map(surface.fix, fixes)])  # type: ignore[attr-defined]
    assert said == text


def test_places_of_tables() -> None:
    assert PYTHON.place(Where(row=3, column="amount")) == "row 4 of 'amount'"
    place = Where(row=1999, column="x", file="a.csv", line=2001)
    assert COMMAND.place(place) == "row 2,000 of 'x' (line 2,001 of a.csv)"


def test_conflicts_name_options() -> None:
    found = Conflict(("costs", "maximize"), "there must be one aim")
    assert found.render() == "there must be one aim. Use costs or maximize, not both."
    assert found.render(COMMAND).endswith("Use --cost or --maximize, not both.")


def test_parts_stand_in_front() -> None:
    found = BadArgument("level", "be between 0 and 1", 2).at(part="score a")
    assert found.render() == "score a: level must be between 0 and 1, got 2."
    assert found.where == Where(part="score a")


@pytest.mark.parametrize("carrier", [DataError, UndefinedError, CutscoreWarning])
def test_errors_and_warnings_carry_findings(carrier: type[DataError]) -> None:
    found = BadArgument("level", "be between 0 and 1", 2)
    error = pickle.loads(pickle.dumps(carrier(found)))
    assert error.finding == found
    assert str(error) == found.render()


def test_warnings_are_findings() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(CutscoreWarning(BadArgument("a", "be b")), stacklevel=1)
    assert caught[0].message.finding.code == "bad-argument"  # type: ignore[union-attr]


def test_words() -> None:
    assert counted(1, "row") == "1 row"
    assert counted(2000, "row") == "2,000 rows"
    assert either(["a"]) == "'a'"
    assert either(["a", "b", "c"]) == "'a', 'b' or 'c'"
    assert some(range(7)) == "0, 1, 2, 3, 4, … (7 in all)"
    assert {f.name for f in fields(Finding)} == {"where", "fixes"}
