"""Columns of arrays and tables: labels, scores, weights, names of columns."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Note,
    Surface,
    Where,
    counted,
    either,
    sentence,
    shown,
    some,
)

_AT = Where(row=3, parameter="score")


class ValueMissing(Finding, code="value-missing"):
    """A row has no value where one is needed: null, None, NaN or masked.

    Where a row without a score ranks is a decision, so it is not guessed.
    """

    what: str
    """What is missing: "label", "score", "weight", "group"."""
    how: str = "missing"
    hint: str = "Drop such rows or fill them in."
    example = {"what": "label", "how": "missing (None)", "where": Where(2, "label")}

    def text(self, on: Surface) -> str:
        hint = _MISSING.get(self.what, self.hint)
        if self.fixes:
            hint = f"Fill such rows in, or leave them out: {on.fix(self.fixes[0])}."
        return f"{on.place(self.where or Where())} is {self.how}. {hint}"


_MISSING = {
    "label": "Drop the rows that have no label.",
    "score": (
        "Drop such rows or give them a score: where a missing score ranks is a decision, not a "
        "default."
    ),
}


class ValueUnfit(Finding, code="value-unfit"):
    """A column holds a value of another kind than it should: text among numbers, say."""

    name: str
    value: Any = ...
    type: str | None = None
    """The type of the whole column, where that is what is wrong."""
    hint: str = ""
    wanted: str = "real numbers"
    """What it must hold: "numbers", "dates", "true and false"."""
    example = {"name": "score", "value": "n/a", "where": _AT}

    def text(self, on: Surface) -> str:
        parts = [] if self.type is None else [f"its type is {self.type}"]
        if self.value is not ...:
            parts.append(f"{on.place(self.where or Where())} is {shown(self.value)}")
        rule = f"{self.name} must hold {self.wanted}"
        return sentence(f"{rule}; {', and '.join(parts)}.", self.hint)


class TypeUnfit(Finding, code="type-unfit"):
    """A column holds values that are no labels, scores or features, such as lists or bytes."""

    name: str
    kind: str
    hint: str = "Convert it first."
    template = "{name} holds {kind}; numbers, booleans or text are needed. {hint}"
    example = {"name": "'tags' of a.csv", "kind": "list<string>", "where": Where(file="a.csv")}


class BadWeight(Finding, code="bad-weight"):
    """A weight, or a count that was made elsewhere, is negative, infinite or NaN."""

    value: Any
    what: str = "weight"
    """weight or count."""
    template = "a {what} must be finite and at least 0; {place} is {value!r}. {hint}"
    example = {"value": -1.0, "where": Where(3, "weight")}

    @property
    def hint(self) -> str:
        way = "Drop such rows, or give them the weight 0, which is the same."
        return way if self.what == "weight" else ""


class TooMuch(Finding, code="sum-too-large"):
    """Weights or counts add up to more than their type holds."""

    what: str
    most: str
    total: float | None = None
    hint: str = ""
    example = {"what": "weights", "most": "2**1023", "hint": "Scale them down."}

    def text(self, on: Surface) -> str:
        total = "" if self.total is None else f"; these make {self.total:.4g}"
        verb = "number" if self.what == "rows" else "add up to"
        return sentence(f"{self.what} must {verb} less than {self.most}{total}.", self.hint)


class LengthsDiffer(Finding, code="lengths-differ"):
    """Two columns that belong together have different lengths."""

    name: str
    other: str
    have: int
    need: int
    template = (
        "there must be one {name} for each {other}; there are {have:,} and {need:,}. Pass columns "
        "of the same rows."
    )
    example = {"name": "label", "other": "score", "have": 2, "need": 3}


class Inexact(Finding, code="number-inexact"):
    """A number is too long for float64, where it would coincide with its neighbours."""

    name: str
    value: Any
    hint: str = "Rescale or round it."
    template = (
        "a {name} is stored as float64, which can't tell {place} = {value!r} from its neighbours. "
        "{hint}"
    )
    example = {"name": "score", "value": 9007199254740993, "where": _AT}


class PositiveUnstated(Finding, code="positive-unstated"):
    """Labels other than 0/1, False/True and -1/1: which one is positive has to be said."""

    seen: tuple[Any, ...]
    value: Any = ...
    example = {"seen": ("no", "yes"), "fixes": (Fix("positive"),)}

    def text(self, on: Surface) -> str:
        at = ""
        if self.value is not ...:
            at = f"; {on.place(self.where or Where())} is {shown(self.value)}"
        return (
            f"the labels are {some(self.seen)}{at}: which one is positive? Name it "
            f"({on.fix(Fix('positive'))}); only 0/1, False/True and -1/1 are understood without."
        )


class PositiveUnknown(Finding, code="positive-unknown"):
    """No row has the label that was named as the positive one."""

    positive: Any
    seen: tuple[Any, ...] = ()
    kind: str = ""
    """What the labels are, if that is what does not fit: "numbers"."""
    column: str | None = None
    near: Any = ...
    example = {"positive": "Yes", "seen": ("yes", "no"), "near": "yes"}

    def text(self, on: Surface) -> str:
        of = "" if self.column is None else f" of {shown(self.column)}"
        are = self.kind or some(self.seen)
        hint = "" if self.near is ... else f"Did you mean {shown(self.near)}?"
        fact = f"no row has the label {shown(self.positive)} ({on.parameter('positive')})"
        return sentence(f"{fact}; the labels{of} are {are}.", hint)


class TooManyLabels(Finding, code="labels-many"):
    """More than two labels, and none of them was named as the positive one."""

    seen: tuple[Any, ...]
    value: Any
    like_scores: bool = False
    """Whether there are so many numbers that labels and scores may be the wrong way round."""
    template = (
        "there must be two labels, but there are {seen!l} ({place} is {value!r}). To detect one "
        "of them against the rest, name it ({fix[positive]})."
    )
    example = {"seen": (0, 1, 2), "value": 2, "where": Where(5, "label")}

    def text(self, on: Surface) -> str:
        if not self.like_scores:
            return super().text(on)
        label, score = on.parameter("label"), on.parameter("score")
        return (
            f"there must be two labels, but there are many numbers: {some(self.seen)}. They look "
            f"like scores: are {label} and {score} swapped?"
        )


class OneVersusRest(Note, code="one-vs-rest"):
    """One label was named as the positive one, and there are several others: these are negative."""

    column: str
    positive: Any
    others: tuple[Any, ...]
    rows: tuple[int, ...] | None = None
    """How many rows have each of the others, where that was counted."""
    example = {"column": "grade", "positive": "A", "others": ("B", "C"), "rows": (12, 3)}

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


class ColumnMissing(Finding, code="column-missing"):
    """A column that was asked for is not in the table."""

    column: Any
    table: str
    names: tuple[str, ...] = ()
    """The columns that are there."""
    template = "{table} has no column {column!r}. {hint}"
    example = {"column": "frad", "table": "payments.csv", "names": ("amount", "fraud")}

    @property
    def near(self) -> list[str]:
        """Columns whose names are like it."""
        known = {name.casefold(): name for name in reversed(self.names)}
        asked = self.column if isinstance(self.column, str) else ""
        return [known[k] for k in get_close_matches(asked[:200].casefold(), list(known), 3, 0.6)]

    @property
    def hint(self) -> str:
        near = self.near
        return f"Did you mean {either(near)}?" if near else f"It has {some(self.names, 8)}."


class NoRows(Finding, code="no-rows"):
    """A table without rows, or an empty file."""

    table: str = "a table"
    hint: str = ""
    template = "{table} has no rows. {hint}"
    example = {"table": "a.csv"}
