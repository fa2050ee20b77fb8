"""How numbers, codes and missing values are written in text: one definition for all who read it.

Patterns are those of Python's ``re`` and of Arrow's RE2 alike.
"""

from __future__ import annotations

# What a file of CSV has, without quotes, where there is no value.
MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)

# How codes begin: 007, -01 and 0x1F, but not 0, 0.5 and 0e3.
CODE = r"^\s*[+-]?0[0-9xX]"
WHOLE = r"^\s*[+-]?[0-9]+\s*$"
# With a decimal point, or with a comma; codes too.
NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
COMMA = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
# 1,234 may be a thousand and more, or a little more than one.
EITHER = r"^\s*[+-]?[1-9][0-9]{0,2},[0-9]{3}\s*$"

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
