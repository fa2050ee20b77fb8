"""What cutscore raises. Every message states the rule, the offending value and the way out."""

from __future__ import annotations


class CutscoreError(Exception):
    """Base of all errors that cutscore raises on purpose."""


class DataError(CutscoreError, ValueError):
    """The input breaks a rule of the conventions table (``docs/conventions.md``)."""


class UndefinedError(CutscoreError, ValueError):
    """The measure has no value here, for example an AUC of rows that are all negative."""
