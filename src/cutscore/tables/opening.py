"""Tables found and opened: which files, what format, or a query."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cutscore._check import shown
from cutscore._names import spelled
from cutscore.errors import DataError
from cutscore.tables.binary import ArrowPart, ParquetPart
from cutscore.tables.formats import EXTENSIONS, READ, format_named
from cutscore.tables.libsvm import LibsvmPart
from cutscore.tables.parts import Part, common_type
from cutscore.tables.query import AsCsv, DuckPart, SqlitePart
from cutscore.tables.source import Source, same_names
from cutscore.tables.text import NUMBERS, CsvPart, JsonPart, compression_of, open_bytes

_PACKED = {".gz", ".bz2", ".zst"}


def open_table(  # noqa: PLR0913 - how to read a file has many sides
    paths: Any = None,
    *,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    sql: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: str | Sequence[str] = (),
) -> Source:
    """Open a table that lies in one file or in several with the same columns.

    Parameters
    ----------
    paths
        A path, a pattern such as ``"day-*.csv"``, ``"-"`` for the standard input, a folder of
        Parquet files, or a list of these.
    format
        "csv", "tsv", "parquet", "arrow" (or "feather"), "jsonl" or "libsvm". If it is not given the
        extension tells, and where that says nothing, the first bytes. CSV, TSV, JSON lines and
        libsvm may be compressed with gzip, bzip2 or zstd.
    columns
        Names that must be there; an error says at once which is not.
    sql
        A query. Over a file of SQLite or DuckDB, tables are those of the file. Over other files,
        all of them together are called ``data``; without ``paths`` the query names the files, as
        in ``select * from 'a.parquet'``. Needs the extra ``sql``, but for SQLite.
        Files of CSV among ``paths`` are read as without a query.
    header
        Whether the first line of CSV holds the names. If it is not said it must, and a line that
        looks like values is refused. False: columns are called c1, c2, ….
    separator
        What stands between the columns of CSV. If it is not given it is a comma, or else what the
        first line has: a semicolon, a tab or a bar; ``notes`` says so.
    decimal
        The decimal sign of numbers in CSV, "." or ",". With "," they may have thousands, 1.234,56
        or 1 234,56; see the notes.
    missing
        Text that stands for a missing value in CSV, or a list of such: "-", "?", "-9999". It is
        taken as it is written, in every column and in quotes too. Without quotes, nothing, NA, N/A,
        NaN, null and error values of Excel, such as #N/A and #DIV/0!, are always missing.

    Returns
    -------
    Source
        With ``names``, ``schema``, ``batches(columns)``, ``read(columns)`` and, for NumPy,
        ``columns(names)``. Rows are counted from 1 in messages, without the line of names.

    Notes
    -----
    Types fit every row. A column of CSV is text if any of its values has a zero in front, as 007
    has, or if it holds whole numbers too long for 64 bits: as numbers, codes that differ would
    become the same.

    With ``decimal=","`` a column is one of numbers if all of its values are written so: 12,5, or
    with a point, a blank (no-break and narrow ones too) or an apostrophe before each three digits:
    1.234 is 1234. Dates such as 31.12.2024 and numbers such as 12.5 make it text. With ``"."``
    commas are decimal too where another character stands between the columns, all values are
    numbers such as 12,5, and some comma has not three digits after it, as those of thousands do.

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
    kind = None if format is None else format_named(format, READ)
    check_decimal(decimal, separator)
    marks = _marks(missing)
    folder: list[Any] = []
    found = _files(paths, folder) if paths is not None else []
    how = _How(header, separator, decimal, marks)
    if sql is not None:
        source = Source([_query(sql, found, kind, how)], folder)
    elif not found:
        raise DataError("there must be a file or a query; neither paths nor sql were given.")
    else:
        source = Source([_part(p, name, kind, how) for p, name in found], folder)
    if columns is not None:
        source._wanted(columns)
    return source


