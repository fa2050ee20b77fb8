"""Wrong arguments, and options of the command."""

from __future__ import annotations

from typing import Any

from cutscore.core.findings.base import Finding, Surface, either, sentence, shown


class BadArgument(Finding, code="bad-argument"):
    """An argument, or an option of the command, has a value that it can't have.

    ``rule`` completes "must": "be an integer from 1 to 24". ``subject`` replaces the name of the
    parameter in the text: "a threshold".
    """

    parameter: str
    rule: str
    value: Any = ...
    hint: str = ""
    subject: str = ""
    example = {"parameter": "folds", "rule": "be an integer of at least 2", "value": 1}

    def text(self, on: Surface) -> str:
        subject = self.subject or on.parameter(self.parameter)
        is_ = "" if self.value is ... else f", got {shown(self.value)}"
        return sentence(f"{subject} must {self.rule}{is_}.", self.hint)


class Conflict(Finding, code="arguments-conflict"):
    """Arguments conflict, or one requires another."""

    parameters: tuple[str, ...]
    rule: str
    """What holds of them: "only one objective can be given"."""
    hint: str = ""
    """What to do; {0} and {1} stand for the parameters."""
    example = {"parameters": ("costs", "maximize"), "rule": "only one objective can be given"}

    def text(self, on: Surface) -> str:
        names = [on.parameter(name) for name in self.parameters]
        all_ = "both" if len(names) == 2 else "all"
        way = self.hint or f"Use {either(names, show=str)}, not {all_}."
        return sentence(f"{self.rule}.", way.format(*names))


class PeriodsMissing(Finding, code="periods-missing"):
    """A limit is per day or hour, but the day of each row is not known."""

    limit: str
    example = {"limit": "flagged <= 200 per day"}

    def text(self, on: Surface) -> str:
        return f"{self.limit!r} needs the period of each row. Use {on.parameter('periods')}."


class LibraryMissing(Finding, code="library-missing"):
    """An optional library is not installed."""

    what: str
    library: str
    extra: str
    example = {"what": "a query", "library": "DuckDB", "extra": "sql"}

    def text(self, on: Surface) -> str:
        return f"{self.what} needs {self.library}: {installed_by(self.extra)}."


def installed_by(extra: str) -> str:
    """How to get an extra: from a clone, since a name on a package index may be somebody else's."""
    return f"pip install '.[{extra}]' in a clone of cutscore"
