"""Logistic regression of the label on one score, from the masses of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import frexp, log, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.sweeps.sweep import Floats, Masses, Sweep

# Rows of features, one for each coefficient but the constant, of a block of scores.
Features = Callable[[Floats], list[Floats]]

_CHUNK = 1 << 15
_GROUPS = 1 << 14
_PART = 1 << 20

_T = TypeVar("_T")


class Fit(NamedTuple):
    """Log odds = constant + Σ coefficient · feature."""

    constant: float
    coefficient: list[float]


def overlaps(pos: Masses, neg: Masses) -> tuple[bool, bool]:
    """Whether some positive scores below some negative, and whether some scores above one."""
    (top_pos, last_pos), (top_neg, last_neg) = _ends(pos > 0), _ends(neg > 0)
    return last_pos > top_neg, last_neg > top_pos


def _ends(some: NDArray[np.bool_]) -> tuple[int, int]:
    return int(some.argmax()), len(some) - 1 - int(some[::-1].argmax())


def fit(s: Sweep, features: Features, targets: tuple[float, float], *, rising: bool) -> Fit:
    """The coefficients of the highest likelihood; none below 0 if they must be ``rising``.

    Each positive counts as the share ``targets[0]`` of a positive, each negative as ``targets[1]``.
    A maximum must exist.

    Neighbouring scores are grouped first. Newton's method on these few thousand means ends so near
    to the solution that, with its Hessian, one or two gradients of all scores are left to compute.
    """
    hi, lo = targets
    groups = _group(s, features, hi, lo)
    scale = _Scale.of(groups)
    few = _Data(_Rows(scale(groups.features)), groups.mass, groups.target)
    lower = np.array([-np.inf] + [0.0 if rising else -np.inf] * len(scale.mean))
    theta = few.without_features(len(lower))

    def every(part: slice = slice(None)) -> Iterator[_Data]:
        for t, pos, neg in _chunks(s, _CHUNK, part):
            yield _Data(_Rows(scale(features(t))), pos + neg, hi * pos + lo * neg)

    grouped = len(groups.mass) < len(s)
    # Means of groups may be separable where their scores are not: no maximum to go to.
    if not grouped or hi < 1 or all(overlaps(groups.pos, groups.neg)):
        theta = _newton(lambda: iter((few,)), theta, lower)
        if grouped:
            _, h = _derivatives(lambda: iter((few,)), theta)
            theta, there = _refine(every, len(s), h, theta, lower)
            grouped = not there
    if grouped:
        theta = _newton(every, theta, lower)
    return scale.undo(theta)


def fit_pieces(s: Sweep, z: Floats, edges: Floats, targets: tuple[float, float]) -> Fit:
    """The same for a piecewise linear function of ``z``, which falls with the scores of the sweep
    and reaches all edges: between two of these it rises by the coefficient, and none is below 0.

    All scores of a piece share all features but one, so a step of Newton's method takes three sums
    of each piece, not products of all features.
    """
    hi, lo = targets
    _, pos, neg = (np.concatenate(c)[::-1] for c in zip(*_chunks(s, _CHUNK), strict=True))
    z, pieces = z[::-1], len(edges) - 1
    # Scores above the last edge differ from it by rounding only, as do those below the first.
    start = np.searchsorted(z, edges[1:-1])
    size = np.diff(np.concatenate(((0,), start, (len(z),))))
    start = np.concatenate(((0,), start))
    with np.errstate(over="ignore"):  # to inf, between edges that are next to each other
        rise = (z - np.repeat(edges[:-1], size)) / np.repeat(np.diff(edges), size)
    rise = np.clip(rise, 0, 1)
    # Feature k of piece j: 1 above its own piece, 0 below, and what has risen so far in it.
    above = np.triu(np.ones((pieces, pieces)), 1)
    rows = _Pieces(above, np.eye(pieces), rise, start, size)
    mass = pos + neg
    mean = rows.sums(mass)
    square = rows.within(mass * np.square(rise - np.repeat(mean, size)))
    others = np.square(above - mean[:, None])
    np.fill_diagonal(others, 0)
    sd = np.sqrt(square + others @ rows.within(mass))
    few = _Data(rows.scaled(scale := _Scale.by(mean, sd)), mass, hi * pos + lo * neg)
    lower = np.append(-np.inf, np.zeros(pieces))
    theta = _newton(lambda: iter((few,)), few.without_features(len(lower)), lower)
    return scale.undo(theta)


@dataclass(frozen=True)
class _Groups:
    """Sums over groups of neighbouring scores, masses as shares of all."""

    features: list[Floats]  # means
    mass: Floats
    pos: Floats
    neg: Floats
    target: Floats


def _group(s: Sweep, features: Features, hi: float, lo: float) -> _Groups:
    """Groups of neighbouring scores; single scores if they are few."""
    group = 1
    while len(s) > group * _GROUPS:
        group *= 2

    def sums(part: slice) -> list[list[Floats]]:
        columns: list[list[Floats]] = []
        for t, pos, neg in _chunks(s, max(group, _CHUNK), part):
            rows = features(t)
            if group == 1:
                columns.append([pos, neg, *rows])
                continue
            starts = np.arange(0, len(t), group)
            masses = [np.add.reduceat(mass, starts) for mass in (pos, neg)]
            # With extreme weights the mass of a group may underflow to 0; then it is ignored.
            total = np.maximum(masses[0] + masses[1], 1e-300)
            means = [np.add.reduceat((pos + neg) * f, starts) / total for f in rows]
            columns.append([*masses, *means])
        return columns

    columns = [chunk for part in _by_parts(sums, len(s)) for chunk in part]
    pos, neg, *rows = (np.concatenate(c) for c in zip(*columns, strict=True))
    return _Groups(rows, pos + neg, pos, neg, hi * pos + lo * neg)


def _by_parts(run: Callable[[slice], _T], m: int) -> list[_T]:
    """The results of a function for each part of m scores, on threads. Parts depend on the number
    of scores alone, so that sums don't depend on the number of threads."""
    parts = [slice(k, k + _PART) for k in range(0, m, _PART)]
    if len(parts) == 1:
        return [run(parts[0])]
    with ThreadPoolExecutor(threads(m)) as pool:
        return list(pool.map(run, parts))


