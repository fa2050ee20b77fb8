"""Files and queries that are read and written."""

from __future__ import annotations

from cutscore.core.findings.base import (
    Finding,
    Fix,
    Note,
    Surface,
    Where,
    either,
    sentence,
    shown,
    spelled,
)

_FILE = Where(file="a.csv")


class _OfFile(Finding):
    """A finding about a file, or a row of it."""

    @property
    def called(self) -> str:
        """What the file, or the query, is called."""
        return spelled(self.where.file) if self.where and self.where.file else "the table"

    @property
    def at_row(self) -> str:
        """The row in words."""
        row = None if self.where is None else self.where.row
        return self.called if row is None else f"row {row + 1:,} of {self.called}"


class FileMissing(_OfFile, code="file-missing"):
    """A file does not exist, or no file matches a pattern."""

    near: str | None = None
    """A file there with a similar name."""
    pattern: bool = False
    folder: bool = True
    """Whether its folder is there."""
    example = {"near": "data.csv", "where": Where(file="date.csv")}

    def text(self, on: Surface) -> str:
        if self.pattern:
            return f"the pattern {self.called} matches no file."
        why = "" if self.folder else ": its folder does not exist"
        hint = f"Did you mean {spelled(self.near)}?" if self.near else ""
        return sentence(f"there is no file {self.called}{why}.", hint)


class FolderUnfit(_OfFile, code="folder-unfit"):
    """A folder can be read only if all of its files are Parquet; hidden files are ignored."""

    odd: str | None = None
    """A file that is not Parquet; None if there are no Parquet files."""
    partitions: bool = False
    """Whether its subfolders have columns in their names, as in day=1."""
    cluster: bool = False
    """Whether Spark is there to read them."""
    example = {"odd": "days/more.csv", "where": Where(file="days")}

    def text(self, on: Surface) -> str:
        if self.partitions:
            hint = "Use a query: from read_parquet('…/**/*.parquet', hive_partitioning=true)."
            if self.cluster:
                hint = f"Pass a DataFrame: spark.read.parquet({self.called!r})."
            return (
                f"{self.called} is partitioned: its folder names contain columns, which are not "
                f"read. {hint}"
            )
        if self.odd is None:
            return f"{self.called} is a folder without Parquet files. Pass the files, or a pattern."
        return (
            f"all files in a folder must be Parquet; {spelled(self.odd)} is not. Move it, or pass "
            "the Parquet files."
        )


class FileUnreadable(_OfFile, code="file-unreadable"):
    """A file can't be read: no permission, a damaged file or a limitation of a library."""

    reason: str
    hint: str = ""
    template = "{called} can't be read: {reason}. {hint}"
    example = {"reason": "Permission denied", "where": _FILE}


class FileUnwritable(_OfFile, code="file-unwritable"):
    """A file can't be written, or would overwrite an input file."""

    reason: str
    hint: str = ""
    template = "{called} can't be written: {reason}. {hint}"
    example = {"reason": "it is also an input file", "hint": "Use another name.", "where": _FILE}


class FormatMismatch(_OfFile, code="format-mismatch"):
    """The first bytes of a file indicate a different format from the extension."""

    said: str
    seen: str | None
    """None if they are those of no format, nor text."""
    example = {"said": "parquet", "seen": "csv", "where": Where(file="a.parquet")}

    def text(self, on: Surface) -> str:
        if self.seen is None:
            return f"{self.called} is not a {self.said} file, but its extension is that of one."
        return (
            f"{self.called} looks like {self.seen}, but its extension is that of {self.said}. Pass "
            f"the format: {on.fix(Fix('format', self.seen))}."
        )


class NeedsQuery(_OfFile, code="needs-query"):
    """A database contains many tables, so a query must select the rows to read."""

    format: str
    template = "{called} is a {format} database: pass it alone, with a query ({fix[sql]})."
    example = {"format": "sqlite", "where": Where(file="a.db")}


