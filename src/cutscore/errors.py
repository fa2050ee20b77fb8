"""What cutscore raises. Every message states the rule, the offending value and the way out."""

from __future__ import annotations


def installed_by(extra: str) -> str:
    """How to get an extra: from a clone, since a name on a package index may be somebody else's."""
    return f"pip install '.[{extra}]' in a clone of cutscore"


def missing_library(what: str, library: str, extra: str) -> str:
    """What to say where an optional library is missing."""
    return f"{what} needs {library}: {installed_by(extra)}"


class CutscoreError(Exception):
    """Base of all errors that cutscore raises on purpose."""


class DataError(CutscoreError, ValueError):
    """The input breaks a rule of the conventions table (``docs/conventions.md``)."""


class UndefinedError(CutscoreError, ValueError):
    """The measure has no value here, for example an AUC of rows that are all negative."""
