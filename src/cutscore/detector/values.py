"""Columns of Arrow as numbers or text, and whatever users hand in as batches of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import floor
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._names import named_columns, no_column
from cutscore._sweep import Floats
from cutscore._written import (
    CODE,
    COMMA,
    DATE,
    EUROPEAN,
    MOSTLY,
    NUMBER,
    floats,
    mark_way,
    sign_way,
    unmarked,
)
from cutscore.errors import DataError

_BATCH = 1 << 16
_DAY = 86_400


def stream(
    data: Any,
    columns: Sequence[str] | None = None,
    numbers: Sequence[str] = (),
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Any]:
    """Record batches of these columns, in this order, of a table wherever it is.

    Tables are those of :mod:`cutscore.tables`, pyarrow, pandas and polars, anything else that
    speaks Arrow, and mappings from names to columns. A file of text has no types of its own, so
    that whoever knows what a column is says so: ``numbers``, which may have zeros in front, and
    ``texts``, with their levels, which are read as they are written though every value looks like
    something else.
    """
    if hasattr(data, "batches") and hasattr(data, "names"):
        read = data.batches
    else:
        read = partial(_batches, as_table(data))
    start = True
    wanted = None if columns is None else list(columns)
    for batch in read(wanted, numbers=numbers, texts=texts):
        if start:
            _check_numbers(read, batch.schema, numbers, getattr(data, "decimal", None))
        start = False
        yield batch


def _batches(
    table: Any,
    columns: Sequence[str] | None,
    *,
    numbers: Sequence[str],  # noqa: ARG001 - as Source.batches has it
    texts: Mapping[str, Sequence[str]] | None = None,  # noqa: ARG001
) -> Iterator[Any]:
    """Those of a table in memory, where a type is what it is whatever anybody says."""
    import pyarrow as pa

    if columns is not None:
        known = set(table.schema.names)
        for name in columns:
            if name not in known:
                raise no_column(name, table.schema.names, "the table")
        table = table.select(list(columns))
    if isinstance(table, pa.RecordBatch):
        yield table
    else:
        yield from table.to_batches(_BATCH)


def coded(data: Any, columns: Sequence[str]) -> set[str]:
    """Columns that are text in a file but for whoever says that they are numbers."""
    return set(data.coded(columns)) if hasattr(data, "coded") else set()


def row_from(start: int) -> Callable[[int], str]:
    """Names a row by its number, counted from 0 after the first ``start``."""
    return lambda row: f"row {start + row + 1:,}"


def as_table(data: Any) -> Any:
    """A table of pyarrow, or one of its batches; without the index of a pandas frame that has no
    name."""
    import pyarrow as pa

    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data
    elif hasattr(data, "to_frame") and hasattr(data, "name"):
        raise DataError(
            f"a table must have columns and rows; it is a {type(data).__name__}. For one row of a "
            "frame write frame.iloc[[0]], in two pairs of brackets, for one column frame[['name']]."
        )
    elif isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__"):
        try:
            table = pa.table(dict(data) if isinstance(data, Mapping) else data)
        except (pa.ArrowException, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise DataError(
                f"a table must have columns of one length, with one type each: {reason}."
            ) from error
    else:
        raise DataError(
            "a table must be one of cutscore.tables, pyarrow, pandas or polars, or a mapping from "
            f"names to columns; it is {shown(data)}.{_collected(data)}"
        )
    names = table.schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"column names must differ; {shown(twice)} is there twice. Rename one.")
    used = named_columns(table.schema)
    return table if len(used) == len(names) else table.select(used)


def _collected(data: Any) -> str:
    """The way out for a plan of polars."""
    return " Make a frame of it: collect()." if type(data).__name__ == "LazyFrame" else ""


def schema_of(data: Any) -> Any:
    """Names and types of a table's columns."""
    return data.schema if hasattr(data, "batches") else as_table(data).schema


def kind_of(t: Any) -> str | None:
    """What a column of this type is used as, unless somebody says otherwise."""
    import pyarrow.types as at

    if at.is_dictionary(t):
        t = t.value_type
    if at.is_boolean(t):
        return "boolean"
    if at.is_integer(t) or at.is_floating(t) or at.is_decimal(t):
        return "number"
    if at.is_date(t) or at.is_timestamp(t):
        return "date"
    if at.is_null(t):
        return "empty"
    return "category" if _is_text(t) else None


def _is_text(t: Any) -> bool:
    import pyarrow.types as at

    view = getattr(at, "is_string_view", None)
    return bool(at.is_string(t) or at.is_large_string(t) or (view and view(t)))


