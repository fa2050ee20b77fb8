"""The command line: what was asked wrongly, and what is said beside the result."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Severity,
    Surface,
    counted,
    either,
    sentence,
    shown,
    some,
    spelled,
)


@dataclass(frozen=True)
class Usage(Finding):
    """A command that can't be understood: a word too many, a file where a value should be."""

    code = "usage"
    example = {
        "rule": "'b.csv' is one word too many",
        "hint": "revise takes a model, and no table.",
    }
    rule: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.rule}.", self.hint)


@dataclass(frozen=True)
class OptionNeeds(Finding):
    """An option is for something that was not asked for, or needs another one."""

    code = "option-needs"
    example = {"option": "confidence", "needs": ("subject_to",)}
    option: str
    needs: tuple[str, ...]
    hint: str = ""

    def text(self, on: Surface) -> str:
        needs = either([on.fix(Fix(name)) for name in self.needs], show=str)
        what = f"{on.parameter(self.option)} needs {needs} as well."
        return sentence(what, self.hint)


@dataclass(frozen=True)
class ColumnUnstated(Finding):
    """No column has a name that says what it is, or several have."""

    code = "column-unstated"
    example = {"option": "label", "table": "a.csv", "names": ("a", "b")}
    option: str
    table: str
    names: tuple[str, ...]
    candidates: tuple[str, ...] = ()

    def text(self, on: Surface) -> str:
        name = on.fix(Fix(self.option))
        if self.candidates:
            several = some(self.candidates)
            return f"{several} of {self.table} may each be the {self.option}. Name one ({name})."
        return (
            f"no column of {self.table} has a usual name for a {self.option}; it has "
            f"{some(self.names, 12)}. Name the column ({name})."
        )


@dataclass(frozen=True)
class TakenByName(Finding):
    """A column was taken for what its name says."""

    code = "taken-by-name"
    severity = Severity.NOTE
    example = {"option": "score", "names": ("score",)}
    option: str
    names: tuple[str, ...]

    def text(self, on: Surface) -> str:
        plural = "" if len(self.names) == 1 else "s"
        return f"{self.option}{plural} taken by name: {some(self.names)}."


@dataclass(frozen=True)
class LessIsBetter(Finding):
    """The measure to aim at is one of which less is better: it is minimised."""

    code = "less-is-better"
    severity = Severity.NOTE
    example = {"measure": "fpr"}
    measure: str

    def text(self, on: Surface) -> str:
        return f"lower is better for {shown(self.measure)}, so it is minimized."


@dataclass(frozen=True)
class NothingWritten(Finding):
    """No file was named for the result."""

    code = "nothing-written"
    severity = Severity.NOTE
    example = {"file": "model.json"}
    file: str

    def text(self, on: Surface) -> str:
        return f"nothing was written: add {on.fix(Fix('output', self.file))}."


@dataclass(frozen=True)
class RowsFlagged(Finding):
    """How many rows a detector flags, and where the decisions are."""

    code = "rows-flagged"
    severity = Severity.NOTE
    example = {"flagged": 12, "rows": 1000, "file": "decided.csv"}
    flagged: int
    rows: int
    file: str | None = None

    def text(self, on: Surface) -> str:
        wrote = "" if self.file is None else f"; wrote {self.file}"
        return f"{self.flagged:,} of {counted(self.rows, 'row')} flagged{wrote}."


@dataclass(frozen=True)
class NoAccess(Finding):
    """The system refuses to open a file: it is not there, or may not be read or written."""

    code = "no-access"
    example = {"path": "a.csv", "reason": "Permission denied"}
    path: str
    reason: str
    option: str | None = None
    """The option that named a file to write to."""

    def text(self, on: Surface) -> str:
        if self.option is None:
            return f"can't read {spelled(self.path)}: {self.reason}."
        way = f"Choose another place with {on.parameter(self.option)}."
        return f"can't write {spelled(self.path)}: {self.reason}. {way}"


@dataclass(frozen=True)
class OutOfMemory(Finding):
    """The memory of the machine, or of the process, does not suffice."""

    code = "out-of-memory"

    def text(self, on: Surface) -> str:
        return "out of memory. Use fewer rows or columns."


@dataclass(frozen=True)
class Unexpected(Finding):
    """An error that cutscore did not foresee: a bug, here or in a library."""

    code = "unexpected"
    example = {"kind": "KeyError", "said": "'x'"}
    kind: str
    said: str

    def text(self, on: Surface) -> str:
        return (
            f"internal error ({self.kind}: {self.said}). Please report it with the output of "
            "CUTSCORE_TRACEBACK=1."
        )


@dataclass(frozen=True)
class Unwritable(Finding):
    """A file can't be written to, or would overwrite one that is read."""

    code = "unwritable"
    example = {"path": "a.csv", "rule": "is read from", "hint": "Write to another file."}
    path: str
    rule: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{spelled(self.path)} {self.rule}.", self.hint)
