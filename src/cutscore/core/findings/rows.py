"""Columns of arrays and tables: labels, scores, weights, names of columns."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Note,
    Surface,
    Warn,
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

    There is no default rank for a missing score, so none is guessed.
    """

    what: str
    """What is missing: "label", "score", "weight", "group"."""
    how: str = "missing"
    hint: str = "Drop such rows or fill in the value."
    example = {"what": "label", "how": "missing (None)", "where": Where(2, "label")}

    def text(self, on: Surface) -> str:
        hint = _MISSING.get(self.what, self.hint)
        if self.fixes:
            hint = f"Fill in the value or drop such rows: {on.fix(self.fixes[0])}."
        where = self.where or Where()
        fact = f"{on.place(where)} is {self.how}"
        if self.how == "missing" and where.row is not None and where.column is not None:
            row = on.place(replace(where, column=None))
            fact = f"{row} has no value for {shown(where.column)}"
        return f"{fact}. {hint}"


_MISSING = {
    "label": "Drop the rows that have no label.",
    "score": ("Drop such rows or give them a score: there is no default rank for a missing score."),
}


class ValueUnfit(Finding, code="value-unfit"):
    """A column contains a value of the wrong type, such as text among numbers."""

    name: str
    value: Any = ...
    type: str | None = None
    """The type of the whole column, where that is what is wrong."""
    hint: str = ""
    wanted: str = "real numbers"
    """What it must contain: "numbers", "dates", "true and false"."""
    example = {"name": "score", "value": "n/a", "where": _AT}

    def text(self, on: Surface) -> str:
        where = self.where or Where()
        if where.row is not None:  # the column is named already
            where = replace(where, column=None)
        parts = [] if self.type is None else [f"its type is {self.type}"]
        if self.value is not ...:
            parts.append(f"{on.place(where)} is {shown(self.value)}")
        rule = f"{self.name} must contain {self.wanted}"
        return sentence(f"{rule}, but {' and '.join(parts)}.", self.hint)


class TypeUnfit(Finding, code="type-unfit"):
    """A column contains values that can't be labels, scores or features: lists or bytes."""

    name: str
    kind: str
    hint: str = "Convert it first."
    template = "{name} contains {kind}; numbers, booleans or text are required. {hint}"
    example = {"name": "'tags' of a.csv", "kind": "list<string>", "where": Where(file="a.csv")}


class BadWeight(Finding, code="bad-weight"):
    """A weight, or a count that was passed in, is negative, infinite or NaN."""

    value: Any
    what: str = "weight"
    """weight or count."""
    template = "a {what} must be finite and at least 0; {place} is {value!r}. {hint}"
    example = {"value": -1.0, "where": Where(3, "weight")}

    @property
    def hint(self) -> str:
        way = "Drop such rows, or set their weight to 0, which has the same effect."
        return way if self.what == "weight" else ""


class TooMuch(Finding, code="sum-too-large"):
    """Weights or counts add up to more than their type can represent."""

    what: str
    most: str
    total: float | None = None
    hint: str = ""
    example = {"what": "weights", "most": "2**1023", "hint": "Scale them down."}

    def text(self, on: Surface) -> str:
        total = "" if self.total is None else f"; the total is {self.total:.4g}"
        verb = "number" if self.what == "rows" else "add up to"
        return sentence(f"{self.what} must {verb} less than {self.most}{total}.", self.hint)


class LengthsDiffer(Finding, code="lengths-differ"):
    """Columns of the same rows have different lengths."""

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
    """A number has more digits than float64 can represent: others would become equal to it."""

    name: str
    value: Any
    hint: str = "Rescale or round it."
    template = (
        "a {name} is stored as float64, which can't represent {place} = {value!r} exactly. {hint}"
    )
    example = {"name": "score", "value": 9007199254740993, "where": _AT}


