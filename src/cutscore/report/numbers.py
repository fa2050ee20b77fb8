"""Numbers as reports write them: three significant digits, as many decimals in an interval as in
its value, per cent for rates."""

from __future__ import annotations

from math import isnan

from cutscore.core.interval import in_places
from cutscore.measures.measure import MEASURES
from cutscore.report.summary import Estimate


def number(x: float) -> str:
    """Three significant digits.

    Examples
    --------
    >>> from cutscore.report.numbers import number
    >>> number(0.84812), number(263.4), number(17805.4), number(0.0), number(-0.0051)
    ('0.848', '263', '17,805', '0', '−0.00510')
    """
    return "–" if isnan(x) else _signed(in_places(x)[0]) if x else "0"


def per_cent(share: float) -> str:
    """A rate.

    Examples
    --------
    >>> from cutscore.report.numbers import per_cent
    >>> per_cent(0.848), per_cent(0.0351), per_cent(1.0), per_cent(float("nan"))
    ('84.8 %', '3.51 %', '100 %', '–')
    """
    return "–" if isnan(share) else f"{number(100 * share)} %"


def is_rate(name: str) -> bool:
    """Whether a measure is a share of cases, and so written in per cent."""
    return name in MEASURES and MEASURES[name].rate


def measure_text(name: str, x: float) -> str:
    """The value of a measure."""
    return per_cent(x) if is_rate(name) else number(x)


def estimate_text(e: Estimate, *, rate: bool = False) -> str:
    """A value with its interval.

    Examples
    --------
    >>> from cutscore import Interval
    >>> from cutscore.report import Estimate
    >>> from cutscore.report.numbers import estimate_text
    >>> estimate_text(Estimate(0.848, Interval(0.8213, 0.8749, 0.95)))
    '0.848 (95 % CI 0.821–0.875)'
    >>> estimate_text(Estimate(0.0351, Interval(0.02, 0.06, 0.95)), rate=True)
    '3.51 % (95 % CI 2.00–6.00 %)'
    >>> estimate_text(Estimate(0.005, Interval(-0.003, 0.012, 0.95)))
    '0.0050 (95 % CI −0.0030 to 0.0120)'
    """
    if e.interval is None or isnan(e.value):
        return per_cent(e.value) if rate else number(e.value)
    scale, unit = (100, " %") if rate else (1, "")
    values = [scale * x for x in (e.value, *e.interval)]
    # Of an interval around 0 the ends say how many digits matter.
    negative = e.interval.low < 0
    first = max(values, key=abs) if negative else values[0]
    value, low, high = map(_signed, in_places(first, *values)[1:])
    to = " to " if negative else "–"
    return f"{value}{unit} ({100 * e.interval.level:g} % CI {low}{to}{high}{unit})"


def baselines_text(none: float, every: float, cost: float) -> str:
    """What it costs to flag nothing, and everything, and what share of that a threshold saves.

    Examples
    --------
    >>> from cutscore.report.numbers import baselines_text
    >>> baselines_text(735, 951, 209)
    'flag none: 735, flag all: 951; saves 71.6 %'
    """
    least = min(none, every)
    saves = ""
    if 0 <= cost < least:
        saves = f"; saves {per_cent((least - cost) / least)}"
    elif 0 < least <= cost:
        saves = "; saves nothing"
    return f"flag none: {number(none)}, flag all: {number(every)}{saves}"


def _signed(text: str) -> str:
    return text.replace("-", "−")
