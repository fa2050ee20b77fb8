"""The formats of tables: each is a module, and one line here."""

from __future__ import annotations

from codecs import getincrementaldecoder
from pathlib import Path

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Where
from cutscore.core.findings.tables import FormatMismatch
from cutscore.tables.formats.arrow import ARROW
from cutscore.tables.formats.csv import CSV, TSV
from cutscore.tables.formats.jsonlines import JSONL
from cutscore.tables.formats.libsvm import LIBSVM
from cutscore.tables.formats.orc import ORC
from cutscore.tables.formats.parquet import PARQUET
from cutscore.tables.formats.query import DUCKDB, SQLITE
from cutscore.tables.parts import File, Format

# In the order in which their first bytes are tried: any text may be CSV.
FORMATS = (PARQUET, ARROW, ORC, SQLITE, DUCKDB, JSONL, LIBSVM, CSV, TSV)

# Extensions of what can be written.
WRITTEN = tuple(f".{name}" for f in FORMATS if f.write is not None for name in f.extensions)

_PACKED = {".gz", ".bz2", ".zst"}


def named(name: object, *, to_write: bool = False) -> Format:
    """The format of that name.

    Examples
    --------
    >>> from cutscore.tables.formats.registry import named
    >>> named("feather").name
    'arrow'
    """
    text = name.lower().lstrip(".") if isinstance(name, str) else ""
    some = [f for f in FORMATS if (f.write if to_write else f.read) is not None]
    for format in some:
        if text in format.extensions:
            return format
    rule = f"be one of {', '.join(f.name for f in some)}"
    raise DataError(BadArgument("format", rule, name))


def by_extension(path: str) -> Format | None:
    """The format that the name of a file says, if it says one."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    last = suffixes[-1][1:] if suffixes else ""
    return next((f for f in FORMATS if last in f.extensions), None)


def looks_like(start: bytes) -> Format:
    """The format that the first bytes of a file are those of."""
    return next(f for f in FORMATS if f.fits(start))


def format_of(file: File) -> Format:
    """By the extension; by the first bytes where that says nothing. They must not contradict."""
    said = by_extension(file.path)
    seen = looks_like(file.start)
    if said is None:
        return seen
    if said is not seen and not (said.is_text and seen.is_text):
        # Any bytes may be CSV in some encoding, but nobody would call these so.
        known = not seen.is_text or _is_text(file.start)
        finding = FormatMismatch(
            said.name, seen.name if known else None, where=Where(file=file.where)
        )
        raise DataError(finding)
    return said


def _is_text(start: bytes) -> bool:
    """Whether these bytes are UTF-8; the last character may be cut."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False


def written_as(path: str) -> Format | None:
    """The format that a table is written in to this path, if it is known."""
    last = Path(path).suffix.lower()[1:]
    return next((f for f in FORMATS if last in f.extensions and f.write is not None), None)
