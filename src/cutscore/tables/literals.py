"""How numbers and missing values are written in text: one definition for all who read it.

Patterns are those of Python's ``re`` and of Arrow's RE2 alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# What a file of CSV has, without quotes, where there is no value.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null")

WHOLE = r"^\s*[+-]?[0-9]+\s*$"
# With a decimal point; codes such as 007 too.
NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"

# Up to here floats tell whole numbers apart.
EXACT = 2**53


def unmarked(column: pa.Array, marks: Sequence[str] = MISSING) -> Any:
    """Text without the words for what is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cutscore.tables.literals import unmarked
    >>> unmarked(pa.array(["1", "", "NA"])).to_pylist()
    ['1', None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pc.is_in(column, value_set=pa.array(marks, column.type))
    return pc.if_else(gone, pa.scalar(None, column.type), column)


def parsed(column: pa.Array) -> Any:
    """Text that is known to be numbers, with decimal points or commas, as float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".").cast(pa.float64())


def first_inexact(values: pa.Array, numbers: pa.Array) -> int | None:
    """The first row of a whole number that is too long for the float that it became; None if there
    is none. Values are integers, or text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # 2**53 + 1 has been rounded to 2**53 here.
    long = pc.greater_equal(pc.abs(numbers), EXACT)
    if pa.types.is_string(values.type):
        long = pc.and_(long, pc.match_substring_regex(values, WHOLE))
    elif not pa.types.is_integer(values.type):
        return None
    rows = pc.indices_nonzero(long).to_pylist()
    return next((k for k in rows if abs(int(values[k].as_py())) > EXACT), None)


def floats(column: pa.Array) -> Any:
    """Numbers of Arrow as float64, each the nearest float there is.

    Arrow's own conversion of decimals is off by one or two in the last place for one in eight, so
    that what is written alike would not be equal. By their text they are rounded once.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from cutscore.tables.literals import floats
    >>> floats(pa.array([Decimal("35.57"), Decimal("0.29")])).to_pylist()
    [35.57, 0.29]
    """
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    # Not "safe": integers beyond 2**53 are rounded. Where they are compared they are refused first.
    return column.cast(pa.float64(), safe=False)
