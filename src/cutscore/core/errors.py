"""What cutscore raises and warns of. Each carries a finding: code, fields, place, ways out."""

from __future__ import annotations

from cutscore.core.findings.arguments import LibraryMissing, installed_by
from cutscore.core.findings.base import Finding

__all__ = [
    "CutscoreError",
    "CutscoreWarning",
    "DataError",
    "UndefinedError",
    "UsageError",
    "installed_by",
    "missing_library",
]


class _Carrier(Exception):
    """What carries a finding. Its text is the finding's, for Python."""

    finding: Finding

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding)

    def __str__(self) -> str:
        return self.finding.render()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class CutscoreError(_Carrier):
    """Base of all errors that cutscore raises on purpose."""


class DataError(CutscoreError, ValueError):
    """The input breaks a rule of the conventions table (``docs/conventions.md``)."""


class UndefinedError(CutscoreError, ValueError):
    """The measure has no value here, for example an AUC of rows that are all negative."""


class UsageError(CutscoreError):
    """Options of the command that don't go together, or a value that is none of theirs."""


class CutscoreWarning(_Carrier, UserWarning):
    """A number was computed and may not be what it seems."""


def missing_library(what: str, library: str, extra: str) -> str:
    """What to say where an optional library is missing."""
    return LibraryMissing(what, library, extra).render().removesuffix(".")


# Users import them from the package, and tracebacks name them so.
for _public in (CutscoreError, DataError, UndefinedError):
    _public.__module__ = "cutscore"