def numbers(column: Any, name: str, start: int, kind: str = "number") -> Floats:
    """A column as float64, NaN where a value is missing; a date in days since 1970."""
    import pyarrow as pa

    column = _whole(column)
    if kind == "date":
        column = _dated(column)
    found = kind_of(column.type)
    if found == "empty":
        return np.full(len(column), np.nan)
    if found != kind and not (kind == "number" and found == "boolean"):
        _refuse(column, name, start, {"number": "numbers", "date": "dates"}[kind])
    if kind == "date":
        out = _days(column)
    else:
        if found == "boolean":
            column = column.cast(pa.int8())
        out = _floats(column)
    bad = np.isinf(out)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"{shown(name)} must hold finite numbers; row {start + row + 1:,} has {out[row]}. "
            "Make it missing or a number."
        )
    return out


def _check_numbers(
    read: Callable[..., Iterator[Any]], schema: Any, names: Sequence[str], decimal: str | None
) -> None:
    """Raise if a column of text is not all numbers, with the first row that is none: a batch alone
    would not know that the one to blame is in another. ``decimal`` is the sign in files of CSV."""
    for name in names:
        if name in schema.names and kind_of(schema.field(name).type) == "category":
            columns = map(_whole, (b.column(0) for b in read([name], numbers=[name])))
            found = _blamed(columns, decimal)
            if found is not None:
                raise _not_numbers(name, *found)


