"""A detector as JSON, and back: readable, versioned, and read only after everything was checked."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from cutscore.core.errors import DataError
from cutscore.core.findings.models import FieldUnfit, FormatUnknown, ModelChanged
from cutscore.core.json import digest, dumps, loads, read_fields, to_plain
from cutscore.detector.artefact import Detector
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.policy import Policy
from cutscore.policy import file as policy_file

FORMAT = "cutscore.detector/3"
_RULE = "the scorer gives each row a score; the policy says which scores are flagged"


def as_dict(d: Detector) -> dict[str, Any]:
    if isinstance(d.scorer, ColumnScorer):
        return d.policy.to_dict()
    # The policy last, since its evidence is long.
    names = ("scorer", "training", "policy")
    return {"format": FORMAT, "rule": _RULE} | {n: to_plain(getattr(d, n)) for n in names}


def as_text(d: Detector) -> str:
    if isinstance(d.scorer, ColumnScorer):
        return d.policy.to_json()
    data = as_dict(d)
    return dumps(data | {"checksum": digest(data)})


def from_text(data: str | bytes, *, verify: bool = True) -> Detector:
    parsed = loads(data, "a model")
    known = (FORMAT, policy_file.FORMAT)
    if not isinstance(parsed, dict) or not isinstance(parsed.get("format"), str):
        raise DataError(FieldUnfit("format", "present"))
    if parsed["format"] not in known:
        raise DataError(FormatUnknown(parsed["format"], " and ".join(known)))
    checksum = parsed.pop("checksum", None)
    if parsed["format"] == FORMAT:
        values = {name: value for name, value in parsed.items() if name not in ("format", "rule")}
        detector: Detector = read_fields(Detector, values)
    else:
        detector = Detector.of_policy(Policy.from_dict(parsed))
    if verify and checksum != digest(parsed):
        raise DataError(ModelChanged())
    return detector


def from_file(path: str | os.PathLike[str], *, verify: bool = True) -> Detector:
    d = policy_file.read_artefact(path, lambda data: from_text(data, verify=verify))
    return replace(d, scorer=d.scorer.moved(os.path.dirname(os.fspath(path)), ""))
