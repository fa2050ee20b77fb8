"""Text that looks like numbers: codes, which would lose digits, and numbers with commas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cutscore._written import CODE, COMMA, EITHER, EUROPEAN, NUMBER, THOUSANDS, WHOLE, first_inexact

# What no 64-bit integer holds has 19 digits at least; what no float does, 16.
_LONG = r"[0-9]{19}"
_FLOATS = r"[0-9]{16}"

# Bytes that are looked at at a time, so few that they stay in the cache, and that memory for them
# is not asked of the system each time, as from 128 KiB on; and how many of them once more, with the
# next ones.
_PIECE = 1 << 16
_CARRY = 1 << 10


class _Floats:
    """Among floats, the first whole number that is too long for one, and its row."""

    _rows = 0
    inexact: tuple[int, str] | None = None

    def look(self, text: Any) -> None:
        """Look at some more numbers, written with points."""
        if self.inexact is None and _any(text, _FLOATS):
            row = first_inexact(text, text.cast(pa.float64()))
            if row is not None:
                self.inexact = self._rows + row, text[row].as_py()
        self._rows += len(text)


class Codes(_Floats):
    """Whether a column of numbers is one of codes, by its values in batches of text."""

    def __init__(self, *, exact: bool) -> None:
        self._zeros = self._long = False
        # Integers of 64 bits lose nothing but zeros in front.
        self._exact, self._whole = exact, not exact

    def add(self, values: Any) -> bool:
        """Look at some more values, and say whether others can still matter."""
        self._zeros = self._zeros or _any(values, CODE)
        self._long = self._long or _any(values, _LONG)
        self._whole = self._whole and _all(values, WHOLE)
        if not self._exact and not self._zeros:
            self.look(pc.replace_substring(pc.utf8_trim_whitespace(values), ",", "."))
        return not self._zeros

    @property
    def found(self) -> bool:
        """Whether zeros in front would be lost, or the last digits of long whole numbers."""
        return self._zeros or (self._long and self._whole)


class Pointed:
    """Whether a column of text is one of numbers, but for what was taken out of it."""

    def __init__(self) -> None:
        self.found, self._whole = True, True

    def add(self, values: Any) -> bool:
        """Look at some more values, and say whether others can still matter."""
        odd = _any(values, CODE) or _any(values, _LONG)
        self.found = self.found and not odd and _all(values, NUMBER)
        # As pyarrow has it: no integer is written with a plus.
        self._whole = self._whole and not _any(values, "[.eE+]")
        return self.found

    @property
    def type(self) -> pa.DataType:
        """What they are read as."""
        return pa.int64() if self._whole else pa.float64()


class Commas(_Floats):
    """Whether a column of text is one of numbers with decimal commas."""

    type = pa.float64()
    long = False

    def __init__(self) -> None:
        self._numbers, self._decimals = True, False

    def add(self, values: Any) -> bool:
        """Look at some more values, and say whether others can still matter."""
        self._numbers = self._numbers and _all(values, COMMA) and not _any(values, CODE)
        if self._numbers and not self._decimals:
            some = values.filter(pc.match_substring(values, ","))
            self._decimals = not _all(some, EITHER)
        if self._numbers:
            self.look(pc.replace_substring(pc.utf8_trim_whitespace(values), ",", "."))
        return self._numbers

    @property
    def found(self) -> bool:
        """Whether all are numbers, and the commas in them can't be those of thousands."""
        return self._numbers and self._decimals


class Grouped(_Floats):
    """Whether a column of text is one of numbers where commas are known to be decimal, some of them
    with thousands."""

    def __init__(self) -> None:
        self.found, self._whole, self._long = True, True, False

    def add(self, values: Any) -> bool:
        """Look at some more values, and say whether others can still matter."""
        self.found = self.found and _all(values, EUROPEAN)
        # As pyarrow has it: no integer is written with a plus.
        self._whole = self.found and self._whole and not _any(values, "[,eE+]")
        if self.found:
            text = pointed(values)
            self._long = self._long or (self._whole and _any(text, _LONG))
            self.look(text)
        return self.found

    @property
    def type(self) -> pa.DataType:
        """What they are read as."""
        return pa.int64() if self._whole else pa.float64()

    @property
    def long(self) -> bool:
        """Whether they are whole numbers that 64 bits may not hold."""
        return self._whole and self._long


def pointed(values: Any) -> Any:
    """Numbers such as 1.234,56 as 1234.56, in text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cutscore.tables.digits import pointed
    >>> pointed(pa.array(["1.234,56", "-1 234", "0,5"])).to_pylist()
    ['1234.56', '-1234', '0.5']
    """
    return pc.replace_substring(
        pc.replace_substring_regex(values, rf"[\s{THOUSANDS}]", ""), ",", "."
    )


def _any(values: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern), min_count=0).as_py())


def _all(values: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern), min_count=0).as_py())


def whole(column: Any) -> Any:
    """Decimals without a fraction as integers, or as text if those are too short: they may be names
    of groups, and floats would make several one. Anything else as it is."""
    if not pa.types.is_decimal(column.type) or column.type.scale > 0:
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.string())


def has_empty_quotes(file: Any) -> bool:
    """Whether there may be quotes with nothing in them, by the bytes of a file alone."""
    before = b""
    while piece := file.read(1 << 20):
        if b'""' in before + piece[:1] or b'""' in piece:
            return True
        before = piece[-1:]
    return False


def may_hold_codes(file: Any, separator: str) -> bool:
    """Whether some field of CSV may be a code, or too long a number, by its bytes alone: most files
    have none, and this takes much less time than to read their numbers as text."""
    ends = np.zeros(256, np.bool_)
    ends[[*b'\r\n"', separator.encode()[-1]]] = True
    before = b"\n"
    while piece := file.read(_PIECE):
        both = before + piece
        if _odd(np.frombuffer(both, np.uint8), ends):
            return True
        before = both[-_CARRY:]
    return False


def _odd(a: NDArray[np.uint8], ends: NDArray[np.bool_]) -> bool:
    digit = (a - 48) < 10  # what is below 48 wraps around
    # Where numbers begin, but for the first byte, before which there may be more of one.
    first = digit[1:] & ~digit[:-1] & (a[:-1] != ord("."))
    run = digit[1:]
    for shift in (1, 2, 4, 8):  # of 2, 4, 8, then of 16 digits, as 2**53 has
        run = run[:-shift] & run[shift:]
    if (first[: len(run)] & run).any():
        return True
    more = digit[2:] | ((a[2:] | 32) == ord("x"))
    # What stands before a 0 that others follow: its sign, blanks, and then the end of a field?
    at = np.flatnonzero(first[:-1] & (a[1:-1] == ord("0")) & more)
    at -= ((a[at] == ord("-")) | (a[at] == ord("+"))) & (at > 0)
    while len(at):
        before = a[at]
        if ends[before].any():
            return True
        at = at[((before == ord(" ")) | (before == ord("\t"))) & (at > 0)] - 1
    return False
