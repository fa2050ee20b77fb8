"""From a table to a detector."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Severity,
    Surface,
    counted,
    sentence,
    shown,
)

# ----------------------------------------------------------------------------- what columns became


class ColumnNote(Finding):
    """What became of a column."""

    severity = Severity.NOTE
    column: str


@dataclass(frozen=True)
class ColumnNumber(ColumnNote):
    """A column of numbers or dates became a standardised feature."""

    code = "column-number"
    example = {"column": "age", "mean": "40", "deviation": 8.2, "missing": 0.25}
    column: str
    mean: str
    deviation: float
    missing: float = 0.0
    """The share of the rows that has no value."""
    date: bool = False

    def text(self, on: Surface) -> str:
        what = "a date, in days" if self.date else "numeric"
        gone = f"; {percent(self.missing)} missing, with an indicator" if self.missing else ""
        return (
            f"{shown(self.column)} is {what}: mean {self.mean}, standard deviation "
            f"{self.deviation:.6g}{gone}."
        )


@dataclass(frozen=True)
class ColumnCategory(ColumnNote):
    """A column became a feature for each level but the most frequent, the reference level."""

    code = "column-category"
    example = {
        "column": "colour",
        "levels": ("red", "blue"),
        "shares": (0.75, 0.25),
        "reference": "'red'",
    }
    column: str
    levels: tuple[str, ...]
    """The most frequent ones."""
    shares: tuple[float, ...]
    reference: str
    count: int = 0
    """How many levels there are, if these are not all."""
    rare: int = 0
    """How many values together are 'other',"""
    other: float = 0.0
    """and their share."""
    missing: float = 0.0
    boolean: bool = False

    def text(self, on: Surface) -> str:
        pairs = zip(self.levels, self.shares, strict=True)
        parts = [f"{shown(level)} ({percent(share)})" for level, share in pairs]
        some = ", ".join(parts) + (f", … {self.count} levels" if self.count else "")
        if self.rare:
            what = f"{counted(self.rare, 'rarer value')} ({percent(self.other)})"
            some += f"{', ' if some else ''}{what} together as 'other'"
        if self.missing:
            some += f"; {percent(self.missing)} missing, a level of its own"
        what = "boolean" if self.boolean else "categorical"
        return f"{shown(self.column)} is {what}: {some}; reference level: {self.reference}."


_WHY = {
    "constant": "it is {} in every row",
    "empty": "it has no values",
    "type": "columns of type {} are not supported",
    "identifier": "its values are all different, as those of an identifier",
    "row-ids": "it numbers the rows",
    "many": "it has more than {} different values",
    "rare": "no value occurs in {} rows or more",
}


@dataclass(frozen=True)
class ColumnUnused(ColumnNote):
    """A column is not used: it has one value, none, an identifier of each row, or another type."""

    code = "column-unused"
    example = {"column": "id", "reason": "row-ids"}
    column: str
    reason: str
    """constant, empty, type, identifier, row-ids, many or rare."""
    value: str = ""

    def text(self, on: Surface) -> str:
        why = _WHY[self.reason].format(self.value)
        use = ""
        if self.reason == "row-ids":
            use = f"To use it anyway: {on.fix(Fix('numbers', self.column))}."
        return sentence(f"{shown(self.column)} is not used: {why}.", use)


@dataclass(frozen=True)
class ColumnsNumbers(ColumnNote):
    """All columns are numbers without a gap, as those of a libsvm file are."""

    code = "columns-numbers"
    example = {"columns": 20}
    columns: int

    def text(self, on: Surface) -> str:
        return f"{counted(self.columns, 'column')} of numbers, used as they are."


@dataclass(frozen=True)
class ColumnUnreadable(Finding):
    """A column that was asked for has a type that is not read."""

    code = "column-unreadable"
    example = {"column": "tags", "type": "list<string>"}
    column: str
    type: str

    def text(self, on: Surface) -> str:
        return (
            f"{shown(self.column)} can't be used: columns of type {self.type} are not supported. "
            "Exclude it, or convert it to numbers or text."
        )


@dataclass(frozen=True)
class NothingToLearnFrom(Finding):
    """No column can be used."""

    code = "no-features"
    example = {"first": "id", "reason": "row-ids"}
    first: str | None = None
    """The first column that is not used, if there are any besides the target."""
    reason: str = ""
    value: str = ""

    def text(self, on: Surface) -> str:
        why = "there are none besides the target."
        if self.first is not None:
            why = ColumnUnused(self.first, self.reason, self.value).text(on)
        return f"no column can be used to learn from: {why}"


# -------------------------------------------------------------------------------- rows and classes


@dataclass(frozen=True)
class RowsWeightless(Finding):
    """Rows of weight 0 are left out."""

    code = "rows-weightless"
    severity = Severity.NOTE
    example = {"rows": 12}
    rows: int

    def text(self, on: Surface) -> str:
        return (
            f"{counted(self.rows, 'row')} of weight 0 {'is' if self.rows == 1 else 'are'} ignored."
        )


@dataclass(frozen=True)
class RowsWeighted(Finding):
    """Rows count by a column of weights: rates and the prior are of weights, not of rows."""

    code = "rows-weighted"
    severity = Severity.NOTE
    example = {"column": "times", "share": 0.12}
    column: str
    share: float
    """Of the weight that is positive."""

    def text(self, on: Surface) -> str:
        share = f"{100 * self.share:.4g} %"
        return f"Rows are weighted by {shown(self.column)}; {share} of the weight is positive."


@dataclass(frozen=True)
class ClassMissing(Finding):
    """All rows are of one class."""

    code = "class-missing"
    example = {"column": "fraud", "rows": 60, "only": "negative"}
    column: str
    rows: int
    only: str

    def text(self, on: Surface) -> str:
        return (
            f"all {self.rows:,} rows are {self.only} in {shown(self.column)}; both classes are "
            f"needed. Is it the right column, and the right positive label "
            f"({on.fix(Fix('positive'))})?"
        )


@dataclass(frozen=True)
class ClassTooSmall(Finding):
    """A class has a single row: there is none to learn from and one to try it on."""

    code = "class-too-small"
    example = {"rows": 1}
    rows: int

    def text(self, on: Surface) -> str:
        return (
            "each class must have at least 2 rows, to learn from and to validate on; the rarer "
            f"class has {self.rows}."
        )


@dataclass(frozen=True)
class UnitsTooFew(Finding):
    """There are fewer units than folds, and no unit may be in two."""

    code = "units-too-few"
    example = {"units": 3, "folds": 5}
    units: int
    folds: int

    def text(self, on: Surface) -> str:
        return (
            f"there must be at least as many clusters as folds; there are {self.units} and "
            f"{self.folds}. Use fewer folds ({on.fix(Fix('folds', max(self.units, 2)))})."
        )


@dataclass(frozen=True)
class FoldHasClass(Finding):
    """All rows of one class are in one fold, since rows of one unit stay together."""

    code = "fold-has-class"
    example = {"fold": 1, "folds": 5}
    fold: int
    folds: int

    def text(self, on: Surface) -> str:
        return (
            f"all rows of one class are in fold {self.fold} of {self.folds}, because clusters stay "
            "together. Use fewer folds, or smaller clusters."
        )


# ---------------------------------------------------------------------------------------- learners


class LearnerNote(Finding):
    """What is to be said of a learner among others."""

    severity = Severity.NOTE


@dataclass(frozen=True)
class LearnerLeftOut(LearnerNote):
    """A learner that inverts a matrix of all features is not tried on so many."""

    code = "learner-left-out"
    example = {"most": 2000}
    most: int

    def text(self, on: Surface) -> str:
        return f"left out: there are more than {self.most:,} features."


@dataclass(frozen=True)
class LearnerNeedsMemory(LearnerNote):
    """Boosted trees are fitted to tables in memory: not to streamed ones, nor on a cluster, nor to
    a sparse one that would not fit with all its zeros."""

    code = "learner-needs-memory"
    example = {"learner": "lightgbm"}
    learner: str

    def text(self, on: Surface) -> str:
        return "it needs the whole table in memory, with all its zeros."


@dataclass(frozen=True)
class LearnerFailed(LearnerNote):
    """A learner could not be fitted."""

    code = "learner-failed"
    example = {"reason": "there is not enough memory for it."}
    reason: str

    def text(self, on: Surface) -> str:
        return self.reason


@dataclass(frozen=True)
class LearnerEmpty(LearnerNote):
    """A learner found nothing: all weights are 0."""

    code = "learner-empty"
    example = {"times": 2, "folds": 5}
    times: int
    folds: int

    def text(self, on: Surface) -> str:
        of = "" if self.folds == 1 else f" in {self.times} of {self.folds} folds"
        return f"learned nothing{of}: all weights are 0."


@dataclass(frozen=True)
class LearnerUnfinished(LearnerNote):
    """A learner stopped before it had converged: its weights are not the best ones yet."""

    code = "learner-unfinished"
    severity = Severity.WARNING
    example = {"learner": "logistic", "times": 2, "folds": 5}
    learner: str
    times: int = 1
    folds: int = 1

    def text(self, on: Surface) -> str:
        if self.folds == 1:
            return (
                f"{self.learner} stopped before it had converged: its weights are not the best "
                "ones yet."
            )
        return f"stopped before it had converged in {self.times} of {self.folds} folds."


@dataclass(frozen=True)
class LearnerSampled(LearnerNote):
    """A slow learner was fitted to a sample of the rows."""

    code = "learner-sampled"
    example = {"rows": 50000}
    rows: int

    def text(self, on: Surface) -> str:
        return f"fitted to a sample of {self.rows:,} rows in each fold."


@dataclass(frozen=True)
class LinePrice(LearnerNote):
    """What the best line costs, or achieves, beside boosted trees: a line can be read."""

    code = "line-price"
    example = {
        "measure": "cost",
        "line": "logistic",
        "of_line": 0.52,
        "trees": "lightgbm",
        "of_trees": 0.5,
    }
    measure: str
    """What learners are compared by."""
    line: str
    of_line: float
    """What to expect of the best line on new rows,"""
    trees: str
    of_trees: float
    """and of the trees."""

    def text(self, on: Surface) -> str:
        name = self.line
        if self.measure == "cost" and self.of_trees > 0:
            share = self.of_line / self.of_trees - 1
            much = f"{abs(100 * share):.2g} % {'more' if share > 0 else 'less'}"
            return f"The line, {name}, costs {much} than {self.trees}; you can read it."
        return (
            f"The line, {name}, has {self.measure} {self.of_line:.4g}, and {self.trees} "
            f"{self.of_trees:.4g}; you can read the line."
        )


@dataclass(frozen=True)
class NoLearner(Finding):
    """No learner could be fitted."""

    code = "no-learner"
    example = {"learner": "logistic", "reason": "there is not enough memory for it."}
    learner: str
    reason: str

    def text(self, on: Surface) -> str:
        return f"no learner could be fitted; {self.learner}: {self.reason}"


@dataclass(frozen=True)
class NothingLearned(Finding):
    """All weights of every learner that was tried are 0: all rows get the same score."""

    code = "nothing-learned"
    example = {"learners": ("structural",)}
    learners: tuple[str, ...]

    def text(self, on: Surface) -> str:
        return (
            "no learner separates the classes: all weights are 0, and all rows get the same "
            f"score. Use other columns, or another learner ({on.fix(Fix('learner', 'logistic'))})."
        )


# ------------------------------------------------------------------------------- doubtful numbers


@dataclass(frozen=True)
class Leak(Finding):
    """One feature alone ranks the classes almost perfectly: it may be known only afterwards."""

    code = "leak"
    severity = Severity.WARNING
    example = {"feature": "closed", "auc": 0.998, "fixes": (Fix("exclude", "closed"),)}
    feature: str
    auc: float

    def text(self, on: Surface) -> str:
        way = f" ({on.fix(self.fixes[0])})" if self.fixes else ""
        return (
            f"{shown(self.feature)} alone has an AUC of {self.auc:.3f}: is it known before the "
            f"outcome? If not, it leaks the label: exclude it{way}."
        )


@dataclass(frozen=True)
class FoldsApart(Finding):
    """Scores of different folds can't be laid together: no threshold is good for all of them."""

    code = "folds-apart"
    severity = Severity.WARNING
    example = {"within": 0.91, "over": 0.84}
    within: float
    """The mean AUC within folds,"""
    over: float
    """and the AUC over all of them."""

    def text(self, on: Surface) -> str:
        return (
            f"The AUC is {self.within:.3f} within folds and {self.over:.3f} over all of them: "
            "models of different folds differ so much that they can't share a threshold. More rows "
            "or fewer columns would help."
        )


def percent(share: float) -> str:
    """Never all where some are not."""
    text = f"{100 * share:.3g} %"
    return text if text != "100 %" or share == 1 else f"{100 * share:.6g} %"
