"""Files and queries that are read and written."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Severity,
    Surface,
    Where,
    either,
    sentence,
    shown,
    some,
    spelled,
)

_FILE = Where(file="a.csv")


class _OfFile(Finding):
    """A finding about a file."""

    @property
    def called(self) -> str:
        """What the file, or the query, is called."""
        return spelled(self.where.file) if self.where and self.where.file else "the table"

    @property
    def at_row(self) -> str:
        """The row of it, in words."""
        row = None if self.where is None else self.where.row
        return self.called if row is None else f"row {row + 1:,} of {self.called}"


@dataclass(frozen=True)
class FileMissing(_OfFile):
    """There is no file at a path, or none that fits a pattern."""

    code = "file-missing"
    example = {"near": "data.csv", "where": Where(file="date.csv")}
    near: str | None = None
    """A file there whose name is like it."""
    pattern: bool = False
    folder: bool = True
    """Whether its folder is there."""

    def text(self, on: Surface) -> str:
        if self.pattern:
            return f"the pattern {self.called} matches no file."
        why = "" if self.folder else ": its folder is not there either"
        hint = f"Did you mean {spelled(self.near)}?" if self.near else ""
        return sentence(f"there is no file {self.called}{why}.", hint)


@dataclass(frozen=True)
class FolderUnfit(_OfFile):
    """A folder is read if all of its files are Parquet; hidden ones don't count."""

    code = "folder-unfit"
    example = {"odd": "days/more.csv", "where": Where(file="days")}
    odd: str | None = None
    """A file that is not Parquet; None if none is."""
    partitions: bool = False
    """Whether its subfolders have columns in their names, as in day=1."""

    def text(self, on: Surface) -> str:
        if self.partitions:
            return (
                f"{self.called} is partitioned: its folder names hold columns, which are not read. "
                "Read it by a query: from read_parquet('…/**/*.parquet', hive_partitioning=true)."
            )
        if self.odd is None:
            return f"{self.called} is a folder without Parquet files. Name the files, or a pattern."
        return (
            f"all files of a folder must be Parquet; {spelled(self.odd)} is not. Move it away, or "
            "name those that are."
        )


@dataclass(frozen=True)
class FileUnreadable(_OfFile):
    """A file can't be read: no permission, a damaged archive, a limit of a library."""

    code = "file-unreadable"
    example = {"reason": "Permission denied", "where": _FILE}
    reason: str

    def text(self, on: Surface) -> str:
        return f"{self.called} can't be read: {self.reason}."


@dataclass(frozen=True)
class FileDamaged(_OfFile):
    """A file of a binary format is not whole, or a part of it is damaged."""

    code = "file-damaged"
    example = {"format": "Parquet", "reason": "bad footer", "where": Where(file="a.parquet")}
    format: str
    reason: str
    group: int | None = None
    """The row group that can't be read, counted from 0, of so many."""
    groups: int | None = None

    def text(self, on: Surface) -> str:
        what = f"{self.called} is not a valid {self.format} file: {self.reason}."
        if self.group is not None:
            what = (
                f"{self.called} is damaged: row group {self.group + 1} of {self.groups} can't be "
                f"read ({self.reason})."
            )
        return f"{what} Copy it or write it again."


@dataclass(frozen=True)
class FileChanged(_OfFile):
    """A file has other rows than when it was read before."""

    code = "file-changed"
    example = {"where": _FILE}

    def text(self, on: Surface) -> str:
        return f"{self.called} changed while it was read. Try again when it is complete."


@dataclass(frozen=True)
class FileEmpty(_OfFile):
    """A file has nothing in it, not even a line of names."""

    code = "file-empty"
    example = {"where": _FILE}

    def text(self, on: Surface) -> str:
        return f"{self.called} is empty. A table has a header line, then rows."


@dataclass(frozen=True)
class FormatMismatch(_OfFile):
    """The first bytes of a file are those of another format than its extension says."""

    code = "format-mismatch"
    example = {"said": "parquet", "seen": "csv", "where": Where(file="a.parquet")}
    said: str
    seen: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.called} looks like {self.seen}, but its extension says {self.said}. Name the "
            f"format ({on.fix(Fix('format', self.seen))})."
        )


@dataclass(frozen=True)
class NeedsQuery(_OfFile):
    """A database holds many tables: a query says which rows to read."""

    code = "needs-query"
    example = {"format": "sqlite", "where": Where(file="a.db")}
    format: str

    def text(self, on: Surface) -> str:
        return (
            f"{self.called} is a {self.format} database: pass it alone, with a query "
            f"({on.fix(Fix('sql', 'select …'))})."
        )


@dataclass(frozen=True)
class NotCsv(_OfFile):
    """An argument says how CSV is written, and what is read is not CSV."""

    code = "not-csv"
    example = {"parameter": "decimal", "format": "parquet", "where": Where(file="a.parquet")}
    parameter: str
    format: str
    """What is read: a format, or "a query"."""

    def text(self, on: Surface) -> str:
        what = self.format if self.where is None else f"{self.called}, which is {self.format}"
        return (
            f"{on.parameter(self.parameter)} is for CSV files; this is {what}. Leave it out, or "
            "use a query."
        )


@dataclass(frozen=True)
class NotUtf8(_OfFile):
    """Text must be UTF-8."""

    code = "not-utf8"
    example = {"where": Where(file="a.csv", line=3)}

    def text(self, on: Surface) -> str:
        line = self.where.line if self.where is not None else None
        at = "" if line is None else f"line {line:,} of "
        way = "Convert it: iconv -f latin1 -t utf-8."
        return f"text must be UTF-8; {at}{self.called} is not. {way}"


