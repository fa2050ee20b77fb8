"""One cut per group, the best of all combinations whose rates lie within a window.

The rates of the cuts of one group only rise, from flagging nothing to flagging everything. So the
cuts whose rate lies between L and L + gap are neighbours, and the best of them is a look-up in a
table of maxima. A combination of cuts keeps the gap iff all of its rates lie in the window that
starts at the lowest of them. So the starts to try are the rates that groups have, and the best of
all combinations is found without looking at them one by one.

For a second gap, cuts lie in two windows at once, which are still neighbours. Windows of the first
rate bound what they can reach; they are tried from the best bound on, with all windows of the
second rate inside, until no bound is better than what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rates:
    """A rate at each cut of each group, and how far groups may be apart: bounds of the rate that
    rise from cut to cut, the same twice if the rate itself is meant."""

    low: list[NDArray[Any]]
    high: list[NDArray[Any]]
    gap: Any


def exact_rates(part: Sequence[NDArray[Any]], gap: float) -> Rates:
    """Rates of the rows at hand, in units in which all of them and the gap are integers; in floats
    where these are too large, or rows have weights."""
    wholes, bound = [p[-1].item() for p in part], Fraction(repr(gap))
    if all(p.dtype.kind == "i" for p in part):
        unit = lcm(bound.denominator, *wholes)
        if unit < 2**61:
            rates = [p * (unit // n) for p, n in zip(part, wholes, strict=True)]
            return Rates(rates, rates, int(bound * unit))
    floats = [p / n for p, n in zip(part, wholes, strict=True)]
    return Rates(floats, floats, gap + 1e-12)


def certain_rates(part: Sequence[NDArray[Any]], gap: float, half: Sequence[float]) -> Rates:
    """Bounds of the true rates, each within ``half`` of that of the rows at all cuts at once.
    Flagging nothing, or everything, has the same rate on any rows."""
    low, high = [], []
    for p, h in zip(part, half, strict=True):
        rate = p / p[-1]
        low.append(np.maximum(rate - h, 0.0))
        high.append(np.minimum(rate + h, 1.0))
        high[-1][0], low[-1][-1] = 0.0, 1.0
    return Rates(low, high, gap + 1e-12)


class _Maxima:
    """The first of the largest values in any range: of 1, 2, 4, … entries from each on."""

    def __init__(self, value: NDArray[Any]) -> None:
        self.value = value
        self.first = [np.arange(len(value))]
        width = 1
        while 2 * width <= len(value):
            last = self.first[-1]
            self.first.append(self._larger(last[:-width], last[width:]))
            width *= 2

    def _larger(self, a: Ints, b: Ints) -> Ints:
        return np.where(self.value[b] > self.value[a], b, a)

    def between(self, start: Ints, end: Ints) -> Ints:
        """Where the largest is from start to before end; nothing is empty."""
        level = np.frexp(end - start)[1] - 1
        out = np.empty(len(start), np.int64)
        for k in np.unique(level).tolist():
            at = level == k
            first = self.first[k]
            out[at] = self._larger(first[start[at]], first[end[at] - 2**k])
        return out


def best_cuts(
    value: Sequence[NDArray[Any]], allowed: Sequence[NDArray[np.bool_]], rates: Sequence[Rates]
) -> list[int] | None:
    """The cut of each group: of all combinations of allowed cuts that keep every gap, one with the
    largest sum of values. None if there is none. Without a gap, each group's own best."""
    keep = [np.flatnonzero(ok) for ok in allowed]
    if not all(len(k) for k in keep):
        return None
    kept = [v[k] for v, k in zip(value, keep, strict=True)]
    if not rates:
        best: list[int] | None = [int(np.argmax(v)) for v in kept]
    else:
        few = [
            Rates(
                [a[k] for a, k in zip(r.low, keep, strict=True)],
                [a[k] for a, k in zip(r.high, keep, strict=True)],
                r.gap,
            )
            for r in rates
        ]
        best = _search([_Maxima(v) for v in kept], few)
    return None if best is None else [int(k[i]) for k, i in zip(keep, best, strict=True)]


def _search(maxima: list[_Maxima], rates: list[Rates]) -> list[int] | None:
    whole = [(0, len(m.value)) for m in maxima]
    starts = np.unique(np.concatenate(rates[0].low))
    start, end, some = _ranges(starts, rates[0], whole)
    total, where = _sums(maxima, start[:, some], end[:, some])
    if not len(total):
        return None
    if len(rates) == 1:
        k = int(np.argmax(total))
        return [int(w[k]) for w in where]
    start, end = start[:, some], end[:, some]
    best, found = None, None
    for k in np.argsort(-total, kind="stable").tolist():
        if best is not None and total[k] <= best:
            break
        inside = list(zip(start[:, k].tolist(), end[:, k].tolist(), strict=True))
        lows = [a[i:j] for a, (i, j) in zip(rates[1].low, inside, strict=True)]
        i, j, ok = _ranges(np.unique(np.concatenate(lows)), rates[1], inside)
        sums, at = _sums(maxima, i[:, ok], j[:, ok])
        if len(sums) and (best is None or sums.max() > best):
            first = int(np.argmax(sums))
            best, found = sums[first], [int(w[first]) for w in at]
    return found


def _ranges(
    starts: NDArray[Any], rates: Rates, inside: Sequence[tuple[int, int]]
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The cuts of each group in the window from each start on, and whether every group has one."""
    pairs = zip(rates.low, rates.high, inside, strict=True)
    first, end = [], []
    for low, high, (a, b) in pairs:
        first.append(a + np.searchsorted(low[a:b], starts, side="left"))
        end.append(a + np.searchsorted(high[a:b], starts + rates.gap, side="right"))
    i, j = np.array(first, np.int64), np.array(end, np.int64)
    return i, j, np.all(i < j, axis=0)


def _sums(maxima: list[_Maxima], start: Ints, end: Ints) -> tuple[NDArray[Any], list[Ints]]:
    """The sum of the best values of all groups in each window, and where they are."""
    where = [m.between(a, b) for m, a, b in zip(maxima, start, end, strict=True)]
    total = sum(m.value[w] for m, w in zip(maxima, where, strict=True))
    return np.asarray(total), where
