"""The schema of policies is what the library writes and reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import cutscore as cs
from cutscore.policy import Labels, Policy, Provenance
from test_policy_export import POLICIES

PATH = Path(cs.__file__).parent / "policy" / "policy.schema.json"
SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def drawn(n: int = 3000, **more: Any) -> cs.Sweep:
    rng = np.random.default_rng(5)
    y = rng.random(n) < 0.3
    weight = rng.random(n) if more.get("squares") else None
    return cs.sweep(y, rng.standard_normal(n) + y, weight, **more)


def by_row(n: int, **more: Any) -> Policy:
    rng = np.random.default_rng(6)
    y, amount = rng.random(n) < 0.3, rng.lognormal(3, 1, n).round(2)
    costs, columns = cs.Costs(fp=4, fn="0.8*amount"), {"amount": amount}
    score = rng.standard_normal(n).round(1) + y
    return Policy.choose_by_row(y, score, costs, columns, calibrator="platt", **more)


SAVED = POLICIES | {
    "row costs": by_row(60),
    "row costs, packed": by_row(3000, evidence="scores"),
    "packed": Policy.choose(drawn(), "f1"),
    "corners": Policy.choose(drawn(), cs.Aim("recall", "fpr <= 5 %"), evidence="corners"),
    "few corners": Policy.choose(drawn(500), "f1", evidence="corners"),
    "blocks": Policy.choose(drawn(), "f1", evidence="blocks"),
    "weighted": Policy.choose(drawn(squares=True), "f1", evidence="corners"),
    "labelled": Policy.choose(
        drawn(),
        "f1",
        labels=Labels("yes", None, "ill", ("no", "maybe")),
        provenance=Provenance("cross-fitted, 5 folds", command="cutscore fit", time="2026-01-01"),
    ),
}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", SAVED)
def test_saved_policies_fit(name: str) -> None:
    VALIDATOR.validate(json.loads(SAVED[name].to_json()))


def _paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where there are objects."""
    out = [at] if isinstance(value, dict) else []
    children = value.items() if isinstance(value, dict) else []
    return out + [path for key, one in children for path in _paths(one, (*at, key))]


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize("name", ["spline", "beta", "corners", "row costs"])
def test_what_the_library_refuses_the_schema_refuses(name: str) -> None:
    """Fields that are missing or unknown, in every object of the file."""
    text = SAVED[name].to_json()
    for path in _paths(json.loads(text)):
        if path[:1] == ("promises",) and len(path) == 1:
            continue  # any measure may be promised, or none
        for key in [*_at(json.loads(text), path), "odd"]:
            data = json.loads(text)
            inside = _at(data, path)
            if key == "odd":
                inside[key] = 1
            else:
                del inside[key]
            assert not VALIDATOR.is_valid(data), (path, key)
            with pytest.raises(cs.DataError):
                Policy.from_json(json.dumps(data))
