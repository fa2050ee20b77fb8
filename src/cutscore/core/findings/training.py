"""From a table to a detector."""

from __future__ import annotations

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Note,
    Surface,
    Warn,
    counted,
    sentence,
    shown,
)

# ----------------------------------------------------------------------------- what columns became


class ColumnNote(Note):
    """How a column is used."""


class ColumnNumber(ColumnNote, code="column-number"):
    """A column of numbers or dates became a standardised feature."""

    column: str
    mean: str
    deviation: float
    missing: float = 0.0
    """The share of the rows that has no value."""
    date: bool = False
    indicator: bool = True
    """Whether a missing value is a feature too: not for trees, which take it as it is."""
    example = {"column": "age", "mean": "40", "deviation": 8.2, "missing": 0.25}

    def text(self, on: Surface) -> str:
        what = "a date, in days" if self.date else "numeric"
        gone = f"; {percent(self.missing)} missing" if self.missing else ""
        gone += " (indicator column added)" if self.missing and self.indicator else ""
        return (
            f"{shown(self.column)} is {what}: mean {self.mean}, standard deviation "
            f"{self.deviation:.6g}{gone}."
        )


class ColumnCategory(ColumnNote, code="column-category"):
    """A column became one 0/1 feature per level except the most frequent, the reference level."""

    column: str
    levels: tuple[str, ...]
    """The most frequent ones."""
    shares: tuple[float, ...]
    reference: str
    """Empty for trees, which take levels as they are."""
    count: int = 0
    """How many levels there are, if these are not all."""
    rare: int = 0
    """How many values together are 'other',"""
    other: float = 0.0
    """and their share."""
    missing: float = 0.0
    boolean: bool = False
    example = {
        "column": "colour",
        "levels": ("red", "blue"),
        "shares": (0.75, 0.25),
        "reference": "'red'",
    }

    def text(self, on: Surface) -> str:
        pairs = zip(self.levels, self.shares, strict=True)
        parts = [f"{shown(level)} ({percent(share)})" for level, share in pairs]
        some = ", ".join(parts) + (f", … {self.count} levels" if self.count else "")
        if self.rare:
            what = f"{counted(self.rare, 'rarer value')} ({percent(self.other)})"
            some += f"{', ' if some else ''}{what} combined as 'other'"
        if self.missing:
            own = " (separate level)" if self.reference else ""
            some += f"; {percent(self.missing)} missing{own}"
        what = "boolean" if self.boolean else "categorical"
        last = f"; reference level: {self.reference}" if self.reference else ""
        return f"{shown(self.column)} is {what}: {some}{last}."


_WHY = {
    "constant": "it is {} in every row",
    "empty": "it has no values",
    "type": "columns of type {} are not supported",
    "identifier": "every value is unique, so it looks like an identifier",
    "row-ids": "it looks like a row number",
    "many": "it has more than {} distinct values",
    "rare": "no value occurs in {} or more rows",
}


class ColumnUnused(ColumnNote, code="column-unused"):
    """A column is not used: it is constant, empty, an identifier, or of an unsupported type."""

    column: str
    reason: str
    """constant, empty, type, identifier, row-ids, many or rare."""
    value: str = ""
    example = {"column": "id", "reason": "row-ids"}

    def text(self, on: Surface) -> str:
        why = _WHY[self.reason].format(self.value)
        use = ""
        if self.reason == "row-ids":
            use = f"To use it anyway: {on.fix(Fix('numbers', self.column))}."
        return sentence(f"{shown(self.column)} is not used: {why}.", use)


class ColumnsNumbers(ColumnNote, code="columns-numbers"):
    """All columns are numeric without missing values, as in a libsvm file."""

    columns: int
    template = "{columns:column}, all numeric, used unchanged."
    example = {"columns": 20}


class NothingToLearnFrom(Finding, code="no-features"):
    """No column can be used as a feature."""

    first: str | None = None
    """The first column that is not used, if there are any besides the target."""
    reason: str = ""
    value: str = ""
    example = {"first": "id", "reason": "row-ids"}

    def text(self, on: Surface) -> str:
        why = "there are none besides the target."
        if self.first is not None:
            why = ColumnUnused(self.first, self.reason, self.value).text(on)
        return f"no column can be used as a feature: {why}"


# -------------------------------------------------------------------------------- rows and classes


