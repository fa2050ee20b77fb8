"""What should be known before the numbers of a report are believed."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Fix, Note, Surface, Warn, counted, shown


class Notice(Warn):
    """A warning; ``where.part`` names the score where there are several."""

    def hint(self, on: Surface) -> str:
        """What to do about it, for those who have said what it is."""
        return ""


class FewRows(Notice, code="few-rows"):
    """One class has too few rows for precise rates."""

    of: str
    """"positive" or "negative"."""
    rows: float
    """How many; of weighted rows the effective number."""
    weighted: bool = False
    example = {"of": "positive", "rows": 12.0}

    def hint(self, on: Surface) -> str:
        points = f"{100 / max(self.rows, 1):.{0 if self.rows < 10 else 1}f}"
        rate = "recall" if self.of == "positive" else "the false positive rate"
        return f"A single {self.of} changes {rate} by {points} percentage points."

    def text(self, on: Surface) -> str:
        if self.weighted:
            what = f"The effective number of {self.of}s is {self.rows:.3g}."
        else:
            there = "There is" if self.rows == 1 else "There are"
            what = f"{there} only {counted(self.rows, self.of)}."
        return f"{what} {self.hint(on)}"


class PriorFar(Notice, code="prior-far"):
    """The given prior is far from the share of positives in the rows."""

    prior: float
    share: float
    times: float
    """By which factor the odds differ."""
    template = (
        "The prior, {prior:.3g %}, is far from the share of positives in these rows, "
        "{share:.3g %}: the odds differ by a factor of {times:,.3g}. Precision and costs are valid "
        "only if the scores within each class are distributed as in these rows."
    )
    example = {"prior": 0.0001, "share": 0.05, "times": 526.0}


class Inverted(Notice, code="inverted"):
    """The score ranks negatives above positives."""

    auc: float
    score: str
    reverse: bool = False
    """Whether low scores were said to indicate positives."""
    low: float | None = None
    high: float | None = None
    """The interval of the AUC, where it is known."""
    example = {"auc": 0.2, "score": "risk"}

    def hint(self, on: Surface) -> str:
        if self.reverse:
            return f"Drop {on.parameter('reverse')}, or name the other label as positive."
        reverse = on.fix(Fix("reverse", self.score))
        return (
            f"If low scores indicate positives, pass {reverse}. Otherwise name the other label as "
            "positive."
        )

    def text(self, on: Surface) -> str:
        go = "low" if self.reverse else "high"
        return (
            f"The AUC of {shown(self.score)} is {self.auc:.3f}, below 0.5: {go} scores are "
            f"associated with negatives. {self.hint(on)}"
        )


class NoBetterThanChance(Notice, code="no-better-than-chance"):
    """The AUC may be 0.5: the score may carry no information about the label."""

    auc: float
    low: float | None = None
    high: float | None = None
    example = {"auc": 0.52, "low": 0.47, "high": 0.57}

    def text(self, on: Surface) -> str:
        span = "" if self.low is None else f" (CI {self.low:.3f}–{self.high:.3f})"
        return f"The AUC is {self.auc:.3f}{span}, which is not significantly better than chance."


class Separated(Notice, code="separated"):
    """The classes are separated almost perfectly, which suggests leakage."""

    auc: float
    template = (
        "The classes are separated almost perfectly (AUC {auc:.6g}). This is unusual and suggests "
        "leakage: a feature derived from the label, or rows used to train the model."
    )
    example = {"auc": 1.0}


class FewErrors(Notice, code="few-errors"):
    """A few rows determine the AUC. A sample without them would look better and more certain than
    it should. If scores of the rarer class are more dispersed, the interval under-covers."""

    errors: float
    """The AUC is that of so many rows ranked on the wrong side of the whole other class."""
    of: str
    """The rarer class: "positive" or "negative"."""
    rows: float
    """How many it has; of weighted rows the effective number."""
    example = {"errors": 1.2, "of": "positive", "rows": 60.0}

    def text(self, on: Surface) -> str:
        place, other = ("below", "negative") if self.of == "positive" else ("above", "positive")
        return (
            "The AUC is determined by very few misranked rows, equivalent to "
            f"{self.errors:.2g} of {counted(self.rows, self.of)} ranked {place} every {other}. Its "
            f"interval is too narrow if scores of {self.of}s vary much more than those of "
            f"{other}s."
        )


class CertainAndWrong(Notice, code="certain-and-wrong"):
    """Cases with probability 0 or 1 have the opposite label, so the log loss is infinite."""

    cases: float
    probability: int
    label: str
    example = {"cases": 3, "probability": 0, "label": "positive"}

    def text(self, on: Surface) -> str:
        were = "was" if self.cases == 1 else "were"
        return (
            f"{counted(self.cases, 'case')} with probability {self.probability} {were} in fact "
            f"{self.label}, so the log loss is infinite. Clip or calibrate the probabilities."
        )


class Ties(Notice, code="ties"):
    """A large share of the cases has the same score."""

    score: float
    share: float
    template = (
        "{share:.3g %} of the cases have the same score, {score:.6g}; no threshold can separate "
        "them."
    )
    example = {"score": 0.5, "share": 0.4}


class Outlier(Notice, code="outlier"):
    """One score is far from all others; it may be a missing-value code."""

    score: float
    cases: int
    low: float
    high: float
    template = (
        "{cases:case} {have} the score {score:.12g}, an outlier; all others lie between {low:.6g} "
        "and {high:.6g}. If it is a missing-value code, drop these cases."
    )
    example = {"score": -9999.0, "cases": 12, "low": 0.01, "high": 0.98}

    @property
    def have(self) -> str:
        return "has" if self.cases == 1 else "have"


class Miscalibrated(Notice, code="miscalibrated"):
    """Scores between 0 and 1 are miscalibrated as probabilities."""

    outside: float
    """The share of the cases outside of the consistency band."""
    template = (
        "The scores are miscalibrated: {outside:.3g %} of the cases are outside the consistency "
        "band. Calibrate the scores on separate data before using them as probabilities."
    )
    example = {"outside": 0.7}


class NoProbability(Notice, code="no-probability"):
    """A score is named probability but has values outside the range 0 to 1."""

    score: str
    lowest: float
    highest: float
    template = (
        "{score!r} ranges from {lowest:.3g} to {highest:.3g}, so it is not a probability: Brier "
        "score, log loss and calibration are left out."
    )
    example = {"score": "probability", "lowest": 0.01, "highest": 1.3}


class Infeasible(Notice, code="infeasible"):
    """No threshold meets the limits; or the one that was set manually does not."""

    limits: tuple[str, ...]
    confidence: float | None = None
    given: bool = False
    example = {"limits": ("precision >= 0.9",)}

    def hint(self, on: Surface) -> str:
        if self.given:
            return "Choose a threshold for these limits, or relax a limit."
        if self.confidence is None:
            return "Consider relaxing a limit."
        return "More rows, a lower confidence level or a weaker limit would help."

    def text(self, on: Surface) -> str:
        what = self.what(" and ".join(self.limits))
        if self.confidence is not None:
            what += " on these rows"
        return f"{what}{'.' if self.given else '; the closest one is shown.'} {self.hint(on)}"

    def what(self, limits: str) -> str:
        """The fact alone, with the limits as they are written there."""
        if self.confidence is None:
            return f"{'This threshold violates' if self.given else 'No threshold meets'} {limits}"
        which = "This threshold can't" if self.given else "No threshold can"
        return f"{which} be guaranteed to meet {limits} at {100 * self.confidence:g} % confidence"


class FlagsAlike(Notice, code="flags-alike"):
    """The best threshold flags everything, or nothing: the score has no effect."""

    what: str
    costs: bool
    limited: bool = False
    """Whether there are limits, which may be why."""
    few: bool = False
    """Whether there are too few rows for them to allow anything else."""
    example = {"what": "nothing", "costs": True}

    def text(self, on: Surface) -> str:
        if self.few:
            return (
                f"There are too few rows to guarantee these limits unless {self.what} is flagged."
            )
        aim = "these costs" if self.costs else "this objective"
        aim += " and these limits" if self.limited else ""
        return f"The best decision for {aim} is to flag {self.what}, regardless of the score."


class Trivial(Notice, code="trivial"):
    """The threshold is not significantly cheaper than flagging everything, or nothing."""

    doubt: str
    template = "At these costs the threshold is {doubt}."
    example = {"doubt": "not significantly cheaper than flagging nothing (cost per case 0.5)"}


class GroupsNotUnits(Note, code="groups-not-units"):
    """Intervals for group averages treat groups as independent; all others treat rows so."""

    group: str
    example = {"group": "patient"}

    def text(self, on: Surface) -> str:
        return (
            "Confidence intervals assume independent rows, except those for group averages. If "
            f"rows with the same {self.group!r} are correlated, pass "
            f"{on.fix(Fix('unit', self.group))}."
        )


def about(notice: Notice, score: object) -> Finding:
    """A notice about one of several scores."""
    return notice if score is None else notice.at(part=str(score))


class FewAmounts(Notice, code="few-amounts"):
    """A few positives have most of the money, so that its interval may be too narrow."""

    rows: float
    """How many positives of equal amounts would tell as much."""
    example = {"rows": 6.2}

    def hint(self, on: Surface) -> str:
        return "Intervals of costs and savings may be too narrow; more positives would help."

    def text(self, on: Surface) -> str:
        what = f"The effective number of positives, by their amounts, is {self.rows:.3g}."
        return f"{what} {self.hint(on)}"
