"""Columns of Arrow as numbers or text, and whatever users hand in as batches of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import floor
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings import shown
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import ValueUnfit
from cutscore.sweeps.sweep import Floats
from cutscore.tables.literals import NUMBER, floats, unmarked

if TYPE_CHECKING:
    import pyarrow as pa

    from cutscore.tables.frames import TableLike

_BATCH = 1 << 16
_DAY = 86_400


def stream(
    data: TableLike,
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
    from cutscore.tables.frames import as_table

    read = as_table(data).batches
    start = True
    wanted = None if columns is None else list(columns)
    for batch in read(wanted, numbers=numbers, texts=texts):
        if start:
            _check_numbers(read, batch.schema, numbers)
        start = False
        yield batch


def kind_of(t: pa.DataType) -> str | None:
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


def _is_text(t: pa.DataType) -> bool:
    import pyarrow.types as at

    view = getattr(at, "is_string_view", None)
    return bool(at.is_string(t) or at.is_large_string(t) or (view and view(t)))


def numbers(column: pa.Array, name: str, start: int, kind: str = "number") -> Floats:
    """A column as finite float64, NaN where a value is missing; a date in days since 1970."""
    out = scores(column, name, start, kind)
    bad = np.isinf(out)
    if bad.any():
        row = int(bad.argmax())
        raise unfit(name, start + row, "finite numbers", float(out[row]))
    return out


def scores(column: pa.Array, name: str, start: int, kind: str = "number") -> Floats:
    """As :func:`numbers`, with infinite ones, which scores may be."""
    import pyarrow as pa

    column = _whole(column)
    if kind == "date":
        column = _dated(column)
    found = kind_of(column.type)
    if found == "empty":
        return np.full(len(column), np.nan)
    if found != kind and not (kind == "number" and found == "boolean"):
        _refuse(column, name, start, kind)
    if kind == "date":
        return _days(column)
    return _floats(column.cast(pa.int8()) if found == "boolean" else column)


def _check_numbers(
    read: Callable[..., Iterator[Any]], schema: pa.Schema, names: Sequence[str]
) -> None:
    """Raise if a column of text is not all numbers, with the first row that is none: a batch alone
    would not know that the one to blame is in another."""
    types = dict(zip(schema.names, schema.types, strict=True))
    for name in names:
        if name not in types or kind_of(types[name]) != "category":
            continue
        start = 0
        for batch in read([name], numbers=[name]):
            column = _whole(batch.column(0))
            if kind_of(column.type) == "category" and _first_bad(column, _is_number) is not None:
                _refuse(column, name, start, "number")
            start += batch.num_rows


def _first_bad(column: pa.Array, is_good: Callable[[str], bool]) -> int | None:
    """The first row of text that is not as it should be; None if there is none."""
    values = enumerate(column.to_pylist())
    return next((row for row, text in values if text is not None and not is_good(text)), None)


def _is_number(text: str) -> bool:
    return re.search(NUMBER, text) is not None


def _is_date(text: str) -> bool:
    import pyarrow as pa

    return kind_of(_dated(pa.array([text])).type) == "date"


def _floats(column: pa.Array) -> Floats:
    """Any type of numbers as float64; what has neither nulls nor another type is not copied."""
    return np.asarray(floats(column).to_numpy(zero_copy_only=False))


def whole_numbers(column: pa.Array, x: Floats) -> NDArray[np.int64 | np.uint64] | None:
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


def _dated(column: pa.Array) -> Any:
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


def _ticks(column: pa.Array) -> tuple[NDArray[np.int64], int, NDArray[np.bool_]]:
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


def _days(column: pa.Array) -> Floats:
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


def texts(column: pa.Array, name: str, start: int, of: str = "text") -> Any:
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
        return _filled(column) if of == "text" else _whole_written(_filled(column))
    if found == "number" and of != "date":
        return _numbers_written(column, name, start)
    # As text, true would be another level than TRUE, and a date depend on its unit.
    return _refuse(column, name, start, of)


def _filled(column: pa.Array) -> Any:
    """Text without empty ones, which are missing: in most files, and in ONNX, nothing tells one
    from the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _numbers_written(column: pa.Array, name: str, start: int) -> Any:
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
        raise unfit(name, start + row, "text or whole numbers", float(x[row]))
    return pa.array(np.where(gone, 0, x).astype(np.int64), mask=gone).cast(pa.string())


def _is_whole(x: Floats) -> NDArray[np.bool_]:
    return np.asarray((x == np.floor(x)) & (np.abs(x) < 2**53))


def _whole_written(text: pa.Array) -> Any:
    """Text that is a whole number as that number is written without a column of text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(text, "^(-?[1-9][0-9]*|0)$"), min_count=0).as_py():
        return text
    none = pa.scalar(None, pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    # Long ones exactly; then those with a point or an exponent.
    digits = pc.replace_substring_regex(trimmed, r"^\+?(-?)0*([0-9])", r"\1\2")
    is_long = pc.match_substring_regex(digits, "^-?[0-9]{1,38}$")
    long = pc.if_else(pc.equal(digits, "-0"), "0", digits)
    is_number = pc.match_substring_regex(trimmed, NUMBER)
    x = pc.if_else(is_number, trimmed, none).cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole = _is_whole(x)
    short = pa.array(np.where(whole, x, 0).astype(np.int64), mask=~whole).cast(pa.string())
    return pc.if_else(is_long, long, pc.coalesce(short, text))


def _dates_written(column: pa.Array) -> Any:
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


def flags(column: pa.Array, name: str, start: int) -> Any:
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
        raise unfit(name, start + row, "true and false, or 1 and 0", float(x[row]))
    if found == "category":
        text = unmarked(column.cast(pa.string()))
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(text))
        yes, no = (pc.is_in(plain, value_set=pa.array(words)) for words in _TRUTH.values())
        known = pc.or_(pc.or_(yes, no), pc.is_null(text))
        row = pc.index(known, False).as_py()
        if row < 0:
            return pc.if_else(pc.is_null(text), pa.scalar(None, pa.string()), yes.cast(pa.string()))
        column, start = column.slice(row), start + row
    return _refuse(column, name, start, "boolean")


def _whole(column: pa.Array) -> Any:
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


# What a column must hold, by its kind.
_WANTED = {
    "number": "numbers",
    "date": "dates",
    "text": "text",
    "whole": "whole numbers",
    "boolean": "true and false",
}


def _refuse(column: pa.Array, name: str, start: int, kind: str) -> NoReturn:
    """Raise for the first value that is not of this kind; or for the first at all, if text is."""
    row = None
    is_good = {"number": _is_number, "date": _is_date}.get(kind)
    if is_good is not None and kind_of(column.type) == "category":
        row = _first_bad(column, is_good)
    if row is None:
        row = int(np.asarray(column.is_valid()).argmax())
    raise unfit(name, start + row, _WANTED[kind], column[row].as_py())


def unfit(name: str, row: int, wanted: str, value: object) -> DataError:
    """The error for a value of another kind than a column must hold."""
    hint, place = "Convert the column, or correct that row.", Where(row, column=name)
    return DataError(ValueUnfit(shown(name), value, None, hint, wanted, where=place))