def check_decimal(decimal: Any, separator: str | None) -> None:
    """Raise if this can't be a decimal sign, or not with that separator."""
    if not isinstance(decimal, str) or decimal not in (".", ","):
        raise DataError(
            f"the decimal sign must be a point or a comma; it is {shown(decimal)}. What stands "
            "between columns is the separator."
        )
    if decimal == separator:
        raise DataError(
            f"the decimal sign must differ from the separator; both are {shown(decimal)}. Leave "
            "the separator out, and it is found; numbers may stand in quotes."
        )


def _marks(missing: Any) -> tuple[str, ...]:
    several = (
        (missing,) if isinstance(missing, str) or not isinstance(missing, Iterable) else missing
    )
    marks = tuple(several)
    for mark in marks:
        if not isinstance(mark, str):
            raise DataError(
                "what stands for a missing value must be text, as it is written in the file; it is "
                f"{shown(mark)}. Write it in quotes."
            )
    return tuple(dict.fromkeys(marks))


class _How(NamedTuple):
    """How files of CSV are to be read."""

    header: bool | None = None
    separator: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = ()


def _files(paths: Any, keep: list[Any]) -> list[tuple[str, str]]:
    """Each file with its name in messages, patterns and folders resolved."""
    # Asked of the type: a plan of polars would be looked through for its columns.
    if isinstance(paths, Mapping) or hasattr(type(paths), "columns"):
        raise DataError(
            f"paths must be a path or a list of paths; it is a {type(paths).__name__}. What is a "
            "table already is not opened: pass it as it is, as to cutscore.training.train."
        )
    several = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths
    if not isinstance(several, Iterable):
        raise DataError(f"paths must be a path or a list of paths; it is {shown(paths)}.")
    out: list[tuple[str, str]] = []
    for path in several:
        try:
            text = os.fspath(path)
        except TypeError:
            text = None
        if not isinstance(text, str) or not text or "\0" in text:
            raise DataError(f"a path must be text; it is {shown(path)}.")
        if text == "-":
            out.append((_spooled(keep), "the standard input"))
        elif os.path.isdir(text):
            out += _folder(text)
        elif os.path.exists(text):
            out.append((text, spelled(text)))
        elif glob.has_magic(text):
            hits = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p))
            if not hits:
                raise DataError(f"the pattern {spelled(text)} matches no file. Look at the folder.")
            out += [(p, spelled(p)) for p in hits]
        else:
            raise _no_file(text)
    if not out:
        raise DataError("there must be at least one file; the list of paths is empty.")
    return out


def _no_file(text: str) -> DataError:
    folder, name = os.path.split(text)
    try:
        # Without what all names end in, which makes short ones alike.
        stems = {os.path.splitext(other)[0]: other for other in sorted(os.listdir(folder or "."))}
        near = get_close_matches(os.path.splitext(name)[0], list(stems), 1, 0.7)
    except OSError:
        return DataError(f"there is no file {spelled(text)}: its folder is not there either.")
    hint = f" Did you mean {spelled(os.path.join(folder, stems[near[0]]))}?" if near else ""
    return DataError(f"there is no file {spelled(text)}.{hint}")


def _folder(text: str) -> list[tuple[str, str]]:
    """All files of a folder but hidden ones and those that begin with _, as Spark's _SUCCESS. They
    are parts of one table, so that none is passed over: whatever its name, each must be Parquet."""
    hits = sorted(
        str(p)
        for p in Path(text).rglob("*")
        if p.is_file()
        and not any(part.startswith((".", "_")) for part in p.relative_to(text).parts)
    )
    odd = [p for p in hits if not _start(p, spelled(p)).startswith(b"PAR1")]
    if len(odd) == len(hits):
        raise DataError(
            f"{spelled(text)} is a folder without Parquet files. Name files, or a pattern such as "
            f"{spelled(os.path.join(text, '*.csv'))}."
        )
    if odd:
        raise DataError(
            f"all files of a folder must be Parquet; {spelled(odd[0])} is not. Move it away, or "
            "name those that are."
        )
    if any("=" in part for part in Path(hits[0]).relative_to(text).parts[:-1]):
        raise DataError(
            f"{spelled(text)} has columns in the names of its folders, which are not read here. "
            "Use a query: sql=\"from read_parquet('…/**/*.parquet', hive_partitioning=true)\"."
        )
    return [(p, spelled(p)) for p in hits]


