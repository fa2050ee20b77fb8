"""Measures, intervals, calibrators and learners: what can't be asked for, what has no value."""

from __future__ import annotations

from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Surface,
    Warn,
    Where,
    either,
    sentence,
    shown,
)


class Undefined(Finding, code="undefined"):
    """A measure that is 0/0 everywhere, or has no value for another reason."""

    what: str
    why: str
    hint: str = ""
    template = "{what} {why}. {hint}"
    example = {
        "what": "recall",
        "why": "is 0/0 at every cut of this sweep, so none is the best",
        "hint": "Aim at something else.",
    }


class OneClass(Finding, code="one-class"):
    """A measure needs rows of both classes, or of one that is not there."""

    what: str
    need: str
    have: str
    hint: str = "Check the labels and which of them is positive, or add rows of the other class."
    template = "all rows are {have}; {what} needs {need}. {hint}"
    example = {"what": "the AUC", "need": "positives and negatives", "have": "negative (2 of them)"}


class TooFew(Finding, code="too-few"):
    """A statistic needs more rows, clusters or groups than there are."""

    what: str
    need: float
    of: str
    """What is counted: "rows of each class"."""
    have: float
    """How many there are; of weighted ones the effective number."""
    hint: str = ""
    above: bool = False
    """Whether ``need`` itself is too few."""
    example = {"what": "cross-fitting", "need": 2, "of": "rows of each class", "have": 1}

    def text(self, on: Surface) -> str:
        than, have = "more than" if self.above else "at least", f"{self.have:,.4g}"
        need = f"{self.what} needs {than} {self.need:,.4g} {self.of}"
        hint = f"Give {on.fix(self.fixes[0])}." if self.fixes else self.hint
        return sentence(f"{need}; there {'is' if have == '1' else 'are'} {have}.", hint)


class NotProbabilities(Finding, code="not-probabilities"):
    """Scores must be probabilities here, and one is not."""

    what: str
    score: float
    range: str = "from 0 to 1"
    hint: str = ""
    example = {"what": "the log loss", "score": 2.5, "hint": "Calibrate the scores first."}

    def text(self, on: Surface) -> str:
        place = on.place(self.where) if self.where and self.where.row is not None else "a score"
        need = f"{self.what} needs probabilities, {self.range}"
        return sentence(f"{need}; {place} is {self.score:.6g}.", self.hint)


class NotFinite(Finding, code="not-finite"):
    """Scores or features must be finite here, and one is NaN, infinite or far too large."""

    what: str
    """What must be finite: "features", "scores of platt calibration"."""
    value: Any = ...
    index: int | None = None
    """The number of the column, where only that is known."""
    most: str = ""
    """Up to which absolute value, where that is less than any float: "1e300"."""
    hint: str = "Drop such rows or fill them in."
    example = {"what": "features", "value": float("inf"), "where": Where(3, "X")}

    def text(self, on: Surface) -> str:
        most = f", within ±{self.most}" if self.most else ""
        if self.index is not None:
            bad = f"column {self.index} has a NaN, an infinity or too large a number"
        else:
            bad = f"{on.place(self.where) if self.where else 'one'} is {shown(self.value)}"
        return sentence(f"{self.what} must be finite{most}; {bad}.", self.hint)


class BeyondFloats(Finding, code="beyond-floats"):
    """A number of the computation is too large or too small for float64."""

    what: str
    value: float | None = None
    hint: str = "Rescale it."
    example = {"what": "squares of column 3", "hint": "Divide it by 1e150."}

    def text(self, on: Surface) -> str:
        value = "" if self.value is None else f"; here it is {self.value:.4g}"
        return sentence(f"{self.what} must be within the range of float64{value}.", self.hint)


class NoVariation(Finding, code="no-variation"):
    """What a standard error or a width is computed from does not vary."""

    what: str
    over: str = "over these rows"
    """Over what it should vary: "within a class"."""
    so: str = "its uncertainty is unknown"
    hint: str = ""
    template = "{what} does not vary {over}, so {so}. {hint}"
    example = {"what": "the difference of the AUCs", "hint": "Get rows on which both are wrong."}


class NoOverlap(Finding, code="no-overlap"):
    """The scores separate the classes, and no curve or line is the most likely one."""

    what: str
    why: str = "the steeper the line, the higher the likelihood"
    hint: str = ""
    template = "{what} needs classes that overlap enough; these do not: {why}. {hint}"
    example = {"what": "platt calibration", "hint": "Use smooth=True, or 'monotone'."}


