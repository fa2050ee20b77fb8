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
from cutscore._written import CODE, COMMA, DATE, EUROPEAN, MOSTLY, NUMBER, mark_way, sign_way
from cutscore.errors import DataError

_BATCH = 1 << 16
_DAY = 86_400


def stream(
    data: Any, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()
) -> Iterator[Any]:
    """Record batches of these columns, in this order, of a table wherever it is.

    Tables are those of :mod:`cutscore.tables`, pyarrow, pandas and polars, anything else that
    speaks Arrow, and mappings from names to columns. In ``numbers`` are columns that are known to
    be numbers: a file of text may have zeros in front of them.
    """
    if hasattr(data, "batches") and hasattr(data, "names"):
        read = data.batches
    else:
        read = partial(_batches, as_table(data))
    start = True
    for batch in read(None if columns is None else list(columns), numbers=numbers):
        if start:
            _check_numbers(read, batch.schema, numbers, getattr(data, "decimal", None))
        start = False
        yield batch


def _batches(
    table: Any,
    columns: Sequence[str] | None,
    *,
    numbers: Sequence[str],  # noqa: ARG001 - as Source.batches has it
) -> Iterator[Any]:
    """Those of a table in memory, where a type is what it is whatever ``numbers`` says."""
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
    import pyarrow as pa

    if not pa.types.is_float64(column.type):
        # Not "safe": integers beyond 2⁵³ are rounded, which does no harm to a linear score.
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


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


def _days(column: Any) -> Floats:
    import pyarrow as pa

    if pa.types.is_date32(column.type):
        return _floats(column.cast(pa.int32()))
    # Whole days and what is left, apart: a nanosecond count has more digits than a float.
    unit = "ms" if pa.types.is_date64(column.type) else column.type.unit
    per_day = _DAY * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    null = np.asarray(column.is_null())
    ticks = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    days, rest = np.divmod(ticks, per_day)
    return np.where(null, np.nan, days + rest / per_day)


def in_words(x: float, kind: str = "number") -> str:
    """A number, or days since 1970 as a date if there is such a date."""
    if kind == "date":
        with suppress(ValueError, OverflowError):
            return str(np.datetime64(floor(x), "D"))
    return f"{x:.6g}"


def texts(column: Any, name: str, start: int) -> Any:
    """A column as text, null where a value is missing: whole numbers without a point, true, false,
    dates as in 2020-01-31."""
    import pyarrow as pa

    column = _whole(column)
    found = kind_of(column.type)
    if found == "category":
        return column.cast(pa.string())
    if found == "empty":
        return pa.nulls(len(column), pa.string())
    if found == "number":
        t = column.type
        if pa.types.is_integer(t) or (pa.types.is_decimal(t) and t.scale <= 0):
            return column.cast(pa.string())
        x = _floats(column)
        gone = np.isnan(x)
        if not ((x == np.floor(x)) & (np.abs(x) < 2**53) | gone).all():
            row = int(np.argmin((x == np.floor(x)) & (np.abs(x) < 2**53) | gone))
            raise DataError(
                f"categories must be text or whole numbers; row {start + row + 1:,} of "
                f"{shown(name)} has {x[row]!s}. Use it as a number, or make it text."
            )
        whole = pa.array(np.where(gone, 0, x).astype(np.int64), mask=gone)
        return whole.cast(pa.string())
    if found in ("boolean", "date"):
        return column.cast(pa.string())
    return _refuse(column, name, start, "text")


def flags(column: Any, name: str, start: int) -> Any:
    """A column of booleans, or of 0 and 1, as "true" and "false"."""
    import pyarrow as pa

    column = _whole(column)
    found = kind_of(column.type)
    if found == "empty":
        return pa.nulls(len(column), pa.string())
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
    if found != "boolean":
        _refuse(column, name, start, "true and false")
    return column.cast(pa.string())


def _whole(column: Any) -> Any:
    """One array, without a dictionary."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        values = column.dictionary
        if kind_of(values.type) == "category":  # such as a view of text, which has no `take`
            values = values.cast(pa.string())
        column = values.take(column.indices)
    return column


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
