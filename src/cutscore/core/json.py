"""Frozen dataclasses as JSON and back: one writer and one reader, by their annotations.

A field is saved unless it is declared with ``compare=False``. What it may hold is its annotation:
numbers are finite unless they are :data:`Extended`, and ``Annotated[float, Rule]`` narrows them. A
class with ``to_dict`` and ``from_dict`` of its own is asked. ``Any`` is a count, or a sum of
weights. All fields must be there, and no others.
"""

from __future__ import annotations

import hashlib
import json
import re
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import isfinite, isinf
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings.base import Finding, Shown
from cutscore.core.findings.models import FieldUnfit, FormatUnknown, NotJson


@dataclass(frozen=True)
class Rule:
    """Between what a number must lie."""

    text: str
    low: float = -np.inf
    high: float = np.inf
    open: bool = False
    """Whether it may not be ``low`` itself."""

    def holds(self, value: float) -> bool:
        """Whether a number keeps to it."""
        above = value > self.low if self.open else value >= self.low
        return above and value <= self.high


Extended = Annotated[float, Rule("a number, or 'inf' or '-inf'")]
Positive = Annotated[float, Rule("a finite number above 0", 0.0, open=True)]
Share = Annotated[float, Rule("a number from 0 to 1", 0.0, 1.0)]
Count = Annotated[int, Rule("an integer of at least 0", 0, 2**63 - 1)]
Mass = Annotated[float, Rule("a number of at least 0", 0.0)]


def to_plain(value: object) -> Any:  # noqa: PLR0911 - one for each kind
    """A value as numbers, text, lists and dictionaries; infinity, which JSON has not, as text.

    Examples
    --------
    >>> from cutscore import Interval
    >>> from cutscore.core.json import to_plain, read
    >>> to_plain(Interval(0.0, float("inf"), 0.95))
    {'low': 0.0, 'high': 'inf', 'level': 0.95}
    >>> read(Interval, {"low": 0.25, "high": 0.5, "level": 0.95})
    [0.25, 0.5] at 95 %
    """
    if isinstance(value, Finding):
        return value.as_dict()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value) if f.compare}
    if hasattr(value, "_asdict"):
        return to_plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: to_plain(one) for name, one in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    return str(value) if isinstance(value, float) and isinf(value) else value


