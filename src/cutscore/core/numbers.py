"""Numbers as people read them: three significant digits, the same number of decimals in a value and
its interval, per cent for rates, and a minus sign that is no hyphen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutscore.core.interval import Interval


def format_like(first: float, *more: float) -> list[str]:
    """Numbers with as many decimals as the first needs for three significant digits.

    Examples
    --------
    >>> from cutscore.core.numbers import format_like
    >>> format_like(0.0306, 0.02, -0.1), format_like(17805.4)
    (['0.0306', '0.0200', '−0.1000'], ['17,805'])
    """
    size = next((abs(x) for x in (first, *more) if x and isfinite(x)), 1.0)
    places = min(max(2 - floor(log10(size)), 0), 12)
    return [_fixed_text(x, places) for x in (first, *more)]


def number_text(x: float) -> str:
    """Three significant digits.

    Examples
    --------
    >>> from cutscore.core.numbers import number_text
    >>> [number_text(x) for x in (0.84812, 263.4, 17805.4, 0.0, -0.0051)]
    ['0.848', '263', '17,805', '0', '−0.00510']
    """
    return "–" if isnan(x) else format_like(x)[0] if x else "0"


def per_cent(share: float) -> str:
    """A rate.

    Examples
    --------
    >>> from cutscore.core.numbers import per_cent
    >>> [per_cent(x) for x in (0.848, 0.0351, 1.0, float("nan"))]
    ['84.8 %', '3.51 %', '100 %', '–']
    """
    return "–" if isnan(share) else f"{number_text(100 * share)} %"


def interval_text(low: str, high: str) -> str:
    """Both ends: a dash would look like a minus sign in front of a negative number.

    Examples
    --------
    >>> from cutscore.core.numbers import interval_text
    >>> interval_text("0.82", "0.88"), interval_text("−0.1", "0.2")
    ('0.82–0.88', '−0.1 to 0.2')
    """
    return f"{low} to {high}" if "−" in low + high else f"{low}–{high}"


def estimate_text(
    value: float, interval: Interval | None = None, *, rate: bool = False, level: bool = True
) -> str:
    """A value with its confidence interval, in per cent if it is a rate, and with the level unless
    that is said elsewhere. Decimals are those that the value needs for three digits, or the larger
    end where the interval contains 0.

    Examples
    --------
    >>> from cutscore import Interval
    >>> from cutscore.core.numbers import estimate_text
    >>> estimate_text(0.8482, Interval(0.8211, 0.875, 0.95))
    '0.848 (95 % CI 0.821–0.875)'
    >>> estimate_text(0.0351, Interval(0.02, 0.06, 0.95), rate=True)
    '3.51 % (95 % CI 2.00–6.00 %)'
    >>> estimate_text(0.0046, Interval(-0.003, 0.0122, 0.95))
    '0.0046 (95 % CI −0.0030 to 0.0122)'
    """
    if interval is None or isnan(value):
        return per_cent(value) if rate else number_text(value)
    scale, unit = (100, " %") if rate else (1, "")
    low, high = interval
    size = max(-low, high) if low < 0 < high else value
    _, shown, *ends = format_like(*(scale * x for x in (size, value, low, high)))
    if low == high:  # certain: everything is flagged, or nothing
        return f"{shown}{unit}"
    of = f"{100 * interval.level:g} % CI " if level else ""
    return f"{shown}{unit} ({of}{interval_text(*ends)}{unit})"


def difference_text(  # noqa: PLR0913, PLR0917 - what a sentence needs
    names: tuple[str, str],
    values: tuple[float, float],
    verdict: str,
    difference: float,
    interval: Interval | None = None,
    p_value: float | None = None,
    *,
    bound: str = "",
) -> str:
    """Two values and their difference, with as many decimals as show it. The interval is one-sided
    if ``bound`` is "lower" or "upper".

    Examples
    --------
    >>> from cutscore import Interval
    >>> from cutscore.core.numbers import difference_text
    >>> names, span = ("logistic", "gaussian"), Interval(-0.003, 0.0122, 0.95)
    >>> verdict = "no significant difference"
    >>> print(difference_text(names, (0.848, 0.8434), verdict, 0.0046, span, 0.24))
    logistic 0.848, gaussian 0.843: no significant difference (Δ 0.005, 95 % CI −0.003 to 0.012, p =
    0.24)
    """
    ends = () if interval is None else tuple(interval)
    known = {"lower": ends[:1], "upper": ends[1:]}.get(bound, ends)
    places = max(_decimals(values, 3, min), _decimals((difference, *known), 2, max))
    each = ", ".join(f"{n} {_fixed_text(v, places)}" for n, v in zip(names, values, strict=True))
    facts = [f"Δ {_fixed_text(difference, places)}"]
    if interval is not None:
        level, span = f"{100 * interval.level:g} %", [_fixed_text(end, places) for end in known]
        facts.append(
            f"{level} {bound} bound {span[0]}" if bound else f"{level} CI {' to '.join(span)}"
        )
    if p_value is not None:
        facts.append(p_value_text(p_value))
    return f"{each}: {verdict} ({', '.join(facts)})"


def p_value_text(p: float) -> str:
    """Two digits; a very small one is only known to be that.

    Examples
    --------
    >>> from cutscore.core.numbers import p_value_text
    >>> p_value_text(0.2357), p_value_text(3.6e-11)
    ('p = 0.24', 'p < 0.0001')
    """
    return f"p = {p:.2g}" if p >= 0.0001 else "p < 0.0001"


def _decimals(numbers: tuple[float, ...], digits: int, of: Callable[[list[float]], float]) -> int:
    sizes = [abs(x) for x in numbers if x and isfinite(x)]
    return min(max(digits - 1 - floor(log10(of(sizes))), 0), 12) if sizes else 3


def _fixed_text(x: float, places: int) -> str:
    return f"{x:z,.{places}f}".replace("-", "−")  # z: what rounds to zero has no sign


_DOING = {
    "flag none": "flagging none",
    "flag all": "flagging all",
    "pass all": "passing all",
    "block all": "blocking all",
    "review all": "reviewing all",
    "uniform": "the best single threshold",
}


def baselines_text(alike: Mapping[str, float], cost: float) -> str:
    """How far the cost of a threshold is below that of the best way to decide all cases alike, and
    the costs of these ways.

    Examples
    --------
    >>> from cutscore.core.numbers import baselines_text
    >>> baselines_text({"flag none": 735, "flag all": 951}, 209)
    '71.6 % below flagging none (735); flagging all: 951'
    """
    costs = {_DOING[name]: number_text(value) for name, value in alike.items()}
    name = min(alike, key=alike.__getitem__)
    least, best = alike[name], _DOING[name]
    others = ", ".join(f"{one}: {text}" for one, text in costs.items() if one != best)
    if 0 <= cost < least:
        return f"{per_cent((least - cost) / least)} below {best} ({costs[best]}); {others}"
    if 0 < least <= cost:
        return f"no saving over {best} ({costs[best]}); {others}"
    return ", ".join(f"{one}: {text}" for one, text in costs.items())
