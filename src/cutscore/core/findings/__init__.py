"""Findings: what went wrong, and what should be known, as facts with a code and fields.

How to add one
--------------
Subclass ``Finding``, or ``Warn`` or ``Note`` if nothing failed, in the module of its topic
(``rows`` for columns of arrays, ``statistics``, ``tables``, ``models``, ``training``, ``report``,
``cluster``). Every subclass is a frozen dataclass. It has a ``code`` of its own, its fields, a
``template`` that words them, and an ``example`` of them for the page of messages::

    class FilesDiffer(Finding, code="files-differ"):
        \"\"\"The files of one table have different columns.\"\"\"

        column: str
        has: str
        lacks: str
        template = "{lacks} lacks {column!r}, which {has} has. Read them separately."
        example = {"column": "y", "has": "a.csv", "lacks": "b.csv"}

Then raise it, ``raise DataError(FilesDiffer(name, has, lacks))``, or hand it on. If the words
depend on the values, override ``text(on)`` instead. A wrong argument needs no kind of its own:
``DataError(BadArgument("folds", "be a whole number from 2 on", folds))``.

``where=Where(...)`` is the place; ``fixes=(Fix("positive", "yes"),)`` are ways out. A template
names them as ``{place}`` and ``{fix[positive]}``, a text by ``on.place`` and ``on.fix``: in Python
``score[3]`` and ``positive='yes'``, on the command line "the score of row 4" and
``--positive yes``. Nobody reads a text: ask for ``error.finding.code`` and its fields.
"""

from cutscore.core.findings.arguments import BadArgument, Conflict, LibraryMissing
from cutscore.core.findings.base import (
    COMMAND,
    PAGE,
    PYTHON,
    Finding,
    Fix,
    Severity,
    Surface,
    Where,
    dumps,
    either,
    kinds,
    loads,
    sentence,
    shown,
    some,
    spelled,
)

__all__ = [
    "COMMAND",
    "PAGE",
    "PYTHON",
    "BadArgument",
    "Conflict",
    "Finding",
    "Fix",
    "LibraryMissing",
    "Severity",
    "Surface",
    "Where",
    "dumps",
    "either",
    "kinds",
    "loads",
    "sentence",
    "shown",
    "some",
    "spelled",
]
