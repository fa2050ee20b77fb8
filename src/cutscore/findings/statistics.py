"""Measures, intervals, calibrators and learners: what can't be asked for, what has no value."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.findings.base import Finding, Surface, either, sentence, shown


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
    hint: str = "Add rows of the other class."

    def text(self, on: Surface) -> str:
        return f"{self.what} needs {self.need}; all rows are {self.have}. {self.hint}"