def _chunks(
    s: Sweep, size: int, part: slice = slice(None)
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Scores of a part of the sweep, and masses as shares of all."""
    # In two steps, since the inverse of a tiny or huge total is no float.
    total, up = frexp(s.P + s.N)
    first, second = 2.0 ** (-up // 2), 2.0 ** (-up - (-up // 2)) / total
    start, stop, _ = part.indices(len(s))
    for k in range(start, stop, size):
        at = slice(k, min(k + size, stop))
        if s.weighted:
            yield s.threshold[at], s.pos[at] * first * second, s.neg[at] * first * second
        else:
            yield s.threshold[at], s.pos[at] * (first * second), s.neg[at] * (first * second)


@dataclass(frozen=True)
class _Scale:
    """Standardises features to mean 0 and variance 1, for a well-conditioned Hessian."""

    mean: list[float]
    factor: list[float]

    @classmethod
    def of(cls, g: _Groups) -> _Scale:
        mean = np.array([np.sum(g.mass * f) for f in g.features])
        off = [np.square(f - m) for f, m in zip(g.features, mean, strict=True)]
        return cls.by(mean, np.sqrt([np.sum(g.mass * square) for square in off]))

    @classmethod
    def by(cls, mean: Floats, sd: Floats) -> _Scale:
        # A feature that varies by rounding only is collinear with the constant.
        pairs = list(zip(mean.tolist(), sd.tolist(), strict=True))
        return cls([m for m, _ in pairs], [1 / d if d > 1e-14 * abs(m) else 0.0 for m, d in pairs])

    def undo(self, theta: Floats) -> Fit:
        coefficient = [t * f for t, f in zip(theta[1:].tolist(), self.factor, strict=True)]
        shift = sum(c * m for c, m in zip(coefficient, self.mean, strict=True))
        return Fit(float(theta[0]) - shift, coefficient)

    def __call__(self, rows: list[Floats]) -> Floats:
        out = np.empty((1 + len(rows), len(rows[0])))
        out[0] = 1
        for k, (f, m, factor) in enumerate(zip(rows, self.mean, self.factor, strict=True)):
            np.subtract(f, m, out=out[k + 1])
            out[k + 1] *= factor
        return out


def _refine(
    data: Callable[[slice], Iterator[_Data]], m: int, h: Floats, theta: Floats, lower: Floats
) -> tuple[Floats, bool]:
    """The solution for all scores, from that of the groups, and whether it has converged."""

    def gradient(part: slice) -> Floats:
        g = np.zeros(len(theta))
        for d in data(part):
            g += d.rows.sums(d.mass * _sigmoid(d.rows.predict(theta)) - d.target)
        return g

    last = 0.0
    for _ in range(6):
        g = np.sum(_by_parts(gradient, m), axis=0)
        step = _step(g, h, theta, lower)
        theta = np.maximum(theta + step, lower)
        # The Hessian of the groups is about as wrong as their solution: each step leaves that share
        # of itself.
        size = sqrt(max(float(-g @ step), 0.0))
        if size * (size / last if last else 10 * size) < 1e-11:
            return theta, True
        last = size
    return theta, False


class _Rows(NamedTuple):
    """Features, a row for each."""

    rows: Floats

    def predict(self, theta: Floats) -> Floats:
        return np.asarray(theta @ self.rows)

    def sums(self, weight: Floats) -> Floats:
        return np.asarray(self.rows @ weight)

    def products(self, weight: Floats) -> Floats:
        return np.asarray((self.rows * weight) @ self.rows.T)


class _Pieces(NamedTuple):
    """Features of which feature k is ``base[k, j] + slope[k, j] * rise`` in the j-th piece."""

    base: Floats
    slope: Floats
    rise: Floats  # of each score
    start: NDArray[np.intp]
    size: NDArray[np.intp]

    def scaled(self, by: _Scale) -> _Pieces:
        """Standardised features, the constant first."""
        slope = np.array(by.factor)[:, None] * self.slope
        none = np.zeros((1, len(self.size)))
        return self._replace(base=by(list(self.base)), slope=np.concatenate((none, slope)))

    def within(self, weight: Floats) -> Floats:
        """The sum of each piece."""
        return np.asarray(np.add.reduceat(weight, self.start))

    def predict(self, theta: Floats) -> Floats:
        low, slope = (np.repeat(theta @ of, self.size) for of in (self.base, self.slope))
        return np.asarray(low + slope * self.rise)

    def sums(self, weight: Floats) -> Floats:
        return self.base @ self.within(weight) + self.slope @ self.within(weight * self.rise)

    def products(self, weight: Floats) -> Floats:
        sums = [self.within(weight * self.rise**power) for power in (0, 1, 2)]
        mixed = (self.base * sums[1]) @ self.slope.T
        squares = (self.base * sums[0]) @ self.base.T + (self.slope * sums[2]) @ self.slope.T
        return np.asarray(squares + mixed + mixed.T)


class _Data(NamedTuple):
    rows: _Rows | _Pieces  # standardised features, the constant first
    mass: Floats
    target: Floats

    def without_features(self, size: int) -> Floats:
        """The coefficients of a map that knows the share of positives only."""
        theta = np.zeros(size)
        shares = (float(np.sum(of)) for of in (self.target, self.mass - self.target))
        up, down = (max(share, 1e-300) for share in shares)  # of extreme weights one may vanish
        theta[0] = log(up) - log(down)
        return theta


def _newton(data: Callable[[], Iterator[_Data]], theta: Floats, lower: Floats) -> Floats:
    """The minimum of the mean log loss, by Newton's method with bounds from below."""
    last = np.inf
    for _ in range(200):
        g, h = _derivatives(data, theta)
        step = _step(g, h, theta, lower)
        gain = float(-g @ step)
        new = np.maximum(theta + step, lower)
        if gain > 1e-6 or (new != theta + step).any():
            new = _line_search(data, theta, step, lower)
        # Errors are squared by each step; rounding may leave a last bit that no step removes.
        done = gain <= 1e-20 or (gain < 1e-12 and gain >= last)
        theta, last = new, gain
        if done:
            break
    return theta


def _step(g: Floats, h: Floats, theta: Floats, lower: Floats) -> Floats:
    free = ~((theta <= lower) & (g >= 0))
    step = np.zeros(len(theta))
    step[free] = np.linalg.lstsq(h[np.ix_(free, free)], -g[free], rcond=1e-15)[0]
    return step


def _line_search(
    data: Callable[[], Iterator[_Data]], theta: Floats, step: Floats, lower: Floats
) -> Floats:
    """Halve the step until the objective decreases: far from the minimum a full one may not."""
    before, share = _value(data, theta), 1.0
    while share > 1e-10:
        new = np.maximum(theta + share * step, lower)
        if _value(data, new) < before:
            return new
        share /= 2
    return theta


def _value(data: Callable[[], Iterator[_Data]], theta: Floats) -> float:
    out = 0.0
    for d in data():
        eta = d.rows.predict(theta)
        out += float(np.sum(d.mass * np.logaddexp(0, eta) - d.target * eta))
    return out


def _derivatives(data: Callable[[], Iterator[_Data]], theta: Floats) -> tuple[Floats, Floats]:
    size = len(theta)
    g, h = np.zeros(size), np.zeros((size, size))
    for d in data():
        p = _sigmoid(d.rows.predict(theta))
        expected = d.mass * p
        g += d.rows.sums(expected - d.target)
        h += d.rows.products(expected * (1 - p))
    return g, h


def _sigmoid(eta: Floats) -> Floats:
    with np.errstate(over="ignore"):  # 1 / inf is the 0 that is meant
        return np.asarray(1 / (1 + np.exp(-eta)))
