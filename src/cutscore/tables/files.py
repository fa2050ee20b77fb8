"""Tables found and opened: which files, what format, or a query."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, TypeAlias

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Conflict, Where
from cutscore.core.findings.base import spelled
from cutscore.core.findings.tables import (
    FileMissing,
    FileUnreadable,
    FolderUnfit,
    NeedsQuery,
)
from cutscore.tables import parts
from cutscore.tables.formats.parquet import PARQUET
from cutscore.tables.formats.query import DuckPart
from cutscore.tables.formats.registry import format_of, looks_like, named
from cutscore.tables.parts import File, Format, Style, TemporaryFile, long_line
from cutscore.tables.table import Table

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A path, a pattern, or several of these."""


def open_table(  # noqa: PLR0913 - how to read a file has many sides
    paths: Paths | None = None,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    sql: str | None = None,
    header: bool = True,
    separator: str | None = None,
    decimal: str = ".",
    missing: str | Sequence[str] = (),
) -> Table:
    """Open a table in one file, or in several files with the same columns.

    Parameters
    ----------
    paths
        A path, a pattern such as ``"day-*.csv"``, ``"-"`` for standard input, a folder of
        Parquet files, or a list of these.
    format
        "csv", "tsv", "parquet", "arrow" (or "feather"), "jsonl" or "libsvm". Default: detected from
        the extension or, failing that, from the first bytes. CSV, TSV, JSON lines and libsvm may be
        compressed with gzip, bzip2 or zstd.
    columns
        Columns that must exist; if one is missing, an error says so at once.
    sql
        A query. For a SQLite or DuckDB file, it refers to the tables in that file. For other files,
        it refers to a single table ``data`` with the rows of all files; without ``paths`` the query
        names the files, as in ``select * from 'a.parquet'``. Requires the extra ``sql``, except for
        SQLite. CSV files among ``paths`` are parsed as they are without a query.
    header
        Whether the first line of a CSV file contains the column names. If not, columns are called
        c1, c2, ….
    separator
        The column separator of CSV files. Default: the most frequent of comma, semicolon, tab and
        bar in the first line; ``notes`` reports it if it is not a comma.
    decimal
        The decimal mark in CSV files, "." or ",".
    missing
        Text that marks a missing value in CSV files, or a list: "-", "?", "-9999". It is matched
        exactly, in every column, quoted or not. Unquoted empty cells, NA, N/A, NaN and null are
        always missing.

    Returns
    -------
    Table
        With ``names``, ``schema``, ``batches(columns)``, ``read(columns)`` and, for NumPy,
        ``columns(names)``. Messages count rows from 1, without the header.

    Notes
    -----
    A CSV column has the first of these types that fits all of its values: 64-bit integers,
    booleans, dates and times such as 2025-04-24 10:30, floats, text. It is also text if any value
    would lose digits as a number, because different codes could then become equal: 007 has leading
    zeros, and floats can't represent all integers beyond 2^53.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import cutscore as cs
    >>> from cutscore.tables import open_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("y,s\\n1,0.9\\n0,0.4\\n1,0.35\\n0,0.2\\n")
    >>> c = open_table(file).columns(["y", "s"], numbers=["s"])
    >>> cs.sweep(c["y"], c["s"]).auc
    0.75
    """
    kind = None if format is None else named(format)
    check_decimal(decimal, separator)
    style = Style(header, separator, decimal, _marks(missing))
    if sql is not None and (not isinstance(sql, str) or not sql.strip()):
        raise DataError(BadArgument("sql", "be text", sql))
    if paths is None:
        if sql is None:
            raise DataError(Conflict(("paths", "sql"), "a file or a query is required"))
        _check_style(style, "a query")
        return Table([DuckPart(sql)])
    keep: list[Any] = []
    files = [File.at(path, name) for path, name in _files(paths, keep)]
    formats = [kind or format_of(file) for file in files]
    source = _open_files(files, formats, style, sql, keep)
    if columns is not None:
        source.wanted(columns)
    return source


def _open_files(
    files: list[File], formats: list[Format], style: Style, sql: str | None, keep: list[Any]
) -> Table:
    for file, format in zip(files, formats, strict=True):
        if not format.has_style:
            _check_style(style, format.name, Where(file=file.where))
        if format.query is not None and (sql is None or len(files) > 1):
            raise DataError(NeedsQuery(format.name, where=Where(file=file.where)))
    if sql is not None and formats[0].query is not None:
        return Table([formats[0].query(files[0], sql)], keep)
    parts = [f.read(file, style) for f, file in zip(formats, files, strict=True) if f.read]
    source = Table(parts, keep)
    if sql is None:
        return source
    query = Table([DuckPart(sql, source.dataset, of=[file.where for file in files])], keep)
    query.notes = source.notes
    return query