class PositiveUnstated(Finding, code="positive-unstated"):
    """The labels are not 0/1, False/True or -1/1, so the positive one must be named."""

    seen: tuple[Any, ...]
    value: Any = ...
    example = {"seen": ("no", "yes"), "fixes": (Fix("positive"),)}

    def text(self, on: Surface) -> str:
        at = ""
        if self.value is not ...:
            at = f"; {on.place(self.where or Where())} is {shown(self.value)}"
        return (
            f"the labels are {some(self.seen)}{at}: which one is positive? Name it "
            f"({on.fix(Fix('positive'))}); only 0/1, False/True and -1/1 are recognised."
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
    """There are more than two label values, and none was named as the positive one."""

    seen: tuple[Any, ...]
    value: Any
    like_scores: bool = False
    """Whether there are so many numbers that labels and scores may be the wrong way round."""
    template = (
        "expected two label values, found {seen!l} ({place} is {value!r}). To treat one of them "
        "as positive and the rest as negative, name it ({fix[positive]})."
    )
    example = {"seen": (0, 1, 2), "value": 2, "where": Where(5, "label")}

    def text(self, on: Surface) -> str:
        if not self.like_scores:
            return super().text(on)
        many = some(self.seen, 3, show=_short)
        return f"expected two label values, found many numbers: {many}. Name the column of labels."


def _short(value: object) -> str:
    """Of a number three digits are enough to recognise it."""
    return f"{value:.3g}" if isinstance(value, float) else shown(value)


class OneVersusRest(Note, code="one-vs-rest"):
    """One label was named as the positive one; all other labels are negative."""

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
            f"{shown(self.column)} is treated as one-vs-rest: {shown(self.positive)} is positive, "
            f"the others are negative: {some(listed, 4, show=str)}."
        )


class ColumnMissing(Finding, code="column-missing"):
    """The table has no column with the given name."""

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
        return f"Did you mean {either(near)}?" if near else f"Its columns: {some(self.names, 8)}."


class NoRows(Finding, code="no-rows"):
    """A table without rows, or an empty file."""

    table: str = "a table"
    hint: str = ""
    template = "{table} has no rows. {hint}"
    example = {"table": "a.csv"}


class GroupUndecided(Warn, code="group-undecided"):
    """Rows have no decision since their group has no threshold, or is missing."""

    column: str
    rows: int
    total: int
    group: str | None
    """One of these groups; None if the group is missing."""
    known: tuple[str, ...] = ()
    example = {"column": "country", "rows": 12, "total": 1000, "group": "it", "known": ("de", "fr")}

    def text(self, on: Surface) -> str:
        verb = "has" if self.rows == 1 else "have"
        share = f"{self.rows:,} of {counted(self.total, 'row')}"
        such = "a missing one" if self.group is None else shown(self.group)
        return (
            f"{share} ({100 * self.rows / self.total:.3g} %) {verb} no decision: the value of "
            f"{shown(self.column)} has no threshold, such as {such}. Known groups: "
            f"{some(self.known, 10)}."
        )


class GroupUnknown(Finding, code="group-unknown"):
    """A row is of a group that was not there when thresholds were chosen."""

    group: str
    known: tuple[str, ...]
    hint: str = "Drop such rows, or choose again with rows of this group."
    example = {"group": "it", "known": ("de", "fr")}

    def text(self, on: Surface) -> str:
        names = ", ".join(map(shown, self.known[:10])) + (" …" if len(self.known) > 10 else "")
        return f"nothing is known of group {shown(self.group)}; known groups: {names}. {self.hint}"


LARGEST_STAKE = 1e60
"""What a row may cost at most, so that fourth powers are numbers."""


class RowCostUnfit(Finding, code="row-cost-unfit"):
    """The cost of an error in a row, or a number that it is computed from, is missing, infinite or
    negative."""

    name: str
    """"fn" or "fp"; "column" if a column is at fault."""
    written: str
    """The formula, or the column."""
    value: float
    benefit: float = 0.0
    """What the right decision brings in besides."""
    example = {"name": "fn", "written": "0.8*amount", "value": -4.0, "where": Where(3, "fn")}

    def text(self, on: Surface) -> str:
        where = self.where or Where()
        row = on.place(replace(where, parameter=None, column=None))
        missing = self.value != self.value
        what = "missing" if missing else f"{self.value:.6g}"
        if self.name == "column":
            rule = "Costs need a finite number in each row; drop such rows or fill in the value."
            return f"{row} has no finite number in {shown(self.written)}: it is {what}. {rule}"
        of = f"the cost {self.name}" + ("" if self.written == self.name else f" = {self.written}")
        if self.benefit:
            of += f" with the benefit {'tp' if self.name == 'fn' else 'tn'} = {self.benefit:g}"
        rule = f"{of} must be between 0 and {LARGEST_STAKE:g} in each row; in {row} it is {what}."
        return sentence(rule, "Use max(..., 0), or drop such rows." if self.value < 0 else "")


class CostsUndecided(Warn, code="costs-undecided"):
    """Rows have no decision, since a number that their costs are computed from is missing."""

    columns: tuple[str, ...]
    rows: int
    of: int
    example = {"columns": ("amount",), "rows": 3, "of": 1000}

    def text(self, on: Surface) -> str:
        have = "has" if self.rows == 1 else "have"
        share = 100 * self.rows / max(self.of, 1)
        return (
            f"{self.rows:,} of {counted(self.of, 'row')} ({share:.3g} %) {have} no decision: "
            f"{either(self.columns)} is missing."
        )
