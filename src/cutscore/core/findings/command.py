"""The command line: what was asked wrongly, and what is said beside the result."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Fix, Note, Surface, counted, some


class Usage(Finding, code="usage"):
    """A command that can't be understood: a word too many, a file where a value should be."""

    rule: str
    hint: str = ""
    template = "{rule}. {hint}"
    example = {
        "rule": "'b.csv' is one word too many",
        "hint": "revise takes a model, and no table.",
    }


class ColumnUnstated(Finding, code="column-unstated"):
    """No column has a name that says what it is, or several have."""

    option: str
    table: str
    names: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    example = {"option": "label", "table": "a.csv", "names": ("a", "b")}

    def text(self, on: Surface) -> str:
        name = on.fix(Fix(self.option))
        if self.candidates:
            several = some(self.candidates)
            return f"{several} of {self.table} may each be the {self.option}. Name one ({name})."
        return (
            f"no column of {self.table} has a usual name for a {self.option}; it has "
            f"{some(self.names, 12)}. Name the column ({name})."
        )


class TakenByName(Note, code="taken-by-name"):
    """A column was taken for what its name says."""

    option: str
    names: tuple[str, ...]
    example = {"option": "score", "names": ("score",)}

    def text(self, on: Surface) -> str:
        plural = "" if len(self.names) == 1 else "s"
        return f"{self.option}{plural} taken by name: {some(self.names)}."


class LessIsBetter(Note, code="less-is-better"):
    """The measure to aim at is one of which less is better: it is minimised."""

    measure: str
    template = "lower is better for {measure!r}, so it is minimized."
    example = {"measure": "fpr"}


class NothingWritten(Note, code="nothing-written"):
    """No file was named for the result."""

    file: str
    example = {"file": "model.json"}

    def text(self, on: Surface) -> str:
        return f"nothing was written: add {on.fix(Fix('output', self.file))}."


class RowsFlagged(Note, code="rows-flagged"):
    """How many rows a detector flags, and where the decisions are. Of two thresholds: how many it
    blocks, and how many are to be reviewed."""

    flagged: int
    rows: int
    file: str | None = None
    reviewed: int | None = None
    example = {"flagged": 12, "rows": 1000, "file": "decided.csv"}

    def text(self, on: Surface) -> str:
        wrote = "" if self.file is None else f"; wrote {self.file}"
        does = "flagged" if self.reviewed is None else f"blocked, {self.reviewed:,} to review"
        return f"{self.flagged:,} of {counted(self.rows, 'row')} {does}{wrote}."


class OutOfMemory(Finding, code="out-of-memory"):
    """The memory of the machine, or of the process, does not suffice."""

    template = "out of memory. Use fewer rows or columns."


class Unexpected(Finding, code="unexpected"):
    """An error that cutscore did not foresee: a bug, here or in a library."""

    kind: str
    said: str
    template = (
        "internal error ({kind}: {said}). Please report it with the output of CUTSCORE_TRACEBACK=1."
    )
    example = {"kind": "KeyError", "said": "'x'"}
