"""Rows that come in units, such as the visits of a patient: how many errors a limit allows.

Rows of one unit may be alike, so it is units that are drawn independently. A unit's rate is the
share of its rows that are in error, a number from 0 to 1, and a limit is one on the mean rate of
units. Each counts once, however many rows it has: a limit on the share of all rows could be broken
by a single large unit that nobody has seen.

Whether the mean of independent rates x of n units is below a limit α is tested by Gaffke's bound:
with independent exponential weights E, add one more unit that is all errors, and ask for

    P(E₀ (1 − α) + Σ Eᵢ (xᵢ − α) > 0) ≤ error.

Where rates are 0 or 1, as in units of one row or of equal rows, that is the Clopper–Pearson bound
for n units. Where they vary less it allows more. Its confidence is proved for those two cases; in
general it is a conjecture, to which no exception is known and which simulations bear out.

References: Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable", Mathematical Methods of Statistics 14 (2005). Learned-Miller & Thomas, "A new
confidence interval for the mean of a bounded random variable", https://arxiv.org/abs/1905.06208.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.frozen import Frozen
from cutscore.sweeps.sweep import Floats, Sweep

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Units(Frozen):
    """Rows and the unit of each; made by :func:`cutscore.units`.

    Parameters
    ----------
    score : array of float
        The scores, descending.
    positive : array of bool
        Whether each row is positive.
    unit : array of int
        The number of each row's unit, from 0 on.
    weight : array of float, optional
        The weight of each row.
    """

    score: Floats
    positive: NDArray[np.bool_]
    unit: Ints
    weight: Floats | None = None

    def __len__(self) -> int:
        """How many units there are."""
        return len(np.unique(self.unit))

    def __repr__(self) -> str:
        return f"{len(self):,} clusters with {len(self.unit):,} rows"

    def check(self, s: Sweep) -> None:
        """Raise unless these are the rows of a sweep."""
        mass = np.ones(len(self.unit)) if self.weight is None else self.weight
        pos = mass * self.positive
        same = np.allclose((pos.sum(), mass.sum()), (s.P, s.P + s.N), rtol=1e-9)
        if same and not s.merged:
            starts = np.append(0, np.flatnonzero(self.score[1:] != self.score[:-1]) + 1)
            same = np.array_equal(self.score[starts], s.threshold) and np.allclose(
                np.add.reduceat(pos, starts), s.pos, rtol=1e-9
            )
        if not same:
            rule = (
                "units must be made from the rows of the sweep; these have other labels or scores"
            )
            hint = "Make both from the same columns: sweep(y, score) and units(y, score, unit)."
            raise DataError(Conflict(("units", "s"), rule, hint))

    def negated(self) -> Units:
        """The same of −score."""
        columns = (0.0 - self.score, self.positive, self.unit, self.weight)
        flipped = (None if column is None else column[::-1].copy() for column in columns)
        return Units._adopt(*flipped)

    def rows(self, positive: bool | None) -> tuple[Floats, Ints]:
        """Scores and units of one class, or of both; units are numbered from 0 on."""
        some = np.ones(len(self.unit), np.bool_) if positive is None else self.positive == positive
        _, unit = np.unique(self.unit[some], return_inverse=True)
        return self.score[some], unit

    def shares(self, positive: bool | None, threshold: float) -> Floats:
        """Each unit's share of rows, of a class or of both, that are flagged."""
        score, unit = self.rows(positive)
        shares: Floats = np.bincount(unit, score >= threshold) / np.bincount(unit)
        return shares

    def most(self, rate: float, error: float, *, positive: bool | None, flagged: bool) -> int:
        """The most rows to flag, or to leave alone, so that the true mean rate of units is above
        ``rate`` with probability at most ``error``; −1 if even none is too many.

        Rates only rise with the rows in error, so the first cut that fails ends the search, and
        many cuts need no correction.
        """
        score, unit = self.rows(positive)
        if rate >= 1 or not len(unit):
            return len(unit) if rate >= 1 else -1
        if rate <= 0:
            return -1
        if not flagged:
            score, unit = score[::-1], unit[::-1]
        size = np.bincount(unit)
        # Equal scores are flagged together.
        ends = np.append(np.flatnonzero(score[1:] != score[:-1]) + 1, len(score))
        low, high = -1, len(ends)  # how many of the ends are safe, less one
        if not self._holds(unit[:0], size, rate, error):
            return -1
        while high - low > 1:
            k = (low + high) // 2
            safe = self._holds(unit[: ends[k]], size, rate, error)
            low, high = (k, high) if safe else (low, k)
        return int(ends[low]) if low >= 0 else 0

    @staticmethod
    def _holds(wrong: Ints, size: Ints, rate: float, error: float) -> bool:
        share = np.bincount(wrong, minlength=len(size)) / size
        return gaffke_p_value(*np.unique(share, return_counts=True), rate) <= error


def gaffke_p_value(
    share: Floats, times: NDArray[Any], rate: float, weight: Floats | None = None
) -> float:
    """P(E₀ (1 − rate) + Σ w E (share − rate) > 0), each share so many times.

    Weights are at most 1, and 1 if left out. By the inverse of the Laplace transform, along the
    vertical line through the saddle point, where nothing oscillates: the trapezoidal rule is exact
    there but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.inference.units import gaffke_p_value
    >>> gaffke_p_value(np.array([0.0, 1.0]), np.array([97, 3]), 0.05)  # P(Bin(100, 0.05) ≤ 3)
    0.257838659116...
    """
    a = np.append(share - rate if weight is None else weight * (share - rate), 1 - rate)
    c = np.append(times, 1).astype(np.float64)
    a, c = a[a != 0], c[a != 0]

    def slope(z: float) -> float:
        return float(np.sum(c * a / (1 - a * z))) - 1 / z

    low, high = 0.0, 1 / (1 - rate)  # the slope rises from −inf to inf
    for _ in range(50):
        z = (low + high) / 2
        low, high = (z, high) if slope(z) < 0 else (low, z)
    # The last bit of high may be past the end.
    z = low or high
    width = 1 / sqrt(float(np.sum(c * (a / (1 - a * z)) ** 2)) + 1 / z**2)
    peak = -float(np.sum(c * np.log1p(-a * z))) - log(z)
    total, step, first = 0.0, 0.05, 0
    while True:
        u = step * np.arange(first, first + 32)
        at = z + 1j * width * np.sinh(u)
        logs = -np.log(at) - np.sum(c[:, None] * np.log(1 - a[:, None] * at), axis=0) - peak
        value = np.exp(logs) * np.cosh(u)
        total += float(value.real.sum()) - (0.5 if first == 0 else 0.0)
        if np.abs(value[-1]) < 1e-17:
            break
        first += 32
    return min(1.0, max(0.0, float(np.exp(peak)) * width * step * total / pi))


def as_units(units: object) -> Units | None:
    """Units, or None; anything else is an error."""
    if units is None or isinstance(units, Units):
        return units
    raise DataError(BadArgument("units", "be the result of units(y, score, unit)", units))
