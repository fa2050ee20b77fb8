"""The value of the best cut in many samples of rows, without a sweep of each.

Where a TP gains and an FP loses the same at every cut, as with costs, the best cut is where a
running sum is greatest. Rows are ordered once, by each score; a sample is how often each of them is
drawn.

Of many rows most lie far from every cut that can be best. How often each of them is drawn makes no
difference, only how many are. So they are put into cells, and as many draws go to each cell as
chance sends there: the samples are the same ones as if all rows were drawn one by one. Of what lies
inside of a cell there is a bound, and if it does not rule out that the best cut of a sample is
there, the draws of its cells are dealt out to rows after all.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from cutscore._sweep import Floats, Masses, Sweep
from cutscore.confusion import Confusion
from cutscore.curves import from_zero
from cutscore.decision import choose
from cutscore.objectives import as_objective, check_prior
from cutscore.paired.rows import Ints, ScoredRows

# Cuts that are worse by so many standard deviations are looked at only if they have to be.
_FAR = 5.0
# Of cells with fewer rows these are drawn one by one.
_SMALL = 16
# Rows of a cell have one weight; if they have more weights than that, cells don't pay.
_WEIGHTS = 64

_Gains = tuple[Any, Any]  # by a TP, and what an FP loses


class Best:
    """A statistic: the value of the best cut, that of :func:`cutscore.choose`."""

    def __init__(self, objective: Any, prior: float | None = None) -> None:
        self.goal = as_objective(objective)
        self.prior = None if prior is None else check_prior(prior)
        self.__name__ = self.goal.name

    def __call__(self, s: Sweep) -> float:
        return choose(s, self.goal, prior=self.prior).value

    @property
    def linear(self) -> bool:
        """Whether a TP gains, and an FP loses, the same at every cut."""
        return self.goal.gains(Fraction(1), Fraction(1)) is not None

    def values(self, tp: Masses, fp: Masses, P: Masses, N: Masses) -> Floats:
        """Those of cuts of different samples."""
        c = Confusion(tp, fp, P - tp, N - fp)
        return np.asarray(self.goal(c if self.prior is None else c.deployed(self.prior)))

    def gains(self, P: Any, N: Any) -> _Gains:
        """To scale: integers of which all sums fit 62 bits, if the masses are integers and there
        are any."""
        pos, neg = Fraction(P), Fraction(N)
        up = down = Fraction(1)
        if self.prior is not None:
            # One row stands for so many cases of its class.
            prior = Fraction(repr(self.prior))
            up, down = prior * (pos + neg) / pos, (1 - prior) * (pos + neg) / neg
        gains = self.goal.gains(up * pos, down * neg)
        assert gains is not None
        a, b = gains[0] * up, gains[1] * down
        scale = lcm(a.denominator, b.denominator)
        if isinstance(P, int) and scale * (a * pos + b * neg) < 2**62:
            return int(scale * a), int(scale * b)
        return float(a / max(a, b)), float(b / max(a, b))


class _Groups:
    """The distinct scores of a sweep, those in one group between which no cut can be the best.

    They are of one class; or, if ``starts`` says that they belong together, the best of a sample is
    hardly ever between them. Such groups are ``hidden``.
    """

    def __init__(self, s: Sweep, starts: Ints | None = None) -> None:
        starts = np.arange(len(s)) if starts is None else starts
        size = np.diff(np.append(starts, len(s)))
        pos, neg = (np.add.reduceat(mass, starts) > 0 for mass in (s.pos, s.neg))
        first = np.ones(len(starts), np.bool_)
        first[1:] = (pos[1:] | pos[:-1]) & (neg[1:] | neg[:-1])
        # Every threshold flags scores of +inf: then there is no cut before them, but one after.
        self.may_flag_none = bool(s.threshold[0] < np.inf)
        first[1:2] |= not self.may_flag_none
        self.hidden = np.flatnonzero((pos & neg & (size > 1))[first])
        self.count = int(np.count_nonzero(first))
        self.of = np.repeat(np.cumsum(first) - 1, size)


def _stretches(s: Sweep, gains: _Gains, squares: tuple[Masses, Masses]) -> Ints:
    """Where stretches of distinct scores start that are of one class, or where all cuts inside are
    far worse than the best; by halving those that are not."""
    a, b = map(float, gains)
    tp, fp, tp2, fp2 = (
        from_zero(np.cumsum(mass)).astype(np.float64) for mass in (s.pos, s.neg, *squares)
    )
    gain, variance = a * tp - b * fp, a * a * tp2 + b * b * fp2
    none = int(s.threshold[0] == np.inf)
    best = none + int(np.argmax(gain[none:]))
    low = np.arange(min(none + 1, len(s)))
    high = np.append(low[1:], len(s))
    done = []
    while len(low):
        p, n = tp[high] - tp[low], fp[high] - fp[low]
        # What the whole stretch would gain by its positives without its negatives.
        short = gain[best] - gain[low] - a * p
        reach = np.maximum(np.abs(variance[low] - variance[best]), variance[high] - variance[best])
        ready = (high - low == 1) | (p == 0) | (n == 0) | (short > _FAR * np.sqrt(reach))
        done.append(low[ready])
        low, high = low[~ready], high[~ready]
        middle = (low + high) // 2
        low, high = np.concatenate((low, middle)), np.concatenate((middle, high))
    return np.sort(np.concatenate(done))


class _Ranking:
    """Items in the order of one score."""

    def __init__(self, groups: _Groups, group: Ints, positives: int) -> None:
        self.groups = groups
        key = 2 * group
        key[positives:] += 1
        self.order = np.argsort(key, kind="stable")
        ordered = key[self.order]
        self.start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self.key = ordered[self.start]

    def best(self, mass: Masses, gains: _Gains) -> tuple[Any, Any] | None:
        """TP and FP of the best cut, if each item has that mass. None if it may be hidden."""
        a, b = gains
        both = np.zeros(2 * self.groups.count, mass.dtype)
        both[self.key] = np.add.reduceat(mass[self.order], self.start)
        pos, neg = both[::2], both[1::2]
        gain = np.cumsum(a * pos - b * neg)
        k = int(np.argmax(gain))
        flagged = k + 1 if gain[k] > 0 or not self.groups.may_flag_none else 0
        hidden = self.groups.hidden
        # Inside of a group no cut is better than all of its positives without its negatives.
        if len(hidden):
            most = gain[k] if flagged else 0
            if (gain[hidden] + b * neg[hidden]).max() > most:
                return None
        return pos[:flagged].sum(), neg[:flagged].sum()


class _Items:
    """What is drawn, rows or cells of them: positives first, then negatives."""

    def __init__(
        self, positives: int, weight: Floats | None, rankings: list[_Ranking], best: Best
    ) -> None:
        self.positives, self.weight, self.rankings, self.best = positives, weight, rankings, best
        self._gains: dict[Any, _Gains] = {}

    def cuts(self, times: Ints) -> list[Any] | None:
        """TP and FP of each score's best cut, then P and N, if each item is drawn so often. None if
        they can't be told from the items."""
        mass = times if self.weight is None else times * self.weight
        P, N = mass[: self.positives].sum().item(), mass[self.positives :].sum().item()
        if (P, N) not in self._gains:  # mostly they are the same in all samples
            self._gains = {(P, N): self.best.gains(P, N)}
        found = [ranking.best(mass, self._gains[P, N]) for ranking in self.rankings]
        return None if None in found else [*found, (P, N)]