@dataclass(frozen=True)
class RowRagged(_OfFile):
    """A row of CSV has more columns than the first one, or fewer."""

    code = "row-ragged"
    example = {"expected": 3, "actual": 4, "where": Where(row=6, file="a.csv")}
    expected: int
    actual: int

    def text(self, on: Surface) -> str:
        return (
            f"every row must have as many columns as the first, {self.expected}; {self.at_row} has "
            f"{self.actual}. Correct it; a value with a separator in it needs quotes."
        )


@dataclass(frozen=True)
class LineInvalid(_OfFile):
    """A line of JSON lines or of a libsvm file is not as the format has it."""

    code = "line-invalid"
    example = {"format": "libsvm", "value": "'0 x:1'", "where": Where(file="a.svm", line=2)}
    format: str
    value: str = ""
    """The line, or what the library says of it."""

    def text(self, on: Surface) -> str:
        line = self.where.line if self.where is not None else None
        at = self.called if line is None else f"line {line:,} of {self.called}"
        is_ = f": {self.value}" if self.value else ""
        return f"{_RULES[self.format]}; {at} is not{is_}. Correct it."


_RULES = {
    "jsonl": "every line must be a JSON object, with one type per column",
    "libsvm": "every line must be a label, then index:value pairs with increasing indices",
}


@dataclass(frozen=True)
class NamesRepeat(_OfFile):
    """Two columns of a table have one name."""

    code = "names-repeat"
    example = {"column": "a", "first": 0, "second": 1, "where": _FILE}
    column: str
    first: int
    second: int
    """Their places, counted from 0."""

    def text(self, on: Surface) -> str:
        return (
            f"column names must differ; columns {self.first + 1} and {self.second + 1} of "
            f"{self.called} are both called {shown(self.column)}. Rename one."
        )


@dataclass(frozen=True)
class FilesDiffer(Finding):
    """The files of one table have different columns."""

    code = "files-differ"
    example = {"column": "y", "has": "a.csv", "lacks": "b.csv"}
    column: str
    has: str
    lacks: str

    def text(self, on: Surface) -> str:
        return (
            f"all files of a table must have the same columns; {self.lacks} lacks "
            f"{shown(self.column)}, which {self.has} has. Read them separately."
        )


@dataclass(frozen=True)
class TypesDiffer(_OfFile):
    """A column holds different types, in one file or in several."""

    code = "types-differ"
    example = {"column": "x", "kinds": ("numbers", "text"), "places": ("a.csv", "b.csv")}
    column: str
    kinds: tuple[str, ...]
    places: tuple[str, ...] = ()
    """The files that hold them; nothing if it is one."""

    def text(self, on: Surface) -> str:
        if self.places:
            pairs = zip(self.kinds, self.places, strict=True)
            each = " and ".join(f"{kind} in {place}" for kind, place in pairs)
            return (
                f"a column must have one type in all files; {shown(self.column)} is {each}. "
                "Correct it, or read them separately."
            )
        return (
            f"a column must have one type; {shown(self.column)} holds "
            f"{either(self.kinds, 'and', show=str)} ({self.at_row}). Correct it, or cast it in a "
            "query."
        )


@dataclass(frozen=True)
class TypeUnfit(_OfFile):
    """A column holds values that are no labels, scores or groups, such as lists or bytes."""

    code = "type-unfit"
    example = {"column": "x", "kind": "list<item: int64>", "where": _FILE}
    column: str
    kind: str

    def text(self, on: Surface) -> str:
        return (
            f"{shown(self.column)} of {self.called} holds {self.kind}; numbers, booleans or text "
            "are needed. Convert it first."
        )


@dataclass(frozen=True)
class NamesInexact(_OfFile):
    """Labels or groups are floats that may each stand for several whole numbers."""

    code = "names-inexact"
    example = {"column": "g", "value": 9007199254740992.0, "where": Where(row=0, file="a.csv")}
    column: str
    value: float

    def text(self, on: Surface) -> str:
        return (
            f"floats can't represent all whole numbers beyond 2^53; {self.at_row} has "
            f"{self.value:.17g} in {shown(self.column)}. Store them as integers or as text."
        )


@dataclass(frozen=True)
class QueryFailed(Finding):
    """A query does not run, or returns no rows at all."""

    code = "query-failed"
    example = {"query": "selec 1", "reason": "syntax error at selec", "where": _FILE}
    query: str
    reason: str
    """What the database says."""

    def text(self, on: Surface) -> str:
        return f"the query {shown(self.query)} does not run: {self.reason}."


@dataclass(frozen=True)
class SeparatorFound(_OfFile):
    """The separator of a CSV file was found in its first line."""

    code = "separator-found"
    severity = Severity.NOTE
    example = {"separator": ";", "where": _FILE}
    separator: str

    def text(self, on: Surface) -> str:
        return f"{self.called}: the column separator is {shown(self.separator)}."


@dataclass(frozen=True)
class ColumnsUnnamed(_OfFile):
    """Columns of a CSV file have no name, and were given one."""

    code = "columns-unnamed"
    severity = Severity.NOTE
    example = {"names": ("column 1",), "where": _FILE}
    names: tuple[str, ...]

    def text(self, on: Surface) -> str:
        return f"columns without a name in {self.called} are called {some(self.names, 4)}."
