"""A range that contains a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutscore.core.html import Card
from cutscore.core.numbers import format_like, interval_text


@dataclass(frozen=True, slots=True)
class Interval(Card):
    """A closed range ``[low, high]`` and the confidence that it contains the value.

    Parameters
    ----------
    low, high : float
        Lower and upper end. They unpack, ``low, high = interval``; NumPy sees two numbers.
    level : float, default 1.0
        Confidence level: 0.95 for a 95 % interval, 1.0 for guaranteed bounds.

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
        sure = "guaranteed" if self.level == 1.0 else f"at {100 * self.level:g} %"
        return f"[{self.low:.6g}, {self.high:.6g}] {sure}"

    def _title(self) -> str:
        return interval_text(*format_like(self.low, self.high))

    def _facts(self) -> list[tuple[str, str]]:
        certain = "guaranteed to contain the value"
        level = certain if self.level == 1.0 else f"{100 * self.level:g} % interval"
        return [("", level)]