def read(kind: Any, data: object, where: str = "") -> Any:  # noqa: PLR0911 - one for each kind
    """The value of this kind that ``to_plain`` made ``data`` of; anything else is a DataError that
    says where in the file it is."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated or kind in (Any, float, int):
        return _read_number(kind, data, where)
    if kind in (str, bool):
        return data if type(data) is kind else _refuse(where, _WORDS[kind], data)
    if origin in (Union, types.UnionType):
        return _read_union(inner, data, where)
    if origin is Literal:
        return data if data in inner else _refuse(where, " or ".join(map(str, inner)), data)
    if origin in (tuple, np.ndarray):
        return _read_sequence(kind, data, where)
    if origin is not None:  # a mapping
        return {
            name: read(inner[1], one, _join_path(where, name))
            for name, one in _require_object(data, where).items()
        }
    if kind is Finding:
        return _read_finding(data, where)
    if hasattr(kind, "from_dict"):
        return kind.from_dict(data, where)
    return read_fields(kind, data, where)


def _read_finding(data: object, where: str) -> Finding:
    try:
        return Finding.from_dict(_require_object(data, where))
    except (KeyError, TypeError, ValueError, AttributeError):
        return _refuse(where, "a finding", data)


def read_fields(kind: Any, data: object, where: str = "") -> Any:
    """The dataclass, or named tuple, that has these fields."""
    hints, there = _field_types(kind), _require_object(data, where)
    odd = [name for name in there if name not in hints]
    if odd:
        raise DataError(FieldUnfit(_join_path(where, odd[0]), "known"))
    for name in hints:
        if name not in there:
            raise DataError(FieldUnfit(_join_path(where, name), "present"))
    values = {
        name: read(hint, there[name], _join_path(where, name)) for name, hint in hints.items()
    }
    try:
        return kind(**values)
    except DataError as error:
        raise DataError(error.finding.at(part=where)) if where else error from error


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    if not is_dataclass(kind):
        return {name: hints[name] for name in kind._fields}
    return {f.name: hints[f.name] for f in fields(kind) if f.compare}


_WORDS: dict[Any, str] = {str: "text", bool: "true or false"}
_FINITE: dict[Any, Rule] = {float: Rule("a finite number"), int: Rule("an integer")}


def _join_path(where: str, name: object) -> str:
    return f"{where}.{name}" if where else str(name)


def _refuse(where: str, wanted: str, data: object) -> NoReturn:
    raise DataError(FieldUnfit(where or "it", wanted, data))


def _require_object(data: object, where: str) -> dict[str, Any]:
    return data if isinstance(data, dict) else _refuse(where, "an object", data)


def _read_number(kind: Any, data: object, where: str) -> Any:
    if kind is Extended and data in ("inf", "-inf"):
        return float(data)
    if kind is Any:
        kind = Annotated[int if isinstance(data, int) else float, get_args(Mass)[1]]
    of, rule = get_args(kind) or (kind, _FINITE[kind])
    allowed = int if of is int else (int, float)
    if isinstance(data, allowed) and not isinstance(data, bool):
        with suppress(OverflowError):  # a whole number past every float
            if isfinite(data) and rule.holds(data):
                return of(data)
    return _refuse(where, rule.text, data)


def _read_sequence(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, list):
        _refuse(where, "a list", data)
    inner = get_args(kind)
    if get_origin(kind) is np.ndarray:
        return np.array([read(Extended, one, f"{where}[{k}]") for k, one in enumerate(data)])
    if inner[-1] is not Ellipsis and len(inner) != len(data):
        _refuse(where, f"a list of {len(inner)}", data)
    kinds = [inner[0]] * len(data) if inner[-1] is Ellipsis else inner
    return tuple(
        read(of, one, f"{where}[{k}]") for k, (of, one) in enumerate(zip(kinds, data, strict=True))
    )


def _read_union(kinds: tuple[Any, ...], data: object, where: str) -> Any:
    """One of several classes, or of several plain values."""
    if data is None and types.NoneType in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not types.NoneType)
    if len(kinds) == 1:
        return read(kinds[0], data, where)
    classes: list[Any] = [kind for kind in kinds if is_dataclass(kind)]
    if classes and type(data) not in kinds:
        # The one whose fields it has; of a file that is wrong, the nearest.
        names = set(_require_object(data, where))
        return read_fields(
            min(classes, key=lambda c: len(names ^ set(_field_types(c)))), data, where
        )
    if type(data) in kinds and (not isinstance(data, float) or isfinite(data)):
        return data
    return _refuse(where, "a number, true, false or text", data)


def loads(text: str | bytes, what: str) -> Any:
    """JSON, in which no key is there twice and every number is finite."""
    try:
        if isinstance(text, bytes | bytearray):
            text = text.decode("utf-8")
        return json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except DataError:
        raise
    except UnicodeDecodeError:
        raise DataError(NotJson(what, "this is not UTF-8")) from None
    except RecursionError:
        raise DataError(NotJson(what, "this is nested too deeply")) from None
    except (TypeError, ValueError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise DataError(NotJson(what, "this is not valid JSON", line)) from None


def _no_constant(name: str) -> NoReturn:
    raise DataError(FieldUnfit("a number", "finite", Shown(name)))


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(FieldUnfit(twice, "unique"))
    return out


def dumps(data: object) -> str:
    """Readable JSON: lists of numbers are on one line. Lone surrogates, which no UTF-8 file can
    hold, are escaped with everything else that is not ASCII; names in other scripts are worth
    reading."""
    out = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1)
    try:
        out.encode("utf-8")
    except UnicodeEncodeError:
        out = json.dumps(data, ensure_ascii=True, allow_nan=False, indent=1)
    return _NUMBERS.sub(lambda found: " ".join(found[0].split()), out)


# A line break never stands inside of a text.
_NUMBERS = re.compile(r"\[\n[-+.\deE,\s]*\]")


def with_format(name: str, version: int, fields: Mapping[str, object]) -> dict[str, Any]:
    """Fields as a file has them, under the name of their format."""
    return {"format": name, "version": version} | {k: to_plain(v) for k, v in fields.items()}


def without_format(name: str, version: int, data: object) -> dict[str, Any]:
    """The fields of what :func:`with_format` made; anything else is a DataError."""
    if not isinstance(data, Mapping) or data.get("format") != name:
        raise DataError(
            FormatUnknown(data.get("format") if isinstance(data, Mapping) else data, name)
        )
    found = data.get("version")
    if found != version or isinstance(found, bool):
        raise DataError(FormatUnknown(f"{name} {found}", f"{name} {version}"))
    return {field: value for field, value in data.items() if field not in ("format", "version")}


def digest(data: object) -> str:
    """SHA-256 of the values without spaces, in their order."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
