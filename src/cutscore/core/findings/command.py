"""The command line: what was asked wrongly, and what is said beside the result."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Fix, Note, Surface, counted, some


class Usage(Finding, code="usage"):
    """The command line is invalid: an argument too many, or a file where a value should be."""

    rule: str
    hint: str = ""
    template = "{rule}. {hint}"
    example = {
        "rule": "unexpected argument 'b.csv'",
        "hint": "revise takes a model file, not a table.",
    }


class ColumnUnstated(Finding, code="column-unstated"):
    """No column could be identified by its name, or several could."""

    option: str
    table: str
    names: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    example = {"option": "label", "table": "a.csv", "names": ("a", "b")}

    def text(self, on: Surface) -> str:
        name = on.fix(Fix(self.option))
        if self.candidates:
            several = some(self.candidates)
            return (
                f"{self.table} has several possible {self.option} columns: {several}. Choose one "
                f"({name})."
            )
        return (
            f"no column of {self.table} is named like a {self.option}; its columns are "
            f"{some(self.names, 12)}. Choose one ({name})."
        )


class TakenByName(Note, code="taken-by-name"):
    """A column was identified by its name."""

    option: str
    names: tuple[str, ...]
    example = {"option": "score", "names": ("score",)}

    def text(self, on: Surface) -> str:
        one = len(self.names) == 1
        role = f"column {some(self.names)} as the {self.option}"
        return f"using {role if one else f'columns {some(self.names)} as {self.option}s'}."


class LessIsBetter(Note, code="less-is-better"):
    """Lower values of the objective are better, so it is minimised."""

    measure: str
    template = "lower is better for {measure!r}, so it is minimised."
    example = {"measure": "fpr"}


class NothingWritten(Note, code="nothing-written"):
    """No output file was named, so the result was not saved."""

    file: str
    example = {"file": "model.json"}

    def text(self, on: Surface) -> str:
        return f"nothing was saved; to save, add {on.fix(Fix('output', self.file))}."


class RowsFlagged(Note, code="rows-flagged"):
    """How many rows a detector flags, and where the decisions are. Of two thresholds: how many it
    blocks, and how many are to be reviewed."""

    flagged: int
    rows: int
    file: str | None = None
    reviewed: int | None = None
    undecided: int = 0
    example = {"flagged": 12, "rows": 1000, "file": "decided.csv"}

    def text(self, on: Surface) -> str:
        wrote = "" if self.file is None else f"; wrote {self.file}"
        does = "flagged" if self.reviewed is None else f"blocked, {self.reviewed:,} to review"
        rest = f", {self.undecided:,} without a decision" if self.undecided else ""
        return f"{self.flagged:,} of {counted(self.rows, 'row')} {does}{rest}{wrote}."


class OutOfMemory(Finding, code="out-of-memory"):
    """There is not enough memory."""

    template = "out of memory. Use fewer rows or columns."


class Unexpected(Finding, code="unexpected"):
    """An error that cutscore did not foresee: a bug, here or in a library."""

    kind: str
    said: str
    template = (
        "internal error ({kind}: {said}). Please report it with the output of CUTSCORE_TRACEBACK=1."
    )
    example = {"kind": "KeyError", "said": "'x'"}