class RowsWeightless(Note, code="rows-weightless"):
    """Rows with weight 0 are left out."""

    rows: int
    template = "{rows:row} with weight 0 {were} left out."
    example = {"rows": 12}

    @property
    def were(self) -> str:
        return "was" if self.rows == 1 else "were"


class RowsWeighted(Note, code="rows-weighted"):
    """Rows are weighted by a column: rates and the prior are weighted too."""

    column: str
    share: float
    """The share of the weight that is positive."""
    template = "Rows are weighted by {column!r}; {share:.4g %} of the weight is positive."
    example = {"column": "times", "share": 0.12}


# ---------------------------------------------------------------------------------------- learners


class LearnerSkipped(Note, code="learner-skipped"):
    """A learner could not be fitted, or was left out."""

    reason: str
    template = "{reason}"
    example = {"reason": "there is not enough memory for it."}


class LearnerEmpty(Note, code="learner-empty"):
    """A learner learned nothing: all weights are 0."""

    times: int
    folds: int
    example = {"times": 2, "folds": 5}

    def text(self, on: Surface) -> str:
        of = "" if self.folds == 1 else f" in {self.times} of {self.folds} folds"
        return f"learned nothing{of}: all weights are 0."


class LearnerSampled(Note, code="learner-sampled"):
    """A slow learner was fitted to a sample of the rows."""

    rows: int
    template = "fitted to a sample of {rows:,} rows in each fold."
    example = {"rows": 50000}


class LinePrice(Note, code="line-price"):
    """How the best linear model compares with boosted trees; a linear model is interpretable."""

    measure: str
    """What learners are compared by."""
    line: str
    of_line: float
    """The expected value of the best linear model on new rows,"""
    trees: str
    of_trees: float
    """and of the trees."""
    example = {
        "measure": "cost",
        "line": "logistic",
        "of_line": 0.52,
        "trees": "lightgbm",
        "of_trees": 0.5,
    }

    def text(self, on: Surface) -> str:
        name = self.line
        if self.measure == "cost" and self.of_trees > 0:
            share = self.of_line / self.of_trees - 1
            much = f"{abs(100 * share):.2g} % {'higher' if share > 0 else 'lower'}"
            return (
                f"The linear model ({name}) has {much} expected cost than {self.trees} and is "
                "interpretable."
            )
        return (
            f"The linear model ({name}) has {self.measure} {self.of_line:.4g}, {self.trees} "
            f"{self.of_trees:.4g}; the linear model is interpretable."
        )


class NoLearner(Finding, code="no-learner"):
    """No learner could be fitted."""

    learner: str
    reason: str
    template = "no learner could be fitted; {learner}: {reason}"
    example = {"learner": "logistic", "reason": "there is not enough memory for it."}


class NothingLearned(Finding, code="nothing-learned"):
    """Every learner that was tried has only zero weights, so all rows get the same score."""

    learners: tuple[str, ...]
    template = (
        "no learner separates the classes: all weights are 0, so all rows get the same score. Use "
        "other columns, or another learner ({fix[learner]})."
    )
    example = {"learners": ("structural",)}


# ------------------------------------------------------------------------------- doubtful numbers


class Leak(Warn, code="leak"):
    """One feature alone ranks the classes almost perfectly; it may leak the label."""

    feature: str
    auc: float
    example = {"feature": "closed", "auc": 0.998, "fixes": (Fix("exclude", "closed"),)}

    def text(self, on: Surface) -> str:
        way = f" ({on.fix(self.fixes[0])})" if self.fixes else ""
        return (
            f"{shown(self.feature)} alone has an AUC of {self.auc:.3f}: is it known before the "
            f"outcome? If not, it leaks the label: exclude it{way}."
        )


class FoldsApart(Warn, code="folds-apart"):
    """Scores from different folds are not comparable: no single threshold suits all of them."""

    within: float
    """The mean AUC within folds,"""
    over: float
    """and the pooled AUC."""
    template = (
        "The AUC is {within:.3f} within folds but {over:.3f} pooled. The fold models are on "
        "different scales, so no single threshold suits all of them. More rows or fewer columns "
        "would help."
    )
    example = {"within": 0.91, "over": 0.84}


def percent(share: float) -> str:
    """Never all where some are not."""
    text = f"{100 * share:.3g} %"
    return text if text != "100 %" or share == 1 else f"{100 * share:.6g} %"
