"""Saved detectors: reading, applying and exporting them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Severity,
    Surface,
    Where,
    either,
    sentence,
    shown,
    spelled,
)

# ------------------------------------------------------------------------------- values of columns


@dataclass(frozen=True)
class ValueUnfit(Finding):
    """A column holds a value of another kind than it should: text among numbers, say."""

    code = "value-unfit"
    example = {"column": "age", "wanted": "numbers", "value": "?", "where": Where(6, column="age")}
    column: str
    wanted: str
    """What it must hold: "numbers", "dates", "true and false"."""
    value: Any

    def text(self, on: Surface) -> str:
        row = "it" if self.where is None else f"row {(self.where.row or 0) + 1:,}"
        return (
            f"{shown(self.column)} must hold {self.wanted}; {row} has {shown(self.value)}. Convert "
            "the column, or correct that row."
        )


@dataclass(frozen=True)
class NumbersTooLarge(Finding):
    """Numbers whose squares are past every float: they can't be standardised."""

    code = "numbers-too-large"
    example = {"column": "x", "low": -1e300, "high": 1e300}
    column: str
    low: float
    high: float

    def text(self, on: Surface) -> str:
        return (
            f"numbers must be small enough to be squared; {shown(self.column)} reaches from "
            f"{self.low:g} to {self.high:g}. Rescale it."
        )


@dataclass(frozen=True)
class NotATable(Finding):
    """What was passed as a table is none."""

    code = "not-a-table"
    example = {"reason": "it is 3"}
    reason: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        rule = (
            "a table must be one of cutscore.tables, pyarrow, pandas or polars, or a mapping from "
            "names to columns of one length"
        )
        return sentence(f"{rule}; {self.reason}.", self.hint)


@dataclass(frozen=True)
class ColumnTwice(Finding):
    """Two columns of a table have one name."""

    code = "column-twice"
    example = {"column": "age"}
    column: str

    def text(self, on: Surface) -> str:
        return f"column names must differ; {shown(self.column)} is there twice. Rename one."


@dataclass(frozen=True)
class RolesConflict(Finding):
    """One column has two roles that exclude each other."""

    code = "roles-conflict"
    example = {"column": "age", "roles": ("categories", "numbers")}
    column: str
    roles: tuple[str, str]
    """The parameters that name it."""

    def text(self, on: Surface) -> str:
        first, second = map(on.parameter, self.roles)
        return f"{shown(self.column)} can't be named by both {first} and {second}. Name it once."


# ------------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class NotJson(Finding):
    """A file that should be JSON is not, or was cut off."""

    code = "not-json"
    example = {"what": "a detector", "reason": "this is not valid JSON", "line": 7}
    what: str
    reason: str
    line: int | None = None

    def text(self, on: Surface) -> str:
        line = "" if self.line is None else f" (line {self.line})"
        return (
            f"{self.reason}{line}; {self.what} is a JSON file in UTF-8. The file may be truncated "
            "or edited: get the original."
        )


@dataclass(frozen=True)
class FieldMissing(Finding):
    """A saved value lacks a field."""

    code = "field-missing"
    example = {"field": "training.rows"}
    field: str

    def text(self, on: Surface) -> str:
        return f"{self.field} is missing."


@dataclass(frozen=True)
class FieldUnknown(Finding):
    """A saved value has a field that this version does not know, or has one twice."""

    code = "field-unknown"
    example = {"field": "extra", "of": "training"}
    field: str
    of: str
    twice: bool = False

    def text(self, on: Surface) -> str:
        if self.twice:
            return f"the key {shown(self.field)} is there twice."
        return f"{self.of} has an unknown key {shown(self.field)}."


@dataclass(frozen=True)
class FieldUnfit(Finding):
    """A field of a saved value has a value that it can't have."""

    code = "field-unfit"
    example = {"field": "threshold", "rule": "a number", "value": "high"}
    field: str
    rule: str
    value: Any = ...

    def text(self, on: Surface) -> str:
        is_ = "" if self.value is ... else f"; it is {shown(self.value)}"
        return f"{self.field} must be {self.rule}{is_}."


@dataclass(frozen=True)
class FormatUnknown(Finding):
    """A file of another format, or of another version of it."""

    code = "format-unknown"
    example = {"format": "cutscore.detector/9", "reads": "cutscore.detector/2"}
    format: Any
    reads: str

    def text(self, on: Surface) -> str:
        return (
            f"the format is {shown(self.format)}; this version of cutscore reads {self.reads!r}. "
            "Use the version that wrote the file, or a newer one."
        )


@dataclass(frozen=True)
class ModelChanged(Finding):
    """A model whose checksum does not fit was changed after it was written."""

    code = "model-changed"
    example = {}
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


@dataclass(frozen=True)
class NotAModel(Finding):
    """A file that nobody wrote as a model."""

    code = "not-a-model"
    example = {"path": "t.csv"}
    path: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        python = on.name != "command"
        writes = "Detector.save or Policy.save" if python else "cutscore fit or cutscore choose"
        return sentence(
            f"{spelled(self.path)} is not a cutscore model: a model is a JSON file written by "
            f"{writes}.",
            self.hint,
        )


@dataclass(frozen=True)
class ModelUnreadable(Finding):
    """A model's file is not there, or can't be read."""

    code = "model-unreadable"
    example = {"path": "m.json", "reason": "there is no such file"}
    path: str
    reason: str

    def text(self, on: Surface) -> str:
        return f"{spelled(self.path)} can't be read as a model: {self.reason}."


# --------------------------------------------------------------------------------- use of a model


@dataclass(frozen=True)
class NoColumns(Finding):
    """A detector without columns: it can't score a table, and has no inputs to export."""

    code = "detector-without-columns"
    example = {}

    def text(self, on: Surface) -> str:
        return "this detector has no columns, so it can't score a table."


