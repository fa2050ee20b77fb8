"""Promises in words and numbers: one way for the console, cards, checks and notebooks."""

from __future__ import annotations

from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.inference.selection import Expected
from cutscore.measures.registry import WORDS, is_rate

_NAMES = WORDS | {
    "cost": "cost per 1,000 cases",
    "saving": "saving per 1,000 cases beside flagging none",
    "auc": "AUC",
    "prevalence": "prevalence",
}


def promise_name(name: str) -> str:
    """What is promised, for people.

    Examples
    --------
    >>> from cutscore.policy.words import promise_name
    >>> promise_name("fpr"), promise_name("cost"), promise_name("mine")
    ('false positive rate', 'cost per 1,000 cases', 'mine')
    """
    return _NAMES.get(name, name)


def promise_text(name: str, e: Expected | None, *, level: bool = True) -> str:
    """What is expected of a measure: per cent for rates, and costs per 1,000 cases. Without
    the level where that stands above.

    Examples
    --------
    >>> from cutscore.inference.selection import Expected
    >>> from cutscore.policy.words import promise_text
    >>> promise_text("cost", Expected(0.2895, 0.25, 0.31, 0.95))
    '290 (95 % CI 250–310)'
    >>> promise_text("recall", Expected(0.812, 0.75, 0.86, 0.95), level=False)
    '81.2 % (75.0–86.0 %)'
    """
    if e is None:
        return "-"
    return figure_text(name, e.value, Interval(e.low, e.high, e.level), level=level)


def figure_text(
    name: str, value: float, span: Interval | None = None, *, level: bool = True
) -> str:
    """A value in the same units, with or without an interval."""
    factor = 1000 if name in ("cost", "saving") else 1
    if span is not None:
        span = Interval(factor * span.low, factor * span.high, span.level)
    rate = name == "prevalence" or is_rate(name)
    return estimate_text(factor * value, span, rate=rate, level=level)