def _blamed(columns: Iterable[Any], decimal: str | None = None) -> tuple[int, str, str] | None:
    """The first row of text that is no number, its value, and what to do if another decimal sign
    would do better, or if it may stand for a missing value; None if all are.

    Numbers have a decimal point unless ``decimal`` says otherwise, or a comma if more of the values
    can be read so: '<0,5' is to blame for a column of '3,0', which is fine. Where all can be read
    with commas, the first of these is: they are not read in such a table, or may be thousands.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    own, other = (EUROPEAN, NUMBER) if decimal == "," else (NUMBER, EUROPEAN)
    point, comma, else_ = _Way(), _Way(), _Way()
    start = 0
    for column in columns:
        text = pa.array(column.to_pylist(), pa.string())  # not every version casts views
        pointed, pointless, code, otherwise = (
            pc.match_substring_regex(text, pattern) for pattern in (own, COMMA, CODE, other)
        )
        # As in files: a column with 007 in it has no decimal commas.
        commas = pc.and_not(pointless, code)
        for way, fits in (point, pointed), (comma, commas), (else_, otherwise):
            way.fit += fits.true_count
            way.unfit += fits.false_count
            row = pc.index(fits, False).as_py()
            if way.first is None and row >= 0:
                way.first = start + row, text[row].as_py()
        start += len(text)
    first = (comma.first if comma.fit > point.fit else None) or point.first
    if first is None:
        return None
    if else_.fit > point.fit:
        return *first, sign_way(first[1], decimal)
    mostly = point.fit >= MOSTLY * (point.fit + point.unfit)
    return *first, mark_way(first[1], decimal) if mostly else ""


@dataclass
class _Way:
    """How many values can be read in this way and how many can't, and the first of these, with its
    row."""

    fit: int = 0
    unfit: int = 0
    first: tuple[int, str] | None = None


def _not_numbers(name: str, row: int, value: str, way: str) -> DataError:
    return DataError(
        f"{shown(name)} must hold numbers; row {row + 1:,} has {shown(value)}. "
        f"{limit_way(value) or 'Convert the column, or correct that row'}."
        f"{way}"
    )


# Below or above what can be measured: <0.5, > 100, ≤0,5.
_LIMIT = r"^\s*([<>≤≥])=?\s*[+-]?[0-9]*[.,]?[0-9]+\s*$"


def limit_way(value: str) -> str | None:
    """What to do about a detection limit among numbers; None if it is none."""
    found = re.search(_LIMIT, value)
    if found is None:
        return None
    which = "half the limit" if found[1] in "<≤" else "the limit itself"
    return f"Write a number for {shown(value)}, such as {which}"


def _floats(column: Any) -> Floats:
    """Any type of numbers as float64; what has neither nulls nor another type is not copied."""
    return np.asarray(floats(column).to_numpy(zero_copy_only=False))


def whole_numbers(column: Any, x: Floats) -> NDArray[np.int64 | np.uint64] | None:
    """The integers of a column whose floats are ``x``; None if some value is none or missing.

    They have 64 bits: in 8, the difference of 100 and -100 wraps around."""
    import pyarrow as pa

    column = _whole(column)
    if column.null_count:
        return None
    if pa.types.is_integer(column.type):
        out = np.asarray(column.to_numpy(zero_copy_only=False))
        return out if out.dtype == np.uint64 else out.astype(np.int64, copy=False)
    if not ((x == np.floor(x)) & (np.abs(x) < 2**53)).all():
        return None
    return x.astype(np.int64)


def _dated(column: Any) -> Any:
    """Text that is nothing but dates, written as in 2020-01-31 or 2020-01-31 12:30, as dates; any
    other column as it is."""
    import pyarrow as pa

    if kind_of(column.type) != "category":
        return column
    text = unmarked(column.cast(pa.string()))
    # Microseconds reach further than nanoseconds do; times have a zone in every row or in none.
    for t in (pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC")):
        with suppress(pa.ArrowInvalid):
            return text.cast(t)
    return column


def _ticks(column: Any) -> tuple[NDArray[np.int64], int, NDArray[np.bool_]]:
    """Dates as whole numbers since 1970, how many make a day, and where they are missing.

    Nanoseconds are cut to microseconds, which is what databases have: a date is the same number
    everywhere."""
    import pyarrow as pa

    null = np.asarray(column.is_null())
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64), 1, null
    unit = "ms" if pa.types.is_date64(column.type) else column.type.unit
    ticks = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if unit == "ns":
        unit, ticks = "us", ticks // 1000
    return ticks, _DAY * {"s": 1, "ms": 10**3, "us": 10**6}[unit], null


def _days(column: Any) -> Floats:
    # Whole days and what is left, apart: a count of microseconds has more digits than a float. The
    # quotient of the rest is that of two whole numbers, so that all units give the same float.
    ticks, per_day, null = _ticks(column)
    days, rest = np.divmod(ticks, per_day)
    return np.where(null, np.nan, days + rest / per_day)


def in_words(x: float, kind: str = "number") -> str:
    """A number, or days since 1970 as a date if there is such a date."""
    if kind == "date":
        with suppress(ValueError, OverflowError):
            return str(np.datetime64(floor(x), "D"))
    return f"{x:.6g}"


def texts(column: Any, name: str, start: int, of: str = "text") -> Any:
    """A column as text, null where a value is missing; an empty text is missing too.

    Levels are ``of`` "text", which stays as it is; of "whole" numbers, without a point or zeros in
    front, however they are written or stored; or of a "date", as in 2020-01-31 or 2020-01-31
    12:30:00.5, whatever its unit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cutscore.detector.values import texts
    >>> texts(pa.array([10.0, None]), "zip", 0).to_pylist()
    ['10', None]
    >>> written = pa.array(["10", "10.0", "010", "x", ""])
    >>> texts(written, "zip", 0).to_pylist()
    ['10', '10.0', '010', 'x', None]
    >>> texts(written, "zip", 0, of="whole").to_pylist()
    ['10', '10', '10', 'x', None]
    """
    import pyarrow as pa

    column = _whole(column)
    if of == "date":
        column = _dated(column)
    found = kind_of(column.type)
    if found == "empty":
        return pa.nulls(len(column), pa.string())
    if found == "date" and of == "date":
        return _dates_written(column)
    if found == "category" and of != "date":
        return _filled(column) if of == "text" else _whole_written(_filled(column), name, start)
    if found == "number" and of != "date":
        return _numbers_written(column, name, start)
    # As text, true would be another level than TRUE, and a date depend on its unit.
    return _refuse(column, name, start, {"text": "text", "date": "dates"}.get(of, "whole numbers"))


def _filled(column: Any) -> Any:
    """Text without empty ones, which are missing: in most files, and in ONNX, nothing tells one
    from the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _numbers_written(column: Any, name: str, start: int) -> Any:
    """Whole numbers as text; other numbers are refused."""
    import pyarrow as pa

    t = column.type
    if pa.types.is_integer(t) or (pa.types.is_decimal(t) and t.scale <= 0):
        return column.cast(pa.string())
    x = _floats(column)
    gone = np.isnan(x)
    fits = _is_whole(x) | gone
    if not fits.all():
        row = int(np.argmin(fits))
        raise DataError(
            f"categories must be text or whole numbers; row {start + row + 1:,} of "
            f"{shown(name)} has {x[row]!s}. Use it as a number, or make it text."
        )
    return pa.array(np.where(gone, 0, x).astype(np.int64), mask=gone).cast(pa.string())


def _is_whole(x: Floats) -> NDArray[np.bool_]:
    return np.asarray((x == np.floor(x)) & (np.abs(x) < 2**53))


