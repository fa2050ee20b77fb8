"""Columns of arrays and tables: labels, scores, weights, names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Severity,
    Surface,
    Where,
    counted,
    either,
    sentence,
    shown,
    some,
)

_AT = Where(row=3, parameter="score")


class _Placed(Finding):
    """A finding about one value at a place."""

    def place(self, on: Surface) -> str:
        return on.place(self.where or Where())


@dataclass(frozen=True)
class ValueMissing(_Placed):
    """A row has no value where one is needed: null, None, NaN or masked."""

    code = "value-missing"
    example = {"what": "label", "how": "missing (None)", "where": Where(2, "label")}
    what: str
    """What is missing: "label", "score", "weight", "group"."""
    how: str = "missing"
    hint: str = "Drop such rows or fill them in."

    def text(self, on: Surface) -> str:
        hint = "Drop the rows that have no label." if self.what == "label" else self.hint
        if self.fixes:
            hint = f"Fill such rows in, or leave them out: {on.fix(self.fixes[0])}."
        return f"{self.place(on)} is {self.how}. {hint}"


@dataclass(frozen=True)
class ScoreMissing(_Placed):
    """A score is NaN. Where a case without a score ranks is a decision, so it is not guessed."""

    code = "score-missing"
    example = {"where": _AT}

    def text(self, on: Surface) -> str:
        return (
            f"a score must be a number; {self.place(on)} is NaN. Drop such rows or give them a "
            "score: where a missing score ranks is a decision, not a default."
        )


@dataclass(frozen=True)
class NotNumbers(_Placed):
    """A column that must hold numbers holds something else."""

    code = "not-numbers"
    example = {"name": "score", "value": "n/a", "where": _AT}
    name: str
    value: Any = ...
    type: str | None = None
    """The type of the whole column, where that is what is wrong."""
    hint: str = ""

    def text(self, on: Surface) -> str:
        parts = [] if self.type is None else [f"its type is {self.type}"]
        if self.value is not ...:
            parts.append(f"{self.place(on)} is {shown(self.value)}")
        return sentence(f"{self.name} must hold real numbers; {', and '.join(parts)}.", self.hint)


@dataclass(frozen=True)
class BadWeight(_Placed):
    """A weight is negative, infinite or NaN."""

    code = "bad-weight"
    example = {"value": -1.0, "where": Where(3, "weight")}
    value: Any

    def text(self, on: Surface) -> str:
        return (
            f"a weight must be finite and at least 0; {self.place(on)} is {shown(self.value)}. "
            "Drop such rows, or give them the weight 0, which is the same."
        )


@dataclass(frozen=True)
class BadMass(_Placed):
    """A count that was made elsewhere is negative, infinite or NaN."""

    code = "bad-mass"
    example = {"value": -1, "where": Where(1, "pos")}
    value: Any

    def text(self, on: Surface) -> str:
        return f"a mass must be finite and at least 0; {self.place(on)} is {shown(self.value)}."


@dataclass(frozen=True)
class TooMuch(Finding):
    """Weights or counts add up to more than their type holds."""

    code = "sum-too-large"
    example = {"what": "weights", "most": "2**1023", "hint": "Scale them down."}
    what: str
    most: str
    total: float | None = None
    hint: str = ""

    def text(self, on: Surface) -> str:
        total = "" if self.total is None else f"; these make {self.total:.4g}"
        verb = "number" if self.what == "rows" else "add up to"
        return sentence(f"{self.what} must {verb} less than {self.most}{total}.", self.hint)


@dataclass(frozen=True)
class LengthsDiffer(Finding):
    """Two columns that belong together have different lengths."""

    code = "lengths-differ"
    example = {"name": "label", "other": "score", "have": 2, "need": 3}
    name: str
    other: str
    have: int
    need: int

    def text(self, on: Surface) -> str:
        return (
            f"there must be one {self.name} for each {self.other}; there are {self.have:,} and "
            f"{self.need:,}. Pass columns of the same rows."
        )


@dataclass(frozen=True)
class NotAColumn(Finding):
    """An argument that must be a column of values is something else, or has another shape."""

    code = "not-a-column"
    example = {"name": "score", "value": 0.5}
    name: str
    value: Any = ...
    shape: tuple[int, ...] | None = None
    reason: str = ""

    def text(self, on: Surface) -> str:
        if self.shape is not None:
            return (
                f"{self.name} must have one dimension; it has the shape {tuple(self.shape)}. Pass "
                "one column: a[:, 1], a.ravel() or frame['column']."
            )
        why = f"NumPy says: {self.reason}" if self.reason else f"it is {shown(self.value)}."
        return f"{self.name} must be a column of values; {why}"


@dataclass(frozen=True)
class ElsewhereInMemory(Finding):
    """A tensor is on a device that this function can't read."""

    code = "device-memory"
    example = {"name": "score", "device": "cuda:0"}
    name: str
    device: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.name} must be in the host's memory; this tensor is on {self.device}. Use "
            "cutscore.torch, which computes there, or pass tensor.cpu()."
        )


