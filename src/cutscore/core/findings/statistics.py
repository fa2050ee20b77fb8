"""Measures, intervals, calibrators and learners: what can't be asked for, what has no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Severity,
    Surface,
    Where,
    either,
    sentence,
    shown,
)


@dataclass(frozen=True)
class MeasureUnknown(Finding):
    """A name that is not the name of a measure of a threshold."""

    code = "measure-unknown"
    example = {"name": "recal", "near": ("recall",)}
    name: str
    near: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    reason: str = ""
    """Why it can't be one, if it is the name of something else: "of all cuts together"."""

    def text(self, on: Surface) -> str:
        hint = self.reason or f"Names: {', '.join(self.known)} …"
        if self.near:
            hint = f"Did you mean {either(self.near, show=str)}?"
        return sentence(f"{shown(self.name)} is not the name of a measure.", hint)


@dataclass(frozen=True)
class BadLimit(Finding):
    """A limit that can't be read, or that no rate or count can have."""

    code = "bad-limit"
    example = {"limit": "fpr = 0.1", "rule": "a limit must have the form 'measure >= number'"}
    limit: str
    rule: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.rule}; the limit is {shown(self.limit)}.", self.hint)


@dataclass(frozen=True)
class BadCosts(Finding):
    """Costs that no decision can be made by: infinite, negative, or all 0."""

    code = "bad-costs"
    example = {"rule": "a cost must be a finite number, up to 1e100; fp is inf"}
    rule: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.rule}.", self.hint)


@dataclass(frozen=True)
class Undefined(Finding):
    """A measure that is 0/0 everywhere, or has no value for another reason."""

    code = "undefined"
    example = {
        "what": "recall",
        "why": "is 0/0 at every cut of this sweep, so none is the best",
        "hint": "Aim at something else.",
    }
    what: str
    why: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.what} {self.why}.", self.hint)


@dataclass(frozen=True)
class OneClass(Finding):
    """A measure needs rows of both classes, or of one that is not there."""

    code = "one-class"
    example = {"what": "the AUC", "need": "positives and negatives", "have": "negative (2 of them)"}
    what: str
    need: str
    have: str
    hint: str = "Check the labels and which of them is positive, or add rows of the other class."

    def text(self, on: Surface) -> str:
        return f"all rows are {self.have}; {self.what} needs {self.need}. {self.hint}"


@dataclass(frozen=True)
class TooFew(Finding):
    """A statistic needs more rows, units or groups than there are."""

    code = "too-few"
    example = {"what": "cross-fitting", "need": 2, "of": "rows of each class", "have": 1}
    what: str
    need: float
    of: str
    """What is counted: "rows of each class"."""
    have: float
    """How many there are; of weighted ones the effective number."""
    hint: str = ""
    above: bool = False
    """Whether ``need`` itself is too few."""

    def text(self, on: Surface) -> str:
        than, have = "more than" if self.above else "at least", f"{self.have:,.4g}"
        need = f"{self.what} needs {than} {self.need:,.4g} {self.of}"
        return sentence(f"{need}; there {'is' if have == '1' else 'are'} {have}.", self.hint)


@dataclass(frozen=True)
class NotProbabilities(Finding):
    """Scores must be probabilities here, and one is not."""

    code = "not-probabilities"
    example = {"what": "the log loss", "score": 2.5, "hint": "Calibrate the scores first."}
    what: str
    score: float
    range: str = "from 0 to 1"
    hint: str = ""

    def text(self, on: Surface) -> str:
        place = on.place(self.where) if self.where and self.where.row is not None else "a score"
        need = f"{self.what} needs probabilities, {self.range}"
        return sentence(f"{need}; {place} is {self.score:.6g}.", self.hint)


@dataclass(frozen=True)
class NotFinite(Finding):
    """Scores or features must be finite here, and one is NaN, infinite or far too large."""

    code = "not-finite"
    example = {"what": "features", "value": float("inf"), "where": Where(3, "X")}
    what: str
    """What must be finite: "features", "scores of platt calibration"."""
    value: Any = ...
    index: int | None = None
    """The number of the column, where only that is known."""
    most: str = ""
    """Up to which absolute value, where that is less than any float: "1e300"."""
    hint: str = "Drop such rows or fill them in."

    def text(self, on: Surface) -> str:
        most = f", within ±{self.most}" if self.most else ""
        if self.index is not None:
            bad = f"column {self.index} has a NaN, an infinity or too large a number"
        else:
            bad = f"{on.place(self.where) if self.where else 'one'} is {shown(self.value)}"
        return sentence(f"{self.what} must be finite{most}; {bad}.", self.hint)