class RowItems(_Items):
    """Each row is an item; drawn one by one, or in whole units."""

    def __init__(
        self, rows: ScoredRows, unit: Ints | None, scores: list[tuple[Sweep, Ints]], best: Best
    ) -> None:
        order = np.argsort(~rows.ones, kind="stable")
        P = int(np.count_nonzero(rows.ones))
        rankings = []
        for s, at in scores:
            groups = _Groups(s)
            rankings.append(_Ranking(groups, groups.of[at[order]], P))
        weight = None if rows.weight is None else rows.weight[order]
        super().__init__(P, weight, rankings, best)
        self.sizes = (P, len(order) - P)
        self.unit = None if unit is None else unit[order]

    def draw(self, rng: np.random.Generator) -> Ints:
        """How often each row is drawn."""
        if self.unit is None:
            return np.concatenate([_times(rng, n) for n in self.sizes])
        units = int(self.unit.max()) + 1
        while True:  # until there are both classes, as in drawing.Sampler
            times = _times(rng, units)[self.unit]
            if times[: self.positives].any() and times[self.positives :].any():
                return times

    def sample(self, rng: np.random.Generator) -> list[Any]:
        """The best cuts of a sample."""
        return self.known(self.draw(rng))

    def known(self, times: Ints) -> list[Any]:
        """The cuts: of rows nothing is hidden."""
        found = self.cuts(times)
        assert found is not None
        return found


