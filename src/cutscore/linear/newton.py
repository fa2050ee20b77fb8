"""Newton's method for a smooth convex objective, known by value, gradient and curvature only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, log, sqrt
from typing import NamedTuple, Protocol

import numpy as np

from cutscore.linear.line import Step
from cutscore.linear.rows import Floats

_EPS = float(np.finfo(np.float64).eps)
# Values of the objective that differ by such a share of it may differ by rounding only.
_NOISE = 256 * _EPS


class Point(NamedTuple):
    """The objective at one place."""

    theta: Floats
    value: float
    gradient: Floats
    bound: float | None = None
    """How far the value can be above the minimum, if that was asked for and is known."""


class Solve(Protocol):
    """An approximate inverse of the Hessian."""

    def __call__(self, g: Floats, /) -> Floats: ...


class SmoothObjective(Protocol):
    """What a solver needs to know."""

    @property
    def price(self) -> float:
        """What a new :meth:`inverse` costs, in units of one :meth:`at`; 0 if it is to be new at
        each step."""
        ...

    @property
    def penalised(self) -> bool:
        """Whether a penalty keeps coefficients from running away, and :meth:`at` can bound."""
        ...

    def at(self, theta: Floats, *, bound: bool = False) -> Point:
        """Value and gradient; with ``bound``, how far the minimum can be, too."""
        ...

    def inverse(self, theta: Floats) -> Solve:
        """The inverse of the Hessian, or something near it."""
        ...


@dataclass(frozen=True)
class Minimum:
    """Where a solver stopped."""

    point: Point
    iterations: int
    converged: bool
    gap: float
    """Estimate of the distance to the minimum, by the last quadratic model."""
    solve: Solve
    """The inverse Hessian of that model."""


def minimise(  # noqa: PLR0913 - all but two are options
    objective: SmoothObjective,
    start: Point,
    *,
    solve: Solve | None = None,
    tol: float,
    max_iter: int,
    bound: bool = False,
    unit: float = 1.0,
    on_step: Callable[[Step], None] | None = None,
) -> Minimum:
    """Step by step to the minimum, until about ``tol`` times the value is left to gain.

    A Hessian is kept for as long as it does its work: each gradient that follows corrects it
    (BFGS), and a new one is computed when the steps that seem to be left would cost more than that.
    ``solve``, from a sample of the data say, stands for the first. With ``bound``, the last point
    has one, if the objective can tell. Whoever watches sees values times ``unit``.
    """
    here = start
    fresh = solve is None
    inverse = _CorrectedInverse(objective.inverse(here.theta) if solve is None else solve)
    last, iterations, share = inf, 0, 1.0

    def result(converged: bool) -> Minimum:
        certain = here
        if bound and objective.penalised and here.bound is None:
            certain = objective.at(here.theta, bound=True)
        return Minimum(certain, iterations, converged, gap, inverse)

    while True:
        if not objective.price and not fresh:
            inverse, fresh = _CorrectedInverse(objective.inverse(here.theta)), True
        step = -inverse(here.gradient)
        slope = float(here.gradient @ step)
        gap = -slope / 2
        enough = max(tol, _EPS * _EPS) * abs(here.value)
        sound = isfinite(gap) and gap >= 0  # or rounding has made the corrections useless
        # Without a penalty, values may settle while coefficients run away.
        still = objective.penalised or float(np.max(np.abs(step))) <= 0.1
        done = sound and gap <= enough and still
        worn = not sound or _steps_left(gap, enough, gap / last, share) > objective.price + 2
        if not fresh and worn and not done and iterations < max_iter:
            inverse, fresh, last = _CorrectedInverse(objective.inverse(here.theta)), True, inf
            continue
        if on_step is not None:
            on_step(Step(iterations, here.value * unit, gap * unit, enough * unit))
        if done or not sound or iterations >= max_iter:
            return result(done)
        # A step that may well be the last one is certified at once.
        ratio = gap / abs(here.value) if fresh else gap / last if last < inf else inf
        near = bound and objective.penalised and gap * ratio <= 30 * enough
        new, share = _line_search(objective, here, step, slope, near)
        if new is None:  # rounding hides what the step gains
            at_rounding = gap <= _NOISE * abs(here.value)
            if fresh or at_rounding:
                return result(at_rounding and still)
            inverse, fresh, last = _CorrectedInverse(objective.inverse(here.theta)), True, inf
            continue
        inverse.learn(new.theta - here.theta, new.gradient - here.gradient)
        here, last, fresh = new, gap, False
        iterations += 1


def _steps_left(gap: float, enough: float, ratio: float, share: float) -> float:
    """How many steps are left if each gains as the last one did."""
    if share < 1 or ratio >= 1:
        return inf
    return log(max(gap / enough, 1.0)) / -log(max(ratio, 1e-300))


def _line_search(
    objective: SmoothObjective, here: Point, step: Floats, slope: float, bound: bool
) -> tuple[Point | None, float]:
    """A point along the step that pays, and at which share of it; None if there is none."""
    share = 1.0
    noise = _NOISE * abs(here.value)
    for _ in range(60):
        new = objective.at(here.theta + share * step, bound=bound)
        if isfinite(new.value):
            ahead = float(new.gradient @ step)
            if new.value <= here.value + 1e-4 * share * slope:
                return new, share
            # Near the minimum values are equal but for rounding, and gradients still tell.
            if new.value <= here.value + noise and abs(ahead) <= 0.9 * abs(slope):
                return new, share
            if share * abs(slope) <= noise:
                return None, 0.0
            # The minimum of the cubic through both values and slopes.
            d = slope + ahead - 3 * (here.value - new.value) / -share
            root = d * d - slope * ahead
            if root >= 0 and isfinite(root):
                root = sqrt(root)
                best = share * (1 - (ahead + root - d) / (ahead - slope + 2 * root))
                share = min(max(best, 0.1 * share), 0.5 * share) if isfinite(best) else share / 2
                continue
        share *= 0.1 if not isfinite(new.value) else 0.5
    return None, 0.0


class _CorrectedInverse:
    """An inverse Hessian with the corrections of BFGS by gradients seen since."""

    def __init__(self, solve: Solve) -> None:
        self.solve = solve
        self.pairs: list[tuple[Floats, Floats, float]] = []

    def learn(self, moved: Floats, turned: Floats) -> None:
        curvature = float(moved @ turned)
        if curvature > 1e-12 * sqrt(float(moved @ moved) * float(turned @ turned)):
            self.pairs = [*self.pairs[-20:], (moved, turned, curvature)]

    def __call__(self, g: Floats) -> Floats:
        q = g.copy()
        shares = []
        for moved, turned, curvature in reversed(self.pairs):
            shares.append(float(moved @ q) / curvature)
            q -= shares[-1] * turned
        r = self.solve(q)
        for (moved, turned, curvature), share in zip(self.pairs, reversed(shares), strict=True):
            r = r + (share - float(turned @ r) / curvature) * moved
        return r


class FactoredHessian:
    """The inverse of a Hessian that fits in memory, by Cholesky's factors."""

    def __init__(self, h: Floats) -> None:
        from scipy.linalg import cho_factor

        diagonal = np.diagonal(h)
        top = float(diagonal.max(initial=0.0))
        # With 1 on the diagonal, units of measurement don't matter.
        self.unit = 1 / np.sqrt(np.maximum(diagonal, max(top * 1e-300, 1e-300)))
        scaled = h * self.unit[:, None] * self.unit
        ridge = 0.0
        while True:
            try:
                self.factors = cho_factor(
                    scaled + ridge * np.eye(len(h)), lower=True, check_finite=False
                )
            except np.linalg.LinAlgError:
                ridge = max(10 * ridge, 1e-15 * len(h))
                if not ridge < 1e3:
                    raise
            else:
                return

    def __call__(self, g: Floats) -> Floats:
        from scipy.linalg import cho_solve

        return np.asarray(
            self.unit * cho_solve(self.factors, self.unit * g, check_finite=False), np.float64
        )


class Conjugate:
    """The inverse of a Hessian that is known by its products only, by conjugate gradients.

    Each system is solved as well as its step deserves: roughly at first, and better the nearer the
    minimum is. Values of the objective should be of the size of 1.
    """

    def __init__(self, times: Callable[[Floats], Floats], diagonal: Floats) -> None:
        self.times = times
        self.weight = 1 / np.maximum(diagonal, 1e-300)

    def size(self, g: Floats) -> float:
        """The norm in which the residual is measured."""
        return sqrt(float(g @ (self.weight * g)))

    def __call__(self, g: Floats) -> Floats:
        start = self.size(g)
        x = np.zeros_like(g)
        if not start:
            return x
        least = start * min(0.1, max(sqrt(start), 1e-3))
        r, z = g.copy(), self.weight * g
        p, rz = z, float(g @ z)
        for _ in range(min(250, 2 * len(g))):
            hp = self.times(p)
            curvature = float(p @ hp)
            if not curvature > 0:
                break
            share = rz / curvature
            x = x + share * p
            r -= share * hp
            z = self.weight * r
            before, rz = rz, float(r @ z)
            if sqrt(rz) <= least:
                break
            p = z + rz / before * p
        return x if x.any() else self.weight * g