def check_decimal(decimal: object, separator: str | None) -> None:
    """Raise if this can't be a decimal sign, or not with that separator."""
    if not isinstance(decimal, str) or decimal not in (".", ","):
        raise DataError(BadArgument("decimal", "be a point or a comma", decimal))
    if separator is not None and (
        not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'
    ):
        raise DataError(BadArgument("separator", "be one character", separator))
    if decimal == separator:
        raise DataError(BadArgument("decimal", "differ from the separator", decimal))


def _check_style(style: Style, format: str, where: Where | None = None) -> None:
    for name in ("header", "separator", "decimal", "missing"):
        if vars(style)[name] != vars(Style())[name]:
            table = "this" if where is None or where.file is None else spelled(where.file)
            rule, hint = f"{table} is {format}, not CSV", "Drop {0}, or use a query."
            raise DataError(Conflict((name, "format"), rule, hint, where=where))


def _marks(missing: object) -> tuple[str, ...]:
    several = (
        [missing] if isinstance(missing, str) or not isinstance(missing, Iterable) else missing
    )
    marks = tuple(dict.fromkeys(several))
    for mark in marks:
        if not isinstance(mark, str):
            raise DataError(BadArgument("missing", "be text, as it is written in the file", mark))
    return marks


def _files(paths: object, keep: list[Any]) -> list[tuple[str, str]]:
    """Each file with its name in messages, patterns and folders resolved."""
    # Asked of the type: a plan of polars would be looked through for its columns.
    if isinstance(paths, Mapping) or hasattr(type(paths), "columns"):
        rule = "be a path or a list of paths; a table in memory is passed on as it is"
        raise DataError(BadArgument("paths", rule, type(paths).__name__))
    several = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths
    if not isinstance(several, Iterable):
        raise DataError(BadArgument("paths", "be a path or a list of paths", paths))
    out: list[tuple[str, str]] = []
    for path in several:
        try:
            text = os.fspath(path)
        except TypeError:
            text = None
        if not isinstance(text, str) or not text or "\0" in text:
            raise DataError(BadArgument("paths", "be text", path, subject="a path"))
        out += _files_at(text, keep)
    if not out:
        raise DataError(BadArgument("paths", "name at least one file", []))
    return out


def _files_at(text: str, keep: list[Any]) -> list[tuple[str, str]]:
    if text == "-":
        stdin: Any = getattr(sys.stdin, "buffer", sys.stdin)
        return [(_spool(stdin, "the standard input", keep), "the standard input")]
    if os.path.isdir(text):
        return _folder(text)
    if os.path.isfile(text):
        return [(text, spelled(text))]
    if os.path.exists(text):  # a pipe or a device, which can be read once
        with _reading(spelled(text)), open(text, "rb") as stream:
            return [(_spool(stream, spelled(text), keep), spelled(text))]
    if glob.has_magic(text):
        hits = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p))
        if not hits:
            raise DataError(FileMissing(pattern=True, where=Where(file=text)))
        return [(p, spelled(p)) for p in hits]
    raise _no_file(text)


def _no_file(text: str) -> DataError:
    folder, name = os.path.split(text)
    try:
        # Without what all names end in, which makes short ones alike.
        stems = {os.path.splitext(other)[0]: other for other in sorted(os.listdir(folder or "."))}
        near = get_close_matches(os.path.splitext(name)[0], list(stems), 1, 0.7)
    except OSError:
        return DataError(FileMissing(folder=False, where=Where(file=text)))
    like = os.path.join(folder, stems[near[0]]) if near else None
    return DataError(FileMissing(like, where=Where(file=text)))


def _folder(text: str) -> list[tuple[str, str]]:
    """All files of a folder but hidden ones and those that begin with _, as Spark's _SUCCESS. They
    are parts of one table, so that none is passed over: whatever its name, each must be Parquet."""
    hits = sorted(
        str(p)
        for p in Path(text).rglob("*")
        if p.is_file()
        and not any(part.startswith((".", "_")) for part in p.relative_to(text).parts)
    )
    odd = [p for p in hits if not PARQUET.fits(File.at(p, spelled(p)).start)]
    if len(odd) == len(hits):
        raise DataError(FolderUnfit(where=Where(file=text)))
    if odd:
        raise DataError(FolderUnfit(odd[0], where=Where(file=text)))
    if any("=" in part for part in Path(hits[0]).relative_to(text).parts[:-1]):
        raise DataError(FolderUnfit(partitions=True, where=Where(file=text)))
    return [(p, spelled(p)) for p in hits]


@contextmanager
def _reading(where: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(FileUnreadable(str(error.strerror), where=Where(file=where))) from error


def _spool(stream: IO[bytes], where: str, keep: list[Any]) -> str:
    """What can be read once in a temporary file, since tables are read more than once. Text without
    an end of a line may have none at all: that is noticed here, not when the disk is full."""
    spool = TemporaryFile()
    keep.append(spool)
    with _reading(where), spool.create() as file:
        start, since = b"", 0
        while piece := stream.read(1 << 20):
            start = start or piece[:4096]
            since = len(piece) + since if b"\n" not in piece else 0
            if since > parts.BLOCK and looks_like(start).is_text:
                raise long_line(where)
            file.write(piece)
    return spool.path