class Cells(_Items):
    """Rows of one class and weight that are in the same group of each score are one item."""

    def __init__(self, rows: ScoredRows, scores: list[tuple[Sweep, Ints]], best: Best) -> None:
        self.source = (rows, None, scores, best)
        values, level = None, np.zeros(len(rows.ones), np.int64)
        if rows.weight is not None:
            values, level = np.unique(rows.weight, return_inverse=True)
        gains = best.gains(scores[0][0].P, scores[0][0].N)
        kinds = 1 if values is None else len(values)
        code = (~rows.ones) * kinds + level
        groups = []
        for s, at in scores:
            squares = (s.pos, s.neg) if rows.weight is None else _squares(rows, at, len(s))
            found = _Groups(s, _stretches(s, gains, squares))
            code = code * found.count + found.of[at]
            groups.append(found)
        code, self.of, self.size = np.unique(code, return_inverse=True, return_counts=True)
        parts = []
        for found in reversed(groups):
            code, part = np.divmod(code, found.count)
            parts.append(part)
        P = int(np.count_nonzero(code < kinds))
        rankings = [_Ranking(g, part, P) for g, part in zip(groups, reversed(parts), strict=True)]
        weight = None if values is None else values[code % kinds]
        super().__init__(P, weight, rankings, best)
        self.classes = [_Class(size) for size in (self.size[:P], self.size[P:])]

    def draw(self, rng: np.random.Generator) -> Ints:
        """How often a row of each cell is drawn."""
        return np.concatenate([of.draw(rng) for of in self.classes])

    def sample(self, rng: np.random.Generator) -> list[Any]:
        """The best cuts of a sample."""
        times = self.draw(rng)
        found = self.cuts(times)
        return found if found is not None else self.by_rows.known(self.dealt(rng, times))

    @cached_property
    def by_rows(self) -> RowItems:
        return RowItems(*self.source)

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        """The rows cell by cell, by their place in ``by_rows``; and where each cell starts."""
        ones = self.source[0].ones
        place = np.empty(len(ones), np.int64)
        place[np.argsort(~ones, kind="stable")] = np.arange(len(ones))
        members = place[np.argsort(self.of, kind="stable")]
        return members, np.cumsum(self.size) - self.size

    def dealt(self, rng: np.random.Generator, times: Ints) -> Ints:
        """How often each row is drawn, if one of each cell is so often."""
        members, start = self._members
        within = rng.integers(np.repeat(self.size, times))
        return np.bincount(members[np.repeat(start, times) + within], minlength=len(members))


class _Class:
    """The cells of one class: as many rows are drawn from them as they have."""

    def __init__(self, size: Ints) -> None:
        self.cells, self.rows = len(size), int(size.sum())
        self.large = np.flatnonzero(size >= _SMALL)
        small = np.flatnonzero(size < _SMALL)
        self.cell = np.repeat(small, size[small])  # of each row of a small one
        # All small ones together are one more.
        rest = [len(self.cell)] if len(self.cell) else []
        self.share = np.append(size[self.large], rest) / self.rows

    def draw(self, rng: np.random.Generator) -> Ints:
        drawn = rng.multinomial(self.rows, self.share)
        if not len(self.cell):
            return np.asarray(drawn)
        one_by_one = self.cell[rng.integers(len(self.cell), size=drawn[-1])]
        times = np.bincount(one_by_one, minlength=self.cells)
        times[self.large] = drawn[:-1]
        return times


def _times(rng: np.random.Generator, n: int) -> Ints:
    """How often each of n is drawn when n of them are."""
    return np.bincount(rng.integers(n, size=n), minlength=n)


def _squares(rows: ScoredRows, at: Ints, m: int) -> tuple[Masses, Masses]:
    """Sums of squared weights of each class at each distinct score."""
    assert rows.weight is not None
    w2 = rows.weight**2
    pos, neg = (np.bincount(at[of], w2[of], m) for of in (rows.ones, ~rows.ones))
    return pos, neg


def few_weights(weight: Floats | None) -> bool:
    """Whether cells of rows of one weight are worth it."""
    # Of most columns of different weights the first rows tell that they are.
    return weight is None or (
        len(np.unique(weight[: 4 * _WEIGHTS])) <= _WEIGHTS and len(np.unique(weight)) <= _WEIGHTS
    )
