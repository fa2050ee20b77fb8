"""Wrong arguments, and options of the command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutscore.core.findings.base import Finding, Surface, either, sentence, shown


@dataclass(frozen=True)
class BadArgument(Finding):
    """An argument, or an option of the command, has a value that it can't have.

    ``rule`` completes "must": "be a whole number from 1 to 24". ``subject`` stands for the
    parameter where its name is no word for it: "a threshold".
    """

    code = "bad-argument"
    example = {
        "parameter": "folds",
        "rule": "be a whole number from 2 on",
        "value": 1,
    }
    parameter: str
    rule: str
    value: Any = ...
    hint: str = ""
    subject: str = ""

    def text(self, on: Surface) -> str:
        subject = self.subject or on.parameter(self.parameter)
        is_ = "" if self.value is ... else f"; it is {shown(self.value)}"
        return sentence(f"{subject} must {self.rule}{is_}.", self.hint)


@dataclass(frozen=True)
class Conflict(Finding):
    """Arguments that don't go together, or one that needs another."""

    code = "arguments-conflict"
    example = {
        "parameters": ("costs", "maximize"),
        "rule": "there must be one aim",
    }
    parameters: tuple[str, ...]
    rule: str
    """What holds of them: "there must be one aim"."""
    hint: str = ""

    def text(self, on: Surface) -> str:
        names = either([on.parameter(name) for name in self.parameters], show=str)
        way = self.hint or f"Give {names}, not {'both' if len(self.parameters) == 2 else 'all'}."
        return sentence(f"{self.rule}.", way.format(*(on.parameter(p) for p in self.parameters)))


@dataclass(frozen=True)
class LibraryMissing(Finding):
    """An optional library is not installed."""

    code = "library-missing"
    example = {"what": "a query", "library": "DuckDB", "extra": "sql"}
    what: str
    library: str
    extra: str

    def text(self, on: Surface) -> str:
        return f"{self.what} needs {self.library}: {installed_by(self.extra)}."


def installed_by(extra: str) -> str:
    """How to get an extra: from a clone, since a name on a package index may be somebody else's."""
    return f"pip install '.[{extra}]' in a clone of cutscore"
