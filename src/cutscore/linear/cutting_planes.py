r"""Minimise ½‖w‖² + C·R(w) for a convex R that is known by its value and one slope at a point.

Cutting planes: each slope g of R at some w is a plane below R; the minimum over their maximum is a
lower bound, found in the dual, a quadratic problem with one unknown a plane. The plain method puts
the next plane at the minimum of the model, which is far from the solution at first. Here, as in
OCAS (Franc & Sonnenburg 2009, https://jmlr.org/papers/v10/franc09a.html), the best w so far moves
to the minimum of the true objective on the way to the model's. R is a function of scores, which are
linear in w: that search needs the scores of both ends, and no further pass over the rows. OCAS puts
the next plane a tenth of the way from there to the model's minimum. Here it is the last one that
the search met beyond its minimum, which is nearer, cuts the model's minimum off as well, and is
known already.

The solver knows nothing of rows. What it minimises offers scores, worst and gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cutscore.linear.line import Step
from cutscore.linear.rows import Floats
from cutscore.linear.surrogates import Classes, Worst

# How near a search comes to the minimum on its line, as a share of the gap.
_NEAR = 0.003
# A slope of so little of its terms is none.
_FLAT = 1e-11
# So many iterations without a better point or bound are the end of what float64 can tell.
_STALLED = 50
# The gap that must be closed before w = 0 is taken for the minimum, as a share of the usual one:
# where C is small, all that there is to gain may be less than that.
_AT_ZERO = 0.01
# A plane that has not been part of the model's minimum for so many iterations is dropped.
_IDLE = 20


class Risk(Protocol):
    """R, by way of scores."""

    size: int

    def zero(self) -> Classes:
        """The scores at w = 0."""

    def scores(self, w: Floats) -> Classes:
        """One pass over the rows."""

    def worst(self, s: Classes) -> Worst:
        """The value of R and its slopes in the scores. No pass."""

    def gradient(self, slope: Classes) -> Floats:
        """The slope in w. One pass over the rows."""


@dataclass(frozen=True)
class CertifiedMinimum:
    w: Floats
    objective: float
    bound: float
    """A value that the objective has nowhere below."""
    iterations: int
    passes: int
    converged: bool
    at_zero: float
    """The objective of w = 0."""

    @property
    def gap(self) -> float:
        return self.objective - self.bound


def minimise(  # noqa: PLR0913 - what the benchmark varies
    risk: Risk,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    line_search: bool = True,
    start: Floats | None = None,
    model: Model | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> CertifiedMinimum:
    """The minimum, to a certified gap of ``tol`` times the objective, from ``start`` or 0.

    ``model`` holds the planes of the same R for another C, which are below R for any C; those that
    are found are added to it.
    """
    w, s = np.zeros(risk.size), risk.zero()
    here = worst = risk.worst(s)
    value, bound = C * worst.value, -np.inf
    of_zero = value
    if start is not None:
        w, s = start, risk.scores(start)
        here = worst = risk.worst(s)
        value = _objective(C, w, worst)
    model, passes = model or Model(), 0
    model.C = C
    iteration = moved = 0
    for iteration in range(1, max_iter + 1):
        model.add(risk.gradient(worst.slope), worst.loss)
        passes += 1
        w_model, low = model.minimum()
        before = bound, value
        bound = max(bound, low)
        goal = _goal(tol, value, w)
        if value - bound <= goal or iteration - moved > _STALLED:
            break
        s_model = risk.scores(w_model)
        passes += 1
        if line_search:
            near = _NEAR * (value - bound)
            best, worst = _search(risk, C, _LineEnd(w, s, here), _LineEnd(w_model, s_model), near)
            w, s = w + best.k * (w_model - w), _interpolate(s, s_model, best.k)
            value, here = best.value, best.worst
        else:
            worst = risk.worst(s_model)
            there = _objective(C, w_model, worst)
            if there < value:
                w, s, value = w_model, s_model, there
        if (bound, value) != before:
            moved = iteration
        if on_step is not None:
            on_step(Step(iteration, value, value - bound, goal))
        if value - bound <= _goal(tol, value, w):
            break
    if of_zero <= value:  # which a way from elsewhere may miss by a hair
        w, value = np.zeros(risk.size), of_zero
    return CertifiedMinimum(
        w, value, bound, iteration, passes, value - bound <= _goal(tol, value, w), of_zero
    )


def _goal(tol: float, value: float, w: Floats) -> float:
    # R below 0, which it is where the true labelling is not allowed, may cancel ½‖w‖².
    size = max(abs(value), 0.5 * float(w @ w))
    return tol * size * (1.0 if w.any() else _AT_ZERO)


def _objective(C: float, w: Floats, worst: Worst) -> float:
    return 0.5 * float(w @ w) + C * worst.value


def _interpolate(a: Classes, b: Classes, k: float) -> Classes:
    return Classes(a.pos + k * (b.pos - a.pos), a.neg + k * (b.neg - a.neg))


class _LineEnd(NamedTuple):
    w: Floats
    s: Classes
    """The scores by w."""
    worst: Worst | None = None
    """The worst labelling there, if it is known."""


def _search(
    risk: Risk, C: float, here: _LineEnd, there: _LineEnd, near: float
) -> tuple[_Point, Worst]:
    """The minimum on the line from here on through there (its place k is 1 there), and the worst
    labelling at the nearest point met at which the objective does not fall any more.

    On the line the objective is a quadratic plus C times a convex, piecewise smooth function. Two
    points with slopes of either sign bracket the minimum; the next one is where the model of the
    two, the quadratic plus the higher of the two tangents, is lowest.
    """
    w, s = here.w, here.s
    step = there.w - w
    way = Classes(there.s.pos - s.pos, there.s.neg - s.neg)
    straight, curve = float(w @ step), float(step @ step)
    square = 0.5 * float(w @ w)

    def at(k: float, worst: Worst | None = None) -> _Point:
        worst = worst or risk.worst(_interpolate(s, there.s, k))
        slope = C * worst.slope.dot(way)
        smooth = square + k * straight + 0.5 * k * k * curve
        whole = straight + k * curve + slope
        # At the bottom of a parabola it is 0, and rounding must not decide on which side that is.
        if abs(whole) <= _FLAT * (abs(straight) + abs(k * curve) + abs(slope)):
            whole = 0.0
        return _Point(k, smooth + C * worst.value, slope, whole, worst)

    left, right = at(0.0, here.worst), at(1.0)
    best = min(left, right, key=lambda p: p.value)
    while right.whole < 0 and right.k < 2**20:
        left, right = right, at(2 * right.k)
        best = min(best, right, key=lambda p: p.value)
    for _ in range(30):
        if right.whole <= 0 or left.whole >= 0:
            break
        k = _lowest(left, right, straight, curve)
        low = _model_value(k, left, right, straight, curve)
        if best.value - low <= near or not left.k < k < right.k:
            break
        # Away from the ends, so that the bracket shrinks even where the tangents say little.
        margin = 0.02 * (right.k - left.k)
        point = at(min(max(k, left.k + margin), right.k - margin))
        best = min(best, point, key=lambda p: p.value)
        if point.whole < 0:
            left = point
        else:
            right = point
    return best, (left if left.whole >= 0 else right).worst


class _Point(NamedTuple):
    k: float
    value: float
    slope: float
    """Of C·R alone."""
    whole: float
    """Of the objective."""
    worst: Worst


def _tangents(k: float, p: _Point, straight: float, curve: float) -> float:
    """The objective's quadratic part at k, plus the tangent to C·R at p, both relative to p."""
    smooth = (k - p.k) * straight + 0.5 * curve * (k * k - p.k * p.k)
    return p.value + smooth + p.slope * (k - p.k)