@dataclass(frozen=True)
class Inexact(_Placed):
    """A number is too long for float64, where it would coincide with its neighbours."""

    code = "number-inexact"
    example = {"name": "score", "value": 9007199254740993, "where": _AT}
    name: str
    value: Any

    def text(self, on: Surface) -> str:
        return (
            f"{self.name}s are stored as float64, which can't tell {self.place(on)} = "
            f"{shown(self.value)} from its neighbours. Rescale or round the {self.name}s."
        )


@dataclass(frozen=True)
class LabelType(Finding):
    """Labels are of a type that has no two values to tell apart, such as dates."""

    code = "label-type"
    example = {"type": "complex128"}
    type: str = ""
    value: Any = ...

    def text(self, on: Surface) -> str:
        if self.value is not ...:
            return f"labels must be numbers, booleans or text; one is {shown(self.value)}."
        return (
            f"labels must be numbers, booleans or text; they have the type {self.type}. Pass y == "
            "positive instead."
        )


@dataclass(frozen=True)
class PositiveUnstated(_Placed):
    """Labels other than 0/1, False/True and -1/1: which one is positive has to be said."""

    code = "positive-unstated"
    example = {"seen": ("no", "yes"), "fixes": (Fix("positive"),)}
    seen: tuple[Any, ...]
    value: Any = ...

    def text(self, on: Surface) -> str:
        at = "" if self.value is ... else f"; {self.place(on)} is {shown(self.value)}"
        return (
            f"the labels are {some(self.seen)}{at}: which one is positive? Name it "
            f"({on.fix(Fix('positive'))}); only 0/1, False/True and -1/1 are understood without."
        )


@dataclass(frozen=True)
class PositiveUnknown(Finding):
    """No row has the label that was named as the positive one."""

    code = "positive-unknown"
    example = {"positive": "Yes", "seen": ("yes", "no"), "near": "yes"}
    positive: Any
    seen: tuple[Any, ...] = ()
    kind: str = ""
    """What the labels are, if that is what does not fit: "numbers"."""
    column: str | None = None
    near: Any = ...

    def text(self, on: Surface) -> str:
        of = "" if self.column is None else f" of {shown(self.column)}"
        are = self.kind or some(self.seen)
        hint = "" if self.near is ... else f"Did you mean {shown(self.near)}?"
        fact = f"no row has the label {shown(self.positive)} ({on.parameter('positive')})"
        return sentence(f"{fact}; the labels{of} are {are}.", hint)


@dataclass(frozen=True)
class TooManyLabels(_Placed):
    """More than two labels, and none of them was named as the positive one."""

    code = "labels-many"
    example = {"seen": (0, 1, 2), "value": 2, "where": Where(5, "label")}
    seen: tuple[Any, ...]
    value: Any
    like_scores: bool = False
    """Whether there are so many numbers that labels and scores may be the wrong way round."""

    def text(self, on: Surface) -> str:
        if self.like_scores:
            label, score = on.parameter("label"), on.parameter("score")
            return (
                f"there must be two labels, but there are many numbers: {some(self.seen)}. They "
                f"look like scores: are {label} and {score} swapped?"
            )
        return (
            f"there must be two labels, but there are {some(self.seen)} ({self.place(on)} is "
            f"{shown(self.value)}). To detect one of them against the rest, name it "
            f"({on.fix(Fix('positive'))})."
        )


@dataclass(frozen=True)
class OneVersusRest(Finding):
    """One label was named as the positive one, and there are several others: these are negative."""

    code = "one-vs-rest"
    severity = Severity.NOTE
    example = {"column": "grade", "positive": "A", "others": ("B", "C"), "rows": (12, 3)}
    column: str
    positive: Any
    others: tuple[Any, ...]
    rows: tuple[int, ...] | None = None
    """How many rows have each of the others, where that was counted."""

    def text(self, on: Surface) -> str:
        if self.rows is None:
            listed = [shown(value) for value in self.others]
        else:
            pairs = sorted(zip(self.others, self.rows, strict=True), key=lambda pair: -pair[1])
            listed = [f"{shown(value)} ({counted(n, 'row')})" for value, n in pairs]
        return (
            f"{shown(self.column)} is read one-vs-rest: {shown(self.positive)} is positive, all "
            f"others are negative: {some(listed, 4, show=str)}."
        )


@dataclass(frozen=True)
class ColumnMissing(Finding):
    """A column that was asked for is not in the table."""

    code = "column-missing"
    example = {"column": "frad", "table": "payments.csv", "names": ("amount", "fraud")}
    column: Any
    table: str
    names: tuple[str, ...] = ()
    """The columns that are there."""

    @property
    def near(self) -> list[str]:
        """Columns whose names are like it."""
        known = {name.casefold(): name for name in reversed(self.names)}
        asked = self.column if isinstance(self.column, str) else ""
        return [known[k] for k in get_close_matches(asked[:200].casefold(), list(known), 3, 0.6)]

    def text(self, on: Surface) -> str:
        near = self.near
        hint = f"Did you mean {either(near)}?" if near else f"It has {some(self.names, 8)}."
        return f"{self.table} has no column {shown(self.column)}. {hint}"


@dataclass(frozen=True)
class NoRows(Finding):
    """A table without rows."""

    code = "no-rows"
    example = {"table": "a.csv"}
    table: str = "a table"

    def text(self, on: Surface) -> str:
        return f"{self.table} has no rows."