@dataclass(frozen=True)
class BeyondFloats(Finding):
    """A number of the computation is too large or too small for float64."""

    code = "beyond-floats"
    example = {"what": "squares of column 3", "hint": "Divide it by 1e150."}
    what: str
    value: float | None = None
    hint: str = "Rescale it."

    def text(self, on: Surface) -> str:
        value = "" if self.value is None else f"; here it is {self.value:.4g}"
        return sentence(f"{self.what} must be within the range of float64{value}.", self.hint)


@dataclass(frozen=True)
class NoVariation(Finding):
    """What a standard error or a width is computed from does not vary."""

    code = "no-variation"
    example = {"what": "the difference of the AUCs", "hint": "Get rows on which both are wrong."}
    what: str
    over: str = "over these rows"
    """Over what it should vary: "within a class"."""
    so: str = "its uncertainty is unknown"
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.what} does not vary {self.over}, so {self.so}.", self.hint)


@dataclass(frozen=True)
class NoOverlap(Finding):
    """The scores separate the classes, and no curve or line is the most likely one."""

    code = "no-overlap"
    example = {"what": "platt calibration", "hint": "Use smooth=True, or 'monotone'."}
    what: str
    why: str = "the steeper the line, the higher the likelihood"
    hint: str = ""

    def text(self, on: Surface) -> str:
        rule = f"{self.what} needs classes that overlap enough; these do not"
        return sentence(f"{rule}: {self.why}.", self.hint)


@dataclass(frozen=True)
class CountsRows(Finding):
    """The method counts rows, and weights make them count for more or less."""

    code = "counts-rows"
    example = {"what": "a guarantee", "hint": "Leave the weights out."}
    what: str
    hint: str = "Leave the weights out."

    def text(self, on: Surface) -> str:
        return f"{self.what} counts rows, and weights make them count for more or less. {self.hint}"


@dataclass(frozen=True)
class RowsDependent(Finding):
    """The method takes rows as independent, and rows of one unit are not."""

    code = "rows-dependent"
    example = {"what": "a guarantee of the precision", "hint": "Keep one row of each unit."}
    what: str
    hint: str

    def text(self, on: Surface) -> str:
        return f"{self.what} takes rows as independent; rows of one unit are not. {self.hint}"


@dataclass(frozen=True)
class SquaresMissing(Finding):
    """The variance of weighted rows needs sums of squared weights, which the sweep has not."""

    code = "squares-missing"
    example = {"what": "an interval of the AUC"}
    what: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.what} of weighted rows needs the sums of their squared weights; this sweep has "
            "none. Make it with sweep(y, score, weight, squares=True)."
        )


@dataclass(frozen=True)
class SweepCompact(Finding):
    """Every score is needed, and runs of scores of one class were merged."""

    code = "sweep-compact"
    example = {"what": "calibration"}
    what: str
    hint: str = "Take the sweep as it was before (compact=False)."

    def text(self, on: Surface) -> str:
        return (
            f"{self.what} needs every score; runs of one class were merged by compact(). "
            f"{self.hint}{''.join(f' ({on.fix(fix)})' for fix in self.fixes)}"
        )


@dataclass(frozen=True)
class CantMerge(Finding):
    """Summaries of blocks of rows that were made in different ways can't be added."""

    code = "cant-merge"
    example = {"what": "binned sweeps", "same": "bits", "values": (8, 9)}
    what: str
    same: str
    """What they must have in common."""
    values: tuple[Any, ...] = ()
    """What each of the two has."""
    hint: str = ""

    def text(self, on: Surface) -> str:
        have = f"; these have {either(self.values, 'and', show=str)}" if self.values else ""
        return sentence(
            f"{self.what} that are added must have the same {self.same}{have}.", self.hint
        )


