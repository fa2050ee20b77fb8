"""Saved detectors: reading, applying and exporting them."""

from __future__ import annotations

from math import isinf
from typing import Any

from cutscore.core.findings.base import Finding, Surface, Warn, sentence, shown, spelled

# ------------------------------------------------------------------------------------------- files


class NotJson(Finding, code="not-json"):
    """A file should be JSON but is not, or is truncated."""

    what: str
    reason: str
    line: int | None = None
    template = (
        "{reason}{at_line}; {what} is a JSON file in UTF-8. The file may be truncated or edited. "
        "Use the original."
    )
    example = {"what": "a detector", "reason": "this is not valid JSON", "line": 7}

    @property
    def at_line(self) -> str:
        return "" if self.line is None else f" (line {self.line})"


class FieldUnfit(Finding, code="field-unfit"):
    """A field in a saved file is missing, unknown, repeated, or has an invalid value."""

    field: str
    rule: str
    value: Any = ...
    example = {"field": "threshold", "rule": "a number", "value": "high"}

    def text(self, on: Surface) -> str:
        if self.rule in _FIELDS:
            return f"{_FIELDS[self.rule].format(self.field)}."
        got = "" if self.value is ... else f", got {shown(self.value)}"
        return f"{self.field} must be {self.rule}{got}."


# What a field violates that must be known, present or unique.
_FIELDS = {
    "known": "unknown field {}",
    "present": "the field {} is missing",
    "unique": "the field {} occurs twice",
}


class FormatUnknown(Finding, code="format-unknown"):
    """A file has another format, or another version of it."""

    format: Any
    reads: str
    template = (
        "the format is {format!r}; this version of cutscore reads {reads}. Use the version that "
        "wrote the file, or a newer one."
    )
    example = {"format": "cutscore.detector/9", "reads": "cutscore.detector/3"}

    def text(self, on: Surface) -> str:
        if str(self.format).startswith("cutscore.detector/") and "detector" not in self.reads:
            return "the file holds a detector: a model and its policy. Use Detector.load(path)."
        return super().text(on)


class ModelChanged(Finding, code="model-changed"):
    """The checksum does not match: the file was edited after it was written."""

    kind: str = "Detector"
    """The class that reads it."""

    def text(self, on: Surface) -> str:
        if on.name == "command":
            revise = "cutscore revise original.json --cost fp=1,fn=20 -o new.json"
            way = f"To change its costs or prior, run {revise}."
        else:
            revise = f"{self.kind}.load(original).revised(costs=..., prior=...).save(path)"
            way = (
                f"To change its costs or prior, use {revise}. To keep the edited file, use "
                f"{self.kind}.load(path, verify=False).save(path)."
            )
        return (
            "the checksum does not match: the file was edited after it was written. Use the "
            f"original file. {way}"
        )


class NotAModel(Finding, code="not-a-model"):
    """The file is not a cutscore model."""

    path: str
    hint: str = ""
    example = {"path": "t.csv"}

    def text(self, on: Surface) -> str:
        python = on.name != "command"
        writes = "Detector.save or Policy.save" if python else "cutscore fit or cutscore choose"
        return sentence(
            f"{spelled(self.path)} is not a cutscore model: a model is a JSON file written by "
            f"{writes}.",
            self.hint,
        )


# --------------------------------------------------------------------------------- use of a model


class NoColumns(Finding, code="detector-without-columns"):
    """A model without columns can't score a table and has no inputs to export."""

    template = "this model has no columns, so it can't score a table."


class ColumnReserved(Finding, code="column-reserved"):
    """A column to keep has the same name as a column that a model adds."""

    column: str
    template = (
        "a model adds a column {column!r}, so an input column of that name can't be kept. "
        "Rename it, or choose the columns to keep ({fix[keep]})."
    )
    example = {"column": "score"}


class UnseenValues(Warn, code="unseen-values"):
    """Rows contain values not seen in training.

    An unseen level, or a missing value where none was missing in training, contributes the average.
    A number outside the training range is used as it is; there is no warning if at most 1 % of the
    rows have one and none is outside by more than half the width of the range.
    """

    column: str
    rows: int
    of: int
    """How many rows there are in all."""
    value: str | None = None
    """One of them, the furthest from the range; None if these rows have no value."""
    low: str | None = None
    high: str | None = None
    """The range of the training rows, where they are numbers or dates."""
    example = {"column": "city", "rows": 2, "of": 3, "value": "Rome"}

    def text(self, on: Surface) -> str:
        have = "has" if self.rows == 1 else "have"
        share = f"{100 * self.rows / self.of:.3g} %"
        count = f"{self.rows:,} of {self.of:,} rows ({share}) {have}"
        column = shown(self.column)
        if self.value is None:
            return f"{count} no value for {column}, which was never missing in training."
        if self.low is None:
            such = f"such as {shown(self.value)}"
            return f"{count} a value of {column} not seen in training, {such}."
        range_ = f"the training range, {self.low} to {self.high}"
        return f"{count} a value of {column} outside {range_}, such as {self.value}."


class ScoresOutside(Warn, code="scores-outside"):
    """Scores are far outside the range that a policy was chosen on; the scale may differ."""

    share: float
    """The share of the rows that have such scores."""
    low: float
    high: float
    """The range of the evidence."""
    value: float
    """The score that is furthest from it."""
    times: float
    """How far that is, in widths of the range."""
    template = (
        "{share:.3g %} of the scores are far outside the range of the evidence, {low:.6g} to "
        "{high:.6g}; the furthest, {value:.6g}{how_far}. Check that the scores come from the same "
        "model and use the same scale."
    )
    example = {"share": 0.4, "low": 0.01, "high": 0.98, "value": 97.0, "times": 99.0}

    @property
    def how_far(self) -> str:
        """Behind the score that is furthest."""
        away = "is infinite" if isinf(self.times) else f"lies {self.times:.3g} range widths away"
        return f", {away}"


class SameRows(Warn, code="same-rows"):
    """A policy is checked on the rows that it was chosen on, which can't contradict it."""

    template = (
        "these are the rows that the policy was chosen on, so the comparison says nothing about "
        "new rows. Use rows that were labelled later."
    )
    example = {}


class NotExportable(Finding, code="not-exportable"):
    """The export format can't represent a name or a level."""

    value: str
    format: str
    reason: str
    hint: str = "Rename it before fitting."
    template = "{format} can't represent {value!r}: {reason}. {hint}"
    example = {"value": "a\0b", "format": "SQL", "reason": "it contains a NUL character"}


class ScorerUnfit(Finding, code="scorer-unfit"):
    """The export format can't represent a model's scorer, or not exactly."""

    kind: str
    """What scores the rows: "linear", "column", "model"."""
    format: str
    reason: str = ""
    example = {"kind": "model", "format": "SQL", "reason": "it has 310 trees, more than 200"}

    def text(self, on: Surface) -> str:
        if self.kind == "column":
            return f"a policy contains no model that could be exported as {self.format}."
        why = f": {self.reason}" if self.reason else ""
        return f"this model can't be exported as {self.format}{why}."
