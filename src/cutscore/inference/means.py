"""Intervals for means of skewed amounts of money, where a few rows are most of the sum.

With n amounts of mean m, standard error e and skewness of the mean r = K₃/e³, the studentised mean
T = (m − μ)/e is skewed by about r. Hall's transformation

    g(T) = T + r T²/3 + r² T³/27 + r/6

takes that out and is monotone, so that its inverse turns quantiles of a symmetric distribution into
ends of an interval. That distribution is t, with as many degrees of freedom as the estimated
variance has: 2 e⁴ / Var(e²), which is 2n/(κ − 1) for a sample of kurtosis κ, since heavy tails make
the variance uncertain too. Of 200 lognormal amounts with σ = 1.5 the normal interval covers 89 %,
and this one 95 to 96 %.

References: Hall, "On the removal of skewness by transformation", JRSS B 54 (1992). Satterthwaite,
"An approximate distribution of estimates of variance components", Biometrics 2 (1946).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cbrt, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.inference.selection import Expected, critical_value

Floats = NDArray[np.float64]

_BLOCK = 1 << 14


def blocks_of(rows: int) -> Iterator[slice]:
    """Some rows at a time, of which several columns are near the core."""
    return (slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK))


class Moments(NamedTuple):
    """What the error of a mean follows from."""

    rows: float
    mean: float
    variance: float
    """Of one row, unbiased."""
    third: float
    """The third central moment of one row."""
    fourth: float

    @classmethod
    def of(cls, values: Floats, count: NDArray[Any] | None = None) -> Moments:
        """Of amounts, each of which as many rows have as ``count`` says."""
        n = float(len(values) if count is None else np.sum(count))
        if not n:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0)
        mean = float(np.average(values, weights=count))
        sums = np.zeros(3)
        for part in blocks_of(len(values)):
            away = values[part] - mean
            square = away * away
            powers = np.stack((square, square * away, square * square))
            sums += (powers if count is None else powers * count[part]).sum(axis=1)
        second, third, fourth = (sums / n).tolist()
        return cls(n, mean, second * n / max(n - 1, 1), third, fourth)


def mean_interval(parts: Sequence[tuple[float, Moments]], level: float) -> Expected:
    """Σ share · mean of independent parts, such as the classes, with its interval.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.inference.means import Moments, mean_interval
    >>> amounts = np.random.default_rng(0).lognormal(sigma=1.5, size=200)
    >>> mean_interval([(1.0, Moments.of(amounts))], 0.95)  # of a mean of 3.08
    2.50 (95 % CI 2.05–3.10)
    """
    value = sum(share * m.mean for share, m in parts)
    variance = third = doubt = 0.0
    for share, m in parts:
        if m.rows < 2 or not m.variance:
            continue
        variance += share**2 * m.variance / m.rows
        third += share**3 * m.third / m.rows**2
        doubt += share**4 * max(m.fourth - m.variance**2, 0.0) / m.rows**3
    if not variance > 0:
        return Expected(value, value, value, level)
    least = min(m.rows for _, m in parts if m.variance) - 1
    most = max(sum(m.rows for _, m in parts) - 1, 1.0)
    df = min(max(2 * variance**2 / doubt if doubt else inf, min(least, 1.0)), most)
    z, error = critical_value(level, df), sqrt(variance)
    skew = third / variance / error  # in this order, since powers of tiny amounts are 0
    low, high = (value - error * _unskewed(t, skew) for t in (z, -z))
    return Expected(value, low, high, level)


def _unskewed(z: float, skew: float) -> float:
    """Where Hall's transformation is z."""
    if abs(skew) < 1e-6:
        return z
    return (cbrt(1 + skew * (z - skew / 6)) - 1) * 3 / skew