@dataclass(frozen=True)
class NotAnEdge(Finding):
    """A binned sweep is exact at the edges of its bins only, and the threshold is inside of one."""

    code = "not-an-edge"
    example = {"threshold": 0.2, "edges": (0.1953125, 0.203125)}
    threshold: float
    edges: tuple[float, ...]
    """Those around it."""

    def text(self, on: Surface) -> str:
        edges = either(self.edges, "and", show=lambda edge: f"{edge:.9g}")
        return (
            f"a BinnedSweep is exact only at the edges of its bins; {self.threshold!r} is not one. "
            f"The edges around it are {edges}."
        )


@dataclass(frozen=True)
class FoldOneClass(Finding):
    """All rows of a class are in one fold: nothing can be fitted without it."""

    code = "fold-one-class"
    example = {"fold": 0}
    fold: int

    def text(self, on: Surface) -> str:
        return (
            f"all rows of one class are in fold {self.fold}: there is nothing to fit to without "
            "it. Use fewer folds, or smaller units if one has them all."
        )


@dataclass(frozen=True)
class OutOfReach(Finding):
    """No study of any size would show what is asked for."""

    code = "out-of-reach"
    example = {"what": "no number of rows has that power", "hint": "Allow a wider margin."}
    what: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.what}.", self.hint)


@dataclass(frozen=True)
class NotAMixture(Finding):
    """No mixture of the labelled classes explains the scores of a batch."""

    code = "not-a-mixture"
    severity = Severity.WARNING
    example = {"p_value": 0.003}
    p_value: float

    def text(self, on: Surface) -> str:
        return (
            f"no mixture of the labelled classes explains these scores (p = {self.p_value:.2g}): "
            "the scores within a class have changed, and the prior and its interval may be wrong. "
            "Label some rows of the batch."
        )


@dataclass(frozen=True)
class ClassEmpty(Finding):
    """One of several classes has no rows, or all of them weigh 0."""

    code = "class-empty"
    example = {"what": "logistic regression", "index": 2}
    what: str
    index: int
    """Its number, in the order of the labels."""

    def text(self, on: Surface) -> str:
        return f"{self.what} needs rows of all classes; class {self.index} has none."


@dataclass(frozen=True)
class NotConverged(Finding):
    """A learner stopped before it was done."""

    code = "not-converged"
    severity = Severity.WARNING
    example = {"learner": "Logistic", "steps": 100, "most": 100, "hint": "Raise max_iter."}
    learner: str
    steps: int
    most: int
    """How many it was allowed."""
    hint: str
    state: str = ""
    """How far it got."""

    def text(self, on: Surface) -> str:
        state = f": {self.state}" if self.state else ""
        steps = f"in {self.steps:,} of at most {self.most:,} steps"
        return f"{self.learner} did not converge {steps}{state}. {self.hint}"


@dataclass(frozen=True)
class LearnedNothing(Finding):
    """The best line by a surrogate measure has the weights 0: it separates nothing."""

    code = "learned-nothing"
    severity = Severity.WARNING
    example = {"learner": "Structural"}
    learner: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.learner} learned nothing: the surrogate of this measure is lowest at w = 0, to "
            "within tol. Either the classes overlap so much that the highest-scored negatives "
            "outdo the positives along every line: use Logistic, and choose a threshold for the "
            "measure. Or C is too small for features of this size: raise C, or standardise them."
        )


@dataclass(frozen=True)
class PositiveAssumed(Finding):
    """A measure is about the positives, and the label that sorts last was taken for them."""

    code = "positive-assumed"
    severity = Severity.WARNING
    example = {"positive": "spam", "negative": "ham"}
    positive: Any
    negative: Any

    def text(self, on: Surface) -> str:
        taken, other = shown(self.positive), shown(self.negative)
        return (
            f"the measure is about the positives, and {taken} was taken for them, since it sorts "
            f"last. For the other class pass the labels y == {other}; y == {taken} says that this "
            "one is meant."
        )


@dataclass(frozen=True)
class WeightsUnused(Finding):
    """A model takes no weights of rows: they were used for its calibrator alone."""

    code = "weights-unused"
    severity = Severity.WARNING
    example = {"model": "KNeighborsClassifier"}
    model: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        what = f"{self.model} takes no sample_weight; only the calibrator uses it."
        return sentence(what, self.hint)
