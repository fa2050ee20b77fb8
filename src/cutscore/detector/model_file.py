"""A detector as JSON, and back: readable, versioned, and read only after everything was checked."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

from cutscore.core.errors import DataError
from cutscore.core.findings import Where
from cutscore.core.findings.models import (
    FieldUnfit,
    FormatUnknown,
    ModelChanged,
    NotAModel,
)
from cutscore.core.findings.tables import FileMissing, FileUnreadable
from cutscore.core.json import digest, dumps, loads, read_fields, to_plain
from cutscore.detector.artefact import Detector

FORMAT = "cutscore.detector/2"

# A file of more bytes is no detector that anybody wrote.
_MOST = 1 << 28
# What a file of JSON may have in front: a byte order mark, and space.
_BEFORE = b"\xef\xbb\xbf \t\r\n"
_RULE = (
    "flag iff score >= threshold; score = base + the sum over terms of weight * (value - mean), or "
    "of the weight of the level"
)


def as_dict(d: Detector) -> dict[str, Any]:
    values = {f.name: to_plain(getattr(d, f.name)) for f in fields(d)}
    return {"format": FORMAT, "rule": _RULE} | values


def as_text(d: Detector) -> str:
    data = as_dict(d)
    return dumps(data | {"checksum": digest(data)})


def from_file(path: str | os.PathLike[str], *, verify: bool = True) -> Detector:
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
        return from_text(data, verify=verify)
    except DataError as error:
        raise DataError(error.finding.at(file=where, part=where)) from error


def from_text(data: str | bytes, *, verify: bool = True) -> Detector:
    parsed = loads(data, "a detector")
    if not isinstance(parsed, dict) or not isinstance(parsed.get("format"), str):
        raise DataError(FieldUnfit("format", "there"))
    if parsed["format"] != FORMAT:
        raise DataError(FormatUnknown(parsed["format"], FORMAT))
    checksum = parsed.pop("checksum", None)
    values = {name: value for name, value in parsed.items() if name not in ("format", "rule")}
    detector: Detector = read_fields(Detector, values)
    if verify and checksum != digest(parsed):
        raise DataError(ModelChanged())
    return detector