def _model_value(k: float, left: _Point, right: _Point, straight: float, curve: float) -> float:
    return max(_tangents(k, left, straight, curve), _tangents(k, right, straight, curve))


def _lowest(left: _Point, right: _Point, straight: float, curve: float) -> float:
    """Where the higher of two parabolas, of the same curvature, is lowest."""
    turn = right.slope - left.slope
    # Where they cross; both slopes have their sign within the bracket, so it is there or at the
    # bottom of one of the two.
    if turn > 0:
        lead = _tangents(left.k, left, straight, curve) - _tangents(left.k, right, straight, curve)
        cross = left.k + lead / turn
    else:
        cross = right.k
    if not curve:
        return cross
    bottom_left = -(straight + left.slope) / curve
    bottom_right = -(straight + right.slope) / curve
    return min(max(cross, bottom_right), bottom_left)


class Model:
    """The planes, and the minimum of ½‖w‖² + C·max over them."""

    def __init__(self) -> None:
        self.C = 1.0
        self.planes: list[Floats] = []
        self.offset: Floats = np.empty(0)
        self.gram: Floats = np.empty((0, 0))
        self.share: Floats = np.empty(0)
        self.idle = np.empty(0, np.int64)

    def add(self, g: Floats, offset: float) -> None:
        column = np.array([g @ p for p in [*self.planes, g]])
        gram = np.empty((len(column), len(column)))
        gram[:-1, :-1] = self.gram
        gram[-1], gram[:, -1] = column, column
        self.gram = gram
        self.planes.append(g)
        self.offset = np.append(self.offset, offset)
        self.share = np.append(self.share, 0.0 if len(self.share) else 1.0)
        self.idle = np.append(self.idle, 0)

    def minimum(self) -> tuple[Floats, float]:
        """The model's minimum: where it is, and its value, which bounds the objective from below.
        Any shares would give a bound, so it holds however exact these are."""
        self.share = on_simplex(self.C * self.gram, self.offset, self.share)
        w = np.zeros(len(self.planes[0]))
        for share, g in zip(self.share.tolist(), self.planes, strict=True):
            if share:
                w -= self.C * share * g
        bound = self.C * float(self.offset @ self.share) - 0.5 * float(w @ w)
        self._forget()
        return w, bound

    def _forget(self) -> None:
        self.idle = np.where(self.share > 0, 0, self.idle + 1)
        keep = self.idle <= _IDLE
        if not keep.all():
            self.planes = [g for g, k in zip(self.planes, keep.tolist(), strict=True) if k]
            self.gram = self.gram[np.ix_(keep, keep)]
            self.offset, self.share = self.offset[keep], self.share[keep]
            self.idle = self.idle[keep]


