"""What cutpoint raises. Every message states the rule, the offending value and the way out."""

from __future__ import annotations


class CutpointError(Exception):
    """Base of all errors that cutpoint raises on purpose."""


class DataError(CutpointError, ValueError):
    """The input breaks a rule of the conventions table (``docs/conventions.md``)."""


class UndefinedError(CutpointError, ValueError):
    """The measure has no value here, for example an AUC of rows that are all negative."""
