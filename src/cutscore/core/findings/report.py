"""What should be known before the numbers of a report are believed."""

from __future__ import annotations

from typing import Any

from cutscore.core.findings.base import Finding, Fix, Note, Surface, Warn, counted, shown


class Notice(Warn):
    """A warning; ``where.part`` names the score where there are several."""

    def hint(self, on: Surface) -> str:
        """What to do about it, for those who have said what it is."""
        return ""


class FewRows(Notice, code="few-rows"):
    """So few rows of one class that every rate of it is vague."""

    of: str
    """"positive" or "negative"."""
    rows: float
    """How many; of weighted rows the effective number."""
    weighted: bool = False
    example = {"of": "positive", "rows": 12.0}

    def hint(self, on: Surface) -> str:
        points = f"{100 / max(self.rows, 1):.{0 if self.rows < 10 else 1}f}"
        return f"One {self.of} more or less moves a rate of {self.of}s by {points} points."

    def text(self, on: Surface) -> str:
        if self.weighted:
            what = f"The effective number of {self.of}s is {self.rows:.3g}."
        else:
            there = "There is" if self.rows == 1 else "There are"
            what = f"{there} only {counted(self.rows, self.of)}."
        return f"{what} {self.hint(on)}"


class PriorFar(Notice, code="prior-far"):
    """The prior that was given is far from the share of positives in the rows."""

    prior: float
    share: float
    times: float
    """By which factor the odds differ."""
    template = (
        "The prior, {prior:.3g %}, is far from the share of positives in these rows, "
        "{share:.3g %}: the odds differ by a factor of {times:,.3g}. Precision and costs hold only "
        "if the scores within each class are distributed as here."
    )
    example = {"prior": 0.0001, "share": 0.05, "times": 526.0}


class Inverted(Notice, code="inverted"):
    """The score ranks negatives above positives."""

    auc: float
    score: str
    reverse: bool = False
    """Whether low scores were said to mean positive."""
    low: float | None = None
    high: float | None = None
    """The interval of the AUC, where it is known."""
    example = {"auc": 0.2, "score": "risk"}

    def hint(self, on: Surface) -> str:
        if self.reverse:
            return f"Leave {on.parameter('reverse')} out, or name the other label as positive."
        reverse = on.fix(Fix("reverse", self.score))
        return (
            f"If low scores mean positive, say so ({reverse}), or name the other label as positive."
        )

    def text(self, on: Surface) -> str:
        go = "low" if self.reverse else "high"
        return (
            f"The AUC of {shown(self.score)} is {self.auc:.3f}, below 0.5: {go} scores go with "
            f"negatives. {self.hint(on)}"
        )


class NoBetterThanChance(Notice, code="no-better-than-chance"):
    """The AUC may be one half: the score need not tell anything about the label."""

    auc: float
    low: float | None = None
    high: float | None = None
    example = {"auc": 0.52, "low": 0.47, "high": 0.57}

    def text(self, on: Surface) -> str:
        span = "" if self.low is None else f" (CI {self.low:.3f}–{self.high:.3f})"
        return (
            f"The AUC is {self.auc:.3f}{span}: these rows don't show that the score ranks better "
            "than chance."
        )


class Separated(Notice, code="separated"):
    """The classes are separated almost perfectly, which is rare: a leak is more likely."""

    auc: float
    template = (
        "The classes are separated almost perfectly (AUC {auc:.6g}). That is rare: look for "
        "leakage: a column that knows the label, or rows that the model was fitted to."
    )
    example = {"auc": 1.0}


class FewErrors(Notice, code="few-errors"):
    """Single rows decide about the AUC. A sample without them looks better, and surer, than the
    score is: where the rarer class has the wider scores, the interval covers too little."""

    errors: float
    """As if so many rows ranked on the wrong side of all of the other class."""
    of: str
    """The rarer class: "positive" or "negative"."""
    rows: float
    """How many it has; of weighted rows the effective number."""
    example = {"errors": 1.2, "of": "positive", "rows": 60.0}

    def text(self, on: Surface) -> str:
        place, other = ("below", "negative") if self.of == "positive" else ("above", "positive")
        return (
            "The AUC depends on few errors, as if "
            f"{self.errors:.2g} of {counted(self.rows, self.of)} ranked {place} all {other}s. Its "
            f"interval is too narrow if scores of {self.of}s vary much more than those of "
            f"{other}s."
        )