def _spooled(keep: list[Any]) -> str:
    """The standard input in a file, since tables are read more than once."""
    handle, path = tempfile.mkstemp(prefix="cutscore-")

    class Spool:
        pass

    spool = Spool()
    weakref.finalize(spool, _removed, path)
    keep.append(spool)
    try:
        with open(handle, "wb") as file:
            shutil.copyfileobj(getattr(sys.stdin, "buffer", sys.stdin), file, 1 << 20)
    except OSError as error:
        raise DataError(f"the standard input can't be kept: {error.strerror}.") from error
    return path


def _removed(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def _part(path: str, name: str, format: str | None, how: _How) -> Part:
    format = format or _found_format(path, name)
    if format in ("csv", "tsv"):
        between = how.separator or ("\t" if format == "tsv" else None)
        if between is not None and (len(between) != 1 or between in '"\r\n'):
            raise DataError(f"a separator must be one character; it is {shown(how.separator)}.")
        return CsvPart(
            path,
            name,
            separator=between,
            header=how.header,
            decimal=how.decimal,
            missing=how.missing,
        )
    if how.decimal != "." and format not in _NAMED:
        raise DataError(
            f'a decimal sign is said of CSV only; {name} is {format}. Leave decimal="," out.'
        )
    if how.missing and format not in _NAMED:
        raise _said_elsewhere(how.missing[0], f"{name} is {format}")
    makers: dict[str, Callable[[str, str], Part]] = {
        "parquet": ParquetPart,
        "arrow": ArrowPart,
        "jsonl": JsonPart,
        "libsvm": LibsvmPart,
    }
    if format not in makers:
        raise DataError(
            f'{name} is a database of {_NAMED[format]}; say what to read: sql="select …".'
        )
    return makers[format](path, name)


_NAMED = {"sqlite": "SQLite", "duckdb": "DuckDB"}


def _said_elsewhere(mark: str, what: str) -> DataError:
    text = mark.replace("'", "''")
    return DataError(
        f"what stands for a missing value is said of CSV only; {what}. Say it in a query, of each "
        f"column: sql=\"select * replace (nullif(x, '{text}') as x) from data\"."
    )


def _start(path: str, name: str, *, unpacked: bool = False) -> bytes:
    """The first bytes of a file."""
    try:
        with open(path, "rb") as file:
            start = file.read(4096)
        if unpacked and compression_of(start):
            with open_bytes(path) as file:
                start = file.read(4096)
    except (OSError, pa.ArrowException, EOFError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
        raise DataError(f"{name} can't be read: {reason.rstrip('.')}.") from error
    if not start:
        raise DataError(f"{name} is empty. A table has a line of column names, then rows.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"text must be UTF-8; {name} is UTF-16. Convert it: iconv -f utf-16 -t utf-8."
        )
    what = _foreign(start)
    if what:
        raise DataError(f"{name} is {what}, which is not read. Save it as CSV (UTF-8) there.")
    return start


def _foreign(start: bytes) -> str | None:
    """What a file is that others call a table."""
    if start.startswith(b"PK\x03\x04"):
        return "a workbook of Excel or another archive in a ZIP"
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return "a workbook of Excel"
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<table")):
        return "a page of HTML"
    return "XML" if head.startswith(b"<?xml") else None


def _found_format(path: str, name: str) -> str:
    """By the extension; by the first bytes where that says nothing, or lies."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    named = EXTENSIONS.get(suffixes[-1]) if suffixes else None
    by_content = _sniffed(_start(path, name, unpacked=named is None or named in _TEXT))
    if named is None:
        return by_content
    if named != by_content and (named not in _TEXT or by_content not in _TEXT):
        if named in ("parquet", "arrow") and by_content in _TEXT:
            raise DataError(
                f"{name} is no {'Parquet' if named == 'parquet' else 'Arrow'} file: its first "
                f"bytes are others. If it holds {by_content.upper()}, say format={by_content!r}."
            )
        raise DataError(
            f"{name} looks like {by_content}, not like its extension. Say which it is: "
            f"format={by_content!r}."
        )
    return named


_TEXT = ("csv", "tsv", "jsonl", "libsvm")


# How files start; 0xFFFFFFFF opens a stream of Arrow's batches.
_STARTS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_STARTS |= {b"SQLite format 3\0": "sqlite"}


def _sniffed(start: bytes) -> str:
    for magic, format in _STARTS.items():
        if start.startswith(magic):
            return format
    if start[8:12] == b"DUCK":
        return "duckdb"
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith((b"{", b"[")):
        return "jsonl"
    line = head.partition(b"\n")[0].strip()
    if re.fullmatch(rb"[-+.\deE]+(\s+\d+:[-+.\deE]+)+(\s*#.*)?", line):
        return "libsvm"
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def _query(sql: str, found: list[tuple[str, str]], format: str | None, how: _How) -> Part:
    if not isinstance(sql, str) or not sql.strip():
        raise DataError(f"a query must be text; it is {shown(sql)}.")
    formats = [(path, format or _found_format(path, name)) for path, name in found]
    is_csv = bool(formats) and all(kind in ("csv", "tsv") for _, kind in formats)
    if not is_csv and how.missing:
        raise _said_elsewhere(how.missing[0], "this query reads others")
    if not is_csv and how != _How():
        raise DataError(
            "separator, header and decimal say how to read files of CSV; this query reads others. "
            "Leave them out, or say it in the query: from read_csv('a.csv', delim=';', "
            "header=false, decimal_separator=',')."
        )
    databases = [k for k, (_, f) in enumerate(formats) if f in _NAMED]
    if databases and len(formats) > 1:
        raise DataError(
            f"a query runs over one database or over files; {formats[databases[0]][0]} is a "
            "database among several paths. Pass it alone."
        )
    if databases and formats[0][1] == "sqlite":
        return SqlitePart(formats[0][0], sql, found[0][1])
    if databases:
        return DuckPart(sql, database=formats[0][0], of=[found[0][1]])
    as_csv: list[AsCsv] = []
    if is_csv:
        parts = [_part(p, name, k, how) for (p, k), (_, name) in zip(formats, found, strict=True)]
        as_csv = _as_csv([part for part in parts if isinstance(part, CsvPart)])
    arrow = None
    if formats and all(f == "arrow" for _, f in formats):
        import pyarrow.dataset as ds

        try:
            arrow = ds.dataset([path for path, _ in formats], format="ipc")
        except pa.ArrowInvalid as error:
            raise DataError(
                f"a query reads files of Arrow, not streams of its batches; {found[0][1]} can't be "
                "read by one. Write it as a file, or as Parquet."
            ) from error
    part = DuckPart(
        sql,
        formats,
        arrow=arrow,
        as_csv=as_csv,
        unnamed=_unnamed(formats[0]) if formats else (),
        of=[name for _, name in found],
    )
    part.decimal = how.decimal if is_csv else None
    part.missing = how.missing
    return part


def _unnamed(file: tuple[str, str]) -> list[str]:
    """The columns of a file that are not those of its table."""
    path, format = file
    if format not in ("parquet", "arrow"):
        return []
    part = ParquetPart(path) if format == "parquet" else ArrowPart(path)
    return [name for name in part._schema.names if name not in part.names]


def _as_csv(parts: Sequence[CsvPart]) -> list[AsCsv]:
    for other in parts[1:]:
        same_names(parts[0], other)
    names = parts[0].names
    for part in parts:
        part.schema(names)
    # What is a code in one file is one in all of them.
    codes = {name for part in parts for name in part.codes}
    for part in parts:
        part.add_codes(codes)
    types = dict.fromkeys(names, pa.null())
    for part in parts:
        for name, t in zip(names, part.schema(names).types, strict=True):
            # A query may not ask for what differs from file to file, or convert it.
            types[name] = common_type(types[name], t) or pa.string()
    return [
        AsCsv(
            part.separator,
            part.header,
            tuple(part.names),
            tuple(types[name] for name in part.names),
            frozenset(name for name in part.with_commas if types[name] in NUMBERS),
            part.marks,
            part.skip,
            frozenset(part.inexact),
        )
        for part in parts
    ]
