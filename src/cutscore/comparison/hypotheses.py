"""What a comparison of two scores sets out to show, and the p-value and interval that belong to it.

A p-value and an interval here are two views of one test: p < 1 − level exactly where the interval
excludes what is to be ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, nextafter

import numpy as np

from cutscore.core.checks import number, one_of
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.interval import Interval
from cutscore.sweeps.sweep import Floats

ALTERNATIVES = ("two-sided", "greater", "less", "equivalent")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What is to be shown about the difference a − b.

    ``"two-sided"``: it is not 0. ``"greater"``: it is above −margin. ``"less"``: it is below
    margin. ``"equivalent"``: it is between the two.
    """

    alternative: str = "two-sided"
    margin: float = 0.0

    def words(self, better: str = "better", names: tuple[str, str] = ("a", "b")) -> str:
        """The alternative hypothesis in words."""
        by, m = "higher" if better == "higher" else "better", f"{self.margin:g}"
        if self.alternative == "two-sided":
            return f"{names[0]} and {names[1]} differ"
        if self.alternative == "equivalent":
            return f"{names[0]} and {names[1]} differ by less than {m}"
        one, other = names if self.alternative == "greater" else names[::-1]
        if not self.margin:
            return f"{one} is {by} than {other}"
        worse = "lower" if by == "higher" else "worse"
        return f"{one} is less than {m} {worse} than {other}"

    def holds_for(self, interval: Interval) -> bool:
        """Whether an interval of the difference excludes the opposite."""
        above, below = interval.low > -self.margin, interval.high < self.margin
        cases = {"two-sided": above or below, "greater": above, "less": below}
        return cases.get(self.alternative, above and below)

    def of_interval(self, level: float) -> tuple[float, float]:
        """The tail that an end of the interval leaves out, and the level of the interval.

        Equivalence is two one-sided tests: its interval leaves 1 − level out at either end.
        """
        if self.alternative == "two-sided":
            return (1 - level) / 2, level
        if self.alternative == "equivalent":
            return 1 - level, 2 * level - 1
        return 1 - level, level

    def ends(self, low: float, high: float, level: float, bound: float) -> Interval:
        """The interval, with the end that a one-sided test says nothing about at the bound."""
        if self.alternative == "greater":
            high = bound
        elif self.alternative == "less":
            low = -bound
        return Interval(max(low, -bound), min(high, bound), self.of_interval(level)[1])

    def test(
        self, difference: float, error: float, df: float, level: float, bound: float
    ) -> tuple[float, float, Interval]:
        """z, p-value and interval of a difference with a standard error that is not 0."""
        m, half = self.margin, quantile(df, self.of_interval(level)[0]) * error
        interval = self.ends(difference - half, difference + half, level, bound)
        if self.alternative == "two-sided":
            z = difference / error
            return z, 2 * upper_tail(abs(z), df), interval
        above, below = (difference + m) / error, (difference - m) / error
        # The weaker of the two tests decides about equivalence.
        if self.alternative == "greater" or (self.alternative == "equivalent" and above < -below):
            return above, upper_tail(above, df), interval
        return below, upper_tail(-below, df), interval

    def bootstrap_test(
        self, replicates: Floats, level: float, bound: float
    ) -> tuple[float, Interval]:
        """p-value and interval of bootstrap replicates of the difference.

        The interval goes from the tail-th to the (1 − tail)-th quantile, with the k-th of n
        replicates at k / (n + 1); the p-value is 1 − level of the narrowest one that does not
        exclude what is to be ruled out.
        """
        tail, _ = self.of_interval(level)
        if not tail * (len(replicates) + 1) > 1 + 1e-9:
            rule = f"be {floor(1 / tail + 1e-9):,} or more for an interval at level {level:g}"
            raise DataError(BadArgument("n", rule, len(replicates)))
        x, m = np.sort(replicates), self.margin
        least = 0.0 - m
        low, high = _quantile(x, tail), -_quantile(-x[::-1], tail)
        below, above = _share_upto(x, least), _share_upto(-x[::-1], least)
        p_value = {
            "two-sided": min(1.0, 2 * min(below, above)),
            "greater": below,
            "less": above,
        }.get(self.alternative, max(below, above))
        alpha = 2 * tail if self.alternative == "two-sided" else tail
        # Equal but for rounding: the p-value decides on which side an end is.
        if p_value < alpha:
            low = nextafter(least, inf) if low <= least and below < tail else low
            high = nextafter(m, -inf) if high >= m and above < tail else high
        else:
            low = least if low > least and below >= tail else low
            high = m if high < m and above >= tail else high
        return p_value, self.ends(low, high, level, bound)


TWO_SIDED = Hypothesis()


def as_hypothesis(alternative: str, margin: float, level: float, bound: float) -> Hypothesis:
    """The hypothesis asked for, of values that differ by ``bound`` at the most."""
    one_of("alternative", alternative, ALTERNATIVES)
    m = number(margin)
    if not 0 <= m < bound:
        most = "" if bound == inf else f" and less than {bound:g}, the largest difference there is"
        raise DataError(BadArgument("margin", f"be at least 0{most}", margin))
    if alternative == "two-sided" and m > 0:
        hint = "Use 'greater' (a is not worse by the margin) or 'equivalent' (neither is)."
        raise DataError(BadArgument("margin", "be 0 for a two-sided test", margin, hint))
    if alternative == "equivalent" and m == 0:
        hint = "Pass the largest difference that does not matter, such as 0.02."
        raise DataError(BadArgument("margin", "be above 0 for a test of equivalence", 0, hint))
    if alternative == "equivalent" and level <= 0.5:
        raise DataError(BadArgument("level", "be above 0.5 for a test of equivalence", level))
    return Hypothesis(alternative, m)


def quantile(df: float, tail: float) -> float:
    """What Student's t, or for df = inf a standard normal variable, exceeds with that
    probability."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(1 - tail) if df == inf else stdtrit(df, 1 - tail))


def upper_tail(z: float, df: float) -> float:
    """The probability that Student's t, or a standard normal variable, exceeds z."""
    from scipy.special import ndtr, stdtr

    return float(ndtr(-z) if df == inf else stdtr(df, -z))


def _quantile(x: Floats, tail: float) -> float:
    """The quantile of sorted values, the k-th of which is at k / (n + 1)."""
    at = min(tail * (len(x) + 1), len(x))
    k = min(floor(at), len(x) - 1)
    first, second = float(x[k - 1]), float(x[k])
    # Between infinite values there is nothing to interpolate.
    return first if first == second or at == k else first + (at - k) * (second - first)


def _share_upto(x: Floats, value: float) -> float:
    """The largest share of which the quantile is no more than a value; 1 / (n + 1) if none is."""
    k, n = int(np.searchsorted(x, value, "right")), len(x)
    if k in (0, n):
        return 1.0 if k else 1 / (n + 1)
    step = (value - x[k - 1]) / (x[k] - x[k - 1]) if np.isfinite(x[k - 1 : k + 1]).all() else 0.0
    return float((k + step) / (n + 1))