class CountsRows(Finding, code="counts-rows"):
    """The method takes rows as equal and independent; weights or clusters say otherwise."""

    what: str
    hint: str = "Leave the weights out."
    given: str = "weights"
    template = "{what} takes rows as equal and independent; {given} say otherwise. {hint}"
    example = {"what": "a guarantee", "hint": "Leave the weights out."}


class SquaresMissing(Finding, code="squares-missing"):
    """The variance of weighted rows needs sums of squared weights, which the sweep has not."""

    what: str
    template = (
        "{what} of weighted rows needs the sums of their squared weights; this sweep has none. "
        "Make it with sweep(y, score, weight, squares=True)."
    )
    example = {"what": "an interval of the AUC"}


class SweepCompact(Finding, code="sweep-compact"):
    """Every score is needed, and runs of scores of one class were merged."""

    what: str
    hint: str = "Take the sweep as it was before (compact=False)."
    example = {"what": "calibration"}

    def text(self, on: Surface) -> str:
        return (
            f"{self.what} needs every score; runs of one class were merged by compact(). "
            f"{self.hint}{''.join(f' ({on.fix(fix)})' for fix in self.fixes)}"
        )


class CantMerge(Finding, code="cant-merge"):
    """Summaries of blocks of rows that were made in different ways can't be added."""

    what: str
    same: str
    """What they must have in common."""
    values: tuple[Any, ...] = ()
    """What each of the two has."""
    hint: str = ""
    template = "{what} that are added must have the same {same}{have}. {hint}"
    example = {"what": "binned sweeps", "same": "bits", "values": (8, 9)}

    @property
    def have(self) -> str:
        return f"; these have {either(self.values, 'and', show=str)}" if self.values else ""


class FoldOneClass(Finding, code="fold-one-class"):
    """All rows of a class are in one fold: nothing can be fitted without it."""

    fold: int
    """Its number, from 1 on."""
    folds: int
    template = (
        "all rows of one class are in fold {fold} of {folds}, so nothing can be fitted without "
        "it. Use fewer folds, or smaller clusters."
    )
    example = {"fold": 1, "folds": 5}


class NotAMixture(Warn, code="not-a-mixture"):
    """No mixture of the labelled classes explains the scores of a batch."""

    p_value: float
    template = (
        "no mixture of the labelled classes explains these scores (p = {p_value:.2g}): the scores "
        "within a class have changed, and the prior and its interval may be wrong. Label some "
        "rows of the batch."
    )
    example = {"p_value": 0.003}


class NotConverged(Warn, code="not-converged"):
    """A learner stopped before it had converged: its weights are not the best ones yet."""

    learner: str
    steps: int | None = None
    most: int = 0
    """How many it was allowed."""
    hint: str = ""
    state: str = ""
    """How far it got."""
    of: str = "steps"
    """What is counted: steps, or folds in which it did not converge."""
    example = {"learner": "Logistic", "steps": 100, "most": 100, "hint": "Raise max_iter."}

    def text(self, on: Surface) -> str:
        state = f": {self.state}" if self.state else ""
        upto = "at most " if self.of == "steps" else ""
        steps = "" if self.steps is None else f" in {self.steps:,} of {upto}{self.most:,} {self.of}"
        return sentence(f"{self.learner} did not converge{steps}{state}.", self.hint)


class LearnedNothing(Warn, code="learned-nothing"):
    """The best line by a surrogate measure has the weights 0: it separates nothing."""

    learner: str
    template = (
        "{learner} learned nothing: the surrogate of this measure is lowest at w = 0, to within "
        "tol. Either the classes overlap so much that the highest-scored negatives outdo the "
        "positives along every line: use Logistic, and choose a threshold for the measure. Or C is "
        "too small for features of this size: raise C, or standardise them."
    )
    example = {"learner": "Structural"}


class PositiveAssumed(Warn, code="positive-assumed"):
    """A measure is about the positives, and the label that sorts last was taken for them."""

    positive: Any
    negative: Any
    template = (
        "the measure is about the positives, and {positive!r} was taken for them, since it sorts "
        "last. For the other class pass the labels y == {negative!r}; y == {positive!r} says that "
        "this one is meant."
    )
    example = {"positive": "spam", "negative": "ham"}


class WeightsUnused(Warn, code="weights-unused"):
    """A model takes no weights of rows: they were used for its calibrator alone."""

    model: str
    hint: str = ""
    template = "{model} takes no sample_weight; only the calibrator uses it. {hint}"
    example = {"model": "KNeighborsClassifier"}
