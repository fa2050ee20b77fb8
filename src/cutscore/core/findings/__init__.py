"""Findings: what went wrong, and what should be known, as facts with a code and fields.

How to add one
--------------
Write a small frozen dataclass in the module of its topic (``rows`` for columns of arrays,
``statistics``, ``tables``, ``models``, ``training``, ``report``, ``cluster``): a ``code`` of its
own, its fields, an ``example`` of them for the page of messages, and ``text``, which words it::

    @dataclass(frozen=True)
    class ColumnMissing(Finding):
        \"\"\"A column that was asked for is not in the table.\"\"\"

        code = "column-missing"
        example = {"column": "fraud", "table": "a.csv"}
        column: str
        table: str
        near: tuple[str, ...] = ()

        def text(self, on: Surface) -> str:
            hint = f"Did you mean {either(self.near)}?" if self.near else ""
            return sentence(f"{self.table} has no column {shown(self.column)}.", hint)

Then raise it, ``raise DataError(ColumnMissing(name, where, near))``, or hand it on as a warning or
a note (``severity = Severity.WARNING``). A wrong argument needs no kind of its own:
``DataError(BadArgument("folds", "be a whole number from 2 on", folds))``.

``where=Where(...)`` is the place; ``fixes=(Fix("positive", "yes"),)`` are ways out. A text names
them by ``on.place(self.where)``, ``on.parameter("positive")`` and ``on.fix(self.fixes[0])``: in
Python ``score[3]`` and ``positive='yes'``, on the command line "the score of row 4" and
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
