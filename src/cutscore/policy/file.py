"""A policy as JSON, and back: readable, versioned, and read only after everything was checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from cutscore.core.errors import DataError
from cutscore.core.findings import Where
from cutscore.core.findings.models import FieldUnfit, FormatUnknown, ModelChanged, NotAModel
from cutscore.core.findings.tables import FileMissing, FileUnreadable
from cutscore.core.json import digest, dumps, loads, read_fields, to_plain
from cutscore.policy.artefact import Policy

FORMAT = "cutscore.policy/1"

# A file of more bytes is no artefact that anybody wrote.
_MOST = 1 << 28
# What a file of JSON may have in front: a byte order mark, and space.
_BEFORE = b"\xef\xbb\xbf \t\r\n"
_RULES = ("flag iff score >= threshold", "flag iff score <= threshold")
_THREE_WAY_RULES = (
    "block iff score >= the second threshold, else review iff score >= the first, else pass",
    "block iff score <= the second threshold, else review iff score <= the first, else pass",
)

_GROUP_RULES = (
    "flag iff score >= the threshold of the row's group",
    "flag iff score <= the threshold of the row's group",
)

_ROW_RULES = (
    "flag iff LLR + ln((fn + tp) / (fp + tn)) >= threshold",
    "flag iff LLR of -score + ln((fn + tp) / (fp + tn)) >= threshold",
)

_OPTIONAL = ("groups", "row_costs")

_T = TypeVar("_T")


def as_dict(p: Policy) -> dict[str, Any]:
    values = {f.name: to_plain(getattr(p, f.name)) for f in fields(p)}
    # Last, since it is long.
    evidence = values.pop("evidence")
    for name in _OPTIONAL:
        part = values.pop(name)
        if part is not None:
            values[name] = part
    rules = _GROUP_RULES if p.cuts.groups else _THREE_WAY_RULES if p.three_way else _RULES
    rules = rules if p.row_costs is None else _ROW_RULES
    return {"format": FORMAT, "rule": rules[p.reverse]} | values | {"evidence": evidence}


def as_text(p: Policy) -> str:
    data = as_dict(p)
    return dumps(data | {"checksum": digest(data)})


def from_dict(data: object, where: str = "") -> Policy:
    saved = check_format(data, FORMAT)
    values = {name: value for name, value in saved.items() if name not in ("format", "rule")}
    # Most policies have no such field.
    policy: Policy = read_fields(Policy, dict.fromkeys(_OPTIONAL) | values, where)
    return policy


def from_text(data: str | bytes, *, verify: bool = True) -> Policy:
    parsed = loads(data, "a policy")
    check_format(parsed, FORMAT)
    checksum = parsed.pop("checksum", None)
    policy = from_dict(parsed)
    if verify and checksum != digest(parsed):
        raise DataError(ModelChanged("Policy"))
    return policy


def from_file(path: str | os.PathLike[str], *, verify: bool = True) -> Policy:
    return read_artefact(path, lambda data: from_text(data, verify=verify))


def check_format(data: object, wanted: str) -> dict[str, Any]:
    """An object of this format; what is none, or of another version of it, is refused."""
    if not isinstance(data, dict) or not isinstance(data.get("format"), str):
        raise DataError(FieldUnfit("format", "present"))
    if data["format"] != wanted:
        raise DataError(FormatUnknown(data["format"], wanted))
    return data


def read_artefact(path: str | os.PathLike[str], parse: Callable[[bytes], _T]) -> _T:
    """What a file holds, by a function of its bytes; errors say which file it is."""
    where = os.fspath(path)
    place = Where(file=where)
    try:
        if os.path.isdir(path):
            raise DataError(FileUnreadable("it is a folder", where=place))
        if os.path.getsize(path) > _MOST:
            raise DataError(FileUnreadable("it is larger than 256 MB", where=place))
        with open(path, "rb") as file:
            data = file.read(_MOST)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(FileMissing(where=place)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(FileUnreadable(str(reason), where=place)) from error
    # An empty file may be the rest of one.
    if data and not data.lstrip(_BEFORE).startswith(b"{"):
        raise DataError(NotAModel(where))
    try:
        return parse(data)
    except DataError as error:
        raise DataError(error.finding.at(file=where, part=where)) from error