@dataclass(frozen=True)
class ColumnReserved(Finding):
    """A column to keep has the name of one that a detector adds."""

    code = "column-reserved"
    example = {"column": "score"}
    column: str

    def text(self, on: Surface) -> str:
        return (
            f"a detector adds a column {shown(self.column)}, so an input column of that name can't "
            f"be kept. Rename it, or choose the columns to keep ({on.fix(Fix('keep'))})."
        )


@dataclass(frozen=True)
class CostsMissing(Finding):
    """A threshold is to follow from costs, and the detector has none."""

    code = "costs-missing"
    example = {"fixes": (Fix("costs"), Fix("threshold"))}

    def text(self, on: Surface) -> str:
        costs, threshold = on.fix(Fix("costs")), on.fix(Fix("threshold"))
        return (
            "this model has no costs, from which a threshold could follow. Give costs "
            f"({costs}) or a threshold ({threshold})."
        )


@dataclass(frozen=True)
class LimitsKept(Finding):
    """A detector was chosen under limits, which another threshold need not meet."""

    code = "limits-kept"
    example = {"limits": ("recall >= 0.9",), "fixes": (Fix("drop_limits", True),)}
    limits: tuple[str, ...]

    def text(self, on: Surface) -> str:
        return (
            f"the model was fitted subject to {' and '.join(self.limits)}, which another threshold "
            f"may break. Fit it again, or drop the limits ({on.fix(Fix('drop_limits', True))})."
        )


class _Unseen(Finding):
    """Rows with a value such as no training row had in a column."""

    severity = Severity.WARNING
    column: str
    rows: int
    of: int

    def _count(self) -> str:
        have = "has" if self.rows == 1 else "have"
        share = f"{100 * self.rows / self.of:.2g} %"
        return f"{self.rows:,} of {self.of:,} rows ({share}) {have}"


@dataclass(frozen=True)
class UnseenLevel(_Unseen):
    """Rows with a level that no training row had: it counts as the average."""

    code = "unseen-level"
    example = {"column": "city", "rows": 2, "of": 3, "value": "Rome"}
    column: str
    rows: int
    of: int
    """How many rows there are in all."""
    value: str
    """One of them."""

    def text(self, on: Surface) -> str:
        return (
            f"{self._count()} a value of {shown(self.column)} that was not seen in training, such "
            f"as {shown(self.value)}."
        )


@dataclass(frozen=True)
class UnseenMissing(_Unseen):
    """Rows without a value in a column in which every training row had one: as the average."""

    code = "unseen-missing"
    example = {"column": "age", "rows": 1, "of": 3}
    column: str
    rows: int
    of: int

    def text(self, on: Surface) -> str:
        return f"{self._count()} no {shown(self.column)}, which was never missing in training."


@dataclass(frozen=True)
class UnseenNumber(_Unseen):
    """Rows with a number or a date outside of the range of the training rows."""

    code = "unseen-number"
    example = {"column": "age", "rows": 1, "of": 3, "low": "18", "high": "90", "value": "131"}
    column: str
    rows: int
    of: int
    low: str
    high: str
    """The range of the training rows."""
    value: str
    """The one farthest from it."""

    def text(self, on: Surface) -> str:
        return (
            f"{self._count()} {shown(self.column)} outside the training range, {self.low} to "
            f"{self.high}, such as {self.value}."
        )


@dataclass(frozen=True)
class ScoresOutside(Finding):
    """Scores that are far from all scores that a policy was chosen on: of another scale, say."""

    code = "scores-outside"
    severity = Severity.WARNING
    example = {"share": 0.4, "low": 0.01, "high": 0.98, "value": 97.0, "times": 99.0}
    share: float
    """The share of the rows that have such scores."""
    low: float
    high: float
    """The range of the evidence."""
    value: float
    """The score that is farthest from it."""
    times: float
    """How far that is, in widths of the range."""

    def text(self, on: Surface) -> str:
        return (
            f"{100 * self.share:.2g} % of the scores are far outside the range of the evidence, "
            f"{self.low:.6g} to {self.high:.6g}; {self.value:.6g} is {self.times:.3g} times its "
            "width away. Check that the scores are of the same model and scale."
        )


# ------------------------------------------------------------------------------------------ export


@dataclass(frozen=True)
class NamesCoincide(Finding):
    """Two columns would be one in a database, which does not tell capital letters apart."""

    code = "names-coincide"
    example = {"first": "Age", "second": "age"}
    first: str
    second: str

    def text(self, on: Surface) -> str:
        return (
            f"column names of databases are case-insensitive; {shown(self.first)} and "
            f"{shown(self.second)} would be one. Rename one before fitting."
        )


@dataclass(frozen=True)
class NotExportable(Finding):
    """A name or a level that the other format can't hold."""

    code = "not-exportable"
    example = {"value": "a\0b", "format": "SQL", "reason": "the character NUL is in it"}
    value: str
    format: str
    reason: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.format} can't hold {shown(self.value)}: {self.reason}. Rename it before "
            "fitting."
        )


@dataclass(frozen=True)
class DialectNeeded(Finding):
    """A model with dates or infinite values, which databases write in different ways."""

    code = "dialect-needed"
    example = {"column": "day", "fixes": (Fix("dialect", "duckdb"), Fix("dialect", "sqlite"))}
    column: str
    kind: str = "a date"
    """What it holds: "a date", "infinite"."""

    def text(self, on: Surface) -> str:
        ways = either([on.fix(fix) for fix in self.fixes], show=str)
        what = "dates" if self.kind == "a date" else "infinity"
        return (
            f"{shown(self.column)} is {self.kind}, and databases write {what} differently. Name "
            f"the dialect: {ways}."
        )