def _whole_written(text: Any, name: str, start: int) -> Any:
    """Text that is a whole number as that number is written without a column of text. One with a
    comma may be several numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(text, "^(-?[1-9][0-9]*|0)$"), min_count=0).as_py():
        return text
    none = pa.scalar(None, pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    commas = pc.and_(pc.match_substring(text, ","), pc.match_substring_regex(trimmed, EUROPEAN))
    row = pc.index(commas, True).as_py()
    if row >= 0:
        raise DataError(
            f"{shown(name)} must hold whole numbers; row {start + row + 1:,} has "
            f"{shown(text[row].as_py())}. Write it without a comma, or correct what makes text of "
            "the column."
        )
    # Long ones exactly; then those with a point or an exponent.
    digits = pc.replace_substring_regex(trimmed, r"^\+?(-?)0*([0-9])", r"\1\2")
    is_long = pc.match_substring_regex(digits, "^-?[0-9]{1,38}$")
    long = pc.if_else(pc.equal(digits, "-0"), "0", digits)
    is_number = pc.match_substring_regex(trimmed, NUMBER)
    x = pc.if_else(is_number, trimmed, none).cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole = _is_whole(x)
    short = pa.array(np.where(whole, x, 0).astype(np.int64), mask=~whole).cast(pa.string())
    return pc.if_else(is_long, long, pc.coalesce(short, text))


def _dates_written(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    ticks, per_day, null = _ticks(column)
    unit = {1: "D", _DAY: "s", _DAY * 10**3: "ms"}.get(per_day, "us")
    written = np.datetime_as_string(ticks.view(f"M8[{unit}]")).astype(object)
    text = pa.array(written, pa.string(), mask=null)
    for pattern, to in (
        ("T", " "),
        (r" 00:00:00(\.0+)?$", ""),
        (r"\.0+$", ""),
        (r"(\.[0-9]*[1-9])0+$", r"\1"),
    ):
        text = pc.replace_substring_regex(text, pattern, to)
    return text


# What text stands for in a column of booleans, in small letters.
_TRUTH = {"true": ("true", "1", "1.0"), "false": ("false", "0", "0.0")}


def flags(column: Any, name: str, start: int) -> Any:
    """A column of booleans, of 0 and 1, or of text that says so, as "true" and "false"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _whole(column)
    found = kind_of(column.type)
    if found == "empty":
        return pa.nulls(len(column), pa.string())
    if found == "boolean":
        return column.cast(pa.string())
    if found == "number":
        x = _floats(column)
        ok = (x == 0) | (x == 1) | np.isnan(x)
        if ok.all():
            return pa.array(x == 1, mask=np.isnan(x)).cast(pa.string())
        row = int(ok.argmin())
        raise DataError(
            f"{shown(name)} must hold true and false, or 1 and 0; row {start + row + 1:,} has "
            f"{x[row]:g}."
        )
    if found == "category":
        text = unmarked(column.cast(pa.string()))
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(text))
        yes, no = (pc.is_in(plain, value_set=pa.array(words)) for words in _TRUTH.values())
        known = pc.or_(pc.or_(yes, no), pc.is_null(text))
        row = pc.index(known, False).as_py()
        if row < 0:
            return pc.if_else(pc.is_null(text), pa.scalar(None, pa.string()), yes.cast(pa.string()))
        column, start = column.slice(row), start + row
    return _refuse(column, name, start, "true and false")


def _whole(column: Any) -> Any:
    """One array, without a dictionary. Of a column that has no values, no type is left either: a
    few rows of a file may say nothing about it."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        values = column.dictionary
        if kind_of(values.type) == "category":  # such as a view of text, which has no `take`
            values = values.cast(pa.string())
        column = values.take(column.indices)
    return pa.nulls(len(column)) if column.null_count == len(column) else column


def _refuse(column: Any, name: str, start: int, wanted: str) -> NoReturn:
    text = kind_of(column.type) == "category"
    bad = _blamed([column]) if text and wanted == "numbers" else None
    if bad is not None:
        raise _not_numbers(name, start + bad[0], *bad[1:])
    valid = np.asarray(column.is_valid())
    row = int(valid.argmax())
    value = column[row].as_py() if valid.any() else None
    out = "Convert the column, or correct that row."
    if text and wanted == "dates":
        # One that is none makes text of all of them.
        none = (k for k, v in enumerate(column.to_pylist()) if v and not re.search(DATE, str(v)))
        first = next(none, None)
        if first is None:
            out = "That is text: make the column one of dates, as pandas.to_datetime does."
        else:
            row, value = first, column[first].as_py()
            out = "Write it as 2025-04-24, or correct that row."
    elif text and wanted == "numbers":
        out = "That is text: make the column one of numbers, as pandas.to_numeric does."
    raise DataError(
        f"{shown(name)} must hold {wanted}; row {start + row + 1:,} has {shown(value)}. {out}"
    )