class RowRagged(_OfFile, code="row-ragged"):
    """A CSV row has more or fewer columns than the first one."""

    expected: int
    actual: int
    template = (
        "every row must have as many columns as the first, {expected}; {at_row} has {actual}. "
        "Correct it; a value that contains the separator must be quoted."
    )
    example = {"expected": 3, "actual": 4, "where": Where(row=6, file="a.csv")}


class LineInvalid(_OfFile, code="line-invalid"):
    """A line does not match the file format, or is not UTF-8."""

    format: str
    """jsonl, libsvm or utf-8."""
    value: str = ""
    """The line, or what the library says about it."""
    example = {"format": "libsvm", "value": "'0 x:1'", "where": Where(file="a.svm", line=2)}

    def text(self, on: Surface) -> str:
        rule, way = _RULES[self.format]
        line = self.where.line if self.where is not None else None
        at = self.called if line is None else f"line {line:,} of {self.called}"
        is_ = f": {self.value}" if self.value else ""
        return f"{rule}; {at} is not{is_}. {way}"


_RULES = {
    "jsonl": ("every line must be a JSON object, with one type per column", "Correct it."),
    "libsvm": (
        "every line must be a label, then index:value pairs with increasing indices",
        "Correct it.",
    ),
    "utf-8": ("text must be UTF-8", "Convert it: iconv -f latin1 -t utf-8."),
}


class NamesRepeat(_OfFile, code="names-repeat"):
    """Two columns have the same name or, in a database, names that differ only in case."""

    first: str
    second: str
    places: tuple[int, int] | None = None
    """Their places, counted from 0, where they are known."""
    example = {"first": "a", "second": "a", "places": (0, 1), "where": _FILE}

    def text(self, on: Surface) -> str:
        if self.first != self.second:
            return (
                f"column names of databases are case-insensitive; {shown(self.first)} and "
                f"{shown(self.second)} would be the same column. Rename one."
            )
        who = "two columns"
        if self.places is not None:
            who = f"columns {self.places[0] + 1} and {self.places[1] + 1}"
        both = f"{who} of {self.called} are both called {shown(self.first)}"
        return f"column names must differ; {both}. Rename one."


class FilesDiffer(Finding, code="files-differ"):
    """The files of one table have different columns."""

    column: str
    has: str
    lacks: str
    template = (
        "all files of a table must have the same columns; {has} has {column!r}, but {lacks} does "
        "not. Read them separately."
    )
    example = {"column": "y", "has": "a.csv", "lacks": "b.csv"}


class TypesDiffer(_OfFile, code="types-differ"):
    """A column has different types, in one file or in several."""

    column: str
    kinds: tuple[str, ...]
    places: tuple[str, ...] = ()
    """The files that contain them; nothing if it is one."""
    example = {"column": "x", "kinds": ("numbers", "text"), "places": ("a.csv", "b.csv")}

    def text(self, on: Surface) -> str:
        if self.places:
            pairs = zip(self.kinds, self.places, strict=True)
            each = " and ".join(f"{kind} in {place}" for kind, place in pairs)
            return (
                f"a column must have one type in all files; {shown(self.column)} is {each}. "
                "Correct it, or read them separately."
            )
        return (
            f"a column must have one type; {shown(self.column)} contains "
            f"{either(self.kinds, 'and', show=str)} ({self.at_row}). Correct it, or cast it in a "
            "query."
        )


class QueryFailed(Finding, code="query-failed"):
    """A query fails, or returns no rows."""

    query: str
    reason: str
    """What the database says."""
    template = "the query {query!r} failed: {reason}."
    example = {"query": "selec 1", "reason": "syntax error at selec", "where": _FILE}


class SeparatorFound(_OfFile, Note, code="separator-found"):
    """The separator of a CSV file was detected in its first line."""

    separator: str
    template = "{called}: the column separator is {separator!r}."
    example = {"separator": ";", "where": _FILE}


class ColumnsUnnamed(_OfFile, Note, code="columns-unnamed"):
    """Columns of a CSV file without a name were given one."""

    names: tuple[str, ...]
    template = "unnamed columns in {called} are called {names!l}."
    example = {"names": ("column 1",), "where": _FILE}
