"""A detector as JSON, and back: readable, versioned, and read only after everything was checked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from cutscore._check import shown
from cutscore._interval import Interval
from cutscore._names import spelled
from cutscore.calibration.calibrators import Calibrator
from cutscore.calibration.reading import any_number, number, plain, positive, text
from cutscore.confusion import Confusion
from cutscore.detector.artefact import Detector, Training, is_label
from cutscore.detector.columns import CategoryColumn, NumberColumn
from cutscore.detector.terms import CategoryTerm, NumberTerm, Term
from cutscore.errors import DataError
from cutscore.objectives import Costs
from cutscore.selection import Expected

FORMAT = "cutscore.detector/1"

# A file of more bytes is no detector that anybody wrote.
_MOST = 1 << 28
# What a file of JSON may have in front: a byte order mark, and space.
_BEFORE = b"\xef\xbb\xbf \t\r\n"

Reader = Callable[[Any], Any]


class NoModel(DataError):
    """A file that nobody wrote as a detector."""


def as_dict(d: Detector) -> dict[str, Any]:
    t = d.training
    return {
        "format": FORMAT,
        "library": d.library,
        "target": {
            "column": d.target,
            "positive": d.positive,
            "labels": None if d.labels is None else list(d.labels),
        },
        "rule": "flag iff score >= threshold; score = base + the sum over columns of "
        "weight * (value - mean), or of the weight of the level",
        "threshold": plain(d.threshold),
        "prior": d.prior,
        "costs": None
        if d.costs is None
        else {name: getattr(d.costs, name) for name in ("fp", "fn", "tp", "tn")},
        "chosen_for": {
            "objective": d.objective,
            "limits": list(d.limits),
            "confidence": d.confidence,
        },
        "base": d.base,
        "columns": [_term(term) for term in d.terms],
        "calibrator": d.calibrator.to_dict(),
        "training": {
            "rows": t.rows,
            "positives": t.positives,
            "learner": t.learner,
            "auc": t.auc,
            "auc_interval": None
            if t.auc_interval is None
            else {name: getattr(t.auc_interval, name) for name in ("low", "high", "level")},
            "confusion": None
            if t.confusion is None
            else {name: getattr(t.confusion, name) for name in ("tp", "fp", "fn", "tn")},
            "expected": {name: e._asdict() for name, e in t.expected.items()},
            "notes": list(t.notes),
        },
        "fingerprint": d.fingerprint,
    }


def _term(term: Term) -> dict[str, Any]:
    c = term.column
    head = {"name": c.name, "kind": c.kind}
    if isinstance(term, NumberTerm):
        return head | {
            "weight": term.weight,
            "mean": term.column.mean,
            "scale": term.column.scale,
            "range": None if term.column.low is None else [term.column.low, term.column.high],
            "missing": {"weight": term.missing, "share": c.missing},
        }
    if c.kind == "category":
        head["type"] = term.column.level_type
    return head | {
        "levels": [
            {"value": value, "weight": weight, "share": share}
            for value, weight, share in zip(
                term.column.levels, term.weights, term.column.shares, strict=True
            )
        ],
        "other": {"weight": term.other, "share": term.column.other},
        "missing": {"weight": term.missing, "share": c.missing},
    }


def as_text(d: Detector) -> str:
    data = as_dict(d)
    return _dumps(data | {"checksum": _checksum(data)}, indent=1)


def _dumps(data: Any, **more: Any) -> str:
    # Lone surrogates, which no UTF-8 file can hold, are escaped with everything else that is not
    # ASCII; names in other scripts are worth reading.
    try:
        out = json.dumps(data, ensure_ascii=False, allow_nan=False, default=_item, **more)
        out.encode("utf-8")
    except UnicodeEncodeError:
        out = json.dumps(data, ensure_ascii=True, allow_nan=False, default=_item, **more)
    return out


def _item(value: Any) -> Any:
    """Counts that NumPy made, as plain numbers."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _checksum(data: Mapping[str, Any]) -> str:
    """SHA-256 of the values without spaces, in their order."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), default=_item)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def from_file(path: str | os.PathLike[str], *, verify: bool = True) -> Detector:
    where = spelled(path)
    try:
        if os.path.isdir(path):
            raise DataError(f"a detector is a JSON file; {where} is a folder.")
        if os.path.getsize(path) > _MOST:
            raise DataError(f"a detector is a JSON file of less than 256 MB; {where} is larger.")
        with open(path, "rb") as file:
            data = file.read(_MOST)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"there is no file {where}.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{where} can't be read: {reason}.") from error
    # An empty file may be the rest of one.
    if data and not data.lstrip(_BEFORE).startswith(b"{"):
        raise NoModel(
            f"{where} is no model of cutscore: a model is JSON text, as cutscore fit and "
            "Detector.save write it."
        )
    try:
        return from_text(data, verify=verify)
    except DataError as error:
        raise DataError(f"{where} is no detector to rely on: {error}") from error


def from_text(data: str | bytes, *, verify: bool = True) -> Detector:
    try:
        if isinstance(data, (bytes, bytearray)):
            data = data.decode("utf-8")
        parsed = json.loads(data, parse_constant=_no_constant, object_pairs_hook=_once)
    except DataError:
        raise
    except UnicodeDecodeError:
        raise DataError("a detector is JSON text in UTF-8; this is not UTF-8.") from None
    except RecursionError:
        raise DataError("a detector is JSON text; this is nested too deep to be one.") from None
    except (TypeError, ValueError) as error:
        place = getattr(error, "lineno", None)
        line = "" if place is None else f", from line {place} on"
        raise DataError(
            f"a detector is JSON text; this is not{line}. It may have been cut off; copy it again."
        ) from None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("format"), str):
        raise DataError(f"a detector is an object with format = {FORMAT!r}; this has none.")
    if parsed["format"] != FORMAT:
        what = (
            "another version" if parsed["format"].startswith("cutscore.detector/") else "no format"
        )
        raise DataError(
            f"this cutscore reads {FORMAT!r}; {shown(parsed['format'])} is {what} of it. Read it "
            "with the cutscore that wrote it, or newer."
        )
    checksum = parsed.pop("checksum", None)
    detector = _Reading(parsed).detector()
    if verify and checksum != _checksum(parsed):
        raise DataError(
            "its checksum does not fit: it was changed after it was written. Get the original; for "
            "other costs or another prior, Detector.load(original).revised(costs=..., prior=...)."
            "save(path) moves the threshold with them. If the change was meant, "
            "Detector.load(path, verify=False).save(path) makes the file whole again."
        )
    return detector


def _no_constant(name: str) -> NoReturn:
    raise DataError(f"a detector has finite numbers only; {name} is none.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"a key must be there once; {shown(twice)} is there twice.")
    return out


class _Reading:
    """Values of one object, each under its name and by a reader that says what it takes."""

    def __init__(self, data: Any, where: str = "") -> None:
        if not isinstance(data, dict):
            raise DataError(f"{where or 'a detector'} must be an object; it is {shown(data)}.")
        self.data, self.where = data, where

    def read(self, name: str, reader: Reader) -> Any:
        place = f"{self.where}.{name}" if self.where else name
        if name not in self.data:
            raise DataError(f"{place} is missing.")
        try:
            return reader(self.data[name])
        except DataError as error:
            raise DataError(f"{place}: {error}") from error
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"{place} must be {reader.__doc__}; it is {shown(self.data[name])}."
            ) from None

    def inner(self, name: str) -> _Reading:
        place = f"{self.where}.{name}" if self.where else name
        if name not in self.data:
            raise DataError(f"{place} is missing.")
        return _Reading(self.data[name], place)

    def only(self, *names: str) -> _Reading:
        odd = sorted(set(self.data) - set(names))
        if odd:
            place = f"{self.where} has" if self.where else "it has"
            raise DataError(f"{place} an unknown key {shown(odd[0])}.")
        return self

    def detector(self) -> Detector:
        self.only(
            "format",
            "library",
            "target",
            "rule",
            "threshold",
            "prior",
            "costs",
            "chosen_for",
            "base",
            "columns",
            "calibrator",
            "training",
            "fingerprint",
        )
        self.read("rule", text)
        target = self.inner("target").only("column", "positive", "labels")
        chosen = self.inner("chosen_for").only("objective", "limits", "confidence")
        columns = self.read("columns", _list)
        return Detector(
            terms=tuple(_Reading(c, f"columns[{k}]").term() for k, c in enumerate(columns)),
            base=self.read("base", number),
            calibrator=self.read("calibrator", Calibrator.from_dict),
            prior=self.read("prior", number),
            threshold=self.read("threshold", any_number),
            costs=self.costs(),
            objective=chosen.read("objective", _maybe(text)),
            limits=tuple(chosen.read("limits", _texts)),
            confidence=chosen.read("confidence", _maybe(_share)),
            target=target.read("column", _maybe(text)),
            positive=target.read("positive", _maybe(text)),
            training=self.training(),
            fingerprint=self.read("fingerprint", text),
            library=self.read("library", text),
            # Earlier files have no labels.
            labels=target.read("labels", _maybe(_labels)) if "labels" in target.data else None,
        )

    def costs(self) -> Costs | None:
        if self.data.get("costs", 0) is None:
            return None
        c = self.inner("costs").only("fp", "fn", "tp", "tn")
        return Costs(*(c.read(name, number) for name in ("fp", "fn", "tp", "tn")))

    def training(self) -> Training:
        t = self.inner("training").only(
            "rows", "positives", "learner", "auc", "auc_interval", "confusion", "expected", "notes"
        )
        interval = confusion = None
        if t.data.get("auc_interval", 0) is not None:
            i = t.inner("auc_interval").only("low", "high", "level")
            interval = Interval(*(i.read(name, number) for name in ("low", "high", "level")))
        if t.data.get("confusion", 0) is not None:
            c = t.inner("confusion").only("tp", "fp", "fn", "tn")
            confusion = Confusion(*(c.read(name, _mass) for name in ("tp", "fp", "fn", "tn")))
        expected = {}
        if "expected" in t.data:  # earlier files have none
            for name in t.inner("expected").data:
                e = t.inner("expected").inner(name).only(*Expected._fields)
                expected[name] = Expected(*(e.read(field, number) for field in Expected._fields))
        return Training(
            rows=t.read("rows", _count),
            positives=t.read("positives", _count),
            learner=t.read("learner", text),
            auc=t.read("auc", _maybe(number)),
            auc_interval=interval,
            confusion=confusion,
            notes=tuple(t.read("notes", _texts)),
            expected=expected,
        )

    def term(self) -> Term:
        kind = self.read("kind", text)
        missing = self.inner("missing").only("weight", "share")
        gone, share = missing.read("weight", number), missing.read("share", _share)
        name = self.read("name", text)
        if kind in ("number", "date"):
            self.only("name", "kind", "weight", "mean", "scale", "range", "missing")
            # Earlier files have no range.
            ends = self.read("range", _maybe(_range)) if "range" in self.data else None
            column = NumberColumn(
                name,
                self.read("mean", number),
                self.read("scale", positive),
                share,
                kind,
                *(ends or ()),
            )
            return NumberTerm(column, self.read("weight", number), gone)
        if kind not in ("category", "boolean"):
            raise DataError(
                f"{self.where}.kind must be number, date, category or boolean; it is {shown(kind)}."
            )
        self.only("name", "kind", "type", "levels", "other", "missing")
        levels = [
            _Reading(level, f"{self.where}.levels[{k}]").only("value", "weight", "share")
            for k, level in enumerate(self.read("levels", _list))
        ]
        values = tuple(level.read("value", text) for level in levels)
        if len(set(values)) < len(values):
            raise DataError(f"{self.where}.levels must differ; one is there twice.")
        if kind == "boolean" and not set(values) <= {"true", "false"}:
            raise DataError(f"{self.where}.levels of a boolean are true and false.")
        if "" in values:
            raise DataError(f"{self.where}.levels must not hold an empty text, which is missing.")
        level_type = self.read("type", _level_type) if kind == "category" else "text"
        other = self.inner("other").only("weight", "share")
        category = CategoryColumn(
            name,
            values,
            tuple(level.read("share", _share) for level in levels),
            other.read("share", _share),
            share,
            kind,
            level_type,
        )
        weights = tuple(level.read("weight", number) for level in levels)
        return CategoryTerm(category, weights, other.read("weight", number), gone)


def _maybe(reader: Reader) -> Reader:
    def read(value: Any) -> Any:
        return None if value is None else reader(value)

    read.__doc__ = f"{reader.__doc__} or null"
    return read


def _list(value: Any) -> list[Any]:
    """a list"""
    if not isinstance(value, list):
        raise TypeError
    return value


def _level_type(value: Any) -> str:
    """text, whole or date"""
    if value not in ("text", "whole", "date"):
        raise ValueError
    return str(value)


def _texts(value: Any) -> list[str]:
    """a list of texts"""
    return [text(v) for v in _list(value)]


def _labels(value: Any) -> tuple[Any, Any]:
    """a list of two labels, numbers, booleans or texts"""
    negative, positive = _list(value)
    if not (is_label(negative) and is_label(positive)):
        raise TypeError
    return negative, positive


def _range(value: Any) -> tuple[float, float]:
    """a list of two numbers, the smaller first"""
    low, high = map(number, _list(value))
    if low > high:
        raise ValueError
    return low, high


def _count(value: Any) -> int:
    """a whole number of at least 0"""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise TypeError
    return value


def _mass(value: Any) -> float:
    """a number of at least 0"""
    if isinstance(value, int):
        return _count(value)
    out = number(value)
    if out < 0:
        raise ValueError
    return out


def _share(value: Any) -> float:
    """a number from 0 to 1"""
    out = number(value)
    if not 0 <= out <= 1:
        raise ValueError
    return out