def on_simplex(H: Floats, e: Floats, start: Floats) -> Floats:
    """min ½ x'Hx − e'x over x ≥ 0 with Σx = 1, by an active set from a feasible start.

    The positive entries are free: the minimum over them alone is one linear system. If it has
    negative entries, go towards it until the first one gets to 0, which is then no longer free.
    Else free the entry that has the most to gain, until none has.
    """
    x = start.copy()
    free = x > 0
    size = np.abs(H)
    for _ in range(20 * len(x) + 100):
        for _ in range(len(x) + 1):
            target = np.zeros(len(x))
            target[free] = _on_plane(H[np.ix_(free, free)], e[free])
            out = free & (target <= 0)
            if not out.any():
                x = target
                break
            down = x[out] - target[out]
            ratio = np.where(down > 0, x[out] / np.where(down > 0, down, 1), 0.0)
            step = float(min(ratio.min(), 1.0))
            x = x + step * (target - x)
            x[np.flatnonzero(out)[ratio <= step]] = 0.0
            x[~free] = 0.0
            free = x > 0
            x /= x.sum()
        gain = e - H @ x
        level = float(gain @ x)
        best = int(gain.argmax())
        # What rounding can make of a sum of such terms is no gain.
        noise = 1e-15 * float(np.max(size @ x + np.abs(e)))
        if free[best] or gain[best] - level <= noise:
            break
        free[best] = True
    return x


def _on_plane(H: Floats, e: Floats) -> Floats:
    """min ½ x'Hx − e'x with Σx = 1."""
    m = len(e)
    size = float(np.max(np.diag(H), initial=0.0)) or 1.0
    system = np.ones((m + 1, m + 1))
    system[m, m] = 0.0
    # Planes that repeat each other make H singular; a trace on its diagonal settles how they share.
    system[:m, :m] = H / size + 1e-13 * np.eye(m)
    # What all entries of e have in common changes nothing but the multiplier.
    right = np.append((e - e.mean()) / size, 1.0)
    try:
        x = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        x = np.linalg.lstsq(system, right, rcond=None)[0]
    return np.asarray(x[:m])
