"""How numbers, codes and missing values are written in text: one definition for all who read it.

Patterns are those of Python's ``re`` and of Arrow's RE2 alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# From this share of its values on, text is numbers for the most part.
MOSTLY = 0.8

# What a file of CSV has, without quotes, where there is no value.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null")

# How codes begin: 007, -01 and 0x1F, but not 0, 0.5 and 0e3.
CODE = r"^\s*[+-]?0[0-9xX]"
WHOLE = r"^\s*[+-]?[0-9]+\s*$"
# With a decimal point, or with a comma; codes too.
NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
COMMA = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"

# What stands between thousands where the decimal sign is a comma: 1.234,56 and 1'234,56.
THOUSANDS = ". '’\u00a0\u202f"
_GROUPS = "|".join(f"([{sign}][0-9]{{3}})+" for sign in THOUSANDS)
_EXPONENT = "([eE][+-]?[0-9]+)?"
_BLANKS = "[\\s\u00a0\u202f]*"
# A number where that is said, with or without thousands; no codes.
EUROPEAN = (
    rf"^{_BLANKS}[+-]?((0|[1-9][0-9]*)(,[0-9]*)?{_EXPONENT}|,[0-9]+{_EXPONENT}"
    rf"|[1-9][0-9]{{0,2}}({_GROUPS})(,[0-9]*)?){_BLANKS}$"
)

DATE = r"^\s*[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-9]{2}:[0-9]{2}.*)?\s*$"
# 24.04.2025, 3/12/25 and 2025/12/03.
OTHER_DATE = (
    r"^\s*([0-3]?[0-9][./-][0-3]?[0-9][./-]([0-9]{2}){1,2}|[0-9]{4}[./][01]?[0-9][./][0-3]?[0-9])"
    r"([T ,]+[0-9]{1,2}:[0-9]{2}.*)?\s*$"
)

_UNIT = r"([$€£¥₹₽₩₺₫%]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr\.?|zł|Fr\.?)?"
_SPACE = "[ \u00a0\u202f]?"
_GROUPED = "([1-9][0-9]{0,2}([., '’\u00a0\u202f][0-9]{3})+|0|[1-9][0-9]*)([.,]([0-9]+|-))?"
# Numbers with thousands, 1.234,56 and 1,234.56, or with a unit, 702.25 €.
AMOUNT = rf"^\s*[+-]?{_UNIT}{_SPACE}[+-]?{_GROUPED}{_SPACE}{_UNIT}\s*$"

# Up to here floats tell whole numbers apart.
EXACT = 2**53


def sign_way(value: Any, decimal: str | None) -> str:
    """A sentence, if text may be a number with another decimal sign than the one that files of CSV
    are read with; nothing if it can't, or if there is no such file.

    Examples
    --------
    >>> from cutscore._written import sign_way
    >>> sign_way("1.234,56", ".")
    ' Say decimal="," if numbers are written as 1.234,56 there.'
    >>> sign_way("high", ".")
    ''
    """
    if not isinstance(value, str):
        return ""
    pointed, european = (re.search(pattern, value) for pattern in (NUMBER, EUROPEAN))
    if decimal == "." and european and not pointed:
        return ' Say decimal="," if numbers are written as 1.234,56 there.'
    if decimal == "," and pointed and not european and not re.search(CODE, value):
        return ' Leave decimal="," out if numbers are written as 1234.56 there.'
    return ""


def may_be_mark(value: Any) -> bool:
    """Whether text among numbers may stand for a missing value: it is short, without a digit.

    Examples
    --------
    >>> from cutscore._written import may_be_mark
    >>> [may_be_mark(value) for value in ("-", "k.A.", "<0.5", "702 €")]
    [True, True, False, False]
    """
    return isinstance(value, str) and re.fullmatch(r'[^0-9"\\\x00-\x1f]{1,12}', value) is not None


def mark_way(value: Any, decimal: str | None) -> str:
    """A sentence, if text may stand for a missing value in a file of CSV, which is one that has a
    decimal sign.

    Examples
    --------
    >>> from cutscore._written import mark_way
    >>> mark_way("-", ".")
    ' Say missing="-" if that stands for a missing value.'
    """
    if decimal is None or not may_be_mark(value):
        return ""
    return f' Say missing="{value}" if that stands for a missing value.'


def unmarked(column: Any, marks: Sequence[str] = MISSING) -> Any:
    """Text without the words for what is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cutscore._written import unmarked
    >>> unmarked(pa.array(["1", "", "NA"])).to_pylist()
    ['1', None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pc.is_in(column, value_set=pa.array(marks, column.type))
    return pc.if_else(gone, pa.scalar(None, column.type), column)


def parsed(column: Any) -> Any:
    """Text that is known to be numbers, with decimal points or commas, as float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".").cast(pa.float64())


def first_inexact(values: Any, numbers: Any) -> int | None:
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


def floats(column: Any) -> Any:
    """Numbers of Arrow as float64, each the nearest float there is.

    Arrow's own conversion of decimals is off by one or two in the last place for one in eight, so
    that what is written alike would not be equal. By their text they are rounded once.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import pyarrow as pa
    >>> from cutscore._written import floats
    >>> floats(pa.array([Decimal("35.57"), Decimal("0.29")])).to_pylist()
    [35.57, 0.29]
    """
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    # Not "safe": integers beyond 2**53 are rounded. Where they are compared they are refused first.
    return column.cast(pa.float64(), safe=False)
