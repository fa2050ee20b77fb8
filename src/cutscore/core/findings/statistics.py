"""Measures, intervals, calibrators and learners: what can't be asked for, what has no value."""

from __future__ import annotations

from typing import Any

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Note,
    Surface,
    Warn,
    Where,
    either,
    sentence,
    shown,
)


class Undefined(Finding, code="undefined"):
    """A measure is 0/0 everywhere, or has no value for another reason."""

    what: str
    why: str
    hint: str = ""
    template = "{what} {why}. {hint}"
    example = {
        "what": "recall",
        "why": "is 0/0 at every threshold, so none is the best",
        "hint": "Choose another objective.",
    }


class OneClass(Finding, code="one-class"):
    """A measure requires rows of both classes, or of the one that is absent."""

    what: str
    need: str
    have: str
    hint: str = "Check the labels and which one is positive, or add rows of the other class."
    template = "all rows are {have}; {what} needs {need}. {hint}"
    example = {"what": "the AUC", "need": "positives and negatives", "have": "negative (2 of them)"}


class TooFew(Finding, code="too-few"):
    """A statistic requires more rows, clusters or groups than there are."""

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
        hint = f"Use {on.fix(self.fixes[0])}." if self.fixes else self.hint
        return sentence(f"{need}; there {'is' if have == '1' else 'are'} {have}.", hint)


class NotProbabilities(Finding, code="not-probabilities"):
    """Scores must be probabilities here, but one is not."""

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
    """Scores or features must be finite here, but one is NaN, infinite or far too large."""

    what: str
    """What must be finite: "features", "scores of platt calibration"."""
    value: Any = ...
    index: int | None = None
    """The number of the column, where only that is known."""
    most: str = ""
    """Up to which absolute value, where that is less than any float: "1e300"."""
    hint: str = "Drop such rows or fill in the value."
    example = {"what": "features", "value": float("inf"), "where": Where(3, "X")}

    def text(self, on: Surface) -> str:
        most = f", within ±{self.most}" if self.most else ""
        if self.index is not None:
            bad = f"column {self.index} has a NaN, an infinity or a number that is too large"
        else:
            bad = f"{on.place(self.where) if self.where else 'one'} is {shown(self.value)}"
        return sentence(f"{self.what} must be finite{most}; {bad}.", self.hint)


class BeyondFloats(Finding, code="beyond-floats"):
    """A number in the computation is too large or too small for float64."""

    what: str
    value: float | None = None
    hint: str = "Rescale it."
    example = {"what": "squares of column 3", "hint": "Divide it by 1e150."}

    def text(self, on: Surface) -> str:
        value = "" if self.value is None else f", got {self.value:.4g}"
        return sentence(f"{self.what} must be within the range of float64{value}.", self.hint)


class NoVariation(Finding, code="no-variation"):
    """The data behind a standard error or a width do not vary."""

    what: str
    over: str = "over these rows"
    """Over what it should vary: "within a class"."""
    so: str = "its uncertainty is unknown"
    hint: str = ""
    template = "{what} does not vary {over}, so {so}. {hint}"
    example = {
        "what": "the difference between the AUCs",
        "hint": "Use rows on which both make errors.",
    }


class NoOverlap(Finding, code="no-overlap"):
    """The classes are perfectly separated, so the maximum-likelihood fit does not exist."""

    what: str
    why: str = "the steeper the line, the higher the likelihood"
    hint: str = ""
    template = "{what} needs classes that overlap; these do not: {why}. {hint}"
    example = {"what": "platt calibration", "hint": "Use smooth=True, or 'isotonic'."}


class CountsRows(Finding, code="counts-rows"):
    """The method assumes equally weighted, independent rows; these are weighted or clustered."""

    what: str
    hint: str = "Drop the weights."
    given: str = "weights"
    template = "{what} assumes equally weighted, independent rows; these have {given}. {hint}"
    example = {"what": "a guarantee", "hint": "Drop the weights."}


class SquaresMissing(Finding, code="squares-missing"):
    """The variance of weighted rows needs sums of squared weights, which a sweep lacks."""

    what: str
    template = (
        "{what} of weighted rows needs sums of squared weights, which this sweep does not have. "
        "Create it with sweep(y, score, weight, squares=True)."
    )
    example = {"what": "a confidence interval for the AUC"}


class SweepCompact(Finding, code="sweep-compact"):
    """Every score is needed, but runs of scores from one class were merged."""

    what: str
    hint: str = "Use the original sweep (compact=False)."
    example = {"what": "calibration"}

    def text(self, on: Surface) -> str:
        return (
            f"{self.what} needs every score; compact() merged runs of scores from one class. "
            f"{self.hint}{''.join(f' ({on.fix(fix)})' for fix in self.fixes)}"
        )


class CantMerge(Finding, code="cant-merge"):
    """Summaries or policies that were made in different ways can't be merged."""

    what: str
    same: str
    """What they must have in common."""
    values: tuple[Any, ...] = ()
    """What each of the two has."""
    hint: str = ""
    template = "{what} to be merged must have the same {same}{have}. {hint}"
    example = {"what": "binned sweeps", "same": "bits", "values": (8, 9)}

    @property
    def have(self) -> str:
        return f"; these have {either(self.values, 'and', show=str)}" if self.values else ""