class CertainAndWrong(Notice, code="certain-and-wrong"):
    """Cases with probability 0 or 1 that turned out otherwise: the log loss is infinite."""

    cases: float
    probability: int
    label: str
    example = {"cases": 3, "probability": 0, "label": "positive"}

    def text(self, on: Surface) -> str:
        were = "was" if self.cases == 1 else "were"
        return (
            f"{counted(self.cases, 'case')} with probability {self.probability} {were} "
            f"{self.label}, so the log loss is infinite. Clip or calibrate the probabilities."
        )


class Ties(Notice, code="ties"):
    """One score is shared by a large part of the cases."""

    score: float
    share: float
    template = (
        "The score {score:.6g} is shared by {share:.3g %} of the cases, which no threshold can "
        "separate."
    )
    example = {"score": 0.5, "share": 0.4}


class Outlier(Notice, code="outlier"):
    """One score is far from all others, as a mark of missing scores would be."""

    score: float
    cases: int
    low: float
    high: float
    template = (
        "The score {score:.12g} of {cases:case} is an outlier; all others lie between {low:.6g} "
        "and {high:.6g}. If it stands for a missing score, drop such cases."
    )
    example = {"score": -9999.0, "cases": 12, "low": 0.01, "high": 0.98}


class Miscalibrated(Notice, code="miscalibrated"):
    """Scores between 0 and 1 that are not right as probabilities."""

    outside: float
    """The share of the cases outside of the consistency band."""
    template = (
        "The scores are miscalibrated: {outside:.3g %} of the cases are outside the band of "
        "calibrated probabilities. Calibrate them on other rows before you use them as "
        "probabilities."
    )
    example = {"outside": 0.7}


class NoProbability(Notice, code="no-probability"):
    """A score is called a probability, and has values outside 0 to 1."""

    score: str
    lowest: float
    highest: float
    template = (
        "{score!r} ranges from {lowest:.3g} to {highest:.3g}, so it is not a probability: Brier "
        "score, log loss and calibration are left out."
    )
    example = {"score": "probability", "lowest": 0.01, "highest": 1.3}


class Infeasible(Notice, code="infeasible"):
    """No threshold meets the limits."""

    limits: tuple[str, ...]
    confidence: float | None = None
    example = {"limits": ("precision >= 0.9",)}

    def hint(self, on: Surface) -> str:
        if self.confidence is None:
            return "A weaker limit would help."
        return "More rows, a lower confidence or a weaker limit would help."

    def text(self, on: Surface) -> str:
        asked = " and ".join(self.limits)
        what = f"No threshold meets {asked}"
        if self.confidence is not None:
            sure = f"{100 * self.confidence:g} % confidence"
            what = f"No threshold is shown to meet {asked} with {sure} on these rows"
        return f"{what}; the nearest one is shown. {self.hint(on)}"


class FlagsAlike(Notice, code="flags-alike"):
    """The best threshold flags everything, or nothing: the score decides nothing."""

    what: str
    costs: bool
    example = {"what": "nothing", "costs": True}

    def text(self, on: Surface) -> str:
        aim = "these costs" if self.costs else "this aim"
        return f"For {aim} it is best to flag {self.what}: the score is not used."


class Trivial(Notice, code="trivial"):
    """The threshold is not shown to cost less than flagging everything, or nothing."""

    doubt: str
    template = "At these costs the threshold is {doubt}."
    example = {"doubt": "not shown to beat flagging nothing, at 0.5 a case"}


class GroupsNotUnits(Note, code="groups-not-units"):
    """Averages over groups count groups; all other intervals count rows."""

    group: str
    example = {"group": "patient"}

    def text(self, on: Surface) -> str:
        return (
            f"Intervals take rows as independent, except averages over groups. If rows of one "
            f"{self.group!r} are correlated, name it as the cluster id "
            f"({on.fix(Fix('unit', self.group))})."
        )


def about(notice: Notice, score: Any) -> Finding:
    """A notice about one of several scores."""
    return notice if score is None else notice.at(part=str(score))
