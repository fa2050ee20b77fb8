"""A range that contains a value, and how people read the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, isfinite, log10

from cutscore.core.html import Card


@dataclass(frozen=True, slots=True)
class Interval(Card):
    """A closed range ``[low, high]`` and how sure it is that it contains the value.

    Parameters
    ----------
    low, high
        The ends. They unpack, ``low, high = interval``, and NumPy takes them for two numbers.
    level
        Confidence: 0.95 for a 95 % interval, 1.0 for a range that certainly contains the value.

    Examples
    --------
    >>> from cutscore import Interval
    >>> interval = Interval(0.71, 0.75, level=0.95)
    >>> interval
    [0.71, 0.75] at 95 %
    >>> 0.72 in interval, round(interval.width, 3)
    (True, 0.04)
    """

    low: float
    high: float
    level: float = 1.0

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __len__(self) -> int:
        return 2  # with __getitem__ NumPy takes it for the two numbers that it is

    def __getitem__(self, k: int) -> float:
        return (self.low, self.high)[k]

    def __repr__(self) -> str:
        sure = "for certain" if self.level == 1.0 else f"at {100 * self.level:g} %"
        return f"[{self.low:.6g}, {self.high:.6g}] {sure}"

    def _title(self) -> str:
        return _joined(*in_places(self.low, self.high))

    def _facts(self) -> list[tuple[str, str]]:
        certain = "guaranteed to contain the value"
        level = certain if self.level == 1.0 else f"{100 * self.level:g} % interval"
        return [("", level)]


def in_places(first: float, *more: float) -> list[str]:
    """Numbers with as many decimals as the first needs for three digits.

    Examples
    --------
    >>> from cutscore.core.interval import in_places
    >>> in_places(0.0306, 0.02, 0.1), in_places(17805.4)
    (['0.0306', '0.0200', '0.1000'], ['17,805'])
    """
    size = next((abs(x) for x in (first, *more) if x and isfinite(x)), 1.0)
    places = min(max(2 - floor(log10(size)), 0), 12)
    return [f"{x:,.{places}f}" for x in (first, *more)]


def estimate_text(value: float, interval: Interval) -> str:
    """A value with its confidence interval, all with the same number of decimals: as many as the
    value needs for three digits, or the larger end where 0 is inside.

    Examples
    --------
    >>> from cutscore.core.interval import Interval, estimate_text
    >>> estimate_text(0.8482, Interval(0.8211, 0.875, 0.95))
    '0.848 (95 % CI 0.821–0.875)'
    >>> estimate_text(0.0046, Interval(-0.003, 0.0122, 0.95))
    '0.0046 (95 % CI −0.0030 to 0.0122)'
    """
    low, high = interval
    size = max(-low, high) if low < 0 < high else value
    _, shown, *ends = in_places(size, value, low, high)
    if low == high:  # certain: all is flagged, or nothing
        return _signed(shown)
    return f"{_signed(shown)} ({100 * interval.level:g} % CI {_joined(*ends)})"


def _joined(low: str, high: str) -> str:
    """Both ends: a dash would look like a sign before a negative one."""
    between = " to " if low.startswith("-") or high.startswith("-") else "–"
    return f"{_signed(low)}{between}{_signed(high)}"


def _signed(text: str) -> str:
    return text.replace("-", "−")