class FoldOneClass(Finding, code="fold-one-class"):
    """All rows of a class are in one fold, so nothing can be fitted without that fold."""

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
        "no mixture of the labelled classes explains these scores (p = {p_value:.2g}). The score "
        "distribution within a class has changed, so the prior and its interval may be wrong. "
        "Label some rows of the batch."
    )
    example = {"p_value": 0.003}


class NotConverged(Warn, code="not-converged"):
    """A learner stopped before it had converged, so its weights are not optimal."""

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
        steps = "" if self.steps is None else f" in {self.steps:,} of {self.most:,} {self.of}"
        if self.steps is not None and self.of == "steps":
            steps = f" within {self.steps:,} iterations"
        return sentence(f"{self.learner} did not converge{steps}{state}.", self.hint)


class LearnedNothing(Warn, code="learned-nothing"):
    """At the surrogate optimum all weights are zero, or the objective is that of zero weights to
    within 0.01 %: the model can't separate the classes."""

    learner: str
    template = (
        "{learner} learned nothing: the surrogate of this measure is lowest at w = 0, to within "
        "0.01 %. If C was given, it may be too small: pass C='scale', or use StructuralCV. If "
        "features differ in scale, standardise them. Otherwise the classes overlap too much for "
        "this surrogate: use Logistic and choose a threshold for the measure with cutscore.choose."
    )
    example = {"learner": "Structural"}


class PositiveAssumed(Warn, code="positive-assumed"):
    """A measure depends on which class is positive; the label that sorts last was assumed."""

    positive: Any
    negative: Any
    template = (
        "the measure depends on which class is positive; {positive!r} was assumed, since it sorts "
        "last. Pass y == {positive!r} to confirm this choice, or y == {negative!r} to switch."
    )
    example = {"positive": "spam", "negative": "ham"}


class WeightsUnused(Warn, code="weights-unused"):
    """A model does not support row weights; only its calibrator used them."""

    model: str
    hint: str = ""
    template = "{model} does not accept sample_weight; only the calibrator uses it. {hint}"
    example = {"model": "KNeighborsClassifier"}


class PeriodsEmpty(Note, code="periods-empty"):
    """Some days or hours between the first and the last have no rows."""

    empty: int
    total: int
    """How many there are from the first to the last."""
    unit: str
    """"day" or "hour"."""
    example = {"empty": 2, "total": 30, "unit": "day"}

    def text(self, on: Surface) -> str:
        one = self.empty == 1
        return (
            f"{self.empty:,} of {self.total:,} {self.unit}s {'has' if one else 'have'} no rows and "
            f"{'is' if one else 'are'} not counted. If {'it was' if one else 'they were'} observed "
            f"and had no cases, use {on.fix(Fix('exposure', self.total))}."
        )


class GroupsTooSmall(Finding, code="groups-too-small"):
    """Groups have too few rows to show a limit, even without a single error."""

    groups: tuple[str, ...]
    limit: str
    need: int
    """How many rows it takes."""
    of: str
    """What is counted: "negatives"."""
    have: int
    """How many the largest of these groups has."""
    example = {
        "groups": ("lu", "mt"),
        "limit": "fpr <= 0.01",
        "need": 299,
        "of": "negatives",
        "have": 120,
    }

    def text(self, on: Surface) -> str:
        few = len(self.groups) == 1
        names = ", ".join(map(shown, self.groups[:5])) + (" …" if len(self.groups) > 5 else "")
        return (
            f"guaranteeing {self.limit} in {'group' if few else 'each of the groups'} {names} "
            f"needs at least {self.need:,} {self.of}; {'it has' if few else 'the largest has'} "
            f"{self.have:,}. Merge groups, add rows, or lower {on.parameter('confidence')}."
        )


class GroupsInfeasible(Finding, code="groups-infeasible"):
    """No thresholds satisfy what is asked of all groups."""

    limits: tuple[str, ...]
    confidence: float | None = None
    example = {"limits": ("fpr <= 0.01 in each group", "recall >= 0.9 in each group")}

    def text(self, on: Surface) -> str:
        asked = " and ".join(self.limits)
        if self.confidence is None:
            return f"no threshold satisfies {asked}. A weaker limit would help."
        return (
            f"no threshold can be guaranteed to satisfy {asked} at {100 * self.confidence:g} % "
            "confidence on these rows. More rows, a lower confidence level or a weaker limit would "
            "help."
        )


class CostsByRow(Finding, code="costs-by-row"):
    """Costs differ by row, where one cost for all rows is needed."""

    costs: str
    example = {"costs": "fn='amount'"}

    def text(self, on: Surface) -> str:
        way = "Use numbers, or cutscore choose"
        if on.name == "python":
            way = "Use numbers, or choose_by_row and Policy.choose_by_row"
        return f"{self.costs} differs by row, and this needs costs that are the same. {way}."
